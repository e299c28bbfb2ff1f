/// What an image file says about itself, read before anything is decoded: kind by its first bytes, size bounds, and
/// whether the file is complete. stb_image 2.27 overlooks the end of a short JPEG, BMP or PGM, decodes CMYK as if it
/// were RGB, and reads palette entries that a file does not have. Formats: PNG specification (W3C 2003), ITU T.81
/// annex B, BITMAPINFOHEADER to BITMAPV5HEADER, Netpbm's pgm(5).
#include "sdf_private.h"

#include <string.h>

/// Most scans of a progressive JPEG; encoders make about ten, and each costs a pass over the image.
#define JPEG_SCANS_MAX 100
/// Bytes of a text file that a message quotes.
#define CHECK_QUOTE_MAX 16

static uint32_t big_u32(const unsigned char *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static unsigned big_u16(const unsigned char *p) {
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t little_u32(const unsigned char *p) {
    return ((uint32_t)p[3] << 24) | ((uint32_t)p[2] << 16) | ((uint32_t)p[1] << 8) | p[0];
}

static unsigned little_u16(const unsigned char *p) {
    return (unsigned)p[1] << 8 | p[0];
}

static core_status size_check(int64_t width, int64_t height, sdf__image_info *info, core_error *err) {
    CORE_CHECK(width >= 1 && height >= 1 && width <= SDF__IMAGE_SIDE_MAX && height <= SDF__IMAGE_SIDE_MAX, CORE_RANGE,
               "image of %lld x %lld pixels, expected 1 .. %d each way", (long long)width, (long long)height,
               SDF__IMAGE_SIDE_MAX);
    info->width = (int)width;
    info->height = (int)height;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- PNG

/// CRC-32 of the PNG specification (annex D), through a table of the bytes.
static uint32_t crc32_of(const unsigned char *p, size_t n, const uint32_t table[256]) {
    uint32_t c = 0xffffffffU;
    for (size_t i = 0; i < n; i++) c = table[(c ^ p[i]) & 0xff] ^ (c >> 8);
    return c ^ 0xffffffffU;
}

static void crc32_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320U ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static core_status png_header(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    CORE_CHECK(n >= 33 && big_u32(data + 8) == 13 && memcmp(data + 12, "IHDR", 4) == 0, CORE_FORMAT,
               "truncated PNG: the header is cut off");
    if (data[25] == 3) {
        int depth = data[24];
        CORE_CHECK(depth == 1 || depth == 2 || depth == 4 || depth == 8, CORE_FORMAT,
                   "damaged PNG: a palette of %d bits a pixel, expected 1, 2, 4 or 8", depth);
        info->palette_depth = depth;
    }
    return size_check(big_u32(data + 16), big_u32(data + 20), info, err);
}

/// Every chunk complete and with the check sum it states, up to IEND; notes palette and transparency.
static core_status png_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    uint32_t table[256];
    CORE_TRY(png_header(data, n, info, err));
    crc32_table(table);
    for (size_t at = 8;;) {
        CORE_CHECK(n - at >= 12, CORE_FORMAT, "truncated PNG: it ends at byte %zu without its last chunk", n);
        size_t length = big_u32(data + at);
        char type[5] = {0};
        for (int i = 0; i < 4; i++) {
            type[i] = (char)data[at + 4 + (size_t)i];
            CORE_CHECK((type[i] | 32) >= 'a' && (type[i] | 32) <= 'z', CORE_FORMAT,
                       "damaged PNG: no chunk name at byte %zu", at + 4);
        }
        CORE_CHECK(length <= n - at - 12, CORE_FORMAT,
                   "truncated PNG: chunk %s at byte %zu needs %zu bytes, %zu are left", type, at, length + 12, n - at);
        uint32_t stated = big_u32(data + at + 8 + length), found = crc32_of(data + at + 4, length + 4, table);
        CORE_CHECK(stated == found, CORE_FORMAT, "damaged PNG: chunk %s at byte %zu has check sum %08x, expected %08x",
                   type, at, (unsigned)found, (unsigned)stated);
        if (strcmp(type, "PLTE") == 0) info->palette_entries = (int)(length / 3);
        if (strcmp(type, "tRNS") == 0) info->transparency_at = at + 4;
        if (strcmp(type, "IEND") == 0) return CORE_OK;
        at += length + 12;
    }
}

// ---------------------------------------------------------------------------------------------- JPEG

/// Frame header (SOF0 .. SOF15) with `length` bytes behind its length field.
static core_status jpeg_frame(unsigned marker, const unsigned char *p, size_t length, sdf__image_info *info,
                              core_error *err) {
    CORE_CHECK(marker <= 0xc2, CORE_FORMAT,
               "JPEG of a kind that is not read (frame type %u: lossless, hierarchical or arithmetic coding), expected "
               "baseline or progressive",
               marker - 0xc0);
    CORE_CHECK(length >= 6, CORE_FORMAT, "damaged JPEG: a frame header of %zu bytes", length);
    CORE_CHECK(p[0] == 8, CORE_FORMAT, "JPEG of %d bits a channel, expected 8", p[0]);
    CORE_CHECK(p[5] != 4, CORE_FORMAT, "CMYK JPEG (4 channels), expected grey or RGB: convert it first");
    CORE_CHECK(p[5] == 1 || p[5] == 3, CORE_FORMAT, "JPEG of %d channels, expected 1 or 3", p[5]);
    return size_check(big_u16(p + 3), big_u16(p + 1), info, err);
}

/// Huffman tables (DHT) with `length` bytes: a class and number, 16 counts and their symbols each. stb_image 2.27
/// writes beyond its table for more than 256 symbols.
static core_status jpeg_tables(const unsigned char *p, size_t length, core_error *err) {
    for (size_t at = 0; at < length;) {
        size_t symbols = 0;
        for (size_t i = 1; i <= 16 && at + i < length; i++) symbols += p[at + i];
        CORE_CHECK(symbols <= 256 && length - at >= 17 + symbols, CORE_FORMAT,
                   "damaged JPEG: a Huffman table of %zu symbols in %zu bytes", symbols, length - at);
        at += 17 + symbols;
    }
    return CORE_OK;
}

/// First byte behind the entropy-coded data that begins at `at`: a marker that is neither stuffing nor a restart.
static size_t jpeg_scan_end(const unsigned char *data, size_t n, size_t at) {
    while (at + 1 < n && !(data[at] == 0xff && data[at + 1] != 0 && data[at + 1] != 0xff &&
                           (data[at + 1] < 0xd0 || data[at + 1] > 0xd7)))
        at++;
    return at;
}

/// Every segment complete, one frame of a kind stb_image reads, scans that end with the end marker.
static core_status jpeg_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    int scans = 0;
    size_t at = 2;
    for (;;) {
        CORE_CHECK(at + 2 <= n, CORE_FORMAT, "truncated JPEG: it ends at byte %zu without its end marker", n);
        CORE_CHECK(data[at] == 0xff, CORE_FORMAT, "damaged JPEG: found 0x%02x at byte %zu, expected a marker", data[at],
                   at);
        unsigned marker = data[at + 1];
        if (marker == 0xff || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) { // fill bytes and bare markers
            at += marker == 0xff ? 1 : 2;
            continue;
        }
        if (marker == 0xd9) break;
        CORE_CHECK(at + 4 <= n && big_u16(data + at + 2) >= 2, CORE_FORMAT,
                   "damaged JPEG: no length of the segment at byte %zu", at);
        size_t length = big_u16(data + at + 2);
        CORE_CHECK(length <= n - at - 2, CORE_FORMAT,
                   "truncated JPEG: the segment at byte %zu needs %zu bytes, %zu are left", at, length + 2, n - at);
        bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        CORE_CHECK(!frame || info->width == 0, CORE_FORMAT, "damaged JPEG: a second frame at byte %zu", at);
        if (frame) CORE_TRY(jpeg_frame(marker, data + at + 4, length - 2, info, err));
        if (marker == 0xc4) CORE_TRY(jpeg_tables(data + at + 4, length - 2, err));
        at += 2 + length;
        if (marker != 0xda) continue;
        CORE_CHECK(info->width > 0, CORE_FORMAT, "damaged JPEG: a scan before the frame header");
        CORE_CHECK(++scans <= JPEG_SCANS_MAX, CORE_FORMAT, "JPEG of more than %d scans", JPEG_SCANS_MAX);
        at = jpeg_scan_end(data, n, at);
    }
    CORE_CHECK(scans > 0, CORE_FORMAT, "damaged JPEG: there is no image in it");
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- BMP

/// Number of the pixel at `column` of a row of 1, 4 or 8 bits a pixel.
static int bmp_index(const unsigned char *row, int bits, int column) {
    size_t bit = (size_t)column * (size_t)bits;
    return row[bit / 8] >> (8 - bits - (int)(bit % 8)) & ((1 << bits) - 1);
}

static core_status bmp_palette_check(const unsigned char *pixels, size_t stride, int bits, int entries,
                                     const sdf__image_info *info, core_error *err) {
    CORE_CHECK(entries >= 1 && entries <= 256, CORE_FORMAT, "damaged BMP: a palette of %d colours, expected 1 .. 256",
               entries);
    for (int r = 0; r < info->height; r++) {
        for (int c = 0; c < info->width; c++) {
            int index = bmp_index(pixels + (size_t)r * stride, bits, c);
            CORE_CHECK(index < entries, CORE_FORMAT,
                       "damaged BMP: a pixel has colour %d of a palette of %d (row %d of the file, column %d)", index,
                       entries, r, c);
        }
    }
    return CORE_OK;
}

/// Header of a kind stb_image reads, uncompressed, all rows there, no pixel beyond the palette.
static core_status bmp_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    CORE_CHECK(n >= 54, CORE_FORMAT, "truncated BMP: %zu bytes, the header alone needs 54", n);
    size_t offset = little_u32(data + 10), header = little_u32(data + 14);
    CORE_CHECK(header == 40 || header == 56 || header == 108 || header == 124, CORE_FORMAT,
               "BMP with a header of %zu bytes, expected 40, 56, 108 or 124", header);
    int64_t height = (int32_t)little_u32(data + 22); // negative: rows from the top
    CORE_TRY(size_check((int32_t)little_u32(data + 18), height < 0 ? -height : height, info, err));
    int bits = (int)little_u16(data + 28);
    unsigned compression = little_u32(data + 30);
    CORE_CHECK(bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32, CORE_FORMAT,
               "BMP of %d bits a pixel, expected 1, 4, 8, 16, 24 or 32", bits);
    CORE_CHECK(compression == 0 || (compression == 3 && bits >= 16), CORE_FORMAT,
               "compressed BMP (kind %u), expected an uncompressed one", compression);
    info->opaque = compression == 0;
    CORE_CHECK(offset >= 14 + header && offset <= n, CORE_FORMAT,
               "damaged BMP: its pixels begin at byte %zu of %zu, expected %zu or more", offset, n, 14 + header);
    size_t row = ((size_t)info->width * (size_t)bits + 7) / 8, stride = (row + 3) / 4 * 4;
    size_t needed = stride * ((size_t)info->height - 1) + row;
    CORE_CHECK(n - offset >= needed, CORE_FORMAT, "truncated BMP: its pixels need %zu bytes, %zu are there", needed,
               n - offset);
    if (bits > 8) return CORE_OK;
    return bmp_palette_check(data + offset, stride, bits, (int)((offset - 14 - header) / 4), info, err);
}

// ---------------------------------------------------------------------------------------------- PGM

/// The next number of a PGM header, behind blanks and comments. False if there is none.
static bool pgm_number(const unsigned char *data, size_t n, size_t *at, int *value) {
    size_t i = *at;
    while (i < n && (data[i] == ' ' || (data[i] >= '\t' && data[i] <= '\r') || data[i] == '#')) {
        if (data[i] == '#')
            while (i < n && data[i] != '\n' && data[i] != '\r') i++;
        else
            i++;
    }
    size_t begin = i;
    int v = 0;
    for (; i < n && data[i] >= '0' && data[i] <= '9' && v < 1000000; i++) v = 10 * v + (data[i] - '0');
    *at = i;
    *value = v;
    return i > begin;
}

static core_status pgm_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    int width, height;
    size_t at = 2;
    bool read = pgm_number(data, n, &at, &width) && pgm_number(data, n, &at, &height) &&
                pgm_number(data, n, &at, &info->grey_max);
    CORE_CHECK(read && at < n, CORE_FORMAT,
               "truncated or damaged PGM: expected \"P5\", width, height and largest grey value before the pixels");
    CORE_TRY(size_check(width, height, info, err));
    CORE_CHECK(info->grey_max >= 1 && info->grey_max <= 65535, CORE_RANGE,
               "PGM whose largest grey value is %d, expected 1 .. 65535", info->grey_max);
    size_t needed = (size_t)width * (size_t)height * (info->grey_max > 255 ? 2 : 1);
    at++; // one blank
    CORE_CHECK(n - at >= needed, CORE_FORMAT, "truncated PGM: its pixels need %zu bytes, %zu are there", needed,
               n - at);
    info->pixels_at = at;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- kinds

/// How the files of a kind begin, and what is to be said about those that are not read.
typedef struct image_kind {
    const char *magic;
    size_t n_magic;
    core_status (*check)(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err); // NULL: refused
    sdf__image_format format;
    const char *name;
} image_kind;

static const image_kind kinds[] = {
    {"\x89PNG\r\n\x1a\n", 8, png_check, SDF__IMAGE_PNG, "PNG"},
    {"\xff\xd8\xff", 3, jpeg_check, SDF__IMAGE_JPEG, "JPEG"},
    {"BM", 2, bmp_check, SDF__IMAGE_BMP, "BMP"},
    {"P5", 2, pgm_check, SDF__IMAGE_PGM, "PGM"},
    {"P1", 2, NULL, 0, "a bitmap written as text (PBM, P1)"},
    {"P2", 2, NULL, 0, "a PGM written as text (P2)"},
    {"P3", 2, NULL, 0, "a colour image written as text (PPM, P3)"},
    {"P4", 2, NULL, 0, "a bitmap (PBM, P4)"},
    {"P6", 2, NULL, 0, "a colour image (PPM, P6)"},
    {"P7", 2, NULL, 0, "a PAM image"},
    {"GIF8", 4, NULL, 0, "a GIF image"},
    {"II*\0", 4, NULL, 0, "a TIFF image"},
    {"MM\0*", 4, NULL, 0, "a TIFF image"},
    {"RIFF", 4, NULL, 0, "a RIFF file (WebP?)"},
    {"%PDF", 4, NULL, 0, "a PDF document"},
    {"\0\0\0", 3, NULL, 0, "no image of these kinds (HEIC, AVIF, video?)"},
};

/// Bytes of the file that are printable, at most CHECK_QUOTE_MAX; 0 if it is no text.
static int text_length(const unsigned char *data, size_t n) {
    int k = 0;
    while ((size_t)k < n && k < CHECK_QUOTE_MAX && data[k] >= ' ' && data[k] < 127) k++;
    return (size_t)k == n || k == CHECK_QUOTE_MAX || (k > 0 && (data[k] == '\n' || data[k] == '\r')) ? k : 0;
}

core_status sdf__image_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err) {
    static const char expected[] = "expected a PNG, JPEG, BMP or binary PGM (P5) image";
    sdf__image_info found = {0};
    CORE_CHECK(n > 0, CORE_FORMAT, "the file is empty, %s", expected);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (n < kinds[i].n_magic || memcmp(data, kinds[i].magic, kinds[i].n_magic) != 0) continue;
        CORE_CHECK(kinds[i].check, CORE_FORMAT, "found %s, %s", kinds[i].name, expected);
        found.format = kinds[i].format;
        found.format_name = kinds[i].name;
        CORE_TRY(kinds[i].check(data, n, &found, err));
        *info = found;
        return CORE_OK;
    }
    int k = text_length(data, n);
    CORE_CHECK(k == 0, CORE_FORMAT, "not an image: found text that begins with \"%.*s\", %s", k, (const char *)data,
               expected);
    CORE_CHECK(n >= 8, CORE_FORMAT, "not an image: the file has %zu bytes, %s", n, expected);
    return CORE_FAIL(err, CORE_FORMAT, "not an image: its first bytes (%02x %02x %02x %02x) are of no known kind, %s",
                     data[0], data[1], data[2], data[3], expected);
}
