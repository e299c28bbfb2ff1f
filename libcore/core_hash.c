/// Content hashes: FNV-1a's xor and multiply on 8-byte little-endian words, with a shift behind each multiplication.
/// Without that shift the top bit of a word would stay in the top bit of the hash, and two changed signs in an array of
/// doubles would cancel. Constants of FNV: http://www.isthe.com/chongo/tech/comp/fnv/ (public domain).
#include "core.h"

#define HASH_OFFSET UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x00000100000001b3)

static uint64_t hash_step(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * HASH_PRIME;
    return hash ^ (hash >> 32);
}

/// Up to eight bytes as a little-endian number, whatever the machine's order.
static uint64_t hash_word(const unsigned char *bytes, size_t n) {
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t core_hash_bytes(uint64_t seed, const void *data, size_t n_bytes) {
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ HASH_OFFSET;
    size_t i = 0;
    for (; i + 8 <= n_bytes; i += 8) hash = hash_step(hash, hash_word(bytes + i, 8));
    if (i < n_bytes) hash = hash_step(hash, hash_word(bytes + i, n_bytes - i));
    // the length tells "a" from "a\0"; the finaliser of splitmix64 spreads the last words
    hash = hash_step(hash, (uint64_t)n_bytes);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

void core_hash_text(uint64_t hash, char text[17]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) text[i] = digits[(hash >> (60 - 4 * i)) & 15u];
    text[16] = '\0';
}
