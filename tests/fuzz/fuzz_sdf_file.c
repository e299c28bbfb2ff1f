/// `*.sdf.h5`: shape and grid.
#include "fuzz_seed.h"

#include "fuzz_forge.h"

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(fuzz_seed_sdf), false, data, size);
    sdf_shape s = {0};
    sdf_grid g = {0};
    core_error err = {0};
    if (!path) return 0;
    if (sdf_file_read(path, &s, &g, NULL, &err) == CORE_OK) {
        const double p[2] = {0.3, -2};
        double value = sdf_grid_sample(&g, p, NULL);
        fuzz_expect(value == value, "a grid that gives NaN");
    } else {
        fuzz_expect_refusal(size, &err);
    }
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
    return 0;
}
