/// Random networks and training rows, for the tests of libnn. Include after cmocka.
#ifndef NN_FIXTURE_H
#define NN_FIXTURE_H

#include "nn.h"

#include <math.h>
#include <string.h>

/// Rows that own their arrays.
typedef struct nn_rows {
    nn_data data;
    float *x, *target, *weight, *jacobian, *slope;
} nn_rows;

static inline float *nn_fixture_array(size_t n, core_random *random) {
    float *values = core_alloc(n, sizeof(float));
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) values[i] = (float)core_random_normal(random);
    return values;
}

/// Standard normal everywhere, weights in (0.1, 1.1).
static inline nn_rows nn_fixture_rows(int64_t n, int inputs, int poses, uint64_t seed) {
    core_random random;
    core_random_init(&random, seed, 7);
    size_t count = (size_t)n, columns = (size_t)inputs;
    nn_rows rows = {.x = nn_fixture_array(count * columns, &random),
                    .target = nn_fixture_array(count, &random),
                    .weight = nn_fixture_array(count, &random)};
    for (size_t i = 0; i < count; i++) rows.weight[i] = 0.1f + (float)core_random_uniform(&random);
    if (poses > 0) {
        rows.jacobian = nn_fixture_array(count * columns * (size_t)poses, &random);
        rows.slope = nn_fixture_array(count * (size_t)poses, &random);
    }
    rows.data = (nn_data){.n = n,
                          .inputs = inputs,
                          .poses = poses,
                          .x = rows.x,
                          .target = rows.target,
                          .weight = rows.weight,
                          .jacobian = rows.jacobian,
                          .slope = rows.slope};
    return rows;
}

static inline void nn_fixture_rows_clear(nn_rows *rows) {
    core_free(rows->x);
    core_free(rows->target);
    core_free(rows->weight);
    core_free(rows->jacobian);
    core_free(rows->slope);
}

static inline nn_model nn_fixture_model_def(const nn_model_def *def, uint64_t seed) {
    core_random random;
    core_random_init(&random, seed, 3);
    nn_model model;
    assert_int_equal(nn_model_create(def, &model, NULL), CORE_OK);
    nn_model_randomise(&model, &random);
    return model;
}

static inline nn_model nn_fixture_model(int inputs, int width, int layers, uint64_t seed) {
    const nn_model_def def = nn_model_default_def(inputs, width, layers);
    return nn_fixture_model_def(&def, seed);
}

/// Rows of |x0| + .5 max(x1, 0) with its slopes: poses are the inputs turned by 30 degrees.
static inline nn_rows toy_rows(int64_t n, uint64_t seed) {
    nn_rows rows = nn_fixture_rows(n, 2, 2, seed);
    const float c = 0.8660254f, s = 0.5f;
    for (int64_t i = 0; i < n; i++) {
        float x0 = rows.x[2 * i], x1 = rows.x[2 * i + 1];
        float g0 = x0 > 0 ? 1 : -1, g1 = x1 > 0 ? 0.5f : 0;
        rows.target[i] = fabsf(x0) + 0.5f * fmaxf(x1, 0);
        memcpy(rows.jacobian + 4 * i, (float[]){c, -s, s, c}, 4 * sizeof(float));
        rows.slope[2 * i] = c * g0 + s * g1;
        rows.slope[2 * i + 1] = -s * g0 + c * g1;
        rows.weight[i] = 1;
    }
    return rows;
}

static inline nn_train_def toy_def(void) {
    nn_train_def def = nn_train_default_def();
    def.layers = 2;
    def.width = 16;
    def.batch = 300; // two full shards and a part of one
    def.epochs = 30;
    return def;
}

/// A training on 1000 toy rows (seed 3) that kills a layer of units in its first tenth or so.
static inline nn_train_def nn_fixture_trouble(nn_optimiser optimiser) {
    nn_train_def def = toy_def();
    def.width = 8;
    def.epochs = 100; // 333 steps
    def.gradient_weight = 0;
    def.optimiser = optimiser;
    def.layers = optimiser == NN_SOAP ? 3 : 6;
    def.activation = optimiser == NN_SOAP ? NN_QRELU : NN_RELU;
    def.learning_rate = optimiser == NN_SOAP ? 0.63896 : 0.443722;
    return def;
}

#endif
