/// Content hash of an HDF5 file: names, types, sizes and bytes of all datasets outside /provenance, in name order.
/// Attributes, chunk sizes, storage order and object times have no part in it.
#include "core_h5_private.h"

#include <string.h>

#define HASH_BLOCK_BYTES ((size_t)1 << 22) // a dataset is read in blocks of rows of about this size

/// What the visit of all objects carries along.
typedef struct hash_visit {
    core_h5 *file;
    core_error *err;
    core_status status;
    uint64_t hash;
} hash_visit;

/// Hashes class, element size, signedness and sizes.
static uint64_t hash_shape(uint64_t hash, hid_t type, int rank, const size_t *dims) {
    int64_t words[4 + CORE_H5_MAX_RANK] = {(int64_t)H5Tget_class(type), (int64_t)H5Tget_size(type), 0, rank};
    if (words[0] == (int64_t)H5T_INTEGER) words[2] = (int64_t)H5Tget_sign(type);
    for (int i = 0; i < rank; i++) words[4 + i] = (int64_t)dims[i];
    return core_hash_bytes(hash, words, sizeof words);
}

/// Hashes all elements, block by block along the first dimension; the hash runs on over the blocks, so their size
/// belongs to its definition.
static core_status hash_elements(core_h5 *file, const char *path, hid_t dataset, hid_t type, int rank,
                                 const size_t *dims, uint64_t *hash, core_error *err) {
    core_status status = CORE_OK;
    unsigned char *buffer = NULL;
    hid_t selected = -1, memory = -1;
    hsize_t start[CORE_H5_MAX_RANK] = {0}, count[CORE_H5_MAX_RANK] = {1};
    size_t rows = rank > 0 ? dims[0] : 1, row_bytes = H5Tget_size(type);
    for (int i = 1; i < rank; i++) {
        count[i] = dims[i];
        row_bytes *= dims[i];
    }
    if (rows == 0 || row_bytes == 0) return CORE_OK;
    size_t block = HASH_BLOCK_BYTES / row_bytes > 1 ? HASH_BLOCK_BYTES / row_bytes : 1;
    if (block > rows) block = rows;
    CORE_NEW_DONE(buffer, block * row_bytes);
    H5_TRY_DONE(selected = H5Dget_space(dataset), path, "read");
    for (size_t i = 0; i < rows; i += block) {
        start[0] = i;
        count[0] = rows - i < block ? rows - i : block;
        if (rank > 0) {
            H5_TRY_DONE(H5Sselect_hyperslab(selected, H5S_SELECT_SET, start, NULL, count, NULL), path, "read");
            H5_TRY_DONE(memory = H5Screate_simple(rank, count, NULL), path, "read");
        } else {
            H5_TRY_DONE(memory = H5Screate(H5S_SCALAR), path, "read");
        }
        H5_TRY_DONE(H5Dread(dataset, type, memory, selected, H5P_DEFAULT, buffer), path, "read");
        *hash = core_hash_bytes(*hash, buffer, (size_t)count[0] * row_bytes);
        core__h5_release(memory);
        memory = -1;
    }
done:
    core__h5_release(memory);
    core__h5_release(selected);
    core_free(buffer);
    return status;
}

static core_status hash_dataset(core_h5 *file, const char *path, uint64_t *hash, core_error *err) {
    core_status status = CORE_OK;
    hid_t dataset = -1, type = -1;
    int rank = 0;
    size_t dims[CORE_H5_MAX_RANK] = {0};
    CORE_TRY_DONE(core__h5_open_dataset(file, path, &dataset, err));
    CORE_TRY_DONE(core__h5_dataset_size(file, path, dataset, CORE_H5_MAX_RANK, &rank, dims, err));
    H5_TRY_DONE(type = H5Dget_type(dataset), path, "read the type");
    H5T_class_t kind = H5Tget_class(type);
    bool plain = kind == H5T_INTEGER || kind == H5T_FLOAT || (kind == H5T_STRING && H5Tis_variable_str(type) == 0);
    size_t largest = file->writing ? SIZE_MAX : kind == H5T_STRING ? (size_t)file->bytes : 16;
    CORE_CHECK_DONE(plain && H5Tget_size(type) <= largest, CORE_FORMAT,
                    "%s: %s: is of another type, expected numbers or fixed-length text", file->path, path);
    *hash = core_hash_bytes(*hash, path, strlen(path));
    *hash = hash_shape(*hash, type, rank, dims);
    CORE_TRY_DONE(hash_elements(file, path, dataset, type, rank, dims, hash, err));
done:
    core__h5_release(type);
    core__h5_release(dataset);
    return status;
}

/// Called for each object once, parents before children, names in order.
static herr_t visit(hid_t root, const char *name, const H5O_info_t *info, void *user) {
    (void)root;
    hash_visit *v = user;
    char path[1024] = "/";
    static const char provenance[] = "provenance";
    size_t n = strlen(provenance);
    if (info->type != H5O_TYPE_DATASET) return 0;
    if (strncmp(name, provenance, n) == 0 && (name[n] == '/' || name[n] == '\0')) return 0;
    if (strlen(name) + 2 > sizeof path) {
        v->status = CORE_FAIL(v->err, CORE_FORMAT, "%s: a dataset has a name of more than %zu bytes", v->file->path,
                              sizeof path);
        return 1;
    }
    strcpy(path + 1, name);
    v->status = hash_dataset(v->file, path, &v->hash, v->err);
    return v->status == CORE_OK ? 0 : 1;
}

core_status core_h5_compute_hash(core_h5 *file, uint64_t *hash, core_error *err) {
    core_status status = CORE_OK;
    CORE_CHECK(file && hash, CORE_ARG, "HDF5: null pointer");
    hash_visit v = {file, err, CORE_OK, 0};
    H5_TRY_DONE(H5Ovisit2(file->id, H5_INDEX_NAME, H5_ITER_INC, visit, &v, H5O_INFO_BASIC), "/", "visit the datasets");
    CORE_TRY_DONE(v.status);
    *hash = v.hash;
done:
    return status;
}

core_status core_h5_content_hash(core_h5 *file, uint64_t *hash, core_error *err) {
    char text[32];
    uint64_t value = 0;
    CORE_CHECK(file && hash, CORE_ARG, "HDF5: null pointer");
    CORE_TRY(core_h5_get_text(file, "/", CORE_H5_HASH_ATTRIBUTE, text, sizeof text, err));
    CORE_CHECK(text[0], CORE_FORMAT, "%s: content_hash is empty: the file was not finished", file->path);
    CORE_CHECK(strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16, CORE_FORMAT,
               "%s: content_hash: found \"%s\", expected 16 hexadecimal digits", file->path, text);
    for (const char *p = text; *p; p++) value = value << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
    *hash = value;
    return CORE_OK;
}
