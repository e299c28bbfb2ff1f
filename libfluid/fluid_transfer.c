/// Transfers between particles and faces with multilinear weights: PIC, FLIP, their blend, APIC. Sums over particles
/// are taken in slabs of cells along the slowest axis, first the even slabs, then the odd ones: no two slabs that run
/// together meet at a face, and a face gets its terms in one order whatever the number of threads. PIC: Harlow 1963;
/// FLIP: Brackbill & Ruppel 1986; APIC: Jiang et al. 2015, for staggered grids.
#include "fluid_private.h"

#include <math.h>
#include <string.h>

#define SLAB 4 // cells of a slab; at least 2
#define CHUNK 1024

// Lowest face of component `axis` whose support holds x, and the fractions behind it.
static inline int locate(const fluid_grid *g, int dim, int axis, const double *x, double f[3]) {
    int base = 0;
    for (int a = 0; a < dim; ++a) {
        const double q = fluid__cell_of(g, a, x[a]) - (a == axis ? 0 : .5);
        const int i = (int)q; // q >= 0: a border cell lies below
        f[a] = q - i;
        base += i * g->stride[a];
    }
    return base;
}

// ---------------------------------------------------------------------------------------------- to the grid

static inline void spread(fluid_world *w, int dim, int i) {
    const fluid_grid *g = &w->grid;
    const fluid_particles *p = &w->p;
    double x[3], f[3];
    for (int a = 0; a < dim; ++a) x[a] = p->x[a][i];
    for (int axis = 0; axis < dim; ++axis) {
        const int base = locate(g, dim, axis, x, f);
        double slope[3] = {0, 0, 0};
        for (int a = 0; a < dim && w->def.affine; ++a) slope[a] = p->c[3 * axis + a][i] * g->h;
        for (int corner = 0; corner < 1 << dim; ++corner) {
            double weight = 1, v = p->v[axis][i];
            int c = base;
            for (int a = 0; a < dim; ++a) {
                const int up = corner >> a & 1;
                weight *= up ? f[a] : 1 - f[a];
                v += slope[a] * (up - f[a]);
                c += up ? g->stride[a] : 0;
            }
            w->u[axis][c] += weight * v;
            w->mass[axis][c] += weight;
        }
    }
}

typedef struct slabs {
    fluid_world *w;
    int parity;
} slabs;

static void spread_slab(void *arg, int64_t index, int worker) {
    (void)worker;
    const slabs *s = arg;
    fluid_world *w = s->w;
    const fluid_grid *g = &w->grid;
    const int slow = g->dim - 1;
    const int from = w->lo[slow] + (2 * (int)index + s->parity) * SLAB;
    const int to = from + SLAB < w->hi[slow] ? from + SLAB : w->hi[slow];
    for (int k = from; k < to; ++k)
        for (int j = g->dim == 3 ? w->lo[1] : 0; j < (g->dim == 3 ? w->hi[1] : 1); ++j) {
            const int base = k * g->stride[slow] + j * g->stride[1];
            const int first = w->first[base + w->lo[0]], last = base + w->hi[0] - 1;
            const int end = w->first[last] + w->number[last];
            if (g->dim == 2)
                for (int i = first; i < end; ++i) spread(w, 2, i);
            else
                for (int i = first; i < end; ++i) spread(w, 3, i);
        }
}

// Clears u and mass in the box and a row around it.
static void clear_faces(fluid_world *w) {
    const size_t n = (size_t)(w->hi[0] - w->lo[0] + 2) * sizeof(double);
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        const size_t at = (size_t)(fluid__wide_base(w, r) + w->lo[0] - 1);
        for (int a = 0; a < w->grid.dim; ++a) {
            memset(w->u[a] + at, 0, n);
            memset(w->mass[a] + at, 0, n);
        }
    }
}

// Adds what a periodic grid has in its border columns to where it belongs.
static void fold(const fluid_world *w, double *field) {
    if (!w->grid.periodic) return;
    const int n = w->grid.cells[0] - 2;
    for (int64_t r = 0; r < fluid__wide_count(w); ++r) {
        double *row = field + fluid__wide_base(w, r);
        row[n] += row[0];
        row[1] += row[n + 1];
        row[0] = row[n];
        row[n + 1] = row[1];
    }
}

static void divide_row(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < w->grid.dim; ++a)
        for (int c = base + w->lo[0] - 1; c < base + w->hi[0] + 1; ++c)
            w->u[a][c] = w->mass[a][c] > FLUID_WEIGHT_MIN ? w->u[a][c] / w->mass[a][c] : 0;
}

void fluid__to_grid(fluid_world *w) {
    const int slow = w->grid.dim - 1;
    const int count = (w->hi[slow] - w->lo[slow] + SLAB - 1) / SLAB;
    clear_faces(w);
    for (int parity = 0; parity < 2; ++parity) {
        slabs s = {w, parity};
        core_thread_for(w->threads, (count + 1 - parity) / 2, spread_slab, &s);
    }
    for (int a = 0; a < w->grid.dim; ++a) {
        fold(w, w->u[a]);
        fold(w, w->mass[a]);
    }
    core_thread_for(w->threads, fluid__wide_count(w), divide_row, w);
}

// ---------------------------------------------------------------------------------------------- to the particles

static inline double value_at(const double *field, int dim, const fluid_grid *g, int base, const double *f) {
    double v = 0;
    for (int corner = 0; corner < 1 << dim; ++corner) {
        double weight = 1;
        int c = base;
        for (int a = 0; a < dim; ++a) {
            const int up = corner >> a & 1;
            weight *= up ? f[a] : 1 - f[a];
            c += up ? g->stride[a] : 0;
        }
        v += weight * field[c];
    }
    return v;
}

static inline void slope_at(const double *field, int dim, const fluid_grid *g, int base, const double *f,
                            double slope[3]) {
    for (int a = 0; a < dim; ++a) slope[a] = 0;
    for (int corner = 0; corner < 1 << dim; ++corner) {
        int c = base;
        for (int a = 0; a < dim; ++a) c += corner >> a & 1 ? g->stride[a] : 0;
        for (int a = 0; a < dim; ++a) {
            double weight = corner >> a & 1 ? 1 : -1;
            for (int b = 0; b < dim; ++b) weight *= b == a ? 1 : corner >> b & 1 ? f[b] : 1 - f[b];
            slope[a] += weight * field[c];
        }
    }
    for (int a = 0; a < dim; ++a) slope[a] /= g->h;
}

static inline void collect(fluid_world *w, int dim, int i) {
    const fluid_grid *g = &w->grid;
    fluid_particles *p = &w->p;
    const double flip = w->def.flip;
    double x[3], f[3], slope[3];
    for (int a = 0; a < dim; ++a) x[a] = p->x[a][i];
    for (int axis = 0; axis < dim; ++axis) {
        const int base = locate(g, dim, axis, x, f);
        const double now = value_at(w->u[axis], dim, g, base, f);
        double v = now;
        if (flip > 0) {
            const double before = value_at(w->old[axis], dim, g, base, f);
            v = flip * (p->v[axis][i] + (now - before)) + (1 - flip) * now;
        }
        p->v[axis][i] = v;
        if (!w->def.affine) continue;
        slope_at(w->u[axis], dim, g, base, f, slope);
        for (int a = 0; a < dim; ++a) p->c[3 * axis + a][i] = slope[a];
    }
}

static void collect_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const int end = (int)fmin((double)w->p.n, (double)(chunk + 1) * CHUNK);
    if (w->grid.dim == 2)
        for (int i = (int)chunk * CHUNK; i < end; ++i) collect(w, 2, i);
    else
        for (int i = (int)chunk * CHUNK; i < end; ++i) collect(w, 3, i);
}

void fluid__to_particles(fluid_world *w) {
    core_thread_for(w->threads, ((int64_t)w->p.n + CHUNK - 1) / CHUNK, collect_chunk, w);
}

void fluid__sample(const fluid_world *w, const double *x, double *v) {
    double f[3];
    const int dim = w->grid.dim;
    for (int axis = 0; axis < dim; ++axis) {
        const int base = locate(&w->grid, dim, axis, x, f);
        v[axis] = value_at(w->u[axis], dim, &w->grid, base, f);
    }
}
