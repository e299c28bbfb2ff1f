// What a picture of a run has to show: its region and its speed scale.
#include "sim_view_private.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN_PART 0.02    // of the larger side, beside one circumradius
#define SPEED_FRAMES_MAX 64 // frames read for a speed scale
#define SPEED_QUANTILE 0.99
#define SPEED_STILL 1e-9 // m/s: nothing moves

// Extends box by the outlines of a state's grains.
static void extend_box(const core_run_info *info, const core_run_frame *state, double box[4], double *radius_max) {
    for (int i = 0; i < info->count_rows; i++) {
        if (!sim_view_is_drawn(state, i)) continue;
        const core_run_type *type = &info->types[info->species[i]];
        double c = type->radius * cos(state->orientation[i]), s = type->radius * sin(state->orientation[i]);
        *radius_max = fmax(*radius_max, type->radius);
        // Holes lie inside the outer ring.
        for (int k = 0; k < type->outline.ring_start[1]; k++) {
            const double *v = type->outline.xy + 2 * k;
            double x = state->position[2 * i] + c * v[0] - s * v[1];
            double y = state->position[2 * i + 1] + s * v[0] + c * v[1];
            box[0] = fmin(box[0], x), box[1] = fmin(box[1], y);
            box[2] = fmax(box[2], x), box[3] = fmax(box[3], y);
        }
    }
}

// Checks a range of frames of a run.
static core_status check_range(const core_run_reader *run, int64_t first, int64_t last, int64_t every,
                               core_error *err) {
    int64_t count = core_run_describe(run)->count_frames;
    CORE_CHECK(first >= 0 && first <= last && last < count, CORE_RANGE,
               "frames %lld .. %lld: the run has %lld frames, counted from 0", (long long)first, (long long)last,
               (long long)count);
    CORE_CHECK(every >= 1, CORE_RANGE, "frames in steps of %lld: expected at least 1", (long long)every);
    return CORE_OK;
}

static int compare_doubles(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Speeds of a state's grains, sorted; returns their number.
static int sorted_speeds(const core_run_info *info, const core_run_frame *state, double *speeds) {
    int count = 0;
    for (int i = 0; i < info->count_rows; i++) {
        const double *v = state->velocity + 2 * i;
        double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
        if (sim_view_is_drawn(state, i) && isfinite(speed)) speeds[count++] = speed;
    }
    qsort(speeds, (size_t)count, sizeof *speeds, compare_doubles);
    return count;
}

// The smallest of 1, 2, 5 times a power of ten that is not below v > 0.
static double round_up(double v) {
    double power = pow(10.0, floor(log10(v)));
    for (int i = 0; i < 3; i++) {
        double candidate = (const double[]){1, 2, 5}[i] * power;
        if (candidate >= v * (1 - 1e-9)) return candidate;
    }
    return 10 * power;
}

core_status sim_view_fit(core_run_reader *run, int64_t first, int64_t last, int64_t every, double region[4],
                         core_error *err) {
    CORE_CHECK(run && region, CORE_ARG, "run or region: found a null pointer");
    CORE_TRY(check_range(run, first, last, every, err));
    const core_run_info *info = core_run_describe(run);
    core_run_frame state = {0};
    CORE_TRY(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    core_status status = CORE_OK;
    double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, radius = 0;
    for (int64_t i = first; i <= last; i += every) {
        CORE_TRY_DONE(core_run_read(run, i, &state, err));
        extend_box(info, &state, box, &radius);
    }
    double side = fmax(box[2] - box[0], box[3] - box[1]), margin = radius + MARGIN_PART * side;
    CORE_CHECK_DONE(side > 0, CORE_RANGE, "no grain in the frames %lld .. %lld: there is nothing to draw",
                    (long long)first, (long long)last);
    CORE_CHECK_DONE(isfinite(side), CORE_RANGE, "grains reach from %g to %g m: too far to draw", box[0], box[2]);
    for (int k = 0; k < 4; k++) region[k] = box[k] + (k < 2 ? -margin : margin);
done:
    core_run_frame_clear(&state);
    return status;
}

core_status sim_view_speed_scale(core_run_reader *run, int64_t first, int64_t last, int64_t every, double *speed,
                                 core_error *err) {
    CORE_CHECK(run && speed, CORE_ARG, "run or speed: found a null pointer");
    CORE_TRY(check_range(run, first, last, every, err));
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_frame state = {0};
    double *speeds = NULL, top = 0;
    int64_t steps = (last - first) / every, stride = steps / SPEED_FRAMES_MAX + 1;
    CORE_NEW_DONE(speeds, (size_t)info->count_rows + 1);
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    for (int64_t i = 0; i <= steps; i += stride) {
        CORE_TRY_DONE(core_run_read(run, first + i * every, &state, err));
        int count = sorted_speeds(info, &state, speeds);
        if (count > 0) top = fmax(top, speeds[(int)ceil(SPEED_QUANTILE * count) - 1]);
    }
    *speed = top > SPEED_STILL ? round_up(top) : 1.0;
done:
    core_free(speeds);
    core_run_frame_clear(&state);
    return status;
}
