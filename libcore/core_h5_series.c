/// Growing datasets of HDF5 files: rows are added behind the last one, the first dimension without limit.
#include "core_h5_private.h"

#include <math.h>
#include <string.h>

/// The dataset of a path from the table, opened and entered if it is not there yet. Owned by the table.
static core_status series_open(core_h5 *file, const char *path, hid_t *dataset, core_error *err) {
    core_status status = CORE_OK;
    core_h5_series entry = {NULL, -1};
    for (int i = 0; i < file->count_series; i++) {
        if (strcmp(file->series[i].path, path) == 0) {
            *dataset = file->series[i].dataset;
            return CORE_OK;
        }
    }
    size_t n = (size_t)file->count_series;
    CORE_TRY_DONE(core_path_join(NULL, path, &entry.path, err));
    CORE_TRY_DONE(core__h5_open_dataset(file, path, &entry.dataset, err));
    core_h5_series *larger = core_realloc(file->series, n, n + 1, sizeof *larger);
    CORE_CHECK_DONE(larger, CORE_MEMORY, "%s: %s: out of memory", file->path, path);
    file->series = larger;
    file->series[file->count_series++] = entry;
    *dataset = entry.dataset;
    entry = (core_h5_series){NULL, -1};
done:
    core__h5_release(entry.dataset);
    core_free(entry.path);
    return status;
}

bool core__h5_series_clear(core_h5 *file) {
    bool closed = true;
    for (int i = 0; i < file->count_series; i++) {
        closed = core__h5_release(file->series[i].dataset) && closed;
        core_free(file->series[i].path);
    }
    core_free(file->series);
    file->series = NULL;
    file->count_series = 0;
    return closed;
}

/// Creation list of a series: chunks of whole rows, NaN where nothing was written.
static core_status creation_list(core_h5 *file, const char *path, core_h5_type type, int rank, const hsize_t *chunk,
                                 hid_t *list, core_error *err) {
    core_status status = CORE_OK;
    const double nan_value = NAN;
    H5_TRY_DONE(*list = core__h5_object_list(H5P_DATASET_CREATE), path, "create the series");
    H5_TRY_DONE(H5Pset_chunk(*list, rank, chunk), path, "create the series");
    if (type == CORE_H5_F32 || type == CORE_H5_F64)
        H5_TRY_DONE(H5Pset_fill_value(*list, H5T_NATIVE_DOUBLE, &nan_value), path, "create the series");
done:
    return status;
}

core_status core_h5_series_create(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                  size_t chunk_rows, const char *units, const char *description, core_error *err) {
    core_status status = CORE_OK;
    hid_t space = -1, dataset = -1, creation = -1;
    hsize_t now[CORE_H5_MAX_RANK] = {0}, most[CORE_H5_MAX_RANK] = {H5S_UNLIMITED}, chunk[CORE_H5_MAX_RANK] = {1};
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(path && row_rank >= 0 && row_rank < CORE_H5_MAX_RANK && (row || row_rank == 0) && chunk_rows >= 1 &&
                   core__h5_type_size(type) > 0,
               CORE_ARG, "%s: series: bad argument", file->path);
    CORE_CHECK(!core_h5_exists(file, path), CORE_ARG, "%s: %s: is created twice", file->path, path);
    size_t row_bytes = core__h5_type_size(type);
    for (int i = 0; i < row_rank; i++) {
        now[i + 1] = row[i];
        most[i + 1] = chunk[i + 1] = row[i] > 0 ? row[i] : 1; // neither may be 0
        CORE_CHECK(chunk[i + 1] <= UINT32_MAX / row_bytes, CORE_RANGE, "%s: %s: a row has more than 4 GiB", file->path,
                   path);
        row_bytes *= (size_t)chunk[i + 1];
    }
    // chunks that do not fit into the cache would be rewritten on each append
    size_t fitting = CORE_H5_CHUNK_CACHE_BYTES / row_bytes > 1 ? CORE_H5_CHUNK_CACHE_BYTES / row_bytes : 1;
    chunk[0] = chunk_rows < fitting ? chunk_rows : fitting;
    CORE_TRY(core__h5_make_parents(file, path, err));
    hid_t link = core__h5_link_list();
    CORE_TRY_DONE(creation_list(file, path, type, row_rank + 1, chunk, &creation, err));
    H5_TRY_DONE(space = H5Screate_simple(row_rank + 1, now, most), path, "create the series");
    H5_TRY_DONE(dataset = H5Dcreate2(file->id, path, core__h5_disk_type(type), space, link, creation, H5P_DEFAULT),
                path, "create the series");
    CORE_TRY_DONE(core__h5_describe(file, path, units, description, err));
done:
    core__h5_release(dataset);
    core__h5_release(space);
    core__h5_release(creation);
    core__h5_release(link);
    return status;
}

/// Number of rows of a series whose rows have the given sizes; FORMAT if they have others.
static core_status count_rows(core_h5 *file, const char *path, hid_t dataset, core_h5_type type, int row_rank,
                              const size_t *row, size_t *count, core_error *err) {
    size_t dims[CORE_H5_MAX_RANK] = {0};
    int rank = 0;
    CORE_TRY(core__h5_dataset_size(file, path, dataset, CORE_H5_MAX_RANK, &rank, dims, err));
    CORE_CHECK(rank == row_rank + 1, CORE_FORMAT, "%s: %s: found rank %d, expected %d", file->path, path, rank,
               row_rank + 1);
    for (int i = 0; i < row_rank; i++)
        CORE_CHECK(dims[i + 1] == row[i], CORE_FORMAT, "%s: %s: found %zu in dimension %d, expected %zu", file->path,
                   path, dims[i + 1], i + 1, row[i]);
    CORE_TRY(core__h5_check_class(file, path, dataset, type, err));
    *count = dims[0];
    return CORE_OK;
}

/// Selects n rows of a dataset from row `first` on and gives the memory space of that many rows.
static core_status select_rows(core_h5 *file, const char *path, hid_t dataset, int row_rank, const size_t *row,
                               size_t first, size_t n, hid_t *memory, hid_t *selected, core_error *err) {
    core_status status = CORE_OK;
    hsize_t start[CORE_H5_MAX_RANK] = {first}, count[CORE_H5_MAX_RANK] = {n};
    for (int k = 0; k < row_rank; k++) count[k + 1] = row[k];
    H5_TRY_DONE(*selected = H5Dget_space(dataset), path, "select rows");
    H5_TRY_DONE(H5Sselect_hyperslab(*selected, H5S_SELECT_SET, start, NULL, count, NULL), path, "select rows");
    H5_TRY_DONE(*memory = H5Screate_simple(row_rank + 1, count, NULL), path, "select rows");
done:
    return status;
}

/// True if a row has no elements.
static bool is_empty(int row_rank, const size_t *row) {
    for (int i = 0; i < row_rank; i++) {
        if (row[i] == 0) return true;
    }
    return false;
}

/// Grows or shrinks a series to the given number of rows.
static herr_t resize(hid_t dataset, int row_rank, const size_t *row, size_t rows) {
    hsize_t dims[CORE_H5_MAX_RANK] = {rows};
    for (int i = 0; i < row_rank; i++) dims[i + 1] = row[i];
    return H5Dset_extent(dataset, dims);
}

core_status core_h5_series_append_rows(core_h5 *file, const char *path, core_h5_type type, int row_rank,
                                       const size_t *row, size_t n, const void *data, core_error *err) {
    core_status status = CORE_OK;
    hid_t dataset = -1, memory = -1, selected = -1;
    size_t rows = 0;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(path && row_rank >= 0 && row_rank < CORE_H5_MAX_RANK && (row || row_rank == 0) &&
                   (data || n == 0 || is_empty(row_rank, row)) && core__h5_type_size(type) > 0,
               CORE_ARG, "%s: series: bad argument", file->path);
    CORE_TRY(series_open(file, path, &dataset, err));
    CORE_TRY(count_rows(file, path, dataset, type, row_rank, row, &rows, err));
    H5_TRY_DONE(resize(dataset, row_rank, row, rows + n), path, "append");
    if (n == 0 || is_empty(row_rank, row)) goto done;
    CORE_TRY_DONE(select_rows(file, path, dataset, row_rank, row, rows, n, &memory, &selected, err));
    if (H5Dwrite(dataset, core__h5_memory_type(type), memory, selected, H5P_DEFAULT, data) < 0) {
        status = core__h5_fail(file, err, __FILE__, __LINE__, path, "append");
        (void)resize(dataset, row_rank, row, rows); // no rows are better than rows of fill values
    }
done:
    core__h5_release(selected);
    core__h5_release(memory);
    return status;
}

core_status core_h5_series_append(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                  const void *data, core_error *err) {
    return core_h5_series_append_rows(file, path, type, row_rank, row, 1, data, err);
}

core_status core_h5_series_read_rows(core_h5 *file, const char *path, core_h5_type type, int row_rank,
                                     const size_t *row, size_t first, size_t n, void *data, core_error *err) {
    core_status status = CORE_OK;
    hid_t dataset = -1, memory = -1, selected = -1;
    size_t rows = 0;
    CORE_CHECK(file && path && row_rank >= 0 && row_rank < CORE_H5_MAX_RANK && (row || row_rank == 0) &&
                   (data || n == 0 || is_empty(row_rank, row)) && core__h5_type_size(type) > 0,
               CORE_ARG, "HDF5: series: bad argument");
    CORE_TRY(series_open(file, path, &dataset, err));
    CORE_TRY(count_rows(file, path, dataset, type, row_rank, row, &rows, err));
    CORE_CHECK(first <= rows && n <= rows - first, CORE_FORMAT,
               "%s: %s: found %zu rows, expected at least %zu from row %zu on", file->path, path, rows, n, first);
    if (n == 0 || is_empty(row_rank, row)) return CORE_OK;
    CORE_TRY_DONE(select_rows(file, path, dataset, row_rank, row, first, n, &memory, &selected, err));
    H5_TRY_DONE(H5Dread(dataset, core__h5_memory_type(type), memory, selected, H5P_DEFAULT, data), path, "read rows");
done:
    core__h5_release(selected);
    core__h5_release(memory);
    return status;
}

core_status core_h5_series_read(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                size_t i, void *data, core_error *err) {
    return core_h5_series_read_rows(file, path, type, row_rank, row, i, 1, data, err);
}
