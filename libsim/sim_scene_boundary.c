/// Scene files: boundaries - planes, circles, polylines, grains that do not give way -, their motion and servos, the
/// period and the cell.
#include <math.h>

#include "sim_scene_private.h"

#define BOUNDARIES_MAX 4096

typedef sim__reader reader;

// ---------------------------------------------------------------------------------------------- geometry

core_status sim__scene_plane(const sim__reader *r, const core_yaml_node *node, double normal[2], double *offset,
                             core_error *err) {
    double point[2] = {0}, drawn[2] = {0};
    core_yaml_vector(node, "point", point, 2);
    core_yaml_vector(node, "normal", drawn, 2);
    // Scaled first, so that no length over- or underflows; a plane whose offset overflows is caught below.
    double scale = fmax(fabs(drawn[0]), fabs(drawn[1]));
    if (!(scale > 0)) {
        return core_yaml_fail(r->doc, core_yaml_get(node, "normal"), err,
                              "found [0, 0], expected a vector with a length");
    }
    double n[2] = {drawn[0] / scale, drawn[1] / scale};
    double length = sqrt(n[0] * n[0] + n[1] * n[1]);
    for (int k = 0; k < 2; k++) normal[k] = n[k] / length;
    *offset = normal[0] * point[0] + normal[1] * point[1];
    if (!isfinite(*offset)) return core_yaml_fail(r->doc, node, err, "the plane's offset is not finite");
    return CORE_OK;
}

static core_status read_polyline(const reader *r, const core_yaml_node *node, sim_boundary_def *b, core_error *err) {
    const core_yaml_node *points = core_yaml_get(node, "points");
    const int n = core_yaml_count(points);
    void *array = NULL;
    if (n < 4 || n % 2 != 0) {
        return core_yaml_fail(r->doc, points, err,
                              "found %d numbers, expected [x0, y0, x1, y1, ...] of 2 or more points", n);
    }
    CORE_TRY(sim__scene_array((size_t)n, sizeof(double), &array, err));
    b->points = array;
    b->count_points = n / 2;
    core_yaml_vector(node, "points", b->points, n);
    b->thickness = core_yaml_number(node, "thickness");
    for (int i = 2; i < n; i += 2) {
        if (fabs(b->points[i] - b->points[i - 2]) + fabs(b->points[i + 1] - b->points[i - 1]) > 0) continue;
        return core_yaml_fail(r->doc, points, err, "points %d and %d are the same, expected a segment between them",
                              i / 2, i / 2 + 1);
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- motion

static core_status read_motion(const reader *r, const core_yaml_node *node, sim_motion_def *motion, core_error *err) {
    char *path = NULL;
    const core_status status = core_motion_read(r->doc, node, r->folder, motion, &path, err);
    return path ? sim__scene_keep_csv(r, path, status, err) : status;
}

// `across` names planes that may stand further down: read when all boundaries are known.
static core_status read_servo(const reader *r, const core_yaml_node *node, sim_boundary_def *b, core_error *err) {
    const core_yaml_node *length = core_yaml_get(node, "length"), *across = core_yaml_get(node, "across");
    if (length && across)
        return core_yaml_fail(r->doc, across, err, "given together with length; expected one of them");
    if (!length && !across) return core_yaml_fail(r->doc, node, err, "neither length nor across; expected one of them");
    b->servo.pressure = core_yaml_number(node, "pressure");
    b->servo.length = length ? core_yaml_number(node, "length") : NAN;
    b->servo.mass = core_yaml_number(node, "mass");       // NaN: auto, when the step is known
    b->servo.damping = core_yaml_number(node, "damping"); // the same
    return CORE_OK;
}

// A list of n planes.
static core_status read_planes(const reader *r, const core_yaml_node *names, int n, int *planes, core_error *err) {
    if (core_yaml_count(names) != n)
        return core_yaml_fail(r->doc, names, err, "found %d names, expected %d planes", core_yaml_count(names), n);
    for (int i = 0; i < n; i++) {
        const core_yaml_node *place = core_yaml_at(names, i);
        CORE_TRY(sim__scene_find(r, place, core_yaml_scalar(place), SIM__BOUNDARIES, &planes[i], err));
        if (r->scene->boundaries[planes[i]].kind != SIM_BOUNDARY_PLANE)
            return core_yaml_fail(r->doc, place, err, "\"%s\" is no plane", core_yaml_scalar(place));
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- the list

static const char *const kinds[] = {"plane", "circle", "polyline", "grain"};

/// Which of the kinds an entry is.
static core_status read_kind(const reader *r, const core_yaml_node *node, int *kind, core_error *err) {
    *kind = -1;
    for (int k = 0; k < 4; k++) {
        const core_yaml_node *geometry = core_yaml_get(node, kinds[k]);
        if (geometry && *kind >= 0)
            return core_yaml_fail(r->doc, geometry, err, "given together with %s; expected one of them", kinds[*kind]);
        if (geometry) *kind = k;
    }
    if (*kind < 0)
        return core_yaml_fail(r->doc, node, err,
                              "no geometry; expected one of the keys plane, circle, polyline, grain");
    return CORE_OK;
}

static core_status read_body(const reader *r, const core_yaml_node *node, core_error *err) {
    sim_body_def *body = &r->scene->bodies[r->scene->count_bodies++];
    const core_yaml_node *name = core_yaml_get(node, "name"), *type = core_yaml_get(node, "grain.type");
    CORE_TRY(sim__scene_name(r, name, core_yaml_scalar(name), body->name, err));
    CORE_TRY(sim__scene_find(r, type, core_yaml_scalar(type), SIM__TYPES, &body->type, err));
    core_yaml_vector(node, "grain.position", body->position, 2);
    body->angle = core_yaml_number(node, "grain.angle");
    return read_motion(r, core_yaml_get(node, "motion"), &body->motion, err);
}

static core_status read_boundary(const reader *r, const core_yaml_node *node, int kind, core_error *err) {
    sim_boundary_def *b = &r->scene->boundaries[r->scene->count_boundaries++];
    const core_yaml_node *name = core_yaml_get(node, "name"), *servo = core_yaml_get(node, "servo");
    const core_yaml_node *motion = core_yaml_get(node, "motion");
    b->kind = (sim_boundary_kind)kind; // in the order of `kinds`
    b->present = true;
    CORE_TRY(sim__scene_name(r, name, core_yaml_scalar(name), b->name, err));
    if (kind == SIM_BOUNDARY_PLANE) {
        CORE_TRY(sim__scene_plane(r, core_yaml_get(node, "plane"), b->normal, &b->offset, err));
    } else if (kind == SIM_BOUNDARY_CIRCLE) {
        core_yaml_vector(node, "circle.centre", b->centre, 2);
        b->radius = core_yaml_number(node, "circle.radius");
    } else {
        CORE_TRY(read_polyline(r, core_yaml_get(node, "polyline"), b, err));
    }
    CORE_TRY(read_motion(r, motion, &b->motion, err));
    if (!servo) return CORE_OK;
    if (kind != SIM_BOUNDARY_PLANE) return core_yaml_fail(r->doc, servo, err, "of a %s; expected a plane", kinds[kind]);
    b->servo.until_motion = motion;
    return read_servo(r, servo, b, err);
}

/// Planes that are not level would cross the period.
static core_status read_period(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *node = core_yaml_get(core_yaml_root(r->doc), "periodic.x");
    if (!node) return CORE_OK;
    core_yaml_vector(core_yaml_root(r->doc), "periodic.x", scene->period, 2);
    if (!(scene->period[0] < scene->period[1]))
        return core_yaml_fail(r->doc, node, err, "found [%g, %g], expected [x0, x1] with x0 < x1", scene->period[0],
                              scene->period[1]);
    for (int i = 0; i < scene->count_boundaries; i++) {
        const sim_boundary_def *b = &scene->boundaries[i];
        const bool turns = fabs(b->motion.rotation) + fabs(b->motion.amplitude_angle) > 0 || b->motion.count_rows > 0;
        if (b->kind == SIM_BOUNDARY_PLANE && (fabs(b->normal[0]) > 1e-12 || turns))
            return core_yaml_fail(r->doc, node, err, "the plane \"%s\" is not level; expected normals along y",
                                  b->name);
    }
    return CORE_OK;
}

static core_status read_servos_across(const reader *r, const core_yaml_node *list, core_error *err) {
    for (int i = 0, index = 0; i < core_yaml_count(list); i++) {
        const core_yaml_node *node = core_yaml_at(list, i), *across = core_yaml_get(node, "servo.across");
        if (core_yaml_get(node, "grain")) continue;
        if (across) CORE_TRY(read_planes(r, across, 2, r->scene->boundaries[index].servo.across, err));
        index++;
    }
    return CORE_OK;
}

core_status sim__scene_boundaries(const sim__reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *root = core_yaml_root(r->doc), *list = core_yaml_get(root, "boundaries");
    const core_yaml_node *cell = core_yaml_get(root, "cell");
    const int n = core_yaml_count(list);
    void *array = NULL;
    if (n > BOUNDARIES_MAX)
        return core_yaml_fail(r->doc, list, err, "%d boundaries; expected at most %d", n, BOUNDARIES_MAX);
    CORE_TRY(sim__scene_array((size_t)n, sizeof *scene->boundaries, &array, err));
    scene->boundaries = array;
    CORE_TRY(sim__scene_array((size_t)n, sizeof *scene->bodies, &array, err));
    scene->bodies = array;
    for (int i = 0; i < n; i++) {
        const core_yaml_node *node = core_yaml_at(list, i);
        int kind = 0;
        CORE_TRY(read_kind(r, node, &kind, err));
        if (kind < SIM_BOUNDARY_KINDS) {
            CORE_TRY(read_boundary(r, node, kind, err));
        } else {
            const core_yaml_node *servo = core_yaml_get(node, "servo");
            if (servo) return core_yaml_fail(r->doc, servo, err, "of a grain; expected a plane");
            CORE_TRY(read_body(r, node, err));
        }
    }
    CORE_TRY(read_servos_across(r, list, err));
    CORE_TRY(read_period(r, err));
    for (int k = 0; k < 4; k++) scene->cell[k] = -1;
    if (!cell) return CORE_OK;
    CORE_TRY(read_planes(r, core_yaml_get(cell, "x"), 2, scene->cell, err));
    return read_planes(r, core_yaml_get(cell, "y"), 2, scene->cell + 2, err);
}

void sim__scene_clear_boundaries(sim_scene *scene) {
    for (int i = 0; i < scene->count_boundaries; i++) {
        core_free(scene->boundaries[i].points);
        core_free(scene->boundaries[i].motion.table);
    }
    for (int i = 0; i < scene->count_bodies; i++) core_free(scene->bodies[i].motion.table);
    core_free(scene->boundaries);
    core_free(scene->bodies);
}
