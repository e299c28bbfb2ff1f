/// sin, cos, atan2 and log in one fixed order of operations: only + - * / (and exact floor, fmod), no table look-up
/// that depends on the CPU. The polynomials interpolate the remainder of each series at the Chebyshev points of the
/// reduced interval, computed in 90 decimal digits and rounded to double. Reduction: Cody and Waite, "Software manual
/// for the elementary functions" (1980). Compiled without contraction, so that a*b + c is two roundings everywhere.
#include "core.h"
#include "core_sincos.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- constants

#define PI_HIGH 0x1.921fb54442d18p+1
#define PI_LOW 0x1.1a62633145c07p-53
#define LN2_HIGH 0x1.62e42fefa3800p-1 // 42 bits: integer exponent x LN2_HIGH is exact
#define LN2_LOW 0x1.ef35793c76730p-45

/// atan(u) = u + u^3 A(u^2), |u| <= 0.1, error of A 7.5e-20.
static const double arctangent_terms[7] = {-0x1.5555555555555p-2, 0x1.9999999999980p-3,  -0x1.249249248831bp-3,
                                           0x1.c71c71983b159p-4,  -0x1.745ce36213d80p-4, 0x1.3af62b7a688afp-4,
                                           -0x1.08b5e23b86c80p-4};
/// log((1 + s)/(1 - s)) = 2 s + s s^2 L(s^2), |s| <= 0.1716, error of L 3.2e-16.
static const double logarithm_terms[7] = {0x1.5555555555558p-1, 0x1.99999999952b2p-2, 0x1.2492492df6947p-2,
                                          0x1.c71c62debf86bp-3, 0x1.7462b69705382p-3, 0x1.39fe208c33457p-3,
                                          0x1.2b5b5fb2eac92p-3};
/// atan(i/8) as the sum of two doubles.
static const double arctangent_high[9] = {0.0,
                                          0x1.fd5ba9aac2f6ep-4,
                                          0x1.f5b75f92c80ddp-3,
                                          0x1.6f61941e4def1p-2,
                                          0x1.dac670561bb4fp-2,
                                          0x1.1e00babdefeb4p-1,
                                          0x1.4978fa3269ee1p-1,
                                          0x1.700a7c5784634p-1,
                                          0x1.921fb54442d18p-1};
static const double arctangent_low[9] = {0.0,
                                         -0x1.cd37686760c17p-59,
                                         0x1.8ab6e3cf7afbdp-57,
                                         -0x1.c63aae6f6e918p-56,
                                         0x1.a2b7f222f65e2p-56,
                                         -0x1.928df287a668fp-58,
                                         0x1.2419a87f2a458p-56,
                                         -0x1.8c34d25aadef6p-56,
                                         0x1.1a62633145c07p-55};

// ---------------------------------------------------------------------------------------------- sin and cos

void core_sincos(double x, double *s, double *c) {
    if (!(fabs(x) <= SINCOS_REACH)) {
        if (!(fabs(x) <= DBL_MAX)) {
            *s = *c = NAN;
            return;
        }
        x = fmod(x, 2.0 * PI_HIGH);
    }
    double low, quarters;
    const double high = core__reduce(x, &low, &quarters);
    core__turn_by_quarters(quarters, core__sine_kernel(high, low), core__cosine_kernel(high, low), s, c);
}

void core_sincos_many(const double *x, int n, double *s, double *c) {
    if (__builtin_cpu_supports("avx2")) {
        core__sincos_avx2(x, n, s, c);
    } else {
        core__sincos_baseline(x, n, s, c);
    }
    for (int i = 0; i < n; ++i) {
        if (!(fabs(x[i]) <= SINCOS_REACH)) core_sincos(x[i], &s[i], &c[i]);
    }
}

// ---------------------------------------------------------------------------------------------- atan2

double core_atan2(double y, double x) {
    double ax = fabs(x), ay = fabs(y);
    bool steep = ay > ax;
    double longer = steep ? ay : ax;
    double ratio = (steep ? ax : ay) / longer;
    double angle;
    if (ratio <= 1.0 && longer <= DBL_MAX) {
        // atan(ratio) = atan(i/8) + atan(u), -0.025 <= u <= 0.1: small ratios stay out of the quotient below
        int i = (int)(8.0 * ratio + 0.2);
        double node = 0.125 * i;
        double u = (ratio - node) / (1.0 + node * ratio);
        double z = u * u;
        const double *t = arctangent_terms;
        double p = u + u * z * (t[0] + z * (t[1] + z * (t[2] + z * (t[3] + z * (t[4] + z * (t[5] + z * t[6]))))));
        // the octant: angle = base +- atan(ratio); the sum's rounding error joins the low parts
        bool back = signbit(x) != 0;
        double base = steep ? 0.5 : back ? 1.0 : 0.0;
        double sign = steep != back ? -1.0 : 1.0;
        double node_high = sign * arctangent_high[i];
        double high = base * PI_HIGH + node_high;
        double low = (base * PI_HIGH - high) + node_high;
        angle = high + (low + (base * PI_LOW + sign * (arctangent_low[i] + p)));
    } else if (ax <= 0.0 && ay <= 0.0) {
        angle = signbit(x) ? PI_HIGH : 0.0;
    } else {
        return NAN; // a NaN or an infinity
    }
    return copysign(angle, y);
}

// ---------------------------------------------------------------------------------------------- log

double core_log(double x) {
    if (!(x > 0.0 && x <= DBL_MAX)) return x <= 0.0 && x >= 0.0 ? -HUGE_VAL : NAN;
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)), from the bits of the number; subnormals are scaled first
    int64_t k = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    k += (int64_t)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m >= 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        k++;
    }
    // log(1 + f) = f - f^2/2 + s (f^2/2 + z L(z)) with s = f/(2 + f), z = s^2: the large terms are exact or small
    double f = m - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    const double *t = logarithm_terms;
    double p = z * (t[0] + z * (t[1] + z * (t[2] + z * (t[3] + z * (t[4] + z * (t[5] + z * t[6]))))));
    double half = 0.5 * f * f;
    double exponent = (double)k;
    return exponent * LN2_HIGH - ((half - (s * (half + p) + exponent * LN2_LOW)) - f);
}

// ---------------------------------------------------------------------------------------------- angles

double core_wrap_angle(double a) {
    if (a >= -CORE_PI && a < CORE_PI) return a;
    if (!(fabs(a) <= DBL_MAX)) return NAN;
    if (fabs(a) > SINCOS_REACH) a = fmod(a, 2.0 * PI_HIGH);
    // turns x piece is exact here too: a piece times 4 has the same 33 bits
    double turns = floor((a + PI_HIGH) / (2.0 * PI_HIGH));
    double r = ((a - turns * (4.0 * HALF_PI_1)) - turns * (4.0 * HALF_PI_2)) - turns * (4.0 * HALF_PI_3);
    // the quotient's rounding may miss the turn by a little more than the last place of r, which ends at -pi
    if (r < -CORE_PI - 0x1p-50) r += 2.0 * PI_HIGH;
    return r < -CORE_PI || r >= CORE_PI ? -CORE_PI : r;
}
