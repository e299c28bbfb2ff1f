// A report on maps as one self-contained HTML file: what the error statement says, loss curves, histograms of errors,
// slices of d. For a person who has to decide whether to trust a map.
#include "cspace_report.h"

#include "cspace_error.h"

#include <math.h>
#include <string.h>

#define SLICES 6
static const double slice_angles[SLICES] = {0.0, 0.3, 0.25 * CORE_PI, 1.2, 2.2, CORE_PI};

struct cspace_report {
    core_buffer text;
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>Contact maps</title><style>\n"
    "body{font:15px sans-serif;margin:1.5em;max-width:1120px;color:#222}figure{display:inline-block;margin:0 12px 14px "
    "0}\n"
    "figcaption{font-size:13px;margin-bottom:3px}svg text{font:11px "
    "sans-serif;fill:#444}.frame{fill:none;stroke:#999}\n"
    ".grid{stroke:#ddd}.curve{fill:none;stroke-width:1.5}.bar{fill:#579}.map{color:#c22}.arm{color:#26a}\n"
    ".exact{fill:none;stroke:#000;stroke-width:1.6}.zero{fill:none;stroke:#f80;stroke-width:.7}svg{background:#fff}\n"
    "table{border-collapse:collapse;margin:.6em 0 1em}td,th{border:1px solid #ccc;padding:3px 9px;text-align:right}\n"
    "td:first-child,th:first-child{text-align:left}.ok{background:#dfd}.fair{background:#ffd}.bad{background:#fcc}\n"
    ".remark{background:#eef;padding:4px 9px}\n"
    "</style></head><body>\n<h1>Contact maps: what they get wrong</h1>\n";

core_status cspace_report_create(cspace_report **report, core_error *err) {
    CORE_CHECK(report, CORE_ARG, "cspace_report_create: null argument");
    core_status status = CORE_OK;
    cspace_report *r = NULL;
    CORE_NEW_DONE(r, 1);
    core_buffer_add_bytes(&r->text, head, sizeof head - 1);
    CORE_CHECK_DONE(!r->text.failed, CORE_MEMORY, "cspace_report_create: out of memory");
    *report = r;
    r = NULL;
done:
    cspace_report_destroy(&r);
    return status;
}

void cspace_report_destroy(cspace_report **report) {
    if (!report || !*report) return;
    core_buffer_clear(&(*report)->text);
    core_free(*report);
    *report = NULL;
}

// One row: a number, green up to `good`, yellow up to `fair`, red beyond.
static void print_row(core_buffer *text, const char *name, double value, const char *unit, double good, double fair) {
    const char *mark = value <= good ? "ok" : value <= fair ? "fair" : "bad";
    core_buffer_add(text, "<tr><td>%s</td><td class=\"%s\">%.3g %s</td><td>%.4g</td><td>%.4g</td></tr>\n", name, mark,
                    value, unit, good, fair);
}

// What a map gets wrong near contact, against the best there is.
static const cspace_error_stats *best_stats(const cspace_statement *s) {
    return s->exact ? &s->map_exact[CSPACE_BANDS] : &s->map_labels[CSPACE_BANDS];
}

static void print_summary(core_buffer *text, const cspace_map *map) {
    const cspace_statement *s = &map->statement;
    const cspace_error_stats *e = best_stats(s);
    core_buffer_add(text,
                    "<table><tr><th>%s, within .1 of contact</th><th>found</th><th>good up to</th><th>usable up "
                    "to</th></tr>\n",
                    s->exact ? "against exact geometry" : "against the labels");
    print_row(text, "error of d, mean", e->d_mean, "L", 0.002, 0.005);
    print_row(text, "error of d, 99 %", e->d_p99, "L", 0.01, 0.025);
    print_row(text, "error of d, largest", e->d_max, "L", 0.03, 0.06);
    print_row(text, "wrong signs where |d| &gt; .005", 100.0 * e->sign_errors, "%", 0.1, 0.5);
    print_row(text, "angle of normals, median", e->normal_p50, "degrees", 2.0, 5.0);
    print_row(text, "moment arms, median", e->arm_p50, "L", 0.015, 0.04);
    print_row(text, "jump of d at seams, 99 %", s->jump[CSPACE_BANDS].d_p99, "L", 0.001, 0.01);
    const double missed = s->overlaps[1] > 0 ? 100.0 * (double)s->missed[1] / (double)s->overlaps[1] : 0.0;
    print_row(text, "overlaps over .01 it does not see", missed, "%", 0.01, 0.2);
    core_buffer_add(text, "</table>\n");
}

// What to keep in mind about this map: labels that are shallow in overlap, a training that went wrong.
static void print_remarks(core_buffer *text, const cspace_map *map) {
    const cspace_statement *s = &map->statement;
    if (strcmp(map->labels, cspace_labels_names[CSPACE_LABELS_MINIMISER]) == 0) {
        core_buffer_add(text, "<p class=\"remark\">Labels of the minimiser: exact apart, shallower than the "
                              "translational depth in overlap (corners, thin walls)");
        if (s->exact && s->labels_exact[0].n > 0)
            core_buffer_add(text,
                            ", here by %.2g L on average where the depth is %g to %g L, by %.2g at %g to %g and by "
                            "up to %.2g",
                            s->labels_exact[0].d_bias, -cspace_band_edges[1], -cspace_band_edges[0],
                            s->labels_exact[1].d_bias, -cspace_band_edges[2], -cspace_band_edges[1],
                            s->labels_exact[CSPACE_BANDS].d_max);
        core_buffer_add(text, ": forces are that much softer there. csample and mkmaps with --labels exact have no "
                              "such error.</p>\n");
    }
    for (int net = 0; net < 2; net++) {
        char trouble[256];
        if (cspace_map_trouble(map, net, trouble, sizeof trouble))
            core_buffer_add(text, "<p class=\"remark\">The %s: look at its errors.</p>\n", trouble);
    }
}

// Errors of all held-out poses within .1, for the histograms. Returns how many.
static int64_t collect(const cspace_map *map, const cspace_exact *exact, const cspace_rows *rows,
                       cspace_map_scratch *scratch, cspace_exact_scratch *exact_scratch, double *d, double *normal,
                       double *label) {
    int64_t n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        if (!(fabs(rows->distance[i]) <= 0.1)) continue;
        const double *p = rows->pose + 3 * i, *g = rows->gradient + 3 * i;
        const cspace_pose pose = {p[0], p[1], p[2]};
        cspace_contact right = {.d = rows->distance[i], .g = {g[1], g[2]}}, found;
        if (exact && !cspace_exact_near(exact, &pose, 0.1, &right, exact_scratch)) continue;
        cspace_map_evaluate(map, &pose, 1, -INFINITY, &found, scratch);
        d[n] = found.d - right.d, normal[n] = fabs(cspace__angle(right.g, found.g));
        label[n++] = rows->distance[i] - right.d;
    }
    return n;
}

static void print_plots(core_buffer *text, const cspace_map *map, bool exact, const double *d, const double *normal,
                        const double *label, int64_t n) {
    // a range that holds nearly all errors, rounded up to 4, 8, 16, ... 1024 thousandths
    double shown = 0.004;
    while (shown < 1.0 && shown < 1.2 * best_stats(&map->statement)->d_p99) shown *= 2.0;
    cspace__plot_losses(text, map);
    cspace__plot_histogram(text, exact ? "map minus exact distance" : "map minus label", "L", d, n, -shown, shown);
    if (exact && strcmp(map->labels, cspace_labels_names[CSPACE_LABELS_EXACT]) != 0)
        cspace__plot_histogram(text, "labels minus exact distance", "L", label, n, -shown, shown);
    cspace__plot_histogram(text, "angle between the normals", "degrees", normal, n, 0.0, 20.0);
}

core_status cspace_report_add(cspace_report *report, const cspace_map *map, const sdf_shape *a, const sdf_shape *b,
                              const cspace_rows *rows, core_error *err) {
    CORE_CHECK(report && map && a && b && rows, CORE_ARG, "cspace_report_add: null argument");
    CORE_CHECK(map->kernel_distance, CORE_ARG, "map %s-%s is not prepared", map->a, map->b);
    core_status status = CORE_OK;
    core_buffer *text = &report->text;
    const size_t before = text->size;
    cspace_exact *exact = NULL;
    cspace_exact_scratch *exact_scratch = NULL;
    cspace_map_scratch *scratch = NULL;
    double *d = NULL, *normal = NULL, *label = NULL;
    CORE_TRY_DONE(cspace__exact_open(map, a, b, &exact, &exact_scratch, err));
    CORE_TRY_DONE(cspace_map_scratch_create(1, &scratch, err));
    CORE_NEW_DONE(d, (size_t)rows->n);
    CORE_NEW_DONE(normal, (size_t)rows->n);
    CORE_NEW_DONE(label, (size_t)rows->n);
    const int64_t n = collect(map, exact, rows, scratch, exact_scratch, d, normal, label);
    core_buffer_add(text, "<h2>");
    core_buffer_add_xml(text, map->a);
    core_buffer_add(text, " and ");
    core_buffer_add_xml(text, map->b);
    core_buffer_add(text, ", ratio %.6g</h2>\n<p>nets %dx%d and %dx%d, recipe ", map->ratio, map->distance.layers,
                    map->distance.width, map->moment_arm.layers, map->moment_arm.width);
    core_buffer_add_xml(text, map->recipe);
    core_buffer_add(text, ", labels ");
    core_buffer_add_xml(text, map->labels);
    if (map->smoothing > 0.0) core_buffer_add(text, " smoothed over %g L", map->smoothing);
    core_buffer_add(text, "; %lld held-out poses; L: the larger circumradius</p>\n", (long long)n);
    print_remarks(text, map);
    print_summary(text, map);
    print_plots(text, map, exact != NULL, d, normal, label, n);
    core_buffer_add(text, "<p>Slices: ");
    core_buffer_add_xml(text, map->b);
    core_buffer_add(text, " turned by theta, its centre anywhere around ");
    core_buffer_add_xml(text, map->a);
    core_buffer_add(text, ". Black: where the outlines touch exactly; "
                          "orange: where the map says so.<br/>Blue: the map's d is too small (contact too early), red: "
                          "too large (too late); full colour at .01. White: apart, grey: deep overlap by the "
                          "map.</p>\n");
    for (int i = 0; i < SLICES; i++)
        CORE_TRY_DONE(cspace__plot_slice(text, map, exact, slice_angles[i], scratch, exact_scratch, err));
    CORE_CHECK_DONE(!text->failed, CORE_MEMORY, "out of memory: report of %s-%s", map->a, map->b);
done:
    if (status != CORE_OK) core_buffer_cut(text, before); // no half of a section stays
    core_free(d);
    core_free(normal);
    core_free(label);
    cspace_map_scratch_destroy(&scratch);
    cspace_exact_scratch_destroy(&exact_scratch);
    cspace_exact_destroy(&exact);
    return status;
}

core_status cspace_report_write(cspace_report *report, const char *path, core_error *err) {
    CORE_CHECK(report && path, CORE_ARG, "cspace_report_write: null argument");
    core_status status = CORE_OK;
    core_buffer *text = &report->text;
    const size_t before = text->size;
    core_buffer_add(text, "</body></html>\n");
    CORE_CHECK_DONE(!text->failed, CORE_MEMORY, "%s: out of memory", path);
    status = core_file_write(path, text->text, text->size, err);
done:
    core_buffer_cut(text, before); // further maps may follow
    return status;
}
