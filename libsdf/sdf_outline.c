/// From an outline as drawn to the canonical one: duplicate and collinear points removed, rings oriented and put into a
/// fixed order with a fixed first point (so that the same drawing gives the same bits however its rings were written),
/// then moved to the centroid and scaled to circumradius 1.
#include "sdf_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A point nearer than this (relative to the extent) to the chord of its neighbours adds nothing. The pass is greedy: n
/// points on a smooth curve, d apart, change by at most tolerance^2 / (2 d^2), below the tolerance itself for up to a
/// million points.
#define OUTLINE_CLEAN_TOLERANCE 1e-12

/// A ring that lies in a scratch copy of the points.
typedef struct ring {
    double *xy; // (n x 2)
    int n;
} ring;

double sdf__segment_distance2(const double *p, const double *a, const double *b) {
    double ex = b[0] - a[0], ey = b[1] - a[1], px = p[0] - a[0], py = p[1] - a[1];
    double length2 = ex * ex + ey * ey;
    double t = length2 > 0 ? (px * ex + py * ey) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double dx = px - t * ex, dy = py - t * ey;
    return dx * dx + dy * dy;
}

/// Removes, in place, points that lie on the segment between the kept point before and the point after them.
static void ring_clean(ring *r, double tolerance) {
    int kept = 0;
    double limit = tolerance * tolerance;
    for (int i = 0; i < r->n; i++) {
        const double *before = kept > 0 ? r->xy + 2 * (kept - 1) : r->xy + 2 * (r->n - 1);
        const double *after = i + 1 < r->n ? r->xy + 2 * (i + 1) : r->xy;
        const double *p = r->xy + 2 * i;
        if (sdf__segment_distance2(p, before, after) <= limit) continue;
        double x = p[0], y = p[1];
        r->xy[2 * kept] = x;
        r->xy[2 * kept + 1] = y;
        kept++;
    }
    r->n = kept;
}

/// The order of two points: by x, then by y.
static int compare_points(const double *a, const double *b) {
    for (int k = 0; k < 2; k++)
        if (a[k] < b[k] || a[k] > b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static void reverse_points(double *xy, int begin, int end) {
    for (int i = begin, k = end - 1; i < k; i++, k--) {
        for (int c = 0; c < 2; c++) {
            double swap = xy[2 * i + c];
            xy[2 * i + c] = xy[2 * k + c];
            xy[2 * k + c] = swap;
        }
    }
}

/// Orientation (counter-clockwise if `ccw`) and the smallest point first.
static void ring_order(ring *r, bool ccw) {
    if ((sdf__ring_area2(r->xy, r->n) > 0) != ccw) reverse_points(r->xy, 0, r->n);
    int first = 0;
    for (int i = 1; i < r->n; i++)
        if (compare_points(r->xy + 2 * i, r->xy + 2 * first) < 0) first = i;
    // A rotation is three reversals.
    reverse_points(r->xy, 0, first);
    reverse_points(r->xy, first, r->n);
    reverse_points(r->xy, 0, r->n);
}

static int compare_rings(const void *a, const void *b) {
    const ring *p = a, *q = b;
    int order = compare_points(p->xy, q->xy);
    return order ? order : (p->n > q->n) - (p->n < q->n);
}

static double outline_extent(const core_outline *o) {
    double low[2] = {o->xy[0], o->xy[1]}, high[2] = {o->xy[0], o->xy[1]};
    for (int i = 0; i < 2 * core_outline_count(o); i++) {
        low[i % 2] = fmin(low[i % 2], o->xy[i]);
        high[i % 2] = fmax(high[i % 2], o->xy[i]);
    }
    return fmax(high[0] - low[0], high[1] - low[1]);
}

/// Rings of `drawn`, cleaned and ordered, as an outline of its own.
static core_status outline_tidy(const core_outline *drawn, core_outline *tidy, core_error *err) {
    core_status status = CORE_OK;
    core_outline scratch = {0}, result = {0};
    ring *rings = NULL;
    int *counts = NULL;
    double extent = outline_extent(drawn), tolerance = OUTLINE_CLEAN_TOLERANCE * extent;
    CORE_TRY_DONE(core_outline_copy(drawn, &scratch, err));
    CORE_NEW_DONE(rings, (size_t)drawn->count_rings);
    CORE_NEW_DONE(counts, (size_t)drawn->count_rings);

    // Rings that enclose nothing vanish; without an outer ring there is no shape.
    int count = 0;
    for (int i = 0; i < scratch.count_rings; i++) {
        int begin = scratch.ring_start[i];
        ring r = {scratch.xy + 2 * begin, scratch.ring_start[i + 1] - begin};
        ring_clean(&r, tolerance);
        bool empty = r.n < 3 || fabs(sdf__ring_area2(r.xy, r.n)) <= tolerance * extent;
        CORE_CHECK_DONE(i > 0 || !empty, CORE_SHAPE, "the outer ring encloses no area (extent %g)", extent);
        if (empty) continue;
        ring_order(&r, i == 0);
        rings[count++] = r;
    }
    if (count > 2) qsort(rings + 1, (size_t)count - 1, sizeof *rings, compare_rings);

    for (int i = 0; i < count; i++) counts[i] = rings[i].n;
    CORE_TRY_DONE(core_outline_create(count, counts, &result, err));
    for (int i = 0; i < count; i++)
        memcpy(result.xy + 2 * result.ring_start[i], rings[i].xy, (size_t)rings[i].n * 2 * sizeof *result.xy);
    *tidy = result;
    result = (core_outline){0};
done:
    core_outline_clear(&scratch);
    core_outline_clear(&result);
    core_free(rings);
    core_free(counts);
    return status;
}

core_status sdf__outline_canonical(const core_outline *drawn, core_outline *canonical, sdf_mass *drawn_mass,
                                   int *count_removed, core_error *err) {
    core_status status = CORE_OK;
    core_outline tidy = {0};
    sdf_mass mass;
    // Refuses NaN and sizes that cannot be used before anything else touches the numbers.
    CORE_TRY_DONE(sdf_outline_mass(drawn, &mass, err));
    CORE_TRY_DONE(outline_tidy(drawn, &tidy, err));
    CORE_TRY_DONE(sdf__geos_check(&tidy, err));
    CORE_TRY_DONE(sdf_outline_mass(&tidy, &mass, err));
    int n = core_outline_count(&tidy);
    for (int i = 0; i < 2 * n; i++) {
        // + 0.0 turns -0 into 0: equal outlines have equal bits.
        tidy.xy[i] = (tidy.xy[i] - mass.centroid[i % 2]) / mass.circumradius + 0.0;
    }
    *canonical = tidy;
    *drawn_mass = mass;
    *count_removed = core_outline_count(drawn) - n;
    tidy = (core_outline){0};
done:
    core_outline_clear(&tidy);
    return status;
}
