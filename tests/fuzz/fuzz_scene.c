/// Scene files: what is read reads again from its own text, to the same text.
#include "fuzz_put.h"

#include "sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_put_shape();
    const char *path = fuzz_file("scene.yaml", data, size);
    core_error err = {0};
    sim_scene scene = {0}, again = {0};
    if (!path) return 0;
    if (sim_scene_read(path, 0, NULL, &scene, &err) != CORE_OK) {
        fuzz_expect_message(&err);
        fuzz_expect(scene.text == NULL && scene.types == NULL, "a refused file left a scene");
        return 0;
    }
    fuzz_expect(scene.count_types > 0 && scene.count_phases > 0, "a scene without types or phases");
    fuzz_expect(sim_scene_read_text(scene.text, scene.path, &again, &err) == CORE_OK, "its own text is refused");
    fuzz_expect(strcmp(scene.text, again.text) == 0, "another text");
    sim_scene_clear(&scene);
    sim_scene_clear(&again);
    return 0;
}
