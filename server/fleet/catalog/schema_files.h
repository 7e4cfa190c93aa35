/* SPDX-License-Identifier: Apache-2.0
 * schema_files.h: the files of server/fleet/catalog/schema, which are compiled in; written by scripts/embed-schema. */
#pragma once

#include <stddef.h>

struct schema_file {
    const char *name; /* "0001-files-rows-points.sql" */
    const char *sql;  /* several statements */
};
/* By number: that of the first is 1, and none is left out. */
extern const struct schema_file schema_files[];
extern const size_t schema_file_count;
