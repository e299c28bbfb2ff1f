/// What a step of a settled pile costs beside the bare kernels: the last frame of a run is taken up, stepped until its
/// springs have grown back, then steps and bare kernel calls for as many pairs take turns. Processor time of one
/// thread; ratios of the same turns. Copies of the pile side by side show how the cost grows. bench_pile SCENE.yaml
/// RUN.h5
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "pile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { TURNS = 7 };
static const double TURN_SECONDS = 0.4; // of steps in a turn, about

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

// Images of a touching pair that the map's answer is made of, on average: each is a row of the kernels.
static double images_of_pairs(const sim_world *w, const cspace_map *map) {
    int64_t pairs = 0, rows = 0;
    for (int p = 0; p < w->pairs.n; ++p) {
        if (w->pairs.count[p] == 0) continue;
        const int i = w->pairs.i[p], j = w->pairs.j[p];
        const double c = w->cos_sin[2 * i], s = w->cos_sin[2 * i + 1], scale = w->radius[w->type[i]];
        const double dx = (w->x[2 * j] - w->x[2 * i]) / scale, dy = (w->x[2 * j + 1] - w->x[2 * i + 1]) / scale;
        const cspace_pose pose = {w->theta[j] - w->theta[i], c * dx + s * dy, c * dy - s * dx};
        cspace_image images[CSPACE_IMAGES_MAX];
        rows += cspace_fold_images(&map->fold, &pose, 1.0, images);
        ++pairs;
    }
    return pairs > 0 ? (double)rows / (double)pairs : 1;
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
    double once = pile_seconds();
    CORE_TRY(sim_world_step(w, err));
    once = pile_seconds() - once;
    const int steps = 1 + (int)(TURN_SECONDS / once);
    *best = (figures){.step = INFINITY, .kernel = INFINITY};
    for (int turn = 0; turn < TURNS; ++turn) {
        double start = pile_seconds();
        for (int i = 0; i < steps; ++i) CORE_TRY(sim_world_step(w, err));
        const double step = (pile_seconds() - start) / steps;
        sim_totals t;
        sim_world_totals(w, &t);
        const double images = images_of_pairs(w, b->map);
        const int64_t full = (int64_t)(images * (double)t.count_full),
                      touching = (int64_t)(images * (double)t.count_contacts);
        start = pile_seconds();
        for (int i = 0; i < steps; ++i) {
            bare_run(b, b->map->kernel_distance, full, true);
            bare_run(b, b->map->kernel_distance, t.count_evaluated - t.count_full, false);
            bare_run(b, b->map->kernel_moment_arm, touching, false);
        }
        best->kernel = fmin(best->kernel, (pile_seconds() - start) / steps);
        best->step = fmin(best->step, step);
    }
    // one stage after the other, which costs a little more than together
    w->timed = true;
    memset(w->stage_time, 0, sizeof w->stage_time);
    for (int i = 0; i < steps; ++i) CORE_TRY(sim_world_step(w, err));
    for (int s = 0; s < SIM_STAGES; ++s) best->stage[s] = w->stage_time[s] / steps;
    w->timed = false;
    return CORE_OK;
}

// Takes the last boundary away and asks for every skipped pair of the collapse, until there were a million.
static core_status count_missed(sim_world *w, core_error *err) {
    int64_t missed = 0, skipped = 0, steps = 0;
    sim_world_set_present(w, w->walls.count - 1, false);
    for (; skipped < 1000000; ++steps) {
        int64_t count;
        CORE_TRY(sim_world_step(w, err));
        missed += sim_pairs_missed(w, &count);
        skipped += count;
        if (count == 0) break; // a map without an error statement
    }
    printf("  %lld steps of a collapse: %lld pairs skipped, %lld of them touched\n", (long long)steps,
           (long long)skipped, (long long)missed);
    return CORE_OK;
}

// The most memory this process has had so far.
static long resident_kilobytes(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_maxrss : 0;
}

static core_status bench(const char *scene, const char *run, const char *maps, int copies, bool shuffle,
                         core_error *err) {
    core_status status = CORE_OK;
    pile p = {0};
    bare b = {0};
    figures f;
    const long before = resident_kilobytes();
    CORE_TRY_DONE(pile_make(scene, run, maps, copies, shuffle, 1, &p, err));
    sim_world *w = p.world;
    const long after = resident_kilobytes();
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
    printf("  %.2f images a touching pair; memory %.2f kB a grain\n", images_of_pairs(w, b.map),
           (double)(after - before) / w->n);
    printf("  stages (wall): list %.1f, contacts %.1f, grains %.1f us\n", 1e6 * f.stage[SIM_STAGE_LIST],
           1e6 * f.stage[SIM_STAGE_CONTACTS], 1e6 * f.stage[SIM_STAGE_GRAINS]);
    CORE_TRY_DONE(count_missed(w, err));
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
