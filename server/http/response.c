/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/response.h"

#include "base/json.h"
#include "server/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char PROBLEM[] = "application/problem+json";

static struct response *response_make(int status, const char *content_type, struct body *body)
{
    struct response *response = memory_new(sizeof(*response));
    atomic_init(&response->holders, 1);
    response->status = status;
    response->content_type = content_type;
    response->body = body;
    response->is_tagged = status == 200 && body != NULL && !body->is_in_pieces;
    return response;
}

struct response *response_hold(struct response *response)
{
    atomic_fetch_add(&response->holders, 1);
    return response;
}

void response_release(struct response *response)
{
    if (response && atomic_fetch_sub(&response->holders, 1) == 1) {
        body_release(response->body);
        free(response);
    }
}

struct response *response_of_body(int status, const char *content_type, struct body *body)
{
    return response_make(status, content_type, body);
}

struct response *response_of_buf(int status, const char *content_type, struct buf *buf)
{
    static const char TEXT[] = "out of memory\n";
    struct body *body = body_new(buf);
    if (body)
        return response_make(status, content_type, body);
    body = body_of_static(TEXT, sizeof(TEXT) - 1, "\"\"");
    return response_make(503, "text/plain; charset=utf-8", body);
}

struct response *response_json(struct buf *buf) { return response_of_buf(200, "application/json", buf); }

struct response *response_text(int status, const char *text)
{
    struct buf buf = BUF_INIT;
    buf_text(&buf, text);
    return response_of_buf(status, "text/plain; charset=utf-8", &buf);
}

struct response *response_empty(int status) { return response_make(status, NULL, NULL); }

static const char *title_of(int status)
{
    switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
    }
}

static struct response *problem(int status, const char *code, const char *detail, const char *file,
                                uint64_t offset_bytes)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    json_object_begin(&json);
    json_key_text(&json, "type", "about:blank");
    json_key_text(&json, "title", title_of(status));
    json_key_int(&json, "status", status);
    json_key_text(&json, "detail", detail);
    json_key_text(&json, "code", code);
    json_key_text(&json, "file", file);
    json_key_known(&json, "offset_bytes", (int64_t)offset_bytes);
    json_object_end(&json);
    struct response *response = response_of_buf(status, PROBLEM, &buf);
    if (status == 503)
        response_add_header(response, "Retry-After", "1");
    return response;
}

struct response *response_problem(int status, const char *code, const char *format, ...)
{
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof(detail), format, arguments);
    va_end(arguments);
    return problem(status, code, detail, NULL, ERR_NO_OFFSET);
}

struct body *response_body_of_request(const struct response *response, const char *id)
{
    struct buf buf = BUF_INIT;
    struct body *made = NULL;
    if (!response->body)
        return NULL;
    if (response->content_type == PROBLEM && response->body->size > 0) {
        buf_add(&buf, response->body->data, response->body->size - 1);
        buf_text(&buf, ",\"request_id\":\"");
        buf_text(&buf, id);
        buf_text(&buf, "\"}");
        made = body_new(&buf);
    }
    return made ? made : body_hold(response->body);
}

int response_status_of(enum err_code code)
{
    if (err_is_transient(code))
        return 503;
    switch (code) {
    case ERR_argument: return 400;
    case ERR_notfound: return 404;
    case ERR_conflict: return 409;
    case ERR_limit:
    case ERR_memory: return 413;
    case ERR_malformed:
    case ERR_truncated:
    case ERR_unsupported: return 422;
    default: return 500;
    }
}

struct response *response_err(const struct err *err, const char *file)
{
    if (err->code == ERR_argument || err->code == ERR_conflict) /* the question is wrong, not the file */
        file = NULL;
    struct response *response =
        problem(response_status_of(err->code), err_name(err->code), err->text, file, err->offset_bytes);
    response->is_changed = err->code == ERR_changed;
    return response;
}

struct response *response_failure(const struct err *err, bool is_transient, const char *file)
{
    return is_transient ? problem(503, err_name(err->code), err->text, file, err->offset_bytes)
                        : response_err(err, file);
}

void response_add_header(struct response *response, const char *name, const char *format, ...)
{
    if (response->header_count == RESPONSE_MAX_HEADERS)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(response->headers[response->header_count].value, RESPONSE_HEADER_SIZE, format, arguments);
    va_end(arguments);
    response->headers[response->header_count++].name = name;
}
