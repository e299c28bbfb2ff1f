/// The neighbour list: memory of pairs, their order in memory, which pairs belong to a grain, blocks of pairs, and what
/// is kept when the list is built anew. README.md, section 5.
#include "sim_private.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- pair list

core_status sim_pairs_reserve(sim_pairs *pairs, int capacity, core_error *err) {
    if (capacity <= pairs->capacity && pairs->slot) return CORE_OK;
    const size_t old = (size_t)pairs->capacity, size = (size_t)capacity, k = (size_t)pairs->k_max;
    // Each array may grow alone: the capacity is raised only when all have.
    void *grown;
    bool ok = true;
#define GROW(member, factor)                                                                                           \
    do {                                                                                                               \
        grown = ok ? core_realloc(pairs->member, old * (factor), size * (factor), sizeof *pairs->member) : NULL;       \
        ok = grown != NULL;                                                                                            \
        if (ok) pairs->member = grown;                                                                                 \
    } while (0)
    GROW(i, 1);
    GROW(j, 1);
    GROW(place, 1);
    GROW(count, 1);
    GROW(touching, 1);
    GROW(lost, 1);
    GROW(room, 1);
    GROW(from, 4);
    GROW(slot, k);
#undef GROW
    CORE_CHECK(ok, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
    pairs->capacity = capacity;
    return CORE_OK;
}

void sim_pairs_clear(sim_pairs *pairs) {
    if (!pairs) return;
    core_free(pairs->i);
    core_free(pairs->j);
    core_free(pairs->place);
    core_free(pairs->count);
    core_free(pairs->touching);
    core_free(pairs->lost);
    core_free(pairs->room);
    core_free(pairs->from);
    core_free(pairs->slot);
    *pairs = (sim_pairs){.k_max = pairs->k_max};
}

void sim_pairs_arrange(sim_pairs *pairs, int n_grains, const int *rank, int *first, int *buffer) {
    // a pair goes to that of its grains that comes first; first[r + 1] becomes the next free place of rank r
    memset(first, 0, ((size_t)n_grains + 1) * sizeof *first);
    int *i = buffer, *j = buffer + pairs->n;
    for (int k = 0; k < pairs->n; ++k) {
        i[k] = pairs->i[k];
        j[k] = pairs->j[k];
        ++first[(rank[i[k]] < rank[j[k]] ? rank[i[k]] : rank[j[k]]) + 1];
    }
    for (int r = 0; r < n_grains; ++r) first[r + 1] += first[r];
    for (int k = 0; k < pairs->n; ++k) {
        const int p = first[rank[i[k]] < rank[j[k]] ? rank[i[k]] : rank[j[k]]]++;
        pairs->place[k] = p;
        pairs->i[p] = i[k];
        pairs->j[p] = j[k];
    }
}

// Energy of the tangential springs of a pair.
static double spring_energy(const sim_pairs *pairs, int p, double kt) {
    double energy = 0;
    for (int c = 0; c < pairs->count[p]; ++c) {
        const double spring = pairs->slot[(size_t)p * (size_t)pairs->k_max + (size_t)c].spring;
        energy += 0.5 * kt * spring * spring;
    }
    return energy;
}

double sim_pairs_carry(const sim_pairs *from, sim_pairs *to, double (*kt)(const void *arg, int i, int j),
                       const void *arg) {
    const size_t k_max = (size_t)to->k_max;
    double lost = 0;
    int k_to = 0;
    for (int k = 0; k < from->n; ++k) {
        const int p = from->place[k], i = from->i[p], j = from->j[p];
        int q = -1;
        for (; k_to < to->n; ++k_to) {
            q = to->place[k_to];
            if (to->i[q] > i || (to->i[q] == i && to->j[q] >= j)) break;
        }
        if (k_to == to->n || to->i[q] != i || to->j[q] != j) {
            if (from->count[p] > 0) lost += spring_energy(from, p, kt(arg, i, j));
            continue;
        }
        to->count[q] = from->count[p];
        to->touching[q] = from->touching[p];
        to->lost[q] = from->lost[p];
        to->room[q] = from->room[p];
        memcpy(to->from + 4 * (size_t)q, from->from + 4 * (size_t)p, 4 * sizeof *to->from);
        if (from->count[p] > 0)
            memcpy(to->slot + (size_t)q * k_max, from->slot + (size_t)p * k_max,
                   (size_t)from->count[p] * sizeof *to->slot);
    }
    return lost;
}

// ---------------------------------------------------------------------------------------------- list of a world

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

// For each grain its pairs in (i, j) order, which is that of the other grain's id.
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
    for (int k = pairs->n - 1; k >= 0; --k) {
        const int p = pairs->place[k];
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

// Brings the new pairs into the order in which their grains are visited.
static void arrange(sim_world *w) {
    sim_order_find(&w->sequence, w->n, w->x, w->broad.cell);
    for (int i = 0; w->unsorted && i < w->n; ++i) w->sequence.sequence[i] = i;
    int *rank = w->sequence.spare;
    for (int s = 0; s < w->n; ++s) rank[w->sequence.sequence[s]] = s;
    sim_pairs_arrange(&w->pairs_next, w->n, rank, w->adjacent_start, w->adjacent);
}

core_status sim_world_adopt(sim_world *world, core_error *err) {
    sim_world *w = world;
    CORE_TRY(reserve_list(w, w->pairs_next.n, err));
    arrange(w);
    w->dissipated_tangential += sim_pairs_carry(&w->pairs, &w->pairs_next, stiffness_tangential, w);
    const sim_pairs old = w->pairs;
    w->pairs = w->pairs_next;
    w->pairs_next = old;
    list_adjacent(w);
    list_blocks(w);
    w->stale = false;
    return CORE_OK;
}

core_status sim_world_rebuild(sim_world *world, core_error *err) {
    sim_world *w = world;
    CORE_TRY(sim_broad_find(&w->broad, w->n, w->x, w->type, w->role, w->radius, &w->pairs_next, err));
    CORE_TRY(reserve_list(w, w->pairs_next.n, err)); // all that can fail comes first
    CORE_TRY(sim_walls_find(w, err));
    CORE_TRY(sim_world_adopt(w, err));
    if (w->n > 0) memcpy(w->x_built, w->x, 2 * (size_t)w->n * sizeof *w->x);
    return CORE_OK;
}
