/// Measurements on run files: what simstat prints. Exact geometry (GEOS through libsdf) on the stored poses.
#ifndef SIM_MEASURE_H
#define SIM_MEASURE_H

#include "core.h"
#include "core_run.h"

/// Measurements of one frame, over the grains whose centre is in the region. NaN (counts: -1) where a thing cannot be
/// measured. Quantile "99 %": the smallest value that at least 99 % of the values do not exceed.
typedef struct sim_measurement {
    int64_t frame, step;
    double time;      // s
    int32_t phase;    // as the run stored it
    int count_grains; // in the region

    // From poses, velocities and masses; inertia of a grain = mass R^2 J/A with J, A of its canonical outline.
    double kinetic, potential; // J per metre of depth; potential: -sum m g.x, zero at the origin
    double kinetic_per_mgr;    // mean over the grains of kinetic energy/(m g R); NaN without gravity
    double momentum[2];        // kg m/s per metre of depth
    double angular_momentum;   // about the origin, spin included, kg m^2/s per metre of depth

    // Of the whole run, whatever the region, as the run stored them (observables elastic_energy, dissipated_damping,
    // dissipated_friction, energy_balance, contacts, penetration_mean, penetration_max).
    double elastic;                           // J per metre of depth
    double damping, friction;                 // J per metre of depth, dissipated since the start
    double balance;                           // J per metre of depth: constant but for errors
    int64_t contacts;                         // -1 if the run has no such observable
    double penetration_mean, penetration_max; // m, as the narrow phase saw them

    // Area of the outlines inside the region (exact, grains cut at its edge) by its area; NaN without a region.
    // Overlaps count twice.
    double packing_fraction;

    // From contact rows (info.contacts of the run), NaN and -1 without. Neighbours of a grain: bodies it touches, each
    // once.
    double coordination;       // mean number of neighbours of the grains in the region
    double coordination_rigid; // the same without rattlers: grains with fewer than rattler_contacts neighbours, taken
                               // out of the whole run one after the other until none is left
    int rattlers;              // of the grains in the region
    // Stress sum l f / area over contacts whose point is in the region (Love, Weber; row-major xx, xy, yx, yy): l from
    // A's centre, or from the contact point on a boundary, to B's centre, f the force on B. Pa at one metre of depth,
    // positive in compression; static part alone. NaN without a region.
    double stress[4];
    // Directions of the normals of those contacts, each with its opposite: density (1 + a cos 2(angle - angle_a))/(2
    // pi).
    double fabric_anisotropy, fabric_angle; // a, rad

    // Shape of the deposit. Heights are in y above `base`: the highest present plane with normal (0, 1), else the
    // lowest outline point.
    double base;      // m
    double height;    // m: highest outline point
    double height_99; // m: 99 % of the grains' centres are not higher
    double front;     // m: x of the outermost outline point to the right
    double front_99;  // m: 99 % of the grains' centres are not further right
    // (front_99 - front_99')/width' where ' is the first frame of the run's last phase and width' the x extent of the
    // outlines then, all in the same region; NaN in frames before it.
    double run_out;

    // Angle of repose of the right flank. The surface is the highest outline point in columns of width 3 mean
    // circumradii, counted from the leftmost outline point; H is its largest height above base. Fit range: the columns
    // right of the last one above 0.9 H, up to (not including) the next one below 0.1 H or empty. Least-squares line
    // through the columns' middles. rad, positive when falling to the right; its standard error; NaN with fewer than 4
    // columns.
    double repose_angle, repose_error;
    double repose_x0, repose_x1; // m: range of the fit

    // Exact overlap of the outlines: pairs of grains with both centres in the region, and of these with boundaries that
    // are grains. Depth: the deepest that a boundary point of one outline lies inside the other (found to 1e-3), in
    // units of the smaller circumradius: for a corner in a face and for two faces the translation that parts them; at
    // most half the wall where thin walls cross. -1 and NaN unless asked for.
    int64_t overlap_pairs;                         // pairs of outlines that overlap
    double overlap_mean, overlap_p99, overlap_max; // over those pairs; 0 if there is none
    double overlap_fraction_above_3;               // part of those pairs deeper than 3 %; 0 if there is none
    double overlap_plane_max;                      // deepest reach below a present plane, units of R; 0 if none
} sim_measurement;

/// What is measured. Start from sim_measure_default_def.
typedef struct sim_measure_def {
    int cookie;
    double region[4];     // x0, y0, x1, y1 in m: grains with their centre in it; all 0: everywhere
    int rattler_contacts; // neighbours that hold a grain at least: 2 with friction (default), 3 without; 1 .. 100
    bool true_overlap;    // exact overlap of outlines (costs about 20 us per near pair); default true
} sim_measure_def;
/// Everywhere, with the exact overlap.
sim_measure_def sim_measure_default_def(void);

/// Measures frame i.
/// @return ARG; RANGE: no such frame, a region that is none; MEMORY; IO, FORMAT from reading; SHAPE, INTERNAL from the
/// exact overlap. On failure *m is untouched. Cost: O(grains x outline points) and log2(frames) reads for the last
/// phase. Deterministic.
core_status sim_measure_frame(core_run_reader *run, int64_t frame, const sim_measure_def *def, sim_measurement *m,
                              core_error *err);

/// Directions of the contact normals of frame i, a normal and its opposite being one direction: bin b holds angles from
/// b pi/bins to (b + 1) pi/bins. Contacts whose point is in the region.
/// @param count [out] (bins) contacts
/// @param force [out] (bins) N per metre of depth, mean normal force; NaN in an empty bin
/// @return UNSUPPORTED: no contact rows; RANGE, MEMORY, IO, FORMAT
core_status sim_measure_orientations(core_run_reader *run, int64_t frame, const sim_measure_def *def, int bins,
                                     int64_t *count, double *force, core_error *err);
/// Force of the grains on each boundary.
/// @param force [out] (count_planes + count_walls, x 2) N per metre of depth
/// @return UNSUPPORTED: no contact rows; RANGE, MEMORY, IO, FORMAT
core_status sim_measure_boundary_forces(core_run_reader *run, int64_t frame, double *force, core_error *err);

#endif
