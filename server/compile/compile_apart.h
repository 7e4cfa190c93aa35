/* SPDX-License-Identifier: Apache-2.0
 * compile_apart.h: compiles for a process in a box (server/sandbox), which can start none itself.
 *
 * A process that was forked before the box looks for the library, once, and starts one more for each compile, which
 * does compile_run in a box of its own: it may write below TMPDIR alone and connects nowhere; the library runs in a
 * child of that one, in the narrowest box (compile_child.c). What comes over the socket is a program, options and a
 * topology: neither a command nor a path. Threads: any number; one compile at a time, others wait. */
#pragma once

#include "server/compile/compile.h"
#include "server/compile/plugin.h"

struct compile_apart;

/* --libtpu and --pjrt-plugin; NULL: as plugin.h searches. */
struct compile_apart_named {
    const char *libtpu, *cuda;
};
/* Before any thread is started and before the box. `named` is borrowed for the call. NULL and errno. */
struct compile_apart *compile_apart_start(const struct compile_apart_named *named);
void compile_apart_free(struct compile_apart *apart); /* NULL is fine */

/* plugin_find of libtpu there, else of the CUDA plug-in. Once one is found it stays; `libraries` is not told. */
bool compile_apart_find(struct compile_apart *apart, struct plugin *out, struct err *err);
/* compile_run, there; `folder` and `plugin` of the request are not looked at. The files are gone then: `module_path` is
 * only a name, and the module is what `module_descriptor` reads. */
void compile_apart_run(struct compile_apart *apart, const struct compile_request *request,
                       struct compile_result *result);
