/// Who takes the energy: dashpots and friction have known shares in impacts, in sliding, in holding and in coming to
/// roll, against planes and between grains.
#include "sim_physics.h"
#include "sim_private.h"

static const double GRAVITY = 9.81;

static sim_type_def block, discs[2]; // 1.5 m x 1 m; R = 1 and .5 m
static double last_balance;

static int make(void **state) {
    (void)state;
    return sim_fixture_block("block", 1.5, 1, 1, &block, NULL) != CORE_OK ||
           sim_fixture_disc("large", 256, 1, 1, &discs[0], NULL) != CORE_OK ||
           sim_fixture_disc("small", 256, .5, 3, &discs[1], NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&block.shape);
    for (int k = 0; k < 2; ++k) sdf_shape_clear(&discs[k].shape);
    return 0;
}

// The shares add up to what was lost in all directions.
static sim_totals totals(const sim_world *w) {
    sim_totals t;
    sim_world_totals(w, &t);
    const double sum = t.dissipated_normal + t.dissipated_tangential;
    check_near(t.dissipated_damping + t.dissipated_friction, sum, 1e-12 * (1e-9 + fabs(sum)));
    last_balance = t.kinetic + t.potential + t.elastic + t.dissipated_damping + t.dissipated_friction + t.removed;
    return t;
}

// ---------------------------------------------------------------------------------------------- sliding

// The block at its elastic depth on a floor, gravity turned by `tilt` from the vertical; slides at v.
static sim_world *set_down(double tilt, double zeta, double mu, double fraction, double v) {
    const sim_boundary_def floor = physics_floor(0);
    const double weight = GRAVITY * sim_fixture_mass(&block), kn = weight * cos(tilt) / 2e-4;
    const sim_contact_law law = sim_fixture_law(kn, zeta, mu);
    const double dt = sim_dt_auto(1, &block, 1, (sim_contact_law[2]){law, law}, fraction);
    sim_world *w = physics_world(1, 1, &block, 1, &floor, law, GRAVITY, dt, (sim_narrow){0});
    // smoothing over +-.001 rad lowers a flat face by half of its half length times that
    physics_add(w, 0, 0, .5 - 2e-4 + .00025 * 1.5, 0, v, 0, 0);
    w->gravity[0] = GRAVITY * sin(tilt);
    w->gravity[1] = -GRAVITY * cos(tilt);
    return w;
}

static void a_sliding_block_pays_mu_n_times_its_way(void **state) {
    (void)state;
    static const double degrees[] = {0, 20, 35}, mus[] = {.1, .3, .3};
    for (int i = 0; i < 3; ++i) {
        const double tilt = degrees[i] * CORE_PI / 180, force = mus[i] * GRAVITY * sim_fixture_mass(&block) * cos(tilt);
        sim_world *w = set_down(tilt, .5, mus[i], .25, 5);
        physics_steps(w, (int64_t)(1 / w->dt)); // it has leaned back by then
        const sim_totals before = totals(w);
        const double x = sim_world_state(w).x[0], sum = last_balance;
        physics_steps(w, (int64_t)(1 / w->dt));
        const sim_totals after = totals(w);
        const double way = sim_world_state(w).x[0] - x,
                     friction = after.dissipated_friction - before.dissipated_friction;
        char name[80];
        snprintf(name, sizeof name, "block slides, %.0f degrees, mu %.1f: friction, mu m g cos a x way", degrees[i],
                 mus[i]);
        physics_row(name, 1, friction / (force * way), 1e-3);
        snprintf(name, sizeof name, "block slides, %.0f degrees, mu %.1f: damping, of that", degrees[i], mus[i]);
        physics_row_below(name, 1e-4, (after.dissipated_damping - before.dissipated_damping) / (force * way));
        snprintf(name, sizeof name, "block slides, %.0f degrees, mu %.1f: balance, of that", degrees[i], mus[i]);
        physics_row_below(name, .005, (last_balance - sum) / (force * way));
        // taken out while it slides, it takes its energy along and leaves the books as they are
        const double there = last_balance;
        sim_world_leave(w, 1, (const int[1]){0});
        check_near(totals(w).dissipated_friction, after.dissipated_friction, 1e-12 * after.dissipated_friction);
        check_near(last_balance, there, 1e-12 * (fabs(there) + after.kinetic));
        sim_world_destroy(&w);
    }
}

static void undamped_sliding_leaves_nothing_to_damping(void **state) {
    (void)state;
    sim_world *w = set_down(.3, 0, .2, .25, 3);
    physics_steps(w, (int64_t)(1 / w->dt));
    const sim_totals t = totals(w);
    physics_row("undamped block slides: damping, J", 0, t.dissipated_damping, 1e-12 * t.dissipated_friction);
    assert_true(t.dissipated_friction > .1);
    sim_world_destroy(&w);
}

// Friction that holds does no work: a shove goes into the dashpots.
static void a_held_block_leaves_nothing_to_friction(void **state) {
    (void)state;
    sim_world *w = set_down(0, .3, 50, .02, .01);
    physics_steps(w, 1); // the springs' energy is known then
    const sim_totals before = totals(w);
    physics_steps(w, (int64_t)(2 / w->dt));
    const sim_totals t = totals(w);
    const double lost = before.kinetic + before.potential + before.elastic - t.kinetic - t.potential - t.elastic;
    assert_true(lost > .9 * before.kinetic);
    physics_row("block held and shoved: damping, of what was lost", 1,
                (t.dissipated_damping - before.dissipated_damping) / lost, .005);
    physics_row_below("block held and shoved: friction, of what was lost", .005,
                      (t.dissipated_friction - before.dissipated_friction) / lost);
    sim_world_destroy(&w);
}

// A disc launched without spin slides until it rolls; friction takes kappa/(1 + kappa) of its energy.
static void a_launched_disc_pays_until_it_rolls(void **state) {
    (void)state;
    const sim_boundary_def floor = physics_floor(0);
    const double m = sim_fixture_mass(&discs[0]), kn = GRAVITY * m / 1e-4, v = 3;
    const sim_contact_law law = sim_fixture_law(kn, .3, .2);
    const double dt = sim_dt_auto(1, discs, 1, (sim_contact_law[2]){law, law}, .1);
    sim_world *w = physics_world(1, 1, discs, 1, &floor, law, GRAVITY, dt, (sim_narrow){0});
    // averaged over one facet to either side a regular polygon has the same height at every angle: it is round
    w->smoothing = CORE_PI / 256;
    double h, dh;
    sim_support_evaluate(&w->support[0], 0, w->smoothing, &h, &dh);
    physics_add(w, 0, 0, -h - 1e-4, 0, v, 0, 0);
    physics_steps(w, (int64_t)(1 / dt)); // rolls after kappa v/((1 + kappa) mu g) = .51 s
    const sim_totals t = totals(w);
    const double kappa = discs[0].shape.second_moment / discs[0].shape.area;
    physics_row("launched disc: friction, m v^2/2", kappa / (1 + kappa), t.dissipated_friction / (.5 * m * v * v),
                1e-3);
    physics_row_below("launched disc: damping, m v^2/2", 1e-3, t.dissipated_damping / (.5 * m * v * v));
    sim_world_destroy(&w);
}

// ---------------------------------------------------------------------------------------------- impacts

// Two discs meet along x at u_n, with u_t across, and part again; viscous: 1/s, a dashpot instead of the tangential
// spring, in units of m_eff.
static sim_totals collide(double e, double mu, double viscous, double u_n, double u_t) {
    sim_fixture_circles circles;
    const double m_a = sim_fixture_mass(&discs[0]), m_b = sim_fixture_mass(&discs[1]), m_eff = m_a * m_b / (m_a + m_b);
    sim_contact_law law = sim_fixture_law(m_eff * 1e8, 0, mu);
    check_ok(sim_zeta_of_restitution(e, &law.zeta, err));
    if (viscous > 0) law.kt = 0, law.gamma_t = viscous * m_eff;
    const double dt = .002 / sqrt(1e8);
    sim_world *w = physics_world(2, 2, discs, 0, NULL, law, 0, dt, sim_fixture_circle_narrow(2, discs, &circles));
    physics_add(w, 0, 0, 0, 0, .3 * u_n, 0, 0);
    physics_add(w, 1, 1.5 + 1e-12, 0, 0, -.7 * u_n, u_t, 0);
    const double energy = totals(w).kinetic;
    physics_steps(w, 4000); // half a period is 1571 of them
    const sim_totals t = totals(w);
    assert_int_equal(t.count_contacts, 0);
    check_near(last_balance, energy, .005 * (t.dissipated_damping + t.dissipated_friction));
    sim_world_destroy(&w);
    return t;
}

static void a_head_on_impact_is_the_dashpots(void **state) {
    (void)state;
    static const double es[] = {.9, .5, .3};
    const double m_a = sim_fixture_mass(&discs[0]), m_b = sim_fixture_mass(&discs[1]), m_eff = m_a * m_b / (m_a + m_b);
    for (int i = 0; i < 3; ++i) {
        const sim_totals t = collide(es[i], .5, 0, 1, 0);
        char name[80];
        snprintf(name, sizeof name, "discs head-on, e %.1f: damping, m_eff v^2/2", es[i]);
        physics_row(name, 1 - es[i] * es[i], t.dissipated_damping / (.5 * m_eff), .005);
        physics_row("discs head-on: friction, J", 0, t.dissipated_friction, 0);
    }
}

// Sliding throughout: the tangential impulse is mu P, and friction takes it times the mean of the rates before and
// after.
static void an_oblique_impact_pays_both(void **state) {
    (void)state;
    static const double es[] = {1, .8, .4}, mu = .1, u_n = .5, u_t = 1;
    const double m_a = sim_fixture_mass(&discs[0]), m_b = sim_fixture_mass(&discs[1]), m_eff = m_a * m_b / (m_a + m_b);
    const double inverse_t =
        1 / m_eff + 1 / sim_fixture_inertia(&discs[0]) + .25 / sim_fixture_inertia(&discs[1]); // R^2/I of both
    for (int i = 0; i < 3; ++i) {
        const sim_totals t = collide(es[i], mu, 0, u_n, u_t);
        const double p = (1 + es[i]) * m_eff * u_n, friction = mu * p * (u_t - .5 * mu * p * inverse_t);
        assert_true(mu * p * inverse_t < .7 * u_t); // still sliding at the end
        char name[80];
        snprintf(name, sizeof name, "discs obliquely, e %.1f: friction, mu P x mean rate", es[i]);
        physics_row(name, 1, t.dissipated_friction / friction, .005);
        snprintf(name, sizeof name, "discs obliquely, e %.1f: damping, m_eff u_n^2/2", es[i]);
        physics_row(name, 1 - es[i] * es[i], t.dissipated_damping / (.5 * m_eff * u_n * u_n), es[i] < 1 ? .005 : 1e-12);
    }
}

// Without a tangential spring, and never at Coulomb's limit: the dashpots take the rate across, too.
static void dashpots_alone_take_all_of_an_impact(void **state) {
    (void)state;
    const double m_a = sim_fixture_mass(&discs[0]), m_b = sim_fixture_mass(&discs[1]), m_eff = m_a * m_b / (m_a + m_b);
    const sim_totals t = collide(.8, 1e6, 3000, .5, 1);
    const double normal = .36 * .5 * m_eff * .25;
    physics_row("discs, dashpots alone: friction, of what was lost", 0, t.dissipated_friction / t.dissipated_damping,
                1e-9);
    physics_row("discs, dashpots alone: in normal direction", 1, t.dissipated_normal / normal, .005);
    // u_t decays as exp(-gamma inverse_t t_c)
    const double inverse_t =
        1 / m_eff + 1 / sim_fixture_inertia(&discs[0]) + .25 / sim_fixture_inertia(&discs[1]); // R^2/I of both
    double zeta;
    check_ok(sim_zeta_of_restitution(.8, &zeta, err));
    const double duration = -log(.8) / (zeta * 1e4), left = exp(-3000 * m_eff * inverse_t * duration);
    physics_row("discs, dashpots alone: across", .5 / inverse_t * (1 - left * left), t.dissipated_damping - normal,
                .005 * .5 / inverse_t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliding_block_pays_mu_n_times_its_way),
        cmocka_unit_test(undamped_sliding_leaves_nothing_to_damping),
        cmocka_unit_test(a_held_block_leaves_nothing_to_friction),
        cmocka_unit_test(a_launched_disc_pays_until_it_rolls),
        cmocka_unit_test(a_head_on_impact_is_the_dashpots),
        cmocka_unit_test(an_oblique_impact_pays_both),
        cmocka_unit_test(dashpots_alone_take_all_of_an_impact),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
