/// Two-sided columns of sand on a rough floor, M = .32 and .28 more in fast flow (I0 = .4, grains of R0/40: the law of
/// the published continuum, Lagree, Staron & Popinet 2011), against published contact dynamics of discs (two-sided
/// columns, diameters 1.5 : 1; run-out (xf - R0)/R0 and height of the deposit): .93, .50 at H0/R0 = .5; 3.5, .75
/// at 1.42; 12.4, 1.27 at 6.26. Times in sqrt(H0/g). The front is where the heap is one cell high on the mean of five
/// columns of cells. Stray particles that roll on alone are left out by that.
#include "fluid_physics.h"

typedef struct column {
    double aspect, h, half; // H0/R0; cell and half width of the box in R0
    fluid_world *w;
} column;

static const double G = 9.81, GRAIN = 1. / 40; // m/s^2; R0

static column make_column(double aspect, int cells, double reach) {
    column c = {.aspect = aspect, .h = 1. / cells};
    c.half = ceil(reach * cells) / cells;
    fluid_def def = fluid_box(2, 2 * c.half, ceil(1.05 * aspect * cells) / cells, c.h);
    def.friction = .32;
    def.friction_rise = .28;
    def.grain_size = GRAIN;
    def.wall_friction = 1;
    c.w = fluid_make(&def, 0, NULL);
    const double height = floor(aspect * cells + .5) / cells;
    fluid_fill(c.w, c.half - 1, 0, 0, c.half + 1, height, 0, true);
    return c;
}

static void run_to(const column *c, double time) {
    fluid_advance(c->w, time * sqrt(c->aspect / G));
}

// Height of the material over each column of cells, from the particles' number: (cells along x).
static double *heights(const column *c) {
    const fluid_grid *g = &c->w->grid;
    double *height = core_alloc((size_t)g->cells[0], sizeof *height);
    assert_non_null(height);
    for (int i = 0; i < c->w->p.n; ++i) height[(int)fluid__cell_of(g, 0, c->w->p.x[0][i])] += .25 * g->h;
    return height;
}

// Mean over both sides of where the heap gets lower than a grain.
static double front(const column *c) {
    const fluid_grid *g = &c->w->grid;
    double *height = heights(c), sum = 0;
    for (int way = -1; way <= 1; way += 2) {
        int i = g->cells[0] / 2;
        const int reach = (int)fmax(1, floor(.05 / g->h));
        for (; i > reach && i < g->cells[0] - 1 - reach; i += way) {
            double mean = 0;
            for (int k = -reach; k <= reach; ++k) mean += height[i + k] / (2 * reach + 1);
            if (mean < GRAIN) break;
        }
        sum += .5 * fabs((i - .5) * g->h - c->half);
    }
    core_free(height);
    return sum;
}

static double top(const column *c) {
    double *height = heights(c), most = 0;
    for (int i = 3; i < c->w->grid.cells[0] - 3; ++i)
        most = fmax(most, (height[i - 1] + height[i] + height[i + 1]) / 3);
    core_free(height);
    return most;
}

static void low_column(void **state) {
    (void)state;
    double out[2];
    for (int k = 0; k < 2; ++k) {
        column c = make_column(.5, k ? 64 : 32, 3);
        run_to(&c, 8);
        out[k] = front(&c) - 1;
        physics_row(k ? "column a = .5, 64 cells over R0: run-out/R0" : "column a = .5, 32 cells over R0: run-out/R0",
                    .93, out[k], .2 * .93);
        physics_row("column a = .5: height of the plateau/R0", .5, top(&c), .05 * .5);
        const fluid_totals t = fluid_sum(c.w);
        physics_row_below("column a = .5 at 8: kinetic energy/(m g H0)", 5e-5, t.kinetic / (t.mass * G * .5));
        physics_row_below("column a = .5 at 8: fastest particle/sqrt(g h)", .01, t.speed_max / sqrt(G * c.h));
        fluid_world_destroy(&c.w);
    }
    physics_row("column a = .5: run-out, 64 cells over 32", 1, out[1] / out[0], .08);
}

static void middle_column(void **state) {
    (void)state;
    column c = make_column(1.42, 30, 7);
    run_to(&c, 8);
    physics_row("column a = 1.42, 30 cells over R0: run-out/R0", 3.5, front(&c) - 1, .25 * 3.5);
    physics_row("column a = 1.42: height/R0", .75, top(&c), .25 * .75);
    fluid_world_destroy(&c.w);
}

static void tall_column(void **state) {
    (void)state;
    column c = make_column(6.26, 12, 22);
    static const double times[3] = {.3, .5, .7};
    for (int k = 0; k < 3; ++k) {
        run_to(&c, times[k]);
        double highest = 0;
        for (int i = 0; i < c.w->p.n; ++i) highest = fmax(highest, c.w->p.x[1][i]);
        const double fall = 6.25 * (1 - .5 * times[k] * times[k]) - .5 * c.h;
        char name[80];
        snprintf(name, sizeof name, "column a = 6.26 at %.1f: top/R0, free fall", times[k]);
        physics_row(name, fall, highest, .05 * fall);
    }
    run_to(&c, 1.52);
    physics_row("column a = 6.26 at 1.52: front/R0", 6.1, front(&c), .15 * 6.1);
    run_to(&c, 8);
    const double out = front(&c) - 1;
    physics_row("column a = 6.26, 12 cells over R0: run-out/R0 (.8 to 1.4)", 1.1 * 12.4, out, .3 * 12.4);
    fluid_world_destroy(&c.w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(low_column), cmocka_unit_test(middle_column),
                                       cmocka_unit_test(tall_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
