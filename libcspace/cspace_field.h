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
/// Value and gradient of one field.
double cspace__field_a(const cspace__field *field, const double x[2], double grad[2]);
double cspace__field_b(const cspace__field *field, const double x[2], double grad[2]);
void cspace__field_probe(const cspace__field *field, double x, double y, cspace__probe *probe);
/// The same at SDF_LANES points, to the same bits; probe[i].x is set before.
void cspace__field_probes(const cspace__field *field, cspace__probe probe[SDF_LANES]);
/// max(phi_A, phi_qB) of a probe: half of E.
double cspace__probe_value(const cspace__probe *probe);
/// sdf_grid_sag of phi_A and phi_qB: slopes by which they can fall below their tangent planes within a disc.
void cspace__field_sag(const cspace__field *field, const double x[2], double radius, double sag[2]);
/// Radius of a disc around x in which both are convex, as far as is known.
double cspace__field_convex(const cspace__field *field, const double x[2]);

/// sdf_grid_pieces of both at a point inside both: half of `most` for each.
int cspace__field_pieces(const cspace__field *field, const double x[2], double within, int most, sdf_piece *pieces);

/// Walks from a probe down to the nearby local minimum of max(phi_A, phi_qB), to about 1e-8; never ends higher than it
/// starts. True if it ends at a minimum of both fields' ridge: where they are convex, no other one is near.
bool cspace__descend(const cspace__field *field, cspace__probe *probe);

/// By how many smoothing widths a smoothed distance may differ from the plain one: the poses of the kernel lie sqrt(3)
/// widths away, and no lever arm exceeds L.
#define CSPACE__KERNEL_REACH 1.8
/// Steps of the six poses of the smoothing kernel: sqrt(3) sigma.
double cspace__kernel_step(double sigma);
/// The pose numbered 0 .. 5: axis k/2 of (L theta, x, y), minus first.
cspace_pose cspace__kernel_pose(const cspace_pose *pose, double sigma, int k);
/// Mean of d and of the arms' mean over the contacts at the six poses, gradient by central differences; unit normal
/// from it, arms by r_a - r_b = t.n.
void cspace__kernel_mean(const cspace_pose *pose, double sigma, const cspace_contact side[6], cspace_contact *contact);

/// As cspace_minimise, for finite poses, leaving the probe at the minimiser for the gradient.
void cspace__minimise(const cspace__field *field, const cspace_search_def *def, cspace_minimum *m,
                      cspace__probe *probe);
/// Gradient and moment arms from the probe at the minimiser.
void cspace__contact(const cspace__field *field, const cspace__probe *probe, cspace_contact *contact);

#endif
