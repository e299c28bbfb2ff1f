/// Private to core_run*.c: where things are in a run file (H5MD 1.1; described in data/README.md).
#ifndef CORE_RUN_PRIVATE_H
#define CORE_RUN_PRIVATE_H

#include "core_run.h"

#define CORE_RUN_PATH_MAX 192
#define CORE_RUN_TYPES_MAX 65536
#define CORE_RUN_ROWS_MAX 100000000 // grains of a run file

#define CORE_RUN_GRAINS "/particles/grains"
#define CORE_RUN_STEP CORE_RUN_GRAINS "/position/step"
#define CORE_RUN_TIME CORE_RUN_GRAINS "/position/time"
#define CORE_RUN_SPECIES CORE_RUN_GRAINS "/species"
#define CORE_RUN_MASS CORE_RUN_GRAINS "/mass"
#define CORE_RUN_OBSERVABLES "/observables"
#define CORE_RUN_TYPES "/parameters/types"
#define CORE_RUN_PLANES "/parameters/planes"
#define CORE_RUN_CONTACTS "/contacts"
#define CORE_RUN_CONTACTS_END CORE_RUN_CONTACTS "/end"
#define CORE_RUN_WALLS "/parameters/walls"
#define CORE_RUN_PRESCRIBED CORE_RUN_GRAINS "/prescribed"
#define CORE_RUN_PERIOD CORE_RUN_GRAINS "/box/period"
#define CORE_RUN_GRAVITY "/parameters/gravity"
#define CORE_RUN_DT "/parameters/dt"
#define CORE_RUN_TITLE "/parameters/title"
#define CORE_RUN_PHASES "/parameters/phases"
#define CORE_RUN_SCENE "/parameters/scene"
#define CORE_RUN_SCENE_PATH "/parameters/scene_path"
#define CORE_RUN_PHASE "/run/phase"
#define CORE_RUN_PLANE_PRESENT "/run/plane_present"
#define CORE_RUN_PLANE "/run/plane"
#define CORE_RUN_WALL_PRESENT "/run/wall_present"
#define CORE_RUN_WALL_POSE "/run/wall_pose"
#define CORE_RUN_COMMITTED "/run/committed_frames" // written last: row k holds k + 1

/// Declares the contact rows (group and datasets, all empty).
core_status core__run_contacts_create(core_h5 *file, core_error *err);
/// Rows of one frame; end: all rows so far, these included.
core_status core__run_contacts_append(core_h5 *file, int64_t n, const core_run_contact *contacts, int64_t end,
                                      int count_rows, int count_boundaries, core_error *err);
/// Rows of a frame, checked; the caller frees them.
core_status core__run_contacts_read(core_h5 *file, int64_t frame, int count_rows, int count_boundaries,
                                    core_run_contact **contacts, int64_t *n, core_error *err);
/// FORMAT if a column has fewer rows.
core_status core__run_contacts_check(core_h5 *file, int64_t rows, core_error *err);

#endif
