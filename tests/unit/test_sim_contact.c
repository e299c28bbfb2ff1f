/// Contact law: restitution, signs, identities, friction, energy.
#include "sim_check.h"
#include "sim_law_apply.h"

// ---------------------------------------------------------------------------------------------- restitution

static void zeta_has_the_published_values(void **state) {
    (void)state;
    static const double table[][2] = {{.9, .03427}, {.5, .25528}, {.2, .73125}, {.1, 1.24319}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        double zeta = -1;
        check_ok(sim_zeta_of_restitution(table[i][0], &zeta, err));
        check_near(zeta, table[i][1], 5.1e-6); // printed to five decimals
    }
}

// log(1/e) of a damping ratio, libsim/README.md section 2 with w0 = 1: zeta t_c up to critical damping, and beyond it
// what that goes on to.
static double loss_of_zeta(double zeta) {
    if (zeta < 1) {
        const double w = sqrt(1 - zeta * zeta);
        return zeta * (CORE_PI - atan2(2 * zeta * w, w * w - zeta * zeta)) / w;
    }
    return 2 * zeta * acosh(zeta) / sqrt(zeta * zeta - 1);
}

static void zeta_inverts_restitution(void **state) {
    (void)state;
    double zeta = -1;
    for (double e = 1e-6; e <= 1; e *= 1.07) {
        check_ok(sim_zeta_of_restitution(e, &zeta, err));
        check_near(loss_of_zeta(zeta), -log(e), 1e-12);
    }
    check_ok(sim_zeta_of_restitution(1, &zeta, err));
    assert_true(zeta == 0);
    for (zeta = .01; zeta < .999; zeta += .01) {
        double found = -1;
        check_ok(sim_zeta_of_restitution(exp(-loss_of_zeta(zeta)), &found, err));
        check_near(found, zeta, 1e-14);
    }
}

// Critical damping leaves exp(-2), and log(1/e) = 2 - 4/3 (1 - zeta) + ... on either side of it.
static void zeta_passes_critical_damping(void **state) {
    (void)state;
    double zeta = -1;
    check_ok(sim_zeta_of_restitution(exp(-2), &zeta, err));
    check_near(zeta, 1, 1e-15);
    for (double small = 1e-9; small < 1e-6; small *= 1.3) {
        for (int side = -1; side <= 1; side += 2) {
            check_ok(sim_zeta_of_restitution(exp(-2 - side * 4. / 3 * small), &zeta, err));
            check_near(zeta - 1, side * small, 1e-11);
        }
    }
}

static void zeta_refuses_what_cannot_be(void **state) {
    (void)state;
    static const double bad[] = {0, -.5, 1.0000001, NAN, INFINITY, 1e-300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        double zeta = 42;
        core_error cause = {0};
        assert_int_equal(sim_zeta_of_restitution(bad[i], &zeta, &cause), CORE_RANGE);
        assert_true(zeta == 42);
        assert_non_null(strstr(cause.message, "restitution"));
    }
    assert_int_equal(sim_zeta_of_restitution(.5, NULL, NULL), CORE_ARG);
}

// One collision through the law alone, dt = t_c/100: two bodies that meet with d = 0 at fixed lever arms; the ratio of
// the contact's normal velocities.
static double collide(double e, double mass_ratio, double arm) {
    double zeta = 0;
    check_ok(sim_zeta_of_restitution(e, &zeta, err));
    const sim_contact_law law = {.kn = 1e4, .kt = 5e3, .gamma_n = NAN, .gamma_t = NAN, .zeta = zeta};
    sim_body_state a = {.inv_mass = 1, .inv_inertia = 2};
    sim_body_state b = {
        .x = {1, 0}, .v = {-1, 0}, .omega = .1, .inv_mass = 1 / mass_ratio, .inv_inertia = 3 / mass_ratio};
    sim_contact c = {.g = {1, 0}, .d_theta_b = arm};
    const double d_a = sim_contact_d_theta_a(&c, a.x, b.x);
    const double inverse = a.inv_mass + b.inv_mass + d_a * d_a * a.inv_inertia + arm * arm * b.inv_inertia;
    // t_c = -log(e)/(zeta w0)
    const double dt = 0.01 * -log(e) / (zeta * sqrt(1e4 * inverse));
    double u_first = 0, u = 0, spring = 0;
    for (int step = 0; step < 1000; ++step) {
        sim_contact_force f;
        law_apply(&law, &c, &a, &b, dt, &spring, &f);
        if (step == 0) u_first = f.u_n;
        a.v[0] -= dt * f.force[0] * a.inv_mass;
        b.v[0] += dt * f.force[0] * b.inv_mass;
        a.omega += dt * f.torque_a * a.inv_inertia;
        b.omega += dt * f.torque_b * b.inv_inertia;
        u = b.v[0] - a.v[0] + c.d_theta_b * b.omega + d_a * a.omega;
        c.d += dt * u;
    }
    assert_true(c.d > 0);
    return -u / u_first;
}

static void restitution_is_realised_for_any_masses_and_arms(void **state) {
    (void)state;
    static const double es[] = {.99, .9, .7, .5, .4, .3};
    static const double ratios[] = {1e-3, 1, 7, 1e3}, arms[] = {0, .3, -1.2};
    for (size_t i = 0; i < sizeof es / sizeof *es; ++i) {
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; ++r) {
            for (size_t k = 0; k < sizeof arms / sizeof *arms; ++k)
                check_near(collide(es[i], ratios[r], arms[k]), es[i], .01 * es[i]);
        }
    }
}

// ---------------------------------------------------------------------------------------------- forces

static void signs_are_those_of_the_equations(void **state) {
    (void)state;
    // B lies above A and sinks; B slides to the right over A; numbers worked out by hand.
    const sim_contact_law law = {.kn = 100, .kt = 50, .gamma_n = 2, .gamma_t = 1, .mu = 10};
    const sim_contact c = {.d = -.1, .g = {0, 1}, .d_theta_b = .2, .r_a = 1, .r_b = -1};
    const sim_body_state a = {.x = {0, 0}, .v = {1, .5}, .omega = -.25, .inv_mass = 1, .inv_inertia = 1};
    const sim_body_state b = {.x = {.5, 2}, .v = {4, -.5}, .omega = .5, .inv_mass = 1, .inv_inertia = 1};
    double spring = .01;
    sim_contact_force f;
    law_apply(&law, &c, &a, &b, .02, &spring, &f);
    // d_theta_A = -.2 - (.5 x 1 - 2 x 0) = -.7;  u_n = -1 + .2 x .5 + (-.7)(-.25) = -.725
    // t_hat = (-1, 0);  u_t = -3 + (-1)(.5) - 1 x (-.25) = -3.25;  s = .01 - .065 = -.055
    check_near(f.u_n, -.725, 1e-15);
    check_near(f.u_t, -3.25, 1e-15);
    check_near(spring, -.055, 1e-15);
    check_near(f.f_n, 10 + 1.45, 1e-14);
    check_near(f.f_t, 2.75 + 3.25, 1e-14);
    check_near(f.force[0], -6, 1e-14);    // friction holds B back
    check_near(f.force[1], 11.45, 1e-14); // pushes B up
    check_near(f.torque_b, 11.45 * .2 + 6 * -1, 1e-14);
    check_near(f.torque_a, 11.45 * -.7 - 6 * 1, 1e-14);
    assert_false(f.sliding);
    assert_false(f.saturated);
}

static void momentum_is_conserved_for_any_contact(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 7, 0);
    for (int trial = 0; trial < 1000; ++trial) {
        double u[16];
        for (int i = 0; i < 16; ++i) u[i] = 2 * core_random_uniform(&r) - 1;
        const sim_body_state a = {.x = {u[0], u[1]}, .v = {u[2], u[3]}, .omega = u[4], .inv_mass = 1, .inv_inertia = 2};
        const sim_body_state b = {.x = {u[5], u[6]}, .v = {u[7], u[8]}, .omega = u[9], .inv_mass = 3, .inv_inertia = 4};
        sim_contact c = {.d = -.5 - .4 * u[10], .g = {u[11], u[12]}, .d_theta_b = u[13], .r_a = u[14]};
        const double slope = sqrt(u[11] * u[11] + u[12] * u[12]);
        const double dx[2] = {u[5] - u[0], u[6] - u[1]};
        c.r_b = c.r_a - (dx[0] * c.g[0] + dx[1] * c.g[1]) / slope; // the identity every back end keeps
        const sim_contact_law law = {.kn = 100, .kt = 70, .gamma_n = NAN, .gamma_t = NAN, .zeta = .2, .mu = .5};
        double spring = u[15];
        sim_contact_force f;
        law_apply(&law, &c, &a, &b, .01, &spring, &f);
        check_near(f.torque_a + f.torque_b + dx[0] * f.force[1] - dx[1] * f.force[0], 0,
                   1e-12 * (1 + fabs(f.f_n) + fabs(f.f_t)));
    }
}

static void friction_is_cut_and_its_spring_remembers(void **state) {
    (void)state;
    const sim_contact_law law = {.kn = 100, .kt = 50, .gamma_n = 0, .gamma_t = 3, .mu = .4};
    const sim_contact c = {.d = -.1, .g = {0, .8}, .r_a = 0, .r_b = 0};
    const sim_body_state a = {.inv_mass = 1, .inv_inertia = 1};
    sim_body_state b = {.x = {0, 1}, .v = {-2, 0}, .inv_mass = 1, .inv_inertia = 1};
    double spring = 0;
    sim_contact_force f, again;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_true(f.sliding);
    check_near(f.f_t, -.4 * 10 * .8, 1e-14); // sign of -u_t, limit mu f_n |g|
    check_near(-law.kt * spring - law.gamma_t * f.u_t, f.f_t, 1e-14);
    // asked again without time passing, the same force comes out of the spring
    law_apply(&law, &c, &a, &b, 0, &spring, &again);
    check_near(again.f_t, f.f_t, 1e-14);
    // without friction the force vanishes
    sim_contact_law smooth = law;
    smooth.mu = 0;
    law_apply(&smooth, &c, &a, &b, .1, &spring, &f);
    assert_true(f.f_t == 0);
    // a contact that sticks is not cut
    b.v[0] = -1e-3;
    spring = 0;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_false(f.sliding);
    check_near(spring, 1e-4, 1e-18);
}

static void separated_and_saturated_contacts_are_special(void **state) {
    (void)state;
    const sim_contact_law law = {.kn = 100, .kt = 50, .gamma_n = 20, .gamma_t = 3, .mu = .4};
    const sim_body_state a = {.inv_mass = 1, .inv_inertia = 1},
                         b = {.x = {0, 1}, .v = {1, 3}, .inv_mass = 1, .inv_inertia = 1};
    double spring = .5;
    sim_contact_force f;
    // apart: nothing acts, the spring is dropped
    sim_contact c = {.d = 0, .g = {0, 1}};
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_true(spring == 0 && f.f_n == 0 && f.f_t == 0 && f.force[1] == 0 && f.torque_a == 0 && f.torque_b == 0);
    check_near(f.u_n, 3, 0);
    // leaving fast: damping would pull, which is cut
    c.d = -.1;
    spring = .5;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_true(f.f_n == 0 && f.f_t == 0);
    // saturated: normal force along the small gradient, no friction, counted
    c = (sim_contact){.d = -.1, .g = {0, .049}};
    spring = .5;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_true(f.saturated && f.f_t == 0 && f.u_t == 0 && spring == 0);
    check_near(f.force[1], .049 * (10 - 20 * .049 * 3), 1e-14);
    c.g[1] = .051;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_false(f.saturated);
    // a NaN is handed on, not swallowed
    c.d = NAN;
    law_apply(&law, &c, &a, &b, .1, &spring, &f);
    assert_true(isnan(f.f_n) && isnan(f.force[1]));
}

static void fixed_bodies_do_not_divide_by_zero(void **state) {
    (void)state;
    const sim_contact_law law = {.kn = 100, .kt = 50, .gamma_n = NAN, .gamma_t = NAN, .zeta = .3, .mu = .4};
    const sim_body_state fixed = {0};
    const sim_contact c = {.d = -.1, .g = {0, 1}, .r_a = .1, .r_b = -.9};
    double spring = 0;
    sim_contact_force f;
    law_apply(&law, &c, &fixed, &fixed, .1, &spring, &f);
    check_near(f.f_n, 10, 1e-14);
    // against a fixed body m_eff is that of the other: gamma_n = 2 zeta sqrt(k m)
    const sim_body_state b = {.v = {0, -1}, .inv_mass = .25, .inv_inertia = 1};
    law_apply(&law, &c, &fixed, &b, .1, &spring, &f);
    check_near(f.f_n, 10 + 2 * .3 * sqrt(100 * 4), 1e-13);
}

// A mass that hits a fixed body obliquely: energy after it plus what was booked as lost, over the energy before it.
static double balance(double dt, double mu) {
    const sim_contact_law law = {.kn = 1e4, .kt = 7e3, .gamma_n = 15, .gamma_t = 6, .mu = mu};
    const sim_body_state a = {0};
    sim_body_state b = {.v = {.8, -1}, .omega = 2, .inv_mass = 1, .inv_inertia = 3};
    sim_slot slot = {.c = {.d = 0, .g = {0, 1}, .r_a = 0, .r_b = -.5}};
    const double first = .5 * (.64 + 1) + .5 * 4 / 3;
    double booked[SIM_LOST_COUNT] = {0};
    for (int step = 0; step == 0 || slot.c.d < 0; ++step) {
        sim_slot_apply(&law, &a, &b, dt, &slot);
        for (int k = 0; k < 2; ++k) b.v[k] += dt * slot.f.force[k] * b.inv_mass;
        b.omega += dt * slot.f.torque_b * b.inv_inertia;
        sim_slot_dissipation(&slot, &a, &b, dt, booked);
        slot.c.d += dt * b.v[1];
    }
    sim_slot_apply(&law, &a, &b, dt, &slot); // apart: the spring is dropped with what it holds
    const double lost = booked[SIM_LOST_NORMAL] + booked[SIM_LOST_TANGENTIAL] + slot.loss;
    const double last = .5 * (b.v[0] * b.v[0] + b.v[1] * b.v[1]) + .5 * b.omega * b.omega / 3;
    assert_true(last < .9 * first);
    return (last + lost) / first;
}

static void losses_close_the_balance_of_one_contact(void **state) {
    (void)state;
    static const double mus[] = {0, .05, .3, 2}; // smooth, sliding throughout, mixed, held
    for (size_t i = 0; i < sizeof mus / sizeof *mus; ++i) {
        check_near(balance(1e-5, mus[i]), 1, 1e-6); // t_c is about .03
        check_near(balance(1e-4, mus[i]), 1, 1e-5);
        check_near(balance(2e-3, mus[i]), 1, 5e-3); // dt sqrt(k/m) = .2
    }
}

// Two contacts of one geometry with shares of the stiffness act and store as one does, sticking and sliding.
static void shares_add_up_to_one_contact(void **state) {
    (void)state;
    const sim_contact_law law = {.kn = 1e4, .kt = 7e3, .gamma_n = NAN, .gamma_t = NAN, .zeta = .2, .mu = .3};
    sim_body_state a = {.inv_mass = 1, .inv_inertia = 2}, b = {.x = {0, 2}, .inv_mass = .5, .inv_inertia = 1};
    sim_slot one = {0}, part[2] = {0};
    for (int step = 0; step < 40; ++step) {
        b.v[0] = .5 * sin(.4 * step);
        b.v[1] = .1 * cos(.3 * step);
        const sim_contact c = {.d = -.01 - .002 * sin(step), .g = {0, .9}, .d_theta_b = .3, .r_a = 1, .r_b = -1};
        const double share = .6;
        one.c = part[0].c = part[1].c = c;
        part[0].c.shared = 1 - share;
        part[1].c.shared = share;
        sim_slot_apply(&law, &a, &b, 1e-3, &one);
        double force[2] = {0, 0}, torque = 0, stored = 0, loss = 0;
        for (int k = 0; k < 2; ++k) {
            sim_slot_apply(&law, &a, &b, 1e-3, &part[k]);
            force[0] += part[k].f.force[0];
            force[1] += part[k].f.force[1];
            torque += part[k].f.torque_b;
            stored += .5 * law.kt * part[k].spring * part[k].spring;
            loss += part[k].loss;
        }
        check_near(force[0], one.f.force[0], 1e-12);
        check_near(force[1], one.f.force[1], 1e-12);
        check_near(torque, one.f.torque_b, 1e-12);
        check_near(stored, .5 * law.kt * one.spring * one.spring, 1e-14);
        check_near(loss, one.loss, 1e-14);
    }
    // a contact without a share does nothing and keeps no spring
    part[0].c.shared = 1;
    sim_slot_apply(&law, &a, &b, 1e-3, &part[0]);
    check_near(part[0].f.f_n, 0, 0);
    check_near(part[0].f.f_t, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeta_has_the_published_values),
        cmocka_unit_test(zeta_inverts_restitution),
        cmocka_unit_test(zeta_passes_critical_damping),
        cmocka_unit_test(zeta_refuses_what_cannot_be),
        cmocka_unit_test(restitution_is_realised_for_any_masses_and_arms),
        cmocka_unit_test(signs_are_those_of_the_equations),
        cmocka_unit_test(momentum_is_conserved_for_any_contact),
        cmocka_unit_test(friction_is_cut_and_its_spring_remembers),
        cmocka_unit_test(separated_and_saturated_contacts_are_special),
        cmocka_unit_test(fixed_bodies_do_not_divide_by_zero),
        cmocka_unit_test(losses_close_the_balance_of_one_contact),
        cmocka_unit_test(shares_add_up_to_one_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
