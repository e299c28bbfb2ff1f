// Evaluation of a contact map: fold, encode, nets, chain rule, unfold. Equations: libcspace/README.md, "Maps".
#include "cspace.h"

#include <math.h>
#include <string.h>

// Rows that go through the nets together. A multiple of the kernels' row tiles; small enough to stay in the first
// cache.
#define BLOCK_ROWS 240

struct cspace_map_scratch {
    int capacity, stride;
    cspace_folded *folded;    // (stride)
    double *inputs;           // (stride x CSPACE_INPUTS_MAX) row-major, double
    float *x, *gradient;      // (CSPACE_INPUTS_MAX x stride)
    float *value;             // (stride)
    float *arm_x, *arm_value; // compacted rows of the moment-arm net
    int *arm_row;             // (stride) rows they belong to
    void *kernel;             // scratch of the kernels
};

void cspace_map_clear(cspace_map *map) {
    if (!map) return;
    nn_kernel_destroy(&map->kernel_distance);
    nn_kernel_destroy(&map->kernel_moment_arm);
    nn_model_clear(&map->distance);
    nn_model_clear(&map->moment_arm);
    memset(map, 0, sizeof *map);
}

core_status cspace_map_prepare(cspace_map *map, nn_isa isa, core_error *err) {
    CORE_CHECK(map, CORE_ARG, "cspace_map_prepare: null argument");
    const int inputs = cspace_encoding_inputs(map->encoding);
    CORE_CHECK(map->distance.inputs == inputs && map->moment_arm.inputs == inputs, CORE_ARG,
               "map %s-%s: nets of %d and %d inputs, encoding %s has %d", map->a, map->b, map->distance.inputs,
               map->moment_arm.inputs, cspace_encoding_name(map->encoding), inputs);
    CORE_TRY(cspace_fold_prepare(&map->fold, err));
    nn_kernel *distance = NULL, *moment_arm = NULL;
    core_status status = CORE_OK;
    CORE_TRY_DONE(nn_kernel_create(&map->distance, isa, &distance, err));
    CORE_TRY_DONE(nn_kernel_create(&map->moment_arm, isa, &moment_arm, err));
    nn_kernel_destroy(&map->kernel_distance);
    nn_kernel_destroy(&map->kernel_moment_arm);
    map->kernel_distance = distance, map->kernel_moment_arm = moment_arm;
    return CORE_OK;
done:
    nn_kernel_destroy(&distance);
    nn_kernel_destroy(&moment_arm);
    return status;
}

// Scratch of the largest net there can be, for any instruction set: a scratch serves every map of a bundle.
static core_status kernel_scratch_bytes(int rows, size_t *n_bytes, core_error *err) {
    static const nn_isa sets[] = {NN_ISA_SCALAR, NN_ISA_BEST};
    core_status status = CORE_OK;
    nn_model largest = {0};
    nn_kernel *kernel = NULL;
    *n_bytes = 0;
    nn_model_def def = nn_model_default_def(CSPACE_INPUTS_MAX, NN_WIDTH_MAX, NN_LAYERS_MAX);
    def.heads = NN_HEADS_MAX;
    def.activation = NN_QRELU;
    CORE_TRY_DONE(nn_model_create(&def, &largest, err));
    for (int i = 0; i < 2; i++) {
        CORE_TRY_DONE(nn_kernel_create(&largest, sets[i], &kernel, err));
        const size_t needed = nn_kernel_scratch_bytes(kernel, rows);
        if (needed > *n_bytes) *n_bytes = needed;
        nn_kernel_destroy(&kernel);
    }
done:
    nn_kernel_destroy(&kernel);
    nn_model_clear(&largest);
    return status;
}

core_status cspace_map_scratch_create(int capacity, cspace_map_scratch **scratch, core_error *err) {
    CORE_CHECK(scratch, CORE_ARG, "cspace_map_scratch_create: null argument");
    CORE_CHECK(capacity >= 1, CORE_RANGE, "cspace_map_scratch_create: capacity %d, expected at least 1", capacity);
    core_status status = CORE_OK;
    cspace_map_scratch *s = NULL;
    CORE_NEW_DONE(s, 1);
    s->capacity = capacity;
    s->stride = capacity < BLOCK_ROWS ? (capacity + 15) / 16 * 16 : BLOCK_ROWS;
    const size_t rows = (size_t)s->stride;
    size_t n_bytes = 0;
    CORE_TRY_DONE(kernel_scratch_bytes(s->stride, &n_bytes, err));
    CORE_NEW_DONE(s->folded, rows);
    CORE_NEW_DONE(s->inputs, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->x, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->gradient, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->value, rows);
    CORE_NEW_DONE(s->arm_x, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->arm_value, rows);
    CORE_NEW_DONE(s->arm_row, rows);
    s->kernel = core_alloc(n_bytes, 1);
    CORE_CHECK_DONE(s->kernel, CORE_MEMORY, "out of memory: %zu bytes of kernel scratch", n_bytes);
    *scratch = s;
    return CORE_OK;
done:
    cspace_map_scratch_destroy(&s);
    return status;
}

void cspace_map_scratch_destroy(cspace_map_scratch **scratch) {
    if (!scratch || !*scratch) return;
    cspace_map_scratch *s = *scratch;
    core_free(s->folded);
    core_free(s->inputs);
    core_free(s->x);
    core_free(s->gradient);
    core_free(s->value);
    core_free(s->arm_x);
    core_free(s->arm_value);
    core_free(s->arm_row);
    core_free(s->kernel);
    core_free(s);
    *scratch = NULL;
}

// Inputs of the nets, in double and as the kernels take them.
static void encode_poses(const cspace_map *map, const cspace_pose *poses, int n, cspace_map_scratch *s) {
    const int inputs = map->distance.inputs, stride = s->stride;
    for (int i = 0; i < n; i++) {
        double *row = s->inputs + (size_t)i * CSPACE_INPUTS_MAX;
        cspace_fold_apply(&map->fold, &poses[i], &s->folded[i]);
        cspace_encode(map->encoding, &s->folded[i].pose, row, NULL);
        for (int k = 0; k < inputs; k++) s->x[k * stride + i] = (float)row[k];
    }
}

// Distance and its derivatives, in the asker's frame.
static void evaluate_distance(const cspace_map *map, const cspace_pose *poses, int n, cspace_contact *contacts,
                              cspace_map_scratch *s) {
    const int inputs = map->distance.inputs, stride = s->stride;
    encode_poses(map, poses, n, s);
    nn_kernel_evaluate(map->kernel_distance, n, stride, s->x, s->value, s->gradient, s->kernel);
    for (int i = 0; i < n; i++) {
        double gradient[CSPACE_INPUTS_MAX], slope[3];
        for (int k = 0; k < inputs; k++) gradient[k] = (double)s->gradient[k * stride + i];
        cspace_encoding_chain(map->encoding, s->inputs + (size_t)i * CSPACE_INPUTS_MAX, gradient, slope);
        contacts[i] = (cspace_contact){.d = (double)s->value[i], .d_theta = slope[0], .g = {slope[1], slope[2]}};
        cspace_fold_return(&s->folded[i], &contacts[i]);
    }
}

// Moment arms of the rows below arm_below: s from the net (gathered, so that a net evaluates no row that is not
// wanted), the difference from the identity r_a - r_b = t.n in the asker's own frame. s is the same in every frame.
static void evaluate_arms(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                          cspace_contact *contacts, cspace_map_scratch *s) {
    const int inputs = map->moment_arm.inputs, stride = s->stride;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double *g = contacts[i].g, length = sqrt(g[0] * g[0] + g[1] * g[1]);
        const double along = length > 0.0 ? (poses[i].x * g[0] + poses[i].y * g[1]) / length : 0.0;
        contacts[i].r_a = 0.5 * along, contacts[i].r_b = -0.5 * along;
        if (!(contacts[i].d < arm_below)) continue;
        for (int k = 0; k < inputs; k++) s->arm_x[k * stride + count] = s->x[k * stride + i];
        s->arm_row[count++] = i;
    }
    if (count == 0) return;
    nn_kernel_evaluate(map->kernel_moment_arm, count, stride, s->arm_x, s->arm_value, NULL, s->kernel);
    for (int j = 0; j < count; j++) {
        cspace_contact *contact = &contacts[s->arm_row[j]];
        const double mean = (double)s->arm_value[j];
        contact->r_a += mean, contact->r_b += mean;
    }
}

void cspace_map_evaluate(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                         cspace_contact *contacts, cspace_map_scratch *scratch) {
    for (int start = 0; start < n; start += scratch->stride) {
        const int rows = n - start < scratch->stride ? n - start : scratch->stride;
        evaluate_distance(map, poses + start, rows, contacts + start, scratch);
        evaluate_arms(map, poses + start, rows, arm_below, contacts + start, scratch);
    }
}

void cspace_map_distance(const cspace_map *map, const cspace_pose *poses, int n, double *d,
                         cspace_map_scratch *scratch) {
    cspace_map_scratch *s = scratch;
    for (int start = 0; start < n; start += s->stride) {
        const int rows = n - start < s->stride ? n - start : s->stride;
        encode_poses(map, poses + start, rows, s);
        nn_kernel_evaluate(map->kernel_distance, rows, s->stride, s->x, s->value, NULL, s->kernel);
        for (int i = 0; i < rows; i++) d[start + i] = (double)s->value[i];
    }
}
