/* SPDX-License-Identifier: Apache-2.0
 * libtpu.h: where the person's own libtpu.so is. It is only ever loaded by a child process (compile_child.h). */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct libtpu {
    char *path;    /* absolute */
    char *version; /* "0.0.52", by the package that it lies in; NULL: not known */
};

/* The file `named` (--libtpu=PATH; or a folder that holds libtpu.so); else that of MEMVIEWD_LIBTPU; else the one that
 * `python3 -c "import libtpu"` finds, which is waited for for 10 seconds. Where one is named, no other is looked for.
 * False with `notfound` and a sentence that says where was looked, or that this program
 * can load no library since it is linked statically. libtpu_free in either case. */
bool libtpu_find(const char *named, struct libtpu *out, struct err *err);
void libtpu_free(struct libtpu *libtpu);
