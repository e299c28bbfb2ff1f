/// The boundary of the configuration obstacle O = A (+) -R(theta)B at one angle. Regions that touch do so with a convex
/// corner of one in an edge of the other, the edge's normal between those of the corner's own edges; so the boundary
/// lies on the edges of A moved to such corners of -R(theta)B and the other way round (the reduced convolution of both
/// outlines; some hundred segments for a #). What of them lies inside O, the union of the sums of convex parts, is
/// taken away: nothing of what lies on the convex hull of O; of the rest what the sums cover, which are merged when
/// first asked for, those of large parts first. Each translation then asks for the nearest of the stretches left: foot
/// outside or inside, convex corner outside, crossing of two segments inside.
#include "cspace_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double at_corner = 1e-9; // units of L: as far as an edge may miss a point it passes through

/// A convex corner and the normals of its two edges.
typedef struct corner {
    double p[2], before[2], after[2];
} corner;

/// Edges and convex corners of one outline.
typedef struct side {
    int edges, corners;
    double *from, *normal, *length; // (edges x 2), (edges x 2), (edges)
    corner *corner;                 // (corners)
} side;

/// A stretch of boundary, kept as columns: the search runs over all of them.
typedef struct stretches {
    int n, room;
    double *n_x, *n_y, *h, *lo, *hi, *at; // normal, n.x = h, ends along the segment, t.along = at + position
    int *segment, *cross_lo, *cross_hi;   // edges of sums that end it, -1: its own corner does
} stretches;

struct cspace_obstacle {
    const cspace_exact *exact; // borrowed
    side a, b, minus_b;        // minus_b: that of -R(theta)B
    cspace__parts minus;
    cspace__sum *sum;        // (sums) row a part of A; count 0: not merged at this angle yet
    cspace__sum_edge *edge;  // (sum_edges)
    cspace__cover *cover;    // (sums)
    cspace__sum_edge *found; // (room) segments of the reduced convolution
    bool *on_hull;           // (room)
    int count_found, room_found;
    stretches free;
};

static double dot(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}

static double cross(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

static void side_clear(side *s) {
    core_free(s->from);
    core_free(s->normal);
    core_free(s->length);
    core_free(s->corner);
}

/// Room for as many edges, all corners of which may be convex.
static core_status side_create(int n, side *s, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(s->from, 2 * (size_t)n);
    CORE_NEW_DONE(s->normal, 2 * (size_t)n);
    CORE_NEW_DONE(s->length, (size_t)n);
    CORE_NEW_DONE(s->corner, (size_t)n);
    s->edges = n;
done:
    return status; // the owner clears
}

static void side_fill(const cspace__edges *e, side *s) {
    int first = 0; // of the ring
    for (int k = 0; k < e->n; k++) {
        double x = e->to[2 * k] - e->from[2 * k], y = e->to[2 * k + 1] - e->from[2 * k + 1], l = sqrt(x * x + y * y);
        memcpy(s->from + 2 * k, e->from + 2 * k, 2 * sizeof(double));
        s->normal[2 * k] = y / l;
        s->normal[2 * k + 1] = -x / l;
        s->length[k] = l;
    }
    for (int k = 0; k < e->n; k++) {
        bool last = memcmp(e->to + 2 * k, e->from + 2 * first, 2 * sizeof(double)) == 0;
        int next = last ? first : k + 1;
        const double *before = s->normal + 2 * k, *after = s->normal + 2 * next, *p = s->from + 2 * next;
        if (last) first = k + 1;
        if (cross(before, after) <= 0.0) continue;
        s->corner[s->corners++] = (corner){{p[0], p[1]}, {before[0], before[1]}, {after[0], after[1]}};
    }
}

static void point_turn(const double *from, const double turn[2], double *to) {
    to[0] = turn[1] * from[1] - turn[0] * from[0];
    to[1] = -turn[1] * from[0] - turn[0] * from[1];
}

static void side_turn(const side *from, const double turn[2], side *to) {
    for (int k = 0; k < from->edges; k++) {
        point_turn(from->from + 2 * k, turn, to->from + 2 * k);
        point_turn(from->normal + 2 * k, turn, to->normal + 2 * k);
        to->length[k] = from->length[k];
    }
    for (int k = 0; k < from->corners; k++) {
        point_turn(from->corner[k].p, turn, to->corner[k].p);
        point_turn(from->corner[k].before, turn, to->corner[k].before);
        point_turn(from->corner[k].after, turn, to->corner[k].after);
    }
    to->corners = from->corners;
}

static core_status resize(void **array, int count, int room, size_t size, core_error *err) {
    void *larger = core_realloc(*array, (size_t)count, (size_t)room, size);
    CORE_CHECK(larger, CORE_MEMORY, "no memory for %d edges of a configuration obstacle", room);
    *array = larger;
    return CORE_OK;
}

/// Farthest that a side reaches in direction n.
static double support(const side *s, const double n[2]) {
    double most = -INFINITY;
    for (int i = 0; i < s->corners; i++) {
        double at = dot(n, s->corner[i].p);
        most = at > most ? at : most; // fmax is a call
    }
    return most;
}

/// Edges of one side at the corners of the other whose cone holds their normal.
static core_status add_segments(cspace_obstacle *o, const side *edges, const side *corners, bool of_a,
                                core_error *err) {
    for (int k = 0; k < edges->edges; k++) {
        const double *n = edges->normal + 2 * k, *u = edges->from + 2 * k;
        const double hull = support(edges, n) + support(corners, n) - 0.5 * EXACT_GAP;
        for (int i = 0; i < corners->corners; i++) {
            const corner *c = corners->corner + i;
            if (cross(c->before, n) < 0.0 || cross(n, c->after) < 0.0 || dot(c->before, n) + dot(c->after, n) < 0.0)
                continue;
            if (o->count_found == o->room_found) {
                int room = 2 * o->room_found + 256;
                CORE_TRY(resize((void **)&o->found, o->count_found, room, sizeof *o->found, err));
                CORE_TRY(resize((void **)&o->on_hull, o->count_found, room, sizeof *o->on_hull, err));
                o->room_found = room;
            }
            cspace__sum_edge *e = o->found + o->count_found++;
            *e = (cspace__sum_edge){
                .n = {n[0], n[1]}, .from = {u[0] + c->p[0], u[1] + c->p[1]}, .length = edges->length[k], .of_a = of_a};
            memcpy(e->touch, of_a ? u : c->p, sizeof e->touch);
            e->h = dot(e->n, e->from);
            o->on_hull[o->count_found - 1] = e->h >= hull;
        }
    }
    return CORE_OK;
}

/// Sum of parts i of A and j of -R(theta)B.
static const cspace__sum *sum_of(cspace_obstacle *o, int i, int j) {
    cspace__sum *sum = o->sum + (size_t)i * (size_t)o->minus.count + j;
    if (sum->count == 0) sum->count = cspace__sum_merge(&o->exact->part[0], i, &o->minus, j, o->edge + sum->first);
    return sum;
}

/// Where the edges of each sum go. Large parts only pair with large ones.
static void place_sums(cspace_obstacle *o) {
    const int *a = o->exact->part[0].start, *b = o->minus.start, n = o->minus.count;
    for (int i = 0, edges = 0; i < o->exact->part[0].count; i++)
        for (int j = 0; j < n; j++) {
            if ((i < o->exact->part[0].large) != (j < o->minus.large)) continue;
            o->sum[(size_t)i * (size_t)n + j].first = edges;
            edges += a[i + 1] - a[i] + b[j + 1] - b[j];
        }
}

static int compare_covers(const void *a, const void *b) {
    const cspace__cover *u = a, *v = b;
    return (u->lo > v->lo) - (u->lo < v->lo);
}

/// Covers of a segment so far.
typedef struct covering {
    const cspace__sum_edge *e;
    double middle[2], half;
    int n, last[2]; // last: parts of a sum that held all of a segment
} covering;

/// Tries a sum; true if it holds all of the segment.
static bool try_cover(cspace_obstacle *o, covering *c, int i, int j) {
    cspace__cover cover = {.lo = 0.0, .hi = c->e->length, .edge_lo = -1, .edge_hi = -1};
    if (!cspace__sum_clip(c->e, sum_of(o, i, j), o->edge, &cover)) return false;
    o->cover[c->n++] = cover;
    if (cover.edge_lo >= 0 || cover.edge_hi >= 0) return false;
    c->last[0] = i;
    c->last[1] = j;
    return true;
}

/// Tries the sums of parts [i, end_i) of A and [j, end_j) of -R(theta)B; true if one holds all of the segment.
static bool cover_block(cspace_obstacle *o, covering *c, int i, int end_i, int first_j, int end_j) {
    const cspace__parts *a = &o->exact->part[0], *b = &o->minus;
    for (; i < end_i; i++) {
        const double *u = a->circle + 3 * i;
        const double at[2] = {u[0] - c->middle[0], u[1] - c->middle[1]}, widest = u[2] + o->exact->reach_b + c->half;
        if (dot(at, at) > widest * widest) continue;
        for (int j = first_j; j < end_j; j++) {
            const double *v = b->circle + 3 * j, x = at[0] + v[0], y = at[1] + v[1], r = u[2] + v[2] + c->half;
            if (x * x + y * y <= r * r && try_cover(o, c, i, j)) return true;
        }
    }
    return false;
}

/// Covers of a segment; -1: all of it lies in one sum. Neighbours often lie in the same: tried first.
static int collect_covers(cspace_obstacle *o, const cspace__sum_edge *e, int last[2]) {
    const cspace__parts *a = &o->exact->part[0], *b = &o->minus;
    const double half = 0.5 * e->length;
    covering c = {e, {e->from[0] - half * e->n[1], e->from[1] + half * e->n[0]}, half, 0, {last[0], last[1]}};
    bool all = try_cover(o, &c, last[0], last[1]);
    c.n = 0; // it comes again
    all = all || cover_block(o, &c, 0, a->large, 0, b->large) ||
          cover_block(o, &c, a->large, a->count, b->large, b->count);
    last[0] = c.last[0];
    last[1] = c.last[1];
    if (all) return -1;
    qsort(o->cover, (size_t)c.n, sizeof *o->cover, compare_covers);
    return c.n;
}

static core_status stretches_grow(stretches *s, core_error *err) {
    int room = 2 * s->room + 256;
    double **column[] = {&s->n_x, &s->n_y, &s->h, &s->lo, &s->hi, &s->at};
    int **index[] = {&s->segment, &s->cross_lo, &s->cross_hi};
    for (int i = 0; i < 6; i++) CORE_TRY(resize((void **)column[i], s->n, room, sizeof(double), err));
    for (int i = 0; i < 3; i++) CORE_TRY(resize((void **)index[i], s->n, room, sizeof(int), err));
    s->room = room;
    return CORE_OK;
}

static core_status add_stretch(cspace_obstacle *o, int segment, double lo, int cross_lo, double hi, int cross_hi,
                               core_error *err) {
    const cspace__sum_edge *e = o->found + segment;
    stretches *s = &o->free;
    if (s->n == s->room) CORE_TRY(stretches_grow(s, err));
    int i = s->n++;
    s->n_x[i] = e->n[0];
    s->n_y[i] = e->n[1];
    s->h[i] = e->h;
    s->lo[i] = lo;
    s->hi[i] = hi;
    s->at[i] = e->from[1] * e->n[0] - e->from[0] * e->n[1];
    s->segment[i] = segment;
    s->cross_lo[i] = cross_lo;
    s->cross_hi[i] = cross_hi;
    return CORE_OK;
}

/// What the sorted covers leave of a segment.
static core_status add_stretches(cspace_obstacle *o, int segment, int covers, core_error *err) {
    double at = 0.0, length = o->found[segment].length;
    int other = -1;
    for (int i = 0; i < covers; i++) {
        const cspace__cover *c = o->cover + i;
        if (c->lo > at + EXACT_GAP) CORE_TRY(add_stretch(o, segment, at, other, c->lo, c->edge_lo, err));
        if (c->hi <= at) continue;
        at = c->hi;
        other = c->edge_hi;
    }
    if (at < length - EXACT_GAP) CORE_TRY(add_stretch(o, segment, at, other, length, -1, err));
    return CORE_OK;
}

core_status cspace_obstacle_turn(cspace_obstacle *o, double theta, core_error *err) {
    CORE_CHECK(o, CORE_ARG, "cspace_obstacle_turn: a null pointer");
    double turn[2];
    int last[2] = {o->exact->part[0].large, o->exact->part[1].large};
    o->count_found = o->free.n = 0;
    CORE_CHECK(isfinite(theta), CORE_NONFINITE, "cspace_obstacle_turn: found the angle %g", theta);
    core_sincos(theta, &turn[1], &turn[0]);
    cspace__parts_turn(&o->exact->part[1], turn, &o->minus);
    side_turn(&o->b, turn, &o->minus_b);
    for (size_t m = 0; m < o->exact->sums; m++) o->sum[m].count = 0;
    core_status status = add_segments(o, &o->a, &o->minus_b, true, err);
    if (status == CORE_OK) status = add_segments(o, &o->minus_b, &o->a, false, err);
    for (int i = 0; i < o->count_found && status == CORE_OK; i++) {
        int covers = o->on_hull[i] ? 0 : collect_covers(o, o->found + i, last);
        if (covers >= 0) status = add_stretches(o, i, covers, err);
    }
    if (status != CORE_OK) o->free.n = 0;
    return status;
}

/// A sum reaches a point.
static bool reaches(const cspace_obstacle *o, int i, int j, const double p[2]) {
    const double *u = o->exact->part[0].circle + 3 * i, *v = o->minus.circle + 3 * j;
    const double x = p[0] - u[0] - v[0], y = p[1] - u[1] - v[1], r = u[2] + v[2] + EXACT_GAP;
    return x * x + y * y <= r * r;
}

static bool is_inside(cspace_obstacle *o, const double p[2]) {
    for (int i = o->exact->part[0].large; i < o->exact->part[0].count; i++)
        for (int j = o->minus.large; j < o->minus.count; j++) {
            if (!reaches(o, i, j, p)) continue;
            const cspace__sum *sum = sum_of(o, i, j);
            const cspace__sum_edge *e = o->edge + sum->first, *end = e + sum->count;
            while (e < end && dot(e->n, p) < e->h) e++;
            if (e == end) return true;
        }
    return false;
}

/// An edge of a sum through the end c of segment e that shares the gradient g with it; NULL if there is none. Where the
/// boundary bends in at a segment's own end (shapes with edges in line) no crossing is on record.
static const cspace__sum_edge *find_partner(cspace_obstacle *o, const cspace__sum_edge *e, const double c[2],
                                            const double g[2]) {
    for (int i = o->exact->part[0].large; i < o->exact->part[0].count; i++)
        for (int j = o->minus.large; j < o->minus.count; j++) {
            if (!reaches(o, i, j, c)) continue;
            const cspace__sum *sum = sum_of(o, i, j);
            for (int k = sum->first; k < sum->first + sum->count; k++) {
                const cspace__sum_edge *f = o->edge + k;
                double along = (c[1] - f->from[1]) * f->n[0] - (c[0] - f->from[0]) * f->n[1], det = cross(e->n, f->n);
                if (fabs(dot(f->n, c) - f->h) > at_corner || along < -at_corner || along > f->length + at_corner)
                    continue;
                if (fabs(det) > at_corner && cross(g, f->n) * det >= 0.0 && cross(e->n, g) * det >= 0.0) return f;
            }
        }
    return NULL;
}

bool cspace_obstacle_contact(cspace_obstacle *o, const double t[2], double band, cspace_contact *contact) {
    const stretches *s = &o->free;
    *contact = (cspace_contact){.d = NAN, .d_theta = NAN, .g = {NAN, NAN}, .r_a = NAN, .r_b = NAN};
    if (!isfinite(t[0]) || !isfinite(t[1]) || s->n == 0) return false;
    double least = band * band * (1.0 + 1e-12);
    int best = -1;
    for (int i = 0; i < s->n; i++) {
        double out = s->n_x[i] * t[0] + s->n_y[i] * t[1] - s->h[i];
        if (out * out >= least) continue; // nearly all
        double at = t[1] * s->n_x[i] - t[0] * s->n_y[i] - s->at[i];
        double beyond = at < s->lo[i] ? s->lo[i] - at : at > s->hi[i] ? at - s->hi[i] : 0.0;
        double d2 = out * out + beyond * beyond;
        if (d2 >= least) continue;
        least = d2;
        best = i;
    }
    double distance = sqrt(least);
    if (best < 0 || !(distance <= band)) return false;
    double out = s->n_x[best] * t[0] + s->n_y[best] * t[1] - s->h[best];
    double at = t[1] * s->n_x[best] - t[0] * s->n_y[best] - s->at[best];
    int other = at < s->lo[best] ? s->cross_lo[best] : at > s->hi[best] ? s->cross_hi[best] : -1;
    bool beyond = at < s->lo[best] || at > s->hi[best], outside = beyond ? other < 0 && !is_inside(o, t) : out > 0.0;
    at = at < s->lo[best] ? s->lo[best] : at > s->hi[best] ? s->hi[best] : at;
    const cspace__sum_edge *e = o->found + s->segment[best], *partner = other < 0 ? NULL : o->edge + other;
    if (beyond && !outside && !partner) {
        const double c[2] = {e->from[0] - at * e->n[1], e->from[1] + at * e->n[0]};
        partner = find_partner(o, e, c, (const double[]){(c[0] - t[0]) / distance, (c[1] - t[1]) / distance});
    }
    cspace__sum_contact(t, outside ? distance : -distance, at, e, partner, contact);
    return true;
}

void cspace_obstacle_destroy(cspace_obstacle **obstacle) {
    if (!obstacle || !*obstacle) return;
    cspace_obstacle *o = *obstacle;
    side_clear(&o->a);
    side_clear(&o->b);
    side_clear(&o->minus_b);
    cspace__parts_clear(&o->minus);
    core_free(o->sum);
    core_free(o->edge);
    core_free(o->cover);
    core_free(o->found);
    core_free(o->on_hull);
    stretches *s = &o->free;
    void *const columns[] = {s->n_x, s->n_y, s->h, s->lo, s->hi, s->at, s->segment, s->cross_lo, s->cross_hi};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) core_free(columns[i]);
    core_free(o);
    *obstacle = NULL;
}

core_status cspace_obstacle_create(const cspace_exact *exact, cspace_obstacle **obstacle, core_error *err) {
    CORE_CHECK(exact && obstacle, CORE_ARG, "cspace_obstacle_create: a null pointer");
    core_status status = CORE_OK;
    cspace_obstacle *o = NULL;
    CORE_NEW_DONE(o, 1);
    o->exact = exact;
    CORE_TRY_DONE(side_create(exact->edge[0].n, &o->a, err));
    CORE_TRY_DONE(side_create(exact->edge[1].n, &o->b, err));
    CORE_TRY_DONE(side_create(exact->edge[1].n, &o->minus_b, err));
    CORE_TRY_DONE(cspace__parts_room(&exact->part[1], &o->minus, err));
    CORE_NEW_DONE(o->sum, exact->sums);
    CORE_NEW_DONE(o->edge, exact->sum_edges);
    CORE_NEW_DONE(o->cover, exact->sums);
    side_fill(&exact->edge[0], &o->a);
    side_fill(&exact->edge[1], &o->b);
    place_sums(o);
    *obstacle = o;
    o = NULL;
done:
    cspace_obstacle_destroy(&o);
    return status;
}
