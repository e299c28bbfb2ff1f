/// How thin a shape is, and what resolution of its grid that asks for. A distance grid does not see what is thinner
/// than a cell, and blurs what is thinner than a few.
#include "sdf_private.h"

#include <math.h>
#include <stdio.h>

/// Thinnest that is looked for, widest wall and widest gap, circumradii.
#define THICKNESS_MIN 4e-4
#define THICKNESS_WALL_MAX 2.1
#define THICKNESS_GAP_MAX 2.1
/// A part that a disc leaves out counts if its area, divided by the disc's diameter, is above: circumradii, and
/// diameters of the disc. The disc leaves out of a corner of angle b, divided by its diameter squared,
/// (cot(b/2) - (pi - b)/2)/4: 0.05 at 90 degrees, 0.17 at 60 degrees, 0.6 at 30 degrees.
#define THICKNESS_REACH 0.05
#define THICKNESS_REACH_DISCS 0.6
/// From one disc to the next.
#define THICKNESS_STEP 1.5
/// Width of the last interval; offset outlines themselves are true to 1 %.
#define THICKNESS_ACCURACY 0.002
/// Cells across the thinnest feature: refused below, warned about below, aimed at.
#define RESOLUTION_CELLS_REFUSED 1.0
#define RESOLUTION_CELLS_WARNED 3.0
#define RESOLUTION_CELLS_AUTO 6.0
/// Range of automatic resolutions, and what the resolution that would do is a multiple of.
#define RESOLUTION_AUTO_MIN 256
#define RESOLUTION_AUTO_MAX 1024
#define RESOLUTION_STEP 16
/// Largest resolution of a grid.
#define RESOLUTION_MAX 4096
/// What is thinner than so many pixels of an image may be its noise.
#define NOISE_PIXELS 6.0

static core_status is_thin(const core_outline *o, double width, bool gap, bool *thin, core_error *err) {
    double reach = fmax(THICKNESS_REACH, THICKNESS_REACH_DISCS * width);
    return sdf__geos_is_thin(o, width, reach * width, gap, thin, err);
}

/// Enlarges the disc until it gets stuck, then halves the interval. The steps are small: a slot that is hardly deeper
/// than wide is nothing for a disc much wider than it.
static core_status thinnest(const core_outline *o, bool gap, double widest, double *result, core_error *err) {
    double low = THICKNESS_MIN, high = low;
    bool thin = false;
    for (;;) {
        CORE_TRY(is_thin(o, high, gap, &thin, err));
        if (thin || high >= widest) break;
        low = high;
        high = fmin(THICKNESS_STEP * high, widest);
    }
    if (!thin) {
        *result = INFINITY;
        return CORE_OK;
    }
    while (high > low * (1 + THICKNESS_ACCURACY)) {
        double middle = sqrt(low * high);
        CORE_TRY(is_thin(o, middle, gap, &thin, err));
        *(thin ? &high : &low) = middle;
    }
    *result = high;
    return CORE_OK;
}

core_status sdf_thinnest_feature(const core_outline *canonical, double *wall, double *gap, core_error *err) {
    CORE_CHECK(canonical && wall && gap, CORE_ARG, "sdf_thinnest_feature: null pointer");
    CORE_CHECK(core_outline_count(canonical) >= 3, CORE_SHAPE, "outline of %d points, expected 3 or more",
               core_outline_count(canonical));
    double w, g;
    CORE_TRY(thinnest(canonical, false, THICKNESS_WALL_MAX, &w, err));
    CORE_TRY(thinnest(canonical, true, THICKNESS_GAP_MAX, &g, err));
    *wall = w;
    *gap = g;
    return CORE_OK;
}

/// Smallest multiple of RESOLUTION_STEP that gives `cells` across `width`.
static double resolution_for(double cells, double width) {
    return RESOLUTION_STEP * ceil(cells * 2 / width / RESOLUTION_STEP);
}

/// ", PIXELS pixels of the image: ..." where something so thin may be noise, else nothing.
static void noise_advise(const sdf_import *import, double pixels, char *text, size_t n) {
    text[0] = 0;
    if (!import->image || pixels > NOISE_PIXELS) return;
    snprintf(text, n, "; it is %.2g pixels of the image: if it is noise, --blur %g or more takes it away", pixels,
             fmax(2, 2 * import->blur));
}

core_status sdf_resolution_choose(const sdf_shape *shape, int resolution, int *chosen, char note[SDF_NOTE_MAX],
                                  core_error *err) {
    double wall, gap;
    CORE_CHECK(shape && chosen && note, CORE_ARG, "sdf_resolution_choose: null pointer");
    CORE_CHECK(resolution == SDF_RESOLUTION_AUTO || resolution > 0, CORE_RANGE, "resolution: found %d", resolution);
    // Nothing thicker matters, and wide discs are the costly ones.
    double matters = resolution == SDF_RESOLUTION_AUTO ? 2 * RESOLUTION_CELLS_AUTO / RESOLUTION_AUTO_MIN
                                                       : 2 * RESOLUTION_CELLS_WARNED / resolution;
    CORE_TRY(thinnest(&shape->outline, false, matters, &wall, err));
    CORE_TRY(thinnest(&shape->outline, true, matters, &gap, err));
    double width = fmin(wall, gap), wanted = resolution_for(RESOLUTION_CELLS_AUTO, width);
    if (resolution == SDF_RESOLUTION_AUTO)
        resolution = (int)fmin(fmax(wanted, RESOLUTION_AUTO_MIN), RESOLUTION_AUTO_MAX);
    double cells = width * resolution / 2, enough = resolution_for(RESOLUTION_CELLS_WARNED, width);
    char what[96], advice[80], noise[112];
    snprintf(what, sizeof what, "%s of %.2g circumradii is %.2g cells wide at resolution %d",
             wall <= gap ? "a wall" : "a gap", width, cells, resolution);
    if (enough <= RESOLUTION_MAX)
        snprintf(advice, sizeof advice, "resolution %d would give it 3", (int)enough);
    else
        snprintf(advice, sizeof advice, "no resolution up to %d would give it 3: draw it thicker", RESOLUTION_MAX);
    noise_advise(&shape->import, width * shape->drawn.circumradius, noise, sizeof noise);
    CORE_CHECK(cells >= RESOLUTION_CELLS_REFUSED, CORE_SHAPE, "%s, expected at least 1; %s%s", what, advice, noise);
    note[0] = 0;
    if (cells < RESOLUTION_CELLS_WARNED)
        snprintf(note, SDF_NOTE_MAX, "%s: distances near it are inaccurate; %s%s", what, advice, noise);
    *chosen = resolution;
    return CORE_OK;
}
