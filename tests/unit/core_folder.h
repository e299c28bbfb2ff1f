/// A scratch folder for tests that write files: made below the system's folder for such things, removed with its
/// content. Include after cmocka; the including file defines _XOPEN_SOURCE 700.
#ifndef CORE_FOLDER_H
#define CORE_FOLDER_H

#include "core.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct core_folder {
    char path[512];
} core_folder;

static inline void core_folder_make(core_folder *folder) {
    const char *root = getenv("TMPDIR");
    snprintf(folder->path, sizeof folder->path, "%s/cem-test-XXXXXX", root ? root : P_tmpdir);
    assert_non_null(mkdtemp(folder->path));
}

/// Path of a file in the folder; the text is overwritten by the eighth next call.
static inline const char *core_folder_file(const core_folder *folder, const char *name) {
    static char texts[8][1024];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s/%s", folder->path, name);
    return text;
}

/// Number of entries, hidden ones too.
static inline int core_folder_count(const core_folder *folder) {
    int n = 0;
    DIR *d = opendir(folder->path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static inline void core_folder_remove_path(const char *path) {
    char child[1024];
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        int n = snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        if (n > 0 && (size_t)n < sizeof child) core_folder_remove_path(child);
    }
    if (d) closedir(d);
    remove(path);
}

static inline void core_folder_remove(core_folder *folder) {
    chmod(folder->path, 0700);
    core_folder_remove_path(folder->path);
}

#endif
