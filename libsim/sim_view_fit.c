// What a picture of a run has to show: its region, and the scales of speed and force.
#include "sim_view_private.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN_PART 0.02    // of the larger side, beside one circumradius
#define SCALE_FRAMES_MAX 64 // frames read for a scale
#define SCALE_QUANTILE 0.99
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

static void extend_by_point(double box[4], double x, double y, double reach) {
    box[0] = fmin(box[0], x - reach), box[1] = fmin(box[1], y - reach);
    box[2] = fmax(box[2], x + reach), box[3] = fmax(box[3], y + reach);
}

// Extends box by the circles and polylines that are there.
static void extend_by_walls(const core_run_info *info, const core_run_frame *state, double box[4]) {
    for (int i = 0; i < info->count_walls; i++) {
        const core_run_wall *wall = &info->walls[i];
        const double *pose = state->wall_pose + 3 * i, c = cos(pose[2]), s = sin(pose[2]);
        if (!state->wall_present[i]) continue;
        if (wall->is_circle) extend_by_point(box, pose[0], pose[1], wall->radius);
        for (int k = 0; k < wall->count_points; k++) {
            const double *p = wall->points + 2 * k;
            extend_by_point(box, pose[0] + c * p[0] - s * p[1], pose[1] + s * p[0] + c * p[1], 0.5 * wall->thickness);
        }
    }
}

// Extends the box of a scene by the nearest point of each plane that is there and not too far.
static void extend_by_planes(const core_run_info *info, const core_run_frame *state, double box[4]) {
    const double side = fmax(box[2] - box[0], box[3] - box[1]);
    double extended[4] = {box[0], box[1], box[2], box[3]};
    for (int i = 0; i < info->count_planes; i++) {
        const double *n = state->plane + 3 * i; // normal, offset
        const double corner[2] = {n[0] > 0 ? box[0] : box[2], n[1] > 0 ? box[1] : box[3]};
        const double gap = n[0] * corner[0] + n[1] * corner[1] - n[2];
        if (!state->plane_present[i] || !(gap > 0 && gap <= side)) continue;
        extend_by_point(extended, corner[0] - gap * n[0], corner[1] - gap * n[1], 0);
    }
    for (int k = 0; k < 4; k++) box[k] = extended[k];
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

// The value at the quantile of the scales, of sorted values; 0 if there is none.
static double top_of(const double *sorted, int64_t count) {
    return count > 0 ? sorted[(int64_t)ceil(SCALE_QUANTILE * (double)count) - 1] : 0;
}

core_status sim_view_fit(core_run_reader *run, int64_t first, int64_t last, int64_t every, double region[4],
                         core_error *err) {
    CORE_CHECK(run && region, CORE_ARG, "run or region: found a null pointer");
    CORE_TRY(check_range(run, first, last, every, err));
    sim_view_state state = {0};
    CORE_TRY(sim_view_state_create(run, false, &state, err));
    core_status status = CORE_OK;
    double whole[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, radius = 0;
    for (int64_t i = first; i <= last; i += every) {
        double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
        CORE_TRY_DONE(sim_view_state_read(run, i, &state, err));
        extend_box(state.info, &state.frame, box, &radius);
        extend_by_walls(state.info, &state.frame, box);
        if (!(box[0] < box[2])) continue; // nothing is there
        extend_by_planes(state.info, &state.frame, box);
        extend_by_point(whole, box[0], box[1], 0);
        extend_by_point(whole, box[2], box[3], 0);
    }
    double side = fmax(whole[2] - whole[0], whole[3] - whole[1]), margin = radius + MARGIN_PART * side;
    CORE_CHECK_DONE(side > 0, CORE_RANGE, "no grain and no wall in the frames %lld .. %lld: there is nothing to draw",
                    (long long)first, (long long)last);
    CORE_CHECK_DONE(isfinite(side), CORE_RANGE, "grains reach from %g to %g m: too far to draw", whole[0], whole[2]);
    for (int k = 0; k < 4; k++) region[k] = whole[k] + (k < 2 ? -margin : margin);
done:
    sim_view_state_clear(&state);
    return status;
}

core_status sim_view_speed_scale(core_run_reader *run, int64_t first, int64_t last, int64_t every, double *speed,
                                 core_error *err) {
    CORE_CHECK(run && speed, CORE_ARG, "run or speed: found a null pointer");
    CORE_TRY(check_range(run, first, last, every, err));
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    sim_view_state state = {0};
    double *speeds = NULL, top = 0;
    int64_t steps = (last - first) / every, stride = steps / SCALE_FRAMES_MAX + 1;
    CORE_NEW_DONE(speeds, (size_t)info->count_rows + 1);
    CORE_TRY_DONE(sim_view_state_create(run, false, &state, err));
    for (int64_t i = 0; i <= steps; i += stride) {
        CORE_TRY_DONE(sim_view_state_read(run, first + i * every, &state, err));
        top = fmax(top, top_of(speeds, sorted_speeds(info, &state.frame, speeds)));
    }
    *speed = top > SPEED_STILL ? round_up(top) : 1.0;
done:
    core_free(speeds);
    sim_view_state_clear(&state);
    return status;
}

core_status sim_view_force_scale(core_run_reader *run, int64_t first, int64_t last, int64_t every, double *force,
                                 core_error *err) {
    CORE_CHECK(run && force, CORE_ARG, "run or force: found a null pointer");
    CORE_TRY(check_range(run, first, last, every, err));
    core_status status = CORE_OK;
    sim_view_state state = {0};
    double *forces = NULL, top = 0;
    int64_t steps = (last - first) / every, stride = steps / SCALE_FRAMES_MAX + 1;
    CORE_TRY_DONE(sim_view_state_create(run, true, &state, err));
    for (int64_t i = 0; i <= steps; i += stride) {
        CORE_TRY_DONE(sim_view_state_read(run, first + i * every, &state, err));
        int64_t count = state.frame.count_contacts, loaded = 0;
        core_free(forces);
        CORE_NEW_DONE(forces, (size_t)count + 1);
        for (int64_t k = 0; k < count; k++) {
            double f = sim_view_normal_force(&state.contacts[k]);
            if (f > 0) forces[loaded++] = f;
        }
        qsort(forces, (size_t)loaded, sizeof *forces, compare_doubles);
        top = fmax(top, top_of(forces, loaded));
    }
    *force = top > 0 ? round_up(top) : 1.0;
done:
    core_free(forces);
    sim_view_state_clear(&state);
    return status;
}
