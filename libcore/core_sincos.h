/// Sine and cosine for |x| <= SINCOS_REACH without a branch: shared by core_math.c, which explains it, and the loops
/// over many angles. Nobody else includes it.
#ifndef CORE_SINCOS_H
#define CORE_SINCOS_H

// pi/2 in pieces of 33 bits: integer x piece is exact for |integer| < 2^20
#define HALF_PI_1 0x1.921fb54400000p+0
#define HALF_PI_2 0x1.0b4611a600000p-34
#define HALF_PI_3 0x1.3198a2e000000p-69
#define HALF_PI_4 0x1.b839a252049c1p-104
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define SINCOS_REACH 1e6 // |x| up to here is reduced by the pieces above
#define ROUNDER 0x1.8p52 // adding and subtracting it rounds a double below 2^51 to the nearest integer

/// sin(x) = x + x^3 S(x^2), |x| <= pi/4, error of S 2.1e-17.
static const double sine_terms[6] = {-0x1.5555555555555p-3, 0x1.1111111110bb2p-7,   -0x1.a01a019e83816p-13,
                                     0x1.71de379654304p-19, -0x1.ae600aca92c64p-26, 0x1.5e0b05bff20f2p-33};
/// cos(x) = 1 - x^2/2 + x^4 C(x^2), |x| <= pi/4, error of C 1.3e-18.
static const double cosine_terms[6] = {0x1.5555555555555p-5,   -0x1.6c16c16c16967p-10, 0x1.a01a019f4e9b4p-16,
                                       -0x1.27e4fa17bf139p-22, 0x1.1eeb68cd22f56p-29,  -0x1.907d8f29fe831p-37};

/// x = quarters pi/2 + (high + low), |high| <= pi/4 and a little; quarters is a whole number below 2^20.
static inline double core__reduce(double x, double *low, double *quarters) {
    double turns = (x * TWO_OVER_PI + ROUNDER) - ROUNDER;
    // first piece: exact, both sides are multiples of the same power of two and nearly equal
    double r = x - turns * HALF_PI_1;
    // second and third piece: the error of each subtraction is caught (two-sum)
    double t = turns * HALF_PI_2;
    double a = r - t;
    double v = a - r;
    double e = (r - (a - v)) - (t + v);
    t = turns * HALF_PI_3;
    double b = a - t;
    v = b - a;
    e += ((a - (b - v)) - (t + v)) - turns * HALF_PI_4;
    double high = b + e;
    *low = (b - high) + e;
    *quarters = turns;
    return high;
}

/// sin(x + low) for |x| <= pi/4: low enters with the slope cos(x) = 1 - x^2/2.
static inline double core__sine_kernel(double x, double low) {
    double z = x * x;
    const double *t = sine_terms;
    double p = t[0] + z * (t[1] + z * (t[2] + z * (t[3] + z * (t[4] + z * t[5]))));
    return x + (x * z * p + low * (1.0 - 0.5 * z));
}

/// cos(x + low) for |x| <= pi/4: what 1 - x^2/2 loses in rounding is added back.
static inline double core__cosine_kernel(double x, double low) {
    double z = x * x;
    const double *t = cosine_terms;
    double p = t[0] + z * (t[1] + z * (t[2] + z * (t[3] + z * (t[4] + z * t[5]))));
    double half = 0.5 * z;
    double w = 1.0 - half;
    return w + (((1.0 - w) - half) + (z * z * p - x * low));
}

/// sin and cos of x = quarters pi/2 + ..., from those of the remainder.
static inline void core__turn_by_quarters(double quarters, double sine, double cosine, double *s, double *c) {
    // quarters mod 4 in floating point, so that a loop over many angles keeps to one kind of register
    const double halves = (0.5 * quarters - 0.25 + ROUNDER) - ROUNDER; // floor(quarters/2)
    const double odd = quarters - 2 * halves;
    const double whole = (0.5 * halves - 0.25 + ROUNDER) - ROUNDER;
    const double opposite = halves - 2 * whole; // 1: the half turn is odd
    const double first = odd > 0 ? cosine : sine, second = odd > 0 ? sine : cosine;
    *s = opposite > 0 ? -first : first;
    // cos changes sign in quarters 1 and 2
    *c = (odd > 0) != (opposite > 0) ? -second : second;
}

/// The loop of core_sincos_many for |x| <= SINCOS_REACH, compiled for any x86-64 and for AVX2: the same bits.
void core__sincos_baseline(const double *x, int n, double *s, double *c);
void core__sincos_avx2(const double *x, int n, double *s, double *c);

#endif
