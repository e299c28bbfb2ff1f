// Encodings: values, Jacobians against central differences, the chain rule against the Jacobian, names.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const cspace_encoding all[] = {CSPACE_RAW, CSPACE_SINCOS, CSPACE_TWOFRAME};

static void test_values(void **state) {
    (void)state;
    const cspace_pose q = {2.0 + 4.0 * CORE_PI, 0.3, -0.7}; // wrapped where it matters
    double x[CSPACE_INPUTS_MAX];
    cspace_encode(CSPACE_RAW, &q, x, NULL);
    assert_true(fabs(x[0] - 2.0 / CORE_PI) < 1e-14 && x[1] == 0.3 && x[2] == -0.7);
    cspace_encode(CSPACE_TWOFRAME, &q, x, NULL);
    const double expected[] = {
        cos(2.0), sin(2.0), 0.3, -0.7, cos(2.0) * 0.3 - sin(2.0) * 0.7, -sin(2.0) * 0.3 - cos(2.0) * 0.7};
    for (int k = 0; k < 6; k++) assert_true(fabs(x[k] - expected[k]) < 1e-14);
    double y[CSPACE_INPUTS_MAX];
    cspace_encode(CSPACE_SINCOS, &q, y, NULL);
    assert_memory_equal(x, y, 4 * sizeof *x);
    const int inputs[] = {3, 4, 6};
    for (int e = 0; e < 3; e++) assert_int_equal(cspace_encoding_inputs(all[e]), inputs[e]);
}

static void test_jacobian(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 7, 0);
    const double h = 1e-5;
    for (int trial = 0; trial < 200; trial++) {
        cspace_pose q = fixture_pose(&r, 2.0);
        q.theta *= 0.99; // away from the jump of the raw angle
        for (int e = 0; e < 3; e++) {
            double x[6], low[6], high[6], jacobian[18];
            const int n = cspace_encoding_inputs(all[e]);
            cspace_encode(all[e], &q, x, jacobian);
            for (int axis = 0; axis < 3; axis++) {
                cspace_pose minus = q, plus = q;
                (axis == 0 ? &minus.theta : axis == 1 ? &minus.x : &minus.y)[0] -= h;
                (axis == 0 ? &plus.theta : axis == 1 ? &plus.x : &plus.y)[0] += h;
                cspace_encode(all[e], &minus, low, NULL);
                cspace_encode(all[e], &plus, high, NULL);
                for (int k = 0; k < n; k++)
                    assert_true(fabs((high[k] - low[k]) / (2 * h) - jacobian[3 * k + axis]) < 1e-9);
            }
            double gradient[6], slope[3];
            for (int k = 0; k < n; k++) gradient[k] = 2.0 * core_random_uniform(&r) - 1.0;
            cspace_encoding_chain(all[e], x, gradient, slope);
            for (int axis = 0; axis < 3; axis++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++) sum += jacobian[3 * k + axis] * gradient[k];
                assert_true(fabs(sum - slope[axis]) < 1e-14);
            }
        }
    }
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
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
