/// One step of semi-implicit Euler: contacts of the neighbour pairs in blocks (sim_pairs.c), then for each grain its
/// forces in a fixed order, its motion and what its contacts lost. Which worker does which block changes no bit: every
/// number is written by one grain or one pair.
#include "sim_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------------------------- neighbour list

static double stiffness_tangential(const void *arg, int i, int j) {
    const sim_world *w = arg;
    return sim_world_law(w, w->type[i], w->type[j])->kt;
}

// Room for the arrays that follow the pair list.
static core_status reserve_list(sim_world *w, int n, core_error *err) {
    const size_t old = (size_t)w->list_capacity;
    if (n > w->list_capacity) {
        const int capacity = n + n / 2 + 64;
        int *adjacent = core_realloc(w->adjacent, 2 * old, 2 * (size_t)capacity, sizeof *adjacent);
        CORE_CHECK(adjacent, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
        w->adjacent = adjacent;
        int *order = core_realloc(w->order, old, (size_t)capacity, sizeof *order);
        CORE_CHECK(order, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
        w->order = order;
        w->list_capacity = capacity;
    }
    const int blocks = w->list_capacity / SIM_BLOCK + w->count_types * w->count_types + 1;
    if (blocks > w->blocks_capacity) {
        sim_contact_block *block = core_realloc(w->block, (size_t)w->blocks_capacity, (size_t)blocks, sizeof *block);
        CORE_CHECK(block, CORE_MEMORY, "out of memory: %d contact blocks", blocks);
        w->block = block;
        w->blocks_capacity = blocks;
    }
    return CORE_OK;
}

// For each grain its pairs, ascending.
static void list_adjacent(sim_world *w) {
    int *start = w->adjacent_start;
    const sim_pairs *pairs = &w->pairs;
    memset(start, 0, ((size_t)w->n + 1) * sizeof *start);
    for (int p = 0; p < pairs->n; ++p) {
        ++start[pairs->i[p] + 1];
        ++start[pairs->j[p] + 1];
    }
    for (int i = 0; i < w->n; ++i) start[i + 1] += start[i];
    // from the back, so that start[i + 1] ends at the first entry of grain i and moves into place by one
    for (int p = pairs->n - 1; p >= 0; --p) {
        w->adjacent[--start[pairs->j[p] + 1]] = 2 * p + 1;
        w->adjacent[--start[pairs->i[p] + 1]] = 2 * p;
    }
    memmove(start, start + 1, (size_t)w->n * sizeof *start);
    start[w->n] = 2 * pairs->n;
}

// Pairs by type pair, in blocks of at most SIM_BLOCK.
static void list_blocks(sim_world *w) {
    const sim_pairs *pairs = &w->pairs;
    const int kinds = w->count_types * w->count_types;
    memset(w->kind_count, 0, (size_t)kinds * sizeof *w->kind_count);
    for (int p = 0; p < pairs->n; ++p) ++w->kind_count[w->type[pairs->i[p]] * w->count_types + w->type[pairs->j[p]]];
    w->count_blocks = 0;
    int first = 0;
    for (int kind = 0; kind < kinds; ++kind) {
        const int count = w->kind_count[kind];
        for (int done = 0; done < count; done += SIM_BLOCK) {
            w->block[w->count_blocks++] = (sim_contact_block){
                .type_pair = kind, .first = first + done, .count = count - done < SIM_BLOCK ? count - done : SIM_BLOCK};
        }
        w->kind_count[kind] = first;
        first += count;
    }
    for (int p = 0; p < pairs->n; ++p)
        w->order[w->kind_count[w->type[pairs->i[p]] * w->count_types + w->type[pairs->j[p]]]++] = p;
}

core_status sim_world_rebuild(sim_world *world, core_error *err) {
    sim_world *w = world;
    CORE_TRY(sim_broad_find(&w->broad, w->n, w->x, w->type, w->role, w->radius, &w->pairs_next, err));
    CORE_TRY(reserve_list(w, w->pairs_next.n, err));
    CORE_TRY(sim_walls_find(w, err));
    w->dissipated_tangential += sim_pairs_carry(&w->pairs, &w->pairs_next, stiffness_tangential, w);
    const sim_pairs old = w->pairs;
    w->pairs = w->pairs_next;
    w->pairs_next = old;
    list_adjacent(w);
    list_blocks(w);
    if (w->n > 0) memcpy(w->x_built, w->x, 2 * (size_t)w->n * sizeof *w->x);
    w->stale = false;
    return CORE_OK;
}

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
    core_sincos(w->theta[i], &w->cos_sin[2 * i + 1], &w->cos_sin[2 * i]);
}

// True if the grain's motion in one step makes sense: finite, and less than its own radius.
static bool motion_is_sane(const sim_world *w, int i) {
    const double reach = w->radius[w->type[i]], dt = w->dt;
    const double vx = w->v[2 * i] * dt, vy = w->v[2 * i + 1] * dt, turn = w->omega[i] * dt * reach;
    return vx * vx + vy * vy <= reach * reach && turn * turn <= reach * reach; // false for NaN
}

static void grain_block(void *arg, int64_t index, int worker) {
    (void)worker;
    sim_world *w = arg;
    sim_grain_block *block = &w->grain_block[index];
    const int first = (int)index * SIM_BLOCK, last = first + SIM_BLOCK < w->n ? first + SIM_BLOCK : w->n;
    *block = (sim_grain_block){.broken = -1};
    for (int i = first; i < last; ++i) {
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
        if (block->broken < 0 && !motion_is_sane(w, i)) block->broken = i;
    }
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
        "expected less than the radius %g per step of %g s. Take a smaller dt or less stiff contacts",
        i, (long long)w->step, (double)w->step * w->dt, w->x[2 * i], w->x[2 * i + 1], w->v[2 * i], w->v[2 * i + 1],
        w->omega[i], w->radius[w->type[i]], w->dt);
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
        if (broken < 0) broken = w->grain_block[b].broken;
    }
    sim_walls_end(w);
    ++w->step;
    if (!(moved <= 0.25 * w->broad.skin * w->broad.skin && w->walls.moved <= 0.5 * w->broad.skin)) w->stale = true;
    book(w, SIM_STAGE_GRAINS, &clock);
    return broken < 0 ? CORE_OK : fail_broken(w, broken, err);
}
