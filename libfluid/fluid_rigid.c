/// Rigid parts of sand: the velocity of each connected part becomes the rigid motion nearest to it in the sense of
/// least squares over its faces, with the components as they are staggered:
///     min over U, Omega of sum m_f (u_f - e_f.(U + Omega x r_f))^2.
/// A face that belongs to two cells of the part counts once, one at its rim counts half. Momentum and angular momentum
/// of these faces are kept exactly: they are the normal equations.
#include "fluid_private.h"

#include <math.h>

#define UNKNOWNS_MAX 6 // three of U, three of Omega

typedef struct fit {
    int n;                                     // unknowns
    double matrix[UNKNOWNS_MAX][UNKNOWNS_MAX]; // normal equations
    double right[UNKNOWNS_MAX], solution[UNKNOWNS_MAX];
    double middle[3]; // of the part, cells
} fit;

// Place of a cell's lower (side 0) or upper face along an axis, in cells.
static void face_place(const fluid_grid *g, int c, int axis, int side, double place[3]) {
    const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
    for (int a = 0; a < 3; ++a) place[a] = at[a] + (a == axis ? side : .5);
}

// What each unknown adds to the velocity along an axis at r.
static void basis(const fit *f, int dim, int axis, const double r[3], double e[UNKNOWNS_MAX]) {
    for (int k = 0; k < f->n; ++k) e[k] = k == axis;
    if (f->n == dim) return;
    if (dim == 2) {
        e[2] = axis == 0 ? -r[1] : r[0];
        return;
    }
    const int next = (axis + 1) % 3, last = (axis + 2) % 3; // (Omega x r)_axis = Omega_next r_last - Omega_last r_next
    e[3 + axis] = 0;
    e[3 + next] = r[last];
    e[3 + last] = -r[next];
}

// Solves the symmetric positive definite equations by Cholesky; false if they are singular.
static bool solve(fit *f) {
    double l[UNKNOWNS_MAX][UNKNOWNS_MAX], z[UNKNOWNS_MAX];
    for (int i = 0; i < f->n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = f->matrix[i][j];
            for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 1e-12 * f->matrix[i][i])) return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        z[i] = f->right[i];
        for (int k = 0; k < i; ++k) z[i] -= l[i][k] * z[k];
        z[i] /= l[i][i];
    }
    for (int i = f->n - 1; i >= 0; --i) {
        for (int k = i + 1; k < f->n; ++k) z[i] -= l[k][i] * f->solution[k];
        f->solution[i] = z[i] / l[i][i];
    }
    return true;
}

static void gather(const fluid_world *w, int length, fit *f) {
    const fluid_grid *g = &w->grid;
    for (int i = 0; i < length; ++i) {
        const int c = w->list[i], at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
        for (int a = 0; a < 3; ++a) f->middle[a] += (at[a] + .5) / length;
    }
    for (int i = 0; i < length; ++i)
        for (int side = 0; side < 2 * g->dim; ++side) {
            const int axis = side / 2, face = w->list[i] + side % 2 * g->stride[axis];
            double place[3], e[UNKNOWNS_MAX];
            const double mass = .5 * w->area[axis][face];
            face_place(g, w->list[i], axis, side % 2, place);
            for (int a = 0; a < 3; ++a) place[a] -= f->middle[a];
            basis(f, g->dim, axis, place, e);
            for (int j = 0; j < f->n; ++j) {
                f->right[j] += mass * e[j] * w->u[axis][face];
                for (int k = 0; k < f->n; ++k) f->matrix[j][k] += mass * e[j] * e[k];
            }
        }
}

// The wall law for the part as a whole: what its walls can take is compared with its momentum along them.
static void rub(const fluid_world *w, int length, fit *f) {
    const int dim = w->grid.dim;
    double normal[3] = {0, 0, 0}, size = 0, capacity = 0, mass = 0, slip2 = 0, along = 0;
    for (int i = 0; i < length; ++i) {
        const int c = w->list[i];
        ++mass;
        if (w->wall_part[c] <= 0) continue;
        capacity += w->friction[c] * fluid__wall_q(w, c) * w->wall_part[c];
        for (int a = 0; a < dim; ++a) normal[a] += w->wall_part[c] * w->wall_normal[a][c];
    }
    if (!(capacity > 0) || w->def.wall_law != FLUID_WALL_PRESSURE) return;
    for (int a = 0; a < dim; ++a) size += normal[a] * normal[a];
    for (int a = 0; a < dim && size > 0; ++a) along += f->solution[a] * normal[a] / sqrt(size);
    for (int a = 0; a < dim; ++a) {
        const double slip = f->solution[a] - (size > 0 ? along * normal[a] / sqrt(size) : 0);
        slip2 += slip * slip;
    }
    if (capacity >= mass * sqrt(slip2)) {
        for (int k = 0; k < f->n; ++k) f->solution[k] = 0; // it sticks
        return;
    }
    const double keep = 1 - capacity / (mass * sqrt(slip2));
    for (int a = 0; a < dim; ++a) {
        const double across = size > 0 ? along * normal[a] / sqrt(size) : 0;
        f->solution[a] = across + keep * (f->solution[a] - across);
    }
}

static void write(const fluid_world *w, int length, const fit *f) {
    const fluid_grid *g = &w->grid;
    for (int i = 0; i < length; ++i)
        for (int side = 0; side < 2 * g->dim; ++side) {
            const int axis = side / 2, face = w->list[i] + side % 2 * g->stride[axis];
            double place[3], e[UNKNOWNS_MAX], u = 0;
            if (w->area[axis][face] <= 0) continue;
            face_place(g, w->list[i], axis, side % 2, place);
            for (int a = 0; a < 3; ++a) place[a] -= f->middle[a];
            basis(f, g->dim, axis, place, e);
            for (int k = 0; k < f->n; ++k) u += e[k] * f->solution[k];
            w->u[axis][face] = u;
        }
}

void fluid__rigid_project(fluid_world *w, const uint8_t *member, uint8_t value) {
    int part = 0;
    fluid__labels_clear(w, w->label);
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->span_lo[r]; c < base + w->span_hi[r]; ++c) {
            const int length = fluid__component_at(w, member, value, w->label, c, part);
            if (length == 0) continue;
            ++part;
            // around a period nothing can turn
            fit f = {.n = w->grid.periodic ? w->grid.dim : w->grid.dim == 2 ? 3 : 6};
            if (length < 2) continue; // a single cell has no motion of its own to keep
            gather(w, length, &f);
            if (!solve(&f)) continue;
            rub(w, length, &f);
            write(w, length, &f);
        }
    }
}
