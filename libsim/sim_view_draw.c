// A whole picture: where title, panels, times, scale bar and colour legend go, and the order in which they are drawn.
//
//   title                                  all text in one size u (height of a capital), the title 1.25 u;
//   t = 0.00 s                             caption, one per panel
//   +---------------- panel --------------+
//   |                                     |
//   +-------------------------------------+
//   |----| 10 cm          hash # disc #     footer: scale bar, colour legend
#include "sim_view_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEF_COOKIE 0x56494557
#define HEIGHT_PER_WIDTH_MAX 1.5  // of a picture whose height is free
#define TEXT_PER_WIDTH (1 / 92.0) // height of a capital
#define TEXT_MIN 5.0              // pixels
#define TEXT_MAX 48.0
#define TEXT_LEGIBLE 3.5 // pixels: smaller text is left out
#define GAP_PLAIN 8      // pixels between panels without legend
#define CAPTION_MAX 512
#define TIME_DECIMALS_MIN 2
#define TIME_DECIMALS_MAX 9

static const sim_rgb ink = {32, 34, 40};

// Sizes in pixels.
typedef struct layout {
    int width, height, margin, gap;
    double text;
    int columns, rows;
    int title, caption, footer; // heights: of the strip above all panels, above each panel, and below all
    int panel_width, panel_height;
    double scale;     // pixels per metre
    double region[4]; // shown by every panel
    bool border;      // of panels that show a given region
} layout;

// Writes the strips that do not depend on the region.
static void layout_strips(const sim_view_def *def, bool title, layout *l) {
    *l = (layout){.width = def->width, .gap = GAP_PLAIN};
    l->text = fmin(fmax(def->width * TEXT_PER_WIDTH, TEXT_MIN), TEXT_MAX);
    if (!def->legend) return;
    l->margin = (int)(1.5 * l->text + 0.5);
    l->gap = (int)(1.2 * l->text + 0.5);
    l->title = l->margin + (title ? (int)(2.4 * l->text + 0.5) : 0);
    l->caption = (int)(1.8 * l->text + 0.5);
    l->footer = (int)(2.4 * l->text + 0.5) + l->margin;
}

// Chooses rows and columns: the largest scale; under each other among equals.
static void layout_grid(const sim_view_def *def, int count, double width, double height, layout *l) {
    double total = def->height > 0 ? def->height : HEIGHT_PER_WIDTH_MAX * def->width;
    double best = 0;
    for (int columns = 1; columns <= count; columns++) {
        int rows = (count + columns - 1) / columns;
        double w = (l->width - 2 * l->margin - (columns - 1) * l->gap) / (double)columns;
        double h = (total - l->title - l->footer - rows * l->caption - (rows - 1) * l->gap) / rows;
        double scale = fmin(floor(w) / width, floor(h) / height);
        double worth = scale * count / (rows * columns); // empty places count against a grid
        if (worth <= best * 1.001) continue;
        best = worth;
        l->scale = scale, l->columns = columns, l->rows = rows;
        l->panel_width = (int)w, l->panel_height = (int)h;
    }
}

// Everything of a layout. RANGE if nothing is left for the panels.
static core_status layout_all(const sim_view_def *def, int count, const double region[4], bool exact, bool title,
                              layout *l, core_error *err) {
    double width = region[2] - region[0], height = region[3] - region[1];
    layout_strips(def, title, l);
    layout_grid(def, count, width, height, l);
    CORE_CHECK(l->scale > 0 && isfinite(l->scale) && l->panel_width >= 8 && l->panel_height >= 4, CORE_RANGE,
               "%d x %d pixels are too few for %d panels of %g x %g m", def->width, def->height, count, width, height);
    int needed = (int)ceil(height * l->scale - 1e-9), low = def->legend ? (int)(3 * l->text) : 2;
    if (exact) l->panel_width = (int)fmax(1.0, floor(width * l->scale + 0.5));
    if (exact || def->height == 0) l->panel_height = needed > (exact ? 1 : low) ? needed : (exact ? 1 : low);
    l->border = exact && def->legend;
    int used = l->title + l->footer + l->rows * (l->caption + l->panel_height) + (l->rows - 1) * l->gap;
    l->height = def->height > 0 ? def->height : used + used % 2;
    double middle[2] = {0.5 * (region[0] + region[2]), 0.5 * (region[1] + region[3])};
    double half[2] = {0.5 * l->panel_width / l->scale, 0.5 * l->panel_height / l->scale};
    for (int k = 0; k < 4; k++) l->region[k] = middle[k % 2] + (k < 2 ? -half[k % 2] : half[k % 2]);
    return CORE_OK;
}

// Text at (x, base line y), made smaller until it fits into `room` pixels; left out if that is illegible. align: 0
// left, 1 right.
static double fitted_text(sim_canvas *canvas, const char *text, double x, double y, double size, double bold,
                          double room, double align) {
    double width = sim_text_width(text, size);
    if (width > room) size *= room / width, width = room;
    if (size < TEXT_LEGIBLE || width <= 0) return 0;
    sim_text_draw(canvas, text, x - align * width, y, size, bold, ink);
    return width;
}

// Length of 1, 2 or 5 times a power of ten, the largest that is not above `limit`.
static double round_length(double limit) {
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
static double draw_scale_bar(sim_canvas *canvas, const layout *l, double x, double y) {
    double length = round_length(fmax(0.16 * l->panel_width, 12) / l->scale), bar = length * l->scale;
    double thick = fmax(1.0, floor(0.16 * l->text + 0.5)), tick = floor(0.35 * l->text + 0.5);
    double base = y - floor(0.5 * l->text), left = floor(x), right = floor(x + bar + 0.5);
    sim_draw_rectangle(canvas, left, base, right, base + thick, ink);
    sim_draw_rectangle(canvas, left, base - tick, left + thick, base + thick + tick, ink);
    sim_draw_rectangle(canvas, right - thick, base - tick, right, base + thick + tick, ink);
    char text[64];
    length_text(length, text, sizeof text);
    double room = l->width - l->margin - right - 0.6 * l->text;
    return right - x + 0.6 * l->text + fitted_text(canvas, text, right + 0.6 * l->text, y, l->text, 1, room, 0);
}

// Names of the types with a swatch each, right-aligned at x; as many as there is room for, then "+ n".
static void draw_type_legend(sim_canvas *canvas, const core_run_info *info, double text, double x, double y,
                             double room) {
    double total = 0, swatch = text, gap = 1.6 * text, inner = 0.5 * text;
    char more[32] = "";
    int count = 0;
    while (count < info->count_types) {
        double width = swatch + inner + sim_text_width(info->types[count].name, text) + (count ? gap : 0);
        if (total + width > room) break;
        total += width, count++;
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
    for (int i = 0; i < count; i++) {
        sim_rgb colour = sim_colour_of_type(i), black = {0, 0, 0};
        sim_draw_rectangle(canvas, floor(at), y - floor(swatch), floor(at) + floor(swatch), y,
                           sim_colour_mix(colour, black, 0.5));
        sim_draw_rectangle(canvas, floor(at) + 1, y - floor(swatch) + 1, floor(at) + floor(swatch) - 1, y - 1, colour);
        at += swatch + inner;
        sim_text_draw(canvas, info->types[i].name, at, y, text, 1, ink);
        at += sim_text_width(info->types[i].name, text) + gap;
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

static void draw_footer(sim_canvas *canvas, const layout *l, const core_run_info *info, const sim_view_def *def) {
    double y = l->height - l->margin, right = l->width - l->margin; // base line
    double used = draw_scale_bar(canvas, l, l->margin, y), room = right - l->margin - used - 2 * l->text;
    if (room <= 0) return;
    char high[64];
    switch (def->colour) {
    case SIM_VIEW_SPEED:
        snprintf(high, sizeof high, "%.6g m/s", def->speed_max);
        draw_colour_bar(canvas, "speed", "0", high, sim_colour_sequential, l->text, right, y, room);
        break;
    case SIM_VIEW_ROTATION:
        draw_colour_bar(canvas, "rotation", "-180\xC2\xB0", "180\xC2\xB0", sim_colour_cyclic, l->text, right, y, room);
        break;
    case SIM_VIEW_SHAPE:
        if (info->count_types > 1) draw_type_legend(canvas, info, l->text, right, y, room);
        break;
    }
}

// "t = 0.20 s", with as many decimals as tell the run's frames apart.
static void time_text(const core_run_info *info, double time, char *text, size_t n_bytes) {
    double decimals = TIME_DECIMALS_MIN;
    double span = info->times[info->count_frames - 1] - info->times[0];
    if (info->count_frames > 1 && span > 0) decimals = ceil(-log10(span / (double)(info->count_frames - 1)) - 1e-6);
    decimals = fmin(fmax(decimals, TIME_DECIMALS_MIN), TIME_DECIMALS_MAX);
    snprintf(text, n_bytes, "t = %.*f s", (int)decimals, time);
}

// Reads and draws panel `index` with its caption.
static core_status draw_panel(sim_canvas *canvas, const layout *l, const sim_view_panel *panel, int index,
                              const sim_view_def *def, core_error *err) {
    const core_run_info *info = core_run_describe(panel->run);
    core_run_frame state = {0};
    CORE_TRY(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &state, err));
    core_status status = core_run_frame_add_walls(info->count_walls, &state, err);
    if (status == CORE_OK) status = core_run_read(panel->run, panel->frame, &state, err);
    if (status == CORE_OK) {
        int column = index % l->columns, row = index / l->columns;
        int slot = (l->width - 2 * l->margin - (l->columns - 1) * l->gap) / l->columns;
        int x = l->margin + column * (slot + l->gap) + (slot - l->panel_width) / 2;
        int y = l->title + row * (l->caption + l->panel_height + l->gap) + l->caption;
        sim_view_frame frame = {
            .x = x, .y = y, .width = l->panel_width, .height = l->panel_height, .scale = l->scale, .border = l->border};
        memcpy(frame.region, l->region, sizeof frame.region);
        if (def->legend) {
            char time[64], text[CAPTION_MAX];
            time_text(info, state.time, time, sizeof time);
            snprintf(text, sizeof text, "%s%s%s", panel->caption ? panel->caption : "", panel->caption ? ", " : "",
                     time);
            fitted_text(canvas, text, x, y - floor(0.7 * l->text), l->text, 1, l->panel_width, 0);
        }
        sim_view_panel_draw(canvas, info, &state, &frame, def);
    }
    core_run_frame_clear(&state);
    return status;
}

static core_status check_def(int count, const sim_view_panel *panels, const sim_view_def *def, core_error *err) {
    CORE_CHECK(panels && def, CORE_ARG, "panels or definition: found a null pointer");
    CORE_CHECK(def->cookie == DEF_COOKIE, CORE_ARG, "sim_view_def: start from sim_view_default_def()");
    CORE_CHECK(count >= 1 && count <= SIM_VIEW_PANELS_MAX, CORE_RANGE, "panels: found %d, expected 1 .. %d", count,
               SIM_VIEW_PANELS_MAX);
    CORE_CHECK(def->width >= SIM_VIEW_WIDTH_MIN && def->width <= SIM_VIEW_WIDTH_MAX, CORE_RANGE,
               "width: found %d, expected %d .. %d pixels", def->width, SIM_VIEW_WIDTH_MIN, SIM_VIEW_WIDTH_MAX);
    CORE_CHECK(def->height == 0 || (def->height >= SIM_VIEW_WIDTH_MIN && def->height <= SIM_VIEW_WIDTH_MAX), CORE_RANGE,
               "height: found %d, expected 0 or %d .. %d pixels", def->height, SIM_VIEW_WIDTH_MIN, SIM_VIEW_WIDTH_MAX);
    CORE_CHECK(def->colour == SIM_VIEW_SHAPE || def->colour == SIM_VIEW_SPEED || def->colour == SIM_VIEW_ROTATION,
               CORE_ARG, "colour: found %d, expected SHAPE, SPEED or ROTATION", (int)def->colour);
    CORE_CHECK(def->speed_max >= 0 && isfinite(def->speed_max), CORE_RANGE,
               "speed_max: found %g, expected a speed in m/s", def->speed_max);
    for (int i = 0; i < count; i++) {
        CORE_CHECK(panels[i].run, CORE_ARG, "panel %d: found no run", i);
        int64_t frames = core_run_describe(panels[i].run)->count_frames;
        CORE_CHECK(panels[i].frame >= 0 && panels[i].frame < frames, CORE_RANGE,
                   "frame %lld: the run has %lld frames, counted from 0", (long long)panels[i].frame,
                   (long long)frames);
    }
    return CORE_OK;
}

// The region of a picture: as wanted, or the union over the panels. *exact: it is drawn as it is.
static core_status picture_region(int count, const sim_view_panel *panels, const sim_view_def *def, double region[4],
                                  bool *exact, core_error *err) {
    const double *r = def->region;
    bool given = false;
    for (int k = 0; k < 4; k++) given = given || !(r[k] >= 0 && r[k] <= 0);
    if (given) {
        CORE_CHECK(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]) && isfinite(r[3]) && r[0] < r[2] && r[1] < r[3],
                   CORE_RANGE, "region: found %g,%g,%g,%g, expected x0 < x1 and y0 < y1 in m", r[0], r[1], r[2], r[3]);
        memcpy(region, r, 4 * sizeof *r);
    }
    for (int i = 0; i < count && !given; i++) {
        double one[4];
        CORE_TRY(sim_view_fit(panels[i].run, panels[i].frame, panels[i].frame, 1, one, err));
        for (int k = 0; k < 4; k++)
            region[k] = i == 0 ? one[k] : k < 2 ? fmin(region[k], one[k]) : fmax(region[k], one[k]);
    }
    *exact = given && !def->widen;
    return CORE_OK;
}

// The largest speed scale over the panels where the definition leaves it open.
static core_status picture_speed(int count, const sim_view_panel *panels, sim_view_def *def, core_error *err) {
    if (def->colour != SIM_VIEW_SPEED || def->speed_max > 0) return CORE_OK;
    for (int i = 0; i < count; i++) {
        double speed;
        CORE_TRY(sim_view_speed_scale(panels[i].run, panels[i].frame, panels[i].frame, 1, &speed, err));
        def->speed_max = fmax(def->speed_max, speed);
    }
    return CORE_OK;
}

sim_view_def sim_view_default_def(void) {
    return (sim_view_def){.cookie = DEF_COOKIE, .width = 1280, .colour = SIM_VIEW_SHAPE, .legend = true};
}

core_status sim_view_draw_panels(int count, const sim_view_panel *panels, const sim_view_def *wanted, sim_image *image,
                                 core_error *err) {
    CORE_CHECK(image, CORE_ARG, "image: found a null pointer");
    CORE_TRY(check_def(count, panels, wanted, err));
    sim_view_def def = *wanted;
    const core_run_info *info = core_run_describe(panels[0].run);
    bool exact = false, title = info->title && info->title[0];
    double region[4] = {0};
    for (int i = 1; i < count; i++) title = title && panels[i].run == panels[0].run;
    CORE_TRY(picture_region(count, panels, &def, region, &exact, err));
    CORE_TRY(picture_speed(count, panels, &def, err));
    layout l;
    CORE_TRY(layout_all(&def, count, region, exact, title, &l, err));
    core_status status = CORE_OK;
    sim_image picture = {0};
    sim_canvas canvas = {0};
    CORE_TRY_DONE(sim_image_create(l.width, l.height, &picture, err));
    CORE_TRY_DONE(sim_canvas_create(&picture, &canvas, err));
    if (def.legend && title)
        fitted_text(&canvas, info->title, l.margin, l.margin + floor(1.25 * l.text + 0.5), 1.25 * l.text, 1.25,
                    l.width - 2 * l.margin, 0);
    for (int i = 0; i < count; i++) CORE_TRY_DONE(draw_panel(&canvas, &l, &panels[i], i, &def, err));
    if (def.legend) draw_footer(&canvas, &l, info, &def);
    *image = picture;
    picture = (sim_image){0};
done:
    sim_canvas_clear(&canvas);
    sim_image_clear(&picture);
    return status;
}

core_status sim_view_draw(core_run_reader *run, int64_t frame, const sim_view_def *def, sim_image *image,
                          core_error *err) {
    sim_view_panel panel = {.run = run, .frame = frame};
    return sim_view_draw_panels(1, &panel, def, image, err);
}
