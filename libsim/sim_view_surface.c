// The material of a continuum as an area. Its level set from the particles is that of Zhu & Bridson 2005,
//     phi(x) = |x - mean| - f radius,   mean = sum w_i x_i/sum w_i,   w = (1 - d^2/reach^2)^3,
// with f from the largest eigenvalue of the gradient of the mean, which takes the webs away that concave corners get
// otherwise (Solenthaler, Schlaefli & Pajarola 2007, section 4). Nodes lie a quarter of the particles' spacing apart;
// squares of four nodes are cut along phi = 0 and take the colour of the particle nearest to their middle, so that
// textures go along with the particles.
#include "sim_view_private.h"

#include <math.h>
#include <string.h>

#define NODES_MAX 8000000.0

static const double STEP = .25, REACH = 2.5; // of nodes and of a particle's weight, spacings
static const double RADIUS = .279;           // of a reach: a plane layer of particles then gets its own surface
static const double LOW = .4, HIGH = 3.5;    // eigenvalues between which f falls from 1 to 0 (section 4)
static const double HOLE = 4;                // edge of holes that are closed, spacings
static const double FILLED = 1e-3;           // level of a closed hole, spacings below the surface
static const double ON_PLANE = 1e-6;         // steps: a node on a plane is behind it
static const double LINE_PIXELS = 1.2;       // along the surface

bool sim_view_is_continuum(const core_run_info *info) {
    static const char key[] = "model: continuum";
    const char *at = info->scene_text ? strstr(info->scene_text, key) : NULL;
    return at && (at == info->scene_text || at[-1] == '\n');
}

void sim_view_surface_clear(sim_view_surface *s) {
    core_free(s->phi);
    core_free(s->type);
    *s = (sim_view_surface){0};
}

static bool is_material(const sim_view_state *state, int i) {
    return !state->info->prescribed[i] && sim_view_is_drawn(&state->frame, i);
}

// Box of the material in the region, widened by the reach; false if there is none.
static bool find_box(const sim_view_state *state, const double region[4], double reach, double box[4]) {
    const double *x = state->frame.position;
    for (int k = 0; k < 4; k++) box[k] = k < 2 ? INFINITY : -INFINITY;
    for (int i = 0; i < state->info->count_rows; i++) {
        if (!is_material(state, i)) continue;
        for (int a = 0; a < 2; a++) {
            box[a] = fmin(box[a], x[2 * i + a] - reach);
            box[2 + a] = fmax(box[2 + a], x[2 * i + a] + reach);
        }
    }
    for (int a = 0; a < 2; a++) {
        box[a] = fmax(box[a], region[a] - reach);
        box[2 + a] = fmin(box[2 + a], region[2 + a] + reach);
    }
    return box[0] < box[2] && box[1] < box[3];
}

// Sums over the particles: weight and weighted places at nodes; type of the particle nearest to the middle of squares.
typedef struct sums {
    double *weight, *mean[2];
    float *nearest;
} sums;

static void add_particle(const sim_view_surface *s, const sums *m, const double x[2], int type, double reach) {
    const double at[2] = {(x[0] - s->origin[0]) / s->step, (x[1] - s->origin[1]) / s->step}, span = reach / s->step;
    const int x0 = (int)fmax(0, ceil(at[0] - span)), x1 = (int)fmin(s->nx - 1, floor(at[0] + span));
    const int y0 = (int)fmax(0, ceil(at[1] - span)), y1 = (int)fmin(s->ny - 1, floor(at[1] + span));
    for (int j = y0; j <= y1; j++)
        for (int i = x0; i <= x1; i++) {
            const size_t node = (size_t)j * (size_t)s->nx + (size_t)i;
            const double dx = (i - at[0]) / span, dy = (j - at[1]) / span, rest = 1 - dx * dx - dy * dy;
            const double mx = i + .5 - at[0], my = j + .5 - at[1];
            const float far = (float)(mx * mx + my * my);
            if (far < m->nearest[node]) m->nearest[node] = far, s->type[node] = type;
            if (rest <= 0) continue;
            const double w = rest * rest * rest;
            m->weight[node] += w;
            for (int a = 0; a < 2; a++) m->mean[a][node] += w * x[a];
        }
}

// Largest eigenvalue of the gradient of the mean at node (i, j); 0 where a neighbour has none.
static double eigenvalue_at(const sim_view_surface *s, const sums *m, int i, int j) {
    if (i < 1 || j < 1 || i + 1 >= s->nx || j + 1 >= s->ny) return 0;
    const size_t node = (size_t)j * (size_t)s->nx + (size_t)i, up[2] = {1, (size_t)s->nx};
    double g[2][2];
    for (int b = 0; b < 2; b++) {
        if (!(m->weight[node - up[b]] > 0 && m->weight[node + up[b]] > 0)) return 0;
        for (int a = 0; a < 2; a++) g[a][b] = (m->mean[a][node + up[b]] - m->mean[a][node - up[b]]) / (2 * s->step);
    }
    const double half = .5 * (g[0][0] + g[1][1]), square = half * half - (g[0][0] * g[1][1] - g[0][1] * g[1][0]);
    return half + sqrt(fmax(square, 0));
}

static void level_set(sim_view_surface *s, sums *m, double radius) {
    const size_t n = (size_t)s->nx * (size_t)s->ny;
    for (size_t k = 0; k < n; k++)
        for (int a = 0; a < 2 && m->weight[k] > 0; a++) m->mean[a][k] /= m->weight[k];
    for (int j = 0; j < s->ny; j++)
        for (int i = 0; i < s->nx; i++) {
            const size_t k = (size_t)j * (size_t)s->nx + (size_t)i;
            s->phi[k] = radius;
            if (!(m->weight[k] > 0)) continue;
            const double t = (HIGH - fmax(eigenvalue_at(s, m, i, j), LOW)) / (HIGH - LOW);
            const double f = t >= 1 ? 1 : fmin(fmax(t * t * t - 3 * t * t + 3 * t, 0), 1);
            const double dx = s->origin[0] + i * s->step - m->mean[0][k],
                         dy = s->origin[1] + j * s->step - m->mean[1][k];
            s->phi[k] = fmin(sqrt(dx * dx + dy * dy) - f * radius, radius);
        }
    // the mean of the neighbourhood where it is lower: gaps of the sampling close, nothing gets thinner
    double *fresh = m->weight;
    memcpy(fresh, s->phi, n * sizeof *fresh);
    for (int j = 1; j + 1 < s->ny; j++)
        for (int i = 1; i + 1 < s->nx; i++) {
            const size_t k = (size_t)j * (size_t)s->nx + (size_t)i, up = (size_t)s->nx;
            fresh[k] =
                fmin(s->phi[k], .2 * (s->phi[k] + s->phi[k - 1] + s->phi[k + 1] + s->phi[k - up] + s->phi[k + up]));
        }
    m->weight = s->phi;
    s->phi = fresh;
}

// Material less than a spacing from a plane reaches to it, and none goes beyond: particles stand off a wall by half of
// their distance, and what they have between them and it is no air. before: room for a copy; solid: 1 behind the plane.
static void meet_plane(sim_view_surface *s, const double plane[3], double spacing, double *before, uint8_t *solid) {
    const size_t n = (size_t)s->nx * (size_t)s->ny;
    memcpy(before, s->phi, n * sizeof *before);
    for (int j = 0; j < s->ny; j++)
        for (int i = 0; i < s->nx; i++) {
            const size_t node = (size_t)j * (size_t)s->nx + (size_t)i;
            const double x = s->origin[0] + i * s->step, y = s->origin[1] + j * s->step;
            const double off = plane[0] * x + plane[1] * y - plane[2], in = (spacing - off) / s->step;
            if (off >= spacing) continue;
            const int at[2] = {(int)floor(i + in * plane[0] + .5), (int)floor(j + in * plane[1] + .5)};
            if (at[0] >= 0 && at[1] >= 0 && at[0] < s->nx && at[1] < s->ny)
                s->phi[node] = fmin(s->phi[node], before[(size_t)at[1] * (size_t)s->nx + (size_t)at[0]]);
            s->phi[node] = fmax(s->phi[node], -off);
            if (off <= ON_PLANE * s->step) solid[node] = 1;
        }
}

// Marks the part of the air that node `from` is in as seen, and returns how many nodes of it there are, which list
// holds.
static size_t air_around(const sim_view_surface *s, size_t from, uint8_t *seen, uint32_t *list) {
    size_t length = 0;
    if (seen[from] || s->phi[from] < 0) return 0;
    list[length++] = (uint32_t)from;
    seen[from] = 1;
    for (size_t head = 0; head < length; head++) {
        const int i = (int)(list[head] % (uint32_t)s->nx), j = (int)(list[head] / (uint32_t)s->nx);
        for (int side = 0; side < 4; side++) {
            const int at[2] = {i + (side == 0) - (side == 1), j + (side == 2) - (side == 3)};
            if (at[0] < 0 || at[1] < 0 || at[0] >= s->nx || at[1] >= s->ny) continue;
            const size_t node = (size_t)at[1] * (size_t)s->nx + (size_t)at[0];
            if (seen[node] || s->phi[node] < 0) continue;
            seen[node] = 1;
            list[length++] = (uint32_t)node;
        }
    }
    return length;
}

// Closes holes smaller than four cells of the solver, which counts them as full: where the flow stretches, particles
// lie that far apart. What is joined to the rim of the nodes, a reach outside of the material, is air.
static void close_holes(sim_view_surface *s, double spacing, uint8_t *seen, uint32_t *list) {
    const int nx = s->nx, ny = s->ny;
    const double most = HOLE * HOLE * spacing * spacing / (s->step * s->step);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i += j == 0 || j == ny - 1 ? 1 : nx - 1)
            air_around(s, (size_t)j * (size_t)nx + (size_t)i, seen, list);
    for (size_t k = 0; k < (size_t)nx * (size_t)ny; k++) {
        const size_t length = air_around(s, k, seen, list);
        for (size_t m = 0; m < length && (double)length < most; m++) s->phi[list[m]] = -FILLED * spacing;
    }
}

// Walls and holes of a level set; before: room for a copy of it.
static core_status mend(sim_view_surface *s, const sim_view_state *state, double spacing, double *before,
                        core_error *err) {
    core_status status = CORE_OK;
    const size_t n = (size_t)s->nx * (size_t)s->ny;
    uint8_t *seen = NULL;
    uint32_t *list = NULL;
    CORE_NEW_DONE(seen, n);
    CORE_NEW_DONE(list, n);
    for (int k = 0; k < state->info->count_planes; k++)
        if (state->frame.plane_present[k]) meet_plane(s, state->frame.plane + 3 * k, spacing, before, seen);
    close_holes(s, spacing, seen, list);
done:
    core_free(seen);
    core_free(list);
    return status;
}

core_status sim_view_surface_create(const sim_view_state *state, const double region[4], double pixel,
                                    sim_view_surface *surface, core_error *err) {
    core_status status = CORE_OK;
    sim_view_surface s = {0};
    sums m = {0};
    double box[4], spacing = 0;
    for (int i = 0; i < state->info->count_rows && !(spacing > 0); i++)
        if (is_material(state, i)) spacing = sqrt(2) * state->info->types[state->info->species[i]].radius;
    s.step = fmax(STEP * spacing, pixel);
    if (!find_box(state, region, REACH * fmax(spacing, s.step), box)) goto done; // nothing to see
    s.step = fmax(s.step, sqrt((box[2] - box[0]) * (box[3] - box[1]) / NODES_MAX));
    const double reach = REACH * fmax(spacing, s.step);
    s.origin[0] = box[0], s.origin[1] = box[1];
    s.nx = (int)((box[2] - box[0]) / s.step) + 2;
    s.ny = (int)((box[3] - box[1]) / s.step) + 2;
    const size_t n = (size_t)s.nx * (size_t)s.ny;
    CORE_NEW_DONE(s.phi, n);
    CORE_NEW_DONE(s.type, n);
    CORE_NEW_DONE(m.weight, n);
    CORE_NEW_DONE(m.nearest, n);
    for (int a = 0; a < 2; a++) CORE_NEW_DONE(m.mean[a], n);
    for (size_t k = 0; k < n; k++) m.nearest[k] = INFINITY, s.type[k] = -1;
    for (int i = 0; i < state->info->count_rows; i++)
        if (is_material(state, i)) add_particle(&s, &m, state->frame.position + 2 * i, state->info->species[i], reach);
    level_set(&s, &m, RADIUS * reach);
    CORE_TRY_DONE(mend(&s, state, fmax(spacing, s.step), m.weight, err));
    *surface = s;
    s = (sim_view_surface){0};
done:
    sim_view_surface_clear(&s);
    core_free(m.weight);
    core_free(m.nearest);
    for (int a = 0; a < 2; a++) core_free(m.mean[a]);
    return status;
}

// ---------------------------------------------------------------------------------------------- drawing

// Part of a square with phi < 0, in pixels, and which of its corners lie on the surface.
typedef struct piece {
    int count;
    double xy[8][2];
    bool cut[8];
} piece;

static piece piece_of(const sim_view_surface *s, const sim_view_frame *f, int i, int j) {
    static const int DX[4] = {0, 1, 1, 0}, DY[4] = {0, 0, 1, 1};
    piece p = {0};
    double phi[4], at[4][2];
    for (int k = 0; k < 4; k++) {
        phi[k] = s->phi[(size_t)(j + DY[k]) * (size_t)s->nx + (size_t)(i + DX[k])];
        at[k][0] = f->x + (s->origin[0] + (i + DX[k]) * s->step - f->region[0]) * f->scale;
        at[k][1] = f->y + f->height - (s->origin[1] + (j + DY[k]) * s->step - f->region[1]) * f->scale;
    }
    for (int k = 0; k < 4; k++) {
        const int next = (k + 1) % 4;
        if (phi[k] < 0) {
            for (int a = 0; a < 2; a++) p.xy[p.count][a] = at[k][a];
            p.count++;
        }
        if ((phi[k] < 0) == (phi[next] < 0)) continue;
        const double t = phi[k] / (phi[k] - phi[next]);
        for (int a = 0; a < 2; a++) p.xy[p.count][a] = at[k][a] + t * (at[next][a] - at[k][a]);
        p.cut[p.count++] = true;
    }
    return p;
}

static bool is_whole(const sim_view_surface *s, int i, int j) {
    const double *low = s->phi + (size_t)j * (size_t)s->nx + (size_t)i, *high = low + s->nx;
    return low[0] < 0 && low[1] < 0 && high[0] < 0 && high[1] < 0;
}

// Adds the squares of a type (-1: of all) to the mask; whole squares side by side as one.
static void mask_type(sim_canvas *canvas, const sim_view_surface *s, const sim_view_frame *f, int type) {
    for (int j = 0; j + 1 < s->ny; j++)
        for (int i = 0; i + 1 < s->nx; i++) {
            const int32_t *row = s->type + (size_t)j * (size_t)s->nx;
            if (row[i] < 0 || (type >= 0 && row[i] != type)) continue;
            piece p = piece_of(s, f, i, j);
            if (is_whole(s, i, j)) {
                int end = i + 1;
                while (end + 1 < s->nx && is_whole(s, end, j) && (type < 0 ? row[end] >= 0 : row[end] == type)) end++;
                p.xy[1][0] = p.xy[2][0] = p.xy[0][0] + (end - i) * s->step * f->scale;
                i = end - 1;
            }
            for (int k = 0; k < p.count; k++) {
                const double *a = p.xy[k], *b = p.xy[(k + 1) % p.count];
                sim_mask_edge(canvas, a[0], a[1], b[0], b[1]);
            }
        }
}

static void stroke_surface(sim_canvas *canvas, const sim_view_surface *s, const sim_view_frame *f) {
    for (int j = 0; j + 1 < s->ny; j++)
        for (int i = 0; i + 1 < s->nx; i++) {
            const piece p = piece_of(s, f, i, j);
            for (int k = 0; k < p.count; k++) {
                const int next = (k + 1) % p.count;
                if (p.cut[k] && p.cut[next])
                    sim_mask_stroke(canvas, p.xy[k][0], p.xy[k][1], p.xy[next][0], p.xy[next][1], LINE_PIXELS);
            }
        }
}

void sim_view_surface_draw(sim_canvas *canvas, const sim_view_surface *s, const core_run_info *info,
                           const sim_view_frame *f) {
    const double box[4] = {f->x, f->y, f->x + f->width, f->y + f->height};
    if (s->nx < 2) return;
    // all of it first, so that nothing shines through between two colours
    for (int type = -1; type < info->count_types; type++) {
        bool any = type < 0;
        for (size_t k = 0; k < (size_t)s->nx * (size_t)s->ny && !any; k++) any = s->type[k] == type;
        if (!any || !sim_mask_begin(canvas, box[0], box[1], box[2], box[3])) continue;
        mask_type(canvas, s, f, type);
        sim_mask_resolve(canvas);
        sim_mask_paint(canvas, sim_colour_of_type(type < 0 ? 0 : type), 1.0);
    }
    if (!sim_mask_begin(canvas, box[0], box[1], box[2], box[3])) return;
    stroke_surface(canvas, s, f);
    sim_mask_paint(canvas, sim_colour_mix(sim_colour_of_type(0), (sim_rgb){0, 0, 0}, .6), 1.0);
}
