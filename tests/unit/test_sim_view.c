// Drawing: exact coverage, region maths, text inside the picture, equal bytes, bad arguments.
#include "run_fixture.h"
#include "sim_view_private.h"
#include "view_draw.h"

#include "sim_check.h"

#include <stdio.h>

#define RUN_PATH "test_sim_view.run.h5"
#define PNG_PATH "test_sim_view.png"
#define COVER_TOLERANCE 1e-3 // pixels: float sums over at most 200 x 200 of them

// ---------------------------------------------------------------------------------------------- helpers

static void must(core_status status, const core_error *err) {
    if (status != CORE_OK) fail_msg("%s", err->message);
}

static double mask_sum(const sim_canvas *c) {
    double sum = 0;
    int width = c->box[2] - c->box[0];
    for (int j = 0; j < c->box[3] - c->box[1]; j++)
        for (int i = 0; i < width; i++) sum += (double)c->mask[(size_t)j * ((size_t)width + 1) + (size_t)i];
    return sum;
}

static void add_ring(sim_canvas *c, const double *xy, int n) {
    for (int i = 0; i < n; i++) {
        const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % n);
        sim_mask_edge(c, a[0], a[1], b[0], b[1]);
    }
}

// Corners of a square with half side h, turned by a.
static void square(double x, double y, double h, double a, double xy[8]) {
    for (int k = 0; k < 4; k++) {
        double t = a + CORE_PI / 4 + k * CORE_PI / 2, r = h * sqrt(2.0);
        xy[2 * k] = x + r * cos(t), xy[2 * k + 1] = y + r * sin(t);
    }
}

static bool is_white(const sim_image *im, int x, int y) {
    const uint8_t *p = im->rgb + 3 * ((size_t)y * (size_t)im->width + (size_t)x);
    return p[0] == 255 && p[1] == 255 && p[2] == 255;
}

// Pixels that are not white and the box they fill.
static int inked(const sim_image *im, int box[4]) {
    int count = 0;
    box[0] = im->width, box[1] = im->height, box[2] = box[3] = -1;
    for (int y = 0; y < im->height; y++)
        for (int x = 0; x < im->width; x++) {
            if (is_white(im, x, y)) continue;
            count++;
            box[0] = x < box[0] ? x : box[0], box[2] = x > box[2] ? x : box[2];
            box[1] = y < box[1] ? y : box[1], box[3] = y > box[3] ? y : box[3];
        }
    return count;
}

// A run with one square of circumradius sqrt(2)/10 m (side .2 m) at (.5, .375), moving right at 3 m/s in its second
// frame.
static core_run_reader *one_square(void) {
    core_error err = {0};
    fixture_run run = {.title = "One square"};
    core_run_writer *w = NULL;
    core_run_frame f = {0};
    core_run_reader *r = NULL;
    must(fixture_add_square(&run, sqrt(2.0) / 10, 1000, &err), &err);
    must(fixture_set_grains(&run, 2, &err), &err);
    must(fixture_begin(&run, RUN_PATH, &w, &err), &err);
    must(fixture_frame(&run, &f, &err), &err);
    f.position[0] = 0.5, f.position[1] = 0.375;
    f.id[1] = -1;
    f.position[2] = f.position[3] = f.orientation[1] = f.velocity[2] = f.velocity[3] = f.angular_velocity[1] = NAN;
    must(core_run_append(w, &f, &err), &err);
    f.time = 0.5, f.step = 1, f.velocity[0] = 3;
    must(core_run_append(w, &f, &err), &err);
    f.time = 1, f.step = 2, f.velocity[0] = NAN, f.id[0] = -1;
    f.position[0] = f.position[1] = f.orientation[0] = f.velocity[1] = f.angular_velocity[0] = NAN;
    must(core_run_append(w, &f, &err), &err);
    must(core_run_finish(&w, &err), &err);
    core_run_frame_clear(&f);
    fixture_clear(&run);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static core_run_reader *collapse(int count, bool one_type) {
    core_error err = {0};
    core_run_reader *r = NULL;
    must(fixture_write_collapse(RUN_PATH, count, 4, one_type, &err), &err);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static int remove_files(void **state) {
    (void)state;
    core_alloc_fail_after(0);
    remove(RUN_PATH);
    remove(PNG_PATH);
    return 0;
}

// ---------------------------------------------------------------------------------------------- masks

static void test_area_is_exact(void **state) {
    (void)state;
    sim_image im = {0};
    sim_canvas c = {0};
    assert_int_equal(sim_image_create(200, 200, &im, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &c, NULL), CORE_OK);
    for (int k = 0; k < 50; k++) {
        double outer[8], inner[8], h = 3 + 1.1 * k, x = 100 + 0.37 * k, y = 99 - 0.21 * k;
        square(x, y, h, 0.31 * k, outer);
        square(x, y, 0.4 * h, -0.2 * k, inner);
        assert_true(sim_mask_begin(&c, x - 2 * h, y - 2 * h, x + 2 * h, y + 2 * h));
        add_ring(&c, outer, 4);
        for (int i = 3; i >= 0; i--)
            sim_mask_edge(&c, inner[2 * ((i + 1) % 4)], inner[2 * ((i + 1) % 4) + 1], inner[2 * i], inner[2 * i + 1]);
        sim_mask_resolve(&c);
        check_near(mask_sum(&c), 4 * h * h * (1 - 0.16), COVER_TOLERANCE);
    }
    sim_canvas_clear(&c);
    sim_image_clear(&im);
}

static void test_area_is_clipped(void **state) {
    (void)state;
    sim_image im = {0};
    sim_canvas c = {0};
    assert_int_equal(sim_image_create(64, 48, &im, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &c, NULL), CORE_OK);
    // A diamond about each corner of the clip: a quarter of it is inside. Half diagonal 10, area 200.
    sim_canvas_clip(&c, 12, 11, 52, 37);
    const double corner[4][2] = {{12, 11}, {52, 11}, {52, 37}, {12, 37}};
    for (int k = 0; k < 4; k++) {
        double x = corner[k][0], y = corner[k][1];
        double diamond[8] = {x + 10, y, x, y + 10, x - 10, y, x, y - 10};
        assert_true(sim_mask_begin(&c, x - 10, y - 10, x + 10, y + 10));
        add_ring(&c, diamond, 4);
        sim_mask_resolve(&c);
        check_near(mask_sum(&c), 50.0, COVER_TOLERANCE);
    }
    // One that covers everything, far beyond.
    double huge[8] = {-1e7, -1e7, 1e7, -1e7, 1e7, 1e7, -1e7, 1e7};
    assert_true(sim_mask_begin(&c, -1e7, -1e7, 1e7, 1e7));
    add_ring(&c, huge, 4);
    sim_mask_resolve(&c);
    check_near(mask_sum(&c), 40.0 * 26.0, COVER_TOLERANCE);
    assert_false(sim_mask_begin(&c, 60, 20, 63, 25));
    assert_false(sim_mask_begin(&c, NAN, 20, 30, 25));
    sim_canvas_clear(&c);
    sim_image_clear(&im);
}

// Coverage inside a clip is that of the unclipped picture, pixel by pixel.
static void test_clipping_changes_no_pixel(void **state) {
    (void)state;
    sim_image im = {0};
    sim_canvas whole = {0}, cut = {0};
    assert_int_equal(sim_image_create(80, 80, &im, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &whole, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &cut, NULL), CORE_OK);
    sim_canvas_clip(&cut, 23, 31, 52, 57);
    for (int k = 0; k < 60; k++) {
        double xy[8], x = 20 + 0.61 * k, y = 60 - 0.53 * k, h = 3 + 0.15 * k;
        square(x, y, h, 0.7 * k, xy);
        assert_true(sim_mask_begin(&whole, 0, 0, 80, 80));
        add_ring(&whole, xy, 4);
        sim_mask_resolve(&whole);
        if (!sim_mask_begin(&cut, x - 2 * h, y - 2 * h, x + 2 * h, y + 2 * h)) continue;
        add_ring(&cut, xy, 4);
        sim_mask_resolve(&cut);
        int width = cut.box[2] - cut.box[0];
        for (int j = cut.box[1]; j < cut.box[3]; j++)
            for (int i = cut.box[0]; i < cut.box[2]; i++)
                check_near((double)cut.mask[(j - cut.box[1]) * (width + 1) + i - cut.box[0]],
                           (double)whole.mask[j * 81 + i], 1e-5);
    }
    sim_canvas_clear(&whole);
    sim_canvas_clear(&cut);
    sim_image_clear(&im);
}

static void test_strokes_have_their_width(void **state) {
    (void)state;
    sim_image im = {0};
    sim_canvas c = {0};
    assert_int_equal(sim_image_create(200, 200, &im, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &c, NULL), CORE_OK);
    for (int k = 0; k < 12; k++) {
        double w = 1 + 0.5 * k, a = 0.2 * k;
        assert_true(sim_mask_begin(&c, 0, 0, 200, 200));
        sim_mask_stroke(&c, 100 - 60 * cos(a), 100 - 60 * sin(a), 100 + 60 * cos(a), 100 + 60 * sin(a), w);
        double expected = 120 * w + CORE_PI * w * w / 4;
        check_near(mask_sum(&c), expected, 0.02 * expected);
    }
    sim_canvas_clear(&c);
    sim_image_clear(&im);
}

static void test_palettes(void **state) {
    (void)state;
    double last = -1;
    for (int i = 0; i <= 100; i++) {
        sim_rgb c = sim_colour_sequential(i / 100.0);
        double light = 0.2126 * pow((double)c.r / 255, 2.2) + 0.7152 * pow((double)c.g / 255, 2.2) +
                       0.0722 * pow((double)c.b / 255, 2.2);
        assert_true(light > last);
        last = light;
    }
    sim_rgb a = sim_colour_cyclic(0), b = sim_colour_cyclic(1 - 1e-9), c = sim_colour_cyclic(7.0);
    assert_true(fabsf(a.r - b.r) < 0.1f && fabsf(a.g - b.g) < 0.1f && fabsf(a.b - b.b) < 0.1f);
    assert_true(memcmp(&a, &c, sizeof a) == 0);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) {
            sim_rgb p = sim_colour_of_type(i), q = sim_colour_of_type(j);
            assert_true(fabsf(p.r - q.r) + fabsf(p.g - q.g) + fabsf(p.b - q.b) > 60);
        }
    sim_rgb p = sim_colour_of_grain(0, 4), q = sim_colour_of_grain(0, 5);
    assert_true(fabsf(p.r - q.r) + fabsf(p.g - q.g) + fabsf(p.b - q.b) > 20);
}

static void test_text(void **state) {
    (void)state;
    // Digits are of one width, so that a running time does not jitter; width grows with size and length.
    for (char d = '1'; d <= '9'; d++) check_near(sim_text_width((char[]){d, 0}, 20), sim_text_width("0", 20), 1e-12);
    check_near(sim_text_width("hash", 20), 2 * sim_text_width("hash", 10), 1e-9);
    assert_true(sim_text_width("hashes", 10) > sim_text_width("hash", 10));
    // Broken UTF-8 ends where the text ends.
    const char *const odd[] = {"", "\xC3", "\xE2\x82", "\xF0\x9F", "\xFF\xFE", "a\xC3\xA4\xE6\x97\xA5z", "\x01\x7F"};
    sim_image im = {0};
    sim_canvas c = {0};
    assert_int_equal(sim_image_create(300, 60, &im, NULL), CORE_OK);
    assert_int_equal(sim_canvas_create(&im, &c, NULL), CORE_OK);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) sim_text_draw(&c, odd[i], 5, 40, 20, 1, (sim_rgb){0, 0, 0});
    // Every printable character leaves ink inside its own width (and a stroke's rounding), space leaves none.
    for (char ch = ' '; ch <= '~'; ch++) {
        int box[4];
        const char text[] = {ch, 0};
        memset(im.rgb, 255, 300 * 60 * 3);
        sim_text_draw(&c, text, 100, 40, 20, 1, (sim_rgb){0, 0, 0});
        int count = inked(&im, box);
        if (ch == ' ') {
            assert_int_equal(count, 0);
            continue;
        }
        assert_true(count > 4);
        if (!(box[0] >= 97 && box[2] <= 103 + sim_text_width(text, 20)))
            fail_msg("'%c' from %d to %d", ch, box[0], box[2]);
        assert_true(box[1] >= 40 - 26 && box[3] <= 40 + 9);
    }
    sim_canvas_clear(&c);
    sim_image_clear(&im);
}

// ---------------------------------------------------------------------------------------------- pictures

static void test_region_is_exact(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = one_square();
    sim_view_def def = sim_view_default_def();
    sim_image im = {0};
    int box[4];
    def.width = 1000, def.legend = false;
    memcpy(def.region, (double[]){0, 0, 1, 0.5}, sizeof def.region);
    must(view_draw(r, 0, &def, &im, &err), &err);
    assert_int_equal(im.width, 1000);
    assert_int_equal(im.height, 500);
    // Side .2 m = 200 pixels about (500, 500 - 375), and half the outline's width around it. Its pixels: up is up.
    inked(&im, box);
    assert_in_range(box[0], 397, 400);
    assert_in_range(box[2], 599, 602);
    assert_in_range(box[1], 22, 25);
    assert_in_range(box[3], 224, 227);
    sim_rgb colour = sim_colour_of_grain(0, 0);
    const uint8_t *p = im.rgb + 3 * (125 * 1000 + 500);
    assert_int_equal(p[0], (int)(colour.r + 0.5f));
    assert_int_equal(p[2], (int)(colour.b + 0.5f));
    sim_image_clear(&im);
    // The same region in a given height keeps the aspect.
    def.height = 300;
    must(view_draw(r, 0, &def, &im, &err), &err);
    assert_int_equal(im.height, 300);
    inked(&im, box);
    assert_in_range(box[2] - box[0], 119, 123);
    sim_image_clear(&im);
    core_run_close(&r);
}

static void test_fit(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = one_square();
    double region[4], margin = sqrt(2.0) / 10 + 0.02 * 0.2;
    must(sim_view_fit(r, 0, 2, 1, region, &err), &err);
    check_near(region[0], 0.4 - margin, 1e-12);
    check_near(region[1], 0.275 - margin, 1e-12);
    check_near(region[2], 0.6 + margin, 1e-12);
    check_near(region[3], 0.475 + margin, 1e-12);
    assert_int_equal(sim_view_fit(r, 2, 2, 1, region, &err), CORE_RANGE); // no grain in that frame
    assert_int_equal(sim_view_fit(r, 0, 3, 1, region, &err), CORE_RANGE);
    assert_int_equal(sim_view_fit(r, 1, 0, 1, region, &err), CORE_RANGE);
    assert_int_equal(sim_view_fit(r, -1, 0, 1, region, &err), CORE_RANGE);
    assert_int_equal(sim_view_fit(r, 0, 1, 0, region, &err), CORE_RANGE);
    assert_int_equal(sim_view_fit(NULL, 0, 1, 1, region, &err), CORE_ARG);
    check_near(region[0], 0.4 - margin, 1e-12);
    double speed = 0;
    must(sim_view_speed_scale(r, 0, 2, 1, &speed, &err), &err); // 3 m/s rounds to 5
    check_near(speed, 5, 1e-12);
    must(sim_view_speed_scale(r, 0, 0, 1, &speed, &err), &err); // nothing moves
    check_near(speed, 1, 0);
    core_run_close(&r);
}

// Two times differ by a vertical shift of whole panels only: same region, same scale.
static void test_panels_share_scale(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = one_square();
    sim_view_def def = sim_view_default_def();
    sim_view_panel panels[3] = {{r, 0, NULL}, {r, 1, NULL}, {r, 0, NULL}};
    sim_image im = {0};
    def.width = 600, def.legend = false;
    memcpy(def.region, (double[]){0, 0, 1, 0.5}, sizeof def.region);
    must(sim_view_draw_panels(3, panels, &def, &im, &err), &err);
    int step = (im.height + 8) / 3, box[4];
    for (int y = 0; y < step - 8; y++)
        for (int x = 0; x < im.width; x++)
            if (memcmp(im.rgb + 3 * (y * 600 + x), im.rgb + 3 * ((y + step) * 600 + x), 3) != 0 ||
                memcmp(im.rgb + 3 * (y * 600 + x), im.rgb + 3 * ((y + 2 * step) * 600 + x), 3) != 0)
                fail_msg("panels differ at %d, %d", x, y);
    assert_true(inked(&im, box) > 3 * 100 * 100);
    sim_image_clear(&im);
    core_run_close(&r);
}

static void test_nothing_leaves_the_picture(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse(60, false);
    const int widths[] = {64, 65, 100, 201, 640, 1280};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (int colour = 0; colour < 3; colour++)
            for (int n = 1; n <= 4; n += 3) {
                sim_view_panel panels[4];
                for (int i = 0; i < n; i++)
                    panels[i] =
                        (sim_view_panel){r, i, "A caption that is far too long for a small picture, W\xC3\xA4nde"};
                sim_view_def def = sim_view_default_def();
                sim_image im = {0};
                int box[4];
                def.width = widths[k], def.colour = (sim_view_colour)colour;
                must(sim_view_draw_panels(n, panels, &def, &im, &err), &err);
                assert_int_equal(im.width, widths[k]);
                assert_int_equal(im.height % 2, 0);
                inked(&im, box); // the margin of 1.5 capitals stays free but for descenders and round ends
                int free_pixels = widths[k] >= 640 ? 5 : 2;
                assert_true(box[0] >= free_pixels && box[2] < im.width - free_pixels);
                assert_true(box[1] >= free_pixels && box[3] < im.height - free_pixels);
                sim_image_clear(&im);
            }
    core_run_close(&r);
}

static void test_bytes_are_equal(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse(200, false);
    char *first = NULL, *second = NULL;
    size_t n_first = 0, n_second = 0;
    sim_view_def def = sim_view_default_def();
    def.width = 500;
    for (int k = 0; k < 2; k++) {
        sim_image im = {0};
        must(view_draw(r, 2, &def, &im, &err), &err);
        must(sim_image_write_png(PNG_PATH, &im, &err), &err);
        must(core_file_read(PNG_PATH, 1 << 24, k ? &second : &first, k ? &n_second : &n_first, &err), &err);
        sim_image_clear(&im);
    }
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
    assert_memory_equal(first, "\x89PNG\r\n\x1a\n", 8);
    // Another frame is another picture: the comparison above can fail.
    sim_image a = {0}, b = {0};
    must(view_draw(r, 0, &def, &a, &err), &err);
    must(view_draw(r, 3, &def, &b, &err), &err);
    assert_true(a.height != b.height || memcmp(a.rgb, b.rgb, (size_t)a.width * (size_t)a.height * 3) != 0);
    sim_image_clear(&a);
    sim_image_clear(&b);
    core_free(first);
    core_free(second);
    core_run_close(&r);
}

static void test_planes_are_drawn_while_present(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse(100, true);
    sim_view_def def = sim_view_default_def();
    def.width = 500, def.legend = false;
    // Right of the gate at 10 x 0.0195 m nothing lies above the floor while the column stands; region above the floor.
    memcpy(def.region, (double[]){0.19, 0.05, 0.24, 0.1}, sizeof def.region);
    for (int frame = 0; frame < 3; frame += 2) {
        sim_image im = {0};
        int box[4], line = 0;
        must(view_draw(r, frame, &def, &im, &err), &err);
        inked(&im, box);
        for (int y = 0; y < im.height; y++)
            line += !is_white(&im, 51, y); // the line begins at pixel 50 and is 1.8 wide
        if (frame == 0)
            assert_int_equal(line, im.height);
        else
            assert_true(line < im.height);
        sim_image_clear(&im);
    }
    core_run_close(&r);
}

static void test_bad_arguments(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = one_square();
    sim_image im = {0};
    sim_view_def good = sim_view_default_def(), def = good;
    sim_view_panel panel = {r, 0, NULL};
    assert_int_equal(view_draw(NULL, 0, &def, &im, &err), CORE_ARG);
    assert_int_equal(view_draw(r, 0, NULL, &im, &err), CORE_ARG);
    assert_int_equal(view_draw(r, 0, &def, NULL, &err), CORE_ARG);
    assert_int_equal(sim_view_draw_panels(1, NULL, &def, &im, &err), CORE_ARG);
    assert_int_equal(sim_view_draw_panels(0, &panel, &def, &im, &err), CORE_RANGE);
    assert_int_equal(sim_view_draw_panels(SIM_VIEW_PANELS_MAX + 1, &panel, &def, &im, &err), CORE_RANGE);
    assert_int_equal(view_draw(r, 3, &def, &im, &err), CORE_RANGE);
    assert_int_equal(view_draw(r, -1, &def, &im, &err), CORE_RANGE);
    assert_int_equal(view_draw(r, 2, &def, &im, &err), CORE_RANGE); // empty frame without a region
    def.cookie = 0;
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_ARG);
    const int widths[] = {0, 63, 8193, -5};
    for (int k = 0; k < 4; k++) {
        def = good, def.width = widths[k];
        assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_RANGE);
        if (widths[k] == 0) continue;
        def = good, def.height = widths[k];
        assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_RANGE);
    }
    const double regions[][4] = {{0, 0, -1, 1}, {0, 1, 1, 1}, {0, 0, NAN, 1}, {0, 0, INFINITY, 1}, {0, 0, 1, 0}};
    for (int k = 0; k < 5; k++) {
        def = good;
        memcpy(def.region, regions[k], sizeof def.region);
        assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_RANGE);
    }
    def = good, def.colour = (sim_view_colour)7;
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_ARG);
    def = good, def.speed_max = NAN;
    assert_int_equal(view_draw(r, 0, &def, &im, &err), CORE_RANGE);
    assert_int_equal(sim_image_create(0, 5, &im, &err), CORE_RANGE);
    assert_int_equal(sim_image_create(5, 5, NULL, &err), CORE_ARG);
    assert_int_equal(sim_image_write_png(PNG_PATH, &im, &err), CORE_ARG);
    assert_null(im.rgb); // untouched by every failure
    // An empty frame in a given region is an empty picture, not an error.
    def = good;
    memcpy(def.region, (double[]){0, 0, 1, 1}, sizeof def.region);
    must(view_draw(r, 2, &def, &im, &err), &err);
    assert_int_equal(sim_image_write_png("no/such/folder/x.png", &im, &err), CORE_IO);
    sim_image_clear(&im);
    core_run_close(&r);
}

static void test_allocation_failures(void **state) {
    (void)state;
    core_run_reader *r = collapse(30, false);
    sim_view_def def = sim_view_default_def();
    def.width = 200, def.colour = SIM_VIEW_SPEED;
    core_status status = CORE_MEMORY;
    int n = 1;
    for (; status != CORE_OK && n < 1000; n++) {
        core_error err = {0};
        sim_image im = {0};
        core_alloc_fail_after((uint64_t)n);
        status = view_draw(r, 1, &def, &im, &err);
        if (status == CORE_OK) status = sim_image_write_png(PNG_PATH, &im, &err);
        core_alloc_fail_after(0);
        if (status != CORE_OK) {
            assert_int_equal(status, CORE_MEMORY);
            assert_int_equal(err.code, CORE_MEMORY);
            assert_false(core_file_exists(PNG_PATH));
        }
        sim_image_clear(&im);
    }
    assert_int_equal(status, CORE_OK);
    assert_true(n > 6);
    // The encoder's own memory is probed before it starts.
    sim_image im = {0};
    core_error err = {0};
    must(view_draw(r, 1, &def, &im, &err), &err);
    remove(PNG_PATH);
    core_alloc_fail_after(1);
    assert_int_equal(sim_image_write_png(PNG_PATH, &im, &err), CORE_MEMORY);
    core_alloc_fail_after(0);
    assert_false(core_file_exists(PNG_PATH));
    sim_image_clear(&im);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area_is_exact),
        cmocka_unit_test(test_area_is_clipped),
        cmocka_unit_test(test_clipping_changes_no_pixel),
        cmocka_unit_test(test_strokes_have_their_width),
        cmocka_unit_test(test_palettes),
        cmocka_unit_test(test_text),
        cmocka_unit_test_teardown(test_region_is_exact, remove_files),
        cmocka_unit_test_teardown(test_fit, remove_files),
        cmocka_unit_test_teardown(test_panels_share_scale, remove_files),
        cmocka_unit_test_teardown(test_nothing_leaves_the_picture, remove_files),
        cmocka_unit_test_teardown(test_bytes_are_equal, remove_files),
        cmocka_unit_test_teardown(test_planes_are_drawn_while_present, remove_files),
        cmocka_unit_test_teardown(test_bad_arguments, remove_files),
        cmocka_unit_test_teardown(test_allocation_failures, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
