/// The material of a continuum as an area: areas of regular and jittered fillings, colours, nothing, memory.
#include "sim_check.h"
#include "sim_view_private.h"

#include <stdio.h>

#define ROWS_MAX 40000

static int32_t species[ROWS_MAX], ids[ROWS_MAX];
static uint8_t prescribed[ROWS_MAX];
static double position[2 * ROWS_MAX], orientation[ROWS_MAX];

// Particles a spacing of 1 cm apart, moved by up to `jitter` of it, where inside() says so; below y = .5 of type 0.
static sim_view_state fill(core_run_info *info, double jitter, bool (*inside)(double x, double y)) {
    static core_run_type types[2];
    core_random random;
    core_random_init(&random, 7, 0);
    types[0].radius = types[1].radius = .01 / sqrt(2);
    *info = (core_run_info){.count_types = 2,
                            .types = types,
                            .species = species,
                            .prescribed = prescribed,
                            .scene_text = "model: continuum"};
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++) {
            const double x = (i + .5) * .01, y = (j + .5) * .01;
            if (!inside(x, y)) continue;
            position[2 * info->count_rows] = x + .01 * jitter * (2 * core_random_uniform(&random) - 1);
            position[2 * info->count_rows + 1] = y + .01 * jitter * (2 * core_random_uniform(&random) - 1);
            ids[info->count_rows] = info->count_rows;
            species[info->count_rows++] = y > .5;
        }
    return (sim_view_state){.info = info, .frame = {.id = ids, .position = position, .orientation = orientation}};
}

static bool in_disc(double x, double y) {
    return hypot(x - .5, y - .5) < .3;
}
static bool in_box(double x, double y) {
    return x > .2 && x < .8 && y > .3 && y < .6;
}
static bool in_holed_box(double x, double y) { // without three particles a side
    return in_box(x, y) && !(x > .4 && x < .43 && y > .4 && y < .43);
}
static bool in_hollow_box(double x, double y) { // without ten
    return in_box(x, y) && !(x > .4 && x < .5 && y > .4 && y < .5);
}
static bool in_gappy_box(double x, double y) { // a gap of three at the floor
    return in_box(x, y) && !(x > .4 && x < .43 && y < .33);
}
static bool one(double x, double y) {
    return x > .5 && x < .51 && y > .5 && y < .51;
}
static bool nowhere(double x, double y) {
    return x < 0 && y < 0;
}

// Area drawn on a picture of [0, 1] x [0, 1] with 1000 x 1000 pixels, m^2: what is not white. *lower: of type 0's
// colour.
static double area_of(const sim_view_state *state, double *lower) {
    const double region[4] = {0, 0, 1, 1};
    const sim_view_frame frame = {.width = 1000, .height = 1000, .scale = 1000, .region = {0, 0, 1, 1}};
    sim_view_surface surface = {0};
    sim_image image = {0};
    sim_canvas canvas = {0};
    check_ok(sim_view_surface_create(state, region, 1e-3, &surface, err));
    check_ok(sim_image_create(1000, 1000, &image, err));
    check_ok(sim_canvas_create(&image, &canvas, err));
    sim_view_surface_draw(&canvas, &surface, state->info, &frame);
    const sim_rgb colour = sim_colour_of_type(0);
    double area = 0;
    *lower = 0;
    for (int i = 0; i < 1000 * 1000; i++) {
        const uint8_t *p = image.rgb + 3 * i;
        area += p[0] + p[1] + p[2] < 3 * 255 ? 1e-6 : 0;
        *lower += p[0] == (uint8_t)colour.r && p[1] == (uint8_t)colour.g && p[2] == (uint8_t)colour.b ? 1e-6 : 0;
    }
    sim_canvas_clear(&canvas);
    sim_image_clear(&image);
    sim_view_surface_clear(&surface);
    return area;
}

// The outer half of the line counts, .6 pixels, half a pixel for those it cuts, and the surface may be .08 spacings
// off.
static void areas_are_right(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool (*inside)(double x, double y);
        double jitter, rim;
    } list[] = {{"disc", in_disc, 0, 1.9},
                {"disc, jittered", in_disc, .25, 1.9},
                {"box", in_box, 0, 1.8},
                {"box, jittered", in_box, .25, 1.8}};
    for (int k = 0; k < 4; k++) {
        core_run_info info;
        const sim_view_state s = fill(&info, list[k].jitter, list[k].inside);
        double lower;
        const double found = area_of(&s, &lower), expected = info.count_rows * 1e-4;
        printf("%-16s area expected %.5f found %.5f tolerance %.5f\n", list[k].name, expected, found,
               1.9e-3 * list[k].rim);
        check_near(found, expected, 1.9e-3 * list[k].rim);
        if (list[k].inside == in_box) check_near(lower, .6 * .2, 3e-3 * list[k].rim);
    }
}

// Small holes are closed, large ones are not; at a plane the material ends, and what it has there is no gap. Particles
// are moved up by .4 spacings before the plane takes the area to itself.
static void holes_and_planes(void **state) {
    (void)state;
    static double plane[3] = {0, 1, .3};
    static uint8_t present = 1;
    core_run_info info;
    double lower;
    sim_view_state s = fill(&info, 0, in_box);
    const double whole = area_of(&s, &lower);
    s = fill(&info, 0, in_holed_box);
    check_near(area_of(&s, &lower), whole, 1e-5);
    s = fill(&info, 0, in_hollow_box);
    check_near(area_of(&s, &lower), .6 * .3 - .01, 3.5e-3);
    for (int gap = 0; gap < 2; gap++) {
        s = fill(&info, 0, gap ? in_gappy_box : in_box);
        for (int i = 0; i < info.count_rows; i++) position[2 * i + 1] += .004;
        s.info = &info;
        s.frame.plane = plane;
        s.frame.plane_present = &present;
        info.count_planes = 1;
        check_near(area_of(&s, &lower), .6 * .304, 3.5e-3);
        present = 0; // the area is that of the particles
        check_near(area_of(&s, &lower), .6 * .3 - (gap ? 9e-4 : 0), 3.5e-3);
        present = 1;
        plane[2] = .45; // it cuts the material
        check_near(area_of(&s, &lower), .6 * .154, 3.5e-3);
        plane[2] = .3;
    }
}

static void few_particles(void **state) {
    (void)state;
    core_run_info info;
    double lower;
    sim_view_state s = fill(&info, 0, nowhere);
    check_near(area_of(&s, &lower), 0, 0);
    s = fill(&info, 0, one); // a disc of .7 spacings
    assert_int_equal(info.count_rows, 1);
    check_near(area_of(&s, &lower), CORE_PI * (.00698 + .0011) * (.00698 + .0011), 2e-5);
    ids[0] = -1; // gone
    check_near(area_of(&s, &lower), 0, 0);
    ids[0] = 0;
    prescribed[0] = 1; // a solid
    check_near(area_of(&s, &lower), 0, 0);
    prescribed[0] = 0;
}

static void continua_are_known_by_their_scene(void **state) {
    (void)state;
    core_run_info info = {.scene_text = "title: a\nmodel: continuum\n"};
    assert_true(sim_view_is_continuum(&info));
    info.scene_text = "title: no model: continuum\n";
    assert_false(sim_view_is_continuum(&info));
    info.scene_text = NULL;
    assert_false(sim_view_is_continuum(&info));
}

static void no_memory(void **state) {
    (void)state;
    core_run_info info;
    const sim_view_state s = fill(&info, 0, in_disc);
    const double region[4] = {0, 0, 1, 1};
    sim_view_surface surface = {0};
    for (int k = 1; k <= 8; k++) {
        core_alloc_fail_after(k);
        assert_int_equal(sim_view_surface_create(&s, region, 1e-3, &surface, NULL), CORE_MEMORY);
        assert_null(surface.phi);
    }
    core_alloc_fail_after(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas_are_right), cmocka_unit_test(holes_and_planes),
        cmocka_unit_test(few_particles),   cmocka_unit_test(continua_are_known_by_their_scene),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
