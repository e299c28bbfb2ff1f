/// A settled pile from the last frame of a run, for benchmarks. The including file defines _POSIX_C_SOURCE.
#ifndef PILE_H
#define PILE_H

#include "../unit/random_below.h"
#include "sim_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { PILE_STEPS = 300 }; // until springs have grown back

/// Processor time of this process, s.
static inline double pile_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct pile {
    sim_scene scene;
    cspace_bundle bundle;
    sim_world *world;
} pile;

// Copies of the last frame's grains side by side; ids in the file's order, or shuffled, which a run in the file's order
// must not notice.
static inline core_status pile_take_up(const char *run_path, int copies, double width, bool shuffle, sim_world *w,
                                       core_error *err) {
    core_status status = CORE_OK;
    core_run_reader *r = NULL;
    core_run_frame f = {0};
    int *ids = NULL;
    CORE_TRY_DONE(core_run_open(run_path, &r, err));
    const core_run_info *info = core_run_describe(r);
    const int n = info->count_rows;
    CORE_TRY_DONE(core_run_frame_create(n, info->count_observables, info->count_planes, &f, err));
    CORE_TRY_DONE(core_run_read(r, info->count_frames - 1, &f, err));
    CORE_NEW_DONE(ids, (size_t)n * (size_t)copies);
    core_random random;
    core_random_init(&random, 1, 0);
    for (int i = 0; i < n * copies; ++i) {
        const int k = shuffle ? random_below(&random, i + 1) : i;
        ids[i] = ids[k];
        ids[k] = i;
    }
    for (int i = 0; i < n * copies; ++i) {
        const int k = ids[i] % n;
        const double x[2] = {f.position[2 * k] + width * (ids[i] / n), f.position[2 * k + 1]};
        CORE_TRY_DONE(
            sim_world_add(w, info->species[k], x, f.orientation[k], f.velocity + 2 * k, f.angular_velocity[k], err));
    }
done:
    core_free(ids);
    core_run_frame_clear(&f);
    core_run_close(&r);
    return status;
}

// Boundaries of the scene, the box `copies` times as wide.
static inline core_status pile_make(const char *scene_path, const char *run_path, const char *maps, int copies,
                                    bool shuffle, int threads, pile *p, core_error *err) {
    sim_scene *s = &p->scene;
    CORE_TRY(sim_scene_read(scene_path, 0, NULL, s, err));
    CORE_TRY(cspace_bundle_read(maps ? maps : s->maps_path, &p->bundle, NULL, err));
    double width = 0;
    for (int b = 0; b < s->count_boundaries; ++b) {
        if (s->boundaries[b].normal[0] < 0) width = -s->boundaries[b].offset;
    }
    for (int b = 0; b < s->count_boundaries; ++b) {
        if (s->boundaries[b].normal[0] < 0) s->boundaries[b].offset *= copies;
    }
    sim_world_def def = sim_world_default_def();
    for (int k = 0; k < s->count_fill; ++k) def.capacity += copies * s->fill[k].count;
    def.count_types = s->count_types;
    def.types = s->types;
    def.count_boundaries = s->count_boundaries;
    def.boundaries = s->boundaries;
    def.law = s->law;
    def.dt = isnan(s->dt) ? sim_dt_auto(s->count_types, s->types, s->count_boundaries, s->law, .25) : s->dt;
    def.threads = threads;
    CORE_TRY(sim_narrow_neural(&p->bundle, s->count_types, s->types, threads, &def.narrow, err));
    const core_status status = sim_world_create(&def, &p->world, err);
    if (status != CORE_OK) def.narrow.destroy(def.narrow.self);
    CORE_TRY(status);
    CORE_TRY(pile_take_up(run_path, copies, width, shuffle, p->world, err));
    for (int i = 0; i < PILE_STEPS; ++i) CORE_TRY(sim_world_step(p->world, err));
    return CORE_OK;
}

static inline void pile_clear(pile *p) {
    sim_world_destroy(&p->world);
    cspace_bundle_clear(&p->bundle);
    sim_scene_clear(&p->scene);
}

#endif
