/// HDF5 files: everything written comes back, checks name what they found, the content hash depends on content alone.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_h5.h"

#include <math.h>

/// Fails the test with the message if a call that should succeed does not.
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        core_error err_ = {0};                                                                                         \
        core_error *err = &err_;                                                                                       \
        if ((call) != CORE_OK) fail_msg("%s: %s", #call, err->message);                                                \
    } while (0)
/// The call fails with this code and a message that contains the text.
#define FAILS(code, text, call)                                                                                        \
    do {                                                                                                               \
        core_error err_ = {0};                                                                                         \
        core_error *err = &err_;                                                                                       \
        core_status status_ = (call);                                                                                  \
        if (status_ != (code) || !strstr(err->message, (text)))                                                        \
            fail_msg("%s: found %d \"%s\", expected %d \"%s\"", #call, status_, err->message, (code), (text));         \
    } while (0)

static const char *const path_name = "a file \xc3\xb6.h5";

static core_h5 *create(void) {
    core_h5 *file = NULL;
    OK(core_h5_create(test_folder_file(path_name), "cem.test", 2, &file, err));
    return file;
}

static core_h5 *reopen(core_h5 *written) {
    core_h5 *file = NULL;
    OK(core_h5_commit(&written, err));
    assert_null(written);
    OK(core_h5_open(test_folder_file(path_name), "cem.test", 2, &file, err));
    return file;
}

static void test_types_round_trip(void **state) {
    (void)state;
    const float f32[6] = {1.5f, -2.25f, 1e-38f, 3e38f, -0.0f, 7.0f};
    const double f64[6] = {0.1, -1e308, 5e-324, NAN, INFINITY, -0.0};
    const int32_t i32[6] = {0, 1, -1, INT32_MAX, INT32_MIN, 42};
    const int64_t i64[6] = {0, 1, -1, INT64_MAX, INT64_MIN, 42};
    const uint8_t u8[6] = {0, 1, 2, 127, 128, 255};
    const void *const data[5] = {f32, f64, i32, i64, u8};
    const size_t bytes[5] = {4, 8, 4, 8, 1}, dims[2] = {3, 2};
    const char *const names[5] = {"/f32", "/deep/er/f64", "/i32", "/deep/i64", "/u8"};
    core_h5 *file = create();
    for (int i = 0; i < 5; i++)
        OK(core_h5_write(file, names[i], (core_h5_type)i, 2, dims, data[i], "m", "what it is", err));
    file = reopen(file);
    for (int i = 0; i < 5; i++) {
        unsigned char back[48];
        int rank = 0;
        size_t found[4] = {0};
        char text[32];
        OK(core_h5_size(file, names[i], 4, &rank, found, err));
        assert_true(rank == 2 && found[0] == 3 && found[1] == 2);
        OK(core_h5_read(file, names[i], (core_h5_type)i, 2, dims, back, false, err));
        assert_memory_equal(back, data[i], 6 * bytes[i]);
        OK(core_h5_get_text(file, names[i], "units", text, sizeof text, err));
        assert_string_equal(text, "m");
        OK(core_h5_get_text(file, names[i], "description", text, sizeof text, err));
        assert_string_equal(text, "what it is");
    }
    assert_true(core_h5_exists(file, "/deep/er") && core_h5_exists(file, "/") && core_h5_exists(file, "/deep/er/f64"));
    assert_false(core_h5_exists(file, "/deep/no") || core_h5_exists(file, "/no/er/f64") || core_h5_exists(file, ""));
    core_h5_close(&file);
    core_h5_close(&file);
    assert_int_equal(test_folder_count(), 1);
}

static void test_scalars_empty_and_conversions(void **state) {
    (void)state;
    const double x = 2.5;
    const size_t none[2] = {0, 3}, one = 1;
    const int32_t n = 7;
    core_h5 *file = create();
    OK(core_h5_write(file, "/scalar", CORE_H5_F64, 0, NULL, &x, NULL, NULL, err));
    OK(core_h5_write(file, "/empty", CORE_H5_F32, 2, none, NULL, NULL, NULL, err));
    OK(core_h5_write(file, "/n", CORE_H5_I32, 1, &one, &n, NULL, NULL, err));
    file = reopen(file);
    float single = 0.0f;
    double number = 0.0;
    int64_t wide = 0;
    OK(core_h5_read(file, "/scalar", CORE_H5_F32, 0, NULL, &single, true, err));
    assert_true(single == 2.5f);
    OK(core_h5_read(file, "/empty", CORE_H5_F32, 2, none, NULL, true, err));
    OK(core_h5_read(file, "/n", CORE_H5_I64, 1, &one, &wide, true, err));
    OK(core_h5_read(file, "/n", CORE_H5_F64, 1, &one, &number, true, err));
    assert_true(wide == 7 && number == 7.0);
    uint8_t byte = 0;
    FAILS(CORE_FORMAT, "expected whole numbers of at most 1 bytes",
          core_h5_read(file, "/n", CORE_H5_U8, 1, &one, &byte, true, err));
    FAILS(CORE_FORMAT, "expected whole numbers", core_h5_read(file, "/scalar", CORE_H5_I64, 0, NULL, &wide, true, err));
    core_h5_close(&file);
}

static void test_attributes(void **state) {
    (void)state;
    const double values[3] = {1.0, NAN, -3.0};
    core_h5 *file = create();
    OK(core_h5_group(file, "/g/h", "a group", err));
    OK(core_h5_group(file, "/g/h", "the group", err));
    OK(core_h5_set_number(file, "/g/h", "x", 0.1, err));
    OK(core_h5_set_number(file, "/g/h", "x", 0.2, err)); // replaced
    OK(core_h5_set_integer(file, "/", "n", INT64_MIN, err));
    OK(core_h5_set_numbers(file, "/g", "v", 3, values, err));
    OK(core_h5_set_text(file, "/g", "empty", "", err));
    OK(core_h5_set_text(file, "/g", "unit", "\xc2\xb5m", err));
    file = reopen(file);
    double x = 0.0, back[3] = {0};
    int64_t n = 5;
    char text[16] = "old";
    OK(core_h5_get_number(file, "/g/h", "x", &x, err));
    assert_true(x == 0.2);
    OK(core_h5_get_integer(file, "/", "n", &n, err));
    assert_true(n == INT64_MIN);
    OK(core_h5_get_number(file, "/", "n", &x, err)); // a whole number is a number
    OK(core_h5_get_numbers(file, "/g", "v", 3, back, err));
    assert_true(back[0] == 1.0 && isnan(back[1]) && back[2] == -3.0);
    OK(core_h5_get_text(file, "/g", "unit", text, sizeof text, err));
    assert_string_equal(text, "\xc2\xb5m");
    OK(core_h5_get_text(file, "/g/h", "description", text, sizeof text, err));
    assert_string_equal(text, "the group");
    OK(core_h5_get_text(file, "/g", "empty", text, 1, err));
    assert_string_equal(text, "");
    strcpy(text, "old");
    n = 5;
    FAILS(CORE_FORMAT, "attribute y is missing", core_h5_get_number(file, "/g/h", "y", &x, err));
    FAILS(CORE_FORMAT, "/g/k is missing", core_h5_get_number(file, "/g/k", "y", &x, err));
    FAILS(CORE_FORMAT, "expected a whole number", core_h5_get_integer(file, "/g/h", "x", &n, err));
    FAILS(CORE_FORMAT, "expected numbers", core_h5_get_number(file, "/g", "unit", &x, err));
    FAILS(CORE_FORMAT, "expected fixed-length text", core_h5_get_text(file, "/g/h", "x", text, sizeof text, err));
    FAILS(CORE_FORMAT, "found 3 values, expected 2", core_h5_get_numbers(file, "/g", "v", 2, back, err));
    FAILS(CORE_FORMAT, "found 9 bytes of text, expected at most 4",
          core_h5_get_text(file, "/g/h", "description", text, 5, err));
    assert_string_equal(text, "old");
    assert_true(n == 5);
    core_h5_close(&file);
}

static void test_text_names_and_links(void **state) {
    (void)state;
    const double x = 1.0;
    core_h5 *file = create();
    OK(core_h5_write_text(file, "/p/scene", "gravity: [0, -9.81]\n\xc3\xbc", "a scene", err));
    OK(core_h5_write_text(file, "/p/none", "", NULL, err));
    OK(core_h5_write(file, "/p/b", CORE_H5_F64, 0, NULL, &x, NULL, NULL, err));
    OK(core_h5_link(file, "/p/b", "/q/same", err));
    FAILS(CORE_ARG, "written twice", core_h5_write(file, "/p/b", CORE_H5_F64, 0, NULL, &x, NULL, NULL, err));
    FAILS(CORE_IO, "cannot link", core_h5_link(file, "/p/missing", "/q/other", err));
    file = reopen(file);
    char *text = NULL, name[16];
    double back = 0.0;
    int n = 0;
    OK(core_h5_read_text(file, "/p/scene", &text, err));
    assert_string_equal(text, "gravity: [0, -9.81]\n\xc3\xbc");
    core_free(text);
    OK(core_h5_read_text(file, "/p/none", &text, err));
    assert_string_equal(text, "");
    core_free(text);
    text = NULL;
    FAILS(CORE_FORMAT, "expected fixed-length text", core_h5_read_text(file, "/p/b", &text, err));
    FAILS(CORE_FORMAT, "is missing", core_h5_read_text(file, "/p/x", &text, err));
    assert_null(text);
    FAILS(CORE_FORMAT, "of another type, expected numbers",
          core_h5_read(file, "/p/scene", CORE_H5_F64, 0, NULL, &back, true, err));
    OK(core_h5_read(file, "/q/same", CORE_H5_F64, 0, NULL, &back, true, err));
    assert_true(back == 1.0);
    OK(core_h5_count(file, "/p", &n, err));
    assert_int_equal(n, 3);
    static const char *const sorted[] = {"b", "none", "scene"};
    for (int i = 0; i < 3; i++) {
        OK(core_h5_name(file, "/p", i, name, sizeof name, err));
        assert_string_equal(name, sorted[i]);
    }
    FAILS(CORE_FORMAT, "found a name of 5 bytes", core_h5_name(file, "/p", 2, name, 5, err));
    FAILS(CORE_FORMAT, "", core_h5_name(file, "/p", 3, name, sizeof name, err));
    FAILS(CORE_FORMAT, "group /r is missing", core_h5_count(file, "/r", &n, err));
    core_h5_close(&file);
}

static void test_read_checks(void **state) {
    (void)state;
    const double v[6] = {0, 1, 2, NAN, 4, INFINITY};
    const size_t dims[2] = {3, 2}, other[2] = {2, 3}, flat = 6;
    double back[6] = {0};
    int rank = 0;
    size_t found[4];
    core_h5 *file = create();
    OK(core_h5_write(file, "/v", CORE_H5_F64, 2, dims, v, NULL, NULL, err));
    file = reopen(file);
    FAILS(CORE_NONFINITE, "/v: element 3 is NaN", core_h5_read(file, "/v", CORE_H5_F64, 2, dims, back, true, err));
    FAILS(CORE_FORMAT, "/v: found size [3, 2], expected [2, 3]",
          core_h5_read(file, "/v", CORE_H5_F64, 2, other, back, false, err));
    FAILS(CORE_FORMAT, "/v: found size [3, 2], expected [6]",
          core_h5_read(file, "/v", CORE_H5_F64, 1, &flat, back, false, err));
    FAILS(CORE_FORMAT, "dataset /w is missing", core_h5_read(file, "/w", CORE_H5_F64, 1, &flat, back, false, err));
    FAILS(CORE_FORMAT, "found rank 2, expected at most 1", core_h5_size(file, "/v", 1, &rank, found, err));
    FAILS(CORE_ARG, "open for reading", core_h5_write(file, "/x", CORE_H5_F64, 2, dims, v, NULL, NULL, err));
    FAILS(CORE_ARG, "open for reading", core_h5_set_number(file, "/", "x", 1.0, err));
    FAILS(CORE_ARG, "open for reading", core_h5_group(file, "/x", NULL, err));
    core_h5_close(&file);
}

static void test_outline_round_trip(void **state) {
    (void)state;
    core_outline o = {0}, back = {0};
    OK(core_outline_create(2, (const int[]){4, 3}, &o, err));
    for (int i = 0; i < 14; i++) o.xy[i] = 0.1 * i;
    core_h5 *file = create();
    OK(core_h5_write_outline(file, "/polygon", &o, "m", err));
    FAILS(CORE_ARG, "no outline", core_h5_write_outline(file, "/nothing", &back, "m", err));
    // five that are no outlines
    static const int32_t bad[][3] = {{1, 4, 7}, {0, 2, 7}, {0, 5, 4}, {0, 4, 8}, {0, INT32_MAX, 7}};
    const size_t n_start = 3, n_points[2] = {7, 2};
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "/bad%d/ring_start", i);
        OK(core_h5_write(file, name, CORE_H5_I32, 1, &n_start, bad[i], NULL, NULL, err));
        snprintf(name, sizeof name, "/bad%d/points", i);
        OK(core_h5_write(file, name, CORE_H5_F64, 2, n_points, o.xy, NULL, NULL, err));
    }
    o.xy[3] = NAN;
    OK(core_h5_write_outline(file, "/nan", &o, "m", err));
    o.xy[3] = 0.1 * 3;
    file = reopen(file);
    OK(core_h5_read_outline(file, "/polygon", &back, err));
    assert_int_equal(core_outline_hash(&o), core_outline_hash(&back));
    core_outline_clear(&back);
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "/bad%d", i);
        FAILS(CORE_FORMAT, name, core_h5_read_outline(file, name, &back, err));
    }
    FAILS(CORE_NONFINITE, "/nan/points: element 3 is NaN", core_h5_read_outline(file, "/nan", &back, err));
    FAILS(CORE_FORMAT, "/none/ring_start is missing", core_h5_read_outline(file, "/none", &back, err));
    assert_null(back.xy);
    core_h5_close(&file);
    core_outline_clear(&o);
}

static void test_series(void **state) {
    (void)state;
    const char *path = test_folder_file(path_name);
    const size_t row[2] = {5, 2}, empty = 0;
    core_h5 *file = NULL;
    OK(core_h5_create_in_place(path, "cem.test", 1, &file, err));
    OK(core_h5_series_create(file, "/p/position/value", CORE_H5_F64, 2, row, 4, "m", "where", err));
    OK(core_h5_series_create(file, "/p/position/step", CORE_H5_I64, 0, NULL, 16, NULL, NULL, err));
    OK(core_h5_series_create(file, "/p/none", CORE_H5_U8, 1, &empty, 16, NULL, NULL, err));
    OK(core_h5_link(file, "/p/position/step", "/p/speed/step", err));
    FAILS(CORE_ARG, "created twice",
          core_h5_series_create(file, "/p/none", CORE_H5_U8, 1, &empty, 16, NULL, NULL, err));
    OK(core_h5_start(file, err));
    FAILS(CORE_ARG, "was started", core_h5_start(file, err));
    double v[10], back[10];
    for (int64_t k = 0; k < 23; k++) {
        for (int i = 0; i < 10; i++) v[i] = (double)(100 * k + i);
        OK(core_h5_series_append(file, "/p/position/value", CORE_H5_F64, 2, row, v, err));
        OK(core_h5_series_append(file, "/p/position/step", CORE_H5_I64, 0, NULL, &k, err));
        OK(core_h5_series_append(file, "/p/none", CORE_H5_U8, 1, &empty, NULL, err));
        OK(core_h5_flush(file, err));
    }
    OK(core_h5_series_read(file, "/p/position/value", CORE_H5_F64, 2, row, 22, back, err)); // while it is written
    assert_memory_equal(v, back, sizeof v);
    const size_t wrong[2] = {4, 2};
    FAILS(CORE_FORMAT, "found 5 in dimension 1, expected 4",
          core_h5_series_append(file, "/p/position/value", CORE_H5_F64, 2, wrong, v, err));
    OK(core_h5_finish(&file, err));
    assert_null(file);
    OK(core_h5_open(path, "cem.test", 1, &file, err));
    uint64_t stored = 0, computed = 1;
    OK(core_h5_content_hash(file, &stored, err));
    OK(core_h5_compute_hash(file, &computed, err));
    assert_int_equal(stored, computed);
    int64_t step = 0;
    for (size_t k = 0; k < 23; k++) {
        OK(core_h5_series_read(file, "/p/position/value", CORE_H5_F64, 2, row, k, back, err));
        for (int i = 0; i < 10; i++) assert_true(back[i] == 100.0 * (double)k + i);
        OK(core_h5_series_read(file, "/p/speed/step", CORE_H5_I64, 0, NULL, k, &step, err));
        assert_int_equal(step, k);
        OK(core_h5_series_read(file, "/p/none", CORE_H5_U8, 1, &empty, k, NULL, err));
    }
    FAILS(CORE_FORMAT, "found 23 rows",
          core_h5_series_read(file, "/p/position/value", CORE_H5_F64, 2, row, 23, back, err));
    FAILS(CORE_FORMAT, "found rank 3",
          core_h5_series_read(file, "/p/position/value", CORE_H5_F64, 1, row, 0, back, err));
    core_h5_close(&file);
}

/// Several rows at once are what one at a time would be; none is nothing.
static void test_series_rows(void **state) {
    (void)state;
    const char *path = test_folder_file(path_name);
    const size_t two = 2;
    core_h5 *file = NULL;
    double v[14], back[14];
    for (int i = 0; i < 14; i++) v[i] = i;
    OK(core_h5_create_in_place(path, "cem.test", 1, &file, err));
    OK(core_h5_series_create(file, "/s", CORE_H5_F64, 1, &two, 3, NULL, NULL, err));
    OK(core_h5_series_append_rows(file, "/s", CORE_H5_F64, 1, &two, 0, NULL, err));
    OK(core_h5_series_append_rows(file, "/s", CORE_H5_F64, 1, &two, 5, v, err));
    OK(core_h5_series_append(file, "/s", CORE_H5_F64, 1, &two, v + 10, err));
    OK(core_h5_series_append_rows(file, "/s", CORE_H5_F64, 1, &two, 1, v + 12, err));
    FAILS(CORE_ARG, "bad argument", core_h5_series_append_rows(file, "/s", CORE_H5_F64, 1, &two, 1, NULL, err));
    OK(core_h5_finish(&file, err));
    OK(core_h5_open(path, "cem.test", 1, &file, err));
    OK(core_h5_series_read_rows(file, "/s", CORE_H5_F64, 1, &two, 0, 7, back, err));
    assert_memory_equal(v, back, sizeof v);
    OK(core_h5_series_read_rows(file, "/s", CORE_H5_F64, 1, &two, 4, 2, back, err));
    assert_memory_equal(v + 8, back, 4 * sizeof *v);
    OK(core_h5_series_read_rows(file, "/s", CORE_H5_F64, 1, &two, 7, 0, NULL, err));
    FAILS(CORE_FORMAT, "found 7 rows, expected at least 2 from row 6 on",
          core_h5_series_read_rows(file, "/s", CORE_H5_F64, 1, &two, 6, 2, back, err));
    FAILS(CORE_FORMAT, "found 7 rows",
          core_h5_series_read_rows(file, "/s", CORE_H5_F64, 1, &two, 8, SIZE_MAX, back, err));
    core_h5_close(&file);
}

/// Writes datasets in one of two orders, with or without provenance and another chunk size; gives the content hash.
static uint64_t hash_of(bool reversed, bool provenance, double change) {
    const double a[2] = {1, 2 + change}, b[2] = {3, 4};
    const size_t n = 2;
    uint64_t hash = 0;
    core_h5 *file = create();
    if (provenance) {
        const char *const inputs[2] = {"x.h5", "y z.h5"};
        const uint64_t hashes[2] = {1, UINT64_MAX};
        const core_h5_provenance p = {"simulate 'a b'", 99, 2, inputs, hashes, "Haswell"};
        OK(core_h5_write_provenance(file, &p, err));
    }
    for (int i = 0; i < 2; i++) {
        bool first = (i == 0) != reversed;
        OK(core_h5_write(file, first ? "/g/a" : "/b", CORE_H5_F64, 1, &n, first ? a : b, reversed ? "m" : NULL, NULL,
                         err));
    }
    OK(core_h5_series_create(file, "/s", CORE_H5_F64, 1, &n, reversed ? 7 : 1, NULL, NULL, err));
    for (int i = 0; i < 3; i++) OK(core_h5_series_append(file, "/s", CORE_H5_F64, 1, &n, b, err));
    file = reopen(file);
    OK(core_h5_content_hash(file, &hash, err));
    uint64_t again = 0;
    OK(core_h5_compute_hash(file, &again, err));
    assert_int_equal(hash, again);
    core_h5_close(&file);
    return hash;
}

static void test_content_hash(void **state) {
    (void)state;
    uint64_t hash = hash_of(false, false, 0.0);
    assert_int_equal(hash_of(true, false, 0.0), hash);
    assert_int_equal(hash_of(false, true, 0.0), hash);
    assert_int_equal(hash_of(true, true, 0.0), hash);
    assert_true(hash_of(false, false, 1e-15) != hash);
}

/// The hash sees names, types and sizes, not bytes alone.
static void test_content_hash_sees_names_and_sizes(void **state) {
    (void)state;
    static const double v[4] = {1, 2, 3, 4};
    static const struct {
        const char *name;
        core_h5_type type;
        int rank;
        size_t dims[2];
    } cases[] = {{"/a", CORE_H5_F64, 1, {4, 0}}, {"/b", CORE_H5_F64, 1, {4, 0}}, {"/a", CORE_H5_F64, 2, {2, 2}},
                 {"/a", CORE_H5_F64, 2, {4, 1}}, {"/a", CORE_H5_I64, 1, {4, 0}}, {"/a", CORE_H5_U8, 1, {32, 0}}};
    uint64_t hashes[6];
    for (int i = 0; i < 6; i++) {
        core_h5 *file = create();
        OK(core_h5_write(file, cases[i].name, cases[i].type, cases[i].rank, cases[i].dims, v, NULL, NULL, err));
        OK(core_h5_compute_hash(file, &hashes[i], err));
        core_h5_abandon(&file);
        for (int k = 0; k < i; k++) assert_true(hashes[i] != hashes[k]);
    }
    assert_int_equal(test_folder_count(), 0);
}

/// Same calls, same bytes: nothing in a file depends on the time or on memory.
static void test_bytes_are_reproducible(void **state) {
    (void)state;
    char *first = NULL, *second = NULL;
    size_t n_first = 0, n_second = 0;
    hash_of(false, true, 0.0);
    OK(core_file_read(test_folder_file(path_name), 1 << 24, &first, &n_first, err));
    sleep(1);
    hash_of(false, true, 0.0);
    OK(core_file_read(test_folder_file(path_name), 1 << 24, &second, &n_second, err));
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
    core_free(first);
    core_free(second);
}

static void test_provenance_is_stored(void **state) {
    (void)state;
    core_h5 *file = NULL;
    char *text = NULL, word[128];
    int64_t seed = 0;
    hash_of(false, true, 0.0);
    OK(core_h5_open(test_folder_file(path_name), NULL, 2, &file, err));
    OK(core_h5_read_text(file, "/provenance/command_line", &text, err));
    assert_string_equal(text, "simulate 'a b'");
    core_free(text);
    OK(core_h5_read_text(file, "/provenance/inputs", &text, err));
    assert_string_equal(text, "0000000000000001  x.h5\nffffffffffffffff  y z.h5\n");
    core_free(text);
    OK(core_h5_get_integer(file, "/provenance", "seed", &seed, err));
    assert_int_equal(seed, 99);
    OK(core_h5_get_text(file, "/provenance", "program_version", word, sizeof word, err));
    assert_string_equal(word, "cem " CORE_VERSION);
    OK(core_h5_get_text(file, "/provenance", "blas_core", word, sizeof word, err));
    assert_string_equal(word, "Haswell");
    core_h5_close(&file);
}

static void test_abandon_leaves_nothing(void **state) {
    (void)state;
    const char *path = test_folder_file(path_name);
    OK(core_file_write(path, "old", 3, err));
    core_h5 *file = create();
    assert_int_equal(test_folder_count(), 2);
    core_h5_abandon(&file);
    core_h5_abandon(&file);
    assert_int_equal(test_folder_count(), 1);
    char *text = NULL;
    size_t n = 0;
    OK(core_file_read(path, 10, &text, &n, err));
    assert_string_equal(text, "old");
    core_free(text);
    file = create();
    assert_string_equal(core_h5_path(file), path);
    OK(core_h5_commit(&file, err));
    assert_int_equal(test_folder_count(), 1);
}

/// One file with everything; false if a call failed.
static core_status write_all(const char *path, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    const double v[4] = {1, 2, 3, 4};
    const size_t dims[2] = {2, 2};
    const core_h5_provenance p = {"x", 1, 0, NULL, NULL, NULL};
    CORE_TRY_DONE(core_h5_create(path, "cem.test", 1, &file, err));
    CORE_TRY_DONE(core_h5_write_provenance(file, &p, err));
    CORE_TRY_DONE(core_h5_write(file, "/a/b", CORE_H5_F64, 2, dims, v, "m", "x", err));
    CORE_TRY_DONE(core_h5_series_create(file, "/s", CORE_H5_F64, 1, dims, 4, NULL, NULL, err));
    CORE_TRY_DONE(core_h5_series_append(file, "/s", CORE_H5_F64, 1, dims, v, err));
    CORE_TRY_DONE(core_h5_commit(&file, err));
done:
    core_h5_abandon(&file);
    return status;
}

static core_status read_all(const char *path, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    double v[4];
    char text[16];
    const size_t dims[2] = {2, 2};
    CORE_TRY_DONE(core_h5_open(path, "cem.test", 1, &file, err));
    CORE_TRY_DONE(core_h5_read(file, "/a/b", CORE_H5_F64, 2, dims, v, true, err));
    CORE_TRY_DONE(core_h5_series_read(file, "/s", CORE_H5_F64, 1, dims, 0, v, err));
    CORE_TRY_DONE(core_h5_get_text(file, "/a/b", "units", text, sizeof text, err));
done:
    core_h5_close(&file);
    return status;
}

static void test_out_of_memory(void **state) {
    (void)state;
    const char *path = test_folder_file(path_name);
    core_status (*const work[2])(const char *, core_error *) = {write_all, read_all};
    for (int w = 0; w < 2; w++) {
        core_error err = {0};
        uint64_t before = core_alloc_count();
        assert_int_equal(work[w](path, &err), CORE_OK);
        uint64_t n = core_alloc_count() - before;
        assert_true(n > 3 && n < 100);
        for (uint64_t k = 1; k <= n; k++) {
            core_alloc_fail_after(k);
            core_status status = work[w](path, &err);
            core_alloc_fail_after(0);
            // the folder's sync after a rename is not worth a failure
            if (status != CORE_OK && status != CORE_MEMORY && status != CORE_IO)
                fail_msg("allocation %d: %s", (int)k, err.message);
            assert_int_equal(test_folder_count(), 1);
        }
    }
}

/// A file of one number at `path`, of the given version; the one before is kept.
static void write_number(const char *path, int version, double value) {
    core_h5 *file = NULL;
    OK(core_h5_create(path, "cem.test", version, &file, err));
    OK(core_h5_write(file, "/x", CORE_H5_F64, 0, NULL, &value, NULL, NULL, err));
    OK(core_h5_rotate(&file, err));
    assert_null(file);
}

/// core_h5_rotate keeps the file before; core_h5_open_whole takes one version, and the very numbers that were written.
static void test_states_are_whole(void **state) {
    (void)state;
    const char *path = test_folder_file("state.h5"), *previous = test_folder_file("state.h5.1");
    const double value = 0.1, changed = 0.2;
    core_h5 *file = NULL;
    char *bytes = NULL;
    size_t n = 0, at = 0;
    double x = 0;
    write_number(path, 2, 7);
    write_number(path, 2, value);
    assert_int_equal(test_folder_count(), 2);
    OK(core_h5_open_whole(previous, "cem.test", 2, &file, err));
    OK(core_h5_read(file, "/x", CORE_H5_F64, 0, NULL, &x, true, err));
    core_h5_close(&file);
    assert_true(x == 7);
    FAILS(CORE_VERSION_OTHER, "state.h5: found cem.test version 2, expected at most 1",
          core_h5_open_whole(path, "cem.test", 1, &file, err));
    FAILS(CORE_VERSION_OTHER, "state.h5: found cem.test version 2, expected 3: an older cem wrote it",
          core_h5_open_whole(path, "cem.test", 3, &file, err));
    FAILS(CORE_FORMAT, "expected \"cem.other\"", core_h5_open_whole(path, "cem.other", 2, &file, err));
    FAILS(CORE_ARG, "null", core_h5_open_whole(path, NULL, 2, &file, err));
    FAILS(CORE_ARG, "null", core_h5_rotate(&file, err));
    OK(core_file_read(path, (size_t)1 << 20, &bytes, &n, err));
    while (at + sizeof value <= n && memcmp(bytes + at, &value, sizeof value) != 0) at++;
    memcpy(bytes + at, &changed, sizeof changed); // no piece of metadata: no checksum of HDF5 sees it
    OK(core_file_write(path, bytes, n, err));
    core_free(bytes);
    FAILS(CORE_FORMAT, "state.h5: the file is damaged", core_h5_open_whole(path, "cem.test", 2, &file, err));
    assert_null(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_types_round_trip, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_scalars_empty_and_conversions, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_attributes, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_text_names_and_links, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_read_checks, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_outline_round_trip, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_series, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_series_rows, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_content_hash, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_content_hash_sees_names_and_sizes, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_bytes_are_reproducible, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_provenance_is_stored, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_abandon_leaves_nothing, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_states_are_whole, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_out_of_memory, test_folder_make, test_folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
