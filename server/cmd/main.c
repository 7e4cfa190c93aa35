/* SPDX-License-Identifier: Apache-2.0
 * main.c: which subcommand, and its options; everything else is its own (commands.def). */
#include "server/base/log.h"
#include "server/cmd/box.h"
#include "server/cmd/input_path.h"
#include "server/compile/compile_child.h"
#include "server/files/remote/remote.h"
#include "server/files/remote/remote_address.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(const struct options *options);
} COMMANDS[] = {
#define COMMAND(constant, name, usage, help) [COMMANDS_BIT_AT_##constant] = {#name, cmd_##name},
#include "server/cmd/commands.def"
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

/* The place of that name in COMMANDS; COMMAND_COUNT: it has none, or is NULL. */
static enum commands_bit_at command_of(const char *word)
{
    unsigned at = 0;
    while (at < COMMAND_COUNT && !(word && strcmp(word, COMMANDS[at].name) == 0))
        at++;
    return (enum commands_bit_at)at;
}

/* A text that did not get to where it was printed, on a full disk, is no answer. */
static int end_of_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    log_line("standard output: %s", errno ? strerror(errno) : "not all of the text could be written");
    return COMMANDS_UNUSABLE;
}

/* The daemon, `capture` and the processes of `mcp` put themselves in a box of their own, and these start programs. */
static bool is_boxed(enum commands_bit_at command, const struct options *options)
{
    return command != COMMANDS_BIT_AT_SERVE && !commands_is_run(command) && command != COMMANDS_BIT_AT_MCP &&
           command != COMMANDS_BIT_AT_CAPTURE && !options->is_confirmed;
}

/* `arguments` are those after the subcommand, ending with NULL. */
static int main_run(enum commands_bit_at command, char *const *arguments)
{
    struct options options;
    char reason[512];
    int status = COMMANDS_DONE;
    if (!options_read(command, arguments, &options, reason, sizeof(reason))) {
        log_line("%s", reason);
        status = COMMANDS_UNUSABLE;
    } else if (!options_answer(command, &options)) {
        if (command == COMMANDS_BIT_AT_SERVE)
            options_take_runs(&options);
        bool has_paths =
            !commands_is_run(command) && command != COMMANDS_BIT_AT_MCP && command != COMMANDS_BIT_AT_CAPTURE;
        if (has_paths)
            input_path_respell(&options);
        else
            input_path_respell_folders(&options);
        if (has_paths && !input_path_set_up(&options)) {
            options_free(&options);
            return COMMANDS_UNUSABLE;
        }
        if (is_boxed(command, &options))
            box_command(&options);
        status = COMMANDS[command].run(&options);
        remote_stop();
    }
    options_free(&options);
    bool has_status_of_its_own = commands_is_run(command) || status > COMMANDS_FINDING;
    return has_status_of_its_own ? status : end_of_output(status);
}

/* A file or socket that is opened later must not become standard output or error. */
static void open_standard_descriptors(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO)
        close(descriptor);
}

static bool is_no_path(const char *word)
{
    return word[0] != '-' && !remote_address_is(word) && access(word, F_OK) != 0;
}

static bool asks_for_help(char **arguments)
{
    while (*arguments && strcmp(*arguments, "--help") != 0)
        arguments++;
    return *arguments != NULL;
}

/* A command that the Python package has and this program has not, unless a file or folder has its name. */
static bool is_of_python(const char *word) { return strcmp(word, "estimate") == 0 && access(word, F_OK) != 0; }

int main(int count, char **arguments)
{
    enum commands_bit_at command = command_of(count > 1 ? arguments[1] : NULL);
    if (!commands_is_run(command)) { /* they hand on what they have, closed ones too */
        open_standard_descriptors();
        signal(SIGCHLD, SIG_DFL); /* where it was ignored at the start, wait(2) would get no status */
    }
    if (count > 1 && strcmp(arguments[1], COMPILE_CHILD_COMMAND) == 0)
        return compile_child_run(arguments + 2);
    if ((unsigned)command < COMMAND_COUNT)
        return main_run(command, arguments + 2);
    if (count > 1 && is_of_python(arguments[1])) {
        log_line("%s is a command of the Python package: python -m memviewd %s SCRIPT (pip install memviewd)",
                 arguments[1], arguments[1]);
        return COMMANDS_UNUSABLE;
    }
    const char *nearest = count > 1 && access(arguments[1], F_OK) != 0 ? commands_nearest(arguments[1]) : NULL;
    if (nearest) {
        log_line("%s is not a command, file or folder; did you mean \"memviewd %s\"?", arguments[1], nearest);
        return COMMANDS_UNUSABLE;
    }
    if (count > 1 && is_no_path(arguments[1]) && asks_for_help(arguments + 2)) {
        log_line("%s is not a command, file or folder; memviewd --help lists the commands", arguments[1]);
        return COMMANDS_UNUSABLE;
    }
    return main_run(COMMANDS_BIT_AT_SERVE, arguments + (count > 0));
}
