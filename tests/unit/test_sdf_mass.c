/// Mass properties against closed forms.
#include "test_sdf_common.h"

/// Green's theorem in double, 200 edges: a few rounding errors.
#define TOLERANCE 1e-12

/// Regular n-gon of radius r: n triangles of apex angle t = 2 pi/n.
static double ngon_area(int n, double r) {
    return n * r * r / 2 * sin(2 * CORE_PI / n);
}

static double ngon_moment(int n, double r) {
    return ngon_area(n, r) * r * r * (2 + cos(2 * CORE_PI / n)) / 6;
}

static void check_relative(double found, double expected, const char *what) {
    if (!(fabs(found - expected) <= TOLERANCE * fabs(expected)))
        fail_msg("%s: found %.17g, expected %.17g, relative error %g", what, found, expected,
                 (found - expected) / expected);
}

static void disc_polygon(void **state) {
    (void)state;
    for (int n = 3; n < 200; n += 31) {
        core_outline o = test_disc(n, 2.5, 0, 0, 0, 0);
        sdf_mass m;
        assert_int_equal(sdf_outline_mass(&o, &m, NULL), CORE_OK);
        check_relative(m.area, ngon_area(n, 2.5), "area");
        check_relative(m.second_moment, ngon_moment(n, 2.5), "second moment");
        check_relative(m.circumradius, 2.5, "circumradius");
        test_near(m.centroid[0], 0, 1e-14, "centroid x");
        test_near(m.centroid[1], 0, 1e-14, "centroid y");
        core_outline_clear(&o);
    }
}

static void ring_polygon(void **state) {
    (void)state;
    core_outline o = test_disc(96, 1, 60, 0.55, 3, -2);
    sdf_mass m;
    assert_int_equal(sdf_outline_mass(&o, &m, NULL), CORE_OK);
    check_relative(m.area, ngon_area(96, 1) - ngon_area(60, 0.55), "area");
    check_relative(m.second_moment, ngon_moment(96, 1) - ngon_moment(60, 0.55), "second moment");
    check_relative(m.centroid[0], 3, "centroid x");
    check_relative(m.centroid[1], -2, "centroid y");
    core_outline_clear(&o);
}

/// A rectangle far from the origin keeps its digits: exact coordinates, second moment without cancellation.
static void rectangle_far_away(void **state) {
    (void)state;
    double x = 1048576, xy[] = {x, x, x + 4, x, x + 4, x + 2, x, x + 2};
    core_outline o = test_outline(xy, 4);
    sdf_mass m;
    assert_int_equal(sdf_outline_mass(&o, &m, NULL), CORE_OK);
    check_relative(m.area, 8, "area");
    check_relative(m.second_moment, 8 * (16.0 + 4.0) / 12, "second moment");
    check_relative(m.centroid[0], x + 2, "centroid x");
    check_relative(m.centroid[1], x + 1, "centroid y");
    check_relative(m.circumradius, sqrt(5), "circumradius");
    core_outline_clear(&o);
}

/// A square turned by any angle, anywhere: area a^2, polar moment a^4/6, circumradius a/sqrt 2.
static void turned_squares(void **state) {
    (void)state;
    for (int k = 0; k < 7; k++) {
        const double a = 0.37, turn = 0.3 * k, x = 5 * k, y = -2 * k;
        core_outline o = test_disc(4, a / sqrt(2), 0, 0, 0, 0);
        sdf_mass m;
        for (int i = 0; i < 4; i++) {
            double *p = o.xy + 2 * i, px = p[0];
            p[0] = x + cos(turn) * px - sin(turn) * p[1];
            p[1] = y + sin(turn) * px + cos(turn) * p[1];
        }
        assert_int_equal(sdf_outline_mass(&o, &m, NULL), CORE_OK);
        check_relative(m.area, a * a, "area");
        check_relative(m.second_moment, a * a * a * a / 6, "second moment");
        check_relative(m.circumradius, a / sqrt(2), "circumradius");
        test_near(hypot(m.centroid[0] - x, m.centroid[1] - y), 0, 1e-13, "centroid");
        core_outline_clear(&o);
    }
}

/// # as drawn: four bars of half-width w at +-c, half-length l, less the four squares they share.
static void hash_from_file(void **state) {
    (void)state;
    const double c = 0.40, w = 0.13, l = sqrt(1 - (c + w) * (c + w)), side = 2 * w;
    double bar = 4 * w * l, square = side * side;
    double area = 4 * bar - 4 * square;
    double moment = 4 * (bar * (4 * w * w + 4 * l * l) / 12 + bar * c * c) -
                    4 * (square * 2 * side * side / 12 + square * 2 * c * c);
    sdf_shape s = test_shape("hash");
    check_relative(s.drawn.area, area, "area");
    check_relative(s.drawn.second_moment, moment, "second moment");
    check_relative(s.drawn.circumradius, 1, "circumradius");
    check_relative(s.area, area, "canonical area");
    check_relative(s.second_moment, moment, "canonical second moment");
    sdf_shape_clear(&s);
}

/// Orientation of the rings does not matter.
static void orientation(void **state) {
    (void)state;
    double ccw[] = {0, 0, 3, 0, 3, 1, 1, 1, 1, 2, 0, 2}, cw[12];
    for (int i = 0; i < 6; i++) memcpy(cw + 2 * i, ccw + 2 * (5 - i), 2 * sizeof(double));
    core_outline a = test_outline(ccw, 6), b = test_outline(cw, 6);
    sdf_mass m, n;
    assert_int_equal(sdf_outline_mass(&a, &m, NULL), CORE_OK);
    assert_int_equal(sdf_outline_mass(&b, &n, NULL), CORE_OK);
    check_relative(m.area, 4, "area");
    check_relative(n.area, 4, "area");
    check_relative(m.centroid[0], (1.5 * 3 + 0.5) / 4, "centroid x");
    check_relative(n.centroid[0], m.centroid[0], "centroid x");
    check_relative(n.second_moment, m.second_moment, "second moment");
    core_outline_clear(&a);
    core_outline_clear(&b);
}

static void refused(void **state) {
    (void)state;
    core_error err = {0};
    sdf_mass m = {.area = 42};
    double line[] = {0, 0, 1, 1, 2, 2}, nan_point[] = {0, 0, 1, 0, NAN, 1}, huge[] = {0, 0, 1e90, 0, 0, 1e90};
    core_outline empty = {0}, o = test_outline(line, 3);
    assert_int_equal(sdf_outline_mass(&empty, &m, &err), CORE_SHAPE);
    assert_int_equal(sdf_outline_mass(NULL, &m, &err), CORE_ARG);
    assert_int_equal(sdf_outline_mass(&o, &m, &err), CORE_SHAPE);
    core_outline_clear(&o);
    o = test_outline(nan_point, 3);
    assert_int_equal(sdf_outline_mass(&o, &m, &err), CORE_NONFINITE);
    assert_non_null(strstr(err.message, "point 2"));
    core_outline_clear(&o);
    o = test_outline(huge, 3);
    assert_int_equal(sdf_outline_mass(&o, &m, &err), CORE_SHAPE);
    core_outline_clear(&o);
    assert_true(m.area == 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disc_polygon),   cmocka_unit_test(ring_polygon),   cmocka_unit_test(rectangle_far_away),
        cmocka_unit_test(turned_squares), cmocka_unit_test(hash_from_file), cmocka_unit_test(orientation),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
