/// A pair of shapes with their grids and sizes in units of L = max(R_A, R_B).
#include "cspace.h"


static const double ratio_max = 64.0; // beyond, one grid cell of the larger shape holds the smaller one's features

core_status cspace_pair_init(const sdf_shape *a, const sdf_grid *grid_a, const sdf_shape *b, const sdf_grid *grid_b,
                             double ratio, cspace_pair *pair, core_error *err) {
    CORE_CHECK(a && grid_a && b && grid_b && pair, CORE_ARG, "cspace_pair_init: a null pointer");
    CORE_CHECK(grid_a->phi && grid_b->phi, CORE_ARG, "cspace_pair_init: shape %s has no distance grid",
               grid_a->phi ? b->name : a->name);
    CORE_CHECK(ratio >= 1.0 / ratio_max && ratio <= ratio_max, CORE_RANGE,
               "size ratio of %s to %s: found %g, expected a number from 1/%g to %g", b->name, a->name, ratio,
               ratio_max, ratio_max);
    *pair = (cspace_pair){.a = a, .b = b, .grid_a = grid_a, .grid_b = grid_b, .ratio = ratio};
    pair->scale_a = ratio > 1.0 ? 1.0 / ratio : 1.0;
    pair->scale_b = ratio > 1.0 ? 1.0 : ratio;
    return CORE_OK;
}
