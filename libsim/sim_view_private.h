/// Inside of the drawing code (sim_view_*.c): coverage masks, text, palettes, one panel. Not for users.
/// Pixel coordinates: x to the right, y down, pixel (i, j) covers [i, i+1] x [j, j+1].
#ifndef SIM_VIEW_PRIVATE_H
#define SIM_VIEW_PRIVATE_H

#include "core_buffer.h"
#include "sim_view.h"

/// sRGB colour, 0 .. 255 per channel.
typedef struct sim_rgb {
    float r, g, b;
} sim_rgb;

/// The player's page (sim_view_page.html) with a zero behind it; its data goes where @DATA@ stands.
extern const unsigned char sim__view_page[];

/// An SVG picture that is being written: what the masks below would cover becomes paths.
typedef struct sim_svg {
    core_buffer out, shapes; // the file; elements of the mask that is being made
    double at[2];            // end of the last edge or stroke
    double stroke;           // width of the open path's stroke, 0: filled, negative: no path is open
    double hatch[2];         // spacing and width, 0: not hatched
    int count_clips;
    bool clipped; // a group with a clip is open
} sim_svg;

/// A picture with one coverage mask. Drawing allocates nothing after sim_canvas_create, but for SVG.
typedef struct sim_canvas {
    sim_image *image; // borrowed; for SVG without pixels
    sim_svg *svg;     // borrowed; NULL: pixels
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

/// What the functions above do on an SVG canvas.
void sim_svg_begin(sim_svg *svg, int width, int height);
void sim_svg_end(sim_svg *svg);
void sim_svg_clip(sim_svg *svg, const int clip[4], bool whole);
void sim_svg_line(sim_svg *svg, double x0, double y0, double x1, double y1, double stroke);
void sim_svg_paint(sim_svg *svg, sim_rgb colour, double alpha);
void sim_svg_rectangle(sim_svg *svg, double x0, double y0, double x1, double y1, sim_rgb colour);
/// Outlines of the types for the panel that is open, in canonical units with y up; line_width: of a grain of a radius
/// in pixels.
void sim_svg_define(sim_svg *svg, const core_run_info *info, double scale,
                    double (*line_width)(double radius_pixels, double *alpha));
/// A defined outline: centre, canonical x axis times radius (ux, -uy in world terms as in draw_grain).
void sim_svg_use(sim_svg *svg, int type, const double centre[2], const double axis[2], sim_rgb fill, sim_rgb edge,
                 double alpha);

/// Width of UTF-8 text in pixels; size: height of a capital letter in pixels.
double sim_text_width(const char *text, double size);
/// Draws text with its left end at x and its base line at y. bold: relative stroke width, 1 is normal.
void sim_text_draw(sim_canvas *canvas, const char *text, double x, double y, double size, double bold, sim_rgb colour);

/// Base colour of a type, colour-blind-safe (repeats after 8).
sim_rgb sim_colour_of_type(int type);
/// The type's colour with a tint chosen by the grain's id.
sim_rgb sim_colour_of_grain(int type, int id);
/// Boundaries, and grains that are some.
sim_rgb sim_colour_of_boundary(void);
/// The contact network.
sim_rgb sim_colour_of_forces(void);
/// Sequential scale, s in [0, 1], lightness grows evenly.
sim_rgb sim_colour_sequential(double s);
/// Cyclic scale, s in [0, 1), s = 0 and 1 alike.
sim_rgb sim_colour_cyclic(double s);
sim_rgb sim_colour_mix(sim_rgb a, sim_rgb b, double part_of_b);

/// One frame of a run with what drawing derives from it. `{0}` is "nothing".
typedef struct sim_view_state {
    const core_run_info *info; // borrowed
    core_run_frame frame;      // its contacts are those below
    core_run_contact *contacts;
    double *force; // (count_rows) largest normal force on the grain, N per metre of depth; NULL: not asked for
} sim_view_state;
/// Room for frames of a run; forces: with contact rows. MEMORY, UNSUPPORTED.
core_status sim_view_state_create(core_run_reader *run, bool forces, sim_view_state *state, core_error *err);
core_status sim_view_state_read(core_run_reader *run, int64_t frame, sim_view_state *state, core_error *err);
void sim_view_state_clear(sim_view_state *state);
/// Normal force of a contact, N per metre of depth.
double sim_view_normal_force(const core_run_contact *c);
/// Contact point, and the centres of A and B nearest to it (for a boundary A the point itself), world.
void sim_view_contact_points(const sim_view_state *state, const core_run_contact *c, double point[2], double a[2],
                             double b[2]);

/// World to pixels of one panel: x_px = x0 + (x - region x0) * scale, y downwards from the panel's top.
typedef struct sim_view_frame {
    double x, y, width, height; // of the panel, pixels
    double scale;               // pixels per metre
    double region[4];           // exactly what the panel shows, m
    bool border;                // a thin frame, for regions that cut through grains
} sim_view_frame;
/// The material of a continuum in a frame as an area: nodes of a grid. `{0}` is "nothing".
typedef struct sim_view_surface {
    int nx, ny;       // nodes
    double origin[2]; // of node 0, m
    double step;      // m
    double *phi;      // (ny x nx) distance from the material at nodes, m, at most a particle's radius
    int32_t *type; // (ny x nx) type of the particle nearest to the middle of the square above and right of a node; -1
} sim_view_surface;
/// Level set of the particles of a state in a region; pixel: the finest step, m. Without particles there: {0}. MEMORY.
/// Cost: some hundred operations a particle.
core_status sim_view_surface_create(const sim_view_state *state, const double region[4], double pixel,
                                    sim_view_surface *surface, core_error *err);
void sim_view_surface_clear(sim_view_surface *surface);
/// Fills the area with the colours of the types and draws a line along its surface.
void sim_view_surface_draw(sim_canvas *canvas, const sim_view_surface *surface, const core_run_info *info,
                           const sim_view_frame *frame);

/// Planes, walls, grains and the contact network of a state into a panel. surface: drawn in place of the particles of
/// a continuum; NULL: particles are drawn as grains.
void sim_view_panel_draw(sim_canvas *canvas, const sim_view_state *state, const sim_view_surface *surface,
                         const sim_view_frame *frame, const sim_view_def *def);
/// Width of a network line in pixels: proportional to the force, so that the largest force of the scale is as wide as
/// a mean grain's radius.
double sim_view_force_width(const core_run_info *info, double scale, double force, double force_max);

/// A whole picture, sizes in pixels.
typedef struct sim_view_layout {
    int width, height, margin, gap;
    double text; // height of a capital
    int columns, rows;
    int title, caption, footer; // heights: of the strip above all panels, above each panel, and below all
    int panel_width, panel_height;
    double scale;     // pixels per metre
    double region[4]; // shown by every panel
    bool border;      // of panels that show a given region
} sim_view_layout;
/// Scale bar and legends below the panels.
void sim_view_footer_draw(sim_canvas *canvas, const sim_view_layout *l, const core_run_info *info,
                          const sim_view_def *def);
/// Text at (x, base line y), made smaller until it fits into `room` pixels; left out if that is illegible. align: 0
/// left, 1 right. Returns its width.
double sim_view_fitted_text(sim_canvas *canvas, const char *text, double x, double y, double size, double bold,
                            double room, double align);

/// Colour of a type in legends: that of boundaries for a type that is nothing else.
sim_rgb sim_view_type_colour(const core_run_info *info, int type);
/// Checks panels and definition. ARG, RANGE.
core_status sim_view_check(int count, const sim_view_panel *panels, const sim_view_def *def, core_error *err);
/// As many decimals of a time in s as tell the run's frames apart.
int sim_view_time_decimals(const core_run_info *info);

/// True for a row with a grain in it whose pose is finite.
bool sim_view_is_drawn(const core_run_frame *state, int i);

#endif
