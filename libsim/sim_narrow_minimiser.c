/// Minimiser back end of the narrow phase: the numeric distance of two signed distance grids, smoothed over a small
/// kernel. Slow and independent of any training: the reference for maps. README.md, section 3.
#include "sim_private.h"

#include <math.h>

// Error of d that the search may leave, units of L: forces multiply it by k_n, so it has to be far below the overlaps.
static const double TOLERANCE = 1e-6;
// Box of the grids beyond the circumradius.
static const double MARGIN = 1.0;
// Grains farther apart than this, units of L, are not looked at more closely.
static const double FAR = 0.1;
// By how many smoothing widths the smoothed distance may differ from the plain one: the poses of the kernel lie sqrt(3)
// widths away and no lever arm exceeds L.
static const double REACH = 1.8;
// Two answers may differ by this many cells more than the grains have moved: the interpolant of a 1-Lipschitz field is
// off by 1.373 cells at most (the largest sum of |weight| x distance over the sixteen nodes), E is twice the larger of
// two fields, and the two may err in opposite directions.
static const double CELLS = 2 * 2 * 1.373;

typedef struct minimiser {
    int count_types;
    double smoothing;
    sdf_shape *shape;  // (count_types)
    sdf_grid *grid;    // (count_types)
    cspace_pair *pair; // (count_types^2), ordered
    double *scale;     // (count_types^2) m
    double *margin;    // (count_types^2) m
    double *band;      // (count_types^2) m
    cspace_search_def search;
} minimiser;

// One pose, units of L.
static void evaluate_pose(const minimiser *numeric, const cspace_pair *pair, const cspace_pose *pose,
                          cspace_contact *contact) {
    // Clearly apart, as most neighbours are: the search stops early, and only a bound is known.
    const double near = 4 * numeric->smoothing + 10 * TOLERANCE, lower = REACH * numeric->smoothing + 10 * TOLERANCE;
    cspace_search_def side = numeric->search;
    side.band = fmax(FAR, 2 * near);
    cspace_minimum m;
    cspace_minimise(pair, &side, pose, &m);
    if (m.d > near) {
        *contact = (cspace_contact){.d = fmin(m.d, side.band) - lower};
        return;
    }
    if (numeric->smoothing > 0) {
        cspace_numeric_contact_smooth(pair, &numeric->search, numeric->smoothing, pose, contact);
    } else {
        cspace_numeric_contact(pair, &numeric->search, pose, contact);
    }
}

static void minimiser_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                               sim_contact *contacts, int worker) {
    (void)worker; // the search needs no scratch
    const minimiser *numeric = self;
    const double scale = numeric->scale[pair];
    for (int i = 0; i < n; ++i) {
        const cspace_pose pose = {poses[i].theta, poses[i].x / scale, poses[i].y / scale};
        cspace_contact c;
        evaluate_pose(numeric, &numeric->pair[pair], &pose, &c);
        count[i] = 1;
        contacts[(size_t)i * (size_t)k_max] = sim_contact_scaled(&c, scale);
    }
}

static void minimiser_destroy(void *self) {
    minimiser *numeric = self;
    if (!numeric) return;
    for (int t = 0; t < numeric->count_types; ++t) {
        if (numeric->shape) sdf_shape_clear(&numeric->shape[t]);
        if (numeric->grid) sdf_grid_clear(&numeric->grid[t]);
    }
    core_free(numeric->shape);
    core_free(numeric->grid);
    core_free(numeric->pair);
    core_free(numeric->scale);
    core_free(numeric->margin);
    core_free(numeric->band);
    core_free(numeric);
}

core_status sim_narrow_minimiser(int count_types, const sim_type_def *types, int resolution, double smoothing,
                                 int workers, sim_narrow *narrow, core_error *err) {
    core_status status = CORE_OK;
    minimiser *numeric = NULL;
    CORE_CHECK_DONE(types && narrow && count_types >= 1 && workers >= 1, CORE_ARG,
                    "minimiser back end: found a null pointer, %d types or %d workers, expected at least 1 of each",
                    count_types, workers);
    CORE_CHECK_DONE(smoothing >= 0 && smoothing <= 0.1, CORE_RANGE, "smoothing: found %g, expected 0 .. 0.1",
                    smoothing);
    CORE_NEW_DONE(numeric, 1);
    numeric->smoothing = smoothing;
    numeric->search = cspace_search_default_def();
    numeric->search.tolerance = TOLERANCE;
    numeric->search.band = 0;
    const size_t n = (size_t)count_types;
    CORE_NEW_DONE(numeric->shape, n);
    CORE_NEW_DONE(numeric->grid, n);
    CORE_NEW_DONE(numeric->pair, n * n);
    CORE_NEW_DONE(numeric->margin, n * n);
    CORE_NEW_DONE(numeric->band, n * n);
    CORE_NEW_DONE(numeric->scale, n * n);
    numeric->count_types = count_types;
    for (int t = 0; t < count_types; ++t) {
        CORE_TRY_DONE(sdf_shape_copy(&types[t].shape, &numeric->shape[t], err));
        CORE_TRY_DONE(
            sdf_grid_build(&numeric->shape[t].outline, resolution, MARGIN, workers, NULL, &numeric->grid[t], err));
    }
    for (int a = 0; a < count_types; ++a) {
        for (int b = 0; b < count_types; ++b) {
            const int pair = a * count_types + b;
            CORE_TRY_DONE(cspace_pair_init(&numeric->shape[a], &numeric->grid[a], &numeric->shape[b], &numeric->grid[b],
                                           types[b].radius / types[a].radius, &numeric->pair[pair], err));
            const double scale = fmax(types[a].radius, types[b].radius);
            numeric->scale[pair] = scale;
            numeric->margin[pair] = scale * (CELLS * numeric->grid[a].spacing + 2 * REACH * smoothing + 20 * TOLERANCE);
            numeric->band[pair] = INFINITY;
        }
    }
    *narrow = (sim_narrow){.name = "minimiser",
                           .evaluate = minimiser_evaluate,
                           .margin = numeric->margin,
                           .band = numeric->band,
                           .destroy = minimiser_destroy,
                           .self = numeric};
    numeric = NULL;
done:
    minimiser_destroy(numeric);
    return status;
}
