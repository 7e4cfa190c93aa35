/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/guard.h"

#include "server/base/log.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { COOKIE_NAME_SIZE = 24, MAX_PORT_DIGITS = 5 };

/* Length of the host in "host", "host:80" or "[::1]:80"; 0 for another form. */
static size_t host_length(const char *host)
{
    size_t length = strcspn(host, ":");
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        length = end ? (size_t)(end - host) + 1 : 0;
    }
    const char *rest = host + length;
    if (length == 0 || (*rest != '\0' && *rest != ':'))
        return 0;
    if (*rest == ':' && rest[1 + strspn(rest + 1, "0123456789")] != '\0')
        return 0;
    return length;
}

static bool is_host(const char *host, size_t length, const char *allowed)
{
    return strlen(allowed) == length && strncasecmp(host, allowed, length) == 0;
}

static bool is_address(const char *host, size_t length)
{
    char text[64];
    unsigned char address[16];
    bool is_six = length > 2 && host[0] == '[';
    if (length >= sizeof(text))
        return false;
    memcpy(text, host + is_six, length);
    text[is_six ? length - 2 : length] = '\0';
    return inet_pton(is_six ? AF_INET6 : AF_INET, text, address) == 1;
}

static bool is_allowed_host(const struct guard *guard, const char *host)
{
    static const char *const LOOPBACK[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t length = host_length(host);
    if (length == 0)
        return false;
    for (size_t at = 0; at < sizeof(LOOPBACK) / sizeof(LOOPBACK[0]); at++) {
        if (is_host(host, length, LOOPBACK[at]))
            return true;
    }
    for (size_t at = 0; at < guard->host_count; at++) {
        if (is_host(host, length, guard->hosts[at]))
            return true;
    }
    return guard->takes_any_address && is_address(host, length);
}

struct response *guard_host(const struct guard *guard, const struct request *request)
{
    if (request->host_count != 1 || !request->host || !request->host[0])
        return response_problem(400, "host", "the request must have exactly one Host header");
    if (is_allowed_host(guard, request->host))
        return NULL;
    return response_problem(403, "host",
                            "this daemon does not answer to that name: start it with --allowed-hosts=NAME to let "
                            "it (Host header names another one)");
}

/* Does the request come from a page of the same origin, as far as headers show? */
static bool is_same_origin(const struct request *request)
{
    const char *origin = request->origin;
    if (!origin)
        return true;
    const char *host = strstr(origin, "://");
    return host && strcasecmp(host + 3, request->host) == 0;
}

/* In a frame the page itself says who may show it there (frame-ancestors). */
static bool is_link(const struct guard *guard, const struct request *request)
{
    const char *dest = request->sec_fetch_dest;
    return request->sec_fetch_mode && strcmp(request->sec_fetch_mode, "navigate") == 0 && dest &&
           (strcmp(dest, "document") == 0 || (guard->is_framed && strcmp(dest, "iframe") == 0)) &&
           !request_method_acts(request->method);
}

/* "memviewd-6006=": a browser keeps cookies by host alone, and a host may have daemons on several ports. The port is
 * the one that the browser sees. */
static void name_cookie(const struct request *request, char name[COOKIE_NAME_SIZE])
{
    const char *port = request->host + host_length(request->host);
    snprintf(name, COOKIE_NAME_SIZE, "memviewd-%.*s=", MAX_PORT_DIGITS, *port == ':' ? port + 1 : "80");
}

static bool has_cookie(const struct guard *guard, const struct request *request)
{
    const char *cookie = request->cookie;
    char wanted[COOKIE_NAME_SIZE];
    name_cookie(request, wanted);
    size_t name = strlen(wanted);
    while (cookie && *cookie) {
        cookie += strspn(cookie, " \t;,");
        size_t length = strcspn(cookie, ";,");
        if (length > name && memcmp(cookie, wanted, name) == 0 &&
            access_has(guard->access, cookie + name, length - name))
            return true;
        cookie += length;
    }
    return false;
}

static struct response *refuse_token(const char *detail)
{
    struct response *response = response_problem(401, "token", "%s", detail);
    response_add_header(response, "WWW-Authenticate", "Bearer realm=\"memviewd\"");
    return response;
}

static enum access_answer try_token(const struct guard *guard, const struct request *request, const char *token)
{
    enum access_answer answer = access_try(guard->access, request->peer, token, strlen(token));
    if (answer == ACCESS_WRONG)
        log_limited(LOG_WRONG_TOKENS, "a wrong token from %s", request->peer);
    else if (answer == ACCESS_NOT_YET)
        log_limited(LOG_WRONG_TOKENS, "a token from %s, after too many wrong ones: not looked at", request->peer);
    return answer;
}

/* NULL when the token was the right one. */
static struct response *refuse_answer(enum access_answer answer)
{
    if (answer == ACCESS_GOOD)
        return NULL;
    if (answer == ACCESS_WRONG)
        return refuse_token("that is not the token that this daemon printed at its start");
    struct response *response =
        response_problem(429, "token", "too many wrong tokens came from this address; wait a little");
    response_add_header(response, "Retry-After", "%d", ACCESS_WAIT_SECONDS);
    return response;
}

/* Looked at once for a request, however often it is asked: each wrong token counts. */
static bool has_bearer(const struct guard *guard, struct request *request)
{
    static const char SCHEME[] = "Bearer ";
    size_t length = sizeof(SCHEME) - 1;
    if (!request->authorization || strncasecmp(request->authorization, SCHEME, length) != 0)
        return false;
    if (!request->is_token_tried)
        request->token_answer = (int)try_token(guard, request, request->authorization + length);
    request->is_token_tried = true;
    return true;
}

struct response *guard_need(const struct guard *guard, struct request *request, enum guard_need need)
{
    bool is_foreign = request->sec_fetch_site && strcmp(request->sec_fetch_site, "cross-site") == 0;
    if (is_foreign && !((need == GUARD_OPEN || need == GUARD_LINK) && is_link(guard, request)))
        return response_problem(403, "cross_site", "a page of another site may not ask this daemon for anything");
    if (request_method_acts(request->method) && !is_same_origin(request))
        return response_problem(403, "cross_site", "the Origin header names another site");
    if (need == GUARD_OPEN || need == GUARD_FREE || !access_needs_token(guard->access) || has_cookie(guard, request))
        return NULL;
    return has_bearer(guard, request)
               ? refuse_answer((enum access_answer)request->token_answer)
               : refuse_token("this daemon wants the token that it printed at its start: open the URL it printed, or "
                              "send Authorization: Bearer TOKEN");
}

static struct response *let_in(const struct guard *guard, const struct request *request)
{
    char name[COOKIE_NAME_SIZE], id[ACCESS_ID_SIZE];
    if (!access_begin(guard->access, id))
        return response_problem(503, "busy", "the system gives no random numbers now; ask again");
    name_cookie(request, name);
    struct response *response = response_empty(204);
    response_add_header(response, "Set-Cookie", "%s%s; Path=%s/; HttpOnly; SameSite=Strict", name, id,
                        guard->path_prefix);
    return response;
}

struct response *guard_login(const struct guard *guard, const struct request *request)
{
    if (!request->content_type || strncasecmp(request->content_type, "application/json", 16) != 0)
        return response_problem(415, "argument", "send {\"token\": \"…\"} as application/json");
    cJSON *body = cJSON_ParseWithLength(request->body->data ? request->body->data : "", request->body->size);
    const cJSON *token = cJSON_GetObjectItemCaseSensitive(body, "token");
    struct response *response;
    if (!cJSON_IsString(token) || cJSON_GetArraySize(body) != 1) {
        response = response_problem(400, "argument", "the body must be {\"token\": \"…\"}");
    } else if (!access_needs_token(guard->access)) {
        response = response_empty(204);
    } else {
        response = refuse_answer(try_token(guard, request, token->valuestring));
        response = response ? response : let_in(guard, request);
    }
    cJSON_Delete(body);
    return response;
}
