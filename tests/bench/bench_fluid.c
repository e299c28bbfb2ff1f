/// What a step of the continuum costs: CPU time per particle from 10^4 to 10^6 particles, and the share of each stage.
/// A column of sand collapses; the first step is left out.
#include "reference/fluid_physics.h"

#include <time.h>

static const char *const NAMES[FLUID_STAGES] = {"sort",         "to grid", "cells", "extend", "pressure and friction",
                                                "to particles", "move"};

typedef struct stages {
    double last, sum[FLUID_STAGES];
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

static void measure(int cells, int steps) {
    fluid_def def = fluid_box(2, 3, 1, 1. / cells);
    def.capacity = 4 * cells * cells;
    def.wall_friction = 1;
    fluid_world *w = fluid_make(&def, 0, NULL);
    fluid_fill(w, 1, 0, 0, 2, 1, 0, true);
    check_ok(fluid_world_step(w, INFINITY, err));
    stages s = {.last = seconds()};
    w->tick = tick;
    w->tick_user = &s;
    const double start = s.last;
    for (int k = 0; k < steps; ++k) check_ok(fluid_world_step(w, INFINITY, err));
    const double each = (seconds() - start) / steps / w->p.n;
    printf("%8d particles: %.3g us of CPU a particle and step, %d iterations, %d sweeps;", w->p.n, 1e6 * each,
           w->iterations, w->sweeps);
    for (int i = 0; i < FLUID_STAGES; ++i)
        if (s.sum[i] > 0) printf(" %s %.0f %%", NAMES[i], 100 * s.sum[i] / (seconds() - start));
    printf("\n");
    fluid_world_destroy(&w);
}

int main(void) {
    measure(50, 10);
    measure(158, 5);
    measure(500, 2);
    return 0;
}
