/// Tables of numbers from CSV files.
#ifndef CORE_CSV_H
#define CORE_CSV_H

#include "core.h"

/// A column that a file may have.
typedef struct core_csv_column {
    const char *name;
    bool required;
    bool is_text; // a name; at most one column of a table
} core_csv_column;

/// Rows of a file. `{0}` is "nothing".
typedef struct core_csv {
    int count_rows, count_columns;
    int count_found;              // columns the file has
    double *values;               // (count_rows x count_columns) 0 where the file has no such column
    char (*words)[CORE_NAME_MAX]; // (count_rows) of the text column, NULL: there is none
    int *lines;                   // (count_rows) of the file, from 1
} core_csv;

/// Reads a header line of column names in any order and rows of comma-separated fields; empty lines are passed over.
/// ARG; IO; FORMAT, RANGE: names file, line and column; MEMORY. Caller clears with core_csv_clear.
core_status core_csv_read(const char *path, int count_columns, const core_csv_column *columns, core_csv *csv,
                          core_error *err);
/// As core_csv_read, from an open descriptor, which stays open; `name` stands for the file in messages.
core_status core_csv_read_open(int descriptor, const char *name, int count_columns, const core_csv_column *columns,
                               core_csv *csv, core_error *err);
/// Frees and zeroes; accepts {0} and NULL.
void core_csv_clear(core_csv *csv);

#endif
