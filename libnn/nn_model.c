/// The weights of a small multilayer perceptron: one block of memory, layer by layer, weights before biases; files.
#include "nn_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CORNER_DEFAULT 0.5
#define CORNER_MIN 0x1p-10
#define CORNER_MAX 0x1p10

enum { PATH_BYTES = 256 };

static const char *const activation_names[] = {"relu", "qrelu"}; // in the order of nn_activation
enum { ACTIVATION_COUNT = sizeof activation_names / sizeof activation_names[0] };

const char *nn_activation_name(nn_activation activation) {
    return (int)activation >= 0 && (int)activation < ACTIVATION_COUNT ? activation_names[activation] : NULL;
}

core_status nn_activation_parse(const char *text, nn_activation *activation, core_error *err) {
    CORE_CHECK(text && activation, CORE_ARG, "nn_activation_parse: null argument");
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        if (strcmp(text, activation_names[i]) != 0) continue;
        *activation = (nn_activation)i;
        return CORE_OK;
    }
    return CORE_FAIL(err, CORE_RANGE, "activation: found '%s', expected relu or qrelu", text);
}

nn_model_def nn_model_default_def(int inputs, int width, int layers) {
    return (nn_model_def){.inputs = inputs,
                          .width = width,
                          .layers = layers,
                          .heads = 1,
                          .activation = NN_RELU,
                          .corner = CORNER_DEFAULT};
}

nn_model_def nn_model_get_def(const nn_model *model) {
    return (nn_model_def){.inputs = model->inputs,
                          .width = model->width,
                          .layers = model->layers,
                          .heads = model->heads,
                          .activation = model->activation,
                          .corner = (double)model->corner};
}

core_status nn__def_check(const nn_model_def *def, core_error *err) {
    CORE_CHECK(def->inputs >= 1 && def->inputs <= NN_INPUTS_MAX, CORE_RANGE, "network inputs: %d is not in 1..%d",
               def->inputs, NN_INPUTS_MAX);
    CORE_CHECK(def->width >= 1 && def->width <= NN_WIDTH_MAX, CORE_RANGE, "network width: %d is not in 1..%d",
               def->width, NN_WIDTH_MAX);
    CORE_CHECK(def->layers >= 1 && def->layers <= NN_LAYERS_MAX, CORE_RANGE, "network layers: %d is not in 1..%d",
               def->layers, NN_LAYERS_MAX);
    CORE_CHECK(def->heads >= 1 && def->heads <= NN_HEADS_MAX, CORE_RANGE, "network heads: %d is not in 1..%d",
               def->heads, NN_HEADS_MAX);
    CORE_CHECK(nn_activation_name(def->activation), CORE_RANGE, "network activation: %d is unknown",
               (int)def->activation);
    CORE_CHECK(def->activation == NN_RELU || (def->corner >= CORNER_MIN && def->corner <= CORNER_MAX), CORE_RANGE,
               "network corner: %g is not in %g..%g", def->corner, CORNER_MIN, CORNER_MAX);
    return CORE_OK;
}

/// Sizes and offsets of a model without its parameters.
static nn_model describe(const nn_model_def *def) {
    nn_model model = {.inputs = def->inputs,
                      .width = def->width,
                      .layers = def->layers,
                      .heads = def->heads,
                      .activation = def->activation,
                      .corner = def->activation == NN_RELU ? 0 : (float)def->corner};
    for (int l = 0; l <= model.layers; l++) {
        int n_out, n_in;
        nn_model_layer_size(&model, l, &n_out, &n_in);
        model.offset_weight[l] = model.count_parameters;
        model.offset_bias[l] = model.count_parameters + n_out * n_in;
        model.count_parameters += n_out * n_in + n_out;
    }
    return model;
}

core_status nn_model_create(const nn_model_def *def, nn_model *model, core_error *err) {
    CORE_CHECK(def && model, CORE_ARG, "nn_model_create: null argument");
    CORE_TRY(nn__def_check(def, err));
    nn_model made = describe(def);
    made.parameters = core_alloc((size_t)made.count_parameters, sizeof(float));
    CORE_CHECK(made.parameters, CORE_MEMORY, "out of memory: %d network parameters", made.count_parameters);
    *model = made;
    return CORE_OK;
}

core_status nn_model_copy(const nn_model *from, nn_model *to, core_error *err) {
    CORE_CHECK(from && to && from->parameters, CORE_ARG, "nn_model_copy: null argument or no model");
    const nn_model_def def = nn_model_get_def(from);
    CORE_TRY(nn_model_create(&def, to, err));
    memcpy(to->parameters, from->parameters, (size_t)from->count_parameters * sizeof(float));
    return CORE_OK;
}

void nn_model_clear(nn_model *model) {
    if (!model) return;
    core_free(model->parameters);
    *model = (nn_model){0};
}

void nn_model_layer_size(const nn_model *model, int l, int *out, int *in) {
    *out = l < model->layers ? model->width : model->heads;
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
    const nn_model_def def = nn_model_get_def(model);
    CORE_TRY(nn__def_check(&def, err));
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
    int32_t sizes[5] = {model->inputs, model->width, model->layers, model->heads, (int32_t)model->activation};
    uint64_t hash = core_hash_bytes(0, sizes, sizeof sizes);
    hash = core_hash_bytes(hash, &model->corner, sizeof model->corner);
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
    CORE_TRY(core_h5_set_text(file, group, "activation", nn_activation_name(model->activation), err));
    CORE_TRY(core_h5_set_number(file, group, "corner", (double)model->corner, err));
    return core_h5_set_integer(file, group, "heads", model->heads, err);
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

/// The attributes of GROUP.
static core_status read_attributes(core_h5 *file, const char *group, nn_model_def *def, core_error *err) {
    char text[32];
    int64_t heads;
    const char *name = core_h5_path(file);
    CORE_TRY(core_h5_get_text(file, group, "activation", text, sizeof text, err));
    const core_status status = nn_activation_parse(text, &def->activation, err);
    if (status != CORE_OK) return core_error_prefix(err, CORE_UNSUPPORTED, "%s: %s", name, group);
    CORE_TRY(core_h5_get_number(file, group, "corner", &def->corner, err));
    if (def->activation == NN_RELU)
        CORE_CHECK(def->corner == 0, CORE_RANGE, "%s: %s: corner is %g, expected 0 for relu", name, group, def->corner);
    else
        CORE_CHECK(def->corner >= CORNER_MIN && def->corner <= CORNER_MAX, CORE_RANGE,
                   "%s: %s: corner is %g, expected %g to %g", name, group, def->corner, CORNER_MIN, CORNER_MAX);
    CORE_TRY(core_h5_get_integer(file, group, "heads", &heads, err));
    CORE_CHECK(heads >= 1 && heads <= NN_HEADS_MAX, CORE_RANGE, "%s: %s: heads is %lld, expected 1 to %d", name, group,
               (long long)heads, NN_HEADS_MAX);
    def->heads = (int)heads;
    return CORE_OK;
}

/// Number of layers, inputs and width as the datasets have them; the sizes of all layers must fit together.
static core_status read_def(core_h5 *file, const char *group, nn_model_def *def, core_error *err) {
    char path[PATH_BYTES];
    const char *name = core_h5_path(file);
    int count = 0;
    for (;; count++) {
        CORE_TRY(layer_path(group, count, "weight", path, err));
        if (count > NN_LAYERS_MAX + 1 || !core_h5_exists(file, path)) break;
    }
    CORE_CHECK(count >= 2 && count <= NN_LAYERS_MAX + 1, CORE_FORMAT, "%s: %s has %d layers, expected 2..%d", name,
               group, count, NN_LAYERS_MAX + 1);
    CORE_TRY(read_attributes(file, group, def, err));

    size_t first[2];
    CORE_TRY(read_layer_size(file, group, 0, first, err));
    CORE_CHECK(first[0] >= 1 && first[0] <= NN_WIDTH_MAX && first[1] >= 1 && first[1] <= NN_INPUTS_MAX, CORE_FORMAT,
               "%s: %s/layer0/weight is [%zu, %zu], expected at most [%d, %d]", name, group, first[0], first[1],
               NN_WIDTH_MAX, NN_INPUTS_MAX);
    def->inputs = (int)first[1];
    def->width = (int)first[0];
    def->layers = count - 1;
    const nn_model sizes = describe(def);
    for (int l = 1; l < count; l++) {
        size_t dims[2];
        int n_out, n_in;
        nn_model_layer_size(&sizes, l, &n_out, &n_in);
        CORE_TRY(read_layer_size(file, group, l, dims, err));
        CORE_CHECK(dims[0] == (size_t)n_out && dims[1] == (size_t)n_in, CORE_FORMAT,
                   "%s: %s/layer%d/weight is [%zu, %zu], expected [%d, %d]", name, group, l, dims[0], dims[1], n_out,
                   n_in);
    }
    return CORE_OK;
}

core_status nn_model_read_h5(core_h5 *file, const char *group, nn_model *model, core_error *err) {
    core_status status = CORE_OK;
    nn_model_def def = {0};
    nn_model made = {0};
    char path[PATH_BYTES];
    CORE_CHECK(file && group && model, CORE_ARG, "nn_model_read_h5: null argument");
    CORE_TRY(read_def(file, group, &def, err));
    CORE_TRY_DONE(nn_model_create(&def, &made, err));
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
