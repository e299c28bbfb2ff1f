/// What appending a frame to a run file costs, early and late: CPU time a frame of the frames from the 10th on and of
/// the last ones of 10,000, and their ratio. Fails if late frames cost a
/// seventh more.
#include "fixtures/run_fixture.h"

#include <stdio.h>
#include <time.h>

enum { GRAINS = 10, FRAMES = 10000, EARLY = 10, SPAN = 1000 };
static const double RATIO_MAX = 1.15;

int main(void) {
    core_error message = {0}, *const err = &message;
    core_status status = CORE_OK;
    fixture_run run = {.title = "append"};
    core_run_frame frame = {0};
    core_run_writer *w = NULL;
    clock_t spent[2] = {0, 0}; // early, late
    CORE_TRY_DONE(fixture_add_square(&run, 1, 2500, err));
    CORE_TRY_DONE(fixture_set_grains(&run, GRAINS, err));
    CORE_TRY_DONE(fixture_frame(&run, &frame, err));
    CORE_TRY_DONE(fixture_begin(&run, "bench_append.h5", &w, err));
    for (int k = 0; k < FRAMES; k++) {
        frame.step = k;
        frame.time = k;
        const clock_t before = clock();
        CORE_TRY_DONE(core_run_append(w, &frame, err));
        if (k >= EARLY && k < EARLY + SPAN) spent[0] += clock() - before;
        if (k >= FRAMES - SPAN) spent[1] += clock() - before;
    }
    const double unit = 1e6 / CLOCKS_PER_SEC / SPAN, ratio = (double)spent[1] / (double)spent[0];
    printf("appending a frame of %d grains: %.0f us of CPU from frame %d on, %.0f us from frame %d on, ratio %.2f\n",
           GRAINS, (double)spent[0] * unit, EARLY, (double)spent[1] * unit, FRAMES - SPAN, ratio);
    CORE_CHECK_DONE(ratio < RATIO_MAX, CORE_RANGE, "ratio %.2f, expected below %.2f", ratio, RATIO_MAX);
    status = core_run_finish(&w, err);
done:
    if (status != CORE_OK) fprintf(stderr, "bench_append: %s\n", err->message);
    if (w) (void)core_run_finish(&w, NULL);
    remove("bench_append.h5");
    core_run_frame_clear(&frame);
    fixture_clear(&run);
    return status != CORE_OK;
}
