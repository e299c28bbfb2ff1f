/// Evaluation of a contact map with the loops of cspace_batch.c. Poses in the strip of the glued face, about one in
/// ten, get their images one at a time from cspace_fold.c; their further images take rows behind those of the poses.
#include "cspace_batch.h"

#include <math.h>

bool cspace__batch_knows(const cspace_fold *fold, cspace_encoding encoding) {
    const int order = fold->order_a;
    return fold->swap && fold->mirror && !fold->identity && (order == 1 || order == 2 || order == 4) &&
           encoding == CSPACE_TWOFRAME;
}

static const cspace_batch_ops *best_ops(void) {
    return nn_isa_available(NN_ISA_AVX2) ? &cspace__batch_avx2 : &cspace__batch_baseline;
}

// Puts an image into a row, but for cosine and sine (turn_rows).
static void set_row(const cspace_image *image, int row, cspace_batch *b) {
    b->image[row] = *image;
    b->theta[row] = image->pose.theta;
    b->x[row] = image->pose.x, b->y[row] = image->pose.y;
    b->turn_x[row] = image->turn[0], b->turn_y[row] = image->turn[1];
    b->frame_x[row] = image->frame[0], b->frame_y[row] = image->frame[1];
    b->lever_x[row] = image->lever[0], b->lever_y[row] = image->lever[1];
    b->mirror[row] = image->mirrored ? -1.0 : 1.0;
    b->exchange[row] = image->swapped ? -1.0 : 1.0;
}

// Cosines and sines of the `count` rows in b->blended, all at once.
static void turn_rows(int count, cspace_batch *b) {
    for (int k = 0; k < count; k++) b->blended_theta[k] = b->theta[b->blended[k]];
    core_sincos_many(b->blended_theta, count, b->blended_s, b->blended_c);
    for (int k = 0; k < count; k++) {
        b->c[b->blended[k]] = b->blended_c[k];
        b->s[b->blended[k]] = b->blended_s[k];
    }
}

// Folds as many poses as there is room for and encodes them; returns their number. Pose i is in row i, its further
// images in the count_other[i] rows from first_other[i] on.
static int fill_rows(const cspace_map *map, const cspace_batch_ops *ops, const cspace_pose *poses, int n,
                     int *count_rows, cspace_batch *b) {
    int count = n < CSPACE_BATCH_POSES ? n : CSPACE_BATCH_POSES;
    for (int i = 0; i < count; i++) {
        b->theta[i] = poses[i].theta;
        b->x[i] = poses[i].x, b->y[i] = poses[i].y;
    }
    core_sincos_many(b->theta, count, b->s, b->c);
    ops->fold(&map->fold, count, b);
    int extra = 0, blended = 0;
    for (int i = 0; i < count; i++) {
        b->count_other[i] = 0;
        if (b->at[i] >= 1.0) continue;
        cspace_image images[CSPACE_IMAGES_MAX];
        const int found = cspace_fold_images(&map->fold, &poses[i], 1.0, images);
        if (i + extra + found > CSPACE_BATCH_ROWS) {
            count = i;
            break;
        }
        set_row(&images[0], i, b);
        b->blended[blended++] = i;
        b->first_other[i] = extra, b->count_other[i] = found - 1;
        for (int k = 1; k < found; k++) b->further[extra++] = images[k];
    }
    // behind the last pose that the further images leave room for
    for (; count + extra > CSPACE_BATCH_ROWS; count--) {
        extra -= b->count_other[count - 1];
        if (b->count_other[count - 1] > 0) blended--;
    }
    for (int i = 0; i < count; i++) b->first_other[i] += count;
    for (int k = 0; k < extra; k++) {
        set_row(&b->further[k], count + k, b);
        b->blended[blended++] = count + k;
    }
    turn_rows(blended, b);
    *count_rows = count + extra;
    ops->encode(&map->fold, *count_rows, b);
    return count;
}

// d and its derivatives at pose i, the weighted sum of its images.
static void combine(const cspace_batch *b, int i, cspace_contact *contact) {
    if (b->count_other[i] == 0) {
        *contact = (cspace_contact){
            .d = (double)b->value[i], .d_theta = b->asked_theta[i], .g = {b->asked_x[i], b->asked_y[i]}};
        return;
    }
    double d = 0.0, slope[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k <= b->count_other[i]; k++) {
        const int row = k == 0 ? i : b->first_other[i] + k - 1;
        const cspace_image *image = &b->image[row];
        const double value = (double)b->value[row];
        const double asked[3] = {b->asked_theta[row], b->asked_x[row], b->asked_y[row]};
        d += image->weight * value;
        for (int c = 0; c < 3; c++) slope[c] += image->weight * asked[c] + value * image->weight_slope[c];
    }
    *contact = (cspace_contact){.d = d, .d_theta = slope[0], .g = {slope[1], slope[2]}};
}

// Column `row` of the moment-arm net's inputs, to the end of those that are gathered.
static void gather(int inputs, int row, int *count, cspace_batch *b) {
    for (int k = 0; k < inputs; k++) b->arm_input[k][*count] = b->input[k][row];
    b->arm_row[(*count)++] = row;
}

// Moment arms where d < arm_below; the difference of the two from the identity r_a - r_b = t.n.
static void evaluate_arms(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                          cspace_contact *contacts, cspace_batch *b, void *kernel) {
    const int inputs = map->moment_arm.inputs;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double *g = contacts[i].g, length = sqrt(g[0] * g[0] + g[1] * g[1]);
        const double along = length > 0.0 ? (poses[i].x * g[0] + poses[i].y * g[1]) / length : 0.0;
        contacts[i].r_a = 0.5 * along, contacts[i].r_b = -0.5 * along;
        if (!(contacts[i].d < arm_below)) continue;
        gather(inputs, i, &count, b);
        for (int k = 0; k < b->count_other[i]; k++) gather(inputs, b->first_other[i] + k, &count, b);
    }
    if (count == 0) return;
    nn_kernel_evaluate(map->kernel_moment_arm, count, CSPACE_BATCH_ROWS, b->arm_input[0], b->arm_value, NULL, kernel);
    for (int i = 0, at = 0; i < n; i++) {
        if (!(contacts[i].d < arm_below)) continue;
        double mean = 0.0;
        for (int k = 0; k <= b->count_other[i]; k++, at++) {
            const int row = b->arm_row[at];
            const double weight = b->count_other[i] == 0 ? 1.0 : b->image[row].weight;
            mean += weight * (double)b->arm_value[at] * b->exchange[row];
        }
        contacts[i].r_a += mean, contacts[i].r_b += mean;
    }
}

void cspace__batch_evaluate(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                            cspace_contact *contacts, cspace_batch *b, void *kernel) {
    const cspace_batch_ops *ops = best_ops();
    for (int start = 0; start < n;) {
        int rows;
        const int count = fill_rows(map, ops, poses + start, n - start, &rows, b);
        nn_kernel_evaluate(map->kernel_distance, rows, CSPACE_BATCH_ROWS, b->input[0], b->value, b->gradient[0],
                           kernel);
        ops->chain(&map->fold, rows, b);
        if (map->arm_normal) ops->normal(rows, map->distance.inputs, b);
        for (int i = 0; i < count; i++) combine(b, i, &contacts[start + i]);
        evaluate_arms(map, poses + start, count, arm_below, contacts + start, b, kernel);
        start += count;
    }
}

void cspace__batch_distance(const cspace_map *map, const cspace_pose *poses, int n, double *d, cspace_batch *b,
                            void *kernel) {
    const cspace_batch_ops *ops = best_ops();
    for (int start = 0; start < n;) {
        int rows;
        const int count = fill_rows(map, ops, poses + start, n - start, &rows, b);
        nn_kernel_evaluate(map->kernel_distance, rows, CSPACE_BATCH_ROWS, b->input[0], b->value, NULL, kernel);
        for (int i = 0; i < count; i++) {
            double sum = b->count_other[i] == 0 ? (double)b->value[i] : 0.0;
            for (int k = 0; b->count_other[i] > 0 && k <= b->count_other[i]; k++) {
                const int row = k == 0 ? i : b->first_other[i] + k - 1;
                sum += b->image[row].weight * (double)b->value[row];
            }
            d[start + i] = sum;
        }
        start += count;
    }
}
