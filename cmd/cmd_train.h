/// Training options and the accuracy table, shared by nntrain and mkmaps.
#ifndef CMD_TRAIN_H
#define CMD_TRAIN_H

#include "cmd_common.h"
#include "cspace.h"

#include <stdio.h>

#define CMD_TRAIN_COUNT 24

/// Options as typed; NULL where absent. Input of cmd_train_argp.
typedef struct cmd_train_options {
    const char *text[CMD_TRAIN_COUNT];
} cmd_train_options;

/// Child parser for `struct argp_child`; its input is a cmd_train_options.
extern const struct argp cmd_train_argp;

/// Recipe first, then the options that change its parts; exit 2 on a bad value. threads and seed are also returned
/// where the caller needs them for other stages.
void cmd_train_resolve(const cmd_train_options *options, cspace_train_def *def);

/// True if --layers or --width was given.
bool cmd_train_has_size(const cmd_train_options *options);

/// "a-b", with ":ratio" where it is not 1.
#define CMD_TRAIN_PAIR_BYTES (2 * CORE_NAME_MAX + 24)
void cmd_train_pair_text(const cspace_map *map, char text[CMD_TRAIN_PAIR_BYTES]);
/// Bytes of the weights of both nets.
size_t cmd_train_bytes(const cspace_map *map);

/// Accuracy table: heading, one aligned row per map.
void cmd_train_print_heading(FILE *out);
void cmd_train_print_row(FILE *out, const cspace_map *map);
/// "COMMAND: warning: A-B: ..." on stderr for each net whose training went wrong once and went on.
void cmd_train_warn(const char *command, const cspace_map *map);

#endif
