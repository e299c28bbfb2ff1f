/// What the files of libsdf share among themselves; not for other libraries.
#ifndef SDF_PRIVATE_H
#define SDF_PRIVATE_H

#include "sdf.h"

/// Refuses what GEOS would accept, overlook or fail on: empty and binary text, text behind the geometry, brackets that
/// do not match or nest too deeply, NaN and infinities (NONFINITE), GeoJSON positions without numbers. text[n] must be
/// zero.
core_status sdf__text_check(const char *text, size_t n, bool geojson, core_error *err);

/// WKT or GeoJSON text to one polygon in the unit of the file: each part checked, overlapping parts united.
core_status sdf__geos_read(const char *text, bool geojson, core_outline *drawn, core_error *err);
/// SHAPE unless the rings bound one valid polygon; the message has GEOS's reason and the place.
core_status sdf__geos_check(const core_outline *o, core_error *err);
/// Douglas-Peucker with the topology kept; tolerance in the unit of the outline.
core_status sdf__geos_simplify(const core_outline *o, double tolerance, core_outline *simple, core_error *err);

/// Copies `drawn` without duplicate and collinear points, oriented, rings in a fixed order and starting at a fixed
/// point, scaled to circumradius 1 about its centroid. SHAPE, NONFINITE, MEMORY.
core_status sdf__outline_canonical(const core_outline *drawn, core_outline *canonical, sdf_mass *drawn_mass,
                                   core_error *err);
/// Twice the signed area of a ring (n x 2), relative to its first point.
double sdf__ring_area2(const double *xy, int n);

/// How far a pixel is from the limit between inside and outside: odd, negative inside.
typedef struct sdf__level {
    int16_t level; // by everything
    int16_t clear; // by its transparency alone
} sdf__level;

/// Levels of an image.
typedef struct sdf__levels {
    int width, height;
    sdf__level *pixels; // ((height + 2) x (width + 2)) row-major, row 0 on top, one outside pixel around
} sdf__levels;
core_status sdf__levels_from_png(const unsigned char *data, size_t n, const sdf_read_def *def, sdf__levels *levels,
                                 core_error *err);
void sdf__levels_clear(sdf__levels *levels);
/// Zero contour of the levels as one outline in pixels, y up, origin at the lower left corner of the image. SHAPE:
/// nothing inside, nothing outside, several islands (areas named).
core_status sdf__contour(const sdf__levels *levels, core_outline *drawn, core_error *err);

#endif
