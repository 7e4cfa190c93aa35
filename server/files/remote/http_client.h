/* SPDX-License-Identifier: Apache-2.0
 * http_client.h: requests to HTTP servers, one at a time for each thread that asks; http_client.c is the only file that
 * includes <curl/curl.h>, and http_client_none.c replaces it in a build without libcurl.
 *
 * Connections are kept and used again, HTTP/2 where the server speaks it. At most HTTP_CLIENT_IN_FLIGHT_MAX requests
 * are under way at any moment; who asks for more waits. What a server is too busy for (408, 429, 500, 502, 503, 504),
 * and what is cut off or does not connect, is asked again up to HTTP_CLIENT_TRIES_MAX times in all, after pauses that
 * double and are spread by chance; a Retry-After is kept by all requests, up to a minute. Redirects are never followed
 * here, so that what a request has goes to the host of its URL and nowhere else. Answers are hostile: their size,
 * their headers and their time are limited.
 * Threads: any number. A request ends within about a second when nobody waits for its thread's work any more
 * (base/wanted.h), or after http_client_stop. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_CLIENT_IN_FLIGHT_MAX = 16, HTTP_CLIENT_TRIES_MAX = 6 };

/* Once, before any thread is started and before the sandbox: reads what the TLS library wants to read. False with `err`
 * where this build cannot do it. */
bool http_client_set_up(struct err *err);
/* All requests end soon, and new ones at once. */
void http_client_stop(void);

enum http_client_method { HTTP_CLIENT_GET, HTTP_CLIENT_HEAD, HTTP_CLIENT_POST, HTTP_CLIENT_PUT };

/* Signs a request without a body by AWS Signature Version 4. Borrowed texts. */
struct http_client_signing {
    const char *key_id, *secret;
    const char *token; /* of a session; NULL: there is none */
    const char *region, *service;
};

struct http_client_answer;

/* Takes the next bytes of an answer's body; false ends the request, which then fails with what `take` set in its own
 * err. */
typedef bool http_client_take(void *context, const void *bytes, size_t size);
/* Looks at status and headers before any of the body is taken; false as above. */
typedef bool http_client_begin(void *context, const struct http_client_answer *answer);

/* All texts are borrowed for the time of the call. Members that are 0 or NULL ask for nothing. */
struct http_client_request {
    enum http_client_method method;
    const char *url;            /* http:// or https://, with everything encoded that has to be */
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const char *body; /* of POST and PUT */
    size_t body_bytes;
    const struct http_client_signing *signing;
    const char
        *ca_file;      /* PEM file of certificates to trust; else CURL_CA_BUNDLE or SSL_CERT_FILE, else the system's */
    uint64_t range_at; /* with range_bytes > 0: only these bytes of the resource */
    uint64_t range_bytes;
    size_t
        /* a longer body is an error; 0: 1 MiB. Not for ranges, of which never more is taken than was asked for */
        body_max_bytes;
    bool is_direct;        /* by no proxy: for servers of this machine or its cloud */
    int64_t time_limit_ms; /* of each try; 0: two minutes */
    unsigned tries_max;    /* 0: HTTP_CLIENT_TRIES_MAX */
    /* For ranges: what comes is given away instead of being kept. After a cut the rest is asked for, so that each byte
     * comes once; what does not fit (another range, none at all where the server knows no ranges) is left out. */
    http_client_take *take;
    http_client_begin *begin;
    void *context;
};

struct http_client_answer {
    int status;         /* 200, 404, … */
    struct buf headers; /* "name: value\n" each, of the last answer */
    struct buf body;    /* unless it was taken */
    uint64_t taken; /* bytes given to `take`, over all tries: the status may be that of a later try, which gave none */
};

/* True when a server answered, whatever the status; free the answer with http_client_free either way. False with `err`
 * (io: no answer, or a cut one; limit: it was too large; stopped: no one waits). `err` names the host, but no path,
 * query or header. */
bool http_client_perform(const struct http_client_request *request, struct http_client_answer *answer, struct err *err);
void http_client_free(struct http_client_answer *answer);

/* The header of this name (any case) as a text of at most `size` - 1 bytes; false and "" when it is not there or
 * longer. */
bool http_client_header(const struct http_client_answer *answer, const char *name, char *value, size_t size);

/* What was asked for and received since the start. */
struct http_client_figures {
    uint64_t request_count; /* tries, each of them */
    uint64_t retry_count;   /* how many of these requests were retries */
    uint64_t body_bytes;    /* of all answers */
};
struct http_client_figures http_client_figures(void);
