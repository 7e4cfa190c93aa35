/* SPDX-License-Identifier: Apache-2.0
 * api_fleet.c: what many jobs took over their commits: views of the tool "fleet", of the catalog of --catalog, else of
 * the files that this daemon watches.
 *
 * Of files: with within_ms= the answer comes after about that time with what is read by then, and asking again reads
 * on; without it all is read first. */
#include "server/api/api.h"
#include "server/api/listing.h"
#include "server/base/clock.h"
#include "server/base/wanted.h"
#include "server/fleet/catalog/fleet_diff.h"
#include "server/fleet/catalog/fleet_files.h"
#include "server/fleet/catalog/fleet_tables.h"
#include "server/store/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WITHIN_MAX_MS = 10000, DIFF_MAX = 20, TIME_DIGITS = 15, KEPT_MS = 10000 };
static const size_t ANSWER_LIMIT_BYTES = (size_t)1 << 30;
static const uint64_t KEPT_BYTES = (uint64_t)256 << 20;

static const char *const OWN_NAMES[] = {"job",   "commit", "module", "host", "user",      "kind",
                                        "label", "since",  "until",  "by",   "within_ms", NULL};

/* What is asked for, and what it is made of. */
struct api_fleet_asking {
    const struct server *server;
    const struct request *request;
    const struct analysis_view *view;
    struct snapshot *snapshot;
    struct fleet_filter filter;
    char *label; /* cut into key and value */
    int64_t budget_ms;
    bool is_by_host;
    struct analysis_fleet *fleet;
    struct cache_hold hold; /* of the fleet, if it is one that is kept */
};

/* ---- the question ---- */

/* A whole number, or -1 without one. */
static struct response *read_number(const struct request *request, const char *name, int64_t most, int64_t *number)
{
    const char *text = request_param(request, name, "");
    size_t digits = strspn(text, "0123456789");
    *number = text[0] ? strtoll(text, NULL, 10) : -1;
    if (text[digits] || digits > TIME_DIGITS || *number > most)
        return response_problem(400, "argument", "%s must be a whole number up to %lld", name, (long long)most);
    return NULL;
}

static struct response *read_label(struct api_fleet_asking *asking)
{
    const char *text = request_param(asking->request, "label", "");
    if (!text[0])
        return NULL;
    asking->label = memory_text(text);
    char *equals = strchr(asking->label, '=');
    if (!equals || equals == asking->label)
        return response_problem(400, "argument", "label must be KEY=VALUE");
    *equals = '\0';
    asking->filter.label_key = asking->label;
    asking->filter.label_value = equals + 1;
    return NULL;
}

static const char *wanted_text(const struct request *request, const char *name)
{
    const char *text = request_param(request, name, "");
    return text[0] ? text : NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static struct response *read_by(struct api_fleet_asking *asking)
{
    const char *by = request_param(asking->request, "by", "");
    asking->is_by_host = strcmp(by, "host") == 0;
    if (by[0] && !asking->is_by_host)
        return response_problem(400, "argument", "by can be host alone");
    return NULL;
}

/* Before anything is read. */
static struct response *check_names(const struct api_fleet_asking *asking)
{
    const struct request *request = asking->request;
    for (size_t at = 0; at < request->param_count; at++) {
        const char *name = request->params[at].name;
        if (!is_among(OWN_NAMES, name) && !is_among(asking->view->param_names, name))
            return response_problem(400, "argument", "unknown parameter \"%.60s\"", name);
    }
    return listing_check_once(request);
}

static struct response *read_asking(struct api_fleet_asking *asking)
{
    const struct request *request = asking->request;
    struct fleet_filter *filter = &asking->filter;
    *filter = (struct fleet_filter){.job = wanted_text(request, "job"),
                                    .commit = wanted_text(request, "commit"),
                                    .module = wanted_text(request, "module"),
                                    .host = wanted_text(request, "host"),
                                    .user = wanted_text(request, "user"),
                                    .kind = wanted_text(request, "kind")};
    struct response *refusal = check_names(asking);
    if (!refusal)
        refusal = read_number(request, "since", INT64_C(1) << 48, &filter->since_ms);
    if (!refusal)
        refusal = read_number(request, "until", INT64_C(1) << 48, &filter->until_ms);
    if (!refusal)
        refusal = read_number(request, "within_ms", WITHIN_MAX_MS, &asking->budget_ms);
    if (!refusal)
        refusal = read_by(asking);
    return refusal ? refusal : read_label(asking);
}

/* ---- the fleet ---- */

static bool is_view(const struct api_fleet_asking *asking, const char *view)
{
    return strcmp(asking->view->view, view) == 0;
}

static bool make_of_files(struct api_fleet_asking *asking, struct err *err)
{
    const struct server *server = asking->server;
    struct fleet_files *files = server->fleet_files;
    struct fleet_files_reading reading;
    return fleet_files_read(files, server->store, asking->snapshot, asking->budget_ms, &reading, err) &&
           fleet_files_add(files, asking->snapshot, &asking->filter, asking->fleet, err) &&
           analysis_fleet_build(asking->fleet, "the folders of this daemon", false, reading.file_count,
                                reading.read_count, err);
}

static bool make_of_catalog(struct api_fleet_asking *asking, struct err *err)
{
    const struct server *server = asking->server;
    const struct fleet_tables_asked asked = {.catalog = server->catalog,
                                             .columns = fleet_files_columns(server->fleet_files),
                                             .filter = &asking->filter,
                                             .snapshot = asking->snapshot,
                                             .is_of_hosts = is_view(asking, "hosts"),
                                             .is_by_host = asking->is_by_host};
    return fleet_tables_add(&asked, asking->fleet, err) &&
           analysis_fleet_build(asking->fleet, catalog_name(server->catalog), true, 0, 0, err);
}

/* Compares the plans on both sides of the first few steps, because each reads two programs; if one is not known, says
 * why. */
static bool explain_steps(struct api_fleet_asking *asking, struct err *err)
{
    size_t count = analysis_fleet_step_count(asking->fleet);
    char too_many[80];
    snprintf(too_many, sizeof(too_many), "only %d steps at a time are looked into: ask for one job", DIFF_MAX);
    for (size_t at = 0; at < count; at++) {
        bool is_good = at < DIFF_MAX
                           ? fleet_diff_explain(asking->server->store, asking->snapshot, asking->fleet, at, err)
                           : analysis_fleet_step_explain(asking->fleet, at, NULL, too_many, err);
        if (!is_good || (wanted_is_over() && !wanted_stopped(err)))
            return false;
    }
    return true;
}

static bool api_fleet_make(struct api_fleet_asking *asking, struct err *err)
{
    const struct fleet_columns *columns = fleet_files_columns(asking->server->fleet_files);
    asking->fleet = analysis_fleet_new((const char *const *)columns->names, columns->count, err);
    if (asking->fleet && asking->is_by_host)
        analysis_fleet_by_host(asking->fleet);
    if (asking->fleet && is_view(asking, "hosts"))
        analysis_fleet_of_hosts(asking->fleet);
    return asking->fleet && (asking->server->catalog ? make_of_catalog(asking, err) : make_of_files(asking, err)) &&
           (!is_view(asking, "regressions") || explain_steps(asking, err));
}

/* ---- fleets of a catalog, kept for the questions of one page ---- */

struct cache *api_fleet_cache_new(void)
{
    const struct cache_shelf shelf = {.budget_bytes = KEPT_BYTES, .largest_bytes = KEPT_BYTES, .origin = CACHE_ANSWER};
    return cache_new(&shelf, 1);
}

void api_fleet_cache_expire(struct cache *fleets) { cache_drop_idle(fleets, clock_ms(), KEPT_MS); }

static void *kept_make(void *context, struct cache_made *made, struct err *err)
{
    struct api_fleet_asking *asking = context;
    bool is_made = api_fleet_make(asking, err);
    struct analysis_fleet *fleet = asking->fleet;
    asking->fleet = NULL;
    made->is_transient = !is_made; /* a database that failed may not do so again */
    if (!is_made) {
        analysis_fleet_free(fleet);
        return NULL;
    }
    made->cost_bytes = analysis_fleet_memory_bytes(fleet);
    made->kept_ms = KEPT_MS;
    return fleet;
}

static void kept_free(void *fleet) { analysis_fleet_free(fleet); }

/* Tells it from all others: hosts are of other rows, and steps are looked into for their view alone. free(). */
static char *kept_key(const struct api_fleet_asking *asking)
{
    struct buf key = BUF_INIT;
    bool is_own = is_view(asking, "hosts") || is_view(asking, "regressions");
    buf_format(&key, "%s\n", is_own ? asking->view->view : "");
    for (const char *const *name = OWN_NAMES; *name; name++) {
        const char *value = request_param(asking->request, *name, "");
        buf_format(&key, "%zu:%s\n", strlen(value), value);
    }
    buf_char(&key, '\0');
    char *text = memory_text(key.failed ? "" : key.data);
    buf_free(&key);
    return text;
}

static bool api_fleet_find(struct api_fleet_asking *asking, struct err *err)
{
    const struct cache_maker maker = {kept_make, kept_free, asking};
    if (!asking->server->catalog)
        return api_fleet_make(asking, err);
    char *key = kept_key(asking);
    asking->fleet = key[0] ? cache_get(asking->server->fleets, 0, key, &maker, &asking->hold, err) : NULL;
    free(key);
    return asking->fleet != NULL;
}

/* ---- the answer ---- */

static struct response *write_answer(struct api_fleet_asking *asking, struct err *err)
{
    struct analysis_question question = {
        .tool = asking->view->tool, .view = asking->view->view, .fleet = asking->fleet, .wanted = wanted_holders()};
    struct analysis_param *params = api_core_params(asking->request, OWN_NAMES, &question.param_count);
    const char *format = request_param(asking->request, "format", "");
    bool is_file = format[0] && strcmp(format, "json") != 0;
    struct buf out = {.limit_bytes = ANSWER_LIMIT_BYTES};
    question.params = params;
    struct body *body = analysis_answer(&question, &out, err) ? body_new(&out) : NULL;
    free(params);
    buf_free(&out);
    if (!body)
        return NULL;
    const struct api_file_format *file = api_file_format(format);
    struct response *response = response_of_body(200, is_file ? file->type : "application/json", body);
    if (is_file)
        response_add_header(response, "Content-Disposition", "attachment; filename=\"fleet-%s.%s\"", asking->view->view,
                            file->ending);
    return response;
}

static struct response *api_fleet_answer(struct api_fleet_asking *asking)
{
    struct err err = ERR_INIT;
    struct response *response = NULL;
    bool is_made = api_fleet_find(asking, &err);
    if (is_made)
        response = write_answer(asking, &err);
    if (!response && !err_is_set(&err))
        err_set(&err, ERR_limit, ERR_NO_OFFSET, "memory ran out");
    /* What a database does not manage now, it may another time. */
    return response ? response : response_failure(&err, asking->server->catalog && !is_made, NULL);
}

struct response *api_fleet(const struct server *server, const struct request *request, const struct analysis_view *view)
{
    struct api_fleet_asking asking = {.server = server, .request = request, .view = view};
    struct response *response = read_asking(&asking);
    if (!response) {
        asking.snapshot = index_hold(server->index);
        response = api_fleet_answer(&asking);
        index_release(server->index, asking.snapshot);
    }
    if (server->catalog)
        cache_release(&asking.hold);
    else
        analysis_fleet_free(asking.fleet);
    free(asking.label);
    return response;
}
