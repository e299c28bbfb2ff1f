// Jumps of a map over the seams of its fold. Walks start at poses near contact and go along their surface of constant
// distance; where the image the fold takes changes, the face is found by bisection and the map is asked on both sides.
// Knows of the fold only what it did to a pose, so it works for every kind of seam: libcspace/README.md, "The error
// statement".
#include "cspace_error.h"

#include <math.h>
#include <stdlib.h>

#define WALKS_MAX 10000
#define WALKS_PER_POSE 4 // at most
#define CROSSINGS 2      // of a walk: round shapes of many cells would give hundreds
#define STEPS 25         // of a walk
#define STEP_LENGTH 0.02 // in (theta, x, y), rad and units of L
#define SIDES_APART 1e-9 // distance of the two sides, units of the path
#define KINK_REACH 1e-4  // exact normals are compared across this: outlines are symmetric to 1e-5 only
#define SEED 0x5ea3      // of the walks

// Which copy of the fold's domain a pose lies in (cspace_map_branch), and how often theta has passed +-pi.
typedef struct image {
    int branch;
    double turns;
} image;

// One crossing of a seam.
typedef struct jump {
    int band;
    cspace_seam seam;
    double d, normal;
} jump;

typedef struct walker {
    const cspace_map *map;
    const cspace_exact *exact;
    cspace_map_scratch *scratch;
    cspace_exact_scratch *exact_scratch;
    jump *jumps;
    int64_t n, capacity;
} walker;

static cspace_pose along(const cspace_pose *start, const double direction[3], double at) {
    return (cspace_pose){start->theta + at * direction[0], start->x + at * direction[1], start->y + at * direction[2]};
}

static image image_of(const cspace_map *map, const cspace_pose *pose) {
    return (image){cspace_map_branch(map, pose), floor((pose->theta + CORE_PI) / (2.0 * CORE_PI))};
}

static bool same_image(const image *p, const image *q) {
    return p->branch == q->branch && p->turns == q->turns;
}

// By the bits of cspace_fold_branch. A turn may bring a mirror or an exchange with it, an exchange a mirror.
static cspace_seam seam_between(const image *p, const image *q) {
    const int changed = p->branch ^ q->branch;
    if (changed & 0xff) return CSPACE_SEAM_ROTATION_A;
    if (changed & 0xff00) return CSPACE_SEAM_ROTATION_B;
    if (changed & 1 << 17) return CSPACE_SEAM_SWAP;
    return changed & 1 << 16 ? CSPACE_SEAM_MIRROR : CSPACE_SEAM_PI;
}

// How far the exact normal turns at a pose of the path; 0 where it is not known.
static double exact_turn(const walker *w, const cspace_pose *start, const double direction[3], double at) {
    const double reach = cspace_band_edges[CSPACE_BANDS] + 2.0 * KINK_REACH;
    const cspace_pose before = along(start, direction, at - KINK_REACH),
                      after = along(start, direction, at + KINK_REACH);
    cspace_contact c[2];
    if (!w->exact || !cspace_exact_near(w->exact, &before, reach, &c[0], w->exact_scratch) ||
        !cspace_exact_near(w->exact, &after, reach, &c[1], w->exact_scratch))
        return 0.0;
    return cspace__angle(c[0].g, c[1].g);
}

// The seam between `lo` and `hi` of the path: band, kind, jumps. Poses beyond the bands are left out.
static core_status take_jump(walker *w, const cspace_pose *start, const double direction[3], double lo, double hi,
                             core_error *err) {
    cspace_pose p = along(start, direction, lo), q = along(start, direction, hi);
    const image from = image_of(w->map, &p);
    image to = image_of(w->map, &q);
    while (hi - lo > SIDES_APART) {
        const double at = 0.5 * (lo + hi);
        const cspace_pose middle = along(start, direction, at);
        const image here = image_of(w->map, &middle);
        if (same_image(&from, &here)) {
            lo = at, p = middle;
        } else {
            hi = at, q = middle, to = here;
        }
    }
    cspace_contact c[2], exact;
    cspace_map_evaluate(w->map, &p, 1, -INFINITY, &c[0], w->scratch);
    cspace_map_evaluate(w->map, &q, 1, -INFINITY, &c[1], w->scratch);
    if (w->exact && !cspace_exact_near(w->exact, &p, cspace_band_edges[CSPACE_BANDS], &exact, w->exact_scratch))
        return CORE_OK;
    const int band = cspace__band(w->exact ? exact.d : c[0].d);
    if (band < 0) return CORE_OK;
    if (w->n == w->capacity) {
        const int64_t capacity = w->capacity > 0 ? 2 * w->capacity : 1024;
        jump *more = core_realloc(w->jumps, (size_t)w->n, (size_t)capacity, sizeof *more);
        CORE_CHECK(more, CORE_MEMORY, "out of memory: %lld crossings of seams", (long long)capacity);
        w->jumps = more, w->capacity = capacity;
    }
    const double turn = cspace__angle(c[0].g, c[1].g);
    const double beyond =
        core_wrap_angle((turn - exact_turn(w, start, direction, lo)) * (CORE_PI / 180.0)) * (180.0 / CORE_PI);
    w->jumps[w->n++] = (jump){band, seam_between(&from, &to), fabs(c[1].d - c[0].d), fmin(fabs(turn), fabs(beyond))};
    return CORE_OK;
}

// A random direction of constant distance, to first order by the map's own gradient.
static void choose_direction(core_random *random, const cspace_contact *contact, double direction[3]) {
    const double slope[3] = {contact->d_theta, contact->g[0], contact->g[1]};
    const double length2 = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
    double along_slope = 0.0, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        direction[k] = core_random_normal(random);
        along_slope += direction[k] * slope[k];
    }
    for (int k = 0; k < 3; k++) {
        if (length2 > 0.0) direction[k] -= along_slope / length2 * slope[k];
        sum += direction[k] * direction[k];
    }
    for (int k = 0; k < 3; k++) direction[k] /= sqrt(sum);
}

static core_status walk(walker *w, const cspace_pose *start, const double direction[3], core_error *err) {
    image from = image_of(w->map, start);
    int crossings = 0;
    for (int i = 1; i <= STEPS && crossings < CROSSINGS; i++) {
        const cspace_pose pose = along(start, direction, i * STEP_LENGTH);
        const image here = image_of(w->map, &pose);
        if (!same_image(&from, &here)) {
            CORE_TRY(take_jump(w, start, direction, (i - 1) * STEP_LENGTH, i * STEP_LENGTH, err));
            crossings++;
        }
        from = here;
    }
    return CORE_OK;
}

// Statistics of the jumps of one band (CSPACE_BANDS: all) and one kind of seam (CSPACE_SEAM_COUNT: all).
static void summarise(const walker *w, int band, int seam, double *d, double *normal, cspace_jump_stats *stats) {
    int64_t n = 0;
    for (int64_t i = 0; i < w->n; i++) {
        const jump *j = &w->jumps[i];
        if ((band != CSPACE_BANDS && j->band != band) || (seam != CSPACE_SEAM_COUNT && (int)j->seam != seam)) continue;
        d[n] = j->d, normal[n++] = j->normal;
    }
    *stats = (cspace_jump_stats){.n = n};
    if (n == 0) return;
    qsort(d, (size_t)n, sizeof *d, cspace__ascending);
    qsort(normal, (size_t)n, sizeof *normal, cspace__ascending);
    stats->d_mean = cspace__mean(d, n), stats->normal_mean = cspace__mean(normal, n);
    stats->d_p99 = cspace__quantile(d, n, 0.99), stats->normal_p99 = cspace__quantile(normal, n, 0.99);
    stats->d_max = d[n - 1], stats->normal_max = normal[n - 1];
}

core_status cspace__seams_measure(const cspace_map *map, const cspace_exact *exact, int64_t n, const cspace_pose *poses,
                                  const cspace_contact *contacts, cspace_statement *statement, core_error *err) {
    core_status status = CORE_OK;
    walker w = {.map = map, .exact = exact};
    double *d = NULL, *normal = NULL;
    core_random random;
    core_random_init(&random, SEED, 0);
    CORE_TRY_DONE(cspace_map_scratch_create(1, &w.scratch, err));
    if (exact) CORE_TRY_DONE(cspace_exact_scratch_create(exact, &w.exact_scratch, err));
    const int64_t walks = n < WALKS_MAX / WALKS_PER_POSE ? n * WALKS_PER_POSE : WALKS_MAX;
    for (int64_t i = 0; i < walks; i++) {
        double direction[3];
        choose_direction(&random, &contacts[i % n], direction);
        CORE_TRY_DONE(walk(&w, &poses[i % n], direction, err));
    }
    CORE_NEW_DONE(d, (size_t)w.n);
    CORE_NEW_DONE(normal, (size_t)w.n);
    for (int k = 0; k <= CSPACE_BANDS; k++) summarise(&w, k, CSPACE_SEAM_COUNT, d, normal, &statement->jump[k]);
    for (int k = 0; k < CSPACE_SEAM_COUNT; k++) summarise(&w, CSPACE_BANDS, k, d, normal, &statement->seam[k]);
done:
    core_free(d);
    core_free(normal);
    core_free(w.jumps);
    cspace_map_scratch_destroy(&w.scratch);
    cspace_exact_scratch_destroy(&w.exact_scratch);
    return status;
}
