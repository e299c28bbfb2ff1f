/// HDF5 files that grow under their final name while others read them: the lock that keeps a second writer out, and
/// HDF5's single-writer/multiple-reader mode, in which every state of the file that reaches the system is a readable
/// one. A program that is killed therefore leaves a file that can be read up to its last flush.
#define _GNU_SOURCE // F_OFD_SETLK, of POSIX since 2024; older C libraries show it under this name alone

#include "core_h5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_TEXT_BYTES 17 // 16 digits and a zero

/// True if `name` still leads to the file that is open as fd: it was not replaced in between.
static bool leads_to(const char *name, int fd) {
    struct stat named, opened;
    return stat(name, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/// Takes the lock of the file `name`; held until *fd is closed, at the latest when the process ends. A file that is not
/// there (*fd -1), and a file system without such locks, is no failure.
static core_status lock_file(const char *name, const char *path, int *fd, core_error *err) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (;;) {
        *fd = open(name, O_RDWR | O_CLOEXEC);
        CORE_CHECK(*fd >= 0 || errno == ENOENT, CORE_IO, "%s: cannot write: %s", path, strerror(errno));
        if (*fd < 0) return CORE_OK;
        CORE_CHECK(fcntl(*fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES), CORE_IO,
                   "%s: cannot write: another program is writing this file", path);
        if (leads_to(name, *fd)) return CORE_OK;
        close(*fd); // another program put its file there between the two calls: its lock counts
    }
}

/// Gives the file its final name. What was there before is replaced under its lock; where nothing was, nothing of
/// another program that came first is.
static core_status place(core_h5 *file, core_error *err) {
    bool placed = false;
    if (file->lock_old < 0) {
        placed = link(file->temporary, file->path) == 0;
        CORE_CHECK(placed || errno != EEXIST, CORE_IO, "%s: cannot write: another program is writing this file",
                   file->path);
        if (placed) unlink(file->temporary);
    }
    // file systems without hard links come here, too
    CORE_CHECK(placed || rename(file->temporary, file->path) == 0, CORE_IO,
               "%s: cannot rename the file to this name: %s", file->path, strerror(errno));
    core_free(file->temporary);
    file->temporary = NULL;
    if (file->lock_old >= 0) close(file->lock_old);
    file->lock_old = -1;
    return CORE_OK;
}

core_status core_h5_create_in_place(const char *path, const char *format, int version, core_h5 **file,
                                    core_error *err) {
    core_status status = CORE_OK;
    core_h5 *made = NULL;
    CORE_CHECK(path && format && file, CORE_ARG, "HDF5: null pointer");
    CORE_TRY_DONE(core__h5_handle_create(path, true, &made, err));
    made->in_place = true;
    CORE_TRY_DONE(core_file_temporary(path, &made->temporary, err));
    CORE_TRY_DONE(lock_file(path, path, &made->lock_old, err));
    CORE_TRY_DONE(core__h5_create_as(made, made->temporary, format, version, err));
    CORE_TRY_DONE(lock_file(made->temporary, path, &made->lock, err));
    CORE_TRY_DONE(core__h5_reserve_text(made, CORE_H5_HASH_ATTRIBUTE, HASH_TEXT_BYTES, err));
    *file = made;
    made = NULL;
done:
    core_h5_abandon(&made);
    return status;
}

core_status core_h5_start(core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    CORE_TRY(core__h5_check_writing(file, err));
    CORE_CHECK(file->temporary && file->lock >= 0, CORE_ARG, "%s: was started, or does not grow in place", file->path);
    CORE_TRY_DONE(core_h5_flush(file, err));
    file->note.growing = true;
    H5_TRY_DONE(H5Fstart_swmr_write(file->id), "/", "start writing");
    CORE_TRY_DONE(core_h5_flush(file, err));
    status = place(file, err);
done:
    return status;
}

core_status core_h5_finish(core_h5 **file, core_error *err) {
    CORE_CHECK(file && *file, CORE_ARG, "HDF5: null pointer");
    core_status status = core__h5_check_writing(*file, err);
    if (status == CORE_OK && (*file)->temporary) status = core_h5_start(*file, err);
    if (status == CORE_OK) status = core__h5_seal(*file, err);
    if (status == CORE_OK) status = core_file_sync((*file)->path, err);
    core_h5_abandon(file);
    return status;
}
