/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/metrics.h"

#include "server/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUTES = 128, CLASS_COUNT = 5, BOUND_COUNT = 8 };

static const double BOUNDS_SECONDS[BOUND_COUNT] = {0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120};

struct row {
    const char *route;
    uint64_t class_counts[CLASS_COUNT]; /* 1xx to 5xx */
    uint64_t counts[BOUND_COUNT + 1];   /* of each a part of time alone; the last: longer than all bounds */
    uint64_t sent_bytes, received_bytes;
    double seconds;
};

struct metrics {
    pthread_mutex_t lock;
    struct row rows[MAX_ROUTES];
    size_t row_count;
};

struct metrics *metrics_new(void)
{
    struct metrics *metrics = memory_new(sizeof(*metrics));
    pthread_mutex_init(&metrics->lock, NULL);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

static struct row *metrics_find(struct metrics *metrics, const char *route)
{
    for (size_t at = 0; at < metrics->row_count; at++)
        if (strcmp(metrics->rows[at].route, route) == 0)
            return &metrics->rows[at];
    if (metrics->row_count == MAX_ROUTES)
        return &metrics->rows[MAX_ROUTES - 1];
    metrics->rows[metrics->row_count].route = route;
    return &metrics->rows[metrics->row_count++];
}

void metrics_count(struct metrics *metrics, const char *route, int status, int64_t took_us, uint64_t sent_bytes,
                   uint64_t received_bytes)
{
    double seconds = (double)took_us / 1e6;
    int class = status / 100 - 1, bound = 0;
    while (bound < BOUND_COUNT && seconds > BOUNDS_SECONDS[bound])
        bound++;
    pthread_mutex_lock(&metrics->lock);
    struct row *row = metrics_find(metrics, route ? route : "none");
    if (class >= 0 && class < CLASS_COUNT)
        row->class_counts[class]++;
    row->counts[bound]++;
    row->seconds += seconds;
    row->sent_bytes += sent_bytes;
    row->received_bytes += received_bytes;
    pthread_mutex_unlock(&metrics->lock);
}

static void write_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_times(struct buf *out, const struct row *row)
{
    static const char NAME[] = "memviewd_request_duration_seconds";
    uint64_t count = 0;
    for (int bound = 0; bound < BOUND_COUNT; bound++) {
        count += row->counts[bound];
        buf_format(out, "%s_bucket{route=\"%s\",le=\"%g\"} %llu\n", NAME, row->route, BOUNDS_SECONDS[bound],
                   (unsigned long long)count);
    }
    count += row->counts[BOUND_COUNT];
    buf_format(out,
               "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu\n%s_sum{route=\"%s\"} %.6f\n%s_count{route=\"%s\"} %llu\n",
               NAME, row->route, (unsigned long long)count, NAME, row->route, row->seconds, NAME, row->route,
               (unsigned long long)count);
}

static void write_bytes(struct buf *out, const char *name, const char *route, uint64_t bytes)
{
    buf_format(out, "%s{route=\"%s\"} %llu\n", name, route, (unsigned long long)bytes);
}

void metrics_write(struct metrics *metrics, struct buf *out)
{
    static const char SENT[] = "memviewd_response_bytes_total", RECEIVED[] = "memviewd_request_body_bytes_total";
    pthread_mutex_lock(&metrics->lock);
    write_head(out, "memviewd_requests_total", "counter", "Requests that were answered, by route and class of status.");
    for (size_t at = 0; at < metrics->row_count; at++)
        for (int class = 0; class < CLASS_COUNT; class ++)
            if (metrics->rows[at].class_counts[class] > 0)
                buf_format(out, "memviewd_requests_total{route=\"%s\",status=\"%dxx\"} %llu\n", metrics->rows[at].route,
                           class + 1, (unsigned long long)metrics->rows[at].class_counts[class]);
    write_head(out, "memviewd_request_duration_seconds", "histogram",
               "From the first line of a request to the end of its answer.");
    for (size_t at = 0; at < metrics->row_count; at++)
        write_times(out, &metrics->rows[at]);
    write_head(out, SENT, "counter", "Bodies of answers as they were sent.");
    for (size_t at = 0; at < metrics->row_count; at++)
        write_bytes(out, SENT, metrics->rows[at].route, metrics->rows[at].sent_bytes);
    write_head(out, RECEIVED, "counter", "Bodies of requests: uploads, and small ones.");
    for (size_t at = 0; at < metrics->row_count; at++)
        write_bytes(out, RECEIVED, metrics->rows[at].route, metrics->rows[at].received_bytes);
    pthread_mutex_unlock(&metrics->lock);
}
