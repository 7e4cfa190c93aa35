/* SPDX-License-Identifier: Apache-2.0
 * series.c: the view "series": call sites over several profiles in order, with
 * what becomes of each. */
#include "base/nearest.h"
#include "base/size_text.h"
#include "base/sum.h"
#include "model/device_memory/columns.h"
#include "model/finding.h"
#include "model/trend.h"
#include "views/device_memory/frames_write.h"
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"
#include "views/finding_write.h"
#include "views/table.h"

#include <stdlib.h>

struct site {
    int64_t *values; /* of each profile */
    struct trend trend;
};

struct series_listing {
    const struct tool_request *request;
    struct frames frames;
    struct model first;                    /* what all are compared with */
    const struct profile_set_item **items; /* those that are shown, in order */
    const struct pprof **profiles;         /* theirs, with equal columns */
    uint32_t count;
    int64_t *totals, *counts;
    struct sites sites;
    struct site *rows;
    size_t row_capacity;
    int64_t all_growth; /* of sites that hold more at the end */
};

/* ---- reading ---- */

struct timed {
    const struct profile_set_item *item;
    uint32_t at;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    return ORDER(a->item->captured_at_ms, b->item->captured_at_ms) ?: ORDER(a->at, b->at);
}

static bool order_profiles(struct series_listing *listing, struct err *err)
{
    const struct profile_set *set = listing->request->model;
    const char *order = tool_param_text(listing->request, "order");
    static const char *const orders[] = {"name", "time", "given"};
    size_t chosen = 0;
    struct timed *timed = arena_array(listing->request->arena, struct timed, (size_t)set->count + 1);
    if (order != NULL && order[0] != '\0' && !nearest_choose("order", "order", str_of(order), orders, 3, &chosen, err))
        return false;
    listing->items = arena_array(listing->request->arena, const struct profile_set_item *, (size_t)set->count + 1);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pprof != NULL)
            timed[listing->count] = (struct timed){&set->items[i], listing->count}, listing->count++;
    if (chosen == 1)
        qsort(timed, listing->count, sizeof(*timed), by_time);
    for (uint32_t i = 0; i < listing->count; i++)
        listing->items[i] = timed[i].item;
    return listing->count > 0 || err_set(err, ERR_notfound, ERR_NO_OFFSET, "none of the profiles could be read");
}

static struct site *site_at(struct series_listing *listing, uint32_t at)
{
    struct arena *arena = listing->request->arena;
    listing->rows = arena_grown(arena, listing->rows, (size_t)at + 1, &listing->row_capacity, sizeof(*listing->rows));
    if (listing->rows[at].values == NULL)
        listing->rows[at].values = arena_array(arena, int64_t, listing->count);
    return &listing->rows[at];
}

static bool add_profile(struct series_listing *listing, uint32_t at, struct err *err)
{
    struct model model;
    struct model_walk walk;
    if (!model_open_one(listing->request, listing->profiles[at], &listing->frames, &model, err))
        return false;
    model_walk_init(&model, &walk);
    for (uint32_t i = 0; i < model.sample_count; i++) {
        model_walk_to(&model, &model.samples[i], &walk);
        struct site *site = site_at(listing, sums_site_of(&listing->sites, &model, &walk));
        site->values[at] = pprof_add(site->values[at], model_value(&model, &model.samples[i]));
        listing->counts[at] = pprof_add(listing->counts[at], model_count(&model, &model.samples[i]));
    }
    listing->totals[at] = model.total;
    if (at == 0)
        listing->first = model;
    return true;
}

/* Why a profile is left out of the series: the first profile's first type that it lacks. NULL if it has all. */
static const char *reason_of(const struct series_listing *listing, const struct profile_set_item *item)
{
    const struct profile_set_item *first = listing->items[0];
    uint32_t type = 0;
    while (type < first->pprof->type_count && columns_find(item->pprof, first->pprof->types, type) != PPROF_NONE)
        type++;
    if (type == first->pprof->type_count)
        return NULL;
    const struct pprof_type *wanted = &first->pprof->types[type];
    return arena_format(listing->request->arena, "it has no sample type \"%.*s\" that can be told in %.*s, as %s has",
                        (int)wanted->name.length, wanted->name.data, (int)wanted->unit.length, wanted->unit.data,
                        first->name);
}

/* Profiles without the types of the first are removed; the others use the finest units, as pprof does. */
static void make_alike(struct series_listing *listing)
{
    struct arena *arena = listing->request->arena;
    const struct pprof *first = listing->items[0]->pprof;
    uint32_t kept = 0;
    listing->profiles = arena_array(arena, const struct pprof *, listing->count);
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct profile_set_item *item = listing->items[i];
        const char *reason = reason_of(listing, item);
        if (reason != NULL) {
            tool_note(listing->request, "left_out", 1, arena_format(arena, "%s is left out: %s.", item->name, reason));
            continue;
        }
        listing->profiles[kept] = item->pprof;
        listing->items[kept++] = item;
    }
    listing->count = kept;
    struct pprof_type *types = arena_array(arena, struct pprof_type, (size_t)first->type_count + 1);
    for (uint32_t type = 0; type < first->type_count; type++)
        types[type] = (struct pprof_type){first->types[type].name,
                                          columns_finest_unit(listing->profiles, kept, first->types, type)};
    for (uint32_t i = 0; i < kept; i++)
        listing->profiles[i] = columns_as(listing->profiles[i], types, first->type_count, arena);
}

static bool read_all(struct series_listing *listing, struct err *err)
{
    enum frames_by by;
    if (!frames_by_read(tool_param_text(listing->request, "by"), &by, err) || !order_profiles(listing, err))
        return false;
    make_alike(listing);
    frames_init(&listing->frames, by, listing->request->arena);
    sums_sites_init(&listing->sites, listing->request->arena);
    listing->totals = arena_array(listing->request->arena, int64_t, listing->count);
    listing->counts = arena_array(listing->request->arena, int64_t, listing->count);
    for (uint32_t i = 0; i < listing->count; i++)
        if (!add_profile(listing, i, err))
            return false;
    for (uint32_t i = 0; i < listing->sites.table.count; i++) {
        listing->rows[i].trend = trend_of(listing->rows[i].values, listing->count);
        if (listing->rows[i].trend.change > 0)
            listing->all_growth = pprof_add(listing->all_growth, listing->rows[i].trend.change);
    }
    return true;
}

/* ---- columns ---- */

/* What a row is about. */
struct line {
    const struct series_listing *listing;
    const struct site *site;
    const struct sites_key *key;
    const struct frame *frame;
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct series_listing *listing = context;
    const struct sites_key *key = &listing->sites.keys[row];
    return (struct line){listing, &listing->rows[row], key, &listing->frames.items[key->frame]};
}

static struct str name_text(const struct line *line)
{
    struct buf *scratch = line->listing->request->scratch;
    frames_full_name(&line->listing->frames, line->key->frame, scratch);
    if (line->key->callee.length > 0) {
        buf_char(scratch, ' ');
        buf_add(scratch, line->key->callee.data, line->key->callee.length);
    }
    return (struct str){scratch->data, scratch->length};
}

static double share_of(const struct line *line)
{
    int64_t growth = line->site->trend.change;
    return growth > 0 ? model_percent(growth, line->listing->all_growth) : 0;
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(callee, table_text_if_any(line.key->callee))
VALUE(verdict, table_text(str_of(trend_kind_name(line.site->trend.kind))))
VALUE(rank, table_real(trend_rank(&line.site->trend)))
VALUE(first, table_integer(line.site->values[0]))
VALUE(last, table_integer(line.site->values[line.listing->count - 1]))
VALUE(change, table_integer(line.site->trend.change))
VALUE(slope, table_real(line.site->trend.slope))
VALUE(share, table_real(share_of(&line)))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(name, table_text(name_text(&line)))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(&line.listing->frames, line.key->frame, line.listing->request->scratch, json);
}

static void values_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    json_array_begin(json);
    for (uint32_t i = 0; i < line.listing->count; i++)
        json_int(json, line.site->values[i]);
    json_array_end(json);
}

static void value_cells(struct csv *csv, const void *context, uint32_t row)
{
    const struct series_listing *listing = context;
    for (uint32_t i = 0; i < listing->count; i++) {
        if (row == TABLE_HEAD)
            csv_text(csv, str_of(listing->items[i]->name));
        else
            csv_int(csv, listing->rows[row].values[i]);
    }
}

static const struct table_column columns[] = {
    {COLUMN_TEXT("", NULL), .write = frame_write, .json = "frame"},
    {COLUMN_TEXT("callee", callee), .json = "callee"},
    {COLUMN_TEXT("verdict", verdict), .json = "verdict", .csv = "verdict", .title = "Verdict",
     .help = "verdict:grows, steps_once, irregular, shrinks, steady"},
    {COLUMN_NUMBER("growth", rank, NULL), .is_main = true},
    {COLUMN_TEXT("name", name), .is_searched = true, .csv = "call_site", .title = "Call site",
     .help = "function, file and line; * matches any text"},
    {COLUMN_TEXT("file", file), .title = "File:line", .help = "path of the source file"},
    {COLUMN_NUMBER("first", first, "metric"), .json = "first", .csv = "first", .title = "First",
     .help = "in the first profile"},
    {COLUMN_NUMBER("last", last, "metric"), .json = "last", .csv = "last", .title = "Last",
     .help = "in the last profile"},
    {COLUMN_NUMBER("change", change, "metric"), .json = "change", .csv = "change", .title = "Change",
     .help = "from the first to the last: change:>1MiB"},
    {COLUMN_NUMBER("slope", slope, "metric_per_profile"), .json = "slope", .csv = "slope_per_profile",
     .title = "Slope/profile", .help = "of a line through all"},
    {COLUMN_NUMBER("share", share, "percent"), .json = "share", .csv = "share_percent", .title = "Of growth",
     .help = "percent of all that grew"},
    {COLUMN_TEXT("", NULL), .write = values_write, .cells = value_cells, .json = "values", .title = "First … last"},
    {COLUMN_TEXT("fn", function), .aliases = "function", .help = "name of the function"},
    {COLUMN_NUMBER("line", number, NULL), .help = "line in the source file"},
    {.name = NULL},
};
static const struct table_spec spec = {columns, .sort = "-growth,-last,name", .limit_max = UINT32_MAX};

/* ---- output ---- */

static void write_profiles(const struct series_listing *listing, struct json *json)
{
    const struct profile_set *set = listing->request->model;
    json_key_array(json, "profiles");
    for (uint32_t i = 0; i < listing->count; i++) {
        json_object_begin(json);
        json_key_text(json, "id", listing->items[i]->id);
        json_key_text(json, "name", listing->items[i]->name);
        json_key_known(json, "captured_at_ms",
                       listing->items[i]->captured_at_ms > 0 ? listing->items[i]->captured_at_ms : -1);
        json_key_text(json, "words", listing->items[i]->moment != NULL ? listing->items[i]->moment->words : NULL);
        json_key_int(json, "total", listing->totals[i]);
        json_key_int(json, "count", listing->counts[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "left_out");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_set_item *item = &set->items[i];
        const char *reason = item->pprof != NULL ? reason_of(listing, item) : item->reason;
        if (item->pprof != NULL && reason == NULL)
            continue;
        json_object_begin(json);
        json_key_text(json, "id", item->id);
        json_key_text(json, "name", item->name);
        json_key_text(json, "code", item->pprof != NULL ? "sample_types" : item->code);
        json_key_text(json, "reason", reason);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_verdicts(const struct series_listing *listing, struct json *json)
{
    uint32_t counts[TREND_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < listing->sites.table.count; i++)
        counts[listing->rows[i].trend.kind]++;
    json_key_object(json, "verdict_counts");
    for (int verdict = 0; verdict < TREND_KIND_COUNT; verdict++)
        json_key_uint(json, trend_kind_name((enum trend_kind)verdict), counts[verdict]);
    json_object_end(json);
}

/* the first finding */

/* A change of the metric: bytes as sizes, other values as they are. */
static void say_change(const struct series_listing *listing, struct finding *finding, int64_t change)
{
    char count[COUNT_TEXT_BYTES];
    bool is_bytes = str_equal(listing->first.pprof->types[listing->first.metric].unit, STR("bytes"));
    uint64_t size = change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
    if (is_bytes)
        finding_change(finding, change);
    else
        finding_text(finding, "%s%s",
                     change > 0   ? "+"
                     : change < 0 ? "\xE2\x88\x92"
                                  : "",
                     size_text_count(count, size));
}

/* The site that grows most in all, and how many do. */
static uint32_t growing_find(const struct series_listing *listing, uint32_t *count)
{
    uint32_t most = UINT32_MAX;
    *count = 0;
    for (uint32_t i = 0; i < listing->sites.table.count; i++) {
        const struct trend *trend = &listing->rows[i].trend;
        if (trend->kind != TREND_GROWS)
            continue;
        ++*count;
        if (most == UINT32_MAX || trend->change > listing->rows[most].trend.change)
            most = i;
    }
    return most;
}

/* "anotherfunc leak.py:14 › normal" */
static struct str site_words(const struct series_listing *listing, uint32_t at)
{
    const struct sites_key *key = &listing->sites.keys[at];
    struct buf *scratch = listing->request->scratch;
    scratch->length = 0;
    frames_add_short_name(&listing->frames, key->frame, scratch);
    if (key->callee.length > 0) {
        buf_text(scratch, " \xE2\x80\xBA ");
        buf_add(scratch, key->callee.data, key->callee.length);
    }
    return (struct str){scratch->data, scratch->length};
}

/* What they are called. */
static const char *noun(const struct series_listing *listing)
{
    return listing->items[0]->moment != NULL ? "moments" : "profiles";
}

/* Does it grow by more each time, at last by twice as much as at first? Of four values and more. */
static bool is_faster_each_time(const int64_t *values, uint32_t count)
{
    enum { VALUES_LEAST = 4, TIMES = 2 };
    if (count < VALUES_LEAST)
        return false;
    int64_t first = pprof_add(values[1], pprof_negated(values[0])), change = first;
    for (uint32_t i = 2; i < count; i++) {
        int64_t next = pprof_add(values[i], pprof_negated(values[i - 1]));
        if (next < change)
            return false;
        change = next;
    }
    return first > 0 && change / TIMES >= first;
}

static const struct finding *growth_finding(const struct series_listing *listing, uint32_t most, uint32_t growing_count)
{
    char growing[COUNT_TEXT_BYTES], profiles[COUNT_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    const struct trend *trend = &listing->rows[most].trend;
    struct finding *finding = finding_begin(listing->request->arena, "grows", "series");
    finding_text(finding, "%s call %s over %s %s: %s", size_text_count(growing, growing_count),
                 growing_count == 1 ? "site grows" : "sites grow", size_text_count(profiles, listing->count),
                 noun(listing), growing_count > 1 ? "most " : "");
    finding_name(finding, site_words(listing, most));
    const int64_t *values = listing->rows[most].values;
    if (is_faster_each_time(values, listing->count)) {
        finding_text(finding, ", faster each time: ");
        say_change(listing, finding, values[1] - values[0]);
        finding_text(finding, " at first, ");
        say_change(listing, finding, values[listing->count - 1] - values[listing->count - 2]);
        finding_text(finding, " at last");
    } else {
        finding_text(finding, ", ");
        say_change(listing, finding, sum_of_real(trend->slope < 0 ? trend->slope - 0.5 : trend->slope + 0.5));
        finding_text(finding, " each");
    }
    size_text_share(share, trend->change, listing->all_growth);
    if (listing->all_growth > 0)
        finding_text(finding, ", %s of the growth", share);
    return finding_end(finding);
}

/* Ranks of a job are side by side: there is no growth from one to the next. */
static bool are_of_several(const struct series_listing *listing)
{
    bool are_several = false;
    for (uint32_t i = 1; i < listing->count; i++)
        are_several |= listing->items[i]->moment != NULL && listing->items[0]->moment != NULL &&
                       listing->items[i]->moment->source != listing->items[0]->moment->source;
    return are_several;
}

/* Moments within steps differ by what a step does: that is no trend. */
static bool are_between_steps(const struct series_listing *listing)
{
    return listing->items[0]->moment != NULL && !str_starts(str_of(listing->items[0]->moment->text), STR("step"));
}

/* NULL of one profile, of several snapshots and of moments within steps. */
static const struct finding *finding_of(const struct series_listing *listing)
{
    char count[COUNT_TEXT_BYTES];
    uint32_t growing_count, most = growing_find(listing, &growing_count);
    int64_t change = pprof_add(listing->totals[listing->count - 1], pprof_negated(listing->totals[0]));
    if (listing->count < 2 || are_of_several(listing) || are_between_steps(listing))
        return NULL;
    if (growing_count > 0)
        return growth_finding(listing, most, growing_count);
    bool is_two = listing->count == 2;
    struct finding *finding = finding_begin(listing->request->arena, is_two ? "too_few" : "level", "series");
    if (is_two)
        finding_text(finding, "2 %s: change ", noun(listing));
    else
        finding_text(finding, "no call site grows over %s %s; the total %s", size_text_count(count, listing->count),
                     noun(listing), change == 0 ? "is the same at both ends" : "changes by ");
    if (is_two || change != 0)
        say_change(listing, finding, change);
    if (is_two)
        finding_text(finding, "; a trend needs 3");
    return finding_end(finding);
}

static void write_json(const struct series_listing *listing, const struct table_rows *rows, struct json *json)
{
    int64_t *rest = arena_array(listing->request->arena, int64_t, listing->count);
    memcpy(rest, listing->totals, listing->count * sizeof(*rest));
    model_begin(&listing->first, json);
    write_profiles(listing, json);
    json_key_int(json, "growth", pprof_add(listing->totals[listing->count - 1], pprof_negated(listing->totals[0])));
    finding_write(json, finding_of(listing));
    table_head_write(rows, json);
    write_verdicts(listing, json);
    table_rows_write(rows, "sites", json);
    for (uint32_t i = rows->first; i < rows->end; i++)
        for (uint32_t at = 0; at < listing->count; at++)
            rest[at] = pprof_add(rest[at], pprof_negated(listing->rows[table_row_at(rows, i)].values[at]));
    json_key_array(json, "rest");
    for (uint32_t at = 0; at < listing->count; at++)
        json_int(json, rest[at]);
    json_array_end(json);
    json_object_end(json);
}

bool device_memory_series(const struct tool_request *request, struct json *json, struct err *err)
{
    struct series_listing *listing = arena_array(request->arena, struct series_listing, 1);
    struct table_rows rows;
    listing->request = request;
    if (!table_read(&rows, request, &spec, listing, err) || !read_all(listing, err))
        return false;
    table_take_all(&rows, listing->sites.table.count);
    if (table_is_lines(&rows))
        table_lines_write(&rows, NULL);
    else
        write_json(listing, &rows, json);
    model_notes(&listing->first);
    return true;
}
