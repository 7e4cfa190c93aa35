/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/routes.h"

#include "server/api/api.h"
#include "server/api/listing.h"
#include "server/api/pages.h"
#include "server/api/xprof.h"

#include <string.h>

/* Larger headers than this are refused; much larger ones by the library itself. */
enum { HEADER_LIMIT_BYTES = 16 * 1024, TRIES = 3 };

struct route {
    enum request_method method;
    const char *path;
    struct response *(*answer)(const struct server *server, const struct request *request);
    enum guard_need need;
    enum { ROUTE_COSTLY, ROUTE_QUICK, ROUTE_NOW, ROUTE_PAGE } where;
    bool is_xprof;
    const char *const *params; /* that it takes, each once; NULL: any */
    size_t body_limit_bytes;   /* 0: the usual one */
    const char *const *types;  /* of such a body */
};

static const struct route ROUTES[] = {
#define NAMES(...)                                                                                                     \
    (const char *const[]) { __VA_ARGS__, NULL }
#define NONE                                                                                                           \
    (const char *const[]) { NULL }
#define ANY NULL
#define ROUTE(method, path, handler, need, where, params)                                                              \
    {REQUEST_##method, path, handler, GUARD_##need, ROUTE_##where, false, params, 0, NULL},
#define XPROF(path, handler, where) {REQUEST_GET, path, handler, GUARD_DATA, ROUTE_##where, true, ANY, 0, NULL},
#define XPROF_PAGE(path, handler) {REQUEST_GET, path, handler, GUARD_LINK, ROUTE_COSTLY, true, ANY, 0, NULL},
#define UPLOAD(path, handler, limit, types, params)                                                                    \
    {REQUEST_POST, path, handler, GUARD_DATA, ROUTE_COSTLY, false, params, limit, types},
#include "server/api/routes.def"
#undef ROUTE
#undef XPROF
#undef XPROF_PAGE
#undef UPLOAD
};
enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

/* Every path that no row names is that of a page, or of nothing. */
static const struct route PAGE = {REQUEST_GET, "", pages_answer, GUARD_OPEN, ROUTE_PAGE, false, ANY, 0, NULL};

/* Does `path` follow `pattern`? Its {} go to `request`, when that is not NULL. */
static bool path_matches(const char *pattern, const char *path, struct request *request)
{
    size_t capture = 0;
    while (*pattern) {
        if (pattern[0] == '{') {
            size_t length = strcspn(path, "/");
            if (length == 0)
                return false;
            if (request)
                request->captures[capture] = memory_pool_text(&request->pool, path, length);
            capture++;
            pattern += 2;
            path += length;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

/* XProf's paths without their prefix and last slash; others as they are. */
static const char *xprof_path(struct request *request)
{
    static const char PREFIX[] = "/data/plugin/profile";
    const char *path = request->path;
    size_t prefix = sizeof(PREFIX) - 1;
    if (strncmp(path, PREFIX, prefix) == 0 && path[prefix] == '/')
        path += prefix;
    size_t length = strlen(path);
    bool has_slash = length > 1 && path[length - 1] == '/';
    return has_slash ? memory_pool_text(&request->pool, path, length - 1) : path;
}

/* The row of a request's path and method. With the path alone known: its row, and `is_allowed` false. */
static const struct route *routes_find(struct request *request, bool *is_allowed)
{
    const struct route *found = NULL;
    const char *stripped = xprof_path(request);
    for (size_t at = 0; at < ROUTE_COUNT; at++) {
        const struct route *route = &ROUTES[at];
        const char *path = route->is_xprof ? stripped : request->path;
        if (!path_matches(route->path, path, NULL))
            continue;
        bool is_get = request->method == REQUEST_HEAD && route->method == REQUEST_GET;
        *is_allowed = route->method == request->method || is_get;
        if (*is_allowed) {
            path_matches(route->path, path, request);
            return route;
        }
        bool has_other = at + 1 < ROUTE_COUNT && strcmp(ROUTES[at + 1].path, route->path) == 0;
        if (!has_other)
            return route;
    }
    if (strncmp(request->path, "/api/", 5) != 0 && strncmp(request->path, "/-/", 3) != 0 &&
        strncmp(request->path, "/data/", 6) != 0)
        found = &PAGE;
    *is_allowed = request->method == REQUEST_GET || request->method == REQUEST_HEAD;
    return found;
}

static struct response *refuse_escape(void)
{
    return response_problem(400, "argument", "the URL has a broken %%-escape, or an escaped NUL");
}

static struct response *refuse_form(const struct request *request)
{
    if (strlen(request->target) > REQUEST_TARGET_LIMIT)
        return response_problem(414, "limit", "the URL is longer than %d bytes", REQUEST_TARGET_LIMIT);
    if (request->header_bytes > HEADER_LIMIT_BYTES)
        return response_problem(431, "limit", "the headers are larger than %d bytes", HEADER_LIMIT_BYTES);
    if (request->header_count > REQUEST_MAX_HEADERS)
        return response_problem(431, "limit", "more than %d headers", REQUEST_MAX_HEADERS);
    if (request->param_count > REQUEST_MAX_PARAMS)
        return response_problem(400, "limit", "more than %d parameters", REQUEST_MAX_PARAMS);
    if (request->fault == REQUEST_BAD_TARGET)
        return response_problem(400, "argument", "the request target must be a path that begins with /");
    if (request->fault == REQUEST_BAD_ESCAPE)
        return refuse_escape();
    return NULL;
}

/* The query of a page is for the page to read: it names what it cannot use, and shows the rest. */
static struct response *refuse_query(const struct request *request, const struct route *route)
{
    bool is_page = route && route->where == ROUTE_PAGE;
    return request->fault == REQUEST_BAD_QUERY && !is_page ? refuse_escape() : NULL;
}

static struct response *refuse_body(const struct request *request)
{
    switch (request->body->fault) {
    case UPLOAD_GOOD: break;
    case UPLOAD_TOO_LARGE:
        return response_problem(413, "limit", "the body is larger than %zu bytes", request->body->limit_bytes);
    case UPLOAD_NO_ROOM:
        return response_problem(503, "busy", "there is no memory for a body of that size now; ask again");
    }
    return NULL;
}

static struct response *refuse_method(const struct request *request, const struct route *route)
{
    bool is_pair = route != &PAGE && route != ROUTES && strcmp(route[-1].path, route->path) == 0;
    bool is_deleting = route->method == REQUEST_DELETE;
    const char *allowed = is_pair                         ? is_deleting ? "GET, HEAD, DELETE" : "GET, HEAD, POST"
                          : is_deleting                   ? "DELETE"
                          : route->method == REQUEST_POST ? "POST"
                                                          : "GET, HEAD";
    struct response *response =
        response_problem(405, "method", "%.20s is not possible here, only %s", request->method_text, allowed);
    response_add_header(response, "Allow", "%s", allowed);
    return response;
}

static void admit(const void *context, struct request *request)
{
    const struct server *server = context;
    bool is_allowed = false;
    struct response *refusal = guard_host(&server->guard, request);
    if (!refusal)
        refusal = refuse_form(request);
    const struct route *route = refusal ? NULL : routes_find(request, &is_allowed);
    if (!refusal)
        refusal = refuse_query(request, route);
    if (!refusal && route && is_allowed && route->body_limit_bytes > 0 && !server->is_without_uploads) {
        refusal = guard_need(&server->guard, request, route->need);
        if (!refusal)
            request_allow_body(request, route->body_limit_bytes, store_account(server->store));
    }
    response_release(refusal);
}

static struct response *routes_answer(const struct server *server, const struct request *request)
{
    const struct route *route = request->route;
    struct response *refusal = route->params ? listing_check_names(request, route->params) : NULL;
    if (!refusal && route->types)
        refusal = api_check_type(request, route->types);
    return refusal ? refusal : route->answer(server, request);
}

static struct response *answer_now(const void *context, struct request *request)
{
    const struct server *server = context;
    bool is_allowed = false;
    struct response *refusal = guard_host(&server->guard, request);
    if (!refusal)
        refusal = refuse_form(request);
    if (refusal)
        return refusal;
    const struct route *route = routes_find(request, &is_allowed);
    refusal = guard_need(&server->guard, request, route ? route->need : GUARD_DATA);
    if (!refusal)
        refusal = refuse_query(request, route);
    if (!refusal && route && route->body_limit_bytes > 0 && is_allowed && server->is_without_uploads)
        refusal = response_problem(403, "uploads", "this daemon takes no files: it was started with --no-uploads");
    if (!refusal)
        refusal = refuse_body(request);
    if (refusal)
        return refusal;
    if (!route)
        return response_problem(404, "notfound", "there is nothing at this path");
    if (!is_allowed)
        return refuse_method(request, route);
    request->route = route;
    request->route_name = route == &PAGE ? "pages" : route->path;
    bool is_at_once = route->where == ROUTE_NOW || (route->where == ROUTE_PAGE && !server->web_folder);
    return is_at_once ? routes_answer(server, request) : NULL;
}

static bool is_quick(const void *context, const struct request *request)
{
    (void)context;
    return request->route->where != ROUTE_COSTLY;
}

/* The system has used the reserve (memory.h): drops what is unused and, if that is too little, refuses the question. */
static struct response *refuse_for_memory(const struct server *server)
{
    if (!memory_is_short())
        return NULL;
    store_drop_all(server->store);
    uint64_t limit_bytes = account_limit(store_account(server->store));
    return memory_reserve()
               ? NULL
               : response_problem(503, err_name(ERR_exhausted),
                                  "the system has no memory left, though %llu MiB are allowed for what is read "
                                  "(--memory-limit): ask again, or allow less",
                                  (unsigned long long)(limit_bytes >> 20));
}

static struct response *routes_answer_settled(const struct server *server, const struct request *request)
{
    struct response *response = routes_answer(server, request);
    /* A file that grows while it is read is mostly whole a moment later. */
    for (int tries = 1; tries < TRIES && response->is_changed; tries++) {
        response_release(response);
        index_nudge(server->index);
        response = routes_answer(server, request);
    }
    return response;
}

static struct response *answer_on_worker(const void *context, const struct request *request)
{
    const struct server *server = context;
    struct response *refusal = refuse_for_memory(server);
    return refusal ? refusal : routes_answer_settled(server, request);
}

/* May the route be asked for by another one? That one may not: it would answer without end. */
static bool may_be_beside(const struct route *route)
{
    return route && route->need == GUARD_DATA && route->answer != api_batch && !route->is_xprof && route != &PAGE;
}

struct response *routes_answer_beside(const struct server *server, const struct request *request, const char *target)
{
    bool is_allowed = false;
    struct request *own = request_new(target, request->peer);
    request_set_method(own, "GET");
    struct response *response = refuse_form(own);
    const struct route *route = response ? NULL : routes_find(own, &is_allowed);
    if (!response)
        response = refuse_query(own, route);
    if (!response && (!may_be_beside(route) || !is_allowed))
        response = response_problem(404, "notfound", "there is nothing to ask for together with others at this path");
    if (!response && route) {
        own->route = route;
        response = routes_answer_settled(server, own);
    }
    request_release(own);
    return response;
}

struct http_handler routes_handler(const struct server *server)
{
    return (struct http_handler){server, admit, answer_now, is_quick, answer_on_worker};
}
