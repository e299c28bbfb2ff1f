/// Half-planes: support function against brute force, smoothing against quadrature, derivatives, identities.
#include "sim_private.h"

#include "sim_check.h"
#include "sim_fixture.h"

static sim_type_def u_type, disc_type;

static int make_types(void **state) {
    (void)state;
    return sim_fixture_u("u", .7, 1, &u_type, NULL) != CORE_OK ||
           sim_fixture_disc("disc", 96, 2, 1, &disc_type, NULL) != CORE_OK;
}

static int clear_types(void **state) {
    (void)state;
    sdf_shape_clear(&u_type.shape);
    sdf_shape_clear(&disc_type.shape);
    return 0;
}

// min over all outline points of -v.u(beta).
static double lowest(const sim_type_def *type, double beta) {
    double low = INFINITY;
    for (int i = 0; i < core_outline_count(&type->shape.outline); ++i) {
        const double *v = type->shape.outline.xy + 2 * i;
        low = fmin(low, -type->radius * (v[0] * cos(beta) + v[1] * sin(beta)));
    }
    return low;
}

static void sharp_support_is_the_lowest_point(void **state) {
    (void)state;
    const sim_type_def *types[] = {&u_type, &disc_type};
    for (int t = 0; t < 2; ++t) {
        sim_support s = {0};
        check_ok(sim_support_create(&types[t]->shape.outline, types[t]->radius, &s, err));
        for (int i = 0; i < 2000; ++i) {
            const double beta = -20 + .02 * i + 1e-4;
            double h, dh;
            sim_support_evaluate(&s, beta, 0, &h, &dh);
            check_near(h, lowest(types[t], beta), 1e-13 * types[t]->radius);
            const double step = 1e-6,
                         slope = (lowest(types[t], beta - step) - lowest(types[t], beta + step)) / (2 * step);
            check_near(dh, slope, 1e-3 * types[t]->radius); // at a kink the difference is between the two slopes
        }
        sim_support_clear(&s);
    }
    // the hull of the U has no notch: four corners
    sim_support s = {0};
    check_ok(sim_support_create(&u_type.shape.outline, 1, &s, err));
    assert_int_equal(s.n, 4);
    sim_support_clear(&s);
    sim_support_clear(NULL);
}

static void smooth_support_is_the_mean(void **state) {
    (void)state;
    static const double widths[] = {1e-4, 1e-3, .05, .4};
    sim_support s = {0};
    check_ok(sim_support_create(&u_type.shape.outline, u_type.radius, &s, err));
    for (int w = 0; w < 4; ++w) {
        for (int i = 0; i < 200; ++i) {
            const double beta = -7 + .07 * i;
            double h, dh, sum = 0;
            sim_support_evaluate(&s, beta, widths[w], &h, &dh);
            const int n = 4000; // mid-point rule: error 1e-8 of the width's square, and of its kinks
            for (int k = 0; k < n; ++k) sum += lowest(&u_type, beta + widths[w] * (2 * (k + .5) / n - 1));
            check_near(h, sum / n, 1e-6 * widths[w]);
            // the derivative of a mean is the difference of its ends; beta falls as the body turns
            check_near(dh, -(lowest(&u_type, beta + widths[w]) - lowest(&u_type, beta - widths[w])) / (2 * widths[w]),
                       2e-12 / widths[w]);
        }
    }
    sim_support_clear(&s);
}

static void flat_faces_give_no_torque_and_the_mean_height(void **state) {
    (void)state;
    sim_support s = {0};
    check_ok(sim_support_create(&u_type.shape.outline, u_type.radius, &s, err));
    double h, dh;
    sim_support_evaluate(&s, -CORE_PI / 2, .001, &h, &dh); // standing on its flat bottom: symmetric
    check_near(dh, 0, 1e-12);                              // rounding of the angle over the width
    // h0 cos and half-width b: the mean of min over +-w is h0 sin(w)/w + b (1 - cos w)/w, with signs
    double bottom = 0, half = 0;
    for (int i = 0; i < core_outline_count(&u_type.shape.outline); ++i) {
        bottom = fmin(bottom, u_type.radius * u_type.shape.outline.xy[2 * i + 1]);
        half = fmax(half, u_type.radius * u_type.shape.outline.xy[2 * i]);
    }
    check_near(h, bottom * sin(.001) / .001 - half * (1 - cos(.001)) / .001, 1e-13);
    sim_support_clear(&s);
}

static void contact_has_the_identities_of_a_pair(void **state) {
    (void)state;
    sim_support s = {0};
    check_ok(sim_support_create(&u_type.shape.outline, u_type.radius, &s, err));
    const double tilt = .3;
    const sim_plane plane = {.normal = {-sin(tilt), cos(tilt)}, .offset = .4, .angle = atan2(-cos(tilt), sin(tilt))};
    const sim_body_state a = {.x = {.4 * plane.normal[0], .4 * plane.normal[1]}};
    for (int i = 0; i < 500; ++i) {
        const double theta = -6 + .0237 * i, x[2] = {.3 * cos(i), .2 + .1 * sin(3. * i)}, w = .002;
        sim_contact c;
        sim_plane_contact(&plane, a.x, &s, x, theta, w, &c);
        const double dx[2] = {x[0] - a.x[0], x[1] - a.x[1]};
        check_near(c.r_a - c.r_b, dx[0] * c.g[0] + dx[1] * c.g[1], 1e-14);
        // d against the outline, away from smoothing
        sdf_posed posed = {
            .outline = &u_type.shape.outline, .scale = u_type.radius, .angle = theta, .x = x[0], .y = x[1]};
        const double below = sdf_posed_below_plane(&posed, plane.normal, plane.offset);
        if (c.d < -.01) check_near(c.d, -below, 2 * w * u_type.radius);
        // slopes by differences
        const double step = 1e-6;
        sim_contact up, down;
        sim_plane_contact(&plane, a.x, &s, x, theta + step, w, &up);
        sim_plane_contact(&plane, a.x, &s, x, theta - step, w, &down);
        check_near(c.d_theta_b, (up.d - down.d) / (2 * step), 1e-3);
        for (int k = 0; k < 2; ++k) {
            double moved[2] = {x[0], x[1]};
            moved[k] += step;
            sim_plane_contact(&plane, a.x, &s, moved, theta, w, &up);
            check_near(c.g[k], (up.d - c.d) / step, 1e-8);
        }
        // the rate of d is u_n
        const sim_body_state b = {.x = {x[0], x[1]}, .v = {.3, -.8}, .omega = 1.7};
        double u_n, u_t;
        sim_contact_rates(&c, sim_contact_d_theta_a(&c, a.x, b.x), &a, &b, &u_n, &u_t);
        const double later[2] = {x[0] + step * b.v[0], x[1] + step * b.v[1]};
        sim_plane_contact(&plane, a.x, &s, later, theta + step * b.omega, w, &up);
        check_near(u_n, (up.d - c.d) / step, 2e-3);
    }
    sim_support_clear(&s);
}

static void bad_hulls_and_no_memory_are_refused(void **state) {
    (void)state;
    core_error cause = {0};
    double line[6] = {0, 0, 1, 1, 2, 2};
    int start[2] = {0, 3};
    const core_outline flat = {.count_rings = 1, .ring_start = start, .xy = line}, nothing = {0};
    sim_support s = {0};
    assert_int_equal(sim_support_create(&flat, 1, &s, &cause), CORE_SHAPE);
    assert_int_equal(sim_support_create(&nothing, 1, &s, &cause), CORE_SHAPE);
    for (uint64_t n = 1; n < 10; ++n) {
        core_alloc_fail_after(n);
        const core_status status = sim_support_create(&u_type.shape.outline, 1, &s, &cause);
        core_alloc_fail_after(0);
        if (n <= 4) {
            assert_int_equal(status, CORE_MEMORY);
            assert_null(s.xy);
        } else {
            assert_int_equal(status, CORE_OK);
            sim_support_clear(&s);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharp_support_is_the_lowest_point),
        cmocka_unit_test(smooth_support_is_the_mean),
        cmocka_unit_test(flat_faces_give_no_torque_and_the_mean_height),
        cmocka_unit_test(contact_has_the_identities_of_a_pair),
        cmocka_unit_test(bad_hulls_and_no_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, make_types, clear_types);
}
