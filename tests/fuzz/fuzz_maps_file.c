/// `*.maps.h5`: a bundle of contact maps.
#include "fuzz_seed.h"

#include "fuzz_forge.h"

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(fuzz_seed_maps), false, data, size);
    cspace_bundle bundle = {0};
    core_error err = {0};
    if (!path) return 0;
    if (cspace_bundle_read(path, &bundle, NULL, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    cspace_bundle_clear(&bundle);
    return 0;
}
