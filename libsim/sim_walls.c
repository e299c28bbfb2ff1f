/// The table of boundaries: which grains are near which feature, contacts and their springs, motion, work. A list of
/// near grains is kept with the neighbour list; what it holds beside springs is no state. README.md, section 4.
#include "sim_private.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- creation

void sim_wall_place(sim_wall *w) {
    double s, c;
    core_sincos(w->angle, &s, &c);
    if (w->kind == SIM_BOUNDARY_PLANE) {
        const double *n = w->normal_body;
        w->plane.normal[0] = c * n[0] - s * n[1];
        w->plane.normal[1] = s * n[0] + c * n[1];
        w->plane.offset = w->plane.normal[0] * w->x[0] + w->plane.normal[1] * w->x[1];
        w->plane.angle = core_atan2(-w->plane.normal[1], -w->plane.normal[0]);
    }
    for (int i = 0; w->kind == SIM_BOUNDARY_POLYLINE && i <= w->count_features; ++i) {
        const double *p = w->points_body + 2 * i;
        w->points[2 * i] = w->x[0] + (c * p[0] - s * p[1]);
        w->points[2 * i + 1] = w->x[1] + (s * p[0] + c * p[1]);
    }
}

static core_status check_wall(const sim_boundary_def *def, core_error *err) {
    const double *n = def->normal, *c = def->centre;
    switch (def->kind) {
    case SIM_BOUNDARY_PLANE:
        CORE_CHECK(fabs(n[0] * n[0] + n[1] * n[1] - 1) < 1e-9 && isfinite(def->offset), CORE_RANGE,
                   "plane %s: found normal (%g, %g), offset %g, expected a unit normal", def->name, n[0], n[1],
                   def->offset);
        return CORE_OK;
    case SIM_BOUNDARY_CIRCLE:
        CORE_CHECK(isfinite(c[0]) && isfinite(c[1]) && isfinite(def->radius), CORE_NONFINITE,
                   "circle %s: found centre (%g, %g), radius %g", def->name, c[0], c[1], def->radius);
        CORE_CHECK(def->radius > 0, CORE_RANGE, "circle %s: found radius %g m, expected a number above 0", def->name,
                   def->radius);
        return CORE_OK;
    case SIM_BOUNDARY_POLYLINE:
        CORE_CHECK(def->count_points >= 2 && def->points, CORE_ARG, "polyline %s: found %d points, expected at least 2",
                   def->name, def->count_points);
        CORE_CHECK(def->thickness > 0 && isfinite(def->thickness), CORE_RANGE,
                   "polyline %s: found thickness %g m, expected a number above 0", def->name, def->thickness);
        for (int i = 0; i < 2 * def->count_points; ++i) {
            CORE_CHECK(isfinite(def->points[i]), CORE_NONFINITE, "polyline %s: found coordinate %g of point %d",
                       def->name, def->points[i], i / 2 + 1);
        }
        for (int i = 1; i < def->count_points; ++i) {
            const double *p = def->points + 2 * i;
            CORE_CHECK(fabs(p[0] - p[-2]) + fabs(p[1] - p[-1]) > 0, CORE_SHAPE,
                       "polyline %s: points %d and %d are the same, expected a segment between them", def->name, i,
                       i + 1);
        }
        return CORE_OK;
    case SIM_BOUNDARY_KINDS:
        break;
    }
    return CORE_FAIL(err, CORE_ARG, "boundary %s: found kind %d", def->name, (int)def->kind);
}

// The middle of the polyline's box is its body's origin.
static core_status fill_polyline(const sim_boundary_def *def, sim_wall *w, core_error *err) {
    core_status status = CORE_OK;
    const size_t n = (size_t)def->count_points;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    CORE_NEW_DONE(w->points_body, 2 * n);
    CORE_NEW_DONE(w->points, 2 * n);
    for (size_t i = 0; i < 2 * n; ++i) {
        low[i % 2] = fmin(low[i % 2], def->points[i]);
        high[i % 2] = fmax(high[i % 2], def->points[i]);
    }
    for (int k = 0; k < 2; ++k) w->x[k] = 0.5 * low[k] + 0.5 * high[k];
    for (size_t i = 0; i < n; ++i) {
        double *p = w->points_body + 2 * i;
        for (int k = 0; k < 2; ++k) p[k] = def->points[2 * i + (size_t)k] - w->x[k];
        w->radius = fmax(w->radius, sqrt(p[0] * p[0] + p[1] * p[1]));
    }
    w->count_features = def->count_points - 1;
    w->half = 0.5 * def->thickness;
done:
    return status;
}

static core_status fill_wall(const sim_boundary_def *def, sim_wall *w, core_error *err) {
    CORE_TRY(check_wall(def, err));
    *w = (sim_wall){.kind = def->kind, .present = def->present, .count_features = 1, .servo = def->servo};
    if (def->kind == SIM_BOUNDARY_PLANE) {
        for (int k = 0; k < 2; ++k) {
            w->normal_body[k] = def->normal[k];
            w->x[k] = def->normal[k] * def->offset;
        }
    } else if (def->kind == SIM_BOUNDARY_CIRCLE) {
        memcpy(w->x, def->centre, sizeof w->x);
        w->radius = def->radius;
    } else {
        CORE_TRY(fill_polyline(def, w, err));
    }
    sim_wall_place(w);
    if (def->kind == SIM_BOUNDARY_PLANE) w->plane.offset = def->offset; // to the bit as it was given
    CORE_TRY(core_motion_copy(&def->motion, &w->mover.law, err));
    memcpy(w->mover.x, w->x, sizeof w->x);
    w->mover.start = def->motion.waits ? -1 : 0;
    w->mover.stop = -1;
    return CORE_OK;
}

core_status sim_walls_create(int count, const sim_boundary_def *defs, int capacity, sim_walls *walls, core_error *err) {
    core_status status = CORE_OK;
    sim_walls made = {.count = count};
    CORE_NEW_DONE(made.wall, (size_t)count);
    CORE_NEW_DONE(made.start, (size_t)capacity + 1);
    CORE_NEW_DONE(made.start_next, (size_t)capacity + 1);
    for (int b = 0; b < count; ++b) CORE_TRY_DONE(fill_wall(&defs[b], &made.wall[b], err));
    *walls = made;
    made = (sim_walls){0};
done:
    sim_walls_clear(&made);
    return status;
}

void sim_walls_clear(sim_walls *walls) {
    if (!walls) return;
    for (int b = 0; walls->wall && b < walls->count; ++b) {
        core_free(walls->wall[b].points);
        core_free(walls->wall[b].points_body);
        core_free(walls->wall[b].mover.law.table);
    }
    core_free(walls->wall);
    core_free(walls->entry);
    core_free(walls->entry_next);
    core_free(walls->start);
    core_free(walls->start_next);
    *walls = (sim_walls){0};
}

// ---------------------------------------------------------------------------------------------- list

// Periods by which a grain at x is moved to be next to a feature at `reference`.
static double nearest_image(const sim_world *w, double x, double reference) {
    return x - reference - sim_world_image(w, x - reference);
}

// x of the middle of a feature.
static double feature_middle(const sim_wall *wall, int feature) {
    return wall->kind == SIM_BOUNDARY_POLYLINE ? 0.5 * (wall->points[2 * feature] + wall->points[2 * feature + 2])
                                               : wall->x[0];
}

// Distance from a grain's centre (moved to its nearest image) to the surface of a feature, m.
static double centre_gap(const sim_wall *wall, int feature, const double x[2]) {
    if (wall->kind == SIM_BOUNDARY_PLANE)
        return wall->plane.normal[0] * x[0] + wall->plane.normal[1] * x[1] - wall->plane.offset;
    if (wall->kind == SIM_BOUNDARY_CIRCLE) {
        const double dx = x[0] - wall->x[0], dy = x[1] - wall->x[1];
        return wall->radius - sqrt(dx * dx + dy * dy);
    }
    const double *p = wall->points + 2 * feature, ex = p[2] - p[0], ey = p[3] - p[1];
    const double t = fmin(fmax(((x[0] - p[0]) * ex + (x[1] - p[1]) * ey) / (ex * ex + ey * ey), 0), 1);
    const double dx = x[0] - (p[0] + t * ex), dy = x[1] - (p[1] + t * ey);
    return sqrt(dx * dx + dy * dy) - wall->half;
}

bool sim_walls_allow(const sim_walls *walls, const double period[2], const double x[2], double radius) {
    const double length = period[1] - period[0];
    for (int b = 0; b < walls->count; ++b) {
        const sim_wall *wall = &walls->wall[b];
        for (int f = 0; wall->present && f < wall->count_features; ++f) {
            double at[2] = {x[0], x[1]};
            if (length > 0 && wall->kind != SIM_BOUNDARY_PLANE)
                at[0] -= length * floor((x[0] - feature_middle(wall, f)) / length + 0.5);
            if (centre_gap(wall, f, at) < radius) return false;
        }
    }
    return true;
}

bool sim_body_allows(const core_outline *outline, double scale, const double position[2], double angle,
                     const double period[2], const double x[2], double radius) {
    const double length = period[1] - period[0], dy = x[1] - position[1];
    double s, c, dx = x[0] - position[0], distance;
    if (length > 0) dx -= length * floor(dx / length + 0.5);
    core_sincos(angle, &s, &c);
    const double body[2] = {(c * dx + s * dy) / scale, (c * dy - s * dx) / scale};
    sdf_outline_distance(outline, body, 1, &distance, NULL);
    return scale * distance >= radius;
}

// Position of grain i next to a feature.
static void grain_near(const sim_world *w, int i, const sim_wall *wall, int feature, double x[2]) {
    x[0] = w->x[2 * i];
    x[1] = w->x[2 * i + 1];
    if (w->period > 0 && wall->kind != SIM_BOUNDARY_PLANE)
        x[0] -= nearest_image(w, x[0], feature_middle(wall, feature));
}

static core_status append_entry(sim_walls *walls, int boundary, int feature, core_error *err) {
    if (walls->n_next == walls->capacity_next) {
        const int capacity = walls->capacity_next + walls->capacity_next / 2 + 64;
        CORE_CHECK(capacity < INT32_MAX / 2, CORE_RANGE, "boundaries: more than %d near grains", walls->capacity_next);
        void *grown =
            core_realloc(walls->entry_next, (size_t)walls->capacity_next, (size_t)capacity, sizeof *walls->entry_next);
        CORE_CHECK(grown, CORE_MEMORY, "out of memory: boundary list of %d near grains", capacity);
        walls->entry_next = grown;
        walls->capacity_next = capacity;
    }
    walls->entry_next[walls->n_next++] = (sim_wall_entry){.boundary = boundary, .feature = feature};
    return CORE_OK;
}

static core_status find_near(sim_world *w, int i, core_error *err) {
    sim_walls *walls = &w->walls;
    const double reach = w->radius[w->type[i]] + w->broad.skin;
    for (int b = 0; b < walls->count; ++b) {
        const sim_wall *wall = &walls->wall[b];
        if (!wall->present) continue;
        for (int f = 0; f < wall->count_features; ++f) {
            double x[2];
            grain_near(w, i, wall, f, x);
            if (!(centre_gap(wall, f, x) > reach)) CORE_TRY(append_entry(walls, b, f, err));
        }
    }
    return CORE_OK;
}

static double spring_energy(const sim_world *w, int i, const sim_wall_entry *e) {
    const double kt = sim_world_law(w, w->type[i], w->count_types + e->boundary)->kt;
    return 0.5 * kt * e->slot.spring * e->slot.spring;
}

// Contacts of grain i move to the same features of the new list; returns the energy of springs left behind.
static double carry(const sim_world *w, int i) {
    sim_walls *walls = (sim_walls *)(uintptr_t)&w->walls;
    double lost = 0;
    int q = walls->start_next[i];
    const int end = walls->start_next[i + 1];
    for (int p = walls->start[i]; p < walls->start[i + 1]; ++p) {
        const sim_wall_entry *from = &walls->entry[p];
        while (q < end &&
               (walls->entry_next[q].boundary < from->boundary ||
                (walls->entry_next[q].boundary == from->boundary && walls->entry_next[q].feature < from->feature)))
            ++q;
        sim_wall_entry *to = q < end ? &walls->entry_next[q] : NULL;
        if (to && to->boundary == from->boundary && to->feature == from->feature) {
            *to = *from;
        } else {
            lost += spring_energy(w, i, from);
        }
    }
    return lost;
}

core_status sim_walls_find(sim_world *w, core_error *err) {
    sim_walls *walls = &w->walls;
    walls->n_next = 0;
    for (int i = 0; i < w->n; ++i) {
        walls->start_next[i] = walls->n_next;
        if (w->role[i] == SIM_ROLE_FREE) CORE_TRY(find_near(w, i, err));
    }
    walls->start_next[w->n] = walls->n_next;
    // rows that are new have no contacts yet
    for (int i = walls->n_listed; i < w->n; ++i) walls->start[i + 1] = walls->n;
    for (int i = 0; i < w->n; ++i) w->dissipated_tangential += carry(w, i);
    const sim_walls old = *walls;
    walls->entry = old.entry_next;
    walls->entry_next = old.entry;
    walls->start = old.start_next;
    walls->start_next = old.start;
    walls->capacity = old.capacity_next;
    walls->capacity_next = old.capacity;
    walls->n = old.n_next;
    walls->n_listed = w->n;
    walls->moved = 0;
    for (int b = 0; b < walls->count; ++b) {
        sim_wall *wall = &walls->wall[b];
        memcpy(wall->x_built, wall->x, sizeof wall->x);
        wall->angle_built = wall->angle;
        // how far from x its surface is that grains can meet
        wall->reach = wall->kind == SIM_BOUNDARY_POLYLINE ? wall->radius : 0;
        for (int i = 0; wall->kind == SIM_BOUNDARY_PLANE && i < w->n; ++i) {
            const double dx = w->x[2 * i] - wall->x[0], dy = w->x[2 * i + 1] - wall->x[1];
            if (w->role[i] == SIM_ROLE_FREE)
                wall->reach = fmax(wall->reach, sqrt(dx * dx + dy * dy) + 2 * w->radius[w->type[i]]);
        }
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- motion

sim_body_state sim_wall_body(const sim_wall *wall) {
    return (sim_body_state){.x = {wall->x[0], wall->x[1]}, .v = {wall->v[0], wall->v[1]}, .omega = wall->omega};
}

// At the middle of the step, where work is exact.
static sim_body_state body_after(const sim_wall *wall) {
    return (sim_body_state){
        .x = {wall->x[0], wall->x[1]}, .v = {wall->v_next[0], wall->v_next[1]}, .omega = wall->omega_next};
}

// True while the boundary keeps a pressure.
static bool is_servo(const sim_wall *wall) {
    return wall->servo.mass > 0 && !(wall->servo.until_motion && wall->mover.start >= 0);
}

void sim_walls_begin(sim_world *w) {
    for (int b = 0; b < w->walls.count; ++b) {
        sim_wall *wall = &w->walls.wall[b];
        if (is_servo(wall)) {
            sim_servo_begin(w, b);
            continue;
        }
        if (wall->mover.start < 0) continue;
        double x[2], angle;
        sim_mover_pose(&wall->mover, w->step + 1, w->dt, x, &angle);
        for (int k = 0; k < 2; ++k) wall->v_next[k] = (x[k] - wall->x[k]) / w->dt;
        wall->omega_next = (angle - wall->angle) / w->dt;
    }
}

// Most that the surface near grains has moved since the list was built.
static double surface_moved(const sim_wall *wall) {
    const double dx = wall->x[0] - wall->x_built[0], dy = wall->x[1] - wall->x_built[1];
    const double turn = fabs(wall->angle - wall->angle_built) * wall->reach;
    if (wall->kind == SIM_BOUNDARY_PLANE && !(turn > 0)) // along itself a plane does not move
        return fabs(dx * wall->plane.normal[0] + dy * wall->plane.normal[1]);
    return sqrt(dx * dx + dy * dy) + turn;
}

void sim_walls_end(sim_world *w) {
    w->walls.moved = 0;
    for (int b = 0; b < w->walls.count; ++b) {
        sim_wall *wall = &w->walls.wall[b];
        if (is_servo(wall)) {
            sim_servo_end(w, b);
        } else if (wall->mover.start >= 0) {
            sim_mover_pose(&wall->mover, w->step + 1, w->dt, wall->x, &wall->angle);
        } else {
            continue;
        }
        memcpy(wall->v, wall->v_next, sizeof wall->v);
        wall->omega = wall->omega_next;
        sim_wall_place(wall);
        w->walls.moved = fmax(w->walls.moved, surface_moved(wall));
    }
}

// ---------------------------------------------------------------------------------------------- contacts

// Contact of grain i (at x) with a feature.
static void feature_contact(const sim_world *w, int i, const double x[2], const sim_wall *wall, int feature,
                            sim_contact *c) {
    const int type = w->type[i];
    const double *cos_sin = w->cos_sin + 2 * i;
    switch (wall->kind) {
    case SIM_BOUNDARY_PLANE:
        sim_plane_contact(&wall->plane, wall->x, &w->support[type], x, w->theta[i], w->smoothing, c);
        break;
    case SIM_BOUNDARY_CIRCLE:
        sim_circle_contact(wall->x, wall->radius, &w->support[type], x, cos_sin, w->smoothing, c);
        break;
    case SIM_BOUNDARY_POLYLINE: {
        const double *p = wall->points + 2 * feature;
        sim_segment_contact(p, p + 2, wall->half, wall->x, &w->outline[type], w->radius[type], x, cos_sin, w->smoothing,
                            c);
        break;
    }
    case SIM_BOUNDARY_KINDS:
        break;
    }
    c->feature = feature;
}

void sim_walls_forces(sim_world *w, int i, double force[2], double *torque, double *dissipated) {
    sim_body_state grain = sim_world_body(w, i);
    const int type = w->type[i];
    for (int p = w->walls.start[i]; p < w->walls.start[i + 1]; ++p) {
        sim_wall_entry *e = &w->walls.entry[p];
        const sim_wall *wall = &w->walls.wall[e->boundary];
        double x[2];
        grain_near(w, i, wall, e->feature, x);
        if (!wall->present || centre_gap(wall, e->feature, x) > w->radius[type]) {
            if (e->near) *dissipated += spring_energy(w, i, e);
            e->slot.spring = 0;
            e->near = false;
            continue;
        }
        const sim_body_state body = sim_wall_body(wall);
        feature_contact(w, i, x, wall, e->feature, &e->slot.c);
        memcpy(grain.x, x, sizeof grain.x);
        sim_slot_apply(sim_world_law(w, type, w->count_types + e->boundary), &body, &grain, w->dt, &e->slot);
        e->near = true;
        force[0] += e->slot.f.force[0];
        force[1] += e->slot.f.force[1];
        *torque += e->slot.f.torque_b;
    }
}

void sim_walls_losses(const sim_world *w, int i, double *lost) {
    const sim_body_state grain = sim_world_body(w, i);
    for (int p = w->walls.start[i]; p < w->walls.start[i + 1]; ++p) {
        const sim_wall_entry *e = &w->walls.entry[p];
        if (!e->near) continue;
        const sim_wall *wall = &w->walls.wall[e->boundary];
        const sim_body_state after = body_after(wall);
        sim_slot_dissipation(&e->slot, &after, &grain, w->dt, lost);
        const sim_contact_force *f = &e->slot.f;
        lost[SIM_LOST_WORK] +=
            (f->force[0] * 0.5 * (wall->v[0] + wall->v_next[0]) + f->force[1] * 0.5 * (wall->v[1] + wall->v_next[1]) -
             f->torque_a * 0.5 * (wall->omega + wall->omega_next)) *
            w->dt;
    }
}

// ---------------------------------------------------------------------------------------------- queries

void sim_walls_load(const sim_world *w, int boundary, double force[2], double *torque) {
    force[0] = force[1] = *torque = 0;
    for (int p = 0; p < w->walls.n; ++p) {
        const sim_wall_entry *e = &w->walls.entry[p];
        if (e->boundary != boundary || !e->near) continue;
        force[0] -= e->slot.f.force[0];
        force[1] -= e->slot.f.force[1];
        *torque += e->slot.f.torque_a;
    }
}

void sim_walls_visit(const sim_world *w, void (*fn)(void *arg, int grain, int boundary, const sim_slot *slot),
                     void *arg) {
    for (int i = 0; i < w->walls.n_listed; ++i) {
        for (int p = w->walls.start[i]; p < w->walls.start[i + 1]; ++p) {
            const sim_wall_entry *e = &w->walls.entry[p];
            if (e->near) fn(arg, i, e->boundary, &e->slot);
        }
    }
}

void sim_walls_drop_grain(sim_world *w, int i) {
    if (i >= w->walls.n_listed) return;
    for (int p = w->walls.start[i]; p < w->walls.start[i + 1]; ++p) {
        w->walls.entry[p].slot = (sim_slot){0};
        w->walls.entry[p].near = false;
    }
}

void sim_walls_set_present(sim_world *w, int boundary, bool present) {
    sim_wall *wall = &w->walls.wall[boundary];
    if (present && !wall->present) w->stale = true;
    wall->present = present;
    if (present) return;
    // What its springs held is lost.
    for (int i = 0; i < w->walls.n_listed; ++i) {
        for (int p = w->walls.start[i]; p < w->walls.start[i + 1]; ++p) {
            sim_wall_entry *e = &w->walls.entry[p];
            if (e->boundary != boundary || !e->near) continue;
            const sim_contact_law *law = sim_world_law(w, w->type[i], w->count_types + boundary);
            if (e->slot.c.d < 0) w->dissipated_normal += 0.5 * law->kn * e->slot.c.d * e->slot.c.d;
            w->dissipated_tangential += spring_energy(w, i, e);
            e->slot = (sim_slot){0};
            e->near = false;
        }
    }
}
