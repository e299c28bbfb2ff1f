// Symmetries of outlines against what the shapes are.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { GRID = 16 }; // the grids are not used here

static cspace_symmetry find(const fixture *f) {
    return cspace_symmetry_find(&f->shape.outline, CSPACE_SYMMETRY_TOLERANCE);
}

static void make(fixture *f, int n, const double *xy) {
    core_error err = {0};
    if (fixture_make("shape", 1, &n, xy, GRID, f, &err) != CORE_OK) fail_msg("%s", err.message);
}

// A copy of the outline turned by `angle`.
static core_outline turned(const core_outline *o, double angle) {
    core_outline copy = {0};
    assert_int_equal(core_outline_copy(o, &copy, NULL), CORE_OK);
    for (int i = 0; i < core_outline_count(o); i++) {
        copy.xy[2 * i] = cos(angle) * o->xy[2 * i] - sin(angle) * o->xy[2 * i + 1];
        copy.xy[2 * i + 1] = sin(angle) * o->xy[2 * i] + cos(angle) * o->xy[2 * i + 1];
    }
    return copy;
}

static void test_known_shapes(void **state) {
    (void)state;
    fixture hash, u, n, o, square, disc;
    assert_int_equal(fixture_hash(GRID, &hash, NULL), CORE_OK);
    assert_int_equal(fixture_u(GRID, &u, NULL), CORE_OK);
    assert_int_equal(fixture_n(GRID, &n, NULL), CORE_OK);
    assert_int_equal(fixture_o(GRID, &o, NULL), CORE_OK);
    assert_int_equal(fixture_square(GRID, &square, NULL), CORE_OK);
    assert_int_equal(fixture_disc(96, GRID, &disc, NULL), CORE_OK);
    const struct {
        const fixture *f;
        int order;
        double mirror;
    } rows[] = {{&hash, 4, 0.0}, {&u, 1, 0.5 * CORE_PI}, {&n, 2, NAN},
                {&o, 2, 0.0},    {&square, 4, 0.0},      {&disc, 96, 0.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cspace_symmetry s = find(rows[i].f);
        print_message("%s: order %d, mirror %.17g\n", rows[i].f->shape.name, s.order, s.mirror);
        assert_int_equal(s.order, rows[i].order);
        if (isnan(rows[i].mirror))
            assert_true(isnan(s.mirror));
        else
            assert_true(s.mirror == rows[i].mirror); // round angles are exact
    }
    fixture_clear(&hash), fixture_clear(&u), fixture_clear(&n), fixture_clear(&o), fixture_clear(&square),
        fixture_clear(&disc);
}

// A turned shape has the same order and its axis turned; beyond the tolerance a moved corner breaks the symmetry,
// within it does not.
static void test_turned_and_disturbed(void **state) {
    (void)state;
    fixture hash, u;
    assert_int_equal(fixture_hash(GRID, &hash, NULL), CORE_OK);
    assert_int_equal(fixture_u(GRID, &u, NULL), CORE_OK);
    for (int k = 1; k < 8; k++) {
        const double angle = 0.37 * k;
        core_outline h = turned(&hash.shape.outline, angle), l = turned(&u.shape.outline, angle);
        const cspace_symmetry sh = cspace_symmetry_find(&h, CSPACE_SYMMETRY_TOLERANCE);
        const cspace_symmetry su = cspace_symmetry_find(&l, CSPACE_SYMMETRY_TOLERANCE);
        assert_int_equal(sh.order, 4);
        assert_true(fabs(remainder(sh.mirror - angle, CORE_PI / 4)) < 1e-12);
        assert_true(sh.mirror >= 0.0 && sh.mirror < CORE_PI / 4);
        assert_int_equal(su.order, 1);
        assert_true(fabs(remainder(su.mirror - angle - 0.5 * CORE_PI, CORE_PI)) < 1e-12);
        core_outline_clear(&h), core_outline_clear(&l);
    }
    core_outline *o = &hash.shape.outline;
    o->xy[0] += 0.3 * CSPACE_SYMMETRY_TOLERANCE;
    assert_int_equal(find(&hash).order, 4);
    o->xy[0] += 10.0 * CSPACE_SYMMETRY_TOLERANCE;
    assert_int_equal(find(&hash).order, 1);
    fixture_clear(&hash), fixture_clear(&u);
}

// A hole off the centre counts; a pinwheel turns without a mirror; corners alone do not decide.
static void test_asymmetries(void **state) {
    (void)state;
    fixture f;
    const double ring[] = {-1, -1, 1, -1, 1, 1, -1, 1, 0.1, -0.2, 0.1, 0.2, 0.5, 0.2, 0.5, -0.2};
    const int counts[] = {4, 4};
    assert_int_equal(fixture_make("ring", 2, counts, ring, GRID, &f, NULL), CORE_OK);
    assert_int_equal(find(&f).order, 1);
    assert_true(fabs(find(&f).mirror) < 1e-12);
    fixture_clear(&f);
    const double pinwheel[] = {0.3,  -0.3, 1.0,  -0.3, 1.0,  0.0,  0.3, 0.0,  0.3, 0.3,  0.3,
                               1.0,  0.0,  1.0,  0.0,  0.3,  -0.3, 0.3, -1.0, 0.3, -1.0, 0.0,
                               -0.3, 0.0,  -0.3, -0.3, -0.3, -1.0, 0.0, -1.0, 0.0, -0.3};
    make(&f, 16, pinwheel);
    assert_int_equal(find(&f).order, 4);
    assert_true(isnan(find(&f).mirror));
    fixture_clear(&f);
    // Corners that are their own images under half a turn, joined in an order that is not: a square with a notch on one
    // side, whose floor lies where half a turn puts it.
    const double notched[] = {-1, -1, 1, -1, 1, 1, -1, 1, 0, 0.3, 0, -0.3};
    const int six = 6;
    core_outline o = {0};
    assert_int_equal(core_outline_create(1, &six, &o, NULL), CORE_OK);
    memcpy(o.xy, notched, sizeof notched);
    const cspace_symmetry notch = cspace_symmetry_find(&o, CSPACE_SYMMETRY_TOLERANCE);
    assert_true(notch.order == 1 && notch.mirror == 0.0);
    core_outline_clear(&o);
    const cspace_symmetry none = cspace_symmetry_find(&(core_outline){0}, 1e-6);
    assert_true(none.order == 1 && isnan(none.mirror));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_shapes), cmocka_unit_test(test_turned_and_disturbed),
                                       cmocka_unit_test(test_asymmetries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
