/// Untrained maps and a temporary folder, for the tests of maps and bundles.
#ifndef CSPACE_MAP_FIXTURE_H
#define CSPACE_MAP_FIXTURE_H

#include "cspace_fixture.h"

#include <stdio.h>

/// A map with random weights: every identity that does not come from training has to hold for it.
static inline core_status random_map(const sdf_shape *a, const sdf_shape *b, double ratio, bool fold,
                                     cspace_encoding encoding, uint64_t seed, cspace_map *map, core_error *err) {
    core_random r;
    core_random_init(&r, seed, 0);
    *map = (cspace_map){.ratio = ratio, .hash_a = a->hash, .hash_b = b->hash, .encoding = encoding, .input_hash = seed};
    snprintf(map->a, sizeof map->a, "%s", a->name);
    snprintf(map->b, sizeof map->b, "%s", b->name);
    snprintf(map->labels, sizeof map->labels, "minimiser");
    snprintf(map->recipe, sizeof map->recipe, "default");
    map->scale_a = ratio <= 1.0 ? 1.0 : 1.0 / ratio;
    map->scale_b = ratio <= 1.0 ? ratio : 1.0;
    map->fold = cspace_fold_make(a, b, fold);
    const nn_model_def def = nn_model_default_def(cspace_encoding_inputs(encoding), 32, 3);
    CORE_TRY(nn_model_create(&def, &map->distance, err));
    CORE_TRY(nn_model_create(&def, &map->moment_arm, err));
    nn_model_randomise(&map->distance, &r);
    nn_model_randomise(&map->moment_arm, &r);
    return cspace_map_prepare(map, NN_ISA_BEST, err);
}

#endif
