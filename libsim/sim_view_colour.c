// Palettes: grain types (the colour-blind-safe set of Okabe and Ito, yellow last because it is faint on white), a
// sequential scale whose lightness grows evenly (a few control points of the kind of viridis) and a cyclic one that
// passes from light through blue, dark and red back to light.
#include "sim_view_private.h"

#include <math.h>

static const sim_rgb type_colours[] = {{0, 114, 178}, {230, 159, 0},   {0, 158, 115},  {204, 121, 167}, {86, 180, 233},
                                       {213, 94, 0},  {153, 153, 153}, {240, 228, 66}, {117, 63, 35},   {88, 60, 150}};
#define COUNT_TYPE_COLOURS ((int)(sizeof type_colours / sizeof *type_colours))

static const sim_rgb sequential[] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                                     {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
static const sim_rgb cyclic[] = {{226, 217, 226}, {158, 187, 201}, {100, 137, 190}, {93, 72, 165},  {47, 20, 54},
                                 {130, 36, 80},   {178, 93, 84},   {204, 165, 137}, {226, 217, 226}};

// Piecewise linear over evenly spaced control points.
static sim_rgb sample_scale(const sim_rgb *points, int count, double s) {
    if (!(s > 0)) return points[0];
    if (s >= 1) return points[count - 1];
    double at = s * (count - 1);
    int i = (int)at;
    return sim_colour_mix(points[i], points[i + 1], at - i);
}

sim_rgb sim_colour_mix(sim_rgb a, sim_rgb b, double part_of_b) {
    float t = (float)part_of_b;
    return (sim_rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

sim_rgb sim_colour_of_type(int type) {
    return type_colours[type < 0 ? 0 : type % COUNT_TYPE_COLOURS];
}

sim_rgb sim_colour_of_grain(int type, int id) {
    // Multiples of the golden ratio: ids that follow each other, often neighbours, get tints far apart.
    double u = id * 0.6180339887498949;
    u -= floor(u);
    sim_rgb base = sim_colour_of_type(type), white = {255, 255, 255}, black = {0, 0, 0};
    return u < 0.3 ? sim_colour_mix(base, black, 0.18 * (0.3 - u) / 0.3)
                   : sim_colour_mix(base, white, 0.55 * (u - 0.3) / 0.7);
}

sim_rgb sim_colour_of_boundary(void) {
    return (sim_rgb){70, 74, 82};
}

sim_rgb sim_colour_of_forces(void) {
    return (sim_rgb){150, 16, 32};
}

sim_rgb sim_colour_sequential(double s) {
    return sample_scale(sequential, (int)(sizeof sequential / sizeof *sequential), s);
}

sim_rgb sim_colour_cyclic(double s) {
    return sample_scale(cyclic, (int)(sizeof cyclic / sizeof *cyclic), s - floor(s));
}
