/// Solids: signed distances, their node field, the open part of faces, the wall inside a cell.
#include "fluid_private.h"

#include <math.h>
#include <string.h>

static const double ON_WALL = 1e-6; // of a cell: a node this near to a solid's surface lies on it
static const double OPEN_MIN = .02; // of a face: less is closed
static const double WALL_REACH = 2; // cells into a solid in which particles may feel its faces
static const double SLOPE = .01;    // of a cell: over which a solid's normal is taken
static const double ALIGNED = .999; // of a component of the normal: the wall lies along the grid

// ---------------------------------------------------------------------------------------------- distances

static double length_of(int dim, const double *x) {
    double sum = 0;
    for (int a = 0; a < dim; ++a) sum += x[a] * x[a];
    return sqrt(sum);
}

static double box_distance(const fluid_solid *s, int dim, const double *x) {
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < dim; ++a) {
        const double d = fabs(x[a] - s->centre[a]) - s->half[a];
        if (d > 0) outside += d * d;
        inside = fmax(inside, d);
    }
    return outside > 0 ? sqrt(outside) : inside;
}

static double bar_distance(const fluid_solid *s, int dim, const double *x) {
    double along = 0, length2 = 0, d[3] = {0, 0, 0};
    for (int a = 0; a < dim; ++a) {
        const double e = s->end[a] - s->centre[a];
        along += (x[a] - s->centre[a]) * e;
        length2 += e * e;
    }
    const double t = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    for (int a = 0; a < dim; ++a) d[a] = x[a] - s->centre[a] - t * (s->end[a] - s->centre[a]);
    return length_of(dim, d) - s->radius;
}

static double shape_distance(const fluid_solid *s, const double *x) {
    double sine, cosine;
    core_sincos(s->angle, &sine, &cosine);
    const double dx = (x[0] - s->centre[0]) / s->radius, dy = (x[1] - s->centre[1]) / s->radius;
    const double p[2] = {cosine * dx + sine * dy, cosine * dy - sine * dx};
    return s->radius * sdf_grid_distance(s->shape, p, NULL);
}

double fluid_solid_distance(const fluid_solid *solid, int dim, const double *x) {
    double d[3] = {0, 0, 0}, sum = 0;
    for (int a = 0; a < dim; ++a) {
        d[a] = x[a] - solid->centre[a];
        sum += d[a] * solid->normal[a];
    }
    switch (solid->kind) {
    case FLUID_SOLID_PLANE:
        return sum;
    case FLUID_SOLID_BOX:
        return box_distance(solid, dim, x);
    case FLUID_SOLID_BALL:
        return length_of(dim, d) - solid->radius;
    case FLUID_SOLID_BOWL:
        return solid->radius - length_of(dim, d);
    case FLUID_SOLID_BAR:
        return bar_distance(solid, dim, x);
    case FLUID_SOLID_SHAPE:
        return shape_distance(solid, x);
    }
    return INFINITY;
}

// Distance from the walls around the region at a node, from whole numbers, so that it is 0 on them.
static double region_distance(const fluid_grid *g, const int at[3]) {
    int cells = INT32_MAX;
    for (int a = g->periodic ? 1 : 0; a < g->dim; ++a) {
        const int below = at[a] - 1, above = g->cells[a] - 1 - at[a];
        if (below < cells) cells = below;
        if (above < cells) cells = above;
    }
    return cells == INT32_MAX ? INFINITY : cells * g->h;
}

// Distance from the nearest solid at x, which lies `walls` from the walls around; *nearest: its index, -1 for a wall.
static double solids_distance(const fluid_world *w, const double *x, double walls, int *nearest) {
    double d = walls;
    *nearest = -1;
    for (int i = 0; i < w->count_solids; ++i) {
        if (!w->solids[i].present) continue;
        const double one = fluid_solid_distance(&w->solids[i], w->grid.dim, x);
        if (one < d) d = one, *nearest = i;
    }
    return d;
}

int fluid__nearest_solid(const fluid_world *w, const double *x, double *n) {
    const fluid_grid *g = &w->grid;
    double walls = INFINITY;
    int nearest;
    for (int a = 0; a < g->dim; ++a) n[a] = 0;
    for (int a = g->periodic ? 1 : 0; a < g->dim; ++a)
        for (int side = 0; side < 2; ++side) {
            const double d = side ? g->origin[a] + (g->cells[a] - 2) * g->h - x[a] : x[a] - g->origin[a];
            if (d >= walls) continue;
            walls = d;
            for (int b = 0; b < g->dim; ++b) n[b] = b == a ? 1 - 2 * side : 0;
        }
    solids_distance(w, x, walls, &nearest);
    for (int a = 0; a < g->dim && nearest >= 0; ++a) {
        double p[3] = {x[0], x[1], g->dim == 3 ? x[2] : 0}, d[2];
        for (int side = 0; side < 2; ++side) {
            p[a] = x[a] + (side - .5) * SLOPE * g->h;
            d[side] = fluid_solid_distance(&w->solids[nearest], g->dim, p);
        }
        n[a] = (d[1] - d[0]) / (SLOPE * g->h);
    }
    return nearest;
}

// ---------------------------------------------------------------------------------------------- nodes and faces

static void update_nodes(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const fluid_grid *g = &w->grid;
    int at[3] = {0, (int)(row % g->cells[1]), (int)(row / g->cells[1])};
    for (int c = (int)row * g->cells[0]; at[0] < g->cells[0]; ++at[0], ++c) {
        double x[3] = {0, 0, 0}, middle[3] = {0, 0, 0};
        int nearest;
        for (int a = 0; a < g->dim; ++a) {
            x[a] = g->origin[a] + (at[a] - 1) * g->h;
            middle[a] = x[a] + .5 * g->h;
        }
        const double d = solids_distance(w, x, region_distance(g, at), &nearest);
        w->phi_solid[c] = fabs(d) < ON_WALL * g->h ? 0 : fmin(d, g->h * g->count);
        // friction of the solid that the middle of the cell is nearest to; the walls' share of it is taken at the node
        solids_distance(w, middle, region_distance(g, at) + .5 * g->h, &nearest);
        w->friction[c] = nearest < 0 ? w->def.wall_friction : w->solids[nearest].friction;
        for (int axis = 0; axis < g->dim && w->moves; ++axis) {
            double face[3] = {middle[0], middle[1], middle[2]};
            face[axis] = x[axis];
            solids_distance(w, face, region_distance(g, at) + .5 * g->h, &nearest);
            w->nearest[axis][c] = nearest;
        }
    }
}

// Open part of the segment between two nodes.
static double open_segment(double p, double q) {
    if (p <= 0 && q <= 0) return 0;
    if (p >= 0 && q >= 0) return 1;
    return p > 0 ? p / (p - q) : q / (q - p);
}

// Open part of a triangle with a linear distance.
static double open_triangle(double p, double q, double r) {
    const int open = (p > 0) + (q > 0) + (r > 0);
    if (open == 0) return 0;
    if (p >= 0 && q >= 0 && r >= 0) return 1;
    // the corner that is alone on its side goes first
    double one = p, two = q, three = r;
    const bool alone_open = open == 1;
    if ((q > 0) == alone_open && (p > 0) != alone_open && (r > 0) != alone_open) one = q, two = p;
    if ((r > 0) == alone_open && (p > 0) != alone_open && (q > 0) != alone_open) one = r, three = p;
    const double tip = one / (one - two) * (one / (one - three));
    return alone_open ? tip : 1 - tip;
}

// Open part of the lower face of cell c along an axis.
static double open_face(const fluid_world *w, int c, int axis) {
    const fluid_grid *g = &w->grid;
    const double *phi = w->phi_solid;
    double part;
    if (g->dim == 2) {
        part = open_segment(phi[c], phi[c + g->stride[1 - axis]]);
    } else {
        const int b = g->stride[axis == 0 ? 1 : 0], d = g->stride[axis == 2 ? 1 : 2];
        const double corner[4] = {phi[c], phi[c + b], phi[c + b + d], phi[c + d]};
        const double middle = .25 * (corner[0] + corner[1] + corner[2] + corner[3]);
        part = 0;
        for (int k = 0; k < 4; ++k) part += .25 * open_triangle(middle, corner[k], corner[(k + 1) % 4]);
    }
    return part < OPEN_MIN ? 0 : part;
}

static void wrap_all(const fluid_world *w, double *field) {
    if (!w->grid.periodic) return;
    const int n = w->grid.cells[0] - 2;
    for (int64_t r = 0; r < (int64_t)w->grid.cells[1] * w->grid.cells[2]; ++r) {
        double *row = field + (size_t)r * (size_t)w->grid.cells[0];
        row[0] = row[n];
        row[n + 1] = row[1];
    }
}

static void wrap_nearest(const fluid_world *w) {
    const int n = w->grid.cells[0] - 2;
    for (int a = 0; a < w->grid.dim && w->moves && w->grid.periodic; ++a)
        for (int64_t r = 0; r < (int64_t)w->grid.cells[1] * w->grid.cells[2]; ++r) {
            int32_t *row = w->nearest[a] + (size_t)r * (size_t)w->grid.cells[0];
            row[0] = row[n];
            row[n + 1] = row[1];
        }
}

static void update_faces(void *arg, int64_t row, int worker) {
    (void)worker;
    fluid_world *w = arg;
    const fluid_grid *g = &w->grid;
    const int j = (int)(row % g->cells[1]), k = (int)(row / g->cells[1]);
    for (int i = 0; i < g->cells[0]; ++i) {
        const int at[3] = {i, j, k}, c = (int)row * g->cells[0] + i;
        for (int axis = 0; axis < g->dim; ++axis) {
            bool inside = true; // the face's nodes are all on the grid
            for (int b = 0; b < g->dim; ++b) inside = inside && (b == axis || at[b] + 1 < g->cells[b]);
            w->area[axis][c] = inside ? open_face(w, c, axis) : 0;
        }
    }
}

// Kinds of cells inside the border, from the open parts of their faces.
static void update_cells(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    w->cuts = false;
    memset(w->open, 0, (size_t)g->count);
    memset(w->cut, 0, (size_t)g->count);
    const int hi[3] = {g->cells[0] - 1, g->cells[1] - 1, g->dim == 3 ? g->cells[2] - 1 : 1};
    for (int k = g->dim == 3 ? 1 : 0; k < hi[2]; ++k)
        for (int j = 1; j < hi[1]; ++j)
            for (int i = 1; i < hi[0]; ++i) {
                const int c = i + j * g->stride[1] + k * g->stride[2];
                double sum = 0;
                for (int a = 0; a < g->dim; ++a)
                    for (int side = 0; side < 2; ++side) {
                        const double part = w->area[a][c + side * g->stride[a]];
                        sum += part;
                        w->cuts = w->cuts || (part > 0 && part < 1);
                    }
                w->open[c] = sum > 0;
                w->cut[c] = sum > 0 && sum < 2 * g->dim;
            }
    // a look after a step still sees the material
    for (int c = 0; c < g->count; ++c)
        if (!w->open[c] || w->cell[c] != FLUID_CELL_FULL) w->cell[c] = w->open[c] ? FLUID_CELL_AIR : FLUID_CELL_SOLID;
}

// Closed faces less than WALL_REACH cells inside a solid, in the order of the grid.
static void list_wall_faces(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    int n = 0;
    for (int c = 0; c < g->count; ++c)
        for (int a = 0; a < g->dim; ++a) {
            int end = c;
            for (int b = 0; b < g->dim; ++b) end += b == a ? 0 : g->stride[b];
            if (w->area[a][c] > 0 || end >= g->count) continue;
            if (.5 * (w->phi_solid[c] + w->phi_solid[end]) < -WALL_REACH * g->h) continue;
            w->wall_face[n++] = 4 * c + a;
        }
    w->count_wall_faces = n;
}

// The wall in each cell: the open faces and the wall close it, so the wall's area vector is minus the sum of theirs.
static void update_walls(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    for (int c = 0; c < g->count; ++c) {
        double n[3] = {0, 0, 0}, sum = 0;
        w->wall_part[c] = 0;
        w->slanted[c] = 0;
        if (!w->cut[c]) continue;
        for (int a = 0; a < g->dim; ++a) {
            n[a] = w->area[a][c] - w->area[a][c + g->stride[a]];
            sum += n[a] * n[a];
        }
        if (!(sum > 1e-6)) continue; // between two walls
        w->wall_part[c] = sqrt(sum);
        for (int a = 0; a < g->dim; ++a) {
            w->wall_normal[a][c] = n[a] / w->wall_part[c];
            const bool closed = w->area[a][c] <= 0 || w->area[a][c + g->stride[a]] <= 0;
            if (closed && fabs(w->wall_normal[a][c]) < ALIGNED) w->slanted[c] = 1;
        }
    }
}

void fluid__solid_update(fluid_world *w) {
    const int64_t rows = (int64_t)w->grid.cells[1] * w->grid.cells[2];
    core_thread_for(w->threads, rows, update_nodes, w);
    wrap_all(w, w->phi_solid);
    wrap_all(w, w->friction);
    wrap_nearest(w);
    core_thread_for(w->threads, rows, update_faces, w);
    for (int a = 0; a < w->grid.dim; ++a) wrap_all(w, w->area[a]);
    update_cells(w);
    update_walls(w);
    wrap_all(w, w->wall_part);
    for (int a = 0; a < w->grid.dim; ++a) wrap_all(w, w->wall_normal[a]);
    list_wall_faces(w);
}
