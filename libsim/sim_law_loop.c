/// The contact law of README.md, sections 1 and 2, over columns. Choices are selections between numbers, so that a
/// compiler makes vectors of the loops; compiled for any x86-64 and for AVX2 under the names of sim_law.h. One contact
/// at a time in sim_contact.c, against which this is tested.
#include "sim_law.h"

#include <math.h>

#ifndef SIM_LAW_LOOP
#define SIM_LAW_LOOP sim__law_baseline
#endif

// Damping coefficient of the whole stiffness: the given one, or 2 zeta sqrt(k m_eff).
typedef struct damper {
    double given, factor, stiffness; // given: below 0 if the damping ratio has the word
} damper;

static inline double damping(const damper *by, double inverse_mass) {
    const double ratio = inverse_mass > 0 ? by->factor * sqrt(by->stiffness / inverse_mass) : 0;
    return by->given >= 0 ? by->given : ratio;
}

// World axes, rates and directions.
static void find_rates(int n, sim_law_rows *r) {
    for (int i = 0; i < n; ++i) {
        const double g_x = r->c[i] * r->g_x[i] - r->s[i] * r->g_y[i], g_y = r->s[i] * r->g_x[i] + r->c[i] * r->g_y[i];
        const double d_theta_a = -r->d_theta_b[i] - (r->dx[i] * g_y - r->dy[i] * g_x);
        const double slope = sqrt(g_x * g_x + g_y * g_y), inverse = 1 / slope;
        const double u_t =
            (g_x * r->vy[i] - g_y * r->vx[i]) * inverse + r->r_b[i] * r->omega_b[i] - r->r_a[i] * r->omega_a[i];
        r->g_x[i] = g_x, r->g_y[i] = g_y;
        r->d_theta_a[i] = d_theta_a;
        r->slope[i] = slope;
        r->inverse[i] = inverse;
        r->u_n[i] = g_x * r->vx[i] + g_y * r->vy[i] + r->d_theta_b[i] * r->omega_b[i] + d_theta_a * r->omega_a[i];
        r->u_t[i] = slope < SIM_SLOPE_MIN ? 0 : u_t;
        // 1 while the contact acts, and while it has a direction for friction
        const double touches = r->d[i] >= 0 ? 0 : 1;
        r->acting[i] = touches;
        r->saturated[i] = slope < SIM_SLOPE_MIN ? touches : 0;
    }
}

// Along the raw gradient; no tension.
static void push(const sim_law_bodies *bodies, int n, sim_law_rows *r) {
    const sim_contact_law *law = &bodies->law;
    const damper by = {isnan(law->gamma_n) ? -1 : law->gamma_n, 2 * law->zeta, law->kn};
    const double mass = bodies->inverse_mass[0] + bodies->inverse_mass[1], whole = law->kn;
    const double turn_a = bodies->inverse_inertia[0], turn_b = bodies->inverse_inertia[1];
    for (int i = 0; i < n; ++i) {
        const double slope2 = r->g_x[i] * r->g_x[i] + r->g_y[i] * r->g_y[i], share = 1 - r->shared[i];
        const double inverse_mass =
            slope2 * mass + r->d_theta_a[i] * r->d_theta_a[i] * turn_a + r->d_theta_b[i] * r->d_theta_b[i] * turn_b;
        const double kn = share * whole, gamma = share * damping(&by, inverse_mass);
        const double force = -kn * r->d[i] - gamma * r->u_n[i], pushing = force < 0 ? 0 : force;
        r->f_n[i] = r->acting[i] > 0 ? pushing : 0;
        r->free_n[i] = r->acting[i] > 0 ? pushing + kn * r->d[i] : 0;
    }
}

// Spring and dashpot along the tangent, cut by Coulomb's law; contacts without friction drop their spring.
static void rub(const sim_law_bodies *bodies, int n, sim_law_rows *r) {
    const sim_contact_law *law = &bodies->law;
    const damper by = {isnan(law->gamma_t) ? -1 : law->gamma_t, 2 * law->zeta, law->kt};
    const double mass = bodies->inverse_mass[0] + bodies->inverse_mass[1], whole = law->kt, mu = law->mu;
    const double turn_a = bodies->inverse_inertia[0], turn_b = bodies->inverse_inertia[1], dt = bodies->dt;
    for (int i = 0; i < n; ++i) {
        const double share = 1 - r->shared[i], root = sqrt(share), kt = whole * root, before = r->spring[i];
        const double inverse_mass = mass + r->r_a[i] * r->r_a[i] * turn_a + r->r_b[i] * r->r_b[i] * turn_b;
        const double gamma = share * damping(&by, inverse_mass), limit = mu * r->f_n[i] * r->slope[i];
        const double advanced = before + r->u_t[i] * dt * root, held = -kt * advanced - gamma * r->u_t[i];
        const double dashpot = -gamma * r->u_t[i], cut = held < 0 ? -limit : limit, slides = fabs(held) > limit ? 1 : 0;
        const double force = slides > 0 ? cut : held;
        // a cut spring gets the length that gives the cut force
        const double left = -(force + gamma * r->u_t[i]) / kt, cut_spring = kt > 0 ? left : advanced;
        const double kept = slides > 0 ? cut_spring : advanced;
        const double rubs = r->acting[i] - r->saturated[i];
        r->f_t[i] = rubs > 0 ? force : 0;
        r->free_t[i] = rubs > slides ? dashpot : 0;
        r->sliding[i] = rubs > 0 ? slides : 0;
        r->spring[i] = rubs > 0 ? kept : 0;
        r->inverse[i] = rubs > 0 ? r->inverse[i] : 0;
        r->loss[i] = rubs > 0 ? 0.5 * whole * (before * before - kept * kept) : 0.5 * whole * before * before;
    }
}

void SIM_LAW_LOOP(const sim_law_bodies *bodies, int n, sim_law_rows *rows) {
    find_rates(n, rows);
    push(bodies, n, rows);
    rub(bodies, n, rows);
}
