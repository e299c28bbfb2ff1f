/// What every command does alike: argp with exit status 2, messages, progress on a terminal or in a log, provenance.
#ifndef CMD_COMMON_H
#define CMD_COMMON_H

#include "core.h"
#include "core_h5.h"

#include <argp.h>
#include <stdio.h>

#define CMD_EXIT_OK 0
#define CMD_EXIT_FAILED 1 // could not finish: I/O, memory, numerical blow-up
#define CMD_EXIT_USAGE 2  // bad usage or bad input

/// Parses a command line with argp: exit status 2 on wrong usage, `--version`, `--help` (with the example in the doc)
/// as argp does. `--quiet` is added to the options; `*quiet` receives it. Call first in main. From then on a standard
/// output that cannot be written (full disk) ends the process with status 1, and a file-size limit is a failed write,
/// not a kill.
void cmd_parse(const struct argp *argp, int argc, char **argv, void *input, bool *quiet);
/// For argp parsers: "NAME: --samples: found "x", expected ..." and exit 2.
_Noreturn void cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// Numbers of options; exit 2 with a message that names the option.
double cmd_number(const char *option, const char *text, double min, double max);
int64_t cmd_integer(const char *option, const char *text, int64_t min, int64_t max);
/// Index of text in words (count), exit 2 listing them otherwise.
int cmd_choice(const char *option, const char *text, const char *const *words, int count);
/// Value of --region: X0,Y0,X1,Y1 in m with X0 < X1 and Y0 < Y1.
void cmd_region(const char *text, double region[4]);
/// Fails now, not after minutes of work, if an HDF5 file could not be written there. What is there stays.
core_status cmd_check_output(const char *path, const char *format, int version, core_error *err);

/// The word as a shell has to get it, in single quotes where it must be. NULL: out of memory; the caller frees it.
char *cmd_quote(const char *word);
/// Another of the programs, called as this one was (its folder stays in front), quoted for a shell: what a message
/// tells a user to type can be pasted. NULL: out of memory; the caller frees it.
char *cmd_program(const char *name);
/// A JSON string, quotes included.
void cmd_print_json_text(FILE *out, const char *text);

/// Prints "NAME: message" to stderr and returns the exit status that belongs to the code: IO, MEMORY, NOT_CONVERGED,
/// INTERNAL: 1, else 2.
int cmd_report(const core_error *err);

/// Progress printer on stderr: one line that is overwritten on a terminal; in a log a plain line at most every ten
/// seconds and one at the end of each stage. Rate of late, time so far + time left at that rate. quiet: nothing.
core_progress cmd_progress(bool quiet);
/// How fast a stage has gone lately. Set the first pair to the stage's start; time in s.
typedef struct cmd_pace {
    double time[2], done[2]; // where the last stretch began, and where the next one will
} cmd_pace;
/// Takes a report. A stretch is 15 s old when the next one begins, so that the pace follows how busy the machine is.
void cmd_pace_take(cmd_pace *pace, double time, double done);
/// Units per second since the last stretch began, 15 to 30 s ago or at the start; 0 where nothing is known.
double cmd_pace_rate(const cmd_pace *pace, double time, double done);
/// What this process has cost so far: processor time (all threads) in s, the most memory it has held in MB (1e6 bytes).
void cmd_costs(double *seconds, double *megabytes);
/// Ends the current progress line (if any).
void cmd_progress_end(void);

/// Provenance of this process: command line, quoted for a shell where it has to be. Before cmd_parse it is the line as
/// typed; argp then moves options to the front. The text lives until the process ends or the next call.
core_h5_provenance cmd_provenance(int argc, char **argv, uint64_t seed);

#endif
