/* SPDX-License-Identifier: Apache-2.0
 * top.h: the table "top" for a terminal. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_TOP_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_TOP_H

#include "tool/device_memory/sums.h"
#include "tool/table.h"

/* A head of what is summed, and a line for each row: flat, flat %, sum %, cum, cum %, name. */
void device_memory_top_text(const struct sums *sums, const struct table_rows *rows);

#endif
