// Text by strokes: a small single-line alphabet of our own (printable ASCII, letters of Latin-1, degree, micro, times).
// A glyph is a path in units of 1/40 of a capital's height, base line at 0, y upwards:
//   M x y           move        L x y    line
//   A cx cy rx ry a b   elliptic arc from angle a to angle b (degrees), joined to the last point unless it follows a
//   move
// An M before an A starts a new stroke: the move's own point is replaced by the arc's first one.
#include "sim_view_private.h"

#include <math.h>
#include <string.h>

#define UNITS_PER_CAPITAL 40.0
#define LETTER_GAP 9.5   // between the ink of two glyphs
#define STROKE_WIDTH 4.6 // of normal weight
#define ARC_STEP_DEGREES 12.0
#define FIRST_GLYPH 32
#define LATIN_FIRST 0xC0

typedef struct glyph {
    double width; // of the ink
    const char *path;
} glyph;

// ASCII 32 .. 126.
static const glyph glyphs[] = {
    {9, ""},                                                                         // space
    {0, "M0 40L0 13M0 1L0 2"},                                                       // !
    {9, "M0 40L0 29M9 40L9 29"},                                                     // "
    {28, "M6 0L11 40M17 0L22 40M1 27L28 27M0 13L27 13"},                             // #
    {24, "A12 29 11 9 35 270A12 11 12 9 90 -145M12 45L12 -5"},                       // $
    {36, "A7 31 7 9 0 360M0 0A29 9 7 9 0 360M30 40L6 0"},                            // %
    {30, "M30 0L6 26A13 32 8 8 222 -42L4 18A12 10 12 10 140 345L28 18"},             // &
    {0, "M0 40L0 29"},                                                               // '
    {6, "A16 17 16 27 130 230"},                                                     // (
    {6, "A-10 17 16 27 50 -50"},                                                     // )
    {16, "M8 40L8 22M0 36L16 26M0 26L16 36"},                                        // *
    {24, "M0 16L24 16M12 4L12 28"},                                                  // +
    {2, "M2 2L-1 -7"},                                                               // ,
    {14, "M0 15L14 15"},                                                             // -
    {1, "M0 1L1 1"},                                                                 // .
    {15, "M0 -4L15 42"},                                                             // /
    {24, "A12 20 12 20 0 360"},                                                      // 0
    {24, "M4 32L14 40L14 0"},                                                        // 1
    {24, "A12 28 11 12 165 -38L1 0L24 0"},                                           // 2
    {24, "A11 30 10 10 150 -90A11 10 12 10 90 -150"},                                // 3
    {24, "M18 0L18 40L0 12L24 12"},                                                  // 4
    {24, "M21 40L4 40L2 22A11 13 13 13 135 -150"},                                   // 5
    {24, "M19 40A23 13 23 27 105 180M0 0A12 13 12 13 0 360"},                        // 6
    {24, "M0 40L24 40L8 0"},                                                         // 7
    {24, "A12 30 10 10 0 360M0 0A12 10 12 10 0 360"},                                // 8
    {24, "M5 0A1 27 23 27 -75 0M0 0A12 27 12 13 0 360"},                             // 9
    {1, "M0 1L1 1M0 24L1 24"},                                                       // :
    {2, "M2 2L-1 -7M1 24L2 24"},                                                     // ;
    {22, "M22 28L0 16L22 4"},                                                        // <
    {24, "M0 21L24 21M0 10L24 10"},                                                  // =
    {22, "M0 28L22 16L0 4"},                                                         // >
    {22, "A11 29 11 11 165 -50A19 12 8 8 140 180M11 1L11 2"},                        // ?
    {36, "A17 15 7 8 0 360M25 23L25 12A30 12 5 5 180 360L35 17A18 17 18 18 0 300"},  // @
    {29, "M0 0L14.5 40L29 0M5 13L24 13"},                                            // A
    {25, "M0 0L0 40L14 40A14 31 9 9 90 -90L0 22M14 22A14 11 11 11 90 -90L0 0L0 22"}, // B
    {29, "A17 20 17 20 48 312"},                                                     // C
    {29, "M0 0L0 40L11 40A11 20 18 20 90 -90L0 0"},                                  // D
    {22, "M22 40L0 40L0 0L22 0M0 21L18 21"},                                         // E
    {21, "M21 40L0 40L0 0M0 20L17 20"},                                              // F
    {33, "A17 20 17 20 48 344L33 18L20 18"},                                         // G
    {28, "M0 0L0 40M28 0L28 40M0 21L28 21"},                                         // H
    {0, "M0 0L0 40"},                                                                // I
    {16, "M16 40L16 11A8 11 8 11 0 -170"},                                           // J
    {25, "M0 0L0 40M24 40L0 15M9 24L25 0"},                                          // K
    {20, "M0 40L0 0L20 0"},                                                          // L
    {34, "M0 0L0 40L17 10L34 40L34 0"},                                              // M
    {28, "M0 0L0 40L28 0L28 40"},                                                    // N
    {36, "A18 20 18 20 0 360"},                                                      // O
    {24, "M0 0L0 40L13 40A13 29 11 11 90 -90L0 18"},                                 // P
    {36, "A18 20 18 20 0 360M22 10L34 -3"},                                          // Q
    {25, "M0 0L0 40L13 40A13 29 11 11 90 -90L0 18M13 18L25 0"},                      // R
    {25, "A12 30 11 10 32 270A12 10 12 10 90 -148"},                                 // S
    {28, "M0 40L28 40M14 40L14 0"},                                                  // T
    {26, "M0 40L0 13A13 13 13 13 180 360L26 40"},                                    // U
    {28, "M0 40L14 0L28 40"},                                                        // V
    {42, "M0 40L10.5 0L21 36L31.5 0L42 40"},                                         // W
    {26, "M0 0L25 40M1 40L26 0"},                                                    // X
    {28, "M0 40L14 20L28 40M14 20L14 0"},                                            // Y
    {25, "M1 40L25 40L0 0L25 0"},                                                    // Z
    {8, "M8 44L0 44L0 -8L8 -8"},                                                     // [
    {15, "M0 42L15 -4"},                                                             // backslash
    {8, "M0 44L8 44L8 -8L0 -8"},                                                     // ]
    {18, "M0 26L9 40L18 26"},                                                        // ^
    {26, "M0 -6L26 -6"},                                                             // _
    {6, "M0 42L6 34"},                                                               // `
    {24, "A12 14 12 14 0 360M24 28L24 0"},                                           // a
    {24, "M0 40L0 0M0 0A12 14 12 14 0 360"},                                         // b
    {22, "A13 14 13 14 48 312"},                                                     // c
    {24, "A12 14 12 14 0 360M24 40L24 0"},                                           // d
    {24, "M0 14L24 14A12 14 12 14 0 315"},                                           // e
    {13, "A13 31 8 9 80 180L5 0M0 27L13 27"},                                        // f
    {24, "A12 14 12 14 0 360M24 28L24 -1A12 -1 12 11 0 -150"},                       // g
    {22, "M0 0L0 40M0 17A11 17 11 11 180 0L22 0"},                                   // h
    {0, "M0 0L0 28M0 38L0 39"},                                                      // i
    {5, "M5 28L5 -4A-2 -4 7 8 0 -75M5 38L5 39"},                                     // j
    {20, "M0 0L0 40M19 28L0 10M8 17L20 0"},                                          // k
    {0, "M0 40L0 0"},                                                                // l
    {36, "M0 0L0 28M0 18A9 18 9 10 180 0L18 0M18 18A27 18 9 10 180 0L36 0"},         // m
    {22, "M0 0L0 28M0 17A11 17 11 11 180 0L22 0"},                                   // n
    {26, "A13 14 13 14 0 360"},                                                      // o
    {24, "M0 28L0 -12M0 0A12 14 12 14 0 360"},                                       // p
    {24, "A12 14 12 14 0 360M24 28L24 -12"},                                         // q
    {13, "M0 0L0 28M0 15A11 15 11 13 180 80"},                                       // r
    {19, "A10 21 9 7 38 270A10 7 9 7 90 -142"},                                      // s
    {14, "M6 38L6 9A14 9 8 9 180 278M0 28L14 28"},                                   // t
    {22, "M0 28L0 11A11 11 11 11 180 360M22 28L22 0"},                               // u
    {22, "M0 28L11 0L22 28"},                                                        // v
    {34, "M0 28L8.5 0L17 26L25.5 0L34 28"},                                          // w
    {21, "M0 0L20 28M1 28L21 0"},                                                    // x
    {22, "M0 28L11 1M22 28L8 -8A2 -6 6 6 -20 -90"},                                  // y
    {20, "M1 28L20 28L0 0L20 0"},                                                    // z
    {10, "M10 44A10 38 6 6 90 180L4 24L0 18L4 12L4 -2A10 -2 6 6 180 270"},           // {
    {0, "M0 44L0 -8"},                                                               // |
    {10, "M0 44A0 38 6 6 90 0L6 24L10 18L6 12L6 -2A0 -2 6 6 0 -90"},                 // }
    {24, "M0 13A6 13 6 6 180 30L13 13A18 19 6 6 240 360"},                           // ~
};
static const glyph glyph_degree = {11, "A5 34 5 6 0 360"};
static const glyph glyph_micro = {22, "M0 28L0 -12M0 11A11 11 11 11 180 360M22 28L22 0"};
static const glyph glyph_times = {18, "M0 7L18 25M0 25L18 7"};
static const glyph glyph_sharp_s = {21, "M0 0L0 31A9 31 9 9 180 -90L7 22M9 22A10 11 11 11 90 -120"};
static const glyph glyph_unknown = {18, "M0 0L0 34L18 34L18 0L0 0"};

// U+00C0 .. U+00FF as a base letter and a mark: g grave, a acute, c circumflex, t tilde, d diaeresis, r ring, k
// cedilla.
static const char latin_base[] = "AAAAAA?CEEEEIIII?NOOOOO?OUUUUY??aaaaaa?ceeeeiiii?nooooo?ouuuuy?y";
static const char latin_mark[] = "gactdr?kgacdgacd?tgactd??gacda??gactdr?kgacdgacd?tgactd??gacda?d";
static const char mark_names[] = "gactdrk";
// Centred at x = 0, drawn above a small letter.
static const char *const mark_paths[] = {
    "M-6 40L2 33",     "M6 40L-2 33",    "M-7 33L0 40L7 33", "M-8 34L-3 38L3 34L8 38", "M-6 37L-5 37M5 37L6 37",
    "A0 39 4 4 0 360", "M0 0L2 -5L-3 -9"};

// Where and how a path is drawn; canvas NULL: nothing is drawn (measuring).
typedef struct pen {
    sim_canvas *canvas;
    double x, y, scale, width; // pixels; pixels per unit
} pen;

// Unsigned or negative decimal number with at most one decimal; advances *s.
static double read_number(const char **s) {
    double value = 0, sign = 1, unit = 1;
    while (**s == ' ') (*s)++;
    if (**s == '-') sign = -1, (*s)++;
    for (; **s >= '0' && **s <= '9'; (*s)++) value = 10 * value + (**s - '0');
    if (**s != '.') return sign * value;
    for ((*s)++; **s >= '0' && **s <= '9'; (*s)++) value += (unit *= 0.1) * (**s - '0');
    return sign * value;
}

static void line_to(const pen *p, double from[2], double x, double y) {
    sim_mask_stroke(p->canvas, p->x + from[0] * p->scale, p->y - from[1] * p->scale, p->x + x * p->scale,
                    p->y - y * p->scale, p->width);
    from[0] = x, from[1] = y;
}

// Arc from the current point; `joined`: a line leads to its first point.
static void arc_to(const pen *p, double at[2], const double arc[6], bool joined) {
    int n = (int)ceil(fabs(arc[5] - arc[4]) / ARC_STEP_DEGREES);
    for (int i = 0; i <= n; i++) {
        double a = (arc[4] + (arc[5] - arc[4]) * i / n) * CORE_PI / 180.0;
        double x = arc[0] + arc[2] * cos(a), y = arc[1] + arc[3] * sin(a);
        if (i == 0 && !joined) at[0] = x, at[1] = y;
        line_to(p, at, x, y);
    }
}

static void draw_path(const pen *p, const char *path, double shift_x, double shift_y) {
    pen local = *p;
    local.x += shift_x * p->scale, local.y -= shift_y * p->scale;
    double at[2] = {0, 0}, arc[6];
    bool joined = false; // false behind a move: an arc then starts anew
    while (*path) {
        char command = *path++;
        if (command == 'A') {
            for (int i = 0; i < 6; i++) arc[i] = read_number(&path);
            arc_to(&local, at, arc, joined);
            joined = true;
            continue;
        }
        double x = read_number(&path), y = read_number(&path);
        if (command == 'L') line_to(&local, at, x, y);
        at[0] = x, at[1] = y;
        joined = command == 'L';
    }
}

// Next character of UTF-8 text; what is not valid gives U+FFFD and advances by one byte.
static uint32_t next_character(const char **text) {
    const unsigned char *s = (const unsigned char *)*text;
    int extra = s[0] < 0x80                   ? 0
                : s[0] >= 0xC2 && s[0] < 0xE0 ? 1
                : s[0] >= 0xE0 && s[0] < 0xF0 ? 2
                : s[0] >= 0xF0 && s[0] < 0xF5 ? 3
                                              : -1;
    uint32_t c = extra <= 0 ? s[0] : s[0] & (0x3Fu >> extra);
    for (int i = 1; i <= extra; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            extra = -1;
            break;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    *text += extra > 0 ? extra + 1 : 1;
    return extra < 0 ? 0xFFFD : c;
}

// Glyph of a character; *mark: path of an accent, or NULL.
static const glyph *glyph_of(uint32_t c, const char **mark) {
    *mark = NULL;
    if (c == 0xB0) return &glyph_degree;
    if (c == 0xB5 || c == 0x3BC) return &glyph_micro;
    if (c == 0xDF) return &glyph_sharp_s;
    if (c == 0xD7) return &glyph_times;
    if (c == 0x2013 || c == 0x2212) c = '-';
    if (c >= LATIN_FIRST && c < LATIN_FIRST + 64 && latin_base[c - LATIN_FIRST] != '?') {
        const char *name = strchr(mark_names, latin_mark[c - LATIN_FIRST]);
        if (name) *mark = mark_paths[name - mark_names];
        c = (unsigned char)latin_base[c - LATIN_FIRST];
    }
    if (c < FIRST_GLYPH || c >= FIRST_GLYPH + sizeof glyphs / sizeof *glyphs) return &glyph_unknown;
    return &glyphs[c - FIRST_GLYPH];
}

// Draws (canvas not NULL) or measures; returns the width in units.
static double set_text(pen *p, const char *text) {
    double x = 0;
    for (bool first = true; *text; first = false) {
        uint32_t c = next_character(&text);
        const char *mark;
        const glyph *g = glyph_of(c, &mark);
        if (!first) x += LETTER_GAP;
        if (p->canvas) {
            draw_path(p, g->path, x, 0);
            bool below = mark == mark_paths[6], capital = c < 0xE0;
            if (mark) draw_path(p, mark, x + 0.5 * g->width, below ? 0 : capital ? 12 : 0);
        }
        x += g->width;
    }
    return x;
}

double sim_text_width(const char *text, double size) {
    pen p = {.canvas = NULL};
    return (set_text(&p, text) + STROKE_WIDTH) * size / UNITS_PER_CAPITAL;
}

void sim_text_draw(sim_canvas *canvas, const char *text, double x, double y, double size, double bold, sim_rgb colour) {
    double scale = size / UNITS_PER_CAPITAL, width = STROKE_WIDTH * bold * scale, alpha = 1.0;
    if (width < 1.0) alpha = 0.35 + 0.65 * width, width = 1.0; // thin lines become light, not thick
    double total = sim_text_width(text, size);
    if (!sim_mask_begin(canvas, x - size, y - 1.6 * size, x + total + size, y + 0.6 * size)) return;
    pen p = {.canvas = canvas, .x = x + 0.5 * STROKE_WIDTH * scale, .y = y, .scale = scale, .width = width};
    set_text(&p, text);
    sim_mask_paint(canvas, colour, alpha);
}
