/// HDF5 files: create, publish, open with checks, links; how HDF5's errors become one line.
/// Files use the 1.10 format, in which every piece of metadata carries a checksum: a damaged file is refused, not
/// followed.
#define _POSIX_C_SOURCE 200809L // open, fstat, unlink, ssize_t

#include "core_h5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_MAX 64    // bytes of a format name
#define H5_PATH_MAX 1024 // bytes of an object's path in a file
// Bytes of memory that HDF5 takes to open a file: 1.2 MB, most of them at once.
#define ROOM_BYTES ((size_t)3 << 20)

// Where objects of a growing file begin. The system may be interrupted between two of its pages (4096 bytes) in the
// middle of a write: descriptions of datasets, of about 300 bytes, do not lie across the end of one.
#define ALIGN_FROM_BYTES 64
#define ALIGN_BYTES 512

// Chunks of a growing dataset that are kept in memory: the one that grows. A flush looks at all that are kept, dirty or
// not, so that with HDF5's default each frame costs more than the one before.
#define CHUNK_SLOTS 1

// Superblock of HDF5's 1.10 format: where its version and the flags of its writer are.
enum { VERSION_AT = 8, FLAGS_AT = 11, FLAG_GROWING = 4 };
static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

// ---------------------------------------------------------------------------------------------- errors and types

static herr_t keep_first(unsigned n, const H5E_error2_t *entry, void *user) {
    const char **text = user;
    if (n == 0) *text = entry->desc;
    return 0;
}

bool core__h5_reason(char *text, size_t n_bytes) {
    const char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
    if (!reason || !*reason) reason = "HDF5 gives no reason";
    // drivers write "..., errno = 28, error message = 'No space left on device', buf = 0x..."
    static const char mark[] = "error message = '";
    const char *system = strstr(reason, mark);
    const char *start = system ? system + strlen(mark) : reason;
    size_t n = system ? strcspn(start, "'") : strlen(start);
    snprintf(text, n_bytes, "%.*s", (int)n, start);
    return system != NULL;
}

core_status core__h5_fail(const core_h5 *file, core_error *err, const char *source, int line, const char *object,
                          const char *doing) {
    char reason[400];
    bool refused = core__h5_reason(reason, sizeof reason);
    core_status code = refused || file->writing ? CORE_IO : CORE_FORMAT;
    return core_fail(err, code, source, line, "%s: %s: cannot %s: %s", file->path, object, doing, reason);
}

bool core__h5_release(hid_t id) {
    return id < 0 || H5Idec_ref(id) >= 0;
}

hid_t core__h5_disk_type(core_h5_type type) {
    switch (type) {
    case CORE_H5_F32:
        return H5T_IEEE_F32LE;
    case CORE_H5_F64:
        return H5T_IEEE_F64LE;
    case CORE_H5_I32:
        return H5T_STD_I32LE;
    case CORE_H5_I64:
        return H5T_STD_I64LE;
    case CORE_H5_U8:
        return H5T_STD_U8LE;
    }
    return -1;
}

hid_t core__h5_memory_type(core_h5_type type) {
    switch (type) {
    case CORE_H5_F32:
        return H5T_NATIVE_FLOAT;
    case CORE_H5_F64:
        return H5T_NATIVE_DOUBLE;
    case CORE_H5_I32:
        return H5T_NATIVE_INT32;
    case CORE_H5_I64:
        return H5T_NATIVE_INT64;
    case CORE_H5_U8:
        return H5T_NATIVE_UINT8;
    }
    return -1;
}

size_t core__h5_type_size(core_h5_type type) {
    switch (type) {
    case CORE_H5_F32:
    case CORE_H5_I32:
        return 4;
    case CORE_H5_F64:
    case CORE_H5_I64:
        return 8;
    case CORE_H5_U8:
        return 1;
    }
    return 0;
}

hid_t core__h5_link_list(void) {
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    if (list >= 0) H5Pset_char_encoding(list, H5T_CSET_UTF8);
    return list;
}

hid_t core__h5_object_list(hid_t list_class) {
    hid_t list = H5Pcreate(list_class);
    if (list < 0) return list;
    // many links or attributes stay in the object's own header too: HDF5 1.10 frees wild pointers when the other form
    // ("dense") is damaged
    H5Pset_obj_track_times(list, false);
    H5Pset_attr_phase_change(list, UINT16_MAX, 0);
    if (H5Pisa_class(list, H5P_GROUP_CREATE) > 0) H5Pset_link_phase_change(list, UINT16_MAX, 0);
    return list;
}

core_status core__h5_check_writing(const core_h5 *file, core_error *err) {
    CORE_CHECK(file, CORE_ARG, "HDF5: null pointer");
    CORE_CHECK(file->writing, CORE_ARG, "%s: is open for reading, cannot write", file->path);
    CORE_CHECK(file->note.failure == 0, CORE_IO, "%s: cannot write: %s", file->path, strerror(file->note.failure));
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- handles

/// Access list: closing a file closes all that is open in it; locks are skipped where the file system has none.
static hid_t access_list(void) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0) return list;
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    H5Pset_libver_bounds(list, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_locking(list, true, true);
    return list;
}

hid_t core__h5_writing_list(core_h5 *file) {
    hid_t list = access_list();
    if (core__h5_set_driver(list, &file->note) < 0 ||
        H5Pset_cache(list, 0, CHUNK_SLOTS, CORE_H5_CHUNK_CACHE_BYTES, 1) < 0 ||
        (file->in_place && H5Pset_alignment(list, ALIGN_FROM_BYTES, ALIGN_BYTES) < 0)) {
        core__h5_release(list);
        return -1;
    }
    return list;
}

static void handle_destroy(core_h5 **file) {
    if (!*file) return;
    core__h5_series_clear(*file);
    (*file)->note.growing = false; // closing leaves an ordinary file
    if ((*file)->id >= 0) H5Fclose((*file)->id);
    if ((*file)->lock >= 0) close((*file)->lock);
    if ((*file)->lock_old >= 0) close((*file)->lock_old);
    core_free((*file)->temporary);
    core_free((*file)->path);
    core_free(*file);
    *file = NULL;
}

core_status core__h5_handle_create(const char *path, bool writing, core_h5 **file, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *made = NULL;
    H5dont_atexit(); // every file is closed by its handle; what a damaged one left behind is not touched again
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // HDF5 would print its error stack
    CORE_NEW_DONE(made, 1);
    made->id = made->lock = made->lock_old = -1;
    made->writing = writing;
    CORE_TRY_DONE(writing ? core_file_target(path, &made->path, err) : core_path_join(NULL, path, &made->path, err));
    *file = made;
    made = NULL;
done:
    handle_destroy(&made);
    return status;
}

// ---------------------------------------------------------------------------------------------- writing

/// Lets the system say why a file cannot be made; HDF5 says it badly.
static core_status touch(const char *name, const char *path, core_error *err) {
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    CORE_CHECK(fd >= 0, CORE_IO, "%s: cannot write: %s", path, strerror(errno));
    close(fd);
    return CORE_OK;
}

/// HDF5 1.10 reads address 0 if it gets no memory for a file's cache: refused here, in words.
static core_status check_room(const char *path, core_error *err) {
    void *room = core_realloc(NULL, 0, ROOM_BYTES, 1); // never touched
    CORE_CHECK(room, CORE_MEMORY, "%s: out of memory: HDF5 needs %zu MB to open a file", path, ROOM_BYTES >> 20);
    core_free(room);
    return CORE_OK;
}

core_status core__h5_create_as(core_h5 *file, const char *name, const char *format, int version, core_error *err) {
    core_status status = CORE_OK;
    hid_t access = core__h5_writing_list(file), creation = core__h5_object_list(H5P_FILE_CREATE);
    CORE_TRY_DONE(touch(name, file->path, err));
    CORE_TRY_DONE(check_room(file->path, err));
    H5_TRY_DONE(access, "/", "create");
    H5_TRY_DONE(file->id = H5Fcreate(name, H5F_ACC_TRUNC, creation, access), "/", "create");
    CORE_TRY_DONE(core_h5_set_text(file, "/", "format", format, err));
    CORE_TRY_DONE(core_h5_set_integer(file, "/", "format_version", version, err));
done:
    core__h5_release(creation);
    core__h5_release(access);
    return status;
}

core_status core_h5_create(const char *path, const char *format, int version, core_h5 **file, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *made = NULL;
    CORE_CHECK(path && format && file, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(core__h5_handle_create(path, true, &made, err));
    CORE_TRY_DONE(core_file_temporary(path, &made->temporary, err));
    CORE_TRY_DONE(core__h5_create_as(made, made->temporary, format, version, err));
    *file = made;
    made = NULL;
done:
    core_h5_abandon(&made);
    return status;
}

core_status core_h5_flush(core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    CORE_TRY(core__h5_check_writing(file, err));
    H5_TRY_DONE(H5Fflush(file->id, H5F_SCOPE_GLOBAL), "/", "write");
    status = core__h5_check_writing(file, err);
done:
    return status;
}

core_status core__h5_seal(core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    uint64_t hash = 0;
    char text[17];
    CORE_TRY_DONE(core_h5_compute_hash(file, &hash, err));
    core_hash_text(hash, text);
    CORE_TRY_DONE(core_h5_set_text(file, "/", CORE_H5_HASH_ATTRIBUTE, text, err));
    CORE_TRY_DONE(core_h5_flush(file, err));
    if (!core__h5_series_clear(file)) H5_TRY_DONE(-1, "/", "write");
    hid_t id = file->id;
    file->id = -1;
    file->note.growing = false;
    H5_TRY_DONE(H5Fclose(id), "/", "write");
    CORE_TRY_DONE(core__h5_check_writing(file, err));
done:
    return status;
}

/// Ends a file; `publish` gives it its final name, or removes it.
static core_status commit(core_h5 **file, core_status (*publish)(const char *, const char *, core_error *),
                          core_error *err) {
    CORE_CHECK(file && *file, CORE_ARG, "HDF5: null pointer");
    core_status status = core__h5_check_writing(*file, err);
    if (status == CORE_OK) status = core__h5_seal(*file, err);
    if (status == CORE_OK && (*file)->temporary) {
        status = publish((*file)->temporary, (*file)->path, err);
        core_free((*file)->temporary); // renamed, or removed by the failed publishing
        (*file)->temporary = NULL;
    }
    core_h5_abandon(file);
    return status;
}

core_status core_h5_commit(core_h5 **file, core_error *err) {
    return commit(file, core_file_publish, err);
}

core_status core_h5_rotate(core_h5 **file, core_error *err) {
    return commit(file, core_file_rotate, err);
}

void core_h5_abandon(core_h5 **file) {
    if (!file || !*file) return;
    char *temporary = (*file)->temporary;
    (*file)->temporary = NULL;
    handle_destroy(file);
    if (temporary) unlink(temporary);
    core_free(temporary);
}

// ---------------------------------------------------------------------------------------------- reading

/// What can be said before HDF5 sees the file: missing, a directory, empty, another kind of file. Sets file->bytes.
/// *growing: a program has it open in single-writer/multiple-reader mode, or was killed then.
static core_status check_file(core_h5 *file, bool *growing, core_error *err) {
    core_status status = CORE_OK;
    unsigned char head[FLAGS_AT + 1] = {0};
    struct stat info;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    CORE_CHECK(fd >= 0, CORE_IO, "%s: cannot open: %s", file->path, strerror(errno));
    CORE_CHECK_DONE(fstat(fd, &info) == 0, CORE_IO, "%s: cannot read: %s", file->path, strerror(errno));
    CORE_CHECK_DONE(!S_ISDIR(info.st_mode), CORE_IO, "%s: is a directory, expected an HDF5 file", file->path);
    CORE_CHECK_DONE(S_ISREG(info.st_mode), CORE_IO, "%s: is not an ordinary file, expected an HDF5 file", file->path);
    file->bytes = (uint64_t)info.st_size;
    CORE_CHECK_DONE(file->bytes > 0, CORE_FORMAT, "%s: is empty, expected an HDF5 file", file->path);
    ssize_t got = read(fd, head, sizeof head);
    CORE_CHECK_DONE(got >= 0, CORE_IO, "%s: cannot read: %s", file->path, strerror(errno));
    CORE_CHECK_DONE(got >= (ssize_t)sizeof signature && memcmp(head, signature, sizeof signature) == 0, CORE_FORMAT,
                    "%s: is not an HDF5 file (its first bytes say so)", file->path);
    *growing = head[VERSION_AT] >= 3 && (head[FLAGS_AT] & FLAG_GROWING) != 0;
done:
    close(fd);
    return status;
}

/// Failure of H5Fopen on something that begins like an HDF5 file.
static core_status open_failed(const core_h5 *file, core_error *err) {
    char reason[400];
    unsigned long long expected = 0;
    bool refused = core__h5_reason(reason, sizeof reason);
    CORE_CHECK(!refused, CORE_IO, "%s: cannot open: %s", file->path, reason);
    const char *stored = strstr(reason, "stored_eof = ");
    if (stored && sscanf(stored, "stored_eof = %llu", &expected) == 1)
        return CORE_FAIL(err, CORE_FORMAT, "%s: is truncated: found %llu bytes, expected %llu", file->path,
                         (unsigned long long)file->bytes, expected);
    return CORE_FAIL(err, CORE_FORMAT, "%s: is truncated or damaged: %s", file->path, reason);
}

/// Root attributes format and format_version against what the caller can read.
static core_status check_format(core_h5 *file, const char *format, int version_max, core_error *err) {
    char found[FORMAT_MAX];
    int64_t version = 0;
    core_status got = core_h5_get_text(file, "/", "format", found, sizeof found, err);
    if (got == CORE_MEMORY) return got;
    if (got != CORE_OK)
        return CORE_FAIL(err, CORE_FORMAT,
                         "%s: is HDF5, but not a file of cem: root attribute format is missing, expected \"%s\"",
                         file->path, format ? format : "cem.*");
    if (format)
        CORE_CHECK(strcmp(found, format) == 0, CORE_FORMAT, "%s: found format \"%s\", expected \"%s\"", file->path,
                   found, format);
    else
        CORE_CHECK(strncmp(found, "cem.", 4) == 0, CORE_FORMAT, "%s: found format \"%s\", expected \"cem.*\"",
                   file->path, found);
    CORE_TRY(core_h5_get_integer(file, "/", "format_version", &version, err));
    CORE_CHECK(version >= 1, CORE_FORMAT, "%s: found format_version %lld, expected at least 1", file->path,
               (long long)version);
    CORE_CHECK(version <= version_max, CORE_VERSION_OTHER,
               "%s: found %s version %lld, expected at most %d: a newer cem wrote it", file->path, found,
               (long long)version, version_max);
    return CORE_OK;
}

core_status core_h5_open(const char *path, const char *format, int version_max, core_h5 **file, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *made = NULL;
    hid_t access = -1;
    bool growing = false;
    CORE_CHECK(path && file, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(core__h5_handle_create(path, false, &made, err));
    CORE_TRY_DONE(check_file(made, &growing, err));
    CORE_TRY_DONE(check_room(path, err));
    access = access_list();
    made->id = H5Fopen(path, H5F_ACC_RDONLY | (growing ? H5F_ACC_SWMR_READ : 0), access);
    if (made->id < 0) {
        status = open_failed(made, err);
        goto done;
    }
    CORE_TRY_DONE(check_format(made, format, version_max, err));
    *file = made;
    made = NULL;
done:
    core__h5_release(access);
    handle_destroy(&made);
    return status;
}

core_status core_h5_open_whole(const char *path, const char *format, int version, core_h5 **file, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *opened = NULL;
    uint64_t stored, found;
    int64_t version_found;
    CORE_CHECK(format && file, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(core_h5_open(path, format, version, &opened, err));
    CORE_TRY_DONE(core_h5_get_integer(opened, "/", "format_version", &version_found, err));
    CORE_CHECK_DONE(version_found == version, CORE_VERSION_OTHER,
                    "%s: found %s version %" PRId64 ", expected %d: an older cem wrote it, which can go on from it",
                    path, format, version_found, version);
    CORE_TRY_DONE(core_h5_content_hash(opened, &stored, err));
    CORE_TRY_DONE(core_h5_compute_hash(opened, &found, err));
    CORE_CHECK_DONE(stored == found, CORE_FORMAT,
                    "%s: the file is damaged: found content %016" PRIx64 ", expected %016" PRIx64, path, found, stored);
    *file = opened;
    opened = NULL;
done:
    core_h5_close(&opened);
    return status;
}

void core_h5_close(core_h5 **file) {
    core_h5_abandon(file); // a file opened for reading has no temporary name
}

const char *core_h5_path(const core_h5 *file) {
    return file ? file->path : "";
}

// ---------------------------------------------------------------------------------------------- links

bool core_h5_exists(core_h5 *file, const char *path) {
    if (!file || !path || !*path) return false;
    if (strcmp(path, "/") == 0) return true;
    // HDF5 answers for the last link only: each parent is asked first
    char prefix[H5_PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof prefix) return false;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/') continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        if (H5Lexists(file->id, prefix, H5P_DEFAULT) <= 0) return false;
    }
    return H5Oexists_by_name(file->id, path, H5P_DEFAULT) > 0;
}

core_status core__h5_make_parents(core_h5 *file, const char *path, core_error *err) {
    char parent[H5_PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n == 0) return CORE_OK;
    CORE_CHECK(n < sizeof parent, CORE_ARG, "%s: a name has more than %d bytes", file->path, H5_PATH_MAX - 1);
    memcpy(parent, path, n);
    parent[n] = '\0';
    return core_h5_exists(file, parent) ? CORE_OK : core_h5_group(file, parent, NULL, err);
}

core_status core_h5_group(core_h5 *file, const char *path, const char *description, core_error *err) {
    core_status status = CORE_OK;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(path, CORE_ARG, "%s: group: null pointer", file->path);
    CORE_TRY(core__h5_make_parents(file, path, err));
    hid_t link = core__h5_link_list(), creation = core__h5_object_list(H5P_GROUP_CREATE), group = -1;
    if (!core_h5_exists(file, path))
        H5_TRY_DONE(group = H5Gcreate2(file->id, path, link, creation, H5P_DEFAULT), path, "create the group");
    CORE_TRY_DONE(core__h5_describe(file, path, NULL, description, err));
done:
    core__h5_release(group);
    core__h5_release(creation);
    core__h5_release(link);
    return status;
}

core_status core_h5_link(core_h5 *file, const char *target, const char *link, core_error *err) {
    core_status status = CORE_OK;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(target && link, CORE_ARG, "%s: link: null pointer", file->path);
    CORE_TRY(core__h5_make_parents(file, link, err));
    hid_t list = core__h5_link_list();
    H5_TRY_DONE(H5Lcreate_hard(file->id, target, H5L_SAME_LOC, link, list, H5P_DEFAULT), link, "link");
done:
    core__h5_release(list);
    return status;
}

core_status core_h5_count(core_h5 *file, const char *group, int *count, core_error *err) {
    core_status status = CORE_OK;
    H5G_info_t info;
    CORE_CHECK(file && group && count, CORE_ARG, "HDF5: null pointer");
    CORE_CHECK(core_h5_exists(file, group), CORE_FORMAT, "%s: group %s is missing", file->path, group);
    H5_TRY_DONE(H5Gget_info_by_name(file->id, group, &info, H5P_DEFAULT), group, "read the group");
    CORE_CHECK_DONE(info.nlinks <= (hsize_t)INT32_MAX, CORE_FORMAT, "%s: group %s has too many links", file->path,
                    group);
    *count = (int)info.nlinks;
done:
    return status;
}

core_status core_h5_name(core_h5 *file, const char *group, int i, char *name, size_t n_bytes, core_error *err) {
    core_status status = CORE_OK;
    CORE_CHECK(file && group && name && n_bytes > 0 && i >= 0, CORE_ARG, "HDF5: null pointer or negative index");
    CORE_CHECK(core_h5_exists(file, group), CORE_FORMAT, "%s: group %s is missing", file->path, group);
    ssize_t n = 0;
    H5_TRY_DONE(n = H5Lget_name_by_idx(file->id, group, H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, NULL, 0, H5P_DEFAULT),
                group, "read the names");
    CORE_CHECK_DONE((size_t)n < n_bytes, CORE_FORMAT, "%s: group %s: found a name of %zd bytes, expected at most %zu",
                    file->path, group, n, n_bytes - 1);
    H5_TRY_DONE(H5Lget_name_by_idx(file->id, group, H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, name, n_bytes, H5P_DEFAULT),
                group, "read the names");
done:
    return status;
}
