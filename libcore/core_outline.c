/// Outlines: closed rings of points in two arrays (core.h).
#include "core.h"

#include <limits.h>
#include <string.h>

#define OUTLINE_MIN_POINTS 3

int core_outline_count(const core_outline *o) {
    return o && o->count_rings > 0 ? o->ring_start[o->count_rings] : 0;
}

core_status core_outline_create(int count_rings, const int *ring_counts, core_outline *o, core_error *err) {
    core_status status = CORE_OK;
    core_outline made = {0};
    CORE_CHECK(o && ring_counts, CORE_ARG, "outline: null pointer");
    CORE_CHECK(count_rings >= 1 && count_rings < INT_MAX, CORE_ARG, "outline: found %d rings, expected at least 1",
               count_rings);
    int points = 0;
    for (int i = 0; i < count_rings; i++) {
        CORE_CHECK(ring_counts[i] >= OUTLINE_MIN_POINTS, CORE_ARG,
                   "outline: ring %d has %d points, expected at least %d", i, ring_counts[i], OUTLINE_MIN_POINTS);
        CORE_CHECK(ring_counts[i] <= INT_MAX / 2 - points, CORE_ARG, "outline: more than %d points", INT_MAX / 2);
        points += ring_counts[i];
    }
    CORE_NEW_DONE(made.ring_start, (size_t)count_rings + 1);
    CORE_NEW_DONE(made.xy, (size_t)points * 2);
    made.count_rings = count_rings;
    for (int i = 0; i < count_rings; i++) made.ring_start[i + 1] = made.ring_start[i] + ring_counts[i];
    *o = made;
    made = (core_outline){0};
done:
    core_outline_clear(&made);
    return status;
}

core_status core_outline_copy(const core_outline *from, core_outline *to, core_error *err) {
    core_status status = CORE_OK;
    core_outline made = {0};
    CORE_CHECK(from && to, CORE_ARG, "outline: null pointer");
    if (from->count_rings > 0) {
        size_t points = (size_t)core_outline_count(from);
        CORE_NEW_DONE(made.ring_start, (size_t)from->count_rings + 1);
        CORE_NEW_DONE(made.xy, points * 2);
        made.count_rings = from->count_rings;
        memcpy(made.ring_start, from->ring_start, ((size_t)from->count_rings + 1) * sizeof *made.ring_start);
        memcpy(made.xy, from->xy, points * 2 * sizeof *made.xy);
    }
    *to = made;
    made = (core_outline){0};
done:
    core_outline_clear(&made);
    return status;
}

void core_outline_clear(core_outline *o) {
    if (!o) return;
    core_free(o->ring_start);
    core_free(o->xy);
    *o = (core_outline){0};
}

uint64_t core_outline_hash(const core_outline *o) {
    int64_t rings = o ? o->count_rings : 0;
    uint64_t hash = core_hash_bytes(0, &rings, sizeof rings);
    if (rings <= 0) return hash;
    hash = core_hash_bytes(hash, o->ring_start, ((size_t)rings + 1) * sizeof *o->ring_start);
    return core_hash_bytes(hash, o->xy, (size_t)core_outline_count(o) * 2 * sizeof *o->xy);
}
