/// A run of grains with everything that a run file and a checkpoint can hold.
#ifndef FUZZ_GRAINS_H
#define FUZZ_GRAINS_H

#include "fuzz_put.h"

#include "sim.h"

static const char fuzz_grains_text[] =
    "types: {g: {shape: square.wkt, radius: 0.01, density: 2500}}\n"
    "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
    "boundaries:\n"
    "  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}, motion: {amplitude: [0, 0.001], frequency: 20}}\n"
    "  - {name: wall, polyline: {points: [0.1, 0.02, 0.12, 0.03, 0.14, 0], thickness: 0.004}}\n"
    "  - {name: drum, circle: {centre: [0.05, 0.1], radius: 0.2}}\n"
    "  - {name: paddle, grain: {type: g, position: [0.1, 0.12]}, motion: {rotation: 4}}\n"
    "place: [{type: g, position: [0.03, 0.007]}, {type: g, position: [0.036, 0.021], angle: 1}]\n"
    "fill: [{type: g, count: 4, region: [0.0, 0.04, 0.09, 0.1]}]\n"
    "pour: [{name: feed, type: g, count: 3, region: [0, 0.1, 0.06, 0.2], rate: 200}]\n"
    "outlets: [{name: out, region: [0, -0.1, 0.01, 0.001]}]\n"
    "phases: [{name: a, time: 0.01}, {name: b, time: 0.01}]\n"
    "narrow_phase: exact\n"
    "smoothing: 0\n"
    "output: {every: 0.008, checkpoint: 0.005, contacts: true}\n";

/// Runs it; the last checkpoint is of the end, the one before of a moment within the last phase. The caller clears the
/// scene.
static inline core_status fuzz_grains_run(const char *run, const char *checkpoint, sim_scene *scene, core_error *err) {
    sim_run_def def = sim_run_default_def();
    fuzz_put_shape();
    CORE_TRY(sim_scene_read_text(fuzz_grains_text, test_folder_file("scene.yaml"), scene, err));
    def.checkpoint_path = checkpoint;
    return sim_run(scene, run, &def, NULL, NULL, err);
}

#endif
