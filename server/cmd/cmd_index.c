/* SPDX-License-Identifier: Apache-2.0
 * cmd_index.c: what many jobs took, as rows of one table, for DuckDB, PostgreSQL, BigQuery and others. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/base/version.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/index_objects.h"
#include "server/cmd/notify_option.h"
#include "server/cmd/options.h"
#include "server/files/path_kind.h"
#include "server/fleet/catalog/catalog_write.h"
#include "server/fleet/catalog/fleet_tables.h"
#include "server/fleet/catalog/rows.h"
#include "server/fleet/catalog/rows_parquet.h"
#include "server/fleet/catalog/rows_schema.h"
#include "server/fleet/notify/notify_index.h"
#include "server/fleet/notify/regressions.h"
#include "server/gather/index.h"
#include "server/store/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARDS_MAX = 100000, VERSION_PARTS_MAX = 4, VERSION_DIGITS_MAX = 6 };

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

static bool format_read(const char *text, enum csv_form *form)
{
    static const struct {
        const char *name;
        enum csv_form form;
    } formats[] = {{"ndjson", CSV_NDJSON}, {"csv", CSV_COMMAS}, {"parquet", CSV_CELLS}};
    for (size_t at = 0; at < sizeof(formats) / sizeof(formats[0]); at++) {
        *form = formats[at].form;
        if (strcmp(formats[at].name, text) == 0)
            return true;
    }
    log_line("--format=%s: it is ndjson, csv or parquet", text);
    return false;
}

static bool paths_check(const struct options *options)
{
    const struct options_list *paths = &options->paths;
    if (paths->count == 0)
        log_line("index wants a PATH: a folder of profiles and dumps (--help tells more)");
    if (options->objects && (options->catalog || options->shard)) {
        log_line("--objects excludes --catalog and --shard: divide the objects and load the rows yourself");
        return false;
    }
    for (size_t at = 0; at < paths->count && !options->objects; at++) {
        if (path_kind_of(paths->items[at], true) == PATH_KIND_NONE)
            return false;
    }
    return paths->count > 0;
}

static bool are_files(const struct options_list *paths)
{
    bool are = true;
    for (size_t at = 0; at < paths->count; at++)
        are &= path_kind_is_file(path_kind_of(paths->items[at], false));
    return are;
}

static bool print(void *context, const struct rows_file *file)
{
    FILE *out = context;
    return output_data(out, file->rows->data, file->rows->length);
}

static bool print_parquet(void *context, const struct rows_file *file)
{
    return rows_parquet_take(context, (struct str){file->rows->data, file->rows->length});
}

/* As it is: Parquet is not for terminals, and out_open refuses them. */
static bool put_bytes(void *context, const char *bytes, size_t size) { return fwrite(bytes, 1, size, context) == size; }

/* NULL, and said, where it cannot be written. */
static FILE *out_open(const struct options *options, enum csv_form form)
{
    const char *out_path = options->out_path;
    if (!out_path && form == CSV_CELLS && isatty(STDOUT_FILENO)) {
        log_line("--format=parquet is not for a terminal: name a file, --out=rows.parquet");
        return NULL;
    }
    errno = 0;
    FILE *out = out_path ? fopen(out_path, "wb") : stdout;
    if (!out)
        log_line("%s: %s", out_path, strerror(errno));
    return out;
}

/* The rows that `objects` name; NULL: all below the paths. */
static bool rows_make(const struct options *options, struct rows_wanted *wanted, FILE *objects,
                      struct rows_counts *counts)
{
    return objects ? index_objects(options, wanted, objects) : rows_write(wanted, counts);
}

/* `is_whole`: are all rows made? False: not all of them are written. */
static bool write_parquet(const struct options *options, struct rows_wanted *wanted, FILE *out, FILE *objects,
                          struct rows_counts *counts, bool *is_whole)
{
    struct rows_parquet *file = rows_parquet_open(put_bytes, out);
    wanted->take = print_parquet;
    wanted->context = file;
    *is_whole = rows_make(options, wanted, objects, counts);
    if (*is_whole || objects) /* lines that are none take nothing from the others */
        return rows_parquet_close(file);
    rows_parquet_drop(file);
    return false;
}

static bool write_lines(const struct options *options, struct rows_wanted *wanted, FILE *out, FILE *objects,
                        struct rows_counts *counts, bool *is_whole)
{
    struct buf heads = BUF_INIT;
    wanted->take = print;
    wanted->context = out;
    if (wanted->form == CSV_COMMAS)
        rows_heads(CSV_COMMAS, &heads);
    bool is_good = !heads.failed && (heads.length == 0 || output_data(out, heads.data, heads.length));
    *is_whole = is_good && rows_make(options, wanted, objects, counts);
    is_good &= *is_whole || (objects && !ferror(out));
    buf_free(&heads);
    return is_good;
}

/* What was written is in `counts`. `objects`: see rows_make. */
static bool write_all(const struct options *options, struct rows_wanted *wanted, FILE *objects,
                      struct rows_counts *counts)
{
    const char *out_path = options->out_path;
    bool is_whole = false;
    FILE *out = out_open(options, wanted->form);
    if (!out)
        return false;
    errno = 0;
    bool is_good =
        (wanted->form == CSV_CELLS ? write_parquet : write_lines)(options, wanted, out, objects, counts, &is_whole);
    bool has_fault = ferror(out) != 0; /* else what was not to be had is memory */
    int fault = errno;
    if ((out_path ? fclose(out) : fflush(out)) != 0 && !has_fault) {
        has_fault = true;
        fault = errno;
    }
    is_good = is_good && !has_fault;
    if (!is_good)
        log_line("%s: %s", out_path ? out_path : "standard output", has_fault ? strerror(fault) : "there is no memory");
    else if (!objects)
        log_line("%zu rows of %zu files, %zu of them without a verdict", counts->rows, counts->files, counts->errors);
    return is_good && is_whole;
}

/* `--objects`: those that a file or the standard input names. */
static bool write_objects(const struct options *options, struct rows_wanted *wanted, const char *rules)
{
    struct rows_counts counts = {0};
    bool is_stdin = strcmp(options->objects, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(options->objects, "rb");
    if (!in) {
        log_line("%s: %s", options->objects, strerror(errno));
        return false;
    }
    wanted->store = store_new(account_default_limit());
    store_set_category_rules(wanted->store, rules);
    bool is_good = write_all(options, wanted, in, &counts);
    store_free(wanted->store);
    if (!is_stdin)
        fclose(in);
    return is_good;
}

/* Did the scan see all there is? A folder that cannot be listed, or a disk that is not mounted, are not files that
 * are gone. */
static bool is_whole_scan(const struct snapshot *snapshot)
{
    bool is_whole = true;
    for (size_t at = 0; at < snapshot->root_count && is_whole; at++) {
        const struct snapshot_root *root = &snapshot->roots[at];
        is_whole = root->is_readable && !root->is_missing && !root->is_cut && root->file_count > 0;
        if (!is_whole)
            log_line("%s: %s: files that are not met are not taken for gone", root->path,
                     root->reason[0] ? root->reason : "holds no profile");
    }
    for (size_t at = 0; at < snapshot->problem_count && is_whole; at++) {
        const struct snapshot_problem *problem = &snapshot->problems[at];
        size_t length = strlen(problem->file);
        is_whole = problem->why.code != ERR_io || length == 0 || problem->file[length - 1] != '/';
        if (!is_whole)
            log_line("%s: %s: files that are not met are not taken for gone", problem->file, problem->why.text);
    }
    return is_whole;
}

/* Where failures are reported; without --notify nowhere. */
struct telling {
    struct notify_index *notify;
    const struct rows_wanted *wanted;
};

static bool cmd_index_tell(void *context, const struct snapshot_session *session, const struct snapshot_text *text)
{
    const struct telling *telling = context;
    struct err err = ERR_INIT;
    const struct notice_failure failure = {telling->wanted->snapshot, session, text, telling->wanted->labels};
    if (notify_index_failure(telling->notify, &failure, &err))
        return true;
    log_line("notify: %s: %s", text->file->path, err.text);
    return false;
}

/* What was read is in `counts`. */
static bool write_catalog(struct rows_wanted *wanted, struct catalog_writer *writer, struct rows_counts *counts)
{
    struct catalog_write_counts written = {0};
    struct err err = ERR_INIT;
    const struct snapshot *snapshot = wanted->snapshot;
    wanted->form = CSV_COPY;
    wanted->is_wanted = catalog_write_is_wanted;
    wanted->had_rows = catalog_write_had_rows;
    wanted->take = catalog_write_take;
    wanted->context = writer;
    const char **logdirs = memory_new((snapshot->root_count + 1) * sizeof(*logdirs));
    for (size_t at = 0; at < snapshot->root_count; at++)
        logdirs[at] = snapshot->roots[at].path;
    bool is_good = catalog_write_begin(writer, logdirs, snapshot->root_count, wanted->shard, wanted->shard_count, &err);
    free(logdirs);
    bool is_whole = false;
    if (is_good) {
        is_good = rows_write(wanted, counts);
        is_whole = is_good && is_whole_scan(snapshot);
        is_good = catalog_write_end(writer, is_whole, &written, &err) && is_good;
    }
    if (is_good)
        log_line(
            "%zu rows of %zu files written, %zu of them without a verdict; %zu files are as they were, %zu are gone",
            written.rows, written.files, written.errors, counts->known, written.gone);
    else if (err_is_set(&err))
        log_line("--catalog: %s: %s", catalog_write_name(writer), err.text);
    if (written.unread > 0)
        log_line(
            "%zu files could not be read now, or not with all that belongs to them; %zu of them keep the rows that "
            "they had: the next run reads them again",
            written.unread, written.standing);
    if (is_good && !is_whole)
        log_line(
            "regressions in what changed wait, because not all could be listed: a run that lists all looks for them");
    return is_good;
}

static bool know_those_before(const struct regressions_wanted *wanted)
{
    struct err err = ERR_INIT;
    if (regressions_know_those_before(wanted, &err))
        return true;
    log_line("--catalog: regressions: %s", err.text);
    return false;
}

static bool look_for_regressions(const struct regressions_wanted *wanted)
{
    struct err err = ERR_INIT;
    struct regressions_counts counts;
    bool is_good = regressions_look(wanted, &counts, &err);
    if (counts.found > 0)
        log_line("%zu regression%s not known before, in %zu series whose points changed", counts.found,
                 counts.found == 1 ? "" : "s", counts.series);
    if (counts.cut > 0)
        log_line("%zu module%s of a job with more than %d points: regressions were looked for in the newest alone",
                 counts.cut, counts.cut == 1 ? "" : "s", FLEET_TABLES_MAX);
    if (!is_good)
        log_line("--catalog: regressions: %s: they are looked for again by the next run", err.text);
    return is_good;
}

/* The same, and regressions are looked for. What waits for the receiver is sent meanwhile and afterwards. */
static bool write_and_tell(struct rows_wanted *wanted, struct catalog_writer *writer, const struct webhook *webhook,
                           const char *catalog_url, struct rows_counts *counts)
{
    struct err err = ERR_INIT;
    struct telling telling = {.wanted = wanted};
    const struct regressions_wanted regressions = {
        .catalog_url = catalog_url, .store = wanted->store, .snapshot = wanted->snapshot, .is_told = webhook != NULL};
    if (webhook && !(telling.notify = notify_index_start(webhook, catalog_url, wanted->store, &err))) {
        log_line("notify: %s", err.text);
        return false;
    }
    if (webhook) {
        wanted->fails = cmd_index_tell;
        wanted->fails_context = &telling;
    }
    bool is_good =
        know_those_before(&regressions) && write_catalog(wanted, writer, counts) && look_for_regressions(&regressions);
    notify_index_end(telling.notify);
    wanted->fails = NULL;
    wanted->fails_context = NULL; /* it ends here */
    return is_good;
}

/* NULL where it cannot be reached; said. */
static struct catalog_writer *catalog_reach(const struct options *options)
{
    struct err err = ERR_INIT;
    struct catalog_writer *writer = NULL;
    if (options->out_path)
        log_line("--catalog and --out exclude each other");
    else if (!(writer = catalog_write_open(options->catalog, &err)))
        log_line("--catalog: %s", err.text);
    return writer;
}

/* "1.2.0". */
static bool is_version(const char *text)
{
    static const char digits[] = "0123456789";
    bool is = true;
    for (size_t part = 0; is; part++) {
        size_t length = strspn(text, digits);
        is = length > 0 && length <= VERSION_DIGITS_MAX && part < VERSION_PARTS_MAX;
        text += length;
        if (*text != '.')
            break;
        text++;
    }
    return is && *text == '\0';
}

static bool older_than_check(const struct options *options)
{
    if (!options->older_than)
        return true;
    if (!options->catalog)
        log_line("--reindex-older-than needs --catalog=URL: rows elsewhere are made anew each time");
    else if (!is_version(options->older_than))
        log_line("--reindex-older-than=%s: it is a version, such as %s", options->older_than, version_number);
    return options->catalog && is_version(options->older_than);
}

/* What the catalog knows of the roots before they are looked at; false: it cannot be asked. */
static bool facts_take(struct index *index, struct catalog_writer *writer, struct labels *labels,
                       const char *older_than)
{
    struct err err = ERR_INIT;
    const char **logdirs = NULL;
    size_t count = 0, capacity = 0;
    while (index_root(index, count)) {
        logdirs = memory_grow(logdirs, &capacity, count + 1, sizeof(*logdirs));
        logdirs[count] = index_root(index, count);
        count++;
    }
    const struct facts *facts = catalog_write_facts(writer, logdirs, count, older_than, &err);
    free(logdirs);
    index_set_facts(index, facts);
    labels_set_facts(labels, facts);
    if (!facts)
        log_line("--catalog: %s: %s", catalog_write_name(writer), err.text);
    return facts != NULL;
}

static bool webhook_reach(const struct options *options, struct webhook **webhook)
{
    if (options->notify_url && !options->catalog) {
        log_line("--notify needs --catalog=URL: the catalog records what is new and what was already sent");
        return false;
    }
    return notify_option_open(options, webhook);
}

static int schema_print(const char *name)
{
    struct buf out = BUF_INIT;
    bool is_known = rows_schema_write(name, &out);
    if (!is_known)
        log_line("--schema=%s: it is %s", name, rows_schema_names());
    bool is_good = is_known && !out.failed && output_data(stdout, out.data, out.length) && fflush(stdout) == 0;
    if (is_known && !is_good)
        log_line("standard output: %s", strerror(errno));
    buf_free(&out);
    return is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}

/* The files below the paths, and what they say; `writer` NULL: printed. */
static bool index_paths(const struct options *options, struct rows_wanted *wanted, struct catalog_writer *writer,
                        const struct webhook *webhook, const char *rules)
{
    struct index *index = index_new();
    for (size_t at = 0; at < options->paths.count; at++)
        index_add(index, options->paths.items[at]);
    bool is_good = !writer || facts_take(index, writer, wanted->labels, options->older_than);
    if (is_good) {
        index_keep_texts(index);
        index_scan_once_with_texts(index, false);
        struct snapshot *snapshot = index_hold(index);
        wanted->snapshot = snapshot;
        wanted->is_once = true;
        wanted->store = store_new(account_default_limit());
        store_set_category_rules(wanted->store, rules);
        struct rows_counts counts = {0};
        for (size_t at = 0; at < snapshot->root_count && !writer; at++)
            if (snapshot->roots[at].is_cut)
                log_line("%s: %s", snapshot->roots[at].path, snapshot->roots[at].reason);
        is_good = writer ? write_and_tell(wanted, writer, webhook, options->catalog, &counts)
                         : write_all(options, wanted, NULL, &counts);
        /* For a folder the rows say what could not be read. Files given as paths have to be readable. */
        bool has_other = writer || counts.unread < counts.rows; /* with a catalog what is as it was is not read again */
        is_good &= counts.unread == 0 || (has_other && !are_files(&options->paths));
        store_free(wanted->store);
        index_release(index, snapshot);
    }
    index_free(index);
    return is_good;
}

int cmd_index(const struct options *options)
{
    if (options->schema)
        return schema_print(options->schema);
    memory_set_up_to_end();
    struct catalog_writer *writer = NULL;
    struct webhook *webhook = NULL;
    struct rows_wanted wanted = {0};
    char *rules = NULL;
    bool is_good = false;
    if (!format_read(options->format, &wanted.form) ||
        !shard_read(options->shard, &wanted.shard, &wanted.shard_count) || !paths_check(options) ||
        !older_than_check(options) || !webhook_reach(options, &webhook) ||
        !category_rules_load(options->category_rules, &rules)) {
        webhook_free(webhook);
        return COMMANDS_UNUSABLE;
    }
    wanted.labels = labels_new(options->labels.items, options->labels.count, options->label_paths.items,
                               options->label_paths.count, getenv("MEMVIEWD_LABELS"));
    if (wanted.labels && options->objects)
        is_good = write_objects(options, &wanted, rules);
    else if (wanted.labels && (!options->catalog || (writer = catalog_reach(options))))
        is_good = index_paths(options, &wanted, writer, webhook, rules);
    catalog_write_close(writer);
    webhook_free(webhook);
    labels_free(wanted.labels);
    free(rules);
    return is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}
