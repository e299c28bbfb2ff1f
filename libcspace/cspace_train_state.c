// The file in which a training leaves what it has done (format cem.training): the states of both nets of every try.
// A net that is done is kept too, so that a training that goes on has everything it needs. Layout: data/README.md.
#include "cspace_train_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FORMAT "cem.training"
#define VERSION 1
#define INTERVAL 5.0 // s between two writings

static const char *const net_names[2] = {"distance", "moment_arm"};

// ---------------------------------------------------------------------------------------------- the file

static void slot_group(int i_try, int net, char group[48]) {
    snprintf(group, 48, "/try%d/%s", i_try, net_names[net]);
}

static core_status log_write(const cspace__train_log *log, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    char text[17];
    core_hash_text(log->input_hash, text);
    CORE_TRY_DONE(core_h5_create(log->path, FORMAT, VERSION, &file, err));
    CORE_TRY_DONE(core_h5_set_text(file, "/", "input_hash", text, err));
    const double core_seconds = log->core_seconds + (double)(clock() - log->started) / CLOCKS_PER_SEC;
    CORE_TRY_DONE(core_h5_set_number(file, "/", "core_seconds", core_seconds, err));
    for (int i = 0; i < CSPACE__TRIES_MAX; i++)
        for (int net = 0; net < 2; net++) {
            const cspace__train_slot *slot = &log->slot[i][net];
            const nn_train_state *state = slot->latest ? slot->latest : slot->found;
            if (!state) continue;
            char group[48];
            slot_group(i, net, group);
            CORE_TRY_DONE(core_h5_group(file, group, "a training between two steps", err));
            CORE_TRY_DONE(nn_train_state_write_h5(file, group, state, err));
        }
    CORE_TRY_DONE(core_h5_commit(&file, err));
done:
    core_h5_abandon(&file);
    return status;
}

static core_status log_read(cspace__train_log *log, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    char found[17], expected[17];
    core_hash_text(log->input_hash, expected);
    CORE_TRY_DONE(core_h5_open(log->path, FORMAT, VERSION, &file, err));
    CORE_TRY_DONE(core_h5_get_text(file, "/", "input_hash", found, sizeof found, err));
    CORE_CHECK_DONE(strcmp(found, expected) == 0, CORE_ARG,
                    "%s: an unfinished training of other samples or options (%s, expected %s); give the same to go on, "
                    "or remove the file to start anew",
                    log->path, found, expected);
    // files of earlier versions say nothing about it
    if (core_h5_get_number(file, "/", "core_seconds", &log->core_seconds, NULL) != CORE_OK) log->core_seconds = 0.0;
    CORE_CHECK_DONE(log->core_seconds >= 0.0 && isfinite(log->core_seconds), CORE_FORMAT,
                    "%s: core_seconds: found %g, expected a number >= 0", log->path, log->core_seconds);
    for (int i = 0; i < CSPACE__TRIES_MAX; i++)
        for (int net = 0; net < 2; net++) {
            char group[48];
            slot_group(i, net, group);
            if (core_h5_exists(file, group))
                CORE_TRY_DONE(nn_train_state_read_h5(file, group, &log->slot[i][net].found, err));
        }
done:
    core_h5_close(&file);
    return status;
}

core_status cspace__train_log_open(const char *path, uint64_t input_hash, bool replace, cspace__train_log *log,
                                   core_error *err) {
    *log =
        (cspace__train_log){.path = path, .input_hash = input_hash, .written = core_wall_seconds(), .started = clock()};
    atomic_flag_clear(&log->busy);
    for (int i = 0; i < CSPACE__TRIES_MAX; i++)
        for (int net = 0; net < 2; net++) log->slot[i][net].log = log;
    if (!core_file_exists(path)) return CORE_OK;
    core_error found = {0};
    const core_status status = log_read(log, &found);
    if (status != CORE_OK) cspace__train_log_clear(log);
    if (status == CORE_OK || (replace && status != CORE_MEMORY)) return CORE_OK;
    if (err) *err = found;
    return status;
}

void cspace__train_log_clear(cspace__train_log *log) {
    for (int i = 0; i < CSPACE__TRIES_MAX; i++)
        for (int net = 0; net < 2; net++) {
            nn_train_state_destroy(&log->slot[i][net].found);
            nn_train_state_destroy(&log->slot[i][net].latest);
        }
    log->core_seconds = 0.0;
}

// ---------------------------------------------------------------------------------------------- saving

// Keeps the state; writes the file every few seconds and at the end of a net. The nets' threads come here one at a
// time: HDF5 is not safe for two.
static core_status save(void *user, const nn_train_state *state, core_error *err) {
    cspace__train_slot *slot = user;
    cspace__train_log *log = slot->log;
    core_status status = CORE_OK;
    nn_train_state *copy = NULL;
    int64_t step, steps;
    nn_train_state_progress(state, &step, &steps);
    CORE_TRY(nn_train_state_copy(state, &copy, err));
    while (atomic_flag_test_and_set(&log->busy)) {
    }
    nn_train_state_destroy(&slot->latest);
    slot->latest = copy;
    const double now = core_wall_seconds();
    if (step == steps || now - log->written >= INTERVAL || now < log->written) {
        status = log_write(log, err);
        log->written = now;
    }
    atomic_flag_clear(&log->busy);
    return status;
}

void cspace__train_log_attach(cspace__train_log *log, int i_try, int net, nn_train_def *def) {
    cspace__train_slot *slot = &log->slot[i_try][net];
    def->save = save;
    def->save_user = slot;
    def->resume = slot->found;
}
