/// Shape files in WKT and GeoJSON: what is read, that it does not depend on how it was written, what is refused and
/// why.
#include "test_sdf_common.h"

/// One file and the answer it must get.
typedef struct refusal {
    const char *name, *text;
    core_status status;
    const char *message; // part of it
} refusal;

static sdf_shape read_text(const char *name, const char *text) {
    sdf_shape s = {0};
    core_error err = {0};
    if (test_shape_text(name, text, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    return s;
}

/// Largest difference of two outlines point by point; they must have the same rings.
static double outline_difference(const core_outline *a, const core_outline *b) {
    double worst = 0;
    assert_int_equal(a->count_rings, b->count_rings);
    assert_memory_equal(a->ring_start, b->ring_start, ((size_t)a->count_rings + 1) * sizeof *a->ring_start);
    for (int i = 0; i < 2 * core_outline_count(a); i++) worst = fmax(worst, fabs(a->xy[i] - b->xy[i]));
    return worst;
}

/// Largest distance of points of `o`, turned by `angle` and mirrored in the x axis first if asked, from the nearest
/// point of `o`.
static double symmetry_error(const core_outline *o, double angle, bool mirror) {
    double worst = 0, c = cos(angle), s = sin(angle);
    int n = core_outline_count(o);
    for (int i = 0; i < n; i++) {
        double x = o->xy[2 * i], y = mirror ? -o->xy[2 * i + 1] : o->xy[2 * i + 1], best = INFINITY;
        double px = c * x - s * y, py = s * x + c * y;
        for (int k = 0; k < n; k++) best = fmin(best, hypot(px - o->xy[2 * k], py - o->xy[2 * k + 1]));
        worst = fmax(worst, best);
    }
    return worst;
}

static void project_shapes(void **state) {
    (void)state;
    // Rotations that map the shape onto itself, and the angle of a mirror axis (NAN: none).
    const struct {
        const char *name;
        int rings, order;
        double mirror;
    } shapes[] = {
        {"o", 2, 96, 0},
        {"u", 1, 1, CORE_PI / 2},
        {"n", 1, 2, NAN},
        {"hash", 2, 4, 0},
        {"hash_thin", 2, 4, 0},
        {"d", 2, 1, 0},
        {"octagon", 1, 8, 0},
        {"square", 1, 4, 0},
        {"disc", 1, 96, 0},
        {"arc25", 1, 1, CORE_PI / 2},
        {"arc50", 1, 1, CORE_PI / 2},
        {"arc75", 1, 1, CORE_PI / 2},
        {"arc100", 2, 96, 0},
        {"link", 1, 1, 0},
        {"bar", 1, 2, 0},
        {"pebble", 1, 1, NAN},
        {"comma", 1, 1, NAN},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        sdf_shape s = test_shape(shapes[i].name);
        sdf_mass m;
        assert_string_equal(s.name, shapes[i].name);
        assert_int_equal(s.outline.count_rings, shapes[i].rings);
        assert_int_equal(sdf_outline_mass(&s.outline, &m, NULL), CORE_OK);
        test_near(m.circumradius, 1, 1e-15, "circumradius");
        test_near(hypot(m.centroid[0], m.centroid[1]), 0, 1e-15, "centroid");
        test_near(s.area, s.drawn.area / (s.drawn.circumradius * s.drawn.circumradius), 1e-13, "area");
        double turned = symmetry_error(&s.outline, 2 * CORE_PI / shapes[i].order, false), axis = shapes[i].mirror;
        test_near(turned, 0, 4e-15, shapes[i].name);
        if (isnan(axis)) {
            for (int k = 0; k < 360; k++) assert_true(symmetry_error(&s.outline, k * CORE_PI / 180, true) > 0.01);
        } else {
            test_near(symmetry_error(&s.outline, 2 * axis, true), 0, 4e-15, shapes[i].name);
        }
        sdf_shape_clear(&s);
    }
}

/// Start point, direction and order of rings, blanks, GeoJSON instead of WKT: the same bits.
static void writing_does_not_matter(void **state) {
    (void)state;
    const char *files[][2] = {
        {"a.wkt", "POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1), (3 1, 3 2, 3.5 2, 3 1))"},
        {"a.wkt", "POLYGON((4 3,0 3,0 0,4 0,4 3),(3 2,3.5 2,3 1,3 2),(2 1,1 1,1 2,2 2,2 1))\n"},
        {"a.wkt",
         "\n  polygon ((0 0, 0 3, 4 3, 4 0, 0 0),\n\t(1 1, 2 1, 2 2, 1 2, 1 1), (3 1, 3.5 2, 3 2, 3 1))  \r\n"},
        {"a.wkt", "\xef\xbb\xbfPOLYGON ((0 0, 2 0, 4 0, 4 3, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1), (3 1, 3 2, 3.5 "
                  "2, 3 1))"},
        {"a.wkt", "MULTIPOLYGON (((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1), (3 1, 3 2, 3.5 2, 3 1)))"},
        {"a.wkt",
         "GEOMETRYCOLLECTION (POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1), (3 1, 3 2, 3.5 2, 3 1)))"},
        {"a.wkt", "POLYGON Z ((0 0 7, 4 0 7, 4 3 7, 0 3 7, 0 0 7), (1 1 7, 1 2 7, 2 2 7, 2 1 7, 1 1 7), (3 1 7, 3 2 7, "
                  "3.5 2 7, 3 1 7))"},
        {"a.geojson",
         "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[4,0],[4,3],[0,3],[0,0]], [[1,1],[1,2],[2,2],[2,1],[1,1]], "
         "[[3,1],[3,2],[3.5,2],[3,1]]]}"},
        {"a.JSON",
         "{\"type\": \"Feature\", \"properties\": {\"name\": \"nan [ inf\", \"tags\": []}, \"geometry\": {\"type\": "
         "\"MultiPolygon\", \"coordinates\": [[[[0,0],[4,0],[4,3],[0,3],[0,0]], [[1,1],[1,2],[2,2],[2,1],[1,1]], "
         "[[3,1],[3,2],[3.5,2],[3,1]]]]}}\n"},
        {"a.geojson",
         "{\"type\": \"FeatureCollection\", \"features\": [{\"type\": \"Feature\", \"properties\": {}, \"geometry\": "
         "{\"type\": \"GeometryCollection\", \"geometries\": [{\"type\": \"Polygon\", \"coordinates\": "
         "[[[0,0],[4,0],[4,3],[0,3],[0,0]], [[1,1],[1,2],[2,2],[2,1],[1,1]], [[3,1],[3,2],[3.5,2],[3,1]]]}]}}]}"},
    };
    sdf_shape first = read_text(files[0][0], files[0][1]);
    assert_int_equal(core_outline_count(&first.outline), 11);
    for (size_t i = 1; i < sizeof files / sizeof files[0]; i++) {
        sdf_shape s = read_text(files[i][0], files[i][1]);
        if (s.hash != first.hash) fail_msg("file %zu gives another outline", i);
        assert_true(s.drawn.area == first.drawn.area);
        sdf_shape_clear(&s);
    }
    sdf_shape_clear(&first);
}

/// Scaled by powers of two and moved: the same canonical outline to rounding, mass as drawn scaled.
static void scale_does_not_matter(void **state) {
    (void)state;
    static const char *const parts[] = {"u", "hash", "link"};
    for (int k = 0; k < 3; k++) {
        sdf_shape s = test_shape(parts[k]);
        for (int power = -20; power <= 20; power += 40) {
            core_outline o = {0};
            sdf_shape t = {0};
            assert_int_equal(core_outline_copy(&s.outline, &o, NULL), CORE_OK);
            for (int i = 0; i < 2 * core_outline_count(&o); i++)
                o.xy[i] = ldexp(o.xy[i], power) + ldexp(i % 2 ? 3 : -2, power);
            assert_int_equal(sdf_shape_from_outline("scaled", &o, &t, NULL), CORE_OK);
            test_near(outline_difference(&s.outline, &t.outline), 0, 2e-15, parts[k]);
            test_near(t.drawn.circumradius, ldexp(1, power), 1e-15, "circumradius");
            test_near(ldexp(t.drawn.area, -2 * power), s.area, 1e-14, "area");
            core_outline_clear(&o);
            sdf_shape_clear(&t);
        }
        sdf_shape_clear(&s);
    }
}

/// Through files, where GEOS unites the parts at that scale: the same bits.
static void scale_of_files(void **state) {
    (void)state;
    sdf_shape shapes[3] = {0};
    for (int k = 0; k < 3; k++) {
        char text[2048] = "MULTIPOLYGON (";
        const double f = ldexp(1, 20 * (k - 1)), c = 0.40, w = 0.13, l = 0.8479976415061542;
        for (int i = 0; i < 4; i++) {
            double m = i % 2 ? c : -c, x0 = i < 2 ? m - w : -l, x1 = i < 2 ? m + w : l, y0 = i < 2 ? -l : m - w,
                   y1 = i < 2 ? l : m + w;
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used,
                     "%s((%.17g %.17g, %.17g %.17g, %.17g %.17g, %.17g %.17g, %.17g %.17g))", i ? ", " : "", x0 * f,
                     y0 * f, x1 * f, y0 * f, x1 * f, y1 * f, x0 * f, y1 * f, x0 * f, y0 * f);
        }
        strncat(text, ")", 2);
        shapes[k] = read_text("scaled.wkt", text);
    }
    for (int k = 0; k < 3; k += 2) {
        if (shapes[k].hash != shapes[1].hash)
            fail_msg("scaled by 2^%d: outlines differ by %g", 20 * (k - 1),
                     outline_difference(&shapes[1].outline, &shapes[k].outline));
        assert_true(shapes[k].drawn.second_moment == ldexp(shapes[1].drawn.second_moment, 80 * (k - 1)));
    }
    for (int k = 0; k < 3; k++) sdf_shape_clear(shapes + k);
}

static void united_parts(void **state) {
    (void)state;
    // A cross of two bars, and two squares that share an edge.
    sdf_shape s =
        read_text("cross.wkt", "MULTIPOLYGON (((-3 -1, 3 -1, 3 1, -3 1, -3 -1)), ((-1 -3, 1 -3, 1 3, -1 3, -1 -3)))");
    assert_int_equal(core_outline_count(&s.outline), 12);
    test_near(s.drawn.area, 20, 1e-14, "cross");
    sdf_shape_clear(&s);
    s = read_text("two.wkt",
                  "GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0)), POLYGON ((1 0, 3 0, 3 1, 1 1, 1 0)))");
    assert_int_equal(core_outline_count(&s.outline), 4);
    test_near(s.drawn.area, 3, 1e-14, "two squares");
    sdf_shape_clear(&s);
    // A frame of four bars keeps its hole.
    s = read_text(
        "frame.wkt",
        "MULTIPOLYGON (((0 0, 5 0, 5 1, 0 1, 0 0)), ((0 4, 5 4, 5 5, 0 5, 0 4)), ((0 0, 1 0, 1 5, 0 5, 0 0)), "
        "((4 0, 5 0, 5 5, 4 5, 4 0)))");
    assert_int_equal(s.outline.count_rings, 2);
    test_near(s.drawn.area, 16, 1e-14, "frame");
    double centre[2] = {0, 0}, d;
    sdf_outline_distance(&s.outline, centre, 1, &d, NULL);
    test_near(d * s.drawn.circumradius, 1.5, 1e-14, "distance in the hole");
    sdf_shape_clear(&s);
}

/// Duplicate and collinear points go, relative to the size.
static void cleaned(void **state) {
    (void)state;
    sdf_shape s =
        read_text("a.wkt", "POLYGON ((0 0, 1e-14 0, 1 0, 1 0, 2 0, 3 1e-14, 4 0, 4 4, 4 4, 2 4, 0 4, 0 2, 0 0))");
    assert_int_equal(core_outline_count(&s.outline), 4);
    sdf_shape_clear(&s);
    s = read_text("a.wkt", "POLYGON ((0 0, 2 -1e-6, 4 0, 4 4, 0 4, 0 0))");
    assert_int_equal(core_outline_count(&s.outline), 5);
    sdf_shape_clear(&s);
}

/// Rings open by rounding are closed: the same bits as the closed ones, each counted; wider gaps are refused.
static void closed_rings(void **state) {
    (void)state;
    const char *good[][2] = {
        {"a.wkt",
         "POLYGON ((0 0, 4 0, 4 3, 0 3, 1e-7 -2e-6), (1 1, 1 2, 2 2, 2 1, 1.0000004 1), (3 1, 3 2, 3.5 2, 3 1))"},
        {"a.wkt", "POLYGON((0 0,4 0,4 3,0 3,-0.000001 0),(1 1,1 2,2 2,2 1,1 .9999998 ),(3 1, 3 2, 3.5 2, 3 1))"},
        {"a.wkt", "POLYGON Z ((0 0 7, 4 0 7, 4 3 7, 0 3 7, 1e-7 0 8), (1 1 7, 1 2 7, 2 2 7, 2 1 7, 1 1.0000001 7), (3 "
                  "1 7, 3 2 7, "
                  "3.5 2 7, 3 1 7))"},
        {"a.geojson", "{\"type\": \"Polygon\", \"note\": \"[[1,1],[2,2],[3,1],[1,1.0000001]]\", \"coordinates\": "
                      "[[[0,0],[4,0],[4,3],[0,3],[ 1e-7 , 0 ]], [[1,1],[1,2],[2,2],[2,1],[1,1.0000001]], "
                      "[[3,1],[3,2],[3.5,2],[3,1]]]}"},
    };
    sdf_shape closed =
        read_text("a.wkt", "POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1), (3 1, 3 2, 3.5 2, 3 1))");
    assert_int_equal(closed.import.count_closed, 0);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        sdf_shape s = read_text(good[i][0], good[i][1]);
        if (s.hash != closed.hash || s.import.count_closed != 2)
            fail_msg("file %zu: %d rings closed", i, s.import.count_closed);
        sdf_shape_clear(&s);
    }
    sdf_shape_clear(&closed);
    // Relative to the ring's own size: 1e-5 of it is no rounding.
    const char *bad[] = {"POLYGON ((0 0, 4 0, 4 3, 0 3, 4e-5 0))", "POLYGON ((0 0, 1e-9 0, 1e-9 1e-9, 0 1e-14))",
                         "POLYGON ((0 0, 4 0, 4 3, 0 3, 0 0), (1 1, 1 2, 2 2, 2 1, 1.0001 1))"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sdf_shape s = {0};
        core_error err = {0};
        assert_int_equal(test_shape_text("a.wkt", bad[i], &s, &err), CORE_SHAPE);
        assert_non_null(strstr(err.message, "a ring is not closed"));
    }
}

/// What is a duplicate is relative to the size.
static void cleaning_scales(void **state) {
    (void)state;
    for (int power = -20; power <= 20; power += 20) {
        for (int kink = 0; kink < 2; kink++) {
            double xy[] = {0, 0, 2, kink ? -1e-7 : -1e-13, 4, 0, 4, 4, 0, 4};
            for (int i = 0; i < 10; i++) xy[i] = ldexp(xy[i], power);
            core_outline o = test_outline(xy, 5);
            sdf_shape s = {0};
            assert_int_equal(sdf_shape_from_outline("kink", &o, &s, NULL), CORE_OK);
            assert_int_equal(core_outline_count(&s.outline), 4 + kink);
            sdf_shape_clear(&s);
            core_outline_clear(&o);
        }
    }
}

/// Points that were taken out are counted.
static void cleaned_points_are_counted(void **state) {
    (void)state;
    const char *text = "POLYGON ((0 0, 1e-14 0, 1 0, 1 0, 2 0, 4 0, 4 4, 4 4, 2 4, 0 4, 0 2, 0 0))";
    sdf_shape s = read_text("a.wkt", text);
    assert_int_equal(core_outline_count(&s.outline), 4);
    assert_int_equal(s.import.count_points, 7);
    sdf_shape_clear(&s);
}

/// Everything that is refused, with its reason.
static const refusal refusals[] = {
    {"a.wkt", "", CORE_FORMAT, "the file is empty"},
    {"a.wkt", " \n\t ", CORE_FORMAT, "the file is empty"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1, 0 0)) and more", CORE_FORMAT, "line 1: found \"and more\" behind the geometry"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1, 0 0))\n\nPOLYGON ((0 0, 1 0, 0 1, 0 0))", CORE_FORMAT,
     "line 3: found \"POLYGON"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1, 0 0)))", CORE_FORMAT, "found \")\" behind the geometry"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1, 0 0)", CORE_FORMAT, "1 bracket is not closed"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1", CORE_FORMAT, "2 brackets are not closed"},
    {"a.wkt", ") POLYGON", CORE_FORMAT, "without its opening bracket"},
    {"a.wkt", "POLYGON ((0 0, nan 0, 0 1, 0 0))", CORE_NONFINITE, "found \"nan\", expected a finite coordinate"},
    {"a.wkt", "POLYGON ((0 0,\n1 0,\n0 -Inf, 0 0))", CORE_NONFINITE, "line 3: found \"Inf\""},
    {"a.wkt", "POLYGON ((0 0, 1 INFINITY, 0 1, 0 0))", CORE_NONFINITE, "INFINITY"},
    {"a.wkt", "POLYGON ((0 0, 1e999 0, 0 1, 0 0))", CORE_NONFINITE, ""},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 1))", CORE_SHAPE, "ring is not closed"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 0 0))", CORE_SHAPE, "Too few points"},
    {"a.wkt", "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))", CORE_SHAPE, "Self-intersection at (1, 1)"},
    {"a.wkt", "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 7 7, 7 5, 5 7, 5 5)))", CORE_SHAPE,
     "at (6, 6) of part 2 of 2"},
    {"a.wkt", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (5 5, 5 6, 6 6, 5 5))", CORE_SHAPE, "Hole lies outside shell"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 2 0, 0 0))", CORE_SHAPE, ""},
    {"a.wkt", "POLYGON ((0 0, 1 0, 1 1e-14, 0 1e-14, 0 0))", CORE_SHAPE, "nothing is enclosed"},
    {"a.wkt", "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((3 0, 5 0, 5 1, 3 1, 3 0)))", CORE_SHAPE,
     "2 separate parts (areas 1, 2), expected one connected region"},
    {"a.wkt", "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0)), ((1 1, 2 1, 2 2, 1 2, 1 1)))", CORE_SHAPE,
     "2 separate parts"},
    {"a.wkt", "POINT (1 2)", CORE_SHAPE, "found a Point"},
    {"a.wkt", "LINESTRING (0 0, 1 1)", CORE_SHAPE, "found a LineString"},
    {"a.wkt", "GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, 1 1, 0 0)), POINT (7 7))", CORE_SHAPE, "found a Point"},
    {"a.wkt", "POLYGON EMPTY", CORE_SHAPE, "no polygon"},
    {"a.wkt", "GEOMETRYCOLLECTION EMPTY", CORE_SHAPE, "no polygon"},
    {"a.wkt", "BANANA ((0 0, 1 0, 1 1, 0 0))", CORE_FORMAT, "WKT could not be read"},
    {"a.wkt", "POLYGON ((0 0; 1 0; 1 1; 0 0))", CORE_FORMAT, "WKT could not be read"},
    {"a.wkt", "POLYGON ((0 0, 1 0, 1 1, 0 0\x01))", CORE_FORMAT, "byte 0x01 at offset 28: this is not a text file"},
    {"a.wkt", "((((((((((((((((((((((((((((((((((((((((", CORE_FORMAT, "nest more than 32 deep"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[1,0],[0,1],[0,0]]]} x", CORE_FORMAT,
     "behind the geometry"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[1,0],[0,1],[0,0]]", CORE_FORMAT,
     "2 brackets are not closed"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[NaN,0],[0,1],[0,0]]]}", CORE_NONFINITE,
     "found \"NaN\""},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[],[],[],[]]]}", CORE_FORMAT, "empty list inside"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[ ]]}", CORE_FORMAT, "empty list inside"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": []}", CORE_SHAPE, "no polygon"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[1,0],[0,1]]]}", CORE_SHAPE, "ring is not closed"},
    {"a.geojson", "{\"type\": \"Polygon\"}", CORE_FORMAT, "GeoJSON could not be read"},
    {"a.geojson", "{\"type\": 7}", CORE_FORMAT, "GeoJSON could not be read"},
    {"a.geojson", "[1, 2]", CORE_FORMAT, "GeoJSON could not be read"},
    {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0],[1],[0],[0]]]}", CORE_FORMAT,
     "GeoJSON could not be read"},
    {"a.geojson", "{\"type\": \"Feature\", \"geometry\": null}", CORE_FORMAT, "GeoJSON could not be read"},
    {"a.geojson", "{\"type\": \"Polygon", CORE_FORMAT, "a string is not closed"},
    {"a.geojson", "POLYGON ((0 0, 1 0, 1 1, 0 0))", CORE_FORMAT, ""},
    {"a.svg", "<svg/>", CORE_FORMAT, "unknown kind of shape file"},
};

static void refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        sdf_shape s = {0};
        core_error err = {0};
        core_status status = test_shape_text(refusals[i].name, refusals[i].text, &s, &err);
        if (status != refusals[i].status || !strstr(err.message, refusals[i].message))
            fail_msg("case %zu (%s): status %d, message \"%s\"", i, refusals[i].text, (int)status, err.message);
        if (!strstr(err.message, refusals[i].name)) fail_msg("\"%s\" does not name the file", err.message);
        assert_null(strchr(err.message, '\n'));
        assert_null(s.outline.xy);
    }
}

/// Files the operating system or the size refuses.
static void unreadable(void **state) {
    (void)state;
    sdf_shape s = {0};
    core_error err = {0};
    sdf_read_def def = sdf_read_default_def(), no_cookie = {0};
    assert_int_equal(sdf_shape_read(test_path("missing.wkt"), &def, &s, &err), CORE_IO);
    assert_non_null(strstr(err.message, "missing.wkt"));
    assert_int_equal(sdf_shape_read(test_path(""), &def, &s, &err), CORE_FORMAT);
    const char *path = test_path("huge.wkt");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    // Sparse: takes no room.
    assert_int_equal(fseek(f, 1L << 30, SEEK_SET), 0);
    assert_int_equal(fputc('x', f), 'x');
    fclose(f);
    assert_int_equal(sdf_shape_read(path, &def, &s, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "huge.wkt"));
    remove(path);
    assert_int_equal(sdf_shape_read(path, &no_cookie, &s, &err), CORE_ARG);
    assert_int_equal(sdf_shape_read(NULL, &def, &s, &err), CORE_ARG);
}

static void from_outline_refused(void **state) {
    (void)state;
    sdf_shape s = {.area = 42};
    core_error err = {0};
    double bow[] = {0, 0, 2, 2, 2, 0, 0, 3}, nan_point[] = {0, 0, NAN, 1, 2, 2};
    core_outline o = test_outline(bow, 4), p = test_outline(nan_point, 3), empty = {0};
    char name[CORE_NAME_MAX + 2];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_int_equal(sdf_shape_from_outline("bow", &o, &s, &err), CORE_SHAPE);
    assert_non_null(strstr(err.message, "Self-intersection"));
    assert_int_equal(sdf_shape_from_outline("nan", &p, &s, &err), CORE_NONFINITE);
    assert_int_equal(sdf_shape_from_outline("empty", &empty, &s, &err), CORE_SHAPE);
    assert_int_equal(sdf_shape_from_outline("", &o, &s, &err), CORE_ARG);
    assert_int_equal(sdf_shape_from_outline(name, &o, &s, &err), CORE_ARG);
    assert_int_equal(sdf_shape_from_outline("null", NULL, &s, &err), CORE_ARG);
    assert_true(s.area == 42);
    core_outline_clear(&o);
    core_outline_clear(&p);
}

static void copy_and_clear(void **state) {
    (void)state;
    sdf_shape a = test_shape("d"), b = {0};
    assert_int_equal(sdf_shape_copy(&a, &b, NULL), CORE_OK);
    assert_true(a.outline.xy != b.outline.xy && core_outline_hash(&b.outline) == a.hash && b.hash == a.hash);
    assert_string_equal(b.name, "d");
    sdf_shape_clear(&a);
    sdf_shape_clear(&a);
    sdf_shape_clear(NULL);
    assert_null(a.outline.xy);
    assert_int_equal(core_outline_count(&b.outline), 78);
    sdf_shape_clear(&b);
}

static void allocation_failures(void **state) {
    (void)state;
    const char *files[][2] = {
        {"a.wkt", "MULTIPOLYGON (((-3 -1, 3 -1, 3 1, -3 1, -3 -1), (1.5 0, 2 0, 2 .5, 1.5 0)), ((-1 -3, 1 -3, 1 3, -1 "
                  "3, -1 -3)))"},
        {"a.geojson", "{\"type\": \"Polygon\", \"coordinates\": [[[0,0],[4,0],[4,3],[0,0]]]}"},
    };
    sdf_read_def def = sdf_read_default_def();
    for (int k = 0; k < 2; k++) {
        const char *path = test_write(files[k][0], files[k][1], strlen(files[k][1]));
        core_status status = CORE_MEMORY;
        int failures = 0;
        for (uint64_t n = 1; status == CORE_MEMORY; n++, failures++) {
            sdf_shape s = {0};
            core_alloc_fail_after(n);
            status = sdf_shape_read(path, &def, &s, NULL);
            core_alloc_fail_after(0);
            if (status != CORE_OK) assert_null(s.outline.xy);
            sdf_shape_clear(&s);
        }
        assert_int_equal(status, CORE_OK);
        assert_in_range(failures, 5, 100);
        remove(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(project_shapes),
        cmocka_unit_test(writing_does_not_matter),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(scale_of_files),
        cmocka_unit_test(united_parts),
        cmocka_unit_test(cleaned),
        cmocka_unit_test(closed_rings),
        cmocka_unit_test(cleaning_scales),
        cmocka_unit_test(cleaned_points_are_counted),
        cmocka_unit_test(refused),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(from_outline_refused),
        cmocka_unit_test(copy_and_clear),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, test_remove_folder);
}
