/* SPDX-License-Identifier: Apache-2.0
 * explain_confirm.h: memviewd explain --confirm: what the compiler says of the first changes that a verdict advises.
 *
 * The program is that of the verdict, and its dump holds it as it was before optimizations (docs/use/what-if.md). The
 * unchanged program is compiled first, then each change alone; no device is needed. */
#pragma once

#include "server/cmd/options.h"
#include "server/compile/confirm.h"
#include "server/store/verdict_parts.h"

/* Changes that the compiler judges for one verdict, and is asked about by one process: a compile takes seconds, of a
 * large program minutes. */
enum { EXPLAIN_CONFIRM_MAX = 3, EXPLAIN_CONFIRM_ALL_MAX = 9 };

/* What was compiled already, for all verdicts of a process: several failures of a program are advised the same. Zeroed
 * before the first one; explain_confirm_free when no verdict is made any more. */
struct explain_confirm {
    struct explain_confirm_answer *answers;
    size_t count, capacity;
    char *module;                /* the program that `first` is of; NULL: of none */
    struct confirm_result first; /* whose unchanged program compiled */
    bool is_full_told;
    bool has_unconfirmed; /* of a verdict changes were asked about, and none is confirmed: exit status 1 */
    struct verdict_compiled compiled[EXPLAIN_CONFIRM_ALL_MAX]; /* of the last verdict; texts are of `answers` */
};

/* Makes the verdict once to see what it advises, asks the compiler what it was not asked yet, and puts its answers into
 * `parts`, which borrow them until the next call. Without a program, or where nothing is advised that a compiler can
 * judge, says so on standard error. Once a signal came (interrupts.h) nothing more is asked or said. */
void explain_confirm_ask(const struct options *options, struct verdict_parts *parts, struct explain_confirm *confirm);
void explain_confirm_free(struct explain_confirm *confirm);
