/// Order in which grains and their pairs are visited: along a Hilbert curve, so that what lies together in space is
/// worked on together. Visiting order changes no bit. Source: Hilbert's curve by its four turns of a square, from the
/// coarsest square to the finest (Hilbert 1891); least-significant-digit radix sort.
#include "sim_private.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 16, DIGIT = 11, DIGITS = 3, BUCKETS = 1 << DIGIT }; // 2 x 16 bits of key in three passes of 11

core_status sim_order_create(int capacity, sim_order *order, core_error *err) {
    core_status status = CORE_OK;
    sim_order made = {.capacity = capacity};
    CORE_NEW_DONE(made.sequence, (size_t)capacity);
    CORE_NEW_DONE(made.spare, (size_t)capacity);
    CORE_NEW_DONE(made.key, (size_t)capacity);
    CORE_NEW_DONE(made.count, (size_t)BUCKETS + 1);
    *order = made;
    made = (sim_order){0};
done:
    sim_order_clear(&made);
    return status;
}

void sim_order_clear(sim_order *order) {
    if (!order) return;
    core_free(order->sequence);
    core_free(order->spare);
    core_free(order->key);
    core_free(order->count);
    *order = (sim_order){0};
}

// Place of the square (x, y) along the curve.
static uint32_t curve_place(uint32_t x, uint32_t y) {
    uint32_t place = 0;
    for (uint32_t half = 1u << (LEVELS - 1); half > 0; half >>= 1) {
        const uint32_t right = (x & half) > 0, upper = (y & half) > 0;
        place += half * half * ((3 * right) ^ upper);
        // the lower quarters are entered with the axes exchanged, the right one also from the other end
        if (upper) continue;
        if (right) {
            x = ~x;
            y = ~y;
        }
        const uint32_t t = x;
        x = y;
        y = t;
    }
    return place;
}

// Square of a coordinate; what lies outside the 65536 squares, or is no number, shares the outermost.
static uint32_t square_of(double x, double low, double size) {
    const double s = (x - low) / size, most = (1 << LEVELS) - 1;
    return s > 0 ? (uint32_t)fmin(s, most) : 0;
}

// Stable counting sort of `from` into `to` by one digit of the grains' keys.
static void sort_digit(const sim_order *order, int n, int shift, const int *from, int *to) {
    memset(order->count, 0, ((size_t)BUCKETS + 1) * sizeof *order->count);
    for (int i = 0; i < n; ++i) ++order->count[((order->key[i] >> shift) & (BUCKETS - 1)) + 1];
    for (int b = 0; b < BUCKETS; ++b) order->count[b + 1] += order->count[b];
    for (int s = 0; s < n; ++s) to[order->count[(order->key[from[s]] >> shift) & (BUCKETS - 1)]++] = from[s];
}

void sim_order_find(sim_order *order, int n, const double *x, double size) {
    double low[2] = {INFINITY, INFINITY};
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 2; ++k) low[k] = fmin(low[k], x[2 * i + k]);
    }
    for (int i = 0; i < n; ++i) {
        order->key[i] = curve_place(square_of(x[2 * i], low[0], size), square_of(x[2 * i + 1], low[1], size));
        order->spare[i] = i;
    }
    // an odd number of passes ends in `sequence`
    sort_digit(order, n, 0, order->spare, order->sequence);
    sort_digit(order, n, DIGIT, order->sequence, order->spare);
    sort_digit(order, n, 2 * DIGIT, order->spare, order->sequence);
}
