/// Kinds of cells and the distance from the material near its surface.
#include "fluid_private.h"

#include <math.h>

static const double WET = .25;

static void mark_full(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c)
        if (w->open[c] && w->number[c] > 0) w->cell[c] = FLUID_CELL_FULL;
}

// A cell that a wall cuts and whose neighbour away from the wall is full: material stands in it, but too little for
// particles. Left as air it would be a hole in the bed. A cell with more than WET of a cell between its middle and the
// wall has room for particles.
static bool is_wet_corner(const fluid_world *w, int c) {
    return w->wall_part[c] > 0 && w->cell[fluid__away(w, c)] == FLUID_CELL_FULL &&
           fluid__cell_phi(w, c) < WET * w->grid.h;
}

// An empty cell with material or wall on all sides is noise of the sampling.
static bool is_hole(const fluid_world *w, int c) {
    bool touches = false;
    for (int a = 0; a < w->grid.dim; ++a)
        for (int way = -1; way < 2; way += 2) {
            const uint8_t kind = w->cell[c + way * w->grid.stride[a]];
            if (kind == FLUID_CELL_AIR) return false;
            touches = touches || kind == FLUID_CELL_FULL;
        }
    return touches;
}

static void mark_wet(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__row_base(w, row);
    // marks are kept apart from the kinds that the neighbours read
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c)
        w->mark[c] =
            w->cell[c] == FLUID_CELL_AIR && (is_wet_corner(w, c) || is_hole(w, c)) ? FLUID_CELL_FULL : w->cell[c];
}

static void finish_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__row_base(w, row);
    int lo = w->hi[0], hi = w->lo[0], full = 0;
    for (int i = w->lo[0]; i < w->hi[0]; ++i) {
        w->cell[base + i] = w->mark[base + i];
        if (w->cell[base + i] != FLUID_CELL_FULL) continue;
        if (i < lo) lo = i;
        hi = i + 1;
        ++full;
    }
    w->span_lo[row] = lo < hi ? lo : w->lo[0];
    w->span_hi[row] = lo < hi ? hi : w->lo[0];
    w->row_sum[row] = full;
}

// The kinds become what is marked.
static void finish_cells(fluid_world *w) {
    fluid__rows(w, finish_row, w);
    fluid__wrap_bytes(w, w->cell);
    w->count_full = 0;
    for (int64_t r = 0; r < fluid__row_count(w); ++r) w->count_full += (int)w->row_sum[r];
}

void fluid__mark_cells(fluid_world *w) {
    fluid__rows(w, mark_full, w);
    fluid__wrap_bytes(w, w->cell);
    fluid__rows(w, mark_wet, w);
    finish_cells(w);
}

// ---------------------------------------------------------------------------------------------- distance

// Share of a hat of half width 1 below a plane at distance d above its middle.
static double hat_below(double d) {
    if (d <= -1) return 0;
    if (d >= 1) return 1;
    return .5 + d - .5 * d * fabs(d);
}

// Depth in cells of a cell's middle below a level surface that gives its faces the filling `part` on the mean: two of
// four faces lie beside it, one half a cell above, one below (in 3D: four of six).
static double depth_of(double part, int dim) {
    double low = -1.5, high = 1.5;
    const double level = (dim - 1.) / dim;
    for (int i = 0; i < 30; ++i) {
        const double d = .5 * (low + high);
        const double filling = level * hat_below(d) + (1 - level) * .5 * (hat_below(d + .5) + hat_below(d - .5));
        if (filling < part)
            low = d;
        else
            high = d;
    }
    return .5 * (low + high);
}

// Distance from the material at the middle of cell c: from the mean weight of its open faces.
static double distance_at(const fluid_world *w, int c) {
    const fluid_grid *g = &w->grid;
    double sum = 0;
    int n = 0;
    for (int a = 0; a < g->dim; ++a)
        for (int side = 0; side < 2; ++side) {
            const int f = c + side * g->stride[a];
            if (w->area[a][f] <= 0) continue;
            sum += w->mass[a][f];
            ++n;
        }
    return -g->h * depth_of(n > 0 ? sum / n / (1 << g->dim) : 0, g->dim);
}

static bool is_near_surface(const fluid_world *w, int c) {
    const bool full = w->cell[c] == FLUID_CELL_FULL;
    for (int a = 0; a < w->grid.dim; ++a)
        for (int way = -1; way < 2; way += 2) {
            const uint8_t kind = w->cell[c + way * w->grid.stride[a]];
            if (full ? kind == FLUID_CELL_AIR : kind == FLUID_CELL_FULL) return true;
        }
    return false;
}

static void phi_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const fluid_grid *g = &w->grid;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        const uint8_t kind = w->cell[c];
        w->phi[c] = kind == FLUID_CELL_FULL ? -g->h : g->h;
        if (kind != FLUID_CELL_SOLID && is_near_surface(w, c)) w->phi[c] = distance_at(w, c);
    }
}

// ---------------------------------------------------------------------------------------------- thin material

// With a surface inside cells, one whose middle lies above it is air, whatever particles are in it: it has no pressure
// of its own, and what is in it goes with what it lies on. A corner is wet as long as its neighbour is not such a cell.
static void thin_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        const bool above = w->cell[c] == FLUID_CELL_FULL && w->phi[c] >= 0;
        w->loose[c] = above && w->number[c] > 0;
        w->mark[c] = w->loose[c] || (above && w->phi[fluid__away(w, c)] >= 0) ? FLUID_CELL_AIR : w->cell[c];
    }
}

static bool touches_full(const fluid_world *w, int c) {
    for (int k = 0; k < (w->grid.dim == 2 ? 9 : 27); ++k) {
        const int next = c + (k % 3 - 1) * w->grid.stride[0] + (k / 3 % 3 - 1) * w->grid.stride[1] +
                         (w->grid.dim == 2 ? 0 : (k / 9 - 1) * w->grid.stride[2]);
        if (w->cell[next] == FLUID_CELL_FULL) return true;
    }
    return false;
}

static void loose_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) w->loose[c] = w->loose[c] && !touches_full(w, c);
}

void fluid__surface_phi(fluid_world *w) {
    if (w->def.surface != FLUID_SURFACE_GHOST) return;
    fluid__rows(w, phi_row, w);
    fluid__wrap(w, w->phi);
    if (w->def.material == FLUID_WATER || w->def.sand == FLUID_SAND_UNIFIED) {
        fluid__rows(w, thin_row, w);
        finish_cells(w);
        fluid__rows(w, loose_row, w);
        fluid__wrap_bytes(w, w->loose);
        fluid__rows(w, phi_row, w); // of the cells below, too
    }
    fluid__wrap(w, w->phi);
}
