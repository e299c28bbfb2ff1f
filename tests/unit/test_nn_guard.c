/// Trainings that go wrong: they stop, say at which step and why, and hand back the best weights they had.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
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
    // The weights behind the first step, whose loss was taken before they moved, are useless: it starts from fresh
    // ones.
    nn_model model = check_stopped(&rows.data, &def,
                                   "gone wrong 5 times (before: a loss or weight that was not finite at step "
                                   "8): training: the loss is -nan at step 10 of 300 (learning rate 1.08e+27)",
                                   &report);
    assert_int_equal(report.steps, 10);
    assert_int_equal(report.best_step, 9);
    assert_int_equal(report.trouble, NN_TROUBLE_NONFINITE);
    assert_int_equal(report.trouble_step, 8);
    assert_int_equal(report.recoveries, 4);
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
    def.learning_rate = 1e41; // infinite as a float, behind the new warm-up too
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "a weight is not finite after step 5 of 30", &report);
    assert_int_equal(report.trouble_step, 4);
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
    def.learning_rate = 1e5;
    nn_train_report report;
    nn_model model = check_stopped(&rows.data, &def, "the loss has exploded to", &report);
    assert_true(report.steps >= 2 && report.steps < 30);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// A rate that breaks the net, and so do .3 and .09 of it: the training goes on each time, and learns.
static void test_goes_on_again(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1000, 3);
    nn_train_def def = nn_fixture_trouble(NN_ADAM);
    def.learning_rate = 4;
    nn_model model;
    nn_train_report report;
    core_error err = {0};
    if (nn_train(&rows.data, &def, NULL, "toy", &model, &report, &err) != CORE_OK) fail_msg("%s", err.message);
    printf("%d recoveries, the last behind step %d of %d, loss %.3g -> %.3g\n", (int)report.recoveries,
           (int)report.trouble_step, (int)report.steps, report.loss_first, report.loss_last);
    assert_true(report.recoveries >= 2 && report.recoveries <= 4);
    assert_true(report.loss_last < 0.1 * report.loss_first);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// A rate that kills a layer, and a third of it that does not: the training goes on, and learns.
static void test_goes_on(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        nn_rows rows = toy_rows(1000, 3);
        const nn_train_def def = nn_fixture_trouble((nn_optimiser)i);
        nn_train_def other = def;
        nn_model model, again;
        nn_train_report report, calm;
        core_error err = {0};
        if (nn_train(&rows.data, &def, NULL, "toy", &model, &report, &err) != CORE_OK) fail_msg("%s", err.message);
        assert_int_equal(report.trouble, NN_TROUBLE_DEAD);
        assert_true(report.trouble_step > 0 && report.trouble_step < report.steps / 2);
        assert_true(err.message[0] == '\0');
        // The same bits again, on other threads, too.
        other.threads = 3;
        assert_int_equal(nn_train(&rows.data, &other, NULL, "toy", &again, NULL, NULL), CORE_OK);
        assert_true(nn_model_hash(&model) == nn_model_hash(&again));
        nn_model_clear(&again);
        // A usual rate: no trouble.
        other.learning_rate = 0.05;
        assert_int_equal(nn_train(&rows.data, &other, NULL, "toy", &again, &calm, NULL), CORE_OK);
        assert_true(calm.trouble == NN_TROUBLE_NONE && calm.trouble_step == 0);
        printf("%s: trouble at step %d of %d, loss %.3g -> %.3g (without: %.3g)\n", nn_optimiser_name(def.optimiser),
               (int)report.trouble_step, (int)report.steps, report.loss_first, report.loss_last, calm.loss_last);
        assert_true(report.loss_last < 2 * calm.loss_last && report.loss_last < 0.01 * report.loss_first);
        nn_model_clear(&model);
        nn_model_clear(&again);
        nn_fixture_rows_clear(&rows);
    }
    assert_null(nn_trouble_name(NN_TROUBLE_NONE));
    assert_string_equal(nn_trouble_name(NN_TROUBLE_DEAD), "a layer whose units were all dead");
}

/// Where the targets are all but constant, a net whose layer dies is right: its bias is the answer.
static void test_constant_targets(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1000, 3);
    core_random random;
    core_random_init(&random, 5, 0);
    for (int i = 0; i < 1000; i++) rows.target[i] = (float)(0.25 + 1e-4 * core_random_normal(&random));
    const nn_train_def def = nn_fixture_trouble(NN_ADAM);
    nn_model model;
    nn_train_report report;
    core_error err = {0};
    if (nn_train(&rows.data, &def, NULL, "toy", &model, &report, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_int_equal(report.trouble, NN_TROUBLE_NONE);
    assert_true(report.dead_units >= def.width);
    assert_true(report.loss_last < 1e-4 && report.loss_best < 1e-5);
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
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_goes_on_again),
        cmocka_unit_test(test_constant_targets),
        cmocka_unit_test(test_dead_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
