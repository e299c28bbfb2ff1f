// The error statement of a map in HDF5. Layout: data/README.md.
#include "cspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 256
#define ROWS (CSPACE_BANDS + 1)

// One number of a struct of statistics as a column of a table.
typedef struct column {
    const char *name, *units, *description;
    size_t offset;
} column;

// A table: rows of such structs, `count` of them first.
typedef struct table {
    const char *group, *description, *count_name;
    int rows;
    size_t offset, row_bytes; // of the first row in cspace_statement, of a row
    int count_columns;
    const column *columns;
} table;

#define FIELD(member) offsetof(cspace_error_stats, member)
static const column error_columns[] = {
    {"distance_mean", "L", "mean error of the distance", FIELD(d_mean)},
    {"distance_bias", "L", "mean of found minus right distance", FIELD(d_bias)},
    {"distance_p50", "L", "median error of the distance", FIELD(d_p50)},
    {"distance_p99", "L", "99 % of the errors of the distance are at most this", FIELD(d_p99)},
    {"distance_max", "L", "largest error of the distance", FIELD(d_max)},
    {"sign_error_fraction", "1", "fraction with the wrong sign, of those with |d| > .005", FIELD(sign_errors)},
    {"normal_mean", "degree", "mean angle between the normals", FIELD(normal_mean)},
    {"normal_p50", "degree", "median angle between the normals", FIELD(normal_p50)},
    {"normal_p90", "degree", "90 % of the angles are at most this", FIELD(normal_p90)},
    {"normal_p99", "degree", "99 % of the angles are at most this", FIELD(normal_p99)},
    {"gradient_length_mean", "1", "mean difference of the lengths of the gradient", FIELD(slope_mean)},
    {"moment_arm_mean", "L", "mean error of both moment arms", FIELD(arm_mean)},
    {"moment_arm_p50", "L", "median error of both moment arms", FIELD(arm_p50)},
    {"moment_arm_p99", "L", "99 % of the errors of the moment arms are at most this", FIELD(arm_p99)},
};
#undef FIELD
#define FIELD(member) offsetof(cspace_jump_stats, member)
static const column jump_columns[] = {
    {"distance_mean", "L", "mean jump of the distance", FIELD(d_mean)},
    {"distance_p99", "L", "99 % of the jumps of the distance are at most this", FIELD(d_p99)},
    {"distance_max", "L", "largest jump of the distance", FIELD(d_max)},
    {"normal_mean", "degree", "mean jump of the normal beyond true kinks", FIELD(normal_mean)},
    {"normal_p99", "degree", "99 % of the jumps of the normal are at most this", FIELD(normal_p99)},
    {"normal_max", "degree", "largest jump of the normal", FIELD(normal_max)},
};
#undef FIELD
#define COUNT(columns) ((int)(sizeof(columns) / sizeof(columns)[0]))
#define ERRORS(member)                                                                                                 \
    offsetof(cspace_statement, member), sizeof(cspace_error_stats), COUNT(error_columns), error_columns
#define JUMPS(member) offsetof(cspace_statement, member), sizeof(cspace_jump_stats), COUNT(jump_columns), jump_columns
static const table tables[] = {
    {"map_against_exact", "the map against exact geometry of the outlines", "poses", ROWS, ERRORS(map_exact)},
    {"map_against_labels", "the map against the labels it was trained with", "poses", ROWS, ERRORS(map_labels)},
    {"labels_against_exact", "the labels against exact geometry", "poses", ROWS, ERRORS(labels_exact)},
    {"swap_asymmetry", "the map of equal shapes against its own answer with a and b exchanged", "poses", ROWS,
     ERRORS(swap)},
    {"jumps_by_band", "jumps between the two sides of all seams", "crossings", ROWS, JUMPS(jump)},
    {"jumps_by_seam",
     "jumps between the two sides of a seam, all bands; rows: theta = +-pi, rotation of a, rotation "
     "of b, mirror, exchange of a and b",
     "crossings", CSPACE_SEAM_COUNT, JUMPS(seam)},
};
#undef COUNT

_Static_assert(offsetof(cspace_error_stats, n) == 0 && offsetof(cspace_jump_stats, n) == 0, "counts come first");

// ---------------------------------------------------------------------------------------------- columns

// All rows of a column as numbers in a row, or back.
static void gather(const cspace_statement *s, const table *t, size_t offset, size_t n_bytes, void *values) {
    for (int i = 0; i < t->rows; i++)
        memcpy((char *)values + (size_t)i * n_bytes, (const char *)s + t->offset + (size_t)i * t->row_bytes + offset,
               n_bytes);
}

static void scatter(const void *values, const table *t, size_t offset, size_t n_bytes, cspace_statement *s) {
    for (int i = 0; i < t->rows; i++)
        memcpy((char *)s + t->offset + (size_t)i * t->row_bytes + offset, (const char *)values + (size_t)i * n_bytes,
               n_bytes);
}

static core_status write_table(core_h5 *file, const char *group, const table *t, const cspace_statement *s,
                               core_error *err) {
    char path[PATH_BYTES], name[PATH_BYTES];
    double values[ROWS];
    int64_t counts[ROWS];
    const size_t dims[1] = {(size_t)t->rows};
    snprintf(path, sizeof path, "%.120s/%s", group, t->group);
    CORE_TRY(core_h5_group(file, path, t->description, err));
    gather(s, t, 0, sizeof *counts, counts);
    snprintf(name, sizeof name, "%.180s/%s", path, t->count_name);
    CORE_TRY(core_h5_write(file, name, CORE_H5_I64, 1, dims, counts, NULL, "number of comparisons", err));
    for (int k = 0; k < t->count_columns; k++) {
        const column *c = &t->columns[k];
        gather(s, t, c->offset, sizeof *values, values);
        snprintf(name, sizeof name, "%.180s/%s", path, c->name);
        CORE_TRY(core_h5_write(file, name, CORE_H5_F64, 1, dims, values, c->units, c->description, err));
    }
    return CORE_OK;
}

static core_status read_table(core_h5 *file, const char *group, const table *t, cspace_statement *s, core_error *err) {
    char path[PATH_BYTES];
    double values[ROWS];
    int64_t counts[ROWS];
    const size_t dims[1] = {(size_t)t->rows};
    snprintf(path, sizeof path, "%.120s/%s/%s", group, t->group, t->count_name);
    CORE_TRY(core_h5_read(file, path, CORE_H5_I64, 1, dims, counts, true, err));
    scatter(counts, t, 0, sizeof *counts, s);
    for (int k = 0; k < t->count_columns; k++) {
        snprintf(path, sizeof path, "%.120s/%s/%s", group, t->group, t->columns[k].name);
        CORE_TRY(core_h5_read(file, path, CORE_H5_F64, 1, dims, values, true, err));
        scatter(values, t, t->columns[k].offset, sizeof *values, s);
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- statement

core_status cspace_statement_write_h5(core_h5 *file, const char *group, const cspace_statement *statement,
                                      core_error *err) {
    CORE_CHECK(file && group && statement, CORE_ARG, "cspace_statement_write_h5: null argument");
    const cspace_statement *s = statement;
    char path[PATH_BYTES];
    const size_t edges[1] = {ROWS}, depths[1] = {CSPACE_DEPTHS};
    CORE_TRY(core_h5_group(file, group,
                           "error statement of the map; row k of a table by band is for band_edges[k] <= d "
                           "< band_edges[k + 1], the last row for all bands",
                           err));
    CORE_TRY(core_h5_set_integer(file, group, "poses", s->poses, err));
    CORE_TRY(core_h5_set_integer(file, group, "exact_geometry", s->exact ? 1 : 0, err));
    snprintf(path, sizeof path, "%.120s/band_edges", group);
    CORE_TRY(
        core_h5_write(file, path, CORE_H5_F64, 1, edges, cspace_band_edges, "L", "edges of the distance bands", err));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        CORE_TRY(write_table(file, group, &tables[i], s, err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps", group);
    CORE_TRY(core_h5_group(file, path, "overlaps by the label, at any depth, where the map sees none", err));
    CORE_TRY(core_h5_set_number(file, path, "deepest", s->missed_deepest, err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps/depth", group);
    CORE_TRY(core_h5_write(file, path, CORE_H5_F64, 1, depths, cspace_depths, "L", "overlaps deeper than this", err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps/poses", group);
    CORE_TRY(core_h5_write(file, path, CORE_H5_I64, 1, depths, s->overlaps, NULL, "how many there are", err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps/missed", group);
    return core_h5_write(file, path, CORE_H5_I64, 1, depths, s->missed, NULL, "how many of them are missed", err);
}

core_status cspace_statement_read_h5(core_h5 *file, const char *group, cspace_statement *statement, core_error *err) {
    CORE_CHECK(file && group && statement, CORE_ARG, "cspace_statement_read_h5: null argument");
    cspace_statement s = {0};
    char path[PATH_BYTES];
    double edges[ROWS], depths[CSPACE_DEPTHS];
    int64_t exact = 0;
    const size_t n_edges[1] = {ROWS}, n_depths[1] = {CSPACE_DEPTHS};
    CORE_TRY(core_h5_get_integer(file, group, "poses", &s.poses, err));
    CORE_TRY(core_h5_get_integer(file, group, "exact_geometry", &exact, err));
    s.exact = exact != 0;
    snprintf(path, sizeof path, "%.120s/band_edges", group);
    CORE_TRY(core_h5_read(file, path, CORE_H5_F64, 1, n_edges, edges, true, err));
    CORE_CHECK(memcmp(edges, cspace_band_edges, sizeof edges) == 0, CORE_UNSUPPORTED,
               "%s: %s: other distance bands than this version's", core_h5_path(file), path);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        CORE_TRY(read_table(file, group, &tables[i], &s, err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps", group);
    CORE_TRY(core_h5_get_number(file, path, "deepest", &s.missed_deepest, err));
    CORE_CHECK(isfinite(s.missed_deepest), CORE_NONFINITE, "%s: %s/deepest is not a finite number", core_h5_path(file),
               path);
    snprintf(path, sizeof path, "%.120s/missed_overlaps/depth", group);
    CORE_TRY(core_h5_read(file, path, CORE_H5_F64, 1, n_depths, depths, true, err));
    CORE_CHECK(memcmp(depths, cspace_depths, sizeof depths) == 0, CORE_UNSUPPORTED,
               "%s: %s: other depths than this version's", core_h5_path(file), path);
    snprintf(path, sizeof path, "%.120s/missed_overlaps/poses", group);
    CORE_TRY(core_h5_read(file, path, CORE_H5_I64, 1, n_depths, s.overlaps, true, err));
    snprintf(path, sizeof path, "%.120s/missed_overlaps/missed", group);
    CORE_TRY(core_h5_read(file, path, CORE_H5_I64, 1, n_depths, s.missed, true, err));
    *statement = s;
    return CORE_OK;
}
