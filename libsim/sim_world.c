/// The world: creation, grains, queries of state, energies, contacts and hash. The step is in sim_step.c.
#include "sim_private.h"

#include <math.h>
#include <string.h>

#define WORLD_COOKIE 0x77726c64

// ---------------------------------------------------------------------------------------------- creation

sim_world_def sim_world_default_def(void) {
    return (sim_world_def){
        .cookie = WORLD_COOKIE, .smoothing = 0.001, .contacts = 1, .threads = 1, .gravity = {0, -9.81}};
}

static core_status check_law(const sim_contact_law *law, int type, int other, core_error *err) {
    const bool finite = isfinite(law->kn) && isfinite(law->kt) && isfinite(law->mu);
    CORE_CHECK(finite, CORE_NONFINITE, "contact law of type %d and %d: found kn %g, kt %g, mu %g", type, other, law->kn,
               law->kt, law->mu);
    CORE_CHECK(law->kn > 0 && law->kt >= 0 && law->mu >= 0, CORE_RANGE,
               "contact law of type %d and %d: found kn %g, kt %g, mu %g, expected kn > 0, kt >= 0, mu >= 0", type,
               other, law->kn, law->kt, law->mu);
    CORE_CHECK((isnan(law->gamma_n) || (law->gamma_n >= 0 && isfinite(law->gamma_n))) &&
                   (isnan(law->gamma_t) || (law->gamma_t >= 0 && isfinite(law->gamma_t))) && law->zeta >= 0 &&
                   isfinite(law->zeta),
               CORE_RANGE, "contact law of type %d and %d: found gamma_n %g, gamma_t %g, zeta %g, expected 0 or more",
               type, other, law->gamma_n, law->gamma_t, law->zeta);
    return CORE_OK;
}

static core_status check_def(const sim_world_def *def, core_error *err) {
    CORE_CHECK(def->cookie == WORLD_COOKIE, CORE_ARG, "sim_world_def was not made by sim_world_default_def");
    CORE_CHECK(def->capacity >= 1 && def->count_types >= 1 && def->count_boundaries >= 0 && def->threads >= 1,
               CORE_RANGE, "world: found %d grains, %d types, %d boundaries, %d threads", def->capacity,
               def->count_types, def->count_boundaries, def->threads);
    CORE_CHECK(def->contacts >= 1 && def->contacts <= SIM_CONTACTS_MAX, CORE_RANGE,
               "world: found %d contacts a pair, expected 1 .. %d", def->contacts, SIM_CONTACTS_MAX);
    CORE_CHECK(def->types && def->law && (def->boundaries || def->count_boundaries == 0), CORE_ARG,
               "world: types, law or boundaries are NULL");
    CORE_CHECK(def->narrow.evaluate || def->capacity == 1, CORE_ARG,
               "world: a narrow phase is needed for more than one grain");
    CORE_CHECK(isfinite(def->dt) && isfinite(def->gravity[0]) && isfinite(def->gravity[1]) && isfinite(def->smoothing),
               CORE_NONFINITE, "world: found dt %g, gravity %g %g, smoothing %g", def->dt, def->gravity[0],
               def->gravity[1], def->smoothing);
    CORE_CHECK(def->dt > 0 && def->smoothing >= 0 && def->smoothing <= 0.5, CORE_RANGE,
               "world: found dt %g, smoothing %g, expected dt > 0 and smoothing 0 .. 0.5", def->dt, def->smoothing);
    for (int t = 0; t < def->count_types; ++t) {
        const sim_type_def *type = &def->types[t];
        const bool good =
            type->radius > 0 && type->density > 0 && type->shape.area > 0 && type->shape.second_moment > 0;
        CORE_CHECK(good && isfinite(type->radius * type->density), CORE_RANGE,
                   "type %s: found radius %g, density %g, expected numbers above 0", type->name, type->radius,
                   type->density);
        for (int o = 0; o < def->count_types + def->count_boundaries; ++o)
            CORE_TRY(check_law(&def->law[t * (def->count_types + def->count_boundaries) + o], t, o, err));
    }
    CORE_CHECK(isfinite(def->period[0]) && isfinite(def->period[1]), CORE_NONFINITE, "world: found the period %g .. %g",
               def->period[0], def->period[1]);
    CORE_CHECK(def->period[0] <= def->period[1], CORE_RANGE, "world: found the period %g .. %g, expected x0 < x1",
               def->period[0], def->period[1]);
    return CORE_OK;
}

// Arrays whose size is known.
static core_status allocate(sim_world *w, core_error *err) {
    core_status status = CORE_OK;
    const size_t n = (size_t)w->capacity, types = (size_t)w->count_types;
    CORE_NEW_DONE(w->radius, types);
    CORE_NEW_DONE(w->type_mass, types);
    CORE_NEW_DONE(w->type_inertia, types);
    CORE_NEW_DONE(w->type_inverse_mass, types);
    CORE_NEW_DONE(w->type_inverse_inertia, types);
    CORE_NEW_DONE(w->support, types);
    CORE_NEW_DONE(w->outline, types);
    CORE_NEW_DONE(w->law, types * (types + (size_t)w->walls.count));
    CORE_NEW_DONE(w->x, 2 * n);
    CORE_NEW_DONE(w->theta, n);
    CORE_NEW_DONE(w->v, 2 * n);
    CORE_NEW_DONE(w->omega, n);
    CORE_NEW_DONE(w->cos_sin, 2 * n);
    CORE_NEW_DONE(w->mass, n);
    CORE_NEW_DONE(w->inertia, n);
    CORE_NEW_DONE(w->inverse_mass, n);
    CORE_NEW_DONE(w->inverse_inertia, n);
    CORE_NEW_DONE(w->type, n);
    CORE_NEW_DONE(w->image, n);
    CORE_NEW_DONE(w->role, n);
    CORE_NEW_DONE(w->mover_of, n);
    CORE_NEW_DONE(w->lost, SIM_LOST_COUNT * n);
    CORE_NEW_DONE(w->x_built, 2 * n);
    CORE_NEW_DONE(w->moving, n);
    CORE_NEW_DONE(w->adjacent_start, n + 1);
    CORE_NEW_DONE(w->kind_count, 4 * types * types);
    CORE_NEW_DONE(w->grain_block, (n + SIM_BLOCK - 1) / SIM_BLOCK);
    CORE_NEW_DONE(w->scratch, (size_t)w->threads);
done:
    return status;
}

static core_status fill_types(const sim_world_def *def, sim_world *w, core_error *err) {
    double radius_min = INFINITY, radius_max = 0;
    for (int t = 0; t < def->count_types; ++t) {
        const sim_type_def *type = &def->types[t];
        const double r2 = type->radius * type->radius;
        w->radius[t] = type->radius;
        w->type_mass[t] = type->density * type->shape.area * r2;
        w->type_inertia[t] = type->density * type->shape.second_moment * r2 * r2;
        w->type_inverse_mass[t] = 1 / w->type_mass[t];
        w->type_inverse_inertia[t] = 1 / w->type_inertia[t];
        CORE_TRY(sim_support_create(&type->shape.outline, type->radius, &w->support[t], err));
        CORE_TRY(core_outline_copy(&type->shape.outline, &w->outline[t], err));
        radius_min = fmin(radius_min, type->radius);
        radius_max = fmax(radius_max, type->radius);
    }
    memcpy(w->law, def->law,
           (size_t)def->count_types * (size_t)(def->count_types + def->count_boundaries) * sizeof *w->law);
    CORE_TRY(sim_order_create(def->capacity, &w->sequence, err));
    return sim_broad_create(def->capacity, radius_max, SIM_SKIN * radius_min, def->period, &w->broad, err);
}

core_status sim_world_create(const sim_world_def *def, sim_world **world, core_error *err) {
    core_status status = CORE_OK;
    sim_world *w = NULL;
    CORE_CHECK_DONE(def && world, CORE_ARG, "sim_world_create: null pointer");
    CORE_TRY_DONE(check_def(def, err));
    CORE_NEW_DONE(w, 1);
    *w = (sim_world){.capacity = def->capacity,
                     .count_types = def->count_types,
                     .threads = def->threads,
                     .k_max = def->contacts,
                     .gravity = {def->gravity[0], def->gravity[1]},
                     .dt = def->dt,
                     .smoothing = def->smoothing,
                     .period_start = def->period[0],
                     .period = def->period[1] - def->period[0],
                     .way_built = -INFINITY,
                     .stale = true};
    w->pairs.k_max = w->pairs_next.k_max = w->k_max;
    w->law_loop = nn_isa_available(NN_ISA_AVX2) ? sim__law_avx2 : sim__law_baseline;
    CORE_TRY_DONE(sim_walls_create(def->count_boundaries, def->boundaries, def->capacity, &w->walls, err));
    CORE_TRY_DONE(allocate(w, err));
    CORE_TRY_DONE(fill_types(def, w, err));
    w->narrow = def->narrow;
    *world = w;
    w = NULL;
done:
    sim_world_destroy(&w);
    return status;
}

void sim_world_destroy(sim_world **world) {
    if (!world || !*world) return;
    sim_world *w = *world;
    *world = NULL;
    if (w->narrow.destroy) w->narrow.destroy(w->narrow.self);
    for (int t = 0; w->support && t < w->count_types; ++t) sim_support_clear(&w->support[t]);
    for (int t = 0; w->outline && t < w->count_types; ++t) core_outline_clear(&w->outline[t]);
    for (int m = 0; m < w->count_movers; ++m) core_free(w->mover[m].law.table);
    sim_walls_clear(&w->walls);
    void *arrays[] = {w->radius,
                      w->type_mass,
                      w->type_inertia,
                      w->type_inverse_mass,
                      w->type_inverse_inertia,
                      w->support,
                      w->law,
                      w->outline,
                      w->x,
                      w->theta,
                      w->v,
                      w->omega,
                      w->cos_sin,
                      w->mass,
                      w->inertia,
                      w->inverse_mass,
                      w->inverse_inertia,
                      w->type,
                      w->image,
                      w->role,
                      w->mover_of,
                      w->mover,
                      w->x_built,
                      w->lost,
                      w->moving,
                      w->adjacent_start,
                      w->adjacent,
                      w->order,
                      w->awake,
                      w->block,
                      w->kind_count,
                      w->grain_block,
                      w->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) core_free(arrays[i]);
    sim_pairs_clear(&w->pairs);
    sim_pairs_clear(&w->pairs_next);
    sim_broad_clear(&w->broad);
    sim_found_clear(&w->found);
    sim_order_clear(&w->sequence);
    core_free(w);
}

// ---------------------------------------------------------------------------------------------- queries

sim_state sim_world_state(const sim_world *world) {
    return (sim_state){.n = world->n,
                       .step = world->step,
                       .time = (double)world->step * world->dt,
                       .x = world->x,
                       .theta = world->theta,
                       .v = world->v,
                       .omega = world->omega,
                       .type = world->type,
                       .image = world->image,
                       .role = world->role,
                       .mass = world->mass,
                       .inertia = world->inertia};
}

// Energy of a tangential spring, given that of its length. A cut spring has the length that gives Coulomb's force
// together with the dashpot: far from what that force alone would ask for while the contact slides fast, and the same
// when it stops. The energy is that of the force alone, so that steady sliding costs mu N times the way and nothing
// else.
static double held_energy(const sim_contact_law *law, const sim_slot *slot, double spring) {
    const double stiffness = law->kt * (1 - slot->c.shared);
    if (!slot->f.sliding || !(stiffness > 0)) return spring;
    return 0.5 * slot->f.f_t * slot->f.f_t / stiffness;
}

// Adds one contact of the last step. The normal spring's energy is taken at the present positions, to which its rate
// carries d.
static void add_contact(const sim_slot *slot, const sim_contact_law *law, const sim_body_state *a,
                        const sim_body_state *b, double dt, sim_totals *t) {
    double u_n, u_t;
    sim_contact_rates(&slot->c, slot->d_theta_a, a, b, &u_n, &u_t);
    const double d = slot->c.d + u_n * dt;
    if (d < 0) t->elastic += 0.5 * (1 - slot->c.shared) * law->kn * d * d;
    const double spring = 0.5 * law->kt * slot->spring * slot->spring, held = held_energy(law, slot, spring);
    t->elastic += held;
    t->dissipated_tangential += spring - held;
    t->count_sliding += slot->f.sliding;
    t->count_saturated += slot->f.saturated;
    if (!sim_slot_touches(slot)) return;
    t->penetration_mean -= slot->c.d;
    t->penetration_max = fmax(t->penetration_max, -slot->c.d);
}

static void add_grains(const sim_world *w, sim_totals *t) {
    for (int i = 0; i < w->n; ++i) {
        if (w->role[i] != SIM_ROLE_FREE) continue;
        const double v[2] = {w->v[2 * i], w->v[2 * i + 1]}, m = w->mass[i];
        const double x[2] = {w->x[2 * i] + w->period * w->image[i], w->x[2 * i + 1]};
        const double rotational = 0.5 * w->inertia[i] * w->omega[i] * w->omega[i];
        t->rotational += rotational;
        t->kinetic += 0.5 * m * (v[0] * v[0] + v[1] * v[1]) + rotational;
        t->potential -= m * (w->gravity[0] * x[0] + w->gravity[1] * x[1]);
        t->momentum[0] += m * v[0];
        t->momentum[1] += m * v[1];
        t->angular_momentum += m * (x[0] * v[1] - x[1] * v[0]) + w->inertia[i] * w->omega[i];
    }
}

typedef struct totals_of {
    const sim_world *world;
    sim_totals *totals;
} totals_of;

static void add_wall_contact(void *arg, int i, int boundary, const sim_slot *slot) {
    const totals_of *of = arg;
    const sim_world *w = of->world;
    const sim_body_state a = sim_wall_body(&w->walls.wall[boundary]), b = sim_world_body(w, i);
    add_contact(slot, sim_world_law(w, w->type[i], w->count_types + boundary), &a, &b, w->dt, of->totals);
    of->totals->count_plane_contacts += sim_slot_touches(slot);
}

void sim_world_totals(const sim_world *world, sim_totals *totals) {
    const sim_world *w = world;
    sim_totals t = {.dissipated_normal = w->dissipated_normal,
                    .dissipated_tangential = w->dissipated_tangential,
                    .work = w->work,
                    .removed = w->removed,
                    .count_pairs_near = w->pairs.n,
                    .count_evaluated = w->count_evaluated,
                    .count_full = w->count_full,
                    .count_skipped = w->count_skipped};
    double damped = 0; // of what was dissipated in tangential direction
    add_grains(w, &t);
    for (int i = 0; i < w->n; ++i) {
        const double *lost = w->lost + SIM_LOST_COUNT * i;
        t.dissipated_normal += lost[SIM_LOST_NORMAL];
        t.dissipated_tangential += lost[SIM_LOST_TANGENTIAL];
        t.work += lost[SIM_LOST_WORK];
        damped += lost[SIM_LOST_DAMPED];
    }
    for (int at = 0; at < w->pairs.n; ++at) {
        const int p = w->pairs.place[at];
        if (w->pairs.count[p] == 0) continue;
        const int i = w->pairs.i[p], j = w->pairs.j[p];
        const sim_body_state a = sim_world_body(w, i), b = sim_world_body(w, j);
        for (int c = 0; c < w->pairs.count[p]; ++c) {
            const sim_slot slot = sim_pairs_slot(&w->pairs, p, c);
            add_contact(&slot, sim_world_law(w, w->type[i], w->type[j]), &a, &b, w->dt, &t);
            t.count_contacts += sim_slot_touches(&slot);
        }
    }
    totals_of of = {w, &t};
    sim_walls_visit(w, add_wall_contact, &of);
    t.dissipated_damping = t.dissipated_normal + damped;
    t.dissipated_friction = t.dissipated_tangential - damped;
    const int64_t touching = t.count_contacts + t.count_plane_contacts;
    if (touching > 0) t.penetration_mean /= (double)touching;
    *totals = t;
}

typedef struct wall_visit {
    sim_contact_visitor *fn;
    void *arg;
} wall_visit;

static void visit_wall_contact(void *arg, int grain, int boundary, const sim_slot *slot) {
    const wall_visit *visit = arg;
    if (sim_slot_touches(slot)) visit->fn(visit->arg, -1 - boundary, grain, slot);
}

void sim_world_visit(const sim_world *world, sim_contact_visitor *fn, void *arg) {
    const sim_world *w = world;
    for (int at = 0; at < w->pairs.n; ++at) {
        const int p = w->pairs.place[at];
        for (int k = 0; k < w->pairs.count[p]; ++k) {
            const sim_slot slot = sim_pairs_slot(&w->pairs, p, k);
            if (sim_slot_touches(&slot)) fn(arg, w->pairs.i[p], w->pairs.j[p], &slot);
        }
    }
    wall_visit visit = {fn, arg};
    sim_walls_visit(w, visit_wall_contact, &visit);
}

// Where contacts are listed; NULL: not wanted.
typedef struct contacts_of {
    int64_t max, n;
    int *i, *j;
    sim_contact *c;
    sim_contact_force *f;
} contacts_of;

static void list_contact(void *arg, int a, int b, const sim_slot *slot) {
    contacts_of *of = arg;
    if (of->n < of->max) {
        if (of->i) of->i[of->n] = a;
        if (of->j) of->j[of->n] = b;
        if (of->c) of->c[of->n] = slot->c;
        if (of->f) of->f[of->n] = slot->f;
    }
    ++of->n;
}

int64_t sim_world_contacts(const sim_world *world, int64_t max, int *i, int *j, sim_contact *c, sim_contact_force *f) {
    contacts_of of = {.max = max, .i = i, .j = j, .c = c, .f = f};
    sim_world_visit(world, list_contact, &of);
    return of.n;
}

// Springs of touching contacts with their keys: what the lists hold beside them is no state.
static void hash_spring(void *arg, int a, int b, const sim_slot *slot) {
    uint64_t *hash = arg;
    const int32_t key[4] = {a >= 0 ? a : b, a >= 0 ? b : -1 - a, slot->c.feature, 0};
    *hash = core_hash_bytes(*hash, key, sizeof key);
    *hash = core_hash_bytes(*hash, &slot->spring, sizeof slot->spring);
}

uint64_t sim_world_hash(const sim_world *world) {
    const sim_world *w = world;
    const size_t n = (size_t)w->n;
    uint64_t hash = core_hash_bytes(0, &w->step, sizeof w->step);
    hash = core_hash_bytes(hash, w->type, n * sizeof *w->type);
    hash = core_hash_bytes(hash, w->x, 2 * n * sizeof *w->x);
    hash = core_hash_bytes(hash, w->theta, n * sizeof *w->theta);
    hash = core_hash_bytes(hash, w->v, 2 * n * sizeof *w->v);
    hash = core_hash_bytes(hash, w->omega, n * sizeof *w->omega);
    hash = core_hash_bytes(hash, w->image, n * sizeof *w->image);
    hash = core_hash_bytes(hash, w->role, n * sizeof *w->role);
    for (int b = 0; b < w->walls.count; ++b) {
        const sim_wall *wall = &w->walls.wall[b];
        const double pose[6] = {wall->x[0], wall->x[1], wall->angle, wall->v[0], wall->v[1], wall->omega};
        hash = core_hash_bytes(hash, &wall->present, sizeof wall->present);
        hash = core_hash_bytes(hash, pose, sizeof pose);
    }
    sim_world_visit(w, hash_spring, &hash);
    return hash;
}

double sim_dt_auto(int count_types, const sim_type_def *types, int count_boundaries, const sim_contact_law *law,
                   double fraction) {
    double fastest = 0; // largest k/m_eff, with strong damping counted in
    const int count_others = count_types + count_boundaries;
    for (int a = 0; a < count_types; ++a) {
        for (int o = 0; o < count_others; ++o) {
            double inverse = 0;
            for (int side = 0; side < 2; ++side) {
                const sim_type_def *type = side == 0 ? &types[a] : o < count_types ? &types[o] : NULL;
                if (!type) continue; // a boundary does not give way
                // R^2/I + 1/m
                const double r2 = type->radius * type->radius, m = type->density * type->shape.area * r2;
                inverse += (1 + type->shape.area / type->shape.second_moment) / m;
            }
            const sim_contact_law *l = &law[(size_t)a * (size_t)count_others + (size_t)o];
            const double k = fmax(l->kn, l->kt);
            // An overdamped contact relaxes faster than its spring swings: its rate is 2 zeta omega.
            double zeta = l->zeta;
            if (!isnan(l->gamma_n)) zeta = 0.5 * l->gamma_n * sqrt(inverse / l->kn);
            if (!isnan(l->gamma_t) && l->kt > 0) zeta = fmax(zeta, 0.5 * l->gamma_t * sqrt(inverse / l->kt));
            fastest = fmax(fastest, k * inverse * fmax(1, zeta * zeta));
        }
    }
    return fraction / sqrt(fastest);
}
