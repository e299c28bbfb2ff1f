/// Grains that come and go during a run: pours put rows in that have been declared absent, outlets take grains out.
#include <math.h>

#include "sim_private.h"

// Draws of a place for one grain in one step; a full region is tried again in the next step.
#define TRIES 8
// Random streams of places, and of the types of rows.
#define STREAM_PLACE 0x706f757200000000u
#define STREAM_TYPE 0x74797065706f7572u

core_status sim_flow_create(const sim_scene *scene, int first_row, sim_flow *flow, core_error *err) {
    core_status status = CORE_OK;
    sim_flow made = {0};
    int rows = first_row;
    CORE_NEW_DONE(made.pour, (size_t)scene->count_pours);
    CORE_NEW_DONE(made.outlet, (size_t)scene->count_outlets);
    for (int i = 0; i < scene->count_pours; ++i) {
        sim_pour *pour = &made.pour[i];
        *pour = (sim_pour){.first_row = rows, .start = scene->pours[i].waits ? -1 : 0, .stop = -1};
        core_random_init(&pour->random, scene->seed, STREAM_PLACE + (uint64_t)i);
        rows += scene->pours[i].count;
    }
    for (int i = 0; i < scene->count_outlets; ++i)
        made.outlet[i] = (sim_outlet){.start = scene->outlets[i].waits ? -1 : 0, .stop = -1};
    CORE_NEW_DONE(made.leaving, (size_t)rows);
    *flow = made;
    made = (sim_flow){0};
done:
    sim_flow_clear(&made);
    return status;
}

void sim_flow_clear(sim_flow *flow) {
    if (!flow) return;
    core_free(flow->pour);
    core_free(flow->outlet);
    core_free(flow->leaving);
    *flow = (sim_flow){0};
}

void sim_flow_types(const sim_scene *scene, int i_pour, int *types) {
    core_random random;
    core_random_init(&random, scene->seed, STREAM_TYPE + (uint64_t)i_pour);
    for (int k = 0; k < scene->pours[i_pour].count; ++k) types[k] = sim_mix_draw(&scene->pours[i_pour].mix, &random);
}

// ---------------------------------------------------------------------------------------------- pours

// True if the bounding circle of a grain of `type` at x meets nothing that is there now.
static bool is_free(const sim_world *w, int type, const double x[2]) {
    const double radius = w->radius[type], period[2] = {w->period_start, w->period_start + w->period};
    if (!sim_walls_allow(&w->walls, period, x, radius)) return false;
    const sim_state s = sim_world_state(w);
    for (int i = 0; i < s.n; ++i) {
        if (s.role[i] == SIM_ROLE_ABSENT) continue;
        const double reach = radius + w->radius[s.type[i]], dx = sim_world_image(w, s.x[2 * i] - x[0]);
        const double dy = s.x[2 * i + 1] - x[1];
        if (dx * dx + dy * dy >= reach * reach) continue;
        if (s.role[i] == SIM_ROLE_FREE) return false;
        if (!sim_body_allows(&w->outline[s.type[i]], w->radius[s.type[i]], s.x + 2 * i, s.theta[i], period, x, radius))
            return false;
    }
    return true;
}

static core_status pour_one(sim_world *w, const sim_pour_def *def, sim_pour *pour, bool *entered, core_error *err) {
    const int row = pour->first_row + pour->entered, type = sim_world_state(w).type[row];
    const double r = w->radius[type] * (1 + 1e-9), *box = def->region;
    *entered = false;
    for (int k = 0; k < TRIES && !*entered; ++k) {
        const double u = core_random_uniform(&pour->random), v = core_random_uniform(&pour->random);
        const double x[2] = {box[0] + r + u * fmax(0, box[2] - box[0] - 2 * r),
                             box[1] + r + v * fmax(0, box[3] - box[1] - 2 * r)};
        const double angle = CORE_PI * (2 * core_random_uniform(&pour->random) - 1);
        if (!is_free(w, type, x)) continue;
        CORE_TRY(sim_world_enter(w, row, x, angle, def->velocity, 0, err));
        *entered = true;
        ++pour->entered;
    }
    return CORE_OK;
}

static bool is_active(int64_t start, int64_t stop, int64_t step) {
    return start >= 0 && step >= start && (stop < 0 || step < stop);
}

core_status sim_flow_pour(sim_flow *flow, const sim_scene *scene, sim_world *w, core_error *err) {
    const int64_t step = sim_world_state(w).step;
    for (int i = 0; i < scene->count_pours; ++i) {
        const sim_pour_def *def = &scene->pours[i];
        sim_pour *pour = &flow->pour[i];
        if (!is_active(pour->start, pour->stop, step)) continue;
        const double t = (double)(step - pour->start) * w->dt, interval = 1 / def->rate;
        // what could not enter in time is not made up for: the rate is never exceeded by more than one grain
        if (pour->due < t - interval) pour->due = t - interval;
        bool entered = true;
        while (entered && pour->entered < def->count && pour->due <= t && t <= def->duration) {
            CORE_TRY(pour_one(w, def, pour, &entered, err));
            if (entered) pour->due += interval;
        }
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- outlets

static bool is_in(const sim_outlet_def *def, const double x[2]) {
    if (def->is_line) return def->normal[0] * x[0] + def->normal[1] * x[1] < def->offset;
    return x[0] >= def->region[0] && x[0] <= def->region[2] && x[1] >= def->region[1] && x[1] <= def->region[3];
}

void sim_flow_take_out(sim_flow *flow, const sim_scene *scene, sim_world *w) {
    const sim_state s = sim_world_state(w);
    for (int k = 0; k < scene->count_outlets; ++k) {
        sim_outlet *outlet = &flow->outlet[k];
        if (!is_active(outlet->start, outlet->stop, s.step)) continue;
        int count = 0;
        for (int i = 0; i < s.n; ++i) {
            if (s.role[i] != SIM_ROLE_FREE || !is_in(&scene->outlets[k], s.x + 2 * i)) continue;
            flow->leaving[count++] = i;
            ++outlet->count;
            outlet->mass += s.mass[i];
        }
        if (count > 0) sim_world_leave(w, count, flow->leaving);
    }
}

// ---------------------------------------------------------------------------------------------- phases

core_status sim_flow_switch(sim_flow *flow, const sim_scene *scene, sim_world *w, int actor, bool on, core_error *err) {
    const int bodies = scene->count_boundaries + scene->count_bodies;
    if (actor < bodies) return sim_world_set_moving(w, actor, on, err);
    int64_t *start = actor < bodies + scene->count_pours ? &flow->pour[actor - bodies].start
                                                         : &flow->outlet[actor - bodies - scene->count_pours].start;
    int64_t *stop = actor < bodies + scene->count_pours ? &flow->pour[actor - bodies].stop
                                                        : &flow->outlet[actor - bodies - scene->count_pours].stop;
    *(on ? start : stop) = sim_world_state(w).step;
    return CORE_OK;
}
