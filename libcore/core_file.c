/// Files and paths: whole-file reading, writing under a temporary name with sync and rename, folders, names.
#define _POSIX_C_SOURCE 200809L // open, fsync, rename, stat

#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define FILE_FIRST_BYTES ((size_t)1 << 16)
#define LINK_MAX_BYTES 4096 // of the text of a symbolic link: PATH_MAX of Linux
#define LINKS_MAX 40        // after so many the system gives up, too

// ---------------------------------------------------------------------------------------------- reading

/// Reads fd to its end into *data, growing it; a zero follows the last byte.
static core_status read_all(int fd, const char *path, size_t max_bytes, size_t expected, char **data, size_t *n_bytes,
                            core_error *err) {
    core_status status = CORE_OK;
    size_t capacity = expected + 2; // the zero, and a byte that tells the end from a file that grew
    char *buffer = NULL;
    size_t used = 0;
    if (capacity < FILE_FIRST_BYTES) capacity = FILE_FIRST_BYTES;
    CORE_NEW_DONE(buffer, capacity);
    for (;;) {
        ssize_t got = read(fd, buffer + used, capacity - used - 1);
        if (got < 0 && errno == EINTR) continue;
        CORE_CHECK_DONE(got >= 0, CORE_IO, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0) break;
        used += (size_t)got;
        CORE_CHECK_DONE(used <= max_bytes, CORE_RANGE, "%s: larger than the %zu bytes that are accepted", path,
                        max_bytes);
        if (used + 1 == capacity) {
            char *larger = core_realloc(buffer, used, capacity * 2, 1);
            CORE_CHECK_DONE(larger, CORE_MEMORY, "%s: out of memory: %zu bytes", path, capacity * 2);
            buffer = larger;
            capacity *= 2;
        }
    }
    buffer[used] = '\0';
    *data = buffer;
    *n_bytes = used;
    buffer = NULL;
done:
    core_free(buffer);
    return status;
}

core_status core_file_read(const char *path, size_t max_bytes, char **data, size_t *n_bytes, core_error *err) {
    core_status status = CORE_OK;
    CORE_CHECK(path && data && n_bytes, CORE_ARG, "file: null pointer");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CORE_CHECK(fd >= 0, CORE_IO, "%s: cannot open: %s", path, strerror(errno));
    struct stat info;
    CORE_CHECK_DONE(fstat(fd, &info) == 0, CORE_IO, "%s: cannot read: %s", path, strerror(errno));
    CORE_CHECK_DONE(!S_ISDIR(info.st_mode), CORE_IO, "%s: is a directory, expected a file", path);
    CORE_CHECK_DONE(!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode), CORE_IO, "%s: is a device, expected a file",
                    path);
    size_t expected = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size : 0;
    CORE_CHECK_DONE(expected <= max_bytes, CORE_RANGE, "%s: has %zu bytes, more than the %zu that are accepted", path,
                    expected, max_bytes);
    CORE_TRY_DONE(read_all(fd, path, max_bytes, expected, data, n_bytes, err));
done:
    close(fd);
    return status;
}

core_status core_file_read_open(int descriptor, const char *name, size_t max_bytes, char **data, size_t *n_bytes,
                                core_error *err) {
    CORE_CHECK(name && data && n_bytes, CORE_ARG, "file: null pointer");
    return read_all(descriptor, name, max_bytes, 0, data, n_bytes, err);
}

// ---------------------------------------------------------------------------------------------- writing

static bool write_all(int fd, const char *bytes, size_t n_bytes) {
    while (n_bytes > 0) {
        ssize_t put = write(fd, bytes, n_bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        n_bytes -= (size_t)put;
    }
    return true;
}

core_status core_file_target(const char *path, char **target, core_error *err) {
    core_status status = CORE_OK;
    char *found = NULL, *folder = NULL, *next = NULL;
    CORE_CHECK(path && target, CORE_ARG, "file: null pointer");
    CORE_TRY_DONE(core_path_join(NULL, path, &found, err));
    char text[LINK_MAX_BYTES];
    ssize_t n;
    for (int links = 0; (n = readlink(found, text, sizeof text)) >= 0; links++) {
        CORE_CHECK_DONE(links < LINKS_MAX, CORE_IO, "%s: cannot write: is a link that leads back to itself", path);
        CORE_CHECK_DONE((size_t)n < sizeof text, CORE_IO, "%s: cannot write: is a link of more than %d bytes", path,
                        LINK_MAX_BYTES - 1);
        text[n] = '\0';
        CORE_TRY_DONE(core_path_folder(found, &folder, err));
        CORE_TRY_DONE(core_path_join(folder, text, &next, err)); // a relative one starts from the link's own folder
        core_free(folder);
        folder = NULL;
        core_free(found);
        found = next;
        next = NULL;
    }
    *target = found;
    found = NULL;
done:
    core_free(folder);
    core_free(found);
    return status;
}

core_status core_file_write(const char *path, const void *data, size_t n_bytes, core_error *err) {
    core_status status = CORE_OK;
    char *temporary = NULL;
    int fd = -1;
    bool made = false;
    CORE_CHECK(path && (data || n_bytes == 0), CORE_ARG, "file: null pointer");
    CORE_TRY_DONE(core_file_temporary(path, &temporary, err));
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CORE_CHECK_DONE(fd >= 0, CORE_IO, "%s: cannot write: %s", path, strerror(errno));
    made = true;
    CORE_CHECK_DONE(write_all(fd, data, n_bytes), CORE_IO, "%s: cannot write: %s", path, strerror(errno));
    int closed = close(fd);
    fd = -1;
    CORE_CHECK_DONE(closed == 0, CORE_IO, "%s: cannot write: %s", path, strerror(errno));
    made = false; // publish removes it itself
    CORE_TRY_DONE(core_file_publish(temporary, path, err));
done:
    if (fd >= 0) close(fd);
    if (made) unlink(temporary);
    core_free(temporary);
    return status;
}

core_status core_file_temporary(const char *path, char **temporary, core_error *err) {
    CORE_CHECK(path && temporary, CORE_ARG, "file: null pointer");
    CORE_CHECK(path[0] != '\0', CORE_IO, "the name of the file to write is empty");
    // a rename would replace a device or a pipe by a file
    struct stat info;
    if (stat(path, &info) == 0) {
        CORE_CHECK(!S_ISDIR(info.st_mode), CORE_IO, "%s: cannot write: is a directory, expected a file name", path);
        CORE_CHECK(S_ISREG(info.st_mode), CORE_IO, "%s: cannot write: is not an ordinary file", path);
    }
    core_status status = CORE_OK;
    char *target = NULL, *name = NULL;
    CORE_TRY_DONE(core_file_target(path, &target, err));
    size_t n = strlen(target) + 32;
    CORE_NEW_DONE(name, n);
    snprintf(name, n, "%s.tmp-%ld", target, (long)getpid());
    *temporary = name;
done:
    core_free(target);
    return status;
}

/// Makes a rename durable; a file system that cannot sync folders is no failure.
static void sync_folder(const char *path) {
    char *folder = NULL;
    if (core_path_folder(path, &folder, NULL) != CORE_OK) return;
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    core_free(folder);
}

core_status core_file_sync(const char *path, core_error *err) {
    CORE_CHECK(path, CORE_ARG, "file: null pointer");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CORE_CHECK(fd >= 0, CORE_IO, "%s: cannot write: %s", path, strerror(errno));
    int synced = fsync(fd);
    int reason = errno;
    int closed = close(fd);
    if (synced == 0) reason = errno;
    CORE_CHECK(synced == 0 && closed == 0, CORE_IO, "%s: cannot write: %s", path, strerror(reason));
    return CORE_OK;
}

core_status core_file_publish(const char *temporary, const char *path, core_error *err) {
    CORE_CHECK(temporary && path, CORE_ARG, "file: null pointer");
    core_status status = CORE_OK;
    char *target = NULL;
    CORE_TRY_DONE(core_file_target(path, &target, err));
    CORE_TRY_DONE(core_file_sync(temporary, err));
    CORE_CHECK_DONE(rename(temporary, target) == 0, CORE_IO, "%s: cannot rename the finished file to this name: %s",
                    target, strerror(errno));
    sync_folder(target);
done:
    if (status != CORE_OK) unlink(temporary);
    core_free(target);
    return status;
}

core_status core_file_previous(const char *path, char **previous, core_error *err) {
    CORE_CHECK(path && previous, CORE_ARG, "file: null pointer");
    core_status status = CORE_OK;
    char *target = NULL, *name = NULL;
    CORE_TRY_DONE(core_file_target(path, &target, err));
    const size_t n = strlen(target) + sizeof ".1";
    CORE_NEW_DONE(name, n);
    snprintf(name, n, "%s.1", target);
    *previous = name;
done:
    core_free(target);
    return status;
}

core_status core_file_rotate(const char *temporary, const char *path, core_error *err) {
    core_status status = CORE_OK;
    char *target = NULL, *previous = NULL;
    CORE_CHECK(temporary && path, CORE_ARG, "file: null pointer");
    CORE_TRY_DONE(core_file_target(path, &target, err));
    CORE_TRY_DONE(core_file_previous(target, &previous, err));
    CORE_TRY_DONE(core_file_sync(temporary, err)); // takes long: not between the two names
    CORE_CHECK_DONE(rename(target, previous) == 0 || errno == ENOENT, CORE_IO,
                    "%s: cannot rename the file before to this name: %s", previous, strerror(errno));
    status = core_file_publish(temporary, target, err);
done:
    if (status != CORE_OK) unlink(temporary);
    core_free(target);
    core_free(previous);
    return status;
}

// ---------------------------------------------------------------------------------------------- folders and names

bool core_file_exists(const char *path) {
    struct stat info;
    return path && stat(path, &info) == 0;
}

/// Part of a path behind its last slash.
static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_node(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool core_file_same(const char *a, const char *b) {
    if (!a || !b || !*a || !*b) return false;
    if (core_file_exists(a) || core_file_exists(b)) return same_node(a, b);
    if (strcmp(last_part(a), last_part(b)) != 0) return false;
    char *first = NULL, *second = NULL;
    const bool same = core_path_folder(a, &first, NULL) == CORE_OK && core_path_folder(b, &second, NULL) == CORE_OK &&
                      same_node(first, second);
    core_free(first);
    core_free(second);
    return same;
}

bool core_file_is_directory(const char *path) {
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

core_status core_file_make_directory(const char *path, core_error *err) {
    core_status status = CORE_OK;
    char *part = NULL;
    CORE_CHECK(path && path[0] != '\0', CORE_ARG, "folder: no name");
    size_t n = strlen(path);
    CORE_NEW_DONE(part, n + 1);
    for (size_t i = 1; i <= n; i++) {
        // each prefix that ends before a slash, then the whole
        if (i < n && path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) == 0 || errno == EEXIST || core_file_is_directory(part)) continue;
        CORE_CHECK_DONE(false, CORE_IO, "%s: cannot create the folder: %s", part, strerror(errno));
    }
    CORE_CHECK_DONE(core_file_is_directory(path), CORE_IO, "%s: is not a folder", path);
done:
    core_free(part);
    return status;
}

core_status core_path_join(const char *folder, const char *name, char **path, core_error *err) {
    CORE_CHECK(name && path, CORE_ARG, "path: null pointer");
    size_t n_folder = folder && name[0] != '/' ? strlen(folder) : 0;
    size_t n = n_folder + strlen(name) + 2;
    char *joined = core_alloc(n, 1);
    CORE_CHECK(joined, CORE_MEMORY, "%s: out of memory", name);
    if (n_folder == 0)
        snprintf(joined, n, "%s", name);
    else
        snprintf(joined, n, "%s%s%s", folder, folder[n_folder - 1] == '/' ? "" : "/", name);
    *path = joined;
    return CORE_OK;
}

core_status core_path_folder(const char *path, char **folder, core_error *err) {
    CORE_CHECK(path && folder, CORE_ARG, "path: null pointer");
    const char *slash = strrchr(path, '/');
    const char *text = slash ? path : ".";
    size_t n = slash ? (size_t)(slash - path) : 1;
    if (n == 0) n = 1; // the root folder keeps its slash
    char *copy = core_alloc(n + 1, 1);
    CORE_CHECK(copy, CORE_MEMORY, "%s: out of memory", path);
    memcpy(copy, text, n);
    *folder = copy;
    return CORE_OK;
}

/// ASCII only: independent of the locale.
static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool core_path_ends(const char *path, const char *suffix) {
    if (!path || !suffix) return false;
    size_t n = strlen(path), m = strlen(suffix);
    if (m > n) return false;
    for (size_t i = 0; i < m; i++) {
        if (lower(path[n - m + i]) != lower(suffix[i])) return false;
    }
    return true;
}

/// Extensions of the project's files and of shape files, those with two dots first.
static const char *const known_endings[] = {".sdf.h5", ".samples.h5", ".maps.h5", ".run.h5", ".h5",  ".wkt", ".geojson",
                                            ".json",   ".png",        ".jpg",     ".jpeg",   ".bmp", ".pgm"};

core_status core_path_stem(const char *path, char stem[CORE_NAME_MAX], core_error *err) {
    CORE_CHECK(path && stem, CORE_ARG, "path: null pointer");
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof known_endings / sizeof known_endings[0]; i++) {
        if (!core_path_ends(name, known_endings[i])) continue;
        n -= strlen(known_endings[i]);
        break;
    }
    CORE_CHECK(n > 0 && name[0] != '.', CORE_FORMAT,
               "%s: the file name gives no shape name: nothing stands before the first dot", path);
    CORE_CHECK(n < CORE_NAME_MAX, CORE_FORMAT,
               "%s: the name without its extension has %zu bytes, at most %d are possible", path, n, CORE_NAME_MAX - 1);
    memcpy(stem, name, n);
    stem[n] = '\0';
    return CORE_OK;
}
