/// Random numbers and hashes. Stored values come from an independent implementation of both in Python.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLES 1000000

static void test_generator_sequence(void **state) {
    (void)state;
    // the published generator from state 1, 2, 3, 4
    core_random r = {{1, 2, 3, 4}};
    const uint64_t wanted[] = {UINT64_C(41943041), UINT64_C(58720359), UINT64_C(3588806011781223),
                               UINT64_C(3591011842654386)};
    for (int i = 0; i < 4; i++) assert_int_equal(core_random_bits(&r), wanted[i]);
}

static void test_seeding(void **state) {
    (void)state;
    static const struct {
        uint64_t seed, stream, wanted[2];
    } cases[] = {
        {0, 0, {UINT64_C(0x10028da5947485cd), UINT64_C(0x5f58a9c9f1b8c301)}},
        {1, 0, {UINT64_C(0x1fba6c405bb025f0), UINT64_C(0x31c08293a7a435e7)}},
        {0, 1, {UINT64_C(0x797c3abe96c3e0e1), UINT64_C(0x24e1660c9d54c4a1)}},
        {12345, 678, {UINT64_C(0x6dc5298f8c64595a), UINT64_C(0x4891e42fc6006804)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        core_random r;
        core_random_init(&r, cases[i].seed, cases[i].stream);
        assert_int_equal(core_random_bits(&r), cases[i].wanted[0]);
        assert_int_equal(core_random_bits(&r), cases[i].wanted[1]);
    }
}

/// Neighbouring seeds and streams: all states differ, and their first outputs agree in about half of the bits.
static void test_streams_differ(void **state) {
    (void)state;
    enum { N = 24 };
    uint64_t first[N * N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            core_random r;
            core_random_init(&r, (uint64_t)i, (uint64_t)k);
            first[i * N + k] = core_random_bits(&r);
        }
    double sum = 0.0;
    int pairs = 0;
    for (int i = 0; i < N * N; i++)
        for (int k = 0; k < i; k++) {
            uint64_t x = first[i] ^ first[k];
            assert_true(x != 0);
            int ones = 0;
            for (; x; x &= x - 1) ones++;
            sum += ones;
            pairs++;
        }
    // 64 bits at 1/2: mean 32, standard error 4/sqrt(pairs) = 0.01 if the pairs were independent
    assert_true(fabs(sum / pairs - 32.0) < 0.15);
}

static void test_copy_repeats(void **state) {
    (void)state;
    core_random a, b;
    core_random_init(&a, 5, 6);
    core_random_normal(&a);
    b = a;
    for (int i = 0; i < 100; i++) {
        double x = core_random_normal(&a), y = core_random_normal(&b);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void test_uniform(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 7, 0);
    int bins[64] = {0};
    double sum = 0.0, squares = 0.0, product = 0.0, before = 0.5;
    for (int i = 0; i < SAMPLES; i++) {
        double u = core_random_uniform(&r);
        assert_true(u >= 0.0 && u < 1.0);
        bins[(int)(u * 64.0)]++;
        sum += u;
        squares += u * u;
        product += (u - 0.5) * (before - 0.5);
        before = u;
    }
    double chi = 0.0, expected = SAMPLES / 64.0;
    for (int i = 0; i < 64; i++) chi += (bins[i] - expected) * (bins[i] - expected) / expected;
    assert_true(chi < 120.0 && chi > 25.0); // 63 degrees of freedom: 63 +- 11
    assert_true(fabs(sum / SAMPLES - 0.5) < 5.0 * 0.289 / 1000.0);
    assert_true(fabs(squares / SAMPLES - 1.0 / 3.0) < 5.0 * 0.298 / 1000.0);
    assert_true(fabs(product / SAMPLES) < 5.0 / 12.0 / 1000.0); // neighbours do not correlate
}

static void test_normal(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 9, 0);
    double moment[5] = {0.0};
    int inside = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = core_random_normal(&r), p = 1.0;
        assert_true(isfinite(x));
        for (int k = 1; k <= 4; k++) moment[k] += p *= x;
        inside += fabs(x) < 1.0;
    }
    assert_true(fabs(moment[1] / SAMPLES) < 0.005);
    assert_true(fabs(moment[2] / SAMPLES - 1.0) < 0.007);
    assert_true(fabs(moment[3] / SAMPLES) < 0.02);
    assert_true(fabs(moment[4] / SAMPLES - 3.0) < 0.05);
    assert_true(fabs(inside / (double)SAMPLES - 0.6826894921) < 0.0024);
}

static void test_hash_values(void **state) {
    (void)state;
    assert_int_equal(core_hash_bytes(0, "", 0), UINT64_C(0xe8762870b5f4a9a7));
    assert_int_equal(core_hash_bytes(0, NULL, 0), UINT64_C(0xe8762870b5f4a9a7));
    assert_int_equal(core_hash_bytes(0, "a", 1), UINT64_C(0x7aa8250ae7f39065));
    assert_int_equal(core_hash_bytes(0, "configurational element", 23), UINT64_C(0xe12c23df3b188fb4));
    assert_int_equal(core_hash_bytes(7, "12345678", 8), UINT64_C(0xf8fd003550a4c5f0));
    char text[17];
    core_hash_text(UINT64_C(0x0123456789abcdef), text);
    assert_string_equal(text, "0123456789abcdef");
}

static void test_hash_sees_every_bit(void **state) {
    (void)state;
    unsigned char data[37];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7);
    uint64_t whole = core_hash_bytes(0, data, sizeof data);
    for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(core_hash_bytes(0, data, sizeof data) != whole);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(core_hash_bytes(0, "a", 1) != core_hash_bytes(0, "a\0", 2));
    assert_true(core_hash_bytes(0, "a", 1) != core_hash_bytes(1, "a", 1));
}

/// Two changed signs in an array of doubles, in any places, must not cancel.
static void test_hash_sees_two_signs(void **state) {
    (void)state;
    double v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t whole = core_hash_bytes(0, v, sizeof v);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++) {
            v[i] = -v[i];
            v[k] = -v[k];
            assert_true(core_hash_bytes(0, v, sizeof v) != whole);
            v[i] = -v[i];
            v[k] = -v[k];
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator_sequence),
        cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_copy_repeats),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_hash_values),
        cmocka_unit_test(test_hash_sees_every_bit),
        cmocka_unit_test(test_hash_sees_two_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
