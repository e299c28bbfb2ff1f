/// Private to libcspace: the file in which a training leaves what it has done, so that it can go on.
#ifndef CSPACE_TRAIN_STATE_H
#define CSPACE_TRAIN_STATE_H

#include "cspace.h"

#include <stdatomic.h>
#include <time.h>

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
    double written;      // time of the last writing, s
    double core_seconds; // processor time of the calls that were interrupted
    clock_t started;     // processor time of this one
    atomic_flag busy;
    cspace__train_slot slot[CSPACE__TRIES_MAX][2];
};

/// Empties the log and reads the file, if it is there.
/// @param path       [in]  borrowed until cspace__train_log_clear
/// @param input_hash [in]  cspace_train_input_hash of what is trained; a file of another one is refused
/// @param replace    [in]  a file that is refused or damaged is as good as none; the next saving overwrites it
/// @param log        [out] stays where it is: its slots point to it
/// @return OK; MEMORY; unless replace, ARG: the file is about other samples or options, and what core_h5_open and
/// nn_train_state_read_h5 say. On failure the log holds no state.
core_status cspace__train_log_open(const char *path, uint64_t input_hash, bool replace, cspace__train_log *log,
                                   core_error *err);
/// Frees the states; the file stays. Accepts {0}.
void cspace__train_log_clear(cspace__train_log *log);
/// Makes a net's training save into the log and go on from it. net 0: distance, 1: moment arm.
/// @param def [in,out] borrows the log until the training is over
/// A saving writes the whole file, at most every 5 s and at the end of a net.
void cspace__train_log_attach(cspace__train_log *log, int i_try, int net, nn_train_def *def);

#endif
