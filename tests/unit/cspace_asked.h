/// Exact answers for pairs of the shapes of cspace_fixture.h: the set-up that the tests of libcspace's exact back end
/// share.
#ifndef CSPACE_ASKED_H
#define CSPACE_ASKED_H

#include "cspace_fixture.h"

typedef core_status fixture_maker(int resolution, fixture *f, core_error *err);

/// The shapes of a test program, which has names for their places.
enum { ASKED_SHAPES = 8 };
static fixture shapes[ASKED_SHAPES];

/// Draws n <= ASKED_SHAPES of them; 0, or -1 if one fails, as cmocka's set-up functions do.
static inline int shapes_make(fixture_maker *const *make, int n) {
    for (int i = 0; i < n; i++)
        if (make[i](128, &shapes[i], NULL) != CORE_OK) return -1;
    return 0;
}

static inline int shapes_clear(void **state) {
    (void)state;
    for (int i = 0; i < ASKED_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}

/// A pair with everything exact.
typedef struct asked {
    cspace_pair pair;
    cspace_exact *exact;
    cspace_exact_scratch *scratch;
    cspace_obstacle *obstacle;
} asked;

static inline asked ask(int a, int b, double ratio) {
    asked q = {.pair = fixture_pair(&shapes[a], &shapes[b], ratio)};
    if (cspace_exact_create(&q.pair, &q.exact, NULL) != CORE_OK) abort();
    if (cspace_exact_scratch_create(q.exact, &q.scratch, NULL) != CORE_OK) abort();
    if (cspace_obstacle_create(q.exact, &q.obstacle, NULL) != CORE_OK) abort();
    return q;
}

static inline void asked_clear(asked *q) {
    cspace_obstacle_destroy(&q->obstacle);
    cspace_exact_scratch_destroy(&q->scratch);
    cspace_exact_destroy(&q->exact);
}

#endif
