/// A picture of a shape and its distance grid, by which a user sees at a glance whether the right region was read.
/// Inside blue, outside orange (told apart by the colour-blind), one thin line each tenth of the circumradius, darker
/// at whole ones, the outline from the polygon in black, a cross at the centroid.
#include "sdf_private.h"

#include <math.h>

/// Half side of the picture, circumradii.
#define PREVIEW_EXTENT 1.25
/// Distance between lines, circumradii.
#define PREVIEW_STEP 0.1
/// Half width of the outline and of the cross's arms, pixels.
#define PREVIEW_OUTLINE 1.3
#define PREVIEW_CROSS 6

/// Blends `colour` over rgb with weight 0 .. 1.
static void blend(double rgb[3], const double colour[3], double weight) {
    weight = fmin(fmax(weight, 0), 1);
    for (int c = 0; c < 3; c++) rgb[c] += weight * (colour[c] - rgb[c]);
}

/// Colour at distance phi; `pixel` is the size of one in circumradii.
static void colour_of(double phi, double pixel, double rgb[3]) {
    static const double inside[3] = {150, 190, 232}, outside[3] = {250, 226, 196}, line[3] = {90, 90, 90};
    // One pixel of transition at the outline.
    for (int c = 0; c < 3; c++) rgb[c] = outside[c];
    blend(rgb, inside, 0.5 - phi / pixel);
    double k = nearbyint(phi / PREVIEW_STEP), off = fabs(phi - k * PREVIEW_STEP) / pixel;
    bool whole = fabs(remainder(k, 10)) < 0.5;
    if (fabs(k) > 0.5) blend(rgb, line, (whole ? 0.9 : 0.35) * (1.2 - off));
}

void sdf_preview_draw(const sdf_shape *shape, const sdf_grid *grid, int size, uint8_t *rgb, int stride) {
    static const double black[3] = {0, 0, 0};
    double pixel = 2 * PREVIEW_EXTENT / size;
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < size; column++) {
            double p[2] = {(column + 0.5) * pixel - PREVIEW_EXTENT, PREVIEW_EXTENT - (row + 0.5) * pixel}, colour[3];
            double phi = sdf_grid_sample(grid, p, NULL);
            colour_of(phi, pixel, colour);
            if (fabs(phi) < 4 * pixel) {
                double exact;
                sdf_outline_distance(&shape->outline, p, 1, &exact, NULL);
                blend(colour, black, PREVIEW_OUTLINE - fabs(exact) / pixel);
            }
            double x = fabs(p[0]) / pixel, y = fabs(p[1]) / pixel;
            if (fmin(x, y) < 0.8 && fmax(x, y) < PREVIEW_CROSS) blend(colour, black, 1);
            for (int c = 0; c < 3; c++)
                rgb[(size_t)row * (size_t)stride + 3 * (size_t)column + (size_t)c] = (uint8_t)(colour[c] + 0.5);
        }
    }
}
