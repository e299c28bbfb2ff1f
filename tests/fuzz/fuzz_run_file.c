/// `*.run.h5`: a run, opened and described, its frames and contacts read, its last frame measured, all of it recovered.
#include "fuzz_grains.h"

#include "fuzz_forge.h"
#include "fuzz_seed.h"
#include "sim_measure.h"

enum { FRAMES = 8 };

static core_status make(const char *path, core_error *err) {
    sim_scene scene = {0};
    const core_status status = fuzz_grains_run(path, test_folder_file("run.checkpoint.h5"), &scene, err);
    sim_scene_clear(&scene);
    return status;
}

static void read_frames(core_run_reader *r) {
    const core_run_info *info = core_run_describe(r);
    core_run_frame frame = {0};
    core_error err = {0};
    if (core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &frame, NULL) == CORE_OK &&
        core_run_frame_add_walls(info->count_walls, &frame, NULL) == CORE_OK) {
        for (int64_t i = 0; i < info->count_frames && i < FRAMES; i++) {
            core_run_contact *contacts = NULL;
            int64_t n = 0;
            if (core_run_read(r, i, &frame, &err) != CORE_OK) fuzz_expect_message(&err);
            if (core_run_read_contacts(r, i, &contacts, &n, &err) != CORE_OK) fuzz_expect_message(&err);
            core_free(contacts);
        }
    }
    core_run_frame_clear(&frame);
    const sim_measure_def def = sim_measure_default_def();
    sim_measurement m;
    if (info->count_frames > 0 && sim_measure_frame(r, info->count_frames - 1, &def, &m, &err) != CORE_OK)
        fuzz_expect_message(&err);
}

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(make), false, data, size);
    core_run_reader *r = NULL;
    core_error err = {0};
    if (!path) return 0;
    if (core_run_open(path, &r, &err) != CORE_OK) {
        fuzz_expect_refusal(size, &err);
        return 0;
    }
    read_frames(r);
    core_run_close(&r);
    if (core_run_recover(path, test_folder_file("whole.h5"), &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    return 0;
}
