// Exact labels: apart against the distance of outlines by GEOS, in overlap against the translations that end it (GEOS
// areas), closed forms, gradients by differences, identities, the exchange of the pair, threads, failing memory.
#include "cspace_asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { HASH, LETTER_U, LETTER_N, LETTER_O, SQUARE, DISC, COUNT_SHAPES, CORNERS = 40, DIRECTIONS = 256 };

static const struct {
    const char *name;
    int a, b;
    double ratio;
} cases[] = {{"#-#", HASH, HASH, 1.0},
             {"U-U", LETTER_U, LETTER_U, 1.0},
             {"N-#", LETTER_N, HASH, 1.0},
             {"O-O", LETTER_O, LETTER_O, 1.0},
             {"#-U .3", HASH, LETTER_U, 0.3},
             {"O-square .3", LETTER_O, SQUARE, 0.3},
             {"square-N 2", SQUARE, LETTER_N, 2.0}};
enum { COUNT_CASES = sizeof cases / sizeof *cases };

static core_status make_disc(int resolution, fixture *f, core_error *err) {
    return fixture_disc(CORNERS, resolution, f, err);
}

static int setup(void **state) {
    (void)state;
    fixture_maker *const make[COUNT_SHAPES] = {fixture_hash, fixture_u,      fixture_n,
                                               fixture_o,    fixture_square, make_disc};
    return shapes_make(make, COUNT_SHAPES);
}

static cspace_contact contact_at(const asked *q, double theta, double x, double y) {
    cspace_contact c;
    cspace_exact_contact(q->exact, &(cspace_pose){theta, x, y}, &c, q->scratch);
    return c;
}

static double area_at(const cspace_pair *p, const cspace_pose *q, double dx, double dy) {
    const sdf_posed a = {&p->a->outline, p->scale_a, 0.0, 0.0, 0.0};
    const sdf_posed b = {&p->b->outline, p->scale_b, q->theta, q->x + dx, q->y + dy};
    double area, depth;
    assert_int_equal(sdf_posed_overlap(&a, &b, &area, &depth, NULL), CORE_OK);
    return area;
}

static void test_apart(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_CASES; k++) {
        asked q = ask(cases[k].a, cases[k].b, cases[k].ratio);
        core_random random;
        core_random_init(&random, 1, (uint64_t)k);
        const cspace_search_def search = cspace_search_default_def();
        double worst = 0.0, worst_minimiser = 0.0;
        int apart = 0;
        for (int i = 0; i < 500; i++) {
            cspace_pose pose = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b);
            cspace_contact c = contact_at(&q, pose.theta, pose.x, pose.y);
            const sdf_posed a = {&q.pair.a->outline, q.pair.scale_a, 0.0, 0.0, 0.0};
            const sdf_posed b = {&q.pair.b->outline, q.pair.scale_b, pose.theta, pose.x, pose.y};
            double distance;
            assert_int_equal(sdf_posed_distance(&a, &b, &distance, NULL), CORE_OK);
            if ((c.d > 0.0) != (distance > 0.0)) fail_msg("%s: d %g, GEOS %g", cases[k].name, c.d, distance);
            if (distance <= 0.0) continue;
            cspace_minimum m;
            cspace_minimise(&q.pair, &search, &pose, &m);
            worst = fmax(worst, fabs(c.d - distance));
            worst_minimiser = fmax(worst_minimiser, fabs(c.d - m.d));
            apart++;
        }
        print_message("%s: %d apart, from GEOS at most %.1e, from the minimiser %.4f\n", cases[k].name, apart, worst,
                      worst_minimiser);
        assert_true(apart > 50);
        assert_true(worst < 1e-9);
        assert_true(worst_minimiser < 0.006); // of a grid of 128 cells
        asked_clear(&q);
    }
}

// The depth along g ends the overlap, nothing shorter does in any direction.
static void test_depth(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_CASES; k++) {
        asked q = ask(cases[k].a, cases[k].b, cases[k].ratio);
        core_random random;
        core_random_init(&random, 2, (uint64_t)k);
        double left = 0.0, deepest = 0.0;
        for (int n = 0; n < 8;) {
            cspace_pose pose = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b);
            cspace_contact c = contact_at(&q, pose.theta, pose.x, pose.y);
            if (c.d > -1e-3) continue;
            double by = -c.d * (1.0 + 1e-9) + 1e-12, short_by = -0.999 * c.d;
            left = fmax(left, area_at(&q.pair, &pose, by * c.g[0], by * c.g[1]));
            for (int i = 0; i < DIRECTIONS; i++) {
                double a = 2.0 * CORE_PI * i / DIRECTIONS;
                if (area_at(&q.pair, &pose, short_by * cos(a), short_by * sin(a)) <= 0.0)
                    fail_msg("%s: theta %.17g, t %.17g, %.17g: depth %g, but %g in direction %g ends the overlap",
                             cases[k].name, pose.theta, pose.x, pose.y, -c.d, short_by, a);
            }
            if (area_at(&q.pair, &pose, short_by * c.g[0], short_by * c.g[1]) <= 0.0)
                fail_msg("%s: too deep", cases[k].name);
            deepest = fmin(deepest, c.d);
            n++;
        }
        print_message("%s: area left at most %.1e, deepest %.3f\n", cases[k].name, left, deepest);
        assert_true(left < 1e-9);
        asked_clear(&q);
    }
}

static void test_closed_forms(void **state) {
    (void)state;
    asked q = ask(SQUARE, SQUARE, 1.0);
    const double side = sqrt(2.0), tip = 0.5 * side + 1.0;
    assert_close(contact_at(&q, 0.0, side + 0.3, 0.2).d, 0.3, 1e-14);
    assert_close(contact_at(&q, 0.0, side - 0.3, 0.2).d, -0.3, 1e-14);
    assert_close(contact_at(&q, 0.0, side + 0.3, side + 0.4).d, 0.5, 1e-14);
    assert_close(contact_at(&q, 0.0, 0.0, side - 0.3).d, -0.3, 1e-14); // sides in line
    assert_close(contact_at(&q, 0.0, 0.0, side).d, 0.0, 1e-14);
    assert_close(contact_at(&q, 0.0, side, side).d, 0.0, 1e-14);
    cspace_contact c = contact_at(&q, CORE_PI / 4.0, 0.1, tip - 0.05);
    assert_close(c.d, -0.05, 1e-14);
    assert_close(c.g[0], 0.0, 1e-14);
    assert_close(c.g[1], 1.0, 1e-14);
    assert_close(c.d_theta, 0.0, 1e-14);
    assert_close(c.r_a, 0.5 * side - 0.025, 1e-14);
    assert_close(c.r_b, -1.0 + 0.025, 1e-14);
    asked_clear(&q);
    q = ask(DISC, DISC, 0.5);
    const double in = cos(CORE_PI / CORNERS); // face of one against corner of the other
    assert_close(contact_at(&q, 0.0, 2.0, 0.0).d, 0.5, 1e-12);
    for (int i = 0; i < CORNERS; i++) {
        double a = 2.0 * CORE_PI * (i + 0.5) / CORNERS, r = 1.5 * in;
        assert_close(contact_at(&q, 0.0, (r - 0.2) * cos(a), (r - 0.2) * sin(a)).d, -0.2, 1e-12);
        assert_close(contact_at(&q, 0.0, (r + 0.2) * cos(a), (r + 0.2) * sin(a)).d, 0.2, 1e-12);
    }
    asked_clear(&q);
    // a small square in the middle of the # has room: half a side of the hole less half its own
    q = ask(HASH, SQUARE, 0.05);
    double hole = fabs(shapes[HASH].shape.outline.xy[2 * shapes[HASH].shape.outline.ring_start[1]]);
    assert_close(contact_at(&q, 0.0, 0.0, 0.0).d, hole - 0.05 / side, 1e-12);
    asked_clear(&q);
}

// Differences are those of one contact only where d has no kink in between: the median has to be sharp, most have to.
static void test_gradients(void **state) {
    (void)state;
    const double h = 1e-6;
    for (int k = 0; k < COUNT_CASES; k++) {
        asked q = ask(cases[k].a, cases[k].b, cases[k].ratio);
        core_random random;
        core_random_init(&random, 3, (uint64_t)k);
        int n = 0, wrong = 0, inside = 0;
        for (int i = 0; i < 400; i++) {
            cspace_pose p = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b);
            cspace_contact c = contact_at(&q, p.theta, p.x, p.y);
            double rate[3] = {
                (contact_at(&q, p.theta + h, p.x, p.y).d - contact_at(&q, p.theta - h, p.x, p.y).d) / (2.0 * h),
                (contact_at(&q, p.theta, p.x + h, p.y).d - contact_at(&q, p.theta, p.x - h, p.y).d) / (2.0 * h),
                (contact_at(&q, p.theta, p.x, p.y + h).d - contact_at(&q, p.theta, p.x, p.y - h).d) / (2.0 * h)};
            wrong +=
                !(fabs(rate[0] - c.d_theta) < 1e-4 && fabs(rate[1] - c.g[0]) < 1e-4 && fabs(rate[2] - c.g[1]) < 1e-4);
            inside += c.d < 0.0;
            n++;
            assert_close(sqrt(c.g[0] * c.g[0] + c.g[1] * c.g[1]), 1.0, 1e-9);
            assert_close(c.r_a - c.r_b, p.x * c.g[0] + p.y * c.g[1], 1e-14);
        }
        print_message("%s: %d of %d gradients (%d in overlap) differ from differences over 2e-6\n", cases[k].name,
                      wrong, n, inside);
        assert_true(inside > 50);
        assert_true(wrong <= n / 200);
        asked_clear(&q);
    }
}

static void test_exchange(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_CASES; k++) {
        asked q = ask(cases[k].a, cases[k].b, cases[k].ratio),
              other = ask(cases[k].b, cases[k].a, 1.0 / cases[k].ratio);
        core_random random;
        core_random_init(&random, 4, (uint64_t)k);
        int differ = 0;
        for (int i = 0; i < 200; i++) {
            cspace_pose p = fixture_pose(&random, q.pair.scale_a + q.pair.scale_b), p_other = cspace_swap_pose(&p);
            cspace_contact c = contact_at(&q, p.theta, p.x, p.y),
                           back = contact_at(&other, p_other.theta, p_other.x, p_other.y);
            cspace_swap_return(&p, &back);
            assert_close(back.d, c.d, 1e-11);
            differ += fabs(back.d_theta - c.d_theta) + fabs(back.g[0] - c.g[0]) + fabs(back.g[1] - c.g[1]) +
                          fabs(back.r_a - c.r_a) + fabs(back.r_b - c.r_b) >
                      1e-6;
        }
        if (differ > 2) fail_msg("%s: %d contacts differ in the other order", cases[k].name, differ);
        asked_clear(&q);
        asked_clear(&other);
    }
}

static void test_band(void **state) {
    (void)state;
    asked q = ask(HASH, LETTER_U, 0.7);
    core_random random;
    core_random_init(&random, 5, 0);
    int within = 0;
    for (int i = 0; i < 3000; i++) {
        cspace_pose p = fixture_pose(&random, 1.7);
        cspace_contact c = contact_at(&q, p.theta, p.x, p.y), near;
        assert_int_equal(cspace_exact_near(q.exact, &p, 0.1, &near, q.scratch), fabs(c.d) <= 0.1);
        within += fabs(c.d) <= 0.1;
        if (fabs(c.d) <= 0.1) assert_close(near.d, c.d, 1e-14);
        assert_int_equal(cspace_exact_reaches(q.exact, &p, 0.1, &near, q.scratch), c.d <= 0.1);
        if (c.d <= 0.1) assert_close(near.d, c.d, 1e-14);
    }
    assert_true(within > 300);
    assert_true(isnan(contact_at(&q, NAN, 0.0, 0.0).d));
    assert_true(isnan(contact_at(&q, 0.0, INFINITY, 0.0).d));
    asked_clear(&q);
}

static void test_samples(void **state) {
    (void)state;
    asked q = ask(LETTER_U, HASH, 0.8);
    cspace_sample_def def = cspace_sample_default_def();
    def.samples = 3000;
    def.held_out = 300;
    uint64_t hash = cspace_sample_input_hash(&q.pair, &def);
    def.labels = CSPACE_LABELS_EXACT;
    assert_true(cspace_sample_input_hash(&q.pair, &def) != hash);
    cspace_samples one = {0}, two = {0};
    assert_int_equal(cspace_sample(&q.pair, &def, NULL, &one, NULL), CORE_OK);
    def.threads = 2;
    assert_int_equal(cspace_sample(&q.pair, &def, NULL, &two, NULL), CORE_OK);
    assert_string_equal(one.labels, "exact");
    assert_memory_equal(one.training.pose, two.training.pose, 9000 * sizeof(double));
    assert_memory_equal(one.training.distance, two.training.distance, 3000 * sizeof(double));
    assert_memory_equal(one.training.gradient, two.training.gradient, 9000 * sizeof(double));
    assert_memory_equal(one.held_out.moment_arm, two.held_out.moment_arm, 600 * sizeof(double));
    for (int i = 0; i < 3000; i++) {
        const double *p = one.training.pose + 3 * i;
        assert_close(one.training.distance[i], contact_at(&q, p[0], p[1], p[2]).d, 1e-13);
    }
    cspace_samples_clear(&one);
    cspace_samples_clear(&two);
    def.labels = (cspace_labels)7;
    assert_int_equal(cspace_sample(&q.pair, &def, NULL, &one, NULL), CORE_ARG);
    asked_clear(&q);
}

static void test_memory(void **state) {
    (void)state;
    asked q = ask(HASH, LETTER_O, 1.0);
    cspace_exact *exact = NULL;
    cspace_exact_scratch *scratch = NULL;
    assert_int_equal(cspace_exact_create(NULL, &exact, NULL), CORE_ARG);
    assert_int_equal(cspace_exact_scratch_create(NULL, &scratch, NULL), CORE_ARG);
    uint64_t before = core_alloc_count();
    assert_int_equal(cspace_exact_create(&q.pair, &exact, NULL), CORE_OK);
    assert_int_equal(cspace_exact_scratch_create(exact, &scratch, NULL), CORE_OK);
    const uint64_t needed = core_alloc_count() - before;
    cspace_exact_scratch_destroy(&scratch);
    cspace_exact_destroy(&exact);
    for (uint64_t n = 1;; n++) {
        core_alloc_fail_after(n);
        core_status status = cspace_exact_create(&q.pair, &exact, NULL);
        if (status == CORE_OK) status = cspace_exact_scratch_create(exact, &scratch, NULL);
        core_alloc_fail_after(0);
        cspace_exact_destroy(&exact);
        if (status == CORE_OK) {
            assert_true(n == needed + 1); // not before every single one has failed
            break;
        }
        assert_int_equal(status, CORE_MEMORY);
        assert_null(scratch);
        assert_true(n < 100);
    }
    cspace_exact_scratch_destroy(&scratch);
    uint64_t count = core_alloc_count();
    contact_at(&q, 0.3, 0.2, 0.1);
    contact_at(&q, 0.3, 1.7, 0.1);
    assert_true(core_alloc_count() == count);
    asked_clear(&q);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart),        cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_exchange),     cmocka_unit_test(test_band),
                                       cmocka_unit_test(test_samples),      cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, setup, shapes_clear);
}
