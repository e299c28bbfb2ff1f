/// CSV files of motions: finite displacements at times that grow from 0.
#include "fuzz_csv.h"

#include <math.h>

static const char text[] = "types: {g: {shape: square.wkt, radius: 0.01, density: 2500}}\n"
                           "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
                           "boundaries:\n"
                           "  - {name: b, plane: {point: [0, 0], normal: [0, 1]}, motion: {table: table.csv}}\n"
                           "place: [{type: g, position: [0, 1]}]\n"
                           "phases: [{name: a, time: 0.01}]\n"
                           "narrow_phase: exact\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sim_scene scene = {0};
    if (!fuzz_csv_read(text, data, size, &scene)) return 0;
    const sim_motion_def *m = &scene.boundaries[0].motion;
    fuzz_expect(m->count_rows >= 1, "a table without rows");
    for (int i = 0; i < m->count_rows; i++) {
        const double *row = m->table + 4 * i;
        fuzz_expect(isfinite(row[0]) && isfinite(row[1]) && isfinite(row[2]) && isfinite(row[3]), "not finite");
        fuzz_expect(i == 0 || row[0] > row[-4], "times that do not grow");
    }
    sim_scene_clear(&scene);
    return 0;
}
