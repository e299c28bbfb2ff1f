/// Fill: bounding circles never overlap, stay in the region, respect planes and grains that are there; messages when
/// they do not fit.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim.h"

/// A scene in memory with two types (radius 1 and 0.3) and one fill entry.
typedef struct fixture {
    sim_type_def types[2];
    sim_boundary_def planes[2];
    sim_fill_def fill[2];
    int mix_type;
    double mix_weight;
    sim_scene scene;
} fixture;

static void fixture_init(fixture *f, int type, int count, double x0, double y0, double x1, double y1) {
    *f = (fixture){.types = {{.name = "big", .radius = 1}, {.name = "small", .radius = 0.3}}};
    f->mix_type = type;
    f->mix_weight = 1;
    f->fill[0] = (sim_fill_def){{1, &f->mix_type, &f->mix_weight}, count, {x0, y0, x1, y1}};
    f->fill[1] = f->fill[0];
    f->scene = (sim_scene){
        .count_types = 2, .types = f->types, .boundaries = f->planes, .count_fill = 2, .fill = f->fill, .seed = 1};
}

static double *place(const fixture *f, int i, const double *occupied, int m) {
    core_error err = {0};
    double *poses = calloc((size_t)f->fill[i].count, 3 * sizeof *poses);
    if (sim_fill_place(&f->scene, i, occupied, m, poses, &err) != CORE_OK) fail_msg("%s", err.message);
    return poses;
}

/// Every pair of circles is apart, every circle in the region.
static void check_poses(const fixture *f, int i_fill, const double *poses) {
    const sim_fill_def *fill = &f->fill[i_fill];
    double r = f->types[fill->mix.types[0]].radius, nearest = HUGE_VAL;
    for (int i = 0; i < fill->count; i++) {
        const double *p = &poses[3 * i];
        assert_true(p[0] - r >= fill->region[0] && p[0] + r <= fill->region[2]);
        assert_true(p[1] - r >= fill->region[1] && p[1] + r <= fill->region[3]);
        assert_true(p[2] >= -CORE_PI && p[2] < CORE_PI);
        for (int j = 0; j < i; j++) {
            double dx = p[0] - poses[3 * j], dy = p[1] - poses[3 * j + 1];
            nearest = fmin(nearest, sqrt(dx * dx + dy * dy));
        }
    }
    assert_true(nearest > 2 * r);
}

static void apart_and_inside(void **state) {
    (void)state;
    static const struct {
        int count;
        double x0, y0, x1, y1;
    } cases[] = {{1, 0, 0, 2.001, 2.001},      {1, -5, -5, 5, 5},     {500, -10, 3, 33.3, 100}, {7, 0, 0, 2.04, 14.36},
                 {4, 100, 100, 108.2, 102.01}, {300, -1, -1, 60, 30}, {12, 0, 0, 6.15, 8.2001}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f;
        fixture_init(&f, 0, cases[i].count, cases[i].x0, cases[i].y0, cases[i].x1, cases[i].y1);
        double *poses = place(&f, 0, NULL, 0);
        check_poses(&f, 0, poses);
        free(poses);
    }
}

/// Rows are filled from below: no grain is a row above a free one.
static void from_below(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 0, 95, 0, 0, 20.6, 100); // 10 a row
    double *poses = place(&f, 0, NULL, 0);
    for (int i = 0; i < 95; i++) {
        double row = floor(poses[3 * i + 1] / 2.05);
        assert_true(row == i / 10);
    }
    free(poses);
}

/// Jitter and angles are random: they spread over their ranges, and depend on seed and entry alone.
static void random_but_reproducible(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 0, 1000, 0, 0, 105, 1000); // cells 2.0588 wide
    double *a = place(&f, 0, NULL, 0), *b = place(&f, 0, NULL, 0), *c = place(&f, 1, NULL, 0);
    f.scene.seed = 2;
    double *d = place(&f, 0, NULL, 0);
    const size_t bytes = 3000 * sizeof *a;
    assert_memory_equal(a, b, bytes);
    assert_true(memcmp(a, c, bytes) != 0);
    assert_true(memcmp(a, d, bytes) != 0);
    double sum_cos = 0, low = 1, high = -1;
    for (int i = 0; i < 1000; i++) {
        double cell = 105.0 / 51, offset = a[3 * i] - (floor(a[3 * i] / cell) + 0.5) * cell;
        low = fmin(low, offset / (cell / 2 - 1));
        high = fmax(high, offset / (cell / 2 - 1));
        sum_cos += cos(a[3 * i + 2]);
    }
    assert_true(low < -0.98 && low >= -1 && high > 0.98 && high <= 1);
    assert_true(fabs(sum_cos) < 4 * sqrt(500.0)); // four standard deviations
    free(a);
    free(b);
    free(c);
    free(d);
}

static void planes_are_respected(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 1, 150, -5, -5, 15, 10);
    f.planes[0] = (sim_boundary_def){.name = "floor", .normal = {0, 1}, .present = true};
    f.planes[1] = (sim_boundary_def){.name = "slope", .normal = {-0.6, 0.8}, .offset = -3, .present = true};
    f.scene.count_boundaries = 2;
    double *poses = place(&f, 0, NULL, 0);
    check_poses(&f, 0, poses);
    for (int i = 0; i < 150; i++) {
        assert_true(poses[3 * i + 1] >= 0.3);
        assert_true(-0.6 * poses[3 * i] + 0.8 * poses[3 * i + 1] + 3 >= 0.3);
    }
    // A plane that is not there does not count.
    f.planes[0].present = f.planes[1].present = false;
    double *free_poses = place(&f, 0, NULL, 0);
    assert_true(free_poses[1] < -4);
    free(free_poses);
    free(poses);
}

/// Small grains among large ones that are already there.
static void occupied_circles(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 0, 60, 0, 0, 30, 30);
    int small_type = 1;
    double weight = 1;
    f.fill[1] = (sim_fill_def){{1, &small_type, &weight}, 300, {-2, -2, 20, 30}};
    double *big = place(&f, 0, NULL, 0), occupied[3 * 60];
    for (int i = 0; i < 60; i++) {
        occupied[3 * i] = big[3 * i];
        occupied[3 * i + 1] = big[3 * i + 1];
        occupied[3 * i + 2] = 1;
    }
    double *small = place(&f, 1, occupied, 60);
    check_poses(&f, 1, small);
    int among = 0;
    for (int i = 0; i < 300; i++) {
        for (int j = 0; j < 60; j++) {
            double dx = small[3 * i] - big[3 * j], dy = small[3 * i + 1] - big[3 * j + 1];
            assert_true(sqrt(dx * dx + dy * dy) > 1.3);
        }
        among += small[3 * i] > 0 && small[3 * i + 1] > 0;
    }
    assert_true(among > 30); // not merely around them
    free(small);
    free(big);
}

static void expect_refused(const fixture *f, const double *occupied, int m, core_status code, const char *message) {
    double poses[3 * 64];
    core_error err = {0};
    for (int i = 0; i < 3 * 64; i++) poses[i] = 7;
    core_status status = sim_fill_place(&f->scene, 0, occupied, m, poses, &err);
    assert_string_equal(err.message, message);
    assert_int_equal(status, code);
    for (int i = 0; i < 3 * 64; i++) assert_true(poses[i] == 7); // untouched
}

static void no_room(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 0, 24, 0, 1, 10.3, 9.3); // 5 columns, 4 rows
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: 20 of 24 grains of type big fit into the region [0, 1, 10.3, 9.3]; a region 10.25 m high "
                   "(y1 = 11.25) would do");
    // The height it names does.
    f.fill[0].region[3] = 11.25;
    double *poses = place(&f, 0, NULL, 0);
    check_poses(&f, 0, poses);
    free(poses);
    // A ceiling: no height would do.
    f.planes[0] = (sim_boundary_def){.name = "lid", .normal = {0, -1}, .offset = -9.3, .present = true};
    f.scene.count_boundaries = 1;
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: 20 of 24 grains of type big fit into the region [0, 1, 10.3, 11.25]; no height would do: "
                   "boundaries or "
                   "other grains are in the way");
    f.scene.count_boundaries = 0;
    // A grain in the way takes cells.
    const double circle[3] = {5, 5, 1};
    fixture_init(&f, 0, 20, 0, 1, 10.3, 9.3);
    expect_refused(&f, circle, 1, CORE_RANGE,
                   "fill[0]: 16 of 20 grains of type big fit into the region [0, 1, 10.3, 9.3]; a region 10.25 m high "
                   "(y1 = 11.25) would do");
    fixture_init(&f, 0, 1, 0, 0, 1.9, 50);
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: the region is 1.9 m x 50 m; a grain of type big needs 2 m in both");
    fixture_init(&f, 0, 1, 0, 0, 50, 1.9);
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: the region is 50 m x 1.9 m; a grain of type big needs 2 m in both");
    fixture_init(&f, 0, 1, 0, 0, 1e9, 50);
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: the region is 4.87805e+08 grains wide; expected at most 10000000");
}

/// A very high region costs nothing that is not needed; a region no grain can enter is given up.
static void extreme_regions(void **state) {
    (void)state;
    fixture f;
    fixture_init(&f, 0, 10, 0, 0, 3, 1e15);
    double *poses = place(&f, 0, NULL, 0);
    check_poses(&f, 0, poses);
    free(poses);
    fixture_init(&f, 0, 10, 0, 0, 1e6, 1e6);
    f.planes[0] =
        (sim_boundary_def){.name = "wall", .normal = {-1, 0}, .offset = 1, .present = true}; // grains at x <= -1 only
    f.scene.count_boundaries = 1;
    expect_refused(&f, NULL, 0, CORE_RANGE,
                   "fill[0]: 0 of 10 grains of type big fit into the region [0, 0, 1e+06, 1e+06]; no height would do: "
                   "boundaries or other "
                   "grains are in the way");
}

static void bad_arguments(void **state) {
    (void)state;
    fixture f;
    double poses[3] = {0}, circle[3] = {0, 0, NAN};
    core_error err = {0};
    fixture_init(&f, 0, 1, 0, 0, 3, 3);
    assert_int_equal(sim_fill_place(NULL, 0, NULL, 0, poses, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, 0, NULL, 0, NULL, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, 2, NULL, 0, poses, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, -1, NULL, 0, poses, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, 0, NULL, 1, poses, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, 0, circle, -1, poses, &err), CORE_ARG);
    assert_int_equal(sim_fill_place(&f.scene, 0, circle, 1, poses, &err), CORE_NONFINITE);
    assert_string_equal(err.message, "sim_fill_place: occupied circle 0 is (0, 0, nan)");
}

static void memory_failures(void **state) {
    (void)state;
    fixture f;
    double poses[3] = {0}, circle[3] = {9, 9, 1};
    core_error err = {0};
    fixture_init(&f, 0, 1, 0, 0, 3, 3);
    for (uint64_t k = 1; k <= 4; k++) {
        core_alloc_fail_after(k);
        core_status status = sim_fill_place(&f.scene, 0, circle, 1, poses, &err);
        core_alloc_fail_after(0);
        assert_int_equal(status, CORE_MEMORY);
    }
    assert_int_equal(sim_fill_place(&f.scene, 0, circle, 1, poses, &err), CORE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart_and_inside),        cmocka_unit_test(from_below),
        cmocka_unit_test(random_but_reproducible), cmocka_unit_test(planes_are_respected),
        cmocka_unit_test(occupied_circles),        cmocka_unit_test(no_room),
        cmocka_unit_test(extreme_regions),         cmocka_unit_test(bad_arguments),
        cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
