/// Convex parts that overlap: each grows over corners of the outline while it stays inside the region, then parts that
/// lie within another go. Four bars cover a #; cut apart it takes a dozen pieces. Where that gains nothing (every edge
/// of a round hole needs a part of its own) a few grown parts are put in front of the others: they hide most of what is
/// deep inside.
#include "cspace_exact.h"

#include <math.h>
#include <string.h>

static const double inside_by = 1e-9; // units of L: what lies less deep in a part does not count as in it
enum {
    POINTS_MAX = 640,     // of an outline whose parts grow: growing one is O(n^3)
    POINTS_MAX_ALL = 160, // of one all of whose parts do: O(n^4)
    LARGE_MAX = 8,        // grown parts in front of others
    PARTS_FEW = 47        // that are sooner looked through without them
};

/// A convex polygon, counter-clockwise.
typedef struct hull {
    int n;
    double xy[2 * POINTS_MAX];
} hull;

static double turn(const double *a, const double *b, const double *p) {
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

/// The hull with one more point; false if that lies in it.
static bool hull_add(const hull *h, const double *p, hull *wider) {
    bool seen[POINTS_MAX], any = false, all = true;
    for (int i = 0; i < h->n; i++) {
        const double *a = h->xy + 2 * i, *b = h->xy + 2 * ((i + 1) % h->n);
        double length = hypot(b[0] - a[0], b[1] - a[1]);
        seen[i] = turn(a, b, p) < -inside_by * length;
        any = any || seen[i];
        all = all && seen[i];
    }
    if (!any || all || h->n + 1 > POINTS_MAX) return false;
    wider->n = 0;
    for (int i = 0; i < h->n; i++) {
        bool before = seen[(i + h->n - 1) % h->n];
        if (!(before && seen[i])) memcpy(wider->xy + 2 * wider->n++, h->xy + 2 * i, 2 * sizeof *p);
        if (!before && seen[i]) memcpy(wider->xy + 2 * wider->n++, p, 2 * sizeof *p);
    }
    return true;
}

/// Leaves out corners on a straight side.
static void hull_tidy(hull *h) {
    int n = 0;
    hull t;
    for (int i = 0; i < h->n; i++) {
        const double *a = h->xy + 2 * ((i + h->n - 1) % h->n), *b = h->xy + 2 * i, *c = h->xy + 2 * ((i + 1) % h->n);
        if (turn(a, b, c) > 1e-12 * hypot(b[0] - a[0], b[1] - a[1]) * hypot(c[0] - b[0], c[1] - b[1]))
            memcpy(t.xy + 2 * n++, b, 2 * sizeof *b);
    }
    t.n = n;
    *h = t;
}

/// Some of the segment lies deep in the hull.
static bool hull_is_entered(const hull *h, const double *u, const double *v) {
    double lo = 0.0, hi = 1.0;
    for (int i = 0; i < h->n; i++) {
        const double *a = h->xy + 2 * i, *b = h->xy + 2 * ((i + 1) % h->n);
        double depth = inside_by * hypot(b[0] - a[0], b[1] - a[1]);
        double at_u = turn(a, b, u) - depth, at_v = turn(a, b, v) - depth;
        if (at_u <= 0.0 && at_v <= 0.0) return false;
        if (at_u >= 0.0 && at_v >= 0.0) continue;
        double at = at_u / (at_u - at_v);
        if (at_u < 0.0) lo = fmax(lo, at);
        if (at_u >= 0.0) hi = fmin(hi, at);
        if (lo >= hi) return false;
    }
    return true;
}

static bool region_holds(const core_outline *o, double scale, const hull *h) {
    for (int r = 0; r < o->count_rings; r++)
        for (int first = o->ring_start[r], end = o->ring_start[r + 1], i = first; i < end; i++) {
            const double *p = o->xy + 2 * i, *q = o->xy + 2 * (i + 1 < end ? i + 1 : first);
            if (hull_is_entered(h, (const double[]){scale * p[0], scale * p[1]},
                                (const double[]){scale * q[0], scale * q[1]}))
                return false;
        }
    return true;
}

/// Adds the outline's corners nearest to the part's middle first: a part grows in all directions.
static void grow(const core_outline *o, double scale, const double centre[2], hull *h) {
    const int n = core_outline_count(o);
    bool tried[POINTS_MAX] = {false};
    for (int round = 0; round < n; round++) {
        int nearest = -1;
        double least = INFINITY;
        for (int i = 0; i < n; i++) {
            double d = hypot(scale * o->xy[2 * i] - centre[0], scale * o->xy[2 * i + 1] - centre[1]);
            if (tried[i] || d >= least) continue;
            least = d;
            nearest = i;
        }
        tried[nearest] = true;
        hull wider;
        if (!hull_add(h, (const double[]){scale * o->xy[2 * nearest], scale * o->xy[2 * nearest + 1]}, &wider))
            continue;
        if (region_holds(o, scale, &wider)) *h = wider;
    }
    hull_tidy(h);
}

static double hull_area(const hull *h) {
    double area = 0.0;
    for (int i = 1; i + 1 < h->n; i++) area += 0.5 * turn(h->xy, h->xy + 2 * i, h->xy + 2 * (i + 1));
    return area;
}

static bool hull_holds(const hull *h, const double *xy, int n) {
    for (int i = 0; i < h->n; i++) {
        const double *a = h->xy + 2 * i, *b = h->xy + 2 * ((i + 1) % h->n);
        double slack = inside_by * hypot(b[0] - a[0], b[1] - a[1]);
        for (int k = 0; k < n; k++)
            if (turn(a, b, xy + 2 * k) < -slack) return false;
    }
    return true;
}

static void part_hull(const cspace__parts *parts, int i, hull *h) {
    h->n = parts->start[i + 1] - parts->start[i];
    memcpy(h->xy, parts->xy + 2 * parts->start[i], (size_t)h->n * 2 * sizeof(double));
}

/// Keeps grown parts, largest first, until all the old ones lie in one. Returns their number.
static int choose(const cspace__parts *parts, const hull *hulls, bool *held, int *chosen) {
    int count = 0;
    for (bool left = true; left;) {
        int best = -1;
        for (int i = 0; i < parts->count; i++)
            if (!held[i] && (best < 0 || hull_area(hulls + i) > hull_area(hulls + best) * (1.0 + 1e-9))) best = i;
        left = best >= 0;
        if (!left) break;
        chosen[count++] = best;
        for (int i = 0; i < parts->count; i++) {
            int first = parts->start[i];
            held[i] =
                held[i] || i == best || hull_holds(hulls + best, parts->xy + 2 * first, parts->start[i + 1] - first);
        }
    }
    return count;
}

/// The largest grown parts in front of all parts: each grows from the largest one whose middle lies in none yet. The
/// union stays what it was.
static core_status add_large(const core_outline *outline, double scale, cspace__parts *parts, core_error *err) {
    core_status status = CORE_OK;
    hull *large = NULL;
    bool *held = NULL;
    cspace__parts p = {0};
    int n = 0, vertices = parts->start[parts->count];
    CORE_NEW_DONE(large, LARGE_MAX);
    CORE_NEW_DONE(held, (size_t)parts->count);
    while (n < LARGE_MAX) {
        int best = -1;
        for (int i = 0; i < parts->count; i++)
            if (!held[i] && (best < 0 || parts->circle[3 * i + 2] > parts->circle[3 * best + 2] * (1.0 + 1e-9)))
                best = i;
        if (best < 0) break;
        hull *h = large + n++;
        part_hull(parts, best, h);
        grow(outline, scale, parts->circle + 3 * best, h);
        for (int i = 0; i < parts->count; i++)
            held[i] = held[i] || i == best || hull_holds(h, parts->circle + 3 * i, 1);
        vertices += h->n;
    }
    CORE_TRY_DONE(cspace__parts_allocate((size_t)(n + parts->count), (size_t)vertices, &p, err));
    for (int i = 0; i < n; i++) cspace__parts_add(&p, large[i].xy, large[i].n);
    for (int i = 0; i < parts->count; i++)
        cspace__parts_add(&p, parts->xy + 2 * parts->start[i], parts->start[i + 1] - parts->start[i]);
    p.large = n;
    cspace__parts_clear(parts);
    *parts = p;
done:
    core_free(large);
    core_free(held);
    return status;
}

/// Grows all parts and keeps the fewest that hold the old ones; leaves things alone if the sums get no fewer edges.
static core_status grow_all(const core_outline *outline, double scale, cspace__parts *parts, core_error *err) {
    core_status status = CORE_OK;
    hull *hulls = NULL;
    bool *held = NULL;
    int *chosen = NULL;
    cspace__parts p = {0};
    CORE_NEW_DONE(hulls, (size_t)parts->count);
    CORE_NEW_DONE(held, (size_t)parts->count);
    CORE_NEW_DONE(chosen, (size_t)parts->count);
    for (int i = 0; i < parts->count; i++) {
        part_hull(parts, i, hulls + i);
        grow(outline, scale, parts->circle + 3 * i, hulls + i);
    }
    int count = choose(parts, hulls, held, chosen), vertices = 0;
    for (int i = 0; i < count; i++) vertices += hulls[chosen[i]].n;
    if (count * vertices >= parts->count * parts->start[parts->count]) goto done; // sums have parts x vertices edges
    CORE_TRY_DONE(cspace__parts_allocate((size_t)count, (size_t)vertices, &p, err));
    for (int i = 0; i < count; i++) cspace__parts_add(&p, hulls[chosen[i]].xy, hulls[chosen[i]].n);
    cspace__parts_clear(parts);
    *parts = p;
done:
    core_free(hulls);
    core_free(held);
    core_free(chosen);
    return status;
}

core_status cspace__parts_cover(const core_outline *outline, double scale, cspace__parts *parts, core_error *err) {
    int points = core_outline_count(outline);
    if (points <= POINTS_MAX_ALL) CORE_TRY(grow_all(outline, scale, parts, err));
    if (points > POINTS_MAX || parts->count <= PARTS_FEW) return CORE_OK;
    return add_large(outline, scale, parts, err);
}
