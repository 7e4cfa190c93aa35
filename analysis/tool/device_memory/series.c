/* SPDX-License-Identifier: Apache-2.0
 * series.c: the view "series": call sites over several profiles in order, with
 * what becomes of each. */
#include "base/csv.h"
#include "tool/device_memory/columns.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/views.h"
#include "tool/device_memory/order.h"
#include "tool/device_memory/trend.h"
#include "tool/device_memory/sites.h"

#include <stdlib.h>

struct site {
    int64_t *values; /* of each profile */
    struct trend trend;
};

struct listing {
    const struct tool_request *request;
    struct frames frames;
    struct study first;  /* what all are compared with */
    const struct profile_set_item **items; /* those that are shown, in order */
    const struct pprof **profiles;         /* theirs, with equal columns */
    uint32_t count;
    int64_t *totals, *counts, *percent_bases;
    struct sites sites;
    struct site *rows;
    size_t row_capacity;
    int64_t all_growth; /* of sites that hold more at the end */
};

enum field { GROWTH, CHANGE, FIRST, LAST, SLOPE, SHARE, LINE, VERDICT, FUNCTION, FILE_NAME, NAME, FIELD_COUNT };

static const struct filter_field fields[FIELD_COUNT + 1] = {
    [GROWTH] = {"growth", FILTER_NUMBER, false}, [CHANGE] = {"change", FILTER_NUMBER, false}, [FIRST] = {"first", FILTER_NUMBER, false},
    [LAST] = {"last", FILTER_NUMBER, false},     [SLOPE] = {"slope", FILTER_NUMBER, false},   [SHARE] = {"share", FILTER_NUMBER, false},
    [LINE] = {"line", FILTER_NUMBER, false},     [VERDICT] = {"verdict", FILTER_TEXT, false}, [FUNCTION] = {"fn", FILTER_TEXT, false},
    [FILE_NAME] = {"file", FILTER_TEXT, false},  [NAME] = {"name", FILTER_TEXT, true},        [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};

static double share_of(const struct listing *listing, uint32_t row)
{
    int64_t change = listing->rows[row].trend.change;
    return change > 0 ? study_percent(change, listing->all_growth) : 0;
}

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct listing *listing = context;
    const struct site *site = &listing->rows[row];
    switch ((enum field)field) {
    case GROWTH: *value = trend_rank(&site->trend); return true;
    case CHANGE: *value = (double)site->trend.change; return true;
    case FIRST: *value = (double)site->values[0]; return true;
    case LAST: *value = (double)site->values[listing->count - 1]; return true;
    case SLOPE: *value = site->trend.slope; return true;
    case SHARE: *value = share_of(listing, row); return true;
    case LINE: *value = (double)listing->frames.items[listing->sites.keys[row].frame].line; return true;
    default: return false;
    }
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct listing *listing = context;
    const struct sites_key *key = &listing->sites.keys[row];
    struct buf *scratch = listing->request->scratch;
    if (field == VERDICT)
        return str_of(trend_verdict_name(listing->rows[row].trend.verdict));
    if (field == FUNCTION)
        return listing->frames.items[key->frame].function;
    if (field == FILE_NAME)
        return listing->frames.items[key->frame].file;
    frames_full_name(&listing->frames, key->frame, scratch);
    if (key->callee.length > 0) {
        buf_char(scratch, ' ');
        buf_add(scratch, key->callee.data, key->callee.length);
    }
    return (struct str){scratch->data, scratch->length};
}

/* ---- reading ---- */

struct timed {
    const struct profile_set_item *item;
    uint32_t at;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    if (a->item->captured_at_ms != b->item->captured_at_ms)
        return a->item->captured_at_ms < b->item->captured_at_ms ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static bool order_profiles(struct listing *listing, struct err *err)
{
    const struct profile_set *set = listing->request->profiles;
    const char *order = tool_param_text(listing->request, "order");
    struct timed *timed = arena_array(listing->request->arena, struct timed, (size_t)set->count + 1);
    bool is_time = order != NULL && strcmp(order, "time") == 0;
    if (order != NULL && order[0] != '\0' && !is_time && strcmp(order, "name") != 0 && strcmp(order, "given") != 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "order: \"%.40s\" is none of name, time, given", order);
    listing->items = arena_array(listing->request->arena, const struct profile_set_item *, (size_t)set->count + 1);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pprof != NULL)
            timed[listing->count] = (struct timed){&set->items[i], listing->count}, listing->count++;
    if (is_time)
        qsort(timed, listing->count, sizeof *timed, by_time);
    for (uint32_t i = 0; i < listing->count; i++)
        listing->items[i] = timed[i].item;
    return listing->count > 0 || err_set(err, ERR_notfound, ERR_NO_OFFSET, "none of the profiles could be read");
}

static struct site *site_at(struct listing *listing, uint32_t at)
{
    struct arena *arena = listing->request->arena;
    listing->rows = arena_grown(arena, listing->rows, (size_t)at + 1, &listing->row_capacity, sizeof *listing->rows);
    if (listing->rows[at].values == NULL)
        listing->rows[at].values = arena_array(arena, int64_t, listing->count);
    return &listing->rows[at];
}

static bool add_profile(struct listing *listing, uint32_t at, struct err *err)
{
    struct study study;
    struct study_walk walk;
    if (!study_open_one(listing->request, listing->profiles[at], &listing->frames, &study, err))
        return false;
    study_walk_init(&study, &walk);
    for (uint32_t i = 0; i < study.sample_count; i++) {
        study_walk_to(&study, &study.samples[i], &walk);
        struct site *site = site_at(listing, sites_of(&listing->sites, &study, &walk));
        site->values[at] = pprof_add(site->values[at], study_value(&study, &study.samples[i]));
        listing->counts[at] = pprof_add(listing->counts[at], study_count(&study, &study.samples[i]));
    }
    listing->totals[at] = study.total;
    if (at == 0)
        listing->first = study;
    return true;
}

/* Why a profile does not stand in the series: the first type of the first that it has not. NULL when it has all. */
static const char *reason_of(const struct listing *listing, const struct profile_set_item *item)
{
    const struct profile_set_item *first = listing->items[0];
    uint32_t type = 0;
    while (type < first->pprof->type_count && columns_find(item->pprof, first->pprof->types, type) != PPROF_NONE)
        type++;
    if (type == first->pprof->type_count)
        return NULL;
    const struct pprof_type *wanted = &first->pprof->types[type];
    return arena_format(listing->request->arena, "it has no sample type \"%.*s\" that can be told in %.*s, as %s has", (int)wanted->name.length,
                        wanted->name.data, (int)wanted->unit.length, wanted->unit.data, first->name);
}

/* Profiles without the types of the first leave; the others are told in the finest units, as pprof does it. */
static void make_alike(struct listing *listing)
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
        types[type] = (struct pprof_type){first->types[type].name, columns_finest_unit(listing->profiles, kept, first->types, type)};
    for (uint32_t i = 0; i < kept; i++)
        listing->profiles[i] = columns_as(listing->profiles[i], types, first->type_count, arena);
}

static bool read_all(struct listing *listing, struct err *err)
{
    const char *by_text = tool_param_text(listing->request, "by");
    enum frames_by by = FRAMES_BY_LINE;
    if (by_text != NULL && by_text[0] != '\0' && !frames_by_read(by_text, &by))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "by: \"%.40s\" is none of function, filefunction, file, line", by_text);
    if (!order_profiles(listing, err))
        return false;
    make_alike(listing);
    frames_init(&listing->frames, by, listing->request->arena);
    sites_init(&listing->sites, listing->request->arena);
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

/* ---- output ---- */

static void write_profiles(const struct listing *listing, struct json *json)
{
    const struct profile_set *set = listing->request->profiles;
    json_key(json, "profiles");
    json_array_begin(json);
    for (uint32_t i = 0; i < listing->count; i++) {
        json_object_begin(json);
        json_key_text(json, "id", listing->items[i]->id);
        json_key_text(json, "name", listing->items[i]->name);
        json_key_known(json, "captured_at_ms", listing->items[i]->captured_at_ms > 0 ? listing->items[i]->captured_at_ms : -1);
        json_key_int(json, "total", listing->totals[i]);
        json_key_int(json, "count", listing->counts[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_key(json, "left_out");
    json_array_begin(json);
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

static void write_verdicts(const struct listing *listing, struct json *json)
{
    uint32_t counts[TREND_VERDICT_COUNT] = {0};
    for (uint32_t i = 0; i < listing->sites.table.count; i++)
        counts[listing->rows[i].trend.verdict]++;
    json_key(json, "verdict_counts");
    json_object_begin(json);
    for (int verdict = 0; verdict < TREND_VERDICT_COUNT; verdict++)
        json_key_uint(json, trend_verdict_name((enum trend_verdict)verdict), counts[verdict]);
    json_object_end(json);
}

static void write_site(const struct listing *listing, uint32_t row, struct json *json)
{
    const struct site *site = &listing->rows[row];
    struct study shown = listing->first;
    shown.frames = (struct frames *)(uintptr_t)&listing->frames;
    json_object_begin(json);
    sites_write(&listing->sites, row, &shown, json);
    json_key_text(json, "verdict", trend_verdict_name(site->trend.verdict));
    json_key_int(json, "first", site->values[0]);
    json_key_int(json, "last", site->values[listing->count - 1]);
    json_key_int(json, "change", site->trend.change);
    json_key(json, "slope");
    json_double(json, site->trend.slope);
    json_key(json, "share");
    json_double(json, share_of(listing, row));
    json_key(json, "values");
    json_array_begin(json);
    for (uint32_t i = 0; i < listing->count; i++)
        json_int(json, site->values[i]);
    json_array_end(json);
    json_object_end(json);
}

static void write_csv(const struct listing *listing, const struct order *order, const struct order_rows *rows)
{
    struct csv csv = CSV_INIT(listing->request->out);
    const char *const heads[] = {"verdict", "call_site", "first", "last", "change", "slope_per_profile", "share_percent"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        csv_text(&csv, str_of(heads[i]));
    for (uint32_t i = 0; i < listing->count; i++)
        csv_text(&csv, str_of(listing->items[i]->name));
    csv_row_end(&csv);
    for (int64_t i = order->offset; i < order->offset + order->limit && i < rows->count; i++) {
        uint32_t row = rows->rows[i];
        const struct site *site = &listing->rows[row];
        csv_text(&csv, str_of(trend_verdict_name(site->trend.verdict)));
        csv_text(&csv, text_of(listing, row, NAME));
        csv_int(&csv, site->values[0]);
        csv_int(&csv, site->values[listing->count - 1]);
        csv_int(&csv, site->trend.change);
        csv_double(&csv, site->trend.slope);
        csv_double(&csv, share_of(listing, row));
        for (uint32_t at = 0; at < listing->count; at++)
            csv_int(&csv, site->values[at]);
        csv_row_end(&csv);
    }
}

static void write_json(const struct listing *listing, const struct order *order, const struct order_rows *rows, struct json *json)
{
    int64_t *rest = arena_array(listing->request->arena, int64_t, listing->count);
    memcpy(rest, listing->totals, listing->count * sizeof *rest);
    json_object_begin(json);
    study_write(&listing->first, json);
    write_profiles(listing, json);
    json_key_int(json, "growth", pprof_add(listing->totals[listing->count - 1], pprof_negated(listing->totals[0])));
    json_key_uint(json, "site_count", listing->sites.table.count);
    json_key_uint(json, "matched_count", rows->count);
    json_key_int(json, "offset", order->offset);
    write_verdicts(listing, json);
    json_key(json, "sites");
    json_array_begin(json);
    for (int64_t i = order->offset; i < order->offset + order->limit && i < rows->count; i++) {
        write_site(listing, rows->rows[i], json);
        for (uint32_t at = 0; at < listing->count; at++)
            rest[at] = pprof_add(rest[at], pprof_negated(listing->rows[rows->rows[i]].values[at]));
    }
    json_array_end(json);
    json_key(json, "rest");
    json_array_begin(json);
    for (uint32_t at = 0; at < listing->count; at++)
        json_int(json, rest[at]);
    json_array_end(json);
    json_object_end(json);
}

bool device_memory_series(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing *listing = arena_array(request->arena, struct listing, 1);
    struct filter_table table = {fields, text_of, number_of, listing};
    struct order order;
    listing->request = request;
    if (!order_read(request, &table, "-growth,-last,name", &order, err) || !read_all(listing, err))
        return false;
    struct order_rows rows = order_rows(request, &order, listing->sites.table.count);
    if (order.format == ORDER_JSON)
        write_json(listing, &order, &rows, json);
    else
        write_csv(listing, &order, &rows);
    device_memory_notes_add(&listing->first);
    return true;
}
