/* SPDX-License-Identifier: Apache-2.0
 * compile_program.h: the program that is run to load a libtpu (compile_child.h).
 *
 * memviewd runs itself again. One that is linked statically can load no library: it runs memviewd-compile, the same
 * code linked with glibc, as libtpu is, which lies in its folder (packaging/compile.c). */
#pragma once

/* Its path, for the caller to free; NULL: this memviewd is linked statically, and none lies beside it. */
char *compile_program_path(void);
