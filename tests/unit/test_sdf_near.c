/// Exact distances by place against the brute force over all edges, the bounds made of them against the distance
/// itself.
#include "test_sdf_common.h"

#define COUNT 4000

static const char *const names[] = {"hash", "u", "n", "o", "square", "disc", "d", "arc50", "hash_thin", "link"};
enum { SHAPES = sizeof names / sizeof *names };

static sdf_shape shapes[SHAPES];
static sdf_grid grids[SHAPES];

static int setup(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        shapes[i] = test_shape(names[i]);
        if (sdf_grid_build(&shapes[i].outline, 256, 0.6, 1, NULL, &grids[i], NULL) != CORE_OK) return -1;
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        sdf_shape_clear(&shapes[i]);
        sdf_grid_clear(&grids[i]);
    }
    return 0;
}

static void point_in(core_random *r, double half, double p[2]) {
    for (int i = 0; i < 2; i++) p[i] = half * (2 * core_random_uniform(r) - 1);
}

/// Exact where corners are, the interpolant where many edges are near; gradients of one of the nearest edges.
static void distances(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        core_random r;
        core_random_init(&r, 1, (uint64_t)k);
        int exact = 0, other_way = 0;
        double worst = 0;
        for (int i = 0; i < COUNT; i++) {
            double p[2], d, g[2], grad[2];
            point_in(&r, i % 2 ? 1.5 : 1.0, p);
            sdf_outline_distance(&shapes[k].outline, p, 1, &d, g);
            double found = sdf_grid_distance(&grids[k], p, grad);
            exact += fabs(found - d) < 1e-14;
            worst = fmax(worst, fabs(found - d));
            other_way += fabs(grad[0] - g[0]) + fabs(grad[1] - g[1]) > 0.01;
            test_near(sdf_grid_distance(&grids[k], p, NULL), found, 1e-15, "without gradient");
        }
        print_message("%s: %.1f %% exact, error at most %.2g, %d of %d gradients differ\n", names[k],
                      100.0 * exact / COUNT, worst, other_way, COUNT);
        bool fine = core_outline_count(&shapes[k].outline) > 60; // many short edges
        assert_true(exact > COUNT * (fine ? 0.1 : 0.95));
        assert_true(worst < 2e-3); // that of the interpolant on a medial axis
        assert_true(other_way < COUNT / (fine ? 50 : 500));
    }
}

/// Tangent planes less the sag are lower bounds: random discs, random points in them.
static void sags(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        core_random r;
        core_random_init(&r, 2, (uint64_t)k);
        int convex = 0, above = 0;
        double worst = 0, at[3] = {0};
        for (int i = 0; i < 4 * COUNT; i++) {
            double p[2], g[2], radius = 0.5 * pow(2, -8 * core_random_uniform(&r));
            point_in(&r, 1.2, p);
            double d = sdf_grid_distance(&grids[k], p, g), sag = sdf_grid_sag(&grids[k], p, radius);
            convex += sag <= 1e-4;
            for (int j = 0; j < 16; j++) {
                double a = 2 * CORE_PI * core_random_uniform(&r), s = j % 2 ? radius : radius * core_random_uniform(&r);
                double x[2] = {p[0] + s * cos(a), p[1] + s * sin(a)}, there;
                sdf_outline_distance(&shapes[k].outline, x, 1, &there, NULL);
                double miss = d + g[0] * (x[0] - p[0]) + g[1] * (x[1] - p[1]) - sag * s - there;
                above += miss > 1e-4;
                if (miss > worst) {
                    worst = miss;
                    at[0] = p[0];
                    at[1] = p[1];
                    at[2] = radius;
                }
            }
        }
        print_message("%s: %.0f %% convex; bounds exceeded by at most %.2g, at (%.4f, %.4f), radius %.4f; %d by 1e-4\n",
                      names[k], 100.0 * convex / (4 * COUNT), worst, at[0], at[1], at[2], above);
        assert_true(convex > COUNT / 2); // else it would be no use
        assert_true(worst < 1e-3);       // shallow kinks between two lattice points; label errors stay below
        assert_true(above < COUNT / 50);
    }
}

/// The tangent plane is a lower bound in the disc of sdf_grid_convex, and discs are not small beside corners and faces.
static void convex_discs(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        core_random r;
        core_random_init(&r, 4, (uint64_t)k);
        double worst = 0, sum = 0;
        int above = 0;
        for (int i = 0; i < 2 * COUNT; i++) {
            double p[2], g[2], there;
            point_in(&r, 1.2, p);
            double d = sdf_grid_distance(&grids[k], p, g), radius = sdf_grid_convex(&grids[k], p);
            sum += radius;
            for (int j = 0; j < 16 && radius > 0; j++) {
                double a = 2 * CORE_PI * core_random_uniform(&r), s = j % 2 ? radius : radius * core_random_uniform(&r);
                double x[2] = {p[0] + s * cos(a), p[1] + s * sin(a)};
                sdf_outline_distance(&shapes[k].outline, x, 1, &there, NULL);
                double miss = d + g[0] * (x[0] - p[0]) + g[1] * (x[1] - p[1]) - there;
                above += miss > 1e-5;
                worst = fmax(worst, miss);
            }
        }
        print_message("%s: convex within %.3f on average; exceeded by at most %.2g\n", names[k], sum / (2 * COUNT),
                      worst);
        assert_true(worst < 1e-3); // shallow kinks, as above
        assert_true(above < COUNT / 50);
        assert_true(core_outline_count(&shapes[k].outline) > 60 || sum / (2 * COUNT) > 0.03);
    }
}

/// Several points at once, in vectors where the machine has them, to the bits of single points: beside each other and
/// scattered, off the lists, off the grid.
static void lanes(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        core_random r;
        core_random_init(&r, 5, (uint64_t)k);
        int corners = 0;
        for (int i = 0; i < COUNT; i++) {
            double x[SDF_LANES], y[SDF_LANES], d[SDF_LANES], gx[SDF_LANES], gy[SDF_LANES], c[2], p[2], g[2];
            double half = pow(2, -10 * core_random_uniform(&r));
            point_in(&r, i % 4 ? 1.1 : 2.0, c);
            for (int j = 0; j < SDF_LANES; j++) {
                const double *v = shapes[k].outline.xy + 2 * ((i + j) % core_outline_count(&shapes[k].outline));
                point_in(&r, half, p);
                bool at_corner = i % 16 == 5; // there the direction is the edge's
                x[j] = at_corner ? v[0] : c[0] + p[0];
                y[j] = at_corner ? v[1] : c[1] + p[1];
                corners += at_corner;
            }
            sdf_grid_distances(&grids[k], x, y, d, gx, gy);
            for (int j = 0; j < SDF_LANES; j++) {
                double single = sdf_grid_distance(&grids[k], (const double[]){x[j], y[j]}, g);
                assert_memory_equal(&d[j], &single, sizeof single);
                assert_memory_equal(&gx[j], &g[0], sizeof single);
                assert_memory_equal(&gy[j], &g[1], sizeof single);
            }
        }
        assert_true(corners > COUNT / 8);
    }
}

/// Every piece is a lower bound inside, the nearest one is the distance.
static void pieces(void **state) {
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        core_random r;
        core_random_init(&r, 3, (uint64_t)k);
        int several = 0;
        for (int i = 0; i < COUNT; i++) {
            double p[2], radius = 0.01 * core_random_uniform(&r), largest = -INFINITY;
            sdf_piece piece[8];
            point_in(&r, 1.0, p);
            int n = sdf_grid_pieces(&grids[k], p, 2 * radius, 8, piece);
            double d = sdf_grid_distance(&grids[k], p, NULL);
            if (d >= 0) assert_int_equal(n, 0);
            several += n > 1;
            for (int j = 0; j < n; j++) {
                double a = 2 * CORE_PI * core_random_uniform(&r);
                double x[2] = {p[0] + radius * cos(a), p[1] + radius * sin(a)}, there;
                sdf_outline_distance(&shapes[k].outline, x, 1, &there, NULL);
                double bound = piece[j].value + piece[j].grad[0] * (x[0] - p[0]) + piece[j].grad[1] * (x[1] - p[1]) -
                               0.5 * radius * radius * piece[j].bend;
                if (there < 0 && piece[j].value < -2 * radius) assert_true(there >= bound - 2e-4);
                largest = fmax(largest, piece[j].value);
            }
            if (n > 0 && n < 8) test_near(largest, d, 1e-14, "nearest piece");
        }
        assert_true(several > 0);
    }
}

/// Without an outline's lists the interpolant answers, and nothing is known about bounds.
static void without_lists(void **state) {
    (void)state;
    sdf_grid plain = grids[0];
    plain.near = NULL;
    const double p[2] = {0.31, 0.12}, nowhere[2] = {NAN, 0.0}, far[2] = {40.0, 0.0};
    sdf_piece piece[4];
    test_near(sdf_grid_distance(&plain, p, NULL), sdf_grid_sample(&plain, p, NULL), 0, "distance");
    test_near(sdf_grid_sag(&plain, p, 0.01), 2, 0, "sag");
    test_near(sdf_grid_sag(&grids[0], p, 1.0), 2, 0, "sag of a large disc");
    test_near(sdf_grid_sag(&grids[0], far, 0.01), 2, 0, "sag far away");
    test_near(sdf_grid_sag(&grids[0], nowhere, 0.01), 2, 0, "sag nowhere");
    test_near(sdf_grid_convex(&plain, p), 0, 0, "convex disc");
    test_near(sdf_grid_convex(&grids[0], far), 0, 0, "convex disc far away");
    test_near(sdf_grid_convex(&grids[0], nowhere), 0, 0, "convex disc nowhere");
    double x[SDF_LANES] = {0.31, 40.0, 0.5, NAN}, y[SDF_LANES] = {0.12, 0.0, 0.5, 0.0}, d[SDF_LANES], g[2][SDF_LANES];
    sdf_grid_distances(&plain, x, y, d, g[0], g[1]);
    test_near(d[0], sdf_grid_sample(&plain, p, NULL), 0, "distance of several");
    assert_true(isnan(d[3]));
    sdf_grid_distances(&grids[0], x, y, d, g[0], g[1]);
    test_near(d[0], sdf_grid_distance(&grids[0], p, NULL), 0, "distance beside NaN");
    assert_true(isnan(d[3]));
    assert_int_equal(sdf_grid_pieces(&plain, p, 0.1, 4, piece), 0);
    assert_int_equal(sdf_grid_pieces(&grids[0], nowhere, 0.1, 4, piece), 0);
    assert_true(isnan(sdf_grid_distance(&grids[0], nowhere, NULL)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances),    cmocka_unit_test(sags),
                                       cmocka_unit_test(convex_discs), cmocka_unit_test(lanes),
                                       cmocka_unit_test(pieces),       cmocka_unit_test(without_lists)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
