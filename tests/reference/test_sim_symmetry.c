/// Symmetries of the numeric narrow phases: closed loops in the space of poses, motion, mirror image and exchange of
/// the grains, scale.
#include "sim_physics.h"
#include "sim_private.h"

static sim_type_def odd[2];

static int make(void **state) {
    (void)state;
    return sim_fixture_u("u", 1, 2500, &odd[0], NULL) != CORE_OK ||
           sim_fixture_block("block", 1.5, .6, 2500, &odd[1], NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&odd[0].shape);
    sdf_shape_clear(&odd[1].shape);
    return 0;
}

// ---------------------------------------------------------------------------------------------- closed loops

// Integral of the gradient along a closed curve of poses around a random touching one, by the midpoint rule: largest of
// some loops, units of L.
static double loop_integral(const sim_narrow *narrow, int loops, int points, double *depth) {
    core_random r;
    core_random_init(&r, 3, 0);
    double worst = 0;
    *depth = 0;
    for (int n = 0; n < loops;) {
        cspace_pose centre = {2 * CORE_PI * core_random_uniform(&r), 2 * core_random_uniform(&r) - 1,
                              2 * core_random_uniform(&r) - 1};
        sim_contact c;
        int count;
        narrow->evaluate(narrow->self, 1, &centre, 1, 1, &count, &c, 0);
        if (!(c.d < -.04 && c.d > -.1)) continue;
        ++n;
        double sum = 0;
        cspace_pose last = {0};
        for (int i = 0; i <= points; ++i) {
            const double a = 2 * CORE_PI * (i % points) / points;
            const cspace_pose q = {centre.theta + .15 * sin(a), centre.x + .05 * (cos(a) - 1),
                                   centre.y + .05 * sin(2 * a)};
            if (i > 0) {
                const cspace_pose middle = {.5 * (q.theta + last.theta), .5 * (q.x + last.x), .5 * (q.y + last.y)};
                narrow->evaluate(narrow->self, 1, &middle, 1, 1, &count, &c, 0);
                sum += c.d_theta_b * (q.theta - last.theta) + c.g[0] * (q.x - last.x) + c.g[1] * (q.y - last.y);
                *depth = fmax(*depth, -c.d);
            }
            last = q;
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

static void closed_loops_integrate_to_nothing(void **state) {
    (void)state;
    const struct {
        const char *name;
        double smoothing;
        int loops, points;
    } cases[] = {{"closed loops, exact, sigma 0", 0, 12, 12000},
                 {"closed loops, exact, sigma .0003", .0003, 3, 8000},
                 {"closed loops, exact, sigma .001", .001, 3, 8000},
                 {"closed loops, minimiser, sigma .001", .001, 1, 3000}};
    for (int i = 0; i < 4; ++i) {
        sim_narrow narrow;
        if (i < 3) {
            check_ok(sim_narrow_exact(2, odd, cases[i].smoothing, 1, &narrow, err));
        } else {
            check_ok(sim_narrow_minimiser(2, odd, 256, cases[i].smoothing, 1, &narrow, err));
        }
        double depth;
        const double found = loop_integral(&narrow, cases[i].loops, cases[i].points, &depth);
        assert_true(depth > .05);
        physics_row_below(cases[i].name, 1e-4, found);
        narrow.destroy(narrow.self);
    }
}

// ---------------------------------------------------------------------------------------------- one state, other views

enum { GRAINS = 12 };

/// How a crowd is looked at.
typedef struct view {
    double turn, move[2];
    bool mirrored, reversed;
} view;

// Grains of both types (each its own mirror image in x -> -x) that overlap a little; one step without gravity. Gains of
// velocity (GRAINS x 3) in the crowd's own frame and order; returns the number of contacts.
static int64_t push(const view *how, double smoothing, double gain[3 * GRAINS]) {
    sim_narrow narrow;
    check_ok(sim_narrow_exact(2, odd, smoothing, 1, &narrow, err));
    sim_world *w = physics_world(GRAINS, 2, odd, 0, NULL, sim_fixture_law(1e6, .3, .5), 0, 1e-5, narrow);
    const double c = cos(how->turn), s = sin(how->turn), sign = how->mirrored ? -1 : 1;
    double start[3 * GRAINS];
    for (int k = 0; k < GRAINS; ++k) {
        const int i = how->reversed ? GRAINS - 1 - k : k;
        core_random r;
        core_random_init(&r, 17, (uint64_t)i);
        const double x = sign * (1.3 * (i % 4) + .2 * core_random_uniform(&r));
        const double y = 1.3 * (i / 4) + .2 * core_random_uniform(&r);
        const double vx = sign * (core_random_uniform(&r) - .5), vy = core_random_uniform(&r) - .5;
        const double angle = sign * 6 * core_random_uniform(&r), omega = sign * (core_random_uniform(&r) - .5);
        physics_add(w, i % 2, c * x - s * y + how->move[0], s * x + c * y + how->move[1], angle + how->turn,
                    c * vx - s * vy, s * vx + c * vy, omega);
        start[3 * i] = vx;
        start[3 * i + 1] = vy;
        start[3 * i + 2] = omega;
    }
    physics_steps(w, 1);
    const sim_state st = sim_world_state(w);
    for (int k = 0; k < GRAINS; ++k) {
        const int i = how->reversed ? GRAINS - 1 - k : k;
        const double vx = c * st.v[2 * k] + s * st.v[2 * k + 1], vy = c * st.v[2 * k + 1] - s * st.v[2 * k];
        gain[3 * i] = sign * (vx - start[3 * i]);
        gain[3 * i + 1] = vy - start[3 * i + 1];
        gain[3 * i + 2] = sign * (st.omega[k] - start[3 * i + 2]);
    }
    sim_totals t;
    sim_world_totals(w, &t);
    sim_world_destroy(&w);
    return t.count_contacts;
}

static double difference(const double *a, const double *b) {
    double most = 0, worst = 0;
    for (int i = 0; i < 3 * GRAINS; ++i) {
        most = fmax(most, fabs(a[i]));
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst / most;
}

static void forces_do_not_depend_on_the_view(void **state) {
    (void)state;
    const struct {
        const char *name;
        view how;
        double smoothing, bound;
    } cases[] = {{"forces, exact: scene turned and moved", {.turn = 1.234, .move = {3, -7}}, 0, 1e-10},
                 {"forces, exact: mirror image", {.mirrored = true}, 0, 1e-10},
                 {"forces, exact: A and B exchanged", {.reversed = true}, 0, 1e-10},
                 {"forces, sigma .001: scene turned and moved", {.turn = 1.234, .move = {3, -7}}, .001, 1e-8},
                 {"forces, sigma .001: mirror image", {.mirrored = true}, .001, 1e-8},
                 {"forces, sigma .001: A and B exchanged, of order sigma", {.reversed = true}, .001, 1e-4}};
    for (int i = 0; i < 6; ++i) {
        static const view straight = {0};
        double here[3 * GRAINS], there[3 * GRAINS];
        assert_true(push(&straight, cases[i].smoothing, here) >= 8);
        push(&cases[i].how, cases[i].smoothing, there);
        physics_row_below(cases[i].name, cases[i].bound, difference(here, there));
    }
}

// Lengths times 2^20 and 2^-20 at the same masses and times: every bit but the exponent stays.
static void scale_changes_no_bit(void **state) {
    (void)state;
    static const double by[3] = {1, 1048576, 1 / 1048576.};
    double x[3][2 * GRAINS], theta[3][GRAINS];
    for (int k = 0; k < 3; ++k) {
        sim_type_def sized[2] = {odd[0], odd[1]};
        for (int t = 0; t < 2; ++t) {
            sized[t].radius *= by[k];
            sized[t].density /= by[k] * by[k];
        }
        sim_narrow narrow;
        const sim_boundary_def floor = physics_floor(.25);
        check_ok(sim_narrow_exact(2, sized, .001, 1, &narrow, err));
        sim_world *w =
            physics_world(GRAINS, 2, sized, 1, &floor, sim_fixture_law(1e6, .3, .5), 9.81 * by[k], 1e-3, narrow);
        for (int i = 0; i < GRAINS; ++i)
            physics_add(w, i % 2, by[k] * 1.6 * (i % 4), by[k] * (1 + 1.5 * (i / 4)), i, by[k] * .1 * (i % 3), 0, i);
        physics_steps(w, 200);
        memcpy(x[k], sim_world_state(w).x, sizeof x[k]);
        memcpy(theta[k], sim_world_state(w).theta, sizeof theta[k]);
        sim_world_destroy(&w);
    }
    int differ = 0;
    for (int i = 0; i < GRAINS; ++i) {
        for (int k = 1; k < 3; ++k) {
            differ += x[k][2 * i] != by[k] * x[0][2 * i] || x[k][2 * i + 1] != by[k] * x[0][2 * i + 1] ||
                      theta[k][i] != theta[0][i];
        }
    }
    physics_row("scaled by 2^20 and 2^-20: grains whose bits differ", 0, differ, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_loops_integrate_to_nothing),
        cmocka_unit_test(forces_do_not_depend_on_the_view),
        cmocka_unit_test(scale_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
