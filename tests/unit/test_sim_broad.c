/// Broad phase: pairs against brute force, order, far away and crowded grains, carried springs.
#include "sim_private.h"

#include "sim_check.h"
#include "random_below.h"

enum { MOST = 400 };
static const double RADIUS[2] = {.5, 1.5};
static const double OPEN[2] = {0, 0}; // no period

typedef struct cloud {
    int n;
    double x[2 * MOST];
    int type[MOST];
} cloud;

static void scatter(cloud *c, int n, double size, double offset, uint64_t seed) {
    core_random r;
    core_random_init(&r, seed, 0);
    c->n = n;
    for (int i = 0; i < n; ++i) {
        c->x[2 * i] = offset + size * (core_random_uniform(&r) - .5);
        c->x[2 * i + 1] = -offset + size * (core_random_uniform(&r) - .5);
        c->type[i] = random_below(&r, 2);
    }
}

// All pairs by definition, in (i, j) order, against the list.
static void compare(const cloud *c, double skin, const sim_found *pairs) {
    int p = 0;
    for (int i = 0; i < c->n; ++i) {
        for (int j = i + 1; j < c->n; ++j) {
            const double dx = c->x[2 * j] - c->x[2 * i], dy = c->x[2 * j + 1] - c->x[2 * i + 1];
            const double reach = RADIUS[c->type[i]] + RADIUS[c->type[j]] + skin;
            if (dx * dx + dy * dy > reach * reach) continue;
            assert_true(p < pairs->n);
            assert_int_equal(pairs->i[p], i);
            assert_int_equal(pairs->j[p], j);
            ++p;
        }
    }
    assert_int_equal(pairs->n, p);
}

static void pairs_are_those_of_brute_force(void **state) {
    (void)state;
    static const double sizes[] = {1, 8, 30, 300}, offsets[] = {0, -12345.6, 1e9};
    static const int counts[] = {0, 1, 2, 50, MOST};
    sim_broad broad = {0};
    sim_found pairs = {0};
    check_ok(sim_broad_create(MOST, 1.5, .2, OPEN, &broad, err));
    for (int s = 0; s < 4; ++s) {
        for (int o = 0; o < 3; ++o) {
            for (int n = 0; n < 5; ++n) {
                cloud c;
                scatter(&c, counts[n], sizes[s], offsets[o], (uint64_t)(100 * s + 10 * o + n));
                check_ok(sim_broad_find(&broad, c.n, c.x, c.type, NULL, RADIUS, &pairs, err));
                compare(&c, .2, &pairs);
            }
        }
    }
    // all cells in one bucket: a pair must still be found once
    const int count_buckets = broad.count_buckets;
    broad.count_buckets = 1;
    cloud crowded;
    scatter(&crowded, 100, 20, 0, 77);
    check_ok(sim_broad_find(&broad, crowded.n, crowded.x, crowded.type, NULL, RADIUS, &pairs, err));
    compare(&crowded, .2, &pairs);
    broad.count_buckets = count_buckets;
    // so far away that all cell numbers are clamped: slow, but right
    cloud c;
    scatter(&c, 30, 1e16, 1e17, 3);
    c.x[2] = c.x[0];
    c.x[3] = c.x[1];
    check_ok(sim_broad_find(&broad, c.n, c.x, c.type, NULL, RADIUS, &pairs, err));
    compare(&c, .2, &pairs);
    assert_true(pairs.n >= 1);
    assert_int_equal(sim_broad_find(&broad, MOST + 1, c.x, c.type, NULL, RADIUS, &pairs, NULL), CORE_RANGE);
    sim_found_clear(&pairs);
    sim_broad_clear(&broad);
}

static void touching_at_exactly_the_reach_counts(void **state) {
    (void)state;
    sim_broad broad = {0};
    sim_found pairs = {0};
    check_ok(sim_broad_create(2, .5, .25, OPEN, &broad, err));
    static const double at[] = {1.25, 1.2500001};
    for (int i = 0; i < 2; ++i) {
        const double x[4] = {-7, 3, -7 + at[i], 3};
        const int type[2] = {0, 0};
        check_ok(sim_broad_find(&broad, 2, x, type, NULL, RADIUS, &pairs, err));
        assert_int_equal(pairs.n, 1 - i);
    }
    sim_found_clear(&pairs);
    sim_broad_clear(&broad);
}

static double kt_of(const void *arg, int i, int j) {
    (void)i;
    (void)j;
    return *(const double *)arg;
}

// A list of the pairs (i, j), in this order, of grains that are visited in the order of their ids.
static void list_pairs(int n, const int ij[][2], sim_pairs *pairs) {
    static const int rank[4] = {0, 1, 2, 3};
    int first[5];
    sim_found found = {0};
    check_ok(sim_found_reserve(&found, n, err));
    for (found.n = 0; found.n < n; ++found.n) {
        found.i[found.n] = ij[found.n][0];
        found.j[found.n] = ij[found.n][1];
    }
    check_ok(sim_pairs_renew(pairs, n, err));
    sim_pairs_arrange(pairs, &found, 4, rank, first);
    for (int p = 0; p < n; ++p) {
        assert_int_equal(pairs->place[p], p);
        assert_int_equal(pairs->count[p], 0);
        assert_true(pairs->apart[p].room == 0);
    }
    sim_found_clear(&found);
}

// Contacts of pair p, which lie at `at` of the room.
static void set_contacts(sim_pairs *pairs, int p, int at, int count, double spring) {
    pairs->count[p] = (uint8_t)count;
    pairs->first[p] = at;
    for (int c = 0; c < count; ++c) {
        pairs->spring[p * pairs->k_max + c] = spring + c;
        pairs->feature[p * pairs->k_max + c] = 10 * c;
        pairs->touch[at + c] = (sim_touch){.d = -spring, .feature = 10 * c};
    }
}

static void springs_follow_their_pairs(void **state) {
    (void)state;
    sim_pairs from = {.k_max = 2}, to = {.k_max = 2};
    static const int before[4][2] = {{0, 1}, {0, 3}, {1, 2}, {2, 3}}, after[4][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 3}};
    list_pairs(4, before, &from);
    list_pairs(4, after, &to);
    check_ok(sim_pairs_reserve_room(&from, 4, err));
    memset(from.released, 1, 4);
    set_contacts(&from, 0, 3, 2, 1);
    set_contacts(&from, 1, 0, 1, 5); // gone afterwards: 1/2 kt 25
    set_contacts(&from, 2, 1, 1, -2);
    from.apart[3].room = 7; // no contact: nothing to lose
    // a larger room keeps what is in it
    check_ok(sim_pairs_reserve_room(&from, 1000, err));
    assert_true(from.room >= 1000);
    const double kt = 8;
    check_near(sim_pairs_carry(&from, &to, kt_of, &kt), 100, 1e-12);
    assert_int_equal(to.count[0], 2);
    check_near(to.spring[0], 1, 0);
    check_near(to.spring[1], 2, 0);
    assert_int_equal(to.feature[1], 10);
    assert_int_equal(sim_pairs_slot(&to, 0, 1).c.feature, 10);
    assert_int_equal(to.count[1], 0);
    assert_int_equal(to.count[2], 1);
    check_near(to.spring[4], -2, 0);
    check_near(sim_pairs_slot(&to, 2, 0).c.d, 2, 0);
    assert_int_equal(to.count[3], 0);
    for (int p = 0; p < 4; ++p) assert_int_equal(to.released[p], 0);
    // the room went along
    assert_int_equal(from.room, 0);
    assert_null(from.touch);
    sim_pairs_clear(&from);
    sim_pairs_clear(&to);
    sim_pairs_clear(NULL);
}

static void a_list_is_reused_while_it_is_large_enough(void **state) {
    (void)state;
    sim_pairs pairs = {.k_max = 1};
    static const int pair[1][2] = {{0, 1}};
    check_ok(sim_pairs_renew(&pairs, 0, err));
    assert_int_equal(pairs.capacity, 0);
    check_ok(sim_pairs_renew(&pairs, 800, err));
    assert_true(pairs.capacity >= 800 && pairs.capacity < 1000); // little more than asked for
    const int capacity = pairs.capacity;
    list_pairs(1, pair, &pairs);
    set_contacts(&pairs, 0, 0, 0, 0);
    pairs.count[0] = 1;
    pairs.apart[0].room = 1;
    list_pairs(1, pair, &pairs); // without contacts
    assert_int_equal(pairs.capacity, capacity);
    const uint64_t allocations = core_alloc_count();
    check_ok(sim_pairs_renew(&pairs, capacity, err));
    assert_true(core_alloc_count() == allocations);
    sim_pairs_clear(&pairs);
}

static void the_curve_keeps_neighbours_together(void **state) {
    (void)state;
    sim_order order = {0};
    enum { SIDE = 64 };
    static double x[2 * SIDE * SIDE];
    check_ok(sim_order_create(SIDE * SIDE, &order, err));
    // squares in an order of their own: consecutive ones along the curve share a side
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int square = (int)((unsigned)i * 2654435761u % (SIDE * SIDE));
        x[2 * i] = -3 + .25 * (square % SIDE);
        x[2 * i + 1] = 7 + .25 * (square / SIDE);
    }
    sim_order_find(&order, SIDE * SIDE, x, .25);
    static uint8_t seen[SIDE * SIDE];
    memset(seen, 0, sizeof seen);
    for (int s = 0; s < SIDE * SIDE; ++s) {
        const int i = order.sequence[s];
        assert_true(i >= 0 && i < SIDE * SIDE && !seen[i]);
        seen[i] = 1;
        if (s == 0) continue;
        const int before = order.sequence[s - 1];
        check_near(fabs(x[2 * i] - x[2 * before]) + fabs(x[2 * i + 1] - x[2 * before + 1]), .25, 1e-9);
    }
    // one square: by id; far away and no number: somewhere
    static const double far[8] = {1e300, 0, 0, 0, NAN, 0, -1e300, NAN};
    sim_order_find(&order, 4, far, 1e-3);
    int sum = 0;
    for (int s = 0; s < 4; ++s) sum += 1 << order.sequence[s];
    assert_int_equal(sum, 15);
    sim_order_find(&order, SIDE * SIDE, x, 1e9);
    for (int s = 0; s < SIDE * SIDE; ++s) assert_int_equal(order.sequence[s], s);
    sim_order_find(&order, 0, x, 1);
    for (uint64_t n = 1; n <= 4; ++n) {
        sim_order none = {0};
        core_alloc_fail_after(n);
        assert_int_equal(sim_order_create(10, &none, NULL), CORE_MEMORY);
        assert_null(none.sequence);
    }
    core_alloc_fail_after(0);
    sim_order_clear(&order);
    sim_order_clear(NULL);
}

static void pairs_are_arranged_by_their_first_grain(void **state) {
    (void)state;
    sim_pairs pairs = {.k_max = 1};
    int i[5] = {0, 0, 1, 1, 2}, j[5] = {1, 3, 2, 3, 3};
    const sim_found found = {.n = 5, .capacity = 5, .i = i, .j = j};
    static const int rank[4] = {2, 3, 1, 0}; // visited: 3, 2, 0, 1
    static const int want_i[5] = {0, 1, 2, 1, 0}, want_j[5] = {3, 3, 3, 2, 1};
    int first[5];
    check_ok(sim_pairs_renew(&pairs, 5, err));
    sim_pairs_arrange(&pairs, &found, 4, rank, first);
    for (int p = 0; p < 5; ++p) {
        assert_int_equal(pairs.i[p], want_i[p]);
        assert_int_equal(pairs.j[p], want_j[p]);
        assert_int_equal(pairs.i[pairs.place[p]], i[p]);
        assert_int_equal(pairs.j[pairs.place[p]], j[p]);
    }
    sim_pairs_clear(&pairs);
}

static void no_memory_is_reported_and_leaves_things_whole(void **state) {
    (void)state;
    core_error cause = {0};
    sim_broad broad = {0};
    for (uint64_t n = 1; n <= 4; ++n) {
        core_alloc_fail_after(n);
        assert_int_equal(sim_broad_create(MOST, 1.5, .2, OPEN, &broad, &cause), CORE_MEMORY);
        assert_null(broad.start);
    }
    core_alloc_fail_after(0);
    check_ok(sim_broad_create(MOST, 1.5, .2, OPEN, &broad, err));
    cloud c;
    scatter(&c, MOST, 5, 0, 1);
    sim_found found = {0};
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        core_alloc_fail_after(n);
        const core_status status = sim_broad_find(&broad, c.n, c.x, c.type, NULL, RADIUS, &found, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
    }
    assert_true(failures >= 5);
    compare(&c, .2, &found);
    sim_found_clear(&found);
    sim_found_clear(NULL);
    sim_broad_clear(&broad);
    sim_broad_clear(NULL);
}

static void no_memory_for_a_list_leaves_it_empty(void **state) {
    (void)state;
    core_error cause = {0};
    sim_pairs pairs = {.k_max = 2};
    static const int pair[1][2] = {{0, 1}};
    list_pairs(1, pair, &pairs);
    check_ok(sim_pairs_reserve_room(&pairs, 1, err));
    set_contacts(&pairs, 0, 1, 1, 3);
    int failures = 0;
    for (uint64_t n = 1;; ++n, ++failures) {
        core_alloc_fail_after(n);
        const core_status status = sim_pairs_reserve_room(&pairs, 1000, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_true(pairs.room < 1000);
        check_near(sim_pairs_slot(&pairs, 0, 0).c.d, -3, 0);
    }
    assert_int_equal(failures, 4);
    check_near(sim_pairs_slot(&pairs, 0, 0).c.d, -3, 0);
    for (failures = 0;; ++failures) {
        core_alloc_fail_after((uint64_t)failures + 1);
        const core_status status = sim_pairs_renew(&pairs, 1000, &cause);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_true(pairs.n == 0 && pairs.capacity == 0 && !pairs.place && pairs.room >= 1000);
    }
    assert_int_equal(failures, 10);
    sim_pairs_clear(&pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_brute_force),
        cmocka_unit_test(touching_at_exactly_the_reach_counts),
        cmocka_unit_test(springs_follow_their_pairs),
        cmocka_unit_test(a_list_is_reused_while_it_is_large_enough),
        cmocka_unit_test(the_curve_keeps_neighbours_together),
        cmocka_unit_test(pairs_are_arranged_by_their_first_grain),
        cmocka_unit_test(no_memory_is_reported_and_leaves_things_whole),
        cmocka_unit_test(no_memory_for_a_list_leaves_it_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
