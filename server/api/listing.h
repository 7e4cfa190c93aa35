/* SPDX-License-Identifier: Apache-2.0
 * listing.h: the parameters that all lists share: offset, limit, filter, sort. */
#ifndef SERVER_API_LISTING_H
#define SERVER_API_LISTING_H

#include "server/http/request.h"
#include "server/http/response.h"

struct listing {
    size_t offset, limit;
    const char *filter; /* "" = all */
    const char *sort;
};

/* NULL when no parameter is given twice, else the refusal: which value is meant cannot be known. */
struct response *listing_check_once(const struct request *request);

/* NULL when each parameter of the request is among `names` (ends with NULL) and given once, else the refusal. */
struct response *listing_check_names(const struct request *request, const char *const *names);

/* Reads offset (0), limit (100, at most 1000), filter, and sort (one of
 * `sorts`, the first is the default). NULL when all are good, else the refusal. */
struct response *listing_read(const struct request *request, const char *const *sorts, struct listing *listing);

/* Does `text` hold the filter, letters of either case alike? */
bool listing_matches(const struct listing *listing, const char *text);

#endif
