/// Phases of scenes: what is read, what goes with what, and names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_yaml.h"

#include <stdio.h>
#include <string.h>

static const core_yaml_key table[] = {
    {.path = "phases", .kind = CORE_YAML_LIST, .required = true},
    {.path = "phases[].name", .kind = CORE_YAML_TEXT, .required = true},
    {.path = "phases[].until", .kind = CORE_YAML_WORD, .words = "rest"},
    {.path = "phases[].time", .kind = CORE_YAML_NUMBER, .unit = "s", .above_min = true, .max = 1e9},
    {.path = "phases[].timeout", .kind = CORE_YAML_NUMBER, .unit = "s", .standard = "60", .max = 1e9},
    {.path = "phases[].on_timeout", .kind = CORE_YAML_WORD, .words = "error continue", .standard = "error"},
};

// Reads phase i of a list in flow style.
static core_status read(const char *list, int i, core_yaml_phase *phase, core_error *err) {
    char text[512];
    core_yaml *doc = NULL;
    snprintf(text, sizeof text, "phases: %s\n", list);
    assert_int_equal(
        core_yaml_read_text(text, strlen(text), "x.yaml", table, sizeof table / sizeof *table, 0, NULL, &doc, NULL),
        CORE_OK);
    const core_status status = core_yaml_phase_read(doc, core_yaml_get(core_yaml_root(doc), "phases"), i, phase, err);
    core_yaml_destroy(&doc);
    return status;
}

static void phases(void **state) {
    (void)state;
    const char *const list = "[{name: a, time: 2}, {name: fall of b, until: rest, timeout: 5, on_timeout: continue}, "
                             "{name: c, until: rest}]";
    core_yaml_phase p;
    assert_int_equal(read(list, 0, &p, NULL), CORE_OK);
    assert_true(strcmp(p.name, "a") == 0 && p.time == 2 && p.timeout == 0 && !p.until_rest && !p.continue_on_timeout);
    assert_int_equal(read(list, 1, &p, NULL), CORE_OK);
    assert_true(strcmp(p.name, "fall of b") == 0 && p.time == 0 && p.timeout == 5 && p.until_rest &&
                p.continue_on_timeout);
    assert_int_equal(read(list, 2, &p, NULL), CORE_OK);
    assert_true(p.timeout == 60 && p.until_rest && !p.continue_on_timeout);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *list, *message;
        int i;
    } bad[] = {
        {"[{name: a, time: 1, until: rest}]", "phases[0].time: given together with until; expected one of them", 0},
        {"[{name: a}]", "phases[0]: neither until nor time; expected one of them", 0},
        {"[{name: a, time: 1, timeout: 3}]", "phases[0].timeout: used with time; expected only with until: rest", 0},
        {"[{name: a, time: 1, on_timeout: error}]", "phases[0].on_timeout: used with time", 0},
        {"[{name: \"\", time: 1}]", "phases[0].name: an empty name; expected a word", 0},
        {"[{name: \"a\\nb\", time: 1}]", "phases[0].name: a name with a line break", 0},
        {"[{name: \"a,b\", time: 1}]", "phases[0].name: found \"a,b\", expected a name without commas", 0},
        {"[{name: a+b, time: 1}]", "found \"a+b\"", 0},
        {"[{name: \" a\", time: 1}]", "found \" a\"", 0},
        {"[{name: \"a \", time: 1}]", "blanks at its ends", 0},
        {"[{name: \"1e3\", time: 1}]", "found \"1e3\", expected a name", 0},
        {"[{name: a, time: 1}, {name: a, time: 1}]", "phases[1].name: a second phase \"a\"; expected another name", 1},
        {"[{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, time: 1}]",
         "a name of 64 bytes; expected at most 63", 0},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        core_yaml_phase p = {.time = 77};
        core_error err = {0};
        assert_int_equal(read(bad[k].list, bad[k].i, &p, &err), CORE_FORMAT);
        if (!strstr(err.message, bad[k].message))
            fail_msg("found \"%s\", expected \"%s\"", err.message, bad[k].message);
        assert_true(p.time == 77); // untouched
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(phases), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
