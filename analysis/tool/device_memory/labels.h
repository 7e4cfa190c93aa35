/* SPDX-License-Identifier: Apache-2.0
 * labels.h: which samples a filter on labels keeps. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_LABELS_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_LABELS_H

#include "tool/device_memory/chips.h"

/* For each set of labels of the profile: is it kept by the chips that look at
 * labels? Counts the samples that each chip matches. NULL when there is no such
 * chip, and with a report when one is broken. */
bool *labels_keep(struct chips *chips, const struct pprof *pprof, struct arena *arena, struct err *err);

/* The text of a label of a set, empty without it; numbers as they are printed. Lives in `scratch`. */
struct str labels_text(const struct pprof *pprof, uint32_t set, const char *key, struct buf *scratch);

#endif
