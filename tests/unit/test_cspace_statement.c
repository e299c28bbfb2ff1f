// The error statement of maps whose nets are written down by hand, so that every error is planted: offsets, turned
// normals, jumps at a seam, overlaps that are missed.
#include "test_folder.h"

#include "cspace_map_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROWS = 600 };
static const double half = 0.70710678118654752; // half width of the canonical square
static const double far = 16.0;                 // keeps the one active unit of a net on its linear side

static fixture square, disc;

static int setup(void **state) {
    (void)state;
    return fixture_square(16, &square, NULL) == CORE_OK && fixture_disc(256, 16, &disc, NULL) == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    fixture_clear(&square), fixture_clear(&disc);
    return 0;
}

// output = offset + slope . inputs, exactly but for float32: one unit that is always on.
static void write_linear(nn_model *model, const double *slope, double offset) {
    memset(model->parameters, 0, (size_t)model->count_parameters * sizeof *model->parameters);
    for (int k = 0; k < model->inputs; k++) model->parameters[model->offset_weight[0] + k] = (float)slope[k];
    model->parameters[model->offset_bias[0]] = (float)far;
    model->parameters[model->offset_weight[1]] = 1.0f;
    model->parameters[model->offset_bias[1]] = (float)(offset - far);
}

// d = offset + slope.(theta/pi, x, y), s = arm, of the square and `b`; raw inputs.
static void linear_map(const fixture *b, double ratio, const double slope[3], double offset, double arm,
                       cspace_map *map) {
    const double none[3] = {0};
    *map = (cspace_map){.ratio = ratio,
                        .hash_a = square.shape.hash,
                        .hash_b = b->shape.hash,
                        .encoding = CSPACE_RAW,
                        .scale_a = 1.0,
                        .scale_b = ratio,
                        .labels = "exact",
                        .recipe = "default"};
    snprintf(map->a, sizeof map->a, "square");
    snprintf(map->b, sizeof map->b, "%s", b->shape.name);
    map->fold = cspace_fold_make(&square.shape, &b->shape, ratio, false);
    const nn_model_def net = nn_model_default_def(3, 1, 1);
    assert_int_equal(nn_model_create(&net, &map->distance, NULL), CORE_OK);
    assert_int_equal(nn_model_create(&net, &map->moment_arm, NULL), CORE_OK);
    write_linear(&map->distance, slope, offset);
    write_linear(&map->moment_arm, none, arm);
    assert_int_equal(cspace_map_prepare(map, NN_ISA_BEST, NULL), CORE_OK);
}

static void rows_create(int64_t n, cspace_rows *rows) {
    *rows = (cspace_rows){.n = n,
                          .pose = core_alloc((size_t)n, 3 * sizeof(double)),
                          .distance = core_alloc((size_t)n, sizeof(double)),
                          .gradient = core_alloc((size_t)n, 3 * sizeof(double)),
                          .moment_arm = core_alloc((size_t)n, 2 * sizeof(double))};
}

// Squares face to face at angle theta, d spread evenly over [-.1, .1): the exact answer is known.
static void face_rows(int64_t n, double theta, cspace_rows *rows) {
    rows_create(n, rows);
    for (int64_t i = 0; i < n; i++) {
        const double d = -0.1 + 0.2 * ((double)i + 0.5) / (double)n, y = 0.4 * ((double)(i % 7) / 6.0 - 0.5);
        rows->pose[3 * i] = theta, rows->pose[3 * i + 1] = 2.0 * half + d, rows->pose[3 * i + 2] = y;
        rows->distance[i] = d;
        rows->gradient[3 * i] = -0.5 * y, rows->gradient[3 * i + 1] = 1.0; // middle of the faces in contact
        rows->moment_arm[2 * i] = half + 0.5 * d, rows->moment_arm[2 * i + 1] = -half - 0.5 * d;
    }
}

static void measure(const cspace_map *map, const fixture *b, const cspace_rows *rows, cspace_statement *s) {
    core_error err = {0};
    if (cspace_statement_measure(map, &square.shape, &b->shape, rows, s, &err) != CORE_OK) fail_msg("%s", err.message);
}

// A map that is right but for a constant: that constant is what every table says, in every band.
static void test_offset(void **state) {
    (void)state;
    const double c = 0.015, slope[3] = {0, 1, 0};
    cspace_map map;
    cspace_rows rows;
    cspace_statement s;
    linear_map(&square, 1.0, slope, c - 2.0 * half, 0.0, &map);
    face_rows(ROWS, 0.0, &rows);
    measure(&map, &square, &rows, &s);
    assert_true(s.poses == ROWS && s.exact);
    const int64_t counts[CSPACE_BANDS + 1] = {210, 60, 30, 30, 60, 210, 600};
    double twice_x = 0.0;
    for (int64_t i = 0; i < ROWS; i++) twice_x += 2.0 * rows.pose[3 * i + 1] / ROWS;
    for (int k = 0; k <= CSPACE_BANDS; k++) {
        const cspace_error_stats *of[2] = {&s.map_exact[k], &s.map_labels[k]};
        for (int j = 0; j < 2; j++) {
            assert_int_equal(of[j]->n, counts[k]);
            assert_close(of[j]->d_mean, c, 2e-6);
            assert_close(of[j]->d_bias, c, 2e-6);
            assert_close(of[j]->d_max, c, 2e-6);
            assert_close(of[j]->normal_p99, 0.0, 1e-4);
            assert_close(of[j]->slope_mean, 0.0, 1e-6);
        }
        // between -.015 and -.005 the sign is wrong and counts
        const double wrong[CSPACE_BANDS + 1] = {0, 0.25, 1, 0, 0, 0, 30.0 / 570.0};
        assert_close(s.map_exact[k].sign_errors, wrong[k], 1e-12);
        assert_int_equal(s.labels_exact[k].n, counts[k]);
        assert_close(s.labels_exact[k].d_max, 0.0, 1e-12);
    }
    // labels of the middle of two faces: the net's arms are right, the exact ones are some point of the face
    assert_close(s.map_labels[CSPACE_BANDS].arm_p99, 0.0, 1e-6);
    // the other order is asked at -x
    assert_close(s.swap[CSPACE_BANDS].d_mean, twice_x, 1e-5);
    assert_close(s.swap[CSPACE_BANDS].normal_mean, 180.0, 1e-4); // and says x there too
    const int64_t overlaps[CSPACE_DEPTHS] = {285, 270, 240, 150}, missed[CSPACE_DEPTHS] = {30, 15, 0, 0};
    assert_memory_equal(s.overlaps, overlaps, sizeof overlaps);
    assert_memory_equal(s.missed, missed, sizeof missed);
    assert_true(s.missed_deepest < c && s.missed_deepest > c - 0.2 / ROWS);
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// Labels that differ from the map by a turned, shortened gradient and longer arms: read back, and no bias of d.
static void test_normal_and_arm(void **state) {
    (void)state;
    const double slope[3] = {0, 1, 0}, degrees = 3.0;
    double si, co;
    core_sincos(degrees * CORE_PI / 180.0, &si, &co);
    cspace_map map;
    cspace_rows rows;
    cspace_statement s;
    linear_map(&disc, 0.5, slope, -half - 0.5, 0.0, &map);
    face_rows(ROWS, 0.0, &rows);
    for (int64_t i = 0; i < ROWS; i++) {
        const double x = half + 0.5 + rows.distance[i];
        rows.pose[3 * i + 1] = x;
        rows.gradient[3 * i + 1] = 0.9 * co, rows.gradient[3 * i + 2] = 0.9 * si;
        rows.moment_arm[2 * i] = 0.5 * x + 0.01, rows.moment_arm[2 * i + 1] = -0.5 * x - 0.03;
    }
    measure(&map, &disc, &rows, &s);
    const cspace_error_stats *e = &s.map_labels[CSPACE_BANDS];
    assert_close(e->d_max, 0.0, 2e-6);
    assert_close(e->normal_mean, degrees, 1e-4);
    assert_close(e->normal_p99, degrees, 1e-4);
    assert_close(e->slope_mean, 0.1, 1e-6);
    assert_close(e->arm_mean, 0.02, 2e-6);
    assert_close(e->arm_p99, 0.03, 2e-6);
    assert_close(s.labels_exact[CSPACE_BANDS].normal_mean, degrees, 1e-4);
    assert_close(s.map_exact[CSPACE_BANDS].d_mean, 0.0, 1e-4); // the disc has 256 corners
    assert_int_equal(s.swap[CSPACE_BANDS].n, 0);               // different shapes
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// theta/pi enters with weight k: the map jumps by 2 k at theta = +-pi and nowhere else.
static void test_jump_at_pi(void **state) {
    (void)state;
    const double k = 0.004, slope[3] = {k, 1, 0};
    cspace_map map;
    cspace_rows rows;
    cspace_statement s;
    linear_map(&square, 1.0, slope, -2.0 * half - k, 0.0, &map);
    face_rows(ROWS, CORE_PI - 0.01, &rows);
    measure(&map, &square, &rows, &s);
    const cspace_jump_stats *j = &s.seam[CSPACE_SEAM_PI];
    assert_true(j->n > 500);
    assert_close(j->d_mean, 2.0 * k, 2e-6);
    assert_close(j->d_max, 2.0 * k, 2e-6);
    assert_close(j->normal_max, 0.0, 1e-4);
    for (int i = CSPACE_SEAM_PI + 1; i < CSPACE_SEAM_COUNT; i++) assert_int_equal(s.seam[i].n, 0);
    int64_t n = 0;
    for (int i = 0; i < CSPACE_BANDS; i++) {
        n += s.jump[i].n;
        if (s.jump[i].n > 0) assert_close(s.jump[i].d_mean, 2.0 * k, 2e-6);
    }
    assert_int_equal(n, j->n);
    assert_int_equal(n, s.jump[CSPACE_BANDS].n);
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// Quarter turns of the square folded: theta' = theta - pi/2, so weight k makes a jump of k/2; or of 2 k - k/2 where
// theta' passes pi.
static void test_jump_at_rotation(void **state) {
    (void)state;
    const double k = 0.004, slope[3] = {k, 0, 0};
    cspace_map map;
    cspace_rows rows;
    cspace_statement s;
    linear_map(&disc, 1.0 / 32.0, slope, 0.0, 0.0, &map);
    map.fold.order_a = 4;
    assert_int_equal(cspace_map_prepare(&map, NN_ISA_BEST, NULL), CORE_OK);
    rows_create(ROWS, &rows);
    for (int i = 0; i < ROWS; i++) { // beside the corner, where A's cells meet
        rows.pose[3 * i + 1] = half + 0.005, rows.pose[3 * i + 2] = half - 0.01;
        rows.gradient[3 * i + 1] = 1.0;
    }
    measure(&map, &disc, &rows, &s);
    const cspace_jump_stats *j = &s.seam[CSPACE_SEAM_ROTATION_A];
    assert_true(j->n > 500 && s.seam[CSPACE_SEAM_ROTATION_B].n == 0 && s.seam[CSPACE_SEAM_MIRROR].n == 0);
    assert_close(j->d_mean, 0.5 * k, 2e-6);
    assert_close(j->d_max, 0.5 * k, 2e-6);
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// d = |t|_inf - half - r_b by folding quarter turns: exact where a small disc overlaps the square by more than its
// radius. The normal turns by 90 degrees over the diagonal, and so it must there; apart, around the corner, it must
// not.
static void test_true_kink(void **state) {
    (void)state;
    const double slope[3] = {0, 1, 0}, r_b = 1.0 / 32.0;
    cspace_map map;
    cspace_rows rows;
    cspace_statement s;
    linear_map(&disc, r_b, slope, -half - r_b, 0.0, &map);
    map.fold.order_a = 4;
    assert_int_equal(cspace_map_prepare(&map, NN_ISA_BEST, NULL), CORE_OK);
    rows_create(ROWS, &rows);
    const double x[2] = {half + r_b - 0.06, half + 0.7 * r_b + 0.02};
    for (int i = 0; i < ROWS; i++) {
        rows.pose[3 * i + 1] = x[i % 2], rows.pose[3 * i + 2] = x[i % 2] - 0.005;
        rows.distance[i] = x[i % 2] - half - r_b;
        rows.gradient[3 * i + 1] = 1.0;
    }
    measure(&map, &disc, &rows, &s);
    print_message("kink: inside %lld crossings, normal mean %.3f; outside %lld, %.3f\n", (long long)s.jump[0].n,
                  s.jump[0].normal_mean, (long long)s.jump[4].n, s.jump[4].normal_mean);
    assert_true(s.jump[0].n > 200 && s.jump[4].n > 200);
    assert_true(s.jump[0].normal_mean < 1.0);
    assert_close(s.jump[4].normal_mean, 90.0, 1.0);
    assert_close(s.jump[CSPACE_BANDS].d_max, 0.0, 1e-6);
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// One row; no exact answer where the outlines have too many parts is not tested here, nothing this small has that many.
static void test_small_and_refused(void **state) {
    (void)state;
    const double slope[3] = {0, 1, 0};
    core_error err = {0};
    cspace_map map;
    cspace_rows rows;
    cspace_statement s = {.poses = 99}, again;
    linear_map(&square, 1.0, slope, -2.0 * half, 0.0, &map);
    face_rows(1, 0.0, &rows);
    rows.pose[1] += 0.005, rows.distance[0] += 0.005; // the middle of a band; 0 itself is either side by rounding
    measure(&map, &square, &rows, &again);
    assert_true(again.poses == 1 && again.map_exact[3].n == 1 && again.map_exact[CSPACE_BANDS].n == 1);
    cspace_map other;
    linear_map(&disc, 1.0, slope, -2.0 * half, 0.0, &other);
    rows.pose[1] = half + 1.0;
    measure(&other, &disc, &rows, &again);
    assert_int_equal(again.map_exact[CSPACE_BANDS].n, 1);
    assert_int_equal(again.swap[CSPACE_BANDS].n, 0); // only equal shapes of one size can be exchanged
    cspace_map_clear(&other);
    linear_map(&square, 0.5, slope, -2.0 * half, 0.0, &other);
    rows.pose[1] = 1.5 * half;
    measure(&other, &square, &rows, &again);
    assert_int_equal(again.map_exact[CSPACE_BANDS].n, 1);
    assert_int_equal(again.swap[CSPACE_BANDS].n, 0);
    cspace_map_clear(&other);
    const sdf_shape *a = &square.shape;
    assert_int_equal(cspace_statement_measure(NULL, a, a, &rows, &s, &err), CORE_ARG);
    assert_int_equal(cspace_statement_measure(&map, a, NULL, &rows, &s, &err), CORE_ARG);
    assert_int_equal(cspace_statement_measure(&map, a, a, NULL, &s, &err), CORE_ARG);
    const cspace_map unprepared = {0};
    assert_int_equal(cspace_statement_measure(&unprepared, a, a, &rows, &s, &err), CORE_ARG);
    rows.distance[0] = 0.2;
    assert_int_equal(cspace_statement_measure(&map, a, a, &rows, &s, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "1 held-out"));
    rows.distance[0] = NAN;
    assert_int_equal(cspace_statement_measure(&map, a, a, &rows, &s, &err), CORE_RANGE);
    rows.n = 0;
    assert_int_equal(cspace_statement_measure(&map, a, a, &rows, &s, &err), CORE_RANGE);
    assert_int_equal(s.poses, 99);
    rows.n = 1, rows.distance[0] = 0.0;
    for (uint64_t i = 1;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_statement_measure(&map, a, a, &rows, &s, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_int_equal(s.poses, 99);
    }
    cspace_rows_clear(&rows);
    cspace_map_clear(&map);
}

// Written and read: the same numbers; damage is named.
static void test_file(void **state) {
    (void)state;
    core_error err = {0};
    core_h5 *file = NULL;
    cspace_statement s = {.poses = 7, .exact = true, .missed_deepest = 0.25}, back = {0};
    cspace_error_stats *errors[4] = {s.map_exact, s.map_labels, s.labels_exact, s.swap};
    double value = 1.0;
    for (int j = 0; j < 4; j++)
        for (int k = 0; k <= CSPACE_BANDS; k++) {
            double fields[14];
            for (int i = 0; i < 14; i++) fields[i] = value++;
            errors[j][k].n = (int64_t)value;
            assert_int_equal(sizeof errors[j][k], sizeof(int64_t) + sizeof fields);
            memcpy(&errors[j][k].d_mean, fields, sizeof fields);
        }
    for (int k = 0; k <= CSPACE_BANDS; k++) s.jump[k] = (cspace_jump_stats){k, value++, 2, 3, 4, value++, 6};
    for (int k = 0; k < CSPACE_SEAM_COUNT; k++) s.seam[k] = (cspace_jump_stats){k, 1, value++, 3, 4, 5, value++};
    for (int k = 0; k < CSPACE_DEPTHS; k++) s.overlaps[k] = 100 + k, s.missed[k] = 10 + k;
    const char *path = test_folder_file("statement.h5");
    assert_int_equal(core_h5_create(path, "test", 1, &file, &err), CORE_OK);
    if (cspace_statement_write_h5(file, "/error", &s, &err) != CORE_OK) fail_msg("%s", err.message);
    s.map_exact[2].d_p99 = NAN;
    assert_int_equal(cspace_statement_write_h5(file, "/nan", &s, &err), CORE_OK);
    s.map_exact[2].d_p99 = 0.0;
    assert_int_equal(core_h5_commit(&file, &err), CORE_OK);
    assert_int_equal(core_h5_open(path, "test", 1, &file, &err), CORE_OK);
    if (cspace_statement_read_h5(file, "/error", &back, &err) != CORE_OK) fail_msg("%s", err.message);
    back.map_exact[2].d_p99 = 0.0;
    assert_memory_equal(&back.map_exact, &s.map_exact, sizeof s.map_exact);
    assert_memory_equal(&back.map_labels, &s.map_labels, sizeof s.map_labels);
    assert_memory_equal(&back.labels_exact, &s.labels_exact, sizeof s.labels_exact);
    assert_memory_equal(&back.swap, &s.swap, sizeof s.swap);
    assert_memory_equal(&back.jump, &s.jump, sizeof s.jump);
    assert_memory_equal(&back.seam, &s.seam, sizeof s.seam);
    assert_memory_equal(&back.overlaps, &s.overlaps, sizeof s.overlaps);
    assert_memory_equal(&back.missed, &s.missed, sizeof s.missed);
    assert_true(back.poses == 7 && back.exact && back.missed_deepest == 0.25);
    assert_int_equal(cspace_statement_read_h5(file, "/nan", &back, &err), CORE_NONFINITE);
    assert_int_equal(cspace_statement_read_h5(file, "/absent", &back, &err), CORE_FORMAT);
    assert_int_equal(cspace_statement_read_h5(NULL, "/error", &back, &err), CORE_ARG);
    assert_int_equal(cspace_statement_write_h5(NULL, "/error", &s, &err), CORE_ARG);
    core_h5_close(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_normal_and_arm),
        cmocka_unit_test(test_jump_at_pi),
        cmocka_unit_test(test_jump_at_rotation),
        cmocka_unit_test(test_true_kink),
        cmocka_unit_test(test_small_and_refused),
        cmocka_unit_test_setup_teardown(test_file, test_folder_make, test_folder_remove),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
