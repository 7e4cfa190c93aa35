/* SPDX-License-Identifier: Apache-2.0
 * torch_beside.c: what an error text of PyTorch and the snapshot of its failure say together: see torch_join.h. Where
 * the snapshot has a figure to the byte it counts; what the text alone knows, the device and other processes, is the
 * text's. */
#include "verdict/evidence.h"
#include "verdict/torch_join.h"
#include "verdict/torch_moment.h"

#include "base/sum.h"
#include "memory/allocator/caching_settings.h"

/* The device, split; each not known: -1. The rows of `where` are these, in this order, and add up to the capacity. */
struct parts {
    int64_t asked, rounding, pending, used, process, others, rest;
};

/* A figure of the text that sums cannot overflow with; else it is not known. */
static int64_t sound(const struct verdict_facts *facts, enum oom_figure_at at)
{
    int64_t bytes = facts_figure(facts, at);
    return bytes > SUM_MAX_BYTES ? -1 : bytes;
}

static struct parts parts_of(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_failure *failure = moment->failure;
    struct parts parts = {-1, 0, 0, -1, -1, -1, -1};
    if (failure == NULL || failure->free_bytes < 0)
        return parts;
    parts.asked = failure->requested_bytes;
    parts.pending = failure->pending_bytes;
    parts.used = failure->reserved_bytes - failure->free_bytes;
    parts.rounding = parts.used - moment->in_use_bytes;
    int64_t capacity = sound(facts, OOM_capacity_bytes), process = sound(facts, OOM_process_bytes);
    if (capacity < 0 || failure->device_free_bytes < 0)
        return parts;
    parts.process = process < 0 ? -1 : facts_positive(process - failure->reserved_bytes);
    parts.others = sound(facts, OOM_others_bytes);
    parts.rest = capacity - failure->device_free_bytes - failure->reserved_bytes - facts_positive(parts.process) -
                 facts_positive(parts.others);
    return parts;
}

/* ---- figure by figure ---- */

static void row_add(const struct verdict_facts *facts, struct verdict_together_row row)
{
    struct verdict_together *out = facts->out->together;
    if (row.bytes >= 0 && out->row_count < VERDICT_TOGETHER_ROWS)
        out->rows[out->row_count++] = row;
}

/* `counted`: of the snapshot what the text counts under this name, where that is not the figure itself. */
static void both_add(const struct verdict_facts *facts, struct verdict_together_row row, enum oom_figure_at at,
                     int64_t counted)
{
    row.text_bytes = facts_figure(facts, at);
    row.key = row.text_bytes < 0 ? NULL : oom_figure_key(at);
    row.is_from_snapshot = true;
    row.agrees = row.text_bytes < 0 || torch_join_is(facts->failure, at, counted);
    row_add(facts, row);
    if (!row.agrees && row.bytes >= 0)
        facts_note(facts, VERDICT_NOTE_DISAGREEMENT,
                   arena_format(facts->arena, "Text and snapshot disagree: %s, the text says %s, the snapshot %s.",
                                row.label, facts_size_beside(facts, row.text_bytes, counted),
                                facts_size_beside(facts, counted, row.text_bytes)));
}

static void asked_add(const struct verdict_facts *facts, int64_t asked)
{
    bool is_segment = !torch_join_is(facts->failure, OOM_needed_bytes, asked);
    int64_t counted = is_segment ? caching_settings_segment_bytes(asked) : asked;
    both_add(
        facts,
        (struct verdict_together_row){
            .kind = "asked",
            .label = "asked for",
            .bytes = asked,
            .why = is_segment ? "The text has the segment that PyTorch asked the driver for, for this request." : NULL},
        OOM_needed_bytes, counted);
}

void torch_beside_make(struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_failure *failure = moment->failure;
    const struct parts parts = parts_of(facts);
    struct verdict_together *out = arena_array(facts->arena, struct verdict_together, 1);
    facts->out->together = out;
    out->memory = arena_text(facts->arena, moment->pool->name);
    out->time_ps = moment->time_ps;
    out->reason = facts->join->reason;
    if (failure == NULL)
        return;
    asked_add(facts, failure->requested_bytes);
    both_add(facts,
             (struct verdict_together_row){
                 .kind = "free", .label = "free on the device", .bytes = failure->device_free_bytes},
             OOM_free_bytes, failure->device_free_bytes);
    both_add(facts,
             (struct verdict_together_row){
                 .kind = "in_use",
                 .label = "in use by PyTorch",
                 .bytes = parts.used,
                 .why = parts.pending > 0 ? "The text leaves out freed blocks that a stream still uses." : NULL},
             OOM_allocated_bytes, parts.used - parts.pending);
    both_add(facts,
             (struct verdict_together_row){
                 .kind = "free_in_segments",
                 .label = "reserved by PyTorch, not in use",
                 .bytes = failure->free_bytes,
                 .why = parts.pending > 0 ? "The text counts freed blocks that a stream still uses here." : NULL},
             OOM_unallocated_bytes, failure->free_bytes + parts.pending);
    row_add(facts, (struct verdict_together_row){.kind = "largest_hole",
                                                 .label = "largest hole for it",
                                                 .bytes = failure->largest_hole_bytes,
                                                 .text_bytes = -1,
                                                 .is_from_snapshot = true,
                                                 .agrees = true});
    row_add(facts, (struct verdict_together_row){.kind = "others",
                                                 .label = "held by other processes",
                                                 .bytes = parts.others,
                                                 .text_bytes = parts.others,
                                                 .key = oom_figure_key(OOM_others_bytes),
                                                 .agrees = true});
    if (parts.rest >= 0 || parts.used < 0 || sound(facts, OOM_capacity_bytes) < 0)
        return;
    facts_note(
        facts, VERDICT_NOTE_DISAGREEMENT,
        arena_format(facts->arena,
                     "Text and snapshot together add up to %s more than the device has, because the text rounds.",
                     facts_size(facts, -parts.rest)));
}

/* ---- the blocks of the verdict ---- */

static void stretch_add(const struct verdict_facts *facts, const char *kind, const char *label, int64_t bytes,
                        const char *source, const char *key)
{
    if (bytes > 0)
        facts->out->where[facts->out->where_count++] =
            (struct verdict_where){.kind = kind, .label = label, .bytes = bytes, .source = source, .key = key};
}

void torch_beside_where(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment->failure;
    const struct parts parts = parts_of(facts);
    int64_t process = parts.process, others = parts.others, *larger = others > process ? &others : &process;
    if (parts.rest < 0 && *larger > 0)
        *larger = facts_positive(*larger + parts.rest); /* figures that the text rounds */
    stretch_add(facts, "arrays", "blocks in use", facts->moment->in_use_bytes, "trace", NULL);
    if (parts.used < 0)
        return;
    stretch_add(facts, "fragmentation", "rounding of blocks", parts.rounding, "together", NULL);
    stretch_add(facts, "reserved", "reserved by PyTorch, not in use", failure->free_bytes, "trace", NULL);
    stretch_add(facts, "program", "this process outside of PyTorch's allocator", process, "together", NULL);
    stretch_add(facts, "others", "other processes", others, "error text", oom_figure_key(OOM_others_bytes));
    stretch_add(facts, "others",
                parts.process < 0 && parts.others < 0
                    ? "not PyTorch's"
                    : "not explained by either: the driver's memory, rounding of the text",
                parts.rest, "together", NULL);
    if (sound(facts, OOM_capacity_bytes) >= 0)
        stretch_add(facts, "free", "free on the device", failure->device_free_bytes, "trace", NULL);
}

/* ---- what shows them ---- */

static struct verdict_evidence of_row(const struct verdict_facts *facts, const struct verdict_together_row *row)
{
    static const struct {
        const char *kind;
        enum torch_figure figure;
    } figures[] = {{"asked", TORCH_REQUESTED},
                   {"free", TORCH_DEVICE_FREE},
                   {"free_in_segments", TORCH_FREE},
                   {"largest_hole", TORCH_HOLE}};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        if (strcmp(row->kind, figures[i].kind) == 0)
            return torch_figure_evidence(facts, figures[i].figure);
    if (!row->is_from_snapshot)
        return evidence_text(facts, row->key, row->bytes);
    struct verdict_evidence evidence = torch_moment_evidence(facts, CATEGORY_COUNT, row->bytes);
    evidence.rest = evidence.rest_bytes == 0 ? NULL : "rounding of blocks, and what is from before the recording";
    return evidence;
}

static struct verdict_evidence of_stretch(const struct verdict_facts *facts, const struct verdict_where *row)
{
    if (strcmp(row->kind, "arrays") == 0)
        return torch_figure_evidence(facts, TORCH_IN_USE);
    if (strcmp(row->kind, "reserved") == 0)
        return torch_figure_evidence(facts, TORCH_FREE);
    if (strcmp(row->kind, "free") == 0)
        return torch_figure_evidence(facts, TORCH_DEVICE_FREE);
    if (row->key != NULL)
        return evidence_text(facts, row->key, row->bytes);
    return evidence_difference(
        strcmp(row->kind, "fragmentation") == 0
            ? "Blocks are multiples of 512 bytes, and a rest too small to split stays with them: their sizes minus the "
              "requests."
        : strcmp(row->kind, "program") == 0
            ? "What the text says this process holds, less the segments of the snapshot: CUDA's context, libraries."
            : "What the text says the device has, less all the other rows.");
}

void torch_beside_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    for (uint32_t i = 0; i < out->together->row_count; i++) {
        struct verdict_together_row *row = &out->together->rows[i];
        row->evidence = of_row(facts, row);
        row->text_evidence = evidence_text(facts, row->key, row->text_bytes);
    }
    for (uint32_t i = 0; i < out->where_count; i++)
        out->where[i].evidence = of_stretch(facts, &out->where[i]);
    out->where_evidence = evidence_difference("The sum of these rows.");
}
