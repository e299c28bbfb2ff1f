/// Network sizes, initial weights, hash and files.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nn_fixture.h"

static void test_layout(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(6, 32, 3, 1);
    assert_int_equal(model.count_parameters, 6 * 32 + 32 + 2 * (32 * 32 + 32) + 32 + 1);
    int out, in;
    nn_model_layer_size(&model, 0, &out, &in);
    assert_true(out == 32 && in == 6);
    nn_model_layer_size(&model, 3, &out, &in);
    assert_true(out == 1 && in == 32);
    assert_int_equal(model.offset_weight[0], 0);
    assert_int_equal(model.offset_bias[0], 192);
    assert_int_equal(model.offset_weight[1], 224);
    assert_int_equal(model.offset_bias[3], model.count_parameters - 1);
    nn_model_clear(&model);
    assert_null(model.parameters);
    nn_model_clear(&model);
    nn_model_clear(NULL);
}

static void check_refused(int inputs, int width, int layers, const char *field) {
    core_error err = {0};
    nn_model model = {.width = 77};
    const nn_model_def def = nn_model_default_def(inputs, width, layers);
    assert_int_equal(nn_model_create(&def, &model, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, field));
    assert_int_equal(model.width, 77);
}

static void test_bad_sizes(void **state) {
    (void)state;
    check_refused(0, 32, 3, "inputs: 0");
    check_refused(NN_INPUTS_MAX + 1, 32, 3, "inputs: 17");
    check_refused(6, 0, 3, "width: 0");
    check_refused(6, NN_WIDTH_MAX + 1, 3, "width: 257");
    check_refused(6, 32, 0, "layers: 0");
    check_refused(6, 32, NN_LAYERS_MAX + 1, "layers: 9");
    const nn_model_def def = nn_model_default_def(6, 32, 3);
    assert_int_equal(nn_model_create(&def, NULL, NULL), CORE_ARG);
    core_error err = {0};
    nn_model none = {0}, to;
    static const struct {
        int heads, activation;
        double corner;
        const char *text;
    } bad[] = {{0, NN_RELU, 0.5, "heads: 0"}, {9, NN_RELU, 0.5, "heads: 9"},     {1, 7, 0.5, "activation: 7"},
               {1, NN_QRELU, 0, "corner: 0"}, {1, NN_QRELU, NAN, "corner: nan"}, {1, NN_QRELU, 2000, "corner: 2000"}};
    for (int i = 0; i < 6; i++) {
        nn_model_def other = def;
        other.heads = bad[i].heads;
        other.activation = (nn_activation)bad[i].activation;
        other.corner = bad[i].corner;
        assert_int_equal(nn_model_create(&other, &to, &err), CORE_RANGE);
        assert_non_null(strstr(err.message, bad[i].text));
    }
    assert_int_equal(nn_model_create(NULL, &to, NULL), CORE_ARG);
    assert_int_equal(nn_model_copy(&none, &to, NULL), CORE_ARG);
    assert_int_equal(nn_model_validate(&none, NULL), CORE_ARG);
}

static void test_names(void **state) {
    (void)state;
    nn_activation activation = NN_RELU;
    core_error err = {0};
    assert_string_equal(nn_activation_name(NN_RELU), "relu");
    assert_null(nn_activation_name((nn_activation)2));
    assert_int_equal(nn_activation_parse("qrelu", &activation, &err), CORE_OK);
    assert_int_equal(activation, NN_QRELU);
    assert_int_equal(nn_activation_parse("QReLU", &activation, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "found 'QReLU', expected relu or qrelu"));
    assert_int_equal(nn_activation_parse(NULL, &activation, &err), CORE_ARG);
}

/// Bounds of the uniform draws, and their second moments (a third of the bound's square).
static void test_initial_weights(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(6, 200, 3, 5);
    for (int l = 0; l <= 3; l++) {
        int out, in;
        nn_model_layer_size(&model, l, &out, &in);
        double bound = l < 3 ? sqrt(6.0 / in) : sqrt(1.0 / in), largest = 0, square = 0;
        for (int i = 0; i < out * in; i++) {
            double w = model.parameters[model.offset_weight[l] + i];
            largest = fmax(largest, fabs(w));
            square += w * w / (out * in);
        }
        assert_true(largest <= bound * 1.0000001 && largest > 0.95 * bound);
        assert_true(fabs(square / (bound * bound / 3) - 1) < 5 / sqrt(out * in));
        for (int i = 0; i < out; i++)
            assert_true(fabsf(model.parameters[model.offset_bias[l] + i]) <= 1.0000001 / sqrt(in));
    }
    nn_model same = nn_fixture_model(6, 200, 3, 5), other = nn_fixture_model(6, 200, 3, 6);
    assert_true(nn_model_hash(&model) == nn_model_hash(&same));
    assert_true(nn_model_hash(&model) != nn_model_hash(&other));
    nn_model_clear(&model);
    nn_model_clear(&same);
    nn_model_clear(&other);
}

static void test_copy_and_hash(void **state) {
    (void)state;
    nn_model model = nn_fixture_model(4, 9, 2, 1), copy;
    assert_int_equal(nn_model_copy(&model, &copy, NULL), CORE_OK);
    assert_ptr_not_equal(model.parameters, copy.parameters);
    assert_true(nn_model_hash(&model) == nn_model_hash(&copy));
    copy.activation = NN_QRELU;
    assert_true(nn_model_hash(&model) != nn_model_hash(&copy));
    copy.corner = 0.5f;
    uint64_t half = nn_model_hash(&copy);
    copy.corner = 0.25f;
    assert_true(nn_model_hash(&copy) != half);
    copy.corner = 0;
    copy.activation = NN_RELU;
    copy.parameters[copy.count_parameters - 1] += 1;
    assert_true(nn_model_hash(&model) != nn_model_hash(&copy));
    nn_model_clear(&copy);

    // all parameters zero: the sizes alone tell two models of 25 parameters apart
    nn_model a, b;
    const nn_model_def four = nn_model_default_def(4, 4, 1), eight = nn_model_default_def(1, 8, 1);
    assert_int_equal(nn_model_create(&four, &a, NULL), CORE_OK);
    assert_int_equal(nn_model_create(&eight, &b, NULL), CORE_OK);
    assert_int_equal(a.count_parameters, b.count_parameters);
    assert_true(nn_model_hash(&a) != nn_model_hash(&b));
    nn_model_clear(&a);
    nn_model_clear(&b);
    nn_model_clear(&model);
}

static void test_validate_names_the_weight(void **state) {
    (void)state;
    core_error err = {0};
    nn_model model = nn_fixture_model(4, 9, 2, 1);
    assert_int_equal(nn_model_validate(&model, &err), CORE_OK);
    model.parameters[model.offset_weight[1] + 17] = NAN;
    assert_int_equal(nn_model_validate(&model, &err), CORE_NONFINITE);
    assert_non_null(strstr(err.message, "layer 1: weight 17"));
    model.parameters[model.offset_weight[1] + 17] = 0;
    model.parameters[model.offset_bias[2]] = INFINITY;
    assert_int_equal(nn_model_validate(&model, &err), CORE_NONFINITE);
    assert_non_null(strstr(err.message, "layer 2: bias 0"));
    nn_model_clear(&model);
}

// ---------------------------------------------------------------------------------------------- files

/// Writes the model into net.h5 under /net; returns the path.
static const char *write_model(char path[TEST_PATH_MAX], const nn_model *model) {
    core_h5 *file;
    test_folder_path(path, "net.h5");
    assert_int_equal(core_h5_create(path, "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(nn_model_write_h5(file, "/net", model, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    return path;
}

static core_status read_model(const char *path, const char *group, nn_model *model, core_error *err) {
    core_h5 *file;
    assert_int_equal(core_h5_open(path, "cem.test", 1, &file, NULL), CORE_OK);
    core_status status = nn_model_read_h5(file, group, model, err);
    core_h5_close(&file);
    return status;
}

static void test_file_round_trip(void **state) {
    (void)state;
    static const int sizes[][3] = {{6, 32, 3}, {1, 1, 1}, {NN_INPUTS_MAX, 5, NN_LAYERS_MAX}};
    char path[TEST_PATH_MAX];
    for (int i = 0; i < 3; i++) {
        nn_model_def def = nn_model_default_def(sizes[i][0], sizes[i][1], sizes[i][2]);
        def.activation = i == 1 ? NN_RELU : NN_QRELU;
        def.corner = i == 0 ? 0.5 : 0.3;
        def.heads = 1 + 7 * i / 2;
        nn_model model = nn_fixture_model_def(&def, 9), read = {0};
        assert_int_equal(read_model(write_model(path, &model), "/net", &read, NULL), CORE_OK);
        assert_int_equal(read.layers, model.layers);
        assert_true(read.activation == model.activation && read.corner == model.corner && read.heads == def.heads);
        assert_true(nn_model_hash(&read) == nn_model_hash(&model));
        nn_model_clear(&model);
        nn_model_clear(&read);
    }
}

static void test_unwritable_model(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_h5 *file;
    nn_model model = nn_fixture_model(2, 3, 1, 9);
    assert_int_equal(core_h5_create(test_folder_path(path, "nan.h5"), "cem.test", 1, &file, NULL), CORE_OK);
    model.parameters[0] = NAN;
    assert_int_equal(nn_model_write_h5(file, "/net", &model, NULL), CORE_NONFINITE);
    model.parameters[0] = 0;
    char group[600];
    memset(group, 'a', sizeof group);
    group[0] = '/';
    group[599] = 0;
    assert_int_equal(nn_model_write_h5(file, group, &model, NULL), CORE_ARG);
    core_h5_abandon(&file);
    nn_model_clear(&model);
}

/// One dataset of a broken file.
typedef struct part {
    const char *name;
    int rank;
    size_t dims[2];
} part;

/// Writes the parts (zeros, or NaN in the last element of the last one) and reads them as a model.
static void check_broken(const part *parts, int count, bool nan, core_status expected, const char *text) {
    static float zeros[1024];
    char path[TEST_PATH_MAX];
    core_h5 *file;
    core_error err = {0};
    nn_model model = {0};
    assert_int_equal(core_h5_create(test_folder_path(path, "broken.h5"), "cem.test", 1, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_group(file, "/net", NULL, NULL), CORE_OK);
    for (int i = 0; i < count; i++) {
        size_t last = parts[i].dims[0] * (parts[i].rank > 1 ? parts[i].dims[1] : 1) - 1;
        zeros[last] = nan && i == count - 1 ? NAN : 0;
        assert_int_equal(
            core_h5_write(file, parts[i].name, CORE_H5_F32, parts[i].rank, parts[i].dims, zeros, NULL, NULL, NULL),
            CORE_OK);
        zeros[last] = 0;
    }
    assert_int_equal(core_h5_set_text(file, "/net", "activation", "relu", NULL), CORE_OK);
    assert_int_equal(core_h5_set_number(file, "/net", "corner", 0, NULL), CORE_OK);
    assert_int_equal(core_h5_set_integer(file, "/net", "heads", 1, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    core_status status = read_model(path, "/net", &model, &err);
    if (status != expected || (text && !strstr(err.message, text)))
        fail_msg("status %d, expected %d; message '%s', expected '%s'", status, expected, err.message, text);
    assert_null(model.parameters);
}

static void test_broken_files(void **state) {
    (void)state;
    const part weight0 = {"/net/layer0/weight", 2, {3, 2}}, bias0 = {"/net/layer0/bias", 1, {3}};
    const part weight1 = {"/net/layer1/weight", 2, {1, 3}}, bias1 = {"/net/layer1/bias", 1, {1}};
    const part wide = {"/net/layer0/weight", 2, {NN_WIDTH_MAX + 1, 2}}, many = {"/net/layer0/weight", 2, {3, 17}};
    const part flat = {"/net/layer0/weight", 1, {6}};
    const part other1 = {"/net/layer1/weight", 2, {1, 4}}, two1 = {"/net/layer1/weight", 2, {2, 3}};
    const part long0 = {"/net/layer0/bias", 1, {4}}, square0 = {"/net/layer0/bias", 2, {3, 1}};
    const part hidden = {"/net/layer1/weight", 2, {4, 3}}, after = {"/net/layer2/weight", 2, {1, 4}};
    check_broken(NULL, 0, false, CORE_FORMAT, "0 layers");
    check_broken((part[]){weight0, bias0}, 2, false, CORE_FORMAT, "1 layers");
    check_broken((part[]){wide, bias0, weight1, bias1}, 4, false, CORE_FORMAT, "layer0/weight is [257, 2]");
    check_broken((part[]){many, bias0, weight1, bias1}, 4, false, CORE_FORMAT, "layer0/weight is [3, 17]");
    check_broken((part[]){flat, bias0, weight1, bias1}, 4, false, CORE_FORMAT, "1 dimensions");
    check_broken((part[]){weight0, bias0, other1, bias1}, 4, false, CORE_FORMAT, "[1, 4], expected [1, 3]");
    check_broken((part[]){weight0, bias0, two1, bias1}, 4, false, CORE_FORMAT, "[2, 3], expected [1, 3]");
    check_broken((part[]){weight0, bias0, hidden, after}, 4, false, CORE_FORMAT, "[4, 3], expected [3, 3]");
    check_broken((part[]){weight0, long0, weight1, bias1}, 4, false, CORE_FORMAT, "layer0/bias");
    check_broken((part[]){weight0, square0, weight1, bias1}, 4, false, CORE_FORMAT, "layer0/bias");
    check_broken((part[]){weight0, bias0, weight1}, 3, false, CORE_FORMAT, "layer1/bias");
    check_broken((part[]){weight0, bias0, bias1, weight1}, 4, true, CORE_NONFINITE, "layer1/weight");
}

/// Writes a net of 3 inputs, 4 units and 2 heads with these attributes (NULL: left out) and reads it.
static void check_attributes(const char *activation, double corner, int64_t heads, core_status expected,
                             const char *text) {
    static const float zeros[16];
    char path[TEST_PATH_MAX];
    core_h5 *file;
    core_error err = {0};
    nn_model model = {0};
    assert_int_equal(core_h5_create(test_folder_path(path, "attributes.h5"), "cem.test", 1, &file, NULL), CORE_OK);
    const part parts[] = {{"/net/layer0/weight", 2, {4, 3}},
                          {"/net/layer0/bias", 1, {4}},
                          {"/net/layer1/weight", 2, {2, 4}},
                          {"/net/layer1/bias", 1, {2}}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            core_h5_write(file, parts[i].name, CORE_H5_F32, parts[i].rank, parts[i].dims, zeros, NULL, NULL, NULL),
            CORE_OK);
    if (activation) assert_int_equal(core_h5_set_text(file, "/net", "activation", activation, NULL), CORE_OK);
    assert_int_equal(core_h5_set_number(file, "/net", "corner", corner, NULL), CORE_OK);
    assert_int_equal(core_h5_set_integer(file, "/net", "heads", heads, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    core_status status = read_model(path, "/net", &model, &err);
    if (status != expected || (text && !strstr(err.message, text)))
        fail_msg("status %d, expected %d; message '%s', expected '%s'", status, expected, err.message, text);
    nn_model_clear(&model);
}

static void test_attributes(void **state) {
    (void)state;
    check_attributes("qrelu", 0.5, 2, CORE_OK, NULL);
    check_attributes("relu", 0, 2, CORE_OK, NULL);
    check_attributes(NULL, 0, 2, CORE_FORMAT, "activation");
    check_attributes("tanh", 0, 2, CORE_UNSUPPORTED, "found 'tanh', expected relu or qrelu");
    check_attributes("relu", 0.5, 2, CORE_RANGE, "corner is 0.5, expected 0");
    check_attributes("qrelu", 0, 2, CORE_RANGE, "corner is 0, expected");
    check_attributes("qrelu", NAN, 2, CORE_RANGE, "corner is nan");
    check_attributes("qrelu", 0.5, 0, CORE_RANGE, "heads is 0");
    check_attributes("qrelu", 0.5, 9, CORE_RANGE, "heads is 9");
    check_attributes("qrelu", 0.5, 3, CORE_FORMAT, "layer1/weight is [2, 4], expected [3, 4]");
}

static void test_too_many_layers(void **state) {
    (void)state;
    part parts[NN_LAYERS_MAX + 2];
    char names[NN_LAYERS_MAX + 2][32];
    for (int i = 0; i < NN_LAYERS_MAX + 2; i++) {
        snprintf(names[i], sizeof names[i], "/net/layer%d/weight", i);
        parts[i] = (part){names[i], 2, {1, 1}};
    }
    check_broken(parts, NN_LAYERS_MAX + 2, false, CORE_FORMAT, "layers, expected 2..9");
}

static void test_allocation_failures(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    nn_model model, copy = {0}, source = nn_fixture_model(2, 3, 2, 1);
    core_alloc_fail_after(1);
    const nn_model_def def = nn_model_default_def(2, 3, 2);
    assert_int_equal(nn_model_create(&def, &model, NULL), CORE_MEMORY);
    core_alloc_fail_after(1);
    assert_int_equal(nn_model_copy(&source, &copy, NULL), CORE_MEMORY);
    assert_null(copy.parameters);

    core_h5 *file;
    assert_int_equal(core_h5_open(write_model(path, &source), "cem.test", 1, &file, NULL), CORE_OK);
    core_status status = CORE_MEMORY;
    for (uint64_t i = 1; status == CORE_MEMORY; i++) {
        assert_true(i < 100);
        core_alloc_fail_after(i);
        status = nn_model_read_h5(file, "/net", &copy, NULL);
        if (i == 1) assert_int_equal(status, CORE_MEMORY);
        if (status != CORE_OK) assert_null(copy.parameters);
    }
    core_alloc_fail_after(0);
    assert_int_equal(status, CORE_OK);
    core_h5_close(&file);
    nn_model_clear(&copy);
    nn_model_clear(&source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),          cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_initial_weights),
        cmocka_unit_test(test_copy_and_hash),   cmocka_unit_test(test_validate_names_the_weight),
        cmocka_unit_test(test_file_round_trip), cmocka_unit_test(test_unwritable_model),
        cmocka_unit_test(test_broken_files),    cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_too_many_layers), cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
