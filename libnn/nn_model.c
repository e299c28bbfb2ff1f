/// The weights of a small multilayer perceptron: one block of memory, layer by layer, weights before biases; files.
#include "nn_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 256 };

core_status nn__size_check(int inputs, int width, int layers, core_error *err) {
    CORE_CHECK(inputs >= 1 && inputs <= NN_INPUTS_MAX, CORE_RANGE, "network inputs: %d is not in 1..%d", inputs,
               NN_INPUTS_MAX);
    CORE_CHECK(width >= 1 && width <= NN_WIDTH_MAX, CORE_RANGE, "network width: %d is not in 1..%d", width,
               NN_WIDTH_MAX);
    CORE_CHECK(layers >= 1 && layers <= NN_LAYERS_MAX, CORE_RANGE, "network layers: %d is not in 1..%d", layers,
               NN_LAYERS_MAX);
    return CORE_OK;
}

/// Sizes and offsets of a model without its parameters.
static nn_model describe(int inputs, int width, int layers) {
    nn_model model = {.inputs = inputs, .width = width, .layers = layers};
    for (int l = 0; l <= layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(&model, l, &n_out, &n_in);
        model.offset_weight[l] = model.count_parameters;
        model.offset_bias[l] = model.count_parameters + n_out * n_in;
        model.count_parameters += n_out * n_in + n_out;
    }
    return model;
}

core_status nn_model_create(int inputs, int width, int layers, nn_model *model, core_error *err) {
    CORE_CHECK(model, CORE_ARG, "nn_model_create: null argument");
    CORE_TRY(nn__size_check(inputs, width, layers, err));
    nn_model made = describe(inputs, width, layers);
    made.parameters = core_alloc((size_t)made.count_parameters, sizeof(float));
    CORE_CHECK(made.parameters, CORE_MEMORY, "out of memory: %d network parameters", made.count_parameters);
    *model = made;
    return CORE_OK;
}

core_status nn_model_copy(const nn_model *from, nn_model *to, core_error *err) {
    CORE_CHECK(from && to && from->parameters, CORE_ARG, "nn_model_copy: null argument or no model");
    CORE_TRY(nn_model_create(from->inputs, from->width, from->layers, to, err));
    memcpy(to->parameters, from->parameters, (size_t)from->count_parameters * sizeof(float));
    return CORE_OK;
}

void nn_model_clear(nn_model *model) {
    if (!model) return;
    core_free(model->parameters);
    *model = (nn_model){0};
}

void nn_model_layer_size(const nn_model *model, int l, int *out, int *in) {
    *out = l < model->layers ? model->width : 1;
    *in = l > 0 ? model->width : model->inputs;
}

void nn_model_randomise(nn_model *model, core_random *random) {
    for (int l = 0; l <= model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        // a ReLU halves the second moment: variance 2 / n_in keeps it (He et al. 2015, eq. 10); the output is linear
        double bound_bias = 1 / sqrt(n_in), bound = l < model->layers ? sqrt(6.0 / n_in) : bound_bias;
        float *w = model->parameters + model->offset_weight[l], *b = model->parameters + model->offset_bias[l];
        for (int i = 0; i < n_out * n_in; i++) w[i] = (float)(bound * (2 * core_random_uniform(random) - 1));
        for (int i = 0; i < n_out; i++) b[i] = (float)(bound_bias * (2 * core_random_uniform(random) - 1));
    }
}

core_status nn_model_validate(const nn_model *model, core_error *err) {
    CORE_CHECK(model && model->parameters, CORE_ARG, "network: no model");
    CORE_TRY(nn__size_check(model->inputs, model->width, model->layers, err));
    for (int l = 0; l <= model->layers; l++) {
        int end = l < model->layers ? model->offset_weight[l + 1] : model->count_parameters;
        for (int i = model->offset_weight[l]; i < end; i++) {
            bool bias = i >= model->offset_bias[l];
            CORE_CHECK(isfinite(model->parameters[i]), CORE_NONFINITE, "network layer %d: %s %d is %g", l,
                       bias ? "bias" : "weight", i - (bias ? model->offset_bias[l] : model->offset_weight[l]),
                       (double)model->parameters[i]);
        }
    }
    return CORE_OK;
}

uint64_t nn_model_hash(const nn_model *model) {
    int32_t sizes[3] = {model->inputs, model->width, model->layers};
    uint64_t hash = core_hash_bytes(0, sizes, sizeof sizes);
    return core_hash_bytes(hash, model->parameters, (size_t)model->count_parameters * sizeof(float));
}

// ---------------------------------------------------------------------------------------------- files

/// GROUP/layerL/NAME into path (PATH_BYTES).
static core_status layer_path(const char *group, int l, const char *name, char *path, core_error *err) {
    int n = snprintf(path, PATH_BYTES, "%s/layer%d/%s", group, l, name);
    CORE_CHECK(n > 0 && n < PATH_BYTES, CORE_ARG, "network group name is too long: %s", group);
    return CORE_OK;
}

core_status nn_model_write_h5(core_h5 *file, const char *group, const nn_model *model, core_error *err) {
    CORE_CHECK(file && group, CORE_ARG, "nn_model_write_h5: null argument");
    CORE_TRY(nn_model_validate(model, err));
    char path[PATH_BYTES];
    for (int l = 0; l <= model->layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(model, l, &n_out, &n_in);
        CORE_TRY(layer_path(group, l, "weight", path, err));
        CORE_TRY(core_h5_write(file, path, CORE_H5_F32, 2, (size_t[]){(size_t)n_out, (size_t)n_in},
                               model->parameters + model->offset_weight[l], NULL,
                               "weights, one row per output of the layer", err));
        CORE_TRY(layer_path(group, l, "bias", path, err));
        CORE_TRY(core_h5_write(file, path, CORE_H5_F32, 1, (size_t[]){(size_t)n_out},
                               model->parameters + model->offset_bias[l], NULL, "added to the weighted inputs", err));
    }
    return CORE_OK;
}

/// Sizes of GROUP/layerL/weight.
static core_status read_layer_size(core_h5 *file, const char *group, int l, size_t dims[2], core_error *err) {
    char path[PATH_BYTES];
    int rank;
    CORE_TRY(layer_path(group, l, "weight", path, err));
    CORE_TRY(core_h5_size(file, path, 2, &rank, dims, err));
    CORE_CHECK(rank == 2, CORE_FORMAT, "%s: %s has %d dimensions, expected 2 (outputs, inputs)", core_h5_path(file),
               path, rank);
    return CORE_OK;
}

/// Number of layers, inputs and width as the datasets have them; the sizes of all layers must fit together.
static core_status read_sizes(core_h5 *file, const char *group, nn_model *sizes, core_error *err) {
    char path[PATH_BYTES];
    const char *name = core_h5_path(file);
    int count = 0;
    for (;; count++) {
        CORE_TRY(layer_path(group, count, "weight", path, err));
        if (count > NN_LAYERS_MAX + 1 || !core_h5_exists(file, path)) break;
    }
    CORE_CHECK(count >= 2 && count <= NN_LAYERS_MAX + 1, CORE_FORMAT, "%s: %s has %d layers, expected 2..%d", name,
               group, count, NN_LAYERS_MAX + 1);

    size_t first[2];
    CORE_TRY(read_layer_size(file, group, 0, first, err));
    CORE_CHECK(first[0] >= 1 && first[0] <= NN_WIDTH_MAX && first[1] >= 1 && first[1] <= NN_INPUTS_MAX, CORE_FORMAT,
               "%s: %s/layer0/weight is [%zu, %zu], expected at most [%d, %d]", name, group, first[0], first[1],
               NN_WIDTH_MAX, NN_INPUTS_MAX);
    *sizes = describe((int)first[1], (int)first[0], count - 1);
    for (int l = 1; l < count; l++) {
        size_t dims[2];
        int n_out, n_in;
        nn_model_layer_size(sizes, l, &n_out, &n_in);
        CORE_TRY(read_layer_size(file, group, l, dims, err));
        CORE_CHECK(dims[0] == (size_t)n_out && dims[1] == (size_t)n_in, CORE_FORMAT,
                   "%s: %s/layer%d/weight is [%zu, %zu], expected [%d, %d]", name, group, l, dims[0], dims[1], n_out,
                   n_in);
    }
    return CORE_OK;
}

core_status nn_model_read_h5(core_h5 *file, const char *group, nn_model *model, core_error *err) {
    core_status status = CORE_OK;
    nn_model sizes = {0}, made = {0};
    char path[PATH_BYTES];
    CORE_CHECK(file && group && model, CORE_ARG, "nn_model_read_h5: null argument");
    CORE_TRY(read_sizes(file, group, &sizes, err));
    CORE_TRY_DONE(nn_model_create(sizes.inputs, sizes.width, sizes.layers, &made, err));
    for (int l = 0; l <= made.layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(&made, l, &n_out, &n_in);
        CORE_TRY_DONE(layer_path(group, l, "weight", path, err));
        CORE_TRY_DONE(core_h5_read(file, path, CORE_H5_F32, 2, (size_t[]){(size_t)n_out, (size_t)n_in},
                                   made.parameters + made.offset_weight[l], true, err));
        CORE_TRY_DONE(layer_path(group, l, "bias", path, err));
        CORE_TRY_DONE(core_h5_read(file, path, CORE_H5_F32, 1, (size_t[]){(size_t)n_out},
                                   made.parameters + made.offset_bias[l], true, err));
    }
    *model = made;
    made = (nn_model){0};
done:
    nn_model_clear(&made);
    return status;
}
