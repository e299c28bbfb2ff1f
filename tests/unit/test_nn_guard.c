/// Trainings that go wrong: they stop, say at which step and why, and hand back the best weights they had.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "nn_fixture.h"

/// Trains, expects NOT_CONVERGED with this text, and weights that are finite; returns them and the report.
static nn_model check_stopped(const nn_data *data, const nn_train_def *def, const char *text, nn_train_report *report) {
    core_error err = {0};
    nn_model model;
    core_status status = nn_train(data, def, NULL, "toy", &model, report, &err);
    if (status != CORE_NOT_CONVERGED || !strstr(err.message, text))
        fail_msg("status %d, message '%s', expected '%s'", status, err.message, text);
    assert_int_equal(nn_model_validate(&model, NULL), CORE_OK);
    return model;
}

/// Weights of a training that has not moved yet.
static nn_model fresh_model(const nn_data *data, nn_train_def def) {
    nn_model model;
    def.learning_rate = 1e-30;
    def.epochs = 1e-6;
    assert_int_equal(nn_train(data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
    return model;
}

static void test_blow_up_names_the_step(void **state) {
    (void)state;
    nn_rows rows = toy_rows(3000, 3);
    nn_train_def def = toy_def();
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.learning_rate = 1e30;
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "at step 2 of 300", &report);
    assert_int_equal(report.steps, 1);
    assert_int_equal(report.best_step, 1); // its loss was taken before the weights moved
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// A rate that is infinite as a float breaks the weights in the first step, whose loss, taken before, is finite. What
/// is kept are the fresh weights.
static void test_blow_up_of_a_weight_is_seen(void **state) {
    (void)state;
    nn_rows rows = toy_rows(300, 3);
    nn_train_def def = toy_def();
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.learning_rate = 1e39; // infinite as a float
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "a weight is not finite after step 1 of 30", &report);
    nn_model fresh = fresh_model(&rows.data, def);
    assert_int_equal(report.best_step, 0);
    assert_true(nn_model_hash(&model) == nn_model_hash(&fresh));
    nn_model_clear(&model);
    nn_model_clear(&fresh);
    nn_fixture_rows_clear(&rows);
}

/// A loss that stays finite but leaves every bound.
static void test_explosion(void **state) {
    (void)state;
    nn_rows rows = toy_rows(300, 3);
    nn_train_def def = toy_def();
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.activation = NN_QRELU;
    def.learning_rate = 30;
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "the loss has exploded to", &report);
    assert_true(report.steps >= 2 && report.steps < 10);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// Targets far below what inputs can bring drive the units off: a net that cannot learn any more is stopped, and what
/// is kept is better than what it started with.
static void test_dead_units(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1000, 3);
    nn_train_def def = toy_def();
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.learning_rate = 0.3;
    def.gradient_weight = 0;
    def.epochs = 300;
    def.layers = 6;
    def.width = 8;
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "units of hidden layer", &report);
    assert_true(report.best_step > 0 && report.best_step <= report.steps && report.steps < 1000);
    assert_true(report.loss_best > 0);
    nn_model_clear(&model);

    // a healthy training has few; the count is that of the weights returned
    def = toy_def();
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, &report, NULL), CORE_OK);
    int dead = 0;
    for (int o = 0; o < model.width; o++) {
        bool alive = false;
        for (int i = 0; i < 1000 && !alive; i++) {
            double z = model.parameters[model.offset_bias[0] + o];
            for (int k = 0; k < 2; k++) z += model.parameters[2 * o + k] * rows.x[2 * i + k];
            alive = z > 0;
        }
        dead += !alive;
    }
    assert_true(report.dead_units >= dead && report.dead_units < model.width);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blow_up_names_the_step),
        cmocka_unit_test(test_blow_up_of_a_weight_is_seen),
        cmocka_unit_test(test_explosion),
        cmocka_unit_test(test_dead_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
