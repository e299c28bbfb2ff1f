/// Inference one row at a time in plain C: the definition of the bits every other kernel must give (order in
/// nn_private.h). fmaf() is exact with and without hardware support, so this file is also the portable version.
#include "nn_private.h"

#include <math.h>

static bool scalar_available(void) {
    return true;
}

static size_t scalar_count_packed(const nn_model *model) {
    (void)model; // works on the model's own arrays
    return 0;
}

static void scalar_pack(const nn_model *model, float *packed) {
    (void)model;
    (void)packed;
}

/// Activations of all layers behind the inputs, and two gradients.
static size_t scalar_scratch_bytes(const nn_model *model) {
    size_t widest = (size_t)(model->width > model->inputs ? model->width : model->inputs);
    return ((size_t)model->layers + 3) * widest * sizeof(float);
}

static float positive_or_zero(float gate, float v) {
    return gate > 0 ? v : 0;
}

/// h[l] of one row for all hidden layers (h[0] is the input); returns the output.
static float forward_row(const nn_model *model, float *const *h) {
    float z = 0;
    for (int l = 0; l <= model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l], *b = model->parameters + model->offset_bias[l];
        for (int o = 0; o < n_out; o++) {
            z = b[o];
            for (int k = 0; k < n_in; k++) z = fmaf(w[o * n_in + k], h[l][k], z);
            if (l < model->layers) h[l + 1][o] = positive_or_zero(z, z);
        }
    }
    return z;
}

/// Gradient of the output with respect to the inputs of one row; g and next are scratch. Returns the one that holds it.
static const float *backward_row(const nn_model *model, float *const *h, float *g, float *next) {
    const float *w_out = model->parameters + model->offset_weight[model->layers];
    for (int k = 0; k < model->width; k++) g[k] = positive_or_zero(h[model->layers][k], w_out[k]);
    for (int l = model->layers - 1; l >= 0; l--) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l];
        for (int k = 0; k < n_in; k++) {
            float sum = 0;
            for (int o = 0; o < n_out; o++) sum = fmaf(w[o * n_in + k], g[o], sum);
            next[k] = l > 0 ? positive_or_zero(h[l][k], sum) : sum;
        }
        float *swap = g;
        g = next;
        next = swap;
    }
    return g;
}

static void scalar_evaluate(const nn_model *model, const float *packed, int n, int stride, const float *x, float *value,
                            float *gradient, void *scratch) {
    (void)packed;
    int widest = model->width > model->inputs ? model->width : model->inputs;
    float *h[NN_LAYERS_MAX + 1];
    for (int l = 0; l <= model->layers; l++) h[l] = (float *)scratch + l * widest;
    float *g = (float *)scratch + (model->layers + 1) * widest;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < model->inputs; k++) h[0][k] = x[(size_t)k * (size_t)stride + (size_t)i];
        value[i] = forward_row(model, h);
        if (!gradient) continue;
        const float *row = backward_row(model, h, g, g + widest);
        for (int k = 0; k < model->inputs; k++) gradient[(size_t)k * (size_t)stride + (size_t)i] = row[k];
    }
}

const nn_kernel_ops nn__kernel_scalar_ops = {
    .name = "scalar",
    .available = scalar_available,
    .count_packed = scalar_count_packed,
    .pack = scalar_pack,
    .scratch_bytes = scalar_scratch_bytes,
    .evaluate = scalar_evaluate,
};
