/// Run files with one thing wrong each: refused on opening or on reading, with its place.
#include "test_folder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_run.h"

/// What is wrong with a file.
enum {
    NOTHING,
    SPECIES,
    ID,
    MASS,
    NORMAL,
    RADIUS,
    POSITION,
    VELOCITY,
    PHASE,
    COUNTER,
    TIME,
    ORDER,
    INDEX,
    MISSING_ROW,
    PHASE_NAME,
    UNCOMMITTED // nothing: a frame that was begun
};

/// Everything that is written once.
static core_status write_fixed(core_h5 *f, int kind, core_error *err) {
    const size_t n = 2, two = 2;
    const int32_t species[2] = {0, kind == SPECIES ? 1 : 0};
    const double mass[2] = {1, kind == MASS ? NAN : 1}, gravity[2] = {0, 0}, normal[2] = {0, kind == NORMAL ? 2 : 1};
    const double one = 1, radius = kind == RADIUS ? -1 : 1;
    const core_outline outline = {1, (int[]){0, 3}, (double[]){1, 0, 0, 1, -1, 0}};
    CORE_TRY(core_h5_write(f, "/particles/grains/species", CORE_H5_I32, 1, &n, species, NULL, NULL, err));
    CORE_TRY(core_h5_write(f, "/particles/grains/mass", CORE_H5_F64, 1, &n, mass, NULL, NULL, err));
    CORE_TRY(core_h5_write(f, "/parameters/types/0/radius", CORE_H5_F64, 0, NULL, &radius, NULL, NULL, err));
    CORE_TRY(core_h5_write(f, "/parameters/types/0/density", CORE_H5_F64, 0, NULL, &one, NULL, NULL, err));
    CORE_TRY(core_h5_write_outline(f, "/parameters/types/0/outline", &outline, NULL, err));
    CORE_TRY(core_h5_set_text(f, "/parameters/types/0", "name", "t", err));
    CORE_TRY(core_h5_set_text(f, "/parameters/types/0", "shape", "s", err));
    CORE_TRY(core_h5_write(f, "/parameters/planes/0/normal", CORE_H5_F64, 1, &two, normal, NULL, NULL, err));
    CORE_TRY(core_h5_write(f, "/parameters/planes/0/offset", CORE_H5_F64, 0, NULL, &one, NULL, NULL, err));
    CORE_TRY(core_h5_set_text(f, "/parameters/planes/0", "name", "p", err));
    CORE_TRY(core_h5_write_text(f, "/parameters/title", "t", NULL, err));
    CORE_TRY(
        core_h5_write_text(f, "/parameters/phases", kind == PHASE_NAME ? "fall\n\nrest" : "fall\nrest", NULL, err));
    CORE_TRY(core_h5_write_text(f, "/parameters/scene", "s", NULL, err));
    CORE_TRY(core_h5_write_text(f, "/parameters/scene_path", "p", NULL, err));
    CORE_TRY(core_h5_write(f, "/parameters/gravity", CORE_H5_F64, 1, &two, gravity, NULL, NULL, err));
    CORE_TRY(core_h5_write(f, "/parameters/dt", CORE_H5_F64, 0, NULL, &one, NULL, NULL, err));
    CORE_TRY(core_h5_group(f, "/observables/a", NULL, err));
    return core_h5_set_integer(f, "/observables/a", "index", kind == INDEX ? 1 : 0, err);
}

/// One frame of two grains, the second one absent; with ORDER a second one.
static core_status write_series(core_h5 *f, int kind, core_error *err) {
    const size_t n = 2, one_plane = 1, vector[2] = {2, 2};
    const double x[4] = {0, kind == POSITION ? NAN : 0, NAN, NAN},
                 v[4] = {0, kind == VELOCITY ? HUGE_VAL : 0, NAN, NAN};
    const double w[2] = {0, NAN}, one = 1, times[2] = {kind == TIME ? NAN : 1, kind == ORDER ? 0 : 2};
    const int32_t ids[2] = {0, kind == ID ? -2 : -1}, phase = kind == PHASE ? -1 : 0;
    const int64_t step = 0, count = kind == COUNTER ? 5 : 1, second = 2;
    const uint8_t present = 1;
    const struct {
        const char *path;
        core_h5_type type;
        int rank;
        const size_t *row;
        const void *data;
    } series[] = {{"/particles/grains/position/step", CORE_H5_I64, 0, NULL, &step},
                  {"/particles/grains/position/time", CORE_H5_F64, 0, NULL, &times[0]},
                  {"/particles/grains/position/value", CORE_H5_F64, 2, vector, x},
                  {"/particles/grains/orientation/value", CORE_H5_F64, 1, &n, w},
                  {"/particles/grains/velocity/value", CORE_H5_F64, 2, vector, v},
                  {"/particles/grains/angular_velocity/value", CORE_H5_F64, 1, &n, w},
                  {"/particles/grains/id/value", CORE_H5_I32, 1, &n, ids},
                  {"/observables/a/value", CORE_H5_F64, 0, NULL, &one},
                  {"/run/phase/value", CORE_H5_I32, 0, NULL, &phase},
                  {"/run/plane_present/value", CORE_H5_U8, 1, &one_plane, &present},
                  {"/run/committed_frames", CORE_H5_I64, 0, NULL, &count}};
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        const size_t *row = series[i].row;
        CORE_TRY(core_h5_series_create(f, series[i].path, series[i].type, series[i].rank, row, 4, NULL, NULL, err));
        if (kind == MISSING_ROW && series[i].data == v) continue;
        CORE_TRY(core_h5_series_append(f, series[i].path, series[i].type, series[i].rank, row, series[i].data, err));
    }
    if (kind != ORDER && kind != UNCOMMITTED) return CORE_OK;
    CORE_TRY(core_h5_series_append(f, "/particles/grains/position/time", CORE_H5_F64, 0, NULL, &times[1], err));
    if (kind == UNCOMMITTED) return CORE_OK;
    return core_h5_series_append(f, "/run/committed_frames", CORE_H5_I64, 0, NULL, &second, err);
}

static core_status write_forged(const char *path, int kind, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *f = NULL;
    CORE_TRY_DONE(core_h5_create(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &f, err));
    CORE_TRY_DONE(write_fixed(f, kind, err));
    CORE_TRY_DONE(write_series(f, kind, err));
    CORE_TRY_DONE(core_h5_commit(&f, err));
done:
    core_h5_abandon(&f);
    return status;
}

static void forged_files(void **state) {
    (void)state;
    static const struct {
        int kind;
        core_status code;
        bool on_reading; // of the frame, not on opening
        const char *part;
    } cases[] = {{NOTHING, CORE_OK, false, ""},
                 {SPECIES, CORE_FORMAT, false, "/particles/grains/species: grain 1 is of type 1; expected 0 to 0"},
                 {ID, CORE_FORMAT, true, "/particles/grains/id/value: -2 in row 1 of frame 0; expected -1 or above"},
                 {MASS, CORE_NONFINITE, false, "/particles/grains/mass"},
                 {NORMAL, CORE_FORMAT, false, "/parameters/planes/0: a normal of length 2; expected 1"},
                 {RADIUS, CORE_FORMAT, false, "/parameters/types/0: radius -1, density 1; expected both above 0"},
                 {POSITION, CORE_NONFINITE, true, "/particles/grains/position/value: nan for grain 0 in frame 0"},
                 {VELOCITY, CORE_NONFINITE, true, "/particles/grains/velocity/value: inf for grain 0 in frame 0"},
                 {PHASE, CORE_FORMAT, true, "/run/phase/value: phase -1 in frame 0"},
                 {COUNTER, CORE_FORMAT, false, "/run/committed_frames: 5 in its last row; expected 1"},
                 {TIME, CORE_NONFINITE, false, "/particles/grains/position/time: nan in row 0"},
                 {ORDER, CORE_FORMAT, false, "/particles/grains/position/time: 0 s in row 1, after 1 s"},
                 {PHASE_NAME, CORE_FORMAT, false, "/parameters/phases: name 1 has 0 bytes; expected 1 to 63"},
                 {INDEX, CORE_FORMAT, false, "/observables/a: index 1; expected each of 0 to 0 once"},
                 {MISSING_ROW, CORE_FORMAT, false,
                  "/particles/grains/velocity/value: 0 rows; expected at least 1 (committed frames)"},
                 {UNCOMMITTED, CORE_OK, false, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[TEST_PATH_MAX];
        core_error err = {0};
        core_run_reader *r = NULL;
        core_run_frame frame = {0};
        assert_int_equal(core_run_frame_create(2, 1, 1, &frame, &err), CORE_OK);
        if (write_forged(test_folder_path(path, "forged.h5"), cases[i].kind, &err) != CORE_OK)
            fail_msg("%s", err.message);
        core_status status = core_run_open(path, &r, &err);
        if (cases[i].on_reading || cases[i].code == CORE_OK) {
            if (status != CORE_OK) fail_msg("%d: %s", cases[i].kind, err.message);
            assert_int_equal(core_run_describe(r)->count_frames, 1); // what is not committed is not seen
            status = core_run_read(r, 0, &frame, &err);
        }
        if (!strstr(err.message, cases[i].part)) fail_msg("found \"%s\", expected \"%s\"", err.message, cases[i].part);
        assert_int_equal(status, cases[i].code);
        core_run_close(&r);
        core_run_frame_clear(&frame);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forged_files)};
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
