/// The table of keys that the tests of the YAML engine read with. Include behind cmocka.h.
#ifndef TEST_CORE_YAML_TABLE_H
#define TEST_CORE_YAML_TABLE_H

#include <float.h>

#include "core_yaml.h"

static const core_yaml_key table[] = {
    {.path = "title", .kind = CORE_YAML_TEXT, .standard = "untitled", .help = "A title."},
    {.path = "gravity",
     .kind = CORE_YAML_VECTOR,
     .unit = "m/s^2",
     .standard = "[0, -9.81]",
     .count = 2,
     .help = "Down."},
    {.path = "seed", .kind = CORE_YAML_INTEGER, .standard = "1", .max = 1000, .help = "Seed."},
    {.path = "dt",
     .kind = CORE_YAML_NUMBER,
     .unit = "s",
     .standard = "auto",
     .automatic = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Step."},
    {.path = "mode", .kind = CORE_YAML_WORD, .words = "fast slow", .standard = "fast", .help = "Speed."},
    {.path = "only", .kind = CORE_YAML_WORD, .words = "one", .help = "One word."},
    {.path = "gone", .kind = CORE_YAML_NAMES, .help = "Names."},
    {.path = "contact", .kind = CORE_YAML_BLOCK, .required = true, .help = "Contact."},
    {.path = "contact.kn",
     .kind = CORE_YAML_NUMBER,
     .unit = "N/m",
     .required = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Stiffness."},
    {.path = "contact.mu", .kind = CORE_YAML_NUMBER, .standard = "0.5", .max = 10, .help = "Friction."},
    {.path = "contact.e", .kind = CORE_YAML_NUMBER, .above_min = true, .max = 1, .help = "Restitution."},
    {.path = "contact.free", .kind = CORE_YAML_NUMBER, .help = "Any number."},
    {.path = "types", .kind = CORE_YAML_DICT, .help = "Types."},
    {.path = "types{}.radius",
     .kind = CORE_YAML_NUMBER,
     .unit = "m",
     .required = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Radius."},
    {.path = "walls", .kind = CORE_YAML_LIST, .help = "Walls."},
    {.path = "walls[].name", .kind = CORE_YAML_TEXT, .required = true, .help = "Name."},
    {.path = "walls[].plane", .kind = CORE_YAML_BLOCK, .help = "Plane."},
    {.path = "walls[].plane.point",
     .kind = CORE_YAML_VECTOR,
     .unit = "m",
     .standard = "[1, 2]",
     .count = 2,
     .help = "Point."},
};
#define COUNT_KEYS ((int)(sizeof table / sizeof table[0]))

static inline core_status read_n(const char *text, size_t n, int count, const char *const *overrides, core_yaml **doc,
                                 core_error *err) {
    return core_yaml_read_text(text, n, "s.yaml", table, COUNT_KEYS, count, overrides, doc, err);
}

#endif
