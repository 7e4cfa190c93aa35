/* SPDX-License-Identifier: Apache-2.0
 * main.c: which subcommand; everything else is its own (commands.def). */
#include "server/cmd/commands.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(char *const *arguments);
} COMMANDS[] = {
#define COMMAND(constant, name, usage, help) {#name, cmd_##name},
#include "server/cmd/commands.def"
#undef COMMAND
};

int main(int count, char **arguments)
{
    for (size_t at = 0; count > 1 && at < sizeof(COMMANDS) / sizeof(COMMANDS[0]); at++) {
        if (strcmp(arguments[1], COMMANDS[at].name) == 0)
            return COMMANDS[at].run(arguments + 2);
    }
    return cmd_serve(arguments + (count > 0));
}
