// Bundles of contact maps in memory: maps in canonical order with the shapes they are about. Files:
// cspace_bundle_file.c.
#include "cspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Two ratios nearer than this are the same.
#define RATIO_TOLERANCE 1e-6

static bool is_ratio(double a, double b) {
    return fabs(a - b) <= RATIO_TOLERANCE * b;
}

bool cspace_pair_is_swapped(const char *a, const char *b, double ratio) {
    const int order = strcmp(a, b);
    return order > 0 || (order == 0 && ratio > 1.0);
}

void cspace_bundle_clear(cspace_bundle *bundle) {
    if (!bundle) return;
    for (int i = 0; i < bundle->count_maps; i++) cspace_map_clear(&bundle->maps[i]);
    for (int i = 0; i < bundle->count_shapes; i++) sdf_shape_clear(&bundle->shapes[i]);
    core_free(bundle->maps);
    core_free(bundle->shapes);
    memset(bundle, 0, sizeof *bundle);
}

const sdf_shape *cspace_bundle_shape(const cspace_bundle *bundle, const char *name) {
    for (int i = 0; i < bundle->count_shapes; i++)
        if (strcmp(bundle->shapes[i].name, name) == 0) return &bundle->shapes[i];
    return NULL;
}

// Order of the file: by names, then ratio.
static int compare_maps(const cspace_map *x, const cspace_map *y) {
    int order = strcmp(x->a, y->a);
    if (order == 0) order = strcmp(x->b, y->b);
    if (order != 0) return order;
    return is_ratio(x->ratio, y->ratio) ? 0 : x->ratio < y->ratio ? -1 : 1;
}

static core_status check_shape(const cspace_bundle *bundle, const char *name, uint64_t hash, const sdf_shape *shape,
                               core_error *err) {
    char found[17], expected[17];
    core_hash_text(hash, expected);
    core_hash_text(shape->hash, found);
    CORE_CHECK(strcmp(shape->name, name) == 0 && shape->hash == hash, CORE_SHAPE,
               "the map is about shape %s (content hash %s), found shape %s (%s)", name, expected, shape->name, found);
    const sdf_shape *there = cspace_bundle_shape(bundle, name);
    core_hash_text(there ? there->hash : 0, expected);
    CORE_CHECK(!there || there->hash == hash, CORE_SHAPE,
               "two different shapes are called %s (content hashes %s and %s)", name, expected, found);
    return CORE_OK;
}

// Room for one more map and two more shapes.
static core_status reserve(cspace_bundle *bundle, core_error *err) {
    const size_t maps = (size_t)bundle->count_maps, shapes = (size_t)bundle->count_shapes;
    cspace_map *more_maps = core_realloc(bundle->maps, maps, maps + 1, sizeof *more_maps);
    CORE_CHECK(more_maps, CORE_MEMORY, "out of memory: bundle of %zu maps", maps + 1);
    bundle->maps = more_maps;
    sdf_shape *more_shapes = core_realloc(bundle->shapes, shapes, shapes + 2, sizeof *more_shapes);
    CORE_CHECK(more_shapes, CORE_MEMORY, "out of memory: bundle of %zu shapes", shapes + 2);
    bundle->shapes = more_shapes;
    return CORE_OK;
}

core_status cspace_bundle_add(cspace_bundle *bundle, cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                              core_error *err) {
    CORE_CHECK(bundle && map && a && b, CORE_ARG, "cspace_bundle_add: null argument");
    CORE_CHECK(!cspace_pair_is_swapped(map->a, map->b, map->ratio), CORE_ARG,
               "bundle: pair %s-%s of ratio %g is not in stored order", map->a, map->b, map->ratio);
    CORE_TRY(check_shape(bundle, map->a, map->hash_a, a, err));
    CORE_TRY(check_shape(bundle, map->b, map->hash_b, b, err));
    CORE_TRY(reserve(bundle, err));
    const int count_shapes = bundle->count_shapes;
    const sdf_shape *pair[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (cspace_bundle_shape(bundle, pair[k]->name)) continue;
        const core_status status = sdf_shape_copy(pair[k], &bundle->shapes[bundle->count_shapes], err);
        if (status != CORE_OK) {
            while (bundle->count_shapes > count_shapes) sdf_shape_clear(&bundle->shapes[--bundle->count_shapes]);
            return status;
        }
        bundle->count_shapes++;
    }
    int i = 0;
    while (i < bundle->count_maps && compare_maps(&bundle->maps[i], map) < 0) i++;
    if (i < bundle->count_maps && compare_maps(&bundle->maps[i], map) == 0) {
        cspace_map_clear(&bundle->maps[i]);
    } else {
        memmove(&bundle->maps[i + 1], &bundle->maps[i], (size_t)(bundle->count_maps - i) * sizeof *bundle->maps);
        bundle->count_maps++;
    }
    bundle->maps[i] = *map;
    memset(map, 0, sizeof *map);
    return CORE_OK;
}

// "hash-hash, hash-U (ratio 0.5)", cut where the text is full.
static void list_maps(const cspace_bundle *bundle, char *text, size_t n_bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < bundle->count_maps && used + 1 < n_bytes; i++) {
        const cspace_map *m = &bundle->maps[i];
        const int n =
            snprintf(text + used, n_bytes - used, "%s%s-%s of ratio %.6g", i > 0 ? ", " : "", m->a, m->b, m->ratio);
        if (n < 0) return;
        used += (size_t)n;
    }
    if (bundle->count_maps == 0) snprintf(text, n_bytes, "nothing");
}

core_status cspace_bundle_find(const cspace_bundle *bundle, const char *a, const char *b, double ratio,
                               const cspace_map **map, bool *swapped, core_error *err) {
    CORE_CHECK(bundle && a && b && map && swapped, CORE_ARG, "cspace_bundle_find: null argument");
    const bool exchange = cspace_pair_is_swapped(a, b, isnan(ratio) ? 1.0 : ratio);
    const char *first = exchange ? b : a, *second = exchange ? a : b;
    const double wanted = exchange ? 1.0 / ratio : ratio;
    const cspace_map *found = NULL;
    int count = 0;
    for (int i = 0; i < bundle->count_maps; i++) {
        const cspace_map *m = &bundle->maps[i];
        if (strcmp(m->a, first) != 0 || strcmp(m->b, second) != 0) continue;
        if (!isnan(ratio) && !is_ratio(m->ratio, wanted)) continue;
        found = m;
        count++;
    }
    if (count != 1) {
        char list[512], size[48] = "";
        list_maps(bundle, list, sizeof list);
        if (!isnan(ratio)) snprintf(size, sizeof size, " with R_B/R_A = %.9g", ratio);
        return CORE_FAIL(err, CORE_ARG, "%s map of %s and %s%s%s; there is: %s", count == 0 ? "no" : "more than one", a,
                         b, size, count > 1 ? " (a ratio is needed)" : "", list);
    }
    *map = found;
    *swapped = exchange;
    return CORE_OK;
}
