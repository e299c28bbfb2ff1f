/// The loops over the rows of a batch: folding, inputs of the nets, chain rule. Equations: libcspace/README.md,
/// "Symmetries and folding"; one pose at a time in cspace_fold.c and cspace_encode.c, against which these are tested.
/// Choices are selections between numbers, so that a compiler makes vectors of the loops; compiled for any x86-64 and
/// for AVX2 under the names of cspace_batch.h.
#include "cspace_batch.h"

#include <math.h>

#ifndef CSPACE_BATCH_OPS
#define CSPACE_BATCH_OPS cspace__batch_baseline
#endif

// Adding and subtracting it rounds a double below 2^51 to the nearest whole number.
static const double ROUNDER = 0x1.8p52;

// What a rotation order does to a bearing, in numbers: 1 if quarter turns, half turns are symmetries, else 0; steps of
// a half turn.
typedef struct cell {
    double quarter, half, steps;
} cell;

// Conjugate of the turn (cos, sin) that brings the bearing of (x, y) into the cell; returns its number of steps.
static inline double turn_into_cell(const cell *by, double x, double y, double *turn_x, double *turn_y) {
    const double side_x = by->half * x < 0.0 ? -1.0 : 1.0, side_y = y < 0.0 ? 1.0 : -1.0;
    const double steep = fabs(x) < by->quarter * fabs(y) ? 1.0 : 0.0;
    *turn_x = (1.0 - steep) * side_x;
    *turn_y = steep * side_y;
    const double steps = side_x < 0.0 ? by->steps : 0.0;
    return steep > 0.0 ? -side_y : steps;
}

static void fold_rows(const cspace_fold *fold, int n, cspace_batch *b) {
    const int order = fold->order_a;
    const cell by = {order == 4 ? 1.0 : 0.0, order > 1 ? 1.0 : 0.0, 0.5 * order};
    const double step = 2.0 * CORE_PI / order, ax = fold->axis_a[0], ay = fold->axis_a[1];
    const double end_x = fold->edge[0][0], end_y = fold->edge[0][1], width = fold->blend_width, limit = fold->limit[0];
    for (int i = 0; i < n; i++) {
        const double c = b->c[i], s = b->s[i], tx = b->x[i], ty = b->y[i];
        // bearings of B's centre seen by A and of A's seen by B, from the cells' centres; B's frame is turned by f
        const double fx = ax * c - ay * s, fy = ax * s + ay * c;
        const double ux = ax * tx + ay * ty, uy = ax * ty - ay * tx;
        const double vx = -(fx * tx + fy * ty), vy = fy * tx - fx * ty;
        double tax, tay, tbx, tby;
        const double steps_a = turn_into_cell(&by, ux, uy, &tax, &tay);
        const double steps_b = turn_into_cell(&by, vx, vy, &tbx, &tby);
        const double pux = tax * ux - tay * uy, puy = tax * uy + tay * ux;
        const double pvx = tbx * vx - tby * vy, pvy = tbx * vy + tby * vx;
        // the angle between the turned frames
        const double dx = tax * tbx + tay * tby, dy = tay * tbx - tax * tby;
        const double ex = dx * c - dy * s, ey = dx * s + dy * c;
        // exchange, then mirror
        const double swap = pvx < pux ? -1.0 : 1.0;
        const double qx = pvx < pux ? pvx : pux, qy = pvx < pux ? pvy : puy;
        const double flip = qy < 0.0 ? -1.0 : 1.0, sign = swap * flip;
        b->theta[i] = sign * (b->theta[i] + step * (steps_b - steps_a));
        b->c[i] = ex, b->s[i] = sign * ey;
        b->x[i] = qx, b->y[i] = flip * qy;
        b->turn_x[i] = swap < 0.0 ? tbx : tax, b->turn_y[i] = flip * (swap < 0.0 ? tby : tay);
        b->frame_x[i] = swap < 0.0 ? -fx : ax, b->frame_y[i] = swap < 0.0 ? -fy : ay;
        b->lever_x[i] = swap < 0.0 ? vx : 0.0, b->lever_y[i] = swap < 0.0 ? vy : 0.0;
        b->mirror[i] = flip, b->exchange[i] = swap;
        // the strip inside the glued face
        const double r = sqrt(qx * qx + qy * qy), narrow = limit * r;
        const double distance = qx * end_y - flip * qy * end_x, ahead = qx * end_x + flip * qy * end_y;
        const double inside = distance / (narrow < width ? narrow : width);
        b->at[i] = width * ahead > 0.0 ? inside : 2.0;
    }
}

// Distance from the nearest angle of parallel faces and its derivative.
static void encode_kinks(const cspace_fold *fold, int n, cspace_batch *b) {
    double nearest[CSPACE_BATCH_ROWS];
    for (int i = 0; i < n; i++) nearest[i] = CORE_PI, b->kink_slope[i] = 0.0;
    for (int k = 0; k < fold->count_kinks; k++) {
        const double kink = fold->kinks[k];
        for (int i = 0; i < n; i++) {
            const double off = b->theta[i] - kink;
            const double turns = (off * (1.0 / (2.0 * CORE_PI)) + ROUNDER) - ROUNDER;
            const double wrapped = off - turns * (2.0 * CORE_PI), size = fabs(wrapped), old = nearest[i];
            const double side = wrapped < 0.0 ? -1.0 : 1.0;
            b->kink_slope[i] = size < old ? side : b->kink_slope[i];
            nearest[i] = size < old ? size : old;
        }
    }
    for (int i = 0; i < n; i++) b->input[6][i] = (float)nearest[i];
}

static void encode_rows(const cspace_fold *fold, int n, cspace_batch *b) {
    for (int i = 0; i < n; i++) {
        const double c = b->c[i], s = b->s[i], x = b->x[i], y = b->y[i];
        const double w_x = c * x + s * y, w_y = c * y - s * x;
        b->w_x[i] = w_x, b->w_y[i] = w_y;
        b->input[0][i] = (float)c, b->input[1][i] = (float)s;
        b->input[2][i] = (float)x, b->input[3][i] = (float)y;
        b->input[4][i] = (float)w_x, b->input[5][i] = (float)w_y;
    }
    if (fold->count_kinks > 0) encode_kinks(fold, n, b);
}

static void chain_rows(const cspace_fold *fold, int n, cspace_batch *b) {
    for (int i = 0; i < n; i++) {
        const double c = b->c[i], s = b->s[i], g4 = (double)b->gradient[4][i], g5 = (double)b->gradient[5][i];
        b->slope_theta[i] =
            c * (double)b->gradient[1][i] - s * (double)b->gradient[0][i] + (b->w_y[i] * g4 - b->w_x[i] * g5);
        b->slope_x[i] = (double)b->gradient[2][i] + (c * g4 - s * g5);
        b->slope_y[i] = (double)b->gradient[3][i] + (s * g4 + c * g5);
    }
    if (fold->count_kinks > 0) {
        for (int i = 0; i < n; i++) b->slope_theta[i] += b->kink_slope[i] * (double)b->gradient[6][i];
    }
    for (int i = 0; i < n; i++) {
        const double tx = b->turn_x[i], ty = b->turn_y[i], fx = b->frame_x[i], fy = b->frame_y[i], flip = b->mirror[i];
        const double gx = tx * b->slope_x[i] + ty * b->slope_y[i];
        const double gy = flip * (tx * b->slope_y[i] - ty * b->slope_x[i]);
        b->asked_theta[i] = flip * b->exchange[i] * b->slope_theta[i] + (gx * b->lever_y[i] - gy * b->lever_x[i]);
        b->asked_x[i] = fx * gx - fy * gy;
        b->asked_y[i] = fx * gy + fy * gx;
    }
}

static void encode_normals(int n, int first, cspace_batch *b) {
    float(*input)[CSPACE_BATCH_ROWS] = b->input + first;
    for (int i = 0; i < n; i++) {
        const double gx = b->slope_x[i], gy = b->slope_y[i], length = sqrt(gx * gx + gy * gy);
        const double inverse = 1.0 / (length > 0.0 ? length : (double)INFINITY);
        const double nx = gx * inverse, ny = gy * inverse, turn = b->slope_theta[i] * inverse;
        const double c = b->c[i], s = b->s[i], x = b->x[i], y = b->y[i];
        input[0][i] = (float)nx, input[1][i] = (float)ny;
        input[2][i] = (float)(c * nx + s * ny), input[3][i] = (float)(c * ny - s * nx);
        input[4][i] = (float)turn, input[5][i] = (float)(turn + (x * ny - y * nx));
        input[6][i] = (float)(x * nx + y * ny);
    }
}

const cspace_batch_ops CSPACE_BATCH_OPS = {fold_rows, encode_rows, chain_rows, encode_normals};
