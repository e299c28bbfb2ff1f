/// Orders of the bicubic distance grid: how fast value and gradient approach the exact ones as the spacing shrinks.
/// Where the distance is smooth the value is of third order and the gradient of second; at corners and at the medial
/// axis, where the distance has a kink, the value is of first order and the gradient does not converge. The shape is a
/// square with its corner fans, whose curvature 1/d is known, and its straight sides, where the distance is linear.
#include "../unit/test_sdf_common.h"

#define LEVELS 3
#define COUNT 20000

/// Errors over a set of points: root mean square (steady enough to take orders from) and worst.
typedef struct errors {
    double value, gradient, value_worst, gradient_worst;
} errors;

/// A set of points and the orders they must show.
typedef struct region {
    const char *name;
    bool (*contains)(const double p[2], double h);
    double value_order, gradient_order; // least
} region;

/// Half the side of the canonical square.
#define SIDE 0.70710678118654752

/// In a corner's fan, the 4 x 4 nodes around as well. One region for all spacings: the error goes as the third
/// derivative, 1/d^2.
static bool in_fan(const double p[2], double h) {
    double x = fabs(p[0]) - SIDE, y = fabs(p[1]) - SIDE;
    assert_true(3 * h < 0.15);
    return x > 0.15 && y > 0.15;
}

/// Outside a side or inside well off the diagonals: linear.
static bool beside_side(const double p[2], double h) {
    double x = fabs(p[0]), y = fabs(p[1]), low = fmin(x, y), high = fmax(x, y);
    return (high > SIDE && low < SIDE - 3 * h) || (high < SIDE && high - low > 6 * h);
}

/// At the medial axis (the diagonals inside).
static bool at_axis(const double p[2], double h) {
    return fmax(fabs(p[0]), fabs(p[1])) < SIDE - 3 * h && fabs(fabs(p[0]) - fabs(p[1])) < h;
}

static errors measure(const core_outline *o, int resolution, const region *where) {
    sdf_grid g = {0};
    errors e = {0};
    int used = 0;
    assert_int_equal(sdf_grid_build(o, resolution, 0.4, 1, NULL, &g, NULL), CORE_OK);
    core_random r;
    core_random_init(&r, 11, 0);
    for (int i = 0; i < 50 * COUNT && used < COUNT; i++) {
        double p[2] = {2.4 * core_random_uniform(&r) - 1.2, 2.4 * core_random_uniform(&r) - 1.2}, d, exact[2], found[2];
        if (!where->contains(p, g.spacing)) continue;
        used++;
        sdf_outline_distance(o, p, 1, &d, exact);
        double value = fabs(sdf_grid_sample(&g, p, found) - d),
               gradient = hypot(found[0] - exact[0], found[1] - exact[1]);
        e.value += value * value;
        e.gradient += gradient * gradient;
        e.value_worst = fmax(e.value_worst, value);
        e.gradient_worst = fmax(e.gradient_worst, gradient);
    }
    assert_in_range(used, 1000, COUNT);
    e.value = sqrt(e.value / used);
    e.gradient = sqrt(e.gradient / used);
    sdf_grid_clear(&g);
    return e;
}

static void orders(void **state) {
    (void)state;
    const region regions[] = {{"corner fan", in_fan, 2.7, 1.8}, {"medial axis", at_axis, 0.9, -0.2}};
    sdf_shape s = test_shape("square");
    for (size_t k = 0; k < sizeof regions / sizeof regions[0]; k++) {
        errors e[LEVELS];
        // Up to 192 cells: the float32 storage of finer grids would hide the order of the value.
        for (int l = 0; l < LEVELS; l++) e[l] = measure(&s.outline, 48 << l, regions + k);
        for (int l = 1; l < LEVELS; l++) {
            double value = log2(e[l - 1].value / e[l].value), gradient = log2(e[l - 1].gradient / e[l].gradient);
            printf("%-12s %4d -> %4d cells: value %.2e -> %.2e, order %.2f; gradient %.2e -> %.2e, order %.2f\n",
                   regions[k].name, 48 << (l - 1), 48 << l, e[l - 1].value, e[l].value, value, e[l - 1].gradient,
                   e[l].gradient, gradient);
            assert_true(value >= regions[k].value_order);
            assert_true(gradient >= regions[k].gradient_order);
        }
    }
    sdf_shape_clear(&s);
}

/// Beside a straight side nothing is left but the storage in float32.
static void exact_where_linear(void **state) {
    (void)state;
    const region sides = {"beside a side", beside_side, 0, 0};
    sdf_shape s = test_shape("square");
    for (int resolution = 32; resolution <= 512; resolution *= 4) {
        errors e = measure(&s.outline, resolution, &sides);
        printf("%-12s %4d cells: value %.2e, gradient %.2e\n", sides.name, resolution, e.value_worst, e.gradient_worst);
        assert_true(e.value_worst < 1.5e-7);
        assert_true(e.gradient_worst < 1.5e-7 * resolution);
    }
    sdf_shape_clear(&s);
}

/// The default resolution on #, over the whole band in which contacts live.
static void default_resolution(void **state) {
    (void)state;
    sdf_shape s = test_shape("hash");
    sdf_grid g = {0};
    assert_int_equal(sdf_grid_build(&s.outline, 256, 1, 2, NULL, &g, NULL), CORE_OK);
    core_random r;
    core_random_init(&r, 12, 0);
    double sum = 0, worst = 0, place[2] = {0, 0};
    int used = 0;
    while (used < COUNT) {
        double p[2] = {3 * core_random_uniform(&r) - 1.5, 3 * core_random_uniform(&r) - 1.5}, d;
        sdf_outline_distance(&s.outline, p, 1, &d, NULL);
        if (fabs(d) > 0.1) continue;
        used++;
        double error = fabs(sdf_grid_sample(&g, p, NULL) - d);
        sum += error;
        if (error <= worst) continue;
        worst = error;
        memcpy(place, p, sizeof place);
    }
    printf("hash, 256 cells, |d| < 0.1: mean error %.2e, worst %.2e at (%.4f, %.4f)\n", sum / COUNT, worst, place[0],
           place[1]);
    assert_true(sum / COUNT < 1e-4);
    assert_true(worst < 0.25 * g.spacing);
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(exact_where_linear),
        cmocka_unit_test(default_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
