// Contact maps with random weights: identities of the method to rounding, gradients against central differences of the
// reference net, images of one pose, independence of the rows, accuracy statistics against answers known by
// construction.
#include "cspace_map_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { GRID = 16, COUNT_CASES = 9, POSES = 1000 };

static fixture hash, u, n;

typedef struct map_case {
    const fixture *a, *b;
    double ratio;
    bool fold;
    cspace_encoding encoding;
    bool arm_normal;
} map_case;

static map_case cases[COUNT_CASES];

static int setup(void **state) {
    (void)state;
    core_status s = fixture_hash(GRID, &hash, NULL);
    if (s == CORE_OK) s = fixture_u(GRID, &u, NULL);
    if (s == CORE_OK) s = fixture_n(GRID, &n, NULL);
    cases[0] = (map_case){&hash, &hash, 1.0, true, CSPACE_TWOFRAME, false};
    cases[1] = (map_case){&hash, &u, 0.7, true, CSPACE_TWOFRAME, false};
    cases[2] = (map_case){&n, &u, 1.4, true, CSPACE_SINCOS, true};
    cases[3] = (map_case){&hash, &n, 1.0, true, CSPACE_RAW, false};
    cases[4] = (map_case){&u, &u, 1.0, false, CSPACE_RAW, true};
    cases[5] = (map_case){&hash, &hash, 0.5, false, CSPACE_TWOFRAME, false};
    cases[6] = (map_case){&u, &u, 1.0, true, CSPACE_TWOFRAME, true};
    cases[7] = (map_case){&n, &n, 1.0, true, CSPACE_TWOFRAME, true};
    cases[8] = (map_case){&hash, &hash, 0.5, true, CSPACE_TWOFRAME, true};
    return s == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    fixture_clear(&hash), fixture_clear(&u), fixture_clear(&n);
    return 0;
}

static void make(int i, cspace_map *map) {
    core_error err = {0};
    if (random_map_of(&cases[i].a->shape, &cases[i].b->shape, cases[i].ratio, cases[i].fold, cases[i].encoding,
                      cases[i].arm_normal, 100 + (uint64_t)i, map, &err) != CORE_OK)
        fail_msg("%s", err.message);
}

static cspace_map_scratch *make_scratch(int capacity) {
    cspace_map_scratch *s = NULL;
    assert_int_equal(cspace_map_scratch_create(capacity, &s, NULL), CORE_OK);
    return s;
}

static void random_poses(uint64_t seed, int count, cspace_pose *poses) {
    core_random r;
    core_random_init(&r, seed, 1);
    for (int i = 0; i < count; i++) poses[i] = fixture_pose(&r, 2.0);
}

// r_a - r_b = t.n; the exchange: the rate of d when A turns is -d_theta - t x g, forces are opposite, moment arms
// exchanged.
static void test_identities(void **state) {
    (void)state;
    cspace_pose poses[POSES];
    cspace_contact contacts[POSES];
    cspace_map_scratch *scratch = make_scratch(POSES);
    random_poses(1, POSES, poses);
    for (int k = 0; k < COUNT_CASES; k++) {
        cspace_map map;
        make(k, &map);
        cspace_map_evaluate(&map, poses, POSES, INFINITY, contacts, scratch);
        double worst = 0.0;
        for (int i = 0; i < POSES; i++) {
            const cspace_contact *c = &contacts[i];
            const cspace_pose *q = &poses[i];
            const double length = sqrt(c->g[0] * c->g[0] + c->g[1] * c->g[1]);
            assert_true(length > 0.0);
            worst = fmax(worst, fabs(c->r_a - c->r_b - (q->x * c->g[0] + q->y * c->g[1]) / length));
            // The same contact as B sees it.
            const cspace_pose other = cspace_swap_pose(q);
            cspace_contact seen = *c;
            cspace_swap_return(&other, &seen);
            const double co = cos(q->theta), si = sin(q->theta);
            worst = fmax(worst, fabs(seen.d_theta - (-c->d_theta - (q->x * c->g[1] - q->y * c->g[0]))));
            worst = fmax(worst, fabs(seen.g[0] + co * c->g[0] + si * c->g[1]));
            worst = fmax(worst, fabs(seen.g[1] + co * c->g[1] - si * c->g[0]));
            worst = fmax(worst, fabs(seen.r_a + c->r_b) + fabs(seen.r_b + c->r_a));
            worst = fmax(worst, fabs(seen.r_a - seen.r_b - (other.x * seen.g[0] + other.y * seen.g[1]) / length));
        }
        print_message("case %d: identities hold to %.2g\n", k, worst);
        assert_true(worst < 2e-15 * 8);
        cspace_map_clear(&map);
    }
    cspace_map_scratch_destroy(&scratch);
}

// d in double, through images and encoding; *mean_arm: (r_a + r_b)/2, unless NULL.
static double reference_distance(const cspace_map *map, const cspace_pose *q, double *mean_arm) {
    cspace_image images[CSPACE_IMAGES_MAX];
    const int count = cspace_fold_images(&map->fold, q, 1.0, images);
    double sum = 0.0;
    if (mean_arm) *mean_arm = 0.0;
    for (int i = 0; i < count; i++) {
        cspace_inputs in;
        double x[CSPACE_INPUTS_MAX + CSPACE_NORMAL_INPUTS], gradient[CSPACE_INPUTS_MAX], slope[3], d, s;
        cspace_encode(map->encoding, &map->fold, &images[i].pose, &in, NULL);
        memcpy(x, in.x, sizeof in.x);
        nn_reference_forward(&map->distance, 1, x, &d, gradient);
        sum += images[i].weight * d;
        if (!mean_arm) continue;
        cspace_encoding_chain(map->encoding, &map->fold, &in, gradient, slope);
        if (map->arm_normal) cspace_encode_normal(&images[i].pose, slope, x + map->distance.inputs);
        nn_reference_forward(&map->moment_arm, 1, x, &s, NULL);
        *mean_arm += images[i].weight * (images[i].swapped ? -s : s);
    }
    return sum;
}

// Slope of d along a path of poses q(e), from both sides; false where they differ (a ReLU kink or a seam lies between).
static bool path_slope(const cspace_map *map, const cspace_pose *q, int path, double *slope) {
    const double h = 1e-7;
    double d[3];
    for (int k = 0; k < 3; k++) {
        const double e = (k - 1) * h;
        cspace_pose p = *q;
        if (path == 0) p.theta += e;
        if (path == 1) p.x += e;
        if (path == 2) p.y += e;
        // A turns about its centre by e: B's pose in A's frame turns back.
        if (path == 3) p = (cspace_pose){q->theta - e, cos(e) * q->x + sin(e) * q->y, cos(e) * q->y - sin(e) * q->x};
        d[k] = reference_distance(map, &p, NULL);
    }
    *slope = (d[2] - d[0]) / (2.0 * h);
    return fabs(d[2] - 2.0 * d[1] + d[0]) < 2e-5 * h;
}

static void test_against_reference(void **state) {
    (void)state;
    cspace_pose poses[POSES];
    cspace_contact contacts[POSES];
    cspace_map_scratch *scratch = make_scratch(100);
    random_poses(2, POSES, poses);
    for (int k = 0; k < COUNT_CASES; k++) {
        cspace_map map;
        make(k, &map);
        int tested = 0;
        double worst_value = 0.0, worst_arm = 0.0, worst_slope = 0.0;
        for (int i = 0; i < POSES; i += 100) cspace_map_evaluate(&map, poses + i, 100, INFINITY, contacts + i, scratch);
        for (int i = 0; i < POSES; i++) {
            const cspace_contact *c = &contacts[i];
            double mean_arm;
            worst_value = fmax(worst_value, fabs(c->d - reference_distance(&map, &poses[i], &mean_arm)));
            // A net that sees the normal amplifies the rounding of a small gradient.
            const double g = map.arm_normal ? fmin(1.0, c->g[0] * c->g[0] + c->g[1] * c->g[1]) : 1.0;
            worst_arm = fmax(worst_arm, fabs(0.5 * (c->r_a + c->r_b) - mean_arm) * g);
            const double expected[4] = {c->d_theta, c->g[0], c->g[1],
                                        -c->d_theta - (poses[i].x * c->g[1] - poses[i].y * c->g[0])};
            double slope[4];
            bool smooth = true;
            for (int path = 0; path < 4 && smooth; path++) smooth = path_slope(&map, &poses[i], path, &slope[path]);
            if (!smooth) continue;
            tested++;
            for (int path = 0; path < 4; path++) worst_slope = fmax(worst_slope, fabs(slope[path] - expected[path]));
        }
        print_message("case %d: values to %.2g, arms to %.2g, slopes to %.2g at %d poses\n", k, worst_value, worst_arm,
                      worst_slope, tested);
        assert_true(tested > POSES * 9 / 10);
        assert_true(worst_value < 1e-5 && worst_arm < (map.arm_normal ? 1e-4 : 1e-5));
        assert_true(worst_slope < 2e-5);
        cspace_map_clear(&map);
    }
    cspace_map_scratch_destroy(&scratch);
}

// A quarter turn of either # changes nothing but the frame; a mirrored pose gives the mirrored answer.
static void test_images(void **state) {
    (void)state;
    cspace_map map;
    make(0, &map);
    cspace_map_scratch *scratch = make_scratch(4);
    cspace_pose poses[200];
    random_poses(3, 200, poses);
    for (int i = 0; i < 200; i++) {
        const cspace_pose q = poses[i];
        const cspace_pose images[4] = {q,
                                       {q.theta + 0.5 * CORE_PI, -q.y, q.x}, // all turned with A
                                       {q.theta - 0.5 * CORE_PI, q.x, q.y},  // B turned
                                       {-q.theta, q.x, -q.y}};               // mirrored in A's x axis
        cspace_contact c[4];
        cspace_map_evaluate(&map, images, 4, INFINITY, c, scratch);
        const double expected[4][3] = {{c[0].d_theta, c[0].g[0], c[0].g[1]},
                                       {c[0].d_theta, -c[0].g[1], c[0].g[0]},
                                       {c[0].d_theta, c[0].g[0], c[0].g[1]},
                                       {-c[0].d_theta, c[0].g[0], -c[0].g[1]}};
        for (int k = 1; k < 4; k++) {
            const double found[3] = {c[k].d_theta, c[k].g[0], c[k].g[1]};
            assert_true(fabs(c[k].d - c[0].d) < 1e-6);
            assert_true(fabs(c[k].r_a - c[0].r_a) < 1e-5 && fabs(c[k].r_b - c[0].r_b) < 1e-5);
            for (int j = 0; j < 3; j++) assert_true(fabs(found[j] - expected[k][j]) < 1e-5);
        }
    }
    cspace_map_scratch_destroy(&scratch);
    cspace_map_clear(&map);
}

// The same bits alone, in any batch, in any order, with any scratch; arms are skipped by distance alone; nothing is
// allocated.
static void test_rows_are_independent(void **state) {
    (void)state;
    cspace_map map;
    make(1, &map);
    static cspace_pose poses[POSES], turned[POSES];
    static cspace_contact all[POSES], some[POSES], other[POSES];
    random_poses(4, POSES, poses);
    cspace_map_scratch *large = make_scratch(POSES), *small = make_scratch(1), *middle = make_scratch(37);
    const uint64_t allocations = core_alloc_count();
    cspace_map_evaluate(&map, poses, POSES, INFINITY, all, large);
    for (int i = 0; i < POSES; i++) cspace_map_evaluate(&map, &poses[i], 1, INFINITY, &some[i], small);
    assert_memory_equal(all, some, sizeof all);
    for (int i = 0; i < POSES; i += 37) {
        const int count = POSES - i < 37 ? POSES - i : 37;
        cspace_map_evaluate(&map, poses + i, count, INFINITY, some + i, middle);
    }
    assert_memory_equal(all, some, sizeof all);
    for (int i = 0; i < POSES; i++) turned[i] = poses[POSES - 1 - i];
    cspace_map_evaluate(&map, turned, POSES, INFINITY, some, large);
    for (int i = 0; i < POSES; i++) assert_memory_equal(&all[i], &some[POSES - 1 - i], sizeof all[0]);
    double middle_d = 0.0;
    for (int i = 0; i < POSES; i++) middle_d += all[i].d / POSES;
    cspace_map_evaluate(&map, poses, POSES, middle_d, some, large);
    cspace_map_evaluate(&map, poses, POSES, -INFINITY, other, large);
    int count_arms = 0;
    for (int i = 0; i < POSES; i++) {
        const double along = 0.5 * (all[i].r_a - all[i].r_b);
        if (all[i].d < middle_d) {
            assert_memory_equal(&all[i], &some[i], sizeof all[0]);
            count_arms++;
        } else {
            assert_memory_equal(&other[i], &some[i], sizeof all[0]);
        }
        assert_true(fabs(other[i].r_a - along) < 1e-14 && other[i].r_b == -other[i].r_a);
    }
    assert_true(count_arms > POSES / 4 && count_arms < POSES * 3 / 4);
    cspace_map_evaluate(&map, poses, 0, INFINITY, NULL, large);
    assert_int_equal(core_alloc_count(), allocations);
    assert_int_equal(cspace_map_prepare(&map, NN_ISA_SCALAR, NULL), CORE_OK);
    cspace_map_evaluate(&map, poses, POSES, INFINITY, some, large);
    assert_memory_equal(all, some, sizeof all);
    cspace_map_scratch_destroy(&large), cspace_map_scratch_destroy(&small), cspace_map_scratch_destroy(&middle);
    cspace_map_clear(&map);
}

// Rows whose labels are the map's own answers plus known errors.
static void test_statistics(void **state) {
    (void)state;
    enum { ROWS = 101 };
    cspace_map map;
    make(0, &map);
    cspace_pose poses[ROWS];
    cspace_contact c[ROWS];
    double pose[3 * ROWS], distance[ROWS], gradient[3 * ROWS], arm[2 * ROWS];
    random_poses(5, ROWS, poses);
    cspace_map_scratch *scratch = make_scratch(ROWS);
    cspace_map_evaluate(&map, poses, ROWS, INFINITY, c, scratch);
    int sign_errors = 0, count_sign = 0;
    double slope = 0.0;
    for (int i = 0; i < ROWS; i++) {
        const double turn = i * 0.1 * CORE_PI / 180.0, co = cos(turn), si = sin(turn);
        pose[3 * i] = poses[i].theta, pose[3 * i + 1] = poses[i].x, pose[3 * i + 2] = poses[i].y;
        distance[i] = c[i].d + 0.001 * (i % 2 == 0 ? i : -i);
        gradient[3 * i] = c[i].d_theta;
        const double length = sqrt(c[i].g[0] * c[i].g[0] + c[i].g[1] * c[i].g[1]);
        gradient[3 * i + 1] = (co * c[i].g[0] - si * c[i].g[1]) / length;
        gradient[3 * i + 2] = (si * c[i].g[0] + co * c[i].g[1]) / length;
        slope += fabs(length - 1.0) / ROWS;
        arm[2 * i] = c[i].r_a + 0.01 * i, arm[2 * i + 1] = c[i].r_b - 0.01 * i;
        count_sign += fabs(distance[i]) > 0.005 ? 1 : 0;
        sign_errors += fabs(distance[i]) > 0.005 && distance[i] * c[i].d < 0.0 ? 1 : 0;
    }
    const cspace_rows rows = {ROWS, pose, distance, gradient, arm};
    cspace_error_stats e;
    assert_int_equal(cspace_map_measure(&map, &rows, INFINITY, &e, NULL), CORE_OK);
    assert_int_equal(e.n, ROWS);
    assert_true(fabs(e.d_mean - 0.05) < 1e-12 && fabs(e.d_p50 - 0.05) < 1e-12 && fabs(e.d_p99 - 0.099) < 1e-12 &&
                fabs(e.d_max - 0.1) < 1e-12);
    assert_true(fabs(e.sign_errors - (double)sign_errors / count_sign) < 1e-12);
    assert_true(fabs(e.normal_mean - 5.0) < 1e-9 && fabs(e.normal_p50 - 5.0) < 1e-9 && fabs(e.normal_p90 - 9.0) < 1e-9);
    assert_true(fabs(e.arm_mean - 0.5) < 1e-9 && fabs(e.arm_p50 - 0.5) < 1e-9 && fabs(e.arm_p99 - 0.99) < 1e-9);
    assert_true(fabs(e.slope_mean - slope) < 1e-12);
    core_error err = {0};
    assert_int_equal(cspace_map_measure(&map, &rows, 1e-12, &e, &err), CORE_RANGE);
    assert_true(e.n == ROWS); // untouched
    cspace_map_scratch_destroy(&scratch);
    cspace_map_clear(&map);
}

static void test_bad_arguments_and_memory(void **state) {
    (void)state;
    cspace_map map;
    cspace_map_scratch *scratch = NULL;
    core_error err = {0};
    make(0, &map);
    assert_int_equal(cspace_map_scratch_create(0, &scratch, &err), CORE_RANGE);
    assert_int_equal(cspace_map_scratch_create(8, NULL, &err), CORE_ARG);
    assert_null(scratch);
    cspace_map_scratch_destroy(&scratch);
    cspace_map_scratch_destroy(NULL);
    cspace_map_clear(NULL);
    for (uint64_t i = 1;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_map_scratch_create(8, &scratch, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(scratch);
    }
    cspace_map_scratch_destroy(&scratch);
    assert_null(scratch);
    const nn_kernel *before = map.kernel_distance;
    for (uint64_t i = 1;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_map_prepare(&map, NN_ISA_BEST, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_ptr_equal(map.kernel_distance, before);
    }
    map.encoding = CSPACE_RAW; // three inputs, the nets have six
    assert_int_equal(cspace_map_prepare(&map, NN_ISA_BEST, &err), CORE_ARG);
    map.encoding = CSPACE_TWOFRAME;
    map.distance.parameters[5] = NAN;
    assert_int_equal(cspace_map_prepare(&map, NN_ISA_BEST, &err), CORE_NONFINITE);
    double row[3] = {0, 1, 0}, zero = 0, arm[2] = {0, 0};
    const cspace_rows rows = {1, row, &zero, row, arm};
    cspace_error_stats e;
    nn_kernel_destroy(&map.kernel_distance);
    assert_int_equal(cspace_map_measure(&map, &rows, 0.1, &e, &err), CORE_ARG);
    cspace_map_clear(&map);
    make(0, &map);
    for (uint64_t i = 1;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_map_measure(&map, &rows, 0.1, &e, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
    }
    cspace_map_clear(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities), cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_images),     cmocka_unit_test(test_rows_are_independent),
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_bad_arguments_and_memory)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
