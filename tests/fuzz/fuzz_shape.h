/// Shape files of any kind: what is read is a canonical shape of finite numbers and distances.
#ifndef FUZZ_SHAPE_H
#define FUZZ_SHAPE_H

#include "fuzz.h"

#include "sdf.h"

#include <math.h>

static inline void fuzz_shape_promises(const sdf_shape *s) {
    sdf_mass m;
    core_error err = {0};
    fuzz_expect(sdf_outline_mass(&s->outline, &m, &err) == CORE_OK, "a shape without mass");
    fuzz_expect(fabs(m.circumradius - 1) < 1e-9 && hypot(m.centroid[0], m.centroid[1]) < 1e-9, "not canonical");
    fuzz_expect(s->drawn.area > 0 && isfinite(s->drawn.second_moment) && s->drawn.circumradius > 0, "mass as drawn");
    fuzz_expect(s->import.outline_error >= 0 && s->import.count_points >= 0, "import record");
    const double points[6] = {0, 0, 0.3, -0.4, 2, 1};
    double d[3];
    sdf_outline_distance(&s->outline, points, 3, d, NULL);
    fuzz_expect(d[0] < 1 && isfinite(d[1]) && d[2] > 1, "distances that cannot be");
}

/// Reads the bytes as a shape file called `name`, first strictly, then taking the largest part, of an image blurred and
/// with an automatic threshold.
static inline void fuzz_shape_read(const char *name, const uint8_t *data, size_t size) {
    const char *path = fuzz_file(name, data, size);
    sdf_read_def def = sdf_read_default_def();
    for (int largest = 0; path && largest < 2; largest++) {
        sdf_shape s = {0};
        core_error err = {0};
        def.largest = largest;
        if (largest) def.blur = 1.5, def.threshold = SDF_THRESHOLD_AUTO;
        if (sdf_shape_read(path, &def, &s, &err) == CORE_OK) {
            fuzz_shape_promises(&s);
            sdf_shape_clear(&s);
            return;
        }
        fuzz_expect_message(&err);
        fuzz_expect(s.outline.xy == NULL, "a refused file left a shape");
    }
}

#endif
