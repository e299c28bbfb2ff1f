/// Files that are not what they should be: missing, other kinds, truncated, damaged; and disks that fill up while
/// writing.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_h5.h"
#include "random_below.h"

#include <signal.h>
#include <sys/resource.h>

#define ROWS 30
#define POINTS 700

/// Writes a file with one of everything, in place or by renaming. Returns the first failure.
static core_status write_file(const char *path, bool in_place, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    core_outline o = {0};
    static double v[2 * POINTS];
    const size_t dims[2] = {POINTS, 2}, row = 50;
    const core_h5_provenance p = {"simulate scene.yaml", 1, 0, NULL, NULL, NULL};
    for (int i = 0; i < 2 * POINTS; i++) v[i] = 0.25 * i;
    if (in_place)
        CORE_TRY_DONE(core_h5_create_in_place(path, "cem.test", 1, &file, err));
    else
        CORE_TRY_DONE(core_h5_create(path, "cem.test", 1, &file, err));
    CORE_TRY_DONE(core_h5_write_provenance(file, &p, err));
    CORE_TRY_DONE(core_outline_create(1, (const int[]){5}, &o, err));
    CORE_TRY_DONE(core_h5_write_outline(file, "/polygon", &o, "m", err));
    CORE_TRY_DONE(core_h5_write(file, "/data/points", CORE_H5_F64, 2, dims, v, "m", "points", err));
    CORE_TRY_DONE(core_h5_write_text(file, "/data/text", "some text", NULL, err));
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "/pairs/%d/value", i);
        CORE_TRY_DONE(core_h5_write(file, name, CORE_H5_F32, 0, NULL, &(float){1.0f}, "m", NULL, err));
    }
    CORE_TRY_DONE(core_h5_series_create(file, "/run/x", CORE_H5_F64, 1, &row, 4, "m", NULL, err));
    if (in_place) CORE_TRY_DONE(core_h5_start(file, err));
    for (int i = 0; i < ROWS; i++) {
        CORE_TRY_DONE(core_h5_series_append(file, "/run/x", CORE_H5_F64, 1, &row, v, err));
        if (in_place) CORE_TRY_DONE(core_h5_flush(file, err));
    }
    status = in_place ? core_h5_finish(&file, err) : core_h5_commit(&file, err);
done:
    core_outline_clear(&o);
    core_h5_abandon(&file);
    return status;
}

/// Reads all of it; counts the calls that failed. Every failure must have a message that names the file.
static int read_file(const char *path) {
    int failures = 0;
    core_h5 *file = NULL;
    core_outline o = {0};
    static double v[2 * POINTS];
    double x;
    char *text = NULL, word[64];
    const size_t dims[2] = {POINTS, 2}, row = 50;
    size_t size[4];
    uint64_t hash;
    int n;
#define COUNT(call)                                                                                                    \
    do {                                                                                                               \
        core_error err_ = {0}, *err = &err_;                                                                           \
        if ((call) != CORE_OK) {                                                                                       \
            failures++;                                                                                                \
            if (!strstr(err_.message, path) && err_.code != CORE_MEMORY) fail_msg("%s: \"%s\"", #call, err_.message);  \
        }                                                                                                              \
    } while (0)
    COUNT(core_h5_open(path, "cem.test", 1, &file, err));
    if (!file) return failures;
    COUNT(core_h5_read_outline(file, "/polygon", &o, err));
    COUNT(core_h5_size(file, "/data/points", 4, &n, size, err));
    COUNT(core_h5_read(file, "/data/points", CORE_H5_F64, 2, dims, v, true, err));
    COUNT(core_h5_read_text(file, "/data/text", &text, err));
    COUNT(core_h5_get_text(file, "/data/points", "units", word, sizeof word, err));
    COUNT(core_h5_count(file, "/pairs", &n, err));
    for (int i = 0; i < 20; i++) {
        char name[64];
        COUNT(core_h5_name(file, "/pairs", i, name, sizeof name, err));
        snprintf(name, sizeof name, "/pairs/%d/value", i);
        COUNT(core_h5_read(file, name, CORE_H5_F64, 0, NULL, &x, true, err));
    }
    for (size_t i = 0; i < ROWS; i++) COUNT(core_h5_series_read(file, "/run/x", CORE_H5_F64, 1, &row, i, v, err));
    COUNT(core_h5_compute_hash(file, &hash, err));
#undef COUNT
    core_free(text);
    core_outline_clear(&o);
    core_h5_close(&file);
    return failures;
}

/// Writes a file without waiting for the disk: there are a thousand of them. (Some file systems wait where an old file
/// is overwritten.)
static void put_file(const char *path, const char *data, size_t n) {
    remove(path);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/// The file cannot be opened, for this reason; the handle stays untouched.
static void assert_refused(const char *path, const char *format, core_status code, const char *text) {
    core_error err = {0};
    core_h5 *file = NULL;
    core_status status = core_h5_open(path, format, 1, &file, &err);
    if (status != code || !strstr(err.message, text) || !strstr(err.message, path))
        fail_msg("%s: found %d \"%s\", expected %d \"%s\"", path, status, err.message, code, text);
    assert_null(file);
}

static void test_other_files(void **state) {
    (void)state;
    const char *path = test_folder_file("x.h5");
    assert_refused(path, "cem.test", CORE_IO, "cannot open: No such file");
    assert_refused(test_folder, "cem.test", CORE_IO, "is a directory");
    assert_int_equal(core_file_write(path, "", 0, NULL), CORE_OK);
    assert_refused(path, "cem.test", CORE_FORMAT, "is empty");
    assert_int_equal(core_file_write(path, "POLYGON ((0 0))", 15, NULL), CORE_OK);
    assert_refused(path, "cem.test", CORE_FORMAT, "is not an HDF5 file");
    assert_int_equal(core_file_write(path, "\x89HDF", 4, NULL), CORE_OK);
    assert_refused(path, "cem.test", CORE_FORMAT, "is not an HDF5 file");
    assert_int_equal(core_file_write(path, "\x89HDF\r\n\x1a\n and then something else", 32, NULL), CORE_OK);
    assert_refused(path, "cem.test", CORE_FORMAT, "truncated or damaged");
    const char *pipe_path = test_folder_file("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_refused(pipe_path, "cem.test", CORE_IO, "not an ordinary file"); // and does not wait for a writer
}

static void test_other_formats_and_versions(void **state) {
    (void)state;
    const char *path = test_folder_file("x.h5");
    core_h5 *file = NULL;
    assert_int_equal(core_h5_create(path, "cem.samples", 3, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_refused(path, "cem.sdf", CORE_FORMAT, "found format \"cem.samples\", expected \"cem.sdf\"");
    assert_refused(path, "cem.samples", CORE_VERSION_OTHER, "found cem.samples version 3, expected at most 1");
    assert_refused(path, NULL, CORE_VERSION_OTHER, "version 3");
    assert_int_equal(core_h5_create(path, "other.program", 1, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_refused(path, NULL, CORE_FORMAT, "expected \"cem.*\"");
    assert_int_equal(core_h5_create(path, "cem.samples", 0, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_refused(path, "cem.samples", CORE_FORMAT, "found format_version 0");
}

/// What a killed program leaves behind, here a copy of a file that is being written: all rows up to the last flush.
static void test_unfinished_file(void **state) {
    (void)state;
    const char *path = test_folder_file("run.h5"), *left = test_folder_file("left.h5");
    core_h5 *file = NULL;
    char *data = NULL;
    size_t n = 0;
    assert_int_equal(core_h5_create_in_place(path, "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_series_create(file, "/t", CORE_H5_F64, 0, NULL, 4, NULL, NULL, NULL), CORE_OK);
    assert_int_equal(core_h5_start(file, NULL), CORE_OK);
    for (int i = 0; i < 10; i++) {
        double t = i;
        assert_int_equal(core_h5_series_append(file, "/t", CORE_H5_F64, 0, NULL, &t, NULL), CORE_OK);
        assert_int_equal(core_h5_flush(file, NULL), CORE_OK);
    }
    assert_int_equal(core_file_read(path, 1 << 24, &data, &n, NULL), CORE_OK);
    assert_int_equal(core_h5_finish(&file, NULL), CORE_OK);
    assert_int_equal(core_file_write(left, data, n, NULL), CORE_OK);
    core_free(data);
    assert_int_equal(core_h5_open(left, "cem.test", 1, &file, NULL), CORE_OK);
    for (size_t i = 0; i < 10; i++) {
        double t = -1.0;
        assert_int_equal(core_h5_series_read(file, "/t", CORE_H5_F64, 0, NULL, i, &t, NULL), CORE_OK);
        assert_true(t == (double)i);
    }
    uint64_t hash = 0;
    assert_int_equal(core_h5_content_hash(file, &hash, NULL), CORE_FORMAT); // it was never finished
    core_h5_close(&file);
}

static void test_create_refused(void **state) {
    (void)state;
    core_error err = {0};
    core_h5 *file = NULL;
    const char *missing = test_folder_file("no/x.h5"), *pipe_path = test_folder_file("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    core_status (*const make[2])(const char *, const char *, int, core_h5 **, core_error *) = {core_h5_create,
                                                                                               core_h5_create_in_place};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(make[i](missing, "cem.test", 1, &file, &err), CORE_IO);
        assert_non_null(strstr(err.message, "no/x.h5: cannot write: No such file"));
        assert_int_equal(make[i](test_folder, "cem.test", 1, &file, &err), CORE_IO);
        assert_non_null(strstr(err.message, "is a directory"));
        assert_int_equal(make[i](pipe_path, "cem.test", 1, &file, &err), CORE_IO);
        assert_non_null(strstr(err.message, "not an ordinary file"));
        assert_int_equal(make[i](NULL, "cem.test", 1, &file, &err), CORE_ARG);
    }
    assert_null(file);
    assert_int_equal(test_folder_count(), 1); // the pipe
}

static void test_truncated(void **state) {
    (void)state;
    const char *path = test_folder_file("x.h5"), *cut = test_folder_file("cut.h5");
    char *data = NULL;
    size_t n = 0;
    for (int in_place = 0; in_place < 2; in_place++) {
        assert_int_equal(write_file(path, in_place, NULL), CORE_OK);
        assert_int_equal(read_file(path), 0);
        assert_int_equal(core_file_read(path, 1 << 24, &data, &n, NULL), CORE_OK);
        for (size_t k = 0; k < n; k += k < 200 || k + 40 > n ? 1 : 397) {
            put_file(cut, data, k);
            assert_int_equal(read_file(cut), 1); // refused when it is opened
        }
        put_file(cut, data, n / 2);
        char text[64];
        snprintf(text, sizeof text, "is truncated: found %zu bytes, expected %zu", n / 2, n);
        assert_refused(cut, "cem.test", CORE_FORMAT, text);
        core_free(data);
    }
}

static void test_damaged_bytes(void **state) {
    (void)state;
    const char *path = test_folder_file("x.h5");
    char *data = NULL;
    size_t n = 0;
    core_random r;
    core_random_init(&r, 1, 0);
    int noticed = 0;
    for (int in_place = 0; in_place < 2; in_place++) {
        assert_int_equal(write_file(path, in_place, NULL), CORE_OK);
        assert_int_equal(core_file_read(path, 1 << 24, &data, &n, NULL), CORE_OK);
        for (int k = 0; k < 400; k++) {
            // every second one in the first kilobytes, where the descriptions are denser
            size_t at = (size_t)random_below(&r, k % 2 ? (int)n : 4096);
            char before = data[at];
            data[at] = (char)(before ^ (char)(1 + random_below(&r, 255)));
            put_file(path, data, n);
            noticed += read_file(path) > 0;
            data[at] = before;
        }
        core_free(data);
    }
    assert_true(noticed > 200); // all damage to descriptions is: they carry checksums
}

static void test_full_disk(void **state) {
    (void)state;
    const char *path = test_folder_file("x.h5");
    struct rlimit before, limit;
    int refused = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (int in_place = 0; in_place < 2; in_place++)
        for (rlim_t bytes = 1; bytes < 60000; bytes += bytes < 100 ? 33 : 1501) {
            core_error err = {0};
            limit = before;
            limit.rlim_cur = bytes;
            setrlimit(RLIMIT_FSIZE, &limit);
            core_status status = write_file(path, in_place, &err);
            setrlimit(RLIMIT_FSIZE, &before);
            if (status == CORE_OK) {
                assert_int_equal(read_file(path), 0);
            } else {
                refused++;
                if (status != CORE_IO || !strstr(err.message, "x.h5: cannot write: File too large"))
                    fail_msg("%ld bytes: %d \"%s\"", (long)bytes, status, err.message);
                if (!in_place) assert_int_equal(test_folder_count(), 0);
            }
            remove(path);
        }
    assert_true(refused > 20);
    assert_int_equal(write_file(path, false, NULL), CORE_OK); // HDF5 is as good as new
    assert_int_equal(read_file(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_other_files, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_other_formats_and_versions, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_unfinished_file, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_create_refused, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_truncated, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_damaged_bytes, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_full_disk, test_folder_make, test_folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
