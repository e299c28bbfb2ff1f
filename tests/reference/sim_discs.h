/// What the tests of many discs beside published numbers share: three sizes, diameters 1.5 : 1 with the middle one as
/// the unit, density 1, contacts in closed form, so that no map has a share in what is found.
#ifndef SIM_DISCS_H
#define SIM_DISCS_H

#include "sim_physics.h"
#include "sim_private.h"

enum { DISCS_TYPES = 3, DISCS_WALLS_MAX = 4 };
static const double DISCS_MEAN_AREA = CORE_PI / 4 * (1 / 1.5 + 1 + 1.5) / 3;
static sim_type_def discs_types[DISCS_TYPES];

/// Setup and teardown of a group of tests: the types.
static inline int discs_make_types(void **state) {
    (void)state;
    for (int t = 0; t < DISCS_TYPES; ++t)
        check_ok(sim_fixture_disc("disc", 480, .5 * pow(1.5, .5 * (t - 1)), 1, &discs_types[t], NULL));
    return 0;
}
static inline int discs_clear_types(void **state) {
    (void)state;
    for (int t = 0; t < DISCS_TYPES; ++t) sdf_shape_clear(&discs_types[t].shape);
    return 0;
}

/// A type, all as likely.
static inline int discs_any(core_random *r) {
    return (int)(DISCS_TYPES * core_random_uniform(r));
}

/// Friction and restitution .5.
static inline sim_contact_law discs_rough_law(double kn) {
    sim_contact_law law = sim_fixture_law(kn, 0, .5);
    check_ok(sim_zeta_of_restitution(.5, &law.zeta, err));
    return law;
}

/// Time step of discs between walls with one law.
static inline double discs_dt(sim_contact_law law, int count_walls) {
    sim_contact_law laws[DISCS_TYPES * (DISCS_TYPES + DISCS_WALLS_MAX)];
    sim_fixture_laws(law, DISCS_TYPES, count_walls, laws);
    return sim_dt_auto(DISCS_TYPES, discs_types, count_walls, laws, .25);
}

/// A world without discs from a definition that has capacity, boundaries, gravity and period; one law for everything,
/// but that wall `smooth` (-1: none) has no friction. circles: kept as long as the world.
static inline sim_world *discs_world(sim_world_def def, sim_contact_law law, int smooth, sim_fixture_circles *circles) {
    sim_contact_law laws[DISCS_TYPES * (DISCS_TYPES + DISCS_WALLS_MAX)];
    const int columns = DISCS_TYPES + def.count_boundaries;
    sim_world *w = NULL;
    assert_true(def.count_boundaries <= DISCS_WALLS_MAX);
    sim_fixture_laws(law, DISCS_TYPES, def.count_boundaries, laws);
    for (int t = 0; smooth >= 0 && t < DISCS_TYPES; ++t) laws[t * columns + DISCS_TYPES + smooth].mu = 0;
    def.count_types = DISCS_TYPES;
    def.types = discs_types;
    def.law = laws;
    def.dt = discs_dt(law, def.count_boundaries);
    def.narrow = sim_fixture_circle_narrow(DISCS_TYPES, discs_types, circles);
    check_ok(sim_world_create(&def, &w, err));
    return w;
}

#endif
