/// A scene made ready to run: step, grains in their places, maps or grids, world. Everything that can be refused is
/// refused here, before any file is written.
#include "sim_private.h"

#include <math.h>
#include <stdio.h>

// dt sqrt(k_n/m_eff) above which explicit integration of a contact gains energy whatever its damping.
static const double STIFFNESS_MAX = 1.0;
static const double STIFFNESS_AUTO = 0.25;
static const double STEPS_MAX = 1e12;        // of a phase; ten days at a million steps a second
static const int MINIMISER_RESOLUTION = 256; // cells across a diameter; grids as sdfgen builds them

// Grains of the scene; the number must fit the arrays.
static core_status count_grains(const sim_scene *scene, int *count, core_error *err) {
    int64_t n = scene->count_place;
    for (int i = 0; i < scene->count_fill; ++i) n += scene->fill[i].count;
    CORE_CHECK(n >= 1, CORE_RANGE, "%s: found no grains, expected at least one under place or fill", scene->path);
    CORE_CHECK(n <= 50000000, CORE_RANGE, "%s: found %lld grains, expected at most 50000000", scene->path,
               (long long)n);
    *count = (int)n;
    return CORE_OK;
}

static core_status choose_step(const sim_scene *scene, sim_setup *setup, core_error *err) {
    const double unit = sim_dt_auto(scene->count_types, scene->types, scene->count_boundaries, scene->law, 1);
    CORE_CHECK(unit > 0 && isfinite(unit), CORE_RANGE,
               "%s: dt: found %g s for the stiffest pair; expected masses, stiffness and damping that give a time step",
               scene->path, unit);
    setup->dt = isnan(scene->dt) ? STIFFNESS_AUTO * unit : scene->dt;
    setup->stiffness = setup->dt / unit;
    CORE_CHECK(setup->stiffness <= STIFFNESS_MAX, CORE_RANGE,
               "%s: dt: found %g s, expected at most %g s (dt sqrt(k_n/m_eff) = %.3g of the stiffest pair; above %g "
               "contacts explode); "
               "auto is %g s",
               scene->path, setup->dt, STIFFNESS_MAX * unit, setup->stiffness, STIFFNESS_MAX, STIFFNESS_AUTO * unit);
    // a tiny step would run for years, or not move the time at all
    for (int i = 0; i < scene->count_phases; ++i) {
        const sim_phase_def *phase = &scene->phases[i];
        const double steps = (phase->until_rest ? phase->timeout : phase->time) / setup->dt;
        CORE_CHECK(steps <= STEPS_MAX, CORE_RANGE, "%s: phase %s: found %.3g steps of dt = %g s, expected at most %.3g",
                   scene->path, phase->name, steps, setup->dt, STEPS_MAX);
    }
    return CORE_OK;
}

static core_status check_phases(const sim_scene *scene, core_error *err) {
    const bool weightless = !(scene->gravity[0] * scene->gravity[0] + scene->gravity[1] * scene->gravity[1] > 0);
    CORE_CHECK(scene->count_phases >= 1, CORE_RANGE, "%s: phases: found none, expected at least one", scene->path);
    for (int i = 0; i < scene->count_phases; ++i) {
        CORE_CHECK(
            !(scene->phases[i].until_rest && weightless), CORE_RANGE,
            "%s: phase %s: found until: rest without gravity; rest is measured in units of m g R, expected a time",
            scene->path, scene->phases[i].name);
    }
    return CORE_OK;
}

// Poses (n x 3) and types of all grains: placed ones first, then the fills in their order.
static core_status place_grains(const sim_scene *scene, int n, double *poses, int *types, core_error *err) {
    core_status status = CORE_OK;
    double *occupied = NULL;
    int m = 0;
    CORE_NEW_DONE(occupied, 3 * (size_t)n);
    for (; m < scene->count_place; ++m) {
        const sim_place_def *place = &scene->place[m];
        const double pose[3] = {place->position[0], place->position[1], place->angle};
        for (int k = 0; k < 3; ++k) poses[3 * m + k] = pose[k];
        types[m] = place->type;
    }
    for (int f = 0, known = 0; f < scene->count_fill; ++f) {
        for (; known < m; ++known) {
            occupied[3 * known] = poses[3 * known];
            occupied[3 * known + 1] = poses[3 * known + 1];
            occupied[3 * known + 2] = scene->types[types[known]].radius;
        }
        status = sim_fill_place(scene, f, m > 0 ? occupied : NULL, m, poses + 3 * (size_t)m, err);
        if (status != CORE_OK) {
            core_error_prefix(err, status, "%s", scene->path);
            goto done;
        }
        for (int i = 0; i < scene->fill[f].count; ++i) types[m++] = scene->fill[f].type;
    }
done:
    core_free(occupied);
    return status;
}

static core_status load_maps(const sim_scene *scene, const sim_run_def *def, sim_setup *setup, sim_narrow *narrow,
                             core_error *err) {
    const char *maps = def->maps_path ? def->maps_path : scene->maps_path;
    char hint[2 * 512];
    snprintf(hint, sizeof hint, "mkmaps %.500s -o %.500s", scene->path, maps ? maps : "MAPS.h5");
    CORE_CHECK(maps, CORE_ARG,
               "%s: narrow_phase: neural needs contact maps: name them with --maps or under maps:. Build them with: %s",
               scene->path, hint);
    CORE_CHECK(core_file_exists(maps), CORE_IO, "%s: no such file of contact maps. Build it with: %s", maps, hint);
    CORE_TRY(core_path_join(NULL, maps, &setup->maps_path, err));
    CORE_TRY(cspace_bundle_read(maps, &setup->bundle, &setup->maps_hash, err));
    const core_status status =
        sim_narrow_neural_hint(&setup->bundle, scene->count_types, scene->types, def->threads, hint, narrow, err);
    return status == CORE_OK ? status : core_error_prefix(err, status, "%s", maps);
}

static core_status fill_world(const sim_scene *scene, int n, const double *poses, const int *types, sim_world *world,
                              core_error *err) {
    static const double at_rest[2] = {0, 0};
    for (int i = 0; i < n; ++i) {
        const sim_place_def *place = i < scene->count_place ? &scene->place[i] : NULL;
        CORE_TRY(sim_world_add(world, types[i], poses + 3 * (size_t)i, poses[3 * (size_t)i + 2],
                               place ? place->velocity : at_rest, place ? place->angular_velocity : 0, err));
    }
    return CORE_OK;
}

core_status sim_setup_create(const sim_scene *scene, const sim_run_def *def, const core_progress *progress,
                             sim_setup *setup, core_error *err) {
    core_status status = CORE_OK;
    sim_setup made = {0};
    sim_narrow narrow = {0};
    double *poses = NULL;
    int *types = NULL, n = 0;
    CORE_TRY_DONE(count_grains(scene, &n, err));
    CORE_TRY_DONE(check_phases(scene, err));
    CORE_TRY_DONE(choose_step(scene, &made, err));
    CORE_NEW_DONE(poses, 3 * (size_t)n);
    CORE_NEW_DONE(types, (size_t)n);
    CORE_TRY_DONE(place_grains(scene, n, poses, types, err));
    if (scene->back_end == SIM_NEURAL) {
        CORE_TRY_DONE(load_maps(scene, def, &made, &narrow, err));
    } else if (scene->back_end == SIM_EXACT) {
        CORE_TRY_DONE(sim_narrow_exact(scene->count_types, scene->types, scene->smoothing, def->threads, &narrow, err));
    } else {
        core_progress_report(progress, "grids", 0, scene->count_types, "shapes", NULL);
        CORE_TRY_DONE(sim_narrow_minimiser(scene->count_types, scene->types, MINIMISER_RESOLUTION, scene->smoothing,
                                           def->threads, &narrow, err));
    }
    sim_world_def world = sim_world_default_def();
    world.capacity = n;
    world.count_types = scene->count_types;
    world.types = scene->types;
    world.count_boundaries = scene->count_boundaries;
    world.boundaries = scene->boundaries;
    world.law = scene->law;
    world.gravity[0] = scene->gravity[0];
    world.gravity[1] = scene->gravity[1];
    world.dt = made.dt;
    world.smoothing = scene->smoothing;
    world.threads = def->threads;
    world.narrow = narrow;
    CORE_TRY_DONE(sim_world_create(&world, &made.world, err));
    narrow = (sim_narrow){0};
    CORE_TRY_DONE(fill_world(scene, n, poses, types, made.world, err));
    *setup = made;
    made = (sim_setup){0};
done:
    if (narrow.destroy) narrow.destroy(narrow.self);
    sim_setup_clear(&made);
    core_free(poses);
    core_free(types);
    return status;
}

void sim_setup_clear(sim_setup *setup) {
    if (!setup) return;
    sim_world_destroy(&setup->world); // before the bundle it borrows
    cspace_bundle_clear(&setup->bundle);
    core_free(setup->maps_path);
    *setup = (sim_setup){0};
}
