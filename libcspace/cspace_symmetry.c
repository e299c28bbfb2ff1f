// Symmetries of an outline: the order of its rotations and one of its mirror axes, found by trying. An isometry is
// accepted when it takes every ring to a ring, vertices and edge mid-points both ways, within the tolerance. Source:
// definitions.
#include "cspace.h"

#include <math.h>

#define ORDER_MAX 128

typedef struct point {
    double x, y;
} point;

// An orthogonal map: rotation or reflection, p -> (xx p.x + xy p.y, yx p.x + yy p.y). Its inverse is its transpose.
typedef struct isometry {
    double xx, xy, yx, yy;
} isometry;

static point apply(const isometry *m, point p) {
    return (point){m->xx * p.x + m->xy * p.y, m->yx * p.x + m->yy * p.y};
}

static isometry inverse(const isometry *m) {
    return (isometry){m->xx, m->yx, m->xy, m->yy};
}

static isometry rotation(double angle) {
    double s, c;
    core_sincos(angle, &s, &c);
    return (isometry){c, -s, s, c};
}

// Reflection in the line through the origin at `angle`.
static isometry reflection(double angle) {
    double s, c;
    core_sincos(2.0 * angle, &s, &c);
    return (isometry){c, s, s, -c};
}

static int ring_size(const core_outline *o, int ring) {
    return o->ring_start[ring + 1] - o->ring_start[ring];
}

static point vertex(const core_outline *o, int ring, int i) {
    const double *p = o->xy + 2 * ((size_t)o->ring_start[ring] + (size_t)(i % ring_size(o, ring)));
    return (point){p[0], p[1]};
}

static bool is_near_segment(point p, point a, point b, double tolerance) {
    const double ex = b.x - a.x, ey = b.y - a.y, dx = p.x - a.x, dy = p.y - a.y;
    const double length2 = ex * ex + ey * ey;
    const double t = length2 > 0.0 ? fmin(1.0, fmax(0.0, (dx * ex + dy * ey) / length2)) : 0.0;
    const double qx = dx - t * ex, qy = dy - t * ey;
    return qx * qx + qy * qy <= tolerance * tolerance;
}

static bool is_near_ring(const core_outline *o, int ring, point p, double tolerance) {
    const int n = ring_size(o, ring);
    for (int i = 0; i < n; i++)
        if (is_near_segment(p, vertex(o, ring, i), vertex(o, ring, i + 1), tolerance)) return true;
    return false;
}

// Vertices and edge mid-points of ring `from` fall on ring `to`. (Vertices alone would accept two different polygons
// through the same points.)
static bool ring_falls_on(const core_outline *o, int from, int to, const isometry *m, double tolerance) {
    const int n = ring_size(o, from);
    for (int i = 0; i < n; i++) {
        const point a = vertex(o, from, i), b = vertex(o, from, i + 1);
        if (!is_near_ring(o, to, apply(m, a), tolerance)) return false;
        if (!is_near_ring(o, to, apply(m, (point){0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}), tolerance)) return false;
    }
    return true;
}

static bool is_invariant(const core_outline *o, const isometry *m, double tolerance) {
    const isometry back = inverse(m);
    for (int i = 0; i < o->count_rings; i++) {
        bool found = false;
        for (int j = 0; j < o->count_rings && !found; j++)
            found = ring_falls_on(o, i, j, m, tolerance) && ring_falls_on(o, j, i, &back, tolerance);
        if (!found) return false;
    }
    return true;
}

// Axis angle brought to [0, pi/order); angles a hair below the upper end are 0.
static double reduce_axis(double angle, int order) {
    const double period = CORE_PI / order;
    const double a = angle - period * floor(angle / period);
    return a >= period * (1.0 - 1e-9) ? 0.0 : a;
}

// A mirror takes a farthest vertex to a vertex as far out: the axis halves the angle between them.
static double find_mirror(const core_outline *o, int order, double tolerance) {
    const int n = ring_size(o, 0);
    int i_far = 0;
    double far2 = 0.0;
    for (int i = 0; i < n; i++) {
        const point p = vertex(o, 0, i);
        if (p.x * p.x + p.y * p.y > far2) far2 = p.x * p.x + p.y * p.y, i_far = i;
    }
    const double far = sqrt(far2);
    const point f = vertex(o, 0, i_far);
    for (int i = 0; i < n; i++) {
        const point p = vertex(o, 0, i);
        if (fabs(sqrt(p.x * p.x + p.y * p.y) - far) > 2.0 * tolerance) continue;
        const double axis = 0.5 * (core_atan2(f.y, f.x) + core_atan2(p.y, p.x));
        // Shapes are drawn along the axes of the paper: a round angle nearby is taken if it does as well.
        const double step = CORE_PI / (4.0 * order), round = step * floor(axis / step + 0.5);
        isometry m = reflection(round);
        if (fabs(axis - round) <= 2.0 * tolerance && is_invariant(o, &m, tolerance)) return reduce_axis(round, order);
        m = reflection(axis);
        if (is_invariant(o, &m, tolerance)) return reduce_axis(axis, order);
    }
    return NAN;
}

cspace_symmetry cspace_symmetry_find(const core_outline *canonical, double tolerance) {
    cspace_symmetry found = {.order = 1, .mirror = NAN};
    if (!canonical || canonical->count_rings < 1) return found;
    for (int order = ORDER_MAX; order > 1; order--) {
        const isometry m = rotation(2.0 * CORE_PI / order);
        if (!is_invariant(canonical, &m, tolerance)) continue;
        found.order = order;
        break;
    }
    found.mirror = find_mirror(canonical, found.order, tolerance);
    return found;
}
