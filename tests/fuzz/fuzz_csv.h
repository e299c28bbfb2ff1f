/// CSV files that scenes name: they are read through a scene, so that what the scene asks of them is tested, too.
#ifndef FUZZ_CSV_H
#define FUZZ_CSV_H

#include "fuzz_put.h"

#include "sim.h"

/// Reads the bytes as table.csv of a scene with `text`. False: refused, in words.
static inline bool fuzz_csv_read(const char *text, const uint8_t *data, size_t size, sim_scene *scene) {
    core_error err = {0};
    fuzz_put_shape();
    if (!fuzz_file("table.csv", data, size)) return false;
    if (sim_scene_read_text(text, test_folder_file("scene.yaml"), scene, &err) == CORE_OK) return true;
    fuzz_expect_message(&err);
    fuzz_expect(strstr(err.message, "table.csv") != NULL, "a message that does not name the file");
    fuzz_expect(scene->text == NULL, "a refused file left a scene");
    return false;
}

#endif
