/// The contact law over columns, for both instruction sets, against one contact at a time: the same bits in every
/// branch of the law.
#include "sim_private.h"

#include "sim_check.h"
#include "random_below.h"

enum { ROWS = SIM_LAW_ROWS, ROUNDS = 400 };

// What a row starts from, and what it is compared with.
typedef struct sample {
    sim_body_state a, b;
    double angle;
    sim_slot slot;
} sample;

static double between(core_random *r, double low, double high) {
    return low + (high - low) * core_random_uniform(r);
}

// Touching, apart, saturated and exactly at rest, with and without springs and shares.
static sample draw(core_random *r, const sim_law_bodies *bodies) {
    sample q = {.a = {.inv_mass = bodies->inverse_mass[0], .inv_inertia = bodies->inverse_inertia[0]},
                .b = {.inv_mass = bodies->inverse_mass[1], .inv_inertia = bodies->inverse_inertia[1]},
                .angle = between(r, -4, 4)};
    const double steep = random_below(r, 6) == 0 ? .04 : 1;
    for (int k = 0; k < 2; ++k) {
        q.b.x[k] = between(r, -1, 1);
        q.a.v[k] = between(r, -1, 1);
        q.b.v[k] = between(r, -1, 1);
        q.slot.c.g[k] = steep * between(r, -1, 1);
    }
    q.a.omega = between(r, -3, 3), q.b.omega = between(r, -3, 3);
    q.slot.c.d = between(r, -.03, .01);
    q.slot.c.d_theta_b = between(r, -1, 1), q.slot.c.r_a = between(r, -1, 1), q.slot.c.r_b = between(r, -1, 1);
    q.slot.spring = between(r, -.02, .02);
    switch (random_below(r, 8)) {
    case 0:
        q.slot.c.shared = core_random_uniform(r);
        break;
    case 1:
        q.slot.c.g[0] = q.slot.c.g[1] = 0;
        break;
    case 2:
        q.slot.c.d = 0;
        break;
    case 3:
        q.slot.spring = 0;
        break;
    case 4:
        q.slot.c.d = NAN;
        break;
    default:
        break;
    }
    return q;
}

static void fill(const sample *q, int i, sim_law_rows *r) {
    const sim_contact *c = &q->slot.c;
    core_sincos(q->angle, &r->s[i], &r->c[i]);
    r->dx[i] = q->b.x[0] - q->a.x[0], r->dy[i] = q->b.x[1] - q->a.x[1];
    r->vx[i] = q->b.v[0] - q->a.v[0], r->vy[i] = q->b.v[1] - q->a.v[1];
    r->omega_a[i] = q->a.omega, r->omega_b[i] = q->b.omega;
    r->d[i] = c->d, r->g_x[i] = c->g[0], r->g_y[i] = c->g[1], r->d_theta_b[i] = c->d_theta_b;
    r->r_a[i] = c->r_a, r->r_b[i] = c->r_b, r->shared[i] = c->shared, r->spring[i] = q->slot.spring;
}

// One contact at a time, from A's frame.
static void apply(const sim_law_bodies *bodies, sample *q) {
    double s, c;
    core_sincos(q->angle, &s, &c);
    const double g[2] = {q->slot.c.g[0], q->slot.c.g[1]};
    q->slot.c.g[0] = c * g[0] - s * g[1];
    q->slot.c.g[1] = s * g[0] + c * g[1];
    sim_slot_apply(&bodies->law, &q->a, &q->b, bodies->dt, &q->slot);
}

static void same(const char *what, int round, int i, double found, double expected) {
    const bool equal = isnan(expected) ? isnan(found) : found >= expected && found <= expected;
    if (!equal) fail_msg("round %d, row %d, %s: found %.17g, expected %.17g", round, i, what, found, expected);
}

static void compare(int round, int i, const sim_law_rows *r, const sim_slot *slot) {
    const sim_touch touch = sim_law_touch(r, i);
    const sim_slot found = sim_touch_slot(&touch, r->spring[i]);
    const double pairs[][2] = {{found.c.g[0], slot->c.g[0]},         {found.c.g[1], slot->c.g[1]},
                               {found.d_theta_a, slot->d_theta_a},   {found.free_n, slot->free_n},
                               {found.spring, slot->spring},         {found.f.f_n, slot->f.f_n},
                               {found.f.f_t, slot->f.f_t},           {found.f.u_n, slot->f.u_n},
                               {found.f.u_t, slot->f.u_t},           {found.f.force[0], slot->f.force[0]},
                               {found.f.force[1], slot->f.force[1]}, {found.f.torque_a, slot->f.torque_a},
                               {found.f.torque_b, slot->f.torque_b}, {r->loss[i], slot->loss},
                               {r->sliding[i], slot->f.sliding},     {r->saturated[i], slot->f.saturated},
                               {found.free_t, slot->free_t}};
    static const char *const names[] = {"g_x",      "g_y",  "d_theta_a", "free_n",    "spring",  "f_n",
                                        "f_t",      "u_n",  "u_t",       "force_x",   "force_y", "torque_a",
                                        "torque_b", "loss", "sliding",   "saturated", "free_t"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) same(names[k], round, i, pairs[k][0], pairs[k][1]);
}

// The laws of the rounds: damping ratios and coefficients, no friction, no tangential spring, fixed bodies.
static sim_law_bodies law_of_round(int round) {
    sim_law_bodies bodies = {.law = {.kn = 1e4, .kt = 7e3, .gamma_n = NAN, .gamma_t = NAN, .zeta = .2, .mu = .3},
                             .inverse_mass = {1, .5},
                             .inverse_inertia = {2, 3},
                             .dt = 1e-3};
    if (round % 5 == 1) bodies.law.gamma_n = 12, bodies.law.gamma_t = 5;
    if (round % 5 == 2) bodies.law.mu = 0;
    if (round % 5 == 3) bodies.law.kt = 0;
    if (round % 7 == 4) bodies.inverse_mass[0] = bodies.inverse_inertia[0] = 0;
    if (round % 11 == 5) bodies.inverse_mass[1] = bodies.inverse_inertia[1] = 0;
    return bodies;
}

static void columns_have_the_bits_of_single_contacts(void **state) {
    (void)state;
    static sim_law_rows rows[2];
    static sample samples[ROWS];
    sim_law_loop *const loops[2] = {sim__law_baseline, sim__law_avx2};
    const int count_loops = nn_isa_available(NN_ISA_AVX2) ? 2 : 1;
    int64_t sliding = 0, saturated = 0, held = 0, cut = 0;
    core_random r;
    core_random_init(&r, 12, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const sim_law_bodies bodies = law_of_round(round);
        const int n = round < ROWS ? round + 1 : ROWS; // every remainder of the vectors
        for (int i = 0; i < n; ++i) {
            samples[i] = draw(&r, &bodies);
            for (int k = 0; k < count_loops; ++k) fill(&samples[i], i, &rows[k]);
            apply(&bodies, &samples[i]);
            const sim_slot *slot = &samples[i].slot;
            sliding += slot->f.sliding, saturated += slot->f.saturated;
            held += !slot->f.sliding && fabs(slot->f.f_t) > 0;
            cut += sim_slot_touches(slot) && slot->f.f_n <= 0;
        }
        for (int k = 0; k < count_loops; ++k) {
            loops[k](&bodies, n, &rows[k]);
            for (int i = 0; i < n; ++i) compare(round, i, &rows[k], &samples[i].slot);
        }
    }
    assert_true(sliding > 1000 && saturated > 1000 && held > 500 && cut > 500);
}

// What is kept of a slot gives it back.
static void a_kept_contact_gives_its_slot_back(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 13, 0);
    for (int round = 0; round < ROUNDS; ++round) {
        const sim_law_bodies bodies = law_of_round(round);
        sample q = draw(&r, &bodies);
        if (isnan(q.slot.c.d)) continue;
        apply(&bodies, &q);
        q.slot.loss = 0;
        const sim_touch touch = sim_touch_of(&q.slot);
        const sim_slot back = sim_touch_slot(&touch, q.slot.spring);
        assert_true(back.f.force[0] >= q.slot.f.force[0] && back.f.force[0] <= q.slot.f.force[0]);
        assert_memory_equal(&back.c, &q.slot.c, sizeof back.c - sizeof(double)); // its last bytes are padding
        assert_int_equal(back.c.feature, q.slot.c.feature);
        same("torque_b", round, 0, back.f.torque_b, q.slot.f.torque_b);
        same("force_y", round, 0, back.f.force[1], q.slot.f.force[1]);
        same("free_t", round, 0, back.free_t, q.slot.free_t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_have_the_bits_of_single_contacts),
                                       cmocka_unit_test(a_kept_contact_gives_its_slot_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
