/// Motion of particles through the velocity of the grid: midpoint rule, sub-steps below a cell, out of solids.
#include "fluid_private.h"

#include <math.h>

#define CHUNK 1024

static const double OUTSIDE = .01; // of a cell: how far outside a solid a particle is put
static const double EDGE = 1e-9;   // of a cell: positions stay this far inside the region

typedef struct move_job {
    fluid_world *w;
    double dt;
    int substeps;
} move_job;

// Keeps x inside the region, wrapped along a periodic axis; returns the periods it left behind.
static int keep_inside(const fluid_grid *g, double *x) {
    int periods = 0;
    for (int a = 0; a < g->dim; ++a) {
        const double length = (g->cells[a] - 2) * g->h, low = g->origin[a], margin = EDGE * g->h;
        if (a == 0 && g->periodic) {
            const double left = floor((x[a] - low) / length);
            periods = (int)left;
            x[a] -= length * left;
            x[a] = fmin(fmax(x[a], low), low + length - margin);
        } else {
            x[a] = fmin(fmax(x[a], low + margin), low + length - margin);
        }
    }
    return periods;
}

// Puts x just outside of the solid it is in.
static void push_out(const fluid_world *w, double *x) {
    const fluid_grid *g = &w->grid;
    double n[3], square = 0;
    const double d = fluid__node_sample(g, w->phi_solid, x, n);
    if (d >= 0) return;
    for (int a = 0; a < g->dim; ++a) square += n[a] * n[a];
    if (!(square > 1e-12)) return;
    const double step = (OUTSIDE * g->h - d) / sqrt(square);
    for (int a = 0; a < g->dim; ++a) x[a] += step * n[a] / sqrt(square);
    keep_inside(g, x);
}

// Takes the part of the particle's own velocity, against the solid's, off that goes into a solid closer than OUTSIDE.
static void stop_at_solid(const fluid_world *w, const double *x, int i) {
    const fluid_grid *g = &w->grid;
    double n[3], square = 0, into = 0;
    if (fluid__node_sample(g, w->phi_solid, x, n) > 2 * OUTSIDE * g->h) return;
    const int solid = w->moves ? fluid__nearest_solid(w, x, n) : -1;
    for (int a = 0; a < g->dim; ++a) {
        square += n[a] * n[a];
        into += n[a] * (w->p.v[a][i] - (w->moves ? fluid__solid_speed(w, solid, a, x) : 0));
    }
    for (int a = 0; a < g->dim && into < 0 && square > 1e-12; ++a) w->p.v[a][i] -= into / square * n[a];
}

// The solid nearest to the cell of x in a world with motion; -1: a wall around.
static int solid_at(const fluid_world *w, const double *x) {
    int cell = 0;
    for (int a = 0; a < w->grid.dim; ++a) cell += (int)fluid__cell_of(&w->grid, a, x[a]) * w->grid.stride[a];
    return w->nearest[0][cell];
}

// Velocity at x when `elapsed` of the step is over. The grid holds the velocities of its start; what moves with a solid
// sees them go on with it: u(x - elapsed V) + V(x) - V(x - elapsed V), V the solid's velocity.
static void velocity_at(const fluid_world *w, const double *x, double elapsed, double *v) {
    const fluid_grid *g = &w->grid;
    if (!w->moves) {
        fluid__sample(w, x, v);
        return;
    }
    double from[3] = {0, 0, 0};
    const int solid = solid_at(w, x);
    for (int a = 0; a < g->dim; ++a) from[a] = x[a] - elapsed * fluid__solid_speed(w, solid, a, x);
    keep_inside(g, from);
    fluid__sample(w, from, v);
    for (int a = 0; a < g->dim; ++a) v[a] += fluid__solid_speed(w, solid, a, x) - fluid__solid_speed(w, solid, a, from);
}

// Largest speed of a particle against the solid nearest to it.
static double fastest(const fluid_world *w) {
    double most = 0;
    if (!w->moves) return w->speed_max;
    for (int i = 0; i < w->p.n; ++i) {
        double x[3] = {0, 0, 0}, square = 0;
        for (int a = 0; a < w->grid.dim; ++a) x[a] = w->p.x[a][i];
        const int solid = solid_at(w, x);
        for (int a = 0; a < w->grid.dim; ++a) {
            const double v = w->p.v[a][i] - fluid__solid_speed(w, solid, a, x);
            square += v * v;
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}

static void move_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    const move_job *job = arg;
    fluid_world *w = job->w;
    const fluid_grid *g = &w->grid;
    const double dt = job->dt / job->substeps;
    const int end = (int)fmin((double)w->p.n, (double)(chunk + 1) * CHUNK);
    for (int i = (int)chunk * CHUNK; i < end; ++i) {
        double x[3] = {0, 0, 0}, middle[3] = {0, 0, 0}, v[3];
        for (int a = 0; a < g->dim; ++a) x[a] = w->p.x[a][i];
        for (int k = 0; k < job->substeps; ++k) {
            velocity_at(w, x, k * dt, v);
            for (int a = 0; a < g->dim; ++a) middle[a] = x[a] + .5 * dt * v[a];
            keep_inside(g, middle);
            velocity_at(w, middle, (k + .5) * dt, v);
            for (int a = 0; a < g->dim; ++a) x[a] += dt * v[a];
            const int periods = keep_inside(g, x);
            if (w->p.image) w->p.image[i] += periods;
            push_out(w, x);
        }
        stop_at_solid(w, x, i);
        for (int a = 0; a < g->dim; ++a) w->p.x[a][i] = x[a];
    }
}

void fluid__move(fluid_world *w, double dt) {
    move_job job = {w, dt, 1};
    const double cells = fastest(w) * dt / w->grid.h;
    while (job.substeps < cells) ++job.substeps;
    core_thread_for(w->threads, ((int64_t)w->p.n + CHUNK - 1) / CHUNK, move_chunk, &job);
}
