/// An interrupted training goes on to the same bits; states in files; states that do not fit are refused.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn_fixture.h"

enum { ROWS = 700 };

static nn_train_def resume_def(nn_optimiser optimiser) {
    nn_train_def def = nn_train_default_def();
    def.layers = 2;
    def.width = 8;
    def.batch = 200;
    def.epochs = 20; // 70 steps: batches straddle epochs
    def.optimiser = optimiser;
    def.activation = optimiser == NN_SOAP ? NN_QRELU : NN_RELU;
    def.heads = optimiser == NN_SOAP ? 2 : 1;
    return def;
}

/// Copies the state at the wanted call and ends the training there.
typedef struct interruption {
    int calls, at;
    nn_train_state *state;
} interruption;

static core_status interrupt(void *user, const nn_train_state *state, core_error *err) {
    interruption *i = user;
    if (++i->calls != i->at) return CORE_OK;
    core_status status = nn_train_state_copy(state, &i->state, err);
    return status == CORE_OK ? CORE_FAIL(err, CORE_IO, "interrupted") : status;
}

/// Trains up to the at-th call of save.
static nn_train_state *train_part(const nn_data *data, nn_train_def def, int at) {
    interruption stop = {.at = at};
    nn_model model = {.width = 3};
    nn_train_report report = {.steps = 77};
    core_error err = {0};
    def.save = interrupt;
    def.save_user = &stop;
    assert_int_equal(nn_train(data, &def, NULL, "toy", &model, &report, &err), CORE_IO);
    assert_string_equal(err.message, "interrupted");
    assert_null(model.parameters);
    assert_int_equal(report.steps, 77);
    assert_non_null(stop.state);
    return stop.state;
}

static core_status read_state(const char *path, nn_train_state **state, core_error *err) {
    core_h5 *file;
    assert_int_equal(core_h5_open(path, "cem.test", 1, &file, NULL), CORE_OK);
    core_status status = nn_train_state_read_h5(file, "/training", state, err);
    core_h5_close(&file);
    return status;
}

static const char *write_state(char path[TEST_PATH_MAX], const nn_train_state *state) {
    core_h5 *file;
    test_folder_path(path, "state.h5");
    assert_int_equal(core_h5_create(path, "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(nn_train_state_write_h5(file, "/training", state, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    return path;
}

/// The state after a journey through a file.
static nn_train_state *through_file(nn_train_state *state) {
    char path[TEST_PATH_MAX];
    nn_train_state *read = NULL;
    core_error err = {0};
    if (read_state(write_state(path, state), &read, &err) != CORE_OK) fail_msg("%s", err.message);
    nn_train_state_destroy(&state);
    assert_null(state);
    return read;
}

static void check_same_reports(const nn_train_report *a, const nn_train_report *b) {
    assert_true(a->steps == b->steps && a->epochs == b->epochs && a->best_step == b->best_step);
    assert_true(a->loss_first == b->loss_first && a->loss_last == b->loss_last && a->loss_best == b->loss_best);
    assert_int_equal(a->dead_units, b->dead_units);
    assert_true(a->trouble == b->trouble && a->trouble_step == b->trouble_step && a->recoveries == b->recoveries);
}

/// Stopped behind a step and gone on with, on two threads: weights and report of the whole training.
static void check_goes_on(const nn_data *data, const nn_train_def *def, int stop, const nn_model *whole,
                          const nn_train_report *expected) {
    nn_train_state *part = through_file(train_part(data, *def, stop));
    nn_model model;
    nn_train_report report;
    int64_t step, steps;
    nn_train_state_progress(part, &step, &steps);
    assert_true(step == stop && steps == expected->steps);
    nn_train_def rest = *def;
    rest.resume = part;
    rest.threads = 2;
    rest.epochs = 3; // not used
    assert_int_equal(nn_train(data, &rest, NULL, "toy", &model, &report, NULL), CORE_OK);
    if (nn_model_hash(&model) != nn_model_hash(whole))
        fail_msg("%s stopped after step %d: other weights", nn_optimiser_name(def->optimiser), stop);
    check_same_reports(&report, expected);
    nn_train_state_destroy(&part);
    nn_model_clear(&model);
}

/// Interrupted after one step, within and at the end of an epoch, beside SOAP's updates, before the last step and after
/// it; resumed on another number of threads.
static void test_same_bits(void **state) {
    (void)state;
    nn_rows rows = nn_fixture_rows(ROWS, 4, 2, 1);
    static const int stops[] = {1, 2, 7, 9, 10, 11, 35, 69, 70};
    for (int optimiser = 0; optimiser < 2; optimiser++) {
        nn_train_def def = resume_def((nn_optimiser)optimiser);
        nn_model whole;
        nn_train_report expected;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &whole, &expected, NULL), CORE_OK);
        assert_int_equal(expected.steps, 70);
        for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
            check_goes_on(&rows.data, &def, stops[i], &whole, &expected);
        nn_model_clear(&whole);
    }
    nn_fixture_rows_clear(&rows);
}

/// Stretches of several steps, and one interruption after another.
static void test_again_and_again(void **state) {
    (void)state;
    nn_rows rows = nn_fixture_rows(ROWS, 4, 2, 1);
    nn_train_def def = resume_def(NN_SOAP);
    def.epochs = 200; // 700 steps, stretches of three
    nn_model whole, model;
    nn_train_report expected, report;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &whole, &expected, NULL), CORE_OK);
    nn_train_def part = def;
    nn_train_state *saved = train_part(&rows.data, part, 11);
    for (int i = 0; i < 4; i++) {
        part.resume = saved;
        nn_train_state *next = through_file(train_part(&rows.data, part, 50));
        nn_train_state_destroy(&saved);
        saved = next;
    }
    part.resume = saved;
    assert_int_equal(nn_train(&rows.data, &part, NULL, "toy", &model, &report, NULL), CORE_OK);
    assert_true(nn_model_hash(&model) == nn_model_hash(&whole));
    check_same_reports(&report, &expected);
    nn_train_state_destroy(&saved);
    nn_model_clear(&model);
    nn_model_clear(&whole);
    nn_fixture_rows_clear(&rows);
}

/// Interrupted before a training goes wrong, right behind that, and while it recovers.
static void test_trouble(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1000, 3);
    for (int optimiser = 0; optimiser < 2; optimiser++) {
        const nn_train_def def = nn_fixture_trouble((nn_optimiser)optimiser);
        nn_model whole;
        nn_train_report expected;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &whole, &expected, NULL), CORE_OK);
        const int step = (int)expected.trouble_step;
        assert_true(step > 1);
        const int stops[] = {step - 1, step, step + 1, step + 25, 332};
        for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
            check_goes_on(&rows.data, &def, stops[i], &whole, &expected);
        nn_model_clear(&whole);
    }
    nn_fixture_rows_clear(&rows);
}

/// Gives the training up at the wanted step.
static core_status give_up(void *user, const nn_train_state *state, core_error *err) {
    int64_t step, steps;
    nn_train_state_progress(state, &step, &steps);
    return step == *(const int64_t *)user ? CORE_FAIL(err, CORE_NOT_CONVERGED, "given up") : CORE_OK;
}

/// The best weights are from before the interruption: they are handed back after it as well.
static void test_best_weights_survive(void **state) {
    (void)state;
    nn_rows rows = nn_fixture_rows(ROWS, 4, 2, 1);
    nn_train_def def = resume_def(NN_ADAM);
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.learning_rate = 1e-6; // the best batch is a matter of chance
    nn_train_state *saved = train_part(&rows.data, def, 60);
    int64_t last = 62;
    nn_model models[2];
    nn_train_report reports[2];
    def.save = give_up;
    def.save_user = &last;
    for (int i = 0; i < 2; i++) {
        def.resume = i ? saved : NULL;
        core_status status = nn_train(&rows.data, &def, NULL, "toy", &models[i], &reports[i], NULL);
        assert_int_equal(status, CORE_NOT_CONVERGED);
        if (!(reports[i].best_step > 0 && reports[i].best_step < 60 && reports[i].steps == last))
            fail_msg("best step %d, steps %d", (int)reports[i].best_step, (int)reports[i].steps);
    }
    assert_true(nn_model_hash(&models[0]) == nn_model_hash(&models[1]));
    check_same_reports(&reports[0], &reports[1]);
    for (int i = 0; i < 2; i++) nn_model_clear(&models[i]);
    nn_train_state_destroy(&saved);
    nn_fixture_rows_clear(&rows);
}

static void test_other_trainings_are_refused(void **state) {
    (void)state;
    nn_rows rows = nn_fixture_rows(ROWS, 4, 2, 1);
    nn_train_state *saved = train_part(&rows.data, resume_def(NN_ADAM), 5);
    nn_model model;
    core_error err = {0};
    float *arrays[] = {rows.x, rows.target, rows.weight, rows.jacobian, rows.slope};
    for (int i = 0; i <= 5; i++) {
        nn_train_def def = resume_def(NN_ADAM);
        def.resume = saved;
        float *changed = arrays[i % 5] + ROWS - 1, kept = *changed;
        if (i < 5)
            *changed += 1;
        else
            rows.data.weight = NULL;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, &err), CORE_ARG);
        assert_non_null(strstr(err.message, "other rows or other options"));
        assert_null(model.parameters);
        *changed = kept;
        rows.data.weight = rows.weight;
    }
    // and without a change it is accepted
    nn_train_def same = resume_def(NN_ADAM);
    same.resume = saved;
    assert_int_equal(nn_train(&rows.data, &same, NULL, "toy", &model, NULL, &err), CORE_OK);
    nn_model_clear(&model);
#define CHECK_FIELD(field, value)                                                                                      \
    do {                                                                                                               \
        nn_train_def def = resume_def(NN_ADAM);                                                                        \
        def.resume = saved;                                                                                            \
        def.field = (value);                                                                                           \
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, &err), CORE_ARG);                       \
    } while (0)
    CHECK_FIELD(width, 9);
    CHECK_FIELD(heads, 2);
    CHECK_FIELD(activation, NN_QRELU);
    CHECK_FIELD(batch, 201);
    CHECK_FIELD(learning_rate, 0.02);
    CHECK_FIELD(schedule, NN_SCHEDULE_CONSTANT);
    CHECK_FIELD(gradient_weight, 0.1);
    CHECK_FIELD(optimiser, NN_SOAP);
    CHECK_FIELD(beta1, 0.8);
    CHECK_FIELD(seed, 2);
#undef CHECK_FIELD
    nn_train_state_destroy(&saved);
    nn_train_state_destroy(NULL);
    nn_fixture_rows_clear(&rows);
}

/// Replaces one attribute of a state's file and reads it.
static void check_attribute(const nn_train_state *saved, const char *name, bool text, int64_t value,
                            const char *message) {
    char path[TEST_PATH_MAX];
    core_h5 *file;
    core_error err = {0};
    nn_train_state *read = NULL;
    test_folder_path(path, "bad.h5");
    assert_int_equal(core_h5_create(path, "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(nn_train_state_write_h5(file, "/training", saved, NULL), CORE_OK);
    if (text)
        assert_int_equal(core_h5_set_text(file, "/training", name, "0123456789abcdeF", NULL), CORE_OK);
    else
        assert_int_equal(core_h5_set_integer(file, "/training", name, value, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    core_status status = read_state(path, &read, &err);
    if (status != CORE_FORMAT || !strstr(err.message, message))
        fail_msg("status %d, message '%s', expected '%s'", status, err.message, message);
    assert_null(read);
}

static void test_damaged_files(void **state) {
    (void)state;
    nn_rows rows = nn_fixture_rows(ROWS, 4, 2, 1);
    nn_train_state *saved = train_part(&rows.data, resume_def(NN_SOAP), 5), *read = NULL;
    check_attribute(saved, "step", false, 0, "step 0 of 70");
    check_attribute(saved, "step", false, 71, "step 71 of 70");
    check_attribute(saved, "steps", false, INT64_MAX, "step 5 of 9223372036854775807");
    check_attribute(saved, "best_step", false, 6, "best_step 6");
    check_attribute(saved, "best_step", false, -1, "best_step -1");
    check_attribute(saved, "identity", true, 0, "identity is '0123456789abcdeF'");
    char path[TEST_PATH_MAX];
    core_h5 *file;
    assert_int_equal(core_h5_open(write_state(path, saved), "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(nn_train_state_read_h5(file, "/none", &read, NULL), CORE_FORMAT);
    core_status status = CORE_MEMORY;
    uint64_t calls = 0;
    while (status == CORE_MEMORY) {
        core_alloc_fail_after(++calls);
        status = nn_train_state_read_h5(file, "/training", &read, NULL);
        if (status != CORE_OK) assert_null(read);
    }
    core_alloc_fail_after(0);
    assert_int_equal(status, CORE_OK);
    assert_true(calls > 6);
    core_h5_close(&file);
    nn_train_state_destroy(&read);
    for (uint64_t i = 1; i <= 6; i++) {
        core_alloc_fail_after(i);
        assert_int_equal(nn_train_state_copy(saved, &read, NULL), CORE_MEMORY);
        assert_null(read);
    }
    core_alloc_fail_after(0);
    assert_int_equal(nn_train_state_copy(NULL, &read, NULL), CORE_ARG);
    nn_train_state_destroy(&saved);
    nn_fixture_rows_clear(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_again_and_again),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_best_weights_survive),
        cmocka_unit_test(test_other_trainings_are_refused),
        cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
