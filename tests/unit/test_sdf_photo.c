/// Photographs: blur, automatic threshold, and warnings about figures that are cut off or have very many vertices.
#include "test_sdf_png.h"

/// A grey image, row-major from the top.
typedef struct picture {
    int width, height;
    uint16_t *grey;
} picture;

static picture picture_make(int width, int height, int grey) {
    picture p = {width, height, calloc((size_t)width * (size_t)height, sizeof *p.grey)};
    assert_non_null(p.grey);
    for (int i = 0; i < width * height; i++) p.grey[i] = (uint16_t)grey;
    return p;
}

/// Anti-aliased disc.
static void draw_disc(picture *p, double x, double y, double r, int grey) {
    for (int i = 0; i < p->width * p->height; i++) {
        double d = hypot(i % p->width + 0.5 - x, i / p->width + 0.5 - y) - r;
        double share = fmin(fmax(0.5 - d, 0), 1);
        p->grey[i] = (uint16_t)(p->grey[i] + share * (grey - p->grey[i]) + 0.5);
    }
}

static void add_noise(picture *p, double sigma) {
    core_random random;
    core_random_init(&random, 7, 0);
    for (int i = 0; i < p->width * p->height; i++)
        p->grey[i] = (uint16_t)fmin(fmax(p->grey[i] + sigma * core_random_normal(&random), 0), 255);
}

static core_status picture_read(const picture *p, const sdf_read_def *def, sdf_shape *s, core_error *err) {
    test_png f = test_png_make(p->width, p->height, 8, 0, 1, p->grey, NULL, 0, NULL, 0);
    const char *path = test_write("a.png", f.data, f.n);
    core_status status = sdf_shape_read(path, def, s, err);
    remove(path);
    free(f.data);
    return status;
}

static sdf_shape picture_shape(const picture *p, double blur, int threshold, double simplify) {
    sdf_read_def def = sdf_read_default_def();
    def.blur = blur, def.threshold = threshold, def.simplify = simplify;
    sdf_shape s = {0};
    core_error err = {0};
    if (picture_read(p, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    return s;
}

/// Independent of the library's formula: the cut that leaves the least variance within both classes, as the sum over
/// the pixels.
static double within(const picture *p, int threshold) {
    double sum[2] = {0}, squares[2] = {0}, count[2] = {0};
    for (int i = 0; i < p->width * p->height; i++) {
        int side = p->grey[i] < threshold;
        sum[side] += p->grey[i], squares[side] += p->grey[i] * p->grey[i], count[side]++;
    }
    double result = 0;
    for (int k = 0; k < 2; k++) result += count[k] > 0 ? squares[k] - sum[k] * sum[k] / count[k] : 0;
    return result;
}

static void automatic_threshold(void **state) {
    (void)state;
    // Two greys: the middle between them. Black and white: what the fixed threshold gives, to the bit.
    picture two = picture_make(64, 64, 200);
    draw_disc(&two, 32, 32, 20, 200); // nothing
    for (int i = 0; i < 64 * 64; i++)
        if (i % 64 >= 20 && i % 64 < 40 && i / 64 >= 10 && i / 64 < 50) two.grey[i] = 60;
    sdf_shape s = picture_shape(&two, 0, SDF_THRESHOLD_AUTO, -1);
    assert_int_equal(s.import.threshold, 130);
    sdf_shape_clear(&s);
    picture white = picture_make(64, 64, 255);
    draw_disc(&white, 32, 32, 20, 0);
    for (int i = 0; i < 64 * 64; i++) white.grey[i] = white.grey[i] < 128 ? 0 : 255;
    sdf_shape fixed = picture_shape(&white, 0, 128, -1);
    s = picture_shape(&white, 0, SDF_THRESHOLD_AUTO, -1);
    assert_int_equal(fixed.import.threshold, 128);
    assert_int_equal(s.import.threshold, 128);
    assert_true(s.hash == fixed.hash);
    sdf_shape_clear(&s);
    sdf_shape_clear(&fixed);
    // Noise: least variance within the classes among all thresholds.
    picture noisy = picture_make(96, 96, 180);
    draw_disc(&noisy, 40, 50, 25, 90);
    add_noise(&noisy, 18);
    sdf_read_def def = sdf_read_default_def();
    def.threshold = SDF_THRESHOLD_AUTO, def.largest = true;
    assert_int_equal(picture_read(&noisy, &def, &s, NULL), CORE_OK);
    double found = within(&noisy, s.import.threshold);
    for (int t = 1; t <= 255; t++)
        if (within(&noisy, t) < found * (1 - 1e-12)) fail_msg("%d leaves less than %d", t, s.import.threshold);
    assert_in_range(s.import.threshold, 120, 150);
    sdf_shape_clear(&s);
    free(two.grey);
    free(white.grey);
    free(noisy.grey);
    // Nothing to tell apart.
    picture flat = picture_make(8, 8, 77);
    core_error err = {0};
    assert_int_equal(picture_read(&flat, &def, &s, &err), CORE_SHAPE);
    assert_non_null(strstr(err.message, "every pixel has the same grey level"));
    free(flat.grey);
}

/// A blur moves a straight edge not at all, not even at the border, and a circle inwards by sigma^2/(2 r) (heat flow:
/// the level line moves by its curvature times sigma^2/2).
static void blurred_edges(void **state) {
    (void)state;
    picture half = picture_make(24, 18, 255);
    for (int i = 0; i < 24 * 18; i++) half.grey[i] = i % 24 < 10 ? 0 : 255;
    for (int k = 0; k < 2; k++) {
        sdf_shape s = picture_shape(&half, k ? 2.5 : 0, 128, 0);
        test_near(s.drawn.area, 180, 0.1, "half of the image");
        test_near(s.drawn.centroid[0], 5, 0.01, "its middle");
        sdf_shape_clear(&s);
    }
    free(half.grey);
    for (int k = 0; k < 3; k++) {
        const double sigma = (const double[]){0.7, 2, 4}[k], r = 40;
        // The limit lies half a level below the threshold: in the middle of both greys.
        picture p = picture_make(128, 112, 219);
        draw_disc(&p, 64.3, 56, r, 20);
        sdf_shape sharp = picture_shape(&p, 0, 120, 0), s = picture_shape(&p, sigma, 120, 0);
        double moved = sqrt(sharp.drawn.area / CORE_PI) - sqrt(s.drawn.area / CORE_PI);
        printf("blur of %g pixels: a radius of 40 pixels shrinks by %.4f, first order %.4f\n", sigma, moved,
               sigma * sigma / (2 * r));
        test_near(moved, sigma * sigma / (2 * r), 0.004, "how far a circle shrinks");
        test_near(s.drawn.centroid[0], 64.3, 0.01, "centre x");
        test_near(s.drawn.centroid[1], 56, 0.01, "centre y");
        assert_true(s.import.blur == sigma);
        sdf_shape_clear(&s);
        sdf_shape_clear(&sharp);
        free(p.grey);
    }
}

/// Rows and columns are treated alike: a picture and its transpose.
static void blur_transposed(void **state) {
    (void)state;
    picture p = picture_make(40, 30, 240), q = picture_make(30, 40, 0);
    draw_disc(&p, 17, 14, 9, 30);
    draw_disc(&p, 23, 16, 6, 60);
    for (int i = 0; i < 40 * 30; i++) q.grey[i % 40 * 30 + i / 40] = p.grey[i];
    sdf_shape s = picture_shape(&p, 1.3, 128, 0), t = picture_shape(&q, 1.3, 128, 0);
    test_near(s.drawn.area, t.drawn.area, 0.02, "area"); // the order of rounding differs
    test_near(s.drawn.centroid[0], 40 - t.drawn.centroid[1], 0.01, "x is y");
    assert_int_equal(core_outline_count(&s.outline), core_outline_count(&t.outline));
    sdf_shape_clear(&s);
    sdf_shape_clear(&t);
    free(p.grey);
    free(q.grey);
}

/// Notes that have the text in them.
static int count_notes(const sdf_shape *s, const char *text) {
    char notes[SDF_SHAPE_NOTES_MAX][SDF_NOTE_MAX];
    int count = sdf_shape_notes(s, notes), with = 0;
    for (int i = 0; i < count; i++) with += strstr(notes[i], text) != NULL;
    return with;
}

/// A noisy disc: ragged without a blur, a circle with one.
static void noise(void **state) {
    (void)state;
    picture p = picture_make(160, 160, 190);
    draw_disc(&p, 80, 80, 50, 70);
    add_noise(&p, 30);
    sdf_read_def def = sdf_read_default_def();
    def.threshold = SDF_THRESHOLD_AUTO, def.largest = true;
    sdf_shape ragged = {0};
    assert_int_equal(picture_read(&p, &def, &ragged, NULL), CORE_OK);
    sdf_shape s = picture_shape(&p, 2.5, SDF_THRESHOLD_AUTO, 0.5);
    double worst = 0;
    for (int i = 0; i < core_outline_count(&s.outline); i++) {
        const double *v = s.outline.xy + 2 * i;
        worst = fmax(worst, fabs(hypot(v[0] * s.drawn.circumradius + s.drawn.centroid[0] - 80,
                                       v[1] * s.drawn.circumradius + s.drawn.centroid[1] - 80) -
                                 50));
    }
    printf("noisy disc: %d vertices and %d specks, blurred %d and %d, off by %.2f pixels at most\n",
           core_outline_count(&ragged.outline), ragged.import.count_specks, core_outline_count(&s.outline),
           s.import.count_specks, worst);
    assert_true(core_outline_count(&ragged.outline) > 200);
    assert_true(core_outline_count(&s.outline) < 60);
    assert_int_equal(s.import.count_specks, 0);
    assert_true(worst < 1);
    // Noise is told from a rough edge by its specks.
    sdf_shape many = {.outline = test_disc(400, 1, 0, 0, 0, 0)};
    for (int k = 0; k < 2; k++) {
        many.import = (sdf_import){.image = 1, .simplify_many = 1, .count_specks = k ? 20 : 19};
        assert_int_equal(count_notes(&many, "--simplify 1 leaves at most 100"), 1);
        assert_int_equal(count_notes(&many, "try --blur 2 first"), k);
    }
    sdf_shape_clear(&many);
    sdf_shape_clear(&ragged);
    sdf_shape_clear(&s);
    free(p.grey);
}

/// Pixels of the border that are inside; none for a figure one pixel away.
static void border(void **state) {
    (void)state;
    picture p = picture_make(8, 6, 255);
    for (int i = 0; i < 48; i++) p.grey[i] = i % 8 < 4 ? 0 : 255;
    sdf_shape s = picture_shape(&p, 0, 128, -1);
    assert_int_equal(s.import.count_border, 6 + 4 + 4);
    assert_int_equal(count_notes(&s, "touches the image's border over 14 pixels"), 1);
    sdf_shape_clear(&s);
    for (int i = 0; i < 48; i++) p.grey[i] = i % 8 == 0 || i % 8 == 7 || i / 8 == 0 || i / 8 == 5 ? 255 : 0;
    s = picture_shape(&p, 0, 128, -1);
    assert_int_equal(s.import.count_border, 0);
    assert_int_equal(count_notes(&s, ""), 0);
    sdf_shape_clear(&s);
    // Cut off at one side alone.
    p.grey[2 * 8 + 7] = 0;
    s = picture_shape(&p, 0, 128, -1);
    assert_int_equal(s.import.count_border, 1);
    sdf_shape_clear(&s);
    free(p.grey);
}

/// A wheel of 90 teeth, `height` pixels above and below a radius of 130.
static picture wheel(double height) {
    picture p = picture_make(320, 320, 255);
    for (int i = 0; i < 320 * 320; i++) {
        double x = i % 320 - 160, y = i / 320 - 160, r = 130 + height * sin(90 * atan2(y, x));
        double share = fmin(fmax(0.5 - (hypot(x, y) - r), 0), 1);
        p.grey[i] = (uint16_t)(255 - 255 * share + 0.5);
    }
    return p;
}

/// The advice keeps what it promises.
static void many_vertices(void **state) {
    (void)state;
    picture p = wheel(1.5);
    sdf_shape s = picture_shape(&p, 0, 128, -1);
    double advised = s.import.simplify_many;
    printf("gear: %d vertices, --simplify %g advised\n", core_outline_count(&s.outline), advised);
    assert_true(core_outline_count(&s.outline) > SDF_VERTICES_MANY && advised > 0.5 && advised <= 3);
    char text[64];
    snprintf(text, sizeof text, "--simplify %.3g leaves at most 100", advised);
    assert_int_equal(count_notes(&s, text), 1);
    sdf_shape_clear(&s);
    s = picture_shape(&p, 0, 128, advised);
    assert_true(core_outline_count(&s.outline) <= 100 && s.import.simplify_many == 0);
    assert_int_equal(count_notes(&s, ""), 0);
    sdf_shape_clear(&s);
    s = picture_shape(&p, 0, 128, advised - 0.5);
    assert_true(core_outline_count(&s.outline) > 100);
    sdf_shape_clear(&s);
    free(p.grey);
    // Teeth that no simplification takes away.
    p = wheel(4);
    s = picture_shape(&p, 0, 128, -1);
    assert_true(isinf(s.import.simplify_many));
    assert_int_equal(count_notes(&s, "--blur 2"), 1);
    sdf_shape_clear(&s);
    free(p.grey);
    // A drawing has no pixels.
    for (int n = SDF_VERTICES_MANY; n <= SDF_VERTICES_MANY + 1; n++) {
        core_outline o = test_disc(n, 2, 0, 0, 0, 0);
        assert_int_equal(sdf_shape_from_outline("disc", &o, &s, NULL), CORE_OK);
        assert_int_equal(count_notes(&s, "vertices"), n - SDF_VERTICES_MANY);
        assert_int_equal(count_notes(&s, "--"), 0);
        sdf_shape_clear(&s);
        core_outline_clear(&o);
    }
}

/// What was done is in the file; a drawing's file says nothing about an image.
static void in_files(void **state) {
    (void)state;
    picture p = picture_make(48, 48, 200);
    draw_disc(&p, 10, 24, 15, 60);
    sdf_shape s = picture_shape(&p, 1.5, SDF_THRESHOLD_AUTO, -1), t = {0};
    sdf_grid g = {0};
    assert_int_equal(sdf_grid_build(&s.outline, 24, 0.3, 1, NULL, &g, NULL), CORE_OK);
    const char *path = test_path("a.sdf.h5");
    core_error err = {0};
    for (int k = 0; k < 2; k++) {
        if (sdf_file_write(path, &s, &g, NULL, &err) != CORE_OK) fail_msg("%s", err.message);
        sdf_grid_clear(&g);
        if (sdf_file_read(path, &t, &g, NULL, &err) != CORE_OK) fail_msg("%s", err.message);
        core_h5 *file = NULL;
        assert_int_equal(core_h5_open(path, SDF_FORMAT, SDF_VERSION, &file, NULL), CORE_OK);
        assert_int_equal(core_h5_exists(file, "/import/threshold"), k == 0);
        core_h5_close(&file);
        assert_int_equal(t.import.image, k == 0);
        assert_int_equal(t.import.threshold, s.import.threshold);
        assert_int_equal(t.import.count_border, s.import.count_border);
        assert_true(t.import.blur == s.import.blur && t.import.outline_error == s.import.outline_error);
        if (k == 0) assert_true(t.import.count_border > 0 && t.import.threshold > 60 && t.import.blur == 1.5);
        sdf_shape_clear(&t);
        s.import = (sdf_import){0};
    }
    sdf_grid_clear(&g);
    sdf_shape_clear(&s);
    remove(path);
    free(p.grey);
}

static void refused(void **state) {
    (void)state;
    picture p = picture_make(32, 32, 200);
    draw_disc(&p, 16, 16, 10, 60);
    sdf_shape s = {0};
    const double bad[] = {-1, 51, NAN};
    for (size_t i = 0; i < 3; i++) {
        sdf_read_def def = sdf_read_default_def();
        core_error err = {0};
        def.blur = bad[i];
        assert_int_equal(picture_read(&p, &def, &s, &err), CORE_RANGE);
        assert_non_null(strstr(err.message, "blur: found"));
    }
    sdf_read_def def = sdf_read_default_def();
    def.blur = 2, def.threshold = SDF_THRESHOLD_AUTO;
    test_png f = test_png_make(p.width, p.height, 8, 0, 1, p.grey, NULL, 0, NULL, 0);
    const char *path = test_write("a.png", f.data, f.n);
    core_status status = CORE_MEMORY;
    int failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY; n++, failures++) {
        core_alloc_fail_after(n);
        status = sdf_shape_read(path, &def, &s, NULL);
        core_alloc_fail_after(0);
        if (status != CORE_OK) assert_null(s.outline.xy);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 14, 100);
    sdf_shape_clear(&s);
    remove(path);
    free(f.data);
    free(p.grey);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_threshold),
        cmocka_unit_test(blurred_edges),
        cmocka_unit_test(blur_transposed),
        cmocka_unit_test(noise),
        cmocka_unit_test(border),
        cmocka_unit_test(many_vertices),
        cmocka_unit_test(in_files),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, test_remove_folder);
}
