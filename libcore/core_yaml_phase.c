/// Names that scenes give, and phases.
#include "core_yaml.h"

#include <string.h>

core_status core_yaml_copy_name(const core_yaml *doc, const core_yaml_node *place, const char *from,
                                char to[CORE_NAME_MAX], core_error *err) {
    const size_t n = strlen(from);
    if (n == 0) return core_yaml_fail(doc, place, err, "an empty name; expected a word");
    if (n >= CORE_NAME_MAX)
        return core_yaml_fail(doc, place, err, "a name of %zu bytes; expected at most %d", n, CORE_NAME_MAX - 1);
    if (strchr(from, '\n')) return core_yaml_fail(doc, place, err, "a name with a line break; expected one line");
    memcpy(to, from, n + 1);
    return CORE_OK;
}

static core_status read_phase_name(const core_yaml *doc, const core_yaml_node *phases, int i, char to[CORE_NAME_MAX],
                                   core_error *err) {
    const core_yaml_node *place = core_yaml_get(core_yaml_at(phases, i), "name");
    const char *name = core_yaml_scalar(place);
    double value;
    CORE_TRY(core_yaml_copy_name(doc, place, name, to, err));
    if (strpbrk(name, ",+") || name[0] == ' ' || name[strlen(name) - 1] == ' ' ||
        core_parse_number(name, "", -1e300, 1e300, &value, NULL) == CORE_OK)
        return core_yaml_fail(
            doc, place, err,
            "found \"%s\", expected a name without commas, plus signs and blanks at its ends that is not a number",
            name);
    for (int k = 0; k < i; ++k)
        if (strcmp(core_yaml_text(core_yaml_at(phases, k), "name"), name) == 0)
            return core_yaml_fail(doc, place, err, "a second phase \"%s\"; expected another name", name);
    return CORE_OK;
}

core_status core_yaml_phase_read(const core_yaml *doc, const core_yaml_node *phases, int i, core_yaml_phase *phase,
                                 core_error *err) {
    static const char *const rest_keys[] = {"timeout", "on_timeout"};
    const core_yaml_node *node = core_yaml_at(phases, i), *time = core_yaml_get(node, "time");
    core_yaml_phase fresh = {.until_rest = core_yaml_get(node, "until") != NULL};
    CORE_TRY(read_phase_name(doc, phases, i, fresh.name, err));
    if (fresh.until_rest && time)
        return core_yaml_fail(doc, time, err, "given together with until; expected one of them");
    if (!fresh.until_rest && !time)
        return core_yaml_fail(doc, node, err, "neither until nor time; expected one of them");
    for (int k = 0; k < 2 && !fresh.until_rest; ++k) {
        const core_yaml_node *key = core_yaml_get(node, rest_keys[k]);
        if (key) return core_yaml_fail(doc, key, err, "used with time; expected only with until: rest");
    }
    fresh.time = fresh.until_rest ? 0 : core_yaml_number(node, "time");
    fresh.timeout = fresh.until_rest ? core_yaml_number(node, "timeout") : 0;
    fresh.continue_on_timeout = fresh.until_rest && strcmp(core_yaml_text(node, "on_timeout"), "continue") == 0;
    *phase = fresh;
    return CORE_OK;
}
