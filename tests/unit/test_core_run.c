/// Run files: written and read back to the bit, the committed-frames counter, sizes, and every way a file can be wrong.
#include "test_folder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_run.h"

#define ROWS 5
#define PLANES 2
#define OBSERVABLES 3

static const int32_t species[ROWS] = {0, 1, 1, 0, 1};
static const double mass[ROWS] = {0.1, 0.2, 0.2, 0.1, 1.0 / 3};
static int ring_start[3] = {0, 4, 7};
static double outline_xy[14] = {1, 0, 0, 1, -1, 0, 0, -1, .1, 0, 0, -.1, -.1, 0};
static const core_run_observable observables[OBSERVABLES] = {
    {"kinetic_energy", "J", "kinetic energy"}, {"contacts", NULL, "touching pairs"}, {"elastic_energy", "J", NULL}};
static core_run_type types[2];
static core_run_plane planes[PLANES] = {{"floor", {0, 1}, 0}, {"gate", {-1, 0}, -0.4}};

static core_run_def good_def(void) {
    for (int i = 0; i < 2; i++) {
        types[i] =
            (core_run_type){.radius = 0.01 * (i + 1), .density = 2500, .outline = {i + 1, ring_start, outline_xy}};
        snprintf(types[i].name, sizeof types[i].name, "type %d", i);
        snprintf(types[i].shape, sizeof types[i].shape, "shape%d", i);
    }
    return (core_run_def){.count_rows = ROWS,
                          .count_types = 2,
                          .types = types,
                          .count_planes = PLANES,
                          .planes = planes,
                          .count_observables = OBSERVABLES,
                          .observables = observables,
                          .species = species,
                          .mass = mass,
                          .scene_text = "title: x\nseed: 1\n",
                          .scene_path = "a/b c.yaml",
                          .title = "Caf\xC3\xA9",
                          .gravity = {0.1, -9.81},
                          .dt = 1.0 / 3e5,
                          .provenance = {.command_line = "test", .seed = 7}};
}

/// Bits that differ in every frame, row and array; row 3 is absent in odd frames.
static void make_frame(int i, core_run_frame *f) {
    f->step = 1000 * (int64_t)i;
    f->time = i / 3.0;
    f->phase = i / 2;
    for (int k = 0; k < ROWS; k++) {
        bool absent = k == 3 && i % 2 == 1;
        f->id[k] = absent ? -1 : k;
        for (int c = 0; c < 2; c++) {
            f->position[2 * k + c] = absent ? NAN : sin(1 + 100 * i + 10 * k + c);
            f->velocity[2 * k + c] = absent ? NAN : cos(1 + 100 * i + 10 * k + c) * 1e-300;
        }
        f->orientation[k] = absent ? NAN : 1e5 * sin(7 * i + k);
        f->angular_velocity[k] = absent ? NAN : -0.0 * k;
    }
    for (int k = 0; k < OBSERVABLES; k++) f->observables[k] = k == 1 && i == 0 ? NAN : exp(i) + k;
    for (int k = 0; k < PLANES; k++) f->plane_present[k] = (uint8_t)(k == 0 || i < 2);
}

static core_run_frame new_frame(void) {
    core_run_frame frame = {0};
    core_error err = {0};
    if (core_run_frame_create(ROWS, OBSERVABLES, PLANES, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    return frame;
}

/// Writes a finished run of `frames` frames to `name`; returns its path.
static const char *write_run(char path[TEST_PATH_MAX], const char *name, int frames) {
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_def def = good_def();
    core_run_frame frame = new_frame();
    if (core_run_create(test_folder_path(path, name), &def, &w, &err) != CORE_OK) fail_msg("%s", err.message);
    for (int i = 0; i < frames; i++) {
        make_frame(i, &frame);
        if (core_run_append(w, &frame, &err) != CORE_OK) fail_msg("%s", err.message);
    }
    if (core_run_finish(&w, &err) != CORE_OK) fail_msg("%s", err.message);
    assert_null(w);
    core_run_frame_clear(&frame);
    return path;
}

static core_run_reader *open_good(const char *path) {
    core_error err = {0};
    core_run_reader *r = NULL;
    if (core_run_open(path, &r, &err) != CORE_OK) fail_msg("%s", err.message);
    return r;
}

/// Opening fails with this status and a message that holds `part`.
static void expect_refused(const char *path, core_status code, const char *part) {
    core_error err = {0};
    core_run_reader *r = NULL;
    core_status status = core_run_open(path, &r, &err);
    if (!strstr(err.message, part)) fail_msg("found \"%s\", expected \"%s\" in it", err.message, part);
    assert_int_equal(status, code);
    assert_non_null(strstr(err.message, path));
    assert_null(r);
}

// ---------------------------------------------------------------------------------------------- round trip

static void describe(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_def def = good_def();
    core_run_reader *r = open_good(write_run(path, "a.h5", 4));
    const core_run_info *info = core_run_describe(r);
    assert_int_equal(info->count_rows, ROWS);
    assert_int_equal(info->count_types, 2);
    assert_int_equal(info->count_planes, PLANES);
    assert_int_equal(info->count_observables, OBSERVABLES);
    assert_int_equal(info->count_frames, 4);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(info->types[i].name, types[i].name);
        assert_string_equal(info->types[i].shape, types[i].shape);
        assert_memory_equal(&info->types[i].radius, &types[i].radius, sizeof(double));
        assert_memory_equal(&info->types[i].density, &types[i].density, sizeof(double));
        assert_int_equal(core_outline_hash(&info->types[i].outline), core_outline_hash(&types[i].outline));
    }
    for (int i = 0; i < PLANES; i++) {
        assert_string_equal(info->planes[i].name, planes[i].name);
        assert_memory_equal(info->planes[i].normal, planes[i].normal, sizeof planes[i].normal);
        assert_memory_equal(&info->planes[i].offset, &planes[i].offset, sizeof(double));
    }
    for (int i = 0; i < OBSERVABLES; i++) {
        assert_string_equal(info->observable_names[i], observables[i].name);
        assert_int_equal(core_run_observable_index(r, observables[i].name), i);
    }
    assert_int_equal(core_run_observable_index(r, "none"), -1);
    assert_int_equal(core_run_observable_index(r, NULL), -1);
    assert_memory_equal(info->species, species, sizeof species);
    assert_memory_equal(info->mass, mass, sizeof mass);
    assert_string_equal(info->scene_text, def.scene_text);
    assert_string_equal(info->scene_path, def.scene_path);
    assert_string_equal(info->title, def.title);
    assert_memory_equal(info->gravity, def.gravity, sizeof def.gravity);
    assert_memory_equal(&info->dt, &def.dt, sizeof def.dt);
    for (int i = 0; i < 4; i++) assert_true(info->times[i] == i / 3.0);
    core_run_close(&r);
    core_run_close(&r);
    core_run_close(NULL);
}

static void frames_to_the_bit(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    const int frames = 700; // more rows than a chunk has
    core_run_reader *r = open_good(write_run(path, "b.h5", frames));
    core_run_frame expected = new_frame(), found = new_frame();
    for (int i = frames - 1; i >= 0; i -= 23) {
        make_frame(i, &expected);
        if (core_run_read(r, i, &found, &err) != CORE_OK) fail_msg("%s", err.message);
        assert_int_equal(found.step, expected.step);
        assert_memory_equal(&found.time, &expected.time, sizeof(double));
        assert_int_equal(found.phase, expected.phase);
        assert_memory_equal(found.position, expected.position, 2 * ROWS * sizeof(double));
        assert_memory_equal(found.orientation, expected.orientation, ROWS * sizeof(double));
        assert_memory_equal(found.velocity, expected.velocity, 2 * ROWS * sizeof(double));
        assert_memory_equal(found.angular_velocity, expected.angular_velocity, ROWS * sizeof(double));
        assert_memory_equal(found.id, expected.id, sizeof(int32_t) * ROWS);
        assert_memory_equal(found.observables, expected.observables, OBSERVABLES * sizeof(double));
        assert_memory_equal(found.plane_present, expected.plane_present, PLANES);
    }
    // Members that are NULL are left out.
    core_run_frame part = {.orientation = found.orientation};
    assert_int_equal(core_run_read(r, 2, &part, &err), CORE_OK);
    make_frame(2, &expected);
    assert_memory_equal(found.orientation, expected.orientation, ROWS * sizeof(double));
    assert_int_equal(part.step, 2000);
    // Frames that are not there.
    assert_int_equal(core_run_read(r, frames, &found, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "frame 700; there are 700"));
    assert_int_equal(core_run_read(r, -1, &found, &err), CORE_RANGE);
    core_run_frame_clear(&expected);
    core_run_frame_clear(&found);
    core_run_close(&r);
}

static void nearest_frames(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_reader *r = open_good(write_run(path, "c.h5", 4)); // 0, 1/3, 2/3, 1
    const struct {
        double t;
        int frame;
    } cases[] = {{-1, 0},  {0, 0}, {0.1, 0}, {0.2, 1}, {1.0 / 3, 1},   {0.6, 2},
                 {0.9, 3}, {1, 3}, {50, 3},  {NAN, 3}, {-HUGE_VAL, 0}, {HUGE_VAL, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(core_run_frame_at(r, cases[i].t), cases[i].frame);
    }
    core_run_close(&r);
    r = open_good(write_run(path, "empty.h5", 0));
    assert_int_equal(core_run_describe(r)->count_frames, 0);
    assert_int_equal(core_run_frame_at(r, 0), -1);
    assert_int_equal(core_run_frame_at(r, NAN), -1);
    core_run_close(&r);
}

/// No planes, no observables, one grain, no texts.
static void smallest_run(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_def def = good_def();
    def.count_planes = def.count_observables = 0;
    def.planes = NULL;
    def.observables = NULL;
    def.count_rows = 1;
    def.count_types = 1;
    def.title = def.scene_text = def.scene_path = NULL;
    core_run_frame frame = new_frame();
    make_frame(0, &frame);
    frame.observables[0] = 5;
    core_run_frame bare = frame;
    bare.observables = NULL;
    bare.plane_present = NULL;
    assert_int_equal(core_run_create(test_folder_path(path, "small.h5"), &def, &w, &err), CORE_OK);
    assert_int_equal(core_run_append(w, &bare, &err), CORE_OK);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    core_run_reader *r = open_good(path);
    assert_string_equal(core_run_describe(r)->title, "");
    assert_int_equal(core_run_read(r, 0, &frame, &err), CORE_OK);
    assert_true(frame.observables[0] == 5); // there are none to read
    core_run_close(&r);
    core_run_frame_clear(&frame);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK); // nothing open any more
}

/// The same run gives the same content hash; another bit, another hash. An existing file is replaced.
static void content_hash(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    uint64_t hash[3] = {0};
    static const int frames[3] = {3, 3, 2};
    for (int i = 0; i < 3; i++) {
        core_h5 *file = NULL;
        assert_int_equal(core_h5_open(write_run(path, "same.h5", frames[i]), CORE_RUN_FORMAT, 1, &file, &err), CORE_OK);
        assert_int_equal(core_h5_content_hash(file, &hash[i], &err), CORE_OK);
        core_h5_close(&file);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] != hash[2]);
}

/// Bytes on disk against bytes of the frames' arrays.
static double size_ratio(int rows, int frames) {
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_def def = good_def();
    core_run_frame frame = {0};
    int32_t *zero = calloc((size_t)rows, sizeof *zero);
    double *ones = calloc((size_t)rows, sizeof *ones);
    def.count_rows = rows;
    def.species = zero;
    def.mass = ones;
    core_run_observable many[16];
    char names[16][32];
    for (int i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "quantity_%d", i);
        many[i] = (core_run_observable){names[i], "J", "one of many"};
    }
    def.count_observables = 16;
    def.observables = many;
    assert_int_equal(core_run_frame_create(rows, 16, PLANES, &frame, &err), CORE_OK);
    assert_int_equal(core_run_create(test_folder_path(path, "size.h5"), &def, &w, &err), CORE_OK);
    for (int i = 0; i < frames; i++) assert_int_equal(core_run_append(w, &frame, &err), CORE_OK);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    double raw = frames * ((double)rows * (6 * 8 + 4) + 8 + 8 + 4 + 16 * 8 + PLANES), bytes = (double)ftell(file);
    fclose(file);
    core_run_frame_clear(&frame);
    free(zero);
    free(ones);
    return bytes / raw;
}

static void file_sizes(void **state) {
    (void)state;
    double small = size_ratio(10, 1000), large = size_ratio(10000, 100);
    print_message("file size over raw bytes: 10 grains x 1000 frames %.3f, 10,000 x 100 %.4f\n", small, large);
    assert_true(small < 3);
    assert_true(large < 1.1);
}

// ---------------------------------------------------------------------------------------------- refused on writing

static void expect_def_refused(const core_run_def *def, core_status code, const char *message) {
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = NULL;
    core_status status = core_run_create(test_folder_path(path, "refused.h5"), def, &w, &err);
    assert_string_equal(err.message, message);
    assert_int_equal(status, code);
    assert_null(w);
    assert_false(core_file_exists(path));
}

static void refused_definitions(void **state) {
    (void)state;
    static const int32_t bad_species[ROWS] = {0, 1, 2, 0, 0};
    static const double bad_mass[ROWS] = {1, 1, 1, NAN, 1};
    core_run_def def = good_def();
    def.count_rows = 0;
    expect_def_refused(&def, CORE_ARG, "run file: 0 grains; expected 1 to 100000000");
    def = good_def();
    def.species = bad_species;
    expect_def_refused(&def, CORE_RANGE, "run file: grain 2 is of type 2; expected 0 to 1");
    def = good_def();
    def.mass = bad_mass;
    expect_def_refused(&def, CORE_NONFINITE, "run file: the mass of grain 3 is nan");
    def = good_def();
    def.types = NULL;
    expect_def_refused(&def, CORE_ARG, "run file: no types, species or masses (2 types)");
    def = good_def();
    def.planes = NULL;
    expect_def_refused(&def, CORE_ARG, "run file: 2 planes, none given");
    def = good_def();
    def.observables = NULL;
    expect_def_refused(&def, CORE_ARG, "run file: 3 observables, none given");
    def = good_def();
    def.dt = NAN;
    expect_def_refused(&def, CORE_NONFINITE, "run file: gravity (0.1, -9.81), dt nan; expected finite numbers");
    def = good_def();
    types[1].radius = 0;
    expect_def_refused(&def, CORE_RANGE,
                       "run file: type type 1 has radius 0 and density 2500; expected finite numbers above 0");
    def = good_def();
    types[1].outline = (core_outline){0};
    expect_def_refused(&def, CORE_ARG, "run file: type type 1 has no outline");
    def = good_def();
    types[0].name[0] = 0;
    expect_def_refused(&def, CORE_ARG, "run file: type 0 has no name or one above 63 bytes");
    def = good_def();
    core_run_plane bad_plane = {"w", {0, NAN}, 1};
    def.planes = &bad_plane;
    def.count_planes = 1;
    expect_def_refused(&def, CORE_NONFINITE, "run file: plane w: normal (0, nan), offset 1");
    def = good_def();
    core_run_observable twice[2] = {{"a", NULL, NULL}, {"a", NULL, NULL}};
    def.observables = twice;
    def.count_observables = 2;
    expect_def_refused(&def, CORE_ARG, "run file: a second observable \"a\"");
    twice[0].name = "a/b";
    expect_def_refused(&def, CORE_ARG, "run file: observable \"a/b\": no / and . in names");
}

static void refused_paths(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_def def = good_def();
    assert_int_equal(core_run_create(test_folder_path(path, "no/such/folder.h5"), &def, &w, &err), CORE_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(core_run_create(test_folder, &def, &w, &err), CORE_IO);
    assert_int_equal(core_run_create(NULL, &def, &w, &err), CORE_ARG);
    assert_int_equal(core_run_create(path, NULL, &w, &err), CORE_ARG);
    assert_int_equal(core_run_create(path, &def, NULL, &err), CORE_ARG);
    assert_null(w);
}

/// A refused frame changes nothing: the next good one is frame 1.
static void refused_frames(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_run_writer *w = NULL;
    core_run_def def = good_def();
    core_run_frame frame = new_frame();
    assert_int_equal(core_run_create(test_folder_path(path, "frames.h5"), &def, &w, &err), CORE_OK);
    make_frame(0, &frame);
    assert_int_equal(core_run_append(w, &frame, &err), CORE_OK);
    double *const arrays[] = {frame.position, frame.orientation, frame.velocity, frame.angular_velocity};
    for (int i = 0; i < 4; i++) {
        make_frame(0, &frame);
        arrays[i][2] = i % 2 ? NAN : HUGE_VAL;
        assert_int_equal(core_run_append(w, &frame, &err), CORE_NONFINITE);
        assert_string_equal(err.message, i % 2 ? "run file: the state of grain 2 is not finite at t = 0 s"
                                               : "run file: the state of grain 1 is not finite at t = 0 s");
    }
    make_frame(0, &frame);
    frame.time = NAN;
    assert_int_equal(core_run_append(w, &frame, &err), CORE_NONFINITE);
    make_frame(0, &frame);
    frame.id[4] = -2;
    assert_int_equal(core_run_append(w, &frame, &err), CORE_RANGE);
    assert_string_equal(err.message, "run file: row 4 has id -2; expected -1 or above");
    make_frame(0, &frame);
    frame.phase = -1;
    assert_int_equal(core_run_append(w, &frame, &err), CORE_RANGE);
    make_frame(1, &frame);
    core_run_frame part = frame;
    part.velocity = NULL;
    assert_int_equal(core_run_append(w, &part, &err), CORE_ARG);
    part = frame;
    part.observables = NULL;
    assert_int_equal(core_run_append(w, &part, &err), CORE_ARG);
    part = frame;
    part.plane_present = NULL;
    assert_int_equal(core_run_append(w, &part, &err), CORE_ARG);
    assert_int_equal(core_run_append(NULL, &frame, &err), CORE_ARG);
    assert_int_equal(core_run_append(w, &frame, &err), CORE_OK);
    assert_int_equal(core_run_finish(&w, &err), CORE_OK);
    core_run_reader *r = open_good(path);
    assert_int_equal(core_run_describe(r)->count_frames, 2);
    core_run_close(&r);
    core_run_frame_clear(&frame);
}

// ---------------------------------------------------------------------------------------------- refused on reading

static void other_files(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error err = {0};
    core_h5 *file = NULL;
    expect_refused(test_folder, CORE_IO, "directory");
    expect_refused(test_folder_path(path, "none.h5"), CORE_IO, "none.h5");
    expect_refused(test_folder_write(path, "text.h5", "title: no HDF5\n"), CORE_FORMAT, "not an HDF5 file");
    expect_refused(test_folder_write(path, "nothing.h5", ""), CORE_FORMAT, "empty");
    assert_int_equal(core_h5_create(test_folder_path(path, "other.h5"), "cem.sdf", 1, &file, &err), CORE_OK);
    assert_int_equal(core_h5_commit(&file, &err), CORE_OK);
    expect_refused(path, CORE_FORMAT, "found format \"cem.sdf\", expected \"cem.run\"");
    assert_int_equal(core_h5_create(test_folder_path(path, "newer.h5"), "cem.run", CORE_RUN_VERSION + 1, &file, &err),
                     CORE_OK);
    assert_int_equal(core_h5_commit(&file, &err), CORE_OK);
    expect_refused(path, CORE_VERSION_OTHER, "version 2");
    assert_int_equal(core_h5_create(test_folder_path(path, "hollow.h5"), "cem.run", CORE_RUN_VERSION, &file, &err),
                     CORE_OK);
    assert_int_equal(core_h5_commit(&file, &err), CORE_OK);
    expect_refused(path, CORE_FORMAT, "/run/committed_frames is missing");
}

/// A run file cut at many lengths: refused in words, never worse.
static void truncated(void **state) {
    (void)state;
    char path[TEST_PATH_MAX], cut[TEST_PATH_MAX];
    char *data = NULL;
    size_t n = 0;
    core_error err = {0};
    write_run(path, "whole.h5", 6);
    assert_int_equal(core_file_read(path, 1u << 24, &data, &n, &err), CORE_OK);
    test_folder_path(cut, "cut.h5");
    for (int i = 1; i < 40; i++) {
        size_t length = n * (size_t)i / 40;
        FILE *file = fopen(cut, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(data, 1, length, file), length);
        fclose(file);
        expect_refused(cut, CORE_FORMAT, "truncated");
    }
    core_free(data);
}

// ---------------------------------------------------------------------------------------------- memory

static core_status write_and_read(const char *path, core_error *err) {
    core_status status = CORE_OK;
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    core_run_frame frame = {0};
    core_run_def def = good_def();
    CORE_TRY_DONE(core_run_frame_create(ROWS, OBSERVABLES, PLANES, &frame, err));
    make_frame(0, &frame);
    CORE_TRY_DONE(core_run_create(path, &def, &w, err));
    CORE_TRY_DONE(core_run_append(w, &frame, err));
    CORE_TRY_DONE(core_run_finish(&w, err));
    CORE_TRY_DONE(core_run_open(path, &r, err));
    CORE_TRY_DONE(core_run_read(r, 0, &frame, err));
done:
    if (w) core_run_finish(&w, NULL);
    core_run_close(&r);
    core_run_frame_clear(&frame);
    return status;
}

static void memory_failures(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    test_folder_path(path, "memory.h5");
    for (uint64_t k = 1;; k++) {
        core_error err = {0};
        core_alloc_fail_after(k);
        core_status status = write_and_read(path, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            assert_true(k > 30);
            return;
        }
        // CORE_IO: an allocation of the file driver, reported through HDF5
        if (status != CORE_MEMORY && status != CORE_IO)
            fail_msg("allocation %llu: %s", (unsigned long long)k, err.message);
        assert_true(err.message[0] != 0);
    }
}

/// A run file that cannot be created leaves no stub.
static void failed_creation(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_def def = good_def();
    test_folder_path(path, "stub.h5");
    for (uint64_t k = 1;; k++) {
        core_error err = {0};
        core_run_writer *w = NULL;
        core_alloc_fail_after(k);
        core_status status = core_run_create(path, &def, &w, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) {
            assert_int_equal(core_run_finish(&w, &err), CORE_OK);
            return;
        }
        assert_null(w);
        if (core_file_exists(path)) fail_msg("a stub is left by a failure at allocation %llu", (unsigned long long)k);
    }
}

/// After a frame that was half written there are no more frames, and readers see only the whole ones.
static void broken_writer(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_def def = good_def();
    core_run_frame frame = new_frame();
    make_frame(0, &frame);
    test_folder_path(path, "broken.h5");
    bool complete = false;
    for (uint64_t k = 1; !complete; k++) {
        core_error err = {0};
        core_run_writer *w = NULL;
        assert_int_equal(core_run_create(path, &def, &w, &err), CORE_OK);
        core_alloc_fail_after(k);
        core_status status = core_run_append(w, &frame, &err);
        core_alloc_fail_after(0);
        complete = status == CORE_OK;
        if (!complete) {
            assert_int_equal(core_run_append(w, &frame, &err), CORE_IO);
            assert_non_null(strstr(err.message, "broken.h5: an earlier frame could not be written"));
        }
        assert_int_equal(core_run_finish(&w, &err), CORE_OK);
        core_run_reader *r = open_good(path);
        assert_int_equal(core_run_describe(r)->count_frames, complete ? 1 : 0);
        core_run_close(&r);
    }
    core_run_frame_clear(&frame);
}

static void bad_arguments(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = NULL;
    core_run_frame frame = {0};
    assert_int_equal(core_run_open(NULL, &r, &err), CORE_ARG);
    assert_int_equal(core_run_open("x", NULL, &err), CORE_ARG);
    assert_int_equal(core_run_read(NULL, 0, &frame, &err), CORE_ARG);
    assert_int_equal(core_run_finish(NULL, &err), CORE_ARG);
    assert_int_equal(core_run_frame_create(-1, 0, 0, &frame, &err), CORE_ARG);
    assert_int_equal(core_run_frame_create(1, 0, 0, NULL, &err), CORE_ARG);
    assert_int_equal(core_run_frame_create(0, 0, 0, &frame, &err), CORE_OK);
    core_run_frame_clear(&frame);
    core_run_frame_clear(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe),
        cmocka_unit_test(frames_to_the_bit),
        cmocka_unit_test(nearest_frames),
        cmocka_unit_test(smallest_run),
        cmocka_unit_test(content_hash),
        cmocka_unit_test(file_sizes),
        cmocka_unit_test(refused_definitions),
        cmocka_unit_test(refused_paths),
        cmocka_unit_test(refused_frames),
        cmocka_unit_test(other_files),

        cmocka_unit_test(truncated),
        cmocka_unit_test(memory_failures),
        cmocka_unit_test(failed_creation),
        cmocka_unit_test(broken_writer),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
