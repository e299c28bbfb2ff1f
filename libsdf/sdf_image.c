/// PNG silhouettes to levels of inside and outside. stb_image is included here alone; before it decodes anything, the
/// chunks of the file are walked: signature, size bounds, lengths and check sums. stb_image's memory is bounded as
/// well, since a few kilobytes can announce gigabytes.
#include "sdf_private.h"

#include <string.h>

/// Largest width and height, pixels.
#define IMAGE_SIDE_MAX 8192
/// Largest single block the decoder may ask for: 8192 x 8192 pixels of four 16-bit channels, and some slack.
#define IMAGE_BLOCK_MAX ((size_t)8192 * 8192 * 8 + ((size_t)1 << 20))

static void *image_alloc(size_t n) {
    return n <= IMAGE_BLOCK_MAX ? core_alloc(n, 1) : NULL;
}

static void *image_realloc(void *old, size_t n_old, size_t n) {
    return n <= IMAGE_BLOCK_MAX ? core_realloc(old, old ? n_old : 0, n, 1) : NULL;
}

#define STBI_MALLOC(n) image_alloc(n)
#define STBI_REALLOC_SIZED(p, n_old, n) image_realloc(p, n_old, n)
#define STBI_FREE(p) core_free(p)
#define STBI_ASSERT(x) ((void)0)
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS IMAGE_SIDE_MAX
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

static uint32_t read_u32(const unsigned char *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

/// CRC-32 of the PNG specification (annex D), bit by bit through a table made on the spot.
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

/// Signature, header and size bounds.
static core_status png_check_header(const unsigned char *data, size_t n, core_error *err) {
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    CORE_CHECK(n > 0, CORE_FORMAT, "the file is empty, expected a PNG image");
    CORE_CHECK(n >= 8 && memcmp(data, signature, 8) == 0, CORE_FORMAT,
               "not a PNG image: its first bytes are not PNG's");
    CORE_CHECK(n >= 33 && read_u32(data + 8) == 13 && memcmp(data + 12, "IHDR", 4) == 0, CORE_FORMAT,
               "not a PNG image: the header is cut off");
    uint32_t width = read_u32(data + 16), height = read_u32(data + 20);
    CORE_CHECK(width >= 1 && height >= 1 && width <= IMAGE_SIDE_MAX && height <= IMAGE_SIDE_MAX, CORE_RANGE,
               "image of %u x %u pixels, expected 1 .. %d each way", (unsigned)width, (unsigned)height, IMAGE_SIDE_MAX);
    return CORE_OK;
}

/// Every chunk complete and with the check sum it states, up to IEND.
static core_status png_check_chunks(const unsigned char *data, size_t n, core_error *err) {
    uint32_t table[256];
    crc32_table(table);
    for (size_t at = 8;;) {
        CORE_CHECK(n - at >= 12, CORE_FORMAT, "truncated PNG: it ends at byte %zu without its last chunk", n);
        size_t length = read_u32(data + at);
        char type[5] = {0};
        for (int i = 0; i < 4; i++) {
            type[i] = (char)data[at + 4 + (size_t)i];
            CORE_CHECK((type[i] | 32) >= 'a' && (type[i] | 32) <= 'z', CORE_FORMAT,
                       "damaged PNG: no chunk name at byte %zu", at + 4);
        }
        CORE_CHECK(length <= n - at - 12, CORE_FORMAT,
                   "truncated PNG: chunk %s at byte %zu needs %zu bytes, %zu are left", type, at, length + 12, n - at);
        uint32_t stated = read_u32(data + at + 8 + length), found = crc32_of(data + at + 4, length + 4, table);
        CORE_CHECK(stated == found, CORE_FORMAT, "damaged PNG: chunk %s at byte %zu has check sum %08x, expected %08x",
                   type, at, (unsigned)found, (unsigned)stated);
        if (strcmp(type, "IEND") == 0) return CORE_OK;
        at += length + 12;
    }
}

/// Levels of a pixel of 1 to 4 channels: inside is what is at least half opaque and darker than the threshold; the
/// level is the larger of the two conditions' distances from their limits, doubled to be odd.
static sdf__level pixel_level(const unsigned char *pixel, int channels, const sdf_read_def *def) {
    int grey = pixel[0], alpha = channels == 2 || channels == 4 ? pixel[channels - 1] : 255;
    if (channels >= 3) grey = (299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000; // Rec. 601 luma
    int level = 2 * (grey - def->threshold) + 1, clear = 255 - 2 * alpha;
    if (clear > level) level = clear;
    int sign = def->invert ? -1 : 1;
    return (sdf__level){(int16_t)(sign * level), (int16_t)(sign * clear)};
}

core_status sdf__levels_from_png(const unsigned char *data, size_t n, const sdf_read_def *def, sdf__levels *levels,
                                 core_error *err) {
    core_status status = CORE_OK;
    sdf__levels result = {0};
    unsigned char *pixels = NULL;
    int channels = 0;
    CORE_TRY(png_check_header(data, n, err));
    CORE_TRY(png_check_chunks(data, n, err));
    pixels = stbi_load_from_memory(data, (int)n, &result.width, &result.height, &channels, 0);
    if (!pixels) {
        const char *reason = stbi_failure_reason();
        bool memory = reason && strcmp(reason, "outofmem") == 0;
        status = CORE_FAIL(err, memory ? CORE_MEMORY : CORE_FORMAT, "PNG could not be decoded: %s",
                           reason ? reason : "no reason given");
        goto done;
    }

    int stride = result.width + 2;
    CORE_NEW_DONE(result.pixels, (size_t)stride * ((size_t)result.height + 2));
    for (int row = 0; row < result.height + 2; row++) {
        for (int column = 0; column < stride; column++) {
            bool rim = row == 0 || column == 0 || row == result.height + 1 || column == result.width + 1;
            size_t at = rim ? 0 : ((size_t)(row - 1) * (size_t)result.width + (size_t)(column - 1)) * (size_t)channels;
            // As far outside as a clear pixel: the outline of what is cut by the image's edge runs along that edge.
            result.pixels[(size_t)row * (size_t)stride + (size_t)column] =
                rim ? (sdf__level){255, 255} : pixel_level(pixels + at, channels, def);
        }
    }
    *levels = result;
    result = (sdf__levels){0};
done:
    core_free(pixels);
    sdf__levels_clear(&result);
    return status;
}

void sdf__levels_clear(sdf__levels *levels) {
    core_free(levels->pixels);
    *levels = (sdf__levels){0};
}
