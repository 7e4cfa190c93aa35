/* SPDX-License-Identifier: Apache-2.0
 * pool.h: an allocator that gives out addresses: a freed chunk is used again by the next request
 * of its size, and what was never used lies behind the highest chunk. No coalescing, so the largest
 * free chunk is known, and fragmentation follows from it exactly. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { POOL_CHUNK_BYTES = 256 };

struct tensor {
    const char *op, *region, *shape;
    int64_t data_type, requested_bytes;
};

struct chunk {
    uint64_t address;
    int64_t bytes;
    const struct tensor *tensor;
};

struct chunk_list {
    struct chunk *chunks;
    size_t count, capacity;
};

struct free_chunks {
    int64_t bytes;
    struct chunk_list list;
};

struct pool {
    uint64_t base_address;
    int64_t capacity_bytes, in_use_bytes, peak_bytes, used_end_bytes;
    struct free_chunks *classes;
    size_t class_count;
    struct chunk_list held;   /* activations, freed in reverse */
    struct chunk_list before; /* allocated before the window */
    struct chunk scratch, slot, batch;
};

/* `before_bytes` are in use from the start, in at most `before_count` chunks. */
void pool_open(struct pool *pool, uint64_t base_address, int64_t capacity_bytes, int64_t before_bytes,
               size_t before_count);
void pool_close(struct pool *pool);
struct chunk pool_allocate(struct pool *pool, const struct tensor *tensor);
void pool_free(struct pool *pool, struct chunk chunk);
/* 1 - largest free chunk / all that is free, with the six digits that the runtime prints. */
double pool_fragmentation(const struct pool *pool);

void chunk_push(struct chunk_list *list, struct chunk chunk);
struct chunk chunk_pop(struct chunk_list *list);
