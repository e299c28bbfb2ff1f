// Cost of a contact-map query and of its parts, one thread: fold, encoding, distance net with gradient, all of it,
// moment arms of a tenth and of all poses. Random 3x32 nets; 4096 poses, best of several passes.

#include "cspace_map_fixture.h"

#include <stdlib.h>

enum { POSES = 4096, PASSES = 40 };

static cspace_pose poses[POSES];
static cspace_contact contacts[POSES];
static cspace_image images[POSES][CSPACE_IMAGES_MAX];
static int count_images[POSES];
static cspace_inputs inputs[POSES];

typedef struct work {
    const cspace_map *map;
    cspace_map_scratch *scratch;
    double arm_below;
} work;

static void run_fold(const work *w) {
    for (int i = 0; i < POSES; i++) count_images[i] = cspace_fold_images(&w->map->fold, &poses[i], 1.0, images[i]);
}

static void run_encode(const work *w) {
    for (int i = 0; i < POSES; i++)
        cspace_encode(w->map->encoding, &w->map->fold, &images[i][0].pose, &inputs[i], NULL);
}

static void run_evaluate(const work *w) {
    cspace_map_evaluate(w->map, poses, POSES, w->arm_below, contacts, w->scratch);
}

// Best time of a pass, ns per pose.
static double measure(void (*run)(const work *), const work *w) {
    double best = INFINITY;
    for (int pass = 0; pass < PASSES; pass++) {
        const double start = core_wall_seconds();
        run(w);
        best = fmin(best, core_wall_seconds() - start);
    }
    return 1e9 * best / POSES;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int bench_pair(const fixture *a, const fixture *b, bool fold) {
    cspace_map map = {0};
    core_error err = {0};
    work w = {&map, NULL, -INFINITY};
    if (random_map(&a->shape, &b->shape, 1.0, fold, CSPACE_TWOFRAME, 1, &map, &err) != CORE_OK ||
        cspace_map_scratch_create(POSES, &w.scratch, &err) != CORE_OK) {
        fprintf(stderr, "%s\n", err.message);
        cspace_map_clear(&map);
        return 1;
    }
    const double t_fold = measure(run_fold, &w), t_encode = measure(run_encode, &w), t_none = measure(run_evaluate, &w);
    static double d[POSES];
    for (int i = 0; i < POSES; i++) d[i] = contacts[i].d;
    qsort(d, POSES, sizeof d[0], compare);
    w.arm_below = d[POSES / 10];
    const double t_tenth = measure(run_evaluate, &w);
    w.arm_below = INFINITY;
    const double t_all = measure(run_evaluate, &w);
    double sum = 0.0;
    for (int i = 0; i < POSES; i++) sum += count_images[i];
    printf("%-6s %-6s %-4s orders %3d %3d mirror %d swap %d, %.2f images: fold %6.1f  encode %6.1f  distance %6.1f  + "
           "tenth of the arms "
           "%6.1f  + all arms %6.1f ns\n",
           a->shape.name, b->shape.name, fold ? "fold" : "", map.fold.order_a, map.fold.order_b, map.fold.mirror,
           map.fold.swap, sum / POSES, t_fold, t_encode, t_none, t_tenth, t_all);
    cspace_map_scratch_destroy(&w.scratch);
    cspace_map_clear(&map);
    return 0;
}

int main(void) {
    fixture hash, u, disc;
    core_random r;
    core_random_init(&r, 1, 0);
    for (int i = 0; i < POSES; i++) poses[i] = fixture_pose(&r, 2.0);
    if (fixture_hash(16, &hash, NULL) != CORE_OK || fixture_u(16, &u, NULL) != CORE_OK ||
        fixture_disc(96, 16, &disc, NULL) != CORE_OK)
        return 1;
    int failed = bench_pair(&hash, &hash, false);
    failed |= bench_pair(&hash, &hash, true);
    failed |= bench_pair(&u, &u, true);
    failed |= bench_pair(&hash, &u, true);
    failed |= bench_pair(&disc, &hash, true);
    fixture_clear(&hash), fixture_clear(&u), fixture_clear(&disc);
    return failed;
}
