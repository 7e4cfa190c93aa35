/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4096, ALIGNMENT = 16, EXIT_INTERNAL = 70 };

struct memory_block {
    struct memory_block *before;
    size_t used, capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

void memory_out(void)
{
    static const char text[] = "memviewd: out of memory\n";
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
        /* nothing is left to be done about it */
    }
    _exit(EXIT_INTERNAL);
}

static void *checked(void *allocated)
{
    if (!allocated)
        memory_out();
    return allocated;
}

void *memory_new(size_t size) { return checked(calloc(1, size ? size : 1)); }

void *memory_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return items;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < needed && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    void *grown = wanted < needed ? NULL : reallocarray(items, wanted, item_size);
    *capacity = wanted;
    return checked(grown);
}

char *memory_text(const char *text) { return checked(strdup(text)); }

char *memory_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return checked(length < 0 ? NULL : text);
}

static struct memory_block *block_new(struct memory_pool *pool, size_t size)
{
    size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct memory_block *block = memory_new(sizeof(*block) + capacity);
    block->capacity = capacity;
    block->before = pool->last;
    pool->last = block;
    return block;
}

void *memory_pool_new(struct memory_pool *pool, size_t size)
{
    if (size > SIZE_MAX / 2)
        memory_out();
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct memory_block *block = pool->last;
    if (!block || block->capacity - block->used < size)
        block = block_new(pool, size);
    void *bytes = block->bytes + block->used;
    block->used += size;
    pool->used_bytes += size;
    return bytes;
}

char *memory_pool_text(struct memory_pool *pool, const char *text, size_t length)
{
    char *copy = memory_pool_new(pool, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *memory_pool_format(struct memory_pool *pool, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    checked(length < 0 ? NULL : text);
    char *copy = memory_pool_text(pool, text, (size_t)length);
    free(text);
    return copy;
}

void memory_pool_free(struct memory_pool *pool)
{
    while (pool->last) {
        struct memory_block *block = pool->last;
        pool->last = block->before;
        free(block);
    }
    pool->used_bytes = 0;
}

/* Other C libraries give large pieces back by themselves, and have nothing to set. */
void memory_set_up(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

void memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
