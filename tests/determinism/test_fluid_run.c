/// Runs of the continuum solver: a restart goes on to the same bits, output changes none, the file says what happened.
#include "unit/test_folder.h"

#include "core_run.h"
#include "fluid_run.h"
#include "unit/sim_check.h"

static const char text[] =
    "model: continuum\n"
    "grid: {cell: 0.02, region: [0, 0, 0.6, 0.2], friction: 1%s}\n"
    "material: {kind: %s, density: 1500}\n"
    "boundaries:\n"
    "  - {name: gate, plane: {point: [0.2, 0], normal: [-1, 0]}}\n"
    "  - {name: post, friction: 0.3, polyline: {points: [0.45, 0, 0.45, 0.05], thickness: 0.04}%s}\n"
    "fill: [{box: [0, 0, 0.2, 0.16]}]\n"
    "phases: [{name: settle, time: 0.05}, {name: go, remove: [gate], time: 0.2%s}]\n"
    "output: {every: %g, checkpoint: 0.06, texture: layers, texture_size: 0.04}\n";

// moves: the post swings, from the second phase on.
static fluid_scene scene_of(const char *kind, const char *grid, bool moves, double every) {
    char made[2048];
    fluid_scene scene;
    snprintf(made, sizeof made, text, grid, kind,
             moves ? ", motion: {rotation: 1, velocity: [-0.5, 0], amplitude: [0.02, 0], frequency: 3}" : "",
             moves ? ", start: [post]" : "", every);
    check_ok(fluid_scene_read_text(made, "run.yaml", &scene, err));
    return scene;
}

static const char *file(const char *name) {
    static char path[4][TEST_PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", test_folder, name);
    return path[next];
}

static void restarts_go_on(void **state) {
    (void)state;
    static const char *const kinds[] = {"sand", "water", "sand", "sand"};
    static const char *const grids[] = {"", "", ", periodic: x", ""};
    for (int k = 0; k < 4; ++k) {
        fluid_scene scene = scene_of(kinds[k], grids[k], k == 3, .02), again;
        fluid_run_report whole, rest, coarse;
        fluid_run_def def = fluid_run_default_def();
        def.checkpoint_path = file("a.checkpoint.h5");
        check_ok(fluid_run(&scene, file("a.h5"), &def, NULL, &whole, err));
        assert_true(fluid_checkpoint_claims(file("a.checkpoint.h5.1")));
        fluid_run_def from = fluid_run_default_def();
        check_ok(fluid_checkpoint_open(file("a.checkpoint.h5.1"), &from.restart, err));
        check_ok(fluid_checkpoint_scene(from.restart, &again, err));
        check_ok(fluid_run(&again, file("b.h5"), &from, NULL, &rest, err));
        assert_true(rest.steps == whole.steps && rest.frames < whole.frames);
        assert_true(whole.state_hash == rest.state_hash);
        fluid_scene_clear(&again);
        core_h5_close(&from.restart);
        fluid_scene_clear(&scene);
        scene = scene_of(kinds[k], grids[k], k == 3, .07);
        def.checkpoint_path = NULL;
        check_ok(fluid_run(&scene, file("c.h5"), &def, NULL, &coarse, err));
        assert_true(coarse.state_hash == whole.state_hash); // output changes no step
        fluid_scene_clear(&scene);
    }
}

// A solid that has moved and stopped is where it stopped, also behind a restart, which goes on to the same bits.
static void restarts_know_where_motions_ended(void **state) {
    (void)state;
    static const char moved[] =
        "model: continuum\n"
        "grid: {cell: 0.02, region: [0, 0, 0.6, 0.2], friction: 1}\n"
        "material: {kind: sand, density: 1500}\n"
        "boundaries:\n"
        "  - {name: post, polyline: {points: [0.3, 0, 0.3, 0.05], thickness: 0.04}, motion: {velocity: [-0.5, 0]}}\n"
        "fill: [{box: [0, 0, 0.2, 0.16]}]\n"
        "phases: [{name: go, start: [post], time: 0.1}, {name: halt, stop: [post], time: 0.2}]\n"
        "output: {every: 0.02, checkpoint: 0.06}\n";
    fluid_scene scene;
    fluid_run_report whole, rest;
    fluid_run_def def = fluid_run_default_def(), from = fluid_run_default_def();
    check_ok(fluid_scene_read_text(moved, "moved.yaml", &scene, err));
    def.checkpoint_path = file("t.checkpoint.h5");
    check_ok(fluid_run(&scene, file("t.h5"), &def, NULL, &whole, err));
    check_ok(fluid_checkpoint_open(file("t.checkpoint.h5.1"), &from.restart, err));
    check_ok(fluid_run(&scene, file("u.h5"), &from, NULL, &rest, err));
    assert_true(rest.frames > 0 && rest.frames < 5); // from inside the last phase
    assert_true(whole.state_hash == rest.state_hash);
    core_h5_close(&from.restart);
    core_run_reader *run = NULL;
    core_run_frame f = {0};
    check_ok(core_run_open(file("u.h5"), &run, err));
    const core_run_info *info = core_run_describe(run);
    check_ok(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, err));
    check_ok(core_run_frame_add_walls(info->count_walls, &f, err));
    check_ok(core_run_read(run, info->count_frames - 1, &f, err));
    check_near(f.wall_pose[0], -.5 * .1, 1e-12);
    core_run_frame_clear(&f);
    core_run_close(&run);
    fluid_scene_clear(&scene);
}

// The post of the file lies where its law has it: two points of it, turned about the middle of its box and displaced.
static void the_file_tells_of_motion(void **state) {
    (void)state;
    fluid_scene scene = scene_of("sand", "", true, .02);
    const fluid_run_def def = fluid_run_default_def();
    check_ok(fluid_run(&scene, file("m.h5"), &def, NULL, NULL, err));
    core_run_reader *run = NULL;
    core_run_frame f = {0};
    check_ok(core_run_open(file("m.h5"), &run, err));
    const core_run_info *info = core_run_describe(run);
    check_ok(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, err));
    check_ok(core_run_frame_add_walls(info->count_walls, &f, err));
    for (int64_t frame = 0; frame < info->count_frames; ++frame) {
        check_ok(core_run_read(run, frame, &f, err));
        const double t = fmax(f.time - .05, 0), *pose = f.wall_pose;
        const double shift = -.5 * t + .02 * sin(6 * CORE_PI * t), low[2] = {.45, 0};
        // the lower end, .025 below the middle
        check_near(pose[2], t, 1e-12);
        check_near(pose[0] + cos(pose[2]) * low[0] - sin(pose[2]) * low[1], .45 + shift + .025 * sin(t), 1e-12);
        check_near(pose[1] + sin(pose[2]) * low[0] + cos(pose[2]) * low[1], .025 - .025 * cos(t), 1e-12);
    }
    assert_true(f.time > .2);
    core_run_frame_clear(&f);
    core_run_close(&run);
    fluid_scene_clear(&scene);
}

static void the_file_tells(void **state) {
    (void)state;
    fluid_scene scene = scene_of("sand", "", false, .02);
    const fluid_run_def def = fluid_run_default_def();
    fluid_run_report report;
    check_ok(fluid_run(&scene, file("d.h5"), &def, NULL, &report, err));
    core_run_reader *run = NULL;
    core_run_frame f = {0};
    check_ok(core_run_open(file("d.h5"), &run, err));
    const core_run_info *info = core_run_describe(run);
    assert_int_equal(info->count_rows, 10 * 8 * 4);
    assert_int_equal(info->count_types, 4); // colours of the texture
    assert_true(info->count_frames == report.frames && info->count_frames > 4);
    check_ok(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, err));
    check_ok(core_run_frame_add_walls(info->count_walls, &f, err));
    check_ok(core_run_read(run, 0, &f, err));
    for (int i = 0; i < info->count_rows; ++i) // layers by the height at the start
        assert_int_equal(info->species[i], (int)(f.position[2 * i + 1] / .04) % 4);
    assert_true(f.plane_present[0] == 1);
    check_ok(core_run_read(run, info->count_frames - 1, &f, err));
    double kinetic = 0;
    for (int i = 0; i < info->count_rows; ++i)
        kinetic += .5 * info->mass[i] * (pow(f.velocity[2 * i], 2) + pow(f.velocity[2 * i + 1], 2));
    check_near(f.observables[core_run_observable_index(run, "kinetic_energy")], kinetic, 1e-9 * kinetic);
    check_near(report.totals.mass, 1500 * .2 * .16, 1e-9);
    assert_true(f.plane_present[0] == 0); // the gate is gone
    core_run_frame_clear(&f);
    core_run_close(&run);
    fluid_scene_clear(&scene);
}

static void runs_can_be_stopped(void **state) {
    (void)state;
    fluid_scene scene = scene_of("sand", "", false, .2);
    fluid_run_report report;
    const volatile sig_atomic_t asked = 1;
    fluid_run_def def = fluid_run_default_def();
    def.stop = &asked;
    def.checkpoint_path = file("e.checkpoint.h5");
    check_ok(fluid_run(&scene, file("e.h5"), &def, NULL, &report, err));
    assert_true(report.stopped && report.steps == 1);
    assert_int_equal(report.frames, 1); // the start: the next one is the other file's
    assert_true(core_file_exists(file("e.checkpoint.h5")));
    def = fluid_run_default_def();
    check_ok(fluid_checkpoint_open(file("e.checkpoint.h5"), &def.restart, err));
    core_error err = {0};
    assert_int_equal(fluid_run(&scene, file("e.checkpoint.h5"), &def, NULL, NULL, &err), CORE_ARG); // its own input
    core_h5_close(&def.restart);
    fluid_scene_clear(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(restarts_go_on),
                                       cmocka_unit_test(restarts_know_where_motions_ended),
                                       cmocka_unit_test(the_file_tells), cmocka_unit_test(the_file_tells_of_motion),
                                       cmocka_unit_test(runs_can_be_stopped)};
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
