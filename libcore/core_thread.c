/// Threads (OpenMP, included here alone) and progress reports.
#include "core.h"

#include <omp.h>

#define THREAD_CHUNKS_PER_WORKER 32 // enough pieces for even loads, few enough to make handing them out cheap

int core_thread_available(void) {
    int n = omp_get_num_procs();
    return n > 0 ? n : 1;
}

void core_thread_for(int threads, int64_t n, void (*fn)(void *arg, int64_t i, int worker), void *arg) {
    if (threads > n) threads = (int)n;
    if (threads <= 1) {
        for (int64_t i = 0; i < n; i++) fn(arg, i, 0);
        return;
    }
    int64_t chunk = n / ((int64_t)threads * THREAD_CHUNKS_PER_WORKER);
    if (chunk < 1) chunk = 1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
    for (int64_t i = 0; i < n; i++) fn(arg, i, omp_get_thread_num());
}

void core_progress_report(const core_progress *p, const char *stage, double done, double total, const char *unit,
                          const char *note) {
    if (p && p->report) p->report(p->user, stage, done, total, unit, note);
}
