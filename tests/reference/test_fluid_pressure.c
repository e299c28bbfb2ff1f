/// Pressure: still water, exact solutions under refinement with free and solid boundaries, closed parts.
#include "fluid_physics.h"

static fluid_precondition precondition; // of the solver under test

static int use_multigrid(void **state) {
    (void)state;
    precondition = FLUID_PRECONDITION_MULTIGRID;
    return 0;
}
static int use_mic(void **state) {
    (void)state;
    precondition = FLUID_PRECONDITION_MIC;
    return 0;
}

// Sets phi, kinds and faces by hand: material where `inside` is negative; all faces touched count as known.
static void set_material(fluid_world *w, double (*inside)(const double *x)) {
    const fluid_grid *g = &w->grid;
    for (int a = 0; a < g->dim; ++a) w->lo[a] = 1, w->hi[a] = g->cells[a] - 1;
    for (int c = 0; c < g->count; ++c) {
        const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
        double x[3] = {0, 0, 0};
        for (int a = 0; a < g->dim; ++a) x[a] = g->origin[a] + (at[a] - .5) * g->h;
        w->phi[c] = inside(x);
        if (w->open[c]) w->cell[c] = w->phi[c] < 0 ? FLUID_CELL_FULL : FLUID_CELL_AIR;
    }
    for (int64_t r = 0; r < fluid__row_count(w); ++r) w->span_lo[r] = w->lo[0], w->span_hi[r] = w->hi[0];
}

// u = h grad f on all faces.
static void set_gradient(fluid_world *w, void (*gradient)(const double *x, double *slope)) {
    const fluid_grid *g = &w->grid;
    for (int c = 0; c < g->count; ++c) {
        const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
        for (int axis = 0; axis < g->dim; ++axis) {
            double x[3] = {0, 0, 0}, slope[3] = {0, 0, 0};
            for (int a = 0; a < g->dim; ++a) x[a] = g->origin[a] + (at[a] - (a == axis ? 1 : .5)) * g->h;
            gradient(x, slope);
            w->u[axis][c] = g->h * slope[axis];
        }
    }
}

// Largest |q - f| over full cells, after a constant is taken out where there is no free surface.
static double largest_error(const fluid_world *w, double (*f)(const double *x), bool level) {
    const fluid_grid *g = &w->grid;
    double mean = 0, worst = 0;
    int n = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int c = 0; c < g->count; ++c) {
            if (w->cell[c] != FLUID_CELL_FULL) continue;
            const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
            double x[3] = {0, 0, 0};
            for (int a = 0; a < g->dim; ++a) x[a] = g->origin[a] + (at[a] - .5) * g->h;
            const double e = w->q[c] - f(x);
            if (pass == 0)
                mean += e, ++n;
            else
                worst = fmax(worst, fabs(e - (level ? mean / n : 0)));
        }
    return worst;
}

// ---------------------------------------------------------------------------------------------- free surface

// f = (R^2 - r^2) e^(x/2) about (1.03, .98), R = .7: 0 on the disc's (ball's) rim.
static double disc(const double *x) {
    const double dx = x[0] - 1.03, dy = x[1] - .98;
    return sqrt(dx * dx + dy * dy) - .7;
}
static double disc_f(const double *x) {
    const double dx = x[0] - 1.03, dy = x[1] - .98;
    return (.49 - dx * dx - dy * dy) * exp(.5 * x[0]);
}
static void disc_gradient(const double *x, double *slope) {
    const double dx = x[0] - 1.03, dy = x[1] - .98, e = exp(.5 * x[0]);
    slope[0] = (-2 * dx + .5 * (.49 - dx * dx - dy * dy)) * e;
    slope[1] = -2 * dy * e;
}
static double ball(const double *x) {
    const double dx = x[0] - 1.03, dy = x[1] - .98, dz = x[2] - 1.01;
    return sqrt(dx * dx + dy * dy + dz * dz) - .7;
}
static double ball_f(const double *x) {
    const double dx = x[0] - 1.03, dy = x[1] - .98, dz = x[2] - 1.01;
    return (.49 - dx * dx - dy * dy - dz * dz) * exp(.5 * x[0]);
}
static void ball_gradient(const double *x, double *slope) {
    const double e = exp(.5 * x[0]);
    slope[0] = -2 * (x[0] - 1.03) * e + .5 * ball_f(x);
    slope[1] = -2 * (x[1] - .98) * e;
    slope[2] = -2 * (x[2] - 1.01) * e;
}

static double free_error(int dim, double h, fluid_surface order) {
    fluid_def def = fluid_box(dim, 2, 2, h);
    def.surface = order;
    def.precondition = precondition;
    def.tolerance = 1e-12;
    def.capacity = 1;
    fluid_world *w = fluid_make(&def, 0, NULL);
    set_material(w, dim == 2 ? disc : ball);
    set_gradient(w, dim == 2 ? disc_gradient : ball_gradient);
    check_ok(fluid__project(w, w->q, err));
    const double e = largest_error(w, dim == 2 ? disc_f : ball_f, false);
    fluid_world_destroy(&w);
    return e;
}

static void orders_at_a_free_surface(void **state) {
    (void)state;
    const double second = log2(free_error(2, .1, FLUID_SURFACE_GHOST) / free_error(2, .0125, FLUID_SURFACE_GHOST)) / 3;
    const double first = log2(free_error(2, .1, FLUID_SURFACE_FIRST) / free_error(2, .0125, FLUID_SURFACE_FIRST)) / 3;
    const double solid = log2(free_error(3, .1, FLUID_SURFACE_GHOST) / free_error(3, .025, FLUID_SURFACE_GHOST)) / 2;
    physics_row("disc, ghost fluid: order of the pressure's error", 2, second, .25);
    physics_row("disc, first order: order of the pressure's error", 1, first, .3);
    physics_row("ball (3D), ghost fluid: order of the pressure's error", 2, solid, .35);
    physics_row_below("disc, ghost fluid, h = R/56: error, part of the largest f", 2e-3,
                      free_error(2, .0125, FLUID_SURFACE_GHOST) / .7);
}

// ---------------------------------------------------------------------------------------------- solid boundary

// f = r^4/4 - R^2 r^2/2: its normal derivative is 0 on the bowl's rim, so nothing is left of its gradient.
static double everywhere(const double *x) {
    (void)x;
    return -1;
}
static double bowl_f(const double *x) {
    const double dx = x[0] - 1.03, dy = x[1] - .98, r2 = dx * dx + dy * dy;
    return .25 * r2 * r2 - .5 * .49 * r2;
}
static void bowl_gradient(const double *x, double *slope) {
    const double dx = x[0] - 1.03, dy = x[1] - .98, r2 = dx * dx + dy * dy;
    slope[0] = (r2 - .49) * dx;
    slope[1] = (r2 - .49) * dy;
}

static double bowl_error(double h) {
    const fluid_solid bowl = {.kind = FLUID_SOLID_BOWL, .present = true, .centre = {1.03, .98}, .radius = .7};
    fluid_def def = fluid_box(2, 2, 2, h);
    def.precondition = precondition;
    def.tolerance = 1e-12;
    fluid_world *w = fluid_make(&def, 1, &bowl);
    set_material(w, everywhere);
    set_gradient(w, bowl_gradient);
    check_ok(fluid__project(w, w->q, err));
    const double e = largest_error(w, bowl_f, true);
    fluid_world_destroy(&w);
    return e;
}

static void order_at_a_curved_wall(void **state) {
    (void)state;
    const double order = log2(bowl_error(.1) / bowl_error(.0125)) / 3;
    physics_row("bowl without free surface: order of the pressure's error", 2, order, .6);
    physics_row_below("bowl, h = R/56: error, part of the range of f", 2e-3, bowl_error(.0125) / .06);
}

// Weight in a round bowl, with a level surface: linear pressure, no motion, whatever the cut cells.
static double below_half(const double *x) {
    return x[1] - .9;
}
static double weight_f(const double *x) {
    return .9 - x[1];
}
static void weight_gradient(const double *x, double *slope) {
    (void)x;
    slope[0] = 0;
    slope[1] = -1;
}

static void weight_in_a_bowl_is_exact(void **state) {
    (void)state;
    const fluid_solid bowl = {.kind = FLUID_SOLID_BOWL, .present = true, .centre = {1.03, .98}, .radius = .7};
    fluid_def def = fluid_box(2, 2, 2, .05);
    def.precondition = precondition;
    def.tolerance = 1e-12;
    fluid_world *w = fluid_make(&def, 1, &bowl);
    set_material(w, below_half);
    set_gradient(w, weight_gradient);
    check_ok(fluid__project(w, w->q, err));
    double left = 0;
    for (int c = 0; c < w->grid.count; ++c)
        for (int a = 0; a < 2; ++a)
            if (w->cell[c] == FLUID_CELL_FULL && w->area[a][c] > 0) left = fmax(left, fabs(w->u[a][c]) / w->grid.h);
    physics_row_below("weight in a round bowl: pressure's error, part of the depth", 1e-9,
                      largest_error(w, weight_f, false));
    physics_row_below("weight in a round bowl: velocity left, part of g dt", 1e-9, left);
    fluid_world_destroy(&w);
}

// ---------------------------------------------------------------------------------------------- still water

static void still_water(int dim, fluid_surface order, double depth, double h, double tolerance, double energy) {
    const double g = 9.81, rho = 1000;
    char name[100];
    const char *surface = order == FLUID_SURFACE_GHOST   ? "ghost fluid"
                          : order == FLUID_SURFACE_FIRST ? "first order"
                                                         : "face";
    fluid_def def = fluid_box(dim, dim == 2 ? .64 : .16, 1.25 * depth, h);
    def.material = FLUID_WATER;
    def.density = rho;
    def.flip = .95;
    def.affine = false;
    def.surface = order;
    def.cfl = .5;
    def.precondition = precondition;
    def.tolerance = 1e-10;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, def.region[3], depth, def.region[3], true);
    fluid_advance(w, 1);
    const int c = 1 + w->grid.stride[1] + (dim == 3 ? w->grid.stride[2] : 0);
    snprintf(name, sizeof name, "still water %dD, %s: bottom pressure over rho g depth", dim, surface);
    physics_row(name, 1, w->pressure[c] / (rho * g * (depth - .5 * h)), tolerance);
    const fluid_totals t = fluid_sum(w);
    snprintf(name, sizeof name, "still water %dD, %s: kinetic energy over m g depth", dim, surface);
    physics_row_below(name, energy, t.kinetic / (t.mass * g * depth));
    fluid_world_destroy(&w);
}

// In first order the surface is the grid's and the water is still; its depth counts to the middle of the first air
// cell. The ghost fluid sees the noise of the particles as ripples.
static void water_stays_still(void **state) {
    (void)state;
    still_water(2, FLUID_SURFACE_FIRST, .64, .01, .01, 1e-8);
    still_water(2, FLUID_SURFACE_GHOST, .64, .01, .01, 2e-5);
    still_water(2, FLUID_SURFACE_FACE, .64, .01, 1e-6, 1e-8);
    still_water(3, FLUID_SURFACE_FIRST, .32, .02, .04, 1e-8);
    still_water(3, FLUID_SURFACE_FACE, .32, .02, 1e-6, 1e-8);
    still_water(3, FLUID_SURFACE_GHOST, .32, .02, .03, 2e-4);
}

// A closed box that is full to the lid has no free surface: its pressure is found up to a constant.
static void full_box(void **state) {
    (void)state;
    fluid_def def = fluid_box(2, .2, .2, .01);
    def.material = FLUID_WATER;
    def.precondition = precondition;
    def.tolerance = 1e-10;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 0, 0, 0, .2, .2, 0, false);
    fluid_advance(w, 1);
    const double rise = w->pressure[1 + w->grid.stride[1]] - w->pressure[1 + 20 * w->grid.stride[1]];
    physics_row("full box: pressure from lid to bottom over rho g height", 1, rise / (1500 * 9.81 * .19), 1e-6);
    physics_row_below("full box: largest speed, m/s", 1e-9, fluid_sum(w).speed_max);
    fluid_world_destroy(&w);
}

// A shear flow cos(k y) of a regular filling, without forces: a step leaves f + (1 - f) T^2 of it, with the share f of
// FLIP and the transfer to the faces and back, T = .75 cos(.25 k h) + .25 cos(.75 k h) each way. Amplitude in the
// middle third after ten steps.
static void transfers_damp(void **state) {
    (void)state;
    static const double share[4] = {0, .5, .95, 1};
    const double k = 2 * CORE_PI / 16, one_way = .75 * cos(.25 * k) + .25 * cos(.75 * k);
    for (int mode = 0; mode < 4; ++mode) {
        fluid_def def = fluid_box(2, 8, 96, 1);
        def.periodic = true;
        def.material = FLUID_WATER;
        def.gravity[1] = 0;
        def.affine = false;
        def.flip = share[mode];
        def.dt = .2;
        fluid_world *w = fluid_make(&def, 0, NULL);
        for (int j = 0; j < 2 * 96; ++j)
            for (int i = 0; i < 2 * 8; ++i) {
                const double x[3] = {.25 + .5 * i, .25 + .5 * j, 0}, v[3] = {cos(k * x[1]), 0, 0};
                check_ok(fluid_world_add(w, x, v, err));
            }
        for (int step = 0; step < 10; ++step) check_ok(fluid_world_step(w, INFINITY, err));
        double overlap = 0, square = 0;
        for (int i = 0; i < w->p.n; ++i) {
            const double y = w->p.x[1][i], mode_there = cos(k * y);
            if (y < 32 || y > 64) continue;
            overlap += w->p.v[0][i] * mode_there;
            square += mode_there * mode_there;
        }
        char name[80];
        snprintf(name, sizeof name, "shear flow, 16 cells long, share of FLIP %.2f: left after 10 steps", share[mode]);
        physics_row(name, pow(share[mode] + (1 - share[mode]) * one_way * one_way, 10), overlap / square, 2e-4);
        fluid_world_destroy(&w);
    }
}

// A block a cell below the lid, a cell above the floor or a cell from side walls falls as if they were not there.
static void walls_let_go(void **state) {
    (void)state;
    for (int material = FLUID_WATER; material <= FLUID_SAND; ++material)
        for (int k = 0; k < 3; ++k) {
            static const double box[3][4] = {{.3, .5, .7, .95}, {.3, .05, .7, .5}, {.05, .3, .95, .7}};
            fluid_def def = fluid_box(2, 1, 1, .05);
            def.material = material;
            def.dt = .01;
            fluid_world *w = fluid_make(&def, 0, NULL);
            fluid_fill(w, box[k][0], box[k][1], 0, box[k][2], box[k][3], 0, true);
            check_ok(fluid_world_step(w, INFINITY, err));
            double worst = 0;
            for (int i = 0; i < w->p.n; ++i) worst = fmax(worst, hypot(w->p.v[0][i], w->p.v[1][i] + 9.81 * def.dt));
            physics_row_below("block a cell from walls: velocity after a step, off by, m/s", 1e-9, worst);
            fluid_world_destroy(&w);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_at_a_free_surface),
        cmocka_unit_test(order_at_a_curved_wall),
        cmocka_unit_test(weight_in_a_bowl_is_exact),
        cmocka_unit_test(water_stays_still),
        cmocka_unit_test(full_box),
    };
    const struct CMUnitTest other[] = {cmocka_unit_test(transfers_damp), cmocka_unit_test(walls_let_go)};
    return cmocka_run_group_tests_name("multigrid", tests, use_multigrid, NULL) +
           cmocka_run_group_tests_name("MIC(0)", tests, use_mic, NULL) + cmocka_run_group_tests(other, NULL, NULL);
}
