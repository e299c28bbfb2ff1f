/// The pile of a run in Chipmunk, every # as its four bars, and in this simulator: the same box, friction and starting
/// state. Prints processor seconds per simulated second of both, their ratio, and how deep outlines overlap in the end
/// (exact geometry): only settings of equal overlap compare. bench_chipmunk SCENE.yaml RUN.h5 MAPS.h5 RATE ITERATIONS
/// SECONDS (of simulated time; pile.sh gives all of them)
///
/// Chipmunk gets lengths in circumradii and times in units that make gravity 10: its tolerances are absolute, for
/// bodies of about one unit. A simulated second is one of those units for both.
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "pile.h"

#include "sim_measure_private.h"

#include <chipmunk/chipmunk.h>

#include <stdio.h>
#include <stdlib.h>

static const double GRAVITY = 10;
static const double SLOP = 0.001; // overlap that Chipmunk leaves alone, circumradii
// The four bars of shapes/hash.wkt, canonical: half length, distance of their axes from the centre, half width.
static const double HALF = 0.8479976415061542, AXIS = 0.4, WIDTH = 0.13;

// A # of mass m and moment of inertia i at a pose.
static cpBody *add_hash(cpSpace *space, double m, double i, double x, double y, double angle) {
    cpBody *body = cpSpaceAddBody(space, cpBodyNew(m, i));
    cpBodySetPosition(body, cpv(x, y));
    cpBodySetAngle(body, angle);
    for (int k = 0; k < 4; ++k) {
        const double side = k % 2 == 0 ? -AXIS : AXIS;
        const cpBB box =
            k < 2 ? cpBBNew(side - WIDTH, -HALF, side + WIDTH, HALF) : cpBBNew(-HALF, side - WIDTH, HALF, side + WIDTH);
        cpShape *shape = cpSpaceAddShape(space, cpBoxShapeNew2(body, box, 0));
        cpShapeSetFriction(shape, sqrt(.4)); // Chipmunk multiplies the two
        cpShapeSetElasticity(shape, 0);
    }
    return body;
}

// The planes of the run as thick segments around its grains.
static void add_planes(cpSpace *space, const core_run_info *info, double unit) {
    for (int p = 0; p < info->count_planes; ++p) {
        const double *n = info->planes[p].normal, far = 1000, half = 5;
        const double at[2] = {n[0] * (info->planes[p].offset / unit - half),
                              n[1] * (info->planes[p].offset / unit - half)};
        cpShape *shape = cpSpaceAddShape(space, cpSegmentShapeNew(cpSpaceGetStaticBody(space),
                                                                  cpv(at[0] - far * n[1], at[1] + far * n[0]),
                                                                  cpv(at[0] + far * n[1], at[1] - far * n[0]), half));
        cpShapeSetFriction(shape, sqrt(.4));
    }
}

// What one engine did.
typedef struct outcome {
    double cost;           // processor seconds per unit of time
    double mean, p99, max; // overlap, circumradii
} outcome;

// Overlaps of outlines at the poses in `f`.
static core_status measure(const core_run_info *info, const core_run_frame *f, outcome *o, core_error *err) {
    core_status status = CORE_OK;
    sim_measurement m = {0};
    sim_selection all = {.info = info, .state = f, .count = info->count_rows};
    CORE_NEW_DONE(all.rows, (size_t)all.count);
    for (int i = 0; i < all.count; ++i) all.rows[i] = i;
    CORE_TRY_DONE(sim_measure_overlap(&all, &m, err));
    o->mean = m.overlap_mean, o->p99 = m.overlap_p99, o->max = m.overlap_max;
done:
    core_free(all.rows);
    return status;
}

// The first half of the time lets the pile settle under the engine's own contacts, the second is timed.
static core_status run_chipmunk(const core_run_info *info, core_run_frame *f, int rate, int iterations, double time,
                                outcome *o, core_error *err) {
    core_status status = CORE_OK;
    const int n = info->count_rows, steps = 2 * (int)(.5 * time * rate + .5);
    const double unit = info->types[0].radius;
    cpBody **body = NULL;
    cpSpace *space = cpSpaceNew(); // what it holds goes with the process
    CORE_NEW_DONE(body, (size_t)n);
    cpSpaceSetGravity(space, cpv(0, -GRAVITY));
    cpSpaceSetIterations(space, iterations);
    cpSpaceSetCollisionSlop(space, SLOP);
    cpSpaceUseSpatialHash(space, 2, 4 * n);
    add_planes(space, info, unit);
    // density 1; second moment of the bars less the four squares that two of them share
    const double area = 16 * HALF * WIDTH - 16 * WIDTH * WIDTH;
    const double inertia = 16 * HALF * WIDTH * ((HALF * HALF + WIDTH * WIDTH) / 3 + AXIS * AXIS) -
                           16 * WIDTH * WIDTH * (2 * WIDTH * WIDTH / 3 + 2 * AXIS * AXIS);
    for (int i = 0; i < n; ++i)
        body[i] =
            add_hash(space, area, inertia, f->position[2 * i] / unit, f->position[2 * i + 1] / unit, f->orientation[i]);
    double start = 0;
    for (int k = 0; k < steps; ++k) {
        if (k == steps / 2) start = pile_seconds();
        cpSpaceStep(space, 1. / rate);
    }
    o->cost = (pile_seconds() - start) / (.5 * steps / rate);
    for (int i = 0; i < n; ++i) {
        const cpVect x = cpBodyGetPosition(body[i]);
        f->position[2 * i] = unit * x.x, f->position[2 * i + 1] = unit * x.y;
        f->orientation[i] = cpBodyGetAngle(body[i]);
    }
    CORE_TRY_DONE(measure(info, f, o, err));
done:
    core_free(body);
    return status;
}

static core_status run_maps(char **argv, const core_run_info *info, core_run_frame *f, double time, outcome *o,
                            core_error *err) {
    core_status status = CORE_OK;
    pile p = {0};
    CORE_TRY_DONE(pile_make(argv[1], argv[2], argv[3], 1, false, 1, &p, err));
    sim_world *w = p.world;
    const double unit = sqrt(info->types[0].radius / 9.81 * GRAVITY); // s
    const int steps = 2 * (int)(.5 * time * unit / w->dt + .5);
    double start = 0;
    for (int k = 0; k < steps; ++k) {
        if (k == steps / 2) start = pile_seconds();
        CORE_TRY_DONE(sim_world_step(w, err));
    }
    o->cost = (pile_seconds() - start) / (.5 * steps * w->dt / unit);
    const sim_state s = sim_world_state(w);
    memcpy(f->position, s.x, 2 * (size_t)s.n * sizeof *s.x);
    memcpy(f->orientation, s.theta, (size_t)s.n * sizeof *s.theta);
    CORE_TRY_DONE(measure(info, f, o, err));
done:
    pile_clear(&p);
    return status;
}

static core_status bench(char **argv, core_error *err) {
    core_status status = CORE_OK;
    core_run_reader *r = NULL;
    core_run_frame f = {0};
    outcome chipmunk, maps;
    const int rate = atoi(argv[4]), iterations = atoi(argv[5]);
    const double time = atof(argv[6]);
    CORE_TRY_DONE(core_run_open(argv[2], &r, err));
    const core_run_info *info = core_run_describe(r);
    CORE_TRY_DONE(core_run_frame_create(info->count_rows, info->count_observables, info->count_planes, &f, err));
    CORE_TRY_DONE(core_run_read(r, info->count_frames - 1, &f, err));
    CORE_TRY_DONE(run_chipmunk(info, &f, rate, iterations, time, &chipmunk, err));
    CORE_TRY_DONE(run_maps(argv, info, &f, time, &maps, err));
    printf("%d #, processor seconds per simulated second (R = 1, g = 10); overlap of outlines mean/p99/max in R\n",
           info->count_rows);
    printf("  Chipmunk %s at %d Hz, %d iterations: %.3g; %.4f/%.4f/%.4f\n", cpVersionString, rate, iterations,
           chipmunk.cost, chipmunk.mean, chipmunk.p99, chipmunk.max);
    printf("  contact maps, penalty steps: %.3g; %.4f/%.4f/%.4f\n", maps.cost, maps.mean, maps.p99, maps.max);
    printf("  Chipmunk / contact maps: %.2f in time, %.2f in mean overlap\n", chipmunk.cost / maps.cost,
           chipmunk.mean / maps.mean);
done:
    core_run_frame_clear(&f);
    core_run_close(&r);
    return status;
}

int main(int argc, char **argv) {
    core_error err = {0};
    if (argc != 7 || atoi(argv[4]) < 1 || atoi(argv[5]) < 1 || !(atof(argv[6]) > 0)) {
        fprintf(stderr, "usage: bench_chipmunk SCENE.yaml RUN.h5 MAPS.h5 RATE ITERATIONS SECONDS\n");
        return 2;
    }
    if (bench(argv, &err) == CORE_OK) return 0;
    fprintf(stderr, "bench_chipmunk: %s\n", err.message);
    return 1;
}
