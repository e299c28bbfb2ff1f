/// The smoothing kernel: six poses at +-sqrt(3) sigma per axis of (L theta, x, y), a quadrature of a Gaussian of width
/// sigma that is exact for polynomials of third degree. Where two contacts share a pair (a face on a face) the mean has
/// a gradient that changes steadily from one to the other.
#include "cspace_field.h"

#include <math.h>

double cspace__kernel_step(double sigma) {
    return sqrt(3.0) * sigma;
}

cspace_pose cspace__kernel_pose(const cspace_pose *pose, double sigma, int k) {
    double by = k % 2 ? cspace__kernel_step(sigma) : -cspace__kernel_step(sigma);
    cspace_pose q = *pose;
    if (k / 2 == 0) q.theta += by; // L theta in units of L
    if (k / 2 == 1) q.x += by;
    if (k / 2 == 2) q.y += by;
    return q;
}

void cspace__kernel_mean(const cspace_pose *pose, double sigma, const cspace_contact side[6], cspace_contact *contact) {
    double d = 0.0, arm = 0.0, rate[3];
    for (int k = 0; k < 6; k++) {
        d += side[k].d / 6.0;
        arm += (side[k].r_a + side[k].r_b) / 12.0;
    }
    for (int axis = 0; axis < 3; axis++)
        rate[axis] = (side[2 * axis + 1].d - side[2 * axis].d) / (2.0 * cspace__kernel_step(sigma));
    double slope = sqrt(rate[1] * rate[1] + rate[2] * rate[2]);
    double apart = slope > 0.0 ? (pose->x * rate[1] + pose->y * rate[2]) / slope : 0.0; // t.n
    *contact = (cspace_contact){
        .d = d, .d_theta = rate[0], .g = {rate[1], rate[2]}, .r_a = arm + 0.5 * apart, .r_b = arm - 0.5 * apart};
}
