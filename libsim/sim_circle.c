/// Bounding circle with grains inside: the deepest point of a grain is the hull vertex that is farthest from the
/// centre, so the distance is exact; smoothed over a small range of angles. README.md, section 4.
#include "sim_private.h"

#include <math.h>

// Hull vertex k of the grain as a candidate. offset: x_B - centre.
static sim_candidate candidate(const sim_support *support, int k, const double offset[2], const double cos_sin[2],
                               double radius) {
    const double c = cos_sin[0], s = cos_sin[1], *v = support->xy + 2 * k;
    const double arm[2] = {c * v[0] - s * v[1], s * v[0] + c * v[1]}; // from x_B to the vertex
    const double from[2] = {offset[0] + arm[0], offset[1] + arm[1]};  // from the centre to the vertex
    const double r = sqrt(from[0] * from[0] + from[1] * from[1]);
    sim_candidate row = {.a = radius - r};
    if (!(r > 0)) return row; // a vertex on the centre has no direction; it never is the deepest of a real grain
    row.g[0] = -from[0] / r;
    row.g[1] = -from[1] / r;
    row.b = arm[0] * row.g[1] - arm[1] * row.g[0];
    for (int i = 0; i < 2; ++i) row.p[i] = arm[i] - 0.5 * row.a * row.g[i]; // midway between vertex and circle
    return row;
}

void sim_circle_contact(const double centre[2], double radius, const sim_support *support, const double x[2],
                        const double cos_sin[2], double width, sim_contact *contact) {
    const double offset[2] = {x[0] - centre[0], x[1] - centre[1]};
    sim_candidate rows[SIM_CANDIDATES_MAX];
    double bound = INFINITY;
    int n = 0;
    // lowest upper bound over the range of angles first, so that few candidates are kept
    for (int k = 0; k < support->n; ++k) {
        const sim_candidate row = candidate(support, k, offset, cos_sin, radius);
        bound = fmin(bound, row.a + fabs(row.b) * width);
    }
    for (int k = 0; k < support->n && n < SIM_CANDIDATES_MAX; ++k) {
        const sim_candidate row = candidate(support, k, offset, cos_sin, radius);
        if (!(row.a - fabs(row.b) * width > bound)) rows[n++] = row;
    }
    sim_candidates_average(rows, n, width, offset, contact);
}
