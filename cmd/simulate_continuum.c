// simulate on scenes with `model: continuum`.
#include "simulate_continuum.h"
#include "cmd_common.h"
#include "fluid_run.h"

#include <stdio.h>

bool simulate_is_continuum(const simulate_job *job) {
    return job->restart ? fluid_checkpoint_claims(job->restart)
                        : fluid_scene_claims(job->scene, job->count_overrides, job->overrides);
}

static void print_summary(const char *path, const fluid_run_report *r) {
    char hash[17];
    core_hash_text(r->state_hash, hash);
    printf("%s: %lld frames, %lld steps, %.4g s simulated in %.3g s\n", path, (long long)r->frames, (long long)r->steps,
           r->simulated, r->wall);
    printf("%d particles; kinetic %.4g J, potential %.4g J, largest speed %.3g m/s\n", r->particles, r->totals.kinetic,
           r->totals.potential, r->totals.speed_max);
    printf("state %s\n", hash);
}

core_status simulate_continuum(const simulate_job *job, bool quiet, const core_progress *progress,
                               const core_h5_provenance *provenance, sim_run_report *report, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene scene = {0};
    fluid_run_report done_report = {0};
    fluid_run_def def = fluid_run_default_def();
    def.threads = job->threads;
    def.provenance = *provenance;
    def.checkpoint_path = job->checkpoint;
    def.stop = job->stop;
    if (job->restart) {
        CORE_TRY_DONE(fluid_checkpoint_open(job->restart, &def.restart, err));
        CORE_TRY_DONE(fluid_checkpoint_scene(def.restart, &scene, err));
    } else {
        CORE_TRY_DONE(fluid_scene_read(job->scene, job->count_overrides, job->overrides, &scene, err));
    }
    if (job->check) {
        CORE_TRY_DONE(fluid_run_check(&scene, &def, err));
        if (!quiet) printf("%s: no errors found\n", job->scene);
        goto done;
    }
    CORE_TRY_DONE(fluid_run(&scene, job->output, &def, progress, &done_report, err));
    cmd_progress_end();
    if (!quiet) print_summary(job->output, &done_report);
    report->steps = done_report.steps;
    report->simulated = done_report.simulated;
    report->stopped = done_report.stopped;
done:
    core_h5_close(&def.restart);
    fluid_scene_clear(&scene);
    return status;
}
