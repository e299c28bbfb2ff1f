// simview: pictures, films and pages of run files, and files for ParaView.
#include "cmd_time.h"
#include "core_run.h"
#include "sim_view.h"
#include "simview_film.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 16
#define TIMES_MAX 64
#define FILM_SECONDS_MIN 5.0 // of a film whose rate is not given
#define FILM_SECONDS_MAX 20.0
#define FILM_FRAMES_MAX 1000000
#define KNOWN_OUTPUTS                                                                                                  \
    "OUT ending in .png or .svg (one picture), .mp4 (film), .html (page with a player) or .xdmf (ParaView), or the "   \
    "name of a folder for numbered PNGs"

static const char doc[] =
    "Draws run files: one picture (OUT ends in .png, or in .svg for print), a film (.mp4, through the program ffmpeg), "
    "a "
    "page with a player (.html, one file), .xdmf for ParaView (with an .xdmf.h5 beside it) or a folder of numbered "
    "PNGs. Several times or several runs become panels of one picture that share region and scale.\v"
    "Examples: simview column.h5 -o column.png --time 0,collapse+0.4,2\n"
    "          simview column.h5 -o column.mp4 --colour speed --rate 0.25\n"
    "          simview column.h5 -o column.html\n"
    "          simview silo.h5 -o chains.svg --forces --region=-0.1,0,0.1,0.2";

enum { KEY_TIME = 1001, KEY_EVERY, KEY_WIDTH, KEY_REGION, KEY_COLOUR, KEY_RATE, KEY_FORCES };

static const struct argp_option argp_options[] = {
    {"output", 'o', "OUT", 0, "picture.png, picture.svg, film.mp4, page.html, run.xdmf or a folder (created)", 0},
    {"time", KEY_TIME, "T[,T...]", 0,
     "s, or PHASE or PHASE+S, since the start of a phase; picture: the nearest frames, a panel each (default: the last "
     "frame); "
     "film, page, XDMF and folder: FROM,TO",
     0},
    {"every", KEY_EVERY, "N", 0,
     "film, page, XDMF and folder: every N-th stored frame (1; page: as many as make 30 MB)", 0},
    {"rate", KEY_RATE, "X", 0, "film: simulated seconds per second of film (default: so that it lasts 5 to 20 s)", 0},
    {"width", KEY_WIDTH, "PIXELS", 0, "64 .. 8192 (1280)", 0},
    {"region", KEY_REGION, "X0,Y0,X1,Y1", 0, "m, drawn exactly (default: the whole scene in the frames drawn)", 0},
    {"colour", KEY_COLOUR, "WHAT", 0,
     "shape, speed, rotation or force: the largest normal force of a grain's contacts; of runs with contact rows "
     "(shape)",
     0},
    {"forces", KEY_FORCES, 0, 0,
     "contact network: a line for each contact, as wide as its normal force is large; of runs with contact rows", 0},
    {0}};

static const char *const colour_words[] = {"shape", "speed", "rotation", "force"};

typedef enum output_kind { OUTPUT_PNG, OUTPUT_SVG, OUTPUT_FILM, OUTPUT_PAGE, OUTPUT_XDMF, OUTPUT_FOLDER } output_kind;

typedef struct options {
    const char *output;
    output_kind kind;
    int count_paths;
    char *paths[RUNS_MAX]; // borrowed from argv
    int count_times;
    cmd_instant times[TIMES_MAX];
    int64_t every; // 0: not given
    double rate;   // NaN: not given
    sim_view_def view;
    bool quiet, width_given, region_given, colour_given;
} options;

// The runs that are drawn together.
typedef struct runs {
    int count;
    core_run_reader *reader[RUNS_MAX];
    char stem[RUNS_MAX][CORE_NAME_MAX];
    const char *caption[RUNS_MAX];     // NULL for a single run
    double times[RUNS_MAX][TIMES_MAX]; // s, what the options' times are in each run
} runs;

// ---------------------------------------------------------------------------------------------- options

// "0.5", "collapse" or "collapse+0.5", separated by commas.
static void parse_times(const char *text, options *o) {
    o->count_times = 0;
    for (const char *s = text;; s++) {
        char word[CORE_NAME_MAX + 32];
        size_t n = strcspn(s, ",");
        if (o->count_times == TIMES_MAX) cmd_usage("--time: found \"%s\", expected at most %d times", text, TIMES_MAX);
        if (n == 0 || n >= sizeof word)
            cmd_usage("--time: found \"%s\", expected times in s or names of phases, separated by commas", text);
        memcpy(word, s, n);
        word[n] = '\0';
        cmd_instant_parse(word, &o->times[o->count_times++]);
        s += n;
        if (!*s) return;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
    case KEY_TIME:
        parse_times(argument, o);
        return 0;
    case KEY_EVERY:
        o->every = cmd_integer("--every", argument, 1, INT32_MAX);
        return 0;
    case KEY_RATE:
        o->rate = cmd_number("--rate", argument, 1e-9, 1e9);
        return 0;
    case KEY_WIDTH:
        o->view.width = (int)cmd_integer("--width", argument, SIM_VIEW_WIDTH_MIN, SIM_VIEW_WIDTH_MAX);
        o->width_given = true;
        return 0;
    case KEY_REGION:
        cmd_region(argument, o->view.region);
        o->region_given = true;
        return 0;
    case KEY_COLOUR:
        o->view.colour = (sim_view_colour)cmd_choice("--colour", argument, colour_words, 4);
        o->colour_given = true;
        return 0;
    case KEY_FORCES:
        o->view.forces = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->count_paths == RUNS_MAX) cmd_usage("found more than %d run files", RUNS_MAX);
        o->paths[o->count_paths++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// What OUT asks for. A name without an extension is a folder.
static output_kind kind_of(const char *output) {
    if (core_path_ends(output, ".png")) return OUTPUT_PNG;
    if (core_path_ends(output, ".svg")) return OUTPUT_SVG;
    if (core_path_ends(output, ".html")) return OUTPUT_PAGE;
    if (core_path_ends(output, ".xdmf")) return OUTPUT_XDMF;
    if (core_path_ends(output, ".mp4")) return OUTPUT_FILM;
    const char *slash = strrchr(output, '/'), *name = slash ? slash + 1 : output, *dot = strrchr(name, '.');
    bool extension = dot && dot != name && dot[1] && !core_file_is_directory(output);
    if (extension || !*output) cmd_usage("-o: found \"%s\", expected %s", output, KNOWN_OUTPUTS);
    return OUTPUT_FOLDER;
}

static bool is_picture(const options *o) {
    return o->kind == OUTPUT_PNG || o->kind == OUTPUT_SVG;
}

static void check_options(options *o) {
    if (o->count_paths == 0) cmd_usage("expected at least one run file (see --help)");
    if (!o->output) cmd_usage("-o is missing: expected %s", KNOWN_OUTPUTS);
    o->kind = kind_of(o->output);
    for (int i = 0; i < o->count_paths; i++)
        if (core_file_same(o->paths[i], o->output)) cmd_usage("%s: input and output are the same file", o->output);
    if (is_picture(o) && o->every) cmd_usage("--every: only for films and folders, found -o \"%s\"", o->output);
    if (o->kind != OUTPUT_FILM && !isnan(o->rate)) cmd_usage("--rate: only for films, found -o \"%s\"", o->output);
    if (!is_picture(o) && o->count_times && o->count_times != 2)
        cmd_usage("--time: expected FROM,TO for a film, a page, XDMF or a folder");
    const bool one_run = o->kind == OUTPUT_PAGE || o->kind == OUTPUT_XDMF;
    if (one_run && (o->count_paths > 1 || o->view.forces || o->width_given))
        cmd_usage("-o \"%s\": shows one run, without --forces and --width", o->output);
    if (o->kind == OUTPUT_XDMF && (o->region_given || o->colour_given))
        cmd_usage("-o \"%s\": holds the whole scene and all values, without --region and --colour", o->output);
    if (o->kind == OUTPUT_FILM && o->view.width % 2)
        cmd_usage("--width: found %d, expected an even number for a film", o->view.width);
    if ((int64_t)o->count_paths * (o->count_times ? o->count_times : 1) > SIM_VIEW_PANELS_MAX)
        cmd_usage("--time: %d times of %d runs are more than %d panels", o->count_times, o->count_paths,
                  SIM_VIEW_PANELS_MAX);
    if (!o->every && o->kind != OUTPUT_PAGE) o->every = 1;
}

// Says early what would otherwise fail after the work: the folder of a file must exist.
static core_status check_folder(const options *o, core_error *err) {
    if (o->kind == OUTPUT_FOLDER) return core_file_make_directory(o->output, err);
    char *folder = NULL;
    CORE_TRY(core_path_folder(o->output, &folder, err));
    core_status status = CORE_OK;
    if (core_file_is_directory(o->output))
        status = CORE_FAIL(err, CORE_IO, "%s: is a folder, expected the name of a file", o->output);
    else if (!core_file_is_directory(folder))
        status = CORE_FAIL(err, CORE_IO, "%s: the folder %s does not exist", o->output, folder);
    core_free(folder);
    return status;
}

// ---------------------------------------------------------------------------------------------- runs

static void runs_close(runs *r) {
    for (int i = 0; i < r->count; i++) core_run_close(&r->reader[i]);
    r->count = 0;
}

// Captions of several runs: their titles if these tell them apart, else their file names.
static void runs_caption(runs *r) {
    bool titles = true;
    for (int i = 0; i < r->count; i++) {
        const char *title = core_run_describe(r->reader[i])->title;
        titles = titles && title && *title;
        for (int j = 0; j < i && titles; j++) titles = strcmp(title, core_run_describe(r->reader[j])->title) != 0;
    }
    for (int i = 0; i < r->count && r->count > 1; i++)
        r->caption[i] = titles ? core_run_describe(r->reader[i])->title : r->stem[i];
}

static core_status runs_open(const options *o, runs *r, core_error *err) {
    for (int i = 0; i < o->count_paths; i++) {
        CORE_TRY(core_run_open(o->paths[i], &r->reader[i], err));
        r->count = i + 1;
        if (core_path_stem(o->paths[i], r->stem[i], NULL) != CORE_OK)
            snprintf(r->stem[i], CORE_NAME_MAX, "run %d", i + 1);
        CORE_CHECK(core_run_describe(r->reader[i])->count_frames > 0, CORE_FORMAT, "%s: the run has no frames yet",
                   o->paths[i]);
        CORE_CHECK(core_run_describe(r->reader[i])->contacts || (!o->view.forces && o->view.colour != SIM_VIEW_FORCE),
                   CORE_UNSUPPORTED,
                   "%s: the run has no contact rows, which forces are drawn from; its scene needs "
                   "`output: {contacts: true}`",
                   o->paths[i]);
    }
    runs_caption(r);
    return CORE_OK;
}

// All times in all runs, before anything is written.
static core_status resolve_times(const options *o, runs *r, core_error *err) {
    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < o->count_times; k++)
            CORE_TRY(cmd_instant_resolve(r->reader[i], o->paths[i], &o->times[k], &r->times[i][k], err));
    CORE_CHECK(is_picture(o) || !o->count_times || r->times[0][0] <= r->times[0][1], CORE_ARG,
               "--time: found %g s to %g s, expected FROM,TO in this order", r->times[0][0], r->times[0][1]);
    return CORE_OK;
}

// Stored frame nearest to t among every `every`-th.
static int64_t frame_near(const core_run_reader *run, double t, int64_t every) {
    const core_run_info *info = core_run_describe(run);
    int64_t i = core_run_frame_at(run, t), low = i - i % every;
    if (low == i || low + every >= info->count_frames) return low;
    return fabs(info->times[low + every] - t) < fabs(info->times[low] - t) ? low + every : low;
}

// Region and scales over all frames that a film or a folder shows.
static core_status fit_view(const options *o, const runs *r, double from, double to, sim_view_def *view,
                            core_error *err) {
    bool given = view->region[0] < view->region[2];
    for (int i = 0; i < r->count; i++) {
        int64_t first = frame_near(r->reader[i], from, o->every), last = frame_near(r->reader[i], to, o->every);
        double region[4], scale;
        if (!given) {
            CORE_TRY(sim_view_fit(r->reader[i], first, last, o->every, region, err));
            for (int k = 0; k < 4; k++)
                view->region[k] = i == 0  ? region[k]
                                  : k < 2 ? fmin(view->region[k], region[k])
                                          : fmax(view->region[k], region[k]);
        }
        if (view->colour == SIM_VIEW_SPEED) {
            CORE_TRY(sim_view_speed_scale(r->reader[i], first, last, o->every, &scale, err));
            view->speed_max = fmax(view->speed_max, scale);
        }
        if (view->colour == SIM_VIEW_FORCE || view->forces) {
            CORE_TRY(sim_view_force_scale(r->reader[i], first, last, o->every, &scale, err));
            view->force_max = fmax(view->force_max, scale);
        }
    }
    view->widen = !given;
    return CORE_OK;
}

// Time range of the frames that a film or a folder shows.
static void time_range(const options *o, const runs *r, double *from, double *to) {
    *from = INFINITY, *to = -INFINITY;
    for (int i = 0; i < r->count; i++) {
        const core_run_info *info = core_run_describe(r->reader[i]);
        *from = fmin(*from, info->times[0]), *to = fmax(*to, info->times[info->count_frames - 1]);
    }
    if (!o->count_times) return;
    *from = fmin(fmax(*from, r->times[0][0]), *to);
    *to = fmax(fmin(*to, r->times[0][1]), *from);
}

// ---------------------------------------------------------------------------------------------- outputs

static core_status write_picture(const options *o, const runs *r, core_error *err) {
    sim_view_panel panels[SIM_VIEW_PANELS_MAX];
    int count = 0, count_times = o->count_times ? o->count_times : 1;
    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < count_times; k++) {
            const double time = o->count_times ? r->times[i][k] : NAN;
            panels[count++] = (sim_view_panel){r->reader[i], core_run_frame_at(r->reader[i], time), r->caption[i]};
        }
    if (o->kind == OUTPUT_SVG) return sim_view_write_svg(o->output, count, panels, &o->view, err);
    sim_image image = {0};
    CORE_TRY(sim_view_draw_panels(count, panels, &o->view, &image, err));
    core_status status = sim_image_write_png(o->output, &image, err);
    sim_image_clear(&image);
    return status;
}

// Draws all runs at time t into image unless *last already shows these frames. image is replaced.
static core_status draw_moment(const options *o, const runs *r, const sim_view_def *view, double t, int64_t *shown,
                               sim_image *image, core_error *err) {
    sim_view_panel panels[RUNS_MAX];
    bool same = image->rgb != NULL;
    for (int i = 0; i < r->count; i++) {
        int64_t frame = frame_near(r->reader[i], t, o->every);
        same = same && frame == shown[i];
        shown[i] = frame;
        panels[i] = (sim_view_panel){r->reader[i], frame, r->caption[i]};
    }
    if (same) return CORE_OK;
    sim_image drawn = {0};
    CORE_TRY(sim_view_draw_panels(r->count, panels, view, &drawn, err));
    sim_image_clear(image);
    *image = drawn;
    return CORE_OK;
}

static core_status write_folder(const options *o, const runs *r, const core_progress *progress, core_error *err) {
    const core_run_info *info = core_run_describe(r->reader[0]);
    core_status status = CORE_OK;
    sim_view_def view = o->view;
    sim_image image = {0};
    char *path = NULL;
    int64_t shown[RUNS_MAX];
    double from, to;
    time_range(o, r, &from, &to);
    CORE_TRY(fit_view(o, r, from, to, &view, err));
    int64_t first = frame_near(r->reader[0], from, o->every), last = frame_near(r->reader[0], to, o->every);
    for (int64_t i = first, k = 0; i <= last; i += o->every, k++) {
        char name[64];
        snprintf(name, sizeof name, "frame_%06lld.png", (long long)k);
        core_free(path);
        path = NULL;
        CORE_TRY_DONE(core_path_join(o->output, name, &path, err));
        CORE_TRY_DONE(draw_moment(o, r, &view, info->times[i], shown, &image, err));
        CORE_TRY_DONE(sim_image_write_png(path, &image, err));
        core_progress_report(progress, "drawing", (double)(k + 1), (double)((last - first) / o->every + 1), "pictures",
                             NULL);
    }
done:
    core_free(path);
    sim_image_clear(&image);
    return status;
}

// Rate (simulated per film second) and number of frames of a film over `span` seconds with `stored` frames.
static core_status plan_film(const options *o, double span, int64_t stored, double *rate, int64_t *count,
                             core_error *err) {
    *rate = o->rate;
    if (isnan(*rate)) {
        char text[32];
        double seconds = fmin(fmax((double)stored / SIMVIEW_FILM_FPS, FILM_SECONDS_MIN), FILM_SECONDS_MAX);
        snprintf(text, sizeof text, "%.2g", span > 0 ? span / seconds : 1.0);
        *rate = strtod(text, NULL); // two digits are enough to quote it by
    }
    double frames = floor(span / *rate * SIMVIEW_FILM_FPS + 1e-6) + 1;
    CORE_CHECK(frames <= FILM_FRAMES_MAX, CORE_RANGE,
               "--rate: %g s at %g per second of film are %g frames, expected at most %d", span, *rate, frames,
               FILM_FRAMES_MAX);
    *count = (int64_t)frames;
    return CORE_OK;
}

static core_status write_film(const options *o, const runs *r, const core_progress *progress, core_error *err) {
    core_status status = CORE_OK;
    sim_view_def view = o->view;
    sim_image image = {0};
    simview_film f = {.pipe = -1, .process = -1};
    int64_t shown[RUNS_MAX], count = 0;
    double from, to, rate = 0;
    runs filmed = *r;
    char caption[64];
    time_range(o, r, &from, &to);
    CORE_TRY(fit_view(o, r, from, to, &view, err));
    int64_t stored = (frame_near(r->reader[0], to, o->every) - frame_near(r->reader[0], from, o->every)) / o->every + 1;
    CORE_TRY(plan_film(o, to - from, stored, &rate, &count, err));
    // Who sees the film shall know how fast it runs; panels of several runs have captions already.
    snprintf(caption, sizeof caption, "%g times real time", rate);
    if (r->count == 1) filmed.caption[0] = caption;
    for (int64_t i = 0; i < count; i++) {
        CORE_TRY_DONE(draw_moment(o, &filmed, &view, from + (double)i * rate / SIMVIEW_FILM_FPS, shown, &image, err));
        if (i == 0) CORE_TRY_DONE(simview_film_begin(&f, o->output, image.width, image.height, err));
        CORE_TRY_DONE(simview_film_write(&f, &image, err));
        core_progress_report(progress, "filming", (double)(i + 1), (double)count, "frames", NULL);
    }
done:
    status = simview_film_end(&f, status, err);
    sim_image_clear(&image);
    if (status == CORE_OK && !o->quiet)
        fprintf(stderr, "simview: %s: %lld frames, %.1f s at %g simulated seconds per second\n", o->output,
                (long long)count, (double)count / SIMVIEW_FILM_FPS, rate);
    return status;
}

// A page or a file for ParaView.
static core_status write_frames(const options *o, const runs *r, core_error *err) {
    double from, to;
    time_range(o, r, &from, &to);
    int64_t first = frame_near(r->reader[0], from, 1), last = frame_near(r->reader[0], to, 1), every = o->every;
    if (o->kind == OUTPUT_XDMF) return sim_view_write_xdmf(o->output, r->reader[0], first, last, every, err);
    CORE_TRY(sim_view_write_html(o->output, r->reader[0], first, last, &every, &o->view, err));
    if (every > 1 && !o->every && !o->quiet)
        fprintf(stderr, "simview: %s: one of %lld stored frames, so that the page stays below %d MB\n", o->output,
                (long long)every, SIM_VIEW_HTML_BYTES_MAX / 1000000);
    return CORE_OK;
}

static core_status write_output(const options *o, const runs *r, core_error *err) {
    const core_progress progress = cmd_progress(o->quiet);
    switch (o->kind) {
    case OUTPUT_FILM:
        return write_film(o, r, &progress, err);
    case OUTPUT_PAGE:
    case OUTPUT_XDMF:
        return write_frames(o, r, err);
    case OUTPUT_FOLDER:
        return write_folder(o, r, &progress, err);
    default:
        return write_picture(o, r, err);
    }
}

int main(int argc, char **argv) {
    static const struct argp argp = {argp_options, parse, "RUN.h5...", doc, 0, 0, 0};
    options o = {.rate = NAN, .view = sim_view_default_def()};
    cmd_parse(&argp, argc, argv, &o, &o.quiet);
    check_options(&o);
    runs r = {0};
    core_error err = {0};
    core_status status = runs_open(&o, &r, &err);
    if (status == CORE_OK) status = resolve_times(&o, &r, &err);
    if (status == CORE_OK) status = check_folder(&o, &err);
    if (status == CORE_OK) status = write_output(&o, &r, &err);
    cmd_progress_end();
    runs_close(&r);
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
