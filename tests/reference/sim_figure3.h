/// What the tests of the method's static examples share (test_sim_figure3.c with exact contacts, map_figure3.c with
/// trained maps): how they are run and judged. Units: block length h, its mass and g are 1.
#ifndef SIM_FIGURE3_H
#define SIM_FIGURE3_H

#include "sim_physics.h"
#include "sim_private.h"

#define FIGURE3_SINKING 1e-4                // m g/k_n
#define FIGURE3_LEAN (15 * CORE_PI / 180)   // triangle: from the vertical
#define FIGURE3_THIN (1. / 40)              // triangle: thickness of the blocks
#define FIGURE3_TILT (55.6 * CORE_PI / 180) // leaning block: from the vertical
#define FIGURE3_THICK .05                   // leaning block: its thickness

/// Steps with the gravity rising from one fraction of g to another.
static inline void figure3_run(sim_world *w, double from, double to, double time) {
    const int64_t n = (int64_t)ceil(time / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        w->gravity[1] = -(from + (to - from) * (double)(i + 1) / (double)n);
        check_ok(sim_world_step(w, err));
    }
}

static inline bool figure3_moved(const sim_world *w, const double *x, double by) {
    const sim_state s = sim_world_state(w);
    for (int i = 0; i < 2 * s.n; ++i) {
        if (!(fabs(s.x[i] - x[i]) < by)) return true;
    }
    return false;
}

/// Gravity rises slowly, grain 0 gets a push. Stable: it is still there (within 2e-2 h after the push), no centre moves
/// by 1e-3 h over 5 sqrt(h/g), and the kinetic energy falls, or is below `calm` m g h.
static inline bool figure3_stands(sim_world *w, double push, double calm) {
    double start[8], x[8], before = 0, after = 0;
    const sim_state s = sim_world_state(w);
    const size_t size = 2 * (size_t)s.n * sizeof *x;
    memcpy(start, s.x, size);
    figure3_run(w, 0, 1, 10);
    w->v[0] += push;
    if (push > 0) figure3_run(w, 1, 1, 5);
    memcpy(x, s.x, size);
    if (figure3_moved(w, start, 2e-2)) return false;
    for (int k = 0; k < 10; ++k) {
        sim_totals t;
        figure3_run(w, 1, 1, .5);
        sim_world_totals(w, &t);
        if (k < 5) before = fmax(before, t.kinetic);
        if (k >= 5) after = fmax(after, t.kinetic);
        if (figure3_moved(w, x, 1e-3)) return false;
    }
    return after <= fmax(before, calm);
}

/// Angular acceleration of grain 0 from rest, once the contacts are loaded: gravity is switched on at once.
static inline double figure3_turning(sim_world *w) {
    figure3_run(w, 1, 1, .1);
    const double omega = sim_world_state(w).omega[0], t = sim_world_state(w).time;
    figure3_run(w, 1, 1, .1);
    return (sim_world_state(w).omega[0] - omega) / (sim_world_state(w).time - t);
}

/// Middle of [low, high] narrowed to 2e-3 around the friction from which on `stands(self, mu)`: it falls at low, stands
/// at high.
static inline double figure3_threshold(double low, double high, bool (*stands)(int planes, double mu), int planes) {
    assert_false(stands(planes, low));
    assert_true(stands(planes, high));
    while (high - low > .002) {
        const double middle = .5 * (low + high);
        if (stands(planes, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return .5 * (low + high);
}

/// Friction at which the leaning block begins to hold: of the closed form tan theta_c = (2 mu + (b/h)(1 + mu^2))/(1 -
/// mu^2), which rises with mu.
static inline double figure3_leaning_critical(void) {
    double low = .3, high = .8;
    for (int i = 0; i < 60; ++i) {
        const double mu = .5 * (low + high);
        if (2 * mu + FIGURE3_THICK * (1 + mu * mu) < (1 - mu * mu) * tan(FIGURE3_TILT)) {
            low = mu;
        } else {
            high = mu;
        }
    }
    return low;
}

#endif
