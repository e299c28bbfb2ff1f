/// The grid: sizes, the box of cells a step looks at, periodic copies, interpolation of node fields, connected parts.
#include "fluid_private.h"

#include <math.h>
#include <string.h>

static const double WHOLE = 1e-6; // of a cell: how far the region may be from a whole number of cells

core_status fluid__grid_init(const fluid_def *def, fluid_grid *grid, core_error *err) {
    fluid_grid g = {.dim = def->dim, .cells = {1, 1, 1}, .h = def->h, .periodic = def->periodic};
    double count = 1;
    for (int a = 0; a < def->dim; ++a) {
        const double length = (def->region[3 + a] - def->region[a]) / def->h, whole = floor(length + .5);
        CORE_CHECK(length > .5 && fabs(length - whole) <= WHOLE * whole, CORE_RANGE,
                   "region: found %g to %g m along axis %d with cells of %g m, expected a whole number of cells, at "
                   "least one",
                   def->region[a], def->region[3 + a], a, def->h);
        count *= whole + 2;
        CORE_CHECK(count <= FLUID_CELLS_MAX, CORE_RANGE, "region: found more than %d cells of %g m", FLUID_CELLS_MAX,
                   def->h);
        g.cells[a] = (int)whole + 2;
        g.origin[a] = def->region[a];
    }
    g.stride[0] = 1;
    g.stride[1] = g.cells[0];
    g.stride[2] = g.cells[0] * g.cells[1];
    g.count = (int)count;
    *grid = g;
    return CORE_OK;
}

void fluid__rows(const fluid_world *w, void (*fn)(void *arg, int64_t row, int worker), void *arg) {
    core_thread_for(w->threads, fluid__row_count(w), fn, arg);
}

void fluid__wrap(const fluid_world *w, double *field) {
    if (!w->grid.periodic) return;
    const int n = w->grid.cells[0] - 2;
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        double *row = field + fluid__wide_base(w, r);
        row[0] = row[n];
        row[n + 1] = row[1];
    }
}

void fluid__wrap_bytes(const fluid_world *w, uint8_t *field) {
    if (!w->grid.periodic) return;
    const int n = w->grid.cells[0] - 2;
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        uint8_t *row = field + fluid__wide_base(w, r);
        row[0] = row[n];
        row[n + 1] = row[1];
    }
}

void fluid__copy_faces(const fluid_world *w, double *const from[3], double *const to[3]) {
    const size_t n = (size_t)(w->hi[0] - w->lo[0] + 2) * sizeof(double);
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        const size_t at = (size_t)(fluid__wide_base(w, r) + w->lo[0] - 1);
        for (int a = 0; a < w->grid.dim; ++a) memcpy(to[a] + at, from[a] + at, n);
    }
}

void fluid__box_reset(fluid_world *w) {
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base; c < base + w->grid.cells[0]; ++c) {
            w->cell[c] = w->open[c] ? FLUID_CELL_AIR : FLUID_CELL_SOLID;
            w->number[c] = 0;
            w->loose[c] = 0;
        }
    }
}

void fluid__box_fit(fluid_world *w, const int lowest[3], const int highest[3], int margin) {
    const fluid_grid *g = &w->grid;
    for (int a = 0; a < g->dim; ++a) {
        const int last = g->cells[a] - 1;
        w->lo[a] = lowest[a] - margin > 1 ? lowest[a] - margin : 1;
        w->hi[a] = highest[a] + 1 + margin < last ? highest[a] + 1 + margin : last;
        if (w->hi[a] <= w->lo[a]) w->lo[a] = 1, w->hi[a] = 2; // no particles
    }
    if (g->periodic) w->lo[0] = 1, w->hi[0] = g->cells[0] - 1;
}

double fluid__node_sample(const fluid_grid *g, const double *field, const double *x, double *gradient) {
    int base = 0;
    double f[3] = {0, 0, 0}, value = 0, slope[3] = {0, 0, 0};
    for (int a = 0; a < g->dim; ++a) {
        const double q = fmin(fmax(fluid__cell_of(g, a, x[a]), 0), g->cells[a] - 1.000001);
        const int i = (int)q;
        f[a] = q - i;
        base += i * g->stride[a];
    }
    for (int corner = 0; corner < 1 << g->dim; ++corner) {
        int c = base;
        double weight = 1, part[3] = {1, 1, 1};
        for (int a = 0; a < g->dim; ++a) {
            const int up = corner >> a & 1;
            c += up ? g->stride[a] : 0;
            const double one = up ? f[a] : 1 - f[a];
            weight *= one;
            for (int b = 0; b < g->dim; ++b) part[b] *= b == a ? (up ? 1 : -1) : one;
        }
        value += weight * field[c];
        for (int a = 0; a < g->dim; ++a) slope[a] += part[a] * field[c];
    }
    for (int a = 0; gradient && a < g->dim; ++a) gradient[a] = slope[a] / g->h;
    return value;
}

// Puts the neighbour of c along an axis into the list if it belongs to the part; returns the new length.
static int visit(const fluid_world *w, const uint8_t *member, uint8_t value, int32_t *label, int c, int part,
                 int length) {
    if (member[c] != value || label[c] >= 0) return length;
    label[c] = part;
    w->list[length] = c;
    return length + 1;
}

// Index of c behind a step of one cell, wrapped along a periodic axis 0.
static int neighbour(const fluid_grid *g, int c, int axis, int way) {
    const int next = c + way * g->stride[axis];
    if (axis > 0 || !g->periodic) return next;
    const int i = next % g->stride[1];
    return i == 0 ? next + g->cells[0] - 2 : i == g->cells[0] - 1 ? next - (g->cells[0] - 2) : next;
}

void fluid__labels_clear(fluid_world *w, int32_t *label) {
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) label[c] = -1;
    }
}

int fluid__component_at(fluid_world *w, const uint8_t *member, uint8_t value, int32_t *label, int c, int part) {
    const fluid_grid *g = &w->grid;
    int length = visit(w, member, value, label, c, part, 0);
    for (int head = 0; head < length; ++head)
        for (int a = 0; a < g->dim; ++a) {
            const int at = w->list[head];
            length = visit(w, member, value, label, neighbour(g, at, a, -1), part, length);
            length = visit(w, member, value, label, neighbour(g, at, a, 1), part, length);
        }
    return length;
}

int fluid__components(fluid_world *w, const uint8_t *member, uint8_t value, int32_t *label) {
    int parts = 0;
    fluid__labels_clear(w, label);
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c)
            parts += fluid__component_at(w, member, value, label, c, parts) > 0;
    }
    return parts;
}
