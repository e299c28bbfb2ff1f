/// Training rows, shared between the files of the training; nobody else includes it.
#ifndef CSPACE_TRAIN_H
#define CSPACE_TRAIN_H

#include "cspace.h"

#include <stdatomic.h>

/// Net inputs and targets of all images of the samples used, float32. Owns its arrays.
typedef struct cspace__train_rows {
    int64_t n;       // images
    int64_t samples; // they are of
    int inputs;
    float *x, *jacobian, *slope;         // (n x inputs), (n x inputs x 3), (n x 3)
    float *arm_x;                        // (n x (inputs + CSPACE_NORMAL_INPUTS)), if the moment-arm net sees normals
    float *distance, *arm;               // (n) targets of the two nets
    float *weight_distance, *weight_arm; // (n)
} cspace__train_rows;
/// Frees and zeroes.
void cspace__train_rows_clear(cspace__train_rows *t);
/// Rows of the samples that def uses; band: that of the sampler. MEMORY.
core_status cspace__train_rows_create(const cspace_rows *rows, const cspace_fold *fold, double band,
                                      const cspace_train_def *def, cspace__train_rows *out, core_error *err);
/// Fills arm_x: the inputs and the normal that this distance net gives at each row (t made from the same rows). MEMORY.
core_status cspace__train_rows_normals(const cspace_rows *rows, const cspace_fold *fold, const cspace_train_def *def,
                                       const nn_model *distance, cspace__train_rows *t, core_error *err);

/// Progress of a pair's training as one line: reports of both nets come in, one about the whole goes out. Stays where
/// it is while nets train: their progress points to it.
typedef struct cspace__train_meter cspace__train_meter;
typedef struct cspace__train_meter_net {
    core_progress progress; // what nn_train gets
    cspace__train_meter *meter;
} cspace__train_meter_net;
struct cspace__train_meter {
    const core_progress *out; // borrowed; NULL: nobody looks
    char stage[2 * CORE_NAME_MAX + 48];
    cspace__train_meter_net net[2];
    atomic_flag busy;
    double part[2]; // done of each net
    double share;   // of the work of a try that is the distance net's
    bool together;  // side by side: the slower one counts
    double rows;    // of both nets in one try, 0: not known yet
    int i_try, tries;
};
void cspace__train_meter_init(const core_progress *out, const cspace_map *map, const cspace_train_def *def,
                              cspace__train_meter *m);
/// Before the nets of a try.
void cspace__train_meter_start(cspace__train_meter *m, int i_try, double share, bool together);

#endif
