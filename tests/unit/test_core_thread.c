/// Loops over threads, progress reports, outlines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define LOOP_MAX 5000

typedef struct loop {
    int threads;
    atomic_int visits[LOOP_MAX];
    atomic_int bad_worker;
    atomic_int inside[8]; // workers that are inside a call: two at once would share scratch memory
} loop;

static void visit(void *arg, int64_t i, int worker) {
    loop *l = arg;
    if (worker < 0 || worker >= (l->threads > 1 ? l->threads : 1)) {
        atomic_fetch_add(&l->bad_worker, 1);
        return;
    }
    if (atomic_fetch_add(&l->inside[worker], 1) != 0) atomic_fetch_add(&l->bad_worker, 1);
    atomic_fetch_add(&l->visits[i], 1);
    atomic_fetch_sub(&l->inside[worker], 1);
}

static void test_each_index_once(void **state) {
    (void)state;
    static const int threads[] = {-1, 0, 1, 2, 3, 8};
    static const int counts[] = {0, 1, 2, 7, 8, 9, 1000, LOOP_MAX};
    static loop l;
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            memset(&l, 0, sizeof l);
            l.threads = threads[t];
            core_thread_for(threads[t], counts[c], visit, &l);
            assert_int_equal(l.bad_worker, 0);
            for (int i = 0; i < LOOP_MAX; i++) assert_int_equal(l.visits[i], i < counts[c]);
        }
    assert_true(core_thread_available() >= 1);
}

/// Two workers that wait for each other.
typedef struct meeting {
    atomic_int here, alone;
} meeting;

static void meet(void *arg, int64_t i, int worker) {
    (void)worker;
    (void)i;
    meeting *m = arg;
    atomic_fetch_add(&m->here, 1);
    time_t start = time(NULL);
    while (atomic_load(&m->here) < 2) {
        if (time(NULL) > start + 20) { // the other one has not even started
            atomic_fetch_add(&m->alone, 1);
            return;
        }
    }
}

static void test_workers_run_at_once(void **state) {
    (void)state;
    meeting m = {0};
    core_thread_for(2, 2, meet, &m);
    assert_int_equal(m.here, 2);
    assert_int_equal(m.alone, 0);
}

static void follow(void *arg, int64_t i, int worker) {
    int64_t *next = arg;
    assert_int_equal(i, *next);
    assert_int_equal(worker, 0);
    (*next)++;
}

static void test_one_thread_keeps_the_order(void **state) {
    (void)state;
    int64_t next = 0;
    core_thread_for(1, 100, follow, &next);
    assert_int_equal(next, 100);
}

typedef struct heard {
    char stage[32], unit[32], note[32];
    double done, total;
    int calls;
} heard;

static void hear(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    heard *h = user;
    strcpy(h->stage, stage);
    strcpy(h->unit, unit);
    strcpy(h->note, note ? note : "none");
    h->done = done;
    h->total = total;
    h->calls++;
}

static void test_progress(void **state) {
    (void)state;
    heard h = {0};
    core_progress p = {hear, &h}, nobody = {0};
    core_progress_report(NULL, "a", 1, 2, "b", "c");
    core_progress_report(&nobody, "a", 1, 2, "b", "c");
    core_progress_report(&p, "sampling", 3, 4, "samples", NULL);
    assert_int_equal(h.calls, 1);
    assert_string_equal(h.stage, "sampling");
    assert_string_equal(h.unit, "samples");
    assert_string_equal(h.note, "none");
    assert_true(h.done == 3 && h.total == 4);
}

static void test_outline_create_copy_clear(void **state) {
    (void)state;
    const int counts[] = {4, 3};
    core_outline a = {0}, b = {0};
    assert_int_equal(core_outline_count(&a), 0);
    assert_int_equal(core_outline_create(2, counts, &a, NULL), CORE_OK);
    assert_int_equal(a.count_rings, 2);
    assert_int_equal(a.ring_start[0], 0);
    assert_int_equal(a.ring_start[1], 4);
    assert_int_equal(a.ring_start[2], 7);
    assert_int_equal(core_outline_count(&a), 7);
    for (int i = 0; i < 14; i++) a.xy[i] = i;
    assert_int_equal(core_outline_copy(&a, &b, NULL), CORE_OK);
    assert_ptr_not_equal(a.xy, b.xy);
    assert_memory_equal(a.xy, b.xy, 14 * sizeof *a.xy);
    assert_int_equal(core_outline_hash(&a), core_outline_hash(&b));
    b.xy[13] = nextafter(b.xy[13], 100.0);
    assert_true(core_outline_hash(&a) != core_outline_hash(&b));
    core_outline_clear(&a);
    assert_null(a.xy);
    assert_int_equal(core_outline_count(&a), 0);
    core_outline_clear(&a);
    core_outline_clear(NULL);
    assert_true(core_outline_hash(&a) != core_outline_hash(&b));
    core_outline_clear(&b);
    assert_int_equal(core_outline_copy(&a, &b, NULL), CORE_OK); // nothing copies to nothing
    assert_null(b.xy);
}

/// Same points, other rings: another outline.
static void test_outline_hash_sees_rings(void **state) {
    (void)state;
    core_outline a = {0}, b = {0};
    assert_int_equal(core_outline_create(2, (const int[]){3, 4}, &a, NULL), CORE_OK);
    assert_int_equal(core_outline_create(2, (const int[]){4, 3}, &b, NULL), CORE_OK);
    assert_true(core_outline_hash(&a) != core_outline_hash(&b));
    core_outline_clear(&a);
    core_outline_clear(&b);
}

static void test_outline_bad_arguments(void **state) {
    (void)state;
    core_error err = {0};
    core_outline o = {0};
    assert_int_equal(core_outline_create(0, (const int[]){3}, &o, &err), CORE_ARG);
    assert_int_equal(core_outline_create(-1, (const int[]){3}, &o, &err), CORE_ARG);
    assert_int_equal(core_outline_create(2, (const int[]){3, 2}, &o, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "ring 1 has 2 points"));
    assert_int_equal(core_outline_create(2, (const int[]){INT32_MAX, INT32_MAX}, &o, &err), CORE_ARG);
    assert_int_equal(core_outline_create(1, NULL, &o, &err), CORE_ARG);
    assert_null(o.xy);
}

static void test_outline_out_of_memory(void **state) {
    (void)state;
    core_outline a = {0}, b = {0};
    assert_int_equal(core_outline_create(1, (const int[]){3}, &a, NULL), CORE_OK);
    for (uint64_t n = 1; n <= 2; n++) {
        core_error err = {0};
        core_alloc_fail_after(n);
        assert_int_equal(core_outline_create(1, (const int[]){3}, &b, &err), CORE_MEMORY);
        assert_int_equal(err.code, CORE_MEMORY);
        core_alloc_fail_after(n);
        assert_int_equal(core_outline_copy(&a, &b, &err), CORE_MEMORY);
        assert_null(b.xy);
    }
    core_alloc_fail_after(0);
    core_outline_clear(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_workers_run_at_once),
        cmocka_unit_test(test_one_thread_keeps_the_order),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_outline_create_copy_clear),
        cmocka_unit_test(test_outline_hash_sees_rings),
        cmocka_unit_test(test_outline_bad_arguments),
        cmocka_unit_test(test_outline_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
