/* SPDX-License-Identifier: Apache-2.0
 * narrow.h: filters on frames; of study.c alone. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_NARROW_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_NARROW_H

#include "tool/device_memory/study.h"

/* Fills steps and samples of `study` from its profile: what the chips leave.
 * `keep`: which sets of labels stay (NULL: all). */
void narrow(struct study *study, const bool *keep);

#endif
