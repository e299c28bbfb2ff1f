/// Many poses at once for the folds that most maps have (equal shapes with a mirror, orders 1, 2 and 4): the loops of
/// cspace_map.c in vectors. Shared by cspace_batch_map.c, cspace_map.c and cspace_batch.c; nobody else includes it.
#ifndef CSPACE_BATCH_H
#define CSPACE_BATCH_H

#include "cspace.h"

// Rows of a batch: a multiple of the kernels' row tiles; small enough to stay in the first cache.
#define CSPACE_BATCH_ROWS 240
// Poses at most: the rest of the rows is for further images. Few poses have some; where that is not so, the batch ends
// with the pose for whose images there is no row.
#define CSPACE_BATCH_POSES 232
#define CSPACE_ARM_INPUTS_MAX (CSPACE_INPUTS_MAX + CSPACE_NORMAL_INPUTS)

/// Rows of a batch, one image each. One array for every quantity, all of one struct, so that a compiler knows them
/// apart.
typedef struct cspace_batch {
    double theta[CSPACE_BATCH_ROWS];                               // asked, then of the image, rad
    double c[CSPACE_BATCH_ROWS], s[CSPACE_BATCH_ROWS];             // its cosine and sine
    double x[CSPACE_BATCH_ROWS], y[CSPACE_BATCH_ROWS];             // position asked, then the image's in A's frame
    double w_x[CSPACE_BATCH_ROWS], w_y[CSPACE_BATCH_ROWS];         // and in B's
    double turn_x[CSPACE_BATCH_ROWS], turn_y[CSPACE_BATCH_ROWS];   // cspace_image.turn
    double frame_x[CSPACE_BATCH_ROWS], frame_y[CSPACE_BATCH_ROWS]; // .frame
    double lever_x[CSPACE_BATCH_ROWS], lever_y[CSPACE_BATCH_ROWS]; // .lever
    double mirror[CSPACE_BATCH_ROWS], exchange[CSPACE_BATCH_ROWS]; // -1 if .mirrored, if .swapped, else 1
    double at[CSPACE_BATCH_ROWS];         // how far inside the strip of the glued face: below 1 there is a second image
    double kink_slope[CSPACE_BATCH_ROWS]; // cspace_inputs.kink_slope
    double slope_theta[CSPACE_BATCH_ROWS], slope_x[CSPACE_BATCH_ROWS],
        slope_y[CSPACE_BATCH_ROWS]; // of the distance net
    double asked_theta[CSPACE_BATCH_ROWS], asked_x[CSPACE_BATCH_ROWS], asked_y[CSPACE_BATCH_ROWS]; // asker's
    float input[CSPACE_ARM_INPUTS_MAX][CSPACE_BATCH_ROWS]; // of the nets; those of the normal follow those of the pose
    float gradient[CSPACE_INPUTS_MAX][CSPACE_BATCH_ROWS], value[CSPACE_BATCH_ROWS];
    float arm_input[CSPACE_ARM_INPUTS_MAX][CSPACE_BATCH_ROWS], arm_value[CSPACE_BATCH_ROWS]; // gathered rows
    int arm_row[CSPACE_BATCH_ROWS];
    int first_other[CSPACE_BATCH_ROWS], count_other[CSPACE_BATCH_ROWS]; // rows of a pose's further images
    cspace_image image[CSPACE_BATCH_ROWS];                              // of poses with several
    cspace_image further[CSPACE_BATCH_ROWS];
    int blended[CSPACE_BATCH_ROWS]; // rows that hold an image of several
    double blended_theta[CSPACE_BATCH_ROWS], blended_c[CSPACE_BATCH_ROWS], blended_s[CSPACE_BATCH_ROWS];
} cspace_batch;

/// The loops, compiled for any x86-64 and for AVX2: same operations, same bits.
typedef struct cspace_batch_ops {
    /// Images of the poses in rows 0 .. n - 1 as cspace_fold_images gives them, strips left out. c, s: of theta.
    void (*fold)(const cspace_fold *fold, int n, cspace_batch *batch);
    /// Inputs of n rows.
    void (*encode)(const cspace_fold *fold, int n, cspace_batch *batch);
    /// Derivatives of n rows from those with respect to the inputs.
    void (*chain)(const cspace_fold *fold, int n, cspace_batch *batch);
    /// Further inputs of the moment-arm net (cspace_encode_normal) of n rows, from input `first` on.
    void (*normal)(int n, int first, cspace_batch *batch);
} cspace_batch_ops;
extern const cspace_batch_ops cspace__batch_baseline, cspace__batch_avx2;

/// True if a fold and an encoding are of the kind that the loops know.
bool cspace__batch_knows(const cspace_fold *fold, cspace_encoding encoding);
/// cspace_map_evaluate and cspace_map_distance by the loops. kernel: scratch of the nets for CSPACE_BATCH_ROWS rows.
void cspace__batch_evaluate(const cspace_map *map, const cspace_pose *poses, int n, double arm_below,
                            cspace_contact *contacts, cspace_batch *batch, void *kernel);
void cspace__batch_distance(const cspace_map *map, const cspace_pose *poses, int n, double *d, cspace_batch *batch,
                            void *kernel);

#endif
