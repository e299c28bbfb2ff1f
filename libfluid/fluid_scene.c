/// Scene files with `model: continuum`.
#include "fluid_scene_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCENE_BYTES_MAX ((size_t)64 << 20)

// Cells a particle may cross in a step: water's surface ripples in longer steps.
static const double CFL_SAND = 1, CFL_WATER = .5;
static const double JITTER = .25;
static const int SHAPE_RESOLUTION = 256; // cells across a shape's circumscribed circle
static const double SHAPE_MARGIN = 1;    // circumradii around it

typedef struct reader {
    fluid_scene *scene;
    const core_yaml *doc;
    char *folder;
} reader;

static core_status copy_text(const char *text, char **copy, core_error *err) {
    const size_t n = strlen(text) + 1;
    char *made = core_alloc(n, 1);
    CORE_CHECK(made, CORE_MEMORY, "out of memory: %zu bytes of text", n);
    memcpy(made, text, n);
    *copy = made;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- is it ours

// True if the first level of a text in block style says `model: continuum`.
static bool says_continuum(const char *text) {
    static const char key[] = "model:";
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, sizeof key - 1) != 0) continue;
        line += sizeof key - 1;
        line += strspn(line, " \t\"'");
        return strncmp(line, "continuum", 9) == 0;
    }
    return false;
}

bool fluid_scene_claims(const char *path, int count_overrides, const char *const *overrides) {
    char *text = NULL;
    size_t n = 0;
    for (int i = 0; i < count_overrides; ++i)
        if (strcmp(overrides[i], "model=continuum") == 0) return true;
    if (!path || core_file_read(path, SCENE_BYTES_MAX, &text, &n, NULL) != CORE_OK) return false;
    const bool found = says_continuum(text);
    core_free(text);
    return found;
}

// ---------------------------------------------------------------------------------------------- shapes

// Reads a shape file, or the file sdfgen made of one, into the scene's next place; *index: that place.
static core_status read_shape(const reader *r, const core_yaml_node *node, int *index, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene *scene = r->scene;
    const int i = scene->count_shapes;
    const core_yaml_node *place = core_yaml_get(node, "file");
    core_error cause = {0};
    CORE_TRY(core_path_join(r->folder, core_yaml_scalar(place), &scene->shape_paths[i], err));
    const char *path = scene->shape_paths[i];
    ++scene->count_shapes; // counted before it is filled: clearing frees a half-read one
    if (core_path_ends(path, ".sdf.h5")) {
        status = sdf_file_read(path, &scene->shapes[i], &scene->grids[i], NULL, &cause);
    } else {
        const sdf_read_def def = sdf_read_default_def();
        status = sdf_shape_read(path, &def, &scene->shapes[i], &cause);
        if (status == CORE_OK)
            status = sdf_grid_build(&scene->shapes[i].outline, SHAPE_RESOLUTION, SHAPE_MARGIN, 1, NULL,
                                    &scene->grids[i], &cause);
    }
    *index = i;
    return status == CORE_OK ? CORE_OK : core_yaml_fail_by(r->doc, place, &cause, err);
}

// A circle or shape of a boundary or fill. kind: of a circle.
static core_status read_round(const reader *r, const core_yaml_node *node, fluid_solid_kind kind, fluid_solid *solid,
                              int *shape, core_error *err) {
    const core_yaml_node *circle = core_yaml_get(node, "circle"), *drawn = core_yaml_get(node, "shape");
    if (circle) {
        solid->kind = kind;
        core_yaml_vector(circle, "centre", solid->centre, 2);
        solid->radius = core_yaml_number(circle, "radius");
    }
    if (!drawn) return CORE_OK;
    CORE_TRY(read_shape(r, drawn, shape, err));
    solid->kind = FLUID_SOLID_SHAPE;
    core_yaml_vector(drawn, "position", solid->centre, 2);
    solid->radius = core_yaml_number(drawn, "radius");
    solid->angle = core_yaml_number(drawn, "angle");
    solid->shape = &r->scene->grids[*shape];
    return CORE_OK;
}

// Fails unless exactly one of the named children is there.
static core_status check_one(const reader *r, const core_yaml_node *node, int n, const char *const *names,
                             core_error *err) {
    int found = 0;
    char list[128] = "";
    for (int i = 0; i < n; ++i) {
        found += core_yaml_get(node, names[i]) != NULL;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    if (found == 1) return CORE_OK;
    return core_yaml_fail(r->doc, node, err, "%d of %s; expected one of them", found, list);
}

// ---------------------------------------------------------------------------------------------- boundaries

static core_status read_plane(const reader *r, const core_yaml_node *node, fluid_solid *solid, core_error *err) {
    double normal[2];
    core_yaml_vector(node, "plane.point", solid->centre, 2);
    core_yaml_vector(node, "plane.normal", normal, 2);
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1]);
    if (!(length > 0)) return core_yaml_fail(r->doc, core_yaml_get(node, "plane.normal"), err, "a normal of length 0");
    solid->kind = FLUID_SOLID_PLANE;
    for (int a = 0; a < 2; ++a) solid->normal[a] = normal[a] / length;
    return CORE_OK;
}

// Bars between the points of a polyline, from solid `first` on.
static core_status read_polyline(const reader *r, const core_yaml_node *node, fluid_boundary_def *b, double friction,
                                 core_error *err) {
    const core_yaml_node *points = core_yaml_get(node, "polyline.points");
    const int n = core_yaml_count(points);
    if (n < 4 || n % 2)
        return core_yaml_fail(r->doc, points, err, "%d numbers; expected x and y of two points or more", n);
    b->points = core_alloc((size_t)n, sizeof *b->points);
    CORE_CHECK(b->points, CORE_MEMORY, "out of memory: %d points", n / 2);
    b->count_points = n / 2;
    b->thickness = core_yaml_number(node, "polyline.thickness");
    core_yaml_vector(node, "polyline.points", b->points, n);
    for (int i = 0; i + 1 < b->count_points; ++i) {
        const double *p = b->points + 2 * i;
        r->scene->solids[b->first + i] = (fluid_solid){.kind = FLUID_SOLID_BAR,
                                                       .present = true,
                                                       .friction = friction,
                                                       .centre = {p[0], p[1], 0},
                                                       .end = {p[2], p[3], 0},
                                                       .radius = .5 * b->thickness};
    }
    return CORE_OK;
}

// The motion of a boundary's solids, which are read already: they turn about one point.
static core_status read_motion(const reader *r, const core_yaml_node *node, fluid_boundary_def *b, core_error *err) {
    fluid_scene *scene = r->scene;
    const core_yaml_node *place = core_yaml_get(node, "motion");
    core_motion motion;
    char *path = NULL;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const core_status status = core_motion_read(r->doc, place, r->folder, &motion, &path, err);
    b->table = motion.table;
    if (path) scene->table_paths[scene->count_tables++] = path;
    CORE_TRY(status);
    if (place && scene->def.material == FLUID_SAND && scene->def.sand == FLUID_SAND_PAPER)
        return core_yaml_fail(r->doc, place, err, "in mode: paper; expected only in mode: unified or of water");
    // the middle of a polyline's box
    for (int k = 0; k < b->count_points; ++k)
        for (int a = 0; a < 2; ++a) {
            low[a] = fmin(low[a], b->points[2 * k + a]);
            high[a] = fmax(high[a], b->points[2 * k + a]);
        }
    for (int a = 0; a < 2; ++a) {
        b->pivot[a] = b->count_points > 0 ? .5 * (low[a] + high[a]) : scene->solids[b->first].centre[a];
        if (isnan(motion.pivot[a])) motion.pivot[a] = b->pivot[a];
    }
    for (int s = b->first; s < b->first + b->count; ++s) scene->solids[s].motion = motion;
    return CORE_OK;
}

static core_status read_boundary(const reader *r, const core_yaml_node *node, int i, core_error *err) {
    static const char *const kinds[] = {"plane", "circle", "shape", "polyline"};
    fluid_scene *scene = r->scene;
    fluid_boundary_def *b = &scene->boundaries[i];
    const char *name = core_yaml_text(node, "name");
    *b = (fluid_boundary_def){.first = scene->count_solids, .count = 1, .shape = -1};
    CORE_TRY(core_yaml_copy_name(r->doc, core_yaml_get(node, "name"), name, b->name, err));
    for (int k = 0; k < i; ++k)
        if (strcmp(scene->boundaries[k].name, name) == 0)
            return core_yaml_fail(r->doc, core_yaml_get(node, "name"), err, "a second \"%s\"; expected another name",
                                  name);
    CORE_TRY(check_one(r, node, 4, kinds, err));
    const double friction = core_yaml_number(node, "friction");
    if (core_yaml_get(node, "polyline")) {
        b->count = core_yaml_count(core_yaml_get(node, "polyline.points")) / 2 - 1;
        CORE_TRY(read_polyline(r, node, b, friction, err));
    } else {
        fluid_solid *solid = &scene->solids[b->first];
        *solid = (fluid_solid){.present = true, .friction = friction};
        if (core_yaml_get(node, "plane")) CORE_TRY(read_plane(r, node, solid, err));
        CORE_TRY(read_round(r, node, FLUID_SOLID_BOWL, solid, &b->shape, err));
    }
    CORE_TRY(read_motion(r, node, b, err));
    scene->count_solids += b->count;
    return CORE_OK;
}

static core_status read_boundaries(const reader *r, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "boundaries");
    const int n = core_yaml_count(list);
    int solids = 0;
    for (int i = 0; i < n; ++i) solids += 1 + core_yaml_count(core_yaml_get(core_yaml_at(list, i), "polyline.points"));
    CORE_NEW_DONE(scene->boundaries, (size_t)n);
    CORE_NEW_DONE(scene->solids, (size_t)solids);
    CORE_NEW_DONE(scene->table_paths, (size_t)n);
    for (int i = 0; i < n; ++i) {
        scene->count_boundaries = i + 1;
        CORE_TRY_DONE(read_boundary(r, core_yaml_at(list, i), i, err));
    }
done:
    return status;
}

// ---------------------------------------------------------------------------------------------- fill

static core_status read_fill(const reader *r, core_error *err) {
    static const char *const kinds[] = {"box", "circle", "shape"};
    core_status status = CORE_OK;
    fluid_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "fill");
    const int n = core_yaml_count(list);
    CORE_NEW_DONE(scene->fill, (size_t)n);
    for (int i = 0; i < n; ++i) {
        const core_yaml_node *node = core_yaml_at(list, i);
        fluid_seed_def *fill = &scene->fill[i];
        int shape;
        double box[4];
        *fill = (fluid_seed_def){.jitter = JITTER, .seed = scene->seed};
        fill->surface_layer = strcmp(core_yaml_text(node, "surface_layer"), "true") == 0;
        core_yaml_vector(node, "velocity", fill->velocity, 2);
        CORE_TRY_DONE(check_one(r, node, 3, kinds, err));
        if (core_yaml_vector(node, "box", box, 4)) {
            fill->region.kind = FLUID_SOLID_BOX;
            for (int a = 0; a < 2; ++a) {
                fill->region.centre[a] = .5 * (box[a] + box[2 + a]);
                fill->region.half[a] = .5 * (box[2 + a] - box[a]);
            }
            if (!(fill->region.half[0] > 0 && fill->region.half[1] > 0)) {
                status = core_yaml_fail(r->doc, core_yaml_get(node, "box"), err,
                                        "found [%g, %g, %g, %g], expected x0 < x1 and y0 < y1", box[0], box[1], box[2],
                                        box[3]);
                goto done;
            }
        }
        CORE_TRY_DONE(read_round(r, node, FLUID_SOLID_BALL, &fill->region, &shape, err));
        ++scene->count_fill;
    }
done:
    return status;
}

// ---------------------------------------------------------------------------------------------- phases

// Boundaries that a key of a phase names, as indices; done: by this key of earlier phases, `what` that is.
static core_status read_names(const reader *r, const core_yaml_node *names, bool *done, const char *what, int **list,
                              int *count, core_error *err) {
    *list = core_alloc((size_t)core_yaml_count(names), sizeof **list);
    CORE_CHECK(*list, CORE_MEMORY, "out of memory: %d names", core_yaml_count(names));
    for (int i = 0; i < core_yaml_count(names); ++i) {
        const core_yaml_node *place = core_yaml_at(names, i);
        int found = -1;
        for (int b = 0; b < r->scene->count_boundaries; ++b)
            if (strcmp(r->scene->boundaries[b].name, core_yaml_scalar(place)) == 0) found = b;
        if (found < 0)
            return core_yaml_fail(r->doc, place, err, "found \"%s\", expected the name of a boundary",
                                  core_yaml_scalar(place));
        if (done[found]) return core_yaml_fail(r->doc, place, err, "\"%s\" %s already", core_yaml_scalar(place), what);
        done[found] = true;
        (*list)[(*count)++] = found;
    }
    return CORE_OK;
}

// What a phase does to boundaries; done (3 x boundaries): what earlier ones did.
static core_status read_actions(const reader *r, const core_yaml_node *node, fluid_phase_def *phase, bool *done,
                                core_error *err) {
    fluid_scene *scene = r->scene;
    const int n = scene->count_boundaries;
    const core_yaml_node *start = core_yaml_get(node, "start"), *stop = core_yaml_get(node, "stop");
    CORE_TRY(
        read_names(r, core_yaml_get(node, "remove"), done, "is taken away", &phase->remove, &phase->count_remove, err));
    CORE_TRY(read_names(r, start, done + n, "has started", &phase->start, &phase->count_start, err));
    CORE_TRY(read_names(r, stop, done + 2 * n, "has stopped", &phase->stop, &phase->count_stop, err));
    for (int key = 0; key < 2; ++key)
        for (int i = 0; i < (key ? phase->count_stop : phase->count_start); ++i) {
            const fluid_boundary_def *b = &scene->boundaries[(key ? phase->stop : phase->start)[i]];
            if (!core_motion_moves(&scene->solids[b->first].motion))
                return core_yaml_fail(r->doc, core_yaml_at(key ? stop : start, i), err, "\"%s\" has no motion",
                                      b->name);
            for (int s = b->first; s < b->first + b->count && key == 0; ++s) scene->solids[s].motion.waits = true;
        }
    return CORE_OK;
}

static core_status read_phases(const reader *r, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene *scene = r->scene;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "phases");
    const int n = core_yaml_count(list);
    bool *done_before = NULL;
    if (n == 0) return core_yaml_fail(r->doc, list, err, "an empty list; expected at least one phase");
    CORE_NEW_DONE(scene->phases, (size_t)n);
    CORE_NEW_DONE(done_before, 3 * (size_t)scene->count_boundaries);
    for (int i = 0; i < n; ++i) {
        scene->count_phases = i + 1;
        CORE_TRY_DONE(core_yaml_phase_read(r->doc, list, i, &scene->phases[i].common, err));
        CORE_TRY_DONE(read_actions(r, core_yaml_at(list, i), &scene->phases[i], done_before, err));
    }
done:
    core_free(done_before);
    return status;
}

// ---------------------------------------------------------------------------------------------- settings

// Keys that do nothing under what else is chosen are errors.
static core_status check_used(const reader *r, core_error *err) {
    const core_yaml_node *root = core_yaml_root(r->doc);
    const bool sand = r->scene->def.material == FLUID_SAND, paper = r->scene->def.sand == FLUID_SAND_PAPER;
    const bool flip = strcmp(core_yaml_text(root, "solver.transfer"), "flip") == 0;
    const bool rises = r->scene->def.friction_rise > 0;
    const struct {
        const char *key;
        bool used;
        const char *when;
    } list[] = {{"material.mode", sand, "kind: sand"},
                {"material.friction", sand && !paper, "sand in mode: unified"},
                {"material.cohesion", sand, "kind: sand"},
                {"material.friction_rise", sand && !paper, "sand in mode: unified"},
                {"material.grain_size", rises, "a friction_rise above 0"},
                {"material.inertial_number", rises, "a friction_rise above 0"},
                {"material.friction_angle", sand && paper, "sand in mode: paper"},
                {"solver.flip", flip, "transfer: flip"},
                {"solver.sweeps", sand && !paper, "sand in mode: unified"},
                {"solver.rounds", sand && !paper, "sand in mode: unified"},
                {"solver.walls", sand, "kind: sand"},
                {"solver.relaxation", sand && paper, "sand in mode: paper"},
                {"output.texture_size", r->scene->texture != FLUID_TEXTURE_NONE, "texture: layers or checker"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const core_yaml_node *node = core_yaml_get(root, list[i].key);
        if (node && !list[i].used)
            return core_yaml_fail(r->doc, node, err, "does nothing here; expected only with %s", list[i].when);
    }
    if (rises && !core_yaml_get(root, "material.grain_size"))
        return core_yaml_fail(r->doc, core_yaml_get(root, "material.friction_rise"), err, "expected with a grain_size");
    return CORE_OK;
}

// Index of a word in a list of words.
static int word_of(const core_yaml_node *root, const char *key, int n, const char *const *words) {
    const char *word = core_yaml_text(root, key);
    for (int i = 0; i < n; ++i)
        if (strcmp(word, words[i]) == 0) return i;
    return 0;
}

static void read_solver(const core_yaml_node *root, fluid_def *def) {
    static const char *const transfers[] = {"auto", "apic", "pic", "flip"}, *const surfaces[] = {"ghost", "first",
                                                                                                 "face"};
    static const char *const walls[] = {"pressure", "paper"};
    const bool sand = def->material == FLUID_SAND;
    int transfer = word_of(root, "solver.transfer", 4, transfers);
    if (transfer == 0) transfer = sand ? 1 : 3;
    def->affine = transfer == 1;
    def->flip = transfer == 3 ? core_yaml_number(root, "solver.flip") : 0;
    def->surface = (fluid_surface)word_of(root, "solver.surface", 3, surfaces);
    def->wall_law = (fluid_wall_law)word_of(root, "solver.walls", 2, walls);
    def->tolerance = core_yaml_number(root, "solver.tolerance");
    def->cfl =
        core_yaml_is_auto(root, "solver.cfl") ? (sand ? CFL_SAND : CFL_WATER) : core_yaml_number(root, "solver.cfl");
    def->sweeps = (int)core_yaml_integer(root, "solver.sweeps");
    def->rounds = (int)core_yaml_integer(root, "solver.rounds");
    def->relaxation = core_yaml_number(root, "solver.relaxation");
    def->dt = core_yaml_number(root, "dt"); // NaN: auto
}

static core_status read_settings(const reader *r, core_error *err) {
    static const char *const kinds[] = {"sand", "water"}, *const modes[] = {"unified", "paper"};
    static const char *const textures[] = {"none", "layers", "checker"};
    fluid_scene *scene = r->scene;
    fluid_def *def = &scene->def;
    const core_yaml_node *root = core_yaml_root(r->doc);
    double box[4];
    CORE_TRY(copy_text(core_yaml_text(root, "title"), &scene->title, err));
    CORE_TRY(copy_text(core_yaml_resolved_text(r->doc), &scene->text, err));
    *def = fluid_default_def();
    core_yaml_vector(root, "gravity", def->gravity, 2);
    core_yaml_vector(root, "grid.region", box, 4);
    for (int a = 0; a < 2; ++a) def->region[a] = box[a], def->region[3 + a] = box[2 + a];
    def->h = core_yaml_number(root, "grid.cell");
    def->periodic = strcmp(core_yaml_text(root, "grid.periodic"), "x") == 0;
    def->wall_friction = core_yaml_number(root, "grid.friction");
    def->material = word_of(root, "material.kind", 2, kinds) ? FLUID_WATER : FLUID_SAND;
    def->sand = word_of(root, "material.mode", 2, modes) ? FLUID_SAND_PAPER : FLUID_SAND_UNIFIED;
    def->density = core_yaml_number(root, "material.density");
    def->friction = core_yaml_number(root, "material.friction");
    def->cohesion = core_yaml_number(root, "material.cohesion");
    def->friction_rise = core_yaml_number(root, "material.friction_rise");
    def->grain_size = core_yaml_number(root, "material.grain_size");
    def->inertial_number = core_yaml_number(root, "material.inertial_number");
    def->friction_angle = core_yaml_number(root, "material.friction_angle");
    read_solver(root, def);
    scene->output_every = core_yaml_number(root, "output.every");
    scene->checkpoint_every = core_yaml_number(root, "output.checkpoint"); // NaN: auto
    scene->texture = (fluid_texture)word_of(root, "output.texture", 3, textures);
    scene->texture_size =
        core_yaml_is_auto(root, "output.texture_size") ? 8 * def->h : core_yaml_number(root, "output.texture_size");
    scene->seed = (uint64_t)core_yaml_integer(root, "seed");
    return check_used(r, err);
}

// ---------------------------------------------------------------------------------------------- whole scenes

// Room for the shapes of all boundaries and fills.
static core_status make_room_for_shapes(const reader *r, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene *scene = r->scene;
    const core_yaml_node *root = core_yaml_root(r->doc);
    const size_t n = (size_t)core_yaml_count(core_yaml_get(root, "boundaries")) +
                     (size_t)core_yaml_count(core_yaml_get(root, "fill"));
    CORE_NEW_DONE(scene->shapes, n);
    CORE_NEW_DONE(scene->grids, n);
    CORE_NEW_DONE(scene->shape_paths, n);
done:
    return status;
}

// A scene from its document, which is destroyed.
static core_status read_document(core_yaml **doc, const char *path, fluid_scene *scene, core_error *err) {
    core_status status = CORE_OK;
    fluid_scene fresh = {0};
    reader r = {.scene = &fresh, .doc = *doc};
    CORE_TRY_DONE(core_path_folder(path, &r.folder, err));
    CORE_TRY_DONE(copy_text(path, &fresh.path, err));
    CORE_TRY_DONE(read_settings(&r, err));
    CORE_TRY_DONE(make_room_for_shapes(&r, err));
    CORE_TRY_DONE(read_boundaries(&r, err));
    CORE_TRY_DONE(read_fill(&r, err));
    CORE_TRY_DONE(read_phases(&r, err));
    *scene = fresh;
    fresh = (fluid_scene){0};
done:
    fluid_scene_clear(&fresh);
    core_free(r.folder);
    core_yaml_destroy(doc);
    return status;
}

core_status fluid_scene_read(const char *path, int count_overrides, const char *const *overrides, fluid_scene *scene,
                             core_error *err) {
    CORE_CHECK(path && scene, CORE_ARG, "fluid_scene_read: null path or scene");
    core_yaml *doc = NULL;
    int count_keys = 0;
    const core_yaml_key *table = fluid__scene_table(&count_keys);
    CORE_TRY(core_yaml_read(path, table, count_keys, count_overrides, overrides, &doc, err));
    return read_document(&doc, path, scene, err);
}

core_status fluid_scene_read_text(const char *text, const char *path, fluid_scene *scene, core_error *err) {
    CORE_CHECK(text && path && scene, CORE_ARG, "fluid_scene_read_text: null text, path or scene");
    core_yaml *doc = NULL;
    int count_keys = 0;
    const core_yaml_key *table = fluid__scene_table(&count_keys);
    CORE_TRY(core_yaml_read_text(text, strlen(text), path, table, count_keys, 0, NULL, &doc, err));
    return read_document(&doc, path, scene, err);
}

void fluid_scene_clear(fluid_scene *scene) {
    if (!scene) return;
    for (int i = 0; i < scene->count_shapes; ++i) {
        sdf_shape_clear(&scene->shapes[i]);
        sdf_grid_clear(&scene->grids[i]);
        core_free(scene->shape_paths[i]);
    }
    for (int i = 0; i < scene->count_boundaries; ++i) {
        core_free(scene->boundaries[i].points);
        core_free(scene->boundaries[i].table);
    }
    for (int i = 0; i < scene->count_tables; ++i) core_free(scene->table_paths[i]);
    for (int i = 0; i < scene->count_phases; ++i) {
        core_free(scene->phases[i].remove);
        core_free(scene->phases[i].start);
        core_free(scene->phases[i].stop);
    }
    core_free(scene->path);
    core_free(scene->title);
    core_free(scene->text);
    core_free(scene->boundaries);
    core_free(scene->solids);
    core_free(scene->fill);
    core_free(scene->shapes);
    core_free(scene->grids);
    core_free(scene->shape_paths);
    core_free(scene->table_paths);
    core_free(scene->phases);
    *scene = (fluid_scene){0};
}
