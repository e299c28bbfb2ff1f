/// `*.run.h5`: a run, opened, described and its frames read.
#include "fuzz_seed.h"

#include "fuzz_forge.h"

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(fuzz_seed_run), data, size);
    core_run_reader *r = NULL;
    core_run_frame frame = {0};
    core_error err = {0};
    if (!path) return 0;
    if (core_run_open(path, &r, &err) != CORE_OK) {
        fuzz_expect(size > 0, err.message);
        fuzz_expect_message(&err);
        return 0;
    }
    const core_run_info *info = core_run_describe(r);
    if (core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &frame, NULL) == CORE_OK)
        for (int64_t i = 0; i < info->count_frames && i < 8; i++)
            if (core_run_read(r, i, &frame, &err) != CORE_OK) break;
    core_run_frame_clear(&frame);
    core_run_close(&r);
    return 0;
}
