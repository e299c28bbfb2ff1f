/// Shared between the files of libnn; nobody else includes it.
#ifndef NN_PRIVATE_H
#define NN_PRIVATE_H

#include "nn.h"

#include <math.h>
#include <xmmintrin.h>

#define NN_POSES_MAX 16        // columns of a Jacobian
#define NN_BATCH_MAX (1 << 20) // rows of a batch
#define NN_SHARD_ROWS 128      // rows of a batch whose gradient is summed together; part of what a result depends on
#define NN_PROBE_ROWS 1024     // rows at which dead units are looked for
#define NN_STEPS_MAX 1000000000000 // 1e12: keeps epochs x rows / batch an integer
#define NN_PARAMETERS_MAX ((NN_LAYERS_MAX + 1) * NN_WIDTH_MAX * (NN_WIDTH_MAX + 1))

// ---------------------------------------------------------------------------------------------- checks

/// Every field against its range. RANGE, naming it.
core_status nn__def_check(const nn_model_def *def, core_error *err);
/// Pointers and sizes of training rows, every number finite, weights not negative. ARG, RANGE, NONFINITE (names array
/// and row).
core_status nn__data_validate(const nn_data *data, core_error *err);

// ---------------------------------------------------------------------------------------------- optimisers

/// Numbers of one Adam step, see nn_adam.c.
typedef struct nn_adam_rates {
    float rate, correction, b1, a1, b2, a2, eps;
} nn_adam_rates;
/// Those of step 1, 2, ...
nn_adam_rates nn__adam_rates(double beta1, double beta2, double eps, int64_t step, double learning_rate);
/// Adam's moments take in the gradient g, which becomes what is to be subtracted from the parameters.
void nn__adam_move(int n, const nn_adam_rates *rates, float *m, float *v, float *g);

/// SOAP's Adam, and covariances and bases in one block: what has to be saved.
nn_adam *nn__soap_adam(nn_soap *soap);
float *nn__soap_bases(nn_soap *soap, int64_t *count);

/// Eigenvectors of the symmetric a (n x n, destroyed) into the columns of basis. Cyclic Jacobi, no particular order.
void nn__eigenbasis(int n, double *a, double *basis);
/// Orthogonal factor of a = Q R (n x n, destroyed) into basis. row: 2n numbers of scratch.
void nn__orthonormalise(int n, double *a, double *basis, double *row);

// ---------------------------------------------------------------------------------------------- training

/// A training between two steps. Those made by reading or copying own their arrays; the one handed to nn_train_save
/// looks into the running training.
struct nn_train_state {
    uint64_t identity;            // of data and def, nn__train_identity
    int64_t step, steps;          // steps done, all steps
    int64_t best_step;            // steps done when the best parameters were kept
    int64_t recoveries;           // how often it went wrong and went on from the best parameters
    int64_t trouble_step;         // steps done when it did so last; 0: it did not
    int64_t trouble;              // nn_trouble
    double loss_fresh;            // of the fresh weights at the probe
    double loss_best;             // mean of the best stretch
    double loss_first, loss_last; // sums for the report
    int count_parameters;
    int64_t count_bases;
    float *parameters, *best, *m, *v; // (count_parameters)
    float *bases;                     // (count_bases), SOAP
    float *curve;                     // (NN_CURVE_MAX) mean losses of the stretches done
};

/// Hash of the rows and of everything in the def that decides about bits, the number of steps left out.
uint64_t nn__train_identity(const nn_data *data, const nn_train_def *def);
/// Hidden units that are off (output and slope 0) at every one of up to NN_PROBE_ROWS rows spread over the data; the
/// layer with most of them and their number there.
int nn__count_dead(const nn_model *model, const nn_data *data, int *worst_layer, int *worst_count);
/// Largest error that counts by its square.
static inline float nn__clip(const nn_data *data) {
    return data->clip > 0 ? (float)data->clip : (float)INFINITY;
}
/// Loss of a net that is zero everywhere.
double nn__zero_loss(const nn_data *data, int poses, double gradient_weight);
/// Loss of a net that is the mean of the targets everywhere.
double nn__mean_loss(const nn_data *data, int poses, double gradient_weight);

// ---------------------------------------------------------------------------------------------- shards (nn_shard.c)

/// A training row in one piece, so that fetching it from memory in random order is one or two cache misses instead of
/// six: x [inputs], target, weight, slope [poses], jacobian [inputs x poses], padding to a multiple of 8 floats.
int nn__record_floats(int inputs, int poses);
/// Row `row` of the data; poses is 0 (no slopes wanted) or data->poses.
void nn__record_pack(const nn_data *data, int64_t row, int poses, float *record);

/// Workspace of the rows that go through together, feature-major: (features x ld), ld >= rows. Index 0 is the input,
/// 1..layers the hidden layers; letters as in nn_pass.c.
struct nn_shard {
    int capacity, poses, inputs, width, layers, heads;
    int ld; // floats between features
    int record_floats;
    float clip; // largest error that counts by its square
    double (*pass)(nn_shard *shard, const nn_model *model, const float *records, const int64_t *rows, int n,
                   double gradient_weight, float *gradient);
    float *block, *record;
    float *h[NN_LAYERS_MAX + 1];               // activations, [0]: inputs
    float *target, *weight, *slope, *jacobian; // behind the inputs in h[0], in the order of a record
    float *delta[NN_LAYERS_MAX + 1];           // d f / d z, [0]: gradient with respect to the inputs
    float *combined[2];                        // ReLU: c of one layer and of the next; QReLU: A, the same way
    float *gate[NN_LAYERS_MAX + 1];            // QReLU: a'(z); ReLU: h
    float *bend[NN_LAYERS_MAX + 1];            // QReLU: a''(z) d f / d h, then times z'
    float *tangent[NN_LAYERS_MAX + 1];         // QReLU: h'
    float *output, *active;                    // (heads x ld) outputs; 1 where the head is the smallest, else 0
    float *residual, *error, *term, *ones;     // (ld) r; e of one coordinate of the pose; loss; 1
};

/// nn_pass.c, compiled for any x86-64 and for AVX2 (same bits: no multiply-add is fused, nothing is reordered). Adds
/// the gradient sums over the rows of `records` (NULL: 0..n-1), returns the loss sum.
double nn__pass_baseline(nn_shard *shard, const nn_model *model, const float *records, const int64_t *rows, int n,
                         double gradient_weight, float *gradient);
double nn__pass_avx2(nn_shard *shard, const nn_model *model, const float *records, const int64_t *rows, int n,
                     double gradient_weight, float *gradient);

/// Asks for a cache line.
static inline void nn__prefetch(const void *p) {
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}

/// Asks for a cache line that is going to be written and that other cores may have read (compiled with -mprfchw).
static inline void nn__prefetch_for_writing(const void *p) {
    _mm_prefetch((const char *)p, _MM_HINT_ET0);
}

// ---------------------------------------------------------------------------------------------- BLAS (nn_blas.c)

/// Keeps BLAS to the calling thread; parallelism is ours. MEMORY: there is no room for the work area that OpenBLAS
/// takes at its first product: refused that, it asks again for ever.
core_status nn__blas_init(core_error *err);
/// C (m x n) += A B with A (m x k), B (k x n). All matrices row-major; all products add: clearing C first is cheaper
/// than beta = 0 (README).
void nn__blas_multiply(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc);
/// C (m x n) += A^T B with A (k x m), B (k x n).
void nn__blas_multiply_transposed_left(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c,
                                       int ldc);
/// C (m x n) += A B^T with A (m x k), B (n x k).
void nn__blas_multiply_transposed_right(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c,
                                        int ldc);
/// y (m) += A x with A (m x n) row-major, x (n).
void nn__blas_vector(int m, int n, const float *a, int lda, const float *x, float *y);
/// y (n) += A^T x with A (m x n) row-major, x (m).
void nn__blas_vector_transposed(int m, int n, const float *a, int lda, const float *x, float *y);

// ---------------------------------------------------------------------------------------------- inference kernels

/// One instruction set's implementation. A new set is a new file with one of these and a line in the table of
/// nn_kernel.c. The model they get is scaled by nn_kernel.c: activations of QReLU in units of 2e, sums shifted by 1/2
/// (part of the biases), so that c = clamp(z, 0, 1), h = c (z - c/2). The contract all of them keep to the bit, per
/// row, every multiply-add fused:
///
/// - z_l[o] = b_l[o], then += W_l[o][k] h_{l-1}[k] for k = 0, 1, ...;
/// - ReLU: h = z > 0 ? z : 0; QReLU: t = z > 0 ? z : 0, c = t < 1 ? t : 1, h = c (t - c/2), the bracket fused;
/// - outputs are summed like a z; the value is the first, then z < value ? z : value for the others; a is the index of
///   the last one taken;
/// - g_L[o] = ReLU: h_L[o] > 0 ? w_out[a][o] : 0; QReLU: c_L[o] w_out[a][o];
/// - g_{l-1}[k] = 0, then += W_l[o][k] g_l[o] for o = 0, 1, ..., then, for l > 1, ReLU: kept where h_{l-1}[k] > 0, else
///   0; QReLU: times c_{l-1}[k].
///
/// No NaN passes an activation.
typedef struct nn_kernel_ops {
    const char *name;
    bool (*available)(void);
    size_t (*count_packed)(const nn_model *model);      // floats of the packed weights
    void (*pack)(const nn_model *model, float *packed); // packed: 64-byte aligned
    size_t (*scratch_bytes)(const nn_model *model);
    /// gradient may be NULL. See nn_kernel_evaluate.
    void (*evaluate)(const nn_model *model, const float *packed, int n, int stride, const float *x, float *value,
                     float *gradient, void *scratch);
} nn_kernel_ops;

extern const nn_kernel_ops nn__kernel_scalar_ops;
extern const nn_kernel_ops nn__kernel_avx2_ops;
extern const nn_kernel_ops nn__kernel_avx512_ops;

#endif
