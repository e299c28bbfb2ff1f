// nntrain: labelled poses -> contact maps. Trains both nets of every pair given and writes one bundle.
#include "cmd_sweep.h"
#include "cmd_train.h"

#include <math.h>
#include <string.h>

static const char doc[] = "Trains the distance net and the moment-arm net of every pair of shapes given, writes one "
                          "bundle of maps and prints "
                          "their accuracy on held-out samples.\v"
                          "Examples: nntrain hash__hash.samples.h5 -o hash.maps.h5 --width 32 --seconds 25\n"
                          "          nntrain hash__hash.samples.h5 --sweep 2x16,3x32,4x64\n"
                          "          nntrain hash__hash.samples.h5 -o hash.maps.h5 --target-error 0.002\n"
                          "          nntrain a__a.samples.h5 a__b.samples.h5 --update ab.maps.h5";

typedef struct options {
    const char *output, *samples, *sweep, *target, *update, *report;
    char **files; // borrowed from argv
    int count_files;
    cmd_train_options train;
} options;

enum { KEY_SAMPLES = 1001, KEY_SWEEP, KEY_TARGET, KEY_UPDATE, KEY_REPORT };

static const struct argp_option argp_options[] = {
    {"output", 'o', "MAPS.h5", 0, "the bundle to write", 0},
    {"samples", KEY_SAMPLES, "N", 0, "rows of each file used (all)", 0},
    {"sweep", KEY_SWEEP, "SIZES", 0,
     "train nets of several sizes LAYERSxWIDTH,... and print them side by side; writes nothing unless --target-error "
     "chooses",
     0},
    {"target-error", KEY_TARGET, "E", 0,
     "take the smallest size whose mean error of d (column d mean: held-out samples within 0.1 of contact, against "
     "their "
     "labels, units of the larger circumradius) is at most E; sizes: --sweep, or " CMD_SWEEP_LADDER,
     0},
    {"update", KEY_UPDATE, "MAPS.h5", 0,
     "reuse the maps of this bundle whose samples and options are the same, keep those of other pairs; written back "
     "there unless -o names another file",
     0},
    {"report", KEY_REPORT, "FILE.html", 0,
     "write a page with loss curves, histograms of errors and slices of d: at a glance, whether to trust the maps", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->train;
        return 0;
    case 'o':
        o->output = argument;
        return 0;
    case KEY_SAMPLES:
        o->samples = argument;
        return 0;
    case KEY_SWEEP:
        o->sweep = argument;
        return 0;
    case KEY_TARGET:
        o->target = argument;
        return 0;
    case KEY_REPORT:
        o->report = argument;
        return 0;
    case KEY_UPDATE:
        o->update = argument;
        return 0;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count_files = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        cmd_usage("no files given, expected FILE.samples.h5...");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---------------------------------------------------------------------------------------------- maps of one file

// What a call works on and has done so far.
typedef struct session {
    const options *o;
    const cspace_train_def *def;
    const core_progress *progress;
    cmd_sweep sweep;   // count 0: one size, that of def
    double target;     // NaN: none
    cspace_bundle old; // of --update
    cspace_bundle result;
    cspace_report *report; // NULL: none wanted
    char **states;         // (count_files x CMD_SWEEP_MAX) files of unfinished trainings, NULL: none
    bool quiet;
    int rows_printed, count_trained, count_reused, count_kept, count_dropped;
} session;

// Takes the map of these samples and options out of the old bundle; {0} is left there.
static bool take_current(session *s, const cspace_samples *samples, cspace_map *map) {
    const uint64_t input_hash = cspace_train_input_hash(samples->input_hash, s->def);
    const bool swapped = cspace_pair_is_swapped(samples->a.name, samples->b.name, samples->ratio);
    const sdf_shape *a = swapped ? &samples->b : &samples->a, *b = swapped ? &samples->a : &samples->b;
    for (int i = 0; i < s->old.count_maps; i++) {
        cspace_map *m = &s->old.maps[i];
        if (m->input_hash != input_hash || m->hash_a != a->hash || m->hash_b != b->hash) continue;
        if (strcmp(m->a, a->name) != 0 || strcmp(m->b, b->name) != 0) continue;
        *map = *m;
        memset(m, 0, sizeof *m);
        return true;
    }
    return false;
}

// Fails now, not after a training, if a file could not be written. What is there stays.
static core_status check_writable(const char *path, core_error *err) {
    char *temporary = NULL;
    CORE_TRY(core_file_temporary(path, &temporary, err));
    core_status status = core_file_write(temporary, "", 0, err);
    if (status == CORE_OK) (void)remove(temporary);
    core_free(temporary);
    return status;
}

// "OUTPUT.A__B[__RATIO]SUFFIX". Caller frees.
static core_status beside_output(const session *s, const cspace_samples *samples, const char *suffix, char **path,
                                 core_error *err) {
    core_status status = CORE_OK;
    char ratio[32] = "";
    if (samples->ratio != 1.0) snprintf(ratio, sizeof ratio, "__%.9g", samples->ratio);
    const size_t n_bytes = strlen(s->o->output) + 2 * CORE_NAME_MAX + sizeof ratio + strlen(suffix) + 4;
    CORE_NEW_DONE(*path, n_bytes);
    snprintf(*path, n_bytes, "%s.%s__%s%s%s", s->o->output, samples->a.name, samples->b.name, ratio, suffix);
done:
    return status;
}

// A training that went wrong: its best weights go into a bundle of their own, the error says where.
static core_status keep_best(const session *s, const cspace_samples *samples, cspace_map *map, core_error *cause) {
    core_status status = CORE_OK;
    cspace_bundle one = {0};
    char *path = NULL;
    core_error *err = cause;
    const core_error first = *cause;
    const bool swapped = cspace_pair_is_swapped(samples->a.name, samples->b.name, samples->ratio);
    CORE_TRY_DONE(beside_output(s, samples, ".best.h5", &path, err));
    CORE_TRY_DONE(
        cspace_bundle_add(&one, map, swapped ? &samples->b : &samples->a, swapped ? &samples->a : &samples->b, err));
    CORE_TRY_DONE(cspace_bundle_write(path, &one, NULL, err));
    *cause = first;
    fprintf(stderr, "nntrain: the best weights so far (mean error of d %.5f) are kept in %s\n",
            one.maps[0].error.d_mean, path);
done:
    core_free(path);
    cspace_bundle_clear(&one);
    return status;
}

static core_status make_map(session *s, const cspace_samples *samples, char **state, cspace_map *map, core_error *err) {
    if (take_current(s, samples, map)) {
        s->count_reused++;
    } else {
        CORE_TRY(beside_output(s, samples, ".training.h5", state, err));
        cspace_train_def def = *s->def;
        def.state_path = *state;
        if (!s->quiet && core_file_exists(*state))
            fprintf(stderr, "nntrain: going on with the unfinished training %s\n", *state);
        const core_status status = cspace_train(samples, &def, s->progress, map, err);
        cmd_progress_end();
        if (status == CORE_NOT_CONVERGED) {
            (void)remove(*state); // it would only fail again
            if (map->kernel_distance) CORE_TRY(keep_best(s, samples, map, err));
        }
        CORE_TRY(status);
        s->count_trained++;
    }
    if (s->rows_printed++ == 0) cmd_train_print_heading(stdout);
    cmd_train_print_row(stdout, map);
    cmd_train_warn("nntrain", map);
    return CORE_OK;
}

// Where the training of one size of a sweep is kept: beside the output, else beside the samples. Caller frees; NULL:
// nothing can be written there.
static core_status sweep_state(const session *s, const cspace_samples *samples, int index, int i_size, char **path,
                               core_error *err) {
    core_status status = CORE_OK;
    char suffix[48], *made = NULL;
    snprintf(suffix, sizeof suffix, ".%dx%d.training.h5", s->sweep.layers[i_size], s->sweep.width[i_size]);
    if (s->o->output) return beside_output(s, samples, suffix, path, err);
    const size_t n_bytes = strlen(s->o->files[index]) + sizeof suffix;
    CORE_NEW_DONE(made, n_bytes);
    snprintf(made, n_bytes, "%s%s", s->o->files[index], suffix);
    if (check_writable(made, NULL) == CORE_OK) {
        *path = made;
        made = NULL;
    } else if (!s->quiet) {
        fprintf(stderr, "nntrain: %s cannot be written: an interrupted training of this size starts again\n", made);
    }
done:
    core_free(made);
    return status;
}

static void remove_states(const session *s, int index) {
    for (int i = 0; i < CMD_SWEEP_MAX; i++)
        if (s->states[index * CMD_SWEEP_MAX + i]) (void)remove(s->states[index * CMD_SWEEP_MAX + i]);
}

// One size of a sweep.
static core_status train_size(const session *s, const cspace_samples *samples, int index, int i, cspace_map *map,
                              core_error *err) {
    char **state = &s->states[index * CMD_SWEEP_MAX + i];
    cspace_train_def def = *s->def;
    def.net.layers = s->sweep.layers[i], def.net.width = s->sweep.width[i];
    CORE_TRY(sweep_state(s, samples, index, i, state, err));
    def.state_path = *state;
    if (*state && !s->quiet && core_file_exists(*state)) fprintf(stderr, "nntrain: going on with %s\n", *state);
    const core_status status = cspace_train(samples, &def, s->progress, map, err);
    cmd_progress_end();
    if (status == CORE_NOT_CONVERGED && *state) (void)remove(*state); // it would only fail again
    return status;
}

// Every size in turn, smallest first, up to the first that meets the target; *map stays {0} without a target.
static core_status make_sweep(session *s, const cspace_samples *samples, int index, cspace_map *map, core_error *err) {
    core_status status = CORE_OK;
    cspace_map tried = {0};
    double best = INFINITY;
    int i_best = 0;
    for (int i = 0; i < s->sweep.count; i++) {
        double nanoseconds = 0.0;
        CORE_TRY_DONE(train_size(s, samples, index, i, &tried, err));
        CORE_TRY_DONE(cmd_sweep_time_query(&tried, &samples->held_out, &nanoseconds, err));
        if (s->rows_printed++ == 0) cmd_sweep_print_heading(stdout);
        cmd_sweep_print_row(stdout, &tried, nanoseconds);
        cmd_train_warn("nntrain", &tried);
        if (tried.error.d_mean <= s->target) {
            *map = tried;
            memset(&tried, 0, sizeof tried);
            goto done;
        }
        if (tried.error.d_mean < best) best = tried.error.d_mean, i_best = i;
        cspace_map_clear(&tried);
    }
    if (!isnan(s->target)) remove_states(s, index); // the sweep is over
    CORE_CHECK_DONE(isnan(s->target), CORE_NOT_CONVERGED,
                    "no size reaches a mean error of d of %g; the best, %dx%d, has %.5f. Larger nets (--sweep), longer "
                    "training (--epochs) or more samples may; no bundle was written",
                    s->target, s->sweep.layers[i_best], s->sweep.width[i_best], best);
done:
    cspace_map_clear(&tried);
    return status;
}

// The report's held-out poses have to be seen from the map's shape a.
static core_status report_map(session *s, const cspace_samples *samples, bool swapped, const cspace_map *map,
                              core_error *err) {
    if (!swapped) return cspace_report_add(s->report, map, &samples->a, &samples->b, &samples->held_out, err);
    cspace_rows rows = {0};
    CORE_TRY(cspace_rows_swap(&samples->held_out, &rows, err));
    const core_status status = cspace_report_add(s->report, map, &samples->b, &samples->a, &rows, err);
    cspace_rows_clear(&rows);
    return status;
}

// One file: read, train, print, add to the bundle.
static core_status train_file(session *s, int index, uint64_t *content_hash, core_error *err) {
    core_status status = CORE_OK;
    cspace_samples samples = {0};
    cspace_map map = {0};
    const char *path = s->o->files[index];
    CORE_TRY_DONE(cspace_samples_read(path, &samples, content_hash, err));
    status = s->sweep.count > 0 ? make_sweep(s, &samples, index, &map, err)
                                : make_map(s, &samples, &s->states[index * CMD_SWEEP_MAX], &map, err);
    if (status == CORE_OK && map.kernel_distance) {
        // the bundle's stored order
        const bool swapped = cspace_pair_is_swapped(samples.a.name, samples.b.name, samples.ratio);
        if (s->report) CORE_TRY_DONE(report_map(s, &samples, swapped, &map, err));
        status = cspace_bundle_add(&s->result, &map, swapped ? &samples.b : &samples.a,
                                   swapped ? &samples.a : &samples.b, err);
    }
    if (status != CORE_OK) core_error_prefix(err, status, "%s", path);
done:
    cspace_map_clear(&map);
    cspace_samples_clear(&samples);
    return status;
}

// Maps of the old bundle that no file was about: kept, unless a shape of theirs has changed.
static core_status keep_others(session *s, core_error *err) {
    for (int i = 0; i < s->old.count_maps; i++) {
        cspace_map *m = &s->old.maps[i];
        if (!m->kernel_distance) continue; // reused
        const cspace_map *there = NULL;
        bool swapped;
        if (cspace_bundle_find(&s->result, m->a, m->b, m->ratio, &there, &swapped, NULL) == CORE_OK) continue;
        const core_status status = cspace_bundle_add(&s->result, m, cspace_bundle_shape(&s->old, m->a),
                                                     cspace_bundle_shape(&s->old, m->b), err);
        if (status == CORE_SHAPE) {
            fprintf(stderr, "nntrain: %s-%s is left out: %s\n", m->a, m->b, err->message);
            *err = (core_error){0};
            s->count_dropped++;
            continue;
        }
        CORE_TRY(status);
        s->count_kept++;
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- the command

// What a file is about, in the bundle's order.
typedef struct file_pair {
    char a[CORE_NAME_MAX], b[CORE_NAME_MAX];
    double ratio;
} file_pair;

// Fails now, not after the first training, if a file cannot be read or two are of one pair.
static core_status check_files(const options *o, core_error *err) {
    core_status status = CORE_OK;
    file_pair *pairs = NULL;
    CORE_NEW_DONE(pairs, (size_t)o->count_files);
    for (int i = 0; i < o->count_files; i++) {
        file_pair found;
        CORE_TRY_DONE(cspace_samples_read_pair(o->files[i], found.a, found.b, &found.ratio, err));
        pairs[i] = found;
        if (cspace_pair_is_swapped(found.a, found.b, found.ratio)) {
            memcpy(pairs[i].a, found.b, sizeof found.b);
            memcpy(pairs[i].b, found.a, sizeof found.a);
            pairs[i].ratio = 1.0 / found.ratio;
        }
        for (int k = 0; k < i; k++) {
            const bool same = strcmp(pairs[i].a, pairs[k].a) == 0 && strcmp(pairs[i].b, pairs[k].b) == 0 &&
                              fabs(pairs[i].ratio - pairs[k].ratio) <= 1e-9 * pairs[k].ratio;
            CORE_CHECK_DONE(!same, CORE_ARG, "%s: the pair %s-%s is in %s already", o->files[i], found.a, found.b,
                            o->files[k]);
        }
    }
done:
    core_free(pairs);
    return status;
}

static core_status run(session *s, core_h5_provenance provenance, core_error *err) {
    core_status status = CORE_OK;
    const options *o = s->o;
    uint64_t *hashes = NULL;
    const char **names = NULL;
    CORE_NEW_DONE(hashes, (size_t)o->count_files);
    CORE_NEW_DONE(names, (size_t)o->count_files);
    CORE_NEW_DONE(s->states, (size_t)o->count_files * CMD_SWEEP_MAX);
    CORE_TRY_DONE(check_files(o, err));
    if (o->output) CORE_TRY_DONE(cmd_check_output(o->output, CSPACE_MAPS_FORMAT, CSPACE_MAPS_VERSION, err));
    if (o->update) CORE_TRY_DONE(cspace_bundle_read(o->update, &s->old, NULL, err));
    if (o->report) {
        CORE_TRY_DONE(check_writable(o->report, err));
        CORE_TRY_DONE(cspace_report_create(&s->report, err));
    }
    for (int i = 0; i < o->count_files; i++) {
        names[i] = o->files[i];
        CORE_TRY_DONE(train_file(s, i, &hashes[i], err));
    }
    if (o->output) {
        CORE_TRY_DONE(keep_others(s, err));
        provenance.count_inputs = o->count_files;
        provenance.input_names = names;
        provenance.input_hashes = hashes;
        provenance.blas_core = nn_blas_core();
        CORE_TRY_DONE(cspace_bundle_write(o->output, &s->result, &provenance, err));
    }
    if (o->report) CORE_TRY_DONE(cspace_report_write(s->report, o->report, err));
    for (int i = 0; i < o->count_files; i++) remove_states(s, i);
    if (o->update)
        printf("%s: %d maps trained, %d reused, %d of other pairs kept, %d left out\n", o->output, s->count_trained,
               s->count_reused, s->count_kept, s->count_dropped);
done:
    for (int i = 0; s->states && i < o->count_files * CMD_SWEEP_MAX; i++) core_free(s->states[i]);
    core_free(s->states);
    cspace_report_destroy(&s->report);
    cspace_bundle_clear(&s->old);
    cspace_bundle_clear(&s->result);
    core_free(hashes);
    core_free(names);
    return status;
}

// What the options say together; exit 2 where they contradict each other.
static void resolve(options *o, session *s) {
    s->target = o->target ? cmd_number("--target-error", o->target, 1e-9, 1.0) : NAN;
    if (o->sweep || o->target) {
        cmd_sweep_parse("--sweep", o->sweep ? o->sweep : CMD_SWEEP_LADDER, &s->sweep);
        if (o->update) cmd_usage("--update goes with neither --sweep nor --target-error");
        if (cmd_train_has_size(&o->train))
            cmd_usage("--layers and --width: --sweep and --target-error choose the sizes themselves");
    }
    if (o->update && !o->output) o->output = o->update;
    if (o->sweep && !o->target && o->output)
        cmd_usage("-o %s: --sweep alone writes no bundle; add --target-error E to choose a size, or leave out -o",
                  o->output);
    if (o->report && o->sweep && !o->target) cmd_usage("--report: --sweep alone chooses no map to report on");
    if (!o->output && !(o->sweep && !o->target)) cmd_usage("-o MAPS.h5 is missing");
    for (int i = 0; o->output && i < o->count_files; i++)
        if (core_file_same(o->files[i], o->output)) cmd_usage("%s: input and output are the same file", o->output);
    for (int i = 0; i < o->count_files; i++)
        for (int k = 0; k < i; k++)
            if (core_file_same(o->files[i], o->files[k])) cmd_usage("%s: the same file twice", o->files[i]);
    for (int i = 0; o->report && i < o->count_files; i++)
        if (core_file_same(o->files[i], o->report)) cmd_usage("%s: input and report are the same file", o->report);
    if (core_file_same(o->report, o->output)) cmd_usage("%s: output and report are the same file", o->report);
}

int main(int argc, char **argv) {
    static const struct argp_child children[] = {{&cmd_train_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        argp_options, parse, "FILE.samples.h5... -o MAPS.h5\nFILE.samples.h5... --sweep SIZES", doc, children,
        NULL,         NULL};
    options o = {0};
    bool quiet = false;
    core_h5_provenance provenance = cmd_provenance(argc, argv, 0); // before argp reorders the words
    cmd_parse(&argp, argc, argv, &o, &quiet);
    cspace_train_def def;
    session s = {.o = &o, .def = &def};
    s.quiet = quiet;
    resolve(&o, &s);
    cmd_train_resolve(&o.train, &def);
    if (o.samples) def.samples = cmd_integer("--samples", o.samples, 1, 1000000000);
    provenance.seed = def.net.seed;
    const core_progress progress = cmd_progress(quiet);
    s.progress = &progress;
    core_error err = {0};
    const core_status status = run(&s, provenance, &err);
    cmd_progress_end();
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
