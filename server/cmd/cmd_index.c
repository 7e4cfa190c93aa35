/* SPDX-License-Identifier: Apache-2.0
 * cmd_index.c: what many jobs took, as rows of one table, for DuckDB, PostgreSQL, BigQuery and others. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/catalog/rows.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/options.h"
#include "server/disk/index.h"
#include "server/store/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHARDS_MAX = 100000 };

/* "I/N". */
static bool shard_read(const char *text, uint64_t *shard, uint64_t *count)
{
    char *end;
    *shard = 0;
    *count = 1;
    if (!text)
        return true;
    long long at = strtoll(text, &end, 10), of = *end == '/' && end != text ? strtoll(end + 1, &end, 10) : 0;
    *shard = (uint64_t)at;
    *count = (uint64_t)of;
    if (!*end && at >= 0 && of > at && of <= SHARDS_MAX && !strchr("+- \t", text[0]))
        return true;
    log_line("--shard=%s: it is I/N, I from 0 to N - 1, N at most %d", text, SHARDS_MAX);
    return false;
}

static bool format_read(const char *text, bool *is_ndjson)
{
    *is_ndjson = strcmp(text, "ndjson") == 0;
    if (*is_ndjson || strcmp(text, "csv") == 0)
        return true;
    log_line("--format=%s: it is ndjson or csv", text);
    return false;
}

static bool paths_check(const struct options_list *paths)
{
    struct stat status;
    if (paths->count == 0)
        log_line("index wants a PATH: a folder of profiles and dumps (--help tells more)");
    for (size_t at = 0; at < paths->count; at++) {
        if (stat(paths->items[at], &status) == 0)
            continue;
        log_line("%s: %s", paths->items[at], strerror(errno));
        return false;
    }
    return paths->count > 0;
}

static bool print(void *context, const struct rows_file *file)
{
    FILE *out = context;
    return fwrite(file->rows->data, 1, file->rows->length, out) == file->rows->length;
}

static bool write_all(struct rows_wanted *wanted, const char *out_path)
{
    struct rows_counts counts;
    struct buf heads = BUF_INIT;
    errno = 0;
    FILE *out = out_path ? fopen(out_path, "wb") : stdout;
    if (!out) {
        log_line("%s: %s", out_path, strerror(errno));
        return false;
    }
    wanted->take = print;
    wanted->context = out;
    if (!wanted->is_ndjson)
        rows_heads(&heads);
    bool is_good =
        !heads.failed && fwrite(heads.data, 1, heads.length, out) == heads.length && rows_write(wanted, &counts);
    is_good = (out_path ? fclose(out) : fflush(out)) == 0 && is_good;
    if (is_good)
        log_line("%zu rows of %zu files, %zu of them without a verdict", counts.rows, counts.files, counts.errors);
    else
        log_line("%s: %s", out_path ? out_path : "standard output", strerror(errno));
    buf_free(&heads);
    return is_good;
}

int cmd_index(const struct options *options)
{
    struct rows_wanted wanted = {0};
    char *rules = NULL;
    int status = COMMANDS_UNUSABLE;
    if (!format_read(options->format, &wanted.is_ndjson) ||
        !shard_read(options->shard, &wanted.shard, &wanted.shard_count) || !paths_check(&options->paths) ||
        !category_rules_load(options->category_rules, &rules))
        return status;
    wanted.labels = labels_new(options->labels.items, options->labels.count, options->label_paths.items,
                               options->label_paths.count, getenv("MEMVIEWD_LABELS"));
    if (wanted.labels) {
        struct index *index = index_new();
        for (size_t at = 0; at < options->paths.count; at++)
            index_add(index, options->paths.items[at]);
        index_scan_once_with_texts(index);
        struct snapshot *snapshot = index_hold(index);
        wanted.snapshot = snapshot;
        wanted.store = store_new(account_default_limit());
        store_set_category_rules(wanted.store, rules);
        status = write_all(&wanted, options->out_path) ? COMMANDS_DONE : COMMANDS_UNUSABLE;
        store_free(wanted.store);
        index_release(index, snapshot);
        index_free(index);
    }
    labels_free(wanted.labels);
    free(rules);
    return status;
}
