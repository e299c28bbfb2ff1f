// csample: two distance grids -> labelled relative poses of the pair, for nntrain.
#include "cmd_common.h"
#include "cspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char doc[] = "Draws relative poses of two shapes at random and labels each with signed distance, gradient "
                          "and moment arms. Most poses lie near "
                          "contact, the rest anywhere in reach. The result is what nntrain reads.\v"
                          "Lengths are in units of the larger circumradius. One shape alone is paired with itself.\n\n"
                          "Example: csample hash.sdf.h5 u.sdf.h5 -o hash__u.samples.h5 --samples 1000000 --threads 2";

#define SAMPLES_MIN 1000
#define SAMPLES_MAX 100000000

typedef struct options {
    const char *output;
    const char *files[2]; // borrowed from argv
    int count_files;
    double ratio;
    cspace_sample_def def;
} options;

enum { KEY_SAMPLES = 1001, KEY_NEAR, KEY_BAND, KEY_LABELS, KEY_RATIO, KEY_SEED, KEY_THREADS, KEY_HELD_OUT, KEY_SMOOTH };

static const struct argp_option argp_options[] = {
    {"output", 'o', "FILE.samples.h5", 0, "the file to write", 0},
    {"samples", KEY_SAMPLES, "N", 0, "rows for training (500000)", 0},
    {"held-out", KEY_HELD_OUT, "N", 0, "rows of another seed, for accuracy tables (20000)", 0},
    {"near-fraction", KEY_NEAR, "X", 0, "share of rows within the band of contact (0.9)", 0},
    {"band", KEY_BAND, "X", 0, "largest |distance| of rows near contact (0.1)", 0},
    {"labels", KEY_LABELS, "minimiser|exact", 0, "where labels come from (minimiser); exact: the polygons themselves",
     0},
    {"smooth", KEY_SMOOTH, "SIGMA", 0, "average labels over poses of this spread, 0 to 0.1 (0: none)", 0},
    {"ratio", KEY_RATIO, "X", 0, "circumradius of B over that of A (1)", 0},
    {"seed", KEY_SEED, "N", 0, "of the random numbers (1)", 0},
    {"threads", KEY_THREADS, "N", 0, "threads (all processors); changes no bit of the result", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
    case KEY_SAMPLES:
        o->def.samples = cmd_integer("--samples", argument, SAMPLES_MIN, SAMPLES_MAX);
        return 0;
    case KEY_HELD_OUT:
        o->def.held_out = cmd_integer("--held-out", argument, 0, SAMPLES_MAX);
        return 0;
    case KEY_NEAR:
        o->def.near_fraction = cmd_number("--near-fraction", argument, 0.0, 1.0);
        return 0;
    case KEY_BAND:
        o->def.band = cmd_number("--band", argument, 1e-3, 2.0);
        return 0;
    case KEY_LABELS:
        o->def.labels = (cspace_labels)cmd_choice("--labels", argument, cspace_labels_names, CSPACE_LABELS_COUNT);
        return 0;
    case KEY_SMOOTH:
        o->def.smoothing = cmd_number("--smooth", argument, 0.0, 0.1);
        return 0;
    case KEY_RATIO:
        o->ratio = cmd_number("--ratio", argument, 1.0 / 64.0, 64.0);
        return 0;
    case KEY_SEED:
        o->def.seed = (uint64_t)cmd_integer("--seed", argument, 0, INT64_MAX);
        return 0;
    case KEY_THREADS:
        o->def.threads = (int)cmd_integer("--threads", argument, 1, 1024);
        return 0;
    case ARGP_KEY_ARG:
        if (o->count_files == 2) cmd_usage("found a third file, \"%s\", expected A.sdf.h5 [B.sdf.h5]", argument);
        o->files[o->count_files++] = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        cmd_usage("no files given, expected A.sdf.h5 [B.sdf.h5]");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// One shape file with its grid.
typedef struct source {
    const char *path; // borrowed
    sdf_shape shape;
    sdf_grid grid;
    uint64_t hash; // content of the file
} source;

static void source_clear(source *s) {
    sdf_shape_clear(&s->shape);
    sdf_grid_clear(&s->grid);
}

// Puts the pair into the order it is stored in: by name, of equal names the larger first.
static void order_pair(const options *o, bool quiet, source **a, source **b, double *ratio) {
    *ratio = o->ratio;
    if (!cspace_pair_is_swapped((*a)->shape.name, (*b)->shape.name, *ratio)) return;
    source *other = *a;
    *a = *b;
    *b = other;
    *ratio = 1.0 / *ratio;
    if (quiet) return;
    fprintf(stderr, "csample: the pair is stored as %s-%s (names in order), ratio %g\n", (*a)->shape.name,
            (*b)->shape.name, *ratio);
}

static void print_summary(const options *o, const cspace_samples *s, double seconds) {
    int64_t negative = 0;
    for (int64_t i = 0; i < s->training.n; i++) negative += s->training.distance[i] < 0.0;
    printf("%s: %" PRId64 " samples of %s-%s (ratio %g), %" PRId64 " held out\n", o->output, s->training.n, s->a.name,
           s->b.name, s->ratio, s->held_out.n);
    printf("negative %" PRId64 ", positive %" PRId64 ", acceptance rate %.4f, %.0f samples/s\n", negative,
           s->training.n - negative, s->acceptance_rate, (double)(s->training.n + s->held_out.n) / seconds);
}

static core_status run(const options *o, bool quiet, core_h5_provenance provenance, core_error *err) {
    core_status status = CORE_OK;
    source first = {.path = o->files[0]}, second = {.path = o->files[1]};
    source *a = &first, *b = o->count_files == 2 ? &second : &first;
    cspace_samples samples = {0};
    cspace_pair pair;
    double ratio;
    core_progress progress = cmd_progress(quiet);
    CORE_TRY_DONE(sdf_file_read(a->path, &a->shape, &a->grid, &a->hash, err));
    if (b != a) CORE_TRY_DONE(sdf_file_read(b->path, &b->shape, &b->grid, &b->hash, err));
    CORE_CHECK_DONE(strcmp(a->shape.name, b->shape.name) != 0 || a->shape.hash == b->shape.hash, CORE_SHAPE,
                    "%s and %s: two different shapes are both named \"%s\"", a->path, b->path, a->shape.name);
    order_pair(o, quiet, &a, &b, &ratio);
    CORE_TRY_DONE(cmd_check_output(o->output, CSPACE_SAMPLES_FORMAT, CSPACE_SAMPLES_VERSION, err));
    CORE_TRY_DONE(cspace_pair_init(&a->shape, &a->grid, &b->shape, &b->grid, ratio, &pair, err));
    double started = core_wall_seconds();
    status = cspace_sample(&pair, &o->def, &progress, &samples, err);
    cmd_progress_end();
    if (status != CORE_OK) goto done;
    double seconds = core_wall_seconds() - started;
    const char *const names[2] = {a->path, b->path};
    const uint64_t hashes[2] = {a->hash, b->hash};
    provenance.count_inputs = a == b ? 1 : 2;
    provenance.input_names = names;
    provenance.input_hashes = hashes;
    CORE_TRY_DONE(cspace_samples_write(o->output, &samples, &provenance, err));
    if (!quiet) print_summary(o, &samples, seconds);
done:
    cspace_samples_clear(&samples);
    source_clear(&first);
    source_clear(&second);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp argp = {argp_options, parse, "A.sdf.h5 [B.sdf.h5]", doc, NULL, NULL, NULL};
    options o = {.ratio = 1.0, .def = cspace_sample_default_def()};
    o.def.threads = core_thread_available();
    bool quiet = false;
    core_h5_provenance provenance = cmd_provenance(argc, argv, 0); // before argp reorders the words
    cmd_parse(&argp, argc, argv, &o, &quiet);
    if (!o.output) cmd_usage("-o is missing, expected -o FILE.samples.h5");
    for (int i = 0; i < o.count_files; i++)
        if (core_file_same(o.files[i], o.output)) cmd_usage("%s: input and output are the same file", o.output);
    provenance.seed = o.def.seed;
    core_error err = {0};
    core_status status = run(&o, quiet, provenance, &err);
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
