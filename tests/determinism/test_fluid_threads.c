/// 1, 2 and 4 threads give the same bits, in 2D and 3D, for water and sand, periodic or not.
#include "reference/fluid_physics.h"

static uint64_t hash_after(int dim, bool periodic, fluid_material material, int threads) {
    const fluid_solid slope = {
        .kind = FLUID_SOLID_PLANE, .present = !periodic, .friction = .3, .normal = {-.6, .8, 0}, .centre = {.7, .2, 0}};
    fluid_def def = fluid_box(dim, 1, 1, dim == 2 ? .04 : .1);
    def.periodic = periodic;
    def.material = material;
    def.flip = material == FLUID_WATER ? .95 : 0;
    def.sweeps = 4;
    def.tolerance = 1e-3; // few iterations: every one wakes the threads
    def.threads = threads;
    fluid_world *w = fluid_make(&def, 1, &slope);
    w->parallel_min = 0;
    fluid_fill(w, .1, .1, .1, .5, .9, .6, true);
    for (int k = 0; k < 3; ++k) check_ok(fluid_world_step(w, INFINITY, err));
    const uint64_t hash = fluid_world_hash(w);
    fluid_world_destroy(&w);
    return hash;
}

static void threads_change_no_bit(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim)
        for (int k = 0; k < 4; ++k) {
            const bool periodic = k & 1;
            const fluid_material material = k & 2 ? FLUID_WATER : FLUID_SAND;
            const uint64_t one = hash_after(dim, periodic, material, 1);
            assert_true(one == hash_after(dim, periodic, material, 2));
            assert_true(one == hash_after(dim, periodic, material, 4));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
