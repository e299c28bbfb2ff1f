/// What the physics tests print: a line for every number that is checked - its name, what is expected, what was found,
/// the tolerance.
#ifndef PHYSICS_ROW_H
#define PHYSICS_ROW_H

#include "unit/sim_check.h"

#include <stdio.h>

/// One line of the report; fails outside.
static inline void physics_row(const char *name, double expected, double found, double tolerance) {
    printf("%-66s expected %-12.6g found %-12.6g tolerance %.3g\n", name, expected, found, tolerance);
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: expected %.9g, found %.9g, tolerance %.3g", name, expected, found, tolerance);
}

/// The same for a magnitude that has to stay below a bound.
static inline void physics_row_below(const char *name, double bound, double found) {
    printf("%-66s expected %-12.6g found %-12.6g tolerance %.3g\n", name, 0.0, found, bound);
    if (!(fabs(found) < bound)) fail_msg("%s: expected below %.9g, found %.9g", name, bound, found);
}

/// The same for a magnitude that has to stay above a bound.
static inline void physics_row_above(const char *name, double bound, double found) {
    printf("%-66s expected above %-6.6g found %-12.6g\n", name, bound, found);
    if (!(found > bound)) fail_msg("%s: expected above %.9g, found %.9g", name, bound, found);
}

#endif
