/// What tells that a training has gone wrong: the size of an exploded loss, units that never react.
#include "nn_private.h"

#include <math.h>
#include <string.h>

/// Sum of unit o of hidden layer l at activations `in`.
static double unit_sum(const nn_model *model, int l, int o, const double *in) {
    int n_in = l > 0 ? model->width : model->inputs;
    const float *w = model->parameters + model->offset_weight[l] + o * n_in;
    double z = model->parameters[model->offset_bias[l] + o];
    for (int k = 0; k < n_in; k++) z += w[k] * in[k];
    return z;
}

/// Marks the units that react to one row of inputs x.
static void mark_alive(const nn_model *model, const float *x, bool alive[NN_LAYERS_MAX][NN_WIDTH_MAX]) {
    double h[2][NN_WIDTH_MAX], e = model->corner; // e: 0 for ReLU
    for (int k = 0; k < model->inputs; k++) h[0][k] = x[k];
    for (int l = 0; l < model->layers; l++) {
        double *in = h[l % 2], *out = h[(l + 1) % 2];
        for (int o = 0; o < model->width; o++) {
            double z = unit_sum(model, l, o, in);
            out[o] = z >= e ? z : z > -e ? (z + e) * (z + e) / (4 * e) : 0;
            if (z > -e) alive[l][o] = true;
        }
    }
}

int nn__count_dead(const nn_model *model, const nn_data *data, int *worst_layer, int *worst_count) {
    bool alive[NN_LAYERS_MAX][NN_WIDTH_MAX];
    memset(alive, 0, sizeof alive);
    int64_t rows = data->n < NN_PROBE_ROWS ? data->n : NN_PROBE_ROWS;
    for (int64_t i = 0; i < rows; i++) mark_alive(model, data->x + i * data->n / rows * data->inputs, alive);
    int count = 0;
    *worst_layer = 0;
    *worst_count = 0;
    for (int l = 0; l < model->layers; l++) {
        int dead = 0;
        for (int o = 0; o < model->width; o++) dead += !alive[l][o];
        count += dead;
        if (dead <= *worst_count) continue;
        *worst_layer = l;
        *worst_count = dead;
    }
    return count;
}

/// Mean loss of a net whose output is `value` everywhere.
static double constant_loss(const nn_data *data, int poses, double gradient_weight, double value) {
    double sum = 0;
    for (int64_t i = 0; i < data->n; i++) {
        double miss = fabs((double)data->target[i] - value), clip = nn__clip(data), counted = miss < clip ? miss : clip;
        double term = counted * (2 * miss - counted);
        for (int p = 0; p < poses; p++) {
            double slope = data->slope[i * data->poses + p];
            term += gradient_weight * slope * slope;
        }
        sum += (data->weight ? (double)data->weight[i] : 1) * term;
    }
    return sum / (double)data->n;
}

double nn__zero_loss(const nn_data *data, int poses, double gradient_weight) {
    return constant_loss(data, poses, gradient_weight, 0);
}

double nn__mean_loss(const nn_data *data, int poses, double gradient_weight) {
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < data->n; i++) {
        double weight = data->weight ? (double)data->weight[i] : 1;
        sum += weight * data->target[i];
        weights += weight;
    }
    return constant_loss(data, poses, gradient_weight, weights > 0 ? sum / weights : 0);
}
