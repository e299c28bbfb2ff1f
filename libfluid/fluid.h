/// libfluid: sand and water as a continuum on a PIC/FLIP solver (Zhu & Bridson 2005), in two and three dimensions from
/// one code: the dimension is a number of the grid. SI units; in 2D one metre of depth. Equations: libfluid/README.md.
#ifndef FLUID_H
#define FLUID_H

#include "core.h"
#include "core_motion.h"
#include "sdf.h"

#define FLUID_CELLS_MAX 200000000     // of a grid, its border included
#define FLUID_PARTICLES_MAX 100000000 // of a world

// ---------------------------------------------------------------------------------------------- grid

/// A staggered grid with a border of one cell on each side, which is wall (or, along a periodic axis 0, the cells of
/// the other end). Cell, lower face along each axis and lower corner share one index: cell c has the faces c and
/// c + stride[a] along axis a, and its lower corner is node c.
typedef struct fluid_grid {
    int dim;          // 2 or 3
    int cells[3];     // along each axis, border included; 1 beyond dim
    int stride[3];    // of an index along each axis
    int count;        // cells[0] cells[1] cells[2]
    double h;         // edge of a cell, m
    double origin[3]; // lower corner of the first cell inside the border, m
    bool periodic;    // along axis 0
} fluid_grid;

// ---------------------------------------------------------------------------------------------- solids

/// What a body is, and which fields of fluid_solid describe it.
typedef enum fluid_solid_kind {
    FLUID_SOLID_PLANE, // material where normal.(x - centre) > 0
    FLUID_SOLID_BOX,   // centre, half
    FLUID_SOLID_BALL,  // centre, radius; a disc in 2D
    FLUID_SOLID_BOWL,  // material inside the ball
    FLUID_SOLID_BAR,   // segment from centre to end, radius: half its thickness
    FLUID_SOLID_SHAPE  // 2D: a shape's distance grid, circumradius `radius`, turned by `angle`
} fluid_solid_kind;

/// A body given by its signed distance, or a region to fill. Fields a kind does not name are ignored.
typedef struct fluid_solid {
    fluid_solid_kind kind;
    bool present;
    double friction;       // of material sliding on it, >= 0
    double centre[3];      // m; of a plane: any point of it
    double normal[3];      // plane: unit vector towards the material
    double half[3];        // box: half its edges, m
    double end[3];         // bar, m
    double radius;         // m
    double angle;          // shape: rad, counter-clockwise
    const sdf_grid *shape; // borrowed as long as the world lives
    core_motion motion;    // in the plane of the first two axes, about `centre` unless told otherwise; all 0: it rests;
                           // table borrowed as long as the world lives
} fluid_solid;

/// Signed distance from a body in the first dim coordinates of x, negative inside it (beside a shape's grid an upper
/// bound). Pure.
double fluid_solid_distance(const fluid_solid *solid, int dim, const double *x);

// ---------------------------------------------------------------------------------------------- world

/// Water has no friction; sand resists shear (libfluid/README.md, section 4).
typedef enum fluid_material { FLUID_WATER, FLUID_SAND } fluid_material;
/// How the friction of sand is found: one yield law solved implicitly, or the explicit one of the paper.
typedef enum fluid_sand { FLUID_SAND_UNIFIED, FLUID_SAND_PAPER } fluid_sand;
/// What bounds the friction of walls: the pressure on them, or, in the paper, the velocity into them.
typedef enum fluid_wall_law { FLUID_WALL_PRESSURE, FLUID_WALL_PAPER } fluid_wall_law;
/// Where the pressure is zero: where the particles end (ghost fluid, second order), in the middle of the first air cell
/// (first order), on the face between a full and an air cell (first order, without the bias of half a cell).
typedef enum fluid_surface { FLUID_SURFACE_GHOST, FLUID_SURFACE_FIRST, FLUID_SURFACE_FACE } fluid_surface;

/// How conjugate gradients for the pressure are preconditioned: by multigrid, or by MIC(0), the reference.
typedef enum fluid_precondition { FLUID_PRECONDITION_MULTIGRID, FLUID_PRECONDITION_MIC } fluid_precondition;

/// What a world is made of. Start from fluid_default_def. Numbers are finite; h and density 1e-9 .. 1e9, friction,
/// friction_rise and wall_friction 0 .. 1000, cohesion 0 .. 1e12.
typedef struct fluid_def {
    int cookie;
    int dim;                         // 2 (default) or 3
    double region[6];                // x0, y0, z0, x1, y1, z1 in m: a whole number of cells along each axis (to 1e-6)
    double h;                        // edge of a cell, m, above 0
    bool periodic;                   // along x (default false: walls all round)
    int capacity;                    // particles at most, 1 .. FLUID_PARTICLES_MAX (no default)
    fluid_material material;         // default sand
    double density;                  // kg/m^3 (default 1500)
    double gravity[3];               // m/s^2 (default 0, -9.81, 0)
    double flip;                     // share of FLIP in the transfer back, 0 .. 1 (default 0: PIC or APIC)
    bool affine;                     // APIC: particles carry the gradient of their velocity (default true)
    fluid_surface surface;           // default: ghost fluid
    fluid_precondition precondition; // default: multigrid
    double tolerance;     // of the pressure, relative, 1e-14 .. 1e-2 (default 1e-6; coarser ones make false yielding)
    double cfl;           // cells a particle may move in a step, .05 .. 5 (default 1)
    double dt;            // s, 1e-12 .. 1e6; NaN: by cfl (default)
    double wall_friction; // of the walls around the region (default 0)
    fluid_wall_law wall_law; // default: pressure
    fluid_sand sand;         // unified (default) or the paper's mode
    double friction;         // M, the tangent of the slope that just moves (default .32); unified mode
    double friction_rise;    // what M gains in fast flow, M + rise/(1 + inertial_number/I) with the inertial number
                             // I = grain_size sqrt(2) |D|/sqrt(p/density) (default 0); unified mode
    double grain_size;       // m, above 0; used where friction_rise is above 0
    double inertial_number;  // at which half of the rise is reached, 1e-6 .. 1e6 (default .4)
    double friction_angle;   // rad, 0 .. pi/2; paper mode (default 30 degrees)
    double cohesion;         // Pa (default 0)
    int sweeps;              // of the friction stress per step at most, 1 .. 1e5 (default 60)
    int rounds;              // of pressure and friction per step, 1 .. 1000 (default 1)
    double relaxation;       // paper mode: share of the rigid stress applied, 0 .. 1 (default .25)
    int threads;             // 1 .. 1024 (default 1); never changes a bit of the result
} fluid_def;

typedef struct fluid_world fluid_world;

/// The defaults named above.
fluid_def fluid_default_def(void);
/// An empty world inside the walls of its region. solids: copied, but for the grids of shapes and tables of motions.
/// ARG, RANGE (names the field), NONFINITE, MEMORY. Memory of sand in 2D: 420 bytes a cell, 88 a particle. UNSUPPORTED:
/// solids that move in the paper's mode, boxes that turn.
core_status fluid_world_create(const fluid_def *def, int count_solids, const fluid_solid *solids, fluid_world **world,
                               core_error *err);
/// Frees, nulls the handle; accepts NULL.
void fluid_world_destroy(fluid_world **world);
/// Puts a solid there or takes it away. RANGE: no such solid. Cost: the whole grid.
core_status fluid_world_set_present(fluid_world *world, int solid, bool present, core_error *err);

/// Starts the motion of a solid whose law waits, from where it is, or stops it where it is. RANGE: no such solid.
/// Others move from t = 0 on.
core_status fluid_world_start_motion(fluid_world *world, int solid, core_error *err);
core_status fluid_world_stop_motion(fluid_world *world, int solid, core_error *err);

/// How a region is filled.
typedef struct fluid_seed_def {
    fluid_solid region; // filled inside, outside of solids
    double velocity[3]; // m/s
    double jitter;      // of the sub-cell, 0 .. .5 (usually .25)
    bool surface_layer; // particles less than a cell from the region's surface (and not from a solid) move to half a
                        // cell from it
    uint64_t seed;
} fluid_seed_def;
/// Fills with 2^dim jittered particles a cell; *added (may be NULL): how many. RANGE: capacity exceeded (nothing is
/// added), a jitter outside [0, .5], a region of kind PLANE or BOWL.
core_status fluid_world_seed(fluid_world *world, const fluid_seed_def *def, int *added, core_error *err);
/// How many particles fluid_world_seed would add, whatever the capacity. Errors as there.
core_status fluid_world_seed_count(const fluid_world *world, const fluid_seed_def *def, int *count, core_error *err);
/// One particle. RANGE: no room, or outside the region; NONFINITE.
core_status fluid_world_add(fluid_world *world, const double *position, const double *velocity, core_error *err);

/// One step of the length fluid_world_dt, or `limit` if that is shorter (s; INFINITY: none). NOT_CONVERGED: the
/// pressure, or a particle whose velocity is not finite; RANGE: without gravity and motion there is no length. After
/// NOT_CONVERGED the world is of no use. Allocates nothing. Cost: libfluid/README.md, section 7.
core_status fluid_world_step(fluid_world *world, double limit, core_error *err);
/// Length the next step will have, s.
double fluid_world_dt(const fluid_world *world);

/// Particles of a world as they are stored (sorted by cell); borrowed until the next call that changes the world.
typedef struct fluid_particles {
    int n, capacity;
    double *x[3];   // (n) m
    double *v[3];   // (n) m/s
    double *c[9];   // (n) 1/s: c[3 a + b] is the slope of v_a along b; APIC alone
    int32_t *id;    // (n) 0 .. n - 1 in the order they were added
    int32_t *cell;  // (n) index of the cell
    int32_t *image; // (n) periods that x has left behind; NULL unless x is periodic
} fluid_particles;

/// A look at a world.
typedef struct fluid_state {
    const fluid_grid *grid;
    const fluid_particles *particles;
    int64_t step;
    double time;            // s
    double particle_mass;   // kg
    const double *u[3];     // velocities on faces, m/s
    const double *pressure; // Pa at the centres of full cells
    const uint8_t *cell;    // 0 solid, 1 air, 2 full
} fluid_state;
/// Arrays are borrowed until the next call that changes the world; indices as in fluid_grid.
fluid_state fluid_world_state(const fluid_world *world);
/// Hash of particles, time and warm starts: equal for the same bits.
uint64_t fluid_world_hash(const fluid_world *world);

/// Sums over the particles.
typedef struct fluid_totals {
    double mass;        // kg
    double momentum[3]; // kg m/s
    double kinetic;     // J
    double potential;   // J, zero at the origin
    double speed_max;   // m/s
    int iterations;     // of the last pressure solve
    int sweeps;         // of the last friction solve
    int count_full;     // full cells
} fluid_totals;
/// Cost: O(particles).
void fluid_world_totals(const fluid_world *world, fluid_totals *totals);

#endif
