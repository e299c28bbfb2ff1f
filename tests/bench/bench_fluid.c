/// What a step of the continuum costs: CPU time per particle from 10^4 to 10^6 particles, and the share of each stage.
/// A column of sand collapses; the first step is left out. The fastest of three repetitions, taken in turn.
#include "reference/fluid_physics.h"

#include <time.h>

static const char *const NAMES[FLUID_STAGES] = {"sort",         "to grid", "cells", "extend", "pressure and friction",
                                                "to particles", "move"};

typedef struct stages {
    double last, total, sum[FLUID_STAGES];
} stages;

static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void tick(void *user, fluid_stage stage) {
    stages *s = user;
    const double now = seconds();
    s->sum[stage] += now - s->last;
    s->last = now;
}

// Steps of a column so many cells wide; keeps the fastest repetition: others only had more company on the machine.
static void measure(int cells, int steps, stages *best, char *line, size_t size) {
    fluid_def def = fluid_box(2, 3, 1, 1. / cells);
    def.capacity = 4 * cells * cells;
    def.wall_friction = 1;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 1, 0, 0, 2, 1, 0, true);
    check_ok(fluid_world_step(w, INFINITY, err));
    stages s = {.last = seconds()};
    w->tick = tick;
    w->tick_user = &s;
    for (int k = 0; k < steps; ++k) check_ok(fluid_world_step(w, INFINITY, err));
    s.total = 0;
    for (int i = 0; i < FLUID_STAGES; ++i) s.total += s.sum[i];
    if (best->total == 0 || s.total < best->total) {
        *best = s;
        snprintf(line, size, "%8d particles: %.3g us of CPU a particle and step, %d iterations, %d sweeps;", w->p.n,
                 1e6 * s.total / steps / w->p.n, w->iterations, w->sweeps);
    }
    fluid_world_destroy(&w);
}

int main(void) {
    static const int cells[3] = {50, 158, 500}, steps[3] = {10, 5, 2};
    stages best[3] = {{0}};
    char line[3][160];
    for (int repetition = 0; repetition < 3; ++repetition)
        for (int k = 0; k < 3; ++k) measure(cells[k], steps[k], &best[k], line[k], sizeof line[k]);
    for (int k = 0; k < 3; ++k) {
        printf("%s", line[k]);
        for (int i = 0; i < FLUID_STAGES; ++i)
            if (best[k].sum[i] > 0) printf(" %s %.0f %%", NAMES[i], 100 * best[k].sum[i] / best[k].total);
        printf("\n");
    }
    return 0;
}
