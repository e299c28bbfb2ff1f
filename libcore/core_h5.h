/// HDF5 files of cem: create under a temporary name, write described datasets, read with checks, content hash,
/// provenance. The only door to HDF5 in the project: hdf5.h is included by core_h5_private.h alone. Not thread-safe
/// (HDF5's serial library is not). A failed write (full disk) is reported by the next call at the latest, at the end by
/// commit or finish.
#ifndef CORE_H5_H
#define CORE_H5_H

#include "core.h"

/// An open file. Created by core_h5_create / core_h5_open; ended by commit, abandon or close.
typedef struct core_h5 core_h5;

/// Element type in memory and on disk (little endian).
typedef enum core_h5_type { CORE_H5_F32, CORE_H5_F64, CORE_H5_I32, CORE_H5_I64, CORE_H5_U8 } core_h5_type;

/// Who made the file and from what; written to the group /provenance, which the content hash leaves out.
typedef struct core_h5_provenance {
    const char *command_line; // as typed, or NULL
    uint64_t seed;
    int count_inputs;
    const char *const *input_names; // (count_inputs) file names
    const uint64_t *input_hashes;   // (count_inputs) content hashes
    const char *blas_core;          // BLAS core name or NULL
} core_h5_provenance;

/// Starts a file under a temporary name beside `path`. Root attributes `format` (for example "cem.sdf") and
/// `format_version` are written. IO: folder missing or not writable, `path` is a directory.
core_status core_h5_create(const char *path, const char *format, int version, core_h5 **file, core_error *err);
/// Writes root attribute `content_hash` (over names, types, sizes and bytes of all datasets outside /provenance, in
/// name order), closes, syncs, renames to the final name. *file becomes NULL whatever happens; on failure nothing is
/// left behind.
core_status core_h5_commit(core_h5 **file, core_error *err);
/// As core_h5_commit, but the file that had the name before becomes PATH.1 (core_file_rotate): checkpoints.
core_status core_h5_rotate(core_h5 **file, core_error *err);
/// Closes and removes the temporary file (a file written in place stays, without content hash). Accepts NULL handles.
void core_h5_abandon(core_h5 **file);
/// Opens for reading. IO: missing, unreadable, a directory; FORMAT: not HDF5, truncated, another `format` (both named);
/// VERSION_OTHER: format_version above version_max (both named). format NULL accepts every cem file.
core_status core_h5_open(const char *path, const char *format, int version_max, core_h5 **file, core_error *err);
/// As core_h5_open, of this version alone and with the content that was written (content_hash): for states that are
/// gone on from. VERSION_OTHER: another one; FORMAT: numbers are not those that were written. Cost: reads the file
/// once.
core_status core_h5_open_whole(const char *path, const char *format, int version, core_h5 **file, core_error *err);
/// Ends reading; accepts NULL handles.
void core_h5_close(core_h5 **file);

/// Path the file was opened or will be published under; borrowed.
const char *core_h5_path(const core_h5 *file);
/// Root attribute content_hash of a file opened for reading. FORMAT if absent, or empty (the file was not finished).
core_status core_h5_content_hash(core_h5 *file, uint64_t *hash, core_error *err);
/// Computes the content hash anew from the datasets (tests, verification).
core_status core_h5_compute_hash(core_h5 *file, uint64_t *hash, core_error *err);

/// Writes the group /provenance: attributes and datasets as in data/README.md.
core_status core_h5_write_provenance(core_h5 *file, const core_h5_provenance *p, core_error *err);
/// Creates a group (parents too) with an attribute `description` (may be NULL). An existing group is fine.
core_status core_h5_group(core_h5 *file, const char *path, const char *description, core_error *err);
/// Contiguous dataset with attributes `units` and `description` (NULL: none). Parents are created. rank 0..4.
core_status core_h5_write(core_h5 *file, const char *path, core_h5_type type, int rank, const size_t *dims,
                          const void *data, const char *units, const char *description, core_error *err);
/// Text as a scalar fixed-length string dataset (UTF-8).
core_status core_h5_write_text(core_h5 *file, const char *path, const char *text, const char *description,
                               core_error *err);
/// Attributes of a group or dataset ("/" for the root); an existing one is replaced. At most 64 KiB each.
core_status core_h5_set_number(core_h5 *file, const char *object, const char *name, double value, core_error *err);
core_status core_h5_set_integer(core_h5 *file, const char *object, const char *name, int64_t value, core_error *err);
core_status core_h5_set_text(core_h5 *file, const char *object, const char *name, const char *value, core_error *err);
core_status core_h5_set_numbers(core_h5 *file, const char *object, const char *name, int n, const double *values,
                                core_error *err);
/// A row of n >= 1 whole numbers, or of n texts (fixed length: the longest of them).
core_status core_h5_set_integers(core_h5 *file, const char *object, const char *name, int n, const int64_t *values,
                                 core_error *err);
core_status core_h5_set_texts(core_h5 *file, const char *object, const char *name, int n, const char *const *values,
                              core_error *err);

/// True if there is a group or dataset at path.
bool core_h5_exists(core_h5 *file, const char *path);
/// Number of links directly in a group and the name of the i-th in name order (caller's buffer). FORMAT.
core_status core_h5_count(core_h5 *file, const char *group, int *count, core_error *err);
core_status core_h5_name(core_h5 *file, const char *group, int i, char *name, size_t n_bytes, core_error *err);
/// Rank and sizes of a dataset; rank > max_rank, or elements x 8 beyond the file's own size x 1100 (deflate's limit),
/// is FORMAT.
core_status core_h5_size(core_h5 *file, const char *path, int max_rank, int *rank, size_t *dims, core_error *err);
/// Reads the whole dataset, converting to `type`; its sizes must equal dims (FORMAT names found and expected).
/// finite: a NaN or infinity in a floating dataset is NONFINITE (names path and index).
core_status core_h5_read(core_h5 *file, const char *path, core_h5_type type, int rank, const size_t *dims, void *data,
                         bool finite, core_error *err);
/// Caller frees with core_free.
core_status core_h5_read_text(core_h5 *file, const char *path, char **text, core_error *err);
/// Attributes of the kinds core_h5_set_... write. FORMAT: absent, of another kind, or not n values.
core_status core_h5_get_number(core_h5 *file, const char *object, const char *name, double *value, core_error *err);
core_status core_h5_get_integer(core_h5 *file, const char *object, const char *name, int64_t *value, core_error *err);
/// Text attribute into the caller's buffer; FORMAT if it does not fit.
core_status core_h5_get_text(core_h5 *file, const char *object, const char *name, char *text, size_t n_bytes,
                             core_error *err);
core_status core_h5_get_numbers(core_h5 *file, const char *object, const char *name, int n, double *values,
                                core_error *err);

/// An outline as the datasets GROUP/ring_start [rings+1] int32 and GROUP/points [n,2] float64 (units as given).
core_status core_h5_write_outline(core_h5 *file, const char *group, const core_outline *o, const char *units,
                                  core_error *err);
/// Validates counts, order and finiteness. Caller clears with core_outline_clear.
core_status core_h5_read_outline(core_h5 *file, const char *group, core_outline *o, core_error *err);

/// Growing datasets (first dimension), for files that are written frame by frame. Row: the sizes behind the first
/// dimension. chunk_rows: rows per chunk (>= 1). Floating fill value is NaN.
core_status core_h5_series_create(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                  size_t chunk_rows, const char *units, const char *description, core_error *err);
/// Adds one row behind the last one.
core_status core_h5_series_append(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                  const void *data, core_error *err);
/// Adds n rows, 0 or more: all of them or, on failure, none.
core_status core_h5_series_append_rows(core_h5 *file, const char *path, core_h5_type type, int row_rank,
                                       const size_t *row, size_t n, const void *data, core_error *err);
/// Row i of a series (dims as in core_h5_size without the first). FORMAT if it is not there or of another size.
core_status core_h5_series_read(core_h5 *file, const char *path, core_h5_type type, int row_rank, const size_t *row,
                                size_t i, void *data, core_error *err);
/// n rows from row `first` on.
core_status core_h5_series_read_rows(core_h5 *file, const char *path, core_h5_type type, int row_rank,
                                     const size_t *row, size_t first, size_t n, void *data, core_error *err);
/// A link of the same file (H5MD shares one `step` and `time` between elements).
core_status core_h5_link(core_h5 *file, const char *target, const char *link, core_error *err);
/// Number of rows of a series that are wanted of it.
typedef size_t core_h5_rows(void *user, const char *path);
/// Copies all objects of `from` into the empty file `to`, with their attributes; root attributes stay those of `to`. Of
/// series the first rows(user, path) rows are copied. FORMAT: there are fewer, or the file is damaged; IO, MEMORY.
core_status core_h5_copy(core_h5 *from, core_h5 *to, core_h5_rows *rows, void *user, core_error *err);
/// Creates a file that grows under its final name (run files): all groups, datasets and series are made first, then
/// core_h5_start, then rows are appended. Until the start an old file of the name stays. IO: another program is writing
/// it. Ends with core_h5_finish, or core_h5_abandon.
core_status core_h5_create_in_place(const char *path, const char *format, int version, core_h5 **file, core_error *err);
/// The file takes its name, in HDF5's single-writer/multiple-reader mode: from now on nothing but rows of series can be
/// added, and others can read it. IO: refused by the system, or another program came first.
core_status core_h5_start(core_h5 *file, core_error *err);
/// Hands what was appended to the system: what a killed program leaves behind is readable up to here.
core_status core_h5_flush(core_h5 *file, core_error *err);
/// Writes content_hash, closes and syncs; the file stays where it is, an ordinary one. *file becomes NULL.
core_status core_h5_finish(core_h5 **file, core_error *err);

#endif
