/* SPDX-License-Identifier: Apache-2.0 */
#include "model/oom/capacity.h"
#include "model/oom/meaning.h"

#include "read/oom/scan.h"

static int64_t read_text(void *context, uint64_t offset, void *into, size_t size)
{
    const struct str *text = context;
    if (offset >= text->length)
        return 0;
    if (size > text->length - (size_t)offset)
        size = text->length - (size_t)offset;
    memcpy(into, text->data + offset, size);
    return (int64_t)size;
}

static int64_t space_of(const struct oom_words *name)
{
    static const struct {
        const char *name;
        int64_t space;
    } spaces[] = {{"hbm", 0}, {"vmem", 1}, {"cmem", 3}, {"smem", 4}};
    for (size_t i = 0; name->text.data != NULL && i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (str_equal(name->text, str_of(spaces[i].name)))
            return spaces[i].space;
    return 0;
}

/* Not a budget of a part of it, nor memory of the host. */
static bool is_of_device(enum oom_memory memory)
{
    return memory != OOM_MEMORY_host && memory != OOM_MEMORY_page_locked && memory != OOM_MEMORY_shared_memory &&
           memory != OOM_MEMORY_kv_cache && memory != OOM_MEMORY_gpu_shared;
}

static bool is_usable(const struct oom_figure *figure) { return figure->is_known && figure->value <= INT64_MAX; }

bool oom_capacity_read(struct str text, struct arena *arena, struct oom_capacity *out, struct err *err)
{
    struct source source = {.context = &text, .read = read_text, .size_bytes = text.length};
    struct oom_result result;
    if (!oom_scan(&source, arena, &result, err))
        return false;
    for (size_t i = 0; i < result.failure_count; i++) {
        const struct oom_figure *capacity = &result.failures[i].figures[OOM_capacity_bytes];
        const struct oom_figure *needed = &result.failures[i].figures[OOM_needed_bytes];
        if (!is_usable(capacity) || !is_of_device(result.failures[i].memory_class))
            continue;
        *out = (struct oom_capacity){space_of(&result.failures[i].memory_space),
                                     (int64_t)capacity->value,
                                     is_usable(needed) ? (int64_t)needed->value : -1,
                                     (int64_t)capacity->half_unit,
                                     (size_t)capacity->at,
                                     capacity->length,
                                     oom_may_be_of_xla(&result.failures[i])};
        return true;
    }
    return false;
}
