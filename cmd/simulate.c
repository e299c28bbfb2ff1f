// simulate: runs a scene into a run file. SIGINT and SIGTERM end it after a step, with a checkpoint.
#define _POSIX_C_SOURCE 200809L // sigaction

#include "cmd_common.h"
#include "fluid_run.h"
#include "sim.h"
#include "simulate_continuum.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Runs a scene, of grains or of a continuum, through its phases and writes the motion to RUN.h5 "
    "(H5MD). The scene, its maps and the room it needs are checked before RUN.h5 is touched; "
    "--check does no more than that.\v"
    "Examples: simulate column.yaml -o column.run.h5\n"
    "          simulate column.yaml -o smooth.run.h5 --set contact.default.mu=0.1 --set seed=7\n"
    "          simulate --restart column.run.checkpoint.h5 -o rest.run.h5";

#define OVERRIDES_MAX 256

typedef struct options {
    const char *scene, *output, *maps, *restart;
    int threads;
    bool check;
    int count_overrides;
    const char *overrides[OVERRIDES_MAX]; // borrowed from argv
} options;

enum { KEY_MAPS = 1001, KEY_THREADS, KEY_CHECK, KEY_SET, KEY_RESTART, KEY_HELP_SCENE };

static const struct argp_option argp_options[] = {
    {"output", 'o', "RUN.h5", 0, "run file to write; an existing one is replaced", 0},
    {"maps", KEY_MAPS, "MAPS.h5", 0, "contact maps to use instead of the scene's", 0},
    {"threads", KEY_THREADS, "N", 0, "threads (all processors); the result is the same for any number", 0},
    {"check", KEY_CHECK, 0, 0, "check the scene, the room it needs and its maps if they are there, and stop", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "change a key of the scene, as in --set contact.default.mu=0.3; may be repeated",
     0},
    {"restart", KEY_RESTART, "CHECKPOINT.h5", 0,
     "go on from a checkpoint, to the same bits, instead of starting a scene", 0},
    {"help-scene", KEY_HELP_SCENE, 0, 0, "print every key of scene files with unit, default and meaning", 0},
    {0}};

// The signal that asked for an end, 0 before. Set by take_signal alone.
static volatile sig_atomic_t asked_to_stop;

static void take_signal(int number) {
    asked_to_stop = number;
}

// The first SIGINT or SIGTERM asks the run to stop, the second one ends the process as ever.
static void listen_to_signals(void) {
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void print_scene_help(void) {
    core_error err = {0};
    char *text = NULL;
    if (sim_scene_help(&text, &err) != CORE_OK) exit(cmd_report(&err));
    fputs(text, stdout);
    core_free(text);
    if (fluid_scene_help(&text, &err) != CORE_OK) exit(cmd_report(&err));
    printf("\nWith model: continuum, instead:\n\n%s", text);
    core_free(text);
    exit(CMD_EXIT_OK);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'o':
        o->output = argument;
        return 0;
    case KEY_MAPS:
        o->maps = argument;
        return 0;
    case KEY_THREADS:
        o->threads = (int)cmd_integer("--threads", argument, 1, 1024);
        return 0;
    case KEY_CHECK:
        o->check = true;
        return 0;
    case KEY_SET:
        if (!strchr(argument, '=')) cmd_usage("--set: found \"%.200s\", expected KEY=VALUE", argument);
        if (o->count_overrides == OVERRIDES_MAX) cmd_usage("--set: more than %d", OVERRIDES_MAX);
        o->overrides[o->count_overrides++] = argument;
        return 0;
    case KEY_RESTART:
        o->restart = argument;
        return 0;
    case KEY_HELP_SCENE:
        print_scene_help();
        return 0;
    case ARGP_KEY_ARG:
        if (o->scene) cmd_usage("found a second scene \"%.200s\", expected one", argument);
        o->scene = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// What the run is about is a line of its own; the rest is progress.
static void listen(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    const core_progress *terminal = user;
    if (terminal->report && strcmp(stage, "scene") == 0 && note) {
        cmd_progress_end();
        fprintf(stderr, "simulate: %.0f %s, %s\n", total, unit, note);
        return;
    }
    core_progress_report(terminal, stage, done, total, unit, note);
}

static void print_summary(const char *path, const sim_run_report *r) {
    const sim_totals *t = &r->totals;
    char hash[17];
    double seconds, megabytes;
    cmd_costs(&seconds, &megabytes);
    core_hash_text(r->state_hash, hash);
    printf("%s: %lld frames, %lld steps of %.4g s, %.4g s simulated in %.3g s (%.3g s of processor time, %.3g MB)\n",
           path, (long long)r->frames, (long long)r->steps, r->dt, r->simulated, r->wall, seconds, megabytes);
    printf("kinetic %.4g J, potential %.4g J, elastic %.4g J, dissipated %.4g J (damping) + %.4g J (friction)\n",
           t->kinetic, t->potential, t->elastic, t->dissipated_damping, t->dissipated_friction);
    printf("%lld contacts, %lld with planes, %lld sliding; penetration mean %.3g m, max %.3g m\n",
           (long long)t->count_contacts, (long long)t->count_plane_contacts, (long long)t->count_sliding,
           t->penetration_mean, t->penetration_max);
    printf("state %s\n", hash);
    if (t->count_saturated > 0)
        fprintf(
            stderr,
            "simulate: warning: %lld contacts are so deep that their distance has saturated; take stiffer contacts\n",
            (long long)t->count_saturated);
}

// The first n bytes of a path followed by `ending`; the caller frees it.
static core_status name_beside(const char *path, size_t n, const char *ending, char **name, core_error *err) {
    const size_t size = n + strlen(ending) + 1;
    char *made = core_alloc(size, 1);
    CORE_CHECK(made, CORE_MEMORY, "out of memory: name of a file beside %s", path);
    snprintf(made, size, "%.*s%s", (int)n, path, ending);
    *name = made;
    return CORE_OK;
}

// Length of RUN in RUN.h5.
static size_t stem_length(const char *path) {
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
}

// Length of RUN in RUN.3 and the 3; a first part has the number 1.
static size_t split_number(const char *path, size_t n, int *number) {
    size_t digits = 0;
    *number = 1;
    while (digits < n && path[n - digits - 1] >= '0' && path[n - digits - 1] <= '9') ++digits;
    if (digits < 1 || digits > 6 || digits + 1 >= n || path[n - digits - 1] != '.') return n;
    const int found = atoi(path + n - digits);
    if (found < 2 || path[n - digits] == '0') return n;
    *number = found;
    return n - digits - 1;
}

// What goes on from RUN.h5 is RUN.2.h5, from RUN.2.h5 RUN.3.h5, or the next number that is free.
static core_status name_next(const char *output, char **name, core_error *err) {
    int number;
    const size_t n = split_number(output, stem_length(output), &number);
    char ending[32];
    *name = NULL;
    do {
        core_free(*name);
        *name = NULL;
        snprintf(ending, sizeof ending, ".%d.h5", ++number);
        CORE_TRY(name_beside(output, n, ending, name, err));
    } while (core_file_exists(*name));
    return CORE_OK;
}

// The command that goes on with a run that was stopped.
static core_status tell_how_to_go_on(const options *o, const char *checkpoint, const sim_run_report *r,
                                     core_error *err) {
    core_status status = CORE_OK;
    char *next = NULL, *words[4] = {NULL, NULL, NULL, NULL};
    CORE_TRY_DONE(name_next(o->output, &next, err));
    words[0] = cmd_program("simulate");
    words[1] = cmd_quote(checkpoint);
    words[2] = cmd_quote(next);
    words[3] = cmd_quote(o->maps ? o->maps : "");
    CORE_CHECK_DONE(words[0] && words[1] && words[2] && words[3], CORE_MEMORY, "out of memory");
    fprintf(stderr,
            "simulate: stopped by %s after step %lld, %.6g s; nothing is lost. Go on with\n"
            "%s --restart %s -o %s%s%s\n",
            asked_to_stop == SIGINT ? "SIGINT" : "SIGTERM", (long long)r->steps, r->simulated, words[0], words[1],
            words[2], o->maps ? " --maps " : "", o->maps ? words[3] : "");
done:
    for (int i = 0; i < 4; ++i) core_free(words[i]);
    core_free(next);
    return status;
}

// Says whether the scene can run, and how to make the maps that it lacks.
static core_status check(const options *o, bool quiet, const sim_scene *scene, const sim_run_def *def,
                         core_error *err) {
    char missing[2048];
    CORE_TRY(sim_run_check(scene, def, missing, sizeof missing, err));
    if (quiet) return CORE_OK;
    printf("%s: no errors found\n", o->scene);
    if (missing[0]) printf("its contact maps are not there yet; make them with\n%s\n", missing);
    return CORE_OK;
}

// *stopped: by a signal, before its end.
static core_status run(const options *o, bool quiet, const core_h5_provenance *provenance, bool *stopped,
                       core_error *err) {
    core_status status = CORE_OK;
    sim_scene scene = {0};
    sim_run_report report = {0};
    core_progress terminal = cmd_progress(quiet);
    const core_progress progress = {listen, &terminal};
    core_h5 *restart = NULL;
    char *checkpoint = NULL, *mkmaps = NULL;
    simulate_job job = {o->scene, o->output,          NULL,         o->restart,    o->threads,
                        o->check, o->count_overrides, o->overrides, &asked_to_stop};
    if (!o->check) CORE_TRY_DONE(name_beside(o->output, stem_length(o->output), ".checkpoint.h5", &checkpoint, err));
    if (simulate_is_continuum(&job)) {
        if (o->maps) cmd_usage("--maps: found %s, expected none: a continuum has no contacts", o->maps);
        job.checkpoint = checkpoint;
        listen_to_signals();
        CORE_TRY_DONE(simulate_continuum(&job, quiet, &progress, provenance, &report, err));
        *stopped = report.stopped;
        if (report.stopped) status = tell_how_to_go_on(o, checkpoint, &report, err);
        goto done;
    }
    if (o->restart) {
        CORE_TRY_DONE(sim_checkpoint_open(o->restart, &restart, err));
        CORE_TRY_DONE(sim_checkpoint_scene(restart, &scene, err));
    } else {
        CORE_TRY_DONE(sim_scene_read(o->scene, o->count_overrides, o->overrides, &scene, err));
    }
    sim_run_def def = sim_run_default_def();
    def.maps_path = o->maps;
    def.threads = o->threads;
    def.provenance = *provenance;
    def.mkmaps = mkmaps = cmd_program("mkmaps"); // without memory its bare name is shown
    if (o->check) {
        CORE_TRY_DONE(check(o, quiet, &scene, &def, err));
        goto done;
    }
    def.checkpoint_path = checkpoint;
    def.restart = restart;
    def.stop = &asked_to_stop;
    listen_to_signals();
    CORE_TRY_DONE(sim_run(&scene, o->output, &def, &progress, &report, err));
    cmd_progress_end();
    if (!quiet) print_summary(o->output, &report);
    *stopped = report.stopped;
    if (report.stopped) status = tell_how_to_go_on(o, checkpoint, &report, err);
done:
    core_free(checkpoint);
    core_free(mkmaps);
    core_h5_close(&restart);
    sim_scene_clear(&scene);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        argp_options, parse, "SCENE.yaml -o RUN.h5\n--restart CHECKPOINT.h5 -o RUN.h5", doc, NULL, NULL, NULL};
    options o = {.threads = core_thread_available()};
    bool quiet = false;
    const core_h5_provenance provenance = cmd_provenance(argc, argv, 0); // before argp reorders the words
    cmd_parse(&argp, argc, argv, &o, &quiet);
    if (!o.scene && !o.restart) cmd_usage("SCENE.yaml is missing");
    if (o.restart && (o.scene || o.check || o.count_overrides > 0))
        cmd_usage("--restart: the scene is in the checkpoint; found %s beside it", o.scene   ? o.scene
                                                                                   : o.check ? "--check"
                                                                                             : "--set");
    if (!o.output && !o.check) cmd_usage("-o RUN.h5 is missing");
    core_error err = {0};
    bool stopped = false;
    const core_status status = run(&o, quiet, &provenance, &stopped, &err);
    cmd_progress_end();
    if (status != CORE_OK) return cmd_report(&err);
    return stopped ? CMD_EXIT_FAILED : CMD_EXIT_OK;
}
