/// Exact signed distances at the cost of an interpolation: the box around the shape is cut into small squares, each
/// with the few edges that can be nearest to a point in it. Beside corners and medial axes, where interpolants of a
/// grid are off by a tenth of a cell, this is exact to rounding. Outlines with many edges to a square (fine curves) are
/// smooth at the squares' size: there the grid's interpolant answers.
#include "sdf_near.h"

#include <math.h>
#include <string.h>

enum { EDGES_MAX = 65535, COARSE = 8 };

/// Edges with the turn of the outline at both ends.
static void edges_fill(const core_outline *o, sdf__near_edge *edges) {
    for (int r = 0; r < o->count_rings; r++) {
        int begin = o->ring_start[r], end = o->ring_start[r + 1];
        for (int i = begin; i < end; i++) {
            int next = i + 1 < end ? i + 1 : begin;
            const double *a = o->xy + 2 * i, *b = o->xy + 2 * next;
            double x = b[0] - a[0], y = b[1] - a[1], length2 = x * x + y * y, length = sqrt(length2);
            edges[i] = (sdf__near_edge){.a = {a[0], a[1]},
                                        .e = {x, y},
                                        .n = {y / length, -x / length},
                                        .inverse_length2 = 1.0 / length2,
                                        .next = next};
        }
        for (int i = begin; i < end; i++) {
            sdf__near_edge *e = edges + i, *next = edges + e->next;
            e->reflex_end = next->reflex_start = e->e[0] * next->e[1] - e->e[1] * next->e[0] < 0.0;
            e->sign[1] = next->sign[0] = e->reflex_end ? -1.0 : 1.0;
        }
    }
}

static double edge_distance(const sdf__near_edge *e, const double p[2]) {
    double along;
    return sqrt(sdf__near_edge_distance2(e, p, &along));
}

/// Those of `from` (NULL: all) that can be nearest to a point within `outer` of p, to `to`; first, *inner of them,
/// those for points within `radius`. Returns their number.
static int select_edges(const sdf_near *near, const uint16_t *from, int count, const double p[2], double radius,
                        double outer, uint16_t *to, double *distance, int *inner) {
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        distance[i] = edge_distance(near->edges + (from ? from[i] : i), p);
        least = fmin(least, distance[i]);
    }
    const double limits[] = {-INFINITY, (least + 2.0 * radius) * (1.0 + 1e-9) + 1e-9,
                             (least + 2.0 * outer) * (1.0 + 1e-9) + 1e-9};
    int n = 0;
    for (int pass = 1; pass <= 2; pass++) {
        for (int i = 0; i < count; i++)
            if (distance[i] > limits[pass - 1] && distance[i] <= limits[pass]) to[n++] = from ? from[i] : (uint16_t)i;
        if (pass == 1) *inner = n;
    }
    return n;
}

/// Where lists are put together, and what for.
typedef struct work {
    uint16_t *table;        // SDF_NEAR_LIST_MAX for each square
    uint8_t *total, *inner; // of each square; 0: too many
    uint16_t *coarse, *own; // (edges)
    double *distance;       // (edges)
} work;

/// Lists of all squares. Blocks of squares narrow down the choice first.
static void lists_fill(const sdf_near *near, const work *w) {
    const double side = 2.0 * SDF_NEAR_BOX / SDF_NEAR_CELLS;
    for (int block = 0; block < (SDF_NEAR_CELLS / COARSE) * (SDF_NEAR_CELLS / COARSE); block++) {
        int i0 = block % (SDF_NEAR_CELLS / COARSE) * COARSE, k0 = block / (SDF_NEAR_CELLS / COARSE) * COARSE, inner;
        double centre[2] = {(i0 + 0.5 * COARSE) * side - SDF_NEAR_BOX, (k0 + 0.5 * COARSE) * side - SDF_NEAR_BOX};
        double radius = side * COARSE * sqrt(0.5) + SDF_NEAR_ROUND;
        int n = select_edges(near, NULL, near->count_edges, centre, radius, radius, w->coarse, w->distance, &inner);
        for (int c = 0; c < COARSE * COARSE; c++) {
            int i = i0 + c % COARSE, k = k0 + c / COARSE, at = k * SDF_NEAR_CELLS + i;
            double p[2] = {(i + 0.5) * side - SDF_NEAR_BOX, (k + 0.5) * side - SDF_NEAR_BOX};
            radius = side * sqrt(0.5);
            int found =
                select_edges(near, w->coarse, n, p, radius, radius + SDF_NEAR_ROUND, w->own, w->distance, &inner);
            if (found > SDF_NEAR_LIST_MAX) continue;
            w->total[at] = (uint8_t)found;
            w->inner[at] = (uint8_t)inner;
            memcpy(w->table + (size_t)at * SDF_NEAR_LIST_MAX, w->own, (size_t)found * sizeof *w->own);
        }
    }
}

/// True if two squares have the same edges.
static bool is_same_list(const work *w, int i, int k) {
    return w->total[i] == w->total[k] && w->inner[i] == w->inner[k] &&
           memcmp(w->table + (size_t)i * SDF_NEAR_LIST_MAX, w->table + (size_t)k * SDF_NEAR_LIST_MAX,
                  w->total[i] * sizeof *w->table) == 0;
}

/// The lists without gaps; a square that has the edges of its neighbour to the left or below shares its part.
static core_status lists_pack(sdf_near *near, const work *w, core_error *err) {
    core_status status = CORE_OK;
    const int cells = SDF_NEAR_CELLS * SDF_NEAR_CELLS;
    uint32_t n = 0;
    CORE_NEW_DONE(near->square, (size_t)cells);
    near->complete = true;
    for (int i = 0; i < cells; i++) {
        int like = i % SDF_NEAR_CELLS > 0 && is_same_list(w, i, i - 1)             ? i - 1
                   : i >= SDF_NEAR_CELLS && is_same_list(w, i, i - SDF_NEAR_CELLS) ? i - SDF_NEAR_CELLS
                                                                                   : i;
        uint32_t start = like < i ? near->square[like] >> 10 : n;
        near->square[i] = start << 10 | (uint32_t)w->total[i] << 5 | w->inner[i];
        if (like == i) n += w->total[i];
        near->complete = near->complete && w->total[i] > 0;
    }
    CORE_NEW_DONE(near->list, (size_t)n + 1);
    for (int i = 0; i < cells; i++)
        memcpy(near->list + (near->square[i] >> 10), w->table + (size_t)i * SDF_NEAR_LIST_MAX,
               w->total[i] * sizeof *w->table);
done:
    return status;
}

void sdf__near_destroy(sdf_near **near) {
    if (!*near) return;
    core_free((*near)->edges);
    core_free((*near)->square);
    core_free((*near)->list);
    sdf__sag_clear(*near);
    core_free(*near);
    *near = NULL;
}

core_status sdf__near_create(const core_outline *canonical, const sdf_grid *grid, sdf_near **near, core_error *err) {
    core_status status = CORE_OK;
    sdf_near *s = NULL;
    work w = {0};
    const size_t cells = (size_t)SDF_NEAR_CELLS * SDF_NEAR_CELLS, n = (size_t)core_outline_count(canonical);
    *near = NULL;
    if (n > EDGES_MAX) return CORE_OK; // finer than any grid: the interpolant answers everywhere
    CORE_NEW_DONE(s, 1);
    CORE_NEW_DONE(s->edges, n);
    CORE_NEW_DONE(w.table, cells * SDF_NEAR_LIST_MAX);
    CORE_NEW_DONE(w.total, cells);
    CORE_NEW_DONE(w.inner, cells);
    CORE_NEW_DONE(w.coarse, n);
    CORE_NEW_DONE(w.own, n);
    CORE_NEW_DONE(w.distance, n);
    s->lanes = __builtin_cpu_supports("avx2") ? sdf__near_lanes_avx2 : sdf__near_lanes_scalar;
    s->count_edges = (int)n;
    edges_fill(canonical, s->edges);
    lists_fill(s, &w);
    CORE_TRY_DONE(lists_pack(s, &w, err));
    CORE_TRY_DONE(sdf__sag_fill(s, grid, err));
    *near = s;
    s = NULL;
done:
    sdf__near_destroy(&s);
    core_free(w.table);
    core_free(w.total);
    core_free(w.inner);
    core_free(w.coarse);
    core_free(w.own);
    core_free(w.distance);
    return status;
}

double sdf__near_distance(const sdf_near *near, const uint16_t *list, int n, const double p[2], double *grad) {
    const sdf__near_edge *best = near->edges + list[0];
    double at, least = sdf__near_edge_distance2(best, p, &at);
    for (int i = 1; i < n; i++) {
        const sdf__near_edge *e = near->edges + list[i];
        double along, d2 = sdf__near_edge_distance2(e, p, &along);
        if (d2 >= least) continue;
        least = d2;
        at = along;
        best = e;
    }
    double x = p[0] - best->a[0], y = p[1] - best->a[1];
    if (at > 0.0 && at < 1.0) {
        if (grad) memcpy(grad, best->n, sizeof best->n);
        return x * best->n[0] + y * best->n[1];
    }
    // nearest to a corner: outside if it is convex, inside if it is reflex
    double distance = sqrt(least), sign = best->sign[at > 0.0];
    if (!grad) return sign * distance;
    if (distance > SDF_NEAR_TOUCHING) {
        grad[0] = sign * (at > 0.0 ? x - best->e[0] : x) / distance;
        grad[1] = sign * (at > 0.0 ? y - best->e[1] : y) / distance;
    } else {
        memcpy(grad, best->n, sizeof best->n);
    }
    return sign * distance;
}

double sdf_grid_distance(const sdf_grid *grid, const double p[2], double grad[2]) {
    const uint16_t *list = NULL;
    int round, n = grid->near ? sdf__near_list(grid->near, p, &list, &round) : 0;
    return n > 0 ? sdf__near_distance(grid->near, list, n, p, grad) : sdf_grid_sample(grid, p, grad);
}

void sdf__near_lanes_scalar(const sdf_grid *grid, const double *x, const double *y, double *d, double *gx, double *gy) {
    for (int i = 0; i < SDF_LANES; i++) {
        const double p[2] = {x[i], y[i]};
        double grad[2];
        d[i] = sdf_grid_distance(grid, p, grad);
        gx[i] = grad[0];
        gy[i] = grad[1];
    }
}

void sdf_grid_distances(const sdf_grid *grid, const double *x, const double *y, double *d, double *gx, double *gy) {
    (grid->near ? grid->near->lanes : sdf__near_lanes_scalar)(grid, x, y, d, gx, gy);
}

bool sdf_grid_is_exact(const sdf_grid *grid) {
    return grid->near && grid->near->complete;
}

int sdf_grid_pieces(const sdf_grid *grid, const double p[2], double within, int most, sdf_piece *pieces) {
    const uint16_t *list = NULL;
    int round, n = grid->near ? sdf__near_list(grid->near, p, &list, &round) : 0, count = 0;
    double distance = n > 0 ? -sdf__near_distance(grid->near, list, n, p, NULL) : 0.0;
    if (distance <= SDF_NEAR_TOUCHING) return 0;
    for (int i = 0; i < round && count < most; i++) {
        const sdf__near_edge *e = grid->near->edges + list[i];
        double along, d = sqrt(sdf__near_edge_distance2(e, p, &along));
        if (d > distance + within) continue;
        double at = along < 0.0 ? 0.0 : along > 1.0 ? 1.0 : along;
        // past a reflex corner the distance to it takes over; past a convex one the next edge does
        bool bent = e->reflex_start || e->reflex_end;
        pieces[count++] =
            (sdf_piece){.value = -d,
                        .grad = {(e->a[0] + at * e->e[0] - p[0]) / d, (e->a[1] + at * e->e[1] - p[1]) / d},
                        .bend = bent || at != along ? 1.0 / (d > within ? d - 0.5 * within : 0.5 * d) : 0.0};
    }
    return count;
}
