/// Solids of libfluid: distances, open parts of faces against exact areas, velocities beyond the material.
#include "reference/fluid_physics.h"

static void distances_are_exact(void **state) {
    (void)state;
    const double p[3] = {1, 2, 3};
    const fluid_solid plane = {.kind = FLUID_SOLID_PLANE, .centre = {0, .5, 0}, .normal = {0, 1, 0}};
    const fluid_solid box = {.kind = FLUID_SOLID_BOX, .centre = {0, 0, 0}, .half = {.5, 1, 1}};
    const fluid_solid ball = {.kind = FLUID_SOLID_BALL, .centre = {1, 0, 0}, .radius = 1};
    const fluid_solid bowl = {.kind = FLUID_SOLID_BOWL, .centre = {1, 0, 0}, .radius = 4};
    const fluid_solid bar = {.kind = FLUID_SOLID_BAR, .centre = {0, 0, 0}, .end = {1, 0, 0}, .radius = .25};
    check_near(fluid_solid_distance(&plane, 2, p), 1.5, 1e-15);
    check_near(fluid_solid_distance(&box, 2, p), sqrt(.25 + 1), 1e-15);
    check_near(fluid_solid_distance(&box, 3, p), sqrt(.25 + 1 + 4), 1e-15);
    check_near(fluid_solid_distance(&box, 2, (const double[2]){.1, .9}), -.1, 1e-15);
    check_near(fluid_solid_distance(&ball, 2, p), 1, 1e-15);
    check_near(fluid_solid_distance(&ball, 3, p), sqrt(13) - 1, 1e-15);
    check_near(fluid_solid_distance(&bowl, 2, p), 2, 1e-15);
    check_near(fluid_solid_distance(&bar, 2, (const double[2]){.3, -.5}), .25, 1e-15);
    check_near(fluid_solid_distance(&bar, 2, (const double[2]){4, 4}), 4.75, 1e-15);
}

// A shape's grid, scaled, turned and moved.
static void shapes_hold_material(void **state) {
    (void)state;
    core_outline square = {0};
    sdf_shape shape = {0};
    sdf_grid grid = {0};
    check_ok(core_outline_create(1, (const int[]){4}, &square, err));
    const double xy[8] = {-1, -1, 1, -1, 1, 1, -1, 1};
    memcpy(square.xy, xy, sizeof xy);
    check_ok(sdf_shape_from_outline("square", &square, &shape, err));
    check_ok(sdf_grid_build(&shape.outline, 64, 1, 1, NULL, &grid, err));
    const fluid_solid solid = {
        .kind = FLUID_SOLID_SHAPE, .centre = {1, 1}, .radius = 2, .angle = CORE_PI / 4, .shape = &grid};
    check_near(fluid_solid_distance(&solid, 2, (const double[2]){1, 1}), -sqrt(2), 1e-6);
    check_near(fluid_solid_distance(&solid, 2, (const double[2]){4, 1}), 1, 1e-6); // the corner is at x = 3
    sdf_grid_clear(&grid);
    sdf_shape_clear(&shape);
    core_outline_clear(&square);
}

// Walls on lines of the grid close faces wholly or not at all.
static void walls_along_the_grid(void **state) {
    (void)state;
    const fluid_solid floor = {.kind = FLUID_SOLID_PLANE, .present = true, .centre = {0, .3, 0}, .normal = {0, 1, 0}};
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .1);
        fluid_world *w = fluid_make(&def, 1, &floor);
        int open = 0;
        for (int c = 0; c < w->grid.count; ++c) {
            open += w->open[c];
            for (int a = 0; a < dim; ++a) assert_true(w->area[a][c] <= 0 || w->area[a][c] >= 1);
        }
        assert_int_equal(open, dim == 2 ? 70 : 700);
        const int c = 4 * w->grid.stride[1] + 5 + (dim == 3 ? 5 * w->grid.stride[2] : 0);
        check_near(w->wall_part[c], 1, 1e-15);
        check_near(w->wall_normal[1][c], -1, 1e-15);
        check_near(w->wall_part[c + w->grid.stride[1]], 0, 0);
        fluid_world_destroy(&w);
    }
}

// The walls of all cells of a slope add up to its length (area), each with the slope's normal.
static void slopes_add_up(void **state) {
    (void)state;
    const double tilt = 23 * CORE_PI / 180, s = sin(tilt), c = cos(tilt);
    const fluid_solid slope = {
        .kind = FLUID_SOLID_PLANE, .present = true, .centre = {.5, .5, .5}, .normal = {-s, c, 0}};
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .05);
        fluid_world *w = fluid_make(&def, 1, &slope);
        const fluid_grid *g = &w->grid;
        double sum = 0, worst = 0;
        for (int cell = 0; cell < g->count; ++cell) {
            const int at[3] = {cell % g->stride[1], cell / g->stride[1] % g->cells[1], cell / g->stride[2]};
            bool inner = true; // away from the walls around, which have parts of their own
            for (int a = 0; a < dim; ++a) inner = inner && at[a] > 1 && at[a] < g->cells[a] - 2;
            if (!inner || w->wall_part[cell] <= 0) continue;
            sum += w->wall_part[cell] * pow(g->h, dim - 1);
            if (w->wall_part[cell] > .5)
                worst = fmax(worst, fabs(w->wall_normal[0][cell] * c + w->wall_normal[1][cell] * s));
        }
        physics_row(dim == 2 ? "slope in 2D: length" : "slope in 3D: area", dim == 2 ? .9 / c : .81 / c, sum, 1e-6);
        physics_row_below(dim == 2 ? "slope in 2D: normal" : "slope in 3D: normal", 1e-9, worst);
        fluid_world_destroy(&w);
    }
}

// A constant velocity along a wall goes on beyond the material; closed faces stop what goes through the wall.
static void velocities_go_on(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_def def = fluid_box(dim, 1, 1, .1);
        fluid_world *w = fluid_make(&def, 0, NULL);
        const fluid_grid *g = &w->grid;
        fluid_fill(w, .2, 0, .2, .8, .5, .8, false);
        for (int i = 0; i < w->p.n; ++i) w->p.v[0][i] = 3, w->p.v[1][i] = -1;
        fluid__sort(w);
        fluid__to_grid(w);
        fluid__mark_cells(w);
        fluid__extend(w, true);
        const int k = dim == 3 ? 5 * g->stride[2] : 0;
        check_near(w->u[0][5 + 8 * g->stride[1] + k], 3, 1e-12); // two cells above the surface
        check_near(w->u[1][5 + 8 * g->stride[1] + k], -1, 1e-12);
        check_near(w->u[0][1 + 3 * g->stride[1] + k], 0, 1e-15); // in the wall at the left
        check_near(w->u[1][5 + g->stride[1] + k], 0, 1e-15);     // in the floor
        check_near(w->u[0][5 + k], 3, 1e-12);                    // along the floor, half a cell inside
        fluid_world_destroy(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_exact),  cmocka_unit_test(shapes_hold_material),
        cmocka_unit_test(walls_along_the_grid), cmocka_unit_test(slopes_add_up),
        cmocka_unit_test(velocities_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
