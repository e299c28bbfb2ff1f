/// Inside of the measurements (sim_measure*.c). Not for users.
#ifndef SIM_MEASURE_PRIVATE_H
#define SIM_MEASURE_PRIVATE_H

#include "sdf.h"
#include "sim_measure.h"

/// Grains that are measured: rows of a state, in ascending order.
typedef struct sim_selection {
    const core_run_info *info;
    const core_run_frame *state;
    int count;
    int *rows; // (count)
} sim_selection;

/// Outline point k of row i, in m.
void sim_measure_point(const sim_selection *s, int row, int k, double point[2]);
/// Index of the smallest value that at least `part` of n sorted values do not exceed; n >= 1.
int sim_measure_quantile(double part, int n);
int sim_measure_compare(const void *a, const void *b);
/// False if the region is all 0: everywhere.
bool sim_measure_region_given(const sim_measure_def *def);
/// Cookie, frame and region. ARG, RANGE.
core_status sim_measure_check(core_run_reader *run, int64_t frame, const sim_measure_def *def, core_error *err);

/// Fills the fields repose_* from the surface of the selection. MEMORY.
core_status sim_measure_surface(const sim_selection *s, sim_measurement *m, core_error *err);
/// Fills packing_fraction. MEMORY, INTERNAL.
core_status sim_measure_packing(const sim_selection *s, const sim_measure_def *def, sim_measurement *m,
                                core_error *err);
/// Fills coordination*, rattlers, stress and fabric_* of frame m->frame. MEMORY, IO, FORMAT.
core_status sim_measure_contacts(core_run_reader *run, const sim_selection *s, const sim_measure_def *def,
                                 sim_measurement *m, core_error *err);
/// Takes grains with fewer than `least` neighbours out, with their contacts, until none is left.
/// @param role       [in]     (count_rows) of sim_role, or NULL: all free; others never are rattlers
/// @param neighbours [out]    (count_rows) bodies that a grain touches, a pair once however many contacts it has
/// @param rattler    [in,out] (count_rows) 1: out
void sim_measure_drop_rattlers(const core_run_contact *c, int64_t n, int least, int count_rows, const uint8_t *role,
                               int *neighbours, uint8_t *rattler);
/// How deep two overlapping outlines are in each other, m: the deepest that a boundary point of one lies inside the
/// other, at most 1e-3 circumradii less; 0 if they are apart.
double sim_measure_depth(const sdf_posed *a, const sdf_posed *b);
/// Fills the fields overlap_*.
core_status sim_measure_overlap(const sim_selection *s, sim_measurement *m, core_error *err);

#endif
