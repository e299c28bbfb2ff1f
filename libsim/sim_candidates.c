/// Distances that are a minimum over a few candidates, averaged over a small range of angles. Over a thousandth of a
/// radian each candidate's distance is a straight line in the angle, so the minimum is the lower envelope of lines and
/// its mean has a closed form. README.md, section 4.
#include "sim_private.h"

#include <math.h>

// Index of the lowest line just right of t.
static int lowest(const sim_candidate *rows, int n, double t) {
    int best = 0;
    for (int i = 1; i < n; ++i) {
        const double a = rows[i].a + rows[i].b * t, b = rows[best].a + rows[best].b * t;
        if (a < b || (a <= b && rows[i].b < rows[best].b)) best = i;
    }
    return best;
}

// Where the line `now` is undercut, at most `end`; *next: by which.
static double next_crossing(const sim_candidate *rows, int n, int now, double end, int *next) {
    double crossing = end;
    *next = now;
    for (int i = 0; i < n; ++i) {
        if (!(rows[i].b < rows[now].b)) continue; // the envelope is concave: slopes fall
        const double t = (rows[i].a - rows[now].a) / (rows[now].b - rows[i].b);
        if (t < crossing || (t <= crossing && *next != now && rows[i].b < rows[*next].b)) {
            crossing = t;
            *next = i;
        }
    }
    return crossing;
}

// Keeps the candidates that can be lowest somewhere in the interval.
static int keep_low(sim_candidate *rows, int n, double width) {
    double bound = INFINITY;
    int kept = 0;
    for (int i = 0; i < n; ++i) bound = fmin(bound, rows[i].a + fabs(rows[i].b) * width);
    for (int i = 0; i < n; ++i) {
        if (!(rows[i].a - fabs(rows[i].b) * width > bound)) rows[kept++] = rows[i];
    }
    return kept;
}

void sim_candidates_average(sim_candidate *rows, int n, double width, const double offset[2], sim_contact *contact) {
    n = keep_low(rows, n, width);
    double d = 0, rate = 0, g[2] = {0, 0}, p[2] = {0, 0}, t = -width;
    int now = lowest(rows, n, t);
    for (bool last = false; !last;) {
        int next = now;
        double end = width > 0 ? fmax(t, next_crossing(rows, n, now, width, &next)) : t;
        last = next == now || !(width > 0);
        const double share = width > 0 ? 0.5 * (end - t) / width : 1;
        const sim_candidate *c = &rows[now];
        d += share * (c->a + c->b * 0.5 * (t + end));
        rate += share * c->b;
        for (int k = 0; k < 2; ++k) {
            g[k] += share * c->g[k];
            p[k] += share * c->p[k];
        }
        t = end;
        now = next;
    }
    const double slope = sqrt(g[0] * g[0] + g[1] * g[1]), inverse = slope > 0 ? 1 / slope : 0;
    const double r_b = (p[0] * g[0] + p[1] * g[1]) * inverse;
    *contact = (sim_contact){.d = d,
                             .g = {g[0], g[1]},
                             .d_theta_b = rate,
                             .r_a = r_b + (offset[0] * g[0] + offset[1] * g[1]) * inverse,
                             .r_b = r_b};
}
