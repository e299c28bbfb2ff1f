// Growing text: SVG and HTML are written into memory and to disk at once. Numbers have decimal points: no command sets
// a locale.
#include "sim_view_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_MIN 4096u
#define PIECE_MAX 512 // bytes of one formatted piece

// Room for n more bytes and a zero.
static bool make_room(sim_text_buffer *b, size_t n) {
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

void sim_text_buffer_add_bytes(sim_text_buffer *b, const char *bytes, size_t n) {
    if (!make_room(b, n)) return;
    memcpy(b->text + b->size, bytes, n);
    b->size += n;
    b->text[b->size] = '\0';
}

void sim_text_buffer_add(sim_text_buffer *b, const char *format, ...) {
    char piece[PIECE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof piece)
        b->failed = true;
    else
        sim_text_buffer_add_bytes(b, piece, (size_t)n);
}

void sim_text_buffer_clear(sim_text_buffer *b) {
    core_free(b->text);
    *b = (sim_text_buffer){0};
}

void sim_text_buffer_add_json(sim_text_buffer *b, const char *text) {
    sim_text_buffer_add_bytes(b, "\"", 1);
    for (const char *s = text ? text : ""; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        // `<` could end the script that holds the text.
        if (c < 0x20 || c == '"' || c == '\\' || c == '<')
            sim_text_buffer_add(b, "\\u%04x", (unsigned)c);
        else
            sim_text_buffer_add_bytes(b, s, 1);
    }
    sim_text_buffer_add_bytes(b, "\"", 1);
}

void sim_text_buffer_add_xml(sim_text_buffer *b, const char *text) {
    for (const char *s = text; *s; s++) {
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            sim_text_buffer_add(b, "&#%d;", *s);
        else
            sim_text_buffer_add_bytes(b, s, 1);
    }
}

void sim_text_buffer_add_base64(sim_text_buffer *b, const void *data, size_t n_bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = data;
    if (!make_room(b, (n_bytes + 2) / 3 * 4)) return;
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
