/// Run files with walls, moving planes, a period and prescribed grains: what is written is read back to the bit; files
/// that lie are refused.
#include "test_folder.h"

#include "core_run.h"
#include "sim_check.h"

enum { ROWS = 2, FRAMES = 3 };
static int ring_start[2] = {0, 4};
static double outline_xy[8] = {1, 0, 0, 1, -1, 0, 0, -1};
static double points[6] = {-1, 0, 0, 0.5, 1, 0};
static const int32_t species[ROWS] = {0, 0};
static const double mass[ROWS] = {1, 2};
static const uint8_t prescribed[ROWS] = {0, 1};
static const core_run_plane plane = {"floor", {0, 1}, 0.25};
static const core_run_wall walls[2] = {{.name = "drum", .is_circle = true, .radius = 3},
                                       {.name = "chute", .thickness = 0.1, .count_points = 3, .points = points}};

static core_run_def make_def(const core_run_type *type) {
    return (core_run_def){.count_rows = ROWS,
                          .count_types = 1,
                          .types = type,
                          .count_planes = 1,
                          .planes = &plane,
                          .count_walls = 2,
                          .walls = walls,
                          .period = {-1, 1.5},
                          .species = species,
                          .prescribed = prescribed,
                          .mass = mass,
                          .dt = 1};
}

static void make_frame(int i, core_run_frame *f) {
    f->step = f->time = i;
    for (int k = 0; k < ROWS; k++) {
        f->id[k] = k;
        f->image[k] = 3 * i - k;
    }
    for (int k = 0; k < 3; k++) f->plane[k] = sin(i + k);
    for (int k = 0; k < 6; k++) f->wall_pose[k] = cos(7 * i + k);
    f->plane_present[0] = 1;
    f->wall_present[0] = 1;
    f->wall_present[1] = i < 2;
}

static core_run_frame new_frame(void) {
    core_run_frame f = {0};
    check_ok(core_run_frame_create(ROWS, 0, 1, &f, err));
    check_ok(core_run_frame_add_walls(2, &f, err));
    return f;
}

static core_run_type type = {
    .name = "square", .shape = "square", .radius = 1, .density = 1, .outline = {1, ring_start, outline_xy}};

static void what_is_written_is_read(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    core_run_frame f = new_frame(), g = new_frame();
    core_run_def def = make_def(&type);
    check_ok(core_run_create(test_folder_path(path, "a.h5"), &def, &w, err));
    for (int i = 0; i < FRAMES; i++) {
        make_frame(i, &f);
        check_ok(core_run_append(w, &f, err));
    }
    core_error cause = {0};
    f.wall_pose[4] = NAN;
    assert_int_equal(core_run_append(w, &f, &cause), CORE_NONFINITE);
    f.wall_pose[4] = 0;
    f.plane[1] = INFINITY;
    assert_int_equal(core_run_append(w, &f, &cause), CORE_NONFINITE);
    check_ok(core_run_finish(&w, err));
    check_ok(core_run_open(path, &r, err));
    const core_run_info *info = core_run_describe(r);
    assert_int_equal(info->count_walls, 2);
    assert_true(info->period[0] == -1 && info->period[1] == 1.5 && info->prescribed[0] == 0 &&
                info->prescribed[1] == 1);
    assert_string_equal(info->walls[0].name, "drum");
    assert_true(info->walls[0].is_circle && info->walls[0].radius == 3 && !info->walls[0].points);
    assert_true(!info->walls[1].is_circle && info->walls[1].thickness == 0.1 && info->walls[1].count_points == 3);
    assert_memory_equal(info->walls[1].points, points, sizeof points);
    for (int i = 0; i < FRAMES; i++) {
        make_frame(i, &f);
        check_ok(core_run_read(r, i, &g, err));
        assert_memory_equal(g.image, f.image, sizeof(int32_t[ROWS]));
        assert_memory_equal(g.plane, f.plane, sizeof(double[3]));
        assert_memory_equal(g.wall_pose, f.wall_pose, sizeof(double[6]));
        assert_memory_equal(g.wall_present, f.wall_present, 2);
    }
    core_run_close(&r);
    core_run_frame_clear(&f);
    core_run_frame_clear(&g);
}

static void a_run_without_them_has_none(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    core_run_frame f = new_frame();
    core_run_def def = make_def(&type);
    def.count_walls = 0;
    def.period[0] = def.period[1];
    def.prescribed = NULL;
    check_ok(core_run_create(test_folder_path(path, "b.h5"), &def, &w, err));
    make_frame(1, &f);
    check_ok(core_run_append(w, &f, err));
    check_ok(core_run_finish(&w, err));
    check_ok(core_run_open(path, &r, err));
    const core_run_info *info = core_run_describe(r);
    assert_true(info->count_walls == 0 && !(info->period[0] < info->period[1]) && info->prescribed[1] == 0);
    check_ok(core_run_read(r, 0, &f, err));
    assert_true(f.image[0] == 0 && f.image[1] == 0);
    core_run_close(&r);
    core_run_frame_clear(&f);
}

// Makes a run file by hand whose wall 0 says something else.
static void expect_refused(double length, core_status status, const char *message) {
    char path[TEST_PATH_MAX];
    core_run_writer *w = NULL;
    core_run_reader *r = NULL;
    core_run_def def = make_def(&type);
    core_run_wall wrong[2] = {walls[0], walls[1]};
    core_error cause = {0};
    wrong[0].radius = length;
    def.walls = wrong;
    check_ok(core_run_create(test_folder_path(path, "c.h5"), &def, &w, err));
    check_ok(core_run_finish(&w, err));
    assert_int_equal(core_run_open(path, &r, &cause), status);
    if (!strstr(cause.message, message)) fail_msg("found \"%s\", expected \"%s\"", cause.message, message);
}

static void lies_and_bad_arguments_are_refused(void **state) {
    (void)state;
    char path[TEST_PATH_MAX];
    core_error cause = {0};
    core_run_writer *w = NULL;
    expect_refused(-1, CORE_FORMAT, "/parameters/walls/0/radius: -1; expected a number above 0");
    expect_refused(NAN, CORE_NONFINITE, "/parameters/walls/0/radius");
    core_run_def def = make_def(&type);
    def.walls = NULL;
    assert_int_equal(core_run_create(test_folder_path(path, "d.h5"), &def, &w, &cause), CORE_ARG);
    core_run_frame f = {0};
    assert_int_equal(core_run_frame_add_walls(-1, &f, &cause), CORE_ARG);
    check_ok(core_run_frame_create(ROWS, 0, 1, &f, err));
    for (uint64_t n = 1; n <= 2; n++) {
        core_alloc_fail_after(n);
        assert_int_equal(core_run_frame_add_walls(2, &f, &cause), CORE_MEMORY);
        core_alloc_fail_after(0);
        assert_null(f.wall_pose);
    }
    core_run_frame_clear(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_run_without_them_has_none),
        cmocka_unit_test(lies_and_bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
