/// Thinnest wall of an outline: what a grain must not pass through in one step.
#include <math.h>

#include "sim_private.h"

// Length of the ray from p along `direction` (unit) to the nearest other edge; infinity if it meets none.
static double ray_length(const core_outline *o, const double p[2], const double direction[2], int own) {
    double nearest = INFINITY;
    for (int ring = 0; ring < o->count_rings; ++ring) {
        const int first = o->ring_start[ring], last = o->ring_start[ring + 1] - 1;
        for (int i = first; i <= last; ++i) {
            if (i == own) continue;
            const double *a = o->xy + 2 * i, *b = o->xy + 2 * (i < last ? i + 1 : first);
            const double e[2] = {b[0] - a[0], b[1] - a[1]}, w[2] = {a[0] - p[0], a[1] - p[1]};
            const double cross = direction[0] * e[1] - direction[1] * e[0];
            if (!(fabs(cross) > 0)) continue;
            const double t = (w[0] * e[1] - w[1] * e[0]) / cross,
                         u = (w[0] * direction[1] - w[1] * direction[0]) / cross;
            if (t > 0 && u >= 0 && u <= 1) nearest = fmin(nearest, t);
        }
    }
    return nearest;
}

double sim_outline_thinnest(const core_outline *o) {
    double thinnest = INFINITY;
    for (int ring = 0; ring < o->count_rings; ++ring) {
        const int first = o->ring_start[ring], last = o->ring_start[ring + 1] - 1;
        for (int i = first; i <= last; ++i) {
            const double *a = o->xy + 2 * i, *b = o->xy + 2 * (i < last ? i + 1 : first);
            const double e[2] = {b[0] - a[0], b[1] - a[1]}, length = sqrt(e[0] * e[0] + e[1] * e[1]);
            // outer rings run counter-clockwise, holes clockwise: the region lies to the left of every edge
            const double middle[2] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
            const double inward[2] = {-e[1] / length, e[0] / length};
            thinnest = fmin(thinnest, ray_length(o, middle, inward, i));
        }
    }
    return thinnest;
}
