/// Gradient and moment arms of the label: the envelope theorem at the minimiser of E = 2 max(phi_A, phi_qB).
///
/// There the gradients of the active pieces of both fields satisfy sum u_i grad_i = 0 with u_i >= 0, sum u_i = 1. Only
/// phi_qB depends on the pose of B, so the gradient of d with respect to B's centre is
///     g = -2 sum_B u_i grad_i = 2 sum_A u_i grad_i = sum_A u_i grad_i - sum_B u_i grad_i.
/// Apart, phi_A and phi_qB are one piece each, u = 1/2 and |g| = 1. In overlap x* lies on edge bisectors. The bicubic
/// interpolant rounds these kinks within a cell, and its gradient there is no label (.1 off in |g|): the pieces are
/// taken from a circle around x*, their linear models are minimised (with a weak proximal term that keeps the problem
/// bounded), and the multipliers are read off the dual.
#include "cspace_field.h"
#include "cspace_planes.h"

#include <assert.h>
#include <math.h>

static const double saturated = 1e-3; // |g| below it: d does not depend on the position; no direction of its own
static const double circle = 2.5;  // radius of the circle of samples, grid cells: beyond the rounding of a kink at x*
static const double clean = 0.005; // a sample whose | |grad| - 1 | is larger lies on a kink itself
static const double same_piece = 0.995; // cosine of gradients that count as one piece
static const double proximal = 500.0;   // reach of the linear models, grid cells
enum { DIRECTIONS = 8, PIECES_MAX = 10 };

static double dot(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}

/// Unit vector along v, or (1, 0) if v is shorter than 1e-9.
static void normalise(const double v[2], double n[2]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1]);
    bool any = length > 1e-9;
    n[0] = any ? v[0] / length : 1.0;
    n[1] = any ? v[1] / length : 0.0;
}

/// d_theta and moment arms from g and a unit normal at the contact point.
static void finish(const cspace__field *f, const double p[2], const double n[2], cspace_contact *contact) {
    double bx = p[0] - f->t[0], by = p[1] - f->t[1];
    contact->d_theta = bx * contact->g[1] - by * contact->g[0]; // (p - x_B) x g
    contact->r_b = bx * n[0] + by * n[1];
    contact->r_a = contact->r_b + (f->t[0] * n[0] + f->t[1] * n[1]);
}

/// Adds the piece a field shows at a sample; one known already keeps its larger value at x*. A full table drops the
/// sample.
static int add_piece(cspace__plane *pieces, int n, const double x_min[2], const double x[2], double value,
                     const double g[2], bool of_b) {
    double length = sqrt(dot(g, g));
    if (fabs(length - 1.0) > clean) return n;
    cspace__plane p = {.value = value + g[0] * (x_min[0] - x[0]) + g[1] * (x_min[1] - x[1]), .of_b = of_b};
    p.g[0] = g[0] / length;
    p.g[1] = g[1] / length;
    for (int i = 0; i < n; i++) {
        if (pieces[i].of_b != of_b || dot(pieces[i].g, g) < same_piece) continue;
        if (p.value > pieces[i].value) pieces[i] = p;
        return n;
    }
    if (n < PIECES_MAX) pieces[n++] = p;
    return n;
}

/// Pieces of both fields around the minimiser; 0 if one of them shows none.
static int collect(const cspace__field *f, const cspace__probe *centre, cspace__plane *pieces) {
    static const double way[DIRECTIONS][2] = {{1.0, 0.0},  {0.7071, 0.7071},   {0.0, 1.0},  {-0.7071, 0.7071},
                                              {-1.0, 0.0}, {-0.7071, -0.7071}, {0.0, -1.0}, {0.7071, -0.7071}};
    int n = add_piece(pieces, 0, centre->x, centre->x, centre->a, centre->ga, false);
    n = add_piece(pieces, n, centre->x, centre->x, centre->b, centre->gb, true);
    for (int k = 0; k < DIRECTIONS; k++) {
        cspace__probe p;
        cspace__field_probe(f, centre->x[0] + circle * f->cell * way[k][0], centre->x[1] + circle * f->cell * way[k][1],
                            &p);
        n = add_piece(pieces, n, centre->x, p.x, p.a, p.ga, false);
        n = add_piece(pieces, n, centre->x, p.x, p.b, p.gb, true);
    }
    int count_b = 0;
    for (int i = 0; i < n; i++) count_b += pieces[i].of_b;
    return count_b > 0 && count_b < n ? n : 0;
}

/// Gradient of d in overlap from the pieces around x*. False if the pieces cannot be told.
static bool overlap_gradient(const cspace__field *f, const cspace__probe *centre, double g[2]) {
    cspace__plane pieces[PIECES_MAX];
    cspace__mix best;
    int n = collect(f, centre, pieces);
    g[0] = g[1] = 0.0;
    if (n == 0) return false;
    cspace__planes_mix(pieces, n, proximal * f->cell, &best);
    for (int k = 0; k < best.n; k++) { // what is left of the sum of both fields cancels in the difference
        const cspace__plane *p = pieces + best.index[k];
        double u = p->of_b ? -best.u[k] : best.u[k];
        g[0] += u * p->g[0];
        g[1] += u * p->g[1];
    }
    return true;
}

/// The same from the interpolant's gradients at x* itself, for shapes too thin to show pieces. Opposed gradients of
/// lengths l_A, l_B have the multipliers l_B, l_A over l_A + l_B; where one field alone decides, d does not depend on
/// the position.
static void rounded_gradient(const cspace__field *f, const cspace__probe *p, double g[2]) {
    double la = sqrt(dot(p->ga, p->ga)), lb = sqrt(dot(p->gb, p->gb));
    double u = la + lb > 0.0 ? lb / (la + lb) : 0.5;
    bool balanced = fabs(p->a - p->b) <= 1e-3 * f->cell;
    for (int i = 0; i < 2; i++) g[i] = balanced ? u * p->ga[i] - (1.0 - u) * p->gb[i] : 0.0;
    double length = sqrt(dot(g, g));
    if (length > 1.0) { // beside a kink the interpolant is steeper than a distance can be
        g[0] /= length;
        g[1] /= length;
    }
}

void cspace__contact(const cspace__field *f, const cspace__probe *p, cspace_contact *contact) {
    double n[2], difference[2] = {p->ga[0] - p->gb[0], p->ga[1] - p->gb[1]};
    contact->d = 2.0 * cspace__probe_value(p);
    if (contact->d > 0.0) {
        normalise(difference, n);
        contact->g[0] = n[0];
        contact->g[1] = n[1];
    } else {
        if (!overlap_gradient(f, p, contact->g)) rounded_gradient(f, p, contact->g);
        bool directed = dot(contact->g, contact->g) > saturated * saturated;
        normalise(directed ? contact->g : difference, n);
        if (!directed) contact->g[0] = contact->g[1] = 0.0;
    }
    finish(f, p->x, n, contact);
}

/// A contact all of whose numbers are NaN, for a pose that is not finite.
static cspace_contact no_contact(void) {
    return (cspace_contact){.d = NAN, .d_theta = NAN, .g = {NAN, NAN}, .r_a = NAN, .r_b = NAN};
}

/// Contact at a finite pose, with the field and the probe it comes from.
static void contact_at(const cspace_pair *pair, const cspace_search_def *def, const cspace_pose *pose,
                       cspace_contact *contact, cspace__field *field, cspace__probe *probe) {
    cspace_search_def full = *def;
    full.band = 0.0;
    cspace_minimum m;
    cspace__field_init(pair, pose, field);
    cspace__minimise(field, &full, &m, probe);
    cspace__contact(field, probe, contact);
}

static bool is_finite(const cspace_pose *pose) {
    return isfinite(pose->theta) && isfinite(pose->x) && isfinite(pose->y);
}

void cspace_numeric_contact(const cspace_pair *pair, const cspace_search_def *def, const cspace_pose *pose,
                            cspace_contact *contact) {
    assert(pair && def && def->cookie == CSPACE__SEARCH_COOKIE && pose && contact);
    cspace__field field;
    cspace__probe probe;
    if (is_finite(pose))
        contact_at(pair, def, pose, contact, &field, &probe);
    else
        *contact = no_contact();
}

void cspace_numeric_contact_smooth(const cspace_pair *pair, const cspace_search_def *def, double sigma,
                                   const cspace_pose *pose, cspace_contact *contact) {
    assert(pair && def && def->cookie == CSPACE__SEARCH_COOKIE && pose && contact);
    if (!(sigma > 0.0) || !is_finite(pose)) {
        cspace_numeric_contact(pair, def, pose, contact);
        return;
    }
    cspace__field field;
    cspace__probe probe;
    contact_at(pair, def, pose, contact, &field, &probe);
    cspace_search_def fine = *def;
    fine.band = 0.0;
    fine.tolerance = fmin(def->tolerance, 1e-6); // the differences below divide by 2 h
    double sum = 0.0, d[6], rate[3];
    for (int k = 0; k < 6; k++) {
        const cspace_pose q = cspace__kernel_pose(pose, sigma, k);
        cspace_minimum m;
        cspace_minimise(pair, &fine, &q, &m);
        d[k] = m.d;
        sum += m.d;
    }
    for (int axis = 0; axis < 3; axis++)
        rate[axis] = (d[2 * axis + 1] - d[2 * axis]) / (2.0 * cspace__kernel_step(sigma));
    // moment arms: the point of the centre pose, the normal of the smoothed gradient (the plain one where that
    // vanishes)
    double g[2] = {rate[1], rate[2]}, n[2];
    if (g[0] * g[0] + g[1] * g[1] > saturated * saturated) {
        normalise(g, n);
        finish(&field, probe.x, n, contact);
    }
    contact->d = sum / 6.0;
    contact->d_theta = rate[0];
    contact->g[0] = g[0];
    contact->g[1] = g[1];
}
