/// One V-cycle of geometric multigrid on the pressure matrix, a preconditioner for conjugate gradients whose number of
/// iterations hardly depends on the number of cells (Trottenberg, Oosterlee & Schueller 2001; for the scaling: Braess
/// 1995, "over-correction").
///
/// 2^dim cells make one of the next level. Its unknown stands for all of them alike, so the coarse matrix is a sum of
/// fine ones (Galerkin), has the same five or seven entries a row, and takes cut faces, the free surface and pinned
/// parts as they come. Steps from cell to cell instead of slopes make it twice as stiff as it should be for smooth
/// pressures in any dimension: it is halved. One sweep of Gauss-Seidel in two colours on the way down, the same in the
/// opposite order on the way up: the cycle is symmetric and positive definite whatever the coarse levels do. Cells of a
/// colour do not see each other (across the seam of a periodic level with an odd number of columns they do, through
/// copies that are made between sweeps), so the bits do not depend on the number of threads.
#include "fluid_private.h"

static const double STIFF = .5;    // of the sum of fine matrices: the coarse one
static const int COARSEST = 4;     // cells along the longest axis below which there is no coarser level
static const int LAST_SWEEPS = 16; // on the coarsest level, down and up

// ---------------------------------------------------------------------------------------------- levels

static int64_t rows_of(const fluid_level *l) {
    return (int64_t)l->n[1] * l->n[2];
}

static int row_base(const fluid_level *l, int64_t row) {
    return l->base + (int)(row % l->n[1]) * l->stride[1] + (int)(row / l->n[1]) * l->stride[2];
}

core_status fluid__levels_create(fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    int n[3] = {w->grid.cells[0] - 2, w->grid.cells[1] - 2, w->grid.dim == 3 ? w->grid.cells[2] - 2 : 1};
    for (w->count_levels = 1; w->count_levels < FLUID_LEVELS_MAX; ++w->count_levels) {
        if (n[0] <= COARSEST && n[1] <= COARSEST && n[2] <= COARSEST) break;
        fluid_level *l = &w->level[w->count_levels];
        size_t count = 1;
        for (int a = 0; a < 3; ++a) {
            n[a] = (n[a] + 1) / 2;
            count *= (size_t)n[a] + (a < w->grid.dim ? 2 : 0); // a border
        }
        CORE_NEW_DONE(l->diagonal, count);
        CORE_NEW_DONE(l->inverse, count);
        CORE_NEW_DONE(l->x, count);
        CORE_NEW_DONE(l->b, count);
        for (int a = 0; a < w->grid.dim; ++a) CORE_NEW_DONE(l->link[a], count);
    }
done:
    return status;
}

void fluid__levels_destroy(fluid_world *w) {
    for (int i = 1; i < FLUID_LEVELS_MAX; ++i) {
        fluid_level *l = &w->level[i];
        core_free(l->diagonal);
        core_free(l->inverse);
        core_free(l->x);
        core_free(l->b);
        for (int a = 0; a < 3; ++a) core_free(l->link[a]);
    }
}

// Columns 0 and n + 1 of a periodic level.
static void wrap(const fluid_world *w, const fluid_level *l, double *field) {
    if (!w->grid.periodic) return;
    for (int64_t r = 0; r < rows_of(l); ++r) {
        double *row = field + row_base(l, r);
        row[-1] = row[l->n[0] - 1];
        row[l->n[0]] = row[0];
    }
}

typedef struct level_job {
    const fluid_world *w;
    fluid_level *fine, *coarse;
    int colour;
} level_job;

static void run_rows(const fluid_world *w, const fluid_level *l, void (*fn)(void *arg, int64_t row, int worker),
                     level_job *job) {
    core_thread_for((double)rows_of(l) * l->n[0] < w->parallel_min ? 1 : w->threads, rows_of(l), fn, job);
}

static double inverse_of(double diagonal) {
    return diagonal > 0 ? 1 / diagonal : 0;
}

static void invert_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *l = job->fine;
    const int base = row_base(l, row);
    for (int c = base; c < base + l->n[0]; ++c) l->inverse[c] = inverse_of(l->diagonal[c]);
}

// First of the two fine cells along each axis that make a coarse row or column, and how many there are.
static int halves(const fluid_level *fine, int axis, int coarse) {
    return 2 * coarse + 1 < fine->n[axis] ? 2 : 1;
}

// Matrix of a coarse row: links across the border of the aggregates, diagonal without the links inside them.
static void coarsen_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *f = job->fine;
    fluid_level *l = job->coarse;
    const int dim = job->w->grid.dim, J = (int)(row % l->n[1]), K = (int)(row / l->n[1]), base = row_base(l, row);
    for (int I = 0; I < l->n[0]; ++I) {
        double diagonal = 0, link[3] = {0, 0, 0};
        for (int k = 0; k < halves(f, 2, K); ++k)
            for (int j = 0; j < halves(f, 1, J); ++j)
                for (int i = 0; i < halves(f, 0, I); ++i) {
                    const int at[3] = {i, j, k};
                    const int c = f->base + (2 * I + i) + (2 * J + j) * f->stride[1] + (2 * K + k) * f->stride[2];
                    diagonal += f->diagonal[c];
                    for (int a = 0; a < dim; ++a) {
                        if (at[a] == 0)
                            link[a] += f->link[a][c];
                        else
                            diagonal -= 2 * f->link[a][c];
                    }
                }
        l->diagonal[base + I] = STIFF * diagonal;
        l->inverse[base + I] = inverse_of(STIFF * diagonal);
        for (int a = 0; a < dim; ++a) l->link[a][base + I] = STIFF * link[a];
    }
}

void fluid__levels_build(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    fluid_level *l = &w->level[0];
    *l = (fluid_level){.diagonal = w->diagonal, .inverse = w->precon, .x = w->z, .b = w->r};
    for (int a = 0; a < 3; ++a) {
        l->n[a] = w->hi[a] - w->lo[a];
        l->stride[a] = g->stride[a];
        l->link[a] = w->link[a];
        l->base += w->lo[a] * g->stride[a];
    }
    level_job job = {.w = w, .fine = l};
    run_rows(w, l, invert_row, &job);
    for (w->levels = 1; w->levels < w->count_levels; ++w->levels) {
        if (l->n[0] <= COARSEST && l->n[1] <= COARSEST && l->n[2] <= COARSEST) break;
        fluid_level *next = &w->level[w->levels];
        next->base = 0;
        for (int a = 0, stride = 1; a < 3; ++a) {
            next->n[a] = (l->n[a] + 1) / 2;
            next->stride[a] = stride;
            if (a < g->dim) next->base += stride; // a border of one cell
            stride *= next->n[a] + (a < g->dim ? 2 : 0);
        }
        const int end = next->stride[g->dim - 1] * (next->n[g->dim - 1] + 2);
        for (int c = 0; c < end; ++c) {
            next->x[c] = next->diagonal[c] = 0;
            for (int a = 0; a < g->dim; ++a) next->link[a][c] = 0;
        }
        job = (level_job){.w = w, .fine = l, .coarse = next};
        run_rows(w, next, coarsen_row, &job);
        wrap(w, next, next->link[0]);
        l = next;
    }
}

// ---------------------------------------------------------------------------------------------- cycle

// What the neighbours of cell c add to its row.
static inline double around(const fluid_level *l, int dim, const double *x, int c) {
    double sum = l->link[0][c] * x[c - 1] + l->link[0][c + 1] * x[c + 1];
    for (int a = 1; a < dim; ++a)
        sum += l->link[a][c] * x[c - l->stride[a]] + l->link[a][c + l->stride[a]] * x[c + l->stride[a]];
    return sum;
}

static int first_of_colour(const fluid_level *l, int64_t row, int colour) {
    return (int)((row % l->n[1] + row / l->n[1] + colour) & 1);
}

// x of one colour in a row that was zero before.
static void start_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *l = job->fine;
    const int base = row_base(l, row), skip = first_of_colour(l, row, 0);
    for (int c = base; c < base + l->n[0]; ++c) l->x[c] = 0;
    for (int c = base + skip; c < base + l->n[0]; c += 2) l->x[c] = l->inverse[c] * l->b[c];
}

static void smooth_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *l = job->fine;
    const int dim = job->w->grid.dim, base = row_base(l, row), first = base + first_of_colour(l, row, job->colour);
    if (dim == 2)
        for (int c = first; c < base + l->n[0]; c += 2) l->x[c] = l->inverse[c] * (l->b[c] + around(l, 2, l->x, c));
    else
        for (int c = first; c < base + l->n[0]; c += 2) l->x[c] = l->inverse[c] * (l->b[c] + around(l, 3, l->x, c));
}

static inline double residual_at(const fluid_level *l, int dim, int c) {
    return l->inverse[c] > 0 ? l->b[c] - l->diagonal[c] * l->x[c] + around(l, dim, l->x, c) : 0;
}

// Right-hand side of a coarse row: sums of what is left.
static void restrict_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *f = job->fine, *l = job->coarse;
    const int dim = job->w->grid.dim, J = (int)(row % l->n[1]), K = (int)(row / l->n[1]), base = row_base(l, row);
    for (int I = 0; I < l->n[0]; ++I) l->b[base + I] = 0;
    for (int k = 0; k < halves(f, 2, K); ++k)
        for (int j = 0; j < halves(f, 1, J); ++j) {
            const int from = f->base + (2 * J + j) * f->stride[1] + (2 * K + k) * f->stride[2];
            for (int i = 0; i < f->n[0]; ++i)
                l->b[base + i / 2] += dim == 2 ? residual_at(f, 2, from + i) : residual_at(f, 3, from + i);
        }
}

static void prolong_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const level_job *job = arg;
    const fluid_level *f = job->fine, *l = job->coarse;
    const int base = row_base(f, row);
    const int from = l->base + (int)(row % f->n[1]) / 2 * l->stride[1] + (int)(row / f->n[1]) / 2 * l->stride[2];
    for (int i = 0; i < f->n[0]; ++i)
        if (f->inverse[base + i] > 0) f->x[base + i] += l->x[from + i / 2];
}

static void smooth(const fluid_world *w, fluid_level *l, int colour) {
    level_job job = {.w = w, .fine = l, .colour = colour};
    run_rows(w, l, smooth_row, &job);
    wrap(w, l, l->x);
}

static void start(const fluid_world *w, fluid_level *l) {
    level_job job = {.w = w, .fine = l};
    run_rows(w, l, start_row, &job);
    wrap(w, l, l->x);
    smooth(w, l, 1);
}

void fluid__levels_cycle(fluid_world *w) {
    const int last = w->levels - 1;
    for (int i = 0; i < last; ++i) {
        level_job job = {.w = w, .fine = &w->level[i], .coarse = &w->level[i + 1]};
        start(w, job.fine);
        run_rows(w, job.coarse, restrict_row, &job);
    }
    start(w, &w->level[last]);
    for (int k = 1; k < LAST_SWEEPS; ++k)
        for (int colour = 0; colour < 2; ++colour) smooth(w, &w->level[last], colour);
    for (int k = 0; k < LAST_SWEEPS; ++k)
        for (int colour = 1; colour >= 0; --colour) smooth(w, &w->level[last], colour);
    for (int i = last - 1; i >= 0; --i) {
        level_job job = {.w = w, .fine = &w->level[i], .coarse = &w->level[i + 1]};
        run_rows(w, job.fine, prolong_row, &job);
        wrap(w, job.fine, job.fine->x);
        smooth(w, job.fine, 1);
        smooth(w, job.fine, 0);
    }
}
