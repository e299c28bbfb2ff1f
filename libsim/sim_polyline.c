/// Segments of wall polylines: everything within half the thickness of the segment is wall, so its distance to a grain
/// is that of outline and segment less half the thickness, exact from either side and round its ends. One contact a
/// segment; smoothed over a small range of angles. README.md, section 4.
#include "sim_private.h"

#include <math.h>

// A segment seen from a grain: body frame, m.
typedef struct view {
    double from[2], along[2], length; // along: unit
    double half, width;
    const double *cos_sin;
    double bound; // least upper bound of a candidate over the range of angles
    int n;
    sim_candidate rows[SIM_CANDIDATES_MAX];
} view;

// Notes the pair of a point of the grain and a point of the segment, both in the body frame, if it can be the nearest.
static void add_pair(view *s, const double grain[2], const double segment[2]) {
    const double e[2] = {grain[0] - segment[0], grain[1] - segment[1]}, r = sqrt(e[0] * e[0] + e[1] * e[1]);
    if (!(r > 0)) return; // outline and segment touch: their neighbours have a direction
    const double g[2] = {e[0] / r, e[1] / r};
    // as the grain turns its point moves along t_hat x arm
    const double a = r - s->half, b = grain[0] * g[1] - grain[1] * g[0];
    if (a - fabs(b) * s->width > s->bound) return;
    s->bound = fmin(s->bound, a + fabs(b) * s->width);
    int kept = 0;
    for (int i = 0; i < s->n; ++i) {
        if (!(s->rows[i].a - fabs(s->rows[i].b) * s->width > s->bound)) s->rows[kept++] = s->rows[i];
    }
    s->n = kept;
    if (s->n == SIM_CANDIDATES_MAX) return; // as many points at one distance are a circle: they all say the same
    const double c = s->cos_sin[0], w = s->cos_sin[1];
    const double p[2] = {grain[0] - 0.5 * a * g[0], grain[1] - 0.5 * a * g[1]}; // midway between grain and surface
    s->rows[s->n++] = (sim_candidate){.a = a,
                                      .b = b,
                                      .g = {c * g[0] - w * g[1], w * g[0] + c * g[1]},
                                      .p = {c * p[0] - w * p[1], w * p[0] + c * p[1]}};
}

// An outline point and the point of the segment nearest to it.
static void add_vertex(view *s, const double v[2]) {
    const double t = (v[0] - s->from[0]) * s->along[0] + (v[1] - s->from[1]) * s->along[1];
    const double at = fmin(fmax(t, 0), s->length);
    const double nearest[2] = {s->from[0] + at * s->along[0], s->from[1] + at * s->along[1]};
    add_pair(s, v, nearest);
}

// An end of the segment and the outline edge p q, where it projects inside the edge.
static void add_edge(view *s, const double end[2], const double p[2], const double q[2]) {
    const double e[2] = {q[0] - p[0], q[1] - p[1]}, length2 = e[0] * e[0] + e[1] * e[1];
    const double t = (end[0] - p[0]) * e[0] + (end[1] - p[1]) * e[1];
    if (!(t > 0 && t < length2)) return;
    const double nearest[2] = {p[0] + t / length2 * e[0], p[1] + t / length2 * e[1]};
    add_pair(s, nearest, end);
}

// World to body frame of a grain.
static void to_body(const double x[2], const double cos_sin[2], const double world[2], double body[2]) {
    const double dx = world[0] - x[0], dy = world[1] - x[1];
    body[0] = cos_sin[0] * dx + cos_sin[1] * dy;
    body[1] = cos_sin[0] * dy - cos_sin[1] * dx;
}

void sim_segment_contact(const double from[2], const double to[2], double half, const double origin[2],
                         const core_outline *outline, double scale, const double x[2], const double cos_sin[2],
                         double width, sim_contact *contact) {
    view s = {.half = half, .width = width, .cos_sin = cos_sin, .bound = INFINITY};
    double end[2];
    to_body(x, cos_sin, from, s.from);
    to_body(x, cos_sin, to, end);
    const double along[2] = {end[0] - s.from[0], end[1] - s.from[1]};
    s.length = sqrt(along[0] * along[0] + along[1] * along[1]);
    for (int k = 0; k < 2; ++k) s.along[k] = along[k] / s.length;
    for (int ring = 0; ring < outline->count_rings; ++ring) {
        const int first = outline->ring_start[ring], last = outline->ring_start[ring + 1] - 1;
        double p[2] = {scale * outline->xy[2 * last], scale * outline->xy[2 * last + 1]};
        for (int i = first; i <= last; ++i) {
            const double q[2] = {scale * outline->xy[2 * i], scale * outline->xy[2 * i + 1]};
            add_vertex(&s, q);
            add_edge(&s, s.from, p, q);
            add_edge(&s, end, p, q);
            p[0] = q[0];
            p[1] = q[1];
        }
    }
    const double offset[2] = {x[0] - origin[0], x[1] - origin[1]};
    sim_candidates_average(s.rows, s.n, width, offset, contact);
}
