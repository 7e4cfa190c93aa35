/* SPDX-License-Identifier: Apache-2.0
 * torch_join.c: see torch_join.h. */
#include "verdict/torch_join.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "memory/allocator/caching_settings.h"
#include "read/torch/torch_snapshot.h"

bool torch_join_is(const struct oom_failure *failure, enum oom_figure_at at, int64_t bytes)
{
    const struct oom_figure *figure = oom_figure(failure, at);
    return figure != NULL && bytes >= 0 && oom_figure_is(figure, (uint64_t)bytes);
}

static bool is_asked(const struct oom_failure *failure, int64_t request)
{
    return torch_join_is(failure, OOM_needed_bytes, request) ||
           torch_join_is(failure, OOM_needed_bytes, caching_settings_segment_bytes(request));
}

/* What PyTorch holds in all; false: the text does not tell. */
static bool is_reserved(const struct oom_failure *failure, int64_t bytes)
{
    const struct oom_figure *allocated = oom_figure(failure, OOM_allocated_bytes),
                            *rest = oom_figure(failure, OOM_unallocated_bytes);
    if (oom_figure(failure, OOM_reserved_bytes) != NULL)
        return torch_join_is(failure, OOM_reserved_bytes, bytes);
    if (allocated == NULL || rest == NULL)
        return false;
    const struct oom_figure both = {.value = allocated->value + rest->value,
                                    .half_unit = allocated->half_unit + rest->half_unit};
    return bytes >= 0 && oom_figure_is(&both, (uint64_t)bytes);
}

/* -1: it names none. */
static int64_t device_of(const struct oom_failure *failure)
{
    const struct str text = failure->device.text;
    int64_t device = 0;
    for (size_t i = 0; i < text.length && i < 9; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -1;
        device = device * 10 + (text.data[i] - '0');
    }
    return text.length > 0 && text.length < 10 ? device : -1;
}

static bool is_of_device(const struct oom_failure *failure, const struct memory_profile_pool *pool)
{
    int64_t device = device_of(failure);
    return device < 0 || pool->device < 0 || device == pool->device;
}

/* How many of the figures for free, allocated and reserved memory both text and snapshot have, and how many agree. */
struct shared {
    uint32_t told, agree;
};

static void torch_join_share(struct shared *shared, bool is_told, bool agrees)
{
    shared->told += is_told;
    shared->agree += is_told && agrees;
}

static struct shared shared_of(const struct oom_failure *failure, const struct memory_profile_failure *of)
{
    struct shared shared = {0, 0};
    const bool has_allocated = oom_figure(failure, OOM_allocated_bytes) != NULL,
               has_reserved = oom_figure(failure, OOM_reserved_bytes) != NULL ||
                              (has_allocated && oom_figure(failure, OOM_unallocated_bytes) != NULL);
    torch_join_share(&shared, oom_figure(failure, OOM_free_bytes) != NULL && of->device_free_bytes >= 0,
                     torch_join_is(failure, OOM_free_bytes, of->device_free_bytes));
    torch_join_share(
        &shared, has_allocated && of->free_bytes >= 0,
        torch_join_is(failure, OOM_allocated_bytes, of->reserved_bytes - of->free_bytes - of->pending_bytes));
    torch_join_share(&shared, has_reserved && of->reserved_bytes >= 0, is_reserved(failure, of->reserved_bytes));
    return shared;
}

static const char *size_of(struct arena *arena, int64_t bytes)
{
    return size_text_in(arena, bytes < 0 ? 0 : (uint64_t)bytes);
}

/* Among failures of the text's size, takes the one that shares most figures with the text; if several do, the last. */
static void by_request(const struct oom_failure *failure, const struct memory_profile *trace, struct arena *arena,
                       struct torch_join *out)
{
    uint32_t count = 0, told = 0;
    for (uint32_t p = 0; p < trace->pool_count; p++) {
        const struct memory_profile_pool *pool = &trace->pools[p];
        if (!is_of_device(failure, pool) || pool->count == 0)
            continue;
        for (uint32_t i = 0; i < pool->failure_count; i++) {
            if (!is_asked(failure, pool->failures[i].requested_bytes))
                continue;
            const struct shared shared = shared_of(failure, &pool->failures[i]);
            out->is_of_size = true;
            if (shared.told > 0 && shared.agree == 0)
                continue; /* of another run, which asked for as much */
            count++;
            if (out->failure != NULL && shared.agree < out->agree_count)
                continue;
            out->pool = pool;
            out->failure = &pool->failures[i];
            out->agree_count = shared.agree;
            told = shared.told;
        }
    }
    if (out->failure == NULL)
        return;
    out->reason = arena_format(
        arena,
        "a request of %s failed in it on %.*s%s, and %u of %u figures that both have (free, allocated, reserved) "
        "equal the text's%s",
        size_of(arena, out->failure->requested_bytes), (int)out->pool->name.length, out->pool->name.data,
        torch_join_is(failure, OOM_needed_bytes, out->failure->requested_bytes)
            ? ""
            : arena_format(arena, " (PyTorch requested a segment of %s from the driver)",
                           size_of(arena, caching_settings_segment_bytes(out->failure->requested_bytes))),
        out->agree_count, told,
        count > 1 ? arena_format(arena, "; %u of that size failed, this one shares most with it", count) : "");
}

static int64_t reserved_at_end(const struct torch_snapshot *snapshot, int64_t device)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < snapshot->segment_count; i++)
        if (snapshot->segments[i].device == device && snapshot->segments[i].total_bytes > 0)
            sum = sum > (uint64_t)SUM_MAX_BYTES ? sum : sum + (uint64_t)snapshot->segments[i].total_bytes;
    return sum > (uint64_t)SUM_MAX_BYTES ? -1 : (int64_t)sum;
}

/* A snapshot whose recording keeps no failure. */
static void by_end(const struct oom_failure *failure, const struct memory_profile *trace, struct arena *arena,
                   struct torch_join *out)
{
    for (uint32_t p = 0; p < trace->pool_count; p++) {
        const struct memory_profile_pool *pool = &trace->pools[p];
        bool is_this =
            pool->count > 0 && pool->failure_count == 0 && pool->device >= 0 && pool->device == device_of(failure);
        int64_t reserved = is_this ? reserved_at_end(trace->events.snapshot, pool->device) : -1;
        if (reserved <= 0 || !is_reserved(failure, reserved))
            continue;
        out->pool = pool;
        out->agree_count = 1;
        out->reason = arena_format(arena,
                                   "it records no failed request, and at its end PyTorch holds %s of %.*s, as the "
                                   "text says",
                                   size_of(arena, reserved), (int)pool->name.length, pool->name.data);
        return;
    }
}

static void torch_join_refuse(const struct oom_failure *failure, const struct memory_profile *trace,
                              struct arena *arena, struct torch_join *out)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    const struct memory_profile_pool *last = NULL;
    uint32_t count = 0;
    for (uint32_t p = 0; p < trace->pool_count; p++)
        if (trace->pools[p].failure_count > 0) {
            last = last == NULL ? &trace->pools[p] : last;
            count += trace->pools[p].failure_count;
        }
    if (needed == NULL)
        out->reason = "the text does not say how much was asked for";
    else if (out->is_of_size)
        out->reason = "a request of that size failed in it, but free, allocated and reserved memory then differ from "
                      "the text";
    else if (last == NULL)
        out->reason = "no request failed in it, and what PyTorch holds at its end differs from the text";
    else
        out->reason = arena_format(
            arena, "none of its %u failed request%s is the text's %s%s%s: %s on %.*s", count, count == 1 ? "" : "s",
            size_of(arena, (int64_t)needed->value), device_of(failure) < 0 ? "" : " on GPU ",
            device_of(failure) < 0 ? "" : arena_format(arena, "%lld", (long long)device_of(failure)),
            size_of(arena, last->failures[last->failure_count - 1].requested_bytes), (int)last->name.length,
            last->name.data);
}

void torch_join_find(const struct oom_failure *failure, const struct memory_profile *trace, struct arena *arena,
                     struct torch_join *out)
{
    *out = (struct torch_join){.pool = NULL};
    if (failure->family != OOM_FAMILY_torch_gpu) {
        out->reason = "the text is not from PyTorch's allocator";
        return;
    }
    by_request(failure, trace, arena, out);
    if (out->pool == NULL)
        by_end(failure, trace, arena, out);
    if (out->pool == NULL)
        torch_join_refuse(failure, trace, arena, out);
}
