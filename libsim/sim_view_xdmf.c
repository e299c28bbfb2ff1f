// A run for ParaView: OUT.xdmf describes in XML what OUT.xdmf.h5 beside it holds. A frame is two unstructured grids:
// grains as polygons (a hole is joined to the outer ring by a cut that runs there and back) with values a cell,
// boundaries as lines. Cells are of the mixed kind of XDMF 2: 3 n i... a polygon, 2 n i... a line.
#include "sim_view_private.h"

#include "core_h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "cem.xdmf"
#define VERSION 1
#define POLYGON 3
#define LINE 2
#define CIRCLE_EDGES 128
#define PATH_MAX_BYTES 64

// How a type's outline is walked as one polygon.
typedef struct walk {
    int *order; // (count) points
    int count;
} walk;

typedef struct xdmf {
    core_run_reader *run;
    core_h5 *file;
    const char *name; // of the HDF5 file as the XML writes it
    core_buffer out;  // the XML
    sim_view_state state;
    walk *walks; // (count_types)
    double region[4];
    float *points;   // room for all grains and boundaries of a frame
    int32_t *cells;  // the same
    float *values;   // (rows x 3)
    int32_t *labels; // (rows)
} xdmf;

// ---------------------------------------------------------------------------------------------- polygons

static double side(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// True if the open segments a b and c d cross.
static bool cross(const double *a, const double *b, const double *c, const double *d) {
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

static bool crosses_outline(const core_outline *o, const double *a, const double *b) {
    for (int ring = 0; ring < o->count_rings; ring++) {
        int first = o->ring_start[ring], end = o->ring_start[ring + 1];
        for (int k = first; k < end; k++)
            if (cross(a, b, o->xy + 2 * k, o->xy + 2 * (k + 1 < end ? k + 1 : first))) return true;
    }
    return false;
}

// Joins a hole to the walk at the nearest pair of points that see each other.
static void join_hole(const core_outline *o, int ring, walk *w) {
    const int first = o->ring_start[ring], n = o->ring_start[ring + 1] - first;
    int at = 0, from = first;
    double best = INFINITY;
    for (int i = 0; i < w->count; i++)
        for (int k = first; k < first + n; k++) {
            const double *a = o->xy + 2 * w->order[i], *b = o->xy + 2 * k;
            const double d = (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
            if (d >= best || crosses_outline(o, a, b)) continue;
            best = d, at = i, from = k;
        }
    // ... at | hole from `from` all the way round | `from` again, `at` again | ...
    memmove(w->order + at + n + 3, w->order + at + 1, (size_t)(w->count - at - 1) * sizeof *w->order);
    for (int k = 0; k <= n; k++) w->order[at + 1 + k] = first + (from - first + k) % n;
    w->order[at + n + 2] = w->order[at];
    w->count += n + 2;
}

static core_status make_walks(xdmf *x, core_error *err) {
    const core_run_info *info = x->state.info;
    core_status status = CORE_OK;
    CORE_NEW_DONE(x->walks, (size_t)info->count_types + 1);
    for (int i = 0; i < info->count_types; i++) {
        const core_outline *o = &info->types[i].outline;
        walk *w = &x->walks[i];
        CORE_NEW_DONE(w->order, (size_t)(core_outline_count(o) + 2 * o->count_rings));
        for (; w->count < o->ring_start[1]; w->count++) w->order[w->count] = w->count;
        for (int ring = 1; ring < o->count_rings; ring++) join_hole(o, ring, w);
    }
done:
    return status;
}

// ---------------------------------------------------------------------------------------------- data sets

// Writes a data set and its item of the XML: rank 1 with `width` 1, else rows of that width.
static core_status add_item(xdmf *x, const char *path, core_h5_type type, size_t n, size_t width, const void *data,
                            const char *units, const char *description, core_error *err) {
    const size_t dims[2] = {n, width};
    CORE_TRY(core_h5_write(x->file, path, type, width > 1 ? 2 : 1, dims, data, units, description, err));
    core_buffer_add(&x->out, "<DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"4\" Dimensions=\"%zu",
                    type == CORE_H5_F32 ? "Float" : "Int", n);
    if (width > 1) core_buffer_add(&x->out, " %zu", width);
    core_buffer_add(&x->out, "\">");
    core_buffer_add_xml(&x->out, x->name);
    core_buffer_add(&x->out, ":%s</DataItem>", path);
    return CORE_OK;
}

static core_status add_mesh(xdmf *x, int64_t frame, const char *what, size_t count_cells, size_t n_cells,
                            size_t n_points, core_error *err) {
    char path[PATH_MAX_BYTES];
    core_buffer_add(&x->out,
                    "<Grid Name=\"%s\" GridType=\"Uniform\">\n<Topology TopologyType=\"Mixed\" "
                    "NumberOfElements=\"%zu\">",
                    what, count_cells);
    snprintf(path, sizeof path, "/frames/%lld/%s/cells", (long long)frame, what);
    CORE_TRY(add_item(x, path, CORE_H5_I32, n_cells, 1, x->cells, NULL,
                      "kind (3 polygon, 2 line), number of points, points; one cell after the other", err));
    core_buffer_add(&x->out, "</Topology>\n<Geometry GeometryType=\"XY\">");
    snprintf(path, sizeof path, "/frames/%lld/%s/points", (long long)frame, what);
    CORE_TRY(add_item(x, path, CORE_H5_F32, n_points, 2, x->points, "m", "x, y", err));
    core_buffer_add(&x->out, "</Geometry>\n");
    return CORE_OK;
}

static core_status add_values(xdmf *x, int64_t frame, const char *name, core_h5_type type, size_t n, size_t width,
                              const char *units, core_error *err) {
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "/frames/%lld/grains/%s", (long long)frame, name);
    core_buffer_add(&x->out, "<Attribute Name=\"%s\" Center=\"Cell\" AttributeType=\"%s\">", name,
                    width == 3 ? "Vector" : "Scalar");
    const void *data = type == CORE_H5_F32 ? (const void *)x->values : (const void *)x->labels;
    CORE_TRY(add_item(x, path, type, n, width, data, units, "a value a grain", err));
    core_buffer_add(&x->out, "</Attribute>\n");
    return CORE_OK;
}

// Values of the grains that are there.
static core_status add_grain_values(xdmf *x, int64_t frame, core_error *err) {
    enum { VELOCITY, SPIN, ORIENTATION, FORCE, COUNT };
    static const struct {
        const char *name, *units;
        size_t width;
    } fields[COUNT] = {{"velocity", "m/s", 3},
                       {"angular_velocity", "rad/s", 1},
                       {"orientation", "rad", 1},
                       {"largest_normal_force", "N/m", 1}};
    const core_run_info *info = x->state.info;
    const core_run_frame *f = &x->state.frame;
    for (int k = 0; k < COUNT; k++) {
        size_t n = 0;
        if (k == FORCE && !x->state.force) continue;
        for (int i = 0; i < info->count_rows; i++) {
            if (!sim_view_is_drawn(f, i)) continue;
            float *v = x->values + fields[k].width * n++;
            if (k == VELOCITY) v[0] = (float)f->velocity[2 * i], v[1] = (float)f->velocity[2 * i + 1], v[2] = 0;
            if (k == SPIN) v[0] = (float)f->angular_velocity[i];
            if (k == ORIENTATION) v[0] = (float)f->orientation[i];
            if (k == FORCE) v[0] = (float)x->state.force[i];
        }
        CORE_TRY(add_values(x, frame, fields[k].name, CORE_H5_F32, n, fields[k].width, fields[k].units, err));
    }
    for (int k = 0; k < 3; k++) {
        size_t n = 0;
        for (int i = 0; i < info->count_rows; i++)
            if (sim_view_is_drawn(f, i))
                x->labels[n++] = k == 0 ? info->species[i] : k == 1 ? f->id[i] : info->prescribed[i];
        const char *name = k == 0 ? "species" : k == 1 ? "id" : "prescribed";
        CORE_TRY(add_values(x, frame, name, CORE_H5_I32, n, 1, NULL, err));
    }
    return CORE_OK;
}

static core_status add_grains(xdmf *x, int64_t frame, core_error *err) {
    const core_run_info *info = x->state.info;
    const core_run_frame *f = &x->state.frame;
    size_t n_points = 0, n_cells = 0, count = 0;
    for (int i = 0; i < info->count_rows; i++) {
        const core_run_type *type = &info->types[info->species[i]];
        const walk *w = &x->walks[info->species[i]];
        if (!sim_view_is_drawn(f, i)) continue;
        const double c = type->radius * cos(f->orientation[i]), s = type->radius * sin(f->orientation[i]);
        x->cells[n_cells++] = POLYGON, x->cells[n_cells++] = w->count;
        for (int k = 0; k < w->count; k++) x->cells[n_cells++] = (int32_t)n_points + w->order[k];
        for (int k = 0; k < core_outline_count(&type->outline); k++, n_points++) {
            const double *v = type->outline.xy + 2 * k;
            x->points[2 * n_points] = (float)(f->position[2 * i] + c * v[0] - s * v[1]);
            x->points[2 * n_points + 1] = (float)(f->position[2 * i + 1] + s * v[0] + c * v[1]);
        }
        count++;
    }
    if (count == 0) return CORE_OK;
    CORE_TRY(add_mesh(x, frame, "grains", count, n_cells, n_points, err));
    CORE_TRY(add_grain_values(x, frame, err));
    core_buffer_add(&x->out, "</Grid>\n");
    return CORE_OK;
}

// The part of a plane's surface in the region; false if there is none.
static bool plane_segment(const double plane[3], const double region[4], double ends[2][2]) {
    double low = -INFINITY, high = INFINITY;
    for (int k = 0; k < 2; k++) {
        // Points plane[2] n + s t with t = (-n_y, n_x).
        const double from = plane[2] * plane[k], t = k == 0 ? -plane[1] : plane[0];
        double a = (region[k] - from) / t, b = (region[2 + k] - from) / t;
        if (fabs(t) < 1e-12) {
            if (from < region[k] || from > region[2 + k]) return false;
            continue;
        }
        low = fmax(low, fmin(a, b)), high = fmin(high, fmax(a, b));
    }
    for (int i = 0; i < 2; i++) {
        const double s = i ? high : low;
        ends[i][0] = plane[2] * plane[0] - s * plane[1], ends[i][1] = plane[2] * plane[1] + s * plane[0];
    }
    return low < high;
}

static core_status add_boundaries(xdmf *x, int64_t frame, core_error *err) {
    const core_run_info *info = x->state.info;
    const core_run_frame *f = &x->state.frame;
    size_t n_points = 0, n_cells = 0, count = 0;
    for (int i = 0; i < info->count_planes; i++) {
        double ends[2][2];
        if (!f->plane_present[i] || !plane_segment(f->plane + 3 * i, x->region, ends)) continue;
        x->cells[n_cells++] = LINE, x->cells[n_cells++] = 2, count++;
        for (int k = 0; k < 2; k++, n_points++) {
            x->points[2 * n_points] = (float)ends[k][0], x->points[2 * n_points + 1] = (float)ends[k][1];
            x->cells[n_cells++] = (int32_t)n_points;
        }
    }
    for (int i = 0; i < info->count_walls; i++) {
        const core_run_wall *w = &info->walls[i];
        const double *pose = f->wall_pose + 3 * i, c = cos(pose[2]), s = sin(pose[2]);
        const int n = w->is_circle ? CIRCLE_EDGES + 1 : w->count_points;
        if (!f->wall_present[i]) continue;
        x->cells[n_cells++] = LINE, x->cells[n_cells++] = n, count++;
        for (int k = 0; k < n; k++, n_points++) {
            const double turn = 2 * CORE_PI * k / CIRCLE_EDGES;
            const double on[2] = {w->radius * cos(turn), w->radius * sin(turn)};
            const double *v = w->is_circle ? on : w->points + 2 * k;
            x->points[2 * n_points] = (float)(pose[0] + c * v[0] - s * v[1]);
            x->points[2 * n_points + 1] = (float)(pose[1] + s * v[0] + c * v[1]);
            x->cells[n_cells++] = (int32_t)n_points;
        }
    }
    if (count == 0) return CORE_OK;
    CORE_TRY(add_mesh(x, frame, "boundaries", count, n_cells, n_points, err));
    core_buffer_add(&x->out, "</Grid>\n");
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- files

static core_status make_room(xdmf *x, core_error *err) {
    const core_run_info *info = x->state.info;
    core_status status = CORE_OK;
    size_t points = 2 * (size_t)info->count_planes, cells = 4 * (size_t)info->count_planes;
    const size_t rows = (size_t)info->count_rows;
    for (int i = 0; i < info->count_walls; i++) {
        const size_t n = info->walls[i].is_circle ? CIRCLE_EDGES + 1 : (size_t)info->walls[i].count_points;
        points += n, cells += n + 2;
    }
    for (size_t i = 0; i < rows; i++) {
        points += (size_t)core_outline_count(&info->types[info->species[i]].outline);
        cells += (size_t)x->walks[info->species[i]].count + 2;
    }
    CORE_CHECK(cells <= INT32_MAX, CORE_RANGE, "a frame would have %zu corners, expected at most %d", cells, INT32_MAX);
    CORE_NEW_DONE(x->points, 2 * points + 1);
    CORE_NEW_DONE(x->cells, cells + 1);
    CORE_NEW_DONE(x->values, 3 * rows + 1);
    CORE_NEW_DONE(x->labels, rows + 1);
done:
    return status;
}

static core_status add_frames(xdmf *x, int64_t first, int64_t last, int64_t every, core_error *err) {
    core_buffer_add(&x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
                             "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int64_t i = first; i <= last; i += every) {
        CORE_TRY(sim_view_state_read(x->run, i, &x->state, err));
        core_buffer_add(&x->out,
                        "<Grid Name=\"frame\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
                        "<Time Value=\"%.9g\"/>\n",
                        x->state.frame.time);
        CORE_TRY(add_grains(x, i, err));
        CORE_TRY(add_boundaries(x, i, err));
        core_buffer_add(&x->out, "</Grid>\n");
    }
    core_buffer_add(&x->out, "</Grid>\n</Domain>\n</Xdmf>\n");
    return CORE_OK;
}

static void clear_xdmf(xdmf *x) {
    const int types = x->walks ? x->state.info->count_types : 0;
    for (int i = 0; i < types; i++) core_free(x->walks[i].order);
    core_h5_abandon(&x->file);
    core_free(x->walks);
    core_free(x->points);
    core_free(x->cells);
    core_free(x->values);
    core_free(x->labels);
    core_buffer_clear(&x->out);
    sim_view_state_clear(&x->state);
}

core_status sim_view_write_xdmf(const char *path, core_run_reader *run, int64_t first, int64_t last, int64_t every,
                                core_error *err) {
    CORE_CHECK(path && run, CORE_ARG, "path or run: found a null pointer");
    core_status status = CORE_OK;
    xdmf x = {.run = run};
    core_buffer data = {0};
    core_buffer_add_bytes(&data, path, strlen(path));
    core_buffer_add(&data, ".h5");
    CORE_CHECK_DONE(!data.failed, CORE_MEMORY, "%s: out of memory", path);
    const char *slash = strrchr(data.text, '/');
    x.name = slash ? slash + 1 : data.text;
    CORE_TRY_DONE(sim_view_fit(run, first, last, every, x.region, err));
    CORE_TRY_DONE(sim_view_state_create(run, core_run_describe(run)->contacts, &x.state, err));
    CORE_TRY_DONE(make_walks(&x, err));
    CORE_TRY_DONE(make_room(&x, err));
    CORE_TRY_DONE(core_h5_create(data.text, FORMAT, VERSION, &x.file, err));
    CORE_TRY_DONE(add_frames(&x, first, last, every, err));
    CORE_CHECK_DONE(!x.out.failed, CORE_MEMORY, "%s: out of memory", path);
    CORE_TRY_DONE(core_h5_commit(&x.file, err));
    CORE_TRY_DONE(core_file_write(path, x.out.text, x.out.size, err));
done:
    clear_xdmf(&x);
    core_buffer_clear(&data);
    return status;
}
