/// BLAS loss and gradient of a shard against the scalar reference; Adam against a table computed by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "nn_fixture.h"

/// Float rounding (6e-8) grown by sums of some hundred terms, in the norm of the gradient.
#define TOLERANCE 2e-6

/// Shard of `n` rows against the reference, with an offset in what is added to.
static void check_shard(int inputs, int width, int layers, int poses, double gamma, int n, int capacity, bool pick,
                        nn_activation activation, int heads, double clip) {
    nn_model_def def = nn_model_default_def(inputs, width, layers);
    def.activation = activation;
    def.heads = heads;
    nn_model model = nn_fixture_model_def(&def, 21);
    nn_rows rows = nn_fixture_rows(400, inputs, poses, 22);
    rows.data.clip = clip;
    int64_t indices[400];
    for (int i = 0; i < n; i++) indices[i] = (i * 37 + 5) % 400;
    const int64_t *chosen = pick ? indices : NULL;
    size_t count = (size_t)model.count_parameters;
    double expected, *reference = core_alloc(count, sizeof(double));
    assert_int_equal(nn_reference_loss(&model, &rows.data, chosen, n, gamma, &expected, reference, NULL), CORE_OK);

    nn_shard *shard = NULL;
    float *gradient = core_alloc(count, sizeof(float));
    double loss = 10, norm = 0;
    for (size_t j = 0; j < count; j++) {
        gradient[j] = 1;
        norm += reference[j] * reference[j] * n * n;
    }
    assert_int_equal(nn_shard_create(&model, capacity, poses, &shard, NULL), CORE_OK);
    nn_shard_gradient(shard, &model, &rows.data, chosen, n, gamma, &loss, gradient);
    assert_true(fabs(loss - 10 - n * expected) < TOLERANCE * n * expected);
    for (size_t j = 0; j < count; j++)
        if (!(fabs(gradient[j] - 1 - n * reference[j]) <= TOLERANCE * (sqrt(norm) + 1)))
            fail_msg("parameter %zu, net %d x %d x %d, %d heads, %s, %d rows, gamma %g: %.9g, reference %.9g, norm %g",
                     j, inputs, width, layers, heads, nn_activation_name(activation), n, gamma, (double)gradient[j] - 1,
                     n * reference[j], sqrt(norm));

    // the workspace is clean for the next rows: the same again gives the same
    float *again = core_alloc(count, sizeof(float));
    for (size_t j = 0; j < count; j++) again[j] = 1;
    nn_shard_gradient(shard, &model, &rows.data, chosen, n, gamma, &loss, again);
    assert_memory_equal(again, gradient, count * sizeof(float));

    nn_shard_destroy(&shard);
    assert_null(shard);
    nn_shard_destroy(&shard);
    core_free(again);
    core_free(gradient);
    core_free(reference);
    nn_fixture_rows_clear(&rows);
    nn_model_clear(&model);
}

static void test_against_reference(void **state) {
    (void)state;
    for (int heads = 1; heads <= 4; heads += 3) {
        for (int i = 0; i < 2; i++) {
            const nn_activation kind = i ? NN_QRELU : NN_RELU;
            check_shard(6, 32, 3, 3, 0.5, 128, 128, true, kind, heads, 0);
            check_shard(6, 32, 3, 3, 0.003, 128, 128, false, kind, heads, 0);
            check_shard(6, 32, 3, 3, 0, 128, 128, true, kind, heads, 0);
            check_shard(6, 32, 3, 0, 0.5, 128, 128, true, kind, heads, 0);
            check_shard(6, 32, 3, 3, 0.5, 1, 128, true, kind, heads, 0);
            check_shard(6, 32, 3, 3, 0.5, 77, 99, true, kind, heads, 0);
            check_shard(13, 16, 2, 2, 0.5, 100, 128, true, kind, heads, 0);
            check_shard(1, 1, 1, 1, 0.5, 33, 40, true, kind, heads, 0);
            check_shard(16, 3, 8, 16, 0.5, 200, 200, true, kind, heads, 0);
            check_shard(4, 100, 1, 3, 0.5, 128, 128, true, kind, heads, 0);
            check_shard(4, 64, 5, 3, 0.5, 128, 128, true, kind, heads, 0);
        }
    }
    check_shard(6, 32, 3, 3, 0.5, 128, 128, true, NN_QRELU, NN_HEADS_MAX, 0);
    check_shard(6, 32, 3, 3, 0, 128, 128, true, NN_QRELU, 1, 0.7);
    check_shard(6, 32, 3, 3, 0.5, 77, 99, true, NN_RELU, 1, 0.7);
    check_shard(6, 32, 3, 3, 0.5, 77, 99, true, NN_QRELU, 4, 0.7);
}

static void test_weights_default_to_one(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(6, 8, 2, 21);
    nn_rows rows = nn_fixture_rows(50, 6, 3, 22);
    for (int i = 0; i < 50; i++) rows.weight[i] = 1;
    nn_shard *shard = NULL;
    size_t bytes = (size_t)model.count_parameters * sizeof(float);
    float *with = core_alloc(1, bytes), *without = core_alloc(1, bytes);
    double loss_with = 0, loss_without = 0;
    assert_int_equal(nn_shard_create(&model, 64, 3, &shard, NULL), CORE_OK);
    nn_shard_gradient(shard, &model, &rows.data, NULL, 50, 0.1, &loss_with, with);
    rows.data.weight = NULL;
    nn_shard_gradient(shard, &model, &rows.data, NULL, 50, 0.1, &loss_without, without);
    assert_true(loss_with == loss_without);
    assert_memory_equal(with, without, bytes);
    nn_shard_destroy(&shard);
    core_free(with);
    core_free(without);
    nn_fixture_rows_clear(&rows);
    nn_model_clear(&model);
}

static void test_shard_create_fails(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(6, 8, 2, 21);
    nn_shard *shard = NULL;
    assert_int_equal(nn_shard_create(&model, 0, 3, &shard, NULL), CORE_RANGE);
    assert_int_equal(nn_shard_create(&model, 64, -1, &shard, NULL), CORE_RANGE);
    assert_int_equal(nn_shard_create(NULL, 64, 3, &shard, NULL), CORE_ARG);
    core_status status = CORE_MEMORY;
    uint64_t calls = 1;
    for (; status == CORE_MEMORY; calls++) {
        core_alloc_fail_after(calls);
        status = nn_shard_create(&model, 64, 3, &shard, NULL);
        if (status != CORE_OK) assert_null(shard);
    }
    core_alloc_fail_after(0);
    assert_int_equal(status, CORE_OK);
    assert_true(calls > 3);

    nn_rows rows = nn_fixture_rows(64, 6, 3, 22);
    float *gradient = core_alloc((size_t)model.count_parameters, sizeof(float));
    double loss = 0;
    uint64_t before = core_alloc_count();
    nn_shard_gradient(shard, &model, &rows.data, NULL, 64, 0.1, &loss, gradient);
    assert_true(core_alloc_count() == before);
    core_free(gradient);
    nn_fixture_rows_clear(&rows);
    nn_shard_destroy(&shard);
    nn_model_clear(&model);
}

// ---------------------------------------------------------------------------------------------- Adam

/// Two parameters from 1, rate .1, beta .9 and .999, eps 1e-8. Columns: gradients, m, v, parameter; decimal arithmetic
/// of 40 digits.
static void test_adam_table(void **state) {
    (void)state;
    static const struct {
        float gradient[2];
        double m[2], v[2], p[2];
    } table[] = {
        {{1, 1e-3f}, {0.1, 0.0001}, {0.001, 1e-9}, {0.900000000999, 0.900000999990}},
        {{0.5, -2e-3f}, {0.14, -0.00011}, {0.001249, 4.999e-9}, {0.806782038298, 0.936611121185}},
        {{-0.25, 4e-3f}, {0.101, 0.000301}, {0.001310251, 2.0994001e-8}, {0.750415901496, 0.894645717903}},
        {{0, 0}, {0.0909, 0.0002709}, {0.001308940749, 2.0973006999e-8}, {0.704244192109, 0.860270233180}},
    };
    nn_adam adam;
    float p[2] = {1, 1};
    assert_int_equal(nn_adam_create(2, 0.9, 0.999, 1e-8, &adam, NULL), CORE_OK);
    for (int t = 0; t < 4; t++) {
        nn_adam_step(&adam, 0.1, table[t].gradient, p);
        for (int i = 0; i < 2; i++) {
            if (!(fabs(adam.m[i] / table[t].m[i] - 1) < 1e-6 && fabs(adam.v[i] / table[t].v[i] - 1) < 1e-6 &&
                  fabs(p[i] - table[t].p[i]) < 5e-7))
                fail_msg("step %d parameter %d: m %.9g v %.9g p %.9g", t + 1, i, (double)adam.m[i], (double)adam.v[i],
                         (double)p[i]);
        }
    }
    assert_int_equal(adam.step, 4);
    nn_adam_clear(&adam);
    assert_null(adam.m);
    nn_adam_clear(NULL);
}

static void test_adam_arguments(void **state) {
    (void)state;
    nn_adam adam = {.n = 5};
    core_error err = {0};
    assert_int_equal(nn_adam_create(2, 1, 0.999, 1e-8, &adam, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "beta1"));
    assert_int_equal(nn_adam_create(2, 0.9, -0.1, 1e-8, &adam, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "beta2"));
    assert_int_equal(nn_adam_create(2, 0.9, 0.999, NAN, &adam, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "eps"));
    assert_int_equal(nn_adam_create(-1, 0.9, 0.999, 1e-8, &adam, &err), CORE_RANGE);
    for (uint64_t i = 1; i <= 2; i++) {
        core_alloc_fail_after(i);
        assert_int_equal(nn_adam_create(2, 0.9, 0.999, 1e-8, &adam, NULL), CORE_MEMORY);
    }
    core_alloc_fail_after(0);
    assert_int_equal(adam.n, 5);
    assert_int_equal(nn_adam_create(0, 0.9, 0.999, 1e-8, &adam, NULL), CORE_OK);
    nn_adam_step(&adam, 0.1, NULL, NULL);
    nn_adam_clear(&adam);
}

static void test_blas_core_has_a_name(void **state) {
    (void)state;
    assert_non_null(nn_blas_core());
    assert_true(strlen(nn_blas_core()) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),  cmocka_unit_test(test_weights_default_to_one),
        cmocka_unit_test(test_shard_create_fails), cmocka_unit_test(test_adam_table),
        cmocka_unit_test(test_adam_arguments),     cmocka_unit_test(test_blas_core_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
