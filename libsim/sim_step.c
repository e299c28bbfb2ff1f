/// One step of semi-implicit Euler: contacts of the neighbour pairs in blocks (sim_pairs.c), then for each grain its
/// forces in a fixed order, its motion and what its contacts lost. Which worker does which block changes no bit: every
/// number is written by one grain or one pair.
#include "sim_private.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------- motion

// Work lost in the grain's pairs: a force on a grain works at the mean of its velocities before and after the step, and
// what the forces on both grains of a contact lose together is what the contact loses.
static void add_pair_losses(sim_world *w, int i, const sim_load *load, const double v_before[2], double omega_before) {
    const double turn = 0.5 * (omega_before + w->omega[i]);
    const double v[2] = {0.5 * (v_before[0] + w->v[2 * i]), 0.5 * (v_before[1] + w->v[2 * i + 1])};
    double *lost = w->lost + SIM_LOST_COUNT * i;
    lost[SIM_LOST_NORMAL] -= w->dt * (load->free[0] * v[0] + load->free[1] * v[1] + load->free_torque * turn);
    lost[SIM_LOST_TANGENTIAL] +=
        load->lost - w->dt * (load->tangential[0] * v[0] + load->tangential[1] * v[1] + load->tangential_torque * turn);
    lost[SIM_LOST_DAMPED] -= w->dt * (load->damped[0] * v[0] + load->damped[1] * v[1] + load->damped_torque * turn);
}

// Semi-implicit Euler for a free grain, the law of motion for another.
static void move_grain(sim_world *w, int i, const sim_load *load) {
    if (w->role[i] == SIM_ROLE_PRESCRIBED) {
        w->lost[SIM_LOST_COUNT * i + SIM_LOST_WORK] += sim_mover_follow(w, i, load->force, load->torque);
    } else {
        const int type = w->type[i];
        for (int k = 0; k < 2; ++k) {
            w->v[2 * i + k] += w->dt * (w->gravity[k] + load->force[k] * w->type_inverse_mass[type]);
            w->x[2 * i + k] += w->dt * w->v[2 * i + k];
        }
        w->omega[i] += w->dt * (load->torque * w->type_inverse_inertia[type]);
        w->theta[i] += w->dt * w->omega[i];
    }
}

// Cosines and sines of the block's new angles, all at once; copies of its state for the pairs.
static void turn_block(sim_world *w, int first, int last) {
    double theta[SIM_BLOCK] = {0}, s[SIM_BLOCK], c[SIM_BLOCK];
    const int *grain = w->sequence.sequence + first, n = last - first;
    for (int k = 0; k < n; ++k) theta[k] = w->theta[grain[k]];
    core_sincos_many(theta, n, s, c);
    for (int k = 0; k < n; ++k) {
        const int i = grain[k];
        w->cos_sin[2 * i] = c[k];
        w->cos_sin[2 * i + 1] = s[k];
        w->moving[first + k] = (sim_moving){.x = {w->x[2 * i], w->x[2 * i + 1]},
                                            .v = {w->v[2 * i], w->v[2 * i + 1]},
                                            .theta = theta[k],
                                            .omega = w->omega[i],
                                            .cosine = c[k],
                                            .sine = s[k]};
    }
}

static inline double larger(double a, double b) {
    return a > b ? a : b;
}

// Notes how fast grain i is; false if its motion makes no sense: not finite, more than its own radius in a step, or
// more than what could pass through the thinnest wall.
static bool check_motion(const sim_world *w, int i, sim_grain_block *block) {
    const double radius = w->radius[w->type[i]], dt = w->dt, *v = w->v + 2 * i;
    const double reach = w->reach_step > 0 && w->reach_step < radius ? w->reach_step : radius;
    const double speed = v[0] * v[0] + v[1] * v[1], rim = fabs(w->omega[i]) * radius;
    block->speed[0] = larger(speed, block->speed[0]);
    block->speed[1] = larger(rim, block->speed[1]);
    return dt * dt * speed <= reach * reach && dt * rim <= reach; // false for NaN
}

// One grain of the sequence: forces, motion, what its contacts lost.
static void do_grain(sim_world *w, int place, sim_grain_block *block) {
    const int i = w->sequence.sequence[place];
    const bool near_wall = w->walls.start[i] < w->walls.start[i + 1];
    sim_load load = {0};
    const double v_before[2] = {w->v[2 * i], w->v[2 * i + 1]}, omega_before = w->omega[i];
    double *lost = w->lost + SIM_LOST_COUNT * i;
    if (near_wall) sim_walls_forces(w, i, load.force, &load.torque, &lost[SIM_LOST_TANGENTIAL]);
    sim_pairs_load(w, place, &load);
    move_grain(w, i, &load);
    if (near_wall) sim_walls_losses(w, i, lost);
    add_pair_losses(w, i, &load, v_before, omega_before);
    if (w->period > 0) sim_world_wrap(w, i);
    if (!check_motion(w, i, block) && (block->broken < 0 || i < block->broken)) block->broken = i;
}

static void grain_block(void *arg, int64_t index, int worker) {
    (void)worker;
    sim_world *w = arg;
    sim_grain_block *block = &w->grain_block[index];
    const int first = (int)index * SIM_BLOCK, last = first + SIM_BLOCK < w->n ? first + SIM_BLOCK : w->n;
    *block = (sim_grain_block){.broken = -1, .after_blocks = block->after_blocks};
    for (int s = first; s < last; ++s) {
        if (w->role[w->sequence.sequence[s]] != SIM_ROLE_ABSENT) do_grain(w, s, block);
    }
    turn_block(w, first, last);
}

// ---------------------------------------------------------------------------------------------- step

// Books the time since *start on a stage if somebody asked for it.
static void book(sim_world *w, int stage, double *start) {
    if (!w->timed) return;
    const double end = core_wall_seconds();
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

// The step fails on the pair whose contact is deepest for its grains, if it is deeper than allowed.
static core_status check_depth(const sim_world *w, core_error *err) {
    const sim_contact_block *worst = NULL;
    double depth = w->deepest;
    for (int b = 0; b < w->count_blocks; ++b) {
        const sim_contact_block *block = &w->block[b];
        const double found = -block->nearest / fmin(block->radius[0], block->radius[1]);
        if (found > depth) depth = found, worst = block;
    }
    CORE_CHECK(
        !worst, CORE_NOT_CONVERGED,
        "too deep: grains %d and %d at step %lld (t = %g s): found an overlap of %g m, %g of the smaller radius; "
        "expected at most %g (contact.deepest). Take stiffer contacts",
        w->pairs.i[worst->nearest_pair], w->pairs.j[worst->nearest_pair], (long long)w->step, (double)w->step * w->dt,
        -worst->nearest, depth, w->deepest);
    return CORE_OK;
}

// Contacts of all pairs, then all grains. One thread lets the grains follow as soon as their pairs are done, while
// these are in its cache: no pair that comes later reads them.
static void do_blocks(sim_world *w, int count_grain_blocks, double *clock) {
    const int threads = w->pairs.n < SIM_SERIAL_PAIRS ? 1 : w->threads;
    if (threads > 1 || w->timed) {
        core_thread_for(threads, w->count_blocks, sim_pairs_contacts, w);
        book(w, SIM_STAGE_CONTACTS, clock);
        core_thread_for(threads, count_grain_blocks, grain_block, w);
        return;
    }
    int done = 0;
    for (int g = 0; g < count_grain_blocks; ++g) {
        for (; done < w->grain_block[g].after_blocks; ++done) sim_pairs_contacts(w, done, 0);
        grain_block(w, g, 0);
    }
}

// True once a grain has moved by more than half the skin since the list was built. While the way of the fastest one is
// shorter, nobody has.
static bool list_is_outrun(const sim_world *w) {
    const double half = 0.5 * w->broad.skin;
    double moved = 0;
    if (w->way - w->way_built < 0.999 * half) return false;
    for (int i = 0; i < w->n; ++i) {
        const double dx = w->x[2 * i] - w->x_built[2 * i], dy = w->x[2 * i + 1] - w->x_built[2 * i + 1];
        const double square = dx * dx + dy * dy;
        if (w->role[i] != SIM_ROLE_ABSENT && !(square <= moved)) moved = square;
    }
    return !(moved <= half * half);
}

// Counts of the pairs, motion of the grains; returns the first grain that blew up, or -1.
static int sum_blocks(sim_world *w, int count_grain_blocks) {
    w->count_evaluated = w->count_full = w->count_skipped = 0;
    for (int b = 0; b < w->count_blocks; ++b) {
        w->count_evaluated += w->block[b].count_evaluated;
        w->count_full += w->block[b].count_full;
        w->count_skipped += w->block[b].count_skipped;
    }
    double speed[2] = {0, 0};
    int broken = -1;
    for (int b = 0; b < count_grain_blocks; ++b) {
        const sim_grain_block *block = &w->grain_block[b];
        for (int k = 0; k < 2; ++k) speed[k] = fmax(speed[k], block->speed[k]);
        if (block->broken >= 0 && (broken < 0 || block->broken < broken)) broken = block->broken;
    }
    w->way += w->dt * (sqrt(speed[0]) + speed[1]);
    return broken;
}

core_status sim_world_step(sim_world *world, core_error *err) {
    sim_world *w = world;
    double clock = w->timed ? core_wall_seconds() : 0;
    if (w->stale) CORE_TRY(sim_world_rebuild(w, err));
    book(w, SIM_STAGE_LIST, &clock);
    const int count_grain_blocks = (w->n + SIM_BLOCK - 1) / SIM_BLOCK;
    sim_walls_begin(w);
    do_blocks(w, count_grain_blocks, &clock);
    const int broken = sum_blocks(w, count_grain_blocks);
    sim_walls_end(w);
    ++w->step;
    if (!(w->walls.moved <= 0.5 * w->broad.skin) || list_is_outrun(w)) w->stale = true;
    book(w, SIM_STAGE_GRAINS, &clock);
    if (broken >= 0) return fail_broken(w, broken, err);
    return w->deepest > 0 ? check_depth(w, err) : CORE_OK;
}
