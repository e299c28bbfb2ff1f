/// Runs: a scene's phases one after the other into a run file. Output never changes the steps.
#include "fluid_scene_private.h"

#include "core_run.h"

#include <math.h>
#include <stdio.h>

#define RUN_COOKIE 0x464c5255
#define REPORT_STEPS 8 // steps between two progress reports

static const double REST_ENERGY = 1e-2;    // mean kinetic energy per particle in units of m g h that counts as rest
static const double REST_TIME = 10;        // sqrt(h/g): how long it has to stay below
static const double CHECKPOINT_WALL = 600; // s between two checkpoints where the scene says nothing

// A run in progress.
typedef struct run {
    const fluid_scene *scene;
    const fluid_run_def *def;
    const core_progress *progress;
    fluid_world *world;
    core_run_writer *writer;
    core_run_frame frame;
    fluid_moment at;
    double next_checkpoint; // s, of the simulated time or of the wall clock
    int64_t count_written, step_written;
    bool broken; // a step failed: the state is not worth keeping
    bool stopped;
} run;

fluid_run_def fluid_run_default_def(void) {
    return (fluid_run_def){.cookie = RUN_COOKIE, .threads = 1};
}

// ---------------------------------------------------------------------------------------------- setup

// Fills the world by the scene, or only counts its particles.
static core_status fill_world(const fluid_scene *scene, fluid_world *world, bool store, int *count, core_error *err) {
    *count = 0;
    for (int i = 0; i < scene->count_fill; ++i) {
        int added = 0;
        if (store)
            CORE_TRY(fluid_world_seed(world, &scene->fill[i], &added, err));
        else
            CORE_TRY(fluid_world_seed_count(world, &scene->fill[i], &added, err));
        CORE_CHECK(added <= FLUID_PARTICLES_MAX - *count, CORE_RANGE, "%s: fill: more than %d particles", scene->path,
                   FLUID_PARTICLES_MAX);
        *count += added;
    }
    CORE_CHECK(*count > 0, CORE_RANGE, "%s: fill: found no room for a particle, expected at least one", scene->path);
    return CORE_OK;
}

static core_status make_world(const fluid_scene *scene, const fluid_run_def *def, fluid_world **world,
                              core_error *err) {
    core_status status = CORE_OK;
    fluid_def made = scene->def;
    int count = 0;
    made.threads = def->threads;
    made.capacity = 1;
    CORE_TRY_DONE(fluid_world_create(&made, scene->count_solids, scene->solids, world, err));
    CORE_TRY_DONE(fill_world(scene, *world, false, &count, err));
    fluid_world_destroy(world);
    made.capacity = count;
    CORE_TRY_DONE(fluid_world_create(&made, scene->count_solids, scene->solids, world, err));
    status = fill_world(scene, *world, true, &count, err);
done:
    if (status == CORE_OK) return CORE_OK;
    fluid_world_destroy(world);
    return core_error_prefix(err, status, "%s", scene->path);
}

static core_status take_away(fluid_world *world, int solid, core_error *err) {
    return fluid_world_set_present(world, solid, false, err);
}

core_status fluid__begin_phase(const fluid_scene *scene, int k, fluid_world *world, core_error *err) {
    const fluid_phase_def *phase = &scene->phases[k];
    const struct {
        const int *list;
        int count;
        core_status (*act)(fluid_world *world, int solid, core_error *err);
    } actions[] = {{phase->remove, phase->count_remove, take_away},
                   {phase->start, phase->count_start, fluid_world_start_motion},
                   {phase->stop, phase->count_stop, fluid_world_stop_motion}};
    for (size_t what = 0; what < sizeof actions / sizeof *actions; ++what)
        for (int i = 0; i < actions[what].count; ++i) {
            const fluid_boundary_def *b = &scene->boundaries[actions[what].list[i]];
            for (int s = b->first; s < b->first + b->count; ++s) CORE_TRY(actions[what].act(world, s, err));
        }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- run

static core_status write_frame(run *r, core_error *err) {
    fluid__run_fill(r->scene, r->world, r->at.phase, &r->frame);
    CORE_TRY(core_run_append(r->writer, &r->frame, err));
    r->step_written = r->world->step;
    ++r->count_written;
    return CORE_OK;
}

// Writes a frame if one is due: at the first step at or after each multiple of the interval.
static core_status write_due(run *r, core_error *err) {
    const double every = r->scene->output_every, slack = 1e-9 * every;
    if ((double)r->at.next_output * every > r->world->time + slack) return CORE_OK;
    r->at.next_output = (int64_t)floor((r->world->time + slack) / every) + 1;
    return write_frame(r, err);
}

static double checkpoint_clock(const run *r) {
    return isnan(r->scene->checkpoint_every) ? core_wall_seconds() : r->world->time;
}

static core_status save(run *r, core_error *err) {
    if (!r->def->checkpoint_path) return CORE_OK;
    r->next_checkpoint =
        checkpoint_clock(r) + (isnan(r->scene->checkpoint_every) ? CHECKPOINT_WALL : r->scene->checkpoint_every);
    return fluid__checkpoint_write(r->def->checkpoint_path, r->scene, r->world, &r->at, &r->def->provenance, err);
}

// Mean kinetic energy per particle in m g h.
static double mean_energy(const fluid_world *w) {
    fluid_totals t;
    double g2 = 0;
    fluid_world_totals(w, &t);
    for (int a = 0; a < w->grid.dim; ++a) g2 += w->def.gravity[a] * w->def.gravity[a];
    return t.kinetic / (t.mass * sqrt(g2) * w->grid.h);
}

// One step, at most to the end of the phase; what follows from it.
static core_status advance(run *r, double limit, core_error *err) {
    const core_status status = fluid_world_step(r->world, limit, err);
    r->broken = status != CORE_OK;
    if (r->broken) return status;
    CORE_TRY(write_due(r, err));
    if (r->def->stop && *r->def->stop) {
        r->stopped = true;
        return save(r, err);
    }
    return checkpoint_clock(r) < r->next_checkpoint ? CORE_OK : save(r, err);
}

static core_status run_for_time(run *r, const fluid_phase_def *phase, const char *stage, core_error *err) {
    const double end = r->at.phase_start + phase->common.time, least = 1e-9 * phase->common.time;
    while (!r->stopped && end - r->world->time > least) {
        if (r->world->step % REPORT_STEPS == 0)
            core_progress_report(r->progress, stage, r->world->time - r->at.phase_start, phase->common.time, "s", NULL);
        CORE_TRY(advance(r, end - r->world->time, err));
    }
    if (!r->stopped) core_progress_report(r->progress, stage, phase->common.time, phase->common.time, "s", NULL);
    return CORE_OK;
}

static core_status run_until_rest(run *r, const fluid_phase_def *phase, const char *stage, core_error *err) {
    const fluid_world *w = r->world;
    double g2 = 0, energy = INFINITY;
    char note[96];
    for (int a = 0; a < w->grid.dim; ++a) g2 += w->def.gravity[a] * w->def.gravity[a];
    const double needed = REST_TIME * sqrt(w->grid.h / sqrt(g2)), end = r->at.phase_start + phase->common.timeout;
    bool calm = false;
    while (!r->stopped && !calm && end > w->time) {
        CORE_TRY(advance(r, INFINITY, err));
        energy = mean_energy(w);
        if (energy >= REST_ENERGY) r->at.calm_since = NAN;
        if (energy < REST_ENERGY && isnan(r->at.calm_since)) r->at.calm_since = w->time;
        calm = w->time - r->at.calm_since >= needed;
        if (w->step % REPORT_STEPS != 0) continue;
        snprintf(note, sizeof note, "until rest: mean kinetic energy %.2g m g h, rest below %g", energy, REST_ENERGY);
        core_progress_report(r->progress, stage, w->time - r->at.phase_start, 0, "s", note); // how long is not known
    }
    CORE_CHECK(
        calm || r->stopped || phase->common.continue_on_timeout, CORE_NOT_CONVERGED,
        "phase %s timed out after %g s: found a mean kinetic energy of %.3g m g h per particle, expected below %g "
        "for %.3g s without a break",
        phase->common.name, phase->common.timeout, energy, REST_ENERGY, needed);
    return CORE_OK;
}

static core_status run_phases(run *r, core_error *err) {
    const fluid_scene *scene = r->scene;
    r->next_checkpoint =
        checkpoint_clock(r) + (isnan(scene->checkpoint_every) ? CHECKPOINT_WALL : scene->checkpoint_every);
    if (!r->def->restart) CORE_TRY(write_due(r, err));
    while (r->at.phase < scene->count_phases) {
        const fluid_phase_def *phase = &scene->phases[r->at.phase];
        char stage[CORE_NAME_MAX + 32];
        snprintf(stage, sizeof stage, "phase %d/%d %s", r->at.phase + 1, scene->count_phases, phase->common.name);
        if (!r->at.begun) {
            CORE_TRY(fluid__begin_phase(scene, r->at.phase, r->world, err));
            r->at.phase_start = r->world->time;
            r->at.calm_since = NAN;
            r->at.begun = true;
        }
        CORE_TRY(phase->common.until_rest ? run_until_rest(r, phase, stage, err) : run_for_time(r, phase, stage, err));
        if (r->stopped) return CORE_OK;
        ++r->at.phase;
        r->at.begun = false;
        CORE_TRY(save(r, err));
    }
    return CORE_OK;
}

static core_status check_run(const fluid_scene *scene, const fluid_run_def *def, core_error *err) {
    CORE_CHECK(scene && def, CORE_ARG, "fluid_run: null pointer");
    CORE_CHECK(def->cookie == RUN_COOKIE, CORE_ARG, "fluid_run_def was not made by fluid_run_default_def");
    CORE_CHECK(def->threads >= 1 && def->threads <= 1024, CORE_RANGE, "threads: found %d, expected 1 .. 1024",
               def->threads);
    return CORE_OK;
}

static bool is_input(const fluid_scene *scene, const fluid_run_def *def, const char *path) {
    bool found = core_file_same(path, scene->path) || core_file_same(path, core_h5_path(def->restart));
    for (int i = 0; i < scene->count_shapes && !found; ++i) found = core_file_same(path, scene->shape_paths[i]);
    for (int i = 0; i < scene->count_tables && !found; ++i) found = core_file_same(path, scene->table_paths[i]);
    return found;
}

// Files that the run reads must survive it, and so must the checkpoint it goes on from.
static core_status check_outputs(const fluid_scene *scene, const fluid_run_def *def, const char *run_path,
                                 core_error *err) {
    core_status status = CORE_OK;
    char *previous = NULL;
    if (def->checkpoint_path) CORE_TRY_DONE(core_file_previous(def->checkpoint_path, &previous, err));
    const char *const outputs[] = {run_path, def->checkpoint_path, previous};
    for (int i = 0; i < 3; ++i)
        CORE_CHECK_DONE(!is_input(scene, def, outputs[i]), CORE_ARG, "%s: the run would overwrite its own input",
                        outputs[i]);
done:
    core_free(previous);
    return status;
}

static void report_setup(const run *r) {
    char note[160];
    const fluid_world *w = r->world;
    snprintf(note, sizeof note, "continuum %s, %d x %d cells of %g m, %d solid%s",
             w->def.material == FLUID_SAND ? "sand" : "water", w->grid.cells[0] - 2, w->grid.cells[1] - 2, w->grid.h,
             w->count_solids, w->count_solids == 1 ? "" : "s");
    core_progress_report(r->progress, "scene", w->p.n, w->p.n, "particles", note);
}

// Ends the file after `status`. The last state is kept, also of a phase that timed out, unless a step failed or the run
// is to go on in another file: then the frames of both are those of one run.
static core_status finish_file(run *r, core_status status, core_error *err) {
    if (!r->broken && !r->stopped && (status == CORE_OK || status == CORE_NOT_CONVERGED) &&
        r->step_written != r->world->step) {
        const core_status last = write_frame(r, status == CORE_OK ? err : NULL);
        if (status == CORE_OK) status = last;
    }
    const core_status finished = core_run_finish(&r->writer, status == CORE_OK ? err : NULL);
    return status == CORE_OK ? finished : status;
}

core_status fluid_run(const fluid_scene *scene, const char *run_path, const fluid_run_def *def,
                      const core_progress *progress, fluid_run_report *report, core_error *err) {
    core_status status = CORE_OK;
    run r = {.scene = scene, .def = def, .progress = progress, .step_written = -1, .at = {.calm_since = NAN}};
    const double start = core_wall_seconds();
    int32_t *colour = NULL;
    CORE_TRY_DONE(check_run(scene, def, err));
    CORE_CHECK_DONE(run_path, CORE_ARG, "fluid_run: path is NULL");
    CORE_TRY_DONE(check_outputs(scene, def, run_path, err));
    CORE_TRY_DONE(make_world(scene, def, &r.world, err));
    CORE_NEW_DONE(colour, (size_t)r.world->p.n);
    fluid__run_colour(scene, r.world, colour); // by where particles start, also of a run that goes on
    if (def->restart) CORE_TRY_DONE(fluid__checkpoint_read(def->restart, scene, r.world, &r.at, err));
    CORE_TRY_DONE(fluid__run_create(scene, r.world, colour, def, run_path, &r.writer, &r.frame, err));
    report_setup(&r);
    status = finish_file(&r, run_phases(&r, err), err);
    if (status == CORE_OK && report) {
        *report = (fluid_run_report){.steps = r.world->step,
                                     .frames = r.count_written,
                                     .particles = r.world->p.n,
                                     .simulated = r.world->time,
                                     .wall = core_wall_seconds() - start,
                                     .stopped = r.stopped,
                                     .state_hash = fluid_world_hash(r.world)};
        fluid_world_totals(r.world, &report->totals);
    }
done:
    if (r.writer) core_run_finish(&r.writer, NULL);
    core_free(colour);
    core_run_frame_clear(&r.frame);
    fluid_world_destroy(&r.world);
    return status;
}

core_status fluid_run_check(const fluid_scene *scene, const fluid_run_def *def, core_error *err) {
    fluid_world *world = NULL;
    CORE_TRY(check_run(scene, def, err));
    const core_status status = make_world(scene, def, &world, err);
    fluid_world_destroy(&world);
    return status;
}
