/// Recovering a run file whose program was killed: its committed frames in an ordinary file.
#include <string.h>

#include "core_run_private.h"

/// What is done to each growing dataset.
typedef struct cut {
    size_t frames, contacts; // rows that are kept
} cut;

static size_t rows_to_keep(void *user, const char *path) {
    static const char contacts[] = CORE_RUN_CONTACTS "/";
    const cut *c = user;
    const bool is_contact = strncmp(path, contacts, strlen(contacts)) == 0 && strcmp(path, CORE_RUN_CONTACTS_END) != 0;
    return is_contact ? c->contacts : c->frames;
}

core_status core_run_recover(const char *path, const char *recovered, core_error *err) {
    core_status status = CORE_OK;
    core_run_reader *run = NULL;
    core_h5 *from = NULL, *to = NULL;
    cut keep = {0, 0};
    int64_t end = 0;
    CORE_CHECK(path && recovered, CORE_ARG, "core_run_recover: null argument");
    CORE_CHECK(!core_file_same(path, recovered), CORE_ARG, "%s: input and output are the same file", recovered);
    CORE_TRY_DONE(core_run_open(path, &run, err)); // checks all that a reader relies on
    const core_run_info *info = core_run_describe(run);
    keep.frames = (size_t)info->count_frames;
    CORE_TRY_DONE(core_h5_open(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &from, err));
    if (info->contacts && keep.frames > 0)
        CORE_TRY_DONE(
            core_h5_series_read(from, CORE_RUN_CONTACTS_END, CORE_H5_I64, 0, NULL, keep.frames - 1, &end, err));
    CORE_CHECK_DONE(end >= 0, CORE_FORMAT, "%s: %s: %lld; expected 0 or more", path, CORE_RUN_CONTACTS_END,
                    (long long)end);
    keep.contacts = (size_t)end;
    CORE_TRY_DONE(core_h5_create(recovered, CORE_RUN_FORMAT, CORE_RUN_VERSION, &to, err));
    CORE_TRY_DONE(core_h5_copy(from, to, rows_to_keep, &keep, err));
    status = core_h5_commit(&to, err);
done:
    core_h5_abandon(&to);
    core_h5_close(&from);
    core_run_close(&run);
    return status;
}
