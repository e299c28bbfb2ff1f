/// Contact law: Cundall-Strack spring and dashpot on the distance of a pair, with one tangential spring per contact;
/// the damping ratio that realises a restitution. Signs and equations: README.md, sections 1 and 2.
#include "sim_private.h"

#include <math.h>

// Natural logarithm of 1/e for damping ratio zeta: 2 zeta arccos(zeta)/sqrt(1 - zeta^2), arcosh beyond 1.
static double log_loss(double zeta) {
    const double w2 = (1 - zeta) * (1 + zeta);
    if (fabs(w2) < 1e-8) return 2 * zeta * (1 + (1 - zeta) / 3);
    if (w2 > 0) {
        const double w = sqrt(w2);
        return 2 * zeta * core_atan2(w, zeta) / w;
    }
    const double w = sqrt(-w2);
    return 2 * zeta * core_log(zeta + w) / w;
}

core_status sim_zeta_of_restitution(double e, double *zeta, core_error *err) {
    CORE_CHECK(zeta, CORE_ARG, "sim_zeta_of_restitution: zeta is NULL");
    CORE_CHECK(e > 0 && e <= 1, CORE_RANGE, "restitution: found %g, expected a number in (0, 1]", e);
    const double wanted = -core_log(e);
    double low = 0, high = 1;
    for (; log_loss(high) < wanted; high *= 2) {
        CORE_CHECK(high < 1e8, CORE_RANGE, "restitution: found %g, too small for any damping ratio up to 1e8", e);
    }
    // log_loss rises with zeta; halve until the interval is two neighbouring numbers (or 0 is met for e = 1).
    if (wanted > 0) {
        for (int i = 0; i < 200; ++i) {
            const double middle = 0.5 * (low + high);
            if (log_loss(middle) < wanted) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
    *zeta = wanted > 0 ? 0.5 * (low + high) : 0;
    return CORE_OK;
}

double sim_contact_d_theta_a(const sim_contact *c, const double x_a[2], const double x_b[2]) {
    return -c->d_theta_b - ((x_b[0] - x_a[0]) * c->g[1] - (x_b[1] - x_a[1]) * c->g[0]);
}

// Rates given |g| and its inverse.
static inline void rates(const sim_contact *c, double slope, double inverse, double d_theta_a, const sim_body_state *a,
                         const sim_body_state *b, double *u_n, double *u_t) {
    const double v[2] = {b->v[0] - a->v[0], b->v[1] - a->v[1]};
    *u_n = c->g[0] * v[0] + c->g[1] * v[1] + c->d_theta_b * b->omega + d_theta_a * a->omega;
    // t_hat = (-n_y, n_x)
    *u_t =
        slope < SIM_SLOPE_MIN ? 0 : (c->g[0] * v[1] - c->g[1] * v[0]) * inverse + c->r_b * b->omega - c->r_a * a->omega;
}

void sim_contact_rates(const sim_contact *c, double d_theta_a, const sim_body_state *a, const sim_body_state *b,
                       double *u_n, double *u_t) {
    const double slope = sqrt(c->g[0] * c->g[0] + c->g[1] * c->g[1]);
    rates(c, slope, 1 / slope, d_theta_a, a, b, u_n, u_t);
}

bool sim_slot_touches(const sim_slot *slot) {
    return !(slot->c.d >= 0);
}

// 2 zeta sqrt(k m_eff), or the coefficient itself if it is given.
static double damping(double given, double zeta, double stiffness, double inverse_mass) {
    if (!isnan(given)) return given;
    return inverse_mass > 0 ? 2 * zeta * sqrt(stiffness / inverse_mass) : 0;
}

// Tangential force: spring advanced by u_t dt, cut by Coulomb's law; a cut spring gets the length that gives the cut
// force.
//
// The dashpot's part is what acts while the contact holds; a contact that slides is at Coulomb's limit, whatever of it
// the spring and the dashpot would have taken.
//
// A contact with a share of the stiffness keeps its spring's length times sqrt(share): the energy is 1/2 k_t spring^2
// then for any share, and stays what it is when the share changes.
static void apply_friction(const sim_contact_law *law, double share, double gamma_t, double limit, double dt,
                           sim_slot *slot) {
    sim_contact_force *f = &slot->f;
    const double root = sqrt(share), kt = law->kt * root;
    const double before = slot->spring, advanced = before + f->u_t * dt * root;
    double f_t = -kt * advanced - gamma_t * f->u_t;
    slot->spring = advanced;
    if (fabs(f_t) > limit) {
        f_t = f_t < 0 ? -limit : limit;
        f->sliding = true;
        if (kt > 0) slot->spring = -(f_t + gamma_t * f->u_t) / kt;
    }
    f->f_t = f_t;
    slot->free_t = f->sliding ? 0 : -gamma_t * f->u_t;
    slot->loss = 0.5 * law->kt * (before * before - slot->spring * slot->spring);
}

// Forces and torques from f_n along the raw gradient and f_t along t_hat.
static void write_forces(const sim_contact *c, double d_theta_a, const double t_hat[2], sim_contact_force *f) {
    f->force[0] = f->f_n * c->g[0] + f->f_t * t_hat[0];
    f->force[1] = f->f_n * c->g[1] + f->f_t * t_hat[1];
    f->torque_a = f->f_n * d_theta_a - f->f_t * c->r_a;
    f->torque_b = f->f_n * c->d_theta_b + f->f_t * c->r_b;
}

void sim_slot_apply(const sim_contact_law *law, const sim_body_state *a, const sim_body_state *b, double dt,
                    sim_slot *slot) {
    const sim_contact *c = &slot->c;
    sim_contact_force *f = &slot->f;
    *f = (sim_contact_force){0};
    slot->free_n = slot->free_t = slot->loss = 0;
    slot->d_theta_a = sim_contact_d_theta_a(c, a->x, b->x);
    const double slope2 = c->g[0] * c->g[0] + c->g[1] * c->g[1], slope = sqrt(slope2), inverse = 1 / slope;
    rates(c, slope, inverse, slot->d_theta_a, a, b, &f->u_n, &f->u_t);
    f->saturated = sim_slot_touches(slot) && slope < SIM_SLOPE_MIN;
    if (!sim_slot_touches(slot) || f->saturated) {
        // the spring is dropped with its energy
        slot->loss = 0.5 * law->kt * slot->spring * slot->spring;
        slot->spring = 0;
        if (!f->saturated) return;
    }
    // normal: along the raw gradient, so that the undamped force is exactly the gradient of 1/2 k_n d^2
    const double inverse_mass = a->inv_mass + b->inv_mass;
    const double inverse_n = slope2 * inverse_mass + slot->d_theta_a * slot->d_theta_a * a->inv_inertia +
                             c->d_theta_b * c->d_theta_b * b->inv_inertia;
    const double share = 1 - c->shared, kn = share * law->kn;
    const double gamma_n = share * damping(law->gamma_n, law->zeta, law->kn, inverse_n);
    f->f_n = -kn * c->d - gamma_n * f->u_n;
    if (f->f_n < 0) f->f_n = 0; // no tension
    slot->free_n = f->f_n + kn * c->d;
    double t_hat[2] = {0, 0};
    if (!f->saturated) {
        t_hat[0] = -c->g[1] * inverse;
        t_hat[1] = c->g[0] * inverse;
        const double inverse_t = inverse_mass + c->r_a * c->r_a * a->inv_inertia + c->r_b * c->r_b * b->inv_inertia;
        const double gamma_t = share * damping(law->gamma_t, law->zeta, law->kt, inverse_t);
        apply_friction(law, share, gamma_t, law->mu * f->f_n * slope, dt, slot);
    }
    write_forces(c, slot->d_theta_a, t_hat, f);
}

void sim_slot_dissipation(const sim_slot *slot, const sim_body_state *a, const sim_body_state *b, double dt,
                          double lost[SIM_LOST_COUNT]) {
    // Kinetic energy changes by exactly force x mean of the velocities before and after: works are taken at that mean.
    // Normal: work of what is not spring. Tangential: all of the work, less what the spring has gained; the dashpot's
    // part of it is the work of its force.
    double u_n, u_t;
    sim_contact_rates(&slot->c, slot->d_theta_a, a, b, &u_n, &u_t);
    const double mean_n = 0.5 * (slot->f.u_n + u_n), mean_t = 0.5 * (slot->f.u_t + u_t);
    lost[SIM_LOST_NORMAL] -= slot->free_n * mean_n * dt;
    lost[SIM_LOST_TANGENTIAL] += slot->loss - slot->f.f_t * mean_t * dt;
    lost[SIM_LOST_DAMPED] -= slot->free_t * mean_t * dt;
}

sim_slot sim_touch_slot(const sim_touch *touch, double spring) {
    sim_slot slot = {.spring = spring,
                     .d_theta_a = touch->d_theta_a,
                     .free_n = touch->free_n,
                     .free_t = touch->free_t,
                     .c = {.d = touch->d,
                           .g = {touch->g[0], touch->g[1]},
                           .d_theta_b = touch->d_theta_b,
                           .r_a = touch->r_a,
                           .r_b = touch->r_b,
                           .shared = touch->shared,
                           .feature = touch->feature},
                     .f = {.f_n = touch->f_n,
                           .f_t = touch->f_t,
                           .u_n = touch->u_n,
                           .u_t = touch->u_t,
                           .sliding = touch->sliding != 0,
                           .saturated = touch->saturated != 0}};
    const double t_hat[2] = {-touch->g[1] * touch->inverse, touch->g[0] * touch->inverse};
    write_forces(&slot.c, slot.d_theta_a, t_hat, &slot.f);
    return slot;
}

sim_touch sim_touch_of(const sim_slot *slot) {
    const sim_contact *c = &slot->c;
    const double slope = sqrt(c->g[0] * c->g[0] + c->g[1] * c->g[1]);
    return (sim_touch){.d = c->d,
                       .g = {c->g[0], c->g[1]},
                       .d_theta_b = c->d_theta_b,
                       .r_a = c->r_a,
                       .r_b = c->r_b,
                       .d_theta_a = slot->d_theta_a,
                       .inverse = sim_slot_touches(slot) && !slot->f.saturated ? 1 / slope : 0,
                       .f_n = slot->f.f_n,
                       .f_t = slot->f.f_t,
                       .free_n = slot->free_n,
                       .free_t = slot->free_t,
                       .u_n = slot->f.u_n,
                       .u_t = slot->f.u_t,
                       .shared = c->shared,
                       .feature = c->feature,
                       .sliding = slot->f.sliding,
                       .saturated = slot->f.saturated};
}
