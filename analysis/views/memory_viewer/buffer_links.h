/* SPDX-License-Identifier: Apache-2.0
 * buffer_links.h: what a buffer was made of and what reads it, as members of the view "buffer". */
#pragma once

#include "views/memory_viewer/views_shared.h"

/* Which of them are listed: the parameters offset and limit of the readers, operand_offset of what it was made of. */
struct buffer_links_page {
    int64_t offset, limit, operand_offset;
};
bool buffer_links_page_read(const struct tool_request *request, struct buffer_links_page *page, struct err *err);

/* Writes "producer" and "consumers"; neither where the file has no instructions, or the allocation no buffer. */
void buffer_links_write(const struct tool_request *request, struct json *json, const struct plan_row *row,
                        const struct buffer_links_page *page);
