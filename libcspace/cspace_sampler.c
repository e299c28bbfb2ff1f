/// Labelled relative poses of a pair by rejection: near rows uniform over the poses within the band of contact, far
/// rows uniform over all of |t| <= R_A + R_B. Rows come in chunks of a fixed size, each with a random stream of its
/// own, so that the bits do not depend on the number of threads; near and far rows alternate evenly, so that every
/// prefix is a fair sample. Exact training rows share an angle by batches: the obstacle is made once for many
/// translations.
#include "cspace_field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SAMPLE_COOKIE = 0x5a3b1e,
    CHUNK_ROWS = 512,
    CHUNK_ROWS_BATCHED = 4096, // some sixty angles
    BATCH_CHUNKS = 128,
    DRAWS_PER_ANGLE = 256,
    FAR_PER_ANGLE = 64,
    METHOD_VERSION = 3
};
static const int64_t attempts_max = 200000; // of one row; a band this rarely met is an error
static const uint64_t held_out_mix = 0x68656c646f757421u;
const char *const cspace_labels_names[CSPACE_LABELS_COUNT] = {"minimiser", "exact"};

/// What one thread labels exactly with.
typedef struct bench {
    cspace_exact_scratch *scratch;
    cspace_obstacle *obstacle[3]; // at an angle and, smoothed, a little before and behind it
} bench;

/// Where the labels of one set of rows go, and how.
typedef struct job {
    const cspace_pair *pair;
    const cspace_sample_def *def;
    uint64_t seed;
    bool batched; // rows share angles
    int64_t chunk_rows;
    int64_t first_chunk; // of the batch
    cspace_rows *rows;
    int64_t *attempts;         // (chunks) poses tried for near rows
    int64_t *accepted;         // (chunks) near rows found
    core_status *failed;       // (chunks) NOT_CONVERGED: the band was not met
    const cspace_exact *exact; // NULL: the minimiser labels
    bench *benches;            // (threads)
} job;

static double draw_angle(core_random *random) {
    return CORE_PI * (2.0 * core_random_uniform(random) - 1.0);
}

static void draw_place(core_random *random, double reach, double t[2]) {
    do {
        t[0] = 2.0 * core_random_uniform(random) - 1.0;
        t[1] = 2.0 * core_random_uniform(random) - 1.0;
    } while (t[0] * t[0] + t[1] * t[1] > 1.0);
    t[0] *= reach;
    t[1] *= reach;
}

static cspace_pose draw(core_random *random, double reach) {
    cspace_pose q = {.theta = draw_angle(random)};
    double t[2];
    draw_place(random, reach, t);
    q.x = t[0];
    q.y = t[1];
    return q;
}

/// Row i is a far one: as evenly spread as whole numbers allow.
static bool is_far(int64_t i, double near_fraction) {
    double far = 1.0 - near_fraction;
    return floor((double)(i + 1) * far) > floor((double)i * far);
}

/// Band that a plain distance meets if the smoothed one meets its own.
static double wide_band(const cspace_sample_def *def) {
    return def->band + CSPACE__KERNEL_REACH * def->smoothing;
}

/// The minimiser's label of a pose; false if it lies outside the band.
static bool label_by_minimiser(const job *j, const cspace_pose *pose, cspace_contact *contact) {
    cspace_search_def search = j->def->search;
    search.band = wide_band(j->def);
    cspace__field field;
    cspace__probe probe;
    cspace_minimum m;
    cspace__field_init(j->pair, pose, &field);
    cspace__minimise(&field, &search, &m, &probe);
    if (m.outside) return false;
    if (j->def->smoothing > 0.0)
        cspace_numeric_contact_smooth(j->pair, &j->def->search, j->def->smoothing, pose, contact);
    else
        cspace__contact(&field, &probe, contact);
    return fabs(contact->d) <= j->def->band;
}

/// The exact label of a pose; false if it lies outside the band.
static bool label_exactly(const job *j, const cspace_pose *pose, int worker, cspace_contact *contact) {
    cspace_exact_scratch *scratch = j->benches[worker].scratch;
    if (!cspace_exact_near(j->exact, pose, wide_band(j->def), contact, scratch)) return false;
    if (j->def->smoothing > 0.0) cspace_exact_contact_smooth(j->exact, j->def->smoothing, pose, contact, scratch);
    return fabs(contact->d) <= j->def->band;
}

static bool label_near(const job *j, const cspace_pose *pose, int worker, cspace_contact *contact) {
    return j->exact ? label_exactly(j, pose, worker, contact) : label_by_minimiser(j, pose, contact);
}

/// Makes a worker's obstacles for an angle.
static core_status turn_obstacles(const job *j, double theta, int worker) {
    cspace_obstacle *const *o = j->benches[worker].obstacle;
    const double h = cspace__kernel_step(j->def->smoothing);
    CORE_TRY(cspace_obstacle_turn(o[0], theta, NULL));
    if (!(j->def->smoothing > 0.0)) return CORE_OK;
    CORE_TRY(cspace_obstacle_turn(o[1], theta - h, NULL));
    return cspace_obstacle_turn(o[2], theta + h, NULL);
}

/// The label from a worker's obstacles; false if |d| > band.
static bool label_by_obstacle(const job *j, const cspace_pose *pose, double band, int worker, cspace_contact *contact) {
    cspace_obstacle *const *o = j->benches[worker].obstacle;
    const double h = cspace__kernel_step(j->def->smoothing), t[2] = {pose->x, pose->y};
    if (!(j->def->smoothing > 0.0)) return cspace_obstacle_contact(o[0], t, band, contact);
    if (!cspace_obstacle_contact(o[0], t, band + CSPACE__KERNEL_REACH * j->def->smoothing, contact)) return false;
    cspace_contact side[6];
    for (int k = 0; k < 2; k++) {
        double by = k ? h : -h;
        cspace_obstacle_contact(o[1 + k], t, INFINITY, &side[k]);
        cspace_obstacle_contact(o[0], (const double[]){t[0] + by, t[1]}, INFINITY, &side[2 + k]);
        cspace_obstacle_contact(o[0], (const double[]){t[0], t[1] + by}, INFINITY, &side[4 + k]);
    }
    cspace__kernel_mean(pose, j->def->smoothing, side, contact);
    return fabs(contact->d) <= band;
}

static core_status label_far(const job *j, const cspace_pose *pose, int worker, cspace_contact *contact) {
    if (!j->exact) {
        cspace_numeric_contact_smooth(j->pair, &j->def->search, j->def->smoothing, pose, contact);
        return CORE_OK;
    }
    CORE_TRY(turn_obstacles(j, pose->theta, worker));
    label_by_obstacle(j, pose, INFINITY, worker, contact);
    return CORE_OK;
}

/// Gradient and moment arms are kept in single precision in files: rounded here already, so that reading a file gives
/// the same bits.
static void store(cspace_rows *rows, int64_t i, const cspace_pose *pose, const cspace_contact *c) {
    rows->pose[3 * i] = pose->theta;
    rows->pose[3 * i + 1] = pose->x;
    rows->pose[3 * i + 2] = pose->y;
    rows->distance[i] = c->d;
    rows->gradient[3 * i] = (float)c->d_theta;
    rows->gradient[3 * i + 1] = (float)c->g[0];
    rows->gradient[3 * i + 2] = (float)c->g[1];
    rows->moment_arm[2 * i] = (float)c->r_a;
    rows->moment_arm[2 * i + 1] = (float)c->r_b;
}

/// Every row with a pose of its own.
static core_status fill_singly(const job *j, int64_t chunk, int64_t first, int64_t end, core_random *random,
                               int worker) {
    const double reach = j->pair->scale_a + j->pair->scale_b;
    for (int64_t i = first; i < end; i++) {
        cspace_pose pose = draw(random, reach);
        cspace_contact contact;
        if (is_far(i, j->def->near_fraction)) {
            CORE_TRY(label_far(j, &pose, worker, &contact));
        } else {
            int64_t tries = 1;
            for (; !label_near(j, &pose, worker, &contact); tries++) {
                if (tries >= attempts_max) return CORE_NOT_CONVERGED;
                pose = draw(random, reach);
            }
            j->attempts[chunk] += tries;
            j->accepted[chunk]++;
        }
        store(j->rows, i, &pose, &contact);
    }
    return CORE_OK;
}

/// The next row of a kind from i on, or end.
static int64_t next_row(const job *j, int64_t i, int64_t end, bool far) {
    while (i < end && is_far(i, j->def->near_fraction) != far) i++;
    return i;
}

/// Angles in turn: of each a fixed number of places for far rows, taken as they come, and a fixed number of places
/// tried for near rows. A fixed number of either: how many rows an angle gives is left to its own band.
static core_status fill_by_angles(const job *j, int64_t chunk, int64_t first, int64_t end, core_random *random,
                                  int worker) {
    const double reach = j->pair->scale_a + j->pair->scale_b, far_share = 1.0 - j->def->near_fraction;
    const int far_draws = (int)fmax(1.0, fmin(FAR_PER_ANGLE, floor(FAR_PER_ANGLE * far_share + 0.5)));
    int64_t near = next_row(j, first, end, false), far = next_row(j, first, end, true), tries = 0;
    while (near < end || far < end) {
        cspace_pose pose = {.theta = draw_angle(random)};
        cspace_contact contact;
        double t[2];
        CORE_TRY(turn_obstacles(j, pose.theta, worker));
        for (int k = 0; k < far_draws && far < end; k++) {
            draw_place(random, reach, t);
            pose.x = t[0];
            pose.y = t[1];
            label_by_obstacle(j, &pose, INFINITY, worker, &contact);
            store(j->rows, far, &pose, &contact);
            far = next_row(j, far + 1, end, true);
        }
        for (int k = 0; k < DRAWS_PER_ANGLE && near < end; k++) {
            if (++tries > attempts_max) return CORE_NOT_CONVERGED;
            draw_place(random, reach, t);
            pose.x = t[0];
            pose.y = t[1];
            j->attempts[chunk]++;
            if (!label_by_obstacle(j, &pose, j->def->band, worker, &contact)) continue;
            store(j->rows, near, &pose, &contact);
            near = next_row(j, near + 1, end, false);
            j->accepted[chunk]++;
            tries = 0;
        }
    }
    return CORE_OK;
}

static void fill_chunk(void *arg, int64_t i_batch, int worker) {
    const job *j = arg;
    int64_t chunk = j->first_chunk + i_batch, first = chunk * j->chunk_rows;
    int64_t end = first + j->chunk_rows < j->rows->n ? first + j->chunk_rows : j->rows->n;
    core_random random;
    core_random_init(&random, j->seed, (uint64_t)chunk);
    j->failed[chunk] = j->batched ? fill_by_angles(j, chunk, first, end, &random, worker)
                                  : fill_singly(j, chunk, first, end, &random, worker);
}

static core_status rows_create(int64_t n, cspace_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    cspace_rows r = {.n = n};
    CORE_NEW_DONE(r.pose, (size_t)n * 3);
    CORE_NEW_DONE(r.distance, (size_t)n);
    CORE_NEW_DONE(r.gradient, (size_t)n * 3);
    CORE_NEW_DONE(r.moment_arm, (size_t)n * 2);
    *rows = r;
done:
    if (status != CORE_OK) cspace_rows_clear(&r);
    return status;
}

static void benches_destroy(bench *benches, int n) {
    for (int i = 0; benches && i < n; i++) {
        cspace_exact_scratch_destroy(&benches[i].scratch);
        for (int k = 0; k < 3; k++) cspace_obstacle_destroy(&benches[i].obstacle[k]);
    }
    core_free(benches);
}

/// What exact labels need; nothing for the others.
static core_status exact_create(const cspace_pair *pair, const cspace_sample_def *def, cspace_exact **exact,
                                bench **benches, core_error *err) {
    core_status status = CORE_OK;
    bench *b = NULL;
    if (def->labels != CSPACE_LABELS_EXACT) return CORE_OK;
    CORE_TRY(cspace_exact_create(pair, exact, err));
    CORE_NEW_DONE(b, (size_t)def->threads);
    for (int i = 0; i < def->threads; i++) {
        CORE_TRY_DONE(cspace_exact_scratch_create(*exact, &b[i].scratch, err));
        for (int k = 0; k < (def->smoothing > 0.0 ? 3 : 1); k++)
            CORE_TRY_DONE(cspace_obstacle_create(*exact, &b[i].obstacle[k], err));
    }
    *benches = b;
done:
    if (status != CORE_OK) {
        benches_destroy(b, def->threads);
        cspace_exact_destroy(exact);
    }
    return status;
}

/// How many rows, of which seed, called what; by_angles: exact rows may share angles.
typedef struct order {
    int64_t n;
    uint64_t seed;
    const char *stage;
    bool by_angles;
} order;

/// Fills new rows; *rate: accepted of tried near poses, 0 if none were tried.
static core_status fill(const cspace_pair *pair, const cspace_sample_def *def, const order *o,
                        const core_progress *progress, cspace_rows *rows, double *rate, core_error *err) {
    core_status status = CORE_OK;
    job j = {.pair = pair, .def = def, .seed = o->seed, .rows = rows};
    cspace_exact *exact = NULL;
    j.batched = o->by_angles && def->labels == CSPACE_LABELS_EXACT;
    j.chunk_rows = j.batched ? CHUNK_ROWS_BATCHED : CHUNK_ROWS;
    int64_t chunks = (o->n + j.chunk_rows - 1) / j.chunk_rows, tried = 0, accepted = 0;
    CORE_TRY_DONE(exact_create(pair, def, &exact, &j.benches, err));
    j.exact = exact;
    CORE_TRY_DONE(rows_create(o->n, rows, err));
    CORE_NEW_DONE(j.attempts, (size_t)chunks);
    CORE_NEW_DONE(j.accepted, (size_t)chunks);
    CORE_NEW_DONE(j.failed, (size_t)chunks);
    if (o->n > 0) core_progress_report(progress, o->stage, 0.0, (double)o->n, "samples", NULL);
    for (; j.first_chunk < chunks; j.first_chunk += BATCH_CHUNKS) {
        int64_t batch = chunks - j.first_chunk < BATCH_CHUNKS ? chunks - j.first_chunk : BATCH_CHUNKS;
        core_thread_for(def->threads, batch, fill_chunk, &j);
        for (int64_t c = j.first_chunk; c < j.first_chunk + batch; c++) {
            CORE_CHECK_DONE(j.failed[c] != CORE_NOT_CONVERGED, CORE_NOT_CONVERGED,
                            "%s: no pose within the band %g of contact in %" PRId64 " tries; expected a wider band",
                            o->stage, def->band, attempts_max);
            CORE_CHECK_DONE(j.failed[c] == CORE_OK, j.failed[c], "%s: out of memory", o->stage);
            tried += j.attempts[c];
            accepted += j.accepted[c];
        }
        double rows_done = fmin((double)(j.first_chunk + batch) * (double)j.chunk_rows, (double)o->n);
        core_progress_report(progress, o->stage, rows_done, (double)o->n, "samples", NULL);
    }
    *rate = tried > 0 ? (double)accepted / (double)tried : 0.0;
done:
    core_free(j.attempts);
    core_free(j.accepted);
    core_free(j.failed);
    benches_destroy(j.benches, def->threads);
    cspace_exact_destroy(&exact);
    return status;
}

static core_status check(const cspace_pair *pair, const cspace_sample_def *def, core_error *err) {
    CORE_CHECK(pair && pair->a && pair->b && def, CORE_ARG, "cspace_sample: a null pointer");
    CORE_CHECK(def->cookie == SAMPLE_COOKIE && def->search.cookie == CSPACE__SEARCH_COOKIE, CORE_ARG,
               "cspace_sample: the definition is not from cspace_sample_default_def");
    CORE_CHECK(def->samples >= 1000 && def->samples <= 100000000, CORE_RANGE,
               "samples: found %" PRId64 ", expected 1000 to 100000000", def->samples);
    CORE_CHECK(def->held_out >= 0 && def->held_out <= 100000000, CORE_RANGE,
               "held-out samples: found %" PRId64 ", expected 0 to 100000000", def->held_out);
    CORE_CHECK(def->near_fraction >= 0.0 && def->near_fraction <= 1.0, CORE_RANGE,
               "near fraction: found %g, expected 0 to 1", def->near_fraction);
    CORE_CHECK(def->band >= 1e-3 && def->band <= 2.0, CORE_RANGE, "band: found %g, expected 0.001 to 2", def->band);
    CORE_CHECK(def->smoothing >= 0.0 && def->smoothing <= 0.1, CORE_RANGE, "smoothing: found %g, expected 0 to 0.1",
               def->smoothing);
    CORE_CHECK(def->threads >= 1, CORE_RANGE, "threads: found %d, expected 1 or more", def->threads);
    CORE_CHECK((unsigned)def->labels < CSPACE_LABELS_COUNT, CORE_ARG, "labels: found %d, expected minimiser or exact",
               (int)def->labels);
    CORE_CHECK(def->search.tolerance >= 1e-8 && def->search.tolerance <= 0.1, CORE_RANGE,
               "search tolerance: found %g, expected 1e-8 to 0.1", def->search.tolerance);
    CORE_CHECK(def->search.max_cells >= 1, CORE_RANGE, "search cells: found %d, expected 1 or more",
               def->search.max_cells);
    return CORE_OK;
}

cspace_sample_def cspace_sample_default_def(void) {
    return (cspace_sample_def){.cookie = SAMPLE_COOKIE,
                               .samples = 500000,
                               .held_out = 20000,
                               .near_fraction = 0.9,
                               .band = 0.1,
                               .seed = 1,
                               .threads = 1,
                               .search = cspace_search_default_def()};
}

void cspace_rows_clear(cspace_rows *rows) {
    if (!rows) return;
    core_free(rows->pose);
    core_free(rows->distance);
    core_free(rows->gradient);
    core_free(rows->moment_arm);
    *rows = (cspace_rows){0};
}

void cspace_samples_clear(cspace_samples *samples) {
    if (!samples) return;
    sdf_shape_clear(&samples->a);
    sdf_shape_clear(&samples->b);
    cspace_rows_clear(&samples->training);
    cspace_rows_clear(&samples->held_out);
    *samples = (cspace_samples){0};
}

core_status cspace_sample(const cspace_pair *pair, const cspace_sample_def *def, const core_progress *progress,
                          cspace_samples *samples, core_error *err) {
    CORE_TRY(check(pair, def, err));
    CORE_CHECK(samples, CORE_ARG, "cspace_sample: a null pointer");
    core_status status = CORE_OK;
    cspace_samples s = {.ratio = pair->ratio,
                        .near_fraction = def->near_fraction,
                        .band = def->band,
                        .smoothing = def->smoothing,
                        .seed = def->seed,
                        .input_hash = cspace_sample_input_hash(pair, def)};
    char stage[2 * CORE_NAME_MAX + 40];
    double rate;
    snprintf(s.labels, sizeof s.labels, "%s", cspace_labels_names[def->labels]);
    uint64_t other = core_hash_bytes(held_out_mix, &def->seed, sizeof def->seed);
    CORE_TRY_DONE(sdf_shape_copy(pair->a, &s.a, err));
    CORE_TRY_DONE(sdf_shape_copy(pair->b, &s.b, err));
    snprintf(stage, sizeof stage, "sampling %s-%s", pair->a->name, pair->b->name);
    const order training = {def->samples, def->seed, stage, true};
    CORE_TRY_DONE(fill(pair, def, &training, progress, &s.training, &s.acceptance_rate, err));
    snprintf(stage, sizeof stage, "sampling %s-%s (held out)", pair->a->name, pair->b->name);
    const order held_out = {def->held_out, other, stage, false};
    CORE_TRY_DONE(fill(pair, def, &held_out, progress, &s.held_out, &rate, err));
    *samples = s;
done:
    if (status != CORE_OK) cspace_samples_clear(&s);
    return status;
}

/// Chains the content of a shape and its grid.
static uint64_t hash_shape(uint64_t hash, const sdf_shape *shape, const sdf_grid *grid) {
    const double numbers[3] = {grid->origin[0], grid->origin[1], grid->spacing};
    const int sizes[2] = {grid->nx, grid->ny};
    hash = core_hash_bytes(hash, shape->name, strlen(shape->name));
    hash = core_hash_bytes(hash, &shape->hash, sizeof shape->hash);
    hash = core_hash_bytes(hash, numbers, sizeof numbers);
    hash = core_hash_bytes(hash, sizes, sizeof sizes);
    return core_hash_bytes(hash, grid->phi, (size_t)grid->nx * (size_t)grid->ny * sizeof *grid->phi);
}

uint64_t cspace_sample_input_hash(const cspace_pair *pair, const cspace_sample_def *def) {
    const double numbers[] = {pair->ratio, def->near_fraction, def->band, def->search.tolerance};
    const int64_t counts[] = {METHOD_VERSION, def->samples, def->held_out, (int64_t)def->seed, def->search.max_cells};
    uint64_t hash = core_hash_bytes(0, numbers, sizeof numbers);
    hash = core_hash_bytes(hash, counts, sizeof counts);
    hash = hash_shape(hash, pair->a, pair->grid_a);
    hash = hash_shape(hash, pair->b, pair->grid_b);
    // only what came later is marked: files without it keep their hash
    if (def->smoothing > 0.0) hash = core_hash_bytes(hash, &def->smoothing, sizeof def->smoothing);
    return def->labels == CSPACE_LABELS_EXACT ? core_hash_bytes(hash, "exact", 5) : hash;
}
