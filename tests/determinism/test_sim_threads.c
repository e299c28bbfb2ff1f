/// The same bits for any number of threads, to the last spring, and for a world that is stepped beside another one.
#include "sim_private.h"

#include "unit/sim_check.h"
#include "unit/sim_fixture.h"

enum { GRAINS = 400, STEPS = 150 };
static sim_type_def types[2];
static cspace_bundle bundle;

static int make(void **state) {
    (void)state;
    return sim_fixture_u("u", .02, 2500, &types[0], NULL) != CORE_OK ||
           sim_fixture_block("block", .03, .012, 2500, &types[1], NULL) != CORE_OK ||
           sim_fixture_random_bundle(2, types, 4, true, &bundle, NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&types[t].shape);
    cspace_bundle_clear(&bundle);
    return 0;
}

static sim_world *make_world(int threads) {
    const sim_boundary_def floor = {.name = "floor", .normal = {0, 1}, .present = true};
    sim_contact_law laws[6];
    sim_fixture_laws(sim_fixture_law(2e4, .3, .5), 2, 1, laws);
    sim_world_def def = sim_world_default_def();
    def.capacity = GRAINS;
    def.count_types = 2;
    def.types = types;
    def.count_boundaries = 1;
    def.boundaries = &floor;
    def.law = laws;
    def.dt = 2e-5;
    def.threads = threads;
    check_ok(sim_narrow_neural(&bundle, 2, types, threads, &def.narrow, err));
    sim_world *w = NULL;
    check_ok(sim_world_create(&def, &w, err));
    for (int i = 0; i < GRAINS; ++i) {
        const double x[2] = {.03 * (i % 20), .015 + .03 * (i / 20)}, v[2] = {.1 * (i % 7 - 3), 0};
        check_ok(sim_world_add(w, i % 3 == 0, x, .7 * i, v, i % 11, err));
    }
    return w;
}

static void threads_change_no_bit(void **state) {
    (void)state;
    sim_world *w[3];
    for (int k = 0; k < 3; ++k) w[k] = make_world(k + 1);
    for (int step = 0; step < STEPS; ++step) {
        for (int k = 0; k < 3; ++k) check_ok(sim_world_step(w[k], err));
        const uint64_t hash = sim_world_hash(w[0]);
        for (int k = 1; k < 3; ++k) {
            if (sim_world_hash(w[k]) != hash) fail_msg("step %d: %d threads differ from one", step, k + 1);
        }
    }
    // and what is reported
    sim_totals t[3];
    for (int k = 0; k < 3; ++k) sim_world_totals(w[k], &t[k]);
    assert_true(t[0].count_contacts > 200 && t[0].count_plane_contacts > 10 && t[0].count_pairs_near > 500);
    for (int k = 1; k < 3; ++k) assert_memory_equal(&t[k], &t[0], sizeof t[0]);
    static sim_contact_force f[3][8 * GRAINS];
    for (int k = 0; k < 3; ++k) {
        memset(f[k], 0, sizeof f[k]);
        const int64_t n = sim_world_contacts(w[k], 8 * GRAINS, NULL, NULL, NULL, f[k]);
        assert_true(n > 200 && n <= 8 * GRAINS);
        if (k > 0) assert_memory_equal(f[k], f[0], sizeof f[0]);
    }
    for (int k = 0; k < 3; ++k) sim_world_destroy(&w[k]);
}

static void visiting_order_changes_no_bit(void **state) {
    (void)state;
    sim_world *w[2] = {make_world(2), make_world(1)};
    w[1]->unsorted = true;
    int moved = 0;
    for (int step = 0; step < 2 * STEPS; ++step) {
        for (int k = 0; k < 2; ++k) check_ok(sim_world_step(w[k], err));
        if (sim_world_hash(w[1]) != sim_world_hash(w[0])) fail_msg("step %d: order of visits was noticed", step);
    }
    for (int i = 0; i < GRAINS; ++i) moved += w[0]->sequence.sequence[i] != i;
    assert_true(moved > GRAINS / 2);
    sim_totals t[2];
    for (int k = 0; k < 2; ++k) sim_world_totals(w[k], &t[k]);
    assert_true(t[0].count_contacts > 200 && t[0].dissipated_normal > 0);
    assert_memory_equal(&t[1], &t[0], sizeof t[0]);
    static int i[2][8 * GRAINS];
    static sim_contact_force f[2][8 * GRAINS];
    memset(f, 0, sizeof f);
    for (int k = 0; k < 2; ++k) sim_world_contacts(w[k], 8 * GRAINS, i[k], NULL, NULL, f[k]);
    assert_memory_equal(f[1], f[0], sizeof f[0]);
    assert_memory_equal(i[1], i[0], sizeof i[0]);
    for (int k = 0; k < 2; ++k) sim_world_destroy(&w[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_no_bit),
                                       cmocka_unit_test(visiting_order_changes_no_bit)};
    return cmocka_run_group_tests(tests, make, clear);
}
