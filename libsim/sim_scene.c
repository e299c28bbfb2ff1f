/// Scene files: YAML through the schema table into a validated sim_scene. What a table cannot express is checked here:
/// names that refer to each other, parameters that exclude each other, geometry.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_private.h"
#include "sim_scene_private.h"

#define TYPES_MAX 256                  // the law table grows with the square
#define DEFAULT_KT_OVER_KN (2.0 / 3.0) // as the help of the key says
#define LOAD_PEAK 4.0                  // the most loaded contacts of a pile carry a few times the mean (kn: auto)

const char *const sim_back_end_names[SIM_BACK_ENDS] = {
    [SIM_NEURAL] = "neural", [SIM_MINIMISER] = "minimiser", [SIM_EXACT] = "exact"};

typedef sim__reader reader;

// ---------------------------------------------------------------------------------------------- names

// All names of the kinds allowed in the order of sim__scene_find; returns their number. names may be NULL.
static int list_names(const sim_scene *scene, int kinds, const char **names) {
    int n = 0;
#define LIST(kind, count, array)                                                                                       \
    for (int i = 0; (kinds & (kind)) && i < scene->count; i++, n++) {                                                  \
        if (names) names[n] = scene->array[i].name;                                                                    \
    }
    LIST(SIM__TYPES, count_types, types)
    LIST(SIM__BOUNDARIES, count_boundaries, boundaries)
    LIST(SIM__BODIES, count_bodies, bodies)
    LIST(SIM__POURS, count_pours, pours)
    LIST(SIM__OUTLETS, count_outlets, outlets)
#undef LIST
    return n;
}

/// Message of a name that does not exist, with the nearest one that does.
static core_status fail_name(const reader *r, const core_yaml_node *place, const char *name, int n,
                             const char *const *names, int kinds, core_error *err) {
    const char *what = kinds == SIM__TYPES                       ? "grain type"
                       : kinds == (SIM__TYPES | SIM__BOUNDARIES) ? "grain type or boundary"
                       : kinds & SIM__POURS                      ? "boundary, pour or outlet"
                                                                 : "boundary";
    const char *nearest = core_nearest_word(name, names, n);
    if (nearest)
        return core_yaml_fail(r->doc, place, err, "unknown %s \"%.60s\"; nearest: \"%s\"", what, name, nearest);
    char known[400] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof known - 1; i++) {
        int more = snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", names[i]);
        used += more > 0 ? (size_t)more : 0;
    }
    return core_yaml_fail(r->doc, place, err, "unknown %s \"%.60s\"; known: %s", what, name, n > 0 ? known : "none");
}

core_status sim__scene_find(const sim__reader *r, const core_yaml_node *place, const char *name, int kinds, int *index,
                            core_error *err) {
    core_status status = CORE_OK;
    const char **names = NULL;
    int n = list_names(r->scene, kinds, NULL);
    CORE_NEW_DONE(names, (size_t)n);
    list_names(r->scene, kinds, names);
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *index = i;
        goto done;
    }
    status = fail_name(r, place, name, n, names, kinds, err);
done:
    core_free(names);
    return status;
}

core_status sim__scene_keep_csv(const sim__reader *r, char *path, core_status status, core_error *err) {
    sim_scene *scene = r->scene;
    const size_t n = (size_t)scene->count_csv;
    char **more = core_realloc(scene->csv_paths, n, n + 1, sizeof *more);
    if (!more) core_free(path);
    CORE_CHECK(more, CORE_MEMORY, "out of memory: paths of %zu CSV files", n + 1);
    scene->csv_paths = more;
    more[n] = path;
    scene->count_csv++;
    return status;
}

core_status sim__scene_csv(const sim__reader *r, const core_yaml_node *place, int count_columns,
                           const core_csv_column *columns, core_csv *csv, const char **path, core_error *err) {
    char *joined = NULL;
    CORE_TRY(core_path_join(r->folder, core_yaml_scalar(place), &joined, err));
    CORE_TRY(sim__scene_keep_csv(r, joined, CORE_OK, err));
    *path = joined;
    core_error cause = {0};
    if (core_csv_read(*path, count_columns, columns, csv, &cause) == CORE_OK) return CORE_OK;
    return core_yaml_fail_by(r->doc, place, &cause, err);
}

core_status sim__scene_name(const sim__reader *r, const core_yaml_node *place, const char *from, char to[CORE_NAME_MAX],
                            core_error *err) {
    const sim_scene *scene = r->scene;
    char fresh[CORE_NAME_MAX];
    CORE_TRY(core_yaml_copy_name(r->doc, place, from, fresh, err));
    for (int i = 0; i < scene->count_types; i++) {
        const sim_type_def *type = &scene->types[i];
        if (type->name != to && (strcmp(type->name, from) == 0 || strcmp(type->family, from) == 0))
            return core_yaml_fail(r->doc, place, err, "\"%s\" is a grain type already; expected another name", from);
    }
    static const struct {
        int kind;
        const char *word;
    } kinds[] = {
        {SIM__BOUNDARIES, "boundary"}, {SIM__BODIES, "boundary"}, {SIM__POURS, "pour"}, {SIM__OUTLETS, "outlet"}};
    core_status status = CORE_OK;
    const char **names = NULL;
    CORE_NEW_DONE(names, (size_t)list_names(scene, ~0, NULL));
    for (int k = 0; k < 4 && status == CORE_OK; k++) {
        const int count = list_names(scene, kinds[k].kind, names);
        for (int i = 0; i < count && status == CORE_OK; i++) {
            if (names[i] != to && strcmp(names[i], from) == 0)
                status = core_yaml_fail(r->doc, place, err, "a second %s \"%s\"; expected another name", kinds[k].word,
                                        from);
        }
    }
    if (status == CORE_OK) memcpy(to, fresh, sizeof fresh);
done:
    core_free(names);
    return status;
}

core_status sim__scene_array(size_t n, size_t size, void **array, core_error *err) {
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

static core_status check_mass(const reader *r, const core_yaml_node *node, const sim_type_def *type, core_error *err) {
    const double r2 = type->radius * type->radius, mass = type->density * type->shape.area * r2;
    const double inertia = type->density * type->shape.second_moment * r2 * r2;
    if (mass >= DBL_MIN && mass <= DBL_MAX && inertia >= DBL_MIN && inertia <= DBL_MAX) return CORE_OK;
    return core_yaml_fail(r->doc, node, err,
                          "radius %g m and density %g kg/m^3 give a mass of %g kg and a moment of inertia of %g kg m^2",
                          type->radius, type->density, mass, inertia);
}

/// The n-th root of x > 1 by bisection: products alone, the same bits on every machine.
static double root(double x, int n) {
    double low = 1, high = x;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        double power = 1;
        for (int k = 0; k < n; k++) power *= middle;
        if (power < x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

/// Size k of n: name and radius. A spread becomes geometrically spaced sizes, so that equal shapes need a map for each
/// ratio between neighbours only.
static core_status set_size(const reader *r, const core_yaml_node *node, int k, int n, sim_type_def *type,
                            core_error *err) {
    const char *name = core_yaml_name(node);
    double radii[2] = {0, 0};
    if (n == 1) {
        type->radius = core_yaml_number(node, "radius");
        CORE_TRY(sim__scene_name(r, node, name, type->name, err));
        memcpy(type->family, type->name, sizeof type->family);
        return CORE_OK;
    }
    char sized[CORE_NAME_MAX + 16];
    core_yaml_vector(node, "radii", radii, 2);
    // the k-th power of the step by products alone: the same ratio between neighbours to the last bits
    const double step = root(radii[1] / radii[0], n - 1);
    type->radius = radii[0];
    for (int i = 0; i < k; i++) type->radius *= step;
    snprintf(sized, sizeof sized, "%.*s~%d", CORE_NAME_MAX - 1, name, k + 1);
    CORE_TRY(sim__scene_name(r, node, sized, type->name, err));
    snprintf(type->family, sizeof type->family, "%s", name);
    return CORE_OK;
}

static core_status read_type_def(const reader *r, const core_yaml_node *node, int i, int k, int n, core_error *err) {
    sim_type_def *type = &r->scene->types[i];
    const core_yaml_node *place = core_yaml_get(node, "shape");
    CORE_TRY(set_size(r, node, k, n, type, err));
    type->density = core_yaml_number(node, "density");
    CORE_TRY(core_path_join(r->folder, core_yaml_text(node, "shape"), &type->shape_path, err));
    if (k > 0) {
        CORE_TRY(sdf_shape_copy(&type[-1].shape, &type->shape, err));
        return check_mass(r, node, type, err);
    }
    const sdf_read_def def = sdf_read_default_def();
    core_error cause = {0};
    if (sdf_shape_read(type->shape_path, &def, &type->shape, &cause) != CORE_OK)
        return core_yaml_fail_by(r->doc, place, &cause, err);
    CORE_TRY(check_mass(r, node, type, err));
    return check_shape_name(r, node, i, err);
}

/// Number of sizes of an entry under types.
static core_status count_sizes(const reader *r, const core_yaml_node *node, int *sizes, core_error *err) {
    const core_yaml_node *radius = core_yaml_get(node, "radius"), *radii = core_yaml_get(node, "radii");
    const core_yaml_node *given = core_yaml_get(node, "sizes");
    if (radius && radii) return core_yaml_fail(r->doc, radii, err, "given together with radius; expected one of them");
    if (!radius && !radii) return core_yaml_fail(r->doc, node, err, "neither radius nor radii; expected one of them");
    if (given && !radii) return core_yaml_fail(r->doc, given, err, "used with radius; expected only with radii");
    double range[2] = {0, 1};
    core_yaml_vector(node, "radii", range, 2);
    if (radii && !(range[0] < range[1] && range[1] <= 64 * range[0])) {
        return core_yaml_fail(r->doc, radii, err,
                              "found [%g, %g], expected [smallest, largest] with a ratio of at most 64", range[0],
                              range[1]);
    }
    *sizes = radii ? (int)core_yaml_integer(node, "sizes") : 1;
    return CORE_OK;
}

static core_status read_types(const reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    const core_yaml_node *types = core_yaml_get(core_yaml_root(r->doc), "types");
    int n = 0, sizes = 0;
    for (int i = 0; i < core_yaml_count(types); i++) {
        CORE_TRY(count_sizes(r, core_yaml_at(types, i), &sizes, err));
        n += sizes;
    }
    if (n < 1 || n > TYPES_MAX) {
        return core_yaml_fail(r->doc, types, err, "%d grain types; expected 1 to %d", n, TYPES_MAX);
    }
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)n, sizeof *scene->types, &array, err));
    scene->types = array;
    for (int i = 0; i < core_yaml_count(types); i++) {
        const core_yaml_node *node = core_yaml_at(types, i);
        CORE_TRY(count_sizes(r, node, &sizes, err));
        for (int k = 0; k < sizes; k++) {
            const int index =
                scene->count_types++; // counted before it is filled: sim_scene_clear frees a half-read type
            CORE_TRY(read_type_def(r, node, index, k, sizes, err));
        }
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
        if (sim_zeta_of_restitution(fields->restitution, &law->zeta, &cause) != CORE_OK)
            return core_yaml_fail_by(r->doc, core_yaml_get(node, "restitution"), &cause, err);
    } else if (isnan(law->gamma_t)) {
        law->gamma_t = law->gamma_n * sqrt(law->kt / law->kn);
    }
    return CORE_OK;
}

/// Types or boundary by name: columns first .. first + count - 1 of the law table (a spread has several).
typedef struct partner {
    int first, count;
} partner;

static core_status read_partner(const reader *r, const core_yaml_node *node, const char *key, partner *found,
                                core_error *err) {
    const core_yaml_node *place = core_yaml_get(node, key);
    const char *name = core_yaml_scalar(place);
    *found = (partner){0};
    for (int i = 0; i < r->scene->count_types; i++) {
        if (strcmp(r->scene->types[i].family, name) != 0) continue;
        if (found->count++ == 0) found->first = i;
    }
    if (found->count > 0) return CORE_OK;
    found->count = 1;
    return sim__scene_find(r, place, name, SIM__TYPES | SIM__BOUNDARIES, &found->first, err);
}

/// One entry of contact.pairs. lines: (as law) line of the entry that set an element, 0 if none, -1 for an override.
static core_status read_pair(const reader *r, const core_yaml_node *node, const contact_fields *standard, int *lines,
                             core_error *err) {
    sim_scene *scene = r->scene;
    const int n = scene->count_types, columns = n + scene->count_boundaries;
    partner a, b;
    CORE_TRY(read_partner(r, node, "a", &a, err));
    CORE_TRY(read_partner(r, node, "b", &b, err));
    if (a.first >= n && b.first >= n) {
        return core_yaml_fail(r->doc, node, err,
                              "\"%s\" and \"%s\" are both boundaries; expected a grain type among them",
                              core_yaml_text(node, "a"), core_yaml_text(node, "b"));
    }
    contact_fields fields = *standard;
    sim_contact_law law = {0};
    CORE_TRY(read_fields(r, node, &fields, err));
    CORE_TRY(make_law(r, node, &fields, &law, err));
    const partner rows = a.first < n ? a : b, others = a.first < n ? b : a;
    const int mine = core_yaml_line(node) > 0 ? core_yaml_line(node) : -1;
    for (int k = 0; k < rows.count * others.count; k++) {
        const int row = rows.first + k / others.count, column = others.first + k % others.count;
        int *line = &lines[row * columns + column];
        if (*line != 0 && !(column < n && rows.count * others.count > 1 && *line == mine)) {
            char earlier[48] = "";
            if (*line > 0) snprintf(earlier, sizeof earlier, " (first in line %d)", *line);
            return core_yaml_fail(r->doc, node, err, "the pair \"%s\", \"%s\" a second time%s; expected it once",
                                  core_yaml_text(node, "a"), core_yaml_text(node, "b"), earlier);
        }
        *line = mine;
        scene->law[row * columns + column] = law;
        if (column < n) {
            lines[column * columns + row] = mine;
            scene->law[column * columns + row] = law;
        }
    }
    return CORE_OK;
}

// Grains of a mixture at their expected masses, kg.
static double mix_mass(const sim_scene *scene, const sim_mix *mix, int count) {
    double mass = 0, weights = 0;
    for (int i = 0; i < mix->count; i++) {
        const sim_type_def *type = &scene->types[mix->types[i]];
        mass += mix->weights[i] * type->density * type->shape.area * type->radius * type->radius;
        weights += mix->weights[i];
    }
    return count * mass / weights;
}

/// kn = peak x p x 2 R/(penetration R), p = weight of all grains over the width they come in on: the force that a grain
/// of the lowest layer carries is p 2 R, and the most loaded contacts take LOAD_PEAK times the mean. Where an impact
/// speed v is given, at least m (v/(penetration R))^2 of every type, whose grain then stops within that way.
static core_status automatic_stiffness(const reader *r, double *kn, core_error *err) {
    const sim_scene *scene = r->scene;
    const core_yaml_node *root = core_yaml_root(r->doc);
    double low = INFINITY, high = -INFINITY, mass = 0;
    sim_start start = {0};
    if (scene->start_path) CORE_TRY(sim_start_read(scene, &start, err));
    for (int i = 0; i < scene->count_place + start.count; i++) {
        const bool placed = i < scene->count_place;
        const sim_place_def *place = placed ? &scene->place[i] : &start.grains[i - scene->count_place];
        const sim_type_def *type = &scene->types[place->type];
        low = fmin(low, place->position[0] - type->radius);
        high = fmax(high, place->position[0] + type->radius);
        mass += type->density * type->shape.area * type->radius * type->radius;
    }
    core_free(start.grains);
    for (int i = 0; i < scene->count_fill + scene->count_pours; i++) {
        const bool is_fill = i < scene->count_fill;
        const sim_fill_def *fill = &scene->fill[is_fill ? i : 0];
        const sim_pour_def *pour = &scene->pours[is_fill ? 0 : i - scene->count_fill];
        const double *region = is_fill ? fill->region : pour->region;
        low = fmin(low, region[0]);
        high = fmax(high, region[2]);
        mass += mix_mass(scene, is_fill ? &fill->mix : &pour->mix, is_fill ? fill->count : pour->count);
    }
    const double g = sqrt(scene->gravity[0] * scene->gravity[0] + scene->gravity[1] * scene->gravity[1]);
    const double penetration = core_yaml_number(root, "contact.penetration");
    const double speed = core_yaml_number(root, "contact.speed");
    *kn = LOAD_PEAK * (mass * g / (high - low)) * 2 / penetration;
    for (int t = 0; t < scene->count_types; t++) { // m/R^2 does not depend on R
        const sim_type_def *type = &scene->types[t];
        *kn = fmax(*kn, type->density * type->shape.area * (speed / penetration) * (speed / penetration));
    }
    if (*kn > 0 && isfinite(*kn)) return CORE_OK;
    return core_yaml_fail(r->doc, core_yaml_get(root, "contact.default.kn"), err,
                          "auto gives %g N/m from %g kg over %g m at %g m/s^2; expected grains with a weight", *kn,
                          mass, high - low, g);
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
    scene->kn_auto = NAN;
    if (core_yaml_is_auto(node, "kn")) {
        CORE_TRY(automatic_stiffness(r, &fields.kn, err));
        scene->kn_auto = fields.kn;
    } else {
        for (int i = 0; i < 2; i++) {
            const core_yaml_node *unused = core_yaml_get(root, i == 0 ? "contact.penetration" : "contact.speed");
            if (unused) return core_yaml_fail(r->doc, unused, err, "used with a given kn; expected only with kn: auto");
        }
    }
    scene->deepest = core_yaml_number(root, "contact.deepest");
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
    scene->contact_planes = (int)core_yaml_integer(root, "contact_planes");
    scene->dt = core_yaml_number(root, "dt"); // NaN: auto
    scene->dt_force = strcmp(core_yaml_text(root, "dt_force"), "true") == 0;
    const char *start = core_yaml_text(root, "start.from");
    if (start) CORE_TRY(core_path_join(r->folder, start, &scene->start_path, err));
    scene->start_time = start ? core_yaml_number(root, "start.time") : NAN;
    scene->output_every = core_yaml_number(root, "output.every");
    scene->contact_rows = strcmp(core_yaml_text(root, "output.contacts"), "true") == 0;
    scene->checkpoint_every = core_yaml_number(root, "output.checkpoint"); // NaN: auto
    scene->seed = (uint64_t)core_yaml_integer(root, "seed");
    return CORE_OK;
}

// A scene from its document, which is destroyed. path: of its file.
static core_status read_document(core_yaml **doc, const char *path, sim_scene *scene, core_error *err) {
    core_status status = CORE_OK;
    sim_scene fresh = {0};
    reader r = {.scene = &fresh, .doc = *doc};
    CORE_TRY_DONE(core_path_folder(path, &r.folder, err));
    CORE_TRY_DONE(copy_text(path, &fresh.path, err));
    CORE_TRY_DONE(read_settings(&r, err));
    CORE_TRY_DONE(read_types(&r, err));
    CORE_TRY_DONE(sim__scene_boundaries(&r, err));
    CORE_TRY_DONE(sim__scene_grains(&r, err));
    CORE_TRY_DONE(read_contact(&r, err));
    CORE_TRY_DONE(sim__scene_phases(&r, err));
    *scene = fresh;
    fresh = (sim_scene){0};
done:
    sim_scene_clear(&fresh);
    core_free(r.folder);
    core_yaml_destroy(doc);
    return status;
}

core_status sim_scene_read(const char *path, int count_overrides, const char *const *overrides, sim_scene *scene,
                           core_error *err) {
    CORE_CHECK(path && scene, CORE_ARG, "sim_scene_read: null path or scene");
    core_yaml *doc = NULL;
    int count_keys = 0;
    const core_yaml_key *table = sim__scene_table(&count_keys);
    CORE_TRY(core_yaml_read(path, table, count_keys, count_overrides, overrides, &doc, err));
    return read_document(&doc, path, scene, err);
}

core_status sim_scene_read_text(const char *text, const char *path, sim_scene *scene, core_error *err) {
    CORE_CHECK(text && path && scene, CORE_ARG, "sim_scene_read_text: null text, path or scene");
    core_yaml *doc = NULL;
    int count_keys = 0;
    const core_yaml_key *table = sim__scene_table(&count_keys);
    CORE_TRY(core_yaml_read_text(text, strlen(text), path, table, count_keys, 0, NULL, &doc, err));
    return read_document(&doc, path, scene, err);
}

void sim_scene_clear(sim_scene *scene) {
    if (!scene) return;
    for (int i = 0; i < scene->count_types; i++) {
        core_free(scene->types[i].shape_path);
        sdf_shape_clear(&scene->types[i].shape);
    }
    for (int i = 0; i < scene->count_phases; i++) {
        core_free(scene->phases[i].remove);
        core_free(scene->phases[i].start);
        core_free(scene->phases[i].stop);
    }
    sim__scene_clear_boundaries(scene);
    sim__scene_clear_grains(scene);
    core_free(scene->path);
    core_free(scene->title);
    core_free(scene->text);
    core_free(scene->types);
    core_free(scene->law);
    core_free(scene->phases);
    core_free(scene->maps_path);
    core_free(scene->start_path);
    for (int i = 0; i < scene->count_csv; i++) core_free(scene->csv_paths[i]);
    core_free(scene->csv_paths);
    *scene = (sim_scene){0};
}
