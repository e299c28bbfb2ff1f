/// Distance grids: exact at the nodes, the same bits for any number of threads, the interpolant's identities, bad
/// arguments.
#include "test_sdf_common.h"

#define COUNT 4000

/// float32 storage of values up to 3.
#define STORAGE 3e-7

static sdf_grid build(const core_outline *o, int resolution, double margin, int threads) {
    sdf_grid g = {0};
    core_error err = {0};
    if (sdf_grid_build(o, resolution, margin, threads, NULL, &g, &err) != CORE_OK) fail_msg("%s", err.message);
    return g;
}

static void node_position(const sdf_grid *g, int i_x, int i_y, double p[2]) {
    p[0] = g->origin[0] + i_x * g->spacing;
    p[1] = g->origin[1] + i_y * g->spacing;
}

/// Every node of every shape that comes with the project.
static void exact_at_nodes(void **state) {
    (void)state;
    const char *names[] = {"o",    "u",     "n",     "hash",  "hash_thin", "d",    "octagon", "square",
                           "disc", "arc25", "arc50", "arc75", "arc100",    "link", "bar"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        sdf_shape s = test_shape(names[k]);
        sdf_grid g = build(&s.outline, 48, 0.6, 1);
        double deepest = 0;
        for (int i_y = 0; i_y < g.ny; i_y++) {
            for (int i_x = 0; i_x < g.nx; i_x++) {
                double p[2], d;
                node_position(&g, i_x, i_y, p);
                sdf_outline_distance(&s.outline, p, 1, &d, NULL);
                test_near((double)g.phi[i_y * g.nx + i_x], d, STORAGE, names[k]);
                deepest = fmin(deepest, d);
            }
        }
        test_near(g.value_min, deepest, STORAGE, "value_min");
        sdf_grid_clear(&g);
        sdf_shape_clear(&s);
    }
}

static void box(void **state) {
    (void)state;
    sdf_shape s = test_shape("octagon");
    sdf_grid g = build(&s.outline, 256, 1.0, 1);
    assert_int_equal(g.nx, 513);
    assert_int_equal(g.ny, 513);
    test_near(g.spacing, 1.0 / 128, 1e-16, "spacing");
    test_near(g.origin[0], -2, 1e-15, "origin");
    test_near(g.origin[1], -2, 1e-15, "origin");
    sdf_grid_clear(&g);
    // A margin that is no whole number of cells is rounded up.
    g = build(&s.outline, 100, 0.05, 1);
    assert_true(g.nx == 107 && g.origin[0] <= -1.05);
    sdf_grid_clear(&g);
    // 1.6 / (2/35) is 28 cells and a rounding error: no cell is added for that.
    g = build(&s.outline, 35, 0.6, 1);
    assert_int_equal(g.nx, 57);
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    sdf_shape s = test_shape("link");
    // Large enough for the threads to be at work together.
    sdf_grid one = build(&s.outline, 600, 0.7, 1);
    for (int threads = 0; threads <= 4; threads++) {
        sdf_grid g = build(&s.outline, 600, 0.7, threads);
        assert_int_equal(g.nx, one.nx);
        assert_memory_equal(g.phi, one.phi, (size_t)g.nx * (size_t)g.ny * sizeof *g.phi);
        sdf_grid_clear(&g);
    }
    sdf_grid_clear(&one);
    sdf_shape_clear(&s);
}

/// # is D4-symmetric: so is its grid, to the rounding of its coordinates.
static void symmetric(void **state) {
    (void)state;
    sdf_shape s = test_shape("hash");
    sdf_grid g = build(&s.outline, 64, 0.5, 1);
    int n = g.nx;
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            double v = (double)g.phi[y * n + x];
            test_near((double)g.phi[y * n + (n - 1 - x)], v, STORAGE, "mirror");
            test_near((double)g.phi[x * n + (n - 1 - y)], v, STORAGE, "quarter turn");
        }
    }
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

/// phi = x^2 - x y + 3 y - 1 on a small grid, rim included; sampled through phi.
static sdf_grid quadratic(void) {
    sdf_grid g = {.nx = 9, .ny = 7, .origin = {-1, -0.5}, .spacing = 0.25};
    g.phi = core_alloc(63, sizeof *g.phi);
    assert_non_null(g.phi);
    for (int i = 0; i < 63; i++) {
        double p[2];
        node_position(&g, i % 9, i / 9, p);
        g.phi[i] = (float)(p[0] * p[0] - p[0] * p[1] + 3 * p[1] - 1);
    }
    return g;
}

/// Catmull-Rom reproduces quadratic functions; the grid's numbers are exact in float32.
static void reproduces_quadratics(void **state) {
    (void)state;
    sdf_grid g = quadratic();
    core_random r;
    core_random_init(&r, 5, 0);
    for (int i = 0; i < COUNT; i++) {
        double p[2] = {2 * core_random_uniform(&r) - 1, 1.5 * core_random_uniform(&r) - 0.5}, grad[2];
        double expected = p[0] * p[0] - p[0] * p[1] + 3 * p[1] - 1;
        test_near(sdf_grid_sample(&g, p, NULL), expected, 1e-14, "value");
        test_near(sdf_grid_sample(&g, p, grad), expected, 1e-14, "value beside gradient");
        test_near(grad[0], 2 * p[0] - p[1], 1e-13, "gradient x");
        test_near(grad[1], 3 - p[0], 1e-13, "gradient y");
    }
    sdf_grid_clear(&g);
}

static void passes_through_nodes(void **state) {
    (void)state;
    sdf_shape s = test_shape("u");
    sdf_grid g = build(&s.outline, 32, 0.5, 1);
    for (int i = 0; i < g.nx * g.ny; i++) {
        double p[2];
        node_position(&g, i % g.nx, i / g.nx, p);
        test_near(sdf_grid_sample(&g, p, NULL), (double)g.phi[i], 1e-12, "node");
    }
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

/// The gradient is that of the value, inside the box, in its rim cells and outside.
static void gradient_of_value(void **state) {
    (void)state;
    sdf_shape s = test_shape("n");
    sdf_grid g = build(&s.outline, 64, 0.3, 1);
    core_random r;
    core_random_init(&r, 6, 0);
    for (int i = 0; i < COUNT; i++) {
        double p[2] = {4 * core_random_uniform(&r) - 2, 4 * core_random_uniform(&r) - 2}, grad[2];
        const double h = 1e-6;
        double value = sdf_grid_sample(&g, p, grad);
        test_near(sdf_grid_sample(&g, p, NULL), value, 1e-15, "value without gradient");
        for (int a = 0; a < 2; a++) {
            double low[2] = {p[0], p[1]}, high[2] = {p[0], p[1]};
            low[a] -= h;
            high[a] += h;
            double slope = (sdf_grid_sample(&g, high, NULL) - sdf_grid_sample(&g, low, NULL)) / (2 * h);
            // Curvature of the interpolant at corners is of order 1/spacing; it jumps at cell borders.
            test_near(grad[a], slope, 1e-4, "gradient");
        }
    }
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

/// Outside the box: an upper bound of the distance, exact along the axes of a disc.
static void outside_the_box(void **state) {
    (void)state;
    core_outline o = test_disc(96, 1, 0, 0, 0, 0);
    sdf_grid g = build(&o, 64, 0.5, 1);
    double p[2] = {7, 0}, grad[2], d;
    test_near(sdf_grid_sample(&g, p, grad), 6, 1e-6, "on the x axis");
    test_near(grad[0], 1, 1e-12, "gradient x");
    test_near(grad[1], 0, 1e-6, "gradient y");
    core_random r;
    core_random_init(&r, 7, 0);
    for (int i = 0; i < COUNT; i++) {
        double q[2] = {20 * core_random_uniform(&r) - 10, 20 * core_random_uniform(&r) - 10};
        sdf_outline_distance(&o, q, 1, &d, NULL);
        double found = sdf_grid_sample(&g, q, NULL);
        assert_true(found >= d - 0.02);
        assert_true(found <= d + 3.2);
    }
    sdf_grid_clear(&g);
    core_outline_clear(&o);
}

static void not_finite(void **state) {
    (void)state;
    sdf_grid g = quadratic();
    double points[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}, {0, -INFINITY}};
    for (int i = 0; i < 4; i++) {
        double grad[2] = {0, 0};
        assert_true(isnan(sdf_grid_sample(&g, points[i], grad)));
        assert_true(isnan(grad[0]) && isnan(grad[1]));
    }
    double far[2] = {1e300, -1e300};
    assert_false(isnan(sdf_grid_sample(&g, far, NULL)));
    sdf_grid_clear(&g);
}

static void refused(void **state) {
    (void)state;
    sdf_shape s = test_shape("square");
    sdf_grid g = {.nx = 42};
    core_outline empty = {0};
    core_error err = {0};
    const struct {
        int resolution;
        double margin;
        core_status expected;
    } cases[] = {{15, 1, CORE_RANGE},    {4097, 1, CORE_RANGE}, {64, 0.04, CORE_RANGE},
                 {64, 4.01, CORE_RANGE}, {64, NAN, CORE_RANGE}, {-1, 1, CORE_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err = (core_error){0};
        core_status status = sdf_grid_build(&s.outline, cases[i].resolution, cases[i].margin, 1, NULL, &g, &err);
        assert_int_equal(status, cases[i].expected);
        assert_non_null(strstr(err.message, "expected"));
    }
    assert_int_equal(sdf_grid_build(&empty, 64, 1, 1, NULL, &g, &err), CORE_SHAPE);
    assert_int_equal(sdf_grid_build(NULL, 64, 1, 1, NULL, &g, &err), CORE_ARG);
    s.outline.xy[3] = NAN;
    assert_int_equal(sdf_grid_build(&s.outline, 64, 1, 1, NULL, &g, &err), CORE_NONFINITE);
    assert_int_equal(g.nx, 42);
    sdf_shape_clear(&s);
}

static void allocation_failures(void **state) {
    (void)state;
    sdf_shape s = test_shape("square");
    core_status status = CORE_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY; n++) {
        sdf_grid g = {0};
        core_alloc_fail_after(n);
        status = sdf_grid_build(&s.outline, 16, 0.5, 1, NULL, &g, NULL);
        core_alloc_fail_after(0);
        if (status == CORE_MEMORY) {
            assert_null(g.phi);
            failures++;
        }
        sdf_grid_clear(&g);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 2, 40);
    sdf_shape_clear(&s);
}

static void count_reports(void *user, const char *stage, double done, double total, const char *unit,
                          const char *note) {
    (void)note;
    double *last = user;
    assert_non_null(stage);
    assert_non_null(unit);
    assert_true(done > *last && done <= total);
    *last = done;
}

static void progress(void **state) {
    (void)state;
    sdf_shape s = test_shape("square");
    double last = 0;
    core_progress p = {count_reports, &last};
    sdf_grid g = {0};
    assert_int_equal(sdf_grid_build(&s.outline, 200, 0.5, 1, &p, &g, NULL), CORE_OK);
    test_near(last, 19, 0, "rows of blocks (301 nodes, 16 a block)");
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_at_nodes),
        cmocka_unit_test(box),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(symmetric),
        cmocka_unit_test(reproduces_quadratics),
        cmocka_unit_test(passes_through_nodes),
        cmocka_unit_test(gradient_of_value),
        cmocka_unit_test(outside_the_box),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(refused),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
