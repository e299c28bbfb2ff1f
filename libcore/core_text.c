/// Numbers and words typed by people: strict parsing, nearest known word.
#define _POSIX_C_SOURCE 200809L // newlocale, uselocale

#include "core.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_WORD_MAX 128 // longer words have no nearest one

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p) {
    while (is_digit(*p)) p++;
    return p;
}

/// [sign] digits [. digits] [e [sign] digits], at least one digit in front of the exponent, nothing else.
static bool is_decimal(const char *text) {
    const char *p = text;
    if (*p == '+' || *p == '-') p++;
    const char *whole = p;
    p = skip_digits(p);
    size_t digits = (size_t)(p - whole);
    if (*p == '.') {
        const char *fraction = ++p;
        p = skip_digits(p);
        digits += (size_t)(p - fraction);
    }
    if (digits == 0) return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!is_digit(*p)) return false;
        p = skip_digits(p);
    }
    return *p == '\0';
}

/// strtod with a decimal point, whatever locale the program runs in.
static bool decimal_value(const char *text, double *value) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    locale_t before = uselocale(plain);
    *value = strtod(text, NULL);
    uselocale(before);
    freelocale(plain);
    return true;
}

/// "a number above 0" in words: the range as far as it is one.
static void range_text(double min, double max, char *text, size_t n_bytes) {
    bool low = min > -HUGE_VAL, high = max < HUGE_VAL;
    if (low && high)
        snprintf(text, n_bytes, " from %.10g to %.10g", min, max);
    else if (low)
        snprintf(text, n_bytes, " of at least %.10g", min);
    else if (high)
        snprintf(text, n_bytes, " of at most %.10g", max);
    else
        text[0] = '\0';
}

core_status core_parse_number(const char *text, const char *what, double min, double max, double *value,
                              core_error *err) {
    CORE_CHECK(text && what && value, CORE_ARG, "number: null pointer");
    char range[80];
    range_text(min, max, range, sizeof range);
    CORE_CHECK(is_decimal(text), CORE_FORMAT, "%s: found \"%.100s\", expected a number%s", what, text, range);
    double x = 0.0;
    CORE_CHECK(decimal_value(text, &x), CORE_MEMORY, "%s: out of memory", what);
    CORE_CHECK(isfinite(x), CORE_RANGE, "%s: found %.100s, too large for a double; expected a number%s", what, text,
               range);
    CORE_CHECK(x >= min && x <= max, CORE_RANGE, "%s: found %.100s, expected a number%s", what, text, range);
    *value = x;
    return CORE_OK;
}

/// Whole number text to int64; false if it does not fit.
static bool integer_value(const char *text, int64_t *value) {
    bool negative = *text == '-';
    if (*text == '+' || *text == '-') text++;
    int64_t x = 0; // counted down: the negative range is the larger one
    for (; *text; text++) {
        int digit = *text - '0';
        if (x < (INT64_MIN + digit) / 10) return false;
        x = x * 10 - digit;
    }
    if (!negative && x == INT64_MIN) return false;
    *value = negative ? x : -x;
    return true;
}

core_status core_parse_integer(const char *text, const char *what, int64_t min, int64_t max, int64_t *value,
                               core_error *err) {
    CORE_CHECK(text && what && value, CORE_ARG, "integer: null pointer");
    char range[80];
    range_text(min > INT64_MIN ? (double)min : -HUGE_VAL, max < INT64_MAX ? (double)max : HUGE_VAL, range,
               sizeof range);
    const char *digits = *text == '+' || *text == '-' ? text + 1 : text;
    CORE_CHECK(is_digit(*digits) && *skip_digits(digits) == '\0', CORE_FORMAT,
               "%s: found \"%.100s\", expected a whole number%s", what, text, range);
    int64_t x = 0;
    CORE_CHECK(integer_value(text, &x) && x >= min && x <= max, CORE_RANGE,
               "%s: found %.100s, expected a whole number%s", what, text, range);
    *value = x;
    return CORE_OK;
}

/// Edit distance (insert, delete, replace), two words of at most TEXT_WORD_MAX bytes; Wagner and Fischer's table, row
/// by row.
static int edit_distance(const char *a, int n_a, const char *b, int n_b) {
    int row[TEXT_WORD_MAX + 1];
    for (int j = 0; j <= n_b; j++) row[j] = j;
    for (int i = 1; i <= n_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n_b; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n_b];
}

const char *core_nearest_word(const char *word, const char *const *candidates, int count) {
    if (!word || !candidates) return NULL;
    size_t n_word = strlen(word);
    if (n_word == 0 || n_word > TEXT_WORD_MAX) return NULL;
    int limit = (int)n_word / 2 > 2 ? (int)n_word / 2 : 2;
    const char *nearest = NULL;
    for (int i = 0; i < count; i++) {
        size_t n = candidates[i] ? strlen(candidates[i]) : 0;
        if (n == 0 || n > TEXT_WORD_MAX) continue;
        int distance = edit_distance(word, (int)n_word, candidates[i], (int)n);
        // a distance of the longer length means that nothing is in common
        if (distance > limit || (distance > 0 && distance >= (int)(n > n_word ? n : n_word))) continue;
        nearest = candidates[i];
        limit = distance - 1; // the first of equally near ones is kept
        if (limit < 0) break;
    }
    return nearest;
}
