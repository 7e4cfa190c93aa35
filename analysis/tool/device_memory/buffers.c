/* SPDX-License-Identifier: Apache-2.0
 * buffers.c: the view "buffers": samples one by one. JAX writes one for each
 * stack, size and device, so that bytes divided by the count is each buffer's exact size. */
#include "base/csv.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/views.h"
#include "tool/device_memory/labels.h"
#include "tool/device_memory/order.h"
#include "tool/device_memory/sites.h"

enum field { EACH, COUNT, TOTAL, COPIES, LINE, DEVICE, KIND, FUNCTION, FILE_NAME, NAME, FIELD_COUNT };

static const struct filter_field fields[FIELD_COUNT + 1] = {
    [EACH] = {"each", FILTER_NUMBER, false},     [COUNT] = {"count", FILTER_NUMBER, false}, [TOTAL] = {"total", FILTER_NUMBER, false},
    [COPIES] = {"copies", FILTER_NUMBER, false}, [LINE] = {"line", FILTER_NUMBER, false},   [DEVICE] = {"device", FILTER_TEXT, false},
    [KIND] = {"kind", FILTER_TEXT, false},       [FUNCTION] = {"fn", FILTER_TEXT, false},   [FILE_NAME] = {"file", FILTER_TEXT, false},
    [NAME] = {"name", FILTER_TEXT, true},        [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};

struct listing {
    struct study study;
    struct sites sites;
    uint32_t *site_of;   /* of each sample */
    uint32_t *copy_of;   /* equal stack and size: the same number */
    uint32_t *copies;    /* of each such number: how many samples */
    struct intern copy_table;
    uint32_t *first_of;  /* of each number: its first sample */
};

struct same_copy {
    const struct listing *listing;
    uint32_t sample;
    int64_t each;
};

static bool is_copy(const void *context, uint32_t at)
{
    const struct same_copy *same = context;
    const struct study *study = &same->listing->study;
    const struct study_sample *a = &study->samples[same->listing->first_of[at]], *b = &study->samples[same->sample];
    const struct pprof *pprof = study->pprof;
    int64_t each = -1;
    study_each(study, a, &each);
    arena_work(study->arena, a->depth);
    return each == same->each && a->depth == b->depth && study_is_base(study, a) == study_is_base(study, b) &&
           memcmp(pprof->stacks + pprof->stack_starts[a->at], pprof->stacks + pprof->stack_starts[b->at],
                  a->depth * sizeof *pprof->stacks) == 0;
}

static void find_copies(struct listing *listing)
{
    const struct study *study = &listing->study;
    const struct pprof *pprof = study->pprof;
    intern_init(&listing->copy_table, study->arena);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        const struct study_sample *sample = &study->samples[i];
        struct same_copy same = {listing, i, -1};
        study_each(study, sample, &same.each);
        uint64_t hash = hash_bytes(pprof->stacks + pprof->stack_starts[sample->at], sample->depth * sizeof *pprof->stacks,
                                    (uint64_t)same.each);
        uint32_t at = intern_find(&listing->copy_table, hash, is_copy, &same);
        if (at == INTERN_NONE) {
            at = intern_add(&listing->copy_table, hash);
            listing->first_of[at] = i;
        }
        listing->copy_of[i] = at;
        listing->copies[at]++;
    }
}

static void prepare(struct listing *listing)
{
    const struct study *study = &listing->study;
    size_t count = (size_t)study->sample_count + 1;
    struct study_walk walk;
    listing->site_of = arena_array(study->arena, uint32_t, count);
    listing->copy_of = arena_array(study->arena, uint32_t, count);
    listing->copies = arena_array(study->arena, uint32_t, count);
    listing->first_of = arena_array(study->arena, uint32_t, count);
    sites_init(&listing->sites, study->arena);
    study_walk_init(study, &walk);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        study_walk_to(study, &study->samples[i], &walk);
        listing->site_of[i] = sites_of(&listing->sites, study, &walk);
    }
    find_copies(listing);
}

/* Bytes of a sample, whatever is summed. */
static int64_t bytes_of(const struct listing *listing, const struct study_sample *sample)
{
    const struct study *study = &listing->study;
    if (study->sizing == PPROF_NONE)
        return study_value(study, sample);
    return study->pprof->values[(size_t)sample->at * study->pprof->type_count + study->sizing];
}

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct listing *listing = context;
    const struct study *study = &listing->study;
    const struct study_sample *sample = &study->samples[row];
    int64_t each;
    switch ((enum field)field) {
    case EACH:
        if (!study_each(study, sample, &each))
            return false;
        *value = (double)each;
        return true;
    case COUNT: *value = (double)study_count(study, sample); return true;
    case TOTAL: *value = (double)pprof_size(bytes_of(listing, sample)); return true;
    case COPIES: *value = listing->copies[listing->copy_of[row]]; return true;
    case LINE: *value = (double)study->frames->items[listing->sites.keys[listing->site_of[row]].frame].line; return true;
    default: return false;
    }
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct listing *listing = context;
    const struct study *study = &listing->study;
    struct buf *scratch = study->request->scratch;
    uint32_t frame = listing->sites.keys[listing->site_of[row]].frame, set = study->pprof->label_sets[study->samples[row].at];
    switch ((enum field)field) {
    case DEVICE: return labels_text(study->pprof, set, "device", scratch);
    case KIND: return labels_text(study->pprof, set, "kind", scratch);
    case FUNCTION: return study->frames->items[frame].function;
    case FILE_NAME: return study->frames->items[frame].file;
    default: break;
    }
    frames_full_name(study->frames, frame, scratch);
    return (struct str){scratch->data, scratch->length};
}

/* ---- output ---- */

static void label_write(const struct listing *listing, uint32_t row, enum field field, const char *key, struct json *json)
{
    struct str text = text_of(listing, row, field);
    if (text.length > 0)
        json_key_string(json, key, text);
    else
        json_key_null(json, key);
}

static void write_row(const struct listing *listing, uint32_t row, struct json *json)
{
    const struct study *study = &listing->study;
    const struct study_sample *sample = &study->samples[row];
    int64_t each = -1;
    study_each(study, sample, &each);
    json_object_begin(json);
    json_key_uint(json, "id", sample->at);
    json_key_known(json, "each", each);
    json_key_int(json, "count", study_count(study, sample));
    json_key_int(json, "total", bytes_of(listing, sample));
    if (study->is_diff) {
        json_key_int(json, "before_count", study_before(study, sample, study->counting));
        json_key_int(json, "before_total", study_before(study, sample, study->sizing));
    }
    label_write(listing, row, DEVICE, "device", json);
    label_write(listing, row, KIND, "kind", json);
    sites_write(&listing->sites, listing->site_of[row], study, json);
    json_key_uint(json, "copies", listing->copies[listing->copy_of[row]]);
    json_key_bool(json, "is_base", study_is_base(study, sample));
    json_object_end(json);
}

static void write_csv(const struct listing *listing, const struct order *order, const struct order_rows *rows)
{
    const struct study *study = &listing->study;
    struct csv csv = CSV_INIT(study->request->out);
    buf_text(study->request->out, "each_bytes,count,total_bytes,device,kind,copies,function,file,line\r\n");
    for (int64_t i = order->offset; i < order->offset + order->limit && i < rows->count; i++) {
        uint32_t row = rows->rows[i];
        const struct study_sample *sample = &study->samples[row];
        int64_t each;
        if (study_each(study, sample, &each))
            csv_int(&csv, each);
        else
            csv_none(&csv);
        csv_int(&csv, study_count(study, sample));
        csv_int(&csv, bytes_of(listing, sample));
        csv_text(&csv, text_of(listing, row, DEVICE));
        csv_text(&csv, text_of(listing, row, KIND));
        csv_int(&csv, listing->copies[listing->copy_of[row]]);
        csv_text(&csv, text_of(listing, row, FUNCTION));
        csv_text(&csv, text_of(listing, row, FILE_NAME));
        csv_int(&csv, study->frames->items[listing->sites.keys[listing->site_of[row]].frame].line);
        csv_row_end(&csv);
    }
}

static void write_json(const struct listing *listing, const struct order *order, const struct order_rows *rows, struct json *json)
{
    const struct study *study = &listing->study;
    int64_t total = 0, count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        total = pprof_add(total, bytes_of(listing, &study->samples[rows->rows[i]]));
        count = pprof_add(count, study_count(study, &study->samples[rows->rows[i]]));
    }
    json_object_begin(json);
    study_write(study, json);
    json_key_uint(json, "row_count", study->sample_count);
    json_key_uint(json, "matched_count", rows->count);
    json_key_int(json, "matched_total", total);
    json_key_int(json, "matched_buffers", count);
    json_key_int(json, "offset", order->offset);
    json_key(json, "rows");
    json_array_begin(json);
    for (int64_t i = order->offset; i < order->offset + order->limit && i < rows->count; i++)
        write_row(listing, rows->rows[i], json);
    json_array_end(json);
    json_object_end(json);
}

bool device_memory_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing;
    struct filter_table table = {fields, text_of, number_of, &listing};
    struct order order;
    if (!study_open_paired(request, &listing.study, err) || !order_read(request, &table, "-total,-each,name,device", &order, err))
        return false;
    prepare(&listing);
    struct order_rows rows = order_rows(request, &order, listing.study.sample_count);
    if (order.format == ORDER_JSON)
        write_json(&listing, &order, &rows, json);
    else
        write_csv(&listing, &order, &rows);
    device_memory_notes_add(&listing.study);
    return true;
}
