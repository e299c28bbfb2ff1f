/// Scene files: YAML read through libyaml's document API (yaml.h is included by core_yaml.c alone) into a tree of our
/// own, checked against one table of keys - defaults, ranges, units, `auto`, line numbers, nearest known key.
#ifndef CORE_YAML_H
#define CORE_YAML_H

#include "core.h"

/// What a key holds.
typedef enum core_yaml_kind {
    CORE_YAML_NUMBER,  // one finite number in [min, max]; or the word `auto` where `automatic` is set
    CORE_YAML_INTEGER, // whole number in [min, max]
    CORE_YAML_TEXT,    // any scalar
    CORE_YAML_WORD,    // one of `words` (space-separated)
    CORE_YAML_VECTOR,  // sequence of exactly `count` finite numbers, or of any number of them
    CORE_YAML_NAMES,   // sequence of scalars
    CORE_YAML_BLOCK,   // mapping with the keys of the table
    CORE_YAML_LIST,    // sequence of BLOCKs; children are under "path[]"
    CORE_YAML_DICT     // mapping from free names to BLOCKs; children are under "path{}"
} core_yaml_kind;

/// Whole numbers up to here, 2^53 - 1, are told apart as doubles.
#define CORE_YAML_INTEGER_MAX 9007199254740991.0

/// One row of a schema. Paths are dotted: "contact.default.kn", "types{}.radius", "boundaries[].plane.point".
typedef struct core_yaml_key {
    const char *path;
    core_yaml_kind kind;
    const char *unit;     // "m", "N/m", "" for none
    const char *standard; // default as it would be written in the file; NULL: no default (absent unless given)
    bool required;        // absence is an error
    bool automatic;       // the word `auto` is allowed (NUMBER)
    double min, max;      // allowed range (NUMBER, INTEGER, VECTOR elements); both 0: any finite number
    bool above_min;       // the range is (min, max] instead of [min, max]
    int count;            // VECTOR: number of elements, 0: any but none
    const char *words;    // WORD: "neural minimiser"
    const char *help;     // one line for --help-scene
} core_yaml_key;

/// Parsed and checked document. Owns all of its text.
typedef struct core_yaml core_yaml;
/// A place in the tree; borrowed from the document. `{0}` is "absent".
typedef struct core_yaml_node core_yaml_node;

/// Reads, applies `overrides` ("contact.default.mu=0.3", "phases[1].time=2", "gravity=[0, -1]"; created if missing),
/// then checks every node against the table: unknown keys (with the nearest known one), wrong kinds, ranges,
/// duplicates, missing required keys, aliases and several documents are refused. Messages read "scene.yaml:12:
/// contact.default.kn: found "x", expected a number above 0 (N/m)". IO, FORMAT, RANGE, NONFINITE, MEMORY.
core_status core_yaml_read(const char *path, const core_yaml_key *table, int count_keys, int count_overrides,
                           const char *const *overrides, core_yaml **doc, core_error *err);
/// As core_yaml_read, from text in memory; `name` stands for the path in messages.
core_status core_yaml_read_text(const char *text, size_t n_bytes, const char *name, const core_yaml_key *table,
                                int count_keys, int count_overrides, const char *const *overrides, core_yaml **doc,
                                core_error *err);
/// Frees the document with all its nodes, nulls the handle; accepts NULL.
void core_yaml_destroy(core_yaml **doc);
/// The top block; borrowed like every node, until core_yaml_destroy.
const core_yaml_node *core_yaml_root(const core_yaml *doc);
/// Text of the document after the overrides, as it would be read again (stored in run files). Borrowed.
const char *core_yaml_resolved_text(const core_yaml *doc);

/// Child of a block or dict by key, relative dotted path ("plane.point"); NULL if absent (or if node is NULL).
const core_yaml_node *core_yaml_get(const core_yaml_node *node, const char *path);
/// Children of a list, dict or block: count, the i-th, and its key ("" in a list). Order of the file.
int core_yaml_count(const core_yaml_node *node);
const core_yaml_node *core_yaml_at(const core_yaml_node *node, int i);
const char *core_yaml_name(const core_yaml_node *node);
/// Line of the file, from 1; 0 for a default or an override.
int core_yaml_line(const core_yaml_node *node);
/// Values of a child, the table's default where it is absent. Only for paths in the table (checked kinds): absent
/// without default gives NaN, 0, NULL. core_yaml_number gives NaN for `auto`; ask core_yaml_is_auto.
double core_yaml_number(const core_yaml_node *node, const char *path);
int64_t core_yaml_integer(const core_yaml_node *node, const char *path);
const char *core_yaml_text(const core_yaml_node *node, const char *path);
bool core_yaml_is_auto(const core_yaml_node *node, const char *path);
/// Copies min(n, count) numbers; false if absent without a default.
bool core_yaml_vector(const core_yaml_node *node, const char *path, double *values, int n);
/// Own text of a scalar node (elements of NAMES).
const char *core_yaml_scalar(const core_yaml_node *node);

/// Copies a name of 1 to CORE_NAME_MAX - 1 bytes without line breaks; `place` is where a refusal points, `from` is its
/// text or its key. FORMAT.
core_status core_yaml_copy_name(const core_yaml *doc, const core_yaml_node *place, const char *from,
                                char to[CORE_NAME_MAX], core_error *err);
/// What every phase of a scene has.
typedef struct core_yaml_phase {
    char name[CORE_NAME_MAX];
    bool until_rest, continue_on_timeout; // else: for `time`; else: a time-out is an error
    double time, timeout;                 // s; 0 where the other one counts
} core_yaml_phase;

/// Reads name, until or time, timeout and on_timeout of phases[i]. Names are used in `--time NAME+SECONDS,...` and in
/// lines of a file: no commas, no plus signs, no blanks at either end, no number, no earlier phase's. FORMAT.
core_status core_yaml_phase_read(const core_yaml *doc, const core_yaml_node *phases, int i, core_yaml_phase *phase,
                                 core_error *err);

/// Fails with "FILE:LINE: PATH: message" for checks that a table cannot express. node may be NULL.
core_status core_yaml_fail(const core_yaml *doc, const core_yaml_node *node, core_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/// The same with the message and code of `cause`, such as what is wrong with a file that the node names.
core_status core_yaml_fail_by(const core_yaml *doc, const core_yaml_node *node, const core_error *cause,
                              core_error *err);

/// The table as text for --help-scene: key, unit, default, range, meaning; one line a key, in sections: keys that stand
/// alone, then the others by the key at the top. Caller frees with core_free.
core_status core_yaml_help(const core_yaml_key *table, int count_keys, char **text, core_error *err);

#endif
