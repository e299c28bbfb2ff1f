/// The two signed distance fields of a pair at one pose, from the grids of the canonical shapes; bounds on their
/// concavity. Scaling: a shape of circumradius s has phi_s(x) = s phi(x/s), gradients equal, second derivatives divided
/// by s.
#include "cspace_field.h"

#include <math.h>

/// Value and gradient of a canonical shape; the outline itself answers where the grid ends, so that the field is a
/// distance (1-Lipschitz) everywhere.
static double canonical_distance(const sdf_shape *shape, const sdf_grid *grid, const double p[2], double grad[2]) {
    double x1 = grid->origin[0] + (grid->nx - 1) * grid->spacing, y1 = grid->origin[1] + (grid->ny - 1) * grid->spacing;
    if (p[0] >= grid->origin[0] && p[0] <= x1 && p[1] >= grid->origin[1] && p[1] <= y1)
        return sdf_grid_distance(grid, p, grad);
    double d = 0.0;
    sdf_outline_distance(&shape->outline, p, 1, &d, grad);
    return d;
}

/// canonical_distance at SDF_LANES points.
static void canonical_distances(const sdf_shape *shape, const sdf_grid *grid, const double *x, const double *y,
                                double *d, double *gx, double *gy) {
    double x1 = grid->origin[0] + (grid->nx - 1) * grid->spacing, y1 = grid->origin[1] + (grid->ny - 1) * grid->spacing;
    bool inside = true;
    for (int i = 0; i < SDF_LANES; i++)
        inside = inside && x[i] >= grid->origin[0] && x[i] <= x1 && y[i] >= grid->origin[1] && y[i] <= y1;
    if (inside) {
        sdf_grid_distances(grid, x, y, d, gx, gy);
        return;
    }
    for (int i = 0; i < SDF_LANES; i++) {
        const double p[2] = {x[i], y[i]};
        double grad[2];
        d[i] = canonical_distance(shape, grid, p, grad);
        gx[i] = grad[0];
        gy[i] = grad[1];
    }
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

double cspace__field_a(const cspace__field *f, const double x[2], double grad[2]) {
    double p[2] = {x[0] * f->inverse_a, x[1] * f->inverse_a};
    return f->pair->scale_a * canonical_distance(f->pair->a, f->pair->grid_a, p, grad);
}

double cspace__field_b(const cspace__field *f, const double x[2], double grad[2]) {
    double p[2], g[2];
    to_b(f, x[0], x[1], p);
    double value = f->pair->scale_b * canonical_distance(f->pair->b, f->pair->grid_b, p, g);
    grad[0] = f->c * g[0] - f->s * g[1];
    grad[1] = f->s * g[0] + f->c * g[1];
    return value;
}

void cspace__field_probe(const cspace__field *f, double x, double y, cspace__probe *probe) {
    probe->x[0] = x;
    probe->x[1] = y;
    probe->a = cspace__field_a(f, probe->x, probe->ga);
    probe->b = cspace__field_b(f, probe->x, probe->gb);
}

void cspace__field_probes(const cspace__field *f, cspace__probe probe[SDF_LANES]) {
    double x[SDF_LANES], y[SDF_LANES], d[SDF_LANES], gx[SDF_LANES], gy[SDF_LANES];
    for (int i = 0; i < SDF_LANES; i++) {
        x[i] = probe[i].x[0] * f->inverse_a;
        y[i] = probe[i].x[1] * f->inverse_a;
    }
    canonical_distances(f->pair->a, f->pair->grid_a, x, y, d, gx, gy);
    for (int i = 0; i < SDF_LANES; i++) {
        double p[2];
        probe[i].a = f->pair->scale_a * d[i];
        probe[i].ga[0] = gx[i];
        probe[i].ga[1] = gy[i];
        to_b(f, probe[i].x[0], probe[i].x[1], p);
        x[i] = p[0];
        y[i] = p[1];
    }
    canonical_distances(f->pair->b, f->pair->grid_b, x, y, d, gx, gy);
    for (int i = 0; i < SDF_LANES; i++) {
        probe[i].b = f->pair->scale_b * d[i];
        probe[i].gb[0] = f->c * gx[i] - f->s * gy[i];
        probe[i].gb[1] = f->s * gx[i] + f->c * gy[i];
    }
}

double cspace__probe_value(const cspace__probe *probe) {
    return probe->a > probe->b ? probe->a : probe->b;
}

void cspace__field_sag(const cspace__field *f, const double x[2], double radius, double sag[2]) {
    double p[2] = {x[0] * f->inverse_a, x[1] * f->inverse_a};
    sag[0] = sdf_grid_sag(f->pair->grid_a, p, radius * f->inverse_a);
    to_b(f, x[0], x[1], p);
    sag[1] = sdf_grid_sag(f->pair->grid_b, p, radius * f->inverse_b);
}

double cspace__field_convex(const cspace__field *f, const double x[2]) {
    double p[2] = {x[0] * f->inverse_a, x[1] * f->inverse_a};
    double a = f->pair->scale_a * sdf_grid_convex(f->pair->grid_a, p);
    to_b(f, x[0], x[1], p);
    return fmin(a, f->pair->scale_b * sdf_grid_convex(f->pair->grid_b, p));
}

/// Pieces of a canonical shape as those of one of size `scale` turned by (c, s).
static int pieces_of(const sdf_grid *grid, const double p[2], double within, double scale, double c, double s, int most,
                     sdf_piece *pieces) {
    int n = sdf_grid_pieces(grid, p, within / scale, most, pieces);
    for (int i = 0; i < n; i++) {
        double x = pieces[i].grad[0], y = pieces[i].grad[1];
        pieces[i] = (sdf_piece){scale * pieces[i].value, {c * x - s * y, s * x + c * y}, pieces[i].bend / scale};
    }
    return n;
}

int cspace__field_pieces(const cspace__field *f, const double x[2], double within, int most, sdf_piece *pieces) {
    double p[2] = {x[0] * f->inverse_a, x[1] * f->inverse_a};
    int n = pieces_of(f->pair->grid_a, p, within, f->pair->scale_a, 1.0, 0.0, most / 2, pieces);
    to_b(f, x[0], x[1], p);
    return n + pieces_of(f->pair->grid_b, p, within, f->pair->scale_b, f->c, f->s, most / 2, pieces + n);
}
