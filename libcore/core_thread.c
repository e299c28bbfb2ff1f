/// Threads: a team that shares loops, and progress reports.
///
/// A team of our own on POSIX threads (included here alone) because of machines that are busy with other work. A loop
/// here waits for those workers alone that took a part of it: one that sleeps, or that the system runs something else
/// in place of, is not missed, the caller does its part. And who waits looks for WAIT_TIME and then sleeps, instead of
/// burning the processor that the others need. libcore/README.md compares it with OpenMP's teams.
#define _GNU_SOURCE // sched_getaffinity: processors that this process may use

#include "core.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TEAM_MAX 256         // workers, the caller included; a loop that wants more gets these
#define CHUNKS_PER_WORKER 32 // enough pieces for even loads, few enough to make handing them out cheap
#define WAIT_TIME 50e-6      // s of looking for a change before a thread sleeps, which costs about as much
#define LOOKS_PER_TIME 32    // looks between two readings of the clock
#define LINE ((size_t)64)    // bytes of a cache line

// The state of a loop in one word: how many workers are inside, whether more may join, how many threads it is for (so
// that the others do not even look), and its number (so that nobody joins twice).
#define STATE_INSIDE UINT64_C(0xffff)
#define STATE_OPEN UINT64_C(0x10000)
#define STATE_THREADS_SHIFT 17
#define STATE_NUMBER_SHIFT 32

/// Part of a loop: what its own worker takes first, so that data stay in its cache from loop to loop; who is done with
/// its own goes on with the next ones.
typedef struct share {
    _Alignas(64) atomic_int_fast64_t next;
    int64_t end;
} share;

/// The loop the team works at. Written while no worker is inside.
typedef struct loop {
    void (*fn)(void *arg, int64_t i, int worker);
    void *arg;
    int threads;
    int64_t chunk;
    share share[TEAM_MAX];
} loop;

/// The one team of the process, as processors are the process's: threads that wait for loops. Like the counter of
/// allocations it is state that no result depends on.
static struct {
    atomic_flag taken; // somebody runs a loop
    loop loop;
    _Alignas(64) atomic_uint_fast64_t state;
    atomic_int sleepers;       // workers that wait for `work`
    atomic_bool caller_sleeps; // waits for `done`
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int count;           // workers that exist, the caller included; 0 before the first loop
    bool tells_children; // that they have no workers
} core__team = {.taken = ATOMIC_FLAG_INIT,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .work = PTHREAD_COND_INITIALIZER,
                .done = PTHREAD_COND_INITIALIZER};

// ---------------------------------------------------------------------------------------------- waiting

double core_wall_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Leaves the core to its other half for a moment.
static void relax(void) {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/// Looks until arrived(arg), for WAIT_TIME at most. True if it did.
static bool look_for(bool (*arrived)(const void *arg), const void *arg) {
    const double end = core_wall_seconds() + WAIT_TIME;
    do {
        for (int i = 0; i < LOOKS_PER_TIME; i++) {
            if (arrived(arg)) return true;
            relax();
        }
    } while (core_wall_seconds() < end);
    return false;
}

// ---------------------------------------------------------------------------------------------- workers

/// Takes chunks until none is left, those of its own share first.
static void work_at_loop(int worker) {
    loop *l = &core__team.loop;
    for (int k = 0; k < l->threads; k++) {
        share *s = &l->share[(worker + k) % l->threads];
        for (;;) {
            int64_t i = atomic_fetch_add_explicit(&s->next, l->chunk, memory_order_relaxed);
            if (i >= s->end) break;
            const int64_t end = i + l->chunk < s->end ? i + l->chunk : s->end;
            for (; i < end; i++) l->fn(l->arg, i, worker);
        }
    }
}

typedef struct member {
    int worker;
    uint64_t last; // number of the loop it was in last
} member;

/// A loop is open that has a place for this worker and that it was not in yet.
static bool has_work(const member *m, uint64_t state) {
    const int threads = (int)(state >> STATE_THREADS_SHIFT) & (2 * TEAM_MAX - 1);
    return (state & STATE_OPEN) && m->worker < threads && state >> STATE_NUMBER_SHIFT != m->last;
}

static bool work_arrived(const void *arg) {
    return has_work(arg, atomic_load(&core__team.state));
}

static void sleep_until_work(const member *m) {
    pthread_mutex_lock(&core__team.lock);
    atomic_fetch_add(&core__team.sleepers, 1); // before the last look: who opens a loop sees one of the two
    while (!work_arrived(m)) pthread_cond_wait(&core__team.work, &core__team.lock);
    atomic_fetch_sub(&core__team.sleepers, 1);
    pthread_mutex_unlock(&core__team.lock);
}

/// Enters the loop that is open, unless it was closed meanwhile.
static bool join(member *m) {
    uint64_t state = atomic_load(&core__team.state);
    while (has_work(m, state)) {
        if (!atomic_compare_exchange_weak(&core__team.state, &state, state + 1)) continue;
        m->last = state >> STATE_NUMBER_SHIFT;
        return true;
    }
    return false;
}

/// The last one out of a closed loop wakes the caller.
static void leave(void) {
    const uint64_t state = atomic_fetch_sub(&core__team.state, 1) - 1;
    if ((state & (STATE_INSIDE | STATE_OPEN)) != 0 || !atomic_load(&core__team.caller_sleeps)) return;
    pthread_mutex_lock(&core__team.lock);
    pthread_cond_signal(&core__team.done);
    pthread_mutex_unlock(&core__team.lock);
}

static void *run_worker(void *arg) {
    member m = {.worker = (int)(intptr_t)arg};
    for (;;) {
        if (!look_for(work_arrived, &m)) sleep_until_work(&m);
        if (!join(&m)) continue;
        work_at_loop(m.worker);
        leave();
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------- the caller

/// In a child process after fork there are no workers: it makes a team of its own.
static void forget_team(void) {
    core__team.count = 0;
    atomic_store(&core__team.state, 0);
    atomic_store(&core__team.sleepers, 0);
    pthread_mutex_init(&core__team.lock, NULL);
    pthread_cond_init(&core__team.work, NULL);
    pthread_cond_init(&core__team.done, NULL);
}

/// Lets the team grow to a number of workers if the system gives that many. Signals stay with the caller's threads.
static void grow_team(int threads) {
    sigset_t all, before;
    pthread_attr_t attributes;
    if (core__team.count >= threads) return;
    if (!core__team.tells_children) core__team.tells_children = pthread_atfork(NULL, NULL, forget_team) == 0;
    if (core__team.count == 0) core__team.count = 1;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; core__team.count < threads; core__team.count++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run_worker, (void *)(intptr_t)core__team.count) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void open_loop(void) {
    const uint64_t number = (atomic_load(&core__team.state) >> STATE_NUMBER_SHIFT) + 1;
    atomic_store(&core__team.state,
                 number << STATE_NUMBER_SHIFT | (uint64_t)core__team.loop.threads << STATE_THREADS_SHIFT | STATE_OPEN);
    if (atomic_load(&core__team.sleepers) == 0) return;
    pthread_mutex_lock(&core__team.lock); // a worker between its last look and its sleep holds it
    pthread_mutex_unlock(&core__team.lock);
    pthread_cond_broadcast(&core__team.work);
}

static bool all_left(const void *arg) {
    (void)arg;
    return (atomic_load(&core__team.state) & STATE_INSIDE) == 0;
}

/// Nobody joins any more; waits for those inside.
static void close_loop(void) {
    atomic_fetch_and(&core__team.state, ~STATE_OPEN);
    if (all_left(NULL) || look_for(all_left, NULL)) return;
    pthread_mutex_lock(&core__team.lock);
    atomic_store(&core__team.caller_sleeps, true);
    while (!all_left(NULL)) pthread_cond_wait(&core__team.done, &core__team.lock);
    atomic_store(&core__team.caller_sleeps, false);
    pthread_mutex_unlock(&core__team.lock);
}

int core_thread_available(void) {
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

void core_thread_for(int threads, int64_t n, void (*fn)(void *arg, int64_t i, int worker), void *arg) {
    if (threads > TEAM_MAX) threads = TEAM_MAX;
    if (threads > n) threads = (int)n;
    // one loop at a time: one inside another, or beside it in another thread of the user's, runs in its caller
    if (threads <= 1 || atomic_flag_test_and_set(&core__team.taken)) {
        for (int64_t i = 0; i < n; i++) fn(arg, i, 0);
        return;
    }
    loop *l = &core__team.loop;
    grow_team(threads);
    l->fn = fn;
    l->arg = arg;
    l->threads = threads;
    l->chunk = n / ((int64_t)threads * CHUNKS_PER_WORKER);
    if (l->chunk < 1) l->chunk = 1;
    for (int k = 0; k < threads; k++) {
        atomic_store_explicit(&l->share[k].next, n / threads * k + (k < n % threads ? k : n % threads),
                              memory_order_relaxed);
        l->share[k].end = n / threads * (k + 1) + (k + 1 < n % threads ? k + 1 : n % threads);
    }
    open_loop();
    work_at_loop(0);
    close_loop();
    atomic_flag_clear(&core__team.taken);
}

// ---------------------------------------------------------------------------------------------- progress

void core_progress_report(const core_progress *p, const char *stage, double done, double total, const char *unit,
                          const char *note) {
    if (p && p->report) p->report(p->user, stage, done, total, unit, note);
}
