/// `*.checkpoint.h5` of grains: what is read is a state that a run goes on from: its next steps are finite, or refused
/// in words.
#include "fuzz_grains.h"

#include "fuzz_checkpoint.h"
#include "sim_private.h"

static sim_scene scene;

static core_status make(const char *path, core_error *err) {
    CORE_TRY(fuzz_grains_run(test_folder_file("run.h5"), path, &scene, err));
    fuzz_checkpoint_take_previous(path);
    return CORE_OK;
}

static bool is_finite(const sim_world *w) {
    for (int i = 0; i < w->n; i++) {
        if (w->role[i] == SIM_ROLE_ABSENT) continue;
        if (!isfinite(w->x[2 * i]) || !isfinite(w->x[2 * i + 1]) || !isfinite(w->theta[i]) || !isfinite(w->v[2 * i]) ||
            !isfinite(w->v[2 * i + 1]) || !isfinite(w->omega[i]))
            return false;
    }
    return true;
}

static void go_on(sim_setup *setup) {
    core_error err = {0};
    for (int k = 0; k < FUZZ_STEPS; k++) {
        core_status status = sim_flow_pour(&setup->flow, &scene, setup->world, &err);
        if (status == CORE_OK) status = sim_world_step(setup->world, &err);
        if (status != CORE_OK) {
            fuzz_expect_message(&err);
            return;
        }
        sim_flow_take_out(&setup->flow, &scene, setup->world);
        fuzz_expect(is_finite(setup->world), "a state that is not finite");
    }
}

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    core_h5 *file = fuzz_checkpoint_open(make, sim_checkpoint_open, data, size);
    const sim_run_def def = sim_run_default_def();
    sim_scene own = {0};
    sim_setup setup = {0};
    sim_moment moment;
    core_error err = {0};
    if (!file) return 0;
    if (sim_checkpoint_scene(file, &own, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    sim_scene_clear(&own); // the state is read as one of the scene that it is of
    fuzz_expect(sim_setup_create(&scene, &def, NULL, &setup, &err) == CORE_OK, "the scene itself");
    if (sim_checkpoint_read(file, &scene, &setup, &moment, &err) == CORE_OK) {
        go_on(&setup);
    } else {
        fuzz_expect_refusal(size, &err);
    }
    sim_setup_clear(&setup);
    core_h5_close(&file);
    return 0;
}
