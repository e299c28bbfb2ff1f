/// `*.sdf.h5`: what is written comes back, and nothing damaged or foreign is taken for one.
#include "test_sdf_common.h"

static sdf_grid build(const sdf_shape *s) {
    sdf_grid g = {0};
    assert_int_equal(sdf_grid_build(&s->outline, 24, 0.3, 1, NULL, &g, NULL), CORE_OK);
    return g;
}

static const char *write_shape(const char *name, const sdf_shape *s, const sdf_grid *g) {
    const char *path = test_path(name);
    core_h5_provenance p = {.command_line = "sdfgen d.wkt", .seed = 0};
    core_error err = {0};
    if (sdf_file_write(path, s, g, &p, &err) != CORE_OK) fail_msg("%s", err.message);
    return path;
}

/// Whole file; caller frees.
static unsigned char *slurp(const char *path, size_t *n) {
    char *data = NULL;
    unsigned char *copy;
    assert_int_equal(core_file_read(path, 1 << 24, &data, n, NULL), CORE_OK);
    copy = malloc(*n);
    assert_non_null(copy);
    memcpy(copy, data, *n);
    core_free(data);
    return copy;
}

static void round_trip(void **state) {
    (void)state;
    const char *names[] = {"d", "hash", "square"};
    for (int k = 0; k < 3; k++) {
        sdf_shape s = test_shape(names[k]), t = {0};
        sdf_grid g = build(&s), h = {0};
        core_error err = {0};
        uint64_t hash = 0, again = 0;
        const char *path = write_shape("a.sdf.h5", &s, &g);
        if (sdf_file_read(path, &t, &h, &hash, &err) != CORE_OK) fail_msg("%s", err.message);
        assert_string_equal(t.name, names[k]);
        assert_true(t.hash == s.hash && core_outline_hash(&t.outline) == s.hash);
        assert_memory_equal(&t.drawn, &s.drawn, sizeof s.drawn);
        assert_true(t.area == s.area && t.second_moment == s.second_moment);
        assert_int_equal(h.nx, g.nx);
        assert_int_equal(h.ny, g.ny);
        assert_true(h.spacing == g.spacing && h.origin[0] == g.origin[0] && h.origin[1] == g.origin[1]);
        assert_true(h.value_min == g.value_min);
        assert_memory_equal(h.phi, g.phi, (size_t)g.nx * (size_t)g.ny * sizeof *g.phi);
        // Written once more, from what was read: the same content.
        sdf_grid_clear(&g);
        path = write_shape("b.sdf.h5", &t, &h);
        sdf_shape_clear(&t);
        assert_int_equal(sdf_file_read(path, &t, &g, &again, NULL), CORE_OK);
        assert_true(hash == again && hash != 0);
        remove(path);
        remove(test_path("a.sdf.h5"));
        sdf_shape_clear(&s);
        sdf_shape_clear(&t);
        sdf_grid_clear(&g);
        sdf_grid_clear(&h);
    }
}

static void layout(void **state) {
    (void)state;
    sdf_shape s = test_shape("d");
    sdf_grid g = build(&s);
    core_h5 *file = NULL;
    const char *path = write_shape("a.sdf.h5", &s, &g),
               *datasets[] = {"/polygon/points",     "/polygon/ring_start", "/mass/area", "/mass/centroid",
                              "/mass/second_moment", "/mass/circumradius",  "/grid/phi",  "/grid/origin",
                              "/grid/spacing",       "/provenance"};
    assert_int_equal(core_h5_open(path, SDF_FORMAT, SDF_VERSION, &file, NULL), CORE_OK);
    for (size_t i = 0; i < sizeof datasets / sizeof datasets[0]; i++)
        if (!core_h5_exists(file, datasets[i])) fail_msg("%s is missing", datasets[i]);
    char text[64];
    size_t dims[2];
    int rank;
    assert_int_equal(core_h5_get_text(file, "/grid/phi", "sign_convention", text, sizeof text, NULL), CORE_OK);
    assert_string_equal(text, "negative inside, positive outside");
    assert_int_equal(core_h5_get_text(file, "/mass/area", "units", text, sizeof text, NULL), CORE_OK);
    assert_string_equal(text, "drawing unit^2");
    assert_int_equal(core_h5_size(file, "/grid/phi", 2, &rank, dims, NULL), CORE_OK);
    assert_true(rank == 2 && dims[0] == (size_t)g.ny && dims[1] == (size_t)g.nx);
    core_h5_close(&file);
    remove(path);
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

/// Cut at every sixteenth of its length and at both ends.
static void truncated(void **state) {
    (void)state;
    sdf_shape s = test_shape("square"), t = {0};
    sdf_grid g = build(&s), h = {0};
    const char *path = write_shape("a.sdf.h5", &s, &g);
    size_t n, cut[19];
    unsigned char *data = slurp(path, &n);
    for (size_t i = 0; i < 16; i++) cut[i] = n * i / 16;
    cut[16] = 1;
    cut[17] = n - 1;
    cut[18] = 8;
    for (size_t i = 0; i < 19; i++) {
        core_error err = {0};
        const char *p = test_write("cut.sdf.h5", data, cut[i]);
        core_status status = sdf_file_read(p, &t, &h, NULL, &err);
        if (status != CORE_FORMAT && status != CORE_IO) fail_msg("%zu of %zu bytes: status %d", cut[i], n, (int)status);
        assert_non_null(strstr(err.message, "cut.sdf.h5"));
        assert_null(t.outline.xy);
        assert_null(h.phi);
        remove(p);
    }
    free(data);
    remove(path);
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

/// One bit of the grid, of the outline or of the mass changed on disk.
static void changed(void **state) {
    (void)state;
    sdf_shape s = test_shape("square"), t = {0};
    sdf_grid g = build(&s), h = {0};
    const char *path = write_shape("a.sdf.h5", &s, &g);
    size_t n;
    unsigned char *data = slurp(path, &n);
    const void *parts[] = {g.phi + 17, s.outline.xy + 3, &s.drawn.area, &s.drawn.second_moment};
    const size_t sizes[] = {8 * sizeof(float), 3 * sizeof(double), sizeof(double), sizeof(double)};
    for (int k = 0; k < 4; k++) {
        size_t at = 0;
        while (at + sizes[k] <= n && memcmp(data + at, parts[k], sizes[k]) != 0) at++;
        assert_true(at + sizes[k] <= n);
        data[at] ^= 1;
        core_error err = {0};
        const char *p = test_write("changed.sdf.h5", data, n);
        assert_int_equal(sdf_file_read(p, &t, &h, NULL, &err), CORE_FORMAT);
        assert_non_null(strstr(err.message, "changed.sdf.h5"));
        data[at] ^= 1;
        remove(p);
    }
    free(data);
    remove(path);
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

/// Files that are whole and of the right kind, but say something impossible.
static void inconsistent(void **state) {
    (void)state;
    sdf_shape s = test_shape("square"), t = {0};
    sdf_grid g = build(&s), h = {0};
    core_error err = {0};
    for (int k = 0; k < 5; k++) {
        sdf_shape bad = s;
        sdf_grid odd = g;
        core_status expected = CORE_FORMAT;
        if (k == 0) bad.hash ^= 1;
        if (k == 1) bad.drawn.area *= 2;
        if (k == 2) odd.origin[0] += 0.1;
        if (k == 3) odd.spacing = -odd.spacing;
        if (k == 4) {
            odd.spacing = NAN;
            expected = CORE_NONFINITE;
        }
        const char *path = write_shape("odd.sdf.h5", &bad, &odd);
        core_status status = sdf_file_read(path, &t, &h, NULL, &err);
        if (status != expected) fail_msg("case %d: status %d, %s", k, (int)status, err.message);
        assert_non_null(strstr(err.message, "odd.sdf.h5"));
        remove(path);
    }
    float kept = g.phi[5];
    g.phi[5] = NAN;
    const char *path = write_shape("odd.sdf.h5", &s, &g);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_NONFINITE);
    remove(path);
    g.phi[5] = kept;
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

static void foreign(void **state) {
    (void)state;
    sdf_shape t = {0};
    sdf_grid h = {0};
    core_error err = {0};
    core_h5 *file = NULL;
    const char *path = test_path("other.h5");
    assert_int_equal(core_h5_create(path, "cem.samples", 1, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_FORMAT);
    assert_non_null(strstr(err.message, "cem.samples"));
    remove(path);
    assert_int_equal(core_h5_create(path, SDF_FORMAT, SDF_VERSION + 1, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_VERSION_OTHER);
    remove(path);
    // The right kind, and nothing in it.
    assert_int_equal(core_h5_create(path, SDF_FORMAT, SDF_VERSION, &file, NULL), CORE_OK);
    assert_int_equal(core_h5_commit(&file, NULL), CORE_OK);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_FORMAT);
    remove(path);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_IO);
    path = test_write("text.sdf.h5", "POLYGON ((0 0, 1 0, 0 1, 0 0))", 30);
    assert_int_equal(sdf_file_read(path, &t, &h, NULL, &err), CORE_FORMAT);
    remove(path);
    assert_int_equal(sdf_file_read(test_path(""), &t, &h, NULL, &err), CORE_IO);
    assert_int_equal(sdf_file_read(NULL, &t, &h, NULL, &err), CORE_ARG);
}

static void not_writable(void **state) {
    (void)state;
    sdf_shape s = test_shape("square");
    sdf_grid g = build(&s), none = {0};
    core_error err = {0};
    assert_int_equal(sdf_file_write(test_path("no/folder.sdf.h5"), &s, &g, NULL, &err), CORE_IO);
    assert_int_equal(sdf_file_write(test_path("a.sdf.h5"), &s, &none, NULL, &err), CORE_ARG);
    assert_false(core_file_exists(test_path("a.sdf.h5")));
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

static void allocation_failures(void **state) {
    (void)state;
    sdf_shape s = test_shape("d");
    sdf_grid g = build(&s);
    const char *path = test_path("a.sdf.h5");
    core_status status = CORE_MEMORY;
    int failures = 0;
    // An allocation that fails below HDF5 comes back as HDF5's failure to open: IO.
    for (uint64_t n = 1; status == CORE_MEMORY || status == CORE_IO; n++, failures++) {
        core_alloc_fail_after(n);
        status = sdf_file_write(path, &s, &g, NULL, NULL);
        core_alloc_fail_after(0);
        assert_true((status == CORE_OK) == core_file_exists(path));
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 1, 200);
    status = CORE_MEMORY;
    failures = 0;
    for (uint64_t n = 1; status == CORE_MEMORY || status == CORE_IO; n++, failures++) {
        sdf_shape t = {0};
        sdf_grid h = {0};
        core_alloc_fail_after(n);
        status = sdf_file_read(path, &t, &h, NULL, NULL);
        core_alloc_fail_after(0);
        if (status != CORE_OK) assert_true(!t.outline.xy && !h.phi);
        sdf_shape_clear(&t);
        sdf_grid_clear(&h);
    }
    assert_int_equal(status, CORE_OK);
    assert_in_range(failures, 5, 200);
    remove(path);
    sdf_shape_clear(&s);
    sdf_grid_clear(&g);
}

static int remove_folder(void **state) {
    (void)state;
    return remove(test_path("")); // fails if a temporary file was left behind
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),   cmocka_unit_test(layout),
        cmocka_unit_test(truncated),    cmocka_unit_test(changed),
        cmocka_unit_test(inconsistent), cmocka_unit_test(foreign),
        cmocka_unit_test(not_writable), cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
