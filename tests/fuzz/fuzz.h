/// What the fuzzers share. Each fuzzer feeds bytes to one reader through the library's public call and aborts if what
/// was accepted is not what the reader promises. Under libFuzzer (CEM_FUZZ) the bytes are its own; replay.c feeds the
/// kept corpus in every build.
#ifndef FUZZ_H
#define FUZZ_H

#include "unit/test_folder.h"

#include "core.h"

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry: one input. Returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_remove_folder(void) {
    test_folder_remove(NULL);
}

/// The bytes as a file of that name in a folder that goes with the process; NULL if it cannot be written.
static inline const char *fuzz_file(const char *name, const void *data, size_t size) {
    if (!test_folder[0]) {
        if (test_folder_make(NULL) != 0) abort();
        atexit(fuzz_remove_folder);
    }
    const char *path = test_folder_file(name);
    FILE *file = fopen(path, "wb");
    if (!file) return NULL;
    size_t written = fwrite(data, 1, size, file);
    return fclose(file) == 0 && written == size ? path : NULL;
}

/// Aborts unless a promise holds.
static inline void fuzz_expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/// Aborts unless a refusal has a message of one line.
static inline void fuzz_expect_message(const core_error *err) {
    fuzz_expect(err->message[0] != 0, "a refusal without a message");
    fuzz_expect(strchr(err->message, '\n') == NULL, "a message of several lines");
}

/// Aborts unless a refusal has a message of one line and is not of what must be read: size 0 is the valid file as it
/// is.
static inline void fuzz_expect_refusal(size_t size, const core_error *err) {
    fuzz_expect(size > 0, err->message);
    fuzz_expect_message(err);
}

#endif
