/// Speed of libnn: peak of the multiply-add units of one core, inference kernels against it, training with and without
/// the gradient term on one and two threads. Prints; fails only if something cannot run. Kernel times are the best of
/// many repetitions, training runs are repeated three times. Built with AVX2; says so and stops where that does not
/// exist.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

#include "unit/nn_fixture.h"

enum { INPUTS = 6, POSES = 3, CHAINS = 12, ROWS = 960, REPEATS = 300 };

static double wall_seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
        double start = wall_seconds();
        for (int i = 0; i < STEPS; i++) {
            a0 = _mm256_fmadd_ps(a0, m, c), a1 = _mm256_fmadd_ps(a1, m, c), a2 = _mm256_fmadd_ps(a2, m, c);
            a3 = _mm256_fmadd_ps(a3, m, c), a4 = _mm256_fmadd_ps(a4, m, c), a5 = _mm256_fmadd_ps(a5, m, c);
            a6 = _mm256_fmadd_ps(a6, m, c), a7 = _mm256_fmadd_ps(a7, m, c), a8 = _mm256_fmadd_ps(a8, m, c);
            a9 = _mm256_fmadd_ps(a9, m, c), a10 = _mm256_fmadd_ps(a10, m, c), a11 = _mm256_fmadd_ps(a11, m, c);
        }
        double seconds = wall_seconds() - start;
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
    float *x = nn_fixture_array((size_t)(INPUTS * rows), &random), *value = core_alloc((size_t)rows, sizeof(float));
    float *gradient = core_alloc((size_t)(INPUTS * rows), sizeof(float));
    void *scratch = core_alloc(nn_kernel_scratch_bytes(kernel, rows), 1);
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double start = wall_seconds();
        nn_kernel_evaluate(kernel, rows, rows, x, value, with_gradient ? gradient : NULL, scratch);
        double seconds = wall_seconds() - start;
        if (seconds < best) best = seconds;
    }
    core_free(x);
    core_free(value);
    core_free(gradient);
    core_free(scratch);
    nn_kernel_destroy(&kernel);
    return best / rows * 1e9;
}

static void bench_kernels(void **state) {
    (void)state;
    double peak = measure_peak();
    printf("multiply-add peak of one core: %.1f GFLOP/s\n", peak);
    for (int width = 32; width <= 64; width += 32) {
        nn_model model = nn_fixture_model(INPUTS, width, 3, 1);
        // forward and backward products, and the output's
        double flops = 2.0 * (2 * (INPUTS * width + 2 * width * width) + width);
        double full = time_kernel(&model, NN_ISA_AVX2, ROWS, true),
               value = time_kernel(&model, NN_ISA_AVX2, ROWS, false);
        printf("3x%d: value and gradient %.1f ns per query (%.1f GFLOP/s, %.0f %% of peak); value alone %.1f ns; "
               "batches of 16: %.1f ns; scalar %.0f ns\n",
               width, full, flops / full, 100 * flops / full / peak, value, time_kernel(&model, NN_ISA_AVX2, 16, true),
               time_kernel(&model, NN_ISA_SCALAR, 96, true));
        nn_model_clear(&model);
    }
}

/// Millions of training rows per second at batch 1024, the best of three runs over about a million rows.
static double time_training(const nn_data *data, int width, double gradient_weight, int threads) {
    double best = 0;
    for (int i = 0; i < 3; i++) {
        nn_train_def def = nn_train_default_def();
        def.width = width;
        def.gradient_weight = gradient_weight;
        def.threads = threads;
        def.epochs = 32e6 / ((double)width * (double)data->n);
        nn_model model;
        nn_train_report report;
        assert_int_equal(nn_train(data, &def, NULL, "bench", &model, &report, NULL), CORE_OK);
        if (report.samples_per_second > best) best = report.samples_per_second;
        nn_model_clear(&model);
    }
    return best * 1e-6;
}

/// Few rows stay in the cache, a million do not.
static void bench_training(void **state) {
    (void)state;
    printf("training on %s, millions of rows per second, with the gradient term (without)\n", nn_blas_core());
    for (int64_t n = 20000; n <= 1000000; n *= 50) {
        nn_rows rows = nn_fixture_rows(n, INPUTS, POSES, 1);
        for (int width = 32; width <= 64; width += 32) {
            printf("%lld rows, 3x%d:", (long long)n, width);
            for (int threads = 1; threads <= 2; threads++)
                printf(" %d thread%s %.2f (%.2f)", threads, threads > 1 ? "s" : "",
                       time_training(&rows.data, width, 0.003, threads), time_training(&rows.data, width, 0, threads));
            printf("\n");
        }
        nn_fixture_rows_clear(&rows);
    }
}

int main(void) {
    if (!nn_isa_available(NN_ISA_AVX2)) {
        printf("this machine has no AVX2\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bench_kernels), cmocka_unit_test(bench_training)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
