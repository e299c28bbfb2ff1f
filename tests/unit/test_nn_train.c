/// The training loop: learns, is the same for any number of threads, uses every row once per epoch, refuses with names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn_fixture.h"

static void test_defaults(void **state) {
    (void)state;
    nn_train_def def = nn_train_default_def();
    assert_true(def.layers == 3 && def.width == 32 && def.batch == 1024 && def.schedule == NN_SCHEDULE_COSINE);
    assert_true(def.learning_rate == 1e-2 && def.gradient_weight == 0.003 && def.seconds == 0);
    assert_true(def.beta1 == 0.9 && def.beta2 == 0.999 && def.eps == 1e-8);
}

/// The net can be exact; its errors at rows it has not seen. Slopes are quite wrong between a true kink and the learned
/// one: a count.
static void test_learns(void **state) {
    (void)state;
    nn_rows rows = toy_rows(5000, 1), held_out = toy_rows(500, 2);
    nn_train_def def = toy_def();
    def.epochs = 120;
    def.gradient_weight = 0.01;
    nn_model model;
    nn_train_report report;
    core_error err = {0};
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, &report, &err), CORE_OK);
    double square = 0;
    int count_wrong = 0;
    for (int i = 0; i < 500; i++) {
        double x[2] = {held_out.x[2 * i], held_out.x[2 * i + 1]}, value, g[2], wrong = 0;
        nn_reference_forward(&model, 1, x, &value, g);
        square += pow(value - held_out.target[i], 2) / 500;
        for (int p = 0; p < 2; p++)
            wrong += fabs(held_out.jacobian[4 * i + p] * g[0] + held_out.jacobian[4 * i + 2 + p] * g[1] -
                          held_out.slope[2 * i + p]);
        count_wrong += wrong > 0.5;
    }
    if (!(sqrt(square) < 0.006 && count_wrong <= 25))
        fail_msg("value error %g, %d of 500 slopes wrong", sqrt(square), count_wrong);
    assert_int_equal(report.steps, 2000);
    assert_true(fabs(report.epochs - 120) < 1e-12);
    assert_true(report.loss_first > 0.1 && report.loss_last < 1e-3);
    assert_true(report.seconds > 0 && report.samples_per_second > 0);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
    nn_fixture_rows_clear(&held_out);
}

/// The other optimiser, activation and heads learn the same function.
static void test_learns_with_soap(void **state) {
    (void)state;
    nn_rows rows = toy_rows(5000, 1);
    nn_train_def def = toy_def();
    def.optimiser = NN_SOAP;
    def.activation = NN_QRELU;
    def.heads = 2;
    nn_model model;
    nn_train_report report;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, &report, NULL), CORE_OK);
    assert_true(model.activation == NN_QRELU && model.heads == 2);
    if (!(report.loss_first > 0.1 && report.loss_last < 1e-3))
        fail_msg("losses %g and %g", report.loss_first, report.loss_last);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// Mean square error of the slopes after training on x0 with noisy targets and exact slopes.
static double slope_error_after(double gradient_weight) {
    enum { N = 100 };
    nn_rows rows = toy_rows(N, 1);
    core_random random;
    core_random_init(&random, 8, 0);
    for (int i = 0; i < N; i++) {
        rows.target[i] = rows.x[2 * i] + 0.5f * (float)core_random_normal(&random);
        memcpy(rows.jacobian + 4 * i, (float[]){1, 0, 0, 1}, 4 * sizeof(float));
        memcpy(rows.slope + 2 * i, (float[]){1, 0}, 2 * sizeof(float));
    }
    nn_train_def def = toy_def();
    def.batch = N;
    def.epochs = 1500;
    def.gradient_weight = gradient_weight;
    nn_model model;
    double with, without, *unused;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
    unused = core_alloc((size_t)model.count_parameters, sizeof(double));
    assert_int_equal(nn_reference_loss(&model, &rows.data, NULL, N, 1, &with, unused, NULL), CORE_OK);
    assert_int_equal(nn_reference_loss(&model, &rows.data, NULL, N, 0, &without, unused, NULL), CORE_OK);
    core_free(unused);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
    return with - without;
}

/// Without the gradient term the net follows the noise, with it it does not.
static void test_gradient_term_acts(void **state) {
    (void)state;
    double with = slope_error_after(10), without = slope_error_after(0);
    if (!(with < 0.02 && without > 0.5))
        fail_msg("mean square slope error %g with the term, %g without", with, without);
}

static void test_same_bits_for_any_threads(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1111, 3);
    for (int kind = 0; kind < 4; kind++) {
        const int gradient = kind % 2;
        nn_train_def def = toy_def();
        def.optimiser = kind < 2 ? NN_ADAM : NN_SOAP;
        def.activation = kind < 2 ? NN_RELU : NN_QRELU;
        def.heads = kind < 2 ? 1 : 3;
        def.epochs = 7;
        def.batch = 700;
        def.gradient_weight = gradient ? 0.01 : 0;
        uint64_t hash = 0;
        for (def.threads = 1; def.threads <= 3; def.threads++) {
            nn_model model;
            assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
            if (def.threads == 1) hash = nn_model_hash(&model);
            assert_true(nn_model_hash(&model) == hash);
            nn_model_clear(&model);
        }
        def.threads = 64; // more than shards
        def.seed++;       // and the seed matters
        nn_model model;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
        assert_true(nn_model_hash(&model) != hash);
        nn_model_clear(&model);
    }
    nn_fixture_rows_clear(&rows);
}

// ---------------------------------------------------------------------------------------------- order of rows,
// schedule

/// What a progress listener saw.
typedef struct seen {
    int count;
    double loss[200], done[200], total;
    char stage[32];
} seen;

static void listen(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    seen *s = user;
    assert_string_equal(unit, "samples");
    assert_true(s->count < 200);
    snprintf(s->stage, sizeof s->stage, "%s", stage);
    s->loss[s->count] = strtod(strstr(note, "loss ") + 5, NULL);
    s->done[s->count++] = done;
    s->total = total;
}

/// Trains with few enough steps that each one is reported.
static seen train_and_listen(const nn_data *data, const nn_train_def *def, nn_train_report *report) {
    seen s = {0};
    nn_model model;
    const core_progress progress = {listen, &s};
    assert_int_equal(nn_train(data, def, &progress, "toy", &model, report, NULL), CORE_OK);
    nn_model_clear(&model);
    assert_int_equal(s.count, report->steps);
    return s;
}

/// One row alone has a weight: it must show up once in each epoch, at a different step each time.
static void test_each_row_once_per_epoch(void **state) {
    (void)state;
    nn_rows rows = toy_rows(105, 3);
    nn_train_def def = toy_def();
    def.batch = 10;
    def.epochs = 16;
    def.learning_rate = 1e-9;
    nn_train_report report;
    int firsts[10] = {0};
    for (int marked = 0; marked < 105; marked += 8) {
        for (int i = 0; i < 105; i++) rows.weight[i] = i == marked;
        seen s = train_and_listen(&rows.data, &def, &report);
        assert_int_equal(report.steps, 168);
        // the loss of a step is a multiple of the row's; two epochs are 21 steps
        double one = 0;
        for (int i = 0; i < 168; i++)
            if (s.loss[i] > 0 && (one == 0 || s.loss[i] < one)) one = s.loss[i];
        for (int pair = 0; pair < 8; pair++) {
            double times = 0;
            for (int i = 21 * pair; i < 21 * (pair + 1); i++) times += s.loss[i] / one;
            if (!(fabs(times - 2) < 0.01))
                fail_msg("row %d was used %g times in epochs %d and %d", marked, times, 2 * pair, 2 * pair + 1);
            for (int i = 21 * pair; i < 21 * pair + 10; i++)
                if (s.loss[i] > 0) firsts[i - 21 * pair]++;
        }
    }
    // 112 draws over 10.5 steps: no step is always or never the one
    for (int i = 0; i < 10; i++) assert_true(firsts[i] >= 1 && firsts[i] <= 30);
    nn_fixture_rows_clear(&rows);
}

/// Two rows, one per step: which comes first changes from one epoch to the next about every second time.
static void test_epochs_have_orders_of_their_own(void **state) {
    (void)state;
    enum { EPOCHS = 90 };
    nn_rows rows = toy_rows(2, 3);
    nn_train_def def = toy_def();
    nn_train_report report;
    def.batch = 1;
    def.epochs = EPOCHS;
    def.learning_rate = 1e-9;
    rows.weight[1] = 0;
    seen s = train_and_listen(&rows.data, &def, &report);
    int count_changed = 0;
    for (int i = 2; i < 2 * EPOCHS; i += 2) count_changed += (s.loss[i] > 0) != (s.loss[i - 2] > 0);
    if (count_changed < 25 || count_changed > 65) fail_msg("changed %d times in %d epochs", count_changed, EPOCHS);
    nn_fixture_rows_clear(&rows);
}

/// Steps over all rows at once (three shards) are those of the reference's gradient with Adam.
static void test_steps_are_those_of_the_reference(void **state) {
    (void)state;
    enum { N = 300, STEPS = 5 };
    nn_rows rows = toy_rows(N, 3);
    nn_train_def def = toy_def();
    def.schedule = NN_SCHEDULE_CONSTANT;
    def.gradient_weight = 0.1;
    def.epochs = STEPS;
    def.eps = 0.1; // Adam without it does not see the size of the gradient
    nn_model trained, model;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &trained, NULL, NULL), CORE_OK);
    double rate = def.learning_rate;
    def.learning_rate = 1e-30; // the fresh weights
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);

    int n = model.count_parameters;
    double loss, *gradient = core_alloc((size_t)n, sizeof(double)), difference = 0, moved = 0;
    float *rounded = core_alloc((size_t)n, sizeof(float)), *start = core_alloc((size_t)n, sizeof(float));
    memcpy(start, model.parameters, (size_t)n * sizeof(float));
    nn_adam adam;
    assert_int_equal(nn_adam_create(n, def.beta1, def.beta2, def.eps, &adam, NULL), CORE_OK);
    for (int t = 0; t < STEPS; t++) {
        assert_int_equal(nn_reference_loss(&model, &rows.data, NULL, N, 0.1, &loss, gradient, NULL), CORE_OK);
        for (int i = 0; i < n; i++) rounded[i] = (float)gradient[i];
        nn_adam_step(&adam, rate, rounded, model.parameters);
    }
    for (int i = 0; i < n; i++) {
        difference += fabsf(model.parameters[i] - trained.parameters[i]) / n;
        moved += fabsf(model.parameters[i] - start[i]) / n;
    }
    if (!(difference < 1e-3 * moved)) fail_msg("parameters moved by %g and differ by %g on average", moved, difference);
    nn_adam_clear(&adam);
    core_free(gradient);
    core_free(rounded);
    core_free(start);
    nn_model_clear(&trained);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

static void test_progress_and_report(void **state) {
    (void)state;
    nn_rows rows = toy_rows(200, 3);
    nn_train_def def = toy_def();
    def.batch = 50;
    def.epochs = 5;
    nn_train_report report;
    seen s = train_and_listen(&rows.data, &def, &report);
    assert_string_equal(s.stage, "toy");
    assert_true(s.total == 1000 && s.done[0] == 50 && s.done[19] == 1000);
    assert_true(fabs(report.loss_first / s.loss[0] - 1) < 1e-3 && fabs(report.loss_last / s.loss[19] - 1) < 1e-3);

    // less than a step is one step
    def.epochs = 1e-6;
    s = train_and_listen(&rows.data, &def, &report);
    assert_int_equal(report.steps, 1);
    assert_true(report.epochs == 0.25);
    nn_fixture_rows_clear(&rows);
}

/// A batch larger than the data and one row alone.
static void test_small_data(void **state) {
    (void)state;
    nn_rows rows = toy_rows(3, 3);
    nn_train_def def = toy_def();
    def.epochs = 20000;
    nn_model model;
    nn_train_report report;
    for (rows.data.n = 1; rows.data.n <= 3; rows.data.n += 2) {
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, &report, NULL), CORE_OK);
        assert_int_equal(report.steps, lround(20000.0 * (double)rows.data.n / 300));
        assert_true(report.loss_last < report.loss_first);
        nn_model_clear(&model);
    }
    nn_fixture_rows_clear(&rows);
}

/// Step sizes of Adam with a gradient of constant sign are the rate: one weight of the net follows the schedule.
static void test_schedule(void **state) {
    (void)state;
    // target far away: every step of the output's bias is close to the rate
    nn_rows rows = toy_rows(8, 3);
    for (int i = 0; i < 8; i++) rows.target[i] = 1e6f;
    nn_train_def def = toy_def();
    def.batch = 8;
    def.learning_rate = 1e-3;
    def.gradient_weight = 0;
    double moved[2];
    for (int cosine = 0; cosine < 2; cosine++) {
        nn_model model, start;
        def.schedule = cosine ? NN_SCHEDULE_COSINE : NN_SCHEDULE_CONSTANT;
        def.epochs = 400;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
        def.learning_rate = 1e-30;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &start, NULL, NULL), CORE_OK);
        def.learning_rate = 1e-3;
        int last = model.count_parameters - 1;
        moved[cosine] = (double)model.parameters[last] - start.parameters[last];
        nn_model_clear(&model);
        nn_model_clear(&start);
    }
    assert_true(fabs(moved[0] - 0.4) < 0.002);
    // warm-up: 5 % of the steps at half the rate on average; then a cosine's mean, one half
    assert_true(fabs(moved[1] - 0.4 * (0.05 * 0.5 + 0.95 * 0.5)) < 0.002);
    nn_fixture_rows_clear(&rows);
}

/// Seconds only choose the number of steps: as many epochs give the same bits.
static void test_seconds_are_epochs(void **state) {
    (void)state;
    nn_rows rows = toy_rows(1000, 3);
    nn_train_def def = toy_def();
    def.seconds = 0.2;
    nn_model timed, counted;
    nn_train_report report, again;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &timed, &report, NULL), CORE_OK);
    assert_true(report.steps > 1);
    def.seconds = 0;
    def.epochs = report.epochs;
    assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &counted, &again, NULL), CORE_OK);
    assert_int_equal(again.steps, report.steps);
    assert_true(nn_model_hash(&timed) == nn_model_hash(&counted));
    nn_model_clear(&timed);
    nn_model_clear(&counted);
    nn_fixture_rows_clear(&rows);
}

// ---------------------------------------------------------------------------------------------- failures

static void check_refused(const nn_data *data, const nn_train_def *def, core_status code, const char *text) {
    core_error err = {0};
    nn_model model = {.width = 3};
    nn_train_report report = {.steps = 77};
    core_status status = nn_train(data, def, NULL, "toy", &model, &report, &err);
    if (status != code || !strstr(err.message, text))
        fail_msg("status %d, expected %d; message '%s', expected '%s'", status, code, err.message, text);
    assert_null(model.parameters);
    assert_int_equal(report.steps, 77);
}

static void test_bad_fields(void **state) {
    (void)state;
    nn_rows rows = toy_rows(50, 3);
    const nn_data *data = &rows.data;
    nn_train_def def = {0};
    check_refused(data, &def, CORE_ARG, "nn_train_default_def");
    check_refused(data, NULL, CORE_ARG, "nn_train_default_def");
#define CHECK_FIELD(field, value)                                                                                      \
    do {                                                                                                               \
        def = toy_def();                                                                                               \
        def.field = (value);                                                                                           \
        check_refused(data, &def, CORE_RANGE, #field);                                                                 \
    } while (0)
    CHECK_FIELD(layers, 0);
    CHECK_FIELD(layers, NN_LAYERS_MAX + 1);
    CHECK_FIELD(width, 0);
    CHECK_FIELD(heads, 0);
    CHECK_FIELD(activation, (nn_activation)2);
    CHECK_FIELD(optimiser, (nn_optimiser)2);
    CHECK_FIELD(epochs, 0);
    CHECK_FIELD(epochs, NAN);
    CHECK_FIELD(epochs, 1e300);
    CHECK_FIELD(seconds, -1);
    CHECK_FIELD(seconds, INFINITY);
    CHECK_FIELD(batch, 0);
    CHECK_FIELD(batch, 1 << 30);
    CHECK_FIELD(learning_rate, 0);
    CHECK_FIELD(learning_rate, NAN);
    CHECK_FIELD(schedule, (nn_schedule)7);
    CHECK_FIELD(gradient_weight, -1);
    CHECK_FIELD(gradient_weight, INFINITY);
    CHECK_FIELD(beta1, 1);
    CHECK_FIELD(beta2, -0.5);
    CHECK_FIELD(eps, 0);
    CHECK_FIELD(threads, 0);
#undef CHECK_FIELD
    def = toy_def();
    assert_int_equal(nn_train(data, &def, NULL, "toy", NULL, NULL, NULL), CORE_ARG);
    nn_fixture_rows_clear(&rows);
}

static void test_bad_data(void **state) {
    (void)state;
    nn_train_def def = toy_def();
    nn_rows rows = toy_rows(50, 3);
    float *arrays[] = {rows.x, rows.target, rows.weight, rows.jacobian, rows.slope};
    const char *names[] = {"x of row 31", "target of row 31", "weight of row 31", "jacobian of row 31",
                           "slope of row 31"};
    const int columns[] = {2, 1, 1, 4, 2};
    for (int i = 0; i < 5; i++) {
        float *element = arrays[i] + 31 * columns[i] + columns[i] - 1, keep = *element;
        *element = i % 2 ? INFINITY : NAN;
        check_refused(&rows.data, &def, CORE_NONFINITE, names[i]);
        *element = keep;
    }
    rows.weight[4] = -1;
    check_refused(&rows.data, &def, CORE_RANGE, "weight of row 4");
    rows.weight[4] = 1;
    nn_data data = rows.data;
    data.n = 0;
    check_refused(&data, &def, CORE_RANGE, "0 rows");
    data = rows.data;
    data.inputs = 17;
    check_refused(&data, &def, CORE_RANGE, "17 inputs");
    data = rows.data;
    data.poses = -1;
    check_refused(&data, &def, CORE_RANGE, "-1 pose");
    data = rows.data;
    data.slope = NULL;
    check_refused(&data, &def, CORE_ARG, "slope");
    data = rows.data;
    data.target = NULL;
    check_refused(&data, &def, CORE_ARG, "target");
    check_refused(NULL, &def, CORE_ARG, "null");
    nn_fixture_rows_clear(&rows);
}

static void test_allocation_failures(void **state) {
    (void)state;
    nn_rows rows = toy_rows(50, 3);
    nn_train_def def = toy_def();
    def.threads = 2;
    nn_model model;
    core_status status = CORE_MEMORY;
    uint64_t calls = 0;
    while (status == CORE_MEMORY) {
        core_alloc_fail_after(++calls);
        status = nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL);
        if (status != CORE_OK) assert_null(model.parameters);
    }
    core_alloc_fail_after(0);
    assert_int_equal(status, CORE_OK);
    assert_true(calls > 10);
    nn_model_clear(&model);
    nn_fixture_rows_clear(&rows);
}

/// Ten times the steps, no allocation more.
static void test_steps_allocate_nothing(void **state) {
    (void)state;
    nn_rows rows = toy_rows(50, 3);
    nn_train_def def = toy_def();
    uint64_t used[2];
    for (int i = 0; i < 2; i++) {
        nn_model model;
        def.epochs = i ? 600 : 60;
        uint64_t before = core_alloc_count();
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &model, NULL, NULL), CORE_OK);
        used[i] = core_alloc_count() - before;
        nn_model_clear(&model);
    }
    assert_true(used[0] == used[1]);
    nn_fixture_rows_clear(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_learns_with_soap),
        cmocka_unit_test(test_gradient_term_acts),
        cmocka_unit_test(test_same_bits_for_any_threads),
        cmocka_unit_test(test_each_row_once_per_epoch),
        cmocka_unit_test(test_epochs_have_orders_of_their_own),
        cmocka_unit_test(test_steps_are_those_of_the_reference),
        cmocka_unit_test(test_progress_and_report),
        cmocka_unit_test(test_small_data),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_seconds_are_epochs),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
