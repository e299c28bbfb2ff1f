/// `*.checkpoint.h5` of the continuum: what is read is a state that a run goes on from: its next steps are finite, or
/// refused in words.
#include "fuzz_checkpoint.h"

#include "fluid_scene_private.h"

enum { PARTICLES_MAX = 400 };
static const double LONGEST = 0.01; // s, of a step

static const char text[] = "model: continuum\n"
                           "grid: {cell: 0.05, region: [0, 0, 0.4, 0.3]}\n"
                           "material: {kind: sand, density: 1500}\n"
                           "boundaries:\n"
                           "  - {name: gate, plane: {point: [0.2, 0], normal: [-1, 0]}}\n"
                           "  - {name: post, polyline: {points: [0.3, 0, 0.3, 0.1], thickness: 0.05}}\n"
                           "fill: [{box: [0, 0, 0.2, 0.2]}]\n"
                           "phases: [{name: a, time: 0.02}, {name: b, remove: [gate], time: 0.04}]\n"
                           "output: {checkpoint: 0.01}\n";
static fluid_scene scene;

static core_status make(const char *path, core_error *err) {
    fluid_run_def def = fluid_run_default_def();
    CORE_TRY(fluid_scene_read_text(text, test_folder_file("scene.yaml"), &scene, err));
    def.checkpoint_path = path;
    CORE_TRY(fluid_run(&scene, test_folder_file("run.h5"), &def, NULL, NULL, err));
    fuzz_checkpoint_take_previous(path);
    return CORE_OK;
}

static void go_on(fluid_world *w) {
    core_error err = {0};
    fluid_totals t;
    for (int k = 0; k < FUZZ_STEPS; k++) {
        if (fluid_world_step(w, LONGEST, &err) != CORE_OK) {
            fuzz_expect_message(&err);
            return;
        }
        fluid_world_totals(w, &t);
        fuzz_expect(isfinite(t.kinetic) && isfinite(t.potential) && isfinite(w->time), "a state that is not finite");
    }
}

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    core_h5 *file = fuzz_checkpoint_open(make, fluid_checkpoint_open, data, size);
    fluid_scene own = {0};
    fluid_world *w = NULL;
    fluid_moment moment;
    core_error err = {0};
    if (!file) return 0;
    if (fluid_checkpoint_scene(file, &own, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    fluid_scene_clear(&own); // the state is read as one of the scene that it is of
    fluid_def world = scene.def;
    world.capacity = PARTICLES_MAX;
    fuzz_expect(fluid_world_create(&world, scene.count_solids, scene.solids, &w, &err) == CORE_OK, "the scene itself");
    if (fluid__checkpoint_read(file, &scene, w, &moment, &err) == CORE_OK) {
        go_on(w);
    } else {
        fuzz_expect_refusal(size, &err);
    }
    fluid_world_destroy(&w);
    core_h5_close(&file);
    return 0;
}
