/// What the physics tests of libfluid share: a box of material, runs of steps, and a line for every number that is
/// checked: its name, what is expected, what was found, the tolerance.
#ifndef FLUID_PHYSICS_H
#define FLUID_PHYSICS_H

#include "fluid.h"
#include "fluid_private.h"
#include "unit/sim_check.h"

#include <stdio.h>

/// One line of the report; fails outside.
static inline void fluid_row(const char *name, double expected, double found, double tolerance) {
    printf("%-66s expected %-12.6g found %-12.6g tolerance %.3g\n", name, expected, found, tolerance);
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: expected %.9g, found %.9g, tolerance %.3g", name, expected, found, tolerance);
}

/// The same for a magnitude that has to stay below a bound.
static inline void fluid_row_below(const char *name, double bound, double found) {
    printf("%-66s expected %-12.6g found %-12.6g tolerance %.3g\n", name, 0.0, found, bound);
    if (!(fabs(found) < bound)) fail_msg("%s: expected below %.9g, found %.9g", name, bound, found);
}

/// The same for a magnitude that has to stay above a bound.
static inline void fluid_row_above(const char *name, double bound, double found) {
    printf("%-66s expected above %-6.6g found %-12.6g\n", name, bound, found);
    if (!(found > bound)) fail_msg("%s: expected above %.9g, found %.9g", name, bound, found);
}

/// A definition for the box [0, width] x [0, height] (and as deep as it is wide in 3D), cells of h.
static inline fluid_def fluid_box(int dim, double width, double height, double h) {
    fluid_def def = fluid_default_def();
    def.dim = dim;
    def.h = h;
    def.region[3] = width;
    def.region[4] = height;
    def.region[5] = width;
    def.capacity = 200000;
    return def;
}

static inline fluid_world *fluid_make(const fluid_def *def, int count_solids, const fluid_solid *solids) {
    fluid_world *w = NULL;
    check_ok(fluid_world_create(def, count_solids, solids, &w, err));
    return w;
}

/// Fills the box from `low` to `high`.
static inline int fluid_fill(fluid_world *w, double x0, double y0, double z0, double x1, double y1, double z1,
                             bool layer) {
    int added = 0;
    const fluid_seed_def seed = {.region = {.kind = FLUID_SOLID_BOX,
                                            .centre = {.5 * (x0 + x1), .5 * (y0 + y1), .5 * (z0 + z1)},
                                            .half = {.5 * (x1 - x0), .5 * (y1 - y0), .5 * (z1 - z0)}},
                                 .jitter = .25,
                                 .surface_layer = layer,
                                 .seed = 1};
    check_ok(fluid_world_seed(w, &seed, &added, err));
    return added;
}

static inline void fluid_advance(fluid_world *w, double time) {
    while (w->time < time - 1e-12) check_ok(fluid_world_step(w, time - w->time, err));
}

static inline fluid_totals fluid_sum(const fluid_world *w) {
    fluid_totals t;
    fluid_world_totals(w, &t);
    return t;
}

#endif
