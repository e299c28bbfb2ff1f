// Folding of poses by the symmetries of both shapes: cells, mirrors, exchange, and the strips at glued faces where two
// images are blended. Equations and the choice of the cells: libcspace/README.md, "Symmetries and folding".
#include "cspace.h"
#include "cspace_fold.h"

#include <math.h>

// An image under construction, in the frames of the cells: `now` are its bearing vectors (of B's centre seen by A, of
// A's centre seen by B), `turn` takes a source, mirrored first if `mirrored`, to them.
typedef struct state {
    double now[2][2];
    double turn[2][2]; // (cos, sin)
    double theta;
    bool mirrored, swapped; // swapped: now[0] comes from v, now[1] from u
    double weight, weight_slope[3];
} state;

// What all images of one pose share.
typedef struct source {
    const cspace_fold *fold;
    double reach;
    double bearing[2][2]; // u = t and v = -R(-theta) t, from the cells' centres
    double frame[2][2];   // u = R(-frame[0]) t, v = -R(-frame[1]) t: (cos, sin)
    double rotation[2];   // cos, sin of theta
} source;

// (c, s) of the sum of two angles.
static void add_turn(const double by[2], double turn[2]) {
    const double c = by[0] * turn[0] - by[1] * turn[1];
    turn[1] = by[0] * turn[1] + by[1] * turn[0];
    turn[0] = c;
}

// R(-angle) x for an angle (cos, sin).
static void turn_back(const double angle[2], double x[2]) {
    const double back[2] = {angle[0], -angle[1]};
    add_turn(back, x);
}

// ---------------------------------------------------------------------------------------------- moves

// Turns A (which = 0) or B (1) by `turns` of its steps.
static void move_turn(const cspace_fold *fold, int which, int turns, state *s) {
    if (turns == 0) return;
    const int order = which == 0 ? fold->order_a : fold->order_b;
    double angle[2];
    cspace__turn(turns, order, angle);
    turn_back(angle, s->now[which]);
    turn_back(angle, s->turn[which]);
    const double by = turns * (2.0 * CORE_PI / order);
    s->theta += which == 0 ? -by : by;
}

static void move_mirror(state *s) {
    for (int k = 0; k < 2; k++) {
        s->now[k][1] = -s->now[k][1];
        s->turn[k][1] = -s->turn[k][1];
    }
    s->theta = -s->theta;
    s->mirrored = !s->mirrored;
}

static void move_swap(state *s) {
    for (int i = 0; i < 2; i++) {
        const double now = s->now[0][i], turn = s->turn[0][i];
        s->now[0][i] = s->now[1][i], s->turn[0][i] = s->turn[1][i];
        s->now[1][i] = now, s->turn[1][i] = turn;
    }
    s->theta = -s->theta;
    s->swapped = !s->swapped;
}

// Derivative with respect to now[which] -> with respect to the asker's (theta, x, y), added.
static void add_pulled_back(const source *from, const state *s, int which, const double slope[2], double asked[3]) {
    const int k = which ^ (s->swapped ? 1 : 0);
    double g[2] = {slope[0], slope[1]};
    turn_back(s->turn[which], g);
    if (s->mirrored) g[1] = -g[1];
    if (k == 1) asked[0] += g[0] * from->bearing[1][1] - g[1] * from->bearing[1][0]; // dv/dtheta = -R(pi/2) v
    add_turn(from->frame[k], g);
    asked[1] += k == 0 ? g[0] : -g[0];
    asked[2] += k == 0 ? g[1] : -g[1];
}

// ---------------------------------------------------------------------------------------------- strips

// Where a vector stands in the strip inside a face: its distance from the face in widths, and the derivative of that.
typedef struct strip {
    double at, slope[2];
} strip;

// Face along the direction `face` (unit); the cell lies to its right (side = 1) or left (-1). The width is that of the
// fold, in the units of x, but at most `limit` |x|.
static bool strip_find(const source *from, const double x[2], const double face[2], double side, double limit,
                       strip *at) {
    const double width = from->fold->blend_width, distance = side * (x[0] * face[1] - x[1] * face[0]);
    const double r2 = x[0] * x[0] + x[1] * x[1], r = sqrt(r2);
    if (!(from->reach > 0.0 && x[0] * face[0] + x[1] * face[1] > 0.0)) return false;
    at->slope[0] = side * face[1], at->slope[1] = -side * face[0];
    double scale = 1.0 / width;
    if (limit * r < width) {
        scale = 1.0 / (limit * r);
        at->slope[0] -= distance / r2 * x[0], at->slope[1] -= distance / r2 * x[1];
    }
    at->at = distance * scale;
    at->slope[0] *= scale, at->slope[1] *= scale;
    return at->at < from->reach;
}

// Weight of the image inside the face: 1/2 at the face, 1 beyond the strip; once differentiable.
static double blend(double at, double *slope) {
    if (at >= 1.0) {
        *slope = 0.0;
        return 1.0;
    }
    *slope = 0.75 * (1.0 - at * at);
    return 0.5 + at * (0.75 - 0.25 * at * at);
}

// Shares the weight of an image with its partner beyond a face. dw: derivative of the blend in the asker's pose.
static void share_weight(double w, const double dw[3], state *image, state *partner) {
    for (int i = 0; i < 3; i++) {
        partner->weight_slope[i] = (1.0 - w) * image->weight_slope[i] - dw[i] * image->weight;
        image->weight_slope[i] = w * image->weight_slope[i] + dw[i] * image->weight;
    }
    partner->weight = (1.0 - w) * image->weight;
    image->weight *= w;
}

// A face of the cell of shape `which`: its direction and the side the cell lies on (strip_find), and what leads to the
// partner beyond it: a mirror if `mirror`, then turns of A and B.
typedef struct face {
    int which;
    double direction[2], side;
    bool mirror;
    int turns[2];
} face;

// Every image of states[0..count) inside the strip of one of the faces gets a partner beyond the first such face.
// Returns the new count.
static int split(const source *from, const face *faces, int count_faces, state *states, int count) {
    const int old = count;
    for (int i = 0; i < old; i++) {
        for (int k = 0; k < count_faces; k++) {
            const face *f = &faces[k];
            strip at;
            if (!strip_find(from, states[i].now[f->which], f->direction, f->side, from->fold->limit[f->which], &at))
                continue;
            double slope, dw[3] = {0.0, 0.0, 0.0};
            const double w = blend(at.at, &slope);
            at.slope[0] *= slope, at.slope[1] *= slope;
            add_pulled_back(from, &states[i], f->which, at.slope, dw);
            state *partner = &states[count++];
            *partner = states[i];
            share_weight(w, dw, &states[i], partner);
            if (f->mirror) move_mirror(partner);
            for (int n = 0; n < 2; n++) move_turn(from->fold, n, f->turns[n], partner);
            break;
        }
    }
    return count;
}

// Strips at both ends of the cell of a shape, which turns (of A, of B) glue to each other.
static int split_ends(const source *from, int which, int turns_a, int turns_b, state *states, int count) {
    const double *end = from->fold->edge[which];
    const face faces[2] = {{which, {end[0], end[1]}, 1.0, false, {turns_a, turns_b}},
                           {which, {end[0], -end[1]}, -1.0, false, {-turns_a, -turns_b}}};
    return split(from, faces, 2, states, count);
}

// ---------------------------------------------------------------------------------------------- the three kinds

// Turns a shape until its bearing is in its cell; 8 bits that tell how far.
static int move_into_cell(const cspace_fold *fold, int which, state *s) {
    const int order = which == 0 ? fold->order_a : fold->order_b;
    const int turns = cspace__count_turns(order, s->now[which]);
    move_turn(fold, which, turns, s);
    return (turns + order) % order;
}

// Equal shapes with a mirror: 0 <= alpha <= pi/n, |beta| <= alpha. Both walls |beta| = alpha reflect; alpha = pi/n is
// glued, (pi/n, beta) to (pi/n, -beta).
static int fold_swap_mirror(const source *from, state *states, int *branch) {
    state *s = &states[0];
    *branch = move_into_cell(from->fold, 0, s);
    *branch |= move_into_cell(from->fold, 1, s) << 8;
    if (s->now[1][0] < s->now[0][0]) move_swap(s);
    if (s->now[0][1] < 0.0) move_mirror(s);
    const double *end = from->fold->edge[0];
    const face tip = {0, {end[0], end[1]}, 1.0, true, {-1, 0}};
    return split(from, &tip, 1, states, 1);
}

// Equal shapes without a mirror. Turns of A bring alpha - beta into [-pi/n, pi/n], the exchange into [-pi/n, 0]: alpha
// = beta reflects, the far end is glued. Then both turn together until |alpha| <= pi/n.
static int fold_swap(const source *from, state *states, int *branch) {
    const cspace_fold *fold = from->fold;
    state *s = &states[0];
    double p[2] = {-from->rotation[0], -from->rotation[1]}, angle[2]; // p = e^{i (alpha - beta)} = -e^{i theta}
    const int order = fold->order_a, turns = cspace__count_turns(order, p);
    cspace__turn(turns, order, angle);
    turn_back(angle, p);
    move_turn(fold, 0, turns, s);
    *branch = (turns + order) % order;

    const bool upper = p[1] > 0.0;
    const double end[2] = {fold->edge[0][0], upper ? fold->edge[0][1] : -fold->edge[0][1]};
    int count = 1;
    strip at;
    if (strip_find(from, p, end, upper ? 1.0 : -1.0, fold->limit[0], &at)) {
        double slope;
        const double w = blend(at.at, &slope), dw[3] = {slope * (at.slope[1] * p[0] - at.slope[0] * p[1]), 0.0, 0.0};
        states[count] = *s;
        share_weight(w, dw, s, &states[count]);
        move_turn(fold, 0, upper ? 1 : -1, &states[count]);
        if (!upper) move_swap(&states[count]); // one turn on, alpha - beta has the other sign
        count++;
    }
    if (upper) move_swap(s);
    if (order == 1) return count;
    for (int i = 0; i < count; i++) {
        const int together = cspace__count_turns(order, states[i].now[0]);
        for (int k = 0; k < 2; k++) move_turn(fold, k, together, &states[i]);
        if (i == 0) *branch |= (together + order) % order << 8;
    }
    return split_ends(from, 0, 1, 1, states, count);
}

// No exchange. The mirror folds the shape of lower order: 0 <= alpha <= pi/n, both faces glued to themselves, (alpha,
// beta) to (alpha, -beta). The ends of a cell that no mirror folds are glued to each other.
static int fold_plain(const source *from, state *states, int *branch) {
    const cspace_fold *fold = from->fold;
    const int first = fold->order_b < fold->order_a ? 1 : 0, second = 1 - first;
    state *s = &states[0];
    *branch = move_into_cell(fold, 0, s);
    *branch |= move_into_cell(fold, 1, s) << 8;
    int count = 1;
    if (fold->mirror) {
        if (s->now[first][1] < 0.0) move_mirror(s);
        const double *end = fold->edge[first];
        const face faces[2] = {{first, {1.0, 0.0}, -1.0, true, {0, 0}},
                               {first, {end[0], end[1]}, 1.0, true, {first == 0 ? -1 : 0, first == 1 ? -1 : 0}}};
        count = split(from, faces, 2, states, count);
    } else if ((first == 0 ? fold->order_a : fold->order_b) > 1) {
        count = split_ends(from, first, first == 0, first == 1, states, count);
    }
    if ((second == 0 ? fold->order_a : fold->order_b) == 1) return count;
    return split_ends(from, second, second == 0, second == 1, states, count);
}

// ---------------------------------------------------------------------------------------------- public

// Images as states; *branch as cspace_fold_branch returns it.
static int find_images(source *from, const cspace_pose *pose, state *states, int *branch) {
    const cspace_fold *fold = from->fold;
    core_sincos(pose->theta, &from->rotation[1], &from->rotation[0]);
    state *s = &states[0];
    *s = (state){
        .turn = {{1.0, 0.0}, {1.0, 0.0}}, .weight = 1.0, .theta = pose->theta - fold->origin_a + fold->origin_b};
    for (int k = 0; k < 2; k++) {
        from->frame[0][k] = fold->axis_a[k];
        from->frame[1][k] = from->rotation[k];
    }
    add_turn(fold->axis_b, from->frame[1]);
    from->bearing[0][0] = pose->x, from->bearing[0][1] = pose->y;
    from->bearing[1][0] = -pose->x, from->bearing[1][1] = -pose->y;
    for (int k = 0; k < 2; k++) {
        turn_back(from->frame[k], from->bearing[k]);
        s->now[k][0] = from->bearing[k][0], s->now[k][1] = from->bearing[k][1];
    }
    const int count = !fold->swap    ? fold_plain(from, states, branch)
                      : fold->mirror ? fold_swap_mirror(from, states, branch)
                                     : fold_swap(from, states, branch);
    *branch |= (s->mirrored ? 1 << 16 : 0) | (s->swapped ? 1 << 17 : 0);
    return count;
}

int cspace_fold_images(const cspace_fold *fold, const cspace_pose *pose, double reach,
                       cspace_image images[CSPACE_IMAGES_MAX]) {
    if (fold->identity) {
        images[0] = (cspace_image){.pose = *pose, .weight = 1.0, .turn = {1.0, 0.0}, .frame = {1.0, 0.0}};
        return 1;
    }
    state states[CSPACE_IMAGES_MAX];
    source from = {.fold = fold, .reach = fold->blend_width > 0.0 ? reach : 0.0};
    int branch;
    const int count = find_images(&from, pose, states, &branch);
    for (int i = 0; i < count; i++) {
        const state *s = &states[i];
        cspace_image *image = &images[i];
        image->pose = (cspace_pose){s->theta, s->now[0][0], s->now[0][1]};
        image->weight = s->weight;
        image->mirrored = s->mirrored, image->swapped = s->swapped;
        for (int k = 0; k < 3; k++) image->weight_slope[k] = s->weight_slope[k];
        for (int k = 0; k < 2; k++) {
            image->turn[k] = s->turn[0][k];
            image->frame[k] = s->swapped ? -from.frame[1][k] : from.frame[0][k];
            image->lever[k] = s->swapped ? from.bearing[1][k] : 0.0;
        }
    }
    return count;
}

void cspace_image_return(const cspace_image *image, const double slope[3], double asked[3]) {
    double g[2] = {slope[1], slope[2]};
    turn_back(image->turn, g);
    if (image->mirrored) g[1] = -g[1];
    asked[0] =
        (image->mirrored != image->swapped ? -slope[0] : slope[0]) + g[0] * image->lever[1] - g[1] * image->lever[0];
    add_turn(image->frame, g);
    asked[1] = g[0], asked[2] = g[1];
}

int cspace_fold_branch(const cspace_fold *fold, const cspace_pose *pose) {
    if (fold->identity) return 0;
    state states[CSPACE_IMAGES_MAX];
    source from = {.fold = fold, .reach = 0.0};
    int branch = 0;
    (void)find_images(&from, pose, states, &branch);
    return branch;
}
