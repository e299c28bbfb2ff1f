// mkmaps: scene or shape files -> bundle of contact maps. Every stage before simulate, for every pair that is missing
// or stale.
#include "cmd_train.h"
#include "sim.h"

#include <string.h>

static const char doc[] = "Makes the contact maps a scene (or a set of shapes) needs: distance grids, labelled samples "
                          "and trained nets of every pair, each shape "
                          "with itself too. What is current is reused; intermediates are kept in MAPS.h5.cache/.\v"
                          "Examples: mkmaps data/scenes/column_collapse.yaml -o column.maps.h5\n"
                          "          mkmaps shapes/hash.wkt shapes/u.wkt -o two.maps.h5 --samples 500000";

typedef struct options {
    const char *output, *resolution, *margin, *samples, *held_out, *near_fraction, *band;
    char **files; // borrowed from argv
    int count_files;
    cmd_train_options train;
    cspace_labels labels;
    double smoothing;
} options;

enum {
    KEY_RESOLUTION = 1001,
    KEY_MARGIN,
    KEY_SAMPLES,
    KEY_HELD_OUT,
    KEY_NEAR_FRACTION,
    KEY_BAND,
    KEY_LABELS,
    KEY_SMOOTH
};

static const struct argp_option argp_options[] = {
    {"output", 'o', "MAPS.h5", 0, "the bundle to write", 0},
    {"resolution", KEY_RESOLUTION, "N|auto", 0,
     "grid cells across a shape's diameter (256); auto: 6 across its thinnest wall or gap, 256 to 1024", 0},
    {"margin", KEY_MARGIN, "X", 0, "grid around the shape, circumradii (1.0)", 0},
    {"samples", KEY_SAMPLES, "N", 0, "labelled poses of each pair (500000)", 0},
    {"held-out", KEY_HELD_OUT, "N", 0, "further poses of each pair for the accuracy table (20000)", 0},
    {"near-fraction", KEY_NEAR_FRACTION, "X", 0, "share of the poses near contact (0.9)", 0},
    {"band", KEY_BAND, "X", 0, "what near means, units of the larger circumradius (0.1)", 0},
    {"labels", KEY_LABELS, "minimiser|exact", 0, "where labels come from (minimiser); exact: the polygons themselves",
     0},
    {"smooth", KEY_SMOOTH, "SIGMA", 0, "average labels over poses of this spread, 0 to 0.1 (0: none)", 0},
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
    case KEY_RESOLUTION:
        o->resolution = argument;
        return 0;
    case KEY_MARGIN:
        o->margin = argument;
        return 0;
    case KEY_SAMPLES:
        o->samples = argument;
        return 0;
    case KEY_HELD_OUT:
        o->held_out = argument;
        return 0;
    case KEY_NEAR_FRACTION:
        o->near_fraction = argument;
        return 0;
    case KEY_BAND:
        o->band = argument;
        return 0;
    case KEY_LABELS:
        o->labels = (cspace_labels)cmd_choice("--labels", argument, cspace_labels_names, CSPACE_LABELS_COUNT);
        return 0;
    case KEY_SMOOTH:
        o->smoothing = cmd_number("--smooth", argument, 0.0, 0.1);
        return 0;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count_files = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        cmd_usage("no files given, expected SCENE.yaml or SHAPE...");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void resolve(const options *o, cspace_pipeline_def *def) {
    core_error err = {0};
    if (cspace_pipeline_default_def("default", def, &err) != CORE_OK) cmd_usage("%s", err.message);
    cmd_train_resolve(&o->train, &def->train);
    def->sample.seed = def->train.net.seed;
    def->sample.threads = def->train.net.threads;
    if (o->resolution)
        def->resolution = strcmp(o->resolution, "auto") == 0
                              ? SDF_RESOLUTION_AUTO
                              : (int)cmd_integer("--resolution", o->resolution, 16, 4096);
    if (o->margin) def->margin = cmd_number("--margin", o->margin, 0.05, 4.0);
    if (o->samples) def->sample.samples = cmd_integer("--samples", o->samples, 1000, 100000000);
    if (o->held_out) def->sample.held_out = cmd_integer("--held-out", o->held_out, 100, 100000000);
    if (o->near_fraction) def->sample.near_fraction = cmd_number("--near-fraction", o->near_fraction, 0.0, 1.0);
    if (o->band) def->sample.band = cmd_number("--band", o->band, 1e-3, 1.0);
    def->sample.labels = o->labels;
    def->sample.smoothing = o->smoothing;
}

static bool is_scene(const char *path) {
    return core_path_ends(path, ".yaml") || core_path_ends(path, ".yml");
}

// Shape files and radii of a scene's types. The paths stay the scene's.
static core_status list_scene(const sim_scene *scene, cspace_pipeline_shape **shapes, int *count, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(*shapes, (size_t)scene->count_types);
    for (int i = 0; i < scene->count_types; i++)
        (*shapes)[i] = (cspace_pipeline_shape){scene->types[i].shape_path, scene->types[i].radius};
    *count = scene->count_types;
done:
    return status;
}

static core_status list_files(const options *o, cspace_pipeline_shape **shapes, int *count, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(*shapes, (size_t)o->count_files);
    for (int i = 0; i < o->count_files; i++) (*shapes)[i] = (cspace_pipeline_shape){o->files[i], 1.0};
    *count = o->count_files;
done:
    return status;
}

// Warnings about shapes before the long work begins. What cannot be read is left to it.
static void warn_shapes(const cspace_pipeline_shape *shapes, int count, const cspace_pipeline_def *def) {
    for (int i = 0; i < count; i++) {
        sdf_shape shape = {0};
        if (sdf_shape_read(shapes[i].path, &def->read, &shape, NULL) != CORE_OK) continue;
        char notes[SDF_SHAPE_NOTES_MAX + 1][SDF_NOTE_MAX];
        int chosen, count_notes = sdf_shape_notes(&shape, notes);
        if (sdf_resolution_choose(&shape, def->resolution, &chosen, notes[count_notes], NULL) == CORE_OK &&
            notes[count_notes][0])
            count_notes++;
        for (int k = 0; k < count_notes; k++) fprintf(stderr, "mkmaps: warning: %s: %s\n", shapes[i].path, notes[k]);
        sdf_shape_clear(&shape);
    }
}

static void print_result(const cspace_bundle *bundle, const cspace_pipeline_report *report, const char *path) {
    cmd_train_print_heading(stdout);
    for (int i = 0; i < bundle->count_maps; i++) cmd_train_print_row(stdout, &bundle->maps[i]);
    for (int i = 0; i < bundle->count_maps; i++) cmd_train_warn("mkmaps", &bundle->maps[i]);
    printf("%s: %d maps built, %d reused; %d sample sets built, %d reused; %d grids built, %d reused\n", path,
           report->count_maps_built, report->count_maps_reused, report->count_samples_built,
           report->count_samples_reused, report->count_grids_built, report->count_grids_reused);
}

// What there is to do is a line of its own; the rest is progress.
static void listen(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    const core_progress *terminal = user;
    if (terminal->report && strcmp(stage, "maps") == 0 && note) {
        cmd_progress_end();
        fprintf(stderr, "mkmaps: %.0f %s of %s\n", total, unit, note);
        return;
    }
    core_progress_report(terminal, stage, done, total, unit, note);
}

static core_status run(const options *o, const cspace_pipeline_def *def, const core_h5_provenance *provenance,
                       const core_progress *progress, core_error *err) {
    core_status status = CORE_OK;
    sim_scene scene = {0};
    cspace_pipeline_shape *shapes = NULL;
    cspace_bundle bundle = {0};
    cspace_pipeline_report report;
    int count = 0;
    if (is_scene(o->files[0])) {
        CORE_TRY_DONE(sim_scene_read(o->files[0], 0, NULL, &scene, err));
        CORE_TRY_DONE(list_scene(&scene, &shapes, &count, err));
    } else {
        CORE_TRY_DONE(list_files(o, &shapes, &count, err));
    }
    warn_shapes(shapes, count, def);
    status = cspace_pipeline_run(shapes, count, o->output, def, provenance, progress, &bundle, &report, err);
    cmd_progress_end();
    if (status == CORE_OK) print_result(&bundle, &report, o->output);
done:
    cspace_bundle_clear(&bundle);
    sim_scene_clear(&scene);
    core_free(shapes);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp_child children[] = {{&cmd_train_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {argp_options, parse, "SCENE.yaml -o MAPS.h5\nSHAPE... -o MAPS.h5", doc, children,
                                     NULL,         NULL};
    options o = {0};
    bool quiet = false;
    core_h5_provenance provenance = cmd_provenance(argc, argv, 0); // before argp reorders the words
    cmd_parse(&argp, argc, argv, &o, &quiet);
    if (!o.output) cmd_usage("-o MAPS.h5 is missing");
    for (int i = 0; i < o.count_files; i++) {
        if (is_scene(o.files[i]) && o.count_files > 1)
            cmd_usage("%s: a scene is given alone, found %d files", o.files[i], o.count_files);
        if (core_file_same(o.files[i], o.output)) cmd_usage("%s: input and output are the same file", o.output);
    }
    cspace_pipeline_def def;
    resolve(&o, &def);
    core_progress terminal = cmd_progress(quiet);
    const core_progress progress = {listen, &terminal};
    provenance.seed = def.sample.seed;
    provenance.blas_core = nn_blas_core();
    core_error err = {0};
    const core_status status = run(&o, &def, &provenance, &progress, &err);
    cmd_progress_end();
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
