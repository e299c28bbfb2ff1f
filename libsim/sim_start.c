/// Grains taken over from a frame of another run, to reuse a packing with other parameters.
#include <math.h>
#include <string.h>

#include "sim_private.h"

// Radii that differ by more are other grains.
#define RADIUS_TOLERANCE 1e-9

// The scene's type of each type of the run: the same name, outline and radius.
static core_status match_types(const sim_scene *scene, const core_run_info *info, const bool *used, int *types,
                               core_error *err) {
    for (int t = 0; t < info->count_types; ++t) {
        const core_run_type *from = &info->types[t];
        types[t] = -1;
        for (int k = 0; k < scene->count_types; ++k) {
            if (strcmp(scene->types[k].name, from->name) == 0) types[t] = k;
        }
        if (!used[t]) continue;
        CORE_CHECK(types[t] >= 0, CORE_ARG,
                   "%s: start.from: %s has grains of type \"%s\", which the scene does not know", scene->path,
                   scene->start_path, from->name);
        const sim_type_def *to = &scene->types[types[t]];
        CORE_CHECK(core_outline_hash(&from->outline) == core_outline_hash(&to->shape.outline), CORE_SHAPE,
                   "%s: start.from: type \"%s\" has another outline in %s", scene->path, from->name, scene->start_path);
        CORE_CHECK(fabs(from->radius - to->radius) <= RADIUS_TOLERANCE * to->radius, CORE_RANGE,
                   "%s: start.from: type \"%s\" has radius %.9g m in %s, expected %.9g m", scene->path, from->name,
                   from->radius, scene->start_path, to->radius);
    }
    return CORE_OK;
}

core_status sim_start_read(const sim_scene *scene, sim_start *start, core_error *err) {
    core_status status = CORE_OK;
    sim_start made = {0};
    core_run_reader *run = NULL;
    core_run_frame frame = {0};
    int *types = NULL;
    bool *used = NULL;
    CORE_TRY_DONE(core_run_open(scene->start_path, &run, err));
    const core_run_info *info = core_run_describe(run);
    const int64_t at = core_run_frame_at(run, scene->start_time);
    CORE_CHECK_DONE(at >= 0, CORE_ARG, "%s: start.from: %s has no frames", scene->path, scene->start_path);
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &frame, err));
    CORE_TRY_DONE(core_run_read(run, at, &frame, err));
    CORE_NEW_DONE(types, (size_t)info->count_types);
    CORE_NEW_DONE(used, (size_t)info->count_types);
    CORE_NEW_DONE(made.grains, (size_t)info->count_rows);
    for (int i = 0; i < info->count_rows; ++i) used[info->species[i]] |= frame.id[i] >= 0 && !info->prescribed[i];
    CORE_TRY_DONE(match_types(scene, info, used, types, err));
    for (int i = 0; i < info->count_rows; ++i) {
        if (frame.id[i] < 0 || info->prescribed[i]) continue;
        made.grains[made.count++] = (sim_place_def){.type = types[info->species[i]],
                                                    .position = {frame.position[2 * i], frame.position[2 * i + 1]},
                                                    .angle = frame.orientation[i],
                                                    .velocity = {frame.velocity[2 * i], frame.velocity[2 * i + 1]},
                                                    .angular_velocity = frame.angular_velocity[i]};
    }
    CORE_CHECK_DONE(made.count > 0, CORE_ARG, "%s: start.from: %s has no grains at t = %g s", scene->path,
                    scene->start_path, frame.time);
    *start = made;
    made = (sim_start){0};
done:
    core_free(made.grains);
    core_free(types);
    core_free(used);
    core_run_frame_clear(&frame);
    core_run_close(&run);
    return status;
}
