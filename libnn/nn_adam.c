/// Adam (Kingma and Ba 2015, algorithm 1), state and arithmetic in float.
#include "nn_private.h"

#include <math.h>
#include <string.h>

/// base^exponent by squaring: pow() of libm may differ between machines.
static double power(double base, int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        if (exponent % 2) result *= base;
    return result;
}

core_status nn_adam_create(int n, double beta1, double beta2, double eps, nn_adam *adam, core_error *err) {
    core_status status = CORE_OK;
    nn_adam made = {.n = n, .beta1 = beta1, .beta2 = beta2, .eps = eps};
    CORE_CHECK(adam, CORE_ARG, "nn_adam_create: null argument");
    CORE_CHECK(n >= 0, CORE_RANGE, "Adam: %d parameters, expected at least 0", n);
    CORE_CHECK(beta1 >= 0 && beta1 < 1, CORE_RANGE, "Adam beta1: %g is not in [0, 1)", beta1);
    CORE_CHECK(beta2 >= 0 && beta2 < 1, CORE_RANGE, "Adam beta2: %g is not in [0, 1)", beta2);
    CORE_CHECK(eps > 0 && isfinite(eps), CORE_RANGE, "Adam eps: %g is not a positive number", eps);
    CORE_NEW_DONE(made.m, (size_t)n);
    CORE_NEW_DONE(made.v, (size_t)n);
    *adam = made;
    made = (nn_adam){0};
done:
    nn_adam_clear(&made);
    return status;
}

void nn_adam_clear(nn_adam *adam) {
    if (!adam) return;
    core_free(adam->m);
    core_free(adam->v);
    *adam = (nn_adam){0};
}

void nn_adam_reset(nn_adam *adam) {
    size_t bytes = (size_t)adam->n * sizeof(float);
    memset(adam->m, 0, bytes);
    memset(adam->v, 0, bytes);
    adam->step = 0;
}

/// m^ = m / (1 - beta1^t), v^ = v / (1 - beta2^t), step = rate m^ / (sqrt(v^) + eps).
nn_adam_rates nn__adam_rates(double beta1, double beta2, double eps, int64_t step, double learning_rate) {
    return (nn_adam_rates){.rate = (float)(learning_rate / (1 - power(beta1, step))),
                           .correction = (float)(1 / (1 - power(beta2, step))),
                           .b1 = (float)beta1,
                           .a1 = (float)(1 - beta1),
                           .b2 = (float)beta2,
                           .a2 = (float)(1 - beta2),
                           .eps = (float)eps};
}

void nn__adam_move(int n, const nn_adam_rates *rates, float *restrict m, float *restrict v, float *restrict g) {
    const nn_adam_rates r = *rates;
    for (int i = 0; i < n; i++) {
        m[i] = r.b1 * m[i] + r.a1 * g[i];
        v[i] = r.b2 * v[i] + r.a2 * g[i] * g[i];
        g[i] = r.rate * m[i] / (sqrtf(v[i] * r.correction) + r.eps);
    }
}

void nn_adam_step(nn_adam *adam, double learning_rate, const float *gradient, float *parameters) {
    adam->step++;
    const nn_adam_rates r = nn__adam_rates(adam->beta1, adam->beta2, adam->eps, adam->step, learning_rate);
    float *restrict m = adam->m, *restrict v = adam->v, *restrict p = parameters;
    const float *restrict g = gradient;
    for (int i = 0; i < adam->n; i++) { // as nn__adam_move
        m[i] = r.b1 * m[i] + r.a1 * g[i];
        v[i] = r.b2 * v[i] + r.a2 * g[i] * g[i];
        p[i] -= r.rate * m[i] / (sqrtf(v[i] * r.correction) + r.eps);
    }
}
