/// Checkpoints: scene, world, where a run is in its phases, pours and outlets, in one file from which it goes on to the
/// same bits. Layout: data/README.md.
#include "sim_private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FORMAT "cem.checkpoint"
#define VERSION 4 // 2: where motions start; 3: of a pair only what the next step reads; 4: the dashpots' share
#define SCENE_TEXT "/scene/text"
#define SCENE_PATH "/scene/path"
#define SCENE_MAPS "/scene/maps"
#define POUR_WORDS 7 // random state, rows entered, start, stop

// ---------------------------------------------------------------------------------------------- file

core_status sim_checkpoint_open(const char *path, core_h5 **file, core_error *err) {
    return core_h5_open_whole(path, FORMAT, VERSION, file, err);
}

core_status sim_checkpoint_scene(core_h5 *file, sim_scene *scene, core_error *err) {
    core_status status = CORE_OK;
    char *text = NULL, *scene_path = NULL, *maps = NULL;
    sim_scene read = {0};
    CORE_CHECK(file && scene, CORE_ARG, "sim_checkpoint_scene: null pointer");
    CORE_TRY_DONE(core_h5_read_text(file, SCENE_TEXT, &text, err));
    CORE_TRY_DONE(core_h5_read_text(file, SCENE_PATH, &scene_path, err));
    CORE_TRY_DONE(core_h5_read_text(file, SCENE_MAPS, &maps, err));
    status = sim_scene_read_text(text, scene_path, &read, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s", core_h5_path(file));
        goto done;
    }
    if (maps[0]) { // the run may have had others than the scene names
        core_free(read.maps_path);
        read.maps_path = maps;
        maps = NULL;
    }
    *scene = read;
    read = (sim_scene){0};
done:
    sim_scene_clear(&read);
    core_free(text);
    core_free(scene_path);
    core_free(maps);
    return status;
}

// ---------------------------------------------------------------------------------------------- what must be the same

static uint64_t hash_motion(uint64_t hash, const sim_motion_def *motion) {
    return motion->count_rows > 0
               ? core_hash_bytes(hash, motion->table, 4 * (size_t)motion->count_rows * sizeof *motion->table)
               : hash;
}

static uint64_t hash_inputs(const sim_scene *scene, const sim_setup *setup) {
    uint64_t hash = core_hash_bytes(0, &setup->maps_hash, sizeof setup->maps_hash);
    for (int t = 0; t < scene->count_types; ++t) {
        const uint64_t outline = core_outline_hash(&scene->types[t].shape.outline);
        hash = core_hash_bytes(hash, &outline, sizeof outline);
    }
    for (int i = 0; i < scene->count_boundaries; ++i) hash = hash_motion(hash, &scene->boundaries[i].motion);
    for (int i = 0; i < scene->count_bodies; ++i) hash = hash_motion(hash, &scene->bodies[i].motion);
    for (int i = 0; i < scene->count_place; ++i)
        hash = core_hash_bytes(hash, &scene->place[i].type, sizeof scene->place[i].type);
    return hash;
}

static core_status write_inputs(core_h5 *file, const sim_scene *scene, const sim_setup *setup, core_error *err) {
    const int64_t hash = (int64_t)hash_inputs(scene, setup);
    CORE_TRY(core_h5_write_text(file, SCENE_TEXT, scene->text, "the scene with all overrides, YAML", err));
    CORE_TRY(core_h5_write_text(file, SCENE_PATH, scene->path, "its file: other files are named from its folder", err));
    CORE_TRY(
        core_h5_write_text(file, SCENE_MAPS, setup->maps_path ? setup->maps_path : "", "contact maps, if any", err));
    CORE_TRY(core_h5_write(file, "/scene/inputs", CORE_H5_I64, 0, NULL, &hash, NULL,
                           "hash of shapes, maps and CSV files", err));
    return core_h5_write(file, "/scene/dt", CORE_H5_F64, 0, NULL, &setup->dt, "s", "time step", err);
}

static core_status check_inputs(core_h5 *file, const sim_scene *scene, const sim_setup *setup, core_error *err) {
    int64_t hash;
    double dt;
    CORE_TRY(core_h5_read(file, "/scene/inputs", CORE_H5_I64, 0, NULL, &hash, false, err));
    CORE_CHECK((uint64_t)hash == hash_inputs(scene, setup), CORE_FORMAT,
               "%s: shapes, maps or CSV files of %s are not those of the run: found %016" PRIx64
               ", expected %016" PRIx64 ". Restore them, or run the scene from its start",
               core_h5_path(file), scene->path, hash_inputs(scene, setup), (uint64_t)hash);
    CORE_TRY(core_h5_read(file, "/scene/dt", CORE_H5_F64, 0, NULL, &dt, true, err));
    CORE_CHECK(fabs(dt - setup->dt) <= 0, CORE_FORMAT, "%s: /scene/dt: found %.17g s, expected %.17g s by the scene",
               core_h5_path(file), dt, setup->dt);
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- where the run is

static core_status write_moment(core_h5 *file, const sim_moment *m, core_error *err) {
    const int64_t at[3] = {m->phase, m->step_of_phase, m->calm};
    const size_t three = 3;
    CORE_TRY(core_h5_write(file, "/run/at", CORE_H5_I64, 1, &three, at, NULL,
                           "phase, its steps so far, steps in a row that were calm", err));
    return core_h5_write(file, "/run/next_output", CORE_H5_F64, 0, NULL, &m->next_output, NULL,
                         "the next frame is due at this times output.every", err);
}

static core_status read_moment(core_h5 *file, const sim_scene *scene, sim_moment *m, core_error *err) {
    int64_t at[3];
    const size_t three = 3;
    CORE_TRY(core_h5_read(file, "/run/at", CORE_H5_I64, 1, &three, at, false, err));
    CORE_CHECK(at[0] >= 0 && at[0] <= scene->count_phases && at[1] >= 0 && at[2] >= 0, CORE_FORMAT,
               "%s: /run/at: found phase %" PRId64 " after %" PRId64 " steps, expected one of %d", core_h5_path(file),
               at[0], at[1], scene->count_phases);
    CORE_TRY(core_h5_read(file, "/run/next_output", CORE_H5_F64, 0, NULL, &m->next_output, true, err));
    m->phase = (int)at[0], m->step_of_phase = at[1], m->calm = at[2];
    return CORE_OK;
}

// Pours and outlets as the file holds them.
typedef struct flow_rows {
    int64_t *words; // (pours x POUR_WORDS)
    double *due;    // (pours) s
    int64_t *steps; // (outlets x 3) start, stop, grains taken out
    double *mass;   // (outlets) kg
} flow_rows;

static void flow_rows_clear(flow_rows *rows) {
    core_free(rows->words);
    core_free(rows->due);
    core_free(rows->steps);
    core_free(rows->mass);
}

static core_status flow_rows_create(size_t pours, size_t outlets, flow_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(rows->words, pours * POUR_WORDS);
    CORE_NEW_DONE(rows->due, pours);
    CORE_NEW_DONE(rows->steps, 3 * outlets);
    CORE_NEW_DONE(rows->mass, outlets);
done:
    return status; // the caller clears
}

static core_status write_flow(core_h5 *file, const sim_scene *scene, const sim_flow *flow, core_error *err) {
    core_status status = CORE_OK;
    const size_t pours = (size_t)scene->count_pours, outlets = (size_t)scene->count_outlets;
    const size_t pour_dims[2] = {pours, POUR_WORDS}, outlet_dims[2] = {outlets, 3};
    flow_rows rows = {0};
    CORE_TRY_DONE(flow_rows_create(pours, outlets, &rows, err));
    for (size_t i = 0; i < pours; ++i) {
        const sim_pour *p = &flow->pour[i];
        memcpy(rows.words + i * POUR_WORDS, p->random.s, sizeof p->random.s);
        const int64_t rest[3] = {p->entered, p->start, p->stop};
        memcpy(rows.words + i * POUR_WORDS + 4, rest, sizeof rest);
        rows.due[i] = p->due;
    }
    for (size_t i = 0; i < outlets; ++i) {
        const sim_outlet *o = &flow->outlet[i];
        const int64_t row[3] = {o->start, o->stop, o->count};
        memcpy(rows.steps + 3 * i, row, sizeof row);
        rows.mass[i] = o->mass;
    }
    CORE_TRY_DONE(core_h5_write(file, "/run/pours", CORE_H5_I64, 2, pour_dims, rows.words, NULL,
                                "random state (4), grains entered, steps of its start and stop (-1: not yet)", err));
    CORE_TRY_DONE(
        core_h5_write(file, "/run/pours_due", CORE_H5_F64, 1, &pours, rows.due, "s", "of the next grain", err));
    CORE_TRY_DONE(core_h5_write(file, "/run/outlets", CORE_H5_I64, 2, outlet_dims, rows.steps, NULL,
                                "steps of its start and stop (-1: not yet), grains taken out", err));
    status = core_h5_write(file, "/run/outlets_mass", CORE_H5_F64, 1, &outlets, rows.mass, "kg", "taken out", err);
done:
    flow_rows_clear(&rows);
    return status;
}

static core_status read_flow(core_h5 *file, const sim_scene *scene, sim_flow *flow, core_error *err) {
    core_status status = CORE_OK;
    const size_t pours = (size_t)scene->count_pours, outlets = (size_t)scene->count_outlets;
    const size_t pour_dims[2] = {pours, POUR_WORDS}, outlet_dims[2] = {outlets, 3};
    flow_rows rows = {0};
    CORE_TRY_DONE(flow_rows_create(pours, outlets, &rows, err));
    CORE_TRY_DONE(core_h5_read(file, "/run/pours", CORE_H5_I64, 2, pour_dims, rows.words, false, err));
    CORE_TRY_DONE(core_h5_read(file, "/run/pours_due", CORE_H5_F64, 1, &pours, rows.due, true, err));
    CORE_TRY_DONE(core_h5_read(file, "/run/outlets", CORE_H5_I64, 2, outlet_dims, rows.steps, false, err));
    CORE_TRY_DONE(core_h5_read(file, "/run/outlets_mass", CORE_H5_F64, 1, &outlets, rows.mass, true, err));
    for (size_t i = 0; i < pours; ++i) {
        sim_pour *p = &flow->pour[i];
        const int64_t *w = rows.words + i * POUR_WORDS;
        CORE_CHECK_DONE(w[4] >= 0 && w[4] <= scene->pours[i].count, CORE_FORMAT,
                        "%s: /run/pours: found %" PRId64 " grains entered in row %zu, expected 0 .. %d",
                        core_h5_path(file), w[4], i, scene->pours[i].count);
        memcpy(p->random.s, w, sizeof p->random.s);
        p->entered = (int)w[4], p->start = w[5], p->stop = w[6], p->due = rows.due[i];
    }
    for (size_t i = 0; i < outlets; ++i) {
        sim_outlet *o = &flow->outlet[i];
        const int64_t *row = rows.steps + 3 * i;
        o->start = row[0], o->stop = row[1], o->count = row[2], o->mass = rows.mass[i];
    }
done:
    flow_rows_clear(&rows);
    return status;
}

// ---------------------------------------------------------------------------------------------- whole files

core_status sim_checkpoint_write(const char *path, const sim_scene *scene, const sim_setup *setup,
                                 const sim_moment *moment, const core_h5_provenance *provenance, core_error *err) {
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    CORE_TRY_DONE(core_h5_create(path, FORMAT, VERSION, &file, err));
    CORE_TRY_DONE(core_h5_write_provenance(file, provenance, err));
    CORE_TRY_DONE(write_inputs(file, scene, setup, err));
    CORE_TRY_DONE(write_moment(file, moment, err));
    CORE_TRY_DONE(write_flow(file, scene, &setup->flow, err));
    CORE_TRY_DONE(sim_world_save(setup->world, file, err));
    status = core_h5_rotate(&file, err);
done:
    core_h5_abandon(&file);
    return status;
}

core_status sim_checkpoint_read(core_h5 *file, const sim_scene *scene, sim_setup *setup, sim_moment *moment,
                                core_error *err) {
    CORE_TRY(check_inputs(file, scene, setup, err));
    CORE_TRY(read_moment(file, scene, moment, err));
    CORE_TRY(read_flow(file, scene, &setup->flow, err));
    return sim_world_restore(setup->world, file, err);
}
