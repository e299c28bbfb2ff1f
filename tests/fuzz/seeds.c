/// seeds FOLDER: writes a small valid HDF5 file of each kind to FOLDER/{sdf,samples,maps,run}_file/seed.h5, from which
/// the fuzzers of these kinds start. They are made, not kept: they follow the format.
#include "fixtures/run_fixture.h"
#include "unit/sim_fixture.h"

#include <stdio.h>

static core_status shape_make(const char *name, sdf_shape *s, sdf_grid *g, core_error *err) {
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

static core_status rows_make(int64_t n, cspace_rows *r, core_error *err) {
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

/// Path FOLDER/KIND/seed.h5, its folder made. Caller frees.
static core_status seed_path(const char *folder, const char *kind, char **path, core_error *err) {
    char *sub = NULL;
    CORE_TRY(core_path_join(folder, kind, &sub, err));
    core_status status = core_file_make_directory(sub, err);
    if (status == CORE_OK) status = core_path_join(sub, "seed.h5", path, err);
    core_free(sub);
    return status;
}

int main(int argc, char **argv) {
    core_status status = CORE_OK;
    core_error err = {0};
    sim_type_def type = {.radius = 1};
    sdf_grid grid = {0};
    cspace_samples samples = {.ratio = 1, .labels = "minimiser", .near_fraction = 0.9, .band = 0.1};
    cspace_bundle bundle = {0};
    const core_h5_provenance by = {.command_line = "seeds"};
    char *path[4] = {NULL};
    static const char *const kinds[4] = {"sdf_file", "samples_file", "maps_file", "run_file"};
    if (argc != 2) {
        fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    for (int i = 0; i < 4; i++) CORE_TRY_DONE(seed_path(argv[1], kinds[i], path + i, &err));
    CORE_TRY_DONE(shape_make("l", &type.shape, &grid, &err));
    CORE_TRY_DONE(sdf_file_write(path[0], &type.shape, &grid, &by, &err));
    CORE_TRY_DONE(sdf_shape_copy(&type.shape, &samples.a, &err));
    CORE_TRY_DONE(sdf_shape_copy(&type.shape, &samples.b, &err));
    CORE_TRY_DONE(rows_make(5, &samples.training, &err));
    CORE_TRY_DONE(rows_make(3, &samples.held_out, &err));
    CORE_TRY_DONE(cspace_samples_write(path[1], &samples, &by, &err));
    CORE_TRY_DONE(sim_fixture_random_bundle(1, &type, 20, true, &bundle, &err));
    CORE_TRY_DONE(cspace_bundle_write(path[2], &bundle, &by, &err));
    CORE_TRY_DONE(fixture_write_collapse(path[3], 2, 3, true, &err));
done:
    if (status != CORE_OK) fprintf(stderr, "seeds: %s\n", err.message);
    for (int i = 0; i < 4; i++) core_free(path[i]);
    sdf_shape_clear(&type.shape);
    sdf_grid_clear(&grid);
    cspace_samples_clear(&samples);
    cspace_bundle_clear(&bundle);
    return status != CORE_OK;
}
