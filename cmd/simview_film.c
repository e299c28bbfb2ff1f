// Films through the program ffmpeg: frames into its standard input, started by its argument list without a shell.
#define _POSIX_C_SOURCE 200809L
#include "simview_film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Words of the command line that are made for a film. Made before the fork: the child of a program with threads may not
// ask for memory.
typedef struct film_words {
    char size[32], rate[16];
    char *output; // freed by the caller
} film_words;

static core_status film_words_make(const simview_film *f, int width, int height, film_words *words, core_error *err) {
    const size_t n = strlen(f->temporary) + sizeof "file:";
    snprintf(words->size, sizeof words->size, "%dx%d", width, height);
    snprintf(words->rate, sizeof words->rate, "%d", SIMVIEW_FILM_FPS);
    words->output = core_alloc(n, 1);
    CORE_CHECK(words->output, CORE_MEMORY, "%s: out of memory", f->path);
    snprintf(words->output, n, "file:%s", f->temporary); // a name may start with a dash or hold a colon
    return CORE_OK;
}

// In the child: standard input from the pipe, messages into the file. Returns only if ffmpeg cannot be started.
static void film_exec(const simview_film *f, int data, const film_words *made) {
    const char *const words[] = {
        "ffmpeg",   "-hide_banner", "-nostdin",  "-loglevel",  "error",    "-xerror", "-y",         "-f",
        "rawvideo", "-pix_fmt",     "rgb24",     "-s",         made->size, "-r",      made->rate,   "-i",
        "-",        "-an",          "-c:v",      "libx264",    "-preset",  "medium",  "-crf",       "18",
        "-pix_fmt", "yuv420p",      "-movflags", "+faststart", "-f",       "mp4",     made->output, NULL};
    char *arguments[sizeof words / sizeof *words];
    memcpy(arguments, words, sizeof words); // execvp does not change the words
    if (dup2(data, 0) < 0 || dup2(fileno(f->messages), 1) < 0 || dup2(fileno(f->messages), 2) < 0) return;
    signal(SIGPIPE, SIG_DFL);
    execvp("ffmpeg", arguments);
}

static void close_pair(int ends[2]) {
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
}

// Starts ffmpeg. The second pipe closes on exec; if exec fails, errno comes through it.
static core_status film_spawn(simview_film *f, int width, int height, core_error *err) {
    int data[2] = {-1, -1}, report[2] = {-1, -1}, reason = 0;
    film_words words = {0};
    CORE_TRY(film_words_make(f, width, height, &words, err));
    if (pipe(data) != 0 || pipe(report) != 0) {
        reason = errno;
        close_pair(data);
        core_free(words.output);
        return CORE_FAIL(err, CORE_IO, "%s: no pipe to ffmpeg: %s", f->path, strerror(reason));
    }
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    fcntl(data[1], F_SETFD, FD_CLOEXEC);
    f->process = fork();
    if (f->process == 0) {
        film_exec(f, data[0], &words);
        reason = errno;
        if (write(report[1], &reason, sizeof reason) < 0) _exit(126);
        _exit(127);
    }
    reason = f->process < 0 ? errno : 0;
    core_free(words.output);
    close(report[1]);
    close(data[0]);
    f->pipe = data[1];
    if (f->process > 0 && read(report[0], &reason, sizeof reason) < (ssize_t)sizeof reason) reason = 0;
    close(report[0]);
    CORE_CHECK(reason == 0, CORE_IO,
               "%s: the program ffmpeg could not be started: %s; install it (Debian: apt-get install ffmpeg) or name a "
               "folder for numbered PNGs",
               f->path, strerror(reason));
    return CORE_OK;
}

// First line that ffmpeg said.
static void film_message(simview_film *f, char *line, int n_bytes) {
    line[0] = '\0';
    rewind(f->messages);
    if (!fgets(line, n_bytes, f->messages)) snprintf(line, (size_t)n_bytes, "no message");
    line[strcspn(line, "\r\n")] = '\0';
}

core_status simview_film_begin(simview_film *f, const char *path, int width, int height, core_error *err) {
    *f = (simview_film){.path = path, .pipe = -1, .process = -1};
    signal(SIGPIPE, SIG_IGN); // a write to a dead ffmpeg then fails with EPIPE
    CORE_TRY(core_file_temporary(path, &f->temporary, err));
    FILE *probe = fopen(f->temporary, "wb");
    CORE_CHECK(probe, CORE_IO, "%s: cannot be written: %s", path, strerror(errno));
    fclose(probe);
    f->messages = tmpfile();
    CORE_CHECK(f->messages, CORE_IO, "%s: no temporary file for ffmpeg's messages: %s", path, strerror(errno));
    return film_spawn(f, width, height, err);
}

core_status simview_film_write(simview_film *f, const sim_image *image, core_error *err) {
    size_t left = (size_t)image->width * (size_t)image->height * 3;
    for (const uint8_t *at = image->rgb; left > 0;) {
        ssize_t n = write(f->pipe, at, left);
        if (n < 0 && errno == EINTR) continue;
        CORE_CHECK(n >= 0, CORE_IO, "%s: ffmpeg takes no more frames: %s", f->path, strerror(errno));
        at += n;
        left -= (size_t)n;
    }
    return CORE_OK;
}

core_status simview_film_end(simview_film *f, core_status status, core_error *err) {
    int code = 0;
    char line[300];
    if (f->pipe >= 0) close(f->pipe);
    while (f->process > 0 && waitpid(f->process, &code, 0) < 0 && errno == EINTR) {
    }
    if (f->process > 0 && code != 0 && !(WIFEXITED(code) && WEXITSTATUS(code) == 127)) {
        film_message(f, line, sizeof line);
        status = CORE_FAIL(err, CORE_IO, "%s: ffmpeg failed (%s %d): %s", f->path,
                           WIFEXITED(code) ? "exit status" : "signal",
                           WIFEXITED(code) ? WEXITSTATUS(code) : WTERMSIG(code), line);
    }
    if (status == CORE_OK)
        status = core_file_publish(f->temporary, f->path, err);
    else if (f->temporary)
        remove(f->temporary);
    if (f->messages) fclose(f->messages);
    core_free(f->temporary);
    return status;
}
