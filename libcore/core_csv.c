/// Tables from CSV files: a header of known column names in any order, a row a line. Messages name file, line and
/// column.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core_csv.h"

#define BYTES_MAX ((size_t)1 << 30)
#define FIELD_MAX 128
enum { FIELDS_MAX = 16 };

// The line at *text without its end; *text moves behind it. False at the end of the file.
static bool next_line(char **text, char **line) {
    if (!**text) return false;
    *line = *text;
    const size_t n = strcspn(*text, "\n");
    *text += n + ((*text)[n] == '\n');
    (*line)[n] = 0;
    if (n > 0 && (*line)[n - 1] == '\r') (*line)[n - 1] = 0;
    return true;
}

// Field of a line at *at, blanks around it taken off. False: too long.
static bool next_field(const char **at, char field[FIELD_MAX]) {
    const char *start = *at + strspn(*at, " \t");
    size_t n = strcspn(start, ",");
    *at = start + n + (start[n] == ',');
    while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t')) --n;
    if (n >= FIELD_MAX) return false;
    memcpy(field, start, n);
    field[n] = 0;
    return true;
}

static int count_fields(const char *line) {
    int n = 1;
    for (; *line; ++line) n += *line == ',';
    return n;
}

// Which column of the table each field of the header is.
static core_status read_header(const char *path, const char *line, int count, const core_csv_column *columns,
                               int fields[FIELDS_MAX], int *count_fields_found, core_error *err) {
    char list[256] = "", field[FIELD_MAX];
    size_t used = 0;
    for (int c = 0; c < count && used < sizeof list - 1; ++c) {
        const int n = snprintf(list + used, sizeof list - used, "%s%s", c > 0 ? "," : "", columns[c].name);
        used += n > 0 ? (size_t)n : 0;
    }
    const int n = count_fields(line);
    CORE_CHECK(n <= FIELDS_MAX, CORE_FORMAT, "%s:1: found %d columns, expected some of %s", path, n, list);
    bool seen[FIELDS_MAX] = {false};
    const char *at = line;
    for (int f = 0; f < n; ++f) {
        fields[f] = -1;
        CORE_CHECK(next_field(&at, field), CORE_FORMAT, "%s:1: column %d has a name of %d or more bytes", path, f + 1,
                   FIELD_MAX);
        for (int c = 0; c < count; ++c) {
            if (strcmp(field, columns[c].name) == 0) fields[f] = c;
        }
        CORE_CHECK(fields[f] >= 0, CORE_FORMAT, "%s:1: column %d: found \"%s\", expected one of %s", path, f + 1, field,
                   list);
        CORE_CHECK(!seen[fields[f]], CORE_FORMAT, "%s:1: column \"%s\" a second time", path, field);
        seen[fields[f]] = true;
    }
    for (int c = 0; c < count; ++c) {
        CORE_CHECK(seen[c] || !columns[c].required, CORE_FORMAT,
                   "%s:1: column \"%s\" is missing; expected a header of %s", path, columns[c].name, list);
    }
    *count_fields_found = n;
    return CORE_OK;
}

static core_status read_row(const char *path, int number, const char *line, const core_csv_column *columns,
                            const int fields[FIELDS_MAX], int n, double *values, char word[CORE_NAME_MAX],
                            core_error *err) {
    const int found = count_fields(line);
    CORE_CHECK(found == n, CORE_FORMAT, "%s:%d: found %d columns, expected %d as in the header", path, number, found,
               n);
    const char *at = line;
    char field[FIELD_MAX], what[64];
    for (int f = 0; f < n; ++f) {
        const core_csv_column *column = &columns[fields[f]];
        const bool fits = next_field(&at, field);
        CORE_CHECK(fits && field[0], CORE_FORMAT, "%s:%d: column %s: found %s, expected %s", path, number, column->name,
                   fits ? "nothing" : "more than 127 bytes", column->is_text ? "a name" : "a number");
        if (column->is_text) {
            CORE_CHECK(strlen(field) < CORE_NAME_MAX, CORE_FORMAT, "%s:%d: column %s: a name of %zu bytes", path,
                       number, column->name, strlen(field));
            memcpy(word, field, strlen(field) + 1);
            continue;
        }
        snprintf(what, sizeof what, "column %s", column->name);
        const core_status status = core_parse_number(field, what, -HUGE_VAL, HUGE_VAL, &values[fields[f]], err);
        if (status != CORE_OK) return core_error_prefix(err, status, "%s:%d", path, number);
    }
    return CORE_OK;
}

static bool has_text(int count, const core_csv_column *columns) {
    bool found = false;
    for (int c = 0; c < count; ++c) found = found || columns[c].is_text;
    return found;
}

// Of the whole text, which it takes apart.
static core_status read_text(char *text, const char *path, int count, const core_csv_column *columns, core_csv *csv,
                             core_error *err) {
    core_status status = CORE_OK;
    core_csv made = {.count_columns = count};
    char *line = NULL, unused[CORE_NAME_MAX];
    size_t lines = 1;
    int fields[FIELDS_MAX], n = 0;
    for (const char *at = text; *at; ++at) lines += *at == '\n';
    CORE_NEW_DONE(made.values, lines * (size_t)count);
    if (has_text(count, columns)) CORE_NEW_DONE(made.words, lines);
    CORE_NEW_DONE(made.lines, lines);
    CORE_CHECK_DONE(next_line(&text, &line), CORE_FORMAT, "%s: empty; expected a header line", path);
    CORE_TRY_DONE(read_header(path, line, count, columns, fields, &n, err));
    made.count_found = n;
    for (int number = 2; next_line(&text, &line); ++number) {
        if (!line[strspn(line, " \t")]) continue; // an empty line
        const size_t row = (size_t)made.count_rows;
        CORE_TRY_DONE(read_row(path, number, line, columns, fields, n, made.values + row * (size_t)count,
                               made.words ? made.words[row] : unused, err));
        made.lines[made.count_rows++] = number;
    }
    CORE_CHECK_DONE(made.count_rows >= 1, CORE_FORMAT, "%s: found no rows behind the header, expected at least one",
                    path);
    *csv = made;
    made = (core_csv){0};
done:
    core_csv_clear(&made);
    return status;
}

static core_status check_arguments(const char *path, int count, const core_csv_column *columns, const core_csv *csv,
                                   core_error *err) {
    CORE_CHECK(path && columns && csv && count >= 1 && count <= FIELDS_MAX, CORE_ARG,
               "core_csv_read: null argument or %d columns", count);
    return CORE_OK;
}

// Takes the bytes.
static core_status read_bytes(char *data, size_t n_bytes, const char *path, int count, const core_csv_column *columns,
                              core_csv *csv, core_error *err) {
    core_status status = CORE_OK;
    CORE_CHECK_DONE(strlen(data) == n_bytes, CORE_FORMAT, "%s: found a zero byte, expected text", path);
    status = read_text(data, path, count, columns, csv, err);
done:
    core_free(data);
    return status;
}

core_status core_csv_read(const char *path, int count_columns, const core_csv_column *columns, core_csv *csv,
                          core_error *err) {
    char *data = NULL;
    size_t n = 0;
    CORE_TRY(check_arguments(path, count_columns, columns, csv, err));
    CORE_TRY(core_file_read(path, BYTES_MAX, &data, &n, err));
    return read_bytes(data, n, path, count_columns, columns, csv, err);
}

core_status core_csv_read_open(int descriptor, const char *name, int count_columns, const core_csv_column *columns,
                               core_csv *csv, core_error *err) {
    char *data = NULL;
    size_t n = 0;
    CORE_TRY(check_arguments(name, count_columns, columns, csv, err));
    CORE_TRY(core_file_read_open(descriptor, name, BYTES_MAX, &data, &n, err));
    return read_bytes(data, n, name, count_columns, columns, csv, err);
}

void core_csv_clear(core_csv *csv) {
    if (!csv) return;
    core_free(csv->values);
    core_free(csv->words);
    core_free(csv->lines);
    *csv = (core_csv){0};
}
