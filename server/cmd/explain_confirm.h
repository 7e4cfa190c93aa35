/* SPDX-License-Identifier: Apache-2.0
 * explain_confirm.h: memviewd explain --confirm: what the compiler says of the first changes that a verdict advises.
 *
 * The program is that of the verdict, and its dump holds it as it was before optimizations (docs/use/what-if.md). The
 * unchanged program is compiled first, then each change alone; no device is needed. */
#pragma once

#include "server/cmd/options.h"
#include "server/store/verdict_parts.h"

/* Changes that are compiled: a compile takes seconds, of a large program minutes. */
enum { EXPLAIN_CONFIRM_MAX = 3 };

struct explain_confirm {
    struct verdict_compiled compiled[EXPLAIN_CONFIRM_MAX];
    char *texts[2 * EXPLAIN_CONFIRM_MAX]; /* that these borrow */
    size_t count;
};

/* Makes the verdict once to see what it advises, asks the compiler, and puts its answers into `parts`, which then borrow
 * `out` (zeroed). Without a program, or where nothing is advised that a compiler can judge, says so on standard error.
 * Once a signal came (interrupts.h) nothing more is asked or said. */
void explain_confirm_ask(const struct options *options, struct verdict_parts *parts, struct explain_confirm *out);
void explain_confirm_free(struct explain_confirm *confirm);
