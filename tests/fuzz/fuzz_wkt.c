/// Shapes as WKT.
#include "fuzz_shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_shape_read("a.wkt", data, size);
    return 0;
}
