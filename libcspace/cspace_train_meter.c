// One progress line for the training of a pair: both nets, one after the other or side by side, and all tries.
#include "cspace_train.h"

#include <math.h>
#include <stdio.h>

// nn_train's report of one net: how far, as a part of its own work.
static void take(void *user, const char *stage, double done, double total, const char *unit, const char *note) {
    (void)stage;
    const cspace__train_meter_net *net = user;
    cspace__train_meter *m = net->meter;
    const int i = (int)(net - m->net);
    while (atomic_flag_test_and_set(&m->busy)) { // nets side by side report from a thread each
    }
    m->part[i] = total > 0.0 ? done / total : 0.0;
    if (m->rows <= 0.0) m->rows = 2.0 * total; // of both nets: they see the same rows
    const double part =
        m->together ? fmin(m->part[0], m->part[1]) : m->share * m->part[0] + (1.0 - m->share) * m->part[1];
    if (i == 0 || !m->together || m->part[0] >= 1.0) { // one of two speaks
        char text[64];
        snprintf(text, sizeof text, "%s%s", i == 0 ? "" : "moment arm: ", note ? note : "");
        core_progress_report(m->out, m->stage, (m->i_try + part) * m->rows, m->tries * m->rows, unit, text);
    }
    atomic_flag_clear(&m->busy);
}

void cspace__train_meter_init(const core_progress *out, const cspace_map *map, const cspace_train_def *def,
                              cspace__train_meter *m) {
    *m = (cspace__train_meter){.out = out, .tries = def->tries, .share = 0.5};
    atomic_flag_clear(&m->busy);
    snprintf(m->stage, sizeof m->stage, "training %s-%s %dx%d", map->a, map->b, def->net.layers, def->net.width);
    for (int i = 0; i < 2; i++) {
        m->net[i] = (cspace__train_meter_net){.meter = m};
        m->net[i].progress = (core_progress){take, &m->net[i]};
    }
}

void cspace__train_meter_start(cspace__train_meter *m, int i_try, double share, bool together) {
    m->i_try = i_try;
    m->share = share;
    m->together = together;
    m->part[0] = m->part[1] = 0.0;
}
