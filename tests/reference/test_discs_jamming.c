/// Discs without friction, compressed and brought to rest at ever lower pressure: the number of contacts of those that
/// are held falls to what rigidity needs, 4 (two conditions a contact and disc), with the square root of the overlap
/// (O'Hern et al., Phys. Rev. E 68, 2003). Closed form of the contacts, no map. Units: mean diameter, k_n, density 1.
#include "sim_discs.h"

enum { N = 480, ROW = 16, PRESSURES = 5, SEEDS = 2, CONTACTS = 4 * N };
static const double WIDTH = 20, DRAG = .04; // period in x; drag on every disc, a time

// Discs on a wide lattice, each with a velocity of its own, between a floor and a lid; periodic across.
static sim_world *make_world(uint64_t seed, sim_fixture_circles *circles) {
    const sim_contact_law law = sim_fixture_law(1, .1, 0);
    const double dt = discs_dt(law, 2), stiffness = WIDTH / (2 * discs_types[0].radius);
    const sim_boundary_def walls[2] = {physics_floor(0),
                                       {.name = "lid",
                                        .normal = {0, -1},
                                        .offset = -1.3 * N / ROW,
                                        .present = true,
                                        .servo = {.length = WIDTH,
                                                  .mass = 25 * dt * dt * stiffness,
                                                  .damping = sqrt(25 * stiffness * stiffness) * dt}}};
    sim_world_def def = sim_world_default_def();
    core_random r;
    def.capacity = N;
    def.count_boundaries = 2;
    def.boundaries = walls;
    def.period[1] = WIDTH;
    def.gravity[1] = 0;
    sim_world *w = discs_world(def, law, -1, circles);
    core_random_init(&r, seed, 0);
    for (int i = 0; i < N; ++i) {
        const double vy = .2 * core_random_uniform(&r) - .1, vx = .2 * core_random_uniform(&r) - .1;
        const double aside = .02 * core_random_uniform(&r);
        physics_add(w, discs_any(&r), 1.25 * (i % ROW) + aside, .65 + 1.28 * (i / ROW), 0, vx, vy, 0);
    }
    return w;
}

// Steps at a pressure of the lid; with drag until the discs hardly move, at most `most` steps.
static void press(sim_world *w, double pressure, bool drag, int64_t most) {
    w->walls.wall[1].servo.pressure = pressure;
    for (int64_t step = 0; step < most; ++step) {
        physics_steps(w, 1);
        for (int i = 0; drag && i < N; ++i) {
            w->v[2 * i] *= 1 - DRAG * w->dt;
            w->v[2 * i + 1] *= 1 - DRAG * w->dt;
            w->omega[i] = 0; // nothing turns a disc but the corners of its outline at floor and lid
        }
        if (!drag || step % 500 != 499) continue;
        sim_totals t;
        sim_world_totals(w, &t);
        if (t.kinetic < 1e-8 * t.elastic) return;
    }
}

// Contacts, floor and lid included, of the discs that are held by three at least, two for each of these discs, and
// their mean overlap. Balance of forces has two equations a disc and one for the lid, less one that the others imply.
static double coordination(const sim_world *w, double *overlap, double *rattlers) {
    static int i[CONTACTS], j[CONTACTS];
    static sim_contact c[CONTACTS];
    int neighbours[N] = {0};
    bool held[N], changed = true;
    const int64_t n = sim_world_contacts(w, CONTACTS, i, j, c, NULL);
    assert_true(n <= CONTACTS);
    for (int k = 0; k < N; ++k) held[k] = true;
    while (changed) {
        changed = false;
        memset(neighbours, 0, sizeof neighbours);
        for (int64_t k = 0; k < n; ++k) {
            if (i[k] >= 0 && !(held[i[k]] && held[j[k]])) continue;
            if (i[k] >= 0) ++neighbours[i[k]];
            ++neighbours[j[k]];
        }
        for (int k = 0; k < N; ++k) {
            if (held[k] && neighbours[k] < 3) held[k] = false, changed = true;
        }
    }
    double inside = 0, deep = 0, contacts = 0;
    for (int k = 0; k < N; ++k) inside += held[k];
    for (int64_t k = 0; k < n; ++k) {
        if (!held[j[k]] || (i[k] >= 0 && !held[i[k]])) continue;
        deep -= c[k].d;
        contacts += 1;
    }
    *overlap = deep / contacts;
    *rattlers = 1 - inside / N;
    return 2 * contacts / inside;
}

static void rigid_discs_have_four_contacts(void **state) {
    (void)state;
    double z[PRESSURES] = {0}, overlap[PRESSURES] = {0};
    for (int seed = 0; seed < SEEDS; ++seed) {
        sim_fixture_circles circles;
        sim_world *w = make_world((uint64_t)seed + 1, &circles);
        press(w, 4e-3, false, 20000);
        for (int k = 0; k < PRESSURES; ++k) {
            double d, rattlers;
            press(w, 4e-3 * pow(.25, k), true, 60000);
            const double found = coordination(w, &d, &rattlers);
            sim_totals t;
            sim_world_totals(w, &t);
            printf("    seed %d, pressure %.1e: overlap %.2e d, coordination %.3f, %.1f %% rattlers, kinetic/elastic "
                   "%.1g, step %lld\n",
                   seed + 1, 4e-3 * pow(.25, k), d, found, 100 * rattlers, t.kinetic / t.elastic, (long long)w->step);
            fflush(stdout);
            z[k] += found / SEEDS;
            overlap[k] += d / SEEDS;
        }
        sim_world_destroy(&w);
    }
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < PRESSURES; ++k) {
        const double x = sqrt(overlap[k]);
        sx += x, sy += z[k], sxx += x * x, sxy += x * z[k];
    }
    const double slope = (PRESSURES * sxy - sx * sy) / (PRESSURES * sxx - sx * sx), z0 = (sy - slope * sx) / PRESSURES;
    char name[80];
    for (int k = 2; k < 4; ++k) { // of nearly rigid discs: 4.0 to 4.1
        snprintf(name, sizeof name, "discs without friction, overlap %.1e d: contacts of a disc", overlap[k]);
        physics_row(name, 4.05, z[k], .05);
    }
    snprintf(name, sizeof name, "extrapolated over %d pressures, z = z0 + %.1f sqrt(overlap/d)", PRESSURES, slope);
    physics_row(name, 4, z0, .05);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rigid_discs_have_four_contacts)};
    return cmocka_run_group_tests(tests, discs_make_types, discs_clear_types);
}
