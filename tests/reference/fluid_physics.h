/// What the physics tests of libfluid share: a box of material, runs of steps.
#ifndef FLUID_PHYSICS_H
#define FLUID_PHYSICS_H

#include "fluid.h"
#include "fluid_private.h"
#include "physics_row.h"

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
