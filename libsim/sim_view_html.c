// A run as one page with a player: the page is sim_view_page.html, its data JSON with arrays in base64.
//   title, gravity, box [4], region [4], decimals, rates, rate, colour, speedMax, forceMax (null without contact rows)
//   types [{name, colour, radius, rings}], species u16, prescribed u8, rowColours u8 x 3, sequential and cyclic u8 x 3
//   x 256 walls [{radius} or {thickness, points}], frames [{t, pose u16 x 3 a row, speed u8, force u8, planes, walls}]
// Planes and walls of a frame are there where they differ from the frame before; null: not present.
#include "sim_view_private.h"

#include <math.h>
#include <string.h>

#define STEPS 65534   // of the box
#define ABSENT 65535u // x of a row without a grain
#define LEVELS 255    // of speed and force
#define PALETTE 256
#define BYTES_PER_FRAME 512 // beside its rows and boundaries
#define PLAYED_SECONDS 10.0 // aimed at by the rate that the page starts with
#define SPECIES_MAX 65535

static const double rates[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
#define COUNT_RATES ((int)(sizeof rates / sizeof *rates))
static const char *const colour_words[] = {"shape", "speed", "rotation", "force"};

// What a page is made of.
typedef struct page {
    core_buffer out; // borrows nothing
    core_run_reader *run;
    sim_view_state state;
    int64_t first, last, every;
    double box[4], region[4], speed_max, force_max;
    uint16_t *pose;         // (rows x 3)
    uint8_t *level;         // (rows)
    double *planes, *walls; // of the frame before; (planes x 4) and (walls x 4), last: present
} page;

static void clear_page(page *p) {
    core_buffer_clear(&p->out);
    sim_view_state_clear(&p->state);
    core_free(p->pose);
    core_free(p->level);
    core_free(p->planes);
    core_free(p->walls);
}

static void add_colour(core_buffer *b, sim_rgb c) {
    core_buffer_add(b, "\"#%02x%02x%02x\"", (unsigned)(c.r + 0.5f), (unsigned)(c.g + 0.5f), (unsigned)(c.b + 0.5f));
}

static void put_rgb(uint8_t *to, sim_rgb c) {
    to[0] = (uint8_t)(c.r + 0.5f), to[1] = (uint8_t)(c.g + 0.5f), to[2] = (uint8_t)(c.b + 0.5f);
}

static void add_numbers(core_buffer *b, const double *v, int n) {
    for (int i = 0; i < n; i++) core_buffer_add(b, "%s%.9g", i ? "," : "[", v[i]);
    core_buffer_add(b, n > 0 ? "]" : "[]");
}

// ---------------------------------------------------------------------------------------------- what stays

static void add_types(page *p) {
    const core_run_info *info = p->state.info;
    core_buffer *b = &p->out;
    core_buffer_add(b, "\"types\":[");
    for (int i = 0; i < info->count_types; i++) {
        const core_outline *o = &info->types[i].outline;
        core_buffer_add(b, "%s{\"name\":", i ? "," : "");
        core_buffer_add_json(b, info->types[i].name);
        core_buffer_add(b, ",\"colour\":");
        add_colour(b, sim_view_type_colour(info, i));
        core_buffer_add(b, ",\"radius\":%.9g,\"rings\":[", info->types[i].radius);
        for (int ring = 0; ring < o->count_rings; ring++) {
            if (ring) core_buffer_add(b, ",");
            add_numbers(b, o->xy + 2 * o->ring_start[ring], 2 * (o->ring_start[ring + 1] - o->ring_start[ring]));
        }
        core_buffer_add(b, "]}");
    }
    core_buffer_add(b, "],\n\"walls\":[");
    for (int i = 0; i < info->count_walls; i++) {
        const core_run_wall *w = &info->walls[i];
        if (i) core_buffer_add(b, ",");
        if (w->is_circle) {
            core_buffer_add(b, "{\"radius\":%.9g}", w->radius);
            continue;
        }
        core_buffer_add(b, "{\"thickness\":%.9g,\"points\":", w->thickness);
        add_numbers(b, w->points, 2 * w->count_points);
        core_buffer_add(b, "}");
    }
    core_buffer_add(b, "],\n");
}

static core_status add_rows(page *p, core_error *err) {
    const core_run_info *info = p->state.info;
    const size_t rows = (size_t)info->count_rows;
    core_status status = CORE_OK;
    uint8_t *colours = NULL, palette[3 * PALETTE];
    CORE_NEW_DONE(colours, 3 * rows + 1);
    for (size_t i = 0; i < rows; i++) {
        p->pose[i] = (uint16_t)info->species[i];
        put_rgb(colours + 3 * i, sim_colour_of_grain(info->species[i], (int)i));
    }
    core_buffer_add(&p->out, "\"species\":\"");
    core_buffer_add_base64(&p->out, p->pose, rows * sizeof *p->pose);
    core_buffer_add(&p->out, "\",\n\"prescribed\":\"");
    core_buffer_add_base64(&p->out, info->prescribed, rows);
    core_buffer_add(&p->out, "\",\n\"rowColours\":\"");
    core_buffer_add_base64(&p->out, colours, 3 * rows);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < PALETTE; i++)
            put_rgb(palette + 3 * i,
                    k ? sim_colour_cyclic((i + 0.5) / PALETTE) : sim_colour_sequential((double)i / LEVELS));
        core_buffer_add(&p->out, "\",\n\"%s\":\"", k ? "cyclic" : "sequential");
        core_buffer_add_base64(&p->out, palette, sizeof palette);
    }
    core_buffer_add(&p->out, "\",\n");
done:
    core_free(colours);
    return status;
}

static void add_header(page *p, const sim_view_def *def) {
    const core_run_info *info = p->state.info;
    core_buffer *b = &p->out;
    const double span = info->times[p->last] - info->times[p->first];
    int rate = 0;
    while (rate + 1 < COUNT_RATES && rates[rate + 1] * PLAYED_SECONDS <= span * 1.0001) rate++;
    core_buffer_add(b, "{\"title\":");
    core_buffer_add_json(b, info->title);
    core_buffer_add(b, ",\n\"gravity\":[%.9g,%.9g],\"decimals\":%d,\"colour\":\"%s\",\"boundaryColour\":",
                    info->gravity[0], info->gravity[1], sim_view_time_decimals(info), colour_words[def->colour]);
    add_colour(b, sim_colour_of_boundary());
    core_buffer_add(b, ",\"speedMax\":%.6g,\"forceMax\":", p->speed_max);
    core_buffer_add(b, p->state.force ? "%.6g" : "null", p->force_max);
    core_buffer_add(b, ",\"rate\":%g,\"rates\":", rates[rate]);
    add_numbers(b, rates, COUNT_RATES);
    core_buffer_add(b, ",\n\"box\":");
    add_numbers(b, p->box, 4);
    core_buffer_add(b, ",\"region\":");
    add_numbers(b, p->region, 4);
    core_buffer_add(b, ",\n");
}

// ---------------------------------------------------------------------------------------------- frames

static uint16_t quantised(double v, double low, double high) {
    const double s = high > low ? (v - low) / (high - low) : 0;
    return (uint16_t)(STEPS * fmin(fmax(s, 0), 1) + 0.5);
}

static uint8_t level(double v, double top) {
    return (uint8_t)(LEVELS * fmin(fmax(v / top, 0), 1) + 0.5);
}

static void add_poses(page *p) {
    const core_run_frame *f = &p->state.frame;
    const int rows = p->state.info->count_rows;
    for (int i = 0; i < rows; i++) {
        uint16_t *q = p->pose + 3 * (size_t)i;
        q[0] = ABSENT, q[1] = q[2] = 0, p->level[i] = 0;
        if (!sim_view_is_drawn(f, i)) continue;
        const double turns = f->orientation[i] / (2 * CORE_PI);
        q[0] = quantised(f->position[2 * i], p->box[0], p->box[2]);
        q[1] = quantised(f->position[2 * i + 1], p->box[1], p->box[3]);
        q[2] = (uint16_t)((uint32_t)((turns - floor(turns)) * 65536 + 0.5) & 65535u);
        const double *v = f->velocity + 2 * (size_t)i;
        p->level[i] = level(sqrt(v[0] * v[0] + v[1] * v[1]), p->speed_max);
    }
    core_buffer_add(&p->out, "\"pose\":\"");
    core_buffer_add_base64(&p->out, p->pose, 3 * (size_t)rows * sizeof *p->pose);
    core_buffer_add(&p->out, "\",\"speed\":\"");
    core_buffer_add_base64(&p->out, p->level, (size_t)rows);
    if (p->state.force) {
        for (int i = 0; i < rows; i++) p->level[i] = level(p->state.force[i], p->force_max);
        core_buffer_add(&p->out, "\",\"force\":\"");
        core_buffer_add_base64(&p->out, p->level, (size_t)rows);
    }
    core_buffer_add(&p->out, "\"");
}

// Triples with a flag each, if they are not those of the frame before.
static void add_boundaries(page *p, const char *name, int n, const double *triples, const uint8_t *present,
                           double *before, bool always) {
    bool changed = always;
    for (int i = 0; i < n; i++) {
        const double now[4] = {triples[3 * i], triples[3 * i + 1], triples[3 * i + 2], present[i]};
        changed = changed || memcmp(now, before + 4 * i, sizeof now) != 0;
        memcpy(before + 4 * i, now, sizeof now);
    }
    if (!changed) return;
    core_buffer_add(&p->out, ",\"%s\":[", name);
    for (int i = 0; i < n; i++) {
        if (i) core_buffer_add(&p->out, ",");
        if (present[i])
            add_numbers(&p->out, triples + 3 * i, 3);
        else
            core_buffer_add(&p->out, "null");
    }
    core_buffer_add(&p->out, "]");
}

static core_status add_frames(page *p, core_error *err) {
    const core_run_info *info = p->state.info;
    core_buffer_add(&p->out, "\"frames\":[");
    for (int64_t i = p->first; i <= p->last; i += p->every) {
        const bool is_first = i == p->first;
        CORE_TRY(sim_view_state_read(p->run, i, &p->state, err));
        core_buffer_add(&p->out, "%s{\"t\":%.9g,", is_first ? "" : ",\n", p->state.frame.time);
        add_poses(p);
        add_boundaries(p, "planes", info->count_planes, p->state.frame.plane, p->state.frame.plane_present, p->planes,
                       is_first);
        add_boundaries(p, "walls", info->count_walls, p->state.frame.wall_pose, p->state.frame.wall_present, p->walls,
                       is_first);
        core_buffer_add(&p->out, "}");
    }
    core_buffer_add(&p->out, "]}");
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- the page

// Box of the grains' centres over the frames of the page, not empty along any axis.
static core_status find_box(page *p, core_error *err) {
    double *box = p->box;
    box[0] = box[1] = INFINITY, box[2] = box[3] = -INFINITY;
    for (int64_t i = p->first; i <= p->last; i += p->every) {
        CORE_TRY(sim_view_state_read(p->run, i, &p->state, err));
        for (int k = 0; k < 2 * p->state.info->count_rows; k++) {
            const double x = p->state.frame.position[k];
            if (!sim_view_is_drawn(&p->state.frame, k / 2)) continue;
            box[k % 2] = fmin(box[k % 2], x), box[2 + k % 2] = fmax(box[2 + k % 2], x);
        }
    }
    for (int k = 0; k < 2; k++) {
        if (!(box[k] <= box[2 + k])) box[k] = box[2 + k] = 0;
        if (!(box[k] < box[2 + k])) box[2 + k] = box[k] + 1;
    }
    return CORE_OK;
}

// The step: given, or the smallest whose page is small enough.
static core_status choose_step(page *p, int64_t every, core_error *err) {
    const core_run_info *info = p->state.info;
    const double rows = info->count_rows, row = p->state.force ? 8 : 7;
    const double frame = 4.0 / 3 * row * rows + BYTES_PER_FRAME + 50.0 * (info->count_planes + info->count_walls);
    double left = SIM_VIEW_HTML_BYTES_MAX - 20 * rows - 65536;
    for (int i = 0; i < info->count_types; i++) left -= 40.0 * core_outline_count(&info->types[i].outline);
    for (int i = 0; i < info->count_walls; i++) left -= 40.0 * info->walls[i].count_points;
    const int64_t most = (int64_t)fmin(left / frame, 1e9), count = p->last - p->first + 1;
    CORE_CHECK(most >= 1, CORE_RANGE, "a page of %d rows would be larger than %d bytes", info->count_rows,
               SIM_VIEW_HTML_BYTES_MAX);
    p->every = every > 0 ? every : (count + most - 1) / most;
    CORE_CHECK((count - 1) / p->every + 1 <= most, CORE_RANGE,
               "a page of %lld frames would be larger than %d bytes: at most %lld, every %lld-th",
               (long long)((count - 1) / p->every + 1), SIM_VIEW_HTML_BYTES_MAX, (long long)most,
               (long long)((count + most - 1) / most));
    return CORE_OK;
}

static core_status prepare_page(page *p, const sim_view_def *def, core_error *err) {
    const core_run_info *info = core_run_describe(p->run);
    core_status status = CORE_OK;
    bool given = false;
    CORE_CHECK(info->count_types <= SPECIES_MAX, CORE_RANGE, "found %d types, expected at most %d", info->count_types,
               SPECIES_MAX);
    CORE_TRY(sim_view_state_create(p->run, info->contacts, &p->state, err));
    CORE_NEW_DONE(p->pose, 3 * (size_t)info->count_rows + 1);
    CORE_NEW_DONE(p->level, (size_t)info->count_rows + 1);
    CORE_NEW_DONE(p->planes, 4 * (size_t)info->count_planes + 1);
    CORE_NEW_DONE(p->walls, 4 * (size_t)info->count_walls + 1);
    for (int k = 0; k < 4; k++) {
        p->region[k] = def->region[k];
        given = given || def->region[k] < 0 || def->region[k] > 0;
    }
    if (!given) CORE_TRY_DONE(sim_view_fit(p->run, p->first, p->last, p->every, p->region, err));
    p->speed_max = def->speed_max, p->force_max = def->force_max;
    if (!(p->speed_max > 0))
        CORE_TRY_DONE(sim_view_speed_scale(p->run, p->first, p->last, p->every, &p->speed_max, err));
    if (info->contacts && !(p->force_max > 0))
        CORE_TRY_DONE(sim_view_force_scale(p->run, p->first, p->last, p->every, &p->force_max, err));
    CORE_TRY_DONE(find_box(p, err));
done:
    return status;
}

core_status sim_view_write_html(const char *path, core_run_reader *run, int64_t first, int64_t last, int64_t *every,
                                const sim_view_def *def, core_error *err) {
    CORE_CHECK(path && run && every && def, CORE_ARG, "path, run, step or definition: found a null pointer");
    CORE_CHECK(*every >= 0 && first >= 0 && first <= last, CORE_RANGE,
               "frames %lld .. %lld in steps of %lld: expected a range and a step", (long long)first, (long long)last,
               (long long)*every);
    CORE_TRY(sim_view_check(1, &(sim_view_panel){.run = run, .frame = last}, def, err));
    static const char place[] = "@DATA@";
    const char *html = (const char *)sim__view_page, *data = strstr(html, place);
    core_status status = CORE_OK;
    page p = {.run = run, .first = first, .last = last, .state.info = core_run_describe(run)};
    CORE_CHECK(data, CORE_INTERNAL, "the page has no %s", place);
    CORE_TRY_DONE(choose_step(&p, *every, err));
    CORE_TRY_DONE(prepare_page(&p, def, err));
    core_buffer_add_bytes(&p.out, html, (size_t)(data - html));
    add_header(&p, def);
    add_types(&p);
    CORE_TRY_DONE(add_rows(&p, err));
    CORE_TRY_DONE(add_frames(&p, err));
    core_buffer_add_bytes(&p.out, data + strlen(place), strlen(data + strlen(place)));
    CORE_CHECK_DONE(!p.out.failed, CORE_MEMORY, "%s: out of memory while writing the page", path);
    CORE_TRY_DONE(core_file_write(path, p.out.text, p.out.size, err));
    *every = p.every;
done:
    clear_page(&p);
    return status;
}
