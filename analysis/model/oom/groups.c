/* SPDX-License-Identifier: Apache-2.0
 * groups.c: equal buffers of the lists of a text, and what the lists hold in all. */
#include "base/sum.h"
#include "model/oom/meaning.h"

#include <stdlib.h>

static bool same_figure(const struct oom_figure *a, const struct oom_figure *b)
{
    return a->is_known == b->is_known && (!a->is_known || a->value == b->value);
}

static bool same_words(const struct oom_words *a, const struct oom_words *b)
{
    return (a->text.data == NULL) == (b->text.data == NULL) && (a->text.data == NULL || str_equal(a->text, b->text));
}

/* Lists of arguments and outputs say in the label which of the two a buffer is. */
static bool is_output(const struct oom_buffer *buffer)
{
    return buffer->label.text.data != NULL && str_starts(buffer->label.text, STR("Output"));
}

static bool is_alike(const struct oom_buffer *a, const struct oom_buffer *b)
{
    return same_words(&a->shape, &b->shape) && same_figure(&a->size, &b->size) &&
           same_words(&a->source_file, &b->source_file) && same_figure(&a->source_line, &b->source_line) &&
           is_output(a) == is_output(b);
}

static bool is_alike_in_list(const struct oom_buffer *a, const struct oom_buffer *b)
{
    return is_alike(a, b) && same_figure(&a->stack_frame_id, &b->stack_frame_id) &&
           same_words(&a->op_name, &b->op_name);
}

static size_t groups_make(const struct oom_buffers *buffers, enum oom_list list, struct oom_group *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < buffers->count; i++) {
        size_t at = 0;
        while (at < count && !is_alike_in_list(groups[at].buffer, &buffers->items[i]))
            at++;
        if (at == count)
            groups[count++] = (struct oom_group){.buffer = &buffers->items[i], .list = list, .at = i};
        groups[at].count++;
    }
    return count;
}

/* As a double: a hostile text may state sizes whose sum no integer holds. */
static double sum_of(const struct oom_group *group)
{
    return group->buffer->size.is_known ? (double)group->buffer->size.value * (double)group->count : -1;
}

static int by_sum(const void *a, const void *b)
{
    const struct oom_group *x = a, *y = b;
    return ORDER(sum_of(y), sum_of(x)) ?: ORDER(x->at, y->at);
}

struct oom_group oom_group_largest(const struct oom_failure *failure)
{
    struct oom_group largest = {.count = 0};
    for (size_t list = 0; list < OOM_LIST_COUNT; list++) {
        const struct oom_buffers *buffers = &failure->lists[list];
        for (size_t i = 0; i < buffers->count; i++) {
            struct oom_group group = {.buffer = &buffers->items[i], .list = (enum oom_list)list, .at = i};
            bool is_first = group.buffer->size.is_known;
            for (size_t j = 0; j < i && is_first; j++)
                is_first = !is_alike(&buffers->items[j], group.buffer);
            for (size_t j = i; j < buffers->count && is_first; j++)
                group.count += is_alike(&buffers->items[j], group.buffer);
            if (group.count > 0 && (largest.count == 0 || sum_of(&group) > sum_of(&largest)))
                largest = group;
        }
    }
    return largest;
}

/* Outputs that lie in the memory of arguments are not further memory: the text says how many bytes they are. */
static void listed_set(struct oom_meaning *meaning)
{
    const struct oom_failure *failure = meaning->failure;
    const struct oom_figure *shared = oom_figure(failure, OOM_shared_bytes);
    uint64_t outputs = 0;
    for (size_t list = 0; list < OOM_LIST_COUNT; list++)
        for (size_t i = 0; i < failure->lists[list].count; i++) {
            const struct oom_buffer *buffer = &failure->lists[list].items[i];
            uint64_t size = buffer->size.is_known ? buffer->size.value : 0;
            if (is_output(buffer))
                outputs = sum_add_unsigned(outputs, size);
            else
                meaning->listed_bytes = sum_add_unsigned(meaning->listed_bytes, size);
        }
    uint64_t max = shared != NULL ? sum_add_unsigned(shared->value, shared->half_unit) : 0;
    meaning->listed_shared_bytes = shared == NULL ? 0 : outputs <= max ? outputs : shared->value;
    meaning->listed_bytes = sum_add_unsigned(meaning->listed_bytes, outputs - meaning->listed_shared_bytes);
}

void oom_groups_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    for (size_t list = 0; list < OOM_LIST_COUNT; list++) {
        meaning->groups[list] = arena_array(arena, struct oom_group, failure->lists[list].count + 1);
        meaning->group_counts[list] = groups_make(&failure->lists[list], (enum oom_list)list, meaning->groups[list]);
        qsort(meaning->groups[list], meaning->group_counts[list], sizeof(struct oom_group), by_sum);
    }
    listed_set(meaning);
}
