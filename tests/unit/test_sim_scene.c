/// Scene reader: what a scene means, the law table, and every refused scene with its message.
#include "test_folder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim.h"

// Parts of a good scene; a test replaces one of them. Line numbers in messages count from here.
static const char *const good_types =
    "types:\n  sq: {shape: sq.wkt, radius: 0.5, density: 2000}\n  tri: {shape: tri.wkt, radius: 0.1, density: 1000}\n";
static const char *const good_contact = "contact:\n  default: {kn: 1.0e5, restitution: 0.5, mu: 0.4}\n";
static const char *const good_bounds = "boundaries:\n  - {name: floor, plane: {point: [0, 1], normal: [0, 2]}}\n"
                                       "  - {name: gate, plane: {point: [4, 0], normal: [-3, 4]}}\n";
static const char *const good_fill = "fill: [{type: tri, count: 7, region: [0, 1, 2, 3]}]\n";
static const char *const good_phases =
    "phases:\n  - {name: settle, until: rest}\n  - {name: run, remove: [gate], time: 2}\n";

/// A scene of six parts; NULL: the good one.
typedef struct parts {
    const char *types, *contact, *bounds, *fill, *phases, *rest;
} parts;

static const char *write_scene(char path[TEST_PATH_MAX], const parts *p) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", p->types ? p->types : good_types,
             p->contact ? p->contact : good_contact, p->bounds ? p->bounds : good_bounds, p->fill ? p->fill : good_fill,
             p->phases ? p->phases : good_phases, p->rest ? p->rest : "");
    return test_folder_write(path, "s.yaml", text);
}

static void read_good(const parts *p, sim_scene *scene) {
    char path[TEST_PATH_MAX];
    core_error err = {0};
    if (sim_scene_read(write_scene(path, p), 0, NULL, scene, &err) != CORE_OK) fail_msg("%s", err.message);
}

/// Refused with this status and, behind the scene's path, this message.
static void expect_refused(const parts *p, core_status code, const char *message) {
    char path[TEST_PATH_MAX], expected[TEST_PATH_MAX + 1024];
    core_error err = {0};
    sim_scene scene = {.seed = 77};
    core_status status = sim_scene_read(write_scene(path, p), 0, NULL, &scene, &err);
    snprintf(expected, sizeof expected, "%s:%s", path, message);
    assert_string_equal(err.message, expected);
    assert_int_equal(status, code);
    assert_int_equal(err.code, code);
    assert_true(scene.seed == 77 && !scene.types); // untouched
}

static int make_folder(void **state) {
    char path[TEST_PATH_MAX];
    if (test_folder_make(state) != 0) return -1;
    test_folder_write(path, "sq.wkt", "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))\n");
    test_folder_write(path, "tri.wkt", "POLYGON ((0 0, 3 0, 0 4, 0 0))\n");
    test_folder_write(path, "empty.wkt", "");
    return 0;
}

// ---------------------------------------------------------------------------------------------- meaning

static void scene_values(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    sim_scene s = {0};
    const parts p = {
        .rest =
            "title: A heap\ngravity: [1, -2]\nplace:\n  - {type: sq, position: [1, 2], angle: 0.5, velocity: [3, 4], "
            "angular_velocity: 5}\n  - {type: tri, position: [6, 7]}\nnarrow_phase: minimiser\nsolver: penalty\n"
            "maps: m.h5\nsmoothing: 0.002\ndt: 1e-5\noutput: {every: 0.5}\nseed: 9007199254740991\n"};
    read_good(&p, &s);
    assert_string_equal(s.title, "A heap");
    assert_string_equal(s.path, test_folder_path(path, "s.yaml"));
    assert_true(s.gravity[0] == 1 && s.gravity[1] == -2);
    assert_int_equal(s.count_types, 2);
    assert_string_equal(s.types[0].name, "sq");
    assert_string_equal(s.types[1].name, "tri");
    assert_string_equal(s.types[0].shape.name, "sq");
    assert_string_equal(s.types[0].shape_path, test_folder_path(path, "sq.wkt"));
    assert_true(s.types[0].radius == 0.5 && s.types[0].density == 2000);
    assert_true(fabs(s.types[0].shape.area - 2) < 1e-12); // unit circumradius: side sqrt 2
    assert_int_equal(s.count_boundaries, 2);
    assert_string_equal(s.boundaries[1].name, "gate");
    assert_true(s.boundaries[0].normal[0] == 0 && s.boundaries[0].normal[1] == 1 && s.boundaries[0].offset == 1);
    assert_true(fabs(s.boundaries[1].normal[0] + 0.6) < 1e-15 && fabs(s.boundaries[1].normal[1] - 0.8) < 1e-15);
    assert_true(fabs(s.boundaries[1].offset + 2.4) < 1e-15);
    assert_true(s.boundaries[0].present && s.boundaries[1].present);
    assert_int_equal(s.count_fill, 1);
    assert_true(s.fill[0].mix.count == 1 && s.fill[0].mix.types[0] == 1 && s.fill[0].count == 7 &&
                s.fill[0].region[0] == 0 && s.fill[0].region[3] == 3);
    assert_int_equal(s.count_place, 2);
    const sim_place_def *a = &s.place[0], *b = &s.place[1];
    assert_true(a->type == 0 && a->position[0] == 1 && a->position[1] == 2 && a->angle == 0.5 && a->velocity[0] == 3);
    assert_true(a->velocity[1] == 4 && a->angular_velocity == 5);
    assert_true(b->type == 1 && b->position[1] == 7 && b->angle == 0 && b->velocity[0] == 0 &&
                b->angular_velocity == 0);
    assert_int_equal(s.count_phases, 2);
    assert_true(s.phases[0].common.until_rest && s.phases[0].common.timeout == 60 && !s.phases[0].common.continue_on_timeout);
    assert_true(!s.phases[1].common.until_rest && s.phases[1].common.time == 2 && s.phases[1].count_remove == 1 &&
                s.phases[1].remove[0] == 1);
    assert_string_equal(s.phases[1].common.name, "run");
    assert_int_equal(s.back_end, SIM_MINIMISER);
    assert_string_equal(s.maps_path, test_folder_path(path, "m.h5"));
    assert_true(s.smoothing == 0.002 && s.dt == 1e-5 && s.output_every == 0.5 && s.seed == 9007199254740991u);
    sim_scene_clear(&s);
    sim_scene_clear(&s);
    sim_scene_clear(NULL);
}

static void scene_defaults(void **state) {
    (void)state;
    sim_scene s = {0};
    const parts p = {
        .phases =
            "phases: [{name: a, until: rest, timeout: 5, on_timeout: continue}, {name: b, until: rest, on_timeout: "
            "stop}]\n",
        .bounds = ""};
    read_good(&p, &s);
    assert_string_equal(s.title, "untitled");
    assert_true(s.gravity[0] == 0 && s.gravity[1] == -9.81);
    assert_int_equal(s.count_boundaries, 0);
    assert_int_equal(s.back_end, SIM_NEURAL);
    assert_null(s.maps_path);
    assert_true(s.smoothing == 0.001 && isnan(s.dt) && s.output_every == 0.02 && s.seed == 1);
    assert_true(s.phases[0].common.timeout == 5 && s.phases[0].common.continue_on_timeout && !s.phases[1].common.continue_on_timeout);
    sim_scene_clear(&s);
}

static const sim_contact_law *law_of(const sim_scene *s, int type, int partner) {
    return &s->law[type * (s->count_types + s->count_boundaries) + partner];
}

static void contact_laws(void **state) {
    (void)state;
    sim_scene s = {0};
    double zeta = 0, zeta_pair = 0;
    core_error err = {0};
    const parts p = {.contact = "contact:\n  default: {kn: 3.0e5, restitution: 0.5, mu: 0.4}\n  pairs:\n"
                                "    - {a: floor, b: tri, mu: 0.7}\n    - {a: tri, b: sq, kn: 600, restitution: 0.9}\n"
                                "    - {a: sq, b: sq, gamma_n: 5}\n    - {a: sq, b: gate, gamma_t: 2, kt: 7}\n"};
    read_good(&p, &s);
    assert_int_equal(sim_zeta_of_restitution(0.5, &zeta, &err), CORE_OK);
    assert_int_equal(sim_zeta_of_restitution(0.9, &zeta_pair, &err), CORE_OK);
    assert_true(zeta > 0 && zeta_pair < zeta);
    assert_true(s.restitution_default == 0.5);
    const sim_contact_law *l = law_of(&s, 1, 1); // tri-tri: the default
    assert_true(l->kn == 3e5 && l->kt == 2.0 / 3.0 * 3e5 && isnan(l->gamma_n) && isnan(l->gamma_t) && l->zeta == zeta &&
                l->mu == 0.4);
    l = law_of(&s, 1, 2); // tri-floor: one field over the default, written the other way round
    assert_true(l->mu == 0.7 && l->kn == 3e5 && l->zeta == zeta && isnan(l->gamma_n));
    for (int k = 0; k < 2; k++) { // both orders of types
        l = law_of(&s, k, 1 - k);
        assert_true(l->kn == 600 && fabs(l->kt - 400) < 1e-9 && l->zeta == zeta_pair && l->mu == 0.4);
    }
    l = law_of(&s, 0, 0); // gamma_n replaces restitution; gamma_t of the same ratio
    assert_true(l->gamma_n == 5 && l->zeta == 0 && fabs(l->gamma_t - 5 * sqrt(2.0 / 3.0)) < 1e-12);
    l = law_of(&s, 0, 3);
    assert_true(l->kt == 7 && l->gamma_t == 2 && isnan(l->gamma_n) && l->zeta == zeta);
    l = law_of(&s, 0, 2);
    assert_true(l->mu == 0.4 && l->kt == 2.0 / 3.0 * 3e5);
    sim_scene_clear(&s);
    const parts damped = {.contact = "contact:\n  default: {kn: 100, kt: 25, gamma_n: 4, mu: 0}\n"
                                     "  pairs: [{a: sq, b: tri, restitution: 0.9}]\n"};
    read_good(&damped, &s);
    assert_true(isnan(s.restitution_default));
    l = law_of(&s, 1, 1);
    assert_true(l->kt == 25 && l->gamma_n == 4 && l->gamma_t == 2 && l->mu == 0);
    l = law_of(&s, 1, 0); // restitution replaces gamma_n
    assert_true(isnan(l->gamma_n) && isnan(l->gamma_t) && l->zeta == zeta_pair && l->kt == 25);
    sim_scene_clear(&s);
}

/// Overrides act, and the stored text reproduces the scene.
static void overrides_and_text(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    sim_scene s = {0}, again = {0};
    static const char *const overrides[] = {"contact.default.mu=0.25", "phases[1].time=3", "fill[0].count=9",
                                            "types.sq.radius=0.25"};
    const parts p = {0};
    write_scene(path, &p);
    if (sim_scene_read(path, 4, overrides, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_true(law_of(&s, 0, 0)->mu == 0.25 && s.phases[1].common.time == 3 && s.fill[0].count == 9 &&
                s.types[0].radius == 0.25);
    test_folder_write(path, "again.yaml", s.text);
    if (sim_scene_read(path, 0, NULL, &again, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_string_equal(again.text, s.text);
    assert_true(again.fill[0].count == 9 && law_of(&again, 1, 3)->mu == 0.25);
    sim_scene_clear(&again);
    sim_scene_clear(&s);
    static const char *const bad[] = {"fill[0].type=cube"};
    write_scene(path, &p);
    assert_int_equal(sim_scene_read(path, 1, bad, &s, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "s.yaml: --set fill[0].type: unknown grain type \"cube\"; known: sq, tri"));
}

// ---------------------------------------------------------------------------------------------- refused scenes

static void refused_types(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], message[3 * TEST_PATH_MAX], path_empty[TEST_PATH_MAX];
    expect_refused(&(parts){.types = "types: {}\n"}, CORE_FORMAT, "1: types: 0 grain types; expected 1 to 256");
    expect_refused(&(parts){.types = "types: {\"\": {shape: sq.wkt, radius: 1, density: 1}}\n"}, CORE_FORMAT,
                   "1: types: an empty name; expected a word");
    expect_refused(
        &(parts){.types = "types: {0123456789012345678901234567890123456789012345678901234567890123: {shape: sq.wkt, "
                          "radius: 1, density: 1}}\n"},
        CORE_FORMAT, "1: types.0123456789012345678901234567890123456789: a name of 64 bytes; expected at most 63");
    expect_refused(&(parts){.types = "types: {\"a\\nb\": {shape: sq.wkt, radius: 1, density: 1}}\n"}, CORE_FORMAT,
                   "1: types.a b: a name with a line break; expected one line");
    expect_refused(&(parts){.types = "types:\n  sq: {shape: sq.wkt, radius: 0, density: 1}\n"}, CORE_RANGE,
                   "2: types.sq.radius: found \"0\", expected a number above 0 (m)");
    expect_refused(&(parts){.types = "types:\n  sq: {shape: sq.wkt, radius: 1e200, density: 1}\n"}, CORE_FORMAT,
                   "2: types.sq: radius 1e+200 m and density 1 kg/m^3 give a mass of inf kg and a moment of inertia of "
                   "inf kg m^2");
    expect_refused(&(parts){.types = "types:\n  sq: {shape: sq.wkt, radius: 1}\n"}, CORE_FORMAT,
                   "2: types.sq: key \"density\" is missing; expected a number above 0 (kg/m^3)");
    // Shape files: the scene's line, then the file's own complaint.
    core_error err = {0};
    sim_scene s = {0};
    const parts none = {.types = "types:\n  sq:\n    shape: none.wkt\n    radius: 1\n    density: 1\n"};
    assert_int_equal(sim_scene_read(write_scene(path, &none), 0, NULL, &s, &err), CORE_IO);
    snprintf(message, sizeof message, "%s:3: types.sq.shape: %s", path, test_folder_path(path_empty, "none.wkt"));
    assert_memory_equal(err.message, message, strlen(message));
    const parts empty = {.types = "types:\n  sq: {shape: empty.wkt, radius: 1, density: 1}\n"};
    assert_true(sim_scene_read(write_scene(path, &empty), 0, NULL, &s, &err) != CORE_OK);
    snprintf(message, sizeof message, "%s:2: types.sq.shape: %s", path, test_folder_path(path_empty, "empty.wkt"));
    assert_memory_equal(err.message, message, strlen(message));
}

/// Two shapes of one name cannot both be found in a bundle; one shape twice can.
static void shape_names(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    test_folder_write(path, "sq.geojson",
                      "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[2,0],[2,1],[0,1],[0,0]]]}\n");
    expect_refused(
        &(parts){.types = "types:\n  tri: {shape: sq.wkt, radius: 1, density: 1}\n"
                          "  b: {shape: sq.geojson, radius: 1, density: 1}\n"},
        CORE_FORMAT,
        "3: types.b.shape: shape \"sq\" differs from the shape of that name of type tri; rename one of the files");
    sim_scene s = {0};
    read_good(
        &(parts){
            .types =
                "types:\n  tri: {shape: sq.wkt, radius: 1, density: 1}\n  b: {shape: sq.wkt, radius: 2, density: 1}\n"},
        &s);
    assert_int_equal(s.types[0].shape.hash, s.types[1].shape.hash);
    sim_scene_clear(&s);
}

static void refused_boundaries(void **state) {
    (void)state;
    expect_refused(&(parts){.bounds = "boundaries:\n  - {name: floor, plane: {point: [0, 0], normal: [0, 0]}}\n"},
                   CORE_FORMAT, "7: boundaries[0].plane.normal: found [0, 0], expected a vector with a length");
    expect_refused(&(parts){.bounds = "boundaries:\n  - {name: sq, plane: {point: [0, 0], normal: [0, 1]}}\n"},
                   CORE_FORMAT, "7: boundaries[0].name: \"sq\" is a grain type already; expected another name");
    expect_refused(&(parts){.bounds = "boundaries:\n  - {name: a, plane: {point: [0, 0], normal: [0, 1]}}\n"
                                      "  - {name: a, plane: {point: [0, 0], normal: [0, 1]}}\n"},
                   CORE_FORMAT, "8: boundaries[1].name: a second boundary \"a\"; expected another name");
    expect_refused(&(parts){.bounds = "boundaries:\n  - {name: a}\n"}, CORE_FORMAT,
                   "7: boundaries[0]: no geometry; expected one of the keys plane, circle, polyline, grain");
    expect_refused(&(parts){.bounds = "boundaries:\n  - {name: a, circle: {radius: 1}}\n"}, CORE_FORMAT,
                   "7: boundaries[0].circle: key \"centre\" is missing; expected a list of 2 numbers (m)");
    expect_refused(
        &(parts){.bounds = "boundaries:\n  - {name: a, plane: {point: [1.7e308, 1.7e308], normal: [1, 1]}}\n",
                 .phases = "phases: [{name: a, time: 1}]\n"},
        CORE_FORMAT, "7: boundaries[0].plane: the plane's offset is not finite");
    sim_scene s = {0}; // lengths that would over- or underflow when squared
    read_good(&(parts){.bounds = "boundaries:\n  - {name: gate, plane: {point: [1, 0], normal: [1e300, 0]}}\n"
                                 "  - {name: b, plane: {point: [0, 2], normal: [0, -1e-300]}}\n"},
              &s);
    assert_true(s.boundaries[0].normal[0] == 1 && s.boundaries[1].normal[1] == -1 && s.boundaries[1].offset == -2);
    sim_scene_clear(&s);
}

static void refused_contact(void **state) {
    (void)state;
    const struct {
        core_status code;
        const char *contact, *message;
    } cases[] = {
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0}\n",
         "5: contact.default: neither restitution nor gamma_n; expected one of them"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 0.5, gamma_n: 1}\n",
         "5: contact.default.gamma_n: given together with restitution; expected one of them"},
        {CORE_FORMAT, "contact:\n  default: {kn: soft, mu: 0, restitution: 0.5}\n",
         "5: contact.default.kn: found \"soft\", expected auto or a number above 0 (N/m)"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 0.5}\n  pairs: [{a: sq, b: tri, kn: auto}]\n",
         "6: contact.pairs[0].kn: found \"auto\", expected a number above 0 (N/m)"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 0.5}\n  penetration: 0.1\n",
         "6: contact.penetration: used with a given kn; expected only with kn: auto"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 0.5}\n  speed: 0\n",
         "6: contact.speed: used with a given kn; expected only with kn: auto"},
        {CORE_RANGE, "contact:\n  default: {kn: 1, mu: 0, restitution: 0.5}\n  deepest: 1.1\n",
         "6: contact.deepest: found \"1.1\", expected a number from 0 to 1 (R)"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, restitution: 0.5}\n",
         "5: contact.default: key \"mu\" is missing; expected a number from 0 to 100"},
        {CORE_RANGE, "contact:\n  default: {kn: 1, mu: 0, restitution: 1.5}\n",
         "5: contact.default.restitution: found \"1.5\", expected a number above 0, at most 1"},
        {CORE_RANGE, "contact:\n  default: {kn: 1, mu: -1, restitution: 1}\n",
         "5: contact.default.mu: found \"-1\", expected a number from 0 to 100"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs:\n    - {a: sq, b: flor, mu: 1}\n",
         "7: contact.pairs[0].b: unknown grain type or boundary \"flor\"; nearest: \"floor\""},
        {CORE_FORMAT,
         "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs:\n    - {a: elephant, b: sq, mu: 1}\n",
         "7: contact.pairs[0].a: unknown grain type or boundary \"elephant\"; known: sq, tri, floor, gate"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs:\n    - {a: sq, b: \"\", mu: 1}\n",
         "7: contact.pairs[0].b: unknown grain type or boundary \"\"; known: sq, tri, floor, gate"},
        {CORE_FORMAT,
         "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs:\n    - {a: gate, b: floor, mu: 1}\n",
         "7: contact.pairs[0]: \"gate\" and \"floor\" are both boundaries; expected a grain type among them"},
        {CORE_FORMAT,
         "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs:\n    - {a: sq, b: tri, mu: 1}\n    - {a: tri, "
         "b: sq}\n",
         "8: contact.pairs[1]: the pair \"tri\", \"sq\" a second time (first in line 7); expected it once"},
        {CORE_FORMAT,
         "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs: [{a: floor, b: sq}, {a: sq, b: floor}]\n",
         "6: contact.pairs[1]: the pair \"sq\", \"floor\" a second time (first in line 6); expected it once"},
        {CORE_FORMAT,
         "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs: [{a: sq, b: sq, gamma_n: 1, restitution: 1}]\n",
         "6: contact.pairs[0].gamma_n: given together with restitution; expected one of them"},
        {CORE_FORMAT, "contact:\n  default: {kn: 1, mu: 0, restitution: 1}\n  pairs: [{a: sq}]\n",
         "6: contact.pairs[0]: key \"b\" is missing; expected text"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(&(parts){.contact = cases[i].contact}, cases[i].code, cases[i].message);
    }
}

static void refused_grains(void **state) {
    (void)state;
    const struct {
        core_status code;
        const char *fill, *message;
    } cases[] = {{CORE_FORMAT, "fill: []\n", " no grains; expected entries under fill or place, or poses, pour, start"},
                 {CORE_FORMAT, "", " no grains; expected entries under fill or place, or poses, pour, start"},
                 {CORE_FORMAT, "fill: [{type: sqq, count: 1, region: [0, 0, 1, 1]}]\n",
                  "9: fill[0].type: unknown grain type \"sqq\"; nearest: \"sq\""},
                 {CORE_FORMAT, "fill: [{type: floor, count: 1, region: [0, 0, 1, 1]}]\n",
                  "9: fill[0].type: unknown grain type \"floor\"; known: sq, tri"},
                 {CORE_FORMAT, "fill: [{type: \"\", count: 1, region: [0, 0, 1, 1]}]\n",
                  "9: fill[0].type: unknown grain type \"\"; known: sq, tri"},
                 {CORE_RANGE, "fill: [{type: sq, count: 0, region: [0, 0, 1, 1]}]\n",
                  "9: fill[0].count: found \"0\", expected a whole number from 1 to 10000000"},
                 {CORE_FORMAT, "fill: [{type: sq, count: 1.5, region: [0, 0, 1, 1]}]\n",
                  "9: fill[0].count: found \"1.5\", expected a whole number from 1 to 10000000"},
                 {CORE_FORMAT, "fill: [{type: sq, count: 1, region: [0, 0, 0, 1]}]\n",
                  "9: fill[0].region: found [0, 0, 0, 1], expected [x0, y0, x1, y1] with x0 < x1 and y0 < y1"},
                 {CORE_FORMAT, "fill: [{type: sq, count: 1, region: [0, 2, 1, 1]}]\n",
                  "9: fill[0].region: found [0, 2, 1, 1], expected [x0, y0, x1, y1] with x0 < x1 and y0 < y1"},
                 {CORE_FORMAT,
                  "fill:\n  - {type: sq, count: 9000000, region: [0, 0, 1, 1]}\n  - {type: sq, count: 1000001, region: "
                  "[0, 0, 1, 1]}\n",
                  " 10000001 grains; expected at most 10000000"},
                 {CORE_FORMAT, "place: [{type: box, position: [0, 0]}]\n",
                  "9: place[0].type: unknown grain type \"box\"; known: sq, tri"},
                 {CORE_NONFINITE, "place: [{type: sq, position: [0, nan]}]\n",
                  "9: place[0].position[1]: found \"nan\", expected a list of 2 numbers (m)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(&(parts){.fill = cases[i].fill}, cases[i].code, cases[i].message);
    }
}

static void refused_phases(void **state) {
    (void)state;
    const struct {
        core_status code;
        const char *phases, *message;
    } cases[] = {{CORE_FORMAT, "phases: []\n", "10: phases: an empty list; expected at least one phase"},
                 {CORE_FORMAT, "", "1: key \"phases\" is missing; expected a list of blocks, each behind a dash"},
                 {CORE_FORMAT, "phases: [{name: a}]\n", "10: phases[0]: neither until nor time; expected one of them"},
                 {CORE_FORMAT, "phases: [{name: a, until: rest, time: 1}]\n",
                  "10: phases[0].time: given together with until; expected one of them"},
                 {CORE_FORMAT, "phases: [{name: a, time: 1, timeout: 2}]\n",
                  "10: phases[0].timeout: used with time; expected only with until: rest"},
                 {CORE_FORMAT, "phases: [{name: a, time: 1, on_timeout: stop}]\n",
                  "10: phases[0].on_timeout: used with time; expected only with until: rest"},
                 {CORE_FORMAT, "phases: [{name: a, until: done}]\n",
                  "10: phases[0].until: found \"done\", expected the word rest"},
                 {CORE_FORMAT, "phases: [{name: a, until: rest, on_timeout: go}]\n",
                  "10: phases[0].on_timeout: found \"go\", expected one of the words: stop continue"},
                 {CORE_RANGE, "phases: [{name: a, time: 0}]\n",
                  "10: phases[0].time: found \"0\", expected a number above 0 (s)"},
                 {CORE_FORMAT, "phases: [{name: a, time: 1, remove: [gat]}]\n",
                  "10: phases[0].remove[0]: unknown boundary \"gat\"; nearest: \"gate\""},
                 {CORE_FORMAT, "phases: [{name: a, time: 1, remove: [sq]}]\n",
                  "10: phases[0].remove[0]: unknown boundary \"sq\"; known: floor, gate"},
                 {CORE_FORMAT,
                  "phases:\n  - {name: a, time: 1, remove: [gate]}\n  - {name: b, time: 1, remove: [floor, gate]}\n",
                  "12: phases[1].remove[1]: \"gate\" is taken away already"},
                 {CORE_FORMAT, "phases: [{time: 1}]\n", "10: phases[0]: key \"name\" is missing; expected text"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(&(parts){.phases = cases[i].phases}, cases[i].code, cases[i].message);
    }
    expect_refused(&(parts){.bounds = "", .phases = "phases: [{name: a, time: 1, remove: [gate]}]\n"}, CORE_FORMAT,
                   "7: phases[0].remove[0]: unknown boundary \"gate\"; known: none");
}

static void refused_settings(void **state) {
    (void)state;
    const struct {
        core_status code;
        const char *rest, *message;
    } cases[] = {
        {CORE_FORMAT, "gravty: [0, 0]\n", "13: unknown key \"gravty\"; nearest known key: \"gravity\""},
        {CORE_FORMAT, "narrow_phase: exakt\n",
         "13: narrow_phase: found \"exakt\", expected one of the words: neural minimiser exact"},
        {CORE_FORMAT, "solver: softstep\n", "13: solver: found \"softstep\", expected the word penalty"},
        {CORE_FORMAT, "friction: []\n",
         "13: unknown key \"friction\"; known keys: title, model, gravity, types, contact, boundaries, periodic, cell, "
         "fill, "
         "place, poses, pour, outlets, start, phases, narrow_phase, solver, maps, smoothing, contact_planes, dt, "
         "dt_force, output, "
         "seed"},
        {CORE_FORMAT, "dt: fast\n", "13: dt: found \"fast\", expected auto or a number above 0 (s)"},
        {CORE_RANGE, "dt: 0\n", "13: dt: found \"0\", expected auto or a number above 0 (s)"},
        {CORE_RANGE, "smoothing: 0.2\n", "13: smoothing: found \"0.2\", expected a number from 0 to 0.1 (L)"},
        {CORE_RANGE, "output: {every: -1}\n", "13: output.every: found \"-1\", expected a number above 0 (s)"},
        {CORE_RANGE, "seed: 9007199254740992\n",
         "13: seed: found \"9007199254740992\", expected a whole number from 0 to 9007199254740991"},
        {CORE_RANGE, "seed: -1\n", "13: seed: found \"-1\", expected a whole number from 0 to 9007199254740991"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(&(parts){.rest = cases[i].rest}, cases[i].code, cases[i].message);
    }
}

// ---------------------------------------------------------------------------------------------- help, shipped scenes,
// memory

static void help_text(void **state) {
    (void)state;
    char *text = NULL;
    core_error err = {0};
    assert_int_equal(sim_scene_help(&text, &err), CORE_OK);
    static const char *const lines[] = {"\ntypes{}.radius ",
                                        "\ncontact.default.kn ",
                                        "\ncontact.pairs[].restitution ",
                                        "\nboundaries[].plane.normal ",
                                        "\nphases[].on_timeout ",
                                        "\noutput.every "};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) assert_non_null(strstr(text, lines[i]));
    assert_non_null(strstr(text, "auto or a number above 0 (s); default auto. Time step"));
    core_free(text);
    assert_int_equal(sim_scene_help(NULL, &err), CORE_ARG);
}

#ifdef SCENES_FOLDER
static void shipped_scenes(void **state) {
    (void)state;
    DIR *folder = opendir(SCENES_FOLDER);
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[2 * TEST_PATH_MAX];
        core_error err = {0};
        sim_scene s = {0};
        if (!core_path_ends(entry->d_name, ".yaml")) continue;
        snprintf(path, sizeof path, "%s/%s", SCENES_FOLDER, entry->d_name);
        if (sim_scene_read(path, 0, NULL, &s, &err) != CORE_OK) fail_msg("%s", err.message);
        // Its fill has room.
        for (int i = 0; i < s.count_fill; i++) {
            double *poses = calloc((size_t)s.fill[i].count, 3 * sizeof *poses);
            if (sim_fill_place(&s, i, NULL, 0, poses, &err) != CORE_OK) fail_msg("%s: %s", path, err.message);
            free(poses);
        }
        sim_scene_clear(&s);
        count++;
    }
    closedir(folder);
    assert_true(count >= 5);
}
#endif

static void files_and_arguments(void **state) {
    (void)state;
    core_error err = {0};
    sim_scene s = {0};
    char path[TEST_PATH_MAX];
    assert_int_equal(sim_scene_read(test_folder, 0, NULL, &s, &err), CORE_IO);
    assert_int_equal(sim_scene_read(test_folder_path(path, "none.yaml"), 0, NULL, &s, &err), CORE_IO);
    assert_int_equal(sim_scene_read(NULL, 0, NULL, &s, &err), CORE_ARG);
    assert_int_equal(sim_scene_read(path, 0, NULL, NULL, &err), CORE_ARG);
    test_folder_write(path, "nothing.yaml", "");
    assert_int_equal(sim_scene_read(path, 0, NULL, &s, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "nothing.yaml: empty; expected YAML"));
}

static void memory_failures(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    const parts p = {.rest = "maps: m.h5\nplace: [{type: sq, position: [1, 2]}]\n"};
    write_scene(path, &p);
    for (uint64_t k = 1;; k++) {
        core_error err = {0};
        sim_scene s = {0};
        core_alloc_fail_after(k);
        core_status status = sim_scene_read(path, 0, NULL, &s, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            sim_scene_clear(&s);
            assert_true(k > 15);
            return;
        }
        if (status != CORE_MEMORY) fail_msg("allocation %llu: %s", (unsigned long long)k, err.message);
        assert_null(s.types);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_values),        cmocka_unit_test(scene_defaults),   cmocka_unit_test(contact_laws),
        cmocka_unit_test(overrides_and_text),  cmocka_unit_test(refused_types),    cmocka_unit_test(shape_names),
        cmocka_unit_test(refused_boundaries),  cmocka_unit_test(refused_contact),  cmocka_unit_test(refused_grains),
        cmocka_unit_test(refused_phases),      cmocka_unit_test(refused_settings), cmocka_unit_test(help_text),
#ifdef SCENES_FOLDER
        cmocka_unit_test(shipped_scenes),
#endif
        cmocka_unit_test(files_and_arguments), cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, make_folder, test_folder_remove);
}
