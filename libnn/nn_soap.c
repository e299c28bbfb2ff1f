/// SOAP (Vyas et al. 2024): Adam run in the eigenbasis of each hidden layer's gradient covariance. For a layer with
/// gradient G (out x in) the means of G G^T and G^T G are kept; columns of Q_left and Q_right are their eigenvectors,
/// first exact (Jacobi), then followed by one step of orthogonal iteration every few steps. The gradient becomes
/// Q_left^T G Q_right, Adam's moments live there, its step is turned back. Biases and outputs take plain Adam.
///
/// The first step of the weights is left out: in the basis of a single gradient that gradient is diagonal, and Adam
/// would blow the rounding errors beside the diagonal up to full steps.
#include "nn_private.h"

#include <math.h>
#include <string.h>

/// One side of a layer's weights: mean of the covariance and its basis, (n x n), basis vectors in columns.
typedef struct side {
    int n;
    float *covariance, *basis;
} side;

typedef struct layer {
    int offset; // of the weights
    side left, right;
    float *m, *v; // (left.n x right.n) moments in the basis, in adam's arrays
} layer;

struct nn_soap {
    int count_layers, every;
    double beta1, beta2;
    layer layers[NN_LAYERS_MAX];
    nn_adam adam;          // its arrays hold all moments, its step counts all steps
    size_t count_bases;    // floats of all covariances and bases
    float *bases;          // (count_bases)
    float *rotated, *turn; // (largest layer) gradient in the basis, then the step; scratch of the rotations
    double *work;          // (2 n^2 + 2 n) of the largest side
    int *order;            // (largest side)
    float *rest;           // (parameters) step of what is no weight
};

static void set_identity(side *s) {
    for (int i = 0; i < s->n; i++) s->basis[i * s->n + i] = 1;
}

core_status nn_soap_create(const nn_model *model, const nn_train_def *def, nn_soap **soap, core_error *err) {
    core_status status = CORE_OK;
    nn_soap *s = NULL;
    CORE_CHECK(model && def && soap, CORE_ARG, "nn_soap_create: null argument");
    CORE_CHECK(def->soap_beta1 >= 0 && def->soap_beta1 < 1, CORE_RANGE, "SOAP soap_beta1: %g is not in [0, 1)",
               def->soap_beta1);
    CORE_CHECK(def->soap_beta2 >= 0 && def->soap_beta2 < 1, CORE_RANGE, "SOAP soap_beta2: %g is not in [0, 1)",
               def->soap_beta2);
    CORE_CHECK(def->soap_every >= 0, CORE_RANGE, "SOAP soap_every: %d is not at least 0", def->soap_every);
    CORE_TRY(nn__blas_init(err));
    CORE_NEW_DONE(s, 1);
    s->count_layers = model->layers;
    s->every = def->soap_every;
    s->beta1 = def->soap_beta1;
    s->beta2 = def->soap_beta2;
    CORE_TRY_DONE(nn_adam_create(model->count_parameters, def->beta1, def->beta2, def->eps, &s->adam, err));
    size_t width = (size_t)model->width, widest = width > (size_t)model->inputs ? width : (size_t)model->inputs;
    for (int l = 0; l < model->layers; l++) {
        layer *at = &s->layers[l];
        at->offset = model->offset_weight[l];
        nn_model_layer_size(model, l, &at->left.n, &at->right.n);
        at->m = s->adam.m + at->offset;
        at->v = s->adam.v + at->offset;
        s->count_bases += 2 * (size_t)(at->left.n * at->left.n + at->right.n * at->right.n);
    }
    CORE_NEW_DONE(s->bases, s->count_bases);
    CORE_NEW_DONE(s->rotated, widest * widest);
    CORE_NEW_DONE(s->turn, widest * widest);
    CORE_NEW_DONE(s->work, 2 * widest * widest + 2 * widest);
    CORE_NEW_DONE(s->order, widest);
    CORE_NEW_DONE(s->rest, (size_t)model->count_parameters);
    float *next = s->bases;
    for (int l = 0; l < model->layers; l++) {
        side *sides[] = {&s->layers[l].left, &s->layers[l].right};
        for (int i = 0; i < 2; i++) {
            sides[i]->covariance = next;
            sides[i]->basis = next + sides[i]->n * sides[i]->n;
            next += 2 * sides[i]->n * sides[i]->n;
        }
    }
    nn_soap_reset(s);
    *soap = s;
    s = NULL;
done:
    nn_soap_destroy(&s);
    return status;
}

void nn_soap_destroy(nn_soap **soap) {
    if (!soap || !*soap) return;
    nn_adam_clear(&(*soap)->adam);
    core_free((*soap)->bases);
    core_free((*soap)->rotated);
    core_free((*soap)->turn);
    core_free((*soap)->work);
    core_free((*soap)->order);
    core_free((*soap)->rest);
    core_free(*soap);
    *soap = NULL;
}

void nn_soap_reset(nn_soap *soap) {
    nn_adam_reset(&soap->adam);
    memset(soap->bases, 0, soap->count_bases * sizeof(float));
    for (int l = 0; l < soap->count_layers; l++) {
        set_identity(&soap->layers[l].left);
        set_identity(&soap->layers[l].right);
    }
}

nn_adam *nn__soap_adam(nn_soap *soap) {
    return &soap->adam;
}

float *nn__soap_bases(nn_soap *soap, int64_t *count) {
    *count = (int64_t)soap->count_bases;
    return soap->bases;
}

// ---------------------------------------------------------------------------------------------- bases

/// out = Q_left^T in Q_right, or back: Q_left in Q_right^T. turn: scratch.
static void rotate(const layer *at, bool back, const float *in, float *turn, float *out) {
    int m = at->left.n, n = at->right.n;
    size_t bytes = (size_t)(m * n) * sizeof(float);
    memset(turn, 0, bytes);
    (back ? nn__blas_multiply : nn__blas_multiply_transposed_left)(m, n, m, at->left.basis, m, in, n, turn, n);
    memset(out, 0, bytes);
    (back ? nn__blas_multiply_transposed_right : nn__blas_multiply)(m, n, n, turn, n, at->right.basis, n, out, n);
}

/// Means of G G^T and G^T G. scaled: scratch.
static void update_covariances(const layer *at, double beta2, const float *gradient, float *scaled) {
    int m = at->left.n, n = at->right.n;
    float keep = (float)beta2, factor = (float)sqrt(1 - beta2);
    for (int i = 0; i < m * n; i++) scaled[i] = factor * gradient[i];
    for (int i = 0; i < m * m; i++) at->left.covariance[i] *= keep;
    for (int i = 0; i < n * n; i++) at->right.covariance[i] *= keep;
    nn__blas_multiply_transposed_right(m, m, n, scaled, n, scaled, n, at->left.covariance, m);
    nn__blas_multiply_transposed_left(n, n, m, scaled, n, scaled, n, at->right.covariance, n);
}

/// The exact eigenbasis.
static void find_basis(nn_soap *soap, side *s) {
    int count = s->n * s->n;
    double *a = soap->work, *q = a + count;
    for (int i = 0; i < count; i++) a[i] = (double)s->covariance[i];
    nn__eigenbasis(s->n, a, q);
    for (int i = 0; i < count; i++) s->basis[i] = (float)q[i];
}

/// Basis vectors by falling Rayleigh quotient (Q^T C Q)_jj into soap->order; product is C Q.
static void sort_basis(nn_soap *soap, const side *s, const float *product) {
    int n = s->n, *order = soap->order;
    double *quotient = soap->work + 2 * n * n;
    for (int j = 0; j < n; j++) quotient[j] = 0;
    for (int i = 0; i < n * n; i++) quotient[i % n] += (double)s->basis[i] * (double)product[i];
    for (int j = 0; j < n; j++) {
        int at = j;
        for (; at > 0 && quotient[order[at - 1]] < quotient[j]; at--) order[at] = order[at - 1];
        order[at] = j;
    }
}

/// One step of orthogonal iteration, Q = orthonormalised C Q, vectors sorted first. The order of the moments' rows or
/// columns is that of soap->order afterwards.
static void follow_basis(nn_soap *soap, side *s) {
    int n = s->n;
    float *product = soap->turn;
    double *a = soap->work, *q = a + n * n;
    memset(product, 0, (size_t)(n * n) * sizeof(float));
    nn__blas_multiply(n, n, n, s->covariance, n, s->basis, n, product, n);
    sort_basis(soap, s, product);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = (double)product[i * n + soap->order[j]];
    nn__orthonormalise(n, a, q, q + n * n);
    for (int i = 0; i < n * n; i++) s->basis[i] = (float)q[i];
}

/// New bases; first moments are turned along, second ones follow the order of the basis vectors.
static void refresh(nn_soap *soap, const layer *at, bool exact) {
    layer now = *at;
    int m = at->left.n, n = at->right.n;
    float *kept = soap->rotated;
    size_t bytes = (size_t)(m * n) * sizeof(float);
    if (exact) { // no moments yet
        find_basis(soap, &now.left);
        find_basis(soap, &now.right);
        return;
    }
    rotate(at, true, at->m, soap->turn, kept);
    memcpy(at->m, kept, bytes);
    follow_basis(soap, &now.left);
    for (int i = 0; i < m; i++) memcpy(kept + i * n, at->v + soap->order[i] * n, (size_t)n * sizeof(float));
    follow_basis(soap, &now.right);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) at->v[i * n + j] = kept[i * n + soap->order[j]];
    rotate(at, false, at->m, soap->turn, kept);
    memcpy(at->m, kept, bytes);
}

// ---------------------------------------------------------------------------------------------- step

/// Weights of one layer.
static void step_layer(nn_soap *soap, const layer *at, double learning_rate, const float *gradient, float *parameters) {
    int count = at->left.n * at->right.n;
    const float *g = gradient + at->offset;
    float *p = parameters + at->offset, *rotated = soap->rotated;
    int64_t step = soap->adam.step, first = soap->every > 0 ? 1 : 0; // steps left out
    if (first > 0) update_covariances(at, soap->beta2, g, soap->turn);
    if (step == first) {
        refresh(soap, at, true);
        return;
    }
    nn_adam_rates rates = nn__adam_rates(soap->beta1, soap->beta2, soap->adam.eps, step - first, learning_rate);
    rotate(at, false, g, soap->turn, rotated);
    nn__adam_move(count, &rates, at->m, at->v, rotated);
    rotate(at, true, rotated, soap->turn, rotated);
    for (int i = 0; i < count; i++) p[i] -= rotated[i];
    if (first > 0 && step % soap->every == 0) refresh(soap, at, false);
}

void nn_soap_step(nn_soap *soap, double learning_rate, const float *gradient, float *parameters) {
    nn_adam *adam = &soap->adam;
    adam->step++;
    nn_adam_rates rates = nn__adam_rates(adam->beta1, adam->beta2, adam->eps, adam->step, learning_rate);
    int done = 0; // parameters before
    for (int l = 0; l <= soap->count_layers; l++) {
        // what lies between two layers' weights: biases; behind the last ones, the outputs too
        int end = l < soap->count_layers ? soap->layers[l].offset : adam->n, count = end - done;
        memcpy(soap->rest, gradient + done, (size_t)count * sizeof(float));
        nn__adam_move(count, &rates, adam->m + done, adam->v + done, soap->rest);
        for (int i = 0; i < count; i++) parameters[done + i] -= soap->rest[i];
        if (l == soap->count_layers) break;
        step_layer(soap, &soap->layers[l], learning_rate, gradient, parameters);
        done = end + soap->layers[l].left.n * soap->layers[l].right.n;
    }
}
