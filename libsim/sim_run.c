/// Runs: a scene's phases one after the other into a run file. Output never changes the steps.
#include "sim_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUN_COOKIE 0x72756e31

// Mean kinetic energy per moving grain in units of its own m g R that counts as rest.
static const double REST_ENERGY = 1e-3;
static const double STIFFNESS_WARN = 0.35; // dt sqrt(k_n/m_eff) above which a run is restless
static const int REPORT_STEPS = 64;        // steps between two progress reports
static const double CHECKPOINT_WALL = 600; // s between two checkpoints where the scene says nothing

// A run in progress.
typedef struct run {
    const sim_scene *scene;
    const sim_run_def *def;
    const core_progress *progress;
    sim_setup setup;
    sim_observe observe;
    core_run_writer *writer;
    core_run_frame frame;
    sim_moment at;
    double next_checkpoint; // s, of the simulated time or of the wall clock
    int64_t count_written;
    int64_t step_written; // step of the last frame, -1: none
    bool broken;          // a step failed: the state is not worth keeping
    bool stopped;         // was asked to stop, and did
} run;

sim_run_def sim_run_default_def(void) {
    return (sim_run_def){.cookie = RUN_COOKIE, .threads = 1};
}

// ---------------------------------------------------------------------------------------------- frames

// Planes and walls as they are now, each in its own order.
static void write_boundaries(const sim_world *w, core_run_frame *f) {
    int planes = 0, walls = 0;
    for (int b = 0; b < w->walls.count; ++b) {
        const sim_wall *wall = &w->walls.wall[b];
        if (wall->kind == SIM_BOUNDARY_PLANE) {
            const double now[3] = {wall->plane.normal[0], wall->plane.normal[1], wall->plane.offset};
            memcpy(f->plane + 3 * (size_t)planes, now, sizeof now);
            f->plane_present[planes++] = wall->present;
        } else {
            const double pose[3] = {wall->x[0], wall->x[1], wall->angle};
            memcpy(f->wall_pose + 3 * (size_t)walls, pose, sizeof pose);
            f->wall_present[walls++] = wall->present;
        }
    }
}

// Index of a boundary in the run file: planes come first, then walls.
static int index_in_file(const sim_world *w, int boundary) {
    const bool is_plane = w->walls.wall[boundary].kind == SIM_BOUNDARY_PLANE;
    int before = 0;
    for (int b = 0; b < w->walls.count; ++b) {
        const bool other_is_plane = w->walls.wall[b].kind == SIM_BOUNDARY_PLANE;
        before += (b < boundary && other_is_plane == is_plane) || (other_is_plane && !is_plane);
    }
    return before;
}

// Where the next contact is written as the run file holds it.
typedef struct contact_rows {
    const sim_world *world;
    core_run_contact *next;
} contact_rows;

static void add_row(void *arg, int a, int b, const sim_slot *slot) {
    contact_rows *rows = arg;
    const sim_contact *c = &slot->c;
    *rows->next++ = (core_run_contact){.bodies = {a >= 0 ? a : -1 - index_in_file(rows->world, -1 - a), b},
                                       .feature = c->feature,
                                       .sliding = slot->f.sliding,
                                       .d = c->d,
                                       .gradient = {c->g[0], c->g[1]},
                                       .d_theta_b = c->d_theta_b,
                                       .moment_arm = {c->r_a, c->r_b},
                                       .f_n = slot->f.f_n,
                                       .f_t = slot->f.f_t,
                                       .spring = slot->spring};
}

// What needs the touching contacts of the last step, and the frame. Contacts are kept no longer.
static core_status append_frame(run *r, core_error *err) {
    core_status status = CORE_OK;
    const sim_world *w = r->setup.world;
    const int64_t n = sim_world_contacts(w, 0, NULL, NULL, NULL, NULL);
    core_run_frame *f = &r->frame;
    core_run_contact *contacts = NULL;
    CORE_NEW_DONE(contacts, (size_t)n);
    contact_rows rows = {w, contacts};
    sim_world_visit(w, add_row, &rows);
    f->contacts = contacts;
    f->count_contacts = n;
    CORE_TRY_DONE(sim_observe_contacts(r->scene, w, n, contacts, f->observables, err));
    CORE_TRY_DONE(core_run_append(r->writer, f, err));
done:
    f->contacts = NULL;
    f->count_contacts = 0;
    core_free(contacts);
    return status;
}

static core_status write_frame(run *r, core_error *err) {
    const sim_world *w = r->setup.world;
    const sim_state s = sim_world_state(w);
    const size_t n = (size_t)s.n;
    core_run_frame *f = &r->frame;
    f->step = s.step;
    f->time = s.time;
    f->phase = r->at.phase < r->scene->count_phases ? r->at.phase : r->scene->count_phases - 1;
    memcpy(f->position, s.x, 2 * n * sizeof *s.x);
    memcpy(f->orientation, s.theta, n * sizeof *s.theta);
    memcpy(f->velocity, s.v, 2 * n * sizeof *s.v);
    memcpy(f->angular_velocity, s.omega, n * sizeof *s.omega);
    memcpy(f->image, s.image, n * sizeof *s.image);
    for (int i = 0; i < s.n; ++i) {
        f->id[i] = s.role[i] == SIM_ROLE_ABSENT ? -1 : i;
        if (f->id[i] >= 0) continue;
        f->position[2 * i] = f->position[2 * i + 1] = f->orientation[i] = NAN;
        f->velocity[2 * i] = f->velocity[2 * i + 1] = f->angular_velocity[i] = NAN;
    }
    write_boundaries(w, f);
    sim_observe_fill(r->scene, &r->setup, f->observables);
    CORE_TRY(append_frame(r, err));
    r->step_written = s.step;
    ++r->count_written;
    return CORE_OK;
}

// Writes a frame if one is due: at the first step at or after each multiple of the interval.
static core_status write_due(run *r, core_error *err) {
    const double every = r->scene->output_every, time = (double)r->setup.world->step * r->setup.dt;
    const double slack = 1e-9 * r->setup.dt; // a step that is meant to fall on the multiple does
    if (r->at.next_output * every > time + slack) return CORE_OK;
    r->at.next_output = floor((time + slack) / every) + 1;
    return write_frame(r, err);
}

// ---------------------------------------------------------------------------------------------- checkpoints

static double checkpoint_clock(const run *r) {
    return isnan(r->scene->checkpoint_every) ? core_wall_seconds() : (double)r->setup.world->step * r->setup.dt;
}

static core_status save(run *r, core_error *err) {
    if (!r->def->checkpoint_path) return CORE_OK;
    const double every = isnan(r->scene->checkpoint_every) ? CHECKPOINT_WALL : r->scene->checkpoint_every;
    r->next_checkpoint = checkpoint_clock(r) + every;
    return sim_checkpoint_write(r->def->checkpoint_path, r->scene, &r->setup, &r->at, &r->def->provenance, err);
}

// Between two steps of a phase. Never changes a step.
static core_status save_due(run *r, core_error *err) {
    r->stopped = r->def->stop && *r->def->stop;
    if (r->stopped) return save(r, err);
    if (!r->def->checkpoint_path || checkpoint_clock(r) < r->next_checkpoint - 1e-9 * r->setup.dt) return CORE_OK;
    return save(r, err);
}

// ---------------------------------------------------------------------------------------------- run files

// The tables of a run file that are made from the scene.
typedef struct tables {
    core_run_type *types;
    core_run_plane *planes;
    core_run_wall *walls;
    int32_t *species;
    uint8_t *prescribed;
    const char **phase_names;
} tables;

static void clear_tables(tables *t) {
    core_free(t->types);
    core_free(t->planes);
    core_free(t->walls);
    core_free(t->species);
    core_free(t->prescribed);
    core_free(t->phase_names);
}

// A circle or polyline as the run file stores it: points are borrowed from the world.
static core_run_wall describe_wall(const sim_boundary_def *def, const sim_wall *wall) {
    core_run_wall out = {.is_circle = def->kind == SIM_BOUNDARY_CIRCLE, .radius = def->radius};
    if (!out.is_circle) {
        out.thickness = def->thickness;
        out.count_points = def->count_points;
        out.points = wall->points_body;
    }
    memcpy(out.name, def->name, sizeof out.name);
    return out;
}

static core_status fill_tables(const run *r, tables *t, core_error *err) {
    core_status status = CORE_OK;
    const sim_scene *scene = r->scene;
    const sim_state s = sim_world_state(r->setup.world);
    int planes = 0, walls = 0;
    CORE_NEW_DONE(t->types, (size_t)scene->count_types);
    CORE_NEW_DONE(t->planes, (size_t)scene->count_boundaries);
    CORE_NEW_DONE(t->walls, (size_t)scene->count_boundaries);
    CORE_NEW_DONE(t->species, (size_t)s.n);
    CORE_NEW_DONE(t->prescribed, (size_t)s.n);
    CORE_NEW_DONE(t->phase_names, (size_t)scene->count_phases);
    for (int i = 0; i < scene->count_phases; ++i) t->phase_names[i] = scene->phases[i].common.name;
    for (int k = 0; k < scene->count_types; ++k) {
        const sim_type_def *type = &scene->types[k];
        t->types[k] = (core_run_type){.radius = type->radius, .density = type->density, .outline = type->shape.outline};
        memcpy(t->types[k].name, type->name, sizeof t->types[k].name);
        memcpy(t->types[k].shape, type->shape.name, sizeof t->types[k].shape);
    }
    for (int b = 0; b < scene->count_boundaries; ++b) {
        const sim_boundary_def *def = &scene->boundaries[b];
        if (def->kind != SIM_BOUNDARY_PLANE) {
            t->walls[walls++] = describe_wall(def, &r->setup.world->walls.wall[b]);
            continue;
        }
        core_run_plane *plane = &t->planes[planes++];
        *plane = (core_run_plane){.normal = {def->normal[0], def->normal[1]}, .offset = def->offset};
        memcpy(plane->name, def->name, sizeof plane->name);
    }
    for (int i = 0; i < s.n; ++i) {
        t->species[i] = s.type[i];
        t->prescribed[i] = s.role[i] == SIM_ROLE_PRESCRIBED;
    }
done:
    return status; // the caller clears
}

static int count_planes(const sim_scene *scene) {
    int n = 0;
    for (int b = 0; b < scene->count_boundaries; ++b) n += scene->boundaries[b].kind == SIM_BOUNDARY_PLANE;
    return n;
}

static core_status create_file(run *r, const char *path, core_error *err) {
    core_status status = CORE_OK;
    const sim_scene *scene = r->scene;
    const sim_state s = sim_world_state(r->setup.world);
    const int planes = count_planes(scene);
    tables t = {0};
    CORE_TRY_DONE(fill_tables(r, &t, err));
    const char *names[2] = {scene->path, r->setup.maps_path};
    const uint64_t hashes[2] = {core_hash_bytes(0, scene->text, strlen(scene->text)), r->setup.maps_hash};
    core_run_def def = {.count_rows = s.n,
                        .count_types = scene->count_types,
                        .types = t.types,
                        .count_planes = planes,
                        .planes = t.planes,
                        .count_walls = scene->count_boundaries - planes,
                        .walls = t.walls,
                        .period = {scene->period[0], scene->period[1]},
                        .count_observables = r->observe.count,
                        .observables = r->observe.list,
                        .count_phases = scene->count_phases,
                        .phase_names = t.phase_names,
                        .species = t.species,
                        .prescribed = t.prescribed,
                        .mass = s.mass,
                        .scene_text = scene->text,
                        .scene_path = scene->path,
                        .title = scene->title,
                        .gravity = {scene->gravity[0], scene->gravity[1]},
                        .dt = r->setup.dt,
                        .contacts = scene->contact_rows,
                        .provenance = r->def->provenance};
    def.provenance.seed = scene->seed;
    def.provenance.count_inputs = r->setup.maps_path ? 2 : 1;
    def.provenance.input_names = names;
    def.provenance.input_hashes = hashes;
    CORE_TRY_DONE(core_run_create(path, &def, &r->writer, err));
done:
    clear_tables(&t);
    return status;
}

// ---------------------------------------------------------------------------------------------- phases

// Mean over the grains of kinetic energy/(m g R).
static double mean_energy(const sim_world *w) {
    const double g = sqrt(w->gravity[0] * w->gravity[0] + w->gravity[1] * w->gravity[1]);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < w->n; ++i) {
        if (w->role[i] != SIM_ROLE_FREE) continue;
        ++count;
        const double *v = w->v + 2 * i;
        const double kinetic =
            0.5 * w->mass[i] * (v[0] * v[0] + v[1] * v[1]) + 0.5 * w->inertia[i] * w->omega[i] * w->omega[i];
        sum += kinetic / (w->mass[i] * g * w->radius[w->type[i]]);
    }
    return count > 0 ? sum / count : 0;
}

// How long a state has to be calm to be at rest: 2 sqrt(R/g) of the largest grain.
static double rest_time(const sim_world *w) {
    double radius = 0;
    for (int i = 0; i < w->n; ++i) radius = fmax(radius, w->role[i] == SIM_ROLE_PRESCRIBED ? 0 : w->radius[w->type[i]]);
    return 2 * sqrt(radius / sqrt(w->gravity[0] * w->gravity[0] + w->gravity[1] * w->gravity[1]));
}

static core_status advance(run *r, core_error *err) {
    core_status status = sim_flow_pour(&r->setup.flow, r->scene, r->setup.world, err);
    if (status == CORE_OK) status = sim_world_step(r->setup.world, err);
    r->broken = status != CORE_OK;
    if (r->broken) return status;
    sim_flow_take_out(&r->setup.flow, r->scene, r->setup.world);
    return write_due(r, err);
}

// A fixed duration, rounded up to whole steps.
static core_status run_for_time(run *r, const sim_phase_def *phase, const char *stage, core_error *err) {
    const double steps = fmax(1, ceil(phase->common.time / r->setup.dt - 1e-9));
    while ((double)r->at.step_of_phase < steps && !r->stopped) {
        if (r->at.step_of_phase % REPORT_STEPS == 0)
            core_progress_report(r->progress, stage, (double)r->at.step_of_phase * r->setup.dt, phase->common.time, "s",
                                 NULL);
        CORE_TRY(advance(r, err));
        ++r->at.step_of_phase;
        CORE_TRY(save_due(r, err));
    }
    if (!r->stopped) core_progress_report(r->progress, stage, phase->common.time, phase->common.time, "s", NULL);
    return CORE_OK;
}

// Until the grains have been calm for long enough, or the time is up.
static core_status run_until_rest(run *r, const sim_phase_def *phase, const char *stage, core_error *err) {
    const double needed = rest_time(r->setup.world), dt = r->setup.dt;
    double energy = INFINITY;
    char note[96] = "";
    sim_moment *at = &r->at;
    while ((double)at->calm * dt < needed && (double)at->step_of_phase * dt < phase->common.timeout) {
        CORE_TRY(advance(r, err));
        energy = mean_energy(r->setup.world);
        at->calm = energy < REST_ENERGY ? at->calm + 1 : 0;
        const bool reports = at->step_of_phase++ % REPORT_STEPS == 0;
        CORE_TRY(save_due(r, err));
        if (r->stopped) return CORE_OK;
        if (!reports) continue;
        snprintf(note, sizeof note, "until rest: mean kinetic energy %.2g m g R, rest below %g", energy, REST_ENERGY);
        core_progress_report(r->progress, stage, (double)at->step_of_phase * dt, 0, "s", note); // how long is not known
    }
    const bool at_rest = (double)at->calm * dt >= needed;
    snprintf(note, sizeof note, "%s: mean kinetic energy %.2g m g R", at_rest ? "at rest" : "timed out", energy);
    core_progress_report(r->progress, stage, (double)at->step_of_phase * dt, (double)at->step_of_phase * dt, "s", note);
    CORE_CHECK(
        at_rest || phase->common.continue_on_timeout, CORE_NOT_CONVERGED,
        "phase %s timed out after %g s: found mean kinetic energy %.3g m g R per grain, below %g for the last %.3g s, "
        "expected below it for %.3g s without a break",
        phase->common.name, phase->common.timeout, energy, REST_ENERGY, (double)at->calm * dt, needed);
    return CORE_OK;
}

// What a phase takes away, starts and stops.
static core_status begin_phase(run *r, const sim_phase_def *phase, core_error *err) {
    const sim_scene *scene = r->scene;
    sim_setup *setup = &r->setup;
    for (int i = 0; i < phase->count_remove; ++i) {
        const int body = setup->first_body + phase->remove[i] - scene->count_boundaries;
        if (phase->remove[i] < scene->count_boundaries) {
            sim_world_set_present(setup->world, phase->remove[i], false);
        } else {
            sim_world_leave(setup->world, 1, &body);
        }
    }
    for (int i = 0; i < phase->count_start; ++i)
        CORE_TRY(sim_flow_switch(&setup->flow, scene, setup->world, phase->start[i], true, err));
    for (int i = 0; i < phase->count_stop; ++i)
        CORE_TRY(sim_flow_switch(&setup->flow, scene, setup->world, phase->stop[i], false, err));
    return CORE_OK;
}

static core_status run_phases(run *r, core_error *err) {
    const sim_scene *scene = r->scene;
    r->next_checkpoint =
        checkpoint_clock(r) + (isnan(scene->checkpoint_every) ? CHECKPOINT_WALL : scene->checkpoint_every);
    if (!r->def->restart) CORE_TRY(write_due(r, err));
    while (r->at.phase < scene->count_phases) {
        const sim_phase_def *phase = &scene->phases[r->at.phase];
        char stage[CORE_NAME_MAX + 32];
        snprintf(stage, sizeof stage, "phase %d/%d %s", r->at.phase + 1, scene->count_phases, phase->common.name);
        if (r->at.step_of_phase == 0) CORE_TRY(begin_phase(r, phase, err)); // else a restart is in the middle of it
        CORE_TRY(phase->common.until_rest ? run_until_rest(r, phase, stage, err) : run_for_time(r, phase, stage, err));
        if (r->stopped) break;
        ++r->at.phase;
        r->at.step_of_phase = r->at.calm = 0;
        CORE_TRY(save(r, err));
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- run

static core_status check_run(const sim_scene *scene, const sim_run_def *def, core_error *err) {
    CORE_CHECK(scene && def, CORE_ARG, "sim_run: null pointer");
    CORE_CHECK(def->cookie == RUN_COOKIE, CORE_ARG, "sim_run_def was not made by sim_run_default_def");
    CORE_CHECK(def->threads >= 1 && def->threads <= 1024, CORE_RANGE, "threads: found %d, expected 1 .. 1024",
               def->threads);
    CORE_CHECK(scene->output_every > 0, CORE_RANGE, "%s: output.every: found %g s, expected a number above 0",
               scene->path, scene->output_every);
    return CORE_OK;
}

static bool is_input(const sim_scene *scene, const sim_run_def *def, const char *maps_path, const char *path) {
    bool found = core_file_same(path, scene->path) || core_file_same(path, maps_path) ||
                 core_file_same(path, scene->start_path) || core_file_same(path, core_h5_path(def->restart));
    for (int i = 0; i < scene->count_types && !found; ++i) found = core_file_same(path, scene->types[i].shape_path);
    for (int i = 0; i < scene->count_csv && !found; ++i) found = core_file_same(path, scene->csv_paths[i]);
    return found;
}

// Scene, maps, shape and CSV files must survive the run, under whatever spelling of their names, and so must the
// checkpoint that it goes on from: neither the run file, nor the checkpoints, nor the one kept before them may replace
// one.
static core_status check_outputs(const sim_scene *scene, const sim_run_def *def, const char *maps_path,
                                 const char *run_path, core_error *err) {
    core_status status = CORE_OK;
    char *previous = NULL;
    if (def->checkpoint_path) CORE_TRY_DONE(core_file_previous(def->checkpoint_path, &previous, err));
    const char *const outputs[] = {run_path, def->checkpoint_path, previous};
    for (int i = 0; i < 3; ++i)
        CORE_CHECK_DONE(!is_input(scene, def, maps_path, outputs[i]), CORE_ARG,
                        "%s: the run would overwrite its own input", outputs[i]);
done:
    core_free(previous);
    return status;
}

static void report_setup(const run *r) {
    char note[256];
    const bool warn = r->setup.stiffness > STIFFNESS_WARN;
    char stiffness[48] = "";
    if (!isnan(r->scene->kn_auto)) snprintf(stiffness, sizeof stiffness, "kn %.4g N/m (auto), ", r->scene->kn_auto);
    snprintf(note, sizeof note, "%d boundaries, %s, %sdt %.4g s%s, dt sqrt(k_n/m_eff) %.3g%s",
             r->scene->count_boundaries + r->scene->count_bodies, sim_back_end_names[r->scene->back_end], stiffness,
             r->setup.dt, isnan(r->scene->dt) ? " (auto)" : "", r->setup.stiffness,
             warn ? " - WARNING: above 0.35 contacts are restless" : "");
    core_progress_report(r->progress, "scene", r->setup.world->n, r->setup.world->n, "grains", note);
}

// Ends the file after `status`. The last state is kept, also of a phase that timed out, unless a step failed or the run
// is to go on in another file: then the frames of both are those of one run. The first failure is the one reported.
static core_status finish_file(run *r, core_status status, core_error *err) {
    if (!r->broken && !r->stopped && (status == CORE_OK || status == CORE_NOT_CONVERGED) &&
        r->step_written != r->setup.world->step) {
        const core_status last = write_frame(r, status == CORE_OK ? err : NULL);
        if (status == CORE_OK) status = last;
    }
    const core_status finished = core_run_finish(&r->writer, status == CORE_OK ? err : NULL);
    return status == CORE_OK ? finished : status;
}

core_status sim_run(const sim_scene *scene, const char *run_path, const sim_run_def *def, const core_progress *progress,
                    sim_run_report *report, core_error *err) {
    core_status status = CORE_OK;
    run r = {.scene = scene, .def = def, .progress = progress, .step_written = -1};
    const double start = core_wall_seconds();
    CORE_TRY_DONE(check_run(scene, def, err));
    CORE_CHECK_DONE(run_path, CORE_ARG, "sim_run: path is NULL");
    CORE_TRY_DONE(sim_setup_create(scene, def, progress, &r.setup, err));
    CORE_TRY_DONE(check_outputs(scene, def, r.setup.maps_path, run_path, err));
    if (def->restart) CORE_TRY_DONE(sim_checkpoint_read(def->restart, scene, &r.setup, &r.at, err));
    CORE_TRY_DONE(sim_observe_create(scene, &r.observe, err));
    const int planes = count_planes(scene);
    CORE_TRY_DONE(core_run_frame_create(r.setup.world->n, r.observe.count, planes, &r.frame, err));
    CORE_TRY_DONE(core_run_frame_add_walls(scene->count_boundaries - planes, &r.frame, err));
    CORE_TRY_DONE(create_file(&r, run_path, err));
    report_setup(&r);
    status = finish_file(&r, run_phases(&r, err), err);
    if (status == CORE_OK && report) {
        *report = (sim_run_report){.stopped = r.stopped,
                                   .steps = r.setup.world->step,
                                   .frames = r.count_written,
                                   .simulated = (double)r.setup.world->step * r.setup.dt,
                                   .wall = core_wall_seconds() - start,
                                   .dt = r.setup.dt,
                                   .stiffness = r.setup.stiffness,
                                   .state_hash = sim_world_hash(r.setup.world)};
        sim_world_totals(r.setup.world, &report->totals);
    }
done:
    if (r.writer) core_run_finish(&r.writer, NULL);
    core_run_frame_clear(&r.frame);
    sim_observe_clear(&r.observe);
    sim_setup_clear(&r.setup);
    return status;
}

core_status sim_run_check(const sim_scene *scene, const sim_run_def *def, char *missing, size_t n_bytes,
                          core_error *err) {
    sim_setup setup = {0};
    CORE_TRY(check_run(scene, def, err));
    CORE_CHECK(missing && n_bytes > 0, CORE_ARG, "sim_run_check: no room for the command that makes maps");
    const char *maps = sim_setup_maps(scene, def);
    const bool lacks_maps = scene->back_end == SIM_NEURAL && !(maps && core_file_exists(maps));
    sim_scene checked = *scene;                   // borrows all of it
    if (lacks_maps) checked.back_end = SIM_EXACT; // for the rest of the checks any back end will do
    const core_status status = sim_setup_create(&checked, def, NULL, &setup, err);
    sim_setup_clear(&setup);
    if (status == CORE_OK && lacks_maps) sim_setup_hint(scene, def, missing, n_bytes);
    if (status == CORE_OK && !lacks_maps) missing[0] = '\0';
    return status;
}
