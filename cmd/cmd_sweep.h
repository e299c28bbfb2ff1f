/// Nets of several sizes for one pair: sizes of an option, what they cost, a table side by side.
#ifndef CMD_SWEEP_H
#define CMD_SWEEP_H

#include "cspace.h"

#include <stdio.h>

#define CMD_SWEEP_MAX 16
/// What --target-error tries by itself.
#define CMD_SWEEP_LADDER "1x16,2x16,2x32,3x32,3x48,3x64,4x64,4x96"

/// Sizes of both nets, smallest first.
typedef struct cmd_sweep {
    int count;
    int layers[CMD_SWEEP_MAX], width[CMD_SWEEP_MAX];
} cmd_sweep;

/// Value of --sweep: LAYERSxWIDTH,...; exit 2 on anything else and on a size named twice.
void cmd_sweep_parse(const char *option, const char *text, cmd_sweep *sweep);

/// Nanoseconds one query of a prepared map takes here, one thread, batches as in a simulation, both nets: the best of a
/// few runs over held-out poses. MEMORY.
core_status cmd_sweep_time_query(const cspace_map *map, const cspace_rows *rows, double *nanoseconds, core_error *err);

/// The table: heading, one aligned row per size.
void cmd_sweep_print_heading(FILE *out);
void cmd_sweep_print_row(FILE *out, const cspace_map *map, double nanoseconds);

#endif
