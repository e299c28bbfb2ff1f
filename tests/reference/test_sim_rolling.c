/// Rolling: a disc rolls down an incline with a = 2/3 g sin a, has u_t = 0 at the contact, and starts to roll where it
/// must.
#include "sim_physics.h"

static sim_type_def disc, ring; // R = 1 m
static const double GRAVITY = 9.81;

static int make(void **state) {
    (void)state;
    // a thin ring: two rings of points, the inner one clockwise
    core_outline o = {0};
    const int counts[2] = {256, 256};
    core_status status = core_outline_create(2, counts, &o, NULL);
    for (int i = 0; status == CORE_OK && i < 256; ++i) {
        const double a = 2 * CORE_PI * i / 256;
        o.xy[2 * i] = cos(a);
        o.xy[2 * i + 1] = sin(a);
        o.xy[512 + 2 * i] = .95 * cos(-a);
        o.xy[512 + 2 * i + 1] = .95 * sin(-a);
    }
    ring = (sim_type_def){.name = "ring", .radius = 1, .density = 100};
    if (status == CORE_OK) status = sdf_shape_from_outline("ring", &o, &ring.shape, NULL);
    core_outline_clear(&o);
    return status != CORE_OK || sim_fixture_disc("disc", 96, 1, 100, &disc, NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&disc.shape);
    sdf_shape_clear(&ring.shape);
    return 0;
}

// A grain set down at its elastic depth on an incline; acceleration along it over a time in which it turns many facets
// past.
static double roll(const sim_type_def *type, double tilt, double mu, double *slip) {
    const sim_boundary_def floor = physics_floor(-tilt);
    // soft enough that the sinking is well above the facets' height R (1 - cos(pi/n)), as the contact of a disc; little
    // damping
    const double weight = GRAVITY * sim_fixture_mass(type), kn = weight / .004;
    const sim_contact_law law = sim_fixture_law(kn, .1, mu);
    const double dt = sim_dt_auto(1, type, 1, (sim_contact_law[2]){law, law}, .1);
    sim_world *w = physics_world(1, 1, type, 1, &floor, law, GRAVITY, dt, (sim_narrow){0});
    const double rest = 1 - weight * cos(tilt) / kn;
    physics_add(w, 0, rest * sin(tilt), rest * cos(tilt), 0, 0, 0, 0);
    // mean acceleration between two times, which frees it from the start-up
    const int64_t n = (int64_t)(1.5 / dt);
    double speed[2];
    double slip_sum = 0;
    for (int half = 0; half < 2; ++half) {
        for (int64_t i = 0; i < n; ++i) {
            physics_steps(w, 1);
            sim_contact_force f;
            sim_contact c;
            if (sim_world_contacts(w, 1, NULL, NULL, &c, &f) == 1) slip_sum += fabs(f.u_t);
        }
        const sim_state s = sim_world_state(w);
        speed[half] = s.v[0] * cos(tilt) - s.v[1] * sin(tilt);
    }
    *slip = slip_sum / (double)(2 * n) / speed[1];
    sim_world_destroy(&w);
    return (speed[1] - speed[0]) / ((double)n * dt);
}

static void a_disc_accelerates_at_two_thirds(void **state) {
    (void)state;
    double slip;
    const double tilt = 10 * CORE_PI / 180, a = roll(&disc, tilt, .5, &slip);
    const double kappa = disc.shape.second_moment / disc.shape.area; // of the polygon, 1/2 for a circle
    check_near(kappa, .5, .001);
    physics_row("disc rolls down: a, g sin a", 2. / 3, a / (GRAVITY * sin(tilt)), .01 * 2 / 3);
    physics_row_below("disc rolls down: mean |u_t|, of the speed", .01, slip);
}

static void a_thin_ring_accelerates_at_one_half(void **state) {
    (void)state;
    double slip;
    const double tilt = 10 * CORE_PI / 180, a = roll(&ring, tilt, .5, &slip);
    const double kappa = ring.shape.second_moment / ring.shape.area, expected = GRAVITY * sin(tilt) / (1 + kappa);
    physics_row("thin ring, kappa .95: a, g sin a", 1 / (1 + kappa), a / (GRAVITY * sin(tilt)), .01 / (1 + kappa));
    check_near(a, expected, .01 * expected);
}

static void too_little_friction_lets_it_slide(void **state) {
    (void)state;
    double slip;
    // needs mu >= tan a kappa/(1 + kappa) = .0588 at 10 degrees; with half of that it slides
    const double tilt = 10 * CORE_PI / 180, mu = .03, a = roll(&disc, tilt, mu, &slip);
    physics_row("disc, mu half of tan a kappa/(1 + kappa): slides with a, g sin a", 1 - mu / tan(tilt),
                a / (GRAVITY * sin(tilt)), .01);
    assert_true(slip > .1);
}

// Kinematics alone: v = -omega R over the contact gives u_t = 0 for any sinking, on the plane and between two grains.
static void rolling_without_slip_has_no_tangential_rate(void **state) {
    (void)state;
    const sim_boundary_def floor = physics_floor(0);
    const sim_contact_law law = sim_fixture_law(1e5, .1, .5);
    sim_world *w = physics_world(1, 1, &disc, 1, &floor, law, 0, 1e-5, (sim_narrow){0});
    const double height = .99, h = -cos(CORE_PI / 96), d = height + h; // standing on a facet
    // the contact point lies at half the overlap: the disc turns about it
    const double omega = -3, arm = h - d / 2;
    physics_add(w, 0, 0, height, CORE_PI / 96, omega * arm, 0, omega);
    physics_steps(w, 1);
    sim_contact c;
    sim_contact_force f;
    assert_int_equal(sim_world_contacts(w, 1, NULL, NULL, &c, &f), 1);
    check_near(c.r_b, arm, 1e-4);
    check_near(f.u_t, 0, 3e-4);
    assert_true(f.u_t > -3e-4);
    sim_world_destroy(&w);

    // two grains that roll on each other like gears: v equal, omega opposite
    sim_narrow narrow;
    check_ok(sim_narrow_minimiser(1, &disc, 256, .001, 1, &narrow, err));
    w = physics_world(2, 1, &disc, 0, NULL, law, 0, 1e-5, narrow);
    physics_add(w, 0, 0, 0, 0, .2, -.7, 2);
    physics_add(w, 0, 1.99, 0, 0, .2, -.7 + 2 * 1.99, 2); // v_B - v_A = omega x (x_B - x_A): the pair turns as one body
    physics_steps(w, 1);
    assert_int_equal(sim_world_contacts(w, 1, NULL, NULL, &c, &f), 1);
    check_near(f.u_t, 0, 1e-12); // by the identity r_A - r_B = (x_B - x_A).n, to rounding
    check_near(f.u_n, 0, 1e-9);
    sim_world_destroy(&w);
}

static void a_launched_disc_comes_to_roll(void **state) {
    (void)state;
    // at v0 without spin: rolls at v0/(1 + kappa) after t = kappa v0/((1 + kappa) mu g)
    const sim_boundary_def floor = physics_floor(0);
    const double weight = GRAVITY * sim_fixture_mass(&disc), kn = weight / .004, mu = .2, v0 = 3;
    const sim_contact_law law = sim_fixture_law(kn, .3, mu);
    const double dt = sim_dt_auto(1, &disc, 1, (sim_contact_law[2]){law, law}, .1);
    sim_world *w = physics_world(1, 1, &disc, 1, &floor, law, GRAVITY, dt, (sim_narrow){0});
    physics_add(w, 0, 0, 1 - weight / kn, 0, v0, 0, 0);
    const double kappa = .5, time = kappa * v0 / ((1 + kappa) * mu * GRAVITY);
    physics_steps(w, (int64_t)(.9 * time / dt));
    sim_state s = sim_world_state(w);
    assert_true(s.v[0] + s.omega[0] > .05 * v0); // still sliding
    physics_row("launched disc: sliding, v at .9 of the time, v0", 1 - mu * GRAVITY * s.time / v0, s.v[0] / v0, .01);
    physics_steps(w, (int64_t)(.2 * time / dt));
    s = sim_world_state(w);
    physics_row("launched disc: rolls at, v0", 1 / (1 + kappa), s.v[0] / v0, .01 / (1 + kappa));
    physics_row("launched disc: omega R + v, v0", 0, (s.omega[0] + s.v[0]) / v0, .01);
    sim_world_destroy(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disc_accelerates_at_two_thirds),
        cmocka_unit_test(a_thin_ring_accelerates_at_one_half),
        cmocka_unit_test(too_little_friction_lets_it_slide),
        cmocka_unit_test(rolling_without_slip_has_no_tangential_rate),
        cmocka_unit_test(a_launched_disc_comes_to_roll),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
