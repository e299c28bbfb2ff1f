/// The world: creation and its refusals, free flight, contacts, hash, blow-up, no allocation in a step.
#include "sim_private.h"

#include "sim_check.h"
#include "sim_fixture.h"

static sim_type_def types[2]; // discs of radius .01 and .02 m
static sim_contact_law laws[2 * 4];
static sim_boundary_def planes[2] = {{.name = "floor", .normal = {0, 1}, .present = true},
                                     {.name = "wall", .normal = {1, 0}, .offset = -.5, .present = true}};
static sim_fixture_circles circles;

static int make_types(void **state) {
    (void)state;
    sim_fixture_laws(sim_fixture_law(1e5, .25, .4), 2, 2, laws);
    return sim_fixture_disc("small", 96, .01, 2500, &types[0], NULL) != CORE_OK ||
           sim_fixture_disc("large", 64, .02, 1500, &types[1], NULL) != CORE_OK;
}

static int clear_types(void **state) {
    (void)state;
    sdf_shape_clear(&types[0].shape);
    sdf_shape_clear(&types[1].shape);
    return 0;
}

static sim_world_def make_def(int capacity, int count_planes) {
    sim_world_def def = sim_world_default_def();
    def.capacity = capacity;
    def.count_types = 2;
    def.types = types;
    def.count_boundaries = count_planes;
    def.boundaries = planes;
    def.law = laws; // all entries are equal, whatever the number of planes
    def.dt = 1e-4;
    def.narrow = sim_fixture_circle_narrow(2, types, &circles);
    return def;
}

static const double ZERO[2] = {0, 0};

static void free_flight_is_exact(void **state) {
    (void)state;
    sim_world *w = NULL;
    sim_world_def def = make_def(2, 0);
    check_ok(sim_world_create(&def, &w, err));
    const double x[2] = {1, 2}, v[2] = {3, 4}, far[2] = {100, 0};
    check_ok(sim_world_add(w, 0, x, .5, v, 2, err));
    check_ok(sim_world_add(w, 1, far, 0, ZERO, 0, err));
    const int n = 1000;
    for (int i = 0; i < n; ++i) check_ok(sim_world_step(w, err));
    const sim_state s = sim_world_state(w);
    const double dt = 1e-4, g = 9.81, t = n * dt;
    assert_int_equal(s.n, 2);
    assert_int_equal(s.step, n);
    check_near(s.time, t, 1e-15);
    check_near(s.x[0], 1 + 3 * t, 1e-12);
    check_near(s.x[1], 2 + 4 * t - g * dt * dt * n * (n + 1) / 2, 1e-12); // of semi-implicit Euler
    check_near(s.v[1], 4 - g * t, 1e-12);
    check_near(s.theta[0], .5 + 2 * t, 1e-12);
    check_near(s.mass[1], sim_fixture_mass(&types[1]), 1e-15);
    check_near(s.inertia[1], sim_fixture_inertia(&types[1]), 1e-15);
    sim_totals total;
    sim_world_totals(w, &total);
    const double m = s.mass[0], kinetic = .5 * m * (s.v[0] * s.v[0] + s.v[1] * s.v[1]), m1 = s.mass[1];
    check_near(total.rotational, .5 * s.inertia[0] * 4, 1e-15);
    check_near(total.kinetic, kinetic + total.rotational + .5 * m1 * s.v[3] * s.v[3], 1e-12);
    check_near(total.potential, g * (m * s.x[1] + m1 * s.x[3]), 1e-12);
    check_near(total.momentum[0], m * 3, 1e-14);
    check_near(total.angular_momentum,
               m * (s.x[0] * s.v[1] - s.x[1] * s.v[0]) + 2 * s.inertia[0] + m1 * s.x[2] * s.v[3], 1e-10);
    assert_int_equal(total.count_contacts + total.count_plane_contacts + total.count_pairs_near, 0);
    sim_world_destroy(&w);
    assert_null(w);
    sim_world_destroy(&w);
    sim_world_destroy(NULL);
}

static void an_empty_world_steps(void **state) {
    (void)state;
    sim_world *w = NULL;
    sim_world_def def = make_def(3, 2);
    check_ok(sim_world_create(&def, &w, err));
    check_ok(sim_world_step(w, err));
    sim_totals t;
    sim_world_totals(w, &t);
    assert_true(t.kinetic == 0 && t.penetration_mean == 0);
    assert_int_equal(sim_world_contacts(w, 0, NULL, NULL, NULL, NULL), 0);
    sim_world_destroy(&w);
}

static void bad_definitions_are_refused(void **state) {
    (void)state;
    core_error cause = {0};
    sim_world *w = NULL;
    const sim_world_def good = make_def(3, 2);
    sim_contact_law bad_laws[2 * 4];
    sim_type_def bad_types[2] = {types[0], types[1]};
    sim_boundary_def bad_planes[2] = {planes[0], planes[1]};
    struct {
        sim_world_def def;
        core_status status;
    } cases[16];
    for (int i = 0; i < 16; ++i) cases[i].def = good;
    int n = 0;
#define CASE(change, expected) (cases[n].def.change, cases[n++].status = (expected))
    CASE(cookie = 0, CORE_ARG);
    CASE(capacity = 0, CORE_RANGE);
    CASE(count_types = 0, CORE_RANGE);
    CASE(threads = 0, CORE_RANGE);
    CASE(types = NULL, CORE_ARG);
    CASE(law = NULL, CORE_ARG);
    CASE(boundaries = NULL, CORE_ARG);
    CASE(narrow = (sim_narrow){0}, CORE_ARG);
    CASE(dt = 0, CORE_RANGE);
    CASE(dt = NAN, CORE_NONFINITE);
    CASE(gravity[1] = INFINITY, CORE_NONFINITE);
    CASE(smoothing = -1, CORE_RANGE);
    CASE(law = bad_laws, CORE_RANGE);
    CASE(types = bad_types, CORE_RANGE);
    CASE(boundaries = bad_planes, CORE_RANGE);
    memcpy(bad_laws, laws, sizeof laws);
    bad_laws[5].mu = -1;
    bad_types[1].radius = -1;
    bad_planes[1].normal[0] = .9;
    for (int i = 0; i < n; ++i) {
        if (sim_world_create(&cases[i].def, &w, &cause) != cases[i].status) fail_msg("case %d: %s", i, cause.message);
        assert_null(w);
    }
    bad_laws[5].mu = NAN;
    assert_int_equal(sim_world_create(&cases[12].def, &w, &cause), CORE_NONFINITE);
    bad_laws[5].mu = 0;
    bad_laws[5].gamma_n = -3;
    assert_int_equal(sim_world_create(&cases[12].def, &w, &cause), CORE_RANGE);
    assert_int_equal(sim_world_create(NULL, &w, &cause), CORE_ARG);

    sim_world_def small = make_def(1, 0);
    check_ok(sim_world_create(&small, &w, err));
    const double x[2] = {0, 0}, bad[2] = {0, NAN};
    assert_int_equal(sim_world_add(w, 2, x, 0, ZERO, 0, &cause), CORE_RANGE);
    assert_int_equal(sim_world_add(w, -1, x, 0, ZERO, 0, &cause), CORE_RANGE);
    assert_int_equal(sim_world_add(w, 0, bad, 0, ZERO, 0, &cause), CORE_NONFINITE);
    assert_int_equal(sim_world_add(w, 0, x, INFINITY, ZERO, 0, &cause), CORE_NONFINITE);
    assert_int_equal(sim_world_add(w, 0, x, 0, bad, 0, &cause), CORE_NONFINITE);
    assert_int_equal(sim_world_add(w, 0, NULL, 0, ZERO, 0, &cause), CORE_ARG);
    check_ok(sim_world_add(w, 0, x, 0, ZERO, 0, err));
    assert_int_equal(sim_world_add(w, 0, x, 0, ZERO, 0, &cause), CORE_RANGE);
    assert_int_equal(sim_world_state(w).n, 1);
    sim_world_destroy(&w);
}

static void no_memory_at_any_call_leaks_nothing(void **state) {
    (void)state;
    core_error cause = {0};
    const sim_world_def def = make_def(50, 2);
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        sim_world *w = NULL;
        core_alloc_fail_after(n);
        core_status status = sim_world_create(&def, &w, &cause);
        for (int i = 0; status == CORE_OK && i < 50; ++i) {
            const double x[2] = {.005 * i, .02};
            status = sim_world_add(w, i % 2, x, 0, ZERO, 0, &cause);
        }
        if (status == CORE_OK) status = sim_world_step(w, &cause);
        core_alloc_fail_after(0);
        if (status != CORE_OK) {
            assert_int_equal(status, CORE_MEMORY);
            if (w) check_ok(sim_world_step(w, err)); // a world whose list could not grow is still whole
        }
        sim_world_destroy(&w);
        if (status == CORE_OK) break;
    }
    assert_true(failures > 30);
}

// A heap of discs on the floor between two walls of the same plane table.
static sim_world *make_heap(int n, int threads) {
    sim_world *w = NULL;
    sim_world_def def = make_def(n, 2);
    def.threads = threads;
    check_ok(sim_world_create(&def, &w, err));
    for (int i = 0; i < n; ++i) {
        const double x[2] = {-.46 + .0405 * (i % 10) + .003 * (i / 10 % 3), .021 + .041 * (i / 10)};
        check_ok(sim_world_add(w, i % 3 == 0, x, i, ZERO, 0, err));
    }
    return w;
}

static void a_step_allocates_nothing(void **state) {
    (void)state;
    sim_world *w = make_heap(60, 1);
    for (int i = 0; i < 3000; ++i) check_ok(sim_world_step(w, err));
    const uint64_t before = core_alloc_count();
    int rebuilds = 0;
    for (int i = 0; i < 3000; ++i) {
        rebuilds += w->stale;
        check_ok(sim_world_step(w, err));
    }
    assert_int_equal(core_alloc_count() - before, 0);
    assert_true(rebuilds > 0); // the heap still moves, lists are rebuilt in place
    sim_totals t;
    sim_world_totals(w, &t);
    assert_true(t.count_contacts > 30 && t.count_plane_contacts > 3);
    assert_true(t.penetration_max > 0 && t.penetration_mean > 0 && t.penetration_max < .001);
    assert_true(t.count_evaluated >= t.count_contacts && t.count_pairs_near >= t.count_evaluated);
    sim_world_destroy(&w);
}

static void contacts_balance_the_weight(void **state) {
    (void)state;
    sim_world *w = make_heap(1, 1);
    for (int i = 0; i < 20000; ++i) check_ok(sim_world_step(w, err));
    int i[4], j[4];
    sim_contact c[4];
    sim_contact_force f[4];
    assert_int_equal(sim_world_contacts(w, 4, i, j, c, f), 1);
    assert_int_equal(i[0], -1); // plane 0
    assert_int_equal(j[0], 0);
    const double weight = 9.81 * sim_fixture_mass(&types[1]);
    check_near(f[0].force[1], weight, 1e-9 * weight);
    check_near(-c[0].d, weight / 1e5, 1e-6 * weight / 1e5);
    sim_totals t;
    sim_world_totals(w, &t);
    check_near(t.elastic, .5 * weight * weight / 1e5, 1e-3 * t.elastic);
    assert_int_equal(sim_world_contacts(w, 0, i, j, c, f), 1); // counted though not written
    // without its floor the grain falls; the spring's energy is booked
    const double normal = t.dissipated_normal;
    sim_world_set_present(w, 0, false);
    sim_world_set_present(w, 7, false); // no such plane: nothing
    sim_world_totals(w, &t);
    check_near(t.dissipated_normal - normal, .5 * weight * weight / 1e5, 1e-3 * (t.dissipated_normal - normal));
    const double y = sim_world_state(w).x[1];
    for (int k = 0; k < 100; ++k) check_ok(sim_world_step(w, err));
    check_near(y - sim_world_state(w).x[1], .5 * 9.81 * .01 * .01, 1e-5);
    assert_int_equal(sim_world_contacts(w, 0, NULL, NULL, NULL, NULL), 0);
    sim_world_destroy(&w);
}

static void contacts_come_in_order_with_the_pairs_signs(void **state) {
    (void)state;
    sim_world *w = NULL;
    sim_world_def def = make_def(3, 0);
    check_ok(sim_world_create(&def, &w, err));
    static const double x[3][2] = {{.0195, 0}, {0, 0}, {.039, 0}}; // 1 | 0 | 2 in a row
    for (int i = 0; i < 3; ++i) check_ok(sim_world_add(w, 0, x[i], 1.3 * i, ZERO, 0, err));
    check_ok(sim_world_step(w, err));
    int i[4], j[4];
    sim_contact c[4];
    sim_contact_force f[4];
    assert_int_equal(sim_world_contacts(w, 4, i, j, c, f), 2);
    assert_true(i[0] == 0 && j[0] == 1 && i[1] == 0 && j[1] == 2);
    check_near(c[0].g[0], -1, 1e-12); // from 0 to 1, in world axes whatever the grains' angles
    check_near(c[1].g[0], 1, 1e-12);
    check_near(f[0].force[0], -1e5 * .0005, 1e-6);
    check_near(f[1].force[0], 1e5 * .0005, 1e-6);
    check_near(sim_world_state(w).v[0], 0, 1e-12);
    assert_true(sim_world_state(w).v[2] < 0 && sim_world_state(w).v[4] > 0);
    sim_world_destroy(&w);
}

static void a_grain_may_be_added_later(void **state) {
    (void)state;
    sim_world *w = NULL;
    sim_world_def def = make_def(2, 0);
    def.gravity[1] = 0;
    check_ok(sim_world_create(&def, &w, err));
    static const double x[2] = {0, 0}, y[2] = {.0199, 0};
    check_ok(sim_world_add(w, 0, x, 0, ZERO, 0, err));
    for (int i = 0; i < 3; ++i) check_ok(sim_world_step(w, err));
    check_ok(sim_world_add(w, 0, y, 0, ZERO, 0, err));
    check_ok(sim_world_step(w, err));
    assert_int_equal(sim_world_contacts(w, 0, NULL, NULL, NULL, NULL), 1);
    sim_world_destroy(&w);
}

// A narrow phase of two contacts a pair, whose features and order the test sets.
typedef struct two_contacts {
    int32_t feature[2];
} two_contacts;

static void two_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                         sim_contact *contacts, int worker) {
    (void)pair, (void)poses, (void)worker;
    const two_contacts *two = self;
    for (int i = 0; i < n; ++i) {
        count[i] = k_max;
        for (int k = 0; k < k_max; ++k) {
            const double d = -1e-4 * (1 + two->feature[k]);
            contacts[i * k_max + k] =
                (sim_contact){.d = d, .g = {1, 0}, .r_a = .01, .r_b = -.01, .feature = two->feature[k]};
        }
    }
}

static void springs_belong_to_features(void **state) {
    (void)state;
    two_contacts two = {{0, 1}};
    sim_world *w = NULL;
    sim_world_def def = make_def(2, 0);
    def.narrow = (sim_narrow){.name = "two", .evaluate = two_evaluate, .self = &two};
    check_ok(sim_world_create(&def, &w, err));
    w->k_max = w->pairs.k_max = w->pairs_next.k_max = 2; // the seam has room for more than one
    static const double x[2] = {0, 0}, y[2] = {.019, 0}, v[2] = {0, .01};
    check_ok(sim_world_add(w, 0, x, 0, ZERO, 0, err));
    check_ok(sim_world_add(w, 0, y, 0, v, 0, err));
    check_ok(sim_world_step(w, err));
    const double u = sim_pairs_slot(&w->pairs, 0, 0).f.u_t;
    assert_true(u > 0);
    check_near(w->pairs.spring[0], u * 1e-4, 1e-15);
    sim_totals t;
    sim_world_totals(w, &t);
    assert_int_equal(t.count_contacts, 2);
    assert_int_equal(t.count_evaluated, 1);
    // the order changes: each spring stays with its feature; the second one is told apart by a mark
    w->pairs.spring[1] += 1e-7;
    const double springs[2] = {w->pairs.spring[0], w->pairs.spring[1]};
    two.feature[0] = 1;
    two.feature[1] = 0;
    check_ok(sim_world_step(w, err));
    check_near(w->pairs.spring[0] - sim_pairs_slot(&w->pairs, 0, 0).f.u_t * 1e-4, springs[1], 1e-15);
    check_near(w->pairs.spring[1] - sim_pairs_slot(&w->pairs, 0, 1).f.u_t * 1e-4, springs[0], 1e-15);
    // a feature that is gone takes its spring with it, a new one starts without; a rebuild of the list keeps both
    const double kept = w->pairs.spring[0];
    two.feature[1] = 5;
    check_ok(sim_world_rebuild(w, err));
    check_ok(sim_world_step(w, err));
    check_near(w->pairs.spring[0] - sim_pairs_slot(&w->pairs, 0, 0).f.u_t * 1e-4, kept, 1e-15);
    check_near(w->pairs.spring[1], sim_pairs_slot(&w->pairs, 0, 1).f.u_t * 1e-4, 1e-15);
    // both contacts push
    check_near(sim_pairs_slot(&w->pairs, 0, 0).f.force[0], sim_pairs_slot(&w->pairs, 0, 0).f.f_n,
               1e-4); // A has turned a little since
    assert_true(sim_world_state(w).v[2] > 0 && sim_world_state(w).v[0] < 0);
    sim_world_destroy(&w);
}

static void blow_up_names_the_grain(void **state) {
    (void)state;
    core_error cause = {0};
    static const double fast[2] = {1e3, 0}, x[2] = {0, 1}, y[2] = {0, 2};
    for (int kind = 0; kind < 3; ++kind) {
        sim_world *w = NULL;
        sim_world_def def = make_def(2, 0);
        check_ok(sim_world_create(&def, &w, err));
        check_ok(sim_world_add(w, 0, x, 0, ZERO, 0, err));
        check_ok(sim_world_add(w, 0, y, 0, kind == 0 ? fast : ZERO, kind == 1 ? 2e4 : 0, err));
        if (kind == 2) w->v[3] = NAN;
        assert_int_equal(sim_world_step(w, &cause), CORE_NOT_CONVERGED);
        assert_non_null(strstr(cause.message, "grain 1 at step 1"));
        sim_world_destroy(&w);
    }
}

// Two small discs and a large one, pairs of which overlap by 1.5e-4 and 2.5e-4 m at once.
static void too_deep_names_the_pair(void **state) {
    (void)state;
    core_error cause = {0};
    for (int kind = 0; kind < 3; ++kind) {
        sim_world *w = NULL;
        sim_world_def def = make_def(3, 0);
        check_ok(sim_world_create(&def, &w, err));
        check_ok(sim_world_add(w, 0, (double[2]){0, 1}, 0, ZERO, 0, err));
        check_ok(sim_world_add(w, 0, (double[2]){.01985, 1}, 0, ZERO, 0, err));
        check_ok(sim_world_add(w, 1, (double[2]){.0496, 1}, 0, ZERO, 0, err));
        w->deepest = kind == 0 ? 0 : kind == 1 ? .026 : .02; // of .01 m
        const core_status status = sim_world_step(w, &cause);
        assert_int_equal(status, kind < 2 ? CORE_OK : CORE_NOT_CONVERGED);
        if (kind == 2)
            assert_string_equal(cause.message, "too deep: grains 1 and 2 at step 1 (t = 0.0001 s): found an overlap of "
                                               "0.00025 m, 0.025 of the smaller radius; expected at most 0.02 "
                                               "(contact.deepest). Take stiffer contacts");
        sim_world_destroy(&w);
    }
}

static void the_hash_sees_every_part_of_the_state(void **state) {
    (void)state;
    sim_world *w = make_heap(30, 1), *twin = make_heap(30, 1);
    for (int i = 0; i < 2000; ++i) {
        check_ok(sim_world_step(w, err));
        check_ok(sim_world_step(twin, err));
    }
    const uint64_t hash = sim_world_hash(w);
    assert_true(sim_world_hash(twin) == hash);
    // a rebuild of the list is no change of state, and neither is what comes after it
    check_ok(sim_world_rebuild(twin, err));
    assert_true(sim_world_hash(twin) == hash);
    for (int i = 0; i < 200; ++i) {
        check_ok(sim_world_step(w, err));
        check_ok(sim_world_step(twin, err));
    }
    assert_true(sim_world_hash(twin) == sim_world_hash(w));
    double *parts[] = {&w->x[3], &w->theta[2], &w->v[1], &w->omega[0]};
    for (int i = 0; i < 4; ++i) {
        const double old = *parts[i];
        *parts[i] = nextafter(old, INFINITY);
        assert_true(sim_world_hash(w) != sim_world_hash(twin));
        *parts[i] = old;
        assert_true(sim_world_hash(w) == sim_world_hash(twin));
    }
    int p = 0;
    while (!w->pairs.count[p]) ++p;
    w->pairs.spring[p] = nextafter(w->pairs.spring[p], INFINITY);
    assert_true(sim_world_hash(w) != sim_world_hash(twin));
    sim_world_destroy(&w);
    sim_world_destroy(&twin);
}

static void the_automatic_step_follows_the_stiffest_pair(void **state) {
    (void)state;
    sim_contact_law l[2 * 3];
    sim_fixture_laws(sim_fixture_law(1e5, .25, .4), 2, 1, l);
    const double m = sim_fixture_mass(&types[0]), i = sim_fixture_inertia(&types[0]), r2 = 1e-4;
    const double inverse = 2 * (1 / m + r2 / i); // two of the small ones
    check_near(sim_dt_auto(2, types, 1, l, .25), .25 / sqrt(1e5 * inverse), 1e-12);
    l[2].kn = 4e5; // small with the plane: one inverse mass, four times the stiffness
    check_near(sim_dt_auto(2, types, 1, l, .25), .25 / sqrt(2e5 * inverse), 1e-12);
    l[2].zeta = 2;
    check_near(sim_dt_auto(2, types, 1, l, .25), .125 / sqrt(2e5 * inverse), 1e-12);
    l[2].gamma_n = 0;
    l[2].gamma_t = 0;
    check_near(sim_dt_auto(2, types, 1, l, .25), .25 / sqrt(2e5 * inverse), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_is_exact),
        cmocka_unit_test(an_empty_world_steps),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(no_memory_at_any_call_leaks_nothing),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(contacts_balance_the_weight),
        cmocka_unit_test(contacts_come_in_order_with_the_pairs_signs),
        cmocka_unit_test(a_grain_may_be_added_later),
        cmocka_unit_test(springs_belong_to_features),
        cmocka_unit_test(blow_up_names_the_grain),
        cmocka_unit_test(too_deep_names_the_pair),
        cmocka_unit_test(the_hash_sees_every_part_of_the_state),
        cmocka_unit_test(the_automatic_step_follows_the_stiffest_pair),
    };
    return cmocka_run_group_tests(tests, make_types, clear_types);
}
