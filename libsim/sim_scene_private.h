/// Private to sim_scene*.c: the table of scene keys, and what the parts of the reader share.
#ifndef SIM_SCENE_PRIVATE_H
#define SIM_SCENE_PRIVATE_H

#include "core_yaml.h"
#include "sim.h"
#include "core_csv.h"

/// Every key of a scene file. Static; *count is their number.
const core_yaml_key *sim__scene_table(int *count);

/// The reader's hands: document, scene under construction.
typedef struct sim__reader {
    core_yaml *doc;
    char *folder; // of the scene file
    sim_scene *scene;
} sim__reader;

/// What a name may stand for.
enum { SIM__TYPES = 1, SIM__BOUNDARIES = 2, SIM__BODIES = 4, SIM__POURS = 8, SIM__OUTLETS = 16 };
/// Index of a name among the kinds allowed: types by themselves; boundaries, bodies, pours, outlets numbered in this
/// order as one list. FORMAT: unknown (names the nearest one).
core_status sim__scene_find(const sim__reader *r, const core_yaml_node *place, const char *name, int kinds, int *index,
                            core_error *err);
/// Copies a name that will be used in messages and files: short, one line, not empty, not taken.
core_status sim__scene_name(const sim__reader *r, const core_yaml_node *place, const char *from, char to[CORE_NAME_MAX],
                            core_error *err);
/// Room for n entries of a part of the scene (n = 0: a valid pointer).
core_status sim__scene_array(size_t n, size_t size, void **array, core_error *err);
/// [x0, y0, x1, y1] with x0 < x1 and y0 < y1.
core_status sim__scene_region(const sim__reader *r, const core_yaml_node *node, double region[4], core_error *err);
/// Unit normal and offset from the keys point and normal of `node`.
core_status sim__scene_plane(const sim__reader *r, const core_yaml_node *node, double normal[2], double *offset,
                             core_error *err);

/// The parts, in the order they are read in.
core_status sim__scene_boundaries(const sim__reader *r, core_error *err);
core_status sim__scene_grains(const sim__reader *r, core_error *err);
core_status sim__scene_phases(const sim__reader *r, core_error *err);
void sim__scene_clear_boundaries(sim_scene *scene);
void sim__scene_clear_grains(sim_scene *scene);

/// Adds a path (owned from now on) to those of the scene; returns `status`, or MEMORY.
core_status sim__scene_keep_csv(const sim__reader *r, char *path, core_status status, core_error *err);
/// Reads the CSV file that a key names, and remembers its path in the scene. *path: borrowed from there. Errors as
/// core_csv_read, at the key's line.
core_status sim__scene_csv(const sim__reader *r, const core_yaml_node *place, int count_columns,
                           const core_csv_column *columns, core_csv *csv, const char **path, core_error *err);

#endif
