/// Inside of the drawing code (sim_view_*.c): coverage masks, text, palettes, one panel. Not for users.
/// Pixel coordinates: x to the right, y down, pixel (i, j) covers [i, i+1] x [j, j+1].
#ifndef SIM_VIEW_PRIVATE_H
#define SIM_VIEW_PRIVATE_H

#include "sim_view.h"

/// sRGB colour, 0 .. 255 per channel.
typedef struct sim_rgb {
    float r, g, b;
} sim_rgb;

/// A picture with one coverage mask. Drawing allocates nothing after sim_canvas_create.
typedef struct sim_canvas {
    sim_image *image; // borrowed
    int clip[4];      // x0, y0, x1, y1 in pixels: nothing is drawn outside
    int box[4];       // pixels of the current mask
    float *mask;      // (box height x (box width + 1)) row-major; room for the whole picture
} sim_canvas;

/// Clip: the whole picture. MEMORY.
core_status sim_canvas_create(sim_image *image, sim_canvas *canvas, core_error *err);
void sim_canvas_clear(sim_canvas *canvas);
/// Limits drawing to pixels [x0, x1) x [y0, y1) of the picture.
void sim_canvas_clip(sim_canvas *canvas, int x0, int y0, int x1, int y1);

/// Starts an empty mask over the bounds (pixels); false if nothing of it is inside the clip (then skip the rest).
bool sim_mask_begin(sim_canvas *canvas, double x0, double y0, double x1, double y1);
/// Adds an edge of a closed ring: signed exact area to the right of it. All edges of all rings, then sim_mask_resolve.
void sim_mask_edge(sim_canvas *canvas, double x0, double y0, double x1, double y1);
/// Edge sums to coverage: |winding| cut at 1, so holes must run against their outer ring, and rings of one sense unite.
void sim_mask_resolve(sim_canvas *canvas);
/// A line of the given width (>= 1 pixel) with round ends; the mask keeps the larger coverage.
void sim_mask_stroke(sim_canvas *canvas, double x0, double y0, double x1, double y1, double width);
/// Cuts the mask to diagonal stripes.
void sim_mask_hatch(sim_canvas *canvas, double spacing, double width);
/// Blends the colour through the mask. alpha in [0, 1].
void sim_mask_paint(sim_canvas *canvas, sim_rgb colour, double alpha);

/// Filled axis-parallel rectangle, anti-aliased.
void sim_draw_rectangle(sim_canvas *canvas, double x0, double y0, double x1, double y1, sim_rgb colour);

/// Width of UTF-8 text in pixels; size: height of a capital letter in pixels.
double sim_text_width(const char *text, double size);
/// Draws text with its left end at x and its base line at y. bold: relative stroke width, 1 is normal.
void sim_text_draw(sim_canvas *canvas, const char *text, double x, double y, double size, double bold, sim_rgb colour);

/// Base colour of a type, colour-blind-safe (repeats after 8).
sim_rgb sim_colour_of_type(int type);
/// The type's colour with a tint chosen by the grain's id.
sim_rgb sim_colour_of_grain(int type, int id);
/// Sequential scale, s in [0, 1], lightness grows evenly.
sim_rgb sim_colour_sequential(double s);
/// Cyclic scale, s in [0, 1), s = 0 and 1 alike.
sim_rgb sim_colour_cyclic(double s);
sim_rgb sim_colour_mix(sim_rgb a, sim_rgb b, double part_of_b);

/// World to pixels of one panel: x_px = x0 + (x - region x0) * scale, y downwards from the panel's top.
typedef struct sim_view_frame {
    double x, y, width, height; // of the panel, pixels
    double scale;               // pixels per metre
    double region[4];           // exactly what the panel shows, m
    bool border;                // a thin frame, for regions that cut through grains
} sim_view_frame;
/// Planes and grains of a state into a panel.
void sim_view_panel_draw(sim_canvas *canvas, const core_run_info *info, const core_run_frame *state,
                         const sim_view_frame *frame, const sim_view_def *def);

/// True for a row with a grain in it whose pose is finite.
bool sim_view_is_drawn(const core_run_frame *state, int i);

#endif
