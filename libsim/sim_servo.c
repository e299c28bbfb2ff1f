/// Servo walls: planes that keep a pressure. The wall is a heavy, damped plate whose acceleration along its normal
/// comes from the load of the last step; damping is implicit, so that any coefficient is stable. README.md, section 4.
#include "sim_private.h"

#include <math.h>

// Distance of two planes, from the first one along its normal.
static double plane_distance(const sim_wall *a, const sim_wall *b) {
    return (b->x[0] - a->x[0]) * a->plane.normal[0] + (b->x[1] - a->x[1]) * a->plane.normal[1];
}

double sim_servo_length(const sim_world *w, const sim_wall *wall) {
    if (!isnan(wall->servo.length)) return wall->servo.length;
    return fabs(plane_distance(&w->walls.wall[wall->servo.across[0]], &w->walls.wall[wall->servo.across[1]]));
}

void sim_servo_begin(sim_world *w, int boundary) {
    sim_wall *wall = &w->walls.wall[boundary];
    const double *n = wall->plane.normal;
    double force[2] = {0, 0}, torque = 0, u = 0;
    const bool started = wall->servo.until_motion || (wall->mover.start >= 0 && wall->mover.start <= w->step);
    if (started && (wall->mover.stop < 0 || w->step < wall->mover.stop)) {
        sim_walls_load(w, boundary, force, &torque);
        const double load = -(force[0] * n[0] + force[1] * n[1]); // grains push it along -normal
        u = wall->v[0] * n[0] + wall->v[1] * n[1];
        u += w->dt * (wall->servo.pressure * sim_servo_length(w, wall) - load) / wall->servo.mass;
        u /= 1 + w->dt * wall->servo.damping / wall->servo.mass;
    }
    for (int k = 0; k < 2; ++k) wall->v_next[k] = u * n[k];
    wall->omega_next = 0;
}

void sim_servo_end(sim_world *w, int boundary) {
    sim_wall *wall = &w->walls.wall[boundary];
    for (int k = 0; k < 2; ++k) wall->x[k] += w->dt * wall->v_next[k];
}
