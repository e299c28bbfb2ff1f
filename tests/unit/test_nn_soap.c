/// SOAP: Adam where the bases are the axes, Adam in the right basis where that basis is known, indifferent to rotations
/// of the parameters, faster than Adam where these are mixed; its linear algebra.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "nn_fixture.h"
#include "nn_private.h"

enum { N = 8 }; // square weights of the problems below

/// One hidden layer of N units with N inputs: parameters 0 .. N*N-1 are its weights.
static nn_model square_model(void) {
    return nn_fixture_model(N, N, 1, 3);
}

static nn_train_def soap_def(int every) {
    nn_train_def def = nn_train_default_def();
    def.soap_every = every;
    return def;
}

static nn_soap *create(const nn_model *model, const nn_train_def *def) {
    nn_soap *soap = NULL;
    core_error err = {0};
    if (nn_soap_create(model, def, &soap, &err) != CORE_OK) fail_msg("%s", err.message);
    return soap;
}

/// out = a b, or a^T b, or a b^T; square of size n.
static void product(int n, const double *a, bool transpose_a, const double *b, bool transpose_b, double *out) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                out[i * n + j] +=
                    (transpose_a ? a[k * n + i] : a[i * n + k]) * (transpose_b ? b[j * n + k] : b[k * n + j]);
        }
    }
}

/// A random orthogonal matrix.
static void random_rotation(int n, core_random *random, double *q) {
    double *a = core_alloc((size_t)(n * n + 2 * n), sizeof(double));
    for (int i = 0; i < n * n; i++) a[i] = core_random_normal(random);
    nn__orthonormalise(n, a, q, a + n * n);
    core_free(a);
}

// ---------------------------------------------------------------------------------------------- linear algebra

static void check_orthogonal(int n, const double *q) {
    double *square = core_alloc((size_t)(n * n), sizeof(double));
    product(n, q, true, q, false, square);
    for (int i = 0; i < n * n; i++)
        if (!(fabs(square[i] - (i / n == i % n)) < 1e-13)) fail_msg("(Q^T Q)[%d] of size %d is %.17g", i, n, square[i]);
    core_free(square);
}

/// Random symmetric matrices of any rank: Q^T A Q is diagonal.
static void test_eigenbasis(void **state) {
    (void)state;
    core_random random;
    core_random_init(&random, 41, 0);
    for (int n = 1; n <= 40; n += n < 8 ? 1 : 16) {
        for (int rank = 0; rank <= n; rank += n > 4 ? n / 4 : 1) {
            size_t count = (size_t)(n * n);
            double *a = core_alloc(count, sizeof(double)), *kept = core_alloc(count, sizeof(double));
            double *q = core_alloc(count, sizeof(double)), *half = core_alloc(count, sizeof(double));
            for (int r = 0; r < rank; r++) {
                double v[40];
                for (int i = 0; i < n; i++) v[i] = core_random_normal(&random);
                for (int i = 0; i < n * n; i++) a[i] += v[i / n] * v[i % n];
            }
            memcpy(kept, a, count * sizeof(double));
            nn__eigenbasis(n, a, q);
            check_orthogonal(n, q);
            product(n, q, true, kept, false, half);
            product(n, half, false, q, false, a);
            for (int i = 0; i < n * n; i++)
                if (i / n != i % n && !(fabs(a[i]) < 1e-12 * n))
                    fail_msg("size %d rank %d: (Q^T A Q)[%d] is %g", n, rank, i, a[i]);
            core_free(a);
            core_free(kept);
            core_free(q);
            core_free(half);
        }
    }
}

/// Q is orthogonal for any matrix, and Q^T A is upper triangular.
static void test_orthonormalise(void **state) {
    (void)state;
    core_random random;
    core_random_init(&random, 42, 0);
    for (int n = 1; n <= 33; n += 8) {
        for (int zeros = 0; zeros <= 2; zeros++) { // none, one column, all
            size_t count = (size_t)(n * n);
            double *a = core_alloc(count, sizeof(double)), *kept = core_alloc(count, sizeof(double));
            double *q = core_alloc(count, sizeof(double)), *row = core_alloc(2 * (size_t)n, sizeof(double));
            for (int i = 0; i < n * n; i++) {
                a[i] = zeros == 2 || (zeros == 1 && i % n == n / 2) ? 0 : core_random_normal(&random);
                kept[i] = a[i];
            }
            nn__orthonormalise(n, a, q, row);
            check_orthogonal(n, q);
            product(n, q, true, kept, false, a);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) assert_true(fabs(a[i * n + j]) < 1e-13 * n);
            core_free(a);
            core_free(kept);
            core_free(q);
            core_free(row);
        }
    }
}

// ---------------------------------------------------------------------------------------------- steps

/// Bases that stay the axes, Adam's own numbers: Adam's bits.
static void test_axes_are_adam(void **state) {
    (void)state;
    nn_model_def net = nn_model_default_def(5, 7, 3);
    net.heads = 2;
    nn_model a = nn_fixture_model_def(&net, 1), b = nn_fixture_model_def(&net, 1);
    nn_train_def def = soap_def(0);
    def.soap_beta1 = def.beta1;
    def.soap_beta2 = def.beta2;
    nn_soap *soap = create(&a, &def);
    nn_adam adam;
    assert_int_equal(nn_adam_create(b.count_parameters, def.beta1, def.beta2, def.eps, &adam, NULL), CORE_OK);
    core_random random;
    core_random_init(&random, 43, 0);
    size_t bytes = (size_t)a.count_parameters * sizeof(float);
    for (int round = 0; round < 2; round++) { // and again after a reset
        for (int t = 0; t < 25; t++) {
            float *gradient = nn_fixture_array((size_t)a.count_parameters, &random);
            nn_soap_step(soap, 0.01, gradient, a.parameters);
            nn_adam_step(&adam, 0.01, gradient, b.parameters);
            core_free(gradient);
            assert_memory_equal(a.parameters, b.parameters, bytes);
        }
        nn_soap_reset(soap);
        nn_adam_reset(&adam);
    }
    nn_soap_destroy(&soap);
    assert_null(soap);
    nn_adam_clear(&adam);
    nn_model_clear(&a);
    nn_model_clear(&b);
}

/// Gradients U D_t V^T with diagonal D_t: covariances are U <D^2> U^T and V <D^2> V^T. The weights must move by U s
/// V^T, s Adam's steps with the numbers on the diagonal. eps keeps rounding errors beside the diagonal from becoming
/// steps.
static void test_known_covariance(void **state) {
    (void)state;
    nn_model model = square_model();
    nn_train_def def = soap_def(3);
    def.eps = 0.01;
    nn_soap *soap = create(&model, &def);
    nn_adam adam;
    assert_int_equal(nn_adam_create(N, def.soap_beta1, def.soap_beta2, def.eps, &adam, NULL), CORE_OK);
    core_random random;
    core_random_init(&random, 44, 0);
    double u[N * N], v[N * N], step[N * N] = {0}, half[N * N], full[N * N], start[N * N];
    random_rotation(N, &random, u);
    random_rotation(N, &random, v);
    for (int i = 0; i < N * N; i++) start[i] = (double)model.parameters[i];
    float *gradient = core_alloc((size_t)model.count_parameters, sizeof(float)), moved[N] = {0};
    for (int t = 0; t < 40; t++) {
        double d[N * N] = {0};
        float diagonal[N];
        for (int i = 0; i < N; i++) {
            d[i * N + i] = (1 + i) * (0.9 + 0.2 * core_random_uniform(&random));
            diagonal[i] = (float)d[i * N + i];
        }
        product(N, u, false, d, false, half);
        product(N, half, false, v, true, full);
        for (int i = 0; i < N * N; i++) gradient[i] = (float)full[i];
        nn_soap_step(soap, 0.01, gradient, model.parameters);
        if (t > 0) nn_adam_step(&adam, 0.01, diagonal, moved); // the first step is left out
        for (int i = 0; i < N; i++) step[i * N + i] = (double)moved[i];
        product(N, u, false, step, false, half);
        product(N, half, false, v, true, full);
        for (int i = 0; i < N * N; i++)
            if (!(fabs((double)model.parameters[i] - start[i] - full[i]) < 2e-4 * 0.01 * (t + 1)))
                fail_msg("step %d weight %d moved by %.7f, expected %.7f", t, i, (double)model.parameters[i] - start[i],
                         full[i]);
    }
    core_free(gradient);
    nn_soap_destroy(&soap);
    nn_adam_clear(&adam);
    nn_model_clear(&model);
}

/// The quadratic |A (W - C) B|^2 / 2 with A, B of given condition, turned by random rotations.
typedef struct quadratic {
    double a[N * N], b[N * N], c[N * N]; // A^T A, B B^T, C
} quadratic;

static quadratic make_quadratic(double condition, uint64_t seed) {
    quadratic f;
    core_random random;
    core_random_init(&random, seed, 0);
    double *sides[] = {f.a, f.b};
    for (int s = 0; s < 2; s++) {
        double q[N * N], d[N * N] = {0}, half[N * N];
        random_rotation(N, &random, q);
        for (int i = 0; i < N; i++) d[i * N + i] = pow(condition, -(double)i / (N - 1));
        product(N, q, false, d, false, half);
        product(N, half, false, q, true, sides[s]);
    }
    for (int i = 0; i < N * N; i++) f.c[i] = core_random_normal(&random);
    return f;
}

/// Value, and gradient A^T A (W - C) B B^T.
static double evaluate(const quadratic *f, const double *w, double *gradient) {
    double miss[N * N], half[N * N], value = 0;
    for (int i = 0; i < N * N; i++) miss[i] = w[i] - f->c[i];
    product(N, f->a, false, miss, false, half);
    product(N, half, false, f->b, false, gradient);
    for (int i = 0; i < N * N; i++) value += 0.5 * gradient[i] * miss[i];
    return value;
}

/// Minimises from zero in coordinates W' = P W R^T; the result is turned back. every < 0: Adam.
static double minimise(const quadratic *f, const double *p, const double *r, int every, int steps, double rate,
                       double *w) {
    nn_model model = square_model();
    nn_train_def def = soap_def(every < 0 ? 0 : every);
    def.eps = 1e-4; // well above rounding errors of the gradient
    if (every < 0) def.soap_beta1 = def.beta1, def.soap_beta2 = def.beta2;
    nn_soap *soap = create(&model, &def);
    float *gradient = core_alloc((size_t)model.count_parameters, sizeof(float));
    double turned[N * N], half[N * N], full[N * N], value = 0;
    memset(model.parameters, 0, (size_t)model.count_parameters * sizeof(float));
    for (int t = 0; t <= steps; t++) {
        for (int i = 0; i < N * N; i++) turned[i] = (double)model.parameters[i];
        product(N, p, true, turned, false, half);
        product(N, half, false, r, false, w);
        value = evaluate(f, w, full);
        product(N, p, false, full, false, half);
        product(N, half, false, r, true, turned);
        for (int i = 0; i < N * N; i++) gradient[i] = (float)turned[i];
        if (t < steps) nn_soap_step(soap, rate * (1 - (double)t / steps), gradient, model.parameters);
    }
    core_free(gradient);
    nn_soap_destroy(&soap);
    nn_model_clear(&model);
    return value;
}

static double distance(const double *a, const double *b) {
    double square = 0;
    for (int i = 0; i < N * N; i++) square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square);
}

/// Turned parameters give turned iterates; Adam's go elsewhere.
static void test_rotation(void **state) {
    (void)state;
    enum { STEPS = 25 };
    core_random random;
    core_random_init(&random, 45, 0);
    double p[N * N], r[N * N], axes[N * N] = {0}, w[N * N], turned[N * N];
    for (int i = 0; i < N; i++) axes[i * N + i] = 1;
    random_rotation(N, &random, p);
    random_rotation(N, &random, r);
    const quadratic f = make_quadratic(4, 46);
    static const int every[] = {1, 10, -1};
    for (int i = 0; i < 3; i++) {
        minimise(&f, axes, axes, every[i], STEPS, 0.02, w);
        minimise(&f, p, r, every[i], STEPS, 0.02, turned);
        double zero[N * N] = {0}, apart = distance(w, turned) / distance(w, zero);
        if (every[i] > 0 ? apart > 2e-3 : apart < 0.1)
            fail_msg("every %d: iterates differ by %g of the way", every[i], apart);
    }
}

/// A mixed ill-conditioned problem: SOAP ends well below Adam with the same steps and rates.
static void test_faster_than_adam(void **state) {
    (void)state;
    double axes[N * N] = {0}, w[N * N];
    for (int i = 0; i < N; i++) axes[i * N + i] = 1;
    const quadratic f = make_quadratic(100, 47);
    double soap = minimise(&f, axes, axes, 10, 1500, 0.02, w), adam = minimise(&f, axes, axes, -1, 1500, 0.02, w);
    if (!(soap < 0.1 * adam)) fail_msg("SOAP ends at %g, Adam at %g", soap, adam);
}

// ---------------------------------------------------------------------------------------------- arguments

static void test_arguments(void **state) {
    (void)state;
    nn_model model = square_model();
    nn_soap *soap = NULL;
    core_error err = {0};
    nn_train_def def = soap_def(10);
    assert_int_equal(nn_soap_create(NULL, &def, &soap, &err), CORE_ARG);
    assert_int_equal(nn_soap_create(&model, NULL, &soap, &err), CORE_ARG);
    def.soap_beta1 = 1;
    assert_int_equal(nn_soap_create(&model, &def, &soap, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "soap_beta1"));
    def = soap_def(10);
    def.soap_beta2 = NAN;
    assert_int_equal(nn_soap_create(&model, &def, &soap, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "soap_beta2"));
    def = soap_def(-1);
    assert_int_equal(nn_soap_create(&model, &def, &soap, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "soap_every"));
    def = soap_def(10);
    core_status status = CORE_MEMORY;
    uint64_t calls = 0;
    while (status == CORE_MEMORY) {
        core_alloc_fail_after(++calls);
        status = nn_soap_create(&model, &def, &soap, NULL);
        if (status != CORE_OK) assert_null(soap);
    }
    core_alloc_fail_after(0);
    assert_int_equal(status, CORE_OK);
    assert_true(calls > 6);

    float *gradient = core_alloc((size_t)model.count_parameters, sizeof(float));
    uint64_t before = core_alloc_count();
    for (int t = 0; t < 12; t++) nn_soap_step(soap, 0.1, gradient, model.parameters); // zero gradients: nothing moves
    assert_true(core_alloc_count() == before);
    nn_model fresh = square_model();
    assert_true(nn_model_hash(&model) == nn_model_hash(&fresh));
    core_free(gradient);
    nn_soap_destroy(&soap);
    nn_soap_destroy(NULL);
    nn_model_clear(&fresh);
    nn_model_clear(&model);

    nn_optimiser optimiser = NN_ADAM;
    assert_int_equal(nn_optimiser_parse("soap", &optimiser, &err), CORE_OK);
    assert_true(optimiser == NN_SOAP);
    assert_string_equal(nn_optimiser_name(NN_ADAM), "adam");
    assert_null(nn_optimiser_name((nn_optimiser)2));
    assert_int_equal(nn_optimiser_parse("sgd", &optimiser, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "found 'sgd', expected adam or soap"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigenbasis),    cmocka_unit_test(test_orthonormalise),
        cmocka_unit_test(test_axes_are_adam), cmocka_unit_test(test_known_covariance),
        cmocka_unit_test(test_rotation),      cmocka_unit_test(test_faster_than_adam),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
