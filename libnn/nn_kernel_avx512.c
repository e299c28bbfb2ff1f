/// Inference with AVX-512: rows in lanes, two (or one) vectors of sixteen rows at a time, eight outputs per tile.
/// Sixteen accumulators hide the latency of the multiply-add and leave half of the 32 registers for activations and
/// weights. Bits: see nn_private.h. Compiled with -mavx512f; called only where that exists.
#include "nn_private.h"

#include <immintrin.h>

enum { LANES = 16, ROWS_WIDE = 2 * LANES, TILE = 8, TILE_SMALL = 4 };

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

static bool avx512_available(void) {
    return __builtin_cpu_supports("avx512f");
}

// ---------------------------------------------------------------------------------------------- packed weights

/// Outputs in the tile that starts at output o: eight, or four at the end. Tiles may be wider than what is left;
/// nothing is stored there.
static int tile_width(int count_out, int o) {
    return count_out - o > TILE_SMALL ? TILE : TILE_SMALL;
}

/// Floats of one packed product: per tile the starts, then the weights of input 0, of input 1, ...
static size_t count_packed_product(int count_out, int count_in) {
    size_t count = 0;
    for (int o = 0; o < count_out; o += TILE) count += (size_t)tile_width(count_out, o) * ((size_t)count_in + 1);
    return count;
}

/// Hidden layers, the outputs as a product and a table (width x 16) of the heads' weights, the transposed layers.
static size_t avx512_count_packed(const nn_model *model) {
    size_t count = count_packed_product(model->heads, model->width) + LANES * (size_t)model->width;
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

/// In the order of use: hidden layers, outputs, then the transposed layers from the last to the first.
static void avx512_pack(const nn_model *model, float *packed) {
    int n_out, n_in;
    for (int l = 0; l <= model->layers; l++) {
        nn_model_layer_size(model, l, &n_out, &n_in);
        packed = pack_product(packed, n_out, n_in, model->parameters + model->offset_weight[l], n_in, 1,
                              model->parameters + model->offset_bias[l]);
    }
    const float *w = model->parameters + model->offset_weight[model->layers];
    for (int k = 0; k < model->width; k++, packed += LANES)
        for (int j = 0; j < LANES; j++) packed[j] = j < model->heads ? w[j * model->width + k] : 0;
    for (int l = model->layers - 1; l >= 0; l--) {
        nn_model_layer_size(model, l, &n_out, &n_in);
        packed = pack_product(packed, n_in, n_out, model->parameters + model->offset_weight[l], 1, n_in, NULL);
    }
}

/// As for AVX2: gates of the layers, outputs, activations of QReLU in two places by turns.
static size_t avx512_scratch_bytes(const nn_model *model) {
    size_t layers = (size_t)model->layers + (model->activation == NN_QRELU ? 2 : 0);
    return (layers * (size_t)model->width + NN_HEADS_MAX) * ROWS_WIDE * sizeof(float);
}

// ---------------------------------------------------------------------------------------------- tiles

/// max(v, +0) with the operands in this order is v > 0 ? v : +0, for NaN and -0 too.
static inline __m512 clamp(__m512 v) {
    return _mm512_max_ps(v, _mm512_setzero_ps());
}

static inline __m512 keep_where_positive(__m512 gate, __m512 v) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(gate, _mm512_setzero_ps(), _CMP_GT_OQ), v);
}

/// Stores vector i (rows 16 i ..) of output o.
static inline void store(const product *p, int o, int i, __m512 v) {
    size_t at = (size_t)o * p->ld_out + (size_t)(i * LANES);
    switch (p->then) {
    case AFTER_NOTHING:
        break;
    case AFTER_RELU:
        v = clamp(v);
        break;
    case AFTER_QRELU: {
        v = clamp(v);
        __m512 c = _mm512_min_ps(v, _mm512_set1_ps(1));
        if (p->slope) _mm512_storeu_ps(p->slope + at, c);
        v = _mm512_mul_ps(c, _mm512_fnmadd_ps(c, _mm512_set1_ps(0.5f), v));
        break;
    }
    case AFTER_MASK:
        v = keep_where_positive(_mm512_loadu_ps(p->out + at), v);
        break;
    case AFTER_SCALE:
        v = _mm512_mul_ps(_mm512_loadu_ps(p->out + at), v);
        break;
    }
    _mm512_storeu_ps(p->out + at, v);
}

/// Outputs o .. o + width - 1 at `vectors` vectors of rows; both are constants where it is called, so that the loops
/// over them unroll and the sums stay in registers (left to itself GCC shares one body between two calls, and they do
/// not).
static inline __attribute__((always_inline)) void tile(const product *p, int o, const float *w, const int width,
                                                       const int vectors) {
    __m512 sum[TILE][2];
    const float *in = p->in;
    for (int j = 0; j < width; j++)
        for (int i = 0; i < vectors; i++) sum[j][i] = _mm512_set1_ps(w[j]);
    for (int k = p->count_in; k > 0; k--, in += p->ld_in) {
        w += width;
        __m512 h[2];
        for (int i = 0; i < vectors; i++) h[i] = _mm512_loadu_ps(in + i * LANES);
        for (int j = 0; j < width; j++)
            for (int i = 0; i < vectors; i++) sum[j][i] = _mm512_fmadd_ps(_mm512_set1_ps(w[j]), h[i], sum[j][i]);
    }
    for (int j = 0; j < width; j++) {
        if (o + j >= p->count_out) break;
        for (int i = 0; i < vectors; i++) store(p, o + j, i, sum[j][i]);
    }
}

/// The whole product for a block of 32 or 16 rows. Returns the place behind its packed weights.
static const float *multiply(const product *p, int rows, const float *w) {
    for (int o = 0; o < p->count_out; o += TILE) {
        int width = tile_width(p->count_out, o);
        if (rows == ROWS_WIDE) {
            if (width == TILE)
                tile(p, o, w, TILE, 2);
            else
                tile(p, o, w, TILE_SMALL, 2);
        } else {
            if (width == TILE)
                tile(p, o, w, TILE, 1);
            else
                tile(p, o, w, TILE_SMALL, 1);
        }
        w += width * (p->count_in + 1);
    }
    return w;
}

// ---------------------------------------------------------------------------------------------- a block of rows

/// Value of a block of rows from the outputs z, and the index of each row's active head.
static void choose_head(int heads, int rows, const float *z, float *value, __m512i active[2]) {
    for (int i = 0; i < rows / LANES; i++) {
        __m512 v = _mm512_loadu_ps(z + i * LANES);
        active[i] = _mm512_setzero_si512();
        for (int j = 1; j < heads; j++) {
            __m512 other = _mm512_loadu_ps(z + j * rows + i * LANES);
            __mmask16 less = _mm512_cmp_ps_mask(other, v, _CMP_LT_OQ);
            v = _mm512_min_ps(other, v); // the second where they are equal or one is NaN
            active[i] = _mm512_mask_mov_epi32(active[i], less, _mm512_set1_epi32(j));
        }
        _mm512_storeu_ps(value + i * LANES, v);
    }
}

/// Turns the last gates into the gradient behind the outputs: gate applied to the active head's weights (table).
static void output_gradient(const nn_model *model, int rows, const float *table, const __m512i active[2], float *gate) {
    for (int k = 0; k < model->width; k++) {
        __m512 all = _mm512_loadu_ps(table + k * LANES);
        for (int i = 0; i < rows / LANES; i++) {
            float *at = gate + k * rows + i * LANES;
            __m512 g = _mm512_loadu_ps(at), v = _mm512_permutexvar_ps(active[i], all);
            v = model->activation == NN_QRELU ? _mm512_mul_ps(g, v) : keep_where_positive(g, v);
            _mm512_storeu_ps(at, v);
        }
    }
}

/// Value and gradient of `rows` (32 or 16) rows that start at x, value, gradient (NULL: value alone).
static void evaluate_block(const nn_model *model, const float *packed, int rows, size_t stride, const float *x,
                           float *value, float *gradient, float *scratch) {
    bool corner = model->activation == NN_QRELU;
    size_t ld = (size_t)rows, layer = (size_t)model->width * ld;
    float *gates = scratch, *outputs = gates + (size_t)model->layers * layer, *turns = outputs + NN_HEADS_MAX * ld;
    __m512i active[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
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
    p.count_out = model->heads;
    p.out = outputs;
    p.then = AFTER_NOTHING;
    packed = multiply(&p, rows, packed);
    choose_head(model->heads, rows, outputs, value, active);
    if (!gradient) return;

    // backwards, each gradient into the place of its gates
    p.out = gates + (size_t)(model->layers - 1) * layer;
    output_gradient(model, rows, packed, active, p.out);
    packed += LANES * model->width;
    p.then = corner ? AFTER_SCALE : AFTER_MASK;
    p.count_out = model->width;
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

/// Blocks of 32 rows, the last 16 alone if so many are left: stride is a multiple of 16, so nothing is read beyond it.
static void avx512_evaluate(const nn_model *model, const float *packed, int n, int stride, const float *x, float *value,
                            float *gradient, void *scratch) {
    int rows, end = (n + LANES - 1) / LANES * LANES;
    for (int i = 0; i < end; i += rows) {
        rows = end - i >= ROWS_WIDE ? ROWS_WIDE : LANES;
        evaluate_block(model, packed, rows, (size_t)stride, x + i, value + i, gradient ? gradient + i : NULL, scratch);
    }
}

const nn_kernel_ops nn__kernel_avx512_ops = {
    .name = "avx512",
    .available = avx512_available,
    .count_packed = avx512_count_packed,
    .pack = avx512_pack,
    .scratch_bytes = avx512_scratch_bytes,
    .evaluate = avx512_evaluate,
};
