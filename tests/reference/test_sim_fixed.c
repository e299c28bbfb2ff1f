/// Grains on grains that do not give way: the 16-degree incline as a fixed block, a drawer between two fixed blocks,
/// and pairs that touch at two places at once, which one contact a pair cannot carry (README.md, section 3). Units: the
/// free grain's length h, its mass and g are 1.
#include "sim_physics.h"
#include "sim_private.h"

static const double SINKING = 1e-4; // m g/k_n

// One free grain on fixed ones, seen by the exact narrow phase without smoothing.
typedef struct setting {
    sim_type_def type[2]; // free, fixed
    sim_world *world;
} setting;

// The world without grains; types are made by the caller.
static void set_up(setting *s, double mu, int planes) {
    const sim_contact_law law = sim_fixture_law(1 / SINKING, .5, mu);
    sim_contact_law laws[4];
    sim_fixture_laws(law, 2, 0, laws);
    const double dt = sim_dt_auto(2, s->type, 0, laws, .25);
    s->world = physics_world(3, 2, s->type, 0, NULL, law, 0, dt, physics_exact(2, s->type, 0, planes));
}

static void add_fixed(setting *s, double x, double y, double angle) {
    const double position[2] = {x, y};
    const sim_motion_def still = {.pivot = {NAN, NAN}};
    check_ok(sim_world_add_prescribed(s->world, 1, position, angle, &still, err));
}

// A type as large as it is drawn.
static void as_drawn(const char *name, int n, const double *xy, sim_type_def *type) {
    core_outline o = {0};
    sdf_mass mass;
    check_ok(core_outline_create(1, &n, &o, err));
    memcpy(o.xy, xy, 2 * (size_t)n * sizeof *xy);
    check_ok(sdf_outline_mass(&o, &mass, err));
    core_outline_clear(&o);
    check_ok(sim_fixture_type(name, n, xy, mass.circumradius, 1, type, err));
}

static void clear(setting *s) {
    sim_world_destroy(&s->world);
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&s->type[t].shape);
}

// Steps with gravity along (gx, gy) rising from one fraction of g to another.
static void run(sim_world *w, double gx, double gy, double from, double to, double time) {
    const int64_t n = (int64_t)ceil(time / w->dt);
    for (int64_t i = 0; i < n; ++i) {
        const double g = from + (to - from) * (double)(i + 1) / (double)n;
        w->gravity[0] = g * gx;
        w->gravity[1] = g * gy;
        check_ok(sim_world_step(w, err));
    }
}

// ---------------------------------------------------------------------------------------------- incline

static const double TILT = 16 * CORE_PI / 180;

// A block 1.5 x 1 lies on a long fixed one that slopes down to the right.
static void lay_down(setting *s, double mu, int planes) {
    check_ok(sim_fixture_block("block", 1.5, 1, 1 / 1.5, &s->type[0], err));
    check_ok(sim_fixture_block("incline", 12, 1, 1, &s->type[1], err));
    set_up(s, mu, planes);
    physics_add(s->world, 0, sin(TILT), cos(TILT), -TILT, 0, 0, 0);
    add_fixed(s, 0, 0, -TILT);
}

static void an_incline_made_of_a_grain(void **state) {
    (void)state;
    const double down[2] = {cos(TILT), -sin(TILT)};
    setting s = {0};
    char name[80];
    for (int planes = 1; planes <= 2; ++planes) {
        lay_down(&s, .28, planes);
        run(s.world, 0, -1, 0, 1, 20);
        const sim_state at = sim_world_state(s.world);
        const double *v = at.v, before = v[0] * down[0] + v[1] * down[1], t = at.time;
        run(s.world, 0, -1, 1, 1, 20);
        const double a = (v[0] * down[0] + v[1] * down[1] - before) / (sim_world_state(s.world).time - t);
        snprintf(name, sizeof name, "fixed incline, mu 0.28, %d plane(s): a, g", planes);
        physics_row(name, sin(TILT) - .28 * cos(TILT), a, .0002);
        clear(&s);
    }
    static const double mus[] = {.30, .32};
    for (int i = 0; i < 2; ++i) {
        lay_down(&s, mus[i], 2);
        run(s.world, 0, -1, 0, 1, 20);
        run(s.world, 0, -1, 1, 1, 10);
        const double *x = sim_world_state(s.world).x, from[2] = {x[0], x[1]};
        run(s.world, 0, -1, 1, 1, 20);
        snprintf(name, sizeof name, "fixed incline, mu %.2f, 2 planes: creep, h per sqrt(h/g)", mus[i]);
        physics_row_below(name, 1e-6, ((x[0] - from[0]) * down[0] + (x[1] - from[1]) * down[1]) / 20);
        clear(&s);
    }
}

// ---------------------------------------------------------------------------------------------- drawer

// A drawer 1 x .5 fills a slot along x, two fixed blocks or one fixed U, and is pulled with force 1 along it, at
// `offset` beside its middle. Does it stay?
static bool drawer_jams(bool one_grain, double offset, double mu, int planes) {
    setting s = {0};
    check_ok(sim_fixture_block("drawer", 1, .5, 2, &s.type[0], err));
    if (one_grain) {
        static const double u[] = {-3, -.75, 3, -.75, 3, -.25, -2.5, -.25, -2.5, .25, 3, .25, 3, .75, -3, .75};
        as_drawn("u", 8, u, &s.type[1]);
    } else {
        check_ok(sim_fixture_block("wall", 6, .5, 1, &s.type[1], err));
    }
    set_up(&s, mu, planes);
    physics_add(s.world, 0, 0, 0, 0, 0, 0, 0);
    if (one_grain) add_fixed(&s, 0, 0, 0);
    for (int k = -1; k <= 1 && !one_grain; k += 2) add_fixed(&s, 0, .5 * k, 0);
    const double inertia = sim_fixture_inertia(&s.type[0]), dt = s.world->dt;
    bool inside = true;
    for (double t = 0; t < 2 && inside; t += dt) {
        const double pull = fmin(1, t);
        s.world->gravity[0] = pull;
        s.world->gravity[1] = 0;
        s.world->omega[0] -= dt * pull * offset / inertia; // a force along +x at y = offset turns it clockwise
        inside = sim_world_step(s.world, NULL) == CORE_OK && fabs(sim_world_state(s.world).x[0]) < 1e-2;
    }
    clear(&s);
    return inside;
}

static void a_drawer_jams_between_two_grains(void **state) {
    (void)state;
    static const double cases[] = {1, .8};
    for (int i = 0; i < 2; ++i) {
        const double critical = .5 / cases[i]; // length/(2 offset)
        double low = .8 * critical, high = 1.25 * critical;
        assert_false(drawer_jams(false, cases[i], low, 2));
        assert_true(drawer_jams(false, cases[i], high, 2));
        while (high - low > .005 * critical) {
            const double mu = .5 * (low + high);
            if (drawer_jams(false, cases[i], mu, 2)) {
                high = mu;
            } else {
                low = mu;
            }
        }
        char name[80];
        snprintf(name, sizeof name, "slot, two fixed grains: mu_c, offset %.1f", cases[i]);
        physics_row(name, critical, .5 * (low + high), fmax(.003, .02 * critical));
    }
    // The limit of one normal and one moment arm a pair, as it is: between the walls of one grain it never jams.
    for (int planes = 1; planes <= 2; ++planes) {
        for (double mu = .4; mu < .9; mu += .2) {
            char name[80];
            snprintf(name, sizeof name, "slot, one fixed U, mu %.1f, %d plane(s): jams (limit; two grains: %d)", mu,
                     planes, mu > .5);
            physics_row(name, 0, drawer_jams(true, 1, mu, planes), 0);
        }
    }
}

// ---------------------------------------------------------------------------------------------- groove

// A disc in a V-groove of one fixed grain, without friction: sum of the contact forces on it, m g.
static double force_in_groove(double half_angle, double *up) {
    const double wide = 1.2, high = wide / tan(half_angle);
    const double groove[] = {-wide, high, -wide, -.5, wide, -.5, wide, high, 0, 0};
    setting s = {0};
    check_ok(sim_fixture_disc("disc", 256, .5, 4 / CORE_PI, &s.type[0], err));
    as_drawn("groove", 5, groove, &s.type[1]);
    core_outline o = {0};
    sdf_mass mass;
    const int n = 5;
    check_ok(core_outline_create(1, &n, &o, err));
    memcpy(o.xy, groove, sizeof groove);
    check_ok(sdf_outline_mass(&o, &mass, err));
    core_outline_clear(&o);
    set_up(&s, 0, 1);
    physics_add(s.world, 0, 0, .5 / sin(half_angle), 0, 0, 0, 0);
    add_fixed(&s, mass.centroid[0], mass.centroid[1], 0);
    run(s.world, 0, -1, 0, 1, 10);
    run(s.world, 0, -1, 1, 1, 10);
    double sum = 0;
    *up = 0;
    enum { WATCHED = 2000 };
    for (int i = 0; i < WATCHED; ++i) {
        check_ok(sim_world_step(s.world, err));
        sim_contact_force f[2];
        const int64_t count = sim_world_contacts(s.world, 2, NULL, NULL, NULL, f);
        for (int k = 0; k < count; ++k) {
            sum += sqrt(f[k].force[0] * f[k].force[0] + f[k].force[1] * f[k].force[1]) / WATCHED;
            *up -= f[k].force[1] / WATCHED; // on B, the groove
        }
    }
    clear(&s);
    return sum;
}

// The limit again: two walls would carry 1/sin(half angle).
static void a_disc_in_a_groove_of_one_grain_has_one_contact(void **state) {
    (void)state;
    static const double degrees[] = {30, 45, 60};
    for (int k = 0; k < 3; ++k) {
        char name[80];
        double up;
        const double angle = degrees[k] * CORE_PI / 180, sum = force_in_groove(angle, &up);
        snprintf(name, sizeof name, "groove of one grain, half angle %.0f: vertical force, m g", degrees[k]);
        physics_row(name, 1, up, .01);
        snprintf(name, sizeof name, "    sum of forces (limit; two walls: %.2f)", 1 / sin(angle));
        physics_row(name, 1, sum, .05);
    }
}

// ---------------------------------------------------------------------------------------------- two prongs

// A bar of length 2 lies on the prongs of one fixed comb, outer edges at x = -.6 and .6, its centre at `off`. Mean
// force on it, in m g, and its kinetic energy, in m g h; false: it fell.
static bool lies_on_prongs(double off, int planes, double *force, double *kinetic) {
    static const double comb[] = {-.6, -.5, .6, -.5, .6, .5, .5, .5, .5, -.3, -.5, -.3, -.5, .5, -.6, .5};
    setting s = {0};
    check_ok(sim_fixture_block("bar", 2, .2, 1 / .4, &s.type[0], err));
    as_drawn("comb", 8, comb, &s.type[1]);
    set_up(&s, .5, planes);
    const double tips = s.type[1].shape.outline.xy[5] * s.type[1].radius;
    physics_add(s.world, 0, off, tips + .1, 0, 0, 0, 0);
    add_fixed(&s, 0, 0, 0);
    run(s.world, 0, -1, 0, 1, 10);
    run(s.world, 0, -1, 1, 1, 20);
    *force = *kinetic = 0;
    enum { WATCHED = 2000 };
    for (int i = 0; i < WATCHED; ++i) {
        check_ok(sim_world_step(s.world, err));
        sim_contact_force f[2];
        sim_totals t;
        const int64_t n = sim_world_contacts(s.world, 2, NULL, NULL, NULL, f);
        for (int k = 0; k < n; ++k) *force -= f[k].force[1] / WATCHED; // on B, the comb
        sim_world_totals(s.world, &t);
        *kinetic += t.kinetic / WATCHED;
    }
    const bool lies =
        fabs(sim_world_state(s.world).x[0] - off) < 1e-3 && fabs(sim_world_state(s.world).theta[0]) < 1e-2;
    clear(&s);
    return lies;
}

static void a_bar_lies_on_two_prongs_of_one_grain(void **state) {
    (void)state;
    static const double offs[] = {0, .3, .58, .62}, stillness[] = {1e-5, 1e-12};
    for (int planes = 1; planes <= 2; ++planes) {
        for (int k = 0; k < 4; ++k) {
            char name[80];
            double force, kinetic;
            snprintf(name, sizeof name, "prongs, %d plane(s): lies with its centre at %.2f (1: yes)", planes, offs[k]);
            physics_row(name, offs[k] < .6, lies_on_prongs(offs[k], planes, &force, &kinetic), 0);
            if (offs[k] > .6) continue;
            physics_row("    force, m g", 1, force, 1e-3);
            physics_row_below("    kinetic energy, m g h", stillness[planes - 1], kinetic);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_incline_made_of_a_grain),
        cmocka_unit_test(a_drawer_jams_between_two_grains),
        cmocka_unit_test(a_disc_in_a_groove_of_one_grain_has_one_contact),
        cmocka_unit_test(a_bar_lies_on_two_prongs_of_one_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
