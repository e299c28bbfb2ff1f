// Accuracy of a contact map on labelled poses. What each number means: cspace_error_stats; how it is taken:
// libcspace/README.md, "Maps".
#include "cspace_error.h"

#include <math.h>
#include <stdlib.h>

// Distances nearer to zero than this do not count as sign errors.
#define SIGN_DISTANCE 0.005
// Labels whose gradient all but vanishes (saturated overlap) have no normal to compare with.
#define NORMAL_MIN 0.05

int cspace__ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double cspace__mean(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return n > 0 ? sum / (double)n : 0.0;
}

double cspace__quantile(const double *sorted, int64_t n, double q) {
    return n > 0 ? sorted[(int64_t)(q * (double)(n - 1) + 0.5)] : 0.0;
}

double cspace__angle(const double u[2], const double v[2]) {
    const double along = u[0] * v[0] + u[1] * v[1], across = u[0] * v[1] - u[1] * v[0];
    return core_atan2(across, along) * (180.0 / CORE_PI);
}

core_status cspace__errors_create(int64_t capacity, cspace__errors *errors, core_error *err) {
    core_status status = CORE_OK;
    cspace__errors e = {.capacity = capacity};
    CORE_NEW_DONE(e.distance, (size_t)capacity);
    CORE_NEW_DONE(e.normal, (size_t)capacity);
    CORE_NEW_DONE(e.arm, 2 * (size_t)capacity);
    *errors = e;
    return CORE_OK;
done:
    cspace__errors_clear(&e);
    return status;
}

void cspace__errors_clear(cspace__errors *errors) {
    core_free(errors->distance);
    core_free(errors->normal);
    core_free(errors->arm);
    *errors = (cspace__errors){0};
}

void cspace__errors_reset(cspace__errors *errors) {
    errors->n = errors->n_normal = errors->n_sign = errors->n_sign_wrong = 0;
    errors->bias_sum = errors->slope_sum = 0.0;
}

void cspace__errors_add(cspace__errors *errors, const cspace_contact *label, const cspace_contact *found) {
    cspace__errors *e = errors;
    if (fabs(label->d) > SIGN_DISTANCE) {
        e->n_sign++;
        if ((label->d < 0.0) != (found->d < 0.0)) e->n_sign_wrong++;
    }
    const double length = sqrt(label->g[0] * label->g[0] + label->g[1] * label->g[1]);
    const double length_found = sqrt(found->g[0] * found->g[0] + found->g[1] * found->g[1]);
    e->slope_sum += fabs(length_found - length);
    if (length > NORMAL_MIN && length_found > 0.0) e->normal[e->n_normal++] = fabs(cspace__angle(label->g, found->g));
    e->arm[2 * e->n] = fabs(found->r_a - label->r_a);
    e->arm[2 * e->n + 1] = fabs(found->r_b - label->r_b);
    e->bias_sum += found->d - label->d;
    e->distance[e->n++] = fabs(found->d - label->d);
}

void cspace__errors_summarise(cspace__errors *errors, cspace_error_stats *stats) {
    cspace__errors *e = errors;
    *stats = (cspace_error_stats){0};
    if (e->n == 0) return;
    qsort(e->distance, (size_t)e->n, sizeof *e->distance, cspace__ascending);
    qsort(e->normal, (size_t)e->n_normal, sizeof *e->normal, cspace__ascending);
    qsort(e->arm, 2 * (size_t)e->n, sizeof *e->arm, cspace__ascending);
    *stats = (cspace_error_stats){
        .n = e->n,
        .d_mean = cspace__mean(e->distance, e->n),
        .d_bias = e->bias_sum / (double)e->n,
        .d_p50 = cspace__quantile(e->distance, e->n, 0.5),
        .d_p99 = cspace__quantile(e->distance, e->n, 0.99),
        .d_max = e->distance[e->n - 1],
        .sign_errors = e->n_sign > 0 ? (double)e->n_sign_wrong / (double)e->n_sign : 0.0,
        .normal_mean = cspace__mean(e->normal, e->n_normal),
        .normal_p50 = cspace__quantile(e->normal, e->n_normal, 0.5),
        .normal_p90 = cspace__quantile(e->normal, e->n_normal, 0.9),
        .normal_p99 = cspace__quantile(e->normal, e->n_normal, 0.99),
        .slope_mean = e->slope_sum / (double)e->n,
        .arm_mean = cspace__mean(e->arm, 2 * e->n),
        .arm_p50 = cspace__quantile(e->arm, 2 * e->n, 0.5),
        .arm_p99 = cspace__quantile(e->arm, 2 * e->n, 0.99),
    };
}

core_status cspace_map_measure(const cspace_map *map, const cspace_rows *rows, double band, cspace_error_stats *stats,
                               core_error *err) {
    CORE_CHECK(map && rows && stats, CORE_ARG, "cspace_map_measure: null argument");
    CORE_CHECK(map->kernel_distance && map->kernel_moment_arm, CORE_ARG, "map %s-%s is not prepared", map->a, map->b);
    core_status status = CORE_OK;
    cspace_map_scratch *scratch = NULL;
    cspace__errors e = {0};
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++) n += fabs(rows->distance[i]) < band ? 1 : 0;
    CORE_CHECK_DONE(n > 0, CORE_RANGE, "%s-%s: none of %lld held-out samples lies within %g of contact", map->a, map->b,
                    (long long)rows->n, band);
    CORE_TRY_DONE(cspace_map_scratch_create(1, &scratch, err));
    CORE_TRY_DONE(cspace__errors_create(n, &e, err));
    for (int64_t i = 0; i < rows->n; i++) {
        if (!(fabs(rows->distance[i]) < band)) continue;
        const double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
        const cspace_pose pose = {p[0], p[1], p[2]};
        const cspace_contact label = {rows->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
        cspace_contact found;
        cspace_map_evaluate(map, &pose, 1, INFINITY, &found, scratch);
        cspace__errors_add(&e, &label, &found);
    }
    cspace__errors_summarise(&e, stats);
done:
    cspace__errors_clear(&e);
    cspace_map_scratch_destroy(&scratch);
    return status;
}
