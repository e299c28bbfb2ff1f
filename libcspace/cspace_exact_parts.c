/// Convex parts of an outline: holes are bridged to the outer ring, the ring is cut into triangles (shortest diagonal
/// first) and the longest diagonals are dropped while the parts stay convex (Hertel and Mehlhorn, 1983: at most four
/// times the least number of parts).
#include "cspace_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double straight = 1e-12; // sine of a turn that counts as none

/// The work: indices of outline points; a bridge repeats two of them.
typedef struct cutter {
    const core_outline *o;
    int n;      // vertices left in ring
    int *ring;  // the boundary as one ring
    int *spare; // as long
    int parts;  // polygons found
    int *size;  // (parts) vertices of each, 0: joined to another
    int *pool;  // (parts x row) their vertices
    size_t row;
} cutter;

/// A side of a triangle: outline points lo < hi; where two triangles share it, the other one.
typedef struct side {
    int lo, hi, part, other;
    double length2;
} side;

static const double *point(const cutter *c, int i) {
    return c->o->xy + 2 * i;
}

static int *polygon(const cutter *c, int i) {
    return c->pool + (size_t)i * c->row;
}

static double turn(const double *a, const double *b, const double *p) {
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

static double length2(const double *a, const double *b) {
    return (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]);
}

static bool same_point(const double *a, const double *b) {
    return memcmp(a, b, 2 * sizeof *a) == 0;
}

/// Segments cross or touch; a common end does not count.
static bool segments_meet(const double *a, const double *b, const double *p, const double *q) {
    if (same_point(a, p) || same_point(a, q) || same_point(b, p) || same_point(b, q)) return false;
    return turn(a, b, p) * turn(a, b, q) <= 0.0 && turn(p, q, a) * turn(p, q, b) <= 0.0;
}

static bool is_visible(const cutter *c, int i, int j) {
    for (int r = 0; r < c->o->count_rings; r++) {
        int first = c->o->ring_start[r], end = c->o->ring_start[r + 1];
        for (int k = first; k < end; k++)
            if (segments_meet(point(c, i), point(c, j), point(c, k), point(c, k + 1 < end ? k + 1 : first)))
                return false;
    }
    return true;
}

/// The direction to p leaves vertex k of the ring into the region.
static bool looks_inside(const cutter *c, int k, const double *p) {
    const double *before = point(c, c->ring[(k + c->n - 1) % c->n]), *v = point(c, c->ring[k]),
                 *after = point(c, c->ring[(k + 1) % c->n]);
    if (turn(before, v, after) >= 0.0) return turn(before, v, p) > 0.0 && turn(v, after, p) > 0.0;
    return turn(before, v, p) > 0.0 || turn(v, after, p) > 0.0;
}

/// The shortest visible bridge from the ring to a hole. Its length squared, infinity if there is none.
static double find_bridge(const cutter *c, int hole, int *at, int *from) {
    int first = c->o->ring_start[hole], end = c->o->ring_start[hole + 1];
    double best = INFINITY;
    for (int k = 0; k < c->n; k++)
        for (int i = first; i < end; i++) {
            double l = length2(point(c, c->ring[k]), point(c, i));
            if (l >= best || !looks_inside(c, k, point(c, i)) || !is_visible(c, c->ring[k], i)) continue;
            best = l;
            *at = k;
            *from = i;
        }
    return best;
}

static void add_bridge(cutter *c, int hole, int at, int from) {
    int first = c->o->ring_start[hole], count = c->o->ring_start[hole + 1] - first, n = 0;
    for (int k = 0; k <= at; k++) c->spare[n++] = c->ring[k];
    for (int i = 0; i <= count; i++) c->spare[n++] = first + (from - first + i) % count;
    for (int k = at; k < c->n; k++) c->spare[n++] = c->ring[k];
    memcpy(c->ring, c->spare, (size_t)n * sizeof *c->ring);
    c->n = n;
}

/// Bridges all holes, nearest first: a bridge found so crosses no hole still to come. `done` has a flag a ring.
static bool bridge_holes(cutter *c, bool *done) {
    for (int round = 1; round < c->o->count_rings; round++) {
        int best = -1, at = 0, from = 0;
        double shortest = INFINITY;
        for (int h = 1; h < c->o->count_rings; h++) {
            int k = 0, i = 0;
            double l = done[h] ? INFINITY : find_bridge(c, h, &k, &i);
            if (l >= shortest) continue;
            shortest = l;
            best = h;
            at = k;
            from = i;
        }
        if (best < 0) return false;
        add_bridge(c, best, at, from);
        done[best] = true;
    }
    return true;
}

static bool is_ear(const cutter *c, int k) {
    int before = (k + c->n - 1) % c->n, after = (k + 1) % c->n;
    const double *a = point(c, c->ring[before]), *b = point(c, c->ring[k]), *p = point(c, c->ring[after]);
    if (!(turn(a, b, p) > straight * sqrt(length2(a, b) * length2(b, p)))) return false;
    for (int i = 0; i < c->n; i++) {
        const double *q = point(c, c->ring[i]);
        if (same_point(q, a) || same_point(q, b) || same_point(q, p)) continue;
        if (turn(a, b, q) >= 0.0 && turn(b, p, q) >= 0.0 && turn(p, a, q) >= 0.0) return false;
    }
    // a bridge passes its ends twice: the diagonal has to leave both of its own into what is left
    return c->n == 3 || (looks_inside(c, before, p) && looks_inside(c, after, a));
}

static bool cut_ears(cutter *c) {
    while (c->n >= 3) {
        int best = -1;
        double shortest = INFINITY;
        for (int k = 0; k < c->n; k++) {
            double l = length2(point(c, c->ring[(k + c->n - 1) % c->n]), point(c, c->ring[(k + 1) % c->n]));
            if (l >= shortest || !is_ear(c, k)) continue;
            shortest = l;
            best = k;
        }
        if (best < 0) return false;
        int *t = polygon(c, c->parts);
        for (int i = 0; i < 3; i++) t[i] = c->ring[(best + c->n - 1 + i) % c->n];
        c->size[c->parts++] = 3;
        memmove(c->ring + best, c->ring + best + 1, (size_t)(c->n - best - 1) * sizeof *c->ring);
        c->n--;
    }
    return true;
}

/// Joins part j to part i over i's edge k, which is j's edge l, if the result is convex.
static bool join(cutter *c, int i, int k, int j, int l) {
    int *p = polygon(c, i), *q = polygon(c, j), n = c->size[i], m = c->size[j], count = 0;
    for (int a = 0; a < n; a++) c->spare[count++] = p[(k + 1 + a) % n];
    for (int b = 1; b < m - 1; b++) c->spare[count++] = q[(l + 1 + b) % m];
    for (int a = 0; a < count; a++) {
        const double *u = point(c, c->spare[a]), *v = point(c, c->spare[(a + 1) % count]),
                     *w = point(c, c->spare[(a + 2) % count]);
        if (turn(u, v, w) < -straight * sqrt(length2(u, v) * length2(v, w))) return false;
    }
    memcpy(p, c->spare, (size_t)count * sizeof *p);
    c->size[i] = count;
    c->size[j] = 0;
    return true;
}

static int compare_sides(const void *a, const void *b) {
    const side *u = a, *v = b;
    if (u->lo != v->lo) return (u->lo > v->lo) - (u->lo < v->lo);
    return u->hi != v->hi ? (u->hi > v->hi) - (u->hi < v->hi) : (u->part > v->part) - (u->part < v->part);
}

static int compare_diagonals(const void *a, const void *b) {
    const side *u = a, *v = b;
    return u->length2 != v->length2 ? (u->length2 < v->length2) - (u->length2 > v->length2) : compare_sides(a, b);
}

/// The sides that two triangles share, longest first. Returns their number; `sides` has room for all of them.
static int find_diagonals(const cutter *c, side *sides) {
    int n = 0, diagonals = 0;
    for (int i = 0; i < c->parts; i++)
        for (int k = 0; k < 3; k++) {
            int u = polygon(c, i)[k], v = polygon(c, i)[(k + 1) % 3];
            sides[n++] = (side){u < v ? u : v, u < v ? v : u, i, i, length2(point(c, u), point(c, v))};
        }
    qsort(sides, (size_t)n, sizeof *sides, compare_sides);
    for (int k = 0; k + 1 < n; k++) {
        if (sides[k].lo != sides[k + 1].lo || sides[k].hi != sides[k + 1].hi) continue;
        sides[diagonals] = sides[k];
        sides[diagonals++].other = sides[k + 1].part;
    }
    qsort(sides, (size_t)diagonals, sizeof *sides, compare_diagonals);
    return diagonals;
}

static int find_corner(const cutter *c, int part, int vertex) {
    int k = 0;
    while (polygon(c, part)[k] != vertex) k++;
    return k;
}

/// Longest first, each once: corners only widen, a join that failed would fail again. `owner`: (parts) where each went.
static void drop_diagonals(cutter *c, const side *diagonals, int n, int *owner) {
    for (int i = 0; i < c->parts; i++) owner[i] = i;
    for (int d = 0; d < n; d++) {
        int i = diagonals[d].part, j = diagonals[d].other, u = diagonals[d].lo, v = diagonals[d].hi;
        while (owner[i] != i) i = owner[i];
        while (owner[j] != j) j = owner[j];
        int k = find_corner(c, i, u);
        if (polygon(c, i)[(k + 1) % c->size[i]] != v) k = find_corner(c, i, v); // the edge runs from v to u here
        int l = find_corner(c, j, polygon(c, i)[(k + 1) % c->size[i]]);
        if (i != j && join(c, i, k, j, l)) owner[j] = i;
    }
}

/// A part without points on a straight side.
static void store_part(const cutter *c, int i, double scale, cspace__parts *parts) {
    double *xy = parts->xy + 2 * parts->start[parts->count];
    int n = 0, size = c->size[i];
    for (int k = 0; k < size; k++) {
        const double *u = point(c, polygon(c, i)[(k + size - 1) % size]), *v = point(c, polygon(c, i)[k]),
                     *w = point(c, polygon(c, i)[(k + 1) % size]);
        if (turn(u, v, w) <= straight * sqrt(length2(u, v) * length2(v, w))) continue;
        xy[2 * n] = scale * v[0];
        xy[2 * n + 1] = scale * v[1];
        n++;
    }
    cspace__parts_add(parts, xy, n);
}

void cspace__parts_add(cspace__parts *parts, const double *corners, int n) {
    int first = parts->start[parts->count];
    double *xy = parts->xy + 2 * first, x = 0.0, y = 0.0, r2 = 0.0;
    memmove(xy, corners, 2 * (size_t)n * sizeof *xy);
    for (int k = 0; k < n; k++) {
        const double *v = xy + 2 * k, *w = xy + 2 * ((k + 1) % n);
        double *edge = parts->edge + 2 * (first + k), *normal = parts->normal + 2 * (first + k);
        double l = sqrt(length2(v, w));
        edge[0] = w[0] - v[0];
        edge[1] = w[1] - v[1];
        normal[0] = edge[1] / l;
        normal[1] = -edge[0] / l;
        x += v[0] / n;
        y += v[1] / n;
    }
    for (int k = 0; k < n; k++) r2 = fmax(r2, length2(xy + 2 * k, (const double[]){x, y}));
    memcpy(parts->circle + 3 * parts->count, (const double[]){x, y, sqrt(r2)}, 3 * sizeof(double));
    parts->start[++parts->count] = first + n;
}

core_status cspace__parts_allocate(size_t count, size_t vertices, cspace__parts *parts, core_error *err) {
    core_status status = CORE_OK;
    cspace__parts p = {0};
    CORE_NEW_DONE(p.start, count + 1);
    CORE_NEW_DONE(p.xy, 2 * vertices);
    CORE_NEW_DONE(p.edge, 2 * vertices);
    CORE_NEW_DONE(p.normal, 2 * vertices);
    CORE_NEW_DONE(p.circle, 3 * count);
    *parts = p;
done:
    if (status != CORE_OK) cspace__parts_clear(&p);
    return status;
}

core_status cspace__parts_room(const cspace__parts *like, cspace__parts *parts, core_error *err) {
    CORE_TRY(cspace__parts_allocate((size_t)like->count, (size_t)like->start[like->count], parts, err));
    parts->count = like->count;
    parts->large = like->large;
    memcpy(parts->start, like->start, (size_t)(like->count + 1) * sizeof *like->start);
    return CORE_OK;
}

void cspace__parts_clear(cspace__parts *parts) {
    core_free(parts->start);
    core_free(parts->xy);
    core_free(parts->edge);
    core_free(parts->normal);
    core_free(parts->circle);
    *parts = (cspace__parts){0};
}

core_status cspace__parts_create(const core_outline *outline, double scale, cspace__parts *parts, core_error *err) {
    core_status status = CORE_OK;
    size_t points = (size_t)core_outline_count(outline) + 2 * (size_t)outline->count_rings;
    cutter c = {.o = outline, .n = outline->ring_start[1], .row = points};
    cspace__parts p = {0};
    bool *bridged = NULL;
    side *sides = NULL;
    int *owner = NULL;
    size_t vertices = 0, count = 0;
    CORE_NEW_DONE(c.ring, points);
    CORE_NEW_DONE(c.spare, points);
    CORE_NEW_DONE(c.size, points);
    CORE_NEW_DONE(c.pool, points * points);
    CORE_NEW_DONE(bridged, (size_t)outline->count_rings);
    CORE_NEW_DONE(sides, 3 * points);
    CORE_NEW_DONE(owner, points);
    for (int i = 0; i < c.n; i++) c.ring[i] = i;
    CORE_CHECK_DONE(bridge_holes(&c, bridged) && cut_ears(&c), CORE_SHAPE,
                    "the outline cannot be cut into convex parts: expected rings that neither touch nor cross");
    drop_diagonals(&c, sides, find_diagonals(&c, sides), owner);
    for (int i = 0; i < c.parts; i++) {
        count += c.size[i] > 0;
        vertices += (size_t)c.size[i];
    }
    CORE_TRY_DONE(cspace__parts_allocate(count, vertices, &p, err));
    for (int i = 0; i < c.parts; i++)
        if (c.size[i] > 0) store_part(&c, i, scale, &p);
    CORE_TRY_DONE(cspace__parts_cover(outline, scale, &p, err));
    *parts = p;
    p = (cspace__parts){0};
done:
    cspace__parts_clear(&p);
    core_free(c.ring);
    core_free(c.spare);
    core_free(c.size);
    core_free(c.pool);
    core_free(bridged);
    core_free(sides);
    core_free(owner);
    return status;
}
