// mapquery: asks a contact map, the minimiser or the outlines themselves, for many poses.
#include "cmd_common.h"
#include "cmd_statement.h"
#include "core_csv.h"
#include "cspace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char doc[] =
    "Answers poses with signed distance, its gradient and moment arms, from a bundle of maps or "
    "from the minimiser or the outlines. Poses come as CSV with "
    "columns theta, x and y on standard input: angle (rad) and centre of B seen from A, in "
    "A's frame, in units of the larger circumradius. "
    "The answer goes to standard output. --error prints what is known of a map's errors instead.\v"
    "Examples: printf 'theta,x,y\\n0,1.8,0\\n' | mapquery column.maps.h5 hash hash\n"
    "          mapquery --numeric hash.sdf.h5 u.sdf.h5 --ratio 0.5 < poses.csv\n"
    "          mapquery column.maps.h5 hash hash --error";

static const double LARGEST = 1e6; // of a pose

typedef struct options {
    bool numeric, exact, error, json;
    const char *ratio;
    char **words; // borrowed from argv
    int count_words;
} options;

enum { KEY_NUMERIC = 1001, KEY_EXACT, KEY_RATIO, KEY_ERROR, KEY_JSON };

static const struct argp_option argp_options[] = {
    {"numeric", KEY_NUMERIC, 0, 0, "ask the minimiser on two distance grids instead of a map", 0},
    {"exact", KEY_EXACT, 0, 0, "with --numeric: ask the outlines themselves instead of the minimiser", 0},
    {"error", KEY_ERROR, 0, 0, "print the error statement of the map; no poses are read", 0},
    {"json", KEY_JSON, 0, 0, "with --error: as JSON", 0},
    {"ratio", KEY_RATIO, "X", 0, "circumradius of B over that of A (the only one there is; --numeric: 1)", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case KEY_NUMERIC:
        o->numeric = true;
        return 0;
    case KEY_EXACT:
        o->exact = true;
        return 0;
    case KEY_ERROR:
        o->error = true;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_RATIO:
        o->ratio = argument;
        return 0;
    case ARGP_KEY_ARGS:
        o->words = state->argv + state->next;
        o->count_words = state->argc - state->next;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---------------------------------------------------------------------------------------------- poses

// Poses of standard input, in the order theta, x, y.
static core_status read_poses(core_csv *csv, core_error *err) {
    static const core_csv_column columns[3] = {{"theta", true, false}, {"x", true, false}, {"y", true, false}};
    CORE_TRY(core_csv_read_open(STDIN_FILENO, "standard input", 3, columns, csv, err));
    for (int i = 0; i < 3 * csv->count_rows; i++) {
        CORE_CHECK(fabs(csv->values[i]) <= LARGEST, CORE_RANGE,
                   "standard input:%d: column %s: found %g, expected %g to %g", csv->lines[i / 3], columns[i % 3].name,
                   csv->values[i], -LARGEST, LARGEST);
    }
    return CORE_OK;
}

static cspace_pose pose_of(const core_csv *csv, int i) {
    const double *v = csv->values + 3 * (size_t)i;
    return (cspace_pose){v[0], v[1], v[2]};
}

// ---------------------------------------------------------------------------------------------- answers

static core_status print_contacts(FILE *out, const core_csv *p, const cspace_contact *contacts, core_error *err) {
    fprintf(out, "theta,x,y,d,d_theta,gx,gy,r_a,r_b\n");
    for (int i = 0; i < p->count_rows; i++) {
        const cspace_contact *c = &contacts[i];
        const cspace_pose pose = pose_of(p, i);
        fprintf(out, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", pose.theta, pose.x, pose.y, c->d,
                c->d_theta, c->g[0], c->g[1], c->r_a, c->r_b);
    }
    CORE_CHECK(fflush(out) == 0 && !ferror(out), CORE_IO, "standard output: %s", strerror(errno));
    return CORE_OK;
}

// Whoever is asked: a map of a bundle, or the minimiser on two grids.
typedef struct source {
    cspace_bundle bundle;
    const cspace_map *map;
    bool swapped; // the map is stored as (b, a)
    sdf_shape a, b;
    sdf_grid grid_a, grid_b;
    cspace_pair pair;
} source;

static void source_clear(source *s) {
    cspace_bundle_clear(&s->bundle);
    sdf_shape_clear(&s->a);
    sdf_shape_clear(&s->b);
    sdf_grid_clear(&s->grid_a);
    sdf_grid_clear(&s->grid_b);
}

static core_status source_open(const options *o, double ratio, source *s, core_error *err) {
    if (o->numeric) {
        CORE_TRY(sdf_file_read(o->words[0], &s->a, &s->grid_a, NULL, err));
        CORE_TRY(sdf_file_read(o->words[1], &s->b, &s->grid_b, NULL, err));
        return cspace_pair_init(&s->a, &s->grid_a, &s->b, &s->grid_b, isnan(ratio) ? 1.0 : ratio, &s->pair, err);
    }
    CORE_TRY(cspace_bundle_read(o->words[0], &s->bundle, NULL, err));
    const core_status status =
        cspace_bundle_find(&s->bundle, o->words[1], o->words[2], ratio, &s->map, &s->swapped, err);
    return status == CORE_OK ? CORE_OK : core_error_prefix(err, status, "%s", o->words[0]);
}

static core_status answer_exact(const source *s, const core_csv *p, cspace_contact *contacts, core_error *err) {
    core_status status = CORE_OK;
    cspace_exact *exact = NULL;
    cspace_exact_scratch *scratch = NULL;
    CORE_TRY_DONE(cspace_exact_create(&s->pair, &exact, err));
    CORE_TRY_DONE(cspace_exact_scratch_create(exact, &scratch, err));
    for (int i = 0; i < p->count_rows; i++) {
        const cspace_pose pose = pose_of(p, i);
        cspace_exact_contact(exact, &pose, &contacts[i], scratch);
    }
done:
    cspace_exact_scratch_destroy(&scratch);
    cspace_exact_destroy(&exact);
    return status;
}

static core_status answer(const source *s, const core_csv *p, cspace_contact *contacts, core_error *err) {
    if (!s->map) {
        cspace_search_def search = cspace_search_default_def();
        search.tolerance = 1e-6; // an answer on its own should not show the search
        for (int i = 0; i < p->count_rows; i++) {
            const cspace_pose pose = pose_of(p, i);
            cspace_numeric_contact(&s->pair, &search, &pose, &contacts[i]);
        }
        return CORE_OK;
    }
    cspace_map_scratch *scratch = NULL;
    CORE_TRY(cspace_map_scratch_create(1, &scratch, err));
    for (int i = 0; i < p->count_rows; i++) {
        const cspace_pose asked = pose_of(p, i), pose = s->swapped ? cspace_swap_pose(&asked) : asked;
        cspace_map_evaluate(s->map, &pose, 1, INFINITY, &contacts[i], scratch);
        if (s->swapped) cspace_swap_return(&asked, &contacts[i]);
    }
    cspace_map_scratch_destroy(&scratch);
    return CORE_OK;
}

static core_status print_statement(const options *o, const source *s, core_error *err) {
    CORE_CHECK(s->map->statement.poses > 0, CORE_FORMAT,
               "%s: no error statement of %s-%s is stored; train the map again with nntrain or mkmaps", o->words[0],
               s->map->a, s->map->b);
    if (o->json)
        cmd_statement_print_json(stdout, s->map);
    else
        cmd_statement_print(stdout, s->map);
    return CORE_OK;
}

static core_status run(const options *o, double ratio, core_error *err) {
    core_status status = CORE_OK;
    source s = {0};
    core_csv p = {0};
    cspace_contact *contacts = NULL;
    CORE_TRY_DONE(source_open(o, ratio, &s, err));
    if (o->error) {
        status = print_statement(o, &s, err);
        goto done;
    }
    CORE_TRY_DONE(read_poses(&p, err));
    CORE_NEW_DONE(contacts, (size_t)p.count_rows);
    CORE_TRY_DONE(o->exact ? answer_exact(&s, &p, contacts, err) : answer(&s, &p, contacts, err));
    CORE_TRY_DONE(print_contacts(stdout, &p, contacts, err));
done:
    core_free(contacts);
    core_csv_clear(&p);
    source_clear(&s);
    return status;
}

int main(int argc, char **argv) {
    static const struct argp argp = {argp_options, parse, "MAPS.h5 A B\n--numeric A.sdf.h5 B.sdf.h5", doc, NULL,
                                     NULL,         NULL};
    options o = {0};
    bool quiet = false;
    cmd_parse(&argp, argc, argv, &o, &quiet);
    const int expected = o.numeric ? 2 : 3;
    if (o.error && o.numeric) cmd_usage("--error is about a map, --numeric asks none");
    if (o.json && !o.error) cmd_usage("--json goes with --error");
    if (o.exact && !o.numeric) cmd_usage("--exact goes with --numeric A.sdf.h5 B.sdf.h5");
    if (o.count_words != expected)
        cmd_usage("found %d arguments, expected %s", o.count_words,
                  o.numeric ? "A.sdf.h5 B.sdf.h5 (with --numeric)" : "MAPS.h5 A B");
    const double ratio = o.ratio ? cmd_number("--ratio", o.ratio, 1.0 / 64.0, 64.0) : NAN;
    core_error err = {0};
    const core_status status = run(&o, ratio, &err);
    return status == CORE_OK ? CMD_EXIT_OK : cmd_report(&err);
}
