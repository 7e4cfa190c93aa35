/* SPDX-License-Identifier: Apache-2.0
 * columns.h: the columns of buffers: of their table, of filters, groups and CSV. */
#pragma once

#include "views/memory_viewer/views_shared.h"
#include "views/table.h"
#include "whatif/marginal.h"

/* What the columns' values are asked of; a row is one of the space's. */
struct memory_viewer_columns_rows {
    const struct tool_request *request;
    const struct plan_space *space;
    struct marginal *marginal; /* made when a saving is first asked for; NULL: none is */
};

struct memory_viewer_columns_rows memory_viewer_columns_of(const struct tool_request *request,
                                                           const struct plan_space *space);
/* What the rows' savings are asked of. */
struct marginal *memory_viewer_columns_marginal(const struct memory_viewer_columns_rows *rows);

/* A share is in percent: of the peak, of the buffer. */
extern const struct table_column memory_viewer_columns[];
/* Those of the CSV in their order; the source alone may be left out. */
extern const char memory_viewer_columns_csv[], memory_viewer_columns_csv_without_paths[];

/* Texts of row `at`, in the request's scratch until it is next used. */
struct str memory_viewer_columns_name(const struct memory_viewer_columns_rows *rows, uint32_t at);
/* "attention_scores, saved_activations": bits of plan_row.patterns. */
struct str memory_viewer_columns_patterns(uint32_t patterns, struct buf *scratch);
/* "model.py:41", or "". */
struct str memory_viewer_columns_source(const struct memory_viewer_columns_rows *rows, uint32_t at);

/* Whose memory a buffer is, in the words of answers; static texts. For several buffers NULL where they differ. */
struct memory_viewer_columns_whose {
    const char *category, *kind, *confidence, *rule;
};
struct memory_viewer_columns_whose memory_viewer_columns_whose_of(const struct memory_viewer_columns_rows *rows,
                                                                  uint32_t at);
void memory_viewer_columns_whose_join(struct memory_viewer_columns_whose *whose,
                                      const struct memory_viewer_columns_whose *other);
/* The members "category", "kind", "confidence", "rule". */
void memory_viewer_columns_whose_write(struct json *json, const struct memory_viewer_columns_whose *whose);
