// *.samples.h5: what is written is what is read, to the bit; damaged and foreign files are refused with their code.
#include "test_folder.h"

#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static fixture hash, letter_u;
static cspace_samples samples;
static const core_h5_provenance provenance = {.command_line = "a test", .seed = 7};

static int setup(void **state) {
    if (test_folder_make(state) != 0) return -1;
    core_status s = fixture_hash(64, &hash, NULL);
    if (s == CORE_OK) s = fixture_u(64, &letter_u, NULL);
    cspace_pair pair;
    if (s == CORE_OK) s = cspace_pair_init(&hash.shape, &hash.grid, &letter_u.shape, &letter_u.grid, 0.75, &pair, NULL);
    cspace_sample_def def = cspace_sample_default_def();
    def.samples = 1000;
    def.held_out = 200;
    def.seed = 7;
    if (s == CORE_OK) s = cspace_sample(&pair, &def, NULL, &samples, NULL);
    return s == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    cspace_samples_clear(&samples);
    fixture_clear(&hash);
    fixture_clear(&letter_u);
    return test_folder_remove(state);
}

static void test_round_trip(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    uint64_t content, again;
    core_h5_provenance other = {.command_line = "another", .seed = 8};
    cspace_samples s = {0};
    assert_int_equal(cspace_samples_write(test_folder_path(path, "one.samples.h5"), &samples, &provenance, NULL),
                     CORE_OK);
    assert_int_equal(cspace_samples_read(path, &s, &content, NULL), CORE_OK);
    assert_true(fixture_rows_same(&samples.training, &s.training));
    assert_true(fixture_rows_same(&samples.held_out, &s.held_out));
    assert_string_equal(s.a.name, "hash");
    assert_string_equal(s.b.name, "u");
    assert_string_equal(s.labels, "minimiser");
    assert_true(s.a.hash == samples.a.hash && s.b.hash == samples.b.hash);
    assert_true(s.seed == 7 && s.input_hash == samples.input_hash);
    const double found[] = {s.ratio, s.near_fraction, s.band, s.acceptance_rate};
    const double expected[] = {samples.ratio, samples.near_fraction, samples.band, samples.acceptance_rate};
    assert_memory_equal(found, expected, sizeof found);
    cspace_samples_clear(&s);
    // who wrote it does not change the content; what is in it does
    assert_int_equal(cspace_samples_write(test_folder_path(path, "two.samples.h5"), &samples, &other, NULL), CORE_OK);
    assert_int_equal(cspace_samples_read(path, &s, &again, NULL), CORE_OK);
    assert_true(content == again);
    s.training.distance[3] += 1e-3;
    assert_int_equal(cspace_samples_write(path, &s, &other, NULL), CORE_OK);
    cspace_samples_clear(&s);
    assert_int_equal(cspace_samples_read(path, &s, &again, NULL), CORE_OK);
    assert_true(content != again);
    cspace_samples_clear(&s);
    assert_int_equal(cspace_samples_read(path, &s, NULL, NULL), CORE_OK); // the hash is optional
    char a[CORE_NAME_MAX], b[CORE_NAME_MAX];
    double ratio;
    assert_int_equal(cspace_samples_read_pair(path, a, b, &ratio, NULL), CORE_OK);
    assert_string_equal(a, s.a.name);
    assert_string_equal(b, s.b.name);
    assert_true(ratio == s.ratio);
    cspace_samples_clear(&s);
}

static void test_no_held_out_rows(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    cspace_samples without = samples, s = {0};
    without.held_out = (cspace_rows){0};
    without.held_out.pose = without.held_out.distance = without.held_out.gradient = without.held_out.moment_arm =
        samples.held_out.pose; // n = 0: nothing is read from it
    assert_int_equal(cspace_samples_write(test_folder_path(path, "none.samples.h5"), &without, &provenance, NULL),
                     CORE_OK);
    assert_int_equal(cspace_samples_read(path, &s, NULL, NULL), CORE_OK);
    assert_int_equal(s.held_out.n, 0);
    assert_int_equal(s.training.n, 1000);
    cspace_samples_clear(&s);
}

// Writes a variant and expects it to be refused; the message names the path and the word.
static void expect_refused(const cspace_samples *variant, core_status code, const char *word) {
    char path[TEST_PATH_MAX];
    cspace_samples s = {0};
    core_error err = {0};
    assert_int_equal(cspace_samples_write(test_folder_path(path, "bad.samples.h5"), variant, &provenance, NULL),
                     CORE_OK);
    assert_int_equal(cspace_samples_read(path, &s, NULL, &err), code);
    assert_non_null(strstr(err.message, "bad.samples.h5"));
    assert_non_null(strstr(err.message, word));
    assert_null(s.training.pose);
    assert_null(s.a.outline.xy);
}

static void test_bad_content(void **state) {
    (void)state;
    cspace_samples v = samples;
    double keep = samples.training.distance[5];
    samples.training.distance[5] = NAN;
    expect_refused(&samples, CORE_NONFINITE, "distance");
    samples.training.distance[5] = keep;
    keep = samples.held_out.gradient[4];
    samples.held_out.gradient[4] = INFINITY;
    expect_refused(&samples, CORE_NONFINITE, "gradient");
    samples.held_out.gradient[4] = keep;
    v.training.n = 0;
    expect_refused(&v, CORE_FORMAT, "pose");
    v = samples, v.ratio = 1e3;
    expect_refused(&v, CORE_FORMAT, "ratio");
    v = samples, v.ratio = NAN;
    expect_refused(&v, CORE_FORMAT, "ratio");
    v = samples, v.band = 0.0;
    expect_refused(&v, CORE_FORMAT, "band");
    v = samples, v.near_fraction = 2.0;
    expect_refused(&v, CORE_FORMAT, "near_fraction");
}

static void test_bad_files(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], other[TEST_PATH_MAX];
    cspace_samples s = {0};
    core_error err = {0};
    assert_int_equal(cspace_samples_read(test_folder_path(path, "absent"), &s, NULL, &err), CORE_IO);
    assert_non_null(strstr(err.message, "absent"));
    assert_int_equal(cspace_samples_read(test_folder, &s, NULL, &err), CORE_IO);
    assert_int_equal(cspace_samples_read(test_folder_write(path, "empty", ""), &s, NULL, &err), CORE_FORMAT);
    assert_int_equal(cspace_samples_read(test_folder_write(path, "text", "theta,x,y\n"), &s, NULL, &err), CORE_FORMAT);
    // another kind of file: both kinds are named
    assert_int_equal(sdf_file_write(test_folder_path(path, "hash.sdf.h5"), &hash.shape, &hash.grid, &provenance, NULL),
                     CORE_OK);
    assert_int_equal(cspace_samples_read(path, &s, NULL, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, SDF_FORMAT));
    assert_non_null(strstr(err.message, CSPACE_SAMPLES_FORMAT));
    // cut off at many places
    assert_int_equal(cspace_samples_write(test_folder_path(path, "whole"), &samples, &provenance, NULL), CORE_OK);
    char *data = NULL;
    size_t n = 0;
    assert_int_equal(core_file_read(path, (size_t)1 << 30, &data, &n, NULL), CORE_OK);
    for (int k = 0; k < 40; k++) {
        assert_int_equal(core_file_write(test_folder_path(other, "cut"), data, n * (size_t)k / 40, NULL), CORE_OK);
        assert_int_equal(cspace_samples_read(other, &s, NULL, &err), CORE_FORMAT);
        assert_null(s.training.pose);
    }
    core_free(data);
    char a[CORE_NAME_MAX], b[CORE_NAME_MAX];
    double ratio;
    assert_int_equal(cspace_samples_read_pair(NULL, a, b, &ratio, &err), CORE_ARG);
    assert_int_equal(cspace_samples_read_pair(test_folder_path(other, "absent"), a, b, &ratio, &err), CORE_IO);
    assert_int_equal(cspace_samples_read(NULL, &s, NULL, &err), CORE_ARG);
    assert_int_equal(cspace_samples_read(path, NULL, NULL, &err), CORE_ARG);
    assert_int_equal(cspace_samples_write(NULL, &samples, &provenance, &err), CORE_ARG);
    assert_int_equal(cspace_samples_write("/no/such/folder/x.samples.h5", &samples, &provenance, &err), CORE_IO);
}

// A file of this format from which something is missing, or where a column has another size.
static void test_missing_parts(void **state) {
    (void)state;
    enum { PARTS = 9 };
    for (int missing = 0; missing < PARTS; missing++) {
        char path[TEST_PATH_MAX];
        core_h5 *file = NULL;
        core_error err = {0};
        cspace_samples s = {0};
        size_t five[2] = {5, 3}, four[2] = {4, 3}, flat[2] = {5, 2};
        const double zeros[15] = {0};
        const char *sets[2] = {"", "/held_out"};
        assert_int_equal(
            core_h5_create(test_folder_path(path, "part"), CSPACE_SAMPLES_FORMAT, CSPACE_SAMPLES_VERSION, &file, NULL),
            CORE_OK);
        for (int set = 0; set < 2; set++) {
            char name[64];
            bool odd = set == missing % 2;
            snprintf(name, sizeof name, "%s/pose", sets[set]);
            core_h5_write(file, name, CORE_H5_F64, 2, missing / 2 == 0 && odd ? flat : five, zeros, NULL, NULL, NULL);
            snprintf(name, sizeof name, "%s/distance", sets[set]);
            core_h5_write(file, name, CORE_H5_F64, missing / 2 == 1 && odd ? 2 : 1, five, zeros, NULL, NULL, NULL);
            snprintf(name, sizeof name, "%s/gradient", sets[set]);
            core_h5_write(file, name, CORE_H5_F32, 2, missing / 2 == 2 && odd ? four : five, zeros, NULL, NULL, NULL);
            snprintf(name, sizeof name, "%s/moment_arm", sets[set]);
            if (missing / 2 != 3 || !odd) core_h5_write(file, name, CORE_H5_F32, 2, flat, zeros, NULL, NULL, NULL);
        }
        assert_int_equal(sdf_shape_write_h5(file, "/shapes/a", &samples.a, NULL), CORE_OK);
        if (missing != 8) assert_int_equal(sdf_shape_write_h5(file, "/shapes/b", &samples.b, NULL), CORE_OK);
        const char *texts[][2] = {
            {"a", "hash"}, {"b", "u"}, {"labels", "minimiser"}, {"input_hash", "0123456789abcdef"}};
        for (int i = 0; i < 4; i++) core_h5_set_text(file, "/", texts[i][0], texts[i][1], NULL);
        char digits[17];
        core_hash_text(samples.a.hash, digits);
        core_h5_set_text(file, "/", "hash_a", digits, NULL);
        core_hash_text(samples.b.hash, digits);
        core_h5_set_text(file, "/", "hash_b", digits, NULL);
        const char *numbers[] = {"ratio", "near_fraction", "band", "acceptance_rate"};
        for (int i = 0; i < 4; i++) core_h5_set_number(file, "/", numbers[i], 0.5, NULL);
        core_h5_set_integer(file, "/", "seed", 1, NULL);
        assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
        core_status status = cspace_samples_read(path, &s, NULL, &err);
        assert_int_equal(status, CORE_FORMAT);
        static const char *const words[] = {"pose", "distance", "gradient", "moment_arm", "shapes/b"};
        assert_non_null(strstr(err.message, words[missing / 2]));
        assert_null(s.training.pose);
    }
}

static void test_failing_memory(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    for (int reading = 0; reading < 2; reading++) {
        core_status status = CORE_MEMORY;
        uint64_t n = 0;
        for (; status != CORE_OK; n++) {
            cspace_samples s = {0};
            core_error err = {0};
            test_folder_path(path, "memory");
            core_alloc_fail_after(n + 1);
            status = reading ? cspace_samples_read(path, &s, NULL, &err)
                             : cspace_samples_write(path, &samples, &provenance, &err);
            core_alloc_fail_after(0);
            // HDF5 passes a failure inside its file driver on as one to open the file
            if (status != CORE_OK) assert_true(status == CORE_MEMORY || status == CORE_IO);
            if (status != CORE_OK && !reading) assert_false(core_file_exists(path));
            assert_true(!reading || (s.training.pose != NULL) == (status == CORE_OK));
            cspace_samples_clear(&s);
        }
        assert_true(n > 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_no_held_out_rows),
                                       cmocka_unit_test(test_bad_content),   cmocka_unit_test(test_bad_files),
                                       cmocka_unit_test(test_missing_parts), cmocka_unit_test(test_failing_memory)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
