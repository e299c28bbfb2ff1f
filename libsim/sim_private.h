/// Private to libsim: the world's arrays and the functions its files share. Nothing here is for users of the library.
#ifndef SIM_PRIVATE_H
#define SIM_PRIVATE_H

#include "sim.h"
#include "sim_law.h"
#include "sim_walls.h"

#include <math.h>

// Grains per grain block.
#define SIM_BLOCK 256
// Most pairs of a contact block, and poses that a narrow phase takes at a time: what they need stays in the second
// cache, and most rows of the kernels are filled.
#define SIM_PAIR_BLOCK 960
// Below this many neighbour pairs a step runs in the caller: waking threads would cost more.
#define SIM_SERIAL_PAIRS 384
// Skin of the neighbour list in units of the smallest circumradius.
#define SIM_SKIN 0.25

// ---------------------------------------------------------------------------------------------- contacts

/// What a grain books, J since the start: dissipated in normal and in tangential direction, work of prescribed motion,
/// and the part of the tangential loss that the dashpots took (the rest is friction's).
enum sim_lost { SIM_LOST_NORMAL, SIM_LOST_TANGENTIAL, SIM_LOST_WORK, SIM_LOST_DAMPED, SIM_LOST_COUNT };

/// One contact with its memory. Energies per metre of depth.
struct sim_slot {
    double spring;    // m, tangential
    double d_theta_a; // m/rad
    double free_n;    // N: normal force beyond the spring's (damping, cut at zero); its work is dissipated
    double free_t;    // N: part of f_t that is the tangential dashpot's; 0 while the contact slides
    double loss;      // J: what the tangential spring gave up in this step (negative: gained)
    sim_contact c;    // world axes
    sim_contact_force f;
};

/// One contact of a pair as the last step left it. What it leaves out of a sim_slot is found again from it and the
/// pair's spring (sim_touch_slot).
typedef struct sim_touch {
    double d, g[2], d_theta_b, r_a, r_b; // sim_contact, world axes
    double d_theta_a;                    // m/rad
    double inverse;                      // 1/|g|, 0 where there is no friction
    double f_n, f_t, free_n, free_t;     // N
    double u_n, u_t;                     // m/s
    double shared;
    int32_t feature;
    uint8_t sliding, saturated;
} sim_touch;
/// The same with its forces written out; loss: 0.
sim_slot sim_touch_slot(const sim_touch *touch, double spring);

/// What row i says once the law has acted on it; `feature` is 0, since rows do not know it.
static inline sim_touch sim_law_touch(const sim_law_rows *r, int i) {
    return (sim_touch){.d = r->d[i],
                       .g = {r->g_x[i], r->g_y[i]},
                       .d_theta_b = r->d_theta_b[i],
                       .r_a = r->r_a[i],
                       .r_b = r->r_b[i],
                       .d_theta_a = r->d_theta_a[i],
                       .inverse = r->inverse[i],
                       .f_n = r->f_n[i],
                       .f_t = r->f_t[i],
                       .free_n = r->free_n[i],
                       .free_t = r->free_t[i],
                       .u_n = r->u_n[i],
                       .u_t = r->u_t[i],
                       .shared = r->shared[i],
                       .sliding = r->sliding[i] > 0,
                       .saturated = r->saturated[i] > 0};
}
/// What of a slot is kept, but for the spring.
sim_touch sim_touch_of(const sim_slot *slot);

/// A contact in units of the larger circumradius as one in metres; scale: m.
static inline sim_contact sim_contact_scaled(const cspace_contact *c, double scale) {
    return (sim_contact){.d = scale * c->d,
                         .g = {c->g[0], c->g[1]},
                         .d_theta_b = scale * c->d_theta,
                         .r_a = scale * c->r_a,
                         .r_b = scale * c->r_b};
}

/// A grain near a feature of a boundary (sim_walls.h).
struct sim_wall_entry {
    int boundary, feature;
    bool near; // the slot was filled in the last step
    sim_slot slot;
};

/// d_theta_A = -d_theta_B - (x_B - x_A) x g.
double sim_contact_d_theta_a(const sim_contact *c, const double x_a[2], const double x_b[2]);
/// u_n and u_t of README.md, section 1, for given velocities (u_t = 0 where |g| < .05).
void sim_contact_rates(const sim_contact *c, double d_theta_a, const sim_body_state *a, const sim_body_state *b,
                       double *u_n, double *u_t);
/// Applies the law to slot->c and fills the rest of the slot. The tangential spring slot->spring is advanced by dt (0:
/// not advanced) and cut by Coulomb's law, or set to 0 if d >= 0.
void sim_slot_apply(const sim_contact_law *law, const sim_body_state *a, const sim_body_state *b, double dt,
                    sim_slot *slot);
/// Adds the work lost in the step from the velocities before (slot->f) to those after it (a, b) to `lost`, J, as
/// enum sim_lost has it (but for SIM_LOST_WORK).
void sim_slot_dissipation(const sim_slot *slot, const sim_body_state *a, const sim_body_state *b, double dt,
                          double lost[SIM_LOST_COUNT]);
/// True unless the distance is known to be at least 0 (a NaN touches, so that the blow-up check meets it).
bool sim_slot_touches(const sim_slot *slot);

// ---------------------------------------------------------------------------------------------- broad phase

/// Order in which grains are visited. `{0}` is "nothing".
typedef struct sim_order {
    int capacity;
    int *sequence; // (n) grains along a space-filling curve
    int *spare;    // (capacity) scratch, like the rest
    uint32_t *key;
    int *count;
} sim_order;
core_status sim_order_create(int capacity, sim_order *order, core_error *err);
void sim_order_clear(sim_order *order);
/// Fills `sequence` for n grains at x (n x 2); grains in one square of this size (m) come in id order. No allocation,
/// O(n).
void sim_order_find(sim_order *order, int n, const double *x, double size);

/// What is known of a pair that does not touch.
typedef struct sim_apart {
    double room;    // m, it is apart while its grains have not come closer by this much since ...
    double from[4]; // ... this placement: x_j - x_i in m, theta_i, theta_j
    double wake;    // m: way of the fastest grain (sim_world.way) until which it need not be looked at; no state
} sim_apart;

/// Neighbour pairs i < j in (i, j) order, as the broad phase finds them. `{0}` is "nothing".
typedef struct sim_found {
    int n, capacity;
    int *i, *j; // (n)
} sim_found;
/// Makes room for `capacity` pairs; what is there stays. MEMORY (unchanged).
core_status sim_found_reserve(sim_found *found, int capacity, core_error *err);
void sim_found_clear(sim_found *found);

/// Neighbour pairs i < j with their contacts, along the curve. `{0}` is "nothing".
typedef struct sim_pairs {
    int n, capacity, k_max;
    int *place;       // (n) where the first, second, ... pair in (i, j) order is
    int *i, *j;       // (n)
    int *a, *b;       // (n) places of i, j in the sequence of grains
    uint8_t *count;   // (n) its contacts; 0 unless the pair touches
    sim_apart *apart; // (n) where it does not touch
    double *spring;   // (n x k_max) m, tangential, of its contacts
    int32_t *feature; // (n x k_max) theirs
    int *first;       // (n) where its contacts are in `touch`
    // room for what a step writes: there is one, which goes from list to list (sim_pairs_carry)
    int room;          // pairs that it holds
    uint8_t *released; // (n) 1: it lost its contacts in this step; `lost` is to be booked
    uint8_t *within;   // (n) 1: the bounding circles overlapped when it was last looked at; no state
    double *lost;      // (n) J, of this step, where it touches or was released: energy of tangential springs given up
    sim_touch *touch;  // (n x k_max) of the pairs that touch, in the order of the blocks
} sim_pairs;
/// Contact k of pair p.
static inline sim_slot sim_pairs_slot(const sim_pairs *pairs, int p, int k) {
    return sim_touch_slot(&pairs->touch[pairs->first[p] + k], pairs->spring[p * pairs->k_max + k]);
}
/// Makes a list without pairs that can take n of them, and some more where it has to grow. MEMORY (it is empty).
core_status sim_pairs_renew(sim_pairs *pairs, int n, core_error *err);
/// Makes room for what a step of n pairs writes, and some more where it has to grow; contacts stay. MEMORY (unchanged).
core_status sim_pairs_reserve_room(sim_pairs *pairs, int n, core_error *err);
void sim_pairs_clear(sim_pairs *pairs);
/// Fills a list that can take them with pairs without contacts, each where the first of its grains stands. rank:
/// (n_grains) place of each grain; first: (n_grains + 1) scratch.
void sim_pairs_arrange(sim_pairs *pairs, const sim_found *found, int n_grains, const int *rank, int *first);
/// Moves counts, springs and what is known of pairs apart from `from` to the same pairs of `to`, and the room, which
/// holds as many pairs as `to` has; contacts stay where they are in it. Returns the energy of tangential springs left
/// behind, given stiffness(world, i, j) through `kt`.
double sim_pairs_carry(sim_pairs *from, sim_pairs *to, double (*kt)(const void *arg, int i, int j), const void *arg);

/// Uniform cells, hashed into buckets (space is unbounded). `{0}` is "nothing".
typedef struct sim_broad {
    int capacity, count_buckets; // power of two
    double skin, cell, cell_x;   // m; cell_x: width of a cell
    double period[2];            // m: x is periodic from one to the other; equal: unbounded
    int64_t columns;             // cells of a period, 0: unbounded
    int *start;                  // (count_buckets + 1)
    int *item;                   // (capacity) grains by bucket
    int64_t *cx, *cy;            // (capacity) cell of each grain
} sim_broad;
/// cell = 2 x largest radius + skin. RANGE: the period is not three of them.
core_status sim_broad_create(int capacity, double radius_max, double skin, const double period[2], sim_broad *broad,
                             core_error *err);
void sim_broad_clear(sim_broad *broad);
/// All pairs with |x_j - x_i| <= radius[type[i]] + radius[type[j]] + skin, i < j, in (i, j) order; in a period the
/// nearest image counts. Absent grains have none, two prescribed ones neither (role NULL: all are free). MEMORY when
/// the list grows.
core_status sim_broad_find(sim_broad *broad, int n, const double *x, const int *type, const uint8_t *role,
                           const double *radius, sim_found *found, core_error *err);

// ---------------------------------------------------------------------------------------------- world

/// Neighbour pairs of one kind that are queried together: of one ordered type pair, and alike in whose motion is
/// prescribed.
typedef struct sim_contact_block {
    int type_pair;    // type_a x count_types + type_b
    int first, count; // range of world->order
    int awake;        // of these, at the front of the same range of world->awake: to be looked at
    int asleep_within;
    double rest;      // m: way of the fastest grain at which all are looked at again
    double radius[2]; // m, of A, B
    sim_law_bodies bodies;
    int count_evaluated, count_full, count_skipped;
    double nearest;   // m: smallest d of a touching pair in this step
    int nearest_pair; // which one it is
} sim_contact_block;

/// Sums over SIM_BLOCK consecutive grains.
typedef struct sim_grain_block {
    double speed[2];  // (m/s)^2, m/s: largest squared speed, and speed of the rim by turning
    int broken;       // first grain that blew up, or -1
    int after_blocks; // contact blocks, from the first, that hold all pairs of its grains
} sim_grain_block;

/// What the contacts of a grain depend on, one line of cache.
typedef struct sim_moving {
    double x[2], v[2], theta, omega, cosine, sine;
} sim_moving;

/// A pair that is asked.
typedef struct sim_question {
    int pair;
    double dx, dy; // x_j - x_i, m
} sim_question;

/// Room of one worker for one block.
typedef struct sim_scratch {
    cspace_pose pose[SIM_PAIR_BLOCK], pose_apart[SIM_PAIR_BLOCK];
    sim_question asked[SIM_PAIR_BLOCK], asked_apart[SIM_PAIR_BLOCK];
    double distance[SIM_PAIR_BLOCK];
    int count[SIM_PAIR_BLOCK];
    sim_contact contact[SIM_PAIR_BLOCK * SIM_CONTACTS_MAX];
    int row_pair[SIM_LAW_ROWS], row_contact[SIM_LAW_ROWS]; // whose contacts are in the rows of the contact law
    sim_law_rows rows;
} sim_scratch;

enum { SIM_STAGE_LIST, SIM_STAGE_CONTACTS, SIM_STAGE_GRAINS, SIM_STAGES };

struct sim_world {
    // what it is made of
    int capacity, count_types, threads, k_max;
    double gravity[2], dt, smoothing;
    double deepest;    // radii of the smaller grain: deeper contacts of two grains fail the step; 0: no limit
    double reach_step; // m: a grain that moves farther in a step has blown up, or could pass through something
    double period_start, period;                      // m; x is periodic over `period`, 0: unbounded
    double *radius, *type_mass, *type_inertia;        // (count_types)
    double *type_inverse_mass, *type_inverse_inertia; // (count_types)
    sim_support *support;                             // (count_types)
    core_outline *outline;                            // (count_types) canonical
    sim_contact_law *law;                             // (count_types x (count_types + walls.count))
    sim_narrow narrow;
    // state, grains in id order
    int n;
    int64_t step;
    double *x, *theta, *v, *omega;          // (n x 2), (n), (n x 2), (n)
    double *cos_sin;                        // (n x 2) of theta
    double *mass, *inertia;                 // (n)
    double *inverse_mass, *inverse_inertia; // (n)
    int *type;                              // (n)
    int32_t *image;                         // (n) periods that x has left behind
    uint8_t *role;                          // (n) of sim_role
    int *mover_of;                          // (n) index into mover, -1: none
    int count_movers;
    sim_mover *mover; // (count_movers) of prescribed grains
    // contacts
    sim_pairs pairs, pairs_next;
    sim_walls walls;
    double *lost;                                                   // (n x SIM_LOST_COUNT) J since the start, by grain
    double dissipated_normal, dissipated_tangential, work, removed; // J since the start, that no grain has booked
    int64_t count_evaluated, count_full, count_skipped;             // of the last step
    // neighbour list
    sim_broad broad;
    sim_found found;
    bool stale;          // the list has to be built before it is used
    double *x_built;     // (n x 2) positions it was built at
    double way_built;    // m: `way` then
    sim_order sequence;  // of the grains
    sim_moving *moving;  // (n) copies of the grains' state in this sequence, for the pairs
    int *adjacent_start; // (capacity + 1) in this sequence
    int *adjacent;       // (2 x pairs) 2 x pair + (0: the grain is A, 1: B), by the other grain's id
    double way;          // m: sum over the steps of the most a grain's rim can have moved; no state
    int *order;          // (pairs) pairs by stretch of the curve, then by kind, then by index
    int *awake;          // (pairs) of each block of `order` those that are looked at, in the same order
    int count_blocks, blocks_capacity;
    sim_contact_block *block;
    sim_law_loop *law_loop;
    int *kind_count;              // (4 count_types^2) scratch of the ordering
    int list_capacity;            // pairs that adjacent, order, awake hold
    sim_grain_block *grain_block; // (ceil(capacity / SIM_BLOCK))
    sim_scratch *scratch;         // (threads)
    // for tests and benchmarks
    bool unsorted; // grains are visited in id order
    bool timed;
    double stage_time[SIM_STAGES]; // s
};

/// What the pairs of one grain do to it in this step.
typedef struct sim_load {
    double force[2], torque;                 // N, N m
    double free[2], free_torque;             // of these what the normal dashpots and the cut at zero add
    double tangential[2], tangential_torque; // and what friction does
    double damped[2], damped_torque;         // of that the tangential dashpots' part
    double lost;                             // J, from tangential springs of the pairs whose A it is
} sim_load;
/// Contacts of block `index` of the world `arg`, for core_thread_for.
void sim_pairs_contacts(void *arg, int64_t index, int worker);
/// Adds what the pairs of the grain in place `place` of the sequence do, in the order of the other grain's id.
void sim_pairs_load(const sim_world *world, int place, sim_load *load);
/// For tests and benchmarks: asks for every pair that the next step would skip. Returns how many of them touch (none
/// should), and their number.
int64_t sim_pairs_missed(sim_world *world, int64_t *skipped);

/// Writes everything a world needs to go on to the same bits: group /world of a file. IO, MEMORY.
core_status sim_world_save(const sim_world *world, core_h5 *file, core_error *err);
/// Reads it into a world made from the same types, boundaries and rows. FORMAT (names the dataset, found, expected),
/// NONFINITE, IO, MEMORY; on failure the world can only be destroyed.
core_status sim_world_restore(sim_world *world, core_h5 *file, core_error *err);

/// Builds the neighbour list from the present positions; springs move to the new list. MEMORY (the old list stays).
core_status sim_world_rebuild(sim_world *world, core_error *err);
/// Makes the pairs of `found` the world's list; springs move to it. MEMORY (the old list stays).
core_status sim_world_adopt(sim_world *world, core_error *err);
/// Called for a touching contact of the last step; boundaries are A = -1 - boundary.
typedef void sim_contact_visitor(void *arg, int a, int b, const sim_slot *slot);
/// Calls fn for each of them: pairs in their order, then boundaries by grain.
void sim_world_visit(const sim_world *world, sim_contact_visitor *fn, void *arg);
/// Law of a type with a type, or with boundary other - count_types.
static inline const sim_contact_law *sim_world_law(const sim_world *world, int type, int other) {
    return &world->law[(size_t)type * (size_t)(world->count_types + world->walls.count) + (size_t)other];
}
static inline sim_body_state sim_world_body(const sim_world *world, int i) {
    return (sim_body_state){.x = {world->x[2 * i], world->x[2 * i + 1]},
                            .v = {world->v[2 * i], world->v[2 * i + 1]},
                            .omega = world->omega[i],
                            .inv_mass = world->inverse_mass[i],
                            .inv_inertia = world->inverse_inertia[i]};
}
/// dx of the nearest image.
static inline double sim_world_image(const sim_world *world, double dx) {
    return world->period > 0 ? dx - world->period * floor(dx / world->period + 0.5) : dx;
}
/// Motion of a prescribed grain in this step, given the contacts' force on it; returns the work it did.
double sim_mover_follow(sim_world *world, int i, const double force[2], double torque);
/// Kinetic and potential energy of a grain, J.
double sim_world_grain_energy(const sim_world *world, int i);
/// Brings x of grain i into the period.
void sim_world_wrap(sim_world *world, int i);

// ---------------------------------------------------------------------------------------------- back ends and runs

/// sim_narrow_neural with the command line that a message about a missing pair shows.
core_status sim_narrow_neural_hint(const cspace_bundle *bundle, int count_types, const sim_type_def *types, int workers,
                                   const char *hint, sim_narrow *narrow, core_error *err);

/// A pour in progress. Plain data: what a restart needs.
typedef struct sim_pour {
    core_random random;
    int first_row, entered;
    int64_t start, stop; // steps; -1: not yet
    double due;          // s since the start, when the next grain is due
} sim_pour;

/// An outlet in progress.
typedef struct sim_outlet {
    int64_t start, stop; // steps; -1: not yet
    int64_t count;       // grains taken out so far
    double mass;         // kg per metre of depth
} sim_outlet;

/// All of a run. `{0}` is "nothing".
typedef struct sim_flow {
    sim_pour *pour;     // (scene->count_pours)
    sim_outlet *outlet; // (scene->count_outlets)
    int *leaving;       // (rows) scratch
} sim_flow;
/// first_row: of the rows that pours fill, one after the other. MEMORY.
core_status sim_flow_create(const sim_scene *scene, int first_row, sim_flow *flow, core_error *err);
void sim_flow_clear(sim_flow *flow);
/// Types of the rows of a pour, (count).
void sim_flow_types(const sim_scene *scene, int i_pour, int *types);
/// Before a step: grains that are due enter where there is room. NONFINITE.
core_status sim_flow_pour(sim_flow *flow, const sim_scene *scene, sim_world *world, core_error *err);
/// After a step: grains in outlets leave.
void sim_flow_take_out(sim_flow *flow, const sim_scene *scene, sim_world *world);
/// A phase starts or stops a boundary, body, pour or outlet.
core_status sim_flow_switch(sim_flow *flow, const sim_scene *scene, sim_world *world, int actor, bool on,
                            core_error *err);

/// Grains of another run.
typedef struct sim_start {
    int count;
    sim_place_def *grains; // (count)
} sim_start;
/// Reads what scene->start_path and start_time name. IO, FORMAT; ARG, SHAPE, RANGE: types that do not match; MEMORY.
core_status sim_start_read(const sim_scene *scene, sim_start *start, core_error *err);

/// A scene made ready to run: grains placed, maps loaded. `{0}` is "nothing".
typedef struct sim_setup {
    sim_world *world;
    sim_flow flow;
    int first_body;       // row of the first body
    cspace_bundle bundle; // borrowed by the world's narrow phase
    char *maps_path;      // or NULL
    uint64_t maps_hash;
    double thinnest;      // m, thinnest wall of any grain or boundary
    double dt, stiffness; // stiffness: dt sqrt(k_n/m_eff) of the stiffest pair, by the bound of sim_dt_auto
} sim_setup;
core_status sim_setup_create(const sim_scene *scene, const sim_run_def *def, const core_progress *progress,
                             sim_setup *setup, core_error *err);
void sim_setup_clear(sim_setup *setup);
/// The bundle that a run of the scene takes, or NULL.
const char *sim_setup_maps(const sim_scene *scene, const sim_run_def *def);
/// The command that makes it.
void sim_setup_hint(const sim_scene *scene, const sim_run_def *def, char *hint, size_t n_bytes);

/// Where a run is.
typedef struct sim_moment {
    int phase; // scene->count_phases: all are done
    int64_t step_of_phase;
    int64_t calm;       // steps in a row, of a phase until rest
    double next_output; // whole number: the next frame is due at next_output x output_every
} sim_moment;
/// Writes a checkpoint under a temporary name, renamed; the one that was there becomes PATH.1. IO, MEMORY.
core_status sim_checkpoint_write(const char *path, const sim_scene *scene, const sim_setup *setup,
                                 const sim_moment *moment, const core_h5_provenance *provenance, core_error *err);
/// Puts a setup of the same scene into the state of an open checkpoint. FORMAT: shapes, maps or scene differ, or
/// numbers that no run has; NONFINITE, IO, MEMORY; on failure the setup can only be cleared.
core_status sim_checkpoint_read(core_h5 *file, const sim_scene *scene, sim_setup *setup, sim_moment *moment,
                                core_error *err);

/// Names of the scalars that a run of a scene records. `{0}` is "nothing".
typedef struct sim_observe {
    int count;
    core_run_observable *list;         // (count)
    char (*names)[CORE_NAME_MAX + 16]; // of those that are named after parts of the scene
} sim_observe;
int sim_observe_count(const sim_scene *scene);
core_status sim_observe_create(const sim_scene *scene, sim_observe *observe, core_error *err);
void sim_observe_clear(sim_observe *observe);
/// values: (sim_observe_count).
void sim_observe_fill(const sim_scene *scene, const sim_setup *setup, double *values);
/// Those that need the contacts: penetration_p99, coordination. MEMORY.
core_status sim_observe_contacts(const sim_scene *scene, const sim_world *world, int64_t n,
                                 const core_run_contact *contacts, double *values, core_error *err);

#endif
