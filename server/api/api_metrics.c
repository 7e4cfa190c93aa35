/* SPDX-License-Identifier: Apache-2.0
 * api_metrics.c: figures of the daemon for Prometheus. */
#include "server/api/api.h"
#include "server/base/version.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/remote_blocks.h"
#include "server/http/metrics.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void write_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_one(struct buf *out, const char *name, const char *type, const char *help, double value)
{
    write_head(out, name, type, help);
    buf_format(out, "%s %.15g\n", name, value);
}

static void write_gauge(struct buf *out, const char *name, const char *help, double value)
{
    write_one(out, name, "gauge", help, value);
}

static void write_counter(struct buf *out, const char *name, const char *help, double value)
{
    write_one(out, name, "counter", help, value);
}

/* ---- the process -------------------------------------------------------------------- */

/* The memory of this process now; below 0 when /proc does not give it. */
static double resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    int count = file ? fscanf(file, "%*u %llu", &pages) : 0;
    if (file)
        fclose(file);
    return count == 1 ? (double)pages * (double)sysconf(_SC_PAGESIZE) : -1;
}

static double processor_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Below 0 when /proc does not tell. */
static double open_file_count(void)
{
    DIR *directory = opendir("/proc/self/fd");
    double count = directory ? -3 : -1; /* ".", ".." and its own */
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static void write_process(struct buf *out, const struct server *server)
{
    struct rlimit files;
    double resident = resident_bytes(), open_files = open_file_count();
    write_gauge(out, "process_start_time_seconds", "Unix time of the start.", (double)server->started_at_ms / 1000);
    write_counter(out, "process_cpu_seconds_total", "Processor time of all threads.", processor_seconds());
    if (resident >= 0)
        write_gauge(out, "process_resident_memory_bytes", "Memory that the process has now.", resident);
    if (open_files >= 0)
        write_gauge(out, "process_open_fds", "Open files and connections.", open_files);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        write_gauge(out, "process_max_fds", "As many may be open.", (double)files.rlim_cur);
}

/* ---- what is kept in memory --------------------------------------------------------------- */

struct kept_row {
    const char *name, *type, *help;
    size_t offset; /* in struct cache_figures, a uint64_t */
    double unit;
};

static const struct kept_row KEPT_ROWS[] = {
    {"memviewd_cache_hits_total", "counter", "What was asked for and there already, or being made, by kind.",
     offsetof(struct cache_figures, hit_count), 1},
    {"memviewd_cache_misses_total", "counter", "What was asked for and had to be made: read, decoded, computed.",
     offsetof(struct cache_figures, made_count), 1},
    {"memviewd_cache_failures_total", "counter", "Misses that ended in an error.",
     offsetof(struct cache_figures, failed_count), 1},
    {"memviewd_cache_dropped_total", "counter", "What was let go to make room, or because nobody asked for it.",
     offsetof(struct cache_figures, dropped_count), 1},
    {"memviewd_decode_seconds_total", "counter",
     "Time that misses took; of an answer also what it had to read or wait for first.",
     offsetof(struct cache_figures, making_us), 1e-6},
    {"memviewd_cache_entries", "gauge", "What is kept now, errors too.", offsetof(struct cache_figures, count), 1},
    {"memviewd_cache_bytes", "gauge", "Memory of what is kept now; of uploaded_sets with their files.",
     offsetof(struct cache_figures, cost_bytes), 1},
};

static void write_kept(struct buf *out, const struct store *store)
{
    struct cache_figures figures[STORE_KIND_COUNT];
    for (size_t kind = 0; kind < STORE_KIND_COUNT; kind++)
        figures[kind] = cache_figures_of(store_cache(store), kind);
    for (size_t at = 0; at < sizeof(KEPT_ROWS) / sizeof(KEPT_ROWS[0]); at++) {
        const struct kept_row *row = &KEPT_ROWS[at];
        write_head(out, row->name, row->type, row->help);
        for (size_t kind = 0; kind < STORE_KIND_COUNT; kind++) {
            uint64_t value = *(const uint64_t *)(const void *)((const char *)&figures[kind] + row->offset);
            buf_format(out, "%s{kind=\"%s\"} %.15g\n", row->name, store_kind_name(kind), (double)value * row->unit);
        }
    }
}

static void write_memory(struct buf *out, const struct server *server)
{
    static const char NAME[] = "memviewd_memory_bytes";
    uint64_t taken = account_taken(store_account(server->store)), uploads = upload_taken_bytes();
    uint64_t read = taken > uploads ? taken - uploads : 0; /* another moment each */
    write_gauge(out, "memviewd_memory_limit_bytes", "What is read and uploaded may take of it.",
                (double)server->memory_limit_bytes);
    write_head(out, NAME, "gauge", "What they have taken of it: files that are read and kept, bodies of uploads.");
    buf_format(out, "%s{account=\"read\"} %.15g\n%s{account=\"uploads\"} %.15g\n", NAME, (double)read, NAME,
               (double)uploads);
    write_counter(out, "memviewd_disk_read_bytes_total", "Read of files below the roots.", (double)files_bytes_read());
}

/* Figures for addresses of buckets and web servers. */
static void write_remote(struct buf *out)
{
    const struct http_client_figures asked = http_client_figures();
    const struct remote_blocks_figures blocks = remote_blocks_figures();
    write_counter(out, "memviewd_remote_requests_total",
                  "Requests to servers of addresses and of credentials, each try.", (double)asked.request_count);
    write_counter(out, "memviewd_remote_retries_total", "Those of them that asked again.", (double)asked.retry_count);
    write_counter(out, "memviewd_remote_received_bytes_total", "Bodies of their answers.", (double)asked.body_bytes);
    write_gauge(out, "memviewd_remote_blocks_bytes", "Memory of blocks of files that are kept.",
                (double)blocks.kept_bytes);
}

static void write_folders(struct buf *out, struct index_figures figures)
{
    write_gauge(out, "memviewd_folders", "Folders below the roots.", (double)figures.folder_count);
    write_gauge(out, "memviewd_folders_watched",
                "Those of which the system tells at once what changes; in others a scan finds it.",
                (double)figures.watched_count);
    write_counter(out, "memviewd_watch_overflows_total",
                  "How often there was more to tell than the system keeps, and all folders were looked at.",
                  (double)figures.lost_count);
    write_counter(out, "memviewd_lookups_total", "Folders and files below the roots that scans asked about.",
                  (double)figures.looked_count);
}

struct response *api_metrics(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    (void)request;
    metrics_write(server->metrics, &buf);
    buf_format(&buf,
               "# HELP memviewd_build_info The version.\n# TYPE memviewd_build_info gauge\n"
               "memviewd_build_info{version=\"%s\"} 1\n",
               version_number);
    write_process(&buf, server);
    write_memory(&buf, server);
    write_remote(&buf);
    write_kept(&buf, server->store);
    bool is_ready = index_is_ready(server->index);
    write_gauge(&buf, "memviewd_ready", "1 when the first scan of all roots is complete.", is_ready);
    if (is_ready) {
        struct snapshot *snapshot = index_hold(server->index);
        write_gauge(&buf, "memviewd_scan_generation", "How often a scan found something new.",
                    (double)snapshot->generation);
        write_gauge(&buf, "memviewd_sessions", "Sessions below the roots.", (double)snapshot->session_count);
        index_release(server->index, snapshot);
        write_folders(&buf, index_figures(server->index));
    }
    struct response *response = response_of_buf(200, "text/plain; version=0.0.4; charset=utf-8", &buf);
    response->is_tagged = false; /* no two are equal */
    return response;
}
