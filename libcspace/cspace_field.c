/// The two signed distance fields of a pair at one pose, from the grids of the canonical shapes; bounds on their
/// concavity. Scaling: a shape of circumradius s has phi_s(x) = s phi(x/s), gradients equal, second derivatives divided
/// by s.
#include "cspace_field.h"

#include <math.h>

/// Nodes a side that one concavity bound looks at; a larger disc has no bound.
enum { NODES_MAX = 8 };

/// Value (and gradient unless NULL) of a canonical shape; the outline itself answers where the grid ends, so that the
/// field is a distance (1-Lipschitz) everywhere.
static double canonical_distance(const sdf_shape *shape, const sdf_grid *grid, const double p[2], double *grad) {
    double x1 = grid->origin[0] + (grid->nx - 1) * grid->spacing, y1 = grid->origin[1] + (grid->ny - 1) * grid->spacing;
    if (p[0] >= grid->origin[0] && p[0] <= x1 && p[1] >= grid->origin[1] && p[1] <= y1)
        return sdf_grid_sample(grid, p, grad);
    double d = 0.0;
    sdf_outline_distance(&shape->outline, p, 1, &d, grad);
    return d;
}

/// Range of the second derivative over an interval between two nodes from the second differences at its ends. The
/// Catmull-Rom cubic's second derivative runs linearly from 2 d1 - d2 to 2 d2 - d1.
static void widen_range(double d1, double d2, double *low, double *high) {
    double u = 2.0 * d1 - d2, v = 2.0 * d2 - d1;
    double least = u < v ? u : v, most = u < v ? v : u; // not fmin, fmax: a call each in ISO C's semantics
    *low = least < *low ? least : *low;
    *high = most > *high ? most : *high;
}

/// Bound on the concavity of the bicubic interpolant within `radius` of p (canonical units). The weights across the
/// other axis sum to 1 with at most 1/8 below zero; those of the mixed derivative to 1 with at most 5/8 below zero.
static double canonical_concavity(const sdf_grid *grid, const double p[2], double radius) {
    double inverse = 1.0 / grid->spacing;
    double u = (p[0] - grid->origin[0]) * inverse, v = (p[1] - grid->origin[1]) * inverse, r = radius * inverse;
    if (!(r <= NODES_MAX / 2 && u - r >= 1.0 && v - r >= 1.0 && u + r < grid->nx - 3 && v + r < grid->ny - 3))
        return INFINITY;
    int i0 = (int)(u - r) - 1, i1 = (int)(u + r) + 2, j0 = (int)(v - r) - 1, j1 = (int)(v + r) + 2;
    if (i1 - i0 >= NODES_MAX || j1 - j0 >= NODES_MAX) return INFINITY;
    double xl = INFINITY, xh = -INFINITY, yl = INFINITY, yh = -INFINITY, ml = INFINITY, mh = -INFINITY;
    double above[NODES_MAX] = {0}; // second differences along y of the row below
    for (int j = j0; j <= j1; j++) {
        const float *row = grid->phi + (size_t)j * (size_t)grid->nx;
        for (int i = i0 + 1; i + 1 < i1; i++)
            widen_range(row[i - 1] - 2.0 * row[i] + row[i + 1], row[i] - 2.0 * row[i + 1] + row[i + 2], &xl, &xh);
        if (j == j1) break;
        const float *up = row + grid->nx;
        for (int i = i0; i < i1; i++) {
            double m = (double)up[i + 1] - up[i] - row[i + 1] + row[i];
            ml = m < ml ? m : ml;
            mh = m > mh ? m : mh;
        }
        if (j == j0) continue;
        const float *down = row - grid->nx;
        for (int i = i0; i <= i1; i++) {
            double d = down[i] - 2.0 * row[i] + up[i];
            if (j > j0 + 1) widen_range(above[i - i0], d, &yl, &yh);
            above[i - i0] = d;
        }
    }
    // least eigenvalue of [[a, c], [c, b]] with a, b at their lower bounds and |c| at its upper bound
    double a = 1.125 * xl - 0.125 * xh, b = 1.125 * yl - 0.125 * yh;
    double c = fmax(fabs(1.625 * ml - 0.625 * mh), fabs(1.625 * mh - 0.625 * ml));
    double low = 0.5 * (a + b) - sqrt(0.25 * (a - b) * (a - b) + c * c);
    return low < 0.0 ? -low * inverse * inverse : 0.0;
}

/// A point of A's frame in the frame and units of canonical B.
static void to_b(const cspace__field *f, double x, double y, double p[2]) {
    double dx = x - f->t[0], dy = y - f->t[1];
    p[0] = (f->c * dx + f->s * dy) * f->inverse_b;
    p[1] = (f->c * dy - f->s * dx) * f->inverse_b;
}

void cspace__field_init(const cspace_pair *pair, const cspace_pose *pose, cspace__field *field) {
    *field = (cspace__field){.pair = pair, .t = {pose->x, pose->y}};
    field->inverse_a = 1.0 / pair->scale_a;
    field->inverse_b = 1.0 / pair->scale_b;
    core_sincos(core_wrap_angle(pose->theta), &field->s, &field->c);
    field->cell = fmax(pair->grid_a->spacing * pair->scale_a, pair->grid_b->spacing * pair->scale_b);
}

double cspace__field_a(const cspace__field *f, double x, double y) {
    double p[2] = {x * f->inverse_a, y * f->inverse_a};
    return f->pair->scale_a * canonical_distance(f->pair->a, f->pair->grid_a, p, NULL);
}

double cspace__field_b(const cspace__field *f, double x, double y) {
    double p[2];
    to_b(f, x, y, p);
    return f->pair->scale_b * canonical_distance(f->pair->b, f->pair->grid_b, p, NULL);
}

void cspace__field_probe(const cspace__field *f, double x, double y, cspace__probe *probe) {
    double p[2] = {x * f->inverse_a, y * f->inverse_a}, g[2];
    probe->x[0] = x;
    probe->x[1] = y;
    probe->a = f->pair->scale_a * canonical_distance(f->pair->a, f->pair->grid_a, p, probe->ga);
    to_b(f, x, y, p);
    probe->b = f->pair->scale_b * canonical_distance(f->pair->b, f->pair->grid_b, p, g);
    probe->gb[0] = f->c * g[0] - f->s * g[1];
    probe->gb[1] = f->s * g[0] + f->c * g[1];
}

double cspace__probe_value(const cspace__probe *probe) {
    return probe->a > probe->b ? probe->a : probe->b;
}

double cspace__field_concavity_a(const cspace__field *f, const double x[2], double radius) {
    double p[2] = {x[0] * f->inverse_a, x[1] * f->inverse_a};
    return canonical_concavity(f->pair->grid_a, p, radius * f->inverse_a) * f->inverse_a;
}

double cspace__field_concavity_b(const cspace__field *f, const double x[2], double radius) {
    double p[2];
    to_b(f, x[0], x[1], p);
    return canonical_concavity(f->pair->grid_b, p, radius * f->inverse_b) * f->inverse_b;
}
