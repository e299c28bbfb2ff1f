/// Particles: sorting by cell (a counting sort that keeps the order inside a cell), which fits the box of the step.
#include "fluid_private.h"

#include <math.h>

#define CHUNK 4096 // particles whose cells are found at a time

// Cells of a chunk of particles.
static void find_cells(void *arg, int64_t chunk, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const fluid_grid *g = &w->grid;
    fluid_particles *p = &w->p;
    const int end = (int)fmin((double)p->n, (double)(chunk + 1) * CHUNK);
    for (int i = (int)chunk * CHUNK; i < end; ++i) {
        int cell = 0;
        for (int a = 0; a < g->dim; ++a) {
            const double at = fmin(fmax(fluid__cell_of(g, a, p->x[a][i]), 1), g->cells[a] - 1.5);
            cell += (int)at * g->stride[a];
        }
        p->cell[i] = cell;
    }
}

// Lowest and highest cell of the particles along each axis, from the rows in use.
static void find_extent(const fluid_world *w, int lowest[3], int highest[3]) {
    const fluid_grid *g = &w->grid;
    int low = g->count, high = -1; // along the slowest axis the indices themselves are ordered
    for (int a = 0; a < 3; ++a) lowest[a] = g->cells[a], highest[a] = -1;
    for (int i = 0; i < w->p.n; ++i) {
        const int c = w->p.cell[i];
        if (c < low) low = c;
        if (c > high) high = c;
    }
    if (high < 0) return;
    const int slow = g->dim - 1;
    lowest[slow] = low / g->stride[slow];
    highest[slow] = high / g->stride[slow];
    for (int a = 0; a < slow; ++a) {
        double x0 = INFINITY, x1 = -INFINITY;
        for (int i = 0; i < w->p.n; ++i) {
            x0 = fmin(x0, w->p.x[a][i]);
            x1 = fmax(x1, w->p.x[a][i]);
        }
        lowest[a] = (int)fmax(fluid__cell_of(g, a, x0), 1);
        highest[a] = (int)fmin(fluid__cell_of(g, a, x1), g->cells[a] - 2);
    }
}

// first[c] for the cells of the box, and the new order of the particles.
static void count_cells(fluid_world *w) {
    int total = 0;
    for (int i = 0; i < w->p.n; ++i) ++w->number[w->p.cell[i]];
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
            w->first[c] = total;
            total += w->number[c];
            w->number[c] = 0;
        }
    }
    for (int i = 0; i < w->p.n; ++i) {
        const int c = w->p.cell[i];
        w->order[w->first[c] + w->number[c]++] = i;
    }
}

typedef struct gather {
    const fluid_world *w;
    const double *from;
    double *to;
    const int32_t *from_id;
    int32_t *to_id;
} gather;

static void gather_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    const gather *g = arg;
    const int n = g->w->p.n, end = (int)fmin((double)n, (double)(chunk + 1) * CHUNK);
    const int32_t *order = g->w->order;
    if (g->from)
        for (int i = (int)chunk * CHUNK; i < end; ++i) g->to[i] = g->from[order[i]];
    else
        for (int i = (int)chunk * CHUNK; i < end; ++i) g->to_id[i] = g->from_id[order[i]];
}

static void reorder(fluid_world *w, double **field, int64_t chunks) {
    gather g = {.w = w, .from = *field, .to = w->spare};
    core_thread_for(w->threads, chunks, gather_chunk, &g);
    w->spare = *field;
    *field = g.to;
}

static void reorder_id(fluid_world *w, int32_t **field, int64_t chunks) {
    gather g = {.w = w, .from_id = *field, .to_id = w->spare_id};
    core_thread_for(w->threads, chunks, gather_chunk, &g);
    w->spare_id = *field;
    *field = g.to_id;
}

void fluid__sort(fluid_world *w) {
    const int64_t chunks = ((int64_t)w->p.n + CHUNK - 1) / CHUNK;
    int lowest[3], highest[3];
    fluid__box_reset(w);
    core_thread_for(w->threads, chunks, find_cells, w);
    find_extent(w, lowest, highest);
    fluid__box_fit(w, lowest, highest, fluid__layers(w) + 2);
    fluid__box_reset(w);
    w->threads = (double)fluid__row_count(w) * (w->hi[0] - w->lo[0]) < w->parallel_min ? 1 : w->def.threads;
    count_cells(w);
    bool sorted = true;
    for (int i = 0; i < w->p.n && sorted; ++i) sorted = w->order[i] == i;
    if (sorted) return;
    const int dim = w->grid.dim;
    for (int a = 0; a < dim; ++a) reorder(w, &w->p.x[a], chunks);
    for (int a = 0; a < dim; ++a) reorder(w, &w->p.v[a], chunks);
    for (int a = 0; a < dim; ++a)
        for (int b = 0; b < dim && w->def.affine; ++b) reorder(w, &w->p.c[3 * a + b], chunks);
    reorder_id(w, &w->p.id, chunks);
    reorder_id(w, &w->p.cell, chunks);
    if (w->p.image) reorder_id(w, &w->p.image, chunks);
}
