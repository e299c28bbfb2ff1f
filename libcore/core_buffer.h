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

/// Adds as printf does, of any length. No text or data of the functions below may be NULL.
void core_buffer_add(core_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Adds n bytes as they are.
void core_buffer_add_bytes(core_buffer *b, const char *bytes, size_t n);
/// A JSON string, quotes included, that may stand inside a script element.
void core_buffer_add_json(core_buffer *b, const char *text);
/// Text of an XML or HTML element or attribute; control characters, which have no place there, are left out.
void core_buffer_add_xml(core_buffer *b, const char *text);
/// A field of a CSV file, in quotes where it must be.
void core_buffer_add_csv(core_buffer *b, const char *text);
/// Bytes in base64 (RFC 4648), padded.
void core_buffer_add_base64(core_buffer *b, const void *data, size_t n_bytes);
/// Takes away what is behind `size` bytes, which is at most b->size; what failed behind them is forgotten.
void core_buffer_cut(core_buffer *b, size_t size);
/// Frees the text; empty again.
void core_buffer_clear(core_buffer *b);

#endif
