/// The block on the 16-degree incline: mu = .28 slides, .30 and .32 hold, it topples where it
/// must.
#include "sim_physics.h"
#include "sim_private.h"

static const double TILT = 16 * CORE_PI / 180, GRAVITY = 1;
static const double SINKING = 2e-4; // m g/k_n in units of h = 1 m
static const double RAMP = 20;      // sqrt(h/g): the tilt grows this slowly, so that nothing starts to swing

// A block of width x 1 m stands at its elastic depth on the plane; gravity is tilted instead of the plane.
static sim_world *set_down(sim_type_def *block, double width, double mu) {
    const sim_boundary_def floor = physics_floor(0);
    check_ok(sim_fixture_block("block", width, 1, 1, block, err));
    const double weight = GRAVITY * sim_fixture_mass(block), kn = weight / SINKING;
    const sim_contact_law law = sim_fixture_law(kn, .5, mu);
    const double dt = sim_dt_auto(1, block, 1, (sim_contact_law[2]){law, law}, .25);
    sim_world *w = physics_world(1, 1, block, 1, &floor, law, GRAVITY, dt, (sim_narrow){0});
    // smoothing over +-.001 rad lowers a flat face by half of its half length times that
    physics_add(w, 0, 0, .5 - SINKING + .00025 * width, 0, 0, 0, 0);
    return w;
}

static void run_tilted(sim_world *w, double from, double to, double time) {
    const int64_t n = (int64_t)ceil(time / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        const double tilt = from + (to - from) * (double)(i + 1) / (double)n;
        w->gravity[0] = GRAVITY * sin(tilt);
        w->gravity[1] = -GRAVITY * cos(tilt);
        check_ok(sim_world_step(w, err));
    }
}

static void it_slides_at_028(void **state) {
    (void)state;
    sim_type_def block;
    sim_world *w = set_down(&block, 1.5, .28);
    run_tilted(w, 0, TILT, RAMP);
    const double v = sim_world_state(w).v[0], t = sim_world_state(w).time;
    run_tilted(w, TILT, TILT, 20);
    const double a = (sim_world_state(w).v[0] - v) / (sim_world_state(w).time - t),
                 expected = sin(TILT) - .28 * cos(TILT);
    check_near(expected, .006484, 1e-6);
    physics_row("incline 16 degrees, mu 0.28: a, g", expected, a, .0002);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
}

static void it_holds_at_030_and_032(void **state) {
    (void)state;
    static const double mus[] = {.30, .32};
    for (int i = 0; i < 2; ++i) {
        sim_type_def block;
        sim_world *w = set_down(&block, 1.5, mus[i]);
        run_tilted(w, 0, TILT, RAMP);
        run_tilted(w, TILT, TILT, 10);
        const double before = sim_world_state(w).x[0];
        const double offset = sin(TILT) * SINKING * 1.5; // of the spring: m g sin a/k_t, k_t = 2/3 k_n
        const double leaning =
            .5 * .001 * .5 * tan(TILT) / .75; // of the centre, .5 m high: the foot's pressure moves under it
        run_tilted(w, TILT, TILT, 20);
        const double creep = (sim_world_state(w).x[0] - before) / 20;
        char name[80];
        snprintf(name, sizeof name, "incline 16 degrees, mu %.2f: elastic offset, h", mus[i]);
        physics_row(name, offset + leaning, before, .01 * (offset + leaning));
        snprintf(name, sizeof name, "incline 16 degrees, mu %.2f: creep, h per sqrt(h/g)", mus[i]);
        physics_row_below(name, 1e-6, creep);
        sim_world_destroy(&w);
        sdf_shape_clear(&block.shape);
    }
}

// tan a = base/height: it falls over within a long time, or it does not.
static bool topples(double width, double tilt) {
    sim_type_def block;
    sim_world *w = set_down(&block, width, 5);
    run_tilted(w, 0, tilt, RAMP);
    for (int chunk = 0; chunk < 40 && fabs(sim_world_state(w).theta[0]) < .3; ++chunk) run_tilted(w, tilt, tilt, 1);
    const bool down = fabs(sim_world_state(w).theta[0]) >= .3;
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
    return down;
}

static void it_topples_where_the_base_ends(void **state) {
    (void)state;
    static const double widths[] = {.25, .5, 1}, degrees[] = {14.04, 26.57, 45.0};
    for (int i = 0; i < 3; ++i) {
        char name[80];
        for (int side = 0; side < 2; ++side) {
            const double at = degrees[i] + (side ? .3 : -.3);
            snprintf(name, sizeof name, "block, base/height %.2f: topples at %.2f degrees (1: yes)", widths[i], at);
            physics_row(name, side, topples(widths[i], at * CORE_PI / 180), 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_slides_at_028),
        cmocka_unit_test(it_holds_at_030_and_032),
        cmocka_unit_test(it_topples_where_the_base_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
