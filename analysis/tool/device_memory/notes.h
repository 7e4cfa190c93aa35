/* SPDX-License-Identifier: Apache-2.0
 * notes.h: what the reader of every view of profiles should know. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_NOTES_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_NOTES_H

#include "tool/device_memory/study.h"

void device_memory_notes_add(const struct study *study);
/* Profiles of the set that are not part of the answer. */
void device_memory_notes_left_out(const struct tool_request *request);

#endif
