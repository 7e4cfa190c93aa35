/* SPDX-License-Identifier: Apache-2.0
 * plugin.h: where the user's own compilers are: libtpu.so, and JAX's plug-in for CUDA. Both are libraries of PJRT,
 * only ever loaded by a child process (compile_child.h). */
#pragma once

#include "base/err.h"

#include <stdbool.h>

enum plugin_kind { PLUGIN_TPU, PLUGIN_CUDA };
enum { PLUGIN_KIND_COUNT = 2 };

/* "libtpu", "CUDA plug-in"; static storage. */
const char *plugin_kind_name(enum plugin_kind kind);

struct plugin {
    enum plugin_kind kind;
    char *path;      /* absolute */
    char *version;   /* "0.0.52", "0.11.2": of the package that it lies in; NULL: not known */
    char *libraries; /* folders of the nvidia-* packages beside it, ":" between them; NULL: none */
};

/* The file `named` (--libtpu=PATH, --pjrt-plugin=PATH; or a folder that holds it, or its package); else that of
 * MEMVIEWD_LIBTPU or MEMVIEWD_PJRT_PLUGIN; else the one that `python3` finds, which is waited for for 10 seconds:
 * beside `import libtpu`, or as xla_cuda13 or xla_cuda12 of `jax_plugins`. Where one is named, no other is looked for.
 * False with `notfound` and a sentence that says where was looked, or that this program
 * can load no library since it is linked statically. plugin_free in either case. */
bool plugin_find(enum plugin_kind kind, const char *named, struct plugin *out, struct err *err);
void plugin_free(struct plugin *plugin);
