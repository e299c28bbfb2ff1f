/// Scene files: phases, and what they take away, start and stop.

#include "sim_scene_private.h"

typedef sim__reader reader;

/// What phases have done so far with a boundary, body, pour or outlet.
typedef struct history {
    bool gone, started, stopped;
} history;

// Names of a list as indices among `kinds`; allocated.
static core_status read_names(const reader *r, const core_yaml_node *names, int kinds, int **list, int *count,
                              core_error *err) {
    void *array = NULL;
    CORE_TRY(sim__scene_array((size_t)core_yaml_count(names), sizeof **list, &array, err));
    *list = array;
    for (int i = 0; i < core_yaml_count(names); i++) {
        const core_yaml_node *place = core_yaml_at(names, i);
        CORE_TRY(sim__scene_find(r, place, core_yaml_scalar(place), kinds, &(*list)[i], err));
        ++*count;
    }
    return CORE_OK;
}

// The flag of an actor that says whether it waits for a phase; NULL: nothing there can be started.
static bool *waits(const sim_scene *scene, int actor) {
    if (actor < scene->count_boundaries) return &scene->boundaries[actor].motion.waits;
    actor -= scene->count_boundaries;
    if (actor < scene->count_bodies) return &scene->bodies[actor].motion.waits;
    actor -= scene->count_bodies;
    return actor < scene->count_pours ? &scene->pours[actor].waits : &scene->outlets[actor - scene->count_pours].waits;
}

static core_status read_actions(const reader *r, const core_yaml_node *node, history *past, sim_phase_def *phase,
                                core_error *err) {
    const core_yaml_node *remove = core_yaml_get(node, "remove"), *start = core_yaml_get(node, "start");
    const core_yaml_node *stop = core_yaml_get(node, "stop");
    const int actors = SIM__BOUNDARIES | SIM__BODIES | SIM__POURS | SIM__OUTLETS;
    CORE_TRY(read_names(r, remove, SIM__BOUNDARIES | SIM__BODIES, &phase->remove, &phase->count_remove, err));
    CORE_TRY(read_names(r, start, actors, &phase->start, &phase->count_start, err));
    CORE_TRY(read_names(r, stop, actors, &phase->stop, &phase->count_stop, err));
    for (int i = 0; i < phase->count_remove; i++) {
        const core_yaml_node *place = core_yaml_at(remove, i);
        history *h = &past[phase->remove[i]];
        if (h->gone) return core_yaml_fail(r->doc, place, err, "\"%s\" is taken away already", core_yaml_scalar(place));
        h->gone = true;
    }
    for (int i = 0; i < phase->count_start; i++) {
        const core_yaml_node *place = core_yaml_at(start, i);
        history *h = &past[phase->start[i]];
        if (h->started || h->stopped)
            return core_yaml_fail(r->doc, place, err, "\"%s\" has started already", core_yaml_scalar(place));
        h->started = *waits(r->scene, phase->start[i]) = true;
    }
    for (int i = 0; i < phase->count_stop; i++) {
        const core_yaml_node *place = core_yaml_at(stop, i);
        history *h = &past[phase->stop[i]];
        if (h->stopped)
            return core_yaml_fail(r->doc, place, err, "\"%s\" has stopped already", core_yaml_scalar(place));
        h->stopped = true;
    }
    return CORE_OK;
}

core_status sim__scene_phases(const sim__reader *r, core_error *err) {
    sim_scene *scene = r->scene;
    core_status status = CORE_OK;
    history *past = NULL;
    const core_yaml_node *list = core_yaml_get(core_yaml_root(r->doc), "phases");
    int n = core_yaml_count(list);
    if (n == 0) return core_yaml_fail(r->doc, list, err, "an empty list; expected at least one phase");
    CORE_NEW_DONE(scene->phases, (size_t)n);
    CORE_NEW_DONE(past,
                  (size_t)(scene->count_boundaries + scene->count_bodies + scene->count_pours + scene->count_outlets));
    for (int i = 0; i < n; i++) {
        scene->count_phases = i + 1;
        CORE_TRY_DONE(core_yaml_phase_read(r->doc, list, i, &scene->phases[i].common, err));
        CORE_TRY_DONE(read_actions(r, core_yaml_at(list, i), past, &scene->phases[i], err));
    }
    for (int i = 0; i < scene->count_boundaries; i++) {
        const sim_boundary_def *b = &scene->boundaries[i];
        if (!b->servo.until_motion || b->motion.waits) continue;
        status =
            core_yaml_fail(r->doc, core_yaml_get(core_yaml_root(r->doc), "boundaries"), err,
                           "\"%s\" has a servo and a motion; expected a phase that starts the motion and so ends the "
                           "servo",
                           b->name);
        goto done;
    }
done:
    core_free(past);
    return status;
}
