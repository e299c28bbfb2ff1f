/// Shape files of any kind: what is read is a canonical shape of finite numbers, whose grid can be built.
#ifndef FUZZ_SHAPE_H
#define FUZZ_SHAPE_H

#include "fuzz.h"

#include "sdf.h"

#include <math.h>

static inline void fuzz_shape_promises(const sdf_shape *s) {
    sdf_mass m;
    sdf_grid g = {0};
    core_error err = {0};
    fuzz_expect(sdf_outline_mass(&s->outline, &m, &err) == CORE_OK, "a shape without mass");
    fuzz_expect(fabs(m.circumradius - 1) < 1e-9 && hypot(m.centroid[0], m.centroid[1]) < 1e-9, "not canonical");
    fuzz_expect(s->drawn.area > 0 && isfinite(s->drawn.second_moment) && s->drawn.circumradius > 0, "mass as drawn");
    fuzz_expect(s->import.outline_error >= 0 && s->import.count_points >= 0, "import record");
    if (core_outline_count(&s->outline) > 2000) return;
    fuzz_expect(sdf_grid_build(&s->outline, 16, 0.05, 1, NULL, &g, &err) == CORE_OK, "a shape without a grid");
    for (int i = 0; i < g.nx * g.ny; i++) fuzz_expect(isfinite(g.phi[i]), "a distance that is not finite");
    sdf_grid_clear(&g);
}

/// Reads the bytes as a shape file called `name`, first strictly, then taking the largest part.
static inline void fuzz_shape_read(const char *name, const uint8_t *data, size_t size) {
    const char *path = fuzz_file(name, data, size);
    sdf_read_def def = sdf_read_default_def();
    for (int largest = 0; path && largest < 2; largest++) {
        sdf_shape s = {0};
        core_error err = {0};
        def.largest = largest;
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
