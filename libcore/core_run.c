/// Reading run files, and frames in memory. Readers obey the counter of committed frames and check everything they hand
/// out: a file from anywhere may be opened.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core_run_private.h"

struct core_run_reader {
    core_h5 *file;
    core_run_info info; // points to the arrays below
    core_run_type *types;
    core_run_plane *planes;
    core_run_wall *walls;
    uint8_t *prescribed;
    char (*observable_names)[CORE_NAME_MAX];
    char (*phase_names)[CORE_NAME_MAX];
    int32_t *species, *id; // id: scratch, (count_rows)
    double *mass, *times;
    char *scene_text, *scene_path, *title;
};

// ---------------------------------------------------------------------------------------------- what a file says of
// itself

/// Number of members of a group, bounded.
static core_status count_members(core_h5 *file, const char *group, int max, int *count, core_error *err) {
    int n = 0;
    CORE_TRY(core_h5_count(file, group, &n, err));
    CORE_CHECK(n <= max, CORE_FORMAT, "%s: %s: %d members; expected at most %d", core_h5_path(file), group, n, max);
    *count = n;
    return CORE_OK;
}

static core_status read_grains(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    int rank = 0;
    size_t n = 0;
    CORE_TRY(core_h5_size(r->file, CORE_RUN_SPECIES, 1, &rank, &n, err));
    CORE_CHECK(rank == 1 && n >= 1 && n <= CORE_RUN_ROWS_MAX, CORE_FORMAT,
               "%s: %s: %zu grains; expected a row of 1 to %d", core_h5_path(r->file), CORE_RUN_SPECIES, n,
               CORE_RUN_ROWS_MAX);
    CORE_NEW_DONE(r->species, n);
    CORE_NEW_DONE(r->mass, n);
    CORE_NEW_DONE(r->id, n);
    CORE_NEW_DONE(r->prescribed, n);
    if (core_h5_exists(r->file, CORE_RUN_PRESCRIBED))
        CORE_TRY_DONE(core_h5_read(r->file, CORE_RUN_PRESCRIBED, CORE_H5_U8, 1, &n, r->prescribed, false, err));
    CORE_TRY_DONE(core_h5_read(r->file, CORE_RUN_SPECIES, CORE_H5_I32, 1, &n, r->species, false, err));
    CORE_TRY_DONE(core_h5_read(r->file, CORE_RUN_MASS, CORE_H5_F64, 1, &n, r->mass, true, err));
    for (size_t i = 0; i < n; i++) {
        CORE_CHECK_DONE(r->species[i] >= 0 && r->species[i] < r->info.count_types, CORE_FORMAT,
                        "%s: %s: grain %zu is of type %d; expected 0 to %d", core_h5_path(r->file), CORE_RUN_SPECIES, i,
                        (int)r->species[i], r->info.count_types - 1);
    }
    r->info.count_rows = (int)n;
    r->info.species = r->species;
    r->info.prescribed = r->prescribed;
    r->info.mass = r->mass;
done:
    return status; // the reader owns what was allocated
}

static core_status read_type(core_run_reader *r, int i, core_error *err) {
    core_run_type *type = &r->types[i];
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16];
    snprintf(path, sizeof path, CORE_RUN_TYPES "/%d", i);
    CORE_TRY(core_h5_get_text(r->file, path, "name", type->name, sizeof type->name, err));
    CORE_TRY(core_h5_get_text(r->file, path, "shape", type->shape, sizeof type->shape, err));
    snprintf(part, sizeof part, "%s/radius", path);
    CORE_TRY(core_h5_read(r->file, part, CORE_H5_F64, 0, NULL, &type->radius, true, err));
    snprintf(part, sizeof part, "%s/density", path);
    CORE_TRY(core_h5_read(r->file, part, CORE_H5_F64, 0, NULL, &type->density, true, err));
    CORE_CHECK(type->radius > 0 && type->density > 0, CORE_FORMAT,
               "%s: %s: radius %g, density %g; expected both above 0", core_h5_path(r->file), path, type->radius,
               type->density);
    snprintf(part, sizeof part, "%s/outline", path);
    return core_h5_read_outline(r->file, part, &type->outline, err);
}

static core_status read_types(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    int n = 0;
    CORE_TRY(count_members(r->file, CORE_RUN_TYPES, CORE_RUN_TYPES_MAX, &n, err));
    CORE_CHECK(n >= 1, CORE_FORMAT, "%s: %s: no grain types", core_h5_path(r->file), CORE_RUN_TYPES);
    CORE_NEW_DONE(r->types, (size_t)n);
    r->info.types = r->types;
    r->info.count_types = n; // before reading: closing clears what was read
    for (int i = 0; i < n; i++) CORE_TRY_DONE(read_type(r, i, err));
done:
    return status;
}

static core_status read_planes(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    const size_t two = 2;
    int n = 0;
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16];
    CORE_TRY(count_members(r->file, CORE_RUN_PLANES, CORE_RUN_TYPES_MAX, &n, err));
    CORE_NEW_DONE(r->planes, (size_t)n);
    for (int i = 0; i < n; i++) {
        core_run_plane *plane = &r->planes[i];
        snprintf(path, sizeof path, CORE_RUN_PLANES "/%d", i);
        CORE_TRY_DONE(core_h5_get_text(r->file, path, "name", plane->name, sizeof plane->name, err));
        snprintf(part, sizeof part, "%s/normal", path);
        CORE_TRY_DONE(core_h5_read(r->file, part, CORE_H5_F64, 1, &two, plane->normal, true, err));
        snprintf(part, sizeof part, "%s/offset", path);
        CORE_TRY_DONE(core_h5_read(r->file, part, CORE_H5_F64, 0, NULL, &plane->offset, true, err));
        double length = sqrt(plane->normal[0] * plane->normal[0] + plane->normal[1] * plane->normal[1]);
        CORE_CHECK_DONE(fabs(length - 1) < 1e-6, CORE_FORMAT, "%s: %s: a normal of length %g; expected 1",
                        core_h5_path(r->file), path, length);
    }
    r->info.planes = r->planes;
    r->info.count_planes = n;
done:
    return status;
}

static core_status read_wall(core_run_reader *r, int i, core_error *err) {
    core_status status = CORE_OK;
    core_run_wall *wall = &r->walls[i];
    char path[CORE_RUN_PATH_MAX], part[CORE_RUN_PATH_MAX + 16], kind[16];
    size_t size[2] = {0, 0};
    int rank = 0;
    snprintf(path, sizeof path, CORE_RUN_WALLS "/%d", i);
    CORE_TRY(core_h5_get_text(r->file, path, "name", wall->name, sizeof wall->name, err));
    CORE_TRY(core_h5_get_text(r->file, path, "kind", kind, sizeof kind, err));
    wall->is_circle = strcmp(kind, "circle") == 0;
    CORE_CHECK(wall->is_circle || strcmp(kind, "polyline") == 0, CORE_FORMAT,
               "%s: %s: kind %s; expected circle or polyline", core_h5_path(r->file), path, kind);
    snprintf(part, sizeof part, "%s/%s", path, wall->is_circle ? "radius" : "thickness");
    double *length = wall->is_circle ? &wall->radius : &wall->thickness;
    CORE_TRY(core_h5_read(r->file, part, CORE_H5_F64, 0, NULL, length, true, err));
    CORE_CHECK(*length > 0, CORE_FORMAT, "%s: %s: %g; expected a number above 0", core_h5_path(r->file), part, *length);
    if (wall->is_circle) return CORE_OK;
    snprintf(part, sizeof part, "%s/points", path);
    CORE_TRY(core_h5_size(r->file, part, 2, &rank, size, err));
    CORE_CHECK(rank == 2 && size[0] >= 2 && size[0] <= CORE_RUN_ROWS_MAX && size[1] == 2, CORE_FORMAT,
               "%s: %s: %zu x %zu; expected 2 or more points", core_h5_path(r->file), part, size[0], size[1]);
    CORE_NEW_DONE(wall->points, 2 * size[0]);
    wall->count_points = (int)size[0];
    status = core_h5_read(r->file, part, CORE_H5_F64, 2, size, wall->points, true, err);
done:
    return status; // the reader owns what was allocated
}

/// Circles, polylines and the period; files without them have none.
static core_status read_walls(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    const size_t two = 2;
    int n = 0;
    if (core_h5_exists(r->file, CORE_RUN_PERIOD)) {
        CORE_TRY(core_h5_read(r->file, CORE_RUN_PERIOD, CORE_H5_F64, 1, &two, r->info.period, true, err));
        CORE_CHECK(r->info.period[0] < r->info.period[1], CORE_FORMAT, "%s: %s: %g to %g", core_h5_path(r->file),
                   CORE_RUN_PERIOD, r->info.period[0], r->info.period[1]);
    }
    if (core_h5_exists(r->file, CORE_RUN_WALLS))
        CORE_TRY(count_members(r->file, CORE_RUN_WALLS, CORE_RUN_TYPES_MAX, &n, err));
    CORE_NEW_DONE(r->walls, (size_t)n);
    r->info.walls = r->walls;
    r->info.count_walls = n; // before reading: closing clears what was read
    for (int i = 0; i < n; i++) CORE_TRY_DONE(read_wall(r, i, err));
done:
    return status;
}

/// Observables in the order they were declared in: their attribute `index` is a permutation.
static core_status read_observables(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    int n = 0;
    char path[CORE_RUN_PATH_MAX], name[CORE_NAME_MAX];
    CORE_TRY(count_members(r->file, CORE_RUN_OBSERVABLES, CORE_RUN_TYPES_MAX, &n, err));
    CORE_NEW_DONE(r->observable_names, (size_t)n);
    for (int i = 0; i < n; i++) {
        int64_t index = 0;
        CORE_TRY_DONE(core_h5_name(r->file, CORE_RUN_OBSERVABLES, i, name, sizeof name, err));
        snprintf(path, sizeof path, CORE_RUN_OBSERVABLES "/%s", name);
        CORE_TRY_DONE(core_h5_get_integer(r->file, path, "index", &index, err));
        CORE_CHECK_DONE(index >= 0 && index < n && !r->observable_names[index][0], CORE_FORMAT,
                        "%s: %s: index %lld; expected each of 0 to %d once", core_h5_path(r->file), path,
                        (long long)index, n - 1);
        memcpy(r->observable_names[index], name, sizeof name);
    }
    r->info.observable_names = (const char(*)[CORE_NAME_MAX])r->observable_names;
    r->info.count_observables = n;
done:
    return status;
}

/// Names of the phases, a line each; a run of no phases has an empty text.
static core_status read_phases(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    char *lines = NULL;
    int n = 0;
    CORE_TRY(core_h5_read_text(r->file, CORE_RUN_PHASES, &lines, err));
    for (const char *s = lines; *s; s++) n += s == lines || s[-1] == '\n';
    CORE_NEW_DONE(r->phase_names, (size_t)n);
    const char *s = lines;
    for (int i = 0; i < n; i++) {
        const size_t length = strcspn(s, "\n");
        CORE_CHECK_DONE(length > 0 && length < CORE_NAME_MAX, CORE_FORMAT,
                        "%s: %s: name %d has %zu bytes; expected 1 to %d", core_h5_path(r->file), CORE_RUN_PHASES, i,
                        length, CORE_NAME_MAX - 1);
        memcpy(r->phase_names[i], s, length);
        s += length + (s[length] == '\n');
    }
    r->info.phase_names = (const char(*)[CORE_NAME_MAX])r->phase_names;
    r->info.count_phases = n;
done:
    core_free(lines);
    return status;
}

static core_status read_parameters(core_run_reader *r, core_error *err) {
    const size_t two = 2;
    CORE_TRY(core_h5_read_text(r->file, CORE_RUN_TITLE, &r->title, err));
    CORE_TRY(core_h5_read_text(r->file, CORE_RUN_SCENE, &r->scene_text, err));
    CORE_TRY(core_h5_read_text(r->file, CORE_RUN_SCENE_PATH, &r->scene_path, err));
    CORE_TRY(core_h5_read(r->file, CORE_RUN_GRAVITY, CORE_H5_F64, 1, &two, r->info.gravity, true, err));
    CORE_TRY(core_h5_read(r->file, CORE_RUN_DT, CORE_H5_F64, 0, NULL, &r->info.dt, true, err));
    CORE_TRY(read_phases(r, err));
    r->info.title = r->title;
    r->info.scene_text = r->scene_text;
    r->info.scene_path = r->scene_path;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- frames of a file

/// Rows of a series.
static core_status count_rows(core_h5 *file, const char *path, size_t *rows, core_error *err) {
    int rank = 0;
    size_t dims[3] = {0};
    CORE_TRY(core_h5_size(file, path, 3, &rank, dims, err));
    CORE_CHECK(rank >= 1, CORE_FORMAT, "%s: %s: a single value; expected a row a frame", core_h5_path(file), path);
    *rows = dims[0];
    return CORE_OK;
}

/// Refuses a series with fewer rows than committed frames.
static core_status check_rows(core_run_reader *r, const char *path, core_error *err) {
    size_t rows = 0;
    CORE_TRY(count_rows(r->file, path, &rows, err));
    CORE_CHECK((int64_t)rows >= r->info.count_frames, CORE_FORMAT,
               "%s: %s: %zu rows; expected at least %lld (committed frames)", core_h5_path(r->file), path, rows,
               (long long)r->info.count_frames);
    return CORE_OK;
}

static core_status read_counter(core_run_reader *r, size_t row, int64_t *value, core_error *err) {
    return core_h5_series_read(r->file, CORE_RUN_COMMITTED, CORE_H5_I64, 0, NULL, row, value, err);
}

/// The counter: its last row holds the number of its rows, or 0 while it is being written.
static core_status read_committed(core_run_reader *r, core_error *err) {
    size_t rows = 0;
    int64_t last = 0;
    CORE_TRY(count_rows(r->file, CORE_RUN_COMMITTED, &rows, err));
    if (rows > 0) CORE_TRY(read_counter(r, rows - 1, &last, err));
    if (rows > 0 && last == 0) {
        rows--;
        if (rows > 0) CORE_TRY(read_counter(r, rows - 1, &last, err));
    }
    CORE_CHECK(last == (int64_t)rows, CORE_FORMAT, "%s: %s: %lld in its last row; expected %zu", core_h5_path(r->file),
               CORE_RUN_COMMITTED, (long long)last, rows);
    r->info.count_frames = last;
    return CORE_OK;
}

static core_status read_times(core_run_reader *r, core_error *err) {
    core_status status = CORE_OK;
    const size_t frames = (size_t)r->info.count_frames; // the writer may append while this reads
    CORE_TRY(check_rows(r, CORE_RUN_TIME, err));
    CORE_NEW_DONE(r->times, frames);
    CORE_TRY_DONE(core_h5_series_read_rows(r->file, CORE_RUN_TIME, CORE_H5_F64, 0, NULL, 0, frames, r->times, err));
    for (int64_t i = 0; i < r->info.count_frames; i++) {
        CORE_CHECK_DONE(isfinite(r->times[i]), CORE_NONFINITE, "%s: %s: %g in row %lld", core_h5_path(r->file),
                        CORE_RUN_TIME, r->times[i], (long long)i);
        CORE_CHECK_DONE(i == 0 || r->times[i] >= r->times[i - 1], CORE_FORMAT,
                        "%s: %s: %.9g s in row %lld, after %.9g s", core_h5_path(r->file), CORE_RUN_TIME, r->times[i],
                        (long long)i, r->times[i - 1]);
    }
    r->info.times = r->times;
done:
    return status;
}

/// Every series has the committed frames. (Sizes of rows are checked where rows are read.)
static core_status check_series(core_run_reader *r, core_error *err) {
    static const char *const paths[] = {CORE_RUN_STEP,
                                        CORE_RUN_GRAINS "/position/value",
                                        CORE_RUN_GRAINS "/orientation/value",
                                        CORE_RUN_GRAINS "/velocity/value",
                                        CORE_RUN_GRAINS "/angular_velocity/value",
                                        CORE_RUN_GRAINS "/id/value",
                                        CORE_RUN_PHASE "/value"};
    char path[CORE_RUN_PATH_MAX];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) CORE_TRY(check_rows(r, paths[i], err));
    if (r->info.count_planes > 0) CORE_TRY(check_rows(r, CORE_RUN_PLANE_PRESENT "/value", err));
    r->info.contacts = core_h5_exists(r->file, CORE_RUN_CONTACTS);
    if (r->info.contacts) CORE_TRY(check_rows(r, CORE_RUN_CONTACTS_END, err));
    if (core_h5_exists(r->file, CORE_RUN_PLANE)) CORE_TRY(check_rows(r, CORE_RUN_PLANE "/value", err));
    if (r->info.count_walls > 0) CORE_TRY(check_rows(r, CORE_RUN_WALL_PRESENT "/value", err));
    if (r->info.count_walls > 0) CORE_TRY(check_rows(r, CORE_RUN_WALL_POSE "/value", err));
    if (r->info.period[0] < r->info.period[1]) CORE_TRY(check_rows(r, CORE_RUN_GRAINS "/image/value", err));
    for (int i = 0; i < r->info.count_observables; i++) {
        snprintf(path, sizeof path, CORE_RUN_OBSERVABLES "/%s/value", r->observable_names[i]);
        CORE_TRY(check_rows(r, path, err));
    }
    return CORE_OK;
}

static core_status read_all(core_run_reader *r, core_error *err) {
    CORE_TRY(read_committed(r, err));
    CORE_TRY(read_types(r, err));
    CORE_TRY(read_grains(r, err));
    CORE_TRY(read_planes(r, err));
    CORE_TRY(read_walls(r, err));
    CORE_TRY(read_observables(r, err));
    CORE_TRY(read_parameters(r, err));
    CORE_TRY(read_times(r, err));
    return check_series(r, err);
}

core_status core_run_open(const char *path, core_run_reader **r, core_error *err) {
    CORE_CHECK(path && r, CORE_ARG, "core_run_open: null argument");
    core_status status = CORE_OK;
    core_run_reader *fresh = NULL;
    CORE_NEW_DONE(fresh, 1);
    CORE_TRY_DONE(core_h5_open(path, CORE_RUN_FORMAT, CORE_RUN_VERSION, &fresh->file, err));
    CORE_TRY_DONE(read_all(fresh, err));
    *r = fresh;
    fresh = NULL;
done:
    core_run_close(&fresh);
    return status;
}

const core_run_info *core_run_describe(const core_run_reader *r) {
    return &r->info;
}

/// Grains that are there have a finite value. n: values a grain.
static core_status check_present(const core_run_reader *r, int64_t frame, const char *name, int n, const double *values,
                                 core_error *err) {
    for (int i = 0; i < r->info.count_rows; i++) {
        for (int k = 0; k < n && r->id[i] >= 0; k++) {
            double value = values[(size_t)i * (size_t)n + (size_t)k];
            CORE_CHECK(isfinite(value), CORE_NONFINITE, "%s: %s: %g for grain %d in frame %lld", core_h5_path(r->file),
                       name, value, (int)r->id[i], (long long)frame);
        }
    }
    return CORE_OK;
}

/// The grains' state of frame i; r->id is filled.
static core_status read_state(core_run_reader *r, int64_t i, const core_run_frame *frame, core_error *err) {
    const size_t scalar[2] = {(size_t)r->info.count_rows, 0}, vector[2] = {(size_t)r->info.count_rows, 2};
    const struct {
        const char *path;
        int n; // values a grain
        double *data;
    } list[] = {{CORE_RUN_GRAINS "/position/value", 2, frame->position},
                {CORE_RUN_GRAINS "/orientation/value", 1, frame->orientation},
                {CORE_RUN_GRAINS "/velocity/value", 2, frame->velocity},
                {CORE_RUN_GRAINS "/angular_velocity/value", 1, frame->angular_velocity}};
    CORE_TRY(core_h5_series_read(r->file, CORE_RUN_GRAINS "/id/value", CORE_H5_I32, 1, scalar, (size_t)i, r->id, err));
    for (int k = 0; k < r->info.count_rows; k++) {
        CORE_CHECK(r->id[k] >= -1, CORE_FORMAT, "%s: %s: %d in row %d of frame %lld; expected -1 or above",
                   core_h5_path(r->file), CORE_RUN_GRAINS "/id/value", (int)r->id[k], k, (long long)i);
    }
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        if (!list[k].data) continue;
        CORE_TRY(core_h5_series_read(r->file, list[k].path, CORE_H5_F64, list[k].n, list[k].n == 2 ? vector : scalar,
                                     (size_t)i, list[k].data, err));
        CORE_TRY(check_present(r, i, list[k].path, list[k].n, list[k].data, err));
    }
    if (frame->id) memcpy(frame->id, r->id, (size_t)r->info.count_rows * sizeof *r->id);
    return CORE_OK;
}

/// Numbers that have to be finite.
static core_status read_finite(core_run_reader *r, const char *path, int count, int64_t i, double *values,
                               core_error *err) {
    const size_t row[2] = {(size_t)count, 3};
    CORE_TRY(core_h5_series_read(r->file, path, CORE_H5_F64, 2, row, (size_t)i, values, err));
    for (int k = 0; k < 3 * count; k++)
        CORE_CHECK(isfinite(values[k]), CORE_NONFINITE, "%s: %s: %g in frame %lld", core_h5_path(r->file), path,
                   values[k], (long long)i);
    return CORE_OK;
}

/// Planes, walls and images of frame i.
static core_status read_boundaries(core_run_reader *r, int64_t i, core_run_frame *frame, core_error *err) {
    const size_t planes = (size_t)r->info.count_planes, walls = (size_t)r->info.count_walls;
    const size_t rows = (size_t)r->info.count_rows;
    if (planes > 0 && frame->plane_present) {
        CORE_TRY(core_h5_series_read(r->file, CORE_RUN_PLANE_PRESENT "/value", CORE_H5_U8, 1, &planes, (size_t)i,
                                     frame->plane_present, err));
    }
    for (int p = 0; p < r->info.count_planes && frame->plane; p++) { // a file without poses: planes at rest
        const core_run_plane *plane = &r->planes[p];
        const double now[3] = {plane->normal[0], plane->normal[1], plane->offset};
        memcpy(frame->plane + 3 * (size_t)p, now, sizeof now);
    }
    if (planes > 0 && frame->plane && core_h5_exists(r->file, CORE_RUN_PLANE))
        CORE_TRY(read_finite(r, CORE_RUN_PLANE "/value", (int)planes, i, frame->plane, err));
    if (walls > 0 && frame->wall_present) {
        CORE_TRY(core_h5_series_read(r->file, CORE_RUN_WALL_PRESENT "/value", CORE_H5_U8, 1, &walls, (size_t)i,
                                     frame->wall_present, err));
    }
    if (walls > 0 && frame->wall_pose)
        CORE_TRY(read_finite(r, CORE_RUN_WALL_POSE "/value", (int)walls, i, frame->wall_pose, err));
    if (!frame->image) return CORE_OK;
    memset(frame->image, 0, rows * sizeof *frame->image);
    if (!(r->info.period[0] < r->info.period[1])) return CORE_OK;
    return core_h5_series_read(r->file, CORE_RUN_GRAINS "/image/value", CORE_H5_I32, 1, &rows, (size_t)i, frame->image,
                               err);
}

/// Observables, boundaries and phase of frame i.
static core_status read_extras(core_run_reader *r, int64_t i, core_run_frame *frame, core_error *err) {
    char path[CORE_RUN_PATH_MAX];
    for (int k = 0; k < r->info.count_observables && frame->observables; k++) {
        snprintf(path, sizeof path, CORE_RUN_OBSERVABLES "/%s/value", r->observable_names[k]);
        CORE_TRY(core_h5_series_read(r->file, path, CORE_H5_F64, 0, NULL, (size_t)i, &frame->observables[k], err));
    }
    CORE_TRY(read_boundaries(r, i, frame, err));
    CORE_TRY(
        core_h5_series_read(r->file, CORE_RUN_PHASE "/value", CORE_H5_I32, 0, NULL, (size_t)i, &frame->phase, err));
    CORE_CHECK(frame->phase >= 0, CORE_FORMAT, "%s: %s: phase %d in frame %lld", core_h5_path(r->file),
               CORE_RUN_PHASE "/value", (int)frame->phase, (long long)i);
    return core_h5_series_read(r->file, CORE_RUN_STEP, CORE_H5_I64, 0, NULL, (size_t)i, &frame->step, err);
}

core_status core_run_read(core_run_reader *r, int64_t i, core_run_frame *frame, core_error *err) {
    CORE_CHECK(r && frame, CORE_ARG, "core_run_read: null argument");
    CORE_CHECK(i >= 0 && i < r->info.count_frames, CORE_RANGE, "%s: frame %lld; there are %lld", core_h5_path(r->file),
               (long long)i, (long long)r->info.count_frames);
    CORE_TRY(read_state(r, i, frame, err));
    CORE_TRY(read_extras(r, i, frame, err));
    frame->time = r->times[i];
    return CORE_OK;
}

core_status core_run_read_contacts(core_run_reader *r, int64_t i, core_run_contact **contacts, int64_t *n,
                                   core_error *err) {
    CORE_CHECK(r && contacts && n, CORE_ARG, "core_run_read_contacts: null argument");
    CORE_CHECK(r->info.contacts, CORE_UNSUPPORTED, "%s: the run has no contact rows (scene key output.contacts)",
               core_h5_path(r->file));
    CORE_CHECK(i >= 0 && i < r->info.count_frames, CORE_RANGE, "%s: frame %lld; there are %lld", core_h5_path(r->file),
               (long long)i, (long long)r->info.count_frames);
    return core__run_contacts_read(r->file, i, r->info.count_rows, r->info.count_planes + r->info.count_walls, contacts,
                                   n, err);
}

int64_t core_run_frame_at(const core_run_reader *r, double t) {
    int64_t n = r->info.count_frames;
    if (n == 0 || isnan(t)) return n - 1;
    int64_t low = 0, high = n - 1; // the first frame at or after t lies in [low, high], or high is the last
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (r->times[middle] < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool earlier = low > 0 && t - r->times[low - 1] <= r->times[low] - t;
    return earlier ? low - 1 : low;
}

core_status core_run_phase_start(core_run_reader *r, int32_t phase, int64_t *frame, core_error *err) {
    CORE_CHECK(r && frame, CORE_ARG, "core_run_phase_start: null argument");
    core_run_frame only_phase = {0};
    int64_t low = 0, high = r->info.count_frames; // the first frame of that phase lies in [low, high]
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        CORE_TRY(core_run_read(r, middle, &only_phase, err));
        if (only_phase.phase >= phase) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *frame = low < r->info.count_frames ? low : -1;
    return CORE_OK;
}

int core_run_observable_index(const core_run_reader *r, const char *name) {
    for (int i = 0; name && i < r->info.count_observables; i++) {
        if (strcmp(r->observable_names[i], name) == 0) return i;
    }
    return -1;
}

void core_run_close(core_run_reader **r) {
    if (!r || !*r) return;
    core_run_reader *old = *r;
    core_h5_close(&old->file);
    for (int i = 0; i < old->info.count_types; i++) core_outline_clear(&old->types[i].outline);
    core_free(old->types);
    for (int i = 0; i < old->info.count_walls; i++) core_free(old->walls[i].points);
    core_free(old->planes);
    core_free(old->walls);
    core_free(old->prescribed);
    core_free(old->observable_names);
    core_free(old->phase_names);
    core_free(old->species);
    core_free(old->id);
    core_free(old->mass);
    core_free(old->times);
    core_free(old->scene_text);
    core_free(old->scene_path);
    core_free(old->title);
    core_free(old);
    *r = NULL;
}

// ---------------------------------------------------------------------------------------------- frames in memory

core_status core_run_frame_create(int count_rows, int count_observables, int count_planes, core_run_frame *frame,
                                  core_error *err) {
    CORE_CHECK(frame && count_rows >= 0 && count_observables >= 0 && count_planes >= 0, CORE_ARG,
               "core_run_frame_create: %d rows, %d observables, %d planes", count_rows, count_observables,
               count_planes);
    core_status status = CORE_OK;
    core_run_frame fresh = {0};
    size_t n = (size_t)count_rows;
    CORE_NEW_DONE(fresh.position, 2 * n);
    CORE_NEW_DONE(fresh.orientation, n);
    CORE_NEW_DONE(fresh.velocity, 2 * n);
    CORE_NEW_DONE(fresh.angular_velocity, n);
    CORE_NEW_DONE(fresh.id, n);
    CORE_NEW_DONE(fresh.observables, (size_t)count_observables);
    CORE_NEW_DONE(fresh.image, n);
    CORE_NEW_DONE(fresh.plane_present, (size_t)count_planes);
    CORE_NEW_DONE(fresh.plane, 3 * (size_t)count_planes);
    *frame = fresh;
    fresh = (core_run_frame){0};
done:
    core_run_frame_clear(&fresh);
    return status;
}

core_status core_run_frame_add_walls(int count_walls, core_run_frame *frame, core_error *err) {
    CORE_CHECK(frame && count_walls >= 0, CORE_ARG, "core_run_frame_add_walls: %d walls", count_walls);
    core_status status = CORE_OK;
    core_run_frame fresh = {0};
    CORE_NEW_DONE(fresh.wall_present, (size_t)count_walls);
    CORE_NEW_DONE(fresh.wall_pose, 3 * (size_t)count_walls);
    core_free(frame->wall_present);
    core_free(frame->wall_pose);
    frame->wall_present = fresh.wall_present;
    frame->wall_pose = fresh.wall_pose;
    fresh = (core_run_frame){0};
done:
    core_run_frame_clear(&fresh);
    return status;
}

void core_run_frame_clear(core_run_frame *frame) {
    if (!frame) return;
    core_free(frame->position);
    core_free(frame->orientation);
    core_free(frame->velocity);
    core_free(frame->angular_velocity);
    core_free(frame->id);
    core_free(frame->observables);
    core_free(frame->plane_present);
    core_free(frame->plane);
    core_free(frame->wall_present);
    core_free(frame->wall_pose);
    core_free(frame->image);
    *frame = (core_run_frame){0};
}
