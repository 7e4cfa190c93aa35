/* SPDX-License-Identifier: Apache-2.0
 * whatif_confirm.h: memviewd whatif --confirm: what the compiler says of changes, in a terminal or as JSON. */
#pragma once

#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/compile/confirm.h"

/* Asks about the options' changes, or with --fit about its sets, until one fits; `prediction` is the view's answer as
 * JSON. Appends lines of text, or with --json members: "confirmed", or "confirmed_sets". True where all that was needed
 * is confirmed. */
bool whatif_confirm(const struct options *options, const struct snapshot_session *session,
                    const struct modules_entry *entry, const struct body *prediction, struct buf *out);
/* Asks about these changes together and tells on standard error how far it is. `base`: of the unchanged program, as in
 * confirm.h; NULL: it is compiled. Always fills `result`, which confirm_free then frees. */
void whatif_confirm_ask(const struct options *options, const struct snapshot_session *session,
                        const struct modules_entry *entry, const char *const *changes, size_t count,
                        const struct compile_result *base, struct confirm_result *result);
