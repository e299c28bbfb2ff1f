// Growing text. Numbers have decimal points: no command sets a locale.
#include "core_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_MIN 4096u

// Room for n more bytes and a zero.
static bool make_room(core_buffer *b, size_t n) {
    if (n > SIZE_MAX / 4 - b->size) b->failed = true;
    if (b->failed) return false;
    if (b->size + n + 1 <= b->room) return true;
    size_t room = b->room ? 2 * b->room : BUFFER_MIN;
    while (room < b->size + n + 1) room *= 2;
    char *text = core_realloc(b->text, b->room, room, 1);
    b->failed = text == NULL;
    if (!text) return false;
    b->text = text, b->room = room;
    return true;
}

void core_buffer_add_bytes(core_buffer *b, const char *bytes, size_t n) {
    if (!make_room(b, n)) return;
    memcpy(b->text + b->size, bytes, n);
    b->size += n;
    b->text[b->size] = '\0';
}

void core_buffer_add(core_buffer *b, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, arguments);
    if (n < 0) b->failed = true;
    if (n >= 0 && make_room(b, (size_t)n)) {
        vsnprintf(b->text + b->size, (size_t)n + 1, format, again);
        b->size += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
}

void core_buffer_cut(core_buffer *b, size_t size) {
    b->size = size;
    if (b->text) b->text[size] = '\0';
    b->failed = false;
}

void core_buffer_clear(core_buffer *b) {
    core_free(b->text);
    *b = (core_buffer){0};
}

void core_buffer_add_json(core_buffer *b, const char *text) {
    core_buffer_add_bytes(b, "\"", 1);
    for (const char *s = text; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        // `<` could end the script that holds the text.
        if (c < 0x20 || c == '"' || c == '\\' || c == '<')
            core_buffer_add(b, "\\u%04x", (unsigned)c);
        else
            core_buffer_add_bytes(b, s, 1);
    }
    core_buffer_add_bytes(b, "\"", 1);
}

void core_buffer_add_xml(core_buffer *b, const char *text) {
    static const char special[] = "<>&\"", *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    for (const char *s = text; *s; s++) {
        const char *found = strchr(special, *s);
        if (found)
            core_buffer_add(b, "%s", entities[found - special]);
        else if ((unsigned char)*s >= 0x20)
            core_buffer_add_bytes(b, s, 1);
    }
}

void core_buffer_add_csv(core_buffer *b, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        core_buffer_add_bytes(b, text, strlen(text));
        return;
    }
    core_buffer_add_bytes(b, "\"", 1);
    for (const char *s = text; *s; s++) {
        if (*s == '"') core_buffer_add_bytes(b, s, 1);
        core_buffer_add_bytes(b, s, 1);
    }
    core_buffer_add_bytes(b, "\"", 1);
}

void core_buffer_add_base64(core_buffer *b, const void *data, size_t n_bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = data;
    if (!make_room(b, n_bytes > SIZE_MAX / 8 ? SIZE_MAX : (n_bytes + 2) / 3 * 4)) return;
    for (size_t i = 0; i < n_bytes; i += 3) {
        const size_t left = n_bytes - i;
        const uint32_t v =
            (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0u);
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=',
                              left > 2 ? digits[v & 63] : '='};
        memcpy(b->text + b->size, four, 4);
        b->size += 4;
    }
    b->text[b->size] = '\0';
}
