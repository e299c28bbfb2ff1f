/// Private to libsdf: squares around a shape with the edges nearest to them, and the tables of sdf_sag.c.
#ifndef SDF_NEAR_H
#define SDF_NEAR_H

#include "sdf_private.h"

#define SDF_NEAR_BOX 1.5            // half side of the box, circumradii
#define SDF_NEAR_ROUND (1.0 / 64.0) // circumradii
enum { SDF_NEAR_CELLS = 192, SDF_NEAR_LIST_MAX = 24, SDF_SAG_LEVELS = 5 };

/// An edge of the outline, the region on its left.
typedef struct sdf__near_edge {
    double a[2], e[2], n[2]; // start, end - start, outward unit normal
    double inverse_length2;
    int next;                      // edge that follows in the ring
    bool reflex_start, reflex_end; // the region's angle there is above 180 degrees
} sdf__near_edge;

/// One byte per block of lattice cells: slopes in parts of the largest, on a square root scale.
typedef struct sdf__sag_level {
    int n, block;   // blocks each way; lattice cells along a block's side
    uint8_t *slope; // (n x n)
} sdf__sag_level;

struct sdf_near {
    int count_edges;
    bool complete;         // every square has its list
    sdf__near_edge *edges; // (count_edges)
    int *start;            // (SDF_NEAR_CELLS^2 + 1) of each square's part of the list; an empty one: too many edges
    uint8_t *count;        // (SDF_NEAR_CELLS^2) of those in it that can be nearest to a point of the square
    uint16_t *list;        // behind those: what can be nearest to a point within SDF_NEAR_ROUND of the square
    sdf__sag_level spread, sag[SDF_SAG_LEVELS];
};

double sdf__near_edge_distance2(const sdf__near_edge *e, const double p[2], double *along);
/// The edges that can be nearest to p, 0: none are known; *round: how many there are with those for points within
/// SDF_NEAR_ROUND.
int sdf__near_list(const sdf_near *near, const double p[2], const uint16_t **list, int *round);
double sdf__near_distance(const sdf_near *near, const uint16_t *list, int n, const double p[2], double *grad);
core_status sdf__sag_fill(sdf_near *near, const sdf_grid *grid, core_error *err);
void sdf__sag_clear(sdf_near *near);

#endif
