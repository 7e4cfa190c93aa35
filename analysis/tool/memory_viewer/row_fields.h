/* SPDX-License-Identifier: Apache-2.0
 * row_fields.h: a row's fields by number, for filtering, sorting, grouping and CSV. */
#ifndef ANALYSIS_TOOL_MEMORY_VIEWER_ROW_FIELDS_H
#define ANALYSIS_TOOL_MEMORY_VIEWER_ROW_FIELDS_H

#include "tool/filter.h"
#include "tool/memory_viewer/views_shared.h"

/* The first number is what a bare `>64MiB` means. A share is in percent: of the peak, of the buffer. */
enum row_field {
    ROW_SIZE, ROW_SIZE_SHARE, ROW_UNPADDED, ROW_PADDING, ROW_PADDING_SHARE, ROW_BORN, ROW_DIES, ROW_LIVES, ROW_OFFSET,
    ROW_ALLOCATION, ROW_ALIVE, ROW_ALIVE_END, ROW_COVERS, ROW_COVERS_END, ROW_NAME, ROW_SHAPE, ROW_DTYPE, ROW_CATEGORY,
    ROW_OPCODE, ROW_SCOPE, ROW_LINE, ROW_ID, ROW_FIELD_COUNT,
};

/* Names as typed in a filter; ends with a NULL name. */
extern const struct filter_field row_fields[ROW_FIELD_COUNT + 1];

struct row_fields_context {
    const struct tool_request *request;
    const struct plan_space *space;
};

/* False when row `at` has no such number. */
bool row_fields_number(const void *context, uint32_t at, size_t field, double *value);
/* The text, in the request's scratch until it is next used. */
struct str row_fields_text(const void *context, uint32_t at, size_t field);

#endif
