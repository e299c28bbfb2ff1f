/// libcore: what every stage of cem shares - status and messages, allocation, random numbers, hashes, fixed-order
/// elementary functions, threads, progress, outlines and files. Knows no grains and no solver.
/// HDF5 files are in core_h5.h, YAML in core_yaml.h, run files in core_run.h.
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_VERSION "0.1.0"
#define CORE_PI 3.14159265358979323846
#define CORE_NAME_MAX 64 // bytes of a shape, type, phase or boundary name, the terminating zero included
#define CORE_STEP_MAX (INT64_C(1) << 53) // steps a checkpoint may state: exact as doubles, far from overflow

// ---------------------------------------------------------------------------------------------- status

/// What a fallible function returns; 0 is success.
typedef enum core_status {
    CORE_OK = 0,
    CORE_ARG,           // null pointer, bad option or bad combination of arguments
    CORE_SHAPE,         // geometry that cannot be used (zero area, self-crossing, too thin)
    CORE_RANGE,         // a number outside its allowed range
    CORE_NONFINITE,     // NaN or infinity where a number is needed
    CORE_MEMORY,        // allocation failed
    CORE_IO,            // the operating system refused: open, read, write, sync, rename
    CORE_FORMAT,        // a file's content is not what it should be
    CORE_VERSION_OTHER, // a file of a version this program cannot read
    CORE_NOT_CONVERGED, // blow-up, time-out, exploding loss
    CORE_UNSUPPORTED,
    CORE_INTERNAL
} core_status;

/// Message of a failure. `{0}` is valid. Filled by the function that fails; never freed.
typedef struct core_error {
    core_status code;
    char message[1024]; // one line, no newline at its end; names file, field, value found and value expected
    const char *file;   // source file and line of the check that failed
    int line;
} core_error;

/// Sets `err` (may be NULL) and returns `code`. Use through CORE_FAIL and CORE_CHECK.
core_status core_fail(core_error *err, core_status code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/// Puts "text: " before the message of err (for context such as a file name). err may be NULL. Returns err's code.
core_status core_error_prefix(core_error *err, core_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// "out of range" and the like; a static string, never NULL.
const char *core_status_name(core_status code);

#define CORE_FAIL(err, code, ...) core_fail((err), (code), __FILE__, __LINE__, __VA_ARGS__)
/// Returns from the enclosing function with the status of a failed call.
#define CORE_TRY(call)                                                                                                 \
    do {                                                                                                               \
        core_status core_try_status = (call);                                                                          \
        if (core_try_status != CORE_OK) return core_try_status;                                                        \
    } while (0)
/// Returns from the enclosing function with `code` and a message unless `cond` holds. Needs `err` in scope.
#define CORE_CHECK(cond, code, ...)                                                                                    \
    do {                                                                                                               \
        if (!(cond)) return CORE_FAIL(err, code, __VA_ARGS__);                                                         \
    } while (0)
/// As CORE_TRY and CORE_CHECK, in a function that owns something: sets `status` and goes to `done`.
#define CORE_TRY_DONE(call)                                                                                            \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != CORE_OK) goto done;                                                                              \
    } while (0)
#define CORE_CHECK_DONE(cond, code, ...)                                                                               \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            status = CORE_FAIL(err, code, __VA_ARGS__);                                                                \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

// ---------------------------------------------------------------------------------------------- allocation

/// Zeroed memory for count x size bytes, aligned to 64 bytes, or NULL (overflow, over 512 GiB, exhaustion, injected
/// failure). count or size 0 gives a valid pointer. Free with core_free. Thread-safe.
void *core_alloc(size_t count, size_t size);
/// As realloc, overflow-checked, new bytes NOT zeroed; on NULL the old block is still valid. `old_count` elements are
/// kept.
void *core_realloc(void *old, size_t old_count, size_t count, size_t size);
/// Accepts NULL.
void core_free(void *p);
/// Allocations so far, over all threads (the one process-wide counter; atomic). For tests: "a step allocates nothing".
uint64_t core_alloc_count(void);
/// For tests: the n-th allocation from now fails (1 = the next), once; 0 switches the injection off.
void core_alloc_fail_after(uint64_t n);

/// Allocates `count` of `*ptr` or fails with CORE_MEMORY through `status`/`done` (see CORE_TRY_DONE).
#define CORE_NEW_DONE(ptr, count)                                                                                      \
    do {                                                                                                               \
        (ptr) = core_alloc((count), sizeof *(ptr));                                                                    \
        if (!(ptr)) {                                                                                                  \
            status = CORE_FAIL(err, CORE_MEMORY, "out of memory: %zu x %zu bytes", (size_t)(count), sizeof *(ptr));    \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

// ---------------------------------------------------------------------------------------------- random numbers

/// xoshiro256++ state. Fill with core_random_init only. Copying copies the sequence.
typedef struct core_random {
    uint64_t s[4];
} core_random;

/// Independent sequence for each (seed, stream): streams make results independent of the number of threads.
void core_random_init(core_random *r, uint64_t seed, uint64_t stream);
/// The next 64 bits.
uint64_t core_random_bits(core_random *r);
/// Uniform in [0, 1), 53 bits.
double core_random_uniform(core_random *r);
/// Standard normal, by the polar method with core_log (same bits on every machine).
double core_random_normal(core_random *r);

// ---------------------------------------------------------------------------------------------- hashes

/// 64-bit content hash (FNV-1a over little-endian 8-byte words with a shift behind each product, then the length and a
/// final mix; not cryptographic). `seed` chains calls; start with 0. Same value on every machine.
uint64_t core_hash_bytes(uint64_t seed, const void *data, size_t n_bytes);
/// 16 lower-case hex digits and a zero into text[17].
void core_hash_text(uint64_t hash, char text[17]);

// ---------------------------------------------------------------------------------------------- elementary functions

/// sin, cos, atan2, log of one fixed operation order in double (only + - * / are used), so that results are the same
/// bits on every machine; glibc chooses its variants by CPU. NaN and infinities give NaN. sqrt, fabs, floor, fma of
/// <math.h> are exact and may be used as they are. Pure, thread-safe; errors are measured in
/// tests/unit/test_core_math.c. Below 1 ulp for |x| <= 1e6; beyond, x is first taken modulo the double nearest 2 pi,
/// whose error is less than half an ulp of x per unit slope: still finite and continuous in that sense.
void core_sincos(double x, double *s, double *c);
/// The same bits for n angles, several at a time; s and c (n) must not overlap x.
void core_sincos_many(const double *x, int n, double *s, double *c);
/// Below 2 ulp. Quadrants and signed zeros as in C: (+-0, x > 0 or +0) gives +-0, (+-0, x < 0 or -0) gives +-pi.
double core_atan2(double y, double x);
/// Below 1 ulp. 0 gives -infinity, negative numbers give NaN.
double core_log(double x);
/// Angle wrapped to [-pi, pi), as double CORE_PI; an angle inside is returned as it is. NaN and infinities give NaN.
double core_wrap_angle(double a);

// ---------------------------------------------------------------------------------------------- threads

/// Processors this process may use, at least 1.
int core_thread_available(void);
/// Calls fn(arg, i, worker) for i = 0..n-1, worker in [0, threads); the caller is worker 0. Which worker takes which i
/// is unspecified: results must not depend on it. threads <= 1 runs in order in the caller; so does a loop inside fn,
/// and one that another thread starts meanwhile. More than 256 threads count as 256. n = 0 does nothing. Waits for
/// workers that took a part, not for such as the system does not let run; who waits sleeps after 50 us. Cost of a loop
/// on idle processors: about 2 us, 50 us where workers have gone to sleep.
void core_thread_for(int threads, int64_t n, void (*fn)(void *arg, int64_t i, int worker), void *arg);

/// Wall clock in s since some moment: never set back, for differences alone.
double core_wall_seconds(void);

// ---------------------------------------------------------------------------------------------- progress

/// How a library tells what it has done; libraries never print. `{0}` means nobody listens.
typedef struct core_progress {
    /// stage: what is going on ("sampling hash-hash"); done of total, in `unit` ("samples"); note: short extra text or
    /// NULL.
    void (*report)(void *user, const char *stage, double done, double total, const char *unit, const char *note);
    void *user;
} core_progress;
/// Calls p->report if there is one; p may be NULL. May be called from one thread at a time.
void core_progress_report(const core_progress *p, const char *stage, double done, double total, const char *unit,
                          const char *note);

// ---------------------------------------------------------------------------------------------- outlines

/// A region bounded by closed rings: ring 0 is the outer one, counter-clockwise; the others are holes, clockwise.
/// Points are not repeated at a ring's end. `{0}` is "nothing". Owns both arrays. Lengths in the unit of the frame it
/// is in.
typedef struct core_outline {
    int count_rings;
    int *ring_start; // (count_rings + 1): ring i has the points ring_start[i] .. ring_start[i+1]-1
    double *xy;      // (ring_start[count_rings] x 2) row-major
} core_outline;

/// Points of all rings together; 0 for {0}.
int core_outline_count(const core_outline *o);
/// Allocates an outline of the given rings; points zero. MEMORY, ARG (no rings, a ring under 3 points).
core_status core_outline_create(int count_rings, const int *ring_counts, core_outline *o, core_error *err);
/// Deep copy. MEMORY (`to` untouched).
core_status core_outline_copy(const core_outline *from, core_outline *to, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void core_outline_clear(core_outline *o);
/// Content hash of rings and coordinates.
uint64_t core_outline_hash(const core_outline *o);

// ---------------------------------------------------------------------------------------------- text and files

/// Whole-string number: decimal point whatever the locale; rejects empty text, trailing text, hexadecimal, nan, inf,
/// overflow. `what` names the option or field in the message. RANGE outside [min, max].
core_status core_parse_number(const char *text, const char *what, double min, double max, double *value,
                              core_error *err);
core_status core_parse_integer(const char *text, const char *what, int64_t min, int64_t max, int64_t *value,
                               core_error *err);
/// Nearest of `candidates` by edit distance, NULL if none is near (distance > 1/2 of the length, at least 2 allowed).
const char *core_nearest_word(const char *word, const char *const *candidates, int count);

/// Whole file into memory, a zero added behind it. IO (names the path and the system's reason; directories and devices
/// are refused), RANGE if larger than max_bytes. Caller frees with core_free.
core_status core_file_read(const char *path, size_t max_bytes, char **data, size_t *n_bytes, core_error *err);
/// As core_file_read, what is left of an open descriptor, which stays open: standard input. `name` is for messages.
core_status core_file_read_open(int descriptor, const char *name, size_t max_bytes, char **data, size_t *n_bytes,
                                core_error *err);
/// The file that is written as `path`: path itself, or where it leads if it is a symbolic link, whether something is
/// there or not. So links stay, and their files are what is replaced. Caller frees. IO if it leads to itself, MEMORY.
core_status core_file_target(const char *path, char **target, core_error *err);
/// Writes path under a temporary name beside it, syncs and renames. On failure nothing is left and an old file is
/// untouched.
core_status core_file_write(const char *path, const void *data, size_t n_bytes, core_error *err);
/// Temporary name beside `path` or what it is a link to (same folder, process id inside); caller frees. MEMORY; IO if
/// path exists and is no ordinary file (the later rename would replace a device or a pipe).
core_status core_file_temporary(const char *path, char **temporary, core_error *err);
/// Waits until the content of path is on disk. IO.
core_status core_file_sync(const char *path, core_error *err);
/// fsync `temporary` and rename it to `path`; on failure removes `temporary`.
core_status core_file_publish(const char *temporary, const char *path, core_error *err);
/// "PATH.1": where core_file_rotate keeps what was at `path`. Caller frees. MEMORY.
core_status core_file_previous(const char *path, char **previous, core_error *err);
/// As core_file_publish, but what is at `path` becomes PATH.1 first: one of the two is there at any time, also if this
/// fails. On failure removes `temporary`. IO, MEMORY.
core_status core_file_rotate(const char *temporary, const char *path, core_error *err);
/// True if path exists (any kind).
bool core_file_exists(const char *path);
/// True if both paths lead to one file, however they are spelled or linked; of files that are not there yet, if they
/// have one name in one folder. NULL: false.
bool core_file_same(const char *a, const char *b);
/// True if path is a directory, also through a symbolic link.
bool core_file_is_directory(const char *path);
/// Creates a folder and its parents; existing ones are fine.
core_status core_file_make_directory(const char *path, core_error *err);
/// `folder/name`, or `name` if it is absolute or folder is empty or NULL. Caller frees. MEMORY.
core_status core_path_join(const char *folder, const char *name, char **path, core_error *err);
/// Folder part of path ("." if none); caller frees. MEMORY.
core_status core_path_folder(const char *path, char **folder, core_error *err);
/// File name without folder and without the extension of a shape file or of a file of ours, if it has one:
/// "a/hash.sdf.h5" -> "hash", "b1.5.png" -> "b1.5". FORMAT if empty, longer than CORE_NAME_MAX - 1 bytes or begun by a
/// dot.
core_status core_path_stem(const char *path, char stem[CORE_NAME_MAX], core_error *err);
/// True if path ends in `suffix`, letters compared without case.
bool core_path_ends(const char *path, const char *suffix);

#endif
