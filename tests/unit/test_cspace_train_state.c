/// The state of a training in a file: both nets of several tries go on from it to the same bits; files of other
/// trainings and damaged ones are refused, or replaced where that is asked for.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cspace_train_state.h"
#include "nn_fixture.h"

enum { ROWS = 500, STOP = 5, INPUT = 11 };

/// A training that the log saves at each step and that ends at call `at`.
typedef struct interruption {
    cspace__train_log *log;
    nn_train_def inner; // what the log attached
    int calls, at;
} interruption;

static core_status interrupt(void *user, const nn_train_state *state, core_error *err) {
    interruption *i = user;
    i->log->written = -INFINITY; // the file is due
    CORE_TRY(i->inner.save(i->inner.save_user, state, err));
    return ++i->calls == i->at ? CORE_FAIL(err, CORE_UNSUPPORTED, "interrupted") : CORE_OK;
}

static nn_train_def short_def(void) {
    nn_train_def def = toy_def();
    def.width = 8, def.batch = 200, def.epochs = 8;
    return def;
}

/// Trains a net of a try through the log, up to its at-th saving (0: to the end). Returns how often it saved.
static int train(cspace__train_log *log, int i_try, int net, int at, nn_model *model, nn_train_report *report) {
    nn_rows rows = toy_rows(ROWS, (uint64_t)(10 * i_try + net));
    nn_train_def def = short_def();
    cspace__train_log_attach(log, i_try, net, &def);
    interruption stop = {.log = log, .inner = def, .at = at};
    def.save = interrupt, def.save_user = &stop;
    const core_status status = nn_train(&rows.data, &def, NULL, "toy", model, report, NULL);
    assert_int_equal(status, at > 0 ? CORE_UNSUPPORTED : CORE_OK);
    nn_fixture_rows_clear(&rows);
    return stop.calls;
}

/// Opens a log that has to open.
static void open_log(const char *path, cspace__train_log *log) {
    core_error err = {0};
    if (cspace__train_log_open(path, INPUT, false, log, &err) != CORE_OK) fail_msg("%s", err.message);
}

static int count_found(const cspace__train_log *log) {
    int n = 0;
    for (int i = 0; i < CSPACE__TRIES_MAX; i++)
        for (int net = 0; net < 2; net++) n += log->slot[i][net].found != NULL;
    return n;
}

/// Leaves a file with both nets of try 0 and the moment arm of the last try, each interrupted at its STOP-th step.
static const char *leave_file(char path[TEST_PATH_MAX], const char *name) {
    cspace__train_log log;
    nn_model model = {0};
    nn_train_report report;
    remove(test_folder_path(path, name));
    open_log(path, &log);
    assert_int_equal(count_found(&log), 0);
    train(&log, 0, 0, STOP, &model, &report);
    train(&log, 0, 1, STOP, &model, &report);
    train(&log, CSPACE__TRIES_MAX - 1, 1, STOP, &model, &report);
    cspace__train_log_clear(&log);
    assert_null(log.slot[0][0].latest);
    return path;
}

static void check_progress(const cspace__train_log *log, int i_try, int net, int64_t expected) {
    int64_t step, steps;
    assert_non_null(log->slot[i_try][net].found);
    nn_train_state_progress(log->slot[i_try][net].found, &step, &steps);
    assert_int_equal(step, expected);
    assert_int_equal(steps, 20); // 8 x 500/200
}

/// Goes on from the file; what other nets have done stays in it, and a net that is done is done at once.
static void test_same_bits(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    cspace__train_log log;
    leave_file(path, "bits.h5");
    static const int nets[4][2] = {{0, 0}, {0, 1}, {CSPACE__TRIES_MAX - 1, 1}, {0, 0}};
    for (int done = 0; done < 4; done++) {
        const int i_try = nets[done][0], net = nets[done][1];
        nn_rows rows = toy_rows(ROWS, (uint64_t)(10 * i_try + net));
        const nn_train_def def = short_def();
        nn_model whole, model;
        nn_train_report expected, report;
        assert_int_equal(nn_train(&rows.data, &def, NULL, "toy", &whole, &expected, NULL), CORE_OK);
        open_log(path, &log);
        assert_int_equal(count_found(&log), 3);
        for (int k = 0; k < 3; k++) check_progress(&log, nets[k][0], nets[k][1], k < done ? 20 : STOP);
        // a saving a step: no step is made again
        assert_int_equal(train(&log, i_try, net, 0, &model, &report), done < 3 ? 20 - STOP : 0);
        assert_int_equal(nn_model_hash(&model), nn_model_hash(&whole));
        assert_true(report.steps == expected.steps && report.loss_first == expected.loss_first &&
                    report.loss_last == expected.loss_last && report.loss_best == expected.loss_best);
        assert_int_equal(report.count_curve, expected.count_curve);
        assert_memory_equal(report.curve, expected.curve, sizeof report.curve);
        nn_model_clear(&model);
        cspace__train_log_clear(&log);
        nn_model_clear(&whole);
        nn_fixture_rows_clear(&rows);
    }
}

/// A state of other samples or options: refused with both hashes, or replaced by the next saving.
static void test_other_training(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], text[17];
    cspace__train_log log;
    nn_model model = {0};
    nn_train_report report;
    core_error err = {0};
    leave_file(path, "other.h5");
    assert_int_equal(cspace__train_log_open(path, INPUT + 1, false, &log, &err), CORE_ARG);
    for (int k = 0; k < 2; k++) {
        core_hash_text((uint64_t)(INPUT + k), text);
        assert_non_null(strstr(err.message, text));
    }
    assert_non_null(strstr(err.message, path));
    assert_int_equal(count_found(&log), 0);
    assert_int_equal(cspace__train_log_open(path, INPUT + 1, true, &log, &err), CORE_OK);
    assert_int_equal(count_found(&log), 0);
    train(&log, 2, 0, 3, &model, &report);
    cspace__train_log_clear(&log);
    assert_int_equal(cspace__train_log_open(path, INPUT, false, &log, NULL), CORE_ARG);
    assert_int_equal(cspace__train_log_open(path, INPUT + 1, false, &log, &err), CORE_OK);
    assert_int_equal(count_found(&log), 1);
    check_progress(&log, 2, 0, 3);
    cspace__train_log_clear(&log);
}

static char *file_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    assert_true(bytes && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/// Cut anywhere, a file is refused; with a byte turned it is refused or read whole. Where it may be replaced it is as
/// good as none. Nothing of a refused file stays in the log.
static void test_damaged(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], bad[TEST_PATH_MAX];
    size_t size;
    core_error err = {0};
    cspace__train_log log;
    char *bytes = file_bytes(leave_file(path, "whole.h5"), &size);
    test_folder_path(bad, "bad.h5");
    for (size_t n = 0; n < size; n += size / 40 + 1) {
        write_bytes(bad, bytes, n);
        const core_status status = cspace__train_log_open(bad, INPUT, false, &log, &err);
        if (status != CORE_FORMAT && status != CORE_IO) fail_msg("cut to %zu: %d", n, (int)status);
        assert_non_null(strstr(err.message, "bad.h5"));
        assert_int_equal(count_found(&log), 0);
        assert_int_equal(cspace__train_log_open(bad, INPUT, true, &log, NULL), CORE_OK);
        assert_int_equal(count_found(&log), 0);
    }
    int refused = 0;
    for (size_t at = 0; at < size; at += size / 300 + 1) {
        bytes[at] = (char)~bytes[at];
        write_bytes(bad, bytes, size);
        bytes[at] = (char)~bytes[at];
        const core_status status = cspace__train_log_open(bad, INPUT, false, &log, &err);
        if (status != CORE_OK) assert_int_equal(count_found(&log), 0);
        assert_true(status != CORE_MEMORY && status != CORE_INTERNAL);
        refused += status != CORE_OK;
        cspace__train_log_clear(&log);
    }
    print_message("bytes turned: %d refused\n", refused);
    assert_true(refused > 0);
    free(bytes);
}

/// Files of another kind, of a later version, and a folder.
static void test_other_files(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_h5 *file;
    cspace__train_log log;
    test_folder_write(path, "text.h5", "a text");
    assert_int_equal(cspace__train_log_open(path, INPUT, false, &log, &err), CORE_FORMAT);
    for (int k = 0; k < 3; k++) {
        test_folder_path(path, "forged.h5");
        const char *format = k == 0 ? "cem.samples" : "cem.training";
        assert_int_equal(core_h5_create(path, format, k == 1 ? 2 : 1, &file, NULL), CORE_OK);
        assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
        // the third has no input_hash
        assert_int_equal(cspace__train_log_open(path, INPUT, false, &log, &err),
                         k == 1 ? CORE_VERSION_OTHER : CORE_FORMAT);
        assert_non_null(strstr(err.message, "forged.h5"));
        assert_int_equal(count_found(&log), 0);
    }
}

/// Reading and saving without memory: MEMORY even where a damaged file would be replaced, and the file stays.
static void test_memory(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    cspace__train_log log, back;
    core_error err = {0};
    leave_file(path, "memory.h5");
    for (int replace = 0; replace < 2; replace++) {
        for (uint64_t i = 1;; i++) {
            err = (core_error){0};
            core_alloc_fail_after(i);
            const core_status status = cspace__train_log_open(path, INPUT, replace == 1, &log, &err);
            core_alloc_fail_after(0);
            if (status == CORE_OK) break;
            if (status != CORE_MEMORY) fail_msg("allocation %d: %s", (int)i, err.message);
            assert_true(err.code == CORE_MEMORY && err.message[0]);
            assert_int_equal(count_found(&log), 0);
            assert_true(i < 1000);
        }
        assert_int_equal(count_found(&log), 3);
        if (replace == 0) cspace__train_log_clear(&log);
    }
    nn_train_def def = short_def();
    cspace__train_log_attach(&log, 1, 0, &def); // a net that has no state yet
    int failed = 0;
    for (uint64_t i = 1;; i++, failed++) {
        log.written = -INFINITY;
        core_alloc_fail_after(i);
        const core_status status = def.save(def.save_user, log.slot[0][0].found, &err);
        core_alloc_fail_after(0);
        open_log(path, &back);
        assert_int_equal(count_found(&back), status == CORE_OK ? 4 : 3);
        cspace__train_log_clear(&back);
        if (status == CORE_OK) break;
        // HDF5 does not tell a file driver without memory from a file that cannot be opened
        if (status != CORE_MEMORY && status != CORE_IO) fail_msg("allocation %d: %s", (int)i, err.message);
    }
    assert_true(failed > 1); // the copy and the file
    cspace__train_log_clear(&log);
}

/// Between two writings states are kept in memory only; a folder that is gone is reported by the saving.
static void test_interval(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], nowhere[TEST_PATH_MAX];
    cspace__train_log log, other;
    core_error err = {0};
    leave_file(path, "interval.h5");
    open_log(path, &log);
    test_folder_path(nowhere, "no/folder.h5");
    open_log(nowhere, &other);
    nn_train_def def = short_def();
    cspace__train_log_attach(&other, 0, 0, &def);
    assert_null(def.resume);
    assert_int_equal(def.save(def.save_user, log.slot[0][0].found, &err), CORE_OK); // not due yet
    assert_non_null(other.slot[0][0].latest);
    other.written = -INFINITY;
    assert_int_equal(def.save(def.save_user, log.slot[0][0].found, &err), CORE_IO);
    assert_non_null(strstr(err.message, "no/folder.h5"));
    assert_int_equal(def.save(def.save_user, log.slot[0][1].found, &err), CORE_OK); // nobody is left waiting
    cspace__train_log_clear(&other);
    cspace__train_log_clear(&log);
    cspace__train_log_clear(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_other_training),
                                       cmocka_unit_test(test_damaged),   cmocka_unit_test(test_other_files),
                                       cmocka_unit_test(test_memory),    cmocka_unit_test(test_interval)};
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
