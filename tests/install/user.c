/// A user's own program: runs a scene with the installed libraries. user SCENE.yaml RUN.h5
#include <sim.h>
#include <stdio.h>

int main(int argc, char **argv) {
    core_error err = {0};
    sim_scene scene = {0};
    sim_run_def def = sim_run_default_def();
    sim_run_report report = {0};
    char state[17];
    if (argc != 3) return 2;
    core_status status = sim_scene_read(argv[1], 0, NULL, &scene, &err);
    if (status == CORE_OK) status = sim_run(&scene, argv[2], &def, NULL, &report, &err);
    sim_scene_clear(&scene);
    if (status != CORE_OK) fprintf(stderr, "user: %s\n", err.message);
    core_hash_text(report.state_hash, state);
    if (status == CORE_OK) printf("state %s\n", state);
    return status != CORE_OK;
}
