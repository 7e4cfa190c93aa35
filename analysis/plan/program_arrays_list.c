/* SPDX-License-Identifier: Apache-2.0
 * program_arrays_list.c: equal arrays of a program together, the largest first, and the sentence of them. */
#include "plan/program_arrays_found.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "plan/describe.h"
#include "plan/group_key.h"
#include "read/hlo/graph.h"
#include "read/hlo/shape.h"

#include <stdlib.h>

/* Arrays in the sentence; of the largest what part those and the listed ones are at least; calls around an
 * instruction. */
enum { SAID_MAX = 3, SAID_PARTS = 20, LISTED_PARTS = 1000, CALLS_MAX = 16 };

static const char *const role_names[] = {"argument", "result", "between"}, *const role_words[] = {
                                                                               "argument", "result",
                                                                               "computed on the way"};

const char *program_arrays_role_name(enum program_array_role role) { return role_names[role]; }
const char *program_arrays_role_words(enum program_array_role role) { return role_words[role]; }

static int by_bytes(const void *left, const void *right)
{
    const struct found_array *a = left, *b = right;
    int by_value = ORDER(a->value.at, b->value.at) ?: ORDER(a->value.element, b->value.element);
    return ORDER(b->bytes, a->bytes) ?: ORDER((int)a->role, (int)b->role) ?: by_value;
}

static const char *shape_words(const struct arrays_finding *finding, struct str shape)
{
    struct shape_array array;
    const char *text = arena_format(finding->arena, "%s[", shape_element_type(shape));
    if (!shape_array_read(shape, &array))
        return "";
    for (uint32_t i = 0; i < array.rank; i++)
        text = arena_format(finding->arena, "%s%s%lld", text, i == 0 ? "" : ",", (long long)array.dimensions[i]);
    return arena_format(finding->arena, "%s]", text);
}

/* The operation as the person wrote it; an argument by its name. */
static struct str name_of(const struct arrays_finding *finding, const struct found_array *item,
                          const struct hlo_detail *detail)
{
    struct str name = item->role == PROGRAM_ARRAY_ARGUMENT
                          ? group_key_scope(graph_op_name_end(finding->graph, item->value.at), finding->scratch)
                          : str_last_part(detail->op_name);
    return name.length > 0 ? name : item->role == PROGRAM_ARRAY_ARGUMENT ? STR("") : detail->opcode;
}

/* What a function that was traced once says of itself is a line of a library: then the line of who calls it. */
static struct describe_source source_of(const struct arrays_finding *finding, const struct found_array *item)
{
    const struct graph *graph = finding->graph;
    struct describe_source source = {{"", 0}, 0};
    uint32_t at = item->value.at;
    for (int i = 0; i < CALLS_MAX && at != HLO_NONE && source.line <= 0; i++) {
        struct hlo_detail detail = hlo_detail(graph->hlo, at);
        source = describe_source(graph->hlo, &detail);
        at = graph->caller_of[graph->hlo->instructions[at].computation_at];
    }
    return source;
}

static void group_add(struct arrays_finding *finding, const struct found_array *item, struct map *group_of)
{
    struct program_arrays *out = finding->out;
    struct shape_array array;
    struct hlo_detail detail = hlo_detail(finding->graph->hlo, item->value.at);
    struct describe_source source = source_of(finding, item);
    struct str name = name_of(finding, item, &detail), file = str_last_part(source.file);
    if (!shape_array_read(item->shape, &array))
        return;
    uint64_t hash = shape_array_hash(&array) ^ ((uint64_t)source.line << 8) ^ (uint64_t)item->role;
    hash = map_hash_text(finding->scratch, file, map_hash_text(finding->scratch, name, hash));
    uint32_t at = map_get(group_of, hash);
    if (at == MAP_NONE) {
        map_put(group_of, hash, at = out->total_count++, false);
        if (at < PROGRAM_ARRAYS_MAX && item->bytes >= out->items[0].bytes / LISTED_PARTS)
            out->items[out->count++] = (struct program_array){
                .role = item->role,
                .bytes = item->bytes,
                .shape = shape_words(finding, item->shape),
                .name = arena_text(finding->arena, item->role == PROGRAM_ARRAY_ARGUMENT
                                                       ? graph_op_name_end(finding->graph, item->value.at)
                                                       : name),
                .source = source.line <= 0 ? ""
                                           : arena_format(finding->arena, "%.*s:%lld", (int)file.length, file.data,
                                                          (long long)source.line)};
    }
    if (at < out->count) {
        out->items[at].count++;
        if (out->items[at].count == 2)
            out->items[at].name = arena_text(finding->arena, name); /* of both */
        out->listed_bytes = sum_add(out->listed_bytes, item->bytes);
    }
}

static void groups_make(struct arrays_finding *finding)
{
    struct map group_of;
    map_init(&group_of, finding->scratch, finding->count);
    if (finding->count > 1)
        qsort(finding->items, finding->count, sizeof(*finding->items), by_bytes);
    for (uint32_t i = 0; i < finding->count; i++)
        if (!finding->items[i].is_elsewhere)
            group_add(finding, &finding->items[i], &group_of);
}

/* ---- the sentence ---- */

static const char *size_of(const struct arrays_finding *finding, int64_t bytes)
{
    return size_text_in(finding->arena, (uint64_t)bytes);
}

/* "200.00 GiB bf16[327680,327680] (result, oomjob.py:10)" */
static const char *item_words(const struct arrays_finding *finding, const struct program_array *item)
{
    const char *count = item->count > 1 ? arena_format(finding->arena, "%u × ", item->count) : "";
    const char *where = item->source[0] != '\0' ? item->source : item->name;
    return arena_format(finding->arena, "%s%s %s (%s%s%s)", count, size_of(finding, item->bytes), item->shape,
                        role_words[item->role], where[0] != '\0' ? ", " : "", where);
}

static const char *sentence_of(const struct arrays_finding *finding)
{
    const struct program_arrays *out = finding->out;
    struct arena *arena = finding->arena;
    const char *list = "";
    if (out->count == 0)
        return PROGRAM_ARRAYS_NOTHING;
    for (uint32_t i = 0; i < out->count && i < SAID_MAX && out->items[i].bytes >= out->items[0].bytes / SAID_PARTS; i++)
        list = arena_format(arena, "%s%s%s", list, i == 0 ? "" : ", ", item_words(finding, &out->items[i]));
    const char *split = out->device_count < 2 ? ""
                                              : arena_format(arena, " Sizes are of all %llu devices together.",
                                                             (unsigned long long)out->device_count);
    const char *least = out->least_bytes <= 0
                            ? ""
                            : arena_format(arena, " Arguments and results alone take at least %s at one time%s.",
                                           size_of(finding, out->least_bytes), out->device_count < 2 ? "" : " on each");
    return arena_format(arena, PROGRAM_ARRAYS_NOTHING " The largest arrays of the program are %s.%s%s", list, split,
                        least);
}

void program_arrays_list(struct arrays_finding *finding)
{
    groups_make(finding);
    finding->out->sentence = sentence_of(finding);
}
