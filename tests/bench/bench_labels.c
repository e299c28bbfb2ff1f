// Cost and accuracy of labels: minimiser per pose (any, near contact, face to face), contact with gradient, sampler;
// error of separated distances against the outlines. Prints a table, asserts nothing.
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "../unit/cspace_fixture.h"

#include <stdio.h>
#include <time.h>

enum { HASH, LETTER_U, LETTER_N, LETTER_O, SQUARE, COUNT_SHAPES, POSES = 20000 };

static fixture shapes[COUNT_SHAPES];
static cspace_pose poses[POSES];

// CPU time where one thread works (other load does not matter), else of the clock.
static double seconds_now(bool cpu) {
    struct timespec now = {0, 0};
    clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Mean time (us) and cells of the minimiser over n poses.
static void time_minimiser(const cspace_pair *pair, double band, int n, const char *what) {
    cspace_search_def def = cspace_search_default_def();
    def.band = band;
    double cells = 0.0, started = seconds_now(true);
    int worst = 0, outside = 0;
    for (int i = 0; i < n; i++) {
        cspace_minimum m;
        cspace_minimise(pair, &def, &poses[i], &m);
        cells += m.count_cells;
        outside += m.outside;
        if (m.count_cells > worst) worst = m.count_cells;
    }
    double us = 1e6 * (seconds_now(true) - started) / n;
    printf("  %-28s %8.2f us/pose %8.0f cells (max %d)", what, us, cells / n, worst);
    if (band > 0.0) printf("  accepted %.3f", 1.0 - (double)outside / n);
    printf("\n");
}

// Keeps the poses within the band; returns their number.
static int keep_near(const cspace_pair *pair, int n) {
    cspace_search_def def = cspace_search_default_def();
    def.band = 0.1;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        cspace_minimum m;
        cspace_minimise(pair, &def, &poses[i], &m);
        if (!m.outside) poses[kept++] = poses[i];
    }
    return kept;
}

static void time_contact(const cspace_pair *pair, int n, double sigma, const char *what) {
    cspace_search_def def = cspace_search_default_def();
    def.band = 0.1; // ignored by contacts
    double started = seconds_now(true), sum = 0.0;
    for (int i = 0; i < n; i++) {
        cspace_contact c;
        cspace_numeric_contact_smooth(pair, &def, sigma, &poses[i], &c);
        sum += c.d;
    }
    printf("  %-28s %8.2f us/pose (mean d %.4f)\n", what, 1e6 * (seconds_now(true) - started) / n, sum / n);
}

// Exact labels at the same poses, and at any pose as the sampler asks.
static void time_exact(const cspace_pair *pair, int near) {
    cspace_exact *exact = NULL;
    cspace_exact_scratch *scratch = NULL;
    core_random random;
    core_random_init(&random, 3, 0);
    if (cspace_exact_create(pair, &exact, NULL) || cspace_exact_scratch_create(exact, &scratch, NULL)) return;
    double started = seconds_now(true), sum = 0.0;
    cspace_contact c;
    for (int i = 0; i < near; i++) {
        cspace_exact_contact(exact, &poses[i], &c, scratch);
        sum += c.d;
    }
    printf("  %-28s %8.2f us/pose (mean d %.4f)\n", "exact, near contact", 1e6 * (seconds_now(true) - started) / near,
           sum / near);
    const double bands[] = {0.1, INFINITY};
    for (int k = 0; k < 2; k++) {
        int within = 0;
        started = seconds_now(true);
        for (int i = 0; i < POSES; i++) {
            const cspace_pose pose = fixture_pose(&random, 2.0);
            within += cspace_exact_near(exact, &pose, bands[k], &c, scratch);
        }
        printf("  %-28s %8.2f us/pose, accepted %.3f\n", k ? "exact, any pose, in full" : "exact, any pose, band .1",
               1e6 * (seconds_now(true) - started) / POSES, (double)within / POSES);
    }
    cspace_exact_scratch_destroy(&scratch);
    cspace_exact_destroy(&exact);
}

static void report_accuracy(const cspace_pair *pair, int n) {
    cspace_search_def def = cspace_search_default_def();
    double sum = 0.0, worst = 0.0;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const sdf_posed a = {&pair->a->outline, pair->scale_a, 0.0, 0.0, 0.0};
        const sdf_posed b = {&pair->b->outline, pair->scale_b, poses[i].theta, poses[i].x, poses[i].y};
        double exact;
        if (sdf_posed_distance(&a, &b, &exact, NULL) != CORE_OK || exact <= 0.0) continue;
        cspace_minimum m;
        cspace_minimise(pair, &def, &poses[i], &m);
        double error = fabs(m.d - exact);
        sum += error;
        worst = fmax(worst, error);
        count++;
    }
    printf("  separated, %d poses: error mean %.6f, max %.6f\n", count, sum / count, worst);
}

static void bench_pair(const char *name, int a, int b) {
    cspace_pair pair;
    core_random random;
    printf("%s\n", name);
    if (cspace_pair_init(&shapes[a].shape, &shapes[a].grid, &shapes[b].shape, &shapes[b].grid, 1.0, &pair, NULL))
        return;
    core_random_init(&random, 1, 0);
    for (int i = 0; i < POSES; i++) poses[i] = fixture_pose(&random, 2.0);
    report_accuracy(&pair, 2000);
    time_minimiser(&pair, 0.1, POSES, "any pose, band .1");
    time_minimiser(&pair, 0.0, POSES / 4, "any pose, in full");
    int near = keep_near(&pair, POSES);
    time_minimiser(&pair, 0.0, near, "near contact");
    time_contact(&pair, near, 0.0, "near contact, with gradient");
    time_exact(&pair, near);
    time_contact(&pair, near / 4, 1e-3, "near contact, smoothed");
}

static void bench_faces(void) {
    cspace_pair pair;
    core_random random;
    if (cspace_pair_init(&shapes[SQUARE].shape, &shapes[SQUARE].grid, &shapes[SQUARE].shape, &shapes[SQUARE].grid, 1.0,
                         &pair, NULL))
        return;
    core_random_init(&random, 2, 0);
    const double tilts[] = {0.0, 1e-4, 1e-2};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < POSES; i++) {
            double u = core_random_uniform(&random), v = core_random_uniform(&random);
            poses[i] = (cspace_pose){tilts[k], sqrt(2.0) + 0.2 * (u - 0.5), v - 0.5};
        }
        char what[64];
        snprintf(what, sizeof what, "squares, faces tilted %g", tilts[k]);
        time_minimiser(&pair, 0.0, POSES / 4, what);
    }
}

static void bench_sampler(const char *name, int a, int b, cspace_labels labels) {
    cspace_pair pair;
    cspace_samples samples = {0};
    cspace_sample_def def = cspace_sample_default_def();
    def.samples = 100000;
    def.held_out = 0;
    def.labels = labels;
    if (cspace_pair_init(&shapes[a].shape, &shapes[a].grid, &shapes[b].shape, &shapes[b].grid, 1.0, &pair, NULL))
        return;
    const int threads[] = {1, core_thread_available()};
    for (int k = 0; k < 2; k++) {
        def.threads = threads[k];
        double started = seconds_now(false), cpu = seconds_now(true);
        if (cspace_sample(&pair, &def, NULL, &samples, NULL) != CORE_OK) return;
        double seconds = seconds_now(false) - started;
        cpu = seconds_now(true) - cpu;
        printf(
            "  sampler %s%s, %d thread(s): %.0f samples/s, acceptance %.3f; a million takes %.1f s (CPU time %.1f s)\n",
            name, labels == CSPACE_LABELS_EXACT ? " exact" : "", def.threads, (double)def.samples / seconds,
            samples.acceptance_rate, seconds * 1e6 / (double)def.samples, cpu * 1e6 / (double)def.samples);
        cspace_samples_clear(&samples);
    }
}

int main(void) {
    core_error err = {0};
    core_status s = fixture_hash(FIXTURE_RESOLUTION, &shapes[HASH], &err);
    if (s == CORE_OK) s = fixture_u(FIXTURE_RESOLUTION, &shapes[LETTER_U], &err);
    if (s == CORE_OK) s = fixture_n(FIXTURE_RESOLUTION, &shapes[LETTER_N], &err);
    if (s == CORE_OK) s = fixture_o(FIXTURE_RESOLUTION, &shapes[LETTER_O], &err);
    if (s == CORE_OK) s = fixture_square(FIXTURE_RESOLUTION, &shapes[SQUARE], &err);
    if (s != CORE_OK) {
        fprintf(stderr, "bench_labels: %s\n", err.message);
        return 1;
    }
    bench_pair("O-O", LETTER_O, LETTER_O);
    bench_pair("U-U", LETTER_U, LETTER_U);
    bench_pair("N-#", LETTER_N, HASH);
    bench_pair("#-#", HASH, HASH);
    bench_faces();
    bench_sampler("#-#", HASH, HASH, CSPACE_LABELS_MINIMISER);
    bench_sampler("#-#", HASH, HASH, CSPACE_LABELS_EXACT);
    bench_sampler("U-U", LETTER_U, LETTER_U, CSPACE_LABELS_MINIMISER);
    bench_sampler("U-U", LETTER_U, LETTER_U, CSPACE_LABELS_EXACT);
    bench_sampler("O-O", LETTER_O, LETTER_O, CSPACE_LABELS_MINIMISER);
    bench_sampler("O-O", LETTER_O, LETTER_O, CSPACE_LABELS_EXACT);
    for (int i = 0; i < COUNT_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}
