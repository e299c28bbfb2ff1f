// Folding and exchange against exact geometry: distances and overlaps of the outlines are the same at a pose and at its
// image, gradients map as the fold says, images of one pose fold to one pose.
#include "cspace_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { GRID = 64, COUNT_SHAPES = 7, COUNT_PAIRS = 10, TRIALS = 60 };

typedef struct pair {
    int a, b;
    double ratio;
} pair;

// Equal and different orders, mirrors on both, one or none of the shapes, orders without an arc tangent and with one.
static const pair pairs[COUNT_PAIRS] = {{0, 0, 1.0}, {1, 0, 0.6}, {1, 1, 1.0}, {2, 0, 1.0}, {2, 1, 1.3},
                                        {3, 0, 1.0}, {4, 0, 1.0}, {4, 4, 0.8}, {5, 3, 1.0}, {6, 0, 1.0}};

static fixture shapes[COUNT_SHAPES];

static int setup(void **state) {
    (void)state;
    core_status s = fixture_hash(GRID, &shapes[0], NULL);
    if (s == CORE_OK) s = fixture_u(GRID, &shapes[1], NULL);
    if (s == CORE_OK) s = fixture_n(GRID, &shapes[2], NULL);
    if (s == CORE_OK) s = fixture_o(GRID, &shapes[3], NULL);
    const double triangle[] = {0.0, 1.0, -0.5 * sqrt(3.0), -0.5, 0.5 * sqrt(3.0), -0.5};
    const int three = 3, six = 6;
    if (s == CORE_OK) s = fixture_make("triangle", 1, &three, triangle, GRID, &shapes[4], NULL);
    if (s == CORE_OK) s = fixture_disc(96, GRID, &shapes[5], NULL);
    // A square hook turned by .3: its axis is no round angle.
    double hook[] = {-0.6, -0.6, 0.6, -0.6, 0.6, -0.2, -0.2, -0.2, -0.2, 0.6, -0.6, 0.6};
    for (int i = 0; i < 6; i++) {
        const double x = hook[2 * i], y = hook[2 * i + 1];
        hook[2 * i] = cos(0.3) * x - sin(0.3) * y;
        hook[2 * i + 1] = sin(0.3) * x + cos(0.3) * y;
    }
    if (s == CORE_OK) s = fixture_make("hook", 1, &six, hook, GRID, &shapes[6], NULL);
    return s == CORE_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < COUNT_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}

static void scales(const pair *p, double scale[2]) {
    scale[0] = p->ratio > 1.0 ? 1.0 / p->ratio : 1.0;
    scale[1] = p->ratio > 1.0 ? 1.0 : p->ratio;
}

// Exact distance (0 in overlap) of shape b at `q` from shape a.
static double exact_distance(const pair *p, bool swapped, const cspace_pose *q) {
    double scale[2], d = NAN;
    scales(p, scale);
    const int first = swapped ? p->b : p->a, second = swapped ? p->a : p->b;
    const sdf_posed one = {&shapes[first].shape.outline, swapped ? scale[1] : scale[0], 0.0, 0.0, 0.0};
    const sdf_posed two = {&shapes[second].shape.outline, swapped ? scale[0] : scale[1], q->theta, q->x, q->y};
    assert_int_equal(sdf_posed_distance(&one, &two, &d, NULL), CORE_OK);
    return d;
}

static double exact_overlap(const pair *p, const cspace_pose *q) {
    double scale[2], area = NAN, depth;
    scales(p, scale);
    const sdf_posed one = {&shapes[p->a].shape.outline, scale[0], 0.0, 0.0, 0.0};
    const sdf_posed two = {&shapes[p->b].shape.outline, scale[1], q->theta, q->x, q->y};
    assert_int_equal(sdf_posed_overlap(&one, &two, &area, &depth, NULL), CORE_OK);
    return area;
}

// Distance and gradient by central differences; false at a kink or in overlap (|g| is 1 elsewhere).
static bool exact_contact(const pair *p, bool swapped, const cspace_pose *q, cspace_contact *c) {
    const double h = 1e-6;
    double slope[3];
    *c = (cspace_contact){.d = exact_distance(p, swapped, q)};
    if (c->d < 1e-3) return false;
    for (int axis = 0; axis < 3; axis++) {
        cspace_pose low = *q, high = *q;
        (axis == 0 ? &low.theta : axis == 1 ? &low.x : &low.y)[0] -= h;
        (axis == 0 ? &high.theta : axis == 1 ? &high.x : &high.y)[0] += h;
        slope[axis] = (exact_distance(p, swapped, &high) - exact_distance(p, swapped, &low)) / (2.0 * h);
    }
    c->d_theta = slope[0], c->g[0] = slope[1], c->g[1] = slope[2];
    return fabs(sqrt(slope[1] * slope[1] + slope[2] * slope[2]) - 1.0) < 1e-7;
}

static cspace_fold make_fold(const pair *p) {
    return cspace_fold_make(&shapes[p->a].shape, &shapes[p->b].shape, true);
}

static double angle_difference(double a, double b) {
    return fabs(remainder(a - b, 2.0 * CORE_PI));
}

static void assert_same_pose(const cspace_pose *a, const cspace_pose *b, double tolerance) {
    if (angle_difference(a->theta, b->theta) > tolerance || fabs(a->x - b->x) > tolerance ||
        fabs(a->y - b->y) > tolerance)
        fail_msg("poses (%.15g, %.15g, %.15g) and (%.15g, %.15g, %.15g)", a->theta, a->x, a->y, b->theta, b->x, b->y);
}

static void test_expected_folds(void **state) {
    (void)state;
    const cspace_fold hh = make_fold(&pairs[0]), uh = make_fold(&pairs[1]), nh = make_fold(&pairs[3]);
    assert_true(hh.order_a == 4 && hh.order_b == 4 && hh.mirror && hh.origin_a == 0.0 && hh.origin_b == 0.0);
    // The U's base is nearer to its centroid than its tips: cells are centred on the bearing of the base.
    assert_true(uh.order_a == 1 && uh.order_b == 4 && uh.mirror);
    assert_true(angle_difference(uh.origin_a, -0.5 * CORE_PI) < 1e-15);
    assert_true(nh.order_a == 2 && nh.order_b == 4 && !nh.mirror && isnan(nh.mirror_a));
    const cspace_fold off = cspace_fold_make(&shapes[0].shape, &shapes[0].shape, false);
    assert_true(off.identity && off.order_a == 1 && off.order_b == 1 && !off.mirror);
    const cspace_pose q = {7.0, 0.1, -0.2};
    cspace_folded f;
    cspace_fold_apply(&off, &q, &f);
    assert_memory_equal(&f.pose, &q, sizeof q);
}

// The folded pose is an image (same exact distance, same exact overlap), lies in the domain, and folds to itself.
static void test_domain_and_invariance(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 11, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        int mirrored = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            const cspace_pose q = fixture_pose(&r, 1.9);
            cspace_folded f, again;
            cspace_fold_apply(&fold, &q, &f);
            mirrored += f.mirrored ? 1 : 0;
            if (fabs(exact_distance(&pairs[k], false, &q) - exact_distance(&pairs[k], false, &f.pose)) > 1e-9 ||
                fabs(exact_overlap(&pairs[k], &q) - exact_overlap(&pairs[k], &f.pose)) > 1e-9)
                fail_msg("pair %d trial %d: the folded pose is no image", k, trial);
            const double psi = atan2(f.pose.y, f.pose.x);
            const double alpha = remainder(psi - fold.origin_a, 2.0 * CORE_PI);
            const double beta = remainder(psi + CORE_PI - f.pose.theta - fold.origin_b, 2.0 * CORE_PI);
            assert_true(fabs(alpha) <= CORE_PI / fold.order_a + 1e-12);
            assert_true(fabs(beta) <= CORE_PI / fold.order_b + 1e-12);
            if (fold.mirror) assert_true(fold.order_a * alpha + fold.order_b * beta >= -1e-12);
            cspace_fold_apply(&fold, &f.pose, &again);
            assert_false(again.mirrored);
            assert_same_pose(&again.pose, &f.pose, 1e-13);
        }
        assert_true(!fold.mirror || (mirrored > TRIALS / 5 && mirrored < TRIALS * 4 / 5));
    }
}

// Every image of a pose under the symmetries of both shapes folds to the same pose; under quarter turns of A to the
// same bits.
static void test_images_fold_alike(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 12, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        for (int trial = 0; trial < 200; trial++) {
            const cspace_pose q = fixture_pose(&r, 1.9);
            const int turn_a = (int)core_random_below(&r, (uint64_t)fold.order_a);
            const int turn_b = (int)core_random_below(&r, (uint64_t)fold.order_b);
            const double a = turn_a * 2.0 * CORE_PI / fold.order_a, b = turn_b * 2.0 * CORE_PI / fold.order_b;
            cspace_pose image = {q.theta - a + b, cos(a) * q.x + sin(a) * q.y, cos(a) * q.y - sin(a) * q.x};
            if (fold.mirror && trial % 2 == 1) {
                const double c = cos(2.0 * fold.mirror_a), s = sin(2.0 * fold.mirror_a);
                image = (cspace_pose){2.0 * (fold.mirror_a - fold.mirror_b) - image.theta, c * image.x + s * image.y,
                                      s * image.x - c * image.y};
            }
            cspace_folded f, g;
            cspace_fold_apply(&fold, &q, &f);
            cspace_fold_apply(&fold, &image, &g);
            assert_same_pose(&f.pose, &g.pose, 1e-12);
            if (fold.order_a != 4 || fold.order_b != 4) continue;
            const cspace_pose quarter = {q.theta + 0.5 * CORE_PI, -q.y, q.x};
            cspace_fold_apply(&fold, &quarter, &g);
            assert_true(g.pose.x == f.pose.x && g.pose.y == f.pose.y);
        }
    }
}

// Gradients by central differences of the exact distance, at the pose and at its image.
static void test_gradients(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 13, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        int tested = 0;
        for (int trial = 0; trial < 100 && tested < 25; trial++) {
            const cspace_pose q = fixture_pose(&r, 2.2);
            cspace_folded f;
            cspace_contact here, there;
            cspace_fold_apply(&fold, &q, &f);
            if (!exact_contact(&pairs[k], false, &q, &here) || !exact_contact(&pairs[k], false, &f.pose, &there))
                continue;
            tested++;
            cspace_contact returned = there, label = here;
            cspace_fold_return(&f, &returned);
            cspace_fold_label(&f, &label);
            if (fabs(returned.d_theta - here.d_theta) > 2e-7 || fabs(returned.g[0] - here.g[0]) > 2e-7 ||
                fabs(returned.g[1] - here.g[1]) > 2e-7)
                fail_msg("pair %d: gradient (%.9g, %.9g, %.9g), returned (%.9g, %.9g, %.9g)", k, here.d_theta,
                         here.g[0], here.g[1], returned.d_theta, returned.g[0], returned.g[1]);
            assert_true(fabs(label.d_theta - there.d_theta) < 2e-7 && fabs(label.g[0] - there.g[0]) < 2e-7 &&
                        fabs(label.g[1] - there.g[1]) < 2e-7);
        }
        assert_true(tested >= 20);
    }
}

// return(label(x)) = x; moment arms are untouched, and their identity r_a - r_b = t.n holds in both frames.
static void test_inverse(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 14, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        for (int trial = 0; trial < 100; trial++) {
            const cspace_pose q = fixture_pose(&r, 2.0);
            const double angle = 2.0 * CORE_PI * core_random_uniform(&r), s = core_random_uniform(&r);
            const double n[2] = {cos(angle), sin(angle)}, along = q.x * n[0] + q.y * n[1];
            const cspace_contact c = {
                0.1, core_random_uniform(&r), {0.9 * n[0], 0.9 * n[1]}, s + 0.5 * along, s - 0.5 * along};
            cspace_folded f;
            cspace_fold_apply(&fold, &q, &f);
            cspace_contact x = c;
            cspace_fold_label(&f, &x);
            assert_true(x.d == c.d && x.r_a == c.r_a && x.r_b == c.r_b);
            assert_true(fabs((f.pose.x * x.g[0] + f.pose.y * x.g[1]) / 0.9 - (x.r_a - x.r_b)) < 1e-14);
            cspace_fold_return(&f, &x);
            assert_true(fabs(x.d_theta - c.d_theta) < 1e-15 && fabs(x.g[0] - c.g[0]) < 1e-15 &&
                        fabs(x.g[1] - c.g[1]) < 1e-15 && x.r_a == c.r_a && x.r_b == c.r_b);
        }
    }
}

// Moment arms and the rest from the minimiser at the pose and at its image. Grids have the symmetry of their square
// box, so a pair of # answers alike to the search's tolerance (1/16 of a grid cell where deep overlap saturates); where
// two contact points tie, the arms may differ.
static void test_minimiser_agrees(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 15, 0);
    cspace_pair p;
    assert_int_equal(
        cspace_pair_init(&shapes[1].shape, &shapes[1].grid, &shapes[0].shape, &shapes[0].grid, 1.0, &p, NULL), CORE_OK);
    const cspace_fold fold = cspace_fold_make(p.a, p.b, true);
    cspace_search_def search = cspace_search_default_def();
    search.tolerance = 1e-7;
    int tested = 0, arms_differ = 0;
    for (int trial = 0; trial < 800; trial++) {
        const cspace_pose q = fixture_pose(&r, 1.8);
        cspace_folded f;
        cspace_contact here, there;
        cspace_fold_apply(&fold, &q, &f);
        cspace_numeric_contact(&p, &search, &q, &here);
        cspace_numeric_contact(&p, &search, &f.pose, &there);
        cspace_fold_return(&f, &there);
        const double tolerance = here.d > -0.1 ? 1e-5 : shapes[0].grid.spacing / 8.0;
        if (fabs(here.d - there.d) > tolerance)
            fail_msg("d %.9g at (%.17g, %.17g, %.17g), %.9g at its image", here.d, q.theta, q.x, q.y, there.d);
        if (here.d < -0.1) continue;
        tested++;
        if (fabs(here.r_a - there.r_a) > 1e-3 || fabs(here.r_b - there.r_b) > 1e-3 ||
            fabs(here.d_theta - there.d_theta) > 1e-3)
            arms_differ++;
    }
    print_message("minimiser: %d of %d poses with other moment arms at the image\n", arms_differ, tested);
    assert_true(tested > 100 && arms_differ <= tested / 20);
}

static void test_swap(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 16, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        int tested = 0;
        for (int trial = 0; trial < 100 && tested < 20; trial++) {
            const cspace_pose q = fixture_pose(&r, 2.2), other = cspace_swap_pose(&q), back = cspace_swap_pose(&other);
            assert_same_pose(&q, &back, 1e-14);
            cspace_contact here, there;
            if (!exact_contact(&pairs[k], false, &q, &here) || !exact_contact(&pairs[k], true, &other, &there))
                continue;
            tested++;
            assert_true(fabs(here.d - there.d) < 1e-9);
            cspace_contact returned = there;
            cspace_swap_return(&q, &returned);
            if (fabs(returned.d_theta - here.d_theta) > 2e-7 || fabs(returned.g[0] - here.g[0]) > 2e-7 ||
                fabs(returned.g[1] - here.g[1]) > 2e-7)
                fail_msg("pair %d: gradient (%.9g, %.9g, %.9g), swapped (%.9g, %.9g, %.9g)", k, here.d_theta, here.g[0],
                         here.g[1], returned.d_theta, returned.g[0], returned.g[1]);
            cspace_swap_return(&other, &returned);
            assert_true(fabs(returned.d_theta - there.d_theta) < 1e-13 && fabs(returned.g[0] - there.g[0]) < 1e-13 &&
                        fabs(returned.g[1] - there.g[1]) < 1e-13);
        }
        assert_true(tested >= 15);
    }
}

// Moment arms under the exchange, from the contact point itself: r_A = (p - x_A).n seen from either side.
static void test_swap_moment_arms(void **state) {
    (void)state;
    const cspace_pose q = {0.7, 1.1, -0.4};
    const double p[2] = {0.6, 0.1}, n[2] = {0.6, -0.8};
    const cspace_contact c = {
        0.0, 0.3, {n[0], n[1]}, p[0] * n[0] + p[1] * n[1], (p[0] - q.x) * n[0] + (p[1] - q.y) * n[1]};
    // B's frame: p' = R(-theta)(p - t), the normal points from B to A.
    const double co = cos(q.theta), si = sin(q.theta), dx = p[0] - q.x, dy = p[1] - q.y;
    const double p_b[2] = {co * dx + si * dy, co * dy - si * dx};
    const double n_b[2] = {-(co * n[0] + si * n[1]), -(co * n[1] - si * n[0])};
    const cspace_pose other = cspace_swap_pose(&q);
    cspace_contact x = {0.0,
                        0.0,
                        {n_b[0], n_b[1]},
                        p_b[0] * n_b[0] + p_b[1] * n_b[1],
                        (p_b[0] - other.x) * n_b[0] + (p_b[1] - other.y) * n_b[1]};
    cspace_swap_return(&q, &x);
    assert_true(fabs(x.r_a - c.r_a) < 1e-15 && fabs(x.r_b - c.r_b) < 1e-15);
    assert_true(fabs(x.g[0] - n[0]) < 1e-15 && fabs(x.g[1] - n[1]) < 1e-15);
}

static void test_bad_folds(void **state) {
    (void)state;
    const cspace_fold good = make_fold(&pairs[0]);
    core_error err = {0};
    cspace_fold f = good;
    f.order_b = 0;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.order_a = 129;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.origin_a = NAN;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_NONFINITE);
    f = good, f.mirror_b = INFINITY;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_NONFINITE);
    f = good, f.origin_b = 0.1;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.swap = true;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_UNSUPPORTED);
    f = good, f.blend_width = 0.08;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_UNSUPPORTED);
    assert_int_equal(cspace_fold_prepare(NULL, &err), CORE_ARG);
    const cspace_pose nowhere = {NAN, NAN, NAN};
    cspace_folded folded;
    for (int k = 0; k < COUNT_PAIRS; k++) {
        f = make_fold(&pairs[k]);
        cspace_fold_apply(&f, &nowhere, &folded);
        assert_true(isnan(folded.pose.x));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expected_folds),
                                       cmocka_unit_test(test_domain_and_invariance),
                                       cmocka_unit_test(test_images_fold_alike),
                                       cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_inverse),
                                       cmocka_unit_test(test_minimiser_agrees),
                                       cmocka_unit_test(test_swap),
                                       cmocka_unit_test(test_swap_moment_arms),
                                       cmocka_unit_test(test_bad_folds)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
