/// Head-on collisions: the linear spring-dashpot's closed forms at dt = t_c/100, contact starting at d = 0.
#include "sim_physics.h"

static sim_type_def block; // 1 m x .5 m, of mass 1

static int make(void **state) {
    (void)state;
    return sim_fixture_block("block", 1, .5, 2, &block, NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&block.shape);
    return 0;
}

// A block falls flat on a plane at 1 m/s, without gravity: the plane's distance is in closed form. Its height is taken
// so that d = 0 at the start.
static void the_linear_law_has_its_closed_forms(void **state) {
    (void)state;
    // Closed forms: gamma, e, t_c, deepest overlap for m_eff = 1 kg, k = 1e4 N/m, v = 1 m/s
    static const double table[][4] = {
        {6.704, .9020, .030763, .009498}, {43.091, .5503, .027724, .007418}, {91.190, .3249, .024660, .005700}};
    const sim_boundary_def floor = physics_floor(0);
    for (int i = 0; i < 3; ++i) {
        const double *row = table[i], dt = row[2] / 100;
        const sim_contact_law law = {.kn = 1e4, .kt = 0, .gamma_n = row[0], .gamma_t = 0};
        sim_world *w = physics_world(1, 1, &block, 1, &floor, law, 0, dt, (sim_narrow){0});
        check_near(sim_fixture_mass(&block), 1, 1e-12);
        // smoothing over +-.001 rad lowers a flat face by half of its half length times that
        const double height = .25 * sin(.001) / .001 + .5 * (1 - cos(.001)) / .001;
        physics_add(w, 0, 0, height, 0, 0, -1, 0);
        double deepest = 0, first = 0, last = 0;
        for (int step = 1; step < 400; ++step) {
            physics_steps(w, 1);
            sim_totals t;
            sim_world_totals(w, &t);
            deepest = fmax(deepest, t.penetration_max);
            sim_contact_force f;
            sim_contact c;
            if (sim_world_contacts(w, 1, NULL, NULL, &c, &f) == 0 || !(f.f_n > 0)) continue;
            if (first <= 0) first = step;
            last = step;
        }
        const sim_state s = sim_world_state(w);
        char name[80];
        snprintf(name, sizeof name, "spring-dashpot, plane, gamma %.3f: e", row[0]);
        physics_row(name, row[1], s.v[1], .01 * row[1]);
        snprintf(name, sizeof name, "spring-dashpot, plane, gamma %.3f: t_c, s", row[0]);
        physics_row(name, row[2], (last - first + 1) * dt, .01 * row[2]);
        snprintf(name, sizeof name, "spring-dashpot, plane, gamma %.3f: overlap, m", row[0]);
        physics_row(name, row[3], deepest, .01 * row[3]);
        check_near(s.omega[0], 0, 1e-9);
        sim_world_destroy(&w);
    }
}

// Blocks of very different masses meet a plane flat and with an edge: the contact's normal velocity is what is
// restored.
static void restitution_is_realised_at_a_plane(void **state) {
    (void)state;
    static const double es[] = {.9, .5, .3}, angles[] = {0, .35, -1.1};
    const sim_boundary_def floor = physics_floor(0);
    for (int i = 0; i < 3; ++i) {
        for (int a = 0; a < 3; ++a) {
            sim_contact_law law = {.kn = 1e6, .kt = 0, .gamma_n = NAN, .gamma_t = NAN};
            check_ok(sim_zeta_of_restitution(es[i], &law.zeta, err));
            // lowest corner of the turned block, and its lever arm
            const double s = sin(angles[a]), c = cos(angles[a]);
            double low = 0, arm = 0;
            for (int k = 0; k < 4; ++k) {
                const double x = k % 2 ? .5 : -.5, y = k / 2 ? .25 : -.25, h = s * x + c * y;
                if (h < low) {
                    low = h;
                    arm = c * x - s * y;
                }
            }
            if (a == 0) arm = 0;
            const double inverse = 1 + arm * arm / sim_fixture_inertia(&block), w0 = sqrt(1e6 * inverse);
            const double dt = -log(es[i]) / (law.zeta * w0) / 100;
            sim_world *w = physics_world(1, 1, &block, 1, &floor, law, 0, dt, (sim_narrow){0});
            double height = -low;
            if (a == 0) height = .25 * sin(.001) / .001 + .5 * (1 - cos(.001)) / .001;
            physics_add(w, 0, 0, height, angles[a], 0, -.1, 0);
            physics_steps(w, 200);
            const sim_state st = sim_world_state(w);
            char name[80];
            snprintf(name, sizeof name, "restitution at a plane, block turned by %.2f", angles[a]);
            physics_row(name, es[i], 10 * (st.v[1] + arm * st.omega[0]), .01 * es[i]);
            sim_world_destroy(&w);
        }
    }
}

// Two bodies of any mass ratio, in the closed form of circles.
static void restitution_does_not_depend_on_the_mass_ratio(void **state) {
    (void)state;
    static const double es[] = {.95, .7, .5, .3}, densities[] = {1e-2, .3, 1, 1e3};
    for (int d = 0; d < 4; ++d) {
        sim_type_def discs[2];
        sim_fixture_circles circles;
        check_ok(sim_fixture_disc("a", 96, 1, 1, &discs[0], err));
        check_ok(sim_fixture_disc("b", 96, .5, densities[d], &discs[1], err));
        const double ma = sim_fixture_mass(&discs[0]), mb = sim_fixture_mass(&discs[1]), m_eff = ma * mb / (ma + mb);
        for (int i = 0; i < 4; ++i) {
            sim_contact_law law = {.kn = 1e6, .kt = 0, .gamma_n = NAN, .gamma_t = NAN};
            check_ok(sim_zeta_of_restitution(es[i], &law.zeta, err));
            const double dt = -log(es[i]) / (law.zeta * sqrt(1e6 / m_eff)) / 100;
            sim_world *w =
                physics_world(2, 2, discs, 0, NULL, law, 0, dt, sim_fixture_circle_narrow(2, discs, &circles));
            physics_add(w, 0, 0, 0, .3, 0, 0, 0);
            physics_add(w, 1, 1.5, 0, 1, -.01, 0, 0);
            physics_steps(w, 200);
            const sim_state s = sim_world_state(w);
            char name[80];
            snprintf(name, sizeof name, "restitution of discs, density ratio %g", densities[d]);
            physics_row(name, es[i], (s.v[2] - s.v[0]) / .01, .01 * es[i]);
            check_near((ma * s.v[0] + mb * s.v[2]) / (mb * .01), -1, 1e-12);
            sim_world_destroy(&w);
        }
        for (int k = 0; k < 2; ++k) sdf_shape_clear(&discs[k].shape);
    }
}

// The minimiser knows nothing of circles: the same from its grids, face to face squares included.
static void the_minimiser_realises_restitution_too(void **state) {
    (void)state;
    sim_type_def types[2];
    check_ok(sim_fixture_disc("disc", 96, 1, 1, &types[0], err));
    check_ok(sim_fixture_block("square", 1, 1, 2, &types[1], err));
    for (int t = 0; t < 2; ++t) {
        sim_narrow narrow;
        sim_contact_law law = {.kn = 1e5, .kt = 0, .gamma_n = NAN, .gamma_t = NAN};
        check_ok(sim_zeta_of_restitution(.5, &law.zeta, err));
        check_ok(sim_narrow_minimiser(1, &types[t], 256, .001, 1, &narrow, err));
        const double m = sim_fixture_mass(&types[t]), dt = -log(.5) / (law.zeta * sqrt(1e5 * 2 / m)) / 100;
        sim_world *w = physics_world(2, 1, &types[t], 0, NULL, law, 0, dt, narrow);
        physics_add(w, 0, 0, 0, 0, 0, 0, 0);
        physics_add(w, 0, t == 0 ? 2.002 : 1.002, 0, 0, -2, 0, 0);
        physics_steps(w, 150);
        const sim_state s = sim_world_state(w);
        char name[80];
        snprintf(name, sizeof name, "restitution, minimiser, %s", t == 0 ? "discs" : "squares");
        // 1 % of the step, which does not start at d = 0 here, 1 % of the grid
        physics_row(name, .5, (s.v[2] - s.v[0]) / 2, .02 * .5);
        check_near(m * (s.v[0] + s.v[2]) / (2 * m), -1, 1e-12);
        sim_world_destroy(&w);
    }
    for (int k = 0; k < 2; ++k) sdf_shape_clear(&types[k].shape);
}

// At `dt: auto` the moment of first contact matters; its mean must not.
static void the_mean_over_phases_is_right_at_the_automatic_step(void **state) {
    (void)state;
    sim_type_def disc;
    sim_fixture_circles circles;
    check_ok(sim_fixture_disc("disc", 96, 1, 1, &disc, err));
    static const double es[] = {.9, .5, .3};
    for (int i = 0; i < 3; ++i) {
        sim_contact_law laws[1] = {{.kn = 1e6, .kt = 0, .gamma_n = NAN, .gamma_t = NAN}};
        check_ok(sim_zeta_of_restitution(es[i], &laws[0].zeta, err));
        const double dt = sim_dt_auto(1, &disc, 0, laws, .25);
        double sum = 0, least = 1, most = 0;
        for (int phase = 0; phase < 40; ++phase) {
            sim_world *w =
                physics_world(2, 1, &disc, 0, NULL, laws[0], 0, dt, sim_fixture_circle_narrow(1, &disc, &circles));
            physics_add(w, 0, 0, 0, 0, 0, 0, 0);
            physics_add(w, 0, 2 + (phase + .5) / 40 * .01 * dt, 0, 0, -.01, 0, 0);
            physics_steps(w, 100);
            const sim_state s = sim_world_state(w);
            const double e = (s.v[2] - s.v[0]) / .01;
            sum += e;
            least = fmin(least, e);
            most = fmax(most, e);
            sim_world_destroy(&w);
        }
        char name[80];
        snprintf(name, sizeof name, "restitution, dt: auto, mean of 40 phases (%.3f .. %.3f)", least, most);
        physics_row(name, es[i], sum / 40, .025);
    }
    sdf_shape_clear(&disc.shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_linear_law_has_its_closed_forms),
        cmocka_unit_test(restitution_is_realised_at_a_plane),
        cmocka_unit_test(restitution_does_not_depend_on_the_mass_ratio),
        cmocka_unit_test(the_minimiser_realises_restitution_too),
        cmocka_unit_test(the_mean_over_phases_is_right_at_the_automatic_step),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
