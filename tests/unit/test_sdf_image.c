/// Silhouettes: every pixel format gives the same mask, an F comes out unmirrored, edges are found to a part of a
/// pixel, damaged files are refused.
#include "test_sdf_png.h"

#define F_WIDTH 12
#define F_HEIGHT 16

/// A letter F, '#' inside. The bars have different lengths: no mirror image is the same.
static const char letter[F_HEIGHT][F_WIDTH + 1] = {
    "............", ".#########..", ".#########..", ".#########..", ".###........", ".###........",
    ".######.....", ".######.....", ".######.....", ".###........", ".###........", ".###........",
    ".###........", ".###........", "............", "............",
};

static core_status read_png(const test_png *f, const sdf_read_def *def, sdf_shape *s, core_error *err) {
    const char *path = test_write("image.png", f->data, f->n);
    core_status status = sdf_shape_read(path, def, s, err);
    remove(path);
    return status;
}

/// Reads the letter from samples that `inside` and `outside` (channels values each) stand for.
static sdf_shape read_letter(int depth, int colour, int channels, const uint16_t *inside, const uint16_t *outside,
                             const char *palette, size_t n_palette, const char *clear, size_t n_clear, bool invert) {
    uint16_t samples[F_WIDTH * F_HEIGHT * 4];
    for (int i = 0; i < F_WIDTH * F_HEIGHT; i++) {
        bool in = letter[i / F_WIDTH][i % F_WIDTH] == '#';
        for (int c = 0; c < channels; c++) samples[i * channels + c] = (in ? inside : outside)[c];
    }
    test_png f = test_png_make(F_WIDTH, F_HEIGHT, depth, colour, channels, samples, palette, n_palette, clear, n_clear);
    sdf_read_def def = sdf_read_default_def();
    def.invert = invert;
    sdf_shape s = {0};
    core_error err = {0};
    if (read_png(&f, &def, &s, &err) != CORE_OK) fail_msg("depth %d, colour type %d: %s", depth, colour, err.message);
    free(f.data);
    return s;
}

static void pixel_formats(void **state) {
    (void)state;
    const struct {
        int depth, colour, channels;
        uint16_t inside[4], outside[4];
        const char *palette;
        size_t n_palette;
        const char *clear;
        size_t n_clear;
        bool invert;
    } cases[] = {
        {8, 0, 1, {0}, {255}, NULL, 0, NULL, 0, false},
        {8, 0, 1, {255}, {0}, NULL, 0, NULL, 0, true},
        {1, 0, 1, {0}, {1}, NULL, 0, NULL, 0, false},
        {2, 0, 1, {0}, {3}, NULL, 0, NULL, 0, false},
        {4, 0, 1, {0}, {15}, NULL, 0, NULL, 0, false},
        {16, 0, 1, {0}, {65535}, NULL, 0, NULL, 0, false},
        {8, 2, 3, {0, 0, 0}, {255, 255, 255}, NULL, 0, NULL, 0, false},
        {16, 2, 3, {0, 0, 0}, {65535, 65535, 65535}, NULL, 0, NULL, 0, false},
        {8, 4, 2, {0, 255}, {255, 255}, NULL, 0, NULL, 0, false},
        {8, 4, 2, {0, 255}, {0, 0}, NULL, 0, NULL, 0, false}, // black on clear black
        {8, 6, 4, {0, 0, 0, 255}, {0, 0, 0, 0}, NULL, 0, NULL, 0, false},
        {8, 6, 4, {0, 0, 0, 255}, {255, 255, 255, 255}, NULL, 0, NULL, 0, false},
        {8, 6, 4, {40, 80, 120, 255}, {255, 255, 255, 0}, NULL, 0, NULL, 0, false}, // edges of alpha ignore the colour
        {8, 6, 4, {0, 0, 0, 0}, {40, 80, 120, 255}, NULL, 0, NULL, 0, true},
        {16, 6, 4, {0, 0, 0, 65535}, {0, 0, 0, 0}, NULL, 0, NULL, 0, false},
        {1, 3, 1, {0}, {1}, "\0\0\0\xff\xff\xff", 6, NULL, 0, false},
        {4, 3, 1, {2}, {1}, "\x80\x80\x80\xff\xff\xff\0\0\0", 9, NULL, 0, false},
        {8, 3, 1, {1}, {0}, "\0\0\0\0\0\0", 6, "\0\xff", 2, false}, // entry 0 clear
    };
    sdf_shape first = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sdf_shape s =
            read_letter(cases[i].depth, cases[i].colour, cases[i].channels, cases[i].inside, cases[i].outside,
                        cases[i].palette, cases[i].n_palette, cases[i].clear, cases[i].n_clear, cases[i].invert);
        if (i == 0) {
            first = s;
            continue;
        }
        if (s.hash != first.hash) fail_msg("case %zu: another outline than that of 8-bit grey", i);
        sdf_shape_clear(&s);
    }
    sdf_shape_clear(&first);
}

/// The drawing's axes: x to the right, y up. Its long bar is on top, the bars on the right.
static void letter_is_unmirrored(void **state) {
    (void)state;
    sdf_shape s = read_letter(8, 0, 1, (const uint16_t[]){0}, (const uint16_t[]){255}, NULL, 0, NULL, 0, false);
    // Pixels to drawing units: centre of pixel (column, row) is (column + .5, height - row - .5).
    int wrong = 0;
    for (int i = 0; i < F_WIDTH * F_HEIGHT; i++) {
        double x = i % F_WIDTH + 0.5, y = F_HEIGHT - i / F_WIDTH - 0.5, d;
        double p[2] = {(x - s.drawn.centroid[0]) / s.drawn.circumradius,
                       (y - s.drawn.centroid[1]) / s.drawn.circumradius};
        sdf_outline_distance(&s.outline, p, 1, &d, NULL);
        wrong += (d < 0) != (letter[i / F_WIDTH][i % F_WIDTH] == '#');
    }
    assert_int_equal(wrong, 0);
    // 66 pixels, less an eighth of a pixel for each of the four outer corners that no inner one makes good.
    test_near(s.drawn.area, 65.5, 1e-12, "area in pixels");
    sdf_shape_clear(&s);
}

/// Grey = share of the pixel outside a disc of radius r with a hole, 16 x 16 samples; binary: pixel centre alone.
static sdf_shape read_disc(int side, double r, double hole, bool binary) {
    uint16_t *samples = calloc((size_t)side * (size_t)side, sizeof *samples);
    assert_non_null(samples);
    int fine = binary ? 1 : 16;
    for (int i = 0; i < side * side; i++) {
        int in = 0;
        for (int k = 0; k < fine * fine; k++) {
            double x = i % side + (k % fine + 0.5) / fine - side / 2.0 - 0.3,
                   y = i / side + (k / fine + 0.5) / fine - side / 2.0;
            double d = hypot(x, y);
            in += d < r && d >= hole;
        }
        samples[i] = (uint16_t)(255 - 255 * in / (fine * fine));
    }
    test_png f = test_png_make(side, side, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    if (read_png(&f, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    free(f.data);
    free(samples);
    return s;
}

/// Largest distance of the outline's points and edge middles from the circle (drawing units).
static double circle_error(const sdf_shape *s, int ring, double r, double cx, double cy) {
    double worst = 0;
    int begin = s->outline.ring_start[ring], end = s->outline.ring_start[ring + 1];
    for (int i = begin; i < end; i++) {
        const double *a = s->outline.xy + 2 * i, *b = s->outline.xy + 2 * (i + 1 < end ? i + 1 : begin);
        for (int k = 0; k < 2; k++) {
            double x = s->drawn.circumradius * (k ? (a[0] + b[0]) / 2 : a[0]) + s->drawn.centroid[0] - cx;
            double y = s->drawn.circumradius * (k ? (a[1] + b[1]) / 2 : a[1]) + s->drawn.centroid[1] - cy;
            worst = fmax(worst, fabs(hypot(x, y) - r));
        }
    }
    return worst;
}

static void edges_within_a_pixel(void **state) {
    (void)state;
    for (int binary = 0; binary < 2; binary++) {
        sdf_shape s = read_disc(128, 50, 20, binary);
        assert_int_equal(s.outline.count_rings, 2);
        double outer = circle_error(&s, 0, 50, 64.3, 64), inner = circle_error(&s, 1, 20, 64.3, 64);
        printf("%s disc, radius 50 and 20 pixels: outline off by %.3f and %.3f pixels, %d points\n",
               binary ? "black-and-white" : "anti-aliased", outer, inner, core_outline_count(&s.outline));
        assert_true(fmax(outer, inner) < (binary ? 0.6 : 0.2));
        assert_true(core_outline_count(&s.outline) < 200);
        test_near(s.drawn.area / (CORE_PI * (2500 - 400)), 1, 0.002, "area");
        test_near(s.drawn.centroid[0], 64.3, binary ? 0.01 : 0.002, "centroid x");
        sdf_shape_clear(&s);
    }
}

/// An image cut off by its edge is closed along the edge.
static void touching_the_edge(void **state) {
    (void)state;
    uint16_t samples[8 * 6];
    for (int i = 0; i < 48; i++) samples[i] = i % 8 < 4 ? 0 : 255;
    test_png f = test_png_make(8, 6, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    if (read_png(&f, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    test_near(s.drawn.area, 24, 0.03, "area");
    test_near(s.drawn.centroid[0], 2, 0.01, "centroid x");
    test_near(s.drawn.centroid[1], 3, 0.01, "centroid y");
    sdf_shape_clear(&s);
    free(f.data);
}

static void threshold(void **state) {
    (void)state;
    // A dark square in a grey one in white: the threshold chooses.
    uint16_t samples[16 * 16];
    for (int i = 0; i < 256; i++) {
        int x = i % 16, y = i / 16;
        samples[i] = x >= 5 && x < 11 && y >= 5 && y < 11 ? 20 : x >= 2 && x < 14 && y >= 2 && y < 14 ? 130 : 255;
    }
    test_png f = test_png_make(16, 16, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    def.threshold = 75;
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_OK);
    test_near(s.drawn.area, 36, 0.03, "dark square");
    sdf_shape_clear(&s);
    def.threshold = 193;
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_OK);
    test_near(s.drawn.area, 144, 0.03, "grey square");
    sdf_shape_clear(&s);
    def.threshold = 10;
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_SHAPE);
    assert_non_null(strstr(err.message, "none of the 16 x 16 pixels"));
    def.threshold = 0;
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_RANGE);
    free(f.data);
}

/// Two pixels that touch at a corner in white: the mean of the four around is zero, so they are apart.
static void islands(void **state) {
    (void)state;
    uint16_t samples[6 * 6];
    for (int i = 0; i < 36; i++) samples[i] = 255;
    samples[2 * 6 + 2] = samples[3 * 6 + 3] = 0;
    test_png f = test_png_make(6, 6, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_SHAPE);
    assert_non_null(strstr(err.message, "2 separate islands (areas 0.5, 0.5 pixels)"));
    free(f.data);
    // Bright on dark, they are one hole's two halves: joined by nothing either, so the dark region has them as one ring
    // or two, but is one region.
    for (int i = 0; i < 36; i++) samples[i] = (uint16_t)(255 - samples[i]);
    for (int i = 0; i < 36; i++)
        if (i / 6 == 0 || i / 6 == 5 || i % 6 == 0 || i % 6 == 5) samples[i] = 255;
    f = test_png_make(6, 6, 8, 0, 1, samples, NULL, 0, NULL, 0);
    if (read_png(&f, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_int_equal(s.outline.count_rings, 2);
    sdf_shape_clear(&s);
    free(f.data);
}

/// Cut anywhere, with any single byte changed, or not a PNG at all: a message, and no shape.
static void damaged(void **state) {
    (void)state;
    uint16_t samples[F_WIDTH * F_HEIGHT];
    for (int i = 0; i < F_WIDTH * F_HEIGHT; i++) samples[i] = letter[i / F_WIDTH][i % F_WIDTH] == '#' ? 0 : 255;
    test_png f = test_png_make(F_WIDTH, F_HEIGHT, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    for (size_t n = 0; n < f.n; n++) {
        test_png cut = {f.data, n};
        sdf_shape s = {0};
        core_error err = {0};
        assert_int_equal(read_png(&cut, &def, &s, &err), CORE_FORMAT);
        assert_non_null(strstr(err.message, "image.png: "));
        assert_null(s.outline.xy);
    }
    for (size_t i = 0; i < f.n; i++) {
        sdf_shape s = {0};
        core_error err = {0};
        f.data[i] ^= 0x10;
        core_status status = read_png(&f, &def, &s, &err);
        if (status != CORE_FORMAT && status != CORE_RANGE) fail_msg("byte %zu changed: status %d", i, (int)status);
        f.data[i] ^= 0x10;
    }
    free(f.data);
    test_png text = {(unsigned char *)(uintptr_t) "POLYGON ((0 0, 1 0, 0 1, 0 0))", 30};
    sdf_shape s = {0};
    core_error err = {0};
    assert_int_equal(read_png(&text, &def, &s, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "not an image: found text"));
}

/// Sizes are bounded before anything is decoded.
static void too_large(void **state) {
    (void)state;
    uint16_t one = 0;
    test_png f = test_png_make(1, 1, 8, 0, 1, &one, NULL, 0, NULL, 0);
    f.data[16] = 0x7f; // width, most significant byte
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    uint64_t before = core_alloc_count();
    assert_int_equal(read_png(&f, &def, &s, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "x 1 pixels, expected 1 .. 8192"));
    assert_true(core_alloc_count() - before <= 3); // the file itself
    free(f.data);
}

static void allocation_failures(void **state) {
    (void)state;
    uint16_t samples[F_WIDTH * F_HEIGHT];
    for (int i = 0; i < F_WIDTH * F_HEIGHT; i++) samples[i] = letter[i / F_WIDTH][i % F_WIDTH] == '#' ? 0 : 255;
    test_png f = test_png_make(F_WIDTH, F_HEIGHT, 8, 0, 1, samples, NULL, 0, NULL, 0);
    sdf_read_def def = sdf_read_default_def();
    const char *path = test_write("image.png", f.data, f.n);
    core_status status = CORE_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY; n++, failures++) {
        sdf_shape s = {0};
        core_alloc_fail_after(n);
        status = sdf_shape_read(path, &def, &s, NULL);
        core_alloc_fail_after(0);
        if (status != CORE_OK) assert_null(s.outline.xy);
        sdf_shape_clear(&s);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 10, 100);
    remove(path);
    free(f.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixel_formats),
        cmocka_unit_test(letter_is_unmirrored),
        cmocka_unit_test(edges_within_a_pixel),
        cmocka_unit_test(touching_the_edge),
        cmocka_unit_test(threshold),
        cmocka_unit_test(islands),
        cmocka_unit_test(damaged),
        cmocka_unit_test(too_large),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, test_remove_folder);
}
