/// Allocation and failure messages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <stdio.h>
#include <string.h>

static void test_alloc_is_zeroed_and_aligned(void **state) {
    (void)state;
    for (size_t n = 1; n < 3000; n += 61) {
        unsigned char *p = core_alloc(n, 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xff, n); // the next block at this place must be zero again
        core_free(p);
    }
}

static void test_alloc_of_nothing_is_valid(void **state) {
    (void)state;
    void *a = core_alloc(0, 8), *b = core_alloc(8, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    core_free(a);
    core_free(b);
    core_free(NULL);
}

static void test_alloc_refuses_overflow(void **state) {
    (void)state;
    assert_null(core_alloc(SIZE_MAX, 2));
    assert_null(core_alloc(SIZE_MAX / 2 + 1, 2)); // product 0
    assert_null(core_alloc((SIZE_MAX >> 32) + 1, (size_t)1 << 32));
    assert_null(core_alloc(SIZE_MAX / 16 + 2, 16)); // product 16
    assert_null(core_alloc((size_t)1 << 50, 1));
    assert_null(core_realloc(NULL, 0, SIZE_MAX, 16));
}

static void test_realloc_keeps_content_and_alignment(void **state) {
    (void)state;
    int *p = core_alloc(10, sizeof *p);
    for (int i = 0; i < 10; i++) p[i] = i;
    int *larger = core_realloc(p, 10, 1000, sizeof *p);
    assert_non_null(larger);
    assert_int_equal((uintptr_t)larger % 64, 0);
    for (int i = 0; i < 10; i++) assert_int_equal(larger[i], i);
    int *smaller = core_realloc(larger, 1000, 3, sizeof *p);
    assert_non_null(smaller);
    for (int i = 0; i < 3; i++) assert_int_equal(smaller[i], i);
    // a failure leaves the old block alone
    assert_null(core_realloc(smaller, 3, SIZE_MAX, sizeof *p));
    core_alloc_fail_after(1);
    assert_null(core_realloc(smaller, 3, 4, sizeof *p));
    assert_int_equal(smaller[2], 2);
    core_free(smaller);
}

static void test_count_and_injected_failure(void **state) {
    (void)state;
    uint64_t before = core_alloc_count();
    void *a = core_alloc(1, 1);
    assert_int_equal(core_alloc_count(), before + 1);
    core_alloc_fail_after(2);
    void *b = core_alloc(1, 1), *c = core_alloc(1, 1), *d = core_alloc(1, 1);
    assert_non_null(b);
    assert_null(c);
    assert_non_null(d); // once only
    core_alloc_fail_after(1);
    core_alloc_fail_after(0);
    void *e = core_alloc(1, 1);
    assert_non_null(e);
    core_free(a);
    core_free(b);
    core_free(d);
    core_free(e);
}

static core_status fails(core_error *err, int x) {
    CORE_CHECK(x > 0, CORE_RANGE, "x: found %d, expected a number above 0", x);
    return CORE_OK;
}

static void test_message_code_and_place(void **state) {
    (void)state;
    core_error err = {0};
    assert_int_equal(fails(&err, 1), CORE_OK);
    assert_int_equal(err.code, CORE_OK);
    assert_int_equal(fails(&err, -3), CORE_RANGE);
    assert_int_equal(err.code, CORE_RANGE);
    assert_string_equal(err.message, "x: found -3, expected a number above 0");
    assert_non_null(strstr(err.file, "test_core_alloc.c"));
    assert_true(err.line > 0);
    assert_int_equal(fails(NULL, -3), CORE_RANGE);
}

static void test_message_prefix_and_alias(void **state) {
    (void)state;
    core_error err = {0};
    fails(&err, -3);
    assert_int_equal(core_error_prefix(&err, CORE_FORMAT, "%s:%d", "scene.yaml", 7), CORE_FORMAT);
    assert_string_equal(err.message, "scene.yaml:7: x: found -3, expected a number above 0");
    assert_int_equal(core_error_prefix(NULL, CORE_IO, "x"), CORE_IO);
    // the message may be an argument of its own successor
    CORE_FAIL(&err, CORE_IO, "again: %s", err.message);
    assert_string_equal(err.message, "again: scene.yaml:7: x: found -3, expected a number above 0");
}

static void test_message_is_one_line_and_bounded(void **state) {
    (void)state;
    core_error err = {0};
    CORE_FAIL(&err, CORE_IO, "a\nb\tc\x1b[31m\n");
    assert_string_equal(err.message, "a?b?c?[31m");
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    CORE_FAIL(&err, CORE_IO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    core_error_prefix(&err, CORE_IO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void test_status_names_differ(void **state) {
    (void)state;
    for (int a = CORE_OK; a <= CORE_INTERNAL; a++)
        for (int b = CORE_OK; b < a; b++)
            assert_string_not_equal(core_status_name((core_status)a), core_status_name((core_status)b));
    assert_string_equal(core_status_name((core_status)999), "unknown status");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_is_zeroed_and_aligned), cmocka_unit_test(test_alloc_of_nothing_is_valid),
        cmocka_unit_test(test_alloc_refuses_overflow),      cmocka_unit_test(test_realloc_keeps_content_and_alignment),
        cmocka_unit_test(test_count_and_injected_failure),  cmocka_unit_test(test_message_code_and_place),
        cmocka_unit_test(test_message_prefix_and_alias),    cmocka_unit_test(test_message_is_one_line_and_bounded),
        cmocka_unit_test(test_status_names_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
