// Which fold a pair of shapes gets: orders, mirrors, centres of the cells, exchange; parallel faces. Also the exchange
// of A and B by itself. Rules: libcspace/README.md, "Symmetries and folding".
#include "cspace.h"
#include "cspace_fold.h"

#include <math.h>

#define ORDER_MAX 128
// A strip reaches at most this part of the way across a cell (sines of bearings). Widened by CSPACE_FOLD_REACH, strips
// at opposite faces stay apart.
#define STRIP_LIMIT 0.25
// An edge at least this long, in circumradii of its shape, is a face.
#define FACE_LENGTH 0.25
// Angles nearer to each other than this are one.
#define FACE_TOLERANCE 1e-3
#define NORMALS_MAX 64

void cspace__turn(int turns, int order, double angle[2]) {
    static const double cos_quarter[4] = {1.0, 0.0, -1.0, 0.0}, sin_quarter[4] = {0.0, 1.0, 0.0, -1.0};
    if ((4 * turns) % order == 0) {
        const int quarter = ((4 * turns) / order) & 3;
        angle[0] = cos_quarter[quarter], angle[1] = sin_quarter[quarter];
        return;
    }
    core_sincos(turns * (2.0 * CORE_PI / order), &angle[1], &angle[0]);
}

// Small orders need no arc tangent.
int cspace__count_turns(int order, const double u[2]) {
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

// As core_sincos, exact at multiples of pi/2.
static void axis_direction(double angle, double axis[2]) {
    const double quarters = floor(angle / (0.5 * CORE_PI) + 0.5);
    if (fabs(angle - quarters * (0.5 * CORE_PI)) < 1e-15)
        cspace__turn((int)quarters, 4, axis);
    else
        core_sincos(angle, &axis[1], &axis[0]);
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

// ---------------------------------------------------------------------------------------------- parallel faces

// Puts an angle into a list unless it is there. False: no room.
static bool add_angle(double angle, int most, double *angles, int *count) {
    for (int i = 0; i < *count; i++)
        if (fabs(core_wrap_angle(angle - angles[i])) < FACE_TOLERANCE) return true;
    if (*count == most) return false;
    angles[(*count)++] = core_wrap_angle(angle);
    return true;
}

// Outward normals of the faces of a shape, as angles. False: more than there is room for.
static bool face_normals(const sdf_shape *shape, double *angles, int *count) {
    const core_outline *o = &shape->outline;
    *count = 0;
    for (int ring = 0; ring < o->count_rings; ring++) {
        const int start = o->ring_start[ring], n = o->ring_start[ring + 1] - start;
        for (int i = 0; i < n; i++) {
            const double *p = o->xy + 2 * (start + i), *q = o->xy + 2 * (start + (i + 1) % n);
            const double x = q[0] - p[0], y = q[1] - p[1]; // the region lies to the left
            if (x * x + y * y < FACE_LENGTH * FACE_LENGTH) continue;
            if (!add_angle(core_atan2(-x, y), NORMALS_MAX, angles, count)) return false;
        }
    }
    return true;
}

// Angles theta at which a face of A and one of B look at each other. None if there are more than a net can learn from.
static void find_kinks(const sdf_shape *a, const sdf_shape *b, cspace_fold *fold) {
    double normals_a[NORMALS_MAX], normals_b[NORMALS_MAX];
    int count_a, count_b;
    if (!face_normals(a, normals_a, &count_a) || !face_normals(b, normals_b, &count_b)) return;
    for (int i = 0; i < count_a; i++)
        for (int k = 0; k < count_b; k++) {
            const double theta = normals_a[i] + CORE_PI - normals_b[k] - fold->origin_a + fold->origin_b;
            if (add_angle(theta, CSPACE_KINKS_MAX, fold->kinks, &fold->count_kinks)) continue;
            fold->count_kinks = 0;
            return;
        }
}

double cspace_fold_kink(const cspace_fold *fold, double theta, double *slope) {
    const double wrapped = core_wrap_angle(theta);
    double nearest = CORE_PI;
    *slope = 0.0;
    for (int i = 0; i < fold->count_kinks; i++) {
        double off = wrapped - fold->kinks[i];
        if (off > CORE_PI) off -= 2.0 * CORE_PI;
        if (off < -CORE_PI) off += 2.0 * CORE_PI;
        if (fabs(off) < nearest) nearest = fabs(off), *slope = off < 0.0 ? -1.0 : 1.0;
    }
    return nearest;
}

// ---------------------------------------------------------------------------------------------- folds

static core_status check_angles(const cspace_fold *fold, core_error *err) {
    const double angles[4] = {fold->mirror_a, fold->mirror_b, fold->origin_a, fold->origin_b};
    for (int i = 0; i < 4; i++) {
        CORE_CHECK(!isinf(angles[i]) && (i < 2 || !isnan(angles[i])), CORE_NONFINITE,
                   "fold: an angle of a mirror or origin is not finite");
        CORE_CHECK(!(fabs(angles[i]) > 2.0 * CORE_PI), CORE_RANGE,
                   "fold: angle %g of a mirror or origin, expected within +-2 pi", angles[i]);
    }
    CORE_CHECK(fold->count_kinks >= 0 && fold->count_kinks <= CSPACE_KINKS_MAX, CORE_RANGE,
               "fold: %d angles of parallel faces, expected at most %d", fold->count_kinks, CSPACE_KINKS_MAX);
    for (int i = 0; i < fold->count_kinks; i++)
        CORE_CHECK(fabs(fold->kinks[i]) <= CORE_PI, CORE_RANGE, "fold: parallel faces at %g, expected within +-pi",
                   fold->kinks[i]);
    return CORE_OK;
}

core_status cspace_fold_prepare(cspace_fold *fold, core_error *err) {
    CORE_CHECK(fold, CORE_ARG, "cspace_fold_prepare: null argument");
    CORE_CHECK(fold->order_a >= 1 && fold->order_a <= ORDER_MAX && fold->order_b >= 1 && fold->order_b <= ORDER_MAX,
               CORE_RANGE, "fold: rotation orders %d and %d, expected 1 to %d", fold->order_a, fold->order_b,
               ORDER_MAX);
    CORE_TRY(check_angles(fold, err));
    CORE_CHECK(fold->blend_width >= 0.0 && fold->blend_width <= 1.0, CORE_RANGE,
               "fold: blend_width %g, expected 0 to 1", fold->blend_width);
    fold->mirror = !isnan(fold->mirror_a) && !isnan(fold->mirror_b);
    CORE_CHECK(!fold->mirror || (is_axis(fold->origin_a, fold->mirror_a, fold->order_a) &&
                                 is_axis(fold->origin_b, fold->mirror_b, fold->order_b)),
               CORE_RANGE, "fold: origins %g, %g, expected mirror axes (%g, %g plus multiples of pi/%d, pi/%d)",
               fold->origin_a, fold->origin_b, fold->mirror_a, fold->mirror_b, fold->order_a, fold->order_b);
    CORE_CHECK(!fold->swap || (fold->order_a == fold->order_b && fold->origin_a == fold->origin_b), CORE_RANGE,
               "fold: swap of shapes with orders %d and %d, origins %g and %g, expected equal ones", fold->order_a,
               fold->order_b, fold->origin_a, fold->origin_b);
    fold->identity = fold->order_a == 1 && fold->order_b == 1 && !fold->mirror && !fold->swap;
    axis_direction(fold->origin_a, fold->axis_a);
    axis_direction(fold->origin_b, fold->axis_b);
    const int orders[2] = {fold->order_a, fold->order_b};
    for (int k = 0; k < 2; k++) {
        axis_direction(CORE_PI / orders[k], fold->edge[k]);
        fold->limit[k] = STRIP_LIMIT * (orders[k] == 1 ? 1.0 : fold->edge[k][1]);
    }
    return CORE_OK;
}

cspace_fold cspace_fold_make(const sdf_shape *a, const sdf_shape *b, double ratio, bool on) {
    cspace_fold fold = {.order_a = 1, .order_b = 1, .mirror_a = NAN, .mirror_b = NAN};
    if (on) {
        const cspace_symmetry of_a = cspace_symmetry_find(&a->outline, CSPACE_SYMMETRY_TOLERANCE);
        const cspace_symmetry of_b = cspace_symmetry_find(&b->outline, CSPACE_SYMMETRY_TOLERANCE);
        fold.order_a = of_a.order, fold.order_b = of_b.order;
        fold.mirror_a = of_a.mirror, fold.mirror_b = of_b.mirror;
        const bool mirror = !isnan(of_a.mirror) && !isnan(of_b.mirror);
        if (mirror || of_a.order > 1) fold.origin_a = choose_origin(a, &of_a);
        if (mirror || of_b.order > 1) fold.origin_b = choose_origin(b, &of_b);
        fold.swap = a->hash == b->hash && ratio == 1.0;
        fold.blend_width = CSPACE_BLEND_WIDTH;
        find_kinks(a, b, &fold);
    }
    (void)cspace_fold_prepare(&fold, NULL); // every value above is in range
    return fold;
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
