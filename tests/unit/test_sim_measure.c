// Measurements on synthetic states with known answers.
#include "run_fixture.h"
#include "sim_measure.h"

#include "sdf.h"
#include "sim_check.h"

#include <stdio.h>

#define RUN_PATH "test_sim_measure.run.h5"
#define ROUNDING 1e-12 // relative, of a few operations

static void must(core_status status, const core_error *err) {
    if (status != CORE_OK) fail_msg("%s", err->message);
}

// A run under construction: one type, grains placed by hand.
typedef struct scene {
    fixture_run run;
    core_run_writer *w;
    core_run_frame f;
} scene;

static void scene_begin(scene *s, int count) {
    core_error err = {0};
    must(fixture_set_grains(&s->run, count, &err), &err);
    must(fixture_begin(&s->run, RUN_PATH, &s->w, &err), &err);
    must(fixture_frame(&s->run, &s->f, &err), &err);
}

static void scene_append(scene *s, double time, int phase) {
    core_error err = {0};
    s->f.time = time, s->f.phase = phase;
    must(core_run_append(s->w, &s->f, &err), &err);
    s->f.step++;
}

static core_run_reader *scene_end(scene *s) {
    core_error err = {0};
    core_run_reader *r = NULL;
    must(core_run_finish(&s->w, &err), &err);
    core_run_frame_clear(&s->f);
    fixture_clear(&s->run);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static sim_measurement measure(core_run_reader *r, int64_t frame, const sim_measure_def *def) {
    core_error err = {0};
    sim_measurement m = {0};
    sim_measure_def usual = sim_measure_default_def();
    must(sim_measure_frame(r, frame, def ? def : &usual, &m, &err), &err);
    return m;
}

static void place(scene *s, int i, double x, double y, double angle) {
    s->f.position[2 * i] = x, s->f.position[2 * i + 1] = y, s->f.orientation[i] = angle;
}

static int remove_file(void **state) {
    (void)state;
    core_alloc_fail_after(0);
    remove(RUN_PATH);
    return 0;
}

// ---------------------------------------------------------------------------------------------- motion

// Squares of side L: m = rho L^2, I = m L^2/6, both from school.
static void test_energies_by_hand(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double side = 0.02, mass = 2500 * side * side, inertia = mass * side * side / 6;
    must(fixture_add_square(&s.run, side / sqrt(2.0), 2500, &err), &err);
    scene_begin(&s, 2);
    place(&s, 0, 1.0, 2.0, 0.3);
    place(&s, 1, -3.0, 0.5, 0);
    const double v[2][2] = {{3, -4}, {0.5, 0}}, omega[2] = {10, -7};
    for (int i = 0; i < 2; i++) {
        s.f.velocity[2 * i] = v[i][0], s.f.velocity[2 * i + 1] = v[i][1], s.f.angular_velocity[i] = omega[i];
    }
    s.f.observables[2] = 0.25, s.f.observables[3] = 17, s.f.observables[4] = 1e-6, s.f.observables[5] = 3e-6;
    s.f.observables[6] = 0.5, s.f.observables[7] = 0.75, s.f.observables[8] = -2;
    scene_append(&s, 0.5, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    double kinetic[2] = {0.5 * mass * 25 + 0.5 * inertia * 100, 0.5 * mass * 0.25 + 0.5 * inertia * 49};
    check_near(m.kinetic, kinetic[0] + kinetic[1], ROUNDING * m.kinetic);
    check_near(m.kinetic_per_mgr, (kinetic[0] + kinetic[1]) / 2 / (mass * 9.81 * side / sqrt(2.0)), 1e-9);
    check_near(m.potential, mass * 9.81 * 2.5, ROUNDING * m.potential);
    check_near(m.momentum[0], mass * 3.5, ROUNDING);
    check_near(m.momentum[1], mass * -4, ROUNDING);
    check_near(m.angular_momentum, mass * (1 * -4 - 2 * 3) + mass * (-3 * 0 - 0.5 * 0.5) + inertia * 3, ROUNDING);
    check_near(m.elastic, 0.25, 0);
    check_near(m.damping, 0.5, 0);
    check_near(m.friction, 0.75, 0);
    check_near(m.balance, -2, 0);
    check_near(m.penetration_mean, 1e-6, 0);
    check_near(m.penetration_max, 3e-6, 0);
    assert_int_equal(m.contacts, 17);
    assert_int_equal(m.count_grains, 2);
    assert_int_equal(m.overlap_pairs, 0);
    check_near(m.overlap_max, 0, 0);
    check_near(m.time, 0.5, 0);
    // Without a floor heights start at the lowest outline point.
    check_near(m.base, 0.5 - side / 2, ROUNDING);
    check_near(m.height, 2.0 + side / 2 * (cos(0.3) + sin(0.3)) - m.base, ROUNDING);
    check_near(m.front, 1.0 + side / 2 * (cos(0.3) + sin(0.3)), ROUNDING);
    // One grain alone by region.
    sim_measure_def def = sim_measure_default_def();
    memcpy(def.region, (double[]){0, 0, 2, 3}, sizeof def.region);
    m = measure(r, 0, &def);
    assert_int_equal(m.count_grains, 1);
    check_near(m.kinetic, kinetic[0], ROUNDING * kinetic[0]);
    // None: nothing can be measured, nothing fails.
    memcpy(def.region, (double[]){5, 5, 6, 6}, sizeof def.region);
    m = measure(r, 0, &def);
    assert_int_equal(m.count_grains, 0);
    assert_true(isnan(m.height) && isnan(m.front_99) && isnan(m.repose_angle) && isnan(m.kinetic_per_mgr) &&
                isnan(m.run_out));
    check_near(m.kinetic, 0, 0);
    assert_int_equal(m.overlap_pairs, 0);
    core_run_close(&r);
}

static void test_absent_observables_and_grains(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {.run = {.without_observables = true}};
    must(fixture_add_square(&s.run, 0.01, 2500, &err), &err);
    fixture_add_plane(&s.run, "floor", 0, 1, 0);
    fixture_add_plane(&s.run, "slope", 0.6, 0.8, 0.7); // not level: heights do not start there
    scene_begin(&s, 3);
    place(&s, 0, 0, 1, 0);
    for (int i = 1; i < 3; i++) {
        s.f.id[i] = -1;
        place(&s, i, NAN, NAN, NAN);
        s.f.velocity[2 * i] = s.f.velocity[2 * i + 1] = s.f.angular_velocity[i] = NAN;
    }
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    sim_measure_def def = sim_measure_default_def();
    def.true_overlap = false;
    sim_measurement m = measure(r, 0, &def);
    assert_int_equal(m.count_grains, 1);
    assert_int_equal(m.contacts, -1);
    assert_int_equal(m.overlap_pairs, -1);
    assert_true(isnan(m.damping) && isnan(m.friction) && isnan(m.balance));
    assert_true(isnan(m.elastic) && isnan(m.penetration_mean) && isnan(m.penetration_max) && isnan(m.overlap_max));
    check_near(m.height, 1 + 0.01 / sqrt(2.0), ROUNDING); // above the floor
    check_near(m.momentum[0], 0, 0);
    core_run_close(&r);
}

// ---------------------------------------------------------------------------------------------- heap

static void test_run_out_by_hand(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double half = 0.01 / sqrt(2.0);
    must(fixture_add_square(&s.run, 0.01, 2500, &err), &err);
    fixture_add_plane(&s.run, "floor", 0, 1, -half);
    scene_begin(&s, 200);
    // Column: x = 0 .. 1.99; spread to twice that with the last two grains far away. 99 % of 200: the 198th.
    for (int phase = 0; phase < 3; phase++) {
        for (int i = 0; i < 200; i++)
            place(&s, i, phase < 2 ? 0.01 * i + 0.5 * (phase == 0) : i < 198 ? 0.02 * i : 100.0, 0.01 * (i % 7), 0);
        scene_append(&s, phase, phase < 1 ? 0 : 1);
        if (phase == 0) scene_append(&s, 0.5, 0);
    }
    core_run_reader *r = scene_end(&s);
    sim_measurement before = measure(r, 1, NULL), start = measure(r, 2, NULL), after = measure(r, 3, NULL);
    assert_true(isnan(before.run_out));
    check_near(start.run_out, 0, ROUNDING);
    check_near(start.front_99, 1.97, ROUNDING);
    check_near(start.front, 1.99 + half, ROUNDING);
    check_near(after.front_99, 0.02 * 197, ROUNDING);
    check_near(after.run_out, (0.02 * 197 - 1.97) / (1.99 + 2 * half), ROUNDING);
    check_near(after.height, 0.06 + 2 * half, ROUNDING);
    check_near(after.height_99, 0.06 + half, ROUNDING);
    core_run_close(&r);
}

// A heap of discs whose upper envelope is a line of slope -tan(angle) right of its top and -tan(steep) left of it.
static core_run_reader *heap(double angle, double wobble, bool lone) {
    core_error err = {0};
    scene s = {0};
    const double radius = 0.01, slope = tan(angle), top = 1.0, length = top / slope;
    const int right = (int)(length / (0.02 * radius) * 0.1), left = 200;
    must(fixture_add_disc(&s.run, 96, radius, 2500, &err), &err);
    fixture_add_plane(&s.run, "floor", 0, 1, 0);
    scene_begin(&s, left + right + 1);
    for (int i = 0; i < left; i++) place(&s, i, -0.5 * i / left, top - 3.0 * 0.5 * i / left * 0.6, 0);
    for (int i = 0; i < right; i++) {
        double x = length * i / (right - 1);
        place(&s, left + i, x, top - slope * x + wobble * sin(1e4 * x), 0);
    }
    // A grain that rolled away must not lengthen the flank.
    place(&s, left + right, lone ? length + 1 : 0, lone ? radius : 0.5, 0);
    scene_append(&s, 0, 0);
    return scene_end(&s);
}

static void test_heap_has_its_slope(void **state) {
    (void)state;
    const double degree = CORE_PI / 180;
    sim_measure_def def = sim_measure_default_def();
    def.true_overlap = false;
    for (double a = 5; a < 46; a += 8) {
        for (int lone = 0; lone < 2; lone++) {
            core_run_reader *r = heap(a * degree, 0, lone);
            sim_measurement m = measure(r, 0, &def);
            check_near(m.repose_angle / degree, a, 0.1); // discs .002 to .01 m apart on columns of .03 m
            check_below(m.repose_error / degree, 0.1);
            // The range in which the line is between 90 and 10 % of the height, to two columns.
            double length = 1.0 / tan(a * degree), column = 0.03;
            check_near(m.repose_x0, 0.1 * length, 2 * column + 0.01 / tan(a * degree));
            check_near(m.repose_x1, 0.9 * length, 2 * column + 0.01 / tan(a * degree));
            core_run_close(&r);
        }
    }
    // A rough surface has a larger error, and the angle stays within a few of it.
    core_run_reader *r = heap(20 * degree, 0.02, false);
    sim_measurement m = measure(r, 0, &def);
    assert_true(m.repose_error > 1e-4);
    check_near(m.repose_angle / degree, 20, fmax(5 * m.repose_error / degree, 0.5));
    core_run_close(&r);
}

static void test_a_slope_needs_four_columns(void **state) {
    (void)state;
    sim_measure_def def = sim_measure_default_def();
    def.true_overlap = false;
    int none = 0, four = 0;
    for (double a = 74; a < 87; a += 1) {
        core_run_reader *r = heap(a * CORE_PI / 180, 0, false);
        sim_measurement m = measure(r, 0, &def);
        double columns = (m.repose_x1 - m.repose_x0) / 0.03;
        none += isnan(m.repose_angle);
        four += fabs(columns - 4) < 1e-6;
        if (!isnan(m.repose_angle)) assert_true(columns > 4 - 1e-6);
        core_run_close(&r);
    }
    assert_true(none > 0 && four > 0);
}

static void test_no_slope_without_a_flank(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    must(fixture_add_square(&s.run, 0.01, 2500, &err), &err);
    scene_begin(&s, 12);
    for (int i = 0; i < 12; i++) place(&s, i, 0.02 * (i % 4), 0.02 * (i / 4), 0);
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    assert_true(isnan(m.repose_angle) && isnan(m.repose_error) && isnan(m.repose_x0) && isnan(m.repose_x1));
    core_run_close(&r);
}

// ---------------------------------------------------------------------------------------------- overlap

static void test_overlap_by_hand(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double R = 0.01, half = R / sqrt(2.0), big = 2 * half;
    must(fixture_add_square(&s.run, R, 2500, &err), &err);
    must(fixture_add_square(&s.run, 2 * R, 2500, &err), &err);
    fixture_add_plane(&s.run, "floor", 0, 1, 0);
    fixture_add_plane(&s.run, "gate", -1, 0, 0); // everything right of 0 is forbidden while it is there
    must(fixture_set_grains(&s.run, 7, &err), &err);
    s.run.species[6] = 1;
    must(fixture_begin(&s.run, RUN_PATH, &s.w, &err), &err);
    must(fixture_frame(&s.run, &s.f, &err), &err);
    s.f.plane_present[1] = 0;
    place(&s, 0, 1, half - 0.02 * R, 0);                       // .02 R into the floor
    place(&s, 1, 1 + 2 * half - 0.05 * R, half - 0.02 * R, 0); // .05 R into 0
    place(&s, 2, 2, 1, 0);                                     //
    place(&s, 3, 2, 1 + 2 * half - 0.01 * R, 0);               // .01 R into 2
    place(&s, 4, 3, 1, 0);                                     //
    place(&s, 5, 3 + 2.001 * half, 1, 0);                      // near 4, apart from it
    place(&s, 6, 1 - half - big + 0.08 * R, big, 0);           // .08 of the smaller circumradius into 0
    scene_append(&s, 0, 0);
    s.f.plane_present[1] = 1;
    scene_append(&s, 1, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    assert_int_equal(m.overlap_pairs, 3);
    check_near(m.overlap_max, 0.08, 1e-9);
    check_near(m.overlap_p99, 0.08, 1e-9);
    check_near(m.overlap_mean, (0.08 + 0.05 + 0.01) / 3, 1e-9);
    check_near(m.overlap_fraction_above_3, 2.0 / 3, 1e-12);
    check_near(m.overlap_plane_max, 0.02, 1e-9);
    m = measure(r, 1, NULL); // the gate counts while present: grain 5 reaches furthest
    check_near(m.overlap_plane_max, (3 + 2.001 * half + half) / R, 1e-6);
    core_run_close(&r);
}

// Grains with boundaries that are grains count, wherever the boundaries are; two boundaries with each other do not.
static void test_overlap_with_boundaries(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double R = 0.01, half = R / sqrt(2.0);
    must(fixture_add_square(&s.run, R, 2500, &err), &err);
    s.run.prescribed = (const uint8_t[]){1, 0, 1, 0, 1};
    scene_begin(&s, 5);
    place(&s, 0, 0, 0, 0);
    place(&s, 1, 2 * half - 0.05 * R, -half, 0);       // .05 R into the boundary 0
    place(&s, 2, 0, 2 * half - 0.2 * R, 0);            // two boundaries
    place(&s, 3, 0, 4 * half - 0.2 * R - 0.01 * R, 0); // .01 R into the boundary 2
    place(&s, 4, 0, 4 * half - 0.2 * R - 0.01 * R, 0); // taken away
    s.f.id[4] = -1;
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    assert_int_equal(m.count_grains, 2);
    assert_int_equal(m.overlap_pairs, 2);
    check_near(m.overlap_max, 0.05, 1e-9);
    check_near(m.overlap_mean, 0.03, 1e-9);
    sim_measure_def def = sim_measure_default_def();
    def.region[0] = half, def.region[1] = -1, def.region[2] = 1, def.region[3] = 1; // grain 1 alone
    m = measure(r, 0, &def);
    assert_int_equal(m.overlap_pairs, 1);
    check_near(m.overlap_max, 0.05, 1e-9);
    core_run_close(&r);
}

// Deepest boundary point of a in b by sampling every edge at many points; world frame, so another way than the
// library's.
static double sampled_depth(const sdf_posed *a, const sdf_posed *b) {
    double deepest = 0;
    enum { SAMPLES = 400 };
    for (int ring = 0; ring < a->outline->count_rings; ring++) {
        int first = a->outline->ring_start[ring], n = a->outline->ring_start[ring + 1] - first;
        for (int k = 0; k < n * SAMPLES; k++) {
            const double *v = a->outline->xy + 2 * (first + k / SAMPLES);
            const double *w = a->outline->xy + 2 * (first + (k / SAMPLES + 1) % n);
            double t = (k % SAMPLES) / (double)SAMPLES, x = v[0] + t * (w[0] - v[0]), y = v[1] + t * (w[1] - v[1]);
            double wx = a->x + a->scale * (x * cos(a->angle) - y * sin(a->angle)) - b->x;
            double wy = a->y + a->scale * (x * sin(a->angle) + y * cos(a->angle)) - b->y;
            double p[2] = {(wx * cos(b->angle) + wy * sin(b->angle)) / b->scale,
                           (wy * cos(b->angle) - wx * sin(b->angle)) / b->scale},
                   d;
            sdf_outline_distance(b->outline, p, 1, &d, NULL);
            deepest = fmax(deepest, -d * b->scale);
        }
    }
    return deepest;
}

// A hash whose corner lies in the inner corner of another, a little into both faces: deep is not wide.
static void test_depth_in_an_inner_corner(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double R = 0.01, unit = R / hypot(1.0, 0.53), into = 0.004; // bars at +-.4 +-.13, ends at 1, before scaling
    must(fixture_add_hash(&s.run, R, 2500, &err), &err);
    scene_begin(&s, 2);
    place(&s, 0, 0, 0, 0);
    // The lower left end of the second one's left bar, at (-.53, -1), goes into the inner corner at (.53, .53) of the
    // first one.
    place(&s, 1, (0.53 - into + 0.53) * unit, (0.53 - into + 1.0) * unit, 0);
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    assert_int_equal(m.overlap_pairs, 1);
    check_below(0.999 * into * unit / R, m.overlap_max);
    check_below(m.overlap_max, 1.001 * sqrt(2.0) * into * unit / R);
    core_run_close(&r);
}

// A tip of half-angle 15 degrees goes into a face: the depth is the tip's, not the width of the part inside.
static void test_depth_of_a_tip(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double tip[6] = {0, 0, tan(CORE_PI / 12), 1, -tan(CORE_PI / 12), 1};
    must(fixture_add_polygon(&s.run, "tip", 3, tip, 0.01, 2500, &err), &err); // centroid at 2/3 of the height
    must(fixture_add_square(&s.run, 0.02, 2500, &err), &err);
    must(fixture_set_grains(&s.run, 2, &err), &err);
    s.run.species[1] = 1;
    must(fixture_begin(&s.run, RUN_PATH, &s.w, &err), &err);
    must(fixture_frame(&s.run, &s.f, &err), &err);
    double below = s.run.types[0].outline.xy[1] * 0.01; // of the tip, from the centroid
    place(&s, 0, 0.001, 0.02 / sqrt(2.0) - below - 0.0005, 0);
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    check_near(measure(r, 0, NULL).overlap_max, 0.05, 1e-9);
    core_run_close(&r);
}

// The cell grid finds what trying all pairs finds.
static void check_all_pairs(bool one_far_away) {
    core_error err = {0};
    enum { N = 80 };
    scene s = {0};
    must(fixture_add_hash(&s.run, 0.01, 2500, &err), &err);
    must(fixture_add_disc(&s.run, 40, 0.004, 2500, &err), &err);
    must(fixture_set_grains(&s.run, N, &err), &err);
    for (int i = 0; i < N; i++) s.run.species[i] = i % 3 == 0;
    core_outline outlines[2] = {0};
    for (int t = 0; t < 2; t++) must(core_outline_copy(&s.run.types[t].outline, &outlines[t], &err), &err);
    must(fixture_begin(&s.run, RUN_PATH, &s.w, &err), &err);
    must(fixture_frame(&s.run, &s.f, &err), &err);
    core_random random;
    core_random_init(&random, 7, 0);
    sdf_posed posed[N];
    for (int i = 0; i < N; i++) {
        place(&s, i, 0.15 * core_random_uniform(&random), 0.15 * core_random_uniform(&random),
              6 * core_random_uniform(&random));
        if (one_far_away && i == N - 1) place(&s, i, 1e7, -1e7, 0);
        posed[i] = (sdf_posed){&outlines[i % 3 == 0], i % 3 == 0 ? 0.004 : 0.01, s.f.orientation[i],
                               s.f.position[2 * i], s.f.position[2 * i + 1]};
    }
    scene_append(&s, 0, 0);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, 0, NULL);
    int pairs = 0;
    double deepest = 0, sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            double area, depth;
            must(sdf_posed_overlap(&posed[j], &posed[i], &area, &depth, &err), &err);
            if (depth <= 0) continue;
            pairs++;
            depth = fmax(sampled_depth(&posed[i], &posed[j]), sampled_depth(&posed[j], &posed[i])) /
                    fmin(posed[i].scale, posed[j].scale);
            sum += depth;
            deepest = fmax(deepest, depth);
        }
    assert_true(pairs > 20);
    assert_int_equal(m.overlap_pairs, pairs);
    // The library may miss 1e-3 of the larger circumradius (2.5 of the smaller one), the samples half their distance.
    check_near(m.overlap_max, deepest, 5e-3);
    check_near(m.overlap_mean, sum / pairs, 5e-3);
    for (int t = 0; t < 2; t++) core_outline_clear(&outlines[t]);
    core_run_close(&r);
}

static void test_overlap_against_all_pairs(void **state) {
    (void)state;
    check_all_pairs(false);
    check_all_pairs(true);
}

// ---------------------------------------------------------------------------------------------- failures

static void test_bad_arguments(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = NULL;
    must(fixture_write_collapse(RUN_PATH, 20, 3, true, &err), &err);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    sim_measure_def def = sim_measure_default_def();
    sim_measurement m = {.frame = 42};
    assert_int_equal(sim_measure_frame(NULL, 0, &def, &m, &err), CORE_ARG);
    assert_int_equal(sim_measure_frame(r, 0, NULL, &m, &err), CORE_ARG);
    assert_int_equal(sim_measure_frame(r, 0, &def, NULL, &err), CORE_ARG);
    assert_int_equal(sim_measure_frame(r, -1, &def, &m, &err), CORE_RANGE);
    assert_int_equal(sim_measure_frame(r, 3, &def, &m, &err), CORE_RANGE);
    const double regions[][4] = {{0, 0, -1, 1}, {0, 1, 1, 1}, {0, 0, NAN, 1}, {0, 0, INFINITY, 1}};
    for (int k = 0; k < 4; k++) {
        memcpy(def.region, regions[k], sizeof def.region);
        assert_int_equal(sim_measure_frame(r, 0, &def, &m, &err), CORE_RANGE);
    }
    def = sim_measure_default_def();
    def.cookie = 0;
    assert_int_equal(sim_measure_frame(r, 0, &def, &m, &err), CORE_ARG);
    assert_int_equal(m.frame, 42);
    core_run_close(&r);
}

static void test_allocation_failures(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = NULL;
    must(fixture_write_collapse(RUN_PATH, 20, 3, false, &err), &err);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    sim_measure_def def = sim_measure_default_def();
    core_status status = CORE_MEMORY;
    int n = 1;
    for (; status != CORE_OK && n < 10000; n++) {
        sim_measurement m = {.frame = 42};
        err = (core_error){0};
        core_alloc_fail_after((uint64_t)n);
        status = sim_measure_frame(r, 2, &def, &m, &err);
        core_alloc_fail_after(0);
        if (status != CORE_OK) {
            assert_int_equal(status, CORE_MEMORY);
            assert_int_equal(m.frame, 42);
        }
    }
    assert_int_equal(status, CORE_OK);
    assert_true(n > 10);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_energies_by_hand, remove_file),
        cmocka_unit_test_teardown(test_absent_observables_and_grains, remove_file),
        cmocka_unit_test_teardown(test_run_out_by_hand, remove_file),
        cmocka_unit_test_teardown(test_heap_has_its_slope, remove_file),
        cmocka_unit_test_teardown(test_a_slope_needs_four_columns, remove_file),
        cmocka_unit_test_teardown(test_no_slope_without_a_flank, remove_file),
        cmocka_unit_test_teardown(test_overlap_by_hand, remove_file),
        cmocka_unit_test_teardown(test_overlap_with_boundaries, remove_file),
        cmocka_unit_test_teardown(test_depth_in_an_inner_corner, remove_file),
        cmocka_unit_test_teardown(test_depth_of_a_tip, remove_file),
        cmocka_unit_test_teardown(test_overlap_against_all_pairs, remove_file),
        cmocka_unit_test_teardown(test_bad_arguments, remove_file),
        cmocka_unit_test_teardown(test_allocation_failures, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
