/// The state of a world in a file, complete to the bit: grains, springs, what pairs are known to be apart, boundaries,
/// books, lists. Layout: data/README.md.
#include "sim_private.h"

#include <stdio.h>
#include <string.h>

#define WORLD "/world"
#define SLOT_NUMBERS 20
#define SLOT_FLAGS 3
#define ROOM_NUMBERS 5
#define PATH_MAX_BYTES 96

// What a slot holds is written out below: a new member has to be added there.
_Static_assert(sizeof(sim_contact) == 8 * sizeof(double), "pack_slot: sim_contact has changed");
_Static_assert(sizeof(sim_contact_force) == 9 * sizeof(double), "pack_slot: sim_contact_force has changed");
_Static_assert(sizeof(sim_slot) == 22 * sizeof(double), "pack_slot: sim_slot has changed");

// ---------------------------------------------------------------------------------------------- contacts

static void pack_slot(const sim_slot *s, double *x, int32_t *flag) {
    const sim_contact *c = &s->c;
    const sim_contact_force *f = &s->f;
    const double numbers[SLOT_NUMBERS] = {s->spring,   s->d_theta_a, s->free_n,    s->loss,     c->d,
                                          c->g[0],     c->g[1],      c->d_theta_b, c->r_a,      c->r_b,
                                          f->force[0], f->force[1],  f->torque_a,  f->torque_b, f->f_n,
                                          f->f_t,      f->u_n,       f->u_t,       c->shared,   s->free_t};
    memcpy(x, numbers, sizeof numbers);
    flag[0] = c->feature;
    flag[1] = f->sliding;
    flag[2] = f->saturated;
}

static void unpack_slot(const double *x, const int32_t *flag, sim_slot *s) {
    *s = (sim_slot){.spring = x[0],
                    .d_theta_a = x[1],
                    .free_n = x[2],
                    .free_t = x[19],
                    .loss = x[3],
                    .c = {.d = x[4],
                          .g = {x[5], x[6]},
                          .d_theta_b = x[7],
                          .r_a = x[8],
                          .r_b = x[9],
                          .shared = x[18],
                          .feature = flag[0]},
                    .f = {.force = {x[10], x[11]},
                          .torque_a = x[12],
                          .torque_b = x[13],
                          .f_n = x[14],
                          .f_t = x[15],
                          .u_n = x[16],
                          .u_t = x[17],
                          .sliding = flag[1] != 0,
                          .saturated = flag[2] != 0}};
}

// Slots in rows, as they are written. `{0}` is "nothing".
typedef struct slot_rows {
    size_t n;
    double *numbers; // (n x SLOT_NUMBERS)
    int32_t *flags;  // (n x SLOT_FLAGS)
} slot_rows;

static void slot_rows_clear(slot_rows *rows) {
    core_free(rows->numbers);
    core_free(rows->flags);
    *rows = (slot_rows){0};
}

static core_status slot_rows_create(size_t n, slot_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    rows->n = n;
    CORE_NEW_DONE(rows->numbers, n * SLOT_NUMBERS);
    CORE_NEW_DONE(rows->flags, n * SLOT_FLAGS);
done:
    return status; // the caller clears
}

static core_status slot_rows_write(core_h5 *file, const char *group, const slot_rows *rows, core_error *err) {
    char path[PATH_MAX_BYTES];
    const size_t numbers[2] = {rows->n, SLOT_NUMBERS}, flags[2] = {rows->n, SLOT_FLAGS};
    snprintf(path, sizeof path, "%s/contact", group);
    CORE_TRY(core_h5_write(
        file, path, CORE_H5_F64, 2, numbers, rows->numbers, NULL,
        "spring, d_theta_a, f_n beyond the spring's, spring loss, d, g_x, g_y, d_theta_b, r_a, r_b, "
        "force_x, force_y, torque_a, torque_b, f_n, f_t, u_n, u_t (SI, world axes), shared, dashpot's part of f_t",
        err));
    snprintf(path, sizeof path, "%s/contact_flags", group);
    return core_h5_write(file, path, CORE_H5_I32, 2, flags, rows->flags, NULL, "feature, sliding, saturated", err);
}

static core_status slot_rows_read(core_h5 *file, const char *group, size_t n, slot_rows *rows, core_error *err) {
    char path[PATH_MAX_BYTES];
    const size_t numbers[2] = {n, SLOT_NUMBERS}, flags[2] = {n, SLOT_FLAGS};
    snprintf(path, sizeof path, "%s/contact", group);
    int rank;
    size_t found[2] = {0, 0};
    CORE_TRY(core_h5_size(file, path, 2, &rank, found, err)); // before memory is asked for
    CORE_CHECK(rank == 2 && found[0] == n && found[1] == SLOT_NUMBERS, CORE_FORMAT,
               "%s: %s: found %zu rows of %zu numbers, expected %zu of %d", core_h5_path(file), path, found[0],
               found[1], n, SLOT_NUMBERS);
    CORE_TRY(slot_rows_create(n, rows, err));
    CORE_TRY(core_h5_read(file, path, CORE_H5_F64, 2, numbers, rows->numbers, true, err));
    snprintf(path, sizeof path, "%s/contact_flags", group);
    return core_h5_read(file, path, CORE_H5_I32, 2, flags, rows->flags, false, err);
}

// ---------------------------------------------------------------------------------------------- grains and books

// An array of the world with a row for each grain.
typedef struct grain_array {
    const char *path;
    core_h5_type type;
    size_t columns; // 0: one number a grain
    void *data;
    bool finite;
    const char *units, *description;
} grain_array;
#define GRAIN_ARRAYS 9

static void list_grain_arrays(const sim_world *w, grain_array list[GRAIN_ARRAYS]) {
    const grain_array all[GRAIN_ARRAYS] = {
        {WORLD "/grains/position", CORE_H5_F64, 2, w->x, true, "m", "of the centroids, within the period"},
        {WORLD "/grains/angle", CORE_H5_F64, 0, w->theta, true, "rad", NULL},
        {WORLD "/grains/velocity", CORE_H5_F64, 2, w->v, true, "m/s", NULL},
        {WORLD "/grains/angular_velocity", CORE_H5_F64, 0, w->omega, true, "rad/s", NULL},
        {WORLD "/grains/image", CORE_H5_I32, 0, w->image, false, NULL, "periods that x has left behind"},
        {WORLD "/grains/role", CORE_H5_U8, 0, w->role, false, NULL, "0 free, 1 prescribed, 2 absent"},
        {WORLD "/grains/type", CORE_H5_I32, 0, w->type, false, NULL, "index of the grain type"},
        {WORLD "/grains/position_listed", CORE_H5_F64, 2, w->x_built, true, "m", "when the neighbours were listed"},
        {WORLD "/grains/lost", CORE_H5_F64, SIM_LOST_COUNT, w->lost, true, "J",
         "since the start: dissipated in normal and tangential direction, work of prescribed motion, "
         "tangential dashpots' part"},
    };
    memcpy(list, all, sizeof all);
}

static core_status write_grains(const sim_world *w, core_h5 *file, core_error *err) {
    grain_array list[GRAIN_ARRAYS];
    list_grain_arrays(w, list);
    for (int k = 0; k < GRAIN_ARRAYS; ++k) {
        const size_t dims[2] = {(size_t)w->n, list[k].columns};
        CORE_TRY(core_h5_write(file, list[k].path, list[k].type, list[k].columns ? 2 : 1, dims, list[k].data,
                               list[k].units, list[k].description, err));
    }
    return CORE_OK;
}

static core_status read_grains(sim_world *w, core_h5 *file, core_error *err) {
    grain_array list[GRAIN_ARRAYS];
    list_grain_arrays(w, list);
    for (int k = 0; k < GRAIN_ARRAYS; ++k) {
        const size_t dims[2] = {(size_t)w->n, list[k].columns};
        CORE_TRY(core_h5_read(file, list[k].path, list[k].type, list[k].columns ? 2 : 1, dims, list[k].data,
                              list[k].finite, err));
    }
    for (int i = 0; i < w->n; ++i) {
        CORE_CHECK(w->type[i] >= 0 && w->type[i] < w->count_types, CORE_FORMAT,
                   "%s: " WORLD "/grains/type: %d in row %d, expected 0 .. %d", core_h5_path(file), w->type[i], i,
                   w->count_types - 1);
        const bool absent = w->role[i] == SIM_ROLE_ABSENT; // of either kind: phases and outlets take them away
        CORE_CHECK(absent || w->role[i] == (w->mover_of[i] >= 0 ? SIM_ROLE_PRESCRIBED : SIM_ROLE_FREE), CORE_FORMAT,
                   "%s: " WORLD "/grains/role: %d in row %d, which the scene does not have", core_h5_path(file),
                   w->role[i], i);
        w->mass[i] = w->type_mass[w->type[i]];
        w->inertia[i] = w->type_inertia[w->type[i]];
        if (w->role[i] == SIM_ROLE_PRESCRIBED) continue;
        w->inverse_mass[i] = 1 / w->mass[i];
        w->inverse_inertia[i] = 1 / w->inertia[i];
    }
    return CORE_OK;
}

static core_status write_books(const sim_world *w, core_h5 *file, core_error *err) {
    const double booked[4] = {w->dissipated_normal, w->dissipated_tangential, w->work, w->removed};
    const int64_t counts[3] = {w->count_evaluated, w->count_full, w->count_skipped};
    const uint8_t stale = w->stale;
    const size_t four = 4, three = 3;
    CORE_TRY(core_h5_write(file, WORLD "/step", CORE_H5_I64, 0, NULL, &w->step, NULL, "steps since the start", err));
    CORE_TRY(core_h5_write(file, WORLD "/booked", CORE_H5_F64, 1, &four, booked, "J",
                           "dissipated in normal and tangential direction, work, removed: what no grain has booked",
                           err));
    CORE_TRY(core_h5_write(file, WORLD "/counts", CORE_H5_I64, 1, &three, counts, NULL,
                           "pairs asked, asked in full and skipped in the last step", err));
    return core_h5_write(file, WORLD "/stale", CORE_H5_U8, 0, NULL, &stale, NULL,
                         "1: neighbours are listed anew before the next step", err);
}

static core_status read_books(sim_world *w, core_h5 *file, core_error *err) {
    double booked[4];
    int64_t counts[3];
    uint8_t stale;
    const size_t four = 4, three = 3;
    CORE_TRY(core_h5_read(file, WORLD "/step", CORE_H5_I64, 0, NULL, &w->step, false, err));
    CORE_CHECK(w->step >= 0 && w->step <= CORE_STEP_MAX, CORE_FORMAT, "%s: " WORLD "/step: found %lld",
               core_h5_path(file), (long long)w->step);
    CORE_TRY(core_h5_read(file, WORLD "/booked", CORE_H5_F64, 1, &four, booked, true, err));
    CORE_TRY(core_h5_read(file, WORLD "/counts", CORE_H5_I64, 1, &three, counts, false, err));
    CORE_TRY(core_h5_read(file, WORLD "/stale", CORE_H5_U8, 0, NULL, &stale, false, err));
    w->dissipated_normal = booked[0], w->dissipated_tangential = booked[1];
    w->work = booked[2], w->removed = booked[3];
    w->count_evaluated = counts[0], w->count_full = counts[1], w->count_skipped = counts[2];
    w->stale = stale != 0;
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- pairs

// Pairs as they are written, in (i, j) order. `{0}` is "nothing".
typedef struct pair_rows {
    size_t n;
    int32_t *bodies; // (n x 3) i, j, number of contacts
    double *numbers; // (n x ROOM_NUMBERS) room, placement
    slot_rows slots;
} pair_rows;

static void pair_rows_clear(pair_rows *rows) {
    core_free(rows->bodies);
    core_free(rows->numbers);
    slot_rows_clear(&rows->slots);
    *rows = (pair_rows){0};
}

static core_status pair_rows_create(size_t n, pair_rows *rows, core_error *err) {
    core_status status = CORE_OK;
    rows->n = n;
    CORE_NEW_DONE(rows->bodies, 3 * n);
    CORE_NEW_DONE(rows->numbers, ROOM_NUMBERS * n);
done:
    return status; // the caller clears
}

static core_status fill_pair_rows(const sim_pairs *pairs, pair_rows *rows, core_error *err) {
    CORE_TRY(pair_rows_create((size_t)pairs->n, rows, err));
    for (size_t k = 0; k < rows->n; ++k) {
        const int p = pairs->place[k];
        const int32_t bodies[3] = {pairs->i[p], pairs->j[p], pairs->count[p]};
        memcpy(rows->bodies + 3 * k, bodies, sizeof bodies);
        rows->numbers[ROOM_NUMBERS * k] = pairs->apart[p].room;
        memcpy(rows->numbers + ROOM_NUMBERS * k + 1, pairs->apart[p].from, sizeof pairs->apart[p].from);
    }
    return CORE_OK;
}

static core_status fill_slot_rows(const sim_pairs *pairs, slot_rows *rows, core_error *err) {
    size_t m = 0;
    for (int k = 0; k < pairs->n; ++k) m += (size_t)pairs->count[k];
    CORE_TRY(slot_rows_create(m, rows, err));
    m = 0;
    for (int k = 0; k < pairs->n; ++k) {
        const int p = pairs->place[k];
        for (int c = 0; c < pairs->count[p]; ++c, ++m) {
            const sim_slot slot = sim_pairs_slot(pairs, p, c);
            pack_slot(&slot, rows->numbers + m * SLOT_NUMBERS, rows->flags + m * SLOT_FLAGS);
        }
    }
    return CORE_OK;
}

static core_status write_pairs(const sim_world *w, core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    pair_rows rows = {0};
    CORE_TRY_DONE(fill_pair_rows(&w->pairs, &rows, err));
    const size_t bodies[2] = {rows.n, 3}, numbers[2] = {rows.n, ROOM_NUMBERS};
    CORE_TRY_DONE(core_h5_write(file, WORLD "/pairs/bodies", CORE_H5_I32, 2, bodies, rows.bodies, NULL,
                                "grains i < j in this order, number of their contacts", err));
    CORE_TRY_DONE(core_h5_write(file, WORLD "/pairs/room", CORE_H5_F64, 2, numbers, rows.numbers, NULL,
                                "the pair is apart while it has not come closer by room (m) since dx, dy (m), angles "
                                "of i and j (rad)",
                                err));
    // one after the other: together they are the most memory that a run takes
    pair_rows_clear(&rows);
    CORE_TRY_DONE(fill_slot_rows(&w->pairs, &rows.slots, err));
    status = slot_rows_write(file, WORLD "/pairs", &rows.slots, err);
done:
    pair_rows_clear(&rows);
    return status;
}

// Rows [0, n) of a dataset of the file, at most as many as the world can have. Columns are looked at before memory is
// asked for: a dataset of (n x 0) holds no bytes, whatever n it states.
static core_status count_rows(core_h5 *file, const char *path, size_t columns, size_t *n, core_error *err) {
    int rank;
    size_t dims[2] = {0, 0};
    CORE_TRY(core_h5_size(file, path, 2, &rank, dims, err));
    CORE_CHECK(rank == 2 && dims[0] < INT32_MAX / 2 && dims[1] == columns, CORE_FORMAT,
               "%s: %s: found %zu rows of %zu numbers, expected %zu", core_h5_path(file), path, dims[0], dims[1],
               columns);
    *n = dims[0];
    return CORE_OK;
}

static core_status read_pair_rows(const sim_world *w, core_h5 *file, pair_rows *rows, core_error *err) {
    size_t n = 0, m = 0;
    CORE_TRY(count_rows(file, WORLD "/pairs/bodies", 3, &n, err));
    CORE_TRY(pair_rows_create(n, rows, err));
    const size_t bodies[2] = {n, 3}, numbers[2] = {n, ROOM_NUMBERS};
    CORE_TRY(core_h5_read(file, WORLD "/pairs/bodies", CORE_H5_I32, 2, bodies, rows->bodies, false, err));
    CORE_TRY(core_h5_read(file, WORLD "/pairs/room", CORE_H5_F64, 2, numbers, rows->numbers, true, err));
    for (size_t k = 0; k < n; ++k) {
        const int32_t *b = rows->bodies + 3 * k;
        const bool ordered = k == 0 || b[-3] < b[0] || (b[-3] == b[0] && b[-2] < b[1]);
        CORE_CHECK(b[0] >= 0 && b[0] < b[1] && b[1] < w->n && b[2] >= 0 && b[2] <= w->k_max && ordered, CORE_FORMAT,
                   "%s: " WORLD "/pairs/bodies: found (%d, %d) with %d contacts in row %zu, expected grains i < j of "
                   "%d in order and at most %d contacts",
                   core_h5_path(file), b[0], b[1], b[2], k, w->n, w->k_max);
        m += (size_t)b[2];
    }
    return slot_rows_read(file, WORLD "/pairs", m, &rows->slots, err);
}

// The pairs become the world's list, with their contacts.
static core_status apply_pair_rows(sim_world *w, const pair_rows *rows, core_error *err) {
    CORE_TRY(sim_found_reserve(&w->found, (int)rows->n, err));
    w->found.n = (int)rows->n;
    for (size_t k = 0; k < rows->n; ++k) {
        w->found.i[k] = rows->bodies[3 * k];
        w->found.j[k] = rows->bodies[3 * k + 1];
    }
    w->pairs.n = 0;
    CORE_TRY(sim_world_adopt(w, err));
    sim_pairs *pairs = &w->pairs;
    size_t m = 0;
    for (size_t k = 0; k < rows->n; ++k) {
        const int p = pairs->place[k], count = rows->bodies[3 * k + 2];
        pairs->count[p] = (uint8_t)count;
        pairs->first[p] = p * pairs->k_max;
        pairs->apart[p].room = rows->numbers[ROOM_NUMBERS * k];
        memcpy(pairs->apart[p].from, rows->numbers + ROOM_NUMBERS * k + 1, sizeof pairs->apart[p].from);
        for (int c = 0; c < count; ++c, ++m) {
            sim_slot slot;
            unpack_slot(rows->slots.numbers + m * SLOT_NUMBERS, rows->slots.flags + m * SLOT_FLAGS, &slot);
            const size_t at = (size_t)p * (size_t)pairs->k_max + (size_t)c;
            pairs->touch[at] = sim_touch_of(&slot);
            pairs->spring[at] = slot.spring;
            pairs->feature[at] = slot.c.feature;
        }
    }
    return CORE_OK;
}

// ---------------------------------------------------------------------------------------------- boundaries

#define WALL_NUMBERS 17

static void pack_wall(const sim_wall *b, double *x, int64_t *steps) {
    const double numbers[WALL_NUMBERS] = {b->x[0],
                                          b->x[1],
                                          b->angle,
                                          b->v[0],
                                          b->v[1],
                                          b->omega,
                                          b->x_built[0],
                                          b->x_built[1],
                                          b->angle_built,
                                          b->plane.normal[0],
                                          b->plane.normal[1],
                                          b->plane.offset,
                                          b->plane.angle,
                                          b->reach,
                                          b->mover.x[0],
                                          b->mover.x[1],
                                          b->mover.angle};
    memcpy(x, numbers, sizeof numbers);
    steps[0] = b->present;
    steps[1] = b->mover.start;
    steps[2] = b->mover.stop;
}

static core_status write_walls(const sim_world *w, core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    const sim_walls *walls = &w->walls;
    const size_t b = (size_t)walls->count, n = (size_t)walls->n, m = (size_t)w->count_movers;
    const size_t dims_numbers[2] = {b, WALL_NUMBERS}, dims_steps[2] = {b, 3}, dims_near[2] = {n, 4},
                 dims_movers[2] = {m, 2};
    double *numbers = NULL;
    int64_t *steps = NULL, *movers = NULL;
    int32_t *near = NULL;
    slot_rows slots = {0};
    CORE_NEW_DONE(numbers, b * WALL_NUMBERS);
    CORE_NEW_DONE(steps, 3 * b);
    CORE_NEW_DONE(movers, 2 * m);
    CORE_NEW_DONE(near, 4 * n);
    CORE_TRY_DONE(slot_rows_create(n, &slots, err));
    for (size_t k = 0; k < b; ++k) pack_wall(&walls->wall[k], numbers + k * WALL_NUMBERS, steps + 3 * k);
    for (size_t k = 0; k < m; ++k) {
        movers[2 * k] = w->mover[k].start;
        movers[2 * k + 1] = w->mover[k].stop;
    }
    for (int i = 0; i < walls->n_listed; ++i) {
        for (int p = walls->start[i]; p < walls->start[i + 1]; ++p) {
            const sim_wall_entry *e = &walls->entry[p];
            const int32_t row[4] = {i, e->boundary, e->feature, e->near};
            memcpy(near + 4 * (size_t)p, row, sizeof row);
            pack_slot(&e->slot, slots.numbers + (size_t)p * SLOT_NUMBERS, slots.flags + (size_t)p * SLOT_FLAGS);
        }
    }
    CORE_TRY_DONE(core_h5_write(file, WORLD "/boundaries/state", CORE_H5_F64, 2, dims_numbers, numbers, NULL,
                                "x, y, angle; their rates; x, y, angle when grains near it were listed; normal, "
                                "offset, angle of a plane; reach; x, y, angle where its motion starts (SI)",
                                err));
    CORE_TRY_DONE(core_h5_write(file, WORLD "/boundaries/steps", CORE_H5_I64, 2, dims_steps, steps, NULL,
                                "1: present; step at which its motion started and stopped, -1: not yet", err));
    CORE_TRY_DONE(core_h5_write(file, WORLD "/boundaries/moved", CORE_H5_F64, 0, NULL, &walls->moved, "m",
                                "most that a surface has moved since grains near it were listed", err));
    CORE_TRY_DONE(core_h5_write(file, WORLD "/movers/steps", CORE_H5_I64, 2, dims_movers, movers, NULL,
                                "grains with a prescribed motion: steps at which it started and stopped", err));
    CORE_TRY_DONE(core_h5_write(file, WORLD "/near/rows", CORE_H5_I32, 2, dims_near, near, NULL,
                                "grain, boundary, feature, 1: evaluated in the last step", err));
    status = slot_rows_write(file, WORLD "/near", &slots, err);
done:
    core_free(numbers);
    core_free(steps);
    core_free(movers);
    core_free(near);
    slot_rows_clear(&slots);
    return status;
}

static void unpack_wall(const double *x, const int64_t *steps, sim_wall *b) {
    memcpy(b->x, x, sizeof b->x);
    b->angle = x[2];
    sim_wall_place(b);
    memcpy(b->v, x + 3, sizeof b->v);
    b->omega = x[5];
    memcpy(b->x_built, x + 6, sizeof b->x_built);
    b->angle_built = x[8];
    // to the bit as it was, also before it has moved for the first time
    if (b->kind == SIM_BOUNDARY_PLANE) b->plane = (sim_plane){.normal = {x[9], x[10]}, .offset = x[11], .angle = x[12]};
    b->reach = x[13];
    memcpy(b->mover.x, x + 14, sizeof b->mover.x); // where a servo had brought it when its motion started
    b->mover.angle = x[16];
    b->present = steps[0] != 0;
    b->mover.start = steps[1];
    b->mover.stop = steps[2];
}

static core_status read_walls(sim_world *w, core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    const size_t b = (size_t)w->walls.count, m = (size_t)w->count_movers;
    const size_t dims_numbers[2] = {b, WALL_NUMBERS}, dims_steps[2] = {b, 3}, dims_movers[2] = {m, 2};
    double *numbers = NULL;
    int64_t *steps = NULL, *movers = NULL;
    CORE_NEW_DONE(numbers, b * WALL_NUMBERS);
    CORE_NEW_DONE(steps, 3 * b);
    CORE_NEW_DONE(movers, 2 * m);
    CORE_TRY_DONE(core_h5_read(file, WORLD "/boundaries/state", CORE_H5_F64, 2, dims_numbers, numbers, true, err));
    CORE_TRY_DONE(core_h5_read(file, WORLD "/boundaries/steps", CORE_H5_I64, 2, dims_steps, steps, false, err));
    CORE_TRY_DONE(core_h5_read(file, WORLD "/movers/steps", CORE_H5_I64, 2, dims_movers, movers, false, err));
    for (size_t k = 0; k < b; ++k) unpack_wall(numbers + k * WALL_NUMBERS, steps + 3 * k, &w->walls.wall[k]);
    for (size_t k = 0; k < m; ++k) {
        w->mover[k].start = movers[2 * k];
        w->mover[k].stop = movers[2 * k + 1];
    }
    status = core_h5_read(file, WORLD "/boundaries/moved", CORE_H5_F64, 0, NULL, &w->walls.moved, true, err);
done:
    core_free(numbers);
    core_free(steps);
    core_free(movers);
    return status;
}

// Rows (grain, boundary, feature) in this order, of grains and features that there are.
static core_status check_near(const sim_world *w, core_h5 *file, size_t n, const int32_t *rows, core_error *err) {
    for (size_t k = 0; k < n; ++k) {
        const int32_t *r = rows + 4 * k;
        bool good = r[0] >= 0 && r[0] < w->n && r[1] >= 0 && r[1] < w->walls.count && r[2] >= 0 &&
                    r[2] < w->walls.wall[r[1]].count_features;
        if (good && k > 0) good = r[-4] < r[0] || (r[-4] == r[0] && (r[-3] < r[1] || (r[-3] == r[1] && r[-2] < r[2])));
        CORE_CHECK(good, CORE_FORMAT, "%s: " WORLD "/near/rows: found grain %d, boundary %d, feature %d in row %zu",
                   core_h5_path(file), r[0], r[1], r[2], k);
    }
    return CORE_OK;
}

// The list of grains near boundaries, with their contacts.
static core_status read_near(sim_world *w, core_h5 *file, core_error *err) {
    core_status status = CORE_OK;
    sim_walls *walls = &w->walls;
    size_t n = 0;
    int32_t *rows = NULL;
    sim_wall_entry *entries = NULL;
    slot_rows slots = {0};
    CORE_TRY_DONE(count_rows(file, WORLD "/near/rows", 4, &n, err));
    const size_t dims[2] = {n, 4};
    CORE_NEW_DONE(rows, 4 * n);
    CORE_NEW_DONE(entries, n);
    CORE_TRY_DONE(core_h5_read(file, WORLD "/near/rows", CORE_H5_I32, 2, dims, rows, false, err));
    CORE_TRY_DONE(check_near(w, file, n, rows, err));
    CORE_TRY_DONE(slot_rows_read(file, WORLD "/near", n, &slots, err));
    size_t k = 0;
    for (int i = 0; i <= w->n; ++i) {
        walls->start[i] = (int)k;
        for (; k < n && rows[4 * k] == i; ++k) {
            entries[k] =
                (sim_wall_entry){.boundary = rows[4 * k + 1], .feature = rows[4 * k + 2], .near = rows[4 * k + 3] != 0};
            unpack_slot(slots.numbers + k * SLOT_NUMBERS, slots.flags + k * SLOT_FLAGS, &entries[k].slot);
        }
    }
    core_free(walls->entry);
    walls->entry = entries;
    entries = NULL;
    walls->n = walls->capacity = (int)n;
    walls->n_listed = w->n;
done:
    core_free(rows);
    core_free(entries);
    slot_rows_clear(&slots);
    return status;
}

// ---------------------------------------------------------------------------------------------- public

core_status sim_world_save(const sim_world *world, core_h5 *file, core_error *err) {
    CORE_TRY(core_h5_group(file, WORLD, "state of all grains, contacts and boundaries", err));
    CORE_TRY(write_books(world, file, err));
    CORE_TRY(write_grains(world, file, err));
    CORE_TRY(write_pairs(world, file, err));
    return write_walls(world, file, err);
}

core_status sim_world_restore(sim_world *world, core_h5 *file, core_error *err) {
    sim_world *w = world;
    core_status status = CORE_OK;
    pair_rows rows = {0};
    CORE_TRY_DONE(read_grains(w, file, err));
    for (int i = 0; i < w->n; ++i) core_sincos(w->theta[i], &w->cos_sin[2 * i + 1], &w->cos_sin[2 * i]);
    CORE_TRY_DONE(read_walls(w, file, err));
    CORE_TRY_DONE(read_near(w, file, err));
    CORE_TRY_DONE(read_pair_rows(w, file, &rows, err));
    CORE_TRY_DONE(apply_pair_rows(w, &rows, err));
    status = read_books(w, file, err);
done:
    pair_rows_clear(&rows);
    return status;
}
