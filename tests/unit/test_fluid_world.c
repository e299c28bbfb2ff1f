/// Worlds of libfluid: refused definitions, filling, motion, memory, nothing and one particle.
#include "reference/fluid_physics.h"

static core_status status_of(const fluid_def *def, const char *word) {
    fluid_world *w = NULL;
    core_error err = {0};
    const core_status status = fluid_world_create(def, 0, NULL, &w, &err);
    assert_null(w);
    if (!strstr(err.message, word)) fail_msg("message \"%s\" does not name \"%s\"", err.message, word);
    return status;
}

static void definitions_are_checked(void **state) {
    (void)state;
    const fluid_def good = fluid_box(2, 1, 1, .1);
    fluid_def def = good;
    def.cookie = 0;
    assert_int_equal(status_of(&def, "fluid_default_def"), CORE_ARG);
    def = good, def.dim = 4;
    assert_int_equal(status_of(&def, "dim"), CORE_RANGE);
    def = good, def.h = .3;
    assert_int_equal(status_of(&def, "whole number of cells"), CORE_RANGE);
    def = good, def.h = NAN;
    assert_int_equal(status_of(&def, "h: found"), CORE_RANGE);
    def = good, def.flip = 1.5;
    assert_int_equal(status_of(&def, "flip"), CORE_RANGE);
    def = good, def.surface = (fluid_surface)3;
    assert_int_equal(status_of(&def, "surface"), CORE_RANGE);
    def = good, def.precondition = (fluid_precondition)2;
    assert_int_equal(status_of(&def, "precondition"), CORE_RANGE);
    def = good, def.cfl = 0;
    assert_int_equal(status_of(&def, "cfl"), CORE_RANGE);
    def = good, def.gravity[1] = INFINITY;
    assert_int_equal(status_of(&def, "gravity"), CORE_NONFINITE);
    def = good, def.region[3] = -1;
    assert_int_equal(status_of(&def, "region"), CORE_RANGE);
    def = good, def.capacity = 0;
    assert_int_equal(status_of(&def, "capacity"), CORE_RANGE);
    fluid_world *w = NULL;
    assert_int_equal(fluid_world_create(NULL, 0, NULL, &w, NULL), CORE_ARG);
    const fluid_solid bad = {.kind = FLUID_SOLID_PLANE, .normal = {1, 1, 0}}, rough = {.friction = -1};
    assert_int_equal(fluid_world_create(&good, 1, &bad, &w, NULL), CORE_RANGE);
    assert_int_equal(fluid_world_create(&good, 1, &rough, &w, NULL), CORE_RANGE);
    const fluid_solid shape = {.kind = FLUID_SOLID_SHAPE, .radius = 1};
    assert_int_equal(fluid_world_create(&good, 1, &shape, &w, NULL), CORE_ARG);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const fluid_def def = fluid_box(2, .5, .5, .1);
    const uint64_t before = core_alloc_count();
    fluid_world *w = fluid_make(&def, 0, NULL);
    const uint64_t needed = core_alloc_count() - before;
    fluid_world_destroy(&w);
    for (uint64_t k = 1; k <= needed; ++k) {
        core_alloc_fail_after(k);
        assert_int_equal(fluid_world_create(&def, 0, NULL, &w, NULL), CORE_MEMORY);
        assert_null(w);
    }
    core_alloc_fail_after(0);
    fluid_world_destroy(&w);
    fluid_world_destroy(NULL);
}

static void filling_counts(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .1);
        def.capacity = dim == 2 ? 200 : 4000;
        fluid_world *w = fluid_make(&def, 0, NULL);
        assert_int_equal(fluid_fill(w, 0, 0, 0, 1, .5, 1, true), dim == 2 ? 200 : 4000);
        int layer = 0;
        for (int i = 0; i < w->p.n; ++i) {
            bool inner = true; // nearer to the surface than to the walls beside
            for (int a = 0; a < dim; ++a) inner = inner && (a == 1 || (w->p.x[a][i] > .1 && w->p.x[a][i] < .9));
            assert_true(!inner || w->p.x[1][i] < .45 + 1e-12); // nothing above half a cell from the surface
            layer += inner && fabs(w->p.x[1][i] - .45) < 1e-12;
        }
        assert_int_equal(layer, dim == 2 ? 32 : 512); // the two sub-layers that were less than a cell from it
        const fluid_seed_def more = {.region = {.kind = FLUID_SOLID_BALL, .centre = {.5, .8, .5}, .radius = .1}};
        assert_int_equal(fluid_world_seed(w, &more, NULL, NULL), CORE_RANGE); // no room
        assert_int_equal(w->p.n, w->p.capacity);
        check_near(fluid_sum(w).mass, 1500 * .5, 1e-9);
        fluid_world_destroy(&w);
    }
}

static void bad_particles_are_refused(void **state) {
    (void)state;
    const fluid_def def = fluid_box(2, 1, 1, .1);
    fluid_world *w = fluid_make(&def, 0, NULL);
    const double in[3] = {.5, .5, 0}, out[3] = {.5, 1.5, 0}, nan[3] = {NAN, .5, 0}, v[3] = {0, 0, 0};
    assert_int_equal(fluid_world_add(w, out, v, NULL), CORE_RANGE);
    assert_int_equal(fluid_world_add(w, nan, v, NULL), CORE_NONFINITE);
    assert_int_equal(fluid_world_add(w, in, nan, NULL), CORE_NONFINITE);
    const fluid_seed_def plane = {.region = {.kind = FLUID_SOLID_PLANE}}, wild = {.jitter = 2};
    assert_int_equal(fluid_world_seed(w, &plane, NULL, NULL), CORE_RANGE);
    assert_int_equal(fluid_world_seed(w, &wild, NULL, NULL), CORE_RANGE);
    assert_int_equal(fluid_world_set_present(w, 0, true, NULL), CORE_RANGE);
    assert_int_equal(w->p.n, 0);
    fluid_world_destroy(&w);
}

static void nothing_and_one(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        const fluid_def def = fluid_box(dim, 1, 1, .1);
        fluid_world *w = fluid_make(&def, 0, NULL);
        check_ok(fluid_world_step(w, .01, err));
        const double x[3] = {.5, .55, .5}, v[3] = {.5, 0, 0};
        check_ok(fluid_world_add(w, x, v, err));
        while (w->time < .21) check_ok(fluid_world_step(w, .01, err));
        // a free flight: first order in the length of the steps
        check_near(w->p.x[0][0], .5 + .5 * (w->time - .01), 1e-12);
        check_near(w->p.x[1][0], .55 - .5 * 9.81 * .04, .02);
        fluid_world_destroy(&w);
    }
}

static void not_a_number_stops(void **state) {
    (void)state;
    const fluid_def def = fluid_box(2, 1, 1, .1);
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, 1, .5, 0, false);
    check_ok(fluid_world_step(w, INFINITY, err));
    w->p.v[0][3] = NAN;
    core_error err = {0};
    assert_int_equal(fluid_world_step(w, INFINITY, &err), CORE_NOT_CONVERGED);
    fluid_world_destroy(&w);
    fluid_def still = fluid_box(2, 1, 1, .1);
    still.gravity[1] = 0;
    w = fluid_make(&still, 0, NULL);
    assert_int_equal(fluid_world_step(w, INFINITY, &err), CORE_RANGE); // no length of step follows from anything
    fluid_world_destroy(&w);
}

static void a_step_allocates_nothing(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        const fluid_def def = fluid_box(dim, 1, 1, .1);
        fluid_world *w = fluid_make(&def, 0, NULL);
        fluid_fill(w, .2, .2, .2, .6, .8, .6, true);
        const uint64_t before = core_alloc_count();
        for (int i = 0; i < 20; ++i) check_ok(fluid_world_step(w, INFINITY, err));
        assert_true(core_alloc_count() == before);
        fluid_world_destroy(&w);
    }
}

// In a solid rotation the midpoint rule turns a particle by an error of third order in the step.
static double rotation_error(double dt) {
    const fluid_def def = fluid_box(2, 1, 1, .05);
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, .1, .1, 0, .9, .9, 0, false);
    const double x[3] = {.5, .75, 0}, v[3] = {0, 0, 0};
    check_ok(fluid_world_add(w, x, v, err));
    const int id = w->p.n - 1;
    fluid__sort(w);
    const fluid_grid *g = &w->grid;
    for (int c = 0; c < g->count; ++c) {
        const double i = c % g->stride[1], j = c / g->stride[1];
        w->u[0][c] = -((j - .5) * g->h - .5);
        w->u[1][c] = (i - .5) * g->h - .5;
    }
    for (int k = 0; k < (int)(1 / dt + .5); ++k) fluid__move(w, dt);
    double error = 0;
    for (int i = 0; i < w->p.n; ++i)
        if (w->p.id[i] == id) error = hypot(w->p.x[0][i] - .5 + .25 * sin(1), w->p.x[1][i] - .5 - .25 * cos(1));
    fluid_world_destroy(&w);
    return error;
}

static void motion_is_of_second_order(void **state) {
    (void)state;
    physics_row("rotation by 1 rad: order of the error of motion", 2, log2(rotation_error(.1) / rotation_error(.05)),
                .1);
}

static void solids_are_left(void **state) {
    (void)state;
    const fluid_solid ball = {.kind = FLUID_SOLID_BALL, .present = true, .centre = {.5, .3}, .radius = .15};
    const fluid_def def = fluid_box(2, 1, 1, .05);
    fluid_world *w = fluid_make(&def, 1, &ball);
    fluid_fill(w, .3, .5, 0, .7, .9, 0, true);
    double deepest = 0;
    for (int k = 0; k < 30; ++k) {
        check_ok(fluid_world_step(w, .02, err));
        for (int i = 0; i < w->p.n; ++i) {
            const double x[2] = {w->p.x[0][i], w->p.x[1][i]};
            deepest = fmax(deepest, -fluid_solid_distance(&ball, 2, x));
            assert_true(x[0] > 0 && x[0] < 1 && x[1] > 0 && x[1] < 1);
        }
    }
    physics_row_below("grains over a ball: deepest in it, m", .05 * .05, deepest);
    fluid_world_destroy(&w);
}

static void a_look_shows_the_world(void **state) {
    (void)state;
    fluid_def def = fluid_box(2, 1, 1, .1);
    def.capacity = 200;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, 1, .5, 1, true);
    check_ok(fluid_world_step(w, .01, err));
    const fluid_state look = fluid_world_state(w);
    const fluid_totals totals = fluid_sum(w);
    assert_int_equal(look.step, 1);
    check_near(look.time, .01, 1e-15);
    check_near(look.particles->n * look.particle_mass, totals.mass, 1e-9);
    int full = 0;
    for (int c = 0; c < look.grid->count; ++c) full += look.cell[c] == FLUID_CELL_FULL;
    assert_int_equal(full, totals.count_full);
    // at rest: the weight above the middle of the lowest cell
    const int lowest = 5 + look.grid->stride[1];
    check_near(look.pressure[lowest], 1500 * 9.81 * .45, .01 * 1500 * 9.81 * .45);
    for (int i = 1; i < 11; ++i) check_near(look.u[1][i + look.grid->stride[1]], 0, 1e-12); // faces of the floor
    fluid_world_destroy(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_checked),  cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(filling_counts),           cmocka_unit_test(bad_particles_are_refused),
        cmocka_unit_test(nothing_and_one),          cmocka_unit_test(not_a_number_stops),
        cmocka_unit_test(a_step_allocates_nothing), cmocka_unit_test(motion_is_of_second_order),
        cmocka_unit_test(solids_are_left),          cmocka_unit_test(a_look_shows_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
