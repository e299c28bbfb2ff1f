/// Filling a region with particles: 2^dim sub-cells a cell, one jittered particle each; a layer half a cell below the
/// surface of what is filled.
#include "fluid_private.h"

#include <math.h>

typedef struct seeding {
    const fluid_world *w;
    fluid_world *store; // NULL: counts only
    const fluid_seed_def *def;
    int count;
} seeding;

static double distance_gradient(const fluid_solid *region, int dim, const double *x, double step, double gradient[3]) {
    for (int a = 0; a < dim; ++a) {
        double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[a] += step;
        down[a] -= step;
        gradient[a] = (fluid_solid_distance(region, dim, up) - fluid_solid_distance(region, dim, down)) / (2 * step);
    }
    return fluid_solid_distance(region, dim, x);
}

// Moves x to half a cell below the region's surface if it is less than a cell from it, away from solids.
static void move_to_layer(const seeding *s, double *x) {
    const fluid_grid *g = &s->w->grid;
    double n[3] = {0, 0, 0}, square = 0, moved[3] = {x[0], x[1], x[2]};
    if (!s->def->surface_layer) return;
    const double d = distance_gradient(&s->def->region, g->dim, x, .01 * g->h, n);
    if (d <= -g->h) return;
    for (int a = 0; a < g->dim; ++a) square += n[a] * n[a];
    if (!(square > .25)) return; // on a ridge of the distance
    // how far the region's surface is from solids decides, so that layers end at walls
    for (int a = 0; a < g->dim; ++a) moved[a] -= (d + .5 * g->h) / sqrt(square) * n[a];
    double at_surface[3] = {0, 0, 0};
    for (int a = 0; a < g->dim; ++a) at_surface[a] = moved[a] + .5 * g->h / sqrt(square) * n[a];
    if (fluid__node_sample(g, s->w->phi_solid, at_surface, NULL) < .5 * g->h) return;
    for (int a = 0; a < g->dim; ++a) x[a] = moved[a];
}

static void put(fluid_world *w, const double *x, const double *v) {
    fluid_particles *p = &w->p;
    for (int a = 0; a < w->grid.dim; ++a) {
        p->x[a][p->n] = x[a];
        p->v[a][p->n] = v[a];
        for (int b = 0; b < w->grid.dim && w->def.affine; ++b) p->c[3 * a + b][p->n] = 0;
    }
    p->id[p->n] = p->n;
    p->cell[p->n] = 0;
    if (p->image) p->image[p->n] = 0;
    ++p->n;
}

// The sub-cells of a cell. Random numbers are those of the cell, whatever is filled before.
static void seed_cell(seeding *s, const int at[3], int c) {
    const fluid_grid *g = &s->w->grid;
    core_random random;
    core_random_init(&random, s->def->seed, (uint64_t)c);
    for (int corner = 0; corner < 1 << g->dim; ++corner) {
        double x[3] = {0, 0, 0};
        for (int a = 0; a < g->dim; ++a) {
            const double jitter = s->def->jitter * (2 * core_random_uniform(&random) - 1);
            x[a] = g->origin[a] + (at[a] - 1 + .25 + .5 * (corner >> a & 1) + .5 * jitter) * g->h;
        }
        if (!(fluid_solid_distance(&s->def->region, g->dim, x) < 0)) continue;
        move_to_layer(s, x);
        if (!(fluid__node_sample(g, s->w->phi_solid, x, NULL) > 0)) continue;
        if (s->store) put(s->store, x, s->def->velocity);
        ++s->count;
    }
}

static void seed_grid(seeding *s) {
    const fluid_grid *g = &s->w->grid;
    s->count = 0;
    for (int c = 0; c < g->count; ++c) {
        const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
        if (s->w->open[c]) seed_cell(s, at, c);
    }
}

static core_status check_seed(const fluid_world *world, const fluid_seed_def *def, core_error *err) {
    CORE_CHECK(world && def, CORE_ARG, "fluid_world_seed: null pointer");
    CORE_CHECK(def->region.kind != FLUID_SOLID_PLANE && def->region.kind != FLUID_SOLID_BOWL, CORE_RANGE,
               "seed: a plane or bowl has no inside to fill");
    CORE_CHECK(def->jitter >= 0 && def->jitter <= .5, CORE_RANGE, "jitter: found %g, expected 0 .. 0.5", def->jitter);
    for (int a = 0; a < world->grid.dim; ++a)
        CORE_CHECK(isfinite(def->velocity[a]), CORE_NONFINITE, "seed: a velocity of %g m/s", def->velocity[a]);
    return CORE_OK;
}

core_status fluid_world_seed_count(const fluid_world *world, const fluid_seed_def *def, int *count, core_error *err) {
    CORE_TRY(check_seed(world, def, err));
    CORE_CHECK(count, CORE_ARG, "fluid_world_seed_count: null pointer");
    seeding s = {.w = world, .def = def};
    seed_grid(&s);
    *count = s.count;
    return CORE_OK;
}

core_status fluid_world_seed(fluid_world *world, const fluid_seed_def *def, int *added, core_error *err) {
    CORE_TRY(check_seed(world, def, err));
    seeding s = {.w = world, .def = def};
    seed_grid(&s);
    CORE_CHECK(s.count <= world->p.capacity - world->p.n, CORE_RANGE,
               "seed: found %d particles to add to %d, expected at most %d together", s.count, world->p.n,
               world->p.capacity);
    s.store = world;
    seed_grid(&s);
    if (added) *added = s.count;
    return CORE_OK;
}

core_status fluid_world_add(fluid_world *world, const double *position, const double *velocity, core_error *err) {
    CORE_CHECK(world && position && velocity, CORE_ARG, "fluid_world_add: null pointer");
    CORE_CHECK(world->p.n < world->p.capacity, CORE_RANGE, "add: found %d particles, expected room for one more",
               world->p.n);
    for (int a = 0; a < world->grid.dim; ++a) {
        const double low = world->def.region[a], high = world->def.region[3 + a];
        CORE_CHECK(isfinite(position[a]) && isfinite(velocity[a]), CORE_NONFINITE,
                   "add: position %g m, velocity %g m/s along axis %d", position[a], velocity[a], a);
        CORE_CHECK(position[a] > low && position[a] < high, CORE_RANGE,
                   "add: found %g m along axis %d, expected %g .. %g m", position[a], a, low, high);
    }
    put(world, position, velocity);
    return CORE_OK;
}
