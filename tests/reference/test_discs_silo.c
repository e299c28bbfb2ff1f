/// Discs run out of a silo with a flat bottom, and those that are out come in again on top, so that the fill stays as
/// high as it is for as long as one likes to count: the rate grows with the opening as (D - k d)^1.5 (Beverloo's law in
/// two dimensions), with the square root of gravity, and does not depend on the fill once that is higher than wide.
/// Closed form of the contacts, no map. Units: middle diameter d, density and g are 1.
#include "sim_discs.h"

enum { WALLS = 4, ROW = 17, MOST = 2100, BLOCKS = 64 };
// k_n: 2e4 weights of a disc over d. With 4e3 the fill is so soft that four times its weight lets out 2.14 times as
// much.
static const double WIDTH = 24, STIFFNESS = 2e4 * CORE_PI / 4, PACKING = .82;
static const int EVERY = 50;       // steps between two looks at who is out
static const double MEAN = 1.0137; // diameter, d

typedef struct flow {
    double rate, error; // discs a time, standard error of the mean of the blocks
} flow;

// Open from the start; discs fall from a lattice.
static sim_world *make_world(double opening, double gravity, int n, sim_fixture_circles *circles) {
    const double edge = .5 * opening + .25, half = .5 * WIDTH;
    double left[4] = {-half - 2, -.25, -edge, -.25}, right[4] = {edge, -.25, half + 2, -.25};
    const sim_boundary_def walls[WALLS] = {{.name = "left", .normal = {1, 0}, .offset = -half, .present = true},
                                           {.name = "right", .normal = {-1, 0}, .offset = -half, .present = true},
                                           {.name = "a",
                                            .kind = SIM_BOUNDARY_POLYLINE,
                                            .thickness = .5,
                                            .count_points = 2,
                                            .points = left,
                                            .present = true},
                                           {.name = "b",
                                            .kind = SIM_BOUNDARY_POLYLINE,
                                            .thickness = .5,
                                            .count_points = 2,
                                            .points = right,
                                            .present = true}};
    sim_world_def def = sim_world_default_def();
    core_random r;
    def.capacity = n;
    def.count_boundaries = WALLS;
    def.boundaries = walls;
    def.gravity[1] = -gravity;
    sim_world *w = discs_world(def, discs_rough_law(STIFFNESS), -1, circles);
    core_random_init(&r, 1, 0);
    for (int i = 0; i < n; ++i) {
        const double aside = .1 * core_random_uniform(&r);
        physics_add(w, discs_any(&r), 1.25 * (i % ROW - ROW / 2) + aside, .7 + 1.25 * (i / ROW), 0, 0, 0, 0);
    }
    return w;
}

// Puts row i back where it finds room, in a band above the fill; false if there is none.
static bool come_in(sim_world *w, int i, double above, double gravity, core_random *r) {
    const sim_state s = sim_world_state(w);
    for (int try = 0; try < 8; ++try) {
        const double x[2] = {(WIDTH - 1.3) * (core_random_uniform(r) - .5), above + 16 * core_random_uniform(r)};
        bool room = true;
        for (int k = 0; k < s.n && room; ++k) {
            const double dx = s.x[2 * k] - x[0], dy = s.x[2 * k + 1] - x[1];
            room = s.role[k] == SIM_ROLE_ABSENT || dx * dx + dy * dy > 1.25 * 1.25;
        }
        if (!room) continue;
        check_ok(sim_world_enter(w, i, x, 0, (double[2]){0, -4 * sqrt(gravity)}, 0, err));
        return true;
    }
    return false;
}

// Rate of the discs from the n-th on until `count` more are out: by then the fill has been exchanged once.
static flow run(double opening, double gravity, double fill, int count) {
    static int waiting[MOST];
    double time[BLOCKS + 1];
    const int n = (int)(PACKING * WIDTH * fill / DISCS_MEAN_AREA), block = count / BLOCKS;
    int out = 0, marks = 0, count_waiting = 0;
    sim_fixture_circles circles;
    core_random r;
    assert_true(n <= MOST);
    sim_world *w = make_world(opening, gravity, n, &circles);
    core_random_init(&r, 2, 0);
    while (marks <= BLOCKS) {
        physics_steps(w, EVERY);
        const sim_state s = sim_world_state(w);
        int leaving[MOST], count_leaving = 0;
        for (int i = 0; i < s.n; ++i) {
            if (s.role[i] == SIM_ROLE_FREE && s.x[2 * i + 1] < -3) leaving[count_leaving++] = i;
        }
        if (count_leaving > 0) sim_world_leave(w, count_leaving, leaving);
        for (int k = 0; k < count_leaving; ++k) waiting[count_waiting++] = leaving[k];
        while (count_waiting > 0 && come_in(w, waiting[count_waiting - 1], fill + 3, gravity, &r)) --count_waiting;
        for (int k = 0; k < count_leaving; ++k, ++out) {
            if (out >= n && (out - n) % block == 0 && marks <= BLOCKS) time[marks++] = s.time;
        }
        assert_true(s.time < 20 * (n + count));         // it has not arched
        assert_true(out < n || count_waiting < n / 20); // those that are out get in again
    }
    double mean = 0, square = 0;
    for (int k = 0; k < BLOCKS / 8; ++k) { // an eighth of them: 8 marks each
        const double rate = 8 * block / (time[8 * k + 8] - time[8 * k]);
        mean += rate / (BLOCKS / 8.), square += rate * rate / (BLOCKS / 8.);
    }
    const flow f = {BLOCKS * block / (time[BLOCKS] - time[0]), sqrt(fmax(0, square - mean * mean) / (BLOCKS / 8 - 1))};
    printf("    opening %.1f d, gravity %.0f, fill %.0f d: %.3f +- %.3f discs a time, %d counted in %lld steps\n",
           opening, gravity, fill, f.rate, f.error, count, (long long)w->step);
    fflush(stdout);
    sim_world_destroy(&w);
    return f;
}

// A row with the ratio of two rates; its standard error is in its name.
static void row_of_rates(const char *name, double expected, const flow *a, const flow *b, double tolerance) {
    char text[96];
    const double ratio = a->rate / b->rate;
    snprintf(text, sizeof text, "silo: %s, +- %.3f", name,
             ratio * sqrt(pow(a->error / a->rate, 2) + pow(b->error / b->rate, 2)));
    physics_row(text, expected, ratio, tolerance);
}

static void the_rate_follows_beverloo(void **state) {
    (void)state;
    enum { OPENINGS = 5, OFTEN = 3 };
    static const double openings[OPENINGS] = {6, 7, 8, 9, 10};
    flow found[OPENINGS];
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (int k = 0; k < OPENINGS; ++k) {
        found[k] = run(openings[k], 1, WIDTH, k == OFTEN ? 6400 : 1600);
        const double x = openings[k], y = cbrt(found[k].rate * found[k].rate);
        sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
    }
    const double cxy = OPENINGS * sxy - sx * sy, cxx = OPENINGS * sxx - sx * sx, cyy = OPENINGS * syy - sy * sy;
    physics_row("silo: R^2 of the line rate^(2/3) over D, five openings", 1, cxy * cxy / (cxx * cyy), .005);
    physics_row("silo: k of (D - k d)^1.5", 1.5, (sx - sy * cxx / cxy) / OPENINGS / MEAN, .5);
    const flow heavy = run(openings[OFTEN], 4, WIDTH, 6400);
    row_of_rates("rate at 4 g by that at g", 2, &heavy, &found[OFTEN], .06);
    const flow low = run(openings[OFTEN], 1, 1.5 * WIDTH, 1600), high = run(openings[OFTEN], 1, 2 * WIDTH, 1600);
    row_of_rates("rate with a fill of 1.5 widths by one of 2", 1, &low, &high, .05);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rate_follows_beverloo)};
    return cmocka_run_group_tests(tests, discs_make_types, discs_clear_types);
}
