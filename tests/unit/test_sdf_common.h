/// What the tests of libsdf share: a folder of their own for files, shapes from text, regular polygons.
#ifndef TEST_SDF_COMMON_H
#define TEST_SDF_COMMON_H

#include "test_folder.h"

#include "sdf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/// Path of a file in a folder that exists until test_remove or the end of the process. Rotates over eight buffers.
static inline const char *test_path(const char *name) {
    if (!test_folder[0] && test_folder_make(NULL) != 0) abort();
    return test_folder_file(name);
}

/// Removes the files given and their folder.
static inline void test_remove(const char *const *names, int count) {
    for (int i = 0; i < count; i++) remove(test_path(names[i]));
    remove(test_path(""));
}

/// Teardown of a group: removes the folder, once it is empty.
static inline int test_remove_folder(void **state) {
    (void)state;
    remove(test_path(""));
    return 0;
}

static inline const char *test_write(const char *name, const void *data, size_t n) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
    return path;
}

/// Reads `text` as a shape file called `name`.
static inline core_status test_shape_text(const char *name, const char *text, sdf_shape *shape, core_error *err) {
    sdf_read_def def = sdf_read_default_def();
    const char *path = test_write(name, text, strlen(text));
    core_status status = sdf_shape_read(path, &def, shape, err);
    remove(path);
    return status;
}

/// One of the shapes that come with the project.
static inline sdf_shape test_shape(const char *name) {
    char path[256];
    sdf_shape s = {0};
    core_error err = {0};
    sdf_read_def def = sdf_read_default_def();
    snprintf(path, sizeof path, "../shapes/%s.wkt", name);
    if (sdf_shape_read(path, &def, &s, &err) != CORE_OK) fail_msg("%s", err.message);
    return s;
}

/// Regular polygon of n corners, radius r about c, first corner at angle 0; clockwise if `hole`. Fills xy[2n].
static inline void test_ring(double *xy, int n, double r, double cx, double cy, bool hole) {
    for (int i = 0; i < n; i++) {
        double a = 2 * CORE_PI * (hole ? n - i : i) / n;
        xy[2 * i] = cx + r * cos(a);
        xy[2 * i + 1] = cy + r * sin(a);
    }
}

/// Outline of one or two regular polygons (n_hole 0: none) about c.
static inline core_outline test_disc(int n, double r, int n_hole, double r_hole, double cx, double cy) {
    core_outline o = {0};
    int counts[2] = {n, n_hole};
    assert_int_equal(core_outline_create(n_hole ? 2 : 1, counts, &o, NULL), CORE_OK);
    test_ring(o.xy, n, r, cx, cy, false);
    if (n_hole) test_ring(o.xy + 2 * n, n_hole, r_hole, cx, cy, true);
    return o;
}

/// Outline of one ring.
static inline core_outline test_outline(const double *xy, int n) {
    core_outline o = {0};
    assert_int_equal(core_outline_create(1, &n, &o, NULL), CORE_OK);
    memcpy(o.xy, xy, (size_t)n * 2 * sizeof *xy);
    return o;
}

/// Relative or absolute, whichever is larger.
static inline void test_near(double found, double expected, double tolerance, const char *what) {
    if (!(fabs(found - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%s: found %.17g, expected %.17g, off by %g, allowed %g", what, found, expected, found - expected,
                 tolerance);
}

#endif
