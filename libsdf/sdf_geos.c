/// Everything that needs GEOS (geos_c.h is included here alone): reading WKT and GeoJSON, validity with reasons, union,
/// simplification, and the exact distance and overlap of two posed outlines. A context of its own per call:
/// thread-safe.
#include "sdf_private.h"

#include <geos_c.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/// Parts whose areas a message lists.
#define GEOS_LISTED_PARTS 6
/// Segments of a quarter of a circle in offset outlines. GEOS itself simplifies by 1 % of the distance first.
#define GEOS_ARC_SEGMENTS 8
/// Tolerance by which an outline is simplified before a disc is rolled, diameters of the disc: fine outlines would take
/// seconds otherwise.
#define GEOS_THIN_SIMPLIFY 0.003
/// How much farther an outline is offset back than it was offset.
#define GEOS_BACK 1.01

/// A GEOS context and the last thing it complained about.
typedef struct geos_context {
    GEOSContextHandle_t handle;
    char message[384];
} geos_context;

/// Polygons found in a geometry; borrowed from it.
typedef struct geos_parts {
    const GEOSGeometry **polygons;
    size_t count, capacity;
} geos_parts;

/// Keeps one line of GEOS's message.
static void keep_message(const char *message, void *user) {
    geos_context *c = user;
    size_t i = 0;
    for (; i + 1 < sizeof c->message && message[i]; i++) c->message[i] = message[i] == '\n' ? ' ' : message[i];
    while (i > 0 && c->message[i - 1] == ' ') i--;
    c->message[i] = 0;
}

static core_status context_open(geos_context *c, core_error *err) {
    *c = (geos_context){.handle = GEOS_init_r()};
    CORE_CHECK(c->handle, CORE_MEMORY, "out of memory: GEOS did not start");
    GEOSContext_setErrorMessageHandler_r(c->handle, keep_message, c);
    return CORE_OK;
}

static void context_close(geos_context *c) {
    if (c->handle) GEOS_finish_r(c->handle);
    c->handle = NULL;
}

/// A GEOS operation gave nothing. C++ names its lack of memory std::bad_alloc.
static core_status context_fail(const geos_context *c, const char *what, core_error *err) {
    CORE_CHECK(!strstr(c->message, "bad_alloc"), CORE_MEMORY, "out of memory: GEOS could not %s", what);
    return CORE_FAIL(err, CORE_INTERNAL, "GEOS could not %s: %s", what, c->message[0] ? c->message : "no reason given");
}

// ---------------------------------------------------------------------------------------------- outlines <-> GEOS

/// A ring as a GEOS ring, its points through the rotation (cs, sn), scale and shift of `pose` (NULL: as they are).
/// `buffer` holds (n + 1) x 2 doubles. NULL on failure.
static GEOSGeometry *ring_to_geos(const geos_context *c, const double *xy, int n, const sdf_posed *pose,
                                  double *buffer) {
    double cs = 1, sn = 0;
    if (pose) core_sincos(pose->angle, &sn, &cs);
    for (int i = 0; i <= n; i++) {
        const double *p = xy + 2 * (i < n ? i : 0);
        buffer[2 * i] = pose ? pose->scale * (cs * p[0] - sn * p[1]) + pose->x : p[0];
        buffer[2 * i + 1] = pose ? pose->scale * (sn * p[0] + cs * p[1]) + pose->y : p[1];
    }
    GEOSCoordSequence *s = GEOSCoordSeq_copyFromBuffer_r(c->handle, buffer, (unsigned)n + 1, 0, 0);
    return s ? GEOSGeom_createLinearRing_r(c->handle, s) : NULL;
}

/// An outline as a GEOS polygon, which the caller destroys.
static core_status outline_to_geos(const geos_context *c, const core_outline *o, const sdf_posed *pose,
                                   GEOSGeometry **polygon, core_error *err) {
    core_status status = CORE_OK;
    GEOSGeometry **rings = NULL, *result = NULL;
    double *buffer = NULL;
    int made = 0;
    CORE_NEW_DONE(rings, (size_t)o->count_rings);
    CORE_NEW_DONE(buffer, 2 * ((size_t)core_outline_count(o) + 1));
    for (; made < o->count_rings; made++) {
        int begin = o->ring_start[made];
        rings[made] = ring_to_geos(c, o->xy + 2 * begin, o->ring_start[made + 1] - begin, pose, buffer);
        if (!rings[made]) {
            status = context_fail(c, "build a ring", err);
            goto done;
        }
    }
    // The polygon owns its rings from here on, also when it fails.
    result = GEOSGeom_createPolygon_r(c->handle, rings[0], rings + 1, (unsigned)o->count_rings - 1);
    made = 0;
    if (!result) status = context_fail(c, "build a polygon", err);
done:
    for (int i = 0; i < made; i++) GEOSGeom_destroy_r(c->handle, rings[i]);
    core_free(rings);
    core_free(buffer);
    if (status == CORE_OK) *polygon = result;
    return status;
}

/// Exterior (0) or interior ring of a polygon; borrowed.
static const GEOSGeometry *polygon_ring(const geos_context *c, const GEOSGeometry *polygon, int i) {
    return i == 0 ? GEOSGetExteriorRing_r(c->handle, polygon) : GEOSGetInteriorRingN_r(c->handle, polygon, i - 1);
}

static core_status geos_to_outline(const geos_context *c, const GEOSGeometry *polygon, core_outline *o,
                                   core_error *err) {
    core_status status = CORE_OK;
    core_outline result = {0};
    int *counts = NULL;
    double *buffer = NULL;
    int holes = GEOSGetNumInteriorRings_r(c->handle, polygon), most = 0;
    CORE_CHECK_DONE(holes >= 0, CORE_INTERNAL, "GEOS could not count the holes");
    CORE_NEW_DONE(counts, (size_t)holes + 1);
    for (int i = 0; i <= holes; i++) {
        int n = GEOSGetNumCoordinates_r(c->handle, polygon_ring(c, polygon, i));
        CORE_CHECK_DONE(n >= 4, CORE_SHAPE, "a ring of %d points, expected 4 or more (the last repeats the first)", n);
        counts[i] = n - 1;
        most = n > most ? n : most;
    }
    CORE_TRY_DONE(core_outline_create(holes + 1, counts, &result, err));
    CORE_NEW_DONE(buffer, 2 * (size_t)most);
    for (int i = 0; i <= holes; i++) {
        const GEOSCoordSequence *s = GEOSGeom_getCoordSeq_r(c->handle, polygon_ring(c, polygon, i));
        if (!s || !GEOSCoordSeq_copyToBuffer_r(c->handle, s, buffer, 0, 0)) {
            status = context_fail(c, "hand over coordinates", err);
            goto done;
        }
        memcpy(result.xy + 2 * result.ring_start[i], buffer, (size_t)counts[i] * 2 * sizeof *buffer);
    }
    *o = result;
    result = (core_outline){0};
done:
    core_outline_clear(&result);
    core_free(counts);
    core_free(buffer);
    return status;
}

// ---------------------------------------------------------------------------------------------- reading

/// SHAPE unless `polygon` is valid. `where`: "" or " of part 3 of 4".
static core_status polygon_check(geos_context *c, const GEOSGeometry *polygon, const char *where, core_error *err) {
    char *reason = NULL;
    GEOSGeometry *place = NULL;
    core_status status = CORE_OK;
    char valid = GEOSisValidDetail_r(c->handle, polygon, 0, &reason, &place);
    if (valid == 2) {
        status = context_fail(c, "check the polygon", err);
    } else if (valid == 0) {
        double x = NAN, y = NAN;
        if (place) {
            GEOSGeomGetX_r(c->handle, place, &x);
            GEOSGeomGetY_r(c->handle, place, &y);
        }
        bool nonfinite = reason && strncmp(reason, "Invalid Coordinate", 18) == 0;
        status = CORE_FAIL(err, nonfinite ? CORE_NONFINITE : CORE_SHAPE, "%s at (%.9g, %.9g)%s",
                           reason ? reason : "not a valid polygon", x, y, where);
    }
    if (reason) GEOSFree_r(c->handle, reason);
    if (place) GEOSGeom_destroy_r(c->handle, place);
    return status;
}

/// Adds the polygons of a geometry to `parts`; anything else that is not empty is refused.
static core_status parts_collect(geos_context *c, const GEOSGeometry *g, geos_parts *parts, core_error *err) {
    int type = GEOSGeomTypeId_r(c->handle, g);
    if (GEOSisEmpty_r(c->handle, g) == 1) return CORE_OK;
    if (type == GEOS_MULTIPOLYGON || type == GEOS_GEOMETRYCOLLECTION) {
        int n = GEOSGetNumGeometries_r(c->handle, g);
        for (int i = 0; i < n; i++) CORE_TRY(parts_collect(c, GEOSGetGeometryN_r(c->handle, g, i), parts, err));
        return CORE_OK;
    }
    if (type != GEOS_POLYGON) {
        char *name = GEOSGeomType_r(c->handle, g);
        core_status status = CORE_FAIL(err, CORE_SHAPE, "found a %s, which encloses nothing; expected polygons alone",
                                       name ? name : "geometry of unknown type");
        if (name) GEOSFree_r(c->handle, name);
        return status;
    }
    if (parts->count == parts->capacity) {
        size_t capacity = parts->capacity ? 2 * parts->capacity : 8;
        void *larger = core_realloc(parts->polygons, parts->capacity, capacity, sizeof *parts->polygons);
        CORE_CHECK(larger, CORE_MEMORY, "out of memory: %zu polygons", capacity);
        parts->polygons = larger;
        parts->capacity = capacity;
    }
    parts->polygons[parts->count++] = g;
    return CORE_OK;
}

/// SHAPE: the union fell into several polygons; their areas are listed.
static core_status separate_parts_fail(const geos_context *c, const GEOSGeometry *g, core_error *err) {
    char areas[256] = "";
    int n = GEOSGetNumGeometries_r(c->handle, g);
    for (int i = 0; i < n && i < GEOS_LISTED_PARTS; i++) {
        double area = 0;
        GEOSArea_r(c->handle, GEOSGetGeometryN_r(c->handle, g, i), &area);
        size_t used = strlen(areas);
        snprintf(areas + used, sizeof areas - used, "%s%.6g", i ? ", " : "", area);
    }
    return CORE_FAIL(err, CORE_SHAPE,
                     "%d separate parts (areas %s%s), expected one connected region; --largest takes the largest alone",
                     n, areas, n > GEOS_LISTED_PARTS ? ", ..." : "");
}

/// The part of the largest area; borrowed.
static const GEOSGeometry *largest_part(const geos_context *c, const GEOSGeometry *g) {
    const GEOSGeometry *best = NULL;
    double most = -1;
    for (int i = 0; i < GEOSGetNumGeometries_r(c->handle, g); i++) {
        const GEOSGeometry *part = GEOSGetGeometryN_r(c->handle, g, i);
        double area = 0;
        if (!GEOSArea_r(c->handle, part, &area) || area <= most) continue;
        best = part;
        most = area;
    }
    return best;
}

/// Unites valid polygons (parts_collect) into one outline.
static core_status parts_unite(geos_context *c, const geos_parts *parts, bool largest, core_outline *drawn,
                               int *count_left_out, core_error *err) {
    core_status status = CORE_OK;
    GEOSGeometry **copies = NULL, *all = NULL, *united = NULL;
    size_t made = 0;
    CORE_NEW_DONE(copies, parts->count);
    for (; made < parts->count; made++) {
        copies[made] = GEOSGeom_clone_r(c->handle, parts->polygons[made]);
        if (!copies[made]) {
            status = context_fail(c, "copy a polygon", err);
            goto done;
        }
    }
    all = GEOSGeom_createCollection_r(c->handle, GEOS_MULTIPOLYGON, copies, (unsigned)made);
    made = 0;
    if (all) united = GEOSUnaryUnion_r(c->handle, all);
    if (!united) {
        status = context_fail(c, "unite the parts", err);
    } else if (GEOSGeomTypeId_r(c->handle, united) == GEOS_POLYGON) {
        status = geos_to_outline(c, united, drawn, err);
    } else if (largest) {
        const GEOSGeometry *part = largest_part(c, united);
        status = part ? geos_to_outline(c, part, drawn, err) : context_fail(c, "find the largest part", err);
        *count_left_out = GEOSGetNumGeometries_r(c->handle, united) - 1;
    } else {
        status = separate_parts_fail(c, united, err);
    }
done:
    for (size_t i = 0; i < made; i++) GEOSGeom_destroy_r(c->handle, copies[i]);
    if (all) GEOSGeom_destroy_r(c->handle, all);
    if (united) GEOSGeom_destroy_r(c->handle, united);
    core_free(copies);
    return status;
}

/// Text to geometry; the caller destroys it. FORMAT, SHAPE for rings that are not closed.
static core_status parse(geos_context *c, const char *text, bool geojson, GEOSGeometry **g, core_error *err) {
    GEOSGeometry *result = NULL;
    if (geojson) {
        GEOSGeoJSONReader *reader = GEOSGeoJSONReader_create_r(c->handle);
        if (reader) result = GEOSGeoJSONReader_readGeometry_r(c->handle, reader, text);
        if (reader) GEOSGeoJSONReader_destroy_r(c->handle, reader);
    } else {
        GEOSWKTReader *reader = GEOSWKTReader_create_r(c->handle);
        if (reader) result = GEOSWKTReader_read_r(c->handle, reader, text);
        if (reader) GEOSWKTReader_destroy_r(c->handle, reader);
    }
    if (!result && strstr(c->message, "closed linestring"))
        return CORE_FAIL(err, CORE_SHAPE, "a ring is not closed: its last point must repeat its first one");
    CORE_CHECK(result, CORE_FORMAT, "%s could not be read: %s", geojson ? "GeoJSON" : "WKT",
               c->message[0] ? c->message : "no reason given");
    *g = result;
    return CORE_OK;
}

core_status sdf__geos_read(const char *text, bool geojson, bool largest, core_outline *drawn, int *count_left_out,
                           core_error *err) {
    core_status status = CORE_OK;
    geos_context c;
    GEOSGeometry *g = NULL;
    geos_parts parts = {0};
    CORE_TRY(context_open(&c, err));
    CORE_TRY_DONE(parse(&c, text, geojson, &g, err));
    CORE_TRY_DONE(parts_collect(&c, g, &parts, err));
    CORE_CHECK_DONE(parts.count > 0, CORE_SHAPE, "no polygon in it: the geometry is empty");
    for (size_t i = 0; i < parts.count; i++) {
        char where[64] = "";
        if (parts.count > 1) snprintf(where, sizeof where, " of part %zu of %zu", i + 1, parts.count);
        CORE_TRY_DONE(polygon_check(&c, parts.polygons[i], where, err));
    }
    if (parts.count == 1) {
        status = geos_to_outline(&c, parts.polygons[0], drawn, err);
    } else {
        status = parts_unite(&c, &parts, largest, drawn, count_left_out, err);
    }
done:
    if (g) GEOSGeom_destroy_r(c.handle, g);
    core_free(parts.polygons);
    context_close(&c);
    return status;
}

core_status sdf__geos_check(const core_outline *o, core_error *err) {
    geos_context c;
    GEOSGeometry *g = NULL;
    CORE_TRY(context_open(&c, err));
    core_status status = outline_to_geos(&c, o, NULL, &g, err);
    if (status == CORE_OK) status = polygon_check(&c, g, "", err);
    if (g) GEOSGeom_destroy_r(c.handle, g);
    context_close(&c);
    return status;
}

core_status sdf__geos_simplify(const core_outline *o, double tolerance, core_outline *simple, core_error *err) {
    geos_context c;
    GEOSGeometry *g = NULL, *s = NULL;
    CORE_TRY(context_open(&c, err));
    core_status status = outline_to_geos(&c, o, NULL, &g, err);
    if (status == CORE_OK) {
        s = GEOSTopologyPreserveSimplify_r(c.handle, g, tolerance);
        bool polygon = s && GEOSGeomTypeId_r(c.handle, s) == GEOS_POLYGON;
        status = polygon ? geos_to_outline(&c, s, simple, err) : context_fail(&c, "simplify the outline", err);
    }
    if (g) GEOSGeom_destroy_r(c.handle, g);
    if (s) GEOSGeom_destroy_r(c.handle, s);
    context_close(&c);
    return status;
}

// ---------------------------------------------------------------------------------------------- thickness

/// Parts of a geometry, and holes in them, above some area; filled: holes that something covers.
typedef struct geos_count {
    int parts, holes, filled;
} geos_count;

/// The hole of a polygon as a region of its own; the caller destroys it. NULL on failure.
static GEOSGeometry *hole_region(const geos_context *c, const GEOSGeometry *polygon, int i) {
    GEOSGeometry *ring = GEOSGeom_clone_r(c->handle, GEOSGetInteriorRingN_r(c->handle, polygon, i));
    return ring ? GEOSGeom_createPolygon_r(c->handle, ring, NULL, 0) : NULL;
}

/// `filled`: holes above `area` that `cover` covers; NULL: not asked.
static core_status holes_count(geos_context *c, const GEOSGeometry *polygon, double area, const GEOSGeometry *cover,
                               int *above, int *filled, core_error *err) {
    for (int i = 0; i < GEOSGetNumInteriorRings_r(c->handle, polygon); i++) {
        double a = 0;
        GEOSGeometry *region = hole_region(c, polygon, i);
        bool measured = region && GEOSArea_r(c->handle, region, &a);
        if (measured && a > area) {
            (*above)++;
            if (cover) *filled += GEOSCovers_r(c->handle, cover, region) == 1;
        }
        if (region) GEOSGeom_destroy_r(c->handle, region);
        if (!measured) return context_fail(c, "measure a hole", err);
    }
    return CORE_OK;
}

static core_status count_above(geos_context *c, const GEOSGeometry *g, double area, const GEOSGeometry *cover,
                               geos_count *count, core_error *err) {
    geos_count found = {0};
    int n = GEOSGetNumGeometries_r(c->handle, g);
    for (int i = 0; i < n; i++) {
        const GEOSGeometry *part = GEOSGetGeometryN_r(c->handle, g, i);
        double a = 0;
        if (GEOSGeomTypeId_r(c->handle, part) != GEOS_POLYGON || GEOSisEmpty_r(c->handle, part)) continue;
        if (!GEOSArea_r(c->handle, part, &a)) return context_fail(c, "measure an area", err);
        found.parts += a > area;
        CORE_TRY(holes_count(c, part, area, cover, &found.holes, &found.filled, err));
    }
    *count = found;
    return CORE_OK;
}

/// Offsets `g` and back, and takes what that changed; NULL geometries where GEOS fails.
static core_status roll(geos_context *c, const GEOSGeometry *g, double offset, GEOSGeometry **moved,
                        GEOSGeometry **changed, core_error *err) {
    GEOSGeometry *rolled = NULL;
    *moved = GEOSBuffer_r(c->handle, g, offset, GEOS_ARC_SEGMENTS);
    // Back by a little more: rounding must not leave slivers that join parts.
    if (*moved) rolled = GEOSBuffer_r(c->handle, *moved, -offset * GEOS_BACK, GEOS_ARC_SEGMENTS);
    if (rolled) *changed = GEOSDifference_r(c->handle, offset > 0 ? rolled : g, offset > 0 ? g : rolled);
    if (rolled) GEOSGeom_destroy_r(c->handle, rolled);
    return *changed ? CORE_OK : context_fail(c, "offset an outline", err);
}

core_status sdf__geos_is_thin(const core_outline *o, double width, double area, bool gap, bool *thin, core_error *err) {
    core_status status = CORE_OK;
    geos_context c;
    GEOSGeometry *drawn = NULL, *g = NULL, *moved = NULL, *changed = NULL;
    geos_count before, after, left_out;
    double total = 0;
    CORE_TRY(context_open(&c, err));
    CORE_TRY_DONE(outline_to_geos(&c, o, NULL, &drawn, err));
    g = GEOSTopologyPreserveSimplify_r(c.handle, drawn, GEOS_THIN_SIMPLIFY * width);
    if (!g || !GEOSArea_r(c.handle, g, &total)) {
        status = context_fail(&c, "simplify the outline", err);
        goto done;
    }
    CORE_TRY_DONE(roll(&c, g, gap ? width / 2 : -width / 2, &moved, &changed, err));
    double speck = SDF__SPECK_SHARE * total;
    CORE_TRY_DONE(count_above(&c, g, speck, gap ? moved : NULL, &before, err));
    CORE_TRY_DONE(count_above(&c, moved, speck, NULL, &after, err));
    CORE_TRY_DONE(count_above(&c, changed, fmax(area, speck), NULL, &left_out, err));
    // Outside, a new hole is a bay whose mouth the disc does not pass; inside, a hole less is a wall that broke.
    bool apart = gap ? after.holes > before.holes || before.filled > 0
                     : GEOSisEmpty_r(c.handle, moved) == 1 || after.parts > 1 || after.holes < before.holes;
    *thin = apart || left_out.parts > 0;
done:
    if (drawn) GEOSGeom_destroy_r(c.handle, drawn);
    if (g) GEOSGeom_destroy_r(c.handle, g);
    if (moved) GEOSGeom_destroy_r(c.handle, moved);
    if (changed) GEOSGeom_destroy_r(c.handle, changed);
    context_close(&c);
    return status;
}

// ---------------------------------------------------------------------------------------------- posed outlines

/// Refuses what GEOS would turn into a crash or silence.
static core_status posed_check(const sdf_posed *p, core_error *err) {
    CORE_CHECK(p && p->outline && core_outline_count(p->outline) >= 3, CORE_ARG, "posed outline: nothing there");
    CORE_CHECK(isfinite(p->scale) && isfinite(p->angle) && isfinite(p->x) && isfinite(p->y), CORE_NONFINITE,
               "pose of an outline: scale %g, angle %g, position (%g, %g) must be finite", p->scale, p->angle, p->x,
               p->y);
    CORE_CHECK(p->scale > 0, CORE_RANGE, "scale of an outline: found %g, expected above 0", p->scale);
    return CORE_OK;
}

static double posed_radius(const sdf_posed *p) {
    double r2 = 0;
    for (int i = 0; i < core_outline_count(p->outline); i++) {
        const double *v = p->outline->xy + 2 * i;
        r2 = fmax(r2, v[0] * v[0] + v[1] * v[1]);
    }
    return p->scale * sqrt(r2);
}

/// Both polygons, placed about b's position: far from the world's origin no digit is lost.
static core_status posed_pair(geos_context *c, const sdf_posed *a, const sdf_posed *b, GEOSGeometry **g_a,
                              GEOSGeometry **g_b, core_error *err) {
    sdf_posed near_a = *a, near_b = *b;
    near_a.x -= b->x;
    near_a.y -= b->y;
    near_b.x = near_b.y = 0;
    CORE_TRY(outline_to_geos(c, a->outline, &near_a, g_a, err));
    return outline_to_geos(c, b->outline, &near_b, g_b, err);
}

core_status sdf_posed_distance(const sdf_posed *a, const sdf_posed *b, double *distance, core_error *err) {
    CORE_TRY(posed_check(a, err));
    CORE_TRY(posed_check(b, err));
    CORE_CHECK(distance, CORE_ARG, "sdf_posed_distance: null pointer");
    geos_context c;
    GEOSGeometry *g_a = NULL, *g_b = NULL;
    double d = 0;
    CORE_TRY(context_open(&c, err));
    core_status status = posed_pair(&c, a, b, &g_a, &g_b, err);
    if (status == CORE_OK && !GEOSDistance_r(c.handle, g_a, g_b, &d))
        status = context_fail(&c, "measure a distance", err);
    if (status == CORE_OK) *distance = d;
    if (g_a) GEOSGeom_destroy_r(c.handle, g_a);
    if (g_b) GEOSGeom_destroy_r(c.handle, g_b);
    context_close(&c);
    return status;
}

/// Area of an intersection and the largest minimum width of its polygons; points and lines in it count nothing.
static core_status intersection_measure(geos_context *c, const GEOSGeometry *g, double *area, double *depth,
                                        core_error *err) {
    int n = GEOSGetNumGeometries_r(c->handle, g);
    for (int i = 0; i < n; i++) {
        const GEOSGeometry *part = GEOSGetGeometryN_r(c->handle, g, i);
        double part_area = 0, width = 0;
        if (GEOSGeomTypeId_r(c->handle, part) != GEOS_POLYGON || !GEOSArea_r(c->handle, part, &part_area)) continue;
        if (!(part_area > 0)) continue;
        GEOSGeometry *line = GEOSMinimumWidth_r(c->handle, part);
        bool measured = line && GEOSLength_r(c->handle, line, &width);
        if (line) GEOSGeom_destroy_r(c->handle, line);
        if (!measured) return context_fail(c, "measure the width of an overlap", err);
        *area += part_area;
        *depth = fmax(*depth, width);
    }
    return CORE_OK;
}

core_status sdf_posed_overlap(const sdf_posed *a, const sdf_posed *b, double *area, double *depth, core_error *err) {
    CORE_TRY(posed_check(a, err));
    CORE_TRY(posed_check(b, err));
    CORE_CHECK(area && depth, CORE_ARG, "sdf_posed_overlap: null pointer");
    double dx = a->x - b->x, dy = a->y - b->y, reach = posed_radius(a) + posed_radius(b);
    if (dx * dx + dy * dy >= reach * reach) {
        *area = *depth = 0;
        return CORE_OK;
    }
    geos_context c;
    GEOSGeometry *g_a = NULL, *g_b = NULL, *common = NULL;
    double sum = 0, most = 0;
    CORE_TRY(context_open(&c, err));
    core_status status = posed_pair(&c, a, b, &g_a, &g_b, err);
    if (status == CORE_OK) {
        common = GEOSIntersection_r(c.handle, g_a, g_b);
        status = common ? intersection_measure(&c, common, &sum, &most, err)
                        : context_fail(&c, "intersect two outlines", err);
    }
    if (status == CORE_OK) {
        *area = sum;
        *depth = most;
    }
    if (g_a) GEOSGeom_destroy_r(c.handle, g_a);
    if (g_b) GEOSGeom_destroy_r(c.handle, g_b);
    if (common) GEOSGeom_destroy_r(c.handle, common);
    context_close(&c);
    return status;
}

double sdf_posed_below_plane(const sdf_posed *a, const double normal[2], double offset) {
    double cs, sn, lowest = INFINITY;
    core_sincos(a->angle, &sn, &cs);
    // The normal in the outline's frame, so that every point costs one product.
    double nx = cs * normal[0] + sn * normal[1], ny = -sn * normal[0] + cs * normal[1];
    for (int i = 0; i < core_outline_count(a->outline); i++)
        lowest = fmin(lowest, nx * a->outline->xy[2 * i] + ny * a->outline->xy[2 * i + 1]);
    double height = normal[0] * a->x + normal[1] * a->y + a->scale * lowest;
    return fmax(0, offset - height);
}
