/// Attributes of HDF5 objects: numbers, integers, text; provenance.
#include "core_h5_private.h"

#include <stdio.h>
#include <string.h>

#define ATTRIBUTE_MAX_BYTES ((size_t)1 << 20)

#ifdef __VERSION__
#define ATTRIBUTE_COMPILER __VERSION__
#else
#define ATTRIBUTE_COMPILER "unknown"
#endif

// ---------------------------------------------------------------------------------------------- writing

/// Fixed-length UTF-8 text type of n bytes, the zero included.
static hid_t text_type(size_t n_bytes) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    H5Tset_size(type, n_bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/// True if an attribute's value can be replaced in its place: the only way in a file that others are reading.
static bool same_form(hid_t attribute, hid_t disk, hid_t space) {
    hid_t type = H5Aget_type(attribute), old = H5Aget_space(attribute);
    const bool same = type >= 0 && old >= 0 && H5Tequal(type, disk) > 0 && H5Sextent_equal(old, space) > 0;
    core__h5_release(type);
    core__h5_release(old);
    return same;
}

/// Replaces attribute `name` of `object` by n elements (n < 0: one scalar).
static core_status set_attribute(core_h5 *file, const char *object, const char *name, hid_t disk, hid_t memory, int n,
                                 const void *data, core_error *err) {
    core_status status = CORE_OK;
    hid_t space = -1, owner = -1, attribute = -1;
    hsize_t count = n < 0 ? 1 : (hsize_t)n;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(object && name && data, CORE_ARG, "%s: attribute: null pointer", file->path);
    H5_TRY_DONE(space = n < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL), object,
                "write an attribute");
    H5_TRY_DONE(owner = H5Oopen(file->id, object, H5P_DEFAULT), object, "open");
    if (H5Aexists(owner, name) > 0) {
        H5_TRY_DONE(attribute = H5Aopen(owner, name, H5P_DEFAULT), object, "replace an attribute");
        if (!same_form(attribute, disk, space)) {
            core__h5_release(attribute);
            attribute = -1;
            H5_TRY_DONE(H5Adelete(owner, name), object, "replace an attribute");
        }
    }
    if (attribute < 0)
        H5_TRY_DONE(attribute = H5Acreate2(owner, name, disk, space, H5P_DEFAULT, H5P_DEFAULT), object,
                    "write an attribute");
    H5_TRY_DONE(H5Awrite(attribute, memory, data), object, "write an attribute");
done:
    core__h5_release(attribute);
    core__h5_release(owner);
    core__h5_release(space);
    return status;
}

core_status core_h5_set_number(core_h5 *file, const char *object, const char *name, double value, core_error *err) {
    return set_attribute(file, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, -1, &value, err);
}

core_status core_h5_set_integer(core_h5 *file, const char *object, const char *name, int64_t value, core_error *err) {
    return set_attribute(file, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, -1, &value, err);
}

core_status core_h5_set_text(core_h5 *file, const char *object, const char *name, const char *value, core_error *err) {
    CORE_CHECK(value, CORE_ARG, "HDF5: null pointer");
    hid_t type = text_type(strlen(value) + 1);
    core_status status = set_attribute(file, object, name, type, type, -1, value, err);
    core__h5_release(type);
    return status;
}

core_status core__h5_reserve_text(core_h5 *file, const char *name, size_t n_bytes, core_error *err) {
    core_status status = CORE_OK;
    char *empty = NULL;
    hid_t type = text_type(n_bytes);
    CORE_NEW_DONE(empty, n_bytes);
    status = set_attribute(file, "/", name, type, type, -1, empty, err);
done:
    core__h5_release(type);
    core_free(empty);
    return status;
}

core_status core_h5_set_numbers(core_h5 *file, const char *object, const char *name, int n, const double *values,
                                core_error *err) {
    CORE_CHECK(n >= 1, CORE_ARG, "HDF5: attribute of %d numbers, expected at least 1", n);
    return set_attribute(file, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n, values, err);
}

core_status core_h5_set_integers(core_h5 *file, const char *object, const char *name, int n, const int64_t *values,
                                 core_error *err) {
    CORE_CHECK(n >= 1, CORE_ARG, "HDF5: attribute of %d numbers, expected at least 1", n);
    return set_attribute(file, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, n, values, err);
}

core_status core_h5_set_texts(core_h5 *file, const char *object, const char *name, int n, const char *const *values,
                              core_error *err) {
    core_status status = CORE_OK;
    char *rows = NULL; // (n x size), each padded with zeros
    hid_t type = -1;
    size_t size = 1;
    CORE_CHECK(n >= 1 && values, CORE_ARG, "HDF5: attribute of %d texts, expected at least 1", n);
    for (int i = 0; i < n; i++) {
        CORE_CHECK(values[i], CORE_ARG, "HDF5: null pointer");
        if (strlen(values[i]) + 1 > size) size = strlen(values[i]) + 1;
    }
    CORE_NEW_DONE(rows, (size_t)n * size);
    for (int i = 0; i < n; i++) memcpy(rows + (size_t)i * size, values[i], strlen(values[i]));
    type = text_type(size);
    CORE_TRY_DONE(set_attribute(file, object, name, type, type, n, rows, err));
done:
    core__h5_release(type);
    core_free(rows);
    return status;
}

core_status core__h5_describe(core_h5 *file, const char *path, const char *units, const char *description,
                              core_error *err) {
    if (units) CORE_TRY(core_h5_set_text(file, path, "units", units, err));
    if (description) CORE_TRY(core_h5_set_text(file, path, "description", description, err));
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- reading

/// An attribute opened for reading, with its type and number of elements.
typedef struct opened_attribute {
    hid_t id, type;
    hssize_t count;
} opened_attribute;

static void attribute_close(opened_attribute *a) {
    core__h5_release(a->type);
    core__h5_release(a->id);
}

static core_status attribute_open(core_h5 *file, const char *object, const char *name, opened_attribute *a,
                                  core_error *err) {
    core_status status = CORE_OK;
    hid_t space = -1;
    CORE_CHECK(file && object && name, CORE_ARG, "HDF5: null pointer");
    CORE_CHECK(core_h5_exists(file, object), CORE_FORMAT, "%s: %s is missing", file->path, object);
    htri_t there = H5Aexists_by_name(file->id, object, name, H5P_DEFAULT);
    H5_TRY_DONE(there, object, "read the attributes");
    CORE_CHECK_DONE(there > 0, CORE_FORMAT, "%s: %s: attribute %s is missing", file->path, object, name);
    H5_TRY_DONE(a->id = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT), object, "read an attribute");
    H5_TRY_DONE(a->type = H5Aget_type(a->id), object, "read an attribute");
    H5_TRY_DONE(space = H5Aget_space(a->id), object, "read an attribute");
    H5_TRY_DONE(a->count = H5Sget_simple_extent_npoints(space), object, "read an attribute");
done:
    core__h5_release(space);
    return status;
}

/// Reads exactly n numbers; integers are accepted for floating ones, not the other way round.
static core_status get_attribute(core_h5 *file, const char *object, const char *name, core_h5_type type, int n,
                                 void *data, core_error *err) {
    core_status status = CORE_OK;
    opened_attribute a = {-1, -1, 0};
    CORE_CHECK(data, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(attribute_open(file, object, name, &a, err));
    H5T_class_t kind = H5Tget_class(a.type);
    bool fits = kind == H5T_INTEGER || (kind == H5T_FLOAT && type == CORE_H5_F64);
    CORE_CHECK_DONE(fits && H5Tget_size(a.type) <= 8, CORE_FORMAT,
                    "%s: %s: attribute %s is of another type, expected %s", file->path, object, name,
                    type == CORE_H5_F64 ? "numbers" : "a whole number");
    CORE_CHECK_DONE(a.count == n, CORE_FORMAT, "%s: %s: attribute %s: found %lld values, expected %d", file->path,
                    object, name, (long long)a.count, n);
    H5_TRY_DONE(H5Aread(a.id, core__h5_memory_type(type), data), object, "read an attribute");
done:
    attribute_close(&a);
    return status;
}

core_status core_h5_get_number(core_h5 *file, const char *object, const char *name, double *value, core_error *err) {
    return core_h5_get_numbers(file, object, name, 1, value, err);
}

core_status core_h5_get_integer(core_h5 *file, const char *object, const char *name, int64_t *value, core_error *err) {
    int64_t x = 0;
    CORE_CHECK(value, CORE_ARG, "HDF5: null pointer");
    CORE_TRY(get_attribute(file, object, name, CORE_H5_I64, 1, &x, err));
    *value = x;
    return CORE_OK;
}

core_status core_h5_get_numbers(core_h5 *file, const char *object, const char *name, int n, double *values,
                                core_error *err) {
    core_status status = CORE_OK;
    double *x = NULL;
    CORE_CHECK(values && n >= 1, CORE_ARG, "HDF5: null pointer or no values");
    CORE_NEW_DONE(x, (size_t)n);
    CORE_TRY_DONE(get_attribute(file, object, name, CORE_H5_F64, n, x, err));
    memcpy(values, x, (size_t)n * sizeof *values);
done:
    core_free(x);
    return status;
}

core_status core_h5_get_text(core_h5 *file, const char *object, const char *name, char *text, size_t n_bytes,
                             core_error *err) {
    core_status status = CORE_OK;
    opened_attribute a = {-1, -1, 0};
    hid_t memory = -1;
    char *buffer = NULL;
    CORE_CHECK(text && n_bytes > 0, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(attribute_open(file, object, name, &a, err));
    // variable-length text lives in a heap without checksums; cem writes none
    CORE_CHECK_DONE(H5Tget_class(a.type) == H5T_STRING && H5Tis_variable_str(a.type) == 0 && a.count == 1, CORE_FORMAT,
                    "%s: %s: attribute %s is of another type, expected fixed-length text", file->path, object, name);
    size_t size = H5Tget_size(a.type);
    CORE_CHECK_DONE(size <= ATTRIBUTE_MAX_BYTES, CORE_FORMAT,
                    "%s: %s: attribute %s: found %zu bytes, expected at most %zu", file->path, object, name, size,
                    ATTRIBUTE_MAX_BYTES);
    CORE_NEW_DONE(buffer, size + 1);
    H5_TRY_DONE(memory = H5Tcopy(a.type), object, "read an attribute");
    H5_TRY_DONE(H5Tset_size(memory, size + 1), object, "read an attribute");
    H5_TRY_DONE(H5Tset_strpad(memory, H5T_STR_NULLTERM), object, "read an attribute");
    H5_TRY_DONE(H5Aread(a.id, memory, buffer), object, "read an attribute");
    buffer[size] = '\0';
    size_t n = strlen(buffer);
    CORE_CHECK_DONE(n < n_bytes, CORE_FORMAT, "%s: %s: attribute %s: found %zu bytes of text, expected at most %zu",
                    file->path, object, name, n, n_bytes - 1);
    memcpy(text, buffer, n + 1);
done:
    core_free(buffer);
    core__h5_release(memory);
    attribute_close(&a);
    return status;
}

// ---------------------------------------------------------------------------------------------- provenance

/// One line per input: content hash, two blanks, file name.
static core_status write_inputs(core_h5 *file, const core_h5_provenance *p, core_error *err) {
    core_status status = CORE_OK;
    char *text = NULL;
    size_t n = 1, used = 0;
    for (int i = 0; i < p->count_inputs; i++) n += strlen(p->input_names[i]) + 20;
    CORE_NEW_DONE(text, n);
    for (int i = 0; i < p->count_inputs; i++) {
        char hash[17];
        core_hash_text(p->input_hashes[i], hash);
        int written = snprintf(text + used, n - used, "%s  %s\n", hash, p->input_names[i]);
        CORE_CHECK_DONE(written > 0, CORE_INTERNAL, "%s: provenance: cannot format", file->path);
        used += (size_t)written;
    }
    CORE_TRY_DONE(
        core_h5_write_text(file, CORE_H5_PROVENANCE "/inputs", text, "content hash and name of each input file", err));
done:
    core_free(text);
    return status;
}

core_status core_h5_write_provenance(core_h5 *file, const core_h5_provenance *p, core_error *err) {
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(p && (p->count_inputs == 0 || (p->input_names && p->input_hashes)), CORE_ARG,
               "%s: provenance: null pointer", file->path);
    CORE_TRY(
        core_h5_group(file, CORE_H5_PROVENANCE, "who made this file and from what; not part of the content hash", err));
    CORE_TRY(core_h5_set_text(file, CORE_H5_PROVENANCE, "program_version", "cem " CORE_VERSION, err));
    CORE_TRY(core_h5_set_text(file, CORE_H5_PROVENANCE, "compiler", ATTRIBUTE_COMPILER, err));
    CORE_TRY(core_h5_set_text(file, CORE_H5_PROVENANCE, "hdf5", H5_VERS_INFO, err));
    CORE_TRY(set_attribute(file, CORE_H5_PROVENANCE, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, -1, &p->seed, err));
    if (p->blas_core) CORE_TRY(core_h5_set_text(file, CORE_H5_PROVENANCE, "blas_core", p->blas_core, err));
    if (p->command_line)
        CORE_TRY(
            core_h5_write_text(file, CORE_H5_PROVENANCE "/command_line", p->command_line, "command as typed", err));
    return p->count_inputs > 0 ? write_inputs(file, p, err) : CORE_OK;
}
