// Times of --time.
#include "cmd_time.h"

#include <string.h>

void cmd_instant_parse(const char *text, cmd_instant *instant) {
    cmd_instant t = {0};
    if (core_parse_number(text, "--time", -CMD_TIME_LIMIT, CMD_TIME_LIMIT, &t.after, NULL) != CORE_OK) {
        const char *plus = strrchr(text, '+');
        const size_t n = plus ? (size_t)(plus - text) : strlen(text);
        if (n == 0 || n >= sizeof t.phase)
            cmd_usage("--time: found \"%s\", expected seconds, PHASE or PHASE+SECONDS", text);
        t.after = plus ? cmd_number("--time", plus + 1, 0, CMD_TIME_LIMIT) : 0;
        memcpy(t.phase, text, n);
    }
    *instant = t;
}

core_status cmd_instant_resolve(core_run_reader *run, const char *path, const cmd_instant *instant, double *time,
                                core_error *err) {
    const core_run_info *info = core_run_describe(run);
    int64_t frame = 0;
    if (!instant->phase[0]) {
        *time = instant->after;
        return CORE_OK;
    }
    int phase = 0;
    while (phase < info->count_phases && strcmp(info->phase_names[phase], instant->phase) != 0) phase++;
    const char *first = info->count_phases > 0 ? info->phase_names[0] : "";
    const bool known = phase < info->count_phases;
    CORE_CHECK(known, CORE_ARG, "--time: found \"%s\", expected seconds or a phase of %s (the first of its %d: \"%s\")",
               instant->phase, path, info->count_phases, first);
    CORE_TRY(core_run_phase_start(run, phase, &frame, err));
    CORE_CHECK(frame >= 0, CORE_ARG, "--time: %s ended before its phase \"%s\"", path, instant->phase);
    *time = info->times[frame] + instant->after;
    return CORE_OK;
}
