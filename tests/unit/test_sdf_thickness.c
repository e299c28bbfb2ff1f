/// Thinnest walls and gaps against closed forms, and the resolutions chosen by them.
#include "test_sdf_common.h"

/// How far a measured thickness may be off: GEOS simplifies by a hundredth of the distance before it offsets an
/// outline.
#define TOLERANCE 0.01

static void check(const char *what, double found, double expected) {
    if (isinf(expected) ? !isinf(found) : !(fabs(found - expected) <= TOLERANCE * expected))
        fail_msg("%s: found %.6g, expected %.6g", what, found, expected);
}

/// Measures a shape given as WKT; lengths in its own unit.
static void measure(const char *text, double *wall, double *gap) {
    sdf_shape s = {0};
    core_error err = {0};
    if (test_shape_text("a.wkt", text, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    if (sdf_thinnest_feature(&s.outline, wall, gap, &err) != CORE_OK) fail_msg("%s", err.message);
    *wall *= s.drawn.circumradius;
    *gap *= s.drawn.circumradius;
    sdf_shape_clear(&s);
}

static void closed_forms(void **state) {
    (void)state;
    const struct {
        const char *what, *text;
        double wall, gap;
    } cases[] = {
        {"square", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))", 4, INFINITY},
        {"bar", "POLYGON ((0 0, 9 0, 9 .3, 0 .3, 0 0))", .3, INFINITY},
        {"equilateral triangle", "POLYGON ((0 0, 2 0, 1 1.7320508, 0 0))", 2 * 0.57735027, INFINITY},
        {"frame", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (.5 .7, 3.6 .7, 3.6 3.2, .5 3.2, .5 .7))", .4, 2.5},
        {"U", "POLYGON ((0 0, 4 0, 4 4, 3 4, 3 1, 1.8 1, 1.8 4, 0 4, 0 0))", 1, 1.2},
        {"narrow slot", "POLYGON ((0 0, 4 0, 4 4, 2.1 4, 2.1 2, 2 2, 2 4, 0 4, 0 0))", 1.9, .1},
        {"slot in thin walls", "POLYGON ((0 0, 4 0, 4 9, 3.9 9, 3.9 .1, .1 .1, .1 9, 0 9, 0 0))", .1, 3.8},
        {"neck", "POLYGON ((0 0, 2 0, 2 .9, 3 .9, 3 0, 5 0, 5 2, 3 2, 3 1.1, 2 1.1, 2 2, 0 2, 0 0))", .2, INFINITY},
        {"slanted wall",
         "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (.2 1, 1.2 1, 1.2 2, .2 1), (1.5 1, 1.5 2, 3.5 2, 3.5 1, 1.5 1))", .2,
         1 / (1 + 1 / M_SQRT2)},
        {"shallow dent", "POLYGON ((0 0, 4 0, 4 4, 2.1 4, 2.1 3.97, 2 3.97, 2 4, 0 4, 0 0))", 4, INFINITY},
        {"low bump", "POLYGON ((0 0, 4 0, 4 4, 2.1 4, 2.1 4.03, 2 4.03, 2 4, 0 4, 0 0))", 4, INFINITY},
        {"small hole", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (2 2, 2.2 2, 2.2 2.2, 2 2.2, 2 2))", 1.8, .2},
        {"bay with a narrow mouth",
         "POLYGON ((0 0, 4 0, 4 4, 2.05 4, 2.05 3.9, 3 3.9, 3 1, 1 1, 1 3.9, 2 3.9, 2 4, 0 4, 0 0))", .1, .05},
        {"wedge of 37 degrees", "POLYGON ((0 -1, 3 0, 0 1, 0 -1))", 2 * 3.0 / (1 + 3.16227766), INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double wall = 0, gap = 0;
        char what[64];
        measure(cases[i].text, &wall, &gap);
        snprintf(what, sizeof what, "%s, wall", cases[i].what);
        check(what, wall, cases[i].wall);
        snprintf(what, sizeof what, "%s, gap", cases[i].what);
        check(what, gap, cases[i].gap);
    }
}

/// A needle on a square is thin where more than about a tenth of the circumradius is so thin: the disc of diameter w
/// leaves out w^2 (cot(b/2) - (pi - b)/2)/4 of its tip, and that is 0.05 w, or a thousandth of the area if that is
/// more.
static void needle(void **state) {
    (void)state;
    const double half = 0.04;
    char text[256];
    double wall, gap;
    snprintf(text, sizeof text, "POLYGON ((-1 -1, 1 -1, 1 %.17g, 3 0, 1 %.17g, 1 1, -1 1, -1 -1))", -half, half);
    sdf_shape s = {0};
    core_error err = {0};
    if (test_shape_text("a.wkt", text, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_int_equal(sdf_thinnest_feature(&s.outline, &wall, &gap, NULL), CORE_OK);
    double b = 2 * atan(half / 2), left_out = (1 / tan(b / 2) - (CORE_PI - b) / 2) / 4;
    // The disc is offset back by 1 % more, which takes about as much off what it leaves out.
    test_near(wall / fmax(0.05 / left_out, sqrt(1e-3 * s.area / left_out)), 1, 0.03, "needle");
    sdf_shape_clear(&s);
}

/// Turned and mirrored, a shape is as thin.
static void turned(void **state) {
    (void)state;
    sdf_shape s = test_shape("hash");
    double wall, gap, w, g;
    assert_int_equal(sdf_thinnest_feature(&s.outline, &wall, &gap, NULL), CORE_OK);
    check("# wall", wall, 0.26);
    check("# gap", gap, 0.54);
    for (int i = 0; i < core_outline_count(&s.outline); i++) {
        double *p = s.outline.xy + 2 * i, x = p[0];
        p[0] = 0.8 * x - 0.6 * p[1];
        p[1] = 0.6 * x + 0.8 * p[1];
    }
    assert_int_equal(sdf_thinnest_feature(&s.outline, &w, &g, NULL), CORE_OK);
    test_near(w / wall, 1, TOLERANCE, "turned wall");
    test_near(g / gap, 1, TOLERANCE, "turned gap");
    sdf_shape_clear(&s);
}

/// A frame of circumradius sqrt(8) whose walls are `wall` circumradii thick.
static core_outline frame(double wall) {
    core_outline o = {0};
    const int counts[] = {4, 4};
    double r = sqrt(0.5), q = r - wall;
    const double xy[] = {-r, -r, r, -r, r, r, -r, r, -q, -q, -q, q, q, q, q, -q};
    assert_int_equal(core_outline_create(2, counts, &o, NULL), CORE_OK);
    memcpy(o.xy, xy, sizeof xy);
    return o;
}

static void resolutions(void **state) {
    (void)state;
    const struct {
        double wall;
        int asked, chosen; // chosen 0: refused
        const char *text;  // of the note or the message; "": no note
    } cases[] = {
        {0.1, 256, 256, ""},
        {0.1, SDF_RESOLUTION_AUTO, 256, ""},
        {0.0201, SDF_RESOLUTION_AUTO, 608, ""},                // 12/.0201 = 597
        {0.002, SDF_RESOLUTION_AUTO, 1024, "resolution 3008"}, // would be 6000: as fine as automatic gets, 1.02 cells
        {0.0201, 256, 256, "a wall of 0.02 circumradii is 2.6 cells wide at resolution 256"},
        {0.0201, 256, 256, "resolution 304 would give it 3"}, // 6/.0201 = 299
        {0.0201, 304, 304, ""},
        {0.0201, 64, 0, "a wall of 0.02 circumradii is 0.64 cells wide at resolution 64, expected at least 1; "},
        {0.0201, 64, 0, "; resolution 304 would give it 3"},
        {0.001, 256, 0, "no resolution up to 4096 would give it 3: draw it thicker"},
        {0.001, SDF_RESOLUTION_AUTO, 0, "no resolution up to 4096 would give it 3: draw it thicker"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sdf_shape s = {.outline = frame(cases[i].wall)};
        core_error err = {0};
        char note[SDF_NOTE_MAX] = "untouched";
        int chosen = -1;
        core_status status = sdf_resolution_choose(&s, cases[i].asked, &chosen, note, &err);
        const char *said = cases[i].chosen ? note : err.message;
        if (status != (cases[i].chosen ? CORE_OK : CORE_SHAPE) ||
            (cases[i].text[0] ? !strstr(said, cases[i].text) : said[0]))
            fail_msg("case %zu: status %d, \"%s\"", i, (int)status, said);
        assert_int_equal(chosen, cases[i].chosen ? cases[i].chosen : -1);
        if (!cases[i].chosen) assert_string_equal(note, "untouched");
        sdf_shape_clear(&s);
    }
}

/// A wall of few pixels of an image may be noise; one of many, or of a drawing, is not.
static void noise(void **state) {
    (void)state;
    const struct {
        int image;
        double radius, blur; // circumradius of the drawing, blur
        const char *text;    // NULL: nothing about noise
    } cases[] = {
        {1, 100, 0, "; it is 2 pixels of the image: if it is noise, --blur 2 or more takes it away"},
        {1, 250, 3, "; it is 5 pixels of the image: if it is noise, --blur 6 or more takes it away"},
        {1, 400, 0, NULL},
        {0, 100, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sdf_shape s = {.outline = frame(0.0201), .drawn.circumradius = cases[i].radius};
        s.import = (sdf_import){.image = cases[i].image, .blur = cases[i].blur};
        for (int k = 0; k < 2; k++) {
            core_error err = {0};
            char note[SDF_NOTE_MAX];
            int chosen;
            core_status status = sdf_resolution_choose(&s, k ? 64 : 256, &chosen, note, &err);
            assert_int_equal(status, k ? CORE_SHAPE : CORE_OK);
            const char *said = k ? err.message : note;
            if (cases[i].text ? !strstr(said, cases[i].text) : strstr(said, "noise") != NULL)
                fail_msg("case %zu: \"%s\"", i, said);
        }
        sdf_shape_clear(&s);
    }
}

static void refused(void **state) {
    (void)state;
    core_outline o = frame(0.1), empty = {0};
    const sdf_shape s = {.outline = o};
    double wall = 1, gap = 2;
    char note[SDF_NOTE_MAX];
    int chosen = 3;
    assert_int_equal(sdf_thinnest_feature(NULL, &wall, &gap, NULL), CORE_ARG);
    assert_int_equal(sdf_thinnest_feature(&o, NULL, &gap, NULL), CORE_ARG);
    assert_int_equal(sdf_thinnest_feature(&empty, &wall, &gap, NULL), CORE_SHAPE);
    assert_int_equal(sdf_resolution_choose(NULL, 256, &chosen, note, NULL), CORE_ARG);
    assert_int_equal(sdf_resolution_choose(&s, -1, &chosen, note, NULL), CORE_RANGE);
    assert_true(wall == 1 && gap == 2 && chosen == 3);
    core_status status = CORE_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY && failures < 1000; n++, failures++) {
        core_alloc_fail_after(n);
        status = sdf_thinnest_feature(&o, &wall, &gap, NULL);
        core_alloc_fail_after(0);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 10, 500);
    core_outline_clear(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms), cmocka_unit_test(needle), cmocka_unit_test(turned),
        cmocka_unit_test(resolutions),  cmocka_unit_test(noise),  cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, test_remove_folder);
}
