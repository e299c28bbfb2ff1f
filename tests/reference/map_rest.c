/// Rest on a trained map: a grain on a fixed #, the contact law driven by the map directly. An outline's face on a face
/// is a kink of d; a map that rounds it lets the grain rock and walk.
///   map_rest MAPS.h5 GRAIN DEGREES...: each grain (a shape of the bundle), turned so, is set on the fixed shape "hash"
#include "unit/sim_law_apply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Units: R = 1, g = 1, density 1.
static const double stiffness = 2000, zeta = 0.25, friction = 0.5; // k_n in weights per R
// At a kink the torque changes its sign every step: what is left of rocking and drift is proportional to dt.
#define STEP 0.1
enum { SETTLE = 30, WATCH = 30 }; // sqrt(R/g)

typedef struct grain {
    sim_body_state state;
    double angle, spring;
} grain;

// The pose of the grain seen from the fixed shape, asked of the map in its own order.
static void ask(const cspace_map *map, bool swapped, const cspace_pose *pose, cspace_map_scratch *scratch,
                sim_contact *contact) {
    const cspace_pose asked = swapped ? cspace_swap_pose(pose) : *pose;
    cspace_contact c;
    cspace_map_evaluate(map, &asked, 1, 0, &c, scratch);
    if (swapped) cspace_swap_return(pose, &c);
    *contact = (sim_contact){.d = c.d, .g = {c.g[0], c.g[1]}, .d_theta_b = c.d_theta, .r_a = c.r_a, .r_b = c.r_b};
}

// Semi-implicit Euler for `time`; the largest and least angle and x on the way.
static void run(const cspace_map *map, bool swapped, const sim_contact_law *law, double dt, double time, grain *b,
                cspace_map_scratch *scratch, double angle[2], double x[2]) {
    const sim_body_state fixed = {0};
    angle[0] = x[0] = INFINITY, angle[1] = x[1] = -INFINITY;
    for (int64_t i = 0; i < (int64_t)(time / dt); i++) {
        const cspace_pose pose = {b->angle, b->state.x[0], b->state.x[1]};
        sim_contact c;
        sim_contact_force f;
        ask(map, swapped, &pose, scratch, &c);
        law_apply(law, &c, &fixed, &b->state, dt, &b->spring, &f);
        b->state.v[0] += dt * f.force[0] * b->state.inv_mass;
        b->state.v[1] += dt * (f.force[1] * b->state.inv_mass - 1);
        b->state.omega += dt * f.torque_b * b->state.inv_inertia;
        for (int k = 0; k < 2; k++) b->state.x[k] += dt * b->state.v[k];
        b->angle += dt * b->state.omega;
        angle[0] = fmin(angle[0], b->angle), angle[1] = fmax(angle[1], b->angle);
        x[0] = fmin(x[0], b->state.x[0]), x[1] = fmax(x[1], b->state.x[0]);
    }
}

// Height at which the grain just touches, at this angle and x.
static double height(const cspace_map *map, bool swapped, double angle, double x, cspace_map_scratch *scratch) {
    double low = 0, high = 2.2;
    for (int i = 0; i < 40; i++) {
        const double y = 0.5 * (low + high);
        sim_contact c;
        ask(map, swapped, &(cspace_pose){angle, x, y}, scratch, &c);
        if (c.d > 0)
            high = y;
        else
            low = y;
    }
    return high;
}

// Sets the grain down at x, a little tilted from its face, and watches it after it has settled. True if it lies still
// on that face.
static bool rests(const cspace_map *map, bool swapped, const sdf_shape *shape, double face, double x, double tilt,
                  cspace_map_scratch *scratch) {
    const double mass = shape->area, inertia = shape->second_moment;
    const sim_contact_law law = {.kn = stiffness * mass,
                                 .kt = 2.0 / 3.0 * stiffness * mass,
                                 .gamma_n = NAN,
                                 .gamma_t = NAN,
                                 .zeta = zeta,
                                 .mu = friction};
    const double dt = STEP / sqrt(law.kn * (1 / mass + 1 / inertia));
    grain b = {.angle = face + tilt};
    b.state.x[0] = x, b.state.x[1] = height(map, swapped, b.angle, x, scratch);
    b.state.inv_mass = 1 / mass, b.state.inv_inertia = 1 / inertia;
    double angle[2], path[2];
    run(map, swapped, &law, dt, SETTLE, &b, scratch, angle, path);
    const double angle_before = b.angle, x_before = b.state.x[0];
    run(map, swapped, &law, dt, WATCH, &b, scratch, angle, path);
    const double drift = fabs(b.state.x[0] - x_before) / WATCH;
    const double off = angle_before - face;
    const bool still = angle[1] - angle[0] < 1e-4 && drift < 1e-5 && fabs(x_before - x) < 0.1 && fabs(off) < 2e-3;
    printf("%s on hash, set at x %.2f tilted %.3f: off its face by %.6f, moves by %.2g rad, drifts %.2g R per "
           "sqrt(R/g): %s\n",
           shape->name, x, tilt, off, angle[1] - angle[0], drift, still ? "rests" : "DOES NOT REST");
    return still;
}

int main(int argc, char **argv) {
    core_error err = {0};
    core_status status = CORE_OK;
    cspace_bundle bundle = {0};
    cspace_map_scratch *scratch = NULL;
    int failed = 0;
    if (argc < 4 || argc % 2 != 0) {
        fprintf(stderr, "map_rest MAPS.h5 GRAIN DEGREES...\n");
        return 2;
    }
    CORE_TRY_DONE(cspace_bundle_read(argv[1], &bundle, NULL, &err));
    CORE_TRY_DONE(cspace_map_scratch_create(1, &scratch, &err));
    for (int i = 2; i < argc; i += 2) {
        static const double tilts[] = {0, 0.02, -0.02}, places[] = {0, 0.07};
        const cspace_map *map = NULL;
        bool swapped;
        CORE_TRY_DONE(cspace_bundle_find(&bundle, "hash", argv[i], 1.0, &map, &swapped, &err));
        for (int k = 0; k < 6; k++)
            failed += !rests(map, swapped, cspace_bundle_shape(&bundle, argv[i]), atof(argv[i + 1]) * CORE_PI / 180,
                             places[k / 3], tilts[k % 3], scratch);
    }
done:
    if (status != CORE_OK) fprintf(stderr, "%s\n", err.message);
    cspace_map_scratch_destroy(&scratch);
    cspace_bundle_clear(&bundle);
    return status != CORE_OK || failed > 0;
}
