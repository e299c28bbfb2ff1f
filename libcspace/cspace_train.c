// From labelled poses to the two nets of a map: recipes, training, choice between tries, accuracy. Reasons for the
// recipe: libcspace/README.md, "Maps".
#include "cspace.h"
#include "cspace_train.h"
#include "cspace_train_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRAIN_COOKIE 0x747261
// Band of the accuracy statement.
#define MEASURE_BAND 0.1
// Passes over 500,000 samples: both nets take less than 50 core seconds (README.md, "Maps"). The paper's recipe is
// frozen.
#define DEFAULT_EPOCHS 110.0
#define ACCURATE_EPOCHS 100.0
#define PAPER_EPOCHS 120.0
// Counts what changes trainings of the same options, so that maps and states from before are not taken for current.
#define METHOD_VERSION 2
// Part of a wall time limit the distance net gets: its gradient term costs one more product a layer.
#define DISTANCE_SHARE 0.6
// Training samples by which tries are compared; what is added to the seed for each further try.
#define TRY_ROWS 20000
#define TRY_SEED 1000
// Moment-arm net of `accurate`. s jumps where another face or corner takes over the contact: by their squares the
// errors there outweigh all others.
#define ARM_CLIP 0.01
// Its width. Without exchange its domain is twice as large.
#define ARM_WIDTH 24
#define ARM_WIDTH_NO_EXCHANGE 32
// Heads of a distance net where the recipe leaves their number to the pair.
#define HEADS_MANY 4

core_status cspace_train_recipe(const char *name, cspace_train_def *def, core_error *err) {
    CORE_CHECK(name && def, CORE_ARG, "cspace_train_recipe: null argument");
    cspace_train_def d = {.cookie = TRAIN_COOKIE,
                          .encoding = CSPACE_TWOFRAME,
                          .fold = true,
                          .far_weight = 0.1,
                          .samples = 0,
                          .tries = 1,
                          .net = nn_train_default_def()};
    d.net.layers = 3, d.net.width = 32;
    d.net.epochs = DEFAULT_EPOCHS, d.net.seconds = 0.0;
    d.net.batch = 1024;
    d.net.learning_rate = 1e-2;
    d.net.schedule = NN_SCHEDULE_COSINE;
    d.net.gradient_weight = 0.003;
    if (strcmp(name, "accurate") == 0) {
        d.net.activation = NN_QRELU;
        d.net.optimiser = NN_SOAP;
        d.net.heads = 0;
        d.arm_normal = true;
        d.arm_layers = 2, d.arm_width = CSPACE_ARM_WIDTH_AUTO;
        d.arm_clip = ARM_CLIP;
        d.net.epochs = ACCURATE_EPOCHS;
    } else if (strcmp(name, "paper") == 0) {
        d.encoding = CSPACE_RAW;
        d.fold = false;
        d.far_weight = 1.0;
        d.net.epochs = PAPER_EPOCHS;
        d.net.batch = 4096;
        d.net.learning_rate = 1e-3;
        d.net.schedule = NN_SCHEDULE_CONSTANT;
        d.net.gradient_weight = 0.0;
    } else if (strcmp(name, "default") != 0) {
        return CORE_FAIL(err, CORE_ARG, "recipe: found \"%s\", expected default, accurate or paper", name);
    }
    snprintf(d.recipe, sizeof d.recipe, "%s", name);
    *def = d;
    return CORE_OK;
}

uint64_t cspace_train_input_hash(uint64_t samples_input_hash, const cspace_train_def *def) {
    const nn_train_def *net = &def->net;
    const double numbers[] = {def->far_weight, def->target,          net->epochs,     net->seconds, net->learning_rate,
                              net->corner,     net->soap_beta1,      net->soap_beta2, net->beta1,   net->beta2,
                              net->eps,        net->gradient_weight, def->arm_clip};
    const int64_t integers[] = {CSPACE_MAPS_VERSION,
                                METHOD_VERSION,
                                (int64_t)def->encoding,
                                def->fold ? 1 : 0,
                                def->samples,
                                def->arm_normal ? 1 : 0,
                                def->arm_layers,
                                def->arm_width,
                                def->tries,
                                net->layers,
                                net->width,
                                net->heads,
                                (int64_t)net->activation,
                                (int64_t)net->optimiser,
                                net->soap_every,
                                net->batch,
                                (int64_t)net->schedule,
                                (int64_t)net->seed};
    uint64_t hash = core_hash_bytes(samples_input_hash, numbers, sizeof numbers);
    hash = core_hash_bytes(hash, integers, sizeof integers);
    return core_hash_bytes(hash, def->recipe, strlen(def->recipe));
}

bool cspace_map_trouble(const cspace_map *map, int net, char *text, size_t n_bytes) {
    const nn_train_report *r = net == 0 ? &map->train_distance : &map->train_moment_arm;
    text[0] = '\0';
    if (r->trouble_step == 0) return false;
    snprintf(text, n_bytes,
             "training of the %s net went wrong at step %lld of %lld (%s) and went on from its best weights at a lower "
             "rate",
             net == 0 ? "distance" : "moment-arm", (long long)r->trouble_step, (long long)r->steps,
             nn_trouble_name(r->trouble));
    return true;
}

// ---------------------------------------------------------------------------------------------- training

static core_status check(const cspace_samples *samples, const cspace_train_def *def, core_error *err) {
    CORE_CHECK(def->cookie == TRAIN_COOKIE, CORE_ARG, "cspace_train_def: not filled by cspace_train_recipe");
    CORE_CHECK(def->far_weight >= 0.0 && def->far_weight <= 1.0, CORE_RANGE, "far weight: found %g, expected 0 to 1",
               def->far_weight);
    CORE_CHECK(def->samples >= 0 && def->samples <= samples->training.n, CORE_RANGE,
               "samples: found %lld, expected at most the %lld rows of %s-%s", (long long)def->samples,
               (long long)samples->training.n, samples->a.name, samples->b.name);
    CORE_CHECK(def->tries >= 1 && def->tries <= CSPACE__TRIES_MAX, CORE_RANGE, "tries: found %d, expected 1 to %d",
               def->tries, CSPACE__TRIES_MAX);
    CORE_CHECK(def->arm_width >= 0 || def->arm_width == CSPACE_ARM_WIDTH_AUTO, CORE_RANGE,
               "arm width: found %d, expected a number >= 0", def->arm_width);
    CORE_CHECK(def->arm_clip >= 0.0, CORE_RANGE, "arm clip: found %g, expected a number >= 0", def->arm_clip);
    CORE_CHECK(def->target >= 0.0, CORE_RANGE, "target: found %g, expected a number >= 0", def->target);
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
    map->smoothing = samples->smoothing;
    memcpy(map->recipe, def->recipe, sizeof map->recipe);
    map->fold = cspace_fold_make(a, b, map->ratio, def->fold);
    map->encoding = def->encoding;
    map->arm_normal = def->arm_normal;
    map->input_hash = cspace_train_input_hash(samples->input_hash, def);
}

// One of the two trainings of a pair.
typedef struct net_job {
    nn_data data;
    nn_train_def def;
    const core_progress *progress;
    nn_model *model;
    nn_train_report *report;
    core_status status;
    core_error error;
} net_job;

static void run_job(void *arg, int64_t i, int worker) {
    (void)worker;
    net_job *job = (net_job *)arg + i;
    job->status = nn_train(&job->data, &job->def, job->progress, "training", job->model, job->report, &job->error);
}

static core_status finish_job(net_job *job, double images, core_error *err) {
    if (job->status != CORE_OK && err) *err = job->error;
    CORE_TRY(job->status);
    job->report->epochs *= images;
    return CORE_OK;
}

// Where the nets of a try save what they have done.
typedef struct unfinished {
    cspace__train_log *log; // NULL: nowhere
    int i_try;
} unfinished;

// Jobs of the distance net and the moment-arm net, one thread each. The gradient term acts on the distance net alone.
static void describe_jobs(const cspace__train_rows *t, const cspace_train_def *def, const unfinished *kept,
                          cspace_map *map, net_job jobs[2]) {
    const nn_data rows = {.n = t->n, .inputs = t->inputs, .x = t->x};
    for (int i = 0; i < 2; i++) {
        jobs[i] = (net_job){.data = rows, .def = def->net};
        jobs[i].def.threads = 1;
        if (kept->log) cspace__train_log_attach(kept->log, kept->i_try, i, &jobs[i].def);
        // Epochs are passes over the samples: more images make a pass longer, not the training.
        jobs[i].def.epochs /= (double)t->n / (double)t->samples;
        jobs[i].def.seconds *= i == 0 ? DISTANCE_SHARE : 1.0 - DISTANCE_SHARE;
    }
    jobs[0].model = &map->distance, jobs[1].model = &map->moment_arm;
    jobs[0].report = &map->train_distance, jobs[1].report = &map->train_moment_arm;
    jobs[0].data.poses = t->jacobian ? 3 : 0;
    jobs[0].data.target = t->distance, jobs[0].data.weight = t->weight_distance;
    jobs[0].data.jacobian = t->jacobian, jobs[0].data.slope = t->slope;
    // Walls on all sides of the domain leave little for a minimum to do (README.md, "Maps").
    if (def->net.heads == 0) jobs[0].def.heads = map->fold.swap && map->fold.mirror ? 1 : HEADS_MANY;
    jobs[1].data.target = t->arm, jobs[1].data.weight = t->weight_arm, jobs[1].data.clip = def->arm_clip;
    jobs[1].def.gradient_weight = 0.0;
    jobs[1].def.heads = 1; // s is no minimum of anything
    jobs[1].def.seed = def->net.seed + 1;
    if (def->arm_width == CSPACE_ARM_WIDTH_AUTO)
        jobs[1].def.width = map->fold.swap ? ARM_WIDTH : ARM_WIDTH_NO_EXCHANGE;
    else if (def->arm_width > 0)
        jobs[1].def.width = def->arm_width;
    if (def->arm_layers > 0) jobs[1].def.layers = def->arm_layers;
}

// The distance net's part of the work: weights times matrix products a row and layer. Its gradient term costs one more,
// three more with the curvature of QReLU (libnn/README.md).
static double distance_share(const net_job jobs[2]) {
    double work[2];
    for (int i = 0; i < 2; i++) {
        const nn_train_def *def = &jobs[i].def;
        const double width = def->width,
                     products = i == 0 && def->gradient_weight > 0.0 ? (def->activation == NN_QRELU ? 6.0 : 4.0) : 3.0;
        work[i] = products * width * (jobs[i].data.inputs + (def->layers - 1) * width);
    }
    return jobs[0].def.seconds > 0.0 ? DISTANCE_SHARE : work[0] / (work[0] + work[1]);
}

// Both nets from the same rows. With two threads each net has one of its own: they share nothing, so no step of one
// waits for the other.
static core_status train_side_by_side(const cspace__train_rows *t, const cspace_train_def *def,
                                      cspace__train_meter *meter, const unfinished *kept, cspace_map *map,
                                      core_error *err) {
    const bool together = def->net.threads > 1;
    net_job jobs[2];
    describe_jobs(t, def, kept, map, jobs);
    cspace__train_meter_start(meter, kept->i_try, distance_share(jobs), together);
    for (int i = 0; i < 2; i++) jobs[i].progress = &meter->net[i].progress;
    if (together) jobs[0].def.seconds = jobs[1].def.seconds = def->net.seconds;
    core_thread_for(together ? 2 : 1, 2, run_job, jobs);
    for (int i = 0; i < 2; i++) CORE_TRY(finish_job(&jobs[i], (double)t->n / (double)t->samples, err));
    return CORE_OK;
}

// The net of a job that is not trained: all weights zero.
static core_status create_blank(const net_job *job, core_error *err) {
    const nn_model_def def = {.inputs = job->data.inputs,
                              .width = job->def.width,
                              .layers = job->def.layers,
                              .heads = job->def.heads,
                              .activation = job->def.activation,
                              .corner = job->def.corner};
    return nn_model_create(&def, job->model, err);
}

// The distance net first: the moment-arm net learns from the normals it predicts.
static core_status train_one_by_one(const cspace_rows *rows, const cspace_train_def *def, cspace__train_meter *meter,
                                    const unfinished *kept, cspace__train_rows *t, cspace_map *map, core_error *err) {
    net_job jobs[2];
    describe_jobs(t, def, kept, map, jobs);
    jobs[1].data.inputs += CSPACE_NORMAL_INPUTS;
    cspace__train_meter_start(meter, kept->i_try, distance_share(jobs), false);
    for (int i = 0; i < 2; i++) {
        jobs[i].progress = &meter->net[i].progress, jobs[i].def.threads = def->net.threads;
        if (i == 1) {
            CORE_TRY(cspace__train_rows_normals(rows, &map->fold, def, &map->distance, t, err));
            jobs[1].data.x = t->arm_x;
        }
        run_job(jobs, i, 0);
        // what is left of a distance net that went wrong makes a map with arms of s = 0
        if (i == 0 && jobs[0].status == CORE_NOT_CONVERGED) CORE_TRY(create_blank(&jobs[1], err));
        CORE_TRY(finish_job(&jobs[i], (double)t->n / (double)t->samples, err));
    }
    return CORE_OK;
}

// Mean error of d on the first training samples: what tries are compared by, so that the held-out samples stay unseen.
static core_status measure_try(const cspace_map *map, const cspace_rows *rows, double *error, core_error *err) {
    cspace_rows first = *rows;
    cspace_error_stats stats;
    if (first.n > TRY_ROWS) first.n = TRY_ROWS;
    CORE_TRY(cspace_map_measure(map, &first, MEASURE_BAND, &stats, err));
    *error = stats.d_mean;
    return CORE_OK;
}

// Trains up to def->tries times, until the target is met; the best try becomes the map.
static core_status train_tries(const cspace_rows *rows, const cspace_train_def *def, cspace__train_meter *meter,
                               cspace__train_log *log, cspace__train_rows *t, cspace_map *map, core_error *err) {
    core_status status = CORE_OK;
    double best = INFINITY;
    const cspace_map bare = *map; // no nets yet
    cspace_map candidate = {0};
    for (int i = 0; i < def->tries && best > def->target; i++) {
        cspace_train_def one = *def;
        one.net.epochs /= def->tries, one.net.seconds /= def->tries;
        one.net.seed += TRY_SEED * (uint64_t)i;
        candidate = bare;
        const unfinished kept = {log, i};
        CORE_TRY_DONE(def->arm_normal ? train_one_by_one(rows, &one, meter, &kept, t, &candidate, err)
                                      : train_side_by_side(t, &one, meter, &kept, &candidate, err));
        CORE_TRY_DONE(cspace_map_prepare(&candidate, NN_ISA_BEST, err));
        double error = 0.0;
        if (def->tries > 1) CORE_TRY_DONE(measure_try(&candidate, rows, &error, err));
        if (error < best) {
            cspace_map_clear(map);
            *map = candidate, best = error;
            memset(&candidate, 0, sizeof candidate);
        }
        cspace_map_clear(&candidate);
    }
done:
    if (status == CORE_NOT_CONVERGED && candidate.distance.parameters && candidate.moment_arm.parameters &&
        !map->distance.parameters) {
        *map = candidate; // the best weights of both nets
        memset(&candidate, 0, sizeof candidate);
    }
    cspace_map_clear(&candidate);
    return status;
}

// What a training that went wrong leaves: its best weights as a map, unless a net has none.
static void rescue(const cspace_rows *held_out, cspace_map *m, cspace_map *map) {
    if (!m->distance.parameters || cspace_map_prepare(m, NN_ISA_BEST, NULL) != CORE_OK) return;
    if (cspace_map_measure(m, held_out, MEASURE_BAND, &m->error, NULL) != CORE_OK) return;
    *map = *m;
    memset(m, 0, sizeof *m);
}

core_status cspace_train(const cspace_samples *samples, const cspace_train_def *def, const core_progress *progress,
                         cspace_map *map, core_error *err) {
    CORE_CHECK(samples && def && map, CORE_ARG, "cspace_train: null argument");
    CORE_TRY(check(samples, def, err));
    core_status status = CORE_OK;
    cspace_map m = {0};
    cspace_rows training = {0}, held_out = {0};
    cspace__train_rows t = {0};
    cspace__train_log log = {0};
    cspace__train_meter meter;
    const clock_t started = clock();
    describe(samples, def, &m);
    const bool swapped = cspace_pair_is_swapped(samples->a.name, samples->b.name, samples->ratio);
    if (swapped) {
        CORE_TRY_DONE(cspace_rows_swap(&samples->training, &training, err));
        CORE_TRY_DONE(cspace_rows_swap(&samples->held_out, &held_out, err));
    }
    const cspace_rows *rows = swapped ? &training : &samples->training;
    const cspace_rows *fresh = swapped ? &held_out : &samples->held_out;
    if (def->state_path)
        CORE_TRY_DONE(cspace__train_log_open(def->state_path, m.input_hash, def->state_replace, &log, err));
    CORE_TRY_DONE(cspace__train_rows_create(rows, &m.fold, samples->band, def, &t, err));
    cspace__train_meter_init(progress, &m, def, &meter);
    status = train_tries(rows, def, &meter, def->state_path ? &log : NULL, &t, &m, err);
    m.core_seconds = log.core_seconds + (double)(clock() - started) / CLOCKS_PER_SEC;
    if (status == CORE_NOT_CONVERGED) rescue(fresh, &m, map);
    if (status != CORE_OK) goto done;
    CORE_TRY_DONE(cspace_map_measure(&m, fresh, MEASURE_BAND, &m.error, err));
    CORE_TRY_DONE(cspace_statement_measure(&m, swapped ? &samples->b : &samples->a, swapped ? &samples->a : &samples->b,
                                           fresh, &m.statement, err));
    *map = m;
    memset(&m, 0, sizeof m);
done:
    cspace__train_log_clear(&log);
    cspace__train_rows_clear(&t);
    cspace_rows_clear(&training);
    cspace_rows_clear(&held_out);
    cspace_map_clear(&m);
    return status;
}
