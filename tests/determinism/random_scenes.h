/// Scenes made at random, for random_scenes.c.
#ifndef RANDOM_SCENES_H
#define RANDOM_SCENES_H

#include "sim.h"

#define RANDOM_SCENE_BYTES 16384

/// Writes the scene of a seed, with shapes and maps of the project's folder, to `text`. Most scenes can be run; in some
/// the fill does not fit, or the time step is too long.
void random_scene_write(uint64_t seed, const char *project, char text[RANDOM_SCENE_BYTES]);

#endif
