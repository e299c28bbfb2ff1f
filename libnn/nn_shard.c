/// Workspace of a part of a batch, and rows packed into records. The work is in nn_pass.c.
#include "nn_private.h"

#include <assert.h>
#include <string.h>

core_status nn_shard_create(const nn_model *model, int capacity, int poses, nn_shard **shard, core_error *err) {
    core_status status = CORE_OK;
    nn_shard *s = NULL;
    CORE_CHECK(model && shard, CORE_ARG, "nn_shard_create: null argument");
    CORE_TRY(nn__size_check(model->inputs, model->width, model->layers, err));
    CORE_CHECK(capacity >= 1 && capacity <= NN_BATCH_MAX, CORE_RANGE, "shard rows: %d is not in 1..%d", capacity,
               NN_BATCH_MAX);
    CORE_CHECK(poses >= 0 && poses <= NN_POSES_MAX, CORE_RANGE, "pose coordinates: %d is not in 0..%d", poses,
               NN_POSES_MAX);
    nn__blas_init();

    CORE_NEW_DONE(s, 1);
    *s = (nn_shard){.capacity = capacity,
                    .poses = poses,
                    .inputs = model->inputs,
                    .width = model->width,
                    .layers = model->layers,
                    .ld = (capacity + 15) / 16 * 16,
                    .record_floats = nn__record_floats(model->inputs, poses),
                    .pass = __builtin_cpu_supports("avx2") ? nn__pass_avx2 : nn__pass_baseline};
    size_t ld = (size_t)s->ld, width = (size_t)s->width * ld, inputs = (size_t)s->inputs * ld;
    size_t record = (size_t)s->record_floats, widest = inputs > width ? inputs : width;
    CORE_NEW_DONE(s->block, record * ld + inputs + 2 * (size_t)s->layers * width + 2 * widest + 5 * ld);
    CORE_NEW_DONE(s->record, (size_t)capacity * record);

    float *next = s->block;
    s->h[0] = next;
    s->target = s->h[0] + inputs;
    s->weight = s->target + ld;
    s->slope = s->weight + ld;
    s->jacobian = s->slope + (size_t)poses * ld;
    next += record * ld;
    s->delta[0] = next;
    next += inputs;
    for (int l = 1; l <= s->layers; l++, next += 2 * width) {
        s->h[l] = next;
        s->delta[l] = next + width;
    }
    for (int i = 0; i < 2; i++, next += widest) s->combined[i] = next;
    s->output = next;
    s->residual = next + ld;
    s->error = next + 2 * ld;
    s->term = next + 3 * ld;
    s->ones = next + 4 * ld;
    for (int i = 0; i < s->ld; i++) s->ones[i] = 1;
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
    for (int i = 0; i < n; i++)
        nn__record_pack(data, rows ? rows[i] : i, shard->poses, shard->record + i * shard->record_floats);
    *loss += shard->pass(shard, model, shard->record, NULL, n, gradient_weight, gradient);
}
