/// Status codes and failure messages (core.h).
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Makes a message one printable line: text quoted from files may hold anything.
static void message_clean(char *text) {
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) text[--n] = '\0';
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7f) text[i] = '?';
    }
}

core_status core_fail(core_error *err, core_status code, const char *file, int line, const char *format, ...) {
    if (!err) return code;
    // formatted beside err: an argument may be err's own message
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) strcpy(text, core_status_name(code));
    message_clean(text);
    memcpy(err->message, text, sizeof text);
    err->code = code;
    err->file = file;
    err->line = line;
    return code;
}

core_status core_error_prefix(core_error *err, core_status code, const char *format, ...) {
    if (!err) return code;
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return code;
    size_t used = strlen(text);
    int written = snprintf(text + used, sizeof text - used, ": %s", err->message);
    if (written < 0) return code;
    message_clean(text);
    memcpy(err->message, text, sizeof text);
    err->code = code;
    return code;
}

const char *core_status_name(core_status code) {
    switch (code) {
    case CORE_OK:
        return "ok";
    case CORE_ARG:
        return "bad argument";
    case CORE_SHAPE:
        return "unusable geometry";
    case CORE_RANGE:
        return "out of range";
    case CORE_NONFINITE:
        return "not a finite number";
    case CORE_MEMORY:
        return "out of memory";
    case CORE_IO:
        return "input or output failed";
    case CORE_FORMAT:
        return "wrong file content";
    case CORE_VERSION_OTHER:
        return "unknown file version";
    case CORE_NOT_CONVERGED:
        return "did not converge";
    case CORE_UNSUPPORTED:
        return "not supported";
    case CORE_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}
