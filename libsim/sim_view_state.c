// A frame of a run for drawing, with its contact rows: contact points from the rows alone, and the force on each grain.
#include "sim_view_private.h"

#include <math.h>
#include <string.h>

core_status sim_view_state_create(core_run_reader *run, bool forces, sim_view_state *state, core_error *err) {
    const core_run_info *info = core_run_describe(run);
    core_status status = CORE_OK;
    sim_view_state made = {.info = info};
    CORE_CHECK(!forces || info->contacts, CORE_UNSUPPORTED,
               "the run has no contact rows: a scene with `output: {contacts: true}` writes them");
    CORE_TRY(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &made.frame, err));
    CORE_TRY_DONE(core_run_frame_add_walls(info->count_walls, &made.frame, err));
    if (forces) CORE_NEW_DONE(made.force, (size_t)info->count_rows + 1);
    *state = made;
    made = (sim_view_state){0};
done:
    sim_view_state_clear(&made);
    return status;
}

void sim_view_state_clear(sim_view_state *state) {
    core_run_frame_clear(&state->frame);
    core_free(state->contacts);
    core_free(state->force);
    *state = (sim_view_state){0};
}

double sim_view_normal_force(const core_run_contact *c) {
    return c->f_n * sqrt(c->gradient[0] * c->gradient[0] + c->gradient[1] * c->gradient[1]);
}

core_status sim_view_state_read(core_run_reader *run, int64_t frame, sim_view_state *state, core_error *err) {
    CORE_TRY(core_run_read(run, frame, &state->frame, err));
    if (!state->force) return CORE_OK;
    core_run_contact *contacts = NULL;
    int64_t n = 0;
    CORE_TRY(core_run_read_contacts(run, frame, &contacts, &n, err));
    core_free(state->contacts);
    state->contacts = contacts;
    state->frame.contacts = contacts, state->frame.count_contacts = n;
    memset(state->force, 0, (size_t)state->info->count_rows * sizeof *state->force);
    for (int64_t i = 0; i < n; i++) {
        const double force = sim_view_normal_force(&contacts[i]);
        for (int k = 0; k < 2; k++)
            if (contacts[i].bodies[k] >= 0)
                state->force[contacts[i].bodies[k]] = fmax(state->force[contacts[i].bodies[k]], force);
    }
    return CORE_OK;
}

// With n = g/|g| and t = R(pi/2) n: p - x_B = r_B n - (d_theta_B/|g|) t, because d_theta_B = -(p - x_B).R(pi/2) g.
// Where g vanishes (saturated overlap) the centre of B stands for the point.
void sim_view_contact_points(const sim_view_state *state, const core_run_contact *c, double point[2], double a[2],
                             double b[2]) {
    const double *x_b = state->frame.position + 2 * (size_t)c->bodies[1], *g = c->gradient;
    const double size = sqrt(g[0] * g[0] + g[1] * g[1]);
    const double n[2] = {size > 0 ? g[0] / size : 0, size > 0 ? g[1] / size : 0};
    const double along = size > 0 ? -c->d_theta_b / size : 0;
    for (int k = 0; k < 2; k++) b[k] = x_b[k];
    point[0] = x_b[0] + c->moment_arm[1] * n[0] - along * n[1];
    point[1] = x_b[1] + c->moment_arm[1] * n[1] + along * n[0];
    for (int k = 0; k < 2; k++) a[k] = c->bodies[0] < 0 ? point[k] : state->frame.position[2 * c->bodies[0] + k];
    const double period = state->info->period[1] - state->info->period[0];
    if (period > 0) a[0] += period * floor((point[0] - a[0]) / period + 0.5);
}
