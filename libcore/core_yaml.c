/// YAML text -> tree. The only file that includes yaml.h. Two passes: libyaml's events first, to refuse what its
/// document API would hide (anchors, tags, depth, a second document), then the document API. The limits keep hostile
/// files cheap.
#include <string.h>

#include <yaml.h>

#include "core_yaml_private.h"

/// Where the text comes from, for messages.
typedef struct source {
    const char *name;
    bool lined;
    const char *text;
    size_t n_bytes;
} source;

/// Fails with "NAME:LINE: message" or, for an override, "NAME: message".
static core_status fail_at(const source *src, size_t line, core_error *err, const char *message) {
    if (src->lined) return CORE_FAIL(err, CORE_FORMAT, "%s:%zu: %s", src->name, line, message);
    return CORE_FAIL(err, CORE_FORMAT, "%s: %s", src->name, message);
}

/// Code point of the UTF-8 sequence at p (n >= 1 bytes left); returns its length, 0 if it is not one.
static size_t utf8_decode(const unsigned char *p, size_t n, uint32_t *code) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = 0;
    if (p[0] < 0x80) length = 1;
    if ((p[0] & 0xE0) == 0xC0) length = 2;
    if ((p[0] & 0xF0) == 0xE0) length = 3;
    if ((p[0] & 0xF8) == 0xF0) length = 4;
    if (length == 0 || length > n) return 0;
    *code = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (p[i] & 0x3Fu);
    }
    bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return *code < least[length] || *code > 0x10FFFF || surrogate ? 0 : length;
}

/// Control characters, and those that YAML 1.1 takes for line breaks or byte order marks.
static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
           code == 0xFFFE || code == 0xFFFF;
}

/// Refuses bytes that are no text, and tabs outside comments, with their line: libyaml names neither well.
static core_status check_bytes(const source *src, core_error *err) {
    const unsigned char *p = (const unsigned char *)src->text;
    size_t line = 1;
    bool comment = false;
    for (size_t i = 0; i < src->n_bytes;) {
        uint32_t code = 0;
        size_t length = utf8_decode(p + i, src->n_bytes - i, &code);
        if (length == 0) return fail_at(src, line, err, "a byte that is not UTF-8 text; save the file as UTF-8");
        i += length;
        if (code == '\n') {
            line++;
            comment = false;
        } else if (code == '#') {
            comment = true; // perhaps inside quotes: a tab behind it is left to libyaml
        } else if (code == '\t') {
            if (!comment) return fail_at(src, line, err, "a tab; indent and separate with spaces");
        } else if (code != '\r' && is_control(code)) {
            return fail_at(src, line, err, "a control character; expected text");
        }
    }
    return CORE_OK;
}

/// Turns libyaml's complaint into ours.
static core_status parser_fail(const yaml_parser_t *parser, const source *src, core_error *err) {
    if (parser->error == YAML_MEMORY_ERROR) return CORE_FAIL(err, CORE_MEMORY, "%s: out of memory", src->name);
    char message[256];
    const char *problem = parser->problem ? parser->problem : "unreadable";
    if (parser->context) {
        snprintf(message, sizeof message, "not valid YAML: %s (%s that starts in line %zu)", problem, parser->context,
                 parser->context_mark.line + 1);
    } else {
        snprintf(message, sizeof message, "not valid YAML: %s", problem);
    }
    return fail_at(src, parser->problem_mark.line + 1, err, message);
}

/// Refuses what the document API does not show. NULL: fine.
static const char *event_problem(const yaml_event_t *event, int *depth, int *documents) {
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return "an alias (*name); write the value out";
    case YAML_DOCUMENT_START_EVENT:
        if (++*documents > 1) return "a second YAML document (after \"---\"); expected one";
        break;
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        ++*depth;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        ++*depth;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        --*depth;
        break;
    default:
        break;
    }
    if (anchor) return "an anchor (&name); write the value out";
    if (tag) return "a tag (!name); expected plain values";
    if (*depth > CORE_YAML_DEPTH_MAX) return "blocks nested too deeply";
    return NULL;
}

/// First pass: every event is looked at, nothing is kept.
static core_status check_events(const source *src, core_error *err) {
    core_status status = CORE_OK;
    int depth = 0, documents = 0;
    bool more = true;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return CORE_FAIL(err, CORE_MEMORY, "%s: out of memory", src->name);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)src->text, src->n_bytes);
    while (more) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = parser_fail(&parser, src, err);
            goto done;
        }
        const char *problem = event_problem(&event, &depth, &documents);
        more = event.type != YAML_STREAM_END_EVENT;
        size_t line = event.start_mark.line + 1;
        yaml_event_delete(&event);
        if (problem) {
            status = fail_at(src, line, err, problem);
            goto done;
        }
    }
done:
    yaml_parser_delete(&parser);
    return status;
}

/// Building the tree: what every level needs.
typedef struct builder {
    core_yaml *doc;
    yaml_document_t *document;
    const source *src;
} builder;

static core_status build(const builder *b, int index, core_yaml_node *parent, core_yaml_node **out, core_error *err);

static core_status build_scalar(const builder *b, const yaml_node_t *from, core_yaml_node *node, core_error *err) {
    const char *text = (const char *)from->data.scalar.value;
    size_t n = from->data.scalar.length;
    for (size_t i = 0; i < n;) { // escapes in quotes can make what check_bytes refuses
        uint32_t code = 0;
        size_t length = utf8_decode((const unsigned char *)text + i, n - i, &code);
        if (length == 0 || (code != '\n' && is_control(code))) {
            return fail_at(b->src, from->start_mark.line + 1, err, "text with a control character; expected none");
        }
        i += length;
    }
    node->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = core__yaml_keep_text(b->doc, text, n);
    CORE_CHECK(node->text, CORE_MEMORY, "%s: out of memory", b->src->name);
    return CORE_OK;
}

static core_status build_pair(const builder *b, const yaml_node_pair_t *pair, core_yaml_node *node, core_error *err) {
    const yaml_node_t *key = yaml_document_get_node(b->document, pair->key);
    size_t line = key->start_mark.line + 1;
    if (key->type != YAML_SCALAR_NODE)
        return fail_at(b->src, line, err, "a key that is a list or block; expected a word");
    core_yaml_node name = {0};
    CORE_TRY(build_scalar(b, key, &name, err));
    core_yaml_node *child = NULL;
    CORE_TRY(build(b, pair->value, node, &child, err));
    child->name = name.text;
    child->line = b->src->lined ? (int)line : 0; // the key's line is where a reader looks
    return core__yaml_node_add(b->doc, node, child, err);
}

/// Copies libyaml's node `index` and all below it; the first pass has bounded the depth.
static core_status build(const builder *b, int index, core_yaml_node *parent, core_yaml_node **out, core_error *err) {
    const yaml_node_t *from = yaml_document_get_node(b->document, index);
    core_yaml_form form = from->type == YAML_SCALAR_NODE     ? CORE_YAML_SCALAR
                          : from->type == YAML_SEQUENCE_NODE ? CORE_YAML_SEQUENCE
                                                             : CORE_YAML_MAPPING;
    core_yaml_node *node = core__yaml_node_new(b->doc, parent, form);
    CORE_CHECK(node, CORE_MEMORY, "%s: out of memory", b->src->name);
    node->line = b->src->lined ? (int)(from->start_mark.line + 1) : 0;
    *out = node;
    if (form == CORE_YAML_SCALAR) return build_scalar(b, from, node, err);
    if (form == CORE_YAML_SEQUENCE) {
        for (const yaml_node_item_t *p = from->data.sequence.items.start; p < from->data.sequence.items.top; p++) {
            core_yaml_node *child = NULL;
            CORE_TRY(build(b, *p, node, &child, err));
            CORE_TRY(core__yaml_node_add(b->doc, node, child, err));
        }
        return CORE_OK;
    }
    for (const yaml_node_pair_t *p = from->data.mapping.pairs.start; p < from->data.mapping.pairs.top; p++) {
        CORE_TRY(build_pair(b, p, node, err));
    }
    return CORE_OK;
}

/// Second pass: libyaml's document into our tree.
static core_status load(core_yaml *doc, const source *src, core_yaml_node **root, core_error *err) {
    core_status status = CORE_OK;
    yaml_parser_t parser;
    yaml_document_t document;
    bool loaded = false;
    if (!yaml_parser_initialize(&parser)) return CORE_FAIL(err, CORE_MEMORY, "%s: out of memory", src->name);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)src->text, src->n_bytes);
    if (!yaml_parser_load(&parser, &document)) {
        status = parser_fail(&parser, src, err);
        goto done;
    }
    loaded = true;
    builder b = {.doc = doc, .document = &document, .src = src};
    CORE_CHECK_DONE(yaml_document_get_root_node(&document), CORE_FORMAT, "%s: empty; expected YAML", src->name);
    CORE_TRY_DONE(build(&b, 1, NULL, root, err));
done:
    if (loaded) yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return status;
}

core_status core__yaml_parse(core_yaml *doc, const char *text, size_t n_bytes, const char *origin, bool lined,
                             core_yaml_node **root, core_error *err) {
    CORE_CHECK(n_bytes <= CORE_YAML_BYTES_MAX, CORE_RANGE, "%s: %zu bytes; expected at most %u", origin, n_bytes,
               CORE_YAML_BYTES_MAX);
    bool marked = n_bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0; // byte order mark of some editors
    source src = {
        .name = origin, .lined = lined, .text = marked ? text + 3 : text, .n_bytes = marked ? n_bytes - 3 : n_bytes};
    CORE_TRY(check_bytes(&src, err));
    CORE_TRY(check_events(&src, err));
    return load(doc, &src, root, err);
}
