/// libnn: small multilayer perceptrons with one output - model, scalar reference, BLAS training with hand-written
/// optimisers, fixed-order inference kernels. Knows matrices, not grains.
#ifndef NN_H
#define NN_H

#include "core.h"
#include "core_h5.h"

#define NN_INPUTS_MAX 16
#define NN_WIDTH_MAX 256
#define NN_LAYERS_MAX 8
#define NN_HEADS_MAX 8

// ---------------------------------------------------------------------------------------------- model

/// What a hidden unit does to its sum z. NN_QRELU is a ReLU with a parabola of half-width e (the corner) around zero:
/// c = clamp(z/(2e) + 1/2, 0, 1), y = c (z + e - e c), y' = c; value and slope are continuous.
typedef enum nn_activation { NN_RELU, NN_QRELU } nn_activation;
/// "relu", "qrelu": how files and options spell it; NULL for anything else.
const char *nn_activation_name(nn_activation activation);
/// RANGE, naming the words there are.
core_status nn_activation_parse(const char *text, nn_activation *activation, core_error *err);

/// What a network is. Fill with nn_model_default_def, then change fields.
typedef struct nn_model_def {
    int inputs;               // 1..NN_INPUTS_MAX
    int width, layers;        // of the hidden layers: 1..NN_WIDTH_MAX, 1..NN_LAYERS_MAX
    int heads;                // 1, at most NN_HEADS_MAX: the net's value is the smallest of so many outputs
    nn_activation activation; // NN_RELU
    double corner;            // .5: half-width e of QReLU's corner, in [2^-10, 2^10]; ReLU ignores it
} nn_model_def;
/// The defaults named above with these sizes.
nn_model_def nn_model_default_def(int inputs, int width, int layers);

/// Weights of `layers` hidden layers of `width` units and `heads` linear outputs. The net's value is the smallest
/// output, the lowest index among equals; its gradient is that of this active head. `{0}` is "nothing". One block of
/// memory: parameters[offset_weight[l]] is W_l (out x in) row-major, parameters[offset_bias[l]] is b_l (out), l =
/// 0..layers (the last is the output).
typedef struct nn_model {
    int inputs, width, layers, heads;
    nn_activation activation;
    float corner; // e; 0 for ReLU
    int count_parameters;
    int offset_weight[NN_LAYERS_MAX + 1];
    int offset_bias[NN_LAYERS_MAX + 1];
    float *parameters; // (count_parameters)
} nn_model;

/// Zero weights. RANGE (names the field), MEMORY.
core_status nn_model_create(const nn_model_def *def, nn_model *model, core_error *err);
/// The def that makes such a model.
nn_model_def nn_model_get_def(const nn_model *model);
/// Deep copy. MEMORY (`to` untouched).
core_status nn_model_copy(const nn_model *from, nn_model *to, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void nn_model_clear(nn_model *model);
/// Hidden layers He-uniform (+-sqrt(6 / inputs of the layer)), output and all biases uniform in +-1/sqrt(inputs of the
/// layer), from `random`.
void nn_model_randomise(nn_model *model, core_random *random);
/// Sizes of layer l: rows out, columns in.
void nn_model_layer_size(const nn_model *model, int l, int *out, int *in);
/// NONFINITE if a weight is not finite.
core_status nn_model_validate(const nn_model *model, core_error *err);
/// Content hash of everything the def says and of the weights.
uint64_t nn_model_hash(const nn_model *model);
/// GROUP/layer0/weight [out,in] float32, GROUP/layer0/bias [out], ..., and GROUP's attributes `activation` (text),
/// `corner` (number, 0 for relu) and `heads` (whole number). The group's other attributes are the caller's.
core_status nn_model_write_h5(core_h5 *file, const char *group, const nn_model *model, core_error *err);
/// Sizes are taken from the datasets and checked against each other and against `heads`. FORMAT, RANGE (corner),
/// UNSUPPORTED (activation), NONFINITE, MEMORY.
core_status nn_model_read_h5(core_h5 *file, const char *group, nn_model *model, core_error *err);

// ---------------------------------------------------------------------------------------------- scalar reference,
// double

/// Value (and gradient with respect to the inputs, NULL allowed) at n rows x (n x inputs), all in double: the
/// independent implementation the fast ones are tested against.
void nn_reference_forward(const nn_model *model, int n, const double *x, double *value, double *input_gradient);

// ---------------------------------------------------------------------------------------------- training

/// Training rows. Borrowed. J = d inputs / d pose. 1 <= n < 2^31, poses <= 16, weights >= 0, every number finite.
typedef struct nn_data {
    int64_t n;
    int inputs;            // columns of x
    int poses;             // columns of jacobian and slope (3 for theta, x, y); 0 without gradient term
    const float *x;        // (n x inputs)
    const float *target;   // (n)
    const float *weight;   // (n) weight of the row in the loss, or NULL for 1
    const float *jacobian; // (n x inputs x poses) row-major, or NULL
    const float *slope;    // (n x poses) wanted derivative of the output with respect to the pose, or NULL
    double clip;           // errors beyond this count linearly in the loss, not by their square; 0: none do
} nn_data;

/// Loss of a batch: 1/n sum_i w_i [ m_i^2 + gradient_weight |J_i^T grad f_i - slope_i|^2 ], m_i = f_i - target_i; where
/// |m_i| is above data->clip = c > 0, c (2 |m_i| - c) in place of m_i^2 (P. Huber, 1964).
/// Scalar reference in double: value and d loss / d parameters (count_parameters). rows: indices into data, or NULL for
/// 0..n-1.
core_status nn_reference_loss(const nn_model *model, const nn_data *data, const int64_t *rows, int64_t n,
                              double gradient_weight, double *loss, double *parameter_gradient, core_error *err);

/// Learning rate over the steps: constant, or half a cosine down to zero behind a warm-up.
typedef enum nn_schedule { NN_SCHEDULE_CONSTANT, NN_SCHEDULE_COSINE } nn_schedule;

/// Adam (Kingma and Ba 2015), or SOAP: Adam run in the eigenbasis of each hidden layer's gradient covariance; biases
/// and output by Adam (nn_soap.c).
typedef enum nn_optimiser { NN_ADAM, NN_SOAP } nn_optimiser;
/// "adam", "soap"; NULL for anything else.
const char *nn_optimiser_name(nn_optimiser optimiser);
/// RANGE, naming the words there are.
core_status nn_optimiser_parse(const char *text, nn_optimiser *optimiser, core_error *err);

/// A training between two steps. Owned by whoever read or copied it.
typedef struct nn_train_state nn_train_state;
/// Accepts NULL.
void nn_train_state_destroy(nn_train_state **state);
/// Deep copy. MEMORY.
core_status nn_train_state_copy(const nn_train_state *from, nn_train_state **to, core_error *err);
/// Steps done and all steps.
void nn_train_state_progress(const nn_train_state *state, int64_t *step, int64_t *steps);
/// GROUP with datasets `parameters`, `best`, `moment1`, `moment2`, `bases` and attributes; some ten times the bytes of
/// the weights.
core_status nn_train_state_write_h5(core_h5 *file, const char *group, const nn_train_state *state, core_error *err);
/// FORMAT, NONFINITE, MEMORY.
core_status nn_train_state_read_h5(core_h5 *file, const char *group, nn_train_state **state, core_error *err);
/// Called by nn_train about 200 times in a training, between two steps (every step of a short one), in the caller's
/// thread: the state is borrowed until it returns. It may write a file each time, or every half minute by its own
/// clock. Anything but CORE_OK ends the training with that status.
typedef core_status (*nn_train_save)(void *user, const nn_train_state *state, core_error *err);

/// How to train. Fill with nn_train_default_def, then change fields.
typedef struct nn_train_def {
    int cookie;
    int layers, width, heads; // 3, 32, 1: see nn_model_def
    nn_activation activation; // NN_RELU
    double corner;            // .5
    double epochs;            // passes over the data; used if seconds is 0
    double seconds; // wall time to aim at: the number of steps is fixed after a short timing run and reported; 0: off
    int batch;      // rows per step, default 1024
    double learning_rate;          // 1e-2
    nn_schedule schedule;          // cosine with 5 % linear warm-up
    double gradient_weight;        // 0.003; 0 switches the term off
    nn_optimiser optimiser;        // NN_ADAM
    double beta1, beta2, eps;      // Adam: .9, .999, 1e-8
    double soap_beta1, soap_beta2; // .95, .99: means of gradients, of their squares and covariances
    int soap_every;                // 10: steps between two updates of the bases
    uint64_t seed;
    int threads;        // shards of a batch are fixed, so the result does not depend on this
    nn_train_save save; // NULL: nobody listens
    void *save_user;
    const nn_train_state *resume; // NULL: from the start; else borrowed, and epochs and seconds are not used
} nn_train_def;
/// The defaults named above.
nn_train_def nn_train_default_def(void);

/// How a training can go wrong.
typedef enum nn_trouble { NN_TROUBLE_NONE, NN_TROUBLE_NONFINITE, NN_TROUBLE_EXPLODED, NN_TROUBLE_DEAD } nn_trouble;
/// "a loss or weight that was not finite", ...: what a sentence calls it; NULL for NN_TROUBLE_NONE and anything else.
const char *nn_trouble_name(nn_trouble trouble);

#define NN_CURVE_MAX 400
/// What happened.
typedef struct nn_train_report {
    int64_t steps;
    double epochs;                // equivalent passes
    double seconds;               // wall
    double loss_first, loss_last; // mean training loss over the first and last 1 % of the steps
    double samples_per_second;
    int64_t dead_units;        // hidden units that are off at each of about a thousand rows, at the end
    double loss_best;          // lowest mean loss of a stretch of steps (200 stretches in a training)
    int64_t best_step;         // its end; 0: the fresh weights
    int64_t recoveries;        // how often it went wrong and went on
    nn_trouble trouble;        // what went wrong last, after which it went on from the best weights at a lower rate
    int64_t trouble_step;      // behind which step; 0: nothing did
    int count_curve;           // stretches, up to NN_CURVE_MAX
    float curve[NN_CURVE_MAX]; // their mean losses
} nn_train_report;

/// Trains a fresh model, or goes on from def->resume. Deterministic for given data, def (epochs) and BLAS core type,
/// whatever the number of threads and however often it was interrupted. steps = epochs x rows / batch, rounded, at
/// least one: the report's epochs give them again. report, progress: NULL allowed. Holds a copy of the rows, 4 (inputs
/// + 2 + poses + inputs x poses) bytes each. Sets BLAS to one thread.
/// @return RANGE (named field); NONFINITE (data); MEMORY; what def->save returned: `model` is {0}, the report
/// untouched. ARG also for a state of other data or another def. A training that goes wrong goes on, up to four times,
/// with the steps that are left: from the weights behind the stretch of steps with the lowest mean loss (fresh ones if
/// best_step is 0), with a fresh optimiser, at .3 of the rate so far behind a new warm-up; the report says so.
/// NOT_CONVERGED (message: step and cause) if it goes wrong once more, or behind its last step: `model` holds the best
/// weights, the report describes the steps done; the caller clears the model. Causes:
/// - the loss of a step or a weight is not finite;
/// - explosion: the mean loss of a stretch (1/200 of the steps) is above 100 times the larger of the fresh weights'
/// loss
///   (at about a thousand rows) and that of a net that is zero everywhere;
/// - death: all units of a hidden layer are off at each of about a thousand rows (looked at 20 times); no failure where
///   the mean target alone leaves less than 1e-4 of the fresh weights' loss.
core_status nn_train(const nn_data *data, const nn_train_def *def, const core_progress *progress, const char *stage,
                     nn_model *model, nn_train_report *report, core_error *err);

/// Work space of one shard of a batch. Exposed for tests and benchmarks.
typedef struct nn_shard nn_shard;
/// For up to `capacity` rows of models of this layout; poses are those of the data, or 0 to leave slopes out. ARG,
/// RANGE, MEMORY.
core_status nn_shard_create(const nn_model *model, int capacity, int poses, nn_shard **shard, core_error *err);
/// Accepts NULL.
void nn_shard_destroy(nn_shard **shard);
/// One shard with BLAS: adds the loss sum (not divided) and gradient sums over the rows to loss, gradient (float,
/// count_parameters). n <= capacity. data is not checked here (nn_train does). rows NULL: 0..n-1. No allocation.
void nn_shard_gradient(nn_shard *shard, const nn_model *model, const nn_data *data, const int64_t *rows, int n,
                       double gradient_weight, double *loss, float *gradient);

/// Adam's state for `n` parameters, float; step() is the textbook update with bias correction.
typedef struct nn_adam {
    int n;
    int64_t step;
    double beta1, beta2, eps;
    float *m, *v; // (n)
} nn_adam;
/// State for the first step. ARG, RANGE, MEMORY.
core_status nn_adam_create(int n, double beta1, double beta2, double eps, nn_adam *adam, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void nn_adam_clear(nn_adam *adam);
/// Back to the first step.
void nn_adam_reset(nn_adam *adam);
/// One step. gradient, parameters: (n). No allocation.
void nn_adam_step(nn_adam *adam, double learning_rate, const float *gradient, float *parameters);

/// SOAP's state for a model's layout. nn_soap_step takes one step; the numbers are those of the def (beta1, beta2, eps
/// for biases and outputs; soap_beta1, soap_beta2, eps, soap_every for hidden weights). With soap_every = 0 the bases
/// stay the axes and the weights take Adam's steps; otherwise their first step is left out (nn_soap.c says why).
typedef struct nn_soap nn_soap;
/// State for the first step. ARG, RANGE, MEMORY.
core_status nn_soap_create(const nn_model *model, const nn_train_def *def, nn_soap **soap, core_error *err);
/// Accepts NULL.
void nn_soap_destroy(nn_soap **soap);
/// Back to the first step.
void nn_soap_reset(nn_soap *soap);
/// One step. gradient, parameters: (count_parameters of the model). No allocation.
void nn_soap_step(nn_soap *soap, double learning_rate, const float *gradient, float *parameters);

/// Name of the BLAS core in use ("Zen", "SkylakeX"), for provenance. Sets BLAS to one thread.
const char *nn_blas_core(void);

// ---------------------------------------------------------------------------------------------- inference

/// Instruction set of the inference kernels. All give the same bits: same operations (fma) in the same order per row.
typedef enum nn_isa { NN_ISA_SCALAR, NN_ISA_AVX2, NN_ISA_AVX512, NN_ISA_BEST } nn_isa;
/// True if this machine can run it.
bool nn_isa_available(nn_isa isa);
/// Name for messages and benchmarks.
const char *nn_isa_name(nn_isa isa);

/// A model laid out for inference; immutable, shared between threads. `{0}` is "nothing".
typedef struct nn_kernel nn_kernel;
/// Lays the weights out (copied). UNSUPPORTED: not on this machine; MEMORY.
core_status nn_kernel_create(const nn_model *model, nn_isa isa, nn_kernel **kernel, core_error *err);
/// Accepts NULL.
void nn_kernel_destroy(nn_kernel **kernel);
/// Bytes of scratch one call needs for up to n rows (64-byte aligned memory, as core_alloc gives).
size_t nn_kernel_scratch_bytes(const nn_kernel *kernel, int n);
/// Values and input gradients of n rows. Row i of the output depends on row i of the input and the weights alone: batch
/// size, order, threads and instruction set change no bit.
/// @param x        [in]  (inputs x stride) column-major rows-in-lanes: x[k * stride + i]
/// @param stride   [in]  >= n, a multiple of 16; entries n .. stride-1 may be anything finite
/// @param value    [out] (stride); n .. stride-1 may be overwritten
/// @param gradient [out] (inputs x stride), same layout as x, or NULL for values alone
/// @param scratch  [-]   nn_kernel_scratch_bytes bytes; one per thread
/// Cost about 2 x 2 x parameters FMA-limited flops per row; no allocation.
void nn_kernel_evaluate(const nn_kernel *kernel, int n, int stride, const float *x, float *value, float *gradient,
                        void *scratch);

#endif
