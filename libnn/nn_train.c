/// The training loop. A batch is cut into shards of NN_SHARD_ROWS rows; each shard's gradient has a buffer of its own,
/// the buffers are summed in order, then Adam takes one step. Threads decide only who computes which shard, so their
/// number changes no bit.
#include "nn_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRAIN_COOKIE 0x6e6e7472
#define WARM_UP 0.05     // part of the steps over which a cosine schedule's rate rises linearly
#define TIMING_PART 0.03 // part of the wanted seconds spent on finding the time of a step
#define TIMING_STEPS_MIN 8
#define REPORTS (NN_CURVE_MAX / 2) // progress reports of a training: up to twice as many if it is short
#define PROBE_EVERY 10             // of them between two looks for dead units
#define EXPLODED 100.0             // times the loss of knowing nothing
#define CONSTANT 1e-4              // of the fresh weights' loss: if the mean target leaves less, a net may be constant
#define RECOVERY_RATE 0.3          // of the rate so far, each time a training has gone wrong
#define RECOVERIES_MAX 4           // down to .008 of the rate asked for

enum { STREAM_WEIGHTS = 0, STREAM_EPOCHS = 1 }; // random streams; epoch e uses STREAM_EPOCHS + e

/// Everything a training owns.
typedef struct trainer {
    const nn_data *data;
    const nn_train_def *def;
    int threads, count_shards, poses; // poses: 0 without gradient term
    nn_model model;
    float *best;          // (count_parameters) see nn_train_state
    float *curve;         // (NN_CURVE_MAX) see nn_train_state
    nn_adam own_adam;     // NN_ADAM
    nn_soap *soap;        // NN_SOAP
    nn_adam *adam;        // own_adam or SOAP's
    nn_shard **shards;    // (threads) workspace of each worker
    float *gradients;     // (count_shards x count_parameters)
    double *losses;       // (count_shards)
    double loss_nothing;  // of a net that is zero everywhere
    double loss_constant; // of one that is the mean target
    float *records;       // (n x record_floats) the data, row by row
    int32_t *order;       // (n) rows of the data; the first `position` are this epoch's, already used
    int64_t *rows;        // (batch) rows of the current step
    int64_t position;
    uint64_t epoch;
    core_random random; // of the epoch
} trainer;

static const char *const optimiser_names[] = {"adam", "soap"}; // in the order of nn_optimiser
enum { OPTIMISER_COUNT = sizeof optimiser_names / sizeof optimiser_names[0] };

const char *nn_optimiser_name(nn_optimiser optimiser) {
    return (int)optimiser >= 0 && (int)optimiser < OPTIMISER_COUNT ? optimiser_names[optimiser] : NULL;
}

core_status nn_optimiser_parse(const char *text, nn_optimiser *optimiser, core_error *err) {
    CORE_CHECK(text && optimiser, CORE_ARG, "nn_optimiser_parse: null argument");
    for (int i = 0; i < OPTIMISER_COUNT; i++) {
        if (strcmp(text, optimiser_names[i]) != 0) continue;
        *optimiser = (nn_optimiser)i;
        return CORE_OK;
    }
    return CORE_FAIL(err, CORE_RANGE, "optimiser: found '%s', expected adam or soap", text);
}

const char *nn_trouble_name(nn_trouble trouble) {
    static const char *const names[] = {NULL, "a loss or weight that was not finite", "a loss that exploded",
                                        "a layer whose units were all dead"};
    return (int)trouble > 0 && (int)trouble <= NN_TROUBLE_DEAD ? names[trouble] : NULL;
}

nn_train_def nn_train_default_def(void) {
    return (nn_train_def){.cookie = TRAIN_COOKIE,
                          .layers = 3,
                          .width = 32,
                          .heads = 1,
                          .activation = NN_RELU,
                          .corner = 0.5,
                          .epochs = 50,
                          .seconds = 0,
                          .batch = 1024,
                          .learning_rate = 1e-2,
                          .schedule = NN_SCHEDULE_COSINE,
                          .gradient_weight = 0.003,
                          .beta1 = 0.9,
                          .beta2 = 0.999,
                          .eps = 1e-8,
                          .optimiser = NN_ADAM,
                          .soap_beta1 = 0.95,
                          .soap_beta2 = 0.99,
                          .soap_every = 10,
                          .seed = 1,
                          .threads = 1};
}

static nn_model_def model_def(const nn_train_def *def, const nn_data *data) {
    return (nn_model_def){.inputs = data->inputs,
                          .width = def->width,
                          .layers = def->layers,
                          .heads = def->heads,
                          .activation = def->activation,
                          .corner = def->corner};
}

static core_status check_def(const nn_train_def *def, const nn_data *data, core_error *err) {
    CORE_CHECK(def && def->cookie == TRAIN_COOKIE, CORE_ARG, "training: def was not made by nn_train_default_def");
    const nn_model_def model = model_def(def, data);
    CORE_TRY(nn__def_check(&model, err));
    CORE_CHECK(def->seconds >= 0 && isfinite(def->seconds), CORE_RANGE, "training seconds: %g is not a number >= 0",
               def->seconds);
    CORE_CHECK(def->batch >= 1 && def->batch <= NN_BATCH_MAX, CORE_RANGE, "training batch: %d is not in 1..%d",
               def->batch, NN_BATCH_MAX);
    CORE_CHECK(def->seconds > 0 || (def->epochs > 0 && isfinite(def->epochs)), CORE_RANGE,
               "training epochs: %g is not a positive number", def->epochs);
    CORE_CHECK(def->seconds > 0 || def->epochs * (double)data->n / def->batch <= (double)NN_STEPS_MAX, CORE_RANGE,
               "training epochs: %g are %g steps, expected at most %g", def->epochs,
               def->epochs * (double)data->n / def->batch, (double)NN_STEPS_MAX);
    CORE_CHECK(def->learning_rate > 0 && isfinite(def->learning_rate), CORE_RANGE,
               "training learning_rate: %g is not a positive number", def->learning_rate);
    CORE_CHECK(def->schedule == NN_SCHEDULE_CONSTANT || def->schedule == NN_SCHEDULE_COSINE, CORE_RANGE,
               "training schedule: %d is unknown", (int)def->schedule);
    CORE_CHECK(nn_optimiser_name(def->optimiser), CORE_RANGE, "training optimiser: %d is unknown", (int)def->optimiser);
    CORE_CHECK(def->gradient_weight >= 0 && isfinite(def->gradient_weight), CORE_RANGE,
               "training gradient_weight: %g is not a number >= 0", def->gradient_weight);
    CORE_CHECK(def->threads >= 1, CORE_RANGE, "training threads: %d is not at least 1", def->threads);
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- trainer

static void trainer_clear(trainer *t) {
    for (int i = 0; t->shards && i < t->threads; i++) nn_shard_destroy(&t->shards[i]);
    core_free(t->shards);
    core_free(t->gradients);
    core_free(t->losses);
    core_free(t->records);
    core_free(t->order);
    core_free(t->rows);
    core_free(t->best);
    core_free(t->curve);
    nn_adam_clear(&t->own_adam);
    nn_soap_destroy(&t->soap);
    nn_model_clear(&t->model);
    *t = (trainer){0};
}

/// Allocates; trainer_reset must follow. On failure *t is cleared.
static core_status trainer_create(const nn_data *data, const nn_train_def *def, trainer *t, core_error *err) {
    core_status status = CORE_OK;
    int count_shards = (def->batch + NN_SHARD_ROWS - 1) / NN_SHARD_ROWS;
    *t = (trainer){.data = data, .def = def, .count_shards = count_shards};
    t->poses = def->gradient_weight > 0 ? data->poses : 0;
    t->threads = def->threads < count_shards ? def->threads : count_shards;
    const nn_model_def model = model_def(def, data);
    CORE_TRY_DONE(nn_model_create(&model, &t->model, err));
    if (def->optimiser == NN_SOAP)
        CORE_TRY_DONE(nn_soap_create(&t->model, def, &t->soap, err));
    else
        CORE_TRY_DONE(nn_adam_create(t->model.count_parameters, def->beta1, def->beta2, def->eps, &t->own_adam, err));
    t->adam = t->soap ? nn__soap_adam(t->soap) : &t->own_adam;
    CORE_NEW_DONE(t->best, (size_t)t->model.count_parameters);
    CORE_NEW_DONE(t->curve, NN_CURVE_MAX);
    CORE_NEW_DONE(t->shards, (size_t)t->threads);
    for (int i = 0; i < t->threads; i++) {
        CORE_TRY_DONE(nn_shard_create(&t->model, NN_SHARD_ROWS, t->poses, &t->shards[i], err));
        t->shards[i]->clip = nn__clip(data);
    }
    CORE_NEW_DONE(t->gradients, (size_t)count_shards * (size_t)t->model.count_parameters);
    CORE_NEW_DONE(t->losses, (size_t)count_shards);
    CORE_NEW_DONE(t->order, (size_t)data->n);
    CORE_NEW_DONE(t->rows, (size_t)def->batch);
    int record_floats = nn__record_floats(data->inputs, t->poses);
    CORE_NEW_DONE(t->records, (size_t)data->n * (size_t)record_floats);
    for (int64_t i = 0; i < data->n; i++) nn__record_pack(data, i, t->poses, t->records + i * record_floats);
done:
    if (status != CORE_OK) trainer_clear(t);
    return status;
}

/// No row of this epoch drawn yet. Its order depends on seed and epoch alone.
static void start_epoch(trainer *t, uint64_t epoch) {
    for (int64_t i = 0; i < t->data->n; i++) t->order[i] = (int32_t)i;
    t->position = 0;
    t->epoch = epoch;
    core_random_init(&t->random, t->def->seed, STREAM_EPOCHS + epoch);
}

static void optimiser_reset(trainer *t) {
    if (t->soap)
        nn_soap_reset(t->soap);
    else
        nn_adam_reset(t->adam);
}

static void weights_reset(trainer *t) {
    core_random random;
    core_random_init(&random, t->def->seed, STREAM_WEIGHTS);
    nn_model_randomise(&t->model, &random);
}

/// Back to the first step: fresh weights, optimiser and order of rows.
static void trainer_reset(trainer *t) {
    weights_reset(t);
    optimiser_reset(t);
    start_epoch(t, 0);
}

/// The next `count` rows of this epoch: Fisher-Yates, one exchange per row as it is needed.
static void draw_from_epoch(trainer *t, int count, int64_t *rows) {
    int32_t *order = t->order + t->position;
    int64_t left = t->data->n - t->position;
    for (int j = 0; j < count; j++) {
        // stays below left - j when rounded: the uniform is at most 1 - 2^-53 (without any bias it takes two divisions,
        // 3 % of a step)
        rows[j] = j + (int64_t)(core_random_uniform(&t->random) * (double)(left - j));
        nn__prefetch(order + rows[j]);
    }
    for (int j = 0; j < count; j++) {
        int32_t row = order[rows[j]];
        order[rows[j]] = order[j];
        order[j] = row;
        rows[j] = row;
    }
    t->position += count;
}

/// Rows of the next batch; a used-up epoch is followed by the next.
static void draw_rows(trainer *t) {
    for (int done = 0; done < t->def->batch;) {
        if (t->position == t->data->n) start_epoch(t, t->epoch + 1);
        int64_t left = t->data->n - t->position;
        int wanted = t->def->batch - done, count = left < wanted ? (int)left : wanted;
        draw_from_epoch(t, count, t->rows + done);
        done += count;
    }
}

/// One shard of the batch (for core_thread_for).
static void run_shard(void *arg, int64_t i, int worker) {
    trainer *t = arg;
    int first = (int)i * NN_SHARD_ROWS, left = t->def->batch - first;
    float *gradient = t->gradients + (size_t)i * (size_t)t->model.count_parameters;
    memset(gradient, 0, (size_t)t->model.count_parameters * sizeof(float));
    nn_shard *shard = t->shards[worker];
    t->losses[i] = shard->pass(shard, &t->model, t->records, t->rows + first,
                               left < NN_SHARD_ROWS ? left : NN_SHARD_ROWS, t->def->gradient_weight, gradient);
}

/// One optimisation step; returns the mean loss of the batch before it.
static double trainer_step(trainer *t, double learning_rate) {
    draw_rows(t);
    core_thread_for(t->threads, t->count_shards, run_shard, t);

    int n = t->model.count_parameters;
    // every worker has read the parameters: taking them back one line at a time would cost as much as the sum below
    for (int i = 0; i < n; i += 16) nn__prefetch_for_writing(t->model.parameters + i);
    float *restrict sum = t->gradients, scale = 1 / (float)t->def->batch;
    double loss = t->losses[0];
    for (int s = 1; s < t->count_shards; s++) {
        const float *restrict part = t->gradients + (size_t)s * (size_t)n;
        for (int i = 0; i < n; i++) sum[i] += part[i];
        loss += t->losses[s];
    }
    for (int i = 0; i < n; i++) sum[i] *= scale;
    if (t->soap)
        nn_soap_step(t->soap, learning_rate, sum, t->model.parameters);
    else
        nn_adam_step(t->adam, learning_rate, sum, t->model.parameters);
    return loss / t->def->batch;
}

/// Mean loss at up to NN_PROBE_ROWS rows spread over the data.
static double probe_loss(trainer *t) {
    int64_t rows[NN_SHARD_ROWS], n = t->data->n, count = n < NN_PROBE_ROWS ? n : NN_PROBE_ROWS;
    double sum = 0;
    for (int64_t first = 0; first < count; first += NN_SHARD_ROWS) {
        int64_t left = count - first, here = left < NN_SHARD_ROWS ? left : NN_SHARD_ROWS;
        for (int64_t i = 0; i < here; i++) rows[i] = (first + i) * n / count;
        sum += t->shards[0]->pass(t->shards[0], &t->model, t->records, rows, (int)here, t->def->gradient_weight,
                                  t->gradients);
    }
    return sum / (double)count;
}

// ---------------------------------------------------------------------------------------------- loop

/// Rate of step i of `steps`: constant, or a linear rise followed by half a cosine down to zero.
static double rate_at(const nn_train_def *def, int64_t i, int64_t steps) {
    if (def->schedule == NN_SCHEDULE_CONSTANT) return def->learning_rate;
    double at = ((double)i + 1) / (double)steps, s, c;
    if (at < WARM_UP) return def->learning_rate * at / WARM_UP;
    core_sincos(CORE_PI * ((double)i / (double)steps - WARM_UP) / (1 - WARM_UP), &s, &c);
    return def->learning_rate * 0.5 * (1 + c);
}

/// Rate of the next step: the schedule's, after trouble a part of it, a smaller one each time, behind a rise of its
/// own.
static double next_rate(const nn_train_def *def, const nn_train_state *s) {
    double rate = rate_at(def, s->step, s->steps);
    if (s->trouble_step == 0) return rate;
    double risen = (double)(s->step - s->trouble_step + 1) / (WARM_UP * (double)s->steps);
    for (int64_t i = 0; i < s->recoveries; i++) rate *= RECOVERY_RATE;
    return rate * (risen < 1 ? risen : 1);
}

/// Steps that take about `seconds`, from the time of the first ones. Leaves the trainer used.
static int64_t time_steps(trainer *t, double seconds) {
    double start = core_wall_seconds(), now = start;
    int64_t n = 0;
    while (n < TIMING_STEPS_MIN || now - start < TIMING_PART * seconds) {
        trainer_step(t, t->def->learning_rate);
        n++;
        now = core_wall_seconds();
        if (now - start > seconds || now < start) break; // steps longer than everything; a clock put back
    }
    double each = (now - start) / (double)n, steps = each > 0 ? (1 - TIMING_PART) * seconds / each : 1;
    return steps < 1 ? 1 : steps > (double)NN_STEPS_MAX ? NN_STEPS_MAX : (int64_t)steps;
}

/// What is to be saved, looking into the trainer.
static nn_train_state view_state(trainer *t) {
    nn_train_state state = {.count_parameters = t->model.count_parameters,
                            .parameters = t->model.parameters,
                            .best = t->best,
                            .curve = t->curve,
                            .m = t->adam->m,
                            .v = t->adam->v};
    if (t->soap) state.bases = nn__soap_bases(t->soap, &state.count_bases);
    return state;
}

/// The trainer as it was when `from` was saved. ARG: of other data or another def.
static core_status trainer_resume(trainer *t, const nn_train_state *from, uint64_t identity, nn_train_state *state,
                                  core_error *err) {
    CORE_CHECK(from->identity == identity && from->count_parameters == state->count_parameters &&
                   from->count_bases == state->count_bases,
               CORE_ARG, "training: the saved state belongs to other rows or other options");
    size_t bytes = (size_t)state->count_parameters * sizeof(float);
    memcpy(state->parameters, from->parameters, bytes);
    memcpy(state->best, from->best, bytes);
    memcpy(state->m, from->m, bytes);
    memcpy(state->v, from->v, bytes);
    memcpy(state->curve, from->curve, NN_CURVE_MAX * sizeof(float));
    if (state->count_bases > 0) memcpy(state->bases, from->bases, (size_t)state->count_bases * sizeof(float));
    nn_train_state arrays = *state;
    *state = *from;
    state->parameters = arrays.parameters, state->best = arrays.best, state->curve = arrays.curve;
    state->m = arrays.m, state->v = arrays.v, state->bases = arrays.bases;
    t->adam->step = state->step - state->trouble_step;

    // rows drawn in this epoch
    int64_t drawn = state->step * t->def->batch, epoch = drawn / t->data->n;
    start_epoch(t, (uint64_t)epoch);
    for (int64_t left = drawn - epoch * t->data->n; left > 0;) {
        int count = left < t->def->batch ? (int)left : t->def->batch;
        draw_from_epoch(t, count, t->rows);
        left -= count;
    }
    return CORE_OK;
}

/// Looks, at the end of a stretch of steps of this mean loss, whether the training is alive. *trouble: what is wrong.
static core_status look(const trainer *t, const nn_train_state *s, double loss, int64_t stretch, double rate,
                        int64_t *trouble, core_error *err) {
    const long long step = (long long)s->step, steps = (long long)s->steps;
    // a ReLU turns NaN into 0: a broken weight need not show in the loss
    *trouble = NN_TROUBLE_NONFINITE;
    CORE_CHECK(nn_model_validate(&t->model, NULL) == CORE_OK, CORE_NOT_CONVERGED,
               "training: a weight is not finite after step %lld of %lld (learning rate %g); try a smaller one", step,
               steps, rate);
    double limit = EXPLODED * (t->loss_nothing > s->loss_fresh ? t->loss_nothing : s->loss_fresh);
    *trouble = NN_TROUBLE_EXPLODED;
    CORE_CHECK(!(loss > limit) || limit <= 0, CORE_NOT_CONVERGED,
               "training: the loss has exploded to %g at step %lld of %lld (above %g; learning rate %g); try a smaller "
               "one",
               loss, step, steps, limit, rate);
    *trouble = NN_TROUBLE_DEAD;
    if (stretch % PROBE_EVERY == 0 || s->step == s->steps) {
        int layer, dead;
        nn__count_dead(&t->model, t->data, &layer, &dead);
        // a layer with a unit left still learns; without, the output is constant and no gradient comes through: right
        // where the targets are (the moment arm of two discs)
        const bool may_be_constant = t->loss_constant <= CONSTANT * s->loss_fresh;
        CORE_CHECK(dead < t->model.width || may_be_constant, CORE_NOT_CONVERGED,
                   "training: all %d units of hidden layer %d are dead at step %lld of %lld (learning rate %g); try a "
                   "smaller one",
                   dead, layer + 1, step, steps, rate);
    }
    *trouble = NN_TROUBLE_NONE;
    return CORE_OK;
}

/// Keeps the weights behind the best stretch.
static void keep_best(trainer *t, nn_train_state *s, double loss) {
    if (s->best_step > 0 && !(loss < s->loss_best)) return;
    s->loss_best = loss;
    s->best_step = s->step;
    memcpy(t->best, t->model.parameters, (size_t)t->model.count_parameters * sizeof(float));
}

/// After trouble, up to RECOVERIES_MAX times and not behind the last step: on from the best weights, with a fresh
/// optimiser. Their stretch's loss is from before its last step, which may have broken them: then the fresh ones are
/// the best. Otherwise the failure stands.
static core_status recover(trainer *t, nn_train_state *s, int64_t trouble, const core_error *cause, core_error *err) {
    if (s->recoveries == RECOVERIES_MAX || s->step == s->steps) {
        if (err) *err = *cause;
        if (s->recoveries > 0)
            core_error_prefix(err, cause->code, "gone wrong %d times (before: %s at step %lld)", (int)s->recoveries + 1,
                              nn_trouble_name((nn_trouble)s->trouble), (long long)s->trouble_step);
        return cause->code;
    }
    const size_t bytes = (size_t)t->model.count_parameters * sizeof(float);
    memcpy(t->model.parameters, t->best, bytes);
    if (!(probe_loss(t) <= s->loss_fresh)) {
        weights_reset(t);
        memcpy(t->best, t->model.parameters, bytes);
        s->best_step = 0;
    }
    optimiser_reset(t);
    s->trouble = trouble;
    s->trouble_step = s->step;
    s->recoveries++;
    return CORE_OK;
}

/// A step and what it adds to the sums of the report.
static core_status take_step(trainer *t, nn_train_state *s, double rate, double *loss, core_error *err) {
    const int64_t steps = s->steps, edge = steps / 100 > 0 ? steps / 100 : 1;
    *loss = trainer_step(t, rate);
    s->step++;
    CORE_CHECK(isfinite(*loss), CORE_NOT_CONVERGED,
               "training: the loss is %g at step %lld of %lld (learning rate %g); try a smaller one", *loss,
               (long long)s->step, (long long)steps, rate);
    if (s->step <= edge) s->loss_first += *loss / (double)edge;
    if (s->step > steps - edge) s->loss_last += *loss / (double)edge;
    return CORE_OK;
}

/// The steps that are left. Stretches end at fixed steps, so that an interrupted training has the same ones.
static core_status run(trainer *t, nn_train_state *s, const core_progress *progress, const char *stage,
                       core_error *err) {
    const int64_t steps = s->steps, every = steps / REPORTS > 0 ? steps / REPORTS : 1;
    const double batch = t->def->batch, gradient_weight = t->def->gradient_weight;
    t->loss_nothing = nn__zero_loss(t->data, t->poses, gradient_weight);
    t->loss_constant = nn__mean_loss(t->data, t->poses, gradient_weight);
    double recent = 0;
    int count = 0;
    while (s->step < steps) {
        double rate = next_rate(t->def, s), loss;
        int64_t trouble = NN_TROUBLE_NONFINITE;
        core_error cause = {0};
        core_status status = take_step(t, s, rate, &loss, &cause);
        if (status == CORE_OK) recent += loss, count++;
        bool end = s->step % every == 0 || s->step == steps;
        double mean = count > 0 ? recent / count : s->best_step > 0 ? s->loss_best : s->loss_fresh;
        if (end) t->curve[(s->step - 1) / every] = (float)mean;
        if (status == CORE_OK && !end) continue;
        if (status == CORE_OK) status = look(t, s, mean, s->step / every, rate, &trouble, &cause);
        if (status == CORE_OK)
            keep_best(t, s, mean);
        else
            CORE_TRY(recover(t, s, trouble, &cause, err));
        if (end) {
            char note[32];
            snprintf(note, sizeof note, "loss %.3e", mean);
            core_progress_report(progress, stage, (double)s->step * batch, (double)steps * batch, "samples", note);
            if (t->def->save) CORE_TRY(t->def->save(t->def->save_user, s, err));
        }
        recent = 0;
        count = 0;
    }
    return CORE_OK;
}

/// The trainer's start: fresh or resumed, with the number of steps in *state.
static core_status begin(trainer *t, nn_train_state *state, core_error *err) {
    const nn_train_def *def = t->def;
    *state = view_state(t);
    trainer_reset(t);
    if (def->save || def->resume) state->identity = nn__train_identity(t->data, def);
    if (def->resume) return trainer_resume(t, def->resume, state->identity, state, err);
    if (def->seconds > 0) {
        state->steps = time_steps(t, def->seconds);
        trainer_reset(t);
    } else {
        state->steps = llround(def->epochs * (double)t->data->n / def->batch);
    }
    if (state->steps < 1) state->steps = 1;
    memcpy(t->best, t->model.parameters, (size_t)t->model.count_parameters * sizeof(float));
    state->loss_fresh = probe_loss(t);
    return CORE_OK;
}

core_status nn_train(const nn_data *data, const nn_train_def *def, const core_progress *progress, const char *stage,
                     nn_model *model, nn_train_report *report, core_error *err) {
    core_status status = CORE_OK;
    trainer t = {0};
    nn_train_state state = {0};
    CORE_CHECK(model, CORE_ARG, "nn_train: null argument");
    *model = (nn_model){0};
    CORE_TRY(nn__data_validate(data, err));
    CORE_TRY(check_def(def, data, err));
    double start = core_wall_seconds();
    CORE_TRY_DONE(trainer_create(data, def, &t, err));
    CORE_TRY_DONE(begin(&t, &state, err));
    int64_t before = state.step;
    double start_steps = core_wall_seconds();
    status = run(&t, &state, progress, stage, err);
    if (status != CORE_OK && status != CORE_NOT_CONVERGED) goto done;
    if (status != CORE_OK) memcpy(t.model.parameters, t.best, (size_t)t.model.count_parameters * sizeof(float));

    double now = core_wall_seconds(), batch = def->batch;
    int layer, dead;
    nn_train_report made = {.steps = state.step,
                            .epochs = (double)state.step * batch / (double)data->n,
                            .seconds = now - start,
                            .loss_first = state.loss_first,
                            .loss_last = state.loss_last,
                            .dead_units = nn__count_dead(&t.model, data, &layer, &dead),
                            .loss_best = state.loss_best,
                            .best_step = state.best_step,
                            .recoveries = state.recoveries,
                            .trouble = (nn_trouble)state.trouble,
                            .trouble_step = state.trouble_step};
    const int64_t every = state.steps / REPORTS > 0 ? state.steps / REPORTS : 1;
    made.count_curve = (int)((state.step + every - 1) / every);
    memcpy(made.curve, t.curve, sizeof made.curve);
    if (now > start_steps) made.samples_per_second = (double)(state.step - before) * batch / (now - start_steps);
    if (report) *report = made;
    *model = t.model;
    t.model = (nn_model){0};
done:
    trainer_clear(&t);
    return status;
}
