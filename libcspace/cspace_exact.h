/// Private to libcspace: convex parts of an outline, and what a query of the exact back end keeps.
#ifndef CSPACE_EXACT_H
#define CSPACE_EXACT_H

#include "cspace.h"

#define EXACT_GAP 1e-12 // units of L: cracks narrower than this are none, nor are overlaps

/// Convex polygons that cover a region; counter-clockwise. Owns its arrays. Row k is a vertex and the edge that leaves
/// it.
typedef struct cspace__parts {
    int count, large; // the first `large` hold nothing of their own; their sums hide much of the others' sums
    int *start;       // (count + 1)
    double *xy;       // (vertices x 2)
    double *edge;     // (vertices x 2) to the next vertex of the part
    double *normal;   // (vertices x 2) unit, outward
    double *circle;   // (count x 3) centre and radius of a circle around each part
} cspace__parts;
/// Ear clipping (holes bridged first), then diagonals are dropped while parts stay convex. SHAPE: no ear left, which
/// valid outlines do not show. Cost O(n^3) in the vertices.
core_status cspace__parts_create(const core_outline *outline, double scale, cspace__parts *parts, core_error *err);
/// Grows parts over each other and drops those that lie within another, if the sums get fewer edges by it; adds large
/// ones to many small ones.
core_status cspace__parts_cover(const core_outline *outline, double scale, cspace__parts *parts, core_error *err);
/// Room for so many parts and vertices; the next part, counter-clockwise (n x 2), with its edges, normals and circle.
core_status cspace__parts_allocate(size_t count, size_t vertices, cspace__parts *parts, core_error *err);
void cspace__parts_add(cspace__parts *parts, const double *corners, int n);
/// Room for as many parts and vertices as there are in `like`.
core_status cspace__parts_room(const cspace__parts *like, cspace__parts *parts, core_error *err);
void cspace__parts_clear(cspace__parts *parts);

/// Edges of an outline, in blocks of EXACT_BLOCK neighbours with a circle around each.
enum { EXACT_BLOCK = 8 };
typedef struct cspace__edges {
    int n, blocks;
    double *from, *to; // (n x 2)
    double *circle;    // (n x 3) centre, radius
    double *around;    // (blocks x 3)
} cspace__edges;

/// One edge of a Minkowski sum: a vertex of one part slides along an edge of the other.
typedef struct cspace__sum_edge {
    double n[2], h; // outward normal, n.x = h
    double from[2], length;
    double touch[2]; // the point of A that is touched when B's centre is at `from`
    bool of_a;       // the edge is A's: the point touched moves along it as B slides
} cspace__sum_edge;
/// Sum of a part of A and one of -R(theta)B.
typedef struct cspace__sum {
    int first, count; // of its edges
} cspace__sum;
/// Stretch of an edge inside one sum, by length from its start.
typedef struct cspace__cover {
    double lo, hi;
    int edge_lo, edge_hi; // edges of that sum that end it, -1: the window does
} cspace__cover;
/// An edge that may hold the nearest boundary point, and its distance.
typedef struct cspace__candidate {
    double distance;
    int edge, sum;
} cspace__candidate;

struct cspace_exact {
    cspace__parts part[2];
    cspace__edges edge[2];
    double reach, reach_b;  // R_A + R_B, R_B
    size_t sums, sum_edges; // of all pairs of parts
};

struct cspace_exact_scratch {
    cspace__edges b;       // B's outline in A's frame
    cspace__parts minus_b; // parts of -R(theta)B
    cspace__sum *sum;
    cspace__sum_edge *edge;
    cspace__cover *cover;
    cspace__candidate *candidate;
    int sums;
};

/// Parts of -R(theta)B from those of B; turn: cos, sin.
void cspace__parts_turn(const cspace__parts *from, const double turn[2], cspace__parts *to);
/// Edges of the sum of part i of A and part j of -R(theta)B, merged by angle. Returns their number.
int cspace__sum_merge(const cspace__parts *a, int i, const cspace__parts *b, int j, cspace__sum_edge *edge);
/// Cuts [lo, hi] of an edge down to what lies strictly inside a sum; false if nothing does.
bool cspace__sum_clip(const cspace__sum_edge *e, const cspace__sum *sum, const cspace__sum_edge *edges,
                      cspace__cover *cover);
/// The contact whose nearest boundary point lies at `at` on edge e. Where edges e and f cross (f not NULL) two contacts
/// share the gradient, g = sum w_i n_i: rates with B's angle add up with these weights, the moment arms are their mean.
void cspace__sum_contact(const double t[2], double d, double at, const cspace__sum_edge *e, const cspace__sum_edge *f,
                         cspace_contact *contact);
/// The contact of overlapping regions; false if the depth exceeds band.
bool cspace__exact_depth(const cspace_exact *e, const cspace_pose *pose, const double turn[2], double band,
                         cspace_contact *contact, cspace_exact_scratch *s);

#endif
