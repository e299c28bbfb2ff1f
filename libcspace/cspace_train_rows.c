// Training rows from labelled poses: images, encoding, Jacobians, loss weights; the same rows seen from B; normals that
// a distance net predicts.
#include "cspace.h"
#include "cspace_train.h"

#include <math.h>
#include <string.h>

// Samples farther than this from contact are far: they only keep the net right where a grain is about to touch.
#define FAR_DISTANCE 0.12
// Rows a kernel evaluates together.
#define BLOCK_ROWS 240

// One labelled pose of the samples.
static void row_get(const cspace_rows *rows, int64_t i, cspace_pose *pose, cspace_contact *label) {
    const double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
    *pose = (cspace_pose){p[0], p[1], p[2]};
    *label = (cspace_contact){rows->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
}

static void row_set(cspace_rows *rows, int64_t i, const cspace_pose *pose, const cspace_contact *label) {
    double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
    p[0] = pose->theta, p[1] = pose->x, p[2] = pose->y;
    rows->distance[i] = label->d;
    g[0] = label->d_theta, g[1] = label->g[0], g[2] = label->g[1];
    r[0] = label->r_a, r[1] = label->r_b;
}

core_status cspace_rows_swap(const cspace_rows *from, cspace_rows *to, core_error *err) {
    core_status status = CORE_OK;
    cspace_rows swapped = {.n = from->n};
    const size_t n = (size_t)from->n;
    CORE_NEW_DONE(swapped.pose, 3 * n);
    CORE_NEW_DONE(swapped.distance, n);
    CORE_NEW_DONE(swapped.gradient, 3 * n);
    CORE_NEW_DONE(swapped.moment_arm, 2 * n);
    for (int64_t i = 0; i < from->n; i++) {
        cspace_pose pose;
        cspace_contact label;
        row_get(from, i, &pose, &label);
        const cspace_pose other = cspace_swap_pose(&pose);
        cspace_swap_return(&other, &label); // `other` asks; the label answers its swapped pose, which is `pose`
        row_set(&swapped, i, &other, &label);
    }
    *to = swapped;
    return CORE_OK;
done:
    cspace_rows_clear(&swapped);
    return status;
}

void cspace__train_rows_clear(cspace__train_rows *t) {
    core_free(t->x);
    core_free(t->jacobian);
    core_free(t->slope);
    core_free(t->arm_x);
    core_free(t->distance);
    core_free(t->arm);
    core_free(t->weight_distance);
    core_free(t->weight_arm);
    memset(t, 0, sizeof *t);
}

// Row i from one image of a labelled pose. Labels stay in the asker's frame: the Jacobian goes through
// the fold.
static void fill_row(cspace__train_rows *t, int64_t i, const cspace_image *image, const cspace_contact *label,
                     const cspace_fold *fold, double band, const cspace_train_def *def) {
    double jacobian[3 * CSPACE_INPUTS_MAX];
    cspace_inputs inputs;
    cspace_encode(def->encoding, fold, &image->pose, &inputs, jacobian);
    for (int k = 0; k < t->inputs; k++) t->x[i * t->inputs + k] = (float)inputs.x[k];
    if (t->jacobian) {
        for (int k = 0; k < t->inputs; k++) {
            double asked[3];
            cspace_image_return(image, jacobian + 3 * k, asked);
            for (int j = 0; j < 3; j++) t->jacobian[(i * t->inputs + k) * 3 + j] = (float)asked[j];
        }
        t->slope[3 * i] = (float)label->d_theta;
        t->slope[3 * i + 1] = (float)label->g[0];
        t->slope[3 * i + 2] = (float)label->g[1];
    }
    t->distance[i] = (float)label->d;
    t->arm[i] = (float)(0.5 * (label->r_a + label->r_b) * (image->swapped ? -1.0 : 1.0));
    t->weight_distance[i] = (float)(fabs(label->d) > FAR_DISTANCE ? def->far_weight : 1.0);
    t->weight_arm[i] = (float)(fabs(label->d) > band ? def->far_weight : 1.0);
}

static int64_t count_used(const cspace_rows *rows, const cspace_train_def *def) {
    return def->samples > 0 ? def->samples : rows->n;
}

// Every (n/used)-th sample, so that a part has the composition of the whole whatever the order of the file.
static int64_t used_row(const cspace_rows *rows, int64_t used, int64_t i) {
    return (int64_t)((double)i * ((double)rows->n / (double)used));
}

// Every image of the samples used, into t unless NULL; returns their number.
static int64_t fill_rows(const cspace_rows *rows, const cspace_fold *fold, double band, const cspace_train_def *def,
                         cspace__train_rows *t) {
    const int64_t used = count_used(rows, def);
    int64_t count = 0;
    for (int64_t i = 0; i < used; i++) {
        cspace_pose pose;
        cspace_contact label;
        cspace_image images[CSPACE_IMAGES_MAX];
        row_get(rows, used_row(rows, used, i), &pose, &label);
        const int count_images = cspace_fold_images(fold, &pose, CSPACE_FOLD_REACH, images);
        for (int k = 0; t && k < count_images; k++) fill_row(t, count + k, &images[k], &label, fold, band, def);
        count += count_images;
    }
    return count;
}

core_status cspace__train_rows_create(const cspace_rows *rows, const cspace_fold *fold, double band,
                                      const cspace_train_def *def, cspace__train_rows *out, core_error *err) {
    core_status status = CORE_OK;
    cspace__train_rows t = {.n = fill_rows(rows, fold, band, def, NULL),
                            .samples = count_used(rows, def),
                            .inputs = cspace_encoding_inputs(def->encoding, fold)};
    const size_t n = (size_t)t.n, inputs = (size_t)t.inputs;
    CORE_NEW_DONE(t.x, n * inputs);
    CORE_NEW_DONE(t.distance, n);
    CORE_NEW_DONE(t.arm, n);
    CORE_NEW_DONE(t.weight_distance, n);
    CORE_NEW_DONE(t.weight_arm, n);
    if (def->net.gradient_weight > 0.0) {
        CORE_NEW_DONE(t.jacobian, 3 * n * inputs);
        CORE_NEW_DONE(t.slope, 3 * n);
    }
    (void)fill_rows(rows, fold, band, def, &t);
    *out = t;
    return CORE_OK;
done:
    cspace__train_rows_clear(&t);
    return status;
}

// ---------------------------------------------------------------------------------------------- normals

// Rows on their way through the distance net.
typedef struct block {
    int n;
    cspace_pose pose[BLOCK_ROWS];
    cspace_inputs inputs[BLOCK_ROWS];
    float x[CSPACE_INPUTS_MAX * BLOCK_ROWS], gradient[CSPACE_INPUTS_MAX * BLOCK_ROWS], value[BLOCK_ROWS];
} block;

// Inputs of the moment-arm net for the block's rows, row-major from `out` on.
static void flush_block(const nn_kernel *kernel, void *scratch, const cspace_fold *fold, cspace_encoding encoding,
                        block *b, float *out) {
    const int inputs = cspace_encoding_inputs(encoding, fold), all = inputs + CSPACE_NORMAL_INPUTS;
    nn_kernel_evaluate(kernel, b->n, BLOCK_ROWS, b->x, b->value, b->gradient, scratch);
    for (int i = 0; i < b->n; i++) {
        double gradient[CSPACE_INPUTS_MAX], slope[3], normal[CSPACE_NORMAL_INPUTS];
        for (int k = 0; k < inputs; k++) gradient[k] = (double)b->gradient[k * BLOCK_ROWS + i];
        cspace_encoding_chain(encoding, fold, &b->inputs[i], gradient, slope);
        cspace_encode_normal(&b->pose[i], slope, normal);
        for (int k = 0; k < inputs; k++) out[i * all + k] = b->x[k * BLOCK_ROWS + i];
        for (int k = 0; k < CSPACE_NORMAL_INPUTS; k++) out[i * all + inputs + k] = (float)normal[k];
    }
    b->n = 0;
}

core_status cspace__train_rows_normals(const cspace_rows *rows, const cspace_fold *fold, const cspace_train_def *def,
                                       const nn_model *distance, cspace__train_rows *t, core_error *err) {
    core_status status = CORE_OK;
    nn_kernel *kernel = NULL;
    void *scratch = NULL;
    block *b = NULL;
    float *out = NULL;
    const int64_t used = count_used(rows, def);
    const int all = t->inputs + CSPACE_NORMAL_INPUTS;
    int64_t done = 0;
    CORE_TRY_DONE(nn_kernel_create(distance, NN_ISA_BEST, &kernel, err));
    CORE_NEW_DONE(b, 1);
    CORE_NEW_DONE(out, (size_t)t->n * (size_t)all);
    scratch = core_alloc(nn_kernel_scratch_bytes(kernel, BLOCK_ROWS), 1);
    CORE_CHECK_DONE(scratch, CORE_MEMORY, "out of memory: kernel scratch");
    for (int64_t i = 0; i < used; i++) {
        cspace_pose pose;
        cspace_contact label;
        cspace_image images[CSPACE_IMAGES_MAX];
        row_get(rows, used_row(rows, used, i), &pose, &label);
        const int count = cspace_fold_images(fold, &pose, CSPACE_FOLD_REACH, images);
        for (int k = 0; k < count; k++) {
            b->pose[b->n] = images[k].pose;
            cspace_encode(def->encoding, fold, &images[k].pose, &b->inputs[b->n], NULL);
            for (int j = 0; j < t->inputs; j++) b->x[j * BLOCK_ROWS + b->n] = (float)b->inputs[b->n].x[j];
            if (++b->n < BLOCK_ROWS) continue;
            flush_block(kernel, scratch, fold, def->encoding, b, out + done * all);
            done += BLOCK_ROWS;
        }
    }
    flush_block(kernel, scratch, fold, def->encoding, b, out + done * all);
    core_free(t->arm_x);
    t->arm_x = out;
    out = NULL;
done:
    nn_kernel_destroy(&kernel);
    core_free(scratch);
    core_free(b);
    core_free(out);
    return status;
}
