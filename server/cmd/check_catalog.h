/* SPDX-License-Identifier: Apache-2.0
 * check_catalog.h: a baseline that is known by job and commit: its modules as the catalog
 * (server/fleet/catalog/catalog.h) knows them. */
#pragma once

#include "server/fleet/catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest of its name and configuration among all hosts. Texts are those of the answer. */
struct check_catalog_module {
    const char *name, *space_name; /* what it needed is of this memory */
    const char *configuration;     /* as programs say it; NULL: not known, or a label says it */
    int64_t needed_bytes;
    char *path; /* of the file that it is in, where that still holds the bytes that it held; else NULL */
};

struct check_catalog {
    struct catalog_answer answer;
    struct check_catalog_module *modules;
    size_t count;
};

/* "catalog:JOB@COMMIT"; COMMIT may be "newest", or "newest:KEY=VALUE": of those with that label. */
bool check_catalog_is(const char *baseline);
/* False, and said, where there is no catalog, or it has no such modules. check_catalog_free in any case. */
bool check_catalog_read(struct check_catalog *modules, const char *baseline, const char *url);
/* That of the same configuration (NULL: not known), else the largest of that name; NULL: it has none. */
const struct check_catalog_module *check_catalog_find(const struct check_catalog *modules, const char *name,
                                                      const char *configuration);
void check_catalog_free(struct check_catalog *modules);
