/// `*.samples.h5`: labelled poses of a pair.
#include "fuzz_seed.h"

#include "fuzz_forge.h"

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(fuzz_seed_samples), false, data, size);
    cspace_samples s = {0};
    core_error err = {0};
    if (!path) return 0;
    if (cspace_samples_read(path, &s, NULL, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    cspace_samples_clear(&s);
    return 0;
}
