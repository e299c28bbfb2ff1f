/// The contact law for many contacts of one pair of types at once: the arithmetic of sim_slot_apply in columns, so that
/// a compiler makes vectors of it. Private to libsim and its tests.
#ifndef SIM_LAW_H
#define SIM_LAW_H

#include "sim.h"

// Contacts at a time: the columns stay in the first cache.
#define SIM_LAW_ROWS 64
// Below this slope the distance has saturated: its direction means nothing, so there is no friction.
#define SIM_SLOPE_MIN 0.05

/// Motion of a body and what it weighs; a fixed body has inverse mass and inertia 0.
typedef struct sim_body_state {
    double x[2], v[2], omega, inv_mass, inv_inertia;
} sim_body_state;

/// What the contacts of a block have in common.
typedef struct sim_law_bodies {
    sim_contact_law law;
    double inverse_mass[2], inverse_inertia[2]; // of A, B
    double dt;
} sim_law_bodies;

/// Contacts in columns, one row each. Units as in sim_contact, sim_contact_force and sim_touch.
typedef struct sim_law_rows {
    double c[SIM_LAW_ROWS], s[SIM_LAW_ROWS];             // in: cosine and sine of A's angle
    double dx[SIM_LAW_ROWS], dy[SIM_LAW_ROWS];           // in: x_B - x_A
    double vx[SIM_LAW_ROWS], vy[SIM_LAW_ROWS];           // in: v_B - v_A
    double omega_a[SIM_LAW_ROWS], omega_b[SIM_LAW_ROWS]; // in
    double d[SIM_LAW_ROWS], d_theta_b[SIM_LAW_ROWS];     // in
    double r_a[SIM_LAW_ROWS], r_b[SIM_LAW_ROWS];         // in
    double shared[SIM_LAW_ROWS];                         // in
    double g_x[SIM_LAW_ROWS], g_y[SIM_LAW_ROWS];         // in: A's frame; out: world axes
    double spring[SIM_LAW_ROWS];                         // in, out
    double d_theta_a[SIM_LAW_ROWS];
    double slope[SIM_LAW_ROWS], inverse[SIM_LAW_ROWS]; // |g|; 1/|g|, 0 where there is no friction
    double f_n[SIM_LAW_ROWS], f_t[SIM_LAW_ROWS], free_n[SIM_LAW_ROWS], free_t[SIM_LAW_ROWS];
    double u_n[SIM_LAW_ROWS], u_t[SIM_LAW_ROWS];
    double loss[SIM_LAW_ROWS]; // J: what the tangential spring gave up
    double acting[SIM_LAW_ROWS], sliding[SIM_LAW_ROWS], saturated[SIM_LAW_ROWS]; // 0 or 1; acting: touches
} sim_law_rows;

/// Fills the rest of n rows; n <= SIM_LAW_ROWS. Compiled for any x86-64 and for AVX2: the same bits, which are those of
/// sim_slot_apply.
typedef void sim_law_loop(const sim_law_bodies *bodies, int n, sim_law_rows *rows);
sim_law_loop sim__law_baseline, sim__law_avx2;

#endif
