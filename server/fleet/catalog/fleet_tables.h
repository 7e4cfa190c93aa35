/* SPDX-License-Identifier: Apache-2.0
 * fleet_tables.h: records of the fleet out of a catalog (catalog.h): of its points, or, where a question is about
 * single rows (a host, a user, a label, hosts each by itself or those that differ), of its rows.
 *
 * The newest FLEET_TABLES_MAX are read; that there are more becomes a note. All that a question says goes into
 * parameters of SQL, none of it into its text. Threads: any number. */
#pragma once

#include "server/fleet/catalog/catalog.h"
#include "server/fleet/catalog/fleet_record.h"

enum { FLEET_TABLES_MAX = 10000 };

struct fleet_tables_asked {
    struct catalog *catalog;
    const struct fleet_columns *columns;
    const struct fleet_filter *filter;
    const struct snapshot *snapshot; /* in which references are looked up */
    bool is_of_hosts;                /* only rows of commits whose hosts differ */
    bool is_by_host;                 /* each host by itself */
    bool *is_cut;                    /* NULL, or becomes: are there more than FLEET_TABLES_MAX? */
};

/* Adds what matches; where nothing does, how many rows match but for a job that they lack. Errors: those of
 * catalog_query and of the fleet. */
bool fleet_tables_add(const struct fleet_tables_asked *asked, struct analysis_fleet *fleet, struct err *err);
