// Measurements of one frame: energies, momenta, heights, fronts, run-out.
#include "sim_measure_private.h"

#include "sdf.h"

#include <math.h>
#include <stdlib.h>

#define DEF_COOKIE 0x4d454153
#define QUANTILE 0.99
#define LEVEL_TOLERANCE 1e-6 // of a plane's normal against (0, 1)

// Extent of a selection: of its outlines, and 99 % quantiles of its centres; NaN for an empty one.
typedef struct extent {
    double box[4]; // x0, y0, x1, y1 of the outlines
    double x_99, y_99;
} extent;

// Rows with a grain whose centre is in the region; s->rows has room for all.
static void select_rows(const sim_measure_def *def, sim_selection *s) {
    const double *r = def->region;
    bool everywhere = !sim_measure_region_given(def);
    s->count = 0;
    for (int i = 0; i < s->info->count_rows; i++) {
        const double *x = s->state->position + 2 * i;
        if (s->info->prescribed[i]) continue; // a boundary
        if (s->state->id[i] < 0 || !isfinite(x[0]) || !isfinite(x[1]) || !isfinite(s->state->orientation[i])) continue;
        if (everywhere || (x[0] >= r[0] && x[0] <= r[2] && x[1] >= r[1] && x[1] <= r[3])) s->rows[s->count++] = i;
    }
}

static core_status measure_motion(const sim_selection *s, sim_measurement *m, core_error *err) {
    const core_run_info *info = s->info;
    double g = sqrt(info->gravity[0] * info->gravity[0] + info->gravity[1] * info->gravity[1]), ratio_sum = 0;
    double *gyration2 = core_alloc((size_t)info->count_types, sizeof *gyration2); // J/A of the canonical outlines
    CORE_CHECK(gyration2, CORE_MEMORY, "out of memory: %d types", info->count_types);
    core_status status = CORE_OK;
    m->kinetic = m->potential = m->momentum[0] = m->momentum[1] = m->angular_momentum = 0;
    for (int t = 0; t < info->count_types; t++) {
        sdf_mass mass;
        CORE_TRY_DONE(sdf_outline_mass(&info->types[t].outline, &mass, err));
        gyration2[t] = mass.second_moment / mass.area;
    }
    for (int k = 0; k < s->count; k++) {
        int i = s->rows[k], type = info->species[i];
        const double *x = s->state->position + 2 * i, *v = s->state->velocity + 2 * i;
        double mass = info->mass[i], radius = info->types[type].radius, omega = s->state->angular_velocity[i];
        double inertia = mass * radius * radius * gyration2[type];
        double kinetic = 0.5 * mass * (v[0] * v[0] + v[1] * v[1]) + 0.5 * inertia * omega * omega;
        m->kinetic += kinetic;
        m->potential -= mass * (info->gravity[0] * x[0] + info->gravity[1] * x[1]);
        m->momentum[0] += mass * v[0];
        m->momentum[1] += mass * v[1];
        m->angular_momentum += mass * (x[0] * v[1] - x[1] * v[0]) + inertia * omega;
        ratio_sum += kinetic / (mass * g * radius);
    }
    m->kinetic_per_mgr = s->count > 0 && g > 0 ? ratio_sum / s->count : NAN;
done:
    core_free(gyration2);
    return status;
}

// Value of an observable of the frame, NaN if the run has none of that name.
static double observable(const core_run_reader *run, const core_run_frame *state, const char *name) {
    int i = core_run_observable_index(run, name);
    return i < 0 ? NAN : state->observables[i];
}

static core_status measure_extent(const sim_selection *s, extent *e, core_error *err) {
    *e = (extent){{NAN, NAN, NAN, NAN}, NAN, NAN};
    if (s->count == 0) return CORE_OK;
    double *values = core_alloc((size_t)s->count, sizeof *values);
    CORE_CHECK(values, CORE_MEMORY, "out of memory: %d grains", s->count);
    for (int axis = 0; axis < 2; axis++) {
        for (int k = 0; k < s->count; k++) values[k] = s->state->position[2 * s->rows[k] + axis];
        qsort(values, (size_t)s->count, sizeof *values, sim_measure_compare);
        *(axis == 0 ? &e->x_99 : &e->y_99) = values[sim_measure_quantile(QUANTILE, s->count)];
    }
    for (int k = 0; k < s->count; k++) {
        const core_outline *o = &s->info->types[s->info->species[s->rows[k]]].outline;
        for (int j = 0; j < o->ring_start[1]; j++) {
            double p[2];
            sim_measure_point(s, s->rows[k], j, p);
            e->box[0] = fmin(e->box[0], p[0]), e->box[1] = fmin(e->box[1], p[1]);
            e->box[2] = fmax(e->box[2], p[0]), e->box[3] = fmax(e->box[3], p[1]);
        }
    }
    core_free(values);
    return CORE_OK;
}

// Heights are measured from here: the highest present level floor, else the lowest point.
static double base_of(const sim_selection *s, const extent *e) {
    double base = NAN;
    for (int i = 0; i < s->info->count_planes; i++) {
        const double *p = s->state->plane + 3 * i; // normal, offset
        bool level = fabs(p[0]) <= LEVEL_TOLERANCE && p[1] > 0;
        if (level && s->state->plane_present[i]) base = fmax(base, p[2]); // fmax ignores NaN
    }
    return isnan(base) ? e->box[1] : base;
}

// First frame of the run's last phase.
static core_status last_phase_start(core_run_reader *run, int64_t *start, core_error *err) {
    core_run_frame only_phase = {0};
    CORE_TRY(core_run_read(run, core_run_describe(run)->count_frames - 1, &only_phase, err));
    return core_run_phase_start(run, only_phase.phase, start, err);
}

// Run-out against the first frame of the last phase; `state` and s->rows are overwritten.
static core_status measure_run_out(core_run_reader *run, const sim_measure_def *def, core_run_frame *state,
                                   sim_selection *s, sim_measurement *m, core_error *err) {
    int64_t start;
    m->run_out = NAN;
    CORE_TRY(last_phase_start(run, &start, err));
    if (m->frame < start) return CORE_OK;
    extent e;
    CORE_TRY(core_run_read(run, start, state, err));
    select_rows(def, s);
    CORE_TRY(measure_extent(s, &e, err));
    m->run_out = (m->front_99 - e.x_99) / (e.box[2] - e.box[0]);
    return CORE_OK;
}

// What needs the frame's own state.
static core_status measure_state(core_run_reader *run, const sim_measure_def *def, const sim_selection *s,
                                 sim_measurement *m, core_error *err) {
    const core_run_frame *state = s->state;
    m->step = state->step, m->time = state->time, m->phase = state->phase, m->count_grains = s->count;
    CORE_TRY(measure_motion(s, m, err));
    m->elastic = observable(run, state, "elastic_energy");
    m->damping = observable(run, state, "dissipated_damping");
    m->friction = observable(run, state, "dissipated_friction");
    m->balance = observable(run, state, "energy_balance");
    m->penetration_mean = observable(run, state, "penetration_mean");
    m->penetration_max = observable(run, state, "penetration_max");
    double contacts = observable(run, state, "contacts");
    m->contacts = contacts >= 0 && contacts < 1e15 ? (int64_t)(contacts + 0.5) : -1;
    extent e;
    CORE_TRY(measure_extent(s, &e, err));
    m->base = base_of(s, &e);
    m->height = e.box[3] - m->base, m->height_99 = e.y_99 - m->base;
    m->front = e.box[2], m->front_99 = e.x_99;
    CORE_TRY(sim_measure_surface(s, m, err));
    m->overlap_pairs = -1;
    m->overlap_mean = m->overlap_p99 = m->overlap_max = m->overlap_fraction_above_3 = m->overlap_plane_max = NAN;
    if (def->true_overlap) CORE_TRY(sim_measure_overlap(s, m, err));
    CORE_TRY(sim_measure_packing(s, def, m, err));
    return sim_measure_contacts(run, s, def, m, err);
}

void sim_measure_point(const sim_selection *s, int row, int k, double point[2]) {
    const core_run_type *type = &s->info->types[s->info->species[row]];
    const double *v = type->outline.xy + 2 * k, *x = s->state->position + 2 * row;
    double sine, cosine;
    core_sincos(s->state->orientation[row], &sine, &cosine);
    point[0] = x[0] + type->radius * (cosine * v[0] - sine * v[1]);
    point[1] = x[1] + type->radius * (sine * v[0] + cosine * v[1]);
}

int sim_measure_quantile(double part, int n) {
    int index = (int)ceil(part * n - 1e-9) - 1; // 0.99 x 100 is a little more than 99 in binary
    return index < 0 ? 0 : index >= n ? n - 1 : index;
}

int sim_measure_compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

sim_measure_def sim_measure_default_def(void) {
    return (sim_measure_def){.cookie = DEF_COOKIE, .rattler_contacts = 2, .true_overlap = true};
}

bool sim_measure_region_given(const sim_measure_def *def) {
    for (int k = 0; k < 4; k++)
        if (!(def->region[k] >= 0 && def->region[k] <= 0)) return true;
    return false;
}

core_status sim_measure_check(core_run_reader *run, int64_t frame, const sim_measure_def *def, core_error *err) {
    CORE_CHECK(def->cookie == DEF_COOKIE, CORE_ARG, "sim_measure_def: start from sim_measure_default_def()");
    const core_run_info *info = core_run_describe(run);
    const double *r = def->region;
    CORE_CHECK(frame >= 0 && frame < info->count_frames, CORE_RANGE,
               "frame %lld: the run has %lld frames, counted from 0", (long long)frame, (long long)info->count_frames);
    CORE_CHECK(!sim_measure_region_given(def) ||
                   (isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]) && isfinite(r[3]) && r[0] < r[2] && r[1] < r[3]),
               CORE_RANGE, "region: found %g,%g,%g,%g, expected x0 < x1 and y0 < y1 in m", r[0], r[1], r[2], r[3]);
    CORE_CHECK(def->rattler_contacts >= 1 && def->rattler_contacts <= 100, CORE_RANGE,
               "rattler_contacts: found %d, expected 1 .. 100", def->rattler_contacts);
    return CORE_OK;
}

core_status sim_measure_frame(core_run_reader *run, int64_t frame, const sim_measure_def *def, sim_measurement *m,
                              core_error *err) {
    CORE_CHECK(run && def && m, CORE_ARG, "run, definition or result: found a null pointer");
    CORE_TRY(sim_measure_check(run, frame, def, err));
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_frame state = {0};
    sim_selection s = {.info = info, .state = &state};
    sim_measurement result = {.frame = frame};
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    CORE_NEW_DONE(s.rows, (size_t)info->count_rows);
    CORE_TRY_DONE(core_run_read(run, frame, &state, err));
    select_rows(def, &s);
    CORE_TRY_DONE(measure_state(run, def, &s, &result, err));
    CORE_TRY_DONE(measure_run_out(run, def, &state, &s, &result, err));
    *m = result;
done:
    core_free(s.rows);
    core_run_frame_clear(&state);
    return status;
}
