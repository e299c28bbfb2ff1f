/// Private to libsim: small tables from CSV files.
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include "core.h"

/// A column that a file may have.
typedef struct sim_csv_column {
    const char *name;
    bool required;
    bool is_text; // at most one column of a table
} sim_csv_column;

/// Rows of a file. `{0}` is "nothing".
typedef struct sim_csv {
    int count_rows, count_columns;
    int count_found;              // columns the file has
    double *values;               // (count_rows x count_columns) 0 where the file has no such column
    char (*words)[CORE_NAME_MAX]; // (count_rows) of the text column
    int *lines;                   // (count_rows) of the file, from 1
} sim_csv;

/// Reads a header line and rows of comma-separated fields; empty lines are passed over. IO; FORMAT, RANGE: names file,
/// line and column; MEMORY. Caller clears with sim_csv_clear.
core_status sim_csv_read(const char *path, int count_columns, const sim_csv_column *columns, sim_csv *csv,
                         core_error *err);
void sim_csv_clear(sim_csv *csv);

#endif
