/// Value, input gradient and loss gradient of one row at a time in double: slow and plain, what the fast versions are
/// tested against.
///
/// Derivation. z_l = W_l h_{l-1} + b_l, h_l = a(z_l), output f = w . h_L + b of the active head. With c_l = a'(z_l),
/// s_l = a''(z_l) (of the parabola in QReLU's corner; the kinks of a ReLU and between heads are left out), products by
/// element written as such:
///     p_L = w, delta_l = c_l p_l, p_{l-1} = W_l^T delta_l (delta_l = d f / d z_l), grad f = p_0.
/// The loss of a row is w [(f - target)^2 + gamma |e|^2] with e = J^T grad f - slope. Its first part changes by r df,
/// r = 2 w (f - target), f - target clipped; its second part by d(v . grad f) with v = 2 gamma w J e held fixed. f' = v
/// . grad f is the tangent of the forward pass, h'_0 = v, z'_l = W_l h'_{l-1}, h'_l = c_l z'_l, f' = w . h'_L; d f'/d
/// z'_l = delta_l, and z_l acts on f' through what follows it and through c_l. Together, A_l = d (r f + f') / d z_l is
///     A_L = c_L r w + s_L z'_L p_L,   A_{l-1} = c_{l-1} (W_l^T A_l) + s_{l-1} z'_{l-1} p_{l-1},
///     d/dW_l = A_l h_{l-1}^T + delta_l h'_{l-1}^T,   d/db_l = A_l,   d/dw = r h_L + h'_L.
#include "nn_private.h"

#include <string.h>

/// Everything of one row; index 0 is the input, 1..layers the hidden layers.
typedef struct row_state {
    double h[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];
    double slope[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];     // c
    double curvature[NN_LAYERS_MAX + 1][NN_WIDTH_MAX]; // s
    double back[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];      // p, [0]: gradient with respect to the inputs
    double delta[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];
    double tangent_z[NN_LAYERS_MAX + 1][NN_WIDTH_MAX]; // z'
    double tangent[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];   // h'
    double adjoint[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];   // A
    int active;                                        // head
} row_state;

/// Value, slope and curvature of a unit.
static void activate(const nn_model *model, double z, double *h, double *slope, double *curvature) {
    if (model->activation == NN_RELU) {
        *h = z > 0 ? z : 0;
        *slope = z > 0;
        *curvature = 0;
        return;
    }
    double e = model->corner, c = z / (2 * e) + 0.5;
    c = c > 0 ? c : 0;
    c = c < 1 ? c : 1;
    *h = c * (z + e - e * c);
    *slope = c;
    *curvature = c > 0 && c < 1 ? 1 / (2 * e) : 0;
}

/// W_l in, or its transpose: out (n_out) = W in, out (n_in) = W^T in.
static void multiply(const nn_model *model, int l, const double *in, double *out, bool transposed) {
    int n_out, n_in;
    nn_model_layer_size(model, l, &n_out, &n_in);
    const float *w = model->parameters + model->offset_weight[l];
    for (int i = 0; i < (transposed ? n_in : n_out); i++) {
        out[i] = 0;
        for (int j = 0; j < (transposed ? n_out : n_in); j++)
            out[i] += in[j] * (transposed ? w[j * n_in + i] : w[i * n_in + j]);
    }
}

/// Weights of the active head.
static const float *active_weights(const nn_model *model, const row_state *s) {
    return model->parameters + model->offset_weight[model->layers] + s->active * model->width;
}

/// Fills h behind h[0], slope, curvature and active; returns the value.
static double forward(const nn_model *model, row_state *s) {
    double z[NN_WIDTH_MAX];
    for (int l = 0; l < model->layers; l++) {
        multiply(model, l, s->h[l], z, false);
        for (int o = 0; o < model->width; o++)
            activate(model, z[o] + model->parameters[model->offset_bias[l] + o], &s->h[l + 1][o], &s->slope[l + 1][o],
                     &s->curvature[l + 1][o]);
    }
    multiply(model, model->layers, s->h[model->layers], z, false);
    for (int o = 0; o < model->heads; o++) {
        z[o] += model->parameters[model->offset_bias[model->layers] + o];
        if (o == 0 || z[o] < z[s->active]) s->active = o;
    }
    return z[s->active];
}

/// Fills back and delta.
static void backward(const nn_model *model, row_state *s) {
    for (int k = 0; k < model->width; k++) s->back[model->layers][k] = active_weights(model, s)[k];
    for (int l = model->layers; l > 0; l--) {
        for (int k = 0; k < model->width; k++) s->delta[l][k] = s->slope[l][k] * s->back[l][k];
        multiply(model, l - 1, s->delta[l], s->back[l - 1], true);
    }
}

/// Fills tangents behind tangent[0], then adjoint.
static void push_tangent(const nn_model *model, double r, row_state *s) {
    for (int l = 1; l <= model->layers; l++) {
        multiply(model, l - 1, s->tangent[l - 1], s->tangent_z[l], false);
        for (int k = 0; k < model->width; k++) s->tangent[l][k] = s->slope[l][k] * s->tangent_z[l][k];
    }
    for (int k = 0; k < model->width; k++) s->adjoint[model->layers][k] = r * active_weights(model, s)[k];
    for (int l = model->layers; l > 0; l--) {
        for (int k = 0; k < model->width; k++)
            s->adjoint[l][k] =
                s->slope[l][k] * s->adjoint[l][k] + s->curvature[l][k] * s->tangent_z[l][k] * s->back[l][k];
        if (l > 1) multiply(model, l - 1, s->adjoint[l], s->adjoint[l - 1], true);
    }
}

/// Adds A h^T + delta h'^T and A of one row.
static void add_parameter_gradient(const nn_model *model, const row_state *s, double r, double *gradient) {
    for (int l = 0; l < model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        double *w = gradient + model->offset_weight[l], *b = gradient + model->offset_bias[l];
        for (int o = 0; o < n_out; o++) {
            for (int k = 0; k < n_in; k++)
                w[o * n_in + k] += s->adjoint[l + 1][o] * s->h[l][k] + s->delta[l + 1][o] * s->tangent[l][k];
            b[o] += s->adjoint[l + 1][o];
        }
    }
    double *w = gradient + model->offset_weight[model->layers] + s->active * model->width;
    for (int k = 0; k < model->width; k++) w[k] += r * s->h[model->layers][k] + s->tangent[model->layers][k];
    gradient[model->offset_bias[model->layers] + s->active] += r;
}

void nn_reference_forward(const nn_model *model, int n, const double *x, double *value, double *input_gradient) {
    row_state s;
    for (int i = 0; i < n; i++) {
        memcpy(s.h[0], x + (size_t)i * (size_t)model->inputs, (size_t)model->inputs * sizeof(double));
        value[i] = forward(model, &s);
        if (!input_gradient) continue;
        backward(model, &s);
        memcpy(input_gradient + (size_t)i * (size_t)model->inputs, s.back[0], (size_t)model->inputs * sizeof(double));
    }
}

/// Loss of the gradient term of row i (without its weight) and s->tangent[0] = 2 gamma w J e.
static double gradient_term(const nn_data *data, int64_t i, double gamma, double weight, row_state *s) {
    const float *jacobian = data->jacobian + i * data->inputs * data->poses, *slope = data->slope + i * data->poses;
    double sum = 0;
    for (int k = 0; k < data->inputs; k++) s->tangent[0][k] = 0;
    for (int p = 0; p < data->poses; p++) {
        double e = -(double)slope[p];
        for (int k = 0; k < data->inputs; k++) e += jacobian[k * data->poses + p] * s->back[0][k];
        sum += gamma * e * e;
        for (int k = 0; k < data->inputs; k++)
            s->tangent[0][k] += 2 * gamma * weight * jacobian[k * data->poses + p] * e;
    }
    return sum;
}

core_status nn_reference_loss(const nn_model *model, const nn_data *data, const int64_t *rows, int64_t n,
                              double gradient_weight, double *loss, double *parameter_gradient, core_error *err) {
    CORE_CHECK(model && loss && parameter_gradient, CORE_ARG, "nn_reference_loss: null argument");
    CORE_TRY(nn__data_validate(data, err));
    CORE_CHECK(data->inputs == model->inputs, CORE_ARG, "training rows have %d inputs, the network %d", data->inputs,
               model->inputs);
    CORE_CHECK(n >= 1, CORE_RANGE, "batch: %lld rows, expected at least 1", (long long)n);

    row_state s = {0};
    double sum = 0;
    for (int j = 0; j < model->count_parameters; j++) parameter_gradient[j] = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t i = rows ? rows[j] : j;
        double weight = data->weight ? data->weight[i] : 1;
        for (int k = 0; k < data->inputs; k++) s.h[0][k] = data->x[i * data->inputs + k];
        double miss = forward(model, &s) - data->target[i];
        backward(model, &s);
        double clip = nn__clip(data), counted = miss > clip ? clip : miss < -clip ? -clip : miss;
        double term = counted * (2 * miss - counted);
        if (data->poses > 0 && gradient_weight > 0) term += gradient_term(data, i, gradient_weight, weight, &s);
        push_tangent(model, 2 * weight * counted, &s);
        sum += weight * term;
        add_parameter_gradient(model, &s, 2 * weight * counted, parameter_gradient);
    }
    *loss = sum / (double)n;
    for (int j = 0; j < model->count_parameters; j++) parameter_gradient[j] /= (double)n;
    return CORE_OK;
}
