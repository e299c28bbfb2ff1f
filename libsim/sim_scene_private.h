/// Private to sim_scene*.c: the table of scene keys.
#ifndef SIM_SCENE_PRIVATE_H
#define SIM_SCENE_PRIVATE_H

#include "core_yaml.h"

/// Every key of a scene file. Static; *count is their number.
const core_yaml_key *sim__scene_table(int *count);

#endif
