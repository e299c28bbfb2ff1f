/// Films through the program ffmpeg.
#ifndef SIMVIEW_FILM_H
#define SIMVIEW_FILM_H

#include "core.h"
#include "sim_view.h"

#include <stdio.h>
#include <sys/types.h>

#define SIMVIEW_FILM_FPS 25

/// A running ffmpeg.
typedef struct simview_film {
    const char *path; // borrowed
    char *temporary;
    FILE *messages; // what ffmpeg says
    pid_t process;
    int pipe; // -1: closed
} simview_film;

/// Starts ffmpeg for pictures of that size; the film grows under a temporary name. IO: no ffmpeg, not writable.
core_status simview_film_begin(simview_film *f, const char *path, int width, int height, core_error *err);
/// One picture more. IO.
core_status simview_film_write(simview_film *f, const sim_image *image, core_error *err);
/// Waits for ffmpeg and publishes the film, or removes what there is if status tells that something failed before.
/// @return status, or IO with ffmpeg's first message
core_status simview_film_end(simview_film *f, core_status status, core_error *err);

#endif
