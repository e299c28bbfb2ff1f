/// The neighbour list: memory of pairs, their order in memory, which pairs belong to a grain, blocks of pairs, and what
/// is kept when the list is built anew. README.md, section 5.
#include "sim_private.h"

#include <string.h>

// Blocks of pairs that a thread finds at least, unless they get smaller than BLOCK_MIN.
enum { BLOCKS_PER_THREAD = 8, BLOCK_MIN = 64 };

// ---------------------------------------------------------------------------------------------- pair list

core_status sim_found_reserve(sim_found *found, int capacity, core_error *err) {
    if (capacity <= found->capacity) return CORE_OK;
    const size_t old = (size_t)found->capacity, size = (size_t)capacity;
    // each array may grow alone: the capacity is raised only when both have
    int *i = core_realloc(found->i, old, size, sizeof *i);
    if (i) found->i = i;
    int *j = i ? core_realloc(found->j, old, size, sizeof *j) : NULL;
    CORE_CHECK(j, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
    found->j = j;
    found->capacity = capacity;
    return CORE_OK;
}

void sim_found_clear(sim_found *found) {
    if (!found) return;
    core_free(found->i);
    core_free(found->j);
    *found = (sim_found){0};
}

// Pairs to make room for where n do not fit: few more, since what is not needed is lost, but some, since a list that
// grows does so many times.
static int roomy(int n) {
    return n + n / 8 + 64;
}

static void clear_list(sim_pairs *pairs) {
    core_free(pairs->place);
    core_free(pairs->i);
    core_free(pairs->j);
    core_free(pairs->a);
    core_free(pairs->b);
    core_free(pairs->count);
    core_free(pairs->apart);
    core_free(pairs->spring);
    core_free(pairs->feature);
    core_free(pairs->first);
    *pairs = (sim_pairs){.k_max = pairs->k_max,
                         .room = pairs->room,
                         .released = pairs->released,
                         .within = pairs->within,
                         .lost = pairs->lost,
                         .touch = pairs->touch};
}

core_status sim_pairs_renew(sim_pairs *pairs, int n, core_error *err) {
    core_status status = CORE_OK;
    pairs->n = 0;
    if (n <= pairs->capacity) return CORE_OK;
    // what was there is of no use: it goes first
    clear_list(pairs);
    const size_t size = (size_t)roomy(n), k = (size_t)pairs->k_max;
    CORE_NEW_DONE(pairs->place, size);
    CORE_NEW_DONE(pairs->i, size);
    CORE_NEW_DONE(pairs->j, size);
    CORE_NEW_DONE(pairs->a, size);
    CORE_NEW_DONE(pairs->b, size);
    CORE_NEW_DONE(pairs->count, size);
    CORE_NEW_DONE(pairs->apart, size);
    CORE_NEW_DONE(pairs->spring, size * k);
    CORE_NEW_DONE(pairs->feature, size * k);
    CORE_NEW_DONE(pairs->first, size);
    pairs->capacity = (int)size;
done:
    if (status != CORE_OK) clear_list(pairs);
    return status;
}

core_status sim_pairs_reserve_room(sim_pairs *pairs, int n, core_error *err) {
    if (n <= pairs->room) return CORE_OK;
    const int room = roomy(n);
    const size_t old = (size_t)pairs->room, size = (size_t)room, k = (size_t)pairs->k_max;
    // each array may grow alone: the room is raised only when all have
    void *grown;
    bool ok = true;
#define GROW(member, factor)                                                                                           \
    do {                                                                                                               \
        grown = ok ? core_realloc(pairs->member, old * (factor), size * (factor), sizeof *pairs->member) : NULL;       \
        ok = grown != NULL;                                                                                            \
        if (ok) pairs->member = grown;                                                                                 \
    } while (0)
    GROW(released, 1);
    GROW(within, 1);
    GROW(lost, 1);
    GROW(touch, k);
#undef GROW
    CORE_CHECK(ok, CORE_MEMORY, "out of memory: contacts of %d pairs", room);
    pairs->room = room;
    return CORE_OK;
}

void sim_pairs_clear(sim_pairs *pairs) {
    if (!pairs) return;
    clear_list(pairs);
    core_free(pairs->released);
    core_free(pairs->within);
    core_free(pairs->lost);
    core_free(pairs->touch);
    *pairs = (sim_pairs){.k_max = pairs->k_max};
}

void sim_pairs_arrange(sim_pairs *pairs, const sim_found *found, int n_grains, const int *rank, int *first) {
    const int *i = found->i, *j = found->j, n = found->n;
    pairs->n = n;
    if (n > 0) {
        memset(pairs->count, 0, (size_t)n * sizeof *pairs->count);
        memset(pairs->apart, 0, (size_t)n * sizeof *pairs->apart);
    }
    // a pair goes to that of its grains that comes first; first[r + 1] becomes the next free place of rank r
    memset(first, 0, ((size_t)n_grains + 1) * sizeof *first);
    for (int k = 0; k < n; ++k) ++first[(rank[i[k]] < rank[j[k]] ? rank[i[k]] : rank[j[k]]) + 1];
    for (int r = 0; r < n_grains; ++r) first[r + 1] += first[r];
    for (int k = 0; k < n; ++k) {
        const int p = first[rank[i[k]] < rank[j[k]] ? rank[i[k]] : rank[j[k]]]++;
        pairs->place[k] = p;
        pairs->i[p] = i[k];
        pairs->j[p] = j[k];
        pairs->a[p] = rank[i[k]];
        pairs->b[p] = rank[j[k]];
    }
}

// Energy of the tangential springs of a pair.
static double spring_energy(const sim_pairs *pairs, int p, double kt) {
    double energy = 0;
    for (int c = 0; c < pairs->count[p]; ++c) {
        const double spring = pairs->spring[(size_t)p * (size_t)pairs->k_max + (size_t)c];
        energy += 0.5 * kt * spring * spring;
    }
    return energy;
}

// The room of `from`, which `to` has none of, goes to it.
static void hand_over_room(sim_pairs *from, sim_pairs *to) {
    to->room = from->room;
    to->released = from->released;
    to->within = from->within;
    to->lost = from->lost;
    to->touch = from->touch;
    from->room = 0;
    from->released = from->within = NULL;
    from->lost = NULL;
    from->touch = NULL;
    if (to->n > 0) memset(to->released, 0, (size_t)to->n * sizeof *to->released);
}

double sim_pairs_carry(sim_pairs *from, sim_pairs *to, double (*kt)(const void *arg, int i, int j), const void *arg) {
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
        to->apart[q] = from->apart[p];
        to->apart[q].wake = 0;
        to->first[q] = from->first[p]; // until the first step
        for (size_t c = 0; c < from->count[p]; ++c) {
            to->spring[(size_t)q * k_max + c] = from->spring[(size_t)p * k_max + c];
            to->feature[(size_t)q * k_max + c] = from->feature[(size_t)p * k_max + c];
        }
    }
    hand_over_room(from, to);
    return lost;
}

// ---------------------------------------------------------------------------------------------- list of a world

static double stiffness_tangential(const void *arg, int i, int j) {
    const sim_world *w = arg;
    return sim_world_law(w, w->type[i], w->type[j])->kt;
}

// Room for n pairs: the next list, what a step writes, and the arrays that follow the list. What is there stays.
static core_status reserve_list(sim_world *w, int n, core_error *err) {
    const size_t old = (size_t)w->list_capacity;
    CORE_TRY(sim_pairs_renew(&w->pairs_next, n, err));
    CORE_TRY(sim_pairs_reserve_room(&w->pairs, n, err));
    if (n > w->list_capacity) {
        const int capacity = roomy(n);
        int *adjacent = core_realloc(w->adjacent, 2 * old, 2 * (size_t)capacity, sizeof *adjacent);
        CORE_CHECK(adjacent, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
        w->adjacent = adjacent;
        int *order = core_realloc(w->order, old, (size_t)capacity, sizeof *order);
        CORE_CHECK(order, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
        w->order = order;
        int *awake = core_realloc(w->awake, old, (size_t)capacity, sizeof *awake);
        CORE_CHECK(awake, CORE_MEMORY, "out of memory: neighbour list of %d pairs", capacity);
        w->awake = awake;
        w->list_capacity = capacity;
    }
    // list_blocks: 5 blocks at most where one could do, and for each thread a few
    const int blocks =
        5 * (w->list_capacity / SIM_PAIR_BLOCK + BLOCKS_PER_THREAD * w->threads + w->count_types * w->count_types + 1);
    if (blocks > w->blocks_capacity) {
        sim_contact_block *block = core_realloc(w->block, (size_t)w->blocks_capacity, (size_t)blocks, sizeof *block);
        CORE_CHECK(block, CORE_MEMORY, "out of memory: %d contact blocks", blocks);
        w->block = block;
        w->blocks_capacity = blocks;
    }
    return CORE_OK;
}

// For each grain, along the curve, its pairs in (i, j) order, which is that of the other grain's id.
static void list_adjacent(sim_world *w) {
    int *start = w->adjacent_start;
    const sim_pairs *pairs = &w->pairs;
    memset(start, 0, ((size_t)w->n + 1) * sizeof *start);
    for (int p = 0; p < pairs->n; ++p) {
        ++start[pairs->a[p] + 1];
        ++start[pairs->b[p] + 1];
    }
    for (int s = 0; s < w->n; ++s) start[s + 1] += start[s];
    // from the back, so that start[s + 1] ends at the first entry of the grain in place s and moves into place by one
    for (int k = pairs->n - 1; k >= 0; --k) {
        const int p = pairs->place[k];
        w->adjacent[--start[pairs->b[p] + 1]] = 2 * p + 1;
        w->adjacent[--start[pairs->a[p] + 1]] = 2 * p;
    }
    memmove(start, start + 1, (size_t)w->n * sizeof *start);
    start[w->n] = 2 * pairs->n;
}

// State of the grain in place s for its pairs.
static void list_moving(sim_world *w) {
    for (int s = 0; s < w->n; ++s) {
        const int i = w->sequence.sequence[s];
        w->moving[s] = (sim_moving){.x = {w->x[2 * i], w->x[2 * i + 1]},
                                    .v = {w->v[2 * i], w->v[2 * i + 1]},
                                    .theta = w->theta[i],
                                    .omega = w->omega[i],
                                    .cosine = w->cos_sin[2 * i],
                                    .sine = w->cos_sin[2 * i + 1]};
    }
}

// Kind of a pair: types and whose motion is prescribed.
static int kind_of(const sim_world *w, int p) {
    const int i = w->pairs.i[p], j = w->pairs.j[p];
    const int fixed = 2 * (w->role[i] == SIM_ROLE_PRESCRIBED) + (w->role[j] == SIM_ROLE_PRESCRIBED);
    return 4 * (w->type[i] * w->count_types + w->type[j]) + fixed;
}

static sim_law_bodies bodies_of(const sim_world *w, int kind) {
    const int type[2] = {kind / 4 / w->count_types, kind / 4 % w->count_types};
    sim_law_bodies bodies = {.law = *sim_world_law(w, type[0], type[1]), .dt = w->dt};
    for (int k = 0; k < 2; ++k) {
        const bool fixed = k == 0 ? kind & 2 : kind & 1;
        bodies.inverse_mass[k] = fixed ? 0 : 1 / w->type_mass[type[k]];
        bodies.inverse_inertia[k] = fixed ? 0 : 1 / w->type_inertia[type[k]];
    }
    return bodies;
}

// Most pairs of a block: many for the kernels' sake, but so that every thread finds some.
static int block_size(const sim_world *w) {
    if (w->threads == 1) return SIM_PAIR_BLOCK;
    const int share = w->pairs.n / (BLOCKS_PER_THREAD * w->threads);
    return share < BLOCK_MIN ? BLOCK_MIN : share > SIM_PAIR_BLOCK ? SIM_PAIR_BLOCK : share;
}

// Blocks of pairs [first, end), a stretch of the curve, by kind; w->kind_count holds 0 everywhere, before and after.
static void list_stretch(sim_world *w, int first, int end, int size) {
    const int kinds = 4 * w->count_types * w->count_types;
    for (int p = first; p < end; ++p) ++w->kind_count[kind_of(w, p)];
    for (int kind = 0, next = first; kind < kinds; ++kind) {
        const int count = w->kind_count[kind];
        for (int done = 0; done < count; done += size) {
            w->block[w->count_blocks++] = (sim_contact_block){
                .type_pair = kind / 4,
                .first = next + done,
                .count = count - done < size ? count - done : size,
                .radius = {w->radius[kind / 4 / w->count_types], w->radius[kind / 4 % w->count_types]},
                .bodies = bodies_of(w, kind)};
        }
        w->kind_count[kind] = next;
        next += count;
    }
    for (int p = first; p < end; ++p) w->order[w->kind_count[kind_of(w, p)]++] = p;
    memset(w->kind_count, 0, (size_t)kinds * sizeof *w->kind_count);
}

// Pairs in blocks, stretch after stretch of the curve; a stretch is long enough to fill a block of every pair of types.
static void list_blocks(sim_world *w) {
    const int size = block_size(w);
    const int64_t n = w->pairs.n, stretch = (int64_t)size * w->count_types * w->count_types;
    w->count_blocks = 0;
    for (int64_t first = 0; first < n; first += stretch)
        list_stretch(w, (int)first, (int)(n - first < stretch ? n : first + stretch), size);
}

// For each block of grains how many contact blocks hold all their pairs: these can be followed by the grains.
static void list_dependences(sim_world *w) {
    int *block_of = w->awake; // filled anew by the first step
    for (int b = 0; b < w->count_blocks; ++b) {
        for (int q = w->block[b].first; q < w->block[b].first + w->block[b].count; ++q) block_of[w->order[q]] = b;
    }
    for (int s = 0; s < w->n; ++s) {
        sim_grain_block *grains = &w->grain_block[s / SIM_BLOCK];
        if (s % SIM_BLOCK == 0) *grains = (sim_grain_block){0};
        for (int e = w->adjacent_start[s]; e < w->adjacent_start[s + 1]; ++e) {
            const int after = block_of[w->adjacent[e] >> 1] + 1;
            if (after > grains->after_blocks) grains->after_blocks = after;
        }
    }
}

// Brings the new pairs into the order in which their grains are visited.
static void arrange(sim_world *w) {
    sim_order_find(&w->sequence, w->n, w->x, w->broad.cell);
    for (int i = 0; w->unsorted && i < w->n; ++i) w->sequence.sequence[i] = i;
    int *rank = w->sequence.spare;
    for (int s = 0; s < w->n; ++s) rank[w->sequence.sequence[s]] = s;
    sim_pairs_arrange(&w->pairs_next, &w->found, w->n, rank, w->adjacent_start);
}

core_status sim_world_adopt(sim_world *world, core_error *err) {
    sim_world *w = world;
    CORE_TRY(reserve_list(w, w->found.n, err));
    arrange(w);
    w->dissipated_tangential += sim_pairs_carry(&w->pairs, &w->pairs_next, stiffness_tangential, w);
    const sim_pairs old = w->pairs;
    w->pairs = w->pairs_next;
    w->pairs_next = old;
    list_adjacent(w);
    list_moving(w);
    list_blocks(w);
    list_dependences(w);
    w->stale = false;
    return CORE_OK;
}

core_status sim_world_rebuild(sim_world *world, core_error *err) {
    sim_world *w = world;
    CORE_TRY(sim_broad_find(&w->broad, w->n, w->x, w->type, w->role, w->radius, &w->found, err));
    CORE_TRY(reserve_list(w, w->found.n, err)); // all that can fail comes first
    CORE_TRY(sim_walls_find(w, err));
    CORE_TRY(sim_world_adopt(w, err));
    if (w->n > 0) memcpy(w->x_built, w->x, 2 * (size_t)w->n * sizeof *w->x);
    w->way_built = w->way;
    return CORE_OK;
}
