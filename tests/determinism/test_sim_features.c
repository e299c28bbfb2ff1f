/// Runs of scenes with pours, outlets, moving and periodic boundaries, phases that start and stop things, and grains of
/// another run: counts, balance of energy, and the same bits for any number of threads and output interval.
#include "sim_run_scene.h"

#include "unit/sim_fixture.h"

// Everything at once: grains fall into a moving hopper over a rough periodic floor and are taken out.
static const char SCENE[] =
    "gravity: [6, -9.81]\ntypes:\n"
    "  square: {shape: square.wkt, radius: 0.01, density: 2500}\n"
    "  small: {shape: square.wkt, radii: [0.006, 0.008], sizes: 2, density: 2500}\n"
    "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
    "periodic: {x: [0, 0.2]}\n"
    "boundaries:\n"
    "  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}, motion: {velocity: [0.1, 0]}}\n"
    "  - {name: wall, polyline: {points: [0.02, 0.12, 0.08, 0.06], thickness: 0.004}, motion: {amplitude: [0.005, 0], "
    "frequency: 10}}\n"
    "  - {name: stone, grain: {type: square, position: [0.1, 0.02]}, motion: {rotation: 5}}\n"
    "fill: [{types: [square, small], count: 12, region: [0, 0.03, 0.2, 0.12]}]\n"
    "pour: [{name: rain, type: small, count: 9, rate: 100, region: [0.02, 0.15, 0.18, 0.2], velocity: [0, -0.5]}]\n"
    "outlets: [{name: hole, region: [0.12, 0, 0.2, 0.02]}]\n"
    "phases:\n"
    "  - {name: fall, time: 0.1}\n"
    "  - {name: open, start: [hole], stop: [stone], time: 0.15}\n"
    "  - {name: less, remove: [wall, stone], time: 0.05}\n"
    "narrow_phase: exact\n"
    "output: {every: 0.01}\n";

static int make(void **state) {
    char path[TEST_PATH_MAX];
    if (test_folder_make(state) != 0) return -1;
    test_folder_write(path, "square.wkt", "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))\n");
    test_folder_write(path, "scene.yaml", SCENE);
    return 0;
}

// A run file with room for a frame.
typedef struct opened {
    core_run_reader *run;
    const core_run_info *info;
    core_run_frame frame;
} opened;

static opened open_run(const char *name) {
    char path[TEST_PATH_MAX];
    opened o = {0};
    check_ok(core_run_open(test_folder_path(path, name), &o.run, err));
    o.info = core_run_describe(o.run);
    check_ok(core_run_frame_create(o.info->count_rows, o.info->count_observables, o.info->count_planes, &o.frame, err));
    check_ok(core_run_frame_add_walls(o.info->count_walls, &o.frame, err));
    return o;
}

static void read_frame(opened *o, int64_t i) {
    check_ok(core_run_read(o->run, i, &o->frame, err));
}

static void close_run(opened *o) {
    core_run_frame_clear(&o->frame);
    core_run_close(&o->run);
}

static double observable(const opened *o, const char *name) {
    const int i = core_run_observable_index(o->run, name);
    if (i < 0) fail_msg("no observable %s", name);
    return o->frame.observables[i];
}

static void the_same_bits(void **state) {
    (void)state;
    sim_run_report first, report;
    check_ok(run_scene("scene.yaml", "a.h5", 1, 0, NULL, &first, err));
    static const char *const every[] = {"output.every=0.0037"};
    check_ok(run_scene("scene.yaml", "b.h5", 2, 0, NULL, &report, err));
    assert_true(report.state_hash == first.state_hash && run_hash("a.h5") == run_hash("b.h5"));
    check_ok(run_scene("scene.yaml", "b.h5", 3, 1, every, &report, err));
    assert_true(report.state_hash == first.state_hash && report.steps == first.steps);
    static const char *const seed[] = {"seed=2"};
    check_ok(run_scene("scene.yaml", "b.h5", 1, 1, seed, &report, err));
    assert_true(report.state_hash != first.state_hash);
}

static void grains_are_counted_and_energy_is_kept(void **state) {
    (void)state;
    sim_run_report report;
    check_ok(run_scene("scene.yaml", "a.h5", 1, 0, NULL, &report, err));
    opened o = open_run("a.h5");
    assert_int_equal(o.info->count_rows, 12 + 1 + 9);
    assert_int_equal(o.info->count_planes, 1);
    assert_int_equal(o.info->count_walls, 1);
    assert_true(o.info->period[0] == 0 && o.info->period[1] == 0.2 && o.info->prescribed[12] == 1 &&
                o.info->prescribed[0] == 0);
    assert_string_equal(o.info->walls[0].name, "wall");
    double start = 0, most = 0, lost = 0;
    bool wrapped = false;
    for (int64_t k = 0; k < o.info->count_frames; ++k) {
        read_frame(&o, k);
        int present = 0;
        for (int i = 0; i < o.info->count_rows; ++i) {
            if (o.frame.id[i] < 0) continue;
            present += !o.info->prescribed[i];
            assert_true(o.frame.position[2 * i] >= 0 && o.frame.position[2 * i] < 0.2);
            wrapped |= o.frame.image[i] != 0;
        }
        assert_int_equal(present, (int)observable(&o, "grains"));
        // rain: at most one every .01 s from 0 on, later where there was no room; nobody is lost
        const double entered = present + observable(&o, "out_hole") - 12;
        assert_true(entered >= (k > 0) && entered <= fmin(9, 1 + floor(o.frame.time / .01)));
        const double energy = observable(&o, "kinetic_energy") + observable(&o, "potential_energy") +
                              observable(&o, "elastic_energy") + observable(&o, "dissipated_normal") +
                              observable(&o, "dissipated_tangential") + observable(&o, "removed_energy") -
                              observable(&o, "work");
        if (k == 0) start = energy;
        most = fmax(most, fabs(energy - start));
        check_near(observable(&o, "energy_balance"), energy, 1e-12 * fabs(start) + 1e-15);
        lost = observable(&o, "dissipated_normal") + observable(&o, "dissipated_tangential");
    }
    assert_true(wrapped);
    check_near(observable(&o, "grains") + observable(&o, "out_hole"), 12 + 9, 0);
    assert_true(observable(&o, "out_hole") > 2 && observable(&o, "out_kg_hole") > 0);
    assert_int_equal(o.frame.wall_present[0], 0);
    assert_int_equal(o.frame.id[12], -1); // the stone was taken away
    check_below(most, .02 * lost);
    // by cause instead of by direction
    const double damping = observable(&o, "dissipated_damping"), friction = observable(&o, "dissipated_friction");
    check_near(damping + friction, lost, 1e-12 * lost);
    assert_true(damping > observable(&o, "dissipated_normal") && friction > .01 * lost);
    // the floor has moved along itself, the wall where its law says
    check_near(o.frame.plane[2], 0, 1e-15);
    read_frame(&o, 5);
    check_near(o.frame.wall_pose[0], .05 + .005 * sin(2 * CORE_PI * 10 * o.frame.time), 1e-12);
    check_near(o.frame.orientation[12], 5 * o.frame.time, 1e-9);
    close_run(&o);
}

static void a_packing_is_taken_over(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], text[2048];
    sim_run_report report;
    check_ok(run_scene("scene.yaml", "a.h5", 1, 0, NULL, &report, err));
    snprintf(text, sizeof text,
             "types:\n  square: {shape: square.wkt, radius: 0.01, density: 1000}\n"
             "  small: {shape: square.wkt, radii: [0.006, 0.008], sizes: 2, density: 1000}\n"
             "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
             "periodic: {x: [0, 0.2]}\nboundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]\n"
             "start: {from: a.h5, time: 0.2}\nphases: [{name: on, time: 1.0e-3}]\nnarrow_phase: exact\n");
    test_folder_write(path, "start.yaml", text);
    check_ok(run_scene("start.yaml", "b.h5", 1, 0, NULL, &report, err));
    opened old = open_run("a.h5"), now = open_run("b.h5");
    read_frame(&old, core_run_frame_at(old.run, .2));
    read_frame(&now, 0);
    int row = 0;
    for (int i = 0; i < old.info->count_rows; ++i) {
        if (old.frame.id[i] < 0 || old.info->prescribed[i]) continue;
        assert_string_equal(now.info->types[now.info->species[row]].name, old.info->types[old.info->species[i]].name);
        for (int k = 0; k < 2; ++k) {
            assert_true(now.frame.position[2 * row + k] == old.frame.position[2 * i + k]);
            assert_true(now.frame.velocity[2 * row + k] == old.frame.velocity[2 * i + k]);
        }
        assert_true(now.frame.orientation[row] == old.frame.orientation[i]);
        ++row;
    }
    assert_int_equal(row, now.info->count_rows);
    // its weight and width give the stiffness, too
    core_error cause = {0};
    sim_scene scene = {0};
    const char *const automatic[] = {"contact.default.kn=auto"};
    check_ok(sim_scene_read(test_folder_path(path, "start.yaml"), 1, automatic, &scene, err));
    double mass = 0, low = INFINITY, high = -INFINITY;
    for (int i = 0; i < row; ++i) {
        const core_run_type *type = &now.info->types[now.info->species[i]];
        mass += now.info->mass[i];
        low = fmin(low, now.frame.position[2 * i] - type->radius);
        high = fmax(high, now.frame.position[2 * i] + type->radius);
    }
    check_near(scene.kn_auto, 8 * mass * 9.81 / (high - low) / .01, 1e-9 * scene.kn_auto);
    sim_scene_clear(&scene);
    close_run(&old);
    close_run(&now);
    const char *const radius[] = {"types.square.radius=0.011"}, *const none[] = {"start.from=none.h5"};
    assert_int_equal(run_scene("start.yaml", "b.h5", 1, 1, radius, &report, &cause), CORE_RANGE);
    assert_non_null(strstr(cause.message, "start.from: type \"square\" has radius 0.01 m"));
    assert_int_equal(run_scene("start.yaml", "b.h5", 1, 1, none, &report, &cause), CORE_IO);
    const char *const itself[] = {"start.time=0"};
    assert_int_equal(run_scene("start.yaml", "a.h5", 1, 1, itself, &report, &cause),
                     CORE_ARG); // would overwrite its input
}

static void what_cannot_be_run_is_refused(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error cause = {0};
    sim_run_report report;
    const char *const step[] = {"dt=0.1"}, *const forced[] = {"dt=0.005", "dt_force=true", "phases[0].time=0.005",
                                                              "phases[1].time=0.005", "phases[2].time=0.005"};
    assert_int_equal(run_scene("scene.yaml", "b.h5", 1, 1, step, &report, &cause), CORE_RANGE);
    assert_non_null(strstr(cause.message, "dt_force: true takes it all the same"));
    const core_status status = run_scene("scene.yaml", "b.h5", 1, 5, forced, &report, &cause);
    assert_true(status == CORE_OK || status == CORE_NOT_CONVERGED); // it may well explode, but it is run
    const char *const narrow[] = {"periodic.x=[0, 0.05]", "fill[0].region=[0, 0, 0.05, 1]",
                                  "pour[0].region=[0, 0, 0.05, 1]"};
    assert_int_equal(run_scene("scene.yaml", "b.h5", 1, 3, narrow, &report, &cause), CORE_RANGE);
    assert_non_null(strstr(cause.message, "periodic x: found a width of 0.05 m"));
    test_folder_write(path, "twice.yaml",
                      "types: {square: {shape: square.wkt, radius: 0.01, density: 1000}}\ncontact: {default: {kn: 1, "
                      "mu: 0, gamma_n: 0}}\n"
                      "place: [{type: square, position: [0, 1]}, {type: square, position: [1, 1]}, {type: square, "
                      "position: [0, 1]}]\n"
                      "phases: [{name: a, time: 1}]\nnarrow_phase: exact\n");
    assert_int_equal(run_scene("twice.yaml", "b.h5", 1, 0, NULL, &report, &cause), CORE_RANGE);
    assert_non_null(strstr(cause.message, "grains 0 and 2 are both at (0, 1)"));
    // a grain as fast as a wall is thick in two steps is stopped at once
    test_folder_write(path, "fast.yaml",
                      "types: {square: {shape: square.wkt, radius: 0.01, density: 1000}}\ncontact: {default: {kn: 1, "
                      "mu: 0, gamma_n: 0}}\n"
                      "boundaries: [{name: w, polyline: {points: [0, 0, 1, 0], thickness: 0.001}}]\n"
                      "place: [{type: square, position: [0, 1], velocity: [0, -6]}]\ndt: 1.0e-4\n"
                      "phases: [{name: a, time: 1}]\nnarrow_phase: exact\n");
    assert_int_equal(run_scene("fast.yaml", "b.h5", 1, 0, NULL, &report, &cause), CORE_NOT_CONVERGED);
    assert_non_null(strstr(cause.message, "blow-up: grain 0 at step 1"));
    assert_non_null(strstr(cause.message, "expected less than 0.0005 m per step"));
}

static void a_cell_keeps_its_pressure(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    sim_run_report report;
    test_folder_write(
        path, "cell.yaml",
        "types: {square: {shape: square.wkt, radius: 0.01, density: 2500}}\ngravity: [0, 0]\n"
        "contact: {default: {kn: 2.0e5, restitution: 0.2, mu: 0}}\n"
        "boundaries:\n  - {name: left, plane: {point: [0, 0], normal: [1, 0]}}\n"
        "  - {name: right, plane: {point: [0.0146, 0], normal: [-1, 0]}, servo: {pressure: 800, across: [floor, "
        "lid]}}\n"
        "  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}\n"
        "  - {name: lid, plane: {point: [0, 0.0146], normal: [0, -1]}, servo: {pressure: 300, length: 0.02}}\n"
        "cell: {x: [left, right], y: [floor, lid]}\n"
        "place: [{type: square, position: [0.0072, 0.0072]}]\n"
        "phases: [{name: press, time: 0.3}]\nnarrow_phase: exact\n");
    check_ok(run_scene("cell.yaml", "c.h5", 1, 0, NULL, &report, err));
    opened o = open_run("c.h5");
    read_frame(&o, o.info->count_frames - 1);
    const double height = 0.0146 * (1 - observable(&o, "strain_yy")),
                 width = 0.0146 * (1 - observable(&o, "strain_xx"));
    check_near(observable(&o, "stress_xx"), 800, 4);
    check_near(observable(&o, "stress_yy"), 300 * 0.02 / width, 2);
    check_near(observable(&o, "load_x_right"), 800 * height, .05);
    // a block of side sqrt(2) R between springs kn on either side
    check_near(height, .01 * sqrt(2) - 2 * 300 * 0.02 / 2e5, 2e-5);
    check_near(o.frame.plane[3 * 3 + 2], -height, 1e-12);
    close_run(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(grains_are_counted_and_energy_is_kept),
        cmocka_unit_test(a_packing_is_taken_over),
        cmocka_unit_test(what_cannot_be_run_is_refused),
        cmocka_unit_test(a_cell_keeps_its_pressure),
    };
    return cmocka_run_group_tests(tests, make, test_folder_remove);
}
