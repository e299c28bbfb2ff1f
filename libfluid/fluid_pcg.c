/// Conjugate gradients for the pressure. Preconditioners: multigrid (fluid_multigrid.c), or a modified incomplete
/// Cholesky factor, MIC(0) (Gustafsson 1978; constants after Bridson, Fluid Simulation for Computer Graphics), the
/// reference. The factor is built in blocks of rows that do not see each other,
/// of a size that depends on the grid alone, so that blocks may run side by side; sums are taken row by row, then over
/// the rows in order. So the bits do not depend on the number of threads.
#include "fluid_private.h"

#include <math.h>

#define BLOCK_ROWS 64  // of a block in 2D
#define BLOCK_LAYERS 8 // of a block in 3D
#define ITERATIONS_MAX 2000

static const double MODIFIED = .97; // of the dropped fill goes to the diagonal
static const double SAFETY = .25;   // of the diagonal: below it plain incomplete Cholesky

typedef struct pcg_job {
    fluid_world *w;
    double *q, scale;
    int64_t block;
} pcg_job;

static int64_t block_rows(const fluid_world *w) {
    return w->grid.dim == 2 ? BLOCK_ROWS : BLOCK_LAYERS * (int64_t)(w->hi[1] - w->lo[1]);
}

// Factor with the lower neighbours that lie in the block. dim: of the grid, written out for the compiler.
static inline void factor_rows(fluid_world *w, int dim, int64_t from, int64_t to) {
    const fluid_grid *g = &w->grid;
    const int64_t back[3] = {0, 1, w->hi[1] - w->lo[1]}; // rows between neighbours
    for (int64_t r = from; r < to; ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c) {
            w->precon[c] = 0;
            if (w->cell[c] != FLUID_CELL_FULL) continue;
            double e = w->diagonal[c];
            for (int a = 0; a < dim; ++a) {
                if (a > 0 ? r - back[a] < from : c == base + w->lo[0]) continue;
                const int below = c - g->stride[a];
                const double p = w->precon[below], l = w->link[a][c] * p;
                double others = 0; // what the elimination would fill in
                for (int b = 0; b < dim; ++b) others += b == a ? 0 : w->link[b][below + g->stride[b]];
                e -= l * l + MODIFIED * w->link[a][c] * others * p * p;
            }
            if (e < SAFETY * w->diagonal[c]) e = w->diagonal[c];
            w->precon[c] = 1 / sqrt(e);
        }
    }
}

// z = (L L^T)^-1 r in the rows of a block.
static inline void solve_rows(fluid_world *w, int dim, int64_t from, int64_t to) {
    const fluid_grid *g = &w->grid;
    const int64_t back[3] = {0, 1, w->hi[1] - w->lo[1]};
    for (int64_t r = from; r < to; ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c) {
            double t = w->r[c];
            if (c > base + w->lo[0]) t += w->link[0][c] * w->precon[c - 1] * w->z[c - 1];
            for (int a = 1; a < dim; ++a)
                if (r - back[a] >= from) t += w->link[a][c] * w->precon[c - g->stride[a]] * w->z[c - g->stride[a]];
            w->z[c] = t * w->precon[c];
        }
    }
    for (int64_t r = to - 1; r >= from; --r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_hi[r] - 1; c >= base + w->span_lo[r]; --c) {
            double t = w->z[c];
            if (c < base + w->hi[0] - 1) t += w->link[0][c + 1] * w->precon[c] * w->z[c + 1];
            for (int a = 1; a < dim; ++a)
                if (r + back[a] < to) t += w->link[a][c + g->stride[a]] * w->precon[c] * w->z[c + g->stride[a]];
            w->z[c] = t * w->precon[c];
        }
    }
}

static void factor_block(void *arg, int64_t block, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    const int64_t from = block * job->block, rows = fluid__row_count(job->w);
    const int64_t to = from + job->block < rows ? from + job->block : rows;
    if (job->w->grid.dim == 2)
        factor_rows(job->w, 2, from, to);
    else
        factor_rows(job->w, 3, from, to);
}

static void solve_block(void *arg, int64_t block, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    const int64_t from = block * job->block, rows = fluid__row_count(job->w);
    const int64_t to = from + job->block < rows ? from + job->block : rows;
    if (job->w->grid.dim == 2)
        solve_rows(job->w, 2, from, to);
    else
        solve_rows(job->w, 3, from, to);
}

// (A x)_c
static inline double apply(const fluid_world *w, const double *x, int c) {
    double sum = w->diagonal[c] * x[c];
    for (int a = 0; a < w->grid.dim; ++a) {
        const int s = w->grid.stride[a];
        sum -= w->link[a][c] * x[c - s] + w->link[a][c + s] * x[c + s];
    }
    return sum;
}

// r = b - A q and the row's largest |b| and |r|.
static void residual_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    double b_max = 0, r_max = 0;
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) {
        w->r[c] = w->cell[c] == FLUID_CELL_FULL ? w->b[c] - apply(w, job->q, c) : 0;
        b_max = fmax(b_max, fabs(w->b[c]));
        r_max = fmax(r_max, fabs(w->r[c]));
    }
    w->row_sum[row] = b_max;
    w->row_max[row] = r_max;
}

static void dot_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    double sum = 0;
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) sum += w->r[c] * w->z[c];
    w->row_sum[row] = sum;
}

// s = z + scale s
static void direction_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) w->s[c] = w->z[c] + job->scale * w->s[c];
}

// z = A s and the row's s.z
static void multiply_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    double sum = 0;
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) {
        w->z[c] = w->cell[c] == FLUID_CELL_FULL ? apply(w, w->s, c) : 0;
        sum += w->s[c] * w->z[c];
    }
    w->row_sum[row] = sum;
}

// q += scale s, r -= scale z, and the row's largest |r|
static void advance_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const pcg_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    double r_max = 0;
    for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c) {
        job->q[c] += job->scale * w->s[c];
        w->r[c] -= job->scale * w->z[c];
        r_max = fmax(r_max, fabs(w->r[c]));
    }
    w->row_max[row] = r_max;
}

static double sum_rows(const fluid_world *w) {
    double sum = 0;
    for (int64_t r = 0; r < fluid__row_count(w); ++r) sum += w->row_sum[r];
    return sum;
}

static double max_rows(const fluid_world *w, const double *rows) {
    double most = 0;
    for (int64_t r = 0; r < fluid__row_count(w); ++r) most = rows[r] > most ? rows[r] : most;
    return most;
}

// Clears the search direction in the box and around it: a periodic wrap and the edges of spans read it.
static void clear_vectors(fluid_world *w) {
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        const int base = fluid__wide_base(w, r);
        for (int c = base + w->lo[0] - 1; c < base + w->hi[0] + 1; ++c) w->s[c] = w->z[c] = w->r[c] = w->precon[c] = 0;
    }
}

core_status fluid__pcg(fluid_world *w, double *q, core_error *err) {
    pcg_job job = {.w = w, .q = q, .block = block_rows(w)};
    const int64_t blocks = (fluid__row_count(w) + job.block - 1) / job.block;
    clear_vectors(w);
    fluid__wrap(w, q);
    fluid__rows(w, residual_row, &job);
    const double goal = w->def.tolerance * max_rows(w, w->row_sum);
    double worst = max_rows(w, w->row_max), rho = 0;
    const bool multigrid = w->def.precondition == FLUID_PRECONDITION_MULTIGRID;
    if (multigrid)
        fluid__levels_build(w);
    else
        core_thread_for(w->threads, blocks, factor_block, &job);
    for (w->iterations = 0; worst > goal && w->iterations < ITERATIONS_MAX; ++w->iterations) {
        if (multigrid)
            fluid__levels_cycle(w);
        else
            core_thread_for(w->threads, blocks, solve_block, &job);
        fluid__rows(w, dot_row, &job);
        const double fresh = sum_rows(w);
        job.scale = w->iterations == 0 ? 0 : fresh / rho;
        rho = fresh;
        fluid__rows(w, direction_row, &job);
        fluid__wrap(w, w->s);
        fluid__rows(w, multiply_row, &job);
        const double curvature = sum_rows(w);
        if (!(curvature > 0)) break; // nothing left but rounding
        job.scale = rho / curvature;
        fluid__rows(w, advance_row, &job);
        worst = max_rows(w, w->row_max);
    }
    CORE_CHECK(worst <= goal || worst <= 1e-14, CORE_NOT_CONVERGED,
               "pressure: found a residual of %g m/s after %d iterations, expected at most %g m/s", worst,
               w->iterations, goal);
    return CORE_OK;
}
