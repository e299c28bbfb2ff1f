/// The file driver under HDF5 files that are written: plain POSIX calls, and a failed write (full disk, quota) is noted
/// and from then on everything is dropped, while HDF5 is told that all went well. HDF5 1.10 cannot bear a failed write:
/// it keeps the file half open and crashes at exit. core_h5 looks at the note instead and reports the system's reason.
/// HDF5 1.10 marks a file that others may read while it is written as such for its own drivers only: here the driver
/// does it, since readers go by that mark. Source: HDF5's virtual file layer, H5FDpublic.h; HDF5 file format
/// specification 3.0, superblock version 3.
#define _POSIX_C_SOURCE 200809L // pread, pwrite, ftruncate

#include "core_h5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define DRIVER_MAX_ADDRESS ((haddr_t)INT64_MAX)

// Superblock, version 3, of a file with offsets of 8 bytes.
enum {
    SUPER_BYTES = 48,
    SUPER_VERSION_AT = 8,
    SUPER_VERSION = 3,
    SUPER_FLAGS_AT = 11,
    SUPER_FLAGS_GROWING = 1 | 4, // open for writing, others may read
    SUPER_CHECKSUM_AT = 44
};

/// What the access list carries to driver_open.
typedef struct driver_info {
    core_h5_note *note; // borrowed from the core_h5 of the file
} driver_info;

/// An open file; begins with what HDF5 keeps for every driver.
typedef struct driver_file {
    H5FD_t common;
    int fd;
    core_h5_note *note;
    haddr_t end_allocated, end_written;
} driver_file;

static void note(driver_file *file) {
    if (file->note->failure == 0) file->note->failure = errno != 0 ? errno : EIO;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t max_address) {
    const driver_info *info = H5Pget_driver_info(access);
    if (!info || max_address > DRIVER_MAX_ADDRESS) return NULL;
    int mode = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_TRUNC ? O_TRUNC : 0) |
               (flags & H5F_ACC_CREAT ? O_CREAT : 0) | O_CLOEXEC;
    driver_file *file = core_alloc(1, sizeof *file);
    if (!file) return NULL;
    file->note = info->note;
    file->fd = open(name, mode, 0666);
    off_t end = file->fd >= 0 ? lseek(file->fd, 0, SEEK_END) : -1;
    if (end < 0) {
        if (file->fd >= 0) close(file->fd);
        core_free(file);
        return NULL;
    }
    file->end_written = (haddr_t)end;
    return &file->common;
}

/// HDF5 hands back what driver_open gave it; the common part is the first member.
static driver_file *from_common(H5FD_t *common) {
    return (driver_file *)(void *)common;
}

static herr_t driver_close(H5FD_t *common) {
    driver_file *file = from_common(common);
    if (close(file->fd) != 0) note(file);
    core_free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *common, unsigned long *flags) {
    (void)common; // may be NULL
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)(const void *)common)->end_allocated;
}

static herr_t driver_set_eoa(H5FD_t *common, H5FD_mem_t type, haddr_t address) {
    (void)type;
    from_common(common)->end_allocated = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)(const void *)common)->end_written;
}

static herr_t driver_get_handle(H5FD_t *common, hid_t access, void **handle) {
    (void)access;
    *handle = &from_common(common)->fd;
    return 0;
}

static herr_t driver_read(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t n, void *buffer) {
    (void)type;
    (void)transfer;
    driver_file *file = from_common(common);
    unsigned char *bytes = buffer;
    while (n > 0) {
        ssize_t got = pread(file->fd, bytes, n, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) {
            memset(bytes, 0, n); // behind the end: allocated, not written yet
            break;
        }
        bytes += got;
        address += (haddr_t)got;
        n -= (size_t)got;
    }
    return 0;
}

/// Writes n bytes unless a write has failed before.
static void put(driver_file *file, haddr_t address, size_t n, const unsigned char *bytes) {
    const haddr_t end = address + n;
    while (n > 0 && file->note->failure == 0) {
        ssize_t done = pwrite(file->fd, bytes, n, (off_t)address);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) {
            note(file);
            break;
        }
        bytes += done;
        address += (haddr_t)done;
        n -= (size_t)done;
    }
    if (end > file->end_written) file->end_written = end;
}

static void put_little_endian(unsigned char bytes[4], uint32_t value) {
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(value >> 8 * i & 0xff);
}

static uint32_t rotate(uint32_t x, int k) {
    return x << k | x >> (32 - k);
}

/// Checksum of HDF5's metadata: lookup3 of Bob Jenkins (2006, public domain), starting value 0; n > 12, a multiple of 4
/// (shorter rests are not needed here).
static uint32_t checksum(const unsigned char *bytes, size_t n) {
    static const int mix[6] = {4, 6, 8, 16, 19, 4}, last[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t v[3];
    v[0] = v[1] = v[2] = 0xdeadbeef + (uint32_t)n;
    for (; n > 0; n -= n > 12 ? 12 : n, bytes += 12) {
        const bool is_last = n <= 12;
        for (size_t i = 0; i < (is_last ? n : 12); i++) v[i / 4] += (uint32_t)bytes[i] << i % 4 * 8;
        for (int k = 0; k < 6 && !is_last; k++) { // a -= c, a ^= c <<< 4, c += b, and so on round
            uint32_t *a = &v[k % 3], b = v[(k + 1) % 3], *c = &v[(k + 2) % 3];
            *a = (*a - *c) ^ rotate(*c, mix[k]);
            *c += b;
        }
        for (int k = 0; k < 7 && is_last; k++) { // c ^= b, c -= b <<< 14, and so on round
            uint32_t *c = &v[(k + 2) % 3], b = v[(k + 1) % 3];
            *c = (*c ^ b) - rotate(b, last[k]);
        }
    }
    return v[2];
}

static herr_t driver_write(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t n,
                           const void *buffer) {
    (void)type;
    (void)transfer;
    driver_file *file = from_common(common);
    unsigned char super[SUPER_BYTES];
    const unsigned char *bytes = buffer;
    if (file->note->growing && address == 0 && n == SUPER_BYTES && bytes[SUPER_VERSION_AT] == SUPER_VERSION) {
        memcpy(super, bytes, SUPER_BYTES);
        super[SUPER_FLAGS_AT] |= SUPER_FLAGS_GROWING;
        put_little_endian(super + SUPER_CHECKSUM_AT, checksum(super, SUPER_CHECKSUM_AT));
        bytes = super;
    }
    put(file, address, n, bytes);
    return 0;
}

static herr_t driver_truncate(H5FD_t *common, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    driver_file *file = from_common(common);
    if (file->end_allocated == file->end_written) return 0;
    if (file->note->failure == 0 && ftruncate(file->fd, (off_t)file->end_allocated) != 0) note(file);
    file->end_written = file->end_allocated;
    return 0;
}

herr_t core__h5_set_driver(hid_t access, core_h5_note *note) {
    static const H5FD_class_t driver = {.name = "cem",
                                        .maxaddr = DRIVER_MAX_ADDRESS,
                                        .fc_degree = H5F_CLOSE_STRONG,
                                        .fapl_size = sizeof(driver_info),
                                        .open = driver_open,
                                        .close = driver_close,
                                        .query = driver_query,
                                        .get_eoa = driver_get_eoa,
                                        .set_eoa = driver_set_eoa,
                                        .get_eof = driver_get_eof,
                                        .get_handle = driver_get_handle,
                                        .read = driver_read,
                                        .write = driver_write,
                                        .truncate = driver_truncate,
                                        .fl_map = H5FD_FLMAP_DICHOTOMY};
    const driver_info info = {note};
    hid_t id = H5FDregister(&driver);
    if (id < 0) return -1;
    herr_t set = H5Pset_driver(access, id, &info);
    H5FDunregister(id); // the list, and later the file, hold on to it
    return set;
}
