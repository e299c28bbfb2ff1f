/// Whole numbers at random, for tests and benchmarks.
#ifndef RANDOM_BELOW_H
#define RANDOM_BELOW_H

#include "core.h"

/// Uniform in [0, n), n >= 1; for n far below 2^53.
static inline int random_below(core_random *r, int n) {
    return (int)(core_random_uniform(r) * n);
}

#endif
