/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": what all modules of a session come to, in sentences: the largest, hosts that differ,
 * and what adding up would mean. */
#include "base/size_text.h"
#include "base/sum.h"
#include "model/fleet/odd_hosts.h"
#include "views/modules/views.h"

#include <stdlib.h>

enum { OUTLIERS_MAX = 1000, NAME_MAX = 120 };

#define SIZE(bytes) size_text((char[SIZE_TEXT_BYTES]){0}, (uint64_t)(bytes))
#define COUNT(count) size_text_count((char[COUNT_TEXT_BYTES]){0}, (uint64_t)(count))
#define PLURAL(count) ((count) == 1 ? "" : "s")

static struct str summary_cut(const char *name) { return (struct str){name, str_cut(str_of(name), NAME_MAX)}; }

/* ---- the largest ---- */

static const struct overview_row *largest_row(const struct overview *overview)
{
    const struct overview_row *largest = NULL;
    for (uint32_t i = 0; i < overview->row_count; i++) {
        const struct overview_row *row = &overview->rows[i];
        if (row->space != NULL && row->space_number == overview->main_space &&
            (largest == NULL || row->space->total_bytes > largest->space->total_bytes))
            largest = row;
    }
    return largest;
}

static struct memory_fit *fit_of(const struct overview *overview, const struct overview_row *row)
{
    const struct memory_capacity capacity = overview_device(overview, row);
    struct memory_fit *fit = arena_array(overview->arena, struct memory_fit, 1);
    memory_fit_judge(&capacity, row->space->total_bytes, row->space_name, overview->arena, fit);
    return fit;
}

static void largest_say(const struct overview *overview, const struct overview_row *row, struct buf *out)
{
    int64_t capacity = overview_capacity(overview, row), total = row->space->total_bytes;
    struct memory_fit *fit = fit_of(overview, row);
    struct str name = summary_cut(overview_item(overview, row)->name);
    buf_format(out, "; the largest is %.*s: ", (int)name.length, name.data);
    if (fit->word != MEMORY_FIT_NOT_KNOWN && fit->word != MEMORY_FIT_FITS)
        buf_format(out, "n%s", fit->sentence + 1); /* "needs …" */
    else if (capacity == 0)
        buf_format(out, "%s of %s%s", SIZE(total), row->space_name,
                   row->space_number == 0 ? "; capacity not known." : ".");
    else
        buf_format(out, "%s of %s, %s of %s.", SIZE(total), row->space_name,
                   size_text_share((char[SHARE_TEXT_BYTES]){0}, total, capacity), SIZE(capacity));
}

static void main_say(const struct overview *overview, const struct overview_row *largest, struct buf *out)
{
    if (overview->group_count == 0) {
        buf_text(out, "This session has no modules.");
        return;
    }
    buf_format(out, "%s module%s", COUNT(overview->group_count), PLURAL(overview->group_count));
    if (overview->set->host_count > 0)
        buf_format(out, " on %s host%s", COUNT(overview->set->host_count), PLURAL(overview->set->host_count));
    if (largest != NULL)
        largest_say(overview, largest, out);
    else
        buf_text(out, overview->unread_count > 0 ? "; none is read yet." : "; nothing is known of their memory.");
    if (overview->failed_count > 0)
        buf_format(out, " %s cannot be read; %s why.", COUNT(overview->failed_count),
                   overview->failed_count == 1 ? "its row says" : "their rows say");
}

static void largest_write(const struct overview *overview, const struct overview_row *row, struct json *json)
{
    if (row == NULL)
        return;
    const struct module_item *item = overview_item(overview, row);
    json_key_object(json, "largest");
    json_key_text(json, "module_id", item->id);
    json_key_text(json, "module", item->name);
    json_key_text(json, "host", item->host_id);
    json_key_int(json, "space", row->space_number);
    json_key_text(json, "space_name", row->space_name);
    json_key_int(json, "total_bytes", row->space->total_bytes);
    memory_fit_write(json, "fit", fit_of(overview, row));
    json_object_end(json);
}

/* ---- hosts ---- */

static bool summary_differs(const struct overview_host *host)
{
    return host->reason != NULL || host->outlier_count > 0 || host->missing_count > 0 || host->failed_count > 0;
}

static int64_t summary_magnitude(int64_t value) { return value < 0 ? -value : value; }

static int worst_first(const void *left, const void *right)
{
    const struct overview_host *a = left, *b = right;
    return ORDER(summary_magnitude(b->difference_bytes), summary_magnitude(a->difference_bytes)) ?:
           ORDER(b->outlier_count, a->outlier_count) ?: ORDER(b->missing_count, a->missing_count) ?:
           ORDER(b->failed_count, a->failed_count) ?: ORDER(a->item, b->item);
}

/* The hosts that have the module of a row, as odd_hosts.h judges them. */
static struct odd_host *judged(const struct overview *overview, const struct overview_row *row)
{
    const struct overview_group *group = &overview->groups[row->group];
    struct odd_host *hosts = arena_array(overview->arena, struct odd_host, (size_t)group->count + 1);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct module_item *item = &overview->set->items[overview->order[group->first + i]];
        const struct module_space *space = item->figures ? figures_space(item->figures, row->space_number) : NULL;
        hosts[i] = (struct odd_host){.name = item->host,
                                     .program = item->key,
                                     .needed_bytes = space != NULL ? space->total_bytes : -1,
                                     .capacity_bytes = overview->capacity_bytes > 0 ? -1 : item->capacity.bytes};
    }
    odd_hosts_judge(hosts, group->count, arena_array(overview->arena, int64_t, 2 * (size_t)group->count + 1));
    return hosts;
}

/* Why hosts are odd: those with another limit, and of those whose figures differ where they do so most. Figures of
 * equal programs are equal to the byte: what differs by less than noise is another plan, too. */
static void reasons_find(const struct overview *overview, struct overview_host *hosts)
{
    for (uint32_t at = 0; at < overview->row_count; at++) {
        const struct overview_row *row = &overview->rows[at];
        const struct overview_group *group = &overview->groups[row->group];
        if (!row->has_space || row->space_number != overview->main_space || group->count < 2)
            continue;
        const struct odd_host *odd = judged(overview, row);
        for (uint32_t i = 0; i < group->count; i++) {
            struct overview_host *host = &hosts[overview->host_of[overview->order[group->first + i]]];
            bool is_limit = odd[i].reason == ODD_HOST_LIMIT;
            if (is_limit)
                host->limit_bytes = odd[i].capacity_bytes;
            if (is_limit || (host->row == at && host->limit_bytes < 0))
                host->reason = odd_hosts_reason(odd[i].reason != ODD_HOST_NOT ? odd[i].reason : ODD_HOST_PLAN);
        }
    }
}

/* "host3 differs: another plan, jit_step needs 410.00 MiB more than on most hosts." */
static void host_say(const struct overview *overview, const struct overview_host *host, struct buf *out)
{
    struct str name = summary_cut(overview->set->items[host->item].host);
    buf_format(out, "%.*s differs: ", (int)name.length, name.data);
    if (host->reason != NULL)
        buf_format(out, "%s, ", host->reason);
    if (host->limit_bytes >= 0)
        buf_text(out, SIZE(host->limit_bytes));
    if (host->limit_bytes >= 0 && host->outlier_count > 0)
        buf_text(out, "; ");
    if (host->row != OVERVIEW_NONE && host->difference_bytes != 0) {
        struct str module = summary_cut(overview_item(overview, &overview->rows[host->row])->name);
        buf_format(out, "%.*s needs %s %s than on most hosts", (int)module.length, module.data,
                   SIZE(summary_magnitude(host->difference_bytes)), host->difference_bytes > 0 ? "more" : "less");
    } else if (host->outlier_count > 0) {
        buf_format(out, "%s figure%s are not those of most hosts", COUNT(host->outlier_count),
                   PLURAL(host->outlier_count));
    } else if (host->limit_bytes >= 0) {
        /* said */
    } else if (host->missing_count > 0) {
        buf_format(out, "it has not %s of the modules that most hosts have", COUNT(host->missing_count));
    } else {
        buf_format(out, "%s of its modules cannot be read", COUNT(host->failed_count));
    }
    buf_char(out, '.');
}

/* Are there several to be compared? Only traces have hosts. */
static bool has_hosts(const struct overview *overview)
{
    return overview->host_count > 1 && overview->set->items[overview->hosts[0].item].host != NULL;
}

static const char *hosts_text(const struct overview *overview, const struct overview_host *hosts, uint32_t count)
{
    struct buf *out = overview->scratch;
    out->length = 0;
    if (!has_hosts(overview))
        return NULL;
    if (count > 0)
        host_say(overview, &hosts[0], out);
    else if (overview->unread_count > 0)
        buf_text(out, "As far as they are read the hosts are alike.");
    else
        buf_format(out, "All %s hosts are alike.", COUNT(overview->host_count));
    if (count > 1)
        buf_format(out, " %s more host%s differ%s.", COUNT(count - 1), PLURAL(count - 1), count == 2 ? "s" : "");
    uint64_t without_count = overview->set->host_count - overview->host_count;
    if (overview->set->host_count > overview->host_count)
        buf_format(out, " %s host%s no module.", COUNT(without_count), without_count == 1 ? " holds" : "s hold");
    return arena_text(overview->arena, (struct str){out->data, out->length});
}

static void host_write(const struct overview *overview, const struct overview_host *host, struct json *json)
{
    const struct module_item *item = &overview->set->items[host->item];
    const struct module_item *module =
        host->row != OVERVIEW_NONE ? overview_item(overview, &overview->rows[host->row]) : NULL;
    struct buf *out = overview->scratch;
    json_object_begin(json);
    json_key_text(json, "host", item->host_id);
    json_key_text(json, "host_name", item->host);
    json_key_uint(json, "outlier_count", host->outlier_count);
    json_key_uint(json, "missing_count", host->missing_count);
    json_key_uint(json, "failed_count", host->failed_count);
    json_key_int(json, "difference_bytes", host->difference_bytes);
    json_key_text(json, "module_id", module != NULL ? module->id : NULL);
    json_key_text(json, "module", module != NULL ? module->name : NULL);
    json_key_text(json, "reason", host->reason);
    json_key_known(json, "limit_bytes", host->limit_bytes);
    out->length = 0;
    host_say(overview, host, out);
    json_key_string(json, "sentence", (struct str){out->data, out->length});
    json_object_end(json);
}

static void hosts_write(const struct overview *overview, struct json *json)
{
    struct overview_host *hosts = arena_array(overview->arena, struct overview_host, (size_t)overview->host_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < overview->host_count; i++) {
        hosts[i] = overview->hosts[i];
        hosts[i].limit_bytes = -1;
    }
    if (has_hosts(overview))
        reasons_find(overview, hosts);
    for (uint32_t i = 0; has_hosts(overview) && i < overview->host_count; i++)
        if (summary_differs(&hosts[i]))
            hosts[count++] = hosts[i];
    qsort(hosts, count, sizeof(*hosts), worst_first);
    json_key_text(json, "hosts_sentence", hosts_text(overview, hosts, count));
    json_key_uint(json, "outlier_count", count);
    json_key_array(json, "outliers");
    for (uint32_t i = 0; i < count && i < OUTLIERS_MAX; i++)
        host_write(overview, &hosts[i], json);
    json_array_end(json);
}

/* ---- spaces ---- */

struct space_sum {
    int64_t space, largest_bytes;
    const char *name;
    uint32_t count;
};

static int by_space(const void *left, const void *right)
{
    const struct space_sum *a = left, *b = right;
    return ORDER(a->space, b->space);
}

static int largest_first(const void *left, const void *right)
{
    const struct space_sum *a = left, *b = right;
    return ORDER(b->largest_bytes, a->largest_bytes) ?: ORDER(a->space, b->space);
}

static void spaces_write(const struct overview *overview, struct json *json)
{
    struct space_sum *sums = arena_array(overview->arena, struct space_sum, (size_t)overview->row_count + 1);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < overview->row_count; i++) {
        const struct overview_row *row = &overview->rows[i];
        if (row->space != NULL)
            sums[count++] = (struct space_sum){row->space_number, row->space->total_bytes, row->space_name, 1};
    }
    qsort(sums, count, sizeof(*sums), by_space);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || sums[kept - 1].space != sums[i].space) {
            sums[kept++] = sums[i];
            continue;
        }
        sums[kept - 1].count++;
        if (sums[i].largest_bytes > sums[kept - 1].largest_bytes)
            sums[kept - 1].largest_bytes = sums[i].largest_bytes;
    }
    qsort(sums, kept, sizeof(*sums), largest_first);
    json_key_array(json, "spaces");
    for (uint32_t i = 0; i < kept; i++) {
        json_object_begin(json);
        json_key_int(json, "space", sums[i].space);
        json_key_text(json, "name", sums[i].name);
        json_key_uint(json, "module_count", sums[i].count);
        json_key_int(json, "largest_bytes", sums[i].largest_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- what adding up means ---- */

struct sums {
    int64_t code_bytes; /* of the modules that tell */
    uint32_t code_count;
    uint64_t run_count, inferred_count, device_count;
    const struct module_runs *overlap; /* with the longest, or NULL */
};

static struct sums sums_of(const struct overview *overview)
{
    struct sums sums = {.overlap = NULL};
    for (uint32_t i = 0; i < overview->group_count; i++) {
        int64_t largest = -1;
        for (uint32_t at = 0; at < overview->groups[i].count; at++) {
            const struct module_figures *figures =
                overview->set->items[overview->order[overview->groups[i].first + at]].figures;
            if (figures != NULL && figures->code_bytes > largest)
                largest = figures->code_bytes;
        }
        sums.code_count += largest >= 0;
        sums.code_bytes = sum_add(sums.code_bytes, largest >= 0 ? largest : 0);
    }
    for (uint32_t i = 0; i < overview->host_count; i++) {
        const struct module_runs *runs = overview->set->items[overview->hosts[i].item].runs;
        if (runs == NULL)
            continue;
        sums.run_count += runs->run_count;
        sums.inferred_count += runs->inferred_count;
        sums.device_count += runs->device_count;
        if (runs->overlap_count > 0 && (sums.overlap == NULL || runs->overlap_ps > sums.overlap->overlap_ps))
            sums.overlap = runs;
    }
    return sums;
}

static int64_t peak_of(const struct overview *overview, struct str key)
{
    for (uint32_t i = 0; i < overview->row_count; i++) {
        const struct overview_row *row = &overview->rows[i];
        if (row->space != NULL && row->space_number == overview->main_space &&
            str_equal(str_of(overview_item(overview, row)->key), key))
            return row->space->peak_bytes;
    }
    return -1;
}

static void overlap_say(const struct overview *overview, const struct module_runs *runs, struct buf *out)
{
    int64_t first = peak_of(overview, runs->overlap_first), second = peak_of(overview, runs->overlap_second);
    int name_max = NAME_MAX;
#define SHORT(text) (text).length > NAME_MAX ? name_max : (int)(text).length, (text).data
    buf_format(out, "%.*s and %.*s ran at the same time on %.*s: while both run their memory adds up",
               SHORT(runs->overlap_first), SHORT(runs->overlap_second), SHORT(runs->overlap_plane));
#undef SHORT
    if (first >= 0 && second >= 0)
        buf_format(out, ", to at most %s at their peaks", SIZE(sum_add(first, second)));
    buf_text(out, ". No other sum of totals is the memory of a device.");
}

/* "nothing": there is nothing to add; "not_additive": the trace shows one after the other; "overlap"; "not_told". */
static const char *additive_say(const struct overview *overview, const struct sums *sums, struct buf *out)
{
    const char *verdict;
    if (overview->group_count < 2) {
        buf_text(out, overview->group_count == 1 ? "There is one module: nothing to add up." : "There is no module.");
        verdict = "nothing";
    } else if (sums->overlap != NULL) {
        overlap_say(overview, sums->overlap, out);
        verdict = "overlap";
    } else if (sums->run_count > 1) {
        buf_format(
            out,
            "Totals do not add up: the %s runs in the trace, on %s device%s, came one after the other, so no device "
            "held two of them at once.",
            COUNT(sums->run_count), COUNT(sums->device_count), PLURAL(sums->device_count));
        verdict = "not_additive";
    } else {
        buf_text(out,
                 "Totals do not add up: a device runs one program at a time, and what one passes to the next counts "
                 "in both. When they ran is not in the files.");
        verdict = "not_told";
    }
    if (overview->group_count > 1 && sums->code_count == 0)
        buf_text(out, " Code does add up; no file here says how large it is.");
    else if (overview->group_count > 1)
        buf_format(out, " Code does add up, as long as the programs stay loaded: %s of %s module%s%s.",
                   SIZE(sums->code_bytes), COUNT(sums->code_count), PLURAL(sums->code_count),
                   sums->code_count < overview->group_count ? " that tell it" : "");
    return verdict;
}

static void additive_write(const struct overview *overview, struct json *json)
{
    struct sums sums = sums_of(overview);
    struct buf *out = overview->scratch;
    out->length = 0;
    const char *verdict = additive_say(overview, &sums, out);
    json_key_object(json, "additive");
    json_key_text(json, "verdict", verdict);
    json_key_string(json, "sentence", (struct str){out->data, out->length});
    json_key_known(json, "code_bytes", sums.code_count > 0 ? sums.code_bytes : -1);
    json_key_uint(json, "code_module_count", sums.code_count);
    json_key_uint(json, "run_count", sums.run_count);
    json_key_uint(json, "inferred_run_count", sums.inferred_count);
    json_object_end(json);
}

/* ---- the view ---- */

void modules_summary_reading(const struct overview *overview, struct json *json)
{
    const struct module_set *set = overview->set;
    json_key_object(json, "reading");
    json_key_bool(json, "is_complete", overview->unread_count == 0 && set->runs_known_count == set->runs_count);
    json_key_uint(json, "module_count", set->count);
    json_key_uint(json, "read_count", overview->read_count);
    json_key_uint(json, "failed_count", overview->failed_count);
    json_key_uint(json, "unread_count", overview->unread_count);
    json_key_uint(json, "distinct_count", set->distinct_count);
    json_key_uint(json, "trace_count", set->runs_count);
    json_key_uint(json, "trace_read_count", set->runs_known_count);
    json_object_end(json);
}

bool modules_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    struct overview overview;
    if (!modules_overview(request, &overview, err))
        return false;
    const struct overview_row *largest = largest_row(&overview);
    request->scratch->length = 0;
    main_say(&overview, largest, request->scratch);
    json_object_begin(json);
    json_key_string(json, "sentence", (struct str){request->scratch->data, request->scratch->length});
    hosts_write(&overview, json);
    json_key_uint(json, "module_count", overview.group_count);
    json_key_uint(json, "host_count", overview.set->host_count);
    json_key(json, "main_space");
    if (overview.has_space)
        json_int(json, overview.main_space);
    else
        json_null(json);
    spaces_write(&overview, json);
    largest_write(&overview, largest, json);
    additive_write(&overview, json);
    modules_summary_reading(&overview, json);
    json_object_end(json);
    return true;
}
