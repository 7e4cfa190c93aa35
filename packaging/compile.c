/* SPDX-License-Identifier: Apache-2.0
 * compile.c: the program memviewd-compile, which lies beside a memviewd that is linked statically
 * (server/compile/compile_program.h). */
#include "server/compile/compile_child.h"

#include <string.h>

int main(int count, char **arguments)
{
    return count > 1 && strcmp(arguments[1], COMPILE_CHILD_COMMAND) == 0 ? compile_child_run(arguments + 2) : 2;
}
