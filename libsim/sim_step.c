/// One step of semi-implicit Euler: contacts of the neighbour pairs in blocks (sim_pairs.c), then for each grain its
/// forces in a fixed order, its motion and what its contacts lost. Which worker does which block changes no bit: every
/// number is written by one grain or one pair.
#include "sim_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------------------------- motion

// Work lost in the grain's pairs: a force on a grain works at the mean of its velocities before and after the step, and
// what the forces on both grains of a contact lose together is what the contact loses.
static void add_pair_losses(sim_world *w, int i, const sim_load *load, const double v_before[2], double omega_before) {
    const double turn = 0.5 * (omega_before + w->omega[i]);
    const double v[2] = {0.5 * (v_before[0] + w->v[2 * i]), 0.5 * (v_before[1] + w->v[2 * i + 1])};
    w->lost[3 * i] -= w->dt * (load->free[0] * v[0] + load->free[1] * v[1] + load->free_torque * turn);
    w->lost[3 * i + 1] +=
        load->lost - w->dt * (load->tangential[0] * v[0] + load->tangential[1] * v[1] + load->tangential_torque * turn);
}

// Semi-implicit Euler for a free grain, the law of motion for another.
static void move_grain(sim_world *w, int i, const sim_load *load) {
    if (w->role[i] == SIM_ROLE_PRESCRIBED) {
        w->lost[3 * i + 2] += sim_mover_follow(w, i, load->force, load->torque);
    } else {
        for (int k = 0; k < 2; ++k) {
            w->v[2 * i + k] += w->dt * (w->gravity[k] + load->force[k] * w->inverse_mass[i]);
            w->x[2 * i + k] += w->dt * w->v[2 * i + k];
        }
        w->omega[i] += w->dt * (load->torque * w->inverse_inertia[i]);
        w->theta[i] += w->dt * w->omega[i];
    }
}

// Cosines and sines of the block's new angles, all at once.
static void turn_block(sim_world *w, int first, int last) {
    double theta[SIM_BLOCK] = {0}, s[SIM_BLOCK], c[SIM_BLOCK];
    const int *grain = w->sequence.sequence + first, n = last - first;
    for (int k = 0; k < n; ++k) theta[k] = w->theta[grain[k]];
    core_sincos_many(theta, n, s, c);
    for (int k = 0; k < n; ++k) {
        w->cos_sin[2 * grain[k]] = c[k];
        w->cos_sin[2 * grain[k] + 1] = s[k];
    }
}

// True if the grain's motion in one step makes sense: finite, and less than its own radius and what could pass through
// the thinnest wall.
static bool motion_is_sane(const sim_world *w, int i) {
    const double radius = w->radius[w->type[i]], dt = w->dt;
    const double reach = w->reach_step > 0 ? fmin(radius, w->reach_step) : radius;
    const double vx = w->v[2 * i] * dt, vy = w->v[2 * i + 1] * dt, turn = w->omega[i] * dt * radius;
    return vx * vx + vy * vy <= reach * reach && turn * turn <= reach * reach; // false for NaN
}

static void grain_block(void *arg, int64_t index, int worker) {
    (void)worker;
    sim_world *w = arg;
    sim_grain_block *block = &w->grain_block[index];
    const int first = (int)index * SIM_BLOCK, last = first + SIM_BLOCK < w->n ? first + SIM_BLOCK : w->n;
    *block = (sim_grain_block){.broken = -1};
    for (int s = first; s < last; ++s) {
        const int i = w->sequence.sequence[s];
        if (w->role[i] == SIM_ROLE_ABSENT) continue;
        sim_load load = {0};
        const double *x = w->x + 2 * i, *v = w->v + 2 * i;
        const double v_before[2] = {v[0], v[1]}, omega_before = w->omega[i];
        double *lost = w->lost + 3 * i;
        sim_walls_forces(w, i, load.force, &load.torque, &lost[1]);
        sim_pairs_load(w, i, &load);
        move_grain(w, i, &load);
        sim_walls_losses(w, i, &lost[0], &lost[1], &lost[2]);
        add_pair_losses(w, i, &load, v_before, omega_before);
        if (w->period > 0) sim_world_wrap(w, i);
        const double dx = x[0] - w->x_built[2 * i], dy = x[1] - w->x_built[2 * i + 1];
        block->moved = fmax(block->moved, dx * dx + dy * dy);
        if (!motion_is_sane(w, i) && (block->broken < 0 || i < block->broken)) block->broken = i;
    }
    turn_block(w, first, last);
}

// ---------------------------------------------------------------------------------------------- step

double sim_wall_time(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Books the time since *start on a stage if somebody asked for it.
static void book(sim_world *w, int stage, double *start) {
    if (!w->timed) return;
    const double end = sim_wall_time();
    w->stage_time[stage] += end - *start;
    *start = end;
}

static core_status fail_broken(const sim_world *w, int i, core_error *err) {
    return CORE_FAIL(
        err, CORE_NOT_CONVERGED,
        "blow-up: grain %d at step %lld (t = %g s): found position (%g, %g), velocity (%g, %g), angular velocity %g; "
        "expected less than %g m per step of %g s. Take a smaller dt or less stiff contacts",
        i, (long long)w->step, (double)w->step * w->dt, w->x[2 * i], w->x[2 * i + 1], w->v[2 * i], w->v[2 * i + 1],
        w->omega[i], w->reach_step > 0 ? fmin(w->reach_step, w->radius[w->type[i]]) : w->radius[w->type[i]], w->dt);
}

core_status sim_world_step(sim_world *world, core_error *err) {
    sim_world *w = world;
    double clock = w->timed ? sim_wall_time() : 0;
    if (w->stale) CORE_TRY(sim_world_rebuild(w, err));
    book(w, SIM_STAGE_LIST, &clock);
    const int threads = w->pairs.n < SIM_SERIAL_PAIRS ? 1 : w->threads_used;
    const int count_grain_blocks = (w->n + SIM_BLOCK - 1) / SIM_BLOCK;
    sim_walls_begin(w);
    core_thread_for(threads, w->count_blocks, sim_pairs_contacts, w);
    book(w, SIM_STAGE_CONTACTS, &clock);
    core_thread_for(threads, count_grain_blocks, grain_block, w);
    w->count_evaluated = w->count_full = w->count_skipped = 0;
    for (int b = 0; b < w->count_blocks; ++b) {
        w->count_evaluated += w->block[b].count_evaluated;
        w->count_full += w->block[b].count_full;
        w->count_skipped += w->block[b].count_skipped;
    }
    double moved = 0;
    int broken = -1;
    for (int b = 0; b < count_grain_blocks; ++b) {
        moved = fmax(moved, w->grain_block[b].moved);
        const int i = w->grain_block[b].broken;
        if (i >= 0 && (broken < 0 || i < broken)) broken = i;
    }
    sim_walls_end(w);
    ++w->step;
    if (!(moved <= 0.25 * w->broad.skin * w->broad.skin && w->walls.moved <= 0.5 * w->broad.skin)) w->stale = true;
    book(w, SIM_STAGE_GRAINS, &clock);
    return broken < 0 ? CORE_OK : fail_broken(w, broken, err);
}
