// One panel: planes, walls, grains and contact network of a state, in metres, onto a canvas.
#include "sim_view_private.h"

#include <math.h>

#define BAND_PIXELS 10.0    // depth of a plane's hatching
#define LINE_PIXELS 1.8     // a plane's line
#define HATCH_SPACING 5.0   // pixels
#define HATCH_WIDTH 0.9     // pixels
#define CLIP_CORNERS_MAX 64 // of the panel cut by planes
#define FLOOR_COSINE 0.5    // a plane within 60 degrees of level is a floor
#define CIRCLE_EDGES 256
#define CIRCLE_TICKS 24
#define TICK_PART 0.012       // of a circle's radius
#define PALE 0.72             // of white in the grains under a contact network
#define FORCE_WIDTH 1.0       // of a line at the top of the force scale, mean circumradii
#define FORCE_PIXELS_MIN 0.06 // thinner lines are left out

static const sim_rgb border_colour = {150, 154, 162}, white = {255, 255, 255}, black = {0, 0, 0};

// World point to pixels.
static void to_pixels(const sim_view_frame *f, const double world[2], double pixel[2]) {
    pixel[0] = f->x + (world[0] - f->region[0]) * f->scale;
    pixel[1] = f->y + f->height - (world[1] - f->region[1]) * f->scale;
}

// Keeps the part n.x >= c of a convex polygon (Sutherland and Hodgman); returns the new number of corners.
static int cut_polygon(double (*corners)[2], int count, const double n[2], double c) {
    double kept[CLIP_CORNERS_MAX][2];
    int count_kept = 0;
    for (int i = 0; i < count; i++) {
        const double *a = corners[i], *b = corners[(i + 1) % count];
        double ha = n[0] * a[0] + n[1] * a[1] - c, hb = n[0] * b[0] + n[1] * b[1] - c;
        if (ha >= 0 && count_kept < CLIP_CORNERS_MAX) {
            kept[count_kept][0] = a[0], kept[count_kept][1] = a[1];
            count_kept++;
        }
        if ((ha >= 0) != (hb >= 0) && count_kept < CLIP_CORNERS_MAX) {
            double t = ha / (ha - hb);
            kept[count_kept][0] = a[0] + t * (b[0] - a[0]), kept[count_kept][1] = a[1] + t * (b[1] - a[1]);
            count_kept++;
        }
    }
    for (int i = 0; i < count_kept; i++) corners[i][0] = kept[i][0], corners[i][1] = kept[i][1];
    return count_kept;
}

// True for a plane that carries: its normal points against gravity. Without gravity every plane is treated so.
static bool is_floor(const core_run_info *info, int i) {
    const double *n = info->planes[i].normal, *g = info->gravity;
    double size = sqrt(g[0] * g[0] + g[1] * g[1]);
    return !(size > 0) || -(n[0] * g[0] + n[1] * g[1]) >= FLOOR_COSINE * size;
}

// Strip of plane `index` from `depth` below its surface up to it (m), inside the panel and cut off at the floors (a
// wall ends where it meets a floor, floors end where they meet). Returns the corners.
static int plane_strip(const core_run_info *info, const core_run_frame *state, const sim_view_frame *f, int index,
                       double depth, double (*corners)[2]) {
    const double *plane = state->plane + 3 * index; // normal, offset
    const double *r = f->region, away[2] = {-plane[0], -plane[1]};
    const double panel[4][2] = {{r[0], r[1]}, {r[2], r[1]}, {r[2], r[3]}, {r[0], r[3]}};
    for (int i = 0; i < 4; i++) corners[i][0] = panel[i][0], corners[i][1] = panel[i][1];
    int count = cut_polygon(corners, 4, plane, plane[2] - depth);
    count = cut_polygon(corners, count, away, -plane[2]);
    for (int j = 0; j < info->count_planes && count > 0; j++) {
        if (j == index || !state->plane_present[j] || !is_floor(info, j)) continue;
        double slack = is_floor(info, index) ? depth : 0.0;
        count = cut_polygon(corners, count, state->plane + 3 * j, state->plane[3 * j + 2] - slack);
    }
    return count;
}

// All planes' strips as one mask; false if there is nothing.
static bool mask_strips(sim_canvas *canvas, const core_run_info *info, const core_run_frame *state,
                        const sim_view_frame *f, double depth) {
    double corners[CLIP_CORNERS_MAX][2];
    if (!sim_mask_begin(canvas, f->x, f->y, f->x + f->width, f->y + f->height)) return false;
    bool any = false;
    for (int i = 0; i < info->count_planes; i++) {
        if (!state->plane_present[i]) continue;
        int count = plane_strip(info, state, f, i, depth, corners);
        for (int k = 0; k < count; k++) {
            double a[2], b[2];
            to_pixels(f, corners[k], a);
            to_pixels(f, corners[(k + 1) % count], b);
            sim_mask_edge(canvas, a[0], a[1], b[0], b[1]);
        }
        any = any || count > 0;
    }
    sim_mask_resolve(canvas);
    return any;
}

static void draw_planes(sim_canvas *canvas, const core_run_info *info, const core_run_frame *state,
                        const sim_view_frame *f) {
    if (mask_strips(canvas, info, state, f, BAND_PIXELS / f->scale)) {
        sim_mask_hatch(canvas, HATCH_SPACING, HATCH_WIDTH);
        sim_mask_paint(canvas, sim_colour_of_boundary(), 0.75);
    }
    if (mask_strips(canvas, info, state, f, LINE_PIXELS / f->scale))
        sim_mask_paint(canvas, sim_colour_of_boundary(), 1.0);
}

// Point of a wall's own frame to pixels.
static void wall_point(const sim_view_frame *f, const double pose[3], double x, double y, double pixel[2]) {
    const double c = cos(pose[2]), s = sin(pose[2]);
    const double world[2] = {pose[0] + c * x - s * y, pose[1] + s * x + c * y};
    to_pixels(f, world, pixel);
}

// Ring of a circle. Ticks outside of it show how it turns; one of them is longer.
static void stroke_circle(sim_canvas *canvas, const sim_view_frame *f, const double pose[3], double radius) {
    double a[2], b[2];
    wall_point(f, pose, radius, 0, a);
    for (int k = 1; k <= CIRCLE_EDGES; k++) {
        const double turn = 2 * CORE_PI * k / CIRCLE_EDGES;
        wall_point(f, pose, radius * cos(turn), radius * sin(turn), b);
        sim_mask_stroke(canvas, a[0], a[1], b[0], b[1], LINE_PIXELS);
        a[0] = b[0], a[1] = b[1];
    }
    for (int k = 0; k < CIRCLE_TICKS; k++) {
        const double turn = 2 * CORE_PI * k / CIRCLE_TICKS, end = radius * (1 + (k ? 1 : 2) * TICK_PART);
        wall_point(f, pose, radius * cos(turn), radius * sin(turn), a);
        wall_point(f, pose, end * cos(turn), end * sin(turn), b);
        sim_mask_stroke(canvas, a[0], a[1], b[0], b[1], LINE_PIXELS);
    }
}

// Circles as rings of strokes, polylines as thick as they are.
static void draw_walls(sim_canvas *canvas, const core_run_info *info, const core_run_frame *state,
                       const sim_view_frame *f) {
    if (!sim_mask_begin(canvas, f->x, f->y, f->x + f->width, f->y + f->height)) return;
    for (int i = 0; i < info->count_walls; i++) {
        const core_run_wall *wall = &info->walls[i];
        const double *pose = state->wall_pose + 3 * i, *p = wall->points;
        if (!state->wall_present[i]) continue;
        if (wall->is_circle) stroke_circle(canvas, f, pose, wall->radius);
        for (int k = 1; k < wall->count_points; k++) {
            double a[2], b[2];
            wall_point(f, pose, p[2 * k - 2], p[2 * k - 1], a);
            wall_point(f, pose, p[2 * k], p[2 * k + 1], b);
            sim_mask_stroke(canvas, a[0], a[1], b[0], b[1], fmax(LINE_PIXELS, wall->thickness * f->scale));
        }
    }
    sim_mask_paint(canvas, sim_colour_of_boundary(), 1.0);
}

static void draw_border(sim_canvas *canvas, const sim_view_frame *f) {
    double right = f->x + f->width, bottom = f->y + f->height;
    sim_draw_rectangle(canvas, f->x, f->y, right, f->y + 1, border_colour);
    sim_draw_rectangle(canvas, f->x, bottom - 1, right, bottom, border_colour);
    sim_draw_rectangle(canvas, f->x, f->y, f->x + 1, bottom, border_colour);
    sim_draw_rectangle(canvas, right - 1, f->y, right, bottom, border_colour);
}

static sim_rgb grain_colour(const sim_view_state *state, const sim_view_def *def, int i) {
    const core_run_info *info = state->info;
    const core_run_frame *f = &state->frame;
    sim_rgb colour;
    if (info->prescribed[i]) return sim_colour_of_boundary();
    switch (def->colour) {
    case SIM_VIEW_SPEED:
        colour = sim_colour_sequential(
            sqrt(f->velocity[2 * i] * f->velocity[2 * i] + f->velocity[2 * i + 1] * f->velocity[2 * i + 1]) /
            def->speed_max);
        break;
    case SIM_VIEW_ROTATION:
        colour = sim_colour_cyclic(f->orientation[i] / (2 * CORE_PI) + 0.5);
        break;
    case SIM_VIEW_FORCE:
        colour = sim_colour_sequential(state->force[i] / def->force_max);
        break;
    default:
        colour = sim_colour_of_grain(info->species[i], f->id[i]);
    }
    return def->forces ? sim_colour_mix(colour, white, PALE) : colour;
}

// Outline of a grain in pixels, point `k` of the type's outline.
typedef struct posed_outline {
    const core_outline *outline;
    double x, y, ux, uy; // centre; canonical x axis times radius, all in pixels with y down
} posed_outline;

static void outline_point(const posed_outline *p, int k, double pixel[2]) {
    const double *v = p->outline->xy + 2 * k;
    pixel[0] = p->x + p->ux * v[0] + p->uy * v[1];
    pixel[1] = p->y + p->uy * v[0] - p->ux * v[1];
}

// Calls edge(canvas, a, b) along every ring.
static void trace_outline(sim_canvas *canvas, const posed_outline *p, double stroke_width) {
    for (int ring = 0; ring < p->outline->count_rings; ring++) {
        int first = p->outline->ring_start[ring], end = p->outline->ring_start[ring + 1];
        double a[2], b[2];
        outline_point(p, end - 1, a);
        for (int k = first; k < end; k++) {
            outline_point(p, k, b);
            if (stroke_width > 0)
                sim_mask_stroke(canvas, a[0], a[1], b[0], b[1], stroke_width);
            else
                sim_mask_edge(canvas, a[0], a[1], b[0], b[1]);
            a[0] = b[0], a[1] = b[1];
        }
    }
}

// Width of an outline's line and how strongly it shows: it fades where grains are a few pixels only, so that piles do
// not turn black.
static double outline_width(double radius_pixels, double *alpha) {
    *alpha = fmin(1.0, fmax(0.0, (radius_pixels - 2.5) / 20.0));
    return fmin(fmax(0.045 * radius_pixels, 1.0), 3.0);
}

static void draw_grain(sim_canvas *canvas, const sim_view_state *state, const sim_view_frame *f,
                       const sim_view_def *def, int i) {
    const core_run_type *type = &state->info->types[state->info->species[i]];
    const double turn = state->frame.orientation[i];
    double radius = type->radius * f->scale, centre[2], alpha, width = outline_width(radius, &alpha);
    to_pixels(f, state->frame.position + 2 * i, centre);
    double reach = radius + 2;
    if (!sim_mask_begin(canvas, centre[0] - reach, centre[1] - reach, centre[0] + reach, centre[1] + reach)) return;
    // y is down in pixels: the rotated axis (cos, sin) is (cos, -sin) there, and uy below is what x takes from
    // canonical y.
    posed_outline p = {&type->outline, centre[0], centre[1], radius * cos(turn), -radius * sin(turn)};
    sim_rgb colour = grain_colour(state, def, i), edge = sim_colour_mix(colour, black, def->forces ? 0.25 : 0.55);
    if (canvas->svg) {
        sim_svg_use(canvas->svg, state->info->species[i], centre, (double[]){p.ux, p.uy}, colour, edge, alpha);
        return;
    }
    trace_outline(canvas, &p, 0.0);
    sim_mask_resolve(canvas);
    sim_mask_paint(canvas, colour, 1.0);
    if (alpha <= 0) return;
    sim_mask_begin(canvas, centre[0] - reach, centre[1] - reach, centre[0] + reach, centre[1] + reach);
    trace_outline(canvas, &p, width);
    sim_mask_paint(canvas, edge, alpha);
}

// The force of each contact as a line from centre to contact point to centre. A boundary has no centre.
static void draw_forces(sim_canvas *canvas, const sim_view_state *state, const sim_view_frame *f,
                        const sim_view_def *def) {
    for (int64_t i = 0; i < state->frame.count_contacts; i++) {
        const core_run_contact *c = &state->contacts[i];
        double points[3][2], pixels[3][2], box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
        double width = sim_view_force_width(state->info, f->scale, sim_view_normal_force(c), def->force_max);
        if (width < FORCE_PIXELS_MIN) continue;
        sim_view_contact_points(state, c, points[1], points[0], points[2]);
        for (int k = 0; k < 3; k++) {
            to_pixels(f, points[k], pixels[k]);
            box[0] = fmin(box[0], pixels[k][0]), box[1] = fmin(box[1], pixels[k][1]);
            box[2] = fmax(box[2], pixels[k][0]), box[3] = fmax(box[3], pixels[k][1]);
        }
        double line = fmax(width, 1.0), reach = line + 1; // thinner lines than a pixel become light
        if (!sim_mask_begin(canvas, box[0] - reach, box[1] - reach, box[2] + reach, box[3] + reach)) continue;
        for (int k = c->bodies[0] < 0 ? 1 : 0; k < 2; k++)
            sim_mask_stroke(canvas, pixels[k][0], pixels[k][1], pixels[k + 1][0], pixels[k + 1][1], line);
        sim_mask_paint(canvas, sim_colour_of_forces(), fmin(width, 1.0));
    }
}

bool sim_view_is_drawn(const core_run_frame *state, int i) {
    return state->id[i] >= 0 && isfinite(state->position[2 * i]) && isfinite(state->position[2 * i + 1]) &&
           isfinite(state->orientation[i]);
}

double sim_view_force_width(const core_run_info *info, double scale, double force, double force_max) {
    double radius = 0;
    for (int i = 0; i < info->count_types; i++) radius += info->types[i].radius / info->count_types;
    return FORCE_WIDTH * radius * scale * fmin(fmax(force / force_max, 0.0), 2.0);
}

void sim_view_panel_draw(sim_canvas *canvas, const sim_view_state *state, const sim_view_surface *surface,
                         const sim_view_frame *frame, const sim_view_def *def) {
    const core_run_info *info = state->info;
    sim_canvas_clip(canvas, (int)floor(frame->x), (int)floor(frame->y), (int)ceil(frame->x + frame->width),
                    (int)ceil(frame->y + frame->height));
    if (canvas->svg) sim_svg_define(canvas->svg, info, frame->scale, outline_width);
    draw_planes(canvas, info, &state->frame, frame);
    if (info->count_walls > 0) draw_walls(canvas, info, &state->frame, frame);
    if (surface) sim_view_surface_draw(canvas, surface, info, frame);
    for (int i = 0; i < info->count_rows; i++)
        if (sim_view_is_drawn(&state->frame, i) && (!surface || info->prescribed[i]))
            draw_grain(canvas, state, frame, def, i);
    if (def->forces) draw_forces(canvas, state, frame, def);
    if (frame->border) draw_border(canvas, frame);
    sim_canvas_clip(canvas, 0, 0, canvas->image->width, canvas->image->height);
}
