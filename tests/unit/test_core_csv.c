/// CSV tables: rows as they were written, refusals that name file, line and column, memory refused at each allocation.
#include "test_folder.h"

#include "core_csv.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const core_csv_column columns[] = {{"name", true, true}, {"x", true, false}, {"y", false, false}};
static const core_csv_column numbers[] = {{"x", true, false}, {"y", false, false}};

static core_status read_text(const char *text, int count, const core_csv_column *list, core_csv *csv, core_error *err) {
    char path[TEST_PATH_MAX];
    return core_csv_read(test_folder_write(path, "t.csv", text), count, list, csv, err);
}

static void rows_are_what_was_written(void **state) {
    (void)state;
    core_csv csv = {0};
    core_error err = {0};
    assert_int_equal(read_text("y, name ,x\r\n-1e-3,a b,\t2\r\n\r\n \t\n5,c,.25", 3, columns, &csv, &err), CORE_OK);
    assert_true(csv.count_rows == 2 && csv.count_columns == 3 && csv.count_found == 3);
    assert_string_equal(csv.words[0], "a b");
    assert_string_equal(csv.words[1], "c");
    const double expected[] = {0, 2, -1e-3, 0, .25, 5};
    assert_memory_equal(csv.values, expected, sizeof expected);
    assert_true(csv.lines[0] == 2 && csv.lines[1] == 5);
    core_csv_clear(&csv);
    core_csv_clear(&csv);
    core_csv_clear(NULL);
    assert_int_equal(read_text("x\n7\n", 2, numbers, &csv, &err), CORE_OK);
    assert_true(csv.count_rows == 1 && csv.count_found == 1 && csv.words == NULL);
    assert_true(csv.values[0] == 7 && csv.values[1] == 0);
    core_csv_clear(&csv);
}

static void an_open_descriptor_is_read_from_where_it_is(void **state) {
    (void)state;
    core_csv csv = {0};
    core_error err = {0};
    char path[TEST_PATH_MAX];
    int fd = open(test_folder_write(path, "t.csv", "#\nx,y\n1,2\n"), O_RDONLY);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
    assert_int_equal(core_csv_read_open(fd, "input", 2, numbers, &csv, &err), CORE_OK);
    assert_true(csv.count_rows == 1 && csv.values[0] == 1 && csv.values[1] == 2);
    core_csv_clear(&csv);
    assert_int_equal(core_csv_read_open(fd, "input", 2, numbers, &csv, &err), CORE_FORMAT); // nothing is left
    assert_non_null(strstr(err.message, "input: empty"));
    assert_int_equal(close(fd), 0);
    assert_int_equal(core_csv_read_open(fd, "input", 2, numbers, &csv, &err), CORE_IO);
    assert_non_null(strstr(err.message, "input: cannot read"));
}

static void refusals_name_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        core_status code;
    } bad[] = {{"", "t.csv: empty", CORE_FORMAT},
               {"name,x\n", "no rows", CORE_FORMAT},
               {"name,z\na,1\n", "t.csv:1: column 2: found \"z\"", CORE_FORMAT},
               {"name\na\n", "column \"x\" is missing", CORE_FORMAT},
               {"name,x,x\na,1,1\n", "column \"x\" a second time", CORE_FORMAT},
               {"name,x\na,1\nb\n", "t.csv:3: found 1 columns, expected 2", CORE_FORMAT},
               {"name,x\na,1,\n", "t.csv:2: found 3 columns, expected 2", CORE_FORMAT},
               {"name,x\na,\n", "t.csv:2: column x: found nothing", CORE_FORMAT},
               {"name,x\n,1\n", "t.csv:2: column name: found nothing, expected a name", CORE_FORMAT},
               {"name,x\na,0x10\n", "t.csv:2: column x", CORE_FORMAT},
               {"name,x\na,nan\n", "t.csv:2: column x", CORE_FORMAT}};
    core_csv csv = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        core_error err = {0};
        assert_int_equal(read_text(bad[i].text, 3, columns, &csv, &err), bad[i].code);
        if (!strstr(err.message, bad[i].message)) fail_msg("%s: %s", bad[i].message, err.message);
        assert_null(csv.values);
    }
    char path[TEST_PATH_MAX];
    core_error err = {0};
    test_folder_path(path, "t.csv");
    assert_int_equal(core_file_write(path, "x,y\n1,2\0,3\n", 11, &err), CORE_OK);
    assert_int_equal(core_csv_read(path, 2, numbers, &csv, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "zero byte"));
    assert_int_equal(core_csv_read(test_folder_file("none.csv"), 2, numbers, &csv, &err), CORE_IO);
    assert_int_equal(core_csv_read(NULL, 2, numbers, &csv, &err), CORE_ARG);
    assert_int_equal(core_csv_read(path, 0, numbers, &csv, &err), CORE_ARG);
    assert_int_equal(core_csv_read(path, 17, numbers, &csv, &err), CORE_ARG);
    assert_int_equal(core_csv_read(path, 2, NULL, &csv, &err), CORE_ARG);
    assert_int_equal(core_csv_read_open(0, NULL, 2, numbers, &csv, &err), CORE_ARG);
}

static void memory_may_be_refused(void **state) {
    (void)state;
    for (uint64_t n = 1;; n++) {
        core_csv csv = {0};
        core_error err = {0};
        char path[TEST_PATH_MAX];
        test_folder_write(path, "t.csv", "name,x\na,1\nb,2\n");
        core_alloc_fail_after(n);
        const core_status status = core_csv_read(path, 3, columns, &csv, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            assert_true(n >= 4);
            core_csv_clear(&csv);
            return;
        }
        assert_int_equal(status, CORE_MEMORY);
        assert_null(csv.values);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_was_written), cmocka_unit_test(an_open_descriptor_is_read_from_where_it_is),
        cmocka_unit_test(refusals_name_line_and_column), cmocka_unit_test(memory_may_be_refused)};
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
