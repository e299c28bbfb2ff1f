/// YAML engine: every kind of refused input with its message, hostile sizes, damaged text.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_core_yaml_table.h"

/// Reads text that is refused with exactly this message.
static void expect_refused(const char *text, core_status code, const char *message) {
    core_yaml *doc = NULL;
    core_error err = {0};
    core_status status = read_n(text, strlen(text), 0, NULL, &doc, &err);
    assert_string_equal(err.message, message);
    assert_int_equal(status, code);
    assert_null(doc);
}

// ---------------------------------------------------------------------------------------------- refused content

static void refused_keys(void **state) {
    (void)state;
    expect_refused("title: x\n\ngravty: [0, 0]\ncontact: {kn: 1}\n", CORE_FORMAT,
                   "s.yaml:3: unknown key \"gravty\"; nearest known key: \"gravity\"");
    expect_refused("contact:\n  kn: 1\n  my: 2\n", CORE_FORMAT,
                   "s.yaml:3: contact: unknown key \"my\"; nearest known key: \"mu\"");
    expect_refused("contact: {kn: 1}\nwalls:\n  - name: a\n  - name: b\n    plne: {}\n", CORE_FORMAT,
                   "s.yaml:5: walls[1]: unknown key \"plne\"; nearest known key: \"plane\"");
    expect_refused("contact: {kn: 1}\ntypes: {a: {radius: 1, radios: 2}}\n", CORE_FORMAT,
                   "s.yaml:2: types.a: unknown key \"radios\"; nearest known key: \"radius\"");
    expect_refused("contact: {kn: 1, xylophone: 2}\n", CORE_FORMAT,
                   "s.yaml:1: contact: unknown key \"xylophone\"; known keys: kn, mu, e, free");
    // Keys that contain the table's own notation are no way around it.
    expect_refused("contact: {kn: 1}\ncontact.mu: 3\n", CORE_FORMAT,
                   "s.yaml:2: unknown key \"contact.mu\"; nearest known key: \"contact\"");
    expect_refused("contact: {kn: 1}\n\"walls[]\": 3\n", CORE_FORMAT,
                   "s.yaml:2: unknown key \"walls[]\"; nearest known key: \"walls\"");
    expect_refused("contact: {kn: 1}\ntitle: a\ntitle: b\n", CORE_FORMAT,
                   "s.yaml:3: key \"title\" a second time; it is in line 2 already");
    expect_refused("contact: {kn: 1}\ntypes:\n  a: {radius: 1}\n  b: {radius: 1}\n  a: {radius: 2}\n", CORE_FORMAT,
                   "s.yaml:5: types: key \"a\" a second time; it is in line 3 already");
    expect_refused("title: x\n", CORE_FORMAT, "s.yaml:1: key \"contact\" is missing; expected a block of keys");
    expect_refused("contact: {mu: 1}\n", CORE_FORMAT,
                   "s.yaml:1: contact: key \"kn\" is missing; expected a number above 0 (N/m)");
    expect_refused("contact: {kn: 1}\nwalls:\n  - plane: {}\n", CORE_FORMAT,
                   "s.yaml:3: walls[0]: key \"name\" is missing; expected text");
    expect_refused("contact: {kn: 1}\n[1, 2]: x\n", CORE_FORMAT,
                   "s.yaml:2: a key that is a list or block; expected a word");
}

static void refused_numbers(void **state) {
    (void)state;
    static const char *const words[] = {"soft",  "0x10", "1 2", "--5",  "1e", "1.5.2",
                                        "1_000", "0,5",  "~",   "true", "1d3"};
    char text[128], message[256];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(text, sizeof text, "title: x\ncontact:\n  kn: %s\n", words[i]);
        snprintf(message, sizeof message, "s.yaml:3: contact.kn: found \"%s\", expected a number above 0 (N/m)",
                 words[i]);
        expect_refused(text, CORE_FORMAT, message);
    }
    static const char *const nonfinite[] = {"nan", "inf", "-inf", ".nan", ".inf", "-.INF", "NaN", "Infinity"};
    for (size_t i = 0; i < sizeof nonfinite / sizeof nonfinite[0]; i++) {
        snprintf(text, sizeof text, "contact: {kn: %s}\n", nonfinite[i]);
        snprintf(message, sizeof message, "s.yaml:1: contact.kn: found \"%s\", expected a number above 0 (N/m)",
                 nonfinite[i]);
        expect_refused(text, CORE_NONFINITE, message);
    }
    static const char *const range[] = {"0", "-1", "1e999", "-0.0"};
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        snprintf(text, sizeof text, "contact: {kn: %s}\n", range[i]);
        snprintf(message, sizeof message, "s.yaml:1: contact.kn: found \"%s\", expected a number above 0 (N/m)",
                 range[i]);
        expect_refused(text, CORE_RANGE, message);
    }
    expect_refused("contact: {kn: '1'}", CORE_FORMAT,
                   "s.yaml:1: contact.kn: found \"1\" in quotes, expected a number above 0 (N/m)");
    expect_refused("contact: {kn: }", CORE_FORMAT,
                   "s.yaml:1: contact.kn: found nothing, expected a number above 0 (N/m)");
    expect_refused("contact: {kn: [1]}", CORE_FORMAT,
                   "s.yaml:1: contact.kn: found a list, expected a number above 0 (N/m)");
    expect_refused("contact: {kn: {a: 1}}", CORE_FORMAT,
                   "s.yaml:1: contact.kn: found a block of keys, expected a number above 0 (N/m)");
    expect_refused("contact: {kn: auto}", CORE_FORMAT,
                   "s.yaml:1: contact.kn: found \"auto\", expected a number above 0 (N/m)");
    expect_refused("contact: {kn: 1}\ndt: 0", CORE_RANGE,
                   "s.yaml:2: dt: found \"0\", expected auto or a number above 0 (s)");
    expect_refused("contact: {kn: 1, mu: 11}", CORE_RANGE,
                   "s.yaml:1: contact.mu: found \"11\", expected a number from 0 to 10");
    expect_refused("contact: {kn: 1, e: 0}", CORE_RANGE,
                   "s.yaml:1: contact.e: found \"0\", expected a number above 0, at most 1");
    expect_refused("contact: {kn: 1, free: x}", CORE_FORMAT, "s.yaml:1: contact.free: found \"x\", expected a number");
    expect_refused("contact: {kn: 1}\nseed: 1.5", CORE_FORMAT,
                   "s.yaml:2: seed: found \"1.5\", expected a whole number from 0 to 1000");
    expect_refused("contact: {kn: 1}\nseed: 1001", CORE_RANGE,
                   "s.yaml:2: seed: found \"1001\", expected a whole number from 0 to 1000");
    expect_refused("contact: {kn: 1}\nseed: 99999999999999999999", CORE_RANGE,
                   "s.yaml:2: seed: found \"99999999999999999999\", expected a whole number from 0 to 1000");
}

static void refused_kinds(void **state) {
    (void)state;
    expect_refused("contact: {kn: 1}\ngravity: [0]", CORE_FORMAT,
                   "s.yaml:2: gravity: found a list of 1, expected a list of 2 numbers (m/s^2)");
    expect_refused("contact: {kn: 1}\ngravity: 3", CORE_FORMAT,
                   "s.yaml:2: gravity: found \"3\", expected a list of 2 numbers (m/s^2)");
    expect_refused("contact: {kn: 1}\ngravity: [0, x]", CORE_FORMAT,
                   "s.yaml:2: gravity[1]: found \"x\", expected a list of 2 numbers (m/s^2)");
    // A decimal comma makes three numbers of two.
    expect_refused("contact: {kn: 1}\ngravity: [0, -9,81]", CORE_FORMAT,
                   "s.yaml:2: gravity: found a list of 3, expected a list of 2 numbers (m/s^2)");
    expect_refused("contact: {kn: 1}\nmode: medium", CORE_FORMAT,
                   "s.yaml:2: mode: found \"medium\", expected one of the words: fast slow");
    expect_refused("contact: {kn: 1}\nmode: fast slow", CORE_FORMAT,
                   "s.yaml:2: mode: found \"fast slow\", expected one of the words: fast slow");
    expect_refused("contact: {kn: 1}\nonly: two", CORE_FORMAT, "s.yaml:2: only: found \"two\", expected the word one");
    expect_refused("contact: {kn: 1}\ntitle: [a]", CORE_FORMAT, "s.yaml:2: title: found a list, expected text");
    expect_refused("contact: {kn: 1}\ntitle:", CORE_FORMAT, "s.yaml:2: title: found nothing, expected text");
    expect_refused("contact: {kn: 1}\ngone: floor", CORE_FORMAT,
                   "s.yaml:2: gone: found \"floor\", expected a list of names: [name, ...]");
    expect_refused("contact: {kn: 1}\ngone: [[a]]", CORE_FORMAT,
                   "s.yaml:2: gone[0]: found a list, expected a list of names: [name, ...]");
    expect_refused("contact: {kn: 1}\nwalls: {name: a}", CORE_FORMAT,
                   "s.yaml:2: walls: found a block of keys, expected a list of blocks, each behind a dash");
    expect_refused("contact: {kn: 1}\nwalls: [a]", CORE_FORMAT,
                   "s.yaml:2: walls[0]: found \"a\", expected a block of keys");
    expect_refused("contact: {kn: 1}\ntypes: [a]", CORE_FORMAT,
                   "s.yaml:2: types: found a list, expected names, each with a block of keys");
    expect_refused("contact: {kn: 1}\ntypes: {a: 3}", CORE_FORMAT,
                   "s.yaml:2: types.a: found \"3\", expected a block of keys");
    expect_refused("contact: 3", CORE_FORMAT, "s.yaml:1: contact: found \"3\", expected a block of keys");
    expect_refused("- contact", CORE_FORMAT, "s.yaml:1: found a list, expected lines of the form key: value");
    expect_refused("contact", CORE_FORMAT, "s.yaml:1: found \"contact\", expected lines of the form key: value");
    // Long text is cut at a whole character, line breaks do not leave the message's line.
    expect_refused("contact: {kn: 1}\ndt: \"a\\nb\"", CORE_FORMAT,
                   "s.yaml:2: dt: found \"a b\" in quotes, expected auto or a number above 0 (s)");
    expect_refused(
        "contact: {kn: 1}\ndt: 12345678901234567890123456789012345678901234567890123456789\xC3\xA4xyz", CORE_FORMAT,
        "s.yaml:2: dt: found \"12345678901234567890123456789012345678901234567890123456789...\", expected auto or a "
        "number above 0 (s)");
}

static void refused_yaml(void **state) {
    (void)state;
    expect_refused("", CORE_FORMAT, "s.yaml: empty; expected YAML");
    expect_refused("# nothing\n", CORE_FORMAT, "s.yaml: empty; expected YAML");
    expect_refused("contact: &a {kn: 1}\n", CORE_FORMAT, "s.yaml:1: an anchor (&name); write the value out");
    expect_refused("contact: {kn: 1}\ntitle: *a\n", CORE_FORMAT, "s.yaml:2: an alias (*name); write the value out");
    expect_refused("contact: {kn: !!float 1}\n", CORE_FORMAT, "s.yaml:1: a tag (!name); expected plain values");
    expect_refused("contact: !x {kn: 1}\n", CORE_FORMAT, "s.yaml:1: a tag (!name); expected plain values");
    expect_refused("gone: !x [a]\n", CORE_FORMAT, "s.yaml:1: a tag (!name); expected plain values");
    expect_refused("contact: {kn: 1}\n---\ncontact: {kn: 2}\n", CORE_FORMAT,
                   "s.yaml:2: a second YAML document (after \"---\"); expected one");
    expect_refused("contact:\n\tkn: 1\n", CORE_FORMAT, "s.yaml:2: a tab; indent and separate with spaces");
    expect_refused("contact: {kn:\t1}\n", CORE_FORMAT, "s.yaml:1: a tab; indent and separate with spaces");
    expect_refused("contact: {kn: 1}\ntitle: \xE4\n", CORE_FORMAT,
                   "s.yaml:2: a byte that is not UTF-8 text; save the file as UTF-8");
    static const char *const bad_utf8[] = {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                           "\xC3",     "\xC3x",        "\xFF"};
    for (size_t i = 0; i < sizeof bad_utf8 / sizeof bad_utf8[0]; i++) {
        expect_refused(bad_utf8[i], CORE_FORMAT, "s.yaml:1: a byte that is not UTF-8 text; save the file as UTF-8");
    }
    expect_refused("title: \x01\n", CORE_FORMAT, "s.yaml:1: a control character; expected text");
    expect_refused("title: a\xC2\x85"
                   "b\n",
                   CORE_FORMAT, "s.yaml:1: a control character; expected text");
    expect_refused("contact: {kn: 1}\ntitle: \"a\\0b\"\n", CORE_FORMAT,
                   "s.yaml:2: text with a control character; expected none");
    expect_refused("contact: {kn: 1}\ntitle: \"a\\eb\"\n", CORE_FORMAT,
                   "s.yaml:2: text with a control character; expected none");
    expect_refused("contact: {kn: 1}\n\"a\\Lb\": x\n", CORE_FORMAT,
                   "s.yaml:2: text with a control character; expected none");
    expect_refused(
        "contact:\n  kn: 1\n mu: 2\n", CORE_FORMAT,
        "s.yaml:3: not valid YAML: did not find expected key (while parsing a block mapping that starts in line 1)");
    expect_refused("title: \"open\n", CORE_FORMAT,
                   "s.yaml:2: not valid YAML: found unexpected end of stream (while scanning a quoted scalar that "
                   "starts in line 1)");
    expect_refused(
        "title: @x\n", CORE_FORMAT,
        "s.yaml:1: not valid YAML: found character that cannot start any token (while scanning for the next token that "
        "starts in line 1)");
}

/// A zero byte in the middle is seen, not taken for the end.
static void zero_byte(void **state) {
    (void)state;
    core_yaml *doc = NULL;
    core_error err = {0};
    const char text[] = "contact: {kn: 1}\n\0title: x\n";
    assert_int_equal(read_n(text, sizeof text - 1, 0, NULL, &doc, &err), CORE_FORMAT);
    assert_string_equal(err.message, "s.yaml:2: a control character; expected text");
}

/// Hostile sizes: refused in words, quickly.
static void large_and_deep(void **state) {
    (void)state;
    const size_t n = 1024 * 1024;
    char *text = malloc(n + 2);
    core_yaml *doc = NULL;
    core_error err = {0};
    assert_non_null(text);
    static const char *const fills[] = {"[", "{", "- ", "? ", "{a: ", "-\n"};
    for (size_t k = 0; k < sizeof fills / sizeof fills[0]; k++) {
        for (size_t i = 0; i < n; i++) text[i] = fills[k][i % strlen(fills[k])];
        assert_int_equal(read_n(text, n, 0, NULL, &doc, &err), CORE_FORMAT);
        if (k == 0) assert_string_equal(err.message, "s.yaml:1: blocks nested too deeply");
    }
    // Very many unknown keys, equal keys, names.
    size_t used = 0;
    while (used < n - 16) used += (size_t)sprintf(text + used, "k%zu: 1\n", used);
    assert_int_equal(read_n(text, used, 0, NULL, &doc, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "unknown key \"k0\""));
    used = (size_t)sprintf(text, "contact: {kn: 1}\n");
    while (used < n - 16) used += (size_t)sprintf(text + used, "title: a\n");
    assert_int_equal(read_n(text, used, 0, NULL, &doc, &err), CORE_FORMAT);
    assert_string_equal(err.message, "s.yaml:3: key \"title\" a second time; it is in line 2 already");
    used = (size_t)sprintf(text, "contact: {kn: 1}\ntypes:\n");
    while (used < n - 32) used += (size_t)sprintf(text + used, " a%zu: {radius: 1}\n", used);
    assert_int_equal(read_n(text, used, 0, NULL, &doc, &err), CORE_OK);
    core_yaml_destroy(&doc);
    memset(text, ' ', n + 1);
    assert_int_equal(read_n(text, n + 1, 0, NULL, &doc, &err), CORE_RANGE);
    assert_string_equal(err.message, "s.yaml: 1048577 bytes; expected at most 1048576");
    free(text);
}

/// Every prefix and every single changed byte of a document is read or refused, never worse (sanitizers watch).
static void damaged_text(void **state) {
    (void)state;
    const char *good = "title: \"A \\u00e4\"\ncontact:\n  kn: 1e5\ntypes: {a: {radius: 1}}\nwalls:\n- {name: x, plane: "
                       "{point: [1, 2]}}\n"
                       "gone: [a, 'b']\n";
    size_t n = strlen(good), refused = 0;
    char text[256];
    for (size_t i = 0; i < n; i++) {
        core_yaml *doc = NULL;
        core_error err = {0};
        if (read_n(good, i, 0, NULL, &doc, &err) != CORE_OK) refused++;
        core_yaml_destroy(&doc);
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, good, n);
            text[i] = (char)byte;
            core_status status = read_n(text, n, 0, NULL, &doc, &err);
            assert_true(status == CORE_OK || strncmp(err.message, "s.yaml", 6) == 0);
            core_yaml_destroy(&doc);
        }
    }
    assert_true(refused > n / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_keys), cmocka_unit_test(refused_numbers), cmocka_unit_test(refused_kinds),
        cmocka_unit_test(refused_yaml), cmocka_unit_test(zero_byte),       cmocka_unit_test(large_and_deep),
        cmocka_unit_test(damaged_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
