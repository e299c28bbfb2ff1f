/// Scenes of libfluid: a good one field by field, bad ones by the words of their messages, memory.
#include "test_folder.h"

#include "fluid_run.h"
#include "sim_check.h"

static const char good[] = "title: Pile\n"
                           "model: continuum\n"
                           "gravity: [0.5, -9]\n"
                           "grid: {cell: 0.1, region: [0, 0, 2, 1], friction: 0.7}\n"
                           "material: {kind: sand, density: 1400, friction: 0.5, cohesion: 3}\n"
                           "boundaries:\n"
                           "  - {name: gate, friction: 0.2, plane: {point: [1, 0], normal: [-2, 0]}}\n"
                           "  - {name: bowl, circle: {centre: [1, 1], radius: 3}}\n"
                           "  - {name: wall, polyline: {points: [0, 0, 1, 0, 1, 1], thickness: 0.2}}\n"
                           "fill:\n"
                           "  - {box: [0, 0, 0.5, 0.5], velocity: [1, 2]}\n"
                           "  - {circle: {centre: [0.3, 0.8], radius: 0.1}, surface_layer: false}\n"
                           "phases:\n"
                           "  - {name: settle, until: rest, timeout: 3}\n"
                           "  - {name: go, remove: [gate, wall], time: 2}\n"
                           "solver: {sweeps: 7, surface: face}\n"
                           "output: {every: 0.5, texture: checker, texture_size: 0.2}\n"
                           "seed: 4\n";

static void a_good_scene_is_read(void **state) {
    (void)state;
    fluid_scene s;
    check_ok(fluid_scene_read_text(good, "x.yaml", &s, err));
    assert_string_equal(s.title, "Pile");
    check_near(s.def.gravity[0], .5, 0);
    check_near(s.def.h, .1, 0);
    check_near(s.def.region[3], 2, 0);
    check_near(s.def.region[4], 1, 0);
    check_near(s.def.wall_friction, .7, 0);
    check_near(s.def.friction, .5, 0);
    check_near(s.def.cohesion, 3, 0);
    assert_true(s.def.affine && s.def.sweeps == 7 && s.def.surface == FLUID_SURFACE_FACE && isnan(s.def.dt));
    assert_int_equal(s.count_boundaries, 3);
    assert_int_equal(s.count_solids, 4); // the polyline is two bars
    check_near(s.solids[0].normal[0], -1, 0);
    assert_int_equal(s.solids[1].kind, FLUID_SOLID_BOWL);
    check_near(s.solids[3].end[1], 1, 0);
    check_near(s.solids[3].radius, .1, 1e-15);
    assert_int_equal(s.count_fill, 2);
    check_near(s.fill[0].velocity[1], 2, 0);
    assert_true(s.fill[0].surface_layer && !s.fill[1].surface_layer);
    assert_true(s.phases[0].common.until_rest && !s.phases[1].common.until_rest);
    assert_int_equal(s.phases[1].count_remove, 2);
    assert_int_equal(s.phases[1].remove[1], 2);
    assert_true(s.seed == 4 && s.texture == FLUID_TEXTURE_CHECKER);
    fluid_scene_clear(&s);
    fluid_scene_clear(&s); // {0}
}

// A scene with one piece of text put in place of another.
static void refused(const char *from, const char *to, core_status status, const char *word) {
    char text[4096];
    const char *at = strstr(good, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    fluid_scene s;
    core_error err = {0};
    const core_status found = fluid_scene_read_text(text, "x.yaml", &s, &err);
    if (found != status || !strstr(err.message, word))
        fail_msg("%s -> %s: found %s, \"%s\"; expected %s and \"%s\"", from, to, core_status_name(found), err.message,
                 core_status_name(status), word);
}

static void bad_scenes_are_refused(void **state) {
    (void)state;
    refused("cohesion: 3", "cohesin: 3", CORE_FORMAT, "cohesion");
    refused("kind: sand", "kind: mud", CORE_FORMAT, "sand water");
    refused("density: 1400, ", "", CORE_FORMAT, "density");
    refused("sweeps: 7", "sweeps: 0", CORE_RANGE, "sweeps");
    refused("sweeps: 7", "relaxation: .1", CORE_FORMAT, "mode: paper");
    refused("sweeps: 7", "flip: .1", CORE_FORMAT, "transfer: flip");
    refused("friction: 0.5, cohesion: 3", "friction: 0.5, mode: paper", CORE_FORMAT, "mode: unified");
    refused("cohesion: 3", "friction_rise: .2", CORE_FORMAT, "grain_size");
    refused("cohesion: 3", "grain_size: .2", CORE_FORMAT, "friction_rise above 0");
    refused("cohesion: 3", "friction_rise: .2, grain_size: 0", CORE_RANGE, "grain_size");
    refused("normal: [-2, 0]", "normal: [0, 0]", CORE_FORMAT, "length 0");
    refused("points: [0, 0, 1, 0, 1, 1]", "points: [0, 0, 1]", CORE_FORMAT, "two points");
    refused("name: bowl", "name: gate", CORE_FORMAT, "second \"gate\"");
    refused("circle: {centre: [1, 1], radius: 3}", "friction: 1", CORE_FORMAT, "expected one of them");
    refused("box: [0, 0, 0.5, 0.5]", "box: [0, 0, 0, 0.5]", CORE_FORMAT, "x0 < x1");
    refused("remove: [gate, wall]", "remove: [gat]", CORE_FORMAT, "name of a boundary");
    refused("remove: [gate, wall]", "remove: [gate, gate]", CORE_FORMAT, "taken away already");
    refused("name: go", "name: settle", CORE_FORMAT, "second phase");
    refused("name: go", "name: 1.5", CORE_FORMAT, "not a number");
    refused("name: go", "name: \"g,o\"", CORE_FORMAT, "without commas");
    refused("name: go", "name: \"g\\no\"", CORE_FORMAT, "line break");
    refused("name: bowl", "name: \"b\\nl\"", CORE_FORMAT, "line break");
    refused("name: bowl", "name: \"\"", CORE_FORMAT, "empty name");
    refused("remove: [gate, wall], time: 2", "time: 2, until: rest", CORE_FORMAT, "expected one of them");
    refused("remove: [gate, wall], time: 2", "time: 2, timeout: 4", CORE_FORMAT, "until: rest");
    refused("texture: checker, ", "", CORE_FORMAT, "texture");
}

static void memory_may_run_out(void **state) {
    (void)state;
    fluid_scene s;
    for (uint64_t k = 1;; ++k) {
        core_alloc_fail_after(k);
        const core_status status = fluid_scene_read_text(good, "x.yaml", &s, NULL);
        if (status == CORE_OK) break; // the count was not reached
        assert_int_equal(status, CORE_MEMORY);
        assert_true(k < 10000);
    }
    core_alloc_fail_after(0);
    fluid_scene_clear(&s);
}

static void scenes_are_told_apart(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    const char *const texts[] = {"title: a\nmodel: continuum\n", "model: \"continuum\"\n",
                                 "title: a\n  model: continuum\n", "model: grains\n"};
    const bool ours[] = {true, true, false, false};
    snprintf(path, sizeof path, "%s/scene.yaml", test_folder);
    for (int i = 0; i < 4; ++i) {
        check_ok(core_file_write(path, texts[i], strlen(texts[i]), err));
        assert_int_equal(fluid_scene_claims(path, 0, NULL), ours[i]);
    }
    assert_true(fluid_scene_claims(path, 1, (const char *const[]){"model=continuum"}));
    assert_false(fluid_scene_claims("nowhere.yaml", 0, NULL));
    assert_false(fluid_checkpoint_claims(path));
}

// A shape holds material: a bowl drawn for grains is a solid here.
static void shapes_are_read(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    static const char square[] = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))", broken[] = "POLYGON ((0 0, 2";
    static const char scene[] =
        "model: continuum\ngrid: {cell: 0.1, region: [0, 0, 1, 1]}\nmaterial: {kind: water, density: 1}\n"
        "boundaries: [{name: block, shape: {file: s.wkt, position: [0.5, 0.5], radius: 0.2}}]\n"
        "fill: [{box: [0, 0, 1, 0.3]}]\nphases: [{name: a, time: 1}]\n";
    fluid_scene s;
    snprintf(path, sizeof path, "%s/s.wkt", test_folder);
    check_ok(core_file_write(path, square, sizeof square - 1, err));
    char at[TEST_PATH_MAX];
    snprintf(at, sizeof at, "%s/scene.yaml", test_folder);
    check_ok(fluid_scene_read_text(scene, at, &s, err));
    check_near(fluid_solid_distance(&s.solids[0], 2, (const double[2]){.5, .5}), -.2 / sqrt(2), 1e-6);
    assert_true(!s.def.affine && s.def.flip > .9); // water: flip
    fluid_scene_clear(&s);
    check_ok(core_file_write(path, broken, sizeof broken - 1, err));
    assert_int_equal(fluid_scene_read_text(scene, at, &s, NULL), CORE_FORMAT);
}

// Laws of motion: where a polyline turns, tables, what waits for a phase.
static void motions_are_read(void **state) {
    (void)state;
    char at[TEST_PATH_MAX], path[TEST_PATH_MAX], scene[2048];
    static const char table[] = "t,angle\n0,0\n1,2\n", bad[] = "t,angle\n0,0\n0,2\n";
    static const char form[] =
        "model: continuum\ngrid: {cell: 0.1, region: [0, 0, 1, 1]}\nmaterial: {kind: %s, density: 1}\nboundaries:\n"
        "  - {name: arm, polyline: {points: [0, 0.2, 0.4, 0.2, 0.4, 0.6], thickness: 0.2}, motion: {table: t.csv}}\n"
        "  - {name: lid, plane: {point: [0, 0.9], normal: [0, -1]}, motion: {velocity: [0, -1], amplitude_angle: 0.1, "
        "frequency: 3, about: [1, 2]}}\n"
        "  - {name: rest, plane: {point: [0, 0], normal: [0, 1]}}\n"
        "fill: [{box: [0, 0, 1, 0.3]}]\nphases: [{name: a, time: 1}, {name: b, time: 1, %s}]\n";
    fluid_scene s;
    core_error found = {0};
    snprintf(path, sizeof path, "%s/t.csv", test_folder);
    snprintf(at, sizeof at, "%s/scene.yaml", test_folder);
    check_ok(core_file_write(path, table, sizeof table - 1, err));
    snprintf(scene, sizeof scene, form, "sand", "start: [arm], stop: [lid]");
    check_ok(fluid_scene_read_text(scene, at, &s, err));
    for (int k = 0; k < 2; ++k) { // both bars turn about the middle of the box
        check_near(s.solids[k].motion.pivot[0], .2, 1e-15);
        check_near(s.solids[k].motion.pivot[1], .4, 1e-15);
        assert_true(s.solids[k].motion.waits && s.solids[k].motion.count_rows == 2);
        check_near(s.solids[k].motion.table[7], 2, 0);
    }
    assert_true(!s.solids[2].motion.waits && s.phases[1].stop[0] == 1);
    check_near(s.solids[2].motion.pivot[1], 2, 0);
    check_near(s.solids[2].motion.frequency, 3, 0);
    fluid_scene_clear(&s);
    static const struct {
        const char *kind, *phase, *word;
    } list[] = {{"sand, mode: paper", "start: [arm]", "mode: unified"},
                {"sand", "start: [rest]", "has no motion"},
                {"sand", "start: [arm, arm]", "has started already"},
                {"sand", "stop: [lid, lid]", "has stopped already"},
                {"sand", "start: [nobody]", "name of a boundary"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        snprintf(scene, sizeof scene, form, list[i].kind, list[i].phase);
        assert_int_equal(fluid_scene_read_text(scene, at, &s, &found), CORE_FORMAT);
        if (!strstr(found.message, list[i].word)) fail_msg("found \"%s\", expected %s", found.message, list[i].word);
    }
    check_ok(core_file_write(path, bad, sizeof bad - 1, err));
    snprintf(scene, sizeof scene, form, "sand", "start: [arm]");
    assert_int_equal(fluid_scene_read_text(scene, at, &s, &found), CORE_FORMAT);
    assert_non_null(strstr(found.message, "expected times from 0 on that rise"));
    check_ok(core_file_write(path, table, sizeof table - 1, err));
    for (uint64_t k = 1;; ++k) {
        core_alloc_fail_after(k);
        const core_status status = fluid_scene_read_text(scene, at, &s, NULL);
        if (status == CORE_OK) break; // the count was not reached
        assert_int_equal(status, CORE_MEMORY);
        assert_true(k < 10000);
    }
    core_alloc_fail_after(0);
    fluid_scene_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_scene_is_read),  cmocka_unit_test(bad_scenes_are_refused),
        cmocka_unit_test(memory_may_run_out),    cmocka_unit_test(motions_are_read),
        cmocka_unit_test(scenes_are_told_apart), cmocka_unit_test(shapes_are_read),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
