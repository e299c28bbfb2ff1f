/// Laws of prescribed motion: pose as a pure function of the step, so that nothing accumulates. README.md, section 4.
#include "sim_private.h"

#include <math.h>

// Row of the table at time t: linear between rows, constant beyond them.
static void add_table(const sim_motion_def *law, double t, double displacement[2], double *turn) {
    const double *row = law->table;
    int low = 0, high = law->count_rows - 1;
    if (high < 0) return;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row[4 * middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double *p = row + 4 * low, *q = row + 4 * high, span = q[0] - p[0];
    const double u = span > 0 ? fmin(fmax((t - p[0]) / span, 0), 1) : 1;
    displacement[0] += p[1] + u * (q[1] - p[1]);
    displacement[1] += p[2] + u * (q[2] - p[2]);
    *turn += p[3] + u * (q[3] - p[3]);
}

void sim_mover_pose(const sim_mover *mover, int64_t step, double dt, double x[2], double *angle) {
    const sim_motion_def *law = &mover->law;
    x[0] = mover->x[0];
    x[1] = mover->x[1];
    *angle = mover->angle;
    if (mover->start < 0 || step <= mover->start) return;
    const int64_t last = mover->stop >= 0 && step > mover->stop ? mover->stop : step;
    const double t = (double)(last - mover->start) * dt;
    double s0, c0, s, c;
    core_sincos(law->phase, &s0, &c0);
    core_sincos(2 * CORE_PI * law->frequency * t + law->phase, &s, &c);
    double displacement[2], turn = law->rotation * t + law->amplitude_angle * (s - s0);
    for (int k = 0; k < 2; ++k) displacement[k] = law->velocity[k] * t + law->amplitude[k] * (s - s0);
    add_table(law, t, displacement, &turn);
    // turned about the pivot, then displaced
    const double pivot[2] = {isnan(law->pivot[0]) ? x[0] : law->pivot[0], isnan(law->pivot[1]) ? x[1] : law->pivot[1]};
    const double arm[2] = {x[0] - pivot[0], x[1] - pivot[1]};
    core_sincos(turn, &s, &c);
    x[0] = pivot[0] + displacement[0] + (c * arm[0] - s * arm[1]);
    x[1] = pivot[1] + displacement[1] + (s * arm[0] + c * arm[1]);
    *angle += turn;
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
