/// The multigrid preconditioner: symmetric and positive on awkward grids, few iterations whatever the number of cells,
/// the same pressure as with MIC(0).
#include "reference/fluid_physics.h"

// A step's matrix: sand on a slope and a ball, odd numbers of cells, once in a periodic box.
static fluid_world *awkward(int dim, bool periodic, fluid_precondition how) {
    const fluid_solid solids[2] = {
        {.kind = FLUID_SOLID_PLANE,
         .present = !periodic,
         .friction = .3,
         .normal = {-.6, .8, 0},
         .centre = {.7, .2, 0}},
        {.kind = FLUID_SOLID_BALL, .present = true, .centre = {.52, .33, .3}, .radius = .11}};
    const double h = dim == 2 ? 1. / 37 : 1. / 11;
    fluid_def def = fluid_box(dim, 1, 1, h);
    def.periodic = periodic;
    def.precondition = how;
    def.tolerance = 1e-12;
    fluid_world *w = fluid_make(&def, 2, solids);
    fluid_fill(w, 0, .1, 0, periodic ? 1 : .8, .6, .6, true);
    fluid_fill(w, .1, .8, .1, .3, .95, .3, true);
    check_ok(fluid_world_step(w, .01, err));
    return w;
}

// r = noise in full cells; its cycle goes to z.
static void cycle_of_noise(fluid_world *w, uint64_t seed, double *r, double *z) {
    core_random rng;
    core_random_init(&rng, seed, 0);
    for (int c = 0; c < w->grid.count; ++c) w->z[c] = w->r[c] = r[c] = 0;
    for (int64_t row = 0; row < fluid__row_count(w); ++row) {
        const int base = fluid__row_base(w, row);
        for (int c = base + w->span_lo[row]; c < base + w->span_hi[row]; ++c)
            if (w->cell[c] == FLUID_CELL_FULL) w->r[c] = r[c] = core_random_uniform(&rng) - .5;
    }
    fluid__levels_build(w);
    fluid__levels_cycle(w);
    for (int c = 0; c < w->grid.count; ++c) z[c] = w->cell[c] == FLUID_CELL_FULL ? w->z[c] : 0;
}

static void symmetric_and_positive(void **state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        fluid_world *w = awkward(k == 2 ? 3 : 2, k == 1, FLUID_PRECONDITION_MULTIGRID);
        const size_t count = (size_t)w->grid.count;
        double *field[4], sum[2][2] = {{0, 0}, {0, 0}};
        for (int i = 0; i < 4; ++i) assert_non_null(field[i] = core_alloc(count, sizeof(double)));
        assert_true(w->levels >= 3);
        for (int i = 0; i < 2; ++i) cycle_of_noise(w, 7 + (uint64_t)i, field[i], field[2 + i]);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                for (size_t c = 0; c < count; ++c) sum[i][j] += field[i][c] * field[2 + j][c];
        physics_row_below("multigrid: asymmetry of the cycle, part of its size", 1e-12,
                          fabs(sum[0][1] - sum[1][0]) / sqrt(sum[0][0] * sum[1][1]));
        assert_true(sum[0][0] > 0 && sum[1][1] > 0 && sum[0][0] * sum[1][1] > sum[0][1] * sum[0][1]);
        for (int i = 0; i < 4; ++i) core_free(field[i]);
        fluid_world_destroy(&w);
    }
}

static void same_pressure_as_mic(void **state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        fluid_world *w[2];
        double worst = 0, most = 0;
        for (int i = 0; i < 2; ++i)
            w[i] = awkward(k == 2 ? 3 : 2, k == 1, i == 0 ? FLUID_PRECONDITION_MULTIGRID : FLUID_PRECONDITION_MIC);
        for (int c = 0; c < w[0]->grid.count; ++c) {
            most = fmax(most, fabs(w[1]->q[c]));
            worst = fmax(worst, fabs(w[0]->q[c] - w[1]->q[c]));
        }
        physics_row_below("multigrid: pressure less that by MIC(0), part of the largest", 1e-8, worst / most);
        for (int i = 0; i < 2; ++i) fluid_world_destroy(&w[i]);
    }
}

static void few_iterations(void **state) {
    (void)state;
    for (int cells = 25; cells <= 400; cells *= 4) {
        fluid_def def = fluid_box(2, 3, 1, 1. / cells);
        def.capacity = 4 * cells * cells;
        def.sweeps = 4;
        fluid_world *w = fluid_make(&def, 0, NULL);
        fluid_fill(w, 1, 0, 0, 2, 1, 0, true);
        int most = 0;
        for (int k = 0; k < 3; ++k) {
            check_ok(fluid_world_step(w, INFINITY, err));
            most = most > w->iterations ? most : w->iterations;
        }
        physics_row_below("multigrid: iterations, 25 to 400 cells across", 16, most);
        fluid_world_destroy(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric_and_positive), cmocka_unit_test(same_pressure_as_mic),
                                       cmocka_unit_test(few_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
