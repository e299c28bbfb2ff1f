/// `*.maps.h5`: a bundle of contact maps.
#include "fuzz_h5.h"

#include "cspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_h5_file(data, size);
    cspace_bundle bundle = {0};
    core_error err = {0};
    if (!path) return 0;
    if (cspace_bundle_read(path, &bundle, NULL, &err) != CORE_OK) fuzz_expect_message(&err);
    cspace_bundle_clear(&bundle);
    return 0;
}
