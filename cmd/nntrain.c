// nntrain: labelled poses -> contact maps. Trains both nets of every pair given and writes one bundle.
#include "cmd_train.h"

#include <string.h>

static const char doc[] = "Trains the distance net and the moment-arm net of every pair of shapes given, writes one "
                          "bundle of maps and prints their accuracy on "
                          "held-out samples.\v"
                          "Example: nntrain hash__hash.samples.h5 -o hash.maps.h5 --width 32 --seconds 25";

typedef struct options {
    const char *output;
    const char *samples;
    char **files; // borrowed from argv
    int count_files;
    cmd_train_options train;
} options;

#define KEY_SAMPLES 1001

static const struct argp_option argp_options[] = {{"output", 'o', "MAPS.h5", 0, "the bundle to write", 0},
                                                  {"samples", KEY_SAMPLES, "N", 0, "rows of each file used (all)", 0},
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

// One file: read, train, print its row, add to the bundle.
static core_status train_file(const char *path, const cspace_train_def *def, const core_progress *progress,
                              cspace_bundle *bundle, uint64_t *content_hash, core_error *err) {
    core_status status = CORE_OK;
    cspace_samples samples = {0};
    cspace_map map = {0};
    CORE_TRY_DONE(cspace_samples_read(path, &samples, content_hash, err));
    const cspace_map *there = NULL;
    bool swapped;
    CORE_CHECK_DONE(
        cspace_bundle_find(bundle, samples.a.name, samples.b.name, samples.ratio, &there, &swapped, NULL) != CORE_OK,
        CORE_ARG, "%s: the pair %s-%s is in another of the files already", path, samples.a.name, samples.b.name);
    status = cspace_train(&samples, def, progress, &map, err);
    cmd_progress_end();
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s", path);
        goto done;
    }
    if (bundle->count_maps == 0) cmd_train_print_heading(stdout);
    cmd_train_print_row(stdout, &map);
    swapped = cspace_pair_is_swapped(samples.a.name, samples.b.name, samples.ratio); // the bundle has the stored order
    status = cspace_bundle_add(bundle, &map, swapped ? &samples.b : &samples.a, swapped ? &samples.a : &samples.b, err);
    if (status != CORE_OK) core_error_prefix(err, status, "%s", path);
done:
    cspace_map_clear(&map);
    cspace_samples_clear(&samples);
    return status;
}

static core_status run(const options *o, const cspace_train_def *def, const core_progress *progress,
                       core_h5_provenance provenance, core_error *err) {
    core_status status = CORE_OK;
    cspace_bundle bundle = {0};
    uint64_t *hashes = NULL;
    const char **names = NULL;
    CORE_NEW_DONE(hashes, (size_t)o->count_files);
    CORE_NEW_DONE(names, (size_t)o->count_files);
    CORE_TRY_DONE(cmd_check_output(o->output, CSPACE_MAPS_FORMAT, CSPACE_MAPS_VERSION, err));
    for (int i = 0; i < o->count_files; i++) {
        names[i] = o->files[i];
        CORE_TRY_DONE(train_file(o->files[i], def, progress, &bundle, &hashes[i], err));
    }
    provenance.count_inputs = o->count_files;
    provenance.input_names = names;
    provenance.input_hashes = hashes;
    provenance.blas_core = nn_blas_core();
    CORE_TRY_DONE(cspace_bundle_write(o->output, &bundle, &provenance, err));
done:
    cspace_bundle_clear(&bundle);
    core_free(hashes);
    core_free(names);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp_child children[] = {{&cmd_train_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {argp_options, parse, "FILE.samples.h5... -o MAPS.h5", doc, children, NULL, NULL};
    options o = {0};
    bool quiet = false;
    core_h5_provenance provenance = cmd_provenance(argc, argv, 0); // before argp reorders the words
    cmd_parse(&argp, argc, argv, &o, &quiet);
    if (!o.output) cmd_usage("-o MAPS.h5 is missing");
    for (int i = 0; i < o.count_files; i++)
        if (core_file_same(o.files[i], o.output)) cmd_usage("%s: input and output are the same file", o.output);
    cspace_train_def def;
    cmd_train_resolve(&o.train, &def);
    if (o.samples) def.samples = cmd_integer("--samples", o.samples, 1, 1000000000);
    provenance.seed = def.net.seed;
    const core_progress progress = cmd_progress(quiet);
    core_error err = {0};
    const core_status status = run(&o, &def, &progress, provenance, &err);
    cmd_progress_end();
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
