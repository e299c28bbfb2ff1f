/// Exact signed distance: analytic shapes, GEOS, gradients, holes, odd input.
#include "test_sdf_common.h"

#define COUNT 2000

/// Signed distance to the box |x| <= a, |y| <= b.
static double box_distance(double x, double y, double a, double b) {
    double dx = fabs(x) - a, dy = fabs(y) - b;
    double outside = hypot(fmax(dx, 0), fmax(dy, 0));
    return outside > 0 ? outside : fmax(dx, dy);
}

static void rectangle(void **state) {
    (void)state;
    double xy[] = {-2, -1, 2, -1, 2, 1, -2, 1}, *p = malloc(2 * COUNT * sizeof *p), *d = malloc(COUNT * sizeof *d);
    core_outline o = test_outline(xy, 4);
    core_random r;
    core_random_init(&r, 1, 0);
    for (int i = 0; i < 2 * COUNT; i++) p[i] = 8 * core_random_uniform(&r) - 4;
    sdf_outline_distance(&o, p, COUNT, d, NULL);
    for (int i = 0; i < COUNT; i++) test_near(d[i], box_distance(p[2 * i], p[2 * i + 1], 2, 1), 1e-14, "distance");
    core_outline_clear(&o);
    free(p);
    free(d);
}

/// Square with a square hole: distance = max(outer, -inner).
static void hole(void **state) {
    (void)state;
    int counts[] = {4, 4};
    double outer[] = {-2, -2, 2, -2, 2, 2, -2, 2}, inner[] = {-1, -1, -1, 1, 1, 1, 1, -1};
    core_outline o = {0};
    assert_int_equal(core_outline_create(2, counts, &o, NULL), CORE_OK);
    memcpy(o.xy, outer, sizeof outer);
    memcpy(o.xy + 8, inner, sizeof inner);
    core_random r;
    core_random_init(&r, 2, 0);
    for (int i = 0; i < COUNT; i++) {
        double p[2] = {6 * core_random_uniform(&r) - 3, 6 * core_random_uniform(&r) - 3}, d;
        sdf_outline_distance(&o, p, 1, &d, NULL);
        test_near(d, fmax(box_distance(p[0], p[1], 2, 2), -box_distance(p[0], p[1], 1, 1)), 1e-14, "distance");
    }
    core_outline_clear(&o);
}

/// Points level with corners: the ray to the right passes through vertices, at the tip of a triangle and along a whole
/// side.
static void level_with_corners(void **state) {
    (void)state;
    const double xy[] = {-2, 0, 0, -1, 3, 0, 1, 1, -1, 1};
    core_outline o = test_outline(xy, 5);
    const struct {
        double p[2];
        bool inside;
    } cases[] = {{{-3, 0}, false},  {{-1, 0}, true},  {{0.5, 0}, true}, {{4, 0}, false},
                 {{-1, -1}, false}, {{1, -1}, false}, {{-3, 1}, false}, {{2, 1}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double d;
        sdf_outline_distance(&o, cases[i].p, 1, &d, NULL);
        if ((d < 0) != cases[i].inside) fail_msg("(%g, %g): distance %g", cases[i].p[0], cases[i].p[1], d);
    }
    core_outline_clear(&o);
}

/// A tiny triangle at p; GEOS measures regions only.
static double geos_distance(const core_outline *o, const double p[2]) {
    const double size = 1e-10, triangle[] = {-size, -size, size, -size, 0, size};
    core_outline probe = test_outline(triangle, 3);
    sdf_posed a = {o, 1, 0, 0, 0}, b = {&probe, 1, 0, p[0], p[1]};
    double d = NAN;
    assert_int_equal(sdf_posed_distance(&a, &b, &d, NULL), CORE_OK);
    core_outline_clear(&probe);
    return d;
}

/// Everything within a large square that `o` is not; defined for an outline without holes.
static core_outline complement(const core_outline *o) {
    core_outline c = {0};
    int n = core_outline_count(o), counts[] = {4, n};
    const double square[] = {-9, -9, 9, -9, 9, 9, -9, 9};
    assert_int_equal(core_outline_create(2, counts, &c, NULL), CORE_OK);
    memcpy(c.xy, square, sizeof square);
    for (int i = 0; i < n; i++) memcpy(c.xy + 8 + 2 * i, o->xy + 2 * (n - 1 - i), 2 * sizeof *c.xy);
    return c;
}

/// The distance to the region where positive, to its complement where negative: GEOS knows both.
static void against_geos(void **state) {
    (void)state;
    const char *names[] = {"u", "n", "arc75", "link"};
    for (int k = 0; k < 4; k++) {
        sdf_shape s = test_shape(names[k]);
        core_outline c = complement(&s.outline);
        core_random r;
        core_random_init(&r, 3, (uint64_t)k);
        int inside = 0;
        for (int i = 0; i < 500; i++) {
            double p[2] = {3 * core_random_uniform(&r) - 1.5, 3 * core_random_uniform(&r) - 1.5}, d;
            sdf_outline_distance(&s.outline, p, 1, &d, NULL);
            test_near(d < 0 ? geos_distance(&c, p) : geos_distance(&s.outline, p), fabs(d), 1e-9, names[k]);
            inside += d < 0;
        }
        assert_in_range(inside, 20, 400);
        core_outline_clear(&c);
        sdf_shape_clear(&s);
    }
}

/// Unit length, and the slope of the distance itself.
static void gradient(void **state) {
    (void)state;
    sdf_shape s = test_shape("hash");
    core_random r;
    core_random_init(&r, 4, 0);
    int compared = 0;
    for (int i = 0; i < COUNT; i++) {
        double p[2] = {3 * core_random_uniform(&r) - 1.5, 3 * core_random_uniform(&r) - 1.5}, d, g[2];
        sdf_outline_distance(&s.outline, p, 1, &d, g);
        test_near(hypot(g[0], g[1]), 1, 1e-14, "length");
        const double h = 1e-6;
        double q[8] = {p[0] - h, p[1], p[0] + h, p[1], p[0], p[1] - h, p[0], p[1] + h}, e[4];
        sdf_outline_distance(&s.outline, q, 4, e, NULL);
        double slope[2] = {(e[1] - e[0]) / (2 * h), (e[3] - e[2]) / (2 * h)};
        // Next to the medial axis the difference quotient straddles a kink: its length is not 1 there.
        if (fabs(hypot(slope[0], slope[1]) - 1) > 1e-6) continue;
        test_near(g[0], slope[0], 2e-6, "gradient x");
        test_near(g[1], slope[1], 2e-6, "gradient y");
        compared++;
    }
    assert_in_range(compared, COUNT * 95 / 100, COUNT);
    sdf_shape_clear(&s);
}

/// On the outline: distance 0 and an outward unit gradient, at corners along the bisector.
static void on_outline(void **state) {
    (void)state;
    double xy[] = {-2, -1, 2, -1, 2, 1, -2, 1}, p[] = {2, 0.25, 0, 1, 2, 1}, d[3], g[6];
    core_outline o = test_outline(xy, 4);
    sdf_outline_distance(&o, p, 3, d, g);
    double expected[] = {1, 0, 0, 1, sqrt(0.5), sqrt(0.5)};
    for (int i = 0; i < 3; i++) test_near(d[i], 0, 1e-300, "distance");
    for (int i = 0; i < 6; i++) test_near(g[i], expected[i], 1e-15, "gradient");
    core_outline_clear(&o);
}

static void not_finite(void **state) {
    (void)state;
    double xy[] = {0, 0, 1, 0, 0, 1}, p[] = {NAN, 0, 0, NAN, INFINITY, 0, 0.25, 0.25}, d[4], g[8];
    core_outline o = test_outline(xy, 3);
    sdf_outline_distance(&o, p, 4, d, g);
    for (int i = 0; i < 3; i++) assert_true(isnan(d[i]) && isnan(g[2 * i]) && isnan(g[2 * i + 1]));
    test_near(d[3], -0.25, 1e-15, "the point behind them");
    d[0] = 42;
    sdf_outline_distance(&o, p, 0, d, NULL);
    assert_true(d[0] == 42);
    core_outline_clear(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangle),    cmocka_unit_test(hole),     cmocka_unit_test(level_with_corners),
        cmocka_unit_test(against_geos), cmocka_unit_test(gradient), cmocka_unit_test(on_outline),
        cmocka_unit_test(not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
