/// Scenes made at random, the same for the same seed: types, sizes, boundaries, laws of contact and motion, pours,
/// outlets, phases, all narrow phases. Each is run for some hundredths of a second. It ends, or is refused in one line;
/// every state is finite, the energy balance holds, and a run with two threads and one that goes on from a checkpoint
/// end in the same bits.
///   random_scenes PROJECT FIRST COUNT [SECONDS [KEEP]]
/// Scenes FIRST .. FIRST + COUNT - 1, or as many of them as begin within SECONDS. KEEP: a folder for the texts of
/// scenes that fail.
#include "unit/test_folder.h"

#include "core_run.h"
#include "random_scenes.h"

#include <math.h>

/// Error of the energy balance in units of the energy that was moved, where no contact is deeper than DEPTH_MAX R of
/// the smallest grain (deeper ones come out of a grain on another side, which no potential describes). Smoothed
/// distances, trained maps and 2 planes a pair have gradients that differ a little from those of their distances.
static const double BALANCE_MAX[] = {[SIM_EXACT] = 0.05, [SIM_MINIMISER] = 0.1};
static const double DEPTH_MAX = 0.1;

/// What became of the scenes.
typedef struct tally {
    int run, refused, stopped, restarted, balanced, failed;
    int64_t steps, frames;
    double worst_balance; // of those that count
    uint64_t worst_seed;
} tally;

/// One scene under way.
typedef struct trial {
    uint64_t seed;
    const char *text, *keep;
    tally *t;
} trial;

static void complain(const trial *x, const char *what, const char *message) {
    printf("FAILED: scene %llu: %s: %s\n", (unsigned long long)x->seed, what, message);
    fflush(stdout);
    ++x->t->failed;
    if (!x->keep) return;
    char path[TEST_PATH_MAX];
    snprintf(path, sizeof path, "%s/%llu.yaml", x->keep, (unsigned long long)x->seed);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fputs(x->text, f);
    fclose(f);
}

/// True if a refusal is one line; else complains.
static bool in_words(const trial *x, const core_error *err) {
    const bool good = err->message[0] && !strchr(err->message, '\n');
    if (!good) complain(x, "a refusal that is not one line", err->message);
    return good;
}

// ---------------------------------------------------------------------------------------------- energy

/// Error of the balance over the energy that was moved; *depth: of the deepest contact, m. Negative: not measured.
static double balance_error(const trial *x, core_run_reader *run, core_run_frame *f, double *depth) {
    static const char *const names[] = {
        "energy_balance",    "kinetic_energy", "potential_energy", "elastic_energy",       "work",
        "dissipated_normal", "removed_energy", "penetration_max",  "dissipated_tangential"};
    enum { BALANCE, KINETIC, POTENTIAL, ELASTIC, WORK, NORMAL, REMOVED, DEPTH, TANGENTIAL, COUNT };
    const core_run_info *info = core_run_describe(run);
    core_error err = {0};
    int at[COUNT];
    double first[COUNT] = {0}, moved = 0, worst = 0;
    for (int k = 0; k < COUNT; ++k) at[k] = core_run_observable_index(run, names[k]);
    *depth = 0;
    for (int64_t i = 0; i < info->count_frames; ++i) {
        double v[COUNT];
        if (core_run_read(run, i, f, &err) != CORE_OK) {
            complain(x, "a frame", err.message);
            return -1;
        }
        for (int k = 0; k < COUNT; ++k) v[k] = f->observables[at[k]];
        if (i == 0) memcpy(first, v, sizeof v);
        *depth = fmax(*depth, v[DEPTH]);
        worst = fmax(worst, fabs(v[BALANCE] - first[BALANCE]));
        moved = fmax(moved, v[KINETIC] + v[ELASTIC] + fabs(v[POTENTIAL] - first[POTENTIAL]) + v[NORMAL] +
                                v[TANGENTIAL] + fabs(v[WORK]) + fabs(v[REMOVED]));
        for (int k = 0; k < info->count_observables; ++k)
            if (!isfinite(f->observables[k])) complain(x, "not finite", info->observable_names[k]);
    }
    return moved > 0 ? worst / moved : 0;
}

static void check_energy(const trial *x, const sim_scene *scene, const char *path) {
    core_run_reader *run = NULL;
    core_run_frame f = {0};
    core_error err = {0};
    double depth = 0, smallest = INFINITY;
    if (core_run_open(path, &run, &err) != CORE_OK) {
        complain(x, "its run", err.message);
        return;
    }
    const core_run_info *info = core_run_describe(run);
    if (core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, NULL) != CORE_OK ||
        core_run_frame_add_walls(info->count_walls, &f, NULL) != CORE_OK)
        abort();
    const double error = balance_error(x, run, &f, &depth);
    x->t->frames += info->count_frames;
    core_run_frame_clear(&f);
    core_run_close(&run);
    for (int k = 0; k < scene->count_types; ++k) smallest = fmin(smallest, scene->types[k].radius);
    if (error < 0 || scene->back_end == SIM_NEURAL || scene->contact_planes > 1 || depth > DEPTH_MAX * smallest) return;
    ++x->t->balanced;
    if (error > x->t->worst_balance) x->t->worst_balance = error, x->t->worst_seed = x->seed;
    if (error <= BALANCE_MAX[scene->back_end]) return;
    snprintf(err.message, sizeof err.message,
             "found an error of %.3g of the energy that was moved, expected at most %g", error,
             BALANCE_MAX[scene->back_end]);
    complain(x, "energy balance", err.message);
}

// ---------------------------------------------------------------------------------------------- runs

/// The same run in another way ends in the same bits.
static void check_same(const trial *x, const sim_scene *scene, const char *what, const sim_run_def *def,
                       uint64_t expected) {
    sim_run_report report = {0};
    core_error err = {0};
    if (sim_run(scene, test_folder_file("again.h5"), def, NULL, &report, &err) != CORE_OK) {
        complain(x, what, err.message);
    } else if (report.state_hash != expected) {
        snprintf(err.message, sizeof err.message, "found state %016llx, expected %016llx",
                 (unsigned long long)report.state_hash, (unsigned long long)expected);
        complain(x, what, err.message);
    }
}

static void check_restart(const trial *x, const char *checkpoint, uint64_t expected) {
    sim_scene scene = {0};
    core_error err = {0};
    sim_run_def def = sim_run_default_def();
    char previous[TEST_PATH_MAX + 2];
    snprintf(previous, sizeof previous, "%s.1", checkpoint);
    if (!core_file_exists(previous)) return;
    if (sim_checkpoint_open(previous, &def.restart, &err) != CORE_OK ||
        sim_checkpoint_scene(def.restart, &scene, &err) != CORE_OK) {
        complain(x, "its checkpoint", err.message);
    } else {
        check_same(x, &scene, "restarted", &def, expected);
        ++x->t->restarted;
    }
    sim_scene_clear(&scene);
    core_h5_close(&def.restart);
}

static void try_scene(const trial *x, const char *scene_path) {
    sim_scene scene = {0};
    core_error err = {0};
    sim_run_report report = {0};
    sim_run_def def = sim_run_default_def();
    char run[TEST_PATH_MAX], checkpoint[TEST_PATH_MAX], missing[TEST_PATH_MAX];
    def.checkpoint_path = test_folder_path(checkpoint, "run.checkpoint.h5");
    core_status status = sim_scene_read_text(x->text, scene_path, &scene, &err);
    if (status == CORE_OK) status = sim_run_check(&scene, &def, missing, sizeof missing, &err);
    if (status != CORE_OK) {
        x->t->refused += in_words(x, &err);
        sim_scene_clear(&scene);
        return;
    }
    status = sim_run(&scene, test_folder_path(run, "run.h5"), &def, NULL, &report, &err);
    if (status == CORE_OK) {
        ++x->t->run;
        x->t->steps += report.steps;
        check_energy(x, &scene, run);
        check_restart(x, checkpoint, report.state_hash);
        def = sim_run_default_def();
        def.threads = 2;
        check_same(x, &scene, "2 threads", &def, report.state_hash);
    } else if (status == CORE_NOT_CONVERGED || status == CORE_NONFINITE) {
        x->t->stopped += in_words(x, &err); // the guard spoke
        printf("scene %llu: %s\n", (unsigned long long)x->seed, err.message);
    } else {
        complain(x, "run", err.message);
    }
    sim_scene_clear(&scene);
}

int main(int argc, char **argv) {
    static char text[RANDOM_SCENE_BYTES];
    tally t = {0};
    if (argc < 4 || argc > 6) {
        fprintf(stderr, "usage: random_scenes PROJECT FIRST COUNT [SECONDS [KEEP]]\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    const double end = argc > 4 ? core_wall_seconds() + strtod(argv[4], NULL) : INFINITY;
    uint64_t seed = first;
    for (; seed < first + count && core_wall_seconds() < end; ++seed) {
        if (test_folder_make(NULL) != 0) return 1;
        char path[TEST_PATH_MAX];
        random_scene_write(seed, argv[1], text);
        const trial x = {seed, text, argc > 5 ? argv[5] : NULL, &t};
        try_scene(&x, test_folder_path(path, "scene.yaml"));
        test_folder_remove(NULL);
    }
    printf("%llu scenes: %d run (%lld steps, %lld frames, %d restarted), %d refused, %d stopped by the guard; energy "
           "of %d "
           "balanced to %.2g (scene %llu); %d failures\n",
           (unsigned long long)(seed - first), t.run, (long long)t.steps, (long long)t.frames, t.restarted, t.refused,
           t.stopped, t.balanced, t.worst_balance, (unsigned long long)t.worst_seed, t.failed);
    if (2 * t.run < (int)(seed - first)) printf("FAILED: more than half of the scenes did not run\n");
    return t.failed > 0 || 2 * t.run < (int)(seed - first);
}
