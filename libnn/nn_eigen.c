/// Orthogonal bases of small symmetric matrices in double, row-major: own code, so that bits depend on nothing but the
/// operations written here (LAPACK's depend on its blocking). Inner loops run along rows.
#include "nn_private.h"

#include <math.h>

enum { SWEEPS_MAX = 30 };

static void set_identity(int n, double *q) {
    for (int i = 0; i < n * n; i++) q[i] = i / n == i % n;
}

/// Rotates rows p and q of m (n columns) by the angle whose cosine and sine are c and s.
static void rotate_rows(int n, double *m, int p, int q, double c, double s) {
    double *restrict a = m + p * n, *restrict b = m + q * n;
    for (int i = 0; i < n; i++) {
        double u = a[i], v = b[i];
        a[i] = c * u - s * v;
        b[i] = s * u + c * v;
    }
}

/// The same for columns.
static void rotate_columns(int n, double *m, int p, int q, double c, double s) {
    for (int i = 0; i < n; i++) {
        double u = m[i * n + p], v = m[i * n + q];
        m[i * n + p] = c * u - s * v;
        m[i * n + q] = s * u + c * v;
    }
}

/// Cyclic Jacobi: a rotation in the plane (p, q) makes a[p][q] zero; its tangent t is the smaller root of
/// t^2 + 2 theta t - 1 = 0, theta = (a_qq - a_pp) / (2 a_pq).
void nn__eigenbasis(int n, double *a, double *basis) {
    set_identity(n, basis);
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        int count = 0;
        for (int p = 0; p < n - 1; p++) {
            for (int q = p + 1; q < n; q++) {
                double off = a[p * n + q], scale = sqrt(fabs(a[p * n + p] * a[q * n + q]));
                if (!(fabs(off) > 1e-15 * scale) || !(fabs(off) > 1e-300)) continue;
                double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1);
                rotate_rows(n, a, p, q, c, t * c);
                rotate_columns(n, a, p, q, c, t * c);
                rotate_columns(n, basis, p, q, c, t * c);
                count++;
            }
        }
        if (count == 0) break;
    }
}

/// Householder: H_k = 1 - beta v v^T turns column k of the rest into a multiple of the first unit vector; Q = H_0 H_1
/// ... Works for any rank: a column of zeros is left alone. v is kept below the diagonal of a.
void nn__orthonormalise(int n, double *a, double *basis, double *row) {
    double *beta = row + n;
    for (int k = 0; k < n; k++) {
        double square = 0;
        for (int i = k; i < n; i++) square += a[i * n + k] * a[i * n + k];
        double head = a[k * n + k], norm = sqrt(square), v0 = head + (head < 0 ? -norm : norm);
        beta[k] = 0;
        if (!(norm > 0)) continue;
        beta[k] = v0 / (head < 0 ? -norm : norm);              // 2 v0^2 / v.v
        for (int i = k + 1; i < n; i++) a[i * n + k] /= v0;    // v / v0, its first element is 1
        for (int j = k + 1; j < n; j++) row[j] = a[k * n + j]; // v^T a
        for (int i = k + 1; i < n; i++) {
            for (int j = k + 1; j < n; j++) row[j] += a[i * n + k] * a[i * n + j];
        }
        for (int j = k + 1; j < n; j++) a[k * n + j] -= beta[k] * row[j];
        for (int i = k + 1; i < n; i++) {
            double factor = beta[k] * a[i * n + k];
            for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * row[j];
        }
    }
    set_identity(n, basis);
    for (int k = n - 1; k >= 0; k--) { // basis = H_k basis
        for (int j = k; j < n; j++) row[j] = basis[k * n + j];
        for (int i = k + 1; i < n; i++) {
            for (int j = k; j < n; j++) row[j] += a[i * n + k] * basis[i * n + j];
        }
        for (int j = k; j < n; j++) basis[k * n + j] -= beta[k] * row[j];
        for (int i = k + 1; i < n; i++) {
            double factor = beta[k] * a[i * n + k];
            for (int j = k; j < n; j++) basis[i * n + j] -= factor * row[j];
        }
    }
}
