/// Narrow phase back ends: orders of a pair, scale, rows, refusals; the minimiser against closed forms.
#include "sim_private.h"

#include "sim_check.h"
#include "sim_fixture.h"

#include <stdlib.h>

enum { ROWS = 700 };
static sim_type_def types[2]; // a U and a block of different sizes

static int make_types(void **state) {
    (void)state;
    return sim_fixture_u("u", .02, 2500, &types[0], NULL) != CORE_OK ||
           sim_fixture_block("block", .03, .012, 2500, &types[1], NULL) != CORE_OK;
}

static int clear_types(void **state) {
    (void)state;
    sdf_shape_clear(&types[0].shape);
    sdf_shape_clear(&types[1].shape);
    return 0;
}

static void random_poses(uint64_t seed, int n, double reach, cspace_pose *poses) {
    core_random r;
    core_random_init(&r, seed, 0);
    for (int i = 0; i < n; ++i) {
        poses[i] = (cspace_pose){.theta = 8 * (core_random_uniform(&r) - .5),
                                 .x = reach * (2 * core_random_uniform(&r) - 1),
                                 .y = reach * (2 * core_random_uniform(&r) - 1)};
    }
}

// (B, A) must say of the same state what (A, B) says.
static void check_other_order(const sim_narrow *narrow, double tolerance) {
    static cspace_pose poses[ROWS];
    random_poses(1, ROWS, .03, poses);
    int touching = 0;
    for (int i = 0; i < ROWS; ++i) {
        const cspace_pose p = poses[i];
        const double c = cos(p.theta), s = sin(p.theta);
        const cspace_pose q = {-p.theta, -(c * p.x + s * p.y), -(c * p.y - s * p.x)};
        sim_contact ab, ba;
        int count;
        narrow->evaluate(narrow->self, 1, &p, 1, 1, &count, &ab, 0);
        assert_int_equal(count, 1);
        narrow->evaluate(narrow->self, 2, &q, 1, 1, &count, &ba, 0);
        check_near(ba.d, ab.d, tolerance);
        if (ab.d >= -1e-4 || ba.d >= -1e-4) continue;
        ++touching;
        // moment arms: the identity r_A - r_B = t.n, in both orders
        const double slope = sqrt(ab.g[0] * ab.g[0] + ab.g[1] * ab.g[1]);
        if (slope > .05) {
            check_near(ab.r_a - ab.r_b, (p.x * ab.g[0] + p.y * ab.g[1]) / slope, 1e-14);
            check_near(ba.r_a, -ab.r_b, 1e3 * tolerance);
            check_near(ba.r_b, -ab.r_a, 1e3 * tolerance);
        }
        // turned into A's frame the gradient with respect to A is minus that with respect to B
        check_near(-(c * ba.g[0] - s * ba.g[1]), ab.g[0], 1e5 * tolerance);
        check_near(-(s * ba.g[0] + c * ba.g[1]), ab.g[1], 1e5 * tolerance);
        check_near(ba.d_theta_b, -ab.d_theta_b - (p.x * ab.g[1] - p.y * ab.g[0]), 1e4 * tolerance);
    }
    assert_true(touching > ROWS / 20);
}

static void neural_answers_both_orders(void **state) {
    (void)state;
    cspace_bundle bundle;
    sim_narrow narrow = {0};
    check_ok(sim_fixture_random_bundle(2, types, 5, true, &bundle, err));
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &narrow, err));
    check_other_order(
        &narrow, 1e-8); // the swapped pose is rounded: of the order of 1e-16, but a net in float sees jumps of 1e-7
    narrow.destroy(narrow.self);
    cspace_bundle_clear(&bundle);
}

static void neural_scales_with_the_grains(void **state) {
    (void)state;
    cspace_bundle bundle;
    sim_narrow small = {0}, large = {0};
    sim_type_def bigger[2] = {types[0], types[1]};
    for (int t = 0; t < 2; ++t) bigger[t].radius *= 8; // a power of two: exact
    check_ok(sim_fixture_random_bundle(2, types, 6, true, &bundle, err));
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &small, err));
    check_ok(sim_narrow_neural(&bundle, 2, bigger, 1, &large, err));
    static cspace_pose poses[ROWS], wide[ROWS];
    static sim_contact a[ROWS], b[ROWS];
    static int count[ROWS];
    random_poses(2, ROWS, .03, poses);
    for (int i = 0; i < ROWS; ++i) wide[i] = (cspace_pose){poses[i].theta, 8 * poses[i].x, 8 * poses[i].y};
    for (int pair = 0; pair < 4; ++pair) {
        small.evaluate(small.self, pair, poses, ROWS, 1, count, a, 0);
        large.evaluate(large.self, pair, wide, ROWS, 1, count, b, 0);
        for (int i = 0; i < ROWS; ++i) {
            assert_true(b[i].d == 8 * a[i].d && b[i].d_theta_b == 8 * a[i].d_theta_b && b[i].g[0] == a[i].g[0] &&
                        b[i].g[1] == a[i].g[1] && b[i].r_a == 8 * a[i].r_a && b[i].r_b == 8 * a[i].r_b);
        }
    }
    small.destroy(small.self);
    large.destroy(large.self);
    cspace_bundle_clear(&bundle);
}

static void rows_depend_on_their_pose_alone(void **state) {
    (void)state;
    cspace_bundle bundle;
    sim_narrow narrow = {0};
    check_ok(sim_fixture_random_bundle(2, types, 7, true, &bundle, err));
    check_ok(sim_narrow_neural(&bundle, 2, types, 2, &narrow, err));
    static cspace_pose poses[ROWS];
    static sim_contact all[ROWS], strided[2 * ROWS];
    static int count[ROWS];
    random_poses(3, ROWS, .03, poses);
    for (int pair = 0; pair < 4; ++pair) {
        narrow.evaluate(narrow.self, pair, poses, ROWS, 1, count, all, 0); // more than one batch
        memset(strided, 0x5a, sizeof strided);
        narrow.evaluate(narrow.self, pair, poses, ROWS, 2, count, strided, 1);
        for (int i = 0; i < ROWS; ++i) {
            sim_contact one;
            int found = 0;
            narrow.evaluate(narrow.self, pair, &poses[i], 1, 1, &found, &one, 1);
            assert_int_equal(found, 1);
            assert_int_equal(count[i], 1);
            assert_true(memcmp(&one, &all[i], sizeof one) == 0);
            assert_true(memcmp(&one, &strided[2 * i], sizeof one) == 0);
        }
        narrow.evaluate(narrow.self, pair, poses, 0, 1, count, all, 0);
    }
    narrow.destroy(narrow.self);
    cspace_bundle_clear(&bundle);
}

static void neural_refuses_what_does_not_match(void **state) {
    (void)state;
    core_error cause = {0};
    cspace_bundle bundle;
    sim_narrow narrow = {0};
    check_ok(sim_fixture_random_bundle(1, types, 8, true, &bundle, err)); // u-u alone
    assert_int_equal(sim_narrow_neural(&bundle, 2, types, 1, &narrow, &cause), CORE_ARG);
    assert_non_null(strstr(cause.message, "u and block"));
    assert_non_null(strstr(cause.message, "mkmaps"));
    assert_null(narrow.evaluate);
    // another outline under the same name
    sim_type_def changed = types[0];
    changed.shape.hash ^= 1;
    assert_int_equal(sim_narrow_neural(&bundle, 1, &changed, 1, &narrow, &cause), CORE_SHAPE);
    assert_non_null(strstr(cause.message, "shape u"));
    // two sizes of one shape need the map of their ratio
    sim_type_def sizes[2] = {types[0], types[0]};
    sizes[1].radius *= 1.5;
    assert_int_equal(sim_narrow_neural(&bundle, 2, sizes, 1, &narrow, &cause), CORE_ARG);
    assert_non_null(strstr(cause.message, "1.5"));
    assert_int_equal(sim_narrow_neural(NULL, 1, types, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_neural(&bundle, 0, types, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_neural(&bundle, 1, types, 0, &narrow, &cause), CORE_ARG);
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        core_alloc_fail_after(n);
        const core_status status = sim_narrow_neural(&bundle, 1, types, 3, &narrow, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
    }
    assert_true(failures >= 6);
    narrow.destroy(narrow.self);
    cspace_bundle_clear(&bundle);
}

static void minimiser_knows_discs(void **state) {
    (void)state;
    sim_type_def discs[2];
    sim_narrow narrow = {0};
    check_ok(sim_fixture_disc("a", 256, .02, 1, &discs[0], err));
    check_ok(sim_fixture_disc("b", 256, .01, 1, &discs[1], err));
    check_ok(sim_narrow_minimiser(2, discs, 256, .001, 1, &narrow, err));
    for (int i = 0; i < 60; ++i) {
        const double angle = .1 + .7 * i, d = .0005 - .00003 * i, r = .03 + d, L = .02;
        const cspace_pose pose = {1.1 * i, r * cos(angle), r * sin(angle)};
        sim_contact c;
        int count = 0;
        narrow.evaluate(narrow.self, 1, &pose, 1, 1, &count, &c, 0);
        assert_int_equal(count, 1);
        if (d > .00006) { // beyond four smoothing widths: a lower bound where nothing acts
            assert_true(c.d > 0 && c.d < d + 1e-3 * L);
            continue;
        }
        check_near(c.d, d, 1e-3 * L); // facets of the outline, cells of the grid
        if (c.d >= 0) continue;
        check_near(c.g[0], cos(angle), .03);
        check_near(c.g[1], sin(angle), .03);
        check_near(c.d_theta_b, 0, .03 * .01);
        check_near(c.r_a, .02 + d / 2, .002 * L + .0002);
        check_near(c.r_b, -.01 - d / 2, .002 * L + .0002);
    }
    narrow.destroy(narrow.self);
    sdf_shape_clear(&discs[0].shape);
    sdf_shape_clear(&discs[1].shape);
}

static void minimiser_is_independent_of_the_order(void **state) {
    (void)state;
    sim_narrow narrow = {0};
    check_ok(sim_narrow_minimiser(2, types, 128, 0, 1, &narrow, err));
    // the same minimum is searched in another frame: to the search tolerance, with flat valleys where the point may lie
    // anywhere
    static cspace_pose poses[ROWS];
    random_poses(4, 200, .03, poses);
    int touching = 0;
    for (int i = 0; i < 200; ++i) {
        const cspace_pose p = poses[i];
        const double c = cos(p.theta), s = sin(p.theta);
        const cspace_pose q = {-p.theta, -(c * p.x + s * p.y), -(c * p.y - s * p.x)};
        sim_contact ab, ba;
        int count;
        narrow.evaluate(narrow.self, 1, &p, 1, 1, &count, &ab, 0);
        narrow.evaluate(narrow.self, 2, &q, 1, 1, &count, &ba, 0);
        assert_true((ab.d < 0) == (ba.d < 0) || fabs(ab.d) < 1e-6);
        if (!(ab.d < 0) || ab.d < -.25 * .02) continue; // deeper, it saturates
        check_near(ba.d, ab.d, 4e-6 * .02);
        ++touching;
    }
    assert_true(touching > 20);
    narrow.destroy(narrow.self);
}

static void minimiser_refuses_bad_arguments(void **state) {
    (void)state;
    core_error cause = {0};
    sim_narrow narrow = {0};
    assert_int_equal(sim_narrow_minimiser(0, types, 64, .001, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_minimiser(1, NULL, 64, .001, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_minimiser(1, types, 64, -1, 1, &narrow, &cause), CORE_RANGE);
    assert_int_equal(sim_narrow_minimiser(1, types, 64, NAN, 1, &narrow, &cause), CORE_RANGE);
    assert_int_equal(sim_narrow_minimiser(1, types, 2, .001, 1, &narrow, &cause), CORE_RANGE);
    assert_null(narrow.evaluate);
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        core_alloc_fail_after(n);
        const core_status status = sim_narrow_minimiser(2, types, 16, .001, 1, &narrow, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(narrow.evaluate);
    }
    assert_true(failures >= 8);
    narrow.destroy(narrow.self);
}

// Points of a circle of 256 corners: d to the sagitta, 8e-5 R.
static void exact_knows_discs(void **state) {
    (void)state;
    sim_type_def discs[2];
    sim_narrow narrow = {0};
    check_ok(sim_fixture_disc("a", 256, .02, 1, &discs[0], err));
    check_ok(sim_fixture_disc("b", 256, .01, 1, &discs[1], err));
    check_ok(sim_narrow_exact(2, discs, .001, 1, &narrow, err));
    const double L = .02, facets = 2e-4 * L;
    for (int i = 0; i < 80; ++i) {
        const double angle = .1 + .7 * i, d = .004 - .0001 * i, r = .03 + d;
        const cspace_pose pose = {1.1 * i, r * cos(angle), r * sin(angle)};
        sim_contact c;
        int count = 0;
        narrow.evaluate(narrow.self, 1, &pose, 1, 1, &count, &c, 0);
        assert_int_equal(count, 1);
        if (d > .0018 * L + facets) { // apart: a lower bound, within 3.6 smoothing widths or cut off at L/10
            assert_true(c.d > 0 && c.d < d && c.d > fmin(d, .1 * L) - .0036 * L - facets);
            check_near(c.g[0], 0, 0);
            continue;
        }
        check_near(c.d, d, facets);
        if (c.d >= 0) continue;
        check_near(c.g[0], cos(angle), .02);
        check_near(c.g[1], sin(angle), .02);
        check_near(c.d_theta_b, 0, .02 * .01);
        check_near(c.r_a, .02 + d / 2, facets);
        check_near(c.r_b, -.01 - d / 2, facets);
    }
    narrow.destroy(narrow.self);
    sdf_shape_clear(&discs[0].shape);
    sdf_shape_clear(&discs[1].shape);
}

static void exact_answers_both_orders(void **state) {
    (void)state;
    sim_narrow narrow = {0};
    check_ok(sim_narrow_exact(2, types, 0, 1, &narrow, err));
    check_other_order(&narrow, 1e-14);
    narrow.destroy(narrow.self);
}

// A square on a longer block, flat and turned by a small angle: as one of them turns, the plain distance changes at the
// rate of half its side whatever the angle; the smoothed rate falls to 0 over sqrt(3) widths.
static void smoothing_gives_faces_a_torque(void **state) {
    (void)state;
    sim_type_def pair[2];
    check_ok(sim_fixture_block("block", 2, 1, 1, &pair[0], err));
    check_ok(sim_fixture_block("square", 1, 1, 1, &pair[1], err));
    const double sigma = .004, h = sqrt(3.) * sigma;
    for (int k = 0; k < 2; ++k) {
        sim_narrow narrow = {0};
        check_ok(sim_narrow_exact(2, pair, k * sigma, 1, &narrow, err));
        for (int i = -4; i <= 4; ++i) {
            if (i == 0 && k == 0) continue; // a tie
            const double turn = .5 * i * h, s = sin(fabs(turn)), c = cos(turn);
            const cspace_pose pose = {turn, 0, .999};
            sim_contact found;
            int count;
            narrow.evaluate(narrow.self, 1, &pose, 1, 1, &count, &found, 0);
            // centre .999 above the other's, lowest corner c/2 + s/2 below it
            const double plain = .999 - .5 - .5 * c - .5 * s, sign = turn > 0 ? -1 : 1;
            if (k == 0) {
                check_near(found.d, plain, 1e-12);
                check_near(found.d_theta_b, sign * .5 * (c - s), 1e-12);
                check_near(found.r_a, .5 + .5 * plain, 1e-12);
            } else {
                const double up = fabs(turn + h), down = fabs(turn - h);
                const double d_up = .499 - .5 * cos(up) - .5 * sin(up), d_down = .499 - .5 * cos(down) - .5 * sin(down);
                check_near(found.d, (4 * plain + d_up + d_down) / 6, 1e-12);
                check_near(found.d_theta_b, (d_up - d_down) / (2 * h), 1e-12);
                check_near(found.r_a, .5 + .5 * plain, .5 * h);
            }
            check_near(found.r_a - found.r_b,
                       .999 * found.g[1] / sqrt(found.g[0] * found.g[0] + found.g[1] * found.g[1]), 1e-14);
            check_near(found.g[1], 1, 1e-9);
        }
        narrow.destroy(narrow.self);
    }
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&pair[t].shape);
}

static void exact_passes_what_is_not_finite_on(void **state) {
    (void)state;
    sim_narrow narrow = {0};
    check_ok(sim_narrow_exact(2, types, .001, 2, &narrow, err));
    const cspace_pose poses[3] = {{NAN, .01, 0}, {0, NAN, 0}, {0, .01, 0}};
    sim_contact c[6];
    int count[3];
    narrow.evaluate(narrow.self, 1, poses, 3, 2, count, c, 1);
    assert_true(isnan(c[0].d) && isnan(c[2].d) && c[4].d < 0);
    narrow.evaluate(narrow.self, 1, poses, 0, 2, count, c, 1);
    narrow.destroy(narrow.self);
}

static void exact_refuses_bad_arguments(void **state) {
    (void)state;
    core_error cause = {0};
    sim_narrow narrow = {0};
    assert_int_equal(sim_narrow_exact(0, types, .001, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_exact(1, NULL, .001, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_exact(1, types, .001, 0, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_exact(1, types, .001, 1, NULL, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_exact(1, types, -1, 1, &narrow, &cause), CORE_RANGE);
    assert_int_equal(sim_narrow_exact(1, types, NAN, 1, &narrow, &cause), CORE_RANGE);
    assert_null(narrow.evaluate);
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        core_alloc_fail_after(n);
        const core_status status = sim_narrow_exact(2, types, .001, 2, &narrow, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(narrow.evaluate);
    }
    assert_true(failures >= 20);
    narrow.destroy(narrow.self);
}

// ---------------------------------------------------------------------------------------------- contact planes

static sim_narrow planes_over_exact(int count_types, const sim_type_def *list, double smoothing) {
    sim_narrow base, narrow;
    check_ok(sim_narrow_exact(count_types, list, smoothing, 1, &base, err));
    check_ok(sim_narrow_planes(&base, .01, 1, &narrow, err));
    return narrow;
}

// A square on a longer block, flat and turned: within .01 rad the planes are the two corners, each at its own depth.
static void planes_of_a_face_are_its_corners(void **state) {
    (void)state;
    sim_type_def pair[2];
    check_ok(sim_fixture_block("block", 3, 1, 1, &pair[0], err));
    check_ok(sim_fixture_block("square", 1, 1, 1, &pair[1], err));
    const sim_narrow narrow = planes_over_exact(2, pair, 0);
    for (int i = -12; i <= 12; ++i) {
        const double turn = .001 * i, s = sin(turn), c = cos(turn);
        const cspace_pose pose = {turn, .1, .998};
        sim_contact found[2];
        int count;
        narrow.evaluate(narrow.self, 1, &pose, 1, 2, &count, found, 0);
        assert_int_equal(count, 2);
        check_near(found[0].shared + found[1].shared, 1, 1e-15);
        for (int k = 0; k < 2; ++k) {
            const double side = k == 0 ? .5 : -.5; // turned by -.01 the right corner is the lower one
            const double way = fmin(1, fabs(turn) / .01), mine = .5 * (1 + (side * turn < 0 ? 1 : -1) * way * way);
            if (abs(i) <= 9) {
                check_near(found[k].d, .998 - .5 + side * s - .5 * c, 2e-6); // .01^3 of the carrying back
                const double at = turn + (k == 0 ? -.01 : .01);
                check_near(found[k].d_theta_b, side * cos(at) + .5 * sin(at), 1e-12);
                check_near(1 - found[k].shared, mine, .02);
            } else if (abs(i) > 10) { // beyond, both are the lower corner
                check_near(found[k].d, .998 - .5 - .5 * fabs(s) - .5 * c, 2e-6);
                check_near(found[k].shared, .5, .02);
            }
            check_near(found[k].g[1], 1, 1e-12);
            check_near(found[k].r_a - found[k].r_b, .998, 1e-12);
            assert_int_equal(found[k].feature, k);
        }
        check_near(fmin(found[0].d, found[1].d), .998 - .5 - .5 * fabs(s) - .5 * c, 1e-12);
    }
    narrow.destroy(narrow.self);
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&pair[t].shape);
}

// The face is B's: the planes have its normal as it lies, whichever way it was turned to see them.
static void planes_lie_on_the_face_of_b(void **state) {
    (void)state;
    sim_type_def pair[2];
    check_ok(sim_fixture_block("block", 3, 1, 1, &pair[0], err));
    check_ok(sim_fixture_block("square", 1, 1, 1, &pair[1], err));
    const sim_narrow narrow = planes_over_exact(2, pair, 0);
    for (int i = -9; i <= 9; ++i) {
        const double turn = .001 * i;
        const cspace_pose pose = {turn, .1, .998};
        const double n[2] = {-sin(turn), cos(turn)};
        sim_contact found[2];
        int count;
        narrow.evaluate(narrow.self, 2, &pose, 1, 2, &count, found, 0);
        assert_int_equal(count, 2);
        for (int k = 0; k < 2; ++k) {
            const double corner[2] = {k == 0 ? .5 : -.5,
                                      .5}; // of A: turned by -.01 the block comes down on the right one
            const double from[2] = {corner[0] - pose.x, corner[1] - pose.y};
            check_near(found[k].g[0], n[0], 5e-6); // of order .01^3
            check_near(found[k].g[1], n[1], 5e-6);
            check_near(found[k].d, -(from[0] * n[0] + from[1] * n[1]) - .5, 2e-5);
            check_near(found[k].d_theta_b, from[0] * n[1] - from[1] * n[0], 1e-4);
            check_near(found[k].r_a - found[k].r_b, pose.x * found[k].g[0] + pose.y * found[k].g[1], 1e-12);
        }
    }
    narrow.destroy(narrow.self);
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&pair[t].shape);
}

// Everywhere: the nearer plane is at the base's distance to the bit, arms keep their identity, a pair apart has one
// contact, k_max 1 passes through, rows depend on themselves alone.
static void planes_keep_the_distance(void **state) {
    (void)state;
    static const double smoothing[] = {0, .001};
    static cspace_pose poses[ROWS];
    static sim_contact all[2 * ROWS];
    static int count[ROWS];
    random_poses(6, ROWS, .03, poses);
    for (int s = 0; s < 2; ++s) {
        const sim_narrow narrow = planes_over_exact(2, types, smoothing[s]);
        int touching = 0, equal = 0;
        narrow.evaluate(narrow.self, 1, poses, ROWS, 2, count, all, 0); // more than one batch
        for (int i = 0; i < ROWS; ++i) {
            sim_contact plain, own[2];
            int one;
            narrow.evaluate(narrow.self, 1, &poses[i], 1, 1, &one, &plain, 0);
            assert_int_equal(one, 1);
            assert_int_equal(count[i], plain.d < 0 ? 2 : 1);
            narrow.evaluate(narrow.self, 1, &poses[i], 1, 2, &one, own, 0);
            assert_true(memcmp(own, all + 2 * i, (size_t)one * sizeof *own) == 0);
            if (one == 1) {
                assert_true(memcmp(own, &plain, sizeof plain) == 0);
                continue;
            }
            assert_true(fmin(own[0].d, own[1].d) == plain.d);
            if (plain.d < -.1 * .02) continue;
            ++touching;
            double rate = 0;
            for (int k = 0; k < 2; ++k) {
                const double slope = sqrt(own[k].g[0] * own[k].g[0] + own[k].g[1] * own[k].g[1]);
                check_near(own[k].r_a - own[k].r_b, (poses[i].x * own[k].g[0] + poses[i].y * own[k].g[1]) / slope,
                           1e-14);
                check_near(own[k].shared, .5, .5);
                rate += (1 - own[k].shared) * own[k].d_theta_b;
            }
            check_near(own[0].shared + own[1].shared, 1, 1e-15);
            equal += fabs(rate - plain.d_theta_b) < 1e-3 * .02;
        }
        assert_true(touching > 30);
        assert_true(equal > .8 * touching); // away from kinks two planes are the one contact
        narrow.destroy(narrow.self);
    }
}

static void planes_refuse_bad_arguments(void **state) {
    (void)state;
    core_error cause = {0};
    sim_narrow base, narrow = {0};
    check_ok(sim_narrow_exact(1, types, 0, 1, &base, err));
    assert_int_equal(sim_narrow_planes(NULL, .01, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_planes(&narrow, .01, 1, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_planes(&base, .01, 0, &narrow, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_planes(&base, .01, 1, NULL, &cause), CORE_ARG);
    assert_int_equal(sim_narrow_planes(&base, 0, 1, &narrow, &cause), CORE_RANGE);
    assert_int_equal(sim_narrow_planes(&base, .2, 1, &narrow, &cause), CORE_RANGE);
    assert_int_equal(sim_narrow_planes(&base, NAN, 1, &narrow, &cause), CORE_RANGE);
    assert_null(narrow.evaluate);
    for (uint64_t n = 1; n <= 2; ++n) {
        core_alloc_fail_after(n);
        assert_int_equal(sim_narrow_planes(&base, .01, 1, &narrow, &cause), CORE_MEMORY);
        core_alloc_fail_after(0);
    }
    base.destroy(base.self); // still the caller's
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neural_answers_both_orders),
        cmocka_unit_test(neural_scales_with_the_grains),
        cmocka_unit_test(rows_depend_on_their_pose_alone),
        cmocka_unit_test(neural_refuses_what_does_not_match),
        cmocka_unit_test(minimiser_knows_discs),
        cmocka_unit_test(minimiser_is_independent_of_the_order),
        cmocka_unit_test(minimiser_refuses_bad_arguments),
        cmocka_unit_test(exact_knows_discs),
        cmocka_unit_test(exact_answers_both_orders),
        cmocka_unit_test(smoothing_gives_faces_a_torque),
        cmocka_unit_test(exact_passes_what_is_not_finite_on),
        cmocka_unit_test(exact_refuses_bad_arguments),
        cmocka_unit_test(planes_of_a_face_are_its_corners),
        cmocka_unit_test(planes_lie_on_the_face_of_b),
        cmocka_unit_test(planes_keep_the_distance),
        cmocka_unit_test(planes_refuse_bad_arguments),
    };
    return cmocka_run_group_tests(tests, make_types, clear_types);
}
