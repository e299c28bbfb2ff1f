/// Sand on slopes, piles and discs against closed forms, in both modes.
#include "fluid_physics.h"

#include <stdlib.h>

static const double G = 9.81;

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double radians(double degrees) {
    return degrees * CORE_PI / 180;
}

// ---------------------------------------------------------------------------------------------- slopes

// A layer of depth 1 m, n cells, on a wall tilted by `degrees`, repeating along it.
static fluid_def layer_def(double degrees, int n) {
    fluid_def def = fluid_box(2, 8. / n, 1.25, 1. / n);
    def.periodic = true;
    def.gravity[0] = G * sin(radians(degrees));
    def.gravity[1] = -G * cos(radians(degrees));
    def.friction = .32;
    def.wall_friction = 1;
    def.sweeps = 1500;
    return def;
}

// Mean acceleration over g between .2 s and .4 s after the start from rest.
static double acceleration(const fluid_def *def) {
    fluid_world *w = fluid_make(def, 0, NULL);
    fluid_fill(w, 0, 0, 0, def->region[3], 1, 0, false); // its depth is 1 on the mean
    fluid_advance(w, .2);
    const fluid_totals before = fluid_sum(w);
    fluid_advance(w, .4);
    const fluid_totals after = fluid_sum(w);
    fluid_world_destroy(&w);
    return (after.momentum[0] - before.momentum[0]) / after.mass / .2 / G;
}

// Starts to move at tan a = M + c/(rho g h cos a).
static void slope_starts_at_its_angle(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const double cohesion = k * .1 * 1500 * G, critical = k ? 23.21 : 17.74; // tan a = .32 + .1/cos a
        check_near(tan(radians(critical)), .32 + k * .1 / cos(radians(critical)), 1e-3);
        fluid_def below = layer_def(critical - .6, 32), above = layer_def(critical + .6, 32);
        below.cohesion = above.cohesion = cohesion;
        physics_row_below(k ? "slope .6 degrees below its angle, with cohesion: a/g"
                            : "slope .6 degrees below its angle: a/g",
                          1e-4, acceleration(&below));
        physics_row_above(k ? "slope .6 degrees above its angle, with cohesion: a/g"
                            : "slope .6 degrees above its angle: a/g",
                          2e-3, acceleration(&above));
    }
}

// Above it the layer moves with g (sin a - M cos a), however few cells deep: it slides on itself at the wall, too.
static void slope_accelerates(void **state) {
    (void)state;
    const double a = radians(25), expected = sin(a) - .32 * cos(a);
    for (int n = 8; n <= 64; n *= 8) {
        const fluid_def def = layer_def(25, n);
        physics_row(n == 8 ? "slope of 25 degrees, 8 cells: a/g" : "slope of 25 degrees, 64 cells: a/g", expected,
                    acceleration(&def), .01 * expected);
    }
}

// With a friction that rises with the inertial number I the layer finds a steady flow (Bagnold's): everywhere
// tan a = M + rise/(1 + I0/I), so that its mean velocity is 2/5 I sqrt(g cos a) depth^(3/2)/grain.
static void slope_finds_its_speed(void **state) {
    (void)state;
    const double a = radians(22), number = .4 * (tan(a) - .32) / (.32 + .28 - tan(a)), grain = .2;
    const double expected = .4 * number * sqrt(G * cos(a)) / grain;
    fluid_def def = layer_def(22, 16);
    def.friction_rise = .28;
    def.grain_size = grain;
    def.sweeps = 200;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, def.region[3], 1, 0, true);
    fluid_advance(w, 8);
    const fluid_totals t = fluid_sum(w);
    fluid_world_destroy(&w);
    physics_row("slope of 22 degrees, friction that rises: mean velocity", expected, t.momentum[0] / t.mass,
                .03 * expected);
}

// A heap at .8 of its angle lies still, its surface of stairs too: displacement in 5 s, in cells.
static void heap_lies_still(void **state) {
    (void)state;
    const double h = 1. / 40, slope = tan(.8 * atan(.32));
    fluid_def def = fluid_box(2, 4, 1, h);
    def.wall_friction = 1;
    fluid_world *w = fluid_make(&def, 0, NULL);
    double *moved = core_alloc((size_t)def.capacity, sizeof *moved), *start[2];
    core_random random;
    core_random_init(&random, 3, 0);
    for (int a = 0; a < 2; ++a) start[a] = core_alloc((size_t)def.capacity, sizeof *moved);
    assert_true(moved && start[0] && start[1]);
    for (double x = h / 4; x < 4; x += h / 2)
        for (double y = h / 4; y < slope * (1.2 - fabs(x - 2)); y += h / 2) {
            double at[3] = {x, y, 0};
            const double v[3] = {0, 0, 0};
            for (int a = 0; a < 2; ++a) start[a][w->p.n] = at[a] += h / 8 * (2 * core_random_uniform(&random) - 1);
            check_ok(fluid_world_add(w, at, v, err));
        }
    fluid_advance(w, 5);
    const int n = w->p.n;
    for (int i = 0; i < n; ++i)
        moved[i] = hypot(w->p.x[0][i] - start[0][w->p.id[i]], w->p.x[1][i] - start[1][w->p.id[i]]) / h;
    qsort(moved, (size_t)n, sizeof *moved, by_size);
    const fluid_totals t = fluid_sum(w);
    physics_row_below("heap at .8 of its angle, 5 s: half move less than, cells", .05, moved[n / 2]);
    physics_row_below("heap at .8 of its angle, 5 s: nine in ten move less than, cells", .2, moved[9 * n / 10]);
    physics_row_below("heap at .8 of its angle, 5 s: 99 in 100 move less than, cells", 1, moved[99 * n / 100]);
    physics_row_below("heap at .8 of its angle: speed of the fastest particle/sqrt(g h)", .01,
                      t.speed_max / sqrt(G * h));
    for (int a = 0; a < 2; ++a) core_free(start[a]);
    core_free(moved);
    fluid_world_destroy(&w);
}

// ---------------------------------------------------------------------------------------------- loose sand

// A lone particle on a floor slides and stops as a grain does: to rounding v - mu g t, then 0; mu: of the wall, or of
// sand if that is less. In 3D it keeps its direction.
static void a_lone_particle_slides(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim)
        for (int k = 0; k < 2; ++k) {
            const double mu = k ? .32 : .2, v0[3] = {1, 0, dim == 3 ? .75 : 0}, speed = dim == 3 ? 1.25 : 1;
            double x[3] = {.41, .033, .63};
            fluid_def def = fluid_box(dim, 2, .4, .05);
            def.wall_friction = k ? 1 : .2;
            def.dt = .01;
            fluid_world *w = fluid_make(&def, 0, NULL);
            check_ok(fluid_world_add(w, x, v0, err));
            double worst = 0;
            for (int step = 1; step <= 70; ++step) {
                check_ok(fluid_world_step(w, INFINITY, err));
                const double left = fmax(1 - mu * G * step * def.dt / speed, 0);
                for (int a = 0; a < dim; ++a) {
                    x[a] += a == 1 ? 0 : left * v0[a] * def.dt;
                    worst = fmax(worst, fmax(fabs(w->p.v[a][0] - left * v0[a]), fabs(w->p.x[a][0] - x[a])));
                }
            }
            physics_row_below("lone particle on a floor: velocity and place, off by (m/s, m)", 1e-12, worst);
            fluid_world_destroy(&w);
        }
}

// Over a bed a lone particle falls freely, until it is three cells above; it lands on the bed and stays there.
static void a_lone_particle_falls(void **state) {
    (void)state;
    fluid_def def = fluid_box(2, 1, 1, .05);
    def.wall_friction = 1;
    def.dt = .01;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, 1, .2, 0, true);
    check_ok(fluid_world_add(w, (const double[3]){.512, .9, 0}, (const double[3]){0, 0, 0}, err));
    const int id = w->p.n - 1;
    double worst = 0, height = 0, speed = 0;
    for (int step = 1; step <= 150; ++step) {
        check_ok(fluid_world_step(w, INFINITY, err));
        int i = 0;
        while (w->p.id[i] != id) ++i;
        height = w->p.x[1][i];
        speed = hypot(w->p.v[0][i], w->p.v[1][i]);
        const double fall = .5 * G * def.dt * def.dt * step * (step + 1);
        if (fall < .5) worst = fmax(worst, fabs(height - (.9 - fall)));
    }
    physics_row_below("lone particle above a bed: fall, off by, m", 1e-12, worst);
    physics_row("lone particle above a bed: where it lands, in cells", .2 / .05, height / .05, 1.5);
    physics_row_below("lone particle on a bed: speed/sqrt(g h)", 1e-3, speed / sqrt(G * .05));
    fluid_world_destroy(&w);
}

// The layer as a block on a smooth wall: a = g (sin a - mu cos a).
static void block_slides(void **state) {
    (void)state;
    const double a = radians(20);
    fluid_def def = layer_def(20, 32);
    def.friction = .6;
    def.wall_friction = .2;
    physics_row("block on a wall, 20 degrees, mu .2: a/g", sin(a) - .2 * cos(a), acceleration(&def), 2e-4);
    def.wall_friction = .37; // tan 20 degrees = .364
    physics_row_below("block on a wall, 20 degrees, mu .37: a/g", 1e-4, acceleration(&def));
    def.sand = FLUID_SAND_PAPER;
    def.wall_friction = .2;
    physics_row("block on a wall, paper mode, pressure law: a/g", sin(a) - .2 * cos(a), acceleration(&def), 5e-3);
    // the paper's wall sees the weight of one cell alone: its friction falls with the depth in cells
    def.wall_law = FLUID_WALL_PAPER;
    physics_row("block on a wall, paper mode, paper's law: a/g", sin(a) - .2 * cos(a) / 32, acceleration(&def), .01);
}

// The same on a slope that is not along the grid.
static void block_slides_on_cut_cells(void **state) {
    (void)state;
    const double a = radians(26.565), s = sin(a), c = cos(a);
    const fluid_solid slope = {
        .kind = FLUID_SOLID_PLANE, .present = true, .friction = .2, .centre = {0, 2}, .normal = {s, c}};
    fluid_def def = fluid_box(2, 4, 2.5, 1. / 24);
    def.friction = .6;
    def.cohesion = 1e6; // it keeps its corners
    def.sweeps = 1000;
    def.rounds = 40;
    fluid_world *w = fluid_make(&def, 1, &slope);
    core_random random;
    core_random_init(&random, 1, 0);
    for (double along = .4; along < 1.9; along += def.h / 2) // a block of 1.5 m x .5 m
        for (double up = def.h / 4; up < .5; up += def.h / 2) {
            const double j = def.h / 8 * (2 * core_random_uniform(&random) - 1);
            const double x[3] = {c * along + s * up + j, 2 - s * along + c * up - j, 0}, v[3] = {0, 0, 0};
            check_ok(fluid_world_add(w, x, v, err));
        }
    fluid_advance(w, .04);
    const fluid_totals before = fluid_sum(w);
    fluid_advance(w, .14);
    const fluid_totals after = fluid_sum(w);
    const double gain = hypot(after.momentum[0] - before.momentum[0], after.momentum[1] - before.momentum[1]);
    physics_row("block on cut cells, 26.6 degrees, mu .2: a/g", s - .2 * c, gain / after.mass / .1 / G, .012);
    fluid_world_destroy(&w);
}

// ---------------------------------------------------------------------------------------------- the paper's constants

// One step of the paper's mode on a layer that shears at `rate` on a slope of 10 degrees: mean acceleration over g of
// the particles in the middle, and the share of rigid cells there.
static double sheared(double rate, double dt, double *rigid) {
    fluid_def def = layer_def(10, 32);
    def.sand = FLUID_SAND_PAPER;
    def.surface = FLUID_SURFACE_FACE; // the pressure is known to the digit
    def.wall_friction = 0;
    def.dt = dt;
    def.relaxation = 0; // what is not flowing shows no stress
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, def.region[3], 1, 0, false);
    for (int i = 0; i < w->p.n; ++i) w->p.v[0][i] = rate * w->p.x[1][i], w->p.c[1][i] = rate;
    check_ok(fluid_world_step(w, INFINITY, err));
    double gain = 0;
    int n = 0;
    for (int i = 0; i < w->p.n; ++i) {
        const double start = w->p.x[1][i] - dt * w->p.v[1][i];
        if (start < .3 || start > .7) continue;
        gain += w->p.v[0][i] - rate * start;
        ++n;
    }
    int count = 0;
    for (int c = 0; c < w->grid.count; ++c) {
        const int j = c / w->grid.stride[1], i = c % w->grid.stride[1];
        count += j == 17 && i >= 1 && i <= 8 && w->mark[c] == 1;
    }
    *rigid = count / 8.;
    fluid_world_destroy(&w);
    return gain / n / dt / G;
}

// phi = 30 degrees: flowing stress as on a slope of 31.5 degrees, yield at the shear that a stress of tan 16.1 degrees
// times the pressure would stop: the two constants of the paper.
static void paper_has_two_constants(void **state) {
    (void)state;
    const double a = radians(10), dt = 1e-3, h = 1. / 32;
    double rigid;
    const double found = sheared(50, dt, &rigid);
    physics_row("paper mode, phi 30: flowing friction tan a", tan(radians(31.5)), (sin(a) - found) / cos(a), .01);
    // D_xy = rate/2 and |D| = rate/sqrt 2; cells of row 17 lie 15.5 cells below the surface
    const double p = 15.5 * G * cos(a) * dt, needed = 2 * tan(radians(16.1)) * p / h; // rate of the limit
    sheared(.98 * needed, dt, &rigid);
    physics_row("paper mode, phi 30: cells rigid below the limit", 1, rigid, 0);
    sheared(1.02 * needed, dt, &rigid);
    physics_row("paper mode, phi 30: cells rigid above the limit", 0, rigid, 0);
}

// ---------------------------------------------------------------------------------------------- rigid motion

// The projection finds a rigid motion again under anything that is orthogonal to rigid motions, in 2D and 3D.
static void rigid_parts_turn(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .05);
        def.gravity[1] = 0;
        def.dt = .01;
        fluid_world *w = fluid_make(&def, 0, NULL);
        const fluid_seed_def seed = {.region = {.kind = FLUID_SOLID_BALL, .centre = {.5, .5, .5}, .radius = .3},
                                     .jitter = .25};
        check_ok(fluid_world_seed(w, &seed, NULL, err));
        fluid__sort(w);
        fluid__to_grid(w);
        fluid__mark_cells(w);
        const fluid_grid *g = &w->grid;
        const double omega[3] = {dim == 3 ? .7 : 0, dim == 3 ? -.4 : 0, 1.3};
        for (int c = 0; c < g->count; ++c)
            for (int a = 0; a < dim; ++a) {
                const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
                double x[3];
                for (int b = 0; b < 3; ++b) x[b] = (at[b] - (b == a ? 1 : .5)) * g->h - .5;
                const int b = (a + 1) % 3, d = (a + 2) % 3;
                w->u[a][c] = .3 * a + omega[b] * x[d] - omega[d] * x[b];
                w->old[a][c] = w->u[a][c];
                w->u[a][c] += 1e-3 * sin(12.9898 * c + a); // noise
            }
        fluid__rigid_project(w, w->cell, FLUID_CELL_FULL);
        double worst = 0;
        for (int c = 0; c < g->count; ++c)
            for (int a = 0; a < dim && w->cell[c] == FLUID_CELL_FULL; ++a)
                worst = fmax(worst, fabs(w->u[a][c] - w->old[a][c]));
        physics_row_below(dim == 2 ? "rigid disc: velocity after the projection, m/s" : "rigid ball: velocity, m/s",
                          2e-4, worst);
        fluid_world_destroy(&w);
    }
}

// A disc of cohesive sand spins in free space: its angular velocity after an eighth of a turn.
static void disc_spins_on(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; ++mode) {
        fluid_def def = fluid_box(2, 1, 1, .02);
        def.gravity[1] = 0;
        def.cohesion = 1e3;
        def.sand = mode ? FLUID_SAND_PAPER : FLUID_SAND_UNIFIED;
        def.dt = .02;
        fluid_world *w = fluid_make(&def, 0, NULL);
        const fluid_seed_def seed = {.region = {.kind = FLUID_SOLID_BALL, .centre = {.5, .5}, .radius = .3},
                                     .jitter = .25};
        check_ok(fluid_world_seed(w, &seed, NULL, err));
        for (int i = 0; i < w->p.n; ++i) {
            w->p.v[0][i] = -(w->p.x[1][i] - .5), w->p.v[1][i] = w->p.x[0][i] - .5;
            w->p.c[1][i] = -1, w->p.c[3][i] = 1;
        }
        fluid_advance(w, CORE_PI / 4);
        double spin = 0, arm = 0;
        for (int i = 0; i < w->p.n; ++i) {
            const double x = w->p.x[0][i] - .5, y = w->p.x[1][i] - .5;
            spin += x * w->p.v[1][i] - y * w->p.v[0][i];
            arm += x * x + y * y;
        }
        physics_row(mode ? "spinning disc, paper mode: angular velocity after 1/8 turn"
                         : "spinning disc: angular velocity after 1/8 turn",
                    1, spin / arm, .03);
        fluid_world_destroy(&w);
    }
}

// The stress moves momentum about and makes none.
static void stress_keeps_momentum(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .05);
        def.gravity[1] = 0;
        fluid_world *w = fluid_make(&def, 0, NULL);
        fluid_fill(w, .3, .3, .3, .7, .7, .7, false);
        core_random random;
        core_random_init(&random, 5, 0);
        for (int i = 0; i < w->p.n; ++i)
            for (int a = 0; a < dim; ++a) w->p.v[a][i] = core_random_normal(&random);
        fluid__sort(w);
        fluid__to_grid(w);
        fluid__mark_cells(w);
        fluid__stress_begin(w);
        fluid__stress_bound(w, .01);
        for (int c = 0; c < w->grid.count; ++c)
            for (int p = 0; p < 4 * fluid__pairs(dim) && w->cell[c] == FLUID_CELL_FULL; ++p) {
                w->stress.shear[p / 4][p % 4][c] = core_random_normal(&random);
                w->stress.diagonal[p % dim][c] = core_random_normal(&random);
            }
        double before[3] = {0, 0, 0}, after[3] = {0, 0, 0}, moved = 0;
        for (int a = 0; a < dim; ++a)
            for (int c = 0; c < w->grid.count; ++c) before[a] += w->inertia[a][c] * w->u[a][c];
        for (int a = 0; a < dim; ++a) memcpy(w->old[a], w->u[a], (size_t)w->grid.count * sizeof(double));
        fluid__stress_apply(w, &w->stress, w->u, 1);
        for (int a = 0; a < dim; ++a)
            for (int c = 0; c < w->grid.count; ++c) {
                after[a] += w->inertia[a][c] * w->u[a][c];
                moved += w->inertia[a][c] * fabs(w->u[a][c] - w->old[a][c]);
            }
        for (int a = 0; a < dim; ++a)
            physics_row_below(dim == 2 ? "stress in 2D: momentum made, part of what it moves"
                                       : "stress in 3D: momentum made, part of what it moves",
                              1e-14, (after[a] - before[a]) / moved);
        fluid_world_destroy(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slope_starts_at_its_angle),
        cmocka_unit_test(slope_accelerates),
        cmocka_unit_test(slope_finds_its_speed),
        cmocka_unit_test(heap_lies_still),
        cmocka_unit_test(a_lone_particle_slides),
        cmocka_unit_test(a_lone_particle_falls),
        cmocka_unit_test(block_slides),
        cmocka_unit_test(block_slides_on_cut_cells),
        cmocka_unit_test(paper_has_two_constants),

        cmocka_unit_test(rigid_parts_turn),
        cmocka_unit_test(disc_spins_on),
        cmocka_unit_test(stress_keeps_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
