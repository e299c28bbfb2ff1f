/// From a mask to an outline: specks, islands, the largest island, simplification and its stated error.
#include "test_sdf_png.h"

/// A grey image of `side` x `side` pixels, white.
typedef struct canvas {
    int side;
    uint16_t *grey;
} canvas;

static canvas canvas_make(int side) {
    canvas c = {side, calloc((size_t)side * (size_t)side, sizeof *c.grey)};
    assert_non_null(c.grey);
    for (int i = 0; i < side * side; i++) c.grey[i] = 255;
    return c;
}

/// Anti-aliased disc of the given grey (0 dark, 255 white).
static void draw_disc(canvas *c, double x, double y, double r, int grey) {
    for (int i = 0; i < c->side * c->side; i++) {
        double d = hypot(i % c->side + 0.5 - x, i / c->side + 0.5 - y) - r;
        double share = fmin(fmax(0.5 - d, 0), 1);
        c->grey[i] = (uint16_t)(c->grey[i] + share * (grey - c->grey[i]) + 0.5);
    }
}

static core_status canvas_read(const canvas *c, const sdf_read_def *def, sdf_shape *s, core_error *err) {
    test_png f = test_png_make(c->side, c->side, 8, 0, 1, c->grey, NULL, 0, NULL, 0);
    const char *path = test_write("a.png", f.data, f.n);
    core_status status = sdf_shape_read(path, def, s, err);
    remove(path);
    free(f.data);
    return status;
}

static sdf_shape canvas_shape(const canvas *c, const sdf_read_def *def) {
    sdf_read_def usual = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    if (canvas_read(c, def ? def : &usual, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    return s;
}

/// A ring with single dark pixels around it and single bright ones in it: the ring, and the number of specks.
static void specks(void **state) {
    (void)state;
    canvas c = canvas_make(128);
    draw_disc(&c, 64, 64, 50, 0);
    draw_disc(&c, 64, 64, 20, 255);
    sdf_shape clean = canvas_shape(&c, NULL);
    assert_int_equal(clean.import.count_specks, 0);
    c.grey[5 * 128 + 5] = c.grey[120 * 128 + 70] = c.grey[64 * 128 + 64] = 0; // two outside, one in the hole
    c.grey[64 * 128 + 30] = c.grey[30 * 128 + 64] = 255;
    sdf_shape s = canvas_shape(&c, NULL);
    assert_int_equal(s.import.count_specks, 5);
    assert_int_equal(s.import.count_islands, 0);
    assert_int_equal(s.outline.count_rings, 2);
    assert_true(s.hash == clean.hash);
    sdf_shape_clear(&s);
    // A hole just above the limit of a thousandth stays: area 6597 pixels, radius 1.6 of 8.04 pixels.
    draw_disc(&c, 64, 30, 1.75, 255);
    s = canvas_shape(&c, NULL);
    assert_int_equal(s.outline.count_rings, 3);
    assert_int_equal(s.import.count_specks, 4);
    sdf_shape_clear(&s);
    sdf_shape_clear(&clean);
    free(c.grey);
}

/// Islands: beside, and in a hole with a hole of its own. Only the largest and its own holes remain, on request.
static void largest_island(void **state) {
    (void)state;
    canvas c = canvas_make(160);
    draw_disc(&c, 60, 64, 50, 0);
    draw_disc(&c, 60, 64, 35, 255);
    sdf_shape ring = canvas_shape(&c, NULL), s = {0};
    draw_disc(&c, 60, 64, 25, 0);
    draw_disc(&c, 60, 64, 10, 255);
    draw_disc(&c, 130, 130, 12, 0);
    sdf_read_def def = sdf_read_default_def();
    core_error err = {0};
    assert_int_equal(canvas_read(&c, &def, &s, &err), CORE_SHAPE);
    if (!strstr(err.message, "3 separate islands (areas 7") || !strstr(err.message, "--largest"))
        fail_msg("message \"%s\"", err.message);
    def.largest = true;
    s = canvas_shape(&c, &def);
    assert_int_equal(s.import.count_islands, 2);
    assert_int_equal(s.outline.count_rings, 2);
    assert_true(s.hash == ring.hash);
    sdf_shape_clear(&s);
    sdf_shape_clear(&ring);
    free(c.grey);
}

/// Of several parts drawn as an outline, too.
static void largest_part(void **state) {
    (void)state;
    const char text[] =
        "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((3 0, 5 0, 5 1, 3 1, 3 0)), ((9 9, 9 8, 8 8, 9 9)))";
    const char *path = test_write("a.wkt", text, sizeof text - 1);
    sdf_read_def def = sdf_read_default_def();
    sdf_shape s = {0};
    core_error err = {0};
    def.largest = true;
    if (sdf_shape_read(path, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_int_equal(s.import.count_islands, 2);
    test_near(s.drawn.area, 2, 1e-14, "area");
    test_near(s.drawn.centroid[0], 4, 1e-14, "centroid");
    sdf_shape_clear(&s);
    remove(path);
}

/// Largest distance of the points of `a` and eight points of each edge from the outline of `b`, canonical units.
static double one_way(const core_outline *a, const core_outline *b, const double shift[2], double scale) {
    double worst = 0;
    for (int r = 0; r < a->count_rings; r++) {
        int begin = a->ring_start[r], n = a->ring_start[r + 1] - begin;
        for (int i = 0; i < 8 * n; i++) {
            const double *p = a->xy + 2 * (begin + i / 8), *q = a->xy + 2 * (begin + (i / 8 + 1) % n);
            double t = i % 8 / 8.0, at[2], d;
            for (int k = 0; k < 2; k++) at[k] = (p[k] + t * (q[k] - p[k])) * scale + shift[k];
            sdf_outline_distance(b, at, 1, &d, NULL);
            worst = fmax(worst, fabs(d));
        }
    }
    return worst;
}

/// The stated error bounds the distance of the outlines both ways, is reached by one of them, and respects the
/// tolerance.
static void simplification(void **state) {
    (void)state;
    canvas c = canvas_make(128);
    draw_disc(&c, 64.3, 64, 50, 0);
    draw_disc(&c, 50, 60, 17, 255);
    sdf_read_def def = sdf_read_default_def();
    def.simplify = 0;
    sdf_shape raw = canvas_shape(&c, &def);
    assert_true(raw.import.outline_error == 0);
    const double tolerances[] = {0.05, 0.2, 1, 4};
    int before = core_outline_count(&raw.outline);
    for (int k = 0; k < 4; k++) {
        def.simplify = tolerances[k];
        sdf_shape s = canvas_shape(&c, &def);
        double stated = s.import.outline_error, unit = s.drawn.circumradius;
        double to_raw[2], to_s[2], scale = s.drawn.circumradius / raw.drawn.circumradius;
        for (int i = 0; i < 2; i++) {
            to_raw[i] = (s.drawn.centroid[i] - raw.drawn.centroid[i]) / raw.drawn.circumradius;
            to_s[i] = -to_raw[i] / scale;
        }
        double there = one_way(&raw.outline, &s.outline, to_s, 1 / scale) * unit;
        double back = one_way(&s.outline, &raw.outline, to_raw, scale) * raw.drawn.circumradius;
        printf("tolerance %g: %d points, stated %.4f, measured %.4f and %.4f pixels\n", def.simplify,
               core_outline_count(&s.outline), stated, there, back);
        assert_true(stated <= def.simplify && stated > 0.3 * def.simplify);
        assert_true(there <= stated + 1e-9 && back <= stated + 1e-9);
        assert_true(there > 0.999 * stated);
        assert_true(core_outline_count(&s.outline) < before);
        before = core_outline_count(&s.outline);
        sdf_shape_clear(&s);
    }
    def.simplify = NAN;
    core_error err = {0};
    sdf_shape s = {0};
    assert_int_equal(canvas_read(&c, &def, &s, &err), CORE_RANGE);
    def.simplify = 1001;
    assert_int_equal(canvas_read(&c, &def, &s, &err), CORE_RANGE);
    sdf_shape_clear(&raw);
    free(c.grey);
}

/// Two dark squares that touch at a corner: joined if the mean of the four pixels around the corner is inside.
static void corners(void **state) {
    (void)state;
    for (int light = 0; light < 2; light++) {
        canvas c = canvas_make(12);
        for (int i = 0; i < 144; i++) {
            int x = i % 12, y = i / 12;
            bool dark = (x >= 2 && x < 6 && y >= 2 && y < 6) || (x >= 6 && x < 10 && y >= 6 && y < 10);
            c.grey[i] = dark ? 0 : light ? 255 : 250; // 250: the mean of 0, 0, 250, 250 is below the threshold
        }
        sdf_read_def def = sdf_read_default_def();
        sdf_shape s = {0};
        core_error err = {0};
        core_status status = canvas_read(&c, &def, &s, &err);
        assert_int_equal(status, light ? CORE_SHAPE : CORE_OK);
        if (light) assert_non_null(strstr(err.message, "2 separate islands"));
        if (!light) assert_int_equal(s.outline.count_rings, 1);
        sdf_shape_clear(&s);
        free(c.grey);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specks),         cmocka_unit_test(largest_island), cmocka_unit_test(largest_part),
        cmocka_unit_test(simplification), cmocka_unit_test(corners),
    };
    return cmocka_run_group_tests(tests, NULL, test_remove_folder);
}
