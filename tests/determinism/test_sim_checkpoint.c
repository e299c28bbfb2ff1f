/// A world written to a file and read into a fresh one goes on to the same bits, from any step: springs, what pairs are
/// known to be apart, moving boundaries, prescribed grains, periodic x, grains that come and go. Damaged files are
/// refused.
#include "sim_private.h"

#include "unit/sim_check.h"
#include "unit/sim_fixture.h"

#include <hdf5.h>
#include <stdio.h>

enum { GRAINS = 150, ABSENT = 10, STEPS = 240, BOUNDARIES = 4 };
#define FILE_NAME "test_sim_checkpoint.h5"
#define FORMAT "cem.test"
static sim_type_def types[2];
static cspace_bundle bundle;

static int make(void **state) {
    (void)state;
    const bool failed = sim_fixture_u("u", .02, 2500, &types[0], NULL) != CORE_OK ||
                        sim_fixture_block("block", .03, .012, 2500, &types[1], NULL) != CORE_OK ||
                        sim_fixture_random_bundle(2, types, 4, true, &bundle, NULL) != CORE_OK;
    // a stated error, without which no pair is taken to be apart
    for (int k = 0; k < bundle.count_maps; ++k) bundle.maps[k].error = (cspace_error_stats){.n = 1, .d_max = .001};
    return failed;
}

static int clear(void **state) {
    (void)state;
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&types[t].shape);
    cspace_bundle_clear(&bundle);
    remove(FILE_NAME);
    return 0;
}

// Rows as the scene makes them; `fresh`: as a restart finds them, with other poses.
static sim_world *make_world(bool fresh) {
    double wall_points[] = {-.05, .2, .3, .05, .65, .2};
    const sim_boundary_def boundaries[BOUNDARIES] = {
        {.name = "floor", .normal = {0, 1}, .offset = .235, .present = true},
        {.name = "lid",
         .normal = {0, -1},
         .offset = -.48,
         .present = true,
         .motion = {.velocity = {0, -3}, .amplitude = {0, .002}, .frequency = 40, .pivot = {NAN, NAN}}},
        {.name = "funnel",
         .kind = SIM_BOUNDARY_POLYLINE,
         .thickness = .01,
         .count_points = 3,
         .points = wall_points,
         .present = true,
         .motion = {.rotation = 4, .pivot = {NAN, NAN}, .waits = true}},
        {.name = "drum", .kind = SIM_BOUNDARY_CIRCLE, .centre = {.3, .3}, .radius = .8, .present = true},
    };
    sim_contact_law laws[2 * (2 + BOUNDARIES)];
    sim_fixture_laws(sim_fixture_law(2e4, .3, .5), 2, BOUNDARIES, laws);
    sim_world_def def = sim_world_default_def();
    def.capacity = GRAINS + 1 + ABSENT;
    def.count_types = 2;
    def.types = types;
    def.count_boundaries = BOUNDARIES;
    def.boundaries = boundaries;
    def.law = laws;
    def.dt = 2e-5;
    def.period[0] = -.1, def.period[1] = .7;
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &def.narrow, err));
    sim_world *w = NULL;
    check_ok(sim_world_create(&def, &w, err));
    for (int i = 0; i < GRAINS; ++i) {
        const double x[2] = {.03 * (i % 20), .25 + .03 * (i / 20)}, v[2] = {.9 * (i % 7 - 3), -1};
        const double nowhere[2] = {0, i}, still[2] = {0, 0};
        check_ok(sim_world_add(w, i % 3 == 0, fresh ? nowhere : x, .7 * i, fresh ? still : v, fresh ? 0 : i % 11, err));
    }
    const sim_motion_def turning = {.rotation = 30, .pivot = {NAN, NAN}};
    check_ok(sim_world_add_prescribed(w, 1, (double[]){.3, .22}, .3, &turning, err));
    for (int i = 0; i < ABSENT; ++i) check_ok(sim_world_add_absent(w, i % 2, err));
    return w;
}

// What happens between steps, the same in both runs.
static void act(sim_world *w) {
    const int i = GRAINS + 1 + (int)(w->step / 20) % ABSENT;
    if (w->step % 20 == 10 && w->role[i] == SIM_ROLE_ABSENT)
        check_ok(sim_world_enter(w, i, (double[]){.05 * (i % 9), .62}, i, (double[]){0, -2}, 3, err));
    if (w->step == 70) sim_world_leave(w, 3, (int[]){5, 17, 90});
    if (w->step == 100) check_ok(sim_world_set_moving(w, 2, true, err));
    if (w->step == 160) check_ok(sim_world_set_moving(w, 2, false, err));
    if (w->step == 130) sim_world_set_present(w, 3, false);
}

static void save(const sim_world *w) {
    core_h5 *file = NULL;
    check_ok(core_h5_create(FILE_NAME, FORMAT, 1, &file, err));
    check_ok(sim_world_save(w, file, err));
    check_ok(core_h5_commit(&file, err));
}

static sim_world *restore(void) {
    core_h5 *file = NULL;
    sim_world *w = make_world(true);
    check_ok(core_h5_open(FILE_NAME, FORMAT, 1, &file, err));
    check_ok(sim_world_restore(w, file, err));
    core_h5_close(&file);
    return w;
}

static bool any_room(const sim_pairs *pairs) {
    for (int p = 0; p < pairs->n; ++p)
        if (pairs->apart[p].room > 0) return true;
    return false;
}

static void check_same(const sim_world *a, const sim_world *b) {
    if (sim_world_hash(a) != sim_world_hash(b)) fail_msg("step %lld: the restored world differs", (long long)a->step);
    sim_totals t[2];
    memset(t, 0, sizeof t);
    sim_world_totals(a, &t[0]);
    sim_world_totals(b, &t[1]);
    assert_memory_equal(&t[0], &t[1], sizeof t[0]);
    assert_memory_equal(a->lost, b->lost, SIM_LOST_COUNT * (size_t)a->n * sizeof *a->lost);
    for (int k = 0; k < a->pairs.n; ++k) {
        const int p = a->pairs.place[k], q = b->pairs.place[k];
        assert_int_equal(a->pairs.i[p], b->pairs.i[q]);
        assert_memory_equal(&a->pairs.apart[p].room, &b->pairs.apart[q].room, sizeof(double));
    }
}

// Restored at a step, and once more from the restored one.
static void goes_on_to_the_same_bits(void **state) {
    (void)state;
    const int points[] = {0, 1, 37, 70, 71, 115, 131, 165};
    for (size_t k = 0; k < sizeof points / sizeof *points; ++k) {
        sim_world *whole = make_world(false), *part = NULL;
        int touched = 0;
        for (int step = 0; step < STEPS; ++step) {
            if (step == points[k] || step == points[k] + 33) {
                save(part ? part : whole);
                sim_world_destroy(&part);
                part = restore();
                check_same(whole, part);
            }
            act(whole);
            check_ok(sim_world_step(whole, err));
            if (!part) continue;
            act(part);
            check_ok(sim_world_step(part, err));
            check_same(whole, part);
            sim_totals t;
            sim_world_totals(whole, &t);
            touched += t.count_contacts > 0 && t.count_plane_contacts > 0 && any_room(&whole->pairs);
        }
        if (touched <= 20)
            fail_msg("restored at %d: %d steps with contacts and pairs known to be apart", points[k],
                     touched); // there was something to be wrong about
        sim_world_destroy(&whole);
        sim_world_destroy(&part);
    }
}

// The file as it is now is refused, with this in the message.
static void check_refused(core_status status, const char *words) {
    core_error failure = {0};
    core_h5 *file = NULL;
    sim_world *w = make_world(true);
    check_ok(core_h5_open(FILE_NAME, FORMAT, 1, &file, err));
    assert_int_equal(sim_world_restore(w, file, &failure), status);
    if (!strstr(failure.message, words)) fail_msg("found \"%s\", expected \"%s\"", failure.message, words);
    core_h5_close(&file);
    sim_world_destroy(&w);
}

// A file of another scene, or with a number that cannot be, is refused.
static void refuses(void **state) {
    (void)state;
    sim_world *w = make_world(false);
    for (int step = 0; step < 90; ++step) check_ok(sim_world_step(w, err));
    w->pairs.i[w->pairs.place[3]] = w->n; // a grain that is not there
    save(w);
    check_refused(CORE_FORMAT, "/world/pairs/bodies");
    sim_world_destroy(&w);

    w = make_world(false);
    w->x[7] = NAN;
    save(w);
    check_refused(CORE_NONFINITE, "/world");
    sim_world_destroy(&w);

    w = make_world(false);
    w->role[GRAINS] = SIM_ROLE_FREE; // the scene prescribes its motion
    save(w);
    check_refused(CORE_FORMAT, "/world/grains/role");
    sim_world_destroy(&w);

    w = make_world(false);
    w->step = INT64_MAX; // the next one would overflow
    save(w);
    check_refused(CORE_FORMAT, "/world/step");
    sim_world_destroy(&w);
}

// A dataset of no columns holds no bytes, whatever number of rows it states: it is refused before memory is asked for.
static void refuses_rows_of_nothing(void **state) {
    (void)state;
    static const char *const paths[] = {"/world/pairs/bodies", "/world/near/rows"};
    const hsize_t dims[2] = {1 << 29, 0};
    for (int k = 0; k < 2; ++k) {
        sim_world *w = make_world(false);
        save(w);
        sim_world_destroy(&w);
        const hid_t file = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(2, dims, NULL);
        assert_true(file >= 0 && space >= 0 && H5Ldelete(file, paths[k], H5P_DEFAULT) >= 0);
        const hid_t set = H5Dcreate2(file, paths[k], H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
        check_refused(CORE_FORMAT, "found 536870912 rows of 0 numbers");
    }
}

static void out_of_memory(void **state) {
    (void)state;
    core_error failure = {0};
    sim_world *w = make_world(false);
    for (int step = 0; step < 90; ++step) check_ok(sim_world_step(w, err));
    save(w);
    int failures = 0;
    for (uint64_t k = 1;; ++k, ++failures) {
        core_h5 *file = NULL;
        sim_world *part = make_world(true);
        check_ok(core_h5_open(FILE_NAME, FORMAT, 1, &file, err));
        core_alloc_fail_after(k);
        const core_status status = sim_world_restore(part, file, &failure);
        core_alloc_fail_after(0);
        core_h5_close(&file);
        sim_world_destroy(&part);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
    }
    assert_true(failures > 10);
    sim_world_destroy(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_to_the_same_bits),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_rows_of_nothing),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
