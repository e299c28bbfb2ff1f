/// Checks on shape text before GEOS sees it. GEOS 3.11 accepts text behind a WKT geometry and nan or inf as
/// coordinates, recurses once per nesting level and reads a GeoJSON position without numbers out of bounds; all four
/// end here.
#include "sdf_private.h"


/// Deepest nesting of brackets accepted: a MULTIPOLYGON in two collections needs 5 in WKT, a FeatureCollection 9 in
/// GeoJSON.
#define TEXT_DEPTH_MAX 32
/// Bytes of the file quoted in a message.
#define TEXT_QUOTE_MAX 24

/// Where the scan is. GeoJSON alone uses the last three.
typedef struct text_scan {
    const char *text;
    size_t n;
    size_t i;
    int line;
    int depth;
    bool ended;            // the outermost bracket was closed
    int depth_coordinates; // depth of the value of "coordinates", 0 outside
    bool key_coordinates;  // the last string was "coordinates"
    bool bracket_just_opened;
} text_scan;

// The locale's ctype is not asked: a shape file means the same everywhere.
static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_number_part(char c) {
    return (c >= '0' && c <= '9') || c == '.';
}

/// Compares text (n bytes) with a lower-case word, letters without case.
static bool equals_word(const char *text, size_t n, const char *word) {
    size_t i = 0;
    for (; i < n && word[i]; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[i]) return false;
    }
    return i == n && !word[i];
}

/// Printable beginning of the rest of the text, for messages.
static void quote_rest(const text_scan *s, char quote[TEXT_QUOTE_MAX + 1]) {
    size_t k = 0;
    for (; k < TEXT_QUOTE_MAX && s->i + k < s->n && s->text[s->i + k] >= ' '; k++) quote[k] = s->text[s->i + k];
    quote[k] = 0;
}

/// A word outside strings: nan and inf are refused, the rest is GEOS's to judge.
static core_status scan_word(text_scan *s, core_error *err) {
    size_t begin = s->i;
    while (s->i < s->n && (is_letter(s->text[s->i]) || is_number_part(s->text[s->i]))) s->i++;
    const char *word = s->text + begin;
    size_t n = s->i - begin;
    if (equals_word(word, n, "nan") || equals_word(word, n, "inf") || equals_word(word, n, "infinity"))
        return CORE_FAIL(err, CORE_NONFINITE, "line %d: found \"%.*s\", expected a finite coordinate", s->line, (int)n,
                         word);
    return CORE_OK;
}

/// A GeoJSON string; remembers whether it was "coordinates".
static core_status scan_string(text_scan *s, core_error *err) {
    int line = s->line;
    size_t begin = ++s->i;
    while (s->i < s->n && s->text[s->i] != '"') {
        if (s->text[s->i] == '\n') s->line++;
        s->i += s->text[s->i] == '\\' ? 2 : 1;
    }
    CORE_CHECK(s->i < s->n, CORE_FORMAT, "line %d: a string is not closed: the file is cut off", line);
    s->key_coordinates = equals_word(s->text + begin, s->i - begin, "coordinates");
    s->i++;
    return CORE_OK;
}

static core_status scan_open(text_scan *s, core_error *err) {
    CORE_CHECK(++s->depth <= TEXT_DEPTH_MAX, CORE_FORMAT, "line %d: brackets nest more than %d deep", s->line,
               TEXT_DEPTH_MAX);
    if (s->key_coordinates && !s->depth_coordinates) s->depth_coordinates = s->depth;
    s->key_coordinates = false;
    s->i++;
    return CORE_OK;
}

static core_status scan_close(text_scan *s, core_error *err) {
    CORE_CHECK(s->depth > 0, CORE_FORMAT, "line %d: found \"%c\" without its opening bracket", s->line, s->text[s->i]);
    // An empty list of coordinates is an empty geometry; an empty list inside it is a ring or position without numbers.
    bool empty = s->bracket_just_opened && s->depth_coordinates && s->depth > s->depth_coordinates;
    CORE_CHECK(!empty, CORE_FORMAT, "line %d: found an empty list inside \"coordinates\", expected positions [x, y]",
               s->line);
    if (s->depth == s->depth_coordinates) s->depth_coordinates = 0;
    s->ended = --s->depth == 0;
    s->i++;
    return CORE_OK;
}

/// One step of the scan: a word, a string, a bracket or any other byte.
static core_status scan_next(text_scan *s, bool geojson, core_error *err) {
    char c = s->text[s->i];
    CORE_CHECK((unsigned char)c >= ' ' || is_space(c), CORE_FORMAT,
               "byte 0x%02x at offset %zu: this is not a text file", (unsigned char)c, s->i);
    if (c == '\n') s->line++;
    if (is_space(c)) {
        s->i++;
        return CORE_OK;
    }
    if (s->ended) {
        char quote[TEXT_QUOTE_MAX + 1];
        quote_rest(s, quote);
        return CORE_FAIL(err, CORE_FORMAT, "line %d: found \"%s\" behind the geometry, expected the end of the file",
                         s->line, quote);
    }
    bool opens = c == '(' || (geojson && (c == '[' || c == '{'));
    core_status status = CORE_OK;
    if (is_letter(c)) {
        status = scan_word(s, err);
    } else if (geojson && c == '"') {
        status = scan_string(s, err);
    } else if (opens) {
        status = scan_open(s, err);
    } else if (c == ')' || (geojson && (c == ']' || c == '}'))) {
        status = scan_close(s, err);
    } else {
        s->i++;
    }
    s->bracket_just_opened = opens && c == '[';
    return status;
}

core_status sdf__text_check(const char *text, size_t n, bool geojson, core_error *err) {
    text_scan s = {.text = text, .n = n, .line = 1};
    bool blank = true;
    while (s.i < n) {
        blank = blank && is_space(text[s.i]);
        CORE_TRY(scan_next(&s, geojson, err));
    }
    CORE_CHECK(!blank, CORE_FORMAT, "the file is empty, expected a polygon");
    CORE_CHECK(s.depth == 0, CORE_FORMAT, "%d bracket%s not closed: the file is cut off", s.depth,
               s.depth == 1 ? " is" : "s are");
    return CORE_OK;
}
