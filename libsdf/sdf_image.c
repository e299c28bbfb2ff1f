/// Silhouettes to levels of inside and outside. stb_image is included here alone, and sees only files that
/// sdf__image_check has accepted. Its memory is bounded as well, since a few kilobytes can announce gigabytes. It is
/// never asked to convert channels.
#include "sdf_private.h"

#include <string.h>

/// Largest single block the decoder may ask for: the largest image of four 16-bit channels, and some slack.
#define IMAGE_BLOCK_MAX ((size_t)SDF__IMAGE_SIDE_MAX * SDF__IMAGE_SIDE_MAX * 8 + ((size_t)1 << 20))

static void *image_alloc(size_t n) {
    return n <= IMAGE_BLOCK_MAX ? core_alloc(n, 1) : NULL;
}

static void *image_realloc(void *old, size_t n_old, size_t n) {
    return n <= IMAGE_BLOCK_MAX ? core_realloc(old, old ? n_old : 0, n, 1) : NULL;
}

#define STBI_MALLOC(n) image_alloc(n)
#define STBI_REALLOC_SIZED(p, n_old, n) image_realloc(p, n_old, n)
#define STBI_FREE(p) core_free(p)
#define STBI_ASSERT(x) ((void)0)
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS SDF__IMAGE_SIDE_MAX
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

/// Largest level: a clear or white pixel far from the limit.
#define LEVEL_CLEAR (255 * SDF__GREY_UNIT)
/// Half opacity as a limit: opaque is dark.
#define THRESHOLD_OPACITY 128

/// Decoded pixels, 8 bits a channel, rows from the top.
typedef struct pixels {
    int width, height, channels;
    unsigned char *data;
} pixels;

/// stb_image on a file that was checked.
static core_status stb_decode(const unsigned char *data, size_t n, const sdf__image_info *info, pixels *p,
                              core_error *err) {
    p->data = stbi_load_from_memory(data, (int)n, &p->width, &p->height, &p->channels, 0);
    if (p->data) {
        CORE_CHECK(p->width == info->width && p->height == info->height, CORE_FORMAT,
                   "damaged %s: %d x %d pixels came out, its header says %d x %d", info->format_name, p->width,
                   p->height, info->width, info->height);
        return CORE_OK;
    }
    const char *reason = stbi_failure_reason();
    // The kind is known here; stb_image does not know it only where it had no memory to look.
    bool memory = reason && (strcmp(reason, "outofmem") == 0 || strcmp(reason, "unknown image type") == 0);
    return CORE_FAIL(err, memory ? CORE_MEMORY : CORE_FORMAT, "%s could not be decoded: %s", info->format_name,
                     reason ? reason : "no reason given");
}

/// FORMAT if a pixel of a PNG has a colour beyond the palette, which stb_image would take from memory it never wrote.
/// The copy it decodes claims to be grey, so that the indices themselves come out.
static core_status png_palette_check(const unsigned char *data, size_t n, const sdf__image_info *info,
                                     core_error *err) {
    core_status status = CORE_OK;
    unsigned char *copy = NULL;
    pixels p = {0};
    int scale = info->palette_depth < 8 ? 255 / ((1 << info->palette_depth) - 1) : 1, most = 0;
    CORE_NEW_DONE(copy, n);
    memcpy(copy, data, n);
    copy[25] = 0;
    // The transparency of a palette is no valid one of a grey image: renamed to a chunk nobody knows.
    if (info->transparency_at) copy[info->transparency_at + 3] = 's';
    CORE_TRY_DONE(stb_decode(copy, n, info, &p, err));
    for (size_t i = 0; i < (size_t)p.width * (size_t)p.height; i++) {
        int index = p.data[i * (size_t)p.channels] / scale;
        most = index > most ? index : most;
    }
    CORE_CHECK_DONE(most < info->palette_entries, CORE_FORMAT,
                    "damaged PNG: a pixel has colour %d of a palette of %d colours", most, info->palette_entries);
done:
    core_free(copy);
    core_free(p.data);
    return status;
}

/// Greys of a PGM, spread from 0 .. its largest value to 0 .. 255. stb_image would swap the bytes of 16-bit greys and
/// take any largest value for 255 or 65535, so the pixels are taken from the file itself.
static core_status pgm_decode(const unsigned char *data, const sdf__image_info *info, pixels *p, core_error *err) {
    core_status status = CORE_OK;
    size_t count = (size_t)info->width * (size_t)info->height;
    CORE_NEW_DONE(p->data, count);
    p->width = info->width;
    p->height = info->height;
    p->channels = 1;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *v = data + info->pixels_at + (info->grey_max > 255 ? 2 * i : i);
        int grey = info->grey_max > 255 ? v[0] << 8 | v[1] : v[0];
        CORE_CHECK_DONE(grey <= info->grey_max, CORE_FORMAT,
                        "damaged PGM: pixel %zu has grey value %d, the header says at most %d", i, grey,
                        info->grey_max);
        p->data[i] = (unsigned char)((255 * grey + info->grey_max / 2) / info->grey_max);
    }
done:
    return status;
}

static int pixel_alpha(const pixels *p, size_t i) {
    bool has = p->channels == 2 || p->channels == 4;
    return has ? p->data[i * (size_t)p->channels + (size_t)p->channels - 1] : 255;
}

/// Whether opacity draws the figure: some pixels are at least half opaque and some are not.
static bool alpha_decides(const pixels *p) {
    size_t opaque = 0, count = (size_t)p->width * (size_t)p->height;
    for (size_t i = 0; i < count; i++) opaque += pixel_alpha(p, i) >= 128;
    return opaque > 0 && opaque < count;
}

/// The pixels as grey levels; where opacity decides, opaque ones as black.
static core_status greys_make(const pixels *p, bool by_alpha, sdf__greys *g, core_error *err) {
    core_status status = CORE_OK;
    const size_t count = (size_t)p->width * (size_t)p->height;
    CORE_NEW_DONE(g->pixels, count);
    g->width = p->width;
    g->height = p->height;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *v = p->data + i * (size_t)p->channels;
        int grey = v[0];
        if (p->channels >= 3) grey = (299 * v[0] + 587 * v[1] + 114 * v[2] + 500) / 1000; // Rec. 601 luma
        g->pixels[i] = (uint16_t)(SDF__GREY_UNIT * (by_alpha ? 255 - pixel_alpha(p, i) : grey));
    }
done:
    return status;
}

/// Levels from greys. The rim is as far outside as a clear pixel: the outline of what is cut by the image's border runs
/// along that border.
static core_status levels_make(const sdf__greys *g, int threshold, bool invert, sdf__levels *levels, core_error *err) {
    core_status status = CORE_OK;
    const size_t stride = (size_t)g->width + 2, count = stride * ((size_t)g->height + 2);
    CORE_NEW_DONE(levels->pixels, count);
    for (size_t i = 0; i < count; i++) levels->pixels[i] = LEVEL_CLEAR;
    for (int row = 0; row < g->height; row++) {
        const uint16_t *from = g->pixels + (size_t)row * (size_t)g->width;
        int16_t *to = levels->pixels + ((size_t)row + 1) * stride + 1;
        for (int i = 0; i < g->width; i++) {
            int level = 2 * (from[i] - SDF__GREY_UNIT * threshold) + SDF__GREY_UNIT;
            if (level == 0) level = 1; // blurred to the limit itself: outside
            to[i] = (int16_t)(invert ? -level : level);
        }
    }
    levels->width = g->width;
    levels->height = g->height;
done:
    return status;
}

/// Any kind of image that was checked. Caller frees the data.
static core_status pixels_decode(const unsigned char *data, size_t n, const sdf__image_info *info, pixels *p,
                                 core_error *err) {
    if (info->format == SDF__IMAGE_PGM) return pgm_decode(data, info, p, err);
    bool short_palette = info->palette_depth > 0 && info->palette_entries < 1 << info->palette_depth;
    if (short_palette) CORE_TRY(png_palette_check(data, n, info, err));
    return stb_decode(data, n, info, p, err);
}

core_status sdf__levels_from_image(const unsigned char *data, size_t n, const sdf_read_def *def, sdf__levels *levels,
                                   sdf_import *record, core_error *err) {
    core_status status = CORE_OK;
    sdf__levels result = {0};
    sdf__greys greys = {0};
    sdf__image_info info;
    pixels p = {0};
    CORE_TRY(sdf__image_check(data, n, &info, err));
    CORE_TRY_DONE(pixels_decode(data, n, &info, &p, err));
    const bool by_alpha = !info.opaque && alpha_decides(&p);
    CORE_TRY_DONE(greys_make(&p, by_alpha, &greys, err));
    CORE_TRY_DONE(sdf__grey_blur(&greys, def->blur, err));
    int threshold = by_alpha ? THRESHOLD_OPACITY : def->threshold;
    if (threshold == SDF_THRESHOLD_AUTO) CORE_TRY_DONE(sdf__grey_threshold(&greys, &threshold, err));
    CORE_TRY_DONE(levels_make(&greys, threshold, def->invert, &result, err));
    record->image = 1;
    record->threshold = by_alpha ? 0 : threshold;
    record->blur = def->blur;
    *levels = result;
    result = (sdf__levels){0};
done:
    core_free(p.data);
    sdf__greys_clear(&greys);
    sdf__levels_clear(&result);
    return status;
}

void sdf__levels_clear(sdf__levels *levels) {
    core_free(levels->pixels);
    *levels = (sdf__levels){0};
}
