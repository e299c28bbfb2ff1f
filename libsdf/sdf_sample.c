/// The bicubic interpolant of a signed distance grid: Catmull-Rom in both directions, which passes through the nodes,
/// is C1 and reproduces quadratic functions: error O(h^3) in the value and O(h^2) in the gradient where the distance is
/// smooth, O(h) and O(1) at corners and at the medial axis. The sampler calls this tens of millions of times: inside
/// the box there is one branch.
#include "sdf_private.h"

#include <math.h>

/// Catmull-Rom weights of the nodes -1, 0, 1, 2 at t in [0, 1], and their derivatives by t.
typedef struct weights {
    double w[4], d[4];
} weights;

static inline void weights_value(double t, double w[4]) {
    double s = 0.5 * t;
    w[0] = s * ((2 - t) * t - 1);
    w[1] = s * t * (3 * t - 5) + 1;
    w[2] = s * ((4 - 3 * t) * t + 1);
    w[3] = s * t * (t - 1);
}

static inline void weights_slope(double t, double d[4]) {
    d[0] = (2 - 1.5 * t) * t - 0.5;
    d[1] = (4.5 * t - 5) * t;
    d[2] = (4 - 4.5 * t) * t + 0.5;
    d[3] = (1.5 * t - 1) * t;
}

/// Sum over 4 x 4 nodes; f points at the lower left one, `stride` floats a row. Columns first: four independent sums.
static inline double patch_value(const float *f, int64_t stride, const double wx[4], const double wy[4]) {
    const float *f1 = f + stride, *f2 = f1 + stride, *f3 = f2 + stride;
    double column[4];
    for (int k = 0; k < 4; k++) {
        column[k] = ((double)f[k] * wy[0] + (double)f1[k] * wy[1]) + ((double)f2[k] * wy[2] + (double)f3[k] * wy[3]);
    }
    return (column[0] * wx[0] + column[1] * wx[1]) + (column[2] * wx[2] + column[3] * wx[3]);
}

/// Value and both derivatives per cell.
static inline double patch_gradient(const float *f, int64_t stride, const weights *x, const weights *y,
                                    double grad[2]) {
    const float *f1 = f + stride, *f2 = f1 + stride, *f3 = f2 + stride;
    double v[4], d[4];
    for (int k = 0; k < 4; k++) {
        double a = (double)f[k], b = (double)f1[k], c = (double)f2[k], e = (double)f3[k];
        v[k] = (a * y->w[0] + b * y->w[1]) + (c * y->w[2] + e * y->w[3]);
        d[k] = (a * y->d[0] + b * y->d[1]) + (c * y->d[2] + e * y->d[3]);
    }
    grad[0] = (v[0] * x->d[0] + v[1] * x->d[1]) + (v[2] * x->d[2] + v[3] * x->d[3]);
    grad[1] = (d[0] * x->w[0] + d[1] * x->w[1]) + (d[2] * x->w[2] + d[3] * x->w[3]);
    return (v[0] * x->w[0] + v[1] * x->w[1]) + (v[2] * x->w[2] + v[3] * x->w[3]);
}

/// Node of the grid; one beyond the rim is extrapolated quadratically.
static double node_value(const sdf_grid *g, int i, int k) {
    if (i < 0) return 3 * (node_value(g, 0, k) - node_value(g, 1, k)) + node_value(g, 2, k);
    if (i >= g->nx)
        return 3 * (node_value(g, g->nx - 1, k) - node_value(g, g->nx - 2, k)) + node_value(g, g->nx - 3, k);
    if (k < 0) return 3 * (node_value(g, i, 0) - node_value(g, i, 1)) + node_value(g, i, 2);
    if (k >= g->ny)
        return 3 * (node_value(g, i, g->ny - 1) - node_value(g, i, g->ny - 2)) + node_value(g, i, g->ny - 3);
    return (double)g->phi[(int64_t)k * g->nx + i];
}

/// Position in cells, clamped to the box, as cell and fraction.
static int cell_of(double u, int n, double *t) {
    double c = u < 0 ? 0 : u > n - 1 ? n - 1 : u;
    int i = (int)c;
    if (i > n - 2) i = n - 2;
    *t = c - i;
    return i;
}

/// The rim cells and everything outside the box. `u`, `v`: position in cells from node (0, 0).
static double sample_rim(const sdf_grid *g, const double p[2], double u, double v, double grad[2]) {
    if (!isfinite(u) || !isfinite(v)) {
        if (grad) grad[0] = grad[1] = NAN;
        return NAN;
    }
    double tx, ty;
    int i = cell_of(u, g->nx, &tx), k = cell_of(v, g->ny, &ty);
    float patch[16];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) patch[4 * r + c] = (float)node_value(g, i - 1 + c, k - 1 + r);
    weights x, y;
    weights_value(tx, x.w);
    weights_slope(tx, x.d);
    weights_value(ty, y.w);
    weights_slope(ty, y.d);
    double slope[2];
    double value = patch_gradient(patch, 4, &x, &y, slope);
    slope[0] /= g->spacing;
    slope[1] /= g->spacing;

    // Outside: the nearest box point's value plus the way to it; a clamped coordinate no longer moves the box point.
    double way[2] = {p[0] - (g->origin[0] + (i + tx) * g->spacing), p[1] - (g->origin[1] + (k + ty) * g->spacing)};
    bool clamped[2] = {u < 0 || u > g->nx - 1, v < 0 || v > g->ny - 1};
    double length = 0;
    if (clamped[0] || clamped[1]) {
        for (int a = 0; a < 2; a++) way[a] = clamped[a] ? way[a] : 0;
        length = sqrt(way[0] * way[0] + way[1] * way[1]);
        for (int a = 0; a < 2; a++) slope[a] = clamped[a] && length > 0 ? way[a] / length : slope[a];
    }
    if (grad) {
        grad[0] = slope[0];
        grad[1] = slope[1];
    }
    return value + length;
}

double sdf_grid_sample(const sdf_grid *grid, const double p[2], double grad[2]) {
    double inverse = 1 / grid->spacing;
    double u = (p[0] - grid->origin[0]) * inverse, v = (p[1] - grid->origin[1]) * inverse;
    // NaN fails the test and is answered by the slow path.
    if (!(u >= 1 && v >= 1 && u < grid->nx - 2 && v < grid->ny - 2)) return sample_rim(grid, p, u, v, grad);
    int i = (int)u, k = (int)v;
    double tx = u - i, ty = v - k;
    int64_t stride = grid->nx;
    const float *f = grid->phi + (k - 1) * stride + (i - 1);
    weights x, y;
    weights_value(tx, x.w);
    weights_value(ty, y.w);
    if (!grad) return patch_value(f, stride, x.w, y.w);
    weights_slope(tx, x.d);
    weights_slope(ty, y.d);
    double value = patch_gradient(f, stride, &x, &y, grad);
    grad[0] *= inverse;
    grad[1] *= inverse;
    return value;
}
