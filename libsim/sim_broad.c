/// Broad phase: neighbour pairs of grains from uniform cells that are hashed into buckets.
/// The result does not depend on the hash: pairs come out in (i, j) order. README.md, section 5.
#include "sim_private.h"

#include <math.h>
#include <string.h>

core_status sim_broad_create(int capacity, double radius_max, double skin, const double period[2], sim_broad *broad,
                             core_error *err) {
    core_status status = CORE_OK;
    const double cell = 2 * radius_max + skin, length = period[1] - period[0];
    sim_broad made = {.capacity = capacity,
                      .count_buckets = 64,
                      .skin = skin,
                      .cell = cell,
                      .cell_x = cell,
                      .period = {period[0], period[1]}};
    if (length > 0) {
        // three cells, so that a cell and its neighbours are different cells and a pair has one image
        CORE_CHECK_DONE(length >= 3 * cell, CORE_RANGE,
                        "periodic x: found a width of %g m, expected at least %g m (three times the largest diameter "
                        "and the neighbour list's skin)",
                        length, 3 * cell);
        made.columns = (int64_t)fmin(floor(length / cell), 1e9);
        made.cell_x = length / (double)made.columns;
    }
    while (made.count_buckets < 2 * (int64_t)capacity && made.count_buckets < 1 << 28) made.count_buckets *= 2;
    CORE_NEW_DONE(made.start, (size_t)made.count_buckets + 1);
    CORE_NEW_DONE(made.item, (size_t)capacity);
    CORE_NEW_DONE(made.cx, (size_t)capacity);
    CORE_NEW_DONE(made.cy, (size_t)capacity);
    *broad = made;
    made = (sim_broad){0};
done:
    sim_broad_clear(&made);
    return status;
}

void sim_broad_clear(sim_broad *broad) {
    if (!broad) return;
    core_free(broad->start);
    core_free(broad->item);
    core_free(broad->cx);
    core_free(broad->cy);
    *broad = (sim_broad){0};
}

// Cell number of a coordinate. Far away everything shares the last cell: still right, only slow.
static int64_t cell_of(double x, double cell) {
    const double limit = 1e12, c = floor(x / cell);
    return (int64_t)(c < -limit ? -limit : c > limit ? limit : c);
}

static int bucket_of(const sim_broad *broad, int64_t cx, int64_t cy) {
    uint64_t h = (uint64_t)cx * 0x9e3779b97f4a7c15u + (uint64_t)cy * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 32;
    return (int)(h & (uint64_t)(broad->count_buckets - 1));
}

// Column in [0, columns) where x is periodic.
static int64_t wrap_column(const sim_broad *broad, int64_t cx) {
    if (broad->columns == 0) return cx;
    const int64_t rest = cx % broad->columns;
    return rest < 0 ? rest + broad->columns : rest;
}

static bool is_absent(const uint8_t *role, int i) {
    return role && role[i] == SIM_ROLE_ABSENT;
}

// Counting sort of the grains by bucket.
static void fill_buckets(sim_broad *broad, int n, const double *x, const uint8_t *role) {
    memset(broad->start, 0, ((size_t)broad->count_buckets + 1) * sizeof *broad->start);
    for (int i = 0; i < n; ++i) {
        if (is_absent(role, i)) continue;
        broad->cx[i] = wrap_column(broad, cell_of(x[2 * i] - broad->period[0], broad->cell_x));
        broad->cy[i] = cell_of(x[2 * i + 1], broad->cell);
        ++broad->start[bucket_of(broad, broad->cx[i], broad->cy[i]) + 1];
    }
    for (int b = 0; b < broad->count_buckets; ++b) broad->start[b + 1] += broad->start[b];
    // filling from the back leaves start[b + 1] at the first item of bucket b, which shifts back into place by one
    const int count = broad->start[broad->count_buckets];
    for (int i = n - 1; i >= 0; --i) {
        if (!is_absent(role, i)) broad->item[--broad->start[bucket_of(broad, broad->cx[i], broad->cy[i]) + 1]] = i;
    }
    memmove(broad->start, broad->start + 1, (size_t)broad->count_buckets * sizeof *broad->start);
    broad->start[broad->count_buckets] = count;
}

// Appends the pair (i, j), kept ascending in j among the pairs of i, which start at `first`.
static core_status append_pair(sim_found *found, int first, int i, int j, core_error *err) {
    if (found->n == found->capacity) {
        CORE_CHECK(found->capacity < INT32_MAX / 8, CORE_RANGE, "neighbour list: more than %d pairs", found->capacity);
        CORE_TRY(sim_found_reserve(found, found->capacity + found->capacity / 2 + 64, err));
    }
    int p = found->n++;
    for (; p > first && found->j[p - 1] > j; --p) found->j[p] = found->j[p - 1];
    found->j[p] = j;
    found->i[found->n - 1] = i;
    return CORE_OK;
}

// Pairs (i, j > i) with j in one cell.
static core_status search_cell(const sim_broad *broad, const double *x, const int *type, const uint8_t *role,
                               const double *radius, int i, int64_t cx, int64_t cy, int first, sim_found *found,
                               core_error *err) {
    const double length = broad->period[1] - broad->period[0];
    const int b = bucket_of(broad, cx, cy);
    for (int s = broad->start[b]; s < broad->start[b + 1]; ++s) {
        const int j = broad->item[s];
        if (j <= i || broad->cx[j] != cx || broad->cy[j] != cy) continue;
        if (role && role[i] != SIM_ROLE_FREE && role[j] != SIM_ROLE_FREE) continue; // neither can give way
        double dx = x[2 * j] - x[2 * i];
        const double dy = x[2 * j + 1] - x[2 * i + 1];
        if (length > 0) dx -= length * floor(dx / length + 0.5);
        const double reach = radius[type[i]] + radius[type[j]] + broad->skin;
        if (dx * dx + dy * dy <= reach * reach) CORE_TRY(append_pair(found, first, i, j, err));
    }
    return CORE_OK;
}

core_status sim_broad_find(sim_broad *broad, int n, const double *x, const int *type, const uint8_t *role,
                           const double *radius, sim_found *found, core_error *err) {
    CORE_CHECK(n <= broad->capacity, CORE_RANGE, "broad phase: found %d grains, room for %d", n, broad->capacity);
    fill_buckets(broad, n, x, role);
    found->n = 0;
    for (int i = 0; i < n; ++i) {
        const int first = found->n;
        if (is_absent(role, i)) continue;
        for (int64_t oy = -1; oy <= 1; ++oy) {
            for (int64_t ox = -1; ox <= 1; ++ox)
                CORE_TRY(search_cell(broad, x, type, role, radius, i, wrap_column(broad, broad->cx[i] + ox),
                                     broad->cy[i] + oy, first, found, err));
        }
    }
    return CORE_OK;
}
