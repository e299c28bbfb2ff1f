/// A temporary folder for tests that need files: created by test_folder_make, removed with all in it by
/// test_folder_remove. Include first: it asks for POSIX names.
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#define _XOPEN_SOURCE 700 // mkdtemp, opendir, P_tmpdir
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEST_PATH_MAX 512

static char test_folder[TEST_PATH_MAX / 2];

static inline int test_folder_make(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/cem-test-XXXXXX", parent && *parent ? parent : P_tmpdir);
    return mkdtemp(test_folder) ? 0 : -1;
}

static inline int test_folder_remove(void **state) {
    (void)state;
    DIR *folder = opendir(test_folder);
    if (!folder) return -1;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[2 * TEST_PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", test_folder, entry->d_name);
        remove(path);
    }
    closedir(folder);
    return rmdir(test_folder);
}

/// Path of a file in the folder, in the caller's buffer.
static inline const char *test_folder_path(char path[TEST_PATH_MAX], const char *name) {
    snprintf(path, TEST_PATH_MAX, "%s/%s", test_folder, name);
    return path;
}

/// Writes a text file into the folder; returns its path (caller's buffer).
static inline const char *test_folder_write(char path[TEST_PATH_MAX], const char *name, const char *text) {
    FILE *file = fopen(test_folder_path(path, name), "wb");
    if (!file || fwrite(text, 1, strlen(text), file) != strlen(text) || fclose(file) != 0) abort();
    return path;
}

#endif
