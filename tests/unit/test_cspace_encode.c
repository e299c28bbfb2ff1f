// Encodings: values, Jacobians against central differences, the chain rule against the Jacobian, names.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const cspace_encoding all[] = {CSPACE_RAW, CSPACE_SINCOS, CSPACE_TWOFRAME};
static const cspace_fold no_kinks = {.order_a = 1, .order_b = 1};
static const cspace_fold kinks = {.order_a = 1, .order_b = 1, .count_kinks = 2, .kinks = {0.5, -2.0}};

static void test_values(void **state) {
    (void)state;
    const cspace_pose q = {2.0 + 4.0 * CORE_PI, 0.3, -0.7}; // wrapped where it matters
    cspace_inputs in, other;
    const double *x = in.x;
    cspace_encode(CSPACE_RAW, &no_kinks, &q, &in, NULL);
    assert_true(fabs(x[0] - 2.0 / CORE_PI) < 1e-14 && x[1] == 0.3 && x[2] == -0.7);
    cspace_encode(CSPACE_TWOFRAME, &no_kinks, &q, &in, NULL);
    const double expected[] = {
        cos(2.0), sin(2.0), 0.3, -0.7, cos(2.0) * 0.3 - sin(2.0) * 0.7, -sin(2.0) * 0.3 - cos(2.0) * 0.7};
    for (int k = 0; k < 6; k++) assert_true(fabs(x[k] - expected[k]) < 1e-14);
    cspace_encode(CSPACE_SINCOS, &kinks, &q, &other, NULL);
    assert_memory_equal(x, other.x, 4 * sizeof *x);
    assert_close(other.x[4], 1.5, 1e-14); // from .5; the other one is 2 pi - 4 = 2.28 away
    assert_true(other.kink_slope == 1.0);
    const int inputs[] = {3, 4, 6};
    for (int e = 0; e < 3; e++) {
        assert_int_equal(cspace_encoding_inputs(all[e], &no_kinks), inputs[e]);
        assert_int_equal(cspace_encoding_inputs(all[e], &kinks), inputs[e] + 1);
    }
}

static void test_jacobian(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 7, 0);
    const double h = 1e-5;
    for (int trial = 0; trial < 200; trial++) {
        cspace_pose q = fixture_pose(&r, 2.0);
        q.theta *= 0.99; // away from the jump of the raw angle
        for (int e = 0; e < 6; e++) {
            const cspace_encoding encoding = all[e % 3];
            const cspace_fold *fold = e < 3 ? &no_kinks : &kinks;
            cspace_inputs in, low, high;
            double jacobian[3 * CSPACE_INPUTS_MAX];
            const int n = cspace_encoding_inputs(encoding, fold);
            cspace_encode(encoding, fold, &q, &in, jacobian);
            bool smooth = true;
            for (int axis = 0; axis < 3; axis++) {
                cspace_pose minus = q, plus = q;
                (axis == 0 ? &minus.theta : axis == 1 ? &minus.x : &minus.y)[0] -= h;
                (axis == 0 ? &plus.theta : axis == 1 ? &plus.x : &plus.y)[0] += h;
                cspace_encode(encoding, fold, &minus, &low, NULL);
                cspace_encode(encoding, fold, &plus, &high, NULL);
                smooth = smooth && low.kink_slope == high.kink_slope;
                for (int k = 0; smooth && k < n; k++)
                    assert_true(fabs((high.x[k] - low.x[k]) / (2 * h) - jacobian[3 * k + axis]) < 1e-9);
            }
            assert_true(smooth || trial > 0); // the first pose is no kink
            double gradient[CSPACE_INPUTS_MAX], slope[3];
            for (int k = 0; k < n; k++) gradient[k] = 2.0 * core_random_uniform(&r) - 1.0;
            cspace_encoding_chain(encoding, fold, &in, gradient, slope);
            for (int axis = 0; axis < 3; axis++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++) sum += jacobian[3 * k + axis] * gradient[k];
                assert_true(fabs(sum - slope[axis]) < 1e-14);
            }
        }
    }
}

// The normal in both frames, the lever of its line about B and about A, its component along t; scale-free.
static void test_normal(void **state) {
    (void)state;
    const cspace_pose q = {0.5 * CORE_PI, 1.0, 2.0};
    const double slope[3] = {0.3, 0.0, 0.5}, none[3] = {0.3, 0.0, 0.0}, zero[CSPACE_NORMAL_INPUTS] = {0};
    double x[CSPACE_NORMAL_INPUTS];
    cspace_encode_normal(&q, slope, x);
    const double expected[CSPACE_NORMAL_INPUTS] = {0.0, 1.0, 1.0, 0.0, 0.6, 1.6, 2.0};
    for (int k = 0; k < CSPACE_NORMAL_INPUTS; k++) assert_close(x[k], expected[k], 1e-15);
    cspace_encode_normal(&q, none, x);
    assert_memory_equal(x, zero, sizeof zero);
}

static void test_names(void **state) {
    (void)state;
    core_error err = {0};
    cspace_encoding e = CSPACE_RAW;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cspace_encoding_parse(cspace_encoding_name(all[i]), &e, &err), CORE_OK);
        assert_int_equal(e, all[i]);
    }
    assert_int_equal(cspace_encoding_parse("fourframe", &e, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "fourframe"));
    assert_int_equal(e, CSPACE_TWOFRAME); // untouched
    assert_int_equal(cspace_encoding_parse(NULL, &e, &err), CORE_ARG);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_jacobian),
                                       cmocka_unit_test(test_normal), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
