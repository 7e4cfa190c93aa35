/* SPDX-License-Identifier: Apache-2.0
 * api_metrics.c: figures of the daemon for Prometheus. */
#include "server/api/api.h"
#include "server/base/version.h"
#include "server/http/metrics.h"

#include <stdio.h>
#include <unistd.h>

static void write_gauge(struct buf *out, const char *name, const char *help, double value)
{
    buf_format(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", name, help, name, name, value);
}

/* Of this process now; below 0 when /proc does not tell. */
static double resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    int count = file ? fscanf(file, "%*u %llu", &pages) : 0;
    if (file)
        fclose(file);
    return count == 1 ? (double)pages * (double)sysconf(_SC_PAGESIZE) : -1;
}

struct response *api_metrics(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    double resident = resident_bytes();
    (void)request;
    metrics_write(server->metrics, &buf);
    buf_format(&buf,
               "# HELP memviewd_build_info The version.\n# TYPE memviewd_build_info gauge\n"
               "memviewd_build_info{version=\"%s\"} 1\n",
               version_number);
    write_gauge(&buf, "process_start_time_seconds", "Unix time of the start.", (double)server->started_at_ms / 1000);
    if (resident >= 0)
        write_gauge(&buf, "process_resident_memory_bytes", "Memory that the process has now.", resident);
    write_gauge(&buf, "memviewd_memory_limit_bytes", "What is read and uploaded may take of it.",
                (double)server->memory_limit_bytes);
    bool is_ready = index_is_ready(server->index);
    write_gauge(&buf, "memviewd_ready", "1 when the first scan of all roots is complete.", is_ready);
    if (is_ready) {
        struct snapshot *snapshot = index_hold(server->index);
        write_gauge(&buf, "memviewd_scan_generation", "How often a scan found something new.",
                    (double)snapshot->generation);
        write_gauge(&buf, "memviewd_sessions", "Sessions below the roots.", (double)snapshot->session_count);
        index_release(server->index, snapshot);
    }
    struct response *response = response_of_buf(200, "text/plain; version=0.0.4; charset=utf-8", &buf);
    response->is_tagged = false; /* no two are equal */
    return response;
}
