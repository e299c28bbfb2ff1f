/// One step, stage by stage.
#include "fluid_private.h"

#include <math.h>

static void tick(const fluid_world *w, fluid_stage stage) {
    if (w->tick) w->tick(w->tick_user, stage);
}

static double gravity_size(const fluid_world *w) {
    double sum = 0;
    for (int a = 0; a < w->grid.dim; ++a) sum += w->def.gravity[a] * w->def.gravity[a];
    return sqrt(sum);
}

double fluid_world_dt(const fluid_world *world) {
    if (!isnan(world->def.dt)) return world->def.dt;
    const double h = world->grid.h, speed = fmax(world->speed_max, sqrt(gravity_size(world) * h));
    return speed > 0 ? fluid__motion_dt(world, world->def.cfl * h / speed) : INFINITY;
}

// Largest speed of the particles; NaN if one is not finite.
static double largest_speed(const fluid_world *w) {
    double most = 0;
    for (int i = 0; i < w->p.n; ++i) {
        double square = 0;
        for (int a = 0; a < w->grid.dim; ++a) square += w->p.v[a][i] * w->p.v[a][i];
        if (!(square <= most)) most = square;
        if (isnan(square)) return square;
    }
    return sqrt(most);
}

typedef struct force_job {
    fluid_world *w;
    double dt;
} force_job;

// Keeps the velocities before the forces for FLIP, then adds gravity.
static void force_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const force_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__wide_base(w, row);
    for (int a = 0; a < w->grid.dim; ++a) {
        const double gain = job->dt * w->def.gravity[a];
        for (int c = base + w->lo[0] - 1; c < base + w->hi[0] + 1; ++c) {
            w->old[a][c] = w->u[a][c];
            w->u[a][c] += gain;
        }
    }
}

// Pressure from q.
static void pressure_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const force_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    const double scale = w->def.density * w->grid.h / job->dt;
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) w->pressure[c] = scale * w->q[c];
}

// q and stresses of the last step are times its length: made those of this one.
static void rescale_row(void *arg, int64_t row, int worker) {
    (void)worker;
    const force_job *job = arg;
    fluid_world *w = job->w;
    const int base = fluid__row_base(w, row);
    for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c) {
        w->q[c] *= job->dt;
        if (w->def.material != FLUID_SAND) continue;
        for (int a = 0; a < w->grid.dim; ++a) {
            w->stress.diagonal[a][c] *= job->dt;
            w->stress.wall[a][c] *= job->dt;
        }
        for (int p = 0; p < 4 * fluid__pairs(w->grid.dim); ++p) w->stress.shear[p / 4][p % 4][c] *= job->dt;
    }
}

static core_status forces(fluid_world *w, double dt, core_error *err) {
    if (w->def.material == FLUID_WATER) return fluid__project(w, w->q, err);
    return w->def.sand == FLUID_SAND_PAPER ? fluid__sand_paper(w, dt, err) : fluid__sand_unified(w, dt, err);
}

static core_status step_grid(fluid_world *w, double dt, core_error *err) {
    force_job job = {w, dt}, ratio = {w, w->warm_dt > 0 ? dt / w->warm_dt : 1};
    fluid__mark_cells(w);
    fluid__surface_phi(w);
    tick(w, FLUID_STAGE_CELLS);
    fluid__extend(w, true);
    tick(w, FLUID_STAGE_EXTEND);
    core_thread_for(w->threads, fluid__wide_count(w), force_row, &job);
    if (ratio.dt < 1 || ratio.dt > 1) fluid__rows(w, rescale_row, &ratio);
    w->warm_dt = dt;
    CORE_TRY(forces(w, dt, err));
    fluid__rows(w, pressure_row, &job);
    tick(w, FLUID_STAGE_PRESSURE);
    fluid__extend(w, false);
    tick(w, FLUID_STAGE_EXTEND);
    return CORE_OK;
}

core_status fluid_world_step(fluid_world *world, double limit, core_error *err) {
    CORE_CHECK(world, CORE_ARG, "fluid_world_step: null pointer");
    fluid_world *w = world;
    if (w->step == 0) w->speed_max = largest_speed(w);
    const double dt = fmin(fluid_world_dt(w), limit);
    CORE_CHECK(dt > 0 && isfinite(dt), CORE_RANGE,
               "step: found a length of %g s, expected a finite one above 0 (without gravity and motion give dt)", dt);
    fluid__motion_rates(w, dt);
    fluid__sort(w);
    tick(w, FLUID_STAGE_SORT);
    fluid__to_grid(w);
    tick(w, FLUID_STAGE_TO_GRID);
    CORE_TRY(step_grid(w, dt, err));
    fluid__to_particles(w);
    w->speed_max = largest_speed(w);
    CORE_CHECK(isfinite(w->speed_max), CORE_NOT_CONVERGED, "step %lld: a particle's velocity is not finite",
               (long long)w->step);
    tick(w, FLUID_STAGE_TO_PARTICLES);
    fluid__motion_advance(w, w->time + dt);
    fluid__move(w, dt);
    tick(w, FLUID_STAGE_MOVE);
    ++w->step;
    w->time += dt;
    return CORE_OK;
}
