/// Pressure projection: a velocity without divergence in the full cells. The unknown is q = p dt/(rho h), in m/s:
///     sum over open faces of part (q - q_neighbour) = -sum over open faces of part times outward velocity
///                                                     -sum over faces of the rest times the solid's,
///     u -= q difference across the face,
/// with part the open part of a face (Ng, Min & Gibou 2009). At the free surface q = 0 in the middle of air cells
/// (first order) or at the distance theta h where phi changes its sign (ghost fluid: Gibou et al. 2002, Enright et al.
/// 2003).
#include "fluid_private.h"

#include <math.h>

static const double THETA_MIN = .01;

double fluid__surface_at(const fluid_world *w, int c, int air) {
    if (w->def.surface != FLUID_SURFACE_GHOST) return w->def.surface == FLUID_SURFACE_FIRST ? 1 : .5;
    const double in = w->phi[c], out = w->phi[air];
    if (in >= 0) return THETA_MIN;
    if (out <= 0) return 1;
    return fmax(in / (in - out), THETA_MIN);
}

typedef struct project_job {
    fluid_world *w;
    double *q;
} project_job;

// Matrix and right-hand side of a row; cells that are not full get zeros, so that loops need not ask.
static void assemble_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const project_job *job = arg;
    fluid_world *w = job->w;
    const fluid_grid *g = &w->grid;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        const bool full = w->cell[c] == FLUID_CELL_FULL;
        double diagonal = 0, outflow = 0;
        for (int a = 0; a < g->dim; ++a) {
            const int s = g->stride[a];
            w->link[a][c] = full && w->cell[c - s] == FLUID_CELL_FULL ? w->area[a][c] : 0;
            for (int side = 0; side < 2 && full; ++side) {
                const int face = c + side * s, other = c + (side ? s : -s);
                const double part = w->area[a][face];
                outflow += (side ? part : -part) * w->u[a][face];
                if (w->moves && w->cut[c]) outflow += (side ? 1 - part : part - 1) * fluid__face_speed(w, a, face);
                diagonal += w->cell[other] == FLUID_CELL_AIR ? part / fluid__surface_at(w, c, other) : part;
            }
        }
        w->diagonal[c] = diagonal;
        w->b[c] = -outflow;
        if (!full) job->q[c] = 0;
    }
}

// A part of the material without any free surface has no level for its pressure and takes no net inflow: its mean
// inflow, which is rounding or what cannot be had, is taken out and one of its cells is held.
static void pin_closed_parts(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    const int parts = fluid__components(w, w->cell, FLUID_CELL_FULL, w->label);
    for (int i = 0; i < parts; ++i) w->list[i] = 0;
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c) {
            if (w->label[c] < 0) continue;
            for (int a = 0; a < g->dim; ++a) {
                if (w->cell[c - g->stride[a]] == FLUID_CELL_AIR && w->area[a][c] > 0) w->list[w->label[c]] = 1;
                if (w->cell[c + g->stride[a]] == FLUID_CELL_AIR && w->area[a][c + g->stride[a]] > 0)
                    w->list[w->label[c]] = 1;
            }
        }
    }
    for (int i = 0; i < parts; ++i) {
        if (w->list[i]) continue;
        double sum = 0;
        int count = 0, held = -1;
        for (int pass = 0; pass < 2; ++pass)
            for (int64_t r = 0; r < fluid__row_count(w); ++r) {
                const int base = fluid__row_base(w, r);
                for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c) {
                    if (w->label[c] != i) continue;
                    if (pass == 1) {
                        w->b[c] -= sum / count;
                        continue;
                    }
                    sum += w->b[c];
                    ++count;
                    if (held < 0) held = c;
                }
            }
        w->diagonal[held] += w->diagonal[held] > 0 ? w->diagonal[held] : 1;
    }
}

// Takes the pressure's gradient off the faces of a row.
static void subtract_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const project_job *job = arg;
    fluid_world *w = job->w;
    const double *q = job->q;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < w->grid.dim; ++a) {
        const int s = w->grid.stride[a];
        for (int c = base + w->lo[0] - 1; c < base + w->hi[0] + 1; ++c) {
            if (c < s || w->area[a][c] <= 0) continue;
            const bool here = w->cell[c] == FLUID_CELL_FULL, there = w->cell[c - s] == FLUID_CELL_FULL;
            if (here && there)
                w->u[a][c] -= q[c] - q[c - s];
            else if (here && w->cell[c - s] == FLUID_CELL_AIR)
                w->u[a][c] -= q[c] / fluid__surface_at(w, c, c - s);
            else if (there && w->cell[c] == FLUID_CELL_AIR)
                w->u[a][c] += q[c - s] / fluid__surface_at(w, c - s, c);
        }
    }
}

core_status fluid__project(fluid_world *w, double *q, core_error *err) {
    project_job job = {w, q};
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->u[a]);
    fluid__rows(w, assemble_row, &job);
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->link[a]);
    pin_closed_parts(w);
    CORE_TRY(fluid__pcg(w, q, err));
    fluid__wrap(w, q);
    core_thread_for(w->threads, fluid__wide_count(w), subtract_row, &job);
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->u[a]);
    return CORE_OK;
}
