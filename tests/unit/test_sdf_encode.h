/// Writes small BMP, PGM and JPEG files for tests, so that the readers are tested on bytes that nobody's encoder has
/// made. Drawings are black-and-white: mask[row][column], 1 inside.
#ifndef TEST_SDF_ENCODE_H
#define TEST_SDF_ENCODE_H

#include "test_sdf_png.h"

/// A drawing, rows from the top.
typedef struct test_mask {
    int width, height;
    const unsigned char *inside; // (height x width)
} test_mask;

static inline void test_put_little(test_png *f, uint32_t v, int bytes) {
    for (int i = 0; i < bytes; i++) {
        unsigned char b = i < 4 ? (unsigned char)(v >> (8 * i)) : 0;
        test_put(f, &b, 1);
    }
}

static inline void test_put_u16(test_png *f, unsigned v) {
    unsigned char b[2] = {(unsigned char)(v >> 8), (unsigned char)v};
    test_put(f, b, 2);
}

/// BMP. bits: 1, 4, 8 (palette: 0 white, 1 black, `colours` entries), 16, 24, 32; header: 40, 56, 108 or 124 bytes.
/// top_down: negative height. alpha: opacity is the mask and every colour is white (32 bits, header 108).
static inline test_png test_bmp_make(const test_mask *m, int bits, int header, int colours, bool top_down, bool alpha) {
    test_png f = {0};
    int entries = bits <= 8 ? colours : 0, masks = bits == 16 && header < 108 ? 12 : 0;
    size_t row = ((size_t)m->width * (size_t)bits + 7) / 8, stride = (row + 3) / 4 * 4;
    size_t offset = 14 + (size_t)header + (size_t)masks + 4 * (size_t)entries;
    test_put(&f, "BM", 2);
    test_put_little(&f, (uint32_t)(offset + stride * (size_t)m->height), 4);
    test_put_little(&f, 0, 4);
    test_put_little(&f, (uint32_t)offset, 4);
    test_put_little(&f, (uint32_t)header, 4);
    test_put_little(&f, (uint32_t)m->width, 4);
    test_put_little(&f, (uint32_t)(top_down ? -m->height : m->height), 4);
    test_put_little(&f, 1, 2);
    test_put_little(&f, (uint32_t)bits, 2);
    test_put_little(&f, masks || alpha ? 3 : 0, 4);
    test_put_little(&f, 0, 20);
    for (int i = 40; i < header; i += 4) {
        static const uint32_t channel_masks[] = {0xff0000, 0xff00, 0xff, 0xff000000};
        test_put_little(&f, header >= 108 && i < 56 ? channel_masks[(i - 40) / 4] : 0, 4);
    }
    static const uint32_t rgb565[] = {0xf800, 0x7e0, 0x1f};
    for (int i = 0; i < masks / 4; i++) test_put_little(&f, rgb565[i], 4);
    for (int i = 0; i < entries; i++) test_put_little(&f, i == 1 ? 0 : 0xffffff, 4);
    unsigned char *line = calloc(stride, 1);
    assert_non_null(line);
    for (int r = 0; r < m->height; r++) {
        const unsigned char *in = m->inside + (top_down ? r : m->height - 1 - r) * m->width;
        memset(line, 0, stride);
        for (int c = 0; c < m->width; c++) {
            int bit = c * bits;
            if (bits <= 8) line[bit / 8] |= (unsigned char)(in[c] << (8 - bits - bit % 8));
            for (int k = 0; bits > 8 && k < bits / 8; k++) line[bit / 8 + k] = in[c] && !alpha ? 0 : 255;
            if (alpha) line[4 * c + 3] = in[c] ? 255 : 0;
        }
        test_put(&f, line, stride);
    }
    free(line);
    return f;
}

/// PGM with the given header text behind "P5" and largest value (two bytes a pixel above 255).
static inline test_png test_pgm_make(const test_mask *m, const char *header, int largest) {
    test_png f = {0};
    test_put(&f, "P5", 2);
    test_put(&f, header, strlen(header));
    for (int i = 0; i < m->width * m->height; i++) {
        unsigned v = m->inside[i] ? 0 : (unsigned)largest;
        if (largest > 255)
            test_put_u16(&f, v);
        else
            test_put_little(&f, v, 1);
    }
    return f;
}

/// Bits of an entropy-coded segment, 0xff followed by a zero.
typedef struct test_bits {
    test_png *file;
    unsigned held;
    int count;
} test_bits;

static inline void test_bits_put(test_bits *b, unsigned value, int count) {
    for (int i = count - 1; i >= 0; i--) {
        b->held = b->held << 1 | (value >> i & 1);
        if (++b->count < 8) continue;
        test_put_little(b->file, b->held & 0xff, 1);
        if ((b->held & 0xff) == 0xff) test_put_little(b->file, 0, 1);
        b->count = 0;
    }
}

/// One block whose difference from the last one's mean is `diff`; codes of 4 bits for the 12 sizes, "0" for the end of
/// the block (not in progressive files, where this scan has the means alone).
static inline void test_block(test_bits *b, int diff, bool progressive) {
    unsigned size = 0, magnitude = (unsigned)abs(diff);
    while (magnitude >> size) size++;
    test_bits_put(b, size, 4);
    test_bits_put(b, diff < 0 ? (unsigned)(diff + (1 << size) - 1) : (unsigned)diff, (int)size);
    if (!progressive) test_bits_put(b, 0, 1);
}

static inline void test_huffman(test_png *f, int kind, int n) {
    test_put(f, "\xff\xc4", 2);
    test_put_u16(f, (unsigned)(19 + n));
    test_put_little(f, (uint32_t)kind, 1);
    for (int length = 1; length <= 16; length++)
        test_put_little(f, (uint32_t)(kind == 0 && length == 4 ? n : kind && length == 1 ? n : 0), 1);
    for (int i = 0; i < n; i++) test_put_little(f, (uint32_t)i, 1);
}

/// JPEG in which every pixel of the drawing is a block of 8 x 8 pixels of one grey, which JPEG keeps exactly: an image
/// of 8 width x 8 height pixels. channels: 1 grey, 3 YCbCr without colour, 4 as a CMYK file. bits: 8 (12 for a refused
/// kind).
static inline test_png test_jpeg_make(const test_mask *m, int channels, bool progressive, int bits) {
    test_png f = {0};
    test_put(&f, "\xff\xd8\xff\xdb\0\x43\0", 7);
    for (int i = 0; i < 64; i++) test_put_little(&f, 1, 1);
    test_put(&f, progressive ? "\xff\xc2" : "\xff\xc0", 2);
    test_put_u16(&f, (unsigned)(8 + 3 * channels));
    test_put_little(&f, (uint32_t)bits, 1);
    test_put_u16(&f, (unsigned)(8 * m->height));
    test_put_u16(&f, (unsigned)(8 * m->width));
    test_put_little(&f, (uint32_t)channels, 1);
    for (int c = 0; c < channels; c++) test_put_little(&f, (uint32_t)(0x1101 + c) | 0, 2), test_put_little(&f, 0, 1);
    test_huffman(&f, 0, 12);
    test_huffman(&f, 0x10, 1);
    test_put(&f, "\xff\xda", 2);
    test_put_u16(&f, (unsigned)(6 + 2 * channels));
    test_put_little(&f, (uint32_t)channels, 1);
    for (int c = 0; c < channels; c++) test_put_little(&f, (uint32_t)(1 + c), 2);
    test_put(&f, progressive ? "\0\0\0" : "\0\x3f\0", 3);
    test_bits b = {.file = &f};
    int before = 0;
    for (int i = 0; i < m->width * m->height; i++) {
        int mean = 8 * (m->inside[i] ? -128 : 127); // the quantised sum of 64 pixels, less the middle grey
        test_block(&b, mean - before, progressive);
        for (int c = 1; c < channels; c++) test_block(&b, 0, progressive);
        before = mean;
    }
    while (b.count) test_bits_put(&b, 1, 1);
    test_put(&f, "\xff\xd9", 2);
    return f;
}

#endif
