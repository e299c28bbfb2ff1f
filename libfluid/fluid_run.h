/// Scenes of the continuum solver: reading them, running them into run files, checkpoints. Two dimensions.
#ifndef FLUID_RUN_H
#define FLUID_RUN_H

#include "core_h5.h"
#include "core_yaml.h"
#include "fluid.h"

#include <signal.h>

/// How particles are coloured, by where they start: not at all, in layers, in squares.
typedef enum fluid_texture { FLUID_TEXTURE_NONE, FLUID_TEXTURE_LAYERS, FLUID_TEXTURE_CHECKER } fluid_texture;

/// A phase of a scene.
typedef struct fluid_phase_def {
    core_yaml_phase common;
    int count_remove, count_start, count_stop;
    int *remove, *start, *stop; // boundaries: taken away; whose motion starts; whose motion stops
} fluid_phase_def;

/// A solid of a scene. One polyline is several solids of one name.
typedef struct fluid_boundary_def {
    char name[CORE_NAME_MAX];
    int first, count; // its solids
    int shape;        // index of its shape, -1: none
    int count_points; // of a polyline
    double *points;   // (count_points x 2) m
    double thickness; // m
    double pivot[2];  // m: what a polyline turns about
    double *table;    // of its motion, NULL: none
} fluid_boundary_def;

/// A scene with `model: continuum`. `{0}` is "nothing"; filled by fluid_scene_read, owns everything.
typedef struct fluid_scene {
    char *path, *title, *text; // text: resolved, as it would be read again
    fluid_def def;             // capacity: of all fills
    int count_boundaries;
    fluid_boundary_def *boundaries;
    int count_solids;
    fluid_solid *solids;
    int count_fill;
    fluid_seed_def *fill;
    int count_shapes;
    sdf_shape *shapes;
    sdf_grid *grids;    // (count_shapes)
    char **shape_paths; // (count_shapes)
    int count_tables;
    char **table_paths; // (count_tables) of motions
    int count_phases;
    fluid_phase_def *phases;
    double output_every, checkpoint_every; // s; NaN: every ten minutes of work
    fluid_texture texture;
    double texture_size; // m
    uint64_t seed;
} fluid_scene;

/// True if the file is a scene whose first level says `model: continuum`, or an override does. False if it cannot be
/// read.
bool fluid_scene_claims(const char *path, int count_overrides, const char *const *overrides);
/// Reads and checks a scene. IO, FORMAT, RANGE, NONFINITE, SHAPE, MEMORY; messages name file, line and key.
core_status fluid_scene_read(const char *path, int count_overrides, const char *const *overrides, fluid_scene *scene,
                             core_error *err);
/// As fluid_scene_read, from text in memory; `path` stands for the file: folder of the shapes, messages.
core_status fluid_scene_read_text(const char *text, const char *path, fluid_scene *scene, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void fluid_scene_clear(fluid_scene *scene);
/// Every key with unit, default and meaning. Caller frees with core_free. MEMORY.
core_status fluid_scene_help(char **text, core_error *err);

/// How a scene is run. Start from fluid_run_default_def.
typedef struct fluid_run_def {
    int cookie;
    int threads;                       // default 1
    const char *checkpoint_path;       // NULL: none are written; the one before is kept as PATH.1
    core_h5 *restart;                  // borrowed: open checkpoint of the scene; NULL: from the start
    const volatile sig_atomic_t *stop; // borrowed; not 0: the run stops after the step it is in, with a checkpoint
    core_h5_provenance provenance;
} fluid_run_def;
/// The defaults named above.
fluid_run_def fluid_run_default_def(void);

/// What a run did.
typedef struct fluid_run_report {
    int64_t steps, frames;
    int particles;
    double simulated, wall; // s
    bool stopped;           // by `stop`
    fluid_totals totals;
    uint64_t state_hash;
} fluid_run_report;

/// Runs a scene through its phases into run_path. ARG; NOT_CONVERGED: a phase timed out, or a step failed; RANGE: the
/// fill leaves no particle; IO, MEMORY, FORMAT. report may be NULL.
core_status fluid_run(const fluid_scene *scene, const char *run_path, const fluid_run_def *def,
                      const core_progress *progress, fluid_run_report *report, core_error *err);
/// Checks scene and memory without running.
core_status fluid_run_check(const fluid_scene *scene, const fluid_run_def *def, core_error *err);

/// True if path is a checkpoint of this solver.
bool fluid_checkpoint_claims(const char *path);
/// Opens a checkpoint, whose whole content is checked here and only here, for fluid_checkpoint_scene and
/// fluid_run_def.restart. Ends with core_h5_close. IO, FORMAT (damaged), VERSION_OTHER, MEMORY.
core_status fluid_checkpoint_open(const char *path, core_h5 **file, core_error *err);
/// The scene that an open checkpoint goes on with. FORMAT, IO, as fluid_scene_read.
core_status fluid_checkpoint_scene(core_h5 *file, fluid_scene *scene, core_error *err);

#endif
