/// One step of semi-implicit Euler: contacts of the neighbour pairs in blocks, sums per grain in pair order, motion,
/// losses. Which worker does which block changes no bit: results go to slots of pairs and are summed in a fixed order.
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

// ---------------------------------------------------------------------------------------------- contacts of pairs

// Bounding circles of pair p overlap or touch; the pose of j seen from i, m.
static bool pair_is_near(const sim_world *w, int p, cspace_pose *pose) {
    const int i = w->pairs.i[p], j = w->pairs.j[p];
    const double dx = sim_world_image(w, w->x[2 * j] - w->x[2 * i]), dy = w->x[2 * j + 1] - w->x[2 * i + 1];
    const double reach = w->radius[w->type[i]] + w->radius[w->type[j]];
    if (dx * dx + dy * dy > reach * reach) return false;
    const double c = w->cos_sin[2 * i], s = w->cos_sin[2 * i + 1];
    *pose = (cspace_pose){.theta = w->theta[j] - w->theta[i], .x = c * dx + s * dy, .y = c * dy - s * dx};
    return true;
}

// Energy of the springs of a pair that is given up.
static double drop_pair(sim_world *w, int p, double kt) {
    double lost = 0;
    for (int c = 0; c < w->pairs.count[p]; ++c) {
        const double spring = w->pairs.slot[(size_t)p * (size_t)w->k_max + (size_t)c].spring;
        lost += 0.5 * kt * spring * spring;
    }
    w->pairs.count[p] = 0;
    w->pairs.touching[p] = 0;
    return lost;
}

// Contacts found for pair p, A's frame: springs go to the contacts of the same feature, then the law acts. Returns the
// energy of springs without one.
static double apply_pair(sim_world *w, int p, int count, const sim_contact *found, const sim_contact_law *law) {
    const int i = w->pairs.i[p], old_count = w->pairs.count[p];
    sim_slot *slot = w->pairs.slot + (size_t)p * (size_t)w->k_max;
    double old_spring[SIM_CONTACTS_MAX], lost = 0;
    int32_t old_feature[SIM_CONTACTS_MAX];
    for (int k = 0; k < old_count; ++k) {
        old_spring[k] = slot[k].spring;
        old_feature[k] = slot[k].c.feature;
    }
    const sim_body_state a = sim_world_body(w, i);
    sim_body_state b = sim_world_body(w, w->pairs.j[p]);
    if (w->period > 0) b.x[0] = a.x[0] + sim_world_image(w, b.x[0] - a.x[0]);
    const double c = w->cos_sin[2 * i], s = w->cos_sin[2 * i + 1];
    w->pairs.touching[p] = 0;
    for (int k = 0; k < count; ++k) {
        slot[k].c = found[k];
        slot[k].c.g[0] = c * found[k].g[0] - s * found[k].g[1];
        slot[k].c.g[1] = s * found[k].g[0] + c * found[k].g[1];
        slot[k].spring = 0;
        for (int o = 0; o < old_count; ++o) {
            if (old_feature[o] != found[k].feature) continue;
            slot[k].spring = old_spring[o];
            old_spring[o] = 0;
        }
        sim_slot_apply(law, &a, &b, w->dt, &slot[k]);
        if (sim_slot_touches(&slot[k])) {
            w->pairs.touching[p] = 1;
        } else {
            lost += slot[k].loss;
        }
    }
    w->pairs.count[p] = count;
    for (int o = 0; o < old_count; ++o) lost += 0.5 * law->kt * old_spring[o] * old_spring[o];
    return lost;
}

static void contact_block(void *arg, int64_t index, int worker) {
    sim_world *w = arg;
    sim_contact_block *block = &w->block[index];
    sim_scratch *scratch = &w->scratch[worker];
    const sim_contact_law *law = sim_world_law(w, block->type_pair / w->count_types, block->type_pair % w->count_types);
    double lost = 0;
    int n = 0;
    for (int q = block->first; q < block->first + block->count; ++q) {
        const int p = w->order[q];
        if (pair_is_near(w, p, &scratch->pose[n])) {
            scratch->pair[n++] = p;
        } else if (w->pairs.count[p] > 0) {
            lost += drop_pair(w, p, law->kt);
        }
    }
    if (n > 0) {
        w->narrow.evaluate(w->narrow.self, block->type_pair, scratch->pose, n, w->k_max, scratch->count,
                           scratch->contact, worker);
    }
    for (int q = 0; q < n; ++q) {
        lost +=
            apply_pair(w, scratch->pair[q], scratch->count[q], scratch->contact + (size_t)q * (size_t)w->k_max, law);
    }
    block->count_evaluated = n;
    block->dissipated_normal = 0;
    block->dissipated_tangential = lost;
}

// Work lost in touching contacts, once the new velocities are known.
static void loss_block(void *arg, int64_t index, int worker) {
    (void)worker;
    sim_world *w = arg;
    sim_contact_block *block = &w->block[index];
    for (int q = block->first; q < block->first + block->count; ++q) {
        const int p = w->order[q];
        if (!w->pairs.touching[p]) continue;
        const sim_body_state a = sim_world_body(w, w->pairs.i[p]), b = sim_world_body(w, w->pairs.j[p]);
        for (int k = 0; k < w->pairs.count[p]; ++k) {
            const sim_slot *slot = &w->pairs.slot[(size_t)p * (size_t)w->k_max + (size_t)k];
            if (!sim_slot_touches(slot)) continue;
            double normal, tangential;
            sim_slot_dissipation(slot, &a, &b, w->dt, &normal, &tangential);
            block->dissipated_normal += normal;
            block->dissipated_tangential += tangential;
        }
    }
}

// ---------------------------------------------------------------------------------------------- motion

// Force and torque of the grain's pairs, in pair order.
static void add_pair_forces(const sim_world *w, int i, double force[2], double *torque) {
    for (int e = w->adjacent_start[i]; e < w->adjacent_start[i + 1]; ++e) {
        const int p = w->adjacent[e] >> 1;
        if (!w->pairs.touching[p]) continue;
        const bool is_b = w->adjacent[e] & 1;
        const double sign = is_b ? 1 : -1;
        for (int k = 0; k < w->pairs.count[p]; ++k) {
            const sim_contact_force *f = &w->pairs.slot[(size_t)p * (size_t)w->k_max + (size_t)k].f;
            force[0] += sign * f->force[0];
            force[1] += sign * f->force[1];
            *torque += is_b ? f->torque_b : f->torque_a;
        }
    }
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
        double force[2] = {0, 0}, torque = 0;
        double *x = w->x + 2 * i, *v = w->v + 2 * i;
        sim_walls_forces(w, i, force, &torque, &block->dissipated_tangential);
        add_pair_forces(w, i, force, &torque);
        if (w->role[i] == SIM_ROLE_PRESCRIBED) {
            block->work += sim_mover_follow(w, i, force, torque);
        } else {
            for (int k = 0; k < 2; ++k) {
                v[k] += w->dt * (w->gravity[k] + force[k] * w->inverse_mass[i]);
                x[k] += w->dt * v[k];
            }
            w->omega[i] += w->dt * (torque * w->inverse_inertia[i]);
            w->theta[i] += w->dt * w->omega[i];
        }
        core_sincos(w->theta[i], &w->cos_sin[2 * i + 1], &w->cos_sin[2 * i]);
        sim_walls_losses(w, i, &block->dissipated_normal, &block->dissipated_tangential, &block->work);
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
    core_thread_for(threads, w->count_blocks, contact_block, w);
    book(w, SIM_STAGE_CONTACTS, &clock);
    core_thread_for(threads, count_grain_blocks, grain_block, w);
    book(w, SIM_STAGE_GRAINS, &clock);
    core_thread_for(threads, w->count_blocks, loss_block, w);
    // sums of blocks, in their order
    for (int b = 0; b < w->count_blocks; ++b) {
        w->dissipated_normal += w->block[b].dissipated_normal;
        w->dissipated_tangential += w->block[b].dissipated_tangential;
    }
    double moved = 0;
    int broken = -1;
    for (int b = 0; b < count_grain_blocks; ++b) {
        w->dissipated_normal += w->grain_block[b].dissipated_normal;
        w->dissipated_tangential += w->grain_block[b].dissipated_tangential;
        w->work += w->grain_block[b].work;
        moved = fmax(moved, w->grain_block[b].moved);
        if (broken < 0) broken = w->grain_block[b].broken;
    }
    sim_walls_end(w);
    ++w->step;
    if (!(moved <= 0.25 * w->broad.skin * w->broad.skin && w->walls.moved <= 0.5 * w->broad.skin)) w->stale = true;
    book(w, SIM_STAGE_LOSSES, &clock);
    return broken < 0 ? CORE_OK : fail_broken(w, broken, err);
}
