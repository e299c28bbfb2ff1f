/// What a run file of the continuum holds: particles as discs around their sub-cell, coloured by where they started;
/// solids as planes, walls and prescribed rows; totals as observables.
#include "fluid_scene_private.h"

#include "core_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DISC_CORNERS 12

static const core_run_observable OBSERVABLES[] = {
    {"kinetic_energy", "J", "of the particles"},
    {"potential_energy", "J", "zero at the origin"},
    {"momentum_x", "kg m/s", "of the particles"},
    {"momentum_y", "kg m/s", "of the particles"},
    {"speed_max", "m/s", "of the particles"},
    {"full_cells", "1", "cells with material"},
    {"pressure_iterations", "1", "of the last pressure solve"},
    {"friction_sweeps", "1", "of the last friction solve"},
};
enum { COUNT_OBSERVABLES = sizeof OBSERVABLES / sizeof OBSERVABLES[0] };

static const char *const REGION_WALLS[3] = {"region_left", "region_right", "region_floor"};

#define COLOURS_MAX 4

static int count_colours(const fluid_scene *scene) {
    return scene->texture == FLUID_TEXTURE_LAYERS ? COLOURS_MAX : scene->texture == FLUID_TEXTURE_CHECKER ? 2 : 1;
}

// Colour of a particle that started at x.
static int colour_of(const fluid_scene *scene, const double x[2]) {
    const double size = scene->texture_size;
    const int i = (int)floor((x[0] - scene->def.region[0]) / size),
              j = (int)floor((x[1] - scene->def.region[1]) / size);
    if (scene->texture == FLUID_TEXTURE_LAYERS) return j % COLOURS_MAX;
    return scene->texture == FLUID_TEXTURE_CHECKER ? (i + j) % 2 : 0;
}

void fluid__run_colour(const fluid_scene *scene, const fluid_world *w, int32_t *colour) {
    for (int i = 0; i < w->p.n; ++i)
        colour[w->p.id[i]] = colour_of(scene, (const double[2]){w->p.x[0][i], w->p.x[1][i]});
}

// ---------------------------------------------------------------------------------------------- tables

typedef struct tables {
    core_run_type *types; // colours, then shapes of solids
    core_run_plane *planes;
    core_run_wall *walls;
    int32_t *species;
    uint8_t *prescribed;
    double *mass;
    const char **phase_names;
    int rows, count_types, count_planes, count_walls;
    core_outline disc;
} tables;

static void clear_tables(tables *t) {
    core_free(t->types);
    core_free(t->planes);
    core_free(t->walls);
    core_free(t->species);
    core_free(t->prescribed);
    core_free(t->mass);
    core_free(t->phase_names);
    core_outline_clear(&t->disc);
}

static int count_shapes(const fluid_scene *scene) {
    int n = 0;
    for (int b = 0; b < scene->count_boundaries; ++b) n += scene->boundaries[b].shape >= 0;
    return n;
}

static core_status make_tables(const fluid_scene *scene, const fluid_world *w, tables *t, core_error *err) {
    core_status status = CORE_OK;
    t->rows = w->p.n + count_shapes(scene);
    CORE_NEW_DONE(t->types, (size_t)(COLOURS_MAX + scene->count_boundaries));
    CORE_NEW_DONE(t->planes, (size_t)scene->count_boundaries + 3);
    CORE_NEW_DONE(t->walls, (size_t)scene->count_boundaries);
    CORE_NEW_DONE(t->species, (size_t)t->rows);
    CORE_NEW_DONE(t->prescribed, (size_t)t->rows);
    CORE_NEW_DONE(t->mass, (size_t)t->rows);
    CORE_NEW_DONE(t->phase_names, (size_t)scene->count_phases);
    for (int i = 0; i < scene->count_phases; ++i) t->phase_names[i] = scene->phases[i].common.name;
    CORE_TRY_DONE(core_outline_create(1, (const int[]){DISC_CORNERS}, &t->disc, err));
    for (int i = 0; i < DISC_CORNERS; ++i)
        core_sincos(2 * CORE_PI * i / DISC_CORNERS, &t->disc.xy[2 * i + 1], &t->disc.xy[2 * i]);
done:
    return status;
}

// Particles: a colour is a type. Discs around their sub-cells cover a regular filling; squares would show moire when it
// shears.
static void fill_particles(const fluid_scene *scene, const fluid_world *w, const int32_t *colour, tables *t) {
    t->count_types = count_colours(scene);
    for (int k = 0; k < t->count_types; ++k) {
        core_run_type *type = &t->types[k];
        *type = (core_run_type){
            .shape = "disc", .radius = sqrt(2) * .25 * w->grid.h, .density = w->def.density, .outline = t->disc};
        const char *kind = w->def.material == FLUID_SAND ? "sand" : "water";
        if (k == 0)
            snprintf(type->name, sizeof type->name, "%s", kind);
        else
            snprintf(type->name, sizeof type->name, "%s~%d", kind, k + 1);
    }
    for (int i = 0; i < w->p.n; ++i) {
        const int row = w->p.id[i];
        t->species[row] = colour[row];
        t->mass[row] = w->particle_mass;
    }
}

// Solids: planes, walls, and rows of their own behind the particles.
static void fill_solids(const fluid_scene *scene, const fluid_world *w, tables *t) {
    int row = w->p.n;
    for (int b = 0; b < scene->count_boundaries; ++b) {
        const fluid_boundary_def *def = &scene->boundaries[b];
        const fluid_solid *solid = &scene->solids[def->first];
        if (solid->kind == FLUID_SOLID_PLANE) {
            core_run_plane *plane = &t->planes[t->count_planes++];
            *plane = (core_run_plane){.normal = {solid->normal[0], solid->normal[1]}};
            plane->offset = solid->normal[0] * solid->centre[0] + solid->normal[1] * solid->centre[1];
            memcpy(plane->name, def->name, sizeof plane->name);
        } else if (def->shape >= 0) {
            const sdf_shape *shape = &scene->shapes[def->shape];
            core_run_type *type = &t->types[t->count_types];
            *type = (core_run_type){.radius = solid->radius, .density = w->def.density, .outline = shape->outline};
            memcpy(type->name, def->name, sizeof type->name);
            memcpy(type->shape, shape->name, sizeof type->shape);
            t->prescribed[row] = 1;
            t->mass[row] = w->def.density * shape->area * solid->radius * solid->radius;
            t->species[row++] = t->count_types++;
        } else {
            core_run_wall *wall = &t->walls[t->count_walls++];
            *wall = (core_run_wall){.is_circle = solid->kind == FLUID_SOLID_BOWL};
            wall->radius = wall->is_circle ? solid->radius : 0;
            wall->thickness = def->thickness;
            wall->count_points = def->count_points;
            wall->points = def->points;
            memcpy(wall->name, def->name, sizeof wall->name);
        }
    }
    // the walls around, but for the lid
    for (int k = w->def.periodic ? 2 : 0; k < 3; ++k) {
        static const double normal[3][2] = {{1, 0}, {-1, 0}, {0, 1}};
        const double at[3] = {w->def.region[0], -w->def.region[3], w->def.region[1]};
        core_run_plane *plane = &t->planes[t->count_planes++];
        *plane = (core_run_plane){.normal = {normal[k][0], normal[k][1]}, .offset = at[k]};
        snprintf(plane->name, sizeof plane->name, "%s", REGION_WALLS[k]);
    }
}

core_status fluid__run_create(const fluid_scene *scene, const fluid_world *w, const int32_t *colour,
                              const fluid_run_def *run, const char *path, core_run_writer **writer,
                              core_run_frame *frame, core_error *err) {
    core_status status = CORE_OK;
    tables t = {0};
    CORE_TRY_DONE(make_tables(scene, w, &t, err));
    fill_particles(scene, w, colour, &t);
    fill_solids(scene, w, &t);
    const uint64_t hash = core_hash_bytes(0, scene->text, strlen(scene->text));
    const char *name = scene->path;
    const double dt = fluid_world_dt(w);
    core_run_def def = {.count_rows = t.rows,
                        .count_types = t.count_types,
                        .types = t.types,
                        .count_planes = t.count_planes,
                        .planes = t.planes,
                        .count_walls = t.count_walls,
                        .walls = t.walls,
                        .count_observables = COUNT_OBSERVABLES,
                        .observables = OBSERVABLES,
                        .count_phases = scene->count_phases,
                        .phase_names = t.phase_names,
                        .species = t.species,
                        .prescribed = t.prescribed,
                        .mass = t.mass,
                        .scene_text = scene->text,
                        .scene_path = scene->path,
                        .title = scene->title,
                        .gravity = {w->def.gravity[0], w->def.gravity[1]},
                        .dt = isfinite(dt) ? dt : 0,
                        .provenance = run->provenance};
    if (w->def.periodic) def.period[0] = w->def.region[0], def.period[1] = w->def.region[3];
    def.provenance.seed = scene->seed;
    def.provenance.count_inputs = 1;
    def.provenance.input_names = &name;
    def.provenance.input_hashes = &hash;
    CORE_TRY_DONE(core_run_frame_create(t.rows, COUNT_OBSERVABLES, t.count_planes, frame, err));
    CORE_TRY_DONE(core_run_frame_add_walls(t.count_walls, frame, err));
    status = core_run_create(path, &def, writer, err);
done:
    clear_tables(&t);
    return status;
}

// ---------------------------------------------------------------------------------------------- frames

static void fill_observables(const fluid_world *w, double *values) {
    fluid_totals t;
    fluid_world_totals(w, &t);
    const double list[COUNT_OBSERVABLES] = {t.kinetic,   t.potential,  t.momentum[0], t.momentum[1],
                                            t.speed_max, t.count_full, t.iterations,  t.sweeps};
    memcpy(values, list, sizeof list);
}

// Turn and displacement of a polyline that lies where its points are at the start, by its first bar.
static void place_polyline(const fluid_solid *now, const fluid_solid *home, double pose[3]) {
    double sine, cosine;
    pose[2] = now->angle - home->angle;
    core_sincos(pose[2], &sine, &cosine);
    pose[0] = now->centre[0] - (cosine * home->centre[0] - sine * home->centre[1]);
    pose[1] = now->centre[1] - (sine * home->centre[0] + cosine * home->centre[1]);
}

// Where the solids are, and whether.
static void fill_boundaries(const fluid_scene *scene, const fluid_world *w, core_run_frame *f) {
    int planes = 0, walls = 0, row = w->p.n;
    for (int b = 0; b < scene->count_boundaries; ++b) {
        const fluid_boundary_def *def = &scene->boundaries[b];
        const fluid_solid *solid = &w->solids[def->first];
        const fluid_mover still = {.goes = false}, *mover = w->moves ? &w->mover[def->first] : &still;
        if (solid->kind == FLUID_SOLID_PLANE) {
            double *plane = f->plane + 3 * planes;
            plane[0] = solid->normal[0], plane[1] = solid->normal[1];
            plane[2] = solid->normal[0] * solid->centre[0] + solid->normal[1] * solid->centre[1];
            f->plane_present[planes++] = solid->present;
        } else if (def->shape >= 0) {
            const double nowhere = solid->present ? 0 : NAN;
            for (int a = 0; a < 2; ++a) {
                f->position[2 * row + a] = solid->centre[a] + nowhere;
                f->velocity[2 * row + a] = nowhere + (mover->goes ? mover->velocity[a] : 0);
            }
            f->orientation[row] = solid->angle + nowhere;
            f->angular_velocity[row] = nowhere + (mover->goes ? mover->spin : 0);
            f->id[row] = solid->present ? row : -1;
            ++row;
        } else {
            double *pose = f->wall_pose + 3 * walls;
            const bool circle = solid->kind == FLUID_SOLID_BOWL;
            for (int a = 0; a < 3; ++a) pose[a] = a < 2 && circle ? solid->centre[a] : 0;
            if (w->moves && !circle) place_polyline(solid, &mover->home, pose);
            f->wall_present[walls++] = solid->present;
        }
    }
    for (int k = w->def.periodic ? 2 : 0; k < 3; ++k) {
        double *plane = f->plane + 3 * planes;
        plane[0] = k == 0 ? 1 : k == 1 ? -1 : 0, plane[1] = k == 2;
        plane[2] = k == 0 ? w->def.region[0] : k == 1 ? -w->def.region[3] : w->def.region[1];
        f->plane_present[planes++] = 1;
    }
}

void fluid__run_fill(const fluid_scene *scene, const fluid_world *w, int phase, core_run_frame *f) {
    f->step = w->step;
    f->time = w->time;
    f->phase = phase < scene->count_phases ? phase : scene->count_phases - 1;
    for (int i = 0; i < w->p.n; ++i) {
        const int row = w->p.id[i];
        for (int a = 0; a < 2; ++a) {
            f->position[2 * row + a] = w->p.x[a][i];
            f->velocity[2 * row + a] = w->p.v[a][i];
        }
        f->id[row] = row;
        f->image[row] = w->p.image ? w->p.image[i] : 0;
    }
    fill_boundaries(scene, w, f);
    fill_observables(w, f->observables);
}
