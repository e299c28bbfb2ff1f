/// Private to libcspace: differences between two sets of contacts, gathered row by row, and their statistics.
#ifndef CSPACE_ERROR_H
#define CSPACE_ERROR_H

#include "cspace.h"

/// Differences of up to `capacity` rows. Owns its arrays.
typedef struct cspace__errors {
    int64_t capacity, n, n_normal, n_sign, n_sign_wrong;
    double *distance, *normal, *arm; // (capacity), (capacity), (2 capacity)
    double bias_sum, slope_sum;
} cspace__errors;
/// MEMORY.
core_status cspace__errors_create(int64_t capacity, cspace__errors *errors, core_error *err);
void cspace__errors_clear(cspace__errors *errors);
/// No rows, the same room.
void cspace__errors_reset(cspace__errors *errors);
/// One row: what is right, and what was found instead.
void cspace__errors_add(cspace__errors *errors, const cspace_contact *label, const cspace_contact *found);
/// Statistics of the rows gathered; all zero without rows. Sorts the arrays.
void cspace__errors_summarise(cspace__errors *errors, cspace_error_stats *stats);

/// Mean, and nearest-rank quantile of sorted numbers; 0 if there are none.
double cspace__mean(const double *x, int64_t n);
double cspace__quantile(const double *sorted, int64_t n, double q);
/// Ascending order of doubles, for qsort.
int cspace__ascending(const void *a, const void *b);
/// Angle from u to v in degrees, in (-180, 180]; 0 if one of them vanishes.
double cspace__angle(const double u[2], const double v[2]);

/// What cspace_statement_measure needs of the seams (cspace_statement_seams.c): walks along the map's near poses,
/// takes the jumps at every seam it meets and fills jump and seam of the statement. exact: NULL if there is none.
core_status cspace__seams_measure(const cspace_map *map, const cspace_exact *exact, int64_t n, const cspace_pose *poses,
                                  const cspace_contact *contacts, cspace_statement *statement, core_error *err);
/// The exact back end of the map's pair with its scratch; both stay NULL if it refuses the outlines. MEMORY.
core_status cspace__exact_open(const cspace_map *map, const sdf_shape *a, const sdf_shape *b, cspace_exact **exact,
                               cspace_exact_scratch **scratch, core_error *err);
/// Band of a distance (cspace_band_edges), -1: none.
int cspace__band(double d);

#endif
