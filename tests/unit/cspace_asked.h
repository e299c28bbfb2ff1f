/// Exact answers for pairs of the shapes of cspace_fixture.h: the set-up that the tests of libcspace's exact back end
/// share.
#ifndef CSPACE_ASKED_H
#define CSPACE_ASKED_H

#include "cspace_fixture.h"

typedef core_status fixture_maker(int resolution, fixture *f, core_error *err);

/// Draws the shapes; 0, or -1 if one fails, as cmocka's set-up functions do.
static inline int fixtures_make(fixture_maker *const *make, int n, int resolution, fixture *shapes) {
    for (int i = 0; i < n; i++)
        if (make[i](resolution, &shapes[i], NULL) != CORE_OK) return -1;
    return 0;
}

static inline void fixtures_clear(fixture *shapes, int n) {
    for (int i = 0; i < n; i++) fixture_clear(&shapes[i]);
}

/// A pair with everything exact.
typedef struct asked {
    cspace_pair pair;
    cspace_exact *exact;
    cspace_exact_scratch *scratch;
    cspace_obstacle *obstacle;
} asked;

static inline asked asked_make(const fixture *a, const fixture *b, double ratio) {
    asked q = {.pair = fixture_pair(a, b, ratio)};
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
