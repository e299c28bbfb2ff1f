/// libsim: discrete-element simulation of rigid 2D grains on contact maps - scene, world, broad phase, narrow phase,
/// contact law, boundaries, integrator, runs. Measurements are in sim_measure.h, drawing in sim_view.h. SI units;
/// density in kg/m^3 at one metre of depth. Equations, signs and sources: libsim/README.md.
#ifndef SIM_H
#define SIM_H

#include "core.h"
#include "core_motion.h"
#include "core_run.h"
#include "core_yaml.h"
#include "cspace.h"
#include "sdf.h"

#include <signal.h> // sig_atomic_t

#define SIM_GRAINS_MAX 10000000 // rows of one scene
#define SIM_CONTACTS_MAX 4      // k_max of the narrow-phase seam; 1 or 2 are used so far

// ---------------------------------------------------------------------------------------------- contact law

/// Parameters of one pair of types (or a type and a boundary).
typedef struct sim_contact_law {
    double kn, kt;           // N/m
    double gamma_n, gamma_t; // N s/m; NaN: from the damping ratio below and the contact's own effective mass
    double zeta;             // damping ratio that realises the wanted restitution (sim_zeta_of_restitution)
    double mu;               // friction coefficient
} sim_contact_law;

/// Damping ratio zeta whose linear spring and dashpot, cut at zero force, realises restitution e in (0, 1], with
/// the overdamped branch (README.md, section 2). RANGE: e outside (0, 1] or below what any zeta gives.
core_status sim_zeta_of_restitution(double e, double *zeta, core_error *err);

/// Geometry of one contact of an ordered pair (A, B), as every narrow phase and every boundary delivers it.
typedef struct sim_contact {
    double d;    // m, negative in overlap
    double g[2]; // gradient of d with respect to x_B, raw; A's frame from narrow phases, world axes in the contact law
    double d_theta_b; // m/rad
    double r_a, r_b;  // m
    double shared;    // 0 .. 1: part of the pair's stiffness and damping that its other contacts carry
    int32_t feature;  // tells contacts of one pair apart; 0 while there is one
} sim_contact;

/// Forces of one contact: on B (force, torque about x_B); on A (-force, torque_a). Equations:
/// README.md, section 1.
typedef struct sim_contact_force {
    double force[2], torque_a, torque_b; // N, N m (per metre of depth)
    double f_n, f_t;                     // N
    double u_n, u_t;                     // m/s
    bool sliding, saturated;             // saturated: |g| < .05, no friction
} sim_contact_force;

// ---------------------------------------------------------------------------------------------- narrow phase

/// A back end of the narrow phase: neural | minimiser | exact. Every back end answers the same question for many poses
/// of one pair of types.
typedef struct sim_narrow {
    const char *name;
    /// @param pair     [in]  ordered pair of types: type_a x count_types + type_b; A is the grain with the smaller id,
    ///                       so every order is asked
    /// @param poses    [in]  (n) B from A in A's frame, metres
    /// @param k_max    [in]  contacts wanted at most per pose, 1 .. SIM_CONTACTS_MAX
    /// @param count    [out] (n) contacts found, 1 .. k_max (the nearest is always reported, d may be positive)
    /// @param contacts [out] (n x k_max), A's frame, metres. Moment arms are filled where d < 0 only; where grains are
    ///                       clearly apart d may be a positive lower bound with gradient 0.
    /// Row i depends on pose i alone, to the bit. Thread-safe with one scratch per worker.
    void (*evaluate)(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                     sim_contact *contacts, int worker);
    /// Distances alone, m, where they are cheaper than whole contacts: (n), row i to the bit what evaluate gives as the
    /// smallest d. Or NULL.
    void (*distance)(const void *self, int pair, const cspace_pose *poses, int n, double *d, int worker);
    /// How far distances can be relied on, per ordered pair of types, m: a pair found at d is not asked again until its
    /// grains can have come closer by min(d, band) - margin. NULL: every pair is asked in every step.
    const double *margin, *band;
    void (*destroy)(void *self);
    void *self;
} sim_narrow;

// ---------------------------------------------------------------------------------------------- scene

/// A law of motion.
typedef core_motion sim_motion_def;

/// A plane that keeps a pressure: along its normal u' = (pressure length - N - damping u)/mass, N being the contacts'
/// force on it along -normal. mass 0: no servo.
typedef struct sim_servo_def {
    double pressure;   // Pa, >= 0
    double length;     // m: pressure x length is the force; NaN: the distance of the two planes of `across`, as it is
    int across[2];     // boundaries
    double mass;       // kg per metre of depth
    double damping;    // N s/m
    bool until_motion; // it ends when the plane's own motion starts; else motion.waits says whether it waits itself
} sim_servo_def;

/// Kinds of boundaries that are no grains.
typedef enum sim_boundary_kind {
    SIM_BOUNDARY_PLANE,    // half-plane: grains are where normal.x >= offset
    SIM_BOUNDARY_CIRCLE,   // grains are inside
    SIM_BOUNDARY_POLYLINE, // wall is everything within half the thickness of a chain of segments
    SIM_BOUNDARY_KINDS
} sim_boundary_kind;

/// A boundary. Planes refer to the point normal x offset, circles to the centre, polylines to the middle of their box.
typedef struct sim_boundary_def {
    char name[CORE_NAME_MAX];
    sim_boundary_kind kind;
    double normal[2];         // PLANE: unit, towards the allowed side
    double offset;            // PLANE: m
    double centre[2], radius; // CIRCLE: m
    double thickness;         // POLYLINE: m
    int count_points;         // POLYLINE
    double *points;           // POLYLINE (count_points x 2) m
    sim_motion_def motion;
    sim_servo_def servo; // PLANE
    bool present;
} sim_boundary_def;

/// A grain type with its shape. Owned by the scene.
typedef struct sim_type_def {
    char name[CORE_NAME_MAX];
    char *shape_path; // resolved against the scene's folder
    double radius;    // circumradius, m
    double density;   // kg/m^3
    sdf_shape shape;
    char family[CORE_NAME_MAX]; // the name in the scene: of a radius spread that of all its sizes, else `name`
} sim_type_def;

/// Types drawn at random, each grain anew.
typedef struct sim_mix {
    int count;
    int *types;      // (count)
    double *weights; // (count) expected shares, any sum
} sim_mix;
/// A type, drawn with one number of `random`.
int sim_mix_draw(const sim_mix *mix, core_random *random);

/// Jittered lattice of bounding circles, random angles, filled from below.
typedef struct sim_fill_def {
    sim_mix mix;
    int count;
    double region[4]; // x0, y0, x1, y1 in m
} sim_fill_def;

/// Grains that enter one after the other at random places of a region where they are free.
typedef struct sim_pour_def {
    char name[CORE_NAME_MAX];
    sim_mix mix;
    int count;
    double region[4];   // x0, y0, x1, y1 in m: holds the bounding circles
    double rate;        // 1/s
    double duration;    // s after its start, then no more; infinity: until all have entered
    double velocity[2]; // m/s
    bool waits;         // for a phase that starts it
} sim_pour_def;

/// Takes out grains whose centre gets into it.
typedef struct sim_outlet_def {
    char name[CORE_NAME_MAX];
    bool is_line;
    double region[4];         // x0, y0, x1, y1 in m
    double normal[2], offset; // line: where normal.x < offset
    bool waits;
} sim_outlet_def;

/// A grain whose motion is prescribed: a boundary made of a grain type.
typedef struct sim_body_def {
    char name[CORE_NAME_MAX];
    int type;
    double position[2], angle; // m, rad
    sim_motion_def motion;
} sim_body_def;

/// A single grain: centroid in m, angle in rad, velocity in m/s, angular velocity in rad/s.
typedef struct sim_place_def {
    int type;
    double position[2], angle, velocity[2], angular_velocity;
} sim_place_def;

/// A phase of a run: until rest, or for a time.
typedef struct sim_phase_def {
    core_yaml_phase common;
    int count_remove, count_start, count_stop;
    int *remove;       // (count_remove) boundaries and bodies taken away at the start of the phase
    int *start, *stop; // actors that start or stop then: boundaries, bodies, pours, outlets, numbered in this order
} sim_phase_def;

/// Narrow phases a scene may ask for, and their names.
typedef enum sim_back_end { SIM_NEURAL, SIM_MINIMISER, SIM_EXACT, SIM_BACK_ENDS } sim_back_end;
extern const char *const sim_back_end_names[SIM_BACK_ENDS];

/// A validated scene. Owns everything.
typedef struct sim_scene {
    char *path, *title, *text; // text: resolved YAML, stored in run files
    double gravity[2];
    int count_types;
    sim_type_def *types;
    int count_boundaries;
    sim_boundary_def *boundaries;
    int count_bodies;
    sim_body_def *bodies;
    double period[2];     // m: x is periodic in [period[0], period[1]); equal: unbounded
    int cell[4];          // planes left, right, floor, lid of the box whose stresses and strains are recorded; -1: none
    sim_contact_law *law; // (count_types x (count_types + count_boundaries)) of a type (row) with a type or a boundary
    double restitution_default;
    double kn_auto; // N/m: what `kn: auto` came to, NaN: not asked for
    double deepest; // overlap of two grains that stops a run, circumradii of the smaller; 0: none does
    int count_fill;
    sim_fill_def *fill;
    int count_place;
    sim_place_def *place; // of the scene, then of files of poses
    int count_pours;
    sim_pour_def *pours;
    int count_outlets;
    sim_outlet_def *outlets;
    int count_csv;
    char **csv_paths;  // (count_csv) files of poses and motions that were read
    char *start_path;  // run whose grains are taken over, or NULL
    double start_time; // s; NaN: its last frame
    int count_phases;
    sim_phase_def *phases;
    sim_back_end back_end;
    char *maps_path;         // resolved against the scene's folder, or NULL
    double smoothing;        // sigma of numeric back ends, units of L (0.001)
    int contact_planes;      // per pair of grains: 1, or 2 (sim_narrow_planes)
    double dt;               // s; NaN: auto
    bool dt_force;           // a step above the stability limit is only warned of
    double output_every;     // s
    double checkpoint_every; // s of simulated time; NaN: every ten minutes of wall time
    bool contact_rows;       // frames come with all touching contacts
    uint64_t seed;
} sim_scene;

/// Reads and checks a scene and its shape files. Paths in it are relative to the scene's folder. IO, FORMAT, RANGE,
/// SHAPE...
core_status sim_scene_read(const char *path, int count_overrides, const char *const *overrides, sim_scene *scene,
                           core_error *err);
/// As sim_scene_read, from text in memory; `path` stands for its file.
core_status sim_scene_read_text(const char *text, const char *path, sim_scene *scene, core_error *err);
/// Opens a checkpoint (run files' partners RUN.checkpoint.h5), whose whole content is checked here and only here, for
/// sim_checkpoint_scene and sim_run_def.restart. Ends with core_h5_close. IO, FORMAT (damaged), VERSION_OTHER, MEMORY.
core_status sim_checkpoint_open(const char *path, core_h5 **file, core_error *err);
/// Scene of an open checkpoint. FORMAT, and as sim_scene_read.
core_status sim_checkpoint_scene(core_h5 *file, sim_scene *scene, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void sim_scene_clear(sim_scene *scene);
/// Text for `simulate --help-scene`. Caller frees with core_free.
core_status sim_scene_help(char **text, core_error *err);

/// Poses of the grains of one fill entry: a jittered lattice of bounding circles, filled row by row from below, random
/// angles.
/// @param scene    [in]  borrowed
/// @param i_fill   [in]  entry, 0 .. scene->count_fill - 1
/// @param occupied [in]  (m x 3) x, y, radius in m: bounding circles of the grains that are there already; NULL if m =
/// 0
/// @param poses    [out] (count x 3) x, y in m, angle in rad in [-pi, pi)
/// @return OK; RANGE: they do not fit (says how many do and what height of the region would do; poses untouched);
/// NONFINITE; MEMORY; ARG No two circles overlap, none overlaps an occupied one, leaves the region, or reaches into a
/// boundary that is present or a body (by exact geometry). Circles have the largest radius of the mixture. Cells
/// are 2.05 R high and at least as wide; a circle lies anywhere in its cell. Depends on the seed, the entry and the
/// arguments alone. Cost O(cells + m log m).
core_status sim_fill_place(const sim_scene *scene, int i_fill, const double *occupied, int m, double *poses,
                           core_error *err);

// ---------------------------------------------------------------------------------------------- world

/// All grains, contacts and boundaries of a running simulation.
typedef struct sim_world sim_world;

/// What a world is made of; borrowed during the call.
typedef struct sim_world_def {
    int cookie;
    int capacity; // grains at most
    int count_types;
    const sim_type_def *types;
    int count_boundaries;
    const sim_boundary_def *boundaries;
    const sim_contact_law *law; // as in sim_scene
    double gravity[2];
    double period[2]; // m: x is periodic in [period[0], period[1]); equal: unbounded
    double dt;        // s, > 0
    double smoothing; // sigma of the half-plane's support function, units of R
    int contacts;     // k_max, contacts a pair of grains may have
    int threads;
    sim_narrow narrow; // owned by the world after success
} sim_world_def;
/// Earth's gravity, smoothing .001, one contact a pair, one thread; the rest is the caller's.
sim_world_def sim_world_default_def(void);
/// An empty world. ARG, RANGE, NONFINITE, SHAPE, MEMORY: the narrow phase stays the caller's.
core_status sim_world_create(const sim_world_def *def, sim_world **world, core_error *err);
/// Frees the world and its narrow phase, nulls the handle; accepts NULL.
void sim_world_destroy(sim_world **world);
/// Adds a grain; its index is its id. RANGE: full, no such type; NONFINITE.
core_status sim_world_add(sim_world *world, int type, const double x[2], double angle, const double v[2], double omega,
                          core_error *err);
/// Adds a grain whose motion is prescribed (all 0: it stays where it is); the motion is copied. Others feel it; forces
/// do not move it. RANGE: full, no such type; NONFINITE; MEMORY.
core_status sim_world_add_prescribed(sim_world *world, int type, const double x[2], double angle,
                                     const sim_motion_def *motion, core_error *err);
/// Adds a row for a grain that is not there yet: it has an id and a type and no contacts until sim_world_enter.
core_status sim_world_add_absent(sim_world *world, int type, core_error *err);
/// Puts an absent grain in. ARG: it is there; RANGE: no such grain; NONFINITE.
core_status sim_world_enter(sim_world *world, int i, const double x[2], double angle, const double v[2], double omega,
                            core_error *err);
/// Takes grains out (indices; absent ones are passed over): their rows stay, their contacts' elastic energy and their
/// own kinetic and potential energy are booked as removed.
void sim_world_leave(sim_world *world, int count, const int *grains);
/// Puts a boundary in or takes it away; what its contacts' springs held is booked as dissipated. An index out of range
/// does nothing.
void sim_world_set_present(sim_world *world, int boundary, bool present);
/// Starts or stops the motion of a boundary (index) or of a prescribed grain (count_boundaries + its number in the
/// order of addition). ARG: no such body; it has started, or stopped, already.
core_status sim_world_set_moving(sim_world *world, int body, bool moving, core_error *err);
/// One step of semi-implicit Euler. NOT_CONVERGED: a grain's state is not finite, or it moved or turned by more than
/// its radius in this step (names grain, step, values; the state is left as it is). MEMORY when a list grows (the world
/// is as before); otherwise allocates nothing.
core_status sim_world_step(sim_world *world, core_error *err);
/// Stable step bound: fraction / sqrt(max k/m_eff) over all type pairs and boundaries with 1/m_eff <= 1/m_A + 1/m_B +
/// R_A^2/I_A + R_B^2/I_B and k = max(k_n, k_t), times zeta^2 where damping is above critical.
double sim_dt_auto(int count_types, const sim_type_def *types, int count_boundaries, const sim_contact_law *law,
                   double fraction);

/// What a row of the world is.
typedef enum sim_role { SIM_ROLE_FREE, SIM_ROLE_PRESCRIBED, SIM_ROLE_ABSENT } sim_role;

/// State of a world, n grains in id order.
typedef struct sim_state {
    int n;
    int64_t step;
    double time;
    const double *x, *theta, *v, *omega; // (n x 2), (n), (n x 2), (n); x within the period
    const int *type;                     // (n)
    const int32_t *image;                // (n) periods that x has left behind
    const uint8_t *role;                 // (n) of sim_role
    const double *mass, *inertia;        // (n)
} sim_state;
/// Borrowed until the next change of the world. Cost O(1).
sim_state sim_world_state(const sim_world *world);

/// Sums over the last step's contacts and the present state; kinetic to angular_momentum over free grains. kinetic +
/// potential + elastic + dissipated_normal + dissipated_tangential + removed - work stays the same. elastic is that of
/// the present positions (d carried there by its rate).
typedef struct sim_totals {
    double kinetic, rotational, potential, elastic;  // J per metre of depth; rotational is part of kinetic
    double momentum[2], angular_momentum;            // about the origin
    double dissipated_normal, dissipated_tangential; // J since the start
    // The same sum by its cause: dashpots of both directions (with the normal force's cut at zero), and friction at
    // Coulomb's limit with the springs that contacts give up.
    double dissipated_damping, dissipated_friction;
    double work;    // J since the start, done on the grains by bodies whose motion is prescribed
    double removed; // J since the start, that grains have taken along (minus what entering grains brought)
    int64_t count_contacts, count_plane_contacts, count_sliding, count_saturated;
    double penetration_mean, penetration_max;  // m, over touching contacts, as the narrow phase sees it
    int64_t count_pairs_near, count_evaluated; // neighbour-list pairs; narrow-phase queries of the last step,
    int64_t count_full;                        // of these, with gradient and moment arms
    int64_t count_skipped;                     // pairs known to be apart without a query
} sim_totals;
/// Cost O(grains + neighbour pairs), no allocation.
void sim_world_totals(const sim_world *world, sim_totals *totals);
/// Touching contacts of the last step: pairs i < j in (i, j) order with A = i, B = j, then boundaries by grain with
/// i = -1 - boundary. Geometry in world axes. Returns the number; i, j, c, f may be NULL; at most `max` are written.
int64_t sim_world_contacts(const sim_world *world, int64_t max, int *i, int *j, sim_contact *c, sim_contact_force *f);
/// Content hash of the complete state (positions, velocities, springs): equal hashes, same bits.
uint64_t sim_world_hash(const sim_world *world);

// ---------------------------------------------------------------------------------------------- back ends

/// Neural back end: borrowed bundle (must outlive the world). ARG: a pair is missing (named, with the command that
/// builds it); SHAPE: content hash of a shape differs from the map's.
core_status sim_narrow_neural(const cspace_bundle *bundle, int count_types, const sim_type_def *types, int workers,
                              sim_narrow *narrow, core_error *err);
/// Minimiser back end: builds grids of the types at `resolution`.
core_status sim_narrow_minimiser(int count_types, const sim_type_def *types, int resolution, double smoothing,
                                 int workers, sim_narrow *narrow, core_error *err);
/// Exact back end, from the outlines alone (cspace_exact_contact). SHAPE, RANGE: outlines that cannot be cut into
/// convex parts, or into too many.
core_status sim_narrow_exact(int count_types, const sim_type_def *types, double smoothing, int workers,
                             sim_narrow *narrow, core_error *err);

/// Two contact planes a pair over any back end: contacts of the poses turned by -+`turn` (rad), carried back, each with
/// a share of the stiffness (README.md, section 3). `base` is owned after success; k_max 1 passes it through.
/// ARG, RANGE (turn outside (0, 0.1]), MEMORY.
core_status sim_narrow_planes(const sim_narrow *base, double turn, int workers, sim_narrow *narrow, core_error *err);

// ---------------------------------------------------------------------------------------------- runs

/// How a scene is run. Start from sim_run_default_def.
typedef struct sim_run_def {
    int cookie;
    const char *maps_path; // overrides the scene's; NULL: the scene's
    int threads;
    const char *checkpoint_path; // written at the end of each phase and every checkpoint_every of the scene; NULL: none
    core_h5 *restart;            // borrowed: open checkpoint of the same scene to go on from; NULL: from the start
    const char *mkmaps;          // how messages call the program that makes maps, as a shell takes it; NULL: mkmaps
    const volatile sig_atomic_t *stop; // borrowed; not 0: the run stops after the step it is in; NULL: it never does
    core_h5_provenance provenance;
} sim_run_def;
/// The defaults named above, one thread.
sim_run_def sim_run_default_def(void);
/// What a finished run says.
typedef struct sim_run_report {
    bool stopped; // as asked, before its end: the state is in the checkpoint, the frames so far in the run file
    int64_t steps, frames;
    double simulated, wall; // s
    double dt;              // s
    double stiffness;       // dt sqrt(k_n/m_eff) of the stiffest pair: above .35 restless, above 1 refused
    uint64_t state_hash;
    sim_totals totals; // of the last state
} sim_run_report;
/// Runs a scene into RUN.h5. NOT_CONVERGED: blow-up or a phase timed out (frames so far are kept).
core_status sim_run(const sim_scene *scene, const char *run_path, const sim_run_def *def, const core_progress *progress,
                    sim_run_report *report, core_error *err);
/// Everything sim_run checks before its first step (maps that match, room for the fill), without running. Maps may be
/// missing: then all but them is checked, and `missing` (n_bytes) receives the command that makes them, else "".
core_status sim_run_check(const sim_scene *scene, const sim_run_def *def, char *missing, size_t n_bytes,
                          core_error *err);

#endif
