/// Global minimum of E(x) = 2 max(phi_A, phi_qB) by branch and bound on a quadtree of cells.
///
/// Lower bounds of M = max(phi_A, phi_qB) in a cell with centre c and half diagonal r:
///
/// 1.  M(c) - r
/// Distances are 1-Lipschitz. Where an interpolant stands for them (2u^2 - u^3 between two nodes beside a kink) it is
/// up to 4/3 as steep and gains at most 4/27 of the grid spacing by it.
///
/// 2.  f(c) - |grad f(c)| r - sag r
/// with f = u phi_A + (1 - u) phi_qB <= M for any u in [0, 1] and the sag of sdf_grid_sag: how far distances can fall
/// below their tangent planes, nothing where they are convex. It prunes flat minima (face to face), where the gradients
/// cancel; u is the one of least gradient.
///
/// 3.  the same with two edges of one or both outlines, inside both: each is a bound of M by itself. It prunes the
/// middle line of a wall in saturated overlap.
///
/// 4.  basins: in a disc in which both fields are convex no value is below that of a local minimum at its centre, and
/// bound 2 holds without the sag. What lies in such a disc is not looked at.
///
/// Cells are looked at four at a time (cspace__field_probes).
///
/// Where the interpolant stands for a field, saturated overlaps have long flat minima on its kink, where no bound is
/// sharp. d is constant there and known to a fraction of a grid cell only: so is the search.
///
/// Source: branch and bound with Lipschitz bounds is textbook global optimisation; the other bounds are derived here.
#include "cspace_field.h"

#include <assert.h>
#include <math.h>

enum { ROOTS = 25, LEVELS = 30, STACK = ROOTS + 3 * LEVELS + 4, BASINS = 6, PIECES = 12 };
static const double scale_min = 0x1p-30;      // 2^-LEVELS: smaller cells are not halved
static const double steepest = 4.0 / 3.0;     // slope of the interpolant beside a kink
static const double kink_excess = 0.15;       // what it gains by that, grid cells
static const double pieces_below = 2.0;       // half diagonals up to which pieces are looked at, grid cells
static const double basin_least = 3.0;        // radius of a basin worth keeping, grid cells
static const double saturated_error = 0.0625; // allowed error of M in saturated overlap, grid cells

/// A cell that may hold the minimum.
typedef struct cell {
    double x, y;  // centre
    double scale; // sides relative to a root cell's, a power of 1/2
    double bound; // lower bound of M in it
    double value; // M(c)
} cell;

/// A disc without a value that matters.
typedef struct basin {
    double x, y, radius;
} basin;

/// State of one search.
typedef struct search {
    const cspace__field *field;
    cspace__probe best;
    double best_value; // of best
    bool descended;    // a descent ended there
    double slack;      // allowed error of M: one of the next two
    double slack_plain, slack_saturated;
    double cut;           // half the band: cells above it do not matter; INFINITY: all matter
    double early;         // minus half the band: a value below it ends the search; -INFINITY: none does
    double w, h;          // sides of a root cell
    double half_diagonal; // of a root cell
    bool exact;           // both fields are distances to rounding
    int count_cells, max_cells;
    basin basin[BASINS];
    int count_basins;
} search;

static bool is_better(const cell *a, const cell *b) {
    return a->value < b->value;
}

/// How far M can fall within r of a point: distances are 1-Lipschitz, interpolated ones steeper beside a kink.
static double reach(const search *s, double r) {
    if (s->exact) return r;
    double steep = steepest * r, excess = r + kink_excess * s->field->cell;
    return steep < excess ? steep : excess;
}

/// What a cell's lower bound has to stay below to be kept.
static double threshold(const search *s) {
    double limit = s->best_value - s->slack;
    return limit < s->cut ? limit : s->cut;
}

/// True where d hardly depends on the position: one field alone decides and is at its kink, or the balanced gradients
/// give |g| < 1/20.
static bool is_saturated(const cspace__field *f, const cspace__probe *p) {
    if (cspace__probe_value(p) >= 0.0) return false;
    double la = sqrt(p->ga[0] * p->ga[0] + p->ga[1] * p->ga[1]), lb = sqrt(p->gb[0] * p->gb[0] + p->gb[1] * p->gb[1]);
    if (fabs(p->a - p->b) > 1e-3 * f->cell) return (p->a > p->b ? la : lb) < 0.1;
    return 2.0 * la * lb < 0.05 * (la + lb);
}

static void accept(search *s, const cspace__probe *p) {
    double value = cspace__probe_value(p);
    if (value >= s->best_value) return;
    s->best = *p;
    s->best_value = value;
    s->descended = false;
    s->slack = is_saturated(s->field, p) ? s->slack_saturated : s->slack_plain;
}

/// Share of phi_A in the convex combination of least gradient.
static double least_gradient(const cspace__probe *p, double g[2]) {
    double e[2] = {p->ga[0] - p->gb[0], p->ga[1] - p->gb[1]};
    double e2 = e[0] * e[0] + e[1] * e[1];
    double u = e2 > 1e-12 ? -(p->gb[0] * e[0] + p->gb[1] * e[1]) / e2 : 0.5;
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    g[0] = u * p->ga[0] + (1.0 - u) * p->gb[0];
    g[1] = u * p->ga[1] + (1.0 - u) * p->gb[1];
    return u;
}

/// Keeps the disc around a point in which no value is below `limit`, if its radius is not below `least`: both fields
/// are convex in it, and a convex combination of them has `value` and a gradient of length `slope` at the centre.
static void add_basin(search *s, const double x[2], double value, double slope, double limit, double least) {
    double radius = cspace__field_convex(s->field, x);
    if (value - slope * radius < limit) radius = (value - limit) / slope;
    if (radius < least) return;
    s->basin[s->count_basins % BASINS] = (basin){x[0], x[1], radius};
    s->count_basins++;
}

static bool is_in_basin(const search *s, const cell *c, double r) {
    for (int i = 0; i < s->count_basins && i < BASINS; i++) {
        const basin *b = s->basin + i;
        double x = c->x - b->x, y = c->y - b->y, room = b->radius - r;
        if (room > 0.0 && x * x + y * y <= room * room) return true;
    }
    return false;
}

/// Walks from a probe down to a local minimum and keeps it if it is the best.
static void descend(search *s, cspace__probe p) {
    bool minimum = cspace__descend(s->field, &p);
    accept(s, &p);
    if (minimum) add_basin(s, p.x, cspace__probe_value(&p), 0.0, -INFINITY, basin_least * s->field->cell);
    if (minimum && cspace__probe_value(&p) <= s->best_value) s->descended = true;
}

/// The same for two pieces of one or both fields, inside both: each is a lower bound of M by itself.
static double pair_bound(const sdf_piece *p, const sdf_piece *q, double r) {
    double e[2] = {p->grad[0] - q->grad[0], p->grad[1] - q->grad[1]}, e2 = e[0] * e[0] + e[1] * e[1];
    double u = e2 > 1e-12 ? -(q->grad[0] * e[0] + q->grad[1] * e[1]) / e2 : 0.5;
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    double v = 1.0 - u, g[2] = {u * p->grad[0] + v * q->grad[0], u * p->grad[1] + v * q->grad[1]};
    return u * p->value + v * q->value - r * sqrt(g[0] * g[0] + g[1] * g[1]) -
           0.5 * r * r * (u * p->bend + v * q->bend);
}

/// Best bound by two pieces: at the middle line of a wall they belong to the same field.
static double pieces_bound(const search *s, const double x[2], double r, double limit) {
    sdf_piece pieces[PIECES];
    int n = cspace__field_pieces(s->field, x, 2.0 * r, PIECES, pieces);
    double best = -INFINITY;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && best < limit; k++) {
            double bound = pair_bound(pieces + i, pieces + k, r);
            if (bound > best) best = bound;
        }
    return best;
}

/// Bound of M from the convex combination of least gradient, -INFINITY if it stays below `limit`.
static double flat_bound(search *s, const cspace__probe *p, double r, double limit) {
    double g[2], u = least_gradient(p, g), v = 1.0 - u, sag[2], bound = -INFINITY;
    double value = u * p->a + v * p->b, slope = sqrt(g[0] * g[0] + g[1] * g[1]);
    if (value - r * slope >= limit) {
        if (r > basin_least * s->field->cell) add_basin(s, p->x, value, slope, limit, r);
        cspace__field_sag(s->field, p->x, r, sag);
        bound = value - r * slope - r * (u * sag[0] + v * sag[1]);
    }
    if (bound >= limit || p->a >= 0.0 || p->b >= 0.0 || r > pieces_below * s->field->cell) return bound;
    return pieces_bound(s, p->x, r, limit);
}

/// Looks at a cell with both fields at its centre; true if it has to be kept.
static bool examine(search *s, cell *c, const cspace__probe *centre) {
    double r = s->half_diagonal * c->scale, limit = threshold(s);
    if (is_in_basin(s, c, r)) return false; // found meanwhile
    c->value = cspace__probe_value(centre);
    c->bound = c->value - reach(s, r);
    bool improves = c->value < s->best_value;
    if (!improves && c->bound >= limit) return false;
    if (improves) {
        if (c->scale < 1.0 && c->value < s->best_value - s->slack_plain) descend(s, *centre);
        accept(s, centre);
        limit = threshold(s);
        if (c->bound >= limit || is_in_basin(s, c, r)) return false;
    }
    double flat = flat_bound(s, centre, r, limit);
    if (flat > c->bound) c->bound = flat;
    return c->bound < limit;
}

/// Puts a cell on the stack, the best of the top `n` last (on top).
static void push(cell *stack, int *count, int n, const cell *c) {
    int i = (*count)++;
    for (; n > 0 && is_better(&stack[i - 1], c); i--, n--) stack[i] = stack[i - 1];
    stack[i] = *c;
}

/// Looks at up to SDF_LANES cells, n >= 1, and puts those that have to be kept on the stack, the best on top. `sorted`
/// cells on top are put in order with them.
static void examine_all(search *s, int n, cell *cells, int sorted, cell *stack, int *count) {
    cspace__probe probe[SDF_LANES];
    int kept = 0;
    for (int i = 0; i < SDF_LANES; i++) {
        probe[i].x[0] = cells[i < n ? i : n - 1].x;
        probe[i].x[1] = cells[i < n ? i : n - 1].y;
    }
    cspace__field_probes(s->field, probe);
    s->count_cells += n;
    for (int i = 0; i < n && s->best_value >= s->early; i++)
        if (examine(s, cells + i, probe + i)) push(stack, count, sorted + kept++, cells + i);
}

/// Cells that cover the box where both fields can be below `value`: within value of both bounding circles. Returns
/// their number.
static int lay_roots(search *s, double value, cell *stack) {
    const cspace__field *f = s->field;
    double ra = f->pair->scale_a + value, rb = f->pair->scale_b + value;
    double x0 = fmax(-ra, f->t[0] - rb), x1 = fmin(ra, f->t[0] + rb);
    double y0 = fmax(-ra, f->t[1] - rb), y1 = fmin(ra, f->t[1] + rb);
    if (!(x1 > x0 && y1 > y0)) return 0;
    double nx = fmin(fmax(floor(sqrt(ROOTS * (x1 - x0) / (y1 - y0)) + 0.5), 1.0), ROOTS), ny = floor(ROOTS / nx);
    s->w = (x1 - x0) / nx;
    s->h = (y1 - y0) / ny;
    double r = s->half_diagonal = 0.5 * sqrt(s->w * s->w + s->h * s->h);
    int count = 0, n = 0;
    cell some[SDF_LANES];
    for (int j = 0; j < (int)ny; j++) {
        for (int i = 0; i < (int)nx && s->best_value >= s->early; i++) {
            cell c = {.x = x0 + (i + 0.5) * s->w, .y = y0 + (j + 0.5) * s->h, .scale = 1.0};
            double dx = c.x - f->t[0], dy = c.y - f->t[1];
            if (sqrt(c.x * c.x + c.y * c.y) - r > ra || sqrt(dx * dx + dy * dy) - r > rb) continue;
            some[n++] = c;
            if (n < SDF_LANES) continue;
            examine_all(s, n, some, count, stack, &count);
            n = 0;
        }
    }
    if (n > 0) examine_all(s, n, some, count, stack, &count);
    return count;
}

/// Depth first, the best child first, until no cell can hold a value below best - slack.
static void branch(search *s, cell *stack, int count) {
    while (count > 0 && s->count_cells < s->max_cells && s->best_value >= s->early) {
        cell parent = stack[--count];
        if (parent.bound >= threshold(s) || parent.scale <= scale_min) continue;
        if (is_in_basin(s, &parent, s->half_diagonal * parent.scale)) continue;
        double w = 0.25 * s->w * parent.scale, h = 0.25 * s->h * parent.scale;
        cell children[SDF_LANES];
        int n = 0;
        for (int k = 0; k < 4; k++) {
            cell c = parent;
            c.x += k & 1 ? w : -w;
            c.y += k & 2 ? h : -h;
            c.scale *= 0.5;
            if (!is_in_basin(s, &c, s->half_diagonal * c.scale)) children[n++] = c;
        }
        if (n > 0) examine_all(s, n, children, 0, stack, &count);
    }
}

/// Point of the segment between the centres that is as far from one bounding circle as from the other.
static void first_point(const cspace__field *f, double x[2]) {
    double length = sqrt(f->t[0] * f->t[0] + f->t[1] * f->t[1]);
    double at = 0.5 * (length + f->pair->scale_a - f->pair->scale_b);
    double k = length > 0.0 ? fmin(fmax(at / length, 0.0), 1.0) : 0.0;
    x[0] = k * f->t[0];
    x[1] = k * f->t[1];
}

void cspace__minimise(const cspace__field *field, const cspace_search_def *def, cspace_minimum *m,
                      cspace__probe *probe) {
    double length = sqrt(field->t[0] * field->t[0] + field->t[1] * field->t[1]);
    bool banded = def->band > 0.0;
    double apart = length - field->pair->scale_a - field->pair->scale_b; // of the bounding circles: d is not less
    search s = {.field = field, .max_cells = def->max_cells, .cut = banded ? 0.5 * def->band : INFINITY};
    s.exact = sdf_grid_is_exact(field->pair->grid_a) && sdf_grid_is_exact(field->pair->grid_b);
    s.early = banded ? -s.cut : -INFINITY;
    s.slack = s.slack_plain = fmax(0.5 * def->tolerance, 1e-12 * length);
    s.slack_saturated = fmax(s.slack, saturated_error * field->cell);
    double x[2];
    first_point(field, x);
    cspace__field_probe(field, x[0], x[1], &s.best);
    s.best_value = cspace__probe_value(&s.best);
    *m = (cspace_minimum){.outside = true};
    if (!banded || apart <= def->band) {
        cell stack[STACK];
        if (!banded) descend(&s, s.best);
        int count = lay_roots(&s, fmin(s.best_value, s.cut), stack);
        if (s.best_value >= s.early && (count > 0 || s.best_value <= s.cut)) {
            if (!s.descended) descend(&s, s.best);
            branch(&s, stack, count);
        }
        m->outside = banded && fabs(s.best_value) > 0.5 * def->band;
    }
    *probe = s.best;
    m->d = 2.0 * s.best_value;
    m->p[0] = s.best.x[0];
    m->p[1] = s.best.x[1];
    m->count_cells = s.count_cells;
}

cspace_search_def cspace_search_default_def(void) {
    return (cspace_search_def){.cookie = CSPACE__SEARCH_COOKIE, .tolerance = 1e-4, .max_cells = 200000};
}

void cspace_minimise(const cspace_pair *pair, const cspace_search_def *def, const cspace_pose *pose,
                     cspace_minimum *m) {
    assert(pair && def && def->cookie == CSPACE__SEARCH_COOKIE && pose && m);
    if (!isfinite(pose->theta) || !isfinite(pose->x) || !isfinite(pose->y)) {
        *m = (cspace_minimum){.d = NAN, .p = {NAN, NAN}};
        return;
    }
    cspace__field field;
    cspace__probe probe;
    cspace__field_init(pair, pose, &field);
    cspace__minimise(&field, def, m, &probe);
}
