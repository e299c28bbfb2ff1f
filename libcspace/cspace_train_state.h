/// Private to libcspace: the file in which a training leaves what it has done, so that it can go on.
#ifndef CSPACE_TRAIN_STATE_H
#define CSPACE_TRAIN_STATE_H

#include "cspace.h"

#include <stdatomic.h>

#define CSPACE__TRIES_MAX 16

typedef struct cspace__train_log cspace__train_log;

/// One net of one try: what nn_train's callback gets.
typedef struct cspace__train_slot {
    cspace__train_log *log;
    nn_train_state *found;  // in the file at the start
    nn_train_state *latest; // since then
} cspace__train_slot;

/// States of all nets of a pair. Both nets may save at once.
struct cspace__train_log {
    const char *path; // borrowed
    uint64_t input_hash;
    double written; // time of the last writing, s
    atomic_flag busy;
    cspace__train_slot slot[CSPACE__TRIES_MAX][2];
};
/// Reads the file if it is there. ARG: it is about other samples or options; what core_h5_open and
/// nn_train_state_read_h5 say. replace: such a file is as good as none.
core_status cspace__train_log_open(const char *path, uint64_t input_hash, bool replace, cspace__train_log *log,
                                   core_error *err);
void cspace__train_log_clear(cspace__train_log *log);
/// Makes a net's training save into the log and go on from it. net 0: distance, 1: moment arm.
void cspace__train_log_attach(cspace__train_log *log, int i_try, int net, nn_train_def *def);

#endif
