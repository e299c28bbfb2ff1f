/// Scene files: YAML through the schema table into a validated sim_scene. What a table cannot express is checked here:
/// names that refer to each other, parameters that exclude each other, geometry.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "sim_scene_private.h"

#define TYPES_MAX 256 // the law table grows with the square
#define PLANES_MAX 4096
#define GRAINS_MAX 10000000            // of a scene, filled and placed
#define DEFAULT_KT_OVER_KN (2.0 / 3.0) // as the help of the key says

const char *const sim_back_end_names[SIM_BACK_ENDS] = {
    [SIM_NEURAL] = "neural", [SIM_MINIMISER] = "minimiser", [SIM_EXACT] = "exact"};

/// The reader's hands: document, scene under construction.
typedef struct reader {
    core_yaml *doc;
    char *folder; // of the scene file
    sim_scene *scene;
} reader;

// ---------------------------------------------------------------------------------------------- names

/// Copies a name that will be used in messages and files: short, printable, not empty.
static core_status copy_name(const reader *r, const core_yaml_node *place, const char *from, char to[CORE_NAME_MAX],
                             core_error *err) {
    size_t n = strlen(from);
    if (n == 0) return core_yaml_fail(r->doc, place, err, "an empty name; expected a word");
    if (n >= CORE_NAME_MAX) {
        return core_yaml_fail(r->doc, place, err, "a name of %zu bytes; expected at most %d", n, CORE_NAME_MAX - 1);
    }
    if (strchr(from, '\n')) return core_yaml_fail(r->doc, place, err, "a name with a line break; expected one line");
    memcpy(to, from, n + 1);
    return CORE_OK;
}

static int find_type(const sim_scene *scene, const char *name) {
    for (int i = 0; i < scene->count_types; i++) {
        if (strcmp(scene->types[i].name, name) == 0) return i;
    }
    return -1;
}

static int find_plane(const sim_scene *scene, const char *name) {
    for (int i = 0; i < scene->count_boundaries; i++) {
        if (strcmp(scene->boundaries[i].name, name) == 0) return i;
    }
    return -1;
}

/// Message of a name that does not exist, with the nearest one that does. `types`, `planes`: kinds that would do.
static core_status fail_name(const reader *r, const core_yaml_node *place, const char *name, bool types, bool planes,
                             core_error *err) {
    const sim_scene *scene = r->scene;
    core_status status = CORE_OK;
    const char **names = NULL;
    int n = 0;
    const char *what = types && planes ? "grain type or boundary" : types ? "grain type" : "boundary";
    CORE_NEW_DONE(names, (size_t)scene->count_types + (size_t)scene->count_boundaries);
    for (int i = 0; types && i < scene->count_types; i++) names[n++] = scene->types[i].name;
    for (int i = 0; planes && i < scene->count_boundaries; i++) names[n++] = scene->boundaries[i].name;
    const char *nearest = core_nearest_word(name, names, n);
    if (nearest) {
        status = core_yaml_fail(r->doc, place, err, "unknown %s \"%.60s\"; nearest: \"%s\"", what, name, nearest);
        goto done;
    }
    char known[400] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof known - 1; i++) {
        int more = snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", names[i]);
        used += more > 0 ? (size_t)more : 0;
    }
    status = core_yaml_fail(r->doc, place, err, "unknown %s \"%.60s\"; known: %s", what, name, n > 0 ? known : "none");
done:
    core_free(names);
    return status;
}

/// Index of a grain type named at `path` of `node`.
static core_status read_type(const reader *r, const core_yaml_node *node, const char *path, int *type,
                             core_error *err) {
    const core_yaml_node *place = core_yaml_get(node, path);
    *type = find_type(r->scene, core_yaml_scalar(place));
    if (*type < 0) return fail_name(r, place, core_yaml_scalar(place), true, false, err);
    return CORE_OK;
}

/// Allocates n entries for a part of the scene (n = 0: a valid pointer).
static core_status new_array(size_t n, size_t size, void **array, core_error *err) {
    *array = core_alloc(n, size);
    CORE_CHECK(*array, CORE_MEMORY, "out of memory: %zu x %zu bytes", n, size);
    return CORE_OK;
}

static core_status copy_text(const char *from, char **to, core_error *err) {
    size_t n = strlen(from) + 1;
    *to = core_alloc(n, 1);
    CORE_CHECK(*to, CORE_MEMORY, "out of memory: %zu bytes", n);
    memcpy(*to, from, n);
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- types

/// Contact maps are found by shape name: two types may share a shape, but one name may not mean two shapes.
static core_status check_shape_name(const reader *r, const core_yaml_node *node, int i, core_error *err) {
    const sdf_shape *shape = &r->scene->types[i].shape;
    for (int j = 0; j < i; j++) {
        const sim_type_def *other = &r->scene->types[j];
        if (strcmp(other->shape.name, shape->name) == 0 && other->shape.hash != shape->hash) {
            return core_yaml_fail(
                r->doc, core_yaml_get(node, "shape"), err,
                "shape \"%s\" differs from the shape of that name of type %s; rename one of the files", shape->name,
                other->name);
        }
    }
    return CORE_OK;
}

static core_status read_type_def(const reader *r, const core_yaml_node *node, int i, core_error *err) {
    sim_type_def *type = &r->scene->types[i];
    const core_yaml_node *place = core_yaml_get(node, "shape");
    CORE_TRY(copy_name(r, node, core_yaml_name(node), type->name, err));
    type->radius = core_yaml_number(node, "radius");
    type->density = core_yaml_number(node, "density");
    CORE_TRY(core_path_join(r->folder, core_yaml_text(node, "shape"), &type->shape_path, err));
    const sdf_read_def def = sdf_read_default_def();
    core_error cause = {0};
    core_status status = sdf_shape_read(type->shape_path, &def, &type->shape, &cause);
    if (status != CORE_OK) {
        core_yaml_fail(r->doc, place, err, "%s", cause.message);
        if (err) err->code = status;
        return status;
    }
    double mass = type->density * type->shape.area * type->radius * type->radius;
    double inertia =
        type->density * type->shape.second_moment * type->radius * type->radius * type->radius * type->radius;
    if (!(mass >= DBL_MIN && mass <= DBL_MAX && inertia >= DBL_MIN && inertia <= DBL_MAX)) {
        return core_yaml_fail(
            r->doc, node, err,
            "radius %g m and density %g kg/m^3 give a mass of %g kg and a moment of inertia of %g kg m^2", type->radius,
            type->density, mass, inertia);
    }
    return check_shape_name(r, node, i, err);
}

static core_status read_types(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *types = core_yaml_get(core_yaml_root(r->doc), "types");
    int n = core_yaml_count(types);
    if (n < 1 || n > TYPES_MAX) {
        return core_yaml_fail(r->doc, types, err, "%d grain types; expected 1 to %d", n, TYPES_MAX);
    }
    void *array = NULL;
    CORE_TRY(new_array((size_t)n, sizeof *scene->types, &array, err));
    scene->types = array;
    for (int i = 0; i < n; i++) {
        scene->count_types = i + 1; // counted before it is filled: sim_scene_clear frees a half-read type
        CORE_TRY(read_type_def(r, core_yaml_at(types, i), i, err));
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- boundaries

static core_status read_plane(const reader *r, const core_yaml_node *node, int i, core_error *err) {
    sim_boundary_def *plane = &r->scene->boundaries[i];
    const core_yaml_node *name = core_yaml_get(node, "name");
    CORE_TRY(copy_name(r, name, core_yaml_scalar(name), plane->name, err));
    if (find_type(r->scene, plane->name) >= 0) {
        return core_yaml_fail(r->doc, name, err, "\"%s\" is a grain type already; expected another name", plane->name);
    }
    if (find_plane(r->scene, plane->name) < i) {
        return core_yaml_fail(r->doc, name, err, "a second boundary \"%s\"; expected another name", plane->name);
    }
    double point[2] = {0}, normal[2] = {0};
    core_yaml_vector(node, "plane.point", point, 2);
    core_yaml_vector(node, "plane.normal", normal, 2);
    // Scaled first, so that no length over- or underflows; a plane whose offset overflows is caught below.
    double scale = fmax(fabs(normal[0]), fabs(normal[1]));
    if (!(scale > 0)) {
        return core_yaml_fail(r->doc, core_yaml_get(node, "plane.normal"), err,
                              "found [0, 0], expected a vector with a length");
    }
    double n[2] = {normal[0] / scale, normal[1] / scale};
    double length = sqrt(n[0] * n[0] + n[1] * n[1]);
    for (int k = 0; k < 2; k++) plane->normal[k] = n[k] / length;
    plane->offset = plane->normal[0] * point[0] + plane->normal[1] * point[1];
    if (!isfinite(plane->offset)) return core_yaml_fail(r->doc, node, err, "the plane's offset is not finite");
    plane->present = true;
    return CORE_OK;
}

static core_status read_planes(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "boundaries");
    int n = core_yaml_count(list);
    if (n > PLANES_MAX) return core_yaml_fail(r->doc, list, err, "%d boundaries; expected at most %d", n, PLANES_MAX);
    void *array = NULL;
    CORE_TRY(new_array((size_t)n, sizeof *scene->boundaries, &array, err));
    scene->boundaries = array;
    for (int i = 0; i < n; i++) {
        scene->count_boundaries = i + 1;
        CORE_TRY(read_plane(r, core_yaml_at(list, i), i, err));
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- contact law

/// The fields as written; NaN where absent.
typedef struct contact_fields {
    double kn, kt, gamma_n, gamma_t, restitution, mu;
} contact_fields;

/// Puts the fields of a block over those of `fields`. restitution and gamma_n replace each other.
static core_status read_fields(const reader *r, const core_yaml_node *node, contact_fields *fields, core_error *err) {
    const core_yaml_node *restitution = core_yaml_get(node, "restitution"), *gamma_n = core_yaml_get(node, "gamma_n");
    if (restitution && gamma_n) {
        return core_yaml_fail(r->doc, gamma_n, err, "given together with restitution; expected one of them");
    }
    if (restitution) fields->gamma_n = NAN;
    if (gamma_n) fields->restitution = NAN;
    const struct {
        const char *name;
        double *value;
    } list[] = {{"kn", &fields->kn},           {"kt", &fields->kt}, {"gamma_n", &fields->gamma_n},
                {"gamma_t", &fields->gamma_t}, {"mu", &fields->mu}, {"restitution", &fields->restitution}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (core_yaml_get(node, list[i].name)) *list[i].value = core_yaml_number(node, list[i].name);
    }
    return CORE_OK;
}

/// The law of complete fields. An explicit gamma_n has no damping ratio of its own; the tangential damping of the same
/// ratio at equal effective masses is then gamma_n sqrt(kt/kn).
static core_status make_law(const reader *r, const core_yaml_node *node, const contact_fields *fields,
                            sim_contact_law *law, core_error *err) {
    *law = (sim_contact_law){
        .kn = fields->kn, .kt = fields->kt, .gamma_n = fields->gamma_n, .gamma_t = fields->gamma_t, .mu = fields->mu};
    if (isnan(law->kt)) law->kt = DEFAULT_KT_OVER_KN * law->kn;
    if (!isnan(fields->restitution)) {
        core_error cause = {0};
        core_status status = sim_zeta_of_restitution(fields->restitution, &law->zeta, &cause);
        if (status != CORE_OK) {
            core_yaml_fail(r->doc, core_yaml_get(node, "restitution"), err, "%s", cause.message);
            if (err) err->code = status;
            return status;
        }
    } else if (isnan(law->gamma_t)) {
        law->gamma_t = law->gamma_n * sqrt(law->kt / law->kn);
    }
    return CORE_OK;
}

/// Type or plane by name: its column in the law table.
static core_status read_partner(const reader *r, const core_yaml_node *node, const char *key, int *column,
                                core_error *err) {
    const core_yaml_node *place = core_yaml_get(node, key);
    const char *name = core_yaml_scalar(place);
    int type = find_type(r->scene, name), plane = find_plane(r->scene, name);
    if (type < 0 && plane < 0) return fail_name(r, place, name, true, true, err);
    *column = type >= 0 ? type : r->scene->count_types + plane;
    return CORE_OK;
}

/// One entry of contact.pairs. lines: (as law) line of the entry that set an element, 0 if none, -1 for an override.
static core_status read_pair(const reader *r, const core_yaml_node *node, const contact_fields *standard, int *lines,
                             core_error *err) {
    sim_scene *scene = r->scene;
    int n = scene->count_types, columns = n + scene->count_boundaries, a = 0, b = 0;
    CORE_TRY(read_partner(r, node, "a", &a, err));
    CORE_TRY(read_partner(r, node, "b", &b, err));
    if (a >= n && b >= n) {
        return core_yaml_fail(r->doc, node, err,
                              "\"%s\" and \"%s\" are both boundaries; expected a grain type among them",
                              core_yaml_text(node, "a"), core_yaml_text(node, "b"));
    }
    int row = a < n ? a : b, column = a < n ? b : a;
    int *line = &lines[row * columns + column];
    if (*line != 0) {
        char earlier[48] = "";
        if (*line > 0) snprintf(earlier, sizeof earlier, " (first in line %d)", *line);
        return core_yaml_fail(r->doc, node, err, "the pair \"%s\", \"%s\" a second time%s; expected it once",
                              core_yaml_text(node, "a"), core_yaml_text(node, "b"), earlier);
    }
    contact_fields fields = *standard;
    sim_contact_law law = {0};
    CORE_TRY(read_fields(r, node, &fields, err));
    CORE_TRY(make_law(r, node, &fields, &law, err));
    *line = core_yaml_line(node) > 0 ? core_yaml_line(node) : -1;
    scene->law[row * columns + column] = law;
    if (column < n) {
        lines[column * columns + row] = *line;
        scene->law[column * columns + row] = law;
    }
    return CORE_OK;
}

static core_status read_contact(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    core_status status = CORE_OK;
    int *lines = NULL;
    const core_yaml_node *root = core_yaml_root(r->doc), *node = core_yaml_get(root, "contact.default");
    const core_yaml_node *pairs = core_yaml_get(root, "contact.pairs");
    size_t n = (size_t)scene->count_types * (size_t)(scene->count_types + scene->count_boundaries);
    contact_fields fields = {NAN, NAN, NAN, NAN, NAN, NAN};
    sim_contact_law law = {0};
    CORE_TRY(read_fields(r, node, &fields, err));
    if (isnan(fields.restitution) && isnan(fields.gamma_n)) {
        return core_yaml_fail(r->doc, node, err, "neither restitution nor gamma_n; expected one of them");
    }
    CORE_TRY(make_law(r, node, &fields, &law, err));
    scene->restitution_default = fields.restitution;
    CORE_NEW_DONE(scene->law, n);
    CORE_NEW_DONE(lines, n);
    for (size_t i = 0; i < n; i++) scene->law[i] = law;
    for (int i = 0; i < core_yaml_count(pairs); i++) {
        CORE_TRY_DONE(read_pair(r, core_yaml_at(pairs, i), &fields, lines, err));
    }
done:
    core_free(lines);
    return status;
}

// ---------------------------------------------------------------------------------------------- grains

static core_status read_fill(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "fill");
    void *array = NULL;
    CORE_TRY(new_array((size_t)core_yaml_count(list), sizeof *scene->fill, &array, err));
    scene->fill = array;
    scene->count_fill = core_yaml_count(list);
    for (int i = 0; i < scene->count_fill; i++) {
        const core_yaml_node *node = core_yaml_at(list, i);
        sim_fill_def *fill = &scene->fill[i];
        CORE_TRY(read_type(r, node, "type", &fill->type, err));
        fill->count = (int)core_yaml_integer(node, "count");
        core_yaml_vector(node, "region", fill->region, 4);
        if (!(fill->region[0] < fill->region[2] && fill->region[1] < fill->region[3])) {
            return core_yaml_fail(r->doc, core_yaml_get(node, "region"), err,
                                  "found [%g, %g, %g, %g], expected [x0, y0, x1, y1] with x0 < x1 and y0 < y1",
                                  fill->region[0], fill->region[1], fill->region[2], fill->region[3]);
        }
    }
    return CORE_OK;
}

static core_status read_place(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "place");
    void *array = NULL;
    CORE_TRY(new_array((size_t)core_yaml_count(list), sizeof *scene->place, &array, err));
    scene->place = array;
    scene->count_place = core_yaml_count(list);
    for (int i = 0; i < scene->count_place; i++) {
        const core_yaml_node *node = core_yaml_at(list, i);
        sim_place_def *place = &scene->place[i];
        CORE_TRY(read_type(r, node, "type", &place->type, err));
        core_yaml_vector(node, "position", place->position, 2);
        core_yaml_vector(node, "velocity", place->velocity, 2);
        place->angle = core_yaml_number(node, "angle");
        place->angular_velocity = core_yaml_number(node, "angular_velocity");
    }
    int64_t grains = scene->count_place;
    for (int i = 0; i < scene->count_fill; i++) grains += scene->fill[i].count;
    if (grains == 0) return core_yaml_fail(r->doc, NULL, err, "no grains; expected entries under fill or place");
    if (grains > GRAINS_MAX) {
        return core_yaml_fail(r->doc, NULL, err, "%lld grains; expected at most %d", (long long)grains, GRAINS_MAX);
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- phases

/// Planes taken away by a phase. gone: (count_boundaries) whether an earlier phase took it.
static core_status read_remove(const reader *r, const core_yaml_node *names, bool *gone, sim_phase_def *phase,
                               core_error *err) {
    void *array = NULL;
    CORE_TRY(new_array((size_t)core_yaml_count(names), sizeof *phase->remove, &array, err));
    phase->remove = array;
    for (int i = 0; i < core_yaml_count(names); i++) {
        const core_yaml_node *place = core_yaml_at(names, i);
        int plane = find_plane(r->scene, core_yaml_scalar(place));
        if (plane < 0) return fail_name(r, place, core_yaml_scalar(place), false, true, err);
        if (gone[plane])
            return core_yaml_fail(r->doc, place, err, "\"%s\" is taken away already", r->scene->boundaries[plane].name);
        gone[plane] = true;
        phase->remove[phase->count_remove++] = plane;
    }
    return CORE_OK;
}

static core_status read_phase(const reader *r, const core_yaml_node *node, bool *gone, sim_phase_def *phase,
                              core_error *err) {
    const core_yaml_node *name = core_yaml_get(node, "name");
    CORE_TRY(copy_name(r, name, core_yaml_scalar(name), phase->name, err));
    phase->until_rest = core_yaml_get(node, "until");
    const core_yaml_node *time = core_yaml_get(node, "time");
    if (phase->until_rest && time)
        return core_yaml_fail(r->doc, time, err, "given together with until; expected one of them");
    if (!phase->until_rest && !time)
        return core_yaml_fail(r->doc, node, err, "neither until nor time; expected one of them");
    static const char *const rest_keys[] = {"timeout", "on_timeout"};
    for (int i = 0; i < 2 && !phase->until_rest; i++) {
        const core_yaml_node *key = core_yaml_get(node, rest_keys[i]);
        if (key) return core_yaml_fail(r->doc, key, err, "used with time; expected only with until: rest");
    }
    phase->time = time ? core_yaml_number(node, "time") : 0;
    phase->timeout = phase->until_rest ? core_yaml_number(node, "timeout") : 0;
    phase->continue_on_timeout = phase->until_rest && strcmp(core_yaml_text(node, "on_timeout"), "continue") == 0;
    return read_remove(r, core_yaml_get(node, "remove"), gone, phase, err);
}

static core_status read_phases(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    core_status status = CORE_OK;
    bool *gone = NULL;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "phases");
    int n = core_yaml_count(list);
    if (n == 0) return core_yaml_fail(r->doc, list, err, "an empty list; expected at least one phase");
    CORE_NEW_DONE(scene->phases, (size_t)n);
    CORE_NEW_DONE(gone, (size_t)scene->count_boundaries);
    for (int i = 0; i < n; i++) {
        scene->count_phases = i + 1;
        CORE_TRY_DONE(read_phase(r, core_yaml_at(list, i), gone, &scene->phases[i], err));
    }
done:
    core_free(gone);
    return status;
}

// ---------------------------------------------------------------------------------------------- the whole scene

static core_status read_settings(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *root = core_yaml_root(r->doc);
    CORE_TRY(copy_text(core_yaml_text(root, "title"), &scene->title, err));
    CORE_TRY(copy_text(core_yaml_resolved_text(r->doc), &scene->text, err));
    const char *maps = core_yaml_text(root, "maps");
    if (maps) CORE_TRY(core_path_join(r->folder, maps, &scene->maps_path, err));
    core_yaml_vector(root, "gravity", scene->gravity, 2);
    for (int i = 0; i < SIM_BACK_ENDS; i++) {
        if (strcmp(core_yaml_text(root, "narrow_phase"), sim_back_end_names[i]) == 0) scene->back_end = (sim_back_end)i;
    }
    scene->smoothing = core_yaml_number(root, "smoothing");
    scene->dt = core_yaml_number(root, "dt"); // NaN: auto
    scene->output_every = core_yaml_number(root, "output.every");
    scene->seed = (uint64_t)core_yaml_integer(root, "seed");
    return CORE_OK;
}

core_status sim_scene_read(const char *path, int count_overrides, const char *const *overrides, sim_scene *scene,
                           core_error *err) {
    CORE_CHECK(path && scene, CORE_ARG, "sim_scene_read: null path or scene");
    core_status status = CORE_OK;
    sim_scene fresh = {0};
    reader r = {.scene = &fresh};
    int count_keys = 0;
    const core_yaml_key *table = sim__scene_table(&count_keys);
    CORE_TRY_DONE(core_yaml_read(path, table, count_keys, count_overrides, overrides, &r.doc, err));
    CORE_TRY_DONE(core_path_folder(path, &r.folder, err));
    CORE_TRY_DONE(copy_text(path, &fresh.path, err));
    CORE_TRY_DONE(read_settings(&r, err));
    CORE_TRY_DONE(read_types(&r, err));
    CORE_TRY_DONE(read_planes(&r, err));
    CORE_TRY_DONE(read_contact(&r, err));
    CORE_TRY_DONE(read_fill(&r, err));
    CORE_TRY_DONE(read_place(&r, err));
    CORE_TRY_DONE(read_phases(&r, err));
    *scene = fresh;
    fresh = (sim_scene){0};
done:
    sim_scene_clear(&fresh);
    core_free(r.folder);
    core_yaml_destroy(&r.doc);
    return status;
}

void sim_scene_clear(sim_scene *scene) {
    if (!scene) return;
    for (int i = 0; i < scene->count_types; i++) {
        core_free(scene->types[i].shape_path);
        sdf_shape_clear(&scene->types[i].shape);
    }
    for (int i = 0; i < scene->count_phases; i++) core_free(scene->phases[i].remove);
    core_free(scene->path);
    core_free(scene->title);
    core_free(scene->text);
    core_free(scene->types);
    core_free(scene->boundaries);
    core_free(scene->law);
    core_free(scene->fill);
    core_free(scene->place);
    core_free(scene->phases);
    core_free(scene->maps_path);
    *scene = (sim_scene){0};
}
