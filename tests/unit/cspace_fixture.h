/// Shapes drawn in code and their grids, for the tests of libcspace: no file is read.
#ifndef CSPACE_FIXTURE_H
#define CSPACE_FIXTURE_H

#include "cspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A shape with its grid.
typedef struct fixture {
    sdf_shape shape;
    sdf_grid grid;
} fixture;

enum { FIXTURE_RESOLUTION = 256 };

/// In double, and with both values in the message (cmocka's assert_float_equal compares floats).
#define assert_close(found, expected, tolerance)                                                                       \
    do {                                                                                                               \
        double found_ = (found), expected_ = (expected);                                                               \
        if (!(fabs(found_ - expected_) <= (tolerance)))                                                                \
            fail_msg("%s is %.17g, expected %.17g +- %g", #found, found_, expected_, (double)(tolerance));             \
    } while (0)

static inline core_status fixture_make(const char *name, int rings, const int *counts, const double *xy, int resolution,
                                       fixture *f, core_error *err) {
    core_outline o = {0};
    *f = (fixture){0};
    CORE_TRY(core_outline_create(rings, counts, &o, err));
    memcpy(o.xy, xy, (size_t)core_outline_count(&o) * 2 * sizeof *xy);
    core_status status = sdf_shape_from_outline(name, &o, &f->shape, err);
    core_outline_clear(&o);
    if (status == CORE_OK) status = sdf_grid_build(&f->shape.outline, resolution, 1.0, 1, NULL, &f->grid, err);
    return status;
}

static inline void fixture_clear(fixture *f) {
    sdf_shape_clear(&f->shape);
    sdf_grid_clear(&f->grid);
}

/// The pair of two fixtures that live longer than it.
static inline cspace_pair fixture_pair(const fixture *a, const fixture *b, double ratio) {
    cspace_pair pair = {0};
    if (cspace_pair_init(&a->shape, &a->grid, &b->shape, &b->grid, ratio, &pair, NULL) != CORE_OK) abort();
    return pair;
}

/// True if both hold the same bits.
static inline bool fixture_rows_same(const cspace_rows *a, const cspace_rows *b) {
    const size_t n = (size_t)a->n * sizeof(double);
    return a->n == b->n && memcmp(a->pose, b->pose, 3 * n) == 0 && memcmp(a->distance, b->distance, n) == 0 &&
           memcmp(a->gradient, b->gradient, 3 * n) == 0 && memcmp(a->moment_arm, b->moment_arm, 2 * n) == 0;
}

/// The hash: bars at +-.40, half width .13; a square hole in its middle.
static inline core_status fixture_hash(int resolution, fixture *f, core_error *err) {
    static const double i = .27, o = .53, e = .848;
    const double xy[] = {-o, -e, -i, -e, -i, -o, i,  -o, i,  -e, o,  -e, o,  -o, e,  -o, e,  -i, o,  -i, o,  i,
                         e,  i,  e,  o,  o,  o,  o,  e,  i,  e,  i,  o,  -i, o,  -i, e,  -o, e,  -o, o,  -e, o,
                         -e, i,  -o, i,  -o, -i, -e, -i, -e, -o, -o, -o, -i, -i, -i, i,  i,  i,  i,  -i};
    const int counts[] = {28, 4};
    return fixture_make("hash", 2, counts, xy, resolution, f, err);
}

/// The letter U.
static inline core_status fixture_u(int resolution, fixture *f, core_error *err) {
    const double xy[] = {-.6, -.7, .6, -.7, .6, .7, .3, .7, .3, -.4, -.3, -.4, -.3, .7, -.6, .7};
    const int counts[] = {8};
    return fixture_make("u", 1, counts, xy, resolution, f, err);
}

/// The letter N.
static inline core_status fixture_n(int resolution, fixture *f, core_error *err) {
    const double xy[] = {-.6, -.75, -.35, -.75, -.35, .25,  .3,  -.75, .6,  -.75,
                         .6,  .75,  .35,  .75,  .35,  -.25, -.3, .75,  -.6, .75};
    const int counts[] = {10};
    return fixture_make("n", 1, counts, xy, resolution, f, err);
}

/// The letter O: an elliptic ring of 2 x 32 points.
static inline core_status fixture_o(int resolution, fixture *f, core_error *err) {
    double xy[128];
    for (int k = 0; k < 32; k++) {
        double a = 2.0 * CORE_PI * k / 32.0;
        xy[2 * k] = .75 * cos(a);
        xy[2 * k + 1] = sin(a);
        xy[64 + 2 * k] = .45 * cos(-a);
        xy[64 + 2 * k + 1] = .7 * sin(-a);
    }
    const int counts[] = {32, 32};
    return fixture_make("o", 2, counts, xy, resolution, f, err);
}

/// A round ring of 2 x 96 points, wall .45: each edge of its hole needs a convex part of its own.
static inline core_status fixture_fine_o(int resolution, fixture *f, core_error *err) {
    double xy[384];
    for (int k = 0; k < 96; k++) {
        double a = 2.0 * CORE_PI * k / 96.0;
        xy[2 * k] = cos(a);
        xy[2 * k + 1] = sin(a);
        xy[192 + 2 * k] = .55 * cos(-a);
        xy[192 + 2 * k + 1] = .55 * sin(-a);
    }
    const int counts[] = {96, 96};
    return fixture_make("fine o", 2, counts, xy, resolution, f, err);
}

/// A star of five tips, half angle 18 degrees.
static inline core_status fixture_star(int resolution, fixture *f, core_error *err) {
    double xy[20];
    for (int k = 0; k < 10; k++) {
        double a = CORE_PI * k / 5.0 + 0.3, r = k % 2 ? 0.382 : 1.0;
        xy[2 * k] = r * cos(a);
        xy[2 * k + 1] = r * sin(a);
    }
    const int counts[] = {10};
    return fixture_make("star", 1, counts, xy, resolution, f, err);
}

/// A hook: a shaft that ends in a half ring, with a barb.
static inline core_status fixture_hook(int resolution, fixture *f, core_error *err) {
    double xy[2 * 30];
    int n = 0;
    const double shaft[] = {.3, .9, .1, .9};
    for (int k = 0; k < 4; k++) xy[n++] = shaft[k];
    for (int k = 0; k <= 10; k++) { // inner side of the half ring, then the barb, then the outer side
        double a = -CORE_PI * k / 10.0;
        xy[n++] = -.2 + .3 * cos(a);
        xy[n++] = -.3 + .3 * sin(a);
    }
    const double barb[] = {-.4, .05, -.7, -.1};
    for (int k = 0; k < 4; k++) xy[n++] = barb[k];
    for (int k = 10; k >= 0; k--) {
        double a = -CORE_PI * k / 10.0;
        xy[n++] = -.2 + .5 * cos(a);
        xy[n++] = -.3 + .5 * sin(a);
    }
    const int counts[] = {n / 2};
    return fixture_make("hook", 1, counts, xy, resolution, f, err);
}

/// A round ring of 2 x 48 points, wall .12 of its radius.
static inline core_status fixture_ring(int resolution, fixture *f, core_error *err) {
    double xy[192];
    for (int k = 0; k < 48; k++) {
        double a = 2.0 * CORE_PI * k / 48.0;
        xy[2 * k] = cos(a);
        xy[2 * k + 1] = sin(a);
        xy[96 + 2 * k] = .88 * cos(-a);
        xy[96 + 2 * k + 1] = .88 * sin(-a);
    }
    const int counts[] = {48, 48};
    return fixture_make("ring", 2, counts, xy, resolution, f, err);
}

/// A square of circumradius 1, sides along the axes.
static inline core_status fixture_square(int resolution, fixture *f, core_error *err) {
    const double xy[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    const int counts[] = {4};
    return fixture_make("square", 1, counts, xy, resolution, f, err);
}

/// A regular polygon of n <= 512 corners: a disc.
static inline core_status fixture_disc(int n, int resolution, fixture *f, core_error *err) {
    double xy[1024];
    for (int k = 0; k < n; k++) {
        xy[2 * k] = cos(2.0 * CORE_PI * k / n);
        xy[2 * k + 1] = sin(2.0 * CORE_PI * k / n);
    }
    return fixture_make("disc", 1, &n, xy, resolution, f, err);
}

/// A random pose with |t| <= reach.
static inline cspace_pose fixture_pose(core_random *r, double reach) {
    cspace_pose q = {.theta = CORE_PI * (2.0 * core_random_uniform(r) - 1.0)};
    do {
        q.x = 2.0 * core_random_uniform(r) - 1.0;
        q.y = 2.0 * core_random_uniform(r) - 1.0;
    } while (q.x * q.x + q.y * q.y > 1.0);
    q.x *= reach;
    q.y *= reach;
    return q;
}

#endif
