/// Labelled relative poses of a pair by plain rejection: near rows uniform over the poses within the band of contact,
/// far rows uniform over all of |t| <= R_A + R_B. Rows come in chunks of a fixed size, each with a random stream of its
/// own, so that the bits do not depend on the number of threads; near and far rows alternate evenly, so that every
/// prefix is a fair sample.
#include "cspace_field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE_COOKIE = 0x5a3b1e, CHUNK_ROWS = 512, BATCH_CHUNKS = 128, METHOD_VERSION = 2 };
static const int64_t attempts_max = 200000; // of one row; a band this rarely met is an error
static const uint64_t held_out_mix = 0x68656c646f757421u;
const char *const cspace_labels_names[CSPACE_LABELS_COUNT] = {"minimiser", "exact"};

/// Where the labels of one set of rows go, and how.
typedef struct job {
    const cspace_pair *pair;
    const cspace_sample_def *def;
    uint64_t seed;
    int64_t first_chunk; // of the batch
    cspace_rows *rows;
    int64_t *attempts;              // (chunks) poses tried for near rows
    int64_t *accepted;              // (chunks) near rows found
    bool *missed;                   // (chunks) the band was not met
    const cspace_exact *exact;      // NULL: the minimiser labels
    cspace_exact_scratch **scratch; // (threads)
} job;

static cspace_pose draw(core_random *random, double reach) {
    cspace_pose q = {.theta = CORE_PI * (2.0 * core_random_uniform(random) - 1.0)};
    double x, y;
    do {
        x = 2.0 * core_random_uniform(random) - 1.0;
        y = 2.0 * core_random_uniform(random) - 1.0;
    } while (x * x + y * y > 1.0);
    q.x = reach * x;
    q.y = reach * y;
    return q;
}

/// Row i is a far one: as evenly spread as whole numbers allow.
static bool is_far(int64_t i, double near_fraction) {
    double far = 1.0 - near_fraction;
    return floor((double)(i + 1) * far) > floor((double)i * far);
}

/// The label of a pose; false if it lies outside the band.
static bool label_near(const job *j, const cspace_pose *pose, int worker, cspace_contact *contact) {
    if (j->exact) return cspace_exact_near(j->exact, pose, j->def->band, contact, j->scratch[worker]);
    cspace_search_def search = j->def->search;
    search.band = j->def->band;
    cspace__field field;
    cspace__probe probe;
    cspace_minimum m;
    cspace__field_init(j->pair, pose, &field);
    cspace__minimise(&field, &search, &m, &probe);
    if (m.outside) return false;
    cspace__contact(&field, &probe, contact);
    return fabs(contact->d) <= j->def->band;
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

static void fill_chunk(void *arg, int64_t i_batch, int worker) {
    const job *j = arg;
    int64_t chunk = j->first_chunk + i_batch, first = chunk * CHUNK_ROWS;
    int64_t end = first + CHUNK_ROWS < j->rows->n ? first + CHUNK_ROWS : j->rows->n;
    double reach = j->pair->scale_a + j->pair->scale_b;
    core_random random;
    core_random_init(&random, j->seed, (uint64_t)chunk);
    for (int64_t i = first; i < end; i++) {
        cspace_pose pose = draw(&random, reach);
        cspace_contact contact;
        if (is_far(i, j->def->near_fraction)) {
            if (j->exact)
                cspace_exact_contact(j->exact, &pose, &contact, j->scratch[worker]);
            else
                cspace_numeric_contact(j->pair, &j->def->search, &pose, &contact);
        } else {
            int64_t tries = 1;
            for (; !label_near(j, &pose, worker, &contact); tries++) {
                if (tries >= attempts_max) {
                    j->missed[chunk] = true;
                    return;
                }
                pose = draw(&random, reach);
            }
            j->attempts[chunk] += tries;
            j->accepted[chunk]++;
        }
        store(j->rows, i, &pose, &contact);
    }
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

static void scratch_destroy(cspace_exact_scratch **scratch, int n) {
    for (int i = 0; scratch && i < n; i++) cspace_exact_scratch_destroy(&scratch[i]);
    core_free(scratch);
}

/// What exact labels need; nothing for the others.
static core_status exact_create(const cspace_pair *pair, const cspace_sample_def *def, cspace_exact **exact,
                                cspace_exact_scratch ***scratch, core_error *err) {
    core_status status = CORE_OK;
    cspace_exact_scratch **s = NULL;
    if (def->labels != CSPACE_LABELS_EXACT) return CORE_OK;
    CORE_TRY(cspace_exact_create(pair, exact, err));
    CORE_NEW_DONE(s, (size_t)def->threads);
    for (int i = 0; i < def->threads; i++) CORE_TRY_DONE(cspace_exact_scratch_create(*exact, &s[i], err));
    *scratch = s;
done:
    if (status != CORE_OK) {
        scratch_destroy(s, def->threads);
        cspace_exact_destroy(exact);
    }
    return status;
}

/// Fills n new rows; *rate: accepted of tried near poses, 0 if none were tried.
static core_status fill(const cspace_pair *pair, const cspace_sample_def *def, int64_t n, uint64_t seed,
                        const core_progress *progress, const char *stage, cspace_rows *rows, double *rate,
                        core_error *err) {
    core_status status = CORE_OK;
    int64_t chunks = (n + CHUNK_ROWS - 1) / CHUNK_ROWS, tried = 0, accepted = 0;
    job j = {.pair = pair, .def = def, .seed = seed, .rows = rows};
    cspace_exact *exact = NULL;
    CORE_TRY_DONE(exact_create(pair, def, &exact, &j.scratch, err));
    j.exact = exact;
    CORE_TRY_DONE(rows_create(n, rows, err));
    CORE_NEW_DONE(j.attempts, (size_t)chunks);
    CORE_NEW_DONE(j.accepted, (size_t)chunks);
    CORE_NEW_DONE(j.missed, (size_t)chunks);
    if (n > 0) core_progress_report(progress, stage, 0.0, (double)n, "samples", NULL);
    for (; j.first_chunk < chunks; j.first_chunk += BATCH_CHUNKS) {
        int64_t batch = chunks - j.first_chunk < BATCH_CHUNKS ? chunks - j.first_chunk : BATCH_CHUNKS;
        core_thread_for(def->threads, batch, fill_chunk, &j);
        for (int64_t c = j.first_chunk; c < j.first_chunk + batch; c++) {
            CORE_CHECK_DONE(!j.missed[c], CORE_NOT_CONVERGED,
                            "%s: no pose within the band %g of contact in %" PRId64 " tries; expected a wider band",
                            stage, def->band, attempts_max);
            tried += j.attempts[c];
            accepted += j.accepted[c];
        }
        int64_t rows_done = (j.first_chunk + batch) * CHUNK_ROWS;
        core_progress_report(progress, stage, (double)(rows_done < n ? rows_done : n), (double)n, "samples", NULL);
    }
    *rate = tried > 0 ? (double)accepted / (double)tried : 0.0;
done:
    core_free(j.attempts);
    core_free(j.accepted);
    core_free(j.missed);
    scratch_destroy(j.scratch, def->threads);
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
                        .seed = def->seed,
                        .input_hash = cspace_sample_input_hash(pair, def)};
    char stage[2 * CORE_NAME_MAX + 40];
    double rate;
    snprintf(s.labels, sizeof s.labels, "%s", cspace_labels_names[def->labels]);
    uint64_t other = core_hash_bytes(held_out_mix, &def->seed, sizeof def->seed);
    CORE_TRY_DONE(sdf_shape_copy(pair->a, &s.a, err));
    CORE_TRY_DONE(sdf_shape_copy(pair->b, &s.b, err));
    snprintf(stage, sizeof stage, "sampling %s-%s", pair->a->name, pair->b->name);
    CORE_TRY_DONE(fill(pair, def, def->samples, def->seed, progress, stage, &s.training, &s.acceptance_rate, err));
    snprintf(stage, sizeof stage, "sampling %s-%s (held out)", pair->a->name, pair->b->name);
    CORE_TRY_DONE(fill(pair, def, def->held_out, other, progress, stage, &s.held_out, &rate, err));
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
    // only the kind that came later is marked: files of the other keep their hash
    return def->labels == CSPACE_LABELS_EXACT ? core_hash_bytes(hash, "exact", 5) : hash;
}
