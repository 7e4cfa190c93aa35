/* SPDX-License-Identifier: Apache-2.0
 * api_metrics_jobs.c: what jobs of the catalog take, as gauges for Prometheus.
 *
 * Apart from api_metrics.c, so that a database that is away takes no figure of the daemon with it, and is scraped as
 * often as is good for it. The commit is no label: each would begin a series. */
#include "server/api/api.h"
#include "server/fleet/catalog/catalog.h"

#include <string.h>

/* The module of each job that needs most now, of the JOBS_MAX jobs that were seen last; of 30 days. */
#define JOBS_MAX "1000"
static const char SQL[] =
    "WITH newest AS (SELECT DISTINCT ON (job, module, memory_space, configuration) job, module, memory_space,"
    " configuration, needed_bytes, capacity_bytes, last_at FROM memviewd.points"
    " WHERE kind = 'module' AND job IS NOT NULL AND needed_bytes IS NOT NULL AND last_at > now() - interval '30 days'"
    " ORDER BY job, module, memory_space, configuration, first_at DESC), "
    "most AS (SELECT DISTINCT ON (job) *, max(last_at) OVER (PARTITION BY job) AS seen_at FROM newest"
    " ORDER BY job, needed_bytes DESC, module, memory_space, configuration), "
    "failed AS (SELECT job, sum(row_count) AS failures FROM memviewd.points"
    " WHERE kind = 'failure' AND last_at > now() - interval '30 days' GROUP BY job), "
    "grown AS (SELECT job, count(*) AS regressions FROM memviewd.regressions"
    " WHERE gone_at IS NULL AND found_at > now() - interval '30 days' GROUP BY job) "
    "SELECT m.job, m.module, m.memory_space, m.configuration, m.needed_bytes, m.capacity_bytes,"
    " extract(epoch FROM m.seen_at)::bigint, coalesce(f.failures, 0), coalesce(g.regressions, 0)"
    " FROM most AS m LEFT JOIN failed AS f USING (job) LEFT JOIN grown AS g USING (job)"
    " ORDER BY m.seen_at DESC, m.job LIMIT " JOBS_MAX;

enum column { JOB, MODULE, MEMORY_SPACE, CONFIGURATION, NEEDED, CAPACITY, SEEN, FAILURES, REGRESSIONS };

/* A family: a column of each job, with all that tells its module, or the job alone. */
static const struct family {
    const char *name, *help;
    enum column value;
    bool is_of_module;
} FAMILIES[] = {
    {"memviewd_job_needed_bytes", "What the newest commit of the module of the job that needs most needs.", NEEDED,
     true},
    {"memviewd_job_capacity_bytes", "What its device has.", CAPACITY, true},
    {"memviewd_job_seen_timestamp_seconds", "When a program of the job was written last.", SEEN, false},
    {"memviewd_job_failures", "Texts of the job that tell of a lack of memory, of 30 days.", FAILURES, false},
    {"memviewd_job_regressions", "Regressions of the job that were found in 30 days and are there.", REGRESSIONS,
     false},
};

/* As Prometheus wants the value of a label. */
static void label_write(struct buf *out, const char *name, const char *value)
{
    buf_format(out, "%s=\"", name);
    for (; value && *value; value++) {
        if (*value == '\n')
            buf_text(out, "\\n");
        else if (*value == '"' || *value == '\\')
            buf_format(out, "\\%c", *value);
        else
            buf_char(out, *value);
    }
    buf_char(out, '"');
}

static void sample_write(struct buf *out, const struct family *family, const struct catalog_answer *answer, size_t row)
{
    static const char *const names[] = {"module", "memory_space", "configuration"};
    const char *value = catalog_cell(answer, row, family->value);
    if (!value)
        return;
    buf_format(out, "%s{", family->name);
    label_write(out, "job", catalog_cell(answer, row, JOB));
    for (size_t at = 0; family->is_of_module && at < sizeof(names) / sizeof(names[0]); at++) {
        buf_char(out, ',');
        label_write(out, names[at], catalog_cell(answer, row, MODULE + at));
    }
    buf_format(out, "} %s\n", value);
}

struct response *api_metrics_jobs(const struct server *server, const struct request *request)
{
    struct catalog_answer answer = {.texts = BUF_INIT, .places = BUF_INIT};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    (void)request;
    if (server->catalog && !catalog_query(server->catalog, SQL, NULL, 0, &answer, &err))
        return response_failure(&err, true, NULL);
    for (size_t at = 0; at < sizeof(FAMILIES) / sizeof(FAMILIES[0]); at++) {
        const struct family *family = &FAMILIES[at];
        buf_format(&out, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help, family->name);
        for (size_t row = 0; row < answer.row_count; row++)
            sample_write(&out, family, &answer, row);
    }
    catalog_answer_free(&answer);
    return response_of_buf(200, "text/plain; version=0.0.4; charset=utf-8", &out);
}
