// Gradients and moment arms of the labels: central differences of d, closed forms at a corner and at saturation, the
// identities, smoothing.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { HASH, LETTER_U, LETTER_N, LETTER_O, SQUARE, COUNT_SHAPES, POSES = 1500 };
static const double degree = CORE_PI / 180.0;

static fixture shapes[COUNT_SHAPES];

static int setup(void **state) {
    (void)state;
    core_status s = fixture_hash(FIXTURE_RESOLUTION, &shapes[HASH], NULL);
    if (s == CORE_OK) s = fixture_u(FIXTURE_RESOLUTION, &shapes[LETTER_U], NULL);
    if (s == CORE_OK) s = fixture_n(FIXTURE_RESOLUTION, &shapes[LETTER_N], NULL);
    if (s == CORE_OK) s = fixture_o(FIXTURE_RESOLUTION, &shapes[LETTER_O], NULL);
    if (s == CORE_OK) s = fixture_square(FIXTURE_RESOLUTION, &shapes[SQUARE], NULL);
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

static cspace_contact contact_at(const cspace_pair *pair, cspace_pose q, double tolerance) {
    cspace_search_def def = cspace_search_default_def();
    def.tolerance = tolerance;
    cspace_contact c;
    cspace_numeric_contact(pair, &def, &q, &c);
    return c;
}

// Central differences of d by theta, x, y.
static void differences(const cspace_pair *pair, cspace_pose q, double h, double rate[3]) {
    for (int axis = 0; axis < 3; axis++) {
        cspace_pose low = q, high = q;
        *(axis == 0 ? &low.theta : axis == 1 ? &low.x : &low.y) -= h;
        *(axis == 0 ? &high.theta : axis == 1 ? &high.x : &high.y) += h;
        rate[axis] = (contact_at(pair, high, 1e-6).d - contact_at(pair, low, 1e-6).d) / (2.0 * h);
    }
}

// A pose within the band of contact.
static cspace_pose near_pose(const cspace_pair *pair, core_random *random) {
    cspace_search_def def = cspace_search_default_def();
    def.band = 0.1;
    for (;;) {
        cspace_pose q = fixture_pose(random, pair->scale_a + pair->scale_b);
        cspace_minimum m;
        cspace_minimise(pair, &def, &q, &m);
        if (!m.outside) return q;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, int n, double q) {
    qsort(values, (size_t)n, sizeof *values, ascending);
    return values[(int)(q * (n - 1))];
}

static const struct {
    const char *name;
    int a, b;
    double ratio;
} pairs[] = {{"#-#", HASH, HASH, 1.0},
             {"U-U", LETTER_U, LETTER_U, 1.0},
             {"N-#", LETTER_N, HASH, 0.6},
             {"O-O", LETTER_O, LETTER_O, 1.5}};
enum { COUNT_PAIRS = 4 };

static double angle_between(const double a[2], const double b[2]) {
    return fabs(atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])) / degree;
}

// Over the label's own d. In overlap d inherits the interpolant's ripple at kinks (.1 cell over one cell), which
// differences amplify to .1 in |g|, so there only the direction is compared;
// test_overlap_gradient_against_the_exact_minimum has the rest.
static void test_gradient_against_differences(void **state) {
    (void)state;
    static double apart_angle[POSES], turn[POSES], overlap_angle[POSES];
    for (int k = 0; k < COUNT_PAIRS; k++) {
        cspace_pair pair = pair_of(pairs[k].a, pairs[k].b, pairs[k].ratio);
        core_random random;
        core_random_init(&random, 21, (uint64_t)k);
        int apart = 0, overlaps = 0;
        while (apart + overlaps < POSES) {
            cspace_pose q = near_pose(&pair, &random);
            cspace_contact c = contact_at(&pair, q, 1e-6);
            if (c.d >= 0.0 && c.d < 6.0 / FIXTURE_RESOLUTION)
                continue; // within a cell or two of a vertex: |grad d| is not yet 1
            double rate[3];
            differences(&pair, q, 2e-4, rate);
            if (c.d < 0.0) {
                overlap_angle[overlaps++] = angle_between(c.g, rate + 1);
            } else {
                turn[apart] = fabs(c.d_theta - rate[0]);
                apart_angle[apart++] = angle_between(c.g, rate + 1);
            }
        }
        double median = quantile(apart_angle, apart, 0.5), p99 = quantile(apart_angle, apart, 0.99);
        double turn50 = quantile(turn, apart, 0.5), turn90 = quantile(turn, apart, 0.9);
        double overlap50 = quantile(overlap_angle, overlaps, 0.5), overlap90 = quantile(overlap_angle, overlaps, 0.9);
        print_message("%s apart (%d): angle median %.5f, p99 %.4f degrees, d_theta median %.6f, p90 %.5f; overlap "
                      "(%d): angle median "
                      "%.4f, p90 %.3f\n",
                      pairs[k].name, apart, median, p99, turn50, turn90, overlaps, overlap50, overlap90);
        assert_true(apart > 200 && overlaps > 200);
        assert_true(median < 0.01); // required: .5
        assert_true(p99 < 0.1);
        assert_true(turn50 < 2e-3);
        assert_true(turn90 < 1e-2);
        assert_true(overlap50 < 0.1); // required: .5
        assert_true(overlap90 < 5.0);
    }
}

// Exact max(phi_A, phi_qB), units of L.
static double exact_max(const cspace_pair *p, const cspace_pose *q, double x, double y) {
    double c = cos(q->theta), s = sin(q->theta), dx = x - q->x, dy = y - q->y, a, b;
    double pa[2] = {x / p->scale_a, y / p->scale_a};
    double pb[2] = {(c * dx + s * dy) / p->scale_b, (c * dy - s * dx) / p->scale_b};
    sdf_outline_distance(&p->a->outline, pa, 1, &a, NULL);
    sdf_outline_distance(&p->b->outline, pb, 1, &b, NULL);
    return fmax(p->scale_a * a, p->scale_b * b);
}

// Lowers *best to the exact minimum over a square, to `tolerance`.
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

// Differences of the exact minimum of E near the labelled minimiser, found without any grid.
static void exact_rates(const cspace_pair *pair, cspace_pose q, const double near[2], double h, double rate[3]) {
    for (int axis = 0; axis < 3; axis++) {
        double d[2];
        for (int side = 0; side < 2; side++) {
            cspace_pose moved = q;
            *(axis == 0 ? &moved.theta : axis == 1 ? &moved.x : &moved.y) += side ? h : -h;
            double best = INFINITY;
            exact_search(pair, &moved, near[0], near[1], 0.02, 1e-6, &best);
            d[side] = 2.0 * best;
        }
        rate[axis] = (d[1] - d[0]) / (2.0 * h);
    }
}

static void test_overlap_gradient_against_the_exact_minimum(void **state) {
    (void)state;
    enum { COUNT = 40 };
    static double angle[COUNT], slope[COUNT], turn[COUNT];
    cspace_search_def def = cspace_search_default_def();
    for (int k = 0; k < COUNT_PAIRS; k++) {
        cspace_pair pair = pair_of(pairs[k].a, pairs[k].b, pairs[k].ratio);
        core_random random;
        core_random_init(&random, 23, (uint64_t)k);
        for (int n = 0; n < COUNT;) {
            cspace_pose q = near_pose(&pair, &random);
            cspace_minimum m;
            cspace_minimise(&pair, &def, &q, &m);
            if (m.d > -0.01) continue;
            cspace_contact c = contact_at(&pair, q, 1e-4);
            double rate[3];
            exact_rates(&pair, q, m.p, 1e-3, rate);
            angle[n] = angle_between(c.g, rate + 1);
            slope[n] = fabs(hypot(c.g[0], c.g[1]) - hypot(rate[1], rate[2]));
            turn[n++] = fabs(c.d_theta - rate[0]);
        }
        double a50 = quantile(angle, COUNT, 0.5), a90 = quantile(angle, COUNT, 0.9), s50 = quantile(slope, COUNT, 0.5);
        double s90 = quantile(slope, COUNT, 0.9), t50 = quantile(turn, COUNT, 0.5), t90 = quantile(turn, COUNT, 0.9);
        print_message("%s overlap, exact: angle median %.4f, p90 %.3f degrees, |g| median %.5f, p90 %.4f, d_theta "
                      "median %.5f, p90 %.4f\n",
                      pairs[k].name, a50, a90, s50, s90, t50, t90);
        assert_true(a50 < 0.1); // required: .5
        assert_true(a90 < 2.0);
        assert_true(s50 < 0.005);
        assert_true(s90 < 0.02);
        assert_true(t50 < 0.01);
        assert_true(t90 < 0.04);
    }
}

static void test_identities(void **state) {
    (void)state;
    cspace_pair pair = pair_of(LETTER_N, HASH, 1.4);
    core_random random;
    core_random_init(&random, 22, 0);
    for (int i = 0; i < 500; i++) {
        cspace_pose q = fixture_pose(&random, 1.75);
        cspace_contact c = contact_at(&pair, q, 1e-4);
        double length = hypot(c.g[0], c.g[1]);
        assert_true(length <= 1.0 + 0.05);
        if (c.d > 0.0) assert_close(length, 1.0, 1e-12);
        if (length < 1e-2) continue;
        double n[2] = {c.g[0] / length, c.g[1] / length};
        assert_close(c.r_a - c.r_b, q.x * n[0] + q.y * n[1], 1e-12);
        if (c.d > 0.0) { // p lies half-way: from A's point d/2 along n, and from B's d/2 against it
            cspace_search_def def = cspace_search_default_def();
            cspace_minimum m;
            cspace_minimise(&pair, &def, &q, &m);
            assert_close(c.r_a, m.p[0] * n[0] + m.p[1] * n[1], 1e-12);
            assert_close(c.d_theta, -((m.p[0] - q.x) * -c.g[1] + (m.p[1] - q.y) * c.g[0]), 1e-12);
        }
    }
}

// A corner of half angle a = 45 degrees, tilted by e, in a face to depth p: the circle inscribed in the triangle has
// the radius k p with k = sin a/(sin a + cos e), so d = -2 k p and |g| = 2 k (2 sin a/(1 + sin a) upright). Face on
// face: 1.
static void test_corner_in_face(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, SQUARE, 1.0);
    const double depths[] = {0.05, 0.1, 0.15}, a = 0.25 * CORE_PI;
    for (int i = 0; i < 3; i++) {
        for (int turns = -1; turns <= 1; turns++) {
            double p = depths[i], e = turns * 10.0 * degree, k = sin(a) / (sin(a) + cos(e));
            double k_rate = sin(a) * sin(e) / pow(sin(a) + cos(e), 2.0);
            cspace_contact c = contact_at(&pair, (cspace_pose){a + e, sqrt(0.5) + cos(e) - p, 0.07}, 1e-6);
            assert_close(c.d, -2.0 * k * p, 3e-3);
            assert_close(c.g[0], 2.0 * k, 0.01);
            assert_close(c.g[1], 0.0, 2e-3);
            assert_close(c.r_a, sqrt(0.5) + 0.5 * c.d, 3e-3); // the circle touches the face
            assert_close(c.d_theta, -2.0 * (k_rate * p - k * sin(e)), 0.01);
        }
    }
    cspace_contact c = contact_at(&pair, (cspace_pose){0.0, sqrt(2.0) - 0.05, 0.2}, 1e-6);
    assert_close(c.g[0], 1.0, 1e-3);
    assert_close(c.g[1], 0.0, 1e-3);
}

// A bar of U across the other's: where the overlap's largest circle fills the wall, d no longer depends on the
// position.
static void test_saturation(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, LETTER_U, 0.5);
    cspace_pose q = {0.3, 0.02, 0.03};
    cspace_contact c = contact_at(&pair, q, 1e-5);
    cspace_contact moved = contact_at(&pair, (cspace_pose){0.3, 0.07, -0.02}, 1e-5);
    assert_close(c.d, moved.d, 1e-4);
    assert_true(hypot(c.g[0], c.g[1]) < 1e-2);
    assert_true(fabs(c.d_theta) < 1e-2);
    assert_true(isfinite(c.r_a) && isfinite(c.r_b));
}

static void test_smoothing(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, SQUARE, 1.0);
    cspace_search_def def = cspace_search_default_def();
    // sigma 0 is the plain contact, to the bit
    cspace_pose q = {0.2, 1.5, 0.4};
    cspace_contact plain = contact_at(&pair, q, def.tolerance), c;
    cspace_numeric_contact_smooth(&pair, &def, 0.0, &q, &c);
    assert_memory_equal(&c, &plain, sizeof c);
    // away from kinks smoothing changes little
    q = (cspace_pose){0.3, 1.75, 0.1};
    plain = contact_at(&pair, q, 1e-6);
    cspace_numeric_contact_smooth(&pair, &def, 1e-3, &q, &c);
    assert_close(c.d, plain.d, 1e-4);
    assert_close(c.d_theta, plain.d_theta, 2e-2);
    assert_close(c.g[0], plain.g[0], 1e-2);
    assert_close(c.g[1], plain.g[1], 1e-2);
    assert_close(c.r_a, plain.r_a, 1e-2);
    assert_close(c.r_b, plain.r_b, 1e-2);
    // face on face: no torque when aligned, a restoring one when tilted by less than the width; d is lowered by the
    // mean tilt
    const double sigma = 1e-2, face = sqrt(0.5), h = sqrt(3.0) * sigma;
    q = (cspace_pose){0.0, sqrt(2.0) + 0.1, 0.0};
    cspace_numeric_contact_smooth(&pair, &def, sigma, &q, &c);
    assert_close(c.d_theta, 0.0, 1e-3);
    assert_close(c.d, 0.1 - face * h / 3.0, 1e-3); // two of the six poses are tilted by h: lower by face x h each
    assert_close(hypot(c.g[0], c.g[1]), 1.0, 1e-3);
    q.theta = 0.25 * h;
    cspace_numeric_contact_smooth(&pair, &def, sigma, &q, &c);
    double torque = -face * (fabs(q.theta + h) - fabs(q.theta - h)) / (2.0 * h);
    assert_close(c.d_theta, torque, 2e-2);
    // the identity holds with the smoothed normal
    double length = hypot(c.g[0], c.g[1]);
    assert_close(c.r_a - c.r_b, (q.x * c.g[0] + q.y * c.g[1]) / length, 1e-12);
}

static void test_not_finite(void **state) {
    (void)state;
    cspace_pair pair = pair_of(SQUARE, SQUARE, 1.0);
    cspace_search_def def = cspace_search_default_def();
    for (int k = 0; k < 2; k++) {
        cspace_contact c = {0};
        cspace_pose q = {0.0, NAN, 0.0};
        cspace_numeric_contact_smooth(&pair, &def, k ? 1e-3 : 0.0, &q, &c);
        assert_true(isnan(c.d) && isnan(c.d_theta) && isnan(c.g[0]) && isnan(c.g[1]) && isnan(c.r_a) && isnan(c.r_b));
    }
}

// Centres on each other: no direction is better than another, but every number is finite.
static void test_centred(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_SHAPES; k++) {
        cspace_pair pair = pair_of(k, k, 1.0);
        cspace_contact c = contact_at(&pair, (cspace_pose){0.0, 0.0, 0.0}, 1e-3);
        assert_true(isfinite(c.d) && c.d < 0.0 && isfinite(c.d_theta) && isfinite(c.g[0]) && isfinite(c.r_a) &&
                    isfinite(c.r_b));
        assert_close(c.r_a, c.r_b, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient_against_differences),
                                       cmocka_unit_test(test_overlap_gradient_against_the_exact_minimum),
                                       cmocka_unit_test(test_identities),
                                       cmocka_unit_test(test_corner_in_face),
                                       cmocka_unit_test(test_saturation),
                                       cmocka_unit_test(test_smoothing),
                                       cmocka_unit_test(test_not_finite),
                                       cmocka_unit_test(test_centred)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
