/// What the physics tests of libsim share: worlds of one or a few grains on planes.
#ifndef SIM_PHYSICS_H
#define SIM_PHYSICS_H

#include "physics_row.h"
#include "unit/sim_fixture.h"

/// A plane through the origin, turned by `tilt` from the horizontal (downhill is +x for a negative tilt).
static inline sim_boundary_def physics_floor(double tilt) {
    return (sim_boundary_def){.name = "floor", .normal = {-sin(tilt), cos(tilt)}, .present = true};
}

/// A world without grains: types, one law for everything, planes.
static inline sim_world *physics_world(int capacity, int count_types, const sim_type_def *types, int count_planes,
                                       const sim_boundary_def *planes, sim_contact_law law, double gravity, double dt,
                                       sim_narrow narrow) {
    sim_contact_law laws[64];
    sim_world *w = NULL;
    sim_world_def def = sim_world_default_def();
    sim_fixture_laws(law, count_types, count_planes, laws);
    def.capacity = capacity;
    def.count_types = count_types;
    def.types = types;
    def.count_boundaries = count_planes;
    def.boundaries = planes;
    def.law = laws;
    def.gravity[1] = -gravity;
    def.dt = dt;
    def.contacts = 2; // at most; back ends without contact planes give one
    def.narrow = narrow;
    check_ok(sim_world_create(&def, &w, err));
    return w;
}

/// The exact narrow phase, with one contact or two contact planes a pair.
static inline sim_narrow physics_exact(int count_types, const sim_type_def *types, double smoothing, int planes) {
    sim_narrow base, narrow;
    check_ok(sim_narrow_exact(count_types, types, smoothing, 1, &base, err));
    if (planes < 2) return base;
    check_ok(sim_narrow_planes(&base, .01, 1, &narrow, err));
    return narrow;
}

static inline void physics_add(sim_world *w, int type, double x, double y, double angle, double vx, double vy,
                               double omega) {
    const double position[2] = {x, y}, velocity[2] = {vx, vy};
    check_ok(sim_world_add(w, type, position, angle, velocity, omega, err));
}

static inline void physics_steps(sim_world *w, int64_t n) {
    for (int64_t i = 0; i < n; ++i) check_ok(sim_world_step(w, err));
}

#endif
