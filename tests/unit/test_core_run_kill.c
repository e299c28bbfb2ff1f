/// Run files of programs that are killed (SIGKILL) at each of their writes, and of ones whose disk is full from there
/// on: every frame that was appended is there to the bit, and recovering gives an ordinary file. The writes are counted
/// by the function pwrite below, which the linker takes in place of the system's.
#define _GNU_SOURCE // syscall, MAP_ANONYMOUS
#include "test_folder.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_run.h"
#include "fixtures/run_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { GRAINS = 40, FRAMES = 2, FULL_CHUNK = 256, PAGE = 4096 };

/// What happens at the write number `at`.
typedef enum fault { FAULT_NONE, FAULT_KILL, FAULT_KILL_IN_PAGE, FAULT_FULL } fault;

static fault kind;
static long at, writes;

static ssize_t system_pwrite(int fd, const void *bytes, size_t n, off_t offset) {
    return (ssize_t)syscall(SYS_pwrite64, fd, bytes, n, offset);
}

/// The system's, but for the faults. A kill can interrupt a write between two pages of the file only.
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset) {
    if (kind == FAULT_NONE || ++writes < at) return system_pwrite(fd, bytes, n, offset);
    if (kind == FAULT_FULL) {
        errno = ENOSPC;
        return -1;
    }
    const size_t in_page = PAGE - (size_t)offset % PAGE;
    if (kind == FAULT_KILL_IN_PAGE && in_page < n) (void)system_pwrite(fd, bytes, in_page, offset);
    if (kind == FAULT_KILL || in_page < n) raise(SIGKILL);
    return system_pwrite(fd, bytes, n, offset); // inside a page: the next write that is not
}

/// Poses and speeds that tell frames and grains apart.
static void fill_frame(core_run_frame *frame, int k) {
    frame->step = 10 * k;
    frame->time = 0.1 * k;
    for (int i = 0; i < GRAINS; i++) {
        frame->position[2 * i] = i + 1e-3 * k;
        frame->position[2 * i + 1] = -i - 1e-3 * k;
        frame->orientation[i] = 100 * k + i;
    }
}

static core_run_writer *begin(const char *path, core_run_frame *frame) {
    core_error err = {0};
    fixture_run run = {.title = "killed"};
    core_run_writer *w = NULL;
    core_status status = CORE_OK;
    CORE_TRY_DONE(fixture_add_square(&run, 1, 2500, &err));
    fixture_add_plane(&run, "floor", 0, 1, 0);
    CORE_TRY_DONE(fixture_set_grains(&run, GRAINS, &err));
    CORE_TRY_DONE(fixture_frame(&run, frame, &err));
    status = fixture_begin(&run, path, &w, &err);
done:
    fixture_clear(&run);
    return w; // NULL after a failure
}

/// Appends the frames [first, end); *appended counts all of them.
static core_status append(core_run_writer *w, core_run_frame *frame, int first, int end, volatile int *appended) {
    for (int k = first; k < end; k++) {
        fill_frame(frame, k);
        CORE_TRY(core_run_append(w, frame, NULL));
        *appended = k + 1;
    }
    return CORE_OK;
}

/// Writes a run. Returns the status of the first failure.
static core_status write_run(const char *path, volatile int *appended) {
    core_run_frame frame = {0};
    core_run_writer *w = begin(path, &frame);
    core_status status = w ? append(w, &frame, 0, FRAMES, appended) : CORE_IO;
    const core_status finished = core_run_finish(&w, NULL);
    core_run_frame_clear(&frame);
    return status == CORE_OK ? finished : status;
}

/// Opens a run and compares its frames. Returns their number.
static int64_t check_frames(const char *path) {
    core_error err = {0};
    core_run_reader *r = NULL;
    core_run_frame frame = {0}, wanted = {0};
    if (core_run_open(path, &r, &err) != CORE_OK) fail_msg("write %ld: %s", at, err.message);
    const core_run_info *info = core_run_describe(r);
    const int64_t count = info->count_frames;
    assert_int_equal(core_run_frame_create(GRAINS, info->count_observables, 1, &frame, &err), CORE_OK);
    assert_int_equal(core_run_frame_create(GRAINS, info->count_observables, 1, &wanted, &err), CORE_OK);
    for (int64_t k = 0; k < count; k++) {
        if (core_run_read(r, k, &frame, &err) != CORE_OK) fail_msg("write %ld: %s", at, err.message);
        fill_frame(&wanted, (int)k);
        assert_int_equal(frame.step, wanted.step);
        assert_memory_equal(frame.position, wanted.position, 2 * GRAINS * sizeof(double));
        assert_memory_equal(frame.orientation, wanted.orientation, GRAINS * sizeof(double));
    }
    core_run_close(&r);
    core_run_frame_clear(&frame);
    core_run_frame_clear(&wanted);
    return count;
}

/// The run and what is recovered from it hold the frames that were appended, and at most one more whose counter was
/// written already. Recovering syncs, which takes time: it is tried for some.
static void check_left(const char *path, int appended, bool recovers) {
    core_error err = {0};
    core_h5 *file = NULL;
    char recovered[TEST_PATH_MAX];
    test_folder_path(recovered, "recovered.h5");
    uint64_t stored = 0, found = 1;
    const int64_t count = check_frames(path);
    if (count != appended && count != appended + 1)
        fail_msg("write %ld: %d frames, %d were appended", at, (int)count, appended);
    if (!recovers) return;
    if (core_run_recover(path, recovered, &err) != CORE_OK) fail_msg("write %ld: %s", at, err.message);
    assert_int_equal(check_frames(recovered), count);
    assert_int_equal(core_h5_open(recovered, CORE_RUN_FORMAT, CORE_RUN_VERSION, &file, &err), CORE_OK);
    assert_int_equal(core_h5_content_hash(file, &stored, &err), CORE_OK);
    assert_int_equal(core_h5_compute_hash(file, &found, &err), CORE_OK);
    assert_int_equal(stored, found);
    core_h5_close(&file);
}

/// Runs write_run in a process of its own with a fault at its write number `number`. True if it ended by itself.
static bool run_with(fault what, long number, const char *path, volatile int *appended) {
    int status = 0;
    *appended = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kind = what, at = number, writes = 0;
        _exit((int)write_run(path, appended));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (what == FAULT_FULL) {
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == CORE_OK || WEXITSTATUS(status) == CORE_IO);
        return WEXITSTATUS(status) == CORE_OK;
    }
    return WIFEXITED(status);
}

/// A fault at every `every`-th write, until the run comes to its end. Returns how many there were.
static int at_writes(fault what, int every) {
    void *shared = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    volatile int *appended = shared;
    char path[TEST_PATH_MAX];
    test_folder_path(path, "run.h5");
    int faults = 0;
    bool ended = false;
    for (long number = 1; !ended; number += every) {
        unlink(path);
        ended = run_with(what, number, path, appended);
        faults += !ended;
        at = number;
        if (!core_file_exists(path))
            assert_int_equal(*appended, 0); // the run had not begun
        else
            check_left(path, *appended, number % 16 == 1);
    }
    assert_int_equal(munmap(shared, sizeof(int)), 0);
    return faults;
}

static void killed_at_each_write(void **state) {
    (void)state;
    assert_true(at_writes(FAULT_KILL, 1) > 120);
}

/// The same where a chunk is full and the file grows by a new one: the process is copied in front of that, and the file
/// restored after each kill.
static void killed_at_a_new_chunk(void **state) {
    (void)state;
    void *shared = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    volatile int *appended = shared;
    char path[TEST_PATH_MAX], *before = NULL;
    core_run_frame frame = {0};
    core_run_writer *w = begin(test_folder_path(path, "late.h5"), &frame);
    assert_non_null(w);
    assert_int_equal(append(w, &frame, 0, FULL_CHUNK - 1, appended), CORE_OK);
    size_t n = 0;
    assert_int_equal(core_file_read(path, SIZE_MAX / 2, &before, &n, NULL), CORE_OK);
    bool ended = false;
    for (long number = 1; !ended; number++) {
        int status = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            kind = FAULT_KILL, at = number, writes = 0;
            _exit((int)append(w, &frame, FULL_CHUNK - 1, FULL_CHUNK + 2, appended));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        ended = WIFEXITED(status);
        assert_true(ended || number < 1000);
        at = number;
        check_left(path, *appended, false);
        assert_int_equal(truncate(path, (off_t)n), 0);
        const int fd = open(path, O_RDWR);
        assert_true(fd >= 0 && system_pwrite(fd, before, n, 0) == (ssize_t)n);
        close(fd);
        *appended = FULL_CHUNK - 1;
    }
    assert_int_equal(core_run_finish(&w, NULL), CORE_OK);
    core_run_frame_clear(&frame);
    core_free(before);
    assert_int_equal(munmap(shared, sizeof(int)), 0);
}

static void killed_between_pages(void **state) {
    (void)state;
    assert_true(at_writes(FAULT_KILL_IN_PAGE, 3) > 30);
}

static void disk_full(void **state) {
    (void)state;
    assert_true(at_writes(FAULT_FULL, 3) > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_each_write),
        cmocka_unit_test(killed_at_a_new_chunk),
        cmocka_unit_test(killed_between_pages),
        cmocka_unit_test(disk_full),
    };
    return cmocka_run_group_tests(tests, test_folder_make, test_folder_remove);
}
