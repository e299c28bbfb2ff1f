// The obstacle at one angle against single exact queries, the smoothing kernel of both kinds of labels, the density of
// samples against plain rejection.
#include "cspace_asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { HASH, LETTER_U, LETTER_O, STAR, HOOK, SQUARE, FINE_O, COUNT_SHAPES };

static const struct {
    const char *name;
    int a, b;
    double ratio;
} cases[] = {{"#-#", HASH, HASH, 1.0},        {"U-#", LETTER_U, HASH, 0.7},           {"O-O", LETTER_O, LETTER_O, 1.0},
             {"star-star", STAR, STAR, 1.0},  {"hook-star", HOOK, STAR, 1.5},         {"hook-hook", HOOK, HOOK, 1.0},
             {"#-square", HASH, SQUARE, 0.1}, {"square-square", SQUARE, SQUARE, 1.0}, {"fine O-O", FINE_O, FINE_O, 1.0},
             {"fine O-#", FINE_O, HASH, 0.6}, {"fine O-square", FINE_O, SQUARE, 0.4}};
enum { COUNT_CASES = sizeof cases / sizeof *cases };

static int setup(void **state) {
    (void)state;
    fixture_maker *const make[COUNT_SHAPES] = {fixture_hash, fixture_u,      fixture_o,     fixture_star,
                                               fixture_hook, fixture_square, fixture_fine_o};
    return shapes_make(make, COUNT_SHAPES);
}

static double contact_difference(const cspace_contact *a, const cspace_contact *b) {
    return fabs(a->d_theta - b->d_theta) + fabs(a->g[0] - b->g[0]) + fabs(a->g[1] - b->g[1]) + fabs(a->r_a - b->r_a) +
           fabs(a->r_b - b->r_b);
}

// Angles drawn, and those at which faces are parallel.
static void test_against_single_queries(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_CASES; k++) {
        asked q = ask(cases[k].a, cases[k].b, cases[k].ratio);
        core_random random;
        core_random_init(&random, 1, (uint64_t)k);
        double worst = 0.0;
        int differ = 0, inside = 0, n = 0;
        for (int i = 0; i < 24; i++) {
            double theta = i < 20 ? fixture_pose(&random, 1.0).theta : 0.5 * CORE_PI * (i - 21);
            assert_int_equal(cspace_obstacle_turn(q.obstacle, theta, NULL), CORE_OK);
            for (int j = 0; j < (cases[k].a == LETTER_O || cases[k].a == FINE_O ? 4 : 40); j++, n++) {
                cspace_pose p = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b);
                const double t[2] = {p.x, p.y};
                p.theta = theta;
                cspace_contact one, many;
                cspace_exact_contact(q.exact, &p, &one, q.scratch);
                assert_true(cspace_obstacle_contact(q.obstacle, t, INFINITY, &many));
                if (!(fabs(one.d - many.d) < 1e-11))
                    fail_msg("%s at %.17g, %.17g, %.17g: d %.17g, obstacle %.17g", cases[k].name, theta, p.x, p.y,
                             one.d, many.d);
                worst = fmax(worst, fabs(one.d - many.d));
                differ += i < 20 && contact_difference(&one, &many) > 1e-9; // parallel faces tie
                inside += one.d < 0.0;
                assert_int_equal(cspace_obstacle_contact(q.obstacle, t, 0.1, &many), fabs(one.d) <= 0.1);
            }
        }
        print_message("%s: %d translations (%d in overlap), d differs by %.1e at most, %d contacts differ\n",
                      cases[k].name, n, inside, worst, differ);
        assert_true(inside > n / 20);
        assert_true(differ <= n / 200);
        asked_clear(&q);
    }
}

// Two rings of 2 x 96 points at the same angle: their walls are thicker than their holes are narrow, so the obstacle is
// the polygon of twice the size, and depth is the distance from its sides however deep.
static void test_rings_in_rings(void **state) {
    (void)state;
    asked q = ask(FINE_O, FINE_O, 1.0);
    assert_int_equal(cspace_obstacle_turn(q.obstacle, 0.0, NULL), CORE_OK);
    const double apothem = 2.0 * cos(CORE_PI / 96.0);
    for (int i = 0; i < 96; i += 7)
        for (int k = 0; k < 5; k++) {
            const double a = 2.0 * CORE_PI * (i + 0.5) / 96.0, r = (const double[]){2.05, 1.97, 1.5, 0.9, 0.1}[k];
            const double t[2] = {r * cos(a), r * sin(a)};
            cspace_contact one, many;
            cspace_exact_contact(q.exact, &(cspace_pose){0.0, t[0], t[1]}, &one, q.scratch);
            assert_true(cspace_obstacle_contact(q.obstacle, t, INFINITY, &many));
            assert_close(one.d, r - apothem, 1e-12);
            assert_close(many.d, r - apothem, 1e-12);
            assert_close(many.g[0], cos(a), 1e-12);
            assert_close(many.g[1], sin(a), 1e-12);
        }
    asked_clear(&q);
}

static void test_obstacle_arguments(void **state) {
    (void)state;
    asked q = ask(HASH, LETTER_U, 1.0);
    cspace_obstacle *none = NULL;
    cspace_contact c;
    const double t[2] = {1.0, 0.2}, nowhere[2] = {NAN, 0.0};
    core_error err = {0};
    assert_int_equal(cspace_obstacle_create(NULL, &none, &err), CORE_ARG);
    assert_int_equal(cspace_obstacle_create(q.exact, NULL, &err), CORE_ARG);
    assert_int_equal(cspace_obstacle_turn(NULL, 0.0, &err), CORE_ARG);
    assert_false(cspace_obstacle_contact(q.obstacle, t, INFINITY, &c)); // not turned yet
    assert_true(isnan(c.d));
    assert_int_equal(cspace_obstacle_turn(q.obstacle, 0.3, &err), CORE_OK);
    assert_false(cspace_obstacle_contact(q.obstacle, nowhere, INFINITY, &c));
    uint64_t count = core_alloc_count();
    assert_true(cspace_obstacle_contact(q.obstacle, t, INFINITY, &c));
    assert_true(core_alloc_count() == count);
    assert_int_equal(cspace_obstacle_turn(q.obstacle, NAN, &err), CORE_NONFINITE);
    assert_false(cspace_obstacle_contact(q.obstacle, t, INFINITY, &c));
    cspace_obstacle_destroy(NULL);
    // every allocation fails once
    core_status status = CORE_MEMORY;
    uint64_t n = 0;
    while (status != CORE_OK) {
        core_alloc_fail_after(++n);
        status = cspace_obstacle_create(q.exact, &none, NULL);
        if (status == CORE_OK) status = cspace_obstacle_turn(none, 0.4, NULL);
        core_alloc_fail_after(0);
        if (status != CORE_OK) assert_int_equal(status, CORE_MEMORY);
        if (status != CORE_OK && none) assert_false(cspace_obstacle_contact(none, t, INFINITY, &c));
        cspace_obstacle_destroy(&none);
    }
    assert_true(n > 20);
    asked_clear(&q);
}

// A block on a block: side 2a, turned by theta about its own centre, at rest height. Plain labels have a constant
// restoring slope of either sign; smoothed ones pass through zero within theta = sqrt(3) sigma.
static double slope_of_block(const asked *q, bool exact, double sigma, double theta, double *d) {
    const cspace_pose pose = {theta, 0.0, sqrt(2.0)};
    const cspace_search_def search = cspace_search_default_def();
    cspace_contact c;
    if (exact)
        cspace_exact_contact_smooth(q->exact, sigma, &pose, &c, q->scratch);
    else
        cspace_numeric_contact_smooth(&q->pair, &search, sigma, &pose, &c);
    if (d) *d = c.d;
    assert_close(c.r_a - c.r_b, (pose.x * c.g[0] + pose.y * c.g[1]) / hypot(c.g[0], c.g[1]), 1e-9);
    return c.d_theta;
}

static void test_restoring_slope(void **state) {
    (void)state;
    asked q = ask(SQUARE, SQUARE, 1.0);
    const double half = sqrt(0.5), sigma = 1e-3;
    for (int exact = 0; exact < 2; exact++) {
        print_message("%s: d_theta at theta/sigma =", exact ? "exact" : "minimiser");
        for (int i = -4; i <= 4; i++) {
            double d, theta = i * sigma, smooth = slope_of_block(&q, exact, sigma, theta, &d);
            double plain = slope_of_block(&q, exact, 0.0, theta, NULL);
            print_message(" %d: %.4f (%.4f)", i, smooth, plain);
            // the lower corner touches: d falls as |theta| grows, by half a side per radian (theta > 0: -half)
            double expected = -half * fmin(fmax(theta / (sqrt(3.0) * sigma), -1.0), 1.0);
            if (exact || theta == 0.0) assert_close(smooth, expected, 0.01);
            if (i != 0 && exact) assert_close(plain, theta > 0.0 ? -half : half, 0.01);
            // of the kernel's poses two are turned, two shifted along the face, two up and down
            double turned = fmax(fabs(theta), sqrt(3.0) * sigma);
            if (exact) assert_close(d, -half * (turned + 2.0 * fabs(theta)) / 3.0, 2e-5);
        }
        print_message("\n");
    }
    asked_clear(&q);
}

// Bins of (theta, d, polar angle) of near rows against plain rejection by single queries: densities within .8 to 1.25.
enum { BINS = 4 };
static int bin_of(double theta, double d, double x, double y, double band) {
    const double u[3] = {(theta / CORE_PI + 1.0) / 2.0, (d / band + 1.0) / 2.0, (atan2(y, x) / CORE_PI + 1.0) / 2.0};
    int bin = 0;
    for (int i = 0; i < 3; i++) bin = bin * BINS + (int)fmin(fmax(floor(u[i] * BINS), 0.0), BINS - 1.0);
    return bin;
}

static void compare_density(cspace_labels labels, int n) {
    asked q = ask(LETTER_U, HASH, 0.8);
    cspace_sample_def def = cspace_sample_default_def();
    const cspace_search_def search = cspace_search_default_def();
    def.samples = n;
    def.held_out = 0;
    def.near_fraction = 1.0;
    def.labels = labels;
    cspace_samples s = {0};
    assert_int_equal(cspace_sample(&q.pair, &def, NULL, &s, NULL), CORE_OK);
    int drawn[BINS * BINS * BINS] = {0}, plain[BINS * BINS * BINS] = {0}, tries = 0;
    for (int i = 0; i < n; i++) {
        const double *p = s.training.pose + 3 * (int64_t)i;
        drawn[bin_of(p[0], s.training.distance[i], p[1], p[2], def.band)]++;
    }
    core_random random;
    core_random_init(&random, 77, 0);
    for (int found = 0; found < n; tries++) {
        cspace_pose p = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b);
        cspace_contact c;
        if (!cspace_exact_near(q.exact, &p, labels == CSPACE_LABELS_EXACT ? def.band : 0.3, &c, q.scratch)) continue;
        if (labels == CSPACE_LABELS_MINIMISER) cspace_numeric_contact(&q.pair, &search, &p, &c);
        if (fabs(c.d) > def.band) continue;
        plain[bin_of(p.theta, c.d, p.x, p.y, def.band)]++;
        found++;
    }
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < BINS * BINS * BINS; i++) {
        double ratio = (double)drawn[i] / plain[i];
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    print_message("%s: density %.3f to %.3f of plain rejection in %d bins; acceptance %.4f, plain %.4f\n",
                  cspace_labels_names[labels], least, most, BINS * BINS * BINS, s.acceptance_rate, (double)n / tries);
    assert_true(least >= 0.8 && most <= 1.25);
    assert_close(s.acceptance_rate, (double)n / tries, 0.02 * n / tries);
    cspace_samples_clear(&s);
    asked_clear(&q);
}

static void test_density(void **state) {
    (void)state;
    compare_density(CSPACE_LABELS_EXACT, 200000);
    compare_density(CSPACE_LABELS_MINIMISER, 60000);
}

// Batched, smoothed and far rows are what single queries say; threads change no bit.
static void test_smoothed_samples(void **state) {
    (void)state;
    for (int labels = 0; labels < CSPACE_LABELS_COUNT; labels++) {
        asked q = ask(LETTER_U, HASH, 0.8);
        cspace_sample_def def = cspace_sample_default_def();
        def.samples = labels == CSPACE_LABELS_EXACT ? 6000 : 1000;
        def.held_out = 300;
        def.labels = (cspace_labels)labels;
        uint64_t hash = cspace_sample_input_hash(&q.pair, &def);
        def.smoothing = 2e-3;
        assert_true(cspace_sample_input_hash(&q.pair, &def) != hash);
        cspace_samples one = {0}, two = {0};
        assert_int_equal(cspace_sample(&q.pair, &def, NULL, &one, NULL), CORE_OK);
        def.threads = 3;
        assert_int_equal(cspace_sample(&q.pair, &def, NULL, &two, NULL), CORE_OK);
        assert_true(fixture_rows_same(&one.training, &two.training));
        assert_true(fixture_rows_same(&one.held_out, &two.held_out));
        int far = 0;
        for (int set = 0; set < 2; set++) {
            const cspace_rows *rows = set ? &one.held_out : &one.training;
            for (int64_t i = 0; i < rows->n; i++) {
                const cspace_pose p = {rows->pose[3 * i], rows->pose[3 * i + 1], rows->pose[3 * i + 2]};
                cspace_contact c;
                if (labels == CSPACE_LABELS_EXACT)
                    cspace_exact_contact_smooth(q.exact, def.smoothing, &p, &c, q.scratch);
                else
                    cspace_numeric_contact_smooth(&q.pair, &def.search, def.smoothing, &p, &c);
                assert_close(rows->distance[i], c.d, 1e-11);
                assert_close(rows->gradient[3 * i], c.d_theta, 1e-6);
                far += fabs(c.d) > def.band;
            }
        }
        assert_true(far > (int)(one.training.n / 20) && far < (int)(one.training.n / 5));
        cspace_samples_clear(&one);
        cspace_samples_clear(&two);
        asked_clear(&q);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_single_queries),
                                       cmocka_unit_test(test_rings_in_rings),
                                       cmocka_unit_test(test_obstacle_arguments),
                                       cmocka_unit_test(test_restoring_slope),
                                       cmocka_unit_test(test_density),
                                       cmocka_unit_test(test_smoothed_samples)};
    return cmocka_run_group_tests(tests, setup, shapes_clear);
}
