/// What all commands do alike: exit status, messages, progress in a log, command line as typed. Each case runs in a
/// child process whose standard error is kept.
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd_common.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>

static char output[4096];

/// Options of the command under test.
typedef struct options {
    double number;
    const char *file;
    bool quiet;
} options;

static error_t parse_option(int key, char *text, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case 'n':
        o->number = cmd_number("--number", text, 0.0, 10.0);
        return 0;
    case ARGP_KEY_ARG:
        o->file = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// The command: parses, reports progress of two stages, prints what it was given.
static void command(int argc, char **argv) {
    static const struct argp_option list[] = {{"number", 'n', "N", 0, "a number", 0}, {0}};
    static const struct argp argp = {
        .options = list, .parser = parse_option, .args_doc = "FILE", .doc = "Tests.\vExample:\n  command file"};
    options o = {.number = 1.0};
    cmd_parse(&argp, argc, argv, &o, &o.quiet);
    core_progress progress = cmd_progress(o.quiet);
    for (int i = 0; i <= 10; i++) core_progress_report(&progress, "first", i, 10, "samples", NULL);
    for (int i = 0; i < 5; i++) core_progress_report(&progress, "second", i, 10, "steps", "loss 0.5");
    cmd_progress_end();
    printf("%g %s|%s\n", o.number, o.file, cmd_provenance(argc, argv, 3).command_line);
}

/// Runs fn or the command in a child; gives its exit status, its output to both streams is in `output`.
static int run(void (*fn)(void), int argc, char **argv, const char *stdout_path) {
    const char *path = test_folder_file("output");
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int out = stdout_path ? open(stdout_path, O_WRONLY) : fd;
        dup2(fd, STDERR_FILENO);
        dup2(out, STDOUT_FILENO);
        if (fn)
            fn();
        else
            command(argc, argv);
        exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    char *data = NULL;
    size_t n = 0;
    assert_int_equal(core_file_read(path, sizeof output - 1, &data, &n, NULL), CORE_OK);
    memcpy(output, data, n + 1);
    core_free(data);
    return WEXITSTATUS(status);
}

static void assert_output(const char *text) {
    if (!strstr(output, text)) fail_msg("found \"%s\", expected \"%s\"", output, text);
}

static char name[] = "folder/command";

static void test_command_line(void **state) {
    (void)state;
    char *good[] = {name, (char[]){"--number=2.5"}, (char[]){"it's a file"}, NULL};
    assert_int_equal(run(NULL, 3, good, NULL), 0);
    assert_output("2.5 it's a file|folder/command --number=2.5 'it'\\''s a file'\n");
    char *unknown[] = {name, (char[]){"--bogus"}, NULL};
    assert_int_equal(run(NULL, 2, unknown, NULL), 2);
    assert_output("--bogus");
    char *nothing[] = {name, NULL};
    assert_int_equal(run(NULL, 1, nothing, NULL), 2);
    assert_output("command: no file given\n");
    char *bad[] = {name, (char[]){"-n"}, (char[]){"11"}, NULL};
    assert_int_equal(run(NULL, 3, bad, NULL), 2);
    assert_output("command: --number: found 11, expected a number from 0 to 10\nTry 'command --help'.\n");
    char *version[] = {name, (char[]){"--version"}, NULL};
    assert_int_equal(run(NULL, 2, version, NULL), 0);
    assert_string_equal(output, "command (cem) " CORE_VERSION "\n");
    char *help[] = {name, (char[]){"--help"}, NULL};
    assert_int_equal(run(NULL, 2, help, NULL), 0);
    assert_output("Usage: command [OPTION...] FILE\nTests.\n");
    assert_output("--quiet");
    assert_output("Example:\n  command file\n");
}

static void test_full_output_is_a_failure(void **state) {
    (void)state;
    char *good[] = {name, (char[]){"file"}, NULL};
    assert_int_equal(run(NULL, 2, good, "/dev/full"), 1);
    assert_output("command: cannot write to the standard output: No space left");
}

static void test_progress_in_a_log(void **state) {
    (void)state;
    char *loud[] = {name, (char[]){"file"}, NULL}, *quiet[] = {name, (char[]){"--quiet"}, (char[]){"file"}, NULL};
    assert_int_equal(run(NULL, 2, loud, NULL), 0);
    // one line at the end of each stage: nothing takes ten seconds here
    assert_output("command: first: 100 %, 10/10 samples");
    assert_output("command: second: 40 %, 4/10 steps");
    assert_output(", loss 0.5\n");
    int lines = 0;
    for (const char *p = output; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 3);
    assert_int_equal(run(NULL, 3, quiet, NULL), 0);
    assert_null(strstr(output, "first"));
}

static void print_program(void) {
    static const struct argp argp = {0};
    char *argv[] = {(char[]){"some folder/bin/command"}, NULL};
    bool quiet;
    cmd_parse(&argp, 1, argv, NULL, &quiet);
    char *program = cmd_program("other");
    printf("<%s>\n", program);
    core_free(program);
}

/// What a message tells a user to type names programs as this one was called.
static void test_other_programs(void **state) {
    (void)state;
    assert_int_equal(run(print_program, 0, NULL, NULL), 0);
    assert_output("<'some folder/bin/other'>");
}

/// A stage that slows down: what is left is reckoned by the last stretch, not by the whole.
static void test_pace_follows_the_machine(void **state) {
    (void)state;
    cmd_pace pace = {{100, 100}, {5, 5}};
    assert_true(cmd_pace_rate(&pace, 100, 5) == 0.0);                        // nothing is known yet
    for (int t = 1; t <= 60; t++) cmd_pace_take(&pace, 100 + t, 5 + 10 * t); // ten a second
    assert_float_equal(cmd_pace_rate(&pace, 160, 605), 10, 1e-12);
    for (int t = 1; t <= 31; t++) cmd_pace_take(&pace, 160 + t, 605 + t); // one a second
    assert_float_equal(cmd_pace_rate(&pace, 191, 636), 1, 1e-12);
    assert_true(cmd_pace_rate(&pace, 191, 600) == 0.0); // backwards
}

static core_status reported;

static void report(void) {
    core_error err = {.code = reported, .message = "x.h5: what happened", .file = "folder/file.c", .line = 7};
    exit(cmd_report(&err));
}

static void test_exit_status(void **state) {
    (void)state;
    for (int code = CORE_ARG; code <= CORE_INTERNAL; code++) {
        reported = (core_status)code;
        bool failed = code == CORE_IO || code == CORE_MEMORY || code == CORE_NOT_CONVERGED || code == CORE_INTERNAL;
        assert_int_equal(run(report, 0, NULL, NULL), failed ? CMD_EXIT_FAILED : CMD_EXIT_USAGE);
        assert_output("cem: x.h5: what happened\n");
    }
    assert_output("this is a bug (file.c:7)"); // the last one is INTERNAL
}

static const char *chosen;

static void choose(void) {
    static const char *const words[] = {"minimiser", "exact", "neural"};
    printf("%d", cmd_choice("--labels", chosen, words, 3));
}

static void count(void) {
    printf("%lld", (long long)cmd_integer("--threads", chosen, 1, 64));
}

static void test_choices_and_integers(void **state) {
    (void)state;
    chosen = "exact";
    assert_int_equal(run(choose, 0, NULL, NULL), 0);
    assert_string_equal(output, "1");
    chosen = "exakt";
    assert_int_equal(run(choose, 0, NULL, NULL), 2);
    assert_output("--labels: found \"exakt\", expected minimiser, exact or neural; did you mean exact?");
    chosen = "8";
    assert_int_equal(run(count, 0, NULL, NULL), 0);
    assert_string_equal(output, "8");
    chosen = "1.5";
    assert_int_equal(run(count, 0, NULL, NULL), 2);
    assert_output("--threads: found \"1.5\", expected a whole number from 1 to 64");
}

// A process that has touched 50 MB has held as much, and touching them has taken time.
static void test_costs(void **state) {
    (void)state;
    double before, after, megabytes;
    cmd_costs(&before, &megabytes);
    assert_true(before >= 0 && megabytes > 0);
    unsigned char *block = core_alloc(50, 1000000);
    assert_non_null(block);
    unsigned sum = 0;
    for (int turn = 0; turn < 4; turn++)
        for (int i = 0; i < 50000000; i++) sum += block[i]++;
    cmd_costs(&after, &megabytes);
    assert_int_equal(sum, 3u * 4u / 2u * 50000000u);
    assert_true(after > before + 0.01 && after < before + 60);
    assert_true(megabytes >= 50 && megabytes < 50000);
    core_free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_command_line, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_full_output_is_a_failure, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_other_programs, test_folder_make, test_folder_remove),
        cmocka_unit_test(test_pace_follows_the_machine),
        cmocka_unit_test_setup_teardown(test_progress_in_a_log, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_exit_status, test_folder_make, test_folder_remove),
        cmocka_unit_test_setup_teardown(test_choices_and_integers, test_folder_make, test_folder_remove),
        cmocka_unit_test(test_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
