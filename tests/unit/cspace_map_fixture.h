/// Untrained maps and a temporary folder, for the tests of maps and bundles.
#ifndef CSPACE_MAP_FIXTURE_H
#define CSPACE_MAP_FIXTURE_H

#include "cspace_fixture.h"

#include <stdio.h>

/// A map with random weights: every identity that does not come from training has to hold for it. arm_normal: its
/// moment-arm net sees the normal, its distance net is the smallest of four QReLU heads.
static inline core_status random_map_of(const sdf_shape *a, const sdf_shape *b, double ratio, bool fold,
                                        cspace_encoding encoding, bool arm_normal, uint64_t seed, cspace_map *map,
                                        core_error *err) {
    core_random r;
    core_random_init(&r, seed, 0);
    *map = (cspace_map){.ratio = ratio,
                        .hash_a = a->hash,
                        .hash_b = b->hash,
                        .encoding = encoding,
                        .arm_normal = arm_normal,
                        .input_hash = seed};
    snprintf(map->a, sizeof map->a, "%s", a->name);
    snprintf(map->b, sizeof map->b, "%s", b->name);
    snprintf(map->labels, sizeof map->labels, "minimiser");
    snprintf(map->recipe, sizeof map->recipe, "default");
    map->scale_a = ratio <= 1.0 ? 1.0 : 1.0 / ratio;
    map->scale_b = ratio <= 1.0 ? ratio : 1.0;
    map->fold = cspace_fold_make(a, b, ratio, fold);
    const int inputs = cspace_encoding_inputs(encoding, &map->fold);
    nn_model_def distance = nn_model_default_def(inputs, 32, 3);
    if (arm_normal) distance.activation = NN_QRELU, distance.heads = 4;
    const nn_model_def arm = nn_model_default_def(inputs + (arm_normal ? CSPACE_NORMAL_INPUTS : 0), 32, 3);
    CORE_TRY(nn_model_create(&distance, &map->distance, err));
    CORE_TRY(nn_model_create(&arm, &map->moment_arm, err));
    nn_model_randomise(&map->distance, &r);
    nn_model_randomise(&map->moment_arm, &r);
    return cspace_map_prepare(map, NN_ISA_BEST, err);
}

/// The same, moment arms from the pose alone.
static inline core_status random_map(const sdf_shape *a, const sdf_shape *b, double ratio, bool fold,
                                     cspace_encoding encoding, uint64_t seed, cspace_map *map, core_error *err) {
    return random_map_of(a, b, ratio, fold, encoding, false, seed, map, err);
}

#endif
