/// Files and paths.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#define NOBODY 65534 // a user without rights

static void assert_content(const char *path, const char *wanted) {
    char *data = NULL;
    size_t n = 0;
    assert_int_equal(core_file_read(path, 1 << 20, &data, &n, NULL), CORE_OK);
    assert_int_equal(n, strlen(wanted));
    assert_string_equal(data, wanted);
    core_free(data);
}

static void test_write_and_read(void **state) {
    (void)state;
    const char *path = test_folder_file("a \xc3\xb6.txt");
    assert_int_equal(core_file_write(path, "one", 3, NULL), CORE_OK);
    assert_content(path, "one");
    assert_int_equal(core_file_write(path, "", 0, NULL), CORE_OK);
    assert_content(path, "");
    assert_int_equal(core_file_write(path, NULL, 0, NULL), CORE_OK);
    assert_int_equal(test_folder_count(), 1); // no temporary name stays
}

static void test_read_grows(void **state) {
    (void)state;
    const char *path = test_folder_file("large");
    size_t n = 300001, found = 0;
    char *data = core_alloc(n, 1), *back = NULL;
    for (size_t i = 0; i < n; i++) data[i] = (char)(i * 31);
    assert_int_equal(core_file_write(path, data, n, NULL), CORE_OK);
    assert_int_equal(core_file_read(path, n, &back, &found, NULL), CORE_OK);
    assert_int_equal(found, n);
    assert_memory_equal(data, back, n);
    assert_int_equal(back[n], 0);
    core_free(back);
    core_free(data);
}

static void test_read_failures(void **state) {
    (void)state;
    core_error err = {0};
    char *data = NULL;
    size_t n = 77;
    const char *path = test_folder_file("some");
    assert_int_equal(core_file_write(path, "12345", 5, NULL), CORE_OK);
    assert_int_equal(core_file_read(path, 4, &data, &n, &err), CORE_RANGE);
    assert_int_equal(core_file_read(test_folder_file("none"), 4, &data, &n, &err), CORE_IO);
    assert_non_null(strstr(err.message, "none: cannot open: No such file"));
    assert_int_equal(core_file_read(test_folder, 4, &data, &n, &err), CORE_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(core_file_read("/dev/zero", 1000, &data, &n, &err), CORE_IO);
    assert_non_null(strstr(err.message, "/dev/zero: is a device"));
    int ends[2];
    assert_int_equal(pipe(ends), 0); // more than is accepted, of unknown size
    const char many[2000] = {0};
    assert_int_equal(write(ends[1], many, sizeof many), sizeof many);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(core_file_read(name, 1000, &data, &n, &err), CORE_RANGE);
    for (int k = 0; k < 2; k++) close(ends[k]);
    assert_int_equal(core_file_read(NULL, 4, &data, &n, &err), CORE_ARG);
    for (uint64_t k = 1; k <= 1; k++) {
        core_alloc_fail_after(k);
        assert_int_equal(core_file_read(path, 100, &data, &n, &err), CORE_MEMORY);
    }
    core_alloc_fail_after(0);
    assert_null(data);
    assert_int_equal(n, 77);
}

static void test_write_failures(void **state) {
    (void)state;
    core_error err = {0};
    assert_int_equal(core_file_write(test_folder_file("no/such/file"), "x", 1, &err), CORE_IO);
    assert_non_null(strstr(err.message, "no/such/file: cannot write: No such file"));
    assert_int_equal(core_file_write(test_folder, "x", 1, &err), CORE_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(core_file_write("", "x", 1, &err), CORE_IO);
    const char *path = test_folder_file("file");
    assert_int_equal(core_file_write(path, "old", 3, NULL), CORE_OK);
    assert_int_equal(core_file_write(test_folder_file("file/below"), "x", 1, &err), CORE_IO);
    // a pipe or a device must not be replaced by a file
    const char *pipe_path = test_folder_file("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(core_file_write(pipe_path, "x", 1, &err), CORE_IO);
    assert_non_null(strstr(err.message, "not an ordinary file"));
    assert_int_equal(remove(pipe_path), 0);
    core_alloc_fail_after(1);
    assert_int_equal(core_file_write(path, "new", 3, &err), CORE_MEMORY);
    core_alloc_fail_after(0);
    assert_content(path, "old");
    assert_int_equal(test_folder_count(), 1);
}

static void test_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    const char *path = test_folder_file("file");
    core_error err = {0};
    static char large[100000];
    assert_int_equal(core_file_write(path, "old", 3, NULL), CORE_OK);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    core_status status = core_file_write(path, large, sizeof large, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, CORE_IO);
    assert_non_null(strstr(err.message, "file: cannot write: File too large"));
    assert_content(path, "old");
    assert_int_equal(test_folder_count(), 1);
}

static void test_folder_without_permission(void **state) {
    (void)state;
    const char *path = test_folder_file("file");
    const bool root = geteuid() == 0; // who may write everywhere
    assert_int_equal(core_file_write(path, "old", 3, NULL), CORE_OK);
    assert_int_equal(chmod(test_folder, 0555), 0);
    if (root) assert_int_equal(seteuid(NOBODY), 0);
    const core_status status = core_file_write(path, "new", 3, NULL);
    if (root) assert_int_equal(seteuid(0), 0);
    chmod(test_folder, 0700);
    assert_int_equal(status, CORE_IO);
    assert_content(path, "old");
}

static void test_publish_removes_on_failure(void **state) {
    (void)state;
    const char *temporary = test_folder_file("t");
    assert_int_equal(core_file_write(temporary, "x", 1, NULL), CORE_OK);
    assert_int_equal(core_file_publish(temporary, test_folder_file("no/such"), NULL), CORE_IO);
    assert_int_equal(test_folder_count(), 0);
    assert_int_equal(core_file_publish(temporary, test_folder_file("a"), NULL), CORE_IO);
}

static void test_rotation_keeps_one(void **state) {
    (void)state;
    const char *path = test_folder_file("a"), *fresh = test_folder_file("new"), *previous = test_folder_file("a.1");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(core_file_write(fresh, (const char[]){(char)('0' + i)}, 1, NULL), CORE_OK);
        assert_int_equal(core_file_rotate(fresh, path, NULL), CORE_OK);
        assert_content(path, i == 0 ? "0" : i == 1 ? "1" : "2");
        if (i > 0) assert_content(previous, i == 1 ? "0" : "1");
    }
    // a name that cannot be taken: what was there stays
    assert_int_equal(remove(previous), 0);
    assert_int_equal(core_file_make_directory(previous, NULL), CORE_OK);
    assert_int_equal(core_file_write(fresh, "3", 1, NULL), CORE_OK);
    core_error err = {0};
    assert_int_equal(core_file_rotate(fresh, path, &err), CORE_IO);
    assert_non_null(strstr(err.message, "a.1: cannot rename"));
    assert_content(path, "2");
    assert_false(core_file_exists(fresh));
    assert_int_equal(core_file_write(fresh, "3", 1, NULL), CORE_OK);
    core_alloc_fail_after(1);
    assert_int_equal(core_file_rotate(fresh, path, NULL), CORE_MEMORY);
    core_alloc_fail_after(0);
    assert_content(path, "2");
    assert_false(core_file_exists(fresh));
    assert_int_equal(core_file_rotate(NULL, path, NULL), CORE_ARG);
    assert_int_equal(core_file_previous(NULL, NULL, NULL), CORE_ARG);
}

static void test_links_stay(void **state) {
    (void)state;
    core_error err = {0};
    const char *deep = test_folder_file("deep"), *file = test_folder_file("deep/file"),
               *link = test_folder_file("link");
    const char *outer = test_folder_file("outer"), *loop = test_folder_file("loop"),
               *fresh = test_folder_file("deep/new");
    const char *previous = test_folder_file("deep/file.1");
    char *target = NULL;
    assert_int_equal(core_file_make_directory(deep, NULL), CORE_OK);
    assert_int_equal(symlink("deep/file", link), 0);
    assert_int_equal(symlink(link, outer), 0);
    assert_int_equal(symlink("loop", loop), 0);
    for (int i = 0; i < 2; i++) { // to nothing, then to a file
        assert_int_equal(core_file_write(outer, i == 0 ? "0" : "1", 1, &err), CORE_OK);
        assert_content(file, i == 0 ? "0" : "1");
    }
    assert_int_equal(core_file_write(fresh, "2", 1, NULL), CORE_OK);
    assert_int_equal(core_file_rotate(fresh, outer, &err), CORE_OK);
    assert_content(file, "2");
    assert_content(previous, "1");
    assert_int_equal(core_file_target(outer, &target, &err), CORE_OK);
    assert_string_equal(target, file);
    core_free(target);
    assert_int_equal(core_file_target(fresh, &target, &err), CORE_OK); // what is not there is no link
    assert_string_equal(target, fresh);
    core_free(target);
    target = NULL;
    assert_int_equal(core_file_write(loop, "x", 1, &err), CORE_IO);
    assert_non_null(strstr(err.message, "loop: cannot write: is a link that leads back to itself"));
    struct stat info;
    const char *links[] = {link, outer, loop};
    for (int i = 0; i < 3; i++) assert_true(lstat(links[i], &info) == 0 && S_ISLNK(info.st_mode));
    for (size_t k = 1;; k++) {
        core_alloc_fail_after(k);
        const core_status status = core_file_target(outer, &target, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        assert_int_equal(status, CORE_MEMORY);
        assert_null(target);
    }
    core_free(target);
    assert_int_equal(core_file_target(NULL, &target, NULL), CORE_ARG);
}

static void test_folders(void **state) {
    (void)state;
    core_error err = {0};
    const char *deep = test_folder_file("a/b//c/");
    assert_int_equal(core_file_make_directory(deep, &err), CORE_OK);
    assert_true(core_file_is_directory(deep));
    assert_int_equal(core_file_make_directory(deep, &err), CORE_OK);
    const char *path = test_folder_file("file");
    assert_int_equal(core_file_write(path, "x", 1, NULL), CORE_OK);
    assert_true(core_file_exists(path) && !core_file_is_directory(path));
    assert_int_equal(core_file_make_directory(path, &err), CORE_IO);
    assert_int_equal(core_file_make_directory(test_folder_file("file/sub"), &err), CORE_IO);
    assert_int_equal(core_file_make_directory("", &err), CORE_ARG);
    assert_false(core_file_exists(test_folder_file("nothing")));
    assert_false(core_file_exists(NULL));
    const char *spelled = test_folder_file("./file"), *other = test_folder_file("other");
    assert_int_equal(core_file_write(other, "x", 1, NULL), CORE_OK);
    assert_true(core_file_same(path, path) && core_file_same(path, spelled));
    assert_false(core_file_same(path, other) || core_file_same(path, NULL) || core_file_same(NULL, path));
    // files that are not there yet: one name in one folder
    const char *nothing = test_folder_file("nothing"), *nothing_spelled = test_folder_file("./nothing");
    assert_true(core_file_same(nothing, nothing) && core_file_same(nothing, nothing_spelled));
    assert_false(core_file_same(nothing, path) || core_file_same(path, nothing));
    assert_false(core_file_same(nothing, test_folder_file("nothing2")) || core_file_same(nothing, "nothing"));
    assert_false(core_file_same(test_folder_file("no folder/x"), test_folder_file("./no folder/x")));
}

static void assert_joined(const char *a, const char *b, const char *wanted) {
    char *path = NULL;
    assert_int_equal(core_path_join(a, b, &path, NULL), CORE_OK);
    assert_string_equal(path, wanted);
    core_free(path);
}

static void assert_folder(const char *path, const char *wanted) {
    char *found = NULL;
    assert_int_equal(core_path_folder(path, &found, NULL), CORE_OK);
    assert_string_equal(found, wanted);
    core_free(found);
}

static void test_paths(void **state) {
    (void)state;
    assert_joined("a", "b", "a/b");
    assert_joined("a/", "b/c", "a/b/c");
    assert_joined("a", "/b", "/b");
    assert_joined("", "b", "b");
    assert_joined(NULL, "b", "b");
    assert_joined("/", "b", "/b");
    assert_folder("a/b", "a");
    assert_folder("b", ".");
    assert_folder("/b", "/");
    assert_folder("a/b/c.h5", "a/b");
    char *path = NULL;
    core_alloc_fail_after(1);
    assert_int_equal(core_path_join("a", "b", &path, NULL), CORE_MEMORY);
    core_alloc_fail_after(1);
    assert_int_equal(core_path_folder("a/b", &path, NULL), CORE_MEMORY);
    assert_null(path);
}

static void test_stems(void **state) {
    (void)state;
    char stem[CORE_NAME_MAX] = "";
    assert_int_equal(core_path_stem("a/hash.sdf.h5", stem, NULL), CORE_OK);
    assert_string_equal(stem, "hash");
    assert_int_equal(core_path_stem("a.b/plain", stem, NULL), CORE_OK);
    assert_string_equal(stem, "plain");
    assert_int_equal(core_path_stem("\xc3\xa9toile \xc3\xa0 5.wkt", stem, NULL), CORE_OK);
    assert_string_equal(stem, "\xc3\xa9toile \xc3\xa0 5");
    // Only what is known as an extension goes.
    const char *const named[][2] = {{"b1.5.png", "b1.5"},
                                    {"mu.3.run.h5", "mu.3"},
                                    {"x.y/v1.2.SDF.H5", "v1.2"},
                                    {"plain.v2", "plain.v2"},
                                    {"star.wkt.json", "star.wkt"}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        assert_int_equal(core_path_stem(named[i][0], stem, NULL), CORE_OK);
        assert_string_equal(stem, named[i][1]);
    }
    assert_int_equal(core_path_stem("a/..wkt", stem, NULL), CORE_FORMAT);
    assert_int_equal(core_path_stem("a/.wkt", stem, NULL), CORE_FORMAT);
    assert_int_equal(core_path_stem("a/", stem, NULL), CORE_FORMAT);
    char name[80];
    memset(name, 'x', sizeof name);
    name[63] = '\0';
    assert_int_equal(core_path_stem(name, stem, NULL), CORE_OK);
    assert_int_equal(strlen(stem), 63);
    name[63] = 'x';
    name[64] = '\0';
    assert_int_equal(core_path_stem(name, stem, NULL), CORE_FORMAT);
}

static void test_endings(void **state) {
    (void)state;
    assert_true(core_path_ends("a/B.WKT", ".wkt") && core_path_ends("x.sdf.h5", ".sdf.h5") && core_path_ends("x", ""));
    assert_false(core_path_ends("a.wkt.txt", ".wkt") || core_path_ends("kt", ".wkt") || core_path_ends(NULL, "x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_write_and_read, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_read_grows, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_read_failures, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_write_failures, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_full_disk_leaves_the_old_file, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_folder_without_permission, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_publish_removes_on_failure, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_rotation_keeps_one, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_links_stay, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_folders, test_folder_make, test_folder_remove),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_stems),
        cmocka_unit_test(test_endings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
