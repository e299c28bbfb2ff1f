/// Solids that move: a piston, tanks that turn or move steadily, laws of all kinds.
#include "fluid_physics.h"

static fluid_solid moving_plane(double x, double y, double nx, double ny, double vx, double vy, double spin) {
    return (fluid_solid){.kind = FLUID_SOLID_PLANE,
                         .present = true,
                         .centre = {x, y, 0},
                         .normal = {nx, ny, 0},
                         .motion = {.velocity = {vx, vy}, .rotation = spin, .pivot = {NAN, NAN}}};
}

// Largest difference of a particle's velocity from (vx, vy).
static double off(const fluid_world *w, double vx, double vy) {
    double worst = 0;
    for (int i = 0; i < w->p.n; ++i) worst = fmax(worst, hypot(w->p.v[0][i] - vx, w->p.v[1][i] - vy));
    return worst;
}

// A piston pushes a slug of water through a duct without gravity, another lifts a column: all of it goes as the piston,
// whatever part of a cell that has got to, and the flux is the piston's speed times its area.
static void pistons_push(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim)
        for (int axis = 0; axis < 2; ++axis) {
            const double v[2] = {axis == 0 ? .37 : 0, axis == 0 ? 0 : .37};
            const fluid_solid piston = moving_plane(.2, .2, v[0] > 0, v[1] > 0, v[0], v[1], 0);
            fluid_def def = fluid_box(dim, 1, 1, .05);
            def.material = FLUID_WATER;
            def.gravity[1] = axis == 0 ? 0 : -9.81;
            def.surface = FLUID_SURFACE_FACE;
            def.dt = .02;
            def.tolerance = 1e-12;
            fluid_world *w = fluid_make(&def, 1, &piston);
            // unjittered: the free surface stays flat
            const fluid_seed_def water = {.region = {.kind = FLUID_SOLID_BOX,
                                                     .centre = {axis == 0 ? .4 : .5, axis == 0 ? .5 : .4, .5},
                                                     .half = {axis == 0 ? .2 : .5, axis == 0 ? .5 : .2, .5}}};
            check_ok(fluid_world_seed(w, &water, NULL, err));
            double worst = 0, flux = 0;
            for (int k = 0; k < 25; ++k) {
                check_ok(fluid_world_step(w, INFINITY, err));
                worst = fmax(worst, off(w, v[0], v[1]));
            }
            // through a section across the motion in the middle of the material
            const fluid_grid *g = &w->grid;
            const int section = (int)fluid__cell_of(g, axis, .55);
            for (int c = 0; c < g->count; ++c) {
                const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
                if (at[axis] == section && w->cell[c] == FLUID_CELL_FULL)
                    flux += w->u[axis][c] * w->area[axis][c] * (dim == 2 ? g->h : g->h * g->h);
            }
            physics_row_below("piston: largest velocity of the water against it, m/s", 1e-9, worst);
            physics_row("piston: flux through a section, m^2/s (m^3/s)", .37, flux, 1e-9);
            physics_row("piston: way", .2 + .37 * w->time, w->solids[0].centre[axis], 1e-12);
            fluid_world_destroy(&w);
        }
}

// A square tank that turns and is full to the lid: the rigid rotation is without divergence for the matrix, to
// rounding, at any angle of the walls.
static void a_tank_turns_with_its_water(void **state) {
    (void)state;
    const double spin = .8;
    fluid_solid wall[4];
    for (int k = 0; k < 4; ++k) {
        const double n[2] = {cos(.3 + .5 * CORE_PI * k), sin(.3 + .5 * CORE_PI * k)};
        wall[k] = moving_plane(.5 - .3 * n[0], .5 - .3 * n[1], n[0], n[1], 0, 0, spin);
        wall[k].motion.pivot[0] = wall[k].motion.pivot[1] = .5;
    }
    fluid_def def = fluid_box(2, 1, 1, .025);
    def.material = FLUID_WATER;
    def.gravity[1] = 0;
    def.dt = .01;
    def.tolerance = 1e-12;
    fluid_world *w = fluid_make(&def, 4, wall);
    for (int i = 0; i < 80; ++i)
        for (int j = 0; j < 80; ++j) {
            const double x[3] = {.0125 * (i + .5), .0125 * (j + .5), 0};
            const double v[3] = {-spin * (x[1] - .5), spin * (x[0] - .5), 0};
            bool inside = true;
            for (int k = 0; k < 4; ++k) inside = inside && fluid_solid_distance(&wall[k], 2, x) > 0;
            if (inside) check_ok(fluid_world_add(w, x, v, err));
        }
    check_ok(fluid_world_step(w, INFINITY, err));
    const fluid_grid *g = &w->grid;
    double worst = 0;
    for (int c = 0; c < g->count; ++c) {
        const double x = g->origin[0] + (c % g->stride[1] - 1) * g->h, y = g->origin[1] + (c / g->stride[1] - 1) * g->h;
        w->u[0][c] = -spin * (y + .5 * g->h - .5);
        w->u[1][c] = spin * (x + .5 * g->h - .5);
    }
    fluid__motion_rates(w, def.dt);
    check_ok(fluid__project(w, w->q, err));
    for (int c = 0; c < g->count; ++c)
        for (int a = 0; a < 2; ++a) {
            const double at = g->origin[1 - a] + ((a == 0 ? c / g->stride[1] : c % g->stride[1]) - .5) * g->h - .5;
            if (w->cell[c] == FLUID_CELL_FULL && w->area[a][c] > 0)
                worst = fmax(worst, fabs(w->u[a][c] - (a == 0 ? -spin * at : spin * at)));
        }
    physics_row_below("tank that turns: what the projection changes of a rigid rotation, m/s", 1e-6, worst);
    // a quarter turn: the water still turns as the tank, and is in it
    while (w->time < .5 * CORE_PI / spin) check_ok(fluid_world_step(w, INFINITY, err));
    double along = 0, inertia = 0, deepest = 0;
    for (int i = 0; i < w->p.n; ++i) {
        const double x[2] = {w->p.x[0][i], w->p.x[1][i]}, rx = x[0] - .5, ry = x[1] - .5;
        along += rx * w->p.v[1][i] - ry * w->p.v[0][i];
        inertia += rx * rx + ry * ry;
        for (int k = 0; k < 4; ++k) deepest = fmax(deepest, -fluid_solid_distance(&w->solids[k], 2, x));
    }
    physics_row("tank that turns, a quarter turn: angular velocity of the water", spin, along / inertia, .02 * spin);
    physics_row_below("tank that turns: deepest particle in a wall, m", .05 * .025, deepest);
    fluid_world_destroy(&w);
}

// A tank of planes in the region [0, 4] x [0, 1] that moves with `speed`, or is at rest by the same code.
static fluid_world *make_tank(fluid_material material, fluid_surface surface, double speed, double dt) {
    const double h = 1. / 32;
    fluid_solid tank[3] = {moving_plane(.125, 0, 1, 0, speed, 0, 0), moving_plane(1.125, 0, -1, 0, speed, 0, 0),
                           moving_plane(0, .125, 0, 1, speed, 0, 0)};
    for (int k = 0; k < 3; ++k) {
        tank[k].friction = 1;
        tank[k].motion.velocity[0] = 1;
        tank[k].motion.waits = speed <= 0;
    }
    fluid_def def = fluid_box(2, 4, 1, h);
    def.dt = dt;
    def.material = material;
    def.surface = surface;
    def.tolerance = 1e-12;
    def.sweeps = 200;
    def.gravity[1] = -.25;
    return fluid_make(&def, 3, tank);
}

static void push_all(fluid_world *w, double speed) {
    for (int i = 0; i < w->p.n; ++i) w->p.v[0][i] = speed;
}

// A bed in the tank, moving by a cell a step: largest velocity against it after 20 steps.
static double carried(fluid_material material, double speed, double *pressure) {
    fluid_world *w =
        make_tank(material, material == FLUID_WATER ? FLUID_SURFACE_FACE : FLUID_SURFACE_GHOST, speed, 1. / 32);
    fluid_fill(w, .125, .125, 0, 1.125, .5, 0, true);
    const double beside[3] = {1.125 - .005 / 32, .3, 0}; // a particle at the wall that goes ahead
    check_ok(fluid_world_add(w, beside, (const double[3]){0, 0, 0}, err));
    push_all(w, speed);
    for (int k = 0; k < 20; ++k) check_ok(fluid_world_step(w, INFINITY, err));
    const double worst = off(w, speed, 0);
    *pressure = w->pressure[(int)fluid__cell_of(&w->grid, 0, .2 + speed * w->time) + 5 * w->grid.stride[1]];
    fluid_world_destroy(&w);
    return worst;
}

// A column in the tank, after `steps`: places against the tank by the order of the particles (2 n); returns n.
static int collapsed(fluid_material material, double speed, double dt, int steps, double *place) {
    fluid_world *w = make_tank(material, FLUID_SURFACE_GHOST, speed, dt);
    const int n = fluid_fill(w, .125, .125, 0, .375, .625, 0, true);
    push_all(w, speed);
    for (int k = 0; k < steps; ++k) check_ok(fluid_world_step(w, INFINITY, err));
    for (int i = 0; i < n; ++i) {
        place[2 * w->p.id[i]] = w->p.x[0][i] - speed * w->time;
        place[2 * w->p.id[i] + 1] = w->p.x[1][i];
    }
    fluid_world_destroy(&w);
    return n;
}

// The stress that a step starts from stays with the cells when the sand moves on: that sand does not rest to rounding.
static void a_steady_tank_is_one_at_rest(void **state) {
    (void)state;
    double p[2], worst[2];
    for (int k = 0; k < 2; ++k) worst[k] = carried(FLUID_WATER, k, &p[k]);
    physics_row_below("water in a tank at rest: fastest particle", 1e-9, worst[0]);
    physics_row_below("water in a tank that moves a cell a step: fastest particle against it", 1e-9, worst[1]);
    physics_row("water in a tank that moves: pressure over that at rest", 1, p[1] / p[0], 1e-9);
    for (int k = 0; k < 2; ++k) worst[k] = carried(FLUID_SAND, k, &p[k]);
    physics_row_below("bed of sand in a tank at rest: fastest particle/sqrt(g h)", 1e-5, worst[0] / sqrt(.25 / 32));
    physics_row_below("bed of sand in a tank that moves: the same", .01, worst[1] / sqrt(.25 / 32));
}

// What collapses in a tank that moves by whole cells a step is what collapses at rest, to what the solvers leave:
// water, and sand as long as no stress of an earlier step is there to start from. By half a cell a step the grid cuts
// it elsewhere.
static void a_collapse_does_not_see_the_motion(void **state) {
    (void)state;
    double *place[2], mean[2] = {0, 0}, worst[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
        place[k] = core_alloc(20000, sizeof *place[k]);
        assert_non_null(place[k]);
    }
    for (int what = 0; what < 2; ++what) {
        int n = 0;
        for (int k = 0; k < 2; ++k)
            n = what == 0 ? collapsed(FLUID_WATER, k, 1. / 32, 24, place[k])
                          : collapsed(FLUID_SAND, k, 1. / 32, 1, place[k]);
        for (int i = 0; i < 2 * n; ++i) worst[what] = fmax(worst[what], fabs(place[1][i] - place[0][i]));
    }
    physics_row_below("water that collapses in a tank that moves a cell a step: places, off by, m", 1e-9, worst[0]);
    physics_row_below("sand, the first step: places, off by, m", 1e-12, worst[1]);
    for (int k = 0; k < 2; ++k) {
        const int n = collapsed(FLUID_SAND, k, .5 / 32, 160, place[k]);
        for (int i = 0; i < n; ++i) mean[k] += (place[k][2 * i] - .125) / n;
    }
    physics_row("column of sand, half a cell a step: mean distance run over that at rest", 1, mean[1] / mean[0], .02);
    for (int k = 0; k < 2; ++k) core_free(place[k]);
}

// With FLIP a particle keeps a velocity of its own, and the grid, which does not move at a wall, takes nothing off it:
// the part into the wall ends at the wall, against the wall's own, the part along it goes on.
static void particles_stop_at_walls(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const fluid_solid floor = moving_plane(0, .3, 0, 1, 0, k ? .1 : 0, 0);
        fluid_def def = fluid_box(2, 1, 1, .05);
        def.material = FLUID_WATER;
        def.gravity[1] = 0;
        def.flip = 1;
        def.affine = false;
        def.dt = .01;
        fluid_world *w = fluid_make(&def, 1, &floor);
        check_ok(fluid_world_add(w, (const double[3]){.513, .3004, 0}, (const double[3]){.5, -1, 0}, err));
        for (int step = 0; step < 5; ++step) check_ok(fluid_world_step(w, INFINITY, err));
        physics_row("particle with FLIP at a wall: velocity into it, m/s", k ? .1 : 0, w->p.v[1][0], 1e-9);
        physics_row("particle with FLIP at a wall: velocity along it, m/s", .5, w->p.v[0][0], 1e-9);
        fluid_world_destroy(&w);
    }
}

// Where all kinds of laws lead, against their formulas; a law that waits, starts and stops.
static void laws(void **state) {
    (void)state;
    double table[8] = {0, 0, 0, 0, .5, .1, 0, 0};
    fluid_solid ball = {.kind = FLUID_SOLID_BALL, .present = true, .centre = {.5, .5, 0}, .radius = .1};
    ball.motion = (core_motion){.amplitude = {0, .1}, .frequency = .5, .pivot = {NAN, NAN}, .count_rows = 2};
    ball.motion.table = table;
    fluid_solid bar = {
        .kind = FLUID_SOLID_BAR, .present = true, .centre = {.2, .8, 0}, .end = {.3, .8, 0}, .radius = .06};
    bar.motion = (core_motion){.rotation = 1, .pivot = {.2, .7}, .waits = true};
    const fluid_solid solids[2] = {ball, bar};
    fluid_def def = fluid_box(2, 1, 1, .05);
    fluid_world *w = fluid_make(&def, 2, solids);
    fluid_fill(w, 0, 0, 0, 1, .2, 0, true);
    while (w->time < .25 - 1e-12) check_ok(fluid_world_step(w, .25 - w->time, err));
    check_near(w->solids[0].centre[0], .5 + .05, 1e-12);
    check_near(w->solids[0].centre[1], .5 + .1 * sin(.25 * CORE_PI), 1e-12);
    check_near(w->solids[1].centre[1], .8, 0);
    check_ok(fluid_world_start_motion(w, 1, err));
    while (w->time < .75 - 1e-12) check_ok(fluid_world_step(w, .75 - w->time, err));
    check_near(w->solids[0].centre[0], .6, 1e-12);
    for (int k = 0; k < 2; ++k) {
        check_near(w->solids[1].centre[0], .2 - .1 * sin(.5), 1e-12);
        check_near(w->solids[1].end[1], .7 + .1 * cos(.5) + .1 * sin(.5), 1e-12);
        check_ok(fluid_world_stop_motion(w, 1, err)); // and stays where it is
        check_ok(fluid_world_step(w, .02, err));
    }
    // once more, from there: a turn about the same point of the drawing
    check_ok(fluid_world_start_motion(w, 1, err));
    for (int k = 0; k < 5; ++k) check_ok(fluid_world_step(w, .02, err));
    check_near(w->solids[1].centre[0], .2 - .1 * sin(.6), 1e-12);
    check_near(w->solids[1].centre[1], .7 + .1 * cos(.6), 1e-12);
    fluid_world_destroy(&w);
}

// A solid that would go many cells in a step that is right for the material makes it shorter.
static void a_fast_solid_shortens_the_step(void **state) {
    (void)state;
    const fluid_solid fast = moving_plane(.1, 0, 1, 0, 20, 0, 0);
    fluid_def def = fluid_box(2, 1, 1, .05);
    fluid_world *w = fluid_make(&def, 1, &fast);
    fluid_fill(w, .5, 0, 0, 1, .2, 0, true);
    check_near(fluid_world_dt(w), .05 / 20, 1e-12);
    fluid_world_destroy(&w);
}

static void refused(void **state) {
    (void)state;
    fluid_world *w = NULL;
    core_error found = {0};
    fluid_solid box = {.kind = FLUID_SOLID_BOX, .present = true, .half = {.1, .1, .1}};
    box.motion.rotation = 1;
    fluid_def def = fluid_box(2, 1, 1, .05);
    assert_int_equal(fluid_world_create(&def, 1, &box, &w, &found), CORE_UNSUPPORTED);
    box.motion = (core_motion){.velocity = {1, 0}};
    def.sand = FLUID_SAND_PAPER;
    assert_int_equal(fluid_world_create(&def, 1, &box, &w, &found), CORE_UNSUPPORTED);
    def.sand = FLUID_SAND_UNIFIED;
    box.motion.velocity[1] = NAN;
    assert_int_equal(fluid_world_create(&def, 1, &box, &w, &found), CORE_NONFINITE);
    box.motion.velocity[1] = 0;
    w = fluid_make(&def, 1, &box);
    assert_int_equal(fluid_world_start_motion(w, 1, &found), CORE_RANGE);
    assert_int_equal(fluid_world_stop_motion(w, -1, &found), CORE_RANGE);
    assert_int_equal(fluid_world_start_motion(NULL, 0, &found), CORE_ARG);
    fluid_fill(w, .3, 0, 0, .8, .2, 0, true);
    const uint64_t before = core_alloc_count();
    for (int i = 0; i < 5; ++i) check_ok(fluid_world_step(w, .01, err));
    assert_true(core_alloc_count() == before);
    fluid_world_destroy(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pistons_push),
                                       cmocka_unit_test(a_tank_turns_with_its_water),
                                       cmocka_unit_test(a_steady_tank_is_one_at_rest),
                                       cmocka_unit_test(a_collapse_does_not_see_the_motion),
                                       cmocka_unit_test(particles_stop_at_walls),
                                       cmocka_unit_test(laws),
                                       cmocka_unit_test(a_fast_solid_shortens_the_step),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
