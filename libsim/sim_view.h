/// Drawing: poses and outlines in, pixels out. No solver types: every run file with outlines is drawn by the same code.
#ifndef SIM_VIEW_H
#define SIM_VIEW_H

#include "core.h"
#include "core_run.h"

#define SIM_VIEW_WIDTH_MIN 64
#define SIM_VIEW_WIDTH_MAX 8192
#define SIM_VIEW_PANELS_MAX 64

/// 8-bit RGB picture, rows from the top. `{0}` is "nothing".
typedef struct sim_image {
    int width, height;
    uint8_t *rgb; // (height x width x 3)
} sim_image;
/// White picture. ARG: null pointer; RANGE: a side outside 1 .. 32768; MEMORY.
core_status sim_image_create(int width, int height, sim_image *image, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void sim_image_clear(sim_image *image);
/// PNG under a temporary name, renamed. Deterministic bytes. ARG, MEMORY, IO.
core_status sim_image_write_png(const char *path, const sim_image *image, core_error *err);

/// What a grain's colour tells.
/// SHAPE: hue by grain type (colour-blind-safe), tint by grain id so that neighbours can be told apart.
/// SPEED: |v| on a scale of even steps in lightness, 0 .. speed_max. ROTATION: angle on a cyclic scale, -180 .. 180
/// degrees. FORCE: the largest normal force of the grain's contacts, 0 .. force_max; of runs with contact rows.
typedef enum sim_view_colour { SIM_VIEW_SHAPE, SIM_VIEW_SPEED, SIM_VIEW_ROTATION, SIM_VIEW_FORCE } sim_view_colour;

/// How a picture is drawn. Start from sim_view_default_def.
typedef struct sim_view_def {
    int cookie;
    int width;        // pixels, 64 .. 8192, default 1280
    int height;       // 0: from the region's aspect, even, at most 1.5 x width; else 64 .. 8192
    double region[4]; // x0, y0, x1, y1 in m, drawn exactly, with a thin frame; all 0: everything in the frames drawn,
                      // as with widen
    bool widen;       // a given region may be widened to fill its panel, without a frame (for regions of sim_view_fit)
    sim_view_colour colour;
    double speed_max; // colour scale of SPEED, m/s; 0: sim_view_speed_scale over the frames drawn
    bool forces; // contact network: each touching contact a line from centre to contact point to centre, as wide as
                 // its normal force is large; grains are drawn pale. Of runs with contact rows
    double force_max; // scale of FORCE and of the network, N per metre of depth; 0: sim_view_force_scale
    bool legend;      // scale bar, time, title, colour legend; without them the picture is the panels alone
} sim_view_def;
/// The defaults named above.
sim_view_def sim_view_default_def(void);

/// True for runs of scenes with `model: continuum`: rows are particles without contacts.
bool sim_view_is_continuum(const core_run_info *info);

/// One drawing of a picture with several.
typedef struct sim_view_panel {
    core_run_reader *run; // borrowed
    int64_t frame;
    const char *caption; // UTF-8 text above the panel, before the time; NULL: the time alone
} sim_view_panel;

/// Region that holds the whole scene in frames first..last of a run in steps of `every`: all grains (with outlines),
/// circles and polylines that are there, and the surfaces of planes that are not farther from these than their larger
/// side; with a margin of one circumradius and 2 % of the larger side.
/// @return ARG; RANGE: no such frame, or no grain and no circle or polyline in any of them; FORMAT, IO, MEMORY. Cost:
/// reads those frames.
core_status sim_view_fit(core_run_reader *run, int64_t first, int64_t last, int64_t every, double region[4],
                         core_error *err);
/// A round speed (1, 2 or 5 times a power of ten, m/s) that 99 % of the grains stay below in each of those frames (at
/// most 64 of them, evenly spread, are read); 1 if nothing moves.
core_status sim_view_speed_scale(core_run_reader *run, int64_t first, int64_t last, int64_t every, double *speed,
                                 core_error *err);
/// A round normal force (1, 2 or 5 times a power of ten, N per metre of depth) that 99 % of the touching contacts stay
/// below in each of those frames (at most 64 of them, evenly spread, are read); 1 if nothing touches.
/// UNSUPPORTED: the run has no contact rows.
core_status sim_view_force_scale(core_run_reader *run, int64_t first, int64_t last, int64_t every, double *force,
                                 core_error *err);
/// One frame, or several (of one run or of several) in one picture, all with the same region and scale, each with its
/// time: under each other unless the region is so tall that side by side shows it larger. Title, scale bar and colour
/// legend once. Anti-aliased; the image is created.
/// @param count [in] 1 .. SIM_VIEW_PANELS_MAX
/// Legend and title come from the first panel's run (the title only if all panels are of that run). ARG; RANGE (no such
/// frame, size, region); UNSUPPORTED where forces are asked of a run without contact rows; MEMORY. Cost: 11,000 grains
/// of 28 edges at 1280 pixels: about 0.1 s. Deterministic.
core_status sim_view_draw_panels(int count, const sim_view_panel *panels, const sim_view_def *def, sim_image *image,
                                 core_error *err);
/// The same picture as an SVG file, under a temporary name, renamed: lines and areas for print, one <use> a grain.
/// Deterministic bytes. 11,000 grains: about 1.5 MB. Errors as sim_view_draw_panels; IO.
core_status sim_view_write_svg(const char *path, int count, const sim_view_panel *panels, const sim_view_def *def,
                               core_error *err);

#define SIM_VIEW_HTML_BYTES_MAX 30000000

/// A page with a player of frames first..last in steps of *every, one file that refers to nothing outside: play, scrub,
/// zoom, pan, colour by shape, speed, rotation and, with contact rows, force. def: region (of the first view), colour,
/// scales as for pictures. Poses are rounded to 1/65534 of the box they are in and 1/65536 of a turn.
/// @param every [in,out] 0: the smallest step whose page stays below SIM_VIEW_HTML_BYTES_MAX; that of the page
/// @return ARG; RANGE: no such frames, or more than fit at the step given; FORMAT, IO, MEMORY. Under a temporary name,
/// renamed; deterministic. Seven bytes a grain and frame, eight with forces, and a third for text.
core_status sim_view_write_html(const char *path, core_run_reader *run, int64_t first, int64_t last, int64_t *every,
                                const sim_view_def *def, core_error *err);

/// Frames first..last in steps of `every` for ParaView: `path` (XDMF 2, by convention OUT.xdmf) and `path`.h5 beside it
/// with the data; layout in data/README.md. Grains are polygons with velocity, angular velocity, orientation, species,
/// id and, with contact rows, largest normal force; boundaries are lines, planes cut to the scene.
/// @return ARG; RANGE: no such frame, nothing to draw; FORMAT, IO, MEMORY. Cost: 8 bytes a corner and frame.
core_status sim_view_write_xdmf(const char *path, core_run_reader *run, int64_t first, int64_t last, int64_t every,
                                core_error *err);

#endif
