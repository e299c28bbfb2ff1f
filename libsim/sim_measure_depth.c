// Depth of an overlap: how far the boundary of one outline reaches into the other.
//
//   depth = max( max over x on bd A inside B of dist(x, bd B),  the same with A and B exchanged )
//
// For a corner or a tip in a face and for two faces this is the translation that parts them. The minimum width of the
// intersection would not do: where a bar's end touches both faces of an inner corner the intersection is an L with long
// arms, thin but wide.
#include "sim_measure_private.h"

#include <math.h>

#define TOLERANCE 1e-3 // circumradii: what the search may miss
#define STACK_MAX 32   // halvings of an edge: 2/2^32 is far below the tolerance

// A piece of an edge in the other outline's canonical frame.
typedef struct piece {
    double a[2], b[2];
} piece;

// Depth of a point inside an outline, negative outside.
static double depth_at(const core_outline *o, double x, double y) {
    double distance, point[2] = {x, y};
    sdf_outline_distance(o, point, 1, &distance, NULL);
    return -distance;
}

// Deepest point of an edge if it is deeper than best, else best. Depth changes by no more than the way along the edge,
// so a piece whose middle is shallower than best by more than half its length can be left out.
static double deepest_of_edge(const core_outline *o, piece edge, double best) {
    piece stack[STACK_MAX];
    int count = 1;
    stack[0] = edge;
    while (count > 0) {
        piece p = stack[--count];
        double x = 0.5 * (p.a[0] + p.b[0]), y = 0.5 * (p.a[1] + p.b[1]);
        double half = 0.5 * sqrt((p.b[0] - p.a[0]) * (p.b[0] - p.a[0]) + (p.b[1] - p.a[1]) * (p.b[1] - p.a[1]));
        double depth = depth_at(o, x, y);
        best = fmax(best, depth);
        if (!(depth + half > best + TOLERANCE) || count + 2 > STACK_MAX) continue;
        stack[count++] = (piece){{p.a[0], p.a[1]}, {x, y}};
        stack[count++] = (piece){{x, y}, {p.b[0], p.b[1]}};
    }
    return best;
}

// Depth to which the boundary of a reaches into b, in m; 0 if it does not.
static double reach_into(const sdf_posed *a, const sdf_posed *b) {
    double sine, cosine, best = 0, ratio = a->scale / b->scale;
    core_sincos(a->angle - b->angle, &sine, &cosine);
    double sine_b, cosine_b, dx = (a->x - b->x) / b->scale, dy = (a->y - b->y) / b->scale;
    core_sincos(b->angle, &sine_b, &cosine_b);
    double shift[2] = {cosine_b * dx + sine_b * dy, -sine_b * dx + cosine_b * dy};
    for (int pass = 0; pass < 2; pass++) // corners first: they are often the deepest, and edges are then soon done
        for (int ring = 0; ring < a->outline->count_rings; ring++) {
            int first = a->outline->ring_start[ring], end = a->outline->ring_start[ring + 1];
            piece edge = {{0, 0}, {0, 0}};
            for (int k = first - 1; k < end; k++) {
                const double *v = a->outline->xy + 2 * (k < first ? end - 1 : k);
                edge.a[0] = edge.b[0], edge.a[1] = edge.b[1];
                edge.b[0] = shift[0] + ratio * (cosine * v[0] - sine * v[1]);
                edge.b[1] = shift[1] + ratio * (sine * v[0] + cosine * v[1]);
                if (k < first) continue;
                best = pass == 0 ? fmax(best, depth_at(b->outline, edge.b[0], edge.b[1]))
                                 : deepest_of_edge(b->outline, edge, best);
            }
        }
    return best * b->scale;
}

double sim_measure_depth(const sdf_posed *a, const sdf_posed *b) {
    return fmax(reach_into(a, b), reach_into(b, a));
}
