/// The team behind core_thread_for on a machine that is busy with other work: who waits for whom, and what waiting
/// costs. Whether a thread runs is arranged here, not left to the machine's load: a worker is held by a signal that it
/// allowed.
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PARTS 1000

/// Processor time is bounded with much to spare: a thread looks around for less than .1 ms before it sleeps.
static const double LOOKING_MAX = 0.005;

static double seconds(clockid_t clock) {
    struct timespec t;
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double time) {
    struct timespec t = {(time_t)time, (long)(1e9 * (time - (double)(time_t)time))};
    nanosleep(&t, NULL);
}

// ---------------------------------------------------------------------------------------------- a worker that is held

static int release[2]; // a pipe: the held worker reads a byte
static atomic_bool held;

static void hold(int number) {
    (void)number;
    char byte;
    atomic_store(&held, true);
    while (read(release[0], &byte, 1) < 0) {
    }
}

/// What two workers find out about each other.
typedef struct meeting {
    atomic_int here;
    pthread_t thread[2];
} meeting;

/// Each of the two workers takes one part, lets the signal through, and waits for the other to have done so.
static void meet(void *arg, int64_t i, int worker) {
    meeting *m = arg;
    (void)i;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    m->thread[worker] = pthread_self();
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < 2) sleep_for(0.0005);
}

typedef struct visits {
    atomic_int by[2];
    atomic_int of[PARTS];
} visits;

static void visit(void *arg, int64_t i, int worker) {
    visits *v = arg;
    atomic_fetch_add(&v->of[i], 1);
    atomic_fetch_add(&v->by[worker], 1);
}

/// A worker that the system does not let run is not waited for: its share is done by the caller.
static void test_a_worker_that_does_not_run_is_not_missed(void **state) {
    (void)state;
    meeting m = {0};
    const struct sigaction action = {.sa_handler = hold};
    assert_int_equal(pipe(release), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    core_thread_for(2, 2, meet, &m);
    sleep_for(0.02); // it sleeps, and holds no lock
    assert_int_equal(pthread_kill(m.thread[1], SIGUSR1), 0);
    while (!atomic_load(&held)) sleep_for(0.0005);
    for (int round = 0; round < 3; round++) {
        visits v = {0};
        core_thread_for(2, PARTS, visit, &v); // a team that waits for all of its workers would stay here for ever
        assert_int_equal(v.by[0], PARTS);
        for (int i = 0; i < PARTS; i++) assert_int_equal(v.of[i], 1);
    }
    assert_int_equal(write(release[1], "x", 1), 1);
    // afterwards it takes part again
    m.here = 0;
    core_thread_for(2, 2, meet, &m);
    assert_int_equal(m.here, 2);
    close(release[0]);
    close(release[1]);
}

// ---------------------------------------------------------------------------------------------- what waiting costs

/// Worker 1 sleeps inside its part; the caller has nothing to do.
typedef struct nap {
    atomic_bool entered;
    double time;
} nap;

static void take_nap(void *arg, int64_t i, int worker) {
    nap *n = arg;
    (void)i;
    if (worker == 1) {
        atomic_store(&n->entered, true);
        sleep_for(n->time);
    } else {
        while (!atomic_load(&n->entered)) sleep_for(0.0005);
    }
}

static void test_a_caller_that_waits_sleeps(void **state) {
    (void)state;
    nap n = {.time = 0.3};
    const double wall = seconds(CLOCK_MONOTONIC), start = seconds(CLOCK_THREAD_CPUTIME_ID);
    core_thread_for(2, 2, take_nap, &n);
    assert_true(seconds(CLOCK_MONOTONIC) - wall >= n.time);
    const double cost = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    if (cost > LOOKING_MAX) fail_msg("waiting for .3 s took %g s of processor time, at most %g", cost, LOOKING_MAX);
}

static void test_workers_without_work_sleep(void **state) {
    (void)state;
    visits v = {0};
    core_thread_for(2, PARTS, visit, &v);
    const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    sleep_for(0.3);
    const double cost = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (cost > LOOKING_MAX) fail_msg(".3 s without work took %g s of processor time, at most %g", cost, LOOKING_MAX);
}

/// Loops with pauses of all lengths around the time after which a thread sleeps: whoever sleeps is woken.
static void test_whoever_sleeps_is_woken(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        nap n = {.time = 1e-6 * (round % 20) * (round % 20)};
        core_thread_for(2, 2, take_nap, &n); // ends only if worker 1 came, and its caller woke up
        sleep_for(2e-6 * (round % 17) * (round % 17));
    }
}

// ---------------------------------------------------------------------------------------------- several loops at once

static void loop_inside(void *arg, int64_t i, int worker) {
    visits *v = arg;
    visits inner = {0};
    (void)worker;
    core_thread_for(2, 100, visit, &inner);
    for (int k = 0; k < 100; k++)
        if (inner.of[k] == 1) atomic_fetch_add(&v->of[i], 1);
    atomic_fetch_add(&v->by[0], inner.by[0]);
}

/// A loop inside a loop runs in its caller.
static void test_loop_inside_a_loop(void **state) {
    (void)state;
    visits v = {0};
    core_thread_for(2, 50, loop_inside, &v);
    for (int i = 0; i < 50; i++) assert_int_equal(v.of[i], 100);
    assert_int_equal(v.by[0], 50 * 100);
}

static void *run_loops(void *arg) {
    visits *v = arg;
    for (int k = 0; k < 300; k++) core_thread_for(2, PARTS, visit, v);
    return NULL;
}

/// Two threads of the user's own, each with its loops.
static void test_loops_of_two_threads(void **state) {
    (void)state;
    static visits v[2];
    memset(v, 0, sizeof v);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_loops, &v[1]), 0);
    run_loops(&v[0]);
    assert_int_equal(pthread_join(other, NULL), 0);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < PARTS; i++) assert_int_equal(v[t].of[i], 300);
}

// ---------------------------------------------------------------------------------------------- children

/// A child process has no workers of its parent's, and gets its own.
static void test_child_has_a_team_of_its_own(void **state) {
    (void)state;
    meeting m = {0};
    core_thread_for(2, 2, meet, &m);
    sleep_for(0.02); // the parent's worker sleeps, which the child inherits half of
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        for (int round = 0; round < 5; round++) {
            m.here = 0;
            core_thread_for(2, 2, meet, &m);
            sleep_for(0.001);
        }
        _exit(m.here == 2 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_worker_that_does_not_run_is_not_missed),
        cmocka_unit_test(test_a_caller_that_waits_sleeps),
        cmocka_unit_test(test_workers_without_work_sleep),
        cmocka_unit_test(test_whoever_sleeps_is_woken),
        cmocka_unit_test(test_loop_inside_a_loop),
        cmocka_unit_test(test_loops_of_two_threads),
        cmocka_unit_test(test_child_has_a_team_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
