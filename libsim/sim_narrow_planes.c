/// Two contact planes a pair, over any back end. One contact cannot rest on a kink of the distance - a face on a face,
/// a bar in an inner corner: its force jumps there from one branch to the other in every step. Poses turned a little to
/// either side show both branches; each is kept as a plane with a share of the stiffness. README.md, section 3.
#include "sim_private.h"

#include <math.h>

// One worker's room.
typedef struct planes_scratch {
    cspace_pose turned[2 * SIM_BLOCK];
    sim_contact centre[SIM_BLOCK], side[2 * SIM_BLOCK];
    int row[SIM_BLOCK], count[2 * SIM_BLOCK];
} planes_scratch;

typedef struct planes {
    sim_narrow base;
    double turn;             // rad
    planes_scratch *scratch; // (workers)
} planes;

// What a turned pose leaves open where it is apart: a back end may give no gradient there (then the contact itself is
// continued) and gives no moment arms (then those of the contact, by r_A - r_B = t.n).
static void complete_side(double turn, const cspace_pose *pose, const sim_contact *centre, sim_contact *side) {
    if (!(side->d >= 0)) return;
    const double slope = sqrt(side->g[0] * side->g[0] + side->g[1] * side->g[1]);
    if (slope > 0) {
        const double mean = 0.5 * (centre->r_a + centre->r_b);
        const double half = 0.5 * (pose->x * side->g[0] + pose->y * side->g[1]) / slope;
        side->r_a = mean + half;
        side->r_b = mean - half;
    } else {
        *side = *centre;
        side->d += turn * centre->d_theta_b;
    }
}

// The contact with its gradient turned by `angle`, about its point p: p - x_B = r_b n - d_theta_b/|g| t_hat.
static void turn_contact(double angle, const cspace_pose *pose, sim_contact *c) {
    const double slope = sqrt(c->g[0] * c->g[0] + c->g[1] * c->g[1]), n[2] = {c->g[0] / slope, c->g[1] / slope};
    const double across = -c->d_theta_b / slope, p[2] = {c->r_b * n[0] - across * n[1], c->r_b * n[1] + across * n[0]};
    const double sine = angle, cosine = sqrt(1 - angle * angle);
    const double m[2] = {cosine * n[0] - sine * n[1], sine * n[0] + cosine * n[1]};
    c->g[0] = slope * m[0];
    c->g[1] = slope * m[1];
    c->d_theta_b = slope * (p[0] * m[1] - p[1] * m[0]);
    c->r_b = p[0] * m[0] + p[1] * m[1];
    c->r_a = c->r_b + pose->x * m[0] + pose->y * m[1];
}

// Turned poses show a face of A as it is, a face of B turned by `turn` either way: then the two normals are 2 turn
// apart and are turned back. Normals that are farther apart belong to different faces and stay.
static void turn_back(double turn, const cspace_pose *pose, sim_contact side[2]) {
    const double *f = side[0].g, *g = side[1].g;
    const double dot = f[0] * g[0] + f[1] * g[1], cross = f[0] * g[1] - f[1] * g[0];
    if (!(dot > 0 && cross > 0 && cross < 4 * turn * dot)) return;
    const double part = 1 - fabs(0.5 * cross / (turn * dot) - 1);
    turn_contact(part * turn, pose, &side[0]);
    turn_contact(-part * turn, pose, &side[1]);
}

// Planes of one pose from its own contact and those at -turn and +turn. Carried back to the pose by their own rates
// they read d[0], d[1]; the nearer one is moved to the distance itself, which takes curvature out, the other one with
// it. Shares are equal while both faces lie on each other, and go to the nearer plane until the other one is left.
static void make_planes(double turn, const sim_contact *centre, const sim_contact side[2], sim_contact out[2]) {
    // branches of which the farther one counts, at outer corners, are not met by resting grains: the contact itself
    if (side[0].d + side[1].d - 2 * centre->d >= 0) {
        for (int k = 0; k < 2; ++k) {
            out[k] = *centre;
            out[k].shared = 0.5;
            out[k].feature = k;
        }
        return;
    }
    const double d[2] = {side[0].d + turn * side[0].d_theta_b, side[1].d - turn * side[1].d_theta_b};
    const int nearer = d[1] < d[0];
    const double apart = fabs(d[1] - d[0]), edge = turn * fabs(side[1].d_theta_b - side[0].d_theta_b);
    const double way = edge > apart ? apart / edge : edge > 0; // 0: on the kink, 1: `turn` away from it
    for (int k = 0; k < 2; ++k) {
        out[k] = side[k];
        out[k].d = k == nearer ? centre->d : centre->d + apart;
        out[k].shared = k == nearer ? 0.5 * (1 - way * way) : 0.5 * (1 + way * way);
        out[k].feature = k;
    }
}

// Up to SIM_BLOCK rows.
static void evaluate_rows(const planes *p, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                          sim_contact *contacts, int worker) {
    planes_scratch *s = &p->scratch[worker];
    int touching = 0;
    p->base.evaluate(p->base.self, pair, poses, n, 1, count, s->centre, worker);
    for (int i = 0; i < n; ++i) {
        contacts[(size_t)i * (size_t)k_max] = s->centre[i];
        if (!(s->centre[i].d < 0)) continue; // apart, or not a number
        for (int k = 0; k < 2; ++k) {
            s->turned[2 * touching + k] = poses[i];
            s->turned[2 * touching + k].theta += k == 0 ? -p->turn : p->turn;
        }
        s->row[touching++] = i;
    }
    if (touching == 0) return;
    p->base.evaluate(p->base.self, pair, s->turned, 2 * touching, 1, s->count, s->side, worker);
    for (int q = 0; q < touching; ++q) {
        const int i = s->row[q];
        for (int k = 0; k < 2; ++k)
            complete_side(k == 0 ? -p->turn : p->turn, &poses[i], &s->centre[i], &s->side[2 * q + k]);
        turn_back(p->turn, &poses[i], s->side + 2 * q);
        make_planes(p->turn, &s->centre[i], s->side + 2 * q, contacts + (size_t)i * (size_t)k_max);
        count[i] = 2;
    }
}

static void planes_evaluate(const void *self, int pair, const cspace_pose *poses, int n, int k_max, int *count,
                            sim_contact *contacts, int worker) {
    const planes *p = self;
    if (k_max < 2) {
        p->base.evaluate(p->base.self, pair, poses, n, k_max, count, contacts, worker);
        return;
    }
    for (int first = 0; first < n; first += SIM_BLOCK) {
        const int rows = n - first < SIM_BLOCK ? n - first : SIM_BLOCK;
        evaluate_rows(p, pair, poses + first, rows, k_max, count + first, contacts + (size_t)first * (size_t)k_max,
                      worker);
    }
}

static void planes_distance(const void *self, int pair, const cspace_pose *poses, int n, double *d, int worker) {
    const planes *p = self;
    p->base.distance(p->base.self, pair, poses, n, d, worker);
}

static void planes_destroy(void *self) {
    planes *p = self;
    if (!p) return;
    if (p->base.destroy) p->base.destroy(p->base.self);
    core_free(p->scratch);
    core_free(p);
}

core_status sim_narrow_planes(const sim_narrow *base, double turn, int workers, sim_narrow *narrow, core_error *err) {
    core_status status = CORE_OK;
    planes *p = NULL;
    CORE_CHECK_DONE(base && base->evaluate && narrow && workers >= 1, CORE_ARG,
                    "contact planes: found a null pointer or %d workers, expected a back end and at least 1", workers);
    CORE_CHECK_DONE(turn > 0 && turn <= 0.1, CORE_RANGE, "contact planes: turn: found %g rad, expected (0, 0.1]", turn);
    CORE_NEW_DONE(p, 1);
    p->turn = turn;
    CORE_NEW_DONE(p->scratch, (size_t)workers);
    p->base = *base; // from here on it is ours
    *narrow = (sim_narrow){.name = base->name,
                           .evaluate = planes_evaluate,
                           .distance = base->distance ? planes_distance : NULL,
                           .margin = base->margin,
                           .band = base->band,
                           .destroy = planes_destroy,
                           .self = p};
    p = NULL;
done:
    planes_destroy(p);
    return status;
}
