/// Private to libfluid: the world and what its parts share.
#ifndef FLUID_PRIVATE_H
#define FLUID_PRIVATE_H

#include "fluid.h"

/// Kinds of cells, as fluid_state tells them.
enum { FLUID_CELL_SOLID = 0, FLUID_CELL_AIR = 1, FLUID_CELL_FULL = 2 };

#define FLUID_WEIGHT_MIN 1e-9 // sum of weights below which a face knows nothing of the particles

// Stages of a step, for the benchmark.
typedef enum fluid_stage {
    FLUID_STAGE_SORT,
    FLUID_STAGE_TO_GRID,
    FLUID_STAGE_CELLS,
    FLUID_STAGE_EXTEND,
    FLUID_STAGE_PRESSURE,
    FLUID_STAGE_TO_PARTICLES,
    FLUID_STAGE_MOVE,
    FLUID_STAGES
} fluid_stage;

// Friction stress, times dt/(rho h) (m/s). Pairs of axes are (0,1), (0,2), (1,2); in 2D the first alone. A cell has its
// own copy of the shear at each of its four edges along the third axis; an edge's stress is the mean of its four
// cells'.
typedef struct fluid_stress {
    double *diagonal[3]; // (count) trace-free
    double *shear[3][4]; // (count) copy at the edge one step up along the first axis (bit 0), the second (bit 1)
    double *wall[3];     // (count) traction of the material on the wall in a cell
} fluid_stress;

#define FLUID_LEVELS_MAX 28 // halvings of the longest axis of FLUID_CELLS_MAX cells, and one more

// A level of the multigrid: the box of cells that is looked at, in the world's own arrays (level 0) or packed behind a
// border of one cell.
typedef struct fluid_level {
    int n[3], stride[3], base;            // cells along each axis, of an index, index of the first
    double *diagonal, *inverse, *link[3]; // (cells) matrix; 1/diagonal, 0 where there is no material
    double *x, *b;                        // (cells) unknown and right-hand side; level 0: the world's z and r
} fluid_level;

// A solid's motion.
typedef struct fluid_mover {
    fluid_solid home;                   // as it is when the motion starts
    double start, stop;                 // s; INFINITY: it waits; it goes on
    bool goes;                          // in this step
    double velocity[2], spin, about[2]; // of this step: m/s, 1/s; the point that moves with the velocity, m
} fluid_mover;

/// (count): of cells, faces along an axis, edges or nodes of the grid, as indexed there; (rows): of the box.
struct fluid_world {
    fluid_def def;
    fluid_grid grid;
    int count_solids;
    fluid_solid *solids;
    bool moves;          // a solid has a law of motion; without one the next two are NULL
    fluid_mover *mover;  // (count_solids)
    int32_t *nearest[3]; // (count) faces: the solid nearest to their middle, -1 for the walls around
    fluid_particles p;
    double *spare; // (capacity) for sorting
    int32_t *spare_id, *order;
    double particle_mass;                      // kg
    double *u[3], *old[3], *star[3], *mass[3]; // (count) faces: velocity, before the forces, scratch, weight
    uint8_t *known[3];                         // (count) faces that carry a velocity of the material
    double *phi_solid;                         // (count) nodes: distance from solids, m
    double *area[3];                           // (count) faces: open part, 0 .. 1
    double *friction;                          // (count) cells: friction coefficient of the nearest solid
    uint8_t *open;                             // (count) cells with an open face
    uint8_t *cut;                              // (count) open cells with a face that is not fully open
    uint8_t *cell, *mark;                      // (count) FLUID_CELL_...; marks in progress
    uint8_t *loose;                            // (count) air cells with particles that touch no full cell
    int32_t *first, *number;                   // (count) particles of a cell
    double *phi;                               // (count) cells near the surface: distance from the material, m
    double *q;                                 // (count) pressure times dt/(rho h), m/s
    double *pressure;                          // (count) Pa
    double *diagonal, *link[3], *precon, *b, *r, *z, *s; // (count) pressure matrix and vectors
    fluid_level level[FLUID_LEVELS_MAX];
    int count_levels, levels; // that there is memory for; in use
    int32_t *label, *list;    // (count) components and queues
    int32_t *wall_face;       // (count_wall_faces) closed faces near the material's side of a solid: 4 c + axis
    int count_wall_faces;
    double *row_sum, *row_max;  // (rows)
    int *span_lo, *span_hi;     // (rows) full cells of a row lie in [span_lo, span_hi)
    bool cuts;                  // some face is open in part
    double *inertia[3];         // (count) faces: mass that friction accelerates, part of rho h^dim
    double *light;              // (count) cells: least of it among the faces that the cell's strain rate reads
    uint8_t *slanted;           // (count) cells with a closed face that is not along the wall: it cannot hold them
    double *wall_part;          // (count) cells: wall in it, h^(dim-1)
    double *wall_normal[3];     // (count) of that, unit, into the solid
    fluid_stress stress, ahead; // of sand: the last iterate, and the extrapolated one
    double *bound, *wall_bound; // (count) what the stress and the wall's traction of a full cell may reach
    double *wall_most;          // (count) what friction of the wall itself bounds the traction by
    double *rise, *half, *wall_rise, *wall_half; // (count) what the limits gain in fast flow; strain and slip at half
                                                 // of it, m/s; NULL without friction_rise
    double *edge[3];                             // (count) edges: shear stress
    uint8_t *edge_inside[3];                     // (count) edges that carry shear
    double *base[3];                             // (count) faces: velocity without friction
    int lo[3], hi[3];                            // cells that are looked at: [lo, hi) along each axis
    int threads;                                 // of the present step: 1 while there is little to do
    int parallel_min;                            // cells of the box from which on there is enough for threads
    double speed_max;                            // m/s, of the particles
    double warm_dt;                              // s: the step that the warm starts belong to
    int iterations, sweeps, count_full;
    int64_t step;
    double time;
    void (*tick)(void *user, fluid_stage stage); // benchmark: called behind each stage; NULL
    void *tick_user;
};

// ---------------------------------------------------------------------------------------------- grid (fluid_grid.c)

core_status fluid__grid_init(const fluid_def *def, fluid_grid *grid, core_error *err);
/// Rows (along axis 0) of the box [lo, hi).
static inline int64_t fluid__row_count(const fluid_world *w) {
    return (int64_t)(w->hi[1] - w->lo[1]) * (w->hi[2] - w->lo[2]);
}
/// Index of cell 0 of row r of the box.
static inline int fluid__row_base(const fluid_world *w, int64_t r) {
    const int nj = w->hi[1] - w->lo[1];
    return (w->lo[1] + (int)(r % nj)) * w->grid.stride[1] + (w->lo[2] + (int)(r / nj)) * w->grid.stride[2];
}
/// The same for the rows of the box and one more on each side, where faces of the walls around it lie.
static inline int64_t fluid__wide_count(const fluid_world *w) {
    const int more = w->grid.dim == 3 ? 2 : 0;
    return (int64_t)(w->hi[1] - w->lo[1] + 2) * (w->hi[2] - w->lo[2] + more);
}
static inline int fluid__wide_base(const fluid_world *w, int64_t r) {
    const int nj = w->hi[1] - w->lo[1] + 2, k0 = w->grid.dim == 3 ? w->lo[2] - 1 : 0;
    return (w->lo[1] - 1 + (int)(r % nj)) * w->grid.stride[1] + (k0 + (int)(r / nj)) * w->grid.stride[2];
}
/// Runs fn(arg, row, worker) over the rows of the box.
void fluid__rows(const fluid_world *w, void (*fn)(void *arg, int64_t row, int worker), void *arg);
/// Copies what a periodic grid repeats: columns 0 and n + 1 of every row of the box and one around it.
void fluid__wrap(const fluid_world *w, double *field);
void fluid__wrap_bytes(const fluid_world *w, uint8_t *field);
/// Copies all components on the faces of the box and its rim.
void fluid__copy_faces(const fluid_world *w, double *const from[3], double *const to[3]);
/// Empties the box after the last step; all cells of it are air or solid.
void fluid__box_reset(fluid_world *w);
/// The box from cell `lowest` to `highest` (both inside) and `margin` cells more, within the border.
void fluid__box_fit(fluid_world *w, const int lowest[3], const int highest[3], int margin);
/// Cell coordinates of a position: cell = floor, border included.
static inline double fluid__cell_of(const fluid_grid *g, int axis, double x) {
    return (x - g->origin[axis]) / g->h + 1;
}
/// Multilinear value and gradient (NULL allowed) of a node field at x.
double fluid__node_sample(const fluid_grid *g, const double *field, const double *x, double *gradient);
/// Sets label to -1 in the box.
void fluid__labels_clear(fluid_world *w, int32_t *label);
/// Labels the connected part of member[c] == value that c is in, if it has no label; its cells are then the first of
/// w->list. Returns their number.
int fluid__component_at(fluid_world *w, const uint8_t *member, uint8_t value, int32_t *label, int c, int part);
/// Connected parts of the cells with member[c] == value; label[c] = 0 .. n-1 there, -1 elsewhere in the box. Returns n.
int fluid__components(fluid_world *w, const uint8_t *member, uint8_t value, int32_t *label);

// ---------------------------------------------------------------------------------------------- stages

void fluid__solid_update(fluid_world *w);                             // fluid_solid.c: node distances, open parts
void fluid__sort(fluid_world *w);                                     // fluid_particles.c: by cell; fits the box
void fluid__to_grid(fluid_world *w);                                  // fluid_transfer.c: u and mass from the particles
void fluid__to_particles(fluid_world *w);                             // fluid_transfer.c: v (and c) from u and old
void fluid__sample(const fluid_world *w, const double *x, double *v); // fluid_transfer.c: u at x
void fluid__mark_cells(fluid_world *w);                               // fluid_cells.c: kinds and spans by particles
void fluid__surface_phi(fluid_world *w);                              // fluid_cells.c: phi and kinds near the surface
void fluid__extend(fluid_world *w, bool by_mass);                     // fluid_extend.c: u beyond the known faces
core_status fluid__project(fluid_world *w, double *q, core_error *err); // fluid_pressure.c: u without divergence
core_status fluid__pcg(fluid_world *w, double *q, core_error *err);     // fluid_pcg.c: solves diagonal, link, b
core_status fluid__levels_create(fluid_world *w, core_error *err);      // fluid_multigrid.c
void fluid__levels_destroy(fluid_world *w);
void fluid__levels_build(fluid_world *w);    // from diagonal and link
void fluid__levels_cycle(fluid_world *w);    // z = an approximate inverse of the matrix times r
void fluid__move(fluid_world *w, double dt); // fluid_move.c

// ---------------------------------------------------------------------------------------------- motion

/// Puts solid i where its law has it at a time (fluid_motion.c).
void fluid__solid_pose(fluid_world *w, int i, double time);
/// dt, or less if a solid would go further than particles may.
double fluid__motion_dt(const fluid_world *w, double dt);
/// Velocities of the solids in a step from now of length dt.
void fluid__motion_rates(fluid_world *w, double dt);
/// All solids that go to where they are at a time.
void fluid__motion_advance(fluid_world *w, double time);
/// The solid nearest to x (-1: a wall around) and its normal there (dim), which a node field of distances has not where
/// two solids meet (fluid_solid.c).
int fluid__nearest_solid(const fluid_world *w, const double *x, double *n);
/// Velocity of a solid (-1: a wall around, at rest) at x along an axis, in a world that moves.
double fluid__solid_speed(const fluid_world *w, int solid, int axis, const double *x);
/// The same of the solid nearest to face f, in the face's middle.
double fluid__face_speed(const fluid_world *w, int axis, int f);

// ---------------------------------------------------------------------------------------------- sand

core_status fluid__sand_unified(fluid_world *w, double dt, core_error *err); // fluid_friction.c
core_status fluid__sand_paper(fluid_world *w, double dt, core_error *err);   // fluid_paper.c
/// The paper's friction of walls (fluid_paper.c).
void fluid__wall_paper(fluid_world *w);
/// Projects connected parts of cells with mark[c] == value, of two cells and more, on rigid motion (fluid_rigid.c).
void fluid__rigid_project(fluid_world *w, const uint8_t *member, uint8_t value);
/// Edges that carry shear and masses of faces, once a step (fluid_stress.c).
void fluid__stress_begin(fluid_world *w);
/// Limits of the stress from q (fluid_stress.c).
void fluid__stress_bound(fluid_world *w, double dt);
/// u = from + the acceleration of a stress; `sign` -1 takes it off.
void fluid__stress_apply(fluid_world *w, const fluid_stress *stress, double *const from[3], double sign);
/// Pairs of axes.
static inline int fluid__pairs(int dim) {
    return dim == 2 ? 1 : 3;
}
/// Neighbour of a cell with a wall, away from it along the axis nearest to its normal.
static inline int fluid__away(const fluid_world *w, int c) {
    int axis = 0;
    for (int a = 1; a < w->grid.dim; ++a) {
        const double one = w->wall_normal[a][c], most = w->wall_normal[axis][c];
        if (one * one > most * most) axis = a;
    }
    return c + (w->wall_normal[axis][c] > 0 ? -1 : 1) * w->grid.stride[axis];
}
/// Distance of the middle of cell c from solids, m.
static inline double fluid__cell_phi(const fluid_world *w, int c) {
    double sum = 0;
    for (int corner = 0; corner < 1 << w->grid.dim; ++corner) {
        int node = c;
        for (int a = 0; a < w->grid.dim; ++a) node += corner >> a & 1 ? w->grid.stride[a] : 0;
        sum += w->phi_solid[node];
    }
    return sum / (1 << w->grid.dim);
}
/// q at the wall of cell c, continued along the wall's normal; not below 0.
double fluid__wall_q(const fluid_world *w, int c);
/// Velocity along the wall in cell c; returns the one into the wall.
double fluid__wall_slip(const fluid_world *w, int c, double slip[3]);
/// Part of the way from the middle of full cell c to that of its air neighbour at which q is zero (fluid_pressure.c).
double fluid__surface_at(const fluid_world *w, int c, int air);
/// Layers of faces beyond the known ones that a step needs.
int fluid__layers(const fluid_world *w);

#endif
