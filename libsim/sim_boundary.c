/// Half-planes: the lowest point of a grain along the plane's normal, from the support function of its convex hull,
/// averaged over a small range of angles in closed form. README.md, section 4.
#include "sim_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- hull

static int compare_points(const void *p, const void *q) {
    const double *a = p, *b = q;
    if (a[0] < b[0]) return -1;
    if (a[0] > b[0]) return 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

// Twice the signed area of the triangle o, a, b.
static double turn(const double *o, const double *a, const double *b) {
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

// Convex hull by monotone chains: `points` (n x 2) are sorted in place, `hull` has room for n + 1 points.
// Counter-clockwise, no collinear points.
static int convex_hull(double *points, int n, double *hull) {
    qsort(points, (size_t)n, 2 * sizeof *points, compare_points);
    int m = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const int base = m;
        for (int s = 0; s < n; ++s) {
            const double *p = points + 2 * (pass == 0 ? s : n - 1 - s);
            while (m >= base + 2 && turn(hull + 2 * (m - 2), hull + 2 * (m - 1), p) <= 0) --m;
            memcpy(hull + 2 * m++, p, 2 * sizeof *p);
        }
        --m; // the last point of a chain is the first of the next
    }
    return m;
}

// Angle in [0, 2 pi).
static double positive_angle(double a) {
    const double wrapped = core_wrap_angle(a);
    return wrapped < 0 ? wrapped + 2 * CORE_PI : wrapped;
}

core_status sim_support_create(const core_outline *canonical, double radius, sim_support *support, core_error *err) {
    core_status status = CORE_OK;
    sim_support made = {0};
    double *points = NULL, *hull = NULL;
    const int n = canonical->count_rings > 0 ? canonical->ring_start[1] : 0;
    CORE_NEW_DONE(points, 2 * (size_t)n);
    CORE_NEW_DONE(hull, 2 * ((size_t)n + 1));
    for (int i = 0; i < 2 * n; ++i) points[i] = radius * canonical->xy[i];
    made.n = n > 2 ? convex_hull(points, n, hull) : 0;
    CORE_CHECK_DONE(made.n >= 3, CORE_SHAPE, "convex hull: found %d points, expected at least 3", made.n);
    CORE_NEW_DONE(made.xy, 2 * (size_t)made.n);
    CORE_NEW_DONE(made.from, (size_t)made.n);
    // Vertex k takes over at the outward normal of the edge that ends in it; start with the smallest such angle.
    int first = 0;
    double smallest = INFINITY;
    for (int k = 0; k < made.n; ++k) {
        const double *p = hull + 2 * ((k + made.n - 1) % made.n), *q = hull + 2 * k;
        points[k] = positive_angle(core_atan2(-(q[0] - p[0]), q[1] - p[1]));
        if (points[k] < smallest) {
            smallest = points[k];
            first = k;
        }
    }
    for (int k = 0; k < made.n; ++k) {
        const int from = (first + k) % made.n;
        memcpy(made.xy + 2 * k, hull + 2 * from, 2 * sizeof *hull);
        made.from[k] = points[from];
    }
    *support = made;
    made = (sim_support){0};
done:
    sim_support_clear(&made);
    core_free(points);
    core_free(hull);
    return status;
}

void sim_support_clear(sim_support *support) {
    if (!support) return;
    core_free(support->xy);
    core_free(support->from);
    *support = (sim_support){0};
}

// ---------------------------------------------------------------------------------------------- support function

// Vertex that is extreme in direction beta in [0, 2 pi).
static int active_vertex(const sim_support *s, double beta) {
    int low = -1, high = s->n; // from[low] <= beta < from[high]
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (s->from[middle] <= beta) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low < 0 ? s->n - 1 : low;
}

// Adds weight x (-v.u(beta)) and weight x its derivative as the body turns (beta falls).
static void add_piece(const double v[2], double beta, double weight, double *h, double *dh) {
    double sine, cosine;
    core_sincos(beta, &sine, &cosine);
    *h -= weight * (v[0] * cosine + v[1] * sine);
    *dh += weight * (v[1] * cosine - v[0] * sine);
}

void sim_support_evaluate(const sim_support *support, double beta, double width, double *h, double *dh) {
    *h = *dh = 0;
    const double start = positive_angle(beta - width);
    int k = active_vertex(support, start);
    if (!(width > 0)) {
        add_piece(support->xy + 2 * k, start, 1, h, dh);
        return;
    }
    // Integral of a sinusoid over an interval: its value in the middle times 2 sin(half width).
    const double end = start + 2 * width;
    double low = start, lap = k == support->n - 1 && start < support->from[0] ? -2 * CORE_PI : 0;
    while (low < end) {
        const int next = (k + 1) % support->n;
        if (next == 0) lap += 2 * CORE_PI;
        const double high = fmin(end, support->from[next] + lap);
        if (high > low) {
            double sine, cosine;
            core_sincos(0.5 * (high - low), &sine, &cosine);
            add_piece(support->xy + 2 * k, 0.5 * (low + high), sine / width, h, dh);
            low = high;
        }
        k = next;
    }
}

// ---------------------------------------------------------------------------------------------- planes

void sim_plane_contact(const sim_plane *plane, const double origin[2], const sim_support *support, const double x[2],
                       double theta, double width, sim_contact *contact) {
    double h, dh;
    sim_support_evaluate(support, plane->angle - theta, width, &h, &dh);
    const double *n = plane->normal, d = n[0] * x[0] + n[1] * x[1] - plane->offset + h;
    // The contact point lies midway between the plane and the lowest point.
    const double r_b = h - 0.5 * d;
    *contact = (sim_contact){.d = d,
                             .g = {n[0], n[1]},
                             .d_theta_b = dh,
                             .r_a = r_b + (x[0] - origin[0]) * n[0] + (x[1] - origin[1]) * n[1],
                             .r_b = r_b};
}
