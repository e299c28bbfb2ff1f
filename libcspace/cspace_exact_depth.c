/// Depth of overlap: the nearest boundary point of the configuration obstacle O = A (+) -R(theta)B, the union of the
/// Minkowski sums of all convex parts. Its boundary is what is left of the edges of the sums outside all other sums.
/// From inside, the nearest boundary point is the foot on an edge or a corner where two edges cross, so it suffices to
/// walk on each edge from the foot both ways to where the sums that cover it end. Sums and edges farther than the best
/// point so far are never looked at.
#include "cspace_exact.h"

#include <math.h>

/// Nearest boundary point so far.
typedef struct nearest {
    double distance;
    double at;       // on edge
    int edge, other; // other: edge that ends the cover there, -1: the foot
} nearest;

static double dot(const double a[2], const double b[2]) {
    return a[0] * b[0] + a[1] * b[1];
}

static double cross(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

void cspace__parts_turn(const cspace__parts *from, const double turn[2], cspace__parts *to) {
    double c = turn[0], s = turn[1];
    for (int i = 0; i < 2 * from->start[from->count]; i += 2) {
        const double *x = from->xy + i, *e = from->edge + i, *n = from->normal + i;
        to->xy[i] = s * x[1] - c * x[0];
        to->xy[i + 1] = -s * x[0] - c * x[1];
        to->edge[i] = s * e[1] - c * e[0];
        to->edge[i + 1] = -s * e[0] - c * e[1];
        to->normal[i] = s * n[1] - c * n[0];
        to->normal[i + 1] = -s * n[0] - c * n[1];
    }
    for (int i = 0; i < 3 * from->count; i += 3) {
        const double *x = from->circle + i;
        to->circle[i] = s * x[1] - c * x[0];
        to->circle[i + 1] = -s * x[0] - c * x[1];
        to->circle[i + 2] = x[2];
    }
}

/// Vertex of a part the edge angles are counted from.
static int lowest(const cspace__parts *p, int part) {
    int best = p->start[part];
    for (int k = best + 1; k < p->start[part + 1]; k++) {
        const double *v = p->xy + 2 * k, *b = p->xy + 2 * best;
        if (v[1] < b[1] || (v[1] <= b[1] && v[0] < b[0])) best = k;
    }
    return best;
}

int cspace__sum_merge(const cspace__parts *a, int i, const cspace__parts *b, int j, cspace__sum_edge *edge) {
    int first_a = a->start[i], end_a = a->start[i + 1], first_b = b->start[j], end_b = b->start[j + 1];
    int k = lowest(a, i), l = lowest(b, j), left_a = end_a - first_a, left_b = end_b - first_b, n = 0;
    for (; left_a + left_b > 0; n++) {
        const double *u = a->xy + 2 * k, *v = b->xy + 2 * l;
        bool of_a = left_b == 0 || (left_a > 0 && cross(a->edge + 2 * k, b->edge + 2 * l) >= 0.0);
        const double *along = of_a ? a->edge + 2 * k : b->edge + 2 * l;
        const double *normal = of_a ? a->normal + 2 * k : b->normal + 2 * l;
        cspace__sum_edge *e = edge + n;
        *e = (cspace__sum_edge){.n = {normal[0], normal[1]},
                                .from = {u[0] + v[0], u[1] + v[1]},
                                .length = along[1] * normal[0] - along[0] * normal[1],
                                .touch = {u[0], u[1]},
                                .of_a = of_a};
        e->h = dot(e->n, e->from);
        if (of_a) {
            k = k + 1 < end_a ? k + 1 : first_a;
            left_a--;
        } else {
            l = l + 1 < end_b ? l + 1 : first_b;
            left_b--;
        }
    }
    return n;
}

/// Where sums that come within reach of t are collected.
typedef struct collecting {
    const cspace_exact *exact;
    const double *t;
    double reach, band;
    cspace_exact_scratch *s;
    int edges;
} collecting;

/// Collects sums of parts [i, end_i) of A and [j, end_j) of -R(theta)B. False if one of them holds a disc larger than
/// the band around t.
static bool collect_block(collecting *c, int i, int end_i, int first_j, int end_j) {
    const cspace__parts *a = &c->exact->part[0], *b = &c->s->minus_b;
    cspace_exact_scratch *s = c->s;
    for (; i < end_i; i++) {
        const double *u = a->circle + 3 * i;
        const double at[2] = {u[0] - c->t[0], u[1] - c->t[1]}, widest = u[2] + c->exact->reach_b + c->reach;
        if (dot(at, at) > widest * widest) continue;
        for (int j = first_j; j < end_j; j++) {
            const double *v = b->circle + 3 * j;
            double x = at[0] + v[0], y = at[1] + v[1], r = u[2] + v[2] + c->reach, outside = -INFINITY;
            if (x * x + y * y > r * r) continue;
            cspace__sum_edge *edge = s->edge + c->edges;
            int n = cspace__sum_merge(a, i, b, j, edge);
            for (int k = 0; k < n; k++) {
                double beyond = dot(edge[k].n, c->t) - edge[k].h;
                outside = beyond > outside ? beyond : outside; // fmax is a call
            }
            if (-outside > c->band) return false;
            if (outside > c->reach) continue;
            s->sum[s->sums++] = (cspace__sum){c->edges, n};
            c->edges += n;
        }
    }
    return true;
}

/// Sums within reach of t, the large ones first: they tell most deep overlaps. False if one of them holds a disc larger
/// than the band around t.
static bool collect_sums(const cspace_exact *e, const double t[2], double reach, double band, cspace_exact_scratch *s) {
    const cspace__parts *a = &e->part[0], *b = &s->minus_b;
    collecting c = {e, t, reach, band, s, 0};
    s->sums = 0;
    return collect_block(&c, 0, a->large, 0, b->large) && collect_block(&c, a->large, a->count, b->large, b->count);
}

/// Distance from t to an edge; *foot: unclamped position of t along it.
static double edge_distance(const cspace__sum_edge *e, const double t[2], double *inner, double *foot) {
    *inner = e->h - dot(e->n, t);
    *foot = (t[1] - e->from[1]) * e->n[0] - (t[0] - e->from[0]) * e->n[1];
    double beyond = *foot - fmin(fmax(*foot, 0.0), e->length);
    return sqrt(*inner * *inner + beyond * beyond);
}

/// Edges with t on their inner side, within reach.
static int collect_candidates(const double t[2], double reach, cspace_exact_scratch *s) {
    int n = 0;
    for (int m = 0; m < s->sums; m++)
        for (int k = s->sum[m].first; k < s->sum[m].first + s->sum[m].count; k++) {
            double inner, foot, distance = edge_distance(s->edge + k, t, &inner, &foot);
            if (inner >= -EXACT_GAP && distance <= reach)
                s->candidate[n++] = (cspace__candidate){.distance = distance, .edge = k, .sum = m};
        }
    return n;
}

bool cspace__sum_clip(const cspace__sum_edge *e, const cspace__sum *sum, const cspace__sum_edge *edges,
                      cspace__cover *c) {
    const double along[2] = {-e->n[1], e->n[0]};
    for (int k = sum->first; k < sum->first + sum->count; k++) {
        double rate = dot(edges[k].n, along), value = dot(edges[k].n, e->from) - edges[k].h;
        double at_lo = value + rate * c->lo + EXACT_GAP, at_hi = value + rate * c->hi + EXACT_GAP;
        if (at_lo <= 0.0 && at_hi <= 0.0) continue; // most edges leave the window alone: no division
        if (at_lo >= 0.0 && at_hi >= 0.0) return false;
        double at = -value / rate;
        if (rate > 0.0 && at < c->hi) {
            c->hi = at;
            c->edge_hi = k;
        }
        if (rate < 0.0 && at > c->lo) {
            c->lo = at;
            c->edge_lo = k;
        }
        if (c->lo >= c->hi) return false;
    }
    return true;
}

/// Walks from `at` to where the covers end; true if that lies inside the window.
static bool walk(const cspace__cover *cover, int n, bool up, double end, double *at, int *other) {
    *other = -1;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < n; i++) {
            const cspace__cover *c = cover + i;
            if (up ? c->lo <= *at + EXACT_GAP && c->hi > *at : c->hi >= *at - EXACT_GAP && c->lo < *at) {
                *at = up ? c->hi : c->lo;
                *other = up ? c->edge_hi : c->edge_lo;
                moved = true;
            }
        }
        if (up ? *at >= end : *at <= end) return *other < 0 && n == 0;
    }
    return true;
}

/// Nearest point of one edge that no other sum covers.
static void try_edge(const cspace__candidate *candidate, const double t[2], cspace_exact_scratch *s, nearest *best) {
    const cspace__sum_edge *e = s->edge + candidate->edge;
    double inner, foot;
    edge_distance(e, t, &inner, &foot);
    double half = sqrt(fmax(0.0, best->distance * best->distance - inner * inner));
    double lo = fmax(0.0, foot - half), hi = fmin(e->length, foot + half);
    int n = 0;
    for (int m = 0; m < s->sums; m++) {
        cspace__cover c = {.lo = lo, .hi = hi, .edge_lo = -1, .edge_hi = -1};
        if (m == candidate->sum || !cspace__sum_clip(e, s->sum + m, s->edge, &c)) continue;
        if (c.edge_lo < 0 && c.edge_hi < 0) return;
        s->cover[n++] = c;
    }
    for (int up = 0; up < 2; up++) {
        int other;
        double at = fmin(fmax(foot, 0.0), e->length);
        if (!walk(s->cover, n, up, up ? hi : lo, &at, &other)) continue;
        double distance = sqrt(inner * inner + (at - foot) * (at - foot));
        if (distance < best->distance) *best = (nearest){distance, at, candidate->edge, other};
    }
}

static bool is_before(const cspace__candidate *a, const cspace__candidate *b) {
    return a->distance < b->distance || (a->distance <= b->distance && a->edge < b->edge);
}

/// Lets row i of a heap of n, nearest on top, sink to its place.
static void sift(cspace__candidate *heap, int i, int n) {
    const cspace__candidate row = heap[i];
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_before(heap + child + 1, heap + child)) child++;
        if (!is_before(heap + child, &row)) break;
        heap[i] = heap[child];
    }
    heap[i] = row;
}

/// The point of A that is touched when B's centre is at c on the edge.
static void touched(const cspace__sum_edge *e, const double c[2], double p[2]) {
    double at = e->of_a ? (c[1] - e->from[1]) * e->n[0] - (c[0] - e->from[0]) * e->n[1] : 0.0;
    p[0] = e->touch[0] - at * e->n[1];
    p[1] = e->touch[1] + at * e->n[0];
}

void cspace__sum_contact(const double t[2], double d, double at, const cspace__sum_edge *e, const cspace__sum_edge *f,
                         cspace_contact *contact) {
    const double c[2] = {e->from[0] - at * e->n[1], e->from[1] + at * e->n[0]};
    double g[2] = {e->n[0], e->n[1]}, w[2] = {1.0, 0.0}, rate = 0.0, arm = 0.0, det = f ? cross(e->n, f->n) : 0.0;
    double along = (t[1] - c[1]) * e->n[0] - (t[0] - c[0]) * e->n[1];
    bool corner = fabs(along) > EXACT_GAP && fabs(d) > EXACT_GAP;
    if (corner) {
        g[0] = (t[0] - c[0]) / d;
        g[1] = (t[1] - c[1]) / d;
    }
    if (corner && d < 0.0 && fabs(det) > 1e-9) {
        w[0] = cross(g, f->n) / det;
        w[1] = cross(e->n, g) / det;
    }
    for (int i = 0; i < 2; i++) {
        if (w[i] == 0.0) continue;
        const cspace__sum_edge *edge = i ? f : e;
        double p[2];
        touched(edge, c, p);
        arm += w[i] * dot(p, g);
        p[0] -= c[0];
        p[1] -= c[1];
        rate += w[i] * cross(p, w[1] == 0.0 ? g : edge->n);
    }
    contact->d = d;
    contact->d_theta = rate;
    contact->g[0] = g[0];
    contact->g[1] = g[1];
    // the point is half way between where A and where B is touched
    contact->r_a = arm / (w[0] + w[1]) + 0.5 * d;
    contact->r_b = contact->r_a - dot(t, g);
}

bool cspace__exact_depth(const cspace_exact *e, const cspace_pose *pose, const double turn[2], double band,
                         cspace_contact *contact, cspace_exact_scratch *s) {
    const double t[2] = {pose->x, pose->y};
    double reach = fmin(band, fmax(0.0, e->reach - sqrt(dot(t, t)))) * (1.0 + 1e-9) + 4.0 * EXACT_GAP;
    nearest best = {.distance = reach, .edge = -1};
    cspace__parts_turn(&e->part[1], turn, &s->minus_b);
    if (!collect_sums(e, t, reach, band, s)) return false;
    // nearest first: most edges are ruled out by the first few
    int n = collect_candidates(t, reach, s);
    for (int i = n / 2; i-- > 0;) sift(s->candidate, i, n);
    while (n > 0 && s->candidate[0].distance < best.distance) {
        const cspace__candidate next = s->candidate[0];
        s->candidate[0] = s->candidate[--n];
        sift(s->candidate, 0, n);
        try_edge(&next, t, s, &best);
    }
    if (best.edge < 0 || best.distance > band) return false;
    cspace__sum_contact(t, -best.distance, best.at, s->edge + best.edge, best.other < 0 ? NULL : s->edge + best.other,
                        contact);
    return true;
}
