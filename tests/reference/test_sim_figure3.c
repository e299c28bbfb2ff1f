/// The three scenes of the method's static examples in numbers: a triangle of two blocks and a block that leans in a
/// corner (the block on an incline is in test_sim_incline.c). Units: block length h, its mass and g are 1.
#include "sim_physics.h"
#include "sim_private.h"

static const double SINKING = 1e-4;   // m g/k_n
static const double SMOOTHING = .001; // of the exact narrow phase

// Steps with the gravity rising from one fraction of g to another.
static void run(sim_world *w, double from, double to, double time) {
    const int64_t n = (int64_t)ceil(time / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        w->gravity[1] = -(from + (to - from) * (double)(i + 1) / (double)n);
        check_ok(sim_world_step(w, err));
    }
}

static double kinetic(const sim_world *w) {
    sim_totals t;
    sim_world_totals(w, &t);
    return t.kinetic;
}

static bool moved(const sim_world *w, const double *x, double by) {
    const sim_state s = sim_world_state(w);
    for (int i = 0; i < 2 * s.n; ++i) {
        if (!(fabs(s.x[i] - x[i]) < by)) return true;
    }
    return false;
}

// Gravity rises slowly, grain 0 gets a push. Stable: it is still there (within 2e-2 h after the push), no centre moves
// by 1e-3 h over 5 sqrt(h/g), and the kinetic energy falls.
static bool stands(sim_world *w, double push) {
    double start[4], x[4], before = 0, after = 0;
    const sim_state s = sim_world_state(w);
    const size_t size = 2 * (size_t)s.n * sizeof *x;
    memcpy(start, s.x, size);
    run(w, 0, 1, 10);
    w->v[0] += push;
    if (push > 0) run(w, 1, 1, 5);
    memcpy(x, s.x, size);
    if (moved(w, start, 2e-2)) return false;
    for (int k = 0; k < 10; ++k) {
        run(w, 1, 1, .5);
        if (k < 5) before = fmax(before, kinetic(w));
        if (k >= 5) after = fmax(after, kinetic(w));
        if (moved(w, x, 1e-3)) return false;
    }
    return after <= fmax(before, 1e-8);
}

// Angular acceleration of grain 0 from rest, once the contacts are loaded: gravity is switched on at once.
static double turning(sim_world *w) {
    run(w, 1, 1, .1);
    const double omega = sim_world_state(w).omega[0], t = sim_world_state(w).time;
    run(w, 1, 1, .1);
    return (sim_world_state(w).omega[0] - omega) / (sim_world_state(w).time - t);
}

// ---------------------------------------------------------------------------------------------- triangle

static const double LEAN = 15 * CORE_PI / 180, THIN = 1. / 40;

// Two blocks stand on their inner bottom corners and touch with their inner top corners at x = 0; no force yet.
static sim_world *triangle(sim_type_def *block, int planes, double mu) {
    const sim_boundary_def floor = physics_floor(0);
    check_ok(sim_fixture_block("block", THIN, 1, 1 / THIN, block, err));
    const sim_narrow narrow = physics_exact(1, block, SMOOTHING, planes);
    const sim_contact_law law = sim_fixture_law(1 / SINKING, .5, mu);
    const double dt = sim_dt_auto(1, block, 1, (sim_contact_law[2]){law, law}, .25);
    sim_world *w = physics_world(2, 1, block, 1, &floor, law, 0, dt, narrow);
    const double x = .5 * (cos(LEAN) * THIN + sin(LEAN)), y = .5 * (sin(LEAN) * THIN + cos(LEAN));
    physics_add(w, 0, -x, y, -LEAN, 0, 0, 0);
    physics_add(w, 0, x, y, LEAN, 0, 0, 0);
    return w;
}

static bool triangle_stands(int planes, double mu, double push) {
    sim_type_def block;
    sim_world *w = triangle(&block, planes, mu);
    const bool up = stands(w, push);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
    return up;
}

static void a_triangle_needs_friction(void **state) {
    (void)state;
    const double critical = .5 * (tan(LEAN) - THIN);
    physics_row("triangle: mu_c of the closed form", .1215, critical, .0001);
    for (int planes = 1; planes <= 2; ++planes) {
        double low = .1, high = .15;
        char name[80];
        assert_false(triangle_stands(planes, low, 0));
        assert_true(triangle_stands(planes, high, 0));
        while (high - low > .002) {
            const double middle = .5 * (low + high);
            if (triangle_stands(planes, middle, 0)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        snprintf(name, sizeof name, "triangle: mu_c, exact, %d plane(s), by bisection", planes);
        physics_row(name, critical, .5 * (low + high), .003);
        snprintf(name, sizeof name, "triangle: %d plane(s), stands at mu 0.13 (1: yes)", planes);
        physics_row(name, 1, triangle_stands(planes, .13, 0), 0);
        // the left one is pushed towards the other: by 1e-3 h in a fifth of sqrt(h/g)
        for (int k = 0; k < 2; ++k) {
            const double mu = k == 0 ? .3 : .5;
            snprintf(name, sizeof name, "triangle: %d plane(s), stands at mu %.1f after a push", planes, mu);
            physics_row(name, 1, triangle_stands(planes, mu, 5e-3), 0);
        }
    }
}

static void a_triangle_collapses_as_it_should(void **state) {
    (void)state;
    sim_type_def block;
    sim_world *w = triangle(&block, 1, .1);
    physics_row("triangle: mu 0.10, angular acceleration, g/h", -.066, turning(w), .01);
    sim_contact c;
    int i;
    assert_true(sim_world_contacts(w, 1, &i, NULL, &c, NULL) >= 1 && i == 0);
    physics_row_below("triangle: n_y of the apex", .02, c.g[1] / sqrt(c.g[0] * c.g[0] + c.g[1] * c.g[1]));
    run(w, 1, 1, 12);
    physics_row_below("triangle: mu 0.10, height of the centre after 12 sqrt(h/g), h", .2, sim_world_state(w).x[1]);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
}

// ---------------------------------------------------------------------------------------------- leaning block

static const double TILT = 55.6 * CORE_PI / 180, THICK = .05; // from the vertical

// It touches the floor with its lower corner and the wall at x = 0 with its upper one; no force yet.
static sim_world *leaning(sim_type_def *block, double mu) {
    const sim_boundary_def corner[2] = {{.normal = {0, 1}, .present = true}, {.normal = {1, 0}, .present = true}};
    check_ok(sim_fixture_block("block", THICK, 1, 1 / THICK, block, err));
    const sim_contact_law law = sim_fixture_law(1 / SINKING, .5, mu);
    const double dt = sim_dt_auto(1, block, 2, (sim_contact_law[3]){law, law, law}, .25);
    sim_world *w = physics_world(1, 1, block, 2, corner, law, 0, dt, (sim_narrow){0});
    physics_add(w, 0, .5 * (cos(TILT) * THICK + sin(TILT)), .5 * (cos(TILT) + sin(TILT) * THICK), TILT, 0, 0, 0);
    return w;
}

static bool leaning_stands(double mu) {
    sim_type_def block;
    sim_world *w = leaning(&block, mu);
    const bool up = stands(w, 0);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
    return up;
}

static void a_leaning_block_slides(void **state) {
    (void)state;
    static const double rows[][3] = {{0, 1.282, .04}, {.1, 1.096, .04}, {.3, .651, .04}, {.5, .036, .01}};
    for (int i = 0; i < 4; ++i) {
        sim_type_def block;
        sim_world *w = leaning(&block, rows[i][0]);
        char name[80];
        snprintf(name, sizeof name, "leaning block: mu %.1f, angular acceleration, g/h", rows[i][0]);
        physics_row(name, rows[i][1], turning(w), rows[i][2]);
        run(w, 1, 1, 3);
        snprintf(name, sizeof name, "leaning block: mu %.1f, turned by more than 2 degrees (1: yes)", rows[i][0]);
        physics_row(name, 1, sim_world_state(w).theta[0] - TILT > 2 * CORE_PI / 180, 0);
        sim_world_destroy(&w);
        sdf_shape_clear(&block.shape);
    }
}

static void a_leaning_block_stands_beyond_its_threshold(void **state) {
    (void)state;
    double low = .3, high = .8; // of the closed form tan theta_c = (2 mu + (b/h)(1 + mu^2))/(1 - mu^2), which rises
    for (int i = 0; i < 60; ++i) {
        const double mu = .5 * (low + high);
        if (2 * mu + THICK * (1 + mu * mu) < (1 - mu * mu) * tan(TILT)) {
            low = mu;
        } else {
            high = mu;
        }
    }
    const double critical = low;
    assert_false(leaning_stands(.45));
    assert_true(leaning_stands(.57));
    for (low = .45, high = .57; high - low > .002;) {
        const double middle = .5 * (low + high);
        if (leaning_stands(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    physics_row("leaning block: mu_c by bisection", critical, .5 * (low + high), .02 * critical);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_triangle_needs_friction),
        cmocka_unit_test(a_triangle_collapses_as_it_should),
        cmocka_unit_test(a_leaning_block_slides),
        cmocka_unit_test(a_leaning_block_stands_beyond_its_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
