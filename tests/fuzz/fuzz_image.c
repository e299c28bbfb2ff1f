/// Shapes as images: PNG, JPEG, BMP, PGM. Check sums of a PNG are made right first: what lies behind them is to be
/// tested, and a check sum that is wrong is what every change would come to.
#include "fuzz_shape.h"

/// CRC-32 of the PNG specification.
static uint32_t crc32_of(const uint8_t *p, size_t n) {
    uint32_t c = 0xffffffffU;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? 0xedb88320U : 0);
    }
    return ~c;
}

static void png_repair(uint8_t *data, size_t size) {
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12) return;
        uint32_t c = crc32_of(data + at + 4, length + 4);
        for (size_t i = 0; i < 4; i++) data[at + 8 + length + i] = (uint8_t)(c >> (24 - 8 * i));
        at += length + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (!copy) return 0;
    if (size) memcpy(copy, data, size);
    if (size > 8 && memcmp(data, "\x89PNG", 4) == 0) png_repair(copy, size);
    fuzz_shape_read("a.png", copy, size);
    free(copy);
    return 0;
}
