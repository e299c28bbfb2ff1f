/// Contacts of the neighbour pairs: who has to be asked, the answers, the contact law. README.md, section 5.
///
/// A pair apart by d needs no question until its grains can have come closer by d: |change of x_j - x_i| +
/// R_i |change of theta_i| + R_j |change of theta_j| bounds what they can. Maps err, so a margin is kept, and beyond
/// the trained band they are not believed. A pair that did not touch is asked for its distance alone first.
#include "sim_private.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------- who is asked

// Where j stands from i, world axes, m, and both angles: what a pair's spare room is measured from.
typedef struct placement {
    double dx, dy, theta_i, theta_j;
} placement;

static placement place_pair(const sim_world *w, int i, int j) {
    return (placement){sim_world_image(w, w->x[2 * j] - w->x[2 * i]), w->x[2 * j + 1] - w->x[2 * i + 1], w->theta[i],
                       w->theta[j]};
}

// The pair can have come closer by all the room it had.
static bool room_is_spent(const sim_pairs *pairs, int p, const placement *now, double radius_i, double radius_j) {
    const double *from = pairs->from + 4 * (size_t)p;
    const double room =
        pairs->room[p] - radius_i * fabs(now->theta_i - from[2]) - radius_j * fabs(now->theta_j - from[3]);
    const double dx = now->dx - from[0], dy = now->dy - from[1];
    return !(room > 0 && dx * dx + dy * dy < room * room);
}

// Notes that the pair is apart by at least `room`, if that is worth anything.
static void set_room(const sim_world *w, int p, double room) {
    const placement now = place_pair(w, w->pairs.i[p], w->pairs.j[p]);
    double *from = w->pairs.from + 4 * (size_t)p;
    w->pairs.room[p] = room > 0 ? room : 0;
    from[0] = now.dx, from[1] = now.dy, from[2] = now.theta_i, from[3] = now.theta_j;
}

// Room that a distance d from the narrow phase leaves.
static void set_room_of_distance(const sim_world *w, int p, int type_pair, double d) {
    if (!w->narrow.margin) return;
    set_room(w, p, fmin(d, w->narrow.band[type_pair]) - w->narrow.margin[type_pair]);
}

typedef enum question { PAIR_APART, PAIR_SKIPPED, PAIR_ASKED } question;

// What is to be done about pair p; its pose if it has to be asked, m.
static question judge_pair(const sim_world *w, int p, cspace_pose *pose) {
    const int i = w->pairs.i[p], j = w->pairs.j[p];
    const double radius_i = w->radius[w->type[i]], radius_j = w->radius[w->type[j]], reach = radius_i + radius_j;
    const placement now = place_pair(w, i, j);
    if (now.dx * now.dx + now.dy * now.dy > reach * reach) return PAIR_APART;
    const bool skipped =
        w->pairs.room[p] > 0 && !w->pairs.touching[p] && !room_is_spent(&w->pairs, p, &now, radius_i, radius_j);
    const double c = w->cos_sin[2 * i], s = w->cos_sin[2 * i + 1];
    *pose =
        (cspace_pose){.theta = now.theta_j - now.theta_i, .x = c * now.dx + s * now.dy, .y = c * now.dy - s * now.dx};
    return skipped ? PAIR_SKIPPED : PAIR_ASKED;
}

// ---------------------------------------------------------------------------------------------- answers

// The pair no longer touches: its springs go, with what they held.
static void release_pair(sim_world *w, int p, double kt) {
    sim_slot *slot = w->pairs.slot + (size_t)p * (size_t)w->k_max;
    double lost = 0;
    for (int k = 0; k < w->pairs.count[p]; ++k) lost += 0.5 * kt * slot[k].spring * slot[k].spring;
    w->pairs.count[p] = 0;
    w->pairs.touching[p] = 0;
    w->pairs.lost[p] = lost;
}

// Contacts found for pair p, A's frame: springs go to the contacts of the same feature, then the law acts.
static void apply_pair(sim_world *w, int p, int count, const sim_contact *found, const sim_contact_law *law) {
    const int i = w->pairs.i[p], old_count = w->pairs.count[p];
    sim_slot *slot = w->pairs.slot + (size_t)p * (size_t)w->k_max;
    double old_spring[SIM_CONTACTS_MAX], lost = 0;
    int32_t old_feature[SIM_CONTACTS_MAX];
    for (int k = 0; k < old_count; ++k) {
        old_spring[k] = slot[k].spring;
        old_feature[k] = slot[k].c.feature;
    }
    const sim_body_state a = sim_world_body(w, i);
    sim_body_state b = sim_world_body(w, w->pairs.j[p]);
    if (w->period > 0) b.x[0] = a.x[0] + sim_world_image(w, b.x[0] - a.x[0]);
    const double c = w->cos_sin[2 * i], s = w->cos_sin[2 * i + 1];
    for (int k = 0; k < count; ++k) {
        slot[k].c = found[k];
        slot[k].c.g[0] = c * found[k].g[0] - s * found[k].g[1];
        slot[k].c.g[1] = s * found[k].g[0] + c * found[k].g[1];
        slot[k].spring = 0;
        for (int o = 0; o < old_count; ++o) {
            if (old_feature[o] != found[k].feature) continue;
            slot[k].spring = old_spring[o];
            old_spring[o] = 0;
        }
        sim_slot_apply(law, &a, &b, w->dt, &slot[k]);
        lost += slot[k].loss;
    }
    for (int o = 0; o < old_count; ++o) lost += 0.5 * law->kt * old_spring[o] * old_spring[o];
    w->pairs.count[p] = count;
    w->pairs.touching[p] = 1;
    w->pairs.lost[p] = lost;
}

static bool any_touches(const sim_contact *found, int count, double *nearest) {
    bool touches = false;
    *nearest = INFINITY;
    for (int k = 0; k < count; ++k) {
        touches |= !(found[k].d >= 0);
        *nearest = fmin(*nearest, found[k].d);
    }
    return touches;
}

// ---------------------------------------------------------------------------------------------- blocks

// Sorts the pairs of a block: those to be asked in full come first in scratch, those to be asked for their distance
// alone after them. Returns their numbers.
static void list_questions(sim_world *w, sim_contact_block *block, double kt, sim_scratch *s, int *full, int *apart) {
    *full = *apart = block->count_skipped = 0;
    for (int q = block->first; q < block->first + block->count; ++q) {
        const int p = w->order[q];
        w->pairs.lost[p] = 0;
        cspace_pose pose;
        const question what = judge_pair(w, p, &pose);
        if (what != PAIR_ASKED) {
            block->count_skipped += what == PAIR_SKIPPED;
            if (w->pairs.touching[p]) release_pair(w, p, kt);
            continue;
        }
        if (w->pairs.touching[p] || !w->narrow.distance) {
            s->pose[*full] = pose;
            s->pair[(*full)++] = p;
        } else {
            s->pose_apart[*apart] = pose;
            s->pair_apart[(*apart)++] = p;
        }
    }
}

// Distances of pairs that did not touch; those that do now join the ones that are asked in full.
static void ask_distances(sim_world *w, int type_pair, sim_scratch *s, int apart, int *full, int worker) {
    if (apart == 0) return;
    w->narrow.distance(w->narrow.self, type_pair, s->pose_apart, apart, s->distance, worker);
    for (int q = 0; q < apart; ++q) {
        if (s->distance[q] >= 0) {
            set_room_of_distance(w, s->pair_apart[q], type_pair, s->distance[q]);
        } else {
            s->pose[*full] = s->pose_apart[q];
            s->pair[(*full)++] = s->pair_apart[q];
        }
    }
}

void sim_pairs_contacts(void *arg, int64_t index, int worker) {
    sim_world *w = arg;
    sim_contact_block *block = &w->block[index];
    sim_scratch *s = &w->scratch[worker];
    const sim_contact_law *law = sim_world_law(w, block->type_pair / w->count_types, block->type_pair % w->count_types);
    int full, apart;
    list_questions(w, block, law->kt, s, &full, &apart);
    block->count_evaluated = full + apart;
    ask_distances(w, block->type_pair, s, apart, &full, worker);
    block->count_full = full;
    if (full == 0) return;
    w->narrow.evaluate(w->narrow.self, block->type_pair, s->pose, full, w->k_max, s->count, s->contact, worker);
    for (int q = 0; q < full; ++q) {
        const sim_contact *found = s->contact + (size_t)q * (size_t)w->k_max;
        const int p = s->pair[q];
        double nearest;
        if (any_touches(found, s->count[q], &nearest)) {
            apply_pair(w, p, s->count[q], found, law);
        } else {
            if (w->pairs.touching[p]) release_pair(w, p, law->kt);
            set_room_of_distance(w, p, block->type_pair, nearest);
        }
    }
}

// ---------------------------------------------------------------------------------------------- sums per grain

void sim_pairs_load(const sim_world *w, int i, sim_load *load) {
    for (int e = w->adjacent_start[i]; e < w->adjacent_start[i + 1]; ++e) {
        const int p = w->adjacent[e] >> 1;
        const bool is_b = w->adjacent[e] & 1;
        if (!is_b) load->lost += w->pairs.lost[p];
        for (int k = 0; k < w->pairs.count[p]; ++k) {
            const sim_slot *slot = &w->pairs.slot[(size_t)p * (size_t)w->k_max + (size_t)k];
            const sim_contact_force *f = &slot->f;
            const double sign = is_b ? 1 : -1, turn = is_b ? slot->c.d_theta_b : slot->d_theta_a;
            const double torque = is_b ? f->torque_b : f->torque_a;
            load->force[0] += sign * f->force[0];
            load->force[1] += sign * f->force[1];
            load->torque += torque;
            load->free[0] += sign * (slot->free_n * slot->c.g[0]);
            load->free[1] += sign * (slot->free_n * slot->c.g[1]);
            load->free_torque += slot->free_n * turn;
            load->tangential[0] += sign * (f->force[0] - f->f_n * slot->c.g[0]);
            load->tangential[1] += sign * (f->force[1] - f->f_n * slot->c.g[1]);
            load->tangential_torque += torque - f->f_n * turn;
        }
    }
}

int64_t sim_pairs_missed(sim_world *w, int64_t *skipped) {
    int64_t missed = 0;
    *skipped = 0;
    for (int p = 0; p < w->pairs.n; ++p) {
        cspace_pose pose;
        if (judge_pair(w, p, &pose) != PAIR_SKIPPED) continue;
        sim_contact found[SIM_CONTACTS_MAX];
        int count;
        double nearest;
        const int type_pair = w->type[w->pairs.i[p]] * w->count_types + w->type[w->pairs.j[p]];
        w->narrow.evaluate(w->narrow.self, type_pair, &pose, 1, w->k_max, &count, found, 0);
        missed += any_touches(found, count, &nearest);
        ++*skipped;
    }
    return missed;
}
