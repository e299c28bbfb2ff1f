/// Private to libsim: the world's arrays and the functions its files share. Nothing here is for users of the library.
#ifndef SIM_PRIVATE_H
#define SIM_PRIVATE_H

#include "sim.h"

// Pairs per contact block and grains per grain block: fixed, so that block sums do not depend on threads.
#define SIM_BLOCK 256
// Below this many neighbour pairs a step runs in the caller: waking threads would cost more.
#define SIM_SERIAL_PAIRS 384
// Skin of the neighbour list in units of the smallest circumradius.
#define SIM_SKIN 0.25

// ---------------------------------------------------------------------------------------------- boundaries

/// Convex hull of a grain's outline as a support function. `{0}` is "nothing".
typedef struct sim_support {
    int n;
    double *xy;   // (n x 2) hull vertices, m, body frame, counter-clockwise
    double *from; // (n) rad in [0, 2 pi), ascending: vertex k is extreme in directions from[k] .. from[k+1]
} sim_support;

/// Hull of a canonical outline scaled by `radius`. SHAPE (fewer than three hull points), MEMORY.
core_status sim_support_create(const core_outline *canonical, double radius, sim_support *support, core_error *err);
void sim_support_clear(sim_support *support);
/// h = mean over beta +- width of min_v(-v.u(beta)), u(beta) = (cos, sin): lowest reach of the outline along a plane's
/// normal when -normal points along beta in the body frame; dh = its derivative with respect to the body's angle (beta
/// falls as the body turns). width >= 0.
void sim_support_evaluate(const sim_support *support, double beta, double width, double *h, double *dh);

/// A plane with what a step needs of it.
typedef struct sim_plane {
    double normal[2], offset;
    double angle; // rad, of -normal
    bool present;
} sim_plane;
/// Contact of a plane (A, fixed, at normal x offset) and a grain (B) at x, theta. World axes.
void sim_plane_contact(const sim_plane *plane, const sim_support *support, const double x[2], double theta,
                       double width, sim_contact *contact);

// ---------------------------------------------------------------------------------------------- contacts

/// One contact with its memory. Energies per metre of depth.
typedef struct sim_slot {
    double spring;    // m, tangential
    double d_theta_a; // m/rad
    double free_n;    // N: normal force beyond the spring's (damping, cut at zero); its work is dissipated
    double loss;      // J: what the tangential spring gave up in this step (negative: gained)
    sim_contact c;    // world axes
    sim_contact_force f;
} sim_slot;

/// d_theta_A = -d_theta_B - (x_B - x_A) x g.
double sim_contact_d_theta_a(const sim_contact *c, const double x_a[2], const double x_b[2]);
/// u_n and u_t of README.md, section 1, for given velocities (u_t = 0 where |g| < .05).
void sim_contact_rates(const sim_contact *c, double d_theta_a, const sim_body_state *a, const sim_body_state *b,
                       double *u_n, double *u_t);
/// Applies the law to slot->c with the spring slot->spring and fills the rest of the slot.
void sim_slot_apply(const sim_contact_law *law, const sim_body_state *a, const sim_body_state *b, double dt,
                    sim_slot *slot);
/// Work lost in the step from the velocities before (slot->f) to those after it (a, b): normal and tangential part, J.
void sim_slot_dissipation(const sim_slot *slot, const sim_body_state *a, const sim_body_state *b, double dt,
                          double *normal, double *tangential);
/// True unless the distance is known to be at least 0 (a NaN touches, so that the blow-up check meets it).
bool sim_slot_touches(const sim_slot *slot);

// ---------------------------------------------------------------------------------------------- broad phase

/// Neighbour pairs i < j in (i, j) order with their contact slots. `{0}` is "nothing".
typedef struct sim_pairs {
    int n, capacity, k_max;
    int *i, *j;        // (n)
    int *count;        // (n) contacts in the slots; 0: bounding circles apart
    uint8_t *touching; // (n)
    sim_slot *slot;    // (n x k_max)
} sim_pairs;
/// Makes room for `capacity` pairs; what is there stays. MEMORY (unchanged).
core_status sim_pairs_reserve(sim_pairs *pairs, int capacity, core_error *err);
void sim_pairs_clear(sim_pairs *pairs);
/// Moves counts and slots of `from` to the same pairs of `to` (both in (i, j) order); returns the energy of tangential
/// springs left behind, given stiffness(world, i, j) through `kt`.
double sim_pairs_carry(const sim_pairs *from, sim_pairs *to, double (*kt)(const void *arg, int i, int j),
                       const void *arg);

/// Uniform cells, hashed into buckets (space is unbounded). `{0}` is "nothing".
typedef struct sim_broad {
    int capacity, count_buckets; // power of two
    double skin, cell;           // m
    int *start;                  // (count_buckets + 1)
    int *item;                   // (capacity) grains by bucket
    int64_t *cx, *cy;            // (capacity) cell of each grain
} sim_broad;
/// cell = 2 x largest radius + skin.
core_status sim_broad_create(int capacity, double radius_max, double skin, sim_broad *broad, core_error *err);
void sim_broad_clear(sim_broad *broad);
/// All pairs with |x_j - x_i| <= radius[type[i]] + radius[type[j]] + skin, i < j, in (i, j) order, without contacts
/// (counts 0). MEMORY when the list grows.
core_status sim_broad_find(sim_broad *broad, int n, const double *x, const int *type, const double *radius,
                           sim_pairs *pairs, core_error *err);

// ---------------------------------------------------------------------------------------------- world

/// Neighbour pairs of one ordered type pair that are queried together.
typedef struct sim_contact_block {
    int type_pair;    // type_a x count_types + type_b
    int first, count; // range of world->order
    int count_evaluated;
    double dissipated_normal, dissipated_tangential; // J, of this step
} sim_contact_block;

/// Sums over SIM_BLOCK consecutive grains.
typedef struct sim_grain_block {
    double dissipated_normal, dissipated_tangential; // J, of this step
    double moved; // m^2, largest squared displacement since the neighbour list was built
    int broken;   // first grain that blew up, or -1
} sim_grain_block;

/// Room of one worker for one batch.
typedef struct sim_scratch {
    cspace_pose pose[SIM_BLOCK];
    int pair[SIM_BLOCK];
    int count[SIM_BLOCK];
    sim_contact contact[SIM_BLOCK * SIM_CONTACTS_MAX];
} sim_scratch;

enum { SIM_STAGE_LIST, SIM_STAGE_CONTACTS, SIM_STAGE_GRAINS, SIM_STAGE_LOSSES, SIM_STAGES };

struct sim_world {
    // what it is made of
    int capacity, count_types, count_planes, threads, k_max;
    int threads_used; // 1 .. threads, of the next step; changes no bit
    double gravity[2], dt, smoothing;
    double *radius, *type_mass, *type_inertia; // (count_types)
    sim_support *support;                      // (count_types)
    sim_contact_law *law;                      // (count_types x (count_types + count_planes))
    sim_plane *plane;                          // (count_planes)
    sim_narrow narrow;
    // state, grains in id order
    int n;
    int64_t step;
    double *x, *theta, *v, *omega;          // (n x 2), (n), (n x 2), (n)
    double *cos_sin;                        // (n x 2) of theta
    double *mass, *inertia;                 // (n)
    double *inverse_mass, *inverse_inertia; // (n)
    int *type;                              // (n)
    // contacts
    sim_pairs pairs, pairs_next;
    sim_slot *plane_slot; // (n x count_planes)
    uint8_t *plane_near;  // (n x count_planes) 1: the slot was filled in the last step
    double dissipated_normal, dissipated_tangential;
    // neighbour list
    sim_broad broad;
    bool stale;          // the list has to be built before it is used
    double *x_built;     // (n x 2) positions it was built at
    int *adjacent_start; // (capacity + 1)
    int *adjacent;       // (2 x pairs) 2 x pair + (0: the grain is A, 1: B), ascending
    int *order;          // (pairs) pairs by type pair, then by index
    int count_blocks, blocks_capacity;
    sim_contact_block *block;
    int *kind_count;              // (count_types^2) scratch of the ordering
    int list_capacity;            // pairs that adjacent, order hold
    sim_grain_block *grain_block; // (ceil(capacity / SIM_BLOCK))
    sim_scratch *scratch;         // (threads)
    // for benchmarks
    bool timed;
    double stage_time[SIM_STAGES]; // s
};

/// Builds the neighbour list from the present positions; springs move to the new list. MEMORY (the old list stays).
core_status sim_world_rebuild(sim_world *world, core_error *err);
sim_body_state sim_world_body(const sim_world *world, int i);
sim_body_state sim_plane_body(const sim_plane *plane);
const sim_contact_law *sim_world_law(const sim_world *world, int type, int other);
/// Seconds of the wall clock, for benchmarks and the choice of threads; never part of a result.
double sim_wall_time(void);

// ---------------------------------------------------------------------------------------------- back ends and runs

/// sim_narrow_neural with the command line that a message about a missing pair shows.
core_status sim_narrow_neural_hint(const cspace_bundle *bundle, int count_types, const sim_type_def *types, int workers,
                                   const char *hint, sim_narrow *narrow, core_error *err);

/// A scene made ready to run: grains placed, maps loaded. `{0}` is "nothing".
typedef struct sim_setup {
    sim_world *world;
    cspace_bundle bundle; // borrowed by the world's narrow phase
    char *maps_path;      // or NULL
    uint64_t maps_hash;
    double dt, stiffness; // stiffness: dt sqrt(k_n/m_eff) of the stiffest pair, by the bound of sim_dt_auto
} sim_setup;
core_status sim_setup_create(const sim_scene *scene, const sim_run_def *def, const core_progress *progress,
                             sim_setup *setup, core_error *err);
void sim_setup_clear(sim_setup *setup);

#endif
