/// What every command does alike (cmd_common.h). The one static struct below holds the program's name and the progress
/// line that stands on the terminal; a process has one of each.
#define _POSIX_C_SOURCE 200809L // getrusage, isatty, open, SIGXFSZ

#include "cmd_common.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CMD_TERMINAL_SECONDS 0.1 // between two refreshes of the line
#define CMD_LOG_SECONDS 10.0     // between two lines of a log
#define CMD_STRETCH_SECONDS 15.0 // by which the time left is reckoned, at least
#define CMD_LINE_MAX 79          // columns of a progress line
#define CMD_KEY_QUIET 0x5155     // no short option
#define CMD_REGION_LIMIT 1e9     // m

static struct {
    const char *name;   // of the program, for messages
    const char *called; // the same with its folder, as typed
    bool reported;      // a failure was told: one message is enough
    char *command_line; // for the provenance; lives until the process ends
    bool terminal;
    // the stage that is running; empty name: none
    char stage[128], unit[32], note[128];
    double done, total, done_first;
    cmd_pace pace;
    double started, printed; // seconds of the monotonic clock
    bool shown;              // the last report has been printed
} cmd__state = {.name = "cem", .called = "cem"};

// ---------------------------------------------------------------------------------------------- command line

/// The name behind the last slash.
static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    fprintf(stream, "%s (cem) %s\n", cmd__state.name, CORE_VERSION);
}

static error_t parse_quiet(int key, char *text, struct argp_state *state) {
    (void)text;
    if (key != CMD_KEY_QUIET) return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
}

/// What the two parsers below the top one get as input.
typedef struct parse_inputs {
    void *command;
    bool *quiet;
} parse_inputs;

static error_t pass_inputs(int key, char *text, struct argp_state *state) {
    (void)text;
    if (key != ARGP_KEY_INIT) return ARGP_ERR_UNKNOWN;
    const parse_inputs *inputs = state->input;
    state->child_inputs[0] = inputs->command;
    state->child_inputs[1] = inputs->quiet;
    return 0;
}

/// A standard stream that the caller closed would be the number of the next file opened, and messages would go into
/// that file. Its number is given to /dev/null, the wrong way round: using it fails, as it should.
static void keep_standard_numbers(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(CMD_EXIT_FAILED);
    }
}

/// At exit: output that could not be written (a full disk, a closed pipe) must not look like success.
static void check_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    if (!cmd__state.reported)
        fprintf(stderr, "%s: cannot write to the standard output: %s\n", cmd__state.name, strerror(errno));
    _exit(CMD_EXIT_FAILED);
}

void cmd_parse(const struct argp *argp, int argc, char **argv, void *input, bool *quiet) {
    static const struct argp_option quiet_options[] = {
        {"quiet", CMD_KEY_QUIET, NULL, 0, "Print no progress, only results and failures", -1}, {0}};
    static const struct argp quiet_argp = {.options = quiet_options, .parser = parse_quiet};
    keep_standard_numbers();
    if (argc > 0 && argv[0] && argv[0][0]) cmd__state.name = base_name(cmd__state.called = argv[0]);
    cmd__state.terminal = isatty(STDERR_FILENO) == 1;
    argp_err_exit_status = CMD_EXIT_USAGE;
    argp_program_version_hook = print_version;
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is a failed write with a message, not a kill
    atexit(check_output);

    // the command's own parser becomes a child beside the one for --quiet; its text moves to the top
    struct argp own = *argp;
    own.doc = NULL;
    own.args_doc = NULL;
    const struct argp_child children[] = {{&own, 0, NULL, 0}, {&quiet_argp, 0, NULL, 0}, {0}};
    const struct argp top = {.parser = pass_inputs,
                             .args_doc = argp->args_doc,
                             .doc = argp->doc,
                             .children = children,
                             .help_filter = argp->help_filter,
                             .argp_domain = argp->argp_domain};
    parse_inputs inputs = {input, quiet};
    error_t failure = argp_parse(&top, argc, argv, 0, NULL, &inputs);
    if (failure != 0) cmd_usage("cannot read the command line: %s", strerror(failure));
}

/// "NAME: text" and what to try.
_Noreturn static void usage_exit(const char *text) {
    cmd_progress_end();
    fprintf(stderr, "%s: %s\nTry '%s --help'.\n", cmd__state.name, text, cmd__state.name);
    exit(CMD_EXIT_USAGE);
}

void cmd_usage(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    usage_exit(text);
}

double cmd_number(const char *option, const char *text, double min, double max) {
    core_error err = {0};
    double value = 0.0;
    if (core_parse_number(text, option, min, max, &value, &err) != CORE_OK) usage_exit(err.message);
    return value;
}

int64_t cmd_integer(const char *option, const char *text, int64_t min, int64_t max) {
    core_error err = {0};
    int64_t value = 0;
    if (core_parse_integer(text, option, min, max, &value, &err) != CORE_OK) usage_exit(err.message);
    return value;
}

int cmd_choice(const char *option, const char *text, const char *const *words, int count) {
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) return i;
        const char *between = i == 0 ? "" : i == count - 1 ? " or " : ", ";
        if (used < sizeof list) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", between, words[i]);
    }
    const char *nearest = core_nearest_word(text, words, count);
    if (nearest) cmd_usage("%s: found \"%.100s\", expected %s; did you mean %s?", option, text, list, nearest);
    cmd_usage("%s: found \"%.100s\", expected %s", option, text, list);
}

void cmd_region(const char *text, double region[4]) {
    char word[64];
    const char *s = text;
    for (int i = 0; i < 4; i++) {
        size_t n = strcspn(s, ",");
        if (n >= sizeof word || (i < 3) != (s[n] == ','))
            cmd_usage("--region: found \"%s\", expected X0,Y0,X1,Y1 in m", text);
        memcpy(word, s, n);
        word[n] = '\0';
        region[i] = cmd_number("--region", word, -CMD_REGION_LIMIT, CMD_REGION_LIMIT);
        s += n + (s[n] == ',');
    }
    if (!(region[0] < region[2] && region[1] < region[3]))
        cmd_usage("--region: found \"%s\", expected X0,Y0,X1,Y1 in m with X0 < X1 and Y0 < Y1", text);
}

core_status cmd_check_output(const char *path, const char *format, int version, core_error *err) {
    core_h5 *file = NULL;
    CORE_TRY(core_h5_create(path, format, version, &file, err));
    core_h5_abandon(&file);
    return CORE_OK;
}

void cmd_print_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(out, "\\u%04x", *s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

int cmd_report(const core_error *err) {
    cmd_progress_end();
    const char *text = err->message[0] ? err->message : core_status_name(err->code);
    fprintf(stderr, "%s: %s\n", cmd__state.name, text);
    cmd__state.reported = true;
    switch (err->code) {
    case CORE_IO:
    case CORE_MEMORY:
    case CORE_NOT_CONVERGED:
        return CMD_EXIT_FAILED;
    case CORE_INTERNAL:
        fprintf(stderr, "%s: this is a bug (%s:%d); please report it with the command line\n", cmd__state.name,
                err->file ? base_name(err->file) : "?", err->line);
        return CMD_EXIT_FAILED;
    default:
        return CMD_EXIT_USAGE;
    }
}

// ---------------------------------------------------------------------------------------------- progress

void cmd_costs(double *seconds, double *megabytes) {
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    *seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    *megabytes = 1.024e-3 * (double)use.ru_maxrss; // Linux counts in 1024 bytes
}

/// 12345678 as "12.3M": short, three digits.
static void short_number(double x, char *text, size_t n_bytes) {
    if (fabs(x) >= 1e7)
        snprintf(text, n_bytes, "%.1fM", x * 1e-6);
    else if (fabs(x) >= 1e5)
        snprintf(text, n_bytes, "%.0fk", x * 1e-3);
    else if (fabs(x) >= 100.0)
        snprintf(text, n_bytes, "%.0f", x);
    else
        snprintf(text, n_bytes, "%.3g", x);
}

/// "3 min 20 s".
static void short_time(double seconds, char *text, size_t n_bytes) {
    long s = (long)(seconds + 0.5);
    if (s < 60)
        snprintf(text, n_bytes, "%ld s", s);
    else if (s < 3600)
        snprintf(text, n_bytes, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, n_bytes, "%ld h %ld min", s / 3600, s / 60 % 60);
}

void cmd_pace_take(cmd_pace *pace, double time, double done) {
    if (time - pace->time[1] < CMD_STRETCH_SECONDS) return;
    pace->time[0] = pace->time[1], pace->done[0] = pace->done[1];
    pace->time[1] = time, pace->done[1] = done;
}

double cmd_pace_rate(const cmd_pace *pace, double time, double done) {
    const double rate = (done - pace->done[0]) / (time - pace->time[0]);
    return time > pace->time[0] && rate > 0.0 && isfinite(rate) ? rate : 0.0;
}

/// "stage: 45 %, 450/1000 samples, 120/s, 4 s + 5 s left, note", as far as the parts are known.
static void progress_text(double now, char *text, size_t n_bytes) {
    char done[32], total[32], rate_text[32], so_far[48], left[48];
    size_t used = (size_t)snprintf(text, n_bytes, "%.60s:", cmd__state.stage);
    short_number(cmd__state.done, done, sizeof done);
    short_number(cmd__state.total, total, sizeof total);
    bool bounded = cmd__state.total > 0.0;
    if (bounded)
        used += (size_t)snprintf(text + used, n_bytes - used, " %.0f %%, %s/%s %s",
                                 floor(100.0 * cmd__state.done / cmd__state.total), done, total, cmd__state.unit);
    else
        used += (size_t)snprintf(text + used, n_bytes - used, " %s %s", done, cmd__state.unit);
    const bool finished = bounded && cmd__state.done >= cmd__state.total;
    const cmd_pace whole = {{cmd__state.started}, {cmd__state.done_first}};
    const double rate = cmd_pace_rate(finished ? &whole : &cmd__state.pace, now, cmd__state.done);
    if (rate > 0.0) {
        short_number(rate, rate_text, sizeof rate_text);
        used += (size_t)snprintf(text + used, n_bytes - used, ", %s/s", rate_text);
        const double seconds_left = (cmd__state.total - cmd__state.done) / rate;
        short_time(now - cmd__state.started, so_far, sizeof so_far);
        if (finished) {
            used += (size_t)snprintf(text + used, n_bytes - used, ", took %s", so_far);
        } else if (bounded && seconds_left < 1e7) {
            short_time(seconds_left, left, sizeof left);
            used += (size_t)snprintf(text + used, n_bytes - used, ", %s + %s left", so_far, left);
        }
    }
    if (cmd__state.note[0]) snprintf(text + used, n_bytes - used, ", %s", cmd__state.note);
}

/// Cuts text to a number of bytes, not inside a UTF-8 letter.
static void cut(char *text, size_t most) {
    if (strlen(text) <= most) return;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) most--;
    text[most] = '\0';
}

static void progress_print(double now) {
    char text[512];
    progress_text(now, text, sizeof text);
    if (cmd__state.terminal) {
        cut(text, CMD_LINE_MAX);
        fprintf(stderr, "\r%s\033[K", text);
        fflush(stderr);
    } else {
        fprintf(stderr, "%s: %s\n", cmd__state.name, text);
    }
    cmd__state.printed = now;
    cmd__state.shown = true;
}

/// core_progress callback: the user pointer is not needed, a process has one progress line.
static void progress_take(void *user, const char *stage, double done, double total, const char *unit,
                          const char *note) {
    (void)user;
    double now = core_wall_seconds();
    if (strncmp(cmd__state.stage, stage, sizeof cmd__state.stage - 1) != 0) {
        cmd_progress_end();
        snprintf(cmd__state.stage, sizeof cmd__state.stage, "%s", stage);
        cmd__state.started = now;
        cmd__state.printed = cmd__state.terminal ? now - CMD_TERMINAL_SECONDS : now;
        cmd__state.done_first = done;
        cmd__state.pace = (cmd_pace){{now, now}, {done, done}};
    }
    cmd_pace_take(&cmd__state.pace, now, done);
    bool ended_before = cmd__state.shown && cmd__state.total > 0.0 && cmd__state.done >= cmd__state.total;
    bool same = done <= cmd__state.done && done >= cmd__state.done;
    cmd__state.done = done;
    cmd__state.total = total;
    snprintf(cmd__state.unit, sizeof cmd__state.unit, "%s", unit ? unit : "");
    snprintf(cmd__state.note, sizeof cmd__state.note, "%s", note ? note : "");
    if (ended_before && same) return; // the end was reported already
    cmd__state.shown = false;
    double interval = cmd__state.terminal ? CMD_TERMINAL_SECONDS : CMD_LOG_SECONDS;
    if (now - cmd__state.printed >= interval || (total > 0.0 && done >= total)) progress_print(now);
}

core_progress cmd_progress(bool quiet) {
    if (quiet) return (core_progress){0};
    return (core_progress){progress_take, NULL};
}

void cmd_progress_end(void) {
    if (!cmd__state.stage[0]) return;
    if (!cmd__state.shown) progress_print(core_wall_seconds());
    if (cmd__state.terminal) fputc('\n', stderr);
    cmd__state.stage[0] = '\0';
    cmd__state.done = cmd__state.total = 0.0;
    cmd__state.shown = false;
}

// ---------------------------------------------------------------------------------------------- provenance

/// True if a shell would take the word as it is.
static bool is_plain_word(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    return word[0] && word[strspn(word, plain)] == '\0';
}

/// Appends a word to the line, in single quotes where a shell needs them. Returns the new end.
static char *append_word(char *end, const char *word) {
    bool plain = is_plain_word(word);
    if (!plain) *end++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') {
            memcpy(end, "'\\''", 4);
            end += 4;
        } else {
            *end++ = *word;
        }
    }
    if (!plain) *end++ = '\'';
    return end;
}

char *cmd_quote(const char *word) {
    char *text = core_alloc(4 * strlen(word) + 3, 1);
    if (text) *append_word(text, word) = '\0';
    return text;
}

char *cmd_program(const char *name) {
    const int n_folder = (int)(base_name(cmd__state.called) - cmd__state.called);
    const size_t size = (size_t)n_folder + strlen(name) + 1;
    char *path = core_alloc(size, 1);
    if (!path) return NULL;
    snprintf(path, size, "%.*s%s", n_folder, cmd__state.called, name);
    char *quoted = cmd_quote(path);
    core_free(path);
    return quoted;
}

core_h5_provenance cmd_provenance(int argc, char **argv, uint64_t seed) {
    size_t n = 1;
    for (int i = 0; i < argc; i++) n += 4 * strlen(argv[i]) + 3;
    core_free(cmd__state.command_line);
    cmd__state.command_line = core_alloc(n, 1); // without memory the line is left out
    if (cmd__state.command_line) {
        char *end = cmd__state.command_line;
        for (int i = 0; i < argc; i++) {
            if (i > 0) *end++ = ' ';
            end = append_word(end, argv[i]);
        }
        *end = '\0';
    }
    return (core_h5_provenance){.command_line = cmd__state.command_line, .seed = seed};
}
