/// Exact back end of the narrow phase, for polygons: the true distance, in overlap the depth of the configuration
/// obstacle, smoothed over a small kernel. Needs neither grids nor training: the reference for both. README.md,
/// section 3.
#include "sim_private.h"

#include <math.h>

// Grains farther apart than this, units of L, are not looked at more closely.
static const double FAR = 0.1;
// By how many smoothing widths the smoothed distance may fall below the plain one: the poses of the kernel lie
// sqrt(3) widths away and no lever arm exceeds L.
static const double REACH = 1.8;
// What rounding may add to a distance, units of L.
static const double ROUNDING = 1e-9;

// The distance itself is 1-Lipschitz in the position and changes by no more than the circumradius per radian, so a pair
// found apart stays so until its grains can have come closer by that. A smoothed one differs from it by REACH widths at
// most, on either side.

typedef struct exact {
    int count_types, workers;
    double smoothing;
    double *scale;                  // (count_types^2) m
    double *margin, *band;          // (count_types^2) m
    cspace_exact **pair;            // (count_types^2), ordered
    cspace_exact_scratch **scratch; // (workers x count_types^2)
} exact;

// Moment arms of an answer from their mean, by the identity r_A - r_B = t.n; n = g/|g|.
static void set_arms(const cspace_pose *pose, double mean, cspace_contact *c) {
    const double slope = sqrt(c->g[0] * c->g[0] + c->g[1] * c->g[1]);
    const double apart = slope > 0 ? (pose->x * c->g[0] + pose->y * c->g[1]) / slope : 0;
    c->r_a = mean + 0.5 * apart;
    c->r_b = mean - 0.5 * apart;
}

// Mean of d and of the arms over six poses, gradient by central differences over the same.
static void smooth(const cspace_exact *pair, double sigma, const cspace_pose *pose, cspace_contact *c,
                   cspace_exact_scratch *scratch) {
    const double h = sqrt(3.0) * sigma;
    double sum = 0, arms = 0, rate[3];
    for (int axis = 0; axis < 3; ++axis) {
        cspace_contact side[2];
        for (int k = 0; k < 2; ++k) {
            const double by = k == 0 ? -h : h;
            cspace_pose q = *pose;
            if (axis == 0) q.theta += by; // L theta in units of L
            if (axis == 1) q.x += by;
            if (axis == 2) q.y += by;
            cspace_exact_contact(pair, &q, &side[k], scratch);
            sum += side[k].d;
            arms += 0.5 * (side[k].r_a + side[k].r_b);
        }
        rate[axis] = (side[1].d - side[0].d) / (2 * h);
    }
    *c = (cspace_contact){.d = sum / 6, .d_theta = rate[0], .g = {rate[1], rate[2]}};
    set_arms(pose, arms / 6, c);
}

// One pose, units of L.
static void evaluate_pose(const cspace_exact *pair, double sigma, const cspace_pose *pose, cspace_contact *c,
                          cspace_exact_scratch *scratch) {
    // a pose that is not finite is not near either: its NaN must reach the contact law and the blow-up check
    const bool finite = isfinite(pose->theta) && isfinite(pose->x) && isfinite(pose->y);
    const double far = fmax(FAR, 2 * REACH * sigma);
    if (!cspace_exact_reaches(pair, pose, far, c, scratch)) {
        if (finite) *c = (cspace_contact){.d = far - REACH * sigma};
        return;
    }
    if (!(sigma > 0)) return;
    if (c->d > REACH * sigma) {
        *c = (cspace_contact){.d = c->d - REACH * sigma};
    } else {
        smooth(pair, sigma, pose, c, scratch);
    }
}

static void exact_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                           sim_contact *contacts, int worker) {
    const exact *e = self;
    const size_t kinds = (size_t)e->count_types * (size_t)e->count_types;
    cspace_exact_scratch *scratch = e->scratch[(size_t)worker * kinds + (size_t)pair];
    const double scale = e->scale[pair];
    for (int i = 0; i < n; ++i) {
        const cspace_pose pose = {poses[i].theta, poses[i].x / scale, poses[i].y / scale};
        cspace_contact c;
        evaluate_pose(e->pair[pair], e->smoothing, &pose, &c, scratch);
        count[i] = 1;
        contacts[(size_t)i * (size_t)k_max] = sim_contact_scaled(&c, scale);
    }
}

static void exact_destroy(void *self) {
    exact *e = self;
    if (!e) return;
    const size_t kinds = (size_t)e->count_types * (size_t)e->count_types;
    for (size_t i = 0; e->scratch && i < (size_t)e->workers * kinds; ++i) cspace_exact_scratch_destroy(&e->scratch[i]);
    for (size_t i = 0; e->pair && i < kinds; ++i) cspace_exact_destroy(&e->pair[i]);
    core_free(e->scratch);
    core_free(e->pair);
    core_free(e->scale);
    core_free(e->margin);
    core_free(e->band);
    core_free(e);
}

core_status sim_narrow_exact(int count_types, const sim_type_def *types, double smoothing, int workers,
                             sim_narrow *narrow, core_error *err) {
    core_status status = CORE_OK;
    exact *e = NULL;
    CORE_CHECK_DONE(types && narrow && count_types >= 1 && workers >= 1, CORE_ARG,
                    "exact back end: found a null pointer, %d types or %d workers, expected at least 1 of each",
                    count_types, workers);
    CORE_CHECK_DONE(smoothing >= 0 && smoothing <= 0.1, CORE_RANGE, "smoothing: found %g, expected 0 .. 0.1",
                    smoothing);
    CORE_NEW_DONE(e, 1);
    *e = (exact){.count_types = count_types, .workers = workers, .smoothing = smoothing};
    const size_t kinds = (size_t)count_types * (size_t)count_types;
    CORE_NEW_DONE(e->scale, kinds);
    CORE_NEW_DONE(e->margin, kinds);
    CORE_NEW_DONE(e->band, kinds);
    CORE_NEW_DONE(e->pair, kinds);
    CORE_NEW_DONE(e->scratch, (size_t)workers * kinds);
    for (size_t i = 0; i < kinds; ++i) {
        const sim_type_def *a = &types[i / (size_t)count_types], *b = &types[i % (size_t)count_types];
        const double larger = fmax(a->radius, b->radius);
        const cspace_pair pair = {.a = &a->shape,
                                  .b = &b->shape,
                                  .ratio = b->radius / a->radius,
                                  .scale_a = a->radius / larger,
                                  .scale_b = b->radius / larger};
        e->scale[i] = larger;
        e->margin[i] = larger * (2 * REACH * smoothing + ROUNDING);
        e->band[i] = INFINITY;
        CORE_TRY_DONE(cspace_exact_create(&pair, &e->pair[i], err));
        for (size_t w = 0; w < (size_t)workers; ++w)
            CORE_TRY_DONE(cspace_exact_scratch_create(e->pair[i], &e->scratch[w * kinds + i], err));
    }
    *narrow = (sim_narrow){.name = "exact",
                           .evaluate = exact_evaluate,
                           .margin = e->margin,
                           .band = e->band,
                           .destroy = exact_destroy,
                           .self = e};
    e = NULL;
done:
    exact_destroy(e);
    return status;
}
