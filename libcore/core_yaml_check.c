/// Checks a tree against the schema table: kinds, ranges, unknown, duplicate and missing keys. Every message names the
/// place, what was found and what is expected.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_yaml_private.h"

#define KEYS_MAX 64 // keys of one block that a message can list

// ---------------------------------------------------------------------------------------------- the table

const core_yaml_key *core__yaml_row(const core_yaml *doc, const char *path) {
    for (int i = 0; i < doc->count_keys; i++) {
        if (strcmp(doc->table[i].path, path) == 0) return &doc->table[i];
    }
    return NULL;
}

bool core__yaml_table_path(const core_yaml_node *node, const char *name, char path[CORE_YAML_PATH_MAX]) {
    const char *own = node->row ? node->row->path : "";
    const char *item = !node->item ? "" : node->row->kind == CORE_YAML_LIST ? "[]" : "{}";
    const char *dot = name && *own ? "." : "";
    int n = snprintf(path, CORE_YAML_PATH_MAX, "%s%s%s%s", own, item, dot, name ? name : "");
    return n >= 0 && n < CORE_YAML_PATH_MAX;
}

bool core__yaml_is_child(const char *path, const char *parent, const char **name) {
    size_t length = strlen(parent);
    if (strncmp(path, parent, length) != 0) return false;
    path += length;
    if (length > 0 && *path++ != '.') return false;
    *name = path;
    return *path && !strchr(path, '.');
}

/// Names of the keys directly in `parent`; returns their number.
static int child_names(const core_yaml *doc, const char *parent, const char *names[KEYS_MAX]) {
    int n = 0;
    for (int i = 0; i < doc->count_keys && n < KEYS_MAX; i++) {
        if (core__yaml_is_child(doc->table[i].path, parent, &names[n])) n++;
    }
    return n;
}

/// The allowed range in words, with a space in front; "" if every finite number is allowed.
static void range_text(const core_yaml_key *row, char text[96]) {
    text[0] = 0;
    if (row->min >= row->max) return; // both 0
    bool below = row->max<DBL_MAX, above = row->min> - DBL_MAX;
    if (above && below && row->above_min) {
        snprintf(text, 96, " above %g, at most %g", row->min, row->max);
    } else if (above && below) {
        snprintf(text, 96, " from %.16g to %.16g", row->min, row->max);
    } else if (above) {
        snprintf(text, 96, row->above_min ? " above %g" : " not below %g", row->min);
    } else if (below) {
        snprintf(text, 96, " at most %g", row->max);
    }
}

void core__yaml_expected(const core_yaml_key *row, char text[CORE_YAML_EXPECTED_MAX]) {
    char range[96], unit[64] = "";
    range_text(row, range);
    if (row->unit && *row->unit) snprintf(unit, sizeof unit, " (%.50s)", row->unit);
    const size_t n = CORE_YAML_EXPECTED_MAX;
    switch (row->kind) {
    case CORE_YAML_NUMBER:
        snprintf(text, n, "%sa number%s%s", row->automatic ? "auto or " : "", range, unit);
        break;
    case CORE_YAML_INTEGER:
        snprintf(text, n, "a whole number%s%s", range, unit);
        break;
    case CORE_YAML_TEXT:
        snprintf(text, n, "text");
        break;
    case CORE_YAML_WORD:
        snprintf(text, n, strchr(row->words, ' ') ? "one of the words: %s" : "the word %s", row->words);
        break;
    case CORE_YAML_VECTOR:
        if (row->count > 0) {
            snprintf(text, n, "a list of %d numbers%s%s", row->count, range, unit);
        } else {
            snprintf(text, n, "a list of numbers%s%s", range, unit);
        }
        break;
    case CORE_YAML_NAMES:
        snprintf(text, n, "a list of names: [name, ...]");
        break;
    case CORE_YAML_BLOCK:
        snprintf(text, n, "a block of keys");
        break;
    case CORE_YAML_LIST:
        snprintf(text, n, "a list of blocks, each behind a dash");
        break;
    case CORE_YAML_DICT:
        snprintf(text, n, "names, each with a block of keys");
        break;
    }
}

// ---------------------------------------------------------------------------------------------- values

/// What is in the file, in words; long text is cut at a whole character, line breaks become spaces.
static void found_text(const core_yaml_node *node, char text[128]) {
    if (node->form != CORE_YAML_SCALAR) {
        snprintf(text, 128, "%s", node->form == CORE_YAML_SEQUENCE ? "a list" : "a block of keys");
        return;
    }
    if (node->plain && !*node->text) {
        snprintf(text, 128, "nothing");
        return;
    }
    char part[64];
    size_t n = strlen(node->text);
    bool cut = n > 60;
    if (cut) {
        n = 60;
        while (n > 0 && ((unsigned char)node->text[n] & 0xC0) == 0x80) n--;
    }
    for (size_t i = 0; i < n; i++) part[i] = (unsigned char)node->text[i] < 0x20 ? ' ' : node->text[i];
    part[n] = 0;
    snprintf(text, 128, "\"%s%s\"%s", part, cut ? "..." : "", node->plain ? "" : " in quotes");
}

/// "found X, expected Y".
static core_status fail_value(const core_yaml *doc, const core_yaml_node *node, const core_yaml_key *row,
                              core_status code, core_error *err) {
    char found[128], expected[CORE_YAML_EXPECTED_MAX];
    found_text(node, found);
    core__yaml_expected(row, expected);
    return core__yaml_fail_as(doc, node, code, err, "found %s, expected %s", found, expected);
}

/// True for the spellings of NaN and infinity, with or without sign and YAML's dot.
static bool is_nonfinite_word(const char *text) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    if (*text == '+' || *text == '-') text++;
    if (*text == '.') text++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(text) == strlen(words[i]) && core_path_ends(text, words[i])) return true; // compares without case
    }
    return false;
}

/// One number of a NUMBER, INTEGER or VECTOR row.
static core_status check_number(const core_yaml *doc, const core_yaml_node *node, const core_yaml_key *row,
                                core_error *err) {
    if (node->form != CORE_YAML_SCALAR || !node->plain) return fail_value(doc, node, row, CORE_FORMAT, err);
    if (is_nonfinite_word(node->text)) return fail_value(doc, node, row, CORE_NONFINITE, err);
    double value = 0;
    if (row->kind == CORE_YAML_INTEGER) {
        int64_t whole = 0;
        core_status status = core_parse_integer(node->text, row->path, INT64_MIN, INT64_MAX, &whole, NULL);
        if (status != CORE_OK) return fail_value(doc, node, row, status, err);
        value = (double)whole;
    } else {
        core_status status = core_parse_number(node->text, row->path, -DBL_MAX, DBL_MAX, &value, NULL);
        if (status != CORE_OK) return fail_value(doc, node, row, status, err);
    }
    bool limited = row->min < row->max;
    if (limited && (value < row->min || value > row->max || (row->above_min && value <= row->min))) {
        return fail_value(doc, node, row, CORE_RANGE, err);
    }
    return CORE_OK;
}

/// One of the space-separated words of the row.
static core_status check_word(const core_yaml *doc, const core_yaml_node *node, const core_yaml_key *row,
                              core_error *err) {
    if (node->form != CORE_YAML_SCALAR) return fail_value(doc, node, row, CORE_FORMAT, err);
    size_t n = strlen(node->text);
    for (const char *word = row->words; *word;) {
        size_t length = strcspn(word, " ");
        if (length == n && strncmp(word, node->text, n) == 0) return CORE_OK;
        word += length + (word[length] == ' ');
    }
    return fail_value(doc, node, row, CORE_FORMAT, err);
}

// ---------------------------------------------------------------------------------------------- blocks

/// Order of keys for the search of duplicates: by name, equal names by line.
static int compare_names(const void *a, const void *b) {
    const core_yaml_node *x = *(const core_yaml_node *const *)a, *y = *(const core_yaml_node *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/// Refuses a key that is given twice. Sorts a copy: a hostile block may have very many keys.
static core_status check_duplicates(const core_yaml *doc, const core_yaml_node *block, core_error *err) {
    core_status status = CORE_OK;
    const core_yaml_node **sorted = NULL;
    if (block->count < 2) return CORE_OK;
    CORE_NEW_DONE(sorted, (size_t)block->count);
    for (int i = 0; i < block->count; i++) sorted[i] = block->children[i];
    qsort(sorted, (size_t)block->count, sizeof *sorted, compare_names);
    for (int i = 1; i < block->count; i++) {
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) != 0) continue;
        status = core__yaml_fail_key(doc, sorted[i], err, "key \"%.60s\" a second time; it is in line %d already",
                                     sorted[i]->name, sorted[i - 1]->line);
        goto done;
    }
done:
    core_free(sorted);
    return status;
}

/// Names the nearest known key, or all of them where none is near.
static core_status fail_unknown(const core_yaml *doc, const core_yaml_node *child, const char *parent,
                                core_error *err) {
    const char *names[KEYS_MAX];
    int n = child_names(doc, parent, names);
    const char *nearest = core_nearest_word(child->name, names, n);
    if (nearest) {
        return core__yaml_fail_key(doc, child, err, "unknown key \"%.60s\"; nearest known key: \"%s\"", child->name,
                                   nearest);
    }
    char all[CORE_YAML_EXPECTED_MAX] = "";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof all - 1; i++) {
        int more = snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
        used += more > 0 ? (size_t)more : 0;
    }
    return core__yaml_fail_key(doc, child, err, "unknown key \"%.60s\"; known keys: %s", child->name, all);
}

static core_status check_node(const core_yaml *doc, core_yaml_node *node, core_error *err);

/// The keys of a block (root, BLOCK, or item of a LIST or DICT) whose row is set.
static core_status check_block(const core_yaml *doc, core_yaml_node *block, core_error *err) {
    char parent[CORE_YAML_PATH_MAX], path[CORE_YAML_PATH_MAX];
    core__yaml_table_path(block, NULL, parent);
    for (int i = 0; i < block->count; i++) {
        core_yaml_node *child = block->children[i];
        bool fits =
            strcspn(child->name, ".[]{}") == strlen(child->name) && core__yaml_table_path(block, child->name, path);
        child->row = fits ? core__yaml_row(doc, path) : NULL;
        if (!child->row) return fail_unknown(doc, child, parent, err);
    }
    CORE_TRY(check_duplicates(doc, block, err));
    for (int i = 0; i < block->count; i++) CORE_TRY(check_node(doc, block->children[i], err));
    for (int i = 0; i < doc->count_keys; i++) {
        const core_yaml_key *row = &doc->table[i];
        const char *name = NULL;
        if (!row->required || !core__yaml_is_child(row->path, parent, &name)) continue;
        if (core__yaml_node_find(block, name, strlen(name))) continue;
        char expected[CORE_YAML_EXPECTED_MAX];
        core__yaml_expected(row, expected);
        return core_yaml_fail(doc, block, err, "key \"%s\" is missing; expected %s", name, expected);
    }
    return CORE_OK;
}

/// The items of a LIST or DICT.
static core_status check_items(const core_yaml *doc, core_yaml_node *node, core_error *err) {
    core_yaml_form form = node->row->kind == CORE_YAML_LIST ? CORE_YAML_SEQUENCE : CORE_YAML_MAPPING;
    if (node->form != form) return fail_value(doc, node, node->row, CORE_FORMAT, err);
    if (form == CORE_YAML_MAPPING) CORE_TRY(check_duplicates(doc, node, err));
    for (int i = 0; i < node->count; i++) {
        core_yaml_node *item = node->children[i];
        if (item->form != CORE_YAML_MAPPING) {
            char found[128];
            found_text(item, found);
            return core_yaml_fail(doc, item, err, "found %s, expected a block of keys", found);
        }
        item->row = node->row;
        item->item = true;
        CORE_TRY(check_block(doc, item, err));
    }
    return CORE_OK;
}

/// A sequence of numbers or names.
static core_status check_sequence(const core_yaml *doc, core_yaml_node *node, core_error *err) {
    const core_yaml_key *row = node->row;
    if (node->form != CORE_YAML_SEQUENCE) return fail_value(doc, node, row, CORE_FORMAT, err);
    if (row->kind == CORE_YAML_VECTOR && (row->count > 0 ? node->count != row->count : node->count == 0)) {
        char expected[CORE_YAML_EXPECTED_MAX];
        core__yaml_expected(row, expected);
        return core_yaml_fail(doc, node, err, "found a list of %d, expected %s", node->count, expected);
    }
    for (int i = 0; i < node->count; i++) {
        core_yaml_node *child = node->children[i];
        if (row->kind == CORE_YAML_VECTOR) {
            CORE_TRY(check_number(doc, child, row, err));
        } else if (child->form != CORE_YAML_SCALAR || !*child->text) {
            return fail_value(doc, child, row, CORE_FORMAT, err);
        }
    }
    return CORE_OK;
}

/// A node whose row is set, against that row.
static core_status check_node(const core_yaml *doc, core_yaml_node *node, core_error *err) {
    const core_yaml_key *row = node->row;
    switch (row->kind) {
    case CORE_YAML_NUMBER:
        if (row->automatic && node->form == CORE_YAML_SCALAR && strcmp(node->text, "auto") == 0) return CORE_OK;
        return check_number(doc, node, row, err);
    case CORE_YAML_INTEGER:
        return check_number(doc, node, row, err);
    case CORE_YAML_WORD:
        return check_word(doc, node, row, err);
    case CORE_YAML_TEXT:
        if (node->form != CORE_YAML_SCALAR || (node->plain && !*node->text))
            return fail_value(doc, node, row, CORE_FORMAT, err);
        return CORE_OK;
    case CORE_YAML_VECTOR:
    case CORE_YAML_NAMES:
        return check_sequence(doc, node, err);
    case CORE_YAML_BLOCK:
        if (node->form != CORE_YAML_MAPPING) return fail_value(doc, node, row, CORE_FORMAT, err);
        return check_block(doc, node, err);
    case CORE_YAML_LIST:
    case CORE_YAML_DICT:
        return check_items(doc, node, err);
    }
    return CORE_FAIL(err, CORE_INTERNAL, "%s: unknown kind %d in the table", row->path, (int)row->kind);
}

core_status core__yaml_check(core_yaml *doc, core_error *err) {
    if (doc->root->form != CORE_YAML_MAPPING) {
        char found[128];
        found_text(doc->root, found);
        return core_yaml_fail(doc, doc->root, err, "found %s, expected lines of the form key: value", found);
    }
    return check_block(doc, doc->root, err);
}
