/// Writing run files: everything is created before the first frame and only extended afterwards, the counter of
/// committed frames last, so that a reader never takes a half-written frame for a whole one. Layout after H5MD 1.1 (de
/// Buyl, Colberg, Hoefling 2014).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core_run_private.h"

#define CHUNK_BYTES 16384u // small runs stay small: a chunk that is begun is written whole
#define CHUNK_ROWS_MAX 256u

struct core_run_writer {
    core_h5 *file;
    int count_rows, count_planes, count_walls, count_observables;
    char (*observable_names)[CORE_NAME_MAX]; // (count_observables)
    int64_t count_frames;
    bool contacts;
    int64_t count_contacts; // of all frames
    bool periodic;
    bool broken; // an append failed half-way: no more frames
};

// ---------------------------------------------------------------------------------------------- checks

static core_status check_name(const char *name, const char *what, int i, core_error *err) {
    CORE_CHECK(name && *name && memchr(name, 0, CORE_NAME_MAX), CORE_ARG,
               "run file: %s %d has no name or one above %d bytes", what, i, CORE_NAME_MAX - 1);
    return CORE_OK;
}

static core_status check_types(const core_run_def *def, core_error *err) {
    for (int i = 0; i < def->count_types; i++) {
        const core_run_type *type = &def->types[i];
        CORE_TRY(check_name(type->name, "type", i, err));
        CORE_TRY(check_name(type->shape, "the shape of type", i, err));
        CORE_CHECK(isfinite(type->radius) && type->radius > 0 && isfinite(type->density) && type->density > 0,
                   CORE_RANGE, "run file: type %s has radius %g and density %g; expected finite numbers above 0",
                   type->name, type->radius, type->density);
        CORE_CHECK(core_outline_count(&type->outline) >= 3, CORE_ARG, "run file: type %s has no outline", type->name);
    }
    for (int i = 0; i < def->count_rows; i++) {
        CORE_CHECK(def->species[i] >= 0 && def->species[i] < def->count_types, CORE_RANGE,
                   "run file: grain %d is of type %d; expected 0 to %d", i, (int)def->species[i], def->count_types - 1);
        CORE_CHECK(isfinite(def->mass[i]), CORE_NONFINITE, "run file: the mass of grain %d is %g", i, def->mass[i]);
    }
    return CORE_OK;
}

static core_status check_def(const core_run_def *def, core_error *err) {
    CORE_CHECK(def->count_rows >= 1 && def->count_rows <= CORE_RUN_ROWS_MAX, CORE_ARG,
               "run file: %d grains; expected 1 to %d", def->count_rows, CORE_RUN_ROWS_MAX);
    CORE_CHECK(def->count_types >= 1 && def->count_types <= CORE_RUN_TYPES_MAX && def->types && def->species &&
                   def->mass,
               CORE_ARG, "run file: no types, species or masses (%d types)", def->count_types);
    CORE_CHECK(def->count_planes >= 0 && (def->planes || def->count_planes == 0), CORE_ARG,
               "run file: %d planes, none given", def->count_planes);
    CORE_CHECK(def->count_walls >= 0 && (def->walls || def->count_walls == 0), CORE_ARG,
               "run file: %d walls, none given", def->count_walls);
    for (int i = 0; i < def->count_walls; i++) CORE_TRY(check_name(def->walls[i].name, "wall", i, err));
    CORE_CHECK(def->count_observables >= 0 && (def->observables || def->count_observables == 0), CORE_ARG,
               "run file: %d observables, none given", def->count_observables);
    CORE_CHECK(isfinite(def->gravity[0]) && isfinite(def->gravity[1]) && isfinite(def->dt), CORE_NONFINITE,
               "run file: gravity (%g, %g), dt %g; expected finite numbers", def->gravity[0], def->gravity[1], def->dt);
    CORE_TRY(check_types(def, err));
    for (int i = 0; i < def->count_planes; i++) {
        const core_run_plane *plane = &def->planes[i];
        CORE_TRY(check_name(plane->name, "plane", i, err));
        CORE_CHECK(isfinite(plane->normal[0]) && isfinite(plane->normal[1]) && isfinite(plane->offset), CORE_NONFINITE,
                   "run file: plane %s: normal (%g, %g), offset %g", plane->name, plane->normal[0], plane->normal[1],
                   plane->offset);
    }
    for (int i = 0; i < def->count_observables; i++) {
        const char *name = def->observables[i].name;
        CORE_TRY(check_name(name, "observable", i, err));
        CORE_CHECK(!strpbrk(name, "/."), CORE_ARG, "run file: observable \"%s\": no / and . in names", name);
        for (int j = 0; j < i; j++) {
            CORE_CHECK(strcmp(name, def->observables[j].name) != 0, CORE_ARG, "run file: a second observable \"%s\"",
                       name);
        }
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- creation

/// Rows per chunk of a series whose rows have n values of n_bytes.
static size_t chunk_rows(size_t n, size_t n_bytes) {
    size_t rows = CHUNK_BYTES / (n * n_bytes);
    return rows < 1 ? 1 : rows > CHUNK_ROWS_MAX ? CHUNK_ROWS_MAX : rows;
}

/// What differs between the elements of a run file.
typedef struct element {
    const char *path; // group: PATH/value, PATH/step, PATH/time
    core_h5_type type;
    size_t n_bytes; // of a value
    int rank;
    size_t row[2];
    const char *units, *description;
} element;

/// A time-dependent H5MD element; step and time are shared with the positions by links.
static core_status create_element(core_h5 *file, const element *e, core_error *err) {
    char path[CORE_RUN_PATH_MAX];
    size_t n = (e->rank > 0 ? e->row[0] : 1) * (e->rank > 1 ? e->row[1] : 1);
    CORE_TRY(core_h5_group(file, e->path, e->description, err));
    snprintf(path, sizeof path, "%s/value", e->path);
    CORE_TRY(core_h5_series_create(file, path, e->type, e->rank, e->row, chunk_rows(n, e->n_bytes), e->units,
                                   e->description, err));
    if (strcmp(e->path, CORE_RUN_GRAINS "/position") == 0) return CORE_OK;
    snprintf(path, sizeof path, "%s/step", e->path);
    CORE_TRY(core_h5_link(file, CORE_RUN_STEP, path, err));
    snprintf(path, sizeof path, "%s/time", e->path);
    return core_h5_link(file, CORE_RUN_TIME, path, err);
}

/// The group /h5md that tells readers of H5MD what they have.
static core_status write_h5md(core_h5 *file, core_error *err) {
    const int64_t version[2] = {1, 1};
    CORE_TRY(core_h5_group(file, "/h5md", "H5MD layout", err));
    CORE_TRY(core_h5_set_integers(file, "/h5md", "version", 2, version, err));
    CORE_TRY(core_h5_group(file, "/h5md/author", NULL, err));
    CORE_TRY(core_h5_set_text(file, "/h5md/author", "name", "unknown", err));
    CORE_TRY(core_h5_group(file, "/h5md/creator", NULL, err));
    CORE_TRY(core_h5_set_text(file, "/h5md/creator", "name", "cem", err));
    return core_h5_set_text(file, "/h5md/creator", "version", CORE_VERSION, err);
}

static core_status write_grains(core_h5 *file, const core_run_def *def, core_error *err) {
    const size_t n = (size_t)def->count_rows;
    const size_t two = 2;
    const bool periodic = def->period[0] < def->period[1];
    static const char *const open[2] = {"none", "none"}, *const closed[2] = {"periodic", "none"};
    CORE_TRY(core_h5_group(file, CORE_RUN_GRAINS, "one row a grain", err));
    CORE_TRY(core_h5_group(file, CORE_RUN_GRAINS "/box", periodic ? "periodic in x" : "unbounded", err));
    CORE_TRY(core_h5_set_integer(file, CORE_RUN_GRAINS "/box", "dimension", 2, err));
    CORE_TRY(core_h5_set_texts(file, CORE_RUN_GRAINS "/box", "boundary", 2, periodic ? closed : open, err));
    if (periodic) {
        const double edges[2] = {def->period[1] - def->period[0], 0};
        CORE_TRY(core_h5_write(file, CORE_RUN_GRAINS "/box/edges", CORE_H5_F64, 1, &two, edges, "m",
                               "width of the period; 0: unbounded", err));
        CORE_TRY(core_h5_write(file, CORE_RUN_PERIOD, CORE_H5_F64, 1, &two, def->period, "m",
                               "x of its left and right end", err));
    }
    CORE_TRY(core_h5_group(file, CORE_RUN_GRAINS "/position", "of the centroids", err));
    CORE_TRY(core_h5_series_create(file, CORE_RUN_STEP, CORE_H5_I64, 0, NULL, CHUNK_ROWS_MAX, NULL, "time step", err));
    CORE_TRY(
        core_h5_series_create(file, CORE_RUN_TIME, CORE_H5_F64, 0, NULL, CHUNK_ROWS_MAX, "s", "simulated time", err));
    const element elements[] = {
        {CORE_RUN_GRAINS "/position", CORE_H5_F64, 8, 2, {n, 2}, "m", "of the centroids"},
        {CORE_RUN_GRAINS "/orientation",
         CORE_H5_F64,
         8,
         1,
         {n},
         "rad",
         "counter-clockwise from the shape as drawn, not wrapped"},
        {CORE_RUN_GRAINS "/velocity", CORE_H5_F64, 8, 2, {n, 2}, "m/s", "of the centroids"},
        {CORE_RUN_GRAINS "/angular_velocity", CORE_H5_F64, 8, 1, {n}, "rad/s", "counter-clockwise"},
        {CORE_RUN_GRAINS "/id", CORE_H5_I32, 4, 1, {n}, NULL, "-1: the grain is absent"},
        {CORE_RUN_GRAINS "/image",
         CORE_H5_I32,
         4,
         1,
         {n},
         NULL,
         "periods that x has left behind (where x is periodic)"},
    };
    const size_t count = sizeof elements / sizeof elements[0] - !periodic;
    for (size_t i = 0; i < count; i++) CORE_TRY(create_element(file, &elements[i], err));
    if (def->prescribed) {
        CORE_TRY(core_h5_write(file, CORE_RUN_PRESCRIBED, CORE_H5_U8, 1, &n, def->prescribed, NULL,
                               "1: a boundary made of a grain", err));
    }
    CORE_TRY(core_h5_write(file, CORE_RUN_SPECIES, CORE_H5_I32, 1, &n, def->species, NULL,
                           "index into /parameters/types", err));
    return core_h5_write(file, CORE_RUN_MASS, CORE_H5_F64, 1, &n, def->mass, "kg", "per metre of depth", err);
}

static core_status write_observables(core_h5 *file, const core_run_def *def, core_error *err) {
    char path[CORE_RUN_PATH_MAX];
    CORE_TRY(core_h5_group(file, CORE_RUN_OBSERVABLES, "one number a frame each", err));
    for (int i = 0; i < def->count_observables; i++) {
        const core_run_observable *o = &def->observables[i];
        snprintf(path, sizeof path, CORE_RUN_OBSERVABLES "/%s", o->name);
        const element e = {path, CORE_H5_F64, 8, 0, {0}, o->units, o->description};
        CORE_TRY(create_element(file, &e, err));
        CORE_TRY(core_h5_set_integer(file, path, "index", i, err));
    }
    return CORE_OK;
}

static core_status write_types(core_h5 *file, const core_run_def *def, core_error *err) {
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16];
    CORE_TRY(core_h5_group(file, CORE_RUN_TYPES, "grain types by index", err));
    for (int i = 0; i < def->count_types; i++) {
        const core_run_type *type = &def->types[i];
        snprintf(path, sizeof path, CORE_RUN_TYPES "/%d", i);
        CORE_TRY(core_h5_group(file, path, "a grain type", err));
        CORE_TRY(core_h5_set_text(file, path, "name", type->name, err));
        CORE_TRY(core_h5_set_text(file, path, "shape", type->shape, err));
        snprintf(part, sizeof part, "%s/radius", path);
        CORE_TRY(core_h5_write(file, part, CORE_H5_F64, 0, NULL, &type->radius, "m", "circumradius", err));
        snprintf(part, sizeof part, "%s/density", path);
        CORE_TRY(
            core_h5_write(file, part, CORE_H5_F64, 0, NULL, &type->density, "kg/m^3", "at one metre of depth", err));
        snprintf(part, sizeof part, "%s/outline", path);
        CORE_TRY(core_h5_write_outline(file, part, &type->outline, "circumradius", err));
    }
    return CORE_OK;
}

static core_status write_planes(core_h5 *file, const core_run_def *def, core_error *err) {
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16];
    const size_t two = 2;
    CORE_TRY(core_h5_group(file, CORE_RUN_PLANES, "boundaries by index; grains are where normal.x >= offset", err));
    for (int i = 0; i < def->count_planes; i++) {
        const core_run_plane *plane = &def->planes[i];
        snprintf(path, sizeof path, CORE_RUN_PLANES "/%d", i);
        CORE_TRY(core_h5_group(file, path, "a half-plane", err));
        CORE_TRY(core_h5_set_text(file, path, "name", plane->name, err));
        snprintf(part, sizeof part, "%s/normal", path);
        CORE_TRY(core_h5_write(file, part, CORE_H5_F64, 1, &two, plane->normal, NULL, "unit vector to the allowed side",
                               err));
        snprintf(part, sizeof part, "%s/offset", path);
        CORE_TRY(
            core_h5_write(file, part, CORE_H5_F64, 0, NULL, &plane->offset, "m", "normal . point of the surface", err));
    }
    return CORE_OK;
}

static core_status write_walls(core_h5 *file, const core_run_def *def, core_error *err) {
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16];
    if (def->count_walls == 0) return CORE_OK;
    CORE_TRY(core_h5_group(file, CORE_RUN_WALLS, "circles and polylines by index, in their own frames", err));
    for (int i = 0; i < def->count_walls; i++) {
        const core_run_wall *wall = &def->walls[i];
        const size_t size[2] = {(size_t)wall->count_points, 2};
        snprintf(path, sizeof path, CORE_RUN_WALLS "/%d", i);
        CORE_TRY(core_h5_group(file, path, wall->is_circle ? "a circle with grains inside" : "a polyline", err));
        CORE_TRY(core_h5_set_text(file, path, "name", wall->name, err));
        CORE_TRY(core_h5_set_text(file, path, "kind", wall->is_circle ? "circle" : "polyline", err));
        snprintf(part, sizeof part, "%s/%s", path, wall->is_circle ? "radius" : "thickness");
        CORE_TRY(core_h5_write(file, part, CORE_H5_F64, 0, NULL, wall->is_circle ? &wall->radius : &wall->thickness,
                               "m", wall->is_circle ? "of the circle" : "of the wall, half of it on each side", err));
        if (wall->is_circle) continue;
        snprintf(part, sizeof part, "%s/points", path);
        CORE_TRY(
            core_h5_write(file, part, CORE_H5_F64, 2, size, wall->points, "m", "along the middle of the wall", err));
    }
    return CORE_OK;
}

/// Names of the phases, a line each.
static core_status write_phases(core_h5 *file, const core_run_def *def, core_error *err) {
    core_status status = CORE_OK;
    char *lines = NULL;
    size_t used = 0;
    CORE_NEW_DONE(lines, (size_t)def->count_phases * CORE_NAME_MAX + 1);
    for (int i = 0; i < def->count_phases; i++) {
        const char *name = def->phase_names[i];
        const size_t n = strlen(name);
        CORE_CHECK_DONE(n > 0 && n < CORE_NAME_MAX && !strchr(name, '\n'), CORE_ARG,
                        "run file: phase name \"%s\"; expected 1 to %d bytes without line breaks", name,
                        CORE_NAME_MAX - 1);
        if (i > 0) lines[used++] = '\n';
        memcpy(lines + used, name, n);
        used += n;
    }
    status = core_h5_write_text(file, CORE_RUN_PHASES, lines, "names of the phases, a line each", err);
done:
    core_free(lines);
    return status;
}

static core_status write_parameters(core_h5 *file, const core_run_def *def, core_error *err) {
    const size_t two = 2;
    CORE_TRY(core_h5_group(file, "/parameters", "what was simulated", err));
    CORE_TRY(core_h5_write_text(file, CORE_RUN_TITLE, def->title ? def->title : "", "title of the scene", err));
    CORE_TRY(
        core_h5_write_text(file, CORE_RUN_SCENE, def->scene_text ? def->scene_text : "", "resolved scene, YAML", err));
    CORE_TRY(core_h5_write_text(file, CORE_RUN_SCENE_PATH, def->scene_path ? def->scene_path : "", "scene file", err));
    CORE_TRY(core_h5_write(file, CORE_RUN_GRAVITY, CORE_H5_F64, 1, &two, def->gravity, "m/s^2",
                           "acceleration of gravity", err));
    CORE_TRY(core_h5_write(file, CORE_RUN_DT, CORE_H5_F64, 0, NULL, &def->dt, "s", "time step", err));
    CORE_TRY(write_phases(file, def, err));
    CORE_TRY(write_types(file, def, err));
    CORE_TRY(write_walls(file, def, err));
    return write_planes(file, def, err);
}

/// Phases, boundaries and the counter: what H5MD has no place for.
static core_status write_run_group(core_h5 *file, const core_run_def *def, core_error *err) {
    const element phase = {CORE_RUN_PHASE, CORE_H5_I32, 4, 0, {0}, NULL, "index of the phase that is running"};
    const element present = {CORE_RUN_PLANE_PRESENT,      CORE_H5_U8, 1, 1, {(size_t)def->count_planes}, NULL,
                             "1 while the plane is there"};
    CORE_TRY(core_h5_group(file, "/run", "state of the run", err));
    CORE_TRY(create_element(file, &phase, err));
    const size_t planes = (size_t)def->count_planes, walls = (size_t)def->count_walls;
    const element now = {
        CORE_RUN_PLANE, CORE_H5_F64, 8, 2, {planes, 3}, NULL, "normal x, y and offset (m) of each plane as it is"};
    const element there = {CORE_RUN_WALL_PRESENT, CORE_H5_U8, 1, 1, {walls}, NULL, "1 while the wall is there"};
    const element pose = {
        CORE_RUN_WALL_POSE, CORE_H5_F64, 8, 2, {walls, 3}, NULL, "x, y (m) and angle (rad) of each wall"};
    if (planes > 0) CORE_TRY(create_element(file, &present, err));
    if (planes > 0) CORE_TRY(create_element(file, &now, err));
    if (walls > 0) CORE_TRY(create_element(file, &there, err));
    if (walls > 0) CORE_TRY(create_element(file, &pose, err));
    return core_h5_series_create(file, CORE_RUN_COMMITTED, CORE_H5_I64, 0, NULL, CHUNK_ROWS_MAX, NULL,
                                 "the last value is the number of complete frames; written last", err);
}

core_status core_run_create(const char *path, const core_run_def *def, core_run_writer **w, core_error *err) {
    CORE_CHECK(path && def && w, CORE_ARG, "core_run_create: null argument");
    CORE_TRY(check_def(def, err));
    core_status status = CORE_OK;
    core_run_writer *fresh = NULL;
    CORE_NEW_DONE(fresh, 1);
    CORE_NEW_DONE(fresh->observable_names, (size_t)def->count_observables);
    fresh->count_rows = def->count_rows;
    fresh->count_planes = def->count_planes;
    fresh->count_walls = def->count_walls;
    fresh->periodic = def->period[0] < def->period[1];
    fresh->count_observables = def->count_observables;
    fresh->contacts = def->contacts;
    for (int i = 0; i < def->count_observables; i++) {
        memcpy(fresh->observable_names[i], def->observables[i].name, strlen(def->observables[i].name));
    }
    CORE_TRY_DONE(core_h5_create_in_place(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &fresh->file, err));
    CORE_TRY_DONE(core_h5_write_provenance(fresh->file, &def->provenance, err));
    CORE_TRY_DONE(write_h5md(fresh->file, err));
    CORE_TRY_DONE(write_grains(fresh->file, def, err));
    CORE_TRY_DONE(write_observables(fresh->file, def, err));
    CORE_TRY_DONE(write_parameters(fresh->file, def, err));
    CORE_TRY_DONE(write_run_group(fresh->file, def, err));
    if (def->contacts) CORE_TRY_DONE(core__run_contacts_create(fresh->file, err));
    CORE_TRY_DONE(core_h5_start(fresh->file, err));
    *w = fresh;
    fresh = NULL;
done:
    if (fresh) {
        core_h5_abandon(&fresh->file); // an old file of that name stays
        core_free(fresh->observable_names);
        core_free(fresh);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------- frames

/// A frame that a reader would refuse is refused here.
static core_status check_frame(const core_run_writer *w, const core_run_frame *f, core_error *err) {
    CORE_CHECK(f->position && f->orientation && f->velocity && f->angular_velocity && f->id, CORE_ARG,
               "core_run_append: an array of the frame is missing");
    CORE_CHECK((f->observables || w->count_observables == 0) &&
                   ((f->plane_present && f->plane) || w->count_planes == 0) &&
                   ((f->wall_present && f->wall_pose) || w->count_walls == 0) && (f->image || !w->periodic),
               CORE_ARG, "core_run_append: observables, planes, walls or images of the frame are missing");
    for (int i = 0; i < 3 * w->count_planes; i++)
        CORE_CHECK(isfinite(f->plane[i]), CORE_NONFINITE, "run file: plane %d: found %g", i / 3, f->plane[i]);
    for (int i = 0; i < 3 * w->count_walls; i++)
        CORE_CHECK(isfinite(f->wall_pose[i]), CORE_NONFINITE, "run file: wall %d: found %g", i / 3, f->wall_pose[i]);
    CORE_CHECK(isfinite(f->time), CORE_NONFINITE, "run file: the time of frame %lld is %g", (long long)w->count_frames,
               f->time);
    CORE_CHECK(f->phase >= 0, CORE_RANGE, "run file: phase %d", (int)f->phase);
    for (int i = 0; i < w->count_rows; i++) {
        CORE_CHECK(f->id[i] >= -1, CORE_RANGE, "run file: row %d has id %d; expected -1 or above", i, (int)f->id[i]);
        if (f->id[i] < 0) continue;
        bool finite = isfinite(f->position[2 * i]) && isfinite(f->position[2 * i + 1]) && isfinite(f->orientation[i]) &&
                      isfinite(f->velocity[2 * i]) && isfinite(f->velocity[2 * i + 1]) &&
                      isfinite(f->angular_velocity[i]);
        CORE_CHECK(finite, CORE_NONFINITE, "run file: the state of grain %d is not finite at t = %g s", (int)f->id[i],
                   f->time);
    }
    return CORE_OK;
}

/// Planes and walls of a frame.
static core_status append_boundaries(core_run_writer *w, const core_run_frame *f, core_error *err) {
    const size_t planes[2] = {(size_t)w->count_planes, 3}, walls[2] = {(size_t)w->count_walls, 3};
    core_h5 *file = w->file;
    if (w->count_planes > 0) {
        CORE_TRY(
            core_h5_series_append(file, CORE_RUN_PLANE_PRESENT "/value", CORE_H5_U8, 1, planes, f->plane_present, err));
        CORE_TRY(core_h5_series_append(file, CORE_RUN_PLANE "/value", CORE_H5_F64, 2, planes, f->plane, err));
    }
    if (w->count_walls == 0) return CORE_OK;
    CORE_TRY(core_h5_series_append(file, CORE_RUN_WALL_PRESENT "/value", CORE_H5_U8, 1, walls, f->wall_present, err));
    return core_h5_series_append(file, CORE_RUN_WALL_POSE "/value", CORE_H5_F64, 2, walls, f->wall_pose, err);
}

/// Everything of a frame but the counter.
static core_status append_values(core_run_writer *w, const core_run_frame *f, core_error *err) {
    const size_t scalar[2] = {(size_t)w->count_rows, 0}, vector[2] = {(size_t)w->count_rows, 2};
    core_h5 *file = w->file;
    CORE_TRY(core_h5_series_append(file, CORE_RUN_STEP, CORE_H5_I64, 0, NULL, &f->step, err));
    CORE_TRY(core_h5_series_append(file, CORE_RUN_TIME, CORE_H5_F64, 0, NULL, &f->time, err));
    const char *g = CORE_RUN_GRAINS;
    const struct {
        const char *name;
        core_h5_type type;
        int rank;
        const size_t *row;
        const void *data;
    } list[] = {{"position", CORE_H5_F64, 2, vector, f->position},
                {"orientation", CORE_H5_F64, 1, scalar, f->orientation},
                {"velocity", CORE_H5_F64, 2, vector, f->velocity},
                {"angular_velocity", CORE_H5_F64, 1, scalar, f->angular_velocity},
                {"id", CORE_H5_I32, 1, scalar, f->id}};
    char path[CORE_RUN_PATH_MAX];
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/value", g, list[i].name);
        CORE_TRY(core_h5_series_append(file, path, list[i].type, list[i].rank, list[i].row, list[i].data, err));
    }
    for (int i = 0; i < w->count_observables; i++) {
        snprintf(path, sizeof path, CORE_RUN_OBSERVABLES "/%s/value", w->observable_names[i]);
        CORE_TRY(core_h5_series_append(file, path, CORE_H5_F64, 0, NULL, &f->observables[i], err));
    }
    if (w->contacts)
        CORE_TRY(core__run_contacts_append(file, f->count_contacts, f->contacts, w->count_contacts + f->count_contacts,
                                           w->count_rows, w->count_planes + w->count_walls, err));
    if (w->periodic)
        CORE_TRY(core_h5_series_append(file, CORE_RUN_GRAINS "/image/value", CORE_H5_I32, 1, scalar, f->image, err));
    CORE_TRY(core_h5_series_append(file, CORE_RUN_PHASE "/value", CORE_H5_I32, 0, NULL, &f->phase, err));
    return append_boundaries(w, f, err);
}

core_status core_run_append(core_run_writer *w, const core_run_frame *frame, core_error *err) {
    CORE_CHECK(w && frame, CORE_ARG, "core_run_append: null argument");
    CORE_CHECK(!w->broken, CORE_IO, "%s: an earlier frame could not be written", core_h5_path(w->file));
    CORE_TRY(check_frame(w, frame, err));
    w->broken = true; // until the counter is on disk
    int64_t count = w->count_frames + 1;
    CORE_TRY(append_values(w, frame, err));
    CORE_TRY(core_h5_flush(w->file, err)); // the counter may not reach the disk before what it counts
    CORE_TRY(core_h5_series_append(w->file, CORE_RUN_COMMITTED, CORE_H5_I64, 0, NULL, &count, err));
    CORE_TRY(core_h5_flush(w->file, err));
    w->count_frames = count;
    if (w->contacts) w->count_contacts += frame->count_contacts;
    w->broken = false;
    return CORE_OK;
}

core_status core_run_finish(core_run_writer **w, core_error *err) {
    CORE_CHECK(w, CORE_ARG, "core_run_finish: null handle");
    if (!*w) return CORE_OK;
    core_status status = core_h5_finish(&(*w)->file, err);
    core_free((*w)->observable_names);
    core_free(*w);
    *w = NULL;
    return status;
}
