/// Exact signed distance to an outline: nearest edge by brute force, sign by the parity of crossings of a horizontal
/// ray.
#include "sdf_private.h"

#include <math.h>

/// Nearest place on the outline found so far.
typedef struct nearest {
    double distance2;
    double offset[2]; // point minus nearest place
    int edge;         // index of the edge's first point
    int edge_end;     // index of its second point
    bool at_vertex;   // the nearest place is the edge's first point
} nearest;

/// Compares one edge a -> b with the best so far; toggles `inside` if a ray to the right crosses it. The edge's end
/// belongs to the next edge.
static void edge_update(const double *xy, int i, int k, double px, double py, nearest *best, bool *inside) {
    const double *a = xy + 2 * i, *b = xy + 2 * k;
    double ax = px - a[0], ay = py - a[1], ex = b[0] - a[0], ey = b[1] - a[1];
    double cross = ex * ay - ey * ax, along = ax * ex + ay * ey, length2 = ex * ex + ey * ey;
    // Half-open in y, so that a ray through a vertex counts it once.
    if ((a[1] <= py) != (b[1] <= py) && (cross > 0) == (b[1] > a[1])) *inside = !*inside;
    if (along <= 0) {
        double d2 = ax * ax + ay * ay;
        if (d2 < best->distance2) *best = (nearest){d2, {ax, ay}, i, k, true};
    } else if (along < length2 && cross * cross < best->distance2 * length2) {
        double s = cross / length2;
        *best = (nearest){cross * s, {-ey * s, ex * s}, i, k, false};
    }
}

/// Unit outward normal of the edge i -> k (rings have the region on their left).
static void edge_normal(const double *xy, int i, int k, double normal[2]) {
    double ex = xy[2 * k] - xy[2 * i], ey = xy[2 * k + 1] - xy[2 * i + 1];
    double length = sqrt(ex * ex + ey * ey);
    normal[0] = length > 0 ? ey / length : 0;
    normal[1] = length > 0 ? -ex / length : 0;
}

/// Gradient of the signed distance at the point of `best`. On the outline itself: the edge's normal, at a vertex the
/// mean of both normals.
static void nearest_gradient(const core_outline *o, const nearest *best, bool inside, double grad[2]) {
    double distance = sqrt(best->distance2);
    if (!best->at_vertex) {
        edge_normal(o->xy, best->edge, best->edge_end, grad);
        return;
    }
    if (distance > 0) {
        double sign = inside ? -1 : 1;
        grad[0] = sign * best->offset[0] / distance;
        grad[1] = sign * best->offset[1] / distance;
        return;
    }
    int ring = 0;
    while (best->edge >= o->ring_start[ring + 1]) ring++;
    int before = best->edge > o->ring_start[ring] ? best->edge - 1 : o->ring_start[ring + 1] - 1;
    double n0[2], n1[2];
    edge_normal(o->xy, before, best->edge, n0);
    edge_normal(o->xy, best->edge, best->edge_end, n1);
    double x = n0[0] + n1[0], y = n0[1] + n1[1], length = sqrt(x * x + y * y);
    grad[0] = length > 0 ? x / length : n1[0];
    grad[1] = length > 0 ? y / length : n1[1];
}

void sdf_outline_distance(const core_outline *o, const double *xy, int n, double *dist, double *grad) {
    for (int p = 0; p < n; p++) {
        double px = xy[2 * p], py = xy[2 * p + 1];
        nearest best = {.distance2 = INFINITY, .edge = -1};
        bool inside = false;
        for (int r = 0; r < o->count_rings; r++) {
            int begin = o->ring_start[r], end = o->ring_start[r + 1];
            for (int i = begin; i < end; i++)
                edge_update(o->xy, i, i + 1 < end ? i + 1 : begin, px, py, &best, &inside);
        }
        // NaN compares with nothing, an infinite point beats nothing: both leave no edge.
        bool found = best.edge >= 0 && isfinite(best.distance2);
        dist[p] = !found ? NAN : inside ? -sqrt(best.distance2) : sqrt(best.distance2);
        if (!grad) continue;
        grad[2 * p] = grad[2 * p + 1] = NAN;
        if (found) nearest_gradient(o, &best, inside, grad + 2 * p);
    }
}
