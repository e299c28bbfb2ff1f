// Packing fraction: exact area of the outlines inside the region.
#include "sim_measure_private.h"

#include <math.h>

// Area of a grain's outline in the region; 0 or the whole where its bounding circle says so.
static core_status area_inside(const sim_selection *s, const double *r, const core_outline *box, const double *area,
                               int row, double *inside, core_error *err) {
    const core_run_type *type = &s->info->types[s->info->species[row]];
    const double *x = s->state->position + 2 * row, reach = type->radius;
    *inside = 0;
    if (x[0] + reach <= r[0] || x[0] - reach >= r[2] || x[1] + reach <= r[1] || x[1] - reach >= r[3]) return CORE_OK;
    *inside = area[s->info->species[row]] * reach * reach;
    if (x[0] - reach >= r[0] && x[0] + reach <= r[2] && x[1] - reach >= r[1] && x[1] + reach <= r[3]) return CORE_OK;
    const sdf_posed grain = {&type->outline, reach, s->state->orientation[row], x[0], x[1]};
    const sdf_posed region = {box, 1, 0, 0.5 * (r[0] + r[2]), 0.5 * (r[1] + r[3])};
    double depth;
    const core_status status = sdf_posed_overlap(&grain, &region, inside, &depth, err);
    return status == CORE_OK ? status : core_error_prefix(err, status, "grain %d and the region", s->state->id[row]);
}

core_status sim_measure_packing(const sim_selection *s, const sim_measure_def *def, sim_measurement *m,
                                core_error *err) {
    m->packing_fraction = NAN;
    if (!sim_measure_region_given(def)) return CORE_OK;
    core_status status = CORE_OK;
    const double *r = def->region;
    const int four = 4;
    core_outline box = {0};
    double *area = NULL, total = 0;
    CORE_NEW_DONE(area, (size_t)s->info->count_types);
    for (int t = 0; t < s->info->count_types; t++) {
        sdf_mass mass;
        CORE_TRY_DONE(sdf_outline_mass(&s->info->types[t].outline, &mass, err));
        area[t] = mass.area;
    }
    CORE_TRY_DONE(core_outline_create(1, &four, &box, err));
    for (int k = 0; k < 4; k++) { // about its own middle
        box.xy[2 * k] = (k == 1 || k == 2 ? 0.5 : -0.5) * (r[2] - r[0]);
        box.xy[2 * k + 1] = (k >= 2 ? 0.5 : -0.5) * (r[3] - r[1]);
    }
    // also grains whose centre is outside reach in
    for (int i = 0; i < s->info->count_rows; i++) {
        double inside;
        if (s->state->id[i] < 0) continue;
        CORE_TRY_DONE(area_inside(s, r, &box, area, i, &inside, err));
        total += inside;
    }
    m->packing_fraction = total / ((r[2] - r[0]) * (r[3] - r[1]));
done:
    core_outline_clear(&box);
    core_free(area);
    return status;
}
