// The sampler: what the rows are, that threads change no bit, what the input hash covers, refused definitions, failing
// memory.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { HASH, LETTER_U, COUNT_SHAPES };

static fixture shapes[COUNT_SHAPES];

static int setup(void **state) {
    (void)state;
    core_status s = fixture_hash(128, &shapes[HASH], NULL);
    if (s == CORE_OK) s = fixture_u(128, &shapes[LETTER_U], NULL);
    return s == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < COUNT_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}

static cspace_pair pair_of(int a, int b, double ratio) {
    return fixture_pair(&shapes[a], &shapes[b], ratio);
}

static cspace_sample_def small_def(void) {
    cspace_sample_def def = cspace_sample_default_def();
    def.samples = 3000;
    def.held_out = 700;
    return def;
}

static void test_threads_change_no_bit(void **state) {
    (void)state;
    cspace_pair pair = pair_of(LETTER_U, HASH, 0.8);
    cspace_sample_def def = small_def();
    cspace_samples one = {0}, other = {0};
    assert_int_equal(cspace_sample(&pair, &def, NULL, &one, NULL), CORE_OK);
    const int threads[] = {2, 3, 8};
    for (int k = 0; k < 3; k++) {
        def.threads = threads[k];
        assert_int_equal(cspace_sample(&pair, &def, NULL, &other, NULL), CORE_OK);
        assert_true(fixture_rows_same(&one.training, &other.training));
        assert_true(fixture_rows_same(&one.held_out, &other.held_out));
        assert_memory_equal(&one.acceptance_rate, &other.acceptance_rate, sizeof one.acceptance_rate);
        assert_true(one.input_hash == other.input_hash);
        cspace_samples_clear(&other);
    }
    // a longer set begins with the same rows, another seed gives others
    def.samples = 4000;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &other, NULL), CORE_OK);
    assert_memory_equal(one.training.pose, other.training.pose, (size_t)one.training.n * 3 * sizeof(double));
    cspace_samples_clear(&other);
    def.samples = 3000;
    def.seed = 2;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &other, NULL), CORE_OK);
    assert_memory_not_equal(one.training.pose, other.training.pose, 3 * sizeof(double));
    assert_memory_not_equal(one.held_out.pose, other.held_out.pose, 3 * sizeof(double));
    cspace_samples_clear(&other);
    cspace_samples_clear(&one);
}

static void test_rows(void **state) {
    (void)state;
    cspace_pair pair = pair_of(LETTER_U, HASH, 0.8);
    cspace_sample_def def = small_def();
    def.threads = 2;
    cspace_samples s = {0};
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, NULL), CORE_OK);
    assert_int_equal(s.training.n, 3000);
    assert_int_equal(s.held_out.n, 700);
    assert_string_equal(s.labels, "minimiser");
    assert_string_equal(s.a.name, "u");
    assert_string_equal(s.b.name, "hash");
    double reach = pair.scale_a + pair.scale_b;
    for (int set = 0; set < 2; set++) {
        const cspace_rows *rows = set ? &s.held_out : &s.training;
        int outside = 0, outside_prefix = 0, negative = 0;
        double theta = 0.0, turn2 = 0.0;
        for (int64_t i = 0; i < rows->n; i++) {
            cspace_pose q = {rows->pose[3 * i], rows->pose[3 * i + 1], rows->pose[3 * i + 2]};
            assert_true(q.theta >= -CORE_PI && q.theta < CORE_PI);
            assert_true(hypot(q.x, q.y) <= reach);
            cspace_contact c;
            cspace_numeric_contact(&pair, &def.search, &q, &c);
            assert_close(rows->distance[i], c.d, 1e-4);
            double g = hypot(rows->gradient[3 * i + 1], rows->gradient[3 * i + 2]);
            if (rows->distance[i] > 0.0) assert_close(g, 1.0, 1e-6);
            assert_true(g <= 1.0 + 1e-6);
            bool is_outside = fabs(rows->distance[i]) > def.band;
            outside += is_outside;
            outside_prefix += is_outside && i < 300;
            negative += rows->distance[i] < 0.0;
            theta += q.theta;
            turn2 += q.theta * q.theta;
        }
        // a tenth of the rows is drawn without condition; most of those lie outside the band
        double n = (double)rows->n;
        assert_true(outside <= 0.1 * n + 1.0 && outside > 0.05 * n);
        assert_true(outside_prefix <= 31 && outside_prefix > 12);
        assert_true(negative > 0.2 * n && negative < 0.8 * n);
        // angles are uniform: mean and mean square within five standard errors
        double deviation = CORE_PI / sqrt(3.0);
        assert_close(theta / n, 0.0, 5.0 * deviation / sqrt(n));
        assert_close(turn2 / n, deviation * deviation, 5.0 * deviation * deviation * sqrt(0.8) / sqrt(n));
    }
    assert_memory_not_equal(s.training.pose, s.held_out.pose, 3 * sizeof(double));
    cspace_samples_clear(&s);
}

// The share of poses within the band, by plain drawing with another generator state.
static void test_acceptance_rate(void **state) {
    (void)state;
    cspace_pair pair = pair_of(HASH, HASH, 1.0);
    cspace_sample_def def = small_def();
    def.near_fraction = 1.0;
    cspace_samples s = {0};
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, NULL), CORE_OK);
    for (int64_t i = 0; i < s.training.n; i++) assert_true(fabs(s.training.distance[i]) <= def.band);
    cspace_search_def search = def.search;
    search.band = def.band;
    core_random random;
    core_random_init(&random, 99, 0);
    const int n = 10000;
    int inside = 0;
    for (int i = 0; i < n; i++) {
        cspace_pose q = fixture_pose(&random, 2.0);
        cspace_minimum m;
        cspace_minimise(&pair, &search, &q, &m);
        inside += !m.outside;
    }
    double rate = (double)inside / n;
    assert_close(s.acceptance_rate, rate, 5.0 * sqrt(rate * (1.0 - rate) / n + rate * rate * (1.0 - rate) / 3000.0));
    cspace_samples_clear(&s);
    // without near rows there is no rate
    def.near_fraction = 0.0;
    def.samples = 1000;
    def.held_out = 0;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, NULL), CORE_OK);
    assert_close(s.acceptance_rate, 0.0, 0.0);
    assert_int_equal(s.held_out.n, 0);
    cspace_samples_clear(&s);
}

static void test_input_hash(void **state) {
    (void)state;
    cspace_pair pair = pair_of(HASH, LETTER_U, 1.0), other = pair_of(HASH, LETTER_U, 1.1);
    cspace_sample_def def = small_def(), d;
    uint64_t hash = cspace_sample_input_hash(&pair, &def);
    assert_true(hash == cspace_sample_input_hash(&pair, &def));
    d = def, d.threads = 7;
    assert_true(hash == cspace_sample_input_hash(&pair, &d));
    d = def, d.samples++;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.held_out++;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.near_fraction = 0.8;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.band = 0.2;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.seed++;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.search.tolerance *= 0.5;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    d = def, d.search.max_cells++;
    assert_true(hash != cspace_sample_input_hash(&pair, &d));
    assert_true(hash != cspace_sample_input_hash(&other, &def));
    other = pair_of(LETTER_U, HASH, 1.0);
    assert_true(hash != cspace_sample_input_hash(&other, &def));
    float node = shapes[HASH].grid.phi[1000];
    shapes[HASH].grid.phi[1000] += 0.01f;
    assert_true(hash != cspace_sample_input_hash(&pair, &def));
    shapes[HASH].grid.phi[1000] = node;
    assert_true(hash == cspace_sample_input_hash(&pair, &def));
}

static void test_refused_definitions(void **state) {
    (void)state;
    cspace_pair pair = pair_of(HASH, HASH, 1.0);
    cspace_samples s = {0};
    core_error err = {0};
    const struct {
        size_t offset;
        double value;
        const char *word;
    } numbers[] = {{offsetof(cspace_sample_def, near_fraction), -0.1, "near"},
                   {offsetof(cspace_sample_def, near_fraction), 1.1, "near"},
                   {offsetof(cspace_sample_def, near_fraction), NAN, "near"},
                   {offsetof(cspace_sample_def, band), 0.0, "band"},
                   {offsetof(cspace_sample_def, band), 3.0, "band"},
                   {offsetof(cspace_sample_def, band), NAN, "band"},
                   {offsetof(cspace_sample_def, search.tolerance), 0.0, "tolerance"},
                   {offsetof(cspace_sample_def, search.tolerance), NAN, "tolerance"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cspace_sample_def def = small_def();
        memcpy((char *)&def + numbers[i].offset, &numbers[i].value, sizeof(double));
        assert_int_equal(cspace_sample(&pair, &def, NULL, &s, &err), CORE_RANGE);
        assert_non_null(strstr(err.message, numbers[i].word));
    }
    cspace_sample_def def = small_def();
    def.samples = 999;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, &err), CORE_RANGE);
    def = small_def();
    def.held_out = -1;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, &err), CORE_RANGE);
    def = small_def();
    def.threads = 0;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, &err), CORE_RANGE);
    def = small_def();
    def.cookie = 0;
    assert_int_equal(cspace_sample(&pair, &def, NULL, &s, &err), CORE_ARG);
    def = small_def();
    assert_int_equal(cspace_sample(NULL, &def, NULL, &s, &err), CORE_ARG);
    assert_int_equal(cspace_sample(&pair, NULL, NULL, &s, &err), CORE_ARG);
    assert_int_equal(cspace_sample(&pair, &def, NULL, NULL, &err), CORE_ARG);
    assert_null(s.training.pose); // untouched throughout
}

static void test_failing_memory(void **state) {
    (void)state;
    cspace_pair pair = pair_of(HASH, HASH, 1.0);
    cspace_sample_def def = small_def();
    def.samples = 1000;
    def.held_out = 100;
    core_status status = CORE_MEMORY;
    uint64_t n = 0;
    while (status != CORE_OK) {
        cspace_samples s = {0};
        core_error err = {0};
        core_alloc_fail_after(++n);
        status = cspace_sample(&pair, &def, NULL, &s, &err);
        core_alloc_fail_after(0);
        if (status != CORE_OK) {
            assert_int_equal(status, CORE_MEMORY);
            assert_int_equal(err.code, CORE_MEMORY);
            assert_null(s.training.pose);
            assert_null(s.a.outline.xy);
        }
        cspace_samples_clear(&s);
    }
    assert_true(n > 15); // shapes, four columns and three tallies twice
}

typedef struct listener {
    int count;
    double last;
} listener;

static void listen_to(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    (void)note;
    listener *l = user;
    assert_non_null(strstr(stage, "hash-hash"));
    assert_string_equal(unit, "samples");
    assert_true(done <= total);
    l->count++;
    l->last = done / total;
}

static void test_progress(void **state) {
    (void)state;
    cspace_pair pair = pair_of(HASH, HASH, 1.0);
    cspace_sample_def def = small_def();
    listener l = {0};
    core_progress progress = {listen_to, &l};
    cspace_samples s = {0};
    assert_int_equal(cspace_sample(&pair, &def, &progress, &s, NULL), CORE_OK);
    assert_true(l.count >= 4);
    assert_close(l.last, 1.0, 0.0);
    cspace_samples_clear(&s);
    cspace_samples_clear(&s); // clearing nothing is fine
    cspace_samples_clear(NULL);
    cspace_rows_clear(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_change_no_bit),
                                       cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_acceptance_rate),
                                       cmocka_unit_test(test_input_hash),
                                       cmocka_unit_test(test_refused_definitions),
                                       cmocka_unit_test(test_failing_memory),
                                       cmocka_unit_test(test_progress)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
