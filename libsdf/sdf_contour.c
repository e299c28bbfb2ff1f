/// Levels of pixels to an outline: marching squares over the pixel centres with the crossings interpolated linearly, so
/// that an anti-aliased edge is found to a small part of a pixel. Every closed line is followed once with the inside on
/// its left: outer lines come out counter-clockwise, holes clockwise. Pixels that touch at a corner alone are joined if
/// the mean of the four around is inside; a mean of exactly zero is outside. Specks, islands and holes alike, are left
/// out and counted. Douglas-Peucker takes out what is below the accuracy of the line, and how far that moved the line
/// is measured. In an anti-aliased image that is about a tenth of a pixel; the line of a black-and-white image is a
/// staircase of half-pixel steps, and a tolerance below the cut of a corner (0.35) takes out some stairs and no corner.
#include "sdf_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/// Tolerances of the simplification, pixels (a disc of radius 50: off by 0.12 pixels, its hole of 20 by 0.16, 99
/// points; black-and-white 0.5 and 192).
#define CONTOUR_TOLERANCE_GREY 0.12
#define CONTOUR_TOLERANCE_BINARY 0.3
/// An image is black-and-white if this share of the crossings is half-way between two pixels.
#define CONTOUR_BINARY_SHARE 0.9
/// Islands whose areas a message lists.
#define CONTOUR_LISTED 6
/// Tolerances tried for outlines of very many vertices: pixels, from one to the next, and the largest: pixels or a
/// share of the outline's size, whichever is more.
#define CONTOUR_MANY_FIRST 0.5
#define CONTOUR_MANY_STEP 0.5
#define CONTOUR_MANY_PIXELS 3.0
#define CONTOUR_MANY_SHARE 0.002

/// Side of a cell through which a line comes or goes.
typedef enum side { SIDE_TOP, SIDE_BOTTOM, SIDE_LEFT, SIDE_RIGHT } side;

/// Lines found so far.
typedef struct lines {
    double *xy; // (count x 2) pixels, y up
    size_t count, capacity;
    size_t count_halves; // points half-way between two pixels
    size_t *end;         // (count_rings) first point behind each ring
    size_t count_rings, capacity_rings;
} lines;

/// A place on a line: the cell ahead (node at its upper left) and the side through which it is entered.
typedef struct position {
    int row, column;
    side from;
} position;

static int level_at(const sdf__levels *l, int row, int column) {
    return l->pixels[(size_t)row * (size_t)(l->width + 2) + (size_t)column];
}

/// Side through which the line leaves the cell; the inside stays on its left.
static side cell_exit(const sdf__levels *l, const position *p) {
    int tl = level_at(l, p->row, p->column), tr = level_at(l, p->row, p->column + 1);
    int bl = level_at(l, p->row + 1, p->column), br = level_at(l, p->row + 1, p->column + 1);
    bool joined = tl + tr + bl + br < 0;
    if (tl < 0 && br < 0 && tr > 0 && bl > 0) return (p->from == SIDE_LEFT) == joined ? SIDE_BOTTOM : SIDE_TOP;
    if (tl > 0 && br > 0 && tr < 0 && bl < 0) return (p->from == SIDE_TOP) == joined ? SIDE_LEFT : SIDE_RIGHT;
    if (tl < 0 && tr > 0) return SIDE_TOP;
    if (bl > 0 && br < 0) return SIDE_BOTTOM;
    if (bl < 0 && tl > 0) return SIDE_LEFT;
    return SIDE_RIGHT;
}

/// Crossing of the entered side, in pixels, y up; true if it is half-way.
static bool crossing(const sdf__levels *l, const position *p, double xy[2]) {
    int row = p->row + (p->from == SIDE_BOTTOM), column = p->column + (p->from == SIDE_RIGHT);
    bool along_x = p->from == SIDE_TOP || p->from == SIDE_BOTTOM;
    double a = level_at(l, row, column), b = level_at(l, row + !along_x, column + along_x), t = a / (a - b);
    xy[0] = column - 0.5 + (along_x ? t : 0);
    xy[1] = l->height + 0.5 - row - (along_x ? 0 : t);
    return fabs(t - 0.5) < 0.01;
}

/// Moves into the next cell.
static void advance(const sdf__levels *l, position *p) {
    switch (cell_exit(l, p)) {
    case SIDE_TOP:
        *p = (position){p->row - 1, p->column, SIDE_BOTTOM};
        break;
    case SIDE_BOTTOM:
        *p = (position){p->row + 1, p->column, SIDE_TOP};
        break;
    case SIDE_LEFT:
        *p = (position){p->row, p->column - 1, SIDE_RIGHT};
        break;
    case SIDE_RIGHT:
        *p = (position){p->row, p->column + 1, SIDE_LEFT};
        break;
    }
}

/// Room for one more element.
static core_status grow(void **data, size_t count, size_t *capacity, size_t size, core_error *err) {
    if (count < *capacity) return CORE_OK;
    size_t larger = *capacity ? 2 * *capacity : 256;
    void *p = core_realloc(*data, *capacity, larger, size);
    CORE_CHECK(p, CORE_MEMORY, "out of memory: %zu x %zu bytes", larger, size);
    *data = p;
    *capacity = larger;
    return CORE_OK;
}

/// Follows one line from its start until it is closed. `seen` marks the entered top sides.
static core_status line_follow(const sdf__levels *l, position start, uint8_t *seen, lines *out, core_error *err) {
    position p = start;
    do {
        if (p.from == SIDE_TOP) seen[(size_t)p.row * (size_t)(l->width + 2) + (size_t)p.column] = 1;
        size_t capacity = out->capacity;
        void *xy = out->xy;
        CORE_TRY(grow(&xy, out->count, &capacity, 2 * sizeof *out->xy, err));
        out->xy = xy;
        out->capacity = capacity;
        out->count_halves += crossing(l, &p, out->xy + 2 * out->count++);
        advance(l, &p);
    } while (p.row != start.row || p.column != start.column || p.from != start.from);
    CORE_CHECK(out->count < INT_MAX / 2, CORE_RANGE, "the outline has more than %d points", INT_MAX / 2);
    void *end = out->end;
    CORE_TRY(grow(&end, out->count_rings, &out->capacity_rings, sizeof *out->end, err));
    out->end = end;
    out->end[out->count_rings++] = out->count;
    return CORE_OK;
}

/// All lines: each goes down at its outer left, across a side between an outside and an inside pixel.
static core_status lines_find(const sdf__levels *l, lines *out, core_error *err) {
    core_status status = CORE_OK;
    uint8_t *seen = NULL;
    size_t stride = (size_t)l->width + 2;
    CORE_NEW_DONE(seen, stride * ((size_t)l->height + 2));
    for (int row = 0; row < l->height + 2; row++) {
        for (int column = 0; column < l->width + 1; column++) {
            bool starts = level_at(l, row, column) > 0 && level_at(l, row, column + 1) < 0;
            if (!starts || seen[(size_t)row * stride + (size_t)column]) continue;
            CORE_TRY_DONE(line_follow(l, (position){row, column, SIDE_TOP}, seen, out, err));
        }
    }
done:
    core_free(seen);
    return status;
}

static size_t ring_begin(const lines *in, size_t i) {
    return i ? in->end[i - 1] : 0;
}

/// Signed area of a line: positive for outer ones.
static double ring_area(const lines *in, size_t i) {
    size_t begin = ring_begin(in, i);
    return sdf__ring_area2(in->xy + 2 * begin, (int)(in->end[i] - begin)) / 2;
}

/// Lines by what they are: `area` is positive for outer ones, negative for holes, 0 for specks.
typedef struct line_areas {
    double *area;      // (count_rings)
    size_t outer;      // the largest island
    int count_islands; // that are no specks
    int count_specks;
} line_areas;

static core_status areas_find(const lines *in, line_areas *a, core_error *err) {
    core_status status = CORE_OK;
    CORE_NEW_DONE(a->area, in->count_rings);
    for (size_t i = 0; i < in->count_rings; i++) {
        a->area[i] = ring_area(in, i);
        if (a->area[i] > a->area[a->outer]) a->outer = i;
    }
    double limit = SDF__SPECK_SHARE * a->area[a->outer];
    for (size_t i = 0; i < in->count_rings; i++) {
        if (fabs(a->area[i]) < limit) {
            a->area[i] = 0;
            a->count_specks++;
        }
        a->count_islands += a->area[i] > 0;
    }
done:
    return status;
}

/// SHAPE: lists the islands, largest first.
static core_status islands_fail(const lines *in, const line_areas *a, core_error *err) {
    double largest[CONTOUR_LISTED] = {0};
    for (size_t i = 0; i < in->count_rings; i++) {
        double area = a->area[i];
        for (int k = 0; k < CONTOUR_LISTED; k++) {
            if (area <= largest[k]) continue;
            double swap = largest[k];
            largest[k] = area;
            area = swap;
        }
    }
    char areas[256] = "";
    for (int k = 0; k < CONTOUR_LISTED && largest[k] > 0; k++) {
        size_t used = strlen(areas);
        snprintf(areas + used, sizeof areas - used, "%s%.6g", k ? ", " : "", largest[k]);
    }
    return CORE_FAIL(err, CORE_SHAPE,
                     "%d separate islands (areas %s%s pixels), expected one connected region; --largest takes the "
                     "largest alone",
                     a->count_islands, areas, a->count_islands > CONTOUR_LISTED ? ", ..." : "");
}

/// Whether line i goes around p: crossings of the ray to +x.
static bool line_encloses(const lines *in, size_t i, const double *p) {
    bool inside = false;
    size_t begin = ring_begin(in, i), end = in->end[i];
    for (size_t k = begin, last = end - 1; k < end; last = k++) {
        const double *a = in->xy + 2 * last, *b = in->xy + 2 * k;
        if ((a[1] > p[1]) == (b[1] > p[1])) continue;
        inside ^= p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
    }
    return inside;
}

/// Whether line i is a hole of the largest island itself, not of an island in one of its holes. Lines never cross, so
/// one point tells.
static bool is_own_hole(const lines *in, const line_areas *a, size_t i) {
    const double *p = in->xy + 2 * ring_begin(in, i);
    if (a->area[i] >= 0 || !line_encloses(in, a->outer, p)) return false;
    for (size_t k = 0; a->count_islands > 1 && k < in->count_rings; k++)
        if (k != a->outer && a->area[k] > 0 && line_encloses(in, a->outer, in->xy + 2 * ring_begin(in, k)) &&
            line_encloses(in, k, p))
            return false;
    return true;
}

/// The largest island and its holes as an outline, the outer line first.
static core_status lines_to_outline(const lines *in, const line_areas *a, core_outline *o, core_error *err) {
    core_status status = CORE_OK;
    core_outline result = {0};
    int *counts = NULL, count = 1;
    size_t *taken = NULL;
    CORE_NEW_DONE(counts, in->count_rings);
    CORE_NEW_DONE(taken, in->count_rings);
    taken[0] = a->outer;
    for (size_t i = 0; i < in->count_rings; i++)
        if (is_own_hole(in, a, i)) taken[count++] = i;
    for (int i = 0; i < count; i++) counts[i] = (int)(in->end[taken[i]] - ring_begin(in, taken[i]));
    CORE_TRY_DONE(core_outline_create(count, counts, &result, err));
    for (int i = 0; i < count; i++)
        memcpy(result.xy + 2 * result.ring_start[i], in->xy + 2 * ring_begin(in, taken[i]),
               (size_t)counts[i] * 2 * sizeof *result.xy);
    *o = result;
    result = (core_outline){0};
done:
    core_outline_clear(&result);
    core_free(counts);
    core_free(taken);
    return status;
}

/// Largest distance of the points of one ring from the edges of another that keeps some of these points, in order;
/// negative if it does not. Between two kept points the line stays within that distance of the edge, and no point of
/// the edge is farther from the line: it bounds the distance of the lines both ways.
static double ring_deviation(const double *raw, int n_raw, const double *kept, int n_kept) {
    double worst = 0;
    int at = 0;
    while (at < n_raw && memcmp(raw + 2 * at, kept, 2 * sizeof *raw) != 0) at++;
    for (int k = 0, walked = 0; k < n_kept; k++) {
        const double *a = kept + 2 * k, *b = k + 1 < n_kept ? a + 2 : kept;
        do {
            if (walked++ >= n_raw) return -1;
            at = at + 1 < n_raw ? at + 1 : 0;
            worst = fmax(worst, sdf__segment_distance2(raw + 2 * at, a, b));
        } while (memcmp(raw + 2 * at, b, 2 * sizeof *raw) != 0);
    }
    return sqrt(worst);
}

/// Douglas-Peucker and how far it moved the outline, pixels.
static core_status outline_simplify(const core_outline *raw, double tolerance, core_outline *simple, double *moved,
                                    core_error *err) {
    core_outline result = {0};
    double worst = 0;
    if (!(tolerance > 0)) {
        *moved = 0;
        return core_outline_copy(raw, simple, err);
    }
    CORE_TRY(sdf__geos_simplify(raw, tolerance, &result, err));
    for (int i = 0; i < raw->count_rings && worst >= 0; i++) {
        int begin = raw->ring_start[i], kept = i < result.count_rings ? result.ring_start[i] : 0;
        double off = i < result.count_rings ? ring_deviation(raw->xy + 2 * begin, raw->ring_start[i + 1] - begin,
                                                             result.xy + 2 * kept, result.ring_start[i + 1] - kept)
                                            : -1;
        worst = off < 0 ? -1 : fmax(worst, off);
    }
    if (worst < 0) {
        core_outline_clear(&result);
        return CORE_FAIL(err, CORE_INTERNAL, "the simplified outline has other points than the one it came from");
    }
    *simple = result;
    *moved = worst;
    return CORE_OK;
}

/// The smallest tolerance that leaves few vertices of an outline of many; infinite if none does.
static core_status many_advise(const core_outline *raw, double size, double *tolerance, core_error *err) {
    const double most = fmax(CONTOUR_MANY_PIXELS, CONTOUR_MANY_SHARE * size);
    for (double t = CONTOUR_MANY_FIRST; t <= most; t += CONTOUR_MANY_STEP) {
        core_outline simple = {0};
        CORE_TRY(sdf__geos_simplify(raw, t, &simple, err));
        int count = core_outline_count(&simple);
        core_outline_clear(&simple);
        if (count > SDF__VERTICES_ADVISED) continue;
        *tolerance = t;
        return CORE_OK;
    }
    *tolerance = INFINITY;
    return CORE_OK;
}

/// Points of the line that lie beyond the centres of the outermost pixels: one for each pixel of the border inside.
static int border_count(const core_outline *raw, const sdf__levels *l) {
    int count = 0;
    for (int i = 0; i < core_outline_count(raw); i++) {
        double x = raw->xy[2 * i], y = raw->xy[2 * i + 1];
        count += x < 0.5 || y < 0.5 || x > l->width - 0.5 || y > l->height - 0.5;
    }
    return count;
}

/// SHAPE unless some pixels are inside and some are not.
static core_status levels_check(const sdf__levels *l, core_error *err) {
    int64_t inside = 0, total = (int64_t)l->width * l->height;
    for (int row = 1; row <= l->height; row++)
        for (int column = 1; column <= l->width; column++) inside += level_at(l, row, column) < 0;
    CORE_CHECK(inside > 0 && inside < total, CORE_SHAPE,
               "%s of the %d x %d pixels is inside; try another --threshold (0 is black, 255 white) or --invert",
               inside ? "every one" : "none", l->width, l->height);
    return CORE_OK;
}

core_status sdf__contour(const sdf__levels *levels, const sdf_read_def *def, core_outline *drawn, sdf_import *record,
                         core_error *err) {
    core_status status = CORE_OK;
    lines found = {0};
    line_areas areas = {0};
    core_outline raw = {0};
    CORE_TRY(levels_check(levels, err));
    CORE_TRY_DONE(lines_find(levels, &found, err));
    CORE_TRY_DONE(areas_find(&found, &areas, err));
    if (areas.count_islands > 1 && !def->largest) {
        status = islands_fail(&found, &areas, err);
        goto done;
    }
    CORE_TRY_DONE(lines_to_outline(&found, &areas, &raw, err));
    bool binary = (double)found.count_halves > CONTOUR_BINARY_SHARE * (double)found.count;
    double tolerance = binary ? CONTOUR_TOLERANCE_BINARY : CONTOUR_TOLERANCE_GREY;
    if (def->simplify >= 0) tolerance = def->simplify;
    CORE_TRY_DONE(outline_simplify(&raw, tolerance, drawn, &record->outline_error, err));
    if (core_outline_count(drawn) > SDF_VERTICES_MANY)
        CORE_TRY_DONE(many_advise(&raw, fmax(levels->width, levels->height), &record->simplify_many, err));
    record->count_border = border_count(&raw, levels);
    record->count_specks = areas.count_specks;
    record->count_islands = areas.count_islands - 1;
done:
    if (status != CORE_OK) core_outline_clear(drawn);
    core_free(found.xy);
    core_free(found.end);
    core_free(areas.area);
    core_outline_clear(&raw);
    return status;
}
