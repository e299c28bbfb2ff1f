// True overlap of the outlines: near pairs from a cell grid of bounding circles, whether they overlap from the exact
// intersection, how deep from the outlines' exact distances.
#include "sim_measure_private.h"

#include <math.h>
#include <stdlib.h>

#define DEEP 0.03          // of the smaller circumradius
#define CELLS_PER_GRAIN 16 // at most, on average: bounds the grid when one grain has flown away
#define CELLS_SPARE 1024

// Uniform cells with side of at least the largest diameter; the grains of a cell are a chain in ascending order.
typedef struct cells {
    double origin[2], side;
    int nx, ny;
    int *first; // (ny x nx) index into the selection, -1: empty
    int *next;  // (count)
} cells;

// Depths found so far.
typedef struct depths {
    int count, capacity;
    double *values;
} depths;

static int cell_index(double x, double origin, double side, int n) {
    int i = (int)((x - origin) / side);
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static core_status build_cells(const sim_selection *s, cells *c, core_error *err) {
    core_status status = CORE_OK;
    double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, radius = 0;
    for (int k = 0; k < s->count; k++) {
        const double *x = s->state->position + 2 * s->rows[k];
        radius = fmax(radius, s->info->types[s->info->species[s->rows[k]]].radius);
        box[0] = fmin(box[0], x[0]), box[1] = fmin(box[1], x[1]);
        box[2] = fmax(box[2], x[0]), box[3] = fmax(box[3], x[1]);
    }
    // Larger cells are slower, never wrong.
    double limit = (double)s->count * CELLS_PER_GRAIN + CELLS_SPARE;
    c->side = 2 * radius * (1 + 1e-9), c->origin[0] = box[0], c->origin[1] = box[1];
    while (((box[2] - box[0]) / c->side + 1) * ((box[3] - box[1]) / c->side + 1) > limit) c->side *= 2;
    c->nx = (int)((box[2] - box[0]) / c->side) + 1, c->ny = (int)((box[3] - box[1]) / c->side) + 1;
    CORE_NEW_DONE(c->first, (size_t)c->nx * (size_t)c->ny);
    CORE_NEW_DONE(c->next, (size_t)s->count);
    for (int i = 0; i < c->nx * c->ny; i++) c->first[i] = -1;
    for (int k = s->count - 1; k >= 0; k--) {
        const double *x = s->state->position + 2 * s->rows[k];
        int cell = cell_index(x[1], box[1], c->side, c->ny) * c->nx + cell_index(x[0], box[0], c->side, c->nx);
        c->next[k] = c->first[cell];
        c->first[cell] = k;
    }
done:
    return status; // the caller frees
}

static sdf_posed posed(const sim_selection *s, int row) {
    const core_run_type *t = &s->info->types[s->info->species[row]];
    const double *x = s->state->position + 2 * row;
    return (sdf_posed){&t->outline, t->radius, s->state->orientation[row], x[0], x[1]};
}

static core_status keep_depth(depths *d, double depth, core_error *err) {
    if (d->count == d->capacity) {
        int capacity = 2 * d->capacity + 64;
        double *grown = core_realloc(d->values, (size_t)d->count, (size_t)capacity, sizeof *grown);
        CORE_CHECK(grown, CORE_MEMORY, "out of memory: %d overlaps", capacity);
        d->values = grown, d->capacity = capacity;
    }
    d->values[d->count++] = depth;
    return CORE_OK;
}

// The selection and the boundaries that are grains, wherever they are; the caller frees all->rows.
static core_status add_boundaries(const sim_selection *s, sim_selection *all, core_error *err) {
    *all = *s;
    all->rows = core_alloc((size_t)s->info->count_rows + 1, sizeof *all->rows);
    CORE_CHECK(all->rows, CORE_MEMORY, "out of memory: %d grains", s->info->count_rows);
    all->count = 0;
    for (int i = 0, k = 0; i < s->info->count_rows; i++) {
        if (k < s->count && s->rows[k] == i)
            all->rows[all->count++] = s->rows[k++];
        else if (s->info->prescribed[i] && s->state->id[i] >= 0)
            all->rows[all->count++] = i;
    }
    return CORE_OK;
}

// Exact overlap of grains k < l of the selection, if their bounding circles meet. Two boundaries may overlap.
static core_status try_pair(const sim_selection *s, int k, int l, depths *d, core_error *err) {
    sdf_posed a = posed(s, s->rows[k]), b = posed(s, s->rows[l]);
    double dx = b.x - a.x, dy = b.y - a.y, reach = a.scale + b.scale, area, depth;
    if (s->info->prescribed[s->rows[k]] && s->info->prescribed[s->rows[l]]) return CORE_OK;
    if (dx * dx + dy * dy >= reach * reach) return CORE_OK;
    core_status status = sdf_posed_overlap(&a, &b, &area, &depth, err);
    if (status != CORE_OK)
        return core_error_prefix(err, status, "overlap of grains %d and %d", s->state->id[s->rows[k]],
                                 s->state->id[s->rows[l]]);
    if (depth > 0) CORE_TRY(keep_depth(d, sim_measure_depth(&a, &b) / fmin(a.scale, b.scale), err));
    return CORE_OK;
}

// All pairs of grain k with later grains in the cells around it.
static core_status try_neighbours(const sim_selection *s, const cells *c, int k, depths *d, core_error *err) {
    const double *x = s->state->position + 2 * s->rows[k];
    int ix = cell_index(x[0], c->origin[0], c->side, c->nx), iy = cell_index(x[1], c->origin[1], c->side, c->ny);
    for (int j = iy > 0 ? iy - 1 : 0; j <= iy + 1 && j < c->ny; j++)
        for (int i = ix > 0 ? ix - 1 : 0; i <= ix + 1 && i < c->nx; i++)
            for (int l = c->first[j * c->nx + i]; l >= 0; l = c->next[l])
                if (l > k) CORE_TRY(try_pair(s, k, l, d, err));
    return CORE_OK;
}

static double deepest_below_planes(const sim_selection *s) {
    double deepest = 0;
    for (int k = 0; k < s->count; k++) {
        sdf_posed a = posed(s, s->rows[k]);
        for (int i = 0; i < s->info->count_planes; i++) {
            const double *p = s->state->plane + 3 * i; // normal, offset
            double height = p[0] * a.x + p[1] * a.y - p[2];
            if (!s->state->plane_present[i] || height > a.scale) continue;
            deepest = fmax(deepest, sdf_posed_below_plane(&a, p, p[2]) / a.scale);
        }
    }
    return deepest;
}

static void summarise(depths *d, sim_measurement *m) {
    int deep = 0;
    double sum = 0;
    qsort(d->values, (size_t)d->count, sizeof *d->values, sim_measure_compare);
    for (int i = 0; i < d->count; i++) {
        sum += d->values[i];
        deep += d->values[i] > DEEP;
    }
    m->overlap_pairs = d->count;
    m->overlap_mean = d->count ? sum / d->count : 0;
    m->overlap_p99 = d->count ? d->values[sim_measure_quantile(0.99, d->count)] : 0;
    m->overlap_max = d->count ? d->values[d->count - 1] : 0;
    m->overlap_fraction_above_3 = d->count ? (double)deep / d->count : 0;
}

core_status sim_measure_overlap(const sim_selection *s, sim_measurement *m, core_error *err) {
    core_status status = CORE_OK;
    cells c = {0};
    depths d = {0};
    sim_selection all = {0};
    CORE_TRY_DONE(add_boundaries(s, &all, err));
    if (all.count > 0) CORE_TRY_DONE(build_cells(&all, &c, err));
    CORE_TRY_DONE(keep_depth(&d, 0.0, err)); // so that there is an array to sort
    d.count = 0;
    for (int k = 0; k < all.count; k++) CORE_TRY_DONE(try_neighbours(&all, &c, k, &d, err));
    summarise(&d, m);
    m->overlap_plane_max = deepest_below_planes(s);
done:
    core_free(all.rows);
    core_free(c.first);
    core_free(c.next);
    core_free(d.values);
    return status;
}
