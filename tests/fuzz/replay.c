/// Feeds nothing, then files, or all files of folders, to a fuzzer: the kept corpus runs as a test of every build,
/// without libFuzzer. A crash ends the process; the last name printed is its input.
#include "fuzz.h"

/// Inputs fed, or -1 if a file cannot be read.
static int feed_file(const char *path) {
    char *data = NULL;
    size_t n = 0;
    core_error err = {0};
    printf("%s\n", path);
    fflush(stdout);
    if (core_file_read(path, (size_t)1 << 26, &data, &n, &err) != CORE_OK) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)data, n);
    core_free(data);
    return 1;
}

static int feed(const char *path) {
    DIR *folder = opendir(path);
    int fed = 0;
    if (!folder) return feed_file(path);
    for (struct dirent *entry; fed >= 0 && (entry = readdir(folder)) != NULL;) {
        char *child = NULL;
        if (entry->d_name[0] == '.' || core_path_join(path, entry->d_name, &child, NULL) != CORE_OK) continue;
        int n = feed_file(child);
        fed = n < 0 ? -1 : fed + n;
        core_free(child);
    }
    closedir(folder);
    return fed;
}

int main(int argc, char **argv) {
    int fed = 1;
    printf("nothing\n");
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        int n = feed(argv[i]);
        if (n < 0) return 1;
        fed += n;
    }
    printf("%d inputs\n", fed);
    return 0;
}
