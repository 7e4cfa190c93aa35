/* SPDX-License-Identifier: Apache-2.0
 * views_shared.h: what several views of the memory viewer read and write alike. */
#pragma once

#include "views/memory_viewer/row_ranks.h"
#include "views/memory_viewer/views.h"

/* The space that the parameter `space` names; without it the largest one.
 * NULL with a `notfound` report if the program has no such space. */
const struct plan_space *views_space(const struct tool_request *request, struct err *err);

/* The parameter `step`: a number, "peak" (as when it is absent), or "all" where
 * that is allowed (*is_all). A program without steps has the one step 0. */
bool views_step(const struct tool_request *request, const struct plan_space *space, bool all_is_allowed, uint32_t *step,
                bool *is_all, struct err *err);

/* The parameter `paths`: "without" keeps the folders of source files out of what is given away. */
bool views_paths(const struct tool_request *request, bool *has_paths, struct err *err);

/* Rows that are alive at a step. */
uint32_t views_alive_count(const struct plan_space *space, uint32_t step);

/* Position in the schedule of a row's defining instruction, or −1. */
int64_t views_schedule_position(const struct plan *plan, uint32_t buffer_at);

/* Name of a row, in `scratch` until it is next used. */
struct str views_row_name(const struct plan *plan, const struct plan_row *row, struct buf *scratch);

/* Padding of a row in bytes: 0 when the unpadded size is not known. */
int64_t views_padding(const struct plan_row *row);

/* Id of a row in answers: the logical buffer's, or "allocation:INDEX" for an
 * allocation that names no buffer. */
void views_row_id(struct json *json, const struct plan *plan, const struct plan_row *row);

/* Writes `ranks`: null for a buffer that is not alive at the step. */
void views_ranks_write(struct json *json, const struct row_ranks *ranks);
