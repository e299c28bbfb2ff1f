/// A temporary folder for tests that need files: created by test_folder_make, removed with all in it by
/// test_folder_remove. Include first: it asks for POSIX names.
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 // mkdtemp, opendir, P_tmpdir
#endif
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEST_PATH_MAX 512

static char test_folder[TEST_PATH_MAX / 2];

/// Fixture of a group or a test; `state` is not used.
static inline int test_folder_make(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/cem-test-XXXXXX", parent && *parent ? parent : P_tmpdir);
    return mkdtemp(test_folder) ? 0 : -1;
}

/// Removes a file, or a folder with what is in it; -1 if something stays.
static inline int test_folder_remove_path(const char *path) {
    char child[2 * TEST_PATH_MAX];
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int n = snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (n > 0 && (size_t)n < sizeof child) test_folder_remove_path(child);
    }
    if (folder) closedir(folder);
    return remove(path);
}

/// Fixture like test_folder_make.
static inline int test_folder_remove(void **state) {
    (void)state;
    chmod(test_folder, 0700); // a test may have taken the permission away
    return test_folder_remove_path(test_folder);
}

/// Path of a file in the folder, in the caller's buffer.
static inline const char *test_folder_path(char path[TEST_PATH_MAX], const char *name) {
    snprintf(path, TEST_PATH_MAX, "%s/%s", test_folder, name);
    return path;
}

/// The same without a buffer; the text is overwritten by the eighth next call.
static inline const char *test_folder_file(const char *name) {
    static char texts[8][TEST_PATH_MAX];
    static int next;
    return test_folder_path(texts[next++ % 8], name);
}

/// Number of entries, hidden ones too; -1 if there is no folder.
static inline int test_folder_count(void) {
    int n = 0;
    DIR *folder = opendir(test_folder);
    if (!folder) return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return n;
}

/// Writes a text file into the folder; returns its path (caller's buffer).
static inline const char *test_folder_write(char path[TEST_PATH_MAX], const char *name, const char *text) {
    FILE *file = fopen(test_folder_path(path, name), "wb");
    if (!file || fwrite(text, 1, strlen(text), file) != strlen(text) || fclose(file) != 0) abort();
    return path;
}

#endif
