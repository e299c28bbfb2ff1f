/// Global minimum of E(x) = 2 max(phi_A, phi_qB) by Lipschitz branch and bound on a quadtree of cells.
///
/// Two lower bounds of M = max(phi_A, phi_qB) in a cell with centre c and half diagonal r, grid spacing h:
///
/// 1.  M(c) - min(4/3 r, r + 0.15 h)
/// Distances are 1-Lipschitz. Beside a kink their bicubic interpolant (2u^2 - u^3 between two nodes) is up to 4/3 as
/// steep and gains at most 4/27 h by it.
///
/// 2.  f(c) - |grad f(c)| r - K r^2/2
/// with f = u phi_A + (1 - u) phi_qB <= M for any u in [0, 1] and K a bound on the concavity of f. It prunes flat
/// minima (face to face), where the gradients cancel; u is the one of least gradient.
///
/// Saturated overlaps (the middle line of a wall inside the other shape) have long flat minima of one field alone, on
/// its kink, where neither bound is sharp. d is constant there and known to a fraction of a cell only: so is the
/// search.
///
/// Source: branch and bound with Lipschitz bounds is textbook global optimisation; the second bound is derived here.
#include "cspace_field.h"

#include <assert.h>
#include <math.h>

enum { ROOTS = 16, LEVELS = 30, STACK = ROOTS + 3 * LEVELS + 4 };
static const double scale_min = 0x1p-30;      // 2^-LEVELS: smaller cells are not halved
static const double steepest = 4.0 / 3.0;     // slope of the interpolant beside a kink
static const double kink_excess = 0.15;       // what it gains by that, grid cells
static const double flat_below = 2.0;         // half diagonals up to which the second bound is tried, grid cells
static const double look_again = 0.25;        // and down to which the concavity is looked up anew
static const double saturated_error = 0.0625; // allowed error of M in saturated overlap, grid cells

/// A cell that may hold the minimum.
typedef struct cell {
    double x, y;   // centre
    double scale;  // sides relative to a root cell's, a power of 1/2
    double bound;  // lower bound of M in it
    double value;  // M(c)
    double K[2];   // concavity of phi_A and phi_qB in it; INFINITY: not known
    bool b_higher; // phi_qB > phi_A at the centre
} cell;

/// State of one search.
typedef struct search {
    const cspace__field *field;
    cspace__probe best;
    double best_value; // of best
    double slack;      // allowed error of M: one of the next two
    double slack_plain, slack_saturated;
    double cut;           // half the band: cells above it do not matter; INFINITY: all matter
    double early;         // minus half the band: a value below it ends the search; -INFINITY: none does
    double w, h;          // sides of a root cell
    double half_diagonal; // of a root cell
    int count_cells, max_cells;
} search;

static bool is_better(const cell *a, const cell *b) {
    return a->value < b->value;
}

/// How far M can fall within r of a point: distances are 1-Lipschitz, interpolated ones steeper beside a kink.
static double reach(const search *s, double r) {
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
    s->slack = is_saturated(s->field, p) ? s->slack_saturated : s->slack_plain;
}

/// Walks from a probe down to a local minimum and keeps it if it is the best.
static void descend(search *s, cspace__probe p) {
    cspace__descend(s->field, &p);
    accept(s, &p);
}

/// Bound of M from the convex combination of least gradient, -INFINITY if it stays below `limit`. The concavity known
/// from a larger cell is tried first, then looked up again.
static double flat_bound(const search *s, const cspace__probe *p, double r, double limit, double K[2]) {
    double e[2] = {p->ga[0] - p->gb[0], p->ga[1] - p->gb[1]};
    double e2 = e[0] * e[0] + e[1] * e[1];
    double u = e2 > 1e-12 ? -(p->gb[0] * e[0] + p->gb[1] * e[1]) / e2 : 0.5;
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    double v = 1.0 - u, g[2] = {u * p->ga[0] + v * p->gb[0], u * p->ga[1] + v * p->gb[1]};
    double linear = u * p->a + v * p->b - r * sqrt(g[0] * g[0] + g[1] * g[1]), half = 0.5 * r * r;
    if (linear < limit) return -INFINITY;
    if (linear - half * (u * K[0] + v * K[1]) >= limit)
        return linear - half * (u * K[0] + v * K[1]); // NaN: 0 x INFINITY
    if (r < look_again * s->field->cell && K[0] < INFINITY && K[1] < INFINITY) return -INFINITY;
    K[0] = cspace__field_concavity_a(s->field, p->x, r);
    if (linear - half * u * K[0] < limit) return -INFINITY;
    K[1] = cspace__field_concavity_b(s->field, p->x, r);
    double bound = linear - half * (u * K[0] + v * K[1]);
    return bound >= limit ? bound : -INFINITY;
}

/// Values at a cell's centre, the field that was higher in its parent first: it alone may rule the cell out. False if
/// it does.
static bool evaluate(search *s, cell *c, double fall, double limit) {
    double one = c->b_higher ? cspace__field_b(s->field, c->x, c->y) : cspace__field_a(s->field, c->x, c->y);
    if (one - fall >= limit) return false;
    double other = c->b_higher ? cspace__field_a(s->field, c->x, c->y) : cspace__field_b(s->field, c->x, c->y);
    if (other > one) c->b_higher = !c->b_higher;
    c->value = other > one ? other : one;
    c->bound = c->value - fall;
    return true;
}

/// Looks at a cell; true if it has to be kept.
static bool examine(search *s, cell *c) {
    double r = s->half_diagonal * c->scale;
    double limit = threshold(s);
    s->count_cells++;
    if (!evaluate(s, c, reach(s, r), limit)) return false;
    bool improves = c->value < s->best_value;
    if (!improves && c->bound >= limit) return false;
    bool small = r <= flat_below * s->field->cell;
    if (!improves && !small) return true;
    cspace__probe centre;
    cspace__field_probe(s->field, c->x, c->y, &centre);
    if (improves) {
        if (c->scale < 1.0 && c->value < s->best_value - s->slack_plain) descend(s, centre);
        accept(s, &centre);
        limit = threshold(s);
        if (c->bound >= limit) return false;
    }
    if (!small) return true;
    double flat = flat_bound(s, &centre, r, limit, c->K);
    if (flat > c->bound) c->bound = flat;
    return c->bound < limit;
}

/// Puts a cell on the stack, the best of the top `n` last (on top).
static void push(cell *stack, int *count, int n, const cell *c) {
    int i = (*count)++;
    for (; n > 0 && is_better(&stack[i - 1], c); i--, n--) stack[i] = stack[i - 1];
    stack[i] = *c;
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
    int count = 0;
    for (int j = 0; j < (int)ny; j++) {
        for (int i = 0; i < (int)nx && s->best_value >= s->early; i++) {
            cell c = {.x = x0 + (i + 0.5) * s->w, .y = y0 + (j + 0.5) * s->h, .scale = 1.0, .K = {INFINITY, INFINITY}};
            double dx = c.x - f->t[0], dy = c.y - f->t[1];
            if (sqrt(c.x * c.x + c.y * c.y) - r > ra || sqrt(dx * dx + dy * dy) - r > rb) continue;
            if (examine(s, &c)) push(stack, &count, count, &c);
        }
    }
    return count;
}

/// Depth first, the best child first, until no cell can hold a value below best - slack.
static void branch(search *s, cell *stack, int count) {
    while (count > 0 && s->count_cells < s->max_cells && s->best_value >= s->early) {
        cell parent = stack[--count];
        if (parent.bound >= threshold(s) || parent.scale <= scale_min) continue;
        double w = 0.25 * s->w * parent.scale, h = 0.25 * s->h * parent.scale;
        int pushed = 0;
        for (int k = 0; k < 4; k++) {
            cell c = parent;
            c.x += k & 1 ? w : -w;
            c.y += k & 2 ? h : -h;
            c.scale *= 0.5;
            if (!examine(s, &c)) continue;
            push(stack, &count, pushed, &c);
            pushed++;
        }
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
            descend(&s, s.best);
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
