/// Friction stress on the grid: where it lives, what it may reach, what it does to the velocity.
///
/// Lengths are cells and times are steps, so that a stress s counts as s dt/(rho h), in m/s, and accelerates a face by
/// plain differences. The diagonal lives in the middle of cells; the shear of axes a and b lives at edges (in 2D:
/// corners), where every full cell around has a copy of its own. The stress of the edge is the mean of the four copies.
/// So the limit of a cell binds numbers of that cell alone, and to push a stress back to its limit is to scale it.
#include "fluid_private.h"

#include <math.h>

static const int FIRST[3] = {0, 0, 1}, SECOND[3] = {1, 2, 2}; // axes of a pair

static const double MASS_MIN = .02;      // of a face
static const double PAPER_MASS_MIN = .5; // in the paper's mode

// ---------------------------------------------------------------------------------------------- walls

double fluid__wall_q(const fluid_world *w, int c) {
    const int away = fluid__away(w, c);
    double rise = 0; // of q over a cell
    if (w->cell[away] == FLUID_CELL_FULL) rise = w->q[c] - w->q[away];
    if (w->cell[away] == FLUID_CELL_AIR) rise = w->q[c] / fluid__surface_at(w, c, away);
    return fmax(w->q[c] + fluid__cell_phi(w, c) / w->grid.h * rise, 0);
}

// Shares of a cell's two faces along an axis in its velocity: those of their open parts.
static inline void shares(const fluid_world *w, int axis, int c, double share[2]) {
    const double low = w->area[axis][c], high = w->area[axis][c + w->grid.stride[axis]], sum = low + high;
    share[0] = sum > 0 ? low / sum : 0;
    share[1] = sum > 0 ? high / sum : 0;
}

double fluid__wall_slip(const fluid_world *w, int c, double slip[3]) {
    double along = 0, share[2];
    for (int a = 0; a < w->grid.dim; ++a) {
        shares(w, a, c, share);
        const int up = c + w->grid.stride[a];
        slip[a] = share[0] * w->u[a][c] + share[1] * w->u[a][up];
        if (w->moves) slip[a] -= share[0] * fluid__face_speed(w, a, c) + share[1] * fluid__face_speed(w, a, up);
        along += slip[a] * w->wall_normal[a][c];
    }
    for (int a = 0; a < w->grid.dim; ++a) slip[a] -= along * w->wall_normal[a][c];
    return along;
}

// ---------------------------------------------------------------------------------------------- bounds

typedef struct stress_job {
    fluid_world *w;
    const fluid_stress *stress;
    double *const *from;
    double cohesion, dt, sign;
} stress_job;

// True if edge e carries shear: three of the cells around it hold material (all four in the paper's mode) and its faces
// are open. With three, each face still bounds a full cell; without such edges the sand on a stair of the surface would
// not hang on to the rest.
static bool is_inside(const fluid_world *w, int pair, int e) {
    const int a = FIRST[pair], b = SECOND[pair], sa = w->grid.stride[a], sb = w->grid.stride[b];
    if (e < sa + sb) return false;
    const int full = (w->cell[e] == FLUID_CELL_FULL) + (w->cell[e - sa] == FLUID_CELL_FULL) +
                     (w->cell[e - sb] == FLUID_CELL_FULL) + (w->cell[e - sa - sb] == FLUID_CELL_FULL);
    return full >= (w->def.sand == FLUID_SAND_PAPER ? 4 : 3) && w->area[a][e] > 0 && w->area[a][e - sb] > 0 &&
           w->area[b][e] > 0 && w->area[b][e - sa] > 0;
}

static void edges_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = ((const stress_job *)arg)->w;
    const int base = fluid__wide_base(w, row);
    for (int pair = 0; pair < fluid__pairs(w->grid.dim); ++pair)
        for (int e = base + w->lo[0] - 1; e < base + w->hi[0] + 1; ++e) {
            w->edge_inside[pair][e] = is_inside(w, pair, e);
            w->edge[pair][e] = 0;
        }
}

// True if a cell and its neighbours hold no air.
static bool is_deep(const fluid_world *w, int c) {
    if (w->cell[c] != FLUID_CELL_FULL) return w->cell[c] == FLUID_CELL_SOLID;
    for (int a = 0; a < w->grid.dim; ++a)
        for (int way = -1; way < 2; way += 2)
            if (w->cell[c + way * w->grid.stride[a]] == FLUID_CELL_AIR) return false;
    return true;
}

// Mass of the faces of a row: their open part; near the free surface no more than what lies below the surface that the
// pressure sees. A friction that grows from nothing with the depth cannot hold a whole cell's mass where there is a
// tenth of it.
static void inertia_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = ((const stress_job *)arg)->w;
    const bool paper = w->def.sand == FLUID_SAND_PAPER; // an explicit stress needs heavy faces
    const bool ghost = w->def.surface == FLUID_SURFACE_GHOST;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < w->grid.dim; ++a) {
        const int s = w->grid.stride[a];
        for (int f = base + w->lo[0] - 1; f < base + w->hi[0] + 1; ++f) {
            double mass = w->area[a][f];
            if (ghost && !paper && mass > 0 && !(is_deep(w, f) && is_deep(w, f - s)))
                mass = fmin(mass, .5 - .5 * (w->phi[f] + w->phi[f - s]) / w->grid.h);
            w->inertia[a][f] = fmax(mass, paper ? PAPER_MASS_MIN : MASS_MIN);
        }
    }
}

static void light_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = ((const stress_job *)arg)->w;
    const fluid_grid *g = &w->grid;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        double least = 1;
        for (int a = 0; a < g->dim && w->cell[c] == FLUID_CELL_FULL; ++a)
            for (int side = 0; side < 2; ++side) {
                const int f = c + side * g->stride[a];
                if (w->area[a][f] > 0) least = fmin(least, w->inertia[a][f]);
                for (int b = 0; b < g->dim; ++b)
                    for (int way = -1; way < 2 && b != a; way += 2)
                        if (w->area[a][f + way * g->stride[b]] > 0)
                            least = fmin(least, w->inertia[a][f + way * g->stride[b]]);
            }
        w->light[c] = least;
    }
}

void fluid__stress_begin(fluid_world *w) {
    stress_job job = {.w = w};
    core_thread_for(w->threads, fluid__wide_count(w), edges_row, &job);
    core_thread_for(w->threads, fluid__wide_count(w), inertia_row, &job);
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->inertia[a]);
    fluid__rows(w, light_row, &job);
}

// How the limit of cell c rises with the inertial number I (Jop, Forterre & Pouliquen 2006),
//     I = grain rate/sqrt(p/rho),   p/rho = q h/dt,   rate = sqrt(2) |D|; at a wall 2 slip/h, as if the sand within
//     half
// a cell of it stuck to it.
static void rise_of(fluid_world *w, int c, double q, double wall_q, double dt) {
    const double rate = w->def.inertial_number * sqrt(w->grid.h / dt) / w->def.grain_size; // times sqrt(q)
    w->rise[c] = sqrt(2) * w->def.friction_rise * q;
    w->half[c] = rate * sqrt(q) * w->grid.h / sqrt(2);
    w->wall_rise[c] = w->def.friction_rise * wall_q;
    w->wall_half[c] = rate * sqrt(wall_q) * w->grid.h / 2;
}

// Limits of full cells; nothing is left of the stress of others. Sand slides on itself before it rubs more on a wall
// than it can bear.
static void bounds_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const stress_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    const double friction = w->def.friction, cohesion = job->cohesion;
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        const bool full = w->cell[c] == FLUID_CELL_FULL, wall = full && w->wall_part[c] > 0;
        const double q = full ? fmax(w->q[c], 0) : 0, wall_q = wall ? fluid__wall_q(w, c) : 0;
        w->bound[c] = full ? sqrt(2) * (friction * q + cohesion) : 0;
        w->wall_most[c] = w->def.wall_law == FLUID_WALL_PRESSURE ? w->friction[c] * wall_q : 0;
        w->wall_bound[c] =
            w->def.sand == FLUID_SAND_PAPER ? w->wall_most[c] : fmin(w->wall_most[c], friction * wall_q + cohesion);
        if (w->rise) rise_of(w, c, q, wall_q, job->dt);
        if (full) continue;
        for (int a = 0; a < w->grid.dim; ++a) w->stress.diagonal[a][c] = w->stress.wall[a][c] = 0;
        for (int p = 0; p < 4 * fluid__pairs(w->grid.dim); ++p) w->stress.shear[p / 4][p % 4][c] = 0;
    }
}

void fluid__stress_bound(fluid_world *w, double dt) {
    stress_job job = {.w = w, .cohesion = w->def.cohesion * dt / (w->def.density * w->grid.h), .dt = dt};
    fluid__rows(w, bounds_row, &job);
}

// ---------------------------------------------------------------------------------------------- acceleration

// Stress of the edges: mean of the copies of the four cells around.
static void mean_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const stress_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__wide_base(w, row);
    for (int pair = 0; pair < fluid__pairs(w->grid.dim); ++pair) {
        const int sa = w->grid.stride[FIRST[pair]], sb = w->grid.stride[SECOND[pair]];
        double *const *copy = job->stress->shear[pair];
        const uint8_t *inside = w->edge_inside[pair];
        for (int e = base + w->lo[0]; e < base + w->hi[0] + 1; ++e)
            if (inside[e])
                w->edge[pair][e] = .25 * (copy[0][e] + copy[1][e - sa] + copy[2][e - sb] + copy[3][e - sa - sb]);
    }
}

// Traction of the walls of the two cells of a face, as it accelerates the face.
static double wall_pull(const fluid_world *w, const fluid_stress *stress, int axis, int f) {
    const int cells[2] = {f, f - w->grid.stride[axis]};
    double pull = 0, share[2];
    for (int k = 0; k < 2; ++k) {
        const int c = cells[k];
        if (w->wall_part[c] <= 0 || w->cell[c] != FLUID_CELL_FULL) continue;
        shares(w, axis, c, share);
        pull -= w->wall_part[c] * share[k] * stress->wall[axis][c];
    }
    return pull;
}

static void apply_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const stress_job *job = arg;
    fluid_world *w = job->w;
    const fluid_grid *g = &w->grid;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < g->dim; ++a) {
        const double *s = job->stress->diagonal[a];
        const double *other[2] = {w->edge[a == 2 ? 1 : 0], w->edge[a == 0 ? 1 : 2]}; // of the pairs with a
        const int step[2] = {g->stride[a == 0 ? 1 : 0], g->stride[a == 2 ? 1 : 2]};
        for (int f = base + w->lo[0]; f < base + w->hi[0] + 1; ++f) {
            if (f < g->stride[a] || w->area[a][f] <= 0) continue;
            const bool here = w->cell[f] == FLUID_CELL_FULL, there = w->cell[f - g->stride[a]] == FLUID_CELL_FULL;
            if (!here && !there) continue;
            double gain = (here ? s[f] : 0) - (there ? s[f - g->stride[a]] : 0);
            for (int k = 0; k < g->dim - 1; ++k) gain += other[k][f + step[k]] - other[k][f];
            if (w->wall_part[f] > 0 || w->wall_part[f - g->stride[a]] > 0) gain += wall_pull(w, job->stress, a, f);
            w->u[a][f] = job->from[a][f] + job->sign * gain / w->inertia[a][f];
        }
    }
}

void fluid__stress_apply(fluid_world *w, const fluid_stress *stress, double *const from[3], double sign) {
    stress_job job = {.w = w, .stress = stress, .from = from, .sign = sign};
    const int dim = w->grid.dim;
    for (int p = 0; p < 4 * fluid__pairs(dim); ++p) fluid__wrap(w, stress->shear[p / 4][p % 4]);
    for (int a = 0; a < dim; ++a) {
        fluid__wrap(w, stress->diagonal[a]);
        fluid__wrap(w, stress->wall[a]);
    }
    core_thread_for(w->threads, fluid__wide_count(w), mean_row, &job);
    for (int p = 0; p < fluid__pairs(dim); ++p) fluid__wrap(w, w->edge[p]);
    core_thread_for(w->threads, fluid__wide_count(w), apply_row, &job);
    for (int a = 0; a < dim; ++a) fluid__wrap(w, w->u[a]);
}
