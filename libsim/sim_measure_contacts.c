// What contact rows tell: coordination, stress, fabric, forces on boundaries. Definitions: sim_measure.h.
#include "sim_measure_private.h"

#include "sim.h"

#include <math.h>
#include <string.h>

// A contact in world axes.
typedef struct placed {
    double point[2], normal[2], force[2]; // m, -, N per metre of depth; force on B
    double branch[2];                     // m: from A's centre, or from the contact point on a boundary, to B's
} placed;

static placed place_contact(const core_run_frame *state, const core_run_contact *c) {
    const double *x_b = state->position + 2 * c->bodies[1];
    const double slope = sqrt(c->gradient[0] * c->gradient[0] + c->gradient[1] * c->gradient[1]);
    placed p = {{x_b[0], x_b[1]}, {0, 0}, {c->f_n * c->gradient[0], c->f_n * c->gradient[1]}, {0, 0}};
    if (slope > 0) {
        const double n[2] = {c->gradient[0] / slope, c->gradient[1] / slope}, t[2] = {-n[1], n[0]};
        // d_theta_B = -(p - x_B).R(pi/2) g gives the lever along the tangent
        const double along = -c->d_theta_b / slope;
        for (int k = 0; k < 2; k++) {
            p.normal[k] = n[k];
            p.force[k] += c->f_t * t[k];
            p.point[k] = x_b[k] + c->moment_arm[1] * n[k] + along * t[k];
        }
    }
    const double *from = c->bodies[0] >= 0 ? state->position + 2 * c->bodies[0] : p.point;
    for (int k = 0; k < 2; k++) p.branch[k] = x_b[k] - from[k];
    return p;
}

static bool in_region(const double *r, const double x[2]) {
    return x[0] >= r[0] && x[0] <= r[2] && x[1] >= r[1] && x[1] <= r[3];
}

// One round: counts the neighbours of those that are left, and marks those with too few. True if there were any.
static bool drop_round(const core_run_contact *c, int64_t n, int least, int count_rows, const uint8_t *role,
                       int *neighbours, uint8_t *rattler) {
    memset(neighbours, 0, (size_t)count_rows * sizeof *neighbours);
    for (int64_t k = 0; k < n; k++) {
        const int a = c[k].bodies[0], b = c[k].bodies[1];
        // rows of one pair follow each other
        if (k > 0 && c[k - 1].bodies[0] == a && c[k - 1].bodies[1] == b) continue;
        if (rattler[b] || (a >= 0 && rattler[a])) continue;
        neighbours[b]++;
        if (a >= 0) neighbours[a]++;
    }
    bool changed = false;
    for (int i = 0; i < count_rows; i++) {
        if (rattler[i] || neighbours[i] >= least || (role && role[i] != SIM_ROLE_FREE)) continue;
        rattler[i] = 1;
        changed = true;
    }
    return changed;
}

void sim_measure_drop_rattlers(const core_run_contact *c, int64_t n, int least, int count_rows, const uint8_t *role,
                               int *neighbours, uint8_t *rattler) {
    while (drop_round(c, n, least, count_rows, role, neighbours, rattler)) continue;
}

static core_status measure_coordination(const sim_selection *s, const sim_measure_def *def, const core_run_contact *c,
                                        int64_t n, sim_measurement *m, core_error *err) {
    core_status status = CORE_OK;
    const int rows = s->info->count_rows;
    int *neighbours = NULL;
    uint8_t *rattler = NULL;
    double all = 0, rest = 0;
    int count_rest = 0;
    CORE_NEW_DONE(neighbours, (size_t)rows);
    CORE_NEW_DONE(rattler, (size_t)rows);
    sim_measure_drop_rattlers(c, n, 0, rows, NULL, neighbours, rattler); // only counts
    for (int k = 0; k < s->count; k++) all += neighbours[s->rows[k]];
    sim_measure_drop_rattlers(c, n, def->rattler_contacts, rows, NULL, neighbours, rattler);
    for (int k = 0; k < s->count; k++) {
        if (rattler[s->rows[k]]) continue;
        rest += neighbours[s->rows[k]];
        count_rest++;
    }
    m->coordination = s->count ? all / s->count : NAN;
    m->coordination_rigid = count_rest ? rest / count_rest : NAN;
    m->rattlers = s->count - count_rest;
done:
    core_free(neighbours);
    core_free(rattler);
    return status;
}

// Love-Weber sum over the contacts whose point is in the region, and the fabric of their normals.
static void measure_stress(const sim_selection *s, const sim_measure_def *def, const core_run_contact *c, int64_t n,
                           sim_measurement *m) {
    const double *r = def->region;
    const bool everywhere = !sim_measure_region_given(def);
    double sum[4] = {0}, cos2 = 0, sin2 = 0;
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        const placed p = place_contact(s->state, &c[k]);
        if (!everywhere && !in_region(r, p.point)) continue;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) sum[2 * i + j] += p.branch[i] * p.force[j];
        cos2 += p.normal[0] * p.normal[0] - p.normal[1] * p.normal[1];
        sin2 += 2 * p.normal[0] * p.normal[1];
        count++;
    }
    const double area = everywhere ? NAN : (r[2] - r[0]) * (r[3] - r[1]);
    for (int i = 0; i < 4; i++) m->stress[i] = sum[i] / area;
    if (count == 0) return;
    // density of directions (1 + a cos 2(angle - angle_a))/(2 pi): mean of exp(2 i angle) = a/2 exp(2 i angle_a)
    m->fabric_anisotropy = 2 * sqrt(cos2 * cos2 + sin2 * sin2) / (double)count;
    m->fabric_angle = 0.5 * core_atan2(sin2, cos2);
}

core_status sim_measure_contacts(core_run_reader *run, const sim_selection *s, const sim_measure_def *def,
                                 sim_measurement *m, core_error *err) {
    m->coordination = m->coordination_rigid = m->fabric_anisotropy = m->fabric_angle = NAN;
    m->rattlers = -1;
    for (int i = 0; i < 4; i++) m->stress[i] = NAN;
    if (!s->info->contacts) return CORE_OK;
    core_run_contact *contacts = NULL;
    int64_t n = 0;
    CORE_TRY(core_run_read_contacts(run, m->frame, &contacts, &n, err));
    const core_status status = measure_coordination(s, def, contacts, n, m, err);
    if (status == CORE_OK) measure_stress(s, def, contacts, n, m);
    core_free(contacts);
    return status;
}

core_status sim_measure_orientations(core_run_reader *run, int64_t frame, const sim_measure_def *def, int bins,
                                     int64_t *count, double *force, core_error *err) {
    CORE_CHECK(run && def && count && force, CORE_ARG, "sim_measure_orientations: null pointer");
    CORE_CHECK(bins >= 1 && bins <= 3600, CORE_RANGE, "orientations: found %d bins, expected 1 .. 3600", bins);
    CORE_TRY(sim_measure_check(run, frame, def, err));
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_contact *contacts = NULL;
    core_run_frame state = {0};
    int64_t n = 0;
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    CORE_TRY_DONE(core_run_read(run, frame, &state, err));
    CORE_TRY_DONE(core_run_read_contacts(run, frame, &contacts, &n, err));
    const bool everywhere = !sim_measure_region_given(def);
    for (int b = 0; b < bins; b++) count[b] = 0, force[b] = 0;
    for (int64_t k = 0; k < n; k++) {
        const placed p = place_contact(&state, &contacts[k]);
        if (!everywhere && !in_region(def->region, p.point)) continue;
        double turn = core_atan2(p.normal[1], p.normal[0]) / CORE_PI; // a normal and its opposite are one direction
        turn -= floor(turn);
        int bin = (int)(turn * bins);
        if (bin >= bins) bin = 0; // rounding at the upper end
        count[bin]++;
        force[bin] += contacts[k].f_n;
    }
    for (int b = 0; b < bins; b++) force[b] = count[b] ? force[b] / (double)count[b] : NAN;
done:
    core_free(contacts);
    core_run_frame_clear(&state);
    return status;
}

core_status sim_measure_boundary_forces(core_run_reader *run, int64_t frame, double *force, core_error *err) {
    CORE_CHECK(run && force, CORE_ARG, "sim_measure_boundary_forces: null pointer");
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    core_run_contact *contacts = NULL;
    core_run_frame state = {0};
    int64_t n = 0;
    CORE_TRY_DONE(core_run_read_contacts(run, frame, &contacts, &n, err));
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    CORE_TRY_DONE(core_run_read(run, frame, &state, err));
    memset(force, 0, 2 * (size_t)(info->count_planes + info->count_walls) * sizeof *force);
    for (int64_t k = 0; k < n; k++) {
        if (contacts[k].bodies[0] >= 0) continue;
        const placed p = place_contact(&state, &contacts[k]);
        double *f = force + 2 * (-1 - contacts[k].bodies[0]);
        f[0] -= p.force[0], f[1] -= p.force[1];
    }
done:
    core_free(contacts);
    core_run_frame_clear(&state);
    return status;
}
