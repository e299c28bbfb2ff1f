/// Distance and overlap of posed outlines against what can be worked out by hand.
#include "test_sdf_common.h"

/// Square of half side 1.
static core_outline square(void) {
    const double xy[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    return test_outline(xy, 4);
}

static void two_squares(void **state) {
    (void)state;
    core_outline o = square();
    const struct {
        double angle, x, y, distance, area, depth;
    } cases[] = {
        {0, 3, 0, 1, 0, 0},                                // faces apart
        {0, 3, 4, sqrt(1 + 4), 0, 0},                      // corners apart
        {0, 1.75, 0, 0, 0.25 * 2, 0.25},                   // face in face
        {0, 1.9, 1.7, 0, 0.1 * 0.3, 0.1},                  // corner in corner
        {0, 0, 0, 0, 4, 2},                                // on top of each other
        {CORE_PI / 4, 1 + sqrt(2) - 0.1, 0, 0, 0.01, 0.1}, // a corner 0.1 deep in a face
        {CORE_PI / 4, 1 + sqrt(2) + 0.5, 0, 0.5, 0, 0},
        {CORE_PI / 2, 0, 2.5, 0.5, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        // The same relative pose anywhere and at any size.
        for (int k = 0; k < 3; k++) {
            double scale = k == 2 ? 0.01 : 1, turn = 0.7 * k, c = cos(turn), s = sin(turn), far = k ? 1000 : 0;
            sdf_posed a = {&o, scale, turn, far, -far};
            sdf_posed b = {&o, scale, turn + cases[i].angle, far + scale * (c * cases[i].x - s * cases[i].y),
                           -far + scale * (s * cases[i].x + c * cases[i].y)};
            double distance = NAN, area = NAN, depth = NAN, tolerance = 1e-12 * fmax(1, far);
            assert_int_equal(sdf_posed_distance(&a, &b, &distance, NULL), CORE_OK);
            assert_int_equal(sdf_posed_overlap(&a, &b, &area, &depth, NULL), CORE_OK);
            test_near(distance, scale * cases[i].distance, tolerance, "distance");
            test_near(area, scale * scale * cases[i].area, tolerance, "area");
            test_near(depth, scale * cases[i].depth, tolerance, "depth");
        }
    }
    core_outline_clear(&o);
}

/// Two legs in two faces: two parts, the deeper one counts, not the width of both together.
static void two_parts(void **state) {
    (void)state;
    const double comb[] = {-2, 0, -1, 0, -1, 1, 1, 1, 1, 0, 2, 0, 2, 2, -2, 2},
                 floor_xy[] = {-3, -1, 3, -1, 3, 0, -3, 0};
    core_outline a = test_outline(floor_xy, 4), b = test_outline(comb, 8);
    sdf_posed p = {&a, 1, 0, 0, 0}, q = {&b, 1, 0, 0, -0.2};
    double area, depth;
    assert_int_equal(sdf_posed_overlap(&p, &q, &area, &depth, NULL), CORE_OK);
    test_near(area, 0.4, 1e-12, "area");
    test_near(depth, 0.2, 1e-12, "depth");
    core_outline_clear(&a);
    core_outline_clear(&b);
}

/// A small square in the hole of a ring does not touch it.
static void inside_a_hole(void **state) {
    (void)state;
    core_outline ring = test_disc(96, 1, 96, 0.5, 0, 0), o = square();
    sdf_posed p = {&ring, 1, 0, 0, 0}, q = {&o, 0.2, 0, 0, 0};
    double distance, area, depth;
    assert_int_equal(sdf_posed_distance(&p, &q, &distance, NULL), CORE_OK);
    assert_int_equal(sdf_posed_overlap(&p, &q, &area, &depth, NULL), CORE_OK);
    test_near(distance, 0.5 - 0.2 * sqrt(2), 1e-3, "distance");
    test_near(area, 0, 0, "area");
    test_near(depth, 0, 0, "depth");
    core_outline_clear(&ring);
    core_outline_clear(&o);
}

static void below_plane(void **state) {
    (void)state;
    core_outline o = square();
    double up[2] = {0, 1}, slope[2] = {-sqrt(0.5), sqrt(0.5)};
    sdf_posed a = {&o, 0.5, 0, 3, 0.4}, b = {&o, 1, CORE_PI / 4, 0, 0};
    test_near(sdf_posed_below_plane(&a, up, 0), 0.1, 1e-15, "face in the floor");
    test_near(sdf_posed_below_plane(&a, up, -0.2), 0, 0, "above the floor");
    test_near(sdf_posed_below_plane(&b, up, 0), sqrt(2), 1e-15, "corner in the floor");
    test_near(sdf_posed_below_plane(&b, slope, -0.5), 0.5, 1e-15, "face in a slope");
    core_outline_clear(&o);
}

static void refused(void **state) {
    (void)state;
    core_outline o = square(), empty = {0};
    core_error err = {0};
    double d = 42, area = 42, depth = 42;
    sdf_posed good = {&o, 1, 0, 0, 0}, bad[] = {{&empty, 1, 0, 0, 0},
                                                {NULL, 1, 0, 0, 0},
                                                {&o, 1, NAN, 0, 0},
                                                {&o, 1, 0, INFINITY, 0},
                                                {&o, 0, 0, 0, 0}};
    core_status expected[] = {CORE_ARG, CORE_ARG, CORE_NONFINITE, CORE_NONFINITE, CORE_RANGE};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sdf_posed_distance(&good, bad + i, &d, &err), expected[i]);
        assert_int_equal(sdf_posed_overlap(bad + i, &good, &area, &depth, &err), expected[i]);
    }
    assert_int_equal(sdf_posed_distance(&good, NULL, &d, &err), CORE_ARG);
    assert_int_equal(sdf_posed_distance(&good, &good, NULL, &err), CORE_ARG);
    assert_true(d == 42 && area == 42 && depth == 42);
    core_outline_clear(&o);
}

static void allocation_failures(void **state) {
    (void)state;
    core_outline o = square();
    sdf_posed a = {&o, 1, 0, 0, 0}, b = {&o, 1, 0.3, 1.5, 0};
    core_status status = CORE_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY; n++, failures++) {
        double area, depth;
        core_alloc_fail_after(n);
        status = sdf_posed_overlap(&a, &b, &area, &depth, NULL);
        core_alloc_fail_after(0);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 3, 20);
    core_outline_clear(&o);
}

/// The chain link: a ball rests in the next link's socket with play, bends by 40 degrees either way, and cannot be
/// pulled out.
static void chain_link(void **state) {
    (void)state;
    sdf_shape s = test_shape("link");
    // Ball and socket centres as drawn are (1.15, 0) and (0, 0), see shapes/README.md.
    double r = s.drawn.circumradius, ball = (1.15 - s.drawn.centroid[0]) / r, socket = -s.drawn.centroid[0] / r;
    for (int i = -40; i <= 40; i += 5) {
        double angle = i * CORE_PI / 180, c = cos(angle), q = sin(angle), area, depth, distance;
        // B's socket centre on A's ball centre, B turned about it.
        sdf_posed a = {&s.outline, 1, 0, 0, 0}, b = {&s.outline, 1, angle, ball - c * socket, -q * socket};
        assert_int_equal(sdf_posed_overlap(&a, &b, &area, &depth, NULL), CORE_OK);
        test_near(depth, 0, 1e-12, "play");
        // Small sideways steps leave it free, too; a longer one along the chain does not.
        b.x += 0.01;
        assert_int_equal(sdf_posed_distance(&a, &b, &distance, NULL), CORE_OK);
        if (abs(i) < 40) assert_true(distance > 0.002);
        b.x += 0.2 * c;
        b.y += 0.2 * q;
        assert_int_equal(sdf_posed_overlap(&a, &b, &area, &depth, NULL), CORE_OK);
        assert_true(depth > 0.015);
    }
    sdf_shape_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_squares), cmocka_unit_test(two_parts), cmocka_unit_test(inside_a_hole),
        cmocka_unit_test(below_plane), cmocka_unit_test(refused),   cmocka_unit_test(allocation_failures),
        cmocka_unit_test(chain_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
