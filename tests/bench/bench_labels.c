// Cost and accuracy of labels as one table: for each pair and kind of label CPU time a pose near contact, face to face,
// smoothed, and a drawn row, rejections and far rows included; errors against exact geometry. Asserts nothing.
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "../unit/cspace_fixture.h"

#include <stdio.h>
#include <time.h>

enum {
    HASH,
    LETTER_U,
    LETTER_N,
    LETTER_O,
    STAR,
    HOOK,
    RING,
    SQUARE,
    FINE_O,
    COUNT_SHAPES,
    POSES = 8000,
    ERROR_POSES = 1500
};

static fixture shapes[COUNT_SHAPES];
static cspace_pose poses[POSES];
static const double smoothing = 1e-3;

static double cpu_seconds(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// One pair, ready for both kinds of labels.
typedef struct subject {
    cspace_pair pair;
    cspace_exact *exact;
    cspace_exact_scratch *scratch;
} subject;

static cspace_contact label(const subject *s, cspace_labels kind, double sigma, const cspace_pose *pose) {
    const cspace_search_def def = cspace_search_default_def();
    cspace_contact c;
    if (kind == CSPACE_LABELS_EXACT)
        cspace_exact_contact_smooth(s->exact, sigma, pose, &c, s->scratch);
    else
        cspace_numeric_contact_smooth(&s->pair, &def, sigma, pose, &c);
    return c;
}

// Mean time (us) of contacts with gradient.
static double time_contacts(const subject *s, cspace_labels kind, double sigma, int n) {
    double started = cpu_seconds(), sum = 0.0;
    for (int i = 0; i < n; i++) sum += label(s, kind, sigma, &poses[i]).d;
    return sum > -INFINITY ? 1e6 * (cpu_seconds() - started) / n : NAN;
}

// Poses within the band by plain rejection.
static void draw_near(const subject *s) {
    core_random random;
    cspace_contact c;
    core_random_init(&random, 1, 0);
    for (int n = 0; n < POSES;) {
        poses[n] = fixture_pose(&random, s->pair.scale_a + s->pair.scale_b);
        n += cspace_exact_near(s->exact, &poses[n], 0.1, &c, s->scratch);
    }
}

// No corner lies beyond the line of an edge.
static bool is_outermost(const core_outline *o, const double *p, const double *q) {
    for (int i = 0; i < o->ring_start[1]; i++) {
        const double *v = o->xy + 2 * i;
        if ((q[0] - p[0]) * (v[1] - p[1]) - (q[1] - p[1]) * (v[0] - p[0]) < -1e-9) return false;
    }
    return true;
}

// The longest outermost edge of A against that of B (a star has none: its longest), gap -.1 to .1, a third of them
// turned by .0001, a third by .01.
static void draw_faces(const subject *s) {
    const core_outline *o[2] = {&s->pair.a->outline, &s->pair.b->outline};
    const double scale[2] = {s->pair.scale_a, s->pair.scale_b};
    double middle[2][2] = {{0.0}}, along[2][2] = {{0.0}};
    for (int k = 0; k < 2; k++) {
        double longest = 0.0;
        for (int i = 0; i < o[k]->ring_start[1]; i++) {
            const double *p = o[k]->xy + 2 * i, *q = o[k]->xy + 2 * ((i + 1) % o[k]->ring_start[1]);
            double l = hypot(q[0] - p[0], q[1] - p[1]) + (is_outermost(o[k], p, q) ? 10.0 : 0.0);
            if (l <= longest * (1.0 + 1e-9)) continue;
            longest = l;
            l = hypot(q[0] - p[0], q[1] - p[1]);
            for (int j = 0; j < 2; j++) {
                middle[k][j] = 0.5 * scale[k] * (p[j] + q[j]);
                along[k][j] = (q[j] - p[j]) / l;
            }
        }
    }
    core_random random;
    core_random_init(&random, 2, 0);
    const double tilts[] = {0.0, 1e-4, 1e-2};
    double face = atan2(along[0][1], along[0][0]) - atan2(along[1][1], along[1][0]) + CORE_PI;
    for (int i = 0; i < POSES; i++) {
        double u = 0.2 * (core_random_uniform(&random) - 0.5), v = 0.3 * (core_random_uniform(&random) - 0.5);
        double theta = face + tilts[i % 3], c = cos(theta), d = sin(theta);
        poses[i] = (cspace_pose){theta, middle[0][0] + u * along[0][1] + v * along[0][0],
                                 middle[0][1] - u * along[0][0] + v * along[0][1]};
        poses[i].x -= c * middle[1][0] - d * middle[1][1];
        poses[i].y -= d * middle[1][0] + c * middle[1][1];
    }
}

// Error of the distance apart and bias in overlap against the exact label, on poses near contact.
static void print_errors(const subject *s, cspace_labels kind) {
    double apart = 0.0, apart_max = 0.0, bias = 0.0, bias_max = 0.0;
    int n = 0, m = 0;
    for (int i = 0; i < ERROR_POSES; i++) {
        cspace_contact exact;
        cspace_exact_contact(s->exact, &poses[i], &exact, s->scratch);
        double difference = label(s, kind, 0.0, &poses[i]).d - exact.d;
        if (exact.d > 0.0) {
            apart += fabs(difference);
            apart_max = fmax(apart_max, fabs(difference));
            n++;
        } else {
            bias += difference;
            bias_max = fmax(bias_max, fabs(difference));
            m++;
        }
    }
    printf(" %8.1e %8.1e %7.4f %7.4f\n", apart / n, apart_max, bias / m, bias_max);
}

static void time_rows(const subject *s, cspace_labels kind) {
    cspace_sample_def def = cspace_sample_default_def();
    cspace_samples samples = {0};
    def.samples = 40000;
    def.held_out = 0;
    def.labels = kind;
    double started = cpu_seconds();
    if (cspace_sample(&s->pair, &def, NULL, &samples, NULL) != CORE_OK) return;
    printf(" %8.2f %6.3f", 1e6 * (cpu_seconds() - started) / (double)def.samples, samples.acceptance_rate);
    cspace_samples_clear(&samples);
}

static void bench_pair(const char *name, int a, int b) {
    subject s = {.pair = fixture_pair(&shapes[a], &shapes[b], 1.0)};
    if (cspace_exact_create(&s.pair, &s.exact, NULL) || cspace_exact_scratch_create(s.exact, &s.scratch, NULL)) return;
    for (int kind = 0; kind < CSPACE_LABELS_COUNT; kind++) {
        printf("%-10s %-9s", name, cspace_labels_names[kind]);
        draw_faces(&s);
        double faces = time_contacts(&s, (cspace_labels)kind, 0.0, POSES);
        draw_near(&s);
        printf(" %8.2f %8.2f %8.2f", time_contacts(&s, (cspace_labels)kind, 0.0, POSES), faces,
               time_contacts(&s, (cspace_labels)kind, smoothing, POSES / 8));
        time_rows(&s, (cspace_labels)kind);
        print_errors(&s, (cspace_labels)kind);
    }
    cspace_exact_scratch_destroy(&s.scratch);
    cspace_exact_destroy(&s.exact);
}

int main(void) {
    core_error err = {0};
    core_status (*const make[COUNT_SHAPES])(int, fixture *, core_error *) = {
        fixture_hash, fixture_u,    fixture_n,      fixture_o,     fixture_star,
        fixture_hook, fixture_ring, fixture_square, fixture_fine_o};
    for (int i = 0; i < COUNT_SHAPES; i++) {
        if (make[i](FIXTURE_RESOLUTION, &shapes[i], &err) == CORE_OK) continue;
        fprintf(stderr, "bench_labels: %s\n", err.message);
        return 1;
    }
    printf("CPU time, us: a contact with gradient near contact, face to face, smoothed; a drawn row (90 %% near), its "
           "acceptance.\nError apart: mean, max; in overlap, label - exact depth: mean, largest.\n"
           "pair       labels        near    faces   smooth      row accept    apart      max    bias largest\n");
    bench_pair("#-#", HASH, HASH);
    bench_pair("U-U", LETTER_U, LETTER_U);
    bench_pair("N-#", LETTER_N, HASH);
    bench_pair("O-O", LETTER_O, LETTER_O);
    bench_pair("O-O fine", FINE_O, FINE_O);
    bench_pair("star-star", STAR, STAR);
    bench_pair("hook-hook", HOOK, HOOK);
    bench_pair("ring-ring", RING, RING);
    bench_pair("square", SQUARE, SQUARE);
    for (int i = 0; i < COUNT_SHAPES; i++) fixture_clear(&shapes[i]);
    return 0;
}
