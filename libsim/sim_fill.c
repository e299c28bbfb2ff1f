/// Fill: grains on a lattice of cells a little wider than their bounding circles, each circle jittered inside its own
/// cell, row by row from below. Circles in different cells cannot overlap, whatever the jitter; cells that another
/// grain's circle, a boundary or a body reaches into are left out.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim_private.h"

#define PITCH 2.05              // least size of a cell in circumradii
#define CLEARANCE (1 + 1e-9)    // of the radius: rounding may not make circles touch
#define CELLS_WIDE_MAX 10000000 // cells of one row
// Besides CELLS_PER_GRAIN: a region that grains can hardly enter is given up in a second.
#define CELLS_TRIED_MAX 10000000.0
#define CELLS_PER_GRAIN 20.0
#define STREAM 0x66696c6c00000000u // random streams of fill entries, apart from all others

/// The lattice of one fill entry.
typedef struct lattice {
    const sim_scene *scene;
    const sim_walls *walls; // the scene's boundaries
    double x0, y0;          // m, lower left corner
    double width, height;   // m, of a cell
    double radius;          // m, with clearance
    int64_t columns;
    double rows; // whole number; a double because a region may be very high
} lattice;

/// An already placed circle, for the sweep over rows.
typedef struct circle {
    double x, y, r;
} circle;

static int compare_bottom(const void *a, const void *b) {
    const circle *p = a, *q = b;
    double u = p->y - p->r, v = q->y - q->r;
    if (u != v) return u < v ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->r > q->r) - (p->r < q->r);
}

/// Cells of a row that an occupied circle reaches into.
static void block_cells(const lattice *l, double y_row, const circle *c, uint8_t *blocked) {
    double low = y_row - c->y, high = c->y - (y_row + l->height), gap = fmax(0, fmax(low, high));
    if (gap >= c->r) return;
    double reach = sqrt(c->r * c->r - gap * gap);
    double first = floor((c->x - reach - l->x0) / l->width), last = floor((c->x + reach - l->x0) / l->width);
    for (double i = fmax(0, first); i <= fmin((double)(l->columns - 1), last); i++) blocked[(int64_t)i] = 1;
}

/// True if the circle reaches into no boundary and no body, by exact geometry.
static bool is_free(const lattice *l, const double x[2]) {
    if (!sim_walls_allow(l->walls, l->scene->period, x, l->radius)) return false;
    for (int b = 0; b < l->scene->count_bodies; b++) {
        const sim_body_def *body = &l->scene->bodies[b];
        const sim_type_def *type = &l->scene->types[body->type];
        if (!sim_body_allows(&type->shape.outline, type->radius, body->position, body->angle, l->scene->period, x,
                             l->radius))
            return false;
    }
    return true;
}

/// The random numbers of one lattice site: they depend on the site, not on what other sites do.
static void site_pose(const lattice *l, core_random *random, int64_t column, double row, double pose[3]) {
    double free_x = fmax(0, 0.5 * l->width - l->radius), free_y = fmax(0, 0.5 * l->height - l->radius);
    double u = 2 * core_random_uniform(random) - 1, v = 2 * core_random_uniform(random) - 1;
    pose[0] = l->x0 + ((double)column + 0.5) * l->width + u * free_x;
    pose[1] = l->y0 + (row + 0.5) * l->height + v * free_y;
    pose[2] = CORE_PI * (2 * core_random_uniform(random) - 1);
}

/// Fills rows [0, rows) until `count` circles are placed; poses may be NULL (count only). *top: upper edge of the last
/// row used. active, blocked: scratch of m circles and one row.
static int fill_rows(const lattice *l, double rows, uint64_t stream, const circle *occupied, int m, int count,
                     circle *active, uint8_t *blocked, double *poses, double *top) {
    core_random random;
    core_random_init(&random, l->scene->seed, stream);
    int placed = 0, next = 0, n_active = 0;
    rows = fmin(rows, (CELLS_TRIED_MAX + CELLS_PER_GRAIN * count) / (double)l->columns);
    for (double row = 0; row < rows && placed < count; row++) {
        double y_row = l->y0 + row * l->height;
        for (int64_t i = 0; i < l->columns; i++) blocked[i] = 0;
        while (next < m && occupied[next].y - occupied[next].r < y_row + l->height)
            active[n_active++] = occupied[next++];
        int kept = 0;
        for (int i = 0; i < n_active; i++) {
            if (active[i].y + active[i].r <= y_row) continue; // the sweep has passed it
            block_cells(l, y_row, &active[i], blocked);
            active[kept++] = active[i];
        }
        n_active = kept;
        for (int64_t i = 0; i < l->columns && placed < count; i++) {
            double pose[3];
            site_pose(l, &random, i, row, pose);
            if (blocked[i] || !is_free(l, pose)) continue;
            for (int k = 0; poses && k < 3; k++) poses[3 * (size_t)placed + (size_t)k] = pose[k];
            placed++;
            *top = y_row + l->height;
        }
    }
    return placed;
}

/// The type of a mixture that needs the most room.
static const sim_type_def *largest_type(const sim_scene *scene, const sim_mix *mix) {
    const sim_type_def *largest = &scene->types[mix->types[0]];
    for (int i = 1; i < mix->count; i++) {
        const sim_type_def *type = &scene->types[mix->types[i]];
        if (type->radius > largest->radius) largest = type;
    }
    return largest;
}

/// Cells of the region. RANGE: no circle fits, or too many cells.
static core_status make_lattice(const sim_scene *scene, const sim_walls *walls, int i_fill, lattice *l,
                                core_error *err) {
    const sim_fill_def *fill = &scene->fill[i_fill];
    const sim_type_def *type = largest_type(scene, &fill->mix);
    const double *box = fill->region;
    double w = box[2] - box[0], h = box[3] - box[1], r = type->radius * CLEARANCE, pitch = PITCH * type->radius;
    CORE_CHECK(w >= 2 * r && h >= 2 * r, CORE_RANGE,
               "fill[%d]: the region is %g m x %g m; a grain of type %s needs %g m in both", i_fill, w, h, type->name,
               2 * r);
    double columns = fmax(1, floor(w / pitch)), rows = fmax(1, floor(h / pitch));
    CORE_CHECK(columns <= CELLS_WIDE_MAX, CORE_RANGE, "fill[%d]: the region is %g grains wide; expected at most %d",
               i_fill, columns, CELLS_WIDE_MAX);
    *l = (lattice){.scene = scene,
                   .walls = walls,
                   .x0 = box[0],
                   .y0 = box[1],
                   .width = w / columns,
                   .height = fmin(h, pitch),
                   .radius = r,
                   .columns = (int64_t)columns,
                   .rows = rows};
    return CORE_OK;
}

core_status sim_fill_place(const sim_scene *scene, int i_fill, const double *occupied, int m, double *poses,
                           core_error *err) {
    CORE_CHECK(scene && poses && (occupied || m == 0), CORE_ARG, "sim_fill_place: null argument");
    CORE_CHECK(i_fill >= 0 && i_fill < scene->count_fill && m >= 0, CORE_ARG,
               "sim_fill_place: entry %d of %d, %d circles", i_fill, scene->count_fill, m);
    core_status status = CORE_OK;
    lattice l = {0};
    sim_walls walls = {0};
    circle *sorted = NULL, *active = NULL;
    uint8_t *blocked = NULL;
    double *fresh = NULL, top = 0;
    const sim_fill_def *fill = &scene->fill[i_fill];
    const uint64_t stream = STREAM + (uint64_t)i_fill;
    CORE_TRY_DONE(sim_walls_create(scene->count_boundaries, scene->boundaries, 0, &walls, err));
    CORE_TRY_DONE(make_lattice(scene, &walls, i_fill, &l, err));
    CORE_NEW_DONE(sorted, (size_t)m);
    CORE_NEW_DONE(active, (size_t)m);
    CORE_NEW_DONE(blocked, (size_t)l.columns);
    CORE_NEW_DONE(fresh, 3 * (size_t)fill->count);
    for (int i = 0; i < m; i++) {
        const double *c = &occupied[3 * (size_t)i];
        CORE_CHECK_DONE(isfinite(c[0]) && isfinite(c[1]) && c[2] >= 0 && isfinite(c[2]), CORE_NONFINITE,
                        "sim_fill_place: occupied circle %d is (%g, %g, %g)", i, c[0], c[1], c[2]);
        sorted[i] = (circle){c[0], c[1], c[2] * CLEARANCE};
    }
    qsort(sorted, (size_t)m, sizeof *sorted, compare_bottom);
    int placed = fill_rows(&l, l.rows, stream, sorted, m, fill->count, active, blocked, fresh, &top);
    if (placed == fill->count) {
        for (size_t i = 0; i < 3 * (size_t)fill->count; i++) poses[i] = fresh[i];
        goto done;
    }
    // How high the region would have to be: the same rows, carried on.
    int possible = fill_rows(&l, HUGE_VAL, stream, sorted, m, fill->count, active, blocked, NULL, &top);
    char remedy[160];
    if (possible == fill->count) {
        snprintf(remedy, sizeof remedy, "a region %.6g m high (y1 = %.6g) would do", top - l.y0, top);
    } else {
        snprintf(remedy, sizeof remedy, "no height would do: boundaries or other grains are in the way");
    }
    status = CORE_FAIL(err, CORE_RANGE, "fill[%d]: %d of %d grains of type %s fit into the region [%g, %g, %g, %g]; %s",
                       i_fill, placed, fill->count, largest_type(scene, &fill->mix)->name, fill->region[0],
                       fill->region[1], fill->region[2], fill->region[3], remedy);
done:
    sim_walls_clear(&walls);
    core_free(sorted);
    core_free(active);
    core_free(blocked);
    core_free(fresh);
    return status;
}
