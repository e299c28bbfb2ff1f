/// Text that grows: files that are made in memory and written at once.
#ifndef CORE_BUFFER_H
#define CORE_BUFFER_H

#include "core.h"

/// `{0}` is empty. Once memory runs out `failed` is set and what follows is dropped, so one look at the end is enough.
typedef struct core_buffer {
    char *text; // (room), ended by a zero behind `size` bytes; NULL while nothing was added
    size_t size, room;
    bool failed;
} core_buffer;

/// Adds as printf does, of any length.
void core_buffer_add(core_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void core_buffer_add_bytes(core_buffer *b, const char *bytes, size_t n);
/// A JSON string, quotes included, that may stand inside a script element.
void core_buffer_add_json(core_buffer *b, const char *text);
/// Text of an XML or HTML element or attribute; control characters, which have no place there, are left out.
void core_buffer_add_xml(core_buffer *b, const char *text);
/// A field of a CSV file, in quotes where it must be.
void core_buffer_add_csv(core_buffer *b, const char *text);
void core_buffer_add_base64(core_buffer *b, const void *data, size_t n_bytes);
/// Frees the text; empty again.
void core_buffer_clear(core_buffer *b);

#endif
