/* SPDX-License-Identifier: Apache-2.0
 * saving.h: what a buffer, or buffers that have something in common, would save, as answers say it. */
#pragma once

#include "views/memory_viewer/columns.h"

/* The member "saving" of row `at`: bytes, where the next peak is, how sure, and the core's sentences. */
void saving_write_row(struct json *json, const struct memory_viewer_columns_rows *rows, uint32_t at);
/* The same of `count` rows together, which `name` calls: "the group". */
void saving_write_rows(struct json *json, const struct memory_viewer_columns_rows *rows, const uint32_t *members,
                       uint32_t count, const char *name);
/* Writes "saves_bytes" and "next_peak_step", like the columns with these names. */
void saving_write_figures(struct json *json, const struct marginal_saving *saving);
/* "saving_sentence" about what holds `bytes` at the peak. */
void saving_write_sentence(struct json *json, const struct memory_viewer_columns_rows *rows, int64_t bytes,
                           const struct marginal_saving *saving);
