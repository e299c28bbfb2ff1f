// Anti-aliased coverage masks: areas and lines.
// Areas are filled by exact coverage: each edge adds the signed area between itself and the right end of its pixel row;
// a running sum over the row gives every pixel's covered part without sampling. Lines take their coverage from the
// distance of the pixel's centre to the segment.
#include "sim_view_private.h"

#include <math.h>
#include <string.h>

// v cut to [low, high]; NaN gives low.
static double clamp(double v, double low, double high) {
    return v > low ? (v < high ? v : high) : low;
}

static int clamp_index(int v, int low, int high) {
    return v < low ? low : v > high ? high : v;
}

// Adds `amount` (signed height of an edge piece in this row) between x0 <= x1 to the row's sums.
static void add_piece(float *row, int width, double x0, double x1, double amount) {
    int first = clamp_index((int)x0, 0, width - 1), last = clamp_index((int)ceil(x1) - 1, first, width - 1);
    double per_length = x1 > x0 ? amount / (x1 - x0) : 0.0;
    for (int i = first; i <= last; i++) {
        double left = x0 > i ? x0 : i, right = x1 < i + 1 ? x1 : i + 1;
        double part = first == last ? amount : per_length * (right - left);
        double middle = 0.5 * (left + right) - i; // of the piece, from the pixel's left side
        row[i] += (float)(part * (1.0 - middle));
        row[i + 1] += (float)(part * middle);
    }
}

// Adds an edge that runs downwards (y0 < y1) and lies inside the box; sign is the sense of the original.
static void add_edge(sim_canvas *canvas, double x0, double y0, double x1, double y1, double sign) {
    int width = canvas->box[2] - canvas->box[0], height = canvas->box[3] - canvas->box[1];
    double slope = (x1 - x0) / (y1 - y0);
    int last = clamp_index((int)ceil(y1) - 1, 0, height - 1);
    for (int j = clamp_index((int)y0, 0, height - 1); j <= last; j++) {
        double top = y0 > j ? y0 : j, bottom = y1 < j + 1 ? y1 : j + 1;
        double xa = clamp(x0 + (top - y0) * slope, 0.0, width), xb = clamp(x0 + (bottom - y0) * slope, 0.0, width);
        float *row = canvas->mask + (size_t)j * ((size_t)width + 1);
        add_piece(row, width, fmin(xa, xb), fmax(xa, xb), sign * (bottom - top));
    }
}

// Channel after blending `cover` of a colour over it.
static uint8_t blend(uint8_t below, float colour, float cover) {
    float value = (float)below + (colour - (float)below) * cover;
    return (uint8_t)(value + 0.5f);
}

core_status sim_canvas_create(sim_image *image, sim_canvas *canvas, core_error *err) {
    size_t count = image->rgb ? ((size_t)image->width + 1) * (size_t)image->height : 0;
    float *mask = core_alloc(count, sizeof *mask);
    CORE_CHECK(mask != NULL, CORE_MEMORY, "out of memory: mask of %d x %d pixels", image->width, image->height);
    *canvas = (sim_canvas){.image = image, .clip = {0, 0, image->width, image->height}, .mask = mask};
    return CORE_OK;
}

void sim_canvas_clear(sim_canvas *canvas) {
    if (!canvas) return;
    core_free(canvas->mask);
    *canvas = (sim_canvas){0};
}

void sim_canvas_clip(sim_canvas *canvas, int x0, int y0, int x1, int y1) {
    int width = canvas->image->width, height = canvas->image->height;
    canvas->clip[0] = clamp_index(x0, 0, width);
    canvas->clip[1] = clamp_index(y0, 0, height);
    canvas->clip[2] = clamp_index(x1, canvas->clip[0], width);
    canvas->clip[3] = clamp_index(y1, canvas->clip[1], height);
    const int *c = canvas->clip;
    if (canvas->svg) sim_svg_clip(canvas->svg, c, c[0] == 0 && c[1] == 0 && c[2] == width && c[3] == height);
}

bool sim_mask_begin(sim_canvas *canvas, double x0, double y0, double x1, double y1) {
    const int *clip = canvas->clip;
    if (!(x0 < clip[2] && y0 < clip[3] && x1 > clip[0] && y1 > clip[1])) return false;
    canvas->box[0] = (int)floor(clamp(x0, clip[0], clip[2]));
    canvas->box[1] = (int)floor(clamp(y0, clip[1], clip[3]));
    canvas->box[2] = (int)ceil(clamp(x1, clip[0], clip[2]));
    canvas->box[3] = (int)ceil(clamp(y1, clip[1], clip[3]));
    int width = canvas->box[2] - canvas->box[0], height = canvas->box[3] - canvas->box[1];
    if (width <= 0 || height <= 0) return false;
    if (canvas->svg) {
        canvas->svg->shapes.size = 0;
        canvas->svg->stroke = -1, canvas->svg->hatch[0] = 0;
        return true;
    }
    memset(canvas->mask, 0, (size_t)height * ((size_t)width + 1) * sizeof *canvas->mask);
    return true;
}

void sim_mask_edge(sim_canvas *canvas, double x0, double y0, double x1, double y1) {
    if (canvas->svg) {
        sim_svg_line(canvas->svg, x0, y0, x1, y1, 0);
        return;
    }
    double width = canvas->box[2] - canvas->box[0], height = canvas->box[3] - canvas->box[1], sign = 1.0;
    x0 -= canvas->box[0], x1 -= canvas->box[0], y0 -= canvas->box[1], y1 -= canvas->box[1];
    if (y0 > y1) {
        double x = x0, y = y0;
        x0 = x1, y0 = y1, x1 = x, y1 = y, sign = -1.0;
    }
    if (!(y0 < y1) || y1 <= 0 || y0 >= height) return;
    // Cut where the edge crosses the box's sides. A piece left of the box covers whole rows: it moves to the left side;
    // one right of the box covers nothing: it moves to the spare column.
    double cuts[4] = {clamp(y0, 0, height), 0, 0, clamp(y1, 0, height)};
    double left = y0 + (0.0 - x0) / (x1 - x0) * (y1 - y0), right = y0 + (width - x0) / (x1 - x0) * (y1 - y0);
    cuts[1] = clamp(fmin(left, right), cuts[0], cuts[3]);
    cuts[2] = clamp(fmax(left, right), cuts[0], cuts[3]);
    double slope = (x1 - x0) / (y1 - y0);
    for (int i = 0; i < 3; i++) {
        if (!(cuts[i] < cuts[i + 1])) continue;
        double xa = x0 + (cuts[i] - y0) * slope, xb = x0 + (cuts[i + 1] - y0) * slope;
        add_edge(canvas, clamp(xa, 0, width), cuts[i], clamp(xb, 0, width), cuts[i + 1], sign);
    }
}

void sim_mask_resolve(sim_canvas *canvas) {
    if (canvas->svg) return;
    int width = canvas->box[2] - canvas->box[0], height = canvas->box[3] - canvas->box[1];
    for (int j = 0; j < height; j++) {
        float *row = canvas->mask + (size_t)j * ((size_t)width + 1), sum = 0.0f;
        for (int i = 0; i < width; i++) {
            sum += row[i];
            row[i] = fminf(fabsf(sum), 1.0f);
        }
    }
}

void sim_mask_stroke(sim_canvas *canvas, double x0, double y0, double x1, double y1, double width) {
    if (canvas->svg) {
        sim_svg_line(canvas->svg, x0, y0, x1, y1, width);
        return;
    }
    int count_x = canvas->box[2] - canvas->box[0], count_y = canvas->box[3] - canvas->box[1];
    // Relative to the centre of the box's first pixel.
    double ox = canvas->box[0] + 0.5, oy = canvas->box[1] + 0.5, reach = 0.5 * width + 0.5;
    x0 -= ox, x1 -= ox, y0 -= oy, y1 -= oy;
    double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy, inverse = length2 > 0 ? 1.0 / length2 : 0.0;
    int i0 = (int)ceil(clamp(fmin(x0, x1) - reach, 0, count_x)),
        j0 = (int)ceil(clamp(fmin(y0, y1) - reach, 0, count_y));
    int i1 = (int)floor(clamp(fmax(x0, x1) + reach, -1, count_x - 1));
    int j1 = (int)floor(clamp(fmax(y0, y1) + reach, -1, count_y - 1));
    for (int j = j0; j <= j1; j++) {
        float *row = canvas->mask + (size_t)j * ((size_t)count_x + 1);
        for (int i = i0; i <= i1; i++) {
            double t = clamp(((i - x0) * dx + (j - y0) * dy) * inverse, 0.0, 1.0);
            double ex = i - x0 - t * dx, ey = j - y0 - t * dy, e2 = ex * ex + ey * ey;
            if (e2 >= reach * reach) continue;
            float cover = (float)fmin(reach - sqrt(e2), 1.0);
            if (cover > row[i]) row[i] = cover;
        }
    }
}

void sim_mask_hatch(sim_canvas *canvas, double spacing, double width) {
    if (canvas->svg) {
        canvas->svg->hatch[0] = spacing, canvas->svg->hatch[1] = width;
        return;
    }
    int count_x = canvas->box[2] - canvas->box[0], count_y = canvas->box[3] - canvas->box[1];
    for (int j = 0; j < count_y; j++) {
        float *row = canvas->mask + (size_t)j * ((size_t)count_x + 1);
        for (int i = 0; i < count_x; i++) {
            // Distance to the nearest line x + y = k * sqrt(2) * spacing, which rises to the right.
            double u = (canvas->box[0] + i + canvas->box[1] + j + 1.0) / sqrt(2.0);
            double distance = fabs(u - spacing * floor(u / spacing + 0.5));
            row[i] *= (float)clamp(0.5 * width + 0.5 - distance, 0.0, 1.0);
        }
    }
}

void sim_mask_paint(sim_canvas *canvas, sim_rgb colour, double alpha) {
    if (canvas->svg) {
        sim_svg_paint(canvas->svg, colour, alpha);
        return;
    }
    int width = canvas->box[2] - canvas->box[0], height = canvas->box[3] - canvas->box[1];
    for (int j = 0; j < height; j++) {
        const float *row = canvas->mask + (size_t)j * ((size_t)width + 1);
        size_t pixel = (size_t)(canvas->box[1] + j) * (size_t)canvas->image->width + (size_t)canvas->box[0];
        uint8_t *rgb = canvas->image->rgb + 3 * pixel;
        for (int i = 0; i < width; i++, rgb += 3) {
            float cover = row[i] * (float)alpha;
            if (cover <= 0.0f) continue;
            rgb[0] = blend(rgb[0], colour.r, cover);
            rgb[1] = blend(rgb[1], colour.g, cover);
            rgb[2] = blend(rgb[2], colour.b, cover);
        }
    }
}

void sim_draw_rectangle(sim_canvas *canvas, double x0, double y0, double x1, double y1, sim_rgb colour) {
    if (!sim_mask_begin(canvas, x0, y0, x1, y1)) return;
    if (canvas->svg) {
        sim_svg_rectangle(canvas->svg, x0, y0, x1, y1, colour);
        return;
    }
    sim_mask_edge(canvas, x0, y0, x0, y1);
    sim_mask_edge(canvas, x1, y1, x1, y0);
    sim_mask_resolve(canvas);
    sim_mask_paint(canvas, colour, 1.0);
}
