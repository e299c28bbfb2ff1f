/// Value, input gradient and loss gradient of one row at a time in double: slow and plain, what the fast versions are
/// tested against.
///
/// Derivation. z_l = W_l h_{l-1} + b_l, h_l = relu(z_l) = D_l z_l with D_l = diag(z_l > 0), f = w_out . h_L + b_out.
/// The signal delta_l = d f / d z_l: delta_L = D_L w_out, delta_{l-1} = D_{l-1} W_l^T delta_l; grad f = W_1^T delta_1.
/// The loss of a row is w [(f - target)^2 + gamma |e|^2] with e = J^T grad f - slope. Its first part gives d/dW_l = r
/// delta_l h_{l-1}^T, r = 2 w (f - target). Its second part changes by v . d(grad f), v = 2 gamma w J e. The masks D
/// are piecewise constant, so v . grad f = w_out^T D_L W_L ... D_1 W_1 v is linear in each W_l: with the tangent h'_0 =
/// v, h'_l = D_l W_l h'_{l-1} it is delta_l^T W_l h'_{l-1}, and its derivative with respect to W_l is delta_l
/// h'_{l-1}^T. Together: d/dW_l = delta_l (r h_{l-1} + h'_{l-1})^T, d/db_l = r delta_l.
#include "nn_private.h"

#include <string.h>

/// Everything of one row; index 0 is the input, 1..layers the hidden layers.
typedef struct row_state {
    double h[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];
    double delta[NN_LAYERS_MAX + 1][NN_WIDTH_MAX]; // [0]: gradient with respect to the inputs
    double tangent[NN_LAYERS_MAX + 1][NN_WIDTH_MAX];
} row_state;

/// Fills s->h behind s->h[0]; returns the output.
static double forward(const nn_model *model, row_state *s) {
    double z = 0;
    for (int l = 0; l <= model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l], *b = model->parameters + model->offset_bias[l];
        for (int o = 0; o < n_out; o++) {
            z = b[o];
            for (int k = 0; k < n_in; k++) z += w[o * n_in + k] * s->h[l][k];
            if (l < model->layers) s->h[l + 1][o] = z > 0 ? z : 0;
        }
    }
    return z;
}

/// Fills s->delta from s->h.
static void backward(const nn_model *model, row_state *s) {
    const float *w_out = model->parameters + model->offset_weight[model->layers];
    for (int k = 0; k < model->width; k++) s->delta[model->layers][k] = s->h[model->layers][k] > 0 ? w_out[k] : 0;
    for (int l = model->layers - 1; l >= 0; l--) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l];
        for (int k = 0; k < n_in; k++) {
            double sum = 0;
            for (int o = 0; o < n_out; o++) sum += w[o * n_in + k] * s->delta[l + 1][o];
            s->delta[l][k] = l == 0 || s->h[l][k] > 0 ? sum : 0;
        }
    }
}

/// Fills s->tangent behind s->tangent[0].
static void push_tangent(const nn_model *model, row_state *s) {
    for (int l = 0; l < model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        const float *w = model->parameters + model->offset_weight[l];
        for (int o = 0; o < n_out; o++) {
            double sum = 0;
            for (int k = 0; k < n_in; k++) sum += w[o * n_in + k] * s->tangent[l][k];
            s->tangent[l + 1][o] = s->h[l + 1][o] > 0 ? sum : 0;
        }
    }
}

/// Adds delta_l (r h + h')^T and r delta_l of one row.
static void add_parameter_gradient(const nn_model *model, const row_state *s, double r, double *gradient) {
    for (int l = 0; l <= model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        double *w = gradient + model->offset_weight[l], *b = gradient + model->offset_bias[l];
        for (int o = 0; o < n_out; o++) {
            double delta = l < model->layers ? s->delta[l + 1][o] : 1;
            for (int k = 0; k < n_in; k++) w[o * n_in + k] += delta * (r * s->h[l][k] + s->tangent[l][k]);
            b[o] += delta * r;
        }
    }
}

void nn_reference_forward(const nn_model *model, int n, const double *x, double *value, double *input_gradient) {
    row_state s;
    for (int i = 0; i < n; i++) {
        memcpy(s.h[0], x + (size_t)i * (size_t)model->inputs, (size_t)model->inputs * sizeof(double));
        value[i] = forward(model, &s);
        if (!input_gradient) continue;
        backward(model, &s);
        memcpy(input_gradient + (size_t)i * (size_t)model->inputs, s.delta[0], (size_t)model->inputs * sizeof(double));
    }
}

/// Loss of the gradient term of row i (without its weight) and s->tangent[0] = 2 gamma w J e.
static double gradient_term(const nn_data *data, int64_t i, double gamma, double weight, row_state *s) {
    const float *jacobian = data->jacobian + i * data->inputs * data->poses, *slope = data->slope + i * data->poses;
    double sum = 0;
    for (int k = 0; k < data->inputs; k++) s->tangent[0][k] = 0;
    for (int p = 0; p < data->poses; p++) {
        double e = -(double)slope[p];
        for (int k = 0; k < data->inputs; k++) e += jacobian[k * data->poses + p] * s->delta[0][k];
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
        double term = miss * miss;
        if (data->poses > 0 && gradient_weight > 0) {
            term += gradient_term(data, i, gradient_weight, weight, &s);
            push_tangent(model, &s);
        }
        sum += weight * term;
        add_parameter_gradient(model, &s, 2 * weight * miss, parameter_gradient);
    }
    *loss = sum / (double)n;
    for (int j = 0; j < model->count_parameters; j++) parameter_gradient[j] /= (double)n;
    return CORE_OK;
}
