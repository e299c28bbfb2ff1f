/// `*.sdf.h5`: /polygon, /mass, /grid, /import and /provenance. Layout in data/README.md.
#include "sdf_private.h"

#include <math.h>

/// Fewest nodes each way that can be interpolated, and most (the largest grid sdf_grid_build makes).
#define FILE_NODES_MIN 4
#define FILE_NODES_MAX 20482
/// How far a node may be from the outline's exact distance: float32 storage and nothing else.
#define FILE_PHI_TOLERANCE 1e-5
/// Nodes checked against the outline, each way.
#define FILE_PROBES 5

/// One number of /import.
typedef struct import_field {
    const char *path, *units, *description;
    bool integer, image; // image: in files of images alone
} import_field;

static const import_field import_fields[] = {
    {"/import/outline_error", "drawing unit", "how far simplification moved the outline of an image at most", false,
     false},
    {"/import/specks", NULL, "specks of an image (islands, holes) that were left out", true, false},
    {"/import/islands", NULL, "other islands or parts that were left out on request", true, false},
    {"/import/points", NULL, "duplicate and collinear points that were taken out", true, false},
    {"/import/closed_rings", NULL, "rings that were open by rounding and were closed", true, false},
    {"/import/image", NULL, "1: the drawing was an image, its unit is a pixel", true, true},
    {"/import/threshold", NULL, "grey level below which pixels were inside; 0: opacity decided", true, true},
    {"/import/blur", "drawing unit", "standard deviation of the blur before the threshold", false, true},
    {"/import/border", NULL, "pixels of the image's border that the outline runs along", true, true},
};
#define IMPORT_FIELDS ((int)(sizeof import_fields / sizeof import_fields[0]))

static void *import_value(sdf_import *record, int i) {
    void *values[] = {&record->outline_error, &record->count_specks, &record->count_islands,
                      &record->count_points,  &record->count_closed, &record->image,
                      &record->threshold,     &record->blur,         &record->count_border};
    return values[i];
}

static core_status import_write(core_h5 *file, const sdf_import *record, core_error *err) {
    sdf_import copy = *record;
    CORE_TRY(core_h5_group(file, "/import", "what was done to the drawing on its way to the outline", err));
    for (int i = 0; i < IMPORT_FIELDS; i++) {
        const import_field *f = import_fields + i;
        if (f->image && !copy.image) continue;
        CORE_TRY(core_h5_write(file, f->path, f->integer ? CORE_H5_I32 : CORE_H5_F64, 0, NULL, import_value(&copy, i),
                               f->units, f->description, err));
    }
    return CORE_OK;
}

/// The group is not in every file: the first ones were written without, and what says something about an image is in
/// files of images alone.
static core_status import_read(core_h5 *file, sdf_import *record, core_error *err) {
    sdf_import r = {0};
    for (int i = 0; core_h5_exists(file, "/import") && i < IMPORT_FIELDS; i++) {
        const import_field *f = import_fields + i;
        if (f->image && !core_h5_exists(file, f->path)) continue;
        CORE_TRY(core_h5_read(file, f->path, f->integer ? CORE_H5_I32 : CORE_H5_F64, 0, NULL, import_value(&r, i), true,
                              err));
    }
    *record = r;
    return CORE_OK;
}

core_status sdf_file_write(const char *path, const sdf_shape *shape, const sdf_grid *grid,
                           const core_h5_provenance *provenance, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    CORE_CHECK(path && shape && grid && grid->phi, CORE_ARG, "sdf_file_write: nothing to write");
    size_t dims[2] = {(size_t)grid->ny, (size_t)grid->nx}, two = 2;
    CORE_TRY_DONE(core_h5_create(path, SDF_FORMAT, SDF_VERSION, &file, err));
    CORE_TRY_DONE(sdf_shape_write_h5(file, "", shape, err));
    CORE_TRY_DONE(core_h5_group(
        file, "/grid", "signed distance to the outline at the nodes origin + (column, row) x spacing, canonical frame",
        err));
    CORE_TRY_DONE(core_h5_write(
        file, "/grid/phi", CORE_H5_F32, 2, dims, grid->phi, "circumradius",
        "signed distance, rows along y, columns along x; exact at the nodes up to rounding to float32", err));
    CORE_TRY_DONE(core_h5_set_text(file, "/grid/phi", "sign_convention", "negative inside, positive outside", err));
    CORE_TRY_DONE(core_h5_write(file, "/grid/origin", CORE_H5_F64, 1, &two, grid->origin, "circumradius",
                                "position of the node in row 0, column 0", err));
    CORE_TRY_DONE(core_h5_write(file, "/grid/spacing", CORE_H5_F64, 0, NULL, &grid->spacing, "circumradius",
                                "distance of neighbouring nodes", err));
    CORE_TRY_DONE(import_write(file, &shape->import, err));
    if (provenance) CORE_TRY_DONE(core_h5_write_provenance(file, provenance, err));
    status = core_h5_commit(&file, err);
done:
    core_h5_abandon(&file);
    return status;
}

/// FORMAT unless some nodes over the whole grid have the outline's own distance.
static core_status grid_verify(const char *path, const core_outline *o, const sdf_grid *g, core_error *err) {
    for (int r = 0; r < FILE_PROBES; r++) {
        for (int c = 0; c < FILE_PROBES; c++) {
            int i_x = (int)((int64_t)c * (g->nx - 1) / (FILE_PROBES - 1));
            int i_y = (int)((int64_t)r * (g->ny - 1) / (FILE_PROBES - 1));
            double p[2] = {g->origin[0] + i_x * g->spacing, g->origin[1] + i_y * g->spacing}, exact;
            double found = (double)g->phi[(int64_t)i_y * g->nx + i_x];
            sdf_outline_distance(o, p, 1, &exact, NULL);
            CORE_CHECK(fabs(found - exact) <= FILE_PHI_TOLERANCE * (1 + fabs(exact)), CORE_FORMAT,
                       "%s: /grid/phi[%d, %d] is %g, the outline's distance there is %g", path, i_y, i_x, found, exact);
        }
    }
    return CORE_OK;
}

/// The group /grid.
static core_status grid_read(core_h5 *file, sdf_grid *grid, core_error *err) {
    core_status status = CORE_OK;
    sdf_grid g = {0};
    int rank = 0;
    size_t dims[2] = {0, 0}, two = 2;
    CORE_TRY_DONE(core_h5_size(file, "/grid/phi", 2, &rank, dims, err));
    CORE_CHECK_DONE(rank == 2 && dims[0] >= FILE_NODES_MIN && dims[1] >= FILE_NODES_MIN && dims[0] <= FILE_NODES_MAX &&
                        dims[1] <= FILE_NODES_MAX,
                    CORE_FORMAT, "%s: /grid/phi has rank %d and sizes %zu x %zu, expected rank 2 and sizes %d .. %d",
                    core_h5_path(file), rank, dims[0], dims[1], FILE_NODES_MIN, FILE_NODES_MAX);
    g.ny = (int)dims[0];
    g.nx = (int)dims[1];
    CORE_TRY_DONE(core_h5_read(file, "/grid/origin", CORE_H5_F64, 1, &two, g.origin, true, err));
    CORE_TRY_DONE(core_h5_read(file, "/grid/spacing", CORE_H5_F64, 0, NULL, &g.spacing, true, err));
    CORE_CHECK_DONE(g.spacing > 0 && g.spacing <= 1, CORE_FORMAT, "%s: /grid/spacing is %g, expected 0 .. 1",
                    core_h5_path(file), g.spacing);
    CORE_NEW_DONE(g.phi, dims[0] * dims[1]);
    CORE_TRY_DONE(core_h5_read(file, "/grid/phi", CORE_H5_F32, 2, dims, g.phi, true, err));
    for (size_t i = 0; i < dims[0] * dims[1]; i++) g.value_min = fmin(g.value_min, (double)g.phi[i]);
    *grid = g;
    g = (sdf_grid){0};
done:
    sdf_grid_clear(&g);
    return status;
}

core_status sdf_file_read(const char *path, sdf_shape *shape, sdf_grid *grid, uint64_t *content_hash, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    sdf_shape s = {0};
    sdf_grid g = {0};
    uint64_t stated = 0, found = 0;
    CORE_CHECK(path && shape && grid, CORE_ARG, "sdf_file_read: null pointer");
    CORE_TRY_DONE(core_h5_open(path, SDF_FORMAT, SDF_VERSION, &file, err));
    CORE_TRY_DONE(sdf_shape_read_h5(file, "", &s, err));
    CORE_TRY_DONE(import_read(file, &s.import, err));
    CORE_TRY_DONE(grid_read(file, &g, err));
    CORE_TRY_DONE(grid_verify(path, &s.outline, &g, err));
    CORE_TRY_DONE(core_h5_content_hash(file, &stated, err));
    CORE_TRY_DONE(core_h5_compute_hash(file, &found, err));
    CORE_CHECK_DONE(stated == found, CORE_FORMAT,
                    "%s: the content does not have the hash the file states: it was changed or damaged", path);
    CORE_TRY_DONE(sdf__near_create(&s.outline, &g, &g.near, err));
    *shape = s;
    *grid = g;
    if (content_hash) *content_hash = stated;
    s = (sdf_shape){0};
    g = (sdf_grid){0};
done:
    core_h5_close(&file);
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
    return status;
}
