/// Runs: the output interval changes no step, a run repeats to the bit with other threads, frames fall where they
/// should, and a phase that times out keeps what there is.
#include "sim_run_scene.h"

#include "unit/sim_fixture.h"

static const char SHAPE[] =
    "POLYGON ((-0.6 -0.7, 0.6 -0.7, 0.6 0.7, 0.3 0.7, 0.3 -0.4, -0.3 -0.4, -0.3 0.7, -0.6 0.7, -0.6 -0.7))\n";
// kn is low: the random map reports deep overlaps everywhere, which must not blow up
static const char SCENE[] = "types:\n"
                            "  u: {shape: u.wkt, radius: 0.02, density: 2500}\n"
                            "contact:\n"
                            "  default: {kn: 2.0e4, restitution: 0.2, mu: 0.4}\n"
                            "boundaries:\n"
                            "  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}\n"
                            "  - {name: gate, plane: {point: [0.5, 0], normal: [-1, 0]}}\n"
                            "  - {name: back, plane: {point: [0, 0], normal: [1, 0]}}\n"
                            "fill:\n"
                            "  - {type: u, count: 150, region: [0, 0, 0.5, 2]}\n"
                            "place:\n"
                            "  - {type: u, position: [0.25, 1.5], angle: 1, velocity: [0, -1], angular_velocity: 3}\n"
                            "phases:\n"
                            "  - {name: fall, time: 0.05}\n"
                            "  - {name: open, remove: [gate], time: 0.031}\n"
                            "maps: u.maps.h5\n"
                            "dt: 1.0e-4\n"
                            "output: {every: 0.01}\n";

static int make(void **state) {
    char path[TEST_PATH_MAX];
    sim_type_def type = {.radius = 1};
    cspace_bundle bundle = {0};
    const sdf_read_def read = sdf_read_default_def();
    if (test_folder_make(state) != 0) return -1;
    if (sdf_shape_read(test_folder_write(path, "u.wkt", SHAPE), &read, &type.shape, NULL) != CORE_OK) return -1;
    if (sim_fixture_random_bundle(1, &type, 3, true, &bundle, NULL) != CORE_OK) return -1;
    const core_status status =
        cspace_bundle_write(test_folder_path(path, "u.maps.h5"), &bundle, &(core_h5_provenance){0}, NULL);
    sdf_shape_clear(&type.shape);
    cspace_bundle_clear(&bundle);
    test_folder_write(path, "scene.yaml", SCENE);
    return status == CORE_OK ? 0 : -1;
}

static void output_and_threads_change_no_bit(void **state) {
    (void)state;
    static const char *const intervals[] = {"output.every=0.01", "output.every=0.0037", "output.every=1e-5",
                                            "output.every=100"};
    static const int64_t frames[] = {
        10, 23, 811, 2}; // at 0, .01 .. .08 and the end; every .0037; every step and the start; start and end
    sim_run_report first, report;
    check_ok(run_scene("scene.yaml", "a.h5", 1, 0, NULL, &first, err));
    assert_int_equal(first.steps, 810);
    check_near(first.simulated, .081, 1e-12);
    for (int i = 0; i < 4; ++i) {
        check_ok(run_scene("scene.yaml", "b.h5", 1 + i % 3, 1, &intervals[i], &report, err));
        assert_true(report.state_hash == first.state_hash);
        assert_int_equal(report.steps, first.steps);
        assert_int_equal(report.frames, frames[i]);
        assert_memory_equal(&report.totals, &first.totals, sizeof first.totals);
    }
    check_ok(run_scene("scene.yaml", "c.h5", 3, 0, NULL, &report, err));
    assert_true(run_hash("c.h5") == run_hash("a.h5"));
    static const char *const other[] = {"seed=2"};
    check_ok(run_scene("scene.yaml", "c.h5", 1, 1, other, &report, err));
    assert_true(report.state_hash != first.state_hash && run_hash("c.h5") != run_hash("a.h5"));
}

static void frames_are_where_they_should_be(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    sim_run_report report;
    check_ok(run_scene("scene.yaml", "a.h5", 1, 0, NULL, &report, err));
    core_run_reader *r = NULL;
    check_ok(core_run_open(test_folder_path(path, "a.h5"), &r, err));
    const core_run_info *info = core_run_describe(r);
    assert_int_equal(info->count_rows, 151);
    assert_int_equal(info->count_frames, 10);
    assert_int_equal(info->count_planes, 3);
    core_run_frame f;
    check_ok(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, err));
    for (int i = 0; i < 10; ++i) {
        check_ok(core_run_read(r, i, &f, err));
        check_near(f.time, i < 9 ? .01 * i : .081, 1e-12); // the first step at or after the multiple: here just at it
        check_near((double)f.step * 1e-4, f.time, 1e-12);
        assert_int_equal(f.phase, i > 5); // the frame at .05 is the last of the first phase
        assert_int_equal(f.plane_present[1], i <= 5);
        assert_int_equal(f.plane_present[0], 1);
        const int kinetic = core_run_observable_index(r, "kinetic_energy"),
                  contacts = core_run_observable_index(r, "contacts");
        assert_true(kinetic >= 0 && contacts >= 0);
        double sum = 0;
        for (int k = 0; k < info->count_rows; ++k) {
            assert_int_equal(f.id[k], k);
            const double *v = f.velocity + 2 * k, inertia = info->mass[k] * .02 * .02; // of the order of
            sum += .5 * info->mass[k] * (v[0] * v[0] + v[1] * v[1]) +
                   .5 * inertia * f.angular_velocity[k] * f.angular_velocity[k];
        }
        assert_true(f.observables[kinetic] <= sum * (1 + 1e-12) && f.observables[kinetic] > .1 * sum);
        if (i > 5) assert_true(f.observables[contacts] > 0);
    }
    core_run_frame_clear(&f);
    core_run_close(&r);
}

static void a_timeout_keeps_the_frames(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error cause = {0};
    sim_run_report report = {.steps = -7};
    // a random map never comes to rest
    static const char *const stop[] = {"phases=[{name: calm, until: rest, timeout: 0.035}, {name: later, time: 0.01}]"};
    assert_int_equal(run_scene("scene.yaml", "t.h5", 1, 1, stop, &report, &cause), CORE_NOT_CONVERGED);
    assert_non_null(strstr(cause.message, "phase calm timed out after 0.035 s"));
    assert_int_equal(report.steps, -7);
    core_run_reader *r = NULL;
    check_ok(core_run_open(test_folder_path(path, "t.h5"), &r, err));
    assert_int_equal(core_run_describe(r)->count_frames, 5); // the last state too
    check_near(core_run_describe(r)->times[4], .035, 1e-12);
    core_run_close(&r);
    static const char *const go_on[] = {
        "phases=[{name: calm, until: rest, timeout: 0.035, on_timeout: continue}, {name: later, time: 0.01}]"};
    check_ok(run_scene("scene.yaml", "t.h5", 1, 1, go_on, &report, err));
    assert_int_equal(report.steps, 450);
}

static void rest_is_found_at_the_right_time(void **state) {
    (void)state;
    // one grain far above the floor falls, lands on its flat back (angle 0), and rests: closed-form contacts only
    static const char *const alone[] = {"fill=[]", "place=[{type: u, position: [0.25, 0.05]}]",
                                        "contact.default.kn=2e5", "phases=[{name: settle, until: rest, timeout: 5}]"};
    sim_run_report report;
    check_ok(run_scene("scene.yaml", "r.h5", 1, 4, alone, &report, err));
    // it takes off after .0x s of fall and stays calm for 2 sqrt(R/g) = .0903 s at the end
    assert_true(report.simulated > .0903 + .05 && report.simulated < 2);
    assert_true(report.totals.kinetic < 1e-3 * 9.81 * .02 * 2500 * .0004);
    assert_int_equal(report.totals.count_plane_contacts, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_threads_change_no_bit),
        cmocka_unit_test(frames_are_where_they_should_be),
        cmocka_unit_test(a_timeout_keeps_the_frames),
        cmocka_unit_test(rest_is_found_at_the_right_time),
    };
    return cmocka_run_group_tests(tests, make, test_folder_remove);
}
