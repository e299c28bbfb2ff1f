/// Loss and parameter gradient of a part of a batch with BLAS. Everything is kept feature-major, (features x rows): the
/// element-wise loops run along rows, and OpenBLAS is fastest in that layout (measured, README). Letters and derivation
/// are those of nn_reference.c; S is 1 for a row's active head, else 0: delta of the outputs.
///
/// Without the gradient term: A of the outputs is r S, A_l = c_l (W_{l+1}^T A_{l+1}), d/dW_l = A_l h_{l-1}^T.
///
/// With it, for QReLU: delta backwards, tangents forwards, A backwards, as in nn_reference.c.
///
/// With it, for ReLU, there is no curvature and A_l = r delta_l: d/dW_l = delta_l (r h_{l-1} + h'_{l-1})^T. Activations
/// and tangents pass through the same weights and masks, so their combination k_l = r h_l + h'_l has a recursion of its
/// own, k_0 = r x + v, k_l = c_l (W_l k_{l-1} + r b_l): one product per layer more than without the term (QReLU:
/// three).
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

static void relu(int n, float *restrict h) {
    for (int i = 0; i < n; i++) h[i] = h[i] > 0 ? h[i] : 0;
}

/// z becomes the activation, gate its slope. e: half-width of the corner.
static void qrelu(int n, float e, float *restrict z, float *restrict gate) {
    float inverse = 1 / (2 * e);
    for (int i = 0; i < n; i++) { // three loops: in one the compiler makes branches of the bounds
        float c = z[i] * inverse + 0.5f;
        gate[i] = c > 0 ? c : 0;
    }
    for (int i = 0; i < n; i++) gate[i] = gate[i] < 1 ? gate[i] : 1;
    for (int i = 0; i < n; i++) z[i] = gate[i] * (z[i] + (e - e * gate[i]));
}

/// v where the gate is positive, else 0.
static void keep_where_positive(int n, const float *restrict gate, float *restrict v) {
    for (int i = 0; i < n; i++) v[i] = gate[i] > 0 ? v[i] : 0;
}

/// v times the slope of QReLU; bend: v times its curvature.
static void scale_and_bend(int n, float e, const float *restrict gate, float *restrict v, float *restrict bend) {
    float curvature = 1 / (2 * e);
    for (int i = 0; i < n; i++) {
        float c = gate[i], inside = c > 0 ? curvature : 0;
        inside = c < 1 ? inside : 0;
        bend[i] = v[i] * inside;
        v[i] *= c;
    }
}

static void add_product(int n, const float *restrict a, const float *restrict b, float *restrict sum) {
    for (int i = 0; i < n; i++) sum[i] += a[i] * b[i];
}

static void scale(int n, const float *restrict factor, float *restrict v) {
    for (int i = 0; i < n; i++) v[i] *= factor[i];
}

static void scale_and_add(int n, const float *restrict factor, const float *restrict summand, float *restrict v) {
    for (int i = 0; i < n; i++) v[i] = v[i] * factor[i] + summand[i];
}

static void fill_scaled(int n, float value, const float *restrict factor, float *restrict out) {
    for (int i = 0; i < n; i++) out[i] = value * factor[i];
}

static double sum_up(int n, const float *v) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i];
    return sum;
}

// ---------------------------------------------------------------------------------------------- layers

/// v (width x n) of a layer times its slope; `gate` is h for ReLU.
static void apply_slope(const nn_shard *s, const nn_model *model, const float *gate, float *v) {
    int count = s->width * s->ld;
    if (model->activation == NN_RELU)
        keep_where_positive(count, gate, v);
    else
        scale(count, gate, v);
}

/// out += W_l in.
static void multiply(const nn_shard *s, const nn_model *model, int l, int n, const float *in, float *out) {
    int n_in = l > 0 ? s->width : s->inputs;
    nn__blas_multiply(s->width, n, n_in, model->parameters + model->offset_weight[l], n_in, in, s->ld, out, s->ld);
}

/// out = W_l^T in.
static void multiply_back(const nn_shard *s, const nn_model *model, int l, int n, const float *in, float *out) {
    int n_in = l > 0 ? s->width : s->inputs;
    memset(out, 0, (size_t)(n_in * s->ld) * sizeof(float));
    nn__blas_multiply_transposed_left(n_in, n, s->width, model->parameters + model->offset_weight[l], n_in, in, s->ld,
                                      out, s->ld);
}

/// gradient of W_l += a b^T.
static void add_weights(const nn_shard *s, const nn_model *model, int l, int n, const float *a, const float *b,
                        float *gradient) {
    int n_in = l > 0 ? s->width : s->inputs;
    nn__blas_multiply_transposed_right(s->width, n_in, n, a, s->ld, b, s->ld, gradient + model->offset_weight[l], n_in);
}

/// out (width x n) = W_out^T (S factor): what the outputs hand to the last hidden layer. factor NULL: 1.
static void spread_output(const nn_shard *s, const nn_model *model, int n, const float *factor, float *out) {
    const float *w = model->parameters + model->offset_weight[s->layers];
    for (int k = 0; k < s->width; k++) {
        float *row = out + k * s->ld;
        if (s->heads == 1) {
            fill(n, w[k], row);
        } else {
            fill_scaled(n, w[k], s->active, row);
            for (int j = 1; j < s->heads; j++) {
                const float *restrict active = s->active + j * s->ld, w_j = w[j * s->width + k];
                for (int i = 0; i < n; i++) row[i] += w_j * active[i];
            }
        }
        if (factor) scale(n, factor, row);
    }
}

/// Gradients of the outputs: weights (S factor) h^T, biases S r; factor NULL: 1.
static void add_output(nn_shard *s, const nn_model *model, int n, const float *factor, const float *h, float *w,
                       float *b) {
    for (int j = 0; j < s->heads; j++) {
        const float *active = s->active + j * s->ld;
        if (factor) {
            memcpy(s->term, active, (size_t)n * sizeof(float));
            scale(n, factor, s->term);
        }
        nn__blas_vector(s->width, n, h, s->ld, factor ? s->term : active, w + j * model->width);
        if (b) nn__blas_vector(1, n, s->residual, s->ld, active, b + j);
    }
}

// ---------------------------------------------------------------------------------------------- passes

/// The smallest of the outputs into output[0..n-1] and S.
static void choose_head(nn_shard *s, int n) {
    float *restrict value = s->output;
    for (int i = 0; i < n; i++) {
        int active = 0;
        for (int j = 0; j < s->heads; j++) {
            s->active[j * s->ld + i] = 0;
            if (s->output[j * s->ld + i] < s->output[active * s->ld + i]) active = j;
        }
        s->active[active * s->ld + i] = 1;
        value[i] = s->output[active * s->ld + i];
    }
}

/// h and gate of all layers, outputs and S.
static void forward(nn_shard *s, const nn_model *model, int n) {
    int ld = s->ld, last = s->layers;
    for (int l = 0; l < last; l++) {
        const float *bias = model->parameters + model->offset_bias[l];
        float *h = s->h[l + 1];
        for (int o = 0; o < s->width; o++) fill(ld, bias[o], h + o * ld);
        multiply(s, model, l, n, s->h[l], h);
        for (int o = 0; o < s->width; o++) {
            if (model->activation == NN_RELU)
                relu(ld, h + o * ld);
            else
                qrelu(ld, model->corner, h + o * ld, s->gate[l + 1] + o * ld);
        }
    }
    for (int j = 0; j < s->heads; j++) {
        fill(n, model->parameters[model->offset_bias[last] + j], s->output + j * ld);
        nn__blas_vector_transposed(s->width, n, s->h[last], ld,
                                   model->parameters + model->offset_weight[last] + j * s->width, s->output + j * ld);
    }
    if (s->heads > 1) choose_head(s, n);
}

/// Residuals from the outputs; returns the sum of w (f - target)^2, or of w c (2 |f - target| - c) beyond the clip c.
static double compare(nn_shard *s, int n) {
    const float *restrict f = s->output, *restrict target = s->target, *restrict weight = s->weight;
    float *restrict residual = s->residual, *restrict term = s->term;
    const float clip = s->clip;
    for (int i = 0; i < n; i++) {
        float miss = f[i] - target[i], counted = miss > clip ? clip : miss < -clip ? -clip : miss;
        residual[i] = 2 * weight[i] * counted;
        term[i] = weight[i] * counted * (2 * miss - counted);
    }
    return sum_up(n, term);
}

/// delta of all layers, [0] included, and for QReLU bend.
static void backward(nn_shard *s, const nn_model *model, int n) {
    spread_output(s, model, n, NULL, s->delta[s->layers]);
    for (int l = s->layers; l > 0; l--) {
        if (model->activation == NN_RELU)
            keep_where_positive(s->width * s->ld, s->gate[l], s->delta[l]);
        else
            scale_and_bend(s->width * s->ld, model->corner, s->gate[l], s->delta[l], s->bend[l]);
        multiply_back(s, model, l - 1, n, s->delta[l], s->delta[l - 1]);
    }
}

/// start += v = 2 gamma w J e with e = J^T grad f - slope. Returns the sum of w gamma |e|^2.
static double compare_slopes(nn_shard *s, int n, float gamma, float *start) {
    int ld = s->ld, poses = s->poses;
    float *restrict error = s->error, *restrict term = s->term;
    const float *restrict weight = s->weight;
    double sum = 0;
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
        for (int k = 0; k < s->inputs; k++) add_product(n, s->jacobian + (k * poses + p) * ld, error, start + k * ld);
    }
    return sum;
}

/// Adds the gradient sums of a loss without slopes.
static void add_plain(nn_shard *s, const nn_model *model, int n, float *gradient) {
    add_output(s, model, n, s->residual, s->h[s->layers], gradient + model->offset_weight[s->layers],
               gradient + model->offset_bias[s->layers]);
    float *a = s->combined[0], *next = s->combined[1];
    spread_output(s, model, n, s->residual, a);
    for (int l = s->layers; l > 0; l--) {
        apply_slope(s, model, s->gate[l], a);
        add_weights(s, model, l - 1, n, a, s->h[l - 1], gradient);
        nn__blas_vector(s->width, n, a, s->ld, s->ones, gradient + model->offset_bias[l - 1]);
        if (l > 1) multiply_back(s, model, l - 1, n, a, next);
        float *swap = a;
        a = next;
        next = swap;
    }
}

/// Adds the gradient sums of a ReLU net; combined[0] holds k_0 - r x.
static void add_relu(nn_shard *s, const nn_model *model, int n, float *gradient) {
    int ld = s->ld;
    float *k = s->combined[0], *next = s->combined[1];
    for (int i = 0; i < s->inputs; i++) add_product(n, s->residual, s->h[0] + i * ld, k + i * ld);
    for (int l = 1; l <= s->layers; l++) {
        const float *bias = model->parameters + model->offset_bias[l - 1];
        add_weights(s, model, l - 1, n, s->delta[l], k, gradient);
        nn__blas_vector(s->width, n, s->delta[l], ld, s->residual, gradient + model->offset_bias[l - 1]);
        for (int o = 0; o < s->width; o++) fill_scaled(n, bias[o], s->residual, next + o * ld);
        multiply(s, model, l - 1, n, k, next);
        keep_where_positive(s->width * ld, s->gate[l], next);
        float *swap = k;
        k = next;
        next = swap;
    }
    add_output(s, model, n, NULL, k, gradient + model->offset_weight[s->layers],
               gradient + model->offset_bias[s->layers]);
}

/// Adds the gradient sums of a QReLU net; tangent[0] holds v.
static void add_qrelu(nn_shard *s, const nn_model *model, int n, float *gradient) {
    int count = s->width * s->ld, last = s->layers;
    float *w_out = gradient + model->offset_weight[last], *b_out = gradient + model->offset_bias[last];
    for (int l = 1; l <= last; l++) {
        memset(s->tangent[l], 0, (size_t)count * sizeof(float));
        multiply(s, model, l - 1, n, s->tangent[l - 1], s->tangent[l]);
        scale(count, s->tangent[l], s->bend[l]);
        scale(count, s->gate[l], s->tangent[l]);
    }
    add_output(s, model, n, s->residual, s->h[last], w_out, b_out);
    add_output(s, model, n, NULL, s->tangent[last], w_out, NULL);

    float *a = s->combined[0], *next = s->combined[1];
    spread_output(s, model, n, s->residual, a);
    for (int l = last; l > 0; l--) {
        scale_and_add(count, s->gate[l], s->bend[l], a);
        add_weights(s, model, l - 1, n, a, s->h[l - 1], gradient);
        add_weights(s, model, l - 1, n, s->delta[l], s->tangent[l - 1], gradient);
        nn__blas_vector(s->width, n, a, s->ld, s->ones, gradient + model->offset_bias[l - 1]);
        if (l > 1) multiply_back(s, model, l - 1, n, a, next);
        float *swap = a;
        a = next;
        next = swap;
    }
}

double NN_PASS(nn_shard *shard, const nn_model *model, const float *records, const int64_t *rows, int n,
               double gradient_weight, float *gradient) {
    bool slopes = gradient_weight > 0 && shard->poses > 0, relu_net = model->activation == NN_RELU;
    gather(shard, records, rows, n);
    forward(shard, model, n);
    double sum = compare(shard, n);
    if (!slopes) {
        add_plain(shard, model, n, gradient);
        return sum;
    }
    backward(shard, model, n);
    float *start = relu_net ? shard->combined[0] : shard->tangent[0];
    memset(start, 0, (size_t)(shard->inputs * shard->ld) * sizeof(float));
    sum += compare_slopes(shard, n, (float)gradient_weight, start);
    if (relu_net)
        add_relu(shard, model, n, gradient);
    else
        add_qrelu(shard, model, n, gradient);
    return sum;
}
