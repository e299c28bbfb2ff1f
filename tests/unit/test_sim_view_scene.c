// Drawing a whole scene: walls, planes and boundary grains in the picture, contact points and forces from contact rows,
// SVG files, pages with a player.
#include "sim_check.h"
#include "sim_view_private.h"
#include "view_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUN_PATH "test_sim_view_scene.run.h5"
#define SVG_PATH "test_sim_view_scene.svg"
#define PAGE_PATH "test_sim_view_scene.html"

static void must(core_status status, const core_error *err) {
    if (status != CORE_OK) fail_msg("%s", err->message);
}

// Two squares of circumradius .1 m at (0, 0) and (.2, 0), a post (a boundary) at (.05, .3); a circle, a polyline, a
// floor below and a plane far away. Contacts: the squares, with the point (.1, .02), 10 N/m; the floor and square 0
// with a gradient of .5, 2 N/m. walls: with circle and polyline; contacts: with rows. The post's type has this name.
static core_run_reader *scene_named(const char *post, bool boundary, bool walls, bool contacts) {
    core_error err = {0};
    core_run_type types[2] = {{.name = "square", .shape = "square", .radius = 0.1, .density = 1},
                              {.shape = "square", .radius = 0.05, .density = 1}};
    const double corner[8] = {1, 0, 0, 1, -1, 0, 0, -1};
    double points[4] = {-0.6, -0.55, 0.7, -0.55};
    core_run_wall wall[2] = {{.name = "ring", .is_circle = true, .radius = 0.5},
                             {.name = "shelf", .thickness = 0.02, .count_points = 2, .points = points}};
    const core_run_plane planes[2] = {{.name = "floor", .normal = {0, 1}, .offset = -0.8},
                                      {.name = "far", .normal = {1, 0}, .offset = -10}};
    snprintf(types[1].name, sizeof types[1].name, "%s", post);
    for (int i = 0; i < 2; i++) {
        must(core_outline_create(1, (const int[]){4}, &types[i].outline, &err), &err);
        memcpy(types[i].outline.xy, corner, sizeof corner);
    }
    const core_run_def def = {.count_rows = 3,
                              .count_types = 2,
                              .types = types,
                              .count_planes = 2,
                              .planes = planes,
                              .count_walls = walls ? 2 : 0,
                              .walls = wall,
                              .count_phases = 1,
                              .phase_names = (const char *const[]){"one"},
                              .species = (const int32_t[]){0, 0, 1},
                              .prescribed = (const uint8_t[]){0, 0, boundary},
                              .mass = (const double[]){1, 1, 1},
                              .scene_text = "title: x\n",
                              .scene_path = "x.yaml",
                              .title = "</script> \"a\\",
                              .gravity = {0, -9.81},
                              .dt = 1e-3,
                              .contacts = contacts};
    const core_run_contact rows[2] = {
        {.bodies = {0, 1}, .d = -1e-3, .gradient = {1, 0}, .d_theta_b = -0.02, .moment_arm = {0.1, -0.1}, .f_n = 10},
        {.bodies = {-1, 0}, .d = -1e-3, .gradient = {0, 0.5}, .moment_arm = {0.7, -0.1}, .f_n = 4}};
    core_run_frame f = {0};
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    must(core_run_create(RUN_PATH, &def, &w, &err), &err);
    must(core_run_frame_create(3, 0, 2, &f, &err), &err);
    must(core_run_frame_add_walls(def.count_walls, &f, &err), &err);
    f.position[2] = 0.2, f.position[4] = 0.05, f.position[5] = 0.3;
    for (int i = 0; i < 3; i++) f.id[i] = i;
    memcpy(f.plane, (const double[]){0, 1, -0.8, 1, 0, -10}, 6 * sizeof *f.plane);
    memset(f.plane_present, 1, 2);
    for (int i = 0; i < def.count_walls; i++) f.wall_present[i] = 1;
    if (walls) f.wall_pose[0] = 0.05;
    f.contacts = contacts ? rows : NULL, f.count_contacts = contacts ? 2 : 0;
    must(core_run_append(w, &f, &err), &err);
    must(core_run_finish(&w, &err), &err);
    core_run_frame_clear(&f);
    for (int i = 0; i < 2; i++) core_outline_clear(&types[i].outline);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static core_run_reader *scene(bool walls, bool contacts) {
    return scene_named("post", true, walls, contacts);
}

static int remove_files(void **state) {
    (void)state;
    core_alloc_fail_after(0);
    remove(RUN_PATH);
    remove(SVG_PATH);
    remove(PAGE_PATH);
    return 0;
}

// A view of 1000 x 750 pixels of 1 mm without legend.
static sim_view_def plain_view(void) {
    sim_view_def def = sim_view_default_def();
    def.width = 1000, def.legend = false;
    memcpy(def.region, (const double[]){-0.4, -0.25, 0.6, 0.5}, sizeof def.region);
    return def;
}

static bool is_colour(const sim_image *im, int x, int y, sim_rgb c) {
    const uint8_t *p = im->rgb + 3 * ((size_t)y * (size_t)im->width + (size_t)x);
    return fabs(p[0] - (double)c.r) < 1 && fabs(p[1] - (double)c.g) < 1 && fabs(p[2] - (double)c.b) < 1;
}

static int count_colour(const sim_image *im, sim_rgb c) {
    int count = 0;
    for (int y = 0; y < im->height; y++)
        for (int x = 0; x < im->width; x++) count += is_colour(im, x, y, c);
    return count;
}

static int count_text(const char *text, const char *what) {
    int count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) count++;
    return count;
}

static void test_fit_holds_the_scene(void **state) {
    (void)state;
    core_error err = {0};
    double region[4];
    // Grains, ring -.45 .. .55, shelf -.61 .. .71 and -.56 .. -.54; the floor .24 below that is in, the far plane not.
    core_run_reader *r = scene(true, false);
    must(sim_view_fit(r, 0, 0, 1, region, &err), &err);
    double margin = 0.1 + 0.02 * 1.32;
    const double all[4] = {-0.61 - margin, -0.8 - margin, 0.71 + margin, 0.5 + margin};
    for (int k = 0; k < 4; k++) check_near(region[k], all[k], 1e-12);
    core_run_close(&r);
    // Without walls the floor is .7 below grains of .45 m: too far.
    r = scene(false, false);
    must(sim_view_fit(r, 0, 0, 1, region, &err), &err);
    margin = 0.1 + 0.02 * 0.45;
    const double grains[4] = {-0.1 - margin, -0.1 - margin, 0.3 + margin, 0.35 + margin};
    for (int k = 0; k < 4; k++) check_near(region[k], grains[k], 1e-12);
    core_run_close(&r);
}

static void test_contact_points(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = scene(true, true);
    sim_view_state s = {0};
    double p[2], a[2], b[2], force = 0;
    must(sim_view_state_create(r, true, &s, &err), &err);
    must(sim_view_state_read(r, 0, &s, &err), &err);
    assert_int_equal(s.frame.count_contacts, 2);
    sim_view_contact_points(&s, &s.contacts[0], p, a, b);
    check_near(p[0], 0.1, 1e-15);
    check_near(p[1], 0.02, 1e-15);
    check_near(a[0], 0, 0);
    check_near(b[0], 0.2, 0);
    sim_view_contact_points(&s, &s.contacts[1], p, a, b);
    check_near(p[0], 0, 1e-15);
    check_near(p[1], -0.1, 1e-15);
    check_near(a[0], 0, 1e-15);
    check_near(a[1], -0.1, 1e-15);
    check_near(s.force[0], 10, 0);
    check_near(s.force[1], 10, 0);
    check_near(s.force[2], 0, 0);
    check_near(sim_view_normal_force(&s.contacts[1]), 2, 0);
    must(sim_view_force_scale(r, 0, 0, 1, &force, &err), &err);
    check_near(force, 10, 1e-12);
    // Periodic images: the point is at .1, a centre at .9 of a period of 1 is one at -.1.
    core_run_info periodic = *s.info;
    periodic.period[1] = 1;
    s.info = &periodic;
    s.frame.position[0] = 0.9;
    sim_view_contact_points(&s, &s.contacts[0], p, a, b);
    check_near(a[0], -0.1, 1e-15);
    sim_view_state_clear(&s);
    core_run_close(&r);
}

static void test_network_and_colours(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = scene(true, true);
    sim_view_def def = plain_view();
    sim_image im = {0};
    def.forces = true;
    must(view_draw(r, 0, &def, &im, &err), &err);
    assert_int_equal(im.height, 750);
    // (.1, .02) is the pixel (500, 480): 10 N/m, the top of the scale, is as wide as the mean radius, 75 pixels.
    const sim_rgb red = sim_colour_of_forces();
    assert_true(is_colour(&im, 500, 480, red) && is_colour(&im, 500, 480 + 36, red) &&
                is_colour(&im, 500, 480 - 36, red));
    assert_false(is_colour(&im, 500, 480 + 39, red));
    // 2 N/m to the floor: 15 pixels about (0, -.1) = (400, 600).
    assert_true(is_colour(&im, 393, 595, red) && is_colour(&im, 406, 595, red));
    assert_false(is_colour(&im, 390, 595, red));
    assert_true(is_colour(&im, 450, 200, sim_colour_of_boundary())); // the post
    sim_image_clear(&im);
    def.forces = false, def.colour = SIM_VIEW_FORCE, def.force_max = 20;
    must(view_draw(r, 0, &def, &im, &err), &err);
    assert_true(is_colour(&im, 400, 500, sim_colour_sequential(0.5)));
    sim_image_clear(&im);
    core_run_close(&r);
    // Without contact rows there is nothing to draw forces from.
    r = scene(true, false);
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_UNSUPPORTED);
    def.colour = SIM_VIEW_SHAPE, def.forces = true;
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_UNSUPPORTED);
    def.force_max = NAN;
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_RANGE);
    core_run_close(&r);
}

// A type that is nothing but boundaries has their colour in the legend too.
static void test_legend_of_boundary_types(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = scene(false, false);
    sim_view_def def = sim_view_default_def();
    sim_image im = {0};
    must(view_draw(r, 0, &def, &im, &err), &err);
    assert_int_equal(count_colour(&im, sim_colour_of_type(1)), 0);
    assert_true(count_colour(&im, sim_colour_of_type(0)) > 50); // the swatch; grains are tinted
    sim_image_clear(&im);
    core_run_close(&r);
}

// First and last column with a colour that only a swatch has (grains are tinted); first > last: none.
static void columns_of(const sim_image *im, sim_rgb colour, int *first, int *last) {
    *first = im->width, *last = -1;
    for (int x = 0; x < im->width; x++)
        for (int y = 0; y < im->height; y++)
            if (is_colour(im, x, y, colour)) *first = x < *first ? x : *first, *last = x;
}

// Types NAME and NAME~2 are an item of the legend: their swatches lie side by side, the name comes once. Others do not.
static void test_legend_of_layers(void **state) {
    (void)state;
    static const char *const names[3] = {"square~2", "squares~2", "post"};
    for (int k = 0; k < 3; k++) {
        core_error err = {0};
        core_run_reader *r = scene_named(names[k], false, false, false);
        sim_view_def def = sim_view_default_def();
        sim_image im = {0};
        int first[2], last[2];
        must(view_draw(r, 0, &def, &im, &err), &err);
        for (int i = 0; i < 2; i++) columns_of(&im, sim_colour_of_type(i), &first[i], &last[i]);
        assert_true(first[0] < last[0] && last[0] < first[1] && first[1] < last[1]);
        assert_int_equal(first[1] - last[0] == 3, k == 0); // no more than the edges of both
        sim_image_clear(&im);
        core_run_close(&r);
    }
}

static void test_svg(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = scene(true, true);
    sim_view_def def = plain_view();
    sim_view_panel panel = {.run = r};
    char *text = NULL;
    size_t n = 0;
    def.forces = true;
    must(sim_view_write_svg(SVG_PATH, 1, &panel, &def, &err), &err);
    must(core_file_read(SVG_PATH, 1 << 20, &text, &n, &err), &err);
    assert_non_null(strstr(text, "width=\"1000\" height=\"750\" viewBox=\"0 0 1000 750\""));
    assert_int_equal(count_text(text, "<use "), 3);
    assert_int_equal(count_text(text, "<path id="), 2);
    // Square 1 at (.2, 0): 100 pixels a radius, y down.
    assert_non_null(strstr(text, "#panel0type0\" transform=\"matrix(100 -0 -0 -100 600.00 500.00)\""));
    // The contact of both squares from centre to point to centre.
    assert_non_null(strstr(text, "<path stroke-width=\"75.00\" d=\"M400.00 500.00L500.00 480.00L600.00 500.00\"/>"));
    assert_non_null(strstr(text, "<path stroke-width=\"15.00\" d=\"M400.00 600.00L400.00 500.00\"/>"));
    // The shelf is below; the ring's first edge starts right of its centre (.05, 0) + .5.
    assert_non_null(strstr(text, "M950.00 500.00L"));
    assert_int_equal(count_text(text, "<g"), count_text(text, "</g>"));
    core_free(text);
    remove(SVG_PATH);
    assert_int_equal(sim_view_write_svg(NULL, 1, &panel, &def, &err), CORE_ARG);
    assert_int_equal(sim_view_write_svg("no/such/folder/x.svg", 1, &panel, &def, &err), CORE_IO);
    core_status status = CORE_MEMORY;
    def.legend = true;
    for (int k = 1; status != CORE_OK && k < 200; k++) {
        core_alloc_fail_after((uint64_t)k);
        status = sim_view_write_svg(SVG_PATH, 1, &panel, &def, &err);
        core_alloc_fail_after(0);
        if (status != CORE_OK) {
            assert_int_equal(status, CORE_MEMORY);
            assert_false(core_file_exists(SVG_PATH));
        }
    }
    assert_int_equal(status, CORE_OK);
    // With title and legend the panel is a group of its own, cut to its rectangle.
    must(core_file_read(SVG_PATH, 1 << 20, &text, &n, &err), &err);
    assert_int_equal(count_text(text, "<g clip-path=\"url(#clip0)\">"), 1);
    assert_int_equal(count_text(text, "<g"), count_text(text, "</g>"));
    assert_non_null(strstr(text, "</svg>"));
    core_free(text);
    core_run_close(&r);
}

// Bytes of the base64 text behind "name":" in the page, from *at on; returns their number.
static size_t decode(const char **at, const char *name, unsigned char *to, size_t room) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char key[64];
    size_t n = 0;
    uint32_t bits = 0;
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *s = strstr(*at, key);
    if (!s) fail_msg("no %s", key);
    s += strlen(key);
    for (int k = 0; *s != '"' && *s != '='; s++, k++) {
        const char *digit = strchr(digits, *s);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (k % 4 == 0) continue;
        assert_true(n < room);
        to[n++] = (unsigned char)(bits >> (k % 4 == 1 ? 4 : k % 4 == 2 ? 2 : 0));
    }
    *at = s;
    return n;
}

static unsigned u16(const unsigned char *bytes, int i) {
    return bytes[2 * i] + 256u * bytes[2 * i + 1];
}

static void test_page(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = scene(true, true);
    sim_view_def def = sim_view_default_def();
    char *text = NULL;
    size_t n = 0;
    int64_t every = 0;
    def.force_max = 20;
    must(sim_view_write_html(PAGE_PATH, r, 0, 0, &every, &def, &err), &err);
    assert_int_equal(every, 1);
    must(core_file_read(PAGE_PATH, 1 << 20, &text, &n, &err), &err);
    // One file: nothing of the page names another place, and its policy forbids what would.
    const char *const outside[] = {
        "http:", "https:", "//cdn", "src=", "href=", "@import", "url(", "fetch(", "XMLHttp", "@DATA@"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (strstr(text, outside[i])) fail_msg("the page has %s", outside[i]);
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_int_equal(count_text(text, "</script>"), 2); // the title's is escaped
    assert_non_null(strstr(text, "{\"title\":\"\\u003c/script> \\u0022a\\u005c\""));
    const char *at = strstr(text, "{\"title\"");
    unsigned char bytes[4096];
    assert_int_equal(decode(&at, "species", bytes, sizeof bytes), 6);
    assert_int_equal(u16(bytes, 2), 1);
    assert_int_equal(decode(&at, "prescribed", bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, ((const unsigned char[]){0, 0, 1}), 3);
    assert_int_equal(decode(&at, "sequential", bytes, sizeof bytes), 768);
    // Centres (0, 0), (.2, 0), (.05, .3) in the box 0 .. .2 x 0 .. .3, not turned; half of the force scale on two.
    assert_int_equal(decode(&at, "pose", bytes, sizeof bytes), 18);
    const double poses[3][2] = {{0, 0}, {0.2, 0}, {0.05, 0.3}};
    for (int i = 0; i < 3; i++) {
        check_near(u16(bytes, 3 * i) / 65534.0 * 0.2, poses[i][0], 0.1 / 65534);
        check_near(u16(bytes, 3 * i + 1) / 65534.0 * 0.3, poses[i][1], 0.15 / 65534);
        assert_int_equal(u16(bytes, 3 * i + 2), 0);
    }
    assert_int_equal(decode(&at, "force", bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, ((const unsigned char[]){128, 128, 0}), 3);
    assert_non_null(strstr(at, ",\"planes\":[[0,1,-0.8],[1,0,-10]],\"walls\":[[0.05,0,0],[0,0,0]]}]}"));
    core_free(text);
    const size_t whole = n;
    remove(PAGE_PATH);
    every = -1;
    assert_int_equal(sim_view_write_html(PAGE_PATH, r, 0, 0, &every, &def, &err), CORE_RANGE);
    every = 1;
    assert_int_equal(sim_view_write_html(PAGE_PATH, r, 0, 1, &every, &def, &err), CORE_RANGE);
    assert_int_equal(sim_view_write_html(PAGE_PATH, NULL, 0, 0, &every, &def, &err), CORE_ARG);
    core_status status = CORE_MEMORY;
    for (int k = 1; status != CORE_OK && k < 200; k++) {
        core_alloc_fail_after((uint64_t)k);
        status = sim_view_write_html(PAGE_PATH, r, 0, 0, &every, &def, &err);
        core_alloc_fail_after(0);
        if (status != CORE_OK) assert_int_equal(status, CORE_MEMORY);
        if (status != CORE_OK) assert_false(core_file_exists(PAGE_PATH));
    }
    assert_int_equal(status, CORE_OK);
    must(core_file_read(PAGE_PATH, 1 << 20, &text, &n, &err), &err);
    assert_int_equal(n, whole);
    core_free(text);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_fit_holds_the_scene, remove_files),
        cmocka_unit_test_teardown(test_contact_points, remove_files),
        cmocka_unit_test_teardown(test_network_and_colours, remove_files),
        cmocka_unit_test_teardown(test_legend_of_boundary_types, remove_files),
        cmocka_unit_test_teardown(test_legend_of_layers, remove_files),
        cmocka_unit_test_teardown(test_svg, remove_files),
        cmocka_unit_test_teardown(test_page, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
