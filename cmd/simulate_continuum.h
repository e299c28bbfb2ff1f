// simulate on scenes with `model: continuum`.
#ifndef SIMULATE_CONTINUUM_H
#define SIMULATE_CONTINUUM_H

#include "core_h5.h"
#include "sim.h"

typedef struct simulate_job {
    const char *scene, *output, *checkpoint, *restart; // NULL: not given
    int threads;
    bool check;
    int count_overrides;
    const char *const *overrides;
    const volatile sig_atomic_t *stop; // not 0: the run stops after the step it is in
} simulate_job;

// True if scene or checkpoint are those of the continuum solver.
bool simulate_is_continuum(const simulate_job *job);
// *report: steps, simulated time and whether it was stopped.
core_status simulate_continuum(const simulate_job *job, bool quiet, const core_progress *progress,
                               const core_h5_provenance *provenance, sim_run_report *report, core_error *err);

#endif
