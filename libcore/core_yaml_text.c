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

/// `text`, padded to `width` with at least one space behind.
static void put_column(buffer *b, const char *text, int width) {
    char column[128];
    snprintf(column, sizeof column, "%-*s ", width, text);
    put(b, column);
}

core_status core_yaml_help(const core_yaml_key *table, int count_keys, char **text, core_error *err) {
    CORE_CHECK(table && text && count_keys > 0, CORE_ARG, "core_yaml_help: null table or text, or %d keys", count_keys);
    int width = 0;
    for (int i = 0; i < count_keys; i++) {
        int length = (int)strlen(table[i].path);
        width = length > width ? length : width;
    }
    buffer b = {0};
    put(&b, "Keys of a scene file (YAML). [] is an item of a list, {} a name of your choice.\n\n");
    for (int i = 0; i < count_keys; i++) {
        const core_yaml_key *row = &table[i];
        char expected[CORE_YAML_EXPECTED_MAX];
        core__yaml_expected(row, expected);
        put_column(&b, row->path, width);
        put(&b, expected);
        if (row->required) put(&b, "; required");
        if (row->standard) {
            put(&b, "; default ");
            put(&b, row->standard);
        }
        put(&b, ". ");
        put(&b, row->help);
        put(&b, "\n");
    }
    if (b.failed) {
        core_free(b.text);
        return CORE_FAIL(err, CORE_MEMORY, "out of memory for the help text");
    }
    *text = b.text;
    return CORE_OK;
}
