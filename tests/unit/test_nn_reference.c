/// The scalar reference against exact answers and central differences. Between two kinks the output of a ReLU net is
/// linear in any one weight and in the input, and the loss is a parabola in any one weight, so central differences are
/// exact but for rounding. QReLU bends: third derivatives times STEP^2 / 6 add some 1e-10.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "nn_fixture.h"

#define STEP 0x1p-18          // small: no unit of the fixed nets changes sign within it
#define TOLERANCE_INPUT 1e-9  // rounding 1e-16 / STEP
#define TOLERANCE_WEIGHT 2e-9 // the same, loss values of some tens

/// |x0 - x1| + 3 x1 - .25 as a net of two units.
static void test_exact_answer(void **state) {
    (void)state;
    nn_model model;
    const nn_model_def def = nn_model_default_def(2, 4, 1);
    assert_int_equal(nn_model_create(&def, &model, NULL), CORE_OK);
    const float w[] = {1, -1, -1, 1, 0, 1, 0, -1}, w_out[] = {1, 1, 3, -3};
    memcpy(model.parameters, w, sizeof w);
    memcpy(model.parameters + model.offset_weight[1], w_out, sizeof w_out);
    model.parameters[model.offset_bias[1]] = -0.25f;
    const double x[] = {2, 5, 1.5, -0.5};
    double value[2], gradient[4];
    nn_reference_forward(&model, 2, x, value, gradient);
    const double expected[] = {3 + 15 - 0.25, 2 - 1.5 - 0.25}, slopes[] = {-1, 4, 1, 2};
    for (int i = 0; i < 2; i++) assert_true(value[i] == expected[i]);
    for (int i = 0; i < 4; i++) assert_true(gradient[i] == slopes[i]);
    nn_reference_forward(&model, 0, x, NULL, NULL);
    nn_reference_forward(&model, 2, x, value, NULL);

    // loss of the first row: 2 [(17.75 - 17)^2 + .5 ((-1 * 1 + 4 * 2 - 6)^2 + (-1 * 0 + 4 * -1 - (-3))^2)]
    const float xf[] = {2, 5}, target = 17, weight = 2, jacobian[] = {1, 0, 2, -1}, slope[] = {6, -3};
    nn_data data = {.n = 1,
                    .inputs = 2,
                    .poses = 2,
                    .x = xf,
                    .target = &target,
                    .weight = &weight,
                    .jacobian = jacobian,
                    .slope = slope};
    double loss, parameter_gradient[32];
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 1, 0.5, &loss, parameter_gradient, NULL), CORE_OK);
    assert_true(fabs(loss - 2 * (0.75 * 0.75 + 0.5 * (1 + 1))) < 1e-14);
    // d/d b_out = 2 w (f - target)
    assert_true(fabs(parameter_gradient[model.offset_bias[1]] - 3) < 1e-14);
    // no weights: all one
    data.weight = NULL;
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 1, 0.5, &loss, parameter_gradient, NULL), CORE_OK);
    assert_true(fabs(loss - (0.75 * 0.75 + 0.5 * (1 + 1))) < 1e-14);
    nn_model_clear(&model);
}

/// The minimum of a parabolic unit and a constant: y = q(x) with e = .5, f = min(2 q + .25, 1).
static void test_exact_corner_and_heads(void **state) {
    (void)state;
    nn_model_def def = nn_model_default_def(1, 1, 1);
    def.activation = NN_QRELU;
    def.heads = 2;
    nn_model model;
    assert_int_equal(nn_model_create(&def, &model, NULL), CORE_OK);
    const float parameters[] = {1, 0, 2, 0, 0.25f, 1}; // weight, bias, output weights, output biases
    memcpy(model.parameters, parameters, sizeof parameters);
    // q(-1) = 0, q(-1/4) = 1/32 (slope 1/4), q(1/4) = 9/32 (3/4), q(3/8) = 49/128: the heads are 1.015625 and 1
    const double x[] = {-1, -0.25, 0.25, 0.375, 2}, expected[] = {0.25, 0.3125, 0.8125, 1, 1};
    const double slopes[] = {0, 0.5, 1.5, 0, 0};
    double value[5], gradient[5];
    nn_reference_forward(&model, 5, x, value, gradient);
    for (int i = 0; i < 5; i++) assert_true(value[i] == expected[i] && gradient[i] == slopes[i]);

    // equal heads: the first one's gradient
    model.parameters[3] = 4;
    model.parameters[4] = model.parameters[5] = 0;
    const double low = -3;
    nn_reference_forward(&model, 1, &low, value, gradient);
    assert_true(value[0] == 0 && gradient[0] == 0);
    model.parameters[1] = 5; // both outputs 0 at q = 0 only; at x = -5 + .0 q(0) = 1/8
    model.parameters[4] = 0.25f;
    const double tie = -5; // 2/8 + 1/4 = 4/8 + 0
    nn_reference_forward(&model, 1, &tie, value, gradient);
    assert_true(value[0] == 0.5 && gradient[0] == 1);
    model.parameters[2] = 4, model.parameters[3] = 2, model.parameters[4] = 0, model.parameters[5] = 0.25f;
    nn_reference_forward(&model, 1, &tie, value, gradient);
    assert_true(value[0] == 0.5 && gradient[0] == 2);
    nn_model_clear(&model);
}

static void check_input_gradient(nn_activation activation, int heads) {
    nn_model_def def = nn_model_default_def(6, 24, 3);
    def.activation = activation;
    def.heads = heads;
    nn_model model = nn_fixture_model_def(&def, 2);
    core_random random;
    core_random_init(&random, 4, 0);
    for (int i = 0; i < 40; i++) {
        double x[6], value, gradient[6];
        for (int k = 0; k < 6; k++) x[k] = core_random_normal(&random);
        nn_reference_forward(&model, 1, x, &value, gradient);
        for (int k = 0; k < 6; k++) {
            double keep = x[k], up, down;
            x[k] = keep + STEP;
            nn_reference_forward(&model, 1, x, &up, NULL);
            x[k] = keep - STEP;
            nn_reference_forward(&model, 1, x, &down, NULL);
            x[k] = keep;
            double difference = (up - down) / (2 * STEP);
            if (fabs(difference - gradient[k]) > TOLERANCE_INPUT)
                fail_msg("row %d input %d: %.12g, central difference %.12g", i, k, gradient[k], difference);
        }
    }
    nn_model_clear(&model);
}

static void test_input_gradient(void **state) {
    (void)state;
    check_input_gradient(NN_RELU, 1);
    check_input_gradient(NN_RELU, 4);
    check_input_gradient(NN_QRELU, 1);
    check_input_gradient(NN_QRELU, 8);
}

/// Every parameter of one net against central differences of the loss.
static void check_parameter_gradient(int inputs, int width, int layers, int poses, double gamma, bool weights,
                                     nn_activation activation, int heads, double clip) {
    nn_model_def def = nn_model_default_def(inputs, width, layers);
    def.activation = activation;
    def.heads = heads;
    nn_model model = nn_fixture_model_def(&def, 11);
    nn_rows rows = nn_fixture_rows(9, inputs, poses, 12);
    rows.data.clip = clip;
    if (!weights) rows.data.weight = NULL;
    const int64_t pick[] = {7, 2, 0, 7, 5};
    double loss, up, down, *gradient = core_alloc((size_t)model.count_parameters, sizeof(double)),
                           *unused = core_alloc((size_t)model.count_parameters, sizeof(double));
    assert_int_equal(nn_reference_loss(&model, &rows.data, pick, 5, gamma, &loss, gradient, NULL), CORE_OK);
    assert_true(loss > 0);
    for (int j = 0; j < model.count_parameters; j++) {
        float keep = model.parameters[j], high = keep + (float)STEP, low = keep - (float)STEP;
        model.parameters[j] = high;
        assert_int_equal(nn_reference_loss(&model, &rows.data, pick, 5, gamma, &up, unused, NULL), CORE_OK);
        model.parameters[j] = low;
        assert_int_equal(nn_reference_loss(&model, &rows.data, pick, 5, gamma, &down, unused, NULL), CORE_OK);
        model.parameters[j] = keep;
        double step = (double)high - low, difference = (up - down) / step;
        // low and high may lie a float rounding off the middle: the parabola's curvature times that shift
        double shift = fabs(((double)high + low) / 2 - keep),
               curvature = 2 * fabs(up + down - 2 * loss) / (step * step);
        if (fabs(difference - gradient[j]) > TOLERANCE_WEIGHT * (1 + loss) + 4 * shift * curvature)
            fail_msg("parameter %d of %d x %d x %d, %d heads, %s, gamma %g: %.12g, central difference %.12g", j, inputs,
                     width, layers, heads, nn_activation_name(activation), gamma, gradient[j], difference);
    }
    core_free(gradient);
    core_free(unused);
    nn_fixture_rows_clear(&rows);
    nn_model_clear(&model);
}

static void test_parameter_gradient(void **state) {
    (void)state;
    for (int heads = 1; heads <= 7; heads += 3) {
        for (int i = 0; i < 4; i++) {
            const nn_activation activation = i % 2 ? NN_QRELU : NN_RELU;
            const double clip = i < 2 ? 0 : 0.7; // about half of the errors are beyond
            check_parameter_gradient(6, 12, 3, 3, 0, true, activation, heads, clip);
            check_parameter_gradient(6, 12, 3, 0, 1, true, activation, heads, clip);
            check_parameter_gradient(6, 12, 3, 3, 0.7, true, activation, heads, clip);
            check_parameter_gradient(6, 12, 3, 3, 0.7, false, activation, heads, clip);
            check_parameter_gradient(1, 5, 1, 1, 3, true, activation, heads, clip);
            check_parameter_gradient(3, 8, 5, 2, 0.1, true, activation, heads, clip);
        }
    }
}

/// A net that is zero everywhere: the errors are the targets.
static void test_clipped_loss(void **state) {
    (void)state;
    const nn_model_def def = nn_model_default_def(1, 2, 1);
    nn_model model;
    assert_int_equal(nn_model_create(&def, &model, NULL), CORE_OK);
    const float x[] = {1, 2, 3, 4}, target[] = {0.25f, -0.5f, 3, -2}, weight[] = {1, 1, 2, 1};
    nn_data data = {.n = 4, .inputs = 1, .x = x, .target = target, .weight = weight, .clip = 0.5};
    double loss, gradient[16];
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 4, 0, &loss, gradient, NULL), CORE_OK);
    assert_true(loss == (0.0625 + 0.25 + 2 * 0.5 * (6 - 0.5) + 0.5 * (4 - 0.5)) / 4);
    // Of the output's bias, the last parameter: -2 w times the clipped errors.
    assert_true(gradient[model.count_parameters - 1] == -2 * (0.25 - 0.5 + 2 * 0.5 - 0.5) / 4);
    data.clip = 3; // nothing is beyond
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 4, 0, &loss, gradient, NULL), CORE_OK);
    assert_true(loss == (0.0625 + 0.25 + 18 + 4) / 4);
    data.clip = -1;
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 4, 0, &loss, gradient, NULL), CORE_RANGE);
    nn_model_clear(&model);
}

static void test_bad_arguments(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(3, 4, 2, 1);
    nn_rows rows = nn_fixture_rows(5, 3, 2, 1);
    core_error err = {0};
    double loss = 77, gradient[64];
    nn_data data = rows.data;
    assert_int_equal(nn_reference_loss(&model, NULL, NULL, 1, 0, &loss, gradient, NULL), CORE_ARG);
    assert_int_equal(nn_reference_loss(NULL, &data, NULL, 1, 0, &loss, gradient, NULL), CORE_ARG);
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 0, 0, &loss, gradient, NULL), CORE_RANGE);
    data.jacobian = NULL;
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 1, 0, &loss, gradient, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "jacobian"));
    data = rows.data;
    data.inputs = 2;
    assert_int_equal(nn_reference_loss(&model, &data, NULL, 1, 0, &loss, gradient, &err), CORE_ARG);
    assert_true(loss == 77);
    nn_fixture_rows_clear(&rows);
    nn_model_clear(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_answer),   cmocka_unit_test(test_exact_corner_and_heads),
        cmocka_unit_test(test_input_gradient), cmocka_unit_test(test_parameter_gradient),
        cmocka_unit_test(test_clipped_loss),   cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
