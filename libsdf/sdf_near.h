/// Private to libsdf: squares around a shape with the edges nearest to them, and the tables of sdf_sag.c.
#ifndef SDF_NEAR_H
#define SDF_NEAR_H

#include "sdf_private.h"

#define SDF_NEAR_BOX 1.5            // half side of the box, circumradii
#define SDF_NEAR_TOUCHING 1e-12     // circumradii: closer to a corner than this a direction has no digits
#define SDF_NEAR_ROUND (1.0 / 64.0) // circumradii
enum { SDF_NEAR_CELLS = 192, SDF_NEAR_LIST_MAX = 24, SDF_SAG_LEVELS = 5 };

/// An edge of the outline, the region on its left.
typedef struct sdf__near_edge {
    double a[2], e[2], n[2]; // start, end - start, outward unit normal
    double inverse_length2;
    int next;                      // edge that follows in the ring
    bool reflex_start, reflex_end; // the region's angle there is above 180 degrees
    double sign[2];                // of the distance where the start, the end is the nearest place: -1 at reflex ones
} sdf__near_edge;

/// One byte per block of lattice cells: slopes in parts of the largest, on a square root scale.
typedef struct sdf__sag_level {
    int n, block;   // blocks each way; lattice cells along a block's side
    uint8_t *slope; // (n x n)
} sdf__sag_level;

/// sdf_grid_distances; scalar and for AVX2: same operations, same bits.
typedef void sdf__near_lanes(const sdf_grid *grid, const double *x, const double *y, double *d, double *gx, double *gy);

struct sdf_near {
    sdf__near_lanes *lanes; // what this machine runs
    int count_edges;
    bool complete;         // every square has its list
    sdf__near_edge *edges; // (count_edges)
    /// (SDF_NEAR_CELLS^2) for each square the number of edges that can be nearest to a point of it (5 bits; 0: too
    /// many), of those that can be nearest to a point within SDF_NEAR_ROUND (5 bits), and where in `list` they begin.
    uint32_t *square;
    uint16_t *list; // edges, of each square the former ones first; squares of the same edges share a part
    sdf__sag_level spread, sag[SDF_SAG_LEVELS];
    uint8_t *convex; // (lattice points) distance to the nearest point that is not convex, lattice steps, rounded down
};

/// Squared distance of p from an edge; *along: place of its foot, 0 at the start, 1 at the end.
static inline double sdf__near_edge_distance2(const sdf__near_edge *e, const double p[2], double *along) {
    double x = p[0] - e->a[0], y = p[1] - e->a[1];
    double t = (x * e->e[0] + y * e->e[1]) * e->inverse_length2;
    *along = t;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    double dx = x - t * e->e[0], dy = y - t * e->e[1];
    return dx * dx + dy * dy;
}
/// The edges that can be nearest to p, 0: none are known; *round: how many there are with those for points within
/// SDF_NEAR_ROUND.
static inline int sdf__near_list(const sdf_near *near, const double p[2], const uint16_t **list, int *round) {
    const double squares = SDF_NEAR_CELLS / (2.0 * SDF_NEAR_BOX);
    double u = (p[0] + SDF_NEAR_BOX) * squares, v = (p[1] + SDF_NEAR_BOX) * squares;
    *round = 0;
    if (!(u >= 0.0 && v >= 0.0 && u < SDF_NEAR_CELLS && v < SDF_NEAR_CELLS)) return 0;
    uint32_t square = near->square[(int)v * SDF_NEAR_CELLS + (int)u];
    *list = near->list + (square >> 10);
    *round = square >> 5 & 31;
    return square & 31;
}
double sdf__near_distance(const sdf_near *near, const uint16_t *list, int n, const double p[2], double *grad);
sdf__near_lanes sdf__near_lanes_scalar, sdf__near_lanes_avx2;
core_status sdf__sag_fill(sdf_near *near, const sdf_grid *grid, core_error *err);
void sdf__sag_clear(sdf_near *near);

#endif
