/// Inference with AVX2 and FMA: rows in lanes, three (or two) vectors of eight rows at a time, four outputs per tile.
/// Twelve accumulators hide the latency of the multiply-add (4 cycles x 2 units need eight) and leave room for three
/// vectors of activations and one broadcast weight in the sixteen registers. Bits: see nn_private.h. Compiled with
/// -mavx2 -mfma; called only where they exist.
#include "nn_private.h"

#include <immintrin.h>

enum { LANES = 8, ROWS_WIDE = 3 * LANES, ROWS_NARROW = 2 * LANES, TILE = 4 };

/// What happens to a sum before it is stored. RELU; QRELU: activation stored, slope beside it; MASK: kept where the
/// number it replaces is positive, else zero; SCALE: times the number it replaces.
typedef enum after { AFTER_NOTHING, AFTER_RELU, AFTER_QRELU, AFTER_MASK, AFTER_SCALE } after;

/// One product: out (count_out x rows) = start + weights . in (count_in x rows), both with rows in lanes.
typedef struct product {
    int count_in, count_out;
    const float *in;
    size_t ld_in;
    float *out;
    size_t ld_out;
    float *slope; // QRELU, in the layout of out; NULL: not wanted
    after then;
} product;

static bool avx2_available(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

// ---------------------------------------------------------------------------------------------- packed weights

/// Outputs in the tile that starts at output o: four, or two at the end. Tiles may be wider than what is left; nothing
/// is stored there.
static int tile_width(int count_out, int o) {
    return count_out - o > 2 ? TILE : 2;
}

/// Floats of one packed product: per tile the starts, then the weights of input 0, of input 1, ...
static size_t count_packed_product(int count_out, int count_in) {
    size_t count = 0;
    for (int o = 0; o < count_out; o += TILE) count += (size_t)tile_width(count_out, o) * ((size_t)count_in + 1);
    return count;
}

/// Numbers per unit in the table of the heads' weights that output_gradient reads.
static int table_step(const nn_model *model) {
    return model->heads == 1 ? 1 : NN_HEADS_MAX;
}

/// Outputs: a product, then the table (width x step).
static size_t count_packed_output(const nn_model *model) {
    return count_packed_product(model->heads, model->width) + (size_t)(table_step(model) * model->width);
}

static size_t avx2_count_packed(const nn_model *model) {
    size_t count = count_packed_output(model);
    for (int l = 0; l < model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        count += count_packed_product(n_out, n_in) + count_packed_product(n_in, n_out);
    }
    return count;
}

/// Packs weights w[o * step_out + k * step_in] and starts (NULL: zero). Returns the place behind.
static float *pack_product(float *packed, int count_out, int count_in, const float *w, int step_out, int step_in,
                           const float *start) {
    for (int o = 0; o < count_out; o += TILE) {
        int width = tile_width(count_out, o);
        for (int j = 0; j < width; j++) {
            bool used = o + j < count_out;
            packed[j] = used && start ? start[o + j] : 0;
            for (int k = 0; k < count_in; k++)
                packed[(k + 1) * width + j] = used ? w[(o + j) * step_out + k * step_in] : 0;
        }
        packed += width * (count_in + 1);
    }
    return packed;
}

static float *pack_output(const nn_model *model, float *packed) {
    const float *w = model->parameters + model->offset_weight[model->layers];
    const float *b = model->parameters + model->offset_bias[model->layers];
    packed = pack_product(packed, model->heads, model->width, w, model->width, 1, b);
    for (int k = 0; k < model->width; k++, packed += table_step(model))
        for (int j = 0; j < table_step(model); j++) packed[j] = j < model->heads ? w[j * model->width + k] : 0;
    return packed;
}

/// In the order of use: hidden layers, outputs, then the transposed layers from the last to the first.
static void avx2_pack(const nn_model *model, float *packed) {
    int n_out, n_in;
    for (int l = 0; l < model->layers; l++) {
        nn_model_layer_size(model, l, &n_out, &n_in);
        packed = pack_product(packed, n_out, n_in, model->parameters + model->offset_weight[l], n_in, 1,
                              model->parameters + model->offset_bias[l]);
    }
    packed = pack_output(model, packed);
    for (int l = model->layers - 1; l >= 0; l--) {
        nn_model_layer_size(model, l, &n_out, &n_in);
        packed = pack_product(packed, n_in, n_out, model->parameters + model->offset_weight[l], 1, n_in, NULL);
    }
}

/// Numbers of one block of rows: per layer the gates (activations of ReLU, slopes of QReLU), whose places the gradients
/// take; activations of QReLU in two places by turns; outputs. For 3 x 32 this and the packed weights are about the 32
/// KB of the first cache.
static size_t avx2_scratch_bytes(const nn_model *model) {
    size_t layers = (size_t)model->layers + (model->activation == NN_QRELU ? 2 : 0);
    return (layers * (size_t)model->width + NN_HEADS_MAX) * ROWS_WIDE * sizeof(float);
}

// ---------------------------------------------------------------------------------------------- tiles

/// max(v, +0) with the operands in this order is v > 0 ? v : +0, for NaN and -0 too.
static inline __m256 clamp(__m256 v) {
    return _mm256_max_ps(v, _mm256_setzero_ps());
}

static inline __m256 keep_where_positive(__m256 gate, __m256 v) {
    return _mm256_and_ps(_mm256_cmp_ps(gate, _mm256_setzero_ps(), _CMP_GT_OQ), v);
}

/// Stores vector i (rows 8 i ..) of output o.
static inline void store(const product *p, int o, int i, __m256 v) {
    size_t at = (size_t)o * p->ld_out + (size_t)(i * LANES);
    switch (p->then) {
    case AFTER_NOTHING:
        break;
    case AFTER_RELU:
        v = clamp(v);
        break;
    case AFTER_QRELU: {
        v = clamp(v);
        __m256 c = _mm256_min_ps(v, _mm256_set1_ps(1));
        if (p->slope) _mm256_storeu_ps(p->slope + at, c);
        v = _mm256_mul_ps(c, _mm256_fnmadd_ps(c, _mm256_set1_ps(0.5f), v));
        break;
    }
    case AFTER_MASK:
        v = keep_where_positive(_mm256_loadu_ps(p->out + at), v);
        break;
    case AFTER_SCALE:
        v = _mm256_mul_ps(_mm256_loadu_ps(p->out + at), v);
        break;
    }
    _mm256_storeu_ps(p->out + at, v);
}

/// Outputs o .. o+3 at 24 rows.
static void tile_4x3(const product *p, int o, const float *w) {
    __m256 a0 = _mm256_broadcast_ss(w), b0 = _mm256_broadcast_ss(w + 1), c0 = _mm256_broadcast_ss(w + 2),
           d0 = _mm256_broadcast_ss(w + 3);
    __m256 a1 = a0, b1 = b0, c1 = c0, d1 = d0, a2 = a0, b2 = b0, c2 = c0, d2 = d0;
    const float *in = p->in;
    size_t ld = p->ld_in;
    for (int k = p->count_in; k > 0; k--, in += ld) {
        w += 4;
        __m256 h0 = _mm256_loadu_ps(in), h1 = _mm256_loadu_ps(in + LANES), h2 = _mm256_loadu_ps(in + 2 * LANES);
        __m256 wk = _mm256_broadcast_ss(w);
        a0 = _mm256_fmadd_ps(wk, h0, a0);
        a1 = _mm256_fmadd_ps(wk, h1, a1);
        a2 = _mm256_fmadd_ps(wk, h2, a2);
        wk = _mm256_broadcast_ss(w + 1);
        b0 = _mm256_fmadd_ps(wk, h0, b0);
        b1 = _mm256_fmadd_ps(wk, h1, b1);
        b2 = _mm256_fmadd_ps(wk, h2, b2);
        wk = _mm256_broadcast_ss(w + 2);
        c0 = _mm256_fmadd_ps(wk, h0, c0);
        c1 = _mm256_fmadd_ps(wk, h1, c1);
        c2 = _mm256_fmadd_ps(wk, h2, c2);
        wk = _mm256_broadcast_ss(w + 3);
        d0 = _mm256_fmadd_ps(wk, h0, d0);
        d1 = _mm256_fmadd_ps(wk, h1, d1);
        d2 = _mm256_fmadd_ps(wk, h2, d2);
    }
    store(p, o, 0, a0), store(p, o, 1, a1), store(p, o, 2, a2);
    store(p, o + 1, 0, b0), store(p, o + 1, 1, b1), store(p, o + 1, 2, b2);
    store(p, o + 2, 0, c0), store(p, o + 2, 1, c1), store(p, o + 2, 2, c2);
    if (o + 3 < p->count_out) store(p, o + 3, 0, d0), store(p, o + 3, 1, d1), store(p, o + 3, 2, d2);
}

/// Outputs o, o+1 at 24 rows.
static void tile_2x3(const product *p, int o, const float *w) {
    __m256 a0 = _mm256_broadcast_ss(w), b0 = _mm256_broadcast_ss(w + 1);
    __m256 a1 = a0, b1 = b0, a2 = a0, b2 = b0;
    const float *in = p->in;
    size_t ld = p->ld_in;
    for (int k = p->count_in; k > 0; k--, in += ld) {
        w += 2;
        __m256 h0 = _mm256_loadu_ps(in), h1 = _mm256_loadu_ps(in + LANES), h2 = _mm256_loadu_ps(in + 2 * LANES);
        __m256 wk = _mm256_broadcast_ss(w);
        a0 = _mm256_fmadd_ps(wk, h0, a0);
        a1 = _mm256_fmadd_ps(wk, h1, a1);
        a2 = _mm256_fmadd_ps(wk, h2, a2);
        wk = _mm256_broadcast_ss(w + 1);
        b0 = _mm256_fmadd_ps(wk, h0, b0);
        b1 = _mm256_fmadd_ps(wk, h1, b1);
        b2 = _mm256_fmadd_ps(wk, h2, b2);
    }
    store(p, o, 0, a0), store(p, o, 1, a1), store(p, o, 2, a2);
    if (o + 1 < p->count_out) store(p, o + 1, 0, b0), store(p, o + 1, 1, b1), store(p, o + 1, 2, b2);
}

/// Outputs o .. o+3 at 16 rows.
static void tile_4x2(const product *p, int o, const float *w) {
    __m256 a0 = _mm256_broadcast_ss(w), b0 = _mm256_broadcast_ss(w + 1), c0 = _mm256_broadcast_ss(w + 2),
           d0 = _mm256_broadcast_ss(w + 3);
    __m256 a1 = a0, b1 = b0, c1 = c0, d1 = d0;
    const float *in = p->in;
    size_t ld = p->ld_in;
    for (int k = p->count_in; k > 0; k--, in += ld) {
        w += 4;
        __m256 h0 = _mm256_loadu_ps(in), h1 = _mm256_loadu_ps(in + LANES);
        __m256 wk = _mm256_broadcast_ss(w);
        a0 = _mm256_fmadd_ps(wk, h0, a0);
        a1 = _mm256_fmadd_ps(wk, h1, a1);
        wk = _mm256_broadcast_ss(w + 1);
        b0 = _mm256_fmadd_ps(wk, h0, b0);
        b1 = _mm256_fmadd_ps(wk, h1, b1);
        wk = _mm256_broadcast_ss(w + 2);
        c0 = _mm256_fmadd_ps(wk, h0, c0);
        c1 = _mm256_fmadd_ps(wk, h1, c1);
        wk = _mm256_broadcast_ss(w + 3);
        d0 = _mm256_fmadd_ps(wk, h0, d0);
        d1 = _mm256_fmadd_ps(wk, h1, d1);
    }
    store(p, o, 0, a0), store(p, o, 1, a1);
    store(p, o + 1, 0, b0), store(p, o + 1, 1, b1);
    store(p, o + 2, 0, c0), store(p, o + 2, 1, c1);
    if (o + 3 < p->count_out) store(p, o + 3, 0, d0), store(p, o + 3, 1, d1);
}

/// Outputs o, o+1 at 16 rows.
static void tile_2x2(const product *p, int o, const float *w) {
    __m256 a0 = _mm256_broadcast_ss(w), b0 = _mm256_broadcast_ss(w + 1);
    __m256 a1 = a0, b1 = b0;
    const float *in = p->in;
    size_t ld = p->ld_in;
    for (int k = p->count_in; k > 0; k--, in += ld) {
        w += 2;
        __m256 h0 = _mm256_loadu_ps(in), h1 = _mm256_loadu_ps(in + LANES);
        __m256 wk = _mm256_broadcast_ss(w);
        a0 = _mm256_fmadd_ps(wk, h0, a0);
        a1 = _mm256_fmadd_ps(wk, h1, a1);
        wk = _mm256_broadcast_ss(w + 1);
        b0 = _mm256_fmadd_ps(wk, h0, b0);
        b1 = _mm256_fmadd_ps(wk, h1, b1);
    }
    store(p, o, 0, a0), store(p, o, 1, a1);
    if (o + 1 < p->count_out) store(p, o + 1, 0, b0), store(p, o + 1, 1, b1);
}

/// The whole product for a block of 24 or 16 rows. Returns the place behind its packed weights.
static const float *multiply(const product *p, int rows, const float *w) {
    for (int o = 0; o < p->count_out; o += TILE) {
        int width = tile_width(p->count_out, o);
        if (rows == ROWS_WIDE) {
            if (width == TILE)
                tile_4x3(p, o, w);
            else
                tile_2x3(p, o, w);
        } else {
            if (width == TILE)
                tile_4x2(p, o, w);
            else
                tile_2x2(p, o, w);
        }
        w += width * (p->count_in + 1);
    }
    return w;
}

// ---------------------------------------------------------------------------------------------- a block of rows

/// Value of a block of rows and, with several heads, the index of each row's active one. w: packed outputs; h: last
/// activations; z: place for the outputs. Returns the weights for output_gradient.
static const float *output(const nn_model *model, int rows, const float *w, const float *h, float *z, float *value,
                           __m256i active[3]) {
    int vectors = rows / LANES;
    product p = {.count_in = model->width,
                 .count_out = model->heads,
                 .in = h,
                 .ld_in = (size_t)rows,
                 .out = model->heads == 1 ? value : z,
                 .ld_out = (size_t)rows,
                 .then = AFTER_NOTHING};
    w = multiply(&p, rows, w);
    for (int i = 0; i < vectors && model->heads > 1; i++) {
        __m256 v = _mm256_loadu_ps(z + i * LANES);
        active[i] = _mm256_setzero_si256();
        for (int j = 1; j < model->heads; j++) {
            __m256 other = _mm256_loadu_ps(z + j * rows + i * LANES);
            __m256i less = _mm256_castps_si256(_mm256_cmp_ps(other, v, _CMP_LT_OQ));
            v = _mm256_min_ps(other, v); // the second where they are equal or one is NaN
            active[i] = _mm256_blendv_epi8(active[i], _mm256_set1_epi32(j), less);
        }
        _mm256_storeu_ps(value + i * LANES, v);
    }
    return w;
}

/// Turns the last gates into the gradient behind the outputs: gate applied to the active head's weights.
static void output_gradient(const nn_model *model, int rows, const float *w, const __m256i active[3], float *gate) {
    for (int k = 0; k < model->width; k++) {
        __m256 all = model->heads == 1 ? _mm256_broadcast_ss(w + k) : _mm256_loadu_ps(w + k * NN_HEADS_MAX);
        for (int i = 0; i < rows / LANES; i++) {
            float *at = gate + k * rows + i * LANES;
            __m256 g = _mm256_loadu_ps(at), v = all;
            if (model->heads > 1) v = _mm256_permutevar8x32_ps(all, active[i]);
            v = model->activation == NN_QRELU ? _mm256_mul_ps(g, v) : keep_where_positive(g, v);
            _mm256_storeu_ps(at, v);
        }
    }
}

/// Value and gradient of `rows` (24 or 16) rows that start at x, value, gradient (NULL: value alone).
static void evaluate_block(const nn_model *model, const float *packed, int rows, size_t stride, const float *x,
                           float *value, float *gradient, float *scratch) {
    bool corner = model->activation == NN_QRELU;
    size_t ld = (size_t)rows, layer = (size_t)model->width * ld;
    float *gates = scratch, *outputs = gates + (size_t)model->layers * layer, *turns = outputs + NN_HEADS_MAX * ld;
    __m256i active[3] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    product p = {.count_in = model->inputs, .count_out = model->width, .in = x, .ld_in = stride, .ld_out = ld};
    p.then = corner ? AFTER_QRELU : AFTER_RELU;
    for (int l = 0; l < model->layers; l++) {
        float *gate = gates + (size_t)l * layer;
        p.slope = gradient ? gate : NULL;
        p.out = corner ? turns + (size_t)(l % 2) * layer : gate;
        packed = multiply(&p, rows, packed);
        p.in = p.out;
        p.ld_in = ld;
        p.count_in = model->width;
    }
    packed = output(model, rows, packed, p.in, outputs, value, active);
    if (!gradient) return;

    // backwards, each gradient into the place of its gates
    p.out = gates + (size_t)(model->layers - 1) * layer;
    output_gradient(model, rows, packed, active, p.out);
    packed += model->width * table_step(model);
    p.then = corner ? AFTER_SCALE : AFTER_MASK;
    for (int l = model->layers - 1; l > 0; l--) {
        p.in = p.out;
        p.out = gates + (size_t)(l - 1) * layer;
        packed = multiply(&p, rows, packed);
    }
    p.in = p.out;
    p.count_out = model->inputs;
    p.out = gradient;
    p.ld_out = stride;
    p.then = AFTER_NOTHING;
    multiply(&p, rows, packed);
}

/// Blocks of 24 rows until 16 or 32 are left, which go in blocks of 16: stride is a multiple of 16, so nothing is read
/// beyond it.
static void avx2_evaluate(const nn_model *model, const float *packed, int n, int stride, const float *x, float *value,
                          float *gradient, void *scratch) {
    int rows, end = (n + ROWS_NARROW - 1) / ROWS_NARROW * ROWS_NARROW;
    for (int i = 0; i < end; i += rows) {
        rows = end - i >= ROWS_WIDE && end - i != 2 * ROWS_NARROW ? ROWS_WIDE : ROWS_NARROW;
        evaluate_block(model, packed, rows, (size_t)stride, x + i, value + i, gradient ? gradient + i : NULL, scratch);
    }
}

const nn_kernel_ops nn__kernel_avx2_ops = {
    .name = "avx2",
    .available = avx2_available,
    .count_packed = avx2_count_packed,
    .pack = avx2_pack,
    .scratch_bytes = avx2_scratch_bytes,
    .evaluate = avx2_evaluate,
};
