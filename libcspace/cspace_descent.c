/// Local descent of max(phi_A, phi_qB). Where both are active the minimum lies on the ridge phi_A = phi_qB: Newton
/// steps bring a point onto the ridge, then a line search with derivative follows it, first in growing steps, then by
/// false position. The interpolated fields have continuous gradients, so at a balanced minimum these are exactly
/// opposed.
#include "cspace_field.h"

#include <math.h>

static const double balance_done = 1e-10; // |phi_A - phi_qB| at which a point counts as on the ridge, units of L
static const double slope_done = 1e-7;    // slope along the ridge at which the search ends (an angle, rad)
static const double step_min = 1e-8;      // units of L: below, rounding of the grid's floats decides
static const double step_max = 0.1;       // units of L
enum { BALANCE_STEPS = 8, WALK_STEPS = 16, POSITION_STEPS = 16 };

/// Newton steps across the ridge. False if both fields cannot be made equal nearby (one of them alone decides).
static bool balance(const cspace__field *field, cspace__probe *p) {
    for (int i = 0; i < BALANCE_STEPS; i++) {
        double diff = p->b - p->a;
        if (fabs(diff) <= balance_done) return true;
        double e[2] = {p->ga[0] - p->gb[0], p->ga[1] - p->gb[1]};
        double e2 = e[0] * e[0] + e[1] * e[1];
        if (e2 < 1e-4) return false;
        double k = diff / e2, length = fabs(diff) / sqrt(e2);
        if (length > step_max) k *= step_max / length;
        cspace__probe q;
        cspace__field_probe(field, p->x[0] + k * e[0], p->x[1] + k * e[1], &q);
        if (fabs(q.b - q.a) >= fabs(diff)) // a kink was jumped: the half step
            cspace__field_probe(field, p->x[0] + 0.5 * k * e[0], p->x[1] + 0.5 * k * e[1], &q);
        if (fabs(q.b - q.a) >= fabs(diff)) return fabs(diff) <= 1e-7;
        *p = q;
    }
    return fabs(p->b - p->a) <= 1e-7;
}

/// Slope of max along the ridge at a balanced probe, in the sense of `along`, and the ridge's unit tangent in that
/// sense.
static double ridge_slope(const cspace__probe *p, const double along[2], double tangent[2]) {
    double e[2] = {p->ga[0] - p->gb[0], p->ga[1] - p->gb[1]};
    double norm = sqrt(e[0] * e[0] + e[1] * e[1]);
    if (!(norm > 1e-2)) {
        tangent[0] = tangent[1] = 0.0;
        return 0.0;
    }
    tangent[0] = -e[1] / norm;
    tangent[1] = e[0] / norm;
    if (tangent[0] * along[0] + tangent[1] * along[1] < 0.0) {
        tangent[0] = -tangent[0];
        tangent[1] = -tangent[1];
    }
    return 0.5 * ((p->ga[0] + p->gb[0]) * tangent[0] + (p->ga[1] + p->gb[1]) * tangent[1]);
}

/// Root of the slope between two balanced probes, low with a negative and high with a positive slope in the sense of
/// low -> high: false position with the Illinois rule. The better end is left in *best.
static void close_in(const cspace__field *field, cspace__probe low, double slope_low, cspace__probe high,
                     double slope_high, cspace__probe *best) {
    int last = 0;
    for (int i = 0; i < POSITION_STEPS; i++) {
        double along[2] = {high.x[0] - low.x[0], high.x[1] - low.x[1]}, tangent[2];
        if (along[0] * along[0] + along[1] * along[1] < step_min * step_min) return;
        double f = slope_low / (slope_low - slope_high);
        f = fmin(fmax(f, 0.01), 0.99);
        cspace__probe q;
        cspace__field_probe(field, low.x[0] + f * along[0], low.x[1] + f * along[1], &q);
        if (!balance(field, &q)) return;
        if (cspace__probe_value(&q) <= cspace__probe_value(best)) *best = q;
        double slope = ridge_slope(&q, along, tangent);
        if (fabs(slope) <= slope_done) return;
        if (slope < 0.0) {
            low = q;
            slope_low = slope;
            if (last < 0) slope_high *= 0.5;
            last = -1;
        } else {
            high = q;
            slope_high = slope;
            if (last > 0) slope_low *= 0.5;
            last = 1;
        }
    }
}

/// Follows the ridge downhill from a balanced probe until the slope changes sign, then closes in.
static void follow_ridge(const cspace__field *field, cspace__probe *best) {
    cspace__probe here = *best;
    double along[2] = {1.0, 0.0}, tangent[2];
    double slope = ridge_slope(&here, along, tangent);
    if (fabs(slope) <= slope_done) return;
    double turn = slope > 0.0 ? -1.0 : 1.0;
    along[0] = turn * tangent[0];
    along[1] = turn * tangent[1];
    slope = -fabs(slope);
    // first guess: beside a face a corner's field has the curvature 1/|value|, shared by two
    double step = fmin(fmax(2.0 * fabs(slope * here.a), 0.25 * field->cell), step_max);
    for (int i = 0; i < WALK_STEPS && step > step_min; i++) {
        cspace__probe q;
        cspace__field_probe(field, here.x[0] + step * along[0], here.x[1] + step * along[1], &q);
        bool on_ridge = balance(field, &q);
        double ahead[2] = {q.x[0] - here.x[0], q.x[1] - here.x[1]}, tangent_q[2];
        double slope_q = ridge_slope(&q, ahead, tangent_q);
        double value = cspace__probe_value(&q);
        if (value < cspace__probe_value(best)) *best = q;
        if (!on_ridge || (slope_q <= 0.0 && value >= cspace__probe_value(&here))) {
            step *= 0.25; // off the ridge, or over a hill into another valley
            continue;
        }
        if (slope_q > 0.0) {
            close_in(field, here, slope, q, slope_q, best);
            return;
        }
        if (-slope_q <= slope_done) return;
        here = q;
        slope = slope_q;
        along[0] = tangent_q[0];
        along[1] = tangent_q[1];
        step = fmin(2.0 * step, step_max);
    }
}

void cspace__descend(const cspace__field *field, cspace__probe *probe) {
    cspace__probe p = *probe;
    bool on_ridge = balance(field, &p);
    if (cspace__probe_value(&p) <= cspace__probe_value(probe)) *probe = p;
    if (!on_ridge) return;
    follow_ridge(field, &p);
    if (cspace__probe_value(&p) <= cspace__probe_value(probe)) *probe = p;
}
