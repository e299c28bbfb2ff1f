/// Exact signed distance of two polygonal regions: apart the least distance of a vertex and an edge, in overlap the
/// depth from the configuration obstacle (cspace_exact_depth.c).
#include "cspace_exact.h"
#include "cspace_field.h"

#include <assert.h>
#include <math.h>

static const size_t sum_edges_max = 4000000; // about 350 MB of scratch a thread

/// Closest vertex and edge so far.
typedef struct closest {
    double distance2;
    double vertex[2], foot[2], n[2]; // n from A to B
} closest;

static double dot(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}

static void edges_clear(cspace__edges *e) {
    core_free(e->from);
    core_free(e->to);
    core_free(e->circle);
    core_free(e->around);
    *e = (cspace__edges){0};
}

static core_status edges_create(int n, cspace__edges *edges, core_error *err) {
    core_status status = CORE_OK;
    cspace__edges e = {.n = n, .blocks = (n + EXACT_BLOCK - 1) / EXACT_BLOCK};
    CORE_NEW_DONE(e.from, 2 * (size_t)n);
    CORE_NEW_DONE(e.to, 2 * (size_t)n);
    CORE_NEW_DONE(e.circle, 3 * (size_t)n);
    CORE_NEW_DONE(e.around, 3 * (size_t)e.blocks);
    *edges = e;
done:
    if (status != CORE_OK) edges_clear(&e);
    return status;
}

/// Edges of an outline in its own order, circles included.
static void edges_fill(const core_outline *o, double scale, cspace__edges *e) {
    for (int r = 0, k = 0; r < o->count_rings; r++)
        for (int i = o->ring_start[r]; i < o->ring_start[r + 1]; i++, k++) {
            const double *u = o->xy + 2 * i, *v = o->xy + 2 * (i + 1 < o->ring_start[r + 1] ? i + 1 : o->ring_start[r]);
            for (int j = 0; j < 2; j++) {
                e->from[2 * k + j] = scale * u[j];
                e->to[2 * k + j] = scale * v[j];
                e->circle[3 * k + j] = 0.5 * scale * (u[j] + v[j]);
            }
            double x = scale * (v[0] - u[0]), y = scale * (v[1] - u[1]);
            e->circle[3 * k + 2] = 0.5 * sqrt(x * x + y * y);
        }
    for (int b = 0; b < e->blocks; b++) {
        int first = b * EXACT_BLOCK, end = first + EXACT_BLOCK < e->n ? first + EXACT_BLOCK : e->n;
        double *c = e->around + 3 * b;
        for (int k = first; k < end; k++)
            for (int j = 0; j < 2; j++) c[j] += e->circle[3 * k + j] / (end - first);
        for (int k = first; k < end; k++) {
            double x = e->circle[3 * k] - c[0], y = e->circle[3 * k + 1] - c[1];
            c[2] = fmax(c[2], sqrt(x * x + y * y) + e->circle[3 * k + 2]);
        }
    }
}

static void place(const double *from, int n, int width, const double turn[2], const double t[2], double *to) {
    for (int i = 0; i < n * width; i += width) {
        to[i] = turn[0] * from[i] - turn[1] * from[i + 1] + t[0];
        to[i + 1] = turn[1] * from[i] + turn[0] * from[i + 1] + t[1];
        if (width == 3) to[i + 2] = from[i + 2];
    }
}

static bool is_inside(const cspace__edges *e, const double p[2]) {
    bool inside = false;
    for (int k = 0; k < e->n; k++) {
        const double *u = e->from + 2 * k, *v = e->to + 2 * k;
        if ((u[1] > p[1]) == (v[1] > p[1])) continue;
        double side = (v[0] - u[0]) * (p[1] - u[1]) - (p[0] - u[0]) * (v[1] - u[1]);
        inside ^= (side > 0.0) == (v[1] > u[1]);
    }
    return inside;
}

static double side(const double *u, const double *v, const double *p) {
    return (v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0]);
}

static bool edges_cross(const double *a, const double *b, const double *p, const double *q) {
    return side(a, b, p) * side(a, b, q) < 0.0 && side(p, q, a) * side(p, q, b) < 0.0;
}

/// A vertex and an edge, the region on the edge's left. sign 1: the edge is A's, -1: B's.
static void try_vertex(const double *p, const double *u, const double *v, double sign, closest *best) {
    double e[2] = {v[0] - u[0], v[1] - u[1]}, w[2] = {p[0] - u[0], p[1] - u[1]}, l2 = dot(e, e);
    double at = fmin(fmax(dot(w, e) / l2, 0.0), 1.0), r[2] = {w[0] - at * e[0], w[1] - at * e[1]}, d2 = dot(r, r);
    if (d2 >= best->distance2) return;
    best->distance2 = d2;
    for (int i = 0; i < 2; i++) {
        best->vertex[i] = p[i];
        best->foot[i] = u[i] + at * e[i];
    }
    bool corner =
        (at <= 0.0 || at >= 1.0) && d2 > 1e-24; // else the edge's own normal: sharper, and there when they touch
    double l = corner ? sqrt(d2) : sqrt(l2);
    best->n[0] = sign * (corner ? r[0] : e[1]) / l;
    best->n[1] = sign * (corner ? r[1] : -e[0]) / l;
}

static bool circles_near(const double *a, const double *b, double distance2) {
    double x = a[0] - b[0], y = a[1] - b[1], r = a[2] + b[2], c2 = x * x + y * y;
    if (c2 <= r * r) return true;
    double slack = sqrt(c2) - r;
    return slack * slack < distance2;
}

/// Closest pair of two blocks; true if outlines cross.
static bool try_blocks(const cspace__edges *a, int i, const cspace__edges *b, int j, closest *best) {
    for (int k = i * EXACT_BLOCK; k < (i + 1) * EXACT_BLOCK && k < a->n; k++)
        for (int l = j * EXACT_BLOCK; l < (j + 1) * EXACT_BLOCK && l < b->n; l++) {
            if (!circles_near(a->circle + 3 * k, b->circle + 3 * l, best->distance2)) continue;
            const double *u = a->from + 2 * k, *v = a->to + 2 * k, *p = b->from + 2 * l, *q = b->to + 2 * l;
            if (edges_cross(u, v, p, q)) return true;
            // both ends: those outside a best distance never come up as another edge's start
            try_vertex(p, u, v, 1.0, best);
            try_vertex(q, u, v, 1.0, best);
            try_vertex(u, p, q, -1.0, best);
            try_vertex(v, p, q, -1.0, best);
        }
    return false;
}

/// True if the regions overlap; else the closest pair within best->distance2.
static bool find_closest(const cspace__edges *a, const cspace__edges *b, closest *best) {
    for (int i = 0; i < a->blocks; i++)
        for (int j = 0; j < b->blocks; j++)
            if (circles_near(a->around + 3 * i, b->around + 3 * j, best->distance2) && try_blocks(a, i, b, j, best))
                return true;
    return is_inside(a, b->from) || is_inside(b, a->from); // no crossing: one holds the other, or they are apart
}

/// The contact unless the regions are more than `apart` from each other or overlap by more than `depth`; else false.
static bool contact_within(const cspace_exact *exact, const cspace_pose *pose, double apart, double depth,
                           cspace_contact *contact, cspace_exact_scratch *scratch) {
    assert(exact && pose && contact && scratch);
    *contact = (cspace_contact){.d = NAN, .d_theta = NAN, .g = {NAN, NAN}, .r_a = NAN, .r_b = NAN};
    if (!isfinite(pose->theta) || !isfinite(pose->x) || !isfinite(pose->y)) return false;
    const cspace__edges *own = &exact->edge[1];
    cspace__edges *b = &scratch->b;
    const double t[2] = {pose->x, pose->y};
    double turn[2], far = sqrt(dot(t, t)) - exact->reach;
    if (far > apart) return false;
    core_sincos(pose->theta, &turn[1], &turn[0]);
    place(own->from, own->n, 2, turn, t, b->from);
    place(own->to, own->n, 2, turn, t, b->to);
    place(own->circle, own->n, 3, turn, t, b->circle);
    place(own->around, own->blocks, 3, turn, t, b->around);
    closest best = {.distance2 = apart * apart * (1.0 + 1e-9)};
    bool overlap = find_closest(&exact->edge[0], b, &best);
    // equal faces in line neither cross nor hold each other's corners: the obstacle knows
    bool touch = !overlap && best.distance2 <= EXACT_GAP * EXACT_GAP;
    if (overlap || touch) {
        bool found = cspace__exact_depth(exact, pose, turn, depth, contact, scratch);
        if (found || overlap) return found;
    }
    double d = sqrt(best.distance2),
           p[2] = {0.5 * (best.vertex[0] + best.foot[0]), 0.5 * (best.vertex[1] + best.foot[1])};
    if (!(d <= apart) || dot(best.n, best.n) <= 0.0) return false;
    *contact = (cspace_contact){.d = d, .g = {best.n[0], best.n[1]}, .r_a = dot(p, best.n)};
    contact->r_b = contact->r_a - dot(t, best.n);
    contact->d_theta = (p[0] - t[0]) * best.n[1] - (p[1] - t[1]) * best.n[0];
    return true;
}

bool cspace_exact_near(const cspace_exact *exact, const cspace_pose *pose, double band, cspace_contact *contact,
                       cspace_exact_scratch *scratch) {
    return contact_within(exact, pose, band, band, contact, scratch);
}

bool cspace_exact_reaches(const cspace_exact *exact, const cspace_pose *pose, double apart, cspace_contact *contact,
                          cspace_exact_scratch *scratch) {
    return contact_within(exact, pose, apart, INFINITY, contact, scratch);
}

void cspace_exact_contact(const cspace_exact *exact, const cspace_pose *pose, cspace_contact *contact,
                          cspace_exact_scratch *scratch) {
    contact_within(exact, pose, INFINITY, INFINITY, contact, scratch);
}

void cspace_exact_contact_smooth(const cspace_exact *exact, double sigma, const cspace_pose *pose,
                                 cspace_contact *contact, cspace_exact_scratch *scratch) {
    if (!(sigma > 0.0)) {
        cspace_exact_contact(exact, pose, contact, scratch);
        return;
    }
    cspace_contact side[6];
    for (int k = 0; k < 6; k++) {
        const cspace_pose q = cspace__kernel_pose(pose, sigma, k);
        cspace_exact_contact(exact, &q, &side[k], scratch);
    }
    cspace__kernel_mean(pose, sigma, side, contact);
}

/// Large parts pair with large ones, the others with each other.
static size_t count_sum_edges(const cspace__parts *a, const cspace__parts *b) {
    size_t large[2] = {(size_t)a->large, (size_t)b->large},
           corners[2] = {(size_t)a->start[a->large], (size_t)b->start[b->large]};
    size_t others[2] = {(size_t)a->count - large[0], (size_t)b->count - large[1]};
    size_t others_corners[2] = {(size_t)a->start[a->count] - corners[0], (size_t)b->start[b->count] - corners[1]};
    return corners[0] * large[1] + corners[1] * large[0] + others_corners[0] * others[1] +
           others_corners[1] * others[0];
}

core_status cspace_exact_create(const cspace_pair *pair, cspace_exact **exact, core_error *err) {
    CORE_CHECK(pair && pair->a && pair->b && exact, CORE_ARG, "cspace_exact_create: a null pointer");
    core_status status = CORE_OK;
    cspace_exact *e = NULL;
    const sdf_shape *const shape[2] = {pair->a, pair->b};
    const double scale[2] = {pair->scale_a, pair->scale_b};
    CORE_NEW_DONE(e, 1);
    for (int i = 0; i < 2; i++) {
        CORE_TRY_DONE(edges_create(core_outline_count(&shape[i]->outline), &e->edge[i], err));
        edges_fill(&shape[i]->outline, scale[i], &e->edge[i]);
        status = cspace__parts_create(&shape[i]->outline, scale[i], &e->part[i], err);
        if (status != CORE_OK) core_error_prefix(err, status, "%s", shape[i]->name);
        if (status != CORE_OK) goto done;
    }
    e->reach = (scale[0] + scale[1]) * (1.0 + 1e-9); // canonical circumradii are 1 but for rounding
    e->reach_b = scale[1] * (1.0 + 1e-9);
    e->sums = (size_t)e->part[0].count * (size_t)e->part[1].count;
    e->sum_edges = count_sum_edges(&e->part[0], &e->part[1]);
    CORE_CHECK_DONE(
        e->sum_edges <= sum_edges_max, CORE_RANGE,
        "%s (%d vertices) and %s (%d): exact labels need %zu edges of sums, expected at most %zu; simplify the "
        "outlines (an image: sdfgen --simplify)",
        pair->a->name, core_outline_count(&pair->a->outline), pair->b->name, core_outline_count(&pair->b->outline),
        e->sum_edges, sum_edges_max);
    *exact = e;
    e = NULL;
done:
    cspace_exact_destroy(&e);
    return status;
}

void cspace_exact_destroy(cspace_exact **exact) {
    if (!exact || !*exact) return;
    for (int i = 0; i < 2; i++) {
        edges_clear(&(*exact)->edge[i]);
        cspace__parts_clear(&(*exact)->part[i]);
    }
    core_free(*exact);
    *exact = NULL;
}

core_status cspace_exact_scratch_create(const cspace_exact *exact, cspace_exact_scratch **scratch, core_error *err) {
    CORE_CHECK(exact && scratch, CORE_ARG, "cspace_exact_scratch_create: a null pointer");
    core_status status = CORE_OK;
    cspace_exact_scratch *s = NULL;
    CORE_NEW_DONE(s, 1);
    CORE_TRY_DONE(edges_create(exact->edge[1].n, &s->b, err));
    CORE_TRY_DONE(cspace__parts_room(&exact->part[1], &s->minus_b, err));
    CORE_NEW_DONE(s->sum, exact->sums);
    CORE_NEW_DONE(s->cover, exact->sums);
    CORE_NEW_DONE(s->edge, exact->sum_edges);
    CORE_NEW_DONE(s->candidate, exact->sum_edges);
    *scratch = s;
    s = NULL;
done:
    cspace_exact_scratch_destroy(&s);
    return status;
}

void cspace_exact_scratch_destroy(cspace_exact_scratch **scratch) {
    if (!scratch || !*scratch) return;
    cspace_exact_scratch *s = *scratch;
    edges_clear(&s->b);
    cspace__parts_clear(&s->minus_b);
    core_free(s->sum);
    core_free(s->cover);
    core_free(s->edge);
    core_free(s->candidate);
    core_free(s);
    *scratch = NULL;
}
