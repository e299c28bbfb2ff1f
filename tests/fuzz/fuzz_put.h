/// Files that scenes of the fuzzers name.
#ifndef FUZZ_PUT_H
#define FUZZ_PUT_H

#include "fuzz.h"

/// Writes square.wkt into the folder, once.
static inline void fuzz_put_shape(void) {
    static const char square[] = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))\n";
    static bool done;
    if (!done) fuzz_expect(fuzz_file("square.wkt", square, sizeof square - 1) != NULL, "no folder to work in");
    done = true;
}

#endif
