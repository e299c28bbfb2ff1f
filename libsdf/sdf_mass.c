/// Mass properties of polygons at unit density, by Green's theorem. With c = a x b over the directed edges a -> b:
/// area = 1/2 sum c, first moments = 1/6 sum (a + b) c, polar second moment = 1/12 sum (a.a + a.b + b.b) c.
/// Two passes: centroid about the middle of the box, then the second moment about that centroid, so that a polygon far
/// from the origin loses no digits.
#include "sdf_private.h"

#include <math.h>

/// Smallest area accepted, relative to the square of the extent.
#define MASS_AREA_MIN 1e-12
/// Extents outside are refused: the second moment (length^4) must stay representable.
#define MASS_EXTENT_MIN 1e-60
#define MASS_EXTENT_MAX 1e60

/// Moments of a region about some origin.
typedef struct moments {
    double area, first[2], second;
} moments;

/// Moments of one ring about `origin`, lengths divided by `unit`; positive whatever its orientation.
static moments ring_moments(const double *xy, int n, const double origin[2], double unit) {
    moments m = {0};
    double ax = (xy[2 * (n - 1)] - origin[0]) / unit, ay = (xy[2 * (n - 1) + 1] - origin[1]) / unit;
    for (int i = 0; i < n; i++) {
        double bx = (xy[2 * i] - origin[0]) / unit, by = (xy[2 * i + 1] - origin[1]) / unit;
        double c = ax * by - ay * bx;
        m.area += c / 2;
        m.first[0] += (ax + bx) * c / 6;
        m.first[1] += (ay + by) * c / 6;
        m.second += (ax * ax + ay * ay + ax * bx + ay * by + bx * bx + by * by) * c / 12;
        ax = bx;
        ay = by;
    }
    double sign = m.area < 0 ? -1 : 1;
    return (moments){sign * m.area, {sign * m.first[0], sign * m.first[1]}, sign * m.second};
}

/// Outer ring minus holes.
static moments region_moments(const core_outline *o, const double origin[2], double unit) {
    moments sum = {0};
    for (int r = 0; r < o->count_rings; r++) {
        int begin = o->ring_start[r];
        moments m = ring_moments(o->xy + 2 * begin, o->ring_start[r + 1] - begin, origin, unit);
        double sign = r == 0 ? 1 : -1;
        sum.area += sign * m.area;
        sum.first[0] += sign * m.first[0];
        sum.first[1] += sign * m.first[1];
        sum.second += sign * m.second;
    }
    return sum;
}

double sdf__ring_area2(const double *xy, int n) {
    double sum = 0;
    for (int i = 1; i + 1 < n; i++)
        sum += (xy[2 * i] - xy[0]) * (xy[2 * i + 3] - xy[1]) - (xy[2 * i + 1] - xy[1]) * (xy[2 * i + 2] - xy[0]);
    return sum;
}

core_status sdf_outline_mass(const core_outline *o, sdf_mass *mass, core_error *err) {
    CORE_CHECK(o && mass, CORE_ARG, "sdf_outline_mass: null pointer");
    int n = core_outline_count(o);
    CORE_CHECK(n >= 3, CORE_SHAPE, "outline of %d points, expected 3 or more", n);
    double low[2] = {o->xy[0], o->xy[1]}, high[2] = {o->xy[0], o->xy[1]};
    for (int i = 0; i < 2 * n; i++) {
        CORE_CHECK(isfinite(o->xy[i]), CORE_NONFINITE, "point %d of the outline is not finite", i / 2);
        low[i % 2] = fmin(low[i % 2], o->xy[i]);
        high[i % 2] = fmax(high[i % 2], o->xy[i]);
    }
    double unit = fmax(high[0] - low[0], high[1] - low[1]);
    CORE_CHECK(unit >= MASS_EXTENT_MIN && unit <= MASS_EXTENT_MAX, CORE_SHAPE,
               "extent %g of the outline, expected %g .. %g", unit, MASS_EXTENT_MIN, MASS_EXTENT_MAX);

    double middle[2] = {low[0] / 2 + high[0] / 2, low[1] / 2 + high[1] / 2};
    moments m = region_moments(o, middle, unit);
    CORE_CHECK(m.area > MASS_AREA_MIN, CORE_SHAPE, "area %g of an outline of extent %g: nothing is enclosed",
               m.area * unit * unit, unit);
    double offset[2] = {m.first[0] / m.area * unit, m.first[1] / m.area * unit};
    double centroid[2] = {middle[0] + offset[0], middle[1] + offset[1]};
    moments c = region_moments(o, centroid, unit);

    double radius2 = 0;
    for (int i = 0; i < n; i++) {
        double x = (o->xy[2 * i] - centroid[0]) / unit, y = (o->xy[2 * i + 1] - centroid[1]) / unit;
        radius2 = fmax(radius2, x * x + y * y);
    }
    // What rounding left of the first moment is taken out by the parallel-axis theorem.
    double rest2 = (c.first[0] * c.first[0] + c.first[1] * c.first[1]) / c.area;
    *mass = (sdf_mass){.area = c.area * unit * unit,
                       .centroid = {centroid[0], centroid[1]},
                       .second_moment = (c.second - rest2) * unit * unit * unit * unit,
                       .circumradius = sqrt(radius2) * unit};
    return CORE_OK;
}
