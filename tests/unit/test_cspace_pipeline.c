// Shapes to bundle: which pairs are made, what is reused, what makes a stage stale, what is refused.
#include "test_folder.h"

#include "cspace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static const char triangle[] = "POLYGON ((0 0, 2 0, 1 1.5, 0 0))";
static const char square[] = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))";

static cspace_pipeline_def small_def(void) {
    cspace_pipeline_def def;
    assert_int_equal(cspace_pipeline_default_def("default", &def, NULL), CORE_OK);
    def.resolution = 32;
    def.sample.samples = 1000, def.sample.held_out = 200;
    def.sample.search.tolerance = 1e-3;
    def.train.net.layers = 1, def.train.net.width = 8, def.train.net.epochs = 1, def.train.net.batch = 128;
    return def;
}

// A run that has to succeed; what it returns is what the file holds.
static cspace_pipeline_report run(const cspace_pipeline_shape *shapes, int count, const char *maps,
                                  const cspace_pipeline_def *def, cspace_bundle *bundle) {
    cspace_pipeline_report report;
    core_error err = {0};
    *bundle = (cspace_bundle){0};
    if (cspace_pipeline_run(shapes, count, maps, def, NULL, NULL, bundle, &report, &err) != CORE_OK)
        fail_msg("%s", err.message);
    cspace_bundle written = {0};
    assert_int_equal(cspace_bundle_read(maps, &written, NULL, &err), CORE_OK);
    assert_int_equal(written.count_maps, bundle->count_maps);
    for (int i = 0; i < written.count_maps; i++) {
        assert_int_equal(written.maps[i].input_hash, bundle->maps[i].input_hash);
        assert_int_equal(nn_model_hash(&written.maps[i].distance), nn_model_hash(&bundle->maps[i].distance));
    }
    cspace_bundle_clear(&written);
    return report;
}

static void assert_report(const cspace_pipeline_report *r, int grids_built, int grids_reused, int samples_built,
                          int samples_reused, int maps_built, int maps_reused) {
    const int found[6] = {r->count_grids_built,    r->count_grids_reused, r->count_samples_built,
                          r->count_samples_reused, r->count_maps_built,   r->count_maps_reused};
    const int expected[6] = {grids_built, grids_reused, samples_built, samples_reused, maps_built, maps_reused};
    for (int i = 0; i < 6; i++)
        if (found[i] != expected[i])
            fail_msg("count %d of the report: found %d, expected %d", i, found[i], expected[i]);
}

// Every file of the cache folder beside `maps`, and the folder.
static void remove_cache(const char *maps) {
    char folder[TEST_PATH_MAX + 16], path[2 * TEST_PATH_MAX];
    snprintf(folder, sizeof folder, "%s.cache", maps);
    DIR *d = opendir(folder);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') assert_int_equal(remove(path), 0);
    }
    if (d) closedir(d);
    rmdir(folder);
}

static uint64_t content(const char *path) {
    cspace_bundle bundle = {0};
    uint64_t hash = 0;
    assert_int_equal(cspace_bundle_read(path, &bundle, &hash, NULL), CORE_OK);
    cspace_bundle_clear(&bundle);
    return hash;
}

/// A run that has to make and take these numbers of grids, samples and maps.
static void expect_run(const cspace_pipeline_shape *shapes, int n, const char *maps, const cspace_pipeline_def *def,
                       int grids_built, int grids_reused, int samples_built, int samples_reused, int maps_built,
                       int maps_reused) {
    cspace_bundle bundle;
    const cspace_pipeline_report r = run(shapes, n, maps, def, &bundle);
    assert_report(&r, grids_built, grids_reused, samples_built, samples_reused, maps_built, maps_reused);
    cspace_bundle_clear(&bundle);
}

static void test_reuse(void **state) {
    (void)state;
    char a[TEST_PATH_MAX], b[TEST_PATH_MAX], maps[TEST_PATH_MAX], cached[2 * TEST_PATH_MAX];
    test_folder_write(a, "tri.wkt", triangle), test_folder_write(b, "sq.wkt", square);
    test_folder_path(maps, "reuse.h5");
    const cspace_pipeline_shape shapes[] = {{a, 1.0}, {b, 1.0}, {a, 1.0}}; // one of them twice
    cspace_pipeline_def def = small_def();
    cspace_bundle bundle;
    cspace_pipeline_report r = run(shapes, 3, maps, &def, &bundle);
    assert_report(&r, 2, 0, 3, 0, 3, 0);
    assert_int_equal(bundle.count_maps, 3);
    assert_string_equal(bundle.maps[0].a, "sq");
    assert_string_equal(bundle.maps[1].b, "tri");
    assert_string_equal(bundle.maps[2].a, "tri");
    cspace_bundle_clear(&bundle);
    const uint64_t first = content(maps);

    expect_run(shapes, 3, maps, &def, 0, 2, 0, 0, 0, 3); // nothing changed
    assert_int_equal(content(maps), first);

    assert_int_equal(remove(maps), 0); // as after an interruption: trained pairs are in the cache
    expect_run(shapes, 2, maps, &def, 0, 2, 0, 0, 0, 3);
    assert_int_equal(content(maps), first);

    remove_cache(maps); // the bundle alone is enough, too
    expect_run(shapes, 2, maps, &def, 2, 0, 0, 0, 0, 3);

    def.train.net.epochs = 2; // another training: samples stay (here they are gone with the cache)
    expect_run(shapes, 1, maps, &def, 0, 1, 1, 0, 1, 0);
    def.train.net.epochs = 3;
    expect_run(shapes, 1, maps, &def, 0, 1, 0, 1, 1, 0);
    def.sample.seed = 5; // other samples
    expect_run(shapes, 1, maps, &def, 0, 1, 1, 0, 1, 0);
    def.resolution = 40; // other grids
    expect_run(shapes, 1, maps, &def, 1, 0, 1, 0, 1, 0);
    test_folder_write(a, "tri.wkt", square); // another outline under the old name
    expect_run(shapes, 1, maps, &def, 1, 0, 1, 0, 1, 0);

    snprintf(cached, sizeof cached, "%s.cache/tri.sdf.h5", maps); // a broken intermediate is made anew
    assert_int_equal(core_file_write(cached, "broken", 6, NULL), CORE_OK);
    expect_run(shapes, 1, maps, &def, 1, 0, 0, 0, 0, 1);
    remove_cache(maps);
}

// Sizes give ratios: equal shapes once a ratio, stored with ratio <= 1.
static void test_ratios(void **state) {
    (void)state;
    char a[TEST_PATH_MAX], b[TEST_PATH_MAX], maps[TEST_PATH_MAX];
    test_folder_write(a, "ta.wkt", triangle), test_folder_write(b, "tb.wkt", square);
    test_folder_path(maps, "ratios.h5");
    const cspace_pipeline_shape shapes[] = {{a, 0.01}, {a, 0.02}, {b, 0.04}};
    const cspace_pipeline_def def = small_def();
    cspace_bundle bundle;
    const cspace_pipeline_report r = run(shapes, 3, maps, &def, &bundle);
    assert_report(&r, 2, 0, 5, 0, 5, 0); // a-a 1, a-a 1/2, a-b 2, a-b 4, b-b 1
    const double ratios[] = {0.5, 1.0, 2.0, 4.0, 1.0};
    for (int i = 0; i < 5; i++) assert_true(fabs(bundle.maps[i].ratio - ratios[i]) < 1e-12);
    cspace_bundle_clear(&bundle);
    remove_cache(maps);
}

static void test_refused(void **state) {
    (void)state;
    char a[TEST_PATH_MAX], b[2 * TEST_PATH_MAX], folder[TEST_PATH_MAX], maps[TEST_PATH_MAX], foreign[TEST_PATH_MAX];
    core_error err = {0};
    cspace_bundle bundle = {0};
    cspace_pipeline_report report;
    cspace_pipeline_def def = small_def();
    test_folder_write(a, "same.wkt", triangle);
    test_folder_path(folder, "elsewhere");
    test_folder_path(maps, "refused.h5");
    assert_int_equal(core_file_make_directory(folder, &err), CORE_OK);
    snprintf(b, sizeof b, "%s/same.wkt", folder);
    assert_int_equal(core_file_write(b, square, sizeof square - 1, &err), CORE_OK);
    const cspace_pipeline_shape two[] = {{a, 1.0}, {b, 1.0}}, none[] = {{a, 0.0}};
    assert_int_equal(cspace_pipeline_run(two, 2, maps, &def, NULL, NULL, &bundle, &report, &err), CORE_SHAPE);
    assert_non_null(strstr(err.message, "same"));
    assert_int_equal(cspace_pipeline_run(none, 1, maps, &def, NULL, NULL, &bundle, &report, &err), CORE_ARG);
    assert_int_equal(cspace_pipeline_run(two, 0, maps, &def, NULL, NULL, &bundle, &report, &err), CORE_ARG);
    // A file that is no bundle is not overwritten.
    test_folder_write(foreign, "thesis.h5", "years of work");
    assert_int_equal(cspace_pipeline_run(two, 1, foreign, &def, NULL, NULL, &bundle, &report, &err), CORE_FORMAT);
    char *text = NULL;
    size_t n_bytes;
    assert_int_equal(core_file_read(foreign, 100, &text, &n_bytes, &err), CORE_OK);
    assert_string_equal(text, "years of work");
    core_free(text);
    assert_int_equal(cspace_pipeline_run(two, 1, folder, &def, NULL, NULL, &bundle, &report, &err), CORE_IO);
    char deep[2 * TEST_PATH_MAX];
    snprintf(deep, sizeof deep, "%s/missing/maps.h5", folder);
    assert_int_equal(cspace_pipeline_run(two, 1, deep, &def, NULL, NULL, &bundle, &report, &err), CORE_IO);
    def.cookie = 0;
    assert_int_equal(cspace_pipeline_run(two, 1, maps, &def, NULL, NULL, &bundle, &report, &err), CORE_ARG);
    assert_int_equal(cspace_pipeline_default_def("nonsense", &def, &err), CORE_ARG);
    assert_true(bundle.maps == NULL && !core_file_exists(maps));
    remove(b);
    rmdir(folder);
    remove_cache(maps);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reuse), cmocka_unit_test(test_ratios),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
