/// A training between two steps, in memory and in files: everything it needs to go on to the same bits.
#include "nn_private.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 256 };

/// One array of a state.
typedef struct part {
    const char *name, *description;
    float **values;
    size_t count;
} part;

enum { COUNT_PARTS = 6 };

/// The arrays, in the order of the file.
static void list_parts(nn_train_state *s, part parts[COUNT_PARTS]) {
    const size_t n = (size_t)s->count_parameters;
    parts[0] = (part){"parameters", "weights and biases, layer by layer", &s->parameters, n};
    parts[1] = (part){"best", "parameters behind the stretch of steps with the lowest mean loss", &s->best, n};
    parts[2] = (part){"moment1", "optimiser's means of the gradients", &s->m, n};
    parts[3] = (part){"moment2", "optimiser's means of the squared gradients", &s->v, n};
    parts[4] = (part){"bases", "SOAP's covariances and bases", &s->bases, (size_t)s->count_bases};
    parts[5] = (part){"curve", "mean losses of the stretches of steps done, then zeros", &s->curve, NN_CURVE_MAX};
}

void nn_train_state_destroy(nn_train_state **state) {
    if (!state || !*state) return;
    part parts[COUNT_PARTS];
    list_parts(*state, parts);
    for (int i = 0; i < COUNT_PARTS; i++) core_free(*parts[i].values);
    core_free(*state);
    *state = NULL;
}

core_status nn_train_state_copy(const nn_train_state *from, nn_train_state **to, core_error *err) {
    core_status status = CORE_OK;
    nn_train_state *made = NULL, source;
    part parts[COUNT_PARTS], sources[COUNT_PARTS];
    CORE_CHECK(from && to, CORE_ARG, "nn_train_state_copy: null argument");
    source = *from;
    list_parts(&source, sources);
    CORE_NEW_DONE(made, 1);
    *made = source;
    list_parts(made, parts);
    for (int i = 0; i < COUNT_PARTS; i++) *parts[i].values = NULL;
    for (int i = 0; i < COUNT_PARTS; i++) {
        CORE_NEW_DONE(*parts[i].values, parts[i].count);
        if (parts[i].count > 0) memcpy(*parts[i].values, *sources[i].values, parts[i].count * sizeof(float));
    }
    *to = made;
    made = NULL;
done:
    nn_train_state_destroy(&made);
    return status;
}

void nn_train_state_progress(const nn_train_state *state, int64_t *step, int64_t *steps) {
    *step = state->step;
    *steps = state->steps;
}

// ---------------------------------------------------------------------------------------------- files

/// GROUP/NAME into path (PATH_BYTES).
static core_status part_path(const char *group, const char *name, char *path, core_error *err) {
    int n = snprintf(path, PATH_BYTES, "%s/%s", group, name);
    CORE_CHECK(n > 0 && n < PATH_BYTES, CORE_ARG, "training state: group name is too long: %s", group);
    return CORE_OK;
}

core_status nn_train_state_write_h5(core_h5 *file, const char *group, const nn_train_state *state, core_error *err) {
    CORE_CHECK(file && group && state, CORE_ARG, "nn_train_state_write_h5: null argument");
    char path[PATH_BYTES], identity[17];
    nn_train_state copy = *state;
    part parts[COUNT_PARTS];
    list_parts(&copy, parts);
    CORE_TRY(core_h5_group(file, group, "a training between two steps", err));
    for (int i = 0; i < COUNT_PARTS; i++) {
        CORE_TRY(part_path(group, parts[i].name, path, err));
        CORE_TRY(core_h5_write(file, path, CORE_H5_F32, 1, &parts[i].count, *parts[i].values, NULL,
                               parts[i].description, err));
    }
    core_hash_text(state->identity, identity);
    CORE_TRY(core_h5_set_text(file, group, "identity", identity, err));
    CORE_TRY(core_h5_set_integer(file, group, "step", state->step, err));
    CORE_TRY(core_h5_set_integer(file, group, "steps", state->steps, err));
    CORE_TRY(core_h5_set_integer(file, group, "best_step", state->best_step, err));
    CORE_TRY(core_h5_set_integer(file, group, "recoveries", state->recoveries, err));
    CORE_TRY(core_h5_set_integer(file, group, "trouble_step", state->trouble_step, err));
    CORE_TRY(core_h5_set_integer(file, group, "trouble", state->trouble, err));
    CORE_TRY(core_h5_set_number(file, group, "loss_fresh", state->loss_fresh, err));
    CORE_TRY(core_h5_set_number(file, group, "loss_best", state->loss_best, err));
    CORE_TRY(core_h5_set_number(file, group, "loss_first", state->loss_first, err));
    return core_h5_set_number(file, group, "loss_last", state->loss_last, err);
}

static core_status read_identity(core_h5 *file, const char *group, uint64_t *identity, core_error *err) {
    char text[32], again[17];
    CORE_TRY(core_h5_get_text(file, group, "identity", text, sizeof text, err));
    uint64_t hash = 0;
    for (const char *c = text; *c; c++) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, *c);
        hash = hash * 16 + (uint64_t)(at ? at - digits : 0);
    }
    core_hash_text(hash, again);
    CORE_CHECK(strcmp(text, again) == 0, CORE_FORMAT, "%s: %s: identity is '%s', expected 16 hexadecimal digits",
               core_h5_path(file), group, text);
    *identity = hash;
    return CORE_OK;
}

/// How often the training went wrong; files of earlier versions say nothing, theirs did not.
static core_status read_trouble(core_h5 *file, const char *group, nn_train_state *state, core_error *err) {
    if (core_h5_get_integer(file, group, "recoveries", &state->recoveries, NULL) != CORE_OK) {
        state->recoveries = 0;
        return CORE_OK;
    }
    CORE_TRY(core_h5_get_integer(file, group, "trouble_step", &state->trouble_step, err));
    CORE_TRY(core_h5_get_integer(file, group, "trouble", &state->trouble, err));
    const bool some = state->recoveries > 0;
    CORE_CHECK(state->recoveries >= 0 && state->recoveries <= state->step && state->trouble_step >= 0 &&
                   state->trouble_step <= state->step && state->trouble >= 0 && state->trouble <= NN_TROUBLE_DEAD &&
                   (state->trouble > 0) == some && (state->trouble_step > 0) == some,
               CORE_FORMAT, "%s: %s: %lld recoveries, trouble %lld at step %lld of %lld", core_h5_path(file), group,
               (long long)state->recoveries, (long long)state->trouble, (long long)state->trouble_step,
               (long long)state->step);
    return CORE_OK;
}

/// Counts, steps and losses.
static core_status read_numbers(core_h5 *file, const char *group, nn_train_state *state, core_error *err) {
    char path[PATH_BYTES];
    size_t count;
    int rank;
    const char *name = core_h5_path(file);
    CORE_TRY(read_identity(file, group, &state->identity, err));
    CORE_TRY(core_h5_get_integer(file, group, "step", &state->step, err));
    CORE_TRY(core_h5_get_integer(file, group, "steps", &state->steps, err));
    CORE_TRY(core_h5_get_integer(file, group, "best_step", &state->best_step, err));
    CORE_CHECK(state->step >= 1 && state->step <= state->steps && state->steps <= NN_STEPS_MAX, CORE_FORMAT,
               "%s: %s: step %lld of %lld, expected 1 to steps and at most %lld steps", name, group,
               (long long)state->step, (long long)state->steps, (long long)NN_STEPS_MAX);
    CORE_CHECK(state->best_step >= 0 && state->best_step <= state->step, CORE_FORMAT,
               "%s: %s: best_step %lld, expected 0 to step (%lld)", name, group, (long long)state->best_step,
               (long long)state->step);
    CORE_TRY(read_trouble(file, group, state, err));
    CORE_TRY(core_h5_get_number(file, group, "loss_fresh", &state->loss_fresh, err));
    CORE_TRY(core_h5_get_number(file, group, "loss_best", &state->loss_best, err));
    CORE_TRY(core_h5_get_number(file, group, "loss_first", &state->loss_first, err));
    CORE_TRY(core_h5_get_number(file, group, "loss_last", &state->loss_last, err));
    CORE_TRY(part_path(group, "parameters", path, err));
    CORE_TRY(core_h5_size(file, path, 1, &rank, &count, err));
    CORE_CHECK(rank == 1 && count >= 1 && count <= NN_PARAMETERS_MAX, CORE_FORMAT,
               "%s: %s has %zu numbers, expected 1 to %d", name, path, count, NN_PARAMETERS_MAX);
    state->count_parameters = (int)count;
    CORE_TRY(part_path(group, "bases", path, err));
    CORE_TRY(core_h5_size(file, path, 1, &rank, &count, err));
    CORE_CHECK(rank == 1 && count <= 4 * NN_PARAMETERS_MAX, CORE_FORMAT, "%s: %s has %zu numbers, expected at most %d",
               name, path, count, 4 * NN_PARAMETERS_MAX);
    state->count_bases = (int64_t)count;
    return CORE_OK;
}

core_status nn_train_state_read_h5(core_h5 *file, const char *group, nn_train_state **state, core_error *err) {
    core_status status = CORE_OK;
    nn_train_state *made = NULL;
    char path[PATH_BYTES];
    part parts[COUNT_PARTS];
    CORE_CHECK(file && group && state, CORE_ARG, "nn_train_state_read_h5: null argument");
    CORE_NEW_DONE(made, 1);
    CORE_TRY_DONE(read_numbers(file, group, made, err));
    list_parts(made, parts);
    for (int i = 0; i < COUNT_PARTS; i++) {
        CORE_NEW_DONE(*parts[i].values, parts[i].count);
        CORE_TRY_DONE(part_path(group, parts[i].name, path, err));
        CORE_TRY_DONE(core_h5_read(file, path, CORE_H5_F32, 1, &parts[i].count, *parts[i].values, true, err));
    }
    *state = made;
    made = NULL;
done:
    nn_train_state_destroy(&made);
    return status;
}

// ---------------------------------------------------------------------------------------------- identity

static uint64_t hash_floats(uint64_t hash, const float *values, int64_t rows, int columns) {
    return values ? core_hash_bytes(hash, values, (size_t)rows * (size_t)columns * sizeof(float)) : hash + 1;
}

uint64_t nn__train_identity(const nn_data *data, const nn_train_def *def) {
    const int64_t integers[] = {def->layers, def->width,    def->heads,     (int64_t)def->activation,
                                def->batch,  def->schedule, def->optimiser, def->soap_every,
                                data->n,     data->inputs,  data->poses,    (int64_t)def->seed};
    const double numbers[] = {def->corner, def->learning_rate, def->gradient_weight, def->beta1,
                              def->beta2,  def->eps,           def->soap_beta1,      def->soap_beta2};
    uint64_t hash = core_hash_bytes(0, integers, sizeof integers);
    hash = core_hash_bytes(hash, numbers, sizeof numbers);
    // Left out where there is none: states of earlier versions stay valid.
    if (data->clip > 0) hash = core_hash_bytes(hash, &data->clip, sizeof data->clip);
    hash = hash_floats(hash, data->x, data->n, data->inputs);
    hash = hash_floats(hash, data->target, data->n, 1);
    hash = hash_floats(hash, data->weight, data->n, 1);
    hash = hash_floats(hash, data->jacobian, data->n, data->inputs * data->poses);
    return hash_floats(hash, data->slope, data->n, data->poses);
}
