// Training options and the accuracy table, shared by nntrain and mkmaps.
#include "cmd_train.h"

#include <math.h>

// Index into cmd_train_options.text; the key of argp is this plus KEY_FIRST.
enum {
    RECIPE,
    LAYERS,
    WIDTH,
    ACTIVATION,
    HEADS,
    ENCODING,
    FOLD,
    OPTIMISER,
    EPOCHS,
    SECONDS,
    BATCH,
    LEARNING_RATE,
    SCHEDULE,
    GRADIENT_WEIGHT,
    FAR_WEIGHT,
    TRIES,
    TARGET,
    SEED,
    THREADS,
    COUNT_OPTIONS
};
_Static_assert(COUNT_OPTIONS <= CMD_TRAIN_COUNT, "cmd_train_options has room for every option");
#define KEY_FIRST 2000
#define INTEGER_MAX 9007199254740992 // 2^53

static const struct argp_option argp_options[] = {
    {"recipe", KEY_FIRST + RECIPE, "NAME", 0, "default, accurate or paper: what the options below start from (default)",
     10},
    {"layers", KEY_FIRST + LAYERS, "N", 0, "hidden layers (3)", 10},
    {"width", KEY_FIRST + WIDTH, "N", 0, "units of a hidden layer (32)", 10},
    {"activation", KEY_FIRST + ACTIVATION, "NAME", 0, "of hidden units: relu or qrelu, a ReLU with a rounded corner",
     10},
    {"heads", KEY_FIRST + HEADS, "N", 0,
     "outputs of the distance net, of which the smallest counts (1; accurate: 1 or 4)", 10},
    {"encoding", KEY_FIRST + ENCODING, "NAME", 0, "net inputs: raw, sincos or twoframe", 10},
    {"fold", KEY_FIRST + FOLD, "on|off", 0, "fold symmetries of the shapes", 10},
    {"optimiser", KEY_FIRST + OPTIMISER, "NAME", 0, "adam or soap", 10},
    {"epochs", KEY_FIRST + EPOCHS, "N", 0, "passes over the samples", 10},
    {"seconds", KEY_FIRST + SECONDS, "S", 0, "wall time of both nets of a pair instead of --epochs", 10},
    {"batch", KEY_FIRST + BATCH, "N", 0, "samples of an optimisation step", 10},
    {"learning-rate", KEY_FIRST + LEARNING_RATE, "X", 0, "step size", 10},
    {"schedule", KEY_FIRST + SCHEDULE, "NAME", 0, "learning rate: constant or cosine", 10},
    {"gradient-weight", KEY_FIRST + GRADIENT_WEIGHT, "X", 0, "weight of the gradient's error in the loss", 10},
    {"far-weight", KEY_FIRST + FAR_WEIGHT, "X", 0, "weight of samples far from contact, 0 to 1", 10},
    {"tries", KEY_FIRST + TRIES, "N", 0,
     "seeds tried while the mean error of d misses --target; they share epochs or seconds, the best is kept (1)", 10},
    {"target", KEY_FIRST + TARGET, "X", 0, "mean error of d that ends --tries, in larger circumradii (0: try all)", 10},
    {"seed", KEY_FIRST + SEED, "N", 0, "seed of all random numbers (1)", 20},
    {"threads", KEY_FIRST + THREADS, "N", 0, "threads (all processors); results do not depend on it", 20},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    cmd_train_options *options = state->input;
    if (key < KEY_FIRST || key >= KEY_FIRST + COUNT_OPTIONS) return ARGP_ERR_UNKNOWN;
    options->text[key - KEY_FIRST] = argument;
    return 0;
}

const struct argp cmd_train_argp = {argp_options, parse, NULL, NULL, NULL, NULL, NULL};

static void resolve_net(const char *const *text, nn_train_def *net) {
    static const char *const schedules[] = {"constant", "cosine"}, *const activations[] = {"relu", "qrelu"},
                             *const optimisers[] = {"adam", "soap"};
    if (text[LAYERS]) net->layers = (int)cmd_integer("--layers", text[LAYERS], 1, NN_LAYERS_MAX);
    if (text[WIDTH]) net->width = (int)cmd_integer("--width", text[WIDTH], 1, NN_WIDTH_MAX);
    if (text[HEADS]) net->heads = (int)cmd_integer("--heads", text[HEADS], 1, NN_HEADS_MAX);
    if (text[ACTIVATION])
        net->activation = cmd_choice("--activation", text[ACTIVATION], activations, 2) == 0 ? NN_RELU : NN_QRELU;
    if (text[OPTIMISER])
        net->optimiser = cmd_choice("--optimiser", text[OPTIMISER], optimisers, 2) == 0 ? NN_ADAM : NN_SOAP;
    if (text[EPOCHS]) net->epochs = cmd_number("--epochs", text[EPOCHS], 1e-6, 1e6);
    if (text[SECONDS]) net->seconds = cmd_number("--seconds", text[SECONDS], 0.01, 1e6);
    if (text[BATCH]) net->batch = (int)cmd_integer("--batch", text[BATCH], 1, 65536);
    if (text[LEARNING_RATE]) net->learning_rate = cmd_number("--learning-rate", text[LEARNING_RATE], 1e-9, 10.0);
    if (text[SCHEDULE])
        net->schedule =
            cmd_choice("--schedule", text[SCHEDULE], schedules, 2) == 0 ? NN_SCHEDULE_CONSTANT : NN_SCHEDULE_COSINE;
    if (text[GRADIENT_WEIGHT])
        net->gradient_weight = cmd_number("--gradient-weight", text[GRADIENT_WEIGHT], 0.0, 100.0);
    if (text[SEED]) net->seed = (uint64_t)cmd_integer("--seed", text[SEED], 0, INTEGER_MAX);
    net->threads = core_thread_available();
    if (text[THREADS]) net->threads = (int)cmd_integer("--threads", text[THREADS], 1, 1024);
}

void cmd_train_resolve(const cmd_train_options *options, cspace_train_def *def) {
    static const char *const recipes[] = {"default", "accurate", "paper"};
    static const char *const encodings[] = {"raw", "sincos", "twoframe"};
    static const cspace_encoding encoding_values[] = {CSPACE_RAW, CSPACE_SINCOS, CSPACE_TWOFRAME};
    static const char *const switches[] = {"on", "off"};
    const char *const *text = options->text;
    const int recipe = text[RECIPE] ? cmd_choice("--recipe", text[RECIPE], recipes, 3) : 0;
    core_error err = {0};
    if (cspace_train_recipe(recipes[recipe], def, &err) != CORE_OK) cmd_usage("%s", err.message);
    if (text[EPOCHS] && text[SECONDS]) cmd_usage("--epochs and --seconds: expected one of them");
    if (text[ENCODING]) def->encoding = encoding_values[cmd_choice("--encoding", text[ENCODING], encodings, 3)];
    if (text[FOLD]) def->fold = cmd_choice("--fold", text[FOLD], switches, 2) == 0;
    if (text[FAR_WEIGHT]) def->far_weight = cmd_number("--far-weight", text[FAR_WEIGHT], 0.0, 1.0);
    if (text[TRIES]) def->tries = (int)cmd_integer("--tries", text[TRIES], 1, 16);
    if (text[TARGET]) def->target = cmd_number("--target", text[TARGET], 0.0, 1.0);
    resolve_net(text, &def->net);
}

bool cmd_train_has_size(const cmd_train_options *options) {
    return options->text[LAYERS] || options->text[WIDTH];
}

void cmd_train_print_heading(FILE *out) {
    fprintf(out, "errors on held-out samples within 0.1 of contact: d and moment arms in units of the larger "
                 "circumradius, normals in "
                 "degrees\n");
    fprintf(out, "%-24s %-7s %8s %8s %8s %7s %7s %7s %8s %7s %8s %8s\n", "pair", "net", "d mean", "d p99", "d max",
            "sign %", "n mean", "n p50", "arm p50", "bytes", "core s", "epochs");
}

void cmd_train_pair_text(const cspace_map *map, char text[CMD_TRAIN_PAIR_BYTES]) {
    if (fabs(map->ratio - 1.0) < 1e-9)
        snprintf(text, CMD_TRAIN_PAIR_BYTES, "%s-%s", map->a, map->b);
    else
        snprintf(text, CMD_TRAIN_PAIR_BYTES, "%s-%s:%.4g", map->a, map->b, map->ratio);
}

size_t cmd_train_bytes(const cspace_map *map) {
    return sizeof(float) * (size_t)(map->distance.count_parameters + map->moment_arm.count_parameters);
}

void cmd_train_print_row(FILE *out, const cspace_map *map) {
    char pair[CMD_TRAIN_PAIR_BYTES], net[32];
    cmd_train_pair_text(map, pair);
    snprintf(net, sizeof net, "%dx%d", map->distance.layers, map->distance.width);
    const cspace_error_stats *e = &map->error;
    fprintf(out, "%-24s %-7s %8.5f %8.5f %8.5f %7.3f %7.2f %7.2f %8.5f %7zu %8.1f %8.4g\n", pair, net, e->d_mean,
            e->d_p99, e->d_max, 100.0 * e->sign_errors, e->normal_mean, e->normal_p50, e->arm_p50, cmd_train_bytes(map),
            map->core_seconds, map->train_distance.epochs);
    fflush(out);
}

void cmd_train_warn(const char *command, const cspace_map *map) {
    char pair[CMD_TRAIN_PAIR_BYTES], text[256];
    cmd_train_pair_text(map, pair);
    for (int net = 0; net < 2; net++)
        if (cspace_map_trouble(map, net, text, sizeof text))
            fprintf(stderr, "%s: warning: %s: %s; look at its errors\n", command, pair, text);
}
