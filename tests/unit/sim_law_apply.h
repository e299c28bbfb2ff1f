/// The contact law by itself, for tests: one contact, the forces of two bodies on each other.
#ifndef SIM_LAW_APPLY_H
#define SIM_LAW_APPLY_H

#include "sim_private.h"

/// sim_slot_apply with the contact `c` (world axes) and the spring `*spring`; the forces go to `out`.
static inline void law_apply(const sim_contact_law *law, const sim_contact *c, const sim_body_state *a,
                             const sim_body_state *b, double dt, double *spring, sim_contact_force *out) {
    sim_slot slot = {.spring = *spring, .c = *c};
    sim_slot_apply(law, a, b, dt, &slot);
    *spring = slot.spring;
    *out = slot.f;
}

#endif
