/// Workspace of a part of a batch, and rows packed into records. The work is in nn_pass.c.
#include "nn_private.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/// Hands out the next `count` floats of the block (NULL block: only counts).
static float *take(float *block, size_t *used, size_t count) {
    float *at = block ? block + *used : NULL;
    *used += count;
    return at;
}

/// Points the arrays into the block; returns the floats needed. block NULL: only counts.
static size_t lay_out(nn_shard *s, nn_activation activation, float *block) {
    size_t ld = (size_t)s->ld, width = (size_t)s->width * ld, inputs = (size_t)s->inputs * ld, used = 0;
    size_t widest = inputs > width ? inputs : width, poses = (size_t)s->poses;
    s->h[0] = take(block, &used, inputs);
    s->target = take(block, &used, ld);
    s->weight = take(block, &used, ld);
    s->slope = take(block, &used, poses * ld);
    s->jacobian = take(block, &used, poses * inputs);
    s->delta[0] = take(block, &used, inputs);
    for (int i = 0; i < 2; i++) s->combined[i] = take(block, &used, widest);
    for (int l = 1; l <= s->layers; l++) {
        s->h[l] = take(block, &used, width);
        s->delta[l] = take(block, &used, width);
        s->gate[l] = activation == NN_QRELU ? take(block, &used, width) : s->h[l];
        if (activation != NN_QRELU || s->poses == 0) continue;
        s->bend[l] = take(block, &used, width);
        s->tangent[l] = take(block, &used, width);
    }
    if (activation == NN_QRELU) s->tangent[0] = take(block, &used, inputs);
    s->output = take(block, &used, (size_t)s->heads * ld);
    s->active = take(block, &used, (size_t)s->heads * ld);
    s->residual = take(block, &used, ld);
    s->error = take(block, &used, ld);
    s->term = take(block, &used, ld);
    s->ones = take(block, &used, ld);
    return used;
}

core_status nn_shard_create(const nn_model *model, int capacity, int poses, nn_shard **shard, core_error *err) {
    core_status status = CORE_OK;
    nn_shard *s = NULL;
    CORE_CHECK(model && shard, CORE_ARG, "nn_shard_create: null argument");
    const nn_model_def def = nn_model_get_def(model);
    CORE_TRY(nn__def_check(&def, err));
    CORE_CHECK(capacity >= 1 && capacity <= NN_BATCH_MAX, CORE_RANGE, "shard rows: %d is not in 1..%d", capacity,
               NN_BATCH_MAX);
    CORE_CHECK(poses >= 0 && poses <= NN_POSES_MAX, CORE_RANGE, "pose coordinates: %d is not in 0..%d", poses,
               NN_POSES_MAX);
    CORE_TRY(nn__blas_init(err));

    CORE_NEW_DONE(s, 1);
    *s = (nn_shard){.capacity = capacity,
                    .poses = poses,
                    .inputs = model->inputs,
                    .width = model->width,
                    .layers = model->layers,
                    .heads = model->heads,
                    .ld = (capacity + 15) / 16 * 16,
                    .record_floats = nn__record_floats(model->inputs, poses),
                    .clip = (float)INFINITY,
                    .pass = __builtin_cpu_supports("avx2") ? nn__pass_avx2 : nn__pass_baseline};
    CORE_NEW_DONE(s->block, lay_out(s, model->activation, NULL));
    CORE_NEW_DONE(s->record, (size_t)capacity * (size_t)s->record_floats);
    lay_out(s, model->activation, s->block);
    for (int i = 0; i < s->ld; i++) s->active[i] = s->ones[i] = 1;
    *shard = s;
    s = NULL;
done:
    nn_shard_destroy(&s);
    return status;
}

void nn_shard_destroy(nn_shard **shard) {
    if (!shard || !*shard) return;
    core_free((*shard)->block);
    core_free((*shard)->record);
    core_free(*shard);
    *shard = NULL;
}

// ---------------------------------------------------------------------------------------------- records

int nn__record_floats(int inputs, int poses) {
    int used = inputs + 2 + poses + inputs * poses;
    return (used + 7) / 8 * 8;
}

void nn__record_pack(const nn_data *data, int64_t row, int poses, float *record) {
    int inputs = data->inputs;
    memcpy(record, data->x + row * inputs, (size_t)inputs * sizeof(float));
    record[inputs] = data->target[row];
    record[inputs + 1] = data->weight ? data->weight[row] : 1;
    if (poses == 0) return;
    record += inputs + 2;
    memcpy(record, data->slope + row * poses, (size_t)poses * sizeof(float));
    memcpy(record + poses, data->jacobian + row * inputs * poses, (size_t)(inputs * poses) * sizeof(float));
}

void nn_shard_gradient(nn_shard *shard, const nn_model *model, const nn_data *data, const int64_t *rows, int n,
                       double gradient_weight, double *loss, float *gradient) {
    assert(n >= 1 && n <= shard->capacity && model->count_parameters > 0);
    shard->clip = nn__clip(data);
    for (int i = 0; i < n; i++)
        nn__record_pack(data, rows ? rows[i] : i, shard->poses, shard->record + i * shard->record_floats);
    *loss += shard->pass(shard, model, shard->record, NULL, n, gradient_weight, gradient);
}
