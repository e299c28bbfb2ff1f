/// sin, cos, atan2, log and angle wrapping against the long double functions of the C library (64-bit mantissa).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include "core_sincos.h"
#include "random_below.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <stdio.h>

/// Bounds in units of the last place; measured maxima over 1e7 samples: sin 0.85, cos 0.84, atan2 1.81, log 0.84.
#define ULP_SINCOS 1.0
#define ULP_ATAN2 2.0
#define ULP_LOG 1.0
#define SAMPLES 1000000

/// Largest error seen and where.
typedef struct worst {
    double ulp, x, y, found;
    long double wanted;
} worst;

static void compare(worst *w, double x, double y, double found, long double wanted) {
    int exponent;
    frexpl(wanted, &exponent);
    double unit = ldexp(1.0, exponent - 53 < -1074 ? -1074 : exponent - 53);
    double ulp = wanted == 0.0L && found == 0.0 ? 0.0 : (double)(fabsl((long double)found - wanted) / unit);
    if (!(ulp <= w->ulp)) *w = (worst){isnan(ulp) ? INFINITY : ulp, x, y, found, wanted};
}

static void assert_worst(const char *name, const worst *w, double bound) {
    if (w->ulp > bound)
        fail_msg("%s: %.3f ulp at %a, %a: found %a, expected %La, bound %g", name, w->ulp, w->x, w->y, w->found,
                 w->wanted, bound);
}

/// Of either sign, its size spread evenly over the decades from low to high.
static double random_spread(core_random *r, double low, double high) {
    double u = core_random_uniform(r), x = pow(low, 1.0 - u) * pow(high, u);
    return random_below(r, 2) ? x : -x;
}

static void test_sincos_accuracy(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 11, 0);
    worst sine = {0}, cosine = {0};
    for (int i = 0; i < SAMPLES; i++) {
        double x = random_spread(&r, 1e-9, 1e6);
        if (i % 2) { // a few doubles around a multiple of pi/4: the reduction cancels most there
            x = (double)random_below(&r, 1270000) * 0.78539816339744831;
            for (int k = random_below(&r, 4); k > 0; k--) x = nextafter(x, i % 4 == 1 ? HUGE_VAL : -HUGE_VAL);
        }
        double s, c;
        core_sincos(x, &s, &c);
        compare(&sine, x, 0.0, s, sinl((long double)x));
        compare(&cosine, x, 0.0, c, cosl((long double)x));
    }
    assert_worst("sin", &sine, ULP_SINCOS);
    assert_worst("cos", &cosine, ULP_SINCOS);
}

static void test_sincos_special(void **state) {
    (void)state;
    double s, c;
    core_sincos(0.0, &s, &c);
    assert_true(s == 0.0 && !signbit(s) && c == 1.0);
    core_sincos(DBL_MIN, &s, &c);
    assert_true(s == DBL_MIN && c == 1.0);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        core_sincos(bad[i], &s, &c);
        assert_true(isnan(s) && isnan(c));
    }
    // beyond the reach of the reduction: finite, on the circle, and off by no more than the rounding of the argument
    core_random r;
    core_random_init(&r, 12, 0);
    for (int i = 0; i < 20000; i++) {
        double x = random_spread(&r, 1e6, i % 2 ? 1e15 : DBL_MAX);
        core_sincos(x, &s, &c);
        assert_true(fabs(s * s + c * c - 1.0) < 1e-15);
        if (fabs(x) < 1e15) assert_true(fabsl((long double)s - sinl((long double)x)) < fabs(x) * 0x1p-53 + 1e-15);
    }
}

static void test_sincos_symmetry(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 13, 0);
    for (int i = 0; i < 100000; i++) {
        double x = random_spread(&r, 1e-6, 1e6), s, c, s2, c2;
        core_sincos(x, &s, &c);
        core_sincos(-x, &s2, &c2);
        assert_true(s2 == -s && c2 == c);
    }
}

static void test_atan2_accuracy(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 14, 0);
    worst w = {0};
    for (int i = 0; i < SAMPLES; i++) {
        double y = random_spread(&r, 1e-3, 1e3), x = random_spread(&r, 1e-3, 1e3);
        if (i % 4 == 1) y = x * (double)(1 + random_below(&r, 8)) * 0.125; // at the nodes
        if (i % 4 == 2) y = x * (0.0625 + 0.06 * core_random_uniform(&r)); // around the first interval's end
        if (i % 16 == 3) y = random_spread(&r, 1e-300, 1e300), x = random_spread(&r, 1e-300, 1e300);
        compare(&w, y, x, core_atan2(y, x), atan2l((long double)y, (long double)x));
    }
    assert_worst("atan2", &w, ULP_ATAN2);
}

static void test_atan2_quadrants_and_zeros(void **state) {
    (void)state;
    const double values[] = {0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, DBL_MAX, -DBL_MAX};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++) {
            double found = core_atan2(values[i], values[k]), wanted = atan2(values[i], values[k]);
            if (found != wanted || signbit(found) != signbit(wanted))
                fail_msg("atan2(%g, %g): found %a, expected %a", values[i], values[k], found, wanted);
        }
    assert_true(isnan(core_atan2(NAN, 1.0)) && isnan(core_atan2(1.0, NAN)) && isnan(core_atan2(NAN, NAN)));
    assert_true(isnan(core_atan2(NAN, 0.0)) && isnan(core_atan2(0.0, NAN)));
    assert_true(isnan(core_atan2(INFINITY, INFINITY)) && isnan(core_atan2(-INFINITY, INFINITY)));
}

static void test_atan2_infinities_are_nan(void **state) {
    (void)state;
    assert_true(isnan(core_atan2(INFINITY, 1.0)) && isnan(core_atan2(1.0, -INFINITY)));
    assert_true(isnan(core_atan2(0.0, INFINITY)) && isnan(core_atan2(-INFINITY, 0.0)));
}

static void test_log_accuracy(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 15, 0);
    worst w = {0};
    for (int i = 0; i < SAMPLES; i++) {
        double x = fabs(random_spread(&r, 1e-300, 1e300));
        if (i % 3 == 1) x = 1.0 + random_spread(&r, 1e-16, 0.5); // the result is small there
        if (i % 3 == 2) x = core_random_uniform(&r) * 4.0;
        if (x > 0.0) compare(&w, x, 0.0, core_log(x), logl((long double)x));
    }
    for (double x = 5e-324; x < 1e-300; x *= 3.0) compare(&w, x, 0.0, core_log(x), logl((long double)x)); // subnormal
    assert_worst("log", &w, ULP_LOG);
}

static void test_log_special(void **state) {
    (void)state;
    assert_true(core_log(1.0) == 0.0);
    assert_true(core_log(0.0) == -INFINITY && core_log(-0.0) == -INFINITY);
    assert_true(isnan(core_log(-1.0)) && isnan(core_log(NAN)) && isnan(core_log(INFINITY)));
    assert_true(core_log(DBL_MAX) == log(DBL_MAX));
}

static void test_wrap_angle(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 16, 0);
    for (int i = 0; i < 200000; i++) {
        double a = random_spread(&r, 1e-3, i % 2 ? 10.0 : 1e6), b = core_wrap_angle(a);
        assert_true(b >= -CORE_PI && b < CORE_PI);
        assert_true(core_wrap_angle(b) == b);
        long double turns = ((long double)a - b) / (2.0L * 3.14159265358979323846264338327950288L);
        assert_true(fabsl(turns - roundl(turns)) < 1e-14L);
        if (a >= -CORE_PI && a < CORE_PI) assert_true(a == b);
    }
    assert_true(core_wrap_angle(CORE_PI) == -CORE_PI && core_wrap_angle(-CORE_PI) == -CORE_PI);
    assert_true(core_wrap_angle(nextafter(CORE_PI, 0.0)) == nextafter(CORE_PI, 0.0));
    double below = core_wrap_angle(nextafter(-CORE_PI, -4.0));
    assert_true(below >= -CORE_PI && below < CORE_PI);
    assert_true(isnan(core_wrap_angle(NAN)) && isnan(core_wrap_angle(INFINITY)));
    double far = core_wrap_angle(1e300);
    assert_true(far >= -CORE_PI && far < CORE_PI);
}

/// Hash of many results: the same number on every machine and with every compiler, or runs differ between machines.
static void test_bits_do_not_depend_on_the_machine(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 17, 0);
    uint64_t hash = 0;
    for (int i = 0; i < 100000; i++) {
        // no libm in the arguments either
        double v[5], u = core_random_uniform(&r), x = 1e5 * (2.0 * core_random_uniform(&r) - 1.0) * u * u * u;
        double y = 10.0 * core_random_uniform(&r) - 5.0;
        core_sincos(x, &v[0], &v[1]);
        v[2] = core_atan2(y, x);
        v[3] = core_log(y * y + 1e-9);
        v[4] = core_random_normal(&r);
        hash = core_hash_bytes(hash, v, sizeof v);
    }
    char text[17];
    core_hash_text(hash, text);
    assert_string_equal(text, "e37ec6a8bc6344f1"); // gcc 12 with -O0 and with -O3 -march=native (FMA), clang 14 -O2
}

static void many_angles_at_once_are_the_same_bits(void **state) {
    (void)state;
    enum { N = 40003 };
    static double x[N], s[N], c[N], s_loop[N], c_loop[N];
    core_random r;
    core_random_init(&r, 5, 0);
    for (int i = 0; i < N; ++i) {
        static const double scales[4] = {1, 10, 1e5, 1e6};
        x[i] = scales[i % 4] * (2 * core_random_uniform(&r) - 1);
    }
    static const double special[] = {0,           -0.0, CORE_PI, -CORE_PI / 2, 1e6, -1e6,
                                     1.0000001e6, -3e9, 1e300,   INFINITY,     NAN, 5e-324};
    const int count = (int)(sizeof special / sizeof *special);
    for (int i = 0; i < count; ++i) x[100 + i] = special[i];
    for (int n = 0; n < 40; ++n) core_sincos_many(x + n, n, s, c); // every remainder of a vector
    core_sincos_many(x, N, s, c);
    core__sincos_baseline(x, N, s_loop, c_loop);
    for (int i = 0; i < N; ++i) {
        double one_s, one_c;
        core_sincos(x[i], &one_s, &one_c);
        if (isnan(one_s)) {
            assert_true(isnan(s[i]) && isnan(c[i]));
            continue;
        }
        if (memcmp(&s[i], &one_s, sizeof one_s) != 0 || memcmp(&c[i], &one_c, sizeof one_c) != 0)
            fail_msg("angle %.17g: found %a, %a, expected %a, %a", x[i], s[i], c[i], one_s, one_c);
        if (fabs(x[i]) <= 1e6 &&
            (memcmp(&s_loop[i], &one_s, sizeof one_s) != 0 || memcmp(&c_loop[i], &one_c, sizeof one_c) != 0))
            fail_msg("angle %.17g, any processor: found %a, %a, expected %a, %a", x[i], s_loop[i], c_loop[i], one_s,
                     one_c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_angles_at_once_are_the_same_bits),
        cmocka_unit_test(test_sincos_accuracy),
        cmocka_unit_test(test_sincos_special),
        cmocka_unit_test(test_sincos_symmetry),
        cmocka_unit_test(test_atan2_accuracy),
        cmocka_unit_test(test_atan2_quadrants_and_zeros),
        cmocka_unit_test(test_atan2_infinities_are_nan),
        cmocka_unit_test(test_log_accuracy),
        cmocka_unit_test(test_log_special),
        cmocka_unit_test(test_wrap_angle),
        cmocka_unit_test(test_bits_do_not_depend_on_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
