/// Worlds: checks, memory, what is asked of them.
#include "fluid_private.h"

#include <math.h>

#define DEF_COOKIE 0x464c5549
#define PARALLEL_MIN 40000 // cells: below, waking threads costs more than they save

fluid_def fluid_default_def(void) {
    return (fluid_def){.cookie = DEF_COOKIE,
                       .dim = 2,
                       .material = FLUID_SAND,
                       .density = 1500,
                       .gravity = {0, -9.81, 0},
                       .affine = true,
                       .surface = FLUID_SURFACE_GHOST,
                       .tolerance = 1e-6,
                       .cfl = 1,
                       .dt = NAN,
                       .wall_law = FLUID_WALL_PRESSURE,
                       .sand = FLUID_SAND_UNIFIED,
                       .friction = .32,
                       .inertial_number = .4,
                       .friction_angle = CORE_PI / 6,
                       .sweeps = 60,
                       .rounds = 1,
                       .relaxation = .25,
                       .threads = 1};
}

// ---------------------------------------------------------------------------------------------- checks

// One number of a definition and what it may be.
typedef struct range {
    const char *name;
    double value, low, high;
} range;

static core_status check_def(const fluid_def *def, core_error *err) {
    CORE_CHECK(def->cookie == DEF_COOKIE, CORE_ARG, "fluid_def was not made by fluid_default_def");
    CORE_CHECK(def->dim == 2 || def->dim == 3, CORE_RANGE, "dim: found %d, expected 2 or 3", def->dim);
    const range list[] = {{"h", def->h, 1e-9, 1e9},
                          {"capacity", def->capacity, 1, FLUID_PARTICLES_MAX},
                          {"material", (double)def->material, 0, FLUID_SAND},
                          {"sand", (double)def->sand, 0, FLUID_SAND_PAPER},
                          {"wall_law", (double)def->wall_law, 0, FLUID_WALL_PAPER},
                          {"surface", (double)def->surface, 0, FLUID_SURFACE_FACE},
                          {"precondition", (double)def->precondition, 0, FLUID_PRECONDITION_MIC},
                          {"density", def->density, 1e-9, 1e9},
                          {"flip", def->flip, 0, 1},
                          {"tolerance", def->tolerance, 1e-14, 1e-2},
                          {"cfl", def->cfl, .05, 5},
                          {"dt", isnan(def->dt) ? 1 : def->dt, 1e-12, 1e6},
                          {"wall_friction", def->wall_friction, 0, 1e3},
                          {"friction", def->friction, 0, 1e3},
                          {"friction_rise", def->friction_rise, 0, 1e3},
                          {"grain_size", def->friction_rise > 0 ? def->grain_size : 1, 1e-12, 1e9},
                          {"inertial_number", def->inertial_number, 1e-6, 1e6},
                          {"friction_angle", def->friction_angle, 0, .5 * CORE_PI},
                          {"cohesion", def->cohesion, 0, 1e12},
                          {"sweeps", def->sweeps, 1, 1e5},
                          {"rounds", def->rounds, 1, 1e3},
                          {"relaxation", def->relaxation, 0, 1},
                          {"threads", def->threads, 1, 1024}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
        CORE_CHECK(list[i].value >= list[i].low && list[i].value <= list[i].high, CORE_RANGE,
                   "%s: found %g, expected %g .. %g", list[i].name, list[i].value, list[i].low, list[i].high);
    for (int a = 0; a < def->dim; ++a)
        CORE_CHECK(isfinite(def->region[a]) && isfinite(def->region[3 + a]) && isfinite(def->gravity[a]),
                   CORE_NONFINITE, "axis %d: region %g to %g m, gravity %g m/s^2; expected finite numbers", a,
                   def->region[a], def->region[3 + a], def->gravity[a]);
    return CORE_OK;
}

static core_status check_solid(const fluid_solid *s, int i, int dim, core_error *err) {
    CORE_CHECK(s->friction >= 0 && s->friction <= 1e3, CORE_RANGE, "solid %d: friction: found %g, expected 0 .. 1000",
               i, s->friction);
    bool finite = isfinite(s->radius) && isfinite(s->angle);
    for (int a = 0; a < dim; ++a)
        finite =
            finite && isfinite(s->centre[a]) && isfinite(s->normal[a]) && isfinite(s->half[a]) && isfinite(s->end[a]);
    CORE_CHECK(finite, CORE_NONFINITE, "solid %d: a length or angle is not finite", i);
    const bool shape = s->kind == FLUID_SOLID_SHAPE;
    CORE_CHECK(!shape || (dim == 2 && s->shape && s->radius > 0), CORE_ARG,
               "solid %d: a shape needs two dimensions, a distance grid and a radius above 0", i);
    double square = 0;
    for (int a = 0; a < dim; ++a) square += s->normal[a] * s->normal[a];
    CORE_CHECK(s->kind != FLUID_SOLID_PLANE || fabs(square - 1) < 1e-9, CORE_RANGE,
               "solid %d: the normal of a plane has length %g, expected 1", i, sqrt(square));
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- memory

static core_status new_fields(double **fields[], int n, size_t count, core_error *err) {
    core_status status = CORE_OK;
    for (int i = 0; i < n; ++i) CORE_NEW_DONE(*fields[i], count);
done:
    return status; // the caller destroys the world
}

static core_status new_stress_fields(fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    const size_t count = (size_t)w->grid.count;
    fluid_stress *both[] = {&w->stress, &w->ahead};
    CORE_NEW_DONE(w->bound, count);
    CORE_NEW_DONE(w->light, count);
    CORE_NEW_DONE(w->wall_most, count);
    if (w->def.friction_rise > 0) {
        double **rise[] = {&w->rise, &w->half, &w->wall_rise, &w->wall_half};
        CORE_TRY(new_fields(rise, sizeof rise / sizeof *rise, count, err));
    }
    CORE_NEW_DONE(w->wall_bound, count);
    for (int k = 0; k < 2; ++k) {
        for (int a = 0; a < w->grid.dim; ++a) {
            CORE_NEW_DONE(both[k]->diagonal[a], count);
            CORE_NEW_DONE(both[k]->wall[a], count);
        }
        for (int p = 0; p < 4 * fluid__pairs(w->grid.dim); ++p) CORE_NEW_DONE(both[k]->shear[p / 4][p % 4], count);
    }
    for (int a = 0; a < w->grid.dim; ++a) {
        CORE_NEW_DONE(w->base[a], count);
        CORE_NEW_DONE(w->inertia[a], count);
    }
    for (int p = 0; p < fluid__pairs(w->grid.dim); ++p) {
        CORE_NEW_DONE(w->edge[p], count);
        CORE_NEW_DONE(w->edge_inside[p], count);
    }
done:
    return status;
}

static core_status new_grid_fields(fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    const size_t count = (size_t)w->grid.count, rows = (size_t)w->grid.cells[1] * (size_t)w->grid.cells[2];
    double **single[] = {&w->phi_solid, &w->friction, &w->phi, &w->q, &w->pressure, &w->diagonal,
                         &w->precon,    &w->b,        &w->r,   &w->z, &w->s,        &w->wall_part};
    CORE_TRY(new_fields(single, sizeof single / sizeof *single, count, err));
    for (int a = 0; a < w->grid.dim; ++a) {
        double **each[] = {&w->u[a],    &w->old[a],  &w->star[a],       &w->mass[a],
                           &w->area[a], &w->link[a], &w->wall_normal[a]};
        CORE_TRY(new_fields(each, sizeof each / sizeof *each, count, err));
        CORE_NEW_DONE(w->known[a], count);
    }
    CORE_TRY(w->def.material == FLUID_SAND ? new_stress_fields(w, err) : CORE_OK);
    double **row[] = {&w->row_sum, &w->row_max};
    CORE_TRY(new_fields(row, sizeof row / sizeof *row, rows, err));
    CORE_NEW_DONE(w->span_lo, rows);
    CORE_NEW_DONE(w->span_hi, rows);
    CORE_NEW_DONE(w->open, count);
    CORE_NEW_DONE(w->cut, count);
    CORE_NEW_DONE(w->slanted, count);
    CORE_NEW_DONE(w->cell, count);
    CORE_NEW_DONE(w->mark, count);
    CORE_NEW_DONE(w->loose, count);
    CORE_NEW_DONE(w->first, count);
    CORE_NEW_DONE(w->number, count);
    CORE_NEW_DONE(w->label, count);
    CORE_NEW_DONE(w->list, count);
done:
    return status;
}

static core_status new_particles(fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    const size_t capacity = (size_t)w->def.capacity;
    fluid_particles *p = &w->p;
    p->capacity = w->def.capacity;
    for (int a = 0; a < w->grid.dim; ++a) {
        CORE_NEW_DONE(p->x[a], capacity);
        CORE_NEW_DONE(p->v[a], capacity);
        for (int b = 0; b < w->grid.dim && w->def.affine; ++b) CORE_NEW_DONE(p->c[3 * a + b], capacity);
    }
    CORE_NEW_DONE(p->id, capacity);
    CORE_NEW_DONE(p->cell, capacity);
    if (w->def.periodic) CORE_NEW_DONE(p->image, capacity);
    CORE_NEW_DONE(w->spare, capacity);
    CORE_NEW_DONE(w->spare_id, capacity);
    CORE_NEW_DONE(w->order, capacity);
done:
    return status;
}

// Room for motions where a solid has one.
static core_status new_movers(fluid_world *w, core_error *err) {
    core_status status = CORE_OK;
    for (int i = 0; i < w->count_solids; ++i) w->moves = w->moves || core_motion_moves(&w->solids[i].motion);
    if (!w->moves) return CORE_OK;
    CORE_NEW_DONE(w->mover, (size_t)w->count_solids);
    for (int i = 0; i < w->count_solids; ++i) {
        w->mover[i].home = w->solids[i];
        w->mover[i].start = w->solids[i].motion.waits ? INFINITY : 0;
        w->mover[i].stop = INFINITY;
    }
    for (int a = 0; a < w->grid.dim; ++a) CORE_NEW_DONE(w->nearest[a], (size_t)w->grid.count);
done:
    return status;
}

static core_status check_motion(const fluid_def *def, const fluid_solid *s, int i, core_error *err) {
    const core_motion *m = &s->motion;
    if (!core_motion_moves(m)) return CORE_OK;
    const double numbers[] = {m->velocity[0],  m->velocity[1],     m->rotation,  m->amplitude[0],
                              m->amplitude[1], m->amplitude_angle, m->frequency, m->phase};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k)
        CORE_CHECK(isfinite(numbers[k]), CORE_NONFINITE, "solid %d: a number of its motion is not finite", i);
    for (int k = 0; k < 4 * m->count_rows; ++k)
        CORE_CHECK(isfinite(m->table[k]), CORE_NONFINITE, "solid %d: row %d of its table is not finite", i, k / 4);
    CORE_CHECK(def->material == FLUID_WATER || def->sand == FLUID_SAND_UNIFIED, CORE_UNSUPPORTED,
               "solid %d moves; in the paper's mode solids are at rest", i);
    bool turns = fabs(m->rotation) + fabs(m->amplitude_angle) > 0;
    for (int k = 0; k < m->count_rows; ++k) turns = turns || fabs(m->table[4 * k + 3]) > 0;
    CORE_CHECK(!(turns && s->kind == FLUID_SOLID_BOX), CORE_UNSUPPORTED, "solid %d: a box that turns", i);
    return CORE_OK;
}

core_status fluid_world_create(const fluid_def *def, int count_solids, const fluid_solid *solids, fluid_world **world,
                               core_error *err) {
    CORE_CHECK(def && world && count_solids >= 0 && (solids || count_solids == 0), CORE_ARG,
               "fluid_world_create: null pointer");
    core_status status = CORE_OK;
    fluid_world *w = NULL;
    fluid_grid grid;
    CORE_TRY(check_def(def, err));
    for (int i = 0; i < count_solids; ++i) {
        CORE_TRY(check_solid(&solids[i], i, def->dim, err));
        CORE_TRY(check_motion(def, &solids[i], i, err));
    }
    CORE_TRY(fluid__grid_init(def, &grid, err));
    CORE_NEW_DONE(w, 1);
    w->def = *def;
    w->grid = grid;
    w->threads = def->threads;
    w->parallel_min = PARALLEL_MIN;
    w->particle_mass = def->density;
    for (int a = 0; a < def->dim; ++a) w->particle_mass *= .5 * def->h;
    CORE_NEW_DONE(w->solids, (size_t)count_solids);
    for (int i = 0; i < count_solids; ++i) w->solids[i] = solids[i];
    w->count_solids = count_solids;
    CORE_TRY_DONE(new_movers(w, err));
    CORE_TRY_DONE(new_grid_fields(w, err));
    CORE_TRY_DONE(fluid__levels_create(w, err));
    CORE_TRY_DONE(new_particles(w, err));
    for (int a = 0; a < 3; ++a) w->lo[a] = a < def->dim ? 1 : 0, w->hi[a] = a < def->dim ? 2 : 1;
    CORE_NEW_DONE(w->wall_face, (size_t)grid.count * (size_t)grid.dim);
    fluid__solid_update(w);
    for (int c = 0; c < grid.count; ++c) w->label[c] = -1;
    *world = w;
    w = NULL;
done:
    fluid_world_destroy(&w);
    return status;
}

void fluid_world_destroy(fluid_world **world) {
    if (!world || !*world) return;
    fluid_world *w = *world;
    fluid__levels_destroy(w);
    for (int a = 0; a < 3; ++a) {
        double *each[] = {w->u[a], w->old[a], w->star[a], w->mass[a], w->area[a], w->link[a], w->p.x[a], w->p.v[a]};
        for (size_t i = 0; i < sizeof each / sizeof *each; ++i) core_free(each[i]);
        core_free(w->known[a]);
        core_free(w->nearest[a]);
        core_free(w->wall_normal[a]);
        core_free(w->base[a]);
        core_free(w->inertia[a]);
        core_free(w->edge[a]);
        core_free(w->edge_inside[a]);
        fluid_stress *both[] = {&w->stress, &w->ahead};
        for (int k = 0; k < 2; ++k) {
            core_free(both[k]->diagonal[a]);
            core_free(both[k]->wall[a]);
            for (int e = 0; e < 4; ++e) core_free(both[k]->shear[a][e]);
        }
        for (int b = 0; b < 3; ++b) core_free(w->p.c[3 * a + b]);
    }
    double *single[] = {w->phi_solid, w->friction, w->phi,       w->q,         w->pressure,   w->diagonal,
                        w->precon,    w->b,        w->r,         w->z,         w->s,          w->row_sum,
                        w->row_max,   w->spare,    w->wall_part, w->bound,     w->wall_bound, w->light,
                        w->rise,      w->half,     w->wall_rise, w->wall_half, w->wall_most};
    for (size_t i = 0; i < sizeof single / sizeof *single; ++i) core_free(single[i]);
    void *other[] = {w->slanted,  w->p.image, w->span_lo, w->span_hi,   w->open,  w->cut,  w->cell,
                     w->mark,     w->first,   w->number,  w->label,     w->list,  w->p.id, w->p.cell,
                     w->spare_id, w->order,   w->solids,  w->wall_face, w->mover, w->loose};
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) core_free(other[i]);
    core_free(w);
    *world = NULL;
}

core_status fluid_world_set_present(fluid_world *world, int solid, bool present, core_error *err) {
    CORE_CHECK(world, CORE_ARG, "fluid_world_set_present: null pointer");
    CORE_CHECK(solid >= 0 && solid < world->count_solids, CORE_RANGE, "solid: found %d, expected 0 .. %d", solid,
               world->count_solids - 1);
    world->solids[solid].present = present;
    fluid__solid_update(world);
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- looks

fluid_state fluid_world_state(const fluid_world *world) {
    return (fluid_state){.grid = &world->grid,
                         .particles = &world->p,
                         .step = world->step,
                         .time = world->time,
                         .particle_mass = world->particle_mass,
                         .u = {world->u[0], world->u[1], world->u[2]},
                         .pressure = world->pressure,
                         .cell = world->cell};
}

uint64_t fluid_world_hash(const fluid_world *world) {
    const fluid_particles *p = &world->p;
    const size_t n = (size_t)p->n * sizeof(double);
    uint64_t hash = core_hash_bytes(0, &world->time, sizeof world->time);
    for (int a = 0; a < world->grid.dim; ++a) {
        hash = core_hash_bytes(hash, p->x[a], n);
        hash = core_hash_bytes(hash, p->v[a], n);
        for (int b = 0; b < world->grid.dim && world->def.affine; ++b) hash = core_hash_bytes(hash, p->c[3 * a + b], n);
    }
    hash = core_hash_bytes(hash, p->id, (size_t)p->n * sizeof *p->id);
    return core_hash_bytes(hash, world->q, (size_t)world->grid.count * sizeof *world->q);
}

void fluid_world_totals(const fluid_world *world, fluid_totals *totals) {
    const fluid_particles *p = &world->p;
    fluid_totals t = {.iterations = world->iterations, .sweeps = world->sweeps, .count_full = world->count_full};
    for (int i = 0; i < p->n; ++i) {
        double square = 0;
        for (int a = 0; a < world->grid.dim; ++a) {
            t.momentum[a] += world->particle_mass * p->v[a][i];
            t.potential -= world->particle_mass * world->def.gravity[a] * p->x[a][i];
            square += p->v[a][i] * p->v[a][i];
        }
        t.kinetic += .5 * world->particle_mass * square;
        t.speed_max = fmax(t.speed_max, square);
    }
    t.mass = p->n * world->particle_mass;
    t.speed_max = sqrt(t.speed_max);
    *totals = t;
}
