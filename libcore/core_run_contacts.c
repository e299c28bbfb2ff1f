/// Contact rows of run files: flat arrays over all frames and, per frame, where its rows end.
#include <math.h>
#include <string.h>

#include "core_run_private.h"

#define CHUNK_ROWS 1024u

/// A member of core_run_contact and its dataset.
typedef struct column {
    const char *path;
    core_h5_type type;
    size_t width; // values a row, 0: a scalar
    size_t offset;
    const char *units, *description;
} column;

static const column columns[] = {
    {CORE_RUN_CONTACTS "/bodies", CORE_H5_I32, 2, offsetof(core_run_contact, bodies), NULL,
     "rows of the grains A and B; a boundary is A = -1 - its index, planes first, then walls"},
    {CORE_RUN_CONTACTS "/feature", CORE_H5_I32, 0, offsetof(core_run_contact, feature), NULL,
     "tells contacts of one pair apart"},
    {CORE_RUN_CONTACTS "/sliding", CORE_H5_I32, 0, offsetof(core_run_contact, sliding), NULL, "1 at Coulomb's limit"},
    {CORE_RUN_CONTACTS "/distance", CORE_H5_F64, 0, offsetof(core_run_contact, d), "m", "negative: penetration depth"},
    {CORE_RUN_CONTACTS "/gradient", CORE_H5_F64, 2, offsetof(core_run_contact, gradient), "1",
     "of the distance when B's centre moves; its direction is the normal from A to B"},
    {CORE_RUN_CONTACTS "/d_theta_b", CORE_H5_F64, 0, offsetof(core_run_contact, d_theta_b), "m/rad",
     "rate of the distance when B turns"},
    {CORE_RUN_CONTACTS "/moment_arm", CORE_H5_F64, 2, offsetof(core_run_contact, moment_arm), "m",
     "(contact point - centre).normal of A and B"},
    {CORE_RUN_CONTACTS "/normal_force", CORE_H5_F64, 0, offsetof(core_run_contact, f_n), "N",
     "per metre of depth: force on B = normal_force gradient + tangential_force R(pi/2) normal"},
    {CORE_RUN_CONTACTS "/tangential_force", CORE_H5_F64, 0, offsetof(core_run_contact, f_t), "N", "per metre of depth"},
    {CORE_RUN_CONTACTS "/spring", CORE_H5_F64, 0, offsetof(core_run_contact, spring), "m", "tangential spring"},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static size_t value_bytes(const column *c) {
    return (c->width ? c->width : 1) * (c->type == CORE_H5_F64 ? sizeof(double) : sizeof(int32_t));
}

core_status core__run_contacts_create(core_h5 *file, core_error *err) {
    CORE_TRY(core_h5_group(file, CORE_RUN_CONTACTS, "touching contacts, all frames one behind the other", err));
    for (size_t k = 0; k < COLUMNS; k++) {
        const column *c = &columns[k];
        CORE_TRY(core_h5_series_create(file, c->path, c->type, c->width ? 1 : 0, &c->width, CHUNK_ROWS, c->units,
                                       c->description, err));
    }
    return core_h5_series_create(file, CORE_RUN_CONTACTS_END, CORE_H5_I64, 0, NULL, CHUNK_ROWS, NULL,
                                 "rows up to and including this frame", err);
}

/// A row that makes sense: known bodies in order, finite numbers. `code`: of the failure.
static core_status check_contact(const core_h5 *file, int64_t row, const core_run_contact *c, int count_rows,
                                 int count_boundaries, core_status code, core_error *err) {
    const int32_t a = c->bodies[0], b = c->bodies[1];
    CORE_CHECK(b >= 0 && b < count_rows && a >= -count_boundaries && a < b, code,
               "%s: %s/bodies: (%d, %d) in row %lld; expected A < B, B of %d rows, A a row or one of %d boundaries",
               core_h5_path(file), CORE_RUN_CONTACTS, (int)a, (int)b, (long long)row, count_rows, count_boundaries);
    const double values[] = {c->d,   c->gradient[0], c->gradient[1], c->d_theta_b, c->moment_arm[0], c->moment_arm[1],
                             c->f_n, c->f_t,         c->spring};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        CORE_CHECK(isfinite(values[k]), CORE_NONFINITE, "%s: %s: %g in row %lld", core_h5_path(file), CORE_RUN_CONTACTS,
                   values[k], (long long)row);
    }
    return CORE_OK;
}

core_status core__run_contacts_append(core_h5 *file, int64_t n, const core_run_contact *contacts, int64_t end,
                                      int count_rows, int count_boundaries, core_error *err) {
    core_status status = CORE_OK;
    char *packed = NULL;
    CORE_CHECK(n >= 0 && (contacts || n == 0), CORE_ARG, "run file: %lld contacts, none given", (long long)n);
    for (int64_t i = 0; i < n; i++)
        CORE_TRY(check_contact(file, end - n + i, &contacts[i], count_rows, count_boundaries, CORE_RANGE, err));
    CORE_NEW_DONE(packed, (size_t)n * 2 * sizeof(double)); // the widest column
    for (size_t k = 0; k < COLUMNS; k++) {
        const column *c = &columns[k];
        const size_t n_bytes = value_bytes(c);
        for (int64_t i = 0; i < n; i++)
            memcpy(packed + (size_t)i * n_bytes, (const char *)&contacts[i] + c->offset, n_bytes);
        CORE_TRY_DONE(
            core_h5_series_append_rows(file, c->path, c->type, c->width ? 1 : 0, &c->width, (size_t)n, packed, err));
    }
    status = core_h5_series_append(file, CORE_RUN_CONTACTS_END, CORE_H5_I64, 0, NULL, &end, err);
done:
    core_free(packed);
    return status;
}

/// Rows [first, end) of a frame.
static core_status find_rows(core_h5 *file, int64_t frame, int64_t *first, int64_t *end, core_error *err) {
    int64_t ends[2] = {0, 0};
    const size_t n = frame > 0 ? 2 : 1;
    CORE_TRY(core_h5_series_read_rows(file, CORE_RUN_CONTACTS_END, CORE_H5_I64, 0, NULL, (size_t)frame + 1 - n, n,
                                      ends + 2 - n, err));
    CORE_CHECK(ends[0] >= 0 && ends[1] >= ends[0], CORE_FORMAT,
               "%s: %s: %lld behind %lld in frame %lld; expected no smaller number", core_h5_path(file),
               CORE_RUN_CONTACTS_END, (long long)ends[1], (long long)ends[0], (long long)frame);
    *first = ends[0];
    *end = ends[1];
    return CORE_OK;
}

core_status core__run_contacts_read(core_h5 *file, int64_t frame, int count_rows, int count_boundaries,
                                    core_run_contact **contacts, int64_t *n, core_error *err) {
    core_status status = CORE_OK;
    core_run_contact *found = NULL;
    char *packed = NULL;
    int64_t first = 0, end = 0;
    CORE_TRY_DONE(find_rows(file, frame, &first, &end, err));
    const size_t count = (size_t)(end - first);
    // no allocation by a number that the file does not bear out
    CORE_TRY_DONE(core__run_contacts_check(file, end, err));
    CORE_NEW_DONE(found, count);
    CORE_NEW_DONE(packed, count * 2 * sizeof(double));
    for (size_t k = 0; k < COLUMNS; k++) {
        const column *c = &columns[k];
        const size_t n_bytes = value_bytes(c);
        CORE_TRY_DONE(core_h5_series_read_rows(file, c->path, c->type, c->width ? 1 : 0, &c->width, (size_t)first,
                                               count, packed, err));
        for (size_t i = 0; i < count; i++) memcpy((char *)&found[i] + c->offset, packed + i * n_bytes, n_bytes);
    }
    for (size_t i = 0; i < count; i++)
        CORE_TRY_DONE(
            check_contact(file, first + (int64_t)i, &found[i], count_rows, count_boundaries, CORE_FORMAT, err));
    *contacts = found;
    *n = (int64_t)count;
    found = NULL;
done:
    core_free(packed);
    core_free(found);
    return status;
}

core_status core__run_contacts_check(core_h5 *file, int64_t rows, core_error *err) {
    for (size_t k = 0; k < COLUMNS; k++) {
        int rank = 0;
        size_t dims[2] = {0};
        CORE_TRY(core_h5_size(file, columns[k].path, 2, &rank, dims, err));
        CORE_CHECK(rank == (columns[k].width ? 2 : 1) && (int64_t)dims[0] >= rows, CORE_FORMAT,
                   "%s: %s: %zu rows; expected at least %lld", core_h5_path(file), columns[k].path, dims[0],
                   (long long)rows);
    }
    return CORE_OK;
}
