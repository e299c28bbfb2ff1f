/// libsdf: shape files -> validated region, mass properties, signed distance grid; exact signed distance as reference.
/// A shape is a closed connected region. Canonical shape: area centroid at the origin, circumradius (largest distance
/// from the centroid to the region) 1, axes as drawn. Signed distance is negative inside.
#ifndef SDF_H
#define SDF_H

#include "core.h"
#include "core_h5.h"

#define SDF_FORMAT "cem.sdf"
#define SDF_VERSION 1

/// Mass properties of a region at unit density, from the polygon by Green's theorem.
typedef struct sdf_mass {
    double area;          // length^2
    double centroid[2];   // length
    double second_moment; // polar, about the centroid, length^4
    double circumradius;  // length
} sdf_mass;

/// What was done to a drawing on its way to an outline. `{0}`: nothing.
typedef struct sdf_import {
    double outline_error; // images: how far simplification moved the outline at most, pixels
    int count_specks;     // images: islands and holes below a thousandth of the largest island's area, left out
    int count_islands;    // islands (images) or parts (outlines) left out because the largest alone was asked for
    int count_points;     // duplicate and collinear points, taken out
    int count_closed;     // rings that were open by rounding, closed
    int image;            // 1: from an image, the unit of the drawing is a pixel; else 0
    int threshold;        // images: grey level below which pixels were inside; 0: opacity decided
    double blur;          // images: pixels, sdf_read_def.blur
    int count_border;     // images: pixels of the border that the outline runs along, where the figure may be cut off
    double simplify_many; // images whose outline has over SDF_VERTICES_MANY vertices: a tolerance that leaves at most
                          // 100 of them, pixels; infinite if none does that moves the outline by no more than 3 pixels
                          // or .002 of its size; not in files
} sdf_import;

/// A validated shape. `{0}` is "nothing". Owns its outline.
typedef struct sdf_shape {
    char name[CORE_NAME_MAX]; // file name without folder and extension
    core_outline outline;     // canonical
    sdf_mass drawn;           // of the file as drawn, units of the file
    double area;              // canonical
    double second_moment;     // canonical, about the centroid
    uint64_t hash;            // content hash of the canonical outline
    sdf_import import;        // of the file as read; {0} where a shape did not come from a drawing
} sdf_shape;

/// sdf_read_def.threshold that is found from the image (Otsu): greys fall into two classes, figure and background.
#define SDF_THRESHOLD_AUTO (-1)
/// More vertices than this are many: labels and contacts of exact geometry get slow.
#define SDF_VERTICES_MANY 300

/// How shape files are read.
typedef struct sdf_read_def {
    int cookie;
    int threshold;   // images: grey level 1..255 below which a pixel is inside, or SDF_THRESHOLD_AUTO (default 128)
    double blur;     // images: Gaussian blur before the threshold, standard deviation 0 .. 50 pixels (default 0: none)
    bool invert;     // images: bright (or transparent) is inside instead
    bool largest;    // several separate parts: take the largest instead of refusing (default false)
    double simplify; // images: tolerance of the simplification, 0 .. 1000 pixels; negative: by the kind of the image
                     // (default -1: 0.12 anti-aliased, 0.3 black-and-white)
} sdf_read_def;
/// The defaults named above.
sdf_read_def sdf_read_default_def(void);

/// Reads .wkt, .geojson, .json (GEOS) or .png, .jpg, .jpeg, .bmp, .pgm (stb_image), unites overlapping parts, keeps
/// holes, orients rings, scales to the canonical shape. IO; FORMAT (syntax, trailing text, not an image); SHAPE (zero
/// area, self-crossing, several separate parts, no polygon); NONFINITE. Messages name the file. Caller clears with
/// sdf_shape_clear.
core_status sdf_shape_read(const char *path, const sdf_read_def *def, sdf_shape *shape, core_error *err);
/// From an outline in any unit (copied, normalised: orientation, canonical scaling). SHAPE, NONFINITE, MEMORY.
core_status sdf_shape_from_outline(const char *name, const core_outline *drawn, sdf_shape *shape, core_error *err);
/// Deep copy. MEMORY (`to` untouched).
core_status sdf_shape_copy(const sdf_shape *from, sdf_shape *to, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void sdf_shape_clear(sdf_shape *shape);
/// Canonical outline and `drawn` mass as the groups PREFIX/polygon and PREFIX/mass; reading validates and recomputes
/// the canonical area and moment and compares with the stored hash (FORMAT).
core_status sdf_shape_write_h5(core_h5 *file, const char *prefix, const sdf_shape *shape, core_error *err);
core_status sdf_shape_read_h5(core_h5 *file, const char *prefix, sdf_shape *shape, core_error *err);

/// Mass properties of an outline (any orientation). SHAPE: area not above 1e-12 x extent^2.
core_status sdf_outline_mass(const core_outline *o, sdf_mass *mass, core_error *err);

/// Exact signed distance to an outline at many points (reference; brute force over edges).
/// @param xy   [in]  (n x 2)
/// @param dist [out] (n), negative inside
/// @param grad [out] (n x 2) unit, away from the nearest outline point outside and towards it inside; on the outline
///                   its outward normal; NULL allowed
/// A point that is not finite gives NaN. Cost O(n x edges), thread-safe, no allocation.
void sdf_outline_distance(const core_outline *o, const double *xy, int n, double *dist, double *grad);

enum { SDF_LANES = 4 }; // points at once in sdf_grid_distances

/// Nearest edges by place, behind sdf_grid_distance and sdf_grid_sag (sdf_near.c, sdf_sag.c).
typedef struct sdf_near sdf_near;

/// Signed distance grid of a canonical shape, node-centred, square box about the origin. `{0}` is "nothing".
typedef struct sdf_grid {
    int nx, ny;       // nodes
    double origin[2]; // of node (0, 0), canonical units
    double spacing;   // canonical units
    float *phi;       // (ny x nx) row-major
    float value_min;  // deepest value, negative
    sdf_near *near;   // derived from the outline and phi; NULL: the interpolant answers everywhere
} sdf_grid;

/// Exact distances at the nodes: `resolution` cells across the canonical diameter 2, box +-(1 + margin). SHAPE: a wall
/// or gap thinner than one cell is not searched for here. RANGE: resolution outside [16, 4096] or margin outside [0.05,
/// 4]. MEMORY.
core_status sdf_grid_build(const core_outline *canonical, int resolution, double margin, int threads,
                           const core_progress *progress, sdf_grid *grid, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void sdf_grid_clear(sdf_grid *grid);
/// Value and gradient of the bicubic (Catmull-Rom) interpolant at one point; grad NULL allowed. Outside the box: value
/// at the nearest box point + distance to it (an upper bound of the distance). NaN or infinite p: NaN. Error O(h^3) in
/// the value and O(h^2) in the gradient where the distance is smooth, O(h) and O(1) at the medial axis
/// (tests/reference/test_sdf_order.c). No allocation, thread-safe, deterministic on every machine.
double sdf_grid_sample(const sdf_grid *grid, const double p[2], double grad[2]);

/// The exact distance within 1.5 circumradii of the centroid where 24 edges or fewer can be the nearest, elsewhere
/// sdf_grid_sample; grad NULL allowed. At a tie the gradient is that of one edge. Cost: that of a few edges. No
/// allocation, thread-safe, deterministic on every machine.
double sdf_grid_distance(const sdf_grid *grid, const double p[2], double grad[2]);
/// The same at SDF_LANES points at once, to the same bits: x, y, d, gx, gy are (SDF_LANES).
void sdf_grid_distances(const sdf_grid *grid, const double *x, const double *y, double *d, double *gx, double *gy);
/// True if sdf_grid_distance asks the interpolant nowhere within 1.5 circumradii.
bool sdf_grid_is_exact(const sdf_grid *grid);
/// Slope by which the distance can fall below its tangent plane at p within a disc: phi(x) >= phi(p) + grad.(x - p) -
/// sag |x - p| for |x - p| <= radius, grad that of sdf_grid_distance. 0 where it is convex, 2 at most (and where
/// nothing is known: far away, or if `near` is missing).
double sdf_grid_sag(const sdf_grid *grid, const double p[2], double radius);

/// Radius of a disc around p in which the distance is convex (its sag is 0), as far as the tables of sdf_sag.c know;
/// 0 where they do not.
double sdf_grid_convex(const sdf_grid *grid, const double p[2]);

/// One edge or reflex corner near a point inside, as a bound: phi(x) >= value + grad.(x - p) - bend |x - p|^2/2 there.
typedef struct sdf_piece {
    double value, grad[2];
    double bend; // 1/distance of a corner, 0 of an edge
} sdf_piece;
/// Edges and corners whose distance from an inside point is at most that of the nearest + `within`, as many as fit.
/// Returns their number, 0 where none are known (or p is outside).
int sdf_grid_pieces(const sdf_grid *grid, const double p[2], double within, int most, sdf_piece *pieces);

/// Thinnest wall of a canonical shape and thinnest gap in or around it, circumradii: the smallest diameter w of a disc
/// that, rolled inside (outside), cannot get everywhere - because the region falls apart, vanishes or loses a hole when
/// a rim of w/2 is taken off (gap: a bay is closed when it is put on), or because the disc leaves out a part whose area
/// is above 0.05 w and above 0.6 w^2. So corners of more than 30 degrees, shallow dents and low bumps are no walls or
/// gaps; sharper tips count where they are so thin over more than about 0.1. Parts, holes and bays below a thousandth
/// of the area count nowhere, so the rough edge of a photograph does not either. To 1 %; at least 0.0004, infinite if
/// there is none up to 2.1. Cost about 50 offsets of the outline (O(n log n) each; 10 ms for 100 points). ARG, SHAPE,
/// MEMORY, INTERNAL.
core_status sdf_thinnest_feature(const core_outline *canonical, double *wall, double *gap, core_error *err);

/// Resolution that stands for "as fine as the shape needs".
#define SDF_RESOLUTION_AUTO 0
/// Bytes of a note.
#define SDF_NOTE_MAX 384
/// Judges a grid resolution by the thinnest wall or gap, or chooses it (SDF_RESOLUTION_AUTO): 6 cells across the
/// thinnest, at least 256, at most 1024.
/// @param note [out] a warning if the thinnest has less than 3 cells, with the resolution that would do (and, where it
///                   is a few pixels of an image, what takes noise away); else empty
/// SHAPE: less than 1 cell; the message has the same advice. Others as sdf_thinnest_feature; cheaper, since only what
/// is thin enough to matter is looked for.
core_status sdf_resolution_choose(const sdf_shape *shape, int resolution, int *chosen, char note[SDF_NOTE_MAX],
                                  core_error *err);

/// Most notes about one shape.
#define SDF_SHAPE_NOTES_MAX 2
/// Warnings about a shape as it was read, with advice: a figure that touches the border of its image, very many
/// vertices. Returns their number.
int sdf_shape_notes(const sdf_shape *shape, char notes[SDF_SHAPE_NOTES_MAX][SDF_NOTE_MAX]);

/// A picture of a shape and its grid: inside and outside tinted, lines of equal distance, the outline, the centroid.
/// @param size   [in]  pixels each way; the picture shows +-1.25 circumradii
/// @param rgb    [out] (size x size x 3), rows from the top
/// @param stride [in]  bytes from one row to the next
/// Deterministic. Cost O(size^2), plus edges for each pixel near the outline.
void sdf_preview_draw(const sdf_shape *shape, const sdf_grid *grid, int size, uint8_t *rgb, int stride);

/// `*.sdf.h5`: the file sdfgen writes; csample reads it.
core_status sdf_file_write(const char *path, const sdf_shape *shape, const sdf_grid *grid,
                           const core_h5_provenance *provenance, core_error *err);
/// content_hash [out] may be NULL. IO, FORMAT, VERSION_OTHER, NONFINITE, MEMORY.
core_status sdf_file_read(const char *path, sdf_shape *shape, sdf_grid *grid, uint64_t *content_hash, core_error *err);

/// Exact geometry of two posed outlines, through GEOS. Pose: angle (rad), position; canonical outline x scale.
typedef struct sdf_posed {
    const core_outline *outline; // borrowed
    double scale, angle, x, y;
} sdf_posed;
/// Distance between the regions, 0 if they touch or overlap.
core_status sdf_posed_distance(const sdf_posed *a, const sdf_posed *b, double *distance, core_error *err);
/// Overlap of the regions: area, and depth = the largest minimum width over the connected parts of the intersection
/// (equals the translational depth for a corner in a face and for two faces). Both 0 if apart.
core_status sdf_posed_overlap(const sdf_posed *a, const sdf_posed *b, double *area, double *depth, core_error *err);
/// As sdf_posed_overlap, against the forbidden side of a plane: depth = how far the outline reaches below n.x = offset,
/// >= 0.
double sdf_posed_below_plane(const sdf_posed *a, const double normal[2], double offset);

#endif
