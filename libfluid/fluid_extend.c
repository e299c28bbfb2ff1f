/// Velocities beyond the material: layer by layer, each unknown face takes the mean of its known neighbours; then faces
/// inside solids lose the part of the velocity that is normal to the solid. A constant or, along walls, linear field is
/// continued as it is.
#include "fluid_private.h"

#include <math.h>

enum { UNKNOWN = 0, KNOWN = 1, QUEUED = 2 };

int fluid__layers(const fluid_world *w) {
    return 3 + (int)ceil(w->def.cfl);
}

typedef struct extend_job {
    fluid_world *w;
    int axis;
    bool by_mass;
} extend_job;

// Faces that the material touches; what is loose keeps a velocity of its own.
static void find_known(void *arg, int64_t row, int worker) {
    (void)worker;
    const extend_job *job = arg;
    const fluid_world *w = job->w;
    const int base = fluid__wide_base(w, row), s = w->grid.stride[job->axis];
    uint8_t *known = w->known[job->axis];
    for (int i = w->lo[0] - 1; i < w->hi[0] + 1; ++i) {
        const int c = base + i;
        known[c] = UNKNOWN;
        if (c < s || w->area[job->axis][c] <= 0) continue;
        const bool touches = w->cell[c] == FLUID_CELL_FULL || w->cell[c - s] == FLUID_CELL_FULL;
        const bool loose = w->loose[c] || w->loose[c - s], heavy = w->mass[job->axis][c] > FLUID_WEIGHT_MIN;
        if (touches ? !job->by_mass || heavy : loose && heavy) known[c] = KNOWN;
    }
}

// Index of a face's neighbour, wrapped; -1 outside the box and its rim.
static int next_face(const fluid_world *w, int c, int axis, int way) {
    const fluid_grid *g = &w->grid;
    const int next = c + way * g->stride[axis];
    const int at[3] = {next % g->stride[1], next / g->stride[1] % g->cells[1], next / g->stride[2]};
    if (next < 0 || next >= g->count) return -1;
    for (int a = g->periodic ? 1 : 0; a < g->dim; ++a)
        if (at[a] < w->lo[a] - 1 || at[a] > w->hi[a]) return -1;
    if (!g->periodic || axis > 0) return next;
    return at[0] == 0 ? next + g->cells[0] - 2 : at[0] == g->cells[0] - 1 ? next - (g->cells[0] - 2) : next;
}

// Queues the unknown neighbours of face c; returns the length of the list.
static int queue_around(fluid_world *w, int axis, int c, int length) {
    for (int a = 0; a < w->grid.dim; ++a)
        for (int way = -1; way < 2; way += 2) {
            const int next = next_face(w, c, a, way);
            if (next < 0 || w->known[axis][next] != UNKNOWN) continue;
            w->known[axis][next] = QUEUED;
            w->list[length++] = next;
        }
    return length;
}

static double mean_around(const fluid_world *w, int axis, int c) {
    double sum = 0;
    int n = 0;
    for (int a = 0; a < w->grid.dim; ++a)
        for (int way = -1; way < 2; way += 2) {
            const int next = next_face(w, c, a, way);
            if (next < 0 || w->known[axis][next] != KNOWN) continue;
            sum += w->u[axis][next];
            ++n;
        }
    return n > 0 ? sum / n : 0;
}

// Known faces with an unknown neighbour along the grid; cheap to see for most.
static bool is_at_rim(const uint8_t *known, const fluid_grid *g, int c) {
    bool rim = false;
    for (int a = 0; a < g->dim; ++a)
        rim = rim || (c >= g->stride[a] && known[c - g->stride[a]] == UNKNOWN) ||
              (c + g->stride[a] < g->count && known[c + g->stride[a]] == UNKNOWN);
    return rim;
}

static void extend_component(fluid_world *w, int axis) {
    int from = 0, to = 0;
    for (int64_t r = 0; r < fluid__row_count(w); ++r) {
        const int base = fluid__row_base(w, r);
        for (int c = base + w->lo[0]; c < base + w->hi[0]; ++c)
            if (w->known[axis][c] == KNOWN && is_at_rim(w->known[axis], &w->grid, c)) to = queue_around(w, axis, c, to);
    }
    const int layers = fluid__layers(w);
    for (int layer = 0; layer < layers && from < to; ++layer) {
        const int end = to;
        for (int i = from; i < end; ++i) w->u[axis][w->list[i]] = mean_around(w, axis, w->list[i]);
        for (int i = from; i < end; ++i) w->known[axis][w->list[i]] = KNOWN;
        if (layer + 1 < layers)
            for (int i = from; i < end; ++i) to = queue_around(w, axis, w->list[i], to);
        from = end;
    }
}

// Velocity at the middle of face c of component axis: the other components are means of the four faces around.
static void velocity_at_face(const fluid_world *w, int axis, int c, double v[3]) {
    const fluid_grid *g = &w->grid;
    for (int b = 0; b < g->dim; ++b) {
        const int back = c >= g->stride[axis] ? c - g->stride[axis] : c, up = g->stride[b];
        const double *u = w->u[b];
        v[b] = b == axis ? u[c]
                         : .25 * (u[c] + u[back] + (c + up < g->count ? u[c + up] : u[c]) +
                                  (back + up < g->count ? u[back + up] : u[back]));
    }
}

static bool is_in_box(const fluid_world *w, int c) {
    const fluid_grid *g = &w->grid;
    const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
    for (int a = 0; a < g->dim; ++a)
        if (at[a] < w->lo[a] - 1 || at[a] > w->hi[a]) return false;
    return true;
}

// Takes the velocity normal to a solid, against its own, off its closed faces; all are judged by what they were before.
static void constrain(fluid_world *w) {
    const fluid_grid *g = &w->grid;
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < w->count_wall_faces; ++i) {
            const int c = w->wall_face[i] / 4, axis = w->wall_face[i] % 4;
            if (!is_in_box(w, c)) continue;
            if (pass == 1) {
                w->u[axis][c] = w->star[axis][c];
                continue;
            }
            const int at[3] = {c % g->stride[1], c / g->stride[1] % g->cells[1], c / g->stride[2]};
            double x[3] = {0, 0, 0}, n[3] = {0, 0, 0}, v[3] = {0, 0, 0}, square = 0, along = 0;
            for (int a = 0; a < g->dim; ++a) x[a] = g->origin[a] + (at[a] - (a == axis ? 1 : .5)) * g->h;
            int solid = -1;
            if (w->moves)
                solid = fluid__nearest_solid(w, x, n);
            else
                fluid__node_sample(g, w->phi_solid, x, n);
            velocity_at_face(w, axis, c, v);
            for (int a = 0; a < g->dim && w->moves; ++a) v[a] -= fluid__solid_speed(w, solid, a, x);
            for (int a = 0; a < g->dim; ++a) square += n[a] * n[a], along += n[a] * v[a];
            w->star[axis][c] = square > 1e-12 ? v[axis] - along / square * n[axis] : 0;
            if (w->moves) w->star[axis][c] += fluid__solid_speed(w, solid, axis, x);
        }
}

void fluid__extend(fluid_world *w, bool by_mass) {
    for (int a = 0; a < w->grid.dim; ++a) {
        extend_job job = {w, a, by_mass};
        core_thread_for(w->threads, fluid__wide_count(w), find_known, &job);
        fluid__wrap_bytes(w, w->known[a]);
        fluid__wrap(w, w->u[a]);
        extend_component(w, a);
        fluid__wrap(w, w->u[a]);
    }
    constrain(w);
    for (int a = 0; a < w->grid.dim; ++a) fluid__wrap(w, w->u[a]);
}
