// Folding and exchange against exact geometry: distances and overlaps of the outlines are the same at a pose and at its
// images, gradients map as the fold says. Blending against an arbitrary function in place of a net: the blend has every
// symmetry, is continuous over all faces, and its derivative is exact.
#include "cspace_fixture.h"
#include "random_below.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { GRID = 64, COUNT_SHAPES = 9, COUNT_PAIRS = 19, TRIALS = 60 };

typedef struct pair {
    int a, b;
    double ratio;
} pair;

// Equal and different orders, mirrors on both, one or none of the shapes, orders without an arc tangent and with one.
static const pair pairs[COUNT_PAIRS] = {{0, 0, 1.0},
                                        {1, 0, 0.6},
                                        {1, 1, 1.0},
                                        {2, 0, 1.0},
                                        {2, 1, 1.3},
                                        {3, 0, 1.0},
                                        {4, 0, 1.0},
                                        {4, 4, 0.8},
                                        {5, 3, 1.0},
                                        {6, 0, 1.0},
                                        // the exchange with and without mirrors, of all kinds of order
                                        {6, 6, 1.0},
                                        {4, 4, 1.0},
                                        {2, 2, 1.0},
                                        {7, 7, 1.0},
                                        {8, 8, 1.0},
                                        {5, 5, 1.0},
                                        // no exchange, no mirror
                                        {7, 2, 1.0},
                                        {8, 1, 1.0},
                                        {5, 1, 0.5}};

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
    // Three blades: turns, but no mirror. A triangle of three different sides: nothing at all.
    double blades[12];
    for (int i = 0; i < 6; i++) {
        const double r = i % 2 == 0 ? 1.0 : 0.45, a = i * CORE_PI / 3.0 + (i % 2 == 0 ? 0.3 : 0.0);
        blades[2 * i] = r * cos(a), blades[2 * i + 1] = r * sin(a);
    }
    const double scalene[] = {-0.7, -0.4, 1.0, -0.2, 0.1, 0.6};
    if (s == CORE_OK) s = fixture_make("blades", 1, &six, blades, GRID, &shapes[7], NULL);
    if (s == CORE_OK) s = fixture_make("scalene", 1, &three, scalene, GRID, &shapes[8], NULL);
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
    return cspace_fold_make(&shapes[p->a].shape, &shapes[p->b].shape, p->ratio, true);
}

// An image between the frames of the outlines instead of those of the cells.
static cspace_pose unaligned(const cspace_fold *fold, const cspace_pose *image) {
    const double c = cos(fold->origin_a), s = sin(fold->origin_a);
    return (cspace_pose){image->theta + fold->origin_a - fold->origin_b, c * image->x - s * image->y,
                         s * image->x + c * image->y};
}

// Stands in for a net: smooth, without any symmetry, periodic in theta. Derivative unless NULL.
static double arbitrary(const cspace_pose *q, double slope[3]) {
    const double c = cos(q->theta), s = sin(q->theta), e = sin(1.3 * q->x + 0.4 * q->y * q->y + 0.7 * s + 0.2);
    const double de = cos(1.3 * q->x + 0.4 * q->y * q->y + 0.7 * s + 0.2);
    if (slope) {
        slope[0] = 0.7 * c * de - 0.5 * s * q->y;
        slope[1] = 1.3 * de;
        slope[2] = 0.8 * q->y * de + 0.5 * c;
    }
    return e + 0.5 * c * q->y;
}

// The blend of `arbitrary`, as a map blends its nets.
static double blended(const cspace_fold *fold, const cspace_pose *q, double slope[3]) {
    cspace_image images[CSPACE_IMAGES_MAX];
    const int count = cspace_fold_images(fold, q, 1.0, images);
    double sum = 0.0;
    if (slope) slope[0] = slope[1] = slope[2] = 0.0;
    for (int i = 0; i < count; i++) {
        double own[3], asked[3];
        const double value = arbitrary(&images[i].pose, own);
        sum += images[i].weight * value;
        cspace_image_return(&images[i], own, asked);
        for (int k = 0; slope && k < 3; k++)
            slope[k] += images[i].weight * asked[k] + value * images[i].weight_slope[k];
    }
    return sum;
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
    assert_true(hh.swap && hh.blend_width == CSPACE_BLEND_WIDTH);
    // The U's base is nearer to its centroid than its tips: cells are centred on the bearing of the base.
    assert_true(uh.order_a == 1 && uh.order_b == 4 && uh.mirror && !uh.swap);
    assert_true(angle_difference(uh.origin_a, -0.5 * CORE_PI) < 1e-15);
    assert_true(nh.order_a == 2 && nh.order_b == 4 && !nh.mirror && isnan(nh.mirror_a));
    const cspace_fold smaller = cspace_fold_make(&shapes[4].shape, &shapes[4].shape, 0.8, true);
    assert_false(smaller.swap); // the same shape in two sizes
    const cspace_fold off = cspace_fold_make(&shapes[0].shape, &shapes[0].shape, 1.0, false);
    assert_true(off.identity && off.order_a == 1 && off.order_b == 1 && !off.mirror && off.count_kinks == 0);
    const cspace_pose q = {7.0, 0.1, -0.2};
    cspace_image f[CSPACE_IMAGES_MAX];
    assert_int_equal(cspace_fold_images(&off, &q, 1.0, f), 1);
    assert_memory_equal(&f[0].pose, &q, sizeof q);
    assert_true(f[0].weight == 1.0 && cspace_fold_branch(&off, &q) == 0);
}

// Angles of parallel faces: quarter turns for two #; those and the slants for N; none where all edges are short.
static void test_kinks(void **state) {
    (void)state;
    const cspace_fold hh = make_fold(&pairs[0]), nh = make_fold(&pairs[3]), disc = make_fold(&pairs[8]);
    assert_int_equal(hh.count_kinks, 4);
    assert_int_equal(nh.count_kinks, 8);
    assert_int_equal(disc.count_kinks, 0);
    for (int i = 0; i < hh.count_kinks; i++)
        assert_true(fabs(hh.kinks[i] - 0.5 * CORE_PI * round(hh.kinks[i] / (0.5 * CORE_PI))) < 1e-12);
    // A chamfer is no face.
    const double chamfered[] = {-1.0, -1.0, 1.0, -1.0, 1.0, 0.9, 0.9, 1.0, -1.0, 1.0};
    const int five = 5;
    fixture block;
    assert_int_equal(fixture_make("block", 1, &five, chamfered, GRID, &block, NULL), CORE_OK);
    const cspace_fold bb = cspace_fold_make(&block.shape, &block.shape, 0.5, true);
    assert_int_equal(bb.count_kinks, 4);
    fixture_clear(&block);
    double slope;
    assert_close(cspace_fold_kink(&hh, 0.3, &slope), 0.3, 1e-15);
    assert_true(slope == 1.0);
    assert_close(cspace_fold_kink(&hh, 7.3, &slope), 2.5 * CORE_PI - 7.3, 1e-12);
    assert_true(slope == -1.0);
    assert_close(cspace_fold_kink(&disc, 0.3, &slope), CORE_PI, 0.0);
    assert_true(slope == 0.0);
}

// Every image has the exact distance and overlap of the pose, the first one lies in the domain and is its own image;
// weights sum to one.
static void test_domain_and_invariance(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 11, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        int count_images = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            const cspace_pose q = fixture_pose(&r, 1.9);
            cspace_image f[CSPACE_IMAGES_MAX], again[CSPACE_IMAGES_MAX];
            const int count = cspace_fold_images(&fold, &q, CSPACE_FOLD_REACH, f);
            assert_true(count >= 1 && count <= CSPACE_IMAGES_MAX);
            count_images += count;
            double weight = 0.0, slope[3] = {0.0, 0.0, 0.0};
            for (int i = 0; i < count; i++) {
                const cspace_pose there = unaligned(&fold, &f[i].pose);
                if (fabs(exact_distance(&pairs[k], false, &q) - exact_distance(&pairs[k], false, &there)) > 1e-9 ||
                    fabs(exact_overlap(&pairs[k], &q) - exact_overlap(&pairs[k], &there)) > 1e-9)
                    fail_msg("pair %d trial %d: image %d is none", k, trial, i);
                weight += f[i].weight;
                for (int j = 0; j < 3; j++) slope[j] += f[i].weight_slope[j];
            }
            assert_close(weight, 1.0, 1e-15);
            assert_true(fabs(slope[0]) + fabs(slope[1]) + fabs(slope[2]) < 1e-12);
            const double alpha = atan2(f[0].pose.y, f[0].pose.x);
            const double beta = remainder(alpha + CORE_PI - f[0].pose.theta, 2.0 * CORE_PI);
            if (!fold.swap || fold.mirror || fold.order_a > 1)
                assert_true(fabs(alpha) <= CORE_PI / fold.order_a + 1e-12);
            if (!fold.swap) assert_true(fabs(beta) <= CORE_PI / fold.order_b + 1e-12);
            if (fold.swap && fold.mirror) assert_true(fabs(beta) <= alpha + 1e-12);
            if (fold.mirror && !fold.swap) assert_true((fold.order_b < fold.order_a ? beta : alpha) >= -1e-12);
            const cspace_pose there = unaligned(&fold, &f[0].pose);
            assert_int_equal(cspace_fold_images(&fold, &there, CSPACE_FOLD_REACH, again), count);
            assert_same_pose(&again[0].pose, &f[0].pose, 1e-13);
            assert_false(again[0].mirrored || again[0].swapped);
            assert_close(again[0].weight, f[0].weight, 1e-12);
        }
        print_message("pair %d: %.2f images in widened strips\n", k, (double)count_images / TRIALS);
    }
}

// A symmetry of the pair applied to a pose.
static cspace_pose move(const cspace_fold *fold, const cspace_pose *q, int turn_a, int turn_b, bool mirror, bool swap) {
    const double a = turn_a * 2.0 * CORE_PI / fold->order_a, b = turn_b * 2.0 * CORE_PI / fold->order_b;
    cspace_pose image = {q->theta - a + b, cos(a) * q->x + sin(a) * q->y, cos(a) * q->y - sin(a) * q->x};
    if (mirror) {
        const double c = cos(2.0 * fold->mirror_a), s = sin(2.0 * fold->mirror_a);
        image = (cspace_pose){2.0 * (fold->mirror_a - fold->mirror_b) - image.theta, c * image.x + s * image.y,
                              s * image.x - c * image.y};
    }
    return swap ? cspace_swap_pose(&image) : image;
}

// The blend has the symmetries of the pair, whatever is blended; quarter turns of A change no bit.
static void test_symmetries(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 12, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        for (int trial = 0; trial < 400; trial++) {
            const cspace_pose q = fixture_pose(&r, 1.9);
            const int turn_a = random_below(&r, fold.order_a);
            const int turn_b = random_below(&r, fold.order_b);
            const cspace_pose image =
                move(&fold, &q, turn_a, turn_b, fold.mirror && trial % 2 == 1, fold.swap && trial % 4 >= 2);
            assert_close(blended(&fold, &image, NULL), blended(&fold, &q, NULL), 1e-11);
            if (fold.order_a != 4 || fold.order_b != 4) continue;
            const cspace_pose quarter = {q.theta + 0.5 * CORE_PI, -q.y, q.x};
            cspace_image f[CSPACE_IMAGES_MAX], g[CSPACE_IMAGES_MAX];
            cspace_fold_images(&fold, &q, 1.0, f);
            cspace_fold_images(&fold, &quarter, 1.0, g);
            if (!f[0].swapped) assert_true(g[0].pose.x == f[0].pose.x && g[0].pose.y == f[0].pose.y);
        }
    }
}

// Derivative of the blend against central differences, in and out of strips.
static void test_blend_derivative(void **state) {
    (void)state;
    const double h = 1e-6;
    core_random r;
    core_random_init(&r, 17, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        int strips = 0;
        double worst = 0.0;
        for (int trial = 0; trial < 2000; trial++) {
            const cspace_pose q = fixture_pose(&r, 1.9);
            if (q.x * q.x + q.y * q.y < 0.01) continue; // bearings turn fast there
            const cspace_pose low[3] = {{q.theta - h, q.x, q.y}, {q.theta, q.x - h, q.y}, {q.theta, q.x, q.y - h}};
            const cspace_pose high[3] = {{q.theta + h, q.x, q.y}, {q.theta, q.x + h, q.y}, {q.theta, q.x, q.y + h}};
            double slope[3];
            cspace_image f[CSPACE_IMAGES_MAX];
            blended(&fold, &q, slope);
            bool same = true;
            for (int i = 0; i < 3; i++)
                same = same && cspace_fold_branch(&fold, &low[i]) == cspace_fold_branch(&fold, &high[i]);
            if (!same) continue;
            strips += cspace_fold_images(&fold, &q, 1.0, f) > 1 ? 1 : 0;
            for (int i = 0; i < 3; i++) {
                const double found = (blended(&fold, &high[i], NULL) - blended(&fold, &low[i], NULL)) / (2.0 * h);
                worst = fmax(worst, fabs(found - slope[i]) / (1.0 + fabs(slope[i])));
            }
        }
        print_message("pair %d: slopes to %.2g, %d poses in strips\n", k, worst, strips);
        assert_true(worst < 1e-5);
        assert_true(fold.identity || strips > 5);
    }
}

// Walks along straight paths: where the branch changes, the blend is continuous. Without blending it jumps at glued
// faces.
static void test_continuous_over_faces(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 18, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        cspace_fold hard = fold;
        hard.blend_width = 0.0;
        int faces = 0;
        double worst = 0.0, worst_hard = 0.0;
        for (int trial = 0; trial < 300; trial++) {
            cspace_pose p = fixture_pose(&r, 1.9), q = fixture_pose(&r, 1.9);
            p.x += p.x > 0.0 ? 0.1 : -0.1;
            if (cspace_fold_branch(&fold, &p) == cspace_fold_branch(&fold, &q)) continue;
            for (int i = 0; i < 60; i++) {
                const cspace_pose m = {0.5 * (p.theta + q.theta), 0.5 * (p.x + q.x), 0.5 * (p.y + q.y)};
                if (cspace_fold_branch(&fold, &m) == cspace_fold_branch(&fold, &p))
                    p = m;
                else
                    q = m;
            }
            faces++;
            worst = fmax(worst, fabs(blended(&fold, &p, NULL) - blended(&fold, &q, NULL)));
            worst_hard = fmax(worst_hard, fabs(blended(&hard, &p, NULL) - blended(&hard, &q, NULL)));
        }
        print_message("pair %d: %d faces crossed, jump %.2g blended, %.2g not blended\n", k, faces, worst, worst_hard);
        assert_true(worst < 1e-9);
        assert_true(fold.identity || (faces > 100 && worst_hard > 0.02));
    }
}

// Gradients by central differences of the exact distance, at the pose and at each of its images.
static void test_gradients(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 13, 0);
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        const double c = cos(fold.origin_a), s = sin(fold.origin_a);
        int tested = 0;
        for (int trial = 0; trial < 100 && tested < 25; trial++) {
            const cspace_pose q = fixture_pose(&r, 2.2);
            cspace_image f[CSPACE_IMAGES_MAX];
            cspace_contact here, there;
            const int count = cspace_fold_images(&fold, &q, 1.0, f);
            if (!exact_contact(&pairs[k], false, &q, &here)) continue;
            for (int i = 0; i < count; i++) {
                const cspace_pose image = unaligned(&fold, &f[i].pose);
                if (!exact_contact(&pairs[k], false, &image, &there)) continue;
                tested++;
                // into the frames of the cells
                const double slope[3] = {there.d_theta, c * there.g[0] + s * there.g[1],
                                         c * there.g[1] - s * there.g[0]};
                double asked[3];
                cspace_image_return(&f[i], slope, asked);
                if (fabs(asked[0] - here.d_theta) > 2e-7 || fabs(asked[1] - here.g[0]) > 2e-7 ||
                    fabs(asked[2] - here.g[1]) > 2e-7)
                    fail_msg("pair %d: gradient (%.9g, %.9g, %.9g), returned (%.9g, %.9g, %.9g)", k, here.d_theta,
                             here.g[0], here.g[1], asked[0], asked[1], asked[2]);
            }
        }
        assert_true(tested >= 20);
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
    const cspace_fold fold = cspace_fold_make(p.a, p.b, 1.0, true);
    cspace_search_def search = cspace_search_default_def();
    search.tolerance = 1e-7;
    int tested = 0, arms_differ = 0;
    for (int trial = 0; trial < 800; trial++) {
        const cspace_pose q = fixture_pose(&r, 1.8);
        cspace_image f[CSPACE_IMAGES_MAX];
        cspace_contact here, there;
        cspace_fold_images(&fold, &q, 1.0, f);
        const cspace_pose image = unaligned(&fold, &f[0].pose);
        cspace_numeric_contact(&p, &search, &q, &here);
        cspace_numeric_contact(&p, &search, &image, &there);
        const double c = cos(fold.origin_a), s = sin(fold.origin_a);
        const double slope[3] = {there.d_theta, c * there.g[0] + s * there.g[1], c * there.g[1] - s * there.g[0]};
        double asked[3];
        cspace_image_return(&f[0], slope, asked);
        there.d_theta = asked[0];
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
    f = make_fold(&pairs[1]), f.swap = true; // shapes of different order
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.origin_b = 0.5 * CORE_PI;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.blend_width = -0.01;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.count_kinks = CSPACE_KINKS_MAX + 1;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    f = good, f.kinks[0] = NAN;
    assert_int_equal(cspace_fold_prepare(&f, &err), CORE_RANGE);
    assert_int_equal(cspace_fold_prepare(NULL, &err), CORE_ARG);
    const cspace_pose nowhere = {NAN, NAN, NAN};
    cspace_image images[CSPACE_IMAGES_MAX];
    for (int k = 0; k < COUNT_PAIRS; k++) {
        f = make_fold(&pairs[k]);
        assert_int_equal(cspace_fold_images(&f, &nowhere, 1.0, images), 1);
        assert_true(isnan(images[0].pose.x));
    }
}

// Where the bearings have no direction: one centre on the other.
static void test_centres_meet(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_PAIRS; k++) {
        const cspace_fold fold = make_fold(&pairs[k]);
        const cspace_pose q = {0.4, 0.0, 0.0};
        double slope[3];
        assert_true(isfinite(blended(&fold, &q, slope)) && isfinite(slope[0] + slope[1] + slope[2]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expected_folds),
                                       cmocka_unit_test(test_kinks),
                                       cmocka_unit_test(test_domain_and_invariance),
                                       cmocka_unit_test(test_symmetries),
                                       cmocka_unit_test(test_blend_derivative),
                                       cmocka_unit_test(test_continuous_over_faces),
                                       cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_minimiser_agrees),
                                       cmocka_unit_test(test_swap),
                                       cmocka_unit_test(test_swap_moment_arms),
                                       cmocka_unit_test(test_bad_folds),
                                       cmocka_unit_test(test_centres_meet)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
