/// Shapes as GeoJSON.
#include "fuzz_shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_shape_read("a.geojson", data, size);
    return 0;
}
