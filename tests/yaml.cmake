# The YAML engine, run files, the scene reader and fill.
cem_test(core_yaml unit/test_core_yaml.c unit core)
cem_test(core_yaml_refused unit/test_core_yaml_refused.c unit core)
cem_test(core_yaml_phase unit/test_core_yaml_phase.c unit core)
cem_test(core_run unit/test_core_run.c unit core)
cem_test(core_run_forged unit/test_core_run_forged.c unit core)
cem_test(core_run_walls unit/test_core_run_walls.c unit core)
cem_test(core_run_contacts unit/test_core_run_contacts.c unit core)
cem_test(sim_scene unit/test_sim_scene.c unit sim)
cem_test(sim_scene_parts unit/test_sim_scene_parts.c unit sim)
cem_test(sim_fill unit/test_sim_fill.c unit sim)
cem_test(sim_run_contacts unit/test_sim_run_contacts.c unit sim)
# Every scene that is shipped is read (its shapes, names and numbers too).
target_compile_definitions(sim_scene PRIVATE SCENES_FOLDER="${CMAKE_SOURCE_DIR}/data/scenes")
