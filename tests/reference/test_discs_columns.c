/// Columns of discs that collapse, beside the published contact-dynamics runs of Staron and Hinch (J. Fluid Mech. 545,
/// 2005; their profiles: Lagree, Staron and Popinet, J. Fluid Mech. 686, 2011): friction and restitution .5, diameters
/// 1.5 : 1, walls gone at once, a base of fixed discs of the mean diameter side by side. Half of the column is
/// simulated, its middle is a wall without friction. Closed form of the contacts, so that no map has a share in it;
/// discs_column.sh has the same on maps. Units: middle diameter d, density and g are 1.
#include "sim_discs.h"

enum { WALLS = 2, GATE = 1, SEEDS = 5, COLUMNS = 512 };
static const double STIFFNESS = 2e4;    // k_n, weights of a disc over d
static const double COLUMN = 1.5;       // width of the columns that the published profiles are in, d
static const double DISC = CORE_PI / 4; // area of the middle disc, d^2

// What is published, and how near five seeds have to come: 12 % for the run-out, 8 % for the other two.
typedef struct column {
    double half, aspect;         // L0, d; H0/L0
    double packing, reach, time; // of the whole column; length of the base, L0; time of the collapse
    double run_out, height, flank;
} column;

// Surface of the deposit in columns, half-widths and heights in d.
typedef struct profile {
    double plateau, highest; // mean of the innermost 10 d; of one column
    double front, outermost; // end of the columns without a gap, of the last one
    double flank;            // degrees, by simstat's rule
} profile;

// Discs on a wide lattice between the middle and the gate, above the base.
static sim_world *make_world(const column *c, uint64_t seed, sim_fixture_circles *circles) {
    const sim_boundary_def walls[WALLS] = {
        {.name = "middle", .normal = {1, 0}, .present = true},
        [GATE] = {.name = "gate", .normal = {-1, 0}, .offset = -c->half, .present = true}};
    const int n = (int)(c->packing * c->half * c->half * c->aspect / DISCS_MEAN_AREA);
    const int base = (int)(c->reach * c->half) + 2;
    const int row = (int)((c->half - 1.3) / 1.25);
    const double step = (c->half - 1.3) / row;
    const sim_motion_def still = {.pivot = {NAN, NAN}};
    sim_world_def def = sim_world_default_def();
    core_random r;
    def.capacity = n + base;
    def.count_boundaries = WALLS;
    def.boundaries = walls;
    def.gravity[1] = -1;
    sim_world *w = discs_world(def, discs_rough_law(STIFFNESS * DISC), 0, circles);
    core_random_init(&r, seed, 0);
    for (int i = 0; i < n; ++i) {
        const double lattice = .65 + step * (i % row) + .5 * step * (i / row % 2);
        core_random_bits(&r); // one number is passed over, as when the figures of libsim/README.md were found
        const double aside = .02 * core_random_uniform(&r);
        const int type = discs_any(&r);
        physics_add(w, type, lattice + aside, .7 + 1.25 * (i / row), 0, 0, 0, 0);
    }
    for (int i = 0; i < base; ++i) check_ok(sim_world_add_prescribed(w, 1, (double[2]){i - .5, -.5}, 0, &still, err));
    return w;
}

// Kinetic energy of a disc, m g R.
static double kinetic(const sim_world *w) {
    const sim_state s = sim_world_state(w);
    sim_totals t;
    int n = 0;
    sim_world_totals(w, &t);
    for (int i = 0; i < s.n; ++i) n += s.role[i] == SIM_ROLE_FREE;
    return t.kinetic / (n * .5 * DISC);
}

// Highest point of the discs in each column; -1 where there is none. Returns the number of columns up to the last one.
static int surface(const sim_world *w, double top[COLUMNS]) {
    const sim_state s = sim_world_state(w);
    int count = 0;
    for (int i = 0; i < COLUMNS; ++i) top[i] = -1;
    for (int k = 0; k < s.n; ++k) {
        if (s.role[k] != SIM_ROLE_FREE) continue;
        const double r = discs_types[s.type[k]].radius, x = s.x[2 * k], y = s.x[2 * k + 1];
        for (int i = (int)fmax(0, (x - r) / COLUMN); i * COLUMN < x + r && i < COLUMNS; ++i) {
            const double off = fmax(0, fmax(i * COLUMN - x, x - (i + 1) * COLUMN));
            if (off >= r) continue;
            top[i] = fmax(top[i], y + sqrt(r * r - off * off));
            if (i >= count) count = i + 1;
        }
    }
    return count;
}

static profile measure(const sim_world *w) {
    double top[COLUMNS], n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    profile p = {.highest = 0};
    const int count = surface(w, top), inner = (int)(10 / COLUMN) + 1;
    int end = 0, first = 0;
    while (end < count && top[end] >= 0) ++end;
    assert_true(end >= inner);
    for (int i = 0; i < end; ++i) p.highest = fmax(p.highest, top[i]);
    for (int i = 0; i < inner; ++i) p.plateau += top[i] / inner;
    // a straight line from the last column above 90 % of the height to the next one below 10 %
    for (int i = 0; i < end; ++i) {
        if (top[i] > .9 * p.highest) first = i;
    }
    for (int i = first; i < end; ++i) {
        const double x = (i + .5) * COLUMN;
        n += 1, sx += x, sy += top[i], sxx += x * x, sxy += x * top[i];
        if (top[i] < .1 * p.highest) break;
    }
    p.flank = -180 / CORE_PI * atan((n * sxy - sx * sy) / (n * sxx - sx * sx));
    p.front = end * COLUMN;
    p.outermost = count * COLUMN;
    return p;
}

// Steps until the discs have been at rest for a while.
static void settle(sim_world *w) {
    const int64_t look = (int64_t)(.1 / w->dt) + 1;
    for (int calm = 0; calm < 20;) {
        physics_steps(w, look);
        calm = kinetic(w) < 1e-3 ? calm + 1 : 0;
        assert_true(sim_world_state(w).time < 400);
    }
}

// The gate goes; discs that run off the end of the base are taken out. Returns their number.
static int collapse(sim_world *w, double time) {
    const double start = sim_world_state(w).time;
    const int64_t look = (int64_t)(.1 / w->dt) + 1;
    int gone = 0;
    sim_world_set_present(w, GATE, false);
    while (sim_world_state(w).time < start + time) {
        physics_steps(w, look);
        const sim_state s = sim_world_state(w);
        for (int i = 0; i < s.n; ++i) {
            if (s.role[i] != SIM_ROLE_FREE || s.x[2 * i + 1] > -3) continue;
            sim_world_leave(w, 1, &i);
            ++gone;
        }
    }
    return gone;
}

// A row with the mean of the seeds; their standard deviation is in its name.
static void row_of_seeds(const column *c, const char *name, double expected, const double found[SEEDS], double part) {
    char text[96];
    double mean = 0, square = 0;
    for (int k = 0; k < SEEDS; ++k) mean += found[k] / SEEDS, square += found[k] * found[k] / SEEDS;
    snprintf(text, sizeof text, "discs, a = %g: %s, +- %.2g", c->aspect, name, sqrt(fmax(0, square - mean * mean)));
    physics_row(text, expected, mean, part * expected);
}

static void a_column_collapses_as_published(const column *c) {
    double built[SEEDS], run_out[SEEDS], height[SEEDS], flank[SEEDS];
    for (int k = 0; k < SEEDS; ++k) {
        sim_fixture_circles circles;
        sim_totals t;
        sim_world *w = make_world(c, (uint64_t)k + 1, &circles);
        settle(w);
        sim_world_totals(w, &t);
        built[k] = measure(w).plateau / c->half;
        const int gone = collapse(w, c->time);
        const profile p = measure(w);
        run_out[k] = p.front / c->half - 1, height[k] = p.highest / c->half, flank[k] = p.flank;
        printf("    a = %g, seed %d: H0/L0 %.3f, overlap %.1e d; run-out %.3f (outermost disc %.3f), height %.3f "
               "(plateau %.3f), flank %.2f degrees, %d discs lost, kinetic energy %.1g m g R\n",
               c->aspect, k + 1, built[k], t.penetration_mean, run_out[k], p.outermost / c->half - 1, height[k],
               p.plateau / c->half, flank[k], gone, kinetic(w));
        fflush(stdout);
        sim_world_destroy(&w);
    }
    row_of_seeds(c, "H0/L0 as built", c->aspect, built, .02);
    row_of_seeds(c, "run-out (L_f - L0)/L0", c->run_out, run_out, .12);
    row_of_seeds(c, "height H_f/L0", c->height, height, .08);
    row_of_seeds(c, "flank, degrees", c->flank, flank, .08);
}

static void a_low_column(void **state) {
    (void)state;
    a_column_collapses_as_published(&(column){.half = 60,
                                              .aspect = .5,
                                              .packing = .795,
                                              .reach = 3.2,
                                              .time = 40,
                                              .run_out = .93,
                                              .height = .5,
                                              .flank = 14.8});
}

static void a_higher_column(void **state) {
    (void)state;
    a_column_collapses_as_published(&(column){.half = 40,
                                              .aspect = 1.42,
                                              .packing = .811,
                                              .reach = 6,
                                              .time = 56,
                                              .run_out = 3.5,
                                              .height = .75,
                                              .flank = 10});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_low_column), cmocka_unit_test(a_higher_column)};
    return cmocka_run_group_tests(tests, discs_make_types, discs_clear_types);
}
