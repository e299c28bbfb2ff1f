// The minimiser against closed forms, against the exact distance of outlines (GEOS) and against the exact minimum of
// the same functional, found by an independent search over exact distance fields.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { HASH, LETTER_U, LETTER_N, LETTER_O, STAR, HOOK, RING, SQUARE, DISC, COUNT_SHAPES };

// Pairs of the accuracy tables: errors against the exact distance and against the exact minimum of E.
typedef struct accuracy {
    const char *name;
    int a, b;
} accuracy;
static const accuracy table[] = {{"O-O", LETTER_O, LETTER_O}, {"U-U", LETTER_U, LETTER_U}, {"N-#", LETTER_N, HASH},
                                 {"#-#", HASH, HASH},         {"star-star", STAR, STAR},   {"hook-hook", HOOK, HOOK},
                                 {"ring-ring", RING, RING},   {"star-#", STAR, HASH}};
enum { COUNT_PAIRS = sizeof table / sizeof *table, SEPARATED = 500, OVERLAPS = 40 };
static const double error_mean = 2e-5, error_max = 2e-4; // units of L, at a tolerance of 1e-4

static fixture shapes[COUNT_SHAPES];

static int setup(void **state) {
    (void)state;
    core_status s = fixture_hash(FIXTURE_RESOLUTION, &shapes[HASH], NULL);
    if (s == CORE_OK) s = fixture_u(FIXTURE_RESOLUTION, &shapes[LETTER_U], NULL);
    if (s == CORE_OK) s = fixture_n(FIXTURE_RESOLUTION, &shapes[LETTER_N], NULL);
    if (s == CORE_OK) s = fixture_o(FIXTURE_RESOLUTION, &shapes[LETTER_O], NULL);
    if (s == CORE_OK) s = fixture_star(FIXTURE_RESOLUTION, &shapes[STAR], NULL);
    if (s == CORE_OK) s = fixture_hook(FIXTURE_RESOLUTION, &shapes[HOOK], NULL);
    if (s == CORE_OK) s = fixture_ring(FIXTURE_RESOLUTION, &shapes[RING], NULL);
    if (s == CORE_OK) s = fixture_square(FIXTURE_RESOLUTION, &shapes[SQUARE], NULL);
    if (s == CORE_OK) s = fixture_disc(512, FIXTURE_RESOLUTION, &shapes[DISC], NULL);
    return s == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < COUNT_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}

static cspace_pair pair_of(int a, int b, double ratio) {
    return fixture_pair(&shapes[a], &shapes[b], ratio);
}

static cspace_minimum minimise(const cspace_pair *pair, cspace_pose pose, double tolerance) {
    cspace_search_def def = cspace_search_default_def();
    def.tolerance = tolerance;
    cspace_minimum m;
    cspace_minimise(pair, &def, &pose, &m);
    return m;
}

// Exact fields, units of L.
static double exact_max(const cspace_pair *p, const cspace_pose *q, double x, double y) {
    double c = cos(q->theta), s = sin(q->theta), dx = x - q->x, dy = y - q->y, a, b;
    double pa[2] = {x / p->scale_a, y / p->scale_a};
    double pb[2] = {(c * dx + s * dy) / p->scale_b, (c * dy - s * dx) / p->scale_b};
    sdf_outline_distance(&p->a->outline, pa, 1, &a, NULL);
    sdf_outline_distance(&p->b->outline, pb, 1, &b, NULL);
    return fmax(p->scale_a * a, p->scale_b * b);
}

// Lowers *best to the minimum of exact_max over a square, to `tolerance`: plain recursion, nothing shared with the
// library.
static void exact_search(const cspace_pair *p, const cspace_pose *q, double x, double y, double half, double tolerance,
                         double *best) {
    double value = exact_max(p, q, x, y);
    if (value < *best) *best = value;
    if (value - half * sqrt(2.0) >= *best - tolerance) return;
    double quarter = 0.5 * half;
    for (int k = 0; k < 4; k++)
        exact_search(p, q, x + (k & 1 ? quarter : -quarter), y + (k & 2 ? quarter : -quarter), quarter, tolerance,
                     best);
}

static void test_separated_poses_against_outlines(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const accuracy *row = table + k;
        cspace_pair pair = pair_of(row->a, row->b, 1.0);
        core_random random;
        core_random_init(&random, 11, (uint64_t)k);
        double sum = 0.0, worst = 0.0;
        cspace_pose at = {0};
        for (int n = 0; n < SEPARATED;) {
            cspace_pose q = fixture_pose(&random, 2.2);
            sdf_posed a = {&pair.a->outline, 1.0, 0.0, 0.0, 0.0}, b = {&pair.b->outline, 1.0, q.theta, q.x, q.y};
            double exact;
            assert_int_equal(sdf_posed_distance(&a, &b, &exact, NULL), CORE_OK);
            if (exact <= 0.0) continue;
            double error = fabs(minimise(&pair, q, 1e-4).d - exact);
            sum += error;
            if (error > worst) {
                worst = error;
                at = q;
            }
            n++;
        }
        print_message("%s separated: mean error %.6f, max %.6f at (%.4f, %.4f, %.4f)\n", row->name, sum / SEPARATED,
                      worst, at.theta, at.x, at.y);
        assert_true(sum / SEPARATED <= error_mean);
        assert_true(worst <= error_max);
    }
}

static void test_overlaps_against_the_exact_minimum(void **state) {
    (void)state;
    cspace_search_def def = cspace_search_default_def();
    def.band = 0.1;
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const accuracy *row = table + k;
        cspace_pair pair = pair_of(row->a, row->b, 1.0);
        core_random random;
        core_random_init(&random, 12, (uint64_t)k);
        double sum = 0.0, worst = 0.0;
        for (int n = 0; n < OVERLAPS;) {
            cspace_pose q = fixture_pose(&random, 2.0);
            cspace_minimum m;
            cspace_minimise(&pair, &def, &q, &m);
            if (m.outside || m.d >= 0.0) continue;
            double best = exact_max(&pair, &q, m.p[0], m.p[1]);
            exact_search(&pair, &q, 0.0, 0.0, 1.0, 1e-4, &best);
            double error = fabs(m.d - 2.0 * best);
            sum += error;
            worst = fmax(worst, error);
            n++;
        }
        print_message("%s overlap: mean error %.6f, max %.6f\n", row->name, sum / OVERLAPS, worst);
        assert_true(sum / OVERLAPS <= error_mean + 1e-4); // the search it is measured against stops at 1e-4
        assert_true(worst <= error_max + 1e-4);
    }
}

// Where outlines cross, two nearest points coincide: no minimum. Poses that were once called touching.
static void test_crossing_outlines(void **state) {
    (void)state;
    const struct {
        int shape;
        cspace_pose pose;
    } at[] = {{HASH, {-1.5979567115974613, 0.28249520045271126, 1.7026959822229277}},
              {STAR, {-2.8311586945518328, -1.4331004273672137, -0.37943540781544893}}};
    for (int k = 0; k < 2; k++) {
        cspace_pair pair = pair_of(at[k].shape, at[k].shape, 1.0);
        double best = 0.0;
        exact_search(&pair, &at[k].pose, 0.0, 0.0, 1.0, 2e-5, &best);
        assert_true(best < -1e-4);
        assert_close(minimise(&pair, at[k].pose, 1e-4).d, 2.0 * best, 1e-4);
    }
}

static void test_discs(void **state) {
    (void)state;
    const double ratios[] = {1.0, 0.25, 4.0};
    for (int k = 0; k < 3; k++) {
        cspace_pair pair = pair_of(DISC, DISC, ratios[k]);
        double reach = pair.scale_a + pair.scale_b;
        core_random random;
        core_random_init(&random, 3, (uint64_t)k);
        for (int i = 0; i < 200; i++) {
            cspace_pose q = fixture_pose(&random, reach + 0.5);
            double t = sqrt(q.x * q.x + q.y * q.y), small = fmin(pair.scale_a, pair.scale_b);
            if (t < reach - 1.6 * small) continue; // one disc (nearly) inside the other
            cspace_minimum m = minimise(&pair, q, 1e-6);
            assert_close(m.d, t - reach, 5e-4);
            double on_axis = pair.scale_a + 0.5 * (t - reach); // mid-way between the near points
            assert_close(m.p[0], on_axis * q.x / t, 5e-3);
            assert_close(m.p[1], on_axis * q.y / t, 5e-3);
        }
    }
}

// Squares of side sqrt 2: a face on a face, a corner over and in a face.
static void test_squares(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, SQUARE, 1.0);
    const double gaps[] = {0.3, 0.05, 0.0, -0.02, -0.1};
    for (int k = 0; k < 5; k++) {
        cspace_minimum m = minimise(&pair, (cspace_pose){0.0, sqrt(2.0) + gaps[k], 0.1}, 1e-4);
        assert_close(m.d, gaps[k], 2e-3);
        assert_true(m.count_cells < 2000); // a flat minimum does not cost thousands of cells
        double half_angle = 0.25 * CORE_PI, tip = 2.0 * sin(half_angle) / (1.0 + sin(half_angle));
        m = minimise(&pair, (cspace_pose){half_angle, sqrt(0.5) + 1.0 + gaps[k], 0.1}, 1e-4);
        assert_close(m.d, gaps[k] < 0.0 ? tip * gaps[k] : gaps[k], 3e-3);
    }
}

static void test_tolerance_and_cells(void **state) {
    (void)state;
    cspace_pair pair = pair_of(LETTER_U, HASH, 0.7);
    cspace_search_def one = cspace_search_default_def();
    one.max_cells = 1;
    core_random random;
    core_random_init(&random, 4, 0);
    for (int i = 0; i < 200; i++) {
        cspace_pose q = fixture_pose(&random, 1.7);
        double fine = minimise(&pair, q, 1e-5).d;
        assert_close(minimise(&pair, q, 1e-3).d, fine, 1e-3);
        assert_close(minimise(&pair, q, 1e-4).d, fine, 1e-4);
        cspace_minimum m;
        cspace_minimise(&pair, &one, &q, &m);
        assert_true(isfinite(m.d) && m.d >= fine - 1e-5); // an upper bound
        assert_close(m.d, 2.0 * exact_max(&pair, &q, m.p[0], m.p[1]), 0.01);
    }
}

static void test_band(void **state) {
    (void)state;
    cspace_pair pair = pair_of(LETTER_N, LETTER_U, 1.3);
    cspace_search_def def = cspace_search_default_def();
    core_random random;
    core_random_init(&random, 5, 0);
    int outside = 0;
    for (int i = 0; i < 1500; i++) {
        cspace_pose q = fixture_pose(&random, 1.9);
        double full = minimise(&pair, q, 1e-4).d;
        cspace_minimum m;
        def.band = i % 2 ? 0.1 : 0.02;
        cspace_minimise(&pair, &def, &q, &m);
        if (m.outside) {
            outside++;
            assert_true(fabs(full) >= def.band - 1e-4);
            assert_true((m.d > 0.0) == (full > 0.0));
        } else {
            assert_close(m.d, full, 1e-4);
            assert_true(fabs(full) <= def.band + 1e-4);
        }
    }
    assert_true(outside > 500 && outside < 1490);
}

// The distance of (B, A) at the inverse pose is that of (A, B).
static void test_exchange(void **state) {
    (void)state;
    cspace_pair ab = pair_of(LETTER_N, HASH, 0.8), ba = pair_of(HASH, LETTER_N, 1.25);
    core_random random;
    core_random_init(&random, 6, 0);
    for (int i = 0; i < 300; i++) {
        cspace_pose q = fixture_pose(&random, 1.8);
        double c = cos(q.theta), s = sin(q.theta);
        cspace_pose inverse = {-q.theta, -(c * q.x + s * q.y), s * q.x - c * q.y};
        assert_close(minimise(&ab, q, 1e-4).d, minimise(&ba, inverse, 1e-4).d, 2e-4);
    }
}

// Beyond the grids the outlines answer: no limit to the distance.
static void test_far_apart(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, LETTER_N, 0.7);
    const double t[] = {3.0, 5.0, 50.0, 1e4};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 5; i++) {
            cspace_pose q = {0.3 + i, t[k] * cos(1.1 * i), t[k] * sin(1.1 * i)};
            sdf_posed a = {&pair.a->outline, pair.scale_a, 0.0, 0.0, 0.0};
            sdf_posed b = {&pair.b->outline, pair.scale_b, q.theta, q.x, q.y};
            double exact;
            assert_int_equal(sdf_posed_distance(&a, &b, &exact, NULL), CORE_OK);
            assert_close(minimise(&pair, q, 1e-4).d, exact, 1e-4 + 1e-9 * t[k]);
        }
    }
}

static void test_not_finite(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, SQUARE, 1.0);
    const cspace_pose poses[] = {
        {NAN, 0.0, 0.0}, {0.0, NAN, 0.0}, {0.0, 0.0, NAN}, {INFINITY, 0.0, 0.0}, {0.0, INFINITY, 0.0}};
    for (int k = 0; k < 5; k++) {
        cspace_minimum m = minimise(&pair, poses[k], 1e-4);
        assert_true(isnan(m.d) && isnan(m.p[0]) && isnan(m.p[1]));
    }
}

static void test_pair_arguments(void **state) {
    (void)state;
    const fixture *s = &shapes[SQUARE];
    cspace_pair pair = {0};
    core_error err = {0};
    const double bad[] = {0.0, -1.0, 1.0 / 65.0, 65.0, NAN, INFINITY};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(cspace_pair_init(&s->shape, &s->grid, &s->shape, &s->grid, bad[k], &pair, &err), CORE_RANGE);
        assert_null(pair.a);
        assert_non_null(strstr(err.message, "ratio"));
    }
    sdf_grid none = {0};
    assert_int_equal(cspace_pair_init(NULL, &s->grid, &s->shape, &s->grid, 1.0, &pair, &err), CORE_ARG);
    assert_int_equal(cspace_pair_init(&s->shape, &none, &s->shape, &s->grid, 1.0, &pair, &err), CORE_ARG);
    pair = pair_of(SQUARE, DISC, 0.5);
    assert_true(pair.scale_a >= 1.0 && pair.scale_a <= 1.0 && pair.scale_b >= 0.5 && pair.scale_b <= 0.5);
    pair = pair_of(SQUARE, DISC, 4.0);
    assert_true(pair.scale_a >= 0.25 && pair.scale_a <= 0.25 && pair.scale_b >= 1.0 && pair.scale_b <= 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_separated_poses_against_outlines),
                                       cmocka_unit_test(test_overlaps_against_the_exact_minimum),
                                       cmocka_unit_test(test_crossing_outlines),
                                       cmocka_unit_test(test_discs),
                                       cmocka_unit_test(test_squares),
                                       cmocka_unit_test(test_tolerance_and_cells),
                                       cmocka_unit_test(test_band),
                                       cmocka_unit_test(test_exchange),
                                       cmocka_unit_test(test_far_apart),
                                       cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_pair_arguments)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
