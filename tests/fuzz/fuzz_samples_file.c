/// `*.samples.h5`: labelled poses of a pair.
#include "fuzz_h5.h"

#include "cspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_h5_file(data, size);
    cspace_samples s = {0};
    core_error err = {0};
    if (!path) return 0;
    if (cspace_samples_read(path, &s, NULL, &err) != CORE_OK) fuzz_expect_message(&err);
    cspace_samples_clear(&s);
    return 0;
}
