/// Grain types, laws and narrow phases made in code, for the tests of libsim: no file is read.
#ifndef SIM_FIXTURE_H
#define SIM_FIXTURE_H

#include "sim.h"

#include <math.h>
#include <string.h>

/// A type from a polygon in any unit; `radius` is its circumradius in m.
static inline core_status sim_fixture_type(const char *name, int n, const double *xy, double radius, double density,
                                           sim_type_def *type, core_error *err) {
    core_outline o = {0};
    *type = (sim_type_def){.radius = radius, .density = density};
    memcpy(type->name, name, strlen(name) + 1);
    CORE_TRY(core_outline_create(1, &n, &o, err));
    memcpy(o.xy, xy, 2 * (size_t)n * sizeof *xy);
    const core_status status = sdf_shape_from_outline(name, &o, &type->shape, err);
    core_outline_clear(&o);
    return status;
}

/// A regular polygon of n <= 512 corners.
static inline core_status sim_fixture_disc(const char *name, int n, double radius, double density, sim_type_def *type,
                                           core_error *err) {
    double xy[1024];
    for (int k = 0; k < n; ++k) {
        xy[2 * k] = cos(2 * CORE_PI * k / n);
        xy[2 * k + 1] = sin(2 * CORE_PI * k / n);
    }
    return sim_fixture_type(name, n, xy, radius, density, type, err);
}

/// A rectangle of the given sides, m.
static inline core_status sim_fixture_block(const char *name, double width, double height, double density,
                                            sim_type_def *type, core_error *err) {
    const double xy[] = {0, 0, width, 0, width, height, 0, height};
    return sim_fixture_type(name, 4, xy, 0.5 * sqrt(width * width + height * height), density, type, err);
}

/// The letter U, not convex.
static inline core_status sim_fixture_u(const char *name, double radius, double density, sim_type_def *type,
                                        core_error *err) {
    const double xy[] = {-.6, -.7, .6, -.7, .6, .7, .3, .7, .3, -.4, -.3, -.4, -.3, .7, -.6, .7};
    return sim_fixture_type(name, 8, xy, radius, density, type, err);
}

static inline double sim_fixture_mass(const sim_type_def *t) {
    return t->density * t->shape.area * t->radius * t->radius;
}

static inline double sim_fixture_inertia(const sim_type_def *t) {
    return t->density * t->shape.second_moment * t->radius * t->radius * t->radius * t->radius;
}

/// The same law for everything: (types x (types + planes)) entries of `law`.
static inline void sim_fixture_laws(sim_contact_law one, int types, int planes, sim_contact_law *law) {
    for (int i = 0; i < types * (types + planes); ++i) law[i] = one;
}

static inline sim_contact_law sim_fixture_law(double kn, double zeta, double mu) {
    return (sim_contact_law){.kn = kn, .kt = 2.0 / 3.0 * kn, .gamma_n = NAN, .gamma_t = NAN, .zeta = zeta, .mu = mu};
}

/// Exact narrow phase of circles, whatever the outlines: the closed form d = |t| - R_A - R_B.
typedef struct sim_fixture_circles {
    int count_types;
    double radius[8];
} sim_fixture_circles;

static inline void sim_fixture_circles_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max,
                                                int *count, sim_contact *contacts, int worker) {
    (void)worker;
    const sim_fixture_circles *c = self;
    const double r_a = c->radius[pair / c->count_types], r_b = c->radius[pair % c->count_types];
    for (int i = 0; i < n; ++i) {
        const double r = sqrt(poses[i].x * poses[i].x + poses[i].y * poses[i].y), d = r - r_a - r_b;
        count[i] = 1;
        contacts[i * k_max] =
            (sim_contact){.d = d, .g = {poses[i].x / r, poses[i].y / r}, .r_a = r_a + d / 2, .r_b = -r_b - d / 2};
    }
}

static inline sim_narrow sim_fixture_circle_narrow(int count_types, const sim_type_def *types, sim_fixture_circles *c) {
    c->count_types = count_types;
    for (int t = 0; t < count_types; ++t) c->radius[t] = types[t].radius;
    return (sim_narrow){.name = "circles", .evaluate = sim_fixture_circles_evaluate, .self = c};
}

/// A bundle with a map for every pair of types whose nets have random weights: a map as bad as one can be, the same in
/// every run.
static inline core_status sim_fixture_random_bundle(int count_types, const sim_type_def *types, uint64_t seed,
                                                    bool fold, cspace_bundle *bundle, core_error *err) {
    *bundle = (cspace_bundle){0};
    core_random random;
    core_random_init(&random, seed, 0);
    for (int i = 0; i < count_types; ++i) {
        for (int j = i; j < count_types; ++j) {
            const double ratio = types[j].radius / types[i].radius;
            const bool swapped = cspace_pair_is_swapped(types[i].shape.name, types[j].shape.name, ratio);
            const sim_type_def *a = &types[swapped ? j : i], *b = &types[swapped ? i : j];
            const double larger = fmax(a->radius, b->radius);
            cspace_map map = {.ratio = b->radius / a->radius,
                              .scale_a = a->radius / larger,
                              .scale_b = b->radius / larger,
                              .hash_a = a->shape.hash,
                              .hash_b = b->shape.hash,
                              .labels = "minimiser",
                              .recipe = "default",
                              .fold = cspace_fold_make(&a->shape, &b->shape, b->radius / a->radius, fold),
                              .encoding = CSPACE_TWOFRAME};
            memcpy(map.a, a->shape.name, sizeof map.a);
            memcpy(map.b, b->shape.name, sizeof map.b);
            const int inputs = cspace_encoding_inputs(map.encoding, &map.fold);
            const nn_model_def def = nn_model_default_def(inputs, 32, 3);
            core_status status = nn_model_create(&def, &map.distance, err);
            if (status == CORE_OK) status = nn_model_create(&def, &map.moment_arm, err);
            if (status == CORE_OK) {
                nn_model_randomise(&map.distance, &random);
                nn_model_randomise(&map.moment_arm, &random);
                status = cspace_map_prepare(&map, NN_ISA_BEST, err);
            }
            if (status == CORE_OK) status = cspace_bundle_add(bundle, &map, &a->shape, &b->shape, err);
            cspace_map_clear(&map);
            if (status != CORE_OK) {
                cspace_bundle_clear(bundle);
                return status;
            }
        }
    }
    return CORE_OK;
}

#endif
