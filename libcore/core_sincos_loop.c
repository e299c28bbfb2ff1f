/// Sine and cosine of many angles in one loop that a compiler turns into vectors: compiled for any x86-64 and for AVX2
/// under the names of core_sincos.h. Same operations, same bits.
#include "core_sincos.h"

#ifndef CORE_SINCOS
#define CORE_SINCOS core__sincos_baseline
#endif

void CORE_SINCOS(const double *restrict x, int n, double *restrict s, double *restrict c) {
    for (int i = 0; i < n; ++i) {
        double low, quarters;
        const double high = core__reduce(x[i], &low, &quarters);
        core__turn_by_quarters(quarters, core__sine_kernel(high, low), core__cosine_kernel(high, low), &s[i], &c[i]);
    }
}
