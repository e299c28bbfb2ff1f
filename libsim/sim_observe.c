/// Scalars stored with each frame: energies and counts, outflow, loads on boundaries, stress and strain of a cell.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_measure_private.h"
#include "sim_private.h"

// Of every run; outlets, loads and a cell follow.
enum {
    OBSERVE_KINETIC,
    OBSERVE_ROTATIONAL,
    OBSERVE_POTENTIAL,
    OBSERVE_ELASTIC,
    OBSERVE_DISSIPATED_NORMAL,
    OBSERVE_DISSIPATED_TANGENTIAL,
    OBSERVE_DISSIPATED_DAMPING,
    OBSERVE_DISSIPATED_FRICTION,
    OBSERVE_CONTACTS,
    OBSERVE_PLANE_CONTACTS,
    OBSERVE_SLIDING,
    OBSERVE_SATURATED,
    OBSERVE_PENETRATION_MEAN,
    OBSERVE_PENETRATION_MAX,
    OBSERVE_NEAR,
    OBSERVE_EVALUATED,
    OBSERVE_WORK,
    OBSERVE_REMOVED,
    OBSERVE_GRAINS,
    OBSERVE_BALANCE,
    OBSERVE_PENETRATION_P99,
    OBSERVE_COORDINATION,
    OBSERVE_COUNT
};
static const core_run_observable OBSERVABLES[OBSERVE_COUNT] = {
    [OBSERVE_KINETIC] = {"kinetic_energy", "J", "translation and rotation, per metre of depth"},
    [OBSERVE_ROTATIONAL] = {"rotational_energy", "J", "part of kinetic_energy in rotation"},
    [OBSERVE_POTENTIAL] = {"potential_energy", "J", "-sum m g.x"},
    [OBSERVE_ELASTIC] = {"elastic_energy", "J", "in the springs of contacts, at the present positions"},
    [OBSERVE_DISSIPATED_NORMAL] = {"dissipated_normal", "J",
                                   "since the start: normal damping and its cut at zero force"},
    [OBSERVE_DISSIPATED_TANGENTIAL] = {"dissipated_tangential", "J",
                                       "since the start: friction, tangential damping, dropped springs"},
    [OBSERVE_DISSIPATED_DAMPING] = {"dissipated_damping", "J",
                                    "since the start: dissipated_normal and the tangential dashpots of contacts that "
                                    "hold"},
    [OBSERVE_DISSIPATED_FRICTION] = {"dissipated_friction", "J",
                                     "since the start: the rest of dissipated_tangential, sliding and dropped "
                                     "springs"},
    [OBSERVE_CONTACTS] = {"contacts", "1", "pairs of grains with d < 0"},
    [OBSERVE_PLANE_CONTACTS] = {"plane_contacts", "1", "contacts of grains with boundaries that are no grains, d < 0"},
    [OBSERVE_SLIDING] = {"sliding_contacts", "1", "contacts at Coulomb's limit"},
    [OBSERVE_SATURATED] = {"saturated_contacts", "1", "contacts whose distance has saturated (|g| < 0.05)"},
    [OBSERVE_PENETRATION_MEAN] = {"penetration_mean", "m",
                                  "mean of -d over touching contacts, as the narrow phase sees it"},
    [OBSERVE_PENETRATION_MAX] = {"penetration_max", "m", "largest -d, as the narrow phase sees it"},
    [OBSERVE_NEAR] = {"near_pairs", "1", "pairs in the neighbour list"},
    [OBSERVE_EVALUATED] = {"evaluated_pairs", "1", "pairs the narrow phase was asked for in the last step"},
    [OBSERVE_WORK] = {"work", "J", "since the start: done on grains by bodies whose motion is prescribed"},
    [OBSERVE_REMOVED] = {"removed_energy", "J",
                         "since the start: taken along by grains that left, less that of those that entered"},
    [OBSERVE_GRAINS] = {"grains", "1", "free grains that are there"},
    [OBSERVE_BALANCE] = {"energy_balance", "J",
                         "kinetic + potential + elastic + dissipated + removed - work: constant if nothing is amiss"},
    [OBSERVE_PENETRATION_P99] = {"penetration_p99", "m",
                                 "99 % of the touching contacts are not deeper, as the narrow phase sees it"},
    [OBSERVE_COORDINATION] =
        {"coordination", "1",
         "mean number of bodies that a free grain touches, without rattlers (fewer than 2; 3 where "
         "nothing rubs), which are taken out until none is left"},
};

// Of a cell of four planes.
enum { CELL_STRESS_X, CELL_STRESS_Y, CELL_STRAIN_X, CELL_STRAIN_Y, CELL_COUNT };
static const core_run_observable CELL[CELL_COUNT] = {
    [CELL_STRESS_X] = {"stress_xx", "Pa",
                       "mean of the loads on left and right over the present height; pressure is positive"},
    [CELL_STRESS_Y] = {"stress_yy", "Pa",
                       "mean of the loads on floor and lid over the present width; pressure is positive"},
    [CELL_STRAIN_X] = {"strain_xx", "1", "1 - width/width at the start: compression is positive"},
    [CELL_STRAIN_Y] = {"strain_yy", "1", "1 - height/height at the start: compression is positive"},
};

// ---------------------------------------------------------------------------------------------- totals

static void observe_totals(const sim_world *world, double *values) {
    sim_totals t;
    sim_world_totals(world, &t);
    values[OBSERVE_KINETIC] = t.kinetic;
    values[OBSERVE_ROTATIONAL] = t.rotational;
    values[OBSERVE_POTENTIAL] = t.potential;
    values[OBSERVE_ELASTIC] = t.elastic;
    values[OBSERVE_DISSIPATED_NORMAL] = t.dissipated_normal;
    values[OBSERVE_DISSIPATED_TANGENTIAL] = t.dissipated_tangential;
    values[OBSERVE_DISSIPATED_DAMPING] = t.dissipated_damping;
    values[OBSERVE_DISSIPATED_FRICTION] = t.dissipated_friction;
    values[OBSERVE_CONTACTS] = (double)t.count_contacts;
    values[OBSERVE_PLANE_CONTACTS] = (double)t.count_plane_contacts;
    values[OBSERVE_SLIDING] = (double)t.count_sliding;
    values[OBSERVE_SATURATED] = (double)t.count_saturated;
    values[OBSERVE_PENETRATION_MEAN] = t.penetration_mean;
    values[OBSERVE_PENETRATION_MAX] = t.penetration_max;
    values[OBSERVE_NEAR] = (double)t.count_pairs_near;
    values[OBSERVE_EVALUATED] = (double)t.count_evaluated;
    values[OBSERVE_WORK] = t.work;
    values[OBSERVE_REMOVED] = t.removed;
    values[OBSERVE_BALANCE] =
        t.kinetic + t.potential + t.elastic + t.dissipated_normal + t.dissipated_tangential + t.removed - t.work;
    values[OBSERVE_GRAINS] = 0;
    const sim_state s = sim_world_state(world);
    for (int i = 0; i < s.n; ++i) values[OBSERVE_GRAINS] += s.role[i] == SIM_ROLE_FREE;
}

// ---------------------------------------------------------------------------------------------- cell

// Distance of two planes that face each other.
static double plane_distance(const sim_world *w, int a, int b) {
    const sim_wall *p = &w->walls.wall[a], *q = &w->walls.wall[b];
    return fabs((q->x[0] - p->x[0]) * p->plane.normal[0] + (q->x[1] - p->x[1]) * p->plane.normal[1]);
}

// Distance that the two planes of the scene had.
static double first_distance(const sim_scene *scene, int a, int b) {
    const sim_boundary_def *p = &scene->boundaries[a], *q = &scene->boundaries[b];
    const double x[2] = {q->normal[0] * q->offset - p->normal[0] * p->offset,
                         q->normal[1] * q->offset - p->normal[1] * p->offset};
    return fabs(x[0] * p->normal[0] + x[1] * p->normal[1]);
}

// Pressure of the contacts on a plane over `length`.
static double pressure(const sim_world *w, int plane, double length) {
    double force[2], torque;
    sim_walls_load(w, plane, force, &torque);
    const double *n = w->walls.wall[plane].plane.normal;
    return -(force[0] * n[0] + force[1] * n[1]) / length;
}

static void observe_cell(const sim_scene *scene, const sim_world *w, double *values) {
    const int *c = scene->cell;
    const double width = plane_distance(w, c[0], c[1]), height = plane_distance(w, c[2], c[3]);
    values[CELL_STRESS_X] = 0.5 * (pressure(w, c[0], height) + pressure(w, c[1], height));
    values[CELL_STRESS_Y] = 0.5 * (pressure(w, c[2], width) + pressure(w, c[3], width));
    values[CELL_STRAIN_X] = 1 - width / first_distance(scene, c[0], c[1]);
    values[CELL_STRAIN_Y] = 1 - height / first_distance(scene, c[2], c[3]);
}

// ---------------------------------------------------------------------------------------------- all of them

int sim_observe_count(const sim_scene *scene) {
    return OBSERVE_COUNT + 2 * scene->count_outlets + 2 * scene->count_boundaries +
           (scene->cell[0] >= 0 ? CELL_COUNT : 0);
}

core_status sim_observe_create(const sim_scene *scene, sim_observe *observe, core_error *err) {
    core_status status = CORE_OK;
    sim_observe made = {.count = sim_observe_count(scene)};
    const int named = 2 * (scene->count_outlets + scene->count_boundaries);
    int n = OBSERVE_COUNT, name = 0;
    CORE_NEW_DONE(made.list, (size_t)made.count);
    CORE_NEW_DONE(made.names, (size_t)named);
    memcpy(made.list, OBSERVABLES, sizeof OBSERVABLES);
    static const core_run_observable outlet[2] = {{"out_", "1", "grains that left through this outlet since the start"},
                                                  {"out_kg_", "kg", "their mass, per metre of depth"}};
    static const core_run_observable load[2] = {{"load_x_", "N", "x of the contacts' force on this boundary"},
                                                {"load_y_", "N", "y of the contacts' force on this boundary"}};
    for (int k = 0; k < named; ++k, ++n, ++name) {
        const bool is_outlet = k < 2 * scene->count_outlets;
        const core_run_observable *kind = is_outlet ? &outlet[k % 2] : &load[k % 2];
        const int i = is_outlet ? k / 2 : k / 2 - scene->count_outlets;
        made.list[n] = *kind;
        snprintf(made.names[name], sizeof made.names[name], "%s%s", kind->name,
                 is_outlet ? scene->outlets[i].name : scene->boundaries[i].name);
        // what a dataset may not be called
        for (char *c = made.names[name]; *c; ++c) *c = *c == '/' || *c == '.' ? '_' : *c;
        made.list[n].name = made.names[name];
    }
    if (scene->cell[0] >= 0) memcpy(made.list + n, CELL, sizeof CELL);
    *observe = made;
    made = (sim_observe){0};
done:
    sim_observe_clear(&made);
    return status;
}

void sim_observe_clear(sim_observe *observe) {
    if (!observe) return;
    core_free(observe->list);
    core_free(observe->names);
    *observe = (sim_observe){0};
}

void sim_observe_fill(const sim_scene *scene, const sim_setup *setup, double *values) {
    const sim_world *w = setup->world;
    observe_totals(w, values);
    values += OBSERVE_COUNT;
    for (int i = 0; i < scene->count_outlets; ++i) {
        *values++ = (double)setup->flow.outlet[i].count;
        *values++ = setup->flow.outlet[i].mass;
    }
    for (int b = 0; b < scene->count_boundaries; ++b, values += 2) {
        double torque;
        sim_walls_load(w, b, values, &torque);
    }
    if (scene->cell[0] >= 0) observe_cell(scene, w, values);
}

// True if a pair of types or a type and a boundary have friction.
static bool anything_rubs(const sim_scene *scene) {
    const int n = scene->count_types * (scene->count_types + scene->count_boundaries);
    for (int k = 0; k < n; ++k)
        if (scene->law[k].mu > 0) return true;
    return false;
}

core_status sim_observe_contacts(const sim_scene *scene, const sim_world *world, int64_t n,
                                 const core_run_contact *contacts, double *values, core_error *err) {
    core_status status = CORE_OK;
    double *depth = NULL, sum = 0;
    int *neighbours = NULL, count = 0;
    uint8_t *rattler = NULL;
    CORE_NEW_DONE(depth, (size_t)n);
    CORE_NEW_DONE(neighbours, (size_t)world->n);
    CORE_NEW_DONE(rattler, (size_t)world->n);
    for (int64_t k = 0; k < n; ++k) depth[k] = -contacts[k].d;
    qsort(depth, (size_t)n, sizeof *depth, sim_measure_compare);
    values[OBSERVE_PENETRATION_P99] = n > 0 ? depth[sim_measure_quantile(0.99, (int)n)] : 0;
    for (int i = 0; i < world->n; ++i) rattler[i] = world->role[i] == SIM_ROLE_ABSENT;
    sim_measure_drop_rattlers(contacts, n, anything_rubs(scene) ? 2 : 3, world->n, world->role, neighbours, rattler);
    for (int i = 0; i < world->n; ++i) {
        if (rattler[i] || world->role[i] != SIM_ROLE_FREE) continue;
        sum += neighbours[i];
        ++count;
    }
    values[OBSERVE_COORDINATION] = count > 0 ? sum / count : 0;
done:
    core_free(depth);
    core_free(neighbours);
    core_free(rattler);
    return status;
}
