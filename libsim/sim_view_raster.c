// Pictures and PNG files.
#include "sim_view.h"

#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

#define IMAGE_SIDE_MAX 32768
// What stb_image_write needs beyond 6 times the pixels: its table of 16384 match lists, 32 entries each at most.
#define PNG_EXTRA_BYTES ((size_t)16 << 20)

core_status sim_image_create(int width, int height, sim_image *image, core_error *err) {
    CORE_CHECK(image != NULL, CORE_ARG, "image: found a null pointer");
    CORE_CHECK(width >= 1 && width <= IMAGE_SIDE_MAX && height >= 1 && height <= IMAGE_SIDE_MAX, CORE_RANGE,
               "picture: found %d x %d pixels, expected 1 .. %d per side", width, height, IMAGE_SIDE_MAX);
    size_t count = (size_t)width * (size_t)height;
    uint8_t *rgb = core_alloc(count, 3);
    CORE_CHECK(rgb != NULL, CORE_MEMORY, "out of memory: picture of %d x %d pixels", width, height);
    memset(rgb, 255, count * 3);
    *image = (sim_image){.width = width, .height = height, .rgb = rgb};
    return CORE_OK;
}

void sim_image_clear(sim_image *image) {
    if (!image) return;
    core_free(image->rgb);
    *image = (sim_image){0};
}

core_status sim_image_write_png(const char *path, const sim_image *image, core_error *err) {
    CORE_CHECK(path && image && image->rgb, CORE_ARG, "path or picture: found a null pointer");
    size_t raw = (size_t)image->width * (size_t)image->height * 3;
    // The encoder's growing buffers cannot report exhaustion: make sure beforehand that there is room.
    void *room = core_alloc(6 * raw + PNG_EXTRA_BYTES, 1);
    CORE_CHECK(room != NULL, CORE_MEMORY, "%s: out of memory while encoding %d x %d pixels", path, image->width,
               image->height);
    core_free(room);
    int n_bytes = 0;
    unsigned char *png = stbi_write_png_to_mem(image->rgb, image->width * 3, image->width, image->height, 3, &n_bytes);
    CORE_CHECK(png != NULL, CORE_MEMORY, "%s: out of memory while encoding %d x %d pixels", path, image->width,
               image->height);
    core_status status = core_file_write(path, png, (size_t)n_bytes, err);
    free(png); // allocated by the encoder
    return status;
}
