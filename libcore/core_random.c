/// Random numbers: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its
/// state filled by splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#include "core.h"

#include <math.h>

#define RANDOM_GOLDEN UINT64_C(0x9e3779b97f4a7c15) // 2^64 / golden ratio, splitmix64's increment

static uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

/// splitmix64's output function: a bijection in which each input bit reaches all output bits.
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void core_random_init(core_random *r, uint64_t seed, uint64_t stream) {
    // mixed one after the other, so that (1, 2) and (2, 1), or seed and stream one apart, share nothing
    uint64_t z = mix(mix(seed + RANDOM_GOLDEN) + stream * RANDOM_GOLDEN + 1);
    for (int i = 0; i < 4; i++) {
        z += RANDOM_GOLDEN;
        r->s[i] = mix(z); // four outputs of a bijection at four places: never all zero
    }
}

uint64_t core_random_bits(core_random *r) {
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double core_random_uniform(core_random *r) {
    return (double)(core_random_bits(r) >> 11) * 0x1p-53;
}

double core_random_normal(core_random *r) {
    // Marsaglia's polar method; the second value is dropped: the state stays four words
    for (;;) {
        double u = 2.0 * core_random_uniform(r) - 1.0;
        double v = 2.0 * core_random_uniform(r) - 1.0;
        double q = u * u + v * v;
        if (q > 0.0 && q < 1.0) return u * sqrt(-2.0 * core_log(q) / q);
    }
}
