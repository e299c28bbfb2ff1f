/// Grains of a world: adding, entering, leaving; what is prescribed of their motion, and boundaries put in and taken
/// away.
#include "sim_private.h"

#include <math.h>
#include <string.h>

// A pose and velocities that can be used.
static core_status check_state(int i, const double x[2], double angle, const double v[2], double omega,
                               core_error *err) {
    CORE_CHECK(isfinite(x[0]) && isfinite(x[1]) && isfinite(angle) && isfinite(v[0]) && isfinite(v[1]) &&
                   isfinite(omega),
               CORE_NONFINITE, "grain %d: found position %g %g, angle %g, velocity %g %g, angular velocity %g", i, x[0],
               x[1], angle, v[0], v[1], omega);
    return CORE_OK;
}

static core_status check_room(const sim_world *world, int type, core_error *err) {
    CORE_CHECK(type >= 0 && type < world->count_types, CORE_RANGE, "grain %d: found type %d, expected 0 .. %d",
               world->n, type, world->count_types - 1);
    CORE_CHECK(world->n < world->capacity, CORE_RANGE, "world: no room for grain %d of %d", world->n, world->capacity);
    return CORE_OK;
}

void sim_world_wrap(sim_world *w, int i) {
    const double over = w->x[2 * i] - w->period_start;
    if (over >= 0 && over < w->period) return;
    const double periods = floor(over / w->period);
    if (!(fabs(periods) < 1e9)) return; // lost, or not a number: the blow-up check names it
    w->x[2 * i] -= periods * w->period;
    w->x_built[2 * i] -= periods * w->period;
    w->image[i] += (int32_t)periods;
}

static void set_state(sim_world *w, int i, const double x[2], double angle, const double v[2], double omega) {
    memcpy(w->x + 2 * i, x, 2 * sizeof *x);
    memcpy(w->v + 2 * i, v, 2 * sizeof *v);
    w->theta[i] = angle;
    w->omega[i] = omega;
    w->image[i] = 0;
    core_sincos(angle, &w->cos_sin[2 * i + 1], &w->cos_sin[2 * i]);
    if (w->period > 0) sim_world_wrap(w, i);
    w->stale = true;
}

// A new row; its pose is set by the caller.
static int add_row(sim_world *w, int type, sim_role role) {
    const int i = w->n++;
    w->type[i] = type;
    w->mass[i] = w->type_mass[type];
    w->inertia[i] = w->type_inertia[type];
    w->inverse_mass[i] = role == SIM_ROLE_PRESCRIBED ? 0 : 1 / w->mass[i];
    w->inverse_inertia[i] = role == SIM_ROLE_PRESCRIBED ? 0 : 1 / w->inertia[i];
    w->role[i] = (uint8_t)role;
    w->mover_of[i] = -1;
    w->stale = true;
    return i;
}

core_status sim_world_add(sim_world *world, int type, const double x[2], double angle, const double v[2], double omega,
                          core_error *err) {
    CORE_CHECK(world && x && v, CORE_ARG, "sim_world_add: null pointer");
    CORE_TRY(check_room(world, type, err));
    CORE_TRY(check_state(world->n, x, angle, v, omega, err));
    set_state(world, add_row(world, type, SIM_ROLE_FREE), x, angle, v, omega);
    return CORE_OK;
}

core_status sim_world_add_absent(sim_world *world, int type, core_error *err) {
    CORE_CHECK(world, CORE_ARG, "sim_world_add_absent: null pointer");
    CORE_TRY(check_room(world, type, err));
    static const double nowhere[2] = {0, 0};
    set_state(world, add_row(world, type, SIM_ROLE_ABSENT), nowhere, 0, nowhere, 0);
    return CORE_OK;
}

core_status sim_world_add_prescribed(sim_world *world, int type, const double x[2], double angle,
                                     const sim_motion_def *motion, core_error *err) {
    CORE_CHECK(world && x && motion, CORE_ARG, "sim_world_add_prescribed: null pointer");
    static const double at_rest[2] = {0, 0};
    CORE_TRY(check_room(world, type, err));
    CORE_TRY(check_state(world->n, x, angle, at_rest, 0, err));
    const size_t count = (size_t)world->count_movers;
    sim_mover *movers = core_realloc(world->mover, count, count + 1, sizeof *movers);
    CORE_CHECK(movers, CORE_MEMORY, "out of memory: %zu grains with a prescribed motion", count + 1);
    world->mover = movers;
    sim_mover *mover = &movers[count];
    *mover = (sim_mover){.x = {x[0], x[1]}, .angle = angle, .start = motion->waits ? -1 : world->step, .stop = -1};
    CORE_TRY(core_motion_copy(motion, &mover->law, err));
    const int i = add_row(world, type, SIM_ROLE_PRESCRIBED);
    set_state(world, i, x, angle, at_rest, 0);
    world->mover_of[i] = world->count_movers++;
    return CORE_OK;
}

core_status sim_world_enter(sim_world *world, int i, const double x[2], double angle, const double v[2], double omega,
                            core_error *err) {
    CORE_CHECK(world && x && v, CORE_ARG, "sim_world_enter: null pointer");
    CORE_CHECK(i >= 0 && i < world->n, CORE_RANGE, "sim_world_enter: found grain %d of %d", i, world->n);
    CORE_CHECK(world->role[i] == SIM_ROLE_ABSENT, CORE_ARG, "sim_world_enter: grain %d is there already", i);
    CORE_TRY(check_state(i, x, angle, v, omega, err));
    world->role[i] = SIM_ROLE_FREE;
    set_state(world, i, x, angle, v, omega);
    world->removed -= sim_world_grain_energy(world, i);
    return CORE_OK;
}

double sim_world_grain_energy(const sim_world *w, int i) {
    const double *v = w->v + 2 * i, m = w->mass[i], x = w->x[2 * i] + w->period * w->image[i];
    return 0.5 * m * (v[0] * v[0] + v[1] * v[1]) + 0.5 * w->inertia[i] * w->omega[i] * w->omega[i] -
           m * (w->gravity[0] * x + w->gravity[1] * w->x[2 * i + 1]);
}

void sim_world_leave(sim_world *world, int count, const int *grains) {
    sim_world *w = world;
    sim_totals before, after;
    sim_world_totals(w, &before);
    for (int k = 0; k < count; ++k) {
        const int i = grains[k];
        if (i < 0 || i >= w->n || w->role[i] == SIM_ROLE_ABSENT) continue;
        if (w->role[i] == SIM_ROLE_FREE) w->removed += sim_world_grain_energy(w, i);
        w->role[i] = SIM_ROLE_ABSENT;
        sim_walls_drop_grain(w, i);
        w->stale = true;
    }
    for (int p = 0; p < w->pairs.n; ++p) {
        if (w->role[w->pairs.i[p]] != SIM_ROLE_ABSENT && w->role[w->pairs.j[p]] != SIM_ROLE_ABSENT) continue;
        w->pairs.count[p] = 0;
    }
    sim_world_totals(w, &after);
    w->removed += before.elastic - after.elastic;
    // what of their sliding contacts' losses was no spring's energy yet
    w->dissipated_tangential += before.dissipated_tangential - after.dissipated_tangential;
}

void sim_world_set_present(sim_world *world, int boundary, bool present) {
    if (boundary >= 0 && boundary < world->walls.count) sim_walls_set_present(world, boundary, present);
}

core_status sim_world_set_moving(sim_world *world, int body, bool moving, core_error *err) {
    CORE_CHECK(world, CORE_ARG, "sim_world_set_moving: null pointer");
    CORE_CHECK(body >= 0 && body < world->walls.count + world->count_movers, CORE_ARG,
               "sim_world_set_moving: found body %d, expected 0 .. %d", body,
               world->walls.count + world->count_movers - 1);
    sim_mover *mover =
        body < world->walls.count ? &world->walls.wall[body].mover : &world->mover[body - world->walls.count];
    int64_t *step = moving ? &mover->start : &mover->stop;
    CORE_CHECK(*step < 0 && (moving || mover->start >= 0), CORE_ARG, "body %d %s already", body,
               moving             ? "has started"
               : mover->start < 0 ? "is at rest"
                                  : "has stopped");
    *step = world->step;
    if (moving && body < world->walls.count) { // a servo may have moved it
        memcpy(mover->x, world->walls.wall[body].x, sizeof mover->x);
        mover->angle = world->walls.wall[body].angle;
    }
    return CORE_OK;
}
