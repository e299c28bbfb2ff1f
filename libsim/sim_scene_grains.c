/// Scene files: how grains get in and out - fill, single grains, files of poses, pours, outlets -, and phases.
#include <math.h>
#include <string.h>

#include "sim_scene_private.h"

// Two grains placed nearer than this (in the smaller circumradius) are one grain given twice.
#define COINCIDENT 1e-6

typedef sim__reader reader;

// ---------------------------------------------------------------------------------------------- regions and mixtures

core_status sim__scene_region(const sim__reader *r, const core_yaml_node *node, double region[4], core_error *err) {
    core_yaml_vector(node, "region", region, 4);
    if (region[0] < region[2] && region[1] < region[3]) return CORE_OK;
    return core_yaml_fail(r->doc, core_yaml_get(node, "region"), err,
                          "found [%g, %g, %g, %g], expected [x0, y0, x1, y1] with x0 < x1 and y0 < y1", region[0],
                          region[1], region[2], region[3]);
}

/// Where grains appear, they have to be inside the period.
static core_status read_source(const reader *r, const core_yaml_node *node, double region[4], core_error *err) {
    const double *period = r->scene->period;
    CORE_TRY(sim__scene_region(r, node, region, err));
    if (period[0] >= period[1] || (region[0] >= period[0] && region[2] <= period[1])) return CORE_OK;
    return core_yaml_fail(r->doc, core_yaml_get(node, "region"), err,
                          "reaches from x = %g to %g, beyond periodic.x [%g, %g]", region[0], region[2], period[0],
                          period[1]);
}

int sim_mix_draw(const sim_mix *mix, core_random *random) {
    double sum = 0, at = core_random_uniform(random);
    for (int i = 0; i < mix->count; i++) sum += mix->weights[i];
    at *= sum;
    int i = 0;
    for (; i < mix->count - 1 && at >= mix->weights[i]; i++) at -= mix->weights[i];
    return mix->types[i];
}

// Types that a name stands for: all sizes of a spread, or one type.
static core_status append_types(const reader *r, const core_yaml_node *place, double weight, sim_mix *mix,
                                core_error *err) {
    const sim_scene *scene = r->scene;
    const char *name = core_yaml_scalar(place);
    int sizes = 0, type = 0;
    for (int i = 0; i < scene->count_types; i++) sizes += strcmp(scene->types[i].family, name) == 0;
    for (int i = 0; i < scene->count_types; i++) {
        if (strcmp(scene->types[i].family, name) != 0) continue;
        mix->types[mix->count] = i;
        mix->weights[mix->count++] = weight / sizes;
    }
    if (sizes > 0) return CORE_OK;
    CORE_TRY(sim__scene_find(r, place, name, SIM__TYPES, &type, err));
    mix->types[mix->count] = type;
    mix->weights[mix->count++] = weight;
    return CORE_OK;
}

static core_status read_mix(const reader *r, const core_yaml_node *node, sim_mix *mix, core_error *err) {
    const core_yaml_node *one = core_yaml_get(node, "type"), *several = core_yaml_get(node, "types");
    const core_yaml_node *weights = core_yaml_get(node, "weights");
    const int n = core_yaml_count(several);
    const size_t room = (size_t)(n + 1) * (size_t)r->scene->count_types;
    core_status status = CORE_OK;
    double *shares = NULL, sum = 0;
    if (one && several) return core_yaml_fail(r->doc, several, err, "given together with type; expected one of them");
    if (!one && n == 0) return core_yaml_fail(r->doc, node, err, "neither type nor types; expected one of them");
    if (weights && core_yaml_count(weights) != n) {
        return core_yaml_fail(r->doc, weights, err, "found %d weights, expected one for each of the %d types",
                              core_yaml_count(weights), n);
    }
    CORE_NEW_DONE(mix->types, room);
    CORE_NEW_DONE(mix->weights, room);
    CORE_NEW_DONE(shares, (size_t)n + 1);
    for (int i = 0; i <= n; i++) shares[i] = 1;
    core_yaml_vector(node, "weights", shares, n);
    if (one) CORE_TRY_DONE(append_types(r, one, 1, mix, err));
    for (int i = 0; i < n; i++) CORE_TRY_DONE(append_types(r, core_yaml_at(several, i), shares[i], mix, err));
    for (int i = 0; i < mix->count; i++) sum += mix->weights[i];
    if (!(sum > 0 && isfinite(sum)))
        status = core_yaml_fail(r->doc, weights, err, "found a sum of %g, expected one above 0", sum);
done:
    core_free(shares);
    return status;
}

static void clear_mix(sim_mix *mix) {
    core_free(mix->types);
    core_free(mix->weights);
}

// ---------------------------------------------------------------------------------------------- grains

static core_status read_fill(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "fill");
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)core_yaml_count(list), sizeof *scene->fill, &array, err));
    scene->fill = array;
    for (int i = 0; i < core_yaml_count(list); i++) {
        const core_yaml_node *node = core_yaml_at(list, i);
        sim_fill_def *fill = &scene->fill[scene->count_fill++];
        CORE_TRY(read_mix(r, node, &fill->mix, err));
        fill->count = (int)core_yaml_integer(node, "count");
        CORE_TRY(read_source(r, node, fill->region, err));
    }
    return CORE_OK;
}

static core_status read_pours(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "pour");
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)core_yaml_count(list), sizeof *scene->pours, &array, err));
    scene->pours = array;
    for (int i = 0; i < core_yaml_count(list); i++) {
        const core_yaml_node *node = core_yaml_at(list, i), *name = core_yaml_get(node, "name");
        sim_pour_def *pour = &scene->pours[scene->count_pours++];
        CORE_TRY(sim__scene_name(r, name, core_yaml_scalar(name), pour->name, err));
        CORE_TRY(read_mix(r, node, &pour->mix, err));
        CORE_TRY(read_source(r, node, pour->region, err));
        pour->count = (int)core_yaml_integer(node, "count");
        pour->rate = core_yaml_number(node, "rate");
        pour->duration = core_yaml_get(node, "time") ? core_yaml_number(node, "time") : INFINITY;
        core_yaml_vector(node, "velocity", pour->velocity, 2);
        for (int k = 0; k < pour->mix.count; k++) {
            const double d = 2 * scene->types[pour->mix.types[k]].radius;
            if (pour->region[2] - pour->region[0] >= d && pour->region[3] - pour->region[1] >= d) continue;
            return core_yaml_fail(r->doc, core_yaml_get(node, "region"), err, "a grain of type %s needs %g m each way",
                                  scene->types[pour->mix.types[k]].name, d);
        }
    }
    return CORE_OK;
}

static core_status read_outlets(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "outlets");
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)core_yaml_count(list), sizeof *scene->outlets, &array, err));
    scene->outlets = array;
    for (int i = 0; i < core_yaml_count(list); i++) {
        const core_yaml_node *node = core_yaml_at(list, i), *name = core_yaml_get(node, "name");
        const core_yaml_node *line = core_yaml_get(node, "line"), *region = core_yaml_get(node, "region");
        sim_outlet_def *outlet = &scene->outlets[scene->count_outlets++];
        CORE_TRY(sim__scene_name(r, name, core_yaml_scalar(name), outlet->name, err));
        if (strpbrk(outlet->name, "/.") || strlen(outlet->name) > CORE_NAME_MAX - 8)
            return core_yaml_fail(r->doc, name, err, "found \"%s\", expected at most %d bytes without / and .",
                                  outlet->name, CORE_NAME_MAX - 8);
        if (line && region)
            return core_yaml_fail(r->doc, line, err, "given together with region; expected one of them");
        if (!line && !region) return core_yaml_fail(r->doc, node, err, "neither region nor line; expected one of them");
        outlet->is_line = line;
        if (line) CORE_TRY(sim__scene_plane(r, line, outlet->normal, &outlet->offset, err));
        if (region) CORE_TRY(sim__scene_region(r, node, outlet->region, err));
    }
    return CORE_OK;
}

static const core_csv_column pose_columns[] = {{"type", true, true},    {"x", true, false},   {"y", true, false},
                                               {"angle", false, false}, {"vx", false, false}, {"vy", false, false},
                                               {"omega", false, false}, {"id", false, false}};
enum { POSE_TYPE, POSE_X, POSE_Y, POSE_ANGLE, POSE_VX, POSE_VY, POSE_OMEGA, POSE_ID, POSE_COLUMNS };

/// Appends the grains of one file of poses. Ids are passed over: rows of a run are numbered anew.
static core_status read_poses(const reader *r, const core_yaml_node *place, core_error *err) {
    sim_scene *scene = r->scene;
    core_status status = CORE_OK;
    core_csv csv = {0};
    const char *path = NULL;
    CORE_TRY_DONE(sim__scene_csv(r, place, POSE_COLUMNS, pose_columns, &csv, &path, err));
    const size_t old = (size_t)scene->count_place, count = old + (size_t)csv.count_rows;
    sim_place_def *more = core_realloc(scene->place, old, count, sizeof *more);
    CORE_CHECK_DONE(more, CORE_MEMORY, "out of memory: %zu grains", count);
    scene->place = more;
    for (int i = 0; i < csv.count_rows; i++) {
        const double *v = csv.values + (size_t)i * POSE_COLUMNS;
        sim_place_def *grain = &scene->place[scene->count_place];
        *grain = (sim_place_def){.type = -1,
                                 .position = {v[POSE_X], v[POSE_Y]},
                                 .angle = v[POSE_ANGLE],
                                 .velocity = {v[POSE_VX], v[POSE_VY]},
                                 .angular_velocity = v[POSE_OMEGA]};
        for (int t = 0; t < scene->count_types && grain->type < 0; t++) {
            if (strcmp(scene->types[t].name, csv.words[i]) == 0) grain->type = t;
        }
        if (grain->type < 0) {
            status = core_yaml_fail(r->doc, place, err, "%s:%d: column type: unknown grain type \"%s\"", path,
                                    csv.lines[i], csv.words[i]);
            goto done;
        }
        scene->count_place++;
    }
done:
    core_csv_clear(&csv);
    return status;
}

static core_status read_place(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "place");
    const core_yaml_node *files = core_yaml_get(core_yaml_root(r->doc), "poses");
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)core_yaml_count(list), sizeof *scene->place, &array, err));
    scene->place = array;
    for (int i = 0; i < core_yaml_count(list); i++) {
        const core_yaml_node *node = core_yaml_at(list, i), *type = core_yaml_get(node, "type");
        sim_place_def *place = &scene->place[scene->count_place++];
        CORE_TRY(sim__scene_find(r, type, core_yaml_scalar(type), SIM__TYPES, &place->type, err));
        core_yaml_vector(node, "position", place->position, 2);
        core_yaml_vector(node, "velocity", place->velocity, 2);
        place->angle = core_yaml_number(node, "angle");
        place->angular_velocity = core_yaml_number(node, "angular_velocity");
    }
    for (int i = 0; i < core_yaml_count(files); i++)
        CORE_TRY(read_poses(r, core_yaml_get(core_yaml_at(files, i), "file"), err));
    return CORE_OK;
}

static core_status check_count(const reader *r, core_error *err) {
    const sim_scene *scene = r->scene;
    int64_t grains = scene->count_place;
    for (int i = 0; i < scene->count_fill; i++) grains += scene->fill[i].count;
    for (int i = 0; i < scene->count_pours; i++) grains += scene->pours[i].count;
    if (grains == 0 && !scene->start_path) {
        return core_yaml_fail(r->doc, NULL, err,
                              "no grains; expected entries under fill or place, or poses, pour, start");
    }
    if (grains <= SIM_GRAINS_MAX) return CORE_OK;
    return core_yaml_fail(r->doc, NULL, err, "%lld grains; expected at most %d", (long long)grains, SIM_GRAINS_MAX);
}

core_status sim__scene_grains(const sim__reader *r, core_error *err) {
    CORE_TRY(read_fill(r, err));
    CORE_TRY(read_place(r, err));
    CORE_TRY(read_pours(r, err));
    CORE_TRY(read_outlets(r, err));
    return check_count(r, err);
}

void sim__scene_clear_grains(sim_scene *scene) {
    for (int i = 0; i < scene->count_fill; i++) clear_mix(&scene->fill[i].mix);
    for (int i = 0; i < scene->count_pours; i++) clear_mix(&scene->pours[i].mix);
    core_free(scene->fill);
    core_free(scene->place);
    core_free(scene->pours);
    core_free(scene->outlets);
}
