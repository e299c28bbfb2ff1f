/// The error statement of a map as tables for people and as JSON for programs.
#ifndef CMD_STATEMENT_H
#define CMD_STATEMENT_H

#include "cspace.h"

#include <stdio.h>

/// Prints the statement of a map. An empty table is left out.
void cmd_statement_print(FILE *out, const cspace_map *map);
/// The same as one JSON object: arrays by band in the order of `band_edges`, the last element for all bands.
void cmd_statement_print_json(FILE *out, const cspace_map *map);

#endif
