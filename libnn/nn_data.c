/// Checks of training rows.
#include "nn_private.h"

#include <math.h>

/// Every element of an (n x columns) array finite.
static core_status check_finite(const float *values, int64_t n, int columns, const char *name, core_error *err) {
    for (int64_t i = 0; i < n * columns; i++)
        CORE_CHECK(isfinite(values[i]), CORE_NONFINITE, "training data: %s of row %lld is %g, expected a number", name,
                   (long long)(i / columns), (double)values[i]);
    return CORE_OK;
}

core_status nn__data_validate(const nn_data *data, core_error *err) {
    CORE_CHECK(data, CORE_ARG, "training data: null argument");
    CORE_CHECK(data->n >= 1 && data->n <= INT32_MAX, CORE_RANGE, "training data: %lld rows, expected 1..%d",
               (long long)data->n, INT32_MAX);
    CORE_CHECK(data->inputs >= 1 && data->inputs <= NN_INPUTS_MAX, CORE_RANGE,
               "training data: %d inputs, expected 1..%d", data->inputs, NN_INPUTS_MAX);
    CORE_CHECK(data->poses >= 0 && data->poses <= NN_POSES_MAX, CORE_RANGE,
               "training data: %d pose coordinates, expected 0..%d", data->poses, NN_POSES_MAX);
    CORE_CHECK(data->x && data->target, CORE_ARG, "training data: no x or no target");
    CORE_CHECK(data->clip >= 0 && isfinite(data->clip), CORE_RANGE, "training data: clip %g is not a number >= 0",
               data->clip);
    CORE_CHECK(data->poses == 0 || (data->jacobian && data->slope), CORE_ARG,
               "training data: %d pose coordinates, but no jacobian or no slope", data->poses);

    CORE_TRY(check_finite(data->x, data->n, data->inputs, "x", err));
    CORE_TRY(check_finite(data->target, data->n, 1, "target", err));
    if (data->weight) {
        CORE_TRY(check_finite(data->weight, data->n, 1, "weight", err));
        for (int64_t i = 0; i < data->n; i++)
            CORE_CHECK(data->weight[i] >= 0, CORE_RANGE, "training data: weight of row %lld is %g, expected at least 0",
                       (long long)i, (double)data->weight[i]);
    }
    if (data->poses > 0) {
        CORE_TRY(check_finite(data->jacobian, data->n, data->inputs * data->poses, "jacobian", err));
        CORE_TRY(check_finite(data->slope, data->n, data->poses, "slope", err));
    }
    return CORE_OK;
}
