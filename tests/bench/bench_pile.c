/// What a step of a settled pile costs beside the bare kernels: the last frame of a run is taken up, stepped until its
/// springs have grown back, then steps and bare kernel calls for as many pairs take turns. Processor time of one
/// thread; ratios of the same turns. Copies of the pile side by side show how the cost grows. bench_pile SCENE.yaml
/// RUN.h5
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "sim_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 7, STEPS_GROW = 300 };
static const double TURN_SECONDS = 0.4; // of steps in a turn, about

static double seconds(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---------------------------------------------------------------------------------------------- the pile

typedef struct pile {
    sim_scene scene;
    cspace_bundle bundle;
    sim_world *world;
} pile;

// Copies of the last frame's grains side by side; ids in the file's order, or shuffled, which a run in the file's order
// must not notice.
static core_status take_up(const char *run_path, int copies, double width, bool shuffle, sim_world *w,
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
        const int k = shuffle ? (int)core_random_below(&random, (uint32_t)i + 1) : i;
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
static core_status pile_make(const char *scene_path, const char *run_path, const char *maps, int copies, bool shuffle,
                             int threads, pile *p, core_error *err) {
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
    CORE_TRY(take_up(run_path, copies, width, shuffle, p->world, err));
    for (int i = 0; i < STEPS_GROW; ++i) CORE_TRY(sim_world_step(p->world, err));
    return CORE_OK;
}

static void pile_clear(pile *p) {
    sim_world_destroy(&p->world);
    cspace_bundle_clear(&p->bundle);
    sim_scene_clear(&p->scene);
}

// ---------------------------------------------------------------------------------------------- bare kernels

// Inputs as a settled pile gives them do not matter: a kernel's cost does not depend on them.
typedef struct bare {
    const cspace_map *map;
    float *x, *value, *gradient;
    void *scratch;
    int stride;
} bare;

static core_status bare_make(const cspace_map *map, bare *b, core_error *err) {
    core_status status = CORE_OK;
    *b = (bare){.map = map, .stride = 240};
    const size_t inputs = CSPACE_INPUTS_MAX, rows = (size_t)b->stride;
    core_random r;
    core_random_init(&r, 1, 0);
    CORE_NEW_DONE(b->x, rows * inputs);
    CORE_NEW_DONE(b->value, rows);
    CORE_NEW_DONE(b->gradient, rows * inputs);
    b->scratch = core_alloc(nn_kernel_scratch_bytes(map->kernel_distance, b->stride) +
                                nn_kernel_scratch_bytes(map->kernel_moment_arm, b->stride),
                            1);
    CORE_CHECK_DONE(b->scratch, CORE_MEMORY, "out of memory");
    for (size_t i = 0; i < rows * inputs; ++i) b->x[i] = (float)(2 * core_random_uniform(&r) - 1);
done:
    return status;
}

static void bare_clear(bare *b) {
    core_free(b->x);
    core_free(b->value);
    core_free(b->gradient);
    core_free(b->scratch);
}

// n pairs, in batches as large as the simulator's.
static void bare_run(const bare *b, const nn_kernel *kernel, int64_t n, bool gradient) {
    for (int64_t done = 0; done < n; done += b->stride) {
        const int rows = n - done < b->stride ? (int)(n - done) : b->stride;
        nn_kernel_evaluate(kernel, rows, b->stride, b->x, b->value, gradient ? b->gradient : NULL, b->scratch);
    }
}

// ---------------------------------------------------------------------------------------------- measuring

typedef struct figures {
    double step, kernel, stage[SIM_STAGES]; // s of a step, of a step's kernels, of parts of a step
} figures;

static core_status measure(sim_world *w, const bare *b, figures *best, core_error *err) {
    double once = seconds(CLOCK_PROCESS_CPUTIME_ID);
    CORE_TRY(sim_world_step(w, err));
    once = seconds(CLOCK_PROCESS_CPUTIME_ID) - once;
    const int steps = 1 + (int)(TURN_SECONDS / once);
    *best = (figures){.step = INFINITY, .kernel = INFINITY};
    w->timed = true;
    for (int turn = 0; turn < TURNS; ++turn) {
        memset(w->stage_time, 0, sizeof w->stage_time);
        double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < steps; ++i) CORE_TRY(sim_world_step(w, err));
        const double step = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / steps;
        sim_totals t;
        sim_world_totals(w, &t);
        start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < steps; ++i) {
            bare_run(b, b->map->kernel_distance, t.count_full, true);
            bare_run(b, b->map->kernel_distance, t.count_evaluated - t.count_full, false);
            bare_run(b, b->map->kernel_moment_arm, t.count_contacts, false);
        }
        best->kernel = fmin(best->kernel, (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / steps);
        if (step >= best->step) continue;
        best->step = step;
        for (int s = 0; s < SIM_STAGES; ++s) best->stage[s] = w->stage_time[s] / steps;
    }
    w->timed = false;
    return CORE_OK;
}

static core_status bench(const char *scene, const char *run, const char *maps, int copies, bool shuffle,
                         core_error *err) {
    core_status status = CORE_OK;
    pile p = {0};
    bare b = {0};
    figures f;
    CORE_TRY_DONE(pile_make(scene, run, maps, copies, shuffle, 1, &p, err));
    sim_world *w = p.world;
    CORE_TRY_DONE(bare_make(&p.bundle.maps[0], &b, err));
    CORE_TRY_DONE(measure(w, &b, &f, err));
    sim_totals t;
    sim_world_totals(w, &t);
    printf(
        "%d grains%s: %lld near pairs, %lld skipped, %lld evaluated (%lld in full), %lld touching, %lld with planes\n",
        w->n, shuffle ? ", ids shuffled" : "", (long long)t.count_pairs_near, (long long)t.count_skipped,
        (long long)t.count_evaluated, (long long)t.count_full, (long long)t.count_contacts,
        (long long)t.count_plane_contacts);
    printf("  step %.1f us, %.1f ns a grain, %.1f ns an evaluated pair; bare kernels %.1f us; ratio %.2f\n",
           1e6 * f.step, 1e9 * f.step / w->n, 1e9 * f.step / (double)t.count_evaluated, 1e6 * f.kernel,
           f.step / f.kernel);
    printf("  stages (wall): list %.1f, contacts %.1f, grains %.1f us\n", 1e6 * f.stage[SIM_STAGE_LIST],
           1e6 * f.stage[SIM_STAGE_CONTACTS], 1e6 * f.stage[SIM_STAGE_GRAINS]);
done:
    bare_clear(&b);
    pile_clear(&p);
    return status;
}

int main(int argc, char **argv) {
    core_error err = {0};
    if (argc < 4 || argc > 6) {
        fprintf(stderr, "usage: bench_pile SCENE.yaml RUN.h5 MAPS.h5 [COPIES [shuffle]]\n");
        return 2;
    }
    const int copies = argc > 4 ? atoi(argv[4]) : 1;
    if (bench(argv[1], argv[2], argv[3], copies < 1 ? 1 : copies, argc > 5, &err) == CORE_OK) return 0;
    fprintf(stderr, "bench_pile: %s\n", err.message);
    return 1;
}
