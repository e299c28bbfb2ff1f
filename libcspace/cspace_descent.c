/// Local descent of M = max(phi_A, phi_qB). Apart: nearest points are projected to and fro. Else by cutting planes:
/// each probe gives the tangent planes of both fields, bounds from below where they are convex; the next probe is where
/// the planes' maximum is least (for polygons in overlap: the inscribed circle of three edges, after a few steps
/// exactly). What a probe shows to be no bound is dropped.
/// Source: cutting planes (Kelley) with a proximal term (bundle method; Lemarechal).
#include "cspace_field.h"
#include "cspace_planes.h"

#include <math.h>

static const double value_done = 1e-10;  // distance of a value from its lower bound at which it is the minimum
static const double mutual_done = 1e-12; // units of L: what two nearest points may move by and still be nearest
static const double touching = 1e-9;     // units of L: nearer points may be a crossing of the outlines
static const double bound_error = 1e-9;  // planes above a field by more are no bound of it (rounding)
static const double reach_most = 1e4;    // of the proximal term, units of L: slopes of 1e-4 still give full steps
static const double step_first = 0.125, step_most = 0.5, step_least = 1e-9; // units of L
enum { STEPS = 16, PROJECTIONS = 3, PLANES = 5 };

/// Apart: from the nearest point of B to the nearest of A to the nearest of B, until they are each other's. False if
/// they are not soon (two faces at a small angle). *p: half way between the last two.
static bool project(const cspace__field *field, cspace__probe *p) {
    if (p->a <= 0.0 || p->b <= 0.0) return false;
    double u[2] = {p->x[0] - p->b * p->gb[0], p->x[1] - p->b * p->gb[1]}, v[2], g[2];
    double gap = 0.0;
    bool mutual = false;
    for (int i = 0; i < PROJECTIONS && !mutual; i++) {
        double a = cspace__field_a(field, u, g);
        if (a <= touching) return false;
        v[0] = u[0] - a * g[0];
        v[1] = u[1] - a * g[1];
        double b = cspace__field_b(field, v, g);
        if (b <= touching) return false;
        double next[2] = {v[0] - b * g[0], v[1] - b * g[1]};
        gap = b;
        mutual = fabs(next[0] - u[0]) + fabs(next[1] - u[1]) <= mutual_done;
        u[0] = next[0];
        u[1] = next[1];
    }
    cspace__probe q;
    cspace__field_probe(field, 0.5 * (u[0] + v[0]), 0.5 * (u[1] + v[1]), &q);
    if (cspace__probe_value(&q) > cspace__probe_value(p)) return false;
    *p = q;
    return mutual && fabs(q.a - 0.5 * gap) + fabs(q.b - 0.5 * gap) <= bound_error; // else something else is nearer
}

/// Planes around the best probe, and where they were taken.
typedef struct bundle {
    cspace__plane plane[PLANES];
    double at[PLANES][2];
    int n;
} bundle;

static void keep(bundle *b, const bundle *from, int i) {
    b->plane[b->n] = from->plane[i];
    b->at[b->n][0] = from->at[i][0];
    b->at[b->n][1] = from->at[i][1];
    b->n++;
}

/// Values of the planes are moved to another centre.
static void move_centre(bundle *b, const double from[2], const double to[2]) {
    for (int i = 0; i < b->n; i++) {
        cspace__plane *p = b->plane + i;
        p->value += p->g[0] * (to[0] - from[0]) + p->g[1] * (to[1] - from[1]);
    }
}

/// Keeps the planes that decided, without those that lie above their own field at a probe, and adds the probe's tangent
/// planes. False if one of these is no bound at the best.
static bool renew(bundle *b, const cspace__mix *mix, const cspace__probe *best, const cspace__probe *q) {
    const bundle old = *b;
    const double s[2] = {q->x[0] - best->x[0], q->x[1] - best->x[1]};
    b->n = 0;
    for (int k = 0; mix && k < mix->n; k++) {
        const cspace__plane *p = old.plane + mix->index[k];
        double there = p->value + p->g[0] * s[0] + p->g[1] * s[1];
        if (there <= (p->of_b ? q->b : q->a) + bound_error) keep(b, &old, mix->index[k]);
    }
    const bundle tangent = {.plane = {{q->a - q->ga[0] * s[0] - q->ga[1] * s[1], {q->ga[0], q->ga[1]}, false},
                                      {q->b - q->gb[0] * s[0] - q->gb[1] * s[1], {q->gb[0], q->gb[1]}, true}},
                            .at = {{q->x[0], q->x[1]}, {q->x[0], q->x[1]}}};
    if (tangent.plane[0].value > best->a + bound_error || tangent.plane[1].value > best->b + bound_error) return false;
    keep(b, &tangent, 0);
    keep(b, &tangent, 1);
    return true;
}

/// True if the planes that decide are tangents in a disc around the best in which both fields are convex: bounds there.
static bool is_proof(const bundle *b, const cspace__mix *mix, const cspace__probe *best, double radius) {
    for (int k = 0; k < mix->n; k++) {
        double x = b->at[mix->index[k]][0] - best->x[0], y = b->at[mix->index[k]][1] - best->x[1];
        if (x * x + y * y > radius * radius) return false;
    }
    return true;
}

/// Where the planes' maximum is least within `most` of the best probe, *whole: nowhere farther it is less. Returns the
/// least value.
static double next_step(const bundle *b, double most, cspace__mix *mix, double step[2], bool *whole) {
    double reach = reach_most, length = 0.0, scale = 1.0;
    *whole = true;
    for (int i = 0; i < 3; i++) {
        cspace__planes_mix(b->plane, b->n, reach, mix);
        length = reach * sqrt(mix->slope[0] * mix->slope[0] + mix->slope[1] * mix->slope[1]);
        if (length <= most * (1.0 + 1e-9)) break;
        *whole = false;
        reach *= most / length;
    }
    if (length > most) scale = most / length;
    step[0] = -scale * reach * mix->slope[0];
    step[1] = -scale * reach * mix->slope[1];
    double least = -INFINITY;
    for (int i = 0; i < b->n; i++) {
        const cspace__plane *p = b->plane + i;
        least = fmax(least, p->value + p->g[0] * step[0] + p->g[1] * step[1]);
    }
    return least;
}

/// True if it ends at a minimum.
static bool cut(const cspace__field *field, cspace__probe *best) {
    bundle b;
    double most = step_first;
    int again = 0;
    renew(&b, NULL, best, best);
    for (int i = 0; i < STEPS; i++) {
        cspace__mix mix;
        cspace__probe q;
        bool whole;
        double step[2], value = cspace__probe_value(best), least = next_step(&b, most, &mix, step, &whole);
        if (value - least <= value_done) {
            double convex = cspace__field_convex(field, best->x);
            if (!whole || is_proof(&b, &mix, best, convex)) return whole;
            // planes from afar may cut where the field has no edge: once more from here, by smaller steps
            if (again++ || convex <= 0.0) return false;
            renew(&b, NULL, best, best);
            most = 0.5 * convex;
            continue;
        }
        cspace__field_probe(field, best->x[0] + step[0], best->x[1] + step[1], &q);
        double found = cspace__probe_value(&q), length = sqrt(step[0] * step[0] + step[1] * step[1]);
        bool bounds = renew(&b, &mix, best, &q);
        if (found < value) {
            move_centre(&b, best->x, q.x);
            *best = q;
            if (!bounds) renew(&b, NULL, best, best);
            if (value - found > 0.5 * (value - least)) most = fmin(fmax(most, 2.0 * length), again ? most : step_most);
        } else if (project(field, &q) && cspace__probe_value(&q) <= value) { // past the end of a face
            *best = q;
            return true;
        } else if (!bounds) {
            renew(&b, NULL, best, best);
            most = 0.25 * length;
            if (most < step_least) return false;
        }
    }
    return false;
}

bool cspace__descend(const cspace__field *field, cspace__probe *probe) {
    return project(field, probe) || cut(field, probe);
}
