/// The tree of a YAML document: memory, reading a file, overrides, access to values and messages about places in it.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core_yaml_private.h"

#define BLOCK_BYTES 65536u

struct core_yaml_block {
    core_yaml_block *next;
    size_t used, size; // bytes behind this header
};

// ---------------------------------------------------------------------------------------------- memory

void *core__yaml_keep(core_yaml *doc, size_t n_bytes) {
    const size_t header = 64; // keeps core_alloc's alignment behind the header
    n_bytes = (n_bytes + 15) & ~(size_t)15;
    if (!doc->blocks || doc->blocks->size - doc->blocks->used < n_bytes) {
        size_t size = n_bytes > BLOCK_BYTES ? n_bytes : BLOCK_BYTES;
        core_yaml_block *block = core_alloc(header + size, 1);
        if (!block) return NULL;
        *block = (core_yaml_block){.next = doc->blocks, .size = size};
        doc->blocks = block;
    }
    void *memory = (char *)doc->blocks + header + doc->blocks->used;
    doc->blocks->used += n_bytes;
    return memory;
}

const char *core__yaml_keep_text(core_yaml *doc, const char *text, size_t n_bytes) {
    char *copy = core__yaml_keep(doc, n_bytes + 1);
    if (copy && n_bytes > 0) memcpy(copy, text, n_bytes);
    return copy;
}

core_yaml_node *core__yaml_node_new(core_yaml *doc, core_yaml_node *parent, core_yaml_form form) {
    core_yaml_node *node = core__yaml_keep(doc, sizeof *node);
    if (node) *node = (core_yaml_node){.doc = doc, .parent = parent, .form = form, .name = "", .text = ""};
    return node;
}

core_status core__yaml_node_add(core_yaml *doc, core_yaml_node *parent, core_yaml_node *child, core_error *err) {
    if (parent->count == parent->capacity) {
        int capacity = parent->capacity > 0 ? 2 * parent->capacity : 4;
        core_yaml_node **children = core__yaml_keep(doc, (size_t)capacity * sizeof(core_yaml_node *));
        CORE_CHECK(children, CORE_MEMORY, "%s: out of memory", doc->name);
        if (parent->count > 0) memcpy(children, parent->children, (size_t)parent->count * sizeof(core_yaml_node *));
        parent->children = children;
        parent->capacity = capacity;
    }
    child->parent = parent;
    parent->children[parent->count++] = child;
    return CORE_OK;
}

core_yaml_node *core__yaml_node_find(const core_yaml_node *node, const char *name, size_t n_bytes) {
    if (!node || node->form != CORE_YAML_MAPPING) return NULL;
    for (int i = 0; i < node->count; i++) {
        const char *own = node->children[i]->name;
        if (strlen(own) == n_bytes && memcmp(own, name, n_bytes) == 0) return node->children[i];
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------- overrides

/// Message of an override that cannot be applied.
static core_status override_fail(const char *text, const char *reason, core_error *err) {
    return CORE_FAIL(err, CORE_FORMAT, "--set %.200s: %s", text, reason);
}

/// Child of `node` by key (created if missing, then in the form the caller asks for); NULL where it cannot be.
static core_status step_key(core_yaml *doc, core_yaml_node *node, const char *key, size_t n, const char *text,
                            core_yaml_node **child, core_error *err) {
    if (node->form == CORE_YAML_SEQUENCE)
        return override_fail(text, "the path goes through a list: write list[0].key", err);
    if (node->form != CORE_YAML_MAPPING)
        return override_fail(text, "the path goes through a value that has no keys", err);
    *child = core__yaml_node_find(node, key, n);
    if (*child) return CORE_OK;
    *child = core__yaml_node_new(doc, node, CORE_YAML_MAPPING);
    const char *name = core__yaml_keep_text(doc, key, n);
    CORE_CHECK(*child && name, CORE_MEMORY, "%s: out of memory", doc->name);
    (*child)->name = name;
    return core__yaml_node_add(doc, node, *child, err);
}

/// Item i of `node`; the one behind the last is created.
static core_status step_index(core_yaml *doc, core_yaml_node *node, int64_t i, const char *text, core_yaml_node **child,
                              core_error *err) {
    if (node->form == CORE_YAML_MAPPING && node->count == 0) node->form = CORE_YAML_SEQUENCE; // just created
    if (node->form != CORE_YAML_SEQUENCE) return override_fail(text, "[i] is used on something that is no list", err);
    if (i > node->count) {
        return CORE_FAIL(err, CORE_FORMAT, "--set %.200s: index %lld, but the list has %d items", text, (long long)i,
                         node->count);
    }
    if (i < node->count) {
        *child = node->children[i];
        return CORE_OK;
    }
    *child = core__yaml_node_new(doc, node, CORE_YAML_MAPPING);
    CORE_CHECK(*child, CORE_MEMORY, "%s: out of memory", doc->name);
    return core__yaml_node_add(doc, node, *child, err);
}

/// Walks "contact.pairs[0].mu" (n bytes) from the root, creating what is missing.
static core_status walk(core_yaml *doc, const char *path, size_t n, const char *text, core_yaml_node **node,
                        core_error *err) {
    *node = doc->root;
    int depth = 0;
    for (size_t i = 0; i < n;) {
        if (++depth > CORE_YAML_DEPTH_MAX) return override_fail(text, "the path is too deep", err);
        if (path[i] == '[') {
            int64_t index = 0;
            size_t first = ++i;
            while (i < n && path[i] >= '0' && path[i] <= '9' && i - first < 9) index = 10 * index + (path[i++] - '0');
            if (i == first || i >= n || path[i] != ']')
                return override_fail(text, "expected [number] in the path", err);
            CORE_TRY(step_index(doc, *node, index, text, node, err));
            i++;
            if (i < n && path[i] != '[' && path[i] != '.') return override_fail(text, "expected . behind ]", err);
            if (i < n && path[i] == '.') i++;
            if (i == n && path[i - 1] == '.') return override_fail(text, "an empty key in the path", err);
            continue;
        }
        size_t length = 0;
        while (i + length < n && path[i + length] != '.' && path[i + length] != '[') length++;
        if (length == 0) return override_fail(text, "an empty key in the path", err);
        CORE_TRY(step_key(doc, *node, path + i, length, text, node, err));
        i += length;
        if (i < n && path[i] == '.' && ++i == n) return override_fail(text, "an empty key in the path", err);
    }
    return CORE_OK;
}

core_status core__yaml_override(core_yaml *doc, const char *text, core_error *err) {
    const char *equals = text ? strchr(text, '=') : NULL;
    CORE_CHECK(equals && equals != text, CORE_FORMAT, "--set %.200s: expected KEY=VALUE", text ? text : "");
    core_yaml_node *value = NULL, *node = NULL;
    char origin[256];
    snprintf(origin, sizeof origin, "--set %.200s", text);
    CORE_TRY(core__yaml_parse(doc, equals + 1, strlen(equals + 1), origin, false, &value, err));
    CORE_TRY(walk(doc, text, (size_t)(equals - text), text, &node, err));
    // The value takes the place's name and parent; its children look up to the place.
    node->form = value->form;
    node->plain = value->plain;
    node->text = value->text;
    node->line = 0;
    node->count = value->count;
    node->capacity = value->capacity;
    node->children = value->children;
    for (int i = 0; i < node->count; i++) node->children[i]->parent = node;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- documents

/// Reads, overrides, checks; `name` stands for the path in messages.
static core_status read_text(core_yaml *doc, const char *text, size_t n_bytes, int count_overrides,
                             const char *const *overrides, core_error *err) {
    CORE_TRY(core__yaml_parse(doc, text, n_bytes, doc->name, true, &doc->root, err));
    for (int i = 0; i < count_overrides; i++) {
        core_status status = core__yaml_override(doc, overrides[i], err);
        if (status != CORE_OK) return core_error_prefix(err, status, "%s", doc->name);
    }
    CORE_TRY(core__yaml_check(doc, err));
    return core__yaml_resolve(doc, err);
}

core_status core_yaml_read_text(const char *text, size_t n_bytes, const char *name, const core_yaml_key *table,
                                int count_keys, int count_overrides, const char *const *overrides, core_yaml **doc,
                                core_error *err) {
    CORE_CHECK(text && name && table && doc, CORE_ARG, "core_yaml_read_text: null argument");
    CORE_CHECK(count_keys > 0 && count_overrides >= 0 && (overrides || count_overrides == 0), CORE_ARG,
               "core_yaml_read_text: %d keys, %d overrides", count_keys, count_overrides);
    core_status status = CORE_OK;
    core_yaml *fresh = NULL;
    CORE_NEW_DONE(fresh, 1);
    fresh->table = table;
    fresh->count_keys = count_keys;
    fresh->name = core__yaml_keep_text(fresh, name, strlen(name));
    CORE_CHECK_DONE(fresh->name, CORE_MEMORY, "%s: out of memory", name);
    CORE_TRY_DONE(read_text(fresh, text, n_bytes, count_overrides, overrides, err));
    *doc = fresh;
    fresh = NULL;
done:
    core_yaml_destroy(&fresh);
    return status;
}

core_status core_yaml_read(const char *path, const core_yaml_key *table, int count_keys, int count_overrides,
                           const char *const *overrides, core_yaml **doc, core_error *err) {
    CORE_CHECK(path && table && doc, CORE_ARG, "core_yaml_read: null argument");
    char *text = NULL;
    size_t n_bytes = 0;
    CORE_TRY(core_file_read(path, CORE_YAML_BYTES_MAX, &text, &n_bytes, err));
    core_status status =
        core_yaml_read_text(text, n_bytes, path, table, count_keys, count_overrides, overrides, doc, err);
    core_free(text);
    return status;
}

void core_yaml_destroy(core_yaml **doc) {
    if (!doc || !*doc) return;
    for (core_yaml_block *block = (*doc)->blocks; block;) {
        core_yaml_block *next = block->next;
        core_free(block);
        block = next;
    }
    core_free((*doc)->resolved);
    core_free(*doc);
    *doc = NULL;
}

const core_yaml_node *core_yaml_root(const core_yaml *doc) {
    return doc ? doc->root : NULL;
}

const char *core_yaml_resolved_text(const core_yaml *doc) {
    return doc->resolved;
}

// ---------------------------------------------------------------------------------------------- access

const core_yaml_node *core_yaml_get(const core_yaml_node *node, const char *path) {
    while (node && *path) {
        size_t length = strcspn(path, ".");
        node = core__yaml_node_find(node, path, length);
        path += length + (path[length] == '.');
    }
    return node;
}

int core_yaml_count(const core_yaml_node *node) {
    return node ? node->count : 0;
}

const core_yaml_node *core_yaml_at(const core_yaml_node *node, int i) {
    return node && i >= 0 && i < node->count ? node->children[i] : NULL;
}

const char *core_yaml_name(const core_yaml_node *node) {
    return node ? node->name : "";
}

int core_yaml_line(const core_yaml_node *node) {
    return node ? node->line : 0;
}

const char *core_yaml_scalar(const core_yaml_node *node) {
    return node && node->form == CORE_YAML_SCALAR ? node->text : NULL;
}

/// Text of the scalar at path, or the table's default, or NULL.
static const char *scalar_or_standard(const core_yaml_node *node, const char *path) {
    const core_yaml_node *child = core_yaml_get(node, path);
    if (child) return core_yaml_scalar(child);
    char full[CORE_YAML_PATH_MAX];
    if (!node || !core__yaml_table_path(node, path, full)) return NULL;
    const core_yaml_key *row = core__yaml_row(node->doc, full);
    return row ? row->standard : NULL;
}

double core_yaml_number(const core_yaml_node *node, const char *path) {
    const char *text = scalar_or_standard(node, path);
    double value = NAN;
    if (!text || core_parse_number(text, path, -HUGE_VAL, HUGE_VAL, &value, NULL) != CORE_OK) return NAN;
    return value;
}

int64_t core_yaml_integer(const core_yaml_node *node, const char *path) {
    const char *text = scalar_or_standard(node, path);
    int64_t value = 0;
    if (!text || core_parse_integer(text, path, INT64_MIN, INT64_MAX, &value, NULL) != CORE_OK) return 0;
    return value;
}

const char *core_yaml_text(const core_yaml_node *node, const char *path) {
    return scalar_or_standard(node, path);
}

bool core_yaml_is_auto(const core_yaml_node *node, const char *path) {
    const char *text = scalar_or_standard(node, path);
    return text && strcmp(text, "auto") == 0;
}

/// Numbers of a default such as "[0, -9.81]"; false if it is none.
static bool standard_vector(const char *text, double *values, int n) {
    char word[64];
    if (*text++ != '[') return false;
    for (int i = 0; i < n; i++) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ",]");
        if (length == 0 || length >= sizeof word) return false;
        memcpy(word, text, length);
        word[length] = 0;
        if (core_parse_number(word, "default", -HUGE_VAL, HUGE_VAL, &values[i], NULL) != CORE_OK) return false;
        text += length + (text[length] == ',');
    }
    return true;
}

bool core_yaml_vector(const core_yaml_node *node, const char *path, double *values, int n) {
    const core_yaml_node *child = core_yaml_get(node, path);
    if (child) {
        for (int i = 0; i < n && i < child->count; i++) {
            if (core_parse_number(child->children[i]->text, path, -HUGE_VAL, HUGE_VAL, &values[i], NULL) != CORE_OK)
                return false;
        }
        return child->count > 0;
    }
    const char *standard = scalar_or_standard(node, path);
    return standard && standard_vector(standard, values, n);
}

// ---------------------------------------------------------------------------------------------- messages

/// Writes "contact.pairs[0].mu" for a node; the front is cut if it is too long.
static void node_path(const core_yaml_node *node, char path[CORE_YAML_PATH_MAX]) {
    char parts[CORE_YAML_PATH_MAX];
    path[0] = 0;
    for (; node && node->parent; node = node->parent) {
        if (node->parent->form == CORE_YAML_SEQUENCE) {
            int i = 0;
            while (i < node->parent->count && node->parent->children[i] != node) i++;
            snprintf(parts, sizeof parts, "[%d]%s%.200s", i, path[0] && path[0] != '[' ? "." : "", path);
        } else {
            snprintf(parts, sizeof parts, "%.40s%s%.200s", node->name, path[0] && path[0] != '[' ? "." : "", path);
        }
        memcpy(path, parts, sizeof parts);
    }
}

/// Line breaks of names become spaces: a message is one line.
static void keep_line(char *text) {
    for (; *text; text++) {
        if (*text == '\n') *text = ' ';
    }
}

/// Body of the functions below: the line of `place`, the path of `node`.
static core_status fail_list(const core_yaml *doc, const core_yaml_node *place, const core_yaml_node *node,
                             core_status code, core_error *err, const char *format, va_list args) {
    char message[800], path[CORE_YAML_PATH_MAX] = "", line[32] = "";
    vsnprintf(message, sizeof message, format, args);
    node_path(node, path);
    keep_line(message);
    keep_line(path);
    const char *set = "";
    if (place && place->parent && place->line == 0) set = path[0] ? "--set " : "--set: ";
    if (place && place->line > 0) snprintf(line, sizeof line, ":%d", place->line);
    return CORE_FAIL(err, code, "%s%s: %s%s%s%s", doc->name, line, set, path, path[0] ? ": " : "", message);
}

core_status core__yaml_fail_as(const core_yaml *doc, const core_yaml_node *node, core_status code, core_error *err,
                               const char *format, ...) {
    va_list args;
    va_start(args, format);
    core_status status = fail_list(doc, node, node, code, err, format, args);
    va_end(args);
    return status;
}

core_status core__yaml_fail_key(const core_yaml *doc, const core_yaml_node *child, core_error *err, const char *format,
                                ...) {
    va_list args;
    va_start(args, format);
    core_status status = fail_list(doc, child, child->parent, CORE_FORMAT, err, format, args);
    va_end(args);
    return status;
}

core_status core_yaml_fail(const core_yaml *doc, const core_yaml_node *node, core_error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    core_status status = fail_list(doc, node, node, CORE_FORMAT, err, format, args);
    va_end(args);
    return status;
}

core_status core_yaml_fail_by(const core_yaml *doc, const core_yaml_node *node, const core_error *cause,
                              core_error *err) {
    core_yaml_fail(doc, node, err, "%s", cause->message);
    if (err) err->code = cause->code;
    return cause->code;
}
