/// Run files while they grow: read by others, locked against a second writer, recovered.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_run.h"
#include "fixtures/run_fixture.h"

enum { GRAINS = 3 };

static core_run_frame frame;

/// A run of three squares with contact rows.
static core_run_writer *begin(const char *path) {
    core_error err = {0};
    core_run_writer *w = NULL;
    fixture_run run = {.title = "growing", .contacts = true};
    assert_int_equal(fixture_add_square(&run, 1, 2500, &err), CORE_OK);
    assert_int_equal(fixture_set_grains(&run, GRAINS, &err), CORE_OK);
    if (!frame.position) assert_int_equal(fixture_frame(&run, &frame, &err), CORE_OK);
    if (fixture_begin(&run, path, &w, &err) != CORE_OK) fail_msg("%s", err.message);
    fixture_clear(&run);
    return w;
}

/// Frame k has k contacts.
static void append(core_run_writer *w, int k) {
    core_error err = {0};
    static const core_run_contact contacts[8] = {{.bodies = {0, 1}, .f_n = 2}, {.bodies = {1, 2}, .f_n = 3}};
    core_run_contact some[8];
    for (int i = 0; i < 8; i++) some[i] = contacts[i % 2];
    frame.step = k;
    frame.time = k;
    frame.orientation[1] = 0.5 * k;
    frame.count_contacts = k;
    frame.contacts = some;
    if (core_run_append(w, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    frame.contacts = NULL;
}

static void expect_frames(const char *path, int count) {
    core_error err = {0};
    core_run_reader *r = NULL;
    core_run_frame read = {0};
    if (core_run_open(path, &r, &err) != CORE_OK) fail_msg("%d frames: %s", count, err.message);
    assert_int_equal(core_run_describe(r)->count_frames, count);
    assert_int_equal(core_run_frame_create(GRAINS, core_run_describe(r)->count_observables, 0, &read, &err), CORE_OK);
    for (int k = 0; k < count; k++) {
        core_run_contact *contacts = NULL;
        int64_t n = 0;
        assert_int_equal(core_run_read(r, k, &read, &err), CORE_OK);
        assert_true(read.orientation[1] == 0.5 * k && read.time == k);
        assert_int_equal(core_run_read_contacts(r, k, &contacts, &n, &err), CORE_OK);
        assert_int_equal(n, k);
        for (int i = 0; i < k; i++) assert_true(contacts[i].f_n == (i % 2 ? 3 : 2));
        core_free(contacts);
    }
    core_run_frame_clear(&read);
    core_run_close(&r);
}

static uint64_t content_hash(const char *path) {
    core_error err = {0};
    core_h5 *file = NULL;
    uint64_t hash = 0;
    assert_int_equal(core_h5_open(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &file, &err), CORE_OK);
    assert_int_equal(core_h5_content_hash(file, &hash, &err), CORE_OK);
    core_h5_close(&file);
    return hash;
}

/// Every frame can be read as soon as it was appended; what is recovered on the way is the run that ended there.
static void read_while_it_grows(void **state) {
    (void)state;
    core_error err = {0};
    const char *path = test_folder_file("growing.h5"), *part = test_folder_file("part.h5");
    const char *whole = test_folder_file("whole.h5");
    core_run_writer *w = begin(path);
    expect_frames(path, 0);
    for (int k = 0; k < 6; k++) {
        core_h5 *file = NULL;
        uint64_t hash;
        append(w, k);
        expect_frames(path, k + 1);
        if (core_run_recover(path, part, &err) != CORE_OK) fail_msg("%s", err.message);
        expect_frames(part, k + 1);
        core_run_writer *shorter = begin(whole);
        for (int i = 0; i <= k; i++) append(shorter, i);
        assert_int_equal(core_run_finish(&shorter, &err), CORE_OK);
        assert_int_equal(content_hash(part), content_hash(whole));
        assert_int_equal(core_h5_open(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &file, &err), CORE_OK);
        assert_int_equal(core_h5_content_hash(file, &hash, &err), CORE_FORMAT);
        assert_non_null(strstr(err.message, "growing.h5: content_hash is empty: the file was not finished"));
        core_h5_close(&file);
    }
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    expect_frames(path, 6);
    assert_int_equal(content_hash(path), content_hash(part));
}

/// A copy of a growing file, as a kill would leave it, with and without a row that was not committed.
static void recover_refused(void **state) {
    (void)state;
    core_error err = {0};
    const char *path = test_folder_file("run.h5"), *out = test_folder_file("out.h5");
    core_run_writer *w = begin(path);
    append(w, 0);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    assert_int_equal(core_run_recover(NULL, out, &err), CORE_ARG);
    assert_int_equal(core_run_recover(path, NULL, &err), CORE_ARG);
    assert_int_equal(core_run_recover(path, path, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "same file"));
    assert_int_equal(core_run_recover(test_folder_file("none.h5"), out, &err), CORE_IO);
    assert_int_equal(core_run_recover(path, test_folder_file("no/out.h5"), &err), CORE_IO);
    assert_int_equal(core_h5_copy(NULL, NULL, NULL, NULL, &err), CORE_ARG);
    assert_false(core_file_exists(out));
    for (uint64_t k = 1;; k++) { // out of memory anywhere: refused, nothing is left
        core_alloc_fail_after(k);
        const core_status status = core_run_recover(path, out, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        if (status != CORE_MEMORY && status != CORE_IO) fail_msg("allocation %d: %s", (int)k, err.message);
        assert_false(core_file_exists(out));
    }
    expect_frames(out, 1);
}

static void second_writer(void **state) {
    (void)state;
    core_error err = {0};
    const char *path = test_folder_file("locked.h5");
    core_h5 *second = NULL;
    core_run_writer *w = begin(path);
    append(w, 0);
    assert_int_equal(core_h5_create_in_place(path, CORE_RUN_FORMAT, 1, &second, &err), CORE_IO);
    assert_non_null(strstr(err.message, "locked.h5: cannot write: another program is writing this file"));
    append(w, 1);
    expect_frames(path, 2);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    w = begin(path); // now it may be replaced
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    expect_frames(path, 0);
}

/// Two that begin at the same time where nothing was: the first to start keeps the name.
static void two_begin(void **state) {
    (void)state;
    core_error err = {0};
    const int entries = test_folder_count();
    char path[TEST_PATH_MAX];
    test_folder_path(path, "race.h5");
    const double x = 1;
    core_h5 *first = NULL, *second = NULL;
    assert_int_equal(core_h5_create_in_place(path, CORE_RUN_FORMAT, 1, &second, &err), CORE_OK);
    assert_int_equal(core_h5_series_create(second, "/x", CORE_H5_F64, 0, NULL, 4, NULL, NULL, &err), CORE_OK);
    char temporary[TEST_PATH_MAX + 32];
    snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid());
    test_folder_write(path, "race.h5", "first"); // by another program, in between
    assert_int_equal(core_h5_start(second, &err), CORE_IO);
    assert_non_null(strstr(err.message, "another program is writing this file"));
    core_h5_abandon(&second);
    assert_false(core_file_exists(temporary));
    char *text = NULL;
    size_t n = 0;
    assert_int_equal(core_file_read(path, 100, &text, &n, &err), CORE_OK);
    assert_string_equal(text, "first");
    core_free(text);
    assert_int_equal(core_h5_create_in_place(path, CORE_RUN_FORMAT, 1, &first, &err), CORE_OK);
    assert_int_equal(core_h5_series_create(first, "/x", CORE_H5_F64, 0, NULL, 4, NULL, NULL, &err), CORE_OK);
    assert_int_equal(core_h5_start(first, &err), CORE_OK);
    assert_int_equal(core_h5_series_append(first, "/x", CORE_H5_F64, 0, NULL, &x, &err), CORE_OK);
    assert_int_equal(core_h5_finish(&first, &err), CORE_OK);
    assert_int_equal(test_folder_count(), entries + 1);
}

static int clear(void **state) {
    core_run_frame_clear(&frame);
    return test_folder_remove(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_while_it_grows),
        cmocka_unit_test(recover_refused),
        cmocka_unit_test(second_writer),
        cmocka_unit_test(two_begin),
    };
    return cmocka_run_group_tests(tests, test_folder_make, clear);
}
