// Below the panels: scale bar, key of the contact network, colour legend.
#include "sim_view_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_LEGIBLE 3.5 // pixels: smaller text is left out

static const sim_rgb ink = {32, 34, 40};

// 1, 2 or 5 times a power of ten, the largest that is not above `limit`.
static double round_down(double limit) {
    double power = pow(10.0, floor(log10(limit)));
    return limit >= 5 * power ? 5 * power : limit >= 2 * power ? 2 * power : power;
}

static void length_text(double length, char *text, size_t n_bytes) {
    static const struct {
        double size, below;
        const char *unit;
    } units[] = {
        {1e-6, 0.0009, "\xC2\xB5m"}, {1e-3, 0.009, "mm"}, {1e-2, 0.9, "cm"}, {1, 900, "m"}, {1000, INFINITY, "km"}};
    int i = 0;
    while (length >= units[i].below) i++;
    snprintf(text, n_bytes, "%.6g %s", length / units[i].size, units[i].unit);
}

// Scale bar with its length; returns the width used.
static double draw_scale_bar(sim_canvas *canvas, const sim_view_layout *l, double x, double y) {
    double length = round_down(fmax(0.16 * l->panel_width, 12) / l->scale), bar = length * l->scale;
    double thick = fmax(1.0, floor(0.16 * l->text + 0.5)), tick = floor(0.35 * l->text + 0.5);
    double base = y - floor(0.5 * l->text), left = floor(x), right = floor(x + bar + 0.5);
    sim_draw_rectangle(canvas, left, base, right, base + thick, ink);
    sim_draw_rectangle(canvas, left, base - tick, left + thick, base + thick + tick, ink);
    sim_draw_rectangle(canvas, right - thick, base - tick, right, base + thick + tick, ink);
    char text[64];
    length_text(length, text, sizeof text);
    double room = l->width - l->margin - right - 0.6 * l->text;
    return right - x + 0.6 * l->text +
           sim_view_fitted_text(canvas, text, right + 0.6 * l->text, y, l->text, 1, room, 0);
}

// Types NAME~1, NAME~2, ... are sizes or layers of one material: an item of the legend with a swatch for each. Its name
// in `name`; the first type behind the item that begins with type i.
static int item_end(const core_run_info *info, int i, char name[CORE_NAME_MAX]) {
    size_t length = strcspn(info->types[i].name, "~");
    int end = i + 1;
    if (length == 0) length = strlen(info->types[i].name); // nothing but ~ in front
    snprintf(name, CORE_NAME_MAX, "%.*s", (int)length, info->types[i].name);
    while (end < info->count_types && strncmp(info->types[end].name, name, length) == 0 &&
           info->types[end].name[length] == '~')
        end++;
    return end;
}

static void draw_swatch(sim_canvas *canvas, sim_rgb colour, double x, double y, double size) {
    const sim_rgb black = {0, 0, 0};
    sim_draw_rectangle(canvas, x, y - size, x + size, y, sim_colour_mix(colour, black, 0.5));
    sim_draw_rectangle(canvas, x + 1, y - size + 1, x + size - 1, y - 1, colour);
}

// Names of the types with their swatches, right-aligned at x; as many as there is room for, then "+ n".
static void draw_type_legend(sim_canvas *canvas, const core_run_info *info, double text, double x, double y,
                             double room) {
    double total = 0, swatch = floor(text), gap = 1.6 * text, inner = 0.5 * text;
    char more[32] = "", name[CORE_NAME_MAX];
    int count = 0; // types shown
    while (count < info->count_types) {
        int end = item_end(info, count, name);
        double width = (end - count) * swatch + inner + sim_text_width(name, text) + (count ? gap : 0);
        if (total + width > room) break;
        total += width, count = end;
    }
    if (count == 0) return;
    if (count < info->count_types) {
        snprintf(more, sizeof more, "+ %d", info->count_types - count);
        if (total + gap + sim_text_width(more, text) <= room)
            total += gap + sim_text_width(more, text);
        else
            more[0] = '\0';
    }
    double at = x - total;
    for (int i = 0; i < count;) {
        int end = item_end(info, i, name);
        for (; i < end; i++, at += swatch) draw_swatch(canvas, sim_view_type_colour(info, i), floor(at), y, swatch);
        sim_text_draw(canvas, name, at + inner, y, text, 1, ink);
        at += inner + sim_text_width(name, text) + gap;
    }
    if (more[0]) sim_text_draw(canvas, more, at, y, text, 1, ink);
}

// name, low, bar, high; right-aligned at x.
static void draw_colour_bar(sim_canvas *canvas, const char *name, const char *low, const char *high,
                            sim_rgb (*scale)(double), double text, double x, double y, double room) {
    double bar = floor(12 * text), gap = 0.7 * text;
    double total = sim_text_width(name, text) + 1.6 * gap + sim_text_width(low, text) + gap + bar + gap +
                   sim_text_width(high, text);
    if (total > room) {
        double factor = room / total;
        if (factor * text < TEXT_LEGIBLE) return;
        text *= factor, bar = floor(bar * factor), gap *= factor, total *= factor;
    }
    double at = x - total;
    sim_text_draw(canvas, name, at, y, text, 1, ink);
    at += sim_text_width(name, text) + 1.6 * gap;
    sim_text_draw(canvas, low, at, y, text, 1, ink);
    at = floor(at + sim_text_width(low, text) + gap);
    for (int i = 0; i < (int)bar; i++)
        sim_draw_rectangle(canvas, at + i, y - floor(text), at + i + 1, y, scale((i + 0.5) / bar));
    sim_text_draw(canvas, high, at + bar + gap, y, text, 1, ink);
}

// A line of the contact network with its force, right-aligned at x; returns the width used. A round force whose line is
// not thicker than the text.
static double draw_force_key(sim_canvas *canvas, const sim_view_layout *l, const core_run_info *info, double force_max,
                             double x, double y, double room) {
    char text[64];
    double force = force_max, bar = 3 * l->text, gap = 0.6 * l->text;
    double widest = sim_view_force_width(info, l->scale, force_max, force_max);
    if (widest > l->text) force = round_down(force_max * l->text / widest);
    double thick = fmax(sim_view_force_width(info, l->scale, force, force_max), 1.0);
    snprintf(text, sizeof text, "%.6g N/m", force);
    double total = bar + gap + sim_text_width(text, l->text), middle = y - 0.5 * l->text, left = x - total;
    if (total > room) return 0;
    sim_draw_rectangle(canvas, left, middle - 0.5 * thick, left + bar, middle + 0.5 * thick, sim_colour_of_forces());
    sim_text_draw(canvas, text, left + bar + gap, y, l->text, 1, ink);
    return total + 1.6 * l->text;
}

sim_rgb sim_view_type_colour(const core_run_info *info, int type) {
    bool any = false;
    for (int i = 0; i < info->count_rows; i++) {
        if (info->species[i] != type) continue;
        if (!info->prescribed[i]) return sim_colour_of_type(type);
        any = true;
    }
    return any ? sim_colour_of_boundary() : sim_colour_of_type(type);
}

double sim_view_fitted_text(sim_canvas *canvas, const char *text, double x, double y, double size, double bold,
                            double room, double align) {
    double width = sim_text_width(text, size);
    if (width > room) size *= room / width, width = room;
    if (size < TEXT_LEGIBLE || width <= 0) return 0;
    sim_text_draw(canvas, text, x - align * width, y, size, bold, ink);
    return width;
}

void sim_view_footer_draw(sim_canvas *canvas, const sim_view_layout *l, const core_run_info *info,
                          const sim_view_def *def) {
    double y = l->height - l->margin, right = l->width - l->margin; // base line
    double used = draw_scale_bar(canvas, l, l->margin, y), room = right - l->margin - used - 2 * l->text;
    if (room <= 0) return;
    if (def->forces) {
        double key = draw_force_key(canvas, l, info, def->force_max, right, y, room);
        right -= key, room -= key;
    }
    char high[64];
    switch (def->colour) {
    case SIM_VIEW_SPEED:
        snprintf(high, sizeof high, "%.6g m/s", def->speed_max);
        draw_colour_bar(canvas, "speed", "0", high, sim_colour_sequential, l->text, right, y, room);
        break;
    case SIM_VIEW_ROTATION:
        draw_colour_bar(canvas, "rotation", "-180\xC2\xB0", "180\xC2\xB0", sim_colour_cyclic, l->text, right, y, room);
        break;
    case SIM_VIEW_FORCE:
        snprintf(high, sizeof high, "%.6g N/m", def->force_max);
        draw_colour_bar(canvas, "largest force", "0", high, sim_colour_sequential, l->text, right, y, room);
        break;
    case SIM_VIEW_SHAPE:
        if (info->count_types > 1) draw_type_legend(canvas, info, l->text, right, y, room);
        break;
    }
}
