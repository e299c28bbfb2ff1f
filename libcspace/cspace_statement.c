// The error statement of a map: map, labels and exact geometry against each other, by distance from contact. What is
// measured and why: libcspace/README.md, "The error statement".
#include "cspace_error.h"

#include <math.h>

const double cspace_band_edges[CSPACE_BANDS + 1] = {-0.1, -0.03, -0.01, 0.0, 0.01, 0.03, 0.1};
const double cspace_depths[CSPACE_DEPTHS] = {0.005, 0.01, 0.02, 0.05};
const char *const cspace_seam_names[CSPACE_SEAM_COUNT] = {
    [CSPACE_SEAM_PI] = "theta = +-pi",          [CSPACE_SEAM_ROTATION_A] = "rotation of a",
    [CSPACE_SEAM_ROTATION_B] = "rotation of b", [CSPACE_SEAM_MIRROR] = "mirror",
    [CSPACE_SEAM_SWAP] = "exchange of a and b",
};

int cspace__band(double d) {
    if (!(d >= cspace_band_edges[0] && d < cspace_band_edges[CSPACE_BANDS])) return -1;
    int k = 0;
    while (d >= cspace_band_edges[k + 1]) k++;
    return k;
}

// Rows near contact with everybody's answer. Owns its arrays.
typedef struct answers {
    int64_t n;
    cspace_pose *pose;
    cspace_contact *label, *exact, *map, *swap; // (n); exact, swap: NULL if there is none
    int *band;                                  // (n) by the exact distance, -1: beyond the bands
} answers;

static void answers_clear(answers *t) {
    core_free(t->pose);
    core_free(t->label);
    core_free(t->exact);
    core_free(t->map);
    core_free(t->swap);
    core_free(t->band);
    *t = (answers){0};
}

static cspace_pose row_pose(const cspace_rows *rows, int64_t i) {
    return (cspace_pose){rows->pose[3 * i], rows->pose[3 * i + 1], rows->pose[3 * i + 2]};
}

static bool is_near(double d) {
    return fabs(d) <= cspace_band_edges[CSPACE_BANDS];
}

static core_status answers_create(const cspace_rows *rows, bool exact, bool swap, answers *out, core_error *err) {
    core_status status = CORE_OK;
    answers t = {0};
    for (int64_t i = 0; i < rows->n; i++) t.n += is_near(rows->distance[i]) ? 1 : 0;
    const size_t n = (size_t)t.n;
    CORE_CHECK(n > 0, CORE_RANGE, "error statement: none of %lld held-out poses lies within %g of contact",
               (long long)rows->n, cspace_band_edges[CSPACE_BANDS]);
    CORE_NEW_DONE(t.pose, n);
    CORE_NEW_DONE(t.label, n);
    CORE_NEW_DONE(t.map, n);
    CORE_NEW_DONE(t.band, n);
    if (exact) CORE_NEW_DONE(t.exact, n);
    if (swap) CORE_NEW_DONE(t.swap, n);
    int64_t k = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        if (!is_near(rows->distance[i])) continue;
        const double *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
        t.pose[k] = row_pose(rows, i);
        t.label[k++] = (cspace_contact){rows->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
    }
    *out = t;
    return CORE_OK;
done:
    answers_clear(&t);
    return status;
}

// Asks the map, its swap image and the outlines. Each pose for itself: a row depends on its pose alone.
static void answers_ask(const cspace_map *map, const cspace_exact *exact, answers *t, cspace_map_scratch *scratch,
                        cspace_exact_scratch *exact_scratch) {
    const double reach = cspace_band_edges[CSPACE_BANDS];
    for (int64_t i = 0; i < t->n; i++) {
        const cspace_pose *pose = &t->pose[i];
        cspace_map_evaluate(map, pose, 1, INFINITY, &t->map[i], scratch);
        if (t->swap) {
            const cspace_pose other = cspace_swap_pose(pose);
            cspace_map_evaluate(map, &other, 1, INFINITY, &t->swap[i], scratch);
            cspace_swap_return(pose, &t->swap[i]);
        }
        // an exact depth beyond the bands is slow to find and not looked at
        const bool known = t->exact ? cspace_exact_near(exact, pose, reach, &t->exact[i], exact_scratch) : true;
        t->band[i] = known ? cspace__band(t->exact ? t->exact[i].d : t->label[i].d) : -1;
    }
}

// One table: rows of `right` against rows of `found`, band by band and together.
static void compare(const answers *t, const cspace_contact *right, const cspace_contact *found, cspace__errors *e,
                    cspace_error_stats table[CSPACE_BANDS + 1]) {
    for (int k = 0; k <= CSPACE_BANDS; k++) {
        cspace__errors_reset(e);
        for (int64_t i = 0; right && found && i < t->n; i++)
            if (t->band[i] >= 0 && (k == CSPACE_BANDS || t->band[i] == k)) cspace__errors_add(e, &right[i], &found[i]);
        cspace__errors_summarise(e, &table[k]);
    }
}

// Overlaps the map does not see, at any depth, deep ones included. Depths are the labels', which never exceed the true
// ones; the exact depth of a deep overlap takes too long.
static void count_missed(const cspace_map *map, const cspace_rows *rows, cspace_map_scratch *scratch,
                         cspace_statement *s) {
    for (int64_t i = 0; i < rows->n; i++) {
        const double depth = -rows->distance[i];
        if (!(depth > 0.0)) continue;
        const cspace_pose pose = row_pose(rows, i);
        cspace_contact found;
        cspace_map_evaluate(map, &pose, 1, -INFINITY, &found, scratch);
        const bool missed = !(found.d < 0.0);
        for (int k = 0; k < CSPACE_DEPTHS; k++) {
            if (!(depth > cspace_depths[k])) continue;
            s->overlaps[k]++;
            s->missed[k] += missed ? 1 : 0;
        }
        if (missed) s->missed_deepest = fmax(s->missed_deepest, depth);
    }
}

core_status cspace__exact_open(const cspace_map *map, const sdf_shape *a, const sdf_shape *b, cspace_exact **exact,
                               cspace_exact_scratch **scratch, core_error *err) {
    const cspace_pair pair = {
        .a = a, .b = b, .ratio = map->ratio, .scale_a = map->scale_a, .scale_b = map->scale_b}; // it needs no grids
    core_error refusal = {0};
    const core_status status = cspace_exact_create(&pair, exact, &refusal);
    if (status == CORE_SHAPE || status == CORE_RANGE) return CORE_OK;
    if (status != CORE_OK && err) *err = refusal;
    CORE_TRY(status);
    return cspace_exact_scratch_create(*exact, scratch, err);
}

core_status cspace_statement_measure(const cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                                     const cspace_rows *rows, cspace_statement *statement, core_error *err) {
    CORE_CHECK(map && a && b && rows && statement, CORE_ARG, "cspace_statement_measure: null argument");
    CORE_CHECK(map->kernel_distance && map->kernel_moment_arm, CORE_ARG, "map %s-%s is not prepared", map->a, map->b);
    core_status status = CORE_OK;
    cspace_exact *exact = NULL;
    cspace_exact_scratch *exact_scratch = NULL;
    cspace_map_scratch *scratch = NULL;
    answers t = {0};
    cspace__errors errors = {0};
    cspace_statement s = {0};
    CORE_TRY_DONE(cspace__exact_open(map, a, b, &exact, &exact_scratch, err));
    CORE_TRY_DONE(cspace_map_scratch_create(1, &scratch, err));
    const bool equal = map->hash_a == map->hash_b && map->ratio == 1.0;
    CORE_TRY_DONE(answers_create(rows, exact != NULL, equal, &t, err));
    CORE_TRY_DONE(cspace__errors_create(t.n, &errors, err));
    answers_ask(map, exact, &t, scratch, exact_scratch);
    s.poses = t.n;
    s.exact = exact != NULL;
    compare(&t, t.exact, t.map, &errors, s.map_exact);
    compare(&t, t.label, t.map, &errors, s.map_labels);
    compare(&t, t.exact, t.label, &errors, s.labels_exact);
    compare(&t, t.swap, t.map, &errors, s.swap);
    count_missed(map, rows, scratch, &s);
    CORE_TRY_DONE(cspace__seams_measure(map, exact, t.n, t.pose, t.map, &s, err));
    *statement = s;
done:
    answers_clear(&t);
    cspace__errors_clear(&errors);
    cspace_map_scratch_destroy(&scratch);
    cspace_exact_scratch_destroy(&exact_scratch);
    cspace_exact_destroy(&exact);
    return status;
}
