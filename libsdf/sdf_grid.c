/// Signed distance on a grid of nodes, and its bicubic interpolant. Signs come row by row from the crossings of the
/// outline with the row (parity), distances block by block: an edge farther from a block's centre than the nearest one
/// by more than the block's diameter cannot be the nearest to any of its nodes.
#include "sdf_private.h"

#include <math.h>

#define GRID_RESOLUTION_MIN 16
#define GRID_RESOLUTION_MAX 4096
#define GRID_MARGIN_MIN 0.05
#define GRID_MARGIN_MAX 4.0
/// Nodes along a block's side.
#define GRID_BLOCK 16
/// Rows of blocks between two progress reports.
#define GRID_REPORT_ROWS 4

/// An edge, ready for distances.
typedef struct grid_edge {
    double a[2], e[2]; // start, end - start
    double y_end;      // exactly the next edge's start: a row never sees a gap or a double crossing at a vertex
    double inverse_length2;
} grid_edge;

/// What the workers share.
typedef struct grid_job {
    sdf_grid *grid;
    const grid_edge *edges; // (count_edges)
    int count_edges;
    grid_edge *near_edges;  // (threads x count_edges) scratch
    double *near_distance2; // (threads x count_edges) scratch
    int blocks_x;
    int64_t block_first; // first block of this round
} grid_job;

static double edge_distance2(const grid_edge *g, double px, double py) {
    double x = px - g->a[0], y = py - g->a[1];
    double t = (x * g->e[0] + y * g->e[1]) * g->inverse_length2;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double dx = x - t * g->e[0], dy = y - t * g->e[1];
    return dx * dx + dy * dy;
}

/// Row i_y: phi = -1 inside, 1 outside.
static void row_signs(void *arg, int64_t i_y, int worker) {
    (void)worker;
    const grid_job *job = arg;
    const sdf_grid *g = job->grid;
    float *row = g->phi + i_y * g->nx;
    double y = g->origin[1] + (double)i_y * g->spacing;
    // Each crossing toggles the first node behind it; memory from core_alloc is zero.
    for (int i = 0; i < job->count_edges; i++) {
        const grid_edge *e = job->edges + i;
        if ((e->a[1] <= y) == (e->y_end <= y)) continue;
        double x = e->a[0] + e->e[0] * ((y - e->a[1]) / e->e[1]);
        double node = ceil((x - g->origin[0]) / g->spacing);
        if (node < g->nx) {
            float *first = row + (node > 0 ? (int)node : 0);
            *first = 1 - *first;
        }
    }
    bool inside = false;
    for (int i = 0; i < g->nx; i++) {
        inside = inside != (row[i] > 0.5F);
        row[i] = inside ? -1.0F : 1.0F;
    }
}

/// Turns the signs of one block into distances.
static void block_distances(void *arg, int64_t i, int worker) {
    const grid_job *job = arg;
    const sdf_grid *g = job->grid;
    int64_t block = job->block_first + i;
    int x0 = (int)(block % job->blocks_x) * GRID_BLOCK, y0 = (int)(block / job->blocks_x) * GRID_BLOCK;
    int x1 = x0 + GRID_BLOCK < g->nx ? x0 + GRID_BLOCK : g->nx, y1 = y0 + GRID_BLOCK < g->ny ? y0 + GRID_BLOCK : g->ny;
    grid_edge *near_edges = job->near_edges + (int64_t)worker * job->count_edges;
    double *near_distance2 = job->near_distance2 + (int64_t)worker * job->count_edges;

    // Edges that can be nearest to some node of the block. The slack covers the rounding of the comparison.
    double cx = g->origin[0] + (x0 + x1 - 1) * g->spacing / 2, cy = g->origin[1] + (y0 + y1 - 1) * g->spacing / 2;
    double diameter = sqrt(2.0) * (GRID_BLOCK - 1) * g->spacing * 1.001, smallest = INFINITY;
    for (int k = 0; k < job->count_edges; k++) {
        near_distance2[k] = edge_distance2(job->edges + k, cx, cy);
        smallest = fmin(smallest, near_distance2[k]);
    }
    double limit = sqrt(smallest) + diameter;
    int count = 0;
    for (int k = 0; k < job->count_edges; k++)
        if (near_distance2[k] <= limit * limit) near_edges[count++] = job->edges[k];

    for (int i_y = y0; i_y < y1; i_y++) {
        for (int i_x = x0; i_x < x1; i_x++) {
            double px = g->origin[0] + i_x * g->spacing, py = g->origin[1] + i_y * g->spacing, best = INFINITY;
            for (int k = 0; k < count; k++) {
                double d2 = edge_distance2(near_edges + k, px, py);
                best = d2 < best ? d2 : best;
            }
            float *phi = g->phi + (int64_t)i_y * g->nx + i_x;
            *phi = *phi < 0 ? -(float)sqrt(best) : (float)sqrt(best);
        }
    }
}

static void edges_fill(const core_outline *o, grid_edge *edges) {
    for (int r = 0; r < o->count_rings; r++) {
        int begin = o->ring_start[r], end = o->ring_start[r + 1];
        for (int i = begin; i < end; i++) {
            const double *a = o->xy + 2 * i, *b = o->xy + 2 * (i + 1 < end ? i + 1 : begin);
            double ex = b[0] - a[0], ey = b[1] - a[1], length2 = ex * ex + ey * ey;
            edges[i] = (grid_edge){{a[0], a[1]}, {ex, ey}, b[1], length2 > 0 ? 1 / length2 : 0};
        }
    }
}

/// Signs, then distances, in rounds between which progress is told.
static void grid_fill(grid_job *job, int threads, const core_progress *progress) {
    const sdf_grid *g = job->grid;
    core_thread_for(threads, g->ny, row_signs, job);
    int blocks_y = (g->ny + GRID_BLOCK - 1) / GRID_BLOCK;
    job->blocks_x = (g->nx + GRID_BLOCK - 1) / GRID_BLOCK;
    for (int row = 0; row < blocks_y; row += GRID_REPORT_ROWS) {
        int rows = row + GRID_REPORT_ROWS < blocks_y ? GRID_REPORT_ROWS : blocks_y - row;
        job->block_first = (int64_t)row * job->blocks_x;
        core_thread_for(threads, (int64_t)rows * job->blocks_x, block_distances, job);
        core_progress_report(progress, "signed distance grid", row + rows, blocks_y, "block rows", NULL);
    }
}

core_status sdf_grid_build(const core_outline *canonical, int resolution, double margin, int threads,
                           const core_progress *progress, sdf_grid *grid, core_error *err) {
    core_status status = CORE_OK;
    sdf_grid g = {0};
    grid_edge *edges = NULL;
    grid_job job = {.grid = &g};
    CORE_CHECK_DONE(canonical && grid, CORE_ARG, "sdf_grid_build: null pointer");
    CORE_CHECK_DONE(resolution >= GRID_RESOLUTION_MIN && resolution <= GRID_RESOLUTION_MAX, CORE_RANGE,
                    "resolution: found %d, expected %d .. %d cells", resolution, GRID_RESOLUTION_MIN,
                    GRID_RESOLUTION_MAX);
    CORE_CHECK_DONE(margin >= GRID_MARGIN_MIN && margin <= GRID_MARGIN_MAX, CORE_RANGE,
                    "margin: found %g, expected %g .. %g circumradii", margin, GRID_MARGIN_MIN, GRID_MARGIN_MAX);
    int count = core_outline_count(canonical);
    CORE_CHECK_DONE(count >= 3, CORE_SHAPE, "outline of %d points, expected 3 or more", count);
    for (int i = 0; i < 2 * count; i++)
        CORE_CHECK_DONE(isfinite(canonical->xy[i]), CORE_NONFINITE, "point %d of the outline is not finite", i / 2);
    threads = threads < 1 ? 1 : threads;

    // A node lies on the origin and the box is symmetric, so that a symmetric shape has a symmetric grid.
    g.spacing = 2.0 / resolution;
    int half = (int)ceil((1 + margin) / g.spacing - 1e-9);
    g.nx = g.ny = 2 * half + 1;
    g.origin[0] = g.origin[1] = -half * g.spacing;
    CORE_NEW_DONE(g.phi, (size_t)g.nx * (size_t)g.ny);
    CORE_NEW_DONE(edges, (size_t)count);
    CORE_NEW_DONE(job.near_edges, (size_t)threads * (size_t)count);
    CORE_NEW_DONE(job.near_distance2, (size_t)threads * (size_t)count);
    edges_fill(canonical, edges);
    job.edges = edges;
    job.count_edges = count;
    grid_fill(&job, threads, progress);

    int64_t n = (int64_t)g.nx * g.ny;
    for (int64_t i = 0; i < n; i++) g.value_min = fmin(g.value_min, (double)g.phi[i]);
    CORE_TRY_DONE(sdf__near_create(canonical, &g, &g.near, err));
    *grid = g;
    g = (sdf_grid){0};
done:
    sdf_grid_clear(&g);
    core_free(edges);
    core_free(job.near_edges);
    core_free(job.near_distance2);
    return status;
}

void sdf_grid_clear(sdf_grid *grid) {
    if (!grid) return;
    core_free(grid->phi);
    sdf__near_destroy(&grid->near);
    *grid = (sdf_grid){0};
}
