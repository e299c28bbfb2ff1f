/// The one table of scene keys: what the reader accepts, its defaults and the text of `simulate --help-scene`.
#include <float.h>

#include "sim.h"
#include "sim_scene_private.h"

#define SEED_MAX 9007199254740991.0 // 2^53 - 1: whole numbers up to here are told apart as doubles
#define FILL_MAX 10000000.0         // grains of one fill entry

// Contact parameters, once for the default and once for pairs.
#define CONTACT_KEYS(prefix, needed)                                                                                   \
    {.path = prefix "kn",                                                                                              \
     .kind = CORE_YAML_NUMBER,                                                                                         \
     .unit = "N/m",                                                                                                    \
     .required = needed,                                                                                               \
     .above_min = true,                                                                                                \
     .max = DBL_MAX,                                                                                                   \
     .help = "Normal stiffness per metre of depth."},                                                                  \
        {.path = prefix "kt",                                                                                          \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "N/m",                                                                                                \
         .above_min = true,                                                                                            \
         .max = DBL_MAX,                                                                                               \
         .help = "Tangential stiffness; 2/3 kn unless given."},                                                        \
        {.path = prefix "restitution",                                                                                 \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "",                                                                                                   \
         .above_min = true,                                                                                            \
         .max = 1,                                                                                                     \
         .help = "Realised restitution of a head-on collision; sets both dampings. Not together with gamma_n."},       \
        {.path = prefix "gamma_n",                                                                                     \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "N s/m",                                                                                              \
         .max = DBL_MAX,                                                                                               \
         .help = "Normal damping, instead of restitution."},                                                           \
        {.path = prefix "gamma_t",                                                                                     \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "N s/m",                                                                                              \
         .max = DBL_MAX,                                                                                               \
         .help = "Tangential damping; unless given, of the same damping ratio as the normal one."},                    \
    {                                                                                                                  \
        .path = prefix "mu", .kind = CORE_YAML_NUMBER, .unit = "", .required = needed, .max = 100,                     \
        .help = "Friction coefficient."                                                                                \
    }

static const core_yaml_key table[] = {
    {.path = "title", .kind = CORE_YAML_TEXT, .standard = "untitled", .help = "Shown in pictures and tables."},
    {.path = "gravity",
     .kind = CORE_YAML_VECTOR,
     .unit = "m/s^2",
     .count = 2,
     .standard = "[0, -9.81]",
     .help = "Acceleration of every grain."},
    {.path = "types", .kind = CORE_YAML_DICT, .required = true, .help = "Grain types by name."},
    {.path = "types{}.shape",
     .kind = CORE_YAML_TEXT,
     .required = true,
     .help = "Shape file, relative to the scene's folder."},
    {.path = "types{}.radius",
     .kind = CORE_YAML_NUMBER,
     .unit = "m",
     .required = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Circumradius: largest distance from the centroid to the outline."},
    {.path = "types{}.density",
     .kind = CORE_YAML_NUMBER,
     .unit = "kg/m^3",
     .required = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Density, at one metre of depth."},
    {.path = "contact", .kind = CORE_YAML_BLOCK, .required = true, .help = "Contact parameters."},
    {.path = "contact.default",
     .kind = CORE_YAML_BLOCK,
     .required = true,
     .help = "Of every pair of types, and of types with boundaries."},
    CONTACT_KEYS("contact.default.", true),
    {.path = "contact.pairs",
     .kind = CORE_YAML_LIST,
     .help = "Pairs that differ from the default in the fields given."},
    {.path = "contact.pairs[].a", .kind = CORE_YAML_TEXT, .required = true, .help = "A grain type or a boundary."},
    {.path = "contact.pairs[].b", .kind = CORE_YAML_TEXT, .required = true, .help = "A grain type or a boundary."},
    CONTACT_KEYS("contact.pairs[].", false),
    {.path = "boundaries", .kind = CORE_YAML_LIST, .help = "Walls and floors."},
    {.path = "boundaries[].name", .kind = CORE_YAML_TEXT, .required = true, .help = "Used in pairs and phases."},
    {.path = "boundaries[].plane", .kind = CORE_YAML_BLOCK, .required = true, .help = "A half-plane."},
    {.path = "boundaries[].plane.point",
     .kind = CORE_YAML_VECTOR,
     .unit = "m",
     .required = true,
     .count = 2,
     .help = "A point of the surface."},
    {.path = "boundaries[].plane.normal",
     .kind = CORE_YAML_VECTOR,
     .unit = "",
     .required = true,
     .count = 2,
     .help = "Points to the side where grains may be; any length."},
    {.path = "fill",
     .kind = CORE_YAML_LIST,
     .help = "Grains on a jittered lattice of bounding circles, random angles, from below."},
    {.path = "fill[].type", .kind = CORE_YAML_TEXT, .required = true, .help = "A grain type."},
    {.path = "fill[].count",
     .kind = CORE_YAML_INTEGER,
     .required = true,
     .min = 1,
     .max = FILL_MAX,
     .unit = "",
     .help = "Number of grains."},
    {.path = "fill[].region",
     .kind = CORE_YAML_VECTOR,
     .unit = "m",
     .required = true,
     .count = 4,
     .help = "Box that holds them: [x0, y0, x1, y1]."},
    {.path = "place", .kind = CORE_YAML_LIST, .help = "Single grains."},
    {.path = "place[].type", .kind = CORE_YAML_TEXT, .required = true, .help = "A grain type."},
    {.path = "place[].position",
     .kind = CORE_YAML_VECTOR,
     .unit = "m",
     .required = true,
     .count = 2,
     .help = "Of the centroid."},
    {.path = "place[].angle",
     .kind = CORE_YAML_NUMBER,
     .unit = "rad",
     .standard = "0",
     .help = "Counter-clockwise from the shape as drawn."},
    {.path = "place[].velocity",
     .kind = CORE_YAML_VECTOR,
     .unit = "m/s",
     .count = 2,
     .standard = "[0, 0]",
     .help = "At the start."},
    {.path = "place[].angular_velocity",
     .kind = CORE_YAML_NUMBER,
     .unit = "rad/s",
     .standard = "0",
     .help = "At the start, counter-clockwise."},
    {.path = "phases", .kind = CORE_YAML_LIST, .required = true, .help = "Run one after the other."},
    {.path = "phases[].name", .kind = CORE_YAML_TEXT, .required = true, .help = "Named in messages."},
    {.path = "phases[].until",
     .kind = CORE_YAML_WORD,
     .words = "rest",
     .help =
         "Ends when the mean kinetic energy per moving grain stays below 1e-3 m g R for 2 sqrt(R/g). This or time."},
    {.path = "phases[].timeout",
     .kind = CORE_YAML_NUMBER,
     .unit = "s",
     .standard = "60",
     .above_min = true,
     .max = DBL_MAX,
     .help = "Longest duration of a phase until rest."},
    {.path = "phases[].on_timeout",
     .kind = CORE_YAML_WORD,
     .words = "stop continue",
     .standard = "stop",
     .help = "stop ends the run with exit status 1; continue starts the next phase."},
    {.path = "phases[].time",
     .kind = CORE_YAML_NUMBER,
     .unit = "s",
     .above_min = true,
     .max = DBL_MAX,
     .help = "Duration of the phase. This or until."},
    {.path = "phases[].remove", .kind = CORE_YAML_NAMES, .help = "Boundaries taken away when the phase starts."},
    {.path = "narrow_phase",
     .kind = CORE_YAML_WORD,
     .words = "neural minimiser exact",
     .standard = "neural",
     .help =
         "Contacts from the trained maps, from the minimiser on grids (slow), or from the exact distance of polygons."},
    {.path = "solver",
     .kind = CORE_YAML_WORD,
     .words = "penalty",
     .standard = "penalty",
     .help = "Springs and dashpots."},
    {.path = "maps", .kind = CORE_YAML_TEXT, .help = "Bundle of contact maps, relative to the scene's folder."},
    {.path = "smoothing",
     .kind = CORE_YAML_NUMBER,
     .unit = "L",
     .standard = "0.001",
     .max = 0.1,
     .help = "Width over which numeric back ends and planes smooth the distance; L is the larger circumradius."},
    {.path = "dt",
     .kind = CORE_YAML_NUMBER,
     .unit = "s",
     .standard = "auto",
     .automatic = true,
     .above_min = true,
     .max = DBL_MAX,
     .help = "Time step; auto: a quarter of sqrt(m_eff/kn) of the stiffest pair."},
    {.path = "output", .kind = CORE_YAML_BLOCK, .help = "What is written to the run file."},
    {.path = "output.every",
     .kind = CORE_YAML_NUMBER,
     .unit = "s",
     .standard = "0.02",
     .above_min = true,
     .max = DBL_MAX,
     .help = "Simulated time between two frames; never changes the steps."},
    {.path = "seed",
     .kind = CORE_YAML_INTEGER,
     .unit = "",
     .standard = "1",
     .max = SEED_MAX,
     .help = "Of every random number: jitter and angles of the fill."},
};

const core_yaml_key *sim__scene_table(int *count) {
    *count = (int)(sizeof table / sizeof table[0]);
    return table;
}

core_status sim_scene_help(char **text, core_error *err) {
    CORE_CHECK(text, CORE_ARG, "sim_scene_help: null text");
    return core_yaml_help(table, (int)(sizeof table / sizeof table[0]), text, err);
}
