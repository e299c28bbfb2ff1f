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
#define GAP_PLAIN 8 // pixels between panels without legend
#define CAPTION_MAX 512
#define TIME_DECIMALS_MIN 2
#define TIME_DECIMALS_MAX 9

// Writes the strips that do not depend on the region.
static void layout_strips(const sim_view_def *def, bool title, sim_view_layout *l) {
    *l = (sim_view_layout){.width = def->width, .gap = GAP_PLAIN};
    l->text = fmin(fmax(def->width * TEXT_PER_WIDTH, TEXT_MIN), TEXT_MAX);
    if (!def->legend) return;
    l->margin = (int)(1.5 * l->text + 0.5);
    l->gap = (int)(1.2 * l->text + 0.5);
    l->title = l->margin + (title ? (int)(2.4 * l->text + 0.5) : 0);
    l->caption = (int)(1.8 * l->text + 0.5);
    l->footer = (int)(2.4 * l->text + 0.5) + l->margin;
}

// Chooses rows and columns: the largest scale; under each other among equals.
static void layout_grid(const sim_view_def *def, int count, double width, double height, sim_view_layout *l) {
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
                              sim_view_layout *l, core_error *err) {
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

static void time_text(const core_run_info *info, double time, char *text, size_t n_bytes) {
    snprintf(text, n_bytes, "t = %.*f s", sim_view_time_decimals(info), time);
}

static bool needs_forces(const sim_view_def *def) {
    return def->forces || def->colour == SIM_VIEW_FORCE;
}

// Reads and draws panel `index` with its caption.
static core_status draw_panel(sim_canvas *canvas, const sim_view_layout *l, const sim_view_panel *panel, int index,
                              const sim_view_def *def, core_error *err) {
    sim_view_state state = {0};
    sim_view_surface surface = {0};
    const bool continuum = def->colour == SIM_VIEW_SHAPE && sim_view_is_continuum(core_run_describe(panel->run));
    CORE_TRY(sim_view_state_create(panel->run, needs_forces(def), &state, err));
    core_status status = sim_view_state_read(panel->run, panel->frame, &state, err);
    if (status == CORE_OK && continuum)
        status = sim_view_surface_create(&state, l->region, 1 / l->scale, &surface, err);
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
            time_text(state.info, state.frame.time, time, sizeof time);
            snprintf(text, sizeof text, "%s%s%s", panel->caption ? panel->caption : "", panel->caption ? ", " : "",
                     time);
            sim_view_fitted_text(canvas, text, x, y - floor(0.7 * l->text), l->text, 1, l->panel_width, 0);
        }
        sim_view_panel_draw(canvas, &state, continuum ? &surface : NULL, &frame, def);
    }
    sim_view_surface_clear(&surface);
    sim_view_state_clear(&state);
    return status;
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

// The largest scales over the panels where the definition leaves them open.
static core_status picture_scales(int count, const sim_view_panel *panels, sim_view_def *def, core_error *err) {
    const bool speeds = def->colour == SIM_VIEW_SPEED && !(def->speed_max > 0);
    const bool forces = needs_forces(def) && !(def->force_max > 0);
    for (int i = 0; i < count; i++) {
        const sim_view_panel *p = &panels[i];
        double scale = 0;
        if (speeds) {
            CORE_TRY(sim_view_speed_scale(p->run, p->frame, p->frame, 1, &scale, err));
            def->speed_max = fmax(def->speed_max, scale);
        }
        if (forces) {
            CORE_TRY(sim_view_force_scale(p->run, p->frame, p->frame, 1, &scale, err));
            def->force_max = fmax(def->force_max, scale);
        }
    }
    return CORE_OK;
}

// What is decided before anything is drawn: scales, region, layout.
static core_status plan_picture(int count, const sim_view_panel *panels, sim_view_def *def, bool *title,
                                sim_view_layout *l, core_error *err) {
    CORE_TRY(sim_view_check(count, panels, def, err));
    const core_run_info *info = core_run_describe(panels[0].run);
    bool exact = false;
    double region[4] = {0};
    *title = info->title && info->title[0];
    for (int i = 1; i < count; i++) *title = *title && panels[i].run == panels[0].run;
    CORE_TRY(picture_region(count, panels, def, region, &exact, err));
    CORE_TRY(picture_scales(count, panels, def, err));
    return layout_all(def, count, region, exact, *title, l, err);
}

static core_status draw_picture(sim_canvas *canvas, int count, const sim_view_panel *panels, const sim_view_def *def,
                                bool title, const sim_view_layout *l, core_error *err) {
    const core_run_info *info = core_run_describe(panels[0].run);
    if (def->legend && title)
        sim_view_fitted_text(canvas, info->title, l->margin, l->margin + floor(1.25 * l->text + 0.5), 1.25 * l->text,
                             1.25, l->width - 2 * l->margin, 0);
    for (int i = 0; i < count; i++) CORE_TRY(draw_panel(canvas, l, &panels[i], i, def, err));
    if (def->legend) sim_view_footer_draw(canvas, l, info, def);
    return CORE_OK;
}

core_status sim_view_check(int count, const sim_view_panel *panels, const sim_view_def *def, core_error *err) {
    CORE_CHECK(panels && def, CORE_ARG, "panels or definition: found a null pointer");
    CORE_CHECK(def->cookie == DEF_COOKIE, CORE_ARG, "sim_view_def: start from sim_view_default_def()");
    CORE_CHECK(count >= 1 && count <= SIM_VIEW_PANELS_MAX, CORE_RANGE, "panels: found %d, expected 1 .. %d", count,
               SIM_VIEW_PANELS_MAX);
    CORE_CHECK(def->width >= SIM_VIEW_WIDTH_MIN && def->width <= SIM_VIEW_WIDTH_MAX, CORE_RANGE,
               "width: found %d, expected %d .. %d pixels", def->width, SIM_VIEW_WIDTH_MIN, SIM_VIEW_WIDTH_MAX);
    CORE_CHECK(def->height == 0 || (def->height >= SIM_VIEW_WIDTH_MIN && def->height <= SIM_VIEW_WIDTH_MAX), CORE_RANGE,
               "height: found %d, expected 0 or %d .. %d pixels", def->height, SIM_VIEW_WIDTH_MIN, SIM_VIEW_WIDTH_MAX);
    CORE_CHECK((int)def->colour >= SIM_VIEW_SHAPE && (int)def->colour <= SIM_VIEW_FORCE, CORE_ARG,
               "colour: found %d, expected SHAPE, SPEED, ROTATION or FORCE", (int)def->colour);
    CORE_CHECK(def->speed_max >= 0 && isfinite(def->speed_max), CORE_RANGE,
               "speed_max: found %g, expected a speed in m/s", def->speed_max);
    CORE_CHECK(def->force_max >= 0 && isfinite(def->force_max), CORE_RANGE,
               "force_max: found %g, expected a force in N per metre of depth", def->force_max);
    for (int i = 0; i < count; i++) {
        CORE_CHECK(panels[i].run, CORE_ARG, "panel %d: found no run", i);
        int64_t frames = core_run_describe(panels[i].run)->count_frames;
        CORE_CHECK(panels[i].frame >= 0 && panels[i].frame < frames, CORE_RANGE,
                   "frame %lld: the run has %lld frames, counted from 0", (long long)panels[i].frame,
                   (long long)frames);
    }
    return CORE_OK;
}

int sim_view_time_decimals(const core_run_info *info) {
    double decimals = TIME_DECIMALS_MIN;
    double span = info->times[info->count_frames - 1] - info->times[0];
    if (info->count_frames > 1 && span > 0) decimals = ceil(-log10(span / (double)(info->count_frames - 1)) - 1e-6);
    return (int)fmin(fmax(decimals, TIME_DECIMALS_MIN), TIME_DECIMALS_MAX);
}

sim_view_def sim_view_default_def(void) {
    return (sim_view_def){.cookie = DEF_COOKIE, .width = 1280, .colour = SIM_VIEW_SHAPE, .legend = true};
}

core_status sim_view_draw_panels(int count, const sim_view_panel *panels, const sim_view_def *wanted, sim_image *image,
                                 core_error *err) {
    CORE_CHECK(image && panels && wanted, CORE_ARG, "image, panels or definition: found a null pointer");
    sim_view_def def = *wanted;
    bool title = false;
    sim_view_layout l;
    CORE_TRY(plan_picture(count, panels, &def, &title, &l, err));
    core_status status = CORE_OK;
    sim_image picture = {0};
    sim_canvas canvas = {0};
    CORE_TRY_DONE(sim_image_create(l.width, l.height, &picture, err));
    CORE_TRY_DONE(sim_canvas_create(&picture, &canvas, err));
    CORE_TRY_DONE(draw_picture(&canvas, count, panels, &def, title, &l, err));
    *image = picture;
    picture = (sim_image){0};
done:
    sim_canvas_clear(&canvas);
    sim_image_clear(&picture);
    return status;
}

core_status sim_view_write_svg(const char *path, int count, const sim_view_panel *panels, const sim_view_def *wanted,
                               core_error *err) {
    CORE_CHECK(path && panels && wanted, CORE_ARG, "path, panels or definition: found a null pointer");
    sim_view_def def = *wanted;
    bool title = false;
    sim_view_layout l;
    CORE_TRY(plan_picture(count, panels, &def, &title, &l, err));
    core_status status = CORE_OK;
    sim_image size = {.width = l.width, .height = l.height};
    sim_svg svg = {0};
    sim_canvas canvas = {0};
    sim_svg_begin(&svg, l.width, l.height);
    CORE_TRY_DONE(sim_canvas_create(&size, &canvas, err));
    canvas.svg = &svg;
    CORE_TRY_DONE(draw_picture(&canvas, count, panels, &def, title, &l, err));
    sim_svg_end(&svg);
    CORE_CHECK_DONE(!svg.out.failed && !svg.shapes.failed, CORE_MEMORY, "%s: out of memory while drawing", path);
    CORE_TRY_DONE(core_file_write(path, svg.out.text, svg.out.size, err));
done:
    core_buffer_clear(&svg.out);
    core_buffer_clear(&svg.shapes);
    sim_canvas_clear(&canvas);
    return status;
}
