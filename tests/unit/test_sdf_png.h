/// Writes PNG files for tests, any bit depth and colour type, stored without compression, so that the reader is tested
/// on bytes that nobody's encoder has made.
#ifndef TEST_SDF_PNG_H
#define TEST_SDF_PNG_H

#include "test_sdf_common.h"

/// A growing file in memory.
typedef struct test_png {
    unsigned char *data;
    size_t n;
} test_png;

static inline void test_put(test_png *f, const void *data, size_t n) {
    f->data = realloc(f->data, f->n + n + 1);
    assert_non_null(f->data);
    if (n) memcpy(f->data + f->n, data, n);
    f->n += n;
}

static inline void test_put_u32(test_png *f, uint32_t v) {
    unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16), (unsigned char)(v >> 8),
                          (unsigned char)v};
    test_put(f, b, 4);
}

/// CRC-32 as the PNG specification defines it, one bit at a time.
static inline uint32_t test_crc(const unsigned char *p, size_t n) {
    uint32_t c = 0xffffffffU;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? 0xedb88320U : 0);
    }
    return ~c;
}

static inline void test_chunk(test_png *f, const char *type, const unsigned char *data, size_t n) {
    test_put_u32(f, (uint32_t)n);
    size_t begin = f->n;
    test_put(f, type, 4);
    test_put(f, data, n);
    test_put_u32(f, test_crc(f->data + begin, f->n - begin));
}

/// zlib stream of stored blocks.
static inline test_png test_stored(const unsigned char *raw, size_t n) {
    test_png z = {0};
    uint32_t s1 = 1, s2 = 0;
    test_put(&z, "\x78\x01", 2);
    for (size_t at = 0; at < n;) {
        size_t block = n - at < 65535 ? n - at : 65535;
        unsigned char head[5] = {at + block == n, (unsigned char)block, (unsigned char)(block >> 8),
                                 (unsigned char)~block, (unsigned char)(~block >> 8)};
        test_put(&z, head, 5);
        test_put(&z, raw + at, block);
        at += block;
    }
    for (size_t i = 0; i < n; i++) {
        s1 = (s1 + raw[i]) % 65521;
        s2 = (s2 + s1) % 65521;
    }
    test_put_u32(&z, (s2 << 16) | s1);
    return z;
}

/// Samples are 0 .. 2^depth - 1, `channels` a pixel, rows from the top. colour: PNG's colour type (0 grey, 2 RGB, 3
/// palette, 4 grey + alpha, 6 RGBA). palette: RGB triples, transparency: one byte an entry; both for colour 3 or NULL.
static inline test_png test_png_make(int width, int height, int depth, int colour, int channels,
                                     const uint16_t *samples, const char *palette, size_t n_palette,
                                     const char *transparency, size_t n_transparency) {
    size_t row_bytes = ((size_t)width * (size_t)channels * (size_t)depth + 7) / 8, n = (row_bytes + 1) * (size_t)height;
    unsigned char *raw = calloc(n ? n : 1, 1);
    assert_non_null(raw);
    for (int r = 0; r < height; r++) {
        unsigned char *row = raw + (size_t)r * (row_bytes + 1) + 1;
        for (int i = 0; i < width * channels; i++) {
            unsigned v = samples[r * width * channels + i];
            if (depth == 16) row[2 * i] = (unsigned char)(v >> 8);
            if (depth == 16) row[2 * i + 1] = (unsigned char)v;
            if (depth == 8) row[i] = (unsigned char)v;
            if (depth < 8) row[i * depth / 8] |= (unsigned char)(v << (8 - depth - i * depth % 8));
        }
    }
    test_png f = {0}, z = test_stored(raw, n), header = {0};
    test_put_u32(&header, (uint32_t)width);
    test_put_u32(&header, (uint32_t)height);
    unsigned char tail[5] = {(unsigned char)depth, (unsigned char)colour, 0, 0, 0};
    test_put(&header, tail, 5);
    test_put(&f, "\x89PNG\r\n\x1a\n", 8);
    test_chunk(&f, "IHDR", header.data, header.n);
    if (palette) test_chunk(&f, "PLTE", (const unsigned char *)palette, n_palette);
    if (transparency) test_chunk(&f, "tRNS", (const unsigned char *)transparency, n_transparency);
    test_chunk(&f, "IDAT", z.data, z.n);
    test_chunk(&f, "IEND", NULL, 0);
    free(raw);
    free(z.data);
    free(header.data);
    return f;
}

#endif
