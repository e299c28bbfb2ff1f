// SVG: what the masks would cover becomes paths with a colour, text included (it is drawn by strokes); grains are
// defined once a type and used once a grain. Numbers are pixels with two decimals, canonical outlines with five.
#include "sim_view_private.h"

#include <math.h>
#include <stdio.h>

// ---------------------------------------------------------------------------------------------- masks

static void colour_text(sim_rgb c, char text[8]) {
    snprintf(text, 8, "#%02x%02x%02x", (unsigned)(c.r + 0.5f) & 255u, (unsigned)(c.g + 0.5f) & 255u,
             (unsigned)(c.b + 0.5f) & 255u);
}

static void close_path(sim_svg *svg) {
    if (svg->stroke >= 0) core_buffer_add(&svg->shapes, "\"/>");
    svg->stroke = -1;
}

void sim_svg_begin(sim_svg *svg, int width, int height) {
    *svg = (sim_svg){.stroke = -1};
    core_buffer_add(&svg->out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
                    "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
                    "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                    width, height, width, height, width, height);
}

void sim_svg_end(sim_svg *svg) {
    if (svg->clipped) core_buffer_add(&svg->out, "</g>\n");
    svg->clipped = false;
    core_buffer_add(&svg->out, "</svg>\n");
}

void sim_svg_clip(sim_svg *svg, const int clip[4], bool whole) {
    if (svg->clipped) core_buffer_add(&svg->out, "</g>\n");
    svg->clipped = !whole;
    if (whole) return;
    core_buffer_add(&svg->out,
                    "<clipPath id=\"clip%d\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n"
                    "<g clip-path=\"url(#clip%d)\">\n",
                    svg->count_clips, clip[0], clip[1], clip[2] - clip[0], clip[3] - clip[1], svg->count_clips);
    svg->count_clips++;
}

void sim_svg_line(sim_svg *svg, double x0, double y0, double x1, double y1, double stroke) {
    if (svg->stroke < 0 || fabs(svg->stroke - stroke) > 0) {
        close_path(svg);
        if (stroke > 0)
            core_buffer_add(&svg->shapes, "<path stroke-width=\"%.2f\" d=\"", stroke);
        else
            core_buffer_add(&svg->shapes, "<path d=\"");
        svg->stroke = stroke;
        svg->at[0] = svg->at[1] = NAN;
    }
    // Chained pieces go on without a new start.
    if (!(fabs(svg->at[0] - x0) < 1e-6 && fabs(svg->at[1] - y0) < 1e-6))
        core_buffer_add(&svg->shapes, "M%.2f %.2f", x0, y0);
    core_buffer_add(&svg->shapes, "L%.2f %.2f", x1, y1);
    svg->at[0] = x1, svg->at[1] = y1;
}

void sim_svg_paint(sim_svg *svg, sim_rgb colour, double alpha) {
    char text[8];
    bool filled = svg->stroke >= 0 && !(svg->stroke > 0);
    close_path(svg);
    colour_text(colour, text);
    if (svg->shapes.size == 0) return;
    if (svg->hatch[0] > 0) {
        // Lines x + y = k sqrt(2) spacing in a pattern that repeats along both axes.
        double side = svg->hatch[0] * sqrt(2.0);
        core_buffer_add(&svg->out,
                        "<pattern id=\"hatch%d\" patternUnits=\"userSpaceOnUse\" width=\"%.4f\" height=\"%.4f\">"
                        "<path d=\"M-1 %.4fL%.4f -1M-1 1L1 -1M%.4f %.4fL%.4f %.4f\" stroke=\"%s\" "
                        "stroke-width=\"%.2f\"/></pattern>\n",
                        svg->count_clips, side, side, side + 1, side + 1, side - 1, side + 1, side + 1, side - 1, text,
                        svg->hatch[1]);
        core_buffer_add(&svg->out, "<g fill=\"url(#hatch%d)\" opacity=\"%.3g\">", svg->count_clips, alpha);
    } else if (filled)
        core_buffer_add(&svg->out, "<g fill=\"%s\" fill-opacity=\"%.3g\">", text, alpha);
    else
        core_buffer_add(&svg->out,
                        "<g fill=\"none\" stroke=\"%s\" stroke-opacity=\"%.3g\" stroke-linecap=\"round\" "
                        "stroke-linejoin=\"round\">",
                        text, alpha);
    core_buffer_add_bytes(&svg->out, svg->shapes.text ? svg->shapes.text : "", svg->shapes.size);
    core_buffer_add(&svg->out, "</g>\n");
}

void sim_svg_rectangle(sim_svg *svg, double x0, double y0, double x1, double y1, sim_rgb colour) {
    char text[8];
    colour_text(colour, text);
    core_buffer_add(&svg->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x0, y0,
                    x1 - x0, y1 - y0, text);
}

// ---------------------------------------------------------------------------------------------- grains

void sim_svg_define(sim_svg *svg, const core_run_info *info, double scale,
                    double (*line_width)(double radius_pixels, double *alpha)) {
    core_buffer_add(&svg->out, "<defs>\n");
    for (int i = 0; i < info->count_types; i++) {
        const core_outline *o = &info->types[i].outline;
        double alpha, radius = info->types[i].radius * scale, line = line_width(radius, &alpha) / radius;
        core_buffer_add(&svg->out, "<path id=\"panel%dtype%d\" stroke-width=\"%.4f\" stroke-linejoin=\"round\" d=\"",
                        svg->count_clips, i, line);
        for (int ring = 0; ring < o->count_rings; ring++) {
            for (int k = o->ring_start[ring]; k < o->ring_start[ring + 1]; k++)
                core_buffer_add(&svg->out, "%c%.5g %.5g", k == o->ring_start[ring] ? 'M' : 'L', o->xy[2 * k],
                                o->xy[2 * k + 1]);
            core_buffer_add(&svg->out, "Z");
        }
        core_buffer_add(&svg->out, "\"/>\n");
    }
    core_buffer_add(&svg->out, "</defs>\n");
}

void sim_svg_use(sim_svg *svg, int type, const double centre[2], const double axis[2], sim_rgb fill, sim_rgb edge,
                 double alpha) {
    char fill_text[8], edge_text[8];
    colour_text(fill, fill_text);
    colour_text(edge, edge_text);
    core_buffer_add(&svg->out,
                    "<use xlink:href=\"#panel%dtype%d\" transform=\"matrix(%.4g %.4g %.4g %.4g %.2f %.2f)\" "
                    "fill=\"%s\" stroke=\"%s\"",
                    svg->count_clips, type, axis[0], axis[1], axis[1], -axis[0], centre[0], centre[1], fill_text,
                    edge_text);
    if (alpha < 1) core_buffer_add(&svg->out, " stroke-opacity=\"%.3g\"", alpha);
    core_buffer_add(&svg->out, "/>\n");
}
