/// Sand, the paper's mode (Zhu & Bridson 2005, section 3): one explicit stress per step from the pressure of the
/// projection. A cell whose shear could be stopped by a stress below the yield limit is rigid, others flow:
///     sigma_rigid = -rho D h^2/dt,  rigid if sqrt(3) |dev sigma_rigid|/sqrt(2) < sin(phi) p + c,
///     sigma_flow = -sin(phi) p D/(sqrt(1/3) |D|).
/// Connected rigid cells move as rigid bodies, the rest takes the divergence of the stress. The two constants do not
/// match (the flowing stress is 2.12 times what the test allows); they are kept as they are. A share `relaxation` of
/// the stress is applied: whole, it overshoots at the scale of cells. Signs here: a stress along D resists.
#include "fluid_private.h"

#include <math.h>

static const int FIRST[3] = {0, 0, 1}, SECOND[3] = {1, 2, 2};

enum { FLOWING = 0, RIGID = 1 };

typedef struct paper_job {
    fluid_world *w;
    double sine, cohesion;
} paper_job;

// Strain rate times h of cell c: diagonal and its four copies a pair; returns its square.
static double strain_of(const fluid_world *w, int c, double diagonal[3], double shear[3][4]) {
    const fluid_grid *g = &w->grid;
    double square = 0, trace = 0;
    for (int a = 0; a < g->dim; ++a) {
        diagonal[a] = w->u[a][c + g->stride[a]] - w->u[a][c];
        trace += diagonal[a] / g->dim;
    }
    for (int a = 0; a < g->dim; ++a) {
        diagonal[a] = w->slanted[c] ? 0 : diagonal[a] - trace;
        square += diagonal[a] * diagonal[a];
    }
    for (int pair = 0; pair < fluid__pairs(g->dim); ++pair)
        for (int k = 0; k < 4; ++k) {
            const int a = FIRST[pair], b = SECOND[pair];
            const int e = c + (k & 1 ? g->stride[a] : 0) + (k & 2 ? g->stride[b] : 0);
            shear[pair][k] = 0;
            if (!w->edge_inside[pair][e]) continue;
            shear[pair][k] = .5 * (w->u[a][e] - w->u[a][e - g->stride[b]] + w->u[b][e] - w->u[b][e - g->stride[a]]);
            square += .5 * shear[pair][k] * shear[pair][k];
        }
    return square;
}

static void judge_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const paper_job *job = arg;
    fluid_world *w = job->w;
    const int dim = w->grid.dim, base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        w->mark[c] = FLOWING;
        w->ahead.diagonal[0][c] = 0; // holds q of the second projection
        if (w->cell[c] != FLUID_CELL_FULL) continue;
        double diagonal[3], shear[3][4];
        const double size = sqrt(strain_of(w, c, diagonal, shear)), friction = job->sine * fmax(w->q[c], 0);
        const bool rigid = sqrt(3) * size / sqrt(2) < friction + job->cohesion;
        // times h/dt rho: the rigid stress is the strain rate itself, the flowing one has the length sqrt(3) sin(phi) p
        const double factor = rigid || size <= 0 ? w->def.relaxation : friction / (sqrt(1. / 3) * size);
        w->mark[c] = rigid ? RIGID : FLOWING;
        for (int a = 0; a < dim; ++a) {
            w->stress.diagonal[a][c] = factor * diagonal[a];
            w->stress.wall[a][c] = 0;
        }
        for (int p = 0; p < 4 * fluid__pairs(dim); ++p) w->stress.shear[p / 4][p % 4][c] = factor * shear[p / 4][p % 4];
    }
}

// The paper's wall law, before the projection: |u.n| of the cell at the wall bounds what its slip loses.
static void paper_wall_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int dim = w->grid.dim, base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        for (int a = 0; a < dim; ++a) w->ahead.diagonal[a][c] = w->ahead.wall[a][c] = 0;
        for (int p = 0; p < 4 * fluid__pairs(dim); ++p) w->ahead.shear[p / 4][p % 4][c] = 0;
        if (w->cell[c] != FLUID_CELL_FULL || w->wall_part[c] <= 0) continue;
        double slip[3], square = 0;
        const double limit = w->friction[c] * fmax(fluid__wall_slip(w, c, slip), 0);
        for (int a = 0; a < dim; ++a) square += slip[a] * slip[a];
        const double scale = square > limit * limit ? limit / sqrt(square) : 1;
        for (int a = 0; a < dim; ++a)
            w->ahead.wall[a][c] = w->light[c] * scale * slip[a]; // light faces lose their slip
    }
}

void fluid__wall_paper(fluid_world *w) {
    fluid__rows(w, paper_wall_row, w);
    fluid__stress_apply(w, &w->ahead, w->u, 1);
}

// Friction of walls from the pressure: the traction that stops the slip, cut at the limit.
static void rub_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = ((const paper_job *)arg)->w;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) {
        if (w->cell[c] != FLUID_CELL_FULL || w->wall_part[c] <= 0 || w->mark[c] == RIGID) continue;
        double slip[3], square = 0;
        fluid__wall_slip(w, c, slip);
        for (int a = 0; a < w->grid.dim; ++a) square += slip[a] * slip[a];
        const double limit = w->wall_bound[c], scale = square > limit * limit ? limit / sqrt(square) : 1;
        for (int a = 0; a < w->grid.dim; ++a) w->stress.wall[a][c] = scale * slip[a];
    }
}

core_status fluid__sand_paper(fluid_world *w, double dt, core_error *err) {
    double sine, cosine;
    core_sincos(w->def.friction_angle, &sine, &cosine);
    paper_job job = {.w = w, .sine = sine, .cohesion = w->def.cohesion * dt / (w->def.density * w->grid.h)};
    fluid__stress_begin(w);
    fluid__stress_bound(w, dt);
    if (w->def.wall_law == FLUID_WALL_PAPER) fluid__wall_paper(w);
    CORE_TRY(fluid__project(w, w->q, err));
    fluid__extend(w, false);
    fluid__stress_bound(w, dt);
    fluid__rows(w, judge_row, &job);
    fluid__rows(w, rub_row, &job);
    fluid__wrap_bytes(w, w->mark);
    fluid__stress_apply(w, &w->stress, w->u, 1);
    fluid__rigid_project(w, w->mark, RIGID);
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->u[a]);
    // rigid parts do not know of each other: what they do to the volume is taken back, the pressure of the first
    // projection stays the one of the yield test
    return fluid__project(w, w->ahead.diagonal[0], err);
}
