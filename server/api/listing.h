/* SPDX-License-Identifier: Apache-2.0
 * listing.h: the parameters that all lists share: offset, limit, filter, sort, format. */
#pragma once

#include "base/json.h"
#include "server/http/request.h"
#include "server/http/response.h"

struct listing {
    size_t offset, limit;
    const char *filter; /* "" = all */
    const char *sort;
};

/* NULL when no parameter is given twice, else the refusal: which value is meant cannot be known. */
struct response *listing_check_once(const struct request *request);
/* The same, but for parameters that may be (`except` ends with NULL, and may be NULL). */
struct response *listing_check_once_but(const struct request *request, const char *const *except);

/* NULL when each parameter of the request is among `names` (ends with NULL) and given once, else the refusal. */
struct response *listing_check_names(const struct request *request, const char *const *names);

/* Reads offset (0), limit (100, at most 1000), filter, sort (one of `sorts`, the first is the default) and format
 * (json). NULL when all are good, else the refusal, which names the nearest order or format as the core's tables do. */
struct response *listing_read(const struct request *request, const char *const *sorts, struct listing *listing);

/* "total_count", "matched_count", "offset", as tables have them. */
void listing_write_head(struct json *json, const struct listing *listing, size_t total_count, size_t matched_count);

/* Does `text` hold the filter, letters of either case alike? */
bool listing_matches(const struct listing *listing, const char *text);
