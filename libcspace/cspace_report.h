/// Private to libcspace: the pictures of a report.
#ifndef CSPACE_REPORT_H
#define CSPACE_REPORT_H

#include "core_buffer.h"
#include "cspace.h"

/// Training loss of both nets over the steps, logarithmic.
void cspace__plot_losses(core_buffer *text, const cspace_map *map);
/// Shares of n values in equal bins of [lo, hi]; values beyond count in the end bins.
void cspace__plot_histogram(core_buffer *text, const char *title, const char *unit, const double *values, int64_t n,
                            double lo, double hi);
/// Distance over t at one theta: error in colours where the exact distance is within .1, zero set of the map on the
/// exact one. MEMORY.
core_status cspace__plot_slice(core_buffer *text, const cspace_map *map, const cspace_exact *exact, double theta,
                               cspace_map_scratch *scratch, cspace_exact_scratch *exact_scratch, core_error *err);

#endif
