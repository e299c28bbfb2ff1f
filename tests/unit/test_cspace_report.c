/// The report on maps: pages are well-formed and ask for nothing outside, whatever the maps hold; pictures against
/// numbers known beforehand; a failure leaves the report as it was.
#include "test_folder.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cspace_map_fixture.h"
#include "cspace_report.h"

enum { ROWS = 60, DEPTH = 32 };

static fixture square, disc;
static cspace_rows rows; // poses near contact; the labels are what they like

static int setup(void **state) {
    core_random r;
    core_random_init(&r, 5, 0);
    if (fixture_square(16, &square, NULL) != CORE_OK || fixture_disc(12, 16, &disc, NULL) != CORE_OK) return -1;
    rows = (cspace_rows){.n = ROWS,
                         .pose = core_alloc(ROWS, 3 * sizeof(double)),
                         .distance = core_alloc(ROWS, sizeof(double)),
                         .gradient = core_alloc(ROWS, 3 * sizeof(double)),
                         .moment_arm = core_alloc(ROWS, 2 * sizeof(double))};
    for (int64_t i = 0; i < ROWS; i++) {
        const cspace_pose q = fixture_pose(&r, 2.0);
        rows.pose[3 * i] = q.theta, rows.pose[3 * i + 1] = q.x, rows.pose[3 * i + 2] = q.y;
        rows.distance[i] = 0.002 * (double)(i - ROWS / 2);
        rows.gradient[3 * i + 1] = 1.0;
    }
    return test_folder_make(state);
}

static int teardown(void **state) {
    fixture_clear(&square), fixture_clear(&disc);
    cspace_rows_clear(&rows);
    return test_folder_remove(state);
}

// ---------------------------------------------------------------------------------------------- pages

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) n++;
    return n;
}

/// Reads the attributes behind a tag's name; returns the end of the tag.
static const char *check_attributes(const char *s) {
    while (*s == ' ') {
        const char *name = ++s;
        while (isalnum((unsigned char)*s) || *s == '-') s++;
        if (s == name || s[0] != '=' || s[1] != '"') fail_msg("attribute: %.60s", name);
        s += 2;
        const bool link = strncmp(name, "href", 4) == 0 || strncmp(name, "src", 3) == 0;
        if (link && strncmp(s, "data:", 5) != 0) fail_msg("asks for %.60s", s);
        while (*s && *s != '"') {
            if (*s == '<' || *s == '&') fail_msg("in an attribute: %.60s", s);
            s++;
        }
        if (*s++ != '"') fail_msg("open attribute: %.60s", name);
    }
    return s;
}

/// A subset of XML that every browser takes for a page too: tags close in order, attributes are quoted, names of
/// entities known, no control characters; nothing is asked for outside the page.
static void check_page(const char *page) {
    const char *open[DEPTH];
    size_t length[DEPTH];
    int depth = 0;
    assert_int_equal(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
    for (const char *s = page + 16; *s;) {
        if (*s == '&' && strncmp(s, "&lt;", 4) != 0 && strncmp(s, "&gt;", 4) != 0 && strncmp(s, "&amp;", 5) != 0 &&
            strncmp(s, "&quot;", 6) != 0)
            fail_msg("entity: %.20s", s);
        if ((unsigned char)*s < 0x20 && *s != '\n') fail_msg("control character %d", *s);
        if (*s++ != '<') continue;
        const bool closes = *s == '/';
        const char *name = closes ? ++s : s;
        while (isalnum((unsigned char)*s)) s++;
        if (closes) {
            const size_t n = (size_t)(s - name);
            if (depth == 0 || length[depth - 1] != n || memcmp(open[depth - 1], name, n) != 0)
                fail_msg("does not close: %.20s", name);
            depth--;
        } else {
            open[depth] = name, length[depth] = (size_t)(s - name);
            s = check_attributes(s);
            if (*s == '/')
                s++;
            else
                depth++;
        }
        if (s == name || *s++ != '>') fail_msg("tag: %.60s", name);
        assert_true(depth < DEPTH);
    }
    assert_int_equal(depth, 0);
    static const char *const outside[] = {"http:", "https:", "url(", "@import", "<script"};
    for (size_t k = 0; k < 5; k++) assert_int_equal(count(page, outside[k]), 0);
}

/// Writes the report and gives the page back; the caller frees.
static char *write_page(cspace_report *report) {
    char path[TEST_PATH_MAX];
    core_error err = {0};
    test_folder_path(path, "page.html");
    if (cspace_report_write(report, path, &err) != CORE_OK) fail_msg("%s", err.message);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t n = (size_t)ftell(file);
    rewind(file);
    char *page = calloc(n + 1, 1);
    assert_true(page && fread(page, 1, n, file) == n);
    fclose(file);
    check_page(page);
    return page;
}

static cspace_map make_map(const fixture *a, const fixture *b) {
    cspace_map map;
    core_error err = {0};
    if (random_map(&a->shape, &b->shape, 1.0, true, CSPACE_TWOFRAME, 3, &map, &err) != CORE_OK)
        fail_msg("%s", err.message);
    return map;
}

static void add(cspace_report *report, const cspace_map *map, const fixture *a, const fixture *b) {
    core_error err = {0};
    if (cspace_report_add(report, map, &a->shape, &b->shape, &rows, &err) != CORE_OK) fail_msg("%s", err.message);
}

/// The page of one map alone.
static char *page_of(const cspace_map *map, const fixture *a, const fixture *b) {
    cspace_report *report = NULL;
    assert_int_equal(cspace_report_create(&report, NULL), CORE_OK);
    add(report, map, a, b);
    char *page = write_page(report);
    cspace_report_destroy(&report);
    assert_null(report);
    return page;
}

/// No map, one, two: each adds its section and changes nothing of those before it.
static void test_sections(void **state) {
    (void)state;
    cspace_report *report = NULL;
    cspace_map first = make_map(&square, &square), second = make_map(&disc, &square);
    assert_int_equal(cspace_report_create(&report, NULL), CORE_OK);
    char *page[3];
    for (int k = 0; k < 3; k++) {
        if (k > 0) add(report, k == 1 ? &first : &second, k == 1 ? &square : &disc, &square);
        page[k] = write_page(report);
        assert_int_equal(count(page[k], "<h2>"), k);
        assert_int_equal(count(page[k], "<table>"), k);
        assert_int_equal(count(page[k], "<image "), 6 * k);
        assert_int_equal(count(page[k], "</html>"), 1);
        const size_t kept = k > 0 ? strlen(page[k - 1]) - strlen("</body></html>\n") : 0;
        if (k > 0) assert_memory_equal(page[k], page[k - 1], kept);
    }
    char *alone = page_of(&second, &disc, &square);
    assert_string_equal(strstr(alone, "<h2>"), strstr(page[2], "<h2>disc"));
    assert_non_null(strstr(alone, "<h2>disc and square, ratio 1</h2>"));
    free(alone);
    for (int k = 0; k < 3; k++) free(page[k]);
    cspace_report_destroy(&report);
    cspace_map_clear(&first), cspace_map_clear(&second);
}

/// Names and words from a file are text, never markup.
static void test_names(void **state) {
    (void)state;
    cspace_map map = make_map(&square, &square);
    snprintf(map.a, sizeof map.a, "<b>a&b\"</b>\n");
    snprintf(map.labels, sizeof map.labels, "</p>&<x a=1>");
    snprintf(map.recipe, sizeof map.recipe, "<script>");
    char *page = page_of(&map, &square, &square);
    assert_non_null(strstr(page, "<h2>&lt;b&gt;a&amp;b&quot;&lt;/b&gt; and square"));
    assert_non_null(strstr(page, "recipe &lt;script&gt;, labels &lt;/p&gt;&amp;&lt;x a=1&gt;;"));
    free(page);
    cspace_map_clear(&map);
}

/// What a reader has to know: shallow labels, with how shallow, and a training that went wrong once.
static void test_remarks(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        cspace_map map = make_map(&square, &square);
        const bool minimiser = k < 2, trouble = k == 1 || k == 3;
        snprintf(map.labels, sizeof map.labels, "%s", minimiser ? "minimiser" : "exact");
        map.statement.exact = true;
        map.statement.labels_exact[0] = (cspace_error_stats){.n = 5, .d_bias = 0.0084};
        map.statement.labels_exact[1] = (cspace_error_stats){.n = 5, .d_bias = 0.0024};
        map.statement.labels_exact[CSPACE_BANDS] = (cspace_error_stats){.n = 10, .d_max = 0.048};
        map.train_moment_arm.steps = 90;
        map.train_moment_arm.trouble = trouble ? NN_TROUBLE_EXPLODED : NN_TROUBLE_NONE;
        map.train_moment_arm.trouble_step = trouble ? 12 : 0;
        char *page = page_of(&map, &square, &square);
        assert_true((strstr(page, "Labels of the minimiser: exact apart, shallower") != NULL) == minimiser);
        if (minimiser)
            assert_non_null(strstr(page, "here by 0.0084 L on average where the depth is 0.03 to 0.1 L, by 0.0024 at "
                                         "0.01 to 0.03 and by up to 0.048: forces"));
        assert_true((strstr(page, "The training of the moment-arm net went wrong at step 12 of 90 (a loss that "
                                  "exploded) and went on from its best weights at a lower rate: look") != NULL) ==
                    trouble);
        assert_null(strstr(page, "distance net went wrong"));
        free(page);
        cspace_map_clear(&map);
    }
}

/// No curve, one point, and losses that no axis holds.
static void test_curves(void **state) {
    (void)state;
    static const float losses[][3] = {{4, .4f, .04f}, {NAN, 1, 2}, {INFINITY, 1, 0}, {NAN, NAN, NAN}, {-1, 0, 1e38f}};
    cspace_map map = {.train_distance.steps = 77};
    for (int n = 0; n <= 3; n++)
        for (int k = 0; k < 5; k++) {
            core_buffer text = {0};
            map.train_distance.count_curve = n;
            memcpy(map.train_distance.curve, losses[k], sizeof losses[k]);
            cspace__plot_losses(&text, &map);
            assert_false(text.failed);
            if (n == 0) assert_int_equal(text.size, 0);
            if (n == 0) continue;
            assert_int_equal(count(text.text, "<polyline"), n > 1);
            assert_true(!strstr(text.text, "nan") && !strstr(text.text, "inf") && strstr(text.text, "77 steps"));
            assert_true(text.size < 20000);
            // an axis from 1e-2 (y = 174) to 1e1 (y = 8)
            if (n == 3 && k == 0) assert_non_null(strstr(text.text, "points=\"141.3,30.0 236.7,85.4 332.0,140.7 \""));
            core_free(text.text);
        }
}

/// Heights of the bars, in parts of the highest.
static void bars(const double *values, int64_t n, double height[60], core_buffer *text) {
    *text = (core_buffer){0};
    cspace__plot_histogram(text, "title", "unit", values, n, -0.3, 0.3);
    assert_false(text->failed);
    const char *at = text->text;
    for (int i = 0; i < 60; i++) {
        at = strstr(at + 1, "class=\"bar\"");
        assert_non_null(at);
        const char *from = at;
        while (strncmp(from, "height=\"", 8) != 0) from--;
        height[i] = strtod(from + 8, NULL) / 160.0;
    }
}

/// Every value is in one bar, those beyond in the end bars, whatever is no number in the first.
static void test_histogram(void **state) {
    (void)state;
    const double values[] = {-0.295, 0.005, 0.006, 0.007, 0.008, 5.0, INFINITY, -INFINITY, NAN, 1e300};
    double height[60];
    core_buffer text;
    bars(values, 10, height, &text);
    assert_close(height[30], 1.0, 1e-12);
    assert_close(height[0], 0.75, 1e-12);
    assert_close(height[59], 0.75, 1e-12);
    for (int i = 1; i < 59; i++)
        if (i != 30) assert_close(height[i], 0.0, 1e-12);
    assert_non_null(strstr(text.text, ">40 %</text>"));
    core_free(text.text);
    bars(values, 1, height, &text);
    assert_close(height[0], 1.0, 1e-12);
    assert_non_null(strstr(text.text, ">100 %</text>"));
    core_free(text.text);
    bars(NULL, 0, height, &text);
    for (int i = 0; i < 60; i++) assert_close(height[i], 0.0, 1e-12);
    assert_non_null(strstr(text.text, ">0 %</text>"));
    core_free(text.text);
}

/// Statements of numbers that are none are marked bad; a histogram's range stays a range.
static void test_statement(void **state) {
    (void)state;
    cspace_map map = make_map(&square, &square);
    map.statement.exact = true;
    for (int k = 0; k < 3; k++) {
        const double value = k == 0 ? 0.001 : k == 1 ? NAN : INFINITY;
        cspace_error_stats *e = &map.statement.map_exact[CSPACE_BANDS];
        e->d_mean = e->d_p99 = e->d_max = e->sign_errors = e->normal_p50 = e->arm_p50 = value;
        char *page = page_of(&map, &square, &square);
        assert_int_equal(count(page, "class=\"bad\""), k == 0 ? 0 : 6);
        assert_int_equal(count(page, "nan") + count(page, "inf"), k == 0 ? 0 : 6); // the table's, nothing else
        assert_int_equal(count(page, k == 2 ? ">-1.024</text>" : ">-0.004</text>"), 2);
        free(page);
    }
    cspace_map_clear(&map);
}

static void test_refused(void **state) {
    (void)state;
    core_error err = {0};
    cspace_report *report = NULL;
    cspace_map map = make_map(&square, &square), bare = {.a = "bare", .b = "map"};
    const sdf_shape *s = &square.shape;
    char path[TEST_PATH_MAX];
    assert_int_equal(cspace_report_create(NULL, &err), CORE_ARG);
    assert_int_equal(cspace_report_create(&report, &err), CORE_OK);
    assert_int_equal(cspace_report_add(NULL, &map, s, s, &rows, &err), CORE_ARG);
    assert_int_equal(cspace_report_add(report, NULL, s, s, &rows, &err), CORE_ARG);
    assert_int_equal(cspace_report_add(report, &map, NULL, s, &rows, &err), CORE_ARG);
    assert_int_equal(cspace_report_add(report, &map, s, NULL, &rows, &err), CORE_ARG);
    assert_int_equal(cspace_report_add(report, &map, s, s, NULL, &err), CORE_ARG);
    assert_int_equal(cspace_report_add(report, &bare, s, s, &rows, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "bare-map"));
    assert_int_equal(cspace_report_write(NULL, "x", &err), CORE_ARG);
    assert_int_equal(cspace_report_write(report, NULL, &err), CORE_ARG);
    assert_int_equal(cspace_report_write(report, test_folder_path(path, "no/folder.html"), &err), CORE_IO);
    char *page = write_page(report); // as if nothing had been tried
    assert_int_equal(count(page, "<h2>"), 0);
    free(page);
    cspace_report_destroy(&report);
    cspace_report_destroy(&report);
    cspace_report_destroy(NULL);
    cspace_map_clear(&map);
}

/// Without memory the report stays as it was, and the same call succeeds later.
static void test_memory(void **state) {
    (void)state;
    core_error err = {0};
    cspace_report *report = NULL;
    cspace_map map = make_map(&square, &square);
    uint64_t i = 1;
    for (;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_report_create(&report, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(report);
    }
    assert_true(i > 2); // the report and its text
    char *empty = write_page(report);
    for (i = 1;; i++) {
        core_alloc_fail_after(i);
        const core_status status = cspace_report_add(report, &map, &square.shape, &square.shape, &rows, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        if (status != CORE_MEMORY) fail_msg("allocation %d: %s", (int)i, err.message);
        assert_true(i < 200);
        char *page = write_page(report);
        assert_string_equal(page, empty);
        free(page);
    }
    print_message("allocations of a section: %d\n", (int)i - 1);
    char *page = write_page(report), *alone = page_of(&map, &square, &square);
    assert_string_equal(page, alone);
    free(empty), free(page), free(alone);
    cspace_report_destroy(&report);
    cspace_map_clear(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sections),  cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_remarks),   cmocka_unit_test(test_curves),
                                       cmocka_unit_test(test_histogram), cmocka_unit_test(test_statement),
                                       cmocka_unit_test(test_refused),   cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
