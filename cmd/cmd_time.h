/// Times as users name them in --time: seconds, or since the start of a phase.
#ifndef CMD_TIME_H
#define CMD_TIME_H

#include "cmd_common.h"
#include "core_run.h"

#define CMD_TIME_LIMIT 1e12 // s

/// A time as the user names it: "0.5", "collapse" or "collapse+0.5".
typedef struct cmd_instant {
    char phase[CORE_NAME_MAX]; // "": since the start of the run
    double after;              // s
} cmd_instant;

/// Reads one; exit 2 if a number behind + is none.
void cmd_instant_parse(const char *text, cmd_instant *instant);
/// Seconds since the start of the run at `path` (for messages). ARG: no such phase, or the run did not get there.
core_status cmd_instant_resolve(core_run_reader *run, const char *path, const cmd_instant *instant, double *time,
                                core_error *err);

#endif
