/// Text from trees and tables: the resolved document that run files store, and the help of a schema.
#include <stdio.h>
#include <string.h>

#include "core_yaml_private.h"

/// A growing text; `failed` once memory ran out.
typedef struct buffer {
    char *text;
    size_t used, size;
    bool failed;
} buffer;

static void put_bytes(buffer *b, const char *text, size_t n) {
    if (b->failed) return;
    if (b->size - b->used < n + 1) {
        size_t size = 2 * b->size + n + 256;
        char *larger = core_realloc(b->text, b->used, size, 1);
        if (!larger) {
            b->failed = true;
            return;
        }
        b->text = larger;
        b->size = size;
    }
    if (n > 0) memcpy(b->text + b->used, text, n);
    b->used += n;
    b->text[b->used] = 0;
}

static void put(buffer *b, const char *text) {
    put_bytes(b, text, strlen(text));
}

// ---------------------------------------------------------------------------------------------- resolved document

/// Text that means the same in every place of a document without quotes.
static bool is_bare(const char *text) {
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    return *text && text[strspn(text, safe)] == 0 && strcmp(text, "-") != 0 && strncmp(text, "---", 3) != 0;
}

/// A scalar, double-quoted where it has to be.
static void put_scalar(buffer *b, const char *text, bool plain) {
    if (plain && is_bare(text)) {
        put(b, text);
        return;
    }
    put(b, "\"");
    for (; *text; text++) {
        char escape[8];
        if (*text == '"' || *text == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *text);
            put(b, escape);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7F) {
            snprintf(escape, sizeof escape, "\\x%02X", (unsigned)(unsigned char)*text);
            put(b, escape);
        } else {
            put_bytes(b, text, 1);
        }
    }
    put(b, "\"");
}

/// A node on one line; the parser has bounded the depth.
static void put_flow(buffer *b, const core_yaml_node *node) {
    if (node->form == CORE_YAML_SCALAR) {
        put_scalar(b, node->text, node->plain);
        return;
    }
    bool sequence = node->form == CORE_YAML_SEQUENCE;
    put(b, sequence ? "[" : "{");
    for (int i = 0; i < node->count; i++) {
        if (i > 0) put(b, ", ");
        if (!sequence) {
            put_scalar(b, node->children[i]->name, true);
            put(b, ": ");
        }
        put_flow(b, node->children[i]);
    }
    put(b, sequence ? "]" : "}");
}

/// A top-level value: entries of lists and blocks on lines of their own.
static void put_value(buffer *b, const core_yaml_node *node) {
    bool lines = node->form != CORE_YAML_SCALAR && node->count > 0;
    for (int i = 0; lines && node->form == CORE_YAML_SEQUENCE && i < node->count; i++) {
        lines = node->children[i]->form != CORE_YAML_SCALAR;
    }
    if (!lines) {
        put(b, " ");
        put_flow(b, node);
        put(b, "\n");
        return;
    }
    put(b, "\n");
    for (int i = 0; i < node->count; i++) {
        put(b, "  ");
        if (node->form == CORE_YAML_MAPPING) {
            put_scalar(b, node->children[i]->name, true);
            put(b, ": ");
        } else {
            put(b, "- ");
        }
        put_flow(b, node->children[i]);
        put(b, "\n");
    }
}

core_status core__yaml_resolve(core_yaml *doc, core_error *err) {
    buffer b = {0};
    put(&b, "");
    for (int i = 0; i < doc->root->count; i++) {
        put_scalar(&b, doc->root->children[i]->name, true);
        put(&b, ":");
        put_value(&b, doc->root->children[i]);
    }
    if (b.failed) {
        core_free(b.text);
        return CORE_FAIL(err, CORE_MEMORY, "%s: out of memory", doc->name);
    }
    doc->resolved = b.text;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- help

/// Letters of a path that name its section: the key at the top.
static int section_length(const char *path) {
    return (int)strcspn(path, ".[{");
}

static bool same_section(const char *a, const char *b) {
    const int n = section_length(a);
    return n == section_length(b) && strncmp(a, b, (size_t)n) == 0;
}

/// A key at the top with nothing below it.
static bool is_single(const core_yaml_key *table, int count_keys, const char *path) {
    int count = 0;
    for (int i = 0; i < count_keys; i++) count += same_section(path, table[i].path);
    return count == 1;
}

static void put_row(buffer *b, const core_yaml_key *row, int width) {
    char text[128 + CORE_YAML_EXPECTED_MAX], expected[CORE_YAML_EXPECTED_MAX];
    core__yaml_expected(row, expected);
    snprintf(text, sizeof text, "%-*s %s", width, row->path, expected);
    put(b, text);
    if (row->required) put(b, "; required");
    if (row->standard) {
        put(b, "; default ");
        put(b, row->standard);
    }
    put(b, ". ");
    put(b, row->help);
    put(b, "\n");
}

/// A heading and the rows of one section, or of all keys that are single (section NULL).
static void put_section(buffer *b, const core_yaml_key *table, int count_keys, const char *section) {
    int width = 0;
    for (int pass = 0; pass < 2; pass++) { // the widest key first
        for (int i = 0; i < count_keys; i++) {
            const char *path = table[i].path;
            if (section ? !same_section(section, path) : !is_single(table, count_keys, path)) continue;
            const int length = (int)strlen(path);
            if (pass == 1) put_row(b, &table[i], width);
            if (pass == 0 && length > width) width = length;
        }
        if (pass == 1 || width == 0) continue;
        put(b, "\n-- ");
        put_bytes(b, section ? section : "whole scene",
                  section ? (size_t)section_length(section) : strlen("whole scene"));
        put(b, " --\n");
    }
}

core_status core_yaml_help(const core_yaml_key *table, int count_keys, char **text, core_error *err) {
    CORE_CHECK(table && text && count_keys > 0, CORE_ARG, "core_yaml_help: null table or text, or %d keys", count_keys);
    buffer b = {0};
    put(&b, "Keys of a scene file (YAML). [] is an item of a list, {} a name of your choice.\n");
    put_section(&b, table, count_keys, NULL);
    for (int i = 0; i < count_keys; i++) {
        bool first = !is_single(table, count_keys, table[i].path);
        for (int k = 0; k < i && first; k++) first = !same_section(table[i].path, table[k].path);
        if (first) put_section(&b, table, count_keys, table[i].path);
    }
    if (b.failed) {
        core_free(b.text);
        return CORE_FAIL(err, CORE_MEMORY, "out of memory for the help text");
    }
    *text = b.text;
    return CORE_OK;
}
