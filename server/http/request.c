/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX (and "+" in a query); NULL for a broken escape or an encoded NUL. */
static const char *decode(struct request *request, const char *text, size_t length, bool is_query)
{
    char *out = memory_pool_new(&request->pool, length + 1), *to = out;
    for (size_t at = 0; at < length; at++) {
        char c = text[at];
        if (c == '%') {
            int high = length - at > 2 ? hex(text[at + 1]) : -1;
            int low = high >= 0 ? hex(text[at + 2]) : -1;
            c = (char)(high * 16 + low);
            if (low < 0 || c == '\0')
                return NULL;
            at += 2;
        } else if (c == '+' && is_query) {
            c = ' ';
        }
        *to++ = c;
    }
    return out;
}

static size_t count_params(const char *query)
{
    size_t count = 1;
    for (; *query; query++)
        count += *query == '&';
    return count;
}

static bool parse_query(struct request *request, const char *query)
{
    request->params = memory_pool_new(&request->pool, count_params(query) * sizeof(*request->params));
    while (*query) {
        size_t length = strcspn(query, "&"), name_length = strcspn(query, "=&");
        size_t value_at = name_length < length ? name_length + 1 : length;
        struct request_param param = {decode(request, query, name_length, true),
                                      decode(request, query + value_at, length - value_at, true)};
        if (!param.name || !param.value)
            return false;
        if (length > 0)
            request->params[request->param_count++] = param;
        query += length + (query[length] == '&');
    }
    return true;
}

struct request *request_new(const char *target, const char *peer)
{
    struct request *request = memory_new(sizeof(*request));
    atomic_init(&request->holders, 1);
    request->body = upload_new(REQUEST_BODY_LIMIT, NULL);
    request->peer = memory_pool_text(&request->pool, peer, strlen(peer));
    request->target = memory_pool_text(&request->pool, target, strlen(target));
    size_t path_length = strcspn(target, "?#");
    request->path = decode(request, target, path_length, false);
    if (target[0] != '/')
        request->fault = REQUEST_BAD_TARGET;
    else if (!request->path)
        request->fault = REQUEST_BAD_ESCAPE;
    else if (target[path_length] == '?' && !parse_query(request, target + path_length + 1))
        request->fault = REQUEST_BAD_QUERY;
    if (!request->path)
        request->path = "";
    return request;
}

struct request *request_hold(struct request *request)
{
    atomic_fetch_add(&request->holders, 1);
    return request;
}

void request_release(struct request *request)
{
    if (request && atomic_fetch_sub(&request->holders, 1) == 1) {
        upload_release(request->body);
        memory_pool_free(&request->pool);
        free(request);
    }
}

void request_set_method(struct request *request, const char *method)
{
    static const char *const NAMES[] = {"GET", "HEAD", "POST", "DELETE"};
    request->method = REQUEST_OTHER;
    request->method_text = memory_pool_text(&request->pool, method, strlen(method));
    for (int at = 0; at < 4; at++) {
        if (strcmp(method, NAMES[at]) == 0)
            request->method = (enum request_method)at;
    }
}

/* RFC 9110, 5.6.2. */
static const char TOKEN_LETTERS[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

void request_add_header(struct request *request, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **into;
    } headers[] = {
        {"Host", &request->host},
        {"Accept-Encoding", &request->accept_encoding},
        {"If-None-Match", &request->if_none_match},
        {"Authorization", &request->authorization},
        {"Cookie", &request->cookie},
        {"Content-Type", &request->content_type},
        {"Origin", &request->origin},
        {"X-Request-Id", &request->id},
        {"Sec-Fetch-Site", &request->sec_fetch_site},
        {"Sec-Fetch-Mode", &request->sec_fetch_mode},
        {"Sec-Fetch-Dest", &request->sec_fetch_dest},
    };
    value = value ? value : "";
    /* "Content-Length : 3": a proxy may have counted it, and what it took for a body would be another request here. */
    if (strlen(name) != strspn(name, TOKEN_LETTERS))
        request->fault = REQUEST_BAD_HEADER;
    if (strcasecmp(name, "Transfer-Encoding") == 0 && strcasecmp(value, "chunked") != 0)
        request->fault = REQUEST_BAD_HEADER;
    request->header_bytes += strlen(name) + strlen(value) + 4;
    request->header_count++;
    request->host_count += strcasecmp(name, "Host") == 0;
    if (strcasecmp(name, "Content-Length") == 0) {
        request->length_count++;
        request->content_length = strtoull(value, NULL, 10); /* the library has refused what is no number */
    }
    request->encoding_count += strcasecmp(name, "Transfer-Encoding") == 0;
    for (size_t at = 0; at < sizeof(headers) / sizeof(headers[0]); at++) {
        if (strcasecmp(name, headers[at].name) != 0)
            continue;
        const char *before = *headers[at].into;
        *headers[at].into = before ? memory_pool_format(&request->pool, "%s, %s", before, value)
                                   : memory_pool_text(&request->pool, value, strlen(value));
    }
}

bool request_has_two_lengths(const struct request *request)
{
    return request->length_count + request->encoding_count > 1;
}

void request_allow_body(struct request *request, size_t limit_bytes, struct account *account)
{
    upload_release(request->body);
    request->body = upload_new(limit_bytes, account);
}

const char *request_param(const struct request *request, const char *name, const char *otherwise)
{
    for (size_t at = 0; at < request->param_count; at++) {
        if (strcmp(request->params[at].name, name) == 0)
            return request->params[at].value;
    }
    return otherwise;
}

const char *request_repeated_param(const struct request *request, const char *const *except)
{
    for (size_t at = 1; at < request->param_count; at++) {
        const char *const *name = except;
        while (name && *name && strcmp(*name, request->params[at].name) != 0)
            name++;
        if (name && *name)
            continue;
        for (size_t before = 0; before < at; before++) {
            if (strcmp(request->params[before].name, request->params[at].name) == 0)
                return request->params[at].name;
        }
    }
    return NULL;
}
