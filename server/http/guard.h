/* SPDX-License-Identifier: Apache-2.0
 * guard.h: who may ask, decided before any handler runs.
 *
 *   1. Host must be a name that the daemon answers to: a page of another site
 *      whose name was pointed at this machine (DNS rebinding) has its own.
 *   2. What a browser says comes from another site is refused; following a link
 *      to the page itself is not.
 *   3. Where a token is needed: `Authorization: Bearer`, or the cookie that
 *      POST /api/v1/login {"token": …} sets, which holds an id of access.h. */
#pragma once

#include "server/http/access.h"
#include "server/http/request.h"
#include "server/http/response.h"

struct guard {
    const char *const *hosts; /* allowed beside localhost, 127.0.0.1 and [::1]: the bind host, --allowed-hosts */
    size_t host_count;
    bool takes_any_address; /* bound to all addresses: a Host that is an IP address cannot be rebound */
    struct access *access;
    const char *path_prefix; /* below which the pages are seen: "/a/b"; "" without */
    bool is_framed;          /* pages of other sites may show this one in a frame */
};

/* What a route asks for. */
enum guard_need {
    GUARD_OPEN, /* no token, and reachable by a link from elsewhere: the pages */
    GUARD_FREE, /* no token: health, login */
    GUARD_DATA,
    GUARD_LINK, /* as data, but reachable by a link from elsewhere */
};

/* NULL when the request may go on, else the refusal. guard_host comes before
 * anything is looked up. */
struct response *guard_host(const struct guard *guard, const struct request *request);
struct response *guard_need(const struct guard *guard, struct request *request, enum guard_need need);

/* POST /api/v1/login */
struct response *guard_login(const struct guard *guard, const struct request *request);
