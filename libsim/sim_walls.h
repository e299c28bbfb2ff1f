/// Private to libsim: boundaries that are no grains (half-planes, bounding circles, polylines) behind one contact
/// interface, and motion that is prescribed - of boundaries and of grains.
#ifndef SIM_WALLS_H
#define SIM_WALLS_H

#include "sim_law.h"

typedef struct sim_slot sim_slot; // sim_private.h

// ---------------------------------------------------------------------------------------------- prescribed motion

/// A body that follows a law of motion. `{0}` is at rest for ever.
typedef struct sim_mover {
    sim_motion_def law;  // its table is owned by the world
    double x[2], angle;  // pose when the motion starts, m, rad
    int64_t start, stop; // steps: moves from start to stop; start < 0: has not started, stop < 0: has not stopped
} sim_mover;
/// Pose at a step: rotated about the law's pivot, then displaced. A pure function of the step.
void sim_mover_pose(const sim_mover *mover, int64_t step, double dt, double x[2], double *angle);

// ---------------------------------------------------------------------------------------------- averaging

/// One candidate of a contact: a vertex or edge pair with its distance a (m) and rate b (m/rad) as the grain turns.
typedef struct sim_candidate {
    double a, b;
    double g[2]; // unit, from the boundary to the grain
    double p[2]; // m, contact point seen from the grain's centre, world axes
} sim_candidate;
/// Candidates looked at by one average; a grain has few vertices within a thousandth of its radius of being lowest.
#define SIM_CANDIDATES_MAX 32
/// Mean over t in [-width, width] of min_i (a_i + b_i t), with the mean direction, rate and point: the distance of the
/// lowest candidate, smoothed over a small range of angles as half-planes do in closed form (README.md, section 4).
/// `rows` are reordered. n >= 1. Fills d, g, d_theta_b, r_b; r_a is r_b + offset.n for offset = x_B - x_A.
void sim_candidates_average(sim_candidate *rows, int n, double width, const double offset[2], sim_contact *contact);

// ---------------------------------------------------------------------------------------------- shapes of boundaries

/// A half-plane with what a step needs of it: grains are where normal.x >= offset.
typedef struct sim_plane {
    double normal[2], offset;
    double angle; // rad, of -normal
} sim_plane;

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

/// Contact of a plane (A, at `origin`) and a grain (B) at x, theta. World axes.
void sim_plane_contact(const sim_plane *plane, const double origin[2], const sim_support *support, const double x[2],
                       double theta, double width, sim_contact *contact);
/// Contact of a circle of radius `radius` about `centre` (A) and a grain (B) inside it at x with cosine and sine of its
/// angle: radius - the largest distance of a hull vertex from the centre.
void sim_circle_contact(const double centre[2], double radius, const sim_support *support, const double x[2],
                        const double cos_sin[2], double width, sim_contact *contact);
/// Contact of a segment with everything within `half` (m) of it (A, body at `origin`) and a grain (B) with outline
/// `scale` x `outline`. Exact while the outline does not cross the segment itself.
void sim_segment_contact(const double from[2], const double to[2], double half, const double origin[2],
                         const core_outline *outline, double scale, const double x[2], const double cos_sin[2],
                         double width, sim_contact *contact);

// ---------------------------------------------------------------------------------------------- the table of
// boundaries

/// One boundary as it is now.
typedef struct sim_wall {
    sim_boundary_kind kind;
    bool present;
    int count_features;             // 1; of a polyline its segments
    double x[2], angle;             // pose of its body, m, rad; x is also what r_A and torques refer to
    double v[2], omega;             // of the last motion
    double v_next[2], omega_next;   // of the motion of this step
    sim_plane plane;                // PLANE, as it is now
    double radius;                  // CIRCLE: its own; POLYLINE: largest distance of a point from x
    double half;                    // POLYLINE: half the thickness
    double normal_body[2];          // PLANE, at angle 0
    double *points_body;            // POLYLINE (count_features + 1, x 2), about x at angle 0
    double *points;                 // the same in the world, now
    double x_built[2], angle_built; // pose when the list was built
    sim_mover mover;
    sim_servo_def servo; // active: the wall follows its pressure instead of a motion
    double reach;        // m: farthest from x that its surface can meet a grain, when the list was built
} sim_wall;

/// A grain near a feature of a boundary, with its contact.
typedef struct sim_wall_entry sim_wall_entry;

/// All boundaries and the grains near them. `{0}` is "nothing".
typedef struct sim_walls {
    int count;
    sim_wall *wall;  // (count)
    int n, capacity; // entries, by grain, then boundary, then feature
    int n_next, capacity_next;
    sim_wall_entry *entry, *entry_next;
    int *start, *start_next; // (grains + 1) first entry of each grain
    int n_listed;            // grains that the list knows
    double moved;            // m: most that a boundary's surface near grains has moved since the list was built
} sim_walls;

/// World points of a polyline from its pose, and a plane's normal and offset.
void sim_wall_place(sim_wall *wall);
/// Copies the definitions. capacity: grains. ARG, RANGE, NONFINITE, MEMORY.
core_status sim_walls_create(int count, const sim_boundary_def *defs, int capacity, sim_walls *walls, core_error *err);
void sim_walls_clear(sim_walls *walls);
/// Lists the grains near each feature; contacts keep their springs. MEMORY (the old list stays).
core_status sim_walls_find(sim_world *world, core_error *err);
/// Before the contacts of a step: motion of every boundary in this step.
void sim_walls_begin(sim_world *world);
/// After a step: boundaries are moved.
void sim_walls_end(sim_world *world);
/// Adds force and torque of the boundaries on grain i, in (boundary, feature) order; *dissipated: springs given up, J.
void sim_walls_forces(sim_world *world, int i, double force[2], double *torque, double *dissipated);
/// Adds the losses of grain i's contacts with boundaries at its new velocity, and the work that moving boundaries did,
/// to `lost`, J, as enum sim_lost has it.
void sim_walls_losses(const sim_world *world, int i, double *lost);
/// True if a circle reaches into no boundary that is present. period: two equal numbers, or where x repeats.
bool sim_walls_allow(const sim_walls *walls, const double period[2], const double x[2], double radius);
/// True if a circle does not reach into a grain: `scale` x `outline` at a pose, by exact geometry.
bool sim_body_allows(const core_outline *outline, double scale, const double position[2], double angle,
                     const double period[2], const double x[2], double radius);
/// Force and torque of the last step's contacts on a boundary (torque about its x).
void sim_walls_load(const sim_world *world, int boundary, double force[2], double *torque);
/// Takes a boundary away or puts it in; books what its contacts held.
void sim_walls_set_present(sim_world *world, int boundary, bool present);
/// A grain leaves: its contacts are forgotten.
void sim_walls_drop_grain(sim_world *world, int i);
/// Velocity of a servo wall in this step, and its motion.
void sim_servo_begin(sim_world *world, int boundary);
void sim_servo_end(sim_world *world, int boundary);
/// m: what the pressure acts on.
double sim_servo_length(const sim_world *world, const sim_wall *wall);
/// The body of a boundary before the motion of this step.
sim_body_state sim_wall_body(const sim_wall *wall);
/// Calls fn for every entry whose contact was evaluated in the last step, in order.
void sim_walls_visit(const sim_world *world, void (*fn)(void *arg, int grain, int boundary, const sim_slot *slot),
                     void *arg);

#endif
