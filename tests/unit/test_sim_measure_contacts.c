// Coordination, stress, fabric, packing and boundary forces of synthetic states with known answers.
#include "run_fixture.h"
#include "sim_measure.h"

#include "sim_check.h"

#include <stdio.h>

#define RUN_PATH "test_sim_measure_contacts.run.h5"
#define ROUNDING 1e-12
#define SIDE 6 // grains of the lattice a side
#define RADIUS 0.01
#define CONTACTS_MAX 200

static void must(core_status status, const core_error *err) {
    if (status != CORE_OK) fail_msg("%s", err->message);
}

// A frame under construction.
typedef struct scene {
    fixture_run run;
    core_run_frame f;
    int count;
    core_run_contact contact[CONTACTS_MAX];
} scene;

static void scene_begin(scene *s, int grains, bool contacts) {
    core_error err = {0};
    s->run.contacts = contacts;
    must(fixture_set_grains(&s->run, grains, &err), &err);
    must(fixture_frame(&s->run, &s->f, &err), &err);
}

static core_run_reader *scene_end(scene *s) {
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    s->f.count_contacts = s->count, s->f.contacts = s->contact;
    must(fixture_begin(&s->run, RUN_PATH, &w, &err), &err);
    must(core_run_append(w, &s->f, &err), &err);
    must(core_run_finish(&w, &err), &err);
    s->f.contacts = NULL;
    core_run_frame_clear(&s->f);
    fixture_clear(&s->run);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static void place(scene *s, int i, double x, double y) {
    s->f.position[2 * i] = x, s->f.position[2 * i + 1] = y;
}

// A contact of two discs, or of a plane and a disc: the point is a radius away from B's centre. gradient is a multiple
// of the normal, which the force makes up for.
static void touch(scene *s, int a, int b, double nx, double ny, double f_n, double f_t, double slope) {
    assert_true(s->count < CONTACTS_MAX);
    s->contact[s->count++] = (core_run_contact){.bodies = {a, b},
                                                .d = -1e-6,
                                                .gradient = {slope * nx, slope * ny},
                                                .moment_arm = {RADIUS, -RADIUS},
                                                .f_n = f_n / slope,
                                                .f_t = f_t};
}

static sim_measurement measure(core_run_reader *r, const double region[4], int rattler_contacts) {
    core_error err = {0};
    sim_measurement m = {0};
    sim_measure_def def = sim_measure_default_def();
    if (region) memcpy(def.region, region, sizeof def.region);
    def.rattler_contacts = rattler_contacts;
    must(sim_measure_frame(r, 0, &def, &m, &err), &err);
    return m;
}

static int remove_file(void **state) {
    (void)state;
    core_alloc_fail_after(0);
    remove(RUN_PATH);
    return 0;
}

// A square lattice of discs: force f_x in every row, f_y in every column, a shear f_s across vertical neighbours.
static core_run_reader *lattice(double f_x, double f_y, double f_s) {
    core_error err = {0};
    scene s = {0};
    must(fixture_add_disc(&s.run, 64, RADIUS, 2500, &err), &err);
    scene_begin(&s, SIDE * SIDE, true);
    for (int i = 0; i < SIDE * SIDE; i++) place(&s, i, 2 * RADIUS * (i % SIDE), 2 * RADIUS * (i / SIDE));
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (i % SIDE + 1 < SIDE) touch(&s, i, i + 1, 1, 0, f_x, 0, 0.8);
        if (i / SIDE + 1 < SIDE) touch(&s, i, i + SIDE, 0, 1, f_y, f_s, 1);
    }
    return scene_end(&s);
}

// Of a region of whole cells: stress = force/diameter; every contact counts with its own cell.
static void test_stress_of_a_lattice(void **state) {
    (void)state;
    const double f_x = 3, f_y = 5, f_s = 0.7, d = 2 * RADIUS;
    const double region[4] = {0.5 * d - 1e-9, 0.5 * d - 1e-9, 3.5 * d - 1e-9, 3.5 * d - 1e-9};
    core_run_reader *r = lattice(f_x, f_y, f_s);
    sim_measurement m = measure(r, region, 2);
    check_near(m.stress[0], f_x / d, 1e-9 * f_x / d);
    check_near(m.stress[3], f_y / d, 1e-9 * f_y / d);
    // the force along R(pi/2) n = (-1, 0) on the upper grain, branch (0, d)
    check_near(m.stress[2], -f_s / d, 1e-9 * f_y / d);
    check_near(m.stress[1], 0, 1e-9 * f_y / d);
    // as many rows as columns
    check_near(m.fabric_anisotropy, 0, ROUNDING);
    check_near(m.coordination, 4, 0);
    check_near(m.coordination_rigid, 4, 0);
    assert_int_equal(m.rattlers, 0);
    assert_int_equal(m.count_grains, 9);
    // 9 whole discs of 64 corners in 9 cells; discs are cut nowhere
    check_near(m.packing_fraction, fixture_area(&core_run_describe(r)->types[0].outline) / 4, 1e-9);
    // without a region there is no area
    m = measure(r, NULL, 2);
    assert_true(isnan(m.stress[0]) && isnan(m.packing_fraction));
    check_near(m.coordination, 2.0 * (2 * SIDE * (SIDE - 1)) / (SIDE * SIDE), ROUNDING);
    core_run_close(&r);
}

// Normals all along one direction: density has no such limit, a = 2. 3 of 4 along x: a = 1.
static void test_fabric(void **state) {
    (void)state;
    core_error err = {0};
    int64_t count[6];
    double force[6];
    const double c = cos(0.4), w = sin(0.4);
    scene s = {0};
    must(fixture_add_disc(&s.run, 16, RADIUS, 2500, &err), &err);
    scene_begin(&s, 8, true);
    for (int i = 0; i < 8; i++) place(&s, i, i, i % 3);
    for (int k = 0; k < 3; k++) touch(&s, k, k + 1, k == 1 ? -c : c, k == 1 ? -w : w, 1 + k, 0, 1);
    touch(&s, 3, 4, -w, c, 10, 0, 1);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, NULL, 2);
    check_near(m.fabric_anisotropy, 1, ROUNDING);
    check_near(m.fabric_angle, 0.4, ROUNDING);
    sim_measure_def def = sim_measure_default_def();
    must(sim_measure_orientations(r, 0, &def, 6, count, force, &err), &err);
    const int64_t expected[6] = {3, 0, 0, 1, 0, 0}; // 23 and 113 degrees
    for (int b = 0; b < 6; b++) assert_int_equal(count[b], expected[b]);
    check_near(force[0], 2, ROUNDING);
    check_near(force[3], 10, ROUNDING);
    assert_true(isnan(force[1]));
    assert_int_equal(sim_measure_orientations(r, 0, &def, 0, count, force, &err), CORE_RANGE);
    assert_int_equal(sim_measure_orientations(r, 1, &def, 6, count, force, &err), CORE_RANGE);
    core_run_close(&r);
}

// A ring of four is rigid enough; a tail of three that hangs on it goes link by link, a lone grain at once.
static void test_rattlers(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    must(fixture_add_disc(&s.run, 16, RADIUS, 2500, &err), &err);
    scene_begin(&s, 8, true);
    for (int i = 0; i < 8; i++) place(&s, i, 0.02 * i, 0);
    const int pairs[7][2] = {{0, 1}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
    for (int k = 0; k < 7; k++) touch(&s, pairs[k][0], pairs[k][1], 1, 0, 1, 0, 1);
    touch(&s, 5, 6, 0, 1, 1, 0, 1); // a second contact of one pair is no second neighbour
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, NULL, 2);
    check_near(m.coordination, 14.0 / 8, ROUNDING);
    check_near(m.coordination_rigid, 2, ROUNDING);
    assert_int_equal(m.rattlers, 4);
    m = measure(r, NULL, 3); // nothing is left
    assert_int_equal(m.rattlers, 8);
    assert_true(isnan(m.coordination_rigid));
    core_run_close(&r);
}

// Boundaries: force on each, a neighbour each, and the branch from the contact point in the stress.
static void test_boundaries(void **state) {
    (void)state;
    core_error err = {0};
    double force[4];
    scene s = {0};
    must(fixture_add_disc(&s.run, 16, RADIUS, 2500, &err), &err);
    fixture_add_plane(&s.run, "floor", 0, 1, 0);
    fixture_add_plane(&s.run, "left", 1, 0, 0);
    scene_begin(&s, 1, true);
    place(&s, 0, RADIUS, RADIUS);
    touch(&s, -1, 0, 0, 1, 7, 2, 1); // the floor pushes up and, along R(pi/2) n, to the left
    s.contact[0].d_theta_b = -0.3 * RADIUS; // as of a corner that far to the left of the centre
    touch(&s, -2, 0, 1, 0, 2, 0, 1);
    core_run_reader *r = scene_end(&s);
    must(sim_measure_boundary_forces(r, 0, force, &err), &err);
    check_near(force[0], 2, ROUNDING);
    check_near(force[1], -7, ROUNDING);
    check_near(force[2], -2, ROUNDING);
    check_near(force[3], 0, ROUNDING);
    sim_measurement m = measure(r, (double[]){-RADIUS, -RADIUS, 3 * RADIUS, 3 * RADIUS}, 2);
    const double area = 16 * RADIUS * RADIUS;
    check_near(m.coordination_rigid, 2, 0);
    check_near(m.stress[3] * area, 7 * RADIUS, ROUNDING);
    check_near(m.stress[2] * area, -2 * RADIUS, ROUNDING);
    check_near(m.stress[1] * area, 0.3 * RADIUS * 7, ROUNDING);
    check_near(m.stress[0] * area, 2 * RADIUS - 0.3 * RADIUS * 2, ROUNDING);
    core_run_close(&r);
}

// Squares cut by the region's edge and corner; an absent one counts nothing.
static void test_packing(void **state) {
    (void)state;
    core_error err = {0};
    scene s = {0};
    const double side = 0.02;
    must(fixture_add_square(&s.run, side / sqrt(2.0), 2500, &err), &err);
    scene_begin(&s, 5, false);
    place(&s, 0, 0.05, 0.05);  // inside
    place(&s, 1, 0.10, 0.05);  // half, centre on the edge
    place(&s, 2, 0.105, 0.10); // an eighth: centre outside
    place(&s, 3, 0.30, 0.30);  // outside
    s.f.id[4] = -1;
    place(&s, 4, NAN, NAN);
    core_run_reader *r = scene_end(&s);
    sim_measurement m = measure(r, (double[]){0, 0, 0.1, 0.1}, 2);
    check_near(m.packing_fraction, side * side * (1 + 0.5 + 0.125) / 0.01, 1e-9);
    assert_true(isnan(m.coordination) && m.rattlers == -1 && isnan(m.stress[0]));
    core_run_close(&r);
}

static void test_bad_arguments(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = lattice(1, 1, 0);
    sim_measurement m = {0};
    sim_measure_def def = sim_measure_default_def();
    def.rattler_contacts = 0;
    assert_int_equal(sim_measure_frame(r, 0, &def, &m, &err), CORE_RANGE);
    assert_int_equal(sim_measure_boundary_forces(r, 0, NULL, &err), CORE_ARG);
    core_run_close(&r);
    // memory: every call
    r = lattice(1, 1, 0);
    def = sim_measure_default_def();
    memcpy(def.region, (double[]){0, 0, 0.05, 0.05}, sizeof def.region);
    int failures = 0;
    for (int k = 1;; k++, failures++) {
        core_alloc_fail_after((uint64_t)k);
        const core_status status = sim_measure_frame(r, 0, &def, &m, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
    }
    assert_true(failures > 8);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stress_of_a_lattice, remove_file),
        cmocka_unit_test_teardown(test_fabric, remove_file),
        cmocka_unit_test_teardown(test_rattlers, remove_file),
        cmocka_unit_test_teardown(test_boundaries, remove_file),
        cmocka_unit_test_teardown(test_packing, remove_file),
        cmocka_unit_test_teardown(test_bad_arguments, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
