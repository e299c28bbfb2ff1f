/// Blocks on blocks and in a slot: the overhanging stack of four, the forces in a resting pile, a drawer that jams.
/// Units: block length, its mass and g are 1.
#include "sim_physics.h"
#include "sim_private.h"

static const double SINKING = 2e-5;    // m g/k_n
static const double SMOOTHING = .0002; // L; the stack's third joint has .005 of margin

static void run(sim_world *w, double from, double to, double time) {
    const int64_t n = (int64_t)ceil(time / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        w->gravity[1] = -(from + (to - from) * (double)(i + 1) / (double)n);
        check_ok(sim_world_step(w, err));
    }
}

// A block type on a floor, seen by a narrow phase.
typedef struct setting {
    sim_type_def type[2];
    int count_types;
} setting;

static sim_world *world_of(setting *s, int capacity, int planes, double mu) {
    const sim_boundary_def floor = physics_floor(0);
    const sim_narrow narrow = physics_exact(s->count_types, s->type, SMOOTHING, planes);
    const sim_contact_law law = sim_fixture_law(1 / SINKING, .5, mu);
    sim_contact_law laws[6];
    sim_fixture_laws(law, s->count_types, 1, laws);
    const double dt = sim_dt_auto(s->count_types, s->type, 1, laws, .25);
    return physics_world(capacity, s->count_types, s->type, 1, &floor, law, 0, dt, narrow);
}

static void clear(setting *s) {
    for (int t = 0; t < s->count_types; ++t) sdf_shape_clear(&s->type[t].shape);
}

// ---------------------------------------------------------------------------------------------- overhang

// Four blocks 1 x .1 on a heavy table that lies on the floor, each set back from the one above by `part` of what is
// possible: 1/2, 1/4, 1/6, 1/8 from the top.
static bool stack_stands(int planes, double part) {
    setting s = {.count_types = 2};
    check_ok(sim_fixture_block("block", 1, .1, 10, &s.type[0], err));
    check_ok(sim_fixture_block("table", 3, .1, 1e3, &s.type[1], err));
    sim_world *w = world_of(&s, 5, planes, .5);
    physics_add(w, 1, -1.5, .05, 0, 0, 0, 0); // its edge is at x = 0
    double x = -.5;
    for (int i = 4; i >= 1; --i) {
        x += part * .5 / i;
        physics_add(w, 0, x, .15 + .1 * (4 - i), 0, 0, 0, 0);
    }
    const double start = sim_world_state(w).x[9], overhang = x + .5;
    run(w, 0, 1, 10);
    const double loaded = sim_world_state(w).x[9];
    run(w, 1, 1, 5);
    const double x_end = sim_world_state(w).x[9], turned = sim_world_state(w).theta[4];
    const bool stands = fabs(x_end - loaded) < 1e-3 && fabs(turned) < .01;
    printf("overhang %.4f L: moved by %.5f L while loaded, then by %.5f L; turned by %.5f\n", overhang, loaded - start,
           x_end - loaded, turned);
    sim_world_destroy(&w);
    clear(&s);
    return stands;
}

static void a_stack_of_four_hangs_over(void **state) {
    (void)state;
    physics_row("stack of four: largest overhang of the closed form, L", 1.0417, .5 * (1 + 1. / 2 + 1. / 3 + 1. / 4),
                1e-4);
    for (int planes = 1; planes <= 2; ++planes) {
        for (int k = 0; k < 2; ++k) {
            char name[80];
            const double part = k == 0 ? 1.03 : .97;
            snprintf(name, sizeof name, "stack of four: %d plane(s), stands at %.2f of it (1: yes)", planes, part);
            physics_row(name, k, stack_stands(planes, part), 0);
        }
    }
}

// ---------------------------------------------------------------------------------------------- pile

static void pile_carries(int planes) {
    enum { N = 5 };
    setting s = {.count_types = 1};
    check_ok(sim_fixture_block("block", 1, .5, 2, &s.type[0], err));
    sim_world *w = world_of(&s, N, planes, .5);
    for (int i = 0; i < N; ++i) physics_add(w, 0, .05 * (i % 2), .25 + .5 * i, 0, 0, 0, 0);
    run(w, 0, 1, 10);
    run(w, 1, 1, 5);
    double force[N] = {0}; // mean over a while on what grain k rests on
    const int steps = 2000;
    for (int step = 0; step < steps; ++step) {
        check_ok(sim_world_step(w, err));
        sim_contact_force f[2 * N];
        int i[2 * N], j[2 * N];
        const int64_t n = sim_world_contacts(w, 2 * N, i, j, NULL, f);
        assert_true(n >= N && n <= 2 * N);
        for (int k = 0; k < n; ++k) force[j[k]] += f[k].force[1] / steps;
    }
    for (int k = 0; k < N; ++k) {
        char name[80];
        snprintf(name, sizeof name, "pile of five: %d plane(s), force below block %d, m g", planes, k + 1);
        physics_row(name, N - k, force[k], 1e-3 * (N - k));
    }
    sim_world_destroy(&w);
    clear(&s);
}

static void a_resting_pile_carries_its_weight(void **state) {
    (void)state;
    for (int planes = 1; planes <= 2; ++planes) pile_carries(planes);
}

// ---------------------------------------------------------------------------------------------- slot

// A block of length `guided` between two planes that it just touches, pulled along them with force 1 at a lateral
// offset from the middle: at the centre, with a couple. Does it stay?
static bool drawer_jams(double guided, double offset, double mu) {
    const double width = .5, kn = 1e6;
    sim_type_def block;
    check_ok(sim_fixture_block("drawer", guided, width, 1 / (guided * width), &block, err));
    const sim_boundary_def slot[2] = {{.normal = {0, 1}, .offset = -.5 * width, .present = true},
                                      {.normal = {0, -1}, .offset = -.5 * width, .present = true}};
    const sim_contact_law law = sim_fixture_law(kn, .5, mu);
    const double dt = sim_dt_auto(1, &block, 2, (sim_contact_law[3]){law, law, law}, .25);
    sim_world *w = physics_world(1, 1, &block, 2, slot, law, 0, dt, (sim_narrow){0});
    w->smoothing = 0; // smoothed faces would be pressed together by the slightest turn
    physics_add(w, 0, 0, 0, 0, 0, 0, 0);
    const double ramp = 1, hold = 1, inertia = sim_fixture_inertia(&block);
    for (double t = 0; t < ramp + hold; t += dt) {
        const double pull = fmin(1, t / ramp);
        w->gravity[0] = pull;
        w->gravity[1] = 0;
        w->omega[0] -= dt * pull * offset / inertia; // a force along +x at y = offset turns it clockwise
        check_ok(sim_world_step(w, err));
    }
    const bool jams = sim_world_state(w).x[0] < 1e-3;
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
    return jams;
}

static void a_drawer_jams(void **state) {
    (void)state;
    static const double cases[][2] = {{1, 1}, {.5, 1}, {1, .8}};
    for (int i = 0; i < 3; ++i) {
        const double critical = cases[i][0] / (2 * cases[i][1]);
        double low = .8 * critical, high = 1.25 * critical;
        assert_false(drawer_jams(cases[i][0], cases[i][1], low));
        assert_true(drawer_jams(cases[i][0], cases[i][1], high));
        while (high - low > .005 * critical) {
            const double mu = .5 * (low + high);
            if (drawer_jams(cases[i][0], cases[i][1], mu)) {
                high = mu;
            } else {
                low = mu;
            }
        }
        char name[80];
        snprintf(name, sizeof name, "slot, two half-planes: mu_c, length %.1f, offset %.1f", cases[i][0], cases[i][1]);
        physics_row(name, critical, .5 * (low + high), fmax(.003, .02 * critical));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_of_four_hangs_over),
        cmocka_unit_test(a_resting_pile_carries_its_weight),
        cmocka_unit_test(a_drawer_jams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
