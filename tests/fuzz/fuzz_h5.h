/// HDF5 files as fuzzers feed them. Every piece of metadata carries a check sum, so that almost every change of a byte
/// ends there; those of the superblock and of object headers are made right first, and what lies behind is tested.
/// Source: HDF5 File Format Specification 3.0, II.A, IV.A.1.b; the hash is Jenkins's lookup3 (hashlittle).
#ifndef FUZZ_H5_H
#define FUZZ_H5_H

#include "fuzz.h"

static inline uint32_t fuzz_rotate(uint32_t x, int k) {
    return x << k | x >> (32 - k);
}

static inline uint32_t fuzz_little(const uint8_t *p, size_t n) {
    uint32_t v = 0;
    for (size_t i = 0; i < n && i < 4; i++) v |= (uint32_t)p[i] << (8 * i);
    return v;
}

/// lookup3 of n bytes, seed 0.
static inline uint32_t fuzz_lookup3(const uint8_t *p, size_t n) {
    static const int mix[6] = {4, 6, 8, 16, 19, 4}, final[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t v[3];
    v[0] = v[1] = v[2] = 0xdeadbeefU + (uint32_t)n;
    for (; n > 12; n -= 12, p += 12) {
        for (int i = 0; i < 3; i++) v[i] += fuzz_little(p + 4 * i, 4);
        for (int i = 0; i < 6; i++) {
            uint32_t *a = v + i % 3, *b = v + (i + 1) % 3, *c = v + (i + 2) % 3;
            *a = (*a - *c) ^ fuzz_rotate(*c, mix[i]);
            *c += *b;
        }
    }
    if (n == 0) return v[2];
    for (size_t i = 0; i < 3; i++)
        if (n > 4 * i) v[i] += fuzz_little(p + 4 * i, n - 4 * i);
    for (int i = 0; i < 7; i++) {
        uint32_t *c = v + (i + 2) % 3, *b = v + (i + 1) % 3;
        *c = (*c ^ *b) - fuzz_rotate(*b, final[i]);
    }
    return v[2];
}

/// Writes the check sum of data[begin .. end) at `end`.
static inline void fuzz_h5_sum(uint8_t *data, size_t size, size_t begin, size_t end) {
    if (end < begin || end + 4 > size) return;
    uint32_t sum = fuzz_lookup3(data + begin, end - begin);
    for (size_t i = 0; i < 4; i++) data[end + i] = (uint8_t)(sum >> (8 * i));
}

/// Makes the check sums of the superblock and of all object headers right.
static inline void fuzz_h5_repair(uint8_t *data, size_t size) {
    if (size < 48) return;
    fuzz_h5_sum(data, size, 0, 44);
    for (size_t at = 48; at + 8 < size; at++) {
        if (memcmp(data + at, "OHDR\2", 5) != 0) continue;
        unsigned flags = data[at + 5];
        size_t head = at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0), width = (size_t)1 << (flags & 3);
        if (width > 4 || head + width > size) continue;
        fuzz_h5_sum(data, size, at, head + width + fuzz_little(data + head, width));
    }
}

/// The bytes as a file, check sums made right; NULL if that failed.
static inline const char *fuzz_h5_file(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (!copy) return NULL;
    if (size) memcpy(copy, data, size);
    fuzz_h5_repair(copy, size);
    const char *path = fuzz_file("a.h5", copy, size);
    free(copy);
    return path;
}

#endif
