/// `*.samples.h5`: labelled poses of a pair with its shapes. Layout: data/README.md.
#include "cspace.h"

#include <inttypes.h>
#include <string.h>

/// The datasets of a set of rows.
typedef struct column {
    const char *name, *units, *description;
    int width;
    core_h5_type type;
} column;
static const column columns[4] = {
    {"pose", "rad, L, L", "theta, x, y of B in A's frame; lengths in units of L = max(R_A, R_B)", 3, CORE_H5_F64},
    {"distance", "L", "signed distance, negative in overlap", 1, CORE_H5_F64},
    {"gradient", "L/rad, 1, 1", "d_theta, g_x, g_y: raw gradient of the distance when B turns and moves", 3,
     CORE_H5_F32},
    {"moment_arm", "L", "r_A, r_B: (contact point - centre).n", 2, CORE_H5_F32}};

static double **column_data(cspace_rows *rows, int i) {
    double **data[4] = {&rows->pose, &rows->distance, &rows->gradient, &rows->moment_arm};
    return data[i];
}

static core_status write_rows(core_h5 *file, const char *prefix, const cspace_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    const double *data[4] = {rows->pose, rows->distance, rows->gradient, rows->moment_arm};
    float *single = NULL;
    CORE_NEW_DONE(single, (size_t)rows->n * 3);
    for (int i = 0; i < 4; i++) {
        const column *c = columns + i;
        char *path = NULL;
        CORE_TRY_DONE(core_path_join(prefix, c->name, &path, err));
        size_t dims[2] = {(size_t)rows->n, (size_t)c->width};
        if (c->type == CORE_H5_F32)
            for (size_t k = 0; k < dims[0] * dims[1]; k++) single[k] = (float)data[i][k];
        status = core_h5_write(file, path, c->type, c->width > 1 ? 2 : 1, dims,
                               c->type == CORE_H5_F32 ? (const void *)single : (const void *)data[i], c->units,
                               c->description, err);
        core_free(path);
        if (status != CORE_OK) goto done;
    }
done:
    core_free(single);
    return status;
}

static core_status read_rows(core_h5 *file, const char *prefix, cspace_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    cspace_rows r = {0};
    char *path = NULL;
    for (int i = 0; i < 4; i++) {
        const column *c = columns + i;
        core_free(path);
        path = NULL;
        CORE_TRY_DONE(core_path_join(prefix, c->name, &path, err));
        int rank;
        size_t dims[2] = {0, 1};
        CORE_TRY_DONE(core_h5_size(file, path, 2, &rank, dims, err));
        CORE_CHECK_DONE(rank == (c->width > 1 ? 2 : 1) && (rank == 1 || dims[1] == (size_t)c->width), CORE_FORMAT,
                        "%s: %s: expected %d numbers a row", core_h5_path(file), path, c->width);
        if (i == 0) r.n = (int64_t)dims[0];
        CORE_CHECK_DONE((int64_t)dims[0] == r.n, CORE_FORMAT, "%s: %s: found %zu rows, expected %" PRId64 " as in pose",
                        core_h5_path(file), path, dims[0], r.n);
        double **data = column_data(&r, i);
        CORE_NEW_DONE(*data, (size_t)r.n * (size_t)c->width);
        CORE_TRY_DONE(core_h5_read(file, path, CORE_H5_F64, rank, dims, *data, true, err));
    }
    *rows = r;
done:
    core_free(path);
    if (status != CORE_OK) cspace_rows_clear(&r);
    return status;
}

static core_status write_attributes(core_h5 *file, const cspace_samples *s, core_error *err) {
    char hash_a[17], hash_b[17], input[17];
    core_hash_text(s->a.hash, hash_a);
    core_hash_text(s->b.hash, hash_b);
    core_hash_text(s->input_hash, input);
    CORE_TRY(core_h5_set_text(file, "/", "a", s->a.name, err));
    CORE_TRY(core_h5_set_text(file, "/", "b", s->b.name, err));
    CORE_TRY(core_h5_set_text(file, "/", "hash_a", hash_a, err));
    CORE_TRY(core_h5_set_text(file, "/", "hash_b", hash_b, err));
    CORE_TRY(core_h5_set_text(file, "/", "input_hash", input, err));
    CORE_TRY(core_h5_set_text(file, "/", "labels", s->labels, err));
    CORE_TRY(core_h5_set_number(file, "/", "ratio", s->ratio, err));
    CORE_TRY(core_h5_set_number(file, "/", "near_fraction", s->near_fraction, err));
    CORE_TRY(core_h5_set_number(file, "/", "band", s->band, err));
    if (s->smoothing > 0.0) CORE_TRY(core_h5_set_number(file, "/", "smoothing", s->smoothing, err));
    CORE_TRY(core_h5_set_number(file, "/", "acceptance_rate", s->acceptance_rate, err));
    return core_h5_set_integer(file, "/", "seed", (int64_t)s->seed, err);
}

/// A hash of 16 hexadecimal digits.
static core_status read_hash(core_h5 *file, const char *name, uint64_t *hash, core_error *err) {
    char text[17];
    CORE_TRY(core_h5_get_text(file, "/", name, text, sizeof text, err));
    uint64_t value = 0;
    int i = 0;
    for (; text[i]; i++) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, text[i]);
        CORE_CHECK(at, CORE_FORMAT, "%s: attribute %s: found \"%s\", expected 16 hexadecimal digits",
                   core_h5_path(file), name, text);
        value = value << 4 | (uint64_t)(at - digits);
    }
    CORE_CHECK(i == 16, CORE_FORMAT, "%s: attribute %s: found \"%s\", expected 16 hexadecimal digits",
               core_h5_path(file), name, text);
    *hash = value;
    return CORE_OK;
}

static core_status read_number(core_h5 *file, const char *name, double min, double max, double *value,
                               core_error *err) {
    CORE_TRY(core_h5_get_number(file, "/", name, value, err));
    CORE_CHECK(*value >= min && *value <= max, CORE_FORMAT, "%s: attribute %s: found %g, expected %g to %g",
               core_h5_path(file), name, *value, min, max);
    return CORE_OK;
}

/// Attributes, after the shapes: names and hashes have to agree with them.
static core_status read_attributes(core_h5 *file, cspace_samples *s, core_error *err) {
    char a[CORE_NAME_MAX], b[CORE_NAME_MAX];
    uint64_t hash_a, hash_b;
    int64_t seed;
    CORE_TRY(core_h5_get_text(file, "/", "a", a, sizeof a, err));
    CORE_TRY(core_h5_get_text(file, "/", "b", b, sizeof b, err));
    CORE_CHECK(strcmp(a, s->a.name) == 0 && strcmp(b, s->b.name) == 0, CORE_FORMAT,
               "%s: attributes a, b: found \"%s\", \"%s\", expected the names of the shapes, \"%s\", \"%s\"",
               core_h5_path(file), a, b, s->a.name, s->b.name);
    CORE_TRY(read_hash(file, "hash_a", &hash_a, err));
    CORE_TRY(read_hash(file, "hash_b", &hash_b, err));
    CORE_CHECK(hash_a == s->a.hash && hash_b == s->b.hash, CORE_FORMAT,
               "%s: hash_a, hash_b are not those of the shapes in the file", core_h5_path(file));
    CORE_TRY(read_hash(file, "input_hash", &s->input_hash, err));
    CORE_TRY(core_h5_get_text(file, "/", "labels", s->labels, sizeof s->labels, err));
    CORE_TRY(read_number(file, "ratio", 1.0 / 64.0, 64.0, &s->ratio, err));
    CORE_TRY(read_number(file, "near_fraction", 0.0, 1.0, &s->near_fraction, err));
    CORE_TRY(read_number(file, "band", 1e-3, 2.0, &s->band, err));
    // files of plain labels say nothing about it
    if (core_h5_get_number(file, "/", "smoothing", &s->smoothing, NULL) != CORE_OK) s->smoothing = 0.0;
    CORE_CHECK(s->smoothing >= 0.0 && s->smoothing <= 0.1, CORE_FORMAT,
               "%s: attribute smoothing: found %g, expected 0 to 0.1", core_h5_path(file), s->smoothing);
    CORE_TRY(read_number(file, "acceptance_rate", 0.0, 1.0, &s->acceptance_rate, err));
    CORE_TRY(core_h5_get_integer(file, "/", "seed", &seed, err));
    s->seed = (uint64_t)seed;
    return CORE_OK;
}

core_status cspace_samples_write(const char *path, const cspace_samples *samples, const core_h5_provenance *provenance,
                                 core_error *err) {
    CORE_CHECK(path && samples && provenance, CORE_ARG, "cspace_samples_write: a null pointer");
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    CORE_TRY_DONE(core_h5_create(path, CSPACE_SAMPLES_FORMAT, CSPACE_SAMPLES_VERSION, &file, err));
    CORE_TRY_DONE(write_attributes(file, samples, err));
    CORE_TRY_DONE(core_h5_group(file, "/shapes", "the pair: canonical outlines and masses", err));
    CORE_TRY_DONE(sdf_shape_write_h5(file, "/shapes/a", &samples->a, err));
    CORE_TRY_DONE(sdf_shape_write_h5(file, "/shapes/b", &samples->b, err));
    CORE_TRY_DONE(write_rows(file, "/", &samples->training, err));
    CORE_TRY_DONE(core_h5_group(file, "/held_out", "rows of another seed that no training sees", err));
    CORE_TRY_DONE(write_rows(file, "/held_out", &samples->held_out, err));
    CORE_TRY_DONE(core_h5_write_provenance(file, provenance, err));
    CORE_TRY_DONE(core_h5_commit(&file, err));
done:
    core_h5_abandon(&file);
    return status;
}

core_status cspace_samples_read_pair(const char *path, char a[CORE_NAME_MAX], char b[CORE_NAME_MAX], double *ratio,
                                     core_error *err) {
    CORE_CHECK(path && a && b && ratio, CORE_ARG, "cspace_samples_read_pair: a null pointer");
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    CORE_TRY_DONE(core_h5_open(path, CSPACE_SAMPLES_FORMAT, CSPACE_SAMPLES_VERSION, &file, err));
    CORE_TRY_DONE(core_h5_get_text(file, "/", "a", a, CORE_NAME_MAX, err));
    CORE_TRY_DONE(core_h5_get_text(file, "/", "b", b, CORE_NAME_MAX, err));
    CORE_TRY_DONE(read_number(file, "ratio", 1.0 / 64.0, 64.0, ratio, err));
done:
    core_h5_close(&file);
    return status;
}

core_status cspace_samples_read(const char *path, cspace_samples *samples, uint64_t *content_hash, core_error *err) {
    CORE_CHECK(path && samples, CORE_ARG, "cspace_samples_read: a null pointer");
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    cspace_samples s = {0};
    uint64_t hash = 0;
    CORE_TRY_DONE(core_h5_open(path, CSPACE_SAMPLES_FORMAT, CSPACE_SAMPLES_VERSION, &file, err));
    CORE_TRY_DONE(core_h5_content_hash(file, &hash, err));
    CORE_TRY_DONE(sdf_shape_read_h5(file, "/shapes/a", &s.a, err));
    CORE_TRY_DONE(sdf_shape_read_h5(file, "/shapes/b", &s.b, err));
    CORE_TRY_DONE(read_attributes(file, &s, err));
    CORE_TRY_DONE(read_rows(file, "/", &s.training, err));
    CORE_TRY_DONE(read_rows(file, "/held_out", &s.held_out, err));
    CORE_CHECK_DONE(s.training.n > 0, CORE_FORMAT, "%s: pose: no rows", path);
    *samples = s;
    if (content_hash) *content_hash = hash;
done:
    core_h5_close(&file);
    if (status != CORE_OK) cspace_samples_clear(&s);
    return status;
}
