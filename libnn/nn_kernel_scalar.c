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

/// Activations of all layers behind the inputs, slopes of QReLU, and two gradients.
static size_t scalar_scratch_bytes(const nn_model *model) {
    size_t widest = (size_t)(model->width > model->inputs ? model->width : model->inputs);
    return (2 * (size_t)model->layers + 3) * widest * sizeof(float);
}

static float positive_or_zero(float gate, float v) {
    return gate > 0 ? v : 0;
}

/// One row: activations h and gates (slopes of QReLU, h again for ReLU) of the layers, two gradients.
typedef struct row {
    float *h[NN_LAYERS_MAX + 1], *gate[NN_LAYERS_MAX + 1], *g, *next;
    int active;
} row;

/// Sum of output o of layer l.
static float sum_inputs(const nn_model *model, int l, int o, const float *in) {
    int n_out, n_in;
    nn_model_layer_size(model, l, &n_out, &n_in);
    const float *w = model->parameters + model->offset_weight[l] + o * n_in;
    float z = model->parameters[model->offset_bias[l] + o];
    for (int k = 0; k < n_in; k++) z = fmaf(w[k], in[k], z);
    return z;
}

/// Fills h and gate behind h[0] and active; returns the value.
static float forward_row(const nn_model *model, row *r) {
    for (int l = 0; l < model->layers; l++) {
        for (int o = 0; o < model->width; o++) {
            float z = sum_inputs(model, l, o, r->h[l]), t = positive_or_zero(z, z);
            if (model->activation == NN_QRELU) {
                float c = t < 1 ? t : 1;
                r->gate[l + 1][o] = c;
                t = c * fmaf(c, -0.5f, t);
            }
            r->h[l + 1][o] = t;
        }
    }
    float value = sum_inputs(model, model->layers, 0, r->h[model->layers]);
    r->active = 0;
    for (int j = 1; j < model->heads; j++) {
        float z = sum_inputs(model, model->layers, j, r->h[model->layers]);
        if (!(z < value)) continue;
        value = z;
        r->active = j;
    }
    return value;
}

static float apply_gate(const nn_model *model, float gate, float v) {
    return model->activation == NN_QRELU ? gate * v : positive_or_zero(gate, v);
}

/// Gradient of the value with respect to the inputs, into r->g.
static void backward_row(const nn_model *model, row *r) {
    const float *w_out = model->parameters + model->offset_weight[model->layers] + r->active * model->width;
    for (int k = 0; k < model->width; k++) r->g[k] = apply_gate(model, r->gate[model->layers][k], w_out[k]);
    for (int l = model->layers - 1; l >= 0; l--) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l];
        for (int k = 0; k < n_in; k++) {
            float sum = 0;
            for (int o = 0; o < n_out; o++) sum = fmaf(w[o * n_in + k], r->g[o], sum);
            r->next[k] = l > 0 ? apply_gate(model, r->gate[l][k], sum) : sum;
        }
        float *swap = r->g;
        r->g = r->next;
        r->next = swap;
    }
}

static void scalar_evaluate(const nn_model *model, const float *packed, int n, int stride, const float *x, float *value,
                            float *gradient, void *scratch) {
    (void)packed;
    int widest = model->width > model->inputs ? model->width : model->inputs;
    float *at = scratch;
    row r = {.g = at, .next = at + widest};
    at += 2 * widest;
    for (int l = 0; l <= model->layers; l++, at += widest) r.h[l] = r.gate[l] = at;
    for (int l = 1; l <= model->layers && model->activation == NN_QRELU; l++, at += widest) r.gate[l] = at;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < model->inputs; k++) r.h[0][k] = x[(size_t)k * (size_t)stride + (size_t)i];
        value[i] = forward_row(model, &r);
        if (!gradient) continue;
        backward_row(model, &r);
        for (int k = 0; k < model->inputs; k++) gradient[(size_t)k * (size_t)stride + (size_t)i] = r.g[k];
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
