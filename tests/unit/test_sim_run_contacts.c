/// Contact rows of a run are its forces: summed over a grain they give its change of velocity and spin from step to
/// step, and on boundaries the loads that the run observes.
#include "test_folder.h"

#include "core_run.h"
#include "sim.h"
#include "sim_measure.h"

#include "sim_check.h"

static const char *const SCENE = "types:\n"
                                 "  u: {shape: u.wkt, radius: 0.01, density: 2500}\n"
                                 "contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}\n"
                                 "boundaries:\n"
                                 "  - {name: bowl, circle: {centre: [0.05, 0.06], radius: 0.08}}\n"
                                 "  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}\n"
                                 "fill: [{type: u, count: 9, region: [0.01, 0.02, 0.09, 0.1]}]\n"
                                 "phases: [{name: fall, time: 0.15}, {name: look, time: 0.002}]\n"
                                 "narrow_phase: exact\n"
                                 "smoothing: 0\n"
                                 "output: {every: 1.0e-9, contacts: true}\n";

static core_run_reader *run_scene(char path[TEST_PATH_MAX]) {
    sim_scene scene = {0};
    core_run_reader *r = NULL;
    sim_run_def def = sim_run_default_def();
    check_ok(sim_scene_read_text(SCENE, "../shapes/scene.yaml", &scene, err));
    check_ok(sim_run(&scene, test_folder_path(path, "rows.h5"), &def, NULL, NULL, err));
    sim_scene_clear(&scene);
    check_ok(core_run_open(path, &r, err));
    return r;
}

// Adds force and torque of a contact to the sums of a grain, rows (x, y, torque).
static void add_contact(const core_run_contact *c, const double *x, double *sum) {
    const double *g = c->gradient, slope = sqrt(g[0] * g[0] + g[1] * g[1]);
    const double force[2] = {c->f_n * g[0] - c->f_t * g[1] / slope, c->f_n * g[1] + c->f_t * g[0] / slope};
    const int a = c->bodies[0], b = c->bodies[1];
    sum[3 * b] += force[0], sum[3 * b + 1] += force[1];
    sum[3 * b + 2] += c->f_n * c->d_theta_b + c->f_t * c->moment_arm[1];
    if (a < 0) return;
    const double branch[2] = {x[2 * b] - x[2 * a], x[2 * b + 1] - x[2 * a + 1]};
    const double d_theta_a = -c->d_theta_b - (branch[0] * g[1] - branch[1] * g[0]);
    sum[3 * a] -= force[0], sum[3 * a + 1] -= force[1];
    sum[3 * a + 2] += c->f_n * d_theta_a - c->f_t * c->moment_arm[0];
}

static void rows_move_the_grains(void **state) {
    (void)state;
    enum { N = 9 };
    char path[TEST_PATH_MAX];
    core_run_reader *r = run_scene(path);
    const core_run_info *info = core_run_describe(r);
    core_run_frame f[2] = {{0}, {0}};
    for (int k = 0; k < 2; ++k) {
        check_ok(core_run_frame_create(N, info->count_observables, info->count_planes, &f[k], err));
        check_ok(core_run_frame_add_walls(info->count_walls, &f[k], err));
    }
    sdf_mass mass;
    check_ok(sdf_outline_mass(&info->types[0].outline, &mass, err));
    const double R = info->types[0].radius, gyration2 = R * R * mass.second_moment / mass.area;
    int64_t touched = 0;
    for (int64_t k = info->count_frames - 20; k < info->count_frames; ++k) {
        core_run_contact *c = NULL;
        int64_t n = 0;
        double sum[3 * N] = {0};
        check_ok(core_run_read(r, k - 1, &f[0], err));
        check_ok(core_run_read(r, k, &f[1], err));
        check_ok(core_run_read_contacts(r, k, &c, &n, err));
        for (int64_t i = 0; i < n; ++i) add_contact(&c[i], f[0].position, sum);
        for (int i = 0; i < N; ++i) {
            const double m = info->mass[i];
            for (int axis = 0; axis < 2; ++axis) {
                const double change = f[1].velocity[2 * i + axis] - f[0].velocity[2 * i + axis];
                check_near(change, info->dt * (info->gravity[axis] + sum[3 * i + axis] / m), 1e-13);
            }
            check_near(f[1].angular_velocity[i] - f[0].angular_velocity[i], info->dt * sum[3 * i + 2] / (m * gyration2),
                       1e-11);
        }
        touched += n;
        core_free(c);
    }
    if (touched <= 60) fail_msg("%lld contacts in 20 steps, expected more than 60", (long long)touched);
    // the plane comes first in the file, the circle second; in the scene it is the other way round
    double force[4];
    check_ok(sim_measure_boundary_forces(r, info->count_frames - 1, force, err));
    const char *const names[4] = {"load_x_floor", "load_y_floor", "load_x_bowl", "load_y_bowl"};
    double largest = 0;
    for (int k = 0; k < 4; ++k) {
        const int at = core_run_observable_index(r, names[k]);
        assert_true(at >= 0);
        check_near(force[k], f[1].observables[at], 1e-11);
        largest = fmax(largest, fabs(force[k]));
    }
    assert_true(largest > 1);
    for (int k = 0; k < 2; ++k) core_run_frame_clear(&f[k]);
    core_run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_move_the_grains, test_folder_make, test_folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
