// Training glue on a pair whose labels are known exactly: a disc and a square. Recipes, orders, subsets, refusals,
// determinism.
#include "cspace_map_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { GRID = 16, ROWS = 20000, HELD_OUT = 4000 };

static fixture disc, square;
static cspace_samples samples; // disc-square, the stored order

// Distance, gradient and moment arms of a disc (A) of radius r_a and the square (B, scaled) at q: the disc's centre
// seen by the square decides.
static cspace_contact exact(const cspace_pose *q, double r_a, double scale_b) {
    const double co = cos(q->theta), si = sin(q->theta);
    const double v[2] = {-(co * q->x + si * q->y) / scale_b, (si * q->x - co * q->y) / scale_b};
    double d, gv[2];
    sdf_outline_distance(&square.shape.outline, v, 1, &d, gv);
    cspace_contact c = {.d = scale_b * d - r_a};
    c.g[0] = -(co * gv[0] - si * gv[1]);
    c.g[1] = -(si * gv[0] + co * gv[1]);
    c.d_theta = -scale_b * (v[0] * gv[1] - v[1] * gv[0]);
    c.r_a = r_a + 0.5 * c.d;
    c.r_b = c.r_a - (q->x * c.g[0] + q->y * c.g[1]);
    return c;
}

// Two discs of radius 1: one number decides, and s is zero.
static cspace_contact exact_round(const cspace_pose *q) {
    const double r = sqrt(q->x * q->x + q->y * q->y);
    return (cspace_contact){.d = r - 2.0, .g = {q->x / r, q->y / r}, .r_a = 0.5 * r, .r_b = -0.5 * r};
}

static void rows_create(int64_t count, uint64_t seed, bool round, cspace_rows *rows) {
    core_random r;
    core_random_init(&r, seed, 0);
    *rows = (cspace_rows){.n = count,
                          .pose = core_alloc((size_t)count, 3 * sizeof(double)),
                          .distance = core_alloc((size_t)count, sizeof(double)),
                          .gradient = core_alloc((size_t)count, 3 * sizeof(double)),
                          .moment_arm = core_alloc((size_t)count, 2 * sizeof(double))};
    for (int64_t i = 0; i < count;) {
        const cspace_pose q = fixture_pose(&r, round ? 2.2 : 2.0);
        const cspace_contact c = round ? exact_round(&q) : exact(&q, 1.0, 0.8);
        if (fabs(c.d) > 0.1 && i % 10 != 0) continue; // nine of ten near contact
        rows->pose[3 * i] = q.theta, rows->pose[3 * i + 1] = q.x, rows->pose[3 * i + 2] = q.y;
        rows->distance[i] = c.d;
        rows->gradient[3 * i] = c.d_theta, rows->gradient[3 * i + 1] = c.g[0], rows->gradient[3 * i + 2] = c.g[1];
        rows->moment_arm[2 * i] = c.r_a, rows->moment_arm[2 * i + 1] = c.r_b;
        i++;
    }
}

static int setup(void **state) {
    (void)state;
    if (fixture_disc(96, GRID, &disc, NULL) != CORE_OK || fixture_square(GRID, &square, NULL) != CORE_OK) return -1;
    samples = (cspace_samples){.ratio = 0.8, .near_fraction = 0.9, .band = 0.1, .input_hash = 7};
    snprintf(samples.labels, sizeof samples.labels, "minimiser");
    if (sdf_shape_copy(&disc.shape, &samples.a, NULL) != CORE_OK ||
        sdf_shape_copy(&square.shape, &samples.b, NULL) != CORE_OK)
        return -1;
    rows_create(ROWS, 1, false, &samples.training);
    rows_create(HELD_OUT, 2, false, &samples.held_out);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    fixture_clear(&disc), fixture_clear(&square);
    cspace_samples_clear(&samples);
    return 0;
}

static cspace_train_def small_def(const char *recipe, double epochs) {
    cspace_train_def def;
    assert_int_equal(cspace_train_recipe(recipe, &def, NULL), CORE_OK);
    def.net.layers = 2, def.net.width = 16, def.net.batch = 256, def.net.epochs = epochs;
    return def;
}

static void train(const cspace_samples *s, const cspace_train_def *def, cspace_map *map) {
    core_error err = {0};
    *map = (cspace_map){0};
    if (cspace_train(s, def, NULL, map, &err) != CORE_OK) fail_msg("%s", err.message);
}

static void print_stats(const char *name, const cspace_error_stats *e) {
    print_message("%s: d mean %.5f p99 %.5f max %.5f, sign %.4f, normal mean %.2f p50 %.2f, slope %.4f, arm p50 %.4f\n",
                  name, e->d_mean, e->d_p99, e->d_max, e->sign_errors, e->normal_mean, e->normal_p50, e->slope_mean,
                  e->arm_p50);
}

// The formulas of this test against central differences: the labels are what they claim to be.
static void test_labels(void **state) {
    (void)state;
    core_random r;
    core_random_init(&r, 3, 0);
    const double h = 1e-6;
    for (int i = 0; i < 100; i++) {
        const cspace_pose q = fixture_pose(&r, 2.0);
        const cspace_contact c = exact(&q, 1.0, 0.8);
        if (c.d < -0.1) continue;
        const cspace_pose low[3] = {{q.theta - h, q.x, q.y}, {q.theta, q.x - h, q.y}, {q.theta, q.x, q.y - h}};
        const cspace_pose high[3] = {{q.theta + h, q.x, q.y}, {q.theta, q.x + h, q.y}, {q.theta, q.x, q.y + h}};
        const double slope[3] = {c.d_theta, c.g[0], c.g[1]};
        for (int k = 0; k < 3; k++)
            assert_true(fabs((exact(&high[k], 1.0, 0.8).d - exact(&low[k], 1.0, 0.8).d) / (2 * h) - slope[k]) < 1e-5);
    }
}

// A short training learns the pair, gradients and moment arms included; the map knows what it is.
static void test_learns(void **state) {
    (void)state;
    cspace_map map;
    const cspace_train_def def = small_def("default", 60);
    train(&samples, &def, &map);
    print_stats("default", &map.error);
    assert_string_equal(map.a, "disc");
    assert_string_equal(map.b, "square");
    assert_true(map.ratio == 0.8 && map.scale_a == 1.0 && map.scale_b == 0.8);
    assert_true(map.fold.order_a == 96 && map.fold.order_b == 4 && map.fold.mirror);
    assert_true(map.hash_a == disc.shape.hash && map.hash_b == square.shape.hash);
    assert_int_equal(map.input_hash, cspace_train_input_hash(7, &def));
    assert_string_equal(map.recipe, "default");
    assert_true(map.error.n > HELD_OUT * 8 / 10);
    assert_true(map.error.d_mean < 0.002 && map.error.d_p99 < 0.01 && map.error.sign_errors < 0.01);
    assert_true(map.error.normal_mean < 5.0 && map.error.slope_mean < 0.05 && map.error.arm_p50 < 0.02);
    assert_true(map.train_distance.steps == 60 * ROWS / 256 || map.train_distance.steps == 60 * ROWS / 256 + 1);
    cspace_map_clear(&map);
}

// The paper's recipe: raw inputs, nothing folded. Worse, but it learns.
static void test_paper(void **state) {
    (void)state;
    cspace_map map;
    cspace_train_def def = small_def("paper", 20);
    def.net.layers = 3, def.net.width = 32, def.net.batch = 128;
    assert_true(def.encoding == CSPACE_RAW && !def.fold && def.far_weight == 1.0 && def.net.gradient_weight == 0.0);
    assert_true(def.net.schedule == NN_SCHEDULE_CONSTANT && def.net.learning_rate == 1e-3);
    train(&samples, &def, &map);
    print_stats("paper", &map.error);
    assert_true(map.fold.identity && map.distance.inputs == 3);
    // Guessing contact everywhere gives 0.05: raw angles hardly show a net that a square has four sides.
    assert_true(map.error.d_mean < 0.045);
    assert_true(map.train_distance.loss_last < 0.1 * map.train_distance.loss_first);
    cspace_map_clear(&map);
    cspace_train_def full;
    assert_int_equal(cspace_train_recipe("paper", &full, NULL), CORE_OK);
    assert_true(full.net.batch == 4096 && full.net.layers == 3 && full.net.width == 32 && full.net.eps == 1e-8);
    core_error err = {0};
    assert_int_equal(cspace_train_recipe("precise", &full, &err), CORE_ARG);
    assert_non_null(strstr(err.message, "precise"));
}

// QReLU, SOAP, a small moment-arm net that sees predicted normals: better than `default` of the same length, moment
// arms too, though their net is a quarter of the size.
static void test_accurate(void **state) {
    (void)state;
    cspace_map map, plain;
    const cspace_train_def def = small_def("accurate", 10), other = small_def("default", 10);
    assert_true(def.net.activation == NN_QRELU && def.net.optimiser == NN_SOAP && def.arm_normal);
    train(&samples, &def, &map);
    train(&samples, &other, &plain);
    print_stats("accurate", &map.error);
    print_stats("default", &plain.error);
    assert_true(map.arm_normal && map.distance.inputs == 6);
    assert_true(map.distance.heads == 4 && map.moment_arm.heads == 1 && plain.distance.heads == 1);
    assert_true(map.moment_arm.inputs == 6 + CSPACE_NORMAL_INPUTS && map.moment_arm.layers == 2 &&
                map.moment_arm.width == 32);
    assert_true(map.error.d_mean < 0.7 * plain.error.d_mean && map.error.normal_mean < 0.7 * plain.error.normal_mean);
    assert_true(map.error.arm_p50 < plain.error.arm_p50);
    cspace_map_clear(&map);
    cspace_map_clear(&plain);
}

// Tries share the length of one training; the best on training samples is kept, and none is made once the target is
// met.
static void test_tries(void **state) {
    (void)state;
    enum { TRIES = 4 };
    uint64_t hashes[TRIES];
    double errors[TRIES];
    int winner = 0;
    cspace_train_def def = small_def("default", 1);
    for (int i = 0; i < TRIES; i++) {
        cspace_map one;
        cspace_error_stats stats;
        def.net.seed = 2004 + 1000 * (uint64_t)i;
        train(&samples, &def, &one);
        assert_int_equal(cspace_map_measure(&one, &samples.training, 0.1, &stats, NULL), CORE_OK);
        hashes[i] = nn_model_hash(&one.distance), errors[i] = stats.d_mean;
        if (errors[i] < errors[winner]) winner = i;
        cspace_map_clear(&one);
    }
    print_message("tries: %.5f %.5f %.5f %.5f\n", errors[0], errors[1], errors[2], errors[3]);
    assert_true(winner > 0 && winner < TRIES - 1);
    cspace_map best, met;
    def.net.seed = 2004, def.tries = TRIES, def.net.epochs = TRIES;
    train(&samples, &def, &best);
    def.target = 1.0;
    train(&samples, &def, &met);
    assert_int_equal(nn_model_hash(&best.distance), hashes[winner]);
    assert_int_equal(nn_model_hash(&met.distance), hashes[0]);
    cspace_map_clear(&best);
    cspace_map_clear(&met);
}

// Samples of (square, disc) train the same stored pair (disc, square).
static void test_other_order(void **state) {
    (void)state;
    cspace_samples other = {.a = samples.b, .b = samples.a, .ratio = 1.0 / 0.8, .band = 0.1, .input_hash = 8};
    snprintf(other.labels, sizeof other.labels, "minimiser");
    rows_create(ROWS, 1, false, &other.training);
    rows_create(HELD_OUT, 2, false, &other.held_out);
    cspace_rows *both[2] = {&other.training, &other.held_out};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < both[k]->n; i++) {
            double *p = both[k]->pose + 3 * i, *g = both[k]->gradient + 3 * i, *r = both[k]->moment_arm + 2 * i;
            const cspace_pose q = {p[0], p[1], p[2]}, seen = cspace_swap_pose(&q);
            cspace_contact c = {both[k]->distance[i], g[0], {g[1], g[2]}, r[0], r[1]};
            cspace_swap_return(&seen, &c);
            p[0] = seen.theta, p[1] = seen.x, p[2] = seen.y;
            g[0] = c.d_theta, g[1] = c.g[0], g[2] = c.g[1];
            r[0] = c.r_a, r[1] = c.r_b;
        }
    cspace_map map;
    const cspace_train_def def = small_def("default", 60);
    train(&other, &def, &map);
    print_stats("other order", &map.error);
    assert_string_equal(map.a, "disc");
    assert_true(fabs(map.ratio - 0.8) < 1e-15 && map.hash_a == disc.shape.hash);
    assert_true(map.error.d_mean < 0.002 && map.error.normal_mean < 5.0 && map.error.arm_p50 < 0.02);
    cspace_map_clear(&map);
    cspace_rows_clear(&other.training);
    cspace_rows_clear(&other.held_out);
}

static void test_deterministic(void **state) {
    (void)state;
    uint64_t hashes[3][2];
    const int threads[3] = {1, 2, 4};
    for (int k = 0; k < 3; k++) {
        cspace_map map;
        cspace_train_def def = small_def("default", 1);
        def.net.threads = threads[k];
        train(&samples, &def, &map);
        hashes[k][0] = nn_model_hash(&map.distance);
        hashes[k][1] = nn_model_hash(&map.moment_arm);
        cspace_map_clear(&map);
    }
    assert_memory_equal(hashes[0], hashes[1], sizeof hashes[0]);
    assert_memory_equal(hashes[0], hashes[2], sizeof hashes[0]);
    assert_true(hashes[0][0] != hashes[0][1]);
}

// Equal shapes: the exchange is folded, where the mean moment arm changes its sign.
static void test_exchange(void **state) {
    (void)state;
    cspace_pair pair;
    cspace_samples two;
    cspace_map map;
    cspace_sample_def def = cspace_sample_default_def();
    def.samples = 10000, def.held_out = 2000, def.labels = CSPACE_LABELS_EXACT;
    assert_int_equal(cspace_pair_init(&square.shape, &square.grid, &square.shape, &square.grid, 1.0, &pair, NULL),
                     CORE_OK);
    assert_int_equal(cspace_sample(&pair, &def, NULL, &two, NULL), CORE_OK);
    const cspace_train_def train_def = small_def("default", 20);
    train(&two, &train_def, &map);
    print_stats("exchange", &map.error);
    assert_true(map.fold.swap && map.fold.mirror);
    // Guessing s = 0 leaves .13.
    assert_true(map.error.arm_p50 < 0.06);
    cspace_map_clear(&map);
    cspace_samples_clear(&two);
}

// The clip of errors is the moment-arm net's alone.
static void test_arm_clip(void **state) {
    (void)state;
    uint64_t distance[2], arm[2];
    for (int k = 0; k < 2; k++) {
        cspace_train_def def = small_def("accurate", 1.0);
        cspace_map map;
        def.samples = 1000, def.arm_clip = k == 0 ? 0.0 : 0.01;
        train(&samples, &def, &map);
        distance[k] = nn_model_hash(&map.distance), arm[k] = nn_model_hash(&map.moment_arm);
        cspace_map_clear(&map);
    }
    assert_true(distance[0] == distance[1] && arm[0] != arm[1]);
}

// The width of the moment-arm net that `accurate` leaves to the pair: 24 where the fold exchanges the shapes, else 32.
static void test_arm_width(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        cspace_samples s = samples; // rows of the disc and the square: what is learned does not matter
        cspace_train_def def = small_def("accurate", 1.0);
        cspace_map map;
        if (k == 1) s.ratio = 1.0, s.b = disc.shape;
        if (k == 2) def.arm_width = 8;
        def.samples = 1000;
        train(&s, &def, &map);
        assert_true(map.fold.swap == (k == 1));
        assert_int_equal(map.moment_arm.width, k == 2 ? 8 : k == 1 ? 24 : 32);
        cspace_map_clear(&map);
    }
    cspace_train_def def = small_def("accurate", 1.0);
    cspace_map map;
    core_error err = {0};
    def.arm_width = -2;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    assert_non_null(strstr(err.message, "arm width: found -2"));
}

// The staleness hash sees whatever changes the result, and not the threads.
static void test_input_hash(void **state) {
    (void)state;
    enum { DEFS = 25 };
    cspace_train_def d[DEFS];
    for (int i = 0; i < DEFS; i++) d[i] = small_def("default", 5);
    d[1].encoding = CSPACE_SINCOS, d[2].fold = false, d[3].far_weight = 0.2, d[4].samples = 100, d[5].net.layers = 3;
    d[6].net.width = 8, d[7].net.epochs = 6, d[8].net.seconds = 1, d[9].net.batch = 128, d[10].net.learning_rate = 1e-3;
    d[11].net.schedule = NN_SCHEDULE_CONSTANT, d[12].net.gradient_weight = 0.001, d[13].net.seed = 99;
    d[14].net.activation = NN_QRELU, d[15].net.heads = 2, d[16].net.optimiser = NN_SOAP, d[17].net.corner = 0.25;
    d[18].arm_normal = true, d[19].arm_width = 8, d[20].arm_layers = 1, d[21].tries = 2, d[22].target = 0.001;
    d[23].net.soap_every = 20, d[24].arm_clip = 0.1;
    for (int i = 0; i < DEFS; i++)
        for (int j = 0; j < i; j++) assert_true(cspace_train_input_hash(1, &d[i]) != cspace_train_input_hash(1, &d[j]));
    assert_true(cspace_train_input_hash(1, &d[0]) != cspace_train_input_hash(2, &d[0]));
    d[1] = d[0], d[1].net.threads = 7;
    assert_int_equal(cspace_train_input_hash(1, &d[0]), cspace_train_input_hash(1, &d[1]));
}

static void test_refused(void **state) {
    (void)state;
    core_error err = {0};
    cspace_map map = {0};
    cspace_train_def def = small_def("default", 1);
    cspace_samples s = samples;
    assert_int_equal(cspace_train(NULL, &def, NULL, &map, &err), CORE_ARG);
    def.cookie = 0;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_ARG);
    def = small_def("default", 1), def.samples = ROWS + 1;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    def = small_def("default", 1), def.far_weight = NAN;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    def = small_def("default", 1), def.tries = 0;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    def = small_def("default", 1), def.target = NAN;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    def = small_def("default", 1), def.net.width = 0;
    assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_RANGE);
    // One sign only.
    def = small_def("default", 1);
    double *distance = core_alloc(ROWS, sizeof *distance);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < ROWS; i++) distance[i] = sign * fabs(samples.training.distance[i]);
        s.training.distance = distance;
        assert_int_equal(cspace_train(&s, &def, NULL, &map, &err), CORE_SHAPE);
        assert_non_null(strstr(err.message, sign < 0 ? " 0 positive" : " 0 negative"));
    }
    for (int i = 0; i < ROWS; i++) distance[i] = samples.training.distance[i];
    distance[17] = NAN;
    assert_int_equal(cspace_train(&s, &def, NULL, &map, &err), CORE_NONFINITE);
    core_free(distance);
    s = samples, s.held_out.n = 0;
    assert_int_equal(cspace_train(&s, &def, NULL, &map, &err), CORE_RANGE);
    assert_true(map.distance.parameters == NULL);
}

static void test_subset_and_memory(void **state) {
    (void)state;
    core_error err = {0};
    cspace_map map = {0};
    cspace_samples few = samples;
    few.held_out.n = 50; // as often as there are allocations
    for (int k = 0; k < 2; k++) {
        cspace_train_def def = small_def(k == 0 ? "default" : "accurate", 1);
        def.samples = 1000, def.tries = 1 + k;
        for (uint64_t i = 1;; i++) {
            core_alloc_fail_after(i);
            const core_status status = cspace_train(&few, &def, NULL, &map, &err);
            core_alloc_fail_after(0);
            if (status == CORE_OK) break;
            assert_int_equal(status, CORE_MEMORY);
            assert_true(map.distance.parameters == NULL && map.kernel_distance == NULL);
        }
        // 1000 samples, batch 256; two tries share them
        assert_true(map.train_distance.steps >= (k == 0 ? 3 : 1) && map.train_distance.steps <= (k == 0 ? 4 : 2));
        cspace_map_clear(&map);
        map = (cspace_map){0};
    }
}

// What came in last; never less than before.
typedef struct seen {
    int reports;
    double done, total;
    char stage[64];
} seen;

static void look(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    seen *s = user;
    assert_true(done >= s->done && done <= total * (1.0 + 1e-12));
    assert_true(s->reports == 0 || total == s->total);
    assert_true(unit && note);
    s->reports++;
    s->done = done, s->total = total;
    snprintf(s->stage, sizeof s->stage, "%s", stage);
}

// One line for both nets and all tries, from nothing to everything, one after the other and side by side.
static void test_progress(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        cspace_train_def def = small_def(k == 0 ? "accurate" : "default", 2.0);
        cspace_map map = {0};
        seen s = {0};
        const core_progress progress = {look, &s};
        def.samples = 1000, def.tries = 2, def.net.threads = k == 2 ? 2 : 1;
        assert_int_equal(cspace_train(&samples, &def, &progress, &map, NULL), CORE_OK);
        assert_string_equal(s.stage, "training disc-square 2x16");
        assert_true(s.reports > 4);
        assert_close(s.done, s.total, 1e-9 * s.total);
        // both nets, both tries: rows of an epoch, shared out between the tries
        assert_true(s.total >= 2.0 * 2.0 * 1000.0 && s.total <= 2.0 * 2.0 * 1000.0 + 4.0 * 256.0);
        assert_true(map.core_seconds > 0.0);
        cspace_map_clear(&map);
    }
}

// A distance net that explodes leaves its best weights, also where the moment-arm net waits for it.
static void test_best_weights(void **state) {
    (void)state;
    static const char *const recipes[] = {"accurate", "default"};
    for (int k = 0; k < 2; k++) {
        cspace_train_def def = small_def(recipes[k], 20.0);
        cspace_map map = {0};
        core_error err = {0};
        def.net.learning_rate = 1e4, def.net.schedule = NN_SCHEDULE_CONSTANT;
        assert_int_equal(cspace_train(&samples, &def, NULL, &map, &err), CORE_NOT_CONVERGED);
        assert_non_null(strstr(err.message, "at step"));
        assert_non_null(map.kernel_distance);
        assert_true(map.error.n > 0);
        bool blank = true;
        for (int i = 0; i < map.moment_arm.count_parameters; i++) blank = blank && map.moment_arm.parameters[i] == 0.0f;
        assert_true(blank == (k == 0));
        cspace_map_clear(&map);
    }
}

// Two round shapes: their nets learn all there is in a part of the passes, gradients vanish behind that and the units
// of the moment-arm net die. That is no trouble: every seed learns them, without a recovery.
static void test_round_pair(void **state) {
    (void)state;
    cspace_samples s = samples;
    s.ratio = 1.0, s.b = disc.shape;
    rows_create(ROWS, 1, true, &s.training), rows_create(HELD_OUT, 2, true, &s.held_out);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        cspace_train_def def = small_def("default", 30.0);
        def.net.layers = 3, def.net.width = 8, def.net.learning_rate = 0.03, def.net.seed = seed;
        cspace_map map;
        train(&s, &def, &map);
        print_stats("two discs", &map.error);
        assert_true(map.train_distance.recoveries == 0 && map.train_moment_arm.recoveries == 0);
        assert_true(map.error.d_mean < 0.001 && map.error.d_p99 < 0.004 && map.error.sign_errors == 0.0);
        assert_true(map.error.normal_p50 < 1.0 && map.error.arm_p50 < 0.0005);
        cspace_map_clear(&map);
    }
    cspace_rows_clear(&s.training), cspace_rows_clear(&s.held_out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),       cmocka_unit_test(test_learns),
        cmocka_unit_test(test_paper),        cmocka_unit_test(test_accurate),
        cmocka_unit_test(test_tries),        cmocka_unit_test(test_other_order),
        cmocka_unit_test(test_input_hash),   cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_subset_and_memory),
        cmocka_unit_test(test_exchange),     cmocka_unit_test(test_progress),
        cmocka_unit_test(test_best_weights), cmocka_unit_test(test_round_pair),
        cmocka_unit_test(test_arm_clip),     cmocka_unit_test(test_arm_width),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
