/// Impacts: the table of a disc that meets a wall obliquely, the restitution of any two shapes in any pose, the linear
/// law's closed forms through the exact narrow phase, and that no impact makes kinetic energy.
#include "sim_physics.h"
#include "sim_private.h"

// Contacts start at d = 0 from above: the first step is free. (At d = 0 from below the dashpot acts in it, and e at
// t_c/100 is .995 to .984 of what it should be, from e = .5 to .3: of first order in the step.)
static const double APART = 1e-12;

// Steps until the grains have met and parted again; false if they have not within `most`.
static bool collide(sim_world *w, int64_t most, double *deepest, int64_t *touched) {
    bool met = false;
    *deepest = 0;
    *touched = 0;
    for (int64_t i = 0; i < most; ++i) {
        check_ok(sim_world_step(w, err));
        sim_contact c;
        sim_contact_force f;
        const bool touching = sim_world_contacts(w, 1, NULL, NULL, &c, &f) > 0;
        if (met && !touching) return true;
        met = met || touching;
        if (!touching) continue;
        *deepest = fmax(*deepest, -c.d);
        *touched += f.f_n > 0;
    }
    return false;
}

static double duration(double zeta, double k, double inverse_mass) {
    const double w = sqrt(1 - zeta * zeta);
    return (CORE_PI - atan2(2 * zeta * w, w * w - zeta * zeta)) / (w * sqrt(k * inverse_mass));
}

// ---------------------------------------------------------------------------------------------- oblique

static void a_disc_meets_a_wall_obliquely(void **state) {
    (void)state;
    static const double rows[][3] = {
        {35, .7398, 465.6}, {45, .8178, 401.9}, {60, .8948, 284.2}, {75, .9512, 147.1}, {85, .9841, 49.5}};
    enum { CORNERS = 256 };
    const double r = .0025, v = 3.9, e = .98;
    const sim_boundary_def wall = physics_floor(0);
    sim_type_def disc;
    check_ok(sim_fixture_disc("disc", CORNERS, r, 1000, &disc, err));
    for (int i = 0; i < 5; ++i) {
        const double angle = rows[i][0] * CORE_PI / 180, m = sim_fixture_mass(&disc);
        sim_contact_law law = sim_fixture_law(m * 1e12, 0, .092);
        check_ok(sim_zeta_of_restitution(e, &law.zeta, err));
        sim_world *w =
            physics_world(1, 1, &disc, 1, &wall, law, 0, duration(law.zeta, law.kn, 1 / m) / 100, (sim_narrow){0});
        // averaged over one facet to either side a regular polygon has the same height at every angle: it is round
        w->smoothing = CORE_PI / CORNERS;
        double h, dh, deepest;
        int64_t touched;
        sim_support_evaluate(&w->support[0], 0, w->smoothing, &h, &dh);
        physics_add(w, 0, 0, -h, 0, v * sin(angle), -v * cos(angle), 0);
        assert_true(collide(w, 400, &deepest, &touched));
        char name[80];
        snprintf(name, sizeof name, "oblique impact at %.0f degrees: e_t", rows[i][0]);
        physics_row(name, rows[i][1], sim_world_state(w).v[0] / (v * sin(angle)), .01 * rows[i][1]);
        snprintf(name, sizeof name, "oblique impact at %.0f degrees: omega, rad/s", rows[i][0]);
        physics_row(name, -rows[i][2], sim_world_state(w).omega[0], .01 * rows[i][2]);
        snprintf(name, sizeof name, "oblique impact at %.0f degrees: e", rows[i][0]);
        physics_row(name, e, sim_world_state(w).v[1] / (v * cos(angle)), .01);
        sim_world_destroy(&w);
    }
    sdf_shape_clear(&disc.shape);
}

// ---------------------------------------------------------------------------------------------- linear law

// A square falls with a corner on the middle of a face of another, m_eff = 1: gamma, e, t_c, deepest overlap.
static void a_corner_on_a_face_has_the_closed_forms(void **state) {
    (void)state;
    static const double table[][4] = {
        {6.704, .9020, .030763, .009498}, {43.091, .5503, .027724, .007418}, {91.190, .3249, .024660, .005700}};
    static const double smoothing[] = {0, .0001};
    sim_type_def square;
    check_ok(sim_fixture_block("square", 1, 1, 2, &square, err));
    for (int i = 0; i < 12; ++i) {
        const int planes = 1 + i / 6;
        const double *row = table[i % 6 / 2], dt = row[2] / 100;
        const sim_contact_law law = {.kn = 1e4, .gamma_n = row[0]};
        const sim_narrow narrow = physics_exact(1, &square, smoothing[i % 2], planes);
        sim_world *w = physics_world(2, 1, &square, 0, NULL, law, 0, dt, narrow);
        physics_add(w, 0, 0, 0, 0, 0, 0, 0);
        physics_add(w, 0, 0, .5 + sqrt(.5) + APART, .25 * CORE_PI, 0, -1, 0);
        double deepest;
        int64_t touched;
        assert_true(collide(w, 400, &deepest, &touched));
        char name[80];
        snprintf(name, sizeof name, "spring-dashpot, exact, %d plane(s), sigma %.4f, gamma %.3f: e", planes,
                 smoothing[i % 2], row[0]);
        physics_row(name, row[1], sim_world_state(w).v[3] - sim_world_state(w).v[1], .01 * row[1]);
        snprintf(name, sizeof name, "spring-dashpot, exact, %d plane(s), sigma %.4f, gamma %.3f: t_c, s", planes,
                 smoothing[i % 2], row[0]);
        physics_row(name, row[2], (double)touched * dt, .015 * row[2]); // whole steps
        snprintf(name, sizeof name, "spring-dashpot, exact, %d plane(s), sigma %.4f, gamma %.3f: overlap, m", planes,
                 smoothing[i % 2], row[0]);
        physics_row(name, row[3], deepest, .01 * row[3]);
        sim_world_destroy(&w);
    }
    sdf_shape_clear(&square.shape);
}

// ---------------------------------------------------------------------------------------------- any shape, any pose

static sim_type_def odd[2]; // a U and a light block, R = 1 and .7 m

static int make(void **state) {
    (void)state;
    return sim_fixture_u("u", 1, 1, &odd[0], NULL) != CORE_OK ||
           sim_fixture_block("block", 1.3, .5, .1, &odd[1], NULL) != CORE_OK;
}

static int clear(void **state) {
    (void)state;
    sdf_shape_clear(&odd[0].shape);
    sdf_shape_clear(&odd[1].shape);
    return 0;
}

// A random pose of type b seen from type a at which they just touch, with its contact there.
static cspace_pose touching_pose(const sim_narrow *narrow, int a, int b, core_random *r, sim_contact *c) {
    const double angle = 2 * CORE_PI * core_random_uniform(r), theta = 2 * CORE_PI * core_random_uniform(r);
    double low = 0, high = odd[a].radius + odd[b].radius; // a centre of B inside A overlaps, or nearly so
    for (int i = 0; i < 60; ++i) {
        const double at = .5 * (low + high);
        const cspace_pose pose = {theta, at * cos(angle), at * sin(angle)};
        int count;
        narrow->evaluate(narrow->self, a * 2 + b, &pose, 1, 1, &count, c, 0);
        if (c->d < 0) {
            low = at;
        } else {
            high = at;
        }
    }
    high += APART;
    const cspace_pose pose = {theta, high * cos(angle), high * sin(angle)};
    int count;
    narrow->evaluate(narrow->self, a * 2 + b, &pose, 1, 1, &count, c, 0);
    return pose;
}

static double normal_rate(const sim_state *s, const sim_contact *c) {
    const double x[2] = {s->x[2] - s->x[0], s->x[3] - s->x[1]};
    const double d_theta_a = -c->d_theta_b - (x[0] * c->g[1] - x[1] * c->g[0]);
    return c->g[0] * (s->v[2] - s->v[0]) + c->g[1] * (s->v[3] - s->v[1]) + c->d_theta_b * s->omega[1] +
           d_theta_a * s->omega[0];
}

// Two planes differ within their turn, .01 rad, from where another branch takes over.
static bool is_near_kink(const sim_narrow *narrow, int pair, cspace_pose pose) {
    sim_contact c[2];
    int count;
    pose.x *= 1 - 1e-6;
    pose.y *= 1 - 1e-6;
    narrow->evaluate(narrow->self, pair, &pose, 1, 2, &count, c, 0);
    return count == 2 && fabs(c[0].shared - .5) > .01;
}

// Realised restitution of a random impact, NaN if it was none; whether it happened near a kink.
static double random_impact(double e, int planes, int a, int b, core_random *r, bool *near) {
    sim_contact_law law = {.kn = 1e5, .gamma_n = NAN, .gamma_t = NAN};
    sim_contact c;
    check_ok(sim_zeta_of_restitution(e, &law.zeta, err));
    const sim_narrow narrow = physics_exact(2, odd, 0, planes);
    const cspace_pose pose = touching_pose(&narrow, a, b, r, &c);
    *near = is_near_kink(&narrow, 2 * a + b, pose);
    const double d_theta_a = -c.d_theta_b - (pose.x * c.g[1] - pose.y * c.g[0]);
    const double inverse = 1 / sim_fixture_mass(&odd[a]) + 1 / sim_fixture_mass(&odd[b]) +
                           d_theta_a * d_theta_a / sim_fixture_inertia(&odd[a]) +
                           c.d_theta_b * c.d_theta_b / sim_fixture_inertia(&odd[b]);
    sim_world *w = physics_world(2, 2, odd, 0, NULL, law, 0, duration(law.zeta, law.kn, inverse) / 100, narrow);
    const double v = .01;
    physics_add(w, a, 0, 0, 0, 0, 0, v * (2 * core_random_uniform(r) - 1));
    physics_add(w, b, pose.x, pose.y, pose.theta, -3 * v * c.g[0], -3 * v * c.g[1],
                v * (2 * core_random_uniform(r) - 1));
    sim_state s = sim_world_state(w);
    const double before = normal_rate(&s, &c);
    double deepest, found = NAN;
    int64_t touched;
    if (before < -v && collide(w, 400, &deepest, &touched)) {
        s = sim_world_state(w);
        found = -normal_rate(&s, &c) / before;
    }
    sim_world_destroy(&w);
    return found;
}

static void any_pose_realises_its_restitution(void **state) {
    (void)state;
    static const double es[] = {.9, .5, .3};
    core_random r;
    core_random_init(&r, 5, 0);
    for (int e = 0; e < 3; ++e) {
        double at[3] = {es[e], es[e], es[e]}; // farthest from e: one plane; two; two near a kink
        int n[3] = {0};
        for (int k = 0; k < 240; ++k) {
            const int planes = 1 + k / 60;
            bool near;
            const double found = random_impact(es[e], planes, k % 2, k / 2 % 2, &r, &near);
            if (isnan(found)) continue;
            const int group = planes == 1 ? 0 : near ? 2 : 1;
            ++n[group];
            if (fabs(found - es[e]) > fabs(at[group] - es[e])) at[group] = found;
        }
        assert_true(n[0] > 30 && n[1] > 30);
        char name[80];
        for (int planes = 1; planes <= 2; ++planes) {
            snprintf(name, sizeof name, "restitution %.1f, U and block, %d plane(s), worst of %d", es[e], planes,
                     n[planes - 1]);
            physics_row(name, es[e], at[planes - 1], .01 * es[e]);
        }
        // there one edge has a share of stiffness and damping between 1/2 and 1: e to e^sqrt(share)
        snprintf(name, sizeof name, "restitution %.1f, 2 planes, .01 rad around a kink, worst of %d", es[e], n[2]);
        physics_row(name, es[e], at[2], pow(es[e], sqrt(.5)) - es[e]);
    }
}

static void no_impact_makes_energy(void **state) {
    (void)state;
    static const double es[] = {1, .9, .5, .1}, mus[] = {0, .1, .5, 2};
    core_random r;
    core_random_init(&r, 7, 0);
    double worst = -1;
    int n = 0;
    char where[100] = "";
    for (int k = 0; k < 256; ++k) {
        const int a = k % 2, b = k / 2 % 2, planes = 1 + k / 4 % 2;
        sim_contact_law law = sim_fixture_law(1e4, 0, mus[k / 8 % 4]);
        sim_contact c;
        check_ok(sim_zeta_of_restitution(es[k / 32 % 4], &law.zeta, err));
        const sim_narrow narrow = physics_exact(2, odd, 0, planes);
        const cspace_pose pose = touching_pose(&narrow, a, b, &r, &c);
        sim_contact_law laws[4];
        sim_fixture_laws(law, 2, 0, laws);
        const double dt = CORE_PI / 100 * sim_dt_auto(2, odd, 0, laws, 1) / fmax(1, law.zeta);
        sim_world *w = physics_world(2, 2, odd, 0, NULL, law, 0, dt, narrow);
        const double aim = 2 * CORE_PI * core_random_uniform(&r);
        physics_add(w, a, 0, 0, 0, 0, 0, core_random_uniform(&r) - .5);
        physics_add(w, b, pose.x, pose.y, pose.theta, cos(aim), sin(aim), core_random_uniform(&r) - .5);
        sim_totals before, after;
        double deepest;
        int64_t touched;
        sim_world_totals(w, &before);
        if (collide(w, 4000, &deepest, &touched)) {
            sim_world_totals(w, &after);
            const double gain = after.kinetic / before.kinetic - 1;
            ++n;
            if (gain > worst) {
                worst = gain;
                snprintf(where, sizeof where, "kinetic energy gained, worst impact (e %.1f, mu %.1f, %d plane(s))",
                         es[k / 32 % 4], mus[k / 8 % 4], planes);
            }
        }
        sim_world_destroy(&w);
    }
    assert_true(n > 60);
    printf("%d impacts; ", n);
    physics_row_below(where, 1e-3, fmax(worst, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disc_meets_a_wall_obliquely),
        cmocka_unit_test(a_corner_on_a_face_has_the_closed_forms),
        cmocka_unit_test(any_pose_realises_its_restitution),
        cmocka_unit_test(no_impact_makes_energy),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
