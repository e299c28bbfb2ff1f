/// Cost of a step: a pile at rest whose contacts come from the closed form of circles, so that it is quiet, while a net
/// of the usual size is evaluated for every query, so that it costs what a map costs. Prints; fails only if something
/// cannot run. bench_step [GRAINS...] (600 and 2000)
#include "sim_private.h"
#include "unit/sim_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 500, REPEATS = 5, WORKERS_MAX = 2 };

// Asks the map, answers from the circles.
typedef struct costly {
    sim_narrow map;
    sim_fixture_circles circles;
} costly;

static void costly_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                            sim_contact *contacts, int worker) {
    const costly *c = self;
    c->map.evaluate(c->map.self, pair, poses, n, k_max, count, contacts, worker);
    sim_fixture_circles_evaluate(&c->circles, pair, poses, n, k_max, count, contacts, worker);
}

// A box as wide as it is high, filled from a jittered lattice; settled without the cost of the map.
static core_status make_pile(const sim_type_def *type, int n, int threads, const costly *c, sim_world **world,
                             core_error *err) {
    const int columns = (int)ceil(sqrt((double)n));
    const double pitch = 2.02 * type->radius, width = columns * pitch;
    const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -width, .present = true}};
    sim_contact_law laws[4];
    sim_fixture_laws(sim_fixture_law(1e6, .4, .3), 1, 3, laws);
    sim_world_def def = sim_world_default_def();
    def.capacity = n;
    def.count_types = 1;
    def.types = type;
    def.count_boundaries = 3;
    def.boundaries = box;
    def.law = laws;
    def.threads = threads;
    def.dt = sim_dt_auto(1, type, 3, laws, .25);
    def.narrow = (sim_narrow){
        .name = "circles", .evaluate = sim_fixture_circles_evaluate, .self = &((costly *)(uintptr_t)c)->circles};
    CORE_TRY(sim_world_create(&def, world, err));
    core_random r;
    core_random_init(&r, 1, 0);
    for (int i = 0; i < n; ++i) {
        const double x[2] = {pitch * (i % columns + .5 + .004 * core_random_uniform(&r)), pitch * (i / columns + .5)},
                     v[2] = {0, 0};
        CORE_TRY(sim_world_add(*world, 0, x, 0, v, 0, err));
    }
    (*world)->threads = 1;
    for (int i = 0; i < 8000; ++i) CORE_TRY(sim_world_step(*world, err));
    (*world)->threads = threads;
    return CORE_OK;
}

static core_status bench(const sim_type_def *type, const cspace_bundle *bundle, int n, int threads, core_error *err) {
    core_status status = CORE_OK;
    sim_world *w = NULL;
    costly c = {0};
    sim_fixture_circle_narrow(1, type, &c.circles);
    CORE_TRY_DONE(sim_narrow_neural(bundle, 1, type, threads, &c.map, err));
    CORE_TRY_DONE(make_pile(type, n, threads, &c, &w, err));
    w->narrow = (sim_narrow){.name = "costly", .evaluate = costly_evaluate, .self = &c};
    w->timed = true;
    double best = 1e9, cpu = 1e9, share[SIM_STAGES] = {0};
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
        memset(w->stage_time, 0, sizeof w->stage_time);
        const double start = core_wall_seconds(), start_cpu = (double)clock() / CLOCKS_PER_SEC;
        for (int i = 0; i < STEPS; ++i) CORE_TRY_DONE(sim_world_step(w, err));
        const double time = core_wall_seconds() - start;
        cpu = fmin(cpu, (double)clock() / CLOCKS_PER_SEC - start_cpu); // of all threads, waiting included
        if (time >= best) continue;
        best = time;
        for (int s = 0; s < SIM_STAGES; ++s) share[s] = w->stage_time[s] / time;
    }
    sim_totals t;
    sim_world_totals(w, &t);
    const double step = best / STEPS;
    printf("%6d grains, %d threads: %8.1f us/step (%.1f of processor time), %.3f us/grain, %5.0f ns/query, %5.0f "
           "ns/near pair; list %2.0f %%, contacts %2.0f %%, grains "
           "%2.0f %%; %lld near, %lld queries, %lld touching\n",
           n, threads, 1e6 * step, 1e6 * cpu / STEPS, 1e6 * step / n, 1e9 * step / (double)t.count_evaluated,
           1e9 * step / (double)t.count_pairs_near, 100 * share[SIM_STAGE_LIST], 100 * share[SIM_STAGE_CONTACTS],
           100 * share[SIM_STAGE_GRAINS], (long long)t.count_pairs_near, (long long)t.count_evaluated,
           (long long)t.count_contacts);
done:
    sim_world_destroy(&w);
    if (c.map.destroy) c.map.destroy(c.map.self);
    return status;
}

int main(int argc, char **argv) {
    core_error err = {0};
    core_status status = CORE_OK;
    sim_type_def type = {0};
    cspace_bundle bundle = {0};
    CORE_TRY_DONE(sim_fixture_disc("disc", 96, .01, 2500, &type, &err));
    CORE_TRY_DONE(sim_fixture_random_bundle(1, &type, 1, true, &bundle, &err));
    for (int k = 0; k < (argc > 1 ? argc - 1 : 2); ++k) {
        const int n = argc > 1 ? atoi(argv[k + 1]) : k == 0 ? 600 : 2000;
        for (int threads = 1; threads <= WORKERS_MAX && threads <= core_thread_available(); ++threads)
            CORE_TRY_DONE(bench(&type, &bundle, n < 1 ? 1 : n, threads, &err));
    }
done:
    if (status != CORE_OK) fprintf(stderr, "bench_step: %s\n", err.message);
    sdf_shape_clear(&type.shape);
    cspace_bundle_clear(&bundle);
    return status != CORE_OK;
}
