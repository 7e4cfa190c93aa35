/* SPDX-License-Identifier: Apache-2.0
 * groundwork.h: what predictions about a module begin with (analysis.h), made when the first is asked for and kept with
 * the module. Threads: any number. */
#pragma once

#include "analysis/analysis.h"
#include "server/store/account.h"

struct groundwork_slot;

/* Both must outlive it. */
struct groundwork_slot *groundwork_slot_new(const struct analysis_subject *module, struct account *account);
void groundwork_slot_free(struct groundwork_slot *slot); /* NULL is fine */
/* NULL: there is none, or no memory for it now; an answer makes its own then. Lives as long as the module. */
const struct analysis_groundwork *groundwork_slot_get(struct groundwork_slot *slot);
