/// YAML engine: values, defaults, overrides, resolved text, help, files, memory. What is refused is in
/// test_core_yaml_refused.c.
#include "test_folder.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_core_yaml_table.h"

/// Reads text that is fine.
static core_yaml *read_good(const char *text, int count, const char *const *overrides) {
    core_yaml *doc = NULL;
    core_error err = {0};
    if (read_n(text, strlen(text), count, overrides, &doc, &err) != CORE_OK) fail_msg("%s", err.message);
    return doc;
}

static void expect_override_refused(const char *override, core_status code, const char *message) {
    core_yaml *doc = NULL;
    core_error err = {0};
    const char *text = "contact: {kn: 1}\nwalls: [{name: a}]\n";
    core_status status = read_n(text, strlen(text), 1, &override, &doc, &err);
    assert_string_equal(err.message, message);
    assert_int_equal(status, code);
    assert_null(doc);
}

// ---------------------------------------------------------------------------------------------- values

static void values_and_defaults(void **state) {
    (void)state;
    core_yaml *doc =
        read_good("title: 'A # heap'\ncontact:\n  kn: 2.0e5 # stiff\ntypes:\n  b: {radius: .5}\n  a: {radius: 1}\n"
                  "walls:\n- name: floor\n  plane: {point: [3, -4.5]}\n- {name: back, plane: {}}\n- {name: top}\n"
                  "gone: [floor, back]\n",
                  0, NULL);
    const core_yaml_node *root = core_yaml_root(doc);
    double v[2] = {0};
    assert_string_equal(core_yaml_text(root, "title"), "A # heap");
    assert_true(core_yaml_number(root, "contact.kn") == 2.0e5);
    assert_true(core_yaml_number(root, "contact.mu") == 0.5); // default
    assert_true(isnan(core_yaml_number(root, "contact.e")));  // absent, no default
    assert_true(isnan(core_yaml_number(root, "dt")) && core_yaml_is_auto(root, "dt"));
    assert_false(core_yaml_is_auto(root, "contact.mu"));
    assert_int_equal(core_yaml_integer(root, "seed"), 1);
    assert_true(core_yaml_vector(root, "gravity", v, 2) && v[0] == 0 && v[1] == -9.81);
    assert_string_equal(core_yaml_text(root, "mode"), "fast");
    assert_null(core_yaml_text(root, "only"));
    // A dict keeps the file's order.
    const core_yaml_node *types = core_yaml_get(root, "types"), *walls = core_yaml_get(root, "walls");
    assert_int_equal(core_yaml_count(types), 2);
    assert_string_equal(core_yaml_name(core_yaml_at(types, 0)), "b");
    assert_true(core_yaml_number(core_yaml_at(types, 0), "radius") == 0.5);
    assert_true(core_yaml_number(types, "a.radius") == 1);
    // A list: nested values, defaults of items, also where the block between is absent.
    assert_int_equal(core_yaml_count(walls), 3);
    assert_string_equal(core_yaml_name(core_yaml_at(walls, 0)), "");
    assert_true(core_yaml_vector(core_yaml_at(walls, 0), "plane.point", v, 2) && v[0] == 3 && v[1] == -4.5);
    for (int i = 1; i < 3; i++) {
        v[0] = v[1] = 0;
        assert_true(core_yaml_vector(core_yaml_at(walls, i), "plane.point", v, 2) && v[0] == 1 && v[1] == 2);
    }
    assert_string_equal(core_yaml_scalar(core_yaml_at(core_yaml_get(root, "gone"), 1)), "back");
    assert_null(core_yaml_at(walls, 3));
    assert_null(core_yaml_at(walls, -1));
    assert_null(core_yaml_get(root, "contact.nothing"));
    assert_int_equal(core_yaml_count(NULL), 0);
    assert_int_equal(core_yaml_line(core_yaml_get(root, "contact.kn")), 3);
    assert_int_equal(core_yaml_line(core_yaml_at(walls, 1)), 10);
    core_yaml_destroy(&doc);
    core_yaml_destroy(&doc);
    core_yaml_destroy(NULL);
}

static void accepted_forms(void **state) {
    (void)state;
    const struct {
        const char *text;
        double kn;
    } cases[] = {{"contact: {kn: 1}", 1},
                 {"contact: {kn: +1.5}", 1.5},
                 {"contact: {kn: 1e-3}", 1e-3},
                 {"contact: {kn: 5.}", 5},
                 {"contact: {kn: .5}", .5},
                 {"contact: {kn: 007}", 7},
                 {"\xEF\xBB\xBF"
                  "contact: {kn: 2}",
                  2},
                 {"---\ncontact: {kn: 3}\n...\n", 3},
                 {"%YAML 1.1\n---\ncontact: {kn: 3}\n", 3},
                 {"# comment with\ta tab and \xC3\xA4\r\ncontact:\r\n  kn: 4\r\n", 4},
                 {"? contact\n: kn: 6\n", 6},
                 {"\"contact\": {'kn': 7}", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        core_yaml *doc = read_good(cases[i].text, 0, NULL);
        assert_true(core_yaml_number(core_yaml_root(doc), "contact.kn") == cases[i].kn);
        core_yaml_destroy(&doc);
    }
}

/// The decimal point does not depend on the locale (skipped where no such locale is installed).
static void comma_locale(void **state) {
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) skip();
    core_yaml *doc = read_good("contact: {kn: 1.5}", 0, NULL);
    double value = core_yaml_number(core_yaml_root(doc), "contact.kn");
    setlocale(LC_NUMERIC, "C");
    assert_true(value == 1.5);
    core_yaml_destroy(&doc);
}

// ---------------------------------------------------------------------------------------------- overrides

static void overrides_apply(void **state) {
    (void)state;
    static const char *const overrides[] = {"contact.mu=0.25",
                                            "walls[1].name=late",
                                            "walls[0].plane.point=[7, 8]",
                                            "walls[2].name=added",
                                            "gravity=[0, -1]",
                                            "types.new.radius=3",
                                            "title=two words",
                                            "gone[0]=x",
                                            "contact.mu=0.75",
                                            "dt=auto",
                                            "only=one",
                                            "seed=\"\"",
                                            "seed=5"};
    core_yaml *doc = read_good("contact: {kn: 1, mu: 1}\nwalls: [{name: a}, {name: b}]\ndt: 1\n", 13, overrides);
    const core_yaml_node *root = core_yaml_root(doc);
    double v[2] = {0};
    assert_true(core_yaml_number(root, "contact.mu") == 0.75); // the last one counts
    const core_yaml_node *walls = core_yaml_get(root, "walls");
    assert_int_equal(core_yaml_count(walls), 3);
    assert_string_equal(core_yaml_text(core_yaml_at(walls, 1), "name"), "late");
    assert_string_equal(core_yaml_text(core_yaml_at(walls, 2), "name"), "added");
    assert_true(core_yaml_vector(core_yaml_at(walls, 0), "plane.point", v, 2) && v[0] == 7 && v[1] == 8);
    assert_true(core_yaml_vector(root, "gravity", v, 2) && v[1] == -1);
    assert_true(core_yaml_number(root, "types.new.radius") == 3);
    assert_string_equal(core_yaml_text(root, "title"), "two words");
    assert_int_equal(core_yaml_count(core_yaml_get(root, "gone")), 1);
    assert_true(core_yaml_is_auto(root, "dt"));
    assert_int_equal(core_yaml_integer(root, "seed"), 5);
    assert_int_equal(core_yaml_line(core_yaml_get(root, "contact.mu")), 0); // no longer a place in the file
    assert_int_equal(core_yaml_line(core_yaml_get(root, "contact.kn")), 1);
    core_yaml_destroy(&doc);
}

static void overrides_refused(void **state) {
    (void)state;
    expect_override_refused("contact.mu", CORE_FORMAT, "s.yaml: --set contact.mu: expected KEY=VALUE");
    expect_override_refused("=3", CORE_FORMAT, "s.yaml: --set =3: expected KEY=VALUE");
    expect_override_refused("", CORE_FORMAT, "s.yaml: --set : expected KEY=VALUE");
    expect_override_refused("contact.mu=", CORE_FORMAT, "s.yaml: --set contact.mu=: empty; expected YAML");
    expect_override_refused("contact.mu=soft", CORE_FORMAT,
                            "s.yaml: --set contact.mu: found \"soft\", expected a number from 0 to 10");
    expect_override_refused("contact.mu=nan", CORE_NONFINITE,
                            "s.yaml: --set contact.mu: found \"nan\", expected a number from 0 to 10");
    expect_override_refused("contact.mew=1", CORE_FORMAT,
                            "s.yaml: --set contact: unknown key \"mew\"; nearest known key: \"mu\"");
    expect_override_refused("gravty=[0, 0]", CORE_FORMAT,
                            "s.yaml: --set: unknown key \"gravty\"; nearest known key: \"gravity\"");
    expect_override_refused("gravity=[0, x]", CORE_FORMAT,
                            "s.yaml: --set gravity[1]: found \"x\", expected a list of 2 numbers (m/s^2)");
    expect_override_refused(
        "gravity=[0, 1", CORE_FORMAT,
        "s.yaml: --set gravity=[0, 1: not valid YAML: did not find expected ',' or ']' (while parsing a flow "
        "sequence that starts in line 1)");
    expect_override_refused("gravity=*a", CORE_FORMAT,
                            "s.yaml: --set gravity=*a: an alias (*name); write the value out");
    expect_override_refused("contact..mu=1", CORE_FORMAT, "s.yaml: --set contact..mu=1: an empty key in the path");
    expect_override_refused("contact.=1", CORE_FORMAT, "s.yaml: --set contact.=1: an empty key in the path");
    expect_override_refused("walls[0].=1", CORE_FORMAT, "s.yaml: --set walls[0].=1: an empty key in the path");
    expect_override_refused("walls[x]=1", CORE_FORMAT, "s.yaml: --set walls[x]=1: expected [number] in the path");
    expect_override_refused("walls[0=1", CORE_FORMAT, "s.yaml: --set walls[0=1: expected [number] in the path");
    expect_override_refused("walls[0]name=1", CORE_FORMAT, "s.yaml: --set walls[0]name=1: expected . behind ]");
    expect_override_refused("walls[3].name=1", CORE_FORMAT,
                            "s.yaml: --set walls[3].name=1: index 3, but the list has 1 items");
    expect_override_refused("walls[99999999999].name=1", CORE_FORMAT,
                            "s.yaml: --set walls[99999999999].name=1: expected [number] in the path");
    expect_override_refused("contact[0]=1", CORE_FORMAT,
                            "s.yaml: --set contact[0]=1: [i] is used on something that is no list");
    expect_override_refused("contact.kn.x=1", CORE_FORMAT,
                            "s.yaml: --set contact.kn.x=1: the path goes through a value that has no keys");
    expect_override_refused("walls.name=1", CORE_FORMAT,
                            "s.yaml: --set walls.name=1: the path goes through a list: write list[0].key");
    expect_override_refused(
        "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", CORE_FORMAT,
        "s.yaml: --set a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1: the path is too "
        "deep");
}

// ---------------------------------------------------------------------------------------------- texts

/// The resolved text reads again to the same text, and holds the overrides.
static void resolved_text(void **state) {
    (void)state;
    static const char *const overrides[] = {"contact.mu=0.25"};
    core_yaml *doc = read_good(
        "title: \"a: {b} # \\\"c\\\" \\\\ \\u00e4\"\ncontact: {kn: 1e5}\ntypes: {b: {radius: 1}, '-': {radius: 2}, "
        "\"#\": {radius: 3}}\nwalls: [{name: \"x\\ny\", plane: {point: [1, -2]}}, {name: 'no'}]\ngone: []\n"
        "gravity: [0, -1]\nonly: one\n",
        1, overrides);
    const char *text = core_yaml_resolved_text(doc);
    assert_string_equal(text, "title: \"a: {b} # \\\"c\\\" \\\\ \xC3\xA4\"\n"
                              "contact:\n  kn: 1e5\n  mu: 0.25\n"
                              "types:\n  b: {radius: 1}\n  \"-\": {radius: 2}\n  \"#\": {radius: 3}\n"
                              "walls:\n  - {name: \"x\\x0Ay\", plane: {point: [1, -2]}}\n  - {name: \"no\"}\n"
                              "gone: []\ngravity: [0, -1]\nonly: one\n");
    core_yaml *again = read_good(text, 0, NULL);
    assert_string_equal(core_yaml_resolved_text(again), text);
    assert_string_equal(core_yaml_text(core_yaml_root(again), "title"), "a: {b} # \"c\" \\ \xC3\xA4");
    core_yaml_destroy(&again);
    core_yaml_destroy(&doc);
}

static void help_text(void **state) {
    (void)state;
    char *text = NULL;
    core_error err = {0};
    assert_int_equal(core_yaml_help(table, COUNT_KEYS, &text, &err), CORE_OK);
    // keys that stand alone first, then section by section, as wide as each needs
    const char *places[] = {
        strstr(text, "\n\n-- whole scene --\n"),
        strstr(text, "auto or a number above 0 (s); default auto. Step.\n"),
        strstr(text, "\n\n-- contact --\n"),
        strstr(text, "\ncontact.kn   a number above 0 (N/m); required. Stiffness.\n"),
        strstr(text, "\n\n-- walls --\n"),
        strstr(text, "\nwalls[].plane.point a list of 2 numbers (m); default [1, 2]. Point.\n"),
    };
    for (int i = 0; i < 6; i++) {
        if (!places[i]) fail_msg("piece %d is missing in\n%s", i, text);
        if (i > 0) assert_true(places[i] > places[i - 1]);
    }
    assert_null(strstr(places[4] + 3, "-- walls --")); // once
    core_free(text);
    assert_int_equal(core_yaml_help(NULL, 1, &text, &err), CORE_ARG);
    assert_int_equal(core_yaml_help(table, 0, &text, &err), CORE_ARG);
}

/// core_yaml_fail names the place; from a node, and from the whole file.
static void fail_places(void **state) {
    (void)state;
    core_error err = {0};
    core_yaml *doc = read_good("contact: {kn: 1}\nwalls:\n- {name: a}\n- {name: b}\n", 0, NULL);
    const core_yaml_node *wall = core_yaml_at(core_yaml_get(core_yaml_root(doc), "walls"), 1);
    assert_int_equal(core_yaml_fail(doc, core_yaml_get(wall, "name"), &err, "bad %d", 7), CORE_FORMAT);
    assert_string_equal(err.message, "s.yaml:4: walls[1].name: bad 7");
    assert_int_equal(core_yaml_fail(doc, NULL, &err, "bad"), CORE_FORMAT);
    assert_string_equal(err.message, "s.yaml: bad");
    // what is wrong with another file keeps its code
    const core_error cause = {.code = CORE_IO, .message = "a.csv: gone"};
    assert_int_equal(core_yaml_fail_by(doc, core_yaml_get(wall, "name"), &cause, &err), CORE_IO);
    assert_int_equal(err.code, CORE_IO);
    assert_string_equal(err.message, "s.yaml:4: walls[1].name: a.csv: gone");
    assert_int_equal(core_yaml_fail_by(doc, NULL, &cause, NULL), CORE_IO);
    core_yaml_destroy(&doc);
}

// ---------------------------------------------------------------------------------------------- files, arguments,
// memory

static void files(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_yaml *doc = NULL;
    core_error err = {0};
    test_folder_write(path, "good scene.yaml", "contact: {kn: 9}\n");
    assert_int_equal(core_yaml_read(path, table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_OK);
    assert_true(core_yaml_number(core_yaml_root(doc), "contact.kn") == 9);
    core_yaml_destroy(&doc);
    assert_int_equal(core_yaml_read(test_folder, table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_IO); // a directory
    assert_non_null(strstr(err.message, test_folder));
    assert_int_equal(core_yaml_read(test_folder_path(path, "none.yaml"), table, COUNT_KEYS, 0, NULL, &doc, &err),
                     CORE_IO);
    assert_non_null(strstr(err.message, "none.yaml"));
    char *large = calloc(1, 10u << 20);
    assert_non_null(large);
    memset(large, ' ', (10u << 20) - 1);
    test_folder_write(path, "large.yaml", large);
    free(large);
    assert_int_equal(core_yaml_read(path, table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "large.yaml"));
    assert_null(doc);
}

static void bad_arguments(void **state) {
    (void)state;
    core_yaml *doc = NULL;
    core_error err = {0};
    assert_int_equal(core_yaml_read_text(NULL, 0, "x", table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_ARG);
    assert_int_equal(core_yaml_read_text("", 0, NULL, table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_ARG);
    assert_int_equal(core_yaml_read_text("", 0, "x", NULL, COUNT_KEYS, 0, NULL, &doc, &err), CORE_ARG);
    assert_int_equal(core_yaml_read_text("", 0, "x", table, 0, 0, NULL, &doc, &err), CORE_ARG);
    assert_int_equal(core_yaml_read_text("", 0, "x", table, COUNT_KEYS, 1, NULL, &doc, &err), CORE_ARG);
    assert_int_equal(core_yaml_read_text("", 0, "x", table, COUNT_KEYS, 0, NULL, NULL, &err), CORE_ARG);
    assert_int_equal(core_yaml_read(NULL, table, COUNT_KEYS, 0, NULL, &doc, &err), CORE_ARG);
    assert_null(core_yaml_root(NULL));
}

/// Every allocation failure is reported as such and leaks nothing (the sanitizer build looks).
static void memory_failures(void **state) {
    (void)state;
    static const char *const overrides[] = {"walls[2].name=x", "types.new.radius=1", "contact.mu=1"};
    const char *text = "contact: {kn: 1}\nwalls: [{name: a}, {name: b}]\ntypes: {a: {radius: 1}, b: {radius: 2}}\n";
    for (uint64_t k = 1;; k++) {
        core_yaml *doc = NULL;
        core_error err = {0};
        core_alloc_fail_after(k);
        core_status status = read_n(text, strlen(text), 3, overrides, &doc, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            core_yaml_destroy(&doc);
            assert_true(k > 3);
            return;
        }
        assert_int_equal(status, CORE_MEMORY);
        assert_null(doc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_defaults), cmocka_unit_test(accepted_forms),    cmocka_unit_test(comma_locale),
        cmocka_unit_test(overrides_apply),     cmocka_unit_test(overrides_refused), cmocka_unit_test(resolved_text),
        cmocka_unit_test(help_text),           cmocka_unit_test(fail_places),       cmocka_unit_test(files),
        cmocka_unit_test(bad_arguments),       cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
