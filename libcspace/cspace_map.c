// Evaluation of a contact map: fold, encode, nets, chain rule, unfold. Equations: libcspace/README.md, "Maps".
#include "cspace.h"
#include "cspace_batch.h"

#include <math.h>
#include <string.h>

// Rows that go through the nets together. A multiple of the kernels' row tiles; small enough to stay in the first
// cache.
#define BLOCK_ROWS CSPACE_BATCH_ROWS

#define ARM_INPUTS_MAX CSPACE_ARM_INPUTS_MAX

// A row is one image of a pose; the images of a pose follow each other.
struct cspace_map_scratch {
    int stride;
    int *count_images;       // (stride) of each pose
    cspace_image *images;    // (stride), per row
    cspace_inputs *inputs;   // (stride)
    double *slope;           // (stride x 3) distance net's derivative with respect to the image's pose
    float *x, *gradient;     // (CSPACE_INPUTS_MAX x stride)
    float *value;            // (stride)
    float *arm_x;            // (ARM_INPUTS_MAX x stride) gathered rows of the moment-arm net
    float *arm_value;        // (stride)
    int *arm_row, *arm_pose; // (stride) rows and poses they belong to
    void *kernel;            // scratch of the kernels
    cspace_batch *batch;
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
    CORE_TRY(cspace_fold_prepare(&map->fold, err));
    const int inputs = cspace_encoding_inputs(map->encoding, &map->fold);
    const int arm_inputs = inputs + (map->arm_normal ? CSPACE_NORMAL_INPUTS : 0);
    CORE_CHECK(map->distance.inputs == inputs && map->moment_arm.inputs == arm_inputs, CORE_ARG,
               "map %s-%s: nets of %d and %d inputs, encoding %s has %d and %d", map->a, map->b, map->distance.inputs,
               map->moment_arm.inputs, cspace_encoding_name(map->encoding), inputs, arm_inputs);
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
    nn_model_def def = nn_model_default_def(ARM_INPUTS_MAX, NN_WIDTH_MAX, NN_LAYERS_MAX);
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
    s->stride = capacity < BLOCK_ROWS - 16 ? (capacity + CSPACE_IMAGES_MAX + 15) / 16 * 16 : BLOCK_ROWS;
    const size_t rows = (size_t)s->stride;
    size_t n_bytes = 0;
    CORE_TRY_DONE(kernel_scratch_bytes(BLOCK_ROWS, &n_bytes, err));
    CORE_NEW_DONE(s->count_images, rows);
    CORE_NEW_DONE(s->images, rows);
    CORE_NEW_DONE(s->inputs, rows);
    CORE_NEW_DONE(s->slope, 3 * rows);
    CORE_NEW_DONE(s->x, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->gradient, rows * CSPACE_INPUTS_MAX);
    CORE_NEW_DONE(s->value, rows);
    CORE_NEW_DONE(s->arm_x, rows * ARM_INPUTS_MAX);
    CORE_NEW_DONE(s->arm_value, rows);
    CORE_NEW_DONE(s->arm_row, rows);
    CORE_NEW_DONE(s->arm_pose, rows);
    CORE_NEW_DONE(s->batch, 1);
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
    core_free(s->count_images);
    core_free(s->images);
    core_free(s->inputs);
    core_free(s->slope);
    core_free(s->x);
    core_free(s->gradient);
    core_free(s->value);
    core_free(s->arm_x);
    core_free(s->arm_value);
    core_free(s->arm_row);
    core_free(s->arm_pose);
    core_free(s->kernel);
    core_free(s->batch);
    core_free(s);
    *scratch = NULL;
}

int cspace_map_branch(const cspace_map *map, const cspace_pose *pose) {
    const int branch = cspace_fold_branch(&map->fold, pose);
    if (map->encoding != CSPACE_RAW) return branch;
    cspace_image images[CSPACE_IMAGES_MAX];
    cspace_fold_images(&map->fold, pose, 0.0, images);
    const double turns = (images[0].pose.theta - core_wrap_angle(images[0].pose.theta)) / (2.0 * CORE_PI);
    return branch | (fabs(turns) < 1e6 ? (int)llround(turns) & 15 : 0) << 20;
}

// Images of as many poses as there is room for, encoded; returns the number of poses.
static int fill_rows(const cspace_map *map, const cspace_pose *poses, int n, int *count_rows, cspace_map_scratch *s) {
    const int inputs = map->distance.inputs, stride = s->stride;
    int count = 0, row = 0;
    while (count < n && row + CSPACE_IMAGES_MAX <= stride) {
        const int images = cspace_fold_images(&map->fold, &poses[count], 1.0, &s->images[row]);
        s->count_images[count++] = images;
        for (int i = 0; i < images; i++, row++) {
            cspace_encode(map->encoding, &map->fold, &s->images[row].pose, &s->inputs[row], NULL);
            for (int k = 0; k < inputs; k++) s->x[k * stride + row] = (float)s->inputs[row].x[k];
        }
    }
    *count_rows = row;
    return count;
}

// Distance and its derivatives in the asker's frame: the weighted sum over a pose's images, derivative of the weights
// included.
static void evaluate_distance(const cspace_map *map, int n, int count_rows, cspace_contact *contacts,
                              cspace_map_scratch *s) {
    const int inputs = map->distance.inputs, stride = s->stride;
    nn_kernel_evaluate(map->kernel_distance, count_rows, stride, s->x, s->value, s->gradient, s->kernel);
    for (int i = 0, row = 0; i < n; i++) {
        double d = 0.0, slope[3] = {0.0, 0.0, 0.0};
        for (int end = row + s->count_images[i]; row < end; row++) {
            const cspace_image *image = &s->images[row];
            double gradient[CSPACE_INPUTS_MAX], asked[3];
            for (int k = 0; k < inputs; k++) gradient[k] = (double)s->gradient[k * stride + row];
            cspace_encoding_chain(map->encoding, &map->fold, &s->inputs[row], gradient, s->slope + 3 * row);
            cspace_image_return(image, s->slope + 3 * row, asked);
            const double value = (double)s->value[row];
            d += image->weight * value;
            for (int k = 0; k < 3; k++) slope[k] += image->weight * asked[k] + value * image->weight_slope[k];
        }
        contacts[i] = (cspace_contact){.d = d, .d_theta = slope[0], .g = {slope[1], slope[2]}};
    }
}

// Inputs of the moment-arm net for one row, into column `at` of arm_x.
static void gather_arm(const cspace_map *map, int row, int at, cspace_map_scratch *s) {
    const int inputs = map->distance.inputs, stride = s->stride;
    for (int k = 0; k < inputs; k++) s->arm_x[k * stride + at] = s->x[k * stride + row];
    if (!map->arm_normal) return;
    double x[CSPACE_NORMAL_INPUTS];
    cspace_encode_normal(&s->images[row].pose, s->slope + 3 * row, x);
    for (int k = 0; k < CSPACE_NORMAL_INPUTS; k++) s->arm_x[(inputs + k) * stride + at] = (float)x[k];
}

// Moment arms of the poses below arm_below: s from the net (gathered, so that a net evaluates no row that is not
// wanted), the difference from the identity r_a - r_b = t.n in the asker's own frame. s is the same in every frame, but
// for its sign if A and B were exchanged.
static void evaluate_arms(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                          cspace_contact *contacts, cspace_map_scratch *s) {
    int count = 0;
    for (int i = 0, row = 0; i < n; i++) {
        const double *g = contacts[i].g, length = sqrt(g[0] * g[0] + g[1] * g[1]);
        const double along = length > 0.0 ? (poses[i].x * g[0] + poses[i].y * g[1]) / length : 0.0;
        contacts[i].r_a = 0.5 * along, contacts[i].r_b = -0.5 * along;
        const int end = row + s->count_images[i];
        for (; contacts[i].d < arm_below && row < end; row++) {
            gather_arm(map, row, count, s);
            s->arm_pose[count] = i, s->arm_row[count++] = row;
        }
        row = end;
    }
    if (count == 0) return;
    nn_kernel_evaluate(map->kernel_moment_arm, count, s->stride, s->arm_x, s->arm_value, NULL, s->kernel);
    for (int j = 0; j < count; j++) {
        const cspace_image *image = &s->images[s->arm_row[j]];
        const double mean = image->weight * (double)s->arm_value[j] * (image->swapped ? -1.0 : 1.0);
        contacts[s->arm_pose[j]].r_a += mean, contacts[s->arm_pose[j]].r_b += mean;
    }
}

void cspace_map_evaluate(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                         cspace_contact *contacts, cspace_map_scratch *scratch) {
    if (cspace__batch_knows(&map->fold, map->encoding)) {
        cspace__batch_evaluate(map, poses, n, arm_below, contacts, scratch->batch, scratch->kernel);
        return;
    }
    for (int start = 0; start < n;) {
        int count_rows;
        const int count = fill_rows(map, poses + start, n - start, &count_rows, scratch);
        evaluate_distance(map, count, count_rows, contacts + start, scratch);
        evaluate_arms(map, poses + start, count, arm_below, contacts + start, scratch);
        start += count;
    }
}

void cspace_map_distance(const cspace_map *map, const cspace_pose *poses, int n, double *d,
                         cspace_map_scratch *scratch) {
    if (cspace__batch_knows(&map->fold, map->encoding)) {
        cspace__batch_distance(map, poses, n, d, scratch->batch, scratch->kernel);
        return;
    }
    cspace_map_scratch *s = scratch;
    for (int start = 0; start < n;) {
        int count_rows;
        const int count = fill_rows(map, poses + start, n - start, &count_rows, s);
        nn_kernel_evaluate(map->kernel_distance, count_rows, s->stride, s->x, s->value, NULL, s->kernel);
        for (int i = 0, row = 0; i < count; i++) {
            double sum = 0.0;
            for (int end = row + s->count_images[i]; row < end; row++)
                sum += s->images[row].weight * (double)s->value[row];
            d[start + i] = sum;
        }
        start += count;
    }
}
