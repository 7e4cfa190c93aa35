/* SPDX-License-Identifier: Apache-2.0
 * commands.h: the subcommands and their exit status. */
#pragma once

#include <stdbool.h>

enum commands_exit {
    COMMANDS_DONE = 0,
    COMMANDS_FINDING = 1,  /* over budget, differs, not recognised */
    COMMANDS_UNUSABLE = 2, /* wrong usage or unusable input: one line on stderr says what */
    COMMANDS_INTERNAL = 70,
};

/* One bit each, for the options that belong to it. */
enum commands_bit_at {
#define COMMAND(constant, name, usage, help) COMMANDS_BIT_AT_##constant,
#include "server/cmd/commands.def"
#undef COMMAND
};

/* Its operands are a command that it becomes the runner of. */
static inline bool commands_is_run(enum commands_bit_at command)
{
    return command == COMMANDS_BIT_AT_RUN || command == COMMANDS_BIT_AT_WATCH;
}

struct options;

/* Each returns the exit status; --help and --version are answered before (main.c). */
#define COMMAND(constant, name, usage, help) int cmd_##name(const struct options *options);
#include "server/cmd/commands.def"
#undef COMMAND

/* The subcommand that `word` may be a slip of, by at most two letters ("exlpain": "explain"); NULL: of none. */
const char *commands_nearest(const char *word);
