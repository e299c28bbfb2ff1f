// Files for ParaView: every data set that the XML names is there with the sizes it states, polygons have the area of
// the outlines (holes included) and stand where the grains are, cells count right, failures leave nothing.
#include "core_h5.h"
#include "run_fixture.h"
#include "sim_check.h"
#include "sim_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_PATH "test_sim_view_xdmf.run.h5"
#define XDMF_PATH "test_sim_view_xdmf.xdmf"
#define GRAINS 30
#define FRAMES 5

static void must(core_status status, const core_error *err) {
    if (status != CORE_OK) fail_msg("%s", err->message);
}

static core_run_reader *collapse(void) {
    core_error err = {0};
    core_run_reader *r = NULL;
    must(fixture_write_collapse(RUN_PATH, GRAINS, FRAMES, false, &err), &err);
    must(core_run_open(RUN_PATH, &r, &err), &err);
    return r;
}

static int remove_files(void **state) {
    (void)state;
    core_alloc_fail_after(0);
    remove(RUN_PATH);
    remove(XDMF_PATH);
    remove(XDMF_PATH ".h5");
    return 0;
}

// The whole of a data set of rank 1 or 2; dims[1] is 1 for rank 1. Caller frees.
static void *read_all(core_h5 *file, const char *path, core_h5_type type, size_t dims[2]) {
    core_error err = {0};
    int rank = 0;
    dims[1] = 1;
    must(core_h5_size(file, path, 2, &rank, dims, &err), &err);
    void *data = core_alloc(dims[0] * dims[1] + 1, 4);
    assert_non_null(data);
    must(core_h5_read(file, path, type, rank, dims, data, true, &err), &err);
    return data;
}

static void test_items_are_there(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse();
    core_h5 *file = NULL;
    char *text = NULL;
    size_t n = 0;
    int items = 0, frames = 0;
    must(sim_view_write_xdmf(XDMF_PATH, r, 0, FRAMES - 1, 2, &err), &err);
    must(core_h5_open(XDMF_PATH ".h5", "cem.xdmf", 1, &file, &err), &err);
    must(core_file_read(XDMF_PATH, 1 << 20, &text, &n, &err), &err);
    for (const char *at = text; (at = strstr(at, "Dimensions=\"")) != NULL; items++) {
        char *end = NULL, path[128];
        size_t stated[2] = {0, 1}, dims[2];
        at += strlen("Dimensions=\"");
        stated[0] = strtoul(at, &end, 10);
        if (*end == ' ') stated[1] = strtoul(end, &end, 10);
        at = strstr(end, ">" XDMF_PATH ".h5:");
        assert_non_null(at);
        at += strlen(">" XDMF_PATH ".h5:");
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "<"), at);
        core_free(read_all(file, path, strstr(path, "cells") ? CORE_H5_I32 : CORE_H5_F32, dims));
        if (dims[0] != stated[0] || dims[1] != stated[1])
            fail_msg("%s: %zu x %zu, the XML says %zu x %zu", path, dims[0], dims[1], stated[0], stated[1]);
    }
    for (const char *at = text; (at = strstr(at, "<Time Value=")) != NULL; at++) frames++;
    assert_int_equal(frames, 3);
    assert_int_equal(items, 3 * (2 + 6 + 2)); // mesh, values and boundaries
    core_free(text);
    core_h5_close(&file);
    core_run_close(&r);
}

static void test_polygons(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse();
    const core_run_info *info = core_run_describe(r);
    core_h5 *file = NULL;
    core_run_frame f = {0};
    size_t n_cells[2], n_points[2], n_speed[2], at = 0;
    must(sim_view_write_xdmf(XDMF_PATH, r, 3, 3, 1, &err), &err);
    must(core_h5_open(XDMF_PATH ".h5", "cem.xdmf", 1, &file, &err), &err);
    must(core_run_frame_create(GRAINS, info->count_observables, info->count_planes, &f, &err), &err);
    must(core_run_read(r, 3, &f, &err), &err);
    int32_t *cells = read_all(file, "/frames/3/grains/cells", CORE_H5_I32, n_cells);
    float *points = read_all(file, "/frames/3/grains/points", CORE_H5_F32, n_points);
    float *velocity = read_all(file, "/frames/3/grains/velocity", CORE_H5_F32, n_speed);
    for (int i = 0; i < GRAINS; i++) {
        const core_run_type *type = &info->types[info->species[i]];
        const int count = cells[at + 1];
        double area = 0, middle[2] = {0, 0};
        assert_int_equal(cells[at], 3);
        at += 2;
        for (int k = 0; k < count; k++) {
            assert_in_range(cells[at + (size_t)k], 0, n_points[0] - 1);
            const float *a = points + 2 * cells[at + (size_t)k],
                        *b = points + 2 * cells[at + (size_t)((k + 1) % count)];
            const double cross = (double)a[0] * (double)b[1] - (double)b[0] * (double)a[1];
            area += cross / 2;
            middle[0] += cross * (double)(a[0] + b[0]) / 6, middle[1] += cross * (double)(a[1] + b[1]) / 6;
        }
        at += (size_t)count;
        const double expected = fixture_area(&type->outline) * type->radius * type->radius;
        check_near(area, expected, 1e-4 * expected); // points are float32
        for (int k = 0; k < 2; k++) {
            check_near(middle[k] / area, f.position[2 * i + k], 1e-3 * type->radius);
            check_near((double)velocity[3 * i + k], f.velocity[2 * i + k], 1e-6);
        }
    }
    assert_int_equal(at, n_cells[0]);
    core_free(cells);
    core_free(points);
    core_free(velocity);
    core_run_frame_clear(&f);
    core_h5_close(&file);
    core_run_close(&r);
}

static void test_failures(void **state) {
    (void)state;
    core_error err = {0};
    core_run_reader *r = collapse();
    assert_int_equal(sim_view_write_xdmf(NULL, r, 0, 0, 1, &err), CORE_ARG);
    assert_int_equal(sim_view_write_xdmf(XDMF_PATH, NULL, 0, 0, 1, &err), CORE_ARG);
    assert_int_equal(sim_view_write_xdmf(XDMF_PATH, r, 0, FRAMES, 1, &err), CORE_RANGE);
    assert_int_equal(sim_view_write_xdmf(XDMF_PATH, r, 1, 0, 1, &err), CORE_RANGE);
    assert_int_equal(sim_view_write_xdmf(XDMF_PATH, r, 0, 1, 0, &err), CORE_RANGE);
    assert_int_equal(sim_view_write_xdmf("no/such/folder/x.xdmf", r, 0, 0, 1, &err), CORE_IO);
    core_status status = CORE_MEMORY;
    for (int k = 1; status != CORE_OK && k < 1000; k++) {
        core_alloc_fail_after((uint64_t)k);
        status = sim_view_write_xdmf(XDMF_PATH, r, 0, 0, 1, &err);
        core_alloc_fail_after(0);
        if (status == CORE_OK) break;
        // HDF5 knows no more of the reason than that it could not open its file.
        if (status != CORE_MEMORY && status != CORE_IO) fail_msg("allocation %d: %s", k, err.message);
        assert_false(core_file_exists(XDMF_PATH));
    }
    assert_int_equal(status, CORE_OK);
    char *text = NULL;
    size_t n = 0;
    must(core_file_read(XDMF_PATH, 1 << 20, &text, &n, &err), &err);
    assert_non_null(strstr(text, "</Xdmf>"));
    core_free(text);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_items_are_there, remove_files),
        cmocka_unit_test_teardown(test_polygons, remove_files),
        cmocka_unit_test_teardown(test_failures, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
