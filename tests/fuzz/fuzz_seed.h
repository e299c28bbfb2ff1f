/// Small valid HDF5 files, one of each kind, that the fuzzers of these kinds change. They are made when a fuzzer
/// starts, so they follow the format.
#ifndef FUZZ_SEED_H
#define FUZZ_SEED_H

#include "fuzz.h"

#include "unit/sim_fixture.h"

static inline core_status fuzz_seed_shape(const char *name, sdf_shape *s, sdf_grid *g, core_error *err) {
    core_status status = CORE_OK;
    core_outline o = {0};
    const int counts[] = {6, 3};
    const double xy[] = {0, 0, 3, 0, 3, 1, 1, 1, 1, 3, 0, 3, 0.3, 0.3, 0.3, 0.7, 0.7, 0.3};
    CORE_TRY_DONE(core_outline_create(2, counts, &o, err));
    memcpy(o.xy, xy, sizeof xy);
    CORE_TRY_DONE(sdf_shape_from_outline(name, &o, s, err));
    status = sdf_grid_build(&s->outline, 16, 0.05, 1, NULL, g, err);
done:
    core_outline_clear(&o);
    return status;
}

static inline core_status fuzz_seed_rows(int64_t n, cspace_rows *r, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(r->pose, 3 * (size_t)n);
    CORE_NEW_DONE(r->distance, (size_t)n);
    CORE_NEW_DONE(r->gradient, 3 * (size_t)n);
    CORE_NEW_DONE(r->moment_arm, 2 * (size_t)n);
    r->n = n;
    for (int64_t i = 0; i < n; i++) r->distance[i] = 0.01 * (double)i - 0.02;
done:
    return status;
}

static inline core_status fuzz_seed_sdf(const char *path, core_error *err) {
    const core_h5_provenance by = {.command_line = "fuzz"};
    sdf_shape shape = {0};
    sdf_grid grid = {0};
    core_status status = fuzz_seed_shape("l", &shape, &grid, err);
    if (status == CORE_OK) status = sdf_file_write(path, &shape, &grid, &by, err);
    sdf_shape_clear(&shape);
    sdf_grid_clear(&grid);
    return status;
}

static inline core_status fuzz_seed_samples(const char *path, core_error *err) {
    const core_h5_provenance by = {.command_line = "fuzz"};
    core_status status = CORE_OK;
    sdf_grid grid = {0};
    cspace_samples samples = {.ratio = 1, .labels = "minimiser", .near_fraction = 0.9, .band = 0.1};
    CORE_TRY_DONE(fuzz_seed_shape("l", &samples.a, &grid, err));
    CORE_TRY_DONE(sdf_shape_copy(&samples.a, &samples.b, err));
    CORE_TRY_DONE(fuzz_seed_rows(5, &samples.training, err));
    CORE_TRY_DONE(fuzz_seed_rows(3, &samples.held_out, err));
    CORE_TRY_DONE(cspace_samples_write(path, &samples, &by, err));
done:
    sdf_grid_clear(&grid);
    cspace_samples_clear(&samples);
    return status;
}

static inline core_status fuzz_seed_maps(const char *path, core_error *err) {
    const core_h5_provenance by = {.command_line = "fuzz"};
    core_status status = CORE_OK;
    sim_type_def type = {.radius = 1};
    sdf_grid grid = {0};
    cspace_bundle bundle = {0};
    CORE_TRY_DONE(fuzz_seed_shape("l", &type.shape, &grid, err));
    CORE_TRY_DONE(sim_fixture_random_bundle(1, &type, 20, true, &bundle, err));
    CORE_TRY_DONE(cspace_bundle_write(path, &bundle, &by, err));
done:
    sdf_shape_clear(&type.shape);
    sdf_grid_clear(&grid);
    cspace_bundle_clear(&bundle);
    return status;
}

/// The path of the file that `make` writes, at the first call.
static inline const char *fuzz_seed(core_status (*make)(const char *path, core_error *err)) {
    static char path[TEST_PATH_MAX];
    core_error err = {0};
    if (path[0]) return path;
    snprintf(path, sizeof path, "%s", fuzz_file("seed.h5", "", 0));
    remove(path); // only its name was wanted
    if (make(path, &err) == CORE_OK) return path;
    fprintf(stderr, "%s\n", err.message);
    abort();
}

#endif
