/// What the core_h5_*.c files share. The one place of the project that includes hdf5.h.
#ifndef CORE_H5_PRIVATE_H
#define CORE_H5_PRIVATE_H

#include "core_h5.h"

#define H5_USE_110_API
#include <hdf5.h>

#define CORE_H5_MAX_RANK 4
#define CORE_H5_CHUNK_CACHE_BYTES ((size_t)1 << 20) // of a dataset
#define CORE_H5_HASH_ATTRIBUTE "content_hash"
#define CORE_H5_PROVENANCE "/provenance"

/// A growing dataset that was used before: kept open, since a frame appends to a dozen of them.
typedef struct core_h5_series {
    char *path;
    hid_t dataset;
} core_h5_series;

/// What a file and its driver (core_h5_driver.c) tell each other.
typedef struct core_h5_note {
    int failure;  // errno of the first failed write, 0 before
    bool growing; // others may read the file while it is written
} core_h5_note;

struct core_h5 {
    hid_t id;
    char *path;      // final name
    char *temporary; // name until it is complete, growing: until it is started; NULL after that and for reading
    bool writing, in_place;
    int lock, lock_old; // growing: descriptors that keep a second writer out, of this file and the one it replaces; -1
    core_h5_note note;
    uint64_t bytes; // size of a file opened for reading
    int count_series;
    core_h5_series *series; // (count_series)
};

/// Fails with "PATH: OBJECT: cannot DOING: reason", the reason taken from HDF5's error stack: IO if the system refused
/// or the file is being written, FORMAT else. Call before any other HDF5 function clears the stack.
core_status core__h5_fail(const core_h5 *file, core_error *err, const char *source, int line, const char *object,
                          const char *doing);
/// Goes to done with core__h5_fail if an HDF5 call gives a negative value. Needs `file`, `err`, `status`.
#define H5_TRY_DONE(call, object, doing)                                                                               \
    do {                                                                                                               \
        if ((call) < 0) {                                                                                              \
            status = core__h5_fail(file, err, __FILE__, __LINE__, (object), (doing));                                  \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/// Access list of a file that is written: what is noted of failures goes to file->note. Owned by the caller.
hid_t core__h5_writing_list(core_h5 *file);
/// A handle without a file.
core_status core__h5_handle_create(const char *path, bool writing, core_h5 **file, core_error *err);
/// Creates the file `name` and its root attributes.
core_status core__h5_create_as(core_h5 *file, const char *name, const char *format, int version, core_error *err);
/// Writes the content hash, flushes and closes; every delayed write has been tried when this returns.
core_status core__h5_seal(core_h5 *file, core_error *err);
/// Makes room for a text attribute of the root, n_bytes with the zero; empty until it is set.
core_status core__h5_reserve_text(core_h5 *file, const char *name, size_t n_bytes, core_error *err);
/// One line from HDF5's error stack: the system's reason if there is one (then true), else the innermost complaint.
bool core__h5_reason(char *text, size_t n_bytes);
/// Closes any HDF5 object; negative ids are ignored. False if the close failed (a delayed write).
bool core__h5_release(hid_t id);
/// Element type on disk and in memory, and its size. -1, 0 for a bad value.
hid_t core__h5_disk_type(core_h5_type type);
hid_t core__h5_memory_type(core_h5_type type);
size_t core__h5_type_size(core_h5_type type);
/// Link creation with UTF-8 names; creation list of an object without times. Owned by the caller.
hid_t core__h5_link_list(void);
hid_t core__h5_object_list(hid_t list_class);
/// Creates the groups above `path` that are missing (HDF5 would give them times).
core_status core__h5_make_parents(core_h5 *file, const char *path, core_error *err);
/// Opens a dataset for reading; FORMAT if there is none of that name.
core_status core__h5_open_dataset(core_h5 *file, const char *path, hid_t *dataset, core_error *err);
/// Rank and sizes of a dataset, checked against the file's size (core_h5_size).
core_status core__h5_dataset_size(core_h5 *file, const char *path, hid_t dataset, int max_rank, int *rank, size_t *dims,
                                  core_error *err);
/// FORMAT unless elements of a file can be read as `type` without loss of meaning.
core_status core__h5_check_class(core_h5 *file, const char *path, hid_t dataset, core_h5_type type, core_error *err);
/// Writes units and description (NULL: none) of the object `path`.
core_status core__h5_describe(core_h5 *file, const char *path, const char *units, const char *description,
                              core_error *err);
/// Closes the datasets of the series table; false if a delayed write failed.
bool core__h5_series_clear(core_h5 *file);
/// Lets files of this access list be written by the driver; *note must outlive the file.
herr_t core__h5_set_driver(hid_t access, core_h5_note *note);
/// Fails with ARG unless the file is open for writing; with IO if an earlier write was refused by the system.
core_status core__h5_check_writing(const core_h5 *file, core_error *err);

#endif
