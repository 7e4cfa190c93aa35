/* SPDX-License-Identifier: Apache-2.0
 * completion.h: whose memory the buffers of a module are (analysis.h), found out when a question first needs it and
 * kept with the module. Threads: any number. */
#pragma once

#include "analysis/analysis.h"
#include "server/store/account.h"

struct completion;

/* The module may be complete already; it and the account must outlive it. */
struct completion *completion_new(struct analysis_subject *module, bool is_complete, struct account *account);
void completion_free(struct completion *completion); /* NULL is fine */
/* Completes the module unless it is complete. False with a report; `is_transient`: asking again may help. The next call
 * tries again. */
bool completion_ask(struct completion *completion, bool *is_transient, struct err *err);
