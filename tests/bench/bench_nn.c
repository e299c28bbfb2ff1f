/// Speed of libnn: peak of the multiply-add units of one core, inference kernels against it, training with and without
/// the gradient term on one thread (processor time) and two (wall time: idle processors needed). Prints; fails only if
/// something cannot run. Kernel times are the best of many repetitions, training runs are repeated three times. Built
/// with AVX2; says so and stops where that does not exist.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

#include "unit/nn_fixture.h"

enum { INPUTS = 6, POSES = 3, CHAINS = 12, ROWS = 960, REPEATS = 1000 };

/// GFLOP/s of independent chains of fused multiply-adds: latency 4 x 2 units need 8 chains.
static double measure_peak(void) {
    enum { STEPS = 200000 };
    const __m256 m = _mm256_set1_ps(0.999f), c = _mm256_set1_ps(1e-3f);
    double best = 1e9;
    volatile float sink = 0, first = 1; // unknown to the compiler, which would merge equal chains
    for (int repeat = 0; repeat < 50; repeat++) {
        __m256 a0 = _mm256_set1_ps(first), a1 = _mm256_set1_ps(first), a2 = _mm256_set1_ps(first);
        __m256 a3 = _mm256_set1_ps(first), a4 = _mm256_set1_ps(first), a5 = _mm256_set1_ps(first);
        __m256 a6 = _mm256_set1_ps(first), a7 = _mm256_set1_ps(first), a8 = _mm256_set1_ps(first);
        __m256 a9 = _mm256_set1_ps(first), a10 = _mm256_set1_ps(first), a11 = _mm256_set1_ps(first);
        double start = core_wall_seconds();
        for (int i = 0; i < STEPS; i++) {
            a0 = _mm256_fmadd_ps(a0, m, c), a1 = _mm256_fmadd_ps(a1, m, c), a2 = _mm256_fmadd_ps(a2, m, c);
            a3 = _mm256_fmadd_ps(a3, m, c), a4 = _mm256_fmadd_ps(a4, m, c), a5 = _mm256_fmadd_ps(a5, m, c);
            a6 = _mm256_fmadd_ps(a6, m, c), a7 = _mm256_fmadd_ps(a7, m, c), a8 = _mm256_fmadd_ps(a8, m, c);
            a9 = _mm256_fmadd_ps(a9, m, c), a10 = _mm256_fmadd_ps(a10, m, c), a11 = _mm256_fmadd_ps(a11, m, c);
        }
        double seconds = core_wall_seconds() - start;
        if (seconds < best) best = seconds;
        __m256 sum = _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(a0, a1), _mm256_add_ps(a2, a3)),
                                   _mm256_add_ps(_mm256_add_ps(a4, a5), _mm256_add_ps(a6, a7)));
        sum = _mm256_add_ps(sum, _mm256_add_ps(_mm256_add_ps(a8, a9), _mm256_add_ps(a10, a11)));
        sink += _mm256_cvtss_f32(sum);
    }
    return (double)STEPS * CHAINS * 8 * 2 / best * 1e-9;
}

/// Best time of one evaluation of `rows` rows, per row, in ns.
static double time_kernel(const nn_model *model, nn_isa isa, int rows, bool with_gradient) {
    core_random random;
    core_random_init(&random, 1, 1);
    nn_kernel *kernel = NULL;
    assert_int_equal(nn_kernel_create(model, isa, &kernel, NULL), CORE_OK);
    size_t inputs = (size_t)(model->inputs * rows);
    float *x = nn_fixture_array(inputs, &random), *value = core_alloc((size_t)rows, sizeof(float));
    float *gradient = core_alloc(inputs, sizeof(float));
    void *scratch = core_alloc(nn_kernel_scratch_bytes(kernel, rows), 1);
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double start = core_wall_seconds();
        nn_kernel_evaluate(kernel, rows, rows, x, value, with_gradient ? gradient : NULL, scratch);
        double seconds = core_wall_seconds() - start;
        if (seconds < best) best = seconds;
    }
    core_free(x);
    core_free(value);
    core_free(gradient);
    core_free(scratch);
    nn_kernel_destroy(&kernel);
    return best / rows * 1e9;
}

/// One line of the table: ns per query and per cent of the peak (multiply-adds of the products alone).
static void print_kernel(double peak, int inputs, int width, int layers, int heads, nn_activation activation) {
    nn_model_def def = nn_model_default_def(inputs, width, layers);
    def.heads = heads;
    def.activation = activation;
    nn_model model = nn_fixture_model_def(&def, 1);
    double hidden = inputs * width + (layers - 1) * width * width, flops = 2.0 * (hidden + heads * width);
    double value = time_kernel(&model, NN_ISA_BEST, ROWS, false), full = time_kernel(&model, NN_ISA_BEST, ROWS, true);
    printf("%dx%-3d %2d inputs %d head%s %-5s: value and gradient %6.1f ns, %3.0f %%; value alone %6.1f ns, %3.0f %%; "
           "batches of 16 %6.1f ns\n",
           layers, width, inputs, heads, heads > 1 ? "s" : " ", nn_activation_name(activation), full,
           100 * (flops + 2 * hidden) / full / peak, value, 100 * flops / value / peak,
           time_kernel(&model, NN_ISA_BEST, 16, true));
    nn_model_clear(&model);
}

static void bench_kernels(void **state) {
    (void)state;
    double peak = measure_peak();
    printf("multiply-add peak of one core: %.1f GFLOP/s (AVX2); kernels: %s, best of %d, per query\n", peak,
           nn_isa_name(NN_ISA_BEST), REPEATS);
    for (int width = 32; width <= 64; width += 32) {
        for (int i = 0; i < 2; i++) {
            const nn_activation activation = i ? NN_QRELU : NN_RELU;
            print_kernel(peak, INPUTS, width, 3, 1, activation);
            print_kernel(peak, INPUTS, width, 3, 4, activation);
        }
    }
    print_kernel(peak, 13, 16, 2, 1, NN_QRELU);
    nn_model model = nn_fixture_model(INPUTS, 32, 3, 1);
    printf("3x32 scalar: %.0f ns\n", time_kernel(&model, NN_ISA_SCALAR, 96, true));
    nn_model_clear(&model);
}

/// What a training of one thread is timed with.
typedef struct setting {
    int width, heads;
    nn_activation activation;
    nn_optimiser optimiser;
    double gradient_weight;
} setting;

/// Million rows per second of a training of about four million rows, the best of three: of processor time (one thread)
/// or of wall time.
static double time_training(const nn_data *data, const setting *s, int threads) {
    double best = 0;
    for (int i = 0; i < 3; i++) {
        nn_train_def def = nn_train_default_def();
        def.width = s->width;
        def.heads = s->heads;
        def.activation = s->activation;
        def.optimiser = s->optimiser;
        def.gradient_weight = s->gradient_weight;
        def.threads = threads;
        def.epochs = 128e6 / ((double)s->width * (double)data->n);
        nn_model model;
        nn_train_report report;
        clock_t start = clock();
        assert_int_equal(nn_train(data, &def, NULL, "bench", &model, &report, NULL), CORE_OK);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        double rate = threads > 1 ? report.samples_per_second : (double)(report.steps * def.batch) / seconds;
        if (rate > best) best = rate;
        nn_model_clear(&model);
    }
    return best * 1e-6;
}

/// Multiply-adds of a row's training, times two: products forward and backward and for the weights' gradient; with the
/// gradient term one more for ReLU, three for QReLU, and the products with the first layer's transpose.
static double training_flops(const setting *s) {
    double first = INPUTS * s->width, hidden = 2.0 * s->width * s->width, out = s->heads * s->width;
    if (s->gradient_weight == 0) return 2 * (2 * first + 3 * hidden + 3 * out);
    return 2 * ((s->activation == NN_QRELU ? 5 : 4) * first + (s->activation == NN_QRELU ? 6 : 4) * hidden + 4 * out);
}

/// What torch_speed.py compares with.
static void bench_plain_training(void **state) {
    (void)state;
    const setting plain = {32, 1, NN_RELU, NN_ADAM, 0};
    nn_rows rows = nn_fixture_rows(20000, INPUTS, 0, 1);
    printf("3x32 relu adam: %.3f million rows a second of processor time\n", time_training(&rows.data, &plain, 1));
    nn_fixture_rows_clear(&rows);
}

/// Few rows stay in the cache, a million do not.
static void bench_training(void **state) {
    (void)state;
    static const setting settings[] = {
        {32, 1, NN_RELU, NN_ADAM, 0},      {32, 1, NN_RELU, NN_ADAM, 0.003},  {32, 1, NN_QRELU, NN_ADAM, 0.003},
        {32, 1, NN_QRELU, NN_SOAP, 0.003}, {32, 4, NN_QRELU, NN_SOAP, 0.003}, {64, 1, NN_RELU, NN_ADAM, 0.003},
        {64, 1, NN_QRELU, NN_SOAP, 0.003},
    };
    double peak = measure_peak();
    nn_rows few = nn_fixture_rows(20000, INPUTS, POSES, 1), many = nn_fixture_rows(1000000, INPUTS, POSES, 1);
    printf("training on %s, batch 1024, million rows a second of processor time (per cent of %.1f GFLOP/s)\n",
           nn_blas_core(), peak);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const setting *s = &settings[i];
        double a = time_training(&few.data, s, 1), b = time_training(&many.data, s, 1);
        printf("3x%d %d head%s %-5s %s%s: %.2f (%.0f %%) of 20,000 rows, %.2f of 1,000,000; wall, two threads to one: "
               "%.2f\n",
               s->width, s->heads, s->heads > 1 ? "s" : " ", nn_activation_name(s->activation),
               nn_optimiser_name(s->optimiser), s->gradient_weight > 0 ? " + gradient term" : "", a,
               100 * a * 1e-3 * training_flops(s) / peak, b, time_training(&few.data, s, 2) / a);
    }
    nn_fixture_rows_clear(&few);
    nn_fixture_rows_clear(&many);
}

/// With an argument: the figure for torch_speed.py alone.
int main(int argc, char **argv) {
    (void)argv;
    if (!nn_isa_available(NN_ISA_AVX2)) {
        printf("this machine has no AVX2\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bench_kernels), cmocka_unit_test(bench_training)};
    const struct CMUnitTest speed[] = {cmocka_unit_test(bench_plain_training)};
    if (argc > 1) return cmocka_run_group_tests(speed, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
