/// Datasets of HDF5 files: arrays, texts, outlines; sizes are never trusted.
#include "core_h5_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/// Deflate packs at most 1032:1; a dataset that claims more per byte of its file is damaged.
#define DATA_MAX_EXPANSION 1100u

/// "[3, 4]" for a message.
static void size_text(int rank, const size_t *dims, char *text, size_t n_bytes) {
    size_t used = (size_t)snprintf(text, n_bytes, "[");
    for (int i = 0; i < rank && used < n_bytes; i++)
        used += (size_t)snprintf(text + used, n_bytes - used, "%s%zu", i ? ", " : "", dims[i]);
    if (used < n_bytes) snprintf(text + used, n_bytes - used, "]");
}

// ---------------------------------------------------------------------------------------------- writing

core_status core_h5_write(core_h5 *file, const char *path, core_h5_type type, int rank, const size_t *dims,
                          const void *data, const char *units, const char *description, core_error *err) {
    core_status status = CORE_OK;
    hid_t space = -1, dataset = -1;
    hsize_t sizes[CORE_H5_MAX_RANK] = {0};
    hsize_t count = 1;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(path && rank >= 0 && rank <= CORE_H5_MAX_RANK && (dims || rank == 0) && core__h5_type_size(type) > 0,
               CORE_ARG, "%s: dataset: bad argument", file->path);
    for (int i = 0; i < rank; i++) {
        sizes[i] = dims[i];
        count *= sizes[i];
    }
    CORE_CHECK(data || count == 0, CORE_ARG, "%s: %s: null pointer", file->path, path);
    CORE_CHECK(!core_h5_exists(file, path), CORE_ARG, "%s: %s: is written twice", file->path, path);
    CORE_TRY(core__h5_make_parents(file, path, err));
    hid_t link = core__h5_link_list(), creation = core__h5_object_list(H5P_DATASET_CREATE);
    H5_TRY_DONE(space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, sizes, NULL), path, "write");
    H5_TRY_DONE(dataset = H5Dcreate2(file->id, path, core__h5_disk_type(type), space, link, creation, H5P_DEFAULT),
                path, "write");
    if (count > 0)
        H5_TRY_DONE(H5Dwrite(dataset, core__h5_memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path, "write");
    CORE_TRY_DONE(core__h5_describe(file, path, units, description, err));
    hid_t closing = dataset;
    dataset = -1;
    H5_TRY_DONE(H5Dclose(closing), path, "write");
done:
    core__h5_release(dataset);
    core__h5_release(space);
    core__h5_release(creation);
    core__h5_release(link);
    return status;
}

core_status core_h5_write_text(core_h5 *file, const char *path, const char *text, const char *description,
                               core_error *err) {
    core_status status = CORE_OK;
    hid_t type = -1, space = -1, dataset = -1;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(path && text, CORE_ARG, "%s: text: null pointer", file->path);
    CORE_CHECK(!core_h5_exists(file, path), CORE_ARG, "%s: %s: is written twice", file->path, path);
    CORE_TRY(core__h5_make_parents(file, path, err));
    hid_t link = core__h5_link_list(), creation = core__h5_object_list(H5P_DATASET_CREATE);
    H5_TRY_DONE(type = H5Tcopy(H5T_C_S1), path, "write");
    H5_TRY_DONE(H5Tset_size(type, strlen(text) + 1), path, "write");
    H5_TRY_DONE(H5Tset_cset(type, H5T_CSET_UTF8), path, "write");
    H5_TRY_DONE(space = H5Screate(H5S_SCALAR), path, "write");
    H5_TRY_DONE(dataset = H5Dcreate2(file->id, path, type, space, link, creation, H5P_DEFAULT), path, "write");
    H5_TRY_DONE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text), path, "write");
    CORE_TRY_DONE(core__h5_describe(file, path, NULL, description, err));
done:
    core__h5_release(dataset);
    core__h5_release(space);
    core__h5_release(type);
    core__h5_release(creation);
    core__h5_release(link);
    return status;
}

// ---------------------------------------------------------------------------------------------- reading

core_status core__h5_open_dataset(core_h5 *file, const char *path, hid_t *dataset, core_error *err) {
    core_status status = CORE_OK;
    CORE_CHECK(file && path, CORE_ARG, "HDF5: null pointer");
    CORE_CHECK(core_h5_exists(file, path), CORE_FORMAT, "%s: dataset %s is missing", file->path, path);
    H5_TRY_DONE(*dataset = H5Dopen2(file->id, path, H5P_DEFAULT), path, "open the dataset");
done:
    return status;
}

core_status core__h5_dataset_size(core_h5 *file, const char *path, hid_t dataset, int max_rank, int *rank, size_t *dims,
                                  core_error *err) {
    core_status status = CORE_OK;
    hsize_t sizes[H5S_MAX_RANK];
    hid_t space = -1;
    H5_TRY_DONE(space = H5Dget_space(dataset), path, "read the size");
    CORE_CHECK_DONE(H5Sget_simple_extent_type(space) != H5S_NULL, CORE_FORMAT, "%s: %s: has no elements", file->path,
                    path);
    int found = 0;
    H5_TRY_DONE(found = H5Sget_simple_extent_dims(space, sizes, NULL), path, "read the size");
    CORE_CHECK_DONE(found <= max_rank, CORE_FORMAT, "%s: %s: found rank %d, expected at most %d", file->path, path,
                    found, max_rank);
    // in a file that is being written the program itself is the source of the sizes
    hsize_t left = file->writing ? (hsize_t)INT64_MAX : (hsize_t)file->bytes * DATA_MAX_EXPANSION / 8;
    bool possible = true;
    for (int i = 0; i < found; i++) {
        if (sizes[i] == 0) left = (hsize_t)INT64_MAX; // no elements at all
    }
    for (int i = 0; i < found && possible; i++) {
        possible = sizes[i] <= left;
        if (sizes[i] > 0) left /= sizes[i];
    }
    CORE_CHECK_DONE(possible, CORE_FORMAT, "%s: %s: claims more elements than a file of %llu bytes can hold",
                    file->path, path, (unsigned long long)file->bytes);
    for (int i = 0; i < found; i++) dims[i] = (size_t)sizes[i];
    *rank = found;
done:
    core__h5_release(space);
    return status;
}

core_status core_h5_size(core_h5 *file, const char *path, int max_rank, int *rank, size_t *dims, core_error *err) {
    hid_t dataset = -1;
    CORE_CHECK(rank && (dims || max_rank <= 0), CORE_ARG, "HDF5: null pointer");
    CORE_TRY(core__h5_open_dataset(file, path, &dataset, err));
    core_status status = core__h5_dataset_size(file, path, dataset, max_rank, rank, dims, err);
    core__h5_release(dataset);
    return status;
}

core_status core__h5_check_class(core_h5 *file, const char *path, hid_t dataset, core_h5_type type, core_error *err) {
    core_status status = CORE_OK;
    hid_t found = -1;
    H5_TRY_DONE(found = H5Dget_type(dataset), path, "read the type");
    H5T_class_t kind = H5Tget_class(found);
    size_t size = H5Tget_size(found);
    bool floating = type == CORE_H5_F32 || type == CORE_H5_F64;
    if (floating)
        CORE_CHECK_DONE((kind == H5T_FLOAT || kind == H5T_INTEGER) && size <= 8, CORE_FORMAT,
                        "%s: %s: elements are of another type, expected numbers of at most 8 bytes", file->path, path);
    else // a larger integer could lose its high bits
        CORE_CHECK_DONE(kind == H5T_INTEGER && size <= core__h5_type_size(type), CORE_FORMAT,
                        "%s: %s: elements are of another type, expected whole numbers of at most %zu bytes", file->path,
                        path, core__h5_type_size(type));
done:
    core__h5_release(found);
    return status;
}

/// NONFINITE at the first element that is none.
static core_status check_finite(const core_h5 *file, const char *path, core_h5_type type, size_t n, const void *data,
                                core_error *err) {
    const float *single = data;
    const double *number = data;
    for (size_t i = 0; i < n; i++) {
        double x = type == CORE_H5_F32 ? (double)single[i] : number[i];
        CORE_CHECK(isfinite(x), CORE_NONFINITE, "%s: %s: element %zu is %s, expected a finite number", file->path, path,
                   i, isnan(x) ? "NaN" : "infinite");
    }
    return CORE_OK;
}

core_status core_h5_read(core_h5 *file, const char *path, core_h5_type type, int rank, const size_t *dims, void *data,
                         bool finite, core_error *err) {
    core_status status = CORE_OK;
    hid_t dataset = -1;
    size_t found[CORE_H5_MAX_RANK] = {0}, n = 1;
    int found_rank = 0;
    char found_text[112], expected_text[112];
    CORE_CHECK(file && rank >= 0 && rank <= CORE_H5_MAX_RANK && (dims || rank == 0) && core__h5_type_size(type) > 0,
               CORE_ARG, "HDF5: bad argument");
    CORE_TRY_DONE(core__h5_open_dataset(file, path, &dataset, err));
    CORE_TRY_DONE(core__h5_dataset_size(file, path, dataset, CORE_H5_MAX_RANK, &found_rank, found, err));
    bool same = found_rank == rank;
    for (int i = 0; i < rank && same; i++) {
        same = found[i] == dims[i];
        n *= found[i];
    }
    if (!same) {
        size_text(found_rank, found, found_text, sizeof found_text);
        size_text(rank, dims, expected_text, sizeof expected_text);
        status = CORE_FAIL(err, CORE_FORMAT, "%s: %s: found size %s, expected %s", file->path, path, found_text,
                           expected_text);
        goto done;
    }
    CORE_TRY_DONE(core__h5_check_class(file, path, dataset, type, err));
    if (n == 0) goto done;
    CORE_CHECK_DONE(data, CORE_ARG, "%s: %s: null pointer", file->path, path);
    H5_TRY_DONE(H5Dread(dataset, core__h5_memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path, "read");
    if (finite && (type == CORE_H5_F32 || type == CORE_H5_F64))
        CORE_TRY_DONE(check_finite(file, path, type, n, data, err));
done:
    core__h5_release(dataset);
    return status;
}

core_status core_h5_read_text(core_h5 *file, const char *path, char **text, core_error *err) {
    core_status status = CORE_OK;
    hid_t dataset = -1, type = -1, memory = -1;
    char *buffer = NULL;
    int rank = 0;
    CORE_CHECK(text, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(core__h5_open_dataset(file, path, &dataset, err));
    CORE_TRY_DONE(core__h5_dataset_size(file, path, dataset, 0, &rank, NULL, err));
    H5_TRY_DONE(type = H5Dget_type(dataset), path, "read the type");
    CORE_CHECK_DONE(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0, CORE_FORMAT,
                    "%s: %s: is of another type, expected fixed-length text", file->path, path);
    size_t size = H5Tget_size(type);
    CORE_CHECK_DONE(file->writing || size <= file->bytes, CORE_FORMAT,
                    "%s: %s: claims %zu bytes of text in a file of %llu bytes", file->path, path, size,
                    (unsigned long long)file->bytes);
    CORE_NEW_DONE(buffer, size + 1);
    H5_TRY_DONE(memory = H5Tcopy(type), path, "read");
    H5_TRY_DONE(H5Tset_size(memory, size + 1), path, "read");
    H5_TRY_DONE(H5Tset_strpad(memory, H5T_STR_NULLTERM), path, "read");
    H5_TRY_DONE(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer), path, "read");
    buffer[size] = '\0';
    *text = buffer;
    buffer = NULL;
done:
    core_free(buffer);
    core__h5_release(memory);
    core__h5_release(type);
    core__h5_release(dataset);
    return status;
}

// ---------------------------------------------------------------------------------------------- outlines

/// GROUP/name in a buffer that is large enough for both.
static core_status outline_path(const char *group, const char *name, char *path, size_t n_bytes, core_error *err) {
    int n = snprintf(path, n_bytes, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name);
    CORE_CHECK(n > 0 && (size_t)n < n_bytes, CORE_ARG, "HDF5: the group name %s is too long", group);
    return CORE_OK;
}

core_status core_h5_write_outline(core_h5 *file, const char *group, const core_outline *o, const char *units,
                                  core_error *err) {
    char path[512];
    CORE_CHECK(group && o && o->count_rings > 0, CORE_ARG, "HDF5: no outline to write");
    size_t rings = (size_t)o->count_rings + 1, points[2] = {(size_t)core_outline_count(o), 2};
    CORE_TRY(outline_path(group, "ring_start", path, sizeof path, err));
    CORE_TRY(core_h5_write(file, path, CORE_H5_I32, 1, &rings, o->ring_start, NULL,
                           "ring i has the points ring_start[i] to ring_start[i+1]-1; ring 0 is the outer one, "
                           "counter-clockwise, the others are holes, clockwise",
                           err));
    CORE_TRY(outline_path(group, "points", path, sizeof path, err));
    return core_h5_write(file, path, CORE_H5_F64, 2, points, o->xy, units, "x and y of the corners", err);
}

/// Turns the ring starts of a file into numbers of points per ring.
static core_status ring_counts(const core_h5 *file, const char *path, int rings, const int32_t *start, size_t points,
                               int *counts, core_error *err) {
    CORE_CHECK(start[0] == 0, CORE_FORMAT, "%s: %s: found a first value of %d, expected 0", file->path, path,
               (int)start[0]);
    for (int i = 0; i < rings; i++) {
        CORE_CHECK(start[i] <= INT32_MAX - 3 && start[i + 1] >= start[i] + 3, CORE_FORMAT,
                   "%s: %s: ring %d ends at %d and starts at %d, expected at least 3 points", file->path, path, i,
                   (int)start[i + 1], (int)start[i]);
        counts[i] = start[i + 1] - start[i];
    }
    CORE_CHECK((size_t)start[rings] == points, CORE_FORMAT,
               "%s: %s: found a last value of %d, expected %zu (the points)", file->path, path, (int)start[rings],
               points);
    return CORE_OK;
}

core_status core_h5_read_outline(core_h5 *file, const char *group, core_outline *o, core_error *err) {
    core_status status = CORE_OK;
    core_outline made = {0};
    int32_t *start = NULL;
    int *counts = NULL;
    char start_path[512], points_path[512];
    int rank = 0;
    size_t n_start = 0, n_points[2] = {0, 0};
    CORE_CHECK(file && group && o, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(outline_path(group, "ring_start", start_path, sizeof start_path, err));
    CORE_TRY_DONE(outline_path(group, "points", points_path, sizeof points_path, err));
    CORE_TRY_DONE(core_h5_size(file, start_path, 1, &rank, &n_start, err));
    CORE_CHECK_DONE(rank == 1 && n_start >= 2 && n_start <= INT_MAX / 4, CORE_FORMAT,
                    "%s: %s: found %zu values, expected at least 2 in one row", file->path, start_path, n_start);
    CORE_TRY_DONE(core_h5_size(file, points_path, 2, &rank, n_points, err));
    CORE_CHECK_DONE(rank == 2 && n_points[1] == 2 && n_points[0] <= INT_MAX / 4, CORE_FORMAT,
                    "%s: %s: found another size, expected [n, 2]", file->path, points_path);
    CORE_NEW_DONE(start, n_start);
    CORE_NEW_DONE(counts, n_start);
    CORE_TRY_DONE(core_h5_read(file, start_path, CORE_H5_I32, 1, &n_start, start, false, err));
    CORE_TRY_DONE(ring_counts(file, start_path, (int)n_start - 1, start, n_points[0], counts, err));
    CORE_TRY_DONE(core_outline_create((int)n_start - 1, counts, &made, err));
    CORE_TRY_DONE(core_h5_read(file, points_path, CORE_H5_F64, 2, n_points, made.xy, true, err));
    *o = made;
    made = (core_outline){0};
done:
    core_outline_clear(&made);
    core_free(counts);
    core_free(start);
    return status;
}
