/// Neural back end of the narrow phase: contact maps of a bundle, scaled to metres. A pair in the order that is not
/// stored is answered through the swap of the stored one. README.md, section 3.
#include "sim_private.h"

#include <math.h>

// Map of an ordered pair of types.
typedef struct neural_pair {
    const cspace_map *map;
    bool swapped; // the map is of (B, A)
    double scale; // m, max(R_A, R_B)
} neural_pair;

// One worker's room.
typedef struct neural_scratch {
    cspace_map_scratch *map;
    cspace_pose pose[SIM_PAIR_BLOCK];
    cspace_contact contact[SIM_PAIR_BLOCK];
    double d[SIM_PAIR_BLOCK];
} neural_scratch;

typedef struct neural {
    int count_types, workers;
    neural_pair *pair;       // (count_types^2), ordered
    neural_scratch *scratch; // (workers)
    double *margin, *band;   // (count_types^2) m
} neural;

// Error of a map's distances that is reckoned with at least, and where its training ends, units of L. Without a margin
// a dense pile missed 96 contacts in two million skips, with .03 none.
static const double MARGIN_MIN = 0.03, BAND = 0.1;

// Poses as the map wants them.
static void scale_poses(const neural_pair *pair, const cspace_pose *poses, int n, neural_scratch *scratch) {
    const double scale = pair->scale;
    for (int i = 0; i < n; ++i) {
        const cspace_pose pose = {poses[i].theta, poses[i].x / scale, poses[i].y / scale};
        scratch->pose[i] = pair->swapped ? cspace_swap_pose(&pose) : pose;
    }
}

// Up to SIM_PAIR_BLOCK rows.
static void evaluate_rows(const neural_pair *pair, const cspace_pose *poses, int n, int k_max, int *count,
                          sim_contact *contacts, neural_scratch *scratch) {
    const double scale = pair->scale;
    scale_poses(pair, poses, n, scratch);
    cspace_map_evaluate(pair->map, scratch->pose, n, 0, scratch->contact, scratch->map);
    for (int i = 0; i < n; ++i) {
        cspace_contact *c = &scratch->contact[i];
        if (pair->swapped) {
            const cspace_pose pose = {poses[i].theta, poses[i].x / scale, poses[i].y / scale};
            cspace_swap_return(&pose, c);
        }
        count[i] = 1;
        contacts[(size_t)i * (size_t)k_max] = sim_contact_scaled(c, scale);
    }
}

static void neural_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                            sim_contact *contacts, int worker) {
    const neural *net = self;
    for (int first = 0; first < n; first += SIM_PAIR_BLOCK) {
        const int rows = n - first < SIM_PAIR_BLOCK ? n - first : SIM_PAIR_BLOCK;
        evaluate_rows(&net->pair[pair], poses + first, rows, k_max, count + first,
                      contacts + (size_t)first * (size_t)k_max, &net->scratch[worker]);
    }
}

static void neural_distance(const void *self, int pair, const cspace_pose *poses, int n, double *d, int worker) {
    const neural *net = self;
    neural_scratch *scratch = &net->scratch[worker];
    for (int first = 0; first < n; first += SIM_PAIR_BLOCK) {
        const int rows = n - first < SIM_PAIR_BLOCK ? n - first : SIM_PAIR_BLOCK;
        scale_poses(&net->pair[pair], poses + first, rows, scratch);
        cspace_map_distance(net->pair[pair].map, scratch->pose, rows, scratch->d, scratch->map);
        for (int i = 0; i < rows; ++i) d[first + i] = net->pair[pair].scale * scratch->d[i];
    }
}

static void neural_destroy(void *self) {
    neural *net = self;
    if (!net) return;
    for (int w = 0; net->scratch && w < net->workers; ++w) cspace_map_scratch_destroy(&net->scratch[w].map);
    core_free(net->scratch);
    core_free(net->pair);
    core_free(net->margin);
    core_free(net->band);
    core_free(net);
}

// Finds the map of types (a, b) and compares its shapes with the scene's by content.
static core_status find_map(const cspace_bundle *bundle, const sim_type_def *a, const sim_type_def *b, const char *hint,
                            neural_pair *pair, core_error *err) {
    core_error cause = {0};
    const core_status found = cspace_bundle_find(bundle, a->shape.name, b->shape.name, b->radius / a->radius,
                                                 &pair->map, &pair->swapped, &cause);
    CORE_CHECK(found == CORE_OK, found,
               "no map for types %s and %s (shapes %s and %s, R_B/R_A = %g): %s. Build it with: %s", a->name, b->name,
               a->shape.name, b->shape.name, b->radius / a->radius, cause.message, hint);
    const uint64_t hash_a = pair->swapped ? pair->map->hash_b : pair->map->hash_a;
    const uint64_t hash_b = pair->swapped ? pair->map->hash_a : pair->map->hash_b;
    const sim_type_def *changed = hash_a != a->shape.hash ? a : hash_b != b->shape.hash ? b : NULL;
    if (changed) {
        char scene[17], map[17];
        core_hash_text(changed->shape.hash, scene);
        core_hash_text(changed == a ? hash_a : hash_b, map);
        return CORE_FAIL(
            err, CORE_SHAPE,
            "shape %s of type %s: found outline %s, but the map %s-%s was built for outline %s. Rebuild it with: %s",
            changed->shape.name, changed->name, scene, a->shape.name, b->shape.name, map, hint);
    }
    pair->scale = fmax(a->radius, b->radius);
    return CORE_OK;
}

core_status sim_narrow_neural_hint(const cspace_bundle *bundle, int count_types, const sim_type_def *types, int workers,
                                   const char *hint, sim_narrow *narrow, core_error *err) {
    core_status status = CORE_OK;
    neural *net = NULL;
    CORE_CHECK_DONE(bundle && types && narrow && count_types >= 1 && workers >= 1, CORE_ARG,
                    "neural back end: found a null pointer, %d types or %d workers, expected at least 1 of each",
                    count_types, workers);
    CORE_NEW_DONE(net, 1);
    net->count_types = count_types;
    net->workers = workers;
    CORE_NEW_DONE(net->pair, (size_t)count_types * (size_t)count_types);
    CORE_NEW_DONE(net->margin, (size_t)count_types * (size_t)count_types);
    CORE_NEW_DONE(net->band, (size_t)count_types * (size_t)count_types);
    for (int a = 0; a < count_types; ++a) {
        for (int b = 0; b < count_types; ++b) {
            const int k = a * count_types + b;
            CORE_TRY_DONE(find_map(bundle, &types[a], &types[b], hint, &net->pair[k], err));
            const cspace_error_stats *error = &net->pair[k].map->error;
            net->margin[k] = net->pair[k].scale * (error->n > 0 ? fmax(MARGIN_MIN, error->d_max) : INFINITY);
            net->band[k] = net->pair[k].scale * BAND;
        }
    }
    CORE_NEW_DONE(net->scratch, (size_t)workers);
    for (int w = 0; w < workers; ++w)
        CORE_TRY_DONE(cspace_map_scratch_create(SIM_PAIR_BLOCK, &net->scratch[w].map, err));
    *narrow = (sim_narrow){.name = "neural",
                           .evaluate = neural_evaluate,
                           .distance = neural_distance,
                           .margin = net->margin,
                           .band = net->band,
                           .destroy = neural_destroy,
                           .self = net};
    net = NULL;
done:
    neural_destroy(net);
    return status;
}

core_status sim_narrow_neural(const cspace_bundle *bundle, int count_types, const sim_type_def *types, int workers,
                              sim_narrow *narrow, core_error *err) {
    return sim_narrow_neural_hint(bundle, count_types, types, workers, "mkmaps SCENE.yaml -o MAPS.h5", narrow, err);
}
