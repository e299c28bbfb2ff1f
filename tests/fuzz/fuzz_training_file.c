/// `*.training.h5`: an unfinished training of two nets.
#include "fuzz_seed.h"

#include "cspace_train_state.h"
#include "fuzz_forge.h"

enum { INPUT = 11, ROWS = 60 };

static core_status make(const char *path, core_error *err) {
    static float x[2 * ROWS], target[ROWS], weight[ROWS], jacobian[4 * ROWS], slope[2 * ROWS];
    const nn_data rows = {.n = ROWS,
                          .inputs = 2,
                          .poses = 2,
                          .x = x,
                          .target = target,
                          .weight = weight,
                          .jacobian = jacobian,
                          .slope = slope};
    cspace__train_log log;
    for (int i = 0; i < ROWS; i++) {
        x[2 * i] = (float)i / ROWS, weight[i] = 1, target[i] = x[2 * i];
        jacobian[4 * i] = jacobian[4 * i + 3] = slope[2 * i] = 1;
    }
    CORE_TRY(cspace__train_log_open(path, INPUT, false, &log, err));
    for (int net = 0; net < 2; net++) {
        nn_train_def def = nn_train_default_def();
        nn_model model = {0};
        nn_train_report report;
        def.layers = 2, def.width = 4, def.batch = 20, def.epochs = 2;
        cspace__train_log_attach(&log, 0, net, &def);
        CORE_TRY(nn_train(&rows, &def, NULL, "toy", &model, &report, err));
        nn_model_clear(&model);
    }
    cspace__train_log_clear(&log);
    return CORE_OK;
}

/// Size 0: the file as it is, which must be read.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_forge(fuzz_seed(make), false, data, size);
    cspace__train_log log;
    core_error err = {0};
    if (!path) return 0;
    if (cspace__train_log_open(path, INPUT, false, &log, &err) != CORE_OK) fuzz_expect_refusal(size, &err);
    cspace__train_log_clear(&log);
    return 0;
}
