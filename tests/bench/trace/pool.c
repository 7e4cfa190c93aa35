/* SPDX-License-Identifier: Apache-2.0
 * pool.c: chunks by size class, last freed first used. */
#include "tests/bench/trace/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *place, size_t bytes)
{
    void *more = realloc(place, bytes);
    if (!more) {
        fputs("make-trace: no memory\n", stderr);
        exit(1);
    }
    return more;
}

void chunk_push(struct chunk_list *list, struct chunk chunk)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->chunks = grown(list->chunks, list->capacity * sizeof(*list->chunks));
    }
    list->chunks[list->count++] = chunk;
}

struct chunk chunk_pop(struct chunk_list *list) { return list->chunks[--list->count]; }

static int64_t rounded(int64_t bytes) { return (bytes + POOL_CHUNK_BYTES - 1) / POOL_CHUNK_BYTES * POOL_CHUNK_BYTES; }

static struct chunk_list *class_of(struct pool *pool, int64_t bytes)
{
    for (size_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].bytes == bytes)
            return &pool->classes[i].list;
    pool->classes = grown(pool->classes, (pool->class_count + 1) * sizeof(*pool->classes));
    pool->classes[pool->class_count] = (struct free_chunks){.bytes = bytes};
    return &pool->classes[pool->class_count++].list;
}

static struct chunk fresh(struct pool *pool, int64_t bytes, const struct tensor *tensor)
{
    struct chunk chunk = {pool->base_address + (uint64_t)pool->used_end_bytes, bytes, tensor};
    pool->used_end_bytes += bytes;
    return chunk;
}

void pool_open(struct pool *pool, uint64_t base_address, int64_t capacity_bytes, int64_t before_bytes,
               size_t before_count)
{
    *pool = (struct pool){.base_address = base_address, .capacity_bytes = capacity_bytes};
    int64_t each = before_bytes / (int64_t)before_count / POOL_CHUNK_BYTES * POOL_CHUNK_BYTES;
    for (size_t i = 0; each > 0 && i < before_count; i++)
        chunk_push(&pool->before, fresh(pool, each, NULL));
    pool->in_use_bytes = pool->peak_bytes = each * (int64_t)before_count;
}

void pool_close(struct pool *pool)
{
    for (size_t i = 0; i < pool->class_count; i++)
        free(pool->classes[i].list.chunks);
    free(pool->classes);
    free(pool->held.chunks);
    free(pool->before.chunks);
    memset(pool, 0, sizeof(*pool));
}

/* The smallest free chunk that is large enough: where nothing fresh is left, it is given out whole. */
static struct chunk_list *larger_class(struct pool *pool, int64_t bytes)
{
    struct free_chunks *best = NULL;
    for (size_t i = 0; i < pool->class_count; i++) {
        struct free_chunks *each = &pool->classes[i];
        if (each->bytes > bytes && each->list.count && (!best || each->bytes < best->bytes))
            best = each;
    }
    return best ? &best->list : NULL;
}

struct chunk pool_allocate(struct pool *pool, const struct tensor *tensor)
{
    int64_t bytes = rounded(tensor->requested_bytes);
    struct chunk_list *list = class_of(pool, bytes);
    if (list->count == 0 && pool->used_end_bytes + bytes > pool->capacity_bytes)
        list = larger_class(pool, bytes);
    struct chunk chunk = list && list->count ? chunk_pop(list) : fresh(pool, bytes, tensor);
    chunk.tensor = tensor;
    pool->in_use_bytes += chunk.bytes;
    if (pool->in_use_bytes > pool->peak_bytes)
        pool->peak_bytes = pool->in_use_bytes;
    return chunk;
}

void pool_free(struct pool *pool, struct chunk chunk)
{
    chunk_push(class_of(pool, chunk.bytes), chunk);
    pool->in_use_bytes -= chunk.bytes;
}

double pool_fragmentation(const struct pool *pool)
{
    int64_t all = pool->capacity_bytes - pool->in_use_bytes;
    int64_t largest = pool->capacity_bytes - pool->used_end_bytes;
    for (size_t i = 0; i < pool->class_count; i++)
        if (pool->classes[i].list.count && pool->classes[i].bytes > largest)
            largest = pool->classes[i].bytes;
    return all > 0 && largest >= 0 ? round((1.0 - (double)largest / (double)all) * 1e6) / 1e6 : 0;
}
