// Angle of repose: the deposit's surface in columns and a straight line through its right flank. Definitions:
// sim_measure.h.
#include "sim_measure_private.h"

#include <math.h>

#define COLUMN_RADII 3.0      // width of a column in mean circumradii
#define FLANK_HIGH 0.9        // of the height: above it is the top
#define FLANK_LOW 0.1         // below it is the toe
#define COLUMNS_MIN 4         // of a fit
#define COLUMNS_MAX (1 << 20) // beyond, a grain has flown away and the surface means nothing

// Surface of the deposit: highest outline point per column, -infinity where there is none.
typedef struct surface {
    int count;
    double x0, width; // left end of column 0, width of a column
    double *top;      // (count)
} surface;

// Raises the columns crossed by an outline edge to the edge's highest point in them.
static void raise_columns(surface *f, const double a[2], const double b[2]) {
    const double *left = a[0] <= b[0] ? a : b, *right = a[0] <= b[0] ? b : a;
    double run = right[0] - left[0];
    int first = (int)((left[0] - f->x0) / f->width), last = (int)((right[0] - f->x0) / f->width);
    for (int i = first < 0 ? 0 : first; i <= last && i < f->count; i++) {
        double x_low = fmax(left[0], f->x0 + i * f->width), x_high = fmin(right[0], f->x0 + (i + 1) * f->width);
        double y = fmax(left[1], right[1]);
        if (first < last && run > 0) { // an edge over several columns counts with its part inside each
            double y_low = left[1] + (right[1] - left[1]) * (x_low - left[0]) / run;
            double y_high = left[1] + (right[1] - left[1]) * (x_high - left[0]) / run;
            y = fmax(y_low, y_high);
        }
        f->top[i] = fmax(f->top[i], y);
    }
}

// Calls over all outer edges. Holes never are the surface.
static void raise_all(const sim_selection *s, surface *f) {
    for (int k = 0; k < s->count; k++) {
        int row = s->rows[k], n = s->info->types[s->info->species[row]].outline.ring_start[1];
        double a[2], b[2];
        sim_measure_point(s, row, n - 1, a);
        for (int j = 0; j < n; j++) {
            sim_measure_point(s, row, j, b);
            raise_columns(f, a, b);
            a[0] = b[0], a[1] = b[1];
        }
    }
}

// Columns [first, end) of the right flank.
static void find_flank(const surface *f, double base, int *first, int *end) {
    double height = 0;
    int top = 0;
    for (int i = 0; i < f->count; i++)
        if (f->top[i] - base > height) height = f->top[i] - base, top = i;
    // The flank ends where the deposit ends: behind it, single grains may have rolled away.
    for (*end = top; *end < f->count && f->top[*end] - base >= FLANK_LOW * height;) (*end)++;
    *first = top;
    for (int i = top; i < *end; i++)
        if (f->top[i] - base > FLANK_HIGH * height) *first = i + 1;
}

// Least-squares line through n points (i, top[i]); slope per column and its standard error.
static void fit_line(const double *top, int n, double *slope, double *error) {
    double mean_i = 0.5 * (n - 1), mean_y = 0, sxx = 0, sxy = 0, residual = 0;
    for (int i = 0; i < n; i++) mean_y += top[i] / n;
    for (int i = 0; i < n; i++) {
        sxx += (i - mean_i) * (i - mean_i);
        sxy += (i - mean_i) * (top[i] - mean_y);
    }
    *slope = sxy / sxx;
    for (int i = 0; i < n; i++) {
        double r = top[i] - mean_y - *slope * (i - mean_i);
        residual += r * r;
    }
    *error = sqrt(residual / (n - 2) / sxx);
}

core_status sim_measure_surface(const sim_selection *s, sim_measurement *m, core_error *err) {
    m->repose_angle = m->repose_error = m->repose_x0 = m->repose_x1 = NAN;
    if (s->count == 0) return CORE_OK;
    double radius = 0, x0 = INFINITY, x1 = -INFINITY;
    for (int k = 0; k < s->count; k++) {
        int row = s->rows[k], n = s->info->types[s->info->species[row]].outline.ring_start[1];
        radius += s->info->types[s->info->species[row]].radius / s->count;
        for (int j = 0; j < n; j++) {
            double p[2];
            sim_measure_point(s, row, j, p);
            x0 = fmin(x0, p[0]), x1 = fmax(x1, p[0]);
        }
    }
    surface f = {.x0 = x0, .width = COLUMN_RADII * radius};
    if (!((x1 - x0) / f.width < COLUMNS_MAX)) return CORE_OK;
    f.count = (int)((x1 - x0) / f.width) + 1;
    f.top = core_alloc((size_t)f.count, sizeof *f.top);
    CORE_CHECK(f.top, CORE_MEMORY, "out of memory: %d columns", f.count);
    for (int i = 0; i < f.count; i++) f.top[i] = -INFINITY;
    raise_all(s, &f);
    int first, end;
    find_flank(&f, m->base, &first, &end);
    if (end - first >= COLUMNS_MIN) {
        double slope, error;
        fit_line(f.top + first, end - first, &slope, &error);
        slope /= f.width, error /= f.width;
        m->repose_angle = -core_atan2(slope, 1.0);
        m->repose_error = error / (1 + slope * slope); // d atan(b)/db
        m->repose_x0 = x0 + first * f.width, m->repose_x1 = x0 + end * f.width;
    }
    core_free(f.top);
    return CORE_OK;
}
