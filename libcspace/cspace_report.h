/// Private to libcspace: text that grows, and the pictures of a report.
#ifndef CSPACE_REPORT_H
#define CSPACE_REPORT_H

#include "cspace.h"

/// Text that grows. A failure is kept in `status`; what follows is then left out.
typedef struct cspace__text {
    char *data;
    size_t n, capacity;
    core_status status;
} cspace__text;
/// Appends as printf does, at most 511 bytes a call.
void cspace__text_print(cspace__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Appends bytes in base64.
void cspace__text_base64(cspace__text *text, const unsigned char *bytes, size_t n);

/// Training loss of both nets over the steps, logarithmic.
void cspace__plot_losses(cspace__text *text, const cspace_map *map);
/// Shares of n values in equal bins of [lo, hi]; values beyond count in the end bins.
void cspace__plot_histogram(cspace__text *text, const char *title, const char *unit, const double *values, int64_t n,
                            double lo, double hi);
/// Distance over t at one theta: error in colours where the exact distance is within .1, zero set of the map on the
/// exact one. MEMORY.
core_status cspace__plot_slice(cspace__text *text, const cspace_map *map, const cspace_exact *exact, double theta,
                               cspace_map_scratch *scratch, cspace_exact_scratch *exact_scratch, core_error *err);

#endif
