/// Scene reader: boundaries of every kind, motions, servos, periods, cells, mixtures, spreads, pours, outlets, poses,
/// starts and phases - what they mean, and what is refused with which message.
#include "test_folder.h"

#include "sim_check.h"
#include "sim.h"

// A good scene; a test replaces or adds lines. Line numbers in messages count from here.
static const char head[] =
    "types: {sq: {shape: sq.wkt, radius: 0.5, density: 2000}, spread: {shape: sq.wkt, radii: [0.1, "
    "0.4], sizes: 3, density: 1000}}\n"
    "contact: {default: {kn: 1.0e5, restitution: 0.5, mu: 0.4}}\n";
static const char tail[] = "fill: [{type: sq, count: 1, region: [0, 0, 2, 2]}]\nphases: [{name: run, time: 1}]\n";

static const char *write_text(char path[TEST_PATH_MAX], const char *first, const char *middle, const char *last) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", first, middle, last);
    return test_folder_write(path, "s.yaml", text);
}

static void read_text(const char *middle, const char *last, sim_scene *scene) {
    char path[TEST_PATH_MAX];
    check_ok(sim_scene_read(write_text(path, head, middle, last ? last : tail), 0, NULL, scene, err));
}

// Refused with a message behind the scene's path.
static void expect(const char *middle, const char *last, const char *message) {
    char path[TEST_PATH_MAX], expected[TEST_PATH_MAX + 1024];
    core_error cause = {0};
    sim_scene scene = {0};
    const core_status status =
        sim_scene_read(write_text(path, head, middle, last ? last : tail), 0, NULL, &scene, &cause);
    snprintf(expected, sizeof expected, "%s:%s", path, message);
    if (!strstr(cause.message, expected) || status == CORE_OK)
        fail_msg("found \"%s\", expected \"%s\"", cause.message, expected);
}

static int make_folder(void **state) {
    char path[TEST_PATH_MAX];
    if (test_folder_make(state) != 0) return -1;
    test_folder_write(path, "sq.wkt", "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))\n");
    test_folder_write(path, "table.csv", "t, x, angle\n0,1,2\n\n0.5 , 3, -4\r\n");
    test_folder_write(path, "late.csv", "t,x\n0,1\n0,2\n");
    test_folder_write(path, "times.csv", "t\n0\n1\n");
    test_folder_write(path, "word.csv", "t,x\n0,1\n1,two\n");
    test_folder_write(path, "poses.csv", "y,type,x,omega\n1,sq,2,3\n4,spread~2,5,6\n");
    test_folder_write(path, "ids.csv", "id,type,x,y,angle\n7,sq,2,3,0.5\n"); // as simstat --poses writes it
    test_folder_write(path, "noid.csv", "id,type,x,y\nseven,sq,2,3\n");
    test_folder_write(path, "who.csv", "type,x,y\nsq,0,0\ncube,1,1\n");
    return 0;
}

static void boundaries_of_every_kind(void **state) {
    (void)state;
    sim_scene s = {0};
    read_text(
        "boundaries:\n"
        "  - {name: drum, circle: {centre: [1, 2], radius: 3}, motion: {rotation: 2, about: [4, 5]}}\n"
        "  - {name: stone, grain: {type: sq, position: [6, 7], angle: 0.5}, motion: {velocity: [1, 2], frequency: 3, "
        "amplitude: [4, 5], amplitude_angle: 6, phase: 7}}\n"
        "  - {name: chute, polyline: {points: [0, 1, 2, 3, 4, 5], thickness: 0.1}, motion: {table: table.csv}}\n"
        "  - {name: lid, plane: {point: [0, 9], normal: [0, -2]}, servo: {pressure: 5, across: [side, lid], mass: 3}}\n"
        "  - {name: side, plane: {point: [8, 0], normal: [-1, 0]}, servo: {pressure: 6, length: 7, damping: 0}, "
        "motion: {velocity: [1, 0]}}\n"
        "cell: {x: [side, side], y: [lid, lid]}\n",
        "fill: [{type: sq, count: 1, region: [0, 0, 2, 2]}]\n"
        "phases:\n  - {name: a, time: 1, start: [side, drum]}\n  - {name: b, time: 1, stop: [drum], remove: [stone, "
        "chute]}\n",
        &s);
    assert_int_equal(s.count_boundaries, 4);
    assert_int_equal(s.count_bodies, 1);
    const sim_boundary_def *drum = &s.boundaries[0], *chute = &s.boundaries[1], *lid = &s.boundaries[2],
                           *side = &s.boundaries[3];
    assert_true(drum->kind == SIM_BOUNDARY_CIRCLE && drum->centre[1] == 2 && drum->radius == 3 &&
                drum->motion.rotation == 2);
    assert_true(drum->motion.pivot[0] == 4 && drum->motion.pivot[1] == 5 && drum->motion.waits);
    assert_true(chute->kind == SIM_BOUNDARY_POLYLINE && chute->count_points == 3 && chute->points[5] == 5 &&
                chute->thickness == 0.1);
    assert_true(chute->motion.count_rows == 2 && chute->motion.table[4] == 0.5 && chute->motion.table[5] == 3 &&
                chute->motion.table[6] == 0 && chute->motion.table[7] == -4);
    assert_true(isnan(chute->motion.pivot[0]) && !chute->motion.waits);
    assert_true(lid->servo.pressure == 5 && isnan(lid->servo.length) && lid->servo.across[0] == 3 &&
                lid->servo.across[1] == 2);
    assert_true(lid->servo.mass == 3 && isnan(lid->servo.damping) && !lid->servo.until_motion);
    assert_true(side->servo.length == 7 && isnan(side->servo.mass) && side->servo.damping == 0 &&
                side->servo.until_motion);
    const sim_body_def *stone = &s.bodies[0];
    assert_true(stone->type == 0 && stone->position[1] == 7 && stone->angle == 0.5 && stone->motion.velocity[1] == 2);
    assert_true(stone->motion.frequency == 3 && stone->motion.amplitude[1] == 5 && stone->motion.amplitude_angle == 6 &&
                stone->motion.phase == 7);
    assert_true(s.cell[0] == 3 && s.cell[2] == 2);
    assert_true(s.phases[0].count_start == 2 && s.phases[0].start[0] == 3 && s.phases[0].start[1] == 0);
    assert_true(s.phases[1].count_stop == 1 && s.phases[1].count_remove == 2 && s.phases[1].remove[0] == 4 &&
                s.phases[1].remove[1] == 1);
    sim_scene_clear(&s);
    read_text("periodic: {x: [-1, 2]}\nboundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]\n", NULL,
              &s);
    assert_true(s.period[0] == -1 && s.period[1] == 2 && s.cell[0] == -1);
    sim_scene_clear(&s);
}

static void grains_of_every_kind(void **state) {
    (void)state;
    sim_scene s = {0};
    read_text(
        "",
        "fill: [{types: [sq, spread], weights: [1, 3], count: 4, region: [0, 0, 2, 2]}]\n"
        "place: [{type: spread~1, position: [9, 9]}]\nposes: [{file: poses.csv}, {file: ids.csv}]\n"
        "pour:\n  - {name: rain, type: spread, count: 5, rate: 6, region: [0, 0, 1, 1], velocity: [0, -7], time: 8}\n"
        "outlets:\n  - {name: hole, region: [0, 1, 2, 3]}\n  - {name: end, line: {point: [0, -4], normal: [0, 2]}}\n"
        "phases: [{name: run, time: 1, start: [rain, end]}]\n",
        &s);
    // a spread: geometric radii, one family
    assert_int_equal(s.count_types, 4);
    assert_string_equal(s.types[2].name, "spread~2");
    assert_string_equal(s.types[2].family, "spread");
    check_near(s.types[1].radius, .1, 0);
    check_near(s.types[2].radius, .2, 1e-15);
    check_near(s.types[3].radius, .4, 1e-15);
    assert_int_equal(s.types[1].shape.hash, s.types[3].shape.hash);
    assert_true(s.fill[0].mix.count == 4 && s.fill[0].mix.types[3] == 3 && s.fill[0].mix.weights[0] == 1);
    check_near(s.fill[0].mix.weights[2], 1, 1e-15);
    assert_int_equal(s.count_place, 4);
    assert_true(s.place[0].type == 1 && s.place[1].type == 0 && s.place[1].position[0] == 2 &&
                s.place[1].position[1] == 1);
    assert_true(s.place[1].angular_velocity == 3 && s.place[1].angle == 0 && s.place[2].type == 2);
    assert_true(s.place[3].type == 0 && s.place[3].position[0] == 2 && s.place[3].angle == .5); // ids passed over
    assert_true(s.pours[0].count == 5 && s.pours[0].rate == 6 && s.pours[0].velocity[1] == -7 &&
                s.pours[0].duration == 8 && s.pours[0].waits);
    assert_true(s.pours[0].mix.count == 3);
    assert_true(!s.outlets[0].is_line && s.outlets[0].region[3] == 3 && !s.outlets[0].waits);
    assert_true(s.outlets[1].is_line && s.outlets[1].normal[1] == 1 && s.outlets[1].offset == -4 && s.outlets[1].waits);
    sim_scene_clear(&s);
    read_text("start: {from: old.h5, time: 3}\n", "phases: [{name: run, time: 1}]\n", &s);
    assert_true(s.start_time == 3 && strstr(s.start_path, "old.h5"));
    sim_scene_clear(&s);
}

static void mixtures_are_drawn_by_weight(void **state) {
    (void)state;
    int types[4] = {5, 4, 6, 7}, count[8] = {0};
    double weights[4] = {1, 0, 2, 1};
    const sim_mix mix = {4, types, weights};
    core_random r;
    core_random_init(&r, 1, 0);
    for (int i = 0; i < 40000; i++) count[sim_mix_draw(&mix, &r)]++;
    assert_int_equal(count[4], 0);
    check_near(count[5] / 40000., .25, .01); // 4.6 standard deviations
    check_near(count[6] / 40000., .5, .01);
    assert_int_equal(count[5] + count[6] + count[7], 40000);
}

static void stiffness_from_the_weight(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    sim_scene s = {0};
    // 10 squares of 1000 kg (side sqrt(2) R) over 4 m at 10 m/s^2: 8 x 25000 Pa/.02
    check_ok(sim_scene_read(write_text(path,
                                       "types: {sq: {shape: sq.wkt, radius: 0.5, density: 2000}}\ngravity: [0, -10]\n"
                                       "contact: {default: {kn: auto, restitution: 0.5, mu: 0.4}, penetration: 0.02}\n",
                                       "fill: [{type: sq, count: 10, region: [0, 0, 4, 9]}]\n",
                                       "phases: [{name: run, time: 1}]\n"),
                            0, NULL, &s, err));
    check_near(s.kn_auto, 8 * 25000 / .02, 1e-6);
    check_near(s.law[0].kn, s.kn_auto, 0);
    check_near(s.law[0].kt, 2. / 3 * s.kn_auto, 1e-6);
    check_near(s.deepest, 0, 0);
    sim_scene_clear(&s);
    // an impact at v of 1000 kg stops within .01 m: k = m (v/.01 m)^2, where that is more
    check_ok(sim_scene_read(path, 1, (const char *[]){"contact.speed=2"}, &s, err));
    check_near(s.kn_auto, 1000 * 200. * 200, 1e-6);
    sim_scene_clear(&s);
    check_ok(sim_scene_read(path, 2, (const char *[]){"contact.speed=1", "contact.deepest=0.05"}, &s, err));
    check_near(s.kn_auto, 8 * 25000 / .02, 1e-6);
    check_near(s.deepest, .05, 0);
    sim_scene_clear(&s);
    core_error cause = {0};
    const char *const weightless[] = {"gravity=[0, 0]"};
    assert_int_equal(sim_scene_read(path, 1, weightless, &s, &cause), CORE_FORMAT);
    assert_non_null(strstr(cause.message, "contact.default.kn: auto gives 0 N/m from 10000 kg over 4 m at 0 m/s^2"));
}

/// What a scene says of what it refuses: parts of the middle and of the end (NULL: the usual one).
static const struct {
    const char *middle, *last, *message;
} refused[] = {
    {"boundaries: [{name: a, circle: {centre: [0, 0], radius: 1}, plane: {point: [0, 0], normal: [0, 1]}}]\n", NULL,
     "3: boundaries[0].circle: given together with plane; expected one of them"},
    {"boundaries: [{name: a, polyline: {points: [0, 0, 1], thickness: 1}}]\n", NULL,
     "3: boundaries[0].polyline.points: found 3 numbers, expected [x0, y0, x1, y1, ...] of 2 or more points"},
    {"boundaries: [{name: a, polyline: {points: [0, 0, 1, 1, 1, 1], thickness: 1}}]\n", NULL,
     "3: boundaries[0].polyline.points: points 2 and 3 are the same"},
    {"boundaries: [{name: a, grain: {type: qs, position: [0, 0]}}]\n", NULL,
     "3: boundaries[0].grain.type: unknown grain type \"qs\""},
    {"boundaries: [{name: sq, circle: {centre: [0, 0], radius: 1}}]\n", NULL,
     "3: boundaries[0].name: \"sq\" is a grain type already"},
    {"boundaries: [{name: spread, circle: {centre: [0, 0], radius: 1}}]\n", NULL,
     "3: boundaries[0].name: \"spread\" is a grain type"},
    {"boundaries: [{name: a, circle: {centre: [0, 0], radius: 1}, servo: {pressure: 1, length: 1}}]\n", NULL,
     "3: boundaries[0].servo: of a circle; expected a plane"},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, servo: {pressure: 1}}]\n", NULL,
     "3: boundaries[0].servo: neither length nor across"},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, servo: {pressure: 1, length: 1}, motion: "
     "{rotation: 1}}]\n",
     NULL, "3: boundaries: \"a\" has a servo and a motion; expected a phase that starts"},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, servo: {pressure: 1, across: [a, b]}}]\n", NULL,
     "3: boundaries[0].servo.across[1]: unknown boundary \"b\""},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: none.csv}}]\n", NULL,
     "3: boundaries[0].motion.table: "},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: late.csv}}]\n", NULL,
     "3: boundaries[0].motion.table: "},
    {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}}]\ncell: {x: [a], y: [a, a]}\n", NULL,
     "4: cell.x: found 1 names"},
    {"periodic: {x: [1, 0]}\n", NULL, "3: periodic.x: found [1, 0]"},
    {"periodic: {x: [0, 9]}\nboundaries: [{name: w, plane: {point: [0, 0], normal: [1, 0]}}]\n", NULL,
     "3: periodic.x: the plane \"w\" is not level"},
    {"periodic: {x: [0, 1]}\n", NULL, "4: fill[0].region: reaches from x = 0 to 2, beyond periodic.x [0, 1]"},
    {"pour: [{name: a, type: sq, count: 1, rate: 1, region: [0, 0, 0.5, 9]}]\n", NULL,
     "3: pour[0].region: a grain of type sq needs 1 m each way"},
    {"outlets: [{name: a}]\n", NULL, "3: outlets[0]: neither region nor line"},
    {"outlets: [{name: a/b, region: [0, 0, 1, 1]}]\n", NULL, "3: outlets[0].name: found \"a/b\""},
    {"outlets: [{name: a, region: [0, 0, 1, 1]}, {name: a, region: [0, 0, 1, 1]}]\n", NULL,
     "3: outlets[1].name: a second outlet \"a\""},
    {"poses: [{file: who.csv}]\n", NULL, "3: poses[0].file: "},
    {"", "fill: [{count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1}]\n",
     "3: fill[0]: neither type nor types"},
    {"", "fill: [{type: sq, types: [sq], count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1}]\n",
     "3: fill[0].types: given together"},
    {"", "fill: [{types: [sq], weights: [1, 2], count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1}]\n",
     "3: fill[0].weights: found 2 weights, expected one for each of the 1 types"},
    {"", "fill: [{types: [sq], weights: [0], count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1}]\n",
     "3: fill[0].weights: found a sum of 0"},
    {"", "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1}, {name: a, time: 1}]\n",
     "4: phases[1].name: a second phase \"a\"; expected another name"},
    {"", "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: \"a,b\", time: 1}]\n",
     "4: phases[0].name: found \"a,b\""},
    {"", "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: \"1e3\", time: 1}]\n",
     "4: phases[0].name: found \"1e3\""},
    {"", "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\nphases: [{name: a, time: 1, start: [sq]}]\n",
     "4: phases[0].start[0]: unknown boundary, pour or outlet \"sq\"; known: none"},
    {"outlets: [{name: o, region: [0, 0, 1, 1]}]\n",
     "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\n"
     "phases: [{name: a, time: 1, start: [o]}, {name: b, time: 1, start: [o]}]\n",
     "5: phases[1].start[0]: \"o\" has started already"},
    {"outlets: [{name: o, region: [0, 0, 1, 1]}]\n",
     "fill: [{type: sq, count: 1, region: [0, 0, 1, 1]}]\n"
     "phases: [{name: a, time: 1, stop: [o]}, {name: b, time: 1, stop: [o]}]\n",
     "5: phases[1].stop[0]: \"o\" has stopped already"},
    {"dt_force: yes\n", NULL, "3: dt_force: found \"yes\", expected one of the words: true false"},
};

static void refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        expect(refused[i].middle, refused[i].last, refused[i].message);
}

/// The part behind the path of a file.
static void refused_files(void **state) {
    (void)state;
    core_error cause = {0};
    char path[TEST_PATH_MAX];
    sim_scene s = {0};
    const struct {
        const char *middle, *part;
    } files[] = {
        {"poses: [{file: who.csv}]\n", "who.csv:3: column type: unknown grain type \"cube\""},
        {"poses: [{file: noid.csv}]\n", "noid.csv:2: column id: found \"seven\""},
        {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: late.csv}}]\n",
         "late.csv:3: column t: found 0, expected times"},
        {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: word.csv}}]\n",
         "word.csv:3: column x"},
        {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: times.csv}}]\n",
         "times.csv:1: found times alone, expected a column x, y or angle"},
        {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: /dev/zero}}]\n",
         "/dev/zero: is a device, expected a file"},
        {"boundaries: [{name: a, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: poses.csv}}]\n",
         "poses.csv:1: column 2: found \"type\", expected one of t,x,y,angle"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(sim_scene_read(write_text(path, head, files[i].middle, tail), 0, NULL, &s, &cause) != CORE_OK);
        if (!strstr(cause.message, files[i].part))
            fail_msg("found \"%s\", expected \"%s\" in it", cause.message, files[i].part);
    }
}

static void refused_types(void **state) {
    (void)state;
    core_error cause = {0};
    char path[TEST_PATH_MAX];
    sim_scene s = {0};
    static const struct {
        const char *types, *message;
    } types[] = {
        {"{shape: sq.wkt, density: 1}", "1: types.a: neither radius nor radii"},
        {"{shape: sq.wkt, density: 1, radius: 1, radii: [1, 2]}", "1: types.a.radii: given together with radius"},
        {"{shape: sq.wkt, density: 1, radius: 1, sizes: 3}", "1: types.a.sizes: used with radius"},
        {"{shape: sq.wkt, density: 1, radii: [2, 1]}", "1: types.a.radii: found [2, 1]"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char first[512];
        snprintf(first, sizeof first, "types: {a: %s}\ncontact: {default: {kn: 1.0e5, restitution: 0.5, mu: 0.4}}\n",
                 types[i].types);
        assert_true(sim_scene_read(write_text(path, first, "", tail), 0, NULL, &s, &cause) != CORE_OK);
        if (!strstr(cause.message, types[i].message))
            fail_msg("found \"%s\", expected \"%s\" in it", cause.message, types[i].message);
    }
}

static void memory_failures(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    write_text(
        path, head,
        "boundaries:\n  - {name: p, polyline: {points: [0, 0, 1, 1], thickness: 1}, motion: {table: table.csv}}\n"
        "  - {name: g, grain: {type: sq, position: [0, 0]}, motion: {table: table.csv}}\n"
        "pour: [{name: r, type: spread, count: 1, rate: 1, region: [0, 0, 1, 1]}]\noutlets: [{name: o, region: [0, 0, "
        "1, 1]}]\n"
        "poses: [{file: poses.csv}]\nstart: {from: x.h5}\n",
        tail);
    for (uint64_t k = 1;; k++) {
        core_error cause = {0};
        sim_scene s = {0};
        core_alloc_fail_after(k);
        const core_status status = sim_scene_read(path, 0, NULL, &s, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            sim_scene_clear(&s);
            assert_true(k > 30);
            return;
        }
        if (status != CORE_MEMORY) fail_msg("allocation %llu: %s", (unsigned long long)k, cause.message);
        assert_null(s.types);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries_of_every_kind),
        cmocka_unit_test(grains_of_every_kind),
        cmocka_unit_test(mixtures_are_drawn_by_weight),
        cmocka_unit_test(stiffness_from_the_weight),
        cmocka_unit_test(refusals),
        cmocka_unit_test(refused_files),
        cmocka_unit_test(refused_types),
        cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, make_folder, test_folder_remove);
}
