// sdfgen: shape files -> canonical polygon, mass properties and signed distance grid, one NAME.sdf.h5 each.
#include "cmd_common.h"
#include "sdf.h"
#include "sim_view.h"

#include <stdio.h>
#include <string.h>

static const char doc[] =
    "Reads shapes drawn as WKT, GeoJSON or a silhouette (PNG, JPEG, BMP, binary PGM), scales each to circumradius 1 "
    "about its centroid and writes polygon, mass properties and a signed distance grid to DIR/NAME.sdf.h5, which "
    "csample reads.\v"
    "Images: an image in which some pixels are opaque and some are not takes its figure from that (opaque is inside, "
    "whatever the colour); any other one from its darkness (dark is inside). Specks, islands or holes below a "
    "thousandth of the figure's area, are left out and counted.\n\n"
    "Overlapping parts are united and holes kept; what is not one connected region is refused. A file named twice "
    "counts once.\n\n"
    "Examples: sdfgen shapes/hash.wkt shapes/u.wkt -o out --preview out/shapes.png\n"
    "          sdfgen pebble.jpg -o out --blur 2 --threshold auto --simplify 1 --outline --preview out/pebble.png";

#define RESOLUTION_MIN 16
#define RESOLUTION_MAX 4096
#define RESOLUTION_DEFAULT 256
#define MARGIN_MIN 0.05
#define MARGIN_MAX 4.0
#define SIMPLIFY_MAX 1000.0 // pixels
#define BLUR_MAX 50.0       // pixels
#define WKT_POINT_MAX 64    // bytes of a point: two numbers of 24 and what stands around them
#define PREVIEW_SIZE 480    // pixels of one shape's panel
#define PREVIEW_SHAPES_MAX 64
#define PROGRESS_CELLS 2000 // cells along half a grid from which on progress is told

typedef struct options {
    const char *output, *preview;
    char **files; // borrowed from argv
    int count_files;
    bool outline;
    int resolution, threads;
    double margin;
    sdf_read_def read;
} options;

enum {
    KEY_RESOLUTION = 1001,
    KEY_MARGIN,
    KEY_THRESHOLD,
    KEY_BLUR,
    KEY_INVERT,
    KEY_SIMPLIFY,
    KEY_LARGEST,
    KEY_OUTLINE,
    KEY_PREVIEW,
    KEY_THREADS
};

static const struct argp_option argp_options[] = {
    {"output", 'o', "DIR", 0, "folder for the files; created if it is missing", 0},
    {"resolution", KEY_RESOLUTION, "N|auto", 0,
     "cells across the canonical diameter (256); auto: 6 across the thinnest wall or gap, 256 to 1024", 0},
    {"margin", KEY_MARGIN, "X", 0, "grid beyond the circumcircle, in circumradii (1.0)", 0},
    {"blur", KEY_BLUR, "SIGMA", 0,
     "images: blur them before the threshold, against noise and rough edges: standard deviation, pixels (0; 2 or 3 "
     "for photographs)",
     0},
    {"threshold", KEY_THRESHOLD, "N|auto", 0,
     "images: a pixel darker than this grey level, 1 to 255, is inside (128); auto: the level that separates dark and "
     "bright best (Otsu), which is printed and stored",
     0},
    {"invert", KEY_INVERT, NULL, 0, "images: bright or transparent is inside instead", 0},
    {"simplify", KEY_SIMPLIFY, "PIXELS", 0,
     "images: how far the outline may be moved to save points (0.12 anti-aliased, 0.3 black-and-white; 0: not at all); "
     "how far it was moved is printed and stored",
     0},
    {"largest", KEY_LARGEST, NULL, 0, "of several islands or parts take the largest instead of refusing", 0},
    {"outline", KEY_OUTLINE, NULL, 0, "write each outline as DIR/NAME.wkt too, which scenes and mkmaps read", 0},
    {"preview", KEY_PREVIEW, "FILE.png", 0, "picture of all shapes: outlines and lines of equal distance", 0},
    {"threads", KEY_THREADS, "N", 0, "threads (all processors); changes no bit of the result", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
    case KEY_RESOLUTION:
        o->resolution = strcmp(argument, "auto") == 0
                            ? SDF_RESOLUTION_AUTO
                            : (int)cmd_integer("--resolution", argument, RESOLUTION_MIN, RESOLUTION_MAX);
        return 0;
    case KEY_MARGIN:
        o->margin = cmd_number("--margin", argument, MARGIN_MIN, MARGIN_MAX);
        return 0;
    case KEY_THRESHOLD:
        o->read.threshold =
            strcmp(argument, "auto") == 0 ? SDF_THRESHOLD_AUTO : (int)cmd_integer("--threshold", argument, 1, 255);
        return 0;
    case KEY_BLUR:
        o->read.blur = cmd_number("--blur", argument, 0, BLUR_MAX);
        return 0;
    case KEY_INVERT:
        o->read.invert = true;
        return 0;
    case KEY_SIMPLIFY:
        o->read.simplify = cmd_number("--simplify", argument, 0, SIMPLIFY_MAX);
        return 0;
    case KEY_LARGEST:
        o->read.largest = true;
        return 0;
    case KEY_OUTLINE:
        o->outline = true;
        return 0;
    case KEY_PREVIEW:
        if (!core_path_ends(argument, ".png"))
            cmd_usage("--preview: found \"%s\", expected a name that ends in .png", argument);
        o->preview = argument;
        return 0;
    case KEY_THREADS:
        o->threads = (int)cmd_integer("--threads", argument, 1, 1024);
        return 0;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->count_files = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        cmd_usage("no shape files given, expected SHAPE... -o DIR");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// Drops files that were named before; two files for one output, and a preview over a shape, are refused.
static core_status files_check(options *o, core_error *err) {
    int count = 0;
    for (int i = 0; i < o->count_files; i++) {
        char stem[CORE_NAME_MAX], other[CORE_NAME_MAX];
        bool again = false;
        CORE_CHECK(!core_file_same(o->files[i], o->preview), CORE_ARG,
                   "--preview: %s: input and output are the same file", o->preview);
        CORE_TRY(core_path_stem(o->files[i], stem, err));
        for (int k = 0; k < count && !again; k++) {
            CORE_TRY(core_path_stem(o->files[k], other, err));
            again = strcmp(o->files[i], o->files[k]) == 0 || core_file_same(o->files[i], o->files[k]);
            CORE_CHECK(again || strcmp(stem, other) != 0, CORE_ARG,
                       "%s and %s: two shapes named \"%s\", expected different names", o->files[k], o->files[i], stem);
        }
        if (!again) o->files[count++] = o->files[i];
    }
    o->count_files = count;
    return CORE_OK;
}

/// Content hash of a shape file, for the provenance.
static core_status file_hash(const char *path, uint64_t *hash, core_error *err) {
    char *data = NULL;
    size_t n = 0;
    CORE_TRY(core_file_read(path, (size_t)64 << 20, &data, &n, err));
    *hash = core_hash_bytes(0, data, n);
    core_free(data);
    return CORE_OK;
}

/// The canonical outline as DIR/NAME.wkt; a shape file of that name that was read stays as it is.
static core_status outline_write(const options *o, int i, const sdf_shape *shape, core_error *err) {
    core_status status = CORE_OK;
    const core_outline *outline = &shape->outline;
    char name[CORE_NAME_MAX + 8], *path = NULL, *text = NULL;
    size_t n = 0, room = 64 + (size_t)(core_outline_count(outline) + outline->count_rings) * WKT_POINT_MAX;
    snprintf(name, sizeof name, "%s.wkt", shape->name);
    CORE_TRY_DONE(core_path_join(o->output, name, &path, err));
    CORE_CHECK_DONE(!core_file_same(o->files[i], path), CORE_ARG, "--outline: %s: input and output are the same file",
                    path);
    CORE_NEW_DONE(text, room);
    n += (size_t)snprintf(text + n, room - n, "POLYGON (");
    for (int r = 0; r < outline->count_rings; r++) {
        int begin = outline->ring_start[r], count = outline->ring_start[r + 1] - begin;
        // A ring's last point repeats its first one.
        for (int k = 0; k <= count; k++) {
            const double *p = outline->xy + 2 * (begin + k % count);
            const char *before = k ? ", " : r ? ", (" : "(";
            n += (size_t)snprintf(text + n, room - n, "%s%.17g %.17g%s", before, p[0], p[1], k < count ? "" : ")");
        }
    }
    n += (size_t)snprintf(text + n, room - n, ")\n");
    status = core_file_write(path, text, n, err);
done:
    core_free(text);
    core_free(path);
    return status;
}

/// Draws shape i into its panel.
static void preview_add(sim_image *image, int columns, int i, const sdf_shape *shape, const sdf_grid *grid) {
    int stride = 3 * image->width;
    size_t at = (size_t)(i / columns) * PREVIEW_SIZE * (size_t)stride + (size_t)(i % columns) * PREVIEW_SIZE * 3;
    sdf_preview_draw(shape, grid, PREVIEW_SIZE, image->rgb + at, stride);
}

/// ", N thing(s) did" behind a line, if there are any.
static void tell_count(int n, const char *one, const char *many) {
    if (n > 0) printf(", %d %s", n, n == 1 ? one : many);
}

/// One line about a finished shape.
static void shape_tell(const sdf_shape *shape, bool automatic, const sdf_grid *grid, const char *path) {
    const sdf_import *r = &shape->import;
    int holes = shape->outline.count_rings - 1;
    printf("%s: %d vertices, %d hole%s, area %.6g, circumradius %.6g (as drawn)", shape->name,
           core_outline_count(&shape->outline), holes, holes == 1 ? "" : "s", shape->drawn.area,
           shape->drawn.circumradius);
    // Where opacity decided there is no grey to tell.
    if (automatic && r->threshold > 0) printf(", automatic threshold %d", r->threshold);
    if (r->outline_error > 0)
        printf(", outline moved by at most %.2g pixels (%.2g circumradii)", r->outline_error,
               r->outline_error / shape->drawn.circumradius);
    tell_count(r->count_specks, "speck left out", "specks left out");
    tell_count(r->count_islands, "smaller part left out", "smaller parts left out");
    tell_count(r->count_points, "duplicate or collinear point removed", "duplicate or collinear points removed");
    tell_count(r->count_closed, "ring closed that was open by rounding", "rings closed that were open by rounding");
    printf(", grid %d x %d -> %s\n", grid->nx, grid->ny, path);
}

/// Grid and file of one shape, a line about it, its panel of the preview.
static core_status shape_run(const options *o, int i, const sdf_shape *shape, int resolution,
                             core_h5_provenance provenance, bool quiet, sim_image *preview, int columns,
                             core_error *err) {
    core_status status = CORE_OK;
    char name[CORE_NAME_MAX + 8], *path = NULL;
    const char *input = o->files[i];
    sdf_grid grid = {0};
    uint64_t hash = 0;
    // A usual grid takes hundredths of a second: a line about that would be noise.
    core_progress progress = cmd_progress(quiet || resolution * (1 + o->margin) < PROGRESS_CELLS);
    snprintf(name, sizeof name, "%s.sdf.h5", shape->name);
    CORE_TRY_DONE(core_path_join(o->output, name, &path, err));
    CORE_TRY_DONE(file_hash(input, &hash, err));
    status = sdf_grid_build(&shape->outline, resolution, o->margin, o->threads, &progress, &grid, err);
    cmd_progress_end();
    if (status != CORE_OK) goto done;
    provenance.count_inputs = 1;
    provenance.input_names = &input;
    provenance.input_hashes = &hash;
    CORE_TRY_DONE(sdf_file_write(path, shape, &grid, &provenance, err));
    if (o->outline) CORE_TRY_DONE(outline_write(o, i, shape, err));
    if (preview->rgb) preview_add(preview, columns, i, shape, &grid);
    if (!quiet) shape_tell(shape, o->read.threshold == SDF_THRESHOLD_AUTO, &grid, path);
done:
    sdf_grid_clear(&grid);
    core_free(path);
    return status;
}

/// Reads a shape and judges or chooses the resolution of its grid; warnings go to stderr.
static core_status shape_open(const options *o, int i, sdf_shape *shape, int *resolution, core_error *err) {
    char notes[SDF_SHAPE_NOTES_MAX + 1][SDF_NOTE_MAX];
    CORE_TRY(sdf_shape_read(o->files[i], &o->read, shape, err));
    int count = sdf_shape_notes(shape, notes);
    core_status status = sdf_resolution_choose(shape, o->resolution, resolution, notes[count], err);
    if (status != CORE_OK) return core_error_prefix(err, status, "%s", o->files[i]);
    if (notes[count][0]) count++;
    for (int k = 0; k < count; k++) fprintf(stderr, "sdfgen: warning: %s: %s\n", o->files[i], notes[k]);
    return CORE_OK;
}

/// Reads every shape before the first file is written: a bad one stops all.
static core_status run(options *o, const core_h5_provenance *provenance, bool quiet, core_error *err) {
    core_status status = CORE_OK;
    sdf_shape *shapes = NULL;
    int *resolutions = NULL;
    sim_image preview = {0};
    int columns = 1;
    CORE_TRY(files_check(o, err));
    CORE_NEW_DONE(shapes, (size_t)o->count_files);
    CORE_NEW_DONE(resolutions, (size_t)o->count_files);
    for (int i = 0; i < o->count_files; i++) CORE_TRY_DONE(shape_open(o, i, shapes + i, resolutions + i, err));
    CORE_TRY_DONE(core_file_make_directory(o->output, err));
    if (o->preview) {
        CORE_CHECK_DONE(o->count_files <= PREVIEW_SHAPES_MAX, CORE_ARG, "--preview: %d shapes, expected at most %d",
                        o->count_files, PREVIEW_SHAPES_MAX);
        while (columns * columns < o->count_files) columns++;
        int rows = (o->count_files + columns - 1) / columns;
        CORE_TRY_DONE(sim_image_create(columns * PREVIEW_SIZE, rows * PREVIEW_SIZE, &preview, err));
    }
    for (int i = 0; i < o->count_files; i++)
        CORE_TRY_DONE(shape_run(o, i, shapes + i, resolutions[i], *provenance, quiet, &preview, columns, err));
    if (o->preview) CORE_TRY_DONE(sim_image_write_png(o->preview, &preview, err));
done:
    for (int i = 0; shapes && i < o->count_files; i++) sdf_shape_clear(shapes + i);
    core_free(shapes);
    core_free(resolutions);
    sim_image_clear(&preview);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        .options = argp_options, .parser = parse, .args_doc = "SHAPE... -o DIR", .doc = doc};
    options o = {.resolution = RESOLUTION_DEFAULT, .margin = 1.0, .read = sdf_read_default_def()};
    bool quiet = false;
    core_error err = {0};
    // Taken before argp reorders the words.
    core_h5_provenance provenance = cmd_provenance(argc, argv, 0);
    cmd_parse(&argp, argc, argv, &o, &quiet);
    if (!o.output) cmd_usage("no output folder given, expected SHAPE... -o DIR");
    if (o.threads == 0) o.threads = core_thread_available();
    if (run(&o, &provenance, quiet, &err) != CORE_OK) return cmd_report(&err);
    return CMD_EXIT_OK;
}
