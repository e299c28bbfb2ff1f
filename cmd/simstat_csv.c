// CSV files of simstat: poses, time series, contact directions, boundary forces, contacts.
#include "simstat_csv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BINS 18 // of 10 degrees

const char *const simstat_file_names[SIMSTAT_FILES] = {"--poses", "--series", "--orientations", "--boundaries",
                                                       "--contacts"};

// Growing text.
typedef struct text_buffer {
    char *data;
    size_t n, capacity;
} text_buffer;

static core_status append(text_buffer *t, const char *text, core_error *err) {
    size_t n = strlen(text);
    if (t->n + n > t->capacity) {
        size_t capacity = 2 * (t->n + n) + 4096;
        char *grown = core_realloc(t->data, t->n, capacity, 1);
        CORE_CHECK(grown, CORE_MEMORY, "out of memory: %zu bytes of CSV", capacity);
        t->data = grown;
        t->capacity = capacity;
    }
    memcpy(t->data + t->n, text, n);
    t->n += n;
    return CORE_OK;
}

static core_status append_format(text_buffer *t, core_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static core_status append_format(text_buffer *t, core_error *err, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return append(t, text, err);
}

// Field of a CSV file, in quotes where it must be.
static core_status append_field(text_buffer *t, const char *field, core_error *err) {
    char one[3] = {0};
    if (!strpbrk(field, ",\"\r\n")) return append(t, field, err);
    CORE_TRY(append(t, "\"", err));
    for (; *field; field++) {
        one[0] = *field, one[1] = *field == '"' ? '"' : '\0';
        CORE_TRY(append(t, one, err));
    }
    return append(t, "\"", err);
}

static core_status append_poses(core_run_reader *run, core_run_frame *state, int64_t frame, text_buffer *t,
                                core_error *err) {
    const core_run_info *info = core_run_describe(run);
    CORE_TRY(core_run_read(run, frame, state, err));
    CORE_TRY(append(t, "id,type,x,y,angle\n", err));
    for (int i = 0; i < info->count_rows; i++) {
        if (state->id[i] < 0) continue;
        CORE_TRY(append_format(t, err, "%ld,", (long)state->id[i]));
        CORE_TRY(append_field(t, info->types[info->species[i]].name, err));
        CORE_TRY(append_format(t, err, ",%.17g,%.17g,%.17g\n", state->position[2 * i], state->position[2 * i + 1],
                               state->orientation[i]));
    }
    return CORE_OK;
}

// present: grains that are there; gone: grains that were there in an earlier stored frame and are not any more.
static core_status append_series(core_run_reader *run, core_run_frame *state, bool *seen, text_buffer *t,
                                 core_error *err) {
    const core_run_info *info = core_run_describe(run);
    CORE_TRY(append(t, "step,time,phase,present,gone", err));
    for (int k = 0; k < info->count_observables; k++) CORE_TRY(append_format(t, err, ",%s", info->observable_names[k]));
    CORE_TRY(append(t, "\n", err));
    for (int64_t f = 0; f < info->count_frames; f++) {
        int present = 0, gone = 0;
        CORE_TRY(core_run_read(run, f, state, err));
        for (int i = 0; i < info->count_rows; i++) {
            const bool there = state->id[i] >= 0;
            present += there;
            gone += seen[i] && !there;
            seen[i] = seen[i] || there;
        }
        const char *phase = state->phase < info->count_phases ? info->phase_names[state->phase] : "";
        CORE_TRY(append_format(t, err, "%lld,%.17g,", (long long)state->step, state->time));
        CORE_TRY(append_field(t, phase, err));
        CORE_TRY(append_format(t, err, ",%d,%d", present, gone));
        for (int k = 0; k < info->count_observables; k++) {
            if (isnan(state->observables[k])) {
                CORE_TRY(append(t, ",nan", err));
            } else {
                CORE_TRY(append_format(t, err, ",%.17g", state->observables[k]));
            }
        }
        CORE_TRY(append(t, "\n", err));
    }
    return CORE_OK;
}

static core_status append_orientations(core_run_reader *run, int64_t frame, const sim_measure_def *def, text_buffer *t,
                                       core_error *err) {
    int64_t count[BINS];
    double force[BINS];
    CORE_TRY(sim_measure_orientations(run, frame, def, BINS, count, force, err));
    CORE_TRY(append(t, "from,to,contacts,normal_force\n", err));
    for (int b = 0; b < BINS; b++) {
        CORE_TRY(append_format(t, err, "%g,%g,%lld,", 180.0 * b / BINS, 180.0 * (b + 1) / BINS, (long long)count[b]));
        CORE_TRY(isnan(force[b]) ? append(t, "nan\n", err) : append_format(t, err, "%.17g\n", force[b]));
    }
    return CORE_OK;
}

static core_status append_boundaries(core_run_reader *run, int64_t frame, text_buffer *t, core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    double *force = NULL;
    CORE_NEW_DONE(force, 2 * (size_t)(info->count_planes + info->count_walls));
    CORE_TRY_DONE(sim_measure_boundary_forces(run, frame, force, err));
    CORE_TRY_DONE(append(t, "name,force_x,force_y\n", err));
    for (int p = 0; p < info->count_planes + info->count_walls; p++) {
        const char *name = p < info->count_planes ? info->planes[p].name : info->walls[p - info->count_planes].name;
        CORE_TRY_DONE(append_field(t, name, err));
        CORE_TRY_DONE(append_format(t, err, ",%.17g,%.17g\n", force[2 * p], force[2 * p + 1]));
    }
done:
    core_free(force);
    return status;
}

// A contact row with the force on B, both parts together: f_n g + f_t R(pi/2) n.
static core_status append_contact(const core_run_info *info, const core_run_contact *c, text_buffer *t,
                                  core_error *err) {
    const double size = sqrt(c->gradient[0] * c->gradient[0] + c->gradient[1] * c->gradient[1]);
    const double n[2] = {size > 0 ? c->gradient[0] / size : 0, size > 0 ? c->gradient[1] / size : 0};
    const int boundary = -1 - c->bodies[0];
    if (boundary < 0)
        CORE_TRY(append_format(t, err, "%d", (int)c->bodies[0]));
    else
        CORE_TRY(append_field(t,
                              boundary < info->count_planes ? info->planes[boundary].name
                                                            : info->walls[boundary - info->count_planes].name,
                              err));
    CORE_TRY(append_format(t, err, ",%d,%d,%d,%.17g,%.17g,%.17g", (int)c->bodies[1], (int)c->feature, (int)c->sliding,
                           c->d, n[0], n[1]));
    return append_format(t, err, ",%.17g,%.17g,%.17g,%.17g\n", c->f_n * size, c->f_t,
                         c->f_n * c->gradient[0] - c->f_t * n[1], c->f_n * c->gradient[1] + c->f_t * n[0]);
}

static core_status append_contacts(core_run_reader *run, int64_t frame, text_buffer *t, core_error *err) {
    core_run_contact *rows = NULL;
    int64_t n = 0;
    core_status status = CORE_OK;
    CORE_TRY_DONE(core_run_read_contacts(run, frame, &rows, &n, err));
    CORE_TRY_DONE(
        append(t, "a,b,feature,sliding,d,normal_x,normal_y,normal_force,tangential_force,force_x,force_y\n", err));
    for (int64_t i = 0; i < n; i++) CORE_TRY_DONE(append_contact(core_run_describe(run), &rows[i], t, err));
done:
    core_free(rows);
    return status;
}

core_status simstat_write(simstat_file kind, core_run_reader *run, int64_t frame, const sim_measure_def *def,
                          const char *path, core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_frame state = {0};
    text_buffer text = {0};
    bool *seen = NULL;
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    CORE_NEW_DONE(seen, (size_t)info->count_rows);
    if (kind == SIMSTAT_POSES) CORE_TRY_DONE(append_poses(run, &state, frame, &text, err));
    if (kind == SIMSTAT_SERIES) CORE_TRY_DONE(append_series(run, &state, seen, &text, err));
    if (kind == SIMSTAT_ORIENTATIONS) CORE_TRY_DONE(append_orientations(run, frame, def, &text, err));
    if (kind == SIMSTAT_BOUNDARIES) CORE_TRY_DONE(append_boundaries(run, frame, &text, err));
    if (kind == SIMSTAT_CONTACTS) CORE_TRY_DONE(append_contacts(run, frame, &text, err));
    CORE_TRY_DONE(core_file_write(path, text.data, text.n, err));
done:
    core_free(text.data);
    core_free(seen);
    core_run_frame_clear(&state);
    return status;
}
