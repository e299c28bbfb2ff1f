/// Laws of prescribed motion of boundaries, for both solvers: what they are, how scenes give them, where they lead.
#ifndef CORE_MOTION_H
#define CORE_MOTION_H

#include "core_yaml.h"

#include <float.h>

/// A law of motion: the body turns about `pivot` and is displaced, both as sums of a constant rate, a sinusoid and a
/// table, from the pose it has when the motion starts. All 0: at rest.
typedef struct core_motion {
    double velocity[2], rotation;         // m/s, rad/s
    double amplitude[2], amplitude_angle; // m, rad: times sin(2 pi frequency t + phase) - sin(phase)
    double frequency, phase;              // 1/s, rad
    int count_rows;                       // of the table, 0: none
    double *table;   // (count_rows x 4) t, x, y, angle in s, m, rad: displacement and turn since the start, linear
                     // between rows, constant beyond them
    double pivot[2]; // m, as at the start; NaN: the body's own reference point
    bool waits;      // does not start with the run but when a phase says so
} core_motion;

/// True if the law leads anywhere at all.
bool core_motion_moves(const core_motion *law);
/// Pose t seconds after the start of a body that was at x0, angle0 (m, rad) then: a pure function, so that nothing
/// accumulates. x(t) = pivot + u(t) + R(a(t)) (x0 - pivot), angle = angle0 + a(t).
void core_motion_pose(const core_motion *law, double t, const double x0[2], double angle0, double x[2], double *angle);
/// A copy with a table of its own, which the caller frees with core_free. MEMORY.
core_status core_motion_copy(const core_motion *from, core_motion *to, core_error *err);
/// Reads a block of CORE_MOTION_KEYS; node NULL: at rest. Paths are relative to `folder`; *table_path (caller frees
/// with core_free): the file of the table, NULL without one. The table belongs to the caller, too. FORMAT, RANGE, IO,
/// MEMORY at the key's line.
core_status core_motion_read(const core_yaml *doc, const core_yaml_node *node, const char *folder, core_motion *motion,
                             char **table_path, core_error *err);

/// Keys of a motion in a scene's table, behind `prefix`.
#define CORE_MOTION_KEYS(prefix)                                                                                       \
    {.path = prefix "motion",                                                                                          \
     .kind = CORE_YAML_BLOCK,                                                                                          \
     .help = "Prescribed motion, the sum of the parts given; from t = 0, or from the phase that starts it."},          \
        {.path = prefix "motion.velocity",                                                                             \
         .kind = CORE_YAML_VECTOR,                                                                                     \
         .unit = "m/s",                                                                                                \
         .count = 2,                                                                                                   \
         .standard = "[0, 0]",                                                                                         \
         .help = "Constant velocity."},                                                                                \
        {.path = prefix "motion.rotation",                                                                             \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "rad/s",                                                                                              \
         .standard = "0",                                                                                              \
         .help = "Constant angular velocity, counter-clockwise."},                                                     \
        {.path = prefix "motion.about",                                                                                \
         .kind = CORE_YAML_VECTOR,                                                                                     \
         .unit = "m",                                                                                                  \
         .count = 2,                                                                                                   \
         .help = "Point it turns about; unless given a plane's point, a circle's, grain's or shape's centre, the "     \
                 "middle of a polyline."},                                                                             \
        {.path = prefix "motion.amplitude",                                                                            \
         .kind = CORE_YAML_VECTOR,                                                                                     \
         .unit = "m",                                                                                                  \
         .count = 2,                                                                                                   \
         .standard = "[0, 0]",                                                                                         \
         .help = "Of a sinusoidal displacement: times sin(2 pi frequency t + phase) - sin(phase)."},                   \
        {.path = prefix "motion.amplitude_angle",                                                                      \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "rad",                                                                                                \
         .standard = "0",                                                                                              \
         .help = "Of a sinusoidal rotation."},                                                                         \
        {.path = prefix "motion.frequency",                                                                            \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "1/s",                                                                                                \
         .standard = "0",                                                                                              \
         .max = DBL_MAX,                                                                                               \
         .help = "Of both sinusoids."},                                                                                \
        {.path = prefix "motion.phase",                                                                                \
         .kind = CORE_YAML_NUMBER,                                                                                     \
         .unit = "rad",                                                                                                \
         .standard = "0",                                                                                              \
         .help = "Of both sinusoids at the start."},                                                                   \
    {                                                                                                                  \
        .path = prefix "motion.table", .kind = CORE_YAML_TEXT,                                                         \
        .help = "CSV file, columns t,x,y,angle (s, m, rad): displacement since the start, linear between rows."        \
    }

#endif
