/// Checkpoints of the continuum solver (RUN.checkpoint.h5; listed in data/README.md): everything that the next step
/// reads - particles in their order, pressure and stress of the last step - the scene, and where the run is.
#include "fluid_scene_private.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define FORMAT "cem.fluid_checkpoint"
#define VERSION 3 // 2: hash of the shapes; 3: motions
#define INPUTS "/run/inputs"
#define MOTIONS "/run/motions"

// A dataset of the world. rows: of particles or of cells.
typedef struct field {
    char name[64];
    double *values;
    bool of_cells;
} field;

#define FIELDS_MAX 64

// All float64 arrays that a step reads before it writes them.
static int list_fields(const fluid_world *w, field *list) {
    int n = 0;
    const int dim = w->grid.dim;
    for (int a = 0; a < dim; ++a) {
        snprintf(list[n].name, sizeof list->name, "/particles/x%d", a);
        list[n++].values = w->p.x[a];
        snprintf(list[n].name, sizeof list->name, "/particles/v%d", a);
        list[n++].values = w->p.v[a];
        for (int b = 0; b < dim && w->def.affine; ++b) {
            snprintf(list[n].name, sizeof list->name, "/particles/c%d%d", a, b);
            list[n++].values = w->p.c[3 * a + b];
        }
    }
    for (int i = 0; i < n; ++i) list[i].of_cells = false;
    const int first_of_cells = n;
    snprintf(list[n].name, sizeof list->name, "/grid/q");
    list[n++].values = w->q;
    for (int a = 0; a < dim && w->def.material == FLUID_SAND; ++a) {
        snprintf(list[n].name, sizeof list->name, "/grid/stress%d", a);
        list[n++].values = w->stress.diagonal[a];
        snprintf(list[n].name, sizeof list->name, "/grid/wall%d", a);
        list[n++].values = w->stress.wall[a];
    }
    for (int p = 0; p < 4 * fluid__pairs(dim) && w->def.material == FLUID_SAND; ++p) {
        snprintf(list[n].name, sizeof list->name, "/grid/shear%d%d", p / 4, p % 4);
        list[n++].values = w->stress.shear[p / 4][p % 4];
    }
    for (int i = first_of_cells; i < n; ++i) list[i].of_cells = true;
    return n;
}

// Of the files beside the scene.
static uint64_t hash_inputs(const fluid_scene *scene) {
    uint64_t hash = 0;
    for (int i = 0; i < scene->count_shapes; ++i)
        hash = core_hash_bytes(hash, &scene->shapes[i].hash, sizeof scene->shapes[i].hash);
    for (int b = 0; b < scene->count_boundaries; ++b) {
        const core_motion *m = &scene->solids[scene->boundaries[b].first].motion;
        if (m->count_rows > 0) hash = core_hash_bytes(hash, m->table, 4 * (size_t)m->count_rows * sizeof *m->table);
    }
    return hash;
}

// ---------------------------------------------------------------------------------------------- writing

static core_status write_world(core_h5 *file, const fluid_world *w, core_error *err) {
    field list[FIELDS_MAX];
    const int n = list_fields(w, list);
    const size_t particles = (size_t)w->p.n, cells = (size_t)w->grid.count;
    for (int i = 0; i < n; ++i)
        CORE_TRY(core_h5_write(file, list[i].name, CORE_H5_F64, 1, list[i].of_cells ? &cells : &particles,
                               list[i].values, NULL, NULL, err));
    CORE_TRY(core_h5_write(file, "/particles/id", CORE_H5_I32, 1, &particles, w->p.id, NULL,
                           "in the order of the particles' arrays", err));
    const double numbers[3] = {w->time, w->speed_max, w->warm_dt};
    CORE_TRY(core_h5_set_numbers(file, "/grid", "time_speed_warm", 3, numbers, err));
    if (w->def.periodic)
        CORE_TRY(core_h5_write(file, "/particles/image", CORE_H5_I32, 1, &particles, w->p.image, NULL,
                               "periods that x has left behind", err));
    return core_h5_set_integer(file, "/grid", "step", w->step, err);
}

static core_status write_moment(core_h5 *file, const fluid_moment *m, core_error *err) {
    const size_t five = 5;
    const double values[5] = {m->phase, m->begun, m->phase_start, m->calm_since, (double)m->next_output};
    return core_h5_write(file, "/run/moment", CORE_H5_F64, 1, &five, values, NULL,
                         "phase, whether it has begun, its start (s), calm since (s; NaN: not), multiple of the output "
                         "interval due next",
                         err);
}

// Start and stop of each solid's motion; nothing if none has one.
static core_status write_motions(core_h5 *file, const fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    double *times = NULL;
    const size_t size[2] = {(size_t)w->count_solids, 2};
    if (!w->moves) return CORE_OK;
    CORE_NEW_DONE(times, 2 * size[0]);
    for (int i = 0; i < w->count_solids; ++i) times[2 * i] = w->mover[i].start, times[2 * i + 1] = w->mover[i].stop;
    status = core_h5_write(file, MOTIONS, CORE_H5_F64, 2, size, times, "s", "start, stop; infinity: not yet", err);
done:
    core_free(times);
    return status;
}

core_status fluid__checkpoint_write(const char *path, const fluid_scene *scene, const fluid_world *world,
                                    const fluid_moment *moment, const core_h5_provenance *provenance, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    const int64_t inputs = (int64_t)hash_inputs(scene);
    CORE_TRY_DONE(core_h5_create(path, FORMAT, VERSION, &file, err));
    CORE_TRY_DONE(core_h5_write_provenance(file, provenance, err));
    CORE_TRY_DONE(core_h5_write_text(file, "/run/scene", scene->text, "resolved", err));
    CORE_TRY_DONE(core_h5_write_text(file, "/run/scene_path", scene->path, NULL, err));
    CORE_TRY_DONE(core_h5_write(file, INPUTS, CORE_H5_I64, 0, NULL, &inputs, NULL,
                                "hash of the shapes and of the tables of motions", err));
    CORE_TRY_DONE(write_moment(file, moment, err));
    CORE_TRY_DONE(write_motions(file, world, err));
    CORE_TRY_DONE(write_world(file, world, err));
    status = core_h5_rotate(&file, err);
done:
    core_h5_abandon(&file);
    return status;
}

// ---------------------------------------------------------------------------------------------- reading

bool fluid_checkpoint_claims(const char *path) {
    core_h5 *file = NULL;
    const bool ours = path && core_h5_open(path, FORMAT, INT_MAX, &file, NULL) == CORE_OK;
    core_h5_close(&file);
    return ours;
}

core_status fluid_checkpoint_open(const char *path, core_h5 **file, core_error *err) {
    return core_h5_open_whole(path, FORMAT, VERSION, file, err);
}

core_status fluid_checkpoint_scene(core_h5 *file, fluid_scene *scene, core_error *err) {
    CORE_CHECK(file && scene, CORE_ARG, "fluid_checkpoint_scene: null file or scene");
    core_status status = CORE_OK;
    char *text = NULL, *scene_path = NULL;
    CORE_TRY_DONE(core_h5_read_text(file, "/run/scene", &text, err));
    CORE_TRY_DONE(core_h5_read_text(file, "/run/scene_path", &scene_path, err));
    status = fluid_scene_read_text(text, scene_path, scene, err);
    if (status != CORE_OK) core_error_prefix(err, status, "%s", core_h5_path(file));
done:
    core_free(text);
    core_free(scene_path);
    return status;
}

static core_status check_inputs(core_h5 *file, const fluid_scene *scene, core_error *err) {
    int64_t hash;
    CORE_TRY(core_h5_read(file, INPUTS, CORE_H5_I64, 0, NULL, &hash, false, err));
    CORE_CHECK((uint64_t)hash == hash_inputs(scene), CORE_FORMAT,
               "%s: shapes of %s are not those of the run: found %016" PRIx64 ", expected %016" PRIx64
               ". Restore them, or run the scene from its start",
               core_h5_path(file), scene->path, hash_inputs(scene), (uint64_t)hash);
    return CORE_OK;
}

static core_status read_moment(core_h5 *file, const fluid_scene *scene, fluid_moment *m, core_error *err) {
    const size_t five = 5;
    double v[5];
    CORE_TRY(core_h5_read(file, "/run/moment", CORE_H5_F64, 1, &five, v, false, err));
    CORE_CHECK(v[0] >= 0 && v[0] <= scene->count_phases && v[2] >= 0 && isfinite(v[2]) && v[4] >= 0 && v[4] < 9e15,
               CORE_FORMAT,
               "%s: /run/moment: found phase %g, start %g s, output %g; expected a phase up to %d, others from 0",
               core_h5_path(file), v[0], v[2], v[4], scene->count_phases);
    *m = (fluid_moment){(int)v[0], v[1] > 0, v[2], v[3], (int64_t)v[4]};
    return CORE_OK;
}

static core_status read_ids(core_h5 *file, fluid_world *w, core_error *err) {
    const size_t n = (size_t)w->p.n;
    CORE_TRY(core_h5_read(file, "/particles/id", CORE_H5_I32, 1, &n, w->p.id, false, err));
    for (int i = 0; i < w->p.n; ++i) w->order[i] = 0;
    for (int i = 0; i < w->p.n; ++i) {
        const int id = w->p.id[i];
        CORE_CHECK(id >= 0 && id < w->p.n && w->order[id] == 0, CORE_FORMAT,
                   "%s: /particles/id: found %d in row %d, expected 0 .. %d, each once", core_h5_path(file), id, i,
                   w->p.n - 1);
        w->order[id] = 1;
    }
    return CORE_OK;
}

static core_status read_world(core_h5 *file, fluid_world *w, core_error *err) {
    field list[FIELDS_MAX];
    const size_t cells = (size_t)w->grid.count;
    size_t particles = 0;
    int rank = 0;
    double numbers[3];
    CORE_TRY(core_h5_size(file, "/particles/id", 1, &rank, &particles, err));
    CORE_CHECK(rank == 1 && particles >= 1 && particles <= (size_t)w->p.capacity, CORE_FORMAT,
               "%s: /particles/id: found %zu rows, expected 1 .. %d", core_h5_path(file), particles, w->p.capacity);
    w->p.n = (int)particles;
    const int n = list_fields(w, list);
    for (int i = 0; i < n; ++i)
        CORE_TRY(core_h5_read(file, list[i].name, CORE_H5_F64, 1, list[i].of_cells ? &cells : &particles,
                              list[i].values, true, err));
    CORE_TRY(read_ids(file, w, err));
    if (w->def.periodic)
        CORE_TRY(core_h5_read(file, "/particles/image", CORE_H5_I32, 1, &particles, w->p.image, false, err));
    CORE_TRY(core_h5_get_numbers(file, "/grid", "time_speed_warm", 3, numbers, err));
    for (int i = 0; i < 3; ++i)
        CORE_CHECK(numbers[i] >= 0 && isfinite(numbers[i]), CORE_FORMAT,
                   "%s: /grid: time_speed_warm: found %g, expected finite numbers from 0", core_h5_path(file),
                   numbers[i]);
    CORE_TRY(core_h5_get_integer(file, "/grid", "step", &w->step, err));
    CORE_CHECK(w->step >= 0 && w->step <= CORE_STEP_MAX, CORE_FORMAT, "%s: /grid: step: found %lld", core_h5_path(file),
               (long long)w->step);
    w->time = numbers[0], w->speed_max = numbers[1], w->warm_dt = numbers[2];
    return CORE_OK;
}

static core_status read_motions(core_h5 *file, fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    double *times = NULL;
    const size_t size[2] = {(size_t)w->count_solids, 2};
    if (!w->moves) return CORE_OK;
    CORE_NEW_DONE(times, 2 * size[0]);
    CORE_TRY_DONE(core_h5_read(file, MOTIONS, CORE_H5_F64, 2, size, times, false, err));
    for (int i = 0; i < w->count_solids; ++i) {
        const double start = times[2 * i], stop = times[2 * i + 1];
        CORE_CHECK_DONE(start >= 0 && stop >= 0, CORE_FORMAT, "%s: %s: row %d: found %g, %g; expected times from 0 on",
                        core_h5_path(file), MOTIONS, i, start, stop);
        w->mover[i].start = start;
        w->mover[i].stop = stop;
        fluid__solid_pose(w, i, w->time);
    }
    fluid__solid_update(w);
done:
    core_free(times);
    return status;
}

core_status fluid__checkpoint_read(core_h5 *file, const fluid_scene *scene, fluid_world *world, fluid_moment *moment,
                                   core_error *err) {
    CORE_TRY(check_inputs(file, scene, err));
    CORE_TRY(read_moment(file, scene, moment, err));
    CORE_TRY(read_world(file, world, err));
    for (int k = 0; k < moment->phase + moment->begun && k < scene->count_phases; ++k)
        CORE_TRY(fluid__begin_phase(scene, k, world, err));
    return read_motions(file, world, err); // when they really began and ended
}
