/// A scene made ready to run: step, grains in their places, maps or grids, world. Everything that can be refused is
/// refused here, before any file is written.
#include "sim_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// dt sqrt(k_n/m_eff) above which explicit integration of a contact gains energy whatever its damping.
static const double STIFFNESS_MAX = 1.0;
static const double STIFFNESS_AUTO = 0.25;
static const double SERVO_MASS = 25;    // of an automatic servo, dt^2 K: dt sqrt(K/m) = .2
static const double PLANES_TURN = 0.01; // rad; README.md, section 3
static const double STEPS_MAX = 1e12;   // of a phase; ten days at a million steps a second
// Two grains placed nearer than this (in circumradii) are one grain given twice.
static const double COINCIDENT = 1e-6;
#define HINT_BYTES 2048                      // of a command line in a message
#define STREAM_TYPE 0x7479706566696c6cu      // random streams of the types of fills
static const int MINIMISER_RESOLUTION = 256; // cells across a diameter; grids as sdfgen builds them

// Rows of a run, in this order: single grains, fills, grains of another run, bodies, pours (absent at first).
typedef struct rows {
    int n, first_body, first_pour;
    double *poses; // (n x 3) x, y, angle; of pours unused
    int *types;    // (n)
    sim_start start;
} rows;

static core_status count_rows(const sim_scene *scene, rows *r, core_error *err) {
    int64_t n = scene->count_place;
    for (int i = 0; i < scene->count_fill; ++i) n += scene->fill[i].count;
    n += r->start.count;
    const int64_t bodies = n, pours = n + scene->count_bodies;
    n = pours;
    for (int i = 0; i < scene->count_pours; ++i) n += scene->pours[i].count;
    CORE_CHECK(n > scene->count_bodies, CORE_RANGE, "%s: found no grains, expected at least one under place or fill",
               scene->path);
    CORE_CHECK(n <= SIM_GRAINS_MAX, CORE_RANGE, "%s: found %lld grains, expected at most %d", scene->path, (long long)n,
               SIM_GRAINS_MAX);
    r->n = (int)n;
    r->first_body = (int)bodies;
    r->first_pour = (int)pours;
    return CORE_OK;
}

// A servo whose mass or damping is auto, once the step is known: slow for the step, damped at half of critical.
static void choose_servos(const sim_scene *scene, double dt, sim_boundary_def *boundaries) {
    const int columns = scene->count_types + scene->count_boundaries;
    for (int b = 0; b < scene->count_boundaries; ++b) {
        sim_servo_def *servo = &boundaries[b].servo;
        if (!isnan(servo->mass) && !(servo->mass > 0)) continue; // no servo
        double length = servo->length, stiffness = 0;
        if (isnan(length)) {
            const sim_boundary_def *p = &boundaries[servo->across[0]], *q = &boundaries[servo->across[1]];
            length =
                fabs(p->offset + q->offset * (p->normal[0] * q->normal[0] + p->normal[1] * q->normal[1] < 0 ? 1 : -1));
        }
        for (int t = 0; t < scene->count_types; ++t) {
            const double kn = scene->law[t * columns + scene->count_types + b].kn;
            stiffness = fmax(stiffness, kn * fmax(1, length / (2 * scene->types[t].radius)));
        }
        if (isnan(servo->mass)) servo->mass = SERVO_MASS * dt * dt * stiffness;
        if (isnan(servo->damping)) servo->damping = sqrt(stiffness * servo->mass);
    }
}

static core_status choose_step(const sim_scene *scene, sim_setup *setup, core_error *err) {
    const double unit = sim_dt_auto(scene->count_types, scene->types, scene->count_boundaries, scene->law, 1);
    CORE_CHECK(unit > 0 && isfinite(unit), CORE_RANGE,
               "%s: dt: found %g s for the stiffest pair; expected masses, stiffness and damping that give a time step",
               scene->path, unit);
    setup->dt = isnan(scene->dt) ? STIFFNESS_AUTO * unit : scene->dt;
    setup->stiffness = setup->dt / unit;
    CORE_CHECK(setup->stiffness <= STIFFNESS_MAX || scene->dt_force, CORE_RANGE,
               "%s: dt: found %g s, expected at most %g s (dt sqrt(k_n/m_eff) = %.3g of the stiffest pair; above %g "
               "contacts explode); "
               "auto is %g s; dt_force: true takes it all the same",
               scene->path, setup->dt, STIFFNESS_MAX * unit, setup->stiffness, STIFFNESS_MAX, STIFFNESS_AUTO * unit);
    // a tiny step would run for years, or not move the time at all
    for (int i = 0; i < scene->count_phases; ++i) {
        const sim_phase_def *phase = &scene->phases[i];
        const double steps = (phase->common.until_rest ? phase->common.timeout : phase->common.time) / setup->dt;
        CORE_CHECK(steps <= STEPS_MAX, CORE_RANGE, "%s: phase %s: found %.3g steps of dt = %g s, expected at most %.3g",
                   scene->path, phase->common.name, steps, setup->dt, STEPS_MAX);
    }
    return CORE_OK;
}

static core_status check_phases(const sim_scene *scene, core_error *err) {
    const bool weightless = !(scene->gravity[0] * scene->gravity[0] + scene->gravity[1] * scene->gravity[1] > 0);
    CORE_CHECK(scene->count_phases >= 1, CORE_RANGE, "%s: phases: found none, expected at least one", scene->path);
    for (int i = 0; i < scene->count_phases; ++i) {
        CORE_CHECK(
            !(scene->phases[i].common.until_rest && weightless), CORE_RANGE,
            "%s: phase %s: found until: rest without gravity; rest is measured in units of m g R, expected a time",
            scene->path, scene->phases[i].common.name);
    }
    return CORE_OK;
}

// Order of single grains by x, for the search of coincident ones.
typedef struct ordered {
    double x, y, radius;
    int index;
} ordered;

static int compare_x(const void *a, const void *b) {
    const ordered *p = a, *q = b;
    if (p->x < q->x) return -1;
    if (p->x > q->x) return 1;
    return (p->index > q->index) - (p->index < q->index);
}

// One grain given twice would have no direction to part in.
static core_status check_coincident(const sim_scene *scene, int n, const double *poses, const int *types,
                                    core_error *err) {
    core_status status = CORE_OK;
    ordered *sorted = NULL;
    CORE_NEW_DONE(sorted, (size_t)n);
    for (int i = 0; i < n; ++i) sorted[i] = (ordered){poses[3 * i], poses[3 * i + 1], scene->types[types[i]].radius, i};
    qsort(sorted, (size_t)n, sizeof *sorted, compare_x);
    for (int i = 0; i < n; ++i) {
        const double near = COINCIDENT * sorted[i].radius;
        for (int k = i + 1; k < n && sorted[k].x - sorted[i].x <= near; ++k) {
            CORE_CHECK_DONE(fabs(sorted[k].y - sorted[i].y) > near, CORE_RANGE,
                            "%s: grains %d and %d are both at (%.9g, %.9g); expected places of their own", scene->path,
                            sorted[i].index < sorted[k].index ? sorted[i].index : sorted[k].index,
                            sorted[i].index < sorted[k].index ? sorted[k].index : sorted[i].index, sorted[i].x,
                            sorted[i].y);
        }
    }
done:
    core_free(sorted);
    return status;
}

// Notes the bounding circle of a grain, with its images where x is periodic.
static void occupy(const sim_scene *scene, const double x[2], int type, double *occupied, int *n) {
    const double length = scene->period[1] - scene->period[0];
    for (int image = length > 0 ? -1 : 0; image <= (length > 0 ? 1 : 0); ++image) {
        double *circle = occupied + 3 * (size_t)(*n)++;
        circle[0] = x[0] + image * length;
        circle[1] = x[1];
        circle[2] = scene->types[type].radius;
    }
}

// Single grains, then fills in their order: poses and types.
static core_status place_grains(const sim_scene *scene, rows *r, core_error *err) {
    core_status status = CORE_OK;
    double *occupied = NULL;
    int m = 0, n_occupied = 0;
    CORE_NEW_DONE(occupied, 9 * (size_t)r->n); // in a period each circle and an image on either side
    for (int i = 0; i < r->start.count; ++i)
        occupy(scene, r->start.grains[i].position, r->start.grains[i].type, occupied, &n_occupied);
    for (; m < scene->count_place; ++m) {
        const sim_place_def *place = &scene->place[m];
        const double pose[3] = {place->position[0], place->position[1], place->angle};
        memcpy(r->poses + 3 * (size_t)m, pose, sizeof pose);
        r->types[m] = place->type;
    }
    CORE_TRY_DONE(check_coincident(scene, m, r->poses, r->types, err));
    for (int f = 0, known = 0; f < scene->count_fill; ++f) {
        for (; known < m; ++known) occupy(scene, r->poses + 3 * (size_t)known, r->types[known], occupied, &n_occupied);
        status = sim_fill_place(scene, f, occupied, n_occupied, r->poses + 3 * (size_t)m, err);
        if (status != CORE_OK) {
            core_error_prefix(err, status, "%s", scene->path);
            goto done;
        }
        core_random random;
        core_random_init(&random, scene->seed, STREAM_TYPE + (uint64_t)f);
        for (int i = 0; i < scene->fill[f].count; ++i) r->types[m++] = sim_mix_draw(&scene->fill[f].mix, &random);
    }
done:
    core_free(occupied);
    return status;
}

const char *sim_setup_maps(const sim_scene *scene, const sim_run_def *def) {
    return def->maps_path ? def->maps_path : scene->maps_path;
}

void sim_setup_hint(const sim_scene *scene, const sim_run_def *def, char *hint, size_t n_bytes) {
    const char *maps = sim_setup_maps(scene, def), *slash = strrchr(scene->path, '/');
    const char *name = slash ? slash + 1 : scene->path, *dot = strrchr(name, '.');
    char made[256];
    snprintf(made, sizeof made, "%.*s.maps.h5", dot ? (int)(dot - name) : 200, name);
    snprintf(hint, n_bytes, "%.500s %.500s -o %.500s", def->mkmaps ? def->mkmaps : "mkmaps", scene->path,
             maps ? maps : made);
}

static core_status load_maps(const sim_scene *scene, const sim_run_def *def, sim_setup *setup, sim_narrow *narrow,
                             core_error *err) {
    const char *maps = sim_setup_maps(scene, def);
    char hint[HINT_BYTES];
    sim_setup_hint(scene, def, hint, sizeof hint);
    CORE_CHECK(maps, CORE_ARG,
               "%s: narrow_phase: neural needs contact maps: name them with --maps or under maps:. Build them with: %s",
               scene->path, hint);
    CORE_CHECK(core_file_exists(maps) || !def->restart, CORE_IO,
               "%s: no such file of contact maps. Call this in the folder where the run was started, or name it with "
               "--maps; to build it: %s",
               maps, hint);
    CORE_CHECK(core_file_exists(maps), CORE_IO, "%s: no such file of contact maps. Build it with: %s", maps, hint);
    CORE_TRY(core_path_join(NULL, maps, &setup->maps_path, err));
    CORE_TRY(cspace_bundle_read(maps, &setup->bundle, &setup->maps_hash, err));
    const core_status status =
        sim_narrow_neural_hint(&setup->bundle, scene->count_types, scene->types, def->threads, hint, narrow, err);
    return status == CORE_OK ? status : core_error_prefix(err, status, "%s", maps);
}

static core_status add_grain(const sim_place_def *grain, sim_world *world, core_error *err) {
    return sim_world_add(world, grain->type, grain->position, grain->angle, grain->velocity, grain->angular_velocity,
                         err);
}

static core_status fill_world(const sim_scene *scene, const rows *r, sim_world *world, core_error *err) {
    static const double at_rest[2] = {0, 0};
    for (int i = 0; i < scene->count_place; ++i) CORE_TRY(add_grain(&scene->place[i], world, err));
    for (int i = scene->count_place; i < r->first_body - r->start.count; ++i) {
        const double *pose = r->poses + 3 * (size_t)i;
        CORE_TRY(sim_world_add(world, r->types[i], pose, pose[2], at_rest, 0, err));
    }
    for (int i = 0; i < r->start.count; ++i) CORE_TRY(add_grain(&r->start.grains[i], world, err));
    for (int i = 0; i < scene->count_bodies; ++i) {
        const sim_body_def *body = &scene->bodies[i];
        CORE_TRY(sim_world_add_prescribed(world, body->type, body->position, body->angle, &body->motion, err));
    }
    for (int i = 0, row = r->first_pour; i < scene->count_pours; row += scene->pours[i++].count) {
        sim_flow_types(scene, i, r->types + row);
        for (int k = 0; k < scene->pours[i].count; ++k) CORE_TRY(sim_world_add_absent(world, r->types[row + k], err));
    }
    return CORE_OK;
}

static core_status load_narrow(const sim_scene *scene, const sim_run_def *def, const core_progress *progress,
                               sim_setup *setup, sim_narrow *narrow, core_error *err) {
    if (scene->back_end == SIM_NEURAL) return load_maps(scene, def, setup, narrow, err);
    if (scene->back_end == SIM_EXACT)
        return sim_narrow_exact(scene->count_types, scene->types, scene->smoothing, def->threads, narrow, err);
    core_progress_report(progress, "grids", 0, scene->count_types, "shapes", NULL);
    return sim_narrow_minimiser(scene->count_types, scene->types, MINIMISER_RESOLUTION, scene->smoothing, def->threads,
                                narrow, err);
}

// Thinnest wall of a grain or a polyline, m; infinite where nothing is thin.
static core_status thinnest_wall(const sim_scene *scene, double *thinnest, core_error *err) {
    *thinnest = INFINITY;
    double wall = INFINITY, gap;
    for (int t = 0; t < scene->count_types; ++t) {
        const sim_type_def *type = &scene->types[t];
        if (t == 0 || type->shape.hash != type[-1].shape.hash) // sizes of a spread follow each other
            CORE_TRY(sdf_thinnest_feature(&type->shape.outline, &wall, &gap, err));
        *thinnest = fmin(*thinnest, type->radius * wall);
    }
    for (int b = 0; b < scene->count_boundaries; ++b) {
        if (scene->boundaries[b].kind == SIM_BOUNDARY_POLYLINE)
            *thinnest = fmin(*thinnest, scene->boundaries[b].thickness);
    }
    return CORE_OK;
}

static core_status make_world(const sim_scene *scene, const sim_run_def *def, int n, sim_setup *setup,
                              sim_narrow *narrow, core_error *err) {
    core_status status = CORE_OK;
    sim_boundary_def *boundaries = NULL;
    CORE_NEW_DONE(boundaries, (size_t)scene->count_boundaries);
    for (int b = 0; b < scene->count_boundaries; ++b) boundaries[b] = scene->boundaries[b];
    choose_servos(scene, setup->dt, boundaries);
    CORE_TRY_DONE(thinnest_wall(scene, &setup->thinnest, err));
    sim_world_def world = sim_world_default_def();
    world.capacity = n;
    world.count_types = scene->count_types;
    world.types = scene->types;
    world.count_boundaries = scene->count_boundaries;
    world.boundaries = boundaries;
    world.law = scene->law;
    memcpy(world.gravity, scene->gravity, sizeof world.gravity);
    memcpy(world.period, scene->period, sizeof world.period);
    world.dt = setup->dt;
    world.smoothing = scene->smoothing;
    world.contacts = scene->contact_planes;
    world.threads = def->threads;
    world.narrow = *narrow;
    status = sim_world_create(&world, &setup->world, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s", scene->path);
        goto done;
    }
    *narrow = (sim_narrow){0};
    // two grains that meet may both move: half the wall each
    setup->world->reach_step = 0.5 * setup->thinnest;
    setup->world->deepest = scene->deepest;
done:
    core_free(boundaries);
    return status;
}

core_status sim_setup_create(const sim_scene *scene, const sim_run_def *def, const core_progress *progress,
                             sim_setup *setup, core_error *err) {
    core_status status = CORE_OK;
    sim_setup made = {0};
    sim_narrow narrow = {0};
    rows r = {0};
    if (scene->start_path) CORE_TRY_DONE(sim_start_read(scene, &r.start, err));
    CORE_TRY_DONE(count_rows(scene, &r, err));
    CORE_TRY_DONE(check_phases(scene, err));
    CORE_TRY_DONE(choose_step(scene, &made, err));
    CORE_NEW_DONE(r.poses, 3 * (size_t)r.n);
    CORE_NEW_DONE(r.types, (size_t)r.n);
    CORE_TRY_DONE(place_grains(scene, &r, err));
    CORE_TRY_DONE(sim_flow_create(scene, r.first_pour, &made.flow, err));
    CORE_TRY_DONE(load_narrow(scene, def, progress, &made, &narrow, err));
    if (scene->contact_planes > 1) {
        const sim_narrow base = narrow;
        CORE_TRY_DONE(sim_narrow_planes(&base, PLANES_TURN, def->threads, &narrow, err));
    }
    CORE_TRY_DONE(make_world(scene, def, r.n, &made, &narrow, err));
    CORE_TRY_DONE(fill_world(scene, &r, made.world, err));
    made.first_body = r.first_body;
    *setup = made;
    made = (sim_setup){0};
done:
    if (narrow.destroy) narrow.destroy(narrow.self);
    sim_setup_clear(&made);
    core_free(r.poses);
    core_free(r.types);
    core_free(r.start.grains);
    return status;
}

void sim_setup_clear(sim_setup *setup) {
    if (!setup) return;
    sim_world_destroy(&setup->world); // before the bundle it borrows
    cspace_bundle_clear(&setup->bundle);
    sim_flow_clear(&setup->flow);
    core_free(setup->maps_path);
    *setup = (sim_setup){0};
}
