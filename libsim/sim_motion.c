/// Laws of prescribed motion: pose as a pure function of the step, so that nothing accumulates. README.md, section 4.
#include "sim_private.h"

#include <math.h>

void sim_mover_pose(const sim_mover *mover, int64_t step, double dt, double x[2], double *angle) {
    const sim_motion_def *law = &mover->law;
    x[0] = mover->x[0];
    x[1] = mover->x[1];
    *angle = mover->angle;
    if (mover->start < 0 || step <= mover->start) return;
    const int64_t last = mover->stop >= 0 && step > mover->stop ? mover->stop : step;
    const double t = (double)(last - mover->start) * dt;
    core_motion_pose(law, t, mover->x, mover->angle, x, angle);
}

double sim_mover_follow(sim_world *w, int i, const double force[2], double torque) {
    const sim_mover *mover = &w->mover[w->mover_of[i]];
    double x[2], angle, work = 0;
    sim_mover_pose(mover, w->step + 1, w->dt, x, &angle);
    for (int k = 0; k < 2; ++k) {
        const double before = w->v[2 * i + k], now = w->x[2 * i + k] + (k == 0 ? w->period * w->image[i] : 0);
        w->v[2 * i + k] = (x[k] - now) / w->dt;
        work -= force[k] * 0.5 * (before + w->v[2 * i + k]);
        w->x[2 * i + k] = k == 0 ? x[k] - w->period * w->image[i] : x[k];
    }
    const double before = w->omega[i];
    w->omega[i] = (angle - w->theta[i]) / w->dt;
    w->theta[i] = angle;
    return (work - torque * 0.5 * (before + w->omega[i])) * w->dt;
}
