/// The three scenes of the method's static examples in numbers: a triangle of two blocks and a block that leans in a
/// corner (the block on an incline is in test_sim_incline.c). Units: block length h, its mass and g are 1.
#include "sim_figure3.h"

static const double SMOOTHING = .001; // of the exact narrow phase

// ---------------------------------------------------------------------------------------------- triangle

// Two blocks stand on their inner bottom corners and touch with their inner top corners at x = 0; no force yet.
static sim_world *triangle(sim_type_def *block, int planes, double smoothing, double mu) {
    const sim_boundary_def floor = physics_floor(0);
    check_ok(sim_fixture_block("block", FIGURE3_THIN, 1, 1 / FIGURE3_THIN, block, err));
    const sim_narrow narrow = physics_exact(1, block, smoothing, planes);
    const sim_contact_law law = sim_fixture_law(1 / FIGURE3_SINKING, .5, mu);
    const double dt = sim_dt_auto(1, block, 1, (sim_contact_law[2]){law, law}, .25);
    sim_world *w = physics_world(2, 1, block, 1, &floor, law, 0, dt, narrow);
    const double x = .5 * (cos(FIGURE3_LEAN) * FIGURE3_THIN + sin(FIGURE3_LEAN)),
                 y = .5 * (sin(FIGURE3_LEAN) * FIGURE3_THIN + cos(FIGURE3_LEAN));
    physics_add(w, 0, -x, y, -FIGURE3_LEAN, 0, 0, 0);
    physics_add(w, 0, x, y, FIGURE3_LEAN, 0, 0, 0);
    return w;
}

static bool triangle_stands_pushed(int planes, double smoothing, double mu, double push) {
    sim_type_def block;
    sim_world *w = triangle(&block, planes, smoothing, mu);
    const bool up = figure3_stands(w, push, 1e-8);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
    return up;
}

static bool triangle_stands(int planes, double mu) {
    return triangle_stands_pushed(planes, SMOOTHING, mu, 0);
}

static bool unsmoothed_triangle_stands(int planes, double mu) {
    return triangle_stands_pushed(planes, 0, mu, 0);
}

static void a_triangle_needs_friction(void **state) {
    (void)state;
    const double critical = .5 * (tan(FIGURE3_LEAN) - FIGURE3_THIN);
    physics_row("triangle: mu_c of the closed form", .1215, critical, .0001);
    for (int planes = 1; planes <= 2; ++planes) {
        char name[80];
        snprintf(name, sizeof name, "triangle: mu_c, exact, %d plane(s), by bisection", planes);
        physics_row(name, critical, figure3_threshold(.1, .15, triangle_stands, planes), .003);
        snprintf(name, sizeof name, "triangle: %d plane(s), stands at mu 0.13 (1: yes)", planes);
        physics_row(name, 1, triangle_stands(planes, .13), 0);
        // the left one is pushed towards the other: by 1e-3 h in a fifth of sqrt(h/g)
        for (int k = 0; k < 2; ++k) {
            const double mu = k == 0 ? .3 : .5;
            snprintf(name, sizeof name, "triangle: %d plane(s), stands at mu %.1f after a push", planes, mu);
            physics_row(name, 1, triangle_stands_pushed(planes, SMOOTHING, mu, 5e-3), 0);
        }
    }
}

static void a_triangle_collapses_as_it_should(void **state) {
    (void)state;
    sim_type_def block;
    sim_world *w = triangle(&block, 1, SMOOTHING, .1);
    physics_row("triangle: mu 0.10, angular acceleration, g/h", -.066, figure3_turning(w), .01);
    sim_contact c;
    int i;
    assert_true(sim_world_contacts(w, 1, &i, NULL, &c, NULL) >= 1 && i == 0);
    physics_row_below("triangle: n_y of the apex", .02, c.g[1] / sqrt(c.g[0] * c.g[0] + c.g[1] * c.g[1]));
    figure3_run(w, 1, 1, 12);
    physics_row_below("triangle: mu 0.10, height of the centre after 12 sqrt(h/g), h", .2, sim_world_state(w).x[1]);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
}

// Two corners that overlap have no one normal: the way out is that of one face or of the other. A horizontal normal is
// their mean, which smoothing takes where it is wider than the overlap. Without it one face acts, which leans by 15
// degrees, and the triangle stands from mu = tan 15 on, as it does on maps (map_figure3.c).
static void without_smoothing_one_face_of_the_apex_acts(void **state) {
    (void)state;
    const double lean = tan(FIGURE3_LEAN);
    physics_row("triangle, smoothing 0: mu_c by bisection, tan 15", lean,
                figure3_threshold(.2, .35, unsmoothed_triangle_stands, 1), .02 * lean);
    sim_type_def block;
    sim_contact c;
    int i;
    sim_world *w = triangle(&block, 1, 0, .5);
    figure3_run(w, 0, 1, 10);
    assert_true(sim_world_contacts(w, 1, &i, NULL, &c, NULL) >= 1 && i == 0);
    physics_row("triangle, smoothing 0: n_y of the apex, sin 15", sin(FIGURE3_LEAN),
                fabs(c.g[1]) / sqrt(c.g[0] * c.g[0] + c.g[1] * c.g[1]), 1e-3);
    sim_world_destroy(&w);
    sdf_shape_clear(&block.shape);
}

// ---------------------------------------------------------------------------------------------- leaning block

// It touches the floor with its lower corner and the wall at x = 0 with its upper one; no force yet.
static sim_world *leaning(sim_type_def *block, double mu) {
    const sim_boundary_def corner[2] = {{.normal = {0, 1}, .present = true}, {.normal = {1, 0}, .present = true}};
    check_ok(sim_fixture_block("block", FIGURE3_THICK, 1, 1 / FIGURE3_THICK, block, err));
    const sim_contact_law law = sim_fixture_law(1 / FIGURE3_SINKING, .5, mu);
    const double dt = sim_dt_auto(1, block, 2, (sim_contact_law[3]){law, law, law}, .25);
    sim_world *w = physics_world(1, 1, block, 2, corner, law, 0, dt, (sim_narrow){0});
    physics_add(w, 0, .5 * (cos(FIGURE3_TILT) * FIGURE3_THICK + sin(FIGURE3_TILT)),
                .5 * (cos(FIGURE3_TILT) + sin(FIGURE3_TILT) * FIGURE3_THICK), FIGURE3_TILT, 0, 0, 0);
    return w;
}

static bool leaning_stands(int planes, double mu) {
    (void)planes; // of pairs of grains: there are none
    sim_type_def block;
    sim_world *w = leaning(&block, mu);
    const bool up = figure3_stands(w, 0, 1e-8);
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
        physics_row(name, rows[i][1], figure3_turning(w), rows[i][2]);
        figure3_run(w, 1, 1, 3);
        snprintf(name, sizeof name, "leaning block: mu %.1f, turned by more than 2 degrees (1: yes)", rows[i][0]);
        physics_row(name, 1, sim_world_state(w).theta[0] - FIGURE3_TILT > 2 * CORE_PI / 180, 0);
        sim_world_destroy(&w);
        sdf_shape_clear(&block.shape);
    }
}

static void a_leaning_block_stands_beyond_its_threshold(void **state) {
    (void)state;
    const double critical = figure3_leaning_critical();
    physics_row("leaning block: mu_c by bisection", critical, figure3_threshold(.45, .57, leaning_stands, 1),
                .02 * critical);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_triangle_needs_friction),
        cmocka_unit_test(a_triangle_collapses_as_it_should),
        cmocka_unit_test(without_smoothing_one_face_of_the_apex_acts),
        cmocka_unit_test(a_leaning_block_slides),
        cmocka_unit_test(a_leaning_block_stands_beyond_its_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
