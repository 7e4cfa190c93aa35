/* SPDX-License-Identifier: Apache-2.0
 * catalog_none.c: in the place of all other catalog*.c where there is no libpq. */
#include "server/catalog/catalog.h"

struct catalog *catalog_open(const char *url, struct err *err)
{
    (void)url;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET, "this build has no libpq, by which PostgreSQL is reached");
    return NULL;
}

void catalog_close(struct catalog *catalog) { (void)catalog; }

const char *catalog_name(const struct catalog *catalog)
{
    (void)catalog;
    return "";
}

bool catalog_query(struct catalog *catalog, const char *sql, const char *const *parameters, size_t parameter_count,
                   struct catalog_answer *answer, struct err *err)
{
    (void)sql;
    (void)parameters;
    (void)parameter_count;
    (void)answer;
    return catalog != NULL || catalog_open("", err) != NULL;
}
