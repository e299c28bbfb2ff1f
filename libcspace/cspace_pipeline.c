// From shape files to a bundle of maps: grids, samples, training for every pair, reusing what is current. Every stage
// writes its product before the next begins, so an interrupted job goes on where it was. Files and rules:
// libcspace/README.md, "Pipeline".
#include "cspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIPELINE_COOKIE 0x706970
#define SHAPES_MAX 64
#define RATIO_TOLERANCE 1e-6
// What things cost on one core of 2.5 GHz, for the estimate that is shown before the work begins (README.md,
// "Pipeline").
#define SECONDS_PER_LABEL 60e-6   // an accepted pose with the rejected ones before it
#define INPUTS_ABOUT 10           // of a net
#define SECONDS_PER_WEIGHT 0.2e-9 // of a net, a row and a pass over it

core_status cspace_pipeline_default_def(const char *recipe, cspace_pipeline_def *def, core_error *err) {
    CORE_CHECK(recipe && def, CORE_ARG, "cspace_pipeline_default_def: null argument");
    cspace_pipeline_def d = {.cookie = PIPELINE_COOKIE,
                             .resolution = 256,
                             .margin = 1.0,
                             .read = sdf_read_default_def(),
                             .sample = cspace_sample_default_def()};
    CORE_TRY(cspace_train_recipe(recipe, &d.train, err));
    *def = d;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- state of a job

// A shape of one size: what a pair is made of.
typedef struct member {
    int shape; // index into job.shapes
    double radius;
} member;

typedef struct pair_plan {
    int a, b; // shapes, in stored order
    double ratio;
} pair_plan;

// Owns everything but the borrowed pointers.
typedef struct job {
    const cspace_pipeline_def *def;
    const core_h5_provenance *provenance;
    const core_progress *progress;
    const char *maps_path;
    char *cache; // folder of the intermediates
    int count_shapes;
    sdf_shape *shapes; // (count_shapes) distinct
    sdf_grid *grids;   // (count_shapes)
    int *resolutions;  // (count_shapes)
    int count_members;
    member *members;
    int count_pairs;
    pair_plan *pairs;
    cspace_bundle old; // the bundle that is there
    int count_kept;    // maps taken from it
    cspace_pipeline_report report;
} job;

static void job_clear(job *j) {
    for (int i = 0; i < j->count_shapes; i++) {
        sdf_shape_clear(&j->shapes[i]);
        sdf_grid_clear(&j->grids[i]);
    }
    core_free(j->shapes);
    core_free(j->grids);
    core_free(j->resolutions);
    core_free(j->members);
    core_free(j->pairs);
    core_free(j->cache);
    cspace_bundle_clear(&j->old);
    memset(j, 0, sizeof *j);
}

// Passes reports on with the number of the pair in front.
typedef struct pair_progress {
    const core_progress *to;
    int index, count;
} pair_progress;

static void report_pair(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    const pair_progress *p = user;
    char text[4 * CORE_NAME_MAX];
    snprintf(text, sizeof text, "pair %d of %d: %s", p->index + 1, p->count, stage);
    core_progress_report(p->to, text, done, total, unit, note);
}

// ---------------------------------------------------------------------------------------------- shapes and pairs

// Index of the shape read from `path`; the same outline under the same name counts once.
static core_status add_shape(job *j, const char *path, int *index, core_error *err) {
    core_status status = CORE_OK;
    sdf_shape shape = {0};
    CORE_TRY_DONE(sdf_shape_read(path, &j->def->read, &shape, err));
    for (int i = 0; i < j->count_shapes; i++) {
        if (strcmp(j->shapes[i].name, shape.name) != 0) continue;
        CORE_CHECK_DONE(j->shapes[i].hash == shape.hash, CORE_SHAPE,
                        "%s: another, different shape is called %s already; maps are found by name, so rename one file",
                        path, shape.name);
        *index = i;
        goto done;
    }
    CORE_CHECK_DONE(j->count_shapes < SHAPES_MAX, CORE_RANGE, "%s: more than %d shapes", path, SHAPES_MAX);
    char note[SDF_NOTE_MAX]; // the command's to tell
    status = sdf_resolution_choose(&shape, j->def->resolution, &j->resolutions[j->count_shapes], note, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s", path);
        goto done;
    }
    *index = j->count_shapes;
    j->shapes[j->count_shapes++] = shape;
    memset(&shape, 0, sizeof shape);
done:
    sdf_shape_clear(&shape);
    return status;
}

static core_status read_shapes(job *j, const cspace_pipeline_shape *shapes, int count, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(j->shapes, SHAPES_MAX);
    CORE_NEW_DONE(j->grids, SHAPES_MAX);
    CORE_NEW_DONE(j->resolutions, SHAPES_MAX);
    CORE_NEW_DONE(j->members, (size_t)count);
    for (int i = 0; i < count; i++) {
        CORE_CHECK_DONE(shapes[i].path && isfinite(shapes[i].radius) && shapes[i].radius > 0.0, CORE_ARG,
                        "%s: radius %g, expected a positive number", shapes[i].path ? shapes[i].path : "(no path)",
                        shapes[i].radius);
        member m = {0, shapes[i].radius};
        CORE_TRY_DONE(add_shape(j, shapes[i].path, &m.shape, err));
        j->members[j->count_members++] = m;
    }
done:
    return status;
}

// Notes the pair of two members in its stored order, once.
static void plan_pair(job *j, const member *x, const member *y) {
    pair_plan plan = {x->shape, y->shape, y->radius / x->radius};
    if (fabs(plan.ratio - 1.0) <= RATIO_TOLERANCE) plan.ratio = 1.0;
    if (cspace_pair_is_swapped(j->shapes[plan.a].name, j->shapes[plan.b].name, plan.ratio))
        plan = (pair_plan){y->shape, x->shape, 1.0 / plan.ratio};
    for (int i = 0; i < j->count_pairs; i++)
        if (j->pairs[i].a == plan.a && j->pairs[i].b == plan.b &&
            fabs(j->pairs[i].ratio - plan.ratio) <= RATIO_TOLERANCE * plan.ratio)
            return;
    j->pairs[j->count_pairs++] = plan;
}

// Every two members, each with itself too.
static core_status plan_pairs(job *j, core_error *err) {
    core_status status = CORE_OK;
    const size_t n = (size_t)j->count_members;
    CORE_NEW_DONE(j->pairs, n * (n + 1) / 2);
    for (int i = 0; i < j->count_members; i++)
        for (int k = i; k < j->count_members; k++) plan_pair(j, &j->members[i], &j->members[k]);
done:
    return status;
}

// ---------------------------------------------------------------------------------------------- stages

// Cache file of a pair: "CACHE/A__B.samples.h5", with the ratio where it is not 1. Caller frees.
static core_status cache_path(const job *j, const pair_plan *plan, const char *suffix, char **path, core_error *err) {
    char name[3 * CORE_NAME_MAX], ratio[32] = "";
    if (plan->ratio != 1.0) snprintf(ratio, sizeof ratio, "__%.9g", plan->ratio);
    snprintf(name, sizeof name, "%s__%s%s%s", j->shapes[plan->a].name, j->shapes[plan->b].name, ratio, suffix);
    return core_path_join(j->cache, name, path, err);
}

// A grid is current if it is of this outline, resolution and box.
static bool grid_is_current(const job *j, const sdf_shape *cached, const sdf_grid *grid, int index) {
    const double spacing = 2.0 / j->resolutions[index], edge = 1.0 + j->def->margin;
    return cached->hash == j->shapes[index].hash && fabs(grid->spacing - spacing) <= 1e-12 * spacing &&
           fabs(-grid->origin[0] - edge) < 1.5 * spacing;
}

static core_status make_grid(job *j, int index, core_error *err) {
    core_status status = CORE_OK;
    const sdf_shape *shape = &j->shapes[index];
    sdf_shape cached = {0};
    sdf_grid grid = {0};
    char name[CORE_NAME_MAX + 8], *path = NULL;
    snprintf(name, sizeof name, "%s.sdf.h5", shape->name);
    CORE_TRY_DONE(core_path_join(j->cache, name, &path, err));
    // An unreadable cache file is as good as none.
    if (core_file_exists(path) && sdf_file_read(path, &cached, &grid, NULL, NULL) == CORE_OK &&
        grid_is_current(j, &cached, &grid, index)) {
        j->report.count_grids_reused++;
    } else {
        sdf_grid_clear(&grid);
        CORE_TRY_DONE(sdf_grid_build(&shape->outline, j->resolutions[index], j->def->margin, j->def->sample.threads,
                                     j->progress, &grid, err));
        CORE_TRY_DONE(sdf_file_write(path, shape, &grid, j->provenance, err));
        j->report.count_grids_built++;
    }
    j->grids[index] = grid;
    memset(&grid, 0, sizeof grid);
done:
    sdf_grid_clear(&grid);
    sdf_shape_clear(&cached);
    core_free(path);
    return status;
}

static core_status make_samples(job *j, const pair_plan *plan, const cspace_pair *pair, const core_progress *progress,
                                cspace_samples *samples, core_error *err) {
    core_status status = CORE_OK;
    char *path = NULL;
    CORE_TRY_DONE(cache_path(j, plan, ".samples.h5", &path, err));
    if (core_file_exists(path) && cspace_samples_read(path, samples, NULL, NULL) == CORE_OK) {
        if (samples->input_hash == cspace_sample_input_hash(pair, &j->def->sample)) {
            j->report.count_samples_reused++;
            goto done;
        }
        cspace_samples_clear(samples);
    }
    CORE_TRY_DONE(cspace_sample(pair, &j->def->sample, progress, samples, err));
    CORE_TRY_DONE(cspace_samples_write(path, samples, j->provenance, err));
    j->report.count_samples_built++;
done:
    core_free(path);
    return status;
}

// Takes the map of a pair out of a bundle if it is current; {0} is left there.
static bool take_current(cspace_bundle *bundle, const job *j, const pair_plan *plan, uint64_t input_hash,
                         cspace_map *map) {
    for (int i = 0; i < bundle->count_maps; i++) {
        cspace_map *m = &bundle->maps[i];
        if (m->input_hash != input_hash || m->hash_a != j->shapes[plan->a].hash || m->hash_b != j->shapes[plan->b].hash)
            continue;
        if (strcmp(m->a, j->shapes[plan->a].name) != 0 || strcmp(m->b, j->shapes[plan->b].name) != 0) continue;
        if (fabs(m->ratio - plan->ratio) > RATIO_TOLERANCE * plan->ratio) continue;
        *map = *m;
        memset(m, 0, sizeof *m);
        return true;
    }
    return false;
}

// The map of one pair as a bundle of its own in the cache.
static core_status write_cached_map(const job *j, const char *path, const pair_plan *plan, cspace_map *map,
                                    core_error *err) {
    core_status status = CORE_OK;
    cspace_bundle one = {0};
    CORE_TRY_DONE(cspace_bundle_add(&one, map, &j->shapes[plan->a], &j->shapes[plan->b], err));
    status = cspace_bundle_write(path, &one, j->provenance, err);
    *map = one.maps[0];
    one.count_maps = 0; // the map has moved back
done:
    cspace_bundle_clear(&one);
    return status;
}

static core_status make_map(job *j, int index, cspace_map *map, core_error *err) {
    core_status status = CORE_OK;
    const pair_plan *plan = &j->pairs[index];
    pair_progress user = {j->progress, index, j->count_pairs};
    const core_progress progress = {report_pair, &user};
    cspace_samples samples = {0};
    cspace_bundle cached = {0};
    cspace_pair pair;
    char *path = NULL, *unfinished = NULL;
    CORE_TRY_DONE(cspace_pair_init(&j->shapes[plan->a], &j->grids[plan->a], &j->shapes[plan->b], &j->grids[plan->b],
                                   plan->ratio, &pair, err));
    const uint64_t input_hash =
        cspace_train_input_hash(cspace_sample_input_hash(&pair, &j->def->sample), &j->def->train);
    CORE_TRY_DONE(cache_path(j, plan, ".map.h5", &path, err));
    if (take_current(&j->old, j, plan, input_hash, map)) {
        j->count_kept++;
        j->report.count_maps_reused++;
        goto done;
    }
    if (core_file_exists(path) && cspace_bundle_read(path, &cached, NULL, NULL) == CORE_OK &&
        take_current(&cached, j, plan, input_hash, map)) {
        j->report.count_maps_reused++;
        goto done;
    }
    CORE_TRY_DONE(make_samples(j, plan, &pair, &progress, &samples, err));
    CORE_TRY_DONE(cache_path(j, plan, ".training.h5", &unfinished, err));
    cspace_train_def train = j->def->train;
    train.state_path = unfinished, train.state_replace = true;
    CORE_TRY_DONE(cspace_train(&samples, &train, &progress, map, err));
    CORE_TRY_DONE(write_cached_map(j, path, plan, map, err));
    (void)remove(unfinished); // if it stays, it will be found to be done
    j->report.count_maps_built++;
done:
    cspace_bundle_clear(&cached);
    cspace_samples_clear(&samples);
    core_free(unfinished);
    core_free(path);
    return status;
}

// ---------------------------------------------------------------------------------------------- the whole job

// A bundle of an earlier version: built anew.
static bool is_older(const char *path) {
    core_h5 *file = NULL;
    int64_t version = CSPACE_MAPS_VERSION;
    if (core_h5_open(path, CSPACE_MAPS_FORMAT, CSPACE_MAPS_VERSION, &file, NULL) != CORE_OK) return false;
    const core_status status = core_h5_get_integer(file, "/", "format_version", &version, NULL);
    core_h5_close(&file);
    return status == CORE_OK && version < CSPACE_MAPS_VERSION;
}

static core_status job_open(job *j, const cspace_pipeline_shape *shapes, int count_shapes, core_error *err) {
    core_status status = CORE_OK;
    char *cache = NULL, *folder = NULL;
    const size_t n_bytes = strlen(j->maps_path) + sizeof ".cache";
    CORE_NEW_DONE(cache, n_bytes);
    snprintf(cache, n_bytes, "%s.cache", j->maps_path);
    j->cache = cache;
    CORE_TRY_DONE(read_shapes(j, shapes, count_shapes, err));
    CORE_TRY_DONE(plan_pairs(j, err));
    CORE_TRY_DONE(core_path_folder(j->maps_path, &folder, err));
    CORE_CHECK_DONE(core_file_is_directory(folder), CORE_IO, "%s: the folder %s does not exist", j->maps_path, folder);
    // What is there under the final name has to be a bundle: nothing else is ever overwritten.
    if (core_file_exists(j->maps_path) && !is_older(j->maps_path))
        CORE_TRY_DONE(cspace_bundle_read(j->maps_path, &j->old, NULL, err));
    CORE_TRY_DONE(core_file_make_directory(j->cache, err));
done:
    core_free(folder);
    return status;
}

// How much there is to do, before it is begun. The time is that of a job that finds nothing done.
static void report_plan(const job *j) {
    const cspace_sample_def *sample = &j->def->sample;
    const cspace_train_def *train = &j->def->train;
    const double rows = (double)(train->samples > 0 ? train->samples : sample->samples), width = train->net.width;
    const double weights = (train->net.layers - 1) * width * width + INPUTS_ABOUT * width;
    const double labels = SECONDS_PER_LABEL * (double)(sample->samples + sample->held_out) / fmax(1, sample->threads);
    const double nets = train->net.seconds > 0 ? train->net.seconds
                                               : 2 * SECONDS_PER_WEIGHT * weights * rows * train->net.epochs /
                                                     fmax(1, fmin(2, train->net.threads));
    char note[128];
    snprintf(note, sizeof note, "%d shapes; about %.0f s where none of them is there yet", j->count_shapes,
             j->count_pairs * (labels + nets));
    core_progress_report(j->progress, "maps", 0, j->count_pairs, "pairs", note);
}

core_status cspace_pipeline_run(const cspace_pipeline_shape *shapes, int count_shapes, const char *maps_path,
                                const cspace_pipeline_def *def, const core_h5_provenance *provenance,
                                const core_progress *progress, cspace_bundle *bundle, cspace_pipeline_report *report,
                                core_error *err) {
    CORE_CHECK(shapes && maps_path && def && bundle && report, CORE_ARG, "cspace_pipeline_run: null argument");
    CORE_CHECK(def->cookie == PIPELINE_COOKIE, CORE_ARG,
               "cspace_pipeline_def: not filled by cspace_pipeline_default_def");
    CORE_CHECK(count_shapes >= 1, CORE_ARG, "no shapes given, expected at least one");
    core_status status = CORE_OK;
    static const core_h5_provenance nobody = {0};
    job j = {.def = def, .provenance = provenance ? provenance : &nobody, .progress = progress, .maps_path = maps_path};
    cspace_bundle result = {0};
    cspace_map map = {0};
    CORE_TRY_DONE(job_open(&j, shapes, count_shapes, err));
    report_plan(&j);
    const int count_old = j.old.count_maps;
    for (int i = 0; i < j.count_shapes; i++) CORE_TRY_DONE(make_grid(&j, i, err));
    for (int i = 0; i < j.count_pairs; i++) {
        CORE_TRY_DONE(make_map(&j, i, &map, err));
        CORE_TRY_DONE(cspace_bundle_add(&result, &map, &j.shapes[j.pairs[i].a], &j.shapes[j.pairs[i].b], err));
    }
    // A bundle that is current already stays untouched.
    if (j.count_kept < j.count_pairs || count_old != j.count_pairs)
        CORE_TRY_DONE(cspace_bundle_write(maps_path, &result, j.provenance, err));
    *bundle = result;
    memset(&result, 0, sizeof result);
    *report = j.report;
done:
    cspace_map_clear(&map);
    cspace_bundle_clear(&result);
    job_clear(&j);
    return status;
}
