// simstat: measurements of run files as a table, JSON or CSV.
#include "cmd_time.h"
#include "core_run.h"
#include "sim_measure.h"
#include "sim_view.h"
#include "simstat_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUNS_MAX 256
#define COLUMN_WIDTH 14 // of a table's values
#define WHOLE_MAX 1e12  // below which whole numbers fit into it

static const char doc[] = "Measures one frame of each run file: energies, contacts, height, run-out, angle of repose, "
                          "penetration and the exact overlap of the "
                          "outlines. Definitions: libsim/README.md.\v"
                          "Examples: simstat column.h5\n"
                          "          simstat a.h5 b.h5 --time 1.5 --region 0,0,0.4,1 --csv > measured.csv\n"
                          "          simstat column.h5 --poses poses.csv\n"
                          "          simstat killed.h5 --recover whole.h5";

enum {
    KEY_TIME = 1001,
    KEY_JSON,
    KEY_CSV,
    KEY_REGION,
    KEY_POSES,
    KEY_OVERLAP,
    KEY_RATTLERS,
    KEY_SERIES,
    KEY_ORIENTATIONS,
    KEY_BOUNDARIES,
    KEY_CONTACTS,
    KEY_RECOVER
};

static const struct argp_option argp_options[] = {
    {"time", KEY_TIME, "T", 0,
     "s, or PHASE or PHASE+S, since the start of a phase: the stored frame nearest to it (default: the last one)", 0},
    {"region", KEY_REGION, "X0,Y0,X1,Y1", 0, "m; only grains with their centre in it", 0},
    {"overlap", KEY_OVERLAP, "on|off", 0, "exact overlap of the outlines (on)", 0},
    {"json", KEY_JSON, 0, 0, "JSON on standard output; what cannot be measured is null", 0},
    {"csv", KEY_CSV, 0, 0, "CSV on standard output, a row per run; what cannot be measured is nan", 0},
    {"rattler-contacts", KEY_RATTLERS, "N", 0, "neighbours that hold a grain at least: 2 with friction, 3 without (2)",
     0},
    {"poses", KEY_POSES, "CSV", 0,
     "also write id,type,x,y,angle of that frame to this file (one run only); poses of a scene reads it", 0},
    {"series", KEY_SERIES, "CSV", 0,
     "also write every stored frame: step, time, phase, grains present, grains gone, all observables (one run only)",
     0},
    {"orientations", KEY_ORIENTATIONS, "CSV", 0,
     "also write the directions of the contact normals of that frame in bins of 10 degrees (one run with contact rows)",
     0},
    {"boundaries", KEY_BOUNDARIES, "CSV", 0,
     "also write the force of the grains on each boundary in that frame (one run with contact rows)", 0},
    {"contacts", KEY_CONTACTS, "CSV", 0,
     "also write the touching contacts of that frame with their forces on B (one run with contact rows)", 0},
    {"recover", KEY_RECOVER, "OUT.h5", 0,
     "measure nothing; write the complete frames of a run that was killed, or is not finished yet, to an ordinary file",
     0},
    {0}};

typedef struct options {
    int count_paths;
    char *paths[RUNS_MAX]; // borrowed from argv
    bool json, csv, quiet;
    bool continua;    // all runs are of scenes with `model: continuum`; known once they are measured
    cmd_instant time; // after NaN: the last frame
    sim_measure_def def;
    const char *file[SIMSTAT_FILES]; // NULL: not asked for
    const char *recover;             // NULL: not asked for
} options;

// One measured quantity, as all three outputs name it.
typedef struct quantity {
    const char *name, *unit;
    double value; // NaN: not measured
} quantity;

#define QUANTITIES_MAX 48

// ---------------------------------------------------------------------------------------------- options

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const switch_words[] = {"off", "on"};
    options *o = state->input;
    switch (key) {
    case KEY_TIME:
        cmd_instant_parse(argument, &o->time);
        return 0;
    case KEY_REGION:
        cmd_region(argument, o->def.region);
        return 0;
    case KEY_OVERLAP:
        o->def.true_overlap = cmd_choice("--overlap", argument, switch_words, 2) == 1;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_CSV:
        o->csv = true;
        return 0;
    case KEY_POSES:
        o->file[SIMSTAT_POSES] = argument;
        return 0;
    case KEY_SERIES:
        o->file[SIMSTAT_SERIES] = argument;
        return 0;
    case KEY_ORIENTATIONS:
        o->file[SIMSTAT_ORIENTATIONS] = argument;
        return 0;
    case KEY_BOUNDARIES:
        o->file[SIMSTAT_BOUNDARIES] = argument;
        return 0;
    case KEY_CONTACTS:
        o->file[SIMSTAT_CONTACTS] = argument;
        return 0;
    case KEY_RECOVER:
        o->recover = argument;
        return 0;
    case KEY_RATTLERS:
        o->def.rattler_contacts = (int)cmd_integer("--rattler-contacts", argument, 1, 100);
        return 0;
    case ARGP_KEY_ARG:
        if (o->count_paths == RUNS_MAX) cmd_usage("found more than %d run files", RUNS_MAX);
        o->paths[o->count_paths++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---------------------------------------------------------------------------------------------- quantities

// All quantities of a measurement in the order of the table; returns their number.
static int list_quantities(const sim_measurement *m, quantity *q) {
    const double degree = 180.0 / CORE_PI;
    const quantity list[] = {
        {"frame", "", (double)m->frame},
        {"step", "", (double)m->step},
        {"time", "s", m->time},
        {"phase", "", m->phase},
        {"grains", "", m->count_grains},
        {"kinetic_energy", "J/m", m->kinetic},
        {"potential_energy", "J/m", m->potential},
        {"elastic_energy", "J/m", m->elastic},
        {"dissipated_damping", "J/m", m->damping},
        {"dissipated_friction", "J/m", m->friction},
        {"energy_balance", "J/m", m->balance},
        {"kinetic_per_mgr", "", m->kinetic_per_mgr},
        {"momentum_x", "kg/s", m->momentum[0]},
        {"momentum_y", "kg/s", m->momentum[1]},
        {"angular_momentum", "kg m/s", m->angular_momentum},
        {"contacts", "", m->contacts < 0 ? NAN : (double)m->contacts},
        {"penetration_mean", "m", m->penetration_mean},
        {"penetration_max", "m", m->penetration_max},
        {"packing_fraction", "", m->packing_fraction},
        {"coordination", "", m->coordination},
        {"coordination_rigid", "", m->coordination_rigid},
        {"rattlers", "", m->rattlers < 0 ? NAN : m->rattlers},
        {"stress_xx", "Pa", m->stress[0]},
        {"stress_xy", "Pa", m->stress[1]},
        {"stress_yx", "Pa", m->stress[2]},
        {"stress_yy", "Pa", m->stress[3]},
        {"fabric_anisotropy", "", m->fabric_anisotropy},
        {"fabric_angle", "deg", m->fabric_angle * degree},
        {"base", "m", m->base},
        {"height", "m", m->height},
        {"height_99", "m", m->height_99},
        {"front", "m", m->front},
        {"front_99", "m", m->front_99},
        {"run_out", "", m->run_out},
        {"repose_angle", "deg", m->repose_angle * degree},
        {"repose_error", "deg", m->repose_error * degree},
        {"repose_x0", "m", m->repose_x0},
        {"repose_x1", "m", m->repose_x1},
        {"overlap_pairs", "", m->overlap_pairs < 0 ? NAN : (double)m->overlap_pairs},
        {"overlap_mean", "R", m->overlap_mean},
        {"overlap_p99", "R", m->overlap_p99},
        {"overlap_max", "R", m->overlap_max},
        {"overlap_above_3_percent", "", m->overlap_fraction_above_3},
        {"overlap_plane_max", "R", m->overlap_plane_max},
    };
    int count = (int)(sizeof list / sizeof *list);
    memcpy(q, list, sizeof list);
    return count;
}

// ---------------------------------------------------------------------------------------------- output

// Six digits; whole numbers, counts among them, in full.
static void print_value(double value) {
    const bool is_whole = fabs(value) < WHOLE_MAX && !(floor(value) < value);
    printf(is_whole ? "%*.0f" : "%*.6g", COLUMN_WIDTH, value);
}

// True if no run has the i-th quantity.
static bool is_missing(const options *o, const sim_measurement *m, int i) {
    quantity q[QUANTITIES_MAX];
    bool missing = true;
    for (int r = 0; r < o->count_paths && missing; r++) {
        list_quantities(&m[r], q);
        missing = isnan(q[i].value);
    }
    return missing;
}

// Of continua alone, what they do not have is left out.
static void print_table(const options *o, const sim_measurement *m) {
    quantity q[QUANTITIES_MAX], names[QUANTITIES_MAX];
    int count = list_quantities(&m[0], names);
    for (int r = 0; r < o->count_paths && o->count_paths > 1; r++) printf("[%d] %s\n", r + 1, o->paths[r]);
    if (o->count_paths > 1) {
        printf("%-32s", "");
        for (int r = 0; r < o->count_paths; r++)
            printf("%*s[%d]", COLUMN_WIDTH - 2 - snprintf(NULL, 0, "%d", r + 1), "", r + 1);
        printf("\n");
    }
    for (int i = 0; i < count; i++) {
        if (o->continua && is_missing(o, m, i)) continue;
        printf("%-24s%-8s", names[i].name, names[i].unit);
        for (int r = 0; r < o->count_paths; r++) {
            list_quantities(&m[r], q);
            if (isnan(q[i].value))
                printf("%*s", COLUMN_WIDTH, "-");
            else
                print_value(q[i].value);
        }
        printf("\n");
    }
}

// Field of a CSV file; quoted where it must be.
static void print_csv_text(FILE *f, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void print_csv(const options *o, const sim_measurement *m) {
    quantity q[QUANTITIES_MAX];
    int count = list_quantities(&m[0], q);
    printf("run");
    for (int i = 0; i < count; i++) printf(",%s", q[i].name);
    printf("\n");
    for (int r = 0; r < o->count_paths; r++) {
        print_csv_text(stdout, o->paths[r]);
        list_quantities(&m[r], q);
        for (int i = 0; i < count; i++) {
            if (isnan(q[i].value))
                printf(",nan");
            else
                printf(",%.17g", q[i].value);
        }
        printf("\n");
    }
}

static void print_json(const options *o, const sim_measurement *m) {
    quantity q[QUANTITIES_MAX];
    int count = list_quantities(&m[0], q);
    printf("{\n  \"units\": {");
    for (int i = 0; i < count; i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "", q[i].name, q[i].unit[0] ? q[i].unit : "1");
    printf("},\n  \"runs\": [");
    for (int r = 0; r < o->count_paths; r++) {
        printf("%s\n    {\"run\": ", r ? "," : "");
        cmd_print_json_text(stdout, o->paths[r]);
        list_quantities(&m[r], q);
        for (int i = 0; i < count; i++) {
            printf(",\n     \"%s\": ", q[i].name);
            if (isfinite(q[i].value))
                printf("%.17g", q[i].value);
            else
                printf("null");
        }
        printf("}");
    }
    printf("\n  ]\n}\n");
}

// ---------------------------------------------------------------------------------------------- main

static core_status measure_run(options *o, int index, sim_measurement *m, core_error *err) {
    core_run_reader *run = NULL;
    core_status status = CORE_OK;
    const char *path = o->paths[index];
    CORE_TRY_DONE(core_run_open(path, &run, err));
    double time;
    CORE_TRY_DONE(cmd_instant_resolve(run, path, &o->time, &time, err));
    int64_t frame = core_run_frame_at(run, time);
    CORE_CHECK_DONE(frame >= 0, CORE_FORMAT, "%s: the run has no frames yet", path);
    // particles of a continuum are drawn over each other and touch nothing
    sim_measure_def def = o->def;
    const bool continuum = sim_view_is_continuum(core_run_describe(run));
    def.true_overlap = def.true_overlap && !continuum;
    o->continua = o->continua && continuum;
    status = sim_measure_frame(run, frame, &def, m, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s", path);
        goto done;
    }
    for (int k = 0; k < SIMSTAT_FILES && status == CORE_OK; k++)
        if (o->file[k]) status = simstat_write((simstat_file)k, run, frame, &o->def, o->file[k], err);
done:
    core_run_close(&run);
    return status;
}

// Where measurements go; exit 2 unless it makes sense.
static void check_files(const options *o) {
    for (int k = 0; k < SIMSTAT_FILES; k++) {
        if (!o->file[k]) continue;
        if (o->recover) cmd_usage("--recover: measures nothing; found %s beside it", simstat_file_names[k]);
        if (o->count_paths > 1)
            cmd_usage("%s: found %d run files, expected one", simstat_file_names[k], o->count_paths);
        if (core_file_same(o->file[k], o->paths[0]))
            cmd_usage("%s: %s: input and output are the same file", simstat_file_names[k], o->file[k]);
        for (int j = 0; j < k; j++)
            if (core_file_same(o->file[j], o->file[k]))
                cmd_usage("%s: %s: the file of %s too, expected another", simstat_file_names[k], o->file[k],
                          simstat_file_names[j]);
    }
    if (o->recover && o->count_paths > 1) cmd_usage("--recover: found %d run files, expected one", o->count_paths);
    if (o->recover && (o->json || o->csv)) cmd_usage("--recover: measures nothing; found --json or --csv beside it");
}

static core_status recover(const options *o, core_error *err) {
    core_status status = CORE_OK;
    core_run_reader *run = NULL;
    CORE_TRY_DONE(core_run_recover(o->paths[0], o->recover, err));
    CORE_TRY_DONE(core_run_open(o->recover, &run, err));
    if (!o->quiet) printf("%s: %lld frames\n", o->recover, (long long)core_run_describe(run)->count_frames);
done:
    core_run_close(&run);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp argp = {argp_options, parse, "RUN.h5...", doc, 0, 0, 0};
    options o = {.continua = true, .time = {.after = NAN}, .def = sim_measure_default_def()};
    cmd_parse(&argp, argc, argv, &o, &o.quiet);
    if (o.count_paths == 0) cmd_usage("expected at least one run file (see --help)");
    if (o.json && o.csv) cmd_usage("--json and --csv exclude each other");
    check_files(&o);
    core_error err = {0};
    if (o.recover) return recover(&o, &err) == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
    sim_measurement *m = core_alloc((size_t)o.count_paths, sizeof *m);
    core_status status = m ? CORE_OK : CORE_FAIL(&err, CORE_MEMORY, "out of memory: %d runs", o.count_paths);
    core_progress progress = cmd_progress(o.quiet || o.count_paths == 1);
    for (int r = 0; r < o.count_paths && status == CORE_OK; r++) {
        status = measure_run(&o, r, &m[r], &err);
        core_progress_report(&progress, "measuring", r + 1, o.count_paths, "runs", NULL);
    }
    cmd_progress_end();
    if (status == CORE_OK) {
        if (o.json)
            print_json(&o, m);
        else if (o.csv)
            print_csv(&o, m);
        else
            print_table(&o, m);
        if (fflush(stdout) != 0) status = CORE_FAIL(&err, CORE_IO, "standard output: cannot be written");
    }
    core_free(m);
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
