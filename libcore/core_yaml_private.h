/// Private to core_yaml*.c: the tree a scene file is read into, its memory, and the text helpers of its messages.
#ifndef CORE_YAML_PRIVATE_H
#define CORE_YAML_PRIVATE_H

#include "core_yaml.h"

#define CORE_YAML_BYTES_MAX (1024u * 1024u) // a scene file larger than this is refused
#define CORE_YAML_DEPTH_MAX 32              // nested blocks and lists; also bounds every recursion over the tree
#define CORE_YAML_PATH_MAX 256              // bytes of a path in the table or in a message
#define CORE_YAML_EXPECTED_MAX 512          // bytes of "what was expected"

typedef enum core_yaml_form { CORE_YAML_SCALAR, CORE_YAML_SEQUENCE, CORE_YAML_MAPPING } core_yaml_form;

struct core_yaml_node {
    const core_yaml *doc;
    core_yaml_node *parent;
    const core_yaml_key
        *row;  // of the table; an item has its list's or dict's row; NULL for the root and before the check
    bool item; // an entry of a LIST or DICT
    core_yaml_form form;
    bool plain; // scalar without quotes
    int line;   // from 1; 0: given by an override
    const char *name;
    const char *text; // scalar
    int count, capacity;
    core_yaml_node **children; // (count)
};

/// Memory of a document: blocks that are freed together.
typedef struct core_yaml_block core_yaml_block;

struct core_yaml {
    core_yaml_block *blocks;
    const char *name; // path for messages
    const core_yaml_key *table;
    int count_keys;
    core_yaml_node *root;
    char *resolved; // own allocation
};

/// Zeroed memory that lives as long as the document; NULL if there is none.
void *core__yaml_keep(core_yaml *doc, size_t n_bytes);
const char *core__yaml_keep_text(core_yaml *doc, const char *text, size_t n_bytes);
/// A new node below `parent` (NULL: a root); not yet among its children.
core_yaml_node *core__yaml_node_new(core_yaml *doc, core_yaml_node *parent, core_yaml_form form);
/// Appends a child; the array grows by doubling. MEMORY.
core_status core__yaml_node_add(core_yaml *doc, core_yaml_node *parent, core_yaml_node *child, core_error *err);
/// Direct child by name, or NULL.
core_yaml_node *core__yaml_node_find(const core_yaml_node *node, const char *name, size_t n_bytes);

/// Parses one YAML document into the tree of `doc`. origin: what messages name; lined: the text is the file (nodes get
/// line numbers), else an override's value. FORMAT, MEMORY.
core_status core__yaml_parse(core_yaml *doc, const char *text, size_t n_bytes, const char *origin, bool lined,
                             core_yaml_node **root, core_error *err);
/// Applies one "path=value".
core_status core__yaml_override(core_yaml *doc, const char *text, core_error *err);
/// Checks the whole tree against doc's table and gives every node its row.
core_status core__yaml_check(core_yaml *doc, core_error *err);
/// Writes doc->resolved.
core_status core__yaml_resolve(core_yaml *doc, core_error *err);

/// Row of the table with this path, or NULL.
const core_yaml_key *core__yaml_row(const core_yaml *doc, const char *path);
/// Path of a node in the table ("boundaries[]") with ".name" behind it (name NULL: without). False if too long.
bool core__yaml_table_path(const core_yaml_node *node, const char *name, char path[CORE_YAML_PATH_MAX]);
/// True if `path` names a key directly in the block `parent` ("" for the root); *name is its last part.
bool core__yaml_is_child(const char *path, const char *parent, const char **name);
/// What a row accepts, in words: "a number above 0 (N/m)".
void core__yaml_expected(const core_yaml_key *row, char text[CORE_YAML_EXPECTED_MAX]);
/// As core_yaml_fail with a status of its own.
core_status core__yaml_fail_as(const core_yaml *doc, const core_yaml_node *node, core_status code, core_error *err,
                               const char *format, ...) __attribute__((format(printf, 5, 6)));
/// As core_yaml_fail for a child whose key is the problem: the child's line, its block's path.
core_status core__yaml_fail_key(const core_yaml *doc, const core_yaml_node *child, core_error *err, const char *format,
                                ...) __attribute__((format(printf, 4, 5)));

#endif
