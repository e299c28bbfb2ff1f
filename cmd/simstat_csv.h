/// CSV files that simstat writes beside its table.
#ifndef SIMSTAT_CSV_H
#define SIMSTAT_CSV_H

#include "core_run.h"
#include "sim_measure.h"

typedef enum simstat_file {
    SIMSTAT_POSES,        // id,type,x,y,angle (m, rad) of all grains of the frame
    SIMSTAT_SERIES,       // a row a frame: step,time,phase,present,gone and the observables
    SIMSTAT_ORIENTATIONS, // from,to,contacts,normal_force (degrees, N): directions of normals, see sim_measure.h
    SIMSTAT_BOUNDARIES,   // name,force_x,force_y (N)
    // a row a touching contact: a,b (grains' rows; a boundary by its name),feature,sliding,d,normal_x,normal_y (A to
    // B), normal_force,tangential_force,force_x,force_y (on B); m, N per metre of depth
    SIMSTAT_CONTACTS,
    SIMSTAT_FILES
} simstat_file;
/// The options that ask for them.
extern const char *const simstat_file_names[SIMSTAT_FILES];

/// Writes one under a temporary name, renamed. UNSUPPORTED: the run has no contact rows; IO, FORMAT, MEMORY.
core_status simstat_write(simstat_file kind, core_run_reader *run, int64_t frame, const sim_measure_def *def,
                          const char *path, core_error *err);

#endif
