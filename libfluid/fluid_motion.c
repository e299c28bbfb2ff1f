/// Solids that move by a law of their own, whatever the material does. In a step from t to t + dt a solid carries the
/// rigid velocity that leads from its pose at t to that at t + dt; the material meets the solid where it was at t, and
/// the particles are put outside of where it is at t + dt.
#include "fluid_private.h"

#include <math.h>

static const int TRIES = 2; // times that a step is shortened because a solid would go too far

// Seconds that a solid's motion has lasted at a time.
static double lasted(const fluid_mover *m, double time) {
    return fmin(time, m->stop) - m->start;
}

// Reference point and turn of solid i at a time.
static void pose_at(const fluid_world *w, int i, double time, double centre[2], double *turn) {
    const fluid_mover *m = &w->mover[i];
    core_motion_pose(&m->home.motion, fmax(lasted(m, time), 0), m->home.centre, 0, centre, turn);
}

static bool is_going(const fluid_mover *m, double time) {
    return core_motion_moves(&m->home.motion) && lasted(m, time) > 0;
}

void fluid__solid_pose(fluid_world *w, int i, double time) {
    const fluid_mover *m = &w->mover[i];
    fluid_solid *s = &w->solids[i];
    double turn, sine, cosine, along[2], arm[2];
    if (!is_going(m, time)) return;
    pose_at(w, i, time, s->centre, &turn);
    core_sincos(turn, &sine, &cosine);
    for (int a = 0; a < 2; ++a) {
        along[a] = m->home.normal[a];
        arm[a] = m->home.end[a] - m->home.centre[a];
    }
    s->normal[0] = cosine * along[0] - sine * along[1];
    s->normal[1] = sine * along[0] + cosine * along[1];
    s->end[0] = s->centre[0] + cosine * arm[0] - sine * arm[1];
    s->end[1] = s->centre[1] + sine * arm[0] + cosine * arm[1];
    s->angle = m->home.angle + turn;
}

// Longest way of a point of solid i inside the region in a step of length dt from now, in cells.
static double way(const fluid_world *w, int i, double dt) {
    double from[2], to[2], turn[2], reach = 0;
    pose_at(w, i, w->time, from, &turn[0]);
    pose_at(w, i, w->time + dt, to, &turn[1]);
    for (int corner = 0; corner < 4; ++corner)
        reach = fmax(reach,
                     hypot(w->def.region[corner & 1 ? 3 : 0] - from[0], w->def.region[corner & 2 ? 4 : 1] - from[1]));
    return (hypot(to[0] - from[0], to[1] - from[1]) + fabs(turn[1] - turn[0]) * reach) / w->grid.h;
}

double fluid__motion_dt(const fluid_world *w, double dt) {
    for (int k = 0; k < TRIES && w->moves; ++k) {
        double most = 0;
        for (int i = 0; i < w->count_solids; ++i)
            if (w->solids[i].present && is_going(&w->mover[i], w->time + dt)) most = fmax(most, way(w, i, dt));
        if (most > w->def.cfl) dt *= w->def.cfl / most;
    }
    return dt;
}

void fluid__motion_rates(fluid_world *w, double dt) {
    for (int i = 0; i < w->count_solids && w->moves; ++i) {
        fluid_mover *m = &w->mover[i];
        double from[2], to[2], turn[2];
        m->goes = w->solids[i].present && w->time < m->stop && is_going(m, w->time + dt);
        if (!m->goes) continue;
        pose_at(w, i, w->time, from, &turn[0]);
        pose_at(w, i, w->time + dt, to, &turn[1]);
        for (int a = 0; a < 2; ++a) {
            m->velocity[a] = (to[a] - from[a]) / dt;
            m->about[a] = .5 * (from[a] + to[a]);
        }
        m->spin = (turn[1] - turn[0]) / dt;
    }
}

void fluid__motion_advance(fluid_world *w, double time) {
    bool any = false;
    for (int i = 0; i < w->count_solids && w->moves; ++i) {
        if (!w->mover[i].goes) continue;
        fluid__solid_pose(w, i, time);
        any = true;
    }
    if (any) fluid__solid_update(w);
}

double fluid__solid_speed(const fluid_world *w, int solid, int axis, const double *x) {
    if (solid < 0 || !w->mover[solid].goes || axis > 1) return 0;
    const fluid_mover *m = &w->mover[solid];
    return m->velocity[axis] + (axis == 0 ? -m->spin * (x[1] - m->about[1]) : m->spin * (x[0] - m->about[0]));
}

double fluid__face_speed(const fluid_world *w, int axis, int f) {
    const fluid_grid *g = &w->grid;
    const int at[3] = {f % g->stride[1], f / g->stride[1] % g->cells[1], f / g->stride[2]};
    double x[3] = {0, 0, 0};
    for (int a = 0; a < g->dim; ++a) x[a] = g->origin[a] + (at[a] - (a == axis ? 1 : .5)) * g->h;
    return fluid__solid_speed(w, w->nearest[axis][f], axis, x);
}

// ---------------------------------------------------------------------------------------------- public functions

static core_status check_mover(const fluid_world *w, int solid, const char *name, core_error *err) {
    CORE_CHECK(w, CORE_ARG, "%s: null pointer", name);
    CORE_CHECK(solid >= 0 && solid < w->count_solids, CORE_RANGE, "solid: found %d, expected 0 .. %d", solid,
               w->count_solids - 1);
    return CORE_OK;
}

core_status fluid_world_start_motion(fluid_world *world, int solid, core_error *err) {
    CORE_TRY(check_mover(world, solid, "fluid_world_start_motion", err));
    if (!world->moves) return CORE_OK;
    fluid_mover *m = &world->mover[solid];
    const core_motion law = m->home.motion;
    m->home = world->solids[solid];
    m->home.motion = law;
    m->start = world->time;
    m->stop = INFINITY;
    return CORE_OK;
}

core_status fluid_world_stop_motion(fluid_world *world, int solid, core_error *err) {
    CORE_TRY(check_mover(world, solid, "fluid_world_stop_motion", err));
    if (world->moves) world->mover[solid].stop = fmin(world->mover[solid].stop, world->time);
    return CORE_OK;
}
