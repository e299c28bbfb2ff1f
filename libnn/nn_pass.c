/// Loss and parameter gradient of a part of a batch with BLAS. Everything is kept feature-major, (features x rows): the
/// element-wise loops run along rows, and OpenBLAS is fastest in that layout (measured, README).
///
/// nn_reference.c derives d/dW_l = delta_l (r h_{l-1} + h'_{l-1})^T with the activations h and the tangent h'. Both
/// pass through the same weights and masks, so their combination c_l = r h_l + h'_l has a recursion of its own,
///     c_0 = r x + v,  c_l = D_l (W_l c_{l-1} + r b_l):
/// the gradient term costs one product per layer more than backpropagation without it, and h' is never formed.
#include "nn_private.h"

#include <string.h>

#ifndef NN_PASS
#define NN_PASS nn__pass_baseline
#endif

enum { GATHER_ROWS = 16 };

/// Row of the records that is row i of the shard; behind the end the last one.
static const float *record_at(const float *records, int record_floats, const int64_t *rows, int n, int i) {
    if (i >= n) i = n - 1;
    return records + (rows ? rows[i] : i) * record_floats;
}

static void prefetch_record(const float *record, int record_floats) {
    for (int k = 0; k < record_floats; k += 16) nn__prefetch(record + k);
}

/// Transposes records of the rows to feature-major, sixteen at a time (a last block that is not full repeats the last
/// row). The records lie anywhere in memory: those of the block after the next are on their way while one is
/// transposed.
static void gather(nn_shard *s, const float *records, const int64_t *rows, int n) {
    int record_floats = s->record_floats, used = s->inputs + 2 + s->poses + s->inputs * s->poses;
    for (int i = 0; i < 2 * GATHER_ROWS; i++)
        prefetch_record(record_at(records, record_floats, rows, n, i), record_floats);
    for (int i = 0; i < n; i += GATHER_ROWS) {
        const float *from[GATHER_ROWS];
        for (int j = 0; j < GATHER_ROWS; j++) {
            from[j] = record_at(records, record_floats, rows, n, i + j);
            prefetch_record(record_at(records, record_floats, rows, n, i + j + 2 * GATHER_ROWS), record_floats);
        }
        for (int k = 0; k < used; k++)
            for (int j = 0; j < GATHER_ROWS; j++) s->h[0][k * s->ld + i + j] = from[j][k];
    }
}

// ---------------------------------------------------------------------------------------------- loops along rows

static void fill(int n, float value, float *restrict out) {
    for (int i = 0; i < n; i++) out[i] = value;
}

static void clamp(int n, float *restrict h) {
    for (int i = 0; i < n; i++) h[i] = h[i] > 0 ? h[i] : 0;
}

/// v where the gate is positive, else 0.
static void keep_where_positive(int n, const float *restrict gate, float *restrict v) {
    for (int i = 0; i < n; i++) v[i] = gate[i] > 0 ? v[i] : 0;
}

static void constant_where_positive(int n, const float *restrict gate, float value, float *restrict out) {
    for (int i = 0; i < n; i++) out[i] = gate[i] > 0 ? value : 0;
}

static void add_product(int n, const float *restrict a, const float *restrict b, float *restrict sum) {
    for (int i = 0; i < n; i++) sum[i] += a[i] * b[i];
}

static void scale(int n, const float *restrict factor, float *restrict v) {
    for (int i = 0; i < n; i++) v[i] *= factor[i];
}

static void fill_scaled(int n, float value, const float *restrict factor, float *restrict out) {
    for (int i = 0; i < n; i++) out[i] = value * factor[i];
}

static double sum_up(int n, const float *v) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i];
    return sum;
}

// ---------------------------------------------------------------------------------------------- passes

/// h[1..layers] and the output.
static void forward(nn_shard *s, const nn_model *model, int n) {
    int ld = s->ld;
    for (int l = 0; l < s->layers; l++) {
        int n_in = l > 0 ? s->width : s->inputs;
        const float *bias = model->parameters + model->offset_bias[l];
        float *h = s->h[l + 1];
        for (int o = 0; o < s->width; o++) fill(n, bias[o], h + o * ld);
        nn__blas_multiply(s->width, n, n_in, model->parameters + model->offset_weight[l], n_in, s->h[l], ld, h, ld);
        for (int o = 0; o < s->width; o++) clamp(n, h + o * ld);
    }
    fill(n, model->parameters[model->offset_bias[s->layers]], s->output);
    nn__blas_vector_transposed(s->width, n, s->h[s->layers], ld, model->parameters + model->offset_weight[s->layers],
                               s->output);
}

/// Residuals from the outputs; returns the sum of w (f - target)^2.
static double compare(nn_shard *s, int n) {
    const float *restrict f = s->output, *restrict target = s->target, *restrict weight = s->weight;
    float *restrict residual = s->residual, *restrict term = s->term;
    for (int i = 0; i < n; i++) {
        float miss = f[i] - target[i];
        residual[i] = 2 * weight[i] * miss;
        term[i] = weight[i] * miss * miss;
    }
    return sum_up(n, term);
}

/// delta[layers..1], and [0] if the gradient with respect to the inputs is wanted.
static void backward(nn_shard *s, const nn_model *model, int n, bool to_inputs) {
    int ld = s->ld, last = s->layers;
    const float *w_out = model->parameters + model->offset_weight[last];
    for (int o = 0; o < s->width; o++)
        constant_where_positive(n, s->h[last] + o * ld, w_out[o], s->delta[last] + o * ld);
    for (int l = last - 1; l >= (to_inputs ? 0 : 1); l--) {
        int n_in = l > 0 ? s->width : s->inputs;
        memset(s->delta[l], 0, (size_t)(n_in * ld) * sizeof(float));
        nn__blas_multiply_transposed_left(n_in, n, s->width, model->parameters + model->offset_weight[l], n_in,
                                          s->delta[l + 1], ld, s->delta[l], ld);
        for (int o = 0; o < n_in && l > 0; o++) keep_where_positive(n, s->h[l] + o * ld, s->delta[l] + o * ld);
    }
}

/// c_0 = r x + v with e = J^T grad f - slope, v = 2 gamma w J e. Returns the sum of w gamma |e|^2.
static double compare_slopes(nn_shard *s, int n, float gamma) {
    int ld = s->ld, poses = s->poses;
    float *restrict error = s->error, *restrict term = s->term;
    const float *restrict weight = s->weight;
    double sum = 0;
    for (int k = 0; k < s->inputs; k++) {
        memset(s->combined[0] + k * ld, 0, (size_t)n * sizeof(float));
        add_product(n, s->residual, s->h[0] + k * ld, s->combined[0] + k * ld);
    }
    for (int p = 0; p < poses; p++) {
        const float *restrict slope = s->slope + p * ld;
        for (int i = 0; i < n; i++) error[i] = -slope[i];
        for (int k = 0; k < s->inputs; k++)
            add_product(n, s->jacobian + (k * poses + p) * ld, s->delta[0] + k * ld, error);
        for (int i = 0; i < n; i++) {
            float weighted = gamma * weight[i] * error[i];
            term[i] = weighted * error[i];
            error[i] = 2 * weighted;
        }
        sum += sum_up(n, term);
        for (int k = 0; k < s->inputs; k++)
            add_product(n, s->jacobian + (k * poses + p) * ld, error, s->combined[0] + k * ld);
    }
    return sum;
}

/// c_l, what the weights of layer l + 1 see, from c_{l-1}; returns its block. Without slopes it is r h_l.
static float *combine(nn_shard *s, const nn_model *model, int l, int n, bool slopes) {
    int ld = s->ld, n_in = l > 1 ? s->width : s->inputs;
    if (!slopes) {
        for (int o = 0; o < s->width; o++) scale(n, s->residual, s->h[l] + o * ld);
        return s->h[l];
    }
    const float *bias = model->parameters + model->offset_bias[l - 1];
    float *from = s->combined[(l - 1) % 2], *c = s->combined[l % 2];
    for (int o = 0; o < s->width; o++) fill_scaled(n, bias[o], s->residual, c + o * ld);
    nn__blas_multiply(s->width, n, n_in, model->parameters + model->offset_weight[l - 1], n_in, from, ld, c, ld);
    for (int o = 0; o < s->width; o++) keep_where_positive(n, s->h[l] + o * ld, c + o * ld);
    return c;
}

/// Adds delta_l c_{l-1}^T and r delta_l. combined[0] holds c_0 with slopes.
static void add_parameter_gradient(nn_shard *s, const nn_model *model, int n, bool slopes, float *gradient) {
    int ld = s->ld;
    float *c = s->combined[0];
    if (!slopes) {
        c = s->h[0];
        for (int k = 0; k < s->inputs; k++) scale(n, s->residual, c + k * ld);
    }
    for (int l = 1; l <= s->layers; l++) {
        int n_in = l > 1 ? s->width : s->inputs;
        nn__blas_multiply_transposed_right(s->width, n_in, n, s->delta[l], ld, c, ld,
                                           gradient + model->offset_weight[l - 1], n_in);
        nn__blas_vector(s->width, n, s->delta[l], ld, s->residual, gradient + model->offset_bias[l - 1]);
        c = combine(s, model, l, n, slopes);
    }
    nn__blas_vector(s->width, n, c, ld, s->ones, gradient + model->offset_weight[s->layers]);
    nn__blas_vector(1, n, s->residual, ld, s->ones, gradient + model->offset_bias[s->layers]);
}

double NN_PASS(nn_shard *shard, const nn_model *model, const float *records, const int64_t *rows, int n,
               double gradient_weight, float *gradient) {
    bool slopes = gradient_weight > 0 && shard->poses > 0;
    gather(shard, records, rows, n);
    forward(shard, model, n);
    double sum = compare(shard, n);
    backward(shard, model, n, slopes);
    if (slopes) sum += compare_slopes(shard, n, (float)gradient_weight);
    add_parameter_gradient(shard, model, n, slopes, gradient);
    return sum;
}
