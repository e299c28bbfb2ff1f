/// Inference kernels: scalar = AVX2 = AVX-512 to the bit, rows independent of each other, values and gradients those of
/// the double reference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <string.h>

#include "nn_fixture.h"
#include "random_below.h"

/// Kernel outputs at n rows; arrays of the stride, filled with a mark where nothing was written.
typedef struct output {
    float *value, *gradient;
} output;

static output evaluate(const nn_model *model, nn_isa isa, int n, int stride, const float *x, bool with_gradient) {
    nn_kernel *kernel = NULL;
    core_error err = {0};
    if (nn_kernel_create(model, isa, &kernel, &err) != CORE_OK) fail_msg("%s", err.message);
    void *scratch = core_alloc(nn_kernel_scratch_bytes(kernel, n), 1);
    output o = {core_alloc((size_t)stride, sizeof(float)), core_alloc((size_t)(stride * model->inputs), sizeof(float))};
    assert_true(scratch && o.value && o.gradient);
    nn_kernel_evaluate(kernel, n, stride, x, o.value, with_gradient ? o.gradient : NULL, scratch);
    core_free(scratch);
    nn_kernel_destroy(&kernel);
    assert_null(kernel);
    return o;
}

static void output_clear(output *o) {
    core_free(o->value);
    core_free(o->gradient);
}

static uint32_t bits(float v) {
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

/// Same bits at the first n rows.
static void check_same(const nn_model *model, int n, int stride, const output *a, const output *b) {
    for (int i = 0; i < n; i++) {
        if (bits(a->value[i]) != bits(b->value[i]))
            fail_msg("net %d x %d x %d, row %d of %d: value %a and %a", model->inputs, model->width, model->layers, i,
                     n, (double)a->value[i], (double)b->value[i]);
        for (int k = 0; k < model->inputs; k++) {
            float ga = a->gradient[k * stride + i], gb = b->gradient[k * stride + i];
            if (bits(ga) != bits(gb))
                fail_msg("net %d x %d x %d, row %d of %d: gradient %d is %a and %a", model->inputs, model->width,
                         model->layers, i, n, k, (double)ga, (double)gb);
        }
    }
}

static void compare_isas(const nn_model *model, int n, int stride, const float *x) {
    output scalar = evaluate(model, NN_ISA_SCALAR, n, stride, x, true);
    for (nn_isa isa = NN_ISA_AVX2; isa < NN_ISA_BEST; isa++) {
        if (!nn_isa_available(isa)) continue;
        output vector = evaluate(model, isa, n, stride, x, true);
        check_same(model, n, stride, &scalar, &vector);
        // values alone are the same values
        output alone = evaluate(model, isa, n, stride, x, false);
        assert_memory_equal(alone.value, vector.value, (size_t)n * sizeof(float));
        output_clear(&vector);
        output_clear(&alone);
    }
    output_clear(&scalar);
}

/// A random net; every second one has QReLU, corners and heads vary.
static nn_model random_model(int inputs, int width, int layers, int i) {
    static const double corners[] = {0.5, 0.3, 2, 0x1p-10};
    nn_model_def def = nn_model_default_def(inputs, width, layers);
    def.activation = i % 2 ? NN_QRELU : NN_RELU;
    def.corner = corners[i / 2 % 4];
    def.heads = i % 3 ? 1 : 1 + i / 3 % NN_HEADS_MAX;
    return nn_fixture_model_def(&def, (uint64_t)i);
}

static void test_scalar_is_vector(void **state) {
    (void)state;
    if (!nn_isa_available(NN_ISA_AVX2)) skip();
    static const int widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 31, 32, 33, 64, 100, NN_WIDTH_MAX};
    static const int rows[] = {1, 2, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 79, 80, 95, 96, 127, 200};
    core_random random;
    core_random_init(&random, 31, 0);
    for (int i = 0; i < 240; i++) {
        int inputs = 1 + i % NN_INPUTS_MAX, width = widths[random_below(&random, 16)];
        int layers = width > 100 ? 2 : 1 + random_below(&random, NN_LAYERS_MAX);
        int n = rows[i % 21], stride = (n + 15) / 16 * 16 + 16 * random_below(&random, 3);
        nn_model model = random_model(inputs, width, layers, i);
        float *x = nn_fixture_array((size_t)(inputs * stride), &random);
        compare_isas(&model, n, stride, x);
        core_free(x);
        nn_model_clear(&model);
    }
}

/// Zeros of both signs, denormals, numbers that overflow or cancel on the way, infinities and NaN, in inputs and
/// (finite ones) in weights.
static void test_special_values(void **state) {
    (void)state;
    if (!nn_isa_available(NN_ISA_AVX2)) skip();
    static const float special[] = {0,     -0.0f,   FLT_MIN,  -FLT_MIN,  1e-42f, -1e-45f, 1,
                                    -1,    FLT_MAX, -FLT_MAX, 1e20f,     -1e20f, 1e-20f,  FLT_EPSILON,
                                    3e38f, -0.5f,   INFINITY, -INFINITY, NAN,    -NAN};
    enum { FINITE = 16, ALL = 20 };
    core_random random;
    core_random_init(&random, 32, 0);
    int count_nan = 0, count_infinite = 0, count_denormal = 0;
    for (int i = 0; i < 400; i++) {
        int inputs = 1 + i % 7, width = 1 + random_below(&random, 20), n = 48, stride = 48;
        nn_model model = random_model(inputs, width, 1 + i % 4, i);
        for (int j = 0; j < model.count_parameters; j++)
            if (random_below(&random, 3) == 0) model.parameters[j] = special[random_below(&random, FINITE)];
        float *x = nn_fixture_array((size_t)(inputs * stride), &random);
        for (int j = 0; j < inputs * stride; j++)
            if (random_below(&random, 2) == 0) x[j] = special[random_below(&random, ALL)];
        compare_isas(&model, n, stride, x);
        output o = evaluate(&model, NN_ISA_SCALAR, n, stride, x, true);
        for (int j = 0; j < n; j++) {
            count_nan += isnan(o.value[j]) != 0;
            count_infinite += isinf(o.value[j]) != 0;
            count_denormal += fpclassify(o.gradient[j]) == FP_SUBNORMAL;
        }
        output_clear(&o);
        core_free(x);
        nn_model_clear(&model);
    }
    assert_true(count_nan > 0 && count_infinite > 0 && count_denormal > 0); // the cases did occur
}

/// Row i does not depend on the others, on its place, or on how many there are.
static void test_rows_are_independent(void **state) {
    (void)state;
    enum { N = 203, STRIDE = 208 };
    nn_model model = random_model(6, 30, 3, 3 + 6);
    core_random random;
    core_random_init(&random, 33, 0);
    float *x = nn_fixture_array(6 * STRIDE, &random), *y = core_alloc(6 * STRIDE, sizeof(float));
    nn_isa isas[] = {NN_ISA_SCALAR, NN_ISA_BEST};
    for (int kind = 0; kind < 2; kind++) {
        output all = evaluate(&model, isas[kind], N, STRIDE, x, true);
        for (int i = 0; i < STRIDE; i++) // 77 has no divisor in common with 208
            for (int k = 0; k < 6; k++) y[k * STRIDE + i] = x[k * STRIDE + i * 77 % STRIDE];
        output permuted = evaluate(&model, isas[kind], STRIDE, STRIDE, y, true);
        for (int i = 0; i < STRIDE; i++) {
            int from = i * 77 % STRIDE;
            if (from >= N) continue;
            assert_true(bits(permuted.value[i]) == bits(all.value[from]));
            for (int k = 0; k < 6; k++)
                assert_true(bits(permuted.gradient[k * STRIDE + i]) == bits(all.gradient[k * STRIDE + from]));
        }
        for (int n = 1; n < N; n += 13) {
            output first = evaluate(&model, isas[kind], n, STRIDE, x, true);
            check_same(&model, n, STRIDE, &first, &all);
            output_clear(&first);
        }
        output_clear(&permuted);
        output_clear(&all);
    }
    core_free(x);
    core_free(y);
    nn_model_clear(&model);
}

/// Float rounding only: the sums have up to 64 terms of order one, the errors add up over the layers.
static void test_against_reference(void **state) {
    (void)state;
    enum { N = 320 };
    static const int sizes[][3] = {{6, 32, 3}, {13, 16, 2}, {6, 64, 5}, {2, 3, 1}};
    for (int i = 0; i < 16; i++) {
        const int *size = sizes[i % 4];
        int inputs = size[0];
        nn_model_def def = nn_model_default_def(inputs, size[1], size[2]);
        def.activation = i / 4 % 2 ? NN_QRELU : NN_RELU;
        def.corner = i % 3 ? 0.5 : 0.3;
        def.heads = i < 8 ? 1 : 5;
        nn_model model = nn_fixture_model_def(&def, 44);
        core_random random;
        core_random_init(&random, 34, 0);
        float *x = nn_fixture_array((size_t)(inputs * N), &random);
        output o = evaluate(&model, NN_ISA_BEST, N, N, x, true);
        for (int j = 0; j < N; j++) {
            double row[NN_INPUTS_MAX], value, gradient[NN_INPUTS_MAX];
            for (int k = 0; k < inputs; k++) row[k] = x[k * N + j];
            nn_reference_forward(&model, 1, row, &value, gradient);
            if (fabs(o.value[j] - value) > 3e-6)
                fail_msg("net %d row %d: %.9g, reference %.9g", i, j, (double)o.value[j], value);
            for (int k = 0; k < inputs; k++)
                if (fabs(o.gradient[k * N + j] - gradient[k]) > 3e-6)
                    fail_msg("net %d row %d gradient %d: %.9g, reference %.9g", i, j, k, (double)o.gradient[k * N + j],
                             gradient[k]);
        }
        output_clear(&o);
        core_free(x);
        nn_model_clear(&model);
    }
}

/// Equal heads: units max(x0, 0) and max(x1, 0), one head each; where x0 = x1 the first head's gradient counts.
static void test_first_of_equal_heads(void **state) {
    (void)state;
    nn_model_def def = nn_model_default_def(2, 2, 1);
    def.heads = 2;
    nn_model model;
    assert_int_equal(nn_model_create(&def, &model, NULL), CORE_OK);
    const float parameters[] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
    memcpy(model.parameters, parameters, sizeof parameters);
    float x[2 * 48];
    for (int i = 0; i < 48; i++) {
        x[i] = 1;
        x[48 + i] = 0.5f * (float)(i % 3 + 1); // head 1 below, equal, above
    }
    for (nn_isa isa = NN_ISA_SCALAR; isa < NN_ISA_BEST; isa++) {
        if (!nn_isa_available(isa)) continue;
        output o = evaluate(&model, isa, 48, 48, x, true);
        for (int i = 0; i < 48; i++) {
            const bool second = i % 3 == 0;
            assert_true(o.value[i] == (second ? 0.5f : 1));
            assert_true(o.gradient[i] == !second && o.gradient[48 + i] == second);
        }
        output_clear(&o);
    }
    nn_model_clear(&model);
}

/// Nothing outside the first n columns rounded up to 16, and nothing for n = 0.
static void test_writes_stay_inside(void **state) {
    (void)state;
    enum { N = 17, STRIDE = 80 };
    nn_model model = nn_fixture_model(5, 6, 2, 5);
    nn_kernel *kernel = NULL;
    core_random random;
    core_random_init(&random, 35, 0);
    float *x = nn_fixture_array(5 * STRIDE, &random), value[STRIDE], gradient[5 * STRIDE];
    assert_int_equal(nn_kernel_create(&model, NN_ISA_BEST, &kernel, NULL), CORE_OK);
    void *scratch = core_alloc(nn_kernel_scratch_bytes(kernel, N), 1);
    for (int n = 0; n <= N; n += N) {
        for (int i = 0; i < STRIDE; i++) value[i] = 99;
        for (int i = 0; i < 5 * STRIDE; i++) gradient[i] = 99;
        uint64_t before = core_alloc_count();
        nn_kernel_evaluate(kernel, n, STRIDE, x, value, gradient, scratch);
        assert_true(core_alloc_count() == before);
        for (int i = n ? 32 : 0; i < STRIDE; i++) {
            assert_true(value[i] == 99);
            for (int k = 0; k < 5; k++) assert_true(gradient[k * STRIDE + i] == 99);
        }
    }
    core_free(scratch);
    core_free(x);
    nn_kernel_destroy(&kernel);
    nn_model_clear(&model);
}

static void test_create(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(5, 6, 2, 5);
    nn_kernel *kernel = NULL;
    core_error err = {0};
    assert_true(nn_isa_available(NN_ISA_SCALAR) && nn_isa_available(NN_ISA_BEST));
    assert_string_equal(nn_isa_name(NN_ISA_SCALAR), "scalar");
    assert_string_equal(nn_isa_name(NN_ISA_AVX2), "avx2");
    assert_string_equal(nn_isa_name(NN_ISA_AVX512), "avx512");
    nn_isa best = NN_ISA_AVX512;
    while (!nn_isa_available(best)) best--;
    assert_string_equal(nn_isa_name(NN_ISA_BEST), nn_isa_name(best));
    assert_int_equal(nn_kernel_create(&model, (nn_isa)9, &kernel, &err), CORE_UNSUPPORTED);
    assert_int_equal(nn_kernel_create(NULL, NN_ISA_BEST, &kernel, &err), CORE_ARG);
    assert_int_equal(nn_kernel_create(&model, NN_ISA_BEST, NULL, &err), CORE_ARG);
    model.parameters[3] = INFINITY;
    assert_int_equal(nn_kernel_create(&model, NN_ISA_BEST, &kernel, &err), CORE_NONFINITE);
    model.parameters[3] = 0;
    for (nn_isa isa = NN_ISA_SCALAR; isa <= NN_ISA_BEST; isa++) {
        if (!nn_isa_available(isa)) continue;
        core_status status = CORE_MEMORY;
        uint64_t calls = 0;
        while (status == CORE_MEMORY) {
            assert_null(kernel);
            core_alloc_fail_after(++calls);
            status = nn_kernel_create(&model, isa, &kernel, NULL);
        }
        core_alloc_fail_after(0);
        assert_int_equal(status, CORE_OK);
        assert_true(calls > 3);
        nn_kernel_destroy(&kernel);
    }
    nn_kernel_destroy(&kernel);
    nn_kernel_destroy(NULL);
    nn_model_clear(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_is_vector),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_rows_are_independent),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_first_of_equal_heads),
        cmocka_unit_test(test_writes_stay_inside),
        cmocka_unit_test(test_create),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
