/// HDF5 files as fuzzers forge them. Bytes of metadata are not worth changing: each piece carries a check sum, and
/// behind check sums made right HDF5 1.10 itself reads beyond its buffers. So the input is a list of changes that HDF5
/// is asked to make in a valid file - values, sizes, types, missing and foreign objects -, and the reader gets the
/// result.
#ifndef FUZZ_FORGE_H
#define FUZZ_FORGE_H

#include "fuzz.h"

#include "core_h5_private.h"

#define FUZZ_OBJECTS_MAX 255 // one byte chooses
#define FUZZ_NAME_MAX 160
#define FUZZ_BYTES_MAX 65536
/// Changes of one input.
#define FUZZ_CHANGES_MAX 16

/// Names of all groups and datasets of the file.
typedef struct fuzz_names {
    char name[FUZZ_OBJECTS_MAX][FUZZ_NAME_MAX];
    int count;
} fuzz_names;

/// The input, byte by byte; zeros behind its end.
typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size, at;
} fuzz_bytes;

static inline unsigned fuzz_next(fuzz_bytes *b) {
    return b->at < b->size ? b->data[b->at++] : 0;
}

static inline herr_t fuzz_add_name(hid_t file, const char *name, const H5O_info_t *info, void *user) {
    (void)file;
    (void)info;
    fuzz_names *names = user;
    if (names->count < FUZZ_OBJECTS_MAX && strlen(name) < FUZZ_NAME_MAX && strcmp(name, ".") != 0)
        strcpy(names->name[names->count++], name);
    return 0;
}

static inline hid_t fuzz_type(unsigned choice) {
    hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE,
                     H5T_STD_U8LE,   H5T_STD_I8LE,   H5T_C_S1};
    return types[choice % 7];
}

/// A space of rank 0 to 3 with sizes 0 to 7, or one huge size.
static inline hid_t fuzz_space(fuzz_bytes *b) {
    unsigned how = fuzz_next(b);
    hsize_t dims[3];
    for (int i = 0; i < 3; i++) dims[i] = fuzz_next(b) % 8;
    if (how & 0x80) dims[0] = (hsize_t)1 << (how % 48);
    int rank = how % 4;
    return rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
}

/// Overwrites some of a dataset's bytes.
static inline void fuzz_change_values(hid_t file, const char *name, fuzz_bytes *b) {
    static unsigned char values[FUZZ_BYTES_MAX];
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), type = set < 0 ? -1 : H5Dget_type(set);
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    size_t width = type < 0 ? 0 : H5Tget_size(type);
    if (n > 0 && width > 0 && (size_t)n <= sizeof values / width &&
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
        size_t at = (fuzz_next(b) << 8 | fuzz_next(b)) % ((size_t)n * width), count = fuzz_next(b) % 16;
        for (size_t i = 0; i < count && at + i < (size_t)n * width; i++) values[at + i] = (unsigned char)fuzz_next(b);
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
}

/// Puts a dataset of another type or size, or a group, in an object's place.
static inline void fuzz_replace(hid_t file, const char *name, fuzz_bytes *b) {
    unsigned type = fuzz_next(b);
    H5Ldelete(file, name, H5P_DEFAULT);
    if (type % 8 == 7) {
        hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group >= 0) H5Gclose(group);
        return;
    }
    hid_t space = fuzz_space(b), set = -1, list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_LATE);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    if (space >= 0) set = H5Dcreate2(file, name, fuzz_type(type), space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (set >= 0) H5Dclose(set);
    if (space >= 0) H5Sclose(space);
    H5Pclose(list);
    if (type & 0x80) fuzz_change_values(file, name, b);
}

/// Removes an attribute of an object or puts another of the name in its place.
static inline void fuzz_change_attribute(hid_t file, const char *name, fuzz_bytes *b) {
    char key[FUZZ_NAME_MAX] = "";
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) return;
    unsigned which = fuzz_next(b), how = fuzz_next(b);
    if (H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, which % 32, key, sizeof key, H5P_DEFAULT) > 0) {
        H5Adelete(object, key);
        if (how & 1) {
            hid_t type = H5Tcopy(fuzz_type(how >> 1)), space = fuzz_space(b);
            if (H5Tget_class(type) == H5T_STRING) H5Tset_size(type, 1 + fuzz_next(b) % 32);
            hid_t attribute = space < 0 || H5Sget_simple_extent_npoints(space) > 64
                                  ? -1
                                  : H5Acreate2(object, key, type, space, H5P_DEFAULT, H5P_DEFAULT);
            if (attribute >= 0) {
                unsigned char values[64 * 32];
                for (size_t i = 0; i < sizeof values; i++) values[i] = i < 64 ? (unsigned char)fuzz_next(b) : 0;
                H5Awrite(attribute, type, values);
                H5Aclose(attribute);
            }
            if (space >= 0) H5Sclose(space);
            H5Tclose(type);
        }
    }
    H5Oclose(object);
}

static inline void fuzz_change(hid_t file, const fuzz_names *names, fuzz_bytes *b) {
    unsigned how = fuzz_next(b), which = fuzz_next(b) % ((unsigned)names->count + 1);
    const char *name = which == (unsigned)names->count ? "/" : names->name[which];
    bool root = name[0] == '/';
    switch (how % 4) {
    case 0:
        if (!root) fuzz_change_values(file, name, b);
        break;
    case 1:
        if (!root) H5Ldelete(file, name, H5P_DEFAULT);
        break;
    case 2:
        if (!root) fuzz_replace(file, name, b);
        break;
    default:
        fuzz_change_attribute(file, name, b);
    }
}

/// A file with these bytes, in memory until it is closed. No file of the name may be there. Negative: HDF5 refuses
/// them.
static inline hid_t fuzz_open_image(const char *name, void *bytes, size_t n) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_fapl_core(access, (size_t)1 << 16, true);
    H5Pset_file_image(access, bytes, n);
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, access);
    H5Pclose(access);
    return file;
}

/// Makes the content hash right.
static inline void fuzz_seal(hid_t file) {
    core_h5 *handle = NULL;
    uint64_t hash = 0;
    char text[64] = "";
    if (core__h5_handle_create("a.h5", false, &handle, NULL) != CORE_OK) return;
    handle->id = file;
    const bool known = core_h5_compute_hash(handle, &hash, NULL) == CORE_OK;
    handle->id = -1; // the caller's
    core_h5_close(&handle);
    core_hash_text(hash, text);
    hid_t attribute = known ? H5Aopen_by_name(file, "/", CORE_H5_HASH_ATTRIBUTE, H5P_DEFAULT, H5P_DEFAULT) : -1;
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) <= sizeof text)
        H5Awrite(attribute, type, text);
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
}

/// A copy of the valid file `seed`, the same at each call, with the input's changes, made in memory; NULL if it could
/// not be made. sealed: its content hash is made right, for readers that compare it, behind which the changes would not
/// be seen.
static inline const char *fuzz_forge(const char *seed, bool sealed, const uint8_t *data, size_t size) {
    static fuzz_names names;
    static char *valid;
    static size_t n_valid;
    const char *path = test_folder_file("a.h5");
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (!valid && core_file_read(seed, (size_t)1 << 24, &valid, &n_valid, NULL) != CORE_OK) abort();
    remove(path);
    hid_t file = fuzz_open_image(path, valid, n_valid);
    fuzz_expect(file >= 0, "the seed is no HDF5 file");
    if (names.count == 0) H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, fuzz_add_name, &names, H5O_INFO_BASIC);
    fuzz_bytes b = {data, size, 0};
    for (int i = 0; i < FUZZ_CHANGES_MAX && b.at < b.size; i++) fuzz_change(file, &names, &b);
    if (sealed) fuzz_seal(file);
    return H5Fclose(file) >= 0 ? path : NULL;
}

#endif
