/// Private to libcspace: the least value of a few planes' maximum near a point. Shared by cspace_descent.c and
/// cspace_gradient.c.
#ifndef CSPACE_PLANES_H
#define CSPACE_PLANES_H

#include <stdbool.h>

/// Linear model of one piece of phi_A or phi_qB around a centre.
typedef struct cspace__plane {
    double value; // at the centre
    double g[2];
    bool of_b;
} cspace__plane;

/// The planes that decide, and their multipliers: u > 0, sum u = 1.
typedef struct cspace__mix {
    double dual;     // sum u value - reach/2 |slope|^2
    double slope[2]; // sum u g
    int n, index[3];
    double u[3];
} cspace__mix;

/// Minimises max_i(value_i + g_i.s) + |s|^2/(2 reach) over steps s: s = -reach slope. A convex problem in the plane has
/// a solution with at most three planes, so all subsets are tried. n >= 1.
void cspace__planes_mix(const cspace__plane *planes, int n, double reach, cspace__mix *best);

#endif
