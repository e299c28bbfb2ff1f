/// Grey levels of an image before they are cut into inside and outside: Gaussian blur, and Otsu's threshold (N. Otsu,
/// "A threshold selection method from gray-level histograms", 1979). All sums are integers, so that a photograph gives
/// the same outline on every machine.
#include "sdf_private.h"

#include <math.h>
#include <string.h>

/// The kernel's weights add up to this.
#define GREY_WEIGHTS 65536
/// Standard deviations after which a Gaussian is cut off (what is left out is below half a thousandth), in halves.
#define GREY_REACH_HALVES 7
#define GREY_RADIUS_MAX (GREY_REACH_HALVES * SDF__BLUR_MAX / 2 + 1)

/// Weights of the pixels 0 .. radius away, rounded to integers that add up; returns the radius.
static int kernel_make(double sigma, uint32_t weights[GREY_RADIUS_MAX + 1]) {
    int radius = (int)(0.5 * GREY_REACH_HALVES * sigma) + 1;
    double whole = 0;
    for (int k = -radius; k <= radius; k++) whole += exp(-0.5 * k * k / (sigma * sigma));
    uint32_t others = 0;
    for (int k = 1; k <= radius; k++) {
        weights[k] = (uint32_t)(GREY_WEIGHTS * exp(-0.5 * k * k / (sigma * sigma)) / whole + 0.5);
        others += 2 * weights[k];
    }
    weights[0] = GREY_WEIGHTS - others;
    return radius;
}

/// The sums of one row, rounded.
static void row_round(const uint32_t *sums, int n, uint16_t *row) {
    for (int i = 0; i < n; i++) row[i] = (uint16_t)((sums[i] + GREY_WEIGHTS / 2) / GREY_WEIGHTS);
}

core_status sdf__grey_blur(sdf__greys *g, double sigma, core_error *err) {
    core_status status = CORE_OK;
    uint32_t weights[GREY_RADIUS_MAX + 1], *sums = NULL;
    uint16_t *padded = NULL, *across = NULL;
    const size_t width = (size_t)g->width, height = (size_t)g->height;
    if (!(sigma > 0)) return CORE_OK;
    const int radius = kernel_make(sigma, weights);
    const size_t pad = (size_t)radius;
    CORE_NEW_DONE(sums, width);
    CORE_NEW_DONE(padded, width + 2 * pad);
    CORE_NEW_DONE(across, width * height);
    // Beyond the border the image goes on as its last pixel.
    for (size_t row = 0; row < height; row++) {
        const uint16_t *from = g->pixels + row * width;
        memcpy(padded + pad, from, width * sizeof *from);
        for (size_t i = 0; i < pad; i++) padded[i] = from[0], padded[pad + width + i] = from[width - 1];
        memset(sums, 0, width * sizeof *sums);
        for (int k = -radius; k <= radius; k++) {
            const uint16_t *shifted = padded + (radius + k);
            const uint32_t weight = weights[k < 0 ? -k : k];
            for (size_t i = 0; i < width; i++) sums[i] += weight * shifted[i];
        }
        row_round(sums, g->width, across + row * width);
    }
    for (int row = 0; row < g->height; row++) {
        memset(sums, 0, width * sizeof *sums);
        for (int k = -radius; k <= radius; k++) {
            int other = row + k < 0 ? 0 : row + k >= g->height ? g->height - 1 : row + k;
            const uint16_t *from = across + (size_t)other * width;
            const uint32_t weight = weights[k < 0 ? -k : k];
            for (size_t i = 0; i < width; i++) sums[i] += weight * from[i];
        }
        row_round(sums, g->width, g->pixels + (size_t)row * width);
    }
done:
    core_free(sums);
    core_free(padded);
    core_free(across);
    return status;
}

core_status sdf__grey_threshold(const sdf__greys *g, int *threshold, core_error *err) {
    int64_t histogram[256] = {0}, count = (int64_t)g->width * g->height;
    double all = 0, sum = 0, below = 0, best = 0;
    int first = -1, last = -1;
    for (int64_t i = 0; i < count; i++) histogram[(g->pixels[i] + SDF__GREY_UNIT / 2) / SDF__GREY_UNIT]++;
    for (int k = 0; k < 256; k++) all += (double)k * (double)histogram[k];
    for (int k = 0; k < 255; k++) {
        below += (double)histogram[k];
        sum += (double)k * (double)histogram[k];
        double above = (double)count - below;
        if (below == 0 || above == 0) continue;
        // The variance between both classes, their sizes times the square of the difference of their means.
        double apart = sum / below - (all - sum) / above, variance = below * above * apart * apart;
        if (variance > best) best = variance, first = last = k;
        // Greys that no pixel has belong to either class: the middle of such a gap is taken.
        if (histogram[k] == 0 && last == k - 1) last = k;
    }
    CORE_CHECK(first >= 0, CORE_SHAPE, "every pixel has the same grey level: there is no figure to find");
    *threshold = (first + last) / 2 + 1;
    return CORE_OK;
}

void sdf__greys_clear(sdf__greys *g) {
    core_free(g->pixels);
    *g = (sdf__greys){0};
}
