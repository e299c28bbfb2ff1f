/// What the fuzzers of both kinds of checkpoint share.
#ifndef FUZZ_CHECKPOINT_H
#define FUZZ_CHECKPOINT_H

#include "fuzz_seed.h"

#include "fuzz_forge.h"

/// Steps that a state is taken on for.
enum { FUZZ_STEPS = 3 };

/// Takes the checkpoint before the last, which is of the end, in the last one's place.
static inline void fuzz_checkpoint_take_previous(const char *path) {
    char previous[TEST_PATH_MAX + 2];
    snprintf(previous, sizeof previous, "%s.1", path);
    fuzz_expect(rename(previous, path) == 0, "no checkpoint within the last phase");
}

/// The checkpoint that `make` writes, with the input's changes and a content hash that is right, as `open` opens it;
/// NULL: refused, in words.
static inline core_h5 *fuzz_checkpoint_open(core_status (*make)(const char *path, core_error *err),
                                            core_status (*open)(const char *path, core_h5 **file, core_error *err),
                                            const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(make), true, data, size);
    core_h5 *file = NULL;
    core_error err = {0};
    if (path && open(path, &file, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    return file;
}

#endif
