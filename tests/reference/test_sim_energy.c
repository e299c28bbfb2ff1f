/// Conservation: energy balance with friction and damping, drift without, momentum for the worst map there can be, and
/// the symmetries of space - rigid motion and scale.
#include "sim_physics.h"
#include "sim_private.h"

static double energy(const sim_totals *t) {
    return t->kinetic + t->potential + t->elastic;
}

// ---------------------------------------------------------------------------------------------- balance

// Largest residual of the balance over a run, in units of the energy that there was to lose.
static double residual(sim_world *w, int64_t steps, double bottom, double *lost) {
    sim_totals first, t;
    sim_world_totals(w, &first);
    double worst = 0;
    for (int64_t i = 0; i < steps; ++i) {
        physics_steps(w, 1);
        if (i % 10 != 9) continue;
        sim_world_totals(w, &t);
        worst = fmax(worst, fabs(energy(&first) - energy(&t) - t.dissipated_normal - t.dissipated_tangential));
    }
    sim_world_totals(w, &t);
    *lost = (t.dissipated_normal + t.dissipated_tangential) / (energy(&first) - bottom);
    return worst / (energy(&first) - bottom);
}

static void friction_and_damping_account_for_what_is_missing(void **state) {
    (void)state;
    // twelve discs of two sizes fall into a box, spinning and crosswise; closed-form contacts
    sim_type_def discs[2];
    sim_fixture_circles circles;
    check_ok(sim_fixture_disc("a", 96, .02, 2500, &discs[0], err));
    check_ok(sim_fixture_disc("b", 96, .03, 2500, &discs[1], err));
    const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -.25, .present = true}};
    static const double mus[] = {0, .1, .5};
    for (int m = 0; m < 3; ++m) {
        const sim_contact_law law = sim_fixture_law(1e6, .25, mus[m]);
        sim_contact_law laws[10];
        sim_fixture_laws(law, 2, 3, laws);
        const double dt = sim_dt_auto(2, discs, 3, laws, .25);
        sim_world *w =
            physics_world(12, 2, discs, 3, box, law, 9.81, dt, sim_fixture_circle_narrow(2, discs, &circles));
        for (int i = 0; i < 12; ++i)
            physics_add(w, i % 2, .035 + .06 * (i % 4), .1 + .07 * (i / 4), i, .3 * (i % 3 - 1), -.5, 20 * (i % 5 - 2));
        double lost, worst = residual(w, (int64_t)(1.5 / dt), 0, &lost);
        char name[80];
        snprintf(name, sizeof name, "discs, mu %.1f, dt auto: balance residual (%.0f %% dissipated)", mus[m],
                 100 * lost);
        physics_row_below(name, .005, worst);
        assert_true(lost > .3);
        sim_world_destroy(&w);
    }
    for (int k = 0; k < 2; ++k) sdf_shape_clear(&discs[k].shape);
}

static void non_convex_grains_keep_the_balance_too(void **state) {
    (void)state;
    // three U through the minimiser: hooks, corners, flat faces
    sim_type_def u;
    check_ok(sim_fixture_u("u", .02, 2500, &u, err));
    const sim_boundary_def floor = physics_floor(0);
    const sim_contact_law law = sim_fixture_law(3e5, .25, .4);
    const double dt = sim_dt_auto(1, &u, 1, (sim_contact_law[2]){law, law}, .1); // kinks of d cost of the order of dt
    sim_narrow narrow;
    check_ok(sim_narrow_minimiser(1, &u, 256, .002, 1, &narrow, err));
    sim_world *w = physics_world(3, 1, &u, 1, &floor, law, 9.81, dt, narrow);
    physics_add(w, 0, 0, .021, .2, 0, 0, 0);
    physics_add(w, 0, .012, .065, 2.5, -.2, -.4, 5);
    physics_add(w, 0, -.012, .107, 4, .1, -.6, -5);
    double lost, worst = residual(w, (int64_t)(.15 / dt), 0, &lost);
    physics_row_below("three U, minimiser, .4 of dt auto: balance residual", .005, worst);
    assert_true(lost > .2);
    sim_world_destroy(&w);
    sdf_shape_clear(&u.shape);
}

// 50 discs in a box without gravity, damping and friction: relative change of the energy after about 200 collisions.
static double drift(const sim_type_def *disc, double fraction, double time) {
    sim_fixture_circles circles;
    const sim_boundary_def box[4] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -1, .present = true},
                                     {.normal = {0, -1}, .offset = -1, .present = true}};
    const sim_contact_law law = {.kn = 1e6, .kt = 0};
    sim_contact_law laws[5];
    sim_fixture_laws(law, 1, 4, laws);
    const double dt = sim_dt_auto(1, disc, 4, laws, fraction);
    sim_world *w = physics_world(50, 1, disc, 4, box, law, 0, dt, sim_fixture_circle_narrow(1, disc, &circles));
    core_random r;
    core_random_init(&r, 3, 0);
    for (int i = 0; i < 50; ++i)
        physics_add(w, 0, .1 + .12 * (i % 7), .1 + .12 * (i / 7), 0, 2 * core_random_uniform(&r) - 1,
                    2 * core_random_uniform(&r) - 1, 0);
    sim_totals first, last;
    sim_world_totals(w, &first);
    physics_steps(w, (int64_t)(time / dt));
    sim_world_totals(w, &last);
    assert_true(fabs(last.dissipated_normal) < 1e-9 * first.kinetic + fabs(energy(&last) - energy(&first)));
    sim_world_destroy(&w);
    return energy(&last) / energy(&first) - 1;
}

static void without_losses_energy_stays(void **state) {
    (void)state;
    sim_type_def disc;
    check_ok(sim_fixture_disc("disc", 96, .04, 2500, &disc, err));
    const double coarse = drift(&disc, .25, 1.5), fine = drift(&disc, .0625, 1.5);
    physics_row_below("undamped, 50 discs: energy drift at dt auto", 1e-2, coarse);
    physics_row_below("undamped, 50 discs: energy drift at a quarter of it", 1e-3, fine);
    sdf_shape_clear(&disc.shape);
}

// 50 U and blocks in a box, exact narrow phase; collisions counted as contacts that begin.
static double drift_of_odd_grains(double fraction, double smoothing, int64_t *collisions) {
    sim_type_def types[2];
    check_ok(sim_fixture_u("u", .04, 2500, &types[0], err));
    check_ok(sim_fixture_block("block", .07, .03, 2500, &types[1], err));
    const sim_boundary_def box[4] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -1, .present = true},
                                     {.normal = {0, -1}, .offset = -1, .present = true}};
    const sim_contact_law law = {.kn = 1e6, .kt = 0};
    sim_contact_law laws[12];
    sim_narrow narrow;
    sim_fixture_laws(law, 2, 4, laws);
    check_ok(sim_narrow_exact(2, types, smoothing, 1, &narrow, err));
    const double dt = sim_dt_auto(2, types, 4, laws, fraction);
    sim_world *w = physics_world(50, 2, types, 4, box, law, 0, dt, narrow);
    core_random r;
    core_random_init(&r, 3, 0);
    for (int i = 0; i < 50; ++i)
        physics_add(w, i % 2, .1 + .12 * (i % 7), .1 + .12 * (i / 7), i, 2 * core_random_uniform(&r) - 1,
                    2 * core_random_uniform(&r) - 1, 10 * (core_random_uniform(&r) - .5));
    sim_totals first, t;
    sim_world_totals(w, &first);
    int64_t before = 0;
    *collisions = 0;
    for (int64_t i = 0; i < 10000000 && *collisions < 200; ++i) {
        physics_steps(w, 1);
        int64_t now = 0;
        for (int p = 0; p < w->pairs.n; ++p) now += w->pairs.count[p] > 0;
        *collisions += now > before ? now - before : 0;
        before = now;
    }
    sim_world_totals(w, &t);
    sim_world_destroy(&w);
    for (int k = 0; k < 2; ++k) sdf_shape_clear(&types[k].shape);
    return energy(&t) / energy(&first) - 1;
}

static void without_losses_energy_stays_for_odd_shapes(void **state) {
    (void)state;
    static const double fractions[] = {.25, .125, .0625}, bounds[] = {2e-2, 3e-3, 1e-3};
    for (int i = 0; i < 3; ++i) {
        int64_t collisions;
        const double found = drift_of_odd_grains(fractions[i], .001, &collisions);
        char name[80];
        snprintf(name, sizeof name, "undamped, 50 U and blocks, exact: drift at %.4f, %lld collisions", fractions[i],
                 (long long)collisions);
        physics_row_below(name, bounds[i], found);
    }
}

// ---------------------------------------------------------------------------------------------- the worst map

enum { GRAINS = 40 };
static sim_type_def odd[2];

static int make(void **state) {
    (void)state;
    return sim_fixture_u("u", .02, 2500, &odd[0], NULL) != CORE_OK ||
           sim_fixture_block("block", .03, .012, 2500, &odd[1], NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&odd[0].shape);
    sdf_shape_clear(&odd[1].shape);
    return 0;
}

// A crowd that the random map pushes about; turned by `turn` about the origin, then moved.
static sim_world *crowd(const cspace_bundle *bundle, sim_contact_law law, double dt, double turn,
                        const double move[2]) {
    sim_narrow narrow;
    check_ok(sim_narrow_neural(bundle, 2, odd, 1, &narrow, err));
    sim_world *w = physics_world(GRAINS, 2, odd, 0, NULL, law, 0, dt, narrow);
    core_random r;
    core_random_init(&r, 11, 0);
    const double c = cos(turn), s = sin(turn);
    for (int i = 0; i < GRAINS; ++i) {
        const double x = .03 * (i % 8) + .005 * core_random_uniform(&r),
                     y = .03 * (i / 8) + .005 * core_random_uniform(&r);
        const double vx = core_random_uniform(&r) - .5, vy = core_random_uniform(&r) - .5;
        const double angle = 6 * core_random_uniform(&r), omega = 40 * (core_random_uniform(&r) - .5);
        physics_add(w, i % 2, c * x - s * y + move[0], s * x + c * y + move[1], angle + turn, c * vx - s * vy,
                    s * vx + c * vy, omega);
    }
    return w;
}

static void momentum_is_kept_whatever_the_map(void **state) {
    (void)state;
    cspace_bundle bundle;
    check_ok(sim_fixture_random_bundle(2, odd, 99, true, &bundle, err));
    static const double nowhere[2] = {0, 0};
    sim_world *w = crowd(&bundle, sim_fixture_law(2e4, .3, .5), 2e-5, 0, nowhere);
    sim_totals first, t;
    sim_world_totals(w, &first);
    double linear = 0, angular = 0;
    int64_t contacts = 0;
    for (int i = 0; i < 3000; ++i) {
        physics_steps(w, 1);
        sim_world_totals(w, &t);
        contacts += t.count_contacts;
        // what flows about: sums of absolute values
        const sim_state s = sim_world_state(w);
        double p = 0, l = 0;
        for (int k = 0; k < s.n; ++k) {
            const double speed = sqrt(s.v[2 * k] * s.v[2 * k] + s.v[2 * k + 1] * s.v[2 * k + 1]);
            p += s.mass[k] * speed;
            l += s.mass[k] * speed * sqrt(s.x[2 * k] * s.x[2 * k] + s.x[2 * k + 1] * s.x[2 * k + 1]) +
                 s.inertia[k] * fabs(s.omega[k]);
        }
        linear =
            fmax(linear, fmax(fabs(t.momentum[0] - first.momentum[0]), fabs(t.momentum[1] - first.momentum[1])) / p);
        angular = fmax(angular, fabs(t.angular_momentum - first.angular_momentum) / l);
    }
    assert_true(contacts > 3000);
    assert_true(fabs(t.kinetic / first.kinetic - 1) > .1); // it was pushed about indeed
    physics_row_below("random map: change of linear momentum", 1e-12, linear);
    physics_row_below("random map: change of angular momentum", 1e-10, angular);
    sim_world_destroy(&w);
    cspace_bundle_clear(&bundle);
}

static void rigid_motion_changes_nothing(void **state) {
    (void)state;
    cspace_bundle bundle;
    check_ok(sim_fixture_random_bundle(2, odd, 98, false, &bundle, err)); // unfolded: no seam a pose could lie on
    static const double nowhere[2] = {0, 0}, move[2] = {3, -7};
    const sim_contact_law law = sim_fixture_law(2e4, .3, .5);
    const double dt = 2e-5, turn = 1.234;
    sim_world *w = crowd(&bundle, law, dt, 0, nowhere), *moved = crowd(&bundle, law, dt, turn, move);
    physics_steps(w, 1);
    physics_steps(moved, 1);
    const sim_state a = sim_world_state(w), b = sim_world_state(moved);
    const double c = cos(turn), s = sin(turn);
    // velocities gained in a step; the nets see poses that differ in the 15th digit in float
    const double scale = dt * 2e4 * .02 / a.mass[1];
    for (int i = 0; i < a.n; ++i) {
        check_near(b.v[2 * i], c * a.v[2 * i] - s * a.v[2 * i + 1], 1e-5 * scale);
        check_near(b.v[2 * i + 1], s * a.v[2 * i] + c * a.v[2 * i + 1], 1e-5 * scale);
        check_near(b.omega[i], a.omega[i], 1e-5 * scale / .02);
    }
    sim_world_destroy(&w);
    sim_world_destroy(&moved);
    cspace_bundle_clear(&bundle);
}

static void rigid_motion_changes_nothing_in_closed_form(void **state) {
    (void)state;
    // a heap of discs on an incline, followed in two frames for some steps: gravity and plane turn with it
    sim_type_def disc;
    sim_fixture_circles circles;
    check_ok(sim_fixture_disc("disc", 96, .02, 2500, &disc, err));
    const double turn = .9, c = cos(turn), s = sin(turn), move[2] = {.3, -.2};
    const sim_contact_law law = sim_fixture_law(1e5, .3, .5);
    sim_world *w[2];
    for (int k = 0; k < 2; ++k) {
        sim_boundary_def floor = physics_floor(k == 0 ? 0 : turn);
        floor.offset = k == 0 ? 0 : floor.normal[0] * move[0] + floor.normal[1] * move[1];
        w[k] = physics_world(6, 1, &disc, 1, &floor, law, 9.81, 1e-4, sim_fixture_circle_narrow(1, &disc, &circles));
        if (k == 1) {
            w[k]->gravity[0] = 9.81 * s;
            w[k]->gravity[1] = -9.81 * c;
        }
        for (int i = 0; i < 6; ++i) {
            const double x = .039 * (i % 3) + .01 * (i / 3), y = .02 + .035 * (i / 3), vx = .1 * i;
            physics_add(w[k], 0, k == 0 ? x : c * x - s * y + move[0], k == 0 ? y : s * x + c * y + move[1],
                        i + (k == 0 ? 0 : turn), k == 0 ? vx : c * vx, k == 0 ? 0 : s * vx, i);
        }
        physics_steps(w[k], 200);
    }
    const sim_state a = sim_world_state(w[0]), b = sim_world_state(w[1]);
    for (int i = 0; i < a.n; ++i) {
        check_near(b.x[2 * i], c * a.x[2 * i] - s * a.x[2 * i + 1] + move[0], 1e-12);
        check_near(b.x[2 * i + 1], s * a.x[2 * i] + c * a.x[2 * i + 1] + move[1], 1e-12);
        check_near(b.theta[i], a.theta[i] + turn, 1e-11);
    }
    for (int k = 0; k < 2; ++k) sim_world_destroy(&w[k]);
    sdf_shape_clear(&disc.shape);
}

// Lengths times 2^20 at the same masses and times: every bit of every number but the exponent stays.
static void scale_changes_no_bit(void **state) {
    (void)state;
    cspace_bundle bundle;
    check_ok(sim_fixture_random_bundle(2, odd, 97, true, &bundle, err));
    const sim_contact_law law = sim_fixture_law(2e4, .3, .5);
    sim_world *w[2];
    for (int k = 0; k < 2; ++k) {
        const double by = k == 0 ? 1 : 1048576;
        sim_type_def sized[2] = {odd[0], odd[1]};
        for (int t = 0; t < 2; ++t) {
            sized[t].radius *= by;
            sized[t].density /= by * by;
        }
        sim_narrow narrow;
        const sim_boundary_def floor = physics_floor(.25);
        check_ok(sim_narrow_neural(&bundle, 2, sized, 1, &narrow, err));
        w[k] = physics_world(GRAINS, 2, sized, 1, &floor, law, 9.81 * by, 2e-5, narrow);
        for (int i = 0; i < GRAINS; ++i)
            physics_add(w[k], i % 2, by * .03 * (i % 8), by * (.02 + .03 * (i / 8)), i, by * .1 * (i % 3), 0, i);
        physics_steps(w[k], 300);
    }
    const sim_state a = sim_world_state(w[0]), b = sim_world_state(w[1]);
    for (int i = 0; i < GRAINS; ++i) {
        assert_true(b.x[2 * i] == 1048576 * a.x[2 * i] && b.x[2 * i + 1] == 1048576 * a.x[2 * i + 1]);
        assert_true(b.v[2 * i] == 1048576 * a.v[2 * i] && b.v[2 * i + 1] == 1048576 * a.v[2 * i + 1]);
        assert_true(b.theta[i] == a.theta[i] && b.omega[i] == a.omega[i]);
    }
    for (int k = 0; k < 2; ++k) sim_world_destroy(&w[k]);
    cspace_bundle_clear(&bundle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_and_damping_account_for_what_is_missing),
        cmocka_unit_test(non_convex_grains_keep_the_balance_too),
        cmocka_unit_test(without_losses_energy_stays),
        cmocka_unit_test(without_losses_energy_stays_for_odd_shapes),
        cmocka_unit_test(momentum_is_kept_whatever_the_map),
        cmocka_unit_test(rigid_motion_changes_nothing),
        cmocka_unit_test(rigid_motion_changes_nothing_in_closed_form),
        cmocka_unit_test(scale_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
