/// The least value of a few planes' maximum near a point, by its dual: maximise sum u_i value_i - reach/2 |sum u_i
/// g_i|^2 over u >= 0, sum u = 1 (proximal bundle step; Lemarechal).
#include "cspace_planes.h"

#include <math.h>

/// Keeps a subset if its dual value is the best so far.
static void offer(cspace__mix *best, const cspace__plane *planes, double reach, int n, const int *index,
                  const double *u) {
    double value = 0.0, g[2] = {0.0, 0.0};
    for (int k = 0; k < n; k++) {
        const cspace__plane *p = planes + index[k];
        value += u[k] * p->value;
        g[0] += u[k] * p->g[0];
        g[1] += u[k] * p->g[1];
    }
    value -= 0.5 * reach * (g[0] * g[0] + g[1] * g[1]);
    if (best->n > 0 && value <= best->dual) return;
    *best = (cspace__mix){.dual = value, .slope = {g[0], g[1]}, .n = n};
    for (int k = 0; k < n; k++) {
        best->index[k] = index[k];
        best->u[k] = u[k];
    }
}

/// Stationary multipliers of two planes.
static void offer_two(cspace__mix *best, const cspace__plane *planes, double reach, int i, int j) {
    const cspace__plane *p = planes + i, *q = planes + j;
    double e[2] = {p->g[0] - q->g[0], p->g[1] - q->g[1]}, e2 = e[0] * e[0] + e[1] * e[1];
    if (e2 < 1e-6) return;
    double u = ((p->value - q->value) / reach - (q->g[0] * e[0] + q->g[1] * e[1])) / e2;
    if (u > 0.0 && u < 1.0) offer(best, planes, reach, 2, (const int[]){i, j}, (const double[]){u, 1.0 - u});
}

/// Stationary multipliers of three planes: the slope w = sum u g from (g_i - g_k).w = (value_i - value_k)/reach, then u
/// from w.
static void offer_three(cspace__mix *best, const cspace__plane *planes, double reach, int i, int j, int k) {
    const cspace__plane *p = planes + i, *q = planes + j, *r = planes + k;
    double e[2] = {p->g[0] - r->g[0], p->g[1] - r->g[1]}, h[2] = {q->g[0] - r->g[0], q->g[1] - r->g[1]};
    double det = e[0] * h[1] - e[1] * h[0];
    if (fabs(det) < 1e-4) return;
    double s = (p->value - r->value) / reach, t = (q->value - r->value) / reach;
    double w[2] = {(s * h[1] - t * e[1]) / det - r->g[0], (t * e[0] - s * h[0]) / det - r->g[1]};
    double u = (w[0] * h[1] - w[1] * h[0]) / det, v = (e[0] * w[1] - e[1] * w[0]) / det;
    if (u > 0.0 && v > 0.0 && u + v < 1.0)
        offer(best, planes, reach, 3, (const int[]){i, j, k}, (const double[]){u, v, 1.0 - u - v});
}

void cspace__planes_mix(const cspace__plane *planes, int n, double reach, cspace__mix *best) {
    best->n = 0;
    for (int i = 0; i < n; i++) {
        offer(best, planes, reach, 1, &i, (const double[]){1.0});
        for (int j = i + 1; j < n; j++) {
            offer_two(best, planes, reach, i, j);
            for (int k = j + 1; k < n; k++) offer_three(best, planes, reach, i, j, k);
        }
    }
}
