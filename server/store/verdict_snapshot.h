/* SPDX-License-Identifier: Apache-2.0
 * verdict_snapshot.h: the allocator snapshots of PyTorch that may be of a failure: those of its session, those beside
 * its text, or those that were named with it. Which one is, and what is said of it, the core decides
 * (verdict/torch_choice.h). */
#pragma once

#include "server/store/verdict_parts.h"

/* Fills parts->trace, trace_session and trace_host, where one is taken, and choice. Names in it are those of the
 * snapshot's files. */
void verdict_snapshot_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts);
