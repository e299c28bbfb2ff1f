/// Numbers and words typed by people.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void test_numbers_accepted(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0", 0.0},        {"-0", -0.0},     {"1", 1.0},
                 {"+2.5", 2.5},     {"-3.25", -3.25}, {".5", 0.5},
                 {"5.", 5.0},       {"1e3", 1000},    {"1E-3", 0.001},
                 {"2.5e+2", 250},   {"007", 7.0},     {"0.1", 0.1},
                 {"1e308", 1e308},  {"1e-400", 0.0},  {"123456789012345678", 123456789012345678.0},
                 {"-1e308", -1e308}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double x = NAN;
        assert_int_equal(core_parse_number(cases[i].text, "x", -HUGE_VAL, HUGE_VAL, &x, NULL), CORE_OK);
        assert_memory_equal(&x, &cases[i].value, sizeof x);
    }
}

static void test_numbers_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",    " ",    " 1",       "1 ",       "1 2",   "0,5",   "--5",   "+-5",
                                      "+",   "-",    ".",        "e5",       "1e",    "1e+",   "nan",   "NaN",
                                      "inf", "-inf", "infinity", "0x10",     "0x1p3", "1_000", "1e5.0", "1.2.3",
                                      "abc", "1m",   "1\n",      "\xc2\xbd", "1e5e5", "1f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x = 42.0;
        core_error err = {0};
        if (core_parse_number(bad[i], "--samples", -HUGE_VAL, HUGE_VAL, &x, &err) != CORE_FORMAT)
            fail_msg("\"%s\" was accepted", bad[i]);
        assert_true(x == 42.0);
        assert_non_null(strstr(err.message, "--samples: found \""));
    }
}

static void test_number_range(void **state) {
    (void)state;
    core_error err = {0};
    double x = 42.0;
    assert_int_equal(core_parse_number("1e999", "x", -HUGE_VAL, HUGE_VAL, &x, &err), CORE_RANGE);
    assert_int_equal(core_parse_number("-1e999", "x", -HUGE_VAL, HUGE_VAL, &x, &err), CORE_RANGE);
    assert_int_equal(core_parse_number("1.5", "--near", 0.0, 1.0, &x, &err), CORE_RANGE);
    assert_string_equal(err.message, "--near: found 1.5, expected a number from 0 to 1");
    assert_int_equal(core_parse_number("-1", "x", 0.0, HUGE_VAL, &x, &err), CORE_RANGE);
    assert_string_equal(err.message, "x: found -1, expected a number of at least 0");
    assert_true(x == 42.0);
    assert_int_equal(core_parse_number("1", "x", 0.0, 1.0, &x, &err), CORE_OK);
    assert_int_equal(core_parse_number(NULL, "x", 0.0, 1.0, &x, &err), CORE_ARG);
}

/// Decimal points stay decimal points where the locale has a comma (if the machine has such a locale).
static void test_number_in_a_locale(void **state) {
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "da_DK.UTF-8", "C"};
    for (int i = 0; i < 5 && !setlocale(LC_ALL, names[i]); i++) continue;
    double x = 0.0;
    assert_int_equal(core_parse_number("0.5", "x", 0.0, 1.0, &x, NULL), CORE_OK);
    assert_true(x == 0.5);
    setlocale(LC_ALL, "C");
}

static void test_integers(void **state) {
    (void)state;
    core_error err = {0};
    int64_t n = 42;
    assert_int_equal(core_parse_integer("-9223372036854775808", "n", INT64_MIN, INT64_MAX, &n, &err), CORE_OK);
    assert_true(n == INT64_MIN);
    assert_int_equal(core_parse_integer("9223372036854775807", "n", INT64_MIN, INT64_MAX, &n, &err), CORE_OK);
    assert_true(n == INT64_MAX);
    assert_int_equal(core_parse_integer("+017", "n", 0, 100, &n, &err), CORE_OK);
    assert_int_equal(n, 17);
    static const char *const large[] = {"9223372036854775808", "-9223372036854775809", "99999999999999999999999", "101",
                                        "-1"};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_int_equal(core_parse_integer(large[i], "n", i < 3 ? INT64_MIN : 0, i < 3 ? INT64_MAX : 100, &n, &err),
                         CORE_RANGE);
    static const char *const bad[] = {"", "-", "1.0", "1e3", "0x10", " 1", "1 ", "--5", "ten", "1,000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(core_parse_integer(bad[i], "n", INT64_MIN, INT64_MAX, &n, &err), CORE_FORMAT);
    assert_int_equal(n, 17);
    core_parse_integer("0", "--threads", 1, 64, &n, &err);
    assert_string_equal(err.message, "--threads: found 0, expected a whole number from 1 to 64");
}

static void test_nearest_word(void **state) {
    (void)state;
    static const char *const words[] = {"gravity", "density", "radius", "restitution", "kn", "kt"};
    assert_string_equal(core_nearest_word("gravty", words, 6), "gravity");
    assert_string_equal(core_nearest_word("Gravity", words, 6), "gravity");
    assert_string_equal(core_nearest_word("restituion", words, 6), "restitution");
    assert_string_equal(core_nearest_word("radius", words, 6), "radius");
    assert_string_equal(core_nearest_word("kn2", words, 6), "kn");
    assert_string_equal(core_nearest_word("k", words, 6), "kn"); // the first of two equally near ones
    assert_null(core_nearest_word("zzzzzzz", words, 6));
    assert_null(core_nearest_word("xy", words, 6)); // shares nothing with kn
    assert_null(core_nearest_word("", words, 6));
    assert_null(core_nearest_word("gravity", words, 0));
    char endless[500];
    memset(endless, 'a', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    assert_null(core_nearest_word(endless, words, 6));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_accepted), cmocka_unit_test(test_numbers_refused),
        cmocka_unit_test(test_number_range),     cmocka_unit_test(test_number_in_a_locale),
        cmocka_unit_test(test_integers),         cmocka_unit_test(test_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
