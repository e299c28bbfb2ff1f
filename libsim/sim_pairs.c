/// Contacts of the neighbour pairs: who has to be asked, the answers, the contact law. README.md, section 5.
///
/// A pair apart by d needs no question until its grains can have come closer by d: |change of x_j - x_i| +
/// R_i |change of theta_i| + R_j |change of theta_j| bounds what they can. Maps err, so a margin is kept, and beyond
/// the trained band they are not believed. A pair that did not touch is asked for its distance alone first.
///
/// Pairs that need no question are not even looked at while twice the way of the fastest grain since then is less than
/// what they have left: that can only be shorter than the exact reckoning, so it changes nothing.
#include "sim_private.h"

#include <math.h>

// Pairs that can sleep for less than this much of the way, in units of the list's skin, stay awake: putting pairs to
// sleep and waking them has a cost, too.
static const double NAP = 0.015;

// ---------------------------------------------------------------------------------------------- who is asked

// Where j stands from i, world axes, m, and both angles: what a pair's spare room is measured from.
typedef struct placement {
    double dx, dy, theta_i, theta_j;
} placement;

static inline placement place_pair(const sim_world *w, int p) {
    const sim_moving *a = &w->moving[w->pairs.a[p]], *b = &w->moving[w->pairs.b[p]];
    return (placement){sim_world_image(w, b->x[0] - a->x[0]), b->x[1] - a->x[1], a->theta, b->theta};
}

// What is left of the room of pair p: below 0 or NaN if its grains can have come closer by all of it.
static double room_left(const sim_apart *apart, const placement *now, const double radius[2]) {
    const double *from = apart->from;
    const double turned = radius[0] * fabs(now->theta_i - from[2]) + radius[1] * fabs(now->theta_j - from[3]);
    const double dx = now->dx - from[0], dy = now->dy - from[1];
    return apart->room - turned - sqrt(dx * dx + dy * dy);
}

// Notes that the pair is apart by at least `room`, if that is worth anything.
static void set_room(const sim_world *w, int p, double room) {
    const placement now = place_pair(w, p);
    w->pairs.apart[p] = (sim_apart){.room = room > 0 ? room : 0, .from = {now.dx, now.dy, now.theta_i, now.theta_j}};
}

// Room that a distance d from the narrow phase leaves.
static void set_room_of_distance(const sim_world *w, int p, int type_pair, double d) {
    if (!w->narrow.margin) return;
    set_room(w, p, fmin(d, w->narrow.band[type_pair]) - w->narrow.margin[type_pair]);
}

typedef enum question { PAIR_APART, PAIR_SKIPPED, PAIR_ASKED } question;

// What is to be done about pair p at `now`; *spare: m, what its grains can come closer, or drift apart, before that can
// be something else (of pairs that are not asked).
static inline question judge_pair(const sim_world *w, int p, const placement *now, const double radius[2],
                                  double *spare) {
    const double reach = radius[0] + radius[1], square = now->dx * now->dx + now->dy * now->dy;
    if (square > reach * reach) {
        *spare = sqrt(square) - reach;
        return PAIR_APART;
    }
    if (!(w->pairs.count[p] == 0 && w->pairs.apart[p].room > 0)) return PAIR_ASKED;
    const double left = room_left(&w->pairs.apart[p], now, radius);
    if (!(left > 0)) return PAIR_ASKED;
    *spare = fmin(left, reach - sqrt(square));
    return PAIR_SKIPPED;
}

static inline cspace_pose pose_of(const sim_world *w, int p, const placement *now) {
    const double c = w->moving[w->pairs.a[p]].cosine, s = w->moving[w->pairs.a[p]].sine;
    return (cspace_pose){
        .theta = now->theta_j - now->theta_i, .x = c * now->dx + s * now->dy, .y = c * now->dy - s * now->dx};
}

// Lists the pairs of a block that are to be looked at from now on.
static void wake_pairs(sim_world *w, sim_contact_block *block) {
    const double nap = NAP * w->broad.skin;
    const sim_pairs *pairs = &w->pairs;
    block->awake = block->asleep_within = 0;
    block->rest = w->way + nap;
    for (int q = block->first; q < block->first + block->count; ++q) {
        const int p = w->order[q];
        if (pairs->count[p] == 0 && !pairs->released[p] && pairs->apart[p].wake > block->rest) {
            block->asleep_within += pairs->within[p];
        } else {
            w->awake[block->first + block->awake++] = p;
        }
    }
}

// ---------------------------------------------------------------------------------------------- answers

// The pair no longer touches: its springs go, with what they held.
static void release_pair(sim_world *w, int p, double kt) {
    const double *spring = w->pairs.spring + (size_t)p * (size_t)w->k_max;
    double lost = 0;
    for (int k = 0; k < w->pairs.count[p]; ++k) lost += 0.5 * kt * spring[k] * spring[k];
    w->pairs.count[p] = 0;
    w->pairs.released[p] = 1;
    w->pairs.lost[p] = lost;
    w->pairs.apart[p] = (sim_apart){0};
}

// The contact law acts on n rows, which go to `touch`, their springs and losses to their pairs.
static void finish_rows(sim_world *w, const sim_contact_block *block, int n, sim_touch *touch, sim_scratch *s) {
    const sim_law_rows *r = &s->rows;
    w->law_loop(&block->bodies, n, &s->rows);
    for (int i = 0; i < n; ++i) {
        const size_t at = (size_t)s->row_pair[i] * (size_t)w->k_max + (size_t)s->row_contact[i];
        touch[i] = sim_law_touch(r, i);
        touch[i].feature = w->pairs.feature[at];
        w->pairs.spring[at] = r->spring[i];
        w->pairs.lost[s->row_pair[i]] += r->loss[i];
    }
}

// Springs of pair p go to the `count` contacts found now, by their features; returns the energy of those left over.
static double take_springs(sim_world *w, int p, int count, const sim_contact *found, double kt, double *spring) {
    const size_t first = (size_t)p * (size_t)w->k_max;
    const int old_count = w->pairs.count[p];
    if (count == 1 && old_count == 1 && found->feature == w->pairs.feature[first]) { // nearly all
        *spring = w->pairs.spring[first];
        return 0;
    }
    double old[SIM_CONTACTS_MAX], lost = 0;
    int32_t feature[SIM_CONTACTS_MAX];
    for (int o = 0; o < old_count; ++o) {
        old[o] = w->pairs.spring[first + (size_t)o];
        feature[o] = w->pairs.feature[first + (size_t)o];
    }
    for (int k = 0; k < count; ++k) {
        spring[k] = 0;
        for (int o = 0; o < old_count; ++o) {
            if (feature[o] != found[k].feature) continue;
            spring[k] = old[o];
            old[o] = 0;
        }
        w->pairs.feature[first + (size_t)k] = found[k].feature;
    }
    for (int o = 0; o < old_count; ++o) lost += 0.5 * kt * old[o] * old[o];
    w->pairs.count[p] = (uint8_t)count;
    return lost;
}

// Puts the contacts found for a pair, A's frame, into rows of the contact law from `row` on.
static void fill_rows(sim_world *w, const sim_question *asked, int count, const sim_contact *found, double kt, int row,
                      sim_scratch *s) {
    const int p = asked->pair;
    const sim_moving *a = &w->moving[w->pairs.a[p]], *b = &w->moving[w->pairs.b[p]];
    sim_law_rows *r = &s->rows;
    w->pairs.lost[p] = take_springs(w, p, count, found, kt, r->spring + row);
    for (int k = 0; k < count; ++k, ++row) {
        const sim_contact *c = &found[k];
        r->c[row] = a->cosine, r->s[row] = a->sine;
        r->dx[row] = asked->dx, r->dy[row] = asked->dy;
        r->vx[row] = b->v[0] - a->v[0], r->vy[row] = b->v[1] - a->v[1];
        r->omega_a[row] = a->omega, r->omega_b[row] = b->omega;
        r->d[row] = c->d, r->g_x[row] = c->g[0], r->g_y[row] = c->g[1];
        r->d_theta_b[row] = c->d_theta_b, r->r_a[row] = c->r_a, r->r_b[row] = c->r_b;
        r->shared[row] = c->shared;
        s->row_pair[row] = p, s->row_contact[row] = k;
    }
}

static bool any_touches(const sim_contact *found, int count, double *nearest) {
    bool touches = false;
    *nearest = INFINITY;
    for (int k = 0; k < count; ++k) {
        touches |= !(found[k].d >= 0);
        if (found[k].d < *nearest) *nearest = found[k].d;
    }
    return touches;
}

// ---------------------------------------------------------------------------------------------- blocks

// Sorts the pairs of a block: those to be asked in full come first in scratch, those to be asked for their distance
// alone after them. Returns their numbers.
static void list_questions(sim_world *w, sim_contact_block *block, sim_scratch *s, int *full, int *apart) {
    *full = *apart = 0;
    block->count_skipped = block->asleep_within;
    for (int q = block->first; q < block->first + block->awake; ++q) {
        const int p = w->awake[q];
        const placement now = place_pair(w, p);
        double spare;
        const question what = judge_pair(w, p, &now, block->radius, &spare);
        w->pairs.released[p] = 0;
        if (what != PAIR_ASKED) {
            w->pairs.within[p] = what == PAIR_SKIPPED;
            block->count_skipped += what == PAIR_SKIPPED;
            if (w->pairs.count[p] > 0) release_pair(w, p, block->bodies.law.kt);
            // both grains can use it up; what rounding takes from the sum of the ways is far less than the rest
            w->pairs.apart[p].wake = w->way + 0.499 * spare;
        } else if (w->pairs.count[p] > 0 || !w->narrow.distance) {
            s->pose[*full] = pose_of(w, p, &now);
            s->asked[(*full)++] = (sim_question){p, now.dx, now.dy};
        } else {
            s->pose_apart[*apart] = pose_of(w, p, &now);
            s->asked_apart[(*apart)++] = (sim_question){p, now.dx, now.dy};
        }
    }
}

// Distances of pairs that did not touch; those that do now join the ones that are asked in full.
static void ask_distances(sim_world *w, int type_pair, sim_scratch *s, int apart, int *full, int worker) {
    if (apart == 0) return;
    w->narrow.distance(w->narrow.self, type_pair, s->pose_apart, apart, s->distance, worker);
    for (int q = 0; q < apart; ++q) {
        if (s->distance[q] >= 0) {
            set_room_of_distance(w, s->asked_apart[q].pair, type_pair, s->distance[q]);
        } else {
            s->pose[*full] = s->pose_apart[q];
            s->asked[(*full)++] = s->asked_apart[q];
        }
    }
}

void sim_pairs_contacts(void *arg, int64_t index, int worker) {
    sim_world *w = arg;
    sim_contact_block *block = &w->block[index];
    sim_scratch *s = &w->scratch[worker];
    const double kt = block->bodies.law.kt;
    int full, apart, rows = 0, first = block->first * w->k_max; // of the rows in pairs.touch
    if (!(w->way < block->rest)) wake_pairs(w, block);
    list_questions(w, block, s, &full, &apart);
    block->count_evaluated = full + apart;
    block->nearest = 0;
    ask_distances(w, block->type_pair, s, apart, &full, worker);
    block->count_full = full;
    if (full == 0) return;
    w->narrow.evaluate(w->narrow.self, block->type_pair, s->pose, full, w->k_max, s->count, s->contact, worker);
    for (int q = 0; q < full; ++q) {
        const sim_contact *found = s->contact + (size_t)q * (size_t)w->k_max;
        const int p = s->asked[q].pair;
        double nearest;
        if (any_touches(found, s->count[q], &nearest)) {
            if (rows + s->count[q] > SIM_LAW_ROWS) {
                finish_rows(w, block, rows, w->pairs.touch + first, s);
                first += rows;
                rows = 0;
            }
            if (nearest < block->nearest) block->nearest = nearest, block->nearest_pair = p;
            w->pairs.first[p] = first + rows;
            fill_rows(w, &s->asked[q], s->count[q], found, kt, rows, s);
            rows += s->count[q];
        } else {
            if (w->pairs.count[p] > 0) release_pair(w, p, kt);
            set_room_of_distance(w, p, block->type_pair, nearest);
        }
    }
    finish_rows(w, block, rows, w->pairs.touch + first, s);
}

// ---------------------------------------------------------------------------------------------- sums per grain

void sim_pairs_load(const sim_world *w, int place, sim_load *load) {
    for (int e = w->adjacent_start[place]; e < w->adjacent_start[place + 1]; ++e) {
        const int p = w->adjacent[e] >> 1, count = w->pairs.count[p];
        const bool is_b = w->adjacent[e] & 1;
        if (!is_b && (count > 0 || w->pairs.released[p])) load->lost += w->pairs.lost[p];
        for (int k = 0; k < count; ++k) {
            const sim_touch *t = &w->pairs.touch[w->pairs.first[p] + k];
            // on A the force has the other sign, the rates and arms are its own
            const double sign = is_b ? 1 : -1, turn = is_b ? t->d_theta_b : t->d_theta_a;
            const double arm = is_b ? t->r_b : -t->r_a;
            const double normal[2] = {sign * (t->f_n * t->g[0]), sign * (t->f_n * t->g[1])};
            const double tangential[2] = {-sign * (t->f_t * (t->g[1] * t->inverse)),
                                          sign * (t->f_t * (t->g[0] * t->inverse))};
            const double torque = t->f_n * turn, torque_t = t->f_t * arm;
            load->force[0] += normal[0] + tangential[0];
            load->force[1] += normal[1] + tangential[1];
            load->torque += torque + torque_t;
            load->free[0] += sign * (t->free_n * t->g[0]);
            load->free[1] += sign * (t->free_n * t->g[1]);
            load->free_torque += t->free_n * turn;
            load->tangential[0] += tangential[0];
            load->tangential[1] += tangential[1];
            load->tangential_torque += torque_t;
            load->damped[0] -= sign * (t->free_t * (t->g[1] * t->inverse));
            load->damped[1] += sign * (t->free_t * (t->g[0] * t->inverse));
            load->damped_torque += t->free_t * arm;
        }
    }
}

int64_t sim_pairs_missed(sim_world *w, int64_t *skipped) {
    int64_t missed = 0;
    *skipped = 0;
    for (int p = 0; p < w->pairs.n; ++p) {
        const int type[2] = {w->type[w->pairs.i[p]], w->type[w->pairs.j[p]]};
        const double radius[2] = {w->radius[type[0]], w->radius[type[1]]};
        const placement now = place_pair(w, p);
        double spare, nearest;
        if (judge_pair(w, p, &now, radius, &spare) != PAIR_SKIPPED) continue;
        const cspace_pose pose = pose_of(w, p, &now);
        sim_contact found[SIM_CONTACTS_MAX];
        int count;
        w->narrow.evaluate(w->narrow.self, type[0] * w->count_types + type[1], &pose, 1, w->k_max, &count, found, 0);
        missed += any_touches(found, count, &nearest);
        ++*skipped;
    }
    return missed;
}
