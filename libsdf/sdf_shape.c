/// Shapes: reading a shape file of any kind, copying, and the part of a file that holds a shape.
#include "sdf_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHAPE_COOKIE 0x5df0
/// Largest shape file, bytes.
#define SHAPE_FILE_MAX ((size_t)64 << 20)
/// Largest tolerance of a simplification, pixels.
#define SHAPE_SIMPLIFY_MAX 1000
/// So many specks are noise, not dirt.
#define SHAPE_SPECKS_NOISE 20
/// How far a stored outline may be from circumradius 1 and centroid 0, and stored from recomputed numbers.
#define SHAPE_CANONICAL_TOLERANCE 1e-9
/// Longest group name plus dataset name in a file.
#define SHAPE_PATH_MAX 256

sdf_read_def sdf_read_default_def(void) {
    return (sdf_read_def){.cookie = SHAPE_COOKIE, .threshold = 128, .simplify = -1};
}

/// Moves a finished canonical outline into `shape`.
static core_status shape_fill(const char *name, core_outline *canonical, const sdf_mass *drawn, sdf_shape *shape,
                              core_error *err) {
    sdf_mass mass;
    CORE_TRY(sdf_outline_mass(canonical, &mass, err));
    sdf_shape s = {.outline = *canonical, .drawn = *drawn, .area = mass.area, .second_moment = mass.second_moment};
    snprintf(s.name, sizeof s.name, "%s", name);
    s.hash = core_outline_hash(canonical);
    *canonical = (core_outline){0};
    *shape = s;
    return CORE_OK;
}

static core_status name_check(const char *name, core_error *err) {
    CORE_CHECK(name && name[0], CORE_ARG, "a shape needs a name");
    CORE_CHECK(strlen(name) < CORE_NAME_MAX, CORE_ARG, "name \"%s\" is longer than %d bytes", name, CORE_NAME_MAX - 1);
    return CORE_OK;
}

core_status sdf_shape_from_outline(const char *name, const core_outline *drawn, sdf_shape *shape, core_error *err) {
    core_outline canonical = {0};
    sdf_mass mass;
    CORE_CHECK(drawn && shape, CORE_ARG, "sdf_shape_from_outline: null pointer");
    CORE_TRY(name_check(name, err));
    int removed = 0;
    CORE_TRY(sdf__outline_canonical(drawn, &canonical, &mass, &removed, err));
    core_status status = shape_fill(name, &canonical, &mass, shape, err);
    if (status == CORE_OK) shape->import.count_points = removed;
    core_outline_clear(&canonical);
    return status;
}

static bool is_image(const char *path) {
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (core_path_ends(path, endings[i])) return true;
    return false;
}

/// The outline of a file's content, in the unit of the file.
static core_status drawn_read(const char *path, const sdf_read_def *def, const char *data, size_t n,
                              core_outline *drawn, sdf_import *record, core_error *err) {
    if (is_image(path)) {
        sdf__levels levels = {0};
        CORE_TRY(sdf__levels_from_image((const unsigned char *)data, n, def, &levels, record, err));
        core_status status = sdf__contour(&levels, def, drawn, record, err);
        sdf__levels_clear(&levels);
        return status;
    }
    bool geojson = core_path_ends(path, ".geojson") || core_path_ends(path, ".json");
    CORE_CHECK(geojson || core_path_ends(path, ".wkt"), CORE_FORMAT,
               "unknown kind of shape file, expected a name that ends in .wkt, .geojson, .json, .png, .jpg, .bmp or "
               ".pgm");
    // A byte order mark says nothing about a shape, and GEOS does not know it.
    size_t mark = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    CORE_TRY(sdf__text_check(data + mark, n - mark, geojson, err));
    char *closed = NULL;
    CORE_TRY(sdf__text_close(data + mark, n - mark, geojson, &closed, &record->count_closed, err));
    core_status status = sdf__geos_read(closed, geojson, def->largest, drawn, &record->count_islands, err);
    core_free(closed);
    return status;
}

core_status sdf_shape_read(const char *path, const sdf_read_def *def, sdf_shape *shape, core_error *err) {
    core_status status = CORE_OK;
    core_outline drawn = {0};
    char *data = NULL, name[CORE_NAME_MAX];
    size_t n = 0;
    sdf_import record = {0};
    CORE_CHECK(path && def && shape, CORE_ARG, "sdf_shape_read: null pointer");
    CORE_CHECK(def->cookie == SHAPE_COOKIE, CORE_ARG, "sdf_read_def was not made by sdf_read_default_def");
    CORE_CHECK(def->threshold == SDF_THRESHOLD_AUTO || (def->threshold >= 1 && def->threshold <= 255), CORE_RANGE,
               "threshold: found %d, expected 1 .. 255", def->threshold);
    CORE_CHECK(def->blur >= 0 && def->blur <= SDF__BLUR_MAX, CORE_RANGE, "blur: found %g, expected 0 .. %d pixels",
               def->blur, SDF__BLUR_MAX);
    CORE_CHECK(def->simplify <= SHAPE_SIMPLIFY_MAX, CORE_RANGE, "simplify: found %g, expected at most %d pixels",
               def->simplify, SHAPE_SIMPLIFY_MAX);
    CORE_TRY(core_path_stem(path, name, err));
    // Names the path itself.
    CORE_TRY(core_file_read(path, SHAPE_FILE_MAX, &data, &n, err));
    status = drawn_read(path, def, data, n, &drawn, &record, err);
    if (status == CORE_OK) status = sdf_shape_from_outline(name, &drawn, shape, err);
    if (status == CORE_OK) {
        record.count_points = shape->import.count_points;
        shape->import = record;
    } else {
        core_error_prefix(err, status, "%s", path);
    }
    core_outline_clear(&drawn);
    core_free(data);
    return status;
}

int sdf_shape_notes(const sdf_shape *shape, char notes[SDF_SHAPE_NOTES_MAX][SDF_NOTE_MAX]) {
    const sdf_import *r = &shape->import;
    int count = 0, vertices = core_outline_count(&shape->outline);
    if (r->count_border > 0)
        snprintf(notes[count++], SDF_NOTE_MAX,
                 "the figure touches the image's border over %d pixels: it may be cut off there, or what is inside was "
                 "taken for outside (--invert)",
                 r->count_border);
    if (vertices <= SDF_VERTICES_MANY) return count;
    int n = snprintf(notes[count], SDF_NOTE_MAX,
                     "%d vertices: exact labels and an exact narrow phase get slow with so many; ", vertices);
    size_t left = SDF_NOTE_MAX - (size_t)n;
    char *advice = notes[count++] + n;
    if (!r->image)
        snprintf(advice, left, "some tens of them are enough for most grains");
    else if (isfinite(r->simplify_many))
        snprintf(advice, left, "--simplify %.3g leaves at most %d%s", r->simplify_many, SDF__VERTICES_ADVISED,
                 r->blur == 0 && r->count_specks >= SHAPE_SPECKS_NOISE
                     ? ", but the image is noisy (specks): try --blur 2 first"
                     : "");
    else
        snprintf(advice, left, "the edge is rough: try --blur %g", fmax(2, 2 * r->blur));
    return count;
}

core_status sdf_shape_copy(const sdf_shape *from, sdf_shape *to, core_error *err) {
    core_outline outline = {0};
    CORE_CHECK(from && to, CORE_ARG, "sdf_shape_copy: null pointer");
    CORE_TRY(core_outline_copy(&from->outline, &outline, err));
    *to = *from;
    to->outline = outline;
    return CORE_OK;
}

void sdf_shape_clear(sdf_shape *shape) {
    if (!shape) return;
    core_outline_clear(&shape->outline);
    *shape = (sdf_shape){0};
}

// ---------------------------------------------------------------------------------------------- in files

/// PREFIX/NAME into path.
static core_status path_make(const char *prefix, const char *name, char path[SHAPE_PATH_MAX], core_error *err) {
    int n = snprintf(path, SHAPE_PATH_MAX, "%s/%s", prefix, name);
    CORE_CHECK(n > 0 && n < SHAPE_PATH_MAX, CORE_ARG, "group name \"%s\" is too long", prefix);
    return CORE_OK;
}

/// One mass property of the file as drawn.
typedef struct mass_field {
    const char *name, *units, *description;
    size_t count; // 1: scalar
} mass_field;

static const mass_field mass_fields[] = {
    {"mass/area", "drawing unit^2", "area of the shape as drawn", 1},
    {"mass/centroid", "drawing unit", "centroid of the shape as drawn; the canonical origin", 2},
    {"mass/second_moment", "drawing unit^4", "polar second moment of area about the centroid, as drawn", 1},
    {"mass/circumradius", "drawing unit",
     "largest distance from the centroid to the shape, as drawn; the canonical unit", 1},
};
#define MASS_FIELDS ((int)(sizeof mass_fields / sizeof mass_fields[0]))

static double *mass_field_value(sdf_mass *mass, int i) {
    double *values[] = {&mass->area, mass->centroid, &mass->second_moment, &mass->circumradius};
    return values[i];
}

core_status sdf_shape_write_h5(core_h5 *file, const char *prefix, const sdf_shape *shape, core_error *err) {
    char path[SHAPE_PATH_MAX], hash[17];
    CORE_CHECK(file && prefix && shape && shape->outline.count_rings > 0, CORE_ARG,
               "sdf_shape_write_h5: nothing to write");
    CORE_TRY(path_make(prefix, "polygon", path, err));
    CORE_TRY(core_h5_group(
        file, path,
        "canonical outline: centroid at the origin, circumradius 1, axes as drawn; ring 0 is the outer one, "
        "counter-clockwise, the others are holes, clockwise; no point is repeated",
        err));
    CORE_TRY(core_h5_write_outline(file, path, &shape->outline, "circumradius", err));
    core_hash_text(shape->hash, hash);
    CORE_TRY(core_h5_set_text(file, path, "name", shape->name, err));
    CORE_TRY(core_h5_set_text(file, path, "outline_hash", hash, err));
    CORE_TRY(path_make(prefix, "mass", path, err));
    CORE_TRY(core_h5_group(file, path, "mass properties at unit density of the shape as drawn, from its polygon", err));
    sdf_mass mass = shape->drawn;
    for (int i = 0; i < MASS_FIELDS; i++) {
        const mass_field *f = mass_fields + i;
        CORE_TRY(path_make(prefix, f->name, path, err));
        CORE_TRY(core_h5_write(file, path, CORE_H5_F64, f->count > 1, &f->count, mass_field_value(&mass, i), f->units,
                               f->description, err));
    }
    return CORE_OK;
}

/// FORMAT unless the stored outline is canonical and has the stored hash.
static core_status shape_verify(core_h5 *file, const char *polygon_path, const sdf_shape *s, core_error *err) {
    char stored[17], found[17];
    sdf_mass mass;
    CORE_TRY(core_h5_get_text(file, polygon_path, "outline_hash", stored, sizeof stored, err));
    core_hash_text(s->hash, found);
    CORE_CHECK(strcmp(stored, found) == 0, CORE_FORMAT, "%s: %s: the outline's hash is %s, the file states %s",
               core_h5_path(file), polygon_path, found, stored);
    CORE_TRY(sdf_outline_mass(&s->outline, &mass, err));
    double off = fmax(hypot(mass.centroid[0], mass.centroid[1]), fabs(mass.circumradius - 1));
    CORE_CHECK(off <= SHAPE_CANONICAL_TOLERANCE, CORE_FORMAT,
               "%s: %s: centroid (%g, %g) and circumradius %.9g, expected (0, 0) and 1", core_h5_path(file),
               polygon_path, mass.centroid[0], mass.centroid[1], mass.circumradius);
    double scale = s->drawn.circumradius * s->drawn.circumradius;
    CORE_CHECK(s->drawn.circumradius > 0 &&
                   fabs(mass.area * scale - s->drawn.area) <= SHAPE_CANONICAL_TOLERANCE * s->drawn.area,
               CORE_FORMAT, "%s: area %g and circumradius %g as drawn do not fit the outline (area %g)",
               core_h5_path(file), s->drawn.area, s->drawn.circumradius, mass.area);
    return CORE_OK;
}

core_status sdf_shape_read_h5(core_h5 *file, const char *prefix, sdf_shape *shape, core_error *err) {
    core_status status = CORE_OK;
    char polygon[SHAPE_PATH_MAX], path[SHAPE_PATH_MAX], name[CORE_NAME_MAX];
    core_outline outline = {0};
    sdf_shape s = {0};
    sdf_mass drawn = {0};
    CORE_CHECK(file && prefix && shape, CORE_ARG, "sdf_shape_read_h5: null pointer");
    CORE_TRY_DONE(path_make(prefix, "polygon", polygon, err));
    CORE_TRY_DONE(core_h5_get_text(file, polygon, "name", name, sizeof name, err));
    CORE_TRY_DONE(core_h5_read_outline(file, polygon, &outline, err));
    for (int i = 0; i < MASS_FIELDS; i++) {
        CORE_TRY_DONE(path_make(prefix, mass_fields[i].name, path, err));
        CORE_TRY_DONE(core_h5_read(file, path, CORE_H5_F64, mass_fields[i].count > 1, &mass_fields[i].count,
                                   mass_field_value(&drawn, i), true, err));
    }
    status = sdf__geos_check(&outline, err);
    if (status == CORE_OK) status = shape_fill(name, &outline, &drawn, &s, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s: %s", core_h5_path(file), polygon);
        goto done;
    }
    CORE_TRY_DONE(shape_verify(file, polygon, &s, err));
    *shape = s;
    s = (sdf_shape){0};
done:
    core_outline_clear(&outline);
    sdf_shape_clear(&s);
    return status;
}
