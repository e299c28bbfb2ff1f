/// Levels of pixels to an outline: marching squares over the pixel centres with the crossings interpolated linearly, so
/// that an anti-aliased edge is found to a small part of a pixel. Every closed line is followed once with the inside on
/// its left: outer lines come out counter-clockwise, holes clockwise. Pixels that touch at a corner alone are joined if
/// the mean of the four around is inside; a mean of exactly zero is outside. Douglas-Peucker takes out what is below
/// the accuracy of the line. In an anti-aliased image that is about a tenth of a pixel; the line of a black-and-white
/// image is a staircase of half-pixel steps, and a tolerance below the cut of a corner (0.35) takes out some stairs and
/// no corner.
#include "sdf_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Tolerances of the simplification, pixels (a disc of radius 50: off by 0.12 pixels, its hole of 20 by 0.16, 99
/// points; black-and-white 0.5 and 192).
#define CONTOUR_TOLERANCE_GREY 0.12
#define CONTOUR_TOLERANCE_BINARY 0.3
/// An image is black-and-white if this share of the crossings is half-way between two pixels.
#define CONTOUR_BINARY_SHARE 0.9
/// Islands whose areas a message lists.
#define CONTOUR_LISTED 6

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

static sdf__level pixel_at(const sdf__levels *l, int row, int column) {
    return l->pixels[(size_t)row * (size_t)(l->width + 2) + (size_t)column];
}

static int level_at(const sdf__levels *l, int row, int column) {
    return pixel_at(l, row, column).level;
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
    sdf__level first = pixel_at(l, row, column), second = pixel_at(l, row + !along_x, column + along_x);
    // An edge of transparency lies where the transparency says, whatever the colour it ends.
    bool by_clear = (first.clear < 0) != (second.clear < 0);
    double a = by_clear ? first.clear : first.level, b = by_clear ? second.clear : second.level;
    double t = a / (a - b);
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

/// SHAPE: lists the islands, largest first.
static core_status islands_fail(const lines *in, size_t count, core_error *err) {
    double largest[CONTOUR_LISTED] = {0};
    for (size_t i = 0; i < in->count_rings; i++) {
        double area = ring_area(in, i);
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
    return CORE_FAIL(err, CORE_SHAPE, "%zu separate islands (areas %s%s pixels), expected one connected region", count,
                     areas, count > CONTOUR_LISTED ? ", ..." : "");
}

/// One outer line and its holes as an outline, the outer one first.
static core_status lines_to_outline(const lines *in, core_outline *o, core_error *err) {
    core_status status = CORE_OK;
    core_outline result = {0};
    int *counts = NULL, next = 1;
    size_t outer = 0, count_outer = 0;
    for (size_t i = 0; i < in->count_rings; i++) {
        if (ring_area(in, i) <= 0) continue;
        outer = i;
        count_outer++;
    }
    if (count_outer != 1) return islands_fail(in, count_outer, err);
    CORE_NEW_DONE(counts, in->count_rings);
    for (size_t i = 0; i < in->count_rings; i++)
        counts[i == outer ? 0 : next++] = (int)(in->end[i] - ring_begin(in, i));
    CORE_TRY_DONE(core_outline_create((int)in->count_rings, counts, &result, err));
    next = 1;
    for (size_t i = 0; i < in->count_rings; i++) {
        int ring = i == outer ? 0 : next++;
        memcpy(result.xy + 2 * result.ring_start[ring], in->xy + 2 * ring_begin(in, i),
               (size_t)counts[ring] * 2 * sizeof *result.xy);
    }
    *o = result;
    result = (core_outline){0};
done:
    core_outline_clear(&result);
    core_free(counts);
    return status;
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

core_status sdf__contour(const sdf__levels *levels, core_outline *drawn, core_error *err) {
    core_status status = CORE_OK;
    lines found = {0};
    core_outline raw = {0};
    CORE_TRY(levels_check(levels, err));
    CORE_TRY_DONE(lines_find(levels, &found, err));
    CORE_TRY_DONE(lines_to_outline(&found, &raw, err));
    bool binary = (double)found.count_halves > CONTOUR_BINARY_SHARE * (double)found.count;
    double tolerance = binary ? CONTOUR_TOLERANCE_BINARY : CONTOUR_TOLERANCE_GREY;
    CORE_TRY_DONE(sdf__geos_simplify(&raw, tolerance, drawn, err));
done:
    core_free(found.xy);
    core_free(found.end);
    core_outline_clear(&raw);
    return status;
}
