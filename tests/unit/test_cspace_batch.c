/// The loops over batches of poses against one pose at a time, and the two instruction sets against each other, to the
/// bit.
#include "cspace_batch.h"
#include "cspace_fixture.h"
#include "random_below.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

enum { N = CSPACE_BATCH_ROWS, ROUNDS = 40, FOLDS = 4 };
static cspace_fold folds[FOLDS];

static int make(void **state) {
    (void)state;
    fixture f = {0};
    static const double bar[] = {-2, -.5, 2, -.5, 2, .5, -2, .5};
    static const int corners = 4;
    for (int k = 0; k < FOLDS; k++) {
        core_status s = k == 0   ? fixture_hash(16, &f, NULL)
                        : k == 1 ? fixture_u(16, &f, NULL)
                        : k == 2 ? fixture_make("bar", 1, &corners, bar, 16, &f, NULL)
                                 : fixture_square(16, &f, NULL);
        if (s != CORE_OK) return -1;
        folds[k] = cspace_fold_make(&f.shape, &f.shape, 1.0, true);
        fixture_clear(&f);
    }
    return 0;
}

static void fill(core_random *r, cspace_pose *poses, cspace_batch *b) {
    for (int i = 0; i < N; i++) {
        poses[i] = fixture_pose(r, 2.0);
        if (i % 8 == 0) poses[i].theta = 0.5 * CORE_PI * (random_below(r, 9) - 4);
        if (i % 8 == 1) poses[i].y = 0.0;
        if (i % 8 == 2) poses[i].x = -poses[i].y;
        if (i % 8 == 3) poses[i].theta *= 1000.0;
        b->theta[i] = poses[i].theta, b->x[i] = poses[i].x, b->y[i] = poses[i].y;
        core_sincos(b->theta[i], &b->s[i], &b->c[i]);
    }
}

static void check(const char *what, int fold, int i, double found, double expected) {
    if (!(fabs(found - expected) <= 1e-11))
        fail_msg("fold %d, row %d, %s: found %.17g, expected %.17g", fold, i, what, found, expected);
}

static void rows_are_the_images_of_their_poses(void **state) {
    (void)state;
    static cspace_batch b;
    static cspace_pose poses[N];
    core_random r;
    core_random_init(&r, 3, 0);
    int checked[FOLDS] = {0}, strips = 0;
    for (int k = 0; k < FOLDS * ROUNDS; k++) {
        const cspace_fold *fold = &folds[k % FOLDS];
        assert_true(cspace__batch_knows(fold, CSPACE_TWOFRAME) && !cspace__batch_knows(fold, CSPACE_RAW));
        fill(&r, poses, &b);
        cspace__batch_baseline.fold(fold, N, &b);
        cspace__batch_baseline.encode(fold, N, &b);
        for (int i = 0; i < N; i++) {
            cspace_image images[CSPACE_IMAGES_MAX];
            const int count = cspace_fold_images(fold, &poses[i], 1.0, images);
            strips += count > 1;
            if (fabs(b.at[i] - 1.0) > 1e-9) assert_int_equal(count > 1, b.at[i] < 1.0);
            const cspace_image *image = &images[0];
            // on a wall either side is right: compared where both chose the same
            if ((image->swapped ? -1.0 : 1.0) * b.exchange[i] < 0.0 ||
                (image->mirrored ? -1.0 : 1.0) * b.mirror[i] < 0.0 ||
                image->turn[0] * b.turn_x[i] + image->turn[1] * b.turn_y[i] < 0.5) {
                assert_true(i % 8 < 3);
                continue;
            }
            check("theta", k % FOLDS, i, core_wrap_angle(b.theta[i] - image->pose.theta), 0.0);
            check("x", k % FOLDS, i, b.x[i], image->pose.x);
            check("y", k % FOLDS, i, b.y[i], image->pose.y);
            check("turn x", k % FOLDS, i, b.turn_x[i], image->turn[0]);
            check("turn y", k % FOLDS, i, b.turn_y[i], image->turn[1]);
            check("frame x", k % FOLDS, i, b.frame_x[i], image->frame[0]);
            check("frame y", k % FOLDS, i, b.frame_y[i], image->frame[1]);
            check("lever x", k % FOLDS, i, b.lever_x[i], image->lever[0]);
            check("lever y", k % FOLDS, i, b.lever_y[i], image->lever[1]);
            check("cosine", k % FOLDS, i, b.c[i], cos(image->pose.theta));
            check("sine", k % FOLDS, i, b.s[i], sin(image->pose.theta));
            cspace_inputs inputs;
            cspace_encode(CSPACE_TWOFRAME, fold, &image->pose, &inputs, NULL);
            for (int c = 0; c < cspace_encoding_inputs(CSPACE_TWOFRAME, fold); c++)
                if (!(fabs((double)b.input[c][i] - inputs.x[c]) < 1e-6))
                    fail_msg("fold %d, row %d, input %d: found %.9g, expected %.9g", k % FOLDS, i, c,
                             (double)b.input[c][i], inputs.x[c]);
            checked[k % FOLDS]++;
        }
    }
    for (int k = 0; k < FOLDS; k++) assert_true(checked[k] > ROUNDS * N / 2);
    assert_true(strips > 500);
    assert_int_equal(folds[0].order_a, 4);
    assert_int_equal(folds[1].order_a, 1);
    assert_int_equal(folds[2].order_a, 2);
}

static void instruction_sets_give_the_same_bits(void **state) {
    (void)state;
    if (!nn_isa_available(NN_ISA_AVX2)) {
        print_message("no AVX2 here: nothing to compare\n");
        return;
    }
    static cspace_batch b[2];
    static cspace_pose poses[N];
    core_random r;
    core_random_init(&r, 4, 0);
    for (int k = 0; k < FOLDS * ROUNDS; k++) {
        const cspace_fold *fold = &folds[k % FOLDS];
        const int n = N - k % 23; // every remainder of a vector
        memset(b, 0, sizeof b);
        fill(&r, poses, &b[0]);
        for (int c = 0; c < CSPACE_INPUTS_MAX; c++)
            for (int i = 0; i < N; i++) b[0].gradient[c][i] = (float)(2.0 * core_random_uniform(&r) - 1.0);
        if (k % 2 == 0) poses[k % N].x = b[0].x[k % N] = NAN;
        for (int c = 0; c < CSPACE_INPUTS_MAX && k % 3 == 0; c++) b[0].gradient[c][5] = 0.0f;
        b[1] = b[0];
        for (int m = 0; m < 2; m++) {
            const cspace_batch_ops *ops = m == 0 ? &cspace__batch_baseline : &cspace__batch_avx2;
            ops->fold(fold, n, &b[m]);
            ops->encode(fold, n, &b[m]);
            ops->chain(fold, n, &b[m]);
            ops->normal(n, cspace_encoding_inputs(CSPACE_TWOFRAME, fold), &b[m]);
        }
        assert_memory_equal(&b[0], &b[1], sizeof b[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_images_of_their_poses),
        cmocka_unit_test(instruction_sets_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
