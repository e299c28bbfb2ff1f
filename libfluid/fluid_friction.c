/// Sand, unified mode (beyond the paper): one yield law for rigid and flowing sand, solved implicitly.
///
/// Given the pressure, the velocity after friction minimises 1/2 |u - u0|^2 + sum of the dissipation, Y |D| in cells
/// and T |slip| at walls, Y = sqrt(2) (M p + c), T = mu p. Its dual, over stresses within those limits, is solved by
/// projected gradients with momentum (FISTA: Beck & Teboulle 2009, restarted after O'Donoghue & Candes 2015):
///     s <- back to the limit (y + step D(u0 + div y)),   y <- s + momentum (s - s before).
/// The dissipation of a cell takes the mean shear of its four corners: a slip line between two rows of cells then costs
/// what it costs in the continuum (the mean of the squares would make it sqrt(2) times as strong). Shear that changes
/// sign from corner to corner would go free; it costs UNEVEN of the same, which makes a slip line stronger by UNEVEN/2.
///
/// A limit that rises with the rate of shear (friction_rise) adds a smooth part to the dissipation: back_to.
///
/// A cell whose stress stays below its limit does not shear: rigid sand needs no classification. Pressure and friction
/// take turns (Narain, Golas & Lin 2010), each starting from what it was: pressure under the last stress, stress under
/// that pressure, pressure once more. At rest all three stand still, so the pair is that of the coupled problem.
#include "fluid_private.h"

#include <math.h>

static const int FIRST[3] = {0, 0, 1}, SECOND[3] = {1, 2, 2};
static const double UNEVEN = .05; // resistance to uneven shear inside a cell, part of that to even shear
static const double CALM = 1e-5;  // of g dt: largest shear of a cell that is left

typedef struct sweep_job {
    fluid_world *w;
    double step, wall_step; // of the gradient, where faces have the mass 1
    double momentum;
} sweep_job;

// Largest eigenvalue of D^T D is 4 in 2D and 8 in 3D, that of the walls' slip at most 1 for walls along the grid and 2
// sqrt(2) for others; a fifth more than each makes room for the other. Where faces are light, steps are as much
// shorter: a cell's own length of step leaves the way back to its limit what it is.
static void choose_steps(const fluid_world *w, sweep_job *job) {
    job->step = 1 / (1.25 * (w->grid.dim == 2 ? 4 : 8));
    job->wall_step = 1 / (5 * (w->cuts ? 2.83 : 1));
}

// Shear at edge e.
static inline double shear_at(const fluid_world *w, int pair, int e) {
    const int a = FIRST[pair], b = SECOND[pair];
    return .5 * (w->u[a][e] - w->u[a][e - w->grid.stride[b]] + w->u[b][e] - w->u[b][e - w->grid.stride[a]]);
}

// Gradient step for the copies of a pair of axes in cell c: their mean takes the mean shear of the edges inside, their
// differences UNEVEN times that of the shear. fresh (4) [out]; returns what they add to the square of the stress.
static inline double sweep_shear(const sweep_job *job, int pair, int c, double fresh[4]) {
    fluid_world *w = job->w;
    const double step = job->step * w->light[c];
    double shear[4] = {0, 0, 0, 0}, mean_shear = 0, mean = 0, spread = 0;
    int inside = 0;
    bool in[4];
    for (int k = 0; k < 4; ++k) {
        const int e = c + (k & 1 ? w->grid.stride[FIRST[pair]] : 0) + (k & 2 ? w->grid.stride[SECOND[pair]] : 0);
        in[k] = w->edge_inside[pair][e];
        fresh[k] = 0;
        if (!in[k]) continue;
        shear[k] = shear_at(w, pair, e);
        mean_shear += shear[k];
        ++inside;
    }
    if (inside == 0) return 0;
    mean_shear /= inside;
    for (int k = 0; k < 4; ++k) {
        if (!in[k]) continue;
        fresh[k] = w->ahead.shear[pair][k][c] + step * .25 * inside * (mean_shear + UNEVEN * (shear[k] - mean_shear));
        mean += fresh[k] / inside;
    }
    for (int k = 0; k < 4; ++k) spread += in[k] ? (fresh[k] - mean) * (fresh[k] - mean) / inside : 0;
    return 2 * (mean * mean + spread / UNEVEN);
}

// One number of the stress on its way: back to the limit, extrapolated. Adds to the change and to the turn of the path.
static inline void advance(double *s, double *y, double fresh, double momentum, double change[2]) {
    const double moved = fresh - *y;
    change[0] += moved * moved;
    change[1] -= moved * (fresh - *s);
    *y = fresh + momentum * (fresh - *s);
    *s = fresh;
}

// Size of a stress of length `size` after the way back to a limit B(r) that grows with the strain r that is left:
//     B(r) = bound + rise r/(r + half),   stress = B(r),   r = (size - stress)/step.
// That is the step of the implicit law, a quadratic equation for stress - bound.
static inline double back_to(double size, double bound, double rise, double half, double step) {
    if (size <= bound || !(rise > 0)) return fmin(size, bound);
    const double over = size - bound, sum = over + half * step + rise;
    return bound + 2 * rise * over / (sum + sqrt(sum * sum - 4 * rise * over));
}

// Gradient step of a cell's stress and the way back to its limit; *turn += (y - fresh).(fresh - s). Returns the size of
// fresh - y over the step.
static inline double sweep_cell(const sweep_job *job, int dim, int c, double *turn) {
    fluid_world *w = job->w;
    const double step = job->step * w->light[c];
    double diagonal[3], shear[3][4], trace = 0, square = 0, change[2] = {0, 0};
    for (int a = 0; a < dim; ++a) {
        diagonal[a] = w->u[a][c + w->grid.stride[a]] - w->u[a][c];
        trace += diagonal[a] / dim;
    }
    for (int a = 0; a < dim; ++a) {
        diagonal[a] = w->slanted[c] ? 0 : w->ahead.diagonal[a][c] + step * (diagonal[a] - trace);
        square += diagonal[a] * diagonal[a];
    }
    for (int pair = 0; pair < fluid__pairs(dim); ++pair) square += sweep_shear(job, pair, c, shear[pair]);
    double scale = 1;
    if (square > w->bound[c] * w->bound[c]) {
        const double size = sqrt(square);
        scale = (w->rise ? back_to(size, w->bound[c], w->rise[c], w->half[c], step) : w->bound[c]) / size;
    }
    for (int a = 0; a < dim; ++a)
        advance(&w->stress.diagonal[a][c], &w->ahead.diagonal[a][c], scale * diagonal[a], job->momentum, change);
    for (int p = 0; p < 4 * fluid__pairs(dim); ++p)
        advance(&w->stress.shear[p / 4][p % 4][c], &w->ahead.shear[p / 4][p % 4][c], scale * shear[p / 4][p % 4],
                job->momentum, change);
    *turn += change[1] / w->light[c];
    return sqrt(change[0]) / step;
}

// The same for the traction of a cell's wall.
static double sweep_wall(const sweep_job *job, int c, double *turn) {
    fluid_world *w = job->w;
    const double step = job->wall_step * w->light[c];
    double slip[3], fresh[3], square = 0, change[2] = {0, 0};
    fluid__wall_slip(w, c, slip);
    for (int a = 0; a < w->grid.dim; ++a) {
        fresh[a] = w->ahead.wall[a][c] + step * slip[a];
        square += fresh[a] * fresh[a];
    }
    double scale = 1;
    if (square > w->wall_bound[c] * w->wall_bound[c]) {
        const double size = sqrt(square), bound = w->wall_bound[c];
        const double size_back = w->rise ? back_to(size, bound, w->wall_rise[c], w->wall_half[c], step) : bound;
        scale = fmin(size_back, w->wall_most[c]) / size;
    }
    for (int a = 0; a < w->grid.dim; ++a)
        advance(&w->stress.wall[a][c], &w->ahead.wall[a][c], scale * fresh[a], job->momentum, change);
    *turn += w->wall_part[c] * change[1] / w->light[c];
    return sqrt(change[0]) / step;
}

static void sweep_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const sweep_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    double turn = 0, worst = 0;
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) {
        if (w->cell[c] != FLUID_CELL_FULL) continue;
        worst = fmax(worst, w->grid.dim == 2 ? sweep_cell(job, 2, c, &turn) : sweep_cell(job, 3, c, &turn));
        if (w->wall_part[c] > 0) worst = fmax(worst, sweep_wall(job, c, &turn));
    }
    w->row_sum[row] = turn;
    w->row_max[row] = worst;
}

// Where the iteration starts: the last stress within the new limits.
static void start_row(void *arg, int64_t row, int worker) {
    (void)worker;
    sweep_job job = *(const sweep_job *)arg;
    fluid_world *w = job.w;
    const int dim = w->grid.dim, base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        for (int a = 0; a < dim; ++a) {
            w->ahead.diagonal[a][c] = w->stress.diagonal[a][c];
            w->ahead.wall[a][c] = w->stress.wall[a][c];
        }
        for (int p = 0; p < 4 * fluid__pairs(dim); ++p)
            w->ahead.shear[p / 4][p % 4][c] = w->stress.shear[p / 4][p % 4][c];
    }
}

// Friction under the pressure that q holds; u enters as the velocity under q and the last stress.
static void solve_friction(fluid_world *w, double dt) {
    sweep_job job = {.w = w};
    double g2 = 0, t = 1;
    for (int a = 0; a < w->grid.dim; ++a) g2 += w->def.gravity[a] * w->def.gravity[a];
    const double calm = CALM * sqrt(g2) * dt;
    choose_steps(w, &job);
    fluid__extend(w, false); // closed faces bound cells: they take part in shear
    // the velocity without friction: what the last stress did is taken off
    fluid__stress_apply(w, &w->stress, w->u, -1);
    fluid__copy_faces(w, w->u, w->base);
    fluid__stress_bound(w, dt);
    fluid__rows(w, start_row, &job);
    for (w->sweeps = 0; w->sweeps < w->def.sweeps; ++w->sweeps) {
        const double next = .5 * (1 + sqrt(1 + 4 * t * t));
        job.momentum = (t - 1) / next;
        t = next;
        fluid__stress_apply(w, &w->ahead, w->base, 1);
        fluid__rows(w, sweep_row, &job);
        double turn = 0, worst = 0;
        for (int64_t r = 0; r < fluid__row_count(w); ++r) {
            turn += w->row_sum[r];
            worst = fmax(worst, w->row_max[r]);
        }
        if (turn > 0) t = 1;
        if (worst < calm) break;
    }
}

// What a wall takes off the velocity of face f beside loose sand in cell c: the part into the wall, and of the slip mu
// times what goes into the wall, as of a single grain. Along its axis the face's own velocity counts: what two faces of
// a cell have against each other would go on.
static double loose_loss(const fluid_world *w, int axis, int f, int c) {
    const int dim = w->grid.dim;
    double v[3], into, square = 0, along = 0;
    into = fluid__wall_slip(w, c, v);
    for (int a = 0; a < dim; ++a) v[a] += into * w->wall_normal[a][c];
    v[axis] = w->u[axis][f] - (w->moves ? fluid__face_speed(w, axis, f) : 0);
    for (int a = 0; a < dim; ++a) along += v[a] * w->wall_normal[a][c];
    for (int a = 0; a < dim; ++a) {
        v[a] -= along * w->wall_normal[a][c];
        square += v[a] * v[a];
    }
    const double limit = fmin(w->friction[c], w->def.friction) * fmax(into, 0);
    return fmax(along, 0) * w->wall_normal[axis][c] + (square > limit * limit ? limit / sqrt(square) : 1) * v[axis];
}

// star: the velocity u after what walls do to loose sand.
static void loose_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < w->grid.dim; ++a) {
        const int s = w->grid.stride[a];
        for (int f = base + w->lo[0] - 1; f < base + w->hi[0] + 1; ++f) {
            w->star[a][f] = w->u[a][f];
            if (f < s || w->area[a][f] <= 0) continue;
            const bool here = w->loose[f] && w->wall_part[f] > 0, there = w->loose[f - s] && w->wall_part[f - s] > 0;
            const double loss = (here ? loose_loss(w, a, f, f) : 0) + (there ? loose_loss(w, a, f, f - s) : 0);
            w->star[a][f] -= here && there ? .5 * loss : loss;
        }
    }
}

core_status fluid__sand_unified(fluid_world *w, double dt, core_error *err) {
    fluid__stress_begin(w);
    fluid__stress_bound(w, dt); // no stress where there is no sand
    if (w->def.wall_law == FLUID_WALL_PAPER) fluid__wall_paper(w);
    core_thread_for(w->threads, fluid__wide_count(w), loose_row, w);
    for (int round = 0; round <= w->def.rounds; ++round) {
        fluid__copy_faces(w, w->star, w->u);
        fluid__stress_apply(w, &w->stress, w->star, 1);
        CORE_TRY(fluid__project(w, w->q, err));
        if (round < w->def.rounds) solve_friction(w, dt);
    }
    return CORE_OK;
}
