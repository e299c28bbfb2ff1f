/// Laws of prescribed motion: reading them, pose as a pure function of the time.
#include "core_motion.h"
#include "core_csv.h"

#include <math.h>
#include <string.h>

bool core_motion_moves(const core_motion *law) {
    const double rates = fabs(law->velocity[0]) + fabs(law->velocity[1]) + fabs(law->rotation);
    const double sizes = fabs(law->amplitude[0]) + fabs(law->amplitude[1]) + fabs(law->amplitude_angle);
    return !(rates + sizes <= 0) || law->count_rows > 0; // not a number: whoever checks the law sees it
}

// Row of the table at time t: linear between rows, constant beyond them.
static void add_table(const core_motion *law, double t, double displacement[2], double *turn) {
    const double *row = law->table;
    int low = 0, high = law->count_rows - 1;
    if (high < 0) return;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row[4 * middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double *p = row + 4 * low, *q = row + 4 * high, span = q[0] - p[0];
    const double u = span > 0 ? fmin(fmax((t - p[0]) / span, 0), 1) : 1;
    displacement[0] += p[1] + u * (q[1] - p[1]);
    displacement[1] += p[2] + u * (q[2] - p[2]);
    *turn += p[3] + u * (q[3] - p[3]);
}

void core_motion_pose(const core_motion *law, double t, const double x0[2], double angle0, double x[2], double *angle) {
    double s0, c0, s, c;
    core_sincos(law->phase, &s0, &c0);
    core_sincos(2 * CORE_PI * law->frequency * t + law->phase, &s, &c);
    double displacement[2], turn = law->rotation * t + law->amplitude_angle * (s - s0);
    for (int k = 0; k < 2; ++k) displacement[k] = law->velocity[k] * t + law->amplitude[k] * (s - s0);
    add_table(law, t, displacement, &turn);
    // turned about the pivot, then displaced
    const double pivot[2] = {isnan(law->pivot[0]) ? x0[0] : law->pivot[0],
                             isnan(law->pivot[1]) ? x0[1] : law->pivot[1]};
    const double arm[2] = {x0[0] - pivot[0], x0[1] - pivot[1]};
    core_sincos(turn, &s, &c);
    x[0] = pivot[0] + displacement[0] + (c * arm[0] - s * arm[1]);
    x[1] = pivot[1] + displacement[1] + (s * arm[0] + c * arm[1]);
    *angle = angle0 + turn;
}

core_status core_motion_copy(const core_motion *from, core_motion *to, core_error *err) {
    core_status status = CORE_OK;
    core_motion copy = *from;
    copy.table = NULL;
    if (from->count_rows > 0) {
        CORE_NEW_DONE(copy.table, 4 * (size_t)from->count_rows);
        memcpy(copy.table, from->table, 4 * (size_t)from->count_rows * sizeof *copy.table);
    }
    *to = copy;
done:
    return status;
}

static core_status read_table(const core_yaml *doc, const core_yaml_node *place, const char *path, core_motion *motion,
                              core_error *err) {
    static const core_csv_column columns[] = {
        {"t", true, false}, {"x", false, false}, {"y", false, false}, {"angle", false, false}};
    core_csv csv = {0};
    core_error cause = {0};
    core_status status = core_csv_read(path, 4, columns, &csv, &cause);
    if (status != CORE_OK) return core_yaml_fail_by(doc, place, &cause, err);
    if (csv.count_found < 2) {
        status = core_yaml_fail(
            doc, place, err, "%s:1: found times alone, expected a column x, y or angle that moves the boundary", path);
        goto done;
    }
    for (int i = 0; i < csv.count_rows; i++) {
        const double *row = csv.values + 4 * i;
        if (i == 0 ? row[0] >= 0 : row[0] > row[-4]) continue;
        status = core_yaml_fail(doc, place, err, "%s:%d: column t: found %g, expected times from 0 on that rise", path,
                                csv.lines[i], row[0]);
        goto done;
    }
    motion->table = csv.values;
    motion->count_rows = csv.count_rows;
    csv.values = NULL;
done:
    core_csv_clear(&csv);
    return status;
}

core_status core_motion_read(const core_yaml *doc, const core_yaml_node *node, const char *folder, core_motion *motion,
                             char **table_path, core_error *err) {
    *motion = (core_motion){.pivot = {NAN, NAN}};
    *table_path = NULL;
    if (!node) return CORE_OK;
    core_yaml_vector(node, "velocity", motion->velocity, 2);
    core_yaml_vector(node, "amplitude", motion->amplitude, 2);
    core_yaml_vector(node, "about", motion->pivot, 2);
    motion->rotation = core_yaml_number(node, "rotation");
    motion->amplitude_angle = core_yaml_number(node, "amplitude_angle");
    motion->frequency = core_yaml_number(node, "frequency");
    motion->phase = core_yaml_number(node, "phase");
    const core_yaml_node *table = core_yaml_get(node, "table");
    if (!table) return CORE_OK;
    CORE_TRY(core_path_join(folder, core_yaml_scalar(table), table_path, err));
    return read_table(doc, table, *table_path, motion, err);
}
