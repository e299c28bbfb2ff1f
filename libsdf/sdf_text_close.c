/// Closes rings that are open by rounding: programs that go once around a circle end beside where they began, and GEOS
/// wants the last point to repeat the first one exactly. Works on text that sdf__text_check has accepted; the last
/// position of such a ring is replaced by the text of its first one.
#include "sdf_private.h"

#include <math.h>
#include <string.h>

/// A gap up to here, relative to the ring's extent, is rounding (of single precision, a few times over).
#define CLOSE_TOLERANCE 1e-6
/// Longest number.
#define CLOSE_NUMBER_MAX 64

/// A piece of the text, [begin, end).
typedef struct span {
    size_t begin, end;
} span;

/// The ring that is being read.
typedef struct ring_text {
    span first, last;
    double first_xy[2], last_xy[2], low[2], high[2];
    int count;   // positions so far
    bool usable; // all of them had two numbers
} ring_text;

/// Where the scan is, and the text that comes out.
typedef struct close_scan {
    const char *text;
    size_t n, i;
    char *out;
    size_t n_out, copied; // written, and of the text taken over
    int count_closed;
} close_scan;

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool starts_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
}

static bool continues_number(char c) {
    return starts_number(c) || c == 'e' || c == 'E';
}

static void skip_blanks(close_scan *s) {
    while (s->i < s->n && is_blank(s->text[s->i])) s->i++;
}

/// The numbers from here to the end of a position; the first two into xy. False if it has not two numbers.
static bool read_position(close_scan *s, bool geojson, span *where, double xy[2]) {
    int count = 0;
    where->begin = where->end = s->i;
    for (skip_blanks(s); s->i < s->n && starts_number(s->text[s->i]); skip_blanks(s)) {
        char number[CLOSE_NUMBER_MAX];
        size_t begin = s->i;
        while (s->i < s->n && continues_number(s->text[s->i])) s->i++;
        where->end = s->i;
        size_t length = s->i - begin;
        if (length >= sizeof number) return false;
        memcpy(number, s->text + begin, length);
        number[length] = 0;
        double v = 0;
        if (core_parse_number(number, "coordinate", -1e300, 1e300, &v, NULL) != CORE_OK) return false;
        if (count < 2) xy[count] = v;
        count++;
        skip_blanks(s);
        if (geojson && s->i < s->n && s->text[s->i] == ',') s->i++;
    }
    return count >= 2;
}

static void ring_add(ring_text *r, span where, const double xy[2], bool usable) {
    if (r->count++ == 0) {
        *r = (ring_text){.count = 1, .usable = true, .first = where};
        memcpy(r->first_xy, xy, sizeof r->first_xy);
        memcpy(r->low, xy, sizeof r->low);
        memcpy(r->high, xy, sizeof r->high);
    }
    r->usable = r->usable && usable;
    r->last = where;
    for (int k = 0; k < 2; k++) {
        r->last_xy[k] = xy[k];
        r->low[k] = fmin(r->low[k], xy[k]);
        r->high[k] = fmax(r->high[k], xy[k]);
    }
}

static void put(close_scan *s, size_t begin, size_t end) {
    memcpy(s->out + s->n_out, s->text + begin, end - begin);
    s->n_out += end - begin;
}

/// At the end of a ring: repeats the first position if the last one is beside it.
static void ring_end(close_scan *s, ring_text *r) {
    double extent = fmax(r->high[0] - r->low[0], r->high[1] - r->low[1]);
    double open = fmax(fabs(r->last_xy[0] - r->first_xy[0]), fabs(r->last_xy[1] - r->first_xy[1]));
    // Four positions at least: a triangle and its closing one.
    if (r->usable && r->count >= 4 && open > 0 && open <= CLOSE_TOLERANCE * extent) {
        put(s, s->copied, r->last.begin);
        put(s, r->first.begin, r->first.end);
        s->copied = r->last.end;
        s->count_closed++;
    }
    r->count = 0;
}

/// A GeoJSON string is nothing here.
static void skip_string(close_scan *s) {
    for (s->i++; s->i < s->n && s->text[s->i] != '"'; s->i++)
        if (s->text[s->i] == '\\') s->i++;
    if (s->i < s->n) s->i++;
}

/// One step: a position, the end of a ring, or something else.
static void close_next(close_scan *s, bool geojson, ring_text *r) {
    char c = s->text[s->i];
    if (geojson && c == '"') {
        skip_string(s);
        return;
    }
    // A position stands behind "(" or "," in WKT, behind "[" in GeoJSON.
    bool opens = geojson ? c == '[' : c == '(' || c == ',';
    // A ring ends at ")" in WKT; in GeoJSON at the second "]" on end.
    bool closes = geojson ? c == ']' : c == ')';
    s->i++;
    if (closes && r->count > 0) ring_end(s, r);
    if (!opens) return;
    skip_blanks(s);
    if (s->i >= s->n || !starts_number(s->text[s->i])) return;
    span where;
    double xy[2] = {0, 0};
    bool usable = read_position(s, geojson, &where, xy);
    ring_add(r, where, xy, usable);
    if (geojson && s->i < s->n && s->text[s->i] == ']') s->i++; // the position's own
}

core_status sdf__text_close(const char *text, size_t n, bool geojson, char **closed, int *count, core_error *err) {
    core_status status = CORE_OK;
    close_scan s = {.text = text, .n = n};
    ring_text r = {0};
    // A last position is replaced by a first one, and all first ones together are no longer than the text.
    CORE_NEW_DONE(s.out, 2 * n + 1);
    while (s.i < n) close_next(&s, geojson, &r);
    put(&s, s.copied, n);
    *closed = s.out;
    *count = s.count_closed;
done:
    return status;
}
