// MAPS.h5: reading and writing of bundles. Layout: data/README.md. Reading refuses whatever this version would not
// honour.
#include "cspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 160
#define PAIRS_MAX 100000
#define RATIO_MAX 64.0

// One number of the accuracy statement and its place in the struct.
typedef struct error_field {
    const char *name;
    size_t offset;
} error_field;

static const error_field error_fields[] = {
    {"distance_mean", offsetof(cspace_error_stats, d_mean)},
    {"distance_bias", offsetof(cspace_error_stats, d_bias)},
    {"distance_p50", offsetof(cspace_error_stats, d_p50)},
    {"distance_p99", offsetof(cspace_error_stats, d_p99)},
    {"distance_max", offsetof(cspace_error_stats, d_max)},
    {"sign_error_fraction", offsetof(cspace_error_stats, sign_errors)},
    {"normal_mean_degrees", offsetof(cspace_error_stats, normal_mean)},
    {"normal_p50_degrees", offsetof(cspace_error_stats, normal_p50)},
    {"normal_p90_degrees", offsetof(cspace_error_stats, normal_p90)},
    {"normal_p99_degrees", offsetof(cspace_error_stats, normal_p99)},
    {"slope_mean", offsetof(cspace_error_stats, slope_mean)},
    {"moment_arm_mean", offsetof(cspace_error_stats, arm_mean)},
    {"moment_arm_p50", offsetof(cspace_error_stats, arm_p50)},
    {"moment_arm_p99", offsetof(cspace_error_stats, arm_p99)},
};
#define COUNT_ERROR_FIELDS (sizeof error_fields / sizeof error_fields[0])

// ---------------------------------------------------------------------------------------------- small helpers

// PARENT/NAME. Parents are groups of this file's own naming, names at most CORE_NAME_MAX - 1 bytes: nothing is cut.
static void child(char path[PATH_MAX_BYTES], const char *parent, const char *name) {
    snprintf(path, PATH_MAX_BYTES, "%.90s/%.63s", parent, name);
}

static core_status set_hash(core_h5 *file, const char *object, const char *name, uint64_t hash, core_error *err) {
    char text[17];
    core_hash_text(hash, text);
    return core_h5_set_text(file, object, name, text, err);
}

static core_status get_hash(core_h5 *file, const char *object, const char *name, uint64_t *hash, core_error *err) {
    char text[17];
    CORE_TRY(core_h5_get_text(file, object, name, text, sizeof text, err));
    uint64_t value = 0;
    for (int i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        CORE_CHECK(digit, CORE_FORMAT, "%s: %s/%s: found \"%s\", expected 16 hexadecimal digits", core_h5_path(file),
                   object, name, text);
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *hash = value;
    return CORE_OK;
}

static core_status get_finite(core_h5 *file, const char *object, const char *name, double *value, core_error *err) {
    double v = 0.0;
    CORE_TRY(core_h5_get_number(file, object, name, &v, err));
    CORE_CHECK(isfinite(v), CORE_NONFINITE, "%s: %s/%s is not a finite number", core_h5_path(file), object, name);
    *value = v;
    return CORE_OK;
}

// A number from 0 to `most` that older files do not have: 0.
static core_status get_later(core_h5 *file, const char *object, const char *name, double most, double *value,
                             core_error *err) {
    *value = 0.0;
    if (core_h5_get_number(file, object, name, value, NULL) != CORE_OK) return CORE_OK;
    CORE_CHECK(*value >= 0.0 && *value <= most, CORE_RANGE, "%s: %s/%s: found %g, expected 0 to %g", core_h5_path(file),
               object, name, *value, most);
    return CORE_OK;
}

// A text attribute that has to be what this version knows.
static core_status expect_text(core_h5 *file, const char *object, const char *name, const char *expected,
                               core_error *err) {
    char text[64];
    CORE_TRY(core_h5_get_text(file, object, name, text, sizeof text, err));
    CORE_CHECK(strcmp(text, expected) == 0, CORE_UNSUPPORTED, "%s: %s/%s: found \"%s\", this version knows \"%s\"",
               core_h5_path(file), object, name, text, expected);
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- writing

static core_status write_fold(core_h5 *file, const char *pair, const cspace_fold *fold, core_error *err) {
    char group[PATH_MAX_BYTES], path[PATH_MAX_BYTES];
    child(group, pair, "fold");
    CORE_TRY(core_h5_group(file, group,
                           "symmetries folded before the nets: rotation orders, mirror axes (rad, NaN: none), "
                           "bearings of the cells' centres (rad), exchange of a and b (0 or 1), width of the strips in "
                           "which two images are blended (units of L)",
                           err));
    CORE_TRY(core_h5_set_integer(file, group, "order_a", fold->order_a, err));
    CORE_TRY(core_h5_set_integer(file, group, "order_b", fold->order_b, err));
    CORE_TRY(core_h5_set_number(file, group, "mirror_a", fold->mirror_a, err));
    CORE_TRY(core_h5_set_number(file, group, "mirror_b", fold->mirror_b, err));
    CORE_TRY(core_h5_set_number(file, group, "origin_a", fold->origin_a, err));
    CORE_TRY(core_h5_set_number(file, group, "origin_b", fold->origin_b, err));
    CORE_TRY(core_h5_set_integer(file, group, "swap", fold->swap ? 1 : 0, err));
    CORE_TRY(core_h5_set_number(file, group, "blend_width", fold->blend_width, err));
    if (fold->count_kinks == 0) return CORE_OK;
    child(path, group, "kinks");
    return core_h5_write(file, path, CORE_H5_F64, 1, (size_t[]){(size_t)fold->count_kinks}, fold->kinks, "rad",
                         "angles of the aligned frames at which faces are parallel", err);
}

// What a net sees, in order: the encoded pose, the distance from parallel faces, the normal.
static void net_inputs(const cspace_map *map, bool normal, char text[64]) {
    snprintf(text, 64, "pose%s%s", map->fold.count_kinks > 0 ? "+kink" : "", normal ? "+normal" : "");
}

static core_status write_net(core_h5 *file, const char *pair, const char *name, const char *description,
                             const cspace_map *map, const nn_model *model, bool normal, const char *output,
                             core_error *err) {
    char inputs[64];
    net_inputs(map, normal, inputs);
    char group[PATH_MAX_BYTES];
    child(group, pair, name);
    CORE_TRY(core_h5_group(file, group, description, err));
    CORE_TRY(core_h5_set_text(file, group, "inputs", inputs, err));
    CORE_TRY(core_h5_set_text(file, group, "encoding", cspace_encoding_name(map->encoding), err));
    CORE_TRY(core_h5_set_text(file, group, "output", output, err));
    return nn_model_write_h5(file, group, model, err);
}

static core_status write_error(core_h5 *file, const char *pair, const cspace_map *map, core_error *err) {
    const cspace_error_stats *stats = &map->error;
    char group[PATH_MAX_BYTES], statement[PATH_MAX_BYTES];
    child(group, pair, "error");
    CORE_TRY(core_h5_group(file, group, "accuracy on held-out samples with |d| < 0.1; lengths in units of L", err));
    CORE_TRY(core_h5_set_integer(file, group, "samples", stats->n, err));
    for (size_t i = 0; i < COUNT_ERROR_FIELDS; i++) {
        double value = 0.0;
        memcpy(&value, (const char *)stats + error_fields[i].offset, sizeof value);
        CORE_TRY(core_h5_set_number(file, group, error_fields[i].name, value, err));
    }
    if (map->statement.poses == 0) return CORE_OK;
    child(statement, group, "statement");
    return cspace_statement_write_h5(file, statement, &map->statement, err);
}

static core_status write_report(core_h5 *file, const char *group, const char *net, const nn_train_report *report,
                                core_error *err) {
    char path[PATH_MAX_BYTES];
    child(path, group, net);
    CORE_TRY(core_h5_group(file, path, "record of this net's training", err));
    CORE_TRY(core_h5_set_integer(file, path, "steps", report->steps, err));
    CORE_TRY(core_h5_set_number(file, path, "epochs", report->epochs, err));
    CORE_TRY(core_h5_set_number(file, path, "seconds", report->seconds, err));
    CORE_TRY(core_h5_set_number(file, path, "loss_first", report->loss_first, err));
    CORE_TRY(core_h5_set_number(file, path, "loss_last", report->loss_last, err));
    CORE_TRY(core_h5_set_number(file, path, "samples_per_second", report->samples_per_second, err));
    CORE_TRY(core_h5_set_integer(file, path, "trouble", (int64_t)report->trouble, err));
    CORE_TRY(core_h5_set_integer(file, path, "trouble_step", report->trouble_step, err));
    const size_t dims[1] = {(size_t)report->count_curve};
    char curve[PATH_MAX_BYTES];
    child(curve, path, "loss_curve");
    return core_h5_write(file, curve, CORE_H5_F32, 1, dims, report->curve, NULL,
                         "mean training loss of equal stretches of the steps, in order", err);
}

static core_status write_training(core_h5 *file, const char *pair, const cspace_map *map, core_error *err) {
    char group[PATH_MAX_BYTES];
    child(group, pair, "training");
    CORE_TRY(core_h5_group(file, group, "how the map was made", err));
    CORE_TRY(core_h5_set_text(file, group, "recipe", map->recipe, err));
    CORE_TRY(core_h5_set_number(file, group, "core_seconds", map->core_seconds, err));
    CORE_TRY(set_hash(file, group, "input_hash", map->input_hash, err));
    CORE_TRY(write_report(file, group, "distance", &map->train_distance, err));
    return write_report(file, group, "moment_arm", &map->train_moment_arm, err);
}

static core_status write_map(core_h5 *file, int index, const cspace_map *map, core_error *err) {
    char pair[PATH_MAX_BYTES];
    snprintf(pair, sizeof pair, "/pairs/%d", index);
    CORE_TRY(core_h5_group(file, pair,
                           "contact map of shape b seen from shape a, lengths in units of L = max(R_a, R_b)", err));
    CORE_TRY(core_h5_set_text(file, pair, "a", map->a, err));
    CORE_TRY(core_h5_set_text(file, pair, "b", map->b, err));
    CORE_TRY(core_h5_set_number(file, pair, "ratio", map->ratio, err));
    CORE_TRY(set_hash(file, pair, "hash_a", map->hash_a, err));
    CORE_TRY(set_hash(file, pair, "hash_b", map->hash_b, err));
    CORE_TRY(core_h5_set_text(file, pair, "labels", map->labels, err));
    CORE_TRY(core_h5_set_number(file, pair, "smoothing", map->smoothing, err));
    CORE_TRY(write_fold(file, pair, &map->fold, err));
    CORE_TRY(write_net(file, pair, "distance", "signed distance d of the folded, encoded pose", map, &map->distance,
                       false, "d", err));
    CORE_TRY(write_net(file, pair, "moment_arm", "mean moment arm s = (r_a + r_b)/2", map, &map->moment_arm,
                       map->arm_normal, "s", err));
    CORE_TRY(write_error(file, pair, map, err));
    return write_training(file, pair, map, err);
}

core_status cspace_bundle_write(const char *path, const cspace_bundle *bundle, const core_h5_provenance *provenance,
                                core_error *err) {
    CORE_CHECK(path && bundle, CORE_ARG, "cspace_bundle_write: null argument");
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    CORE_TRY_DONE(core_h5_create(path, CSPACE_MAPS_FORMAT, CSPACE_MAPS_VERSION, &file, err));
    CORE_TRY_DONE(core_h5_group(file, "/pairs", "contact maps, numbered from 0 in order of (a, b, ratio)", err));
    for (int i = 0; i < bundle->count_maps; i++) CORE_TRY_DONE(write_map(file, i, &bundle->maps[i], err));
    CORE_TRY_DONE(core_h5_group(file, "/shapes", "canonical outlines and mass properties of the shapes, by name", err));
    for (int i = 0; i < bundle->count_shapes; i++) {
        char group[PATH_MAX_BYTES];
        child(group, "/shapes", bundle->shapes[i].name);
        CORE_TRY_DONE(sdf_shape_write_h5(file, group, &bundle->shapes[i], err));
    }
    if (provenance) CORE_TRY_DONE(core_h5_write_provenance(file, provenance, err));
    CORE_TRY_DONE(core_h5_commit(&file, err));
done:
    core_h5_abandon(&file);
    return status;
}

// ---------------------------------------------------------------------------------------------- reading

static core_status read_order(core_h5 *file, const char *group, const char *name, int *order, core_error *err) {
    int64_t value = 0;
    CORE_TRY(core_h5_get_integer(file, group, name, &value, err));
    CORE_CHECK(value >= 1 && value <= 128, CORE_RANGE, "%s: %s/%s: found %lld, expected 1 to 128", core_h5_path(file),
               group, name, (long long)value);
    *order = (int)value;
    return CORE_OK;
}

static core_status read_kinks(core_h5 *file, const char *group, cspace_fold *fold, core_error *err) {
    char path[PATH_MAX_BYTES];
    size_t n = 0;
    child(path, group, "kinks");
    if (!core_h5_exists(file, path)) return CORE_OK;
    int rank = 0;
    CORE_TRY(core_h5_size(file, path, 1, &rank, &n, err));
    CORE_CHECK(rank == 1 && n >= 1 && n <= CSPACE_KINKS_MAX, CORE_RANGE, "%s: %s: found %zu angles, expected 1 to %d",
               core_h5_path(file), path, n, CSPACE_KINKS_MAX);
    fold->count_kinks = (int)n;
    return core_h5_read(file, path, CORE_H5_F64, 1, &n, fold->kinks, true, err);
}

static core_status read_fold(core_h5 *file, const char *pair, cspace_fold *fold, core_error *err) {
    char group[PATH_MAX_BYTES];
    child(group, pair, "fold");
    int64_t swap = 0;
    CORE_TRY(core_h5_get_integer(file, group, "swap", &swap, err));
    CORE_CHECK(swap == 0 || swap == 1, CORE_RANGE, "%s: %s/swap: found %lld, expected 0 or 1", core_h5_path(file),
               group, (long long)swap);
    fold->swap = swap == 1;
    CORE_TRY(read_order(file, group, "order_a", &fold->order_a, err));
    CORE_TRY(read_order(file, group, "order_b", &fold->order_b, err));
    CORE_TRY(core_h5_get_number(file, group, "mirror_a", &fold->mirror_a, err));
    CORE_TRY(core_h5_get_number(file, group, "mirror_b", &fold->mirror_b, err));
    CORE_TRY(core_h5_get_number(file, group, "origin_a", &fold->origin_a, err));
    CORE_TRY(core_h5_get_number(file, group, "origin_b", &fold->origin_b, err));
    CORE_TRY(core_h5_get_number(file, group, "blend_width", &fold->blend_width, err));
    CORE_TRY(read_kinks(file, group, fold, err));
    const core_status status = cspace_fold_prepare(fold, err);
    return status == CORE_OK ? CORE_OK : core_error_prefix(err, status, "%s: %s", core_h5_path(file), group);
}

// One net of a map whose fold is known; *normal: it sees the normal.
static core_status read_net(core_h5 *file, const char *pair, const char *name, const char *output,
                            const cspace_map *map, cspace_encoding *encoding, bool *normal, nn_model *model,
                            core_error *err) {
    char group[PATH_MAX_BYTES], text[64], plain[64], with_normal[64];
    child(group, pair, name);
    CORE_TRY(core_h5_get_text(file, group, "inputs", text, sizeof text, err));
    net_inputs(map, false, plain);
    net_inputs(map, true, with_normal);
    *normal = strcmp(text, with_normal) == 0;
    CORE_CHECK(*normal || strcmp(text, plain) == 0, CORE_UNSUPPORTED,
               "%s: %s/inputs: found \"%s\", expected \"%s\" or \"%s\"", core_h5_path(file), group, text, plain,
               with_normal);
    CORE_TRY(expect_text(file, group, "output", output, err));
    CORE_TRY(core_h5_get_text(file, group, "encoding", text, sizeof text, err));
    core_status status = cspace_encoding_parse(text, encoding, err);
    if (status != CORE_OK) return core_error_prefix(err, CORE_UNSUPPORTED, "%s: %s", core_h5_path(file), group);
    CORE_TRY(nn_model_read_h5(file, group, model, err));
    const int inputs = cspace_encoding_inputs(*encoding, &map->fold) + (*normal ? CSPACE_NORMAL_INPUTS : 0);
    CORE_CHECK(model->inputs == inputs, CORE_FORMAT, "%s: %s: the net has %d inputs, encoding %s of a %s has %d",
               core_h5_path(file), group, model->inputs, text, *normal ? with_normal : plain, inputs);
    return nn_model_validate(model, err);
}

static core_status read_error(core_h5 *file, const char *pair, cspace_map *map, core_error *err) {
    cspace_error_stats *stats = &map->error;
    char group[PATH_MAX_BYTES], statement[PATH_MAX_BYTES];
    child(group, pair, "error");
    CORE_TRY(core_h5_get_integer(file, group, "samples", &stats->n, err));
    for (size_t i = 0; i < COUNT_ERROR_FIELDS; i++) {
        double value = 0.0;
        CORE_TRY(get_finite(file, group, error_fields[i].name, &value, err));
        memcpy((char *)stats + error_fields[i].offset, &value, sizeof value);
    }
    child(statement, group, "statement");
    if (!core_h5_exists(file, statement)) return CORE_OK; // a map that was not measured
    return cspace_statement_read_h5(file, statement, &map->statement, err);
}

// Whether the training went wrong once. Older files say nothing: theirs did not.
static core_status read_trouble(core_h5 *file, const char *path, nn_train_report *report, core_error *err) {
    int64_t trouble = 0;
    if (core_h5_get_integer(file, path, "trouble_step", &report->trouble_step, NULL) != CORE_OK) {
        report->trouble_step = 0;
        return CORE_OK;
    }
    CORE_TRY(core_h5_get_integer(file, path, "trouble", &trouble, err));
    CORE_CHECK(report->trouble_step >= 0 && report->trouble_step <= report->steps && trouble >= NN_TROUBLE_NONE &&
                   trouble <= NN_TROUBLE_DEAD && (trouble > 0) == (report->trouble_step > 0),
               CORE_FORMAT, "%s: %s: trouble %lld at step %lld of %lld", core_h5_path(file), path, (long long)trouble,
               (long long)report->trouble_step, (long long)report->steps);
    report->trouble = (nn_trouble)trouble;
    return CORE_OK;
}

static core_status read_report(core_h5 *file, const char *group, const char *net, nn_train_report *report,
                               core_error *err) {
    char path[PATH_MAX_BYTES];
    child(path, group, net);
    CORE_TRY(core_h5_get_integer(file, path, "steps", &report->steps, err));
    CORE_TRY(get_finite(file, path, "epochs", &report->epochs, err));
    CORE_TRY(get_finite(file, path, "seconds", &report->seconds, err));
    CORE_TRY(get_finite(file, path, "loss_first", &report->loss_first, err));
    CORE_TRY(get_finite(file, path, "loss_last", &report->loss_last, err));
    CORE_TRY(get_finite(file, path, "samples_per_second", &report->samples_per_second, err));
    CORE_TRY(read_trouble(file, path, report, err));
    char curve[PATH_MAX_BYTES];
    child(curve, path, "loss_curve");
    size_t dims[1];
    int rank;
    CORE_TRY(core_h5_size(file, curve, 1, &rank, dims, err));
    CORE_CHECK(rank == 1 && dims[0] <= NN_CURVE_MAX, CORE_FORMAT, "%s: %s: expected a row of at most %d numbers",
               core_h5_path(file), curve, NN_CURVE_MAX);
    report->count_curve = (int)dims[0];
    return core_h5_read(file, curve, CORE_H5_F32, 1, dims, report->curve, true, err);
}

static core_status read_pair(core_h5 *file, const char *pair, cspace_map *map, core_error *err) {
    CORE_TRY(core_h5_get_text(file, pair, "a", map->a, sizeof map->a, err));
    CORE_TRY(core_h5_get_text(file, pair, "b", map->b, sizeof map->b, err));
    CORE_TRY(get_finite(file, pair, "ratio", &map->ratio, err));
    CORE_CHECK(map->ratio >= 1.0 / RATIO_MAX && map->ratio <= RATIO_MAX, CORE_RANGE,
               "%s: %s/ratio: found %g, expected 1/%g to %g", core_h5_path(file), pair, map->ratio, RATIO_MAX,
               RATIO_MAX);
    CORE_CHECK(!cspace_pair_is_swapped(map->a, map->b, map->ratio), CORE_FORMAT,
               "%s: %s: %s-%s of ratio %g is not in stored order (a before b, ratio at most 1 for equal names)",
               core_h5_path(file), pair, map->a, map->b, map->ratio);
    map->scale_a = map->ratio <= 1.0 ? 1.0 : 1.0 / map->ratio;
    map->scale_b = map->ratio <= 1.0 ? map->ratio : 1.0;
    CORE_TRY(get_hash(file, pair, "hash_a", &map->hash_a, err));
    CORE_TRY(get_hash(file, pair, "hash_b", &map->hash_b, err));
    CORE_TRY(core_h5_get_text(file, pair, "labels", map->labels, sizeof map->labels, err));
    CORE_TRY(get_later(file, pair, "smoothing", 0.1, &map->smoothing, err));
    CORE_TRY(read_fold(file, pair, &map->fold, err));
    cspace_encoding encoding_arm = CSPACE_RAW;
    bool distance_normal = false;
    CORE_TRY(read_net(file, pair, "distance", "d", map, &map->encoding, &distance_normal, &map->distance, err));
    CORE_CHECK(!distance_normal, CORE_UNSUPPORTED,
               "%s: %s/distance: found a net that sees the normal, expected one of the "
               "pose alone",
               core_h5_path(file), pair);
    CORE_TRY(read_net(file, pair, "moment_arm", "s", map, &encoding_arm, &map->arm_normal, &map->moment_arm, err));
    CORE_CHECK(encoding_arm == map->encoding, CORE_UNSUPPORTED,
               "%s: %s: encodings %s and %s of the two nets, expected the same", core_h5_path(file), pair,
               cspace_encoding_name(map->encoding), cspace_encoding_name(encoding_arm));
    CORE_TRY(read_error(file, pair, map, err));
    char training[PATH_MAX_BYTES];
    child(training, pair, "training");
    CORE_TRY(core_h5_get_text(file, training, "recipe", map->recipe, sizeof map->recipe, err));
    CORE_TRY(get_hash(file, training, "input_hash", &map->input_hash, err));
    CORE_TRY(get_later(file, training, "core_seconds", INFINITY, &map->core_seconds, err));
    CORE_TRY(read_report(file, training, "distance", &map->train_distance, err));
    CORE_TRY(read_report(file, training, "moment_arm", &map->train_moment_arm, err));
    return cspace_map_prepare(map, NN_ISA_BEST, err);
}

static core_status read_shape(core_h5 *file, const char *name, sdf_shape *shape, core_error *err) {
    char group[PATH_MAX_BYTES];
    child(group, "/shapes", name);
    CORE_CHECK(core_h5_exists(file, group), CORE_FORMAT, "%s: %s is missing", core_h5_path(file), group);
    CORE_TRY(sdf_shape_read_h5(file, group, shape, err));
    snprintf(shape->name, sizeof shape->name, "%s", name);
    return CORE_OK;
}

// Map i with its two shapes into the bundle.
static core_status read_map(core_h5 *file, int i, cspace_bundle *bundle, core_error *err) {
    core_status status = CORE_OK;
    cspace_map map = {0};
    sdf_shape a = {0}, b = {0};
    char pair[PATH_MAX_BYTES];
    snprintf(pair, sizeof pair, "/pairs/%d", i);
    CORE_CHECK_DONE(core_h5_exists(file, pair), CORE_FORMAT, "%s: %s is missing", core_h5_path(file), pair);
    CORE_TRY_DONE(read_pair(file, pair, &map, err));
    CORE_TRY_DONE(read_shape(file, map.a, &a, err));
    CORE_TRY_DONE(read_shape(file, map.b, &b, err));
    const int count = bundle->count_maps;
    status = cspace_bundle_add(bundle, &map, &a, &b, err);
    if (status != CORE_OK) {
        core_error_prefix(err, status, "%s: %s", core_h5_path(file), pair);
        if (status == CORE_SHAPE) status = CORE_FORMAT; // hashes that disagree inside one file
        goto done;
    }
    CORE_CHECK_DONE(bundle->count_maps == count + 1, CORE_FORMAT, "%s: %s: the pair is stored twice",
                    core_h5_path(file), pair);
done:
    cspace_map_clear(&map);
    sdf_shape_clear(&a);
    sdf_shape_clear(&b);
    return status;
}

core_status cspace_bundle_read(const char *path, cspace_bundle *bundle, uint64_t *content_hash, core_error *err) {
    CORE_CHECK(path && bundle, CORE_ARG, "cspace_bundle_read: null argument");
    core_status status = CORE_OK;
    core_h5 *file = NULL;
    cspace_bundle b = {0};
    int count = 0;
    CORE_TRY_DONE(core_h5_open(path, CSPACE_MAPS_FORMAT, CSPACE_MAPS_VERSION, &file, err));
    int64_t version = 0;
    CORE_TRY_DONE(core_h5_get_integer(file, "/", "format_version", &version, err));
    CORE_CHECK_DONE(version == CSPACE_MAPS_VERSION, CORE_VERSION_OTHER,
                    "%s: format_version: found %lld, this version reads %d (other cells and strips); build it anew: "
                    "mkmaps SCENE.yaml -o %s",
                    path, (long long)version, CSPACE_MAPS_VERSION, path);
    CORE_TRY_DONE(core_h5_count(file, "/pairs", &count, err));
    CORE_CHECK_DONE(count >= 1 && count <= PAIRS_MAX, CORE_FORMAT, "%s: /pairs holds %d maps, expected 1 to %d", path,
                    count, PAIRS_MAX);
    for (int i = 0; i < count; i++) CORE_TRY_DONE(read_map(file, i, &b, err));
    if (content_hash) CORE_TRY_DONE(core_h5_content_hash(file, content_hash, err));
    *bundle = b;
    memset(&b, 0, sizeof b);
done:
    cspace_bundle_clear(&b);
    core_h5_close(&file);
    return status;
}
