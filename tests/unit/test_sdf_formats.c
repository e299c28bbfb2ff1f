/// The same drawing in every kind of image and every depth gives the same bits; files that are cut off, of another kind
/// or damaged are refused with the true reason.
#include "test_sdf_encode.h"

#define WIDTH 12
#define HEIGHT 16
#define BLOCK 8 // every pixel of the letter is a block, so that JPEG can hold it exactly

/// The letter F of test_sdf_image.c; no mirror image is the same.
static const char letter[HEIGHT][WIDTH + 1] = {
    "............", ".#########..", ".#########..", ".#########..", ".###........", ".###........",
    ".######.....", ".######.....", ".######.....", ".###........", ".###........", ".###........",
    ".###........", ".###........", "............", "............",
};

static unsigned char small_pixels[HEIGHT * WIDTH], large_pixels[HEIGHT * WIDTH * BLOCK * BLOCK];
static test_mask small_letter, large_letter;

static int draw_letter(void **state) {
    (void)state;
    for (int i = 0; i < HEIGHT * WIDTH; i++) small_pixels[i] = letter[i / WIDTH][i % WIDTH] == '#';
    for (int i = 0; i < HEIGHT * WIDTH * BLOCK * BLOCK; i++)
        large_pixels[i] = small_pixels[i / (WIDTH * BLOCK) / BLOCK * WIDTH + i % (WIDTH * BLOCK) / BLOCK];
    small_letter = (test_mask){WIDTH, HEIGHT, small_pixels};
    large_letter = (test_mask){WIDTH * BLOCK, HEIGHT * BLOCK, large_pixels};
    return 0;
}

static core_status read_image(const char *name, const test_png *f, const sdf_read_def *def, sdf_shape *s,
                              core_error *err) {
    sdf_read_def usual = sdf_read_default_def();
    const char *path = test_write(name, f->data, f->n);
    core_status status = sdf_shape_read(path, def ? def : &usual, s, err);
    remove(path);
    return status;
}

/// Outline hash of a file that must be read; frees it.
static uint64_t hash_of(const char *name, test_png f) {
    sdf_shape s = {0};
    core_error err = {0};
    if (read_image(name, &f, NULL, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    uint64_t hash = s.hash;
    sdf_shape_clear(&s);
    free(f.data);
    return hash;
}

/// The large letter as 8-bit grey PNG: what all others are compared with.
static test_png letter_png(void) {
    static uint16_t samples[HEIGHT * WIDTH * BLOCK * BLOCK];
    for (int i = 0; i < HEIGHT * WIDTH * BLOCK * BLOCK; i++) samples[i] = large_pixels[i] ? 0 : 255;
    return test_png_make(WIDTH * BLOCK, HEIGHT * BLOCK, 8, 0, 1, samples, NULL, 0, NULL, 0);
}

static void same_outline(void **state) {
    (void)state;
    const test_mask *m = &large_letter;
    uint64_t first = hash_of("a.png", letter_png());
    const struct {
        int bits, header, colours;
        bool top_down, alpha;
    } bmps[] = {
        {1, 40, 2, false, false},  {4, 40, 16, false, false},  {4, 40, 2, true, false},   {8, 40, 256, false, false},
        {8, 40, 3, false, false},  {16, 40, 0, false, false},  {24, 40, 0, false, false}, {24, 40, 0, true, false},
        {32, 40, 0, false, false}, {32, 108, 0, false, false}, {32, 108, 0, true, true},  {24, 124, 0, false, false},
        {8, 108, 4, false, false},
    };
    for (size_t i = 0; i < sizeof bmps / sizeof bmps[0]; i++) {
        test_png f = test_bmp_make(m, bmps[i].bits, bmps[i].header, bmps[i].colours, bmps[i].top_down, bmps[i].alpha);
        if (hash_of("a.bmp", f) != first) fail_msg("BMP %zu: another outline than that of the PNG", i);
    }
    const struct {
        const char *header;
        int largest;
    } pgms[] = {{" 96 128 255\n", 255},    {"\n# made by hand\n96 # columns\n128\n255\n", 255},
                {"\t96\r\n128 1\n", 1},    {" 96 128 100\n", 100},
                {" 96 128 256\n", 256},    {" 96 128 1023\n", 1023},
                {" 96 128 65535\n", 65535}};
    for (size_t i = 0; i < sizeof pgms / sizeof pgms[0]; i++)
        if (hash_of("a.pgm", test_pgm_make(m, pgms[i].header, pgms[i].largest)) != first)
            fail_msg("PGM %zu: another outline than that of the PNG", i);
    for (int k = 0; k < 4; k++)
        if (hash_of(k % 2 ? "a.jpeg" : "a.JPG", test_jpeg_make(&small_letter, k < 2 ? 1 : 3, k % 2, 8)) != first)
            fail_msg("JPEG %d: another outline than that of the PNG", k);
    // The content says what a file is.
    assert_true(hash_of("a.png", test_jpeg_make(&small_letter, 1, false, 8)) == first);
}

/// Two-byte greys are high byte first and spread over 0 .. the stated maximum.
static void sixteen_bit_greys(void **state) {
    (void)state;
    // Left half just dark enough, right half just not: 499/1000 and 510/1000 of white, 127 and 130 of 255.
    test_png f = {0};
    test_put(&f, "P5 4 2 1000\n", 12);
    for (int i = 0; i < 8; i++) test_put_u16(&f, i % 4 < 2 ? 499 : 510);
    sdf_shape s = {0};
    core_error err = {0};
    if (read_image("a.pgm", &f, NULL, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    // Crossing between levels 2 (127 - 128) + 1 = -1 and 2 (130 - 128) + 1 = 5, from pixel centre 1.5.
    double right = -INFINITY;
    for (int i = 0; i < core_outline_count(&s.outline); i++) right = fmax(right, s.outline.xy[2 * i]);
    test_near(right * s.drawn.circumradius + s.drawn.centroid[0], 1.5 + 1.0 / 6, 1e-12, "right edge");
    sdf_shape_clear(&s);
    free(f.data);
}

/// One file and the answer it must get.
typedef struct refusal {
    const char *name;
    const void *data;
    size_t n;
    const char *message;
} refusal;
#define BYTES(text) text, sizeof(text) - 1

static const refusal refusals[] = {
    {"a.jpg", BYTES(""), "the file is empty"},
    {"a.bmp", BYTES("POLYGON ((0 0, 1 0, 0 1, 0 0))"), "found text that begins with \"POLYGON ((0 0, 1\""},
    {"a.png", BYTES("x"), "found text that begins with \"x\""},
    {"a.pgm", BYTES("P2\n2 2\n255\n0 0 0 255\n"), "found a PGM written as text (P2)"},
    {"a.pgm", BYTES("P6\n1 1\n255\n\0\0\0"), "found a colour image (PPM, P6)"},
    {"a.png", BYTES("GIF89a\1\0\1\0"), "found a GIF image"},
    {"a.jpg", BYTES("II*\0\x10\0\0\0"), "found a TIFF image"},
    {"a.jpg", BYTES("RIFF\1\0\0\0WEBP"), "found a RIFF file (WebP?)"},
    {"a.png", BYTES("\1\2\3\4\5\6\7\x8"), "first bytes (01 02 03 04) are of no known kind"},
    {"a.pgm", BYTES("P5\n2 2\n255\n\0\0\0"), "truncated PGM: its pixels need 4 bytes, 3 are there"},
    {"a.pgm", BYTES("P5\n2 2\n256\n\0\0\0\0\0\0\0"), "truncated PGM: its pixels need 8 bytes, 7 are there"},
    {"a.pgm", BYTES("P5\n2 2\n0\n\0\0\0\0"), "largest grey value is 0"},
    {"a.pgm", BYTES("P5\n2 2\n65536\n\0\0\0\0"), "largest grey value is 65536"},
    {"a.pgm", BYTES("P5\n2 2\n7\n\0\0\7\x8"), "pixel 3 has grey value 8, the header says at most 7"},
    {"a.pgm", BYTES("P5\n2"), "truncated or damaged PGM"},
    {"a.pgm", BYTES("P5\n99999999999 2 255\n"), "expected 1 .. 8192 each way"},
    {"a.bmp", BYTES("BM\0\0\0\0"), "truncated BMP: 6 bytes"},
    {"a.jpg", BYTES("\xff\xd8\xff\xd9"), "there is no image in it"},
    {"a.jpg", BYTES("\xff\xd8\xff\xe0\0\x10JFIF"), "truncated JPEG: the segment at byte 2"},
    {"a.jpg", BYTES("\xff\xd8\xff\xda\0\2\xff\xd9"), "a scan before the frame header"},
    {"a.jpg", BYTES("\xff\xd8\xff\xc9\0\xb\x8\0\1\0\1\1\1\x11\0\xff\xd9"), "arithmetic coding"},
    {"a.jpg", BYTES("\xff\xd8\xff\xc0\0\xb\x8\x70\0\0\1\1\1\x11\0\xff\xd9"), "1 x 28672 pixels"},
};

static void refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        test_png f = {0};
        sdf_shape s = {0};
        core_error err = {0};
        test_put(&f, refusals[i].data, refusals[i].n);
        core_status status = read_image(refusals[i].name, &f, NULL, &s, &err);
        if ((status != CORE_FORMAT && status != CORE_RANGE) || !strstr(err.message, refusals[i].message))
            fail_msg("case %zu: status %d, message \"%s\"", i, (int)status, err.message);
        if (!strstr(err.message, refusals[i].name)) fail_msg("\"%s\" does not name the file", err.message);
        assert_null(s.outline.xy);
        free(f.data);
    }
}

static void refuse_made(const char *name, test_png f, const char *message) {
    sdf_shape s = {0};
    core_error err = {0};
    core_status status = read_image(name, &f, NULL, &s, &err);
    if (status != CORE_FORMAT || !strstr(err.message, message))
        fail_msg("expected \"%s\": status %d, message \"%s\"", message, (int)status, err.message);
    free(f.data);
}

static void refused_kinds(void **state) {
    (void)state;
    refuse_made("a.jpg", test_jpeg_make(&small_letter, 4, false, 8), "CMYK JPEG");
    refuse_made("a.jpg", test_jpeg_make(&small_letter, 1, false, 12), "JPEG of 12 bits a channel");
    // A Huffman table of more symbols than there are bytes: stb_image would write beyond its own.
    test_png wide = test_jpeg_make(&small_letter, 1, false, 8);
    for (size_t i = 0; i + 1 < wide.n; i++)
        if (wide.data[i] == 0xff && wide.data[i + 1] == 0xc4) wide.data[i + 5 + 12] = 255;
    refuse_made("a.jpg", wide, "damaged JPEG: a Huffman table of 267 symbols");
    wide = test_jpeg_make(&small_letter, 1, false, 8);
    for (size_t i = 0; i + 1 < wide.n; i++)
        if (wide.data[i] == 0xff && wide.data[i + 1] == 0xc4) wide.data[i + 5 + 12] = 1;
    refuse_made("a.jpg", wide, "damaged JPEG: a Huffman table of 13 symbols");
    // A colour beyond the palette: of a BMP, and of a PNG.
    refuse_made("a.bmp", test_bmp_make(&small_letter, 8, 40, 1, false, false), "colour 1 of a palette of 1");
    test_png f = test_bmp_make(&small_letter, 8, 40, 2, false, false);
    f.data[30] = 1;
    refuse_made("a.bmp", f, "compressed BMP (kind 1)");
    f = test_bmp_make(&small_letter, 8, 40, 2, false, false);
    f.data[14] = 12;
    refuse_made("a.bmp", f, "header of 12 bytes");
    uint16_t samples[HEIGHT * WIDTH];
    for (int depth = 1; depth <= 8; depth *= 2) {
        for (int i = 0; i < HEIGHT * WIDTH; i++) samples[i] = small_pixels[i];
        f = test_png_make(WIDTH, HEIGHT, depth, 3, 1, samples, "\0\0\0", 3, "\xff", 1);
        refuse_made("a.png", f, "colour 1 of a palette of 1");
    }
}

/// Cut anywhere, a file is refused as cut off, and by its own kind.
static void truncated(void **state) {
    (void)state;
    const struct {
        const char *name;
        test_png file;
    } files[] = {
        {"a.jpg", test_jpeg_make(&small_letter, 1, false, 8)},
        {"a.jpg", test_jpeg_make(&small_letter, 3, true, 8)},
        {"a.bmp", test_bmp_make(&small_letter, 24, 40, 0, false, false)},
        {"a.bmp", test_bmp_make(&small_letter, 1, 40, 2, false, false)},
        {"a.pgm", test_pgm_make(&small_letter, " 12 16 255\n", 255)},
        {"a.pgm", test_pgm_make(&small_letter, " 12 16 1000\n", 1000)},
    };
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        // Rows of a BMP are padded: the last bytes are no pixels.
        size_t end = files[k].file.n - (k == 3 ? 2 : 0);
        for (size_t n = 4; n < end; n++) {
            test_png cut = {files[k].file.data, n};
            sdf_shape s = {0};
            core_error err = {0};
            core_status status = read_image(files[k].name, &cut, NULL, &s, &err);
            if (status != CORE_FORMAT && status != CORE_RANGE)
                fail_msg("%s %zu cut at %zu of %zu: status %d", files[k].name, k, n, end, (int)status);
            // A PGM can also be cut in a number: then it is the number that is wrong.
            bool says = strstr(err.message, "truncated") || strstr(err.message, "damaged") || k >= 4;
            if (!says) fail_msg("%s cut at %zu: \"%s\"", files[k].name, n, err.message);
        }
        free(files[k].file.data);
    }
}

/// Opacity decides where it varies; else the colour does, whatever the opacity.
static void opacity(void **state) {
    (void)state;
    const struct {
        uint16_t in[2], out[2]; // grey, alpha
        bool invert;
    } cases[] = {
        {{255, 255}, {255, 0}, false}, // white on clear
        {{0, 255}, {255, 0}, false},   // black on clear white
        {{255, 200}, {0, 55}, false},  // the colours would say the contrary
        {{0, 255}, {255, 255}, false}, // opaque everywhere
        {{0, 90}, {255, 90}, false},   // as faint everywhere: the colours decide
        {{0, 255}, {255, 140}, false}, // more than half opaque everywhere
        {{255, 0}, {255, 255}, true},  // a hole in paper
    };
    uint64_t first = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        uint16_t samples[2 * HEIGHT * WIDTH];
        for (int i = 0; i < 2 * HEIGHT * WIDTH; i++)
            samples[i] = (small_pixels[i / 2] ? cases[k].in : cases[k].out)[i % 2];
        test_png f = test_png_make(WIDTH, HEIGHT, 8, 4, 2, samples, NULL, 0, NULL, 0);
        sdf_read_def def = sdf_read_default_def();
        def.invert = cases[k].invert;
        sdf_shape s = {0};
        core_error err = {0};
        if (read_image("a.png", &f, &def, &s, &err) != CORE_OK) fail_msg("case %zu: %s", k, err.message);
        // Edges at other levels lie elsewhere by a part of a pixel: the mask is compared by its area and middle.
        test_near(s.drawn.area, 65.5, 0.15, "area");
        test_near(s.drawn.centroid[1], 9.76, 0.1, "centroid");
        if (k == 0) first = s.hash;
        if (k == 1 || k == 3) assert_true(s.hash == first);
        sdf_shape_clear(&s);
        free(f.data);
    }
}

static void allocation_failures(void **state) {
    (void)state;
    uint16_t samples[HEIGHT * WIDTH] = {0};
    for (int i = 0; i < HEIGHT * WIDTH; i++) samples[i] = small_pixels[i] ? 2 : 1;
    const struct {
        const char *name;
        test_png file;
    } files[] = {
        {"a.jpg", test_jpeg_make(&small_letter, 3, true, 8)},
        {"a.bmp", test_bmp_make(&small_letter, 24, 40, 0, false, false)},
        {"a.pgm", test_pgm_make(&small_letter, " 12 16 255\n", 255)},
        {"a.png", test_png_make(WIDTH, HEIGHT, 2, 3, 1, samples, "\0\0\0\xff\xff\xff\0\0\0", 9, "\0", 1)},
    };
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        core_status status = CORE_MEMORY;
        int failures = 0;
        for (uint64_t n = 1; status == CORE_MEMORY; n++, failures++) {
            sdf_shape s = {0};
            core_alloc_fail_after(n);
            status = read_image(files[k].name, &files[k].file, NULL, &s, NULL);
            core_alloc_fail_after(0);
            if (status != CORE_OK) assert_null(s.outline.xy);
            sdf_shape_clear(&s);
        }
        if (status != CORE_OK) fail_msg("%s: status %d after %d failures", files[k].name, (int)status, failures);
        assert_in_range(failures, 10, 100);
        free(files[k].file.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_outline),        cmocka_unit_test(sixteen_bit_greys), cmocka_unit_test(refused),
        cmocka_unit_test(refused_kinds),       cmocka_unit_test(truncated),         cmocka_unit_test(opacity),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, draw_letter, test_remove_folder);
}
