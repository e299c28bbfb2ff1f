/// The physics of trained maps: what test_sim_energy, _impact, _incline, _stack and _symmetry ask of numeric contacts,
/// asked of the maps of a bundle, with each map's own error beside. Units: R = 1, g = 1, density 1.
///   map_physics MAPS.h5: shapes hash, square and u, all of one size
#include "sim_physics.h"
#include "sim_measure_private.h"
#include "sim_private.h"

#include <stdlib.h>

enum { HASH, SQUARE, U, SHAPES };
static const char *const names[SHAPES] = {"hash", "square", "u"};
static sim_type_def types[SHAPES]; // shapes borrowed from the bundle
static cspace_bundle bundle;

// The map of two shapes, both of radius 1, and its error.
static const cspace_map *map_of(int a, int b, bool *swapped) {
    const cspace_map *map = NULL;
    check_ok(cspace_bundle_find(&bundle, names[a], names[b], 1, &map, swapped, err));
    return map;
}

static sim_narrow maps(int planes) {
    sim_narrow base, narrow;
    check_ok(sim_narrow_neural(&bundle, SHAPES, types, 1, &base, err));
    if (planes < 2) return base;
    check_ok(sim_narrow_planes(&base, .01, 1, &narrow, err));
    return narrow;
}

// A world on the maps with `count` planes; dt: fraction of the stability bound.
static sim_world *world_of(int capacity, int count, const sim_boundary_def *walls, sim_contact_law law, double gravity,
                           double fraction, int planes) {
    sim_contact_law laws[SHAPES * (SHAPES + 4)];
    sim_fixture_laws(law, SHAPES, count, laws);
    const double dt = sim_dt_auto(SHAPES, types, count, laws, fraction);
    return physics_world(capacity, SHAPES, types, count, walls, law, gravity, dt, maps(planes));
}

static double energy(const sim_totals *t) {
    return t->kinetic + t->potential + t->elastic;
}

static void what_the_maps_get_wrong(void **state) {
    (void)state;
    for (int k = 0; k < bundle.count_maps; ++k) {
        const cspace_map *m = &bundle.maps[k];
        const cspace_error_stats *e = &m->statement.map_exact[CSPACE_BANDS];
        const cspace_jump_stats *jump = &m->statement.jump[CSPACE_BANDS];
        printf("map %s-%s: d off by %.5f (mean) %.5f (p99) %.5f (max), normal by %.2f (p50) %.2f (p99) degrees; jumps "
               "of d at seams up to %.2g\n",
               m->a, m->b, e->d_mean, e->d_p99, e->d_max, e->normal_p50, e->normal_p99, jump->d_max);
        assert_true(e->n > 0 && e->d_mean < .01);
    }
}

// ---------------------------------------------------------------------------------------------- conservation

// 50 # and U in a box without gravity, damping and friction until 200 contacts have begun.
static double drift(double fraction) {
    const sim_boundary_def box[4] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -20, .present = true},
                                     {.normal = {0, -1}, .offset = -20, .present = true}};
    sim_world *w = world_of(50, 4, box, (sim_contact_law){.kn = 2e4}, 0, fraction, 1);
    core_random r;
    core_random_init(&r, 3, 0);
    for (int i = 0; i < 50; ++i)
        physics_add(w, i % 2 ? HASH : U, 1.5 + 2.4 * (i % 8), 1.5 + 2.4 * (i / 8), i, 2 * core_random_uniform(&r) - 1,
                    2 * core_random_uniform(&r) - 1, core_random_uniform(&r) - .5);
    sim_totals first, last;
    sim_world_totals(w, &first);
    int64_t collisions = 0, before = 0;
    while (collisions < 200) {
        physics_steps(w, 1);
        sim_totals t;
        sim_world_totals(w, &t);
        collisions += t.count_contacts > before ? t.count_contacts - before : 0;
        before = t.count_contacts;
    }
    sim_world_totals(w, &last);
    sim_world_destroy(&w);
    return energy(&last) / energy(&first) - 1;
}

static void without_losses_energy_stays(void **state) {
    (void)state;
    static const double fractions[] = {.125, .0625, .03125};
    for (int i = 0; i < 3; ++i) {
        char name[80];
        snprintf(name, sizeof name, "maps, 50 # and U, 200 collisions: drift at 1/%.0f of dt auto", .25 / fractions[i]);
        physics_row_below(name, 1e-2, drift(fractions[i]));
    }
}

static void momentum_is_kept(void **state) {
    (void)state;
    sim_world *w = world_of(40, 0, NULL, sim_fixture_law(2e4, .25, .5), 0, .25, 1);
    core_random r;
    core_random_init(&r, 11, 0);
    for (int i = 0; i < 40; ++i)
        physics_add(w, i % 2 ? HASH : U, 2.2 * (i % 7), 2.2 * (i / 7), 6 * core_random_uniform(&r), (3 - i % 7) * .3,
                    (2 - i / 7) * .3, 4 * core_random_uniform(&r) - 2);
    sim_totals first, t;
    sim_world_totals(w, &first);
    physics_steps(w, 6000);
    sim_world_totals(w, &t);
    assert_true(t.kinetic < .5 * first.kinetic); // they have met
    const sim_state s = sim_world_state(w);
    double p = 0, l = 0;
    for (int k = 0; k < s.n; ++k) {
        const double speed = sqrt(s.v[2 * k] * s.v[2 * k] + s.v[2 * k + 1] * s.v[2 * k + 1]);
        p += s.mass[k] * speed;
        l += s.mass[k] * speed * 10 + s.inertia[k] * fabs(s.omega[k]);
    }
    physics_row_below("maps: change of linear momentum", 1e-12, (t.momentum[0] - first.momentum[0]) / p);
    physics_row_below("maps: change of angular momentum", 1e-10, (t.angular_momentum - first.angular_momentum) / l);
    sim_world_destroy(&w);
}

static void friction_and_damping_account_for_what_is_missing(void **state) {
    (void)state;
    const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -9, .present = true}};
    for (int planes = 1; planes <= 2; ++planes) {
        sim_world *w = world_of(12, 3, box, sim_fixture_law(2e4, .25, .4), 1, .125, planes);
        for (int i = 0; i < 12; ++i)
            physics_add(w, i % SHAPES, 1.4 + 2.05 * (i % 4), 1.5 + 2.1 * (i / 4), i, .3 * (i % 3 - 1), -.5, i % 5 - 2);
        sim_totals first, t;
        sim_world_totals(w, &first);
        double worst = 0;
        for (int64_t i = 0; i < (int64_t)(8 / w->dt); ++i) {
            physics_steps(w, 1);
            if (i % 10 != 9) continue;
            sim_world_totals(w, &t);
            worst = fmax(worst, fabs(energy(&first) - energy(&t) - t.dissipated_normal - t.dissipated_tangential));
        }
        char name[80];
        const double lost = (t.dissipated_normal + t.dissipated_tangential) / energy(&first);
        snprintf(name, sizeof name, "maps, 12 grains fall, %d plane(s), half of dt auto: residual (%.0f %% lost)",
                 planes, 100 * lost);
        physics_row_below(name, .005, worst / energy(&first));
        assert_true(lost > .2);
        sim_world_destroy(&w);
    }
}

// ---------------------------------------------------------------------------------------------- impacts

// A pose of b from a at which the map says that they just touch.
static cspace_pose touching_pose(const sim_narrow *narrow, int pair, core_random *r, sim_contact *c) {
    const double angle = 2 * CORE_PI * core_random_uniform(r), theta = 2 * CORE_PI * core_random_uniform(r);
    double low = .5, high = 2.2;
    int count;
    cspace_pose pose = {0};
    for (int i = 0; i < 60; ++i) {
        const double at = .5 * (low + high);
        pose = (cspace_pose){theta, at * cos(angle), at * sin(angle)};
        narrow->evaluate(narrow->self, pair, &pose, 1, 1, &count, c, 0);
        if (c->d < 0) {
            low = at;
        } else {
            high = at;
        }
    }
    pose = (cspace_pose){theta, (high + 1e-7) * cos(angle), (high + 1e-7) * sin(angle)};
    narrow->evaluate(narrow->self, pair, &pose, 1, 1, &count, c, 0);
    return pose;
}

// Restitution of the normal rate of a slow impact that starts without spin.
static double impact(double e, int a, int b, core_random *r) {
    sim_contact_law law = {.kn = 1e6, .gamma_n = NAN, .gamma_t = NAN};
    sim_contact c;
    check_ok(sim_zeta_of_restitution(e, &law.zeta, err));
    sim_narrow narrow = maps(1);
    const cspace_pose pose = touching_pose(&narrow, a * SHAPES + b, r, &c);
    if (narrow.destroy) narrow.destroy(narrow.self);
    const double slope2 = c.g[0] * c.g[0] + c.g[1] * c.g[1];
    const double d_theta_a = -c.d_theta_b - (pose.x * c.g[1] - pose.y * c.g[0]);
    const double m_a = sim_fixture_mass(&types[a]), m_b = sim_fixture_mass(&types[b]);
    const double inverse = slope2 * (1 / m_a + 1 / m_b) + d_theta_a * d_theta_a / sim_fixture_inertia(&types[a]) +
                           c.d_theta_b * c.d_theta_b / sim_fixture_inertia(&types[b]);
    sim_contact_law laws[SHAPES * SHAPES];
    sim_fixture_laws(law, SHAPES, 0, laws);
    const double dt = -log(e) / (law.zeta * sqrt(law.kn * inverse)) / 100, v = .01;
    sim_world *w = physics_world(2, SHAPES, types, 0, NULL, law, 0, dt, maps(1));
    physics_add(w, a, 0, 0, 0, 0, 0, 0);
    physics_add(w, b, pose.x, pose.y, pose.theta, -v * c.g[0], -v * c.g[1], 0);
    physics_steps(w, 150);
    const sim_state s = sim_world_state(w);
    const double after =
        c.g[0] * (s.v[2] - s.v[0]) + c.g[1] * (s.v[3] - s.v[1]) + c.d_theta_b * s.omega[1] + d_theta_a * s.omega[0];
    sim_world_destroy(&w);
    return after / (v * slope2);
}

static void restitution_is_realised(void **state) {
    (void)state;
    static const double es[] = {.9, .5, .3};
    enum { IMPACTS = 100 };
    core_random r;
    core_random_init(&r, 5, 0);
    for (int i = 0; i < 3; ++i) {
        double off[IMPACTS], mean = 0;
        for (int k = 0; k < IMPACTS; ++k) {
            const double found = impact(es[i], k % 2 ? HASH : U, k % 3 ? U : HASH, &r);
            off[k] = fabs(found - es[i]);
            mean += found / IMPACTS;
        }
        qsort(off, IMPACTS, sizeof *off, sim_measure_compare);
        char name[80];
        snprintf(name, sizeof name, "maps, # and U: e, mean of %d impacts (p90 off by %.4f, worst %.3f)", IMPACTS,
                 off[IMPACTS * 9 / 10], off[IMPACTS - 1]);
        physics_row(name, es[i], mean, .01);
    }
}

// ---------------------------------------------------------------------------------------------- statics

// A square lies on a fixed one of its size; gravity is turned slowly to 16 degrees. Does it stay?
static bool holds(double mu, int planes) {
    const double tilt = 16 * CORE_PI / 180, half = sqrt(.5), mass = sim_fixture_mass(&types[SQUARE]);
    sim_world *w = world_of(2, 0, NULL, sim_fixture_law(2e3 * mass, .5, mu), 0, .25, planes);
    const sim_motion_def still = {.pivot = {NAN, NAN}};
    physics_add(w, SQUARE, 0, 2 * half, 0, 0, 0, 0);
    check_ok(sim_world_add_prescribed(w, SQUARE, (double[2]){0, 0}, 0, &still, err));
    const double times[] = {8, 20, 12};
    double x = 0;
    for (int phase = 0; phase < 3; ++phase) {
        const int64_t n = (int64_t)(times[phase] / w->dt);
        for (int64_t i = 0; i < n; ++i) {
            const double part = (double)i / (double)n, g = phase == 0 ? part : 1;
            const double angle = phase == 0 ? 0 : phase == 1 ? part * tilt : tilt;
            w->gravity[0] = g * sin(angle);
            w->gravity[1] = -g * cos(angle);
            physics_steps(w, 1);
        }
        if (phase == 1) x = sim_world_state(w).x[0];
    }
    const double slid = sim_world_state(w).x[0] - x;
    sim_world_destroy(&w);
    return fabs(slid) < 2e-2;
}

static void an_incline_holds_up_to_its_friction(void **state) {
    (void)state;
    double low = .2, high = .4;
    assert_false(holds(low, 2));
    assert_true(holds(high, 2));
    while (high - low > .004) {
        const double mu = .5 * (low + high);
        if (holds(mu, 2)) {
            high = mu;
        } else {
            low = mu;
        }
    }
    // a normal off by an angle tilts the plane by it
    bool swapped;
    const double off = map_of(SQUARE, SQUARE, &swapped)->statement.map_exact[CSPACE_BANDS].normal_p50 * CORE_PI / 180;
    char name[80];
    snprintf(name, sizeof name, "maps, square on square, 2 planes: mu_c at 16 degrees");
    physics_row(name, tan(16 * CORE_PI / 180), .5 * (low + high), fmax(.02 * .2867, 2 * off) + .002);
}

static void a_pile_carries_its_weight(void **state) {
    (void)state;
    enum { N = 4 };
    const sim_boundary_def floor = physics_floor(0);
    const double half = sqrt(.5), mass = sim_fixture_mass(&types[SQUARE]);
    sim_world *w = world_of(N, 1, &floor, sim_fixture_law(2e4 * mass, .5, .5), 1, .25, 2);
    for (int i = 0; i < N; ++i) physics_add(w, SQUARE, .02 * (i % 2), half + 2 * half * i, 0, 0, 0, 0);
    physics_steps(w, (int64_t)(40 / w->dt));
    double force[N] = {0};
    const int steps = 4000;
    for (int step = 0; step < steps; ++step) {
        physics_steps(w, 1);
        sim_contact_force f[2 * N];
        int j[2 * N];
        const int64_t n = sim_world_contacts(w, 2 * N, NULL, j, NULL, f);
        for (int k = 0; k < n; ++k) force[j[k]] += f[k].force[1] / (steps * mass);
    }
    for (int k = 0; k < N; ++k) {
        char name[80];
        snprintf(name, sizeof name, "maps, pile of %d squares: force below square %d, m g", N, k + 1);
        physics_row(name, N - k, force[k], 2e-3 * (N - k));
    }
    sim_world_destroy(&w);
}

// Three squares on a fixed one, each set back from the one above by `part` of what is possible: 1/2, 1/4 and 1/6 of a
// side from the top.
static bool overhang_stands(double part) {
    const double half = sqrt(.5), side = 2 * half, mass = sim_fixture_mass(&types[SQUARE]);
    sim_world *w = world_of(4, 0, NULL, sim_fixture_law(2e4 * mass, .5, .5), 0, .25, 2);
    const sim_motion_def still = {.pivot = {NAN, NAN}};
    double x = 0, turned = 0;
    for (int i = 3; i >= 1; --i) {
        x += part * .5 * side / i;
        physics_add(w, SQUARE, x, side * (4 - i), 0, 0, 0, 0);
    }
    check_ok(sim_world_add_prescribed(w, SQUARE, (double[2]){0, 0}, 0, &still, err));
    const int64_t n = (int64_t)(10 / w->dt);
    for (int64_t i = 0; i < 4 * n; ++i) {
        w->gravity[1] = i < n ? -(double)i / (double)n : -1; // put on gently
        physics_steps(w, 1);
    }
    for (int i = 0; i < 3; ++i) turned = fmax(turned, fabs(sim_world_state(w).theta[i]));
    sim_world_destroy(&w);
    return turned < .1;
}

static void a_stack_hangs_over(void **state) {
    (void)state;
    // the margin at the uppermost edge is .1 R, the map of two squares is within .003 R
    physics_row("maps, three squares, .85 of the largest overhang: stands (1: yes)", 1, overhang_stands(.85), 0);
    physics_row("maps, three squares, 1.15 of the largest overhang: stands", 0, overhang_stands(1.15), 0);
}

// A square on a fixed one, which it overhangs uphill, and gravity turned slowly to `degrees`: does it fall over its
// lower corner?
static bool topples(double degrees) {
    const double half = sqrt(.5), mass = sim_fixture_mass(&types[SQUARE]), tilt = degrees * CORE_PI / 180;
    sim_world *w = world_of(2, 0, NULL, sim_fixture_law(2e4 * mass, .5, 5), 0, .25, 2);
    const sim_motion_def still = {.pivot = {NAN, NAN}};
    physics_add(w, SQUARE, -.3 * half, 2 * half, 0, 0, 0, 0);
    check_ok(sim_world_add_prescribed(w, SQUARE, (double[2]){0, 0}, 0, &still, err));
    const int64_t n = (int64_t)(30 / w->dt);
    for (int64_t i = 0; i < 2 * n && fabs(sim_world_state(w).theta[0]) < .3; ++i) {
        const double part = i < n ? (double)i / (double)n : 1, g = fmin(1, 8 * part);
        w->gravity[0] = g * sin(part * tilt);
        w->gravity[1] = -g * cos(part * tilt);
        physics_steps(w, 1);
    }
    const bool down = fabs(sim_world_state(w).theta[0]) >= .3;
    sim_world_destroy(&w);
    return down;
}

static void a_square_topples_at_45_degrees(void **state) {
    (void)state;
    physics_row("maps, square on square: topples at 44 degrees (1: yes)", 0, topples(44), 0);
    physics_row("maps, square on square: topples at 46 degrees (1: yes)", 1, topples(46), 0);
}

// 120 # fall into a box and are watched when they have settled.
static void a_pile_of_hashes_comes_to_rest(void **state) {
    (void)state;
    enum { N = 120, ROW = 7 };
    const double mass = sim_fixture_mass(&types[HASH]), wide = 2.2 * ROW, watch = 5;
    const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -wide, .present = true}};
    sim_world *w = world_of(N, 3, box, sim_fixture_law(1e4 * mass, .4, .5), 1, .25, 2);
    core_random r;
    core_random_init(&r, 1, 0);
    for (int i = 0; i < N; ++i)
        physics_add(w, HASH, 1.1 + 2.2 * (i % ROW), 1.2 + 2.2 * (i / ROW), 7 * core_random_uniform(&r), 0, 0, 0);
    physics_steps(w, (int64_t)(80 / w->dt));
    double from[2 * N], kinetic = 0, creep = 0, most = 0;
    memcpy(from, sim_world_state(w).x, sizeof from);
    const int64_t n = (int64_t)(watch / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        physics_steps(w, 1);
        sim_totals t;
        sim_world_totals(w, &t);
        kinetic += t.kinetic / (N * mass) / (double)n;
    }
    for (int i = 0; i < N; ++i) {
        const double *x = sim_world_state(w).x + 2 * i, dx = x[0] - from[2 * i], dy = x[1] - from[2 * i + 1];
        const double speed = sqrt(dx * dx + dy * dy) / watch;
        creep += speed / N;
        most = fmax(most, speed);
    }
    physics_row_below("maps, 120 # at rest, 2 planes: kinetic energy per grain, m g R", 1e-6, kinetic);
    physics_row_below("maps, 120 # at rest, 2 planes: creep, R per sqrt(R/g)", 1e-4, creep);
    printf("    of the fastest grain: %.2g\n", most);
    sim_world_destroy(&w);
}

// ---------------------------------------------------------------------------------------------- symmetry

// Closed curves of poses in contact: what the gradient integrates to is what d jumps by on the way.
static void closed_loops_integrate_to_the_jumps(void **state) {
    (void)state;
    enum { LOOPS = 60, POINTS = 20000 };
    sim_narrow narrow = maps(1);
    for (int a = 0; a < SHAPES; ++a) {
        bool swapped;
        const cspace_map *map = map_of(a, U, &swapped);
        core_random r;
        core_random_init(&r, 3, 0);
        double worst = 0;
        for (int n = 0; n < LOOPS;) {
            sim_contact c;
            int count;
            const cspace_pose at = {2 * CORE_PI * core_random_uniform(&r), 3 * core_random_uniform(&r) - 1.5,
                                    3 * core_random_uniform(&r) - 1.5};
            narrow.evaluate(narrow.self, a * SHAPES + U, &at, 1, 1, &count, &c, 0);
            if (!(c.d < 0 && c.d > -.06)) continue;
            ++n;
            double sum = 0;
            cspace_pose last = {0};
            for (int i = 0; i <= POINTS; ++i) {
                const double t = 2 * CORE_PI * (i % POINTS) / POINTS;
                const cspace_pose q = {at.theta + .1 * sin(t), at.x + .03 * (cos(t) - 1), at.y + .03 * sin(2 * t)};
                if (i > 0) {
                    const cspace_pose middle = {.5 * (q.theta + last.theta), .5 * (q.x + last.x), .5 * (q.y + last.y)};
                    narrow.evaluate(narrow.self, a * SHAPES + U, &middle, 1, 1, &count, &c, 0);
                    sum += c.d_theta_b * (q.theta - last.theta) + c.g[0] * (q.x - last.x) + c.g[1] * (q.y - last.y);
                }
                last = q;
            }
            worst = fmax(worst, fabs(sum));
        }
        char name[80];
        snprintf(name, sizeof name, "map %s-u: integral of grad d over closed loops", names[a]);
        physics_row_below(name, 1e-4 + map->statement.jump[CSPACE_BANDS].d_max, worst);
    }
    if (narrow.destroy) narrow.destroy(narrow.self);
}

// Images of a pose: A and B exchanged in the asker's order, mirrored (axes along y for both), quarter turns of the #.
static void images_give_the_same(void **state) {
    (void)state;
    sim_narrow narrow = maps(1);
    core_random r;
    core_random_init(&r, 8, 0);
    double swapped = 0, mirrored = 0, turned = 0;
    for (int n = 0; n < 500;) {
        const int b = n % 2 ? HASH : U, pair = HASH * SHAPES + b;
        sim_contact c, q;
        int count;
        const cspace_pose p = {2 * CORE_PI * core_random_uniform(&r), 3 * core_random_uniform(&r) - 1.5,
                               3 * core_random_uniform(&r) - 1.5};
        narrow.evaluate(narrow.self, pair, &p, 1, 1, &count, &c, 0);
        if (!(c.d < 0 && c.d > -.08)) continue;
        ++n;
        const cspace_pose other = cspace_swap_pose(&p);
        narrow.evaluate(narrow.self, b * SHAPES + HASH, &other, 1, 1, &count, &q, 0);
        swapped = fmax(swapped, fabs(q.d - c.d) + fabs(q.r_a + c.r_b) + fabs(q.r_b + c.r_a));
        const cspace_pose mirror = {-p.theta, -p.x, p.y};
        narrow.evaluate(narrow.self, pair, &mirror, 1, 1, &count, &q, 0);
        mirrored = fmax(mirrored, fabs(q.d - c.d) + fabs(q.g[0] + c.g[0]) + fabs(q.g[1] - c.g[1]) +
                                      fabs(q.d_theta_b + c.d_theta_b));
        const cspace_pose quarter = {p.theta + .5 * CORE_PI, -p.y, p.x};
        narrow.evaluate(narrow.self, pair, &quarter, 1, 1, &count, &q, 0);
        turned = fmax(turned, fabs(q.d - c.d) + fabs(q.g[0] + c.g[1]) + fabs(q.g[1] - c.g[0]) +
                                  fabs(q.d_theta_b - c.d_theta_b));
    }
    physics_row_below("maps, #-# and #-U: grains exchanged", 1e-9, swapped);
    physics_row_below("maps, #-# and #-U: mirror image", 1e-9, mirrored);
    physics_row_below("maps, #-# and #-U: # turned by 90 degrees", 1e-9, turned);
    if (narrow.destroy) narrow.destroy(narrow.self);
}

int main(int argc, char **argv) {
    core_error err = {0};
    if (argc != 2 || cspace_bundle_read(argv[1], &bundle, NULL, &err) != CORE_OK) {
        fprintf(stderr, "map_physics MAPS.h5: %s\n", argc == 2 ? err.message : "one argument expected");
        return 2;
    }
    for (int k = 0; k < SHAPES; ++k) {
        const sdf_shape *shape = cspace_bundle_shape(&bundle, names[k]);
        if (!shape) {
            fprintf(stderr, "map_physics: %s: no shape %s\n", argv[1], names[k]);
            return 2;
        }
        types[k] = (sim_type_def){.shape = *shape, .radius = 1, .density = 1};
        memcpy(types[k].name, names[k], strlen(names[k]) + 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_maps_get_wrong),
        cmocka_unit_test(without_losses_energy_stays),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(friction_and_damping_account_for_what_is_missing),
        cmocka_unit_test(restitution_is_realised),
        cmocka_unit_test(an_incline_holds_up_to_its_friction),
        cmocka_unit_test(a_pile_carries_its_weight),
        cmocka_unit_test(a_stack_hangs_over),
        cmocka_unit_test(a_square_topples_at_45_degrees),
        cmocka_unit_test(a_pile_of_hashes_comes_to_rest),
        cmocka_unit_test(closed_loops_integrate_to_the_jumps),
        cmocka_unit_test(images_give_the_same),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cspace_bundle_clear(&bundle);
    return failed;
}
