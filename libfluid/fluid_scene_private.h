/// Private to fluid_scene*.c, fluid_run.c and fluid_checkpoint.c.
#ifndef FLUID_SCENE_PRIVATE_H
#define FLUID_SCENE_PRIVATE_H

#include "core_run.h"
#include "core_yaml.h"
#include "fluid_private.h"
#include "fluid_run.h"

/// Keys of scenes.
const core_yaml_key *fluid__scene_table(int *count);

/// Where a run is.
typedef struct fluid_moment {
    int phase;           // index; count_phases: over
    bool begun;          // its boundaries are taken away
    double phase_start;  // s
    double calm_since;   // s; NaN: it is not calm
    int64_t next_output; // multiple of output_every that is due next
} fluid_moment;

/// Colours (types of the run file) of a world that has not moved yet, by the id of particles.
void fluid__run_colour(const fluid_scene *scene, const fluid_world *w, int32_t *colour);
/// Creates the run file and a frame for it.
core_status fluid__run_create(const fluid_scene *scene, const fluid_world *w, const int32_t *colour,
                              const fluid_run_def *run, const char *path, core_run_writer **writer,
                              core_run_frame *frame, core_error *err);
/// The frame of the world as it is.
void fluid__run_fill(const fluid_scene *scene, const fluid_world *w, int phase, core_run_frame *f);
/// Takes away, starts and stops what phase k does.
core_status fluid__begin_phase(const fluid_scene *scene, int k, fluid_world *world, core_error *err);
/// A whole file, then two renames: `path` or PATH.1 is there at any time. As core_h5_create, core_file_publish.
core_status fluid__checkpoint_write(const char *path, const fluid_scene *scene, const fluid_world *world,
                                    const fluid_moment *moment, const core_h5_provenance *provenance, core_error *err);
/// Restores a world that was made from the scene of an open checkpoint.
core_status fluid__checkpoint_read(core_h5 *file, const fluid_scene *scene, fluid_world *world, fluid_moment *moment,
                                   core_error *err);

#endif
