/// What the tests of whole runs share: a scene file of the test folder run with overrides, and the content of a run
/// file.
#ifndef SIM_RUN_SCENE_H
#define SIM_RUN_SCENE_H

#include "unit/test_folder.h"

#include "core_run.h"
#include "sim.h"
#include "unit/sim_check.h"

/// Runs the scene file `scene_name`; the run is written to `name`.
static inline core_status run_scene(const char *scene_name, const char *name, int threads, int count,
                                    const char *const *overrides, sim_run_report *report, core_error *err) {
    char path[TEST_PATH_MAX];
    sim_scene scene = {0};
    sim_run_def def = sim_run_default_def();
    def.threads = threads;
    core_status status = sim_scene_read(test_folder_path(path, scene_name), count, overrides, &scene, err);
    if (status == CORE_OK) status = sim_run(&scene, test_folder_path(path, name), &def, NULL, report, err);
    sim_scene_clear(&scene);
    return status;
}

/// Content hash of a run file.
static inline uint64_t run_hash(const char *name) {
    char path[TEST_PATH_MAX];
    core_h5 *file = NULL;
    uint64_t hash = 0;
    check_ok(core_h5_open(test_folder_path(path, name), CORE_RUN_FORMAT, CORE_RUN_VERSION, &file, err));
    check_ok(core_h5_content_hash(file, &hash, err));
    core_h5_close(&file);
    return hash;
}

#endif
