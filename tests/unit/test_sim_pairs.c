/// Contacts of pairs: what is skipped is apart, skipping changes no bit, distances alone are those of whole contacts,
/// and how much room a distance leaves.
#include "sim_private.h"

#include "sim_check.h"
#include "sim_fixture.h"

#include <stdio.h>

enum { GRAINS = 60 };
static const double RADIUS = .01, BEAD = .4; // a grain is two beads of .4 R at +-.6 R: not convex, exact in closed form
static sim_type_def type;

static int make(void **state) {
    (void)state;
    return sim_fixture_block("dumbbell", .019, .006, 2500, &type, NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&type.shape);
    return 0;
}

// ---------------------------------------------------------------------------------------------- dumbbells

typedef struct dumbbells {
    double margin, band; // m
} dumbbells;

static sim_contact nearest_beads(const cspace_pose *pose) {
    sim_contact best = {.d = INFINITY};
    const double c = cos(pose->theta), s = sin(pose->theta), arm = (1 - BEAD) * RADIUS, bead = BEAD * RADIUS;
    for (int k = 0; k < 4; ++k) {
        const double a = k & 1 ? arm : -arm, b = k & 2 ? arm : -arm; // beads at (a, 0) and t + b (c, s)
        const double dx = pose->x + b * c - a, dy = pose->y + b * s, r = sqrt(dx * dx + dy * dy), d = r - 2 * bead;
        if (!(d < best.d)) continue;
        const double n[2] = {dx / r, dy / r}, p = bead + d / 2; // contact point: p behind A's bead along n
        best = (sim_contact){.d = d,
                             .g = {n[0], n[1]},
                             .d_theta_b = b * (c * n[1] - s * n[0]),
                             .r_a = a * n[0] + p,
                             .r_b = a * n[0] + p - (pose->x * n[0] + pose->y * n[1])};
    }
    return best;
}

static void dumbbells_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                               sim_contact *contacts, int worker) {
    (void)self, (void)pair, (void)worker;
    for (int i = 0; i < n; ++i) {
        count[i] = 1;
        contacts[i * k_max] = nearest_beads(&poses[i]);
    }
}

static void dumbbells_distance(const void *self, int pair, const cspace_pose *poses, int n, double *d, int worker) {
    (void)self, (void)pair, (void)worker;
    for (int i = 0; i < n; ++i) d[i] = nearest_beads(&poses[i]).d;
}

// A dense crowd in a box, turning and flying about.
static sim_world *make_crowd(const dumbbells *self, bool distance, bool skip) {
    static const sim_boundary_def box[4] = {{.normal = {0, 1}, .present = true},
                                            {.normal = {1, 0}, .present = true},
                                            {.normal = {-1, 0}, .offset = -.17, .present = true},
                                            {.normal = {0, -1}, .offset = -.17, .present = true}};
    sim_contact_law laws[5];
    sim_fixture_laws(sim_fixture_law(1e5, .02, .3), 1, 4, laws);
    sim_world_def def = sim_world_default_def();
    def.capacity = GRAINS;
    def.count_types = 1;
    def.types = &type;
    def.count_boundaries = 4;
    def.boundaries = box;
    def.law = laws;
    def.dt = 5e-5;
    def.narrow = (sim_narrow){.name = "dumbbells", .evaluate = dumbbells_evaluate, .self = (void *)(uintptr_t)self};
    if (distance) def.narrow.distance = dumbbells_distance;
    if (skip) def.narrow.margin = &self->margin, def.narrow.band = &self->band;
    sim_world *w = NULL;
    check_ok(sim_world_create(&def, &w, err));
    for (int i = 0; i < GRAINS; ++i) {
        const double x[2] = {.012 + .0205 * (i % 8), .012 + .0205 * (i / 8)};
        const double v[2] = {.5 * (i % 5 - 2), .4 * (i % 7 - 3)};
        check_ok(sim_world_add(w, 0, x, .7 * i, v, 40. * (i % 9 - 4), err));
    }
    return w;
}

static void skipping_changes_no_bit(void **state) {
    (void)state;
    const dumbbells self = {.margin = 1e-9, .band = INFINITY};
    sim_world *w[3] = {make_crowd(&self, false, false), make_crowd(&self, false, true), make_crowd(&self, true, true)};
    int64_t skipped = 0, evaluated = 0, full = 0, missed = 0;
    for (int step = 0; step < 6000; ++step) {
        for (int k = 0; k < 3; ++k) check_ok(sim_world_step(w[k], err));
        const uint64_t hash = sim_world_hash(w[0]);
        for (int k = 1; k < 3; ++k)
            if (sim_world_hash(w[k]) != hash)
                fail_msg("step %d: world %d differs from the one that asks always", step, k);
        int64_t count;
        missed += sim_pairs_missed(w[2], &count);
        sim_totals t[3];
        for (int k = 0; k < 3; ++k) sim_world_totals(w[k], &t[k]);
        skipped += t[2].count_skipped;
        evaluated += t[2].count_evaluated;
        full += t[2].count_full;
        assert_int_equal(t[0].count_skipped, 0);
        assert_int_equal(t[1].count_full, t[1].count_evaluated);
        assert_int_equal(t[1].count_evaluated + t[1].count_skipped, t[0].count_evaluated);
        assert_int_equal(t[2].count_evaluated, t[1].count_evaluated);
        assert_true(t[2].count_full >= t[2].count_contacts);
        assert_true(t[0].dissipated_normal == t[2].dissipated_normal);
        assert_true(t[0].dissipated_tangential == t[2].dissipated_tangential);
    }
    assert_int_equal(missed, 0);
    assert_true(skipped > 300000 && evaluated - full > 20000 && full > 100000);
    for (int k = 0; k < 3; ++k) sim_world_destroy(&w[k]);
}

// Room that is not there is found out.
static void a_missed_contact_is_counted(void **state) {
    (void)state;
    const dumbbells self = {.margin = -.2 * RADIUS, .band = INFINITY};
    sim_world *w = make_crowd(&self, true, true);
    int64_t missed = 0, skipped;
    for (int step = 0; step < 1000; ++step) {
        check_ok(sim_world_step(w, err));
        missed += sim_pairs_missed(w, &skipped);
    }
    assert_true(missed > 0);
    sim_world_destroy(&w);
}

static void room_is_what_margin_and_band_leave(void **state) {
    (void)state;
    static const double zero[2] = {0, 0}, gaps[3] = {.0005, .0017, .0030};
    const dumbbells self = {.margin = .0006, .band = .0020};
    for (int k = 0; k < 3; ++k) {
        sim_world *w = make_crowd(&self, true, true);
        w->n = 0;
        const double above[2] = {0, 2 * BEAD * RADIUS + gaps[k]}; // beads over beads
        check_ok(sim_world_add(w, 0, zero, 0, zero, 0, err));
        check_ok(sim_world_add(w, 0, above, 0, zero, 0, err));
        check_ok(sim_world_step(w, err));
        assert_int_equal(w->pairs.n, 1);
        const double room[3] = {0, .0011, .0014};
        check_near(w->pairs.apart[0].room, room[k], 1e-12);
        // asked again when the grains can have used it up: by motion, by turning, and by both
        sim_totals t;
        w->x[3] += .9 * room[k];
        w->stale = true; // a grain was moved by hand
        check_ok(sim_world_step(w, err));
        sim_world_totals(w, &t);
        assert_int_equal(t.count_evaluated, k == 0);
        assert_int_equal(t.count_skipped, k > 0);
        w->theta[0] -= .05 * room[k] / RADIUS;
        w->theta[1] += .06 * room[k] / RADIUS;
        w->stale = true;
        check_ok(sim_world_step(w, err));
        sim_world_totals(w, &t);
        assert_int_equal(t.count_evaluated, 1);
        sim_world_destroy(&w);
    }
}

// U that hook into each other, on a numeric back end.
static sim_world *make_hooks(const sim_type_def *u, bool exact, bool skip) {
    enum { SIDE = 5 };
    static const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                            {.normal = {1, 0}, .present = true},
                                            {.normal = {-1, 0}, .offset = -.2, .present = true}};
    sim_contact_law laws[4];
    sim_fixture_laws(sim_fixture_law(1e5, .3, .3), 1, 3, laws);
    sim_world_def def = sim_world_default_def();
    def.capacity = SIDE * SIDE;
    def.count_types = 1;
    def.types = u;
    def.count_boundaries = 3;
    def.boundaries = box;
    def.law = laws;
    def.dt = 5e-5;
    check_ok(exact ? sim_narrow_exact(1, u, .001, 1, &def.narrow, err)
                   : sim_narrow_minimiser(1, u, 256, .001, 1, &def.narrow, err));
    if (!skip) def.narrow.margin = NULL;
    sim_world *w = NULL;
    check_ok(sim_world_create(&def, &w, err));
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const double x[2] = {.02 + .0405 * (i % SIDE) * .98, .021 + .0405 * (i / SIDE)};
        const double v[2] = {.3 * (i % 3 - 1), -.5 - .1 * (i % 4)};
        check_ok(sim_world_add(w, 0, x, .7 * i, v, 10. * (i % 5 - 2), err));
    }
    return w;
}

// With the margins of the numeric back ends nothing is missed and no bit changes.
static void numeric_back_ends_may_skip(void **state) {
    (void)state;
    sim_type_def u;
    check_ok(sim_fixture_u("u", .02, 2500, &u, err));
    for (int exact = 0; exact < 2; ++exact) {
        sim_world *w[2] = {make_hooks(&u, exact, false), make_hooks(&u, exact, true)};
        const int steps = exact ? 2500 : 700;
        int64_t skipped = 0, evaluated = 0, touching = 0, missed = 0, count;
        for (int step = 0; step < steps; ++step) {
            for (int k = 0; k < 2; ++k) check_ok(sim_world_step(w[k], err));
            if (sim_world_hash(w[0]) != sim_world_hash(w[1])) fail_msg("%s, step %d", w[1]->narrow.name, step);
            if (step % 100 == 0) missed += sim_pairs_missed(w[1], &count);
            sim_totals t;
            sim_world_totals(w[1], &t);
            skipped += t.count_skipped, evaluated += t.count_evaluated, touching += t.count_contacts;
        }
        printf("%s: %.3g skipped of %.3g, %.3g touching\n", w[1]->narrow.name, (double)skipped,
               (double)(skipped + evaluated), (double)touching);
        assert_int_equal(missed, 0);
        assert_true(touching > 1000 && skipped > evaluated / 10);
        for (int k = 0; k < 2; ++k) sim_world_destroy(&w[k]);
    }
    sdf_shape_clear(&u.shape);
}

static void distances_are_those_of_whole_contacts(void **state) {
    (void)state;
    enum { POSES = 700 };
    static cspace_pose poses[POSES];
    static sim_contact contacts[POSES];
    static double d[POSES];
    static int count[POSES];
    sim_type_def types[2];
    cspace_bundle bundle = {0};
    sim_narrow narrow = {0};
    check_ok(sim_fixture_u("u", .02, 2500, &types[0], err));
    check_ok(sim_fixture_block("block", .03, .012, 2500, &types[1], err));
    check_ok(sim_fixture_random_bundle(2, types, 4, true, &bundle, err));
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &narrow, err));
    core_random r;
    core_random_init(&r, 8, 0);
    for (int i = 0; i < POSES; ++i)
        poses[i] = (cspace_pose){7 * core_random_uniform(&r) - 3, .04 * core_random_uniform(&r),
                                 .04 * (core_random_uniform(&r) - .5)};
    for (int pair = 0; pair < 4; ++pair) {
        narrow.evaluate(narrow.self, pair, poses, POSES, 1, count, contacts, 0);
        narrow.distance(narrow.self, pair, poses, POSES, d, 0);
        for (int i = 0; i < POSES; ++i)
            if (memcmp(&d[i], &contacts[i].d, sizeof d[i]) != 0)
                fail_msg("pair %d, pose %d: found %.17g, expected %.17g", pair, i, d[i], contacts[i].d);
        // nets without an error statement are not believed anywhere
        assert_true(narrow.band[pair] - narrow.margin[pair] < 0);
    }
    // one with a statement is, up to the larger of .03 L and its largest error
    for (int m = 0; m < bundle.count_maps; ++m) bundle.maps[m].error = (cspace_error_stats){.n = 100, .d_max = .01};
    narrow.destroy(narrow.self);
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &narrow, err));
    check_near(narrow.margin[0], .03 * .02, 1e-15);
    check_near(narrow.band[0], .1 * .02, 1e-15);
    narrow.destroy(narrow.self);
    for (int m = 0; m < bundle.count_maps; ++m) bundle.maps[m].error.d_max = .07;
    check_ok(sim_narrow_neural(&bundle, 2, types, 1, &narrow, err));
    check_near(narrow.margin[0], .07 * .02, 1e-15);
    narrow.destroy(narrow.self);
    cspace_bundle_clear(&bundle);
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&types[t].shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipping_changes_no_bit),
        cmocka_unit_test(a_missed_contact_is_counted),
        cmocka_unit_test(room_is_what_margin_and_band_leave),
        cmocka_unit_test(numeric_back_ends_may_skip),
        cmocka_unit_test(distances_are_those_of_whole_contacts),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
