/// How far a signed distance can fall below its tangent planes. The minimiser prunes with it: where a distance is
/// convex its tangent plane bounds it from below, however far.
///
/// A distance is convex except along the medial axis outside (kinks that bend down by a jump J of the slope) and in the
/// fans of reflex corners inside (curvature 1/distance). Over a disc of radius r it falls below its tangent plane by at
/// most r times the concave turn of the slope on the way: min(K r/2, spread of the gradients), K the largest concave
/// curvature. Tables keep that slope, one byte for each block of a lattice, for radii of 4, 8, .. 64 lattice steps: K
/// from second differences in eight directions, in which a kink shows as a curvature of J per step. Smaller discs look
/// at the edges themselves.
#include "sdf_near.h"

#include <math.h>

enum { RADIUS_FIRST = 4, WAYS = 8, RIM = 3, MOSTS = 5, PER_CELL = 2, POINTS = PER_CELL * SDF_NEAR_CELLS + 1 };
static const double step = 2.0 * SDF_NEAR_BOX / (POINTS - 1); // of the lattice, circumradii: 1/128
static const double noise = 1e-6;        // second differences below it are rounding (of the grid's floats)
static const double slope_most = 2.0;    // no two unit gradients differ by more
static const double steeper = 1.15;      // curvatures between the eight directions
static const double radius_least = 6.0;  // steps: below, curvatures are taken for kinks
static const double convex_margin = 4.0; // steps: half a cell's diagonal, what differences see, kinks between points
static const double off_by = 1.0 / 3.0;  // error of the interpolant's gradient, parts of the spread around

/// Lattice quantities while the tables are made, each (POINTS x POINTS).
typedef struct lattice {
    float *value;
    float *most[MOSTS]; // x and -x, y and -y of the gradient; K times the step
} lattice;

/// Concave curvature and gradient at one lattice point that has two neighbours each way.
static void measure(lattice *l, int i, int k) {
    static const int way[WAYS][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 1}, {1, 2}, {2, -1}, {1, -2}};
    const float *v = l->value + k * POINTS + i;
    double most = 0.0;
    for (int w = 0; w < WAYS; w++) {
        int x = way[w][0], y = way[w][1], by = y * POINTS + x;
        double second = (double)v[by] - 2.0 * (double)v[0] + (double)v[-by];
        if (second < -noise) most = fmax(most, -second / (x * x + y * y));
    }
    int at = k * POINTS + i;
    float x = (float)(((double)v[1] - (double)v[-1]) / (2.0 * step));
    float y = (float)(((double)v[POINTS] - (double)v[-POINTS]) / (2.0 * step));
    l->most[0][at] = x;
    l->most[1][at] = -x;
    l->most[2][at] = y;
    l->most[3][at] = -y;
    l->most[4][at] = (float)(steeper * most / step);
}

static uint8_t slope_to_byte(double slope) {
    return (uint8_t)ceil(255.0 * sqrt(fmin(slope, slope_most) / slope_most));
}

static double byte_to_slope(uint8_t byte) {
    double root = byte / 255.0;
    return slope_most * root * root;
}

/// Replaces each number of a line by the largest of it and those `by` before and behind.
static void line_widen(float *line, int stride, int by, float *copy) {
    for (int i = 0; i < POINTS; i++) copy[i] = line[i * stride];
    for (int i = 0; i < POINTS; i++) {
        float before = copy[i < by ? 0 : i - by], behind = copy[i + by < POINTS ? i + by : POINTS - 1];
        float most = before > behind ? before : behind;
        if (most > copy[i]) line[i * stride] = most;
    }
}

/// Widens the windows that the largest numbers are taken over, both ways.
static void widen(lattice *l, int by) {
    float copy[POINTS];
    for (int a = 0; a < MOSTS; a++)
        for (int i = 0; i < POINTS; i++) line_widen(l->most[a] + i * POINTS, 1, by, copy);
    for (int a = 0; a < MOSTS; a++)
        for (int i = 0; i < POINTS; i++) line_widen(l->most[a] + i, POINTS, by, copy);
}

/// Largest over the windows around a block: those around its corners overlap.
static double block_most(const float *most, const sdf__sag_level *t, int at) {
    int x = at % t->n * t->block, y = at / t->n * t->block;
    int x1 = x + t->block < POINTS ? x + t->block : POINTS - 1, y1 = y + t->block < POINTS ? y + t->block : POINTS - 1;
    double a = (double)most[y * POINTS + x], b = (double)most[y * POINTS + x1];
    double c = (double)most[y1 * POINTS + x], d = (double)most[y1 * POINTS + x1];
    return fmax(fmax(a, b), fmax(c, d));
}

/// One table, from windows of radius + 1 (differences see one point farther): sag slopes for discs of `radius` steps,
/// or the spread of gradients alone if `bent` is false.
static core_status table_fill(const lattice *l, int radius, bool bent, sdf__sag_level *t, core_error *err) {
    core_status status = CORE_OK;
    int reach = radius + 1;
    t->block = radius > 1 ? radius / 2 : 1;
    t->n = (POINTS - 2) / t->block + 1;
    CORE_NEW_DONE(t->slope, (size_t)t->n * (size_t)t->n);
    for (int at = 0; at < t->n * t->n; at++) {
        double x = block_most(l->most[0], t, at) + block_most(l->most[1], t, at);
        double y = block_most(l->most[2], t, at) + block_most(l->most[3], t, at), slope = sqrt(x * x + y * y);
        // a kink half way between two lattice points, askew, shows a third of its jump
        if (bent) slope = fmin(slope, 0.5 * fmax(radius, radius_least) * block_most(l->most[4], t, at));
        // where the disc leaves the lattice nothing is known
        int low = at % t->n < at / t->n ? at % t->n : at / t->n, high = at % t->n + at / t->n - low;
        bool whole = low * t->block - reach >= RIM && (high + 1) * t->block + reach < POINTS - RIM;
        t->slope[at] = whole ? slope_to_byte(slope) : 255;
    }
done:
    return status;
}

/// Distances of all lattice points from those around which the distance is not convex, by columns, then rows.
static core_status convex_fill(const lattice *l, uint8_t **convex, core_error *err) {
    core_status status = CORE_OK;
    float *up = NULL;
    CORE_NEW_DONE(up, (size_t)POINTS * POINTS);
    CORE_NEW_DONE(*convex, (size_t)POINTS * POINTS);
    for (int i = 0; i < POINTS; i++) {
        for (int way = 0; way < 2; way++) {
            float distance = 0.0F; // nothing is known beyond the rim
            for (int n = 0; n < POINTS; n++) {
                int k = way ? POINTS - 1 - n : n, at = k * POINTS + i;
                bool inner = i >= RIM && i < POINTS - RIM && k >= RIM && k < POINTS - RIM;
                distance = inner && l->most[4][at] <= 0.0F ? distance + 1.0F : 0.0F;
                if (way == 0 || distance < up[at]) up[at] = distance;
            }
        }
    }
    for (int k = 0; k < POINTS; k++) {
        const float *row = up + k * POINTS;
        for (int i = 0; i < POINTS; i++) {
            float least = row[i] * row[i];
            for (int by = 1; (float)(by * by) < least; by++) {
                float before = i >= by ? row[i - by] : 0.0F, behind = i + by < POINTS ? row[i + by] : 0.0F;
                float nearer = before < behind ? before : behind, d2 = nearer * nearer + (float)(by * by);
                if (d2 < least) least = d2;
            }
            float whole = floorf(sqrtf(least));
            (*convex)[k * POINTS + i] = (uint8_t)(whole < 255.0F ? whole : 255.0F);
        }
    }
done:
    core_free(up);
    return status;
}

void sdf__sag_clear(sdf_near *near) {
    core_free(near->convex);
    core_free(near->spread.slope);
    for (int k = 0; k < SDF_SAG_LEVELS; k++) core_free(near->sag[k].slope);
}

core_status sdf__sag_fill(sdf_near *near, const sdf_grid *grid, core_error *err) {
    core_status status = CORE_OK;
    const size_t n = (size_t)POINTS * POINTS;
    lattice l = {0};
    CORE_NEW_DONE(l.value, n);
    for (int a = 0; a < MOSTS; a++) CORE_NEW_DONE(l.most[a], n);
    for (int k = 0; k < POINTS; k++)
        for (int i = 0; i < POINTS; i++) {
            double p[2] = {i * step - SDF_NEAR_BOX, k * step - SDF_NEAR_BOX};
            const uint16_t *list = NULL;
            int round, count = sdf__near_list(near, p, &list, &round);
            l.value[k * POINTS + i] =
                (float)(count ? sdf__near_distance(near, list, count, p, NULL) : sdf_grid_sample(grid, p, NULL));
        }
    for (int k = 2; k < POINTS - 2; k++)
        for (int i = 2; i < POINTS - 2; i++) measure(&l, i, k);
    CORE_TRY_DONE(convex_fill(&l, &near->convex, err));
    widen(&l, 1);
    widen(&l, 1);
    CORE_TRY_DONE(table_fill(&l, 1, false, &near->spread, err));
    for (int k = 0; k < SDF_SAG_LEVELS; k++) {
        widen(&l, k > 0 ? RADIUS_FIRST << (k - 1) : RADIUS_FIRST - 1);
        CORE_TRY_DONE(table_fill(&l, RADIUS_FIRST << k, true, near->sag + k, err));
    }
done:
    core_free(l.value);
    for (int a = 0; a < MOSTS; a++) core_free(l.most[a]);
    return status;
}

static double level_slope(const sdf__sag_level *t, double u, double v) {
    return byte_to_slope(t->slope[(int)v / t->block * t->n + (int)u / t->block]);
}

/// True if the edges marked follow each other over convex corners: seen from outside, one convex body.
static bool is_one_body(const sdf_near *near, const uint16_t *list, int n, const bool *marked) {
    int count = 0, links = 0;
    for (int i = 0; i < n; i++) {
        if (!marked[i]) continue;
        const sdf__near_edge *e = near->edges + list[i];
        count++;
        for (int k = 0; k < n && !e->reflex_end; k++) links += marked[k] && list[k] == e->next;
    }
    return links >= count - 1;
}

/// A small disc around p, from the `round` edges that can be nearest to a point of it (the first n: to p). Outside, the
/// distance to a convex body is convex; inside, a reflex corner at distance D has curvature 1/D.
static double sag_of_edges(const sdf_near *near, const uint16_t *list, int n, int round, const double p[2],
                           double radius) {
    double distance2[SDF_NEAR_LIST_MAX], along, least = INFINITY;
    bool marked[SDF_NEAR_LIST_MAX], reflex = false;
    for (int i = 0; i < round; i++) {
        distance2[i] = sdf__near_edge_distance2(near->edges + list[i], p, &along);
        if (distance2[i] < least) least = distance2[i];
    }
    double distance = sqrt(least), limit = distance + 2.0 * radius;
    for (int i = 0; i < round; i++) {
        const sdf__near_edge *e = near->edges + list[i];
        marked[i] = distance2[i] <= limit * limit;
        reflex = reflex || (marked[i] && (e->reflex_start || e->reflex_end));
    }
    bool one_body = is_one_body(near, list, round, marked);
    if (one_body && !reflex) return 0.0;
    double signed_distance = sdf__near_distance(near, list, n, p, NULL);
    if (signed_distance > radius) return one_body ? 0.0 : slope_most;
    if (signed_distance < -2.0 * radius) return reflex ? 0.5 * radius / (distance - radius) : 0.0;
    return slope_most;
}

double sdf_grid_convex(const sdf_grid *grid, const double p[2]) {
    double u = (p[0] + SDF_NEAR_BOX) / step, v = (p[1] + SDF_NEAR_BOX) / step;
    const uint16_t *list = NULL;
    int round;
    if (!grid->near || !(u >= 0.0 && v >= 0.0 && u < POINTS - 1 && v < POINTS - 1)) return 0.0;
    if (sdf__near_list(grid->near, p, &list, &round) == 0) return 0.0;
    double steps = grid->near->convex[(int)(v + 0.5) * POINTS + (int)(u + 0.5)];
    return fmax(0.0, (steps - convex_margin) * step);
}

double sdf_grid_sag(const sdf_grid *grid, const double p[2], double radius) {
    const sdf_near *near = grid->near;
    double u = (p[0] + SDF_NEAR_BOX) / step, v = (p[1] + SDF_NEAR_BOX) / step, steps = radius / step;
    if (!near || !(u >= 0.0 && v >= 0.0 && u < POINTS - 1 && v < POINTS - 1)) return slope_most;
    const uint16_t *list = NULL;
    int round, n = sdf__near_list(near, p, &list, &round);
    if (n > 0 && radius <= SDF_NEAR_ROUND) return sag_of_edges(near, list, n, round, p, radius);
    if (n > 0 && steps <= near->convex[(int)(v + 0.5) * POINTS + (int)(u + 0.5)] - convex_margin) return 0.0;
    int k = 0;
    while (k < SDF_SAG_LEVELS && !(steps <= RADIUS_FIRST << k)) k++;
    double sag = k < SDF_SAG_LEVELS ? level_slope(near->sag + k, u, v) : slope_most;
    return n > 0 ? sag : sag + off_by * level_slope(&near->spread, u, v);
}
