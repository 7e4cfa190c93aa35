/* SPDX-License-Identifier: Apache-2.0
 * commands.h: the subcommands and their exit status. */
#pragma once

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

/* `arguments` are those after the subcommand, ending with NULL. Returns the exit status. */
#define COMMAND(constant, name, usage, help) int cmd_##name(char *const *arguments);
#include "server/cmd/commands.def"
#undef COMMAND
