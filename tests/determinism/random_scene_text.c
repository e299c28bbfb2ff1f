/// The texts of random scenes. Lengths in m; grains have a circumradius of about a centimetre, in a box of some
/// decimetres.
#include "random_scenes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 3, WALLS_MAX = 8, ACTORS_MAX = 8, NAME_BYTES = 16 };

/// A scene being written.
typedef struct writer {
    core_random random;
    const char *project;
    char *text;
    size_t used;
    sim_back_end back_end;
    int count_types;
    double radius;        // m, of the largest grain
    double width, height; // m, of the box that is filled
    double lean;          // of the left wall: y of its normal, x is 1
    bool gravity, periodic, lid;
    int count_walls; // names that a phase may remove
    char walls[WALLS_MAX][NAME_BYTES];
    int count_actors; // names that a phase may start and stop
    char actors[ACTORS_MAX][NAME_BYTES];
} writer;

static void add(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(w->text + w->used, RANDOM_SCENE_BYTES - w->used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= RANDOM_SCENE_BYTES - w->used) abort();
    w->used += (size_t)n;
}

static double between(writer *w, double low, double high) {
    return low + (high - low) * core_random_uniform(&w->random);
}

static double scaled(writer *w, double low, double high) {
    return low * pow(high / low, core_random_uniform(&w->random));
}

static int whole(writer *w, int low, int high) {
    const int n = low + (int)floor((high - low + 1) * core_random_uniform(&w->random));
    return n > high ? high : n;
}

static bool chance(writer *w, double probability) {
    return core_random_uniform(&w->random) < probability;
}

// ---------------------------------------------------------------------------------------------- grains and contacts

static void add_types(writer *w) {
    static const char *const shapes[] = {"arc50", "bar", "comma",   "d",      "disc", "hash", "hash_thin",
                                         "link",  "n",   "octagon", "pebble", "o",    "u",    "square"};
    const int count_shapes = (int)(sizeof shapes / sizeof *shapes);
    const double common = between(w, 0.006, 0.014);
    // the maps at hand are of two shapes of one size
    const bool neural = w->back_end == SIM_NEURAL;
    w->count_types = whole(w, 1, neural ? 2 : w->back_end == SIM_MINIMISER ? 2 : TYPES_MAX);
    w->radius = 0;
    add(w, "types:\n");
    for (int t = 0; t < w->count_types; ++t) {
        const char *shape = neural ? (t == 0 ? "hash" : "u") : shapes[whole(w, 0, count_shapes - 1)];
        const double radius = neural ? common : common * between(w, 0.6, 1.6);
        add(w, "  t%d: {shape: '%s/shapes/%s.wkt', density: %.6g, ", t, w->project, shape, scaled(w, 300, 8000));
        if (!neural && w->back_end != SIM_MINIMISER && chance(w, 0.2)) {
            add(w, "radii: [%.6g, %.6g], sizes: %d}\n", 0.7 * radius, radius, whole(w, 2, 3));
        } else {
            add(w, "radius: %.6g}\n", radius);
        }
        w->radius = fmax(w->radius, radius);
    }
}

static void add_damping(writer *w) {
    if (chance(w, 0.75)) {
        add(w, "restitution: %.6g", between(w, 0.05, 1));
        return;
    }
    add(w, "gamma_n: %.6g", scaled(w, 0.1, 20));
    if (chance(w, 0.5)) add(w, ", gamma_t: %.6g", scaled(w, 0.1, 20));
}

static void add_contact(writer *w) {
    const double kn = scaled(w, 3e4, 1e6);
    add(w, "contact:\n  default: {");
    if (chance(w, 0.15) && w->gravity)
        add(w, "kn: auto, ");
    else
        add(w, "kn: %.6g, ", kn);
    if (chance(w, 0.3)) add(w, "kt: %.6g, ", kn * between(w, 0.2, 1));
    add_damping(w);
    add(w, ", mu: %.6g}\n", chance(w, 0.15) ? 0 : between(w, 0, 1.2));
    if (!chance(w, 0.3)) return;
    add(w, "  pairs:\n    - {a: t0, b: t%d, kn: %.6g, ", w->count_types - 1, kn * scaled(w, 0.3, 3));
    add_damping(w);
    add(w, ", mu: %.6g}\n", between(w, 0, 1));
    if (w->count_walls > 0) add(w, "    - {a: t0, b: %s, mu: %.6g}\n", w->walls[0], between(w, 0, 1));
}

// ---------------------------------------------------------------------------------------------- boundaries

static void name_wall(writer *w, const char *name, bool moves) {
    if (w->count_walls < WALLS_MAX) snprintf(w->walls[w->count_walls++], NAME_BYTES, "%s", name);
    if (moves && w->count_actors < ACTORS_MAX) snprintf(w->actors[w->count_actors++], NAME_BYTES, "%s", name);
}

/// A law of motion in about `probability` of the cases.
static bool add_motion(writer *w, double probability, bool turns) {
    if (!chance(w, probability)) return false;
    add(w, ", motion: {");
    if (turns && chance(w, 0.6)) {
        add(w, "rotation: %.6g", between(w, -20, 20));
    } else if (chance(w, 0.5)) {
        add(w, "velocity: [%.6g, %.6g]", between(w, -0.2, 0.2), between(w, -0.2, 0.2));
    } else {
        add(w, "amplitude: [%.6g, %.6g], frequency: %.6g, phase: %.6g", between(w, 0, 0.002), between(w, 0, 0.002),
            between(w, 1, 60), between(w, 0, 6));
    }
    add(w, "}");
    return true;
}

static void add_planes(writer *w) {
    const double slope = w->periodic ? 0 : between(w, -0.3, 0.3);
    add(w, "  - {name: floor, plane: {point: [0, 0], normal: [%.6g, 1]}", slope);
    name_wall(w, "floor", add_motion(w, 0.25, false));
    add(w, "}\n");
    if (!w->periodic && chance(w, 0.6)) {
        w->lean = between(w, -0.2, 0.2);
        add(w, "  - {name: left, plane: {point: [0, 0], normal: [1, %.6g]}", w->lean);
        name_wall(w, "left", add_motion(w, 0.1, true));
        add(w, "}\n  - {name: right, plane: {point: [%.6g, 0], normal: [-1, 0]}", w->width);
        name_wall(w, "right", add_motion(w, 0.1, false));
        add(w, "}\n");
    }
    w->lid = chance(w, 0.15);
    if (!w->lid) return;
    add(w, "  - {name: lid, plane: {point: [0, %.6g], normal: [0, -1]}, servo: {pressure: %.6g, length: %.6g}}\n",
        1.1 * w->height, scaled(w, 10, 1000), w->width);
    name_wall(w, "lid", true);
}

static void add_boundaries(writer *w) {
    add(w, "boundaries:\n");
    add_planes(w);
    if (!w->periodic && chance(w, 0.25)) {
        add(w, "  - {name: drum, circle: {centre: [%.6g, %.6g], radius: %.6g}", w->width / 2, w->height / 2,
            between(w, 0.75, 1) * (w->width + w->height));
        name_wall(w, "drum", add_motion(w, 0.6, true));
        add(w, "}\n");
    }
    if (chance(w, 0.3)) {
        const int count = whole(w, 2, 4);
        add(w, "  - {name: chute, polyline: {points: [");
        for (int i = 0; i < count; ++i)
            add(w, "%s%.6g, %.6g", i > 0 ? ", " : "", w->width * (i + between(w, 0.1, 0.9)) / count,
                between(w, 0, 0.6) * w->height);
        add(w, "], thickness: %.6g}", between(w, 0.3, 1) * w->radius);
        name_wall(w, "chute", add_motion(w, 0.2, true));
        add(w, "}\n");
    }
    if (chance(w, 0.3)) {
        add(w, "  - {name: paddle, grain: {type: t0, position: [%.6g, %.6g], angle: %.6g}",
            between(w, 0.2, 0.8) * w->width, between(w, 0.2, 0.8) * w->height, between(w, -3, 3));
        name_wall(w, "paddle", add_motion(w, 0.6, true));
        add(w, "}\n");
    }
}

// ---------------------------------------------------------------------------------------------- what comes in and goes

// Where a grain at height y touches no wall, if there is room: a grain that begins inside of one is shot out of it.
static double between_walls(writer *w, double y) {
    const double room = 1.1 * w->radius, low = room + fmax(0, -w->lean * y), high = w->width - room;
    const double at = between(w, 0, 1);
    return w->periodic ? at * w->width : low < high ? low + at * (high - low) : 0.5 * (low + high);
}

static void add_grains(writer *w) {
    const double step = 2.2 * w->radius;
    const int columns = (int)(w->width / step), count = whole(w, 1, columns * (int)(w->height / step));
    add(w, "fill:\n  - {");
    if (w->count_types > 1 && chance(w, 0.6))
        add(w, "types: [t0, t1], weights: [%.6g, 1]", between(w, 0, 2));
    else
        add(w, "type: t%d", whole(w, 0, w->count_types - 1));
    add(w, ", count: %d, region: [0, 0, %.6g, %.6g]}\n", count, w->width, 1.5 * w->height);
    if (chance(w, 0.5) && !w->lid) { // there is no place above it
        const double above = 1.5 * w->height + 2 * w->radius;
        add(w, "place:\n");
        for (int i = whole(w, 1, 3); i > 0; --i) {
            const double y = above + 2.1 * i * w->radius;
            add(w,
                "  - {type: t0, position: [%.6g, %.6g], angle: %.6g, velocity: [%.6g, %.6g], angular_velocity: %.6g}\n",
                between_walls(w, y), y, between(w, -3, 3), between(w, -1, 1), between(w, -2, 0), between(w, -50, 50));
        }
    }
    if (chance(w, 0.3)) {
        add(w,
            "pour:\n  - {name: feed, type: t0, count: %d, rate: %.6g, region: [0, %.6g, %.6g, %.6g], velocity: [0, "
            "%.6g]}\n",
            whole(w, 1, 12), scaled(w, 20, 2000), 1.6 * w->height, w->width, 2.4 * w->height, between(w, -1, 0));
        if (w->count_actors < ACTORS_MAX) snprintf(w->actors[w->count_actors++], NAME_BYTES, "feed");
    }
    if (chance(w, 0.3)) {
        add(w, "outlets:\n  - {name: out, ");
        if (chance(w, 0.5))
            add(w, "region: [%.6g, 0, %.6g, %.6g]}\n", 0.3 * w->width, between(w, 0.4, 0.7) * w->width,
                0.3 * w->height);
        else
            add(w, "line: {point: [0, %.6g], normal: [0, 1]}}\n", between(w, 0, 0.3) * w->height);
        if (w->count_actors < ACTORS_MAX) snprintf(w->actors[w->count_actors++], NAME_BYTES, "out");
    }
}

static void add_phases(writer *w) {
    const int count = whole(w, 1, 3), started = w->count_actors > 0 ? whole(w, 0, w->count_actors - 1) : 0;
    int removed = 0;
    add(w, "phases:\n");
    for (int i = 0; i < count; ++i) {
        add(w, "  - {name: p%d, ", i);
        if (w->gravity && chance(w, 0.25))
            add(w, "until: rest, timeout: %.6g, on_timeout: continue", between(w, 0.01, 0.04));
        else
            add(w, "time: %.6g", between(w, 0.005, 0.03));
        if (i > 0 && removed < w->count_walls && chance(w, 0.3)) add(w, ", remove: [%s]", w->walls[removed++]);
        if (w->count_actors > 0 && i == 1 && chance(w, 0.4)) add(w, ", start: [%s]", w->actors[started]);
        if (w->count_actors > 0 && i == 2 && chance(w, 0.4)) add(w, ", stop: [%s]", w->actors[started]);
        add(w, "}\n");
    }
}

void random_scene_write(uint64_t seed, const char *project, char text[RANDOM_SCENE_BYTES]) {
    writer w = {.project = project, .text = text};
    core_random_init(&w.random, seed, 0);
    const double kind = core_random_uniform(&w.random);
    w.back_end = kind < 0.25 ? SIM_NEURAL : kind < 0.35 ? SIM_MINIMISER : SIM_EXACT;
    w.width = between(&w, 0.06, 0.2);
    w.height = between(&w, 0.04, 0.12);
    w.gravity = chance(&w, 0.9);
    w.periodic = chance(&w, 0.25);
    add(&w, "title: random scene %llu\n", (unsigned long long)seed);
    if (!w.gravity)
        add(&w, "gravity: [0, 0]\n");
    else if (chance(&w, 0.2))
        add(&w, "gravity: [%.6g, %.6g]\n", between(&w, -10, 10), between(&w, -20, -1));
    if (w.periodic) add(&w, "periodic: {x: [0, %.6g]}\n", w.width);
    add_types(&w);
    add_boundaries(&w);
    add_contact(&w);
    add_grains(&w);
    add_phases(&w);
    add(&w, "narrow_phase: %s\n", sim_back_end_names[w.back_end]);
    if (w.back_end == SIM_NEURAL) add(&w, "maps: '%s/tests/fixtures/plain.maps.h5'\n", project);
    if (chance(&w, 0.5)) add(&w, "smoothing: %.6g\n", chance(&w, 0.5) ? 0 : between(&w, 0, 0.01));
    if (chance(&w, 0.2)) add(&w, "contact_planes: 2\n");
    if (chance(&w, 0.1)) add(&w, "dt: %.6g\n", scaled(&w, 1e-5, 2e-4));
    add(&w, "output: {every: %.6g, checkpoint: %.6g, contacts: %s}\n", between(&w, 5e-4, 3e-3), between(&w, 2e-3, 0.02),
        chance(&w, 0.5) ? "true" : "false");
    add(&w, "seed: %d\n", whole(&w, 0, 1000));
}
