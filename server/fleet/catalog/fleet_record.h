/* SPDX-License-Identifier: Apache-2.0
 * fleet_record.h: cells of a row (rows.h) as a record of the fleet, and which rows a question is about. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"

/* The columns of categories: "category_parameter_bytes" is of "parameter". In the order of the rows. */
struct fleet_columns {
    size_t count;
    char **heads, **names;
};
struct fleet_columns *fleet_record_columns_new(void);
void fleet_record_columns_free(struct fleet_columns *columns);

/* Which rows to show; NULL, and below 0: any. Borrowed. */
struct fleet_filter {
    const char *job, *commit, *module, *host, *user, *kind;
    const char *label_key, *label_value; /* NULL, or both */
    int64_t since_ms, until_ms;          /* Unix time: written at or after; before */
};

/* The cell of a column as text, or NULL: not known. A number only until the next cell is asked for. */
typedef const char *fleet_cell(void *context, const char *column);

/* Without times, counts and the reference. Texts are those of the cells; the categories go to `category_bytes`, which
 * has room for all and becomes the record's. */
struct fleet_record fleet_record_read(const struct fleet_columns *columns, fleet_cell *cell, void *context,
                                      int64_t *category_bytes);
/* Does the filter let it through? `labels`: the text of a JSON object. */
bool fleet_record_matches(const struct fleet_record *record, const char *labels, const struct fleet_filter *filter);

/* The sessions of a snapshot, to be found by their ids. The snapshot outlives it. */
struct fleet_sessions {
    size_t count;
    const struct snapshot_session **items; /* by id */
};
struct fleet_sessions *fleet_record_sessions_new(const struct snapshot *snapshot);
void fleet_record_sessions_free(struct fleet_sessions *sessions);
/* The path of the record below this daemon's folders: "SESSION/HOST/MODULE" for a module, "SESSION/HOST/" for a trace,
 * "SESSION//" for anything else; free(). NULL: it is not there. */
char *fleet_record_reference(const struct fleet_sessions *sessions, const struct fleet_record *record,
                             const char *program_id);
