// Folding of poses by the symmetries of both shapes, and the exchange of A and B. Equations, the choice of the cells
// and where their seams lie: libcspace/README.md, "Symmetries and folding".
#include "cspace.h"

#include <math.h>

#define ORDER_MAX 128

// cos and sin of k turns of 2 pi/order; exact for quarter turns, so that images under these are exact to the bit.
static void turn(int k, int order, double *c, double *s) {
    static const double cos_quarter[4] = {1.0, 0.0, -1.0, 0.0}, sin_quarter[4] = {0.0, 1.0, 0.0, -1.0};
    if (k == 0) {
        *c = 1.0, *s = 0.0;
        return;
    }
    if ((4 * k) % order == 0) {
        const int quarter = ((4 * k) / order) & 3;
        *c = cos_quarter[quarter], *s = sin_quarter[quarter];
        return;
    }
    core_sincos(k * (2.0 * CORE_PI / order), s, c);
}

// As core_sincos, exact at multiples of pi/2.
static void axis_direction(double angle, double axis[2]) {
    const double quarters = floor(angle / (0.5 * CORE_PI) + 0.5);
    if (fabs(angle - quarters * (0.5 * CORE_PI)) < 1e-15) {
        turn((int)quarters, 4, &axis[0], &axis[1]);
        return;
    }
    core_sincos(angle, &axis[1], &axis[0]);
}

// Turns of 2 pi/order to take off the bearing of u so that |bearing| <= pi/order. Small orders need no arc tangent.
static int count_turns(int order, const double u[2]) {
    switch (order) {
    case 1:
        return 0;
    case 2:
        return u[0] < 0.0 ? 1 : 0;
    case 4:
        if (fabs(u[1]) <= fabs(u[0])) return u[0] < 0.0 ? 2 : 0;
        return u[1] < 0.0 ? -1 : 1;
    default:
        break;
    }
    const double turns = floor(core_atan2(u[1], u[0]) * (order / (2.0 * CORE_PI)) + 0.5);
    return turns >= -order ? (int)turns : 0; // NaN: 0
}

// R(-angle) u for a direction (cos, sin).
static void rotate_back(double c, double s, double u[2]) {
    const double x = c * u[0] + s * u[1];
    u[1] = c * u[1] - s * u[0];
    u[0] = x;
}

// order_a alpha + order_b beta < 0 for the bearings alpha of u and beta of v in their cells.
static bool is_lower_half(const cspace_fold *fold, const double u[2], const double v[2]) {
    if (fold->order_a != fold->order_b)
        return fold->order_a * core_atan2(u[1], u[0]) + fold->order_b * core_atan2(v[1], v[0]) < 0.0;
    // Equal orders: the sign of alpha + beta. Bearings of one sign decide at once; otherwise |alpha + beta| <= pi and
    // the product u v of complex numbers has that bearing.
    if (u[1] >= 0.0 && v[1] >= 0.0) return false;
    if (u[1] < 0.0 && v[1] < 0.0) return true;
    return u[0] * v[1] + u[1] * v[0] < 0.0;
}

// Largest extent of the outline along a direction.
static double support(const core_outline *o, const double direction[2]) {
    double largest = -INFINITY;
    for (int i = 0; i < core_outline_count(o); i++)
        largest = fmax(largest, o->xy[2 * i] * direction[0] + o->xy[2 * i + 1] * direction[1]);
    return largest;
}

// Centre of the cells: of the two axis directions that rotations do not map to each other, the one along which the
// shape is shorter: flat faces lie nearer to the centroid than tips. 0 without a mirror.
static double choose_origin(const sdf_shape *shape, const cspace_symmetry *symmetry) {
    if (isnan(symmetry->mirror)) return 0.0;
    const double other = symmetry->mirror + CORE_PI / symmetry->order;
    double here[2], there[2];
    axis_direction(symmetry->mirror, here);
    axis_direction(other, there);
    const double length_here = support(&shape->outline, here), length_there = support(&shape->outline, there);
    return length_there < length_here - CSPACE_SYMMETRY_TOLERANCE ? other : symmetry->mirror;
}

// An axis through a cell's centre: the stored one, turned by whole half-steps.
static bool is_axis(double origin, double mirror, int order) {
    const double steps = (origin - mirror) * order / CORE_PI;
    return fabs(steps - floor(steps + 0.5)) < 1e-6;
}

core_status cspace_fold_prepare(cspace_fold *fold, core_error *err) {
    CORE_CHECK(fold, CORE_ARG, "cspace_fold_prepare: null argument");
    CORE_CHECK(fold->order_a >= 1 && fold->order_a <= ORDER_MAX && fold->order_b >= 1 && fold->order_b <= ORDER_MAX,
               CORE_RANGE, "fold: rotation orders %d and %d, expected 1 to %d", fold->order_a, fold->order_b,
               ORDER_MAX);
    const double angles[4] = {fold->mirror_a, fold->mirror_b, fold->origin_a, fold->origin_b};
    for (int i = 0; i < 4; i++) {
        CORE_CHECK(!isinf(angles[i]) && (i < 2 || !isnan(angles[i])), CORE_NONFINITE,
                   "fold: an angle of a mirror or origin is not finite");
        CORE_CHECK(!(fabs(angles[i]) > 2.0 * CORE_PI), CORE_RANGE,
                   "fold: angle %g of a mirror or origin, expected within +-2 pi", angles[i]);
    }
    CORE_CHECK(!fold->swap, CORE_UNSUPPORTED, "fold: swap is set; this version knows folds without it");
    CORE_CHECK(fold->blend_width == 0.0, CORE_UNSUPPORTED, "fold: blend_width %g; this version knows 0 alone",
               fold->blend_width);
    fold->mirror = !isnan(fold->mirror_a) && !isnan(fold->mirror_b);
    CORE_CHECK(!fold->mirror || (is_axis(fold->origin_a, fold->mirror_a, fold->order_a) &&
                                 is_axis(fold->origin_b, fold->mirror_b, fold->order_b)),
               CORE_RANGE, "fold: origins %g, %g, expected mirror axes (%g, %g plus multiples of pi/%d, pi/%d)",
               fold->origin_a, fold->origin_b, fold->mirror_a, fold->mirror_b, fold->order_a, fold->order_b);
    fold->identity = fold->order_a == 1 && fold->order_b == 1 && !fold->mirror;
    axis_direction(fold->origin_a, fold->axis_a);
    axis_direction(fold->origin_b, fold->axis_b);
    // Reflection in A's axis at origin_a: cos and sin of the doubled angle.
    fold->reflection[0] = fold->axis_a[0] * fold->axis_a[0] - fold->axis_a[1] * fold->axis_a[1];
    fold->reflection[1] = 2.0 * fold->axis_a[0] * fold->axis_a[1];
    return CORE_OK;
}

cspace_fold cspace_fold_make(const sdf_shape *a, const sdf_shape *b, bool on) {
    cspace_fold fold = {.order_a = 1, .order_b = 1, .mirror_a = NAN, .mirror_b = NAN};
    if (on) {
        const cspace_symmetry of_a = cspace_symmetry_find(&a->outline, CSPACE_SYMMETRY_TOLERANCE);
        const cspace_symmetry of_b = cspace_symmetry_find(&b->outline, CSPACE_SYMMETRY_TOLERANCE);
        fold.order_a = of_a.order, fold.order_b = of_b.order;
        fold.mirror_a = of_a.mirror, fold.mirror_b = of_b.mirror;
        fold.origin_a = choose_origin(a, &of_a), fold.origin_b = choose_origin(b, &of_b);
    }
    (void)cspace_fold_prepare(&fold, NULL); // every value above is in range
    return fold;
}

void cspace_fold_apply(const cspace_fold *fold, const cspace_pose *pose, cspace_folded *folded) {
    folded->pose = *pose;
    folded->c = 1.0, folded->s = 0.0;
    folded->m[0] = fold->reflection[0], folded->m[1] = fold->reflection[1], folded->m[2] = -fold->reflection[0];
    folded->mirrored = false;
    if (fold->identity) return;

    // u = t from A's cell centre; v = A's centre seen by B = -R(-theta) t, from B's cell centre.
    double s, c;
    core_sincos(pose->theta, &s, &c);
    double u[2] = {pose->x, pose->y};
    double v[2] = {-(c * pose->x + s * pose->y), s * pose->x - c * pose->y};
    rotate_back(fold->axis_a[0], fold->axis_a[1], u);
    rotate_back(fold->axis_b[0], fold->axis_b[1], v);

    // Rotations, each shape by its own.
    const int k_a = count_turns(fold->order_a, u), k_b = count_turns(fold->order_b, v);
    turn(k_a, fold->order_a, &folded->c, &folded->s);
    double t[2] = {pose->x, pose->y};
    rotate_back(folded->c, folded->s, t);
    double theta = pose->theta - k_a * (2.0 * CORE_PI / fold->order_a) + k_b * (2.0 * CORE_PI / fold->order_b);

    // Mirror: the point inversion of both bearings.
    if (fold->mirror) {
        double c_b, s_b;
        turn(k_b, fold->order_b, &c_b, &s_b);
        rotate_back(folded->c, folded->s, u);
        rotate_back(c_b, s_b, v);
        folded->mirrored = is_lower_half(fold, u, v);
    }
    if (folded->mirrored) {
        theta = 2.0 * (fold->origin_a - fold->origin_b) - theta;
        const double x = folded->m[0] * t[0] + folded->m[1] * t[1];
        t[1] = folded->m[1] * t[0] + folded->m[2] * t[1];
        t[0] = x;
    }
    folded->pose = (cspace_pose){theta, t[0], t[1]};
}

static void mirror_answer(const cspace_folded *folded, cspace_contact *contact) {
    if (!folded->mirrored) return;
    const double x = folded->m[0] * contact->g[0] + folded->m[1] * contact->g[1];
    contact->g[1] = folded->m[1] * contact->g[0] + folded->m[2] * contact->g[1];
    contact->g[0] = x;
    contact->d_theta = -contact->d_theta;
}

void cspace_fold_return(const cspace_folded *folded, cspace_contact *contact) {
    mirror_answer(folded, contact);
    rotate_back(folded->c, -folded->s, contact->g);
}

void cspace_fold_label(const cspace_folded *folded, cspace_contact *contact) {
    rotate_back(folded->c, folded->s, contact->g);
    mirror_answer(folded, contact);
}

cspace_pose cspace_swap_pose(const cspace_pose *pose) {
    double s, c;
    core_sincos(pose->theta, &s, &c);
    return (cspace_pose){-pose->theta, -(c * pose->x + s * pose->y), s * pose->x - c * pose->y};
}

void cspace_swap_return(const cspace_pose *pose, cspace_contact *contact) {
    const cspace_pose swapped = cspace_swap_pose(pose);
    double s, c;
    core_sincos(pose->theta, &s, &c);
    const double g[2] = {contact->g[0], contact->g[1]}, r_a = contact->r_a;
    contact->d_theta = -contact->d_theta - (swapped.x * g[1] - swapped.y * g[0]);
    contact->g[0] = -(c * g[0] - s * g[1]);
    contact->g[1] = -(s * g[0] + c * g[1]);
    contact->r_a = -contact->r_b;
    contact->r_b = -r_a;
}
