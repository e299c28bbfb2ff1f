/// CSV files of poses: as many grains as there are lines, of types of the scene, with finite numbers.
#include "fuzz_csv.h"

#include <math.h>

static const char text[] = "types: {g: {shape: square.wkt, radius: 0.01, density: 2500},\n"
                           "        h: {shape: square.wkt, radius: 0.02, density: 2500}}\n"
                           "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
                           "poses: [{file: table.csv}]\n"
                           "phases: [{name: a, time: 0.01}]\n"
                           "narrow_phase: exact\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sim_scene scene = {0};
    int lines = 0;
    if (!fuzz_csv_read(text, data, size, &scene)) return 0;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    fuzz_expect(scene.count_place >= 1 && scene.count_place <= lines, "another number of grains");
    for (int i = 0; i < scene.count_place; i++) {
        const sim_place_def *p = &scene.place[i];
        fuzz_expect(p->type == 0 || p->type == 1, "a type that is not there");
        fuzz_expect(isfinite(p->position[0]) && isfinite(p->position[1]) && isfinite(p->angle) &&
                        isfinite(p->velocity[0]) && isfinite(p->velocity[1]) && isfinite(p->angular_velocity),
                    "a number that is not finite");
    }
    sim_scene_clear(&scene);
    return 0;
}
