/// Copying the objects of one HDF5 file into another one, growing datasets with as many rows as are wanted. Nothing
/// behind these rows is looked at: where a program was killed, it may be half there.
#include "core_h5_private.h"

#include <stdio.h>
#include <string.h>

#define COPY_BLOCK_BYTES ((size_t)1 << 22) // rows are copied in blocks of about this size
#define COPY_PATH_MAX 1024
#define COPY_ATTRIBUTE_MAX ((size_t)1 << 20)

/// A dataset that has been copied: another link to it becomes a link again.
typedef struct copied {
    haddr_t address; // in the source
    char *path;
} copied;

/// What the visit of all links carries along.
typedef struct copy_visit {
    core_h5 *from, *to;
    core_h5_rows *rows;
    void *user;
    core_error *err;
    core_status status;
    size_t count_copied;
    copied *copied; // (count_copied)
} copy_visit;

// ---------------------------------------------------------------------------------------------- attributes

/// What the visit of an object's attributes carries along.
typedef struct attribute_visit {
    core_h5 *from;
    const char *path;
    hid_t target;
    core_error *err;
    core_status status;
} attribute_visit;

static core_status copy_attribute(attribute_visit *v, hid_t object, const char *name) {
    core_status status = CORE_OK;
    const core_h5 *file = v->from;
    core_error *err = v->err;
    unsigned char *value = NULL;
    hid_t source = -1, type = -1, space = -1, made = -1;
    H5_TRY_DONE(source = H5Aopen(object, name, H5P_DEFAULT), v->path, "read an attribute");
    H5_TRY_DONE(type = H5Aget_type(source), v->path, "read an attribute");
    H5_TRY_DONE(space = H5Aget_space(source), v->path, "read an attribute");
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    CORE_CHECK_DONE(H5Tget_class(type) != H5T_VLEN && H5Tis_variable_str(type) <= 0 && count >= 0 && size > 0 &&
                        (size_t)count <= COPY_ATTRIBUTE_MAX / size,
                    CORE_FORMAT, "%s: %s: attribute %s is of another type or size than cem writes", file->path, v->path,
                    name);
    CORE_NEW_DONE(value, (size_t)count * size);
    H5_TRY_DONE(H5Aread(source, type, value), v->path, "read an attribute");
    H5_TRY_DONE(made = H5Acreate2(v->target, name, type, space, H5P_DEFAULT, H5P_DEFAULT), v->path,
                "copy an attribute");
    H5_TRY_DONE(H5Awrite(made, type, value), v->path, "copy an attribute");
done:
    core__h5_release(made);
    core__h5_release(space);
    core__h5_release(type);
    core__h5_release(source);
    core_free(value);
    return status;
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user) {
    (void)info;
    attribute_visit *v = user;
    v->status = copy_attribute(v, object, name);
    return v->status == CORE_OK ? 0 : 1;
}

static core_status copy_attributes(core_h5 *file, const char *path, hid_t source, hid_t target, core_error *err) {
    core_status status = CORE_OK;
    attribute_visit v = {file, path, target, err, CORE_OK};
    H5_TRY_DONE(H5Aiterate2(source, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, &v), path,
                "read the attributes");
    status = v.status;
done:
    return status;
}

// ---------------------------------------------------------------------------------------------- objects

static core_status copy_group(copy_visit *v, const char *path) {
    core_status status = CORE_OK;
    core_h5 *file = v->from;
    core_error *err = v->err;
    hid_t source = -1, target = -1;
    CORE_TRY_DONE(core_h5_group(v->to, path, NULL, err));
    H5_TRY_DONE(source = H5Gopen2(file->id, path, H5P_DEFAULT), path, "open the group");
    H5_TRY_DONE(target = H5Gopen2(v->to->id, path, H5P_DEFAULT), path, "copy the group");
    status = copy_attributes(file, path, source, target, err);
done:
    core__h5_release(target);
    core__h5_release(source);
    return status;
}

/// Copies the rows [0, dims[0]) of a growing dataset; row_bytes: of one of them.
static core_status copy_rows(core_h5 *file, const char *path, hid_t source, hid_t target, hid_t type, int rank,
                             const hsize_t *dims, size_t row_bytes, core_error *err) {
    core_status status = CORE_OK;
    unsigned char *buffer = NULL;
    hid_t memory = -1, from = -1, to = -1;
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    memcpy(count, dims, (size_t)rank * sizeof *dims);
    size_t block = COPY_BLOCK_BYTES / row_bytes > 1 ? COPY_BLOCK_BYTES / row_bytes : 1;
    if (block > dims[0]) block = (size_t)dims[0];
    CORE_NEW_DONE(buffer, block * row_bytes);
    H5_TRY_DONE(from = H5Dget_space(source), path, "copy rows");
    H5_TRY_DONE(to = H5Dget_space(target), path, "copy rows");
    for (hsize_t i = 0; i < dims[0]; i += block) {
        start[0] = i;
        count[0] = dims[0] - i < block ? dims[0] - i : block;
        H5_TRY_DONE(memory = H5Screate_simple(rank, count, NULL), path, "copy rows");
        H5_TRY_DONE(H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count, NULL), path, "copy rows");
        H5_TRY_DONE(H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, count, NULL), path, "copy rows");
        H5_TRY_DONE(H5Dread(source, type, memory, from, H5P_DEFAULT, buffer), path, "read rows");
        H5_TRY_DONE(H5Dwrite(target, type, memory, to, H5P_DEFAULT, buffer), path, "copy rows");
        core__h5_release(memory);
        memory = -1;
    }
done:
    core__h5_release(memory);
    core__h5_release(to);
    core__h5_release(from);
    core_free(buffer);
    return status;
}

/// A growing dataset of `rows` rows; now, most: sizes of the source.
static core_status copy_series(copy_visit *v, const char *path, hid_t source, int rank, hsize_t *now,
                               const hsize_t *most) {
    core_status status = CORE_OK;
    core_h5 *file = v->from;
    core_error *err = v->err;
    hid_t type = -1, space = -1, creation = -1, target = -1, link = core__h5_link_list();
    const hsize_t rows = v->rows(v->user, path);
    CORE_CHECK_DONE(rows <= now[0], CORE_FORMAT, "%s: %s: found %llu rows, expected at least %llu", file->path, path,
                    (unsigned long long)now[0], (unsigned long long)rows);
    now[0] = rows;
    H5_TRY_DONE(type = H5Dget_type(source), path, "read the type");
    H5_TRY_DONE(creation = H5Dget_create_plist(source), path, "copy");
    H5_TRY_DONE(space = H5Screate_simple(rank, now, most), path, "copy");
    H5_TRY_DONE(target = H5Dcreate2(v->to->id, path, type, space, link, creation, H5P_DEFAULT), path, "copy");
    CORE_TRY_DONE(copy_attributes(file, path, source, target, err));
    size_t row_bytes = H5Tget_size(type);
    for (int i = 1; i < rank; i++) row_bytes *= (size_t)now[i];
    if (rows > 0 && row_bytes > 0) status = copy_rows(file, path, source, target, type, rank, now, row_bytes, err);
done:
    core__h5_release(target);
    core__h5_release(space);
    core__h5_release(creation);
    core__h5_release(type);
    core__h5_release(link);
    return status;
}

static core_status copy_dataset(copy_visit *v, const char *path) {
    core_status status = CORE_OK;
    core_h5 *file = v->from;
    core_error *err = v->err;
    size_t dims[CORE_H5_MAX_RANK];
    hsize_t now[H5S_MAX_RANK], most[H5S_MAX_RANK];
    hid_t source = -1, space = -1, link = core__h5_link_list();
    int rank = 0;
    CORE_TRY_DONE(core__h5_open_dataset(file, path, &source, err));
    CORE_TRY_DONE(core__h5_dataset_size(file, path, source, CORE_H5_MAX_RANK, &rank, dims, err));
    H5_TRY_DONE(space = H5Dget_space(source), path, "read the size");
    H5_TRY_DONE(rank = H5Sget_simple_extent_dims(space, now, most), path, "read the size");
    if (rank > 0 && most[0] == H5S_UNLIMITED)
        status = copy_series(v, path, source, rank, now, most);
    else
        H5_TRY_DONE(H5Ocopy(file->id, path, v->to->id, path, H5P_DEFAULT, link), path, "copy");
done:
    core__h5_release(space);
    core__h5_release(source);
    core__h5_release(link);
    return status;
}

/// A dataset at its first link, a link at every other one.
static core_status copy_or_link(copy_visit *v, const char *path, haddr_t address) {
    core_status status = CORE_OK;
    core_error *err = v->err;
    const size_t n = v->count_copied;
    for (size_t i = 0; i < n; i++)
        if (v->copied[i].address == address) return core_h5_link(v->to, v->copied[i].path, path, err);
    CORE_TRY_DONE(copy_dataset(v, path));
    copied *larger = core_realloc(v->copied, n, n + 1, sizeof *larger);
    CORE_CHECK_DONE(larger, CORE_MEMORY, "%s: %s: out of memory", v->from->path, path);
    v->copied = larger;
    v->copied[n] = (copied){address, NULL};
    v->count_copied = n + 1;
    status = core_path_join(NULL, path, &v->copied[n].path, err);
done:
    return status;
}

static core_status copy_object(copy_visit *v, const char *name) {
    core_status status = CORE_OK;
    core_h5 *file = v->from;
    core_error *err = v->err;
    char path[COPY_PATH_MAX];
    H5O_info_t info;
    const int n = snprintf(path, sizeof path, "/%s", name);
    CORE_CHECK(n >= 0 && (size_t)n < sizeof path, CORE_FORMAT, "%s: a name has more than %zu bytes", file->path,
               sizeof path);
    H5_TRY_DONE(H5Oget_info_by_name2(file->id, path, &info, H5O_INFO_BASIC, H5P_DEFAULT), path, "open");
    CORE_CHECK_DONE(info.type == H5O_TYPE_GROUP || info.type == H5O_TYPE_DATASET, CORE_FORMAT,
                    "%s: %s: is neither a group nor a dataset", file->path, path);
    status = info.type == H5O_TYPE_GROUP ? copy_group(v, path) : copy_or_link(v, path, info.addr);
done:
    return status;
}

/// Called for each link, parents before children.
static herr_t visit_link(hid_t root, const char *name, const H5L_info_t *info, void *user) {
    (void)root;
    (void)info;
    copy_visit *v = user;
    v->status = copy_object(v, name);
    return v->status == CORE_OK ? 0 : 1;
}

core_status core_h5_copy(core_h5 *from, core_h5 *to, core_h5_rows *rows, void *user, core_error *err) {
    core_status status = CORE_OK;
    const core_h5 *file = from;
    CORE_CHECK(from && to && rows, CORE_ARG, "HDF5: null pointer");
    CORE_TRY(core__h5_check_writing(to, err));
    copy_visit v = {.from = from, .to = to, .rows = rows, .user = user, .err = err};
    H5_TRY_DONE(H5Lvisit(from->id, H5_INDEX_NAME, H5_ITER_INC, visit_link, &v), "/", "visit the objects");
    status = v.status;
done:
    for (size_t i = 0; i < v.count_copied; i++) core_free(v.copied[i].path);
    core_free(v.copied);
    return status;
}
