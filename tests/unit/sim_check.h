/// Assertions of the tests of libsim on numbers, with both values and the place in the message.
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "core.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/// |found - expected| <= tolerance, false for NaN.
#define check_near(found, expected, tolerance)                                                                         \
    do {                                                                                                               \
        const double check_f = (found), check_e = (expected), check_t = (tolerance);                                   \
        if (!(fabs(check_f - check_e) <= check_t))                                                                     \
            fail_msg("%s: found %.17g, expected %.17g +- %.3g", #found, check_f, check_e, check_t);                    \
    } while (0)

#define check_below(found, bound)                                                                                      \
    do {                                                                                                               \
        const double check_f = (found), check_b = (bound);                                                             \
        if (!(check_f < check_b)) fail_msg("%s: found %.17g, expected below %.17g", #found, check_f, check_b);         \
    } while (0)

#define check_ok(call)                                                                                                 \
    do {                                                                                                               \
        core_error check_err = {0};                                                                                    \
        core_error *err = &check_err;                                                                                  \
        const core_status check_s = (call);                                                                            \
        if (check_s != CORE_OK) fail_msg("%s: %s: %s", #call, core_status_name(check_s), check_err.message);           \
        (void)err;                                                                                                     \
    } while (0)

#endif
