/// What the files of libsdf share among themselves; not for other libraries.
#ifndef SDF_PRIVATE_H
#define SDF_PRIVATE_H

#include "sdf.h"

/// Refuses what GEOS would accept, overlook or fail on: empty and binary text, text behind the geometry, brackets that
/// do not match or nest too deeply, NaN and infinities (NONFINITE), GeoJSON positions without numbers. text[n] must be
/// zero.
core_status sdf__text_check(const char *text, size_t n, bool geojson, core_error *err);

/// A copy of checked text in which rings that are open by rounding (1e-6 of their extent) are closed, and their number.
/// Caller frees. MEMORY.
core_status sdf__text_close(const char *text, size_t n, bool geojson, char **closed, int *count, core_error *err);

/// WKT or GeoJSON text to one polygon in the unit of the file: each part checked, overlapping parts united.
/// Several parts are refused, or, on request, the largest is taken and the others counted.
core_status sdf__geos_read(const char *text, bool geojson, bool largest, core_outline *drawn, int *count_left_out,
                           core_error *err);
/// SHAPE unless the rings bound one valid polygon; the message has GEOS's reason and the place.
core_status sdf__geos_check(const core_outline *o, core_error *err);
/// Douglas-Peucker with the topology kept; tolerance in the unit of the outline.
core_status sdf__geos_simplify(const core_outline *o, double tolerance, core_outline *simple, core_error *err);

/// Whether a wall of the region (gap: something of its surroundings) is thinner than `width`. A disc of that diameter
/// is rolled in it: thin if the region falls apart, vanishes or loses a hole when its rim of width / 2 is taken off
/// (gap: gains one when it is put on), or if the disc leaves out a connected part of more than `area`. Specks count
/// nowhere.
core_status sdf__geos_is_thin(const core_outline *o, double width, double area, bool gap, bool *thin, core_error *err);

/// Copies `drawn` without duplicate and collinear points, oriented, rings in a fixed order and starting at a fixed
/// point, scaled to circumradius 1 about its centroid. SHAPE, NONFINITE, MEMORY.
core_status sdf__outline_canonical(const core_outline *drawn, core_outline *canonical, sdf_mass *drawn_mass,
                                   int *count_removed, core_error *err);
/// Distance^2 of p from the segment a-b.
double sdf__segment_distance2(const double *p, const double *a, const double *b);
/// Twice the signed area of a ring (n x 2), relative to its first point.
double sdf__ring_area2(const double *xy, int n);

/// An island, a hole or a part below this share of the whole area is a speck.
#define SDF__SPECK_SHARE 1e-3

/// Vertices that advice about many of them aims at.
#define SDF__VERTICES_ADVISED 100

/// Largest width and height of an image, pixels.
#define SDF__IMAGE_SIDE_MAX 8192

/// Kinds of images that are read.
typedef enum sdf__image_format {
    SDF__IMAGE_PNG = 1,
    SDF__IMAGE_JPEG,
    SDF__IMAGE_BMP,
    SDF__IMAGE_PGM
} sdf__image_format;

/// What an image file says about itself.
typedef struct sdf__image_info {
    sdf__image_format format;
    const char *format_name;            // for messages
    int width, height;                  // pixels
    int palette_depth, palette_entries; // PNG with a palette: bits a pixel and colours; else 0
    bool opaque;                        // BMP: a fourth byte of a pixel means nothing
    size_t transparency_at;             // PNG: where the name of chunk tRNS is; 0: none
    int grey_max;                       // PGM: largest grey value
    size_t pixels_at;                   // PGM: first byte of the pixels
} sdf__image_info;

/// Judges an image file by its first bytes, its header, its size and its completeness, before anything is decoded; the
/// kind is the content's, whatever the name says. FORMAT with the reason, RANGE (size).
core_status sdf__image_check(const unsigned char *data, size_t n, sdf__image_info *info, core_error *err);

/// Parts of a grey level (of 256) that blurred pixels are rounded to.
#define SDF__GREY_UNIT 64
/// Largest blur, pixels.
#define SDF__BLUR_MAX 50

/// Grey levels of an image, in parts of SDF__GREY_UNIT; dark is what is to be inside.
typedef struct sdf__greys {
    int width, height;
    uint16_t *pixels; // (height x width) row-major, row 0 on top, 0 .. 255 x SDF__GREY_UNIT
} sdf__greys;
/// Gaussian blur of standard deviation sigma, pixels (0: none; at most SDF__BLUR_MAX); beyond its border the image goes
/// on as its last pixel. Cost O(pixels x sigma). MEMORY.
core_status sdf__grey_blur(sdf__greys *g, double sigma, core_error *err);
/// The grey level below which pixels are of the darker of two classes, by Otsu: the variance between both is largest;
/// the middle of a gap if no pixel has the levels around it. SHAPE: all pixels are alike.
core_status sdf__grey_threshold(const sdf__greys *g, int *threshold, core_error *err);
void sdf__greys_clear(sdf__greys *g);

/// Levels of an image: twice the distance of each pixel from the limit between inside and outside, in parts of
/// SDF__GREY_UNIT; never 0, negative inside.
typedef struct sdf__levels {
    int width, height;
    int16_t *pixels; // ((height + 2) x (width + 2)) row-major, row 0 on top, one outside pixel around
} sdf__levels;
/// Decodes an image of any kind. Opaque pixels are inside if the image has pixels on both sides of half opacity, else
/// pixels darker than the threshold; `invert` exchanges inside and outside. Opacity or grey is blurred before. What was
/// done goes into `record`.
core_status sdf__levels_from_image(const unsigned char *data, size_t n, const sdf_read_def *def, sdf__levels *levels,
                                   sdf_import *record, core_error *err);
void sdf__levels_clear(sdf__levels *levels);
/// Zero contour of the levels as one outline in pixels, y up, origin at the lower left corner of the image; specks
/// removed and counted, simplified with the error measured (both into `record`, with how far it runs along the border
/// and what would take out most of very many vertices). SHAPE: nothing inside, nothing outside, several islands (areas
/// named) unless the largest is asked for.
core_status sdf__contour(const sdf__levels *levels, const sdf_read_def *def, core_outline *drawn, sdf_import *record,
                         core_error *err);

/// Lists and tables of a shape and its grid, whose other members are filled in. NULL for outlines of over 65535 edges.
/// MEMORY.
core_status sdf__near_create(const core_outline *canonical, const sdf_grid *grid, sdf_near **near, core_error *err);
/// Takes the handle's address, nulls it, accepts NULL in it.
void sdf__near_destroy(sdf_near **near);

#endif
