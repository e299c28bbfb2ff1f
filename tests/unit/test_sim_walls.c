/// Bounding circles, polylines and prescribed motion: distances against brute force, slopes by differences, identities;
/// balance of energy with moving bodies; periodic x; grains that enter and leave.
#include "sim_private.h"

#include "sim_check.h"
#include "sim_fixture.h"

static sim_type_def types[2]; // a U and a disc
static sim_fixture_circles circles;
static const double ZERO[2] = {0, 0};

static int make_types(void **state) {
    (void)state;
    return sim_fixture_u("u", .7, 1000, &types[0], NULL) != CORE_OK ||
           sim_fixture_disc("disc", 96, .5, 1000, &types[1], NULL) != CORE_OK;
}

static int clear_types(void **state) {
    (void)state;
    sdf_shape_clear(&types[0].shape);
    sdf_shape_clear(&types[1].shape);
    return 0;
}

// ---------------------------------------------------------------------------------------------- contacts

// A boundary of either kind, asked for one pose.
typedef struct asked {
    const sim_type_def *type;
    const sim_support *support;
    double centre[2], radius, from[2], to[2], half, origin[2];
    bool is_circle;
} asked;

static void ask(const asked *q, const double x[2], double theta, double width, sim_contact *c) {
    double cos_sin[2];
    core_sincos(theta, &cos_sin[1], &cos_sin[0]);
    if (q->is_circle) {
        sim_circle_contact(q->centre, q->radius, q->support, x, cos_sin, width, c);
    } else {
        sim_segment_contact(q->from, q->to, q->half, q->origin, &q->type->shape.outline, q->type->radius, x, cos_sin,
                            width, c);
    }
}

// Distance of a point to a segment.
static double to_segment(const double p[2], const double a[2], const double b[2]) {
    const double e[2] = {b[0] - a[0], b[1] - a[1]},
                 t = ((p[0] - a[0]) * e[0] + (p[1] - a[1]) * e[1]) / (e[0] * e[0] + e[1] * e[1]);
    const double u = fmin(fmax(t, 0), 1);
    return hypot(p[0] - a[0] - u * e[0], p[1] - a[1] - u * e[1]);
}

// By definition: over vertices, and over the segment's ends and the outline's edges.
static double distance(const asked *q, const double x[2], double theta) {
    const core_outline *o = &q->type->shape.outline;
    const int n = o->ring_start[1];
    double d = INFINITY, v[2][2];
    for (int i = 0; i <= n; ++i) {
        const double *p = o->xy + 2 * (i % n), r = q->type->radius;
        v[i % 2][0] = x[0] + r * (cos(theta) * p[0] - sin(theta) * p[1]);
        v[i % 2][1] = x[1] + r * (sin(theta) * p[0] + cos(theta) * p[1]);
        const double *now = v[i % 2], *before = v[(i + 1) % 2];
        if (q->is_circle) {
            d = fmin(d, q->radius - hypot(now[0] - q->centre[0], now[1] - q->centre[1]));
            continue;
        }
        d = fmin(d, to_segment(now, q->from, q->to));
        if (i > 0) d = fmin(d, fmin(to_segment(q->from, before, now), to_segment(q->to, before, now)));
    }
    return q->is_circle ? d : d - q->half;
}

// Mean of the definition over theta +- width.
static double mean_distance(const asked *q, const double x[2], double theta, double width) {
    const int n = 400;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += distance(q, x, theta + width * (2 * (k + .5) / n - 1));
    return sum / n;
}

static void check_contact(const asked *q, const double x[2], double theta) {
    const double step = 1e-6, w = .002;
    sim_contact sharp, c, up, down;
    ask(q, x, theta, 0, &sharp);
    check_near(sharp.d, distance(q, x, theta), 1e-14);
    check_near(hypot(sharp.g[0], sharp.g[1]), 1, 1e-14);
    ask(q, x, theta, w, &c);
    check_near(c.d, mean_distance(q, x, theta, w), 3 * w * w); // the law is taken as straight over the width
    const double slope = hypot(c.g[0], c.g[1]);
    const double *a = q->is_circle ? q->centre : q->origin;
    check_near(c.r_a - c.r_b, ((x[0] - a[0]) * c.g[0] + (x[1] - a[1]) * c.g[1]) / slope, 1e-14);
    // slopes by differences, of the mean
    check_near(c.d_theta_b, (distance(q, x, theta + w) - distance(q, x, theta - w)) / (2 * w),
               4 * w); // derivative of a mean
    for (int k = 0; k < 2; ++k) {
        double plus[2] = {x[0], x[1]}, minus[2] = {x[0], x[1]};
        plus[k] += step;
        minus[k] -= step;
        ask(q, plus, theta, w, &up);
        ask(q, minus, theta, w, &down);
        check_near(c.g[k], (up.d - down.d) / (2 * step), 4 * w);
    }
}

static void distances_are_exact_and_slopes_are_theirs(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 3, 0);
    for (int t = 0; t < 2; ++t) {
        sim_support support = {0};
        check_ok(sim_support_create(&types[t].shape.outline, types[t].radius, &support, err));
        asked circle = {.type = &types[t], .support = &support, .centre = {.2, -.1}, .radius = 2, .is_circle = true};
        asked segment = {.type = &types[t], .from = {-.3, .1}, .to = {.6, .3}, .half = .1, .origin = {3, 4}};
        int near = 0;
        for (int i = 0; i < 3000; ++i) {
            const double theta = 20 * core_random_uniform(&r) - 10;
            const double x[2] = {3 * core_random_uniform(&r) - 1.5, 3 * core_random_uniform(&r) - 1.5};
            check_contact(&circle, x, theta);
            if (distance(&segment, x, theta) < -.05) continue; // near the segment itself directions change abruptly
            check_contact(&segment, x, theta);
            ++near;
        }
        assert_true(near > 1500);
        sim_support_clear(&support);
    }
}

static void a_long_segment_is_a_plane(void **state) {
    (void)state;
    sim_support s = {0};
    check_ok(sim_support_create(&types[0].shape.outline, types[0].radius, &s, err));
    const sim_plane plane = {.normal = {0, 1}, .offset = .1, .angle = -CORE_PI / 2};
    const asked q = {.type = &types[0], .from = {-50, 0}, .to = {50, 0}, .half = .1};
    for (int i = 0; i < 500; ++i) {
        const double theta = -6 + .024 * i, x[2] = {.01 * i, .8};
        sim_contact p, c;
        sim_plane_contact(&plane, ZERO, &s, x, theta, .001, &p);
        ask(&q, x, theta, .001, &c);
        check_near(c.d, p.d, 1e-6);
        check_near(c.g[0], p.g[0], 1e-12);
        check_near(c.d_theta_b, p.d_theta_b, 1e-3);
        check_near(c.r_b, p.r_b, 1e-3); // the point is that of the middle of the range
    }
    sim_support_clear(&s);
}

// ---------------------------------------------------------------------------------------------- motion

static void laws_of_motion_are_what_they_say(void **state) {
    (void)state;
    double x[2], angle, s, c;
    sim_mover m = {
        .law = {.velocity = {1, -2}, .rotation = .5, .pivot = {NAN, NAN}}, .x = {3, 4}, .angle = .1, .stop = -1};
    sim_mover_pose(&m, 100, .01, x, &angle);
    check_near(x[0], 4, 1e-15);
    check_near(x[1], 2, 1e-15);
    check_near(angle, .6, 1e-15);
    m.law.pivot[0] = 2;
    m.law.pivot[1] = 4;
    core_sincos(.5, &s, &c);
    sim_mover_pose(&m, 100, .01, x, &angle);
    check_near(x[0], 2 + c + 1, 1e-15);
    check_near(x[1], 4 + s - 2, 1e-15);
    // starts and stops; the same pose whatever was asked before
    m.start = 50;
    sim_mover_pose(&m, 50, .01, x, &angle);
    assert_true(x[0] == 3 && x[1] == 4 && angle == .1);
    m.stop = 150;
    sim_mover_pose(&m, 1000, .01, x, &angle);
    check_near(angle, .6, 1e-15);
    m.start = -1;
    sim_mover_pose(&m, 1000, .01, x, &angle);
    assert_true(angle == .1);
    // sinusoid from the start pose on
    m = (sim_mover){
        .law = {.amplitude = {.3, 0}, .amplitude_angle = .2, .frequency = 2, .phase = .7, .pivot = {NAN, NAN}},
        .stop = -1};
    sim_mover_pose(&m, 33, .01, x, &angle);
    check_near(x[0], .3 * (sin(4 * CORE_PI * .33 + .7) - sin(.7)), 1e-15);
    check_near(angle, .2 * (sin(4 * CORE_PI * .33 + .7) - sin(.7)), 1e-15);
    sim_mover_pose(&m, 0, .01, x, &angle);
    assert_true(x[0] == 0 && angle == 0);
    // table: between its rows, and beyond them
    double table[] = {0, 0, 0, 0, 1, 2, 0, 1, 3, 2, 4, 1};
    m = (sim_mover){.law = {.count_rows = 3, .table = table, .pivot = {NAN, NAN}}, .stop = -1};
    const double wanted[][4] = {{.25, .5, 0, .25}, {1, 2, 0, 1}, {2, 2, 2, 1}, {3, 2, 4, 1}, {9, 2, 4, 1}};
    for (int k = 0; k < 5; ++k) {
        sim_mover_pose(&m, (int64_t)(100 * wanted[k][0]), .01, x, &angle);
        check_near(x[0], wanted[k][1], 1e-15);
        check_near(x[1], wanted[k][2], 1e-15);
        check_near(angle, wanted[k][3], 1e-15);
    }
}

// ---------------------------------------------------------------------------------------------- worlds

static sim_world *make_world(int count, const sim_boundary_def *boundaries, const sim_contact_law *law, double gravity,
                             const double period[2]) {
    sim_contact_law laws[16];
    sim_world *w = NULL;
    sim_world_def def = sim_world_default_def();
    sim_fixture_laws(*law, 2, count, laws);
    def.capacity = 4;
    def.count_types = 2;
    def.types = types;
    def.count_boundaries = count;
    def.boundaries = boundaries;
    def.law = laws;
    def.gravity[1] = -gravity;
    def.dt = 1e-4;
    if (period) memcpy(def.period, period, sizeof def.period);
    def.narrow = sim_fixture_circle_narrow(2, types, &circles);
    check_ok(sim_world_create(&def, &w, err));
    return w;
}

// Everything that has to stay the same.
static double balance(const sim_world *w) {
    sim_totals t;
    sim_world_totals(w, &t);
    return t.kinetic + t.potential + t.elastic + t.dissipated_normal + t.dissipated_tangential + t.removed - t.work;
}

static void steps(sim_world *w, int n) {
    for (int i = 0; i < n; ++i) check_ok(sim_world_step(w, err));
}

static void work_of_moving_boundaries_closes_the_balance(void **state) {
    (void)state;
    double line[] = {-3, -1, 0, -1.2, 3, -1};
    sim_boundary_def all[] = {{.name = "shaker",
                               .normal = {0, 1},
                               .offset = -1,
                               .present = true,
                               .motion = {.amplitude = {.02, .03}, .frequency = 3, .pivot = {NAN, NAN}}},
                              {.name = "drum",
                               .kind = SIM_BOUNDARY_CIRCLE,
                               .centre = {0, .5},
                               .radius = 1.5,
                               .present = true,
                               .motion = {.rotation = 2, .pivot = {NAN, NAN}}},
                              {.name = "swing",
                               .kind = SIM_BOUNDARY_POLYLINE,
                               .thickness = .2,
                               .count_points = 3,
                               .points = line,
                               .present = true,
                               .motion = {.amplitude_angle = .05, .frequency = 2, .pivot = {0, 3}}}};
    for (int kind = 0; kind < 3; ++kind) {
        for (int type = 0; type < 2; ++type) {
            const sim_contact_law law = sim_fixture_law(1e6, .2, .5);
            sim_world *w = make_world(1, &all[kind], &law, 9.81, NULL);
            const double x[2] = {.05, -.2};
            check_ok(sim_world_add(w, type, x, .3, ZERO, 1, err));
            const double start = balance(w);
            double most = 0, scale = 0;
            for (int i = 0; i < 200; ++i) {
                steps(w, 50);
                sim_totals t;
                sim_world_totals(w, &t);
                most = fmax(most, fabs(balance(w) - start));
                scale = fmax(scale, fabs(t.work) + t.dissipated_normal + fabs(t.dissipated_tangential));
            }
            check_below(most, .01 * scale);
            sim_totals t;
            sim_world_totals(w, &t);
            assert_true(t.dissipated_normal > 0 && fabs(t.work) > .05 * t.dissipated_normal);
            sim_world_destroy(&w);
        }
    }
}

static void a_moving_grain_does_the_work_of_a_moving_plane(void **state) {
    (void)state;
    // a disc at rest is hit by a disc of prescribed speed: elastic, it leaves at twice that speed
    const sim_contact_law law = sim_fixture_law(1e6, 0, 0);
    sim_world *w = make_world(0, NULL, &law, 0, NULL);
    const double x[2] = {0, 0}, far[2] = {1.2, 0};
    const sim_motion_def push = {.velocity = {.4, 0}, .pivot = {NAN, NAN}};
    check_ok(sim_world_add_prescribed(w, 1, x, 0, &push, err));
    check_ok(sim_world_add(w, 1, far, 0, ZERO, 0, err));
    steps(w, 10000);
    const sim_state s = sim_world_state(w);
    check_near(s.x[0], .4, 1e-12);
    check_near(s.v[2], .8, 1e-3);
    sim_totals t;
    sim_world_totals(w, &t);
    check_near(t.kinetic, .5 * s.mass[1] * s.v[2] * s.v[2], 1e-12); // the pusher is not counted
    check_near(t.work, t.kinetic, 1e-3 * t.kinetic);
    sim_world_destroy(&w);
}

static void motions_start_and_stop(void **state) {
    (void)state;
    const sim_boundary_def floor = {.name = "floor",
                                    .normal = {0, 1},
                                    .present = true,
                                    .motion = {.velocity = {0, 1}, .pivot = {NAN, NAN}, .waits = true}};
    const sim_contact_law law = sim_fixture_law(1e6, .2, .5);
    core_error cause = {0};
    sim_world *w = make_world(1, &floor, &law, 0, NULL);
    steps(w, 10);
    assert_true(w->walls.wall[0].plane.offset == 0);
    check_ok(sim_world_set_moving(w, 0, true, err));
    assert_int_equal(sim_world_set_moving(w, 0, true, &cause), CORE_ARG);
    assert_int_equal(sim_world_set_moving(w, 1, true, &cause), CORE_ARG);
    steps(w, 100);
    check_near(w->walls.wall[0].plane.offset, .01, 1e-15);
    check_near(w->walls.wall[0].v[1], 1, 1e-9);
    check_ok(sim_world_set_moving(w, 0, false, err));
    steps(w, 100);
    check_near(w->walls.wall[0].plane.offset, .01, 1e-15);
    assert_true(w->walls.wall[0].v[1] == 0);
    sim_world_destroy(&w);
}

static void a_servo_keeps_its_pressure(void **state) {
    (void)state;
    const sim_boundary_def press[] = {{.name = "floor", .normal = {0, 1}, .present = true},
                                      {.name = "lid",
                                       .normal = {0, -1},
                                       .offset = -1.1,
                                       .present = true,
                                       .motion = {.pivot = {NAN, NAN}},
                                       .servo = {.pressure = 500, .length = 2, .mass = 500, .damping = 2e4}}};
    const sim_contact_law law = sim_fixture_law(1e6, .2, .5);
    sim_world *w = make_world(2, press, &law, 0, NULL);
    const double x[2] = {0, .5};
    check_ok(sim_world_add(w, 1, x, 0, ZERO, 0, err));
    steps(w, 40000);
    double force[2], torque;
    sim_walls_load(w, 1, force, &torque);
    check_near(force[1], 1000, 1);
    sim_walls_load(w, 0, force, &torque);
    check_near(force[1], -1000, 1);
    sim_world_destroy(&w);
}

static void a_period_changes_nothing_but_the_place(void **state) {
    (void)state;
    // two discs meet across the seam, and in the middle
    const sim_contact_law law = sim_fixture_law(1e6, .05, .4);
    const double period[2] = {-10, 10};
    double end[2][8];
    for (int k = 0; k < 2; ++k) {
        const double shift = k == 0 ? 0 : 9.9;
        const sim_boundary_def floor = {.name = "floor", .normal = {0, 1}, .present = true};
        sim_world *w = make_world(1, &floor, &law, 9.81, period);
        const double x[2][2] = {{shift - .6, .5}, {shift + .6, .52}}, v[2][2] = {{1, 0}, {-1, 0}};
        for (int i = 0; i < 2; ++i) check_ok(sim_world_add(w, 1, x[i], 0, v[i], 0, err));
        steps(w, 2500);
        const sim_state s = sim_world_state(w);
        for (int i = 0; i < 2; ++i) {
            assert_true(s.x[2 * i] >= -10 && s.x[2 * i] < 10);
            end[k][4 * i] = s.x[2 * i] + 20 * s.image[i] - shift;
            end[k][4 * i + 1] = s.x[2 * i + 1];
            end[k][4 * i + 2] = s.v[2 * i];
            end[k][4 * i + 3] = s.omega[i];
        }
        sim_world_destroy(&w);
    }
    for (int i = 0; i < 8; ++i) check_near(end[1][i], end[0][i], 1e-9);
    assert_true(end[0][2] < -.1 && end[0][6] > .1); // they did meet
    const double narrow[2] = {0, 3};
    sim_world_def def = sim_world_default_def();
    sim_contact_law laws[4];
    sim_world *w = NULL;
    core_error cause = {0};
    sim_fixture_laws(law, 2, 0, laws);
    def.capacity = 1;
    def.count_types = 2;
    def.types = types;
    def.law = laws;
    def.dt = 1e-4;
    memcpy(def.period, narrow, sizeof narrow);
    assert_int_equal(sim_world_create(&def, &w, &cause), CORE_RANGE);
}

static void grains_enter_and_leave(void **state) {
    (void)state;
    const sim_boundary_def floor = {.name = "floor", .normal = {0, 1}, .present = true};
    const sim_contact_law law = sim_fixture_law(1e6, .2, .5);
    core_error cause = {0};
    sim_world *w = make_world(1, &floor, &law, 9.81, NULL);
    const double x[2] = {0, .499}, above[2] = {0.1, 1.5}, down[2] = {0, -1};
    check_ok(sim_world_add(w, 1, x, 0, ZERO, 0, err));
    check_ok(sim_world_add_absent(w, 1, err));
    const double start = balance(w);
    steps(w, 100);
    sim_totals t;
    sim_world_totals(w, &t);
    assert_int_equal(t.count_pairs_near, 0);
    assert_int_equal(sim_world_enter(w, 0, above, 0, down, 0, &cause), CORE_ARG);
    assert_int_equal(sim_world_enter(w, 2, above, 0, down, 0, &cause), CORE_RANGE);
    check_ok(sim_world_enter(w, 1, above, 0, down, 0, err));
    steps(w, 200);
    sim_world_totals(w, &t);
    assert_int_equal(t.count_contacts, 1);
    check_near(balance(w), start, .01 * t.dissipated_normal + 1e-3 * t.elastic);
    const double before = balance(w);
    const int gone[] = {0, 7, -1};
    sim_world_leave(w, 3, gone);
    check_near(balance(w), before, 1e-9 * fabs(before));
    sim_world_totals(w, &t);
    assert_int_equal(t.count_contacts + t.count_plane_contacts, 0);
    steps(w, 20000);
    assert_true(sim_world_state(w).role[0] == SIM_ROLE_ABSENT);
    sim_world_totals(w, &t);
    assert_int_equal(t.count_plane_contacts, 1); // the other one fell to the floor through its place
    assert_int_equal(t.count_contacts, 0);
    sim_world_destroy(&w);
}

static void bad_boundaries_are_refused(void **state) {
    (void)state;
    double same[] = {0, 0, 0, 0}, lost[] = {0, 0, NAN, 1};
    const struct {
        sim_boundary_def def;
        core_status status;
    } cases[] = {
        {{.normal = {0, .9}}, CORE_RANGE},
        {{.kind = SIM_BOUNDARY_CIRCLE}, CORE_RANGE},
        {{.kind = SIM_BOUNDARY_CIRCLE, .radius = NAN}, CORE_NONFINITE},
        {{.kind = SIM_BOUNDARY_POLYLINE, .thickness = 1, .count_points = 1, .points = same}, CORE_ARG},
        {{.kind = SIM_BOUNDARY_POLYLINE, .thickness = 0, .count_points = 2, .points = same}, CORE_RANGE},
        {{.kind = SIM_BOUNDARY_POLYLINE, .thickness = 1, .count_points = 2, .points = same}, CORE_SHAPE},
        {{.kind = SIM_BOUNDARY_POLYLINE, .thickness = 1, .count_points = 2, .points = lost}, CORE_NONFINITE},
        {{.kind = SIM_BOUNDARY_KINDS}, CORE_ARG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        sim_walls walls = {0};
        core_error cause = {0};
        if (sim_walls_create(1, &cases[i].def, 1, &walls, &cause) != cases[i].status)
            fail_msg("case %zu: %s", i, cause.message);
        assert_null(walls.wall);
    }
    double line[] = {0, 0, 1, 1}, table[] = {0, 0, 0, 0};
    const sim_boundary_def good = {.kind = SIM_BOUNDARY_POLYLINE,
                                   .thickness = 1,
                                   .count_points = 2,
                                   .points = line,
                                   .motion = {.count_rows = 1, .table = table}};
    for (uint64_t n = 1; n < 9; ++n) {
        sim_walls walls = {0};
        core_alloc_fail_after(n);
        const core_status status = sim_walls_create(1, &good, 1, &walls, NULL);
        core_alloc_fail_after(0);
        assert_int_equal(status, n <= 6 ? CORE_MEMORY : CORE_OK);
        sim_walls_clear(&walls);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_exact_and_slopes_are_theirs),
        cmocka_unit_test(a_long_segment_is_a_plane),
        cmocka_unit_test(laws_of_motion_are_what_they_say),
        cmocka_unit_test(work_of_moving_boundaries_closes_the_balance),
        cmocka_unit_test(a_moving_grain_does_the_work_of_a_moving_plane),
        cmocka_unit_test(motions_start_and_stop),
        cmocka_unit_test(a_servo_keeps_its_pressure),
        cmocka_unit_test(a_period_changes_nothing_but_the_place),
        cmocka_unit_test(grains_enter_and_leave),
        cmocka_unit_test(bad_boundaries_are_refused),
    };
    return cmocka_run_group_tests(tests, make_types, clear_types);
}
