// The error statement of a map as tables for people and as JSON for programs.
#include "cmd_statement.h"

#include "cmd_common.h"

#include <string.h>

// A table of errors and its names.
typedef struct section {
    const char *title, *key;
    size_t offset; // in cspace_statement
} section;

static const section sections[] = {
    {"map against exact geometry of the outlines", "map_against_exact", offsetof(cspace_statement, map_exact)},
    {"map against its own labels: the nets' share", "map_against_labels", offsetof(cspace_statement, map_labels)},
    {"labels against exact geometry: the labels' share", "labels_against_exact",
     offsetof(cspace_statement, labels_exact)},
    {"map against its own answer with A and B exchanged", "swap_asymmetry", offsetof(cspace_statement, swap)},
};
#define COUNT_SECTIONS (sizeof sections / sizeof sections[0])

static const cspace_error_stats *section_rows(const cspace_statement *s, const section *which) {
    return (const cspace_error_stats *)(const void *)((const char *)s + which->offset);
}

// "-0.03 .. -0.01", or "all".
static void band_text(int band, char text[32]) {
    if (band == CSPACE_BANDS)
        snprintf(text, 32, "all");
    else
        snprintf(text, 32, "%5g .. %g", cspace_band_edges[band], cspace_band_edges[band + 1]);
}

static void print_errors(FILE *out, const cspace_error_stats *rows) {
    fprintf(out, "%-16s %7s %8s %9s %8s %8s %8s %7s %7s %7s %7s %7s %8s %8s %8s %8s\n", "d", "poses", "d mean",
            "d bias", "d p50", "d p99", "d max", "sign %", "n mean", "n p50", "n p90", "n p99", "|g| mean", "arm mean",
            "arm p50", "arm p99");
    for (int k = 0; k <= CSPACE_BANDS; k++) {
        const cspace_error_stats *e = &rows[k];
        char band[32];
        band_text(k, band);
        fprintf(out,
                "%-16s %7lld %8.5f %9.5f %8.5f %8.5f %8.5f %7.3f %7.2f %7.2f %7.2f %7.2f %8.5f %8.5f %8.5f %8.5f\n",
                band, (long long)e->n, e->d_mean, e->d_bias, e->d_p50, e->d_p99, e->d_max, 100.0 * e->sign_errors,
                e->normal_mean, e->normal_p50, e->normal_p90, e->normal_p99, e->slope_mean, e->arm_mean, e->arm_p50,
                e->arm_p99);
    }
}

static void print_jump(FILE *out, const char *name, const cspace_jump_stats *j) {
    if (j->n == 0) return;
    fprintf(out, "%-24s %9lld %8.5f %8.5f %8.5f %8.2f %8.2f %8.2f\n", name, (long long)j->n, j->d_mean, j->d_p99,
            j->d_max, j->normal_mean, j->normal_p99, j->normal_max);
}

static void print_jumps(FILE *out, const cspace_statement *s) {
    fprintf(out,
            "\njumps over the seams of the fold, both sides 1e-9 apart; normals: what true kinks do not explain\n");
    if (s->jump[CSPACE_BANDS].n == 0) {
        fprintf(out, "none was met\n");
        return;
    }
    fprintf(out, "%-24s %9s %8s %8s %8s %8s %8s %8s\n", "d, or seam", "crossings", "d mean", "d p99", "d max", "n mean",
            "n p99", "n max");
    for (int k = 0; k <= CSPACE_BANDS; k++) {
        char band[32];
        band_text(k, band);
        print_jump(out, band, &s->jump[k]);
    }
    for (int k = 0; k < CSPACE_SEAM_COUNT; k++) print_jump(out, cspace_seam_names[k], &s->seam[k]);
}

static void print_missed(FILE *out, const cspace_statement *s) {
    fprintf(out, "\noverlaps the map does not see\n");
    for (int k = 0; k < CSPACE_DEPTHS; k++)
        fprintf(out, "deeper than %-5g %lld of %lld\n", cspace_depths[k], (long long)s->missed[k],
                (long long)s->overlaps[k]);
    fprintf(out, "deepest           %.5f\n", s->missed_deepest);
}

void cmd_statement_print(FILE *out, const cspace_map *map) {
    const cspace_statement *s = &map->statement;
    const bool exact_labels = strcmp(map->labels, cspace_labels_names[CSPACE_LABELS_EXACT]) == 0;
    const size_t n_bytes = sizeof(float) * (size_t)(map->distance.count_parameters + map->moment_arm.count_parameters);
    fprintf(out, "%s-%s of ratio %.6g: nets %dx%d, %zu bytes, recipe %s, labels %s", map->a, map->b, map->ratio,
            map->distance.layers, map->distance.width, n_bytes, map->recipe, map->labels);
    if (map->smoothing > 0.0)
        fprintf(out, " smoothed over %g\n", map->smoothing);
    else
        fprintf(out, ", not smoothed\n");
    fprintf(
        out,
        "errors on %lld held-out poses within 0.1 of contact; d and moment arms in units of the larger circumradius, "
        "normals in degrees\n",
        (long long)s->poses);
    for (int net = 0; net < 2; net++) {
        char trouble[256];
        if (cspace_map_trouble(map, net, trouble, sizeof trouble)) fprintf(out, "the %s\n", trouble);
    }
    if (!s->exact) fprintf(out, "exact geometry is not known: these outlines have too many parts\n");
    for (size_t i = 0; i < COUNT_SECTIONS; i++) {
        const cspace_error_stats *rows = section_rows(s, &sections[i]);
        // exact labels: the second table would repeat the first, the third would be zero
        if (rows[CSPACE_BANDS].n == 0 || (exact_labels && s->exact && (i == 1 || i == 2))) continue;
        fprintf(out, "\n%s\n", sections[i].title);
        print_errors(out, rows);
    }
    print_jumps(out, s);
    print_missed(out, s);
}

// ---------------------------------------------------------------------------------------------- JSON

// `"name": [...]` of one member of the rows.
static void json_column(FILE *out, const char *name, const void *first, size_t row_bytes, int rows, const char *end) {
    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < rows; i++) {
        double value;
        memcpy(&value, (const char *)first + (size_t)i * row_bytes, sizeof value);
        fprintf(out, "%s%.9g", i > 0 ? ", " : "", value);
    }
    fprintf(out, "]%s", end);
}

static void json_integers(FILE *out, const char *name, const void *first, size_t row_bytes, int rows, const char *end) {
    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < rows; i++) {
        int64_t value;
        memcpy(&value, (const char *)first + (size_t)i * row_bytes, sizeof value);
        fprintf(out, "%s%lld", i > 0 ? ", " : "", (long long)value);
    }
    fprintf(out, "]%s", end);
}

static void json_errors(FILE *out, const char *name, const cspace_error_stats *rows) {
    const int n = CSPACE_BANDS + 1;
    const size_t row = sizeof *rows;
    fprintf(out, "  \"%s\": {", name);
    json_integers(out, "poses", &rows->n, row, n, ", ");
    json_column(out, "distance_mean", &rows->d_mean, row, n, ", ");
    json_column(out, "distance_bias", &rows->d_bias, row, n, ", ");
    json_column(out, "distance_p50", &rows->d_p50, row, n, ", ");
    json_column(out, "distance_p99", &rows->d_p99, row, n, ", ");
    json_column(out, "distance_max", &rows->d_max, row, n, ", ");
    json_column(out, "sign_error_fraction", &rows->sign_errors, row, n, ", ");
    json_column(out, "normal_mean", &rows->normal_mean, row, n, ", ");
    json_column(out, "normal_p50", &rows->normal_p50, row, n, ", ");
    json_column(out, "normal_p90", &rows->normal_p90, row, n, ", ");
    json_column(out, "normal_p99", &rows->normal_p99, row, n, ", ");
    json_column(out, "gradient_length_mean", &rows->slope_mean, row, n, ", ");
    json_column(out, "moment_arm_mean", &rows->arm_mean, row, n, ", ");
    json_column(out, "moment_arm_p50", &rows->arm_p50, row, n, ", ");
    json_column(out, "moment_arm_p99", &rows->arm_p99, row, n, "},\n");
}

static void json_jumps(FILE *out, const char *name, const cspace_jump_stats *rows, int n) {
    const size_t row = sizeof *rows;
    fprintf(out, "  \"%s\": {", name);
    json_integers(out, "crossings", &rows->n, row, n, ", ");
    json_column(out, "distance_mean", &rows->d_mean, row, n, ", ");
    json_column(out, "distance_p99", &rows->d_p99, row, n, ", ");
    json_column(out, "distance_max", &rows->d_max, row, n, ", ");
    json_column(out, "normal_mean", &rows->normal_mean, row, n, ", ");
    json_column(out, "normal_p99", &rows->normal_p99, row, n, ", ");
    json_column(out, "normal_max", &rows->normal_max, row, n, "},\n");
}

void cmd_statement_print_json(FILE *out, const cspace_map *map) {
    const cspace_statement *s = &map->statement;
    fprintf(out, "{\n  \"a\": ");
    cmd_print_json_text(out, map->a);
    fprintf(out, ", \"b\": ");
    cmd_print_json_text(out, map->b);
    fprintf(out, ", \"ratio\": %.9g, \"recipe\": \"%s\", \"labels\": \"%s\",\n", map->ratio, map->recipe, map->labels);
    fprintf(out, "  \"smoothing\": %.9g,\n", map->smoothing);
    fprintf(out, "  \"trouble_steps\": [%lld, %lld],\n", (long long)map->train_distance.trouble_step,
            (long long)map->train_moment_arm.trouble_step);
    fprintf(out, "  \"poses\": %lld, \"exact_geometry\": %s,\n  ", (long long)s->poses, s->exact ? "true" : "false");
    json_column(out, "band_edges", cspace_band_edges, sizeof(double), CSPACE_BANDS + 1, ",\n");
    for (size_t i = 0; i < COUNT_SECTIONS; i++) json_errors(out, sections[i].key, section_rows(s, &sections[i]));
    json_jumps(out, "jumps_by_band", s->jump, CSPACE_BANDS + 1);
    fprintf(out, "  \"seams\": [");
    for (int k = 0; k < CSPACE_SEAM_COUNT; k++) fprintf(out, "%s\"%s\"", k > 0 ? ", " : "", cspace_seam_names[k]);
    fprintf(out, "],\n");
    json_jumps(out, "jumps_by_seam", s->seam, CSPACE_SEAM_COUNT);
    fprintf(out, "  \"missed_overlaps\": {");
    json_column(out, "depth", cspace_depths, sizeof(double), CSPACE_DEPTHS, ", ");
    json_integers(out, "poses", s->overlaps, sizeof(int64_t), CSPACE_DEPTHS, ", ");
    json_integers(out, "missed", s->missed, sizeof(int64_t), CSPACE_DEPTHS, ", ");
    fprintf(out, "\"deepest\": %.9g}\n}\n", s->missed_deepest);
}
