// Nets of several sizes for one pair: sizes of an option, what they cost, a table side by side.
#include "cmd_sweep.h"

#include "cmd_common.h"
#include "cmd_train.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define QUERY_BATCH 240  // poses the maps' nets take together
#define QUERY_POSES 4800 // of one timing run
#define QUERY_RUNS 7

// Weights and biases of a net of six inputs, for the order of sizes.
static long count_parameters(int layers, int width) {
    return 7L * width + (layers - 1L) * width * (width + 1L) + width + 1L;
}

static void insert(cmd_sweep *sweep, int layers, int width) {
    int at = sweep->count++;
    const long size = count_parameters(layers, width);
    for (; at > 0 && count_parameters(sweep->layers[at - 1], sweep->width[at - 1]) > size; at--) {
        sweep->layers[at] = sweep->layers[at - 1];
        sweep->width[at] = sweep->width[at - 1];
    }
    sweep->layers[at] = layers, sweep->width[at] = width;
}

void cmd_sweep_parse(const char *option, const char *text, cmd_sweep *sweep) {
    *sweep = (cmd_sweep){0};
    for (const char *s = text;; s++) {
        char word[32], *by;
        const size_t n = strcspn(s, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word), s);
        by = strchr(word, 'x');
        if (n == 0 || n >= sizeof word || !by)
            cmd_usage("%s: found \"%.100s\", expected sizes LAYERSxWIDTH like 2x16,3x32", option, text);
        *by = '\0';
        const int layers = (int)cmd_integer(option, word, 1, NN_LAYERS_MAX);
        const int width = (int)cmd_integer(option, by + 1, 1, NN_WIDTH_MAX);
        for (int i = 0; i < sweep->count; i++)
            if (sweep->layers[i] == layers && sweep->width[i] == width)
                cmd_usage("%s: %dx%d is named twice", option, layers, width);
        if (sweep->count == CMD_SWEEP_MAX) cmd_usage("%s: expected at most %d sizes", option, CMD_SWEEP_MAX);
        insert(sweep, layers, width);
        s += n;
        if (*s == '\0') return;
    }
}

core_status cmd_sweep_time_query(const cspace_map *map, const cspace_rows *rows, double *nanoseconds, core_error *err) {
    core_status status = CORE_OK;
    cspace_map_scratch *scratch = NULL;
    cspace_pose *poses = NULL;
    cspace_contact *contacts = NULL;
    CORE_CHECK_DONE(rows->n > 0, CORE_RANGE, "timing of %s-%s: no held-out poses", map->a, map->b);
    CORE_TRY_DONE(cspace_map_scratch_create(QUERY_BATCH, &scratch, err));
    CORE_NEW_DONE(poses, QUERY_POSES);
    CORE_NEW_DONE(contacts, QUERY_POSES);
    for (int i = 0; i < QUERY_POSES; i++) {
        const double *p = rows->pose + 3 * (i % rows->n);
        poses[i] = (cspace_pose){p[0], p[1], p[2]};
    }
    double best = INFINITY;
    for (int run = 0; run < QUERY_RUNS; run++) {
        const clock_t start = clock(); // of the processor: others may run
        for (int i = 0; i < QUERY_POSES; i += QUERY_BATCH)
            cspace_map_evaluate(map, poses + i, QUERY_BATCH, INFINITY, contacts + i, scratch);
        best = fmin(best, (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    *nanoseconds = 1e9 * best / QUERY_POSES;
done:
    core_free(contacts);
    core_free(poses);
    cspace_map_scratch_destroy(&scratch);
    return status;
}

void cmd_sweep_print_heading(FILE *out) {
    fprintf(out, "errors on held-out samples within 0.1 of contact: d and moment arms in units of the larger "
                 "circumradius, normals in degrees; ns: one query of both nets, one thread\n");
    fprintf(out, "%-24s %-7s %8s %8s %8s %7s %7s %8s %8s %9s %8s\n", "pair", "net", "d mean", "d p99", "d max",
            "sign %", "n p50", "arm p50", "bytes", "core s", "ns");
}

void cmd_sweep_print_row(FILE *out, const cspace_map *map, double nanoseconds) {
    char pair[CMD_TRAIN_PAIR_BYTES], net[32];
    cmd_train_pair_text(map, pair);
    snprintf(net, sizeof net, "%dx%d", map->distance.layers, map->distance.width);
    const cspace_error_stats *e = &map->error;
    fprintf(out, "%-24s %-7s %8.5f %8.5f %8.5f %7.3f %7.2f %8.5f %8zu %9.1f %8.0f\n", pair, net, e->d_mean, e->d_p99,
            e->d_max, 100.0 * e->sign_errors, e->normal_p50, e->arm_p50, cmd_train_bytes(map), map->core_seconds,
            nanoseconds);
    fflush(out);
}
