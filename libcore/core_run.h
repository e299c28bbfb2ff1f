/// Run files (RUN.h5): H5MD 1.1 with one particle group, written frame by frame by a solver and read by simview and
/// simstat. Knows poses and outlines, no solver. The layout is described in data/README.md.
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include "core.h"
#include "core_h5.h"

#define CORE_RUN_FORMAT "cem.run"
#define CORE_RUN_VERSION 1

/// A grain type as the run file stores it.
typedef struct core_run_type {
    char name[CORE_NAME_MAX];
    char shape[CORE_NAME_MAX];
    double radius;        // circumradius, m
    double density;       // kg/m^2 (per metre of depth: kg/m^3)
    core_outline outline; // canonical (circumradius 1, centroid at the origin)
} core_run_type;

/// A plane boundary as the run file stores it: allowed side n.x >= offset.
typedef struct core_run_plane {
    char name[CORE_NAME_MAX];
    double normal[2]; // unit
    double offset;    // m
} core_run_plane;

/// A circle (grains inside) or a polyline wall as the run file stores it, in its own frame.
typedef struct core_run_wall {
    char name[CORE_NAME_MAX];
    bool is_circle;
    double radius;    // circle, m
    double thickness; // polyline, m
    int count_points; // polyline, else 0
    double *points;   // (count_points x 2) m
} core_run_wall;

/// One named scalar per frame.
typedef struct core_run_observable {
    const char *name;  // "kinetic_energy"
    const char *units; // "J"
    const char *description;
} core_run_observable;

/// A touching contact of a frame: enough to find the forces on both bodies (equations: libsim/README.md, section 1).
typedef struct core_run_contact {
    int32_t bodies[2];    // rows of A and B, A < B; a boundary: A = -1 - its index, planes first, then walls
    int32_t feature;      // tells contacts of one pair apart
    int32_t sliding;      // 1 at Coulomb's limit
    double d;             // m, negative in overlap
    double gradient[2];   // of d when B's centre moves, world axes; its direction is the normal from A to B
    double d_theta_b;     // m/rad: rate of d when B turns
    double moment_arm[2]; // m: (contact point - centre).normal of A and B
    double f_n, f_t;      // N per metre of depth: force on B = f_n gradient + f_t R(pi/2) normal
    double spring;        // m, tangential
} core_run_contact;

/// What a run file is created from. All pointers are borrowed during the call.
typedef struct core_run_def {
    int count_rows; // grains; fixed (absent ones have id -1 and NaN)
    int count_types;
    const core_run_type *types;
    int count_planes;
    const core_run_plane *planes;
    int count_walls;
    const core_run_wall *walls;
    double period[2]; // m: x is periodic in [period[0], period[1]); equal: unbounded
    int count_observables;
    const core_run_observable *observables;
    int count_phases;
    const char *const *phase_names; // (count_phases) without line breaks
    const int32_t *species;         // (count_rows) type index
    const uint8_t *prescribed;      // (count_rows) 1: a boundary made of a grain; NULL: none is
    const double *mass;             // (count_rows) kg
    const char *scene_text;         // resolved scene
    const char *scene_path;
    const char *title;
    double gravity[2];
    double dt;     // s
    bool contacts; // frames come with contact rows
    core_h5_provenance provenance;
} core_run_def;

/// State at one output time. Arrays have count_rows entries; caller's memory.
typedef struct core_run_frame {
    int64_t step;
    double time;                      // s
    int32_t phase;                    // index of the phase that is running
    double *position;                 // (n x 2) m
    double *orientation;              // (n) rad, not wrapped
    double *velocity;                 // (n x 2) m/s
    double *angular_velocity;         // (n) rad/s
    int32_t *id;                      // (n)
    int32_t *image;                   // (n) periods that x has left behind
    double *observables;              // (count_observables)
    uint8_t *plane_present;           // (count_planes) 1 while the plane is there
    double *plane;                    // (count_planes x 3) normal x, y, offset, as they are now
    uint8_t *wall_present;            // (count_walls)
    double *wall_pose;                // (count_walls x 3) x, y, angle
    int64_t count_contacts;           // written if the run has contact rows; not read by core_run_read
    const core_run_contact *contacts; // (count_contacts) borrowed
} core_run_frame;

typedef struct core_run_writer core_run_writer;
/// Creates RUN.h5 in place, everything declared before the first frame; from then on others can read it while it grows
/// (core_run_open; HDF5's SWMR mode). An existing file is replaced when that is done. IO: another program is writing
/// it.
core_status core_run_create(const char *path, const core_run_def *def, core_run_writer **w, core_error *err);
/// Appends a frame; the committed-frames counter is written last.
core_status core_run_append(core_run_writer *w, const core_run_frame *frame, core_error *err);
/// Ends the file (content hash, sync). *w becomes NULL whatever happens.
core_status core_run_finish(core_run_writer **w, core_error *err);

/// Writes the committed frames of a run, whose program may have been killed or still be running, to a file of their
/// own: an ordinary one, with the content hash of a run of these frames. Its failures are those of core_run_open and
/// core_h5_create; ARG: both are one file.
core_status core_run_recover(const char *path, const char *recovered, core_error *err);

/// What a run file says of itself; owned by the reader.
typedef struct core_run_info {
    int count_rows, count_types, count_planes, count_walls, count_observables, count_phases;
    int64_t count_frames; // committed
    const core_run_type *types;
    const core_run_plane *planes;
    const core_run_wall *walls;
    double period[2]; // m; equal: unbounded
    const char (*observable_names)[CORE_NAME_MAX];
    const char (*phase_names)[CORE_NAME_MAX];
    const int32_t *species;
    const uint8_t *prescribed; // (count_rows)
    const double *mass;
    const double *times; // (count_frames) s
    const char *scene_text;
    const char *scene_path;
    const char *title;
    double gravity[2];
    double dt;
    bool contacts; // there are contact rows
} core_run_info;

typedef struct core_run_reader core_run_reader;
/// Opens and validates. IO, FORMAT, VERSION_OTHER, NONFINITE, MEMORY.
core_status core_run_open(const char *path, core_run_reader **r, core_error *err);
/// What stays the same over the frames; borrowed until core_run_close.
const core_run_info *core_run_describe(const core_run_reader *r);
/// Reads frame i into caller's arrays (NULL members are skipped). RANGE: no such frame.
core_status core_run_read(core_run_reader *r, int64_t i, core_run_frame *frame, core_error *err);
/// Contact rows of frame i, in the order they were written; the caller frees them with core_free. UNSUPPORTED: the run
/// has none (info.contacts); RANGE: no such frame; FORMAT, NONFINITE, MEMORY, IO.
core_status core_run_read_contacts(core_run_reader *r, int64_t i, core_run_contact **contacts, int64_t *n,
                                   core_error *err);
/// Frame whose time is nearest to t; the last one for t = NaN. -1 if there are no frames.
int64_t core_run_frame_at(const core_run_reader *r, double t);
/// First frame of the phase with this index or a later one (phases never go back), -1 if the run did not get there.
/// Reads O(log frames) numbers. FORMAT, IO.
core_status core_run_phase_start(core_run_reader *r, int32_t phase, int64_t *frame, core_error *err);
/// Index of an observable by name, -1 if absent.
int core_run_observable_index(const core_run_reader *r, const char *name);
/// Closes and frees, nulls the handle; accepts NULL.
void core_run_close(core_run_reader **r);

/// Allocates the arrays of a frame for a run of these sizes; core_run_frame_clear frees them.
core_status core_run_frame_create(int count_rows, int count_observables, int count_planes, core_run_frame *frame,
                                  core_error *err);
/// Adds the arrays of walls to a frame. MEMORY (the frame is as before).
core_status core_run_frame_add_walls(int count_walls, core_run_frame *frame, core_error *err);
void core_run_frame_clear(core_run_frame *frame);

#endif
