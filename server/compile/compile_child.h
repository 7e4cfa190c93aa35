/* SPDX-License-Identifier: Apache-2.0
 * compile_child.h: the process in which a library of somebody else compiles one program.
 *
 * This program runs itself again as `memviewd compile-child LIBRARY TOPOLOGY`, in a folder that holds the files named
 * below, of which the target is there for a GPU alone (TOPOLOGY is "1x1x8" then); it reports through descriptor 3
 * (compile_report.h). Nobody types that command: it is in no list. */
#pragma once

#define COMPILE_CHILD_COMMAND "compile-child"
#define COMPILE_CHILD_MODULE "module.pb"    /* a HloModuleProto */
#define COMPILE_CHILD_OPTIONS "options.pb"  /* a CompileOptionsProto */
#define COMPILE_CHILD_TARGET "target.pbtxt" /* the text of a GpuTargetConfigProto */
#define COMPILE_CHILD_DUMP "dump"           /* the folder that it dumps into, or a link to it */

/* `arguments` are those behind the command, and end with NULL. The exit status: 0 if all that there is to say was
 * reported. Never returns to a caller that has work of its own: the library's threads are still there. */
int compile_child_run(char *const *arguments);
