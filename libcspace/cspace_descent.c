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
static const double value_done = 1e-10;   // distance of a value from its lower bound at which it is the minimum
static const double mutual_done = 1e-12;  // units of L: what two nearest points may move by and still be nearest
enum { BALANCE_STEPS = 8, WALK_STEPS = 16, POSITION_STEPS = 16, DIG_STEPS = 8, PROJECTIONS = 4 };

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

/// A balanced probe on the ridge with the slope of max there, in the sense of the search.
typedef struct station {
    cspace__probe probe;
    double slope;
} station;

/// Where the tangents at both ends meet: the minimum if there is one kink between them, else a lower bound of it.
static double tangents_meet(const station *low, const station *high, double length, double *bound) {
    double v = cspace__probe_value(&low->probe), w = cspace__probe_value(&high->probe);
    double at = (w - v - high->slope * length) / (low->slope - high->slope);
    at = at < 0.0 ? 0.0 : at > length ? length : at;
    *bound = v + low->slope * at;
    return at / length;
}

/// Closes in on the minimum between two stations, low with a negative and high with a positive slope: in turn by where
/// the tangents meet (exact at a kink) and by false position with the Illinois rule (for smooth stretches). The best
/// probe is left in *best. True if it is the minimum.
static bool close_in(const cspace__field *field, station low, station high, cspace__probe *best) {
    double weight_low = 1.0, weight_high = 1.0;
    int last = 0;
    for (int i = 0; i < POSITION_STEPS; i++) {
        double along[2] = {high.probe.x[0] - low.probe.x[0], high.probe.x[1] - low.probe.x[1]}, tangent[2], bound;
        double length = sqrt(along[0] * along[0] + along[1] * along[1]);
        if (length < step_min) return true;
        double f = tangents_meet(&low, &high, length, &bound);
        if (cspace__probe_value(best) - bound <= value_done) return true;
        if (i % 2) {
            double a = weight_low * low.slope, b = weight_high * high.slope;
            f = a / (a - b);
        }
        f = f < 0.01 ? 0.01 : f > 0.99 ? 0.99 : f;
        station q;
        cspace__field_probe(field, low.probe.x[0] + f * along[0], low.probe.x[1] + f * along[1], &q.probe);
        if (!balance(field, &q.probe)) return false;
        if (cspace__probe_value(&q.probe) <= cspace__probe_value(best)) *best = q.probe;
        q.slope = ridge_slope(&q.probe, along, tangent);
        if (fabs(q.slope) <= slope_done) return true;
        if (q.slope < 0.0) {
            low = q;
            weight_high = last < 0 ? 0.5 * weight_high : 1.0;
            weight_low = 1.0;
            last = -1;
        } else {
            high = q;
            weight_low = last > 0 ? 0.5 * weight_low : 1.0;
            weight_high = 1.0;
            last = 1;
        }
    }
    return false;
}

/// Follows the ridge downhill from a balanced probe until the slope changes sign, then closes in. True if it ends at a
/// minimum along the ridge.
static bool follow_ridge(const cspace__field *field, cspace__probe *best) {
    station here = {.probe = *best};
    double along[2] = {1.0, 0.0}, tangent[2];
    double slope = ridge_slope(&here.probe, along, tangent);
    if (fabs(slope) <= slope_done) return true;
    double turn = slope > 0.0 ? -1.0 : 1.0;
    along[0] = turn * tangent[0];
    along[1] = turn * tangent[1];
    here.slope = -fabs(slope);
    // first guess: beside a face a corner's field has the curvature 1/|value|, shared by two
    double step = fmin(fmax(2.0 * fabs(here.slope * here.probe.a), 0.25 * field->cell), step_max);
    for (int i = 0; i < WALK_STEPS && step > step_min; i++) {
        station q;
        cspace__field_probe(field, here.probe.x[0] + step * along[0], here.probe.x[1] + step * along[1], &q.probe);
        bool on_ridge = balance(field, &q.probe);
        double ahead[2] = {q.probe.x[0] - here.probe.x[0], q.probe.x[1] - here.probe.x[1]}, tangent_q[2];
        q.slope = ridge_slope(&q.probe, ahead, tangent_q);
        double value = cspace__probe_value(&q.probe);
        if (value < cspace__probe_value(best)) *best = q.probe;
        if (!on_ridge || (q.slope <= 0.0 && value >= cspace__probe_value(&here.probe))) {
            step *= 0.25; // off the ridge, or over a hill into another valley
            continue;
        }
        if (q.slope > 0.0) return close_in(field, here, q, best);
        if (-q.slope <= slope_done) return true;
        here = q;
        along[0] = tangent_q[0];
        along[1] = tangent_q[1];
        step = fmin(2.0 * step, step_max);
    }
    return false;
}

/// Where one field alone decides it is followed straight down, to its kink or to where the other one takes over: the
/// middle of a wall in saturated overlap.
static void dig(const cspace__field *field, cspace__probe *best) {
    cspace__probe here = *best;
    double step = field->cell;
    for (int i = 0; i < DIG_STEPS; i++) {
        bool of_a = here.a > here.b;
        const double *g = of_a ? here.ga : here.gb;
        const double along[2] = {-g[0], -g[1]};
        cspace__probe q;
        cspace__field_probe(field, here.x[0] + step * along[0], here.x[1] + step * along[1], &q);
        if ((q.a > q.b) != of_a) return; // the ridge lies between: another search's matter
        const double *h = of_a ? q.ga : q.gb;
        double slope = h[0] * along[0] + h[1] * along[1];
        if (cspace__probe_value(&q) < cspace__probe_value(best)) *best = q;
        if (slope > -0.5) { // past a kink: where the tangents meet
            double v = cspace__probe_value(&here), w = cspace__probe_value(&q);
            double at = (w - v - slope * step) / (-1.0 - slope);
            if (!(at > 0.0 && at < step)) return;
            cspace__field_probe(field, here.x[0] + at * along[0], here.x[1] + at * along[1], &q);
            if (cspace__probe_value(&q) < cspace__probe_value(best)) *best = q;
            return;
        }
        here = q;
        step *= 2.0;
    }
}

/// Apart: from the nearest point of B to the nearest of A to the nearest of B, until they are each other's. False if
/// they are not soon (two faces at a small angle). *p: half way between the last two.
static bool project(const cspace__field *field, cspace__probe *p) {
    double u[2] = {p->x[0] - p->b * p->gb[0], p->x[1] - p->b * p->gb[1]}, v[2], g[2];
    bool mutual = false;
    for (int i = 0; i < PROJECTIONS && !mutual; i++) {
        double a = cspace__field_a(field, u, g);
        if (a <= 0.0) return false;
        v[0] = u[0] - a * g[0];
        v[1] = u[1] - a * g[1];
        double b = cspace__field_b(field, v, g);
        if (b <= 0.0) return false;
        double next[2] = {v[0] - b * g[0], v[1] - b * g[1]};
        mutual = fabs(next[0] - u[0]) + fabs(next[1] - u[1]) <= mutual_done;
        u[0] = next[0];
        u[1] = next[1];
    }
    cspace__probe q;
    cspace__field_probe(field, 0.5 * (u[0] + v[0]), 0.5 * (u[1] + v[1]), &q);
    if (cspace__probe_value(&q) <= cspace__probe_value(p)) *p = q;
    return mutual;
}

bool cspace__descend(const cspace__field *field, cspace__probe *probe) {
    if (probe->a > 0.0 && probe->b > 0.0 && project(field, probe)) return true;
    cspace__probe p = *probe;
    bool on_ridge = balance(field, &p);
    if (cspace__probe_value(&p) <= cspace__probe_value(probe)) *probe = p;
    if (!on_ridge) {
        dig(field, probe);
        return false;
    }
    bool minimum = follow_ridge(field, &p);
    if (cspace__probe_value(&p) <= cspace__probe_value(probe)) *probe = p;
    return minimum;
}
