/// Private to libcspace: the two distance fields of a pair at one pose, what the minimiser and the labels are built
/// from.
#ifndef CSPACE_FIELD_H
#define CSPACE_FIELD_H

#include "cspace.h"

enum { CSPACE__SEARCH_COOKIE = 0x5ea2c4 }; // of cspace_search_def

/// A pair at one pose: phi_A(x) and phi_qB(x) = phi_B(R(-theta)(x - t)), both in A's frame and units of L.
typedef struct cspace__field {
    const cspace_pair *pair;     // borrowed
    double c, s;                 // cos, sin of theta
    double t[2];                 // B's centre
    double inverse_a, inverse_b; // 1/scale_a, 1/scale_b
    double cell;                 // the coarser grid spacing of the two, units of L
} cspace__field;

/// Both fields and their gradients at a point.
typedef struct cspace__probe {
    double x[2];
    double a, b;         // phi_A, phi_qB
    double ga[2], gb[2]; // their gradients, A's frame
} cspace__probe;

void cspace__field_init(const cspace_pair *pair, const cspace_pose *pose, cspace__field *field);
double cspace__field_a(const cspace__field *field, double x, double y);
double cspace__field_b(const cspace__field *field, double x, double y);
void cspace__field_probe(const cspace__field *field, double x, double y, cspace__probe *probe);
/// max(phi_A, phi_qB) of a probe: half of E.
double cspace__probe_value(const cspace__probe *probe);
/// Bound K >= 0 on how far the Hessian of phi_A (phi_qB) reaches below zero within `radius` of a point: no eigenvalue
/// is below -K. INFINITY where the disc leaves the grid.
double cspace__field_concavity_a(const cspace__field *field, const double x[2], double radius);
double cspace__field_concavity_b(const cspace__field *field, const double x[2], double radius);

/// Walks from a probe down to the nearby local minimum of max(phi_A, phi_qB), to about 1e-8; never ends higher than it
/// starts.
void cspace__descend(const cspace__field *field, cspace__probe *probe);

/// As cspace_minimise, for finite poses, leaving the probe at the minimiser for the gradient.
void cspace__minimise(const cspace__field *field, const cspace_search_def *def, cspace_minimum *m,
                      cspace__probe *probe);
/// Gradient and moment arms from the probe at the minimiser.
void cspace__contact(const cspace__field *field, const cspace__probe *probe, cspace_contact *contact);

#endif
