// Accuracy of a contact map on labelled poses. What each number means: cspace_error_stats; how it is taken:
// libcspace/README.md, "Maps".
#include "cspace.h"

#include <math.h>
#include <stdlib.h>

// Distances nearer to zero than this do not count as sign errors.
#define SIGN_DISTANCE 0.005
// Labels whose gradient all but vanishes (saturated overlap) have no normal to compare with.
#define NORMAL_MIN 0.05

// Errors of all rows, one array a quantity.
typedef struct errors {
    int64_t n, n_normal, n_sign, n_sign_wrong;
    double *distance, *normal, *arm; // (n), (n), (2 n)
    double slope_sum;
} errors;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return n > 0 ? sum / (double)n : 0.0;
}

// Nearest-rank quantile of sorted numbers.
static double quantile(const double *sorted, int64_t n, double q) {
    return n > 0 ? sorted[(int64_t)(q * (double)(n - 1) + 0.5)] : 0.0;
}

static void compare_row(const cspace_contact *label, const cspace_contact *found, errors *e) {
    const double error = fabs(found->d - label->d);
    if (fabs(label->d) > SIGN_DISTANCE) {
        e->n_sign++;
        if ((label->d < 0.0) != (found->d < 0.0)) e->n_sign_wrong++;
    }
    const double length = sqrt(label->g[0] * label->g[0] + label->g[1] * label->g[1]);
    const double length_found = sqrt(found->g[0] * found->g[0] + found->g[1] * found->g[1]);
    e->slope_sum += fabs(length_found - length);
    if (length > NORMAL_MIN && length_found > 0.0) {
        const double along = label->g[0] * found->g[0] + label->g[1] * found->g[1];
        const double across = label->g[0] * found->g[1] - label->g[1] * found->g[0];
        e->normal[e->n_normal++] = fabs(core_atan2(across, along)) * (180.0 / CORE_PI);
    }
    e->arm[2 * e->n] = fabs(found->r_a - label->r_a);
    e->arm[2 * e->n + 1] = fabs(found->r_b - label->r_b);
    e->distance[e->n++] = error;
}

static void summarise(errors *e, cspace_error_stats *stats) {
    qsort(e->distance, (size_t)e->n, sizeof *e->distance, compare);
    qsort(e->normal, (size_t)e->n_normal, sizeof *e->normal, compare);
    qsort(e->arm, 2 * (size_t)e->n, sizeof *e->arm, compare);
    *stats = (cspace_error_stats){
        .n = e->n,
        .d_mean = mean(e->distance, e->n),
        .d_p50 = quantile(e->distance, e->n, 0.5),
        .d_p99 = quantile(e->distance, e->n, 0.99),
        .d_max = e->distance[e->n - 1],
        .sign_errors = e->n_sign > 0 ? (double)e->n_sign_wrong / (double)e->n_sign : 0.0,
        .normal_mean = mean(e->normal, e->n_normal),
        .normal_p50 = quantile(e->normal, e->n_normal, 0.5),
        .normal_p90 = quantile(e->normal, e->n_normal, 0.9),
        .slope_mean = e->slope_sum / (double)e->n,
        .arm_mean = mean(e->arm, 2 * e->n),
        .arm_p50 = quantile(e->arm, 2 * e->n, 0.5),
        .arm_p99 = quantile(e->arm, 2 * e->n, 0.99),
    };
}

core_status cspace_map_measure(const cspace_map *map, const cspace_rows *rows, double band, cspace_error_stats *stats,
                               core_error *err) {
    CORE_CHECK(map && rows && stats, CORE_ARG, "cspace_map_measure: null argument");
    CORE_CHECK(map->kernel_distance && map->kernel_moment_arm, CORE_ARG, "map %s-%s is not prepared", map->a, map->b);
    core_status status = CORE_OK;
    cspace_map_scratch *scratch = NULL;
    errors e = {0};
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++) n += fabs(rows->distance[i]) < band ? 1 : 0;
    CORE_CHECK_DONE(n > 0, CORE_RANGE, "%s-%s: none of %lld held-out samples lies within %g of contact", map->a, map->b,
                    (long long)rows->n, band);
    CORE_TRY_DONE(cspace_map_scratch_create(1, &scratch, err));
    CORE_NEW_DONE(e.distance, (size_t)n);
    CORE_NEW_DONE(e.normal, (size_t)n);
    CORE_NEW_DONE(e.arm, 2 * (size_t)n);
    for (int64_t i = 0; i < rows->n; i++) {
        if (!(fabs(rows->distance[i]) < band)) continue;
        const double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
        const cspace_pose pose = {p[0], p[1], p[2]};
        const cspace_contact label = {rows->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
        cspace_contact found;
        cspace_map_evaluate(map, &pose, 1, INFINITY, &found, scratch);
        compare_row(&label, &found, &e);
    }
    summarise(&e, stats);
done:
    core_free(e.distance);
    core_free(e.normal);
    core_free(e.arm);
    cspace_map_scratch_destroy(&scratch);
    return status;
}
