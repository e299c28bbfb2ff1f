// From labelled poses to the two nets of a map: recipes, folding and encoding of the rows, loss weights, training,
// accuracy. Reasons for the recipe: libcspace/README.md, "Maps".
#include "cspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRAIN_COOKIE 0x747261
// Samples farther than this from contact are far: they only keep the net right where a grain is about to touch.
#define FAR_DISTANCE 0.12
// Band of the accuracy statement.
#define MEASURE_BAND 0.1
// Passes over 500,000 samples that take about 25 s for both 3x32 nets on two cores (see README.md).
#define DEFAULT_EPOCHS 120.0
// Part of a wall time limit the distance net gets: its gradient term costs one more product a layer.
#define DISTANCE_SHARE 0.6

core_status cspace_train_recipe(const char *name, cspace_train_def *def, core_error *err) {
    CORE_CHECK(name && def, CORE_ARG, "cspace_train_recipe: null argument");
    cspace_train_def d = {.cookie = TRAIN_COOKIE,
                          .encoding = CSPACE_TWOFRAME,
                          .fold = true,
                          .far_weight = 0.1,
                          .samples = 0,
                          .net = nn_train_default_def()};
    d.net.layers = 3, d.net.width = 32;
    d.net.epochs = DEFAULT_EPOCHS, d.net.seconds = 0.0;
    if (strcmp(name, "default") == 0) {
        d.net.batch = 1024;
        d.net.learning_rate = 1e-2;
        d.net.schedule = NN_SCHEDULE_COSINE;
        d.net.gradient_weight = 0.003;
    } else if (strcmp(name, "paper") == 0) {
        d.encoding = CSPACE_RAW;
        d.fold = false;
        d.far_weight = 1.0;
        d.net.batch = 4096;
        d.net.learning_rate = 1e-3;
        d.net.schedule = NN_SCHEDULE_CONSTANT;
        d.net.gradient_weight = 0.0;
    } else {
        return CORE_FAIL(err, CORE_ARG, "recipe: found \"%s\", expected default or paper", name);
    }
    snprintf(d.recipe, sizeof d.recipe, "%s", name);
    *def = d;
    return CORE_OK;
}

uint64_t cspace_train_input_hash(uint64_t samples_input_hash, const cspace_train_def *def) {
    const double numbers[] = {def->far_weight,          def->net.epochs, def->net.seconds, def->net.learning_rate,
                              def->net.gradient_weight, def->net.beta1,  def->net.beta2,   def->net.eps};
    const int64_t integers[] = {
        CSPACE_MAPS_VERSION, (int64_t)def->encoding, def->fold ? 1 : 0,          def->samples,          def->net.layers,
        def->net.width,      def->net.batch,         (int64_t)def->net.schedule, (int64_t)def->net.seed};
    uint64_t hash = core_hash_bytes(samples_input_hash, numbers, sizeof numbers);
    hash = core_hash_bytes(hash, integers, sizeof integers);
    return core_hash_bytes(hash, def->recipe, strlen(def->recipe));
}

// ---------------------------------------------------------------------------------------------- rows

// One labelled pose of the samples.
static void row_get(const cspace_rows *rows, int64_t i, cspace_pose *pose, cspace_contact *label) {
    const double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
    *pose = (cspace_pose){p[0], p[1], p[2]};
    *label = (cspace_contact){rows->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
}

static void row_set(cspace_rows *rows, int64_t i, const cspace_pose *pose, const cspace_contact *label) {
    double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i, *r = rows->moment_arm + 2 * i;
    p[0] = pose->theta, p[1] = pose->x, p[2] = pose->y;
    rows->distance[i] = label->d;
    g[0] = label->d_theta, g[1] = label->g[0], g[2] = label->g[1];
    r[0] = label->r_a, r[1] = label->r_b;
}

// The same rows as the pair (B, A) sees them.
static core_status rows_swap(const cspace_rows *from, cspace_rows *to, core_error *err) {
    core_status status = CORE_OK;
    cspace_rows swapped = {.n = from->n};
    const size_t n = (size_t)from->n;
    CORE_NEW_DONE(swapped.pose, 3 * n);
    CORE_NEW_DONE(swapped.distance, n);
    CORE_NEW_DONE(swapped.gradient, 3 * n);
    CORE_NEW_DONE(swapped.moment_arm, 2 * n);
    for (int64_t i = 0; i < from->n; i++) {
        cspace_pose pose;
        cspace_contact label;
        row_get(from, i, &pose, &label);
        const cspace_pose other = cspace_swap_pose(&pose);
        cspace_swap_return(&other, &label); // `other` asks; the label answers its swapped pose, which is `pose`
        row_set(&swapped, i, &other, &label);
    }
    *to = swapped;
    return CORE_OK;
done:
    cspace_rows_clear(&swapped);
    return status;
}

// Net inputs and targets of all images of the samples used, float32. Owns its arrays.
typedef struct tables {
    int64_t n;       // images
    int64_t samples; // they are of
    int inputs;
    float *x, *jacobian, *slope;         // (n x inputs), (n x inputs x 3), (n x 3)
    float *distance, *arm;               // (n) targets of the two nets
    float *weight_distance, *weight_arm; // (n)
} tables;

static void tables_clear(tables *t) {
    core_free(t->x);
    core_free(t->jacobian);
    core_free(t->slope);
    core_free(t->distance);
    core_free(t->arm);
    core_free(t->weight_distance);
    core_free(t->weight_arm);
    memset(t, 0, sizeof *t);
}

// Row i of the tables from one image of a labelled pose. Labels stay in the asker's frame: the Jacobian goes through
// the fold.
static void tables_fill_row(tables *t, int64_t i, const cspace_image *image, const cspace_contact *label,
                            const cspace_fold *fold, double band, const cspace_train_def *def) {
    double jacobian[3 * CSPACE_INPUTS_MAX];
    cspace_inputs inputs;
    cspace_encode(def->encoding, fold, &image->pose, &inputs, jacobian);
    for (int k = 0; k < t->inputs; k++) t->x[i * t->inputs + k] = (float)inputs.x[k];
    if (t->jacobian) {
        for (int k = 0; k < t->inputs; k++) {
            double asked[3];
            cspace_image_return(image, jacobian + 3 * k, asked);
            for (int j = 0; j < 3; j++) t->jacobian[(i * t->inputs + k) * 3 + j] = (float)asked[j];
        }
        t->slope[3 * i] = (float)label->d_theta;
        t->slope[3 * i + 1] = (float)label->g[0];
        t->slope[3 * i + 2] = (float)label->g[1];
    }
    t->distance[i] = (float)label->d;
    t->arm[i] = (float)(0.5 * (label->r_a + label->r_b) * (image->swapped ? -1.0 : 1.0));
    t->weight_distance[i] = (float)(fabs(label->d) > FAR_DISTANCE ? def->far_weight : 1.0);
    t->weight_arm[i] = (float)(fabs(label->d) > band ? def->far_weight : 1.0);
}

static int64_t count_used(const cspace_rows *rows, const cspace_train_def *def) {
    return def->samples > 0 ? def->samples : rows->n;
}

// Every image of the samples used, into t unless NULL; returns their number. Uses every (n/used)-th sample, so that a
// part has the composition of the whole whatever the order of the file.
static int64_t fill_tables(const cspace_rows *rows, const cspace_fold *fold, double band, const cspace_train_def *def,
                           tables *t) {
    const int64_t used = count_used(rows, def);
    int64_t count = 0;
    for (int64_t i = 0; i < used; i++) {
        cspace_pose pose;
        cspace_contact label;
        cspace_image images[CSPACE_IMAGES_MAX];
        row_get(rows, (int64_t)((double)i * ((double)rows->n / (double)used)), &pose, &label);
        const int count_images = cspace_fold_images(fold, &pose, CSPACE_FOLD_REACH, images);
        for (int k = 0; t && k < count_images; k++) tables_fill_row(t, count + k, &images[k], &label, fold, band, def);
        count += count_images;
    }
    return count;
}

static core_status tables_create(const cspace_rows *rows, const cspace_fold *fold, double band,
                                 const cspace_train_def *def, tables *out, core_error *err) {
    core_status status = CORE_OK;
    tables t = {.n = fill_tables(rows, fold, band, def, NULL),
                .samples = count_used(rows, def),
                .inputs = cspace_encoding_inputs(def->encoding, fold)};
    const size_t n = (size_t)t.n, inputs = (size_t)t.inputs;
    CORE_NEW_DONE(t.x, n * inputs);
    CORE_NEW_DONE(t.distance, n);
    CORE_NEW_DONE(t.arm, n);
    CORE_NEW_DONE(t.weight_distance, n);
    CORE_NEW_DONE(t.weight_arm, n);
    if (def->net.gradient_weight > 0.0) {
        CORE_NEW_DONE(t.jacobian, 3 * n * inputs);
        CORE_NEW_DONE(t.slope, 3 * n);
    }
    (void)fill_tables(rows, fold, band, def, &t);
    *out = t;
    return CORE_OK;
done:
    tables_clear(&t);
    return status;
}

// ---------------------------------------------------------------------------------------------- training

static core_status check(const cspace_samples *samples, const cspace_train_def *def, core_error *err) {
    CORE_CHECK(def->cookie == TRAIN_COOKIE, CORE_ARG, "cspace_train_def: not filled by cspace_train_recipe");
    CORE_CHECK(def->far_weight >= 0.0 && def->far_weight <= 1.0, CORE_RANGE, "far weight: found %g, expected 0 to 1",
               def->far_weight);
    CORE_CHECK(def->samples >= 0 && def->samples <= samples->training.n, CORE_RANGE,
               "samples: found %lld, expected at most the %lld rows of %s-%s", (long long)def->samples,
               (long long)samples->training.n, samples->a.name, samples->b.name);
    int64_t negative = 0, positive = 0;
    for (int64_t i = 0; i < samples->training.n; i++) {
        negative += samples->training.distance[i] < 0.0 ? 1 : 0;
        positive += samples->training.distance[i] > 0.0 ? 1 : 0;
    }
    CORE_CHECK(
        negative > 0 && positive > 0, CORE_SHAPE,
        "samples of %s-%s: %lld negative and %lld positive distances, expected both: a map needs poses in overlap "
        "and apart",
        samples->a.name, samples->b.name, (long long)negative, (long long)positive);
    return CORE_OK;
}

// Names, sizes and fold of the map, in the stored order of the pair.
static void describe(const cspace_samples *samples, const cspace_train_def *def, cspace_map *map) {
    const bool swapped = cspace_pair_is_swapped(samples->a.name, samples->b.name, samples->ratio);
    const sdf_shape *a = swapped ? &samples->b : &samples->a, *b = swapped ? &samples->a : &samples->b;
    memcpy(map->a, a->name, sizeof map->a);
    memcpy(map->b, b->name, sizeof map->b);
    map->ratio = swapped ? 1.0 / samples->ratio : samples->ratio;
    map->scale_a = map->ratio <= 1.0 ? 1.0 : 1.0 / map->ratio;
    map->scale_b = map->ratio <= 1.0 ? map->ratio : 1.0;
    map->hash_a = a->hash, map->hash_b = b->hash;
    memcpy(map->labels, samples->labels, sizeof map->labels);
    memcpy(map->recipe, def->recipe, sizeof map->recipe);
    map->fold = cspace_fold_make(a, b, map->ratio, def->fold);
    map->encoding = def->encoding;
    map->input_hash = cspace_train_input_hash(samples->input_hash, def);
}

// One of the two trainings of a pair.
typedef struct net_job {
    nn_data data;
    nn_train_def def;
    const core_progress *progress;
    char stage[2 * CORE_NAME_MAX + 32];
    nn_model *model;
    nn_train_report *report;
    core_status status;
    core_error error;
} net_job;

static void run_job(void *arg, int64_t i, int worker) {
    (void)worker;
    net_job *job = (net_job *)arg + i;
    job->status = nn_train(&job->data, &job->def, job->progress, job->stage, job->model, job->report, &job->error);
}

// Both nets from the same rows. The gradient term acts on the distance net alone. With two threads each net has one of
// its own: they share nothing, so no step of one waits for the other (a barrier a step costs far more on a busy
// machine).
static core_status train_nets(const tables *t, const cspace_train_def *def, const core_progress *progress,
                              cspace_map *map, core_error *err) {
    const bool together = def->net.threads > 1, with_gradient = t->jacobian != NULL;
    const nn_data rows = {.n = t->n, .inputs = t->inputs, .x = t->x};
    net_job jobs[2] = {
        {.data = rows, .def = def->net, .progress = progress, .model = &map->distance},
        {.data = rows, .def = def->net, .progress = together ? NULL : progress, .model = &map->moment_arm}};
    jobs[0].data.poses = with_gradient ? 3 : 0;
    jobs[0].data.target = t->distance, jobs[0].data.weight = t->weight_distance;
    jobs[0].data.jacobian = t->jacobian, jobs[0].data.slope = t->slope;
    jobs[0].report = &map->train_distance;
    snprintf(jobs[0].stage, sizeof jobs[0].stage, "training %s-%s%s", map->a, map->b, together ? "" : " distance");
    jobs[1].data.target = t->arm, jobs[1].data.weight = t->weight_arm;
    jobs[1].def.gradient_weight = 0.0;
    jobs[1].def.seed = def->net.seed + 1;
    jobs[1].report = &map->train_moment_arm;
    snprintf(jobs[1].stage, sizeof jobs[1].stage, "training %s-%s moment arm", map->a, map->b);
    // Epochs are passes over the samples: more images make a pass longer, not the training.
    const double images = (double)t->n / (double)t->samples;
    for (int i = 0; i < 2; i++) {
        jobs[i].def.threads = 1;
        jobs[i].def.epochs /= images;
    }
    if (!together) {
        jobs[0].def.seconds *= DISTANCE_SHARE;
        jobs[1].def.seconds *= 1.0 - DISTANCE_SHARE;
    }
    core_thread_for(together ? 2 : 1, 2, run_job, jobs);
    for (int i = 0; i < 2; i++) {
        if (jobs[i].status != CORE_OK && err) *err = jobs[i].error;
        CORE_TRY(jobs[i].status);
        jobs[i].report->epochs *= images;
    }
    return CORE_OK;
}

core_status cspace_train(const cspace_samples *samples, const cspace_train_def *def, const core_progress *progress,
                         cspace_map *map, core_error *err) {
    CORE_CHECK(samples && def && map, CORE_ARG, "cspace_train: null argument");
    CORE_TRY(check(samples, def, err));
    core_status status = CORE_OK;
    cspace_map m = {0};
    cspace_rows training = {0}, held_out = {0};
    tables t = {0};
    describe(samples, def, &m);
    const bool swapped = cspace_pair_is_swapped(samples->a.name, samples->b.name, samples->ratio);
    if (swapped) {
        CORE_TRY_DONE(rows_swap(&samples->training, &training, err));
        CORE_TRY_DONE(rows_swap(&samples->held_out, &held_out, err));
    }
    CORE_TRY_DONE(tables_create(swapped ? &training : &samples->training, &m.fold, samples->band, def, &t, err));
    cspace_rows_clear(&training);
    CORE_TRY_DONE(train_nets(&t, def, progress, &m, err));
    CORE_TRY_DONE(cspace_map_prepare(&m, NN_ISA_BEST, err));
    CORE_TRY_DONE(cspace_map_measure(&m, swapped ? &held_out : &samples->held_out, MEASURE_BAND, &m.error, err));
    *map = m;
    memset(&m, 0, sizeof m);
done:
    tables_clear(&t);
    cspace_rows_clear(&training);
    cspace_rows_clear(&held_out);
    cspace_map_clear(&m);
    return status;
}
