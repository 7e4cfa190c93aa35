/* SPDX-License-Identifier: Apache-2.0
 * request.h: one HTTP request, taken apart and checked, free of the library that read it. */
#pragma once

#include "server/base/memory.h"
#include "server/store/upload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_method { REQUEST_GET, REQUEST_HEAD, REQUEST_POST, REQUEST_DELETE, REQUEST_OTHER };

/* Does it change something? */
static inline bool request_method_acts(enum request_method method)
{
    return method == REQUEST_POST || method == REQUEST_DELETE;
}

struct request_param {
    const char *name, *value; /* decoded */
};

/* Why a target or a header was not understood. */
enum request_fault { REQUEST_GOOD, REQUEST_BAD_TARGET, REQUEST_BAD_ESCAPE, REQUEST_BAD_QUERY, REQUEST_BAD_HEADER };

enum {
    REQUEST_MAX_CAPTURES = 2,
    REQUEST_TARGET_LIMIT = 8192,
    REQUEST_BODY_LIMIT = 4095,
    REQUEST_MAX_PARAMS = 512,
    REQUEST_MAX_HEADERS = 256
};

struct request {
    struct memory_pool pool;
    atomic_int holders;
    enum request_method method;
    const char *method_text;
    const char *peer;   /* the address it came from */
    const char *target; /* as sent, without the prefix of a proxy: path and query */
    enum request_fault fault;
    const char *path;             /* decoded, begins with "/" */
    struct request_param *params; /* in the order sent */
    size_t param_count;
    const char *captures[REQUEST_MAX_CAPTURES]; /* what {} of the route represents */
    const char *route_name;                     /* static: as in the table of routes; NULL until a route is to answer */
    const struct route *route;                  /* this and captures are set by routes.c */

    /* Headers, NULL when absent; several lines of one name joined by ", ". */
    const char *host, *accept_encoding, *if_none_match, *authorization, *cookie, *content_type, *origin;
    const char *sec_fetch_site, *sec_fetch_mode, *sec_fetch_dest, *id;
    size_t header_count, host_count, length_count, encoding_count, header_bytes;
    uint64_t content_length; /* UINT64_MAX: more than can be said */
    bool is_token_tried;     /* this and the next are of guard.c */
    int token_answer;

    struct upload *body; /* never NULL; at most REQUEST_BODY_LIMIT bytes unless its route takes more */
};

/* From the request line, and the address it came from. One reference held. */
struct request *request_new(const char *target, const char *peer);
struct request *request_hold(struct request *request);
void request_release(struct request *request);

void request_set_method(struct request *request, const char *method);
/* For each header line. */
void request_add_header(struct request *request, const char *name, const char *value);
/* Is the length of its body given twice, so that others may read another one? */
bool request_has_two_lengths(const struct request *request);
/* Before the first byte of the body: it may be this large, at the cost of `account`. */
void request_allow_body(struct request *request, size_t limit_bytes, struct account *account);

/* The first value of a parameter, or `otherwise`. */
const char *request_param(const struct request *request, const char *name, const char *otherwise);
/* The name of a parameter that is given more than once, but for those that may be (`except` ends with NULL, and may be
 * NULL); or NULL. */
const char *request_repeated_param(const struct request *request, const char *const *except);
