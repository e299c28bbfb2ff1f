/// Growing text: what printf would print, escapes, base64, no memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_buffer.h"

#include <string.h>

static void expect(core_buffer *b, const char *text) {
    assert_false(b->failed);
    assert_string_equal(b->text, text);
    assert_int_equal(b->size, strlen(text));
    core_buffer_clear(b);
    assert_true(!b->text && b->size == 0 && b->room == 0);
}

static void formats_of_any_length(void **state) {
    (void)state;
    core_buffer b = {0};
    core_buffer_add(&b, "%d %s", 5, "x");
    core_buffer_add(&b, "%.2f", 0.5);
    expect(&b, "5 x0.50");
    char expected[20001];
    memset(expected, ' ', 19999);
    memcpy(expected + 19999, "7", 2);
    core_buffer_add(&b, "%20000d", 7);
    expect(&b, expected);
    for (int i = 0; i < 3000; i++) core_buffer_add_bytes(&b, "abcdefghijk", (size_t)(i % 12)); // over many growths
    for (size_t i = 0, at = 0; i < 3000; at += i % 12, i++) assert_memory_equal(b.text + at, "abcdefghijk", i % 12);
    core_buffer_clear(&b);
}

static void escapes(void **state) {
    (void)state;
    core_buffer b = {0};
    core_buffer_add_json(&b, "a\"b\\c\n</script>");
    expect(&b, "\"a\\u0022b\\u005cc\\u000a\\u003c/script>\"");
    core_buffer_add_json(&b, "");
    expect(&b, "\"\"");
    core_buffer_add_xml(&b, "<a b=\"1\">&'\x01"
                            "</a>");
    expect(&b, "&lt;a b=&quot;1&quot;&gt;&amp;'&lt;/a&gt;");
    static const char *const fields[][2] = {{"", ""},
                                            {"plain words", "plain words"},
                                            {"a,b", "\"a,b\""},
                                            {"say \"x\"", "\"say \"\"x\"\"\""},
                                            {"a\nb", "\"a\nb\""}};
    for (int i = 0; i < 5; i++) {
        core_buffer_add_csv(&b, fields[i][0]);
        core_buffer_add(&b, ".");
        core_buffer_cut(&b, b.size - 1);
        expect(&b, fields[i][1]);
    }
}

/// The vectors of RFC 4648.
static void base64(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (int k = 0; k < 7; k++) {
        core_buffer b = {0};
        core_buffer_add_base64(&b, pairs[k][0], strlen(pairs[k][0]));
        expect(&b, pairs[k][1]);
    }
}

/// What came before stays, what comes later is dropped.
static void no_memory(void **state) {
    (void)state;
    core_buffer b = {0};
    core_buffer_add(&b, "first");
    core_alloc_fail_after(1);
    core_buffer_add(&b, "%10000d", 1);
    core_alloc_fail_after(0);
    core_buffer_add(&b, "last");
    assert_true(b.failed);
    assert_string_equal(b.text, "first");
    core_buffer_clear(&b);
    core_alloc_fail_after(1);
    core_buffer_add_base64(&b, "x", 1);
    core_alloc_fail_after(0);
    assert_true(b.failed && !b.text);
    core_buffer_cut(&b, 0);
    assert_false(b.failed);
    core_buffer_add(&b, "kept");
    core_buffer_add_bytes(&b, "", SIZE_MAX); // more than there can be
    assert_true(b.failed);
    core_buffer_cut(&b, 4);
    core_buffer_add_base64(&b, "", SIZE_MAX - 1);
    assert_true(b.failed);
    core_buffer_cut(&b, 4);
    expect(&b, "kept");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats_of_any_length), cmocka_unit_test(escapes),
                                       cmocka_unit_test(base64), cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
