// CSV files of simstat: poses, time series, contact directions, boundary forces, contacts.
#include "simstat_csv.h"

#include "core_buffer.h"

#include <math.h>

#define BINS 18 // of 10 degrees

const char *const simstat_file_names[SIMSTAT_FILES] = {"--poses", "--series", "--orientations", "--boundaries",
                                                       "--contacts"};

// Not a number has a sign in some libraries, and none here.
static void add_number(core_buffer *t, double value) {
    if (isnan(value))
        core_buffer_add(t, "nan");
    else
        core_buffer_add(t, "%.17g", value);
}

// Planes come first, then walls.
static const char *boundary_name(const core_run_info *info, int boundary) {
    return boundary < info->count_planes ? info->planes[boundary].name
                                         : info->walls[boundary - info->count_planes].name;
}

static core_status add_poses(core_run_reader *run, core_run_frame *state, int64_t frame, core_buffer *t,
                             core_error *err) {
    const core_run_info *info = core_run_describe(run);
    CORE_TRY(core_run_read(run, frame, state, err));
    core_buffer_add(t, "id,type,x,y,angle\n");
    for (int i = 0; i < info->count_rows; i++) {
        if (state->id[i] < 0) continue;
        core_buffer_add(t, "%ld,", (long)state->id[i]);
        core_buffer_add_csv(t, info->types[info->species[i]].name);
        core_buffer_add(t, ",%.17g,%.17g,%.17g\n", state->position[2 * i], state->position[2 * i + 1],
                        state->orientation[i]);
    }
    return CORE_OK;
}

// present: grains that are there; gone: grains that were there in an earlier stored frame and are not any more.
static core_status add_series(core_run_reader *run, core_run_frame *state, bool *seen, core_buffer *t,
                              core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_buffer_add(t, "step,time,phase,present,gone");
    for (int k = 0; k < info->count_observables; k++) core_buffer_add(t, ",%s", info->observable_names[k]);
    core_buffer_add(t, "\n");
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
        core_buffer_add(t, "%lld,%.17g,", (long long)state->step, state->time);
        core_buffer_add_csv(t, phase);
        core_buffer_add(t, ",%d,%d", present, gone);
        for (int k = 0; k < info->count_observables; k++) {
            core_buffer_add(t, ",");
            add_number(t, state->observables[k]);
        }
        core_buffer_add(t, "\n");
    }
    return CORE_OK;
}

static core_status add_orientations(core_run_reader *run, int64_t frame, const sim_measure_def *def, core_buffer *t,
                                    core_error *err) {
    int64_t count[BINS];
    double force[BINS];
    CORE_TRY(sim_measure_orientations(run, frame, def, BINS, count, force, err));
    core_buffer_add(t, "from,to,contacts,normal_force\n");
    for (int b = 0; b < BINS; b++) {
        core_buffer_add(t, "%g,%g,%lld,", 180.0 * b / BINS, 180.0 * (b + 1) / BINS, (long long)count[b]);
        add_number(t, force[b]);
        core_buffer_add(t, "\n");
    }
    return CORE_OK;
}

static core_status add_boundaries(core_run_reader *run, int64_t frame, core_buffer *t, core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    double *force = NULL;
    CORE_NEW_DONE(force, 2 * (size_t)(info->count_planes + info->count_walls));
    CORE_TRY_DONE(sim_measure_boundary_forces(run, frame, force, err));
    core_buffer_add(t, "name,force_x,force_y\n");
    for (int p = 0; p < info->count_planes + info->count_walls; p++) {
        core_buffer_add_csv(t, boundary_name(info, p));
        core_buffer_add(t, ",%.17g,%.17g\n", force[2 * p], force[2 * p + 1]);
    }
done:
    core_free(force);
    return status;
}

// A contact row with the force on B, both parts together: f_n g + f_t R(pi/2) n.
static void add_contact(const core_run_info *info, const core_run_contact *c, core_buffer *t) {
    const double size = sqrt(c->gradient[0] * c->gradient[0] + c->gradient[1] * c->gradient[1]);
    const double n[2] = {size > 0 ? c->gradient[0] / size : 0, size > 0 ? c->gradient[1] / size : 0};
    const int boundary = -1 - c->bodies[0];
    if (boundary < 0)
        core_buffer_add(t, "%d", (int)c->bodies[0]);
    else
        core_buffer_add_csv(t, boundary_name(info, boundary));
    core_buffer_add(t, ",%d,%d,%d,%.17g,%.17g,%.17g", (int)c->bodies[1], (int)c->feature, (int)c->sliding, c->d, n[0],
                    n[1]);
    core_buffer_add(t, ",%.17g,%.17g,%.17g,%.17g\n", c->f_n * size, c->f_t, c->f_n * c->gradient[0] - c->f_t * n[1],
                    c->f_n * c->gradient[1] + c->f_t * n[0]);
}

static core_status add_contacts(core_run_reader *run, int64_t frame, core_buffer *t, core_error *err) {
    core_run_contact *rows = NULL;
    int64_t n = 0;
    core_status status = CORE_OK;
    CORE_TRY_DONE(core_run_read_contacts(run, frame, &rows, &n, err));
    core_buffer_add(t, "a,b,feature,sliding,d,normal_x,normal_y,normal_force,tangential_force,force_x,force_y\n");
    for (int64_t i = 0; i < n; i++) add_contact(core_run_describe(run), &rows[i], t);
done:
    core_free(rows);
    return status;
}

core_status simstat_write(simstat_file kind, core_run_reader *run, int64_t frame, const sim_measure_def *def,
                          const char *path, core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_frame state = {0};
    core_buffer text = {0};
    bool *seen = NULL;
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    CORE_NEW_DONE(seen, (size_t)info->count_rows);
    if (kind == SIMSTAT_POSES) CORE_TRY_DONE(add_poses(run, &state, frame, &text, err));
    if (kind == SIMSTAT_SERIES) CORE_TRY_DONE(add_series(run, &state, seen, &text, err));
    if (kind == SIMSTAT_ORIENTATIONS) CORE_TRY_DONE(add_orientations(run, frame, def, &text, err));
    if (kind == SIMSTAT_BOUNDARIES) CORE_TRY_DONE(add_boundaries(run, frame, &text, err));
    if (kind == SIMSTAT_CONTACTS) CORE_TRY_DONE(add_contacts(run, frame, &text, err));
    CORE_CHECK_DONE(!text.failed, CORE_MEMORY, "%s: out of memory", path);
    CORE_TRY_DONE(core_file_write(path, text.text, text.size, err));
done:
    core_buffer_clear(&text);
    core_free(seen);
    core_run_frame_clear(&state);
    return status;
}
