/// Text from trees and tables: the resolved document that run files store, and the help of a schema.
#include <string.h>

#include "core_buffer.h"
#include "core_yaml_private.h"

static void put(core_buffer *b, const char *text) {
    core_buffer_add_bytes(b, text, strlen(text));
}

// ---------------------------------------------------------------------------------------------- resolved document

/// Text that means the same in every place of a document without quotes.
static bool is_bare(const char *text) {
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    return *text && text[strspn(text, safe)] == 0 && strcmp(text, "-") != 0 && strncmp(text, "---", 3) != 0;
}

/// A scalar, double-quoted where it has to be.
static void put_scalar(core_buffer *b, const char *text, bool plain) {
    if (plain && is_bare(text)) {
        put(b, text);
        return;
    }
    put(b, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            core_buffer_add(b, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20 || *text == 0x7F) {
            core_buffer_add(b, "\\x%02X", (unsigned)(unsigned char)*text);
        } else {
            core_buffer_add_bytes(b, text, 1);
        }
    }
    put(b, "\"");
}

/// A node on one line; the parser has bounded the depth.
static void put_flow(core_buffer *b, const core_yaml_node *node) {
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
static void put_value(core_buffer *b, const core_yaml_node *node) {
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
    core_buffer b = {0};
    put(&b, "");
    for (int i = 0; i < doc->root->count; i++) {
        put_scalar(&b, doc->root->children[i]->name, true);
        put(&b, ":");
        put_value(&b, doc->root->children[i]);
    }
    if (b.failed) {
        core_buffer_clear(&b);
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

static void put_row(core_buffer *b, const core_yaml_key *row, int width) {
    char expected[CORE_YAML_EXPECTED_MAX];
    core__yaml_expected(row, expected);
    core_buffer_add(b, "%-*s %s", width, row->path, expected);
    if (row->required) put(b, "; required");
    if (row->standard) core_buffer_add(b, "; default %s", row->standard);
    core_buffer_add(b, ". %s\n", row->help);
}

/// A heading and the rows of one section, or of all keys that are single (section NULL).
static void put_section(core_buffer *b, const core_yaml_key *table, int count_keys, const char *section) {
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
        if (section)
            core_buffer_add(b, "\n-- %.*s --\n", section_length(section), section);
        else
            put(b, "\n-- whole scene --\n");
    }
}

core_status core_yaml_help(const core_yaml_key *table, int count_keys, char **text, core_error *err) {
    CORE_CHECK(table && text && count_keys > 0, CORE_ARG, "core_yaml_help: null table or text, or %d keys", count_keys);
    core_buffer b = {0};
    put(&b, "Keys of a scene file (YAML). [] is an item of a list, {} a name of your choice.\n");
    put_section(&b, table, count_keys, NULL);
    for (int i = 0; i < count_keys; i++) {
        bool first = !is_single(table, count_keys, table[i].path);
        for (int k = 0; k < i && first; k++) first = !same_section(table[i].path, table[k].path);
        if (first) put_section(&b, table, count_keys, table[i].path);
    }
    if (b.failed) {
        core_buffer_clear(&b);
        return CORE_FAIL(err, CORE_MEMORY, "out of memory for the help text");
    }
    *text = b.text;
    return CORE_OK;
}
