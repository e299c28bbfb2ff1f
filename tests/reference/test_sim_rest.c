/// Rest: a settled pile of non-convex grains stops with two contact planes a pair; with one it keeps trembling.
#include "sim_physics.h"
#include "sim_private.h"

enum { GRAINS = 12 };

/// What is left of the motion, over a while.
typedef struct unrest {
    double kinetic;     // mean over grains and steps, m g R
    double creep, most; // mean and largest speed at which grains leave their places, R per sqrt(R/g)
} unrest;

static sim_type_def types[2]; // R = 1 m, mass 1 kg; a U and a bar

static int make(void **state) {
    (void)state;
    if (sim_fixture_u("u", 1, 1, &types[0], NULL) != CORE_OK) return 1;
    if (sim_fixture_block("bar", 1.8, .6, 1, &types[1], NULL) != CORE_OK) return 1;
    for (int t = 0; t < 2; ++t) types[t].density = 1 / (types[t].shape.area * types[t].radius * types[t].radius);
    return 0;
}

static int clear(void **state) {
    (void)state;
    for (int t = 0; t < 2; ++t) sdf_shape_clear(&types[t].shape);
    return 0;
}

// Falls for `time` sqrt(R/g), then is watched for `watch`.
static unrest settle(int planes, double time, double watch) {
    const sim_boundary_def box[3] = {{.normal = {0, 1}, .present = true},
                                     {.normal = {1, 0}, .present = true},
                                     {.normal = {-1, 0}, .offset = -4.6, .present = true}};
    const sim_contact_law law = sim_fixture_law(1e4, .4, .5); // m g/k_n = 1e-4 R
    sim_contact_law laws[10];
    sim_fixture_laws(law, 2, 3, laws);
    const double dt = sim_dt_auto(2, types, 3, laws, .25);
    sim_world *w = physics_world(GRAINS, 2, types, 3, box, law, 1, dt, physics_exact(2, types, 0, planes));
    for (int i = 0; i < GRAINS; ++i) physics_add(w, i % 2, 1.2 + 2.2 * (i % 2), 1.1 + 2.1 * (i / 2), 1.3 * i, 0, 0, 0);
    physics_steps(w, (int64_t)(time / dt));
    double from[2 * GRAINS];
    memcpy(from, sim_world_state(w).x, sizeof from);
    const int64_t n = (int64_t)(watch / dt);
    unrest u = {0};
    for (int64_t i = 0; i < n; ++i) {
        physics_steps(w, 1);
        sim_totals t;
        sim_world_totals(w, &t);
        u.kinetic += t.kinetic / GRAINS / (double)n;
    }
    for (int i = 0; i < GRAINS; ++i) {
        const double *x = sim_world_state(w).x + 2 * i, dx = x[0] - from[2 * i], dy = x[1] - from[2 * i + 1];
        const double speed = sqrt(dx * dx + dy * dy) / watch;
        u.creep += speed / GRAINS;
        u.most = fmax(u.most, speed);
    }
    sim_world_destroy(&w);
    return u;
}

static void a_pile_comes_to_rest(void **state) {
    (void)state;
    const unrest one = settle(1, 40, 5), two = settle(2, 40, 5);
    printf("one plane: kinetic energy %.2g m g R, creep %.2g, at most %.2g R per sqrt(R/g)\n", one.kinetic, one.creep,
           one.most);
    physics_row_below("pile at rest, 2 planes: kinetic energy per grain, m g R", 1e-6, two.kinetic);
    physics_row_below("pile at rest, 2 planes: creep, R per sqrt(R/g)", 1e-4, two.creep);
    physics_row_below("pile at rest, 2 planes: largest creep, R per sqrt(R/g)", 2e-4, two.most);
    assert_true(one.kinetic > 5 * two.kinetic);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pile_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
