// Pictures of a report as inline SVG: loss curves, histograms, slices of d. A slice's colours are a BMP inside the SVG.
#include "cspace_report.h"

#include <math.h>
#include <string.h>

#define BINS 60
#define SIDE 160         // pixels of a slice; a multiple of 4, as the rows of a BMP
#define ERROR_SHOWN 0.01 // error of d with the full colour, units of L
#define LEVELS 201       // colours of the error; behind them: apart, overlap
#define BMP_HEADER (54 + 4 * 256)

// ---------------------------------------------------------------------------------------------- curves and bars

// The caption is title and note.
static void open_plot(core_buffer *text, const char *title, const char *note) {
    core_buffer_add(text,
                    "<figure><figcaption>%s%s</figcaption><svg viewBox=\"0 0 352 200\" width=\"352\" height=\"200\">"
                    "<rect x=\"46\" y=\"8\" width=\"286\" height=\"166\" class=\"frame\"/>",
                    title, note);
}

// Decimal logarithm of a loss, kept where an axis can show it whatever a training left there.
static double loss_level(float loss) {
    return log10(fmin(fmax((double)loss, 1e-30), 1e30));
}

static void plot_curve(core_buffer *text, const nn_train_report *report, const char *colour, double lo, double hi) {
    if (report->count_curve < 2) return;
    core_buffer_add(text, "<polyline class=\"curve\" stroke=\"%s\" points=\"", colour);
    for (int i = 0; i < report->count_curve; i++) {
        const double x = 46.0 + 286.0 * (i + 1) / report->count_curve;
        const double y = 174.0 - 166.0 * (loss_level(report->curve[i]) - lo) / (hi - lo);
        core_buffer_add(text, "%.1f,%.1f ", x, fmin(fmax(y, 8.0), 174.0));
    }
    core_buffer_add(text, "\"/>");
}

void cspace__plot_losses(core_buffer *text, const cspace_map *map) {
    const nn_train_report *reports[2] = {&map->train_distance, &map->train_moment_arm};
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < reports[k]->count_curve; i++) {
            const double level = loss_level(reports[k]->curve[i]);
            lo = fmin(lo, level), hi = fmax(hi, level);
        }
    if (!(lo <= hi)) return;
    lo = floor(lo), hi = floor(hi) + 1.0;
    open_plot(text, "training loss over the steps: <b class=\"map\">distance</b>, <b class=\"arm\">moment arm</b>", "");
    for (double level = lo; level <= hi; level += 1.0) {
        const double y = 174.0 - 166.0 * (level - lo) / (hi - lo);
        core_buffer_add(text,
                        "<line x1=\"46\" x2=\"332\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/><text x=\"42\" y=\"%.1f\" "
                        "text-anchor=\"end\">1e%g</text>",
                        y, y, y + 4.0, level);
    }
    plot_curve(text, reports[0], "#c22", lo, hi);
    plot_curve(text, reports[1], "#26a", lo, hi);
    core_buffer_add(text, "<text x=\"332\" y=\"190\" text-anchor=\"end\">%lld steps</text></svg></figure>\n",
                    (long long)reports[0]->steps);
}

void cspace__plot_histogram(core_buffer *text, const char *title, const char *unit, const double *values, int64_t n,
                            double lo, double hi) {
    int64_t count[BINS] = {0}, most = 1;
    for (int64_t i = 0; i < n; i++) {
        const double at = floor((values[i] - lo) / (hi - lo) * BINS);
        const int bin = at > 0.0 ? (at < BINS ? (int)at : BINS - 1) : 0;
        if (++count[bin] > most) most = count[bin];
    }
    open_plot(text, title, "; end bars: all beyond");
    for (int i = 0; i < BINS; i++) {
        const double height = 160.0 * (double)count[i] / (double)most;
        core_buffer_add(text, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"bar\"/>",
                        46.0 + 286.0 * i / BINS, 174.0 - height, 286.0 / BINS, height);
    }
    for (int i = 0; i <= 4; i++)
        core_buffer_add(text, "<text x=\"%.1f\" y=\"190\" text-anchor=\"middle\">%g</text>", 46.0 + 286.0 * i / 4,
                        lo + (hi - lo) * i / 4);
    core_buffer_add(text,
                    "<text x=\"42\" y=\"18\" text-anchor=\"end\">%.0f %%</text><text x=\"330\" y=\"22\" "
                    "text-anchor=\"end\">%s</text></svg></figure>\n",
                    n > 0 ? 100.0 * (double)most / (double)n : 0.0, unit);
}

// ---------------------------------------------------------------------------------------------- slices

typedef struct slice {
    double map[SIDE * SIDE], exact[SIDE * SIDE]; // d at the middles of the pixels; NaN: not within .1
    unsigned char bmp[BMP_HEADER + SIDE * SIDE];
} slice;

static void put_le(unsigned char *to, unsigned value, int n_bytes) {
    for (int i = 0; i < n_bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

// Blue: the map's d is too small, red: too large, white: right; light grey: overlap beyond .1.
static void palette_entry(int i, unsigned char bgr[4]) {
    const double e = 2.0 * i / (LEVELS - 1) - 1.0, fade = 1.0 - fmin(fabs(e), 1.0);
    const double rgb[3] = {e > 0.0 ? 0.8 + 0.2 * fade : 0.1 + 0.9 * fade, 0.1 + 0.9 * fade,
                           e < 0.0 ? 0.75 + 0.25 * fade : 0.1 + 0.9 * fade};
    for (int k = 0; k < 3; k++) bgr[2 - k] = (unsigned char)(i < LEVELS ? 255.0 * rgb[k] : i == LEVELS ? 255.0 : 222.0);
}

static void draw_bmp(slice *s) {
    unsigned char *h = s->bmp;
    memset(h, 0, BMP_HEADER);
    h[0] = 'B', h[1] = 'M';
    put_le(h + 2, sizeof s->bmp, 4);
    put_le(h + 10, BMP_HEADER, 4);
    put_le(h + 14, 40, 4);
    put_le(h + 18, SIDE, 4); // rows from below, as y
    put_le(h + 22, SIDE, 4);
    put_le(h + 26, 1, 2);
    put_le(h + 28, 8, 2);
    put_le(h + 34, SIDE * SIDE, 4);
    put_le(h + 46, 256, 4);
    for (int i = 0; i < 256; i++) palette_entry(i, h + 54 + 4 * i);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double e = fmin(fmax((s->map[i] - s->exact[i]) / ERROR_SHOWN, -1.0), 1.0);
        const int level =
            isnan(s->exact[i]) ? LEVELS + (s->map[i] < 0.0 ? 1 : 0) : (int)((e + 1.0) * 0.5 * (LEVELS - 1));
        h[BMP_HEADER + i] = (unsigned char)level;
    }
}

// Where d vanishes on the edge from node p to node q.
static void crossing(const double *d, int p, int q, double xy[2]) {
    const double at = d[p] / (d[p] - d[q]);
    xy[0] = p % SIDE + at * (q % SIDE - p % SIDE) + 0.5;
    xy[1] = SIDE - (p / SIDE + at * (q / SIDE - p / SIDE) + 0.5);
}

// Zero set by triangles: two a square of four nodes, no case is ambiguous.
static void draw_zero(core_buffer *text, const double *d, const char *class) {
    core_buffer_add(text, "<path class=\"%s\" d=\"", class);
    for (int j = 0; j + 1 < SIDE; j++)
        for (int i = 0; i + 1 < SIDE; i++)
            for (int half = 0; half < 2; half++) {
                const int o = j * SIDE + i, node[3] = {o, half ? o + SIDE + 1 : o + 1, half ? o + SIDE : o + SIDE + 1};
                double xy[2][2];
                int n = 0;
                if (isnan(d[node[0]]) || isnan(d[node[1]]) || isnan(d[node[2]])) continue;
                for (int k = 0; k < 3; k++) {
                    const int p = node[k], q = node[(k + 1) % 3];
                    if ((d[p] < 0.0) != (d[q] < 0.0) && n < 2) crossing(d, p, q, xy[n++]);
                }
                if (n == 2) core_buffer_add(text, "M%.2f %.2fL%.2f %.2f", xy[0][0], xy[0][1], xy[1][0], xy[1][1]);
            }
    core_buffer_add(text, "\"/>");
}

core_status cspace__plot_slice(core_buffer *text, const cspace_map *map, const cspace_exact *exact, double theta,
                               cspace_map_scratch *scratch, cspace_exact_scratch *exact_scratch, core_error *err) {
    core_status status = CORE_OK;
    slice *s = NULL;
    CORE_NEW_DONE(s, 1);
    const double reach = map->scale_a + map->scale_b + 0.05;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const cspace_pose pose = {theta, reach * ((2 * (i % SIDE) + 1.0) / SIDE - 1.0),
                                  reach * ((2 * (i / SIDE) + 1.0) / SIDE - 1.0)};
        cspace_contact contact;
        cspace_map_distance(map, &pose, 1, &s->map[i], scratch);
        const bool near = exact && cspace_exact_near(exact, &pose, 0.1, &contact, exact_scratch);
        s->exact[i] = near ? contact.d : NAN;
    }
    draw_bmp(s);
    core_buffer_add(text,
                    "<figure><figcaption>theta = %.3g rad, t within %.3g</figcaption><svg viewBox=\"0 0 %d %d\" "
                    "width=\"340\" height=\"340\"><image width=\"%d\" height=\"%d\" "
                    "style=\"image-rendering:pixelated\" href=\"data:image/bmp;base64,",
                    theta, reach, SIDE, SIDE, SIDE, SIDE);
    core_buffer_add_base64(text, s->bmp, sizeof s->bmp);
    core_buffer_add(text, "\"/>");
    draw_zero(text, s->exact, "exact");
    draw_zero(text, s->map, "zero");
    core_buffer_add(text, "</svg></figure>\n");
done:
    core_free(s);
    return status;
}
