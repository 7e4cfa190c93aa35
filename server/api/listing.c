/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/listing.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 100, MAX_LIMIT = 1000, MAX_DIGITS = 9 };

struct response *listing_check_once(const struct request *request) { return listing_check_once_but(request, NULL); }

struct response *listing_check_once_but(const struct request *request, const char *const *except)
{
    const char *name = request_repeated_param(request, except);
    return name ? response_problem(400, "argument", "the parameter \"%.60s\" is given more than once", name) : NULL;
}

struct response *listing_check_names(const struct request *request, const char *const *names)
{
    for (size_t at = 0; at < request->param_count; at++) {
        const char *const *name = names;
        while (*name && strcmp(*name, request->params[at].name) != 0)
            name++;
        if (!*name)
            return response_problem(400, "argument", "unknown parameter \"%.60s\"", request->params[at].name);
    }
    return listing_check_once(request);
}

static bool read_count(const struct request *request, const char *name, size_t *count)
{
    const char *text = request_param(request, name, NULL);
    if (!text)
        return true;
    size_t digits = strspn(text, "0123456789");
    *count = (size_t)strtoul(text, NULL, 10);
    return digits > 0 && digits <= MAX_DIGITS && text[digits] == '\0';
}

/* One of `names`, which ends with NULL; the first without the parameter. */
static bool read_choice(const struct request *request, const char *name, const char *what, const char *const *names,
                        const char **choice, struct err *err)
{
    const char *text = request_param(request, name, "");
    size_t count = 0, chosen = 0;
    while (names[count])
        count++;
    if (text[0] && !nearest_choose(name, what, str_of(text), names, count, &chosen, err))
        return false;
    *choice = names[chosen];
    return true;
}

struct response *listing_read(const struct request *request, const char *const *sorts, struct listing *listing)
{
    static const char *const FORMATS[] = {"json", NULL};
    const char *format;
    struct err err = ERR_INIT;
    *listing = (struct listing){.limit = DEFAULT_LIMIT, .filter = request_param(request, "filter", "")};
    if (!read_count(request, "offset", &listing->offset))
        return response_problem(400, "argument", "offset must be a whole number from 0 on");
    if (!read_count(request, "limit", &listing->limit) || listing->limit < 1 || listing->limit > MAX_LIMIT)
        return response_problem(400, "argument", "limit must be a whole number from 1 to %d", MAX_LIMIT);
    bool is_good = read_choice(request, "sort", "order", sorts, &listing->sort, &err) &&
                   read_choice(request, "format", "format", FORMATS, &format, &err);
    return is_good ? NULL : response_err(&err, NULL);
}

void listing_write_head(struct json *json, const struct listing *listing, size_t total_count, size_t matched_count)
{
    json_key_uint(json, "total_count", total_count);
    json_key_uint(json, "matched_count", matched_count);
    json_key_uint(json, "offset", listing->offset);
}

bool listing_matches(const struct listing *listing, const char *text)
{
    return listing->filter[0] == '\0' || strcasestr(text, listing->filter) != NULL;
}
