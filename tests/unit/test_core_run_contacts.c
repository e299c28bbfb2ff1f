/// Contact rows of run files: written and read back to the bit, frames without any, and every way they can be wrong.
#include "test_folder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core_run.h"

#define ROWS 6
#define SPRING 1234.5678 // a value that nothing else in the file has

static int ring_start[2] = {0, 3};
static double outline_xy[6] = {1, 0, 0, 1, -1, 0};
static const core_run_plane planes[2] = {{"floor", {0, 1}, 0}, {"wall", {1, 0}, 0}};

static core_run_writer *create(const char *path, bool contacts) {
    static const int32_t species[ROWS] = {0};
    static const double mass[ROWS] = {1, 1, 1, 1, 1, 1};
    const core_run_type type = {
        .name = "t", .shape = "s", .radius = 1, .density = 1, .outline = {1, ring_start, outline_xy}};
    const core_run_def def = {.count_rows = ROWS,
                              .count_types = 1,
                              .types = &type,
                              .count_planes = 2,
                              .planes = planes,
                              .species = species,
                              .mass = mass,
                              .dt = 1,
                              .contacts = contacts};
    core_error err = {0};
    core_run_writer *w = NULL;
    if (core_run_create(path, &def, &w, &err) != CORE_OK) fail_msg("%s", err.message);
    return w;
}

static core_run_frame new_frame(void) {
    core_error err = {0};
    core_run_frame frame = {0};
    if (core_run_frame_create(ROWS, 0, 2, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    for (int i = 0; i < ROWS; i++) frame.id[i] = i;
    return frame;
}

static core_run_contact contact(int k) {
    return (core_run_contact){.bodies = {k % 3 == 0 ? -1 - k % 2 : k % 4, 4 + k % 2},
                              .feature = k,
                              .sliding = k % 2,
                              .d = -1e-5 * k,
                              .gradient = {cos(k), sin(k)},
                              .d_theta_b = 0.25 * k,
                              .moment_arm = {1 + k, -2 - k},
                              .f_n = exp(k % 7),
                              .f_t = -0.5 * k,
                              .spring = k == 1 ? SPRING : 1e-300 * k};
}

/// Frame i has (7 i) mod 5 contacts.
static int count_of(int i) {
    return 7 * i % 5;
}

static void write_run(const char *path, int frames) {
    core_error err = {0};
    core_run_writer *w = create(path, true);
    core_run_frame frame = new_frame();
    core_run_contact rows[5];
    int next = 0;
    for (int i = 0; i < frames; i++) {
        for (int k = 0; k < count_of(i); k++) rows[k] = contact(next++);
        frame.time = frame.step = i;
        frame.count_contacts = count_of(i), frame.contacts = rows;
        if (core_run_append(w, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    }
    if (core_run_finish(&w, &err) != CORE_OK) fail_msg("%s", err.message);
    frame.contacts = NULL;
    core_run_frame_clear(&frame);
}

static void to_the_bit(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_reader *r = NULL;
    const int frames = 600; // more rows than a chunk has
    write_run(test_folder_path(path, "a.h5"), frames);
    if (core_run_open(path, &r, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_true(core_run_describe(r)->contacts);
    int next = 0;
    for (int i = 0; i < frames; i++) {
        core_run_contact *rows = NULL;
        int64_t n = -1;
        if (core_run_read_contacts(r, i, &rows, &n, &err) != CORE_OK) fail_msg("%s", err.message);
        assert_int_equal(n, count_of(i));
        for (int k = 0; k < n; k++, next++) {
            const core_run_contact expected = contact(next);
            assert_memory_equal(&rows[k], &expected, sizeof expected);
        }
        core_free(rows);
    }
    core_run_contact *rows = NULL;
    int64_t n = 0;
    assert_int_equal(core_run_read_contacts(r, frames, &rows, &n, &err), CORE_RANGE);
    assert_int_equal(core_run_read_contacts(r, -1, &rows, &n, &err), CORE_RANGE);
    assert_null(rows);
    core_run_close(&r);
}

static void refused_when_written(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    const core_run_contact good = contact(1);
    core_run_contact bad[6];
    for (int i = 0; i < 6; i++) bad[i] = good;
    bad[0].bodies[1] = ROWS;
    bad[1].bodies[0] = bad[1].bodies[1];
    bad[2].bodies[0] = -3;
    bad[3].f_t = NAN;
    bad[4].gradient[1] = HUGE_VAL;
    bad[5].bodies[1] = -1;
    for (int i = 0; i < 6; i++) {
        core_error err = {0};
        core_run_writer *w = create(test_folder_path(path, "b.h5"), true);
        core_run_frame frame = new_frame();
        frame.count_contacts = 1, frame.contacts = &bad[i];
        assert_int_equal(core_run_append(w, &frame, &err), i == 3 || i == 4 ? CORE_NONFINITE : CORE_RANGE);
        assert_non_null(strstr(err.message, "/contacts"));
        (void)core_run_finish(&w, NULL);
        frame.contacts = NULL;
        core_run_frame_clear(&frame);
    }
}

/// Replaces each occurrence of a byte pattern in a file; fails if there is none.
static void patch(const char *path, const void *from, const void *to, size_t n) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long size = ftell(f);
    assert_true(size > (long)n);
    char *bytes = malloc((size_t)size);
    assert_non_null(bytes);
    rewind(f);
    assert_int_equal(fread(bytes, 1, (size_t)size, f), size);
    int count = 0;
    for (long i = 0; i + (long)n <= size; i++) {
        if (memcmp(bytes + i, from, n) != 0) continue;
        memcpy(bytes + i, to, n);
        count++;
    }
    assert_true(count > 0);
    rewind(f);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, f), size);
    fclose(f);
    free(bytes);
}

static void expect_refused(const char *path, int64_t frame, core_status code, const char *part) {
    core_error err = {0};
    core_run_reader *r = NULL;
    core_run_contact *rows = NULL;
    int64_t n = 0;
    core_status status = core_run_open(path, &r, &err);
    if (status == CORE_OK) status = core_run_read_contacts(r, frame, &rows, &n, &err);
    if (!strstr(err.message, part)) fail_msg("found \"%s\", expected \"%s\" in it", err.message, part);
    assert_int_equal(status, code);
    assert_null(rows);
    core_run_close(&r);
}

static void damaged(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    const double spring = SPRING, none = NAN;
    write_run(test_folder_path(path, "spring.h5"), 3);
    patch(path, &spring, &none, sizeof spring);
    expect_refused(path, 1, CORE_NONFINITE, "/contacts: nan in row 1");
    // the first two contacts: (-1, 4) and (1, 5)
    const int32_t bodies[4] = {-1, 4, 1, 5}, wrong[4] = {-1, 4, 1, ROWS};
    write_run(test_folder_path(path, "bodies.h5"), 3);
    patch(path, bodies, wrong, sizeof bodies);
    expect_refused(path, 1, CORE_FORMAT, "(1, 6) in row 1");
    // ends of the three frames: 0, 2, 6
    const int64_t ends[3] = {0, 2, 6}, back[3] = {0, 2, 1}, far[3] = {0, 2, INT64_MAX}, negative[3] = {0, -2, 6};
    write_run(test_folder_path(path, "back.h5"), 3);
    patch(path, ends, back, sizeof ends);
    expect_refused(path, 2, CORE_FORMAT, "1 behind 2 in frame 2");
    write_run(test_folder_path(path, "far.h5"), 3);
    patch(path, ends, far, sizeof ends);
    expect_refused(path, 2, CORE_FORMAT, "expected at least 9223372036854775807");
    write_run(test_folder_path(path, "negative.h5"), 3);
    patch(path, ends, negative, sizeof ends);
    expect_refused(path, 1, CORE_FORMAT, "-2 behind 0");
}

static void none_declared(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = create(test_folder_path(path, "n.h5"), false);
    core_run_frame frame = new_frame();
    if (core_run_append(w, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    if (core_run_finish(&w, &err) != CORE_OK) fail_msg("%s", err.message);
    core_run_frame_clear(&frame);
    expect_refused(path, 0, CORE_UNSUPPORTED, "no contact rows");
}

static void out_of_memory(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_reader *r = NULL;
    core_run_contact *rows = NULL;
    int64_t n = 0;
    write_run(test_folder_path(path, "m.h5"), 2);
    int failures = 0;
    for (int k = 1;; k++, failures++) {
        if (core_run_open(path, &r, &err) != CORE_OK) fail_msg("%s", err.message);
        core_alloc_fail_after(k);
        const core_status status = core_run_read_contacts(r, 1, &rows, &n, &err);
        core_alloc_fail_after(0);
        core_run_close(&r);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(rows);
    }
    assert_true(failures >= 2);
    core_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(to_the_bit, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(refused_when_written, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(damaged, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(none_declared, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(out_of_memory, test_folder_make, test_folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
