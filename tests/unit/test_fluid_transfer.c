/// Transfers of libfluid in two and three dimensions: momentum, affine fields, FLIP, threads.
#include "reference/fluid_physics.h"

#define SIDE .25
#define H .025

// A world with particles at random places and velocities in the middle of its box, sorted.
static fluid_world *random_world(int dim, double flip, bool affine, int threads) {
    fluid_def def = fluid_box(dim, SIDE, SIDE, H);
    def.flip = flip;
    def.affine = affine;
    def.threads = threads;
    fluid_world *w = fluid_make(&def, 0, NULL);
    w->parallel_min = 0; // threads at any size
    core_random random;
    core_random_init(&random, 7, 0);
    for (int i = 0; i < (dim == 2 ? 300 : 3000); ++i) {
        double x[3], v[3];
        for (int a = 0; a < 3; ++a) x[a] = SIDE * (.2 + .6 * core_random_uniform(&random));
        for (int a = 0; a < 3; ++a) v[a] = core_random_normal(&random);
        check_ok(fluid_world_add(w, x, v, err));
    }
    fluid__sort(w);
    return w;
}

static double momentum_of_faces(const fluid_world *w, int axis) {
    double sum = 0;
    for (int c = 0; c < w->grid.count; ++c) sum += w->particle_mass * w->mass[axis][c] * w->u[axis][c];
    return sum;
}

static void momentum(int dim, bool affine) {
    fluid_world *w = random_world(dim, 0, affine, 1);
    for (int i = 0; i < w->p.n && affine; ++i) // any slopes: they carry no momentum
        for (int a = 0; a < dim; ++a)
            for (int b = 0; b < dim; ++b) w->p.c[3 * a + b][i] = sin(i + 3. * a + b);
    const fluid_totals before = fluid_sum(w);
    fluid__to_grid(w);
    char name[100];
    for (int a = 0; a < dim; ++a) {
        snprintf(name, sizeof name, "%dD%s: momentum %d of faces less that of particles", dim, affine ? " APIC" : "",
                 a);
        physics_row_below(name, 1e-12 * before.mass, momentum_of_faces(w, a) - before.momentum[a]);
    }
    fluid__to_particles(w);
    const fluid_totals after = fluid_sum(w);
    for (int a = 0; a < dim; ++a) {
        snprintf(name, sizeof name, "%dD%s: momentum %d there and back", dim, affine ? " APIC" : "", a);
        physics_row_below(name, 1e-12 * before.mass, after.momentum[a] - before.momentum[a]);
    }
    fluid_world_destroy(&w);
}

static void momentum_is_kept(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim)
        for (int affine = 0; affine < 2; ++affine) momentum(dim, affine);
}

// v = v0 + C x survives the way to the grid and back with APIC: values and slopes.
static void affine_fields_are_kept(void **state) {
    (void)state;
    static const double slope[9] = {.3, -1.2, .5, 2, .7, -.4, 1.1, -.6, .9};
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_world *w = random_world(dim, 0, true, 1);
        for (int i = 0; i < w->p.n; ++i)
            for (int a = 0; a < dim; ++a) {
                w->p.v[a][i] = 1 + a;
                for (int b = 0; b < dim; ++b) {
                    w->p.c[3 * a + b][i] = slope[3 * a + b];
                    w->p.v[a][i] += slope[3 * a + b] * w->p.x[b][i];
                }
            }
        fluid__to_grid(w);
        fluid__to_particles(w);
        double value = 0, tilt = 0;
        for (int i = 0; i < w->p.n; ++i) {
            for (int a = 0; a < dim; ++a) {
                double expected = 1 + a;
                for (int b = 0; b < dim; ++b) {
                    expected += slope[3 * a + b] * w->p.x[b][i];
                    tilt = fmax(tilt, fabs(w->p.c[3 * a + b][i] - slope[3 * a + b]));
                }
                value = fmax(value, fabs(w->p.v[a][i] - expected));
            }
        }
        physics_row_below(dim == 2 ? "2D APIC: affine velocity there and back"
                                   : "3D APIC: affine velocity there and back",
                          1e-12, value);
        physics_row_below(dim == 2 ? "2D APIC: its slopes" : "3D APIC: its slopes", 1e-10, tilt);
        fluid_world_destroy(&w);
    }
}

// Pure FLIP leaves velocities alone if the grid does; a uniform gain of the grid arrives whole.
static void flip_brings_changes_alone(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        fluid_world *w = random_world(dim, 1, false, 1);
        double first = w->p.v[0][0], change = 0;
        double *before = core_alloc((size_t)w->p.n, sizeof *before);
        for (int i = 0; i < w->p.n; ++i) before[i] = w->p.v[0][i];
        fluid__to_grid(w);
        for (int c = 0; c < w->grid.count; ++c)
            for (int a = 0; a < dim; ++a) w->old[a][c] = w->u[a][c], w->u[a][c] += a == 0 ? 2 : 0;
        fluid__to_particles(w);
        for (int i = 0; i < w->p.n; ++i) change = fmax(change, fabs(w->p.v[0][i] - before[i] - 2));
        check_near(w->p.v[0][0], first + 2, 1e-12);
        physics_row_below(dim == 2 ? "2D FLIP: gain of 2 m/s, error" : "3D FLIP: gain of 2 m/s, error", 1e-12, change);
        core_free(before);
        fluid_world_destroy(&w);
    }
}

static void blend_is_linear(void **state) {
    (void)state;
    double v[3];
    const double shares[3] = {0, 1, .3};
    for (int k = 0; k < 3; ++k) {
        fluid_world *w = random_world(2, shares[k], false, 1);
        fluid__to_grid(w);
        for (int c = 0; c < w->grid.count; ++c) w->old[1][c] = .5 * w->u[1][c];
        fluid__to_particles(w);
        v[k] = w->p.v[1][17];
        fluid_world_destroy(&w);
    }
    check_near(v[2], .7 * v[0] + .3 * v[1], 1e-14);
    assert_true(fabs(v[0] - v[1]) > .01);
}

static uint64_t hash_of_faces(const fluid_world *w) {
    uint64_t hash = 0;
    for (int a = 0; a < w->grid.dim; ++a) {
        hash = core_hash_bytes(hash, w->u[a], (size_t)w->grid.count * sizeof(double));
        hash = core_hash_bytes(hash, w->mass[a], (size_t)w->grid.count * sizeof(double));
    }
    return hash;
}

static void threads_change_no_bit(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; ++dim) {
        uint64_t hash[3];
        for (int k = 0; k < 3; ++k) {
            fluid_world *w = random_world(dim, 0, true, 1 << k);
            fluid__to_grid(w);
            hash[k] = hash_of_faces(w);
            fluid_world_destroy(&w);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    }
}

// A periodic grid: momentum is kept over the seam, and a particle at one end is felt at the other.
static void seam_is_no_seam(void **state) {
    (void)state;
    fluid_def def = fluid_box(2, SIDE, SIDE, H);
    def.periodic = true;
    fluid_world *w = fluid_make(&def, 0, NULL);
    const double x[3] = {.001, .1, 0}, y[3] = {SIDE - .001, .13, 0}, v[3] = {1, -2, 0};
    check_ok(fluid_world_add(w, x, v, err));
    check_ok(fluid_world_add(w, y, v, err));
    fluid__sort(w);
    fluid__to_grid(w);
    double sum[2] = {0, 0};
    const int n = w->grid.cells[0] - 2;
    for (int c = 0; c < w->grid.count; ++c)
        for (int a = 0; a < 2; ++a)
            if (c % w->grid.stride[1] >= 1 && c % w->grid.stride[1] <= n) sum[a] += w->mass[a][c] * w->u[a][c];
    check_near(sum[0], 2, 1e-12);
    check_near(sum[1], -4, 1e-12);
    fluid__to_particles(w);
    check_near(w->p.v[0][0], 1, 1e-12);
    check_near(w->p.v[1][1], -2, 1e-12);
    fluid_world_destroy(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept),          cmocka_unit_test(affine_fields_are_kept),
        cmocka_unit_test(flip_brings_changes_alone), cmocka_unit_test(blend_is_linear),
        cmocka_unit_test(threads_change_no_bit),     cmocka_unit_test(seam_is_no_seam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
